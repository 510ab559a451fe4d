"""Embeddings of several ids at once: a row of the answer combines the rows that one row of a sparse tensor names.

`embedding_lookup_sparse` takes ids as they are; the safe form leaves out what cannot be looked up (negative ids,
weights of zero or less) and gives zeros, or a default row, where nothing is left.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.arrays.shaping import expand_dims
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import div_no_nan, realdiv
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.nn.embedding import _lookup
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.sparse.functions import as_sparse, fill_empty_rows, reshape, retain
from ebbflow.ops.sparse.segment import sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum

COMBINERS = ("mean", "sqrtn", "sum")


def embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: TensorLike,
    sp_weights: TensorLike | None,
    combiner: str | None = None,
    max_norm: TensorLike | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """Return, for each row of `sp_ids`, the sum, mean or square-root-weighted mean of the rows of `params` it names.

    Ids may be ragged instead of sparse.

    >>> ids = SparseTensor([[0, 0], [0, 1]], [0, 1], [1, 2])
    >>> embedding_lookup_sparse([[1.0, 2.0], [3.0, 4.0]], ids, None, combiner="sum").numpy().tolist()
    [[4.0, 6.0]]
    """
    return _combined(params, sp_ids, sp_weights, "div", name, combiner, max_norm)


def embedding_lookup_sparse_v1(
    params: TensorLike,
    sp_ids: TensorLike,
    sp_weights: TensorLike | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: TensorLike | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """`embedding_lookup_sparse` with TensorFlow 1's arguments."""
    return _combined(params, sp_ids, sp_weights, partition_strategy, name, combiner, max_norm)


def _combined(params: Any, sp_ids: Any, sp_weights: Any, strategy: str, name: Any, combiner: Any, max_norm: Any) -> Any:
    combiner = combiner or "mean"
    if combiner not in COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    _check_kinds(sp_ids, sp_weights)
    with name_scope(name, "embedding_lookup_sparse", [sp_ids.values]):
        rows = sp_ids.value_rowids() if isinstance(sp_ids, RaggedTensor) else sp_ids.indices[:, 0]
        rows = rows if rows.dtype is dtypes.int32 else cast(rows, dtypes.int32)
        ids, which = raw.Unique(sp_ids.values)
        found = _lookup(params, ids, strategy, None, max_norm)
        original = found.dtype
        if original in (dtypes.float16, dtypes.bfloat16):
            found = cast(found, dtypes.float32)
            original = dtypes.float32 if context.switches.tf1 else original  # TensorFlow 1 left it so
        if sp_weights is None:
            fold = {"sum": sparse_segment_sum, "mean": sparse_segment_mean, "sqrtn": sparse_segment_sqrt_n}[combiner]
            result = fold(found, which, rows)
        else:
            result = _weighted(raw.GatherV2(found, which, 0), sp_weights.values, rows, combiner)
        return result if result.dtype is original else cast(result, original)


def _check_kinds(sp_ids: Any, sp_weights: Any) -> None:
    """Refuse ids that are neither sparse nor ragged, and weights of another kind or number."""
    if not isinstance(sp_ids, (SparseTensor, RaggedTensor)):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if isinstance(sp_ids, RaggedTensor) and sp_ids.ragged_rank != 1:
        raise ValueError(f"sp_ids must have one ragged axis, got ragged_rank = {sp_ids.ragged_rank}")
    if sp_weights is None:
        return
    if isinstance(sp_ids, SparseTensor) and not isinstance(sp_weights, SparseTensor):
        raise TypeError(f"sp_weights must be either None or SparseTensor, got {type(sp_weights)}")
    if not isinstance(sp_weights, type(sp_ids)):
        kinds_here = f"{type(sp_ids).__name__!r} for sp_ids and {type(sp_weights).__name__!r} for sp_weights"
        raise TypeError(f"sp_ids must be of the same type as sp_weights, received {kinds_here}.")
    sp_ids.values.shape.assert_is_compatible_with(sp_weights.values.shape)


