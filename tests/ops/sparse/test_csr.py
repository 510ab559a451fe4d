"""Compressed sparse matrices, maps of tensors and crosses of features, against dense answers and TensorFlow's."""

import numpy as np
import pytest

import ebbflow as tf

RAW = tf.raw_ops
A = np.array([[4.0, 0.0, 1.0], [0.0, 3.0, 0.0], [1.0, 0.0, 2.0]])
B = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 1.0, 0.0]])


def csr(dense):
    places = np.argwhere(dense)
    values = dense[tuple(places.T)]
    return RAW.SparseTensorToCSRSparseMatrix(indices=places, values=values, dense_shape=np.array(dense.shape))


def dense(matrix):
    return RAW.CSRSparseMatrixToDense(sparse_input=matrix, type=tf.float64).numpy()


def test_there_and_back():
    for whole in (A, np.stack([A, B])):
        np.testing.assert_array_equal(dense(csr(whole)), whole)
        indices, values, shape = RAW.CSRSparseMatrixToSparseTensor(sparse_matrix=csr(whole), type=tf.float64)
        np.testing.assert_array_equal(tf.sparse.to_dense(tf.sparse.SparseTensor(indices, values, shape)), whole)
    assert RAW.SparseMatrixNNZ(sparse_matrix=csr(np.stack([A, B]))).numpy().tolist() == [5, 4]


def test_arithmetic():
    np.testing.assert_allclose(RAW.SparseMatrixMatMul(a=csr(A), b=B, transpose_b=True), A @ B.T)
    found = RAW.SparseMatrixSparseMatMul(a=csr(A), b=csr(B), adjoint_a=True, type=tf.float64)
    np.testing.assert_allclose(dense(found), A.T @ B)
    two, three = tf.constant(2.0, tf.float64), tf.constant(3.0, tf.float64)
    np.testing.assert_allclose(dense(RAW.SparseMatrixAdd(a=csr(A), b=csr(B), alpha=two, beta=three)), 2 * A + 3 * B)
    np.testing.assert_allclose(dense(RAW.SparseMatrixMul(a=csr(A), b=two)), 2 * A)
    np.testing.assert_allclose(dense(RAW.SparseMatrixTranspose(input=csr(B), type=tf.float64)), B.T)
    assert not dense(RAW.SparseMatrixZeros(dense_shape=np.array([2, 3]), type=tf.float64)).any()


def test_a_product_is_in_order():
    left = np.random.RandomState(0).randint(0, 3, (6, 7)).astype(np.float32)
    pair = [tf.sparse.from_dense(m) for m in (left, left.T)]
    a, b = (tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=m.indices, values=m.values, dense_shape=m.dense_shape)
            for m in pair)  # fmt: skip
    product = tf.raw_ops.SparseMatrixSparseMatMul(a=a, b=b, type=tf.float32)
    found = tf.SparseTensor(*tf.raw_ops.CSRSparseMatrixToSparseTensor(sparse_matrix=product, type=tf.float32))
    np.testing.assert_array_equal(tf.sparse.to_dense(found), left @ left.T)


def test_softmax_is_over_what_is_there():
    soft = RAW.SparseMatrixSoftmax(logits=csr(A), type=tf.float64)
    e = np.where(A != 0, np.exp(A), 0)
    expected = e / e.sum(1, keepdims=True)
    np.testing.assert_allclose(dense(soft), expected)
    slope = dense(RAW.SparseMatrixSoftmaxGrad(softmax=soft, grad_softmax=csr(B), type=tf.float64))
    np.testing.assert_allclose(slope, expected * (B - (expected * B).sum(1, keepdims=True)), atol=1e-12)


def test_cholesky_of_a_permuted_matrix():
    order = RAW.SparseMatrixOrderingAMD(input=csr(A)).numpy()
    factor = dense(RAW.SparseMatrixSparseCholesky(input=csr(A), permutation=order, type=tf.float64))
    np.testing.assert_allclose(factor @ factor.T, A[np.ix_(order, order)])


@pytest.mark.parametrize("other", [np.zeros((4, 4)), np.stack([A, A])])
def test_matrices_that_do_not_fit_are_refused(other):
    with pytest.raises(tf.errors.InvalidArgumentError):
        RAW.SparseMatrixSparseMatMul(a=csr(A), b=csr(other), type=tf.float64)


def test_crosses_of_ragged_sparse_and_dense_features():
    ragged, dense = tf.ragged.constant([["x"], ["y", "z"]]), tf.constant([[1, 2], [3, 4]], tf.int64)
    sparse = tf.sparse.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2])
    assert tf.ragged.cross([ragged, sparse, dense]).to_list()[1] == [
        b"y_X_c_X_3",
        b"y_X_c_X_4",
        b"z_X_c_X_3",
        b"z_X_c_X_4",
    ]
    values = tf.sparse.cross_hashed([sparse, dense], num_buckets=100).values.numpy()
    assert values.shape == (6,) and ((values >= 0) & (values < 100)).all()


@pytest.mark.parametrize("most", [0, 1, 6, 1000])
def test_a_shuffle_of_indices_is_one(most):
    places = tf.random.experimental.index_shuffle(np.arange(most + 1), [1, 2, 3], most).numpy()
    assert sorted(places.tolist()) == list(range(most + 1))
