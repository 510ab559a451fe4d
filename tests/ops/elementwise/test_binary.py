"""Arithmetic of two numbers: values, broadcasting, gradients summed back to the inputs' shapes, division by zero."""

import numpy as np
import pytest

import ebbflow as tf
from tests.ops.cases import MODES, Case, Refusal, args

inf, nan = np.inf, np.nan
POSITIVE = {"low": 0.3, "high": 3.0}


def pair(*dims, **where):
    return args(*dims, **where)


#   function                    NumPy's                                where      order
ROWS = [
    (tf.add, np.add, {}, 2),
    (tf.subtract, np.subtract, {}, 2),
    (tf.multiply, np.multiply, {}, 2),
    (tf.divide, np.divide, POSITIVE, 2),
    (tf.truediv, np.divide, POSITIVE, 2),
    (tf.math.floormod, np.mod, POSITIVE, 1),
    (tf.truncatemod, np.fmod, POSITIVE, 1),
    (tf.math.floordiv, lambda x, y: np.floor(x / y), POSITIVE, 0),
    (tf.pow, np.power, POSITIVE, 2),
    (tf.maximum, np.maximum, {}, 1),
    (tf.minimum, np.minimum, {}, 1),
    (tf.math.squared_difference, lambda x, y: (x - y) ** 2, {}, 2),
    (tf.math.atan2, np.arctan2, POSITIVE, 2),
    (tf.math.divide_no_nan, np.divide, POSITIVE, 2),
    (tf.math.multiply_no_nan, np.multiply, POSITIVE, 2),
    (tf.math.xdivy, np.divide, POSITIVE, 2),
    (tf.math.xlogy, lambda x, y: x * np.log(y), POSITIVE, 2),
    (tf.math.xlog1py, lambda x, y: x * np.log1p(y), POSITIVE, 2),
]
SHAPES = [("2 3", "2 3"), ("2 3", "3"), ("", "2"), ("2 1", "1 3"), ("3 1 2", "2 1"), ("0 3", "3"), ("0", "1")]

