"""Fit the polynomials of `ebbflow/engines/native` and print them as its `coefficients.py`. Needs mpmath.

    python tools/native_polynomials.py > ebbflow/engines/native/arithmetic/coefficients.py

Each polynomial is the Chebyshev interpolant of what is left of a function when its first terms, which the code adds
exactly, are taken away. Its error (on stderr, in bits, of the function as it is put together again) is within a
small factor of the best there is; one term more is cheaper than a better method.
"""

import sys

import numpy as np
from mpmath import atan, chebyfit, cos, erf, erfc, exp, floor, inf, log, log1p, mp, mpf, pi, polyval, sin, sqrt

mp.dps = 120

LN2, QUARTER = log(2), (pi / 4) ** 2 * 1.001
RATIO = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * 1.001  # s² at the ends of log's interval, s = f / (2 + f)


def series(s):
    """Return 2 atanh(s): the logarithm of (1 + s) / (1 - s)."""
    return log((1 + s) / (1 - s))


# name: what is fitted, where, how it becomes the function again, and how many terms a kind takes
FITS = {
    "exp": (
        lambda r: (exp(r) - 1 - r) / r**2,
        (-LN2 / 2 * 1.001, LN2 / 2 * 1.001),
        lambda r, q: 1 + r + r**2 * q,
        {"f32": 5, "f64": 11, "f64 for f32": 5},
    ),
    "log1p": (
        lambda f: (log1p(f) - f) / f**2,
        (sqrt(0.5) - 1, sqrt(2) - 1),
        lambda f, q: f + f**2 * q,
        {"f32": 9, "f64": 21},
    ),
    "log ratio": (
        lambda z: (series(sqrt(z)) / sqrt(z) - 2) / z,
        (0, RATIO),
        lambda z, q: 2 + z * q,
        {"f64 for f32": 4},
    ),
    "log ratio, tail": (
        lambda z: (series(sqrt(z)) / sqrt(z) - 2 - z * 2 / 3) / z**2,
        (0, RATIO),
        lambda z, q: 2 + z * 2 / 3 + z**2 * q,
        {"f64": 8},
    ),
    "sin": (
        lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z,
        (0, QUARTER),
        lambda z, q: 1 + z * q,
        {"f32": 3, "f64": 6},
    ),
    "cos": (
        lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2,
        (0, QUARTER),
        lambda z, q: 1 - z / 2 + z**2 * q,
        {"f32": 3, "f64": 6},
    ),
    "atan": (
        lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z,
        (0, 1),
        lambda z, q: 1 + z * q,
        {"f32": 9, "f64": 20},
    ),
    "asin": (
        lambda z: (mp.asin(sqrt(z)) / sqrt(z) - 1) / z,
        (0, 0.25),
        lambda z, q: 1 + z * q,
        {"f32": 5, "f64": 13},
    ),
    "erf": (
        lambda z: erf(sqrt(z)) / sqrt(z) - 1,
        (0, 1),
        lambda z, q: 1 + q,
        {"f32": 6, "f64": 12},
    ),
    "erf, exponent": (
        lambda x: -log(erfc(x)) / x - 1,
        (0, 4),
        lambda x, q: -mp.expm1(-x * (1 + q)),
        {"f32": 11},
    ),
    "erfcx": (
        lambda u: (1 + 2 * pole(u)) * exp(pole(u) ** 2) * erfc(pole(u)),
        (-1, mpf(23) / 31),
        lambda u, q: q,
        {"f32": 13, "f64": 24},
    ),
}


def pole(u):
    """Return the x of u = (x - 4) / (x + 4), which takes [0, 27], where erfc lives, to [-1, 23/31]."""
    return 4 * (1 + u) / (1 - u)


def away(function):
    """Return the function, asked a little beside 0, where the quotients are 0 / 0."""
    edge = mpf(10) ** -30
    return lambda x: function(x if abs(x) > edge else edge)


def short(number, kind: str) -> str:
    return repr(float(number)) if "f64" in kind.split()[0] else str(np.float32(float(number)))


def fit(name: str) -> None:
    function, ends, whole, kinds = FITS[name]
    for kind, count in kinds.items():
        terms = chebyfit(away(function), [mpf(e) for e in ends], count)
        error = 0
        for i in range(1, 400):
            x = ends[0] + (ends[1] - ends[0]) * mpf(i) / 400 + mpf(10) ** -30
            exact = whole(x, function(x))
            error = max(error, abs(whole(x, polyval(terms, x)) / exact - 1))
        bits = float(-log(error, 2)) if error else inf
        print(f"{name:20} {kind:12} {count:3} terms, right to {bits:5.1f} bits", file=sys.stderr)
        print(f'    ("{name}", "{kind}"): (')
        for term in reversed(terms):
            print(f"        {short(term, kind)},")
        print("    ),")


def turns_f32(width: int = 29, count: int = 7) -> list[float]:
    """Return 1 / 2π cut into pieces of so many bits: times a float32, each is exact in float64."""
    rest, pieces = 1 / (2 * pi), []
    for i in range(1, count + 1):
        piece = floor(rest * mpf(2) ** (width * i)) / mpf(2) ** (width * i)
        pieces.append(float(piece))
        rest -= piece
    return pieces


def turns_f64(step: int = 16, rows: int = 62, parts: int = 4) -> list[tuple[float, ...]]:
    """Return for each i what is left of 4 · 2^(step i) / 2π when multiples of 4 are taken away, in parts."""
    table = []
    for i in range(rows):
        value = mpf(2) ** (step * i) / (2 * pi)
        rest, row = 4 * (value - floor(value)), []
        for _ in range(parts):
            row.append(float(rest))
            rest -= mpf(row[-1])
        table.append(tuple(row))
    return table


if __name__ == "__main__":
    mp.dps = 400  # 2^1024 / 2π to its last needed bit
    tables = turns_f32(), turns_f64()
    mp.dps = 120
    print('"""The numbers of the native functions, as printed by tools/native_polynomials.py. Lowest power first."""')
    print("\nPOLYNOMIALS = {")
    for name in FITS:
        fit(name)
    print("}\n\n# 1 / 2π in pieces of 29 bits\nTURNS_F32 = (")
    for piece in tables[0]:
        print(f"    {piece!r},")
    print(")\n\n# row i: 4 · 2^(16 i) / 2π without multiples of 4, as a sum of four\nTURNS_F64 = (")
    for row in tables[1]:
        print(f"    {row!r},")
    print(")")
