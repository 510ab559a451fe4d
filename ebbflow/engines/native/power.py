"""pow, as straight-line code for float32 and float64, with C's answers for zeros, infinities, NaN and negative bases.

|x|^y is e^(y log |x|), and e^t has t times the relative error of t, so the logarithm must have more bits than the
result: for float32 it is taken in float64, for float64 as a sum of two. Knows `Scalar`.
"""

from __future__ import annotations

import math

from ebbflow.engines.native.coefficients import POLYNOMIALS
from ebbflow.engines.native.exponential import LN2, NAME, normal, part, reduce_exp, times_power_of_two
from ebbflow.engines.native.scalar import F32, F64, MANTISSA, Scalar, power_of_two

INF = math.inf
TWO_THIRDS = (2 / 3, 3.700743415417188e-17)


def pow(x: Scalar, y: Scalar) -> Scalar:
    size = x.abs()
    value = power_f32(size, y) if NAME[x.type] == "f32" else power_f64(size, y)
    half = y * 0.5
    whole = y.rint().equals(y)
    odd = whole & (half.rint() < half) | whole & (half.rint() > half)

    grows = y > 0
    value = size.equals(0).choose(grows.choose(x.like(0), INF), value)
    value = size.equals(INF).choose(grows.choose(x.like(INF), 0), value)
    far = y.abs().equals(INF)
    value = (far & (size < 1)).choose(grows.choose(x.like(0), INF), value)
    value = (far & (size > 1)).choose(grows.choose(x.like(INF), 0), value)
    value = (far & size.equals(1)).choose(1, value)

    value = odd.choose(value.with_sign_of(x), value)
    value = ((x < 0) & (size < INF) & (whole ^ 1)).choose(x.nan, value)
    value = (x.equals(x) & y.equals(y)).choose(value, x.nan)
    return (x.equals(1) | y.equals(0)).choose(1, value)


def mantissa(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return n and m of x = 2ⁿ m, with m from √½ to √2."""
    n = part(x)
    return n, (x.bits() - (n << MANTISSA[x.type])).float_of_bits()


def power_f32(size: Scalar, y: Scalar) -> Scalar:
    """Return size^y for a size that is neither 0 nor infinite; log m = 2 atanh s with s = (m - 1) / (m + 1)."""
    n, m = mantissa(size.to_float(F64))
    s = (m - 1) / (m + 1)
    z = s * s
    log = n.to_float(F64).fma(LN2[F64][0], s * z.fma(z.polynomial(POLYNOMIALS["log ratio", "f64 for f32"]), 2))
    t = (log * y.to_float(F64)).at_least(-160).at_most(160)
    n, p = reduce_exp(t, POLYNOMIALS["exp", "f64 for f32"])
    return ((p + 1) * power_of_two(n, F64)).to_float(F32)


def power_f64(size: Scalar, y: Scalar) -> Scalar:
    """Return size^y for a size that is neither 0 nor infinite."""
    high, low = log_in_two(size)
    y = y.at_least(-(2.0**70)).at_most(2.0**70)  # what is larger over- or underflows all the same, but here too
    t = y * high
    rest = y.fma(low, y.fma(high, -t))
    rest = (t.abs() < 800).choose(rest, 0)
    n, p = reduce_exp(t.at_least(-800).at_most(800))
    value = p + 1
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
