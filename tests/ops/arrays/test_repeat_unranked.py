"""`tf.repeat` of what has no known rank, and pooling of sequences with paddings that are said."""

import numpy as np
import pytest

import ebbflow as tf


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("repeats", [2, [2], [1, 3]])
def test_ranks_may_be_known_late(axis, repeats):
    data = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    if axis is None and repeats == [1, 3]:
        repeats = [1, 3, 0, 2]

    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec(None, tf.int32)])
    def repeated(x, times):
        return tf.repeat(x, times, axis)

    np.testing.assert_array_equal(repeated(data, repeats), np.repeat(data, repeats, axis))


@pytest.mark.parametrize("form", ["NWC", "NCW"])
def test_sequences_are_pooled_with_paddings_that_are_said(form):
    x = np.arange(6.0, dtype=np.float32)
    shape, pads = ((1, 6, 1), [[0, 0], [1, 1], [0, 0]]) if form == "NWC" else ((1, 1, 6), [[0, 0], [0, 0], [1, 1]])
    pooled = tf.nn.max_pool1d(x.reshape(shape), 2, 2, pads, data_format=form)
    assert pooled.numpy().ravel().tolist() == [0.0, 2.0, 4.0, 5.0]
