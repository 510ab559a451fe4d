"""Inner functions of TensorFlow about sparse tensors: held by a map, serialized, appended; and bits in bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor, SparseTensorValue
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged import rows
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.ragged.value import RaggedTensorValue
from ebbflow.ops.sparse.functions import concat, convert_to_tensor_or_sparse_tensor

_KEEPERS = ("AddSparseToTensorsMap", "AddManySparseToTensorsMap")


def add_sparse_to_tensors_map(
    sp_input: SparseTensor, container: str | None = None, shared_name: str | None = None, name: str | None = None
) -> Tensor:
    """Return the handle of a sparse tensor that a map holds from now on."""
    return raw.AddSparseToTensorsMap(
        *_parts(sp_input), container=container or "", shared_name=shared_name or "", name=name
    )


def add_many_sparse_to_tensors_map(
    sp_input: SparseTensor, container: str | None = None, shared_name: str | None = None, name: str | None = None
) -> Tensor:
    """Return handles of the rows of a sparse tensor that a map holds from now on."""
    return raw.AddManySparseToTensorsMap(
        *_parts(sp_input), container=container or "", shared_name=shared_name or "", name=name
    )


def _parts(sp_input: Any) -> tuple[Any, Any, Any]:
    sparse = convert_to_tensor_or_sparse_tensor(sp_input)
    if not isinstance(sparse, SparseTensor):
        raise TypeError(f"sp_input must be a SparseTensor; got {sp_input!r}")
    return sparse.indices, sparse.values, sparse.dense_shape


def take_many_sparse_from_tensors_map(
    sparse_map_op: Any, sparse_handles: TensorLike, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Return the sparse tensors of some handles, stacked; `sparse_map_op` put them into the map."""
    if sparse_map_op.type not in _KEEPERS:
        raise TypeError(f"sparse_map_op must be one of {' or '.join(_KEEPERS)}. Instead, found `{sparse_map_op.type}`.")
    shared = sparse_map_op.get_attr("shared_name")
    shared = shared.decode() if isinstance(shared, bytes) else shared
    container = sparse_map_op.get_attr("container")
    indices, values, shape = raw.TakeManySparseFromTensorsMap(
        sparse_handles, dtype=sparse_map_op.get_attr("T"), shared_name=shared or sparse_map_op.name,
        container=container.decode() if isinstance(container, bytes) else container, name=name,
    )  # fmt: skip
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def deserialize_sparse(
    serialized_sparse: TensorLike, dtype: DTypeLike, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Return serialized sparse tensors as one, whose first axes are those of what is given but for the last."""
    indices, values, shape = raw.DeserializeSparse(serialized_sparse, dtype=as_dtype(dtype), name=name)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


# --- values made of several tensors, or what a session gave for them --------------------------------------------------


def is_composite_or_composite_value(tensor: Any) -> bool:
    """Return whether this is a sparse or ragged tensor, another value made of tensors, or the value of one."""
    return isinstance(tensor, (CompositeTensor, SparseTensorValue, RaggedTensorValue))


def append_composite_tensor(target: Any, to_append: Any) -> Any:
    """Return the rows of one sparse or ragged tensor (or value) followed by those of another."""
    if type(target) is not type(to_append):
        raise RuntimeError(f"Unable to concatenate {target} and {to_append}: both must be of one type")
    if isinstance(target, SparseTensor):
        return concat(0, [target, to_append])
    if isinstance(target, RaggedTensor):
        return rows.concat([target, to_append], 0)
    if isinstance(target, SparseTensorValue):
        return _appended_sparse(target, to_append)
    if isinstance(target, RaggedTensorValue):
        return _appended_ragged(target, to_append)
    raise RuntimeError(f"Attempted to concatenate unsupported object {target}.")


def _appended_sparse(target: Any, more: Any) -> SparseTensorValue:
    first, second = np.asarray(target.dense_shape), np.asarray(more.dense_shape)
    if (first[1:] != second[1:]).any():
        raise RuntimeError(f"Unable to concatenate sparse values of shapes {first.tolist()} and {second.tolist()}")
    moved = np.asarray(more.indices) + np.array([first[0]] + [0] * (len(first) - 1))
    indices, values = np.concatenate([target.indices, moved]), np.concatenate([target.values, more.values])
    return SparseTensorValue(indices, values, (int(first[0] + second[0]), *map(int, first[1:])))


def _appended_ragged(target: Any, more: Any) -> Any:
    if not isinstance(target, RaggedTensorValue):
        return np.concatenate([target, more])
    splits = np.concatenate([target.row_splits, more.row_splits[1:] + target.row_splits[-1]])
    return RaggedTensorValue(_appended_ragged(target.values, more.values), splits)


def compare_and_bitpack(input: TensorLike, threshold: TensorLike, name: str | None = None) -> Tensor:
    """Return which elements are above a threshold, eight of them in a byte, the first one in its highest bit."""
    with name_scope(name, "CompareAndBitpack", [input, threshold]):
        x = convert(input)
        if not x.shape.rank or (x.shape[-1] is not None and int(x.shape[-1]) % 8):
            raise ValueError(f"the last axis of input must be a multiple of 8, got shape {x.shape}")
        above = x if x.dtype == "bool" else raw.Greater(x, convert(threshold, x.dtype))
        bits = raw.Reshape(raw.Cast(above, DstT=as_dtype("int32")), raw.ConcatV2([raw.Shape(x)[:-1], [-1, 8]], 0))
        return raw.Cast(raw.Sum(bits * (1 << np.arange(7, -1, -1, dtype=np.int32)), -1), DstT=as_dtype("uint8"))
