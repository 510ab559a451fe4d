"""Lists of NumPy's numbers: what TensorFlow makes of them, eagerly and in graphs."""

import numpy as np
import pytest

import ebbflow as tf

# a list, and the dtypes TensorFlow 2.21 (eagerly, in a graph) and 1.15 (in a graph) give
CASES = [
    ([np.int64(1), np.int64(2)], "int32", "int32"),
    ((np.int64(1), 2), "int32", "int32"),
    ([[np.int64(2**40)]], "int64", "int64"),
    ([np.float64(1)], "float64", "float32"),
    (np.array([1, 2]), "int64", "int64"),
    (np.int64(3), "int64", "int64"),
]


@pytest.mark.parametrize("value, eagerly, in_graphs", CASES, ids=str)
def test_dtype(value, eagerly, in_graphs):
    assert tf.convert_to_tensor(value).dtype.name == eagerly
    with tf.Graph().as_default():
        assert tf.convert_to_tensor(value).dtype.name == in_graphs
