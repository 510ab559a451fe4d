"""Kernels of circulant operators: TensorFlow 2.21's numbers."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.linear import kernels

RECORDED = [
    ({"grid_shape": [5], "length_scale": [0.2]}, [1.0, 0.4578, 0.0439, 0.0439, 0.4578]),
    (
        {"grid_shape": [1, 2, 4], "length_scale": [0.1, 0.2, 0.3], "power": 1.0},
        [1.0, 0.3292, 0.1084, 0.3292, 0.0067, 0.0022, 0.0007, 0.0022],
    ),
    (
        {"grid_shape": [2, 3], "length_scale": [0.2, 0.3], "power": 1.5, "divisor": 0.7, "zero_inflation": 0.3},
        [1.0, 0.0324, 0.0324, 0.0, 0.0, 0.0],
    ),
]


@pytest.mark.parametrize(("arguments", "wanted"), RECORDED)
def test_kernels(arguments, wanted):
    found = kernels.exponential_power_convolution_kernel(**arguments)
    np.testing.assert_allclose(found.numpy().ravel(), wanted, atol=6e-5)


def test_a_kernel_makes_an_operator():
    kernel = kernels.as_complex(kernels.exponential_power_convolution_kernel([4], tf.constant([0.2], tf.float64)))
    operator = tf.linalg.LinearOperatorCirculant(kernels.FORWARD[1](kernel), input_output_dtype=tf.float64)
    np.testing.assert_allclose(operator.to_dense()[:, 0], np.real(kernel), atol=1e-12)
