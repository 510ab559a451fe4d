"""Colours by machine code: the bits that NumPy gives, for many pixels and few."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.loops import PAYS
from ebbflow.engines.native import late_code
from ebbflow.ops.image import colour_loops
from ebbflow.ops.image.colour_loops import walked

CALLS = {
    "hsv_of_rgb": tf.image.rgb_to_hsv,
    "rgb_of_hsv": tf.image.hsv_to_rgb,
    "turned_hues": lambda x: tf.image.adjust_hue(x, -0.3),
    "scaled_saturations": lambda x: tf.image.adjust_saturation(x, 1.7),
}


def pixels():
    x = np.random.default_rng(0).uniform(0, 1, (2, 9, 11, 3)).astype(np.float32)
    x[0, 0] = 0.5  # grey
    x[0, 1] = 0.0
    x[0, 2, :, 1:] = 0.0
    x[0, 3, :, 0] = x[0, 3, :, 1]
    x[0, 4, 0, 2] = np.nan
    return x


@pytest.mark.parametrize("name", CALLS)
def test_the_loop_gives_the_kernels_bits(name, monkeypatch):
    loop, call, x = getattr(colour_loops, name), CALLS[name], pixels()
    monkeypatch.setattr(loop, "spent", 0)
    plain = call(x).numpy()
    monkeypatch.setattr(loop, "spent", PAYS)
    call(x)
    late_code.settle()
    assert walked(loop, x, *[0.5] * (loop.function.__code__.co_argcount - 4)) is not None
    np.testing.assert_array_equal(call(x).numpy(), plain)


def test_code_comes_with_use(monkeypatch):
    loop = colour_loops.hsv_of_rgb
    monkeypatch.setattr(loop, "spent", 0)
    calls = 0
    while loop.worth(30) is None and loop.spent < PAYS:
        calls += 1
    assert 20 < calls < 100


def test_contrast_of_several_images():
    x = np.random.default_rng(1).uniform(0, 1, (2, 3, 8, 7, 3)).astype(np.float32)
    mean = x.mean(axis=(2, 3), keepdims=True, dtype=np.float64)
    np.testing.assert_allclose(tf.image.adjust_contrast(x, 1.5).numpy(), (x - mean) * 1.5 + mean, rtol=1e-5, atol=1e-6)
