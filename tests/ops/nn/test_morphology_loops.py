"""Dilation as machine code: bit for bit what arrays give, NaNs, strides, rates and padding too."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import late_code
from ebbflow.ops.nn import morphology

NARROW = [((2, 24, 31, 5), (3, 4, 5)), ((1, 9, 200, 3), (3, 3, 3))]
WIDE = [((40, 3, 4, 2), (5, 7, 2)), ((90, 2, 3, 1), (1, 6, 1))]  # windows that are wider than the image
CASES = [*((sides, padding) for sides in NARROW for padding in ("SAME", "VALID")), *((sides, "SAME") for sides in WIDE)]


@pytest.mark.parametrize(("sides", "padding"), CASES, ids=str)
@pytest.mark.parametrize(("stride", "rate"), [(1, 1), (2, 1), (1, 2), (3, 2)])
def test_code_gives_what_arrays_give(sides, padding, stride, rate, monkeypatch):
    random = np.random.RandomState(1)
    image, window = (random.randn(*side).astype(np.float32) for side in sides)
    image[0, 1, 1, 0], image[-1, 1, :, -1] = np.nan, -np.inf
    call = lambda: tf.nn.dilation2d(
        image, window, [1, stride, stride, 1], padding, "NHWC", [1, rate, rate, 1]
    ).numpy()  # fmt: skip
    call()
    late_code.settle()
    quick = call()
    monkeypatch.setattr(morphology, "SHARE", 1)
    np.testing.assert_array_equal(quick, call())
    monkeypatch.setattr(morphology, "FEW", 1 << 60)
    monkeypatch.setattr(morphology.dilated, "spent", -(1 << 60))
    monkeypatch.setattr(morphology.dilated_lines, "spent", -(1 << 60))
    np.testing.assert_array_equal(quick, call())
