"""Functions of single numbers as machine code, for large arrays of 32 and 16 bits (`core.loops.elements`).

Results are NumPy's to the last bit, or within a few units of it where a function is one of the engine's own (`WAITING`:
those wait for their code). Numbers of 16 bits are computed in 32 and rounded once. Which ops they serve says `TABLE`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes, memory
from ebbflow.core.dtypes import DType
from ebbflow.core.loops import F32, I32, U8, Loop, Single, elements, f32, f64, fmod, loop, sqrt, waiting_loop
from ebbflow.core.loops import v_atan2 as v_atan2
from ebbflow.core.loops import v_cos as v_cos
from ebbflow.core.loops import v_exp as v_exp
from ebbflow.core.loops import v_log as v_log
from ebbflow.core.loops import v_log1p as v_log1p
from ebbflow.core.loops import v_pow as v_pow
from ebbflow.core.loops import v_sin as v_sin
from ebbflow.core.loops import v_tanh as v_tanh
from ebbflow.core.op import Op
from ebbflow.core.registry import registry
from ebbflow.ops.parts import SHARE, in_shares, walked

LARGE = 1 << 13
"""Elements from which on code is worth asking for."""

# --- of one number ----------------------------------------------------------------------------------------------------


def relu(x: Single) -> Single:
    return x if x != x or x > f32(0.0) else f32(0.0)


def relu6(x: Single) -> Single:
    y = x if x != x or x > f32(0.0) else f32(0.0)
    return f32(6.0) if y > f32(6.0) else y


def softsign(x: Single) -> Single:
    return x / (f32(1.0) + abs(x))


def sign(x: Single) -> Single:
    return f32(1.0) if x > f32(0.0) else f32(-1.0) if x < f32(0.0) else x if x != x else f32(0.0)


def root(x: Single) -> Single:
    return sqrt(x)


def rsqrt(x: Single) -> Single:
    return f32(1.0) / sqrt(x)


def reciprocal(x: Single) -> Single:
    return f32(1.0) / x


def tanh(x: Single) -> Single:
    return v_tanh(x)


def exp(x: Single) -> Single:
    return v_exp(x)


def sigmoid(x: Single) -> Single:
    return f32(1.0) / (f32(1.0) + v_exp(-x))


def same(x: Single) -> Single:
    return x


# --- of two -----------------------------------------------------------------------------------------------------------


def add(x: Single, y: Single) -> Single:
    return x + y


def subtract(x: Single, y: Single) -> Single:
    return x - y


def multiply(x: Single, y: Single) -> Single:
    return x * y


def divide(x: Single, y: Single) -> Single:
    return x / y


def divide_no_nan(x: Single, y: Single) -> Single:
    value = x / y
    return f32(0.0) if y == f32(0.0) else value


def multiply_no_nan(x: Single, y: Single) -> Single:
    value = x * y
    return f32(0.0) if y == f32(0.0) else value


def xdivy(x: Single, y: Single) -> Single:
    value = x / y
    return f32(0.0) if x == f32(0.0) else value


def xlogy(x: Single, y: Single) -> Single:
    value = x * v_log(y)
    return f32(0.0) if x == f32(0.0) else value


def xlog1py(x: Single, y: Single) -> Single:
    value = x * v_log1p(y)
    return f32(0.0) if x == f32(0.0) else value


def atan2(y: Single, x: Single) -> Single:
    return v_atan2(y, x)


def power(x: Single, y: Single) -> Single:
    return v_pow(x, y)


def floor_mod(x: Single, y: Single) -> Single:
    if x >= f32(0.0) and x < y:
        return x + f32(0.0)
    rest = f32(fmod(f64(x), f64(y)))
    if rest == f32(0.0):
        return f32(0.0) if y > f32(0.0) else f32(-0.0)
    return rest + y if (rest < f32(0.0)) != (y < f32(0.0)) else rest


WAITING = (tanh, exp, sigmoid, xlogy, xlog1py, atan2, power)

TABLE: dict[str, Callable[..., Any]] = {
    "Relu": relu, "Relu6": relu6, "Softsign": softsign, "Sign": sign, "Sqrt": root, "Rsqrt": rsqrt,
    "Reciprocal": reciprocal, "Inv": reciprocal, "DivNoNan": divide_no_nan, "MulNoNan": multiply_no_nan,
    "Xdivy": xdivy, "Xlogy": xlogy, "Xlog1py": xlog1py, "Atan2": atan2, "Pow": power, "FloorMod": floor_mod,
    "Tanh": tanh, "Exp": exp, "Sigmoid": sigmoid,
    "AddV2": add, "Add": add, "Sub": subtract, "Mul": multiply, "RealDiv": divide, "Div": divide,
}  # fmt: skip
"""Ops, and the function of single numbers that computes them."""

SERVED = frozenset({"Tanh", "Exp", "Sigmoid"})
"""Those that an engine has a form of its own for: it asks for the form of other dtypes (`other_form`)."""
HALF_ONLY = SERVED | {"AddV2", "Add", "Sub", "Mul", "RealDiv", "Div"}
"""Those that others compute better for 32 bits."""


@functools.cache
def loop_of(op: str, array: str) -> Loop:
    """Return the loop over the elements of arrays of a kind (F32 or F16) that an op is."""
    return elements(TABLE[op], array, waits=TABLE[op] in WAITING)


def loop_form(op: str, dtype: DType, plain: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return a kernel of large arrays of 16 or 32 bits by a loop, and by `plain` where there is no code for it."""
    if dtype is not dtypes.float16 and (dtype is not dtypes.float32 or op in HALF_ONLY):
        return None
    walk = loop_of(op, "F16" if dtype is dtypes.float16 else "F32")

    def kernel(*arrays: Any) -> Any:
        result = walked(walk, arrays, dtype.np)
        return plain(*arrays) if result is None else result

    return kernel


