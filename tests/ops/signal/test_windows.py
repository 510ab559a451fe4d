"""The Kaiser window takes its `beta` in any type, as TensorFlow's does."""

import numpy as np
import pytest

import ebbflow as tf


@pytest.mark.parametrize("beta", [1.0, tf.constant(1, tf.int8), tf.constant(True), tf.constant(1.0, tf.bfloat16)])
def test_beta_of_any_type(beta):
    np.testing.assert_allclose(tf.signal.kaiser_window(5, beta), np.kaiser(5, 1), rtol=1e-5)
