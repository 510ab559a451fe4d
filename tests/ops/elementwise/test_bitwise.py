"""Integers as rows of bits."""

import numpy as np
import pytest

import ebbflow as tf
from tests.ops.cases import MODES, Case, Refusal, args

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
CASES = [
    Case(fn, args("2 3", "3", low=0, high=100, dtype=t), numpy)
    for t in DTYPES
    for fn, numpy in [
        (tf.bitwise.bitwise_and, np.bitwise_and),
        (tf.bitwise.bitwise_or, np.bitwise_or),
        (tf.bitwise.bitwise_xor, np.bitwise_xor),
    ]
]
CASES += [Case(tf.bitwise.invert, args("5", low=0, high=100, dtype=t), np.invert) for t in DTYPES]
CASES += [
    Case(tf.bitwise.left_shift, args("5", "5", low=0, high=5, dtype=t), np.left_shift) for t in ("int32", "uint8")
] + [
    Case(tf.bitwise.right_shift, [np.array([-8, 8]), np.array([1, 2])], np.right_shift),
    Refusal(tf.bitwise.bitwise_and, args("2", "2"), says="not in list of allowed values"),
    Refusal(tf.bitwise.invert, args("2"), says="not in list of allowed values"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions(case, mode):
    case.check_value(mode)


def test_shifts_too_far_stop_at_the_last_bit():
    assert tf.bitwise.left_shift(1, [40, -1]).numpy().tolist() == [-(2**31), 1]
    assert tf.bitwise.right_shift(-8, [100, -1]).numpy().tolist() == [-1, -8]


@pytest.mark.parametrize("dtype", DTYPES)
def test_population_count(dtype):
    count = tf.raw_ops.PopulationCount(x=tf.constant([0, 1, 7, 64], dtype))
    assert count.dtype == tf.uint8
    assert count.numpy().tolist() == [0, 1, 3, 1]
