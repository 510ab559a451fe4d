"""Special functions of float32 as machine code: polynomials fitted to SciPy's own values when the code is made.

SciPy computes these functions number by number in double precision. Here each is a few polynomials in double precision,
one for each part of its domain, in a variable in which it is smooth there (`FITS`), and a formula around them (`ROWS`);
rounded to 32 bits the results differ from SciPy's in the last bit at most. For numbers outside of a function's domain,
and where there is no code, SciPy answers. Codes are waited for.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.dtypes import DType
from ebbflow.core.loops import Loop, Single, elements, f32, f64, sqrt, v_exp, v_log
from ebbflow.core.op import Op
from ebbflow.core.registry import registry
from ebbflow.ops.parts import walked

TOLERANCE = 3e-10
HIGHEST = 30
SAMPLES = 2001


class Fit(NamedTuple):
    """A function of arrays, given SciPy's functions, and the interval on which a polynomial stands for it."""

    of: Callable[[Any, np.ndarray], np.ndarray]
    low: float
    high: float


def _from_root(name: str, power: int) -> Callable[[Any, np.ndarray], np.ndarray]:
    """Return a function of x² that a function of x is, over a power of x."""
    return lambda sp, s: getattr(sp, name)(np.sqrt(s)) / np.sqrt(s) ** power


def _far(name: str) -> Callable[[Any, np.ndarray], np.ndarray]:
    """Return a function of 1/x that is smooth far out, where a Bessel function goes as √(1/x)."""
    return lambda sp, t: getattr(sp, name)(1 / t) / np.sqrt(t)


def _entire_part(sp: Any, x: np.ndarray) -> np.ndarray:
    """Return (Ei(x) - log x - γ) / x by its series."""
    return np.sum([x ** (k - 1) / (k * math.factorial(k)) for k in range(40, 0, -1)], axis=0)


def _quantile(sp: Any, w: np.ndarray) -> np.ndarray:
    """Return erfinv(x) / x as a function of w = -log(1 - x²)."""
    x = np.sqrt(-np.expm1(-w))
    return np.where(x < 0.5, sp.erfinv(x), sp.erfcinv(np.exp(-w) / (1 + x))) / x


def _stirling(sp: Any, t: np.ndarray) -> np.ndarray:
    """Return what Stirling's formula lacks of log Γ(x), times x, as a function of t = 1 / x²."""
    x = 1 / np.sqrt(t)
    return (sp.gammaln(x) - ((x - 0.5) * np.log(x) - x + HALF_LOG_TWO_PI)) * x


HALF_LOG_TWO_PI = math.log(2 * math.pi) / 2
TINY = 1e-9
FITS = {
    "i0": Fit(_from_root("i0", 0), TINY, 64.0),
    "i1": Fit(_from_root("i1", 1), TINY, 64.0),
    "i0far": Fit(_far("i0e"), 1e-4, 1 / 8),
    "i1far": Fit(_far("i1e"), 1e-4, 1 / 8),
    "k0": Fit(lambda sp, s: sp.k0(np.sqrt(s)) + np.log(np.sqrt(s) / 2) * sp.i0(np.sqrt(s)), TINY, 4.0),
    "k1": Fit(lambda sp, s: (sp.k1(np.sqrt(s)) - np.log(np.sqrt(s) / 2) * sp.i1(np.sqrt(s))) * np.sqrt(s), TINY, 4.0),
    "k0far": Fit(_far("k0e"), 1e-3, 1 / 2),
    "k1far": Fit(_far("k1e"), 1e-3, 1 / 2),
    "ein": Fit(_entire_part, 0.0, 6.0),
    "eimid": Fit(lambda sp, t: sp.expi(1 / t) * np.exp(-1 / t) / t, 1 / 16, 1 / 6),
    "eifar": Fit(lambda sp, t: sp.expi(1 / t) * np.exp(-1 / t) / t, 1 / 100, 1 / 16),
    "dawsn": Fit(_from_root("dawsn", 1), TINY, 6.25),
    "dawsnmid": Fit(lambda sp, x: sp.dawsn(x) * x, 2.5, 5.0),
    "dawsnfar": Fit(lambda sp, t: sp.dawsn(1 / np.sqrt(t)) / np.sqrt(t), 1e-8, 1 / 25),
    "lgamma": Fit(lambda sp, x: sp.gammaln(x) / ((x - 1) * (x - 2)), 0.998, 3.001),
    "lgammafar": Fit(_stirling, 1e-4, 1 / 9),
    "quantile": Fit(_quantile, 1e-6, 5.0),
    "quantilemid": Fit(lambda sp, r: _quantile(sp, r * r), math.sqrt(5), 4.2),
    "quantilefar": Fit(lambda sp, r: _quantile(sp, r * r), 4.2, 10.3),
}
"""Polynomials; in a row's formula, `P_i0(s)` is the value of one."""


