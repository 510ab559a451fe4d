"""Indices and slices of ragged tensors: `rt[2]`, `rt[:, 1:]`, `rt[..., 0]`, `rt[tf.newaxis]`.

The first key is about rows; those behind it are about what is inside every row, and go down with the values. Knows the
class and how rows are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.shape import dimension_value
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.ops.arrays.slicing import SLICE_TYPE_ERROR
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.rows import _between, expand_dims, pick, spans
from ebbflow.ops.ragged.tensor import RaggedTensor, rows_of
from ebbflow.ops.sizes import invalid


def getitem(rows: RaggedTensor, key: Any) -> Any:
    """Return what `rows[key]` is."""
    return _outer(rows, _spelled_out(tuple(key) if isinstance(key, (list, tuple)) else (key,), rows.shape.rank))


def _spelled_out(keys: tuple[Any, ...], rank: int | None) -> list[Any]:
    """Return the keys with a slice for each axis that `...` stands for."""
    places = [i for i, key in enumerate(keys) if key is Ellipsis]
    axes = sum(key is not None and key is not Ellipsis for key in keys)
    if rank is not None and axes > rank:
        kind = IndexError if places else ValueError
        raise kind(f"Too many indices for RaggedTensor: {axes} for a rank of {rank}.")
    if not places:
        return list(keys)
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    if len(places) > 1:
        raise ValueError("Multiple ellipses are not allowed: one `...` may stand in an index")
    at = places[0]
    return [*keys[:at], *[slice(None)] * (rank - axes), *keys[at + 1 :]]


def _outer(value: Any, keys: Sequence[Any]) -> Any:
    """Apply keys to a value from its first axis on."""
    if not keys:
        return value
    if not isinstance(value, RaggedTensor):
        return value[tuple(keys)]
    key, rest = keys[0], keys[1:]
    if key is None:
        return expand_dims(_outer(value, rest), 0)
    if isinstance(key, slice):
        return _inner(_rows(value, key), rest)
    return _outer(_row(value, key), rest)


def _row(rows: RaggedTensor, at: Any) -> Any:
    if isinstance(at, (int, np.integer)) and not isinstance(at, bool):
        count = dimension_value(rows.shape[0])
        if count is not None and not -count <= at < count:
            raise _outside(at, count)  # type: ignore[arg-type]
        place: Any = rows.nrows() + np.array(at, rows.row_splits.dtype.np) if at < 0 else int(at)
        splits = rows.row_splits
        end = place + np.array(1, splits.dtype.np) if isinstance(place, Tensor) else place + 1
        return _between(rows.values, splits[place], splits[end])
    if isinstance(at, Tensor) and at.shape.rank in (0, None) and at.dtype.is_integer:
        splits = rows.row_splits
        place = raw.Cast(at, DstT=splits.dtype)
        zero, count = splits.dtype.np.type(0), rows.nrows()
        place = raw.SelectV2(raw.Less(place, zero), place + count, place)
        place = raw.SelectV2(raw.Less(place, zero), count, place)  # before the first row: refused, not counted again
        return _between(rows.values, rows.row_starts()[place], rows.row_limits()[place])
    raise TypeError(f"{SLICE_TYPE_ERROR}, got {at!r}")


def _outside(at: int, count: int) -> Exception:
    return IndexError(f"index {at} is out of bounds: the ragged tensor has {count} rows")


def _check_slice(key: slice, offsets: str, strides: str) -> None:
    """Refuse a slice whose parts are neither integers nor None."""
    for parts, words in (((key.start, key.stop), offsets), ((key.step,), strides)):
        for part in parts:
            whole = isinstance(part, (int, np.integer)) or (isinstance(part, Tensor) and part.dtype.is_integer)
            if part is not None and not whole:
                raise TypeError(f"{words}, got {part!r}")


def _rows(rows: RaggedTensor, key: slice) -> RaggedTensor:
    if key == slice(None):
        return rows
    _check_slice(key, SLICE_TYPE_ERROR, SLICE_TYPE_ERROR)
    splits = rows.row_splits
    plain = all(part is None or isinstance(part, (int, np.integer)) for part in (key.start, key.stop, key.step))
    if plain and key.step in (None, 1) and isinstance(splits, EagerTensor):
        start, stop, _ = key.indices(len(splits._array) - 1)
        splits = splits[start : max(start, stop) + 1]
        first, last = splits[0], splits[-1]
        return rows_of(_between(rows.values, first, last), splits - first, rows._uniform)
    starts, limits = rows.row_starts()[key], rows.row_limits()[key]
    places = spans(starts, limits)
    return rows_of(pick(rows.values, places.values), places.row_splits, rows._uniform)


def _inner(rows: RaggedTensor, keys: Sequence[Any]) -> Any:
    """Apply keys to what is inside every row."""
    if not keys:
        return rows
    if not isinstance(rows, RaggedTensor):
        return rows[(slice(None), *keys)]
    key, rest = keys[0], keys[1:]
    if key is None:
        return expand_dims(_inner(rows, rest), 1)
    if isinstance(key, slice):
        part = _part_of_each(rows, key)
        return part.with_values(_inner(part.values, rest)) if rest else part
    if rows._uniform is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    places = rows.row_starts() + _place(key, rows._uniform, rows.row_splits.dtype)
    return _inner(pick(rows.values, places), rest)


def _place(key: Any, size: Any, kind: Any) -> Any:
    """Return a place in rows of one size, counted from the front."""
    known, length = (x.constant_value() if isinstance(x, Tensor) else x for x in (key, size))
    if known is not None and length is not None:
        if not -length <= known < length:
            raise invalid(f"index {known} is out of bounds: rows have {length} values")
        return np.array(known + (length if known < 0 else 0), kind.np)
    at = raw.Cast(convert(key), DstT=kind)
    return raw.SelectV2(raw.Less(at, np.array(0, kind.np)), at + raw.Cast(convert(size), DstT=kind), at)


def _part_of_each(rows: RaggedTensor, key: slice) -> RaggedTensor:
    """Return the same part of every row."""
    if key == slice(None):
        return rows
    _check_slice(key, "slice offsets must be integers or None", "slice strides must be integers or None")
    kind = rows.row_splits.dtype
    step = _step(key.step, kind)
    lengths, starts = rows.row_lengths(), rows.row_starts()
    zero, one = np.array(0, kind.np), np.array(1, kind.np)
    if isinstance(step, Tensor):  # which way it goes is known when it runs
        ahead = raw.Greater(step, zero)
        either = lambda forward, back: raw.SelectV2(ahead, forward, back)
    else:
        either = lambda forward, back: forward if step > 0 else back
    least, most = either(zero, -one), either(lengths, lengths - one)

    def bound(at: Any, default: Any) -> Any:
        if at is None:
            return default + raw.ZerosLike(lengths)
        at = raw.Cast(convert(at), DstT=kind)
        at = raw.SelectV2(raw.Less(at, zero), at + lengths, at + raw.ZerosLike(lengths))
        return raw.Minimum(raw.Maximum(at, least), most)

    first = bound(key.start, either(raw.ZerosLike(lengths), lengths - one))
    last = bound(key.stop, either(lengths, raw.ZerosLike(lengths) - one))
    places = spans(starts + first, starts + last, step)
    return rows_of(pick(rows.values, places.values), places.row_splits, _length_of_part(key, rows._uniform))


def _step(step: Any, kind: Any) -> Any:
    """Return the step of a slice: a number where it is known, else a tensor."""
    if isinstance(step, Tensor) and (known := step.constant_value()) is None:
        return raw.Cast(step, DstT=kind)
    step = 1 if step is None else int(known if isinstance(step, Tensor) else step)
    if not step:
        raise ValueError("slice step cannot be zero")
    return step


def _length_of_part(key: slice, size: Any) -> int | None:
    """Return how much a slice takes of rows of one size, where both are known."""
    parts = [p.constant_value() if isinstance(p, Tensor) else p for p in (key.start, key.stop, key.step)]
    lost = any(p is None and given is not None for p, given in zip(parts, (key.start, key.stop, key.step), strict=True))
    return None if lost or not isinstance(size, int) else len(range(*slice(*parts).indices(size)))
