"""Sparse tensors as strings (or variants) of their three parts: `tf.io.serialize_sparse` and the way back.

A batch is a matrix with a row of three for each sparse tensor. Knows the ops of `ragged.composite_variants` alone.
"""

from __future__ import annotations

from ebbflow.core import dtypes
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.sparse import SparseTensor, SparseTensorValue
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.sparse.functions import as_sparse


def serialize_sparse(
    sp_input: SparseTensor | SparseTensorValue, out_type: DTypeLike = dtypes.string, name: str | None = None
) -> Tensor:
    """Return a vector of the indices, the values and the shape of a sparse tensor, each serialized.

    >>> serialize_sparse(SparseTensor([[0, 1]], [5.0], [2, 2])).shape.as_list()
    [3]
    """
    sp = as_sparse(sp_input)
    return raw.SerializeSparse(sp.indices, sp.values, sp.dense_shape, out_type=as_dtype(out_type), name=name)


def serialize_sparse_v1(
    sp_input: SparseTensor | SparseTensorValue, name: str | None = None, out_type: DTypeLike = dtypes.string
) -> Tensor:
    """Return a vector of the three parts of a sparse tensor, as TensorFlow 1 orders the arguments."""
    return serialize_sparse(sp_input, out_type, name)


def serialize_many_sparse(
    sp_input: SparseTensor | SparseTensorValue, out_type: DTypeLike = dtypes.string, name: str | None = None
) -> Tensor:
    """Return a matrix with the serialized parts of each row of a sparse tensor, whose rank is at least two.

    >>> serialize_many_sparse(SparseTensor([[0, 1]], [5.0], [4, 2])).shape.as_list()
    [4, 3]
    """
    sp = as_sparse(sp_input)
    return raw.SerializeManySparse(sp.indices, sp.values, sp.dense_shape, out_type=as_dtype(out_type), name=name)


def serialize_many_sparse_v1(
    sp_input: SparseTensor | SparseTensorValue, name: str | None = None, out_type: DTypeLike = dtypes.string
) -> Tensor:
    """Return a matrix with the parts of each row of a sparse tensor, as TensorFlow 1 orders the arguments."""
    return serialize_many_sparse(sp_input, out_type, name)


def deserialize_many_sparse(
    serialized_sparse: TensorLike, dtype: DTypeLike, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Return one sparse tensor whose rows are the serialized ones of a matrix; `rank` is what it has, if known.

    >>> rows = serialize_many_sparse(SparseTensor([[0, 1], [3, 0]], [5.0, 6.0], [4, 2]))
    >>> deserialize_many_sparse(rows, "float32").indices.numpy().tolist()
    [[0, 1], [3, 0]]
    """
    indices, values, shape = raw.DeserializeManySparse(serialized_sparse, dtype=as_dtype(dtype), name=name)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)
