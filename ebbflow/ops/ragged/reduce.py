"""Reductions of ragged tensors over any axes.

Over an axis that is ragged, a reduction is one by segments: the row of each value says what it is added to. Where rows
are ragged themselves, what is at the same place in rows of the same segment comes together. Knows the class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.ops.checks.asserts import assert_equal
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.rows import expand_dims
from ebbflow.ops.ragged.shape_arithmetic import after
from ebbflow.ops.ragged.tensor import RaggedTensor


def reduced(rows: RaggedTensor, op: Any, axis: Any, keepdims: Any) -> Any:
    """Return what a reduction op gives over some axes, or over all."""
    if op.name == "Mean":
        return _quotient(rows, axis, keepdims)
    if op.name in ("All", "Any"):
        numbers = rows.with_flat_values(raw.Cast(rows.flat_values, DstT=dtypes.int32))
        picked = reduced(numbers, raw.Min if op.name == "All" else raw.Max, axis, keepdims)
        return _mapped(lambda x: raw.Greater(x, 0), picked)
    if axis is None:
        flat = rows.flat_values
        return op(flat, np.arange(len(flat._dims), dtype=np.int32), keep_dims=bool(keepdims))
    return over(rows, op, getattr(raw, f"UnsortedSegment{op.name}"), axis, keepdims)


def over(rows: RaggedTensor, whole: Callable[..., Any], bring: Callable[..., Any], axis: Any, keepdims: Any) -> Any:
    """Return what a reduction gives over some axes: `whole` is for dense ones, `bring` for segments of ragged ones."""
    rank = rows.shape.rank
    axes = sorted({int(a) + (rank if a < 0 else 0) for a in np.ravel(axis)}, reverse=True)
    if any(not 0 <= a < rank for a in axes):
        raise ValueError(f"axis {axis} is not one of a ragged tensor of rank {rank}")
    found: Any = rows
    for one in axes:
        found = _over(found, whole, bring, one, bool(keepdims))
    return found


def _over(value: Any, whole: Callable[..., Any], bring: Callable[..., Any], axis: int, keepdims: bool) -> Any:
    if not isinstance(value, RaggedTensor):
        return whole(value, np.array([axis], np.int32), keep_dims=keepdims)
    if axis > 1:
        return value.with_values(_over(value.values, whole, bring, axis - 1, keepdims))
    numbers = value.value_rowids() if axis == 1 else value.offsets()
    count = value.nrows() if axis == 1 else value.bounding_shape()[1]
    found = _by_segments(bring, value.values, numbers, count)
    return expand_dims(found, axis) if keepdims else found


def by_segments(name: str, data: Any, numbers: Any, count: Any) -> Any:
    """Return the data with the same number brought together; data and numbers may be ragged alike."""
    if not isinstance(numbers, RaggedTensor):
        return _by_segments(getattr(raw, f"UnsortedSegment{name}"), data, convert(numbers), convert(count))
    if not isinstance(data, RaggedTensor):
        raise ValueError("segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data is not.")
    what = "segment_ids.shape must be a prefix of data.shape"
    check = assert_equal(data.row_splits, numbers.row_splits, message=what)
    inner = numbers.values
    flat = numbers.with_values(after([check], inner)) if not isinstance(inner, RaggedTensor) else numbers
    return by_segments(name, data.values, flat.values, count)


def _by_segments(bring: Callable[..., Any], data: Any, numbers: Any, count: Any) -> Any:
    """Return the data with the same number brought together."""
    if not isinstance(data, RaggedTensor):
        return bring(data, numbers, raw.Cast(count, DstT=dtypes.int32))
    lengths = raw.UnsortedSegmentMax(data.row_lengths(), numbers, raw.Cast(count, DstT=dtypes.int32))
    lengths = raw.Maximum(lengths, np.array(0, lengths.dtype.np))  # of no rows at all
    made = RaggedTensor.from_row_lengths(numbers, lengths, validate=False)
    places = raw.GatherV2(made.row_starts(), raw.GatherV2(numbers, data.value_rowids(), 0), 0) + data.offsets()
    return made.with_values(_by_segments(bring, data.values, places, made.row_splits[-1]))


def _quotient(rows: RaggedTensor, axis: Any, keepdims: Any) -> Any:
    """Return the mean: what there is divided by how much there is."""
    total = reduced(rows, raw.Sum, axis, keepdims)
    count = reduced(rows.with_flat_values(raw.OnesLike(rows.flat_values)), raw.Sum, axis, keepdims)
    if isinstance(total, RaggedTensor):
        return total.with_flat_values(total.flat_values / count.flat_values)
    return total / count


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, RaggedTensor):
        return value.with_flat_values(function(value.flat_values))
    return function(value)
