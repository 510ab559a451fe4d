"""Casts: every dtype to every other, what is cut, what is refused, and which way gradients go."""

import ml_dtypes
import numpy as np
import pytest

import ebbflow as tf

NUMBERS = [
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool", "complex64", "complex128",
]  # fmt: skip
NARROW = ["float8_e5m2", "float8_e4m3fn", "int4", "uint4"]


@pytest.mark.parametrize("target", NUMBERS + NARROW)
@pytest.mark.parametrize("source", NUMBERS + NARROW)
def test_every_dtype_to_every_other(source, target):
    given = tf.cast(tf.constant([0.0, 1.0, 3.0]), source)
    result = tf.cast(given, target)
    assert result.dtype.name == target
    wide = [bool(v) for v in (0, 1, 1)] if "bool" in (source, target) else [0, 1, 3]
    np.testing.assert_array_equal(result.numpy().astype(np.complex128).real, np.asarray(wide, np.float64))


#   source     values                  target     answer
CUT = [
    ("float32", [1.9, -1.9, 0.5], "int32", [1, -1, 0]),
    ("float32", [np.nan, np.inf, -np.inf, 3e9], "int32", [-(2**31)] * 4),
    ("float64", [np.nan, 1e300], "int64", [-(2**63)] * 2),
    ("int32", [300, -1], "uint8", [44, 255]),
    ("int64", [2**40 + 7], "int32", [7]),
    ("float32", [np.nan, 0.0, -0.0, 0.1], "bool", [True, False, False, True]),
    ("complex64", [1.5 - 2j], "float32", [1.5]),
    ("complex64", [2j, 1j + 1], "bool", [False, True]),
    ("float32", [70000.0, 1.0009765625], "float16", [np.inf, 1.0009765625]),
    ("float32", [1.00390625, 1.01171875], "bfloat16", [1.0, 1.015625]),
    ("float32", [500.0, 1.1], "float8_e4m3fn", [np.nan, 1.125]),
    ("bool", [True, False], "float32", [1.0, 0.0]),
    ("int32", [2, -3], "complex64", [2, -3]),
]


@pytest.mark.parametrize("source, values, target, expected", CUT)
def test_what_does_not_fit_is_cut(source, values, target, expected):
    result = tf.cast(tf.constant(values, source), target).numpy()
    np.testing.assert_array_equal(result.astype(np.complex128), np.asarray(expected, np.complex128))
    again = tf.raw_ops.Cast(x=tf.constant(values, source), DstT=tf.as_dtype(target)).numpy()
    assert again.tobytes() == result.tobytes()


@pytest.mark.parametrize("target, expected", [("bfloat16", 1.0), ("float16", 1.00390625)])
def test_truncation_cuts_the_mantissa(target, expected):
    given = tf.constant([1.0 + 1 / 256 + 1 / 4096])
    assert float(tf.raw_ops.Cast(x=given, DstT=tf.as_dtype(target), Truncate=True).numpy()[0]) == expected


@pytest.mark.parametrize("given, target", [("1", "int32"), (1.0, "string")])
def test_strings_are_no_numbers(given, target):
    with pytest.raises(tf.errors.UnimplementedError, match="is not supported"):
        tf.cast(tf.constant(given), target)


def test_the_same_dtype_is_the_same_tensor():
    x = tf.constant([1.0])
    assert tf.cast(x, tf.float32) is x
    assert tf.cast(x, np.float32) is x
    assert tf.cast(3, "int32").dtype == tf.int32
    assert tf.cast(2.7, tf.int64).numpy() == 2


def test_rows_stay_rows():
    rows = tf.cast(tf.IndexedSlices(tf.constant([[1.5]]), tf.constant([0])), tf.int32)
    assert isinstance(rows, tf.IndexedSlices)
    assert rows.values.numpy().tolist() == [[1]]


#   source      through      gradient
WAYS = [
    ("float32", "float64", "float32"),
    ("float64", "float16", "float64"),
    ("float32", "complex64", "float32"),
    ("float32", "int32", None),
    ("float32", "bool", None),
]


@pytest.mark.parametrize("source, through, expected", WAYS)
def test_gradients(source, through, expected):
    x = tf.constant([1.0, 2.0], source)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cast(x, through)
    grad = tape.gradient(y, x) if expected else tape.gradient(tf.cast(y, tf.float32), x)
    assert (grad if grad is None else grad.dtype.name) == expected
    if grad is not None:
        assert grad.numpy().tolist() == [1.0, 1.0]


#   source     values                          target    answer
SATURATED = [
    ("float32", [-1e9, 1e9, 1.7], "uint8", [0, 255, 1]),
    ("float32", [-1e30, 1e30], "int32", [-(2**31), 2147483520]),
    ("float64", [-1e30, 1e30], "int32", [-(2**31), 2**31 - 1]),
    ("int32", [-300, 300, 5], "int8", [-128, 127, 5]),
    ("uint8", [200, 3], "int8", [127, 3]),
    ("int64", [2**40], "uint32", [2**32 - 1]),
    ("float64", [1e300], "float32", [float(np.finfo(np.float32).max)]),
    ("complex64", [-3 + 2j], "uint8", [0]),
]


@pytest.mark.parametrize("source, values, target, expected", SATURATED)
def test_saturate_cast(source, values, target, expected):
    result = tf.saturate_cast(tf.constant(values, source), tf.as_dtype(target))
    assert result.dtype.name == target
    assert result.numpy().tolist() == expected


@pytest.mark.parametrize(
    "name, dtype",
    [("to_float", "float32"), ("to_double", "float64"), ("to_int32", "int32"), ("to_int64", "int64"),
     ("to_bfloat16", "bfloat16"), ("to_complex64", "complex64"), ("to_complex128", "complex128")],
)  # fmt: skip
def test_casts_of_tensorflow_1(name, dtype):
    assert getattr(tf.compat.v1, name)([1, 2]).dtype.name == dtype


def test_arrays_are_ml_dtypes():
    assert tf.cast([1.0], tf.bfloat16).numpy().dtype == ml_dtypes.bfloat16


def test_quantised_types_hold_integers():
    stored = tf.cast(tf.constant([1.0, -2.0]), tf.qint8)
    assert stored.dtype == tf.qint8
    assert tf.cast(stored, tf.int32).numpy().tolist() == [1, -2]
