"""The type of ragged shapes: how many rows, values and axes there are, as far as that is known.

What one part knows follows for the others: as many values in one division as rows in the next. The members here become
`DynamicRaggedShape.Spec`. Also how such shapes are batched. Knows specs of partitions; values are `dynamic_shape`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import Dimension, TensorShape
from ebbflow.core.spec import TensorSpec
from ebbflow.core.typing import DTypeLike, ShapeLike
from ebbflow.ops.declare import raw
from ebbflow.ops.extension.batching import ExtensionTypeBatchEncoder
from ebbflow.ops.ragged.partition import RowPartitionSpec
from ebbflow.ops.ragged.spec import RaggedTensorSpec


class ShapeSpec:
    """The type of a DynamicRaggedShape (what `DynamicRaggedShape.Spec` is made of)."""

    def __init__(
        self, row_partitions: tuple[RowPartitionSpec, ...], static_inner_shape: ShapeLike, dtype: DTypeLike
    ) -> None:
        rows = _row_specs(row_partitions)
        kind = dtypes.as_dtype(dtype)
        if kind not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"dtype must be tf.int32 or tf.int64, got {kind}")
        shape = TensorShape([static_inner_shape] if isinstance(static_inner_shape, int) else static_inner_shape)
        for spec in rows:
            if spec.dtype is not kind:
                raise ValueError(f"dtype of {spec!r} is {spec.dtype!r}: expected {kind!r}")
        if rows and shape.rank == 0:
            raise ValueError("If row_partitions are provided, must have inner_rank > 0")
        rows, shape = _agreeing(rows, shape)
        self._row_partitions, self._static_inner_shape = rows, shape
        self._inner_shape = TensorSpec([shape.rank], kind)

    def __repr__(self) -> str:
        return (
            f"DynamicRaggedShape.Spec(row_partitions={self._row_partitions!r}, "
            f"static_inner_shape={self._static_inner_shape!r}, dtype={self.dtype!r})"
        )

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """Return the spec of a shape."""
        rows = tuple(rows._type_spec for rows in value._row_partitions)
        return cls(rows, value._static_inner_shape, value.dtype)

    @classmethod
    def _from_tensor_shape(cls, shape: Any, num_row_partitions: int, dtype: Any) -> Any:
        """Return the spec of shapes of this rank and these lengths, some axes of which are divided into rows."""
        kind = dtypes.as_dtype(dtype)
        if kind not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"dtype must be tf.int32 or tf.int64, got {kind}")
        shape = TensorShape(shape)
        if shape.rank is None:
            return cls((RowPartitionSpec(dtype=kind),) * num_row_partitions, TensorShape(None), kind)
        if shape.rank <= 1 and num_row_partitions:
            raise ValueError("num_row_partitions should be zero if shape is a scalar or vector.")
        if shape.rank > 1 and num_row_partitions >= shape.rank:
            raise ValueError("num_row_partitions must be less than rank")
        dims, count = shape.as_list(), num_row_partitions
        rows = tuple(RowPartitionSpec(uniform_row_length=n, dtype=kind) for n in dims[1 : count + 1])
        if not rows:
            return cls((), shape, kind)
        first = RowPartitionSpec(nrows=dims[0], uniform_row_length=dims[1], dtype=kind)
        return cls((first, *rows[1:]), TensorShape([None, *dims[count + 1 :]]), kind)

    @classmethod
    def _from_spec(cls, spec: Any, dtype: Any = dtypes.int64) -> Any:
        """Return the spec of the shapes of what another spec describes."""
        if isinstance(spec, cls):
            return spec
        own = getattr(spec, "_ragged_shape", None)  # of a structured tensor
        if own is not None:
            return own
        if isinstance(spec, RaggedTensorSpec):
            return cls._from_tensor_shape(spec.shape, spec.ragged_rank, spec.row_splits_dtype)
        if isinstance(spec, TensorSpec):
            return cls._from_tensor_shape(spec.shape, 0, dtype)
        raise TypeError(f"No ragged shape is known for {spec!r}")

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the numbers."""
        return self._inner_shape.dtype

    @property
    def inner_rank(self) -> int | None:
        """How many axes the flat values have."""
        return self._static_inner_shape.rank

    @property
    def num_row_partitions(self) -> int:
        """How many axes are divided into rows."""
        return len(self._row_partitions)

    @property
    def rank(self) -> int | None:
        """How many axes there are."""
        return None if self.inner_rank is None else self.inner_rank + len(self._row_partitions)

    def _dimension(self, index: int) -> int | None:
        """Return the length of an axis where it is known to be one."""
        rank, rows = self.rank, self._row_partitions
        if rank is not None and not 0 <= index < rank:
            raise ValueError(f"Index out of range: {index}.")
        if rows and index <= len(rows):
            return rows[index - 1].uniform_row_length if index else rows[0].nrows
        return None if rank is None else self._static_inner_shape.as_list()[index - len(rows)]

    def _num_slices_in_dimension(self, axis: int) -> int | None:
        """Return how many parts there are when all axes up to this one are made one."""
        if not isinstance(axis, int):
            raise TypeError(f"axis must be an integer, got {axis!r}")
        if axis < 0:
            if self.rank is None:
                raise ValueError(f"axis={axis} may only be negative if rank is statically known.")
            axis += self.rank
        if axis == 0:
            return self._dimension(0)
        count = len(self._row_partitions)
        if axis <= count:
            return self._row_partitions[axis - 1].nvals
        if self.inner_rank is None:
            return None
        return TensorShape(self._static_inner_shape.as_list()[: axis - count + 1]).num_elements()

    def with_dtype(self, dtype: DTypeLike) -> Any:
        """Return the same, counted in another integer type."""
        rows = tuple(spec.with_dtype(dtype) for spec in self._row_partitions)
        return type(self)(rows, self._static_inner_shape, dtype)

    def _merge_with(self, other: Any) -> Any:
        """Return the type that knows what both know."""
        count = max(self.num_row_partitions, other.num_row_partitions)
        a, b = self._with_num_row_partitions(count), other._with_num_row_partitions(count)
        rows = [x._merge_with(y) for x, y in zip(a._row_partitions, b._row_partitions, strict=True)]
        return type(self)(tuple(rows), a._static_inner_shape.merge_with(b._static_inner_shape), a.dtype)

    def _with_num_row_partitions(self, new_num_row_partitions: int) -> Any:
        """Return the same with as many axes as this divided into rows."""
        if new_num_row_partitions == self.num_row_partitions:
            return self
        if self.rank is None:
            raise ValueError("Changing num_row_partitions with unknown rank unsupported")
        if new_num_row_partitions > max(self.rank - 1, 0):
            raise ValueError("Number of row partitions too large")
        if new_num_row_partitions < 0:
            raise ValueError("Number of row partitions negative")
        count, dims = self.num_row_partitions, self._static_inner_shape.as_list()
        if new_num_row_partitions > count:
            more = new_num_row_partitions - count
            first = [RowPartitionSpec(dims[0], None, dims[1], self.dtype)]
            rows = [RowPartitionSpec(uniform_row_length=n, dtype=self.dtype) for n in dims[2 : more + 1]]
            return type(self)((*self._row_partitions, *first, *rows), [None, *dims[more + 1 :]], self.dtype)
        gone = self._row_partitions[new_num_row_partitions:]
        inner = [gone[0].nrows, *(spec.uniform_row_length for spec in gone), *dims[1:]]
        return type(self)(self._row_partitions[:new_num_row_partitions], inner, self.dtype)

    def _set_rank_if_unknown(self, new_rank: int) -> Any:
        """Return the same of a rank, where that was not known."""
        if self.rank is not None:
            return self
        inner = [None] * (new_rank - self.num_row_partitions)
        return type(self)(self._row_partitions, TensorShape(inner), self.dtype)

    def _truncate(self, new_rank: int) -> Any:
        """Return the type of the shapes of the first axes alone."""
        if self.rank is None:
            return self._set_rank_if_unknown(new_rank)._truncate(new_rank)
        count = self.num_row_partitions
        if new_rank == 0:
            return type(self)((), TensorShape([]), self.dtype)
        if new_rank == 1:
            return type(self)((), TensorShape([self._dimension(0)]), self.dtype)
        if new_rank <= count:
            rows = self._row_partitions[: new_rank - 1]
            return type(self)(rows, TensorShape([rows[-1].nvals]), self.dtype)
        return type(self)(self._row_partitions, self._static_inner_shape[: new_rank - count], self.dtype)

    def _to_tensor_shape(self) -> TensorShape:
        if self.rank is None:
            return TensorShape(None)
        return TensorShape([self._dimension(axis) for axis in range(self.rank)])


