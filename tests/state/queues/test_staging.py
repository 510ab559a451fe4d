"""Staging areas and barriers: values that wait between runs."""

from __future__ import annotations

import threading

import pytest

import ebbflow as tf
import ebbflow.v1 as tf1
from ebbflow.state.queues.barrier import Barrier
from ebbflow.state.queues.staging import MapStagingArea, StagingArea


@pytest.fixture
def session():
    with tf1.Graph().as_default(), tf1.Session() as sess:
        yield sess


def test_a_pipeline_of_two_stages(session):
    x = tf1.placeholder(tf.float32, [])
    area = tf1.contrib.staging.StagingArea([tf.float32, tf.string], shapes=[[], []])
    put, (number, text) = area.put([x * 2, "a"]), area.get()
    assert number.shape.as_list() == []
    session.run(put, {x: 1})
    for i in range(2, 6):
        assert session.run([number, put], {x: i})[0] == 2 * (i - 1)
    assert session.run(area.size()) == 1
    assert session.run(text) == b"a"


def test_peek_and_clear(session):
    area = StagingArea([tf.int32], names=["n"])
    for i in range(3):
        session.run(area.put({"n": i}))
    assert session.run(area.peek(1)) == {"n": 1} and session.run(area.size()) == 3
    session.run(area.clear())
    assert session.run(area.size()) == 0


@pytest.mark.parametrize("limits", [{"capacity": 2}, {"memory_limit": 8}])
def test_a_full_area_makes_put_wait(session, limits):
    area = StagingArea([tf.int32], shapes=[[]], **limits)
    put, get = area.put([7]), area.get()
    thread = threading.Thread(target=lambda: [session.run(put) for _ in range(4)], daemon=True)
    thread.start()
    assert [session.run(get) for _ in range(4)] == [[7]] * 4
    thread.join(10)
    assert not thread.is_alive()


def test_what_never_fits_is_refused(session):
    area = StagingArea([tf.int32], memory_limit=4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="memory limit of 4"):
        session.run(area.put([[1, 2]]))


@pytest.mark.parametrize("ordered", [False, True])
def test_by_key(session, ordered):
    area = MapStagingArea([tf.int32, tf.float32], shapes=[[], []], ordered=ordered)
    for key in (5, 3, 4):
        session.run(area.put(key, [key, key / 2]))
    assert session.run(area.peek(3)) == [3, 1.5]
    assert session.run(area.get(4)) == (4, [4, 2.0])
    key, values = session.run(area.get())
    assert (key, values) == ((3, [3, 1.5]) if ordered else (5, [5, 2.5]))
    assert session.run([area.size(), area.incomplete_size()]) == [1, 0]


def test_parts_come_and_go_one_by_one(session):
    area = MapStagingArea([tf.int32, tf.float32, tf.string], names=["a", "b", "c"])
    session.run(area.put(1, {"a": 1}))
    assert session.run([area.size(), area.incomplete_size()]) == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="already initialized"):
        session.run(area.put(1, {"a": 2}))
    session.run(area.put(1, {"b": 2.0, "c": "x"}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="already complete"):
        session.run(area.put(1, {"a": 2}))
    assert session.run(area.get(1, indices=["b"])) == (1, {"b": 2.0})
    with pytest.raises(tf.errors.InvalidArgumentError, match="already been removed"):
        session.run(area.get(1, indices=["b"]))
    assert session.run(area.get(1, indices=["a", "c"]))[1] == {"a": 1, "c": b"x"}
    assert session.run(area.size()) == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: StagingArea([tf.int32], shapes=[[], []]),
        lambda: StagingArea([tf.int32], names=["a", "b"]),
        lambda: StagingArea([tf.int32], capacity=-1),
        lambda: StagingArea([tf.int32], shared_name=3),
        lambda: StagingArea([tf.int32], shapes=[[2]]).put([[1, 2, 3]]),
        lambda: StagingArea([tf.int32]).put({"a": 1}),
        lambda: StagingArea([tf.int32]).put([1, 2]),
    ],
)
def test_refused(session, make):
    with pytest.raises(ValueError):
        make()


# --- barriers ---------------------------------------------------------------------------------------------------------


