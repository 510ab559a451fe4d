"""Where the values of rows lie, worked out at once where all is known: arrays in, arrays out.

The same as the ops that partitions are made of give, without the ops: eager ragged tensors begin here. Long ones are
loops that may become machine code (`core.loops`). Splits that no rows can have answer None, and the ops explain it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context
from ebbflow.core.loops import I64, loop
from ebbflow.core.tensor import EagerTensor, wrap

MANY = 1 << 12
"""Values from which on code is worth asking for."""


def at_hand(*tensors: Any) -> bool:
    """Return whether tensors are eager, and what is made of them is, too."""
    return not context.graph_scopes and all([t.__class__ is EagerTensor for t in tensors])


@loop
def spread_numbers(starts: I64, ends: I64, steps: I64, rows: int, out: I64) -> None:
    """Write, for each row that ends at a place of `out`, numbers from its start on in its steps."""
    at = 0
    for i in range(rows):
        value, step, end = starts[i], steps[i], ends[i]
        while at < end:
            out[at] = value
            value += step
            at += 1


def spread(starts: np.ndarray, lengths: np.ndarray, steps: np.ndarray | int) -> np.ndarray | None:
    """Return the numbers from each start on, as many as its length says; None where a length is negative.

    >>> spread(np.array([3, 0]), np.array([2, 3]), 1).tolist()
    [3, 4, 0, 1, 2]
    """
    if lengths.size and lengths.min() < 0:
        return None
    ends = np.cumsum(lengths, dtype=np.int64)
    total = int(ends[-1]) if ends.size else 0
    code = spread_numbers.code() if total >= MANY else None
    starts = np.ascontiguousarray(starts, np.int64)
    if code is not None:
        out = np.empty(total, np.int64)
        code(starts, ends, np.ascontiguousarray(np.broadcast_to(steps, ends.shape), np.int64), ends.size, out)
        return out
    inside = np.arange(total) - np.repeat(ends - lengths, lengths)
    return np.repeat(starts, lengths) + inside * (steps if np.ndim(steps) == 0 else np.repeat(steps, lengths))


def row_of_each(splits: Any) -> Any:
    """Return the row of each value of rows that begin and end at eager `splits`, or None."""
    array = splits._array
    if array[:1] != 0:
        return None
    numbers = spread(np.arange(array.size - 1), np.diff(array), 0)
    return None if numbers is None else wrap(numbers.astype(splits.dtype.np, copy=False), splits.dtype)


def place_of_each(splits: Any, first: Any = None) -> Any:
    """Return the place of each value in its row (with `first`, counted from that of its row), or None."""
    array = splits._array
    if array[:1] != 0:
        return None
    numbers = spread(np.zeros(array.size - 1, np.int64) if first is None else first, np.diff(array), 1)
    return None if numbers is None else wrap(numbers.astype(splits.dtype.np, copy=False), splits.dtype)


def taken_rows(splits: Any, numbers: Any) -> tuple[Any, Any] | None:
    """Return the splits of the rows of these numbers, and where their values lie; None where a row is not there."""
    array, at = splits._array, numbers._array
    if at.size and (at.min() < 0 or at.max() >= array.size - 1):
        return None
    starts = array[:-1][at]
    lengths = array[1:][at] - starts
    places = spread(starts, lengths, 1)
    if places is None:
        return None
    ends = np.zeros(at.size + 1, splits.dtype.np)
    np.cumsum(lengths, out=ends[1:])
    return wrap(ends, splits.dtype), wrap(places.astype(splits.dtype.np, copy=False), splits.dtype)
