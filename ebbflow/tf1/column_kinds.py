"""The kinds of columns of `tf.contrib.layers`: those of `tf.feature_column`, with the first names of what they know.

Some know more: how weights of several ids are combined (`Combined`), that integers are taken modulo the number of ids,
that a feature's length varies, that a variable is shared, or that it is found by hashing.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.sparse import SparseTensor
from ebbflow.feature_column import categorical, crossed, embedding, indicator, numeric
from ebbflow.feature_column.base import LazyBuilder, OldDenseColumn, OldFeatureColumn, buckets_of, spec_of
from ebbflow.feature_column.checks import as_ids
from ebbflow.ops.arrays.indexing import one_hot
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.elementwise.binary import floormod
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.parsing.features import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from ebbflow.ops.reduce.reductions import reduce_sum
from ebbflow.ops.sparse.functions import concat as concat_sparse
from ebbflow.ops.sparse.functions import reshape as reshape_sparse
from ebbflow.ops.sparse.functions import to_dense
from ebbflow.ops.strings.format_join import as_string
from ebbflow.ops.strings.texts import string_to_hash_bucket_strong
from ebbflow.state.variable_scope import get_variable
from ebbflow.tf1.sparse_features import scattered_embedding_lookup_sparse


class SparseIdLookupConfig(NamedTuple):
    """How words become ids: by a list or by the lines of a file."""

    vocabulary_file: Any = None
    keys: Any = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1


def with_known(features: Any) -> LazyBuilder:
    """Return the features for columns to ask, and what is known already of columns that are keys among them."""
    builder = LazyBuilder({key: value for key, value in features.items() if isinstance(key, str)})
    for column, value in features.items():
        if not isinstance(column, str):
            of_ids = isinstance(column, (embedding.EmbeddingColumn, indicator.IndicatorColumn))
            builder._feature_tensors[column.categorical_column if of_ids else column] = value
    return builder


def flat_to(tensor: Any, rank: int) -> Any:
    """Return a tensor, sparse or not, with all axes from the last of `rank` on in one."""
    known = tensor.shape.as_list() if tensor.shape.rank is not None else None
    if isinstance(tensor, SparseTensor):
        return reshape_sparse(tensor, concat([shape_of(tensor, out_type=dtypes.int64)[: rank - 1], [-1]], 0))
    if known is not None and len(known) == rank:
        return tensor
    sizes: Any = concat([shape_of(tensor)[: rank - 1], [-1]], 0)
    if known is not None and None not in known[: rank - 1]:
        inner = TensorShape(known[rank - 1 :]).num_elements()
        sizes = [*known[: rank - 1], -1 if inner is None else inner]
    return reshape(tensor, sizes)


class FirstNames:
    """What every column of `tf.contrib.layers` has."""

    @property
    def config(self) -> dict[str, Any]:
        """How its features are read from an Example."""
        return spec_of(self)

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Put what it makes of the features among them."""
        asked = getattr(self, "sparse_id_column", self)
        columns_to_tensors[self] = with_known(columns_to_tensors).get(
            self if isinstance(self, Weighted) else asked  # a weighted column makes ids and weights itself
        )


class OfIds(FirstNames):
    """A column that stands on a column of ids."""

    categorical_column: Any

    @property
    def sparse_id_column(self) -> Any:
        """The column of ids."""
        return self.categorical_column

    @property
    def length(self) -> int:
        """How many ids there are."""
        return buckets_of(self.categorical_column)


class Combined(FirstNames):
    """A column of ids that says how a linear model combines the weights of a row's ids."""

    combiner = "sum"
    bucket_size: Any = None
    lookup_config: Any = None
    is_integerized = False
    key: str
    num_buckets: int

    @property
    def column_name(self) -> str:
        """The name of the feature."""
        return self.key

    @property
    def length(self) -> int:
        """How many ids there are."""
        return self.num_buckets


class SparseHashed(Combined, categorical.HashedCategoricalColumn):
    """Words, numbered by their hashes; or by several hashes with a key each."""

    hash_keys: Any = None

    @property
    def bucket_size(self) -> int:
        return self.hash_bucket_size

    def _transform_input_tensor(self, input_tensor: Any, state_manager: Any = None) -> Any:
        if self.hash_keys is None:
            return super()._transform_input_tensor(input_tensor, state_manager)
        self._check_kind(input_tensor)
        words = input_tensor.values if self.dtype is dtypes.string else as_string(input_tensor.values)
        found = [string_to_hash_bucket_strong(words, self.hash_bucket_size, key) for key in self.hash_keys]
        return concat_sparse(1, [SparseTensor(input_tensor.indices, ids, input_tensor.dense_shape) for ids in found])


class SparseKeys(Combined, categorical.VocabularyListCategoricalColumn):
    """Words, numbered by their place in a list."""

    @property
    def lookup_config(self) -> SparseIdLookupConfig:
        return SparseIdLookupConfig(
            keys=self.vocabulary_list, vocab_size=len(self.vocabulary_list), default_value=self.default_value
        )


class SparseVocabulary(Combined, categorical.VocabularyFileCategoricalColumn):
    """Words, numbered by their lines in a file."""

    @property
    def lookup_config(self) -> SparseIdLookupConfig:
        return SparseIdLookupConfig(
            vocabulary_file=self.vocabulary_file,
            num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size,
            default_value=self.default_value,
        )


class SparseIntegerized(Combined, categorical.IdentityCategoricalColumn):
    """Integers, as ids modulo the number of ids."""

    dtype = dtypes.int64
    is_integerized = True

    @property
    def bucket_size(self) -> int:
        return self.num_buckets

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        ids = as_ids(transformation_cache.get(self.key, state_manager))
        return SparseTensor(ids.indices, floormod(ids.values, self.num_buckets), ids.dense_shape)


