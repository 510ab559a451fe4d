"""The values of lists in the wire format, of one record or of many at once.

A list of floats or integers is one stretch (packed) as a rule, and may be single fields; a list of bytes is a field for
each. Given where the lists of a column lie, each function here returns all values behind each other, and how many each
record has. Knows `wire` and NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.ops.parsing.alike import windows
from ebbflow.ops.parsing.wire import (
    BYTES,
    FLOATS,
    FOUR,
    INTS,
    RANGE,
    VARINT,
    Batch,
    Column,
    MalformedError,
    fields,
    varint,
)

Values = tuple[np.ndarray, np.ndarray]


def _packed(batch: Batch, column: Column) -> tuple[np.ndarray, np.ndarray] | None:
    """Return where the one stretch of each list lies, or None where a list is not such; empty ones are empty."""
    _, starts, ends, packed = column
    if packed:
        return starts, ends
    some = ends > starts
    array = batch.array
    if not ((array[starts] == 0x0A) | ~some).all():
        return None
    at = starts + 1
    here = array[at]
    length, shift, going = (here & 0x7F).astype(np.int64), 7, (here >= 0x80) & some
    at = at + 1
    while going.any():
        if shift > 28:
            return None
        here = array[np.minimum(at, len(array) - 1)]
        length = np.where(going, length | (here & 0x7F).astype(np.int64) << shift, length)
        at = at + going
        going = going & (here >= 0x80)
        shift += 7
    at = np.where(some, at, ends)
    return (at, ends) if (np.where(some, at + length, ends) == ends).all() else None


def _stretches(array: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the bytes of all stretches behind each other."""
    size = int(sizes[0]) if len(sizes) else 0
    if (sizes == size).all():
        return windows(array, starts, size).reshape(-1)
    total = int(sizes.sum())
    before = np.cumsum(sizes) - sizes
    return array[np.arange(total) + np.repeat(starts - before, sizes)]


# --- floats -----------------------------------------------------------------------------------------------------------


def floats(batch: Batch, column: Column) -> Values:
    """Return the floats of a column."""
    packed = _packed(batch, column)
    if packed is None:
        return _row_by_row(batch, column, floats_of, np.float32)
    sizes = packed[1] - packed[0]
    if (sizes & 3).any():
        raise MalformedError("floats are cut short")
    return _stretches(batch.array, packed[0], sizes).view("<f4"), sizes >> 2


def floats_of(data: bytes, start: int, end: int) -> np.ndarray:
    """Return the floats of one list."""
    parts = []
    for number, kind, a, b in fields(data, start, end):
        if number == 1 and kind in (RANGE, FOUR):
            if (b - a) % 4:
                raise MalformedError("floats are cut short")
            parts.append(np.frombuffer(data, "<f4", (b - a) // 4, a))
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


# --- integers ---------------------------------------------------------------------------------------------------------


def ints(batch: Batch, column: Column) -> Values:
    """Return the integers of a column."""
    packed = _packed(batch, column)
    if packed is None:
        return _row_by_row(batch, column, ints_of, np.int64)
    sizes = packed[1] - packed[0]
    flat = _stretches(batch.array, packed[0], sizes)
    if flat.max(initial=0) < 0x80:  # one byte each
        return flat.astype(np.int64), sizes
    closing = np.flatnonzero(flat < 0x80)
    behind = np.cumsum(sizes)
    full = sizes > 0
    if not len(closing) or (flat[behind[full] - 1] >= 0x80).any():
        raise MalformedError("an integer is cut short")
    counts = np.diff(np.searchsorted(closing, behind, "left"), prepend=0)
    opening = np.concatenate([[0], closing[:-1] + 1])
    widths = closing - opening + 1
    if widths.max() > 10:
        raise MalformedError("an integer is too long")
    numbers = np.zeros(len(closing), np.uint64)
    for k in range(int(widths.max())):
        part = (flat[np.minimum(opening + k, closing)] & 0x7F).astype(np.uint64) << np.uint64(7 * k)
        numbers |= np.where(k < widths, part, np.uint64(0))
    return numbers.view(np.int64), counts


def ints_of(data: bytes, start: int, end: int) -> np.ndarray:
    """Return the integers of one list."""
    found: list[int] = []
    for number, kind, a, b in fields(data, start, end):
        if number != 1 or kind not in (RANGE, VARINT):
            continue
        while a < b:
            if data[a] < 0x80:
                found.append(data[a])
                a += 1
            else:
                value, a = varint(data, a, b)
                found.append(value & 0xFFFFFFFFFFFFFFFF)
    return np.array(found, np.uint64).view(np.int64)


# --- bytes ------------------------------------------------------------------------------------------------------------


def texts(batch: Batch, column: Column) -> Values:
    """Return the byte strings of a column."""
    packed = _packed(batch, column)
    if packed is None or (not column.packed and (column.starts == column.ends).any()):
        return _row_by_row(batch, column, texts_of, object)
    data, count = batch.data, len(column.starts)
    found = np.empty(count, object)
    found[:] = [data[a:b] for a, b in zip(packed[0].tolist(), packed[1].tolist(), strict=True)]
    return found, np.ones(count, np.int64)


def texts_of(data: bytes, start: int, end: int) -> np.ndarray:
    """Return the byte strings of one list."""
    listed = [data[a:b] for number, kind, a, b in fields(data, start, end) if number == 1 and kind == RANGE]
    found = np.empty(len(listed), object)
    found[:] = listed
    return found


def _row_by_row(batch: Batch, column: Column, read: Callable[[bytes, int, int], np.ndarray], kind: Any) -> Values:
    rows = []
    for row, (a, b) in enumerate(zip(column.starts.tolist(), column.ends.tolist(), strict=True)):
        try:
            rows.append(read(batch.data, a, b))
        except (MalformedError, IndexError) as error:
            raise MalformedError(row, str(error)) from None
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    return (np.concatenate(rows) if rows else np.zeros(0, kind)).astype(kind, copy=False), counts


MANY: dict[int, Callable[[Batch, Column], Values]] = {BYTES: texts, FLOATS: floats, INTS: ints}
ONE: dict[int, Callable[[bytes, int, int], np.ndarray]] = {BYTES: texts_of, FLOATS: floats_of, INTS: ints_of}
