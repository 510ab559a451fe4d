"""Step statistics as a picture: `Timeline` writes Chrome's trace format, for chrome://tracing and Perfetto.

Every device gets a row of operations, in lanes where they overlap, and a row of tensors; arrows show where an operation
waited for one in another lane. Knows the StepStats message and JSON.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

_LABEL = re.compile(r"(?P<name>.*?) = (?P<op>[^(]*)\((?P<inputs>.*)\)")


class AllocationMaximum(NamedTuple):
    """When an allocator held most, how much, and which tensors that was."""

    timestamp: int
    num_bytes: int
    tensors: set[str]


class StepStatsAnalysis(NamedTuple):
    """The trace, and the most that each allocator held."""

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class ChromeTrace:
    """Events in the form Chrome reads."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []

    def name_row(self, pid: int, name: str) -> None:
        """Give a row its name."""
        self.rows.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}})

    def add(self, kind: str, category: str, name: str, pid: int, tid: int, time: int, **more: Any) -> None:
        """Add an event: `kind` is a letter of the format (X a span, s and t an arrow's ends, N, O and D an object)."""
        self.events.append({"ph": kind, "cat": category, "name": name, "pid": pid, "tid": tid, "ts": time, **more})

    def format_to_string(self, pretty: bool = False) -> str:
        """Return the trace as JSON."""
        trace = {"traceEvents": self.rows + self.events}
        return (
            json.dumps(trace, indent=4, separators=(",", ": ")) if pretty else json.dumps(trace, separators=(",", ":"))
        )


@dataclass
class _Span:
    """One operation: where it is drawn and what it read."""

    name: str
    op: str
    inputs: list[str]
    start: int
    end: int
    pid: int
    lane: int
    stats: Any


@dataclass
class _Output:
    """One tensor: who made it, how large it is, and when it was last read."""

    span: _Span
    allocator: str
    num_bytes: int
    number: int
    last_read: int
    description: str


class Timeline:
    """The operations of one run along the time they took."""

    def __init__(self, step_stats: Any, graph: Any = None):
        self._step_stats = step_stats

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False, op_time: str = "schedule"
    ) -> str:
        """Return the run as JSON for Chrome: with arrows along the data, and with tensors and memory, if asked for."""
        analysis = self.analyze_step_stats(show_dataflow=show_dataflow, show_memory=show_memory, op_time=op_time)
        return analysis.chrome_trace.format_to_string(pretty=True)

    def analyze_step_stats(
        self, show_dataflow: bool = True, show_memory: bool = True, op_time: str = "schedule"
    ) -> StepStatsAnalysis:
        """Return the run as a trace, and the most memory it held.

        `op_time` says what an operation's span is: "schedule" all of its time, "gpu" and "all" only its kernel's.
        """
        if op_time not in ("schedule", "gpu", "all"):
            raise ValueError(f"op_time is 'schedule', 'gpu' or 'all', not {op_time!r}")
        trace = ChromeTrace()
        trace.name_row(0, "Allocators")
        spans: list[_Span] = []
        for number, device in enumerate(self._step_stats.dev_stats):
            pid = 1 + 2 * number
            trace.name_row(pid, f"{device.device} Compute")
            trace.name_row(pid + 1, f"{device.device} Tensors")
            spans += _spans(device, pid, op_time == "schedule")
        tensors = _tensors(spans)
        if show_memory:
            for tensor in tensors.values():
                _add_object(trace, tensor)
        _add_spans(trace, spans, tensors, show_dataflow)
        return StepStatsAnalysis(trace, _add_counters(trace if show_memory else ChromeTrace(), tensors))


