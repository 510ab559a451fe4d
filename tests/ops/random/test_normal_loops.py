"""Normal numbers by machine code are those by NumPy, bit for bit, however many threads make them."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.loops import PAYS
from ebbflow.engines.native import late_code
from ebbflow.ops import parts
from ebbflow.ops.random import distributions
from ebbflow.ops.random.normal_loops import pairs_of_normals
from ebbflow.ops.random.philox import Source


@pytest.fixture
def code(monkeypatch):
    tf.constant(0.0) + 0.0
    pairs_of_normals.code()
    late_code.settle()
    return lambda wanted: monkeypatch.setattr(pairs_of_normals, "spent", PAYS if wanted else -(1 << 60))


def test_words_become_the_same_numbers(code):
    words = np.random.default_rng(0).integers(0, 1 << 32, (60_000, 4), dtype=np.uint32)
    words[0], words[1], words[2] = 0, 0xFFFFFFFF, 1
    code(False)
    expected = distributions.normals(words)
    code(True)
    np.testing.assert_array_equal(distributions.normals(words).view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [7, 10_001, 150_003])
def test_streams_are_the_same(code, count, threads, monkeypatch):
    monkeypatch.setattr(parts.threads, "count", lambda: threads)
    source = Source(77, 5)
    code(False)
    expected = distributions.normal(source, count, np.float32)
    code(True)
    found = distributions.normal(source, count, np.float32)
    assert found.shape == (count,)
    np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))
