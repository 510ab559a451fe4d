"""Long sparse tensors: what machine code finds along their places is what short ones give, piece by piece."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import late_code
from ebbflow.ops.sparse import arrays
from ebbflow.ops.sparse.place_loops import MANY

ROWS = 4 * MANY


def matrix(seed, share=0.2, columns=5):
    random = np.random.default_rng(seed)
    dense = random.normal(size=(ROWS, columns)).astype(np.float32) * (random.uniform(size=(ROWS, columns)) < share)
    return dense, tf.sparse.from_dense(dense)


@pytest.fixture(autouse=True)
def settled():
    a, b = matrix(0)[1], matrix(1)[1]
    tf.sparse.add(a, b)
    tf.sparse.to_dense(a)
    tf.sparse.sparse_dense_matmul(a, np.ones((5, 3), np.float32))
    late_code.settle()


def test_sums_and_extremes_of_two():
    (a, sparse_a), (b, sparse_b) = matrix(0), matrix(1)
    np.testing.assert_array_equal(tf.sparse.to_dense(tf.sparse.add(sparse_a, sparse_b)).numpy(), a + b)
    np.testing.assert_array_equal(tf.sparse.to_dense(tf.sparse.maximum(sparse_a, sparse_b)).numpy(), np.maximum(a, b))
    np.testing.assert_array_equal(tf.sparse.to_dense(tf.sparse.minimum(sparse_a, sparse_a)).numpy(), a)


def test_places_out_of_order():
    dense, sparse = matrix(2)
    order = np.random.default_rng(0).permutation(len(sparse.values))
    mixed = tf.SparseTensor(tf.gather(sparse.indices, order), tf.gather(sparse.values, order), sparse.dense_shape)
    sorted_again = tf.sparse.reorder(mixed)
    np.testing.assert_array_equal(sorted_again.indices.numpy(), sparse.indices.numpy())
    np.testing.assert_array_equal(sorted_again.values.numpy(), sparse.values.numpy())
    other = matrix(3)
    together = tf.sparse.add(mixed, other[1])
    np.testing.assert_array_equal(tf.sparse.to_dense(together).numpy(), dense + other[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        tf.sparse.to_dense(mixed)


def test_places_outside_and_twice():
    _, sparse = matrix(4)
    wrong = sparse.indices.numpy().copy()
    wrong[-1] = [ROWS, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        tf.sparse.to_dense(tf.SparseTensor(wrong, sparse.values, sparse.dense_shape))
    twice = sparse.indices.numpy().copy()
    twice[-1] = twice[-2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="repeated"):
        tf.sparse.to_dense(tf.SparseTensor(twice, sparse.values, sparse.dense_shape))


def test_products_and_sums_along_axes():
    dense, sparse = matrix(5)
    wide = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    np.testing.assert_allclose(tf.sparse.sparse_dense_matmul(sparse, wide).numpy(), dense @ wide, rtol=1e-5, atol=1e-6)
    by_columns = tf.SparseTensor(np.asfortranarray(sparse.indices.numpy()), sparse.values, sparse.dense_shape)
    found = tf.sparse.sparse_dense_matmul(by_columns, wide).numpy()
    np.testing.assert_allclose(found, dense @ wide, rtol=1e-5, atol=1e-6)
    tall = np.random.default_rng(1).normal(size=(ROWS, 3)).astype(np.float32)
    found = tf.sparse.sparse_dense_matmul(sparse, tall, adjoint_a=True).numpy()
    np.testing.assert_allclose(found, dense.T @ tall, rtol=1e-3, atol=1e-3)
    for axis, keep in ((0, False), (1, True), (None, False)):
        found = tf.sparse.reduce_sum(sparse, axis, keepdims=keep).numpy()
        np.testing.assert_allclose(found, dense.astype(np.float64).sum(axis, keepdims=keep), rtol=1e-3, atol=1e-4)


def test_code_and_numpy_agree_on_order(monkeypatch):
    _, sparse = matrix(6)
    places = sparse.indices.numpy()
    swapped = places.copy()
    swapped[[7, 8]] = swapped[[8, 7]]
    for array, ordered in ((places, True), (swapped, False), (np.repeat(places, 2, 0), False)):
        assert arrays.is_ordered(array) is ordered
        assert arrays.is_ordered(array[:50]) is ordered
    a, b = places[::2].copy(), places[::3].copy()
    by_code = arrays.united(a, b)
    monkeypatch.setattr(arrays, "_walk", lambda *given: None)
    for found, expected in zip(by_code, arrays.united(a, b), strict=True):
        np.testing.assert_array_equal(found, expected)
