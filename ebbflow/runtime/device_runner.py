"""Running a part of a graph on a device that XLA drives: a GPU, a TPU, or one of several that it makes of the host.

Nodes that XLA can take are gathered into segments, compiled for the device when their shapes are first met; what passes
between them stays there, as jax arrays. A segment waits until something outside it needs what it gives, so few are cut
in two. Nodes that keep state, and segments that cannot be compiled, run by their host kernels: a variable's value
goes to the device when it is read, and is not sent again while it stays the same. Values from other devices are brought
over when a segment takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.compiler.build import build
from ebbflow.compiler.options import NOT_FOR_XLA
from ebbflow.core import dtypes
from ebbflow.engines.devices import Device
from ebbflow.engines.xla import library
from ebbflow.engines.xla.rules import rule_for
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.state.storage import is_reference
from ebbflow.runtime.executor import BoundNode, Executor, by_reference, run_node, timed

_NOT_HERE = frozenset([dtypes.string, dtypes.variant])


def runs_on(device: Device, node: Operation) -> bool:
    """Return whether a node can run as part of a device's work: the host's can do everything."""
    if device.number is None:
        return True
    if any(t._dtype.base_dtype in _NOT_HERE for t in (*node._inputs, *node._outputs)):
        return False
    return node._op.keeps_state or not node._outputs or node.type == "Const" or rule_for(node._op) is not None


def _compiles(node: Operation) -> bool:
    if node._op.keeps_state or not node._outputs or any(t._dtype._is_ref_dtype for t in node._inputs):
        return False
    if any(t._dtype in (dtypes.resource, dtypes.variant, dtypes.string) for t in (*node._inputs, *node._outputs)):
        return False
    return rule_for(node._op) is not None


class Segment:
    """Steps that are compiled together."""

    def __init__(self, bound_nodes: Sequence[BoundNode], slots: dict[int, Any], taken: set[int], device: Any):
        self.bound_nodes = bound_nodes
        self.node = bound_nodes[-1].node
        made = {slot for bound in bound_nodes for slot in _outs(bound)}
        self.ins = [slot for slot in dict.fromkeys(s for bound in bound_nodes for s in bound.ins) if slot not in made]
        self.outs = [slot for slot in dict.fromkeys(s for bound in bound_nodes for s in _outs(bound)) if slot in taken]
        self._given = [slots[slot] for slot in self.ins]
        self._results = [slots[slot] for slot in self.outs]
        self._device = device
        self._executables: dict[Any, Any] = {}

    def run(self, values: list[Any], bring: Any) -> None:
        """Compute what is taken from here, on the device where that can be."""
        inputs = [values[slot] for slot in self.ins]
        key = tuple([x.shape for x in inputs])
        if key not in self._executables:
            self._executables[key] = self._compile(key)
        executable = self._executables[key]
        if executable is None:
            for slot in self.ins:
                values[slot] = np.asarray(values[slot])
            for bound in self.bound_nodes:
                run_node(bound, values)
            return
        given = [bring(slot, value) for slot, value in zip(self.ins, inputs, strict=True)]
        for slot, value in zip(self.outs, executable.on_device(*given), strict=True):
            values[slot] = value

    def _compile(self, shapes: Sequence[Any]) -> Any:
        # jax is loaded by now, or now; the passes with it.
        from ebbflow.compiler.passes import optimise
        from ebbflow.engines.xla.executable import compile

        try:
            flow = build([bound.node for bound in self.bound_nodes], self._given, shapes, self._results)
            return compile(optimise(flow, NOT_FOR_XLA), device=self._device)
        except Exception:  # the host's kernels serve, and say what is wrong if something is
            return None


class DeviceRunner:
    """The fetched values from the fed ones, on one device."""

    def __init__(self, session: Any, fetches: Sequence[Any], feeds: Sequence[Any], device: Device):
        self.executor = Executor(session, fetches, feeds)
        self._device = device.engine_device()
        self._name = device.name
        self._work = self._arranged()
        self._stays = {
            slot for bound in self.executor.bound if bound.node._op.facts.reads == "whole" for slot in _outs(bound)
        }
        self._brought: dict[int, tuple[Any, Any]] = {}
        self._unowned = tuple(i for i, slot in enumerate(self.executor.fetched) if slot is not None)

    def _arranged(self) -> list[BoundNode | Segment]:
        """Return the work in order; what can be compiled waits until somebody needs it. Constants are part of every
        segment that takes them, which so knows their values.
        """
        bound_nodes = self.executor.bound
        self._tensors = {
            slot: t for bound in bound_nodes for slot, t in zip(bound.ins, bound.node._inputs, strict=True)
        }
        self._tensors |= {s: t for bound in bound_nodes for s, t in zip(_outs(bound), bound.node._outputs, strict=True)}
        self._constants = {bound.outs: bound for bound in bound_nodes if bound.node.type == "Const"}
        work: list[BoundNode | Segment] = list(self._constants.values())
        pending: list[BoundNode] = []
        for bound in bound_nodes:
            if bound.node.type == "Const":
                continue
            if _compiles(bound.node):
                pending.append(bound)
                continue
            if not {s for p in pending for s in _outs(p)}.isdisjoint(bound.ins):
                work.append(self._segment(pending))
                pending = []
            work.append(bound)
        if pending:
            work.append(self._segment(pending))
        return work

    def _segment(self, bound_nodes: list[BoundNode]) -> Segment:
        inside = set(map(id, bound_nodes))
        taken = {s for bound in self.executor.bound if id(bound) not in inside for s in bound.ins}
        taken |= {s for s in self.executor.fetched if s is not None}
        known = [
            self._constants[s] for s in {s: None for bound in bound_nodes for s in bound.ins} if s in self._constants
        ]
        return Segment([*known, *bound_nodes], self._tensors, taken - set(self._constants), self._device)

    def run(self, fed: Sequence[Any], trace: list[Any] | None = None) -> tuple[list[Any], Sequence[int]]:
        """Return the fetched values (None for operations), and which of them somebody else may hold."""
        values: list[Any] = [None] * (self.executor.count + 1)
        values[: self.executor.feeds] = fed
        try:
            for item in self._work if trace is None else timed(self._work, trace):
                if isinstance(item, Segment):
                    self._read_references(item, values)
                    item.run(values, self._bring)
                else:
                    self._run_on_host(item, values)
            return [None if v is None else np.asarray(v) for v in self.executor.results(values)], self._unowned
        finally:
            values.clear()

    def _run_on_host(self, bound: BoundNode, values: list[Any]) -> None:
        if bound.node.type != "_Send":  # whoever receives it brings it over
            for slot in bound.ins:
                if values[slot].__class__ is not np.ndarray:
                    values[slot] = np.asarray(values[slot])
        run_node(bound, values)

    def _read_references(self, segment: Segment, values: list[Any]) -> None:
        for slot, tensor in zip(segment.ins, segment._given, strict=True):
            if by_reference(tensor) and is_reference(values[slot]):
                values[slot] = values[slot].item().read()

    def _bring(self, slot: int, value: Any) -> Any:
        """Return a value as an array of this device; what a variable still has is there already."""
        if slot in self._stays:
            host, there = self._brought.get(slot, (None, None))
            if host is value:
                return there
        with library.wide():
            there = library.jax().device_put(value, self._device)
        if slot in self._stays:
            self._brought[slot] = (value, there)
        return there

    def explain(self) -> str:
        """Return what runs, as text: the nodes of each segment, and those that run by host kernels between them."""
        lines = []
        for item in self._work:
            names = [s.node.name for s in (item.bound_nodes if isinstance(item, Segment) else [item])]
            lines.append(f"{'compiled' if isinstance(item, Segment) else 'by its kernel'}: {', '.join(names)}")
        return "\n".join(lines) + "\n"


def _outs(bound: BoundNode) -> tuple[int, ...]:
    return (bound.outs,) if bound.outs.__class__ is int else bound.outs
