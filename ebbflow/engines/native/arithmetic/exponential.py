"""exp, log and what is made of them, as straight-line code for float32 and float64.

The shape of all of it: a number is parted into a power of two and a remainder near 0 (of a sum) or near 1 (of a
product); a polynomial does the remainder; both are put together so that only the last steps round. The same text
serves both kinds, with other polynomials. Knows `Scalar`.
"""

from __future__ import annotations

import math

from ebbflow.engines.native.arithmetic.coefficients import POLYNOMIALS
from ebbflow.engines.native.scalar import BIAS, F32, F64, MANTISSA, Scalar, power_of_two, times_power_of_two
from ebbflow.ops.elementwise.activations import SELU_ALPHA, SELU_SCALE

NAME = {F32: "f32", F64: "f64"}
INF = math.inf
LN2 = {F32: (0.693147182464599609375, -1.9046542999577680e-09), F64: (math.log(2), 2.3190468138462996e-17)}
# where exp is surely 0 or infinite; where e^x - 1 is surely -1; where tanh is surely 1
EXP_RANGE = {F32: (-104.5, 89.5), F64: (-746.5, 710.5)}
EXPM1_LOWEST = {F32: -18.0, F64: -38.0}
TANH_HIGHEST = {F32: 9.25, F64: 19.5}
SMALL = {F32: 2.0**-25, F64: 2.0**-54}  # here e^x - 1, log(1 + x), sin x and tan x are x: its sign and last bits stay
SMALLEST_NORMAL = {F32: 2.0**-126, F64: 2.0**-1022}


def coefficients(name: str, x: Scalar) -> tuple[float, ...]:
    return POLYNOMIALS[name, NAME[x.type]]


# e^x and what needs it


