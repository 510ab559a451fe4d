"""Loops written in Python: their machine code gives what Python gives, and what cannot be written is refused."""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np
import pytest

from ebbflow import ops
from ebbflow.core.loops import (
    F16,
    F32,
    F64,
    I32,
    I64,
    U8,
    Loop,
    Single,
    Word,
    bits_of,
    elements,
    f32,
    f64,
    floor,
    loop,
    of_bits,
    rint,
    sqrt,
    u64,
    v_tanh,
    waiting_loop,
)
from ebbflow.engines import large_calls  # noqa: F401  (who makes code offers it)
from ebbflow.engines.native import late_code, library, loop_text

LIMIT = 7


def made(function: Loop):
    """Return the code of a loop, once it is there."""
    function.code()
    late_code.settle()
    code = function.code()
    assert code is not None
    return code


def all_loops() -> list[tuple[str, Loop]]:
    found = {}
    for info in pkgutil.walk_packages(ops.__path__, "ebbflow.ops."):
        if info.name.endswith("loops"):
            for name, value in vars(importlib.import_module(info.name)).items():
                if isinstance(value, Loop):
                    found[name] = value
    return list(found.items())


@pytest.mark.parametrize("function", [pytest.param(f, id=name) for name, f in all_loops()])
def test_every_loop_of_the_package_becomes_code(function):
    library._optimised(loop_text.text(function))


@loop
def everything(x: F32, k: I32, b: U8, n: int, scale: float, out: F64, counts: I64) -> int:
    """One of each thing that may be written."""
    total = 0
    for i in range(n):
        if k[i] == 3:
            continue
        if (i > 40 and k[i] < 0) or b[i] == 255:
            break
        value = f64(x[i]) * scale if not k[i] > LIMIT else -1.5
        out[i] = max(value, 0.25) + sqrt(f64(abs(x[i])))
        total += k[i] * 2 - min(int(b[i]), 9)
        at, other = i, n - i
        counts[i] = at * other + int(x[i] > 0.5)
    back = 0
    for i in range(n - 1, 0, -3):
        back += i // 2 % 5
    while back > LIMIT:
        back = back - (back >> 1 & 3) - 1
    return total * 1000 + back ^ twice(n) << 1 | 1


def twice(n: int) -> int:
    return n + n


@pytest.mark.parametrize("seed", range(4))
def test_code_gives_what_python_gives(seed):
    random = np.random.RandomState(seed)
    n = 60
    x, k = random.randn(n).astype(np.float32), random.randint(-2, 12, n).astype(np.int32)
    b = random.randint(0, 256, n).astype(np.uint8)
    answers = []
    for function in (everything.function, made(everything)):
        out, counts = np.zeros(n), np.zeros(n, np.int64)
        answers.append((function(x, k, b, n, 1.5, out, counts), out.tolist(), counts.tolist()))
    assert answers[0] == answers[1]


@loop
def wrapped(n: int) -> Word:
    """Numbers without a sign wrap round."""
    x = u64(n) * 0x9AE16A3B2F90404F
    return (x >> 47 ^ x) // 3 % 1000003


def test_numbers_without_a_sign():
    x = 12345 * 0x9AE16A3B2F90404F % 2**64
    assert made(wrapped)(12345) == (x >> 47 ^ x) // 3 % 1000003


@loop
def mixes(x: F32, n: int) -> float:
    return x[0] * n


@loop
def calls(n: int) -> int:
    return sorted(n)


@loop
def changes(n: int) -> int:
    m = n
    m = 1.5
    return m


@loop
def rounds(x: F32, n: int) -> float:
    return f64(f32(n) + x[0])


@pytest.mark.parametrize("function", [mixes, calls, changes], ids=lambda f: f.function.__name__)
def test_what_cannot_be_written_is_refused(function):
    with pytest.raises(TypeError):
        loop_text.text(function)


def test_single_precision_rounds_as_numpy_does():
    x = np.array([0.1], np.float32)
    assert made(rounds)(x, 16777217) == float(np.float32(16777217) + x[0])


@waiting_loop
def halves(x: F16, n: int, out: F32, words: I64) -> None:
    """What was added for large arrays: 16 bits, rounding, bits, the engine's own functions."""
    for i in range(n):
        words[i] = bits_of(x[i])
        out[i] = rint(x[i] * f32(3.0)) + floor(x[i]) + v_tanh(of_bits(bits_of(x[i])))


def test_sixteen_bits_and_the_engines_own_functions():
    x = np.random.RandomState(0).randn(37).astype(np.float16)
    out, words = np.zeros(37, np.float32), np.zeros(37, np.int64)
    made(halves)(x, 37, out, words)
    wide = x.astype(np.float32)
    np.testing.assert_array_equal(words, wide.view(np.int32))
    np.testing.assert_allclose(out, np.rint(wide * 3) + np.floor(wide) + np.tanh(wide), rtol=1e-6, atol=1e-6)


def test_loops_over_elements():
    squares = elements(square, "F16", "F32")
    x, out = np.arange(20, dtype=np.float16), np.zeros(20, np.float32)
    made(squares)(x, out, 3, 17)
    np.testing.assert_array_equal(out[3:17], np.arange(3, 17) ** 2)
    assert not out[:3].any() and not out[17:].any()


def square(x: Single) -> Single:
    return x * x
