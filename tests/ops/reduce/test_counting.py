"""Counting integers and filling bins."""

import functools

import numpy as np
import pytest

import ebbflow as tf


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_bincount(dtype):
    counts = tf.math.bincount([1, 1, 3], dtype=tf.as_dtype(dtype))
    assert counts.dtype.name == dtype
    assert counts.numpy().tolist() == [0, 2, 0, 1]


#   arguments                                                    answer
BINCOUNTS = [
    ({"arr": []}, []),
    ({"arr": [[1, 2], [2, 2]]}, [0, 1, 3]),
    ({"arr": [1, 1, 3], "minlength": 6}, [0, 2, 0, 1, 0, 0]),
    ({"arr": [1, 1, 3], "maxlength": 2}, [0, 2]),
    ({"arr": [1, 1, 3], "weights": [0.5, 1.0, 2.0]}, [0.0, 1.5, 0.0, 2.0]),
    ({"arr": [[1, 2], [2, 2]], "axis": -1}, [[0, 1, 1], [0, 0, 2]]),
    ({"arr": [[1, 2], [2, 2]], "axis": -1, "binary_output": True}, [[0, 1, 1], [0, 0, 1]]),
    ({"arr": [1, 1, 3], "binary_output": True}, [0, 1, 0, 1]),
    ({"arr": [1.7, 2.2]}, [0, 1, 1]),
    ({"arr": [True, False, True]}, [1, 2]),
]


@pytest.mark.parametrize("arguments, expected", BINCOUNTS)
def test_bincount_arguments(arguments, expected):
    arguments = dict(arguments, arr=np.array(arguments["arr"], np.int32))
    assert tf.math.bincount(**arguments).numpy().tolist() == expected


#   call                                                                      words
REFUSED = [
    (lambda: tf.math.bincount([-1, 1]), "non-negative"),
    (lambda: tf.math.bincount([1], axis=3), "axis=3"),
    (lambda: tf.math.bincount([1], weights=[1.0], binary_output=True), "mutually exclusive"),
    (lambda: tf.math.bincount([1, 2], weights=[1.0]), "same shape"),
    (lambda: tf.raw_ops.Bincount(arr=[1], size=-1, weights=[1]), "non-negative"),
    (lambda: tf.raw_ops.DenseBincount(input=[[[1]]], size=2, weights=[1]), "rank 2"),
    (lambda: tf.histogram_fixed_width([1.0], [1.0, 0.0]), "value_range"),
    (lambda: tf.histogram_fixed_width([1.0], [0.0, 1.0], nbins=0), "positive"),
    (lambda: tf.histogram_fixed_width([np.nan], [0.0, 1.0]), "NaN"),
]


@pytest.mark.parametrize("call, says", REFUSED)
def test_refusals(call, says):
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError), match=says):
        call()


def test_histograms():
    values, span = [-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0]
    assert tf.histogram_fixed_width(values, span, nbins=5).numpy().tolist() == [2, 1, 1, 0, 2]
    assert tf.histogram_fixed_width_bins(values, span, nbins=5).numpy().tolist() == [0, 0, 1, 2, 4, 4]
    assert tf.histogram_fixed_width(values, span, nbins=5, dtype=tf.int64).dtype == tf.int64
    assert tf.histogram_fixed_width([], span, nbins=2).numpy().tolist() == [0, 0]


def test_in_a_graph():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        arr = tf.compat.v1.placeholder(tf.int32)
        assert session.run(tf.math.bincount(arr), {arr: [[0, 2], [2, 2]]}).tolist() == [1, 0, 3]


@pytest.mark.parametrize(("weighted", "binary"), [(False, False), (False, True), (True, False)])
def test_bincount_of_sparse_and_ragged_tensors(weighted, binary):
    sparse = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], tf.constant([1, 1, 3]), [2, 3])
    ragged = tf.RaggedTensor.from_row_lengths([1, 1, 3], [2, 1])
    weights = [0.5, 1.5, 2.0]
    for values, of in ((sparse, sparse.with_values), (ragged, ragged.with_flat_values)):
        given = {"weights": of(tf.constant(weights))} if weighted else {"binary_output": binary}
        count = functools.partial(tf.math.bincount, minlength=4, maxlength=4, axis=-1, **given)
        rows = tf.function(count)(values)
        ones = 2 if not (weighted or binary) else 2.0 if weighted else 1
        assert rows.numpy().tolist() == [[0, ones, 0, 0], [0, 0, 0, 2.0 if weighted else 1]]
        assert tf.math.bincount(values, **given).numpy().tolist() == [0, ones, 0, 2.0 if weighted else 1]


def test_weights_of_a_sparse_bincount_lie_as_its_values():
    sparse = tf.SparseTensor([[0, 0]], tf.constant([1]), [1, 3])
    with pytest.raises(ValueError, match="must be a SparseTensor"):
        tf.math.bincount(sparse, weights=[1.0], axis=-1)


def test_fractions_of_ragged_and_sparse_tensors_are_left_out():
    ragged = tf.ragged.constant([[1.5, 2.0], [1.0]])
    for values in (ragged, ragged.to_sparse()):
        assert tf.math.bincount(values, axis=-1).numpy().tolist() == [[0, 1, 1], [0, 1, 0]]
