"""Threads that work ahead: they make no more than is asked for, hand on errors, and end with the iterator."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data import background

Dataset = tf.data.Dataset
OURS = ("ebbflow-prefetch", "ebbflow-interleave", "ebbflow-map")


def threads():
    return [t for t in threading.enumerate() if t.name.startswith(OURS)]


def wait_until(holds):
    for _ in range(500):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it does not come about")


@pytest.fixture(autouse=True)
def no_threads_left():
    yield
    wait_until(lambda: not threads())


ENDLESS = {
    "prefetch": lambda: Dataset.range(3).repeat().prefetch(2),
    "interleave": lambda: (
        Dataset.range(3)
        .repeat()
        .interleave(lambda x: Dataset.from_tensors(x).repeat(), cycle_length=3, num_parallel_calls=3)
    ),
    "prefetch_twice": lambda: Dataset.range(3).repeat().prefetch(2).map(lambda x: x + 1).prefetch(3),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_threads_end_with_the_iterator(name):
    iterator = iter(ENDLESS[name]())
    next(iterator)
    assert threads()
    del iterator


def test_no_more_is_made_than_there_is_room_for():
    made = []

    def numbers():
        for i in range(100):
            made.append(i)
            yield i

    iterator = iter(Dataset.from_generator(numbers, tf.int32, []).prefetch(3))
    assert int(next(iterator)) == 0
    wait_until(lambda: len(made) == 4)
    time.sleep(0.05)
    assert made == [0, 1, 2, 3]
    assert [int(x) for x in iterator] == list(range(1, 100))


def test_a_generator_is_closed_with_the_iterator():
    closed = threading.Event()

    def numbers():
        try:
            yield from range(100)
        finally:
            closed.set()

    iterator = iter(Dataset.from_generator(numbers, tf.int32, []).prefetch(2))
    next(iterator)
    del iterator
    assert closed.wait(5)


@pytest.mark.parametrize("ahead", [0, 1, 4])
def test_an_error_comes_where_the_element_would(ahead):
    dataset = Dataset.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.debugging.check_numerics(1 / x, "odd"))
    iterator = iter(dataset.prefetch(ahead))
    assert float(next(iterator)) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="odd"):
        next(iterator)
    assert float(next(iterator)) == 0.5
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)


def test_long_calls_run_side_by_side_and_stay_in_order():
    running, most = [0], [0]
    lock = threading.Lock()

    def slow(x):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.01)
        with lock:
            running[0] -= 1
        return x

    dataset = Dataset.range(24).map(lambda x: tf.numpy_function(slow, [x], tf.int64), num_parallel_calls=4)
    assert [int(x) for x in dataset] == list(range(24))
    assert 1 < most[0] <= 4


def test_quick_calls_get_no_threads():
    iterator = iter(Dataset.range(100).map(lambda x: x + 1, num_parallel_calls=4))
    for _ in range(50):
        next(iterator)
    assert not threads()


def test_an_error_in_a_thread_ends_nothing():
    def odd(x):
        time.sleep(0.002)
        if x == 6:
            raise ValueError("six")
        return x

    dataset = Dataset.range(10).map(lambda x: tf.numpy_function(odd, [x], tf.int64), num_parallel_calls=3)
    assert [int(x) for x in dataset.ignore_errors()] == [0, 1, 2, 3, 4, 5, 7, 8, 9]


@pytest.mark.parametrize("together", [1, 3])
def test_errors_of_a_source_and_of_calls_come_in_their_order(monkeypatch, together):
    monkeypatch.setattr(background, "LONG", 0.0)  # every call is worth a thread
    monkeypatch.setattr(background, "MOST_TOGETHER", together)

    def told(elements):
        while True:
            try:
                yield next(elements)
            except StopIteration:
                return
            except ValueError as error:
                yield str(error)

    class Source:
        number = -1

        def __iter__(self):
            return self

        def __next__(self):
            self.number += 1
            if self.number == 7:
                raise ValueError("seven")
            if self.number >= 12:
                raise StopIteration
            return self.number

    called = []

    def call(number, element):
        called.append((number, element))
        if element == 9:
            raise ValueError("nine")
        return element

    found = list(told(background.SideBySide(call, Source(), 2, apart=False)))
    assert found == [0, 1, 2, 3, 4, 5, 6, "seven", 8, "nine", 10, 11]
    assert sorted(called) == [*[(i, i) for i in range(7)], *[(i - 1, i) for i in range(8, 12)]]


def test_several_threads_share_an_iterator():
    iterator, found = iter(Dataset.range(500).map(lambda x: x)), []

    def take():
        for x in iterator:
            found.append(int(x))

    workers = [threading.Thread(target=take) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(found) == list(range(500))


def test_what_cannot_even_start():
    def fails():
        raise RuntimeError("no start")

    items = background.Ahead(fails, 2)
    with pytest.raises(RuntimeError, match="no start"):
        next(items)
    assert list(items) == []


def test_nothing_starts_before_the_first_element_is_asked_for():
    iterator = iter(Dataset.range(3).repeat().prefetch(2))
    assert not threads()
    assert int(next(iterator)) == 0
    assert threads()


@pytest.mark.parametrize("slow", [False, True])
def test_a_prefetch_of_our_own_size_gets_a_thread_for_slow_elements_only(monkeypatch, slow):
    monkeypatch.setattr(background, "LONG", 0.0 if slow else 1e6)
    monkeypatch.setattr(background, "STARTING", 1e6)
    iterator = iter(Dataset.range(6).map(lambda x: x * 2).prefetch(tf.data.AUTOTUNE))
    assert int(next(iterator)) == 0  # the first pays for what is prepared, and tells nothing
    assert not threads()
    assert int(next(iterator)) == 2  # one alone may have been another process's turn
    assert not threads()
    assert int(next(iterator)) == 4
    assert bool(threads()) is slow
    assert [int(x) for x in iterator] == [6, 8, 10]
    assert not list(iterator)


def test_nothing_is_made_ahead_behind_the_only_element():
    iterator = iter(Dataset.range(1).prefetch(3))
    assert int(next(iterator)) == 0
    assert not threads()
    assert not list(iterator)


def test_a_prefetched_dataset_in_a_function():
    @tf.function
    def total(dataset):
        found = tf.constant(0, tf.int64)
        for x in dataset.prefetch(2):
            found += x
        return found

    assert [int(total(Dataset.range(n))) for n in (0, 3, 10)] == [0, 3, 45]
    assert np.isscalar(total(Dataset.range(3)).numpy())


def test_a_generator_that_asks_its_own_iterator():
    iterator = None

    def numbers():
        yield 1
        yield int(next(iterator))

    iterator = iter(Dataset.from_generator(numbers, tf.int32, []))
    next(iterator)
    with pytest.raises(tf.errors.InvalidArgumentError, match="already executing"):
        next(iterator)
