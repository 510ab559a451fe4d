"""Ragged shapes as lists of lengths: the older class that `tf.experimental.DynamicRaggedShape` took the place of.

The outer axes, up to the last ragged one, have a number or a vector of lengths each; those inside are one vector. What
two shapes are broadcast to is found by the newer class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged import shape_arithmetic as arithmetic
from ebbflow.ops.ragged import shape_broadcast
from ebbflow.ops.ragged.dynamic_shape import DynamicRaggedShape
from ebbflow.ops.ragged.partition import RowPartition
from ebbflow.ops.ragged.rows import spans


class RaggedTensorDynamicShape:
    """The lengths of the axes of a ragged tensor."""

    def __init__(
        self,
        partitioned_dim_sizes: Sequence[TensorLike],
        inner_dim_sizes: TensorLike,
        dim_size_dtype: DTypeLike | None = None,
    ) -> None:
        tensors = [x.dtype for x in (*partitioned_dim_sizes, inner_dim_sizes) if isinstance(x, Tensor)]
        kind = dtypes.as_dtype(dim_size_dtype or (tensors[0] if tensors else dtypes.int64))
        self._outer = tuple(_lengths(sizes, kind) for sizes in partitioned_dim_sizes)
        if self._outer:
            if self._outer[0].shape.rank:
                raise ValueError("outermost partitioned dimension must be uniform.")
            if len(self._outer) == 1:
                raise ValueError("must have at least two partitioned dimensions")
            if not self._outer[-1].shape.rank:
                raise ValueError("innermost partitioned dimension must be ragged")
        self._inner = arithmetic.vector(inner_dim_sizes, kind)
        self._kind = kind

    @staticmethod
    def from_dim_sizes(dim_sizes: Sequence[TensorLike]) -> RaggedTensorDynamicShape:
        """Return the shape of axes of these lengths: a number, or one for each row."""
        sizes = [_lengths(size, size.dtype if isinstance(size, Tensor) else dtypes.int64) for size in dim_sizes]
        ragged = [axis for axis, size in enumerate(sizes) if size.shape.rank]
        count = ragged[-1] + 1 if ragged else 0
        kind = dtypes.int64 if any(size.dtype is dtypes.int64 for size in sizes) or not sizes else dtypes.int32
        return RaggedTensorDynamicShape(sizes[:count], arithmetic.joined(sizes[count:], kind), kind)

    @classmethod
    def from_tensor(cls, rt_input: AnyTensor, dim_size_dtype: DTypeLike | None = None) -> RaggedTensorDynamicShape:
        """Return the shape of a tensor, ragged or not."""
        return _older(DynamicRaggedShape.from_tensor(rt_input, dim_size_dtype), of_tensor=True)

    # --- asking it ----------------------------------------------------------------------------------------------------

    @property
    def rank(self) -> int | None:
        """How many axes there are."""
        inner = self.num_inner_dimensions
        return None if inner is None else inner + len(self._outer)

    @property
    def partitioned_dim_sizes(self) -> tuple[Tensor, ...]:
        """The lengths of the axes up to the last ragged one."""
        return self._outer

    @property
    def inner_dim_sizes(self) -> Tensor:
        """The lengths of the axes inside."""
        return self._inner

    @property
    def num_partitioned_dimensions(self) -> int:
        """How many axes there are up to the last ragged one."""
        return len(self._outer)

    @property
    def num_inner_dimensions(self) -> int | None:
        """How many axes there are inside."""
        return self._inner.shape.as_list()[0] if self._inner.shape.rank else None

    @property
    def dim_size_dtype(self) -> dtypes.DType:
        """The type of the lengths."""
        return self._kind

    def dimension_size(self, axis: int) -> Tensor:
        """Return the length of an axis: a number, or one for each row."""
        if not isinstance(axis, int):
            raise TypeError(f"axis must be an integer, got {axis!r}")
        return self._outer[axis] if axis < len(self._outer) else self._inner[axis - len(self._outer)]

    def is_ragged(self, axis: int) -> bool:
        """Return whether the rows along an axis may have different lengths."""
        if not isinstance(axis, int):
            raise TypeError(f"axis must be an integer, got {axis!r}")
        rank = self.rank
        if axis < 0:
            raise ValueError("Negative axis values are not supported")
        if rank is not None and axis >= rank:
            raise ValueError(f"Expected axis={axis} < rank={rank}")
        return axis < len(self._outer) and bool(self._outer[axis].shape.rank)

    def num_slices_in_dimension(self, axis: int) -> Tensor:
        """Return how many parts there are along an axis, over all rows."""
        if axis < 0:
            return convert(1, self._kind)
        if self.is_ragged(axis):
            return raw.Sum(self._outer[axis], [0])
        return self.dimension_size(axis) * self.num_slices_in_dimension(axis - 1)

    # --- others like it -----------------------------------------------------------------------------------------------

    def with_dim_size_dtype(self, dtype: DTypeLike) -> RaggedTensorDynamicShape:
        """Return the same, counted in another integer type."""
        kind = dtypes.as_dtype(dtype)
        if kind not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        return RaggedTensorDynamicShape(self._outer, raw.Cast(self._inner, DstT=kind), kind)

    def broadcast_to_rank(self, rank: int) -> RaggedTensorDynamicShape:
        """Return the shape with axes of length 1 in front, up to a rank."""
        if self.rank is None:
            raise ValueError("Unable to broadcast: self.rank is unknown")
        more = [1] * (rank - self.rank)
        if rank < self.rank:
            raise ValueError("Unable to broadcast: rank must be greater than self.rank.")
        if self._outer:
            return RaggedTensorDynamicShape((*more, *self._outer), self._inner, self._kind)
        ones = np.array(more, self._kind.np)
        return RaggedTensorDynamicShape((), raw.ConcatV2([ones, self._inner], 0), self._kind)

    def broadcast_dimension(self, axis: int, lengths: TensorLike) -> RaggedTensorDynamicShape:
        """Return the shape with an axis of length 1 made of these lengths; others stay as they are."""
        given: Any = _lengths(lengths, self._kind)
        if self.is_ragged(axis):
            return self
        size = self.dimension_size(axis)
        if given.shape.rank:
            return self._ragged_along(axis, given)
        once = raw.Equal(size, np.array(1, self._kind.np))
        made, often = raw.SelectV2(once, given, size), raw.SelectV2(once, given, np.array(1, self._kind.np))
        if axis >= len(self._outer):
            at = axis - len(self._outer)
            inner = raw.ConcatV2([self._inner[:at], raw.ExpandDims(made, 0), self._inner[at + 1 :]], 0)
            return RaggedTensorDynamicShape(self._outer, inner, self._kind)
        times = raw.ExpandDims(often, 0)
        deeper = [raw.Tile(each, times) if each.shape.rank else each for each in self._outer[axis + 1 :]]
        return RaggedTensorDynamicShape((*self._outer[:axis], made, *deeper), self._inner, self._kind)

    def _ragged_along(self, axis: int, lengths: Any) -> RaggedTensorDynamicShape:
        """Return the shape with rows of these lengths along an axis of length 1."""
        count = len(self._outer)
        if axis >= count:
            between = [self._inner[i] for i in range(axis - count)]
            outer = (*self._outer, *between, lengths)
            return RaggedTensorDynamicShape(outer, self._inner[axis - count + 1 :], self._kind)
        kind = self._kind.np
        order = RowPartition.from_row_lengths(lengths, validate=False).value_rowids()
        deeper = []
        for each in self._outer[axis + 1 :]:
            if each.shape.rank:
                ends = raw.Cumsum(each, 0)
                starts = raw.GatherV2(ends - each, order, 0)
                deeper.append(raw.GatherV2(each, order, 0))
                order = spans(starts, raw.GatherV2(ends, order, 0)).values
                continue
            deeper.append(each)
            inside = raw.Range(np.array(0, kind), each, np.array(1, kind))
            order = raw.Reshape(raw.ExpandDims(order * each, 1) + inside, [-1])
        return RaggedTensorDynamicShape((*self._outer[:axis], lengths, *deeper), self._inner, self._kind)

    def __repr__(self) -> str:
        return f"RaggedTensorDynamicShape(partitioned_dim_sizes={self._outer!r}, inner_dim_sizes={self._inner!r})"


def _lengths(sizes: Any, kind: Any) -> Any:
    tensor = sizes if isinstance(sizes, Tensor) else convert(np.asarray(sizes, kind.np))
    return tensor if tensor.dtype is kind else raw.Cast(tensor, DstT=kind)


def _newer(shape: RaggedTensorDynamicShape) -> DynamicRaggedShape:
    """Return a shape as one of the newer class."""
    if not shape.partitioned_dim_sizes:
        return DynamicRaggedShape._from_inner_shape(shape.inner_dim_sizes)
    rows, found = shape.partitioned_dim_sizes[0], []
    for each in shape.partitioned_dim_sizes[1:]:
        if each.shape.rank:
            found.append(RowPartition.from_row_lengths(each, validate=False))
        else:
            found.append(RowPartition.from_uniform_row_length(each, nrows=rows, validate=False))
        rows = found[-1].nvals()
    inner = raw.ConcatV2([raw.ExpandDims(rows, 0), shape.inner_dim_sizes], 0)
    return DynamicRaggedShape(found, inner)


def _older(shape: DynamicRaggedShape, of_tensor: bool = False) -> RaggedTensorDynamicShape:
    """Return a shape of the newer class as one of this: of a tensor all axes that are divided count as ragged."""
    rows = shape.row_partitions
    kept = len(rows) if of_tensor else max((i + 1 for i, each in enumerate(rows) if not each.is_uniform()), default=0)
    shape = shape._with_num_row_partitions(kept) if kept != len(rows) else shape
    if not kept:
        return RaggedTensorDynamicShape((), shape.inner_shape, shape.dtype)
    lengths = [rows[0].nrows()]
    for place, each in enumerate(rows[:kept]):
        ragged = not each.is_uniform() or (of_tensor and place == kept - 1)
        lengths.append(each.row_lengths() if ragged else each.uniform_row_length())  # type: ignore[arg-type]
    return RaggedTensorDynamicShape(lengths, shape.inner_shape[1:], shape.dtype)


def broadcast_dynamic_shape(
    shape_x: RaggedTensorDynamicShape, shape_y: RaggedTensorDynamicShape
) -> RaggedTensorDynamicShape:
    """Return the shape that tensors of two shapes are broadcast to."""
    for name, shape in (("shape_x", shape_x), ("shape_y", shape_y)):
        if not isinstance(shape, RaggedTensorDynamicShape):
            raise TypeError(f"{name} must be a RaggedTensorDynamicShape, got {shape!r}")
    return _older(shape_broadcast.broadcast_dynamic_shape(_newer(shape_x), _newer(shape_y)))


def broadcast_to(
    rt_input: AnyTensor, shape: RaggedTensorDynamicShape, broadcast_inner_dimensions: bool = True
) -> AnyTensor:
    """Return a tensor broadcast to a ragged shape."""
    if not isinstance(shape, RaggedTensorDynamicShape):
        raise TypeError(f"shape must be a RaggedTensorDynamicShape, got {shape!r}")
    return shape_broadcast.broadcast_to(rt_input, _newer(shape))
