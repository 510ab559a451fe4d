"""Columns of sequences: for each row of a batch, as many steps as it has."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import DTypeLike, PathLike, ShapeLike, TensorLike
from ebbflow.feature_column import categorical
from ebbflow.feature_column.base import (
    BothCategorical,
    BothSequenceDense,
    IdWeightPair,
    OfOneFeature,
    TensorSequenceLengthPair,
    buckets_of,
    sparse_tensors_of,
    spec_of,
)
from ebbflow.feature_column.checks import checked_shape, key_string, sequence_length_from_sparse_tensor
from ebbflow.feature_column.serialization import (
    check_keys,
    deserialize_column,
    deserialize_object,
    register_column,
    serialize_column,
    serialize_object,
)
from ebbflow.ops.arrays.joining import concat, stack
from ebbflow.ops.arrays.padding import tile
from ebbflow.ops.arrays.shaping import expand_dims, reshape
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.parsing.features import VarLenFeature
from ebbflow.ops.reduce.reductions import reduce_prod
from ebbflow.ops.sparse.functions import reshape as reshape_sparse
from ebbflow.ops.sparse.functions import to_dense


@register_column
class SequenceCategoricalColumn(BothCategorical, namedtuple("SequenceCategoricalColumn", ("categorical_column",))):
    """Ids of another column, of which those of one row come one after another."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return self.categorical_column.name

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return spec_of(self.categorical_column)

    @property
    def num_buckets(self) -> int:
        return buckets_of(self.categorical_column)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Return the ids with three axes, so that those of different steps are not combined."""
        pair = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        if pair.id_tensor.shape.rank == 3:
            return pair
        dims = shape_of(pair.id_tensor)
        target = stack([dims[0], dims[1], reduce_prod(dims[2:])])
        ids = reshape_sparse(pair.id_tensor, target)
        weights = None if pair.weight_tensor is None else reshape_sparse(pair.weight_tensor, target)
        return IdWeightPair(ids, weights)

    def _get_config(self) -> dict[str, Any]:
        return {"categorical_column": serialize_column(self.categorical_column)}

    @classmethod
    def _from_config(cls, config: Mapping[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        check_keys(config, cls._fields)
        return cls(deserialize_column(config["categorical_column"], custom_objects, columns_by_name))


def _kind(used_in: str) -> str:
    # The generation of `input_layer` wrote its columns' classes with an underscore.
    return "SequenceCategoricalColumn" if used_in.endswith("Features") else "_SequenceCategoricalColumn"


def check_not_sequence(column: Any, used_in: str, sequence_use: str) -> None:
    """Raise ValueError where a dense result is asked of a column of sequences."""
    if isinstance(column.categorical_column, SequenceCategoricalColumn):
        raise ValueError(
            f"In {column.USED_AS}: {column.name}. categorical_column must not be of type {_kind(used_in)}. "
            f"Suggested fix A: If you wish to use {used_in}, use a non-sequence "
            f"categorical_column_with_*. Suggested fix B: If you wish to create sequence input, use {sequence_use}. "
            f"Given (type {type(column.categorical_column)}): {column.categorical_column}"
        )


def check_sequence(column: Any, used_in: str) -> None:
    """Raise ValueError where a sequence is asked of a column that is not of sequences."""
    if not isinstance(column.categorical_column, SequenceCategoricalColumn):
        raise ValueError(
            f"In {column.USED_AS}: {column.name}. categorical_column must be of type {_kind(used_in)} "
            f"to use {used_in}. Suggested fix: Use one of "
            f"sequence_categorical_column_with_*. Given (type {type(column.categorical_column)}): "
            f"{column.categorical_column}"
        )


def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """Return the column of sequences of integers that are ids."""
    return SequenceCategoricalColumn(categorical.categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = dtypes.string
) -> SequenceCategoricalColumn:
    """Return the column of sequences of hashes."""
    return SequenceCategoricalColumn(categorical.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: PathLike,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DTypeLike = dtypes.string,
) -> SequenceCategoricalColumn:
    """Return the column of sequences of places among the lines of a file."""
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_vocabulary_file_v1(
            key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
        )
    )


def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: DTypeLike | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """Return the column of sequences of places in a list."""
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value, num_oov_buckets)
    )


@register_column
class SequenceNumericColumn(
    OfOneFeature,
    BothSequenceDense,
    namedtuple("SequenceNumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn")),
):
    """Sequences of numbers of one feature."""

    __slots__ = ()

    _is_v2_column = True

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        values = transformation_cache.get(self.key, state_manager)
        return values if self.normalizer_fn is None else self.normalizer_fn(values)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        values = transformation_cache.get(self, state_manager)
        dense = to_dense(values, default_value=self.default_value)
        dense = reshape(dense, concat([shape_of(dense)[:1], [-1], list(self.shape)], axis=0))
        per_step = TensorShape(self.shape).num_elements() if values.shape.rank == 2 else 1
        return TensorSequenceLengthPair(dense, sequence_length_from_sparse_tensor(values, num_elements=per_step or 1))

    def _get_config(self) -> dict[str, Any]:
        config = dict(zip(self._fields, self))
        return {**config, "dtype": self.dtype.name, "normalizer_fn": serialize_object(self.normalizer_fn)}

    @classmethod
    def _from_config(cls, config: Mapping[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        check_keys(config, cls._fields)
        settled = dict(config, dtype=as_dtype(config["dtype"]), shape=tuple(config["shape"]))
        settled["normalizer_fn"] = deserialize_object(config["normalizer_fn"], custom_objects)
        return cls(**settled)


def sequence_numeric_column(
    key: str,
    shape: ShapeLike = (1,),
    default_value: float = 0.0,
    dtype: DTypeLike = dtypes.float32,
    normalizer_fn: Callable[..., Any] | None = None,
) -> SequenceNumericColumn:
    """Return the column of sequences of a feature's numbers, `shape` of them in each step."""
    shape = checked_shape(shape, key)
    dtype = as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return SequenceNumericColumn(key_string(key), shape, default_value, dtype, normalizer_fn)


def concatenate_context_input(context_input: TensorLike, sequence_input: TensorLike) -> Any:
    """Return a sequence with what is true of the whole row [batch, n] added to each of its steps."""
    steps, whole = convert(sequence_input), convert(context_input)
    for tensor, name, rank in ((steps, "sequence_input", 3), (whole, "context_input", 2)):
        if tensor.shape.rank not in (None, rank):
            raise ValueError(f"{name} must have rank {rank}, got shape {tensor.shape}")
        if tensor.dtype is not dtypes.float32:
            raise TypeError(f"{name} must have dtype float32, got {tensor.dtype}")
    repeated = tile(expand_dims(whole, 1), concat([[1], [shape_of(steps)[1]], [1]], axis=0))
    return concat([steps, repeated], axis=2)