def _weighted(found: Any, weights: Any, rows: Any, combiner: str) -> Any:
    weights = weights if weights.dtype is found.dtype else cast(weights, found.dtype)
    column = weights
    for _ in range(len(found._dims or (None, None)) - 1):
        column = expand_dims(column, -1)
    total = raw.SegmentSum(found * column, rows)
    if combiner == "sum":
        return total
    quotient = realdiv if context.switches.tf1 else div_no_nan  # a row without ids was NaN in TensorFlow 1
    if combiner == "mean":
        return quotient(total, raw.SegmentSum(column, rows))
    return quotient(total, raw.Sqrt(raw.SegmentSum(raw.Square(column), rows)))


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike,
    sparse_ids: TensorLike,
    sparse_weights: TensorLike | None = None,
    combiner: str = "mean",
    default_id: TensorLike | None = None,
    max_norm: TensorLike | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """Return what `embedding_lookup_sparse` gives for the ids that can be looked up; a row without any gets the row of
    `default_id`, or zeros.
    """
    return safe_embedding_lookup_sparse_v1(
        embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name, "div", max_norm
    )


def safe_embedding_lookup_sparse_v1(
    embedding_weights: TensorLike,
    sparse_ids: TensorLike,
    sparse_weights: TensorLike | None = None,
    combiner: str = "mean",
    default_id: TensorLike | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: TensorLike | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """`safe_embedding_lookup_sparse` with TensorFlow 1's arguments."""
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if isinstance(sparse_ids, RaggedTensor):
        sparse_ids = sparse_ids.to_sparse()
        sparse_weights = sparse_weights.to_sparse() if isinstance(sparse_weights, RaggedTensor) else sparse_weights
    _check_one_dtype(embedding_weights, sparse_weights)
    with name_scope(name, "embedding_lookup", [sparse_ids]):
        ids, weights = as_sparse(sparse_ids), None if sparse_weights is None else as_sparse(sparse_weights)
        whole = ids.dense_shape
        flat_shape = raw.Pack([raw.Prod(whole[:-1], [0]), whole[-1]])
        ids = reshape(ids, flat_shape)
        if weights is not None:
            weights = SparseTensor(ids.indices, weights.values, ids.dense_shape)
        ids, weights = _pruned(ids, weights, combiner)
        ids, is_empty = fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = fill_empty_rows(weights, 1.0)
        result = _combined(embedding_weights, ids, weights, partition_strategy, None, combiner, max_norm)
        if default_id is None:
            column = raw.Reshape(is_empty, [-1, 1])
            result = raw.SelectV2(column, zeros_like(result), result)
        shape = raw.ConcatV2([cast(whole[:-1], dtypes.int32), raw.Shape(result)[1:]], 0)
        final = raw.Reshape(result, shape)
        known = ids_shape(sparse_ids)
        if known is not None and result._dims is not None and isinstance(final, Tensor):
            final.set_shape([*known[:-1], *result._dims[1:]])
        return final


def _check_one_dtype(embedding_weights: Any, sparse_weights: Any) -> None:
    """Refuse weights of another dtype than the embeddings."""
    parts = embedding_weights if isinstance(embedding_weights, (list, tuple)) else [embedding_weights]
    if sparse_weights is None or not all(hasattr(part, "dtype") for part in parts):
        return
    for part in parts:
        if dtypes.as_dtype(part.dtype).base_dtype is not sparse_weights.dtype.base_dtype:
            found = f"{dtypes.as_dtype(part.dtype).name} and {sparse_weights.dtype.name}"
            raise ValueError(f"embedding_weights and sparse_weights must have one dtype, got {found}")


def _pruned(ids: SparseTensor, weights: Any, combiner: str) -> tuple[SparseTensor, Any]:
    """Return ids and weights without those that cannot be looked up, or count for nothing."""
    valid = raw.GreaterEqual(ids.values, zeros_like(ids.values))
    if weights is not None and combiner != "sum":
        valid = raw.LogicalAnd(valid, raw.Greater(weights.values, 0.0))
    return retain(ids, valid), None if weights is None else retain(weights, valid)


def ids_shape(sparse_ids: Any) -> Any:
    """Return the static shape of sparse ids as a list, or None."""
    dims = as_sparse(sparse_ids).shape
    return None if dims.rank is None else dims.as_list()
