"""Sparse and ragged tensors in one tensor of dtype variant each, so that they can be stacked and taken apart.

A sparse tensor becomes a vector of its three parts, a ragged one a scalar. A stack of them becomes one tensor with a
dimension more. Sparse parts can be strings too, which are messages. Datasets use them for their elements.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes
from ebbflow.core.op import op
from ebbflow.core.shape import Dims
from ebbflow.core.sparse import Travels, provide_travels
from ebbflow.messages.tensors import make_ndarray, make_tensor_proto
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid

_SPARSE = "(sparse_indices:int64, sparse_values:T, sparse_shape:int64) -> (serialized_sparse:out_type) | T: type; "
_SPARSE += "out_type: type in [string,variant] = string"
SerializeSparse = op("SerializeSparse" + _SPARSE, gradient=FLAT)
SerializeManySparse = op("SerializeManySparse" + _SPARSE, gradient=FLAT)
DeserializeSparse = op(
    "DeserializeSparse(serialized_sparse:Tserialized) -> (sparse_indices:int64, sparse_values:dtype, "
    "sparse_shape:int64) | dtype: type; Tserialized: type in [string,variant] = string",
    gradient=FLAT,
)
DeserializeManySparse = op(
    "DeserializeManySparse(serialized_sparse:string) -> (sparse_indices:int64, sparse_values:dtype, "
    "sparse_shape:int64) | dtype: type",
    gradient=FLAT,
)
RaggedTensorToVariant = op(
    "RaggedTensorToVariant(rt_nested_splits:RAGGED_RANK*Tsplits, rt_dense_values:Tvalues) -> (encoded_ragged:variant) "
    "| RAGGED_RANK: int >= 0; Tvalues: type; Tsplits: type in [int32,int64] = int64; batched_input: bool",
    gradient=FLAT,
)
RaggedTensorFromVariant = op(
    "RaggedTensorFromVariant(encoded_ragged:variant) -> (output_nested_splits:output_ragged_rank*Tsplits, "
    "output_dense_values:Tvalues) | input_ragged_rank: int >= -1; output_ragged_rank: int >= 0; Tvalues: type; "
    "Tsplits: type in [int32,int64] = int64",
    gradient=FLAT,
)


class Held:
    """An array as one entry of another."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray):
        self.array = array


# --- sparse -----------------------------------------------------------------------------------------------------------


