"""Special functions: the error function, gamma and its kin, Bessel functions, zeta, and a few integrals.

Arrays are computed by SciPy (by `jax.scipy` where XLA compiles), 16-bit floats in float32; SciPy is imported when the
first of these functions runs. Gradients are rows like everywhere.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.convert import convert, operand
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import merge_dims
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import (
    FLAT,
    binary,
    constant_like,
    dense,
    in_float32,
    quick_binary,
    quick_unary,
    raw,
    reduce_to,
    show,
    unary,
)
from ebbflow.ops.elementwise import fitted_loops  # noqa: F401  (the large forms of some rows)
from ebbflow.ops.elementwise.unary import exp, log, square
from ebbflow.ops.elementwise.zeta_loops import quick_zeta
from ebbflow.ops.parts import in_parts


@functools.cache
def scipy_function(library: str, name: str) -> Callable[..., Any]:
    """Return a special function that goes with the array library."""
    found = importlib.import_module("jax.scipy.special" if library != "numpy" else "scipy.special")
    return getattr(found, name)


def special(name: str, jax_name: str | None = None) -> Callable[..., Any]:
    """Return the kernel that calls SciPy's function `name`."""

    def kernel(xp: Any, *arrays: Any) -> Any:
        plain = xp is np
        return scipy_function(xp.__name__, name if plain else jax_name or name)(*arrays)

    return in_float32(kernel)


# --- the error function -----------------------------------------------------------------------------------------------

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
_HALF_ROOT_PI = math.sqrt(math.pi) / 2
_ROOT_TWO_PI = math.sqrt(2 * math.pi)

Erf = unary(
    "Erf", special("erf"), types="floats",
    backward=lambda g, x, y: g * constant_like(_TWO_OVER_ROOT_PI, x) * exp(-square(x)),
    facts="one_core=10",
)  # fmt: skip
Erfc = unary(
    "Erfc", special("erfc"), types="floats",
    backward=lambda g, x, y: g * constant_like(-_TWO_OVER_ROOT_PI, x) * exp(-square(x)),
    facts="one_core=10",
)  # fmt: skip


def _erfinv(xp: Any, x: Any) -> Any:
    """SciPy thinks for ten microseconds about each number that has no such inverse."""
    plain = scipy_function(xp.__name__, "erfinv")
    if xp is not np:
        return plain(x)
    none = ~(np.abs(x) <= 1)
    return np.where(none, x.dtype.type(np.nan), plain(np.where(none, x.dtype.type(0), x)))


Erfinv = unary(
    "Erfinv", in_float32(_erfinv), lambda x, y: _HALF_ROOT_PI * exp(square(y)), types="floats", facts="one_core=10"
)
Ndtri = unary("Ndtri", special("ndtri"), lambda x, y: _ROOT_TWO_PI * exp(square(y) / 2.0), types="floats")

# --- gamma ------------------------------------------------------------------------------------------------------------


def _digamma(xp: Any, x: Any) -> Any:
    value = scipy_function(xp.__name__, "digamma")(x)
    return xp.where((x <= 0) & (x == xp.floor(x)), value.dtype.type(np.nan), value)  # its poles, where SciPy says -inf


def _lgamma(xp: Any, x: Any) -> Any:
    value = scipy_function(xp.__name__, "gammaln")(x)
    return xp.where(x == -np.inf, -x, value)  # where SciPy says -inf


Lgamma = unary("Lgamma", in_float32(_lgamma), lambda x, y: raw.Digamma(x), types="floats", facts="one_core=30")
Digamma = unary(
    "Digamma", in_float32(_digamma), types="floats",
    backward=lambda g, x, y: g * raw.Polygamma(constant_like(1, x), x),
    facts="one_core=30",
)  # fmt: skip


def _density(a: Any, x: Any) -> Any:
    """Return the slope of the regularised incomplete gamma function in x."""
    return exp(-x + (a - 1) * log(x) - raw.Lgamma(a))


