"""Counting integers and filling bins."""

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
]


@pytest.mark.parametrize("arguments, expected", BINCOUNTS)
def test_bincount_arguments(arguments, expected):
    arguments = dict(arguments, arr=np.array(arguments["arr"], np.int32))
    assert tf.math.bincount(**arguments).numpy().tolist() == expected


#   call                                                                      words
REFUSED = [
    (lambda: tf.math.bincount([-1, 1]), "non-negative"),
    (lambda: tf.math.bincount([1.5]), "integers"),
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
