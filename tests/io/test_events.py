"""Event files: written in the background, complete in the end, read by us as TensorFlow's are, and by TensorBoard."""

import gc
import pathlib
import re
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.io.events import EventFileWriter, read_events

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "tf221" / "events"


def scalar(step, value=1.0, tag="loss"):
    event = messages.Event(wall_time=1000.0 + step, step=step)
    event.summary.value.add(tag=tag, simple_value=value)
    return event


def threads():
    return [t for t in threading.enumerate() if t.name == "EventLoggerThread"]


def steps(path):
    first, *rest = read_events(path)
    assert first.file_version == "brain.Event:2"
    return [event.step for event in rest]


def test_a_file_as_tensorflow_names_and_begins_it(tmp_path):
    with EventFileWriter(tmp_path / "a" / "b", filename_suffix=".v2") as writer:
        writer.add_event(scalar(3))
    (path,) = (tmp_path / "a" / "b").iterdir()
    assert re.fullmatch(r"events\.out\.tfevents\.\d{10}\.[^/]+\.v2", path.name)
    first, second = read_events(path)
    assert first.file_version == "brain.Event:2"
    assert first.wall_time == int(path.name.split(".")[3])
    assert second == scalar(3)
    assert writer.path == str(path)
    assert writer.get_logdir() == str(tmp_path / "a" / "b")


@pytest.mark.parametrize(
    "name", ["tf1/events.out.tfevents.1700000000.host", "tf2/events.out.tfevents.1700000000.host.v2"]
)
def test_tensorflows_files_are_read(name):
    found = list(read_events(GOLDEN / name))
    assert found[0].file_version == "brain.Event:2"
    kinds = {event.WhichOneof("what") for event in found[1:]}
    assert kinds >= (
        {"summary", "graph_def", "meta_graph_def", "session_log"} if name.startswith("tf1") else {"summary"}
    )


def test_their_scalars_are_the_ones_put_in():
    found = [
        value.simple_value
        for event in read_events(GOLDEN / "tf1" / "events.out.tfevents.1700000000.host")
        for value in event.summary.value
        if value.WhichOneof("value") == "simple_value"
    ]
    with np.load(GOLDEN / "expected.npz") as expected:
        assert found == expected["scalar_loss"].astype(np.float32).tolist()


def test_no_thread_and_no_file_before_they_are_needed(tmp_path):
    before = threads()
    writer = EventFileWriter(tmp_path)
    assert threads() == before
    assert list(tmp_path.iterdir()) == []
    writer.close()
    assert steps(writer.path) == []  # closed without events: a file all the same, as TensorFlow leaves one
    assert threads() == before


def test_the_first_event_is_on_the_disk_soon(tmp_path):
    writer = EventFileWriter(tmp_path, flush_secs=1000)
    writer.add_event(scalar(1))
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and (writer.path is None or steps_so_far(writer.path) != [1]):
        time.sleep(0.005)
    assert steps_so_far(writer.path) == [1]
    writer.close()


def steps_so_far(path):
    try:
        return steps(path)
    except (ValueError, errors.DataLossError):
        return None


def test_later_events_wait_for_flush_secs(tmp_path):
    with EventFileWriter(tmp_path, flush_secs=0.05) as writer:
        writer.add_event(scalar(1))
        writer.flush()
        writer.add_event(scalar(2))
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and steps_so_far(writer.path) != [1, 2]:
            time.sleep(0.005)
        assert steps(writer.path) == [1, 2]


def test_flush_returns_when_all_is_there(tmp_path):
    writer = EventFileWriter(tmp_path, flush_secs=1000)
    for step in range(50):
        writer.add_event(scalar(step))
    writer.flush()
    assert steps(writer.path) == list(range(50))
    writer.close()


