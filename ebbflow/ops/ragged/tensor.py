"""Ragged tensors: rows of different lengths, kept as one long tensor and where each row begins.

A `RaggedTensor` is made of ops (its parts are tensors), so it works eagerly, in graphs and through functions, and is
differentiable through its flat values. Here are the class and its type; what ops and indices mean for it is in the
modules that `ops.ragged` puts together, which is what others import.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.composite_gradient import WithValuesCompositeTensorGradient
from ebbflow.core.convert import convert
from ebbflow.core.dispatch import add_dispatch_support, borrowed
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.checks import axis_in, check_dense, check_lengths, check_sparse, check_values_fit
from ebbflow.ops.ragged.dense_parts import filled_up, lengths_before, padded, with_first_axes_merged
from ebbflow.ops.ragged.partition import RowPartition, as_splits, partition
from ebbflow.ops.ragged.span_loops import at_hand
from ebbflow.ops.ragged.value import RaggedTensorValue


class RaggedTensor(CompositeTensor):
    """Rows of different lengths; where `values` is ragged itself, so are the rows."""

    is_tensor_like = True
    __composite_gradient__ = WithValuesCompositeTensorGradient()

    if TYPE_CHECKING:  # what `ops/ragged/spec`, `ops/ragged/index` and `ops/ragged/elementwise` put on it

        @property
        def _type_spec(self) -> Any: ...
        def _to_variant(self, batched_input: bool = False, name: str | None = None) -> Any: ...
        @classmethod
        def _from_variant(cls, variant: Any, dtype: Any, output_ragged_rank: int, **_: Any) -> Any: ...
        def __getitem__(self, key: Any) -> Any: ...
        def __neg__(self) -> Any: ...
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __and__(self, other: Any) -> Any: ...
        def __or__(self, other: Any) -> Any: ...
        def __xor__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...

    def __init__(self, values: Any, row_partition: Any, internal: bool = False):
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead "
                "(e.g., RaggedTensor.from_row_lengths())"
            )
        if not isinstance(row_partition, RowPartition):
            raise TypeError(f"Argument `row_partition` must be a RowPartition. Received {row_partition}.")
        if not isinstance(values, (Tensor, RaggedTensor)) and not _is_supported(values):
            raise TypeError(f"type(values) must be one of: Tensor, RaggedTensor; got {values!r}")
        self._values, self._row_partition = values, row_partition

    # --- making one ---------------------------------------------------------------------------------------------------

    @classmethod
    def _from_row_partition(
        cls, values: Any, row_partition: Any, validate: bool = True, maker: str = "_from_row_partition"
    ) -> Any:
        """Return values divided into rows, of which there must be as many as the partition says."""
        if not isinstance(row_partition, RowPartition):
            raise TypeError(f"Argument `row_partition` must be a RowPartition. Received {row_partition}.")
        if not isinstance(validate, bool):
            raise TypeError(f"Argument `validate` must have type bool. Received {validate}.")
        values = _values(values)
        if isinstance(values, RaggedTensor) and values.row_splits.dtype is not row_partition.dtype:
            row_partition, values = row_partition.with_dtype(dtypes.int64), values.with_row_splits_dtype(dtypes.int64)
        if values.shape.rank == 0:
            raise ValueError(f"Shape {values.shape} must have rank at least 1")
        if validate:
            row_partition = check_values_fit(maker, row_partition, _count(values, row_partition.dtype)[0])
        return cls(values, row_partition, internal=True)

    @classmethod
    @add_dispatch_support
    def from_row_splits(cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True) -> Any:
        """Return rows that begin and end at `row_splits`.

        >>> RaggedTensor.from_row_splits([3, 1, 4], [0, 2, 2, 3])
        <tf.RaggedTensor [[3, 1], [], [4]]>
        """
        with name_scope(name, "RaggedFromRowSplits"):
            values = _values(values)
            rows = RowPartition.from_row_splits(row_splits, validate=validate)
            return cls._from_row_partition(values, rows, validate, "from_row_splits")

    @classmethod
    @add_dispatch_support
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True) -> Any:
        """Return rows of these lengths."""
        with name_scope(name, "RaggedFromRowLengths"):
            values = _values(values)
            rows = RowPartition.from_row_lengths(row_lengths, validate=validate)
            return cls._from_row_partition(values, rows, validate, "from_row_lengths")

    @classmethod
    @add_dispatch_support
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows made of the values with the same number; the numbers do not decrease."""
        with name_scope(name, "RaggedFromValueRowIds"):
            values = _values(values)
            rows = RowPartition.from_value_rowids(value_rowids, nrows, validate=validate)
            return cls._from_row_partition(values, rows, validate, "from_value_rowids")

    @classmethod
    @add_dispatch_support
    def from_row_starts(cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True) -> Any:
        """Return rows that begin here, each ending where the next begins."""
        with name_scope(name, "RaggedFromRowStarts"):
            values, starts = _values(values), as_splits(row_starts, name="row_starts")
            rows = RowPartition.from_row_starts(starts, _count(values, starts.dtype)[0], validate=validate)
            return cls._from_row_partition(values, rows, validate, "from_row_starts")

    @classmethod
    @add_dispatch_support
    def from_row_limits(cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True) -> Any:
        """Return rows that end here, each beginning where the one before ends."""
        with name_scope(name, "RaggedFromRowLimits"):
            values = _values(values)
            rows = RowPartition.from_row_limits(row_limits, validate=validate)
            return cls._from_row_partition(values, rows, validate, "from_row_limits")

    @classmethod
    @add_dispatch_support
    def from_uniform_row_length(
        cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True, name: str | None = None
    ) -> Any:
        """Return rows of one length; `nrows` says how many there are where that length is 0."""
        with name_scope(name, "RaggedFromUniformRowLength"):
            values = _values(values)
            kind = values.row_splits.dtype if isinstance(values, RaggedTensor) else None
            length = uniform_row_length
            kind = kind or (length.dtype if isinstance(length, Tensor) else dtypes.int64)
            count = _count(values, kind)[0]
            rows = RowPartition.from_uniform_row_length(length, count, nrows, validate=validate, dtype=kind)
            return cls._from_row_partition(values, rows, validate, "from_uniform_row_length")

    @classmethod
    @add_dispatch_support
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows of rows: the lengths of the outermost come first."""
        _list_of_tensors("nested_row_lengths", nested_row_lengths)
        found = _values(flat_values)
        for lengths in reversed(list(nested_row_lengths)):
            found = cls.from_row_lengths(found, lengths, validate=validate)
        return found

    @classmethod
    @add_dispatch_support
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Sequence[Any],
        nested_nrows: Sequence[Any] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Return rows of rows: the numbers of the outermost come first."""
        _list_of_tensors("nested_value_rowids", nested_value_rowids)
        if nested_nrows is not None:
            _list_of_tensors("nested_nrows", nested_nrows)
            if len(nested_nrows) != len(nested_value_rowids):
                raise ValueError(
                    "Argument `nested_nrows` must have the same length as argument `nested_value_rowids`. "
                    f"len(nested_nrows) = {len(nested_nrows)} vs. len(nested_value_rowids) = {len(nested_value_rowids)}"
                )
        counts = list(nested_nrows) if nested_nrows is not None else [None] * len(nested_value_rowids)
        found = _values(flat_values)
        for numbers, count in reversed(list(zip(nested_value_rowids, counts, strict=True))):
            found = cls.from_value_rowids(found, numbers, count, validate=validate)
        return found

    @classmethod
    @add_dispatch_support
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows of rows: the outermost splits come first."""
        _list_of_tensors("nested_row_splits", nested_row_splits)
        found = _values(flat_values)
        for splits in reversed(list(nested_row_splits)):
            found = cls.from_row_splits(found, splits, validate=validate)
        return found

    @classmethod
    def _from_nested_row_partitions(
        cls, flat_values: Any, nested_row_partitions: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows of rows: the outermost partition comes first."""
        if isinstance(nested_row_partitions, RowPartition):
            raise TypeError("Argument `nested_row_partitions` must be a list of RowPartitions.")
        found = _values(flat_values)
        for rows in reversed(list(nested_row_partitions)):
            found = cls._from_row_partition(found, rows, validate=validate)
        return found

    @classmethod
    @add_dispatch_support
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> Any:
        """Return the rows of a tensor, cut to `lengths` or before the `padding` at their ends."""
        tensor, kind = convert(tensor), dtypes.as_dtype(row_splits_dtype)
        padding = None if padding is None else convert(padding, tensor.dtype)
        check_dense(tensor, lengths, padding, ragged_rank)
        if isinstance(lengths, (list, tuple)) and lengths and np.ndim(lengths[0]) == 1:  # of several levels
            if ragged_rank not in (1, len(lengths)):
                raise ValueError(
                    "If Argument `lengths` is a tuple of row_lengths, argument `ragged_rank` must be len(lengths): "
                    f"{len(lengths)}. Received ragged_rank: {ragged_rank}."
                )
            outer = cls.from_tensor(tensor, lengths[0], row_splits_dtype=kind)
            if len(lengths) == 1:
                return outer
            return outer.with_values(cls.from_tensor(outer.values, lengths[1:], row_splits_dtype=kind))
        if ragged_rank > 1:
            inner = cls.from_tensor(
                with_first_axes_merged(tensor, 1), None, padding, ragged_rank - 1, row_splits_dtype=kind
            )
            return cls.from_tensor(tensor, lengths, row_splits_dtype=kind).with_values(inner)
        sizes = raw.Shape(tensor, out_type=kind)
        if padding is not None:
            lengths = lengths_before(tensor, padding, kind)
        if lengths is None:
            rows = raw.Range(np.array(0, kind.np), sizes[0] + np.array(1, kind.np), np.array(1, kind.np))
            return _from_dense(tensor, rows, sizes)
        lengths = convert(lengths, hint=kind)
        check_lengths(tensor, lengths)
        lengths = raw.Maximum(raw.Minimum(raw.Cast(lengths, DstT=kind), sizes[1]), np.array(0, kind.np))
        places = raw.Range(np.array(0, kind.np), sizes[1], np.array(1, kind.np))
        taken = raw.Less(places, raw.ExpandDims(lengths, 1))
        return cls.from_row_lengths(raw.GatherNd(tensor, raw.Where(taken)), lengths, validate=False)

    @classmethod
    @add_dispatch_support
    def from_sparse(cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> Any:
        """Return the elements of a sparse matrix as rows, one after the other."""
        if not isinstance(st_input, SparseTensor):
            raise TypeError(
                f"Argument `st_input` must be of type SparseTensor, but is of type {type(st_input).__name__}."
            )
        if st_input.shape.rank != 2 and (st_input.indices._dims or (None, None))[1] != 2:
            raise ValueError("rank(st_input) must be 2.")
        kind = dtypes.as_dtype(row_splits_dtype)
        rows, places = raw.Unpack(st_input.indices, num=2, axis=1)
        rows = check_sparse(rows, places, st_input.indices)
        rows, count = raw.Cast(rows, DstT=kind), raw.Cast(st_input.dense_shape[0], DstT=kind)
        return cls.from_value_rowids(st_input.values, rows, nrows=count)

    # --- its parts ----------------------------------------------------------------------------------------------------

    @property
    def values(self) -> Any:
        """All rows, one after the other."""
        return self._values

    @property
    def _splits(self) -> Any:
        return self._row_partition._row_splits

    @property
    def _uniform(self) -> Any:
        """The length of every row, where it is known to be the same: a number where that is known, else a tensor."""
        length = self._row_partition._uniform_row_length
        known = self._row_partition.static_uniform_row_length
        return length if known is None else known

    @property
    def row_splits(self) -> Any:
        """Where each row begins, and where the last one ends."""
        return self._row_partition._row_splits

    @property
    def flat_values(self) -> Any:
        """All elements, one after the other."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._splits, *inner)

    @property
    def uniform_row_length(self) -> Any:
        """The length of every row where it is known to be the same, else None."""
        return self._row_partition._uniform_row_length

    @property
    def _nested_row_partitions(self) -> tuple[Any, ...]:
        inner = self._values._nested_row_partitions if isinstance(self._values, RaggedTensor) else ()
        return (self._row_partition, *inner)

    @property
    def ragged_rank(self) -> int:
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> dtypes.DType:
        return self.flat_values.dtype

    @property
    def shape(self) -> TensorShape:
        rows, inner = self._row_partition, self._values.shape
        if inner.rank is None:
            return TensorShape(None)
        return TensorShape([rows.static_nrows, rows.static_uniform_row_length, *inner.as_list()[1:]])

    def get_shape(self) -> TensorShape:
        return self.shape

    def _set_shape(self, shape: Any) -> None:
        """Add to what is known of the shape; ValueError where it contradicts."""
        shape = TensorShape(shape)
        if shape.rank is None:
            return
        dims = shape.as_list()
        rows, kind = self._row_partition, self._splits.dtype
        if dims[0] is not None and rows.static_nrows != dims[0]:
            if rows.static_nrows is not None:
                raise ValueError(f"Inconsistent size: {rows.static_nrows} rows cannot be {dims[0]}")
            rows._row_splits.set_shape([dims[0] + 1])
        if dims[1] is not None:
            if rows.static_uniform_row_length not in (None, dims[1]):
                raise ValueError(f"Inconsistent size: rows of {rows.static_uniform_row_length} cannot be of {dims[1]}")
            rows = rows._with(uniform_row_length=convert(dims[1], kind))
        inner = [rows.static_nvals, *dims[2:]]
        if isinstance(self._values, RaggedTensor):
            self._values._set_shape(inner)
        else:
            self._values.set_shape(inner)
        self._row_partition = rows

    def consumers(self) -> list[Any]:
        """Return the nodes that take one of its parts."""
        parts = [self.flat_values, *self.nested_row_splits]
        return list(dict.fromkeys(node for part in parts for node in part.consumers()))

    def nrows(self, out_type: Any = None, name: str | None = None) -> Any:
        """Return the number of rows."""
        found = self._row_partition.nrows()
        return found if out_type is None else raw.Cast(found, DstT=dtypes.as_dtype(out_type))

    def row_starts(self, name: str | None = None) -> Any:
        return self._row_partition.row_starts()

    def row_limits(self, name: str | None = None) -> Any:
        return self._row_partition.row_limits()

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Return the length of each row; along an inner axis, of each row in each row."""
        if axis == 1:  # which there always is
            return self._row_partition.row_lengths()
        axis = axis_in(axis, self.shape.rank)
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._row_partition.row_lengths()
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        sizes = raw.Shape(self._values, out_type=self._splits.dtype)
        return self.with_values(raw.Fill(sizes[: axis - 1], sizes[axis - 1]))

    def nested_row_lengths(self, name: str | None = None) -> tuple[Any, ...]:
        """Return the lengths of the rows of every level, the outermost first."""
        inner = self._values.nested_row_lengths() if isinstance(self._values, RaggedTensor) else ()
        return (self.row_lengths(), *inner)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Any, ...]:
        """Return the number of the row of each value, for every level, the outermost first."""
        inner = self._values.nested_value_rowids() if isinstance(self._values, RaggedTensor) else ()
        return (self.value_rowids(), *inner)

    def value_rowids(self, name: str | None = None) -> Any:
        """Return the number of the row that each value is in."""
        return self._row_partition.value_rowids()

    def _places(self) -> Any:
        return self._row_partition.places()

    def offsets(self) -> Any:
        """Return the place of each value in its row."""
        return self._row_partition.offsets_in_rows()

    def coordinates(self) -> Any:
        """Return the row, the row in it, ... and the place of each of the flat values: a matrix."""
        if not isinstance(self._values, RaggedTensor):
            return raw.Pack([self.value_rowids(), self.offsets()], axis=1)
        outer = raw.Pack([self.value_rowids(), self.offsets()], axis=1)
        inner = self._values.coordinates()
        rows = raw.GatherV2(outer, inner[:, 0], 0)
        return raw.ConcatV2([rows, inner[:, 1:]], 1)

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Any:
        """Return the shape of the smallest tensor that all rows fit into."""
        kind = self._splits.dtype
        longest = raw.Max(raw.ConcatV2([np.zeros(1, kind.np), self.row_lengths()], 0), [0], keep_dims=True)
        if isinstance(self._values, RaggedTensor):
            inner = self._values.bounding_shape()[1:]
        else:
            inner = raw.Shape(self._values, out_type=kind)[1:]
        found = raw.ConcatV2([raw.ExpandDims(self.nrows(), 0), longest, inner], 0)
        found = found if out_type is None else raw.Cast(found, DstT=dtypes.as_dtype(out_type))
        return found if axis is None else raw.GatherV2(found, axis, 0)

    # --- others like it -----------------------------------------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return rows of the same lengths with other values."""
        return RaggedTensor(_values(new_values), self._row_partition, internal=True)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """Return the same rows, counted in another integer type."""
        inner = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedTensor) else self._values
        return RaggedTensor(inner, self._row_partition.with_dtype(dtype), internal=True)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Return the rows with the axes from one to the other made one."""
        rank = self.shape.rank
        outer, inner = axis_in(outer_axis, rank, "outer_axis"), axis_in(inner_axis, rank, "inner_axis")
        if outer > inner:
            raise ValueError(f"Expected outer_axis ({outer_axis}) to be less than or equal to ({inner_axis})")
        if outer == inner:
            return self
        if outer > 0:
            if outer > 1:
                return self.with_values(_merge(self._values, outer - 1, inner - 1))
            rows = self._values
            if not isinstance(rows, RaggedTensor):
                rows = RaggedTensor.from_tensor(rows, row_splits_dtype=self._splits.dtype)
            merged = rows_of(rows.values, raw.GatherV2(rows.row_splits, self._splits, 0))
            return merged if inner == outer + 1 else merged.merge_dims(outer, inner - 1)
        return _merge(self._values, 0, inner - 1)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Return rows of the same lengths with other elements."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def to_tensor(self, default_value: Any = None, name: str | None = None, shape: Any = None) -> Any:
        """Return all rows in one tensor, filled up at their ends.

        >>> RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).to_tensor().numpy().tolist()
        [[1, 2], [3, 0]]
        """
        with name_scope(name, "RaggedToTensor"):
            default = convert(_zero(self.dtype) if default_value is None else default_value, self.dtype)
            if shape is None and default._dims == () and at_hand(self._splits, self.flat_values):
                inner = self._values.to_tensor(default) if isinstance(self._values, RaggedTensor) else self._values
                if (filled := filled_up(self._splits, inner, default)) is not None:
                    return filled
            return padded(self, default, shape)

    def to_sparse(self, name: str | None = None) -> Any:
        """Return all elements as a sparse tensor of the smallest shape they fit into."""
        return SparseTensor(*raw.RaggedTensorToSparse(list(self.nested_row_splits), self.flat_values, name=name))

    def to_list(self) -> list[Any]:
        """Return the rows as Python lists."""
        splits = self._splits.numpy()
        inner = self._values.to_list() if isinstance(self._values, RaggedTensor) else self._values.numpy().tolist()
        return [inner[a:b] for a, b in itertools.pairwise(splits)]

    def numpy(self) -> np.ndarray:
        """Return an array of arrays, or one array where all rows have the same length."""
        if not isinstance(self._splits, EagerTensor):
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        rows = [np.asarray(row.numpy()) for row in self]
        if len({row.shape for row in rows}) == 1:
            return np.stack(rows)
        found = np.empty(len(rows), object)
        found[:] = rows
        return found

    def __iter__(self) -> Iterator[Any]:
        for i in range(int(self.nrows())):
            yield self[i]

    def __len__(self) -> int:
        return int(self.nrows())

    def __repr__(self) -> str:
        if isinstance(self.flat_values, EagerTensor):
            return f"<tf.RaggedTensor {self.to_list()}>"
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._splits})"

    # --- in sessions --------------------------------------------------------------------------------------------------

    _fetched = staticmethod(RaggedTensorValue.of_parts)

    def _to_feed(self, value: Any) -> list[Any]:
        """Return what is fed for each part."""
        if not isinstance(value, RaggedTensorValue):
            raise TypeError(f"A ragged tensor is fed a RaggedTensorValue (tf.ragged.constant_value), not {value!r}")
        if value.ragged_rank != self.ragged_rank:
            raise ValueError(f"Cannot feed {value}, of {value.ragged_rank} levels, for one of {self.ragged_rank}")
        return value.parts


# --- small pieces -----------------------------------------------------------------------------------------------------


def _values(values: Any) -> Any:
    if isinstance(values, IndexedSlices):  # the gradient of rows that were picked
        return convert(values)
    return values if isinstance(values, (Tensor, RaggedTensor)) or _is_supported(values) else convert(values)


def rows_of(values: Any, row_splits: Any, uniform: Any = None) -> RaggedTensor:
    """Return rows that are known to fit their values; `uniform` is the length of all, where that is one."""
    length = None if uniform is None else convert(uniform, row_splits.dtype)
    return RaggedTensor(values, partition(row_splits, uniform_row_length=length), internal=True)


def _is_supported(values: Any) -> bool:
    """Return whether values are made of tensors and have a shape, so that rows of them have a meaning."""
    return isinstance(values, CompositeTensor) and hasattr(values, "shape") and hasattr(values, "dtype")


def _from_dense(tensor: Any, rows: Any, sizes: Any) -> RaggedTensor:
    """Return the rows of a tensor, all of one length."""
    merged, known = with_first_axes_merged(tensor, 1), tensor.shape.as_list()
    if None not in known[:2]:
        merged.set_shape([known[0] * known[1], *known[2:]])
    length = sizes[1] if known[1] is None else convert(known[1], sizes.dtype)
    splits = rows * sizes[1]
    if known[0] is not None:
        splits.set_shape([known[0] + 1])
    return RaggedTensor(merged, partition(splits, uniform_row_length=length), internal=True)


def _list_of_tensors(name: str, value: Any) -> None:
    if isinstance(value, Tensor):
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {value}.")


def _count(values: Any, dtype: Any) -> Any:
    if isinstance(values, RaggedTensor):
        return raw.ExpandDims(values.nrows(dtype), 0)
    if not isinstance(values, Tensor):  # of a program's own type
        known = values.shape.as_list()[0] if values.shape.rank else None
        return convert([known], dtype) if known is not None else borrowed("shape", values, dtype)[:1]
    return raw.Shape(values, out_type=dtype)[:1]


def _zero(dtype: Any) -> Any:
    return "" if dtype is dtypes.string else np.zeros((), dtype.np)


def _merge(values: Any, outer: int, inner: int) -> Any:
    if outer == inner:
        return values
    if isinstance(values, RaggedTensor):
        return values.merge_dims(outer, inner)
    sizes = raw.Shape(values)
    return raw.Reshape(values, raw.ConcatV2([sizes[:outer], [-1], sizes[inner + 1 :]], 0))
