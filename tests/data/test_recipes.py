"""Pipelines that are made by the same lines again are made later, or not at all; nobody can tell but by the time."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data import recipes, traced


@pytest.fixture(autouse=True)
def nothing_remembered():
    recipes._known.clear()
    traced.forget()


def batches(array, size=2):
    """Return batches of rows by their numbers, as Keras's data adapters make them."""
    count = len(array)

    def whole(_):
        return tf.range(count, dtype=tf.int64)

    def parts(indices):
        dataset = tf.data.Dataset.from_tensor_slices(tf.reshape(indices[: count // size * size], [-1, size]))
        return (
            dataset.concatenate(tf.data.Dataset.from_tensors(indices[count // size * size :]))
            if count % size
            else dataset
        )

    rows = tf.data.Dataset.range(1).map(whole).prefetch(1).flat_map(parts)
    both = tf.data.Dataset.zip((rows, tf.data.Dataset.from_tensors((array,)).repeat()))
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    dataset = both.map(lambda i, data: tf.gather(data[0], i), num_parallel_calls=tf.data.AUTOTUNE)
    return dataset.with_options(options).prefetch(tf.data.AUTOTUNE)


def values(dataset):
    return [x.tolist() for x in dataset.as_numpy_iterator()]


def is_made(dataset):
    return dataset._variant_tensor_attr is not None


def test_the_same_lines_give_other_arrays_elements():
    for start in range(4):
        array = np.arange(start, start + 5)
        dataset = batches(array)
        assert is_made(dataset) is (start == 0)
        for _ in range(2):
            assert values(dataset) == [[start, start + 1], [start + 2, start + 3], [start + 4]]


def test_what_may_be_asked_of_a_dataset_can_be_asked_of_one_that_is_not_made_yet():
    first, second = batches(np.arange(4)), batches(np.arange(4, 8))
    assert not is_made(second)
    assert second.element_spec == first.element_spec and repr(second) == repr(first)
    assert second.options() == first.options()
    assert second.options().experimental_distribute.auto_shard_policy == tf.data.experimental.AutoShardPolicy.DATA
    assert int(second.cardinality()) == int(first.cardinality()) == tf.data.UNKNOWN_CARDINALITY
    assert [type(d) for d in second._inputs()] == [type(d) for d in first._inputs()]
    assert values(second.take(1)) == [[4, 5]]
    assert values(second.debug()) == [[4, 5], [6, 7]]
    assert int(second.reduce(np.int64(0), lambda s, x: s + tf.reduce_sum(x))) == 22

    @tf.function
    def total(dataset):
        return dataset.reduce(np.int64(0), lambda s, x: s + tf.reduce_sum(x))

    assert int(total(batches(np.arange(4, 8)))) == 22


def test_a_stage_that_is_refused_is_refused_each_time_where_it_is_made():
    for _ in range(3):
        tf.data.Dataset.range(3).batch(2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="batch_size"):
            tf.data.Dataset.range(3).batch(0)


def test_other_numbers_dtypes_and_structures_are_other_recipes():
    for _ in range(2):
        assert values(tf.data.Dataset.range(3).take(1)) == [0]
        assert values(tf.data.Dataset.range(3).take(2)) == [0, 1]
        assert values(tf.data.Dataset.range(3, output_type=tf.float32)) == [0.0, 1.0, 2.0]
        assert values(tf.data.Dataset.range(3).batch(2, drop_remainder=True)) == [[0, 1]]
        assert values(tf.data.Dataset.range(3).batch(2, drop_remainder=False)) == [[0, 1], [2]]
        assert next(iter(tf.data.Dataset.from_tensors({"a": 1})))["a"] == 1
        assert next(iter(tf.data.Dataset.from_tensors((1,))))[0] == 1


def test_random_order_caches_and_effects_are_never_shared():
    calls = []

    def noted(x):
        calls.append(1)
        return x

    for _ in range(3):
        cached = tf.data.Dataset.range(3).map(lambda x: tf.py_function(noted, [x], tf.int64)).cache()
        assert len(values(cached)) == len(values(cached)) == 3
    assert len(calls) == 9
    orders = [values(tf.data.Dataset.range(100).shuffle(100)) for _ in range(3)]
    assert orders[1] != orders[2]


def test_elements_that_are_kept_cannot_be_changed():
    def numbers():
        return tf.data.Dataset.range(1).flat_map(lambda _: tf.data.Dataset.from_tensors(tf.range(3)))

    for _ in range(4):
        array = next(iter(numbers().take(1).prefetch(1))).numpy()
        assert array.tolist() == [0, 1, 2]
        if array.flags.writeable:
            array[0] = 9


def test_errors_of_functions_are_told_each_time():
    def dataset():
        return tf.data.Dataset.range(3).flat_map(
            lambda x: tf.data.Dataset.from_tensors(tf.debugging.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "bad"))
        )

    for _ in range(3):
        iterator = iter(dataset())
        assert float(next(iterator)) == -1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            next(iterator)
        assert float(next(iterator)) == 1.0


def test_what_is_remembered_holds_nothing_of_the_program():
    class Owner:
        factor = 2

        def dataset(self):
            return tf.data.Dataset.from_tensors(np.ones(9)).repeat(2).map(lambda x: x[0] * self.factor)

    for _ in range(3):
        owner = Owner()
        gone = weakref.ref(owner)
        assert values(owner.dataset()) == [2.0, 2.0]
        del owner
        gc.collect()
        assert gone() is None


def test_no_more_than_some_recipes_are_remembered():
    for n in range(2 * recipes.REMEMBERED):
        tf.data.Dataset.range(n)
    assert len(recipes._known) <= recipes.REMEMBERED


def test_threads_make_the_same_pipeline_at_once():
    results = []

    def work(start):
        for _ in range(20):
            results.append(values(batches(np.arange(start, start + 5)))[0] == [start, start + 1])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results) and len(results) == 80


def test_one_element_needs_no_thread():
    for _ in range(5):
        before = threading.active_count()
        assert values(batches(np.arange(2))) == [[0, 1]]
    assert threading.active_count() == before