def _row_specs(row_partitions: Any) -> tuple[RowPartitionSpec, ...]:
    rule = "row_partitions should be an Iterable of RowPartitionSpecs"
    if not isinstance(row_partitions, Iterable):
        raise TypeError(f"{rule}, got {row_partitions!r}")
    rows = tuple(row_partitions)
    if not all(isinstance(spec, RowPartitionSpec) for spec in rows):
        raise TypeError(f"{rule}, got {row_partitions!r}")
    return rows


def _agreeing(rows: Sequence[RowPartitionSpec], shape: TensorShape) -> tuple[tuple[RowPartitionSpec, ...], TensorShape]:
    """Return specs that know what follows from their neighbours: inwards first, then outwards."""
    found = list(rows)
    for i in range(1, len(found)):
        found[i] = _with(found[i], nrows=_same(found[i].nrows, found[i - 1].nvals))
    if found and shape.rank is not None:
        dims = shape.as_list()
        shape = TensorShape([_same(found[-1].nvals, dims[0]), *dims[1:]])
        found[-1] = _with(found[-1], nvals=shape.as_list()[0])
    for i in reversed(range(1, len(found))):
        found[i - 1] = _with(found[i - 1], nvals=_same(found[i].nrows, found[i - 1].nvals))
    return tuple(found), shape


