"""Functions of one number: values as NumPy's, gradients as finite differences say, special values as TensorFlow's."""

import warnings

import ml_dtypes
import numpy as np
import pytest

import ebbflow as tf
from tests.ops.cases import MODES, Case, Refusal, args

inf, nan = np.inf, np.nan
POSITIVE = {"low": 0.2, "high": 3.0}
UNIT = {"low": -0.9, "high": 0.9}

#   function           NumPy's                             where                      smooth to order
ROWS = [
    (tf.abs, np.abs, {}, 1),
    (tf.acos, np.arccos, UNIT, 2),
    (tf.acosh, np.arccosh, {"low": 1.2, "high": 4.0}, 2),
    (tf.asin, np.arcsin, UNIT, 2),
    (tf.asinh, np.arcsinh, {}, 2),
    (tf.atan, np.arctan, {}, 2),
    (tf.atanh, np.arctanh, UNIT, 2),
    (tf.math.ceil, np.ceil, {}, 0),
    (tf.cos, np.cos, {}, 2),
    (tf.cosh, np.cosh, {}, 2),
    (tf.exp, np.exp, {}, 2),
    (tf.math.expm1, np.expm1, {}, 2),
    (tf.floor, np.floor, {}, 0),
    (tf.math.log, np.log, POSITIVE, 2),
    (tf.math.log1p, np.log1p, UNIT, 2),
    (tf.negative, np.negative, {}, 2),
    (tf.math.reciprocal, np.reciprocal, POSITIVE, 2),
    (tf.math.rint, np.rint, {}, 0),
    (tf.round, np.round, {}, 0),
    (tf.math.rsqrt, lambda x: 1 / np.sqrt(x), POSITIVE, 2),
    (tf.sigmoid, lambda x: 1 / (1 + np.exp(-x)), {}, 2),
    (tf.sign, np.sign, {}, 1),
    (tf.sin, np.sin, {}, 2),
    (tf.sinh, np.sinh, {}, 2),
    (tf.sqrt, np.sqrt, POSITIVE, 2),
    (tf.square, np.square, {}, 2),
    (tf.tan, np.tan, {"low": -1.2, "high": 1.2}, 2),
    (tf.tanh, np.tanh, {}, 2),
]
SHAPES = ["", "3", "2 3", "0", "2 0 3"]

CASES = [Case(fn, args(dims, **where), numpy, smooth=order) for fn, numpy, where, order in ROWS for dims in SHAPES]
CASES += [Case(fn, args("2 3", dtype=t, **where), numpy, smooth=0, tol=4) for t in ("float32", "float16", "bfloat16")
          for fn, numpy, where, _ in ROWS]  # fmt: skip
CASES += [
    Case(fn, args("4", dtype="complex128", **where), numpy, smooth=0, tol=10)
    for fn, numpy, where, _ in ROWS
    if fn in (tf.exp, tf.math.log, tf.sin, tf.tanh, tf.sqrt, tf.square, tf.sigmoid, tf.negative, tf.math.reciprocal)
]
CASES += [Case(tf.square, args("5", dtype=t), np.square) for t in ("int8", "int32", "int64", "uint8", "uint16")] + [
    Case(tf.abs, args("5", dtype="int32"), np.abs),
    Case(tf.sign, args("5", dtype="int64"), np.sign),
    Case(tf.round, args("5", dtype="int32"), lambda x: x),
    Refusal(tf.tanh, args("2", dtype="int32"), says="int32 not in list of allowed values"),
    Refusal(tf.negative, args("2", dtype="uint8"), says="uint8 not in list of allowed values"),
    Refusal(tf.exp, [np.array([True])], says="bool not in list of allowed values"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


#   function          argument                        answer
SPECIAL = [
    (tf.sigmoid, [1000.0, -1000.0, inf, -inf, nan], [1.0, 0.0, 1.0, 0.0, nan]),
    (tf.sqrt, [-1.0, 0.0, -0.0, inf], [nan, 0.0, -0.0, inf]),
    (tf.math.rsqrt, [0.0, inf, -1.0], [inf, 0.0, nan]),
    (tf.math.log, [0.0, -1.0, inf], [-inf, nan, inf]),
    (tf.exp, [1000.0, -1000.0], [inf, 0.0]),
    (tf.sign, [nan, 0.0, -inf], [nan, 0.0, -1.0]),
    (tf.round, [0.5, 1.5, 2.5, -0.5, -1.5], [0.0, 2.0, 2.0, -0.0, -2.0]),
    (tf.math.is_nan, [nan, inf, 1.0], [True, False, False]),
    (tf.math.is_inf, [nan, -inf, 1.0], [False, True, False]),
    (tf.math.is_finite, [nan, -inf, 1.0], [False, False, True]),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("fn, given, expected", SPECIAL)
def test_special_values_come_without_a_word(fn, given, expected, dtype):
    with warnings.catch_warnings(record=True) as heard:
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"ebbflow\.")
        for _ in range(2):
            result = fn(tf.constant(given, dtype)).numpy()
    np.testing.assert_array_equal(result.astype(np.float64), np.asarray(expected, np.float64))
    assert not heard


@pytest.mark.parametrize("fn", [tf.exp, tf.sigmoid, tf.math.log, lambda x: x / 0.0, lambda x: x * 3e38])
def test_warnings_made_errors_by_the_user_change_no_answer(fn):
    given = tf.constant([1000.0, -1000.0])
    fn(given)
    expected = fn(given).numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(fn(given).numpy(), expected)


#   function     argument   slope there, by TensorFlow's rule
SLOPES = [
    (tf.abs, 0.0, 0.0),
    (tf.sqrt, 0.0, inf),
    (tf.sign, 0.0, 0.0),
    (tf.sigmoid, 100.0, 0.0),
    (tf.tanh, 0.0, 1.0),
]


@pytest.mark.parametrize("fn, at, slope", SLOPES)
def test_slopes_where_there_is_a_corner(fn, at, slope):
    x = tf.constant(at)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    assert float(tape.gradient(y, x)) == slope


@pytest.mark.parametrize("fn", [tf.floor, tf.math.ceil, tf.round, tf.math.rint])
def test_no_gradient_through_rounding(fn):
    x = tf.constant([1.5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    assert tape.gradient(y, x) is None


def test_a_square_root_of_zero_that_nobody_uses_gives_no_nan():
    x = tf.constant([0.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(x) * tf.constant([0.0, 1.0])
    assert tape.gradient(y, x).numpy().tolist() == [0.0, 0.25]


def test_integers_wrap():
    assert tf.abs(tf.constant([-128], tf.int8)).numpy().tolist() == [-128]
    assert tf.square(tf.constant([2**16])).numpy().tolist() == [0]


def test_complex_absolute_value_is_real():
    y = tf.abs(tf.constant([3 + 4j, 0j]))
    assert y.dtype == tf.float64
    assert y.numpy().tolist() == [5.0, 0.0]


def test_arguments_have_tensorflows_names():
    assert tf.nn.relu(features=[-1.0]).numpy().tolist() == [0.0]
    assert tf.tanh(x=[0.0], name="named").numpy().tolist() == [0.0]
    assert tf.atan2(y=[0.0], x=[1.0]).numpy().tolist() == [0.0]


def test_bfloat16_is_rounded_once():
    x = np.array([0.1, 1.3, 3.7], ml_dtypes.bfloat16)
    expected = (1 / (1 + np.exp(-x.astype(np.float32)))).astype(ml_dtypes.bfloat16)
    assert tf.sigmoid(tf.constant(x)).numpy().tobytes() == expected.tobytes()
