"""Coordinators: threads that end together, errors that reach `join`."""

from __future__ import annotations

import sys
import threading
import time

import pytest

import ebbflow as tf
import ebbflow.v1 as tf1


def started(*targets):
    threads = [threading.Thread(target=target, daemon=True) for target in targets]
    for thread in threads:
        thread.start()
    return threads


def test_stop_is_asked_for_and_seen():
    coord = tf.train.Coordinator()
    assert not coord.should_stop() and not coord.wait_for_stop(0.001)
    threads = started(lambda: coord.wait_for_stop(10), coord.request_stop)
    coord.join(threads)
    assert coord.should_stop() and coord.joined and not any(t.is_alive() for t in threads)


def test_the_first_error_is_raised_by_join():
    coord = tf.train.Coordinator()

    def fail():
        with coord.stop_on_exception():
            raise ValueError("first")

    threads = started(fail)
    threads[0].join()
    coord.request_stop(RuntimeError("second"))
    with pytest.raises(ValueError, match="first"):
        coord.join(threads)
    with pytest.raises(ValueError, match="first"):
        coord.raise_requested_exception()
    coord.clear_stop()
    coord.raise_requested_exception()
    assert not coord.should_stop()


def test_an_error_may_come_as_exc_info():
    coord = tf.train.Coordinator()
    try:
        raise KeyError("lost")
    except KeyError:
        coord.request_stop(sys.exc_info())
    with pytest.raises(KeyError, match="lost"):
        coord.join()


@pytest.mark.parametrize("clean, error", [(None, tf.errors.OutOfRangeError(None, None, "end")), ((ZeroDivisionError,), ZeroDivisionError())])  # fmt: skip # noqa: E501
def test_clean_errors_are_no_errors(clean, error):
    coord = tf.train.Coordinator(clean_stop_exception_types=clean)
    coord.request_stop(error)
    coord.join()
    assert coord.should_stop()


def test_after_join_errors_come_at_once():
    coord = tf.train.Coordinator()
    coord.join()
    coord.request_stop()
    with pytest.raises(ValueError, match="late"):
        coord.request_stop(ValueError("late"))


def test_threads_that_do_not_end_are_named():
    coord, go = tf.train.Coordinator(), threading.Event()
    thread = threading.Thread(target=lambda: go.wait(20), name="slow", daemon=True)
    thread.start()
    coord.register_thread(thread)
    coord.request_stop()
    with pytest.raises(RuntimeError, match="still running: slow"):
        coord.join(stop_grace_period_secs=0.01)
    coord = tf.train.Coordinator()
    coord.request_stop()
    coord.join([thread], stop_grace_period_secs=0.01, ignore_live_threads=True)
    go.set()
    thread.join(10)


def test_what_is_no_error_is_refused():
    with pytest.raises(TypeError, match=r"sys\.exc_info"):
        tf.train.Coordinator().request_stop("done")


def test_looper_threads_call_again_and_again():
    coord, calls = tf.train.Coordinator(), []

    def work(limit):
        calls.append(time.monotonic())
        if len(calls) == limit:
            coord.request_stop()

    looper = tf1.train.LooperThread.loop(coord, 0.001, work, args=(4,))
    coord.join([looper])
    assert len(calls) == 4
    coord = tf.train.Coordinator()
    looper = tf1.train.LooperThread.loop(coord, None, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        coord.join()
    with pytest.raises(ValueError, match="target"):
        tf1.train.LooperThread(coord, 1, args=(1,))
