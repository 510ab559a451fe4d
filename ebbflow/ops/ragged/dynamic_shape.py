"""The shape of a tensor whose axes may be ragged (`tf.experimental.DynamicRaggedShape`): what `tf.shape` gives for one.

Divisions into rows for the outer axes, and the lengths of the inner ones as a vector. A shape is a value of an
extension type, so functions, loops and datasets take it; its type is made in `shape_spec`. How two shapes go together
is in `shape_broadcast`. Knows partitions and the class of ragged tensors.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import DTypeLike, ShapeLike, TensorLike
from ebbflow.ops.checks.asserts import assert_equal
from ebbflow.ops.declare import raw
from ebbflow.ops.extension.batching import BatchableExtensionType
from ebbflow.ops.ragged import shape_arithmetic as arithmetic
from ebbflow.ops.ragged.conversion import ragged_or_tensor
from ebbflow.ops.ragged.partition import RowPartition
from ebbflow.ops.ragged.shape_spec import DynamicRaggedShapeBatchEncoder, ShapeSpec
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.ragged.value import RaggedTensorValue

UNALIGNED = "RowPartitions in DynamicRaggedShape do not align"
UNENDED = "Last row partition does not match inner_shape."
UNFILLED = "Last row partition does not match flat_values."


class DynamicRaggedShape(BatchableExtensionType):
    """The shape of a tensor whose inner axes may have rows of different lengths.

    >>> DynamicRaggedShape.from_lengths([2, (1, 2), 3])
    <DynamicRaggedShape lengths=[2, (1, 2), 3] num_row_partitions=1>
    """

    _row_partitions: tuple[RowPartition, ...]
    _inner_shape: Tensor
    _static_inner_shape: TensorShape

    __batch_encoder__ = DynamicRaggedShapeBatchEncoder()
    __name__ = "tf.DynamicRaggedShape"

    Spec = ShapeSpec

    def __init__(
        self,
        row_partitions: Sequence[RowPartition],
        inner_shape: ShapeLike,
        dtype: DTypeLike | None = None,
        validate: bool = False,
        static_inner_shape: ShapeLike = None,
    ):
        partitions = _partitions(row_partitions)
        kind = _dtype_of(partitions, inner_shape, dtype)
        partitions = tuple(rows.with_dtype(kind) for rows in partitions)
        inner = arithmetic.vector(inner_shape, kind)
        static = arithmetic.known_shape(inner).merge_with(TensorShape(static_inner_shape))
        static = _check_alignment(partitions, static)
        if validate:
            partitions, inner = _checked(partitions, inner)
        self._row_partitions, self._inner_shape, self._static_inner_shape = partitions, inner, static

    # --- making one ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_lengths(
        cls, lengths: Sequence[Any], num_row_partitions: int | None = None, dtype: DTypeLike = dtypes.int64
    ) -> DynamicRaggedShape:
        """Return the shape of axes of these lengths: a number, or a tuple with the length of each row."""
        if not isinstance(lengths, (list, tuple)):
            raise ValueError(f"lengths should be a list, got {lengths!r}")
        for length in lengths:
            if not arithmetic.is_length(length):
                raise ValueError(f"element of lengths should be int or tuple of ints: got {length!r}")
        if num_row_partitions is not None and not isinstance(num_row_partitions, int):
            raise ValueError(f"num_row_partitions should be an int or None, got {num_row_partitions!r}")
        ragged = [axis for axis, length in enumerate(lengths) if not isinstance(length, int)]
        count = num_row_partitions if num_row_partitions is not None else (ragged[-1] if ragged else 0)
        if not lengths and count:
            raise ValueError("num_row_partitions==0 for a scalar shape")
        if count < 0 or (lengths and count >= len(lengths)):
            raise ValueError(f"num_row_partitions should be less than len(lengths) and not negative, got {count}")
        if ragged and ragged[-1] > count:
            raise ValueError(f"Axis {ragged[-1]} is ragged: num_row_partitions should be at least {ragged[-1]}")
        partitions, values = partitions_and_values(lengths[: count + 1], dtype)
        inner = [values, *lengths[count + 1 :]] if lengths else []
        return cls(partitions, np.array(inner, dtypes.as_dtype(dtype).np), dtype)

    @classmethod
    def from_row_partitions(
        cls, row_partitions: Sequence[RowPartition], dtype: DTypeLike | None = None
    ) -> DynamicRaggedShape:
        """Return the shape of values, in one long row, that are divided into rows."""
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        last = row_partitions[-1]
        known = _values_in(last)
        inner = raw.ExpandDims(last.nvals(), 0) if known is None else np.array([known], last.dtype.np)
        return cls(row_partitions, inner, dtype)

    @classmethod
    def _from_inner_shape(cls, inner_shape: ShapeLike, dtype: DTypeLike | None = None) -> DynamicRaggedShape:
        """Return the shape of a tensor that is not ragged."""
        return cls([], inner_shape, dtype)

    @classmethod
    def from_tensor(cls, t: TensorLike, dtype: DTypeLike | None = None) -> DynamicRaggedShape:
        """Return the shape of a tensor, ragged or not."""
        own = getattr(t, "_ragged_shape", None) if isinstance(t, CompositeTensor) else None
        if own is not None:
            return own if dtype is None else own.with_dtype(dtype)
        if isinstance(t, SparseTensor):
            return cls([], t.dense_shape, dtype)
        t = ragged_or_tensor(t) if isinstance(t, RaggedTensorValue) or not isinstance(t, RaggedTensor) else t
        if not isinstance(t, RaggedTensor):
            kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
            return cls([], raw.Shape(t, out_type=kind), kind, static_inner_shape=t.shape)
        kind = t.row_splits.dtype if dtype is None else dtypes.as_dtype(dtype)
        flat, partitions = t.flat_values, t._nested_row_partitions
        return cls(partitions, raw.Shape(flat, out_type=kind), kind, static_inner_shape=flat.shape)

    # --- asking it ----------------------------------------------------------------------------------------------------

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """How the outer axes are divided into rows, the outermost first."""
        return self._row_partitions

    @property
    def num_row_partitions(self) -> int:
        """How many axes are divided into rows."""
        return len(self._row_partitions)

    @property
    def inner_shape(self) -> Tensor:
        """The lengths of the axes inside: those of the flat values."""
        return self._inner_shape

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the numbers: int32 or int64."""
        return self._inner_shape.dtype

    @property
    def inner_rank(self) -> int | None:
        """How many axes the flat values have."""
        return self._static_inner_shape.rank

    @property
    def rank(self) -> int | None:
        """How many axes there are."""
        inner = self.inner_rank
        return None if inner is None else inner + len(self._row_partitions)

    def is_uniform(self, axis: int) -> bool:
        """Return whether all rows along an axis are known to have one length."""
        if not isinstance(axis, int):
            raise TypeError(f"axis must be an integer, got {axis!r}")
        if axis < 0:
            raise IndexError(f"Negative axis values are not supported, got {axis}")
        if self.rank is not None and axis >= self.rank:
            raise IndexError(f"Expected axis={axis} < rank={self.rank}")
        inside = axis == 0 or axis > len(self._row_partitions)
        return inside or self._row_partitions[axis - 1].is_uniform()

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """Return the length of each axis: a tuple for rows of several, None where it is not known.

        Where the number of axes is not known, the list ends with `...`.
        """
        inner: list[Any] = [...] if self.inner_rank is None else self._static_inner_shape.as_list()
        if not self._row_partitions:
            return inner
        lengths: list[Any] = [self._row_partitions[0].static_nrows]
        for rows in self._row_partitions:
            uniform = rows.static_uniform_row_length
            each = rows.row_lengths().constant_value() if uniform is None and ragged_lengths else None
            lengths.append(uniform if each is None else tuple(each.tolist()))
        return lengths + (inner if self.inner_rank is None else inner[1:])

    def _to_tensor_shape(self) -> TensorShape:
        lengths = self.static_lengths(ragged_lengths=False)
        return TensorShape(None) if lengths and lengths[-1] is ... else TensorShape(lengths)

    def _num_elements(self) -> Tensor:
        """Return how many elements a tensor of this shape has."""
        return arithmetic.product(self._inner_shape, self._static_inner_shape)

    def _num_slices_in_dimension(self, axis: int) -> Tensor:
        """Return how many parts there are when all axes up to this one are made one."""
        if not isinstance(axis, int):
            raise TypeError(f"axis must be an integer, got {axis!r}")
        if axis < 0:
            if self.rank is None:
                raise ValueError(f"You can't use negative axis {axis}: the rank is undefined")
            axis += self.rank
        count = len(self._row_partitions)
        if axis == 0 or not 0 < axis <= count:
            ends = axis - count + 1 if axis else 1
            return (
                self._dimension(0)
                if not axis
                else arithmetic.product(self._inner_shape[:ends], self._static_inner_shape[:ends])
            )
        return self._row_partitions[axis - 1].nvals()

    def _dimension(self, index: int) -> Tensor:
        """Return the length of an axis that is not ragged."""
        if not isinstance(index, int):
            raise TypeError(f"index should be an int, got {index!r}")
        count = len(self._row_partitions)
        if not count or index > count:
            known = self._static_inner_shape.as_list()[index - count] if self.inner_rank is not None else None
            return self._inner_shape[index - count] if known is None else convert(known, self.dtype)
        if index == 0:
            return self._row_partitions[0].nrows()
        length = self._row_partitions[index - 1].uniform_row_length()
        if length is None:
            raise ValueError(f"Index {index} is not uniform")
        return length

    def __getitem__(self, index: int | slice) -> Any:
        """Return the length of an axis, or the shape of some of the axes; axes behind the first must be uniform."""
        rank = self.rank
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise IndexError(f"Cannot stride through a shape, got {index!r}")
            start, stop = (_place(at, rank, "slice") for at in (index.start or 0, index.stop))
            return self._slice_shape(start or 0, stop)
        if not isinstance(index, int):
            raise TypeError(f"Argument is not an int or a slice, got {index!r}")
        if index < 0:
            if rank is None:
                raise ValueError("Rank must be known to use a negative index")
            index += rank
            if index < 0:
                raise IndexError(f"Index must be non-negative, got {index} for a rank of {rank}")
        if rank is not None and index >= rank:
            raise IndexError(f"Index is too big, got {index} for a rank of {rank}")
        return self._dimension(index)

    def _slice_shape(self, start: int, stop: int | None) -> DynamicRaggedShape:
        """Return the shape of the axes from one to before another."""
        rank, count = self.rank, len(self._row_partitions)
        if stop is not None and rank is not None:
            stop = min(stop, rank)
        if start == 0 and stop in (None, rank):  # all of it
            return self
        if stop is not None and stop <= start:
            return DynamicRaggedShape._from_inner_shape([], self.dtype)
        if start == 0 and stop is not None and stop <= count:
            if stop == 1:
                return DynamicRaggedShape([], raw.ExpandDims(self._row_partitions[0].nrows(), 0))
            return DynamicRaggedShape.from_row_partitions(self._row_partitions[: stop - 1])
        if start == 0:
            inner, static = self._inner_shape[: stop - count], self._static_inner_shape  # type: ignore[operator]
            static = static[: stop - count] if static.rank is not None else TensorShape(None)  # type: ignore[operator]
            return DynamicRaggedShape(self._row_partitions, inner, static_inner_shape=static)
        if rank is None:
            raise ValueError("Rank must be known to slice a shape from behind its first axis")
        axes = range(start, rank if stop is None else stop)
        if not all(self.is_uniform(axis) for axis in axes):
            raise ValueError("All relevant dimensions must be uniform")
        return DynamicRaggedShape([], arithmetic.joined([self._dimension(axis) for axis in axes], self.dtype))

    # --- others like it -----------------------------------------------------------------------------------------------

    def with_dtype(self, dtype: DTypeLike) -> DynamicRaggedShape:
        """Return the same shape, counted in another integer type."""
        kind = dtypes.as_dtype(dtype)
        if kind is self.dtype:
            return self
        inner = raw.Cast(self._inner_shape, DstT=kind)
        partitions = [rows.with_dtype(kind) for rows in self._row_partitions]
        return DynamicRaggedShape(partitions, inner, kind, static_inner_shape=self._static_inner_shape)

    def _inner_shape_dim(self, dimension: int) -> Any:
        """Return the length of one of the inner axes: a number where it is known."""
        known = self._static_inner_shape.as_list()[dimension] if self.inner_rank is not None else None
        return self._inner_shape[dimension] if known is None else known

    def _alt_inner_shape(self, new_inner_rank: int) -> Tensor:
        """Return the lengths of the last axes: those before them are made one, those of rows must be uniform."""
        return arithmetic.inner_shape_of_rank(self, new_inner_rank)[0]

    def _with_inner_rank(self, inner_rank: int) -> DynamicRaggedShape:
        """Return the same shape with as many axes as this inside."""
        rank = self.rank
        if rank is None:
            raise ValueError("Rank must be known to adjust inner_rank")
        if rank < 2:
            if inner_rank == self.inner_rank:
                return self
            raise ValueError("Cannot change inner_rank if rank < 2")
        return self._with_num_row_partitions(rank - inner_rank)

    def _with_num_row_partitions(self, num_row_partitions: int) -> DynamicRaggedShape:
        """Return the same shape with as many axes as this divided into rows."""
        rank, count = self.rank, len(self._row_partitions)
        if rank is None:
            raise ValueError("Rank must be known to adjust num_row_partitions")
        if not isinstance(num_row_partitions, int):
            raise ValueError(f"num_row_partitions must be an int, got {num_row_partitions!r}")
        if num_row_partitions < 0:
            raise ValueError(f"num_row_partitions must be nonnegative, got {num_row_partitions}")
        if num_row_partitions == count:
            return self
        if num_row_partitions >= max(rank, 1):
            raise ValueError(
                f"num_row_partitions must be less than rank if rank > 1, else 0: got {num_row_partitions} of {rank}"
            )
        if num_row_partitions < count:
            inner, static = arithmetic.inner_shape_of_rank(self, rank - num_row_partitions)
            return DynamicRaggedShape(self._row_partitions[:num_row_partitions], inner, static_inner_shape=static)
        more = num_row_partitions - count
        inner, static = arithmetic.inner_shape_of_rank(self, self._static_inner_shape.rank - more)
        partitions = (*self._row_partitions, *arithmetic.uniform_partitions(self, more))
        return DynamicRaggedShape(partitions, inner, static_inner_shape=static)

    def _merge_dims(self, outer_axis: int, inner_axis: int) -> DynamicRaggedShape:
        """Return the shape with the axes from one to the other made one."""
        count = len(self._row_partitions)
        if outer_axis == inner_axis:
            return self
        if outer_axis > count or not count:
            inner, static = arithmetic.merged_axes(
                self._inner_shape, self._static_inner_shape, outer_axis - count, inner_axis - count
            )
            return DynamicRaggedShape(self._row_partitions, inner, static_inner_shape=static)
        if inner_axis > count:
            return self._with_num_row_partitions(inner_axis)._merge_dims(outer_axis, inner_axis)
        rows, kept = self._row_partitions, self._row_partitions[inner_axis:]
        if outer_axis:
            kept = (*rows[: outer_axis - 1], arithmetic.merged(rows[outer_axis - 1 : inner_axis]), *kept)
        return DynamicRaggedShape(kept, self._inner_shape, static_inner_shape=self._static_inner_shape)

    def _merge_with(self, other: DynamicRaggedShape) -> DynamicRaggedShape:
        """Return the shape with what both know; ValueError where they contradict."""
        count = max(self.num_row_partitions, other.num_row_partitions)
        a, b = self._with_num_row_partitions(count), other._with_num_row_partitions(count)
        kind = a.dtype if a.dtype is b.dtype else dtypes.int64
        a, b = a.with_dtype(kind), b.with_dtype(kind)
        pairs = zip(a._row_partitions, b._row_partitions, strict=True)
        partitions = [mine._merge_precomputed_encodings(theirs) for mine, theirs in pairs]
        static = a._static_inner_shape.merge_with(b._static_inner_shape)
        better = b if b._static_inner_shape.is_fully_defined() else a
        return DynamicRaggedShape(partitions, better._inner_shape, static_inner_shape=static)

    def _merge_with_spec(self, other: Any) -> DynamicRaggedShape:
        """Return the shape with what a spec knows besides."""
        count = max(self.num_row_partitions, other.num_row_partitions)
        mine, spec = self._with_num_row_partitions(count), other._with_num_row_partitions(count)
        if mine.dtype is not spec.dtype:
            raise ValueError(f"RowPartition and RowPartitionSpec are not compatible: {self} and {other} (dtypes)")
        pairs = zip(mine._row_partitions, spec._row_partitions, strict=True)
        partitions = [rows._merge_with_spec(row_spec) for rows, row_spec in pairs]
        return DynamicRaggedShape(partitions, mine._inner_shape, static_inner_shape=spec._static_inner_shape)

    def _as_row_partitions(self) -> Sequence[RowPartition]:
        """Return a division into rows for every axis but the first."""
        rank = self.rank
        if rank is None:
            raise ValueError("rank must be known for _as_row_partitions")
        if rank < 1:
            raise ValueError("rank must be >= 1 for _as_row_partitions")
        return self._with_num_row_partitions(rank - 1)._row_partitions

    def _add_row_partitions(self, flat_values: TensorLike, validate: bool = False) -> Any:
        """Return flat values divided into rows: a ragged tensor, or the values where nothing is divided."""
        if not self._row_partitions:
            return flat_values
        if validate:
            flat_values = convert(flat_values)
            count = raw.Shape(flat_values, out_type=self.dtype)[0]
            checks = assert_equal(self._row_partitions[-1].nvals(), count, message=UNFILLED)
            flat_values = arithmetic.after([checks], flat_values)
        return RaggedTensor._from_nested_row_partitions(flat_values, self._row_partitions, validate=False)

    def __repr__(self) -> str:
        shown = ", ".join("..." if length is ... else str(length) for length in self.static_lengths())
        return f"<DynamicRaggedShape lengths=[{shown}] num_row_partitions={len(self._row_partitions)}>"


