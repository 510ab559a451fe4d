"""The ops that read `tf.train.Example`s: a batch of them, or one, into dense, sparse and ragged parts.

What a feature is to become is in the attrs and the keys; `wire` finds the values, `values` reads them. A record that
lacks a dense feature takes the default; one without a default is an error that names record and key.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.parsing import values, wire
from ebbflow.ops.parsing.batches import columns_of
from ebbflow.ops.sizes import invalid

KINDS = {dtypes.string: wire.BYTES, dtypes.float32: wire.FLOATS, dtypes.int64: wire.INTS}
_LISTS = "list(type) in [float,int64,string] >= 0"


class Dense(NamedTuple):
    """A feature of known shape; a first length of None takes as many values as there are, and fills up."""

    key: bytes
    dtype: Any
    dims: tuple[int | None, ...]
    default: np.ndarray

    @property
    def varies(self) -> bool:
        return bool(self.dims) and self.dims[0] is None

    @property
    def size(self) -> int:
        return math.prod(n for n in self.dims if n is not None)


class Records:
    """Serialized records, and what was found in them."""

    def __init__(self, serialized: np.ndarray, names: np.ndarray | None, keys: Sequence[bytes]) -> None:
        self.names = names.reshape(-1) if names is not None and names.size else None
        records = serialized.reshape(-1).tolist()
        self.count = len(records)
        self.batch = wire.joined(records)
        try:
            self.columns = columns_of(self.batch, set(keys))
        except wire.MalformedError as error:
            raise invalid(self._malformed(records, error)) from None
        self.found: dict[Any, values.Values] = {}

    def name(self, row: int) -> str:
        return "<unknown>" if self.names is None else self.names[row].decode("utf-8", "replace")

    def _malformed(self, records: list[bytes], error: Exception) -> str:
        row = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        shown = records[row][:64]
        return f"Name: {self.name(row)}, Key: <unknown>, Index: {row}.  Could not parse example input, value: {shown!r}"

    def values_of(self, key: bytes, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return the values of a feature, how many each record has, and which have it (None: all)."""
        column = self.columns.get(key)
        kind = KINDS[dtype]
        if column is None:
            return np.zeros(0, dtype.np), np.zeros(self.count, np.int64), np.zeros(self.count, bool)
        present = self._present(column, key, dtype)
        try:
            if present is None:
                return *values.MANY[kind](self.batch, column), None
            some_rows = wire.Column(kind, column.starts[present], column.ends[present])
            flat, some = values.MANY[kind](self.batch, some_rows)
        except wire.MalformedError as error:
            raise invalid(f"Key: {_text(key)}.  Could not parse example input: {error.args[-1]}") from None
        counts = np.zeros(self.count, np.int64)
        counts[present] = some
        return flat, counts, present

    def _present(self, column: wire.Column, key: bytes, dtype: Any) -> np.ndarray | None:
        """Return which records have a feature of this dtype (None: all). One that has another is an error."""
        kinds, kind = column.kinds, KINDS[dtype]
        if kinds.__class__ is int and kinds == kind:
            return None
        kinds = np.broadcast_to(kinds, self.count)
        wrong = (kinds != kind) & (kinds != 0)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            where = f"Name: {self.name(row)}, Key: {_text(key)}, Index: {row}."
            raise invalid(f"{where}  {_another(kinds[row], dtype)}")
        present = kinds == kind
        return None if present.all() else present

    def dense(self, feature: Dense) -> np.ndarray:
        """Return a feature with an axis for the records in front."""
        flat, counts, present = self.values_of(feature.key, feature.dtype)
        if feature.varies:
            return self._filled(feature, flat, counts)
        size = feature.size
        if present is None and (counts == size).all():
            return flat.reshape(self.count, *feature.dims)
        self._check_counts(feature, counts, present)
        rows = np.empty((self.count, size), feature.dtype.np)
        rows[...] = feature.default.reshape(1, -1) if feature.default.size else rows
        rows[present if present is not None else slice(None)] = flat.reshape(-1, size)
        return rows.reshape(self.count, *feature.dims)

    def _check_counts(self, feature: Dense, counts: np.ndarray, present: Any) -> None:
        wrong = (counts != feature.size) & (True if present is None else present)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise invalid(
                f"Name: {self.name(row)}, Key: {_text(feature.key)}, Index: {row}.  Number of {_word(feature.dtype)} "
                f"values != expected.  Values size: {counts[row]} but output shape: {show(feature.dims)}"
            )
        if present is not None and not present.all() and not feature.default.size and feature.size:
            row = int(np.flatnonzero(~present)[0])
            raise invalid(
                f"Name: {self.name(row)}, Feature: {_text(feature.key)} (data type: {_word(feature.dtype)}) is "
                "required but could not be found."
            )

    def _filled(self, feature: Dense, flat: np.ndarray, counts: np.ndarray) -> np.ndarray:
        size = feature.size
        if size and (counts % size).any():
            row = int(np.flatnonzero(counts % size)[0])
            what = "bytes" if feature.dtype is dtypes.string else _word(feature.dtype)
            raise invalid(
                f"Name: {self.name(row)}, Key: {_text(feature.key)}, Index: {row}.  Number of {what} values is not a "
                f"multiple of stride length. Saw {counts[row]} values but output shape is: {show(feature.dims)}"
            )
        longest = int(counts.max(initial=0))
        rows = np.empty((self.count, longest), feature.dtype.np)
        filler = feature.default.reshape(-1)[0] if feature.default.size else _zero(feature.dtype)
        rows[...] = filler
        rows[np.arange(longest) < counts[:, None]] = flat
        return rows.reshape(self.count, longest // size if size else 0, *feature.dims[1:])

    def sparse(self, key: bytes, dtype: Any, single: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the indices, values and shape of a feature of any length."""
        flat, counts, _ = self.values_of(key, dtype)
        columns = np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts)
        if single:
            return columns[:, None].astype(np.int64), flat, np.array([len(flat)], np.int64)
        indices = np.empty((len(flat), 2), np.int64)
        indices[:, 0] = np.repeat(np.arange(self.count), counts)
        indices[:, 1] = columns
        return indices, flat, np.array([self.count, counts.max(initial=0)], np.int64)

    def ragged(self, key: bytes, dtype: Any, splits: Any, single: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the values and row splits of a feature of any length."""
        flat, counts, _ = self.values_of(key, dtype)
        ends = np.zeros(0, splits.np) if single else np.concatenate([[0], np.cumsum(counts)]).astype(splits.np)
        return flat, ends


class Record(Records):
    """One serialized record, read without arrays of places: what a map over single records does."""

    def __init__(self, serialized: np.ndarray, names: np.ndarray | None) -> None:
        self.names = names.reshape(-1) if names is not None and names.size else None
        self.count = 1
        self.data = serialized.item()
        try:
            self.features = wire.features_of(self.data)
        except (wire.MalformedError, IndexError) as error:
            raise invalid(self._malformed([self.data], error)) from None

    def values_of(self, key: bytes, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return the values of a feature, how many there are, and whether it is there (None: it is)."""
        kind, start, end = self.features.get(key, _ABSENT)
        if kind == KINDS[dtype]:
            flat = self._list(key, kind, start, end)
            return flat, np.array([len(flat)]), None
        if kind:
            where = f"Name: {self.name(0)}, Key: {_text(key)}, Index: 0."
            raise invalid(f"{where}  {_another(kind, dtype)}")
        return np.zeros(0, dtype.np), np.zeros(1, np.int64), np.zeros(1, bool)

    def _list(self, key: bytes, kind: int, start: int, end: int) -> np.ndarray:
        try:
            return values.ONE[kind](self.data, start, end)
        except (wire.MalformedError, IndexError) as error:
            raise invalid(f"Key: {_text(key)}.  Could not parse example input: {error}") from None

    def dense(self, feature: Dense) -> np.ndarray:
        """Return a feature with an axis for the record in front."""
        kind, start, end = self.features.get(feature.key, _ABSENT)
        if kind == KINDS[feature.dtype] and not feature.varies:
            flat = self._list(feature.key, kind, start, end)
            if len(flat) == feature.size:
                return flat.reshape(1, *feature.dims)
        return super().dense(feature)


_ABSENT = (0, 0, 0)


def _zero(dtype: Any) -> Any:
    return b"" if dtype is dtypes.string else 0


def _text(key: bytes) -> str:
    return key.decode("utf-8", "replace")


def _another(kind: Any, dtype: Any) -> str:
    """Return what is wrong with a feature that holds another kind of values."""
    held = next((_word(other) for other, number in KINDS.items() if number == kind), "unknown")
    return f"Data types don't match. Data type: {held} but expected type: {_word(dtype)}"


def _word(dtype: Any) -> str:
    return {dtypes.float32: "float", dtypes.int64: "int64", dtypes.string: "string"}[dtype]


def key_list(keys: Any) -> list[bytes]:
    """Return keys, given as a vector, a list of scalars or an attr, as bytes."""
    if isinstance(keys, np.ndarray):
        return keys.reshape(-1).tolist()
    return [k.item() if isinstance(k, np.ndarray) else k.encode() if isinstance(k, str) else k for k in keys]


def dense_features(keys: list[bytes], types: Any, shapes: Any, defaults: Sequence[np.ndarray]) -> list[Dense]:
    """Return the dense features of an op, checked."""
    if not len(keys) == len(types) == len(shapes) == len(defaults):
        raise invalid(f"dense_keys, Tdense, dense_shapes and dense_defaults must be alike in number, got {len(keys)}, "
                      f"{len(types)}, {len(shapes)} and {len(defaults)}")  # fmt: skip
    made = []
    for key, dtype, dims, default in zip(keys, types, shapes, defaults, strict=True):
        if dims is None or None in dims[1:]:
            raise invalid(f"dense_shapes of {_text(key)}: only the first length may be unknown, got {show(dims)}")
        feature = Dense(key, dtype, tuple(dims), default)
        if default.size and default.size != (1 if feature.varies else feature.size):
            raise invalid(f"dense_defaults of {_text(key)}: {default.size} values do not fill {show(dims)}")
        made.append(feature)
    return made


def _dense_dims(dims: Any, lead: tuple[int | None, ...]) -> Any:
    return None if dims is None else (*lead, *dims)


# --- ops --------------------------------------------------------------------------------------------------------------

ParseExampleV2 = op(
    "ParseExampleV2(serialized:string, names:string, sparse_keys:string, dense_keys:string, ragged_keys:string,"
    " dense_defaults:list(Tdense)) -> (sparse_indices:num_sparse*int64, sparse_values:list(sparse_types),"
    " sparse_shapes:num_sparse*int64, dense_values:list(Tdense), ragged_values:list(ragged_value_types),"
    f" ragged_row_splits:list(ragged_split_types)) | Tdense: {_LISTS}; num_sparse: int >= 0; sparse_types: {_LISTS};"
    f" ragged_value_types: {_LISTS}; ragged_split_types: list(type) in [int32,int64] >= 0;"
    " dense_shapes: list(shape) >= 0",
    gradient=FLAT,
)


@ParseExampleV2.shape
def _(
    serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults,
    *, num_sparse, dense_shapes, ragged_value_types, sparse_types,
):  # fmt: skip
    rank = None if serialized.dims is None else len(serialized.dims)
    lead = serialized.dims if rank is not None else None
    width = None if rank is None else rank + 1
    splits = None if rank is None else (0,) if rank == 0 else (None if lead[0] is None else lead[0] + 1,)
    return [
        *[(None, width)] * num_sparse, *[(None,)] * len(sparse_types), *[(width,)] * num_sparse,
        *[None if lead is None else _dense_dims(d, lead) for d in dense_shapes],
        *[(None,)] * len(ragged_value_types), *[splits] * len(ragged_value_types),
    ]  # fmt: skip


@ParseExampleV2.kernel
def _(
    xp, serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults,
    *, Tdense, sparse_types, ragged_value_types, ragged_split_types, dense_shapes,
):  # fmt: skip
    if serialized.ndim > 1:
        raise invalid(f"Expected serialized to be a scalar or vector, got shape: {show(serialized.shape)}")
    if names.size and names.size != serialized.size:
        raise invalid(f"Expected names to have {serialized.size} entries, got shape: {show(names.shape)}")
    sparse, ragged = key_list(sparse_keys), key_list(ragged_keys)
    if len(sparse) != len(sparse_types) or len(ragged) != len(ragged_value_types):
        raise invalid(
            f"sparse_keys and ragged_keys must be as many as their types, got {len(sparse)} and {len(ragged)}"
        )
    dense = dense_features(key_list(dense_keys), Tdense, dense_shapes, dense_defaults)
    single = serialized.ndim == 0
    keys = [*sparse, *ragged, *(f.key for f in dense)]
    records = Record(serialized, names) if single else Records(serialized, names, keys)
    parts = [records.sparse(key, dtype, single) for key, dtype in zip(sparse, sparse_types, strict=True)]
    rows = [
        records.ragged(k, t, s, single) for k, t, s in zip(ragged, ragged_value_types, ragged_split_types, strict=True)
    ]
    whole = [records.dense(feature) for feature in dense]
    return [
        [p[0] for p in parts], [p[1] for p in parts], [p[2] for p in parts],
        [w[0] for w in whole] if single else whole, [r[0] for r in rows], [r[1] for r in rows],
    ]  # fmt: skip


ParseExample = op(
    "ParseExample(serialized:string, names:string, sparse_keys:Nsparse*string, dense_keys:Ndense*string,"
    " dense_defaults:list(Tdense)) -> (sparse_indices:Nsparse*int64, sparse_values:list(sparse_types),"
    " sparse_shapes:Nsparse*int64, dense_values:list(Tdense)) | Nsparse: int >= 0; Ndense: int >= 0;"
    f" sparse_types: {_LISTS}; Tdense: {_LISTS}; dense_shapes: list(shape) >= 0",
    gradient=FLAT,
)


@ParseExample.shape
def _(serialized, names, sparse_keys, dense_keys, dense_defaults, *, Nsparse, dense_shapes):
    count = None if serialized.dims is None or len(serialized.dims) != 1 else serialized.dims[0]
    return [
        *[(None, 2)] * Nsparse, *[(None,)] * Nsparse, *[(2,)] * Nsparse,
        *[_dense_dims(d, (count,)) for d in dense_shapes],
    ]  # fmt: skip


@ParseExample.kernel
def _(xp, serialized, names, sparse_keys, dense_keys, dense_defaults, *, sparse_types, Tdense, dense_shapes):
    if serialized.ndim != 1:
        raise invalid(f"Expected serialized to be a vector, got shape: {show(serialized.shape)}")
    if names.size and names.size != serialized.size:
        raise invalid(f"Expected names to have {serialized.size} entries, got shape: {show(names.shape)}")
    sparse, dense = key_list(sparse_keys), dense_features(key_list(dense_keys), Tdense, dense_shapes, dense_defaults)
    records = Records(serialized, names, [*sparse, *(f.key for f in dense)])
    parts = [records.sparse(key, dtype, False) for key, dtype in zip(sparse, sparse_types, strict=True)]
    return [*([p[i] for p in parts] for i in range(3)), [records.dense(feature) for feature in dense]]


ParseSingleExample = op(
    "ParseSingleExample(serialized:string, dense_defaults:list(Tdense)) -> (sparse_indices:num_sparse*int64,"
    " sparse_values:list(sparse_types), sparse_shapes:num_sparse*int64, dense_values:list(Tdense))"
    " | num_sparse: int >= 0; sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0;"
    f" sparse_types: {_LISTS}; Tdense: {_LISTS}; dense_shapes: list(shape) >= 0",
    gradient=FLAT,
)


@ParseSingleExample.shape
def _(serialized, dense_defaults, *, num_sparse, dense_shapes):
    return [
        [(None, 1)] * num_sparse,
        [(None,)] * num_sparse,
        [(1,)] * num_sparse,
        [_dense_dims(d, ()) for d in dense_shapes],
    ]


@ParseSingleExample.kernel
def _(xp, serialized, dense_defaults, *, sparse_keys, dense_keys, sparse_types, Tdense, dense_shapes):
    if serialized.ndim:
        raise invalid(f"Expected serialized to be a scalar, got shape: {show(serialized.shape)}")
    sparse, dense = key_list(sparse_keys), dense_features(key_list(dense_keys), Tdense, dense_shapes, dense_defaults)
    records = Record(serialized, None)
    parts = [records.sparse(key, dtype, True) for key, dtype in zip(sparse, sparse_types, strict=True)]
    return [*([p[i] for p in parts] for i in range(3)), [records.dense(feature)[0] for feature in dense]]
