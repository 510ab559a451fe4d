"""`tf.repeat` of what has no known rank."""

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


@pytest.mark.parametrize("data", [3, [1, 2], [[1, 2], [3, 4]]])
def test_repeats_of_unknown_rank(data):
    spec = tf.TensorSpec(None, tf.int32)
    found = tf.function(lambda x, n: tf.repeat(x, n, axis=0), input_signature=[spec, spec])
    assert found(data, 2).numpy().tolist() == np.repeat(data, 2, axis=0).tolist()


@pytest.mark.parametrize("paddings, dims", [
    (lambda n: [[1, 2], n], [7, None]),
    (lambda n: [n, [3, 4]], [None, 11]),
    (lambda n: [[1, 2], [n[0], 3]], [7, None]),
    (lambda n: tf.stack([n, n]), [None, None]),
])  # fmt: skip
@pytest.mark.parametrize("mode", ["CONSTANT", "SYMMETRIC"])
def test_a_graph_knows_the_axes_whose_paddings_it_knows(paddings, dims, mode):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        some = tf.compat.v1.placeholder(tf.int32, [2])
        padded = tf.pad(tf.zeros([4, 4]), paddings(some), mode)
        assert padded.shape.as_list() == dims
        assert session.run(padded, {some: [1, 0]}).ndim == 2
