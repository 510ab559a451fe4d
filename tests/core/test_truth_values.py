"""What becomes of True and False where numbers are asked for, and of numbers where truth is."""

import numpy as np
import pytest

import ebbflow as tf


@pytest.mark.parametrize(
    "value, dtype, expected",
    [
        (True, "float32", 1.0),
        ([True, False], "int32", [1, 0]),
        ([True, 2.0], "float64", [1.0, 2.0]),
        (np.array([True, False]), "bfloat16", [1.0, 0.0]),
        (np.array([0.0, 3.0]), "bool", [False, True]),
    ],
)
def test_truth_values_are_numbers_where_numbers_are_asked_for(value, dtype, expected):
    assert tf.convert_to_tensor(value, dtype).numpy().tolist() == expected


@pytest.mark.parametrize("value, dtype", [(True, "int8"), (1, "bool"), ([True], "complex64")])
def test_but_not_all(value, dtype):
    with pytest.raises(TypeError, match="Cannot convert"):
        tf.convert_to_tensor(value, dtype)