def other_form(name: str, dtype: DType, plain: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return the same for a function that an engine has for other dtypes, by its name there."""
    if dtype is dtypes.complex64 and name == "exp":
        return lambda z: plain(z) if (result := complex_exp(z)) is None else result
    op = name.capitalize()
    return loop_form(op, dtype, plain) if op in TABLE else None


def _attach(op: Op) -> None:
    op.large_fn = functools.partial(loop_form, op.name)


for _name in TABLE:
    if _name not in SERVED:
        registry.when_declared(_name, _attach)


def cast_half(x: np.ndarray, dtype: np.dtype) -> np.ndarray | None:
    """Return numbers of 16 bits with 32, or the other way round; None where NumPy is to do it."""
    loop = CASTS.get((x.dtype, dtype))
    return None if loop is None or x.size < LARGE else walked(loop, [x], dtype)


CASTS = {
    (np.dtype("f4"), np.dtype("f2")): elements(same, "F32", "F16"),
    (np.dtype("f2"), np.dtype("f4")): elements(same, "F16", "F32"),
}


@loop
def chosen(condition: U8, x: I32, y: I32, out: I32, begin: int, end: int) -> None:
    """Choose between two numbers of 32 bits, whatever they mean."""
    for i in range(begin, end):
        first, second = x[i], y[i]
        out[i] = first if condition[i] != 0 else second


@loop
def between_limits(x: F32, low: Single, high: Single, out: F32, begin: int, end: int) -> None:
    """Take the lesser of each number and one limit, then the greater of that and the other."""
    for i in range(begin, end):
        y = high if high < x[i] or high != high else x[i]
        out[i] = low if low > y or low != low else y


def clipped(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
    """Return numbers within two limits; None where NumPy is to do it."""
    single = x.dtype == np.float32 and x.size >= LARGE and x.flags.c_contiguous and not (low.ndim or high.ndim)
    code = between_limits.code() if single else None
    if code is None:
        return None
    limits, out = (float(low), float(high)), memory.empty(x.shape, x.dtype)
    in_shares(lambda begin, end: code(x, *limits, out, begin, end), out.size, SHARE)
    return out


@waiting_loop
def complex_exps(z: F32, out: F32, begin: int, end: int) -> None:
    """Raise e to complex numbers, which lie as pairs."""
    for i in range(begin, end):
        size = v_exp(z[2 * i])
        angle = z[2 * i + 1]
        out[2 * i] = size * v_cos(angle)
        out[2 * i + 1] = size * v_sin(angle)


def complex_exp(z: np.ndarray) -> np.ndarray | None:
    """Return e to the power of complex numbers of 2 x 32 bits; None where NumPy is to do it: near infinity, too."""
    pairs = z.view(np.float32) if z.flags.c_contiguous and z.ndim else None
    if pairs is None or not (np.abs(pairs).max() < EXP_REACHES):
        return None
    code = complex_exps.code()
    if code is None:
        return None
    out = memory.empty(z.shape, z.dtype)
    in_shares(lambda begin, end: code(z, out, begin, end), out.size, SHARE)
    return out


EXP_REACHES = 87.0
"""Numbers whose exponential has all its bits."""


def select(condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """Return one of two arrays, element by element; None where NumPy is to do it."""
    code = chosen.code() if condition.size >= LARGE and x.dtype.itemsize == 4 and x.dtype == y.dtype else None
    arrays = (condition, x, y)
    if code is None or not all(a.shape == condition.shape and a.flags.c_contiguous for a in arrays):
        return None
    out = memory.empty(x.shape, x.dtype)
    in_shares(lambda begin, end: code(*arrays, out, begin, end), out.size, SHARE)
    return out
