"""What features of examples are to become: `FixedLenFeature`, `VarLenFeature`, … and how they go to the ops and back.

Features are sorted by key, as TensorFlow gives them to its ops. Sparse features are put together from the sparse parts
of their keys, ragged ones from values and partitions. Knows no op; `examples` calls them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.sparse import SparseTensor
from ebbflow.ops.declare import raw
from ebbflow.ops.lengths import lengths_of, packed
from ebbflow.ops.ragged.tensor import RaggedTensor


class VarLenFeature(NamedTuple):
    """As many values as there are: a sparse tensor."""

    dtype: Any


class FixedLenFeature(NamedTuple):
    """Values of one shape; `default_value` stands for a feature that is not there."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """Rows of one shape, as many as there are: filled up to the longest of a batch."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """A sparse tensor whose indices and values are features of their own."""

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


class RowSplits(NamedTuple):
    """A partition by where each row begins, and the end."""

    key: str


class RowLengths(NamedTuple):
    """A partition by the length of each row."""

    key: str


class ValueRowIds(NamedTuple):
    """A partition by the row of each value."""

    key: str


class RowStarts(NamedTuple):
    """A partition by where each row begins."""

    key: str


class RowLimits(NamedTuple):
    """A partition by where each row ends."""

    key: str


class UniformRowLength(NamedTuple):
    """A partition into rows of one length."""

    length: int


class _RaggedFields(NamedTuple):
    dtype: Any
    value_key: Any = None
    partitions: Any = ()
    row_splits_dtype: Any = dtypes.int32
    validate: bool = False


class RaggedFeature(_RaggedFields):
    """Rows of any length; partitions, if any, part each record's values further."""

    RowSplits, RowLengths, ValueRowIds = RowSplits, RowLengths, ValueRowIds
    RowStarts, RowLimits, UniformRowLength = RowStarts, RowLimits, UniformRowLength

    def __new__(
        cls,
        dtype: Any,
        value_key: Any = None,
        partitions: Any = (),
        row_splits_dtype: Any = dtypes.int32,
        validate: bool = False,
    ) -> RaggedFeature:
        kind = dtypes.as_dtype(row_splits_dtype)
        if kind not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"row_splits_dtype must be int32 or int64, got {row_splits_dtype!r}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError("partitions must be a list or tuple")
        for part in partitions:
            if not isinstance(part, (RowSplits, RowLengths, ValueRowIds, RowStarts, RowLimits, UniformRowLength)):
                raise TypeError(f"partitions must be a list of partition objects, got {part!r}")
        return super().__new__(cls, dtypes.as_dtype(dtype), value_key, tuple(partitions), kind, validate)


# --- what the ops are asked for ---------------------------------------------------------------------------------------


