"""Permutations turned round by machine code, and what is none."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.loops import PAYS
from ebbflow.engines.native import late_code
from ebbflow.ops.arrays.permutation_loops import LOOPS, inverse_of


@pytest.fixture(autouse=True, params=[np.int32, np.int64])
def kind(request, monkeypatch):
    tf.constant(0.0) + 0.0
    loop = LOOPS[np.dtype(request.param)]
    monkeypatch.setattr(loop, "spent", PAYS)
    loop.code()
    late_code.settle()
    return request.param


@pytest.mark.parametrize("count", [0, 1, 10_000])
def test_inverses(kind, count):
    x = np.random.default_rng(0).permutation(count).astype(kind)
    assert inverse_of(x) is not None
    np.testing.assert_array_equal(tf.math.invert_permutation(x).numpy(), np.argsort(x))


@pytest.mark.parametrize("wrong", [[0, 0], [0, 2], [-1, 0], [1, 1, 2]])
def test_what_is_no_permutation(kind, wrong):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.math.invert_permutation(np.array(wrong, kind))
