"""DLPack: capsules there and back, and what is refused."""

import numpy as np
import pytest

import ebbflow as tf

dlpack = tf.experimental.dlpack

VALUES = [
    lambda: tf.constant([[1.0, 2.0], [3.0, 4.0]]),
    lambda: tf.constant(1),
    lambda: tf.zeros([0, 2]),
    lambda: tf.constant([True, False]),
    lambda: tf.constant([1j]),
    lambda: tf.broadcast_to(3, [2, 2]),
    lambda: tf.transpose(tf.reshape(tf.range(6), [2, 3])),
]


@pytest.mark.parametrize("make", VALUES)
def test_there_and_back(make):
    value = make()
    again = dlpack.from_dlpack(dlpack.to_dlpack(value))
    assert again.dtype == value.dtype
    np.testing.assert_array_equal(again.numpy(), value.numpy())
    np.testing.assert_array_equal(np.from_dlpack(value), value.numpy())


def test_memory_is_shared():
    array = np.arange(3)
    assert np.shares_memory(dlpack.from_dlpack(array.__dlpack__())._array, array)


def test_a_capsule_is_taken_once():
    capsule = dlpack.to_dlpack(tf.constant([1.0]))
    dlpack.from_dlpack(capsule)
    with pytest.raises(tf.errors.InvalidArgumentError, match="at most once"):
        dlpack.from_dlpack(capsule)


REFUSED = [
    (lambda: dlpack.to_dlpack(tf.constant("a")), tf.errors.InvalidArgumentError, "string is not supported by dlpack"),
    (lambda: dlpack.to_dlpack(np.ones(2)), TypeError, "must be a TF tensor, not ndarray"),
    (lambda: dlpack.from_dlpack(np.ones(2)), TypeError, "a DLPack capsule is wanted, not ndarray"),
]


@pytest.mark.parametrize("call, kind, says", REFUSED)
def test_refused(call, kind, says):
    with pytest.raises(kind, match=says):
        call()
