"""Segments folded by machine code are those that NumPy folds, NaNs and empty segments included."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import late_code
from ebbflow.ops.reduce.segment_loops import FOLDS

IDS = np.sort(np.random.default_rng(0).integers(0, 60, 500))
IDS = IDS[IDS % 7 != 3]


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize("tail", [(), (1,), (10,), (3, 2)])
@pytest.mark.parametrize("spoilt", [False, True])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_code_folds_what_numpy_folds(name, tail, spoilt, kind, monkeypatch):
    data = np.random.default_rng(2).normal(size=(len(IDS), *tail)).astype(np.float32)
    if spoilt:
        data[::17], data[5:90:11], data[1:60:9] = np.nan, -np.inf, np.inf
    for fold in FOLDS.values():
        fold.code()
    late_code.settle()
    results = []
    for many in (1 << 60, 0):
        monkeypatch.setattr("ebbflow.ops.reduce.segment_loops.MANY", many)
        results.append(getattr(tf.math, f"segment_{name}")(data, IDS.astype(kind)).numpy())
    if name in ("sum", "mean"):  # of 64 bits, not of 32
        np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5)
    else:
        np.testing.assert_array_equal(*results)
