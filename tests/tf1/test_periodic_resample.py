"""Entries of one axis spread over the others, as TensorFlow 1.15 spread them."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1.periodic_resample import periodic_resample

v1 = tf.compat.v1

X = np.arange(96).reshape(2, 3, 8, 2)
RECORDED = [  # of TensorFlow 1.15
    ([4, 3, None, 2], (4, 3, 4, 2), [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19]),
    ([3, 6, None, 4], (3, 6, 1, 4), [0, 8, 1, 9, 4, 12, 5, 13, 16, 24, 17, 25]),
    ([5, 3, None, 4], (5, 3, 1, 4), [0, 6, 1, 7, 16, 22, 17, 23, 32, 38, 33, 39]),
    ([None, 3, 8, 4], (1, 3, 8, 4), [0, 48, 1, 49, 2, 50, 3, 51, 4, 52, 5, 53]),
]


@pytest.mark.parametrize("shape, dims, first", RECORDED)
@pytest.mark.parametrize("known", [True, False])
def test_entries_go_where_tensorflow_puts_them(shape, dims, first, known):
    with tf.Graph().as_default(), v1.Session() as session:
        found = periodic_resample(v1.placeholder_with_default(X, X.shape if known else [None] * 4), shape)
        assert not known or found.shape == dims
        value = session.run(found)
    assert value.shape == dims and value.ravel()[:12].tolist() == first


def test_the_gradient_counts_each_entry_once():
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant(np.ones([3, 4], np.float32))
        (grad,) = v1.gradients(periodic_resample(x, [6, None]) * np.arange(12.0).reshape(6, 2), x)
        np.testing.assert_array_equal(session.run(grad).ravel(), np.arange(12.0))


@pytest.mark.parametrize(
    "shape, says",
    [
        ([None, 4, 4, 1], "Dimension 3 input tensor has size 4"),
        ([None, 4], "4, to be the same"),
        ([1, 2, 2, 4], "one None"),
    ],
)
def test_shapes_that_cannot_be(shape, says):
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError, match=says):
        periodic_resample(tf.zeros([1, 2, 2, 4]), shape)
