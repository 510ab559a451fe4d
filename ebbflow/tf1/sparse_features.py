"""Sparse tensors of features, and embeddings found by hashing, as `tf.contrib.layers` had them."""

from __future__ import annotations

from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.indexing import gather, gather_nd
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.padding import tile
from ebbflow.ops.arrays.ranges import range as numbers
from ebbflow.ops.arrays.shaping import expand_dims, rank, reshape, shape
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import equal, not_equal
from ebbflow.ops.nn.embedding import embedding_lookup_v1
from ebbflow.ops.reduce.reductions import reduce_all, reduce_max
from ebbflow.ops.reduce.scan import cumsum
from ebbflow.ops.sparse.cross import sparse_feature_cross
from ebbflow.ops.sparse.functions import fill_empty_rows, to_dense
from ebbflow.state.partitioners import PartitionedVariable

NO_WORD, NO_NUMBER = "6ZxWzWOHxZ", 1288896567
"""What a row without values is embedded as, unless something else is said."""


def _ignored(dtype: Any, value: Any) -> Any:
    if value is None:
        value = "" if dtype is dtypes.string else dtype.as_numpy_dtype()
    return convert(value, dtype)


def dense_to_sparse_tensor(dense_tensor: TensorLike, ignore_value: TensorLike | None = None) -> SparseTensor:
    """Return a tensor's values as a sparse tensor, without those that are `ignore_value` (0, or an empty text)."""
    with name_scope(None, "DenseToSparseTensor"):
        dense = convert(dense_tensor)
        indices = raw.Where(not_equal(dense, _ignored(dense.dtype, ignore_value)))
        return SparseTensor(indices, gather_nd(dense, indices), shape(dense, out_type=dtypes.int64))


def indicators_to_sparse_ids(
    indicators: TensorLike, ignore_value: TensorLike | None = None, dtype: DTypeLike = dtypes.int64
) -> SparseTensor:
    """Return where the last axis has something, as ids: [..., ids that there are].

    >>> indicators_to_sparse_ids([[0, 0, 1], [1, 0, 1]]).values.numpy().tolist()
    [2, 0, 2]
    """
    with name_scope(None, "indicators_to_sparse_ids"):
        marks = convert(indicators)
        there = not_equal(marks, _ignored(marks.dtype, ignore_value))
        counts = cumsum(cast(there, dtypes.int64), axis=-1)
        found = raw.Where(there)
        place = gather_nd(counts, found) - 1  # which of the row's ids it is
        indices = concat([found[:, :-1], expand_dims(place, 1)], 1)
        sizes = concat([shape(marks, out_type=dtypes.int64)[:-1], reshape(reduce_max(counts), [1])], 0)
        return SparseTensor(indices, cast(found[:, -1], dtypes.as_dtype(dtype)), sizes)


def sparse_row_envelope(
    sparse_input: SparseTensor, row_axis: int = 0, col_axis: int = 1, name: str | None = None
) -> Tensor:
    """Return how far each row of a sparse tensor reaches: one more than its last column, or 0."""
    if row_axis == col_axis:
        raise ValueError(f"row_axis and col_axis can not be the same, got {row_axis} for both")
    with name_scope(name, "sparse_row_envelope"):
        rows, columns = sparse_input.indices[:, row_axis], sparse_input.indices[:, col_axis]
        ends = raw.UnsortedSegmentMax(columns + 1, rows, cast(sparse_input.dense_shape[row_axis], dtypes.int32))
        return cast(raw.Maximum(ends, raw.ZerosLike(ends)), dtypes.int32)


# --- embeddings by hashing --------------------------------------------------------------------------------------------


def _sizes_checked(params: Any) -> tuple[list[Any], int]:
    """Return the parts of a vector of parameters and its length; the first parts may be longer by one."""
    parts = list(params) if isinstance(params, (PartitionedVariable, list)) else [params]
    sizes = []
    for part in parts:
        part.shape.assert_has_rank(1)
        part.shape.assert_is_fully_defined()
        sizes.append(int(part.shape.as_list()[0]))
    total = sum(sizes)
    for i, size in enumerate(sizes):
        expected = (total - i - 1) // len(parts) + 1
        if size != expected:
            raise ValueError(f"Tensor {i} in params has size {size}, expected {expected}.")
    return parts, total