def reduce_exp(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return the integer n and the rest r of x = n ln 2 + r, which is at most ln 2 / 2 either way."""
    high, low = LN2[x.type]
    whole, n = (x * (1 / math.log(2))).round_to_int()
    return n, whole.fma(-low, whole.fma(-high, x))


def expm1_of_rest(r: Scalar) -> Scalar:
    return (r * r).fma(r.polynomial(coefficients("exp", r)), r)


def exp_of_rest(r: Scalar) -> Scalar:
    return expm1_of_rest(r) + 1


def exp(x: Scalar) -> Scalar:
    low, high = EXP_RANGE[x.type]
    n, r = reduce_exp(x.at_least(low).at_most(high))
    return times_power_of_two(exp_of_rest(r), n)


def quarter_expm1(x: Scalar) -> Scalar:
    """Return (e^x - 1) / 4, which is finite wherever sinh is, and so is the power of two on the way."""
    n, r = reduce_exp(x.at_least(EXPM1_LOWEST[x.type]).at_most(EXP_RANGE[x.type][1]))
    scale = power_of_two(n - 2, x.type)
    return scale.fma(expm1_of_rest(r), scale - 0.25)


def expm1(x: Scalar) -> Scalar:
    return (x.abs() < SMALL[x.type]).choose(x, quarter_expm1(x) * 4)


def elu(x: Scalar) -> Scalar:
    return (x < 0).choose(expm1(x.at_most(0)), x)


def selu(x: Scalar) -> Scalar:
    return (x < 0).choose(expm1(x.at_most(0)) * (SELU_SCALE * SELU_ALPHA), x * SELU_SCALE)


def sigmoid(x: Scalar) -> Scalar:
    """1 / (1 + e^-x), by the e^-|x| that is at most 1; what is lost in its sum with 1 is made good afterwards."""
    e = exp(-x.abs())
    below = e + 1
    value = (x < 0).choose(e, 1) / below
    return (-value).fma(e - (below - 1), value)


def tanh(x: Scalar) -> Scalar:
    """(1 - e^-2x) / (1 + e^-2x), both rounded once."""
    size = x.abs().at_most(TANH_HIGHEST[x.type])
    n, r = reduce_exp(size * -2)
    p, scale = expm1_of_rest(r), power_of_two(n, x.type)
    return ((-scale).fma(p, 1 - scale) / scale.fma(p, scale + 1)).with_sign_of(x)


def sinh(x: Scalar) -> Scalar:
    half = quarter_expm1(x.abs()) * 2
    bounded = half.at_most(2.0**60)
    return (half + bounded / (bounded + bounded + 1)).with_sign_of(x)


def cosh(x: Scalar) -> Scalar:
    n, r = reduce_exp(x.abs().at_most(EXP_RANGE[x.type][1]))
    half = times_power_of_two(exp_of_rest(r), n - 1)
    return half + 0.25 / half


# log and what needs it


def part(x: Scalar) -> Scalar:
    """Return the integer n of x = 2ⁿ m with m from √½ to √2, for a normal x > 0."""
    return (x.bits() - x.like(math.sqrt(0.5)).bits()) >> MANTISSA[x.type]


def mantissa(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return n and m of x = 2ⁿ m, as `part` has them."""
    n = part(x)
    return n, (x.bits() - (n << MANTISSA[x.type])).float_of_bits()


def log_of_parts(n: Scalar, f: Scalar) -> Scalar:
    """Return log(2ⁿ (1 + f))."""
    high, low = LN2[f.type]
    n = n.to_float(f.type)
    of_f = (f * f).fma(f.polynomial(coefficients("log1p", f)), f)
    return n.fma(high, n.fma(low, of_f))


def normal(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return a normal number and an integer n, such that x = number · 2ⁿ."""
    digits = MANTISSA[x.type] + 1
    small = x < SMALLEST_NORMAL[x.type]
    return small.choose(x * 2.0**digits, x), small.choose(x.bits().like(-digits), 0)


def log(x: Scalar) -> Scalar:
    scaled, shift = normal(x)
    n, m = mantissa(scaled)
    result = log_of_parts(n + shift, m - 1)
    return (x > 0).choose((x < INF).choose(result, x), x.equals(0).choose(-INF, x.nan))


def log1p_inside(x: Scalar) -> Scalar:
    """Return log(1 + x) for a finite x above -1; of the smallest numbers, the last bits are lost.

    With 1 + x = 2ⁿ (1 + f), f is x / 2ⁿ + (1 / 2ⁿ - 1): one rounding, so nothing of a small x is lost.
    """
    n = part(x + 1)
    scale = power_of_two(2 - n, x.type)  # a normal number for every n, as 2⁻ⁿ is not
    return log_of_parts(n, scale.fma(x * 0.25, scale.fma(0.25, -1)))


def log1p(x: Scalar) -> Scalar:
    result = (x.abs() < SMALL[x.type]).choose(x, log1p_inside(x))
    return (x > -1).choose((x < INF).choose(result, x), x.equals(-1).choose(-INF, x.nan))


def softplus(x: Scalar) -> Scalar:
    return log1p_inside(exp(-x.abs())) + x.at_least(0)


def asinh(x: Scalar) -> Scalar:
    size = x.abs()
    square = size * size
    large = size > 2.0 ** (MANTISSA[x.type] + 2)  # here 1 is nothing beside x, and the square may overflow
    inner = large.choose(size, size + square / ((square + 1).sqrt() + 1))
    return (log1p(inner) + large.choose(x.like(math.log(2)), 0)).with_sign_of(x)


def acosh(x: Scalar) -> Scalar:
    above = x - 1
    large = x > 2.0 ** (MANTISSA[x.type] + 2)
    inner = large.choose(x, above + above.fma(above, above + above).sqrt())
    return (x < 1).choose(x.nan, log1p(inner) + large.choose(x.like(math.log(2)), 0))


def atanh(x: Scalar) -> Scalar:
    size = x.abs()
    return (log1p((size + size) / (1 - size)) * 0.5).with_sign_of(x)


# the error function


def erfc_of_size(size: Scalar) -> Scalar:
    """Return erfc of a number from 0 on: e^-x² times what varies slowly, a polynomial of (x - 4) / (x + 4).

    x² is taken with its rounding error, since e^-x² has x² times the relative error of its exponent.
    """
    size = size.at_most(27.5)
    square = size * size
    rest = size.fma(size, -square)
    slow = ((size - 4) / (size + 4)).polynomial(coefficients("erfcx", size)) / (size + size + 1)
    n, r = reduce_exp((-square).at_least(EXP_RANGE[size.type][0]))
    value = exp_of_rest(r) * slow
    return times_power_of_two((-rest).fma(value, value), n)


def erf_near(size: Scalar) -> Scalar:
    """Return erf of a number from 0 to 1 (float64) or to ½ (float32)."""
    return size.fma((size * size).polynomial(coefficients("erf", size)), size)


def erfc(x: Scalar) -> Scalar:
    size = x.abs()
    value = (size < 0.5).choose(1 - erf_near(size), erfc_of_size(size))
    return (x < 0).choose(2 - value, value)


def erf(x: Scalar) -> Scalar:
    size = x.abs()
    if x.type == F64:
        return (size < 1).choose(erf_near(size), 1 - erfc_of_size(size)).with_sign_of(x)
    size = size.at_most(4)  # erf = 1 - e^-t, where t / x is smooth: half the work of the other way, but less exact
    t = size.fma(size.polynomial(coefficients("erf, exponent", x)), size)
    n, r = reduce_exp(-t)
    scale = power_of_two(n, x.type)
    return (-scale).fma(expm1_of_rest(r), 1 - scale).with_sign_of(x)


def rsqrt(x: Scalar) -> Scalar:
    return 1 / x.sqrt()


def exponent(x: Scalar) -> Scalar:
    """Return the integer n of |x| = 2ⁿ m with m from 1 to 2, for a normal x; -bias for 0 and what is smaller."""
    return (x.abs().bits() >> MANTISSA[x.type]) - BIAS[x.type]


FUNCTIONS = (
    exp,
    expm1,
    elu,
    selu,
    log,
    log1p,
    tanh,
    sigmoid,
    softplus,
    erf,
    erfc,
    rsqrt,
    sinh,
    cosh,
    asinh,
    acosh,
    atanh,
)
"""What a module may ask for, by name."""
