"""Small crops by machine code: the bits that NumPy gives, inside and outside of images."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.loops import PAYS
from ebbflow.engines.native import late_code
from ebbflow.ops.image.crop_loops import cropped


@pytest.mark.parametrize("size", [(7, 7), (1, 3), (2, 1)])
@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_crops_are_numpys(method, size, monkeypatch):
    random = np.random.default_rng(0)
    image = random.uniform(size=(2, 9, 11, 3)).astype(np.float32)
    corners = random.uniform(-0.3, 0.9, (12, 2))
    boxes = np.concatenate([corners, corners + random.uniform(-0.2, 0.7, (12, 2))], 1).astype(np.float32)
    boxes[0], boxes[1] = [0, 0, 1, 1], [1, 1, 0, 0]
    numbers = random.integers(0, 2, 12).astype(np.int32)
    call = lambda: tf.image.crop_and_resize(image, boxes, numbers, size, method, extrapolation_value=7.5).numpy()
    monkeypatch.setattr(cropped, "spent", -(1 << 60))
    expected = call()
    monkeypatch.setattr(cropped, "spent", PAYS)
    call()
    late_code.settle()
    assert cropped.code() is not None
    np.testing.assert_array_equal(call(), expected)