@pytest.mark.parametrize("max_queue", [0, 1, 10])
def test_many_threads(tmp_path, max_queue):
    with EventFileWriter(tmp_path, max_queue=max_queue) as writer:
        workers = [
            threading.Thread(target=lambda k=k: [writer.add_event(scalar(k * 100 + i)) for i in range(100)])
            for k in range(6)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    found = steps(writer.path)
    assert sorted(found) == list(range(600))
    for k in range(6):  # each thread's own order is kept
        assert [s for s in found if s // 100 == k] == list(range(k * 100, k * 100 + 100))


def test_closed_writers_do_nothing_until_reopened(tmp_path):
    writer = EventFileWriter(tmp_path)
    writer.add_event(scalar(1))
    writer.close()
    writer.close()
    writer.add_event(scalar(2))
    writer.flush()
    first = writer.path
    assert writer.closed
    writer.reopen()
    writer.reopen()
    writer.add_event(scalar(3))
    writer.close()
    assert writer.path != first  # even within the same second
    assert (steps(first), steps(writer.path)) == ([1], [3])


def test_two_writers_in_one_folder_keep_apart(tmp_path):
    with EventFileWriter(tmp_path) as one, EventFileWriter(tmp_path) as two:
        one.add_event(scalar(1))
        two.add_event(scalar(2))
    assert (steps(one.path), steps(two.path)) == ([1], [2])


def test_events_are_taken_as_they_are_when_added(tmp_path):
    event = scalar(1)
    with EventFileWriter(tmp_path) as writer:
        writer.add_event(event)
        event.step = 99
    assert steps(writer.path) == [1]


def test_a_forgotten_writer_leaves_no_thread_and_a_whole_file(tmp_path):
    before = threads()
    writer = EventFileWriter(tmp_path, flush_secs=1000)
    for step in range(5):
        writer.add_event(scalar(step))
    del writer
    gc.collect()
    assert threads() == before
    (path,) = tmp_path.iterdir()
    assert steps(path) == list(range(5))


def test_what_was_added_is_written_when_the_program_ends(tmp_path):
    code = f"""
        from ebbflow import messages
        from ebbflow.io.events import EventFileWriter
        writer = EventFileWriter({str(tmp_path)!r}, flush_secs=1000)
        for step in range(20):
            writer.add_event(messages.Event(step=step))
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
    (path,) = tmp_path.iterdir()
    assert steps(path) == list(range(20))


def test_only_messages_are_added(tmp_path):
    with EventFileWriter(tmp_path) as writer, pytest.raises(TypeError, match="Expected an Event message"):
        writer.add_event("text")


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(errors.FailedPreconditionError, match="is not a directory"):
        EventFileWriter(tmp_path / "file")


def test_trouble_in_the_thread_is_told(tmp_path):
    before = threads()
    writer = EventFileWriter(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    writer.add_event(scalar(1))
    with pytest.raises(errors.NotFoundError, match="No such file or directory"):
        writer.flush()
    with pytest.raises(errors.NotFoundError):
        writer.add_event(scalar(2))
    with pytest.raises(errors.NotFoundError):
        writer.close()
    assert threads() == before


def test_a_damaged_file_is_refused(tmp_path):
    with EventFileWriter(tmp_path) as writer:
        writer.add_event(scalar(1))
    data = bytearray(pathlib.Path(writer.path).read_bytes())
    data[-6] ^= 1
    (tmp_path / "damaged").write_bytes(data)
    with pytest.raises(errors.DataLossError, match="corrupted record at"):
        list(read_events(tmp_path / "damaged"))
    with pytest.raises(errors.NotFoundError):
        read_events(tmp_path / "none")


def test_records_that_are_no_events_are_refused(tmp_path):
    from ebbflow.io.records import TFRecordWriter

    with TFRecordWriter(tmp_path / "f") as writer:
        writer.write(b"\xff\xff\xff")
    with pytest.raises(errors.DataLossError, match=r"not a valid tensorflow\.Event"):
        list(read_events(tmp_path / "f"))


def test_tensorboard_reads_it(tmp_path):
    from tensorboard.backend.event_processing import (
        event_accumulator,  # takes a second to import
    )

    graph = messages.GraphDef()
    graph.node.add(name="a", op="NoOp")
    start = messages.SessionLog(status=messages.SessionLog.START)
    with EventFileWriter(tmp_path) as writer:
        writer.add_event(messages.Event(wall_time=1.0, session_log=start))
        writer.add_event(messages.Event(wall_time=1.0, graph_def=messages.serialize(graph)))
        for step in range(3):
            writer.add_event(scalar(step, value=step * 0.5))
    found = event_accumulator.EventAccumulator(str(tmp_path))
    found.Reload()
    assert found.Tags()["scalars"] == ["loss"]
    assert [(s.step, s.value) for s in found.Scalars("loss")] == [(0, 0.0), (1, 0.5), (2, 1.0)]
    assert found.Graph().node[0].name == "a"
    assert found.FirstEventTimestamp() > 0