def scattered_embedding_lookup(
    params: TensorLike, values: TensorLike, dimension: int, name: str | None = None, hash_key: int | None = None
) -> Tensor:
    """Return `dimension` numbers for each value: those of `params` at the hashes of the value and 0, 1, …"""
    if dimension is None:
        raise ValueError("You must specify dimension.")
    return sampled_lookup(params, values, dimension, None, hash_key, name)


def sampled_lookup(
    params: TensorLike,
    values: TensorLike,
    dimension: int | None = None,
    sampled_candidates: TensorLike | None = None,
    hash_key: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`scattered_embedding_lookup` of the numbers that `sampled_candidates` says for each value, or of all."""
    if sampled_candidates is None and dimension is None:
        raise ValueError("You must specify either dimension or sampled_candidates.")
    if sampled_candidates is None and dimension is not None and dimension <= 0:
        raise ValueError(f"Dimension must be >0. Given is {dimension}")
    parts, total = _sizes_checked(params)
    with name_scope(name, "scattered_embedding_lookup"):
        words = convert(values)
        outer, flat = shape(words), reshape(words, [-1, 1])
        if sampled_candidates is None:
            which, count = tile(expand_dims(numbers(0, dimension), 0), shape(flat)), dimension
        else:
            which, count = _candidates(sampled_candidates, outer)
        ids = to_dense(sparse_feature_cross([which, flat], True, total, hash_key=hash_key))
        found = embedding_lookup_v1(parts, ids, partition_strategy="div")
        return reshape(found, concat([outer, reshape(convert(count), [1])], 0))


def _candidates(sampled: Any, outer: Any) -> tuple[Any, Any]:
    sampled = convert(sampled)
    actual = shape(sampled)
    count = actual[rank(sampled) - 1]
    fits = reduce_all(equal(actual, concat([outer, reshape(count, [1])], 0)))
    words = ["The shape of sampled_candidates: ", actual, " does not match the shape of values: ", outer]
    with control_dependencies([Assert(fits, words)]):
        return reshape(sampled, [-1, count]), count


def _rows_filled(sparse_values: Any, default_value: Any) -> Any:
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError(f"sparse_values must be SparseTensor, got {type(sparse_values).__name__}")
    if default_value is None:
        default_value = NO_WORD if sparse_values.dtype is dtypes.string else NO_NUMBER
    return fill_empty_rows(sparse_values, default_value)[0]


def scattered_embedding_lookup_sparse(
    params: TensorLike,
    sparse_values: SparseTensor,
    dimension: int,
    combiner: str | None = None,
    default_value: TensorLike | None = None,
    name: str | None = None,
    hash_key: int | None = None,
) -> Tensor:
    """Return the combined `scattered_embedding_lookup` of each row of sparse values."""
    folds: dict[str, Any] = {
        "sum": raw.SparseSegmentSum,
        "mean": raw.SparseSegmentMean,
        "sqrtn": raw.SparseSegmentSqrtN,
    }
    if (combiner or "mean") not in folds:
        raise ValueError(f"Combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner!r}")
    with name_scope(name, "scattered_embedding_lookup_sparse"):
        filled = _rows_filled(sparse_values, default_value)
        rows = cast(filled.indices[:, 0], dtypes.int32)
        values, which = raw.Unique(filled.values)
        found = scattered_embedding_lookup(params, values, dimension, hash_key=hash_key)
        return folds[combiner or "mean"](found, which, rows)


def sampled_lookup_sparse(
    params: TensorLike,
    sp_values: SparseTensor,
    dimension: int | None = None,
    sampled_candidates: TensorLike | None = None,
    hash_key: int | None = None,
    with_sign_hash: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the sum of each row's values' embeddings, with signs that are hashed as well if so asked."""
    if not isinstance(sp_values, SparseTensor):
        raise TypeError(f"sp_values must be SparseTensor, got {type(sp_values).__name__}")
    with name_scope(name, "sampled_scattered_embedding_lookup_sparse"):
        rows = cast(sp_values.indices[:, 0], dtypes.int32)
        candidates = None if sampled_candidates is None else gather(convert(sampled_candidates), rows)
        found = sampled_lookup(params, sp_values.values, dimension, candidates, hash_key)
        if with_sign_hash:
            signs = convert([-1.0, 1.0])
            found *= sampled_lookup(signs, sp_values.values, dimension, candidates, hash_key)
        return raw.UnsortedSegmentSum(found, rows, cast(sp_values.dense_shape[0], dtypes.int32))
