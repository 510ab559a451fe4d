"""Runs that are told to stop: by a deadline, or because their session is closed."""

from __future__ import annotations

import threading
import time

import pytest

import ebbflow as tf
from ebbflow.core import stopping

v1 = tf.compat.v1
SHORT = 100  # milliseconds: long enough for anything else to be done


def endless_loop(place="/cpu:0"):
    with tf.device(place):
        return v1.while_loop(lambda i: i >= 0, lambda i: (i + 1) % 1000, [tf.constant(0)])


def wait_for_a_loop():
    """On one device a loop without end, on another what waits for it."""
    turning = endless_loop("/cpu:1")
    with tf.device("/cpu:0"):
        return turning + 1


def taken_lock():
    """A lock that the run itself holds."""
    mutex = tf.raw_ops.MutexV2(shared_name="m")
    first = tf.raw_ops.MutexLock(mutex=mutex)
    with tf.control_dependencies([first]):
        second = tf.raw_ops.MutexLock(mutex=mutex)
    with tf.control_dependencies([second, first]):
        return tf.group(tf.raw_ops.ConsumeMutexLock(mutex_lock=first), tf.raw_ops.ConsumeMutexLock(mutex_lock=second))


def loop_in_a_loop():
    def turn(i):
        return v1.while_loop(lambda j: j < 10, lambda j: j + 1, [i * 0]) * 0

    return v1.while_loop(lambda i: i >= 0, turn, [tf.constant(0)])


#           what blocks     what a closed session says of it
BLOCKED = [
    (endless_loop, "Loop execution was cancelled"),
    (loop_in_a_loop, "Loop execution was cancelled"),
    (taken_lock, "Lock acquisition cancelled"),
    (wait_for_a_loop, "cancelled"),
]


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def config(**options):
    return v1.ConfigProto(device_count={"CPU": 2}, **options)


def close_soon(sess):
    thread = threading.Thread(target=lambda: (time.sleep(SHORT / 1000), sess.close()))
    thread.start()
    return thread


@pytest.mark.parametrize("by", ["options", "config"])
@pytest.mark.parametrize("blocked", [b for b, _ in BLOCKED])
def test_a_run_that_takes_too_long(graph, blocked, by):
    fetch, easy = blocked(), tf.constant(3)
    options = v1.RunOptions(timeout_in_ms=SHORT) if by == "options" else None
    with v1.Session(config=config(operation_timeout_in_ms=SHORT if by == "config" else 0)) as sess:
        for _ in range(3):  # by the executor, and when it would be compiled
            with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out"):
                sess.run(fetch, options=options)
        assert sess.run(easy, options=options) == 3


@pytest.mark.parametrize(("blocked", "words"), BLOCKED)
def test_closing_cancels_what_runs(graph, blocked, words):
    fetch = blocked()
    sess = v1.Session(config=config())
    thread = close_soon(sess)
    with pytest.raises(tf.errors.CancelledError, match=words):
        sess.run(fetch)
    thread.join()
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        sess.run(fetch)


@pytest.mark.parametrize("close", [True, False])
def test_a_loop_in_machine_code_heeds_its_session(graph, close, monkeypatch):
    monkeypatch.setenv("EBBFLOW_CHECK", "1")  # code from the first run on
    until = v1.placeholder(tf.int32, [])
    fetch = tf.function(
        lambda: v1.while_loop(lambda i: tf.not_equal(i, until), lambda i: (i + 1) % 1000, [tf.constant(0)])
    )()
    sess = v1.Session()
    assert sess.run(fetch, {until: 7}) == 7
    thread = close_soon(sess) if close else None
    options = None if close else v1.RunOptions(timeout_in_ms=SHORT)
    with pytest.raises(tf.errors.CancelledError if close else tf.errors.DeadlineExceededError):
        sess.run(fetch, {until: -1}, options=options)
    if thread is not None:
        thread.join()
    else:
        assert sess.run(fetch, {until: 7}) == 7


def sleeping():
    return v1.py_func(lambda: (time.sleep(3 * SHORT / 1000), 1)[1], [], tf.int64)


def test_what_cannot_be_stopped_is_waited_for(graph):
    fetch = sleeping()
    sess = v1.Session()
    with pytest.raises(tf.errors.DeadlineExceededError, match="longer than 100 ms"):
        sess.run(fetch, options=v1.RunOptions(timeout_in_ms=SHORT))
    assert sess.run(fetch) == 1
    thread = close_soon(sess)
    with pytest.raises(tf.errors.CancelledError, match="Run call was cancelled"):
        sess.run(fetch)
    thread.join()


@pytest.mark.parametrize("milliseconds", [0, -5, 60_000])
def test_limits_that_change_nothing(graph, milliseconds):
    metadata = v1.RunMetadata()
    with v1.Session() as sess:
        options = v1.RunOptions(timeout_in_ms=milliseconds, trace_level=v1.RunOptions.FULL_TRACE)
        assert sess.run(tf.constant(2) * 3, options=options, run_metadata=metadata) == 6
        assert sess.run(v1.while_loop(lambda i: i < 5, lambda i: i + 1, [0]), options=options) == 5
    assert len(metadata.step_stats.dev_stats) == 1


def test_options_come_before_the_config(graph):
    with v1.Session(config=v1.ConfigProto(operation_timeout_in_ms=SHORT)) as sess:
        assert sess.run(sleeping(), options=v1.RunOptions(timeout_in_ms=60_000)) == 1


#            what is asked of a closed session               the answer
AFTERWARDS = [
    (lambda s, x, c, h: s.run(x), RuntimeError, "Attempted to use a closed Session"),
    (lambda s, x, c, h: s.run("nothing"), RuntimeError, "Attempted to use a closed Session"),
    (lambda s, x, c, h: s.partial_run_setup([x]), RuntimeError, "Attempted to use a closed Session"),
    (lambda s, x, c, h: s.partial_run(h, x), RuntimeError, "Attempted to use a closed Session"),
    (lambda s, x, c, h: c(), tf.errors.CancelledError, "Session has been closed"),
    (lambda s, x, c, h: s.list_devices(), tf.errors.CancelledError, "Session has been closed"),
]


@pytest.mark.parametrize(("ask", "error", "words"), AFTERWARDS)
def test_a_closed_session(graph, ask, error, words):
    x = tf.constant(1)
    sess = v1.Session()
    assert sess.run(x) == 1
    call, handle = sess.make_callable(x), sess.partial_run_setup([x])
    sess.close()
    sess.close()
    with pytest.raises(error, match=words):
        ask(sess, x, call, handle)


def test_what_a_stop_reaches_has_to_look():
    above = stopping.Stop()
    below = stopping.Stop(object(), None, stopping.Stop(object(), None, above))
    assert not below.urgent
    above.cancel()
    assert below.urgent and stopping.Stop(object(), None, above).urgent
    with pytest.raises(tf.errors.CancelledError, match="over"):
        below.check("over")