def polynomial(fit: Fit) -> list[float]:
    """Return the coefficients of the first polynomial that is near enough, in a variable that goes from -1 to 1."""
    special = importlib.import_module("scipy.special")
    chebyshev = np.polynomial.chebyshev
    middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
    seen = np.linspace(-1, 1, SAMPLES)
    wanted = fit.of(special, middle + half * seen)
    best: tuple[float, list[float]] = (math.inf, [])
    for degree in range(3, HIGHEST):
        at = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
        terms = chebyshev.cheb2poly(chebyshev.chebfit(at, fit.of(special, middle + half * at), degree))
        error = float(np.max(np.abs(np.polynomial.polynomial.polyval(seen, terms) / wanted - 1)))
        best = min(best, (error, [float(c) for c in terms]))
        if error < TOLERANCE:
            break
    return best[1]


def _written(name: str) -> str:
    """Return a polynomial as a function in Python's words."""
    fit = FITS[name]
    terms = polynomial(fit)
    value = f"{terms[-1]!r}"
    for c in reversed(terms[:-1]):
        value = f"({value} * t + {c!r})"
    middle, scale = (fit.low + fit.high) / 2, 2 / (fit.high - fit.low)
    return f"def P_{name}(x: float) -> float:\n    t = (x - {middle!r}) * {scale!r}\n    return {value}\n"


class Row(NamedTuple):
    """A function between two numbers (neither is part of it), in lines of Python of x, its size v and s = v²."""

    low: float
    high: float
    lines: str


