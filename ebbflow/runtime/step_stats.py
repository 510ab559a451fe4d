"""Step statistics: which node ran when, and what it gave, for `RunMetadata` and the timeline.

A trace is a list of (node, start, end), times in nanoseconds; where there are several devices, the name of the node's
comes behind. Sizes of outputs are those the graph knows beforehand: the trace keeps no values. Of a runner it asks for
its nodes and its device.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

from ebbflow.core.shape import from_dims, is_static
from ebbflow.graph.graph_def import PRODUCER, Library, fill_node

NO_TRACE = 0
ALLOCATOR = "cpu"


def wants_trace(options: Any) -> bool:
    """Return whether the run's options ask for a trace."""
    return options is not None and options.trace_level != NO_TRACE


def write_metadata(metadata: Any, trace: Sequence[Any] | None, runner: Any, graph: Any, options: Any) -> None:
    """Fill a RunMetadata message with the trace of a run, and with the graphs that ran if the options ask for them."""
    metadata.Clear()
    by_device: dict[str, Any] = {}
    for node, start, end, *where in trace or ():
        name = where[0] if where else runner.device
        if name not in by_device:
            by_device[name] = metadata.step_stats.dev_stats.add(device=name)
            by_device[name].thread_names[0] = threading.current_thread().name
        _write_node(by_device[name].node_stats.add(), node, start, end)
    if options is not None and options.output_partition_graphs:
        parts = [part.graph._nodes for part in getattr(runner, "parts", ())]
        for nodes in parts or [graph._nodes if trace is None else [bound.node for bound in runner.executor.bound]]:
            _write_graph(metadata.partition_graphs.add(), nodes)


def _write_node(stats: Any, node: Any, start: int, end: int) -> None:
    nanos = end - start
    micros = nanos // 1000  # rounded as the start is, so that nodes that ran in turn do not overlap
    stats.node_name = node.name
    stats.timeline_label = f"{node.name} = {node.type}({', '.join(t._as_node_def_input() for t in node._inputs)})"
    stats.scheduled_micros = stats.all_start_micros = start // 1000
    stats.scheduled_nanos = stats.all_start_nanos = start
    stats.op_end_rel_micros = stats.all_end_rel_micros = micros
    stats.op_end_rel_nanos = stats.all_end_rel_nanos = nanos
    total = 0
    for slot, tensor in enumerate(node._outputs):
        written = stats.output.add(slot=slot).tensor_description
        written.dtype = tensor.dtype.as_datatype_enum
        written.shape.CopyFrom(from_dims(tensor._dims).as_proto())
        size = _size(tensor)
        if size:
            written.allocation_description.requested_bytes = size
            written.allocation_description.allocator_name = ALLOCATOR
            total += size
    if total:
        stats.memory.add(allocator_name=ALLOCATOR, total_bytes=total, peak_bytes=total, live_bytes=total)


def _size(tensor: Any) -> int:
    """Return the bytes of a tensor's value, or 0 where they are not known beforehand."""
    dtype = tensor.dtype.base_dtype
    return math.prod(tensor._dims) * dtype.size if is_static(tensor._dims) and dtype.is_numpy_compatible else 0


def _write_graph(message: Any, nodes: Sequence[Any]) -> None:
    message.versions.producer = PRODUCER
    library = Library()
    for node in nodes:
        fill_node(message.node.add(), node, library)
