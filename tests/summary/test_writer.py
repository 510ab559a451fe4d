"""Event files by `FileWriter`, read back by the real TensorBoard."""

import glob
import warnings

import numpy as np
import pytest

import ebbflow.ops.foundation  # noqa: F401  (operators)
from ebbflow import messages
from ebbflow.core import context, dtypes
from ebbflow.functions.control_flow.cond import cond
from ebbflow.graph.graph import Graph
from ebbflow.graph.placeholders import placeholder
from ebbflow.ops.arrays.creation import constant
from ebbflow.runtime.session import Session
from ebbflow.summary import ops as summary
from ebbflow.summary.writer import FileWriter, FileWriterCache, summary_iterator


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as graph:
        yield graph


def events_in(folder):
    """The events of all files of a folder but the first of each, which tells the format."""
    found = []
    for path in sorted(glob.glob(f"{folder}/*tfevents*")):
        first, *rest = summary_iterator(path)
        assert first.file_version == "brain.Event:2"
        found += rest
    return found


def kinds_in(folder):
    return [event.WhichOneof("what") for event in events_in(folder)]


def test_tensorboard_shows_it_all(tmp_path, graph):
    from tensorboard.backend.event_processing import event_accumulator as accumulator  # takes a second to import

    x = placeholder(dtypes.float32, [3], name="x")
    summary.scalar("loss", x[0])
    summary.histogram("weights", x)
    summary.image("pictures", constant(np.ones((2, 4, 4, 3), np.float32)))
    summary.audio("clips", constant(np.zeros((1, 10), np.float32)), 8000.0, max_outputs=1)
    summary.text("words", constant(["some", "*words*"]))
    merged = summary.merge_all()
    metadata = messages.RunMetadata()
    options = messages.RunOptions(trace_level=3)
    with FileWriter(str(tmp_path), graph) as writer, Session() as session:
        for step in range(4):
            writer.add_summary(session.run(merged, {x: [step, 1, 2]}, options, metadata), step)
        writer.add_run_metadata(metadata, "step 3", 3)
    found = accumulator.EventAccumulator(str(tmp_path), size_guidance=accumulator.STORE_EVERYTHING_SIZE_GUIDANCE)
    found.Reload()
    assert [(event.step, event.value) for event in found.Scalars("loss")] == [(i, float(i)) for i in range(4)]
    assert found.Histograms("weights")[3].histogram_value.num == 3
    assert (found.Images("pictures/image/1")[0].width, found.Images("pictures/image/1")[0].height) == (4, 4)
    assert found.Audio("clips/audio")[0].sample_rate == 8000.0
    assert list(found.Tensors("words")[0].tensor_proto.string_val) == [b"some", b"*words*"]
    assert found.SummaryMetadata("words").plugin_data.plugin_name == "text"
    assert [node.name for node in found.Graph().node] == [node.name for node in graph.get_operations()]
    assert [node.name for node in found.MetaGraph().graph_def.node] == [node.name for node in graph.get_operations()]
    assert found.RunMetadata("step 3").step_stats.dev_stats[0].node_stats


def test_what_is_written_in_what_order(tmp_path, graph):
    constant(1.0, name="c")
    with FileWriter(tmp_path, graph=graph, filename_suffix=".mine") as writer:
        writer.add_summary(messages.Summary(value=[messages.Summary.Value(tag="a", simple_value=1.0)]), np.int64(7))
        writer.add_session_log(messages.SessionLog(status=messages.SessionLog.START), 8)
        writer.add_event(messages.Event(wall_time=1.5, step=9))
        assert writer.get_logdir() == str(tmp_path)
    assert kinds_in(tmp_path) == ["graph_def", "meta_graph_def", "summary", "session_log", None]
    events = events_in(tmp_path)
    assert [event.step for event in events] == [0, 0, 7, 8, 9]
    assert events[2].wall_time > 1.7e9 and events[4].wall_time == 1.5
    assert events[3].session_log.status == messages.SessionLog.START
    written = messages.GraphDef.FromString(events[0].graph_def)
    assert [node.name for node in written.node] == ["c"] and "_output_shapes" in written.node[0].attr
    meta = messages.MetaGraphDef.FromString(events[1].meta_graph_def)
    assert meta.graph_def == written and [op.name for op in meta.meta_info_def.stripped_op_list.op] == ["Const"]
    assert glob.glob(f"{tmp_path}/*.mine")


