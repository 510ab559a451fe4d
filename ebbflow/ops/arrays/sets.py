"""Vectors as sets: which elements are there at all, how often, and which are only in one of two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.op import op
from ebbflow.core.typing import DTypeLike, Nested, TensorLike
from ebbflow.ops.declare import FLAT, UNDEFINED
from ebbflow.ops.sizes import invalid, vector

_UNIQUE = "T: type; out_idx: index = int32"
_UNIQUE_V2 = "T: type; Taxis: index = int64; out_idx: index = int32"
Unique = op(
    f"Unique(x:T) -> (y:T, idx:out_idx) | {_UNIQUE}", gradient=UNDEFINED, facts="data_dependent beside one_core=140"
)
UniqueV2 = op(
    f"UniqueV2(x:T, axis:Taxis) -> (y:T, idx:out_idx) | {_UNIQUE_V2}",
    gradient=UNDEFINED,
    facts="data_dependent beside one_core=140",
)
UniqueWithCounts = op(
    f"UniqueWithCounts(x:T) -> (y:T, idx:out_idx, count:out_idx) | {_UNIQUE}",
    gradient=UNDEFINED,
    facts="data_dependent one_core=140",
)
UniqueWithCountsV2 = op(
    f"UniqueWithCountsV2(x:T, axis:Taxis) -> (y:T, idx:out_idx, count:out_idx) | {_UNIQUE_V2}",
    gradient=UNDEFINED,
    facts="data_dependent",
)


def _one_dim(x: Any) -> int | None:
    if x.rank not in (None, 1):
        raise errors.StaticShapeError("unique expects a 1D vector.")
    return None if x.dims is None else x.dims[0]


def _axis_of(axis: Any, rank: int) -> int | None:
    """Return the axis that an axis vector of one entry names, or None for an empty one."""
    if axis.ndim != 1 or axis.size > 1:
        raise invalid("axis does not support input tensors larger than 1 elements")
    if not axis.size:
        return None
    at = int(axis[0])
    if not -rank <= at < rank:
        raise invalid(f"axis has to be between [0, {rank})")
    return at % rank


def _along(x: Any, axis: Any) -> tuple[Any, Any]:
    """Return what is known of the shapes of y and idx."""
    vector(axis, "axis")
    if x.dims is None:
        return None, (None,)
    if axis.value is None:
        return (None,) * len(x.dims), (None,)
    at = _axis_of(axis.value, len(x.dims))
    if at is None:
        return (None,), (_one_dim(x),)
    return (*x.dims[:at], None, *x.dims[at + 1 :]), (x.dims[at],)


Unique.shape(lambda x: [(None,), (_one_dim(x),)])
UniqueWithCounts.shape(lambda x: [(None,), (_one_dim(x),), (None,)])
UniqueV2.shape(lambda x, axis: list(_along(x, axis)))
UniqueWithCountsV2.shape(lambda x, axis: [*_along(x, axis), (None,)])


def first_seen(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where each different row of `x` stands first, and for every row which of those it is."""
    rows = x.reshape(len(x), math.prod(x.shape[1:]))
    if x.ndim > 1 and (x.dtype.hasobject or not rows.shape[1] or x.dtype.itemsize == 2):
        return _first_seen_rows(rows)
    keys = rows[:, 0] if rows.shape[1] == 1 else rows
    if keys.dtype.kind == "V" or keys.dtype.name == "bfloat16":
        keys = keys.astype(np.float32)
    if keys.ndim == 1 and keys.dtype.kind in "iu" and (found := _first_seen_numbers(keys)) is not None:
        return found
    _, first, place = np.unique(
        keys, return_index=True, return_inverse=True, axis=None if keys.ndim == 1 else 0, equal_nan=False
    )
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[place.reshape(-1)]


