"""Inner functions of TensorFlow about sparse tensors that a map holds: handles in, sparse tensors out."""

from __future__ import annotations

from typing import Any

from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.sparse.functions import convert_to_tensor_or_sparse_tensor

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
