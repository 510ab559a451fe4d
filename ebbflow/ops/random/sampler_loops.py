"""Numbers drawn until they are accepted, one after the other, as loops that may become machine code (`core.loops`).

Step by step what `samplers` and `distributions` do with arrays of all numbers at once. A loop draws the numbers from
`begin` to `end`; number `i` belongs to the entry `i // count` of the parameters, and its own blocks begin
`apart[entry]` blocks after those of the number before. `seat` holds the words of the block at hand, where the next one
stands and what is left of the blocks that were taken; `held` what is left.
"""

from __future__ import annotations

import math

from ebbflow.core.loops import (
    F32,
    F64,
    I64,
    U64,
    Single,
    Word,
    ceil,
    cos,
    exp,
    f32,
    f64,
    floor,
    lgamma,
    log,
    log1p,
    loop,
    pow,
    sin,
    sqrt,
    u64,
)
from ebbflow.ops.random.normal_loops import SMALLEST, normal_pair

FACTOR, OTHER_FACTOR, KEY_STEP, OTHER_KEY_STEP = 0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85
LOW = 0xFFFFFFFF
UNIT = 2.0**-52
TURN = 2 * math.pi
NEXT, UNIFORMS, NORMALS = 4, 5, 6
"""Where in `seat` stand the number of the next block, and how many uniform and normal numbers are left."""
SEATS, HELD = 7, 4
LN_2PI_HALF = math.log(2 * math.pi) / 2
TRUNCATED_AT = 2.0


def draw_block(key: Word, low: Word, high: Word, seat: U64) -> None:
    """Put the words of the next block into `seat` (see `philox`)."""
    place = low + seat[NEXT]
    above = high
    if place < low:
        above = high + 1
    a, b, c, d = place & LOW, place >> 32, above & LOW, above >> 32
    first, second = key & LOW, key >> 32
    for _ in range(10):
        p = a * FACTOR
        q = c * OTHER_FACTOR
        a, b, c, d = (q >> 32) ^ b ^ first, q & LOW, (p >> 32) ^ d ^ second, p & LOW
        first = (first + KEY_STEP) & LOW
        second = (second + OTHER_KEY_STEP) & LOW
    seat[0], seat[1], seat[2], seat[3] = a, b, c, d
    seat[NEXT] = seat[NEXT] + 1


def fraction(upper: Word, lower: Word) -> float:
    return f64(int((upper & 0xFFFFF) << 32 | lower)) * UNIT


def uniform(key: Word, low: Word, high: Word, seat: U64, held: F64) -> float:
    """Return the next uniform number; of a block's two the second comes first."""
    if seat[UNIFORMS] == u64(0):
        draw_block(key, low, high, seat)
        held[0] = fraction(seat[0], seat[1])
        held[1] = fraction(seat[2], seat[3])
        seat[UNIFORMS] = u64(2)
    seat[UNIFORMS] = seat[UNIFORMS] - 1
    return held[int(seat[UNIFORMS])]


def normal(key: Word, low: Word, high: Word, seat: U64, held: F64) -> float:
    """Return the next normal number in double precision; of a block's two the second comes first."""
    if seat[NORMALS] == u64(0):
        draw_block(key, low, high, seat)
        radius = sqrt(-2.0 * log(max(fraction(seat[0], seat[1]), SMALLEST)))
        angle = TURN * fraction(seat[2], seat[3])
        held[2] = sin(angle) * radius
        held[3] = cos(angle) * radius
        seat[NORMALS] = u64(2)
    seat[NORMALS] = seat[NORMALS] - 1
    return held[2 + int(seat[NORMALS])]


def sit_down(number: int, apart: int, seat: U64) -> None:
    """Begin with the blocks of a number."""
    seat[NEXT] = u64(number * apart)
    seat[UNIFORMS] = u64(0)
    seat[NORMALS] = u64(0)


def one_gamma(alpha: float, key: Word, low: Word, high: Word, seat: U64, held: F64) -> float:
    if alpha == 1.0:
        return -log1p(-uniform(key, low, high, seat, held))
    d = alpha + (2.0 / 3.0 if alpha < 1.0 else -1.0 / 3.0)
    c = 1.0 / 3.0 / sqrt(d)
    while True:
        x = normal(key, low, high, seat, held)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = uniform(key, low, high, seat, held)
        if u < 1.0 - 0.0331 * (x * x) * (x * x) or log(u) < 0.5 * x * x + d * (1.0 - v + log(v)):
            found = d * v
            if alpha < 1.0:
                found *= pow(uniform(key, low, high, seat, held), 1.0 / alpha)
            return found
    return 0.0


@loop
def gamma(
    key: Word, low: Word, high: Word, begin: int, end: int, count: int, apart: I64, alpha: F64,
    seat: U64, held: F64, out: F64,
) -> None:  # fmt: skip
    """Draw gamma numbers of shape `alpha` and scale 1."""
    for i in range(begin, end):
        entry = i // count
        sit_down(i, apart[entry], seat)
        out[i] = one_gamma(alpha[entry], key, low, high, seat, held)


def poisson_by_product(rate: float, key: Word, low: Word, high: Word, seat: U64, held: F64) -> float:
    least = exp(-rate)
    product = uniform(key, low, high, seat, held)
    found = 0.0
    while not product <= least:
        product *= uniform(key, low, high, seat, held)
        found += 1.0
    return found


