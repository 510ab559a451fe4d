"""Crosses of features: for each row, every combination of one value from each column, as a text or as a hash.

Columns are sparse, ragged or dense; what they share is `Column`: the values of a row, as bytes, and as numbers to hash.
Hashes are TensorFlow's fingerprints joined one after the other, so buckets are the same.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import FLAT, raw, show
from ebbflow.ops.sizes import invalid
from ebbflow.ops.sparse.arrays import checked, within
from ebbflow.ops.sparse.counting import rows_of_splits
from ebbflow.ops.strings.hashing import fingerprint64, hashes, siphash

DEFAULT_KEY = 0xDECAFCAFFE
"""The key that TensorFlow's functions take where none is given."""

_MASK = (1 << 64) - 1
_MUL = 0xC6A4A7935BD1E995


def joined_hash(a: int, b: int) -> int:
    """Return one fingerprint of two."""
    mixed = b * _MUL & _MASK
    result = a ^ _MUL
    result ^= (mixed ^ mixed >> 47) * _MUL & _MASK
    result = result * _MUL & _MASK
    result = (result ^ result >> 47) * _MUL & _MASK
    return result ^ result >> 47


def early_hash(a: int, b: int) -> int:
    """Return one hash of two as `tf.contrib.layers` joined them before it had fingerprints."""
    signed = a - (1 << 64) if a >> 63 else a
    return a ^ (b + 0x9E3779B97F4A7800 + (a << 10) + (signed >> 4)) & _MASK


class Column:
    """The values of one feature, row by row."""

    def __init__(self, rows: list[list[Any]]):
        self.rows = rows

    def texts(self, row: int) -> list[bytes]:
        return [v if isinstance(v, bytes) else str(v).encode() for v in self.rows[row]]

    def numbers(self, row: int) -> list[int]:
        values = self.rows[row]
        if values and isinstance(values[0], bytes):
            return [int(n) for n in hashes(values, fingerprint64)]
        return [int(v) & _MASK for v in values]


class _Keyed(Column):
    """A column of `SparseCrossHashed`, which hashes numbers too: the lower four bytes of each, where `narrow`."""

    def __init__(self, rows: list[list[Any]], hash_of: Callable[[Any], Any], narrow: bool):
        super().__init__(rows)
        self.hash_of, self.narrow = hash_of, narrow

    def numbers(self, row: int) -> list[int]:
        values = self.rows[row]
        if values and not isinstance(values[0], bytes):
            if not self.narrow:
                return super().numbers(row)
            values = [(v & 0xFFFFFFFF).to_bytes(4, "little") for v in values]
        return [int(n) for n in hashes(values, self.hash_of)]


