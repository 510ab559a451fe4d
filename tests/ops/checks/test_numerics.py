"""Finding NaN and infinity."""

import numpy as np
import pytest

import ebbflow as tf
from tests.ops.cases import MODES, Case, Refusal, args

#   values                     words
FOUND = [
    ([1.0, np.nan], "here : Tensor had NaN values"),
    ([np.inf, 1.0], "here : Tensor had Inf values"),
    ([-np.inf, np.nan], "here : Tensor had Inf and NaN values"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("values, says", FOUND)
def test_what_is_found_is_said(values, says, mode):
    check = lambda x: tf.debugging.check_numerics(x, "here")
    Refusal(check, [np.array(values)], says=says, error=tf.errors.InvalidArgumentError).check_value(mode)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_finite_passes(mode):
    case = Case(lambda x: tf.debugging.check_numerics(x, "here"), args("2 3"), lambda x: x, name="check_numerics")
    case.check_value(mode)
    case.check_gradient(mode)


def test_gradients_are_checked_too():
    x = tf.constant([0.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(tf.debugging.check_numerics(x, "here"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="in gradient"):
        tape.gradient(y, x)


def test_verify_tensor_all_finite():
    assert tf.compat.v1.verify_tensor_all_finite([1.0], "bad").numpy().tolist() == [1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        tf.debugging.assert_all_finite([np.nan], "bad")
