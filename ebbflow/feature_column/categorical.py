"""Ids: hashes of words, places in a vocabulary, integers as they are; and ids with weights."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.typing import DTypeLike, PathLike
from ebbflow.feature_column.base import (
    BothCategorical,
    IdWeightPair,
    LazyBuilder,
    OfOneFeature,
    buckets_of,
    is_categorical,
    spec_of,
)
from ebbflow.feature_column.checks import as_ids, key_string, string_or_integer
from ebbflow.feature_column.serialization import check_keys, deserialize_column, register_column, serialize_column
from ebbflow.graph.scopes import control_dependencies, init_scope
from ebbflow.io.records import TFRecordOptions, tf_record_iterator
from ebbflow.ops.arrays.creation import fill, identity
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.checks.asserts import assert_greater_equal_v1, assert_less_v1
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import greater_equal, less, logical_or, where
from ebbflow.ops.parsing.features import VarLenFeature
from ebbflow.ops.sparse.functions import convert_to_tensor_or_sparse_tensor
from ebbflow.ops.strings.format_join import as_string
from ebbflow.ops.strings.texts import string_to_hash_bucket_fast
from ebbflow.platform.files import GFile, exists
from ebbflow.state.lookup.vocabulary import index_table_from_file, index_table_from_tensor

if TYPE_CHECKING:
    from ebbflow.feature_column.base import FeatureColumn


def _like(sparse: SparseTensor, values: Any) -> SparseTensor:
    return SparseTensor(sparse.indices, values, sparse.dense_shape)


class _Keyed(OfOneFeature, BothCategorical):
    """A column of ids that follow from one feature."""

    dtype: Any
    _fields: Any

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self._transform_input_tensor(as_ids(transformation_cache.get(self.key, state_manager)), state_manager)

    def _transform_input_tensor(self, input_tensor: Any, state_manager: Any = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must say how its ids follow from a feature")

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        return IdWeightPair(transformation_cache.get(self, state_manager), None)

    def _check_kind(self, input_tensor: Any) -> None:
        if self.dtype.is_integer != input_tensor.dtype.is_integer:
            raise ValueError(
                f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, "
                f"column dtype: {self.dtype}, tensor dtype: {input_tensor.dtype}"
            )
        string_or_integer(input_tensor.dtype, f"column_name: {self.key} input_tensor")

    def _get_config(self) -> dict[str, Any]:
        config = dict(zip(self._fields, self))  # type: ignore[call-overload]
        return {**config, "dtype": self.dtype.name} if "dtype" in config else config

    @classmethod
    def _from_config(cls, config: Mapping[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        check_keys(config, cls._fields)
        settled = dict(config)
        if "dtype" in settled:
            settled["dtype"] = as_dtype(settled["dtype"])
        if "vocabulary_list" in settled:
            settled["vocabulary_list"] = tuple(settled["vocabulary_list"])
        return cls(**settled)


@register_column
class HashedCategoricalColumn(_Keyed, namedtuple("HashedCategoricalColumn", ("key", "hash_bucket_size", "dtype"))):
    """Ids that are hashes of words or integers."""

    __slots__ = ()

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def _transform_input_tensor(self, input_tensor: Any, state_manager: Any = None) -> Any:
        if not isinstance(input_tensor, SparseTensor):
            raise ValueError("SparseColumn input must be a SparseTensor.")
        self._check_kind(input_tensor)
        words = input_tensor.values if self.dtype is dtypes.string else as_string(input_tensor.values)
        return _like(input_tensor, string_to_hash_bucket_fast(words, self.hash_bucket_size, name="lookup"))


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = dtypes.string
) -> HashedCategoricalColumn:
    """Return the column of hashes of a feature's words or integers."""
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    key_string(key)
    dtype = as_dtype(dtype)
    string_or_integer(dtype, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


class _Looked(_Keyed):
    """A column of places in a vocabulary."""

    num_oov_buckets: int
    default_value: int

    def _transform_input_tensor(self, input_tensor: Any, state_manager: Any = None) -> Any:
        self._check_kind(input_tensor)
        key_dtype = self.dtype
        if input_tensor.dtype.is_integer:  # tables have 64-bit integers as keys
            key_dtype = dtypes.int64
            input_tensor = _like(input_tensor, cast(input_tensor.values, dtypes.int64))
        return self._table(key_dtype, state_manager).lookup(input_tensor)

    def _table(self, key_dtype: Any, state_manager: Any) -> Any:
        name = f"{self.key}_lookup"
        if state_manager is not None and state_manager.has_resource(self, name):
            return state_manager.get_resource(self, name)
        with init_scope():  # a table outlives the function that is traced when it is first asked for
            table = self._new_table(key_dtype, name)
        if state_manager is not None:
            state_manager.add_resource(self, name, table)
        return table

    def _new_table(self, key_dtype: Any, name: str) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must make its table")


@register_column
class VocabularyFileCategoricalColumn(
    _Looked,
    namedtuple(
        "VocabularyFileCategoricalColumn",
        ("key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value", "file_format"),
        defaults=(None,),
    ),
):
    """Ids that are numbers of lines in a file."""

    __slots__ = ()

    @property
    def num_buckets(self) -> int:
        return self.vocabulary_size + self.num_oov_buckets

    def _new_table(self, key_dtype: Any, name: str) -> Any:
        if self.file_format == "tfrecord_gzip":
            words = _first_records(self.vocabulary_file, self.vocabulary_size)
            return index_table_from_tensor(
                np.array(words, dtype=object) if key_dtype is dtypes.string else [int(word) for word in words],
                num_oov_buckets=self.num_oov_buckets,
                default_value=self.default_value,
                dtype=key_dtype,
                name=name,
            )
        return index_table_from_file(
            vocabulary_file=self.vocabulary_file,
            num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size,
            default_value=self.default_value,
            key_dtype=key_dtype,
            name=name,
        )


def _first_records(path: Any, count: int) -> list[bytes]:
    words = list(itertools.islice(_records(path), count))
    if len(words) < count:
        raise errors.FailedPreconditionError(
            None,
            None,
            f"Input dataset was expected to contain {count} elements, it has {len(words)}: {path}",
        )
    return words


def _records(path: Any) -> Any:
    return tf_record_iterator(path, TFRecordOptions(compression_type="GZIP"))


def categorical_column_with_vocabulary_file_v1(
    key: str,
    vocabulary_file: PathLike,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DTypeLike = dtypes.string,
) -> VocabularyFileCategoricalColumn:
    """`categorical_column_with_vocabulary_file` with TensorFlow 1's order of arguments."""
    return categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
    )


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: PathLike,
    vocabulary_size: int | None = None,
    dtype: DTypeLike = dtypes.string,
    default_value: int | None = None,
    num_oov_buckets: int = 0,
    file_format: str | None = None,
) -> VocabularyFileCategoricalColumn:
    """Return the column of the places of a feature's words among the lines of a file."""
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if file_format is not None and file_format != "tfrecord_gzip":
        raise ValueError(f"file_format should be one of None (a text file) and 'tfrecord_gzip', got {file_format!r}.")
    if file_format is None and str(vocabulary_file).endswith("tfrecord.gz"):
        file_format = "tfrecord_gzip"
    if vocabulary_size is None:
        if not exists(str(vocabulary_file)):
            raise ValueError(f"vocabulary_file in {key} does not exist: {vocabulary_file!r}")
        vocabulary_size = _count(vocabulary_file, file_format)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}: {vocabulary_size}.")
    default_value = _settled_default(key, num_oov_buckets, -1 if default_value is None else default_value)
    dtype = as_dtype(dtype)
    string_or_integer(dtype, f"column_name: {key}")
    return VocabularyFileCategoricalColumn(
        key_string(key), vocabulary_file, vocabulary_size, num_oov_buckets or 0, dtype, default_value, file_format
    )


