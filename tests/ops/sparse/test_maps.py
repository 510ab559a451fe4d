"""Sparse tensors held by a map: there and back in a session, and handles that are wrong."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.api import inner_sparse

v1 = tf.compat.v1


def test_there_and_back():
    with tf.Graph().as_default(), v1.Session() as session:
        one = tf.SparseTensor([[0, 1]], [5.0], [1, 2])
        two = tf.SparseTensor([[0, 0], [2, 1]], [6.0, 7.0], [3, 2])
        handles = [inner_sparse.add_sparse_to_tensors_map(s, shared_name="m") for s in (one, two)]
        back = inner_sparse.take_many_sparse_from_tensors_map(handles[0].op, tf.stack(handles), rank=3)
        found = session.run(back)
        assert found.indices.tolist() == [[0, 0, 1], [1, 0, 0], [1, 2, 1]]
        assert found.values.tolist() == [5, 6, 7] and found.dense_shape.tolist() == [2, 3, 2]
        rows = inner_sparse.add_many_sparse_to_tensors_map(two)
        again = session.run(inner_sparse.take_many_sparse_from_tensors_map(rows.op, rows))
        np.testing.assert_array_equal(again.indices, [[0, 0], [2, 1]])
        assert again.dense_shape.tolist() == [3, 2]


def test_a_handle_is_good_once():
    with tf.Graph().as_default(), v1.Session() as session:
        handle = inner_sparse.add_sparse_to_tensors_map(tf.SparseTensor([[0]], [1], [1]), shared_name="m")
        number = session.run(handle)
        take = inner_sparse.take_many_sparse_from_tensors_map(handle.op, [number])
        session.run(take.values)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find SparseTensor: 0"):
            session.run(take.values)
        with pytest.raises(TypeError, match="sparse_map_op must be one of"):
            inner_sparse.take_many_sparse_from_tensors_map(tf.constant(1).op, [0])
