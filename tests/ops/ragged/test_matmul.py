"""Products of ragged batches of matrices, against the products one by one."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.ragged.matmul import matmul


def numbers(*shape):
    return np.arange(np.prod(shape)).reshape(shape).astype(np.float32)


A, B = [numbers(5, 3), numbers(2, 4)], [numbers(3, 2), numbers(4, 6)]
OF_SIZES = tf.ragged.stack([tf.constant(x) for x in A]), tf.ragged.stack([tf.constant(x) for x in B])


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_matrices_of_different_sizes(wrap):
    found = wrap(lambda a, b: tf.matmul(a, b))(*OF_SIZES)
    assert found.to_list() == [(x @ y).tolist() for x, y in zip(A, B, strict=True)]
    turned = wrap(lambda a, b: matmul(b, a, transpose_a=True, transpose_b=True))(*OF_SIZES)
    assert turned.to_list() == [(y.T @ x.T).tolist() for x, y in zip(A, B, strict=True)]


def test_one_side_is_dense():
    rows = tf.RaggedTensor.from_row_lengths(numbers(5, 3), [2, 3])
    right = numbers(2, 3, 4)
    found = matmul(rows, right)
    assert found.shape.as_list() == [2, None, 4]
    assert found.to_list() == [(np.array(x) @ y).tolist() for x, y in zip(rows.to_list(), right, strict=True)]


def test_ragged_batches():
    a = tf.RaggedTensor.from_row_lengths(numbers(4, 2, 3), [3, 0, 1])
    b = tf.RaggedTensor.from_row_lengths(numbers(4, 3, 2), [3, 0, 1])
    assert matmul(a, b).flat_values.numpy().tolist() == (numbers(4, 2, 3) @ numbers(4, 3, 2)).tolist()


@pytest.mark.parametrize(
    ("a", "b", "error", "says"),
    [
        ([[1, 2, 3], [4, 5]], [[5], [4], [3]], tf.errors.InvalidArgumentError, "innermost dimension"),
        ([[1]], [[1.0]], ValueError, "same dtype"),
        ([[1]], [[[1]]], ValueError, "same rank"),
        ([[[1, 2]]], [[[1], [2], [3]]], tf.errors.InvalidArgumentError, "inner dimensions"),
    ],
)
def test_what_has_no_product(a, b, error, says):
    with pytest.raises(error, match=says):
        matmul(tf.ragged.constant(a), tf.ragged.constant(b))
