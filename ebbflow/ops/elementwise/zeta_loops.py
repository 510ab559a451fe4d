"""Hurwitz' zeta function of float32 as machine code (`core.loops.elements`).

The first terms of its series, then Euler and Maclaurin's formula for the rest, in double precision without a branch:
rounded to 32 bits, results differ from SciPy's in the last bit at most. SciPy computes number by number, and answers
where the series is no longer the function, or its terms are no longer numbers. The code is waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core.loops import Single, elements, f32, f64, v_exp, v_log
from ebbflow.ops.parts import walked

MANY = 1 << 12
"""Numbers from which on code is worth asking for."""
LARGEST = 200.0
"""Exponents beyond which a term may be an infinite factor times nothing."""
B2, B4, B6, B8 = 1 / 12, -1 / 720, 1 / 30240, -1 / 1209600
B10, B12, B14 = 1 / 47900160, -691 / 1307674368000, 1 / 74724249600
"""Bernoulli's numbers by the factorials of their own."""


def power(base: float, exponent: float) -> float:
    return v_exp(-exponent * v_log(base))


def zeta(x: Single, q: Single) -> Single:
    s, a = f64(x), f64(q)
    w = a + 5.0
    last = power(w, s)
    total = power(a, s) + power(a + 1.0, s) + power(a + 2.0, s) + power(a + 3.0, s) + power(a + 4.0, s)
    total += last * w / (s - 1.0) + 0.5 * last
    less = 1.0 / (w * w)
    term = s * last / w
    total += B2 * term
    term *= (s + 1.0) * (s + 2.0) * less
    total += B4 * term
    term *= (s + 3.0) * (s + 4.0) * less
    total += B6 * term
    term *= (s + 5.0) * (s + 6.0) * less
    total += B8 * term
    term *= (s + 7.0) * (s + 8.0) * less
    total += B10 * term
    term *= (s + 9.0) * (s + 10.0) * less
    total += B12 * term
    term *= (s + 11.0) * (s + 12.0) * less
    total += B14 * term
    return f32(total)


zetas = elements(zeta, waits=True)


def quick_zeta(x: np.ndarray, q: np.ndarray, otherwise: Callable[..., Any]) -> np.ndarray | None:
    """Return the function of many numbers, of odd ones by `otherwise`; None where there is no code for them."""
    if x.dtype != np.float32 or q.dtype != np.float32 or x.size < MANY or x.shape != q.shape:
        return None
    found = walked(zetas, [x, q], np.float32)
    if found is None:
        return None
    odd = ~((x > 1) & (x <= LARGEST) & (q > 0) & (q < np.inf))
    if odd.any():
        found[odd] = otherwise(x[odd], q[odd])
    return found
