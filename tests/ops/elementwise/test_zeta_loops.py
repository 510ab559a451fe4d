"""Zeta and polygamma of many numbers: SciPy's values, of odd arguments too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import ebbflow as tf
from ebbflow.ops.elementwise import zeta_loops

ODD = np.array([1.0, 0.5, -2.0, 0.0, np.inf, np.nan, 3.0, 150.0, 1e9, 1.0000001], np.float32)


@pytest.mark.parametrize("highest", [3.0, 60.0, 200.0])
@pytest.mark.parametrize("shape", [(5000,), (71, 83)])
def test_many_numbers_are_scipys(highest, shape):
    random = np.random.default_rng(0)
    x = random.uniform(1.0001, highest, shape).astype(np.float32)
    q = np.exp(random.uniform(-5, 8, shape)).astype(np.float32)
    x.reshape(-1)[:100], q.reshape(-1)[:100] = np.repeat(ODD, 10), np.tile(ODD, 10)
    assert x.size >= zeta_loops.MANY
    found = tf.math.zeta(x, q).numpy().reshape(-1)
    alone = tf.math.zeta(x.reshape(-1)[:100], q.reshape(-1)[:100]).numpy()
    np.testing.assert_allclose(found[:100], alone, rtol=2e-7)
    with np.errstate(over="ignore"):
        wanted = special.zeta(x.astype(np.float64), q.astype(np.float64)).astype(np.float32).reshape(-1)
    np.testing.assert_allclose(found[100:], wanted[100:], rtol=2e-7)


def test_polygamma():
    x = np.random.default_rng(1).uniform(0.1, 9, 5000).astype(np.float32)
    a = (np.arange(5000) % 5).astype(np.float32)
    wanted = special.polygamma(a.astype(np.int64), x.astype(np.float64))
    np.testing.assert_allclose(tf.math.polygamma(a, x).numpy(), wanted, rtol=2e-6)