def _spans(device: Any, pid: int, whole: bool) -> list[_Span]:
    """Return a device's operations, each in the first lane that is free when it starts."""
    free: list[int] = []
    spans = []
    for stats in device.node_stats:
        start = stats.all_start_micros + (0 if whole else stats.op_start_rel_micros)
        end = stats.all_start_micros + (stats.all_end_rel_micros if whole else stats.op_end_rel_micros)
        lane = next((i for i, until in enumerate(free) if until <= start), len(free))
        free[lane : lane + 1] = [end]
        name, op, inputs = _parts(stats)
        spans.append(_Span(name, op, inputs, start, end, pid, lane, stats))
    return spans


def _parts(stats: Any) -> tuple[str, str, list[str]]:
    """Return name, op and inputs from a label `name = Op(input, …)`; a label of another form is the op."""
    found = _LABEL.fullmatch(stats.timeline_label)
    if found is None:
        return stats.node_name, stats.timeline_label or stats.node_name.split(":")[-1], []
    inputs = [word.strip() for word in found["inputs"].split(",") if word.strip()]
    return found["name"], found["op"], [word for word in inputs if not word.startswith("^")]


def _tensors(spans: list[_Span]) -> dict[str, _Output]:
    """Return the outputs of all operations under the names that their readers use."""
    tensors: dict[str, _Output] = {}
    for span in spans:
        for output in span.stats.output:
            allocation = output.tensor_description.allocation_description
            name = span.name if output.slot == 0 else f"{span.name}:{output.slot}"
            text = str(output.tensor_description).replace('"', "")
            tensors[name] = _Output(
                span, allocation.allocator_name, allocation.requested_bytes, len(tensors), span.end, text
            )
    for span in spans:
        for name in span.inputs:
            if name in tensors:
                tensors[name].last_read = max(tensors[name].last_read, span.end)
    return tensors


def _add_spans(trace: ChromeTrace, spans: list[_Span], tensors: dict[str, _Output], show_dataflow: bool) -> None:
    arrows = 0
    for span in spans:
        args = {"name": span.name, "op": span.op, **{f"input{i}": name for i, name in enumerate(span.inputs)}}
        trace.add("X", "Op", span.op, span.pid, span.lane, span.start, dur=span.end - span.start, args=args)
        for name in span.inputs if show_dataflow else ():
            maker = tensors[name].span if name in tensors else span
            if (maker.pid, maker.lane) != (span.pid, span.lane):
                trace.add("s", "DataFlow", name, maker.pid, maker.lane, maker.end, id=arrows)
                trace.add("t", "DataFlow", name, span.pid, span.lane, span.start, id=arrows)
                arrows += 1


def _add_object(trace: ChromeTrace, tensor: _Output) -> None:
    """Draw a tensor from its making to its last reading."""
    span = tensor.span
    place = ("Tensor", span.name, span.pid + 1, span.lane)
    trace.add("N", *place, span.start, id=tensor.number)
    snapshot = {"snapshot": {"tensor_description": tensor.description}}
    trace.add("O", *place, max(span.end - 1, span.start), id=tensor.number, args=snapshot)
    trace.add("D", *place, tensor.last_read, id=tensor.number)


def _add_counters(trace: ChromeTrace, tensors: dict[str, _Output]) -> dict[str, AllocationMaximum]:
    """Draw how much each allocator holds over time; return the most that each did."""
    changes: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for name, tensor in tensors.items():
        if tensor.num_bytes:
            changes[tensor.allocator].append((tensor.span.start, tensor.num_bytes, name))
            changes[tensor.allocator].append((tensor.last_read, -tensor.num_bytes, name))
    maximums = {}
    for allocator, timed in changes.items():
        held: dict[str, int] = {}
        maximums[allocator] = AllocationMaximum(0, 0, set())
        for time, num_bytes, name in sorted(timed):
            if num_bytes > 0:
                held[name] = num_bytes
            else:
                held.pop(name, None)
            total = sum(held.values())
            trace.add("C", "Memory", allocator, 0, 0, time, args={allocator: total})
            if total > maximums[allocator].num_bytes:
                maximums[allocator] = AllocationMaximum(time, total, set(held))
    return maximums
