"""Large arrays of 16 and 32 bits by machine code: NumPy's numbers, or within a few units of the last place."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.registry import registry
from ebbflow.engines.native import late_code
from ebbflow.ops.elementwise import element_loops
from ebbflow.ops.elementwise.element_loops import LARGE, TABLE, WAITING, loop_of
from ebbflow.ops.parts import walked

POSITIVE = ("Sqrt", "Rsqrt", "Pow", "Xlogy", "Xlog1py")
ODD = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 1.0, -1.0], np.float32)


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.delenv("EBBFLOW_ENGINES", raising=False)


def numbers(op, dtype):
    random = np.random.default_rng(3)
    count = TABLE[op].__code__.co_argcount
    arrays = [
        random.uniform(0.01 if op in POSITIVE else -4, 4, LARGE + 64 + 3).astype(np.float32) for _ in range(count)
    ]
    if count == 1:
        arrays[0][: ODD.size] = ODD
    else:
        arrays[0][:64], arrays[1][:64] = np.repeat(ODD, 8), np.tile(ODD, 8)
    return [a.astype(dtype) for a in arrays]


@pytest.mark.parametrize("array", ["F32", "F16"])
@pytest.mark.parametrize("op", TABLE)
def test_numbers_are_the_kernels(op, array):
    dtype = np.dtype(np.float32 if array == "F32" else np.float16)
    loop = loop_of(op, array)
    tf.constant(0.0) + 0.0
    loop.code()
    late_code.settle()
    arrays = numbers(op, dtype)
    found = walked(loop, arrays, dtype)
    with np.errstate(all="ignore"):
        expected = np.asarray(registry[op].kernel_fn(np, *arrays))
    assert found is not None and found.dtype == dtype
    if TABLE[op] in WAITING:
        wide, exact = found.astype(np.float64), expected.astype(np.float64)
        np.testing.assert_allclose(wide, exact, rtol=2.0**-21 if array == "F32" else 2.0**-10, atol=1e-44)
    else:
        np.testing.assert_array_equal(found, expected)


def test_public_functions_of_large_halves_take_the_loops():
    x = tf.cast(tf.linspace(-3.0, 3.0, LARGE + 1), tf.float16)
    for call in (lambda: x + x, lambda: tf.multiply(x, x), lambda: tf.tanh(x), lambda: tf.cast(x, tf.float32)):
        first = call().numpy()
        late_code.settle()
        np.testing.assert_array_equal(first, call().numpy())


def test_every_op_of_the_table_is_attached():
    assert all(registry[op].large_fn is not None for op in TABLE)


def test_choosing_between_large_arrays():
    condition = np.random.default_rng(0).uniform(size=(3, LARGE)) < 0.5
    for dtype in (np.float32, np.int32, np.uint32, np.float64):
        x, y = np.arange(3 * LARGE).reshape(3, -1).astype(dtype), -np.ones((3, LARGE)).astype(dtype)
        element_loops.select(condition, x, y)
        late_code.settle()
        expected = np.where(condition, x, y)
        np.testing.assert_array_equal(tf.where(condition, x, y).numpy(), expected)
    assert tf.where(condition, 1.0, 2.0).shape == condition.shape


def test_complex_exponentials():
    random = np.random.default_rng(0)
    z = (random.uniform(-3, 3, LARGE) + 1j * random.uniform(-30, 30, LARGE)).astype(np.complex64)
    np.testing.assert_allclose(tf.exp(z).numpy(), np.exp(z.astype(np.complex128)), rtol=1e-6)
    z[5] = complex(np.inf, 1.0)
    z[6] = complex(100.0, 0.0)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(tf.exp(z).numpy(), np.exp(z))