def _count(vocabulary_file: Any, file_format: str | None) -> int:
    if file_format is not None:
        return sum(1 for _ in _records(vocabulary_file))
    with GFile(str(vocabulary_file), "rb") as lines:
        return sum(1 for _ in lines)


def _settled_default(key: str, num_oov_buckets: int | None, default_value: int) -> int:
    if num_oov_buckets:
        if default_value != -1:
            raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")
    return default_value


@register_column
class VocabularyListCategoricalColumn(
    _Looked,
    namedtuple(
        "VocabularyListCategoricalColumn", ("key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets")
    ),
):
    """Ids that are places in a list."""

    __slots__ = ()

    @property
    def num_buckets(self) -> int:
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _new_table(self, key_dtype: Any, name: str) -> Any:
        return index_table_from_tensor(
            vocabulary_list=tuple(self.vocabulary_list),
            default_value=self.default_value,
            num_oov_buckets=self.num_oov_buckets,
            dtype=key_dtype,
            name=name,
        )


def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: DTypeLike | None = None,
    default_value: int | None = -1,
    num_oov_buckets: int | None = 0,
) -> VocabularyListCategoricalColumn:
    """Return the column of the places of a feature's words (or integers) in a list.

    >>> categorical_column_with_vocabulary_list("colour", ["red", "green"]).num_buckets
    2
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    vocabulary_dtype = as_dtype(np.array(vocabulary_list).dtype)
    default_value = _settled_default(key, num_oov_buckets, -1 if default_value is None else default_value)
    string_or_integer(vocabulary_dtype, f"column_name: {key} vocabulary")
    dtype = vocabulary_dtype if dtype is None else as_dtype(dtype)
    if dtype.is_integer != vocabulary_dtype.is_integer:
        raise ValueError(f"dtype {dtype} and vocabulary dtype {vocabulary_dtype} do not match, column_name: {key}")
    string_or_integer(dtype, f"column_name: {key}")
    key_string(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), dtype, default_value, num_oov_buckets or 0)


@register_column
class IdentityCategoricalColumn(
    _Keyed, namedtuple("IdentityCategoricalColumn", ("key", "number_buckets", "default_value"))
):
    """Ids that are the feature's integers."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        return dtypes.int64

    @property
    def num_buckets(self) -> int:
        return self.number_buckets

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        ids = as_ids(transformation_cache.get(self.key, state_manager))
        return self._in_range(ids, checked=context.switches.tf1 or isinstance(transformation_cache, LazyBuilder))

    def _transform_input_tensor(self, input_tensor: Any, state_manager: Any = None) -> Any:
        return self._in_range(input_tensor, checked=False)

    def _in_range(self, ids: Any, checked: bool) -> Any:
        """Ids beyond the range become the default; without one they are an error, found here by the first generation
        and in TF 1, and by the second where they are looked up.
        """
        if not ids.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {ids.dtype}")
        values = cast(ids.values, dtypes.int64, name="values")
        if self.default_value is not None:
            outside = logical_or(less(values, 0), greater_equal(values, self.num_buckets), name="out_of_range")
            default = fill(shape_of(values), cast(self.default_value, dtypes.int64), name="default_values")
            values = where(outside, default, values)
        elif checked:
            what = f'for categorical column "{self.key}"'
            enough = assert_less_v1(
                values,
                cast(self.num_buckets, dtypes.int64, name="num_buckets"),
                message=f"Bucket index {what} exceeds number of buckets",
                name="assert_less_than_num_buckets",
            )
            zero = cast(0, dtypes.int64, name="zero")
            positive = assert_greater_equal_v1(
                values, zero, message=f"Negative bucket index {what}", name="assert_greater_or_equal_0"
            )
            with control_dependencies([check for check in (enough, positive) if check is not None]):
                values = identity(values)
        return _like(ids, values)


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Return the column of a feature's integers, which are ids below `num_buckets`."""
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    return IdentityCategoricalColumn(key_string(key), num_buckets, default_value)