CASES = [Case(fn, args(*dims, **where), numpy, smooth=order) for fn, numpy, where, order in ROWS for dims in SHAPES]
CASES += [
    Case(fn, args("2 3", "3", dtype=t, low=1.0, high=5.0), numpy, smooth=0, tol=4)
    for t in ("float32", "float16", "bfloat16", "int32", "uint8")
    for fn, numpy in [
        (tf.add, np.add),
        (tf.subtract, np.subtract),
        (tf.multiply, np.multiply),
        (tf.maximum, np.maximum),
    ]
]
CASES += [
    Case(tf.math.floordiv, args("5", "5", dtype=t, low=1, high=9), np.floor_divide) for t in ("int8", "int64", "uint32")
] + [
    Case(tf.truncatediv, [np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])], lambda x, y: np.array([3, -3, -3, 3])),
    Case(tf.truncatemod, [np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])], np.fmod),
    Case(tf.math.floormod, [np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])], np.mod),
    Case(tf.pow, [np.array([2, 3], np.int32), np.array([3, 2], np.int32)], np.power),
    Case(tf.multiply, args("3", "3", dtype="complex128"), np.multiply),
    Refusal(
        tf.add,
        args("2 3", "2"),
        says="Incompatible shapes: [2,3] vs. [2]",
        in_graph="Dimensions must be equal, but are 3 and 2",
    ),
    Refusal(
        tf.add,
        [np.float32(1), np.int32(1)],
        says="was expected to be a float tensor but is a int32 tensor",
        in_graph="does not match type float32",
    ),
    Refusal(tf.math.floordiv, [np.array([1, 2]), np.array([1, 0])], says="Integer division by zero"),
    Refusal(tf.math.floormod, [np.array([1, 2]), np.array([1, 0])], says="Integer division by zero"),
    Refusal(tf.truncatediv, [np.int32(1), np.int32(0)], says="Integer division by zero", error=tf.errors.InternalError),
    Refusal(tf.pow, [np.array([2]), np.array([-1])], says="Integers to negative integer powers are not allowed"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


#   function                 x            y            answer
SPECIAL = [
    (tf.math.divide_no_nan, [1.0, 0.0, nan], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    (tf.math.multiply_no_nan, [nan, inf, 2.0], [0.0, 0.0, 3.0], [0.0, 0.0, 6.0]),
    (tf.math.xlogy, [0.0, 0.0, 2.0], [0.0, nan, 1.0], [0.0, 0.0, 0.0]),
    (tf.math.xdivy, [0.0, 2.0], [0.0, 0.0], [0.0, inf]),
    (tf.math.floordiv, [1.0, -1.0, 1.0], [0.1, 0.0, inf], [10.0, -inf, 0.0]),
    (tf.maximum, [nan, 1.0], [1.0, nan], [nan, nan]),
    (tf.pow, [0.0, 0.0, -8.0], [0.0, -1.0, 3.0], [1.0, inf, -512.0]),
]


@pytest.mark.parametrize("fn, x, y, expected", SPECIAL)
def test_special_values(fn, x, y, expected):
    for _ in range(2):
        np.testing.assert_array_equal(fn(tf.constant(x), tf.constant(y)).numpy(), np.float32(expected))


#   function        x             y             gradient of x         gradient of y, where TensorFlow decides
TIES = [
    (tf.maximum, [1.0, 2.0], [1.0, 1.0], [1.0, 1.0], [0.0, 0.0]),
    (tf.minimum, [1.0, 2.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]),
    (tf.maximum, [nan], [1.0], [0.0], [1.0]),
    (tf.pow, [0.0, 0.0], [2.0, 1.0], [0.0, 1.0], [0.0, 0.0]),
    (tf.pow, [-2.0], [3.0], [12.0], [0.0]),
    (tf.math.xlogy, [0.0], [0.0], [0.0], [0.0]),
    (tf.math.divide_no_nan, [1.0], [0.0], [0.0], [0.0]),
]


@pytest.mark.parametrize("fn, x, y, dx, dy", TIES)
def test_gradients_at_ties_and_zeros(fn, x, y, dx, dy):
    x, y = tf.constant(x), tf.constant(y)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = fn(x, y)
    for ours, theirs in zip(tape.gradient(z, [x, y]), (dx, dy), strict=True):
        np.testing.assert_array_equal(ours.numpy(), np.float32(theirs))


def test_a_gradient_nobody_asks_for_is_not_computed():
    x, y = tf.constant([-1.0]), tf.constant([2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = x**y
    assert tape.gradient(z, x).numpy().tolist() == [-2.0]


def test_true_division_of_integers_is_real():
    kinds = {"int8": "float32", "uint16": "float32", "int32": "float64", "uint64": "float64", "float16": "float16"}
    for given, expected in kinds.items():
        assert tf.truediv(tf.constant([3], given), tf.constant([2], given)).dtype.name == expected
    assert tf.divide(3, 2).numpy() == 1.5
    assert tf.compat.v1.div(7, 2).numpy() == 3
    with pytest.raises(TypeError, match="Invalid dtype"):
        tf.truediv(tf.constant(True), tf.constant(True))
    with pytest.raises(TypeError, match="same dtype"):
        tf.truediv(tf.constant(1.0), tf.constant(1))


def test_strings_are_joined():
    assert (tf.constant(["a", "b"]) + "c").numpy().tolist() == [b"ac", b"bc"]
    assert ("c" + tf.constant("a")).numpy() == b"ca"
    assert tf.add("a", ["b", "c"]).numpy().tolist() == [b"ab", b"ac"]


class TestSumsOfMany:
    def test_values_and_gradients(self):
        Case(lambda *xs: tf.add_n(list(xs)), args("2 2", "2 2", "2 2"), lambda *xs: sum(xs), name="add_n").check_value(
            "eager"
        )
        Case(lambda *xs: tf.add_n(list(xs)), args("2", "2"), lambda *xs: sum(xs), name="add_n").check_gradient("graph")

    def test_one_alone_is_itself(self):
        x = tf.constant([1.0])
        assert tf.add_n([x]) is x

    def test_inputs_are_not_written_to(self):
        xs = [tf.constant([1.0]) for _ in range(4)]
        assert tf.add_n(xs).numpy().tolist() == [4.0]
        assert [x.numpy().tolist() for x in xs] == [[1.0]] * 4

    def test_rows_are_added_up(self):
        rows = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 0]), tf.constant([2, 1]))
        assert tf.add_n([rows, tf.constant([[10.0], [20.0]])]).numpy().tolist() == [[13.0], [20.0]]

    @pytest.mark.parametrize("bad", [[], tf.constant([1.0]), None])
    def test_refusals(self, bad):
        with pytest.raises(ValueError, match="iterable of at least one"):
            tf.add_n(bad)

    def test_shapes_must_agree(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match="same size and shape"):
            tf.add_n([tf.constant([1.0]), tf.constant([1.0, 2.0])])
        with pytest.raises(ValueError, match="incompatible"):
            tf.math.accumulate_n([tf.constant([1.0])], shape=[2])

    def test_accumulate_n(self):
        assert tf.math.accumulate_n([[1, 2], [3, 4]], shape=[2], tensor_dtype=tf.int32).numpy().tolist() == [4, 6]
        with pytest.raises(TypeError, match="tensor_dtype"):
            tf.math.accumulate_n([tf.constant([1.0])], tensor_dtype=tf.int32)


def test_scalar_mul():
    assert tf.math.scalar_mul(2, tf.constant([1.0])).numpy().tolist() == [2.0]
    rows = tf.math.scalar_mul(3.0, tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([4])))
    assert isinstance(rows, tf.IndexedSlices)
    assert rows.values.numpy().tolist() == [[3.0]]
    with pytest.raises(ValueError, match="0-D"):
        tf.math.scalar_mul(tf.constant([1.0]), tf.constant([1.0]))


def test_polyval():
    Case(
        lambda x: tf.math.polyval([2.0, -1.0, 3.0], x), args("4"), lambda x: np.polyval([2.0, -1.0, 3.0], x)
    ).check_value("eager")
    assert tf.math.polyval([], tf.constant([1.0])).numpy().tolist() == [0.0]
    with pytest.raises(ValueError, match="list"):
        tf.math.polyval((1.0,), 2.0)
