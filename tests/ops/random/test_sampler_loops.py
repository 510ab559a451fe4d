"""Numbers drawn until they are accepted are the same by machine code as by NumPy, whatever the parameters."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.loops import PAYS
from ebbflow.engines.native import late_code
from ebbflow.ops import parts
from ebbflow.ops.random import distributions, sampler_loops, samplers
from ebbflow.ops.random.philox import Source

SOURCES = [Source(77, 5), Source(2**64 - 3, (9 << 64) + 2**64 - 700)]  # the second one's counter runs over


@pytest.fixture(params=[1, 3])
def code(request, monkeypatch):
    monkeypatch.setattr(parts.threads, "count", lambda: request.param)
    tf.constant(0.0) + 0.0

    def choose(loop, wanted):
        loop.code()
        late_code.settle()
        monkeypatch.setattr(loop, "spent", PAYS if wanted else -(1 << 60))

    return choose


def both(code, loop, call):
    code(loop, False)
    expected = call()
    code(loop, True)
    assert loop.worth(0) is not None
    found = call()
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


RATES = np.array([0.0, 1e-6, 0.3, 3.0, 9.99, 10.0, 11.5, 60.0, 1e5, np.inf, np.nan])
CASES = {
    "gamma": (samplers.gamma, [np.array([1e-3, 0.5, 1.0, 1.5, 2.0, 30.0, 1e6])], 256),
    "gamma of no shape": (samplers.gamma, [np.array([2.0])], 256),
    "poisson": (samplers.poisson, [RATES[:-2], np.full(9, 2.0**31 - 1)], 256),
    "poisson up to 20": (samplers.poisson, [np.array([12.0, 4.0]), np.full(2, 20.0)], 256),
    "poisson of what is not finite": (samplers.poisson, [RATES, np.full(11, 1e30)], 256),
    "binomial": (
        samplers.binomial,
        [np.array([10.0, 0, -1, 30, 400, 1e6, 5]), np.array([0.5, 0.5, 0.1, 0.01, 0.5, 0.3, np.nan]),
         np.array([0, 0, 0, 0, 1, 1, 0.0])],
        np.array([42, 42, 42, 42, 256, 256, 42]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("case", CASES)
def test_numbers_are_the_same(code, case, source):
    sampler, parameters, blocks = CASES[case]
    both(code, sampler.loop, lambda: samplers.sampled(source, 1300, sampler, *parameters, blocks=blocks))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("count", [0, 1, 6, 40_003])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_truncated_normal_numbers_are_the_same(code, source, count, dtype):
    both(code, sampler_loops.truncated_normals, lambda: distributions.truncated_normal(source, count, dtype))


@pytest.mark.parametrize("rows, classes, samples", [(1, 1, 1), (7, 5, 3), (40_000, 3, 1), (2, 300, 500)])
def test_categories_are_the_same(code, rows, classes, samples):
    random = np.random.default_rng(0)
    logits = (random.normal(size=(rows, classes)) * 5).astype(np.float32)
    logits[0], logits[-1, -1], logits[rows // 2, 0] = np.nan, np.inf, -np.inf
    u = random.random((rows, samples))
    both(code, sampler_loops.categories, lambda: samplers.categories(logits, u))
