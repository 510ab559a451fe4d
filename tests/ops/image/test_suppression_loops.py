"""Boxes that suppress each other, as machine code: the choice of the way on arrays, odd boxes and equal scores too."""

from __future__ import annotations

import numpy as np
import pytest

from ebbflow.engines.native import late_code
from ebbflow.ops.image import suppression_ops
from ebbflow.ops.image.suppression_loops import chosen_boxes, softly_chosen_boxes


@pytest.mark.parametrize("most", [0, 7, 500])
@pytest.mark.parametrize("count", [40, 300, 2000])
def test_code_chooses_what_arrays_choose(count, most, monkeypatch):
    random = np.random.RandomState(count)
    corners = random.uniform(0, 0.6, (count, 2))
    boxes = np.concatenate([corners, corners + random.uniform(-0.1, 0.4, corners.shape)], 1).astype(np.float32)
    boxes[3, 2:] = boxes[3, :2]
    boxes[5, 1] = np.nan
    scores = random.rand(count).astype(np.float32).round(2)
    chosen_boxes.code(), softly_chosen_boxes.code()
    late_code.settle()
    calls = [
        lambda: [suppression_ops.selected(boxes, scores, most, 0.4, 0.1)],
        lambda: suppression_ops.softly_selected(boxes, scores, most, 0.1, 0.5),
    ]
    quick = [call() for call in calls]
    monkeypatch.setattr(suppression_ops, "FEW", 1 << 60)
    for a, call in zip(quick, calls, strict=True):
        for x, y in zip(a, call(), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-6)
