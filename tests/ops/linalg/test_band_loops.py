"""Bands of matrices by machine code, diagonals set and taken: what masks give."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.loops import PAYS
from ebbflow.engines.native import late_code
from ebbflow.ops.linalg.band_loops import band_part, kept_bands


@pytest.fixture(autouse=True)
def code(monkeypatch):
    tf.constant(0.0) + 0.0
    monkeypatch.setattr(kept_bands, "spent", PAYS)
    kept_bands.code()
    late_code.settle()


@pytest.mark.parametrize("shape", [(5, 5), (3, 7), (7, 3), (2, 4, 6), (1, 1)])
def test_bands(shape):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    rows, columns = shape[-2:]
    k = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    for lower in range(-1, rows + 1):
        for upper in range(-1, columns + 1):
            expected = np.where(((lower < 0) | (-k <= lower)) & ((upper < 0) | (k <= upper)), x, 0)
            found = band_part(x, lower, upper)
            assert found is not None
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(tf.linalg.band_part(x, lower, upper).numpy(), expected)


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 3])
def test_one_diagonal_is_set_and_taken(k):
    x = np.random.default_rng(0).normal(size=(2, 4, 5)).astype(np.float32)
    old = np.diagonal(x, k, 1, 2)
    new = old + 10
    found = tf.linalg.set_diag(x, new, k=k).numpy()
    np.testing.assert_array_equal(tf.linalg.diag_part(x, k=k).numpy(), old)
    np.testing.assert_array_equal(tf.linalg.diag_part(found, k=k).numpy(), new)
    np.testing.assert_allclose((found != x).sum(), new.size)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
@pytest.mark.parametrize("kind", [np.float32, np.complex128])
def test_banded_triangles_are_solved(lower, adjoint, kind):
    random = np.random.default_rng(1)
    bands = (random.normal(size=(3, 6)) + 3 + (1j * random.normal(size=(3, 6)) if kind is np.complex128 else 0)).astype(
        kind
    )
    right = random.normal(size=(6, 2)).astype(kind)
    full = np.zeros((6, 6), kind)
    for i in range(3):
        for r in range(6):
            if lower and r - i >= 0:
                full[r, r - i] = bands[i, r]
            if not lower and r + i < 6:
                full[r, r + i] = bands[2 - i, r]
    x = tf.linalg.banded_triangular_solve(bands, right, lower=lower, adjoint=adjoint).numpy()
    np.testing.assert_allclose((full.conj().T if adjoint else full) @ x, right, rtol=1e-3, atol=1e-4)
