"""Rows whose sorted ids agree folded to one, as loops that may become machine code (`core.loops`).

`rows` holds what the fold begins with. Products are NumPy's to the last bit; sums are kept in 64 bits, so they wait for
their code; of extremes, the old one stays if it is beyond the new one, which is not a NaN's way in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core.loops import F32, I64, Loop, Single, f32, f64

MANY = 1 << 12
"""Numbers from which on code is worth asking for."""

_WALK = """
def walk(data: F32, ids: I64, n: int, width: int, rows: F32) -> int:
    first = 0
    segments = 0
    while first < n:
        last = first + 1
        while last < n and ids[last] == ids[first]:
            last += 1
        to = ids[first] * width
        fours = width - width % 4
        for k in range(0, fours, 4):
            a, b, c, d = kind(rows[to + k]), kind(rows[to + k + 1]), kind(rows[to + k + 2]), kind(rows[to + k + 3])
            for i in range(first, last):
                at = i * width + k
                a = combine(a, kind(data[at]))
                b = combine(b, kind(data[at + 1]))
                c = combine(c, kind(data[at + 2]))
                d = combine(d, kind(data[at + 3]))
            rows[to + k], rows[to + k + 1], rows[to + k + 2], rows[to + k + 3] = f32(a), f32(b), f32(c), f32(d)
        for k in range(fours, width):
            one = kind(rows[to + k])
            for i in range(first, last):
                one = combine(one, kind(data[i * width + k]))
            rows[to + k] = f32(one)
        first = last
        segments += 1
    return segments
"""


def _fold(combine: Callable[..., Any], kind: str, waits: bool = False) -> Loop:
    """Return the loop that folds rows, four columns at a time, and says how many segments it met."""
    source = _WALK.replace("kind(", f"{kind}(")
    space = {"combine": combine, "F32": F32, "I64": I64, "f32": f32, "f64": f64}
    exec(source, space)  # a text of ours
    walk: Any = space["walk"]
    walk.source = source.strip()
    return Loop(walk, waits=waits)


def plus(old: float, new: float) -> float:
    return old + new


def times(old: Single, new: Single) -> Single:
    return old * new


def larger(old: Single, new: Single) -> Single:
    return old if old > new else new


def smaller(old: Single, new: Single) -> Single:
    return old if old < new else new


segment_sums = _fold(plus, "f64", waits=True)
segment_products, segment_maxima, segment_minima = (_fold(combine, "f32") for combine in (times, larger, smaller))

FOLDS: dict[Any, Loop] = {
    np.add: segment_sums,
    np.multiply: segment_products,
    np.maximum: segment_maxima,
    np.minimum: segment_minima,
}


def folded_segments(
    ufunc: Any, data: np.ndarray, ids: np.ndarray, count: int, start: Any
) -> tuple[np.ndarray, bool] | None:
    """Return the rows of each id folded from `start` on, and whether each has some; None where NumPy is to do it."""
    if data.dtype != np.float32 or not data.flags.c_contiguous or data.size < MANY:
        return None
    code = FOLDS[ufunc].code()
    if code is None:
        return None
    rows = np.full((count, *data.shape[1:]), start, np.float32)
    met = code(data, np.ascontiguousarray(ids, np.int64), len(data), data.size // len(data), rows)
    return rows, met == count
