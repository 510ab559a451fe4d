"""Work on many short rows, which NumPy calls row by row, as loops that may become machine code (`core.loops`).

Sums are taken in NumPy's order, so that results are the same to the last bit: eight at a time, then by pairs.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core.loops import F32, I32, I64, Single, bits_of, f32, loop
from ebbflow.ops.parts import in_shares

WIDEST = 64
"""Numbers of the longest row that counts as short."""
SHARE = 1 << 16
"""Numbers that a thread looks at at a time."""
FEW = 1 << 12
"""Numbers from which on code is worth asking for."""


def short_rows(x: np.ndarray) -> bool:
    """Return whether an array is many short rows that the loops can walk."""
    return x.dtype == np.float32 and x.size >= FEW and 0 < x.shape[-1] <= WIDEST and x.flags.c_contiguous


@loop
def less_largest(x: F32, rows: int, width: int, out: F32) -> None:
    """Subtract from each number the largest of its row."""
    for i in range(rows):
        at = i * width
        largest = x[at]
        for k in range(1, width):
            value = x[at + k]
            if value > largest or value != value:
                largest = value
        for k in range(width):
            out[at + k] = x[at + k] - largest


def sum_of(x: F32, at: int, width: int) -> Single:
    """The sum of some numbers, in the order that NumPy adds them."""
    if width < 8:
        total = f32(0.0)
        for k in range(width):
            total += x[at + k]
        return total
    a, b, c, d = x[at], x[at + 1], x[at + 2], x[at + 3]
    e, f, g, h = x[at + 4], x[at + 5], x[at + 6], x[at + 7]
    whole = width - width % 8
    for k in range(at + 8, at + whole, 8):
        a += x[k]
        b += x[k + 1]
        c += x[k + 2]
        d += x[k + 3]
        e += x[k + 4]
        f += x[k + 5]
        g += x[k + 6]
        h += x[k + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for k in range(at + whole, at + width):
        total += x[k]
    return total


@loop
def sums(x: F32, rows: int, width: int, out: F32) -> None:
    """Add the numbers of each row."""
    for i in range(rows):
        out[i] = sum_of(x, i * width, width)


@loop
def divided(x: F32, rows: int, width: int, by: F32, out: F32) -> None:
    """Divide each row by its number."""
    for i in range(rows):
        at = i * width
        for k in range(width):
            out[at + k] = x[at + k] / by[i]


LAST = 0x7FFFFFFF
NAN_FIRST = LAST
"""The rank of a NaN that comes before all numbers."""


def rank_of(x: Single, missing: int) -> int:
    """Return a whole number that is the larger the larger a number is; both zeros have one."""
    bits = bits_of(x + f32(0.0))
    return missing if x != x else bits ^ ((bits >> 63) & LAST)


@loop
def largest_of_rows(x: F32, rows: int, width: int, missing: int, places: I64, values: F32) -> None:
    """Find the largest number of each row and where it stands, the first of several; `missing` is the rank of a NaN.

    Rank and place are one whole number, of which the largest is found without a branch.
    """
    for i in range(rows):
        best = rank_of(x[i * width], missing) << 32 | LAST
        for k in range(1, width):
            best = max(best, rank_of(x[i * width + k], missing) << 32 | (LAST - k))
        place = LAST - (best & LAST)
        values[i] = x[i * width + place]
        places[i] = place


def largest_places(x: np.ndarray, missing: int = NAN_FIRST) -> tuple[np.ndarray, np.ndarray] | None:
    """Return where the largest number of each row stands, and that number; None where there is no code for it."""
    if x.dtype != np.float32 or not x.flags.c_contiguous or not x.size or x.shape[-1] > LAST:
        return None
    code = largest_of_rows.worth(x.size, FEW)
    if code is None:
        return None
    places, values = np.empty(x.shape[:-1], np.int64), np.empty(x.shape[:-1], np.float32)
    width = x.shape[-1]
    flat = x.reshape(-1), places.reshape(-1), values.reshape(-1)

    def work(begin: int, end: int) -> None:
        rows = slice(begin, end)
        code(flat[0][begin * width : end * width], end - begin, width, missing, flat[1][rows], flat[2][rows])

    in_shares(work, places.size, max(1, SHARE // width))
    return places, values


@loop
def top_of_rows(x: F32, rows: int, width: int, count: int, values: F32, places: I32) -> bool:
    """Keep the largest numbers of each row in order, of equal ones the first; a NaN is for others."""
    for i in range(rows):
        begin = i * count
        for k in range(width):
            value = x[i * width + k]
            if value != value:
                return False
            j = min(k, count)
            if j < count or value > values[begin + count - 1]:
                j = min(j, count - 1)
                while j > 0 and value > values[begin + j - 1]:
                    values[begin + j] = values[begin + j - 1]
                    places[begin + j] = places[begin + j - 1]
                    j -= 1
                values[begin + j] = value
                places[begin + j] = k
    return True
