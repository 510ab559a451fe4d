"""`tf.debugging.enable_check_numerics`: the op that first gives an infinity or a NaN says so, in every mode."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import errors


@pytest.fixture(autouse=True)
def checking():
    tf.debugging.enable_check_numerics()
    tf.debugging.enable_check_numerics()  # twice is once
    yield
    tf.debugging.disable_check_numerics()
    tf.debugging.disable_check_numerics()


@tf.function
def logarithm(x):
    return tf.math.log(x) * 2.0


def in_a_session(x):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return session.run(tf.math.log(tf.compat.v1.placeholder_with_default(x, [None])) * 2.0)


MODES = {"eager": lambda x: tf.math.log(x) * 2.0, "function": logarithm, "session": in_a_session}
VALUES = {
    "-Inf values": [0.0, 1.0],
    "NaN values": [-1.0, 1.0],
    "-Inf and NaN values": [-1.0, 0.0],
    r"\+Inf values": [np.inf],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("says", VALUES)
def test_the_op_says_so(mode, says):
    x = np.array(VALUES[says], np.float32)
    if says == r"\+Inf values" and mode == "eager":
        x = tf.constant(x)
    for _ in range(3):  # not compiled away
        with pytest.raises(errors.InvalidArgumentError, match=rf'(?s)Infinity or NaN in output 0.*"\w+".*{says}'):
            MODES[mode](x)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_finite_passes(mode):
    np.testing.assert_allclose(MODES[mode](np.array([1.0, 2.0], np.float32)), [0, 2 * np.log(2)], rtol=1e-6)


def test_gradients_too():
    x = tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(x)
    with pytest.raises(errors.InvalidArgumentError, match="Infinity or NaN"):
        tape.gradient(y, x)


def test_off_again():
    tf.debugging.disable_check_numerics()
    assert np.isnan(tf.math.log(-1.0).numpy())
