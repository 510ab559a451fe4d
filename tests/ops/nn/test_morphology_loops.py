"""Dilation as machine code: bit for bit what arrays give, NaNs, strides, rates and padding too."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import late_code
from ebbflow.ops.nn import morphology


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("stride", "rate"), [(1, 1), (2, 1), (1, 2), (3, 2)])
def test_code_gives_what_arrays_give(padding, stride, rate, monkeypatch):
    random = np.random.RandomState(1)
    image, window = random.randn(2, 24, 31, 5).astype(np.float32), random.randn(3, 4, 5).astype(np.float32)
    image[0, 5, 5, 1], image[1, 7, :, 2] = np.nan, -np.inf
    call = lambda: tf.nn.dilation2d(
        image, window, [1, stride, stride, 1], padding, "NHWC", [1, rate, rate, 1]
    ).numpy()  # fmt: skip
    call()
    late_code.settle()
    quick = call()
    monkeypatch.setattr(morphology, "FEW", 1 << 60)
    np.testing.assert_array_equal(quick, call())