def _igamma_grad_a(xp: Any, a: Any, x: Any) -> Any:
    dtype = a.dtype
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    slope = np.full(a.shape, np.nan)
    slope[(x == 0) & (a > 0)] = 0.0
    inside = (x > 0) & (a > 0) & np.isfinite(x) & np.isfinite(a)
    near = inside & ((x <= 1) | (x <= a))
    slope[near] = _slope_by_series(a[near], x[near])
    far = inside & ~near
    slope[far] = _slope_by_fraction(a[far], x[far])
    return slope.astype(dtype)


def _slope_by_series(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Differentiate P(a, x) = x^a e^-x / Gamma(a+1) * (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...) term by term."""
    digamma, gammaln = scipy_function("numpy", "digamma"), scipy_function("numpy", "gammaln")
    term, inverses = np.ones_like(a), np.zeros_like(a)
    total, slope = np.ones_like(a), np.zeros_like(a)
    for n in range(1, 2000):
        term = term * x / (a + n)
        inverses = inverses + 1 / (a + n)
        total, slope = total + term, slope - term * inverses
        if not (term > 1e-17 * total).any():
            break
    front = np.exp(a * np.log(x) - x - gammaln(a + 1))
    return front * ((np.log(x) - digamma(a + 1)) * total + slope)


def _slope_by_fraction(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Differentiate 1 - Q(a, x), where Q is x^a e^-x / Gamma(a) times a continued fraction, with it its slope in a."""
    digamma, gammaln = scipy_function("numpy", "digamma"), scipy_function("numpy", "gammaln")
    # Lentz's method on b0 + a1/(b1 + a2/(b2 + ...)), a_n = -n (n - a), b_n = x + 2n + 1 - a; d... are slopes in a.
    b, db = x + 1 - a, -np.ones_like(a)
    c, dc = np.full_like(a, 1e300), np.zeros_like(a)
    d = 1 / b
    dd = -db * d * d
    f, df = d.copy(), dd.copy()
    for n in range(1, 5000):
        an, dan = -n * (n - a), float(n)
        b = b + 2
        new_d = 1 / (an * d + b)
        dd = -(dan * d + an * dd + db) * new_d * new_d
        d = new_d
        dc = db + (dan * c - an * dc) / (c * c)
        c = b + an / c
        ratio, dratio = c * d, dc * d + c * dd
        f, df = f * ratio, df * ratio + f * dratio
        if not (np.abs(ratio - 1) > 1e-16).any():
            break
    front = np.exp(a * np.log(x) - x - gammaln(a))
    return -front * ((np.log(x) - digamma(a)) * f + df)


Igamma = binary(
    "Igamma", special("gammainc"), lambda g, a, x, z: g * raw.IgammaGradA(a, x), lambda g, a, x, z: g * _density(a, x),
    types="floats", args="a x",
    facts="one_core=50",
)  # fmt: skip


def _igammac(xp: Any, a: Any, x: Any) -> Any:
    """SciPy takes twenty times as long for this half as for the other: it is asked where 1 - the other is not exact."""
    other = scipy_function(xp.__name__, "gammainc")
    plain = scipy_function(xp.__name__, "gammaincc")
    if xp is not np:
        return plain(a, x)
    value = 1.0 - other(a, x, dtype=np.float64)
    small = ~(value >= (0.5 if a.dtype == np.float64 else 1e-6))
    if small.any():
        value = np.array(value)
        value[small] = plain(*(v[small] for v in np.broadcast_arrays(a, x)), dtype=np.float64)
    return value.astype(a.dtype)


Igammac = binary(
    "Igammac", in_float32(_igammac), lambda g, a, x, z: -g * raw.IgammaGradA(a, x),
    lambda g, a, x, z: -g * _density(a, x), types="floats", args="a x",
    facts="one_core=50",
)  # fmt: skip
IgammaGradA = binary("IgammaGradA", _igamma_grad_a, FLAT, FLAT, types="float,double", args="a x")


def _zeta(xp: Any, x: Any, q: Any) -> Any:
    plain = scipy_function(xp.__name__, "zeta")
    value = quick_zeta(x, q, plain) if xp is np else None
    if value is None:
        value = plain(x, q)
    pole = (q <= 0) & (q == xp.floor(q))  # approached from both sides: infinite for even x, undecided for odd
    return xp.where(pole, xp.where(xp.mod(x, 2) == 0, x.dtype.type(np.inf), x.dtype.type(np.nan)), value)


Zeta = binary(
    "Zeta",
    _zeta,
    FLAT,
    lambda g, x, q, z: g * (-x * raw.Zeta(x + 1, q)),
    types="float,double",
    args="x q",
    facts="one_core=50",
)


def _polygamma(xp: Any, a: Any, x: Any) -> Any:
    if xp is not np:
        value = scipy_function(xp.__name__, "polygamma")(a.astype("int32"), x)
        return xp.where((a >= 0) & (a == xp.floor(a)), value, a.dtype.type(np.nan))
    gamma, digamma = (scipy_function("numpy", n) for n in ("gamma", "digamma"))
    whole = (a >= 0) & (a == np.floor(a))
    sign = np.where(np.mod(a, 2) == 1, a.dtype.type(1), a.dtype.type(-1))
    value = np.where(a == 0, digamma(x), sign * gamma(a + 1) * _zeta(np, a + 1, x))
    return np.where(whole, value, np.nan).astype(a.dtype)


Polygamma = binary(
    "Polygamma",
    _polygamma,
    FLAT,
    lambda g, a, x, z: g * raw.Polygamma(a + 1, x),
    types="float,double",
    args="a x",
    facts="one_core=50",
)

Betainc = op("Betainc(a:T, b:T, x:T) -> (z:T) | T: type in [float,double]", facts="elementwise one_core=50 broadcasts")


@Betainc.shape
def _(a, b, x):
    dims = ()
    for arg in (a, b, x):
        if arg.dims is None:
            return None
        try:
            dims = dims if arg.dims == () else arg.dims if dims == () else merge_dims(dims, arg.dims)
        except ValueError:
            raise errors.StaticShapeError(
                f"Shapes of a, b and x are inconsistent, they must be equal or scalars: "
                f"{show(a.dims)}, {show(b.dims)}, {show(x.dims)}"
            ) from None
    return dims


@Betainc.kernel
@in_parts
def _(xp, a, b, x):
    shapes = {v.shape for v in (a, b, x) if v.ndim}
    if len(shapes) > 1:
        raise ValueError("the inputs differ in shape")
    return scipy_function(xp.__name__, "betainc")(a, b, x)


@Betainc.gradient
def _(call, grad):
    a, b, x = call.inputs
    log_beta = raw.Lgamma(a) + raw.Lgamma(b) - raw.Lgamma(a + b)
    slope = exp(raw.Xlog1py(b - 1, -x) + raw.Xlogy(a - 1, x) - log_beta)
    full = dense(grad) * slope
    return None, None, reduce_to(full, x, full)


# --- Bessel functions -------------------------------------------------------------------------------------------------


def _i1_over(x: Any, y: Any, scaled: bool) -> Any:
    """Return the slope of i1 (or of i1e), whose limit at 0 is a half."""
    zero = raw.Equal(x, raw.ZerosLike(x))
    safe = raw.SelectV2(zero, raw.OnesLike(x), x)
    if scaled:
        slope = raw.BesselI0e(safe) - y * (raw.Sign(safe) + raw.Reciprocal(safe))
    else:
        slope = raw.BesselI0(safe) - raw.Div(y, safe)
    return raw.SelectV2(zero, 0.5 * raw.OnesLike(x), slope)


BesselI0 = unary("BesselI0", special("i0"), lambda x, y: raw.BesselI1(x), types="floats")
BesselI0e = unary("BesselI0e", special("i0e"), lambda x, y: raw.BesselI1e(x) - raw.Sign(x) * y, types="floats")
BesselI1 = unary("BesselI1", special("i1"), lambda x, y: _i1_over(x, y, scaled=False), types="floats")
BesselI1e = unary("BesselI1e", special("i1e"), lambda x, y: _i1_over(x, y, scaled=True), types="floats")
BesselK0 = unary("BesselK0", special("k0"), lambda x, y: -raw.BesselK1(x), types="floats", facts="host")
BesselK0e = unary("BesselK0e", special("k0e"), lambda x, y: y - raw.BesselK1e(x), types="floats", facts="host")
BesselK1 = unary("BesselK1", special("k1"), lambda x, y: -raw.BesselK0(x) - y / x, types="floats", facts="host")
BesselK1e = unary(
    "BesselK1e",
    special("k1e"),
    lambda x, y: y * (1.0 - raw.Reciprocal(x)) - raw.BesselK0e(x),
    types="floats",
    facts="host",
)
BesselJ0 = unary("BesselJ0", special("j0"), lambda x, y: -raw.BesselJ1(x), types="floats", facts="host")
BesselJ1 = unary("BesselJ1", special("j1"), lambda x, y: _j1_slope(x, y), types="floats", facts="host")
BesselY0 = unary("BesselY0", special("y0"), lambda x, y: -raw.BesselY1(x), types="floats", facts="host")
BesselY1 = unary("BesselY1", special("y1"), lambda x, y: raw.BesselY0(x) - y / x, types="floats", facts="host")


def _j1_slope(x: Any, y: Any) -> Any:
    zero = raw.Equal(x, raw.ZerosLike(x))
    safe = raw.SelectV2(zero, raw.OnesLike(x), x)
    return raw.SelectV2(zero, 0.5 * raw.OnesLike(x), raw.BesselJ0(safe) - y / safe)


# --- integrals --------------------------------------------------------------------------------------------------------


def _fresnel(which: int) -> Callable[..., Any]:
    return in_float32(lambda xp, x: scipy_function(xp.__name__, "fresnel")(x)[which].astype(x.dtype))


def _spence_slope(x: Any) -> Any:
    one = raw.Equal(x, raw.OnesLike(x))
    safe = raw.SelectV2(one, 2.0 * raw.OnesLike(x), x)
    return raw.SelectV2(one, -raw.OnesLike(x), log(safe) / (1.0 - safe))


Dawsn = unary("Dawsn", special("dawsn"), lambda x, y: 1.0 - 2.0 * x * y, types="floats", facts="host")


def _expint(xp, x):
    return xp.where(
        x < 0, xp.asarray(xp.nan, x.dtype), special("expi")(xp, x)
    )  # below zero TensorFlow does not define it


Expint = unary("Expint", _expint, lambda x, y: exp(x) / x, types="floats", facts="host")
FresnelCos = unary(
    "FresnelCos", _fresnel(1), lambda x, y: raw.Cos((math.pi / 2.0) * square(x)), types="floats", facts="host"
)
FresnelSin = unary(
    "FresnelSin", _fresnel(0), lambda x, y: raw.Sin((math.pi / 2.0) * square(x)), types="floats", facts="host"
)
Spence = unary("Spence", special("spence"), lambda x, y: _spence_slope(x), types="floats", facts="host")

# --- public functions -------------------------------------------------------------------------------------------------

bessel_i0 = quick_unary(BesselI0, "bessel_i0", "Return the modified Bessel function of order 0.", scope="bessel_i0")
bessel_i0e = quick_unary(BesselI0e, "bessel_i0e", "Return `bessel_i0(x)` over exp(|x|).", scope="bessel_i0e")
bessel_i1 = quick_unary(BesselI1, "bessel_i1", "Return the modified Bessel function of order 1.", scope="bessel_i1")
bessel_i1e = quick_unary(BesselI1e, "bessel_i1e", "Return `bessel_i1(x)` over exp(|x|).", scope="bessel_i1e")
bessel_k0 = quick_unary(
    BesselK0, "bessel_k0", "Return the modified Bessel function of the second kind, order 0.", scope="bessel_k0"
)
bessel_k0e = quick_unary(BesselK0e, "bessel_k0e", "Return `bessel_k0(x)` times exp(x).", scope="bessel_k0e")
bessel_k1 = quick_unary(
    BesselK1, "bessel_k1", "Return the modified Bessel function of the second kind, order 1.", scope="bessel_k1"
)
bessel_k1e = quick_unary(BesselK1e, "bessel_k1e", "Return `bessel_k1(x)` times exp(x).", scope="bessel_k1e")
bessel_j0 = quick_unary(
    BesselJ0, "bessel_j0", "Return the Bessel function of the first kind, order 0.", scope="bessel_j0"
)
bessel_j1 = quick_unary(
    BesselJ1, "bessel_j1", "Return the Bessel function of the first kind, order 1.", scope="bessel_j1"
)
bessel_y0 = quick_unary(
    BesselY0, "bessel_y0", "Return the Bessel function of the second kind, order 0.", scope="bessel_y0"
)
bessel_y1 = quick_unary(
    BesselY1, "bessel_y1", "Return the Bessel function of the second kind, order 1.", scope="bessel_y1"
)
dawsn = quick_unary(Dawsn, "dawsn", "Return Dawson's integral.", scope="dawsn")
digamma = quick_unary(Digamma, "digamma", "Return the slope of `lgamma`.")
erf = quick_unary(Erf, "erf", "Return the error function.")
erfc = quick_unary(Erfc, "erfc", "Return 1 minus the error function, exact where that is small.")
expint = quick_unary(Expint, "expint", "Return the exponential integral Ei.", scope="expint")
fresnel_cos = quick_unary(FresnelCos, "fresnel_cos", "Return Fresnel's cosine integral.", scope="fresnel_cos")
fresnel_sin = quick_unary(FresnelSin, "fresnel_sin", "Return Fresnel's sine integral.", scope="fresnel_sin")
lgamma = quick_unary(Lgamma, "lgamma", "Return the logarithm of |gamma(x)|.")
spence = quick_unary(Spence, "spence", "Return Spence's integral of -log(t) / (t - 1) from 1 to x.", scope="spence")
igamma = quick_binary(Igamma, "igamma", "Return the lower regularised incomplete gamma function.", "a x")
igammac = quick_binary(Igammac, "igammac", "Return the upper regularised incomplete gamma function.", "a x")
polygamma = quick_binary(Polygamma, "polygamma", "Return the `a`-th slope of digamma at `x`.", "a x")
zeta = quick_binary(Zeta, "zeta", "Return Hurwitz's zeta function.", "x q")
erfinv = quick_unary(Erfinv, "erfinv", "Return the inverse of the error function.", scope="erfinv")
ndtri = quick_unary(Ndtri, "ndtri", "Return the quantile of the standard normal distribution.", scope="ndtri")


def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Return the regularised incomplete beta function.

    >>> betainc(2.0, 2.0, 0.5).numpy()
    np.float32(0.5)
    """
    return Betainc(a, b, x, name=name or "Betainc")


def erfcinv(x: TensorLike, name: str | None = None) -> Tensor:
    """Return the inverse of `erfc`.

    >>> float(erfcinv(2.0))
    -inf
    """
    with name_scope(name, "erfcinv", [x]):
        x = operand(x, name="start")
        return -ndtri(0.5 * x) * np.sqrt(0.5)


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """Return the logarithm of the beta function of the numbers along the last axis.

    >>> lbeta([1.0, 2.0]).numpy().round(4)
    np.float32(-0.6931)
    """
    with name_scope(name, "lbeta", [x]):
        x = convert(x, name="x")
        last = [-1]
        parts = raw.Sum(raw.Lgamma(x), last)
        return parts - raw.Lgamma(raw.Sum(x, last))
