"""How types that an op leaves open are settled by its arguments."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf


@pytest.mark.parametrize("manner", ["eager", "function"])
def test_sizes_that_are_tensors_of_floats_in_a_list_are_cast_as_tensorflow_does(manner):
    def sizes():
        given = tf.constant([2.0, 3.0])
        x = tf.zeros([6])
        return [
            tf.shape(tf.reshape(x, (given[0], given[1]))),
            tf.shape(tf.reshape(x, [given[0], 3])),
            tf.shape(tf.tile(x, [given[0]])),
            tf.shape(tf.fill([given[0], 2], 1)),
        ]

    found = sizes() if manner == "eager" else tf.function(sizes)()
    assert [x.numpy().tolist() for x in found] == [[2, 3], [2, 3], [12], [2, 2]]


@pytest.mark.parametrize("shape", [tf.constant([2.0, 3.0]), [2.0, 3.0]])
def test_sizes_of_floats_that_are_no_tensors_in_a_list_are_refused(shape):
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError), match="float32 not in list of allowed values"):
        tf.reshape(tf.zeros([6]), shape)


def test_an_array_of_a_type_that_is_not_taken_becomes_the_default_one():
    drawn = tf.random.stateless_uniform([2], np.array([3, 5], np.uint64))
    assert drawn.numpy().tolist() == tf.random.stateless_uniform([2], [3, 5]).numpy().tolist()
    assert tf.space_to_batch_nd([[1]], np.array([]), np.zeros((0, 2))).numpy().tolist() == [[1]]
