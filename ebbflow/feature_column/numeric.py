"""Numbers: as they are, and sorted into buckets."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.shape import TensorShape
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.typing import DTypeLike, ShapeLike, TensorLike
from ebbflow.feature_column.base import BothCategorical, BothDense, FeatureColumn, IdWeightPair, OfOneFeature
from ebbflow.feature_column.checks import check_default_value, checked_shape, key_string
from ebbflow.feature_column.serialization import (
    check_keys,
    deserialize_column,
    deserialize_object,
    register_column,
    serialize_column,
    serialize_object,
)
from ebbflow.ops.arrays.indexing import one_hot
from ebbflow.ops.arrays.joining import stack
from ebbflow.ops.arrays.padding import tile
from ebbflow.ops.arrays.ranges import range as numbers
from ebbflow.ops.arrays.shaping import expand_dims, reshape, transpose
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.arrays.sorting import bucketize
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.parsing.features import FixedLenFeature
from ebbflow.ops.ragged.tensor import RaggedTensor


@register_column
class NumericColumn(
    OfOneFeature, BothDense, namedtuple("NumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn"))
):
    """Numbers of one feature."""

    __slots__ = ()

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self._transform_input_tensor(transformation_cache.get(self.key, state_manager))

    def _transform_input_tensor(self, input_tensor: Any) -> Any:
        if isinstance(input_tensor, (SparseTensor, RaggedTensor)):
            kind = "SparseTensor" if isinstance(input_tensor, SparseTensor) else "RaggedTensor"
            raise ValueError(
                f"The corresponding Tensor of numerical column must be a Tensor. {kind} is not supported. "
                f"key: {self.key}"
            )
        if self.normalizer_fn is not None:
            input_tensor = self.normalizer_fn(input_tensor)
        return cast(input_tensor, dtypes.float32)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self, state_manager)

    def _get_config(self) -> dict[str, Any]:
        config = dict(zip(self._fields, self))
        return {**config, "normalizer_fn": serialize_object(self.normalizer_fn), "dtype": self.dtype.name}

    @classmethod
    def _from_config(cls, config: Mapping[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        check_keys(config, cls._fields)
        settled = dict(config)
        settled["normalizer_fn"] = deserialize_object(config["normalizer_fn"], custom_objects)
        settled["dtype"] = as_dtype(config["dtype"])
        settled["shape"] = tuple(config["shape"])
        return cls(**settled)


def numeric_column(
    key: str,
    shape: ShapeLike = (1,),
    default_value: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    normalizer_fn: Callable[..., Any] | None = None,
) -> NumericColumn:
    """Return the column of a feature's numbers, `shape` of them in each row.

    >>> numeric_column("price").name
    'price'
    """
    shape = checked_shape(shape, key)
    dtype = as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    default_value = check_default_value(shape, default_value, dtype, key)
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return NumericColumn(key_string(key), shape, default_value, dtype, normalizer_fn)


@register_column
class BucketizedColumn(BothDense, BothCategorical, namedtuple("BucketizedColumn", ("source_column", "boundaries"))):
    """Which bucket each number of a numeric column falls into: one-hot, or as ids."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def parents(self) -> list[Any]:
        return [self.source_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.source_column.parse_example_spec

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        source = transformation_cache.get(self.source_column, state_manager)
        return bucketize(source, boundaries=list(self.boundaries))

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape((*self.source_column.shape, len(self.boundaries) + 1))

    @property
    def num_buckets(self) -> int:
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self._get_dense_tensor_for_input_tensor(transformation_cache.get(self, state_manager))

    def _get_dense_tensor_for_input_tensor(self, input_tensor: Any) -> Any:
        return one_hot(cast(input_tensor, dtypes.int64), depth=len(self.boundaries) + 1, on_value=1.0, off_value=0.0)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self._get_sparse_tensors_for_input_tensor(transformation_cache.get(self, state_manager))

    def _get_sparse_tensors_for_input_tensor(self, input_tensor: Any) -> IdWeightPair:
        """Every number of a row has buckets of its own: those of the second come after those of the first."""
        rows, width = shape_of(input_tensor)[0], self.source_column.shape[0]
        row = reshape(tile(expand_dims(numbers(0, rows), 1), [1, width]), (-1,))
        place = tile(numbers(0, width), [rows])
        ids = cast(reshape(input_tensor, (-1,)) + (len(self.boundaries) + 1) * place, dtypes.int64)
        indices = cast(transpose(stack((row, place))), dtypes.int64)
        return IdWeightPair(SparseTensor(indices, ids, cast(stack([rows, width]), dtypes.int64)), None)

    def _get_config(self) -> dict[str, Any]:
        return {"source_column": serialize_column(self.source_column), "boundaries": self.boundaries}

    @classmethod
    def _from_config(cls, config: Mapping[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        check_keys(config, cls._fields)
        source = deserialize_column(config["source_column"], custom_objects, columns_by_name)
        return cls(source, tuple(config["boundaries"]))


def bucketized_column(source_column: FeatureColumn, boundaries: Sequence[float]) -> BucketizedColumn:
    """Return the column of the buckets that a numeric column's numbers fall into.

    >>> bucketized_column(numeric_column("age"), [18, 65]).num_buckets
    3
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            f"source_column must be a column generated with numeric_column(). Given: {source_column}"
            + (" (a FeatureColumn of another kind)" if isinstance(source_column, FeatureColumn) else "")
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError(f"boundaries must not be empty: boundaries must be a sorted list. Given: {boundaries}")
    if not isinstance(boundaries, (list, tuple)) or any(a >= b for a, b in pairwise(boundaries)):
        raise ValueError(f"boundaries must be a sorted list. Given: {boundaries}")
    return BucketizedColumn(source_column, tuple(boundaries))