def _check_sparse(indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> None:
    if indices.ndim != 2:
        raise invalid(f"Input indices should be a matrix but received shape {list(indices.shape)}")
    if values.ndim != 1:
        raise invalid(f"Input values should be a vector but received shape {list(values.shape)}")
    if shape.ndim != 1:
        raise invalid(f"Input shape should be a vector but received shape {list(shape.shape)}")
    if len(indices) != len(values) or indices.shape[1] != len(shape):
        raise invalid(
            f"indices of shape {list(indices.shape)} do not fit {len(values)} values and {len(shape)} dimensions"
        )


def _entries(parts: Sequence[np.ndarray], out_type: Any) -> np.ndarray:
    row = np.empty(len(parts), object)
    for i, part in enumerate(parts):
        row[i] = Held(part) if out_type is dtypes.variant else make_tensor_proto(part).SerializeToString()
    return row


def in_variants(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the three parts of a sparse tensor as a vector of variants."""
    return _entries(parts, dtypes.variant)


@SerializeSparse.kernel
def _(xp: Any, indices: Any, values: Any, shape: Any, *, out_type: Any) -> Any:
    _check_sparse(indices, values, shape)
    return _entries((indices, values, shape), out_type)


@SerializeManySparse.kernel
def _(xp: Any, indices: Any, values: Any, shape: Any, *, out_type: Any) -> Any:
    _check_sparse(indices, values, shape)
    if len(shape) < 2:
        raise invalid(f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}")
    rows = indices[:, 0]
    if (np.diff(rows) < 0).any() or (len(rows) and not 0 <= int(rows[0]) <= int(rows[-1]) < int(shape[0])):
        raise invalid(f"The rows of a batch must be in order and within [0, {int(shape[0])})")
    edges = np.searchsorted(rows, np.arange(int(shape[0]) + 1)).tolist()
    found = np.empty((len(edges) - 1, 3), object)
    for row, (first, last) in zip(found, itertools.pairwise(edges), strict=True):
        row[:] = _entries((indices[first:last, 1:], values[first:last], shape[1:]), out_type)
    return found


SerializeSparse.shape(lambda indices, values, shape: (3,))
SerializeManySparse.shape(lambda indices, values, shape: (None, 3))


def _part(entry: Any) -> np.ndarray:
    if isinstance(entry, Held):
        return entry.array
    if not isinstance(entry, bytes):
        raise invalid(f"A serialized sparse tensor has three parts, found {type(entry).__name__}")
    try:
        return make_ndarray(messages.TensorProto.FromString(entry))
    except Exception as error:
        raise invalid(f"Could not parse serialized proto, a part of a sparse tensor: {error}") from None


@DeserializeManySparse.kernel
@DeserializeSparse.kernel
def _(xp: Any, serialized_sparse: Any, *, dtype: Any) -> Any:
    if not serialized_sparse.ndim or serialized_sparse.shape[-1] != 3:
        raise invalid(f"Serialized sparse must have 3 columns, but has shape {list(serialized_sparse.shape)}")
    outer = serialized_sparse.shape[:-1]
    indices, values = [], []
    inner: list[np.ndarray] = []
    for number, place in enumerate(np.ndindex(outer)):
        where, what, shape = (_part(entry) for entry in serialized_sparse[place])
        _check_sparse(where, what, shape)
        if what.dtype != dtype.np:
            raise invalid(
                f"Requested SparseTensor of type {dtype.name} but SparseTensor[{number}].values.dtype() == {what.dtype}"
            )
        if inner and len(shape) != len(inner[-1]):
            raise invalid(
                f"Inconsistent shape across SparseTensors: rank prior to SparseTensor[{number}] was: {len(inner[-1])} "
                f"but rank of SparseTensor[{number}] is: {len(shape)}"
            )
        front = np.broadcast_to(np.array(place, np.int64), (len(where), len(outer)))
        indices.append(np.concatenate([front, where], 1))
        values.append(what)
        inner.append(shape)
    if not values:
        raise invalid("Must have at least 1 serialized SparseTensor to deserialize, but got none")
    dense = np.concatenate([np.array(outer, np.int64), np.max(inner, axis=0)])
    return np.concatenate(indices), np.concatenate(values), dense.astype(np.int64)


@DeserializeManySparse.shape
@DeserializeSparse.shape
def _(serialized_sparse: Any) -> list[Dims]:
    if serialized_sparse.dims == ():
        raise invalid(
            "Shape must be at least rank 1 but is rank 0: serialized_sparse has a row of three for each tensor"
        )
    return [(None, None), (None,), (None,)]


provide_travels(
    Travels(
        pack=lambda x: SerializeSparse(x.indices, x.values, x.dense_shape, out_type=dtypes.variant),
        pack_rows=lambda x: SerializeManySparse(x.indices, x.values, x.dense_shape, out_type=dtypes.variant),
        open=lambda tensor, dtype: DeserializeSparse(tensor, dtype=dtype),
    )
)


# --- ragged -----------------------------------------------------------------------------------------------------------


class RaggedValue:
    """A ragged tensor: where its rows end at each level, and all values."""

    __slots__ = ("splits", "values")

    def __init__(self, splits: Sequence[np.ndarray], values: np.ndarray):
        self.splits = tuple(splits)
        self.values = values

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.splits[0]) - 1 if self.splits else len(self.values)

    def row(self, i: int) -> RaggedValue:
        """Return one row."""
        first, last = (int(n) for n in self.splits[0][i : i + 2])
        splits = []
        for level in self.splits[1:]:
            part = level[first : last + 1]
            splits.append(part - part[0])
            first, last = int(part[0]), int(part[-1])
        return RaggedValue(splits, self.values[first:last])


def _together(parts: Sequence[RaggedValue], dtype: Any) -> RaggedValue:
    """Return ragged tensors (or plain ones) as the rows of one."""
    outer = np.cumsum([0, *[part.count for part in parts]]).astype(dtype)
    levels = []
    for level in range(len(parts[0].splits)):
        ends, at = [np.zeros(1, dtype)], 0
        for part in parts:
            ends.append(part.splits[level][1:] + dtype(at))
            at += int(part.splits[level][-1])
        levels.append(np.concatenate(ends).astype(dtype))
    some = [part.values for part in parts if len(part.values)] or [parts[0].values]  # empty ones may be of any shape
    return RaggedValue([outer, *levels], np.concatenate(some))


def _check_ragged(splits: Sequence[np.ndarray], values: np.ndarray) -> None:
    for i, level in enumerate(splits):
        if level.ndim != 1 or not len(level):
            raise invalid(f"Each of rt_nested_splits must be a vector, but {i} has shape {list(level.shape)}")
        inner = splits[i + 1] if i + 1 < len(splits) else values
        count = (inner.shape[0] if inner.ndim else 0) - (inner is not values)
        if level[0] != 0 or (np.diff(level) < 0).any() or level[-1] != count:
            raise invalid(f"rt_nested_splits {i} must go from 0 to {count} without decreasing, got {level.tolist()}")


@RaggedTensorToVariant.kernel
def _(xp: Any, splits: Any, values: Any, *, batched_input: Any) -> Any:
    _check_ragged(splits, values)
    whole = RaggedValue(splits, values)
    if not batched_input:
        box = np.empty((), object)
        box[()] = whole
        return box
    if not splits:
        raise invalid("ragged_rank must be >= 1 if batched_input is true")
    rows = np.empty(whole.count, object)
    for i in range(whole.count):
        rows[i] = whole.row(i)
    return rows


@RaggedTensorToVariant.shape
def _(splits: Any, values: Any, *, batched_input: Any) -> Dims:
    if not batched_input:
        return ()
    dims = splits[0].dims if splits else None
    return (None if not dims or not dims[0] else dims[0] - 1,)


@RaggedTensorFromVariant.kernel
def _(xp: Any, encoded_ragged: Any, *, input_ragged_rank: Any, output_ragged_rank: Any, Tvalues: Any, Tsplits: Any):
    inner = output_ragged_rank - encoded_ragged.ndim
    if not output_ragged_rank and inner < 0 and input_ragged_rank < 0 and encoded_ragged.size:
        return [], _stacked_tensors(encoded_ragged, Tvalues)
    if inner < 0 or (input_ragged_rank >= 0 and input_ragged_rank != inner):
        raise invalid(
            f"output_ragged_rank {output_ragged_rank} must be the ragged rank of the parts "
            f"({input_ragged_rank}) plus the {encoded_ragged.ndim} dimensions they are stacked in"
        )
    for value in encoded_ragged.reshape(-1):
        if not isinstance(value, RaggedValue) or len(value.splits) != inner or value.values.dtype != Tvalues.np:
            raise invalid(f"Input element does not hold a RaggedTensor of {Tvalues.name} with ragged rank {inner}")
    whole = _stack(encoded_ragged, Tsplits.np.type, inner, Tvalues.np)
    return [np.asarray(level, Tsplits.np) for level in whole.splits], whole.values


def _stacked_tensors(encoded: np.ndarray, dtype: Any) -> np.ndarray:
    """Return tensors that are not ragged, one from each element, in one."""
    parts = [value.values for value in encoded.reshape(-1) if isinstance(value, RaggedValue) and not value.splits]
    if len(parts) != encoded.size or any(part.dtype != dtype.np or part.shape != parts[0].shape for part in parts):
        raise invalid(f"Input elements do not hold tensors of {dtype.name} and of one shape")
    return np.stack(parts).reshape(*encoded.shape, *parts[0].shape)


def _stack(encoded: np.ndarray, dtype: Any, inner: int, values: Any) -> RaggedValue:
    if not encoded.ndim:
        return encoded.item()
    if not len(encoded):
        return RaggedValue([np.zeros(1, dtype)] * (encoded.ndim + inner), np.zeros(0, values))
    return _together([_stack(encoded[i, ...], dtype, inner, values) for i in range(len(encoded))], dtype)


@RaggedTensorFromVariant.shape
def _(encoded_ragged: Any, *, output_ragged_rank: Any) -> list[Dims]:
    return [*[(None,)] * output_ragged_rank, None]