class Request:
    """The keys, types, shapes and defaults of all features, by the three forms that ops give."""

    def __init__(self, features: Mapping[str, Any], allowed: tuple[type, ...], over_time: bool = False) -> None:
        self.features: dict[str, Any] = {key: features[key] for key in sorted(features)}
        self.sparse: dict[str, Any] = {}
        self.ragged: dict[str, tuple[Any, Any]] = {}
        self.dense: dict[str, tuple[Any, Any, Any]] = {}
        self.may_lack: list[bool] = []
        self.over_time = over_time
        for key, feature in list(self.features.items()):
            if not isinstance(feature, allowed):
                raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{key}'")
            kind: Any = feature
            if kind.dtype is None:
                raise ValueError(f"Missing type for feature {key}. Received feature={feature}")
            if getattr(kind, "shape", 0) is None:
                raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
            self._add(key, feature)

    def _add(self, key: str, feature: Any) -> None:
        if isinstance(feature, VarLenFeature):
            self._add_sparse(key, feature.dtype)
        elif isinstance(feature, SparseFeature):
            keys = feature.index_key if isinstance(feature.index_key, (list, tuple)) else [feature.index_key]
            sizes = feature.size if isinstance(feature.size, (list, tuple)) else [feature.size]
            if not feature.value_key or not all(keys) or len(keys) != len(sizes):
                raise ValueError(f"Missing or unmatched index_key, value_key or size for feature {key}: {feature}")
            for name in sorted(keys):
                self._add_sparse(name, dtypes.int64)
            self._add_sparse(feature.value_key, feature.dtype)
        elif isinstance(feature, RaggedFeature):
            self._add_ragged(key, feature)
        else:
            self._add_dense(key, feature)

    def _add_sparse(self, key: str, dtype: Any) -> None:
        dtype = dtypes.as_dtype(dtype)
        if self.sparse.setdefault(key, dtype) is not dtype:
            raise ValueError(f"Conflicting type {self.sparse[key]!r} vs {dtype!r} for feature {key}.")

    def _add_ragged(self, key: str, feature: RaggedFeature) -> None:
        wanted = [(key if feature.value_key is None else feature.value_key, feature.dtype)]
        wanted += [(part.key, dtypes.int64) for part in feature.partitions if not isinstance(part, UniformRowLength)]
        for name, dtype in wanted:
            if self.ragged.setdefault(name, (dtype, feature.row_splits_dtype)) != (dtype, feature.row_splits_dtype):
                raise ValueError(f"Conflicting type or row_splits_dtype for feature {name}.")
            if name in self.sparse or name in self.dense:
                raise ValueError(f"Feature {name} is used as ragged and in another form")

    def _add_dense(self, key: str, feature: Any) -> None:
        dims = TensorShape(feature.shape)
        sequence = isinstance(feature, FixedLenSequenceFeature)
        if dims.rank != 0 and None in (dims.as_list() if dims.rank is not None else [None]):
            if not sequence and dims.rank and dims.as_list()[0] is None:
                raise ValueError(
                    f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature. "
                    f"Received feature={feature}"
                )
            raise ValueError(
                f"All dimensions of shape for feature {key} need to be known but received {feature.shape}."
            )
        if sequence and self.over_time:
            self.may_lack.append(bool(feature.allow_missing))
            if feature.default_value is not None:
                raise ValueError(f"Default value for feature {key} is not supported over time. Received {feature}")
            self.dense[key] = (dtypes.as_dtype(feature.dtype), tuple(dims.as_list()), None)
            return
        if sequence and not feature.allow_missing:
            raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
        whole = (None, *dims.as_list()) if sequence else tuple(dims.as_list())
        self.dense[key] = (dtypes.as_dtype(feature.dtype), whole, feature.default_value)

    def defaults(self) -> list[Any]:
        """Return the default of each dense feature: empty where there is none."""
        made = []
        for dtype, dims, default in self.dense.values():
            if dims and dims[0] is None:
                filler = (b"" if dtype is dtypes.string else 0) if default is None else default
                made.append(convert(filler, dtype))
            elif default is None:
                made.append(convert(np.zeros(0, dtype.np), dtype))
            else:
                made.append(raw.Reshape(convert(default, dtype), np.array(dims, np.int32)))
        return made

    # -- from the ops' parts to what the user gets

    def result(self, sparse: dict[str, Any], dense: dict[str, Any], ragged: dict[str, Any]) -> dict[str, Any]:
        """Return each feature in its form."""
        made: dict[str, Any] = {}
        for key, feature in self.features.items():
            if isinstance(feature, VarLenFeature):
                made[key] = sparse[key]
            elif isinstance(feature, SparseFeature):
                made[key] = _merged(feature, sparse)
            elif isinstance(feature, RaggedFeature):
                made[key] = _parted(key, feature, ragged)
            else:
                made[key] = dense[key]
        return made


def _merged(feature: SparseFeature, parts: dict[str, Any]) -> SparseTensor:
    """Return the sparse tensor whose last indices are the values of the index features."""
    keys = feature.index_key if isinstance(feature.index_key, (list, tuple)) else [feature.index_key]
    sizes = feature.size if isinstance(feature.size, (list, tuple)) else [feature.size]
    first, values = parts[keys[0]], parts[feature.value_key]
    columns = [raw.ExpandDims(parts[key].values, np.array(1, np.int32)) for key in keys]
    one = np.array(1, np.int32)
    indices = raw.ConcatV2([first.indices[:, :-1], *columns], one)
    shape = raw.ConcatV2([first.dense_shape[:-1], np.array(sizes, np.int64)], np.array(0, np.int32))
    if feature.already_sorted:
        return SparseTensor(indices, values.values, shape)
    found = raw.SparseReorder(indices, values.values, shape)
    return SparseTensor(found.output_indices, found.output_values, shape)


_MAKERS: dict[Any, Any] = {
    RowSplits: RaggedTensor.from_row_splits,
    RowLengths: RaggedTensor.from_row_lengths,
    ValueRowIds: RaggedTensor.from_value_rowids,
    RowStarts: RaggedTensor.from_row_starts,
    RowLimits: RaggedTensor.from_row_limits,
}