def _same(a: int | None, b: int | None) -> int | None:
    return Dimension(a).merge_with(b).value


def _with(spec: RowPartitionSpec, nrows: int | None = None, nvals: int | None = None) -> RowPartitionSpec:
    rows = spec.nrows if nrows is None else nrows
    return RowPartitionSpec(rows, spec.nvals if nvals is None else nvals, spec.uniform_row_length, spec.dtype)


# --- in batches -------------------------------------------------------------------------------------------------------


class DynamicRaggedShapeBatchEncoder(ExtensionTypeBatchEncoder):
    """How shapes are batched: as tensors that have them, whose elements say nothing."""

    def batch(self, spec: Any, batch_size: int | None) -> Any:
        """Return the type of the shape of a batch of tensors of shapes of a type."""
        rows, dims = spec._row_partitions, spec._static_inner_shape
        if not rows:
            inner = dims if dims.rank is None else TensorShape([batch_size, *dims.as_list()])
            return type(spec)((), inner, spec.dtype)
        head = RowPartitionSpec(batch_size, None, rows[0].nrows, spec.dtype)
        each = [
            RowPartitionSpec(_times(r.nrows, batch_size), _times(r.nvals, batch_size), r.uniform_row_length, r.dtype)
            for r in rows
        ]
        inner = dims if dims.rank is None else TensorShape([_times(dims.as_list()[0], batch_size), *dims.as_list()[1:]])
        return type(spec)((head, *each), inner, spec.dtype)

    def unbatch(self, spec: Any) -> Any:
        """Return the type of the shape of one row."""
        rows, dims = spec._row_partitions, spec._static_inner_shape
        if not rows:
            return type(spec)((), dims if dims.rank is None else dims[1:], spec.dtype)
        count = rows[0].uniform_row_length
        if len(rows) == 1:
            inner = dims if dims.rank is None else TensorShape([count, *dims.as_list()[1:]])
            return type(spec)((), inner, spec.dtype)
        kept = [RowPartitionSpec(uniform_row_length=r.uniform_row_length, dtype=r.dtype) for r in rows[1:]]
        kept[0] = RowPartitionSpec(count, None, rows[1].uniform_row_length, spec.dtype)
        inner = dims if dims.rank is None else TensorShape([None, *dims.as_list()[1:]])
        return type(spec)(tuple(kept), inner, spec.dtype)

    def encode(self, spec: Any, value: Any, minimum_rank: int = 0) -> Any:
        """Return a tensor of the shape; a scalar is sent as a row of one."""
        if value.rank == 0:
            return convert([True])
        ragged = value if value.rank < 2 else value._with_num_row_partitions(value.rank - 1)
        return ragged._add_row_partitions(raw.Fill(ragged.inner_shape, convert(True)))

    def decode(self, spec: Any, encoded_value: Any) -> Any:
        """Return the shape of a tensor."""
        if spec.rank == 0:
            return spec.value_type._from_inner_shape([], spec.dtype)
        return spec.value_type.from_tensor(encoded_value, dtype=spec.dtype)

    def encoding_specs(self, spec: Any) -> Any:
        """Return the type of the tensors of a shape of a type: ragged in every axis but the first."""
        whole = spec._to_tensor_shape()
        if whole.rank == 0:
            return RaggedTensorSpec([1], dtypes.bool, 0, spec.dtype)
        return RaggedTensorSpec(whole, dtypes.bool, max((whole.rank or 1) - 1, 0), spec.dtype)


def _times(count: int | None, batch_size: int | None) -> int | None:
    return None if count is None or batch_size is None else count * batch_size
