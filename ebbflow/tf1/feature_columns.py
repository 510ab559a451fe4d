"""The feature columns of `tf.contrib.layers`: those of `tf.feature_column` by their first names and arguments.

They go into `tf.feature_column.input_layer` and the canned models alike. `column_kinds` has what they know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes
from ebbflow.core.typing import DTypeLike, InitializerLike, TensorLike
from ebbflow.feature_column import categorical, crossed, embedding, indicator, numeric
from ebbflow.feature_column.base import buckets_of
from ebbflow.state.initializers import TruncatedNormal
from ebbflow.tf1.column_kinds import (
    Bucketized,
    Combined,
    Embedded,
    OneHot,
    RealColumn,
    ScatteredEmbedding,
    SparseCrossed,
    SparseHashed,
    SparseIntegerized,
    SparseKeys,
    SparseVocabulary,
    VarLenRealColumn,
    Weighted,
)

if TYPE_CHECKING:
    from ebbflow.feature_column.base import FeatureColumn

COMBINERS = ("mean", "sqrtn", "sum")


def _combined(column: Any, combiner: str) -> Any:
    if combiner not in COMBINERS:
        raise ValueError(f"combiner must be one of {', '.join(COMBINERS)}, got {combiner!r}")
    column.combiner = combiner
    return column


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    normalizer: Callable[[Any], Any] | None = None,
) -> FeatureColumn:
    """Return a column of one number, or of `dimension` numbers."""
    if isinstance(dimension, bool) or not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, column_name: {column_name}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, column_name: {column_name}")
    if isinstance(default_value, str):
        raise TypeError(f"default_value must be compatible with dtype. default_value: {default_value}, dtype: {dtype}")
    if isinstance(default_value, (list, tuple)) and len(default_value) != dimension:
        raise ValueError(
            f"The length of default_value must be equal to dimension. default_value: {default_value}, "
            f"dimension: {dimension}, column_name: {column_name}"
        )
    kind = dtypes.as_dtype(dtype)
    return RealColumn(*numeric.numeric_column(column_name, (dimension,), default_value, kind, normalizer))


def real_valued_var_len_column(
    column_name: str,
    default_value: Any = None,
    dtype: DTypeLike = dtypes.float32,
    normalizer: Callable[[Any], Any] | None = None,
    is_sparse: bool = False,
) -> VarLenRealColumn:
    """Return a column of as many numbers as a row has."""
    kind = dtypes.as_dtype(dtype)
    if not (kind.is_integer or kind.is_floating):
        raise TypeError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    if default_value is None and not is_sparse:
        raise ValueError(f"default_value must be provided for dense varlen columns. column_name: {column_name}")
    if isinstance(default_value, (list, tuple)):
        raise ValueError(f"Only scalar default value is supported, got {default_value}. column_name: {column_name}")
    return VarLenRealColumn(column_name, default_value, kind, normalizer, is_sparse)


def bucketized_column(source_column: FeatureColumn, boundaries: Sequence[float]) -> FeatureColumn:
    """Return a column of the number of the interval that a value lies in."""
    if not isinstance(source_column, numeric.NumericColumn):
        raise TypeError(f"source_column must be an instance of _RealValuedColumn. source_column: {source_column}")
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError(f"boundaries must be a non-empty list. Given: {boundaries}")
    if list(boundaries) != sorted(boundaries):
        raise ValueError(f"boundaries must be a sorted list. Given: {boundaries}")
    return Bucketized(*numeric.bucketized_column(source_column, list(dict.fromkeys(boundaries))))


def sparse_column_with_keys(
    column_name: str,
    keys: Sequence[Any],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DTypeLike = dtypes.string,
) -> FeatureColumn:
    """Return a column of words, numbered by their place among `keys`."""
    kind = dtypes.as_dtype(dtype)
    column = categorical.categorical_column_with_vocabulary_list(column_name, list(keys), kind, default_value)
    return _combined(SparseKeys(*column), combiner)


def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: DTypeLike = dtypes.string,
    hash_keys: Sequence[Sequence[int]] | None = None,
) -> FeatureColumn:
    """Return a column of words, numbered by their hashes; with `hash_keys`, pairs of integers, by one for each."""
    kind = dtypes.as_dtype(dtype)
    column = SparseHashed(*categorical.categorical_column_with_hash_bucket(column_name, hash_bucket_size, kind))
    if hash_keys is not None:
        if not isinstance(hash_keys, list) or not hash_keys:
            raise ValueError(f"hash_keys must be a non-empty list. Got: {hash_keys}")
        for pair in hash_keys:
            if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(key, int) for key in pair):
                raise ValueError(f"Each element of hash_keys must be a pair of integers. Got: {pair}")
        column.hash_keys = hash_keys
    return _combined(column, combiner)


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: DTypeLike = dtypes.int64
) -> FeatureColumn:
    """Return a column of integers, which are ids modulo `bucket_size`."""
    if not dtypes.as_dtype(dtype).is_integer:
        raise ValueError(f"dtype must be an integer. dtype: {dtype}, column_name: {column_name}")
    column = SparseIntegerized(*categorical.categorical_column_with_identity(column_name, bucket_size))
    column.dtype = dtypes.as_dtype(dtype)
    return _combined(column, combiner)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DTypeLike = dtypes.string,
) -> FeatureColumn:
    """Return a column of words, numbered by their lines in a file."""
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    default = None if num_oov_buckets else default_value
    column = categorical.categorical_column_with_vocabulary_file_v1(
        column_name, vocabulary_file, vocab_size, num_oov_buckets, default, dtypes.as_dtype(dtype)
    )
    return _combined(SparseVocabulary(*column), combiner)


def weighted_sparse_column(
    sparse_id_column: FeatureColumn, weight_column_name: str, dtype: DTypeLike = dtypes.float32
) -> FeatureColumn:
    """Return a column of categories with a weight each."""
    kind = dtypes.as_dtype(dtype)
    if not (kind.is_integer or kind.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return Weighted(*categorical.weighted_categorical_column(sparse_id_column, weight_column_name, kind))


def crossed_column(
    columns: Sequence[Any],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> FeatureColumn:
    """Return a column of all combinations of categories, numbered by their hashes.

    The features themselves are crossed, not the ids that columns make of them. Without a `hash_key` the hashes are
    those of `tf.feature_column.crossed_column`.
    """
    ordered = sorted(columns, key=lambda each: each if isinstance(each, str) else each.name)
    for each in ordered:
        if not isinstance(each, (str, Combined, numeric.BucketizedColumn)):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn instances. "
                f"column: {each}"
            )
    keys = [each.key if isinstance(each, Combined) and hasattr(each, "key") else each for each in ordered]
    column = SparseCrossed(*crossed.crossed_column(keys, hash_bucket_size, hash_key))
    column.columns = tuple(ordered)
    column.ckpt_to_load_from, column.tensor_name_in_ckpt = ckpt_to_load_from, tensor_name_in_ckpt
    return _combined(column, combiner)


def one_hot_column(sparse_id_column: FeatureColumn) -> FeatureColumn:
    """Return a column with a 1 at the number of each category."""
    return OneHot(*indicator.indicator_column(sparse_id_column))


def embedding_column(
    sparse_id_column: FeatureColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: InitializerLike | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> FeatureColumn:
    """Return a column of a vector for each category."""
    if initializer is None:
        initializer = TruncatedNormal(0.0, 1 / math.sqrt(buckets_of(sparse_id_column)))
    column = embedding.embedding_column(
        sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable
    )
    return Embedded(*column)


def shared_embedding_columns(
    sparse_id_columns: Sequence[FeatureColumn],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: InitializerLike | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> tuple[Any, ...]:
    """Return a column of vectors for each of several columns of ids; they have one variable for all."""
    if isinstance(sparse_id_columns, str) or not isinstance(sparse_id_columns, Sequence) or not sparse_id_columns:
        raise TypeError(f"sparse_id_columns must be a non-empty sequence (a list or a tuple), got {sparse_id_columns}")
    if len({_kept_alike(column) for column in sparse_id_columns}) > 1:
        raise ValueError(
            "The input sparse id columns are not compatible: they differ in dtype, vocabulary or number of ids"
        )
    if not shared_embedding_name:
        names = sorted(column.name for column in sparse_id_columns)
        more = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
        shared_embedding_name = "_".join(names[:3]) + more + "_shared_embedding"
    if initializer is None:
        initializer = TruncatedNormal(0.0, 1 / math.sqrt(buckets_of(sparse_id_columns[0])))
    rest = (combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable)
    found = [Embedded(*embedding.embedding_column(column, dimension, *rest)) for column in sparse_id_columns]
    for column in found:
        column.shared_embedding_name = shared_embedding_name
    return tuple(found)


def _kept_alike(column: Any) -> Any:
    """Return what columns of ids must agree on to have one variable."""
    ids = column.sparse_id_column if isinstance(column, Weighted) else column
    return getattr(ids, "dtype", None), ids.lookup_config, ids.bucket_size, buckets_of(ids)


def scattered_embedding_column(
    column_name: str,
    size: int,
    dimension: int,
    hash_key: int,
    combiner: str = "mean",
    initializer: InitializerLike | None = None,
) -> ScatteredEmbedding:
    """Return a column of a vector for each word, whose numbers stand at hashes of the word in a variable of `size`."""
    if dimension < 1 or size < 1:
        raise ValueError(f"Dimension and size must be greater than 0. dimension: {dimension}, size: {size}")
    if combiner not in COMBINERS:
        raise ValueError(f"combiner must be one of {', '.join(COMBINERS)}, got {combiner!r}")
    start = TruncatedNormal(0.0, 0.1) if initializer is None else initializer
    return ScatteredEmbedding(column_name, size, dimension, hash_key, combiner, start)
