"""What ragged tensors ask of dense ones: axes made one, rows without their padding, tensors of a given shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor, wrap
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.span_loops import place_of_each


def with_first_axes_merged(tensor: Any, times: int) -> Any:
    """Return a tensor with its first axes made one."""
    sizes = raw.Shape(tensor)
    first = raw.Prod(sizes[: times + 1], 0, keep_dims=True)  # -1 would mean nothing beside lengths of 0
    return raw.Reshape(tensor, raw.ConcatV2([first, sizes[times + 1 :]], 0))


def lengths_before(tensor: Any, padding: Any, kind: Any) -> Any:
    """Return how long each row is without the padding at its end."""
    same = raw.Equal(tensor, convert(padding, tensor.dtype))
    for axis in range(len(tensor._dims) - 1, 1, -1):
        same = raw.All(same, [axis])
    kept = raw.Cast(raw.LogicalNot(same), DstT=kind)
    count = raw.Shape(tensor, out_type=kind)[1]
    one = np.array(1, kind.np)
    return raw.Max(kept * raw.Range(one, count + one, one), [1])


def full_of(shape: Any, value: Any) -> Any:
    """Return a tensor of a shape full of a value, which may be the inner part of it."""
    return raw.Fill(shape, value) if not value._dims else raw.BroadcastTo(value, shape)


def filled_up(splits: Any, values: Any, default: Any) -> Any:
    """Return eager rows as one tensor, filled up at their ends; None where the splits do not fit the values."""
    array = splits._array
    rows, lengths = array.size - 1, np.diff(array)
    longest = int(lengths.max(initial=0))
    if values._array.shape[0] != array[-1]:
        return None
    places = place_of_each(splits, np.arange(rows) * longest)
    if places is None:
        return None
    inner = list(values._array.shape[1:])
    blank = full_of(np.array([rows * longest, *inner], np.int64), default)
    flat = raw.TensorScatterUpdate(blank, wrap(places._array[:, None], places.dtype), values)
    return raw.Reshape(flat, np.array([rows, longest, *inner], np.int64))


def padded(rows: Any, default: Any, shape: Any) -> Any:
    """Return a ragged tensor as one tensor, cut or filled up to a shape; None and -1 leave a length as it is."""
    splits = list(rows.nested_row_splits)
    sizes, known = _lengths(shape, rows.shape)
    filled = raw.RaggedTensorToTensor(
        sizes, rows.flat_values, default, splits, row_partition_types=["ROW_SPLITS"] * len(splits)
    )
    if known is not None:
        filled.set_shape(known)
    return filled


def _lengths(shape: Any, own: TensorShape) -> tuple[Any, list[int | None] | None]:
    """Return the lengths that are asked for as a tensor, and what is known of those of the result."""
    known = None if own.rank is None else own.as_list()
    if isinstance(shape, Tensor):
        return shape, None
    if isinstance(shape, (list, tuple)) and any(isinstance(length, Tensor) for length in shape):
        return convert([-1 if length is None else length for length in shape]), None
    asked = TensorShape(shape)
    if asked.rank is None:
        return -1, known
    dims = asked.as_list()
    if known is not None and len(known) == len(dims):
        known = [b if a is None else a for a, b in zip(dims, known, strict=True)]
    return np.array([-1 if n is None else n for n in dims], np.int64), known if known and len(known) == len(
        dims
    ) else None
