"""Frames and tensors as bytes, and bytes that are neither."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.cluster import wire
from ebbflow.cluster.link import Link
from ebbflow.cluster.steps import Steps

ARRAYS = {
    "scalar": np.float32(3.5)[()] * np.ones((), np.float32),
    "empty": np.zeros((0, 3), np.int32),
    "halves": np.arange(6, dtype=tf.bfloat16.as_numpy_dtype).reshape(2, 3),
    "bools": np.array([True, False]),
    "complex": np.array([1 + 2j], np.complex64),
    "strided": np.arange(24, dtype=np.int64).reshape(4, 6)[::2, 1::2],
    "every other": np.arange(12, dtype=np.float32)[::2],
    "one, again and again": np.broadcast_to(np.int64(3), (5,)),
    "backwards": np.arange(4)[::-1],
    "strings": np.array([b"", b"a\0b", "é".encode()], object).reshape(3, 1),
    "no strings": np.empty((0,), object),
    "several pieces": np.arange(3 * wire.PIECE // 8 + 5, dtype=np.float64),
}


def carried(array, key="k"):
    """The array as it comes out at the other end, its frames two to a message."""
    arrived = []
    incoming = wire.Incoming(lambda *what: arrived.append(what))
    pieces = [b"".join(frame.pieces()) for frame in wire.tensor_frames(7, key, array)]
    for at in range(0, len(pieces), 2):
        for frame in wire.frames(b"".join(pieces[at : at + 2])):
            incoming.take(frame)
    ((step, name, value),) = arrived
    assert (step, name) == (7, key)
    return value


@pytest.mark.parametrize("name", ARRAYS)
def test_a_tensor_arrives_as_it_was(name):
    value = carried(ARRAYS[name])
    assert value.dtype == ARRAYS[name].dtype and value.shape == ARRAYS[name].shape
    np.testing.assert_array_equal(value, ARRAYS[name])


def test_a_handle_is_not_sent():
    with pytest.raises(tf.errors.UnimplementedError, match=r"cannot be sent to another task \(tensor 'edge_1_v'\)"):
        list(wire.tensor_frames(1, "/a;1;/b;edge_1_v;0:0", np.array(object(), object)))


GOOD = b"".join(next(wire.tensor_frames(1, "k", np.arange(4))).pieces())


@pytest.mark.parametrize("cut", range(1, len(GOOD), 5))
def test_a_message_that_is_cut_is_refused(cut):
    with pytest.raises(tf.errors.DataLossError):
        list(wire.frames(GOOD[:cut]))


@pytest.mark.parametrize("seed", range(30))
def test_other_bytes_do_no_harm(seed):
    """What is changed in a message is noticed, or gives another tensor; nothing else happens."""
    random = np.random.default_rng(seed)
    bytes_there = np.frombuffer(GOOD, np.uint8).copy()
    bytes_there[random.integers(0, len(bytes_there), 3)] = random.integers(0, 256, 3)
    incoming = wire.Incoming(lambda *what: None)
    try:
        for frame in wire.frames(bytes_there.tobytes()):
            if frame.kind in (wire.DATA, wire.MORE):
                incoming.take(frame)
    except tf.errors.DataLossError:
        pass


def test_a_tensor_that_claims_too_much_is_refused_before_it_is_allocated():
    frame = next(wire.tensor_frames(1, "k", np.arange(4)))
    head = wire._SHAPE.pack(1, tf.int64.as_datatype_enum, 1, 1 << 50) + frame.head[wire._SHAPE.size :]
    with pytest.raises(tf.errors.DataLossError, match="rank 1 and 1125899906842624 bytes"):
        wire.Incoming(print).take(frame._replace(head=head))


@pytest.mark.parametrize(
    "error",
    [tf.errors.OutOfRangeError(None, None, "closed"), ValueError("bad"), tf.errors.AbortedError(None, None, "gone")],
    ids=lambda error: type(error).__name__,
)
def test_an_error_stays_what_it_is(error):
    arrived = wire.error_from(wire.error_content(error))
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)


def test_an_error_of_ours_that_nobody_knows_is_unknown():
    arrived = wire.error_from(wire.error_content(RuntimeError("odd")))
    assert isinstance(arrived, tf.errors.UnknownError) and "RuntimeError: odd" in str(arrived)


def test_what_one_message_brings_is_handed_to_a_step_at_once(monkeypatch):
    """A hundred small tensors of a step are one message, and wake those who wait for them once."""
    steps = Steps()
    link, step = Link(steps), steps.begin()
    for i in range(100):
        link.post(step.number, f"/a;1;/b;edge_{i};0:0", np.full(512, i, np.float32))
    message = next(link)
    assert not link._queue
    delivered = []
    monkeypatch.setattr(step, "deliver", lambda values: delivered.append(values))
    link.read(map(link.receive, [message]), print)
    (values,) = delivered
    assert [values[f"/a;1;/b;edge_{i};0:0"][0] for i in range(100)] == list(range(100))


def test_tensors_that_came_before_a_call_are_there_when_it_is_taken():
    steps, seen = Steps(), []
    link, step = Link(steps), steps.begin()
    link.expect(step.number, lambda said, failed: seen.append((said, step.take("k").tolist())))
    tensor = b"".join(next(wire.tensor_frames(step.number, "k", np.arange(3))).pieces())
    message = tensor + b"".join(wire.said(wire.DONE, step.number, "well").pieces())
    link.read(map(link.receive, [message]), print)
    assert seen == [("well", [0, 1, 2])]


def test_a_head_that_is_remembered_is_still_checked():
    frame = next(wire.tensor_frames(1, "k", np.arange(4)))
    for _ in range(2):
        with pytest.raises(tf.errors.DataLossError, match="40 bytes of a tensor of 32"):
            wire.Incoming(print).take(frame._replace(payload=bytes(40)))


@pytest.mark.parametrize(
    "array",
    [np.arange(6, dtype=np.float32).reshape(2, 3), np.float64(2.5)[...], np.zeros((0, 4), np.int8), np.ones(4, bool),
     np.ones((2, 3), tf.bfloat16.as_numpy_dtype), np.ones((4, 4))[:, ::2], np.array([b"a", b"bc"], object),
     np.ones(wire.SMALL, np.uint8), np.ones(wire.SMALL + 1, np.uint8)],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)  # fmt: skip
def test_what_is_posted_arrives_whether_it_is_packed_at_once_or_not(array):
    steps = Steps()
    link, step = Link(steps), steps.begin()
    link.post(step.number, "k", array)
    link.post(step.number, "l", np.arange(3))
    assert link.receive(next(link)) is True
    arrived = step.take("k")
    assert arrived.dtype == array.dtype and arrived.flags.writeable and arrived.flags.aligned
    np.testing.assert_array_equal(arrived, array)
    assert step.take("l").tolist() == [0, 1, 2]


def test_a_whole_tensor_is_taken_where_it_lies_only_if_its_size_is_right():
    frame = next(wire.tensor_frames(1, "k", np.arange(4)))
    link = Link(Steps())
    wrong = frame._replace(payload=bytes(40))
    error = link.receive(b"".join(wrong.pieces()))
    assert isinstance(error, tf.errors.DataLossError) and "40 bytes of a tensor of 32" in str(error)


def test_what_is_collected_while_a_link_is_used_may_speak():
    """A graph that nobody has any longer is released in whichever thread collects it, and whatever that is doing."""
    steps = Steps()
    link = Link(steps)

    def collect_in_the_middle():
        with steps._lock, link._lock, link._ready:
            steps.end(steps.begin())
            link.say(wire.said(wire.CALL, 1, ["release", {}]))
            link.forget(1)

    thread = threading.Thread(target=collect_in_the_middle, daemon=True)
    thread.start()
    thread.join(20.0)
    assert not thread.is_alive() and len(link._queue) == 1