def _sparse_column(indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> Column:
    if indices.ndim != 2:
        raise invalid(f"Input indices should be a matrix but received shape {show(indices.shape)}")
    if indices.shape[1] != 2:
        raise invalid(f"Expected D2 of index to be 2 got {indices.shape[1]}")
    if values.ndim != 1:
        raise invalid(f"Input values should be a vector but received shape {show(values.shape)}")
    checked(indices, values, shape)
    if len(shape) != 2:
        raise invalid(f"Input shape should be a matrix, got dense_shape {shape.tolist()}")
    within(indices, shape)
    if int(shape[0]) > 1 << 26:
        raise invalid(f"a batch of {int(shape[0])} rows is too large")
    rows: list[list[Any]] = [[] for _ in range(int(shape[0]))]
    for (row, _), value in zip(indices.tolist(), values.tolist(), strict=True):
        rows[row].append(value)
    return Column(rows)


def _ragged_column(values: np.ndarray, splits: np.ndarray) -> Column:
    if values.ndim != 1:
        raise invalid(f"ragged values must be a vector, got shape {show(values.shape)}")
    rows_of_splits(splits, len(values))
    flat, ends = values.tolist(), splits.tolist()
    return Column([flat[a:b] for a, b in itertools.pairwise(ends)])


def _dense_column(values: np.ndarray) -> Column:
    if values.ndim != 2:
        raise invalid(f"Dense inputs should be a matrix, got shape {show(values.shape)}")
    return Column(values.tolist())


def crossed(
    columns: Sequence[Column], hashed: bool, buckets: int, key: int | None, separator: bytes, join: Any = joined_hash
) -> list[list[Any]]:
    """Return the combinations of each row: the last column's values change first. Hashes follow the key, if any."""
    counts = [len(column.rows) for column in columns]
    for count in counts:
        if count != counts[0]:
            raise invalid(f"Expected batch size {counts[0]} got {count}")
    rows: list[list[Any]] = []
    for row in range(counts[0] if counts else 0):
        if not hashed:
            rows.append([separator.join(parts) for parts in itertools.product(*(c.texts(row) for c in columns))])
            continue
        found = []
        for parts in itertools.product(*(c.numbers(row) for c in columns)):
            value = functools.reduce(join, parts if key is None else (key, *parts))
            found.append(value % buckets if buckets > 0 else value % (2**63 - 1))
        rows.append(found)
    return rows


def _as_sparse(rows: list[list[Any]], dtype: Any) -> tuple[Any, Any, Any]:
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = np.empty(len(places), dtype)
    values[:] = [v for row in rows for v in row]
    widest = max((len(row) for row in rows), default=0)
    return np.array(places, np.int64).reshape(-1, 2), values, np.array([len(rows), widest], np.int64)


# --- ops --------------------------------------------------------------------------------------------------------------

_TYPES = "sparse_types: list(type) in [int64,string] >= 0; dense_types: list(type) in [int64,string] >= 0"
_IN = "indices:N*int64, values:list(sparse_types), shapes:N*int64, dense_inputs:list(dense_types)"
SparseCross = op(
    f"SparseCross({_IN}) -> (output_indices:int64, output_values:out_type, output_shape:int64) | N: int >= 0; "
    f"hashed_output: bool; num_buckets: int >= 0; hash_key: int; {_TYPES}; out_type: type in [int64,string]; "
    "internal_type: type in [int64,string]",
    gradient=FLAT,
)
SparseCrossV2 = op(
    f"SparseCrossV2({_IN}, sep:string) -> (output_indices:int64, output_values:string, output_shape:int64) | "
    f"N: int >= 0; {_TYPES}",
    gradient=FLAT,
)
SparseCrossHashed = op(
    f"SparseCrossHashed({_IN}, num_buckets:int64, strong_hash:bool, salt:int64) -> (output_indices:int64, "
    f"output_values:int64, output_shape:int64) | N: int >= 0; {_TYPES}",
    gradient=FLAT,
)
for _declared in (SparseCross, SparseCrossV2, SparseCrossHashed):
    _declared.shape(lambda *inputs: [(None, 2), (None,), (2,)])


def _columns(indices: Any, values: Any, shapes: Any, dense: Any) -> list[Column]:
    if not len(indices) == len(values) == len(shapes):
        raise invalid(f"{len(indices)} indices, {len(values)} values and {len(shapes)} shapes do not go together")
    found = [_sparse_column(*parts) for parts in zip(indices, values, shapes, strict=True)]
    return [*found, *(_dense_column(x) for x in dense)]


@SparseCross.kernel
def _(xp, indices, values, shapes, dense_inputs, *, hashed_output, num_buckets, hash_key, out_type):
    if hashed_output != (out_type is dtypes.int64):
        raise invalid(f"a cross that is {'' if hashed_output else 'not '}hashed cannot be {out_type.name}")
    columns = _columns(indices, values, shapes, dense_inputs)
    return _as_sparse(crossed(columns, hashed_output, num_buckets, hash_key & _MASK, b"_X_"), out_type.np)


@SparseCrossV2.kernel
def _(xp, indices, values, shapes, dense_inputs, sep):
    if sep.size != 1:
        raise invalid(f"Input separator should be a scalar. Received: sep of shape {show(sep.shape)}")
    columns = _columns(indices, values, shapes, dense_inputs)
    return _as_sparse(crossed(columns, False, 0, 0, sep.reshape(-1)[0]), object)


@SparseCrossHashed.kernel
def _(xp, indices, values, shapes, dense_inputs, num_buckets, strong_hash, salt):
    for name, value in (("num_buckets", num_buckets), ("strong_hash", strong_hash)):
        if value.size != 1:
            raise invalid(f"{name} must be a scalar, got shape {show(value.shape)}")
    if salt.size != 2:
        raise invalid(f'Input "salt" must have length 2 but has length {salt.size}')
    first, second = (int(n) & _MASK for n in salt.reshape(-1))
    strong = bool(strong_hash.item())
    hash_of = siphash((first, second)) if strong else fingerprint64
    found = [
        _Keyed(column.rows, hash_of, narrow=strong or i < len(indices))
        for i, column in enumerate(_columns(indices, values, shapes, dense_inputs))
    ]
    return _as_sparse(crossed(found, True, int(num_buckets.item()), None, b""), np.int64)


_OUT = "out_type: type in [int64,string]; internal_type: type in [int64,string]"
_EARLY = "dense:list(dense_types)) -> (output_indices:int64, output_values:out_type, output_shape:int64) | N: int >= 0"
_EARLY = f"(indices:N*int64, values:list(sparse_types), shapes:N*int64, {_EARLY}; hashed_output: bool"
SparseFeatureCross = op(f"SparseFeatureCross{_EARLY}; num_buckets: int >= 0; {_TYPES}; {_OUT}", gradient=FLAT)
SparseFeatureCrossV2 = op(
    f"SparseFeatureCrossV2{_EARLY}; num_buckets: int >= 0; hash_key: int; {_TYPES}; {_OUT}", gradient=FLAT
)
for _declared in (SparseFeatureCross, SparseFeatureCrossV2):
    _declared.shape(lambda *inputs: [(None, 2), (None,), (2,)])


@SparseFeatureCross.kernel
def _(xp, indices, values, shapes, dense, *, hashed_output, num_buckets, out_type):
    columns = _columns(indices, values, shapes, dense)
    rows = crossed(columns, hashed_output, num_buckets, DEFAULT_KEY, b"_X_", early_hash)
    return _as_sparse(rows, out_type.np)


@SparseFeatureCrossV2.kernel
def _(xp, indices, values, shapes, dense, *, hashed_output, num_buckets, hash_key, out_type):
    columns = _columns(indices, values, shapes, dense)
    return _as_sparse(crossed(columns, hashed_output, num_buckets, hash_key & _MASK, b"_X_"), out_type.np)


RaggedCross = op(
    "RaggedCross(ragged_values:list(ragged_values_types), ragged_row_splits:list(ragged_splits_types), "
    "sparse_indices:Nsparse*int64, sparse_values:list(sparse_values_types), sparse_shape:Nsparse*int64, "
    "dense_inputs:list(dense_types)) -> (output_values:out_values_type, output_row_splits:out_row_splits_type) | "
    "Nsparse: int >= 0; input_order: string; hashed_output: bool; num_buckets: int >= 0; hash_key: int; "
    "ragged_values_types: list(type) in [int64,string] >= 0; ragged_splits_types: list(type) in [int32,int64] >= 0; "
    "sparse_values_types: list(type) in [int64,string] >= 0; dense_types: list(type) in [int64,string] >= 0; "
    "out_values_type: type in [int64,string]; out_row_splits_type: type in [int32,int64]",
    gradient=FLAT,
)
RaggedCross.shape(lambda *inputs: [(None,), (None,)])


@RaggedCross.kernel
def _(
    xp, ragged_values, ragged_row_splits, sparse_indices, sparse_values, sparse_shape, dense_inputs, *, input_order,
    hashed_output, num_buckets, hash_key, out_values_type, out_row_splits_type,
):  # fmt: skip
    kinds = {
        "R": iter([_ragged_column(*parts) for parts in zip(ragged_values, ragged_row_splits, strict=True)]),
        "S": iter([_sparse_column(*parts) for parts in zip(sparse_indices, sparse_values, sparse_shape, strict=True)]),
        "D": iter([_dense_column(x) for x in dense_inputs]),
    }
    order = input_order.decode() if isinstance(input_order, bytes) else input_order
    total = len(ragged_values) + len(sparse_values) + len(dense_inputs)
    columns = [column for kind in order for column in itertools.islice(kinds.get(kind, iter(())), 1)]
    if len(columns) != total or len(order) != total:
        raise invalid(f"Invalid input_order {order!r}: it has one of R, S, D for each of {total} inputs")
    rows = crossed(columns, hashed_output, num_buckets, hash_key & _MASK, b"_X_")
    values = np.empty(sum(map(len, rows)), out_values_type.np)
    values[:] = [v for row in rows for v in row]
    splits = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(out_row_splits_type.np)
    return values, splits


# --- public functions -------------------------------------------------------------------------------------------------


def _wide(x: Any) -> Any:
    """Return values as TensorFlow crosses them: texts, or int64."""
    return x if x.dtype in (dtypes.string, dtypes.int64) else raw.Cast(x, DstT=dtypes.int64)


def _parts(inputs: Any) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    if any(hasattr(x, "row_splits") for x in inputs):
        raise TypeError("a cross of sparse features takes sparse and dense tensors; tf.ragged.cross takes ragged ones")
    sparse = [x for x in inputs if isinstance(x, SparseTensor)]
    dense = [_wide(convert(x)) for x in inputs if not isinstance(x, SparseTensor)]
    return [x.indices for x in sparse], [_wide(x.values) for x in sparse], [x.dense_shape for x in sparse], dense


def sparse_cross(inputs: Sequence[TensorLike], name: str | None = None, separator: str | None = None) -> SparseTensor:
    """Return all combinations of features of a row, joined to texts ("_X_" between them), as a sparse tensor."""
    with name_scope(name, "sparse_cross"):
        indices, values, shapes, dense = _parts(inputs)
        return SparseTensor(*SparseCrossV2(indices, values, shapes, dense, "_X_" if separator is None else separator))


def sparse_cross_hashed(
    inputs: Sequence[TensorLike], num_buckets: int = 0, hash_key: TensorLike | None = None, name: str | None = None
) -> SparseTensor:
    """Return the buckets of all combinations of features of a row, as a sparse tensor."""
    with name_scope(name, "sparse_cross_hashed"):
        indices, values, shapes, dense = _parts(inputs)
        found = SparseCross(
            indices, values, shapes, dense, hashed_output=True, num_buckets=num_buckets,
            hash_key=DEFAULT_KEY if hash_key is None else hash_key, out_type=dtypes.int64,
            internal_type=dtypes.string,
        )  # fmt: skip
        return SparseTensor(*found)


def sparse_feature_cross(
    inputs: Sequence[TensorLike],
    hashed_output: bool = False,
    num_buckets: int = 0,
    name: str | None = None,
    hash_key: int | None = None,
) -> SparseTensor:
    """Return all combinations of features of a row, as texts or as buckets, as `tf.contrib.layers` made them.

    Without a `hash_key` the hashes are those from before fingerprints were joined.
    """
    if not isinstance(inputs, list):
        raise TypeError(f"Inputs must be a list, got {type(inputs).__name__}")
    for each in inputs:
        if not isinstance(each, (SparseTensor, Tensor)):
            raise TypeError(f"All inputs must be SparseTensors or Tensors, got {each!r}")
    with name_scope(name, "sparse_feature_cross"):
        parts = _parts(inputs)
        kinds = {x.dtype for x in (*parts[1], *parts[3])}
        said: dict[str, Any] = {"hashed_output": hashed_output, "num_buckets": num_buckets}
        said["out_type"] = dtypes.int64 if hashed_output else dtypes.string
        said["internal_type"] = dtypes.int64 if dtypes.int64 in kinds else dtypes.string
        if hash_key:
            return SparseTensor(*SparseFeatureCrossV2(*parts, hash_key=hash_key, **said))
        return SparseTensor(*SparseFeatureCross(*parts, **said))