def test_metadata_is_written_once_a_tag(tmp_path):
    words = summary.text("words", constant("a"))
    with FileWriter(tmp_path) as writer, Session() as session:
        for step in range(2):
            writer.add_summary(session.run(words), step)
    first, second = [event.summary.value[0] for event in events_in(tmp_path)]
    assert first.HasField("metadata") and not second.HasField("metadata")
    assert first.tensor == second.tensor


def test_a_graph_with_branches(tmp_path, graph):
    x = placeholder(dtypes.float32, [], name="x")
    cond(x > 0.0, lambda: cond(x > 5.0, lambda: x * 2.0, lambda: x), lambda: -x)
    FileWriter(tmp_path, graph).close()
    written = messages.GraphDef.FromString(events_in(tmp_path)[0].graph_def)
    names = [function.signature.name for function in written.library.function]
    assert len(names) == len(set(names)) == 4
    node = next(node for node in written.node if node.op == "StatelessIf")
    assert {node.attr["then_branch"].func.name, node.attr["else_branch"].func.name} <= set(names)


def test_a_graph_def_as_in_early_days(tmp_path, graph):
    constant(1.0)
    FileWriter(tmp_path / "one", graph_def=graph.as_graph_def()).close()
    FileWriter(tmp_path / "two", graph.as_graph_def()).close()
    assert kinds_in(tmp_path / "one") == kinds_in(tmp_path / "two") == ["graph_def", "meta_graph_def"]
    with pytest.raises(ValueError, match="Please pass only graph, or graph_def"):
        FileWriter(tmp_path / "three", graph, graph_def=graph.as_graph_def())
    with pytest.raises(TypeError, match="The passed graph must be an instance of `Graph`"):
        FileWriter(tmp_path / "four", "no graph")


def test_closing_and_reopening(tmp_path):
    writer = FileWriter(tmp_path)
    writer.add_summary(messages.Summary(), 1)
    writer.close()
    with pytest.warns(UserWarning, match="Attempting to use a closed FileWriter"):
        writer.add_summary(messages.Summary(), 2)
    writer.reopen()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        writer.add_summary(messages.Summary(), 3)
        writer.flush()
    assert [event.step for event in events_in(tmp_path)] == [1, 3]
    writer.close()


def test_refusals(tmp_path):
    with FileWriter(tmp_path) as writer:
        with pytest.raises(TypeError, match="meta_graph_def must be type MetaGraphDef"):
            writer.add_meta_graph(messages.GraphDef())
        writer.add_run_metadata(messages.RunMetadata(), "once")
        with pytest.raises(ValueError, match="The provided tag was already used"):
            writer.add_run_metadata(messages.RunMetadata(), "once")


def test_the_cache(tmp_path, graph):
    constant(1.0)
    one = FileWriterCache.get(str(tmp_path))
    assert FileWriterCache.get(str(tmp_path)) is one is not FileWriterCache.get(str(tmp_path / "b"))
    FileWriterCache.clear()
    assert FileWriterCache.get(str(tmp_path)) is not one
    FileWriterCache.clear()
    assert kinds_in(tmp_path) == ["graph_def", "meta_graph_def"] * 2


def test_not_where_ops_run_at_once(tmp_path, graph):
    with context.eager_scope(), pytest.raises(RuntimeError, match="not compatible with eager execution"):
        FileWriter(tmp_path)