I0_FAR = "t = 1.0 / max(v, 8.0)\nfar = P_i0far(t) * sqrt(t)"
I1_FAR = "t = 1.0 / max(v, 8.0)\nfar = P_i1far(t) * sqrt(t)"
K_FAR = "t = 1.0 / max(v, 2.0)\nfar = P_{name}far(t) * sqrt(t) * v_exp(-v)"
QUANTILE = """r = sqrt(w)
value = x * (P_quantile(min(w, 5.0)) if w < 5.0 else P_quantilemid(r) if r < 4.2 else P_quantilefar(r))
"""
SIGNED = "return -size if x < 0.0 else size"
ROWS = {
    "BesselI0": Row(-80.0, 80.0, f"{I0_FAR}\nreturn P_i0(min(s, 64.0)) if v <= 8.0 else far * v_exp(v)"),
    "BesselI0e": Row(-1e4, 1e4, f"{I0_FAR}\nreturn P_i0(min(s, 64.0)) * v_exp(-min(v, 8.0)) if v <= 8.0 else far"),
    "BesselI1": Row(
        -80.0, 80.0, f"{I1_FAR}\nsize = P_i1(min(s, 64.0)) * v if v <= 8.0 else far * v_exp(v)\n{SIGNED}"
    ),
    "BesselI1e": Row(
        -1e4, 1e4, f"{I1_FAR}\nsize = P_i1(min(s, 64.0)) * v * v_exp(-min(v, 8.0)) if v <= 8.0 else far\n{SIGNED}"
    ),
    "BesselK0": Row(
        1e-20, 80.0,
        f"{K_FAR.format(name='k0')}\ny = min(s, 4.0)\nnear = P_k0(y) - v_log(v * 0.5) * P_i0(y)\n"
        "return near if v <= 2.0 else far",
    ),
    "BesselK1": Row(
        1e-20, 80.0,
        f"{K_FAR.format(name='k1')}\ny = min(s, 4.0)\nnear = P_k1(y) / v + v_log(v * 0.5) * P_i1(y) * v\n"
        "return near if v <= 2.0 else far",
    ),
    "Expint": Row(
        1e-6, 80.0,
        "near = P_ein(min(v, 6.0)) * v + v_log(v) + 0.5772156649015329\nt = 1.0 / v\n"
        "scaled = P_eimid(max(t, 0.0625)) if v < 16.0 else P_eifar(min(t, 0.0625))\n"
        "return near if v <= 6.0 else scaled * t * v_exp(v)",
    ),
    "Dawsn": Row(
        -1e4, 1e4,
        "c = max(v, 2.5)\nfar = P_dawsnmid(min(c, 5.0)) if v < 5.0 else P_dawsnfar(1.0 / (c * c))\n"
        f"size = P_dawsn(min(s, 6.25)) * v if v <= 2.5 else far / c\n{SIGNED}",
    ),
    "Lgamma": Row(
        0.0, 1e36,
        "y = min(v, 3.0) + (1.0 if v < 1.0 else 0.0)\nnear = (y - 1.0) * (y - 2.0) * P_lgamma(y)\nl = v_log(v)\n"
        f"far = (v - 0.5) * l - v + {HALF_LOG_TWO_PI!r} + P_lgammafar(max(1.0 / max(s, 9.0), 1e-4)) / v\n"
        "return near - l if v < 1.0 else near if v <= 3.0 else far",
    ),
    "Erfinv": Row(-1.0, 1.0, f"w = -v_log((1.0 - v) * (1.0 + v))\n{QUANTILE}return value"),
    "Ndtri": Row(
        0.0, 1.0,
        f"p = x\nx = 2.0 * p - 1.0\nw = -v_log(4.0 * p * (1.0 - p))\n{QUANTILE}return value * {math.sqrt(2)!r}",
    ),
}  # fmt: skip


def scalar_function(op: str) -> Callable[..., Any]:
    """Return an op's function of one number, with its polynomials beside it."""
    row = ROWS[op]
    space: dict[str, Any] = {"sqrt": sqrt, "v_exp": v_exp, "v_log": v_log, "f32": f32, "f64": f64}
    names = [name for name in FITS if f"P_{name}(" in row.lines]
    *lines, last = row.lines.splitlines()
    body = ["x = f64(number)", "v = abs(x)", "s = v * v", *lines, f"return f32({last.removeprefix('return ')})"]
    text = "def value_of(number: Single) -> Single:\n" + "".join(f"    {line}\n" for line in body)
    for source in (*map(_written, names), text):
        local: dict[str, Any] = {}
        exec(source, {"Single": Single}, local)  # texts of ours
        ((name, function),) = local.items()
        function = type(function)(function.__code__, space, name)
        function.__annotations__ = {"number": "Single", "return": "Single"}
        function.source = source
        space[name] = function
    made: Callable[..., Any] = space["value_of"]
    return made


@functools.cache
def loop_of(op: str) -> Loop:
    """Return the loop over the elements of an array of float32 that an op is."""
    return elements(scalar_function(op), waits=True)


def fitted_form(op: str, dtype: DType, plain: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return a kernel of large arrays, by `plain` outside of the domain and where there is no code."""
    if dtype is not dtypes.float32:
        return None
    row = ROWS[op]

    def kernel(x: Any) -> Any:
        outside, given = None, x
        if not (x.min() > row.low and x.max() < row.high):
            outside = ~((x > row.low) & (x < row.high))
            given = np.where(outside, np.float32((row.low + row.high) / 2), x)
        result = walked(loop_of(op), [given], np.dtype(np.float32))
        if result is None:
            return plain(x)
        if outside is not None:
            result[outside] = plain(x[outside])
        return result

    return kernel


def _attach(op: Op) -> None:
    op.large_fn = functools.partial(fitted_form, op.name)


for _name in ROWS:
    registry.when_declared(_name, _attach)
