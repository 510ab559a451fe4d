"""Random ops in functions that run side by side: the numbers of calls one after the other, whatever threads do."""

from __future__ import annotations

import time

import numpy as np
import pytest

import ebbflow as tf

Dataset = tf.data.Dataset
COUNT = 40


def late(x):
    """Keep some calls back, so that those behind them come first."""

    def wait(number):
        time.sleep(0.0005 + 0.001 * (int(number) % 3 == 0))
        return np.float32(number)

    return tf.numpy_function(wait, [x], tf.float32)


def seeded(x):
    return tf.ensure_shape(late(x), []) + tf.random.uniform([], seed=5) + tf.random.normal([3], seed=6)


def in_a_branch(x):
    number = tf.ensure_shape(late(x), [])
    return tf.cond(x % 2 == 0, lambda: number + tf.random.uniform([], seed=3), lambda: number)


def in_a_loop(x):
    number = tf.ensure_shape(late(x), [])
    step = lambda i, total: (i + 1, total + tf.random.uniform([], seed=3))
    return tf.while_loop(lambda i, total: i < x % 3, step, [tf.constant(0, tf.int64), number])[1]


@tf.function
def called(x):
    return tf.ensure_shape(late(x), []) + tf.random.uniform([], seed=1)


FUNCTIONS = {"seeded": seeded, "in_a_branch": in_a_branch, "in_a_loop": in_a_loop, "called": called}


def values(dataset):
    return np.stack([np.asarray(x) for x in dataset.as_numpy_iterator()])


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("width", [2, 5, tf.data.AUTOTUNE])
def test_seeded_numbers_are_those_of_one_call_after_the_other(name, width):
    numbers = Dataset.range(COUNT)
    expected = values(numbers.map(FUNCTIONS[name]))
    np.testing.assert_array_equal(values(numbers.map(FUNCTIONS[name], num_parallel_calls=width)), expected)


def test_without_a_seed_elements_differ_and_so_do_iterations():
    def drawn(x):
        return tf.cast(late(x) * 0, tf.int64) + tf.random.uniform([], 0, 2**62, tf.int64)  # no two are alike by chance

    dataset = Dataset.range(COUNT).map(drawn, num_parallel_calls=4)
    dataset = Dataset.zip(dataset, dataset)
    first, second = values(dataset), values(dataset)
    assert len(np.unique(np.concatenate([first, second]))) == 4 * COUNT


@pytest.mark.parametrize("other", [2, 7])
def test_an_iterator_goes_on_with_the_same_numbers_though_other_calls_run_at_once(other, tmp_path):
    def begun(width):
        return iter(Dataset.range(COUNT).map(lambda x: late(x) * 0 + tf.random.uniform([]), num_parallel_calls=width))

    iterator = begun(4)
    for _ in range(15):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "saved"))
    rest = [x.numpy() for x in iterator]
    again = begun(other)
    tf.train.Checkpoint(iterator=again).restore(path)
    assert [x.numpy() for x in again] == rest


def test_a_call_that_fails_keeps_nobody_waiting():
    def fragile(x):
        checked = tf.debugging.check_numerics(1 / (tf.ensure_shape(late(x), []) - 7), "quotient")
        with tf.control_dependencies([checked]):
            return tf.cast(x, tf.float32) + tf.random.uniform([], seed=2)

    iterator, count, errors = iter(Dataset.range(20).map(fragile, num_parallel_calls=3)), 0, 0
    while True:
        try:
            next(iterator)
            count += 1
        except tf.errors.InvalidArgumentError:
            errors += 1
        except StopIteration:
            break
    assert (count, errors) == (19, 1)


def test_stages_draw_what_has_nothing_to_do_with_each_other():
    numbers = tf.data.Dataset.range(400)
    drawn = numbers.map(lambda i: tf.random.uniform([2])).map(lambda x: tf.concat([x, tf.random.uniform([2])], 0))
    found = np.stack(list(drawn.as_numpy_iterator()))
    for i in range(4):
        for j in range(i):
            apart = np.sort((found[:, i] - found[:, j]) % 1)
            assert (
                np.abs(apart - np.linspace(0, 1, 400)).max() < 0.15
            )  # spread as evenly as chance has it, not one number
    assert len(np.unique(found)) > 1590
