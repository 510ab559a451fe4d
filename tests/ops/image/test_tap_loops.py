"""Images made anew by machine code are those that products of matrices make."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.image import taps

CALLS = {
    "bicubic": lambda x, size: tf.raw_ops.ResizeBicubic(images=x, size=size, half_pixel_centers=True),
    "old bicubic": lambda x, size: tf.raw_ops.ResizeBicubic(images=x, size=size, align_corners=True),
    "area": lambda x, size: tf.raw_ops.ResizeArea(images=x, size=size),
    "lanczos5": lambda x, size: tf.image.resize(x, size, "lanczos5", antialias=True),
    "gaussian": lambda x, size: tf.image.resize(x, size, "gaussian"),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("size", [(5, 31), (40, 7), (1, 1), (17, 13)])
@pytest.mark.parametrize("shape, dtype", [((2, 17, 13, 3), np.float32), ((1, 6, 9, 1), np.uint8), ((1, 1, 1, 2), "f4")])
def test_code_makes_what_matrices_make(call, size, shape, dtype, monkeypatch):
    x = tf.constant((np.random.default_rng(0).random(shape) * 9).astype(dtype))
    expected = CALLS[call](x, size).numpy()
    monkeypatch.setattr(taps, "ENOUGH", 0)
    found = CALLS[call](x, size).numpy()
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_no_pixel_spreads_that_has_no_share(monkeypatch):
    monkeypatch.setattr(taps, "ENOUGH", 0)
    x = np.zeros((1, 4, 4, 1), np.float32)
    x[0, 1, 1] = np.inf
    found = tf.raw_ops.ResizeArea(images=x, size=[2, 2]).numpy()[0, ..., 0]
    np.testing.assert_array_equal(found, [[np.inf, 0], [0, 0]])
