"""Eager tensors made as TensorFlow's inside makes them, and what their arrays are shown for."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.tensor import EagerTensor


def test_any_value_makes_one():
    assert EagerTensor(3.0, device="CPU:0", dtype=None).dtype == tf.float32
    assert EagerTensor([1, 2], device="CPU:0", dtype=tf.int64.as_datatype_enum).dtype == tf.int64
    assert EagerTensor(2**33, device=None, dtype=None).dtype == tf.int64
    assert EagerTensor(np.eye(2), device=None).shape == (2, 2)
    with pytest.raises(ValueError):
        EagerTensor([[1], [1, 2]], device=None)


def test_handles_have_no_array():
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype resource"):
        tf.Variable(1)._handle._numpy()


def test_nothing_is_scattered_onto_nothing():
    empty = tf.zeros([0], tf.int32)
    assert tf.scatter_nd(empty, empty, [0]).shape == (0,)
