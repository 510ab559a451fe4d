"""Queues: TensorFlow 1.15's answers, and threads that wait for each other."""

from __future__ import annotations

import json
import pathlib
import threading
from functools import partial

import numpy as np
import pytest

import ebbflow as tf
import ebbflow.v1 as tf1
from tests.golden.queues import queue_cases

RECORDED = json.loads(pathlib.Path(queue_cases.__file__).with_suffix(".json").read_text())


@pytest.mark.parametrize("program", range(len(queue_cases.PROGRAMS)))
def test_recorded(program):
    assert json.loads(json.dumps(queue_cases.answers(tf1, program))) == RECORDED[program]


@pytest.fixture
def session():
    with tf1.Graph().as_default(), tf1.Session() as sess:
        yield sess


def in_thread(function):
    """Run a function in a thread; `join` gives what it returned or raised."""
    told = []

    def work():
        try:
            told.append(function())
        except Exception as error:
            told.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def join():
        thread.join(10)
        assert not thread.is_alive()
        return told[0]

    return join


def test_a_full_queue_makes_enqueue_wait(session):
    queue = tf1.FIFOQueue(2, tf.int32, shapes=[[]])
    dequeue = queue.dequeue()
    put = queue.enqueue_many([[1, 2, 3, 4]])
    waiting = in_thread(lambda: session.run(put))
    assert [session.run(dequeue) for _ in range(4)] == [1, 2, 3, 4]
    assert waiting() is None


def test_a_batch_at_the_head_of_the_line_gathers_rows(session):
    queue = tf1.FIFOQueue(10, tf.int32, shapes=[[]])
    batch, one, put, size = queue.dequeue_many(3), queue.dequeue(), queue.enqueue([1]), queue.size()
    first = in_thread(lambda: session.run(batch))
    for _ in range(2):
        session.run(put)
    while session.run(size):
        pass
    second = in_thread(lambda: session.run(one))
    session.run(put)
    assert first().tolist() == [1, 1, 1]
    session.run(put)
    assert second() == 1


def test_closing_lets_those_finish_who_wait_to_put(session):
    queue = tf1.FIFOQueue(1, tf.int32, shapes=[[]])
    put, take, close = queue.enqueue([7]), queue.dequeue(), queue.close()
    session.run(put)
    waiting = in_thread(lambda: session.run(put))
    raw = session.resources[("", "fifo_queue", "queue")]
    while not raw._putting:
        pass
    closing = in_thread(lambda: session.run(close))
    assert [session.run(take), session.run(take)] == [7, 7]
    assert waiting() is None and closing() is None
    with pytest.raises(tf.errors.OutOfRangeError, match=r"requested 1, current size 0"):
        session.run(take)


def test_closing_can_cancel_those_who_wait_to_put(session):
    queue = tf1.FIFOQueue(1, tf.int32, shapes=[[]])
    put = queue.enqueue([7])
    session.run(put)
    waiting = in_thread(lambda: session.run(put))
    raw = session.resources[("", "fifo_queue", "queue")]
    while not raw._putting:
        pass
    session.run(queue.close(cancel_pending_enqueues=True))
    assert isinstance(waiting(), tf.errors.CancelledError)
    assert session.run(queue.dequeue()) == 7


def test_an_unfilled_batch_of_a_closed_queue_is_put_back_in_order(session):
    queue = tf1.FIFOQueue(10, tf.int32, shapes=[[]])
    session.run(queue.enqueue_many([[1, 2, 3]]))
    five, size = queue.dequeue_many(5), queue.size()
    waiting = in_thread(lambda: session.run(five))
    while session.run(size):
        pass
    session.run(queue.close())
    assert isinstance(waiting(), tf.errors.OutOfRangeError)
    assert session.run(queue.dequeue_many(3)).tolist() == [1, 2, 3]


def test_a_deadline_ends_waiting(session):
    queue = tf1.FIFOQueue(1, tf.int32)
    take = queue.dequeue()
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(take, options=tf1.RunOptions(timeout_in_ms=50))
    session.run(queue.enqueue([3]))
    assert session.run(take) == 3


def test_closing_the_session_ends_waiting():
    with tf1.Graph().as_default():
        session = tf1.Session()
        take = tf1.FIFOQueue(1, tf.int32).dequeue()
        waiting = in_thread(lambda: session.run(take))
        session.close()
        assert isinstance(waiting(), (tf.errors.CancelledError, RuntimeError))


@pytest.mark.parametrize("both", [["take", "put"], ["put", "take"]])
def test_a_run_may_put_what_it_takes(session, both):
    queue = tf1.FIFOQueue(1, tf.int32, shapes=[[]])
    take = queue.dequeue() + 1  # made before what it waits for
    ops = {"take": take, "put": queue.enqueue([41])}
    for _ in range(3):
        values = session.run([ops[name] for name in both])
        assert [v for v in values if v is not None] == [42]


