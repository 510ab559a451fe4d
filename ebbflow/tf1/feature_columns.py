"""The feature columns of `tf.contrib.layers`: those of `tf.feature_column` by their first names and arguments.

They go into `tf.feature_column.input_layer` and the canned models alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.typing import DTypeLike
from ebbflow.feature_column import categorical, crossed, embedding, indicator, numeric


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: DTypeLike = dtypes.float32,
    normalizer: Callable[[Any], Any] | None = None,
) -> Any:
    """Return a column of one number, or of `dimension` numbers."""
    return numeric.numeric_column(column_name, (dimension,), default_value, dtypes.as_dtype(dtype), normalizer)


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> Any:
    """Return a column of the number of the interval that a value lies in."""
    return numeric.bucketized_column(source_column, list(boundaries))


def sparse_column_with_keys(
    column_name: str,
    keys: Sequence[Any],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DTypeLike = dtypes.string,
) -> Any:
    """Return a column of words, numbered by their place among `keys`."""
    kind = dtypes.as_dtype(dtype)
    return categorical.categorical_column_with_vocabulary_list(column_name, list(keys), kind, default_value)


def sparse_column_with_hash_bucket(
    column_name: str, hash_bucket_size: int, combiner: str = "sum", dtype: DTypeLike = dtypes.string
) -> Any:
    """Return a column of words, numbered by their hashes."""
    return categorical.categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtypes.as_dtype(dtype))


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: DTypeLike = dtypes.int64
) -> Any:
    """Return a column of numbers of categories."""
    return categorical.categorical_column_with_identity(column_name, bucket_size)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DTypeLike = dtypes.string,
) -> Any:
    """Return a column of words, numbered by their lines in a file."""
    default = None if num_oov_buckets else default_value
    return categorical.categorical_column_with_vocabulary_file_v1(
        column_name, vocabulary_file, vocab_size, num_oov_buckets, default, dtypes.as_dtype(dtype)
    )


def weighted_sparse_column(sparse_id_column: Any, weight_column_name: str, dtype: DTypeLike = dtypes.float32) -> Any:
    """Return a column of categories with a weight each."""
    return categorical.weighted_categorical_column(sparse_id_column, weight_column_name, dtypes.as_dtype(dtype))


def crossed_column(columns: Sequence[Any], hash_bucket_size: int, combiner: str = "sum", **kwargs: Any) -> Any:
    """Return a column of all combinations of categories, numbered by their hashes."""
    # of a column of hashes it is the words that are crossed: two hashes in a row would only collide more
    keys = [each.key if isinstance(each, categorical.HashedCategoricalColumn) else each for each in columns]
    return crossed.crossed_column(keys, hash_bucket_size, kwargs.get("hash_key"))


def one_hot_column(sparse_id_column: Any) -> Any:
    """Return a column with a 1 at the number of each category."""
    return indicator.indicator_column(sparse_id_column)


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """Return a column of a vector for each category."""
    return embedding.embedding_column(
        sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable
    )
