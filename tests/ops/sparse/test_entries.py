"""Functions of the entries of sparse tensors."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.sparse.entries import OF_ENTRIES


def sparse():
    return tf.sparse.from_dense([[0.5, 0.0], [0.0, -0.25]])


@pytest.mark.parametrize("name", sorted(OF_ENTRIES - {"ComplexAbs"}))
def test_ops_of_entries(name):
    public = {"Neg": "negative", "BesselI0e": "bessel_i0e", "BesselI1e": "bessel_i1e"}.get(name, name.lower())
    call = getattr(tf.math, public)
    for found in (call(sparse()), tf.function(call)(sparse())):
        np.testing.assert_array_equal(found.values, call(sparse().values))
        assert found.indices.numpy().tolist() == [[0, 0], [1, 1]] and found.shape == (2, 2)


def test_other_ops_do_not_take_sparse_tensors():
    with pytest.raises((TypeError, ValueError)):
        tf.exp(sparse())


def test_mapped_values_stand_at_the_same_places():
    assert tf.sparse.map_values(tf.add, sparse(), sparse()).values.numpy().tolist() == [1.0, -0.5]
    other = tf.sparse.from_dense([[0.5, 1.0], [0.0, 0.0]])
    for add in (tf.add, tf.function(tf.add)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="same indices"):
            tf.sparse.map_values(add, sparse(), other)
    with pytest.raises(tf.errors.InvalidArgumentError, match="same indices"):
        tf.function(lambda a, b: tf.sparse.map_values(tf.add, a, b))(sparse(), other)


def test_an_identity_of_sizes_of_any_integer_type():
    assert tf.sparse.to_dense(tf.sparse.eye(tf.constant(2), tf.constant(3))).numpy().tolist() == np.eye(2, 3).tolist()


def test_sizes_of_complex_entries_are_real():
    found = tf.abs(tf.SparseTensor([[0, 0]], [3 + 4j], [1, 3]))
    assert found.dtype == tf.float64 and found.values.numpy().tolist() == [5.0]


def test_a_user_of_all_parts_is_one_consumer():
    with tf.Graph().as_default():
        x = tf.SparseTensor([[0, 0]], [1.0], [1, 1])
        product = tf.sparse.sparse_dense_matmul(x, tf.ones([1, 1]))
        assert x.consumers() == [product.op]
