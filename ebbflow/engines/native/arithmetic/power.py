"""pow, as straight-line code for float32 and float64, with C's answers for zeros, infinities, NaN and negative bases.

|x|^y is e^(y log |x|), and e^t has t times the relative error of t, so the logarithm must have more bits than the
result: for float32 it is taken in float64, for float64 as a sum of two. Knows `Scalar`.
"""

from __future__ import annotations

import math

from ebbflow.engines.native.arithmetic.coefficients import POLYNOMIALS
from ebbflow.engines.native.arithmetic.exponential import LN2, exp_of_rest, mantissa, normal, reduce_exp
from ebbflow.engines.native.scalar import F32, F64, Scalar, power_of_two, times_power_of_two

INF = math.inf
TWO_THIRDS = (2 / 3, 3.700743415417188e-17)


def pow(x: Scalar, y: Scalar) -> Scalar:
    """The power of |x|, then what a negative x makes of it: a sign where y is odd, no number where y is not whole."""
    size = x.abs()
    value = power_f32(size, y) if x.type == F32 else power_f64(size, y)
    half = y * 0.5
    whole, halves = y.rint().equals(y), half.rint().differs(half)
    value = (whole & halves).choose(value.with_sign_of(x), value)
    value = ((x < 0) & (size < INF) & ~whole).choose(x.nan, value)
    return (x.equals(1) | y.equals(0)).choose(1, value)


def at_the_ends(log: Scalar, size: Scalar) -> Scalar:
    """Return the logarithm of size, which is given for finite numbers above 0."""
    return size.equals(0).choose(-INF, (size < INF).choose(log, size))


def power_f32(size: Scalar, y: Scalar) -> Scalar:
    """Return size^y; log m = 2 atanh s with s = (m - 1) / (m + 1)."""
    wide, y = size.to_float(F64), y.at_least(-3e38).at_most(3e38).to_float(F64)
    n, m = mantissa(wide)
    s = (m - 1) / (m + 1)
    z = s * s
    log = n.to_float(F64).fma(LN2[F64][0], s * z.fma(z.polynomial(POLYNOMIALS["log ratio", "f64 for f32"]), 2))
    t = at_the_ends(log, wide) * y
    n, r = reduce_exp(t.at_least(-160).at_most(160))
    value = (r * r).fma(r.polynomial(POLYNOMIALS["exp", "f64 for f32"]), r + 1)
    return (value * power_of_two(n, F64)).to_float(F32)


def power_f64(size: Scalar, y: Scalar) -> Scalar:
    """Return size^y. A y clamped to ±2^70 is large enough for 0 and infinity, and 0 · y stays 0."""
    high, low = log_in_two(size)
    high, y = at_the_ends(high, size), y.at_least(-(2.0**70)).at_most(2.0**70)
    t = y * high
    rest = (t.abs() < 800).choose(y.fma(low, y.fma(high, -t)), 0)
    n, r = reduce_exp(t.at_least(-800).at_most(800))
    value = exp_of_rest(r)
    return times_power_of_two(value.fma(rest, value), n)


def log_in_two(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return log x, of a finite x > 0, as a sum of two that is right to some 65 bits.

    log m = 2 s + 2/3 s³ + s⁵ P(s²) with s = (m - 1) / (m + 1). The first two terms are sums of two numbers; P's share
    is so small that one is enough for it.
    """
    scaled, shift = normal(x)
    n, m = mantissa(scaled)
    n = (n + shift).to_float(F64)

    f, d = m - 1, m + 1
    inverse = 1 / d
    s = f * inverse
    s_low = ((-s).fma(d, f) - s * (m - (d - 1))) * inverse

    z = s * s
    z_low = s.fma(s, -z) + 2 * s * s_low
    third, third_low = TWO_THIRDS
    w = z * third
    tail = z * z * z.polynomial(POLYNOMIALS["log ratio, tail", "f64"])
    w, w_low = ordered_sum(w, z.fma(third, -w) + z * third_low + z_low * third + tail)

    q = s * w
    q_low = s.fma(w, -q) + s * w_low + s_low * w
    log, log_low = ordered_sum(s + s, q)
    log_low = log_low + q_low + (s_low + s_low)

    high, low = LN2[F64]
    whole = n * high
    total, total_low = ordered_sum(whole, log)
    return total, total_low + (n.fma(low, n.fma(high, -whole)) + log_low)


def ordered_sum(large: Scalar, small: Scalar) -> tuple[Scalar, Scalar]:
    """Return large + small as it is rounded, and what the rounding took away, for |large| >= |small| or large = 0."""
    total = large + small
    return total, small - (total - large)


FUNCTIONS = (pow,)
"""What a module may ask for, by name."""
