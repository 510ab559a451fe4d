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
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.dispatch import add_dispatch_support
from ebbflow.core.shape import TensorShape, dimension_value
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.spec import TensorSpec
from ebbflow.core.spec_registry import register
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.checks import check_splits, checked_rowids, checked_splits
from ebbflow.ops.ragged.value import RaggedTensorValue
from ebbflow.ops.sizes import invalid


class RaggedTensor(CompositeTensor):
    """Rows of different lengths; where `values` is ragged itself, so are the rows."""

    is_tensor_like = True

    if TYPE_CHECKING:  # what `ops/ragged/index` and `ops/ragged/elementwise` put on it

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

    def __init__(self, values: Any, row_splits: Any, uniform: int | None = None):
        self._values, self._splits = values, row_splits
        self._uniform = uniform  # the length of every row, where that is known to be the same

    # --- making one ---------------------------------------------------------------------------------------------------

    @classmethod
    @add_dispatch_support
    def from_row_splits(cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True) -> Any:
        """Return rows that begin and end at `row_splits`.

        >>> RaggedTensor.from_row_splits([3, 1, 4], [0, 2, 2, 3])
        <tf.RaggedTensor [[3, 1], [], [4]]>
        """
        values, splits = _values(values), as_splits(row_splits)
        if splits.shape.rank not in (1, None):
            raise ValueError(f"Shape {splits.shape} must have rank 1")
        if validate and isinstance(splits, EagerTensor):
            check_splits(splits._array, values)
        elif validate:
            splits = checked_splits(splits, _count(values, splits.dtype))
        return cls(values, splits)

    @classmethod
    @add_dispatch_support
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True) -> Any:
        """Return rows of these lengths."""
        lengths = as_splits(row_lengths)
        zero = np.zeros(1, lengths.dtype.np)
        return cls.from_row_splits(values, raw.ConcatV2([zero, raw.Cumsum(lengths, 0)], 0), validate=validate)

    @classmethod
    @add_dispatch_support
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows made of the values with the same number; the numbers do not decrease."""
        numbers = as_splits(value_rowids)
        if validate:
            numbers = checked_rowids(numbers, nrows)
        if nrows is None:
            last = raw.Max(raw.ConcatV2([np.array([-1], numbers.dtype.np), numbers], 0), [0])
            nrows = last + np.array(1, numbers.dtype.np)
        ones = raw.OnesLike(numbers)
        lengths = raw.UnsortedSegmentSum(ones, numbers, raw.Cast(convert(nrows), DstT=dtypes.int32))
        return cls.from_row_lengths(values, lengths, validate=validate)

    @classmethod
    @add_dispatch_support
    def from_row_starts(cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True) -> Any:
        """Return rows that begin here, each ending where the next begins."""
        values, starts = _values(values), as_splits(row_starts)
        return cls.from_row_splits(values, raw.ConcatV2([starts, _count(values, starts.dtype)], 0), validate=validate)

    @classmethod
    @add_dispatch_support
    def from_row_limits(cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True) -> Any:
        """Return rows that end here, each beginning where the one before ends."""
        limits = as_splits(row_limits)
        return cls.from_row_splits(values, raw.ConcatV2([np.zeros(1, limits.dtype.np), limits], 0), validate=validate)

    @classmethod
    @add_dispatch_support
    def from_uniform_row_length(
        cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True, name: str | None = None
    ) -> Any:
        """Return rows of one length; `nrows` says how many there are where that length is 0."""
        values = _values(values)
        known = convert(uniform_row_length).constant_value()
        if known is None:
            raise ValueError(f"`uniform_row_length` must be known while a graph is built, got {uniform_row_length}")
        length = int(known)
        if length < 0:
            raise ValueError(f"`uniform_row_length` must be at least 0, got {length}")
        count = _count(values, dtypes.int64)[0]
        if nrows is None:
            nrows = count // np.int64(length) if length else np.int64(0)
        nrows = raw.Cast(convert(nrows), DstT=dtypes.int64)
        eager = isinstance(nrows, EagerTensor) and isinstance(count, EagerTensor)
        if validate and eager and int(nrows) * length != int(count):
            raise invalid(
                f"Arguments to from_uniform_row_length do not form a valid RaggedTensor: {count.numpy()} values are no "
                f"{nrows.numpy()} rows of {length}"
            )
        splits = raw.Range(np.int64(0), nrows + np.int64(1), np.int64(1)) * np.int64(length)
        return cls(values, splits, length)

    @classmethod
    @add_dispatch_support
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows of rows: the lengths of the outermost come first."""
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
        found = _values(flat_values)
        for splits in reversed(list(nested_row_splits)):
            found = cls.from_row_splits(found, splits, validate=validate)
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
        if lengths is not None and padding is not None:
            raise ValueError("Specify argument `lengths` or `padding`, but not both.")
        tensor, kind = convert(tensor), dtypes.as_dtype(row_splits_dtype)
        if isinstance(lengths, (list, tuple)) and lengths and np.ndim(lengths[0]) == 1:  # of several levels
            outer = cls.from_tensor(tensor, lengths[0], row_splits_dtype=kind)
            if len(lengths) == 1:
                return outer
            return outer.with_values(cls.from_tensor(outer.values, lengths[1:], row_splits_dtype=kind))
        if ragged_rank > 1:
            inner = cls.from_tensor(_merged(tensor, 1), None, padding, ragged_rank - 1, row_splits_dtype=kind)
            return cls.from_tensor(tensor, lengths, row_splits_dtype=kind).with_values(inner)
        sizes = raw.Shape(tensor, out_type=kind)
        if padding is not None:
            lengths = _lengths_before(tensor, padding, kind)
        if lengths is None:
            rows = raw.Range(np.array(0, kind.np), sizes[0] + np.array(1, kind.np), np.array(1, kind.np))
            return cls(_merged(tensor, 1), rows * sizes[1], dimension_value(tensor.shape[1]))
        lengths = raw.Maximum(raw.Minimum(raw.Cast(convert(lengths), DstT=kind), sizes[1]), np.array(0, kind.np))
        places = raw.Range(np.array(0, kind.np), sizes[1], np.array(1, kind.np))
        taken = raw.Less(places, raw.ExpandDims(lengths, 1))
        return cls.from_row_lengths(raw.GatherNd(tensor, raw.Where(taken)), lengths, validate=False)

    @classmethod
    @add_dispatch_support
    def from_sparse(cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> Any:
        """Return the elements of a sparse matrix as rows, one after the other."""
        kind = dtypes.as_dtype(row_splits_dtype)
        rows = raw.StridedSlice(st_input.indices, [0, 0], [0, 1], [1, 1], begin_mask=3, end_mask=1, shrink_axis_mask=2)
        rows, count = raw.Cast(rows, DstT=kind), raw.Cast(st_input.dense_shape[0], DstT=kind)
        return cls.from_value_rowids(st_input.values, rows, nrows=count)

    # --- its parts ----------------------------------------------------------------------------------------------------

    @property
    def values(self) -> Any:
        """All rows, one after the other."""
        return self._values

    @property
    def row_splits(self) -> Any:
        """Where each row begins, and where the last one ends."""
        return self._splits

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
        return None if self._uniform is None else convert(self._uniform, self._splits.dtype)

    @property
    def ragged_rank(self) -> int:
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> dtypes.DType:
        return self.flat_values.dtype

    @property
    def shape(self) -> TensorShape:
        rows = dimension_value(self._splits.shape[0]) if self._splits.shape.rank is not None else None
        inner = self._values.shape
        count = None if rows is None else rows - 1
        return TensorShape(None) if inner.rank is None else TensorShape([count, self._uniform, *inner.as_list()[1:]])

    def get_shape(self) -> TensorShape:
        return self.shape

    def nrows(self, out_type: Any = None, name: str | None = None) -> Any:
        """Return the number of rows."""
        found = raw.Size(self._splits, out_type=self._splits.dtype) - np.array(1, self._splits.dtype.np)
        return found if out_type is None else raw.Cast(found, DstT=dtypes.as_dtype(out_type))

    def row_starts(self, name: str | None = None) -> Any:
        return self._splits[:-1]

    def row_limits(self, name: str | None = None) -> Any:
        return self._splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Return the length of each row."""
        if axis == 1:
            return self._splits[1:] - self._splits[:-1]
        return self.with_values(self._values.row_lengths(axis - 1))

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
        places = raw.ExpandDims(self._places(), 0)
        after = raw.UpperBound(raw.ExpandDims(self._splits, 0), places, out_type=self._splits.dtype)
        return raw.Squeeze(after, squeeze_dims=[0]) - np.array(1, self._splits.dtype.np)

    def _places(self) -> Any:
        kind = self._splits.dtype
        return raw.Range(kind.np.type(0), self._splits[-1], kind.np.type(1))

    def offsets(self) -> Any:
        """Return the place of each value in its row."""
        return self._places() - raw.GatherV2(self._splits, self.value_rowids(), 0)

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
        return found if axis is None else raw.GatherV2(found, axis, 0)

    # --- others like it -----------------------------------------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return rows of the same lengths with other values."""
        return RaggedTensor(_values(new_values), self._splits, self._uniform)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """Return the same rows, counted in another integer type."""
        inner = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedTensor) else self._values
        splits = raw.Cast(self._splits, DstT=dtypes.as_dtype(dtype))
        return RaggedTensor(inner, splits, self._uniform)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Return the rows with the axes from one to the other made one."""
        rank = self.shape.rank
        outer, inner = (a + rank if a < 0 else a for a in (outer_axis, inner_axis))
        if not 0 <= outer <= inner < rank:
            raise ValueError(
                f"Expected outer_axis ({outer_axis}) to be at most inner_axis ({inner_axis}), and both to exist"
            )
        if outer == inner:
            return self
        if outer > 0:
            if outer > 1:
                return self.with_values(_merge(self._values, outer - 1, inner - 1))
            rows = self._values
            if not isinstance(rows, RaggedTensor):
                rows = RaggedTensor.from_tensor(rows, row_splits_dtype=self._splits.dtype)
            merged = RaggedTensor(rows.values, raw.GatherV2(rows.row_splits, self._splits, 0))
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
        values = self._values.to_tensor(default_value) if isinstance(self._values, RaggedTensor) else self._values
        places = raw.Pack([self.value_rowids(), self.offsets()], axis=1)
        flat = self.with_values(values)
        default = convert(_zero(values.dtype) if default_value is None else default_value, values.dtype)
        filled = raw.TensorScatterUpdate(_filled(flat.bounding_shape(), default), places, values)
        return filled if shape is None else _fitted(filled, shape, default)

    def to_sparse(self, name: str | None = None) -> Any:
        """Return all elements as a sparse tensor of the smallest shape they fit into."""
        places, flat = raw.Cast(self.coordinates(), DstT=dtypes.int64), self.flat_values
        if len(flat._dims) > 1:
            inside = raw.Where(raw.Fill(raw.Shape(flat), True))
            places = raw.ConcatV2([raw.GatherV2(places, inside[:, 0], 0), inside[:, 1:]], 1)
            flat = raw.Reshape(flat, [-1])
        return SparseTensor(places, flat, raw.Cast(self.bounding_shape(), DstT=dtypes.int64))

    def to_list(self) -> list[Any]:
        """Return the rows as Python lists."""
        splits = self._splits.numpy()
        inner = self._values.to_list() if isinstance(self._values, RaggedTensor) else self._values.numpy().tolist()
        return [inner[a:b] for a, b in itertools.pairwise(splits)]

    def numpy(self) -> np.ndarray:
        """Return an array of arrays, or one array where all rows have the same length."""
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

    # --- its type -----------------------------------------------------------------------------------------------------

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec.from_value(self)


@register("tf.RaggedTensorSpec")
class RaggedTensorSpec(TypeSpec):
    """The type of a RaggedTensor.

    >>> RaggedTensorSpec([None, None], dtypes.int32)
    RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("_dtype", "_ragged_rank", "_shape", "_splits_dtype")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
        flat_values_spec: Any = None,
    ):
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._splits_dtype = dtypes.as_dtype(row_splits_dtype)
        if ragged_rank is None:
            if self._shape.rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = self._shape.rank - 1
        if self._shape.rank is not None and ragged_rank >= self._shape.rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({self._shape.rank}).")
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """Return the spec of a RaggedTensor."""
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    @property
    def value_type(self) -> type:
        return RaggedTensor if self._ragged_rank else Tensor

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> dtypes.DType:
        return self._splits_dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        dims = self._shape._dims
        flat = TensorSpec(None if dims is None else [None, *dims[self._ragged_rank + 1 :]], self._dtype)
        rows = None if dims is None or dims[0] is None else dims[0] + 1
        splits = [TensorSpec([rows if level == 0 else None], self._splits_dtype) for level in range(self._ragged_rank)]
        return [flat, *splits]

    def _to_components(self, value: Any) -> list[Any]:
        return [value.flat_values, *value.nested_row_splits]

    def _from_components(self, components: Sequence[Any]) -> Any:
        found = components[0]
        dims = self._shape._dims
        for level, splits in reversed(list(enumerate(components[1:]))):
            found = RaggedTensor(found, splits, None if dims is None else dims[level + 1])
        return found

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether a ragged tensor of the other type can stand where this one is asked for."""
        other = spec_or_value
        other = RaggedTensorSpec.from_value(other) if isinstance(other, RaggedTensor) else other
        return self._alike(other) and self._shape.is_compatible_with(other._shape)

    def _alike(self, other: Any) -> bool:
        return isinstance(other, RaggedTensorSpec) and self._key()[1:] == other._key()[1:]

    def _key(self) -> tuple[Any, ...]:
        return self._shape._dims, self._dtype, self._ragged_rank, self._splits_dtype

    def is_subtype_of(self, other: Any) -> bool:
        """Return whether every ragged tensor of this type is of the other type too."""
        return self._alike(other) and self._shape.is_subtype_of(other._shape)

    def most_specific_common_supertype(self, others: Sequence[Any]) -> RaggedTensorSpec | None:
        """Return the narrowest type that this and all `others` belong to, or None."""
        if not all(self._alike(other) for other in others):
            return None
        shape = self._shape.most_specific_common_supertype([o._shape for o in others])
        return None if shape is None else RaggedTensorSpec(shape, *self._key()[1:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedTensorSpec) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(self._key())

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, *self._key()[1:]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank}, {self._splits_dtype!r})"


# --- small pieces -----------------------------------------------------------------------------------------------------


def _values(values: Any) -> Any:
    return values if isinstance(values, RaggedTensor) else convert(values)


def as_splits(splits: Any) -> Any:
    """Return a partition into rows as a tensor; it must be of integers."""
    tensor = splits if isinstance(splits, Tensor) else convert(splits, dtypes.int64)
    if tensor.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Row partitions must be int32 or int64, got {tensor.dtype.name}")
    return tensor


def _count(values: Any, dtype: Any) -> Any:
    if isinstance(values, RaggedTensor):
        return raw.ExpandDims(values.nrows(dtype), 0)
    return raw.Shape(values, out_type=dtype)[:1]


def _zero(dtype: Any) -> Any:
    return "" if dtype is dtypes.string else np.zeros((), dtype.np)


def _merged(tensor: Any, times: int) -> Any:
    """Return a tensor with its first axes made one."""
    sizes = raw.Shape(tensor)
    return raw.Reshape(tensor, raw.ConcatV2([[-1], sizes[times + 1 :]], 0))


def _merge(values: Any, outer: int, inner: int) -> Any:
    if outer == inner:
        return values
    if isinstance(values, RaggedTensor):
        return values.merge_dims(outer, inner)
    sizes = raw.Shape(values)
    return raw.Reshape(values, raw.ConcatV2([sizes[:outer], [-1], sizes[inner + 1 :]], 0))


def _lengths_before(tensor: Any, padding: Any, kind: Any) -> Any:
    """Return how long each row is without the padding at its end."""
    same = raw.Equal(tensor, convert(padding, tensor.dtype))
    for axis in range(len(tensor._dims) - 1, 1, -1):
        same = raw.All(same, [axis])
    kept = raw.Cast(raw.LogicalNot(same), DstT=kind)
    count = raw.Shape(tensor, out_type=kind)[1]
    one = np.array(1, kind.np)
    return raw.Max(kept * raw.Range(one, count + one, one), [1])


def _filled(shape: Any, value: Any) -> Any:
    """Return a tensor of a shape full of a value, which may be the inner part of it."""
    return raw.Fill(shape, value) if not value._dims else raw.BroadcastTo(value, shape)


def _fitted(filled: Any, shape: Any, default: Any) -> Any:
    """Return a tensor cut or filled up to a shape; None leaves a length as it is."""
    for axis, length in enumerate(TensorShape(shape).as_list()):
        if length is None:
            continue
        rank = len(filled._dims)
        size = raw.Shape(filled)[axis]
        widths = [[0, 0] if i != axis else [0, raw.Maximum(length - size, 0)] for i in range(rank)]
        filled = raw.PadV2(filled, convert(widths), default)
        filled = filled[(slice(None),) * axis + (slice(0, length),)]
        filled.set_shape([length if i == axis else n for i, n in enumerate(filled._dims)])
    return filled