def test_what_a_run_waits_for_ends_with_the_first_error(session):
    queue = tf1.FIFOQueue(1, tf.int32, shapes=[[]])
    closed = tf1.FIFOQueue(1, tf.int32, shapes=[[]])
    session.run(closed.close())
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run([queue.dequeue(), closed.dequeue()])


def test_python_functions_of_one_run_may_meet(session):
    events = threading.Event(), threading.Event()

    def meet(mine, other):
        mine.set()
        assert other.wait(10)
        return np.float32(1)

    pair = [tf1.py_func(lambda a=a: meet(events[a], events[1 - a]), [], tf.float32) for a in (0, 1)]
    assert session.run(pair) == [1, 1]


@pytest.mark.parametrize(("seeds", "fits"), [((None, 887634792), True), ((5, 5), True), ((5, 6), False)])
def test_a_shuffled_queue_that_is_shared_has_the_seeds_of_the_graph_and_its_name(seeds, fits):
    with tf1.Graph().as_default(), tf1.Session() as session:
        tf1.set_random_seed(87654321)
        make = partial(tf1.RandomShuffleQueue, 9, 0, tf.int32, [[]], shared_name="shared_queue")
        first, second = [make(seed=seed) for seed in seeds]
        session.run(first.enqueue(3))
        if not fits:
            with pytest.raises(tf.errors.InvalidArgumentError, match="random seeds"):
                session.run(second.size())
            return
        assert session.run(second.size()) == 1
        tf1.set_random_seed(None)
        anyone = make()
        assert session.run(anyone.dequeue()) == 3


def test_sharing_by_name(session):
    first = tf1.FIFOQueue(5, tf.int32, shapes=[[]], shared_name="q")
    second = tf1.FIFOQueue(5, tf.int32, shapes=[[]], shared_name="q")
    session.run(first.enqueue([1]))
    assert session.run(second.dequeue()) == 1
    other = tf1.FIFOQueue(6, tf.int32, shapes=[[]], shared_name="q")
    with pytest.raises(tf.errors.InvalidArgumentError, match="capacity"):
        session.run(other.size())


def test_from_list(session):
    queues = [tf1.FIFOQueue(5, tf.int32, shapes=[[]]) for _ in range(3)]
    which = tf1.placeholder(tf.int32, [])
    chosen = tf1.QueueBase.from_list(which, queues)
    put, take = chosen.enqueue([which * 10]), chosen.dequeue()
    for i in (2, 0, 1):
        session.run(put, {which: i})
    assert [session.run(take, {which: i}) for i in range(3)] == [0, 10, 20]


def test_eager_and_in_a_function():
    queue = tf.queue.FIFOQueue(4, ["int32", "string"], shapes=[[], []])
    queue.enqueue([1, "a"])

    @tf.function
    def move():
        number, text = queue.dequeue()
        queue.enqueue([number + 1, text + "b"])
        return queue.size()

    for _ in range(3):
        assert int(move()) == 1
    number, text = queue.dequeue()
    assert (int(number), text.numpy()) == (4, b"abbb")
    queue.close()
    with pytest.raises(tf.errors.OutOfRangeError, match="FIFOQueue"):
        queue.dequeue()
    with pytest.raises(tf.errors.CancelledError, match="is closed"):
        queue.enqueue([1, "a"])


def test_what_was_fed_may_change_after_the_run(session):
    value = tf1.placeholder(tf.float32, [2])
    queue = tf1.FIFOQueue(4, tf.float32, shapes=[[2]])
    put, array = queue.enqueue([value]), np.array([1, 2], np.float32)
    for _ in range(3):
        session.run(put, {value: array})
    array[:] = 9
    assert session.run(queue.dequeue_many(3)).tolist() == [[1, 2]] * 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf1.FIFOQueue(0, tf.int32).size(),
        lambda: tf1.RandomShuffleQueue(5, 5, tf.int32).size(),
        lambda: tf1.RandomShuffleQueue(5, -1, tf.int32).size(),
    ],
)
def test_refused_when_made(session, make):
    with pytest.raises(tf.errors.InvalidArgumentError, match="'"):
        session.run(make())


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf1.FIFOQueue(1, [tf.int32, tf.int32], shapes=[[]]),
        lambda: tf1.FIFOQueue(1, tf.int32, shapes=[[None]]),
        lambda: tf1.FIFOQueue(1, tf.int32, names=["a", "b"]),
        lambda: tf1.PaddingFIFOQueue(1, [tf.int32, tf.int32], shapes=[[None]]),
        lambda: tf1.FIFOQueue(1, tf.int32, shapes=[[2]]).enqueue([[1, 2, 3]]),
        lambda: tf1.FIFOQueue(1, tf.int32, shapes=[[2]]).enqueue_many([3]),
        lambda: tf1.FIFOQueue(1, tf.int32).enqueue([1, 2]),
    ],
)
def test_refused_where_it_is_written(session, make):
    with pytest.raises(ValueError):
        make()
