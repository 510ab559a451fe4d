"""Many short rows folded by machine code: NumPy's numbers to the last bit, whatever the axis."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import late_code
from ebbflow.ops.reduce import fold_loops
from ebbflow.ops.reduce.fold_loops import MANY

CALLS = {
    "sum": (tf.reduce_sum, np.add.reduce),
    "max": (tf.reduce_max, np.maximum.reduce),
    "min": (tf.reduce_min, np.minimum.reduce),
    "prod": (tf.reduce_prod, np.multiply.reduce),
    "any": (tf.reduce_any, np.logical_or.reduce),
}


def settled(call):
    call()
    call()
    late_code.settle()
    return call().numpy()


@pytest.mark.parametrize("width", [1, 3, 8, 13, 64, 65])
@pytest.mark.parametrize("name", CALLS)
def test_rows_are_folded_as_numpy_does(name, width):
    call, fold = CALLS[name]
    x = np.random.default_rng(width).uniform(-1.2, 1.2, (MANY // width + 40, width)).astype(np.float32)
    if name != "prod":
        x[3, 0], x[-1, -1] = np.nan, np.inf
    x = x > 1.0 if name == "any" else x
    for axis, keep in ((1, False), (-1, True), (0, False), (0, True), ((1,), False)):
        found = settled(lambda axis=axis, keep=keep: call(tf.constant(x), axis, keepdims=keep))
        np.testing.assert_array_equal(found, fold(x, axis, keepdims=keep))
    three = x.reshape(1, *x.shape)
    np.testing.assert_array_equal(settled(lambda: call(tf.constant(three), 2)), fold(three, 2))


def test_averages_and_whole_products():
    x = np.random.default_rng(0).uniform(0.9, 1.1, (MANY, 10)).astype(np.float32)
    np.testing.assert_allclose(settled(lambda: tf.reduce_mean(tf.constant(x), 1)), x.mean(1), rtol=1e-6)
    ones = np.where(np.arange(x.size) < 100, x.reshape(-1), 1).astype(np.float32)
    for keep in (False, True):
        found = settled(lambda keep=keep: tf.reduce_prod(tf.constant(ones), keepdims=keep))
        np.testing.assert_allclose(found, ones.astype(np.float64).prod(keepdims=keep), rtol=1e-5)


@pytest.mark.parametrize("ufunc", fold_loops.NAMED)
def test_rows_that_numbers_name(ufunc):
    random = np.random.default_rng(2)
    updates = random.uniform(0.5, 1.5, (MANY, 3)).astype(np.float32)
    at = random.integers(0, 50, MANY).astype(np.int32)
    rows = np.ones((50, 3), np.float32)
    expected = rows.copy()
    ufunc.at(expected, at, updates)
    fold_loops.fold_named(rows.copy(), at, updates, ufunc)
    late_code.settle()
    assert fold_loops.fold_named(rows, at, updates, ufunc)
    np.testing.assert_array_equal(rows, expected)


def test_counting():
    x = np.random.default_rng(0).uniform(-1, 2, MANY).astype(np.float32)
    first = tf.histogram_fixed_width(x, [0.0, 1.0], 7).numpy()
    late_code.settle()
    np.testing.assert_array_equal(tf.histogram_fixed_width(x, [0.0, 1.0], 7).numpy(), first)
    x[5] = np.nan
    with pytest.raises(tf.errors.InvalidArgumentError, match="NaN"):
        tf.histogram_fixed_width(x, [0.0, 1.0], 7)
    k = np.array([0, 3, 3, 9, 2**30], np.int32)
    assert tf.math.bincount(k, maxlength=4).numpy().tolist() == [1, 0, 0, 2]
