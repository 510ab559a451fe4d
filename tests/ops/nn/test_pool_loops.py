"""Pools by machine code give what NumPy gives, to the last bit and place."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.loops import PAYS, Loop
from ebbflow.engines.native import late_code
from ebbflow.ops.nn import pool_loops


def image(*shape: int) -> np.ndarray:
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(np.float32)
    x[0, 0, 0], x[-1, -1, -1], x[0, 1] = np.nan, -np.inf, -0.0
    return x


CALLS = {
    "argmax": lambda x: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME"),
    "argmax of few": lambda x: tf.nn.max_pool_with_argmax(x, [3, 2], [1, 2], "VALID", output_dtype=tf.int32),
    "argmax of batches": lambda x: tf.nn.max_pool_with_argmax(x, 3, 2, "SAME", include_batch_in_index=True),
    "fractional": lambda x: tf.nn.fractional_max_pool(x, [1, 1.4, 1.7, 1], seed=3),
    "overlapping": lambda x: tf.nn.fractional_max_pool(x, [1, 1.4, 1.2, 1], overlapping=True, seed=3),
    "pseudo-random": lambda x: tf.nn.fractional_max_pool(x, [1, 2.0, 1.5, 1], pseudo_random=True, seed=3),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("shape", [(2, 9, 7, 3), (1, 40, 31, 5), (3, 4, 4, 1)])
def test_code_gives_what_numpy_gives(call, shape, monkeypatch):
    x = tf.constant(image(*shape))
    loops = [value for value in vars(pool_loops).values() if isinstance(value, Loop)]
    for one in loops:
        one.code()
    late_code.settle()
    results = []
    for spent in (-(1 << 60), PAYS):
        for one in loops:
            monkeypatch.setattr(one, "spent", spent)
        monkeypatch.setattr("ebbflow.ops.nn.fractional_pool.MANY", 1 << 60)
        results.append([t.numpy() for t in CALLS[call](x)])
    for by_numpy, by_code in zip(*results, strict=True):
        assert by_numpy.dtype == by_code.dtype
        np.testing.assert_array_equal(by_code, by_numpy)
