"""A dataset has no more threads than a pool, or an option, says."""

from __future__ import annotations

import threading
import time

import pytest

import ebbflow as tf
from ebbflow.data.running import Run
from ebbflow.data.thread_pools import PrivateThreadPool, override_threadpool

Dataset = tf.data.Dataset


class Crowd:
    """Counts how many are inside at once."""

    def __init__(self):
        self.now = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, x):
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.003)
        with self._lock:
            self.now -= 1
        return x


def by_pool(dataset, count):
    return override_threadpool(dataset, PrivateThreadPool(count, "mine"))


def by_option(dataset, count):
    options = tf.data.Options()
    options.threading.private_threadpool_size = count
    return dataset.with_options(options)


@pytest.mark.parametrize("bound", [by_pool, by_option])
@pytest.mark.parametrize("calls", [6, tf.data.AUTOTUNE])
@pytest.mark.parametrize("sure", [True, False])
def test_calls_are_no_more_than_threads(bound, calls, sure):
    crowd = Crowd()
    numbers = Dataset.range(40).map(
        lambda x: tf.numpy_function(crowd, [x], tf.int64), num_parallel_calls=calls, deterministic=sure
    )
    assert sorted(bound(numbers, 2).as_numpy_iterator()) == list(range(40))
    assert crowd.most <= 2


def test_pools_have_threads():
    with pytest.raises(tf.errors.InvalidArgumentError, match="`num_threads` must be greater than zero, got 0"):
        PrivateThreadPool(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be the handle of a pool of threads"):
        wrong = tf.raw_ops.AnonymousHashTable(key_dtype=tf.int64, value_dtype=tf.int64)
        numbers = Dataset.range(3)._variant_tensor
        tf.raw_ops.ThreadPoolDataset(
            input_dataset=numbers, thread_pool=wrong, output_types=[tf.int64], output_shapes=[[]]
        )


def test_a_bound_leaves_the_number_of_calls_open_where_it_is_large():
    assert [Run(most=4).calls(n) for n in (-1, 2, 9)] == [4, 2, 4]
    assert [Run(most=99).calls(n) for n in (-1, 2, 200)] == [-1, 2, 99]
    assert [Run().calls(n) for n in (-1, 2, 200)] == [-1, 2, 200]
