"""Sums, products and extremes of slices of one axis (`tf.contrib.reduce_slice_ops`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import errors
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.padding import repeat
from ebbflow.ops.arrays.shaping import shape, transpose
from ebbflow.ops.declare import raw

Reduce = Callable[[Any, Any, Any], Any]


def _reduced(op: Reduce, data: Any, indices: Any, axis: Any, name: Any, default: str) -> Any:
    with name_scope(name, default, [data, indices, axis]):
        data, indices = convert(data, name="data"), convert(indices, name="indices")
        place = convert(axis, name="axis").constant_value()
        ndims = data.shape.rank
        if place is None or ndims is None:
            raise ValueError(f"{default}: axis and the rank of data must be known, got axis={axis}, shape={data.shape}")
        place = int(place)
        if not -ndims <= place < ndims:
            raise errors.InvalidArgumentError(None, None, f"{default}: axis={place} is not in [{-ndims}, {ndims})")
        first, last = _bounds(indices, default)
        size = raw.Cast(shape(data)[place], DstT=indices.dtype)
        first = raw.ClipByValue(first, raw.ZerosLike(size), size)
        lengths = raw.Maximum(raw.ClipByValue(last, raw.ZerosLike(size), size) - first, raw.ZerosLike(size))
        count = shape(lengths)[0]
        segments = repeat(raw.Range(0, count, 1), lengths)
        begins = raw.Cumsum(lengths, 0, exclusive=True)
        rows = raw.Range(0, shape(segments)[0], 1)
        rows = raw.Cast(rows, DstT=indices.dtype) + gather(first - begins, segments)
        order = [place % ndims, *(at for at in range(ndims) if at != place % ndims)]
        found = op(gather(transpose(data, order), rows), segments, count)
        return transpose(found, [order.index(at) for at in range(ndims)])


def _bounds(indices: Any, name: str) -> tuple[Any, Any]:
    """Return where slices begin and end: two columns, or a list of borders of slices side by side."""
    if indices.shape.rank == 1:
        return indices[:-1], indices[1:]
    if indices.shape.rank == 2 and indices.shape[1] in (2, None):
        return indices[:, 0], indices[:, 1]
    raise ValueError(f"{name}: indices must be a vector or have two columns, got shape {indices.shape}")


def reduce_slice_sum(data: TensorLike, indices: TensorLike, axis: int, name: str | None = None) -> Tensor:
    """Return the sum of each slice of an axis; nothing sums to 0."""
    return _reduced(raw.UnsortedSegmentSum, data, indices, axis, name, "ReduceSliceSum")


def reduce_slice_prod(data: TensorLike, indices: TensorLike, axis: int, name: str | None = None) -> Tensor:
    """Return the product of each slice of an axis; that of nothing is 1."""
    return _reduced(raw.UnsortedSegmentProd, data, indices, axis, name, "ReduceSliceProd")


def reduce_slice_max(data: TensorLike, indices: TensorLike, axis: int, name: str | None = None) -> Tensor:
    """Return the largest entry of each slice of an axis; of nothing, the lowest number of the type."""
    return _reduced(raw.UnsortedSegmentMax, data, indices, axis, name, "ReduceSliceMax")


def reduce_slice_min(data: TensorLike, indices: TensorLike, axis: int, name: str | None = None) -> Tensor:
    """Return the smallest entry of each slice of an axis; of nothing, the highest number of the type."""
    return _reduced(raw.UnsortedSegmentMin, data, indices, axis, name, "ReduceSliceMin")
