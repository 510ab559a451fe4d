"""Large arrays are rounded to steps by machine code: to the numbers that short ones are rounded to."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import late_code
from ebbflow.ops.quantization.step_loops import MANY

X = np.random.default_rng(0).uniform(-1.5, 1.5, MANY + 9).astype(np.float32)
X[:6] = 0.0, -0.0, 0.5, 1.0, -1.0, 1e30

CALLS = {
    "vars": lambda x: tf.quantization.fake_quant_with_min_max_vars(x, -0.3, 1.0),
    "args": lambda x: tf.quantization.fake_quant_with_min_max_args(x, min=-1.0, max=1.0, num_bits=4),
    "zero range": lambda x: tf.quantization.fake_quant_with_min_max_vars(x, 0.0, 0.0),
    "both ways": lambda x: tf.quantization.quantize_and_dequantize_v2(x, -0.7, 1.0, range_given=True),
    "both ways unsigned": lambda x: tf.quantization.quantize_and_dequantize_v2(
        x, 0.0, 1.0, signed_input=False, range_given=True
    ),
    "bytes": lambda x: tf.bitcast(tf.quantization.quantize(x, -0.5, 1.0, tf.quint8)[0], tf.uint8),
    "signed bytes": lambda x: tf.bitcast(tf.quantization.quantize(x, -0.5, 1.0, tf.qint8)[0], tf.int8),
}


@pytest.mark.parametrize("name", CALLS)
def test_long_arrays_are_rounded_as_short_ones(name):
    call = CALLS[name]
    call(X)
    late_code.settle()
    pieces = [call(X[i : i + 1000]).numpy() for i in range(0, X.size, 1000)]
    np.testing.assert_array_equal(call(X).numpy(), np.concatenate(pieces))


def test_the_range_of_the_numbers():
    x = np.random.default_rng(1).uniform(-1.5, 1.2, MANY).astype(np.float32)
    call = lambda: tf.quantization.quantize_and_dequantize_v2(x, 0.0, 0.0).numpy()
    first = call()
    late_code.settle()
    np.testing.assert_array_equal(call(), first)
    np.testing.assert_allclose(first, x, atol=1.5 / 128)


def test_a_range_the_wrong_way_round():
    with pytest.raises(tf.errors.InvalidArgumentError, match="range"):
        tf.quantization.quantize_and_dequantize_v2(X, 1.0, 0.0, range_given=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="max_range"):
        tf.quantization.quantize(X, 1.0, 0.0, tf.quint8)
