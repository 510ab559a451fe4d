"""Which node ran when: `RunMetadata` filled by a run, and its picture in Chrome's trace format."""

import json

import numpy as np
import pytest

import ebbflow.ops.foundation  # noqa: F401  (operators)
from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.graph.graph import Graph
from ebbflow.graph.placeholders import placeholder
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.joining import unstack
from ebbflow.ops.elementwise.casts import cast
from ebbflow.runtime.session import Session
from ebbflow.runtime.timeline import Timeline

FULL_TRACE = 3


def traced(**options):
    """The metadata of one run of y = unstack(x * 2 + 1)[1] beside a node that is not needed."""
    with Graph().as_default(), Session() as session:
        x = placeholder(dtypes.float32, [2, 3], name="x")
        y = unstack(x * constant(2.0, name="two") + 1.0, name="parts")[1]
        constant(5.0, name="unused")
        metadata = messages.RunMetadata()
        given = messages.RunOptions(**options) if options else None
        session.run(y, {x: np.ones((2, 3))}, options=given, run_metadata=metadata)
        return metadata


def test_the_nodes_that_ran():
    (device,) = traced(trace_level=FULL_TRACE).step_stats.dev_stats
    assert device.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    nodes = {stats.node_name: stats for stats in device.node_stats}
    assert set(nodes) == {"two", "mul", "add/y", "add", "parts"}
    assert nodes["add"].timeline_label == "add = AddV2(mul, add/y)"
    assert [output.slot for output in nodes["parts"].output] == [0, 1]
    made = nodes["mul"].output[0].tensor_description
    assert made.dtype == dtypes.float32.as_datatype_enum and [dim.size for dim in made.shape.dim] == [2, 3]
    assert made.allocation_description.requested_bytes == nodes["mul"].memory[0].total_bytes == 24


def test_times_are_in_order():
    (device,) = traced(trace_level=FULL_TRACE).step_stats.dev_stats
    end = 0
    for stats in device.node_stats:
        assert stats.all_start_nanos >= end and stats.all_end_rel_nanos >= 0
        assert stats.all_start_micros == stats.all_start_nanos // 1000
        end = stats.all_start_nanos + stats.all_end_rel_nanos


@pytest.mark.parametrize("options", [{}, {"trace_level": 0}, {"timeout_in_ms": 1000}])
def test_nothing_is_traced_unless_asked_for(options):
    assert not traced(**options).ListFields()


def test_metadata_of_an_earlier_run_is_replaced():
    with Graph().as_default(), Session() as session:
        metadata = messages.RunMetadata()
        for x in (constant(1.0, name="a"), constant(2.0, name="b")):
            session.run(x, options=messages.RunOptions(trace_level=FULL_TRACE), run_metadata=metadata)
        assert [stats.node_name for stats in metadata.step_stats.dev_stats[0].node_stats] == ["b"]
        session.run(x, run_metadata=metadata)
        assert not metadata.ListFields()


def in_turn(write, *feeds, **options):
    """The metadata of the last of several runs, compiled from the second on, of what `write(x)` gives."""
    with Graph().as_default(), Session() as session:
        x = placeholder(dtypes.float32, [3], name="x")
        y = write(x)
        metadata = messages.RunMetadata()
        given = messages.RunOptions(trace_level=FULL_TRACE, **options)
        for fed in feeds:
            session.run(y, {x: fed}, options=given, run_metadata=metadata)
        return metadata


def test_each_node_once_however_it_was_computed():
    write = lambda x: constant(1.0, name="one") + x**3.0
    metadata = in_turn(write, np.ones(3), np.ones(3), output_partition_graphs=True)
    names = [stats.node_name for stats in metadata.step_stats.dev_stats[0].node_stats]
    assert sorted(names) == ["add", "one", "pow"]
    assert [node.name for node in metadata.partition_graphs[0].node] == ["one", "pow/y", "pow", "add"]


def test_an_error_of_a_traced_run_names_the_node():
    write = lambda x: gather(constant([1.0, 2.0]), cast(x, dtypes.int32), name="picked")
    with pytest.raises(errors.InvalidArgumentError, match=r"indices\[0\] = 7 is not in \[0, 2\)") as caught:
        in_turn(write, [0, 1, 0], [7, 0, 0])
    assert caught.value.op.name == "picked" and "test_step_stats.py" in str(caught.value)


