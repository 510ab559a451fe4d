"""Summaries that a test wrote are read back, or remembered by a writer that writes nothing."""

import pytest

import ebbflow as tf
from ebbflow.testing import summaries

v1 = tf.compat.v1


def summary(**values):
    return v1.Summary(value=[v1.Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()])


def test_the_newest_file_is_read(tmp_path):
    assert summaries.latest_event_file(tmp_path) is None
    assert summaries.latest_summaries(tmp_path) == []
    with tf.Graph().as_default(), v1.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(summary(loss=2.0), 7)
    assert len(summaries.latest_events(tmp_path)) == 2
    (event,) = summaries.latest_summaries(tmp_path)
    assert event.step == 7
    summaries.assert_summary(["loss"], [2.0], event.summary)
    with pytest.raises(AssertionError, match="Unexpected tags"):
        summaries.assert_summary(["cost"], [2.0], event.summary)
    with pytest.raises(AssertionError, match="Unexpected values"):
        summaries.assert_summary(["loss"], [3.0], event.summary)


def test_a_writer_remembers():
    case = tf.test.TestCase()
    writer = summaries.FakeSummaryWriter("folder")
    writer.add_summary(summary(loss=2.0), 7)
    writer.add_summary(summary(loss=1.0).SerializeToString(), 8)
    writer.assert_summaries(case, "folder", expected_summaries={7: {"loss": 2.0}, 8: {"loss": 1.0}})
    for expected in ({9: {"loss": 2.0}}, {7: {"cost": 2.0}}, {7: {"loss": 3.0}}):
        with pytest.raises(AssertionError):
            writer.assert_summaries(case, expected_summaries=expected)
    writer.add_summary(v1.Summary(value=[v1.Summary.Value(tag="x", image=v1.Summary.Image())]), 8)
    assert [each.value[0].tag for each in writer.summaries[8]] == ["loss", "x"]
    with pytest.raises(ValueError, match="Invalid global_step -1"):
        writer.add_graph(tf.Graph(), -1)
    with pytest.raises(ValueError, match="Unexpected graph_def"):
        writer.add_graph(tf.Graph(), 0, v1.GraphDef())


def test_writers_of_folders_may_only_remember(tmp_path):
    kind = summaries.FakeSummaryWriter
    kind.install()
    try:
        v1.summary.FileWriterCache.clear()
        v1.summary.FileWriterCache.get(str(tmp_path)).add_session_log(v1.SessionLog(), 3)
        with pytest.raises(ValueError, match="already installed"):
            kind.install()
    finally:
        kind.uninstall()
        v1.summary.FileWriterCache.clear()
    assert not any(tmp_path.iterdir())
    with pytest.raises(ValueError, match="not installed"):
        kind.uninstall()
