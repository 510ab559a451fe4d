"""sin, cos, tan and their inverses, as straight-line code for float32 and float64. Right for every finite number.

An angle is taken modulo whole turns by multiplying with 1 / 2π kept to as many bits as the largest float needs: in
pieces for float32, from a table with a row for every 16 binary orders of magnitude for float64. Knows `Scalar`.
"""

from __future__ import annotations

import math

from llvmlite import ir

from ebbflow.engines.native.arithmetic.coefficients import TURNS_F32, TURNS_F64
from ebbflow.engines.native.arithmetic.exponential import SMALL, coefficients, exponent
from ebbflow.engines.native.scalar import BITS, F32, F64, Scalar, power_of_two

HALF_PI = {F32: (1.57079637050628662109375, -4.371139000186241e-08), F64: (math.pi / 2, 6.123233995736766e-17)}


def reduce_f32(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return the quarter turn (an integer, of which the last two bits count) and the angle left, up to ±π / 4.

    In float64, where a float32 times 29 bits of 1 / 2π is exact, and so is the fraction of a turn that it leaves. Most
    pieces leave nothing: only those about the size of 1 / x do. What they leave is summed by pairs, large with large:
    the sum is right to many more bits than a float32 has even where it is tiny, and half the additions do not wait.
    """
    wide = x.to_float(F64)
    products = [wide * piece for piece in TURNS_F32]
    left = [product - product.rint() for product in products[:5]]
    beyond = products[5] + products[6]  # too small to make a turn
    turns = (left[0] + left[1]) + ((left[2] + left[3]) + (left[4] + beyond))
    quarters = turns * 4
    whole, quarter = quarters.round_to_int()
    return quarter.to_int(BITS[F32]), ((quarters - whole) * (math.pi / 2)).to_float(F32)


def reduce_f64(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return the quarter turn (an integer, of which the last two bits count) and the angle left, up to ±π / 4.

    With x = 2^16i y, where y is whole unless i is 0, row i of the table is 2^16i / (π / 2) without multiples of 4,
    as a sum of four: times y it makes the same angle. The products are sums of two, and are summed without loss.
    """
    row = (exponent(x) - 52).at_least(0) >> 4
    y = x * power_of_two(0 - (row << 4), F64)
    first, second, third, fourth = (table_entry(row, column) for column in range(4))
    product, middle, small = y * first, y * second, y * third
    sum_, low = two_sum(product - (product * 0.25).rint() * 4, y.fma(first, -product))
    sum_, lower = two_sum(sum_, middle)
    whole, quarter = sum_.round_to_int()
    sum_, rest = sum_ - whole, y.fma(fourth, y.fma(third, -small))
    for term in (low, lower, y.fma(second, -middle), small):
        sum_, lost = two_sum(sum_, term)
        rest = rest + lost
    return quarter, (sum_ + rest) * (math.pi / 2)


def two_sum(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """Return a + b as it is rounded, and what the rounding took away."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def table_entry(row: Scalar, column: int) -> Scalar:
    module, builder = row.builder.module, row.builder
    name = f"ebb.turns.{column}"
    if name not in module.globals:
        kind = ir.ArrayType(F64, len(TURNS_F64))
        table = ir.GlobalVariable(module, kind, name)
        table.initializer = ir.Constant(kind, [line[column] for line in TURNS_F64])
        table.global_constant, table.linkage = True, "internal"
    zero = ir.Constant(row.type, 0)
    return Scalar(builder, builder.load(builder.gep(module.globals[name], [zero, row.value], inbounds=True)))


def reduce(x: Scalar) -> tuple[Scalar, Scalar]:
    return reduce_f32(x) if x.type == F32 else reduce_f64(x)


def sin_of_rest(r: Scalar) -> Scalar:
    z = r * r
    return (r * z).fma(z.polynomial(coefficients("sin", r)), r)


def cos_of_rest(r: Scalar) -> Scalar:
    """1 - z / 2 with the rounding error of that, which is exact, added to the small terms."""
    z = r * r
    half = z * 0.5
    main = 1 - half
    return (z * z).fma(z.polynomial(coefficients("cos", r)), (1 - main) - half) + main


def wave(quarter: Scalar, r: Scalar) -> Scalar:
    """Return sin(quarter · π / 2 + r)."""
    value = (quarter & 1).equals(0).choose(sin_of_rest(r), cos_of_rest(r))
    sign = (quarter & 2) << (quarter.type.width - 2)
    return (value.bits() ^ sign).float_of_bits()


def sin(x: Scalar) -> Scalar:
    quarter, r = reduce(x)
    return (x.abs() < SMALL[x.type]).choose(x, wave(quarter, r))


def cos(x: Scalar) -> Scalar:
    quarter, r = reduce(x)
    return wave(quarter + 1, r)


def tan(x: Scalar) -> Scalar:
    quarter, r = reduce(x)
    s, c = sin_of_rest(r), cos_of_rest(r)
    even = (quarter & 1).equals(0)
    return (x.abs() < SMALL[x.type]).choose(x, even.choose(s, -c) / even.choose(c, s))


# the inverses


def atan_of_ratio(small: Scalar, large: Scalar) -> Scalar:
    """Return atan(small / large), for 0 <= small <= large."""
    ratio = small / large
    z = ratio * ratio
    return (ratio * z).fma(z.polynomial(coefficients("atan", ratio)), ratio)


def atan(x: Scalar) -> Scalar:
    size = x.abs()
    steep = size > 1
    angle = atan_of_ratio(steep.choose(1, size), steep.choose(size, 1))
    high, low = HALF_PI[x.type]
    return steep.choose(high - (angle - low), angle).with_sign_of(x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    high, low = HALF_PI[x.type]
    across, up = x.abs(), y.abs()
    steep = up > across
    small, large = steep.choose(across, up), steep.choose(up, across)
    diagonal = small.equals(math.inf) & large.equals(math.inf)
    small, large = diagonal.choose(1, small), (diagonal | large.equals(0)).choose(1, large)
    angle = atan_of_ratio(small, large)
    angle = steep.choose(high - (angle - low), angle)
    return (x.bits() < 0).choose(2 * high - (angle - 2 * low), angle).with_sign_of(y)


def asin_parts(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return whether |x| is above ½, and asin |x|, or there half of acos |x|."""
    size = x.abs()
    large = size > 0.5
    z = large.choose((1 - size) * 0.5, size * size)
    root = large.choose(z.sqrt(), size)
    return large, (root * z).fma(z.polynomial(coefficients("asin", x)), root)


def asin(x: Scalar) -> Scalar:
    high, low = HALF_PI[x.type]
    large, angle = asin_parts(x)
    return large.choose(high - ((angle + angle) - low), angle).with_sign_of(x)


def acos(x: Scalar) -> Scalar:
    high, low = HALF_PI[x.type]
    large, angle = asin_parts(x)
    double = angle + angle
    outer = (x < 0).choose(2 * high - (double - 2 * low), double)
    return large.choose(outer, high - (angle.with_sign_of(x) - low))


FUNCTIONS = (sin, cos, tan, asin, acos, atan, atan2)
"""What a module may ask for, by name."""
