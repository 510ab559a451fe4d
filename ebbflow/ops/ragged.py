"""Ragged tensors: rows of different lengths, kept as one long tensor and where each row begins.

A `RaggedTensor` is made of ops (its parts are tensors), so it works eagerly, in graphs and through functions, and is
differentiable through its flat values. Operators and reductions work on it directly; for any other element-wise
function there is `map_flat_values`, for everything else `to_tensor`.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape, dimension_value
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.sizes import invalid


class RaggedTensor(CompositeTensor):
    """Rows of different lengths; where `values` is ragged itself, so are the rows."""

    is_tensor_like = True

    def __init__(self, values: Any, row_splits: Any):
        self._values, self._splits = values, row_splits

    # --- making one ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True) -> Any:
        """Return rows that begin and end at `row_splits`.

        >>> RaggedTensor.from_row_splits([3, 1, 4], [0, 2, 2, 3])
        <tf.RaggedTensor [[3, 1], [], [4]]>
        """
        values, splits = _values(values), as_splits(row_splits)
        if splits.shape.rank not in (1, None):
            raise ValueError(f"Shape {splits.shape} must have rank 1")
        if validate and isinstance(splits, EagerTensor):
            _check_splits(splits._array, values)
        return cls(values, splits)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True) -> Any:
        """Return rows of these lengths."""
        lengths = as_splits(row_lengths)
        zero = np.zeros(1, lengths.dtype.np)
        return cls.from_row_splits(values, raw.ConcatV2([zero, raw.Cumsum(lengths, 0)], 0), validate=validate)

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows made of the values with the same number; the numbers do not decrease."""
        numbers = as_splits(value_rowids)
        if nrows is None:
            last = raw.Max(raw.ConcatV2([np.array([-1], numbers.dtype.np), numbers], 0), [0])
            nrows = last + np.array(1, numbers.dtype.np)
        ones = raw.OnesLike(numbers)
        lengths = raw.UnsortedSegmentSum(ones, numbers, raw.Cast(convert(nrows), DstT=dtypes.int32))
        return cls.from_row_lengths(values, lengths, validate=validate)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True) -> Any:
        """Return rows that begin here, each ending where the next begins."""
        values, starts = _values(values), as_splits(row_starts)
        return cls.from_row_splits(values, raw.ConcatV2([starts, _count(values, starts.dtype)], 0), validate=validate)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True) -> Any:
        """Return rows that end here, each beginning where the one before ends."""
        limits = as_splits(row_limits)
        return cls.from_row_splits(values, raw.ConcatV2([np.zeros(1, limits.dtype.np), limits], 0), validate=validate)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows of rows: the outermost splits come first."""
        found = _values(flat_values)
        for splits in reversed(list(nested_row_splits)):
            found = cls.from_row_splits(found, splits, validate=validate)
        return found

    @classmethod
    def from_tensor(cls, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1) -> Any:
        """Return the rows of a tensor, cut to `lengths` or before the `padding` at their ends."""
        tensor = convert(tensor)
        if ragged_rank != 1:
            raise ValueError("from_tensor makes rows of one level: apply it to the values for more")
        shape = raw.Shape(tensor, out_type=dtypes.int64)
        if padding is not None:
            same = raw.Equal(tensor, convert(padding, tensor.dtype))
            kept = raw.Cast(raw.LogicalNot(same), DstT=dtypes.int64)
            lengths = raw.Max(kept * raw.Range(np.int64(1), shape[1] + np.int64(1), np.int64(1)), [1])
        if lengths is None:
            lengths = raw.Fill(raw.ExpandDims(shape[0], 0), shape[1])
        lengths = as_splits(lengths)
        places = raw.Range(np.int64(0), shape[1], np.int64(1))
        taken = raw.Less(places, raw.ExpandDims(raw.Cast(lengths, DstT=dtypes.int64), 1))
        return cls.from_row_lengths(raw.GatherNd(tensor, raw.Where(taken)), lengths, validate=False)

    @classmethod
    def from_sparse(cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> Any:
        """Return the elements of a sparse matrix as rows, one after the other."""
        rows = raw.StridedSlice(st_input.indices, [0, 0], [0, 1], [1, 1], begin_mask=3, end_mask=1, shrink_axis_mask=2)
        return cls.from_value_rowids(st_input.values, rows, nrows=st_input.dense_shape[0])

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
        return TensorShape(None) if inner.rank is None else TensorShape([count, None, *inner.as_list()[1:]])

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

    def value_rowids(self, name: str | None = None) -> Any:
        """Return the number of the row that each value is in."""
        places = raw.ExpandDims(self._places(), 0)
        after = raw.UpperBound(raw.ExpandDims(self._splits, 0), places, out_type=self._splits.dtype)
        return raw.Squeeze(after, squeeze_dims=[0]) - np.array(1, self._splits.dtype.np)

    def _places(self) -> Any:
        kind = self._splits.dtype
        return raw.Range(kind.np.type(0), self._splits[-1], kind.np.type(1))

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
        return RaggedTensor(_values(new_values), self._splits)

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
        rows = self.value_rowids()
        places = raw.Pack([rows, self._places() - raw.GatherV2(self._splits, rows, 0)], axis=1)
        flat = self.with_values(values)
        default = convert(_zero(values.dtype) if default_value is None else default_value, values.dtype)
        filled = raw.TensorScatterUpdate(raw.Fill(flat.bounding_shape(), default), places, values)
        return filled if shape is None else _fitted(filled, shape, default)

    def to_sparse(self, name: str | None = None) -> Any:
        """Return the elements of rows of one level as a sparse matrix."""
        rows = self.value_rowids()
        places = raw.Pack([rows, self._places() - raw.GatherV2(self._splits, rows, 0)], axis=1)
        sizes = raw.Cast(self.bounding_shape(), DstT=dtypes.int64)
        return SparseTensor(raw.Cast(places, DstT=dtypes.int64), self._values, sizes)

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

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            if key.step not in (None, 1):
                raise ValueError("rows of a ragged tensor are taken one after the other: use tf.gather for other steps")
            count = self.nrows()
            start, stop = (_place(at, count, default) for at, default in ((key.start, 0), (key.stop, count)))
            return RaggedTensor(self._values, self._splits[start : stop + 1])._compact()
        if isinstance(key, tuple):
            row = self[key[0]]
            if isinstance(key[0], slice):
                raise ValueError("a ragged tensor is indexed by rows: map a function over its rows for more")
            return row[key[1:]] if len(key) > 1 else row
        at = _place(key, self.nrows(), 0)
        return self._values[self._splits[at] : self._splits[at + 1]]

    def _compact(self) -> RaggedTensor:
        return RaggedTensor(self._values[self._splits[0] : self._splits[-1]], self._splits - self._splits[0])

    def __iter__(self) -> Iterator[Any]:
        for i in range(int(self.nrows())):
            yield self[i]

    def __len__(self) -> int:
        return int(self.nrows())

    def __repr__(self) -> str:
        if isinstance(self.flat_values, EagerTensor):
            return f"<tf.RaggedTensor {self.to_list()}>"
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._splits})"

    # --- functions of it ----------------------------------------------------------------------------------------------

    def _reduce(self, op: Any, axis: Any, keepdims: Any) -> Any:
        """Return what a reduction gives over one axis, or over all."""
        if axis is None:
            flat = self.flat_values
            return op(flat, np.arange(len(flat._dims), dtype=np.int32), keep_dims=bool(keepdims))
        axis = int(axis) + (self.shape.rank if axis < 0 else 0)  # type: ignore[operator]
        if axis > 1:
            inner = self._values
            if isinstance(inner, RaggedTensor):
                return self.with_values(inner._reduce(op, axis - 1, keepdims))
            return self.with_values(op(inner, np.array([axis - 1], np.int32), keep_dims=bool(keepdims)))
        if isinstance(self._values, RaggedTensor) or op.name not in _SEGMENTS:
            raise ValueError(f"{op.name} over axis {axis} of {self.shape}: apply it to .to_tensor() instead")
        rows = self.value_rowids()
        numbers = rows if axis == 1 else self._places() - raw.GatherV2(self._splits, rows, 0)
        found = _SEGMENTS[op.name](self._values, numbers, self.nrows() if axis == 1 else self.bounding_shape()[1])
        return raw.ExpandDims(found, axis) if keepdims else found

    def _combined(self, other: Any, function: Callable[[Any, Any], Any], reflected: bool) -> Any:
        if isinstance(other, RaggedTensor):
            mine, theirs = self.row_splits, other.row_splits
            eager = isinstance(mine, EagerTensor) and isinstance(theirs, EagerTensor)
            if eager and not np.array_equal(mine._array, theirs._array):
                raise ValueError(f"the rows have different lengths: {self.row_lengths()} and {other.row_lengths()}")
            return self.with_values(function(self._values, other._values))
        other = convert(other, None, self.dtype)
        if other.shape.rank != 0:
            if other.shape.rank is None or other.shape.as_list()[1:2] != [1]:
                raise ValueError("a ragged tensor goes together with numbers, columns of shape [rows, 1] and its like")
            other = raw.GatherV2(raw.Squeeze(other, squeeze_dims=[1]), self.value_rowids(), 0)
        flat = self.flat_values if other.shape.rank == 0 else self._values
        found = function(other, flat) if reflected else function(flat, other)
        return self.with_flat_values(found) if other.shape.rank == 0 else self.with_values(found)

    # --- its type -----------------------------------------------------------------------------------------------------

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec.from_value(self)


def _install(symbol: str, both_ways: bool) -> None:
    function = getattr(operator, f"{symbol}_" if symbol in ("and", "or") else symbol)
    setattr(RaggedTensor, f"__{symbol}__", lambda x, y: x._combined(y, function, False))
    if both_ways:
        setattr(RaggedTensor, f"__r{symbol}__", lambda x, y: x._combined(y, function, True))


for _symbol in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    _install(_symbol, both_ways=True)
for _symbol in ("lt", "le", "gt", "ge"):
    _install(_symbol, both_ways=False)
RaggedTensor.__neg__ = lambda x: x.with_flat_values(-x.flat_values)  # type: ignore[attr-defined]
RaggedTensor.__abs__ = lambda x: x.with_flat_values(abs(x.flat_values))  # type: ignore[attr-defined]
RaggedTensor.__invert__ = lambda x: x.with_flat_values(~x.flat_values)  # type: ignore[attr-defined]


def _segment(name: str) -> Callable[..., Any]:
    return lambda data, numbers, count: getattr(raw, name)(data, numbers, raw.Cast(count, DstT=dtypes.int32))


def _segment_mean(data: Any, numbers: Any, count: Any) -> Any:
    total = _segment("UnsortedSegmentSum")
    return total(data, numbers, count) / total(raw.OnesLike(data), numbers, count)


def _segment_truth(name: str) -> Callable[..., Any]:
    def found(data: Any, numbers: Any, count: Any) -> Any:
        picked = _segment(name)(raw.Cast(data, DstT=dtypes.int32), numbers, count)
        return raw.Greater(picked, 0)

    return found


_SEGMENTS = {
    "Sum": _segment("UnsortedSegmentSum"),
    "Prod": _segment("UnsortedSegmentProd"),
    "Max": _segment("UnsortedSegmentMax"),
    "Min": _segment("UnsortedSegmentMin"),
    "Mean": _segment_mean,
    "Any": _segment_truth("UnsortedSegmentMax"),
    "All": _segment_truth("UnsortedSegmentMin"),
}


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
        for splits in reversed(components[1:]):
            found = RaggedTensor(found, splits)
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

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._shape, *self._key()[1:])

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


def _check_splits(splits: np.ndarray, values: Any) -> None:
    rows = values.shape.as_list()[0] if values.shape.rank else None
    wrong = None
    if not splits.size or splits[0] != 0:
        wrong = "row_splits[0] must be 0"
    elif np.any(np.diff(splits) < 0):
        wrong = "row_splits must not decrease"
    elif rows is not None and rows != splits[-1]:
        wrong = f"the last row ends at {splits[-1]}, and there are {rows} values"
    if wrong is not None:
        raise invalid(f"Arguments to from_row_splits do not form a valid RaggedTensor: {wrong}")


def _count(values: Any, dtype: Any) -> Any:
    if isinstance(values, RaggedTensor):
        return raw.ExpandDims(values.nrows(dtype), 0)
    return raw.Shape(values, out_type=dtype)[:1]


def _zero(dtype: Any) -> Any:
    return "" if dtype is dtypes.string else np.zeros((), dtype.np)


def _place(at: Any, count: Any, default: Any) -> Any:
    if at is None:
        return default
    if isinstance(at, (int, np.integer)):
        return at if at >= 0 else count + np.array(at, count.dtype.np)
    return raw.Cast(convert(at), DstT=count.dtype) if isinstance(at, Tensor) else at


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
    return filled
