"""Datasets flattened by numbers: the numbers were recorded from TensorFlow 2.21's ops of these names."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data.flattened import index_flat_map, weighted_flat_map
from ebbflow.data.random_access import global_shuffle

Dataset = tf.data.Dataset
LINES = ["0 1", "2 3 4 5", "6 7", "8"]


def words(line):
    return tf.strings.split(line, " ")


def place(number):
    ends = tf.constant([2, 6, 8, 9], tf.int64)
    element = tf.searchsorted(ends, [number], side="right")[0]
    return element, number - tf.gather(tf.constant([0, 2, 6, 8, 9], tf.int64), element)


def flat(**given):
    return index_flat_map(Dataset.from_tensor_slices(LINES), words, place, **given)


def test_parts_come_in_order():
    assert list(flat().as_numpy_iterator()) == [b"%d" % i for i in range(9)]
    assert int(flat().cardinality()) == -2 and int(flat(output_cardinality=9).cardinality()) == 9
    assert flat().element_spec == tf.TensorSpec([], tf.string)


def test_parts_come_in_one_random_order():
    dataset = global_shuffle(flat(output_cardinality=9).repeat(2), seed=4)
    found = list(dataset.as_numpy_iterator())
    assert sorted(found) == sorted([b"%d" % i for i in range(9)] * 2) and found != sorted(found)
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-empty finite cardinality"):
        iter(global_shuffle(flat()))


def test_an_iterator_over_parts_goes_on_where_it_was():
    first, second = iter(flat()), iter(flat())
    for _ in range(4):
        next(first)
    second._restore(first._save())
    assert [x.numpy() for x in second] == [b"4", b"5", b"6", b"7", b"8"]


@pytest.mark.parametrize("wanted", [[[1, 2], [3, 4]], [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]])
@pytest.mark.parametrize("as_tensor", [True, False])
def test_parts_may_have_any_rank(wanted, as_tensor):
    given = tf.constant(wanted) if as_tensor else wanted
    dataset = index_flat_map(Dataset.range(3), lambda x: given, lambda i: (i // 2, i % 2))
    assert [x.tolist() for x in dataset.as_numpy_iterator()] == wanted * 3


def test_elements_may_be_asked_for_in_any_order():
    backwards = index_flat_map(
        Dataset.range(4), lambda x: x, lambda i: (tf.where(i < 4, 3 - i, i), tf.constant(0, tf.int64))
    )
    assert list(backwards.as_numpy_iterator()) == [3, 2, 1, 0]


@pytest.mark.parametrize(
    "places, says",
    [
        (lambda i: (0, 1000), "returns offset 1000, but the input element has 2 elements"),
        (lambda i: (0, -1), "returns offset -1"),
        (lambda i: (-1, 0), "returns element index -1"),
        (lambda i: "Hello", "expected to return two int values"),
        (lambda i: (i, 0.5), "expected to return two int values"),
        (lambda i: (i, [0, 1]), "expected to return two int values"),
    ],
)
def test_places_that_are_none_are_refused(places, says):
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        next(iter(index_flat_map(Dataset.from_tensor_slices(LINES), words, places)))


@pytest.mark.parametrize(
    "sizes, weights, counts",
    [
        ([10, 10, 10], [1, 1, 2], [5, 5, 10]),
        ([10, 10, 10], None, [10, 10, 10]),
        ([5, 5], np.array([1, 1.5]), [3, 5]),
        ([7, 3], [1, 1], [3, 3]),
        ([0, 5], [1, 1], [0, 0]),
    ],
)
def test_inputs_give_in_proportion(sizes, weights, counts):
    inputs = [Dataset.range(100 * i, 100 * i + size) for i, size in enumerate(sizes)]
    dataset = weighted_flat_map(inputs, weights)
    assert list(dataset.as_numpy_iterator()) == [100 * i + n for i, count in enumerate(counts) for n in range(count)]
    assert int(dataset.cardinality()) == sum(counts)


@pytest.mark.parametrize(
    "sizes, weights, says",
    [
        ([100, 100, 10], [1, 1, 100], "Input 2 needs to have at least 100 elements. It only has 10"),
        ([-1, 3], [1, 1], "Cardinalities of the inputs must be known. Input 0 has INFINITE"),
        ([3, 3], [0, 1], "`weights` must be greater than 0.0. Input 0 has a weight of 0"),
        ([3, 3], [1, float("nan")], "Input 1 has a weight of nan"),
        ([3, 3], [float("inf"), 1], "`weights` must be finite"),
    ],
)
def test_weights_that_cannot_be_kept_are_refused(sizes, weights, says):
    inputs = [Dataset.range(size) if size >= 0 else Dataset.range(1).repeat() for size in sizes]
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        iter(weighted_flat_map(inputs, weights))


def test_inputs_must_be_like_each_other():
    numbers = Dataset.range(3)
    with pytest.raises(TypeError, match="Incompatible dataset elements"):
        weighted_flat_map([numbers, Dataset.from_tensor_slices(["a"])])
    with pytest.raises(ValueError, match="at least two datasets"):
        weighted_flat_map([numbers])
    with pytest.raises(ValueError, match="same length as `datasets`"):
        weighted_flat_map([numbers, numbers], [1.0])
