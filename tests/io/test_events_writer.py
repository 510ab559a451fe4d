"""`pywrap_tensorflow.EventsWriter`: event files with names of the program's choice."""

import glob

import pytest

import ebbflow.v1 as tf
from ebbflow.io.events_writer import EventsWriter


def event(step):
    return tf.Event(step=step, summary=tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=step / 2)]))


def test_events_are_there_after_a_flush_and_none_is_written_after_the_end(tmp_path):
    writer = EventsWriter(str(tmp_path / "run").encode())
    assert not list(tmp_path.iterdir())
    name = writer.FileName()
    assert name.startswith(str(tmp_path / "run").encode() + b".out.tfevents.")
    for step in (1, 2):
        writer.WriteEvent(event(step))
    writer.Flush()
    (path,) = glob.glob(str(tmp_path / "run.*"))
    assert path.encode() == name
    with pytest.raises(TypeError, match=r"Expected an event_pb2.Event proto,  but got <class 'str'>"):
        writer.WriteEvent("an event")
    writer.Close()
    writer.Close()
    writer.WriteEvent(event(3))
    first, *others = tf.train.summary_iterator(path)
    assert first.file_version == "brain.Event:2"
    assert [(e.step, e.summary.value[0].simple_value) for e in others] == [(1, 0.5), (2, 1.0)]


def test_a_name_may_end_as_told(tmp_path):
    writer = EventsWriter(str(tmp_path / "run"))
    writer.InitWithSuffix(b".more")
    assert writer.FileName().endswith(b".more")
    writer.Close()


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        EventsWriter(str(tmp_path / "nowhere" / "run")).WriteEvent(event(1))