def poisson_by_rejection(rate: float, highest: float, key: Word, low: Word, high: Word, seat: U64, held: F64) -> float:
    log_rate = log(rate)
    b = 0.931 + 2.53 * sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u = uniform(key, low, high, seat, held) - 0.5
        v = uniform(key, low, high, seat, held)
        distance = 0.5 - abs(u)
        k = floor((2.0 * a / distance + b) * u + rate + 0.43)
        if k > highest:
            continue
        if distance >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0):
            return k
        if k < 0.0 or (distance < 0.013 and v > distance):
            continue
        s = log(v * inverse_alpha / (a / (distance * distance) + b))
        if s <= -rate + k * log_rate - lgamma(k + 1.0):
            return k
    return 0.0


@loop
def poisson(
    key: Word, low: Word, high: Word, begin: int, end: int, count: int, apart: I64, rate: F64, highest: F64,
    seat: U64, held: F64, out: F64,
) -> None:  # fmt: skip
    """Draw Poisson numbers of finite rates, none above `highest`."""
    for i in range(begin, end):
        entry = i // count
        sit_down(i, apart[entry], seat)
        if rate[entry] < 10.0:
            out[i] = poisson_by_product(rate[entry], key, low, high, seat, held)
        else:
            out[i] = poisson_by_rejection(rate[entry], highest[entry], key, low, high, seat, held)


def binomial_by_gaps(tries: float, chance: float, key: Word, low: Word, high: Word, seat: U64, held: F64) -> float:
    scale = log1p(-chance)
    used = ceil(log(uniform(key, low, high, seat, held)) / scale)
    found = 0.0
    while not used > tries:
        used += ceil(log(uniform(key, low, high, seat, held)) / scale)
        found += 1.0
    return found


def stirling_tail(k: float) -> float:
    """Return what Stirling's formula leaves of log(k!)."""
    if k <= 9.0:
        return lgamma(k + 1.0) - (k + 0.5) * log(k + 1.0) + (k + 1.0) - LN_2PI_HALF
    square = (k + 1.0) * (k + 1.0)
    return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)


def binomial_bound(k: float, tries: float, chance: float) -> float:
    odds = chance / (1.0 - chance)
    m = floor((tries + 1.0) * chance)
    return (
        (m + 0.5) * log((m + 1.0) / (odds * (tries - m + 1.0)))
        + (tries + 1.0) * log((tries - m + 1.0) / (tries - k + 1.0))
        + (k + 0.5) * log(odds * (tries - k + 1.0) / (k + 1.0))
        + stirling_tail(m)
        + stirling_tail(tries - m)
        - stirling_tail(k)
        - stirling_tail(tries - k)
    )


def binomial_by_rejection(tries: float, chance: float, key: Word, low: Word, high: Word, seat: U64, held: F64) -> float:
    deviation = sqrt(tries * chance * (1.0 - chance))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    alpha = (2.83 + 5.1 / b) * deviation
    while True:
        u = uniform(key, low, high, seat, held)
        v = uniform(key, low, high, seat, held)
        u -= 0.5
        distance = 0.5 - abs(u)
        k = floor((2.0 * a / distance + b) * u + (tries * chance + 0.5))
        if distance >= 0.07 and v <= 0.92 - 4.2 / b:
            return k
        if k < 0.0 or k > tries:
            continue
        if log(v * alpha / (a / (distance * distance) + b)) <= binomial_bound(k, tries, chance):
            return k
    return 0.0


@loop
def binomial(
    key: Word, low: Word, high: Word, begin: int, end: int, count: int, apart: I64,
    tries: F64, chance: F64, often: F64, seat: U64, held: F64, out: F64,
) -> None:  # fmt: skip
    """Draw how often what has a chance of at most a half happens in some tries; `often`: ten times or more."""
    for i in range(begin, end):
        entry = i // count
        sit_down(i, apart[entry], seat)
        out[i] = 0.0
        if tries[entry] > 0.0 and chance[entry] > 0.0:
            if often[entry] == 0.0:
                out[i] = binomial_by_gaps(tries[entry], chance[entry], key, low, high, seat, held)
            else:
                out[i] = binomial_by_rejection(tries[entry], chance[entry], key, low, high, seat, held)


# --- truncated normal, categories -------------------------------------------------------------------------------------


@loop
def truncated_normals(
    key: Word, low: Word, high: Word, begin: int, end: int, apart: int, reciprocals: F64, logarithms: F64,
    seat: U64, four: F32, out: F32,
) -> None:  # fmt: skip
    """Draw normal numbers nearer to zero than two, four from the blocks of one place."""
    for row in range(begin, end):
        seat[NEXT] = u64(row * apart)
        have = 0
        while have < 4:
            draw_block(key, low, high, seat)
            normal_pair(int(seat[0]), int(seat[1]), reciprocals, logarithms, four, 0)
            normal_pair(int(seat[2]), int(seat[3]), reciprocals, logarithms, four, 1)
            for k in range(4):
                if abs(four[k]) < f32(TRUNCATED_AT) and have < 4:
                    out[4 * row + have] = four[k]
                    have += 1


def is_finite(x: Single) -> bool:
    return x - x == f32(0.0)


@loop
def categories(logits: F32, u: F64, begin: int, end: int, classes: int, samples: int, ends: F64, out: I64) -> None:
    """Find for each uniform number of a row the category of the row's unnormalised log-chances it falls into."""
    for row in range(begin, end):
        top = f32(0.0)
        none = True
        for k in range(classes):
            x = logits[row * classes + k]
            if is_finite(x) and (none or x > top):
                top = x
                none = False
        total = 0.0
        for k in range(classes):
            x = logits[row * classes + k]
            if is_finite(x):
                total += exp(f64(x) - f64(top))
            ends[k] = total
        for s in range(samples):
            wanted = u[row * samples + s] * total
            first = 0
            last = classes
            while first < last:
                middle = (first + last) // 2
                if ends[middle] <= wanted:
                    first = middle + 1
                else:
                    last = middle
            out[row * samples + s] = first
