"""Lines of LIBSVM's format."""

import numpy as np

import ebbflow as tf
from ebbflow.tf1.libsvm import decode_libsvm

v1 = tf.compat.v1
LINES = ["1 1:3.4 2:0.5 4:0.25", "-2 3:inf", "3"]


def test_lines_become_a_sparse_tensor_and_labels():
    with tf.Graph().as_default(), v1.Session() as session:
        features, labels = decode_libsvm(LINES, num_features=6)
        dense = v1.sparse_to_dense(features.indices, features.dense_shape, features.values)
        dense, found = session.run([dense, labels])
    assert labels.shape == [3] and found.tolist() == [1, -2, 3]
    np.testing.assert_allclose(dense, [[0, 3.4, 0.5, 0, 0.25, 0], [0, 0, 0, np.inf, 0, 0], [0] * 6])


def test_lines_of_any_rank():
    with tf.Graph().as_default(), v1.Session() as session:
        features, labels = decode_libsvm([[line, line] for line in LINES], 6, tf.float64, tf.float32)
        shape, at, found = session.run([features.dense_shape, features.indices, labels])
    assert shape.tolist() == [3, 2, 6] and at[:4].tolist() == [[0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 1, 1]]
    assert found.tolist() == [[1, 1], [-2, -2], [3, 3]] and features.values.dtype == tf.float64