class SparseCrossed(Combined, crossed.CrossedColumn):
    """All combinations of categories, numbered by their hashes."""

    columns: tuple[Any, ...] = ()
    ckpt_to_load_from: str | None = None
    tensor_name_in_ckpt: str | None = None


class Weighted(OfIds, categorical.WeightedCategoricalColumn):
    """Ids with a weight each."""

    @property
    def weight_column_name(self) -> str:
        """The name of the feature of weights."""
        return self.weight_feature_key

    @property
    def lookup_config(self) -> Any:
        """How words become ids."""
        return self.categorical_column.lookup_config


class OneHot(OfIds, indicator.IndicatorColumn):
    """A 1 at the number of each category."""

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_one_hot"

    def _to_dnn_input_layer(
        self, transformed: Any, weight_collections: Any = None, trainable: bool = True, output_rank: int = 2
    ) -> Any:
        ids, weights = transformed if isinstance(transformed, (list, tuple)) else (transformed, None)
        dense = to_dense(flat_to(ids, output_rank), default_value=-1)
        marks = one_hot(dense, depth=self.length, on_value=1.0, off_value=0.0)
        if weights is not None:
            heavy = to_dense(flat_to(weights, output_rank))
            marks *= cast(reshape(heavy, concat([shape_of(heavy), [1]], 0)), dtypes.float32)
        found = reduce_sum(marks, axis=[output_rank - 1])
        sizes = ids.shape.as_list()[: output_rank - 1] if ids.shape.rank is not None else [None] * (output_rank - 1)
        found.set_shape([*sizes, self.length])
        return found


class Embedded(OfIds, embedding.EmbeddingColumn):
    """A vector for each category; one variable for all columns of a `shared_embedding_name`."""

    shared_embedding_name: str | None = None

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_{'shared_' if self.shared_embedding_name else ''}embedding"


class RealColumn(FirstNames, numeric.NumericColumn):
    """A number, or several."""

    @property
    def column_name(self) -> str:
        """The name of the feature."""
        return self.key

    @property
    def dimension(self) -> int:
        """How many numbers there are."""
        return self.shape[0]

    @property
    def normalizer(self) -> Any:
        """What makes one number of another."""
        return self.normalizer_fn

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        default = None if self.default_value is None else list(self.default_value)
        return {self.key: FixedLenFeature(list(self.shape), self.dtype, default)}

    def _to_dnn_input_layer(
        self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True, output_rank: int = 2
    ) -> Any:
        return flat_to(cast(convert(input_tensor), dtypes.float32), output_rank)


class Bucketized(FirstNames, numeric.BucketizedColumn):
    """The number of the interval that a value lies in."""

    @property
    def length(self) -> int:
        """How many intervals there are."""
        return len(self.boundaries) + 1


class VarLenRealColumn(
    FirstNames,
    OldFeatureColumn,
    namedtuple("VarLenRealColumn", ("key", "default_value", "dtype", "normalizer", "is_sparse")),
):
    """Numbers, in each row as many as there are: dense with a value for what is not there, or sparse."""

    @property
    def name(self) -> str:
        return self.key

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        if self.is_sparse:
            return {self.key: VarLenFeature(self.dtype)}
        return {self.key: FixedLenSequenceFeature([], self.dtype, True, self.default_value)}

    def _transform_feature(self, inputs: Any) -> Any:
        tensor = inputs.get(self.key)
        if self.normalizer is None:
            return tensor
        if isinstance(tensor, SparseTensor):
            return SparseTensor(tensor.indices, self.normalizer(tensor.values), tensor.dense_shape)
        return self.normalizer(tensor)

    def dense(self, inputs: Any) -> Any:
        """Return its numbers as a tensor."""
        return self._to_dnn_input_layer(inputs.get(self), output_rank=None)

    def _to_dnn_input_layer(
        self, tensor: Any, weight_collections: Any = None, trainable: bool = True, output_rank: Any = 2
    ) -> Any:
        if isinstance(tensor, SparseTensor):
            raise ValueError(
                f"{self.name} is sparse: only dense columns can be added to what a model takes. Set is_sparse to False"
            )
        found = cast(tensor, dtypes.float32)
        return found if output_rank is None else flat_to(found, output_rank)


class ScatteredEmbedding(
    FirstNames,
    OldDenseColumn,
    namedtuple("ScatteredEmbedding", ("column_name", "size", "dimension", "hash_key", "combiner", "initializer")),
):
    """A vector for each word: numbers of one variable at hashes of the word."""

    @property
    def name(self) -> str:
        return f"{self.column_name}_scattered_embedding"

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return {self.column_name: VarLenFeature(dtypes.string)}

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _transform_feature(self, inputs: Any) -> Any:
        return as_ids(inputs.get(self.column_name))

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        weights = get_variable(
            "weights",
            [self.size],
            dtypes.float32,
            self.initializer,
            trainable=trainable,
            collections=weight_collections,
        )
        return scattered_embedding_lookup_sparse(
            weights, inputs.get(self), self.dimension, self.combiner, hash_key=self.hash_key, name=f"{self.name}_lookup"
        )


KINDS = {
    numeric.NumericColumn: "_RealValuedColumn",
    VarLenRealColumn: "_RealValuedVarLenColumn",
    numeric.BucketizedColumn: "_BucketizedColumn",
    crossed.CrossedColumn: "_CrossedColumn",
    embedding.EmbeddingColumn: "_EmbeddingColumn",
    ScatteredEmbedding: "_ScatteredEmbeddingColumn",
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