def _first_seen_numbers(x: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return `first_seen` of whole numbers by a table of all there may be; None where that would be too large."""
    if not x.size:
        return None
    least, most = int(x.min()), int(x.max())
    if most - least > 8 * x.size + 1024:
        return None
    keys = (x - x.dtype.type(least)).astype(np.int64)  # the difference fits: it is small
    table = np.full(most - least + 1, -1, np.int64)
    table[keys[::-1]] = np.arange(x.size - 1, -1, -1)  # what is written last stays: the first place of each number
    first = np.sort(table[table >= 0])
    table[keys[first]] = np.arange(first.size)
    return first, table[keys]


def _first_seen_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    seen: dict[Any, int] = {}
    first: list[int] = []
    place = np.empty(len(rows), np.int64)
    for i, row in enumerate(rows.tolist()):
        at = seen.setdefault(tuple(row), len(first))
        if at == len(first):
            first.append(i)
        place[i] = at
    return np.array(first, np.int64), place


def _unique(x: np.ndarray, axis: Any, out_idx: Any, counts: bool) -> list[np.ndarray]:
    at = None if axis is None else _axis_of(axis, x.ndim)
    if at is None:
        if x.ndim != 1:
            raise invalid("unique expects a 1D vector.")
        at = 0
    first, place = first_seen(np.moveaxis(x, at, 0))
    found = [np.take(x, first, axis=at), place.astype(out_idx.np)]
    return [*found, np.bincount(place, minlength=len(first)).astype(out_idx.np)] if counts else found


@Unique.kernel
def _(xp, x, *, out_idx):
    return _unique(x, None, out_idx, False)


@UniqueWithCounts.kernel
def _(xp, x, *, out_idx):
    return _unique(x, None, out_idx, True)


@UniqueV2.kernel
def _(xp, x, axis, *, out_idx):
    return _unique(x, axis, out_idx, False)


@UniqueWithCountsV2.kernel
def _(xp, x, axis, *, out_idx):
    return _unique(x, axis, out_idx, True)


ListDiff = op(
    "ListDiff(x:T, y:T) -> (out:T, idx:out_idx) | T: type; out_idx: index = int32",
    gradient=FLAT,
    facts="static bounded data_dependent beside",
)


@ListDiff.shape
def _(x, y):
    for arg, name in ((x, "x"), (y, "y")):
        if arg.rank not in (None, 1):
            raise errors.StaticShapeError(f"{name} should be a 1D vector.")
    return [(None,), (None,)]


_MANY = 1 << 9


@ListDiff.kernel
def _(xp, x, y, *, out_idx):
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError("x and y should be vectors")
    if x.dtype.kind in "iu" and x.size + y.size >= _MANY:
        found = np.flatnonzero(~np.isin(x, y)).astype(out_idx.np, copy=False)
        return x[found], found
    known = set(y.tolist())
    kept = np.array([i for i, item in enumerate(x.tolist()) if item not in known], out_idx.np)
    return x[kept], kept


# --- public -----------------------------------------------------------------------------------------------------------


def unique(x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None) -> Nested:
    """Return (y, idx): the different elements in the order they first occur, and which of them each element is.

    >>> y, idx = unique([3, 1, 3])
    >>> y.numpy().tolist(), idx.numpy().tolist()
    ([3, 1], [0, 1, 0])
    """
    return Unique(x, out_idx=as_dtype(out_idx), name=name)


def unique_with_counts(x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None) -> Nested:
    """Return (y, idx, count): `unique`, and how often each element occurs."""
    return UniqueWithCounts(x, out_idx=as_dtype(out_idx), name=name)


def setdiff1d(x: TensorLike, y: TensorLike, index_dtype: DTypeLike = dtypes.int32, name: str | None = None) -> Nested:
    """Return (out, idx): the elements of `x` that are not in `y`, and where they stand.

    >>> setdiff1d([1, 2, 3], [2]).out.numpy().tolist()
    [1, 3]
    """
    return ListDiff(x, y, out_idx=as_dtype(index_dtype), name=name)
