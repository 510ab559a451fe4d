"""The checkers are checked: what is wrong by a thousandth, or of another shape or dtype, must not pass."""

import numpy as np
import pytest

import ebbflow as tf
from tests.ops.cases import MODES, Case, Refusal, args

RIGHT = Case(tf.square, args("2 3"), numpy=np.square)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_right_passes(mode):
    RIGHT.check_value(mode)
    RIGHT.check_gradient(mode)


WRONG_VALUES = {
    "by a thousandth": Case(tf.square, args("2 3"), numpy=lambda x: 1.001 * x * x),
    "shape": Case(tf.square, args("2 3"), numpy=lambda x: (x * x).reshape(3, 2)),
    "dtype": Case(tf.square, args("2 3"), numpy=np.square, result="float32"),
    "in one place": Case(tf.square, args("3"), numpy=lambda x: x * x + np.array([0, 0, 1e-9])),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("what", WRONG_VALUES)
def test_a_wrong_value_is_seen(what, mode):
    with pytest.raises(AssertionError):
        WRONG_VALUES[what].check_value(mode)


def flat_slope(x):
    """x * x, whose slope is right and whose second slope is nothing."""
    kept = tf.stop_gradient(x)
    return 2.0 * x * kept - tf.stop_gradient(x * x)


WRONG_GRADIENTS = {
    "first order, by a thousandth": Case(tf.square, args("3"), numpy=lambda x: 1.001 * x * x),
    "first order, missing": Case(lambda x: tf.stop_gradient(x * x), args("3"), numpy=np.square, name="stopped"),
    "second order": Case(flat_slope, args("3"), numpy=np.square),
}


@pytest.mark.parametrize(
    "what, mode",
    [(what, mode) for what in WRONG_GRADIENTS for mode in MODES if (what, mode) != ("second order", "function")],
)
def test_a_wrong_gradient_is_seen(what, mode):
    with pytest.raises(AssertionError):
        WRONG_GRADIENTS[what].check_gradient(mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_refusal_must_happen_with_its_words(mode):
    mismatch = args("2", "3")
    Refusal(tf.add, mismatch, says="Incompatible shapes", in_graph="Dimensions must be equal").check_value(mode)
    with pytest.raises(AssertionError):
        Refusal(tf.add, mismatch, says="other words").check_value(mode)
    with pytest.raises(pytest.fail.Exception):
        Refusal(tf.add, args("2", "2"), says="Incompatible shapes").check_value(mode)
