"""How values are divided into rows, without the values (`tf.experimental.RowPartition`), and the type of that.

A partition keeps the encoding it was made of (where rows end, how long they are, which row each value is in) and what
was computed since; the others follow when they are asked for. A ragged tensor is values and a partition. Knows tensors
of integers only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, dimension_value
from ebbflow.core.spec import TensorSpec
from ebbflow.core.spec_registry import register
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, TensorLike
from ebbflow.ops.checks.asserts import assert_equal
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.checks import check_rowids_fit, checked, must_have_rank
from ebbflow.ops.ragged.span_loops import at_hand, place_of_each, row_of_each

FACTORY_KEY = object()
"""What `RowPartition(...)` is told by those who make one; others use `from_row_splits` and its kin."""

ENCODINGS = ("_row_splits", "_row_lengths", "_value_rowids", "_nrows", "_uniform_row_length", "_nvals")


class RowPartition(CompositeTensor):
    """A division of values into rows.

    >>> RowPartition.from_row_lengths([2, 0, 1]).row_splits().numpy().tolist()
    [0, 2, 2, 3]
    """

    __slots__ = ("__weakref__", *ENCODINGS)

    def __init__(
        self,
        row_splits: AnyTensor,
        row_lengths: AnyTensor = None,
        value_rowids: AnyTensor = None,
        nrows: AnyTensor = None,
        uniform_row_length: AnyTensor = None,
        nvals: AnyTensor = None,
        internal: object = None,
    ):
        if internal is not FACTORY_KEY:
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory methods instead "
                "(e.g., RowPartition.from_row_lengths())"
            )
        if not isinstance(row_splits, Tensor):
            raise TypeError(f"Row-partitioning argument must be a Tensor, found {row_splits!r}")
        if row_splits.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Row-partitioning argument must be int32 or int64, found {row_splits.dtype.name}")
        if row_splits.shape.rank not in (1, None):
            raise ValueError(f"Shape {row_splits.shape} must have rank 1")
        for value in (row_lengths, value_rowids, nrows, uniform_row_length, nvals):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"Cached value must be a Tensor or None., found {value!r}")
            if value is not None and value.dtype is not row_splits.dtype:
                raise ValueError(f"Inconsistent dtype for encoding tensors: {value} vs {row_splits}")
        self._row_splits, self._row_lengths, self._value_rowids = row_splits, row_lengths, value_rowids
        self._nrows, self._uniform_row_length, self._nvals = nrows, uniform_row_length, nvals

    # --- making one ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_row_splits(
        cls,
        row_splits: TensorLike,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> RowPartition:
        """Return rows that begin and end at `row_splits`."""
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope(None, "RowPartitionFromRowSplits"):
            splits = must_have_rank(as_splits(row_splits, dtype, "row_splits"), 1)
            if validate and splits._dims is not None and splits._dims[0] == 0:
                raise ValueError("row_splits tensor may not be empty.")
            if validate:
                splits = checked("from_row_splits", splits, ("vector", splits), ("zero", splits[:1]), ("rise", splits))
            return partition(splits)

    @classmethod
    def from_row_lengths(
        cls,
        row_lengths: TensorLike,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> RowPartition:
        """Return rows of these lengths."""
        with name_scope(None, "RowPartitionFromRowLengths"):
            lengths = must_have_rank(as_splits(row_lengths, dtype, "row_lengths"), 1)
            if validate:
                lengths = checked("from_row_lengths", lengths, ("vector", lengths), ("positive", lengths))
            return partition(_ends(lengths), row_lengths=lengths)

    @classmethod
    def from_value_rowids(
        cls,
        value_rowids: TensorLike,
        nrows: TensorLike | None = None,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> RowPartition:
        """Return rows made of the values with the same number; the numbers do not decrease."""
        with name_scope(None, "RowPartitionFromValueRowIds"):
            numbers = must_have_rank(as_splits(value_rowids, dtype, "value_rowids"), 1)
            if nrows is not None:
                nrows = _as(nrows, numbers.dtype, "nrows")
                check_rowids_fit(numbers, nrows)
            else:
                nrows = _rows_of_ids(numbers)
            if validate:
                numbers = _checked_rowids(numbers, nrows)
            lengths = raw.UnsortedSegmentSum(raw.OnesLike(numbers), numbers, raw.Cast(nrows, DstT=dtypes.int32))
            return partition(_ends(lengths), row_lengths=lengths, value_rowids=numbers, nrows=nrows)

    @classmethod
    def from_row_starts(
        cls,
        row_starts: TensorLike,
        nvals: TensorLike,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> RowPartition:
        """Return rows that begin here, of `nvals` values in all."""
        with name_scope(None, "RowPartitionFromRowStarts"):
            starts = must_have_rank(as_splits(row_starts, dtype, "row_starts"), 1)
            nvals = _as(nvals, starts.dtype, "nvals")
            splits = raw.ConcatV2([starts, raw.ExpandDims(nvals, 0)], 0)
            if validate:
                checks = ("vector", starts), ("zero", starts[:1]), ("rise", splits)
                splits = checked("from_row_starts", splits, *checks)
            return partition(splits, nvals=nvals)

    @classmethod
    def from_row_limits(
        cls,
        row_limits: TensorLike,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> RowPartition:
        """Return rows that end here."""
        with name_scope(None, "RowPartitionFromRowLimits"):
            limits = must_have_rank(as_splits(row_limits, dtype, "row_limits"), 1)
            splits = raw.ConcatV2([np.zeros(1, limits.dtype.np), limits], 0)
            if validate:
                splits = checked("from_row_limits", splits, ("vector", limits), ("rise", splits))
            return partition(splits)

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: TensorLike,
        nvals: TensorLike | None = None,
        nrows: TensorLike | None = None,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> RowPartition:
        """Return rows of one length, of `nvals` values or `nrows` rows in all."""
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of `nvals` and `nrows` must be specified.")
        with name_scope(None, "RowPartitionFromUniformRowLength"):
            kind = _common_type(uniform_row_length, nvals, nrows, dtype=dtype)
            length = must_have_rank(_as(uniform_row_length, kind, "uniform_row_length"), 0)
            nvals = None if nvals is None else must_have_rank(_as(nvals, kind, "nvals"), 0)
            nrows = None if nrows is None else must_have_rank(_as(nrows, kind, "nrows"), 0)
            length, nvals, nrows = _uniform(length, nvals, nrows, validate)
            one = np.array(1, kind.np)
            splits = raw.Range(np.array(0, kind.np), nrows + one, one) * length
            known = _number(nrows)
            if known is not None and splits._dims != (known + 1,):
                splits.set_shape([known + 1])
            return partition(splits, nrows=nrows, uniform_row_length=length, nvals=nvals)

    # --- asking it ----------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the numbers: int32 or int64."""
        return self._row_splits.dtype

    def row_splits(self) -> Tensor:
        """Return where rows begin, and where the last one ends."""
        return self._row_splits

    def row_lengths(self) -> Tensor:
        """Return the length of each row."""
        if self._row_lengths is None:
            return self._row_splits[1:] - self._row_splits[:-1]
        return self._row_lengths

    def row_starts(self) -> Tensor:
        """Return where each row begins."""
        return self._row_splits[:-1]

    def row_limits(self) -> Tensor:
        """Return where each row ends."""
        return self._row_splits[1:]

    def value_rowids(self) -> Tensor:
        """Return the row of each value."""
        if self._value_rowids is not None:
            return self._value_rowids
        if at_hand(self._row_splits) and (rows := row_of_each(self._row_splits)) is not None:
            return rows
        after = raw.UpperBound(
            raw.ExpandDims(self._row_splits, 0), raw.ExpandDims(self.places(), 0), out_type=self.dtype
        )
        return raw.Squeeze(after, squeeze_dims=[0]) - np.array(1, self.dtype.np)

    def places(self) -> Tensor:
        """Return the number of each value."""
        kind = self.dtype.np
        return raw.Range(np.array(0, kind), self.nvals(), np.array(1, kind))

    def offsets_in_rows(self) -> Tensor:
        """Return the place of each value in its row."""
        if at_hand(self._row_splits) and (places := place_of_each(self._row_splits)) is not None:
            return places
        return self.places() - raw.GatherV2(self._row_splits, self.value_rowids(), 0)

    def nrows(self) -> Tensor:
        """Return how many rows there are."""
        if self._nrows is not None:
            return self._nrows
        known = self.static_nrows
        if known is not None:
            return convert(known, self.dtype)
        return raw.Size(self._row_splits, out_type=self.dtype) - np.array(1, self.dtype.np)

    def nvals(self) -> Tensor:
        """Return how many values there are."""
        return self._row_splits[-1] if self._nvals is None else self._nvals

    def uniform_row_length(self) -> Tensor | None:
        """Return the length of every row where that is known to be one, or None."""
        return self._uniform_row_length

    def is_uniform(self) -> bool:
        """Return whether all rows are known to have one length."""
        return self._uniform_row_length is not None

    @property
    def static_nrows(self) -> int | None:
        """How many rows there are, where that is known."""
        dims = self._row_splits._dims
        if dims is not None and dims[0] is not None:
            return dims[0] - 1
        if self._row_lengths is not None and self._row_lengths._dims:
            return self._row_lengths._dims[0]
        return _number(self._nrows)

    @property
    def static_nvals(self) -> int | None:
        """How many values there are, where that is known."""
        if self._nvals is not None and _number(self._nvals) is not None:
            return _number(self._nvals)
        if self._value_rowids is not None and self._value_rowids._dims:
            return self._value_rowids._dims[0]
        length, rows = self.static_uniform_row_length, self.static_nrows
        return None if length is None or rows is None else length * rows

    @property
    def static_uniform_row_length(self) -> int | None:
        """The length of every row, where that is known to be one."""
        return _number(self._uniform_row_length)

    # --- others like it -----------------------------------------------------------------------------------------------

    def with_dtype(self, dtype: DTypeLike) -> RowPartition:
        """Return the same rows, counted in another integer type."""
        kind = dtypes.as_dtype(dtype)
        if kind not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Argument `dtype` must be int32 or int64. Received {dtype}.")
        return self if kind is self.dtype else self._each(lambda tensor: raw.Cast(tensor, DstT=kind))

    def _with_dependencies(self, dependencies: Sequence[Any]) -> RowPartition:
        """Return the same rows, which are there once these nodes have run."""
        graph = context.current_graph() if context.graph_scopes else None
        if graph is None:
            return self
        with graph.control_dependencies(list(dependencies)):
            return self._each(raw.Identity)

    def _each(self, function: Any) -> RowPartition:
        kept = {name[1:]: getattr(self, name) for name in ENCODINGS}
        made = {name: None if tensor is None else function(tensor) for name, tensor in kept.items()}
        return RowPartition(**made, internal=FACTORY_KEY)

    def _with(self, **encodings: Any) -> RowPartition:
        """Return the same rows with more of their encodings kept."""
        kept = {name[1:]: getattr(self, name) for name in ENCODINGS}
        return RowPartition(**{**kept, **encodings}, internal=FACTORY_KEY)

    def _has_precomputed_row_splits(self) -> bool:
        return True

    def _has_precomputed_row_lengths(self) -> bool:
        return self._row_lengths is not None

    def _has_precomputed_value_rowids(self) -> bool:
        return self._value_rowids is not None

    def _has_precomputed_nrows(self) -> bool:
        return self._nrows is not None

    def _has_precomputed_nvals(self) -> bool:
        return self._nvals is not None

    def _with_precomputed_row_splits(self) -> RowPartition:
        return self

    def _with_precomputed_row_lengths(self) -> RowPartition:
        return self._with(row_lengths=self.row_lengths())

    def _with_precomputed_value_rowids(self) -> RowPartition:
        return self._with(value_rowids=self.value_rowids())

    def _with_precomputed_nrows(self) -> RowPartition:
        return self._with(nrows=self.nrows())

    def _with_precomputed_nvals(self) -> RowPartition:
        return self._with(nvals=self.nvals())

    def _merge_with_spec(self, spec: RowPartitionSpec) -> RowPartition:
        """Return the same rows with what a spec knows of their numbers."""
        merged = self._type_spec._merge_with(spec)
        if merged == self._type_spec:
            return self
        more: dict[str, Any] = {}
        for name in ("nrows", "nvals", "uniform_row_length"):
            known = getattr(merged, name)
            if known is not None and _number(getattr(self, "_" + name)) is None:
                more[name] = convert(known, self.dtype)
        return self._with(**more)

    def _merge_precomputed_encodings(self, other: RowPartition, validate: bool = True) -> RowPartition:
        """Return the same rows with the encodings of both, which must agree."""
        if self is other:
            return self
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in ENCODINGS}
        both = [(name, a, b) for name, (a, b) in pairs.items() if a is not None and b is not None and a is not b]
        if not both and all(b is None or a is b for a, b in pairs.values()):
            return self
        if not both and all(a is None or a is b for a, b in pairs.values()):
            return other
        checks = _same_numbers(both, validate)
        merged = {name[1:]: a if a is not None else b for name, (a, b) in pairs.items()}
        found = RowPartition(**merged, internal=FACTORY_KEY)
        return found._with_dependencies(checks) if checks else found

    @property
    def _type_spec(self) -> RowPartitionSpec:
        return RowPartitionSpec.from_value(self)

    def __repr__(self) -> str:
        if self._uniform_row_length is not None:
            return (
                f"tf.RowPartition(nrows={_shown(self.nrows())}, uniform_row_length={_shown(self._uniform_row_length)})"
            )
        return f"tf.RowPartition(row_splits={_shown(self._row_splits)})"