def test_tuples_leave_a_barrier_when_they_are_complete(session):
    barrier = Barrier([tf.float32, tf.string], shapes=[[], []], name="B")
    session.run(barrier.insert_many(0, ["a", "b", "c"], [1.0, 2.0, 3.0]))
    sizes = [barrier.ready_size(), barrier.incomplete_size()]
    assert session.run(sizes) == [0, 3]
    session.run(barrier.insert_many(1, ["c", "a"], ["z", "x"]))
    assert session.run(sizes) == [2, 1]
    indices, keys, (numbers, texts) = session.run(barrier.take_many(2))
    assert indices.tolist() == [-(2**63)] * 2  # of one insertion
    assert (keys.tolist(), numbers.tolist(), texts.tolist()) == ([b"a", b"c"], [1, 3], [b"x", b"z"])
    session.run(barrier.close())
    with pytest.raises(tf.errors.CancelledError, match="is closed"):
        session.run(barrier.insert_many(0, ["new"], [1.0]))
    session.run(barrier.insert_many(1, ["b"], ["y"]))  # what is there may be completed
    assert session.run(barrier.take_many(5, allow_small_batch=True)).keys.tolist() == [b"b"]
    with pytest.raises(tf.errors.OutOfRangeError, match="insufficient elements"):
        session.run(barrier.take_many(1))


def test_a_barrier_refuses_values_of_another_shape(session):
    barrier = Barrier([tf.float32], shapes=[[2]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"component 0. Expected \[2\], got \[3\]"):
        session.run(barrier.insert_many(0, ["a"], [[1.0, 2.0, 3.0]]))


def test_a_closed_barrier_gives_what_is_ready(session):
    barrier = Barrier([tf.float32, tf.float32], shapes=[[], []])
    session.run(barrier.insert_many(0, ["a", "b", "c"], [1.0, 2.0, 3.0]))
    session.run(barrier.insert_many(1, ["a", "b"], [10.0, 20.0]))
    session.run(barrier.close())
    take, nothing = barrier.take_many(3, allow_small_batch=True), barrier.insert_many(0, [], [])
    assert session.run(take).keys.tolist() == [b"a", b"b"]  # though c is not complete
    session.run(barrier.insert_many(1, ["c"], [30.0]))
    assert session.run(take).keys.tolist() == [b"c"]
    session.run(nothing)
    session.run(barrier.close(cancel_pending_enqueues=True))
    with pytest.raises(tf.errors.CancelledError, match="is closed"):
        session.run(nothing)


def test_insertions_are_counted_by_the_keys_that_they_bring(session):
    barrier = Barrier([tf.float32, tf.float32], shapes=[[], []])
    for component, key in ((0, "a"), (1, "a"), (1, "b"), (0, "c"), (0, "b"), (1, "c")):
        session.run(barrier.insert_many(component, [key], [1.0]))
    taken = session.run(barrier.take_many(3))
    assert (taken.keys.tolist(), [int(i) + 2**63 for i in taken.indices]) == ([b"a", b"b", b"c"], [0, 1, 2])


def test_barriers_of_one_name_are_alike(session):
    session.run(Barrier([tf.float32], shapes=[[]], shared_name="one").barrier_ref)
    for types, shapes, what in (([tf.int32], [[]], "component types"), ([tf.float32], [[2]], "component shapes")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=what):
            session.run(Barrier(types, shapes=shapes, shared_name="one").barrier_ref)


def test_a_key_of_a_staging_area_is_a_scalar(session):
    put = tf.raw_ops.MapStage(key=tf.constant([[1]], tf.int64), indices=[0], values=[1.0], dtypes=[tf.float32])
    with pytest.raises(tf.errors.InvalidArgumentError, match="key must be an int64 scalar"):
        session.run(put)


def test_bad_insertions(session):
    barrier = Barrier([tf.float32, tf.float32], shapes=[[], []])
    session.run(barrier.insert_many(0, ["a"], [1.0]))
    for insertion in (
        barrier.insert_many(0, ["a"], [2.0]),
        barrier.insert_many(1, ["a", "b"], [2.0]),
        barrier.insert_many(7, ["a"], [2.0]),
        barrier.insert_many(1, [["a"]], [2.0]),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"arrier|component|keys"):
            session.run(insertion)
    session.run(barrier.close(cancel_pending_enqueues=True))
    with pytest.raises(tf.errors.CancelledError):
        session.run(barrier.insert_many(1, ["a"], [1.0]))
