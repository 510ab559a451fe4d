"""Frames drawn by machine code are those that Python draws."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.loops import PAYS
from ebbflow.engines.native import late_code
from ebbflow.ops.image.frame_loops import frames


@pytest.mark.parametrize("shape", [(1, 30, 20, 3), (3, 5, 7, 1), (2, 1, 1, 4)])
@pytest.mark.parametrize("far", [3.0, 1e30])
def test_code_draws_what_python_draws(shape, far, monkeypatch):
    random = np.random.default_rng(1)
    images = random.random(shape).astype(np.float32)
    boxes = random.uniform(-0.5, 1.5, (shape[0], 40, 4)).astype(np.float32)
    boxes[:, 0], boxes[:, 1], boxes[:, 2] = [0, 0, 1, 1], [0.5, 0.5, 0.2, 0.9], [-far, 0.1, far, 0.6]
    colours = random.random((6, 4)).astype(np.float32)
    frames.code()
    late_code.settle()
    results = []
    for spent in (-(1 << 60), PAYS):
        monkeypatch.setattr(frames, "spent", spent)
        results.append(tf.image.draw_bounding_boxes(images, boxes, colours).numpy())
    np.testing.assert_array_equal(*results)
    assert (results[0] != images).any()
