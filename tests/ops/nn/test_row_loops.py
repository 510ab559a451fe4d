"""Many short rows as machine code: softmax and cross entropies are NumPy's to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from ebbflow.engines.native import late_code
from ebbflow.ops.nn import bias_softmax, cross_entropy, row_loops


@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 10, 16, 31, 40, 64])
def test_rows_are_numpys(width, monkeypatch):
    x = np.random.RandomState(width).randn(3, 2000, width).astype(np.float32) * 3
    x[0, 5], x[1, 6, 0], x[2, 7] = np.nan, np.inf, -np.inf
    flat = x.reshape(-1, width)
    calls = [
        lambda: bias_softmax.Softmax.kernel_fn(np, x),
        lambda: bias_softmax.LogSoftmax.kernel_fn(np, x),
        lambda: cross_entropy.SoftmaxCrossEntropyWithLogits.kernel_fn(np, flat, flat[::-1].copy())[1],
    ]
    with np.errstate(all="ignore"):
        for call in calls:
            call()
        late_code.settle()
        quick = [call() for call in calls]
        monkeypatch.setattr(row_loops, "WIDEST", 0)
        for a, call in zip(quick, calls, strict=True):
            np.testing.assert_array_equal(a, call())