def test_the_graph_that_ran():
    (graph,) = traced(trace_level=FULL_TRACE, output_partition_graphs=True).partition_graphs
    assert [node.name for node in graph.node] == ["two", "mul", "add/y", "add", "parts"]
    (whole,) = traced(output_partition_graphs=True).partition_graphs
    assert "unused" in [node.name for node in whole.node]


# --- the timeline -----------------------------------------------------------------------------------------------------


def events_of(stats, **options):
    return json.loads(Timeline(stats).generate_chrome_trace_format(**options))["traceEvents"]


def two_lanes():
    """Two nodes at the same time, and one that reads both afterwards."""
    stats = messages.StepStats()
    device = stats.dev_stats.add(device="/cpu:0")
    for name, label, start, length, size in (
        ("a", "a = Const()", 100, 50, 8),
        ("b", "b = Const()", 110, 20, 16),
        ("c", "c = AddV2(a, b, ^d)", 160, 5, 4),
        ("odd", "no label of the usual form", 170, 1, 0),
    ):
        node = device.node_stats.add(
            node_name=name,
            timeline_label=label,
            all_start_micros=start,
            op_start_rel_micros=1,
            op_end_rel_micros=length - 1,
            all_end_rel_micros=length,
        )
        if size:
            allocation = node.output.add().tensor_description.allocation_description
            allocation.requested_bytes, allocation.allocator_name = size, "cpu"
    return stats


def test_operations_in_lanes():
    events = events_of(two_lanes())
    names = [e["args"]["name"] for e in events if e["ph"] == "M"]
    assert names == ["Allocators", "/cpu:0 Compute", "/cpu:0 Tensors"]
    ops = {e["args"]["name"]: e for e in events if e["ph"] == "X"}
    assert [ops[name]["tid"] for name in "abc"] == [0, 1, 0]
    assert (ops["c"]["ts"], ops["c"]["dur"], ops["c"]["cat"], ops["c"]["name"]) == (160, 5, "Op", "AddV2")
    assert ops["c"]["args"] == {"name": "c", "op": "AddV2", "input0": "a", "input1": "b"}
    assert ops["odd"]["name"] == "no label of the usual form"


def test_arrows_between_lanes():
    arrows = [e for e in events_of(two_lanes()) if e["ph"] in "st"]
    assert [(e["ph"], e["name"], e["tid"], e["ts"]) for e in arrows] == [("s", "b", 1, 130), ("t", "b", 0, 160)]
    assert arrows[0]["id"] == arrows[1]["id"]
    assert not [e for e in events_of(two_lanes(), show_dataflow=False) if e["ph"] in "st"]


def test_memory():
    events = events_of(two_lanes(), show_memory=True)
    assert [e["args"]["cpu"] for e in events if e["ph"] == "C"] == [8, 24, 28, 12, 4, 0]
    assert [(e["ph"], e["name"]) for e in events if e["ph"] in "NOD" and e["name"] == "b"] == [
        ("N", "b"),
        ("O", "b"),
        ("D", "b"),
    ]
    most = Timeline(two_lanes()).analyze_step_stats().allocator_maximums["cpu"]
    assert (most.timestamp, most.num_bytes, most.tensors) == (160, 28, {"a", "b", "c"})
    assert not [e for e in events_of(two_lanes()) if e["ph"] in "CNOD"]


def test_kernel_time():
    (a,) = [e for e in events_of(two_lanes(), op_time="all") if e["ph"] == "X" and e["args"]["name"] == "a"]
    assert (a["ts"], a["dur"]) == (101, 48)
    with pytest.raises(ValueError, match="op_time is"):
        events_of(two_lanes(), op_time="never")


def test_of_a_real_run():
    events = events_of(traced(trace_level=FULL_TRACE).step_stats, show_memory=True)
    ops = [e for e in events if e["ph"] == "X"]
    assert {e["args"]["name"] for e in ops} == {"two", "mul", "add/y", "add", "parts"}
    assert {e["tid"] for e in ops} == {0}, "one after the other in one lane"