# --- small pieces -----------------------------------------------------------------------------------------------------


def partitions_and_values(lengths: Sequence[Any], dtype: DTypeLike | None = None) -> tuple[list[RowPartition], int]:
    """Return how axes of these lengths are divided into rows, and how many values there are in the end."""
    if not lengths:
        return [], 1
    if not isinstance(lengths[0], int):
        raise ValueError(f"the first of the lengths should be int, got {lengths[0]!r}")
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    found, count = [], lengths[0]
    for length in lengths[1:]:
        if isinstance(length, int):
            found.append(RowPartition.from_uniform_row_length(length, count * length, count, dtype=kind))
            count *= length
            continue
        if len(length) != count:
            raise ValueError(f"Shape not consistent: {len(length)} lengths for {count} rows")
        found.append(RowPartition.from_row_lengths(np.array(length, kind.np), validate=False, dtype=kind))
        count = sum(length)
    return found, count


def _partitions(row_partitions: Any) -> tuple[RowPartition, ...]:
    if not isinstance(row_partitions, Iterable):
        raise TypeError(f"row_partitions should be a list of row partitions. Instead, got {row_partitions!r}")
    for rows in row_partitions:
        if not isinstance(rows, RowPartition):
            raise TypeError(f"row_partitions contains {rows!r}. Only RowPartitions are allowed.")
    return tuple(row_partitions)


