"""Teams of threads, and what they do on a machine that others use."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import symbols, threads
from ebbflow.engines.native.kernel import Kernel
from tests.engines.native.regions import region
from tests.machine import ONEDNN

pytestmark = ONEDNN
R = np.random.RandomState(0)
FOREVER = 2**62


def array(*dims):
    return R.randn(*dims).astype("f")


CASES = {
    "element by element": (lambda x: tf.tanh(x) * x - 1.0, [array(300_001)]),
    "sums of columns": (lambda x: [tf.reduce_sum(x, 0), tf.reduce_max(x * 2.0, 0)], [array(900, 333)]),
    "a sum of all": (lambda x: tf.reduce_sum(x * x), [array(700, 500)]),
    "a product": (tf.matmul, [array(16, 500), array(500, 640)]),
}


@pytest.fixture
def two(monkeypatch):
    """Have two threads, and nobody be late."""
    monkeypatch.setattr(threads, "count", lambda: 2)
    symbols.busy[()] = 0
    yield
    symbols.busy[()] = 0


def results(kernel, flow, arrays):
    outputs = [np.empty(v.dims, v.dtype.np) for v in flow.outputs]
    assert kernel.call(*arrays, *outputs)
    return outputs


@pytest.mark.parametrize("name", CASES)
def test_one_thread_gives_the_bits_of_a_team(two, name):
    fn, arrays = CASES[name]
    flow = region(fn, *arrays)
    kernel = Kernel(flow)
    together = results(kernel, flow, arrays)
    symbols.busy[()] = FOREVER
    for one, several in zip(results(kernel, flow, arrays), together, strict=True):
        np.testing.assert_array_equal(one, several)
    assert symbols.busy == FOREVER  # who works alone is never late


def test_a_team_that_is_late_is_not_called_for_a_while(two, monkeypatch):
    fn, arrays = CASES["element by element"]
    flow = region(fn, *arrays)
    results(Kernel(flow), flow, arrays)  # in the team's time
    monkeypatch.setattr(threads, "PATIENCE", 0)
    monkeypatch.setattr(threads, "SLOWEST", 0)
    hasty = Kernel(flow)
    symbols.busy[()] = 0
    results(hasty, flow, arrays)
    until = int(symbols.busy)
    assert until > threads.REST
    results(hasty, flow, arrays)
    assert symbols.busy == until
