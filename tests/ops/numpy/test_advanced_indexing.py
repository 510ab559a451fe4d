"""Arrays of places and bools in brackets: what NumPy picks, eagerly and in functions of half-known shapes."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.numpy.advanced_indexing import item
from ebbflow.ops.numpy.indexed_updates import UPDATES

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
KEYS = {
    "a list": np.s_[[0, 2, 1]],
    "no places": np.s_[[]],
    "a matrix of places": np.s_[np.array([[0, -1], [1, 2]])],
    "small integers": np.s_[np.uint8([1, 2])],
    "after dots": np.s_[..., np.array([0, 2, -1]), :],
    "pairs": np.s_[[0, 1], [2, 3]],
    "spread over each other": np.s_[np.array([[0], [1]]), np.array([0, 2])],
    "beside an integer": np.s_[1, [0, 2]],
    "an integer apart": np.s_[0, :, [1, 2]],
    "apart": np.s_[[0, 1], :, [1, 2]],
    "with a new axis between": np.s_[:, [0, 1], None, [1, 2]],
    "after a new axis": np.s_[:, None, [1, 2]],
    "among slices": np.s_[1:, ::-1, [1, 0]],
    "a tuple": np.s_[:, (0, 2)],
    "a tuple of bools": np.s_[1:, (True, False, True, False)],
    "bools": np.s_[[True, False, True]],
    "bools of the second axis": np.s_[:, np.array([True, False, True, True])],
    "bools of all axes": np.s_[X > 30],
    "no arrays": np.s_[1:, 0],
}


@pytest.mark.parametrize("name", KEYS)
def test_what_numpy_picks(name):
    key = KEYS[name]
    pick = lambda x: item(x, key, lambda x, key: x[key])
    np.testing.assert_array_equal(pick(tf.constant(X)), X[key])
    for shape in ([None, 4, None], None):
        traced = tf.function(pick, input_signature=[tf.TensorSpec(shape, tf.float32)])
        np.testing.assert_array_equal(traced(X), X[key])


def test_places_of_unknown_shape_and_few_bits():
    pick = lambda x, key: item(x, key, lambda x, key: x[key])
    traced = tf.function(pick, input_signature=[tf.TensorSpec(None, tf.float32), tf.TensorSpec(None, tf.int32)])
    np.testing.assert_array_equal(traced(X, [[0, -1]]), X[[[0, -1]]])
    np.testing.assert_array_equal(pick(tf.constant(X), tf.constant(1, tf.uint8)), X[1])
    np.testing.assert_array_equal(pick(tf.constant(X), slice(tf.constant(1, tf.int8), None)), X[1:])


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("kind", ["update", "add", "max"])
def test_updates_by_indices(name, kind):
    key = KEYS[name]
    wanted = X.copy()
    if kind == "add":
        np.add.at(wanted, key, 20)  # twice at places that come twice
    else:
        wanted[key] = 20 if kind == "update" else np.maximum(X[key], 20)
    np.testing.assert_array_equal(UPDATES[kind](tf.constant(X), key, 20), wanted)


def test_gradients_go_to_what_was_picked():
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = item(x, ([0, 0], [1, 1]), lambda x, key: x[key])
    wanted = np.zeros_like(X)
    wanted[0, 1] = 2.0
    np.testing.assert_array_equal(tape.gradient(y, x), wanted)


def test_refusals():
    with pytest.raises(IndexError, match="3 axes, 4 were indexed"):
        item(tf.constant(X), ([0], 0, 0, 0), None)