@register_column
class WeightedCategoricalColumn(
    BothCategorical,
    namedtuple("WeightedCategoricalColumn", ("categorical_column", "weight_feature_key", "dtype")),
):
    """Ids of another column with the weights that a feature gives them."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column, self.weight_feature_key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec = dict(spec_of(self.categorical_column))
        if self.weight_feature_key in spec:
            raise ValueError(
                f"Parse config {spec[self.weight_feature_key]} already exists for {self.weight_feature_key}."
            )
        return {**spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        return buckets_of(self.categorical_column)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        weights = self._transform_weight_tensor(transformation_cache.get(self.weight_feature_key, state_manager))
        return transformation_cache.get(self.categorical_column, state_manager), weights

    def _transform_weight_tensor(self, weight_tensor: Any) -> Any:
        if weight_tensor is None:
            raise ValueError(f"Missing weights {self.weight_feature_key}.")
        weights = convert_to_tensor_or_sparse_tensor(weight_tensor)
        if self.dtype is not weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        if not isinstance(weights, SparseTensor):
            weights = as_ids(weights, ignore_value=0.0)
        return weights if weights.dtype.is_floating else _like(weights, cast(weights.values, dtypes.float32))

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        return IdWeightPair(*transformation_cache.get(self, state_manager))

    def _get_config(self) -> dict[str, Any]:
        config = dict(zip(self._fields, self))
        return {**config, "categorical_column": serialize_column(self.categorical_column), "dtype": self.dtype.name}

    @classmethod
    def _from_config(cls, config: Mapping[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        check_keys(config, cls._fields)
        inner = deserialize_column(config["categorical_column"], custom_objects, columns_by_name)
        return cls(inner, config["weight_feature_key"], as_dtype(config["dtype"]))


def weighted_categorical_column(
    categorical_column: FeatureColumn, weight_feature_key: str, dtype: DTypeLike = dtypes.float32
) -> WeightedCategoricalColumn:
    """Return the column of another column's ids with weights of their own."""
    if dtype is None or not (as_dtype(dtype).is_integer or as_dtype(dtype).is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    if not is_categorical(categorical_column):
        raise ValueError(f"categorical_column must be a column of ids. Given: {categorical_column}")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, as_dtype(dtype))