# --- its type ---------------------------------------------------------------------------------------------------------


@register("tf.RowPartitionSpec")
class RowPartitionSpec(TypeSpec):
    """The type of a RowPartition: how many rows and values there are, as far as that is known.

    >>> RowPartitionSpec(nrows=3, uniform_row_length=5)
    RowPartitionSpec(nrows=3, nvals=15, uniform_row_length=5, dtype=tf.int64)
    """

    __slots__ = ("_dtype", "_nrows", "_nvals", "_uniform_row_length")

    def __init__(self, nrows: Any = None, nvals: Any = None, uniform_row_length: Any = None, dtype: Any = dtypes.int64):
        self._dtype = dtypes.as_dtype(dtype)
        if self._dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be tf.int32 or tf.int64")
        rows, values, length = (_first(number) for number in (nrows, nvals, uniform_row_length))
        if rows == 0 or length == 0:
            values = _agreed(values, 0)
        if length is not None and rows is not None:
            values = _agreed(values, length * rows)
        if length and values is not None:
            if values % length:
                raise ValueError(f"{values} values are not compatible with rows of {length}")
            rows = _agreed(rows, values // length)
        self._nrows, self._nvals, self._uniform_row_length = rows, values, length

    @classmethod
    def from_value(cls, value: RowPartition) -> RowPartitionSpec:
        """Return the spec of a RowPartition."""
        return cls(value.static_nrows, value.static_nvals, value.static_uniform_row_length, value.dtype)

    nrows = property(lambda self: self._nrows)
    nvals = property(lambda self: self._nvals)
    uniform_row_length = property(lambda self: self._uniform_row_length)
    dtype = property(lambda self: self._dtype)

    @property
    def value_type(self) -> type:
        return RowPartition

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether a partition can be of both types."""
        other = spec_or_value._type_spec if isinstance(spec_or_value, RowPartition) else spec_or_value
        if not isinstance(other, RowPartitionSpec):
            return False
        try:
            self._merge_with(other)
        except ValueError:
            return False
        return True

    def _merge_with(self, other: RowPartitionSpec) -> RowPartitionSpec:
        """Return the type that knows what both know."""
        if self._dtype is not other._dtype:
            raise ValueError(f"Merging RowPartitionSpecs with incompatible dtypes: {self} and {other}")
        try:
            rows, values = _agreed(self._nrows, other._nrows), _agreed(self._nvals, other._nvals)
            length = _agreed(self._uniform_row_length, other._uniform_row_length)
            return RowPartitionSpec(rows, values, length, self._dtype)
        except ValueError:
            raise ValueError(f"Merging incompatible RowPartitionSpecs: {self} and {other}") from None

    def with_dtype(self, dtype: Any) -> RowPartitionSpec:
        """Return the same, counted in another integer type."""
        return RowPartitionSpec(self._nrows, self._nvals, self._uniform_row_length, dtype)

    @property
    def _component_specs(self) -> TensorSpec:
        return TensorSpec([None if self._nrows is None else self._nrows + 1], self._dtype)

    def _to_components(self, value: RowPartition) -> Any:
        return value.row_splits()

    def _from_components(self, components: Any) -> RowPartition:
        rows = RowPartition.from_row_splits(components, validate=False)
        return rows if self._uniform_row_length is None and self._nvals is None else rows._merge_with_spec(self)

    def _serialize(self) -> tuple[Any, ...]:
        return (*(TensorShape([n]) for n in (self._nrows, self._nvals, self._uniform_row_length)), self._dtype)

    @classmethod
    def _deserialize(cls, serialization: Any) -> RowPartitionSpec:
        return cls(*serialization)

    def __repr__(self) -> str:
        return (
            f"RowPartitionSpec(nrows={self._nrows}, nvals={self._nvals}, "
            f"uniform_row_length={self._uniform_row_length}, dtype={self._dtype!r})"
        )


# --- small pieces -----------------------------------------------------------------------------------------------------


def partition(row_splits: Any, **encodings: Any) -> RowPartition:
    """Return the partition of encodings that are known to agree."""
    return RowPartition(row_splits, **encodings, internal=FACTORY_KEY)


def as_splits(numbers: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a partition into rows as a tensor; it must be of integers."""
    if isinstance(numbers, Tensor):
        tensor = numbers
    elif isinstance(numbers, (np.ndarray, np.generic)) and numbers.dtype in (np.int32, np.int64):
        tensor = convert(numbers, name=name)
    else:
        tensor = convert(numbers, dtypes.int64, name=name)
    if tensor.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Row partitions must be int32 or int64, got {tensor.dtype.name}")
    kind = tensor.dtype if dtype is None else dtypes.as_dtype(dtype)
    return tensor if kind is tensor.dtype else raw.Cast(tensor, DstT=kind)


def _as(value: Any, kind: Any, name: str) -> Any:
    tensor = value if isinstance(value, Tensor) else convert(value, kind, name=name)
    return tensor if tensor.dtype is kind else raw.Cast(tensor, DstT=kind)


def _common_type(*values: Any, dtype: Any) -> Any:
    """Return the integer type of numbers that are tensors: int64 where they differ, or none is."""
    if dtype is not None:
        return dtypes.as_dtype(dtype)
    kinds = {v.dtype for v in values if isinstance(v, Tensor)}
    return kinds.pop() if len(kinds) == 1 and kinds <= {dtypes.int32, dtypes.int64} else dtypes.int64


def _number(tensor: Any) -> int | None:
    """Return the value of a number, where it is known."""
    known = None if tensor is None else tensor.constant_value()
    return None if known is None or known.ndim else int(known)


def _first(number: Any) -> int | None:
    """Return a number that may be given as a shape of one axis."""
    return dimension_value(number[0]) if isinstance(number, TensorShape) else dimension_value(number)


def _agreed(a: int | None, b: int | None) -> int | None:
    if a is not None and b is not None and a != b:
        raise ValueError(f"{a} is not compatible with {b}: no number of rows or values is both")
    return b if a is None else a


def _ends(lengths: Any) -> Any:
    return raw.ConcatV2([np.zeros(1, lengths.dtype.np), raw.Cumsum(lengths, 0)], 0)


def _rows_of_ids(numbers: Any) -> Any:
    known = numbers.constant_value()
    if known is not None and known.ndim == 1:
        return convert(int(known[-1]) + 1 if len(known) else 0, numbers.dtype)
    last = raw.Max(raw.ConcatV2([np.array([-1], numbers.dtype.np), numbers], 0), [0])
    return last + np.array(1, numbers.dtype.np)


def _checked_rowids(numbers: Any, nrows: Any) -> Any:
    checks = ("vector", numbers), ("scalar", nrows), ("steps", numbers), ("positive", numbers[:1])
    return checked("from_value_rowids", numbers, *checks, ("below", numbers[-1:], nrows))


def _uniform(length: Any, nvals: Any, nrows: Any, validate: bool) -> tuple[Any, Any, Any]:
    """Return length, values and rows, of which one may follow from the others."""
    size, values, rows = _number(length), _number(nvals), _number(nrows)
    if size is not None and size < 0:
        raise ValueError(f"`uniform_row_length` must be at least 0: uniform_row_length={size}")
    if nrows is None:
        nrows = _rows_for(nvals, length, size)
        rows = _number(nrows)
    if nvals is None:
        known = None if size is None or rows is None else size * rows
        return length, length * nrows if known is None else convert(known, length.dtype), nrows
    if not validate:
        return length, nvals, nrows
    if size is not None and values is not None and rows is not None:
        if size * rows != values:
            raise ValueError(f"uniform_row_length={size} times nrows={rows} must equal nvals={values}")
        return length, nvals, nrows
    checks = (("positive", raw.Reshape(length, [-1])), ("equal", nrows * length, nvals))
    nrows = checked("from_uniform_row_length", nrows, *checks)
    return length, checked("from_uniform_row_length", nvals, *checks), nrows


def _rows_for(nvals: Any, length: Any, size: int | None) -> Any:
    zero, one = np.array(0, length.dtype.np), np.array(1, length.dtype.np)
    values = _number(nvals)
    if size is not None and values is not None:
        return convert(values // size if size else 0, length.dtype)
    if size is not None:
        return raw.FloorDiv(nvals, length) if size else convert(0, length.dtype)
    return raw.SelectV2(raw.Equal(length, zero), raw.ZerosLike(nvals), raw.FloorDiv(nvals, raw.Maximum(length, one)))


ORDER = ("_nrows", "_nvals", "_uniform_row_length", "_row_splits", "_row_lengths", "_value_rowids")
"""In which order the encodings of two partitions are compared: what is cheap first."""


def _same_numbers(both: Sequence[tuple[str, Any, Any]], validate: bool) -> list[Any]:
    """Refuse encodings that differ; return what must run before they are known not to."""
    both = sorted(both, key=lambda entry: ORDER.index(entry[0]))
    checks = []
    for name, a, b in both:
        if not a.shape.is_compatible_with(b.shape) and not isinstance(a, EagerTensor):
            raise ValueError(f"RowPartitions have incompatible {name[1:]}: shapes {a.shape} and {b.shape}")
    for name, a, b in both:
        what = f"incompatible {name[1:]}"
        if validate:
            checks.append(assert_equal(a, b, message=f"RowPartitions have {what}"))
    return [check for check in checks if check is not None]


def _shown(tensor: Any) -> str:
    return str(tensor.numpy()) if isinstance(tensor, EagerTensor) else str(tensor)
