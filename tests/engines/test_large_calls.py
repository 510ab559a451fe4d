"""Costly functions of large arrays are machine code in single calls too; everything else about them stays."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.registry import registry
from ebbflow.engines.large_calls import FUNCTIONS
from ebbflow.engines.native import late_code
from ebbflow.engines.native.large_loops import PART, LargeFunction
from ebbflow.ops.declare import LARGE

INSIDE = {
    "Acos": (-1, 1),
    "Asin": (-1, 1),
    "Atanh": (-1, 1),
    "Acosh": (1, 50),
    "Log": (0, 50),
    "Log1p": (-1, 50),
    "Erfc": (-4, 4),
}


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.delenv("EBBFLOW_ENGINES", raising=False)


def made(name, dtype):
    code = LargeFunction(FUNCTIONS[name], dtype)
    code(np.zeros(LARGE, dtype.np))
    late_code.settle()
    assert code(np.zeros(LARGE, dtype.np)) is not None
    return code


def numbers(name, dtype, *shape):
    low, high = INSIDE.get(name, (-8, 8))
    return np.random.default_rng(0).uniform(low, high, shape).astype(dtype.np)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_are_the_kernels_to_a_few_ulps(name, dtype):
    x = numbers(name, dtype, 3, LARGE // 2 + 7)
    x[0, :4] = 0.0, -0.0, np.inf, np.nan
    precise = np.vectorize(math.erfc) if name == "Erfc" else partial(registry[name].kernel_fn, np)  # scipy's is not
    expected = np.asarray(precise(x.astype(np.float64)))
    found = made(name, dtype)(x)
    assert found.dtype == dtype.np and found.shape == x.shape
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    with np.errstate(all="ignore"):
        near = np.abs(found - expected) <= 8 * np.spacing(np.abs(expected).astype(dtype.np)).astype(np.float64)
    assert np.all(near | np.isnan(expected) | (found == expected))


@pytest.mark.parametrize("size", [LARGE, LARGE + 1, PART * 5 - 1, PART * 5 + 1, 1_000_003])
def test_every_element_is_computed_once_whatever_the_size(size):
    x = numbers("Tanh", tf.float32, size)
    np.testing.assert_allclose(made("Tanh", tf.float32)(x), np.tanh(x), rtol=2e-6)


def test_arrays_with_gaps_and_small_ones_are_left_to_numpy():
    code = made("Tanh", tf.float32)
    x = numbers("Tanh", tf.float32, 2, 2 * LARGE)
    assert code(x[:, ::2]) is None
    assert code(x.T) is None
    small = tf.constant(x[0, : LARGE - 1])
    assert tf.tanh(small).numpy().tobytes() == np.tanh(small.numpy()).tobytes()
    gaps = tf.transpose(tf.constant(x))
    assert tf.tanh(gaps).numpy().tobytes() == np.tanh(gaps.numpy()).tobytes()


def test_the_public_function_uses_it_and_its_gradient_is_right():
    x = tf.constant(numbers("Sigmoid", tf.float32, 300, 300))
    for _ in range(2):
        tf.sigmoid(x)
        late_code.settle()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sigmoid(x)
    exact = 1 / (1 + np.exp(-x.numpy().astype(np.float64)))
    np.testing.assert_allclose(y, exact, rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(y, x), exact * (1 - exact), rtol=1e-5, atol=1e-7)


def test_several_threads_call_it_at_once():
    code = made("Exp", tf.float64)
    given = [numbers("Exp", tf.float64, LARGE + i) for i in range(6)]
    wrong = []

    def work(x):
        for _ in range(10):
            if not np.allclose(code(x), np.exp(x), rtol=1e-14):
                wrong.append(len(x))

    workers = [threading.Thread(target=work, args=[x]) for x in given]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_a_forked_process_goes_on():
    code = """
import os, numpy as np, ebbflow as tf
from ebbflow.engines.native import late_code
x = tf.ones([1 << 18])
for _ in range(3):
    tf.tanh(x); late_code.settle()
child = os.fork()
if child == 0:
    os._exit(0 if np.allclose(tf.tanh(x), np.tanh(1.0)) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)


def test_engines_may_be_hidden():
    code = """
import sys, numpy as np, ebbflow as tf
x = tf.constant(np.linspace(-3, 3, 1 << 18, dtype=np.float32))
for _ in range(3):
    assert tf.tanh(x).numpy().tobytes() == np.tanh(x.numpy()).tobytes()
assert "llvmlite" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, env={**os.environ, "EBBFLOW_ENGINES": "host"})