def _dtype_of(partitions: Sequence[RowPartition], inner_shape: Any, dtype: Any) -> dtypes.DType:
    if dtype is not None:
        kind = dtypes.as_dtype(dtype)
        if kind not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"dtype must be tf.int32 or tf.int64, got {kind}")
        return kind
    if partitions:
        return partitions[0].dtype
    if isinstance(inner_shape, Tensor) or hasattr(inner_shape, "dtype"):
        kind = dtypes.as_dtype(inner_shape.dtype)
        return kind if kind in (dtypes.int32, dtypes.int64) else dtypes.int64
    return dtypes.int64


def _values_in(rows: RowPartition) -> int | None:
    known = rows.static_nvals
    if known is None:
        last = rows.nvals().constant_value()
        known = None if last is None else int(last)
    return known


def _check_alignment(partitions: Sequence[RowPartition], static: TensorShape) -> TensorShape:
    """Refuse partitions that do not follow each other; return what is known of the axes inside."""
    for i, (outer, inner) in enumerate(itertools.pairwise(partitions)):
        values, rows = outer.static_nvals, inner.static_nrows
        if values is not None and rows is not None and values != rows:
            raise ValueError(f"{UNALIGNED} between {i} and {i + 1}: {values} values, {rows} rows")
    if not partitions:
        return static
    if static.rank == 0:
        raise IndexError("inner_shape must have an axis: there are row partitions")
    values, first = partitions[-1].static_nvals, None if static.rank is None else static.as_list()[0]
    if values is not None and first is not None and values != first:
        raise ValueError(f"{UNENDED} {values} values, inner_shape {static}")
    if values is None or static.rank is None:
        return static
    return TensorShape([values, *static.as_list()[1:]])


def _checked(partitions: Sequence[RowPartition], inner: Any) -> tuple[tuple[RowPartition, ...], Any]:
    """Return the parts once they are known, at once or in the run, to follow each other."""
    checks = [
        assert_equal(outer.nvals(), rows.nrows(), message=UNALIGNED) for outer, rows in itertools.pairwise(partitions)
    ]
    if partitions:
        checks.append(assert_equal(partitions[-1].nvals(), inner[0], message=UNENDED))
    checks = [check for check in checks if check is not None]
    if not checks or isinstance(inner, EagerTensor):
        return tuple(partitions), inner
    return tuple(rows._with_dependencies(checks) for rows in partitions), arithmetic.after(checks, inner)


def _place(at: Any, rank: int | None, what: str) -> int | None:
    """Return a bound of a slice counted from the front."""
    if at is None:
        return None
    if not isinstance(at, int):
        raise TypeError(f"Argument is not an int or a slice, got {at!r} in a {what}")
    if at >= 0:
        return at
    if rank is None:
        raise ValueError("Rank must be known to use a negative index")
    return max(at + rank, 0)
