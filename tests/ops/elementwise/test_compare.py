"""Comparison, logic and choice."""

import numpy as np
import pytest

import ebbflow as tf
from tests.ops.cases import MODES, Case, Refusal, args

CONDITION = np.array([[True, False, True], [False, False, True]])


def compared(fn, numpy, dtype):
    return Case(fn, args("2 3", "3", dtype=dtype), numpy, smooth=0, result="bool")


CASES = [
    compared(fn, numpy, dtype)
    for fn, numpy in [
        (tf.less, np.less),
        (tf.less_equal, np.less_equal),
        (tf.greater, np.greater),
        (tf.greater_equal, np.greater_equal),
        (tf.equal, np.equal),
        (tf.not_equal, np.not_equal),
    ]
    for dtype in ("float32", "bfloat16", "int32", "uint8")
]
BOOLS = [np.array([True, True, False, False]), np.array([True, False, True, False])]
CASES += [
    Case(tf.logical_and, BOOLS, np.logical_and),
    Case(tf.logical_or, BOOLS, np.logical_or),
    Case(tf.math.logical_xor, BOOLS, np.logical_xor),
    Case(tf.logical_not, BOOLS[:1], np.logical_not),
    Case(tf.equal, [np.array([1 + 1j, 2]), np.array([1 + 1j, 3])], np.equal, result="bool"),
    Case(tf.where, [CONDITION, *args("2 3", "2 3")], np.where, result="float64", name="where"),
    Case(tf.where, [CONDITION, *args("3", "2 1")], np.where, result="float64", name="where"),
    Case(tf.where, [CONDITION[:, :1], *args("2 1", "")], np.where, result="float64", name="where"),
    Case(tf.where, [np.zeros((0, 3), bool), *args("3", "1 3")], np.where, result="float64", name="where"),
    Case(tf.compat.v1.where, [CONDITION, *args("2 3", "2 3")], np.where, result="float64", name="where_v1"),
    Case(
        tf.compat.v1.where, [np.array([True, False]), *args("2 3", "2 3")],
        lambda c, x, y: np.where(c[:, None], x, y), result="float64", name="where_v1",
    ),
    Case(tf.compat.v1.where, [np.array(True), *args("2 3", "2 3")], np.where, result="float64", name="where_v1"),
    Refusal(tf.less, [np.array([True])] * 2, says="bool not in list of allowed values"),
    Refusal(tf.equal, args("3", "4"), says="Incompatible shapes: [3] vs. [4]", in_graph="but are 3 and 4"),
    Refusal(tf.logical_and, args("2", "2"), says="expected to be a bool tensor", in_graph="bool"),
    Refusal(tf.where, [CONDITION, *args("2", "2 3")], says="must be broadcastable", name="where"),
    Refusal(tf.compat.v1.where, [CONDITION, *args("3", "3")], says="must be", name="where_v1"),
    Refusal(tf.compat.v1.where, [CONDITION, *args("2 3", "3")], says="same size", name="where_v1"),
    Refusal(
        tf.compat.v1.where, [np.array([True] * 3), *args("2 3", "2 3")], says="Number of batches", name="where_v1"
    ),
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


def test_strings_and_choices_of_strings():
    assert tf.equal(["a", "b"], "a").numpy().tolist() == [True, False]
    assert tf.where([True, False], ["x", "y"], "z").numpy().tolist() == [b"x", b"z"]


def test_where_alone_gives_indices():
    assert tf.where([[True, False], [True, True]]).numpy().tolist() == [[0, 0], [1, 0], [1, 1]]
    with pytest.raises(ValueError, match="both be non-None or both be None"):
        tf.where([True], [1])


def test_incompatible_shapes_are_unequal_where_that_is_asked_for():
    x, y = tf.constant([1, 2, 3]), tf.constant([1, 2])
    assert not tf.raw_ops.Equal(x=x, y=y, incompatible_shape_error=False).numpy()
    assert tf.raw_ops.NotEqual(x=x, y=y, incompatible_shape_error=False).numpy()


@pytest.mark.parametrize(
    ("x", "y", "shape"),
    [
        ([None, 3], [], [None, 3]),
        ([None], [None, 1], [None, None]),
        ([1, None], [2, None], [2, None]),
        ([3], [None, 3], [None, 3]),
        ([None], [3], None),  # may not fit, and would then be one word for all
        ([2, None], [None, None], None),
        ([3], [4], []),
    ],
)
def test_what_is_known_of_the_shape_of_an_equality(x, y, shape):
    found = tf.function(lambda x, y: (x == y, x != y)).get_concrete_function(tf.TensorSpec(x), tf.TensorSpec(y))
    assert [s.as_list() if s.rank is not None else None for s in found.output_shapes] == [shape, shape]


def test_approximate_equal():
    near = tf.raw_ops.ApproximateEqual
    assert near(x=[1.0, 2.0], y=[1.0000001, 2.1]).numpy().tolist() == [True, False]
    assert near(x=[1, 2], y=[1, 3], tolerance=1.5).numpy().tolist() == [True, True]
    assert near(x=np.array([3], np.uint8), y=np.array([4], np.uint8), tolerance=2.0).numpy().tolist() == [True]
    with pytest.raises(tf.errors.InvalidArgumentError, match="same shape"):
        near(x=[1.0], y=[1.0, 2.0])


def test_nan_on_the_side_not_taken_stays_out_of_the_gradient():
    x = tf.constant([0.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.where(x > 0, tf.sqrt(tf.where(x > 0, x, 1.0)), 0.0)
    assert tape.gradient(y, x).numpy().tolist() == [0.0, 0.25]
