"""Short rows folded to one number each, or rows folded to one, as loops that may become machine code (`core.loops`).

NumPy folds row by row, and a row of ten costs it as much as one of a hundred. Results are NumPy's to the last bit: sums
of rows are taken eight at a time, everything else in turn. Loops go from row `begin` to row `end`, so that several
threads may share the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.loops import F32, I32, I64, U8, Loop, f32, f64, loop, waiting_loop
from ebbflow.ops.nn.row_loops import sum_of
from ebbflow.ops.parts import in_shares

MANY = 1 << 13
"""Numbers from which on code is worth asking for."""
WIDEST = 64
"""Numbers of the longest row that counts as short."""

# --- each row to a number ---------------------------------------------------------------------------------------------


@loop
def row_sums(x: F32, width: int, out: F32, begin: int, end: int) -> None:
    """Add the numbers of each row."""
    for i in range(begin, end):
        out[i] = sum_of(x, i * width, width)


@loop
def row_products(x: F32, width: int, out: F32, begin: int, end: int) -> None:
    """Multiply the numbers of each row."""
    for i in range(begin, end):
        value = x[i * width]
        for k in range(1, width):
            value *= x[i * width + k]
        out[i] = value


@loop
def row_maxima(x: F32, width: int, out: F32, begin: int, end: int) -> None:
    """Find the largest number of each row, a NaN where there is one."""
    for i in range(begin, end):
        value = x[i * width]
        for k in range(1, width):
            other = x[i * width + k]
            value = other if other > value or other != other else value
        out[i] = value


@loop
def row_minima(x: F32, width: int, out: F32, begin: int, end: int) -> None:
    """Find the smallest number of each row, a NaN where there is one."""
    for i in range(begin, end):
        value = x[i * width]
        for k in range(1, width):
            other = x[i * width + k]
            value = other if other < value or other != other else value
        out[i] = value


@loop
def row_any(x: U8, width: int, out: U8, begin: int, end: int) -> None:
    """Say of each row whether one of it is true."""
    for i in range(begin, end):
        value = 0
        for k in range(width):
            value |= x[i * width + k]
        out[i] = int(value != 0)


# --- rows to one ------------------------------------------------------------------------------------------------------


@loop
def column_sums(x: F32, width: int, out: F32, begin: int, end: int) -> None:
    """Add rows to what is there."""
    for i in range(begin, end):
        for k in range(width):
            out[k] += x[i * width + k]


@loop
def column_maxima(x: F32, width: int, out: F32, begin: int, end: int) -> None:
    """Put the larger of two in place, row by row."""
    for i in range(begin, end):
        for k in range(width):
            value, other = out[k], x[i * width + k]
            out[k] = other if other > value or other != other else value


@loop
def column_minima(x: F32, width: int, out: F32, begin: int, end: int) -> None:
    """Put the smaller of two in place, row by row."""
    for i in range(begin, end):
        for k in range(width):
            value, other = out[k], x[i * width + k]
            out[k] = other if other < value or other != other else value


@waiting_loop
def product_of_all(x: F32, n: int) -> float:
    """Multiply numbers, eight at a time: in turn, each would wait for the one before."""
    a, b, c, d = f32(1.0), f32(1.0), f32(1.0), f32(1.0)
    e, f, g, h = f32(1.0), f32(1.0), f32(1.0), f32(1.0)
    whole = n - n % 8
    for k in range(0, whole, 8):
        a *= x[k]
        b *= x[k + 1]
        c *= x[k + 2]
        d *= x[k + 3]
        e *= x[k + 4]
        f *= x[k + 5]
        g *= x[k + 6]
        h *= x[k + 7]
    value = ((a * b) * (c * d)) * ((e * f) * (g * h))
    for k in range(whole, n):
        value *= x[k]
    return f64(value)


ROWS: dict[Any, Loop] = {
    np.add.reduce: row_sums,
    np.multiply.reduce: row_products,
    np.maximum.reduce: row_maxima,
    np.minimum.reduce: row_minima,
}
COLUMNS: dict[Any, Loop] = {
    np.add.reduce: column_sums,
    np.maximum.reduce: column_maxima,
    np.minimum.reduce: column_minima,
}


def folded(reduce: Any, x: np.ndarray, axis: Any, keep: bool) -> np.ndarray | None:
    """Return many short rows folded along one axis, None where NumPy is to do it."""
    if axis.__class__ is tuple:
        axis = None if len(axis) == x.ndim else axis[0] if len(axis) == 1 else axis
    if axis is None and reduce == np.multiply.reduce and x.dtype == np.float32 and x.flags.c_contiguous:
        code = product_of_all.code()
        return None if code is None else np.full([1] * x.ndim if keep else [], code(x, x.size), np.float32)
    if (
        x.ndim < 2
        or axis.__class__ is not int
        or x.dtype != np.float32
        or not 0 < x.shape[-1] <= WIDEST
        or not x.flags.c_contiguous
    ):
        return None
    if axis == x.ndim - 1 or axis == -1:
        return along_rows(ROWS.get(reduce), x, keep, np.float32)
    return _along_columns(COLUMNS.get(reduce), x, keep) if x.ndim == 2 and axis in (0, -2) else None


def along_rows(fold: Loop | None, x: np.ndarray, keep: bool, dtype: Any) -> np.ndarray | None:
    """Return each row folded by a loop, None where there is no code."""
    code = None if fold is None else fold.code()
    if code is None:
        return None
    out = np.empty(x.shape[:-1], dtype)
    width = x.shape[-1]
    in_shares(lambda begin, end: code(x, width, out, begin, end), out.size, max(1, (1 << 17) // width))
    return out[..., None] if keep else out


def _along_columns(fold: Loop | None, x: np.ndarray, keep: bool) -> np.ndarray | None:
    code = None if fold is None else fold.code()
    if code is None:
        return None
    out = x[0].copy()
    code(x, x.shape[1], out, 1, len(x))
    return out[None] if keep else out


# --- rows that ids name -----------------------------------------------------------------------------------------------


@loop
def named_maxima(rows: F32, at: I64, n: int, width: int, updates: F32) -> None:
    """Put the larger of two in place, for rows that numbers name."""
    for i in range(n):
        for k in range(width):
            value, other = rows[at[i] * width + k], updates[i * width + k]
            rows[at[i] * width + k] = other if other > value or other != other else value


@loop
def named_minima(rows: F32, at: I64, n: int, width: int, updates: F32) -> None:
    """Put the smaller of two in place, for rows that numbers name."""
    for i in range(n):
        for k in range(width):
            value, other = rows[at[i] * width + k], updates[i * width + k]
            rows[at[i] * width + k] = other if other < value or other != other else value


@loop
def named_products(rows: F32, at: I64, n: int, width: int, updates: F32) -> None:
    """Multiply rows that numbers name."""
    for i in range(n):
        for k in range(width):
            rows[at[i] * width + k] *= updates[i * width + k]


NAMED: dict[Any, Loop] = {np.maximum: named_maxima, np.minimum: named_minima, np.multiply: named_products}


def fold_named(rows: np.ndarray, at: np.ndarray, updates: np.ndarray, ufunc: Any) -> bool:
    """Fold updates into rows that numbers name, by a loop; return whether that was done."""
    fold = NAMED.get(ufunc)
    if fold is None or updates.size < MANY or rows.dtype != np.float32 or updates.dtype != np.float32:
        return False
    code = fold.code()
    if code is None or not rows.flags.c_contiguous or not rows.flags.writeable:
        return False
    at, updates = np.ascontiguousarray(at, np.int64), np.ascontiguousarray(updates)
    code(rows, at, at.size, updates.size // at.size, updates)
    return True


# --- counting ---------------------------------------------------------------------------------------------------------


@loop
def binned(x: F32, n: int, low: float, step: float, bins: int, counts: I32) -> bool:
    """Count numbers by the step they are in, those outside with the first and last; say whether all are numbers."""
    for i in range(n):
        value = (f64(x[i]) - low) / step
        if value != value:
            return False
        at = 0 if value < 0.0 else bins - 1 if value >= f64(bins) else int(value)
        counts[at] += 1
    return True
