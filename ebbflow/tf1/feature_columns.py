"""The feature columns of `tf.contrib.layers`: those of `tf.feature_column` by their first names and arguments.

They go into `tf.feature_column.input_layer` and the canned models alike. Some know more: how weights of several ids are
combined (`Combined`), that integers are taken modulo the number of ids, that a feature's length varies.
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.typing import DTypeLike, InitializerLike, TensorLike
from ebbflow.feature_column import categorical, crossed, embedding, indicator, numeric
from ebbflow.feature_column.base import OldFeatureColumn, buckets_of
from ebbflow.feature_column.checks import as_ids
from ebbflow.ops.elementwise.binary import floormod
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.parsing.features import FixedLenSequenceFeature, VarLenFeature
from ebbflow.state.initializers import TruncatedNormal

if TYPE_CHECKING:
    from ebbflow.feature_column.base import FeatureColumn


COMBINERS = ("mean", "sqrtn", "sum")


class Combined:
    """A column of ids that says how a linear model combines the weights of a row's ids."""

    combiner = "sum"


class SparseHashed(Combined, categorical.HashedCategoricalColumn):
    """Words, numbered by their hashes."""


class SparseKeys(Combined, categorical.VocabularyListCategoricalColumn):
    """Words, numbered by their place in a list."""


class SparseVocabulary(Combined, categorical.VocabularyFileCategoricalColumn):
    """Words, numbered by their lines in a file."""


class SparseCrossed(Combined, crossed.CrossedColumn):
    """All combinations of categories, numbered by their hashes."""


class SparseIntegerized(Combined, categorical.IdentityCategoricalColumn):
    """Integers, as ids modulo the number of ids."""

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        ids = as_ids(transformation_cache.get(self.key, state_manager))
        return SparseTensor(ids.indices, floormod(ids.values, self.num_buckets), ids.dense_shape)


class OneHot(indicator.IndicatorColumn):
    """A 1 at the number of each category."""

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_one_hot"


class VarLenRealColumn(
    OldFeatureColumn, namedtuple("VarLenRealColumn", ("key", "default_value", "dtype", "normalizer", "is_sparse"))
):
    """Numbers, in each row as many as there are: dense with a value for what is not there, or sparse."""

    @property
    def name(self) -> str:
        return self.key

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        if self.is_sparse:
            return {self.key: VarLenFeature(self.dtype)}
        return {self.key: FixedLenSequenceFeature((), self.dtype, True, self.default_value)}

    def _transform_feature(self, inputs: Any) -> Any:
        tensor = inputs.get(self.key)
        if self.normalizer is None:
            return tensor
        if isinstance(tensor, SparseTensor):
            return SparseTensor(tensor.indices, self.normalizer(tensor.values), tensor.dense_shape)
        return self.normalizer(tensor)

    def dense(self, inputs: Any) -> Any:
        """Return its numbers as a tensor."""
        tensor = inputs.get(self)
        if isinstance(tensor, SparseTensor):
            raise ValueError(f"{self.name} is sparse: only dense columns can be added to what a model takes")
        return cast(tensor, dtypes.float32)


KINDS = {
    numeric.NumericColumn: "_RealValuedColumn",
    VarLenRealColumn: "_RealValuedVarLenColumn",
    numeric.BucketizedColumn: "_BucketizedColumn",
    crossed.CrossedColumn: "_CrossedColumn",
    embedding.EmbeddingColumn: "_EmbeddingColumn",
    indicator.IndicatorColumn: "_OneHotColumn",
    categorical.HashedCategoricalColumn: "_SparseColumnHashed",
    categorical.IdentityCategoricalColumn: "_SparseColumnIntegerized",
    categorical.VocabularyListCategoricalColumn: "_SparseColumnKeys",
    categorical.VocabularyFileCategoricalColumn: "_SparseColumnVocabulary",
    categorical.WeightedCategoricalColumn: "_WeightedSparseColumn",
}
"""What TF 1 called these kinds of columns: they are gone through in the order of these names."""


def kind_of(column: Any) -> str:
    """Return what TF 1 called the kind of a column."""
    return next((name for kind, name in KINDS.items() if isinstance(column, kind)), type(column).__name__)


def sort_key(column: Any) -> str:
    """Return what columns are ordered by: their kind, that of the column inside, and their name."""
    inner = getattr(column, "categorical_column", None) or getattr(column, "source_column", None)
    return f"{kind_of(column)}({sort_key(inner) if inner is not None else ''} {column.name}"


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
    return numeric.numeric_column(column_name, (dimension,), default_value, dtypes.as_dtype(dtype), normalizer)


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
    return VarLenRealColumn(column_name, default_value, kind, normalizer, is_sparse)


def bucketized_column(source_column: FeatureColumn, boundaries: Sequence[float]) -> FeatureColumn:
    """Return a column of the number of the interval that a value lies in."""
    return numeric.bucketized_column(source_column, list(boundaries))


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
    column_name: str, hash_bucket_size: int, combiner: str = "sum", dtype: DTypeLike = dtypes.string
) -> FeatureColumn:
    """Return a column of words, numbered by their hashes."""
    column = categorical.categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtypes.as_dtype(dtype))
    return _combined(SparseHashed(*column), combiner)


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: DTypeLike = dtypes.int64
) -> FeatureColumn:
    """Return a column of integers, which are ids modulo `bucket_size`."""
    if not dtypes.as_dtype(dtype).is_integer:
        raise ValueError(f"dtype must be an integer. dtype: {dtype}, column_name: {column_name}")
    column = categorical.categorical_column_with_identity(column_name, bucket_size)
    return _combined(SparseIntegerized(*column), combiner)


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
    default = None if num_oov_buckets else default_value
    column = categorical.categorical_column_with_vocabulary_file_v1(
        column_name, vocabulary_file, vocab_size, num_oov_buckets, default, dtypes.as_dtype(dtype)
    )
    return _combined(SparseVocabulary(*column), combiner)


def weighted_sparse_column(
    sparse_id_column: FeatureColumn, weight_column_name: str, dtype: DTypeLike = dtypes.float32
) -> FeatureColumn:
    """Return a column of categories with a weight each."""
    return categorical.weighted_categorical_column(sparse_id_column, weight_column_name, dtypes.as_dtype(dtype))


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
    keys = [each.key if isinstance(each, Combined) and hasattr(each, "key") else each for each in columns]
    keys.sort(key=lambda each: each if isinstance(each, str) else each.name)
    return _combined(SparseCrossed(*crossed.crossed_column(keys, hash_bucket_size, hash_key)), combiner)


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
    return embedding.embedding_column(
        sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable
    )