def _parted(key: str, feature: RaggedFeature, parts: dict[str, Any]) -> Any:
    """Return the values of a ragged feature, parted as its partitions say."""
    values = parts[key if feature.value_key is None else feature.value_key]
    if not feature.partitions:
        return values
    if not isinstance(values, RaggedTensor):  # of a single record
        return _nested(values, feature, parts)
    if not isinstance(values.values, RaggedTensor):
        return _by_record(values, feature, parts)
    inner = {key: part.values for key, part in parts.items()}  # of several sequences: each step is a record
    return values.with_values(_by_record(values.values, feature, inner))


def _nested(values: Any, feature: RaggedFeature, parts: dict[str, Any]) -> Any:
    """Return the rows of one record, from the innermost partition out."""
    for part in reversed(feature.partitions):
        if isinstance(part, UniformRowLength):
            values = _uniform(values, part.length)
        else:
            numbers = raw.Cast(parts[part.key], DstT=feature.row_splits_dtype)
            values = _MAKERS[type(part)](values, numbers, validate=feature.validate)
    return values


def _uniform(values: Any, length: int) -> Any:
    """Return values in rows of one length: a tensor where they are one."""
    if isinstance(values, RaggedTensor):
        return RaggedTensor.from_uniform_row_length(values, length)
    return raw.Reshape(values, packed([-1, length, *lengths_of(values)[1:]]))


def _by_record(values: RaggedTensor, feature: RaggedFeature, parts: dict[str, Any]) -> Any:
    """Return the rows of all records: each partition's numbers count within their record, and are moved by where it
    begins.
    """
    splits, inner, kind = values.row_splits, values.values, feature.row_splits_dtype
    for part in reversed(feature.partitions):
        if isinstance(part, UniformRowLength):
            inner = _uniform(inner, part.length)
            splits = raw.FloorDiv(splits, np.array(part.length, kind.np))
            continue
        numbers = parts[part.key]
        rows = raw.Cast(numbers.values, DstT=kind)
        own = numbers.row_splits
        if isinstance(part, RowLengths):
            inner, splits = RaggedTensor.from_row_lengths(inner, rows, validate=feature.validate), own
            continue
        begins = raw.GatherV2(splits[:-1], numbers.value_rowids(), 0)
        if isinstance(part, RowStarts):
            inner, splits = RaggedTensor.from_row_starts(inner, rows + begins, validate=feature.validate), own
        elif isinstance(part, RowLimits):
            inner, splits = RaggedTensor.from_row_limits(inner, rows + begins, validate=feature.validate), own
        elif isinstance(part, RowSplits):
            inner, splits = _from_splits(inner, numbers, rows + begins, kind, feature.validate)
        else:
            inner, splits = _from_row_ids(inner, numbers, rows, kind, feature.validate)
    return RaggedTensor.from_row_splits(inner, splits, validate=feature.validate)


def _from_splits(inner: Any, numbers: Any, moved: Any, kind: Any, validate: bool) -> tuple[Any, Any]:
    """Return rows by the splits of each record: one number less than there are splits."""
    counts = numbers.row_lengths()
    firsts = numbers.row_starts()
    keep = raw.Equal(raw.ScatterNd(raw.ExpandDims(firsts, np.array(1, np.int32)), raw.OnesLike(firsts),
                                   raw.Shape(moved, out_type=firsts.dtype)), np.array(0, firsts.dtype.np))  # fmt: skip
    ends = raw.Reshape(raw.GatherV2(moved, raw.Where(keep), 0), np.array([-1], np.int32))
    rows = RaggedTensor.from_row_limits(inner, ends, validate=validate)
    one = np.array(1, counts.dtype.np)
    lengths = raw.Maximum(counts - one, np.array(0, counts.dtype.np))
    zero = np.zeros(1, counts.dtype.np)
    return rows, raw.ConcatV2([zero, raw.Cumsum(lengths, np.array(0, np.int32))], np.array(0, np.int32))


def _from_row_ids(inner: Any, numbers: Any, rows: Any, kind: Any, validate: bool) -> tuple[Any, Any]:
    """Return rows by the row of each value: a record has one more than its largest."""
    count = raw.Cast(numbers.nrows(), DstT=dtypes.int32)
    most = raw.UnsortedSegmentMax(rows, numbers.value_rowids(), count)
    lengths = raw.Maximum(most, np.array(-1, kind.np)) + np.array(1, kind.np)
    splits = raw.ConcatV2([np.zeros(1, kind.np), raw.Cumsum(lengths, np.array(0, np.int32))], np.array(0, np.int32))
    moved = rows + raw.GatherV2(splits[:-1], numbers.value_rowids(), 0)
    return RaggedTensor.from_value_rowids(inner, moved, nrows=splits[-1], validate=validate), splits
