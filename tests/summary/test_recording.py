"""Summaries as TensorFlow 2 writes them: what is in the file, when it is written, and that TensorBoard reads it."""

import threading

import numpy as np
import pytest

import ebbflow as tf
from tests.golden.programs import replay


def in_order(events):
    """Events of one run are written in no order when nodes may run at once."""
    return sorted(events, key=lambda e: (e["step"], e.get("tag", "")))


@pytest.mark.parametrize("judge, name", replay.cases("writers"))
def test_files_as_recorded(judge, name):
    expected, given = replay.outcome("writers", judge, name)
    assert given["facts"] == expected["facts"]
    ours, theirs = given["events"], expected["events"]
    if judge == "1.15":
        ours, theirs = in_order(ours), in_order(theirs)
    replay.assert_alike(ours, theirs, relative=1e-12)


def test_tensorboard_reads_them(tmp_path):
    from tensorboard.backend.event_processing import event_accumulator as accumulator  # takes a second to import
    from tensorboard.util import tensor_util as util

    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        for step in range(3):
            tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
        tf.summary.histogram("weights", np.arange(10.0), step=2)
        tf.summary.image("noise", np.zeros((1, 2, 3, 1), np.float32), step=2)
        tf.summary.text("note", "done", step=2)
    shown = accumulator.EventAccumulator(str(tmp_path)).Reload()
    assert sorted(shown.Tags()["tensors"]) == ["loss", "noise", "note", "weights"]
    losses = [float(util.make_ndarray(e.tensor_proto)) for e in shown.Tensors("loss")]
    np.testing.assert_allclose(losses, [1.0, 0.5, 1 / 3], rtol=1e-6)
    assert shown.SummaryMetadata("weights").plugin_data.plugin_name == "histograms"
    assert util.make_ndarray(shown.Tensors("weights")[0].tensor_proto)[:, 2].sum() == 10
    assert util.make_ndarray(shown.Tensors("noise")[0].tensor_proto)[:2].tolist() == [b"3", b"2"]


def test_the_file_is_there_from_the_start(tmp_path):
    tf.summary.create_file_writer(str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 1


def test_a_writer_of_nothing_makes_no_file(tmp_path):
    with tf.summary.create_file_writer(None).as_default(step=1):
        assert not tf.summary.scalar("x", 1.0)


def test_graphs_of_functions(tmp_path):
    @tf.function
    def double(x):
        return x * 2.0

    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.trace_on()
        double(tf.constant(1.0))
        tf.summary.trace_export("double", step=0)
    (path,) = tmp_path.iterdir()
    events = list(tf.compat.v1.train.summary_iterator(str(path)))
    (value,) = events[1].summary.value
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata_graph"
    found = tf.compat.v1.RunMetadata.FromString(value.tensor.string_val[0])
    assert any(node.op == "Mul" for graph in found.function_graphs for node in graph.pre_optimization_graph.node)


def test_an_export_without_a_trace_is_refused():
    with pytest.raises(ValueError, match="Must enable trace before export"):
        tf.summary.trace_export("nothing", step=0)


def test_threads_have_their_own_writer(tmp_path):
    seen = []
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=1):
        thread = threading.Thread(target=lambda: seen.append(bool(tf.summary.should_record_summaries())))
        thread.start()
        thread.join()
        assert bool(tf.summary.should_record_summaries())
    assert seen == [False]


def test_leaving_a_writer_inside_a_function_flushes(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))

    @tf.function
    def step():
        with writer.as_default():
            tf.summary.scalar("a", 1.0, step=1)

    step()
    before = sum(path.stat().st_size for path in tmp_path.iterdir())
    writer.flush()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == before > 61
