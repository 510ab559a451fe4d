"""Indicators: how often each id occurs in a row, as numbers."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ebbflow.core.shape import TensorShape
from ebbflow.feature_column.base import (
    BothDense,
    BothSequenceDense,
    TensorSequenceLengthPair,
    buckets_of,
    is_categorical,
    sparse_tensors_of,
    spec_of,
)
from ebbflow.feature_column.checks import sequence_length_from_sparse_tensor
from ebbflow.feature_column.sequence import check_not_sequence, check_sequence
from ebbflow.feature_column.serialization import check_keys, deserialize_column, register_column, serialize_column
from ebbflow.ops.arrays.indexing import one_hot
from ebbflow.ops.arrays.scatter import scatter_nd
from ebbflow.ops.reduce.reductions import reduce_sum
from ebbflow.ops.sparse.functions import slice as slice_sparse
from ebbflow.ops.sparse.functions import to_dense
from ebbflow.ops.sparse.merging import merge

if TYPE_CHECKING:
    from ebbflow.feature_column.base import FeatureColumn


@register_column
class IndicatorColumn(BothDense, BothSequenceDense, namedtuple("IndicatorColumn", ("categorical_column",))):
    """The ids of another column as counts, one for each id there is."""

    __slots__ = ()
    USED_AS = "indicator_column"

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_indicator"

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return spec_of(self.categorical_column)

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([1, buckets_of(self.categorical_column)])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        pair = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        size = buckets_of(self.categorical_column)
        if pair.weight_tensor is not None:
            weighted = merge(sp_ids=pair.id_tensor, sp_values=pair.weight_tensor, vocab_size=size)
            weighted = slice_sparse(weighted, [0, 0], weighted.dense_shape)  # without ids of -1
            return scatter_nd(weighted.indices, weighted.values, weighted.dense_shape)
        dense = to_dense(pair.id_tensor, default_value=-1)
        return reduce_sum(one_hot(dense, depth=size, on_value=1.0, off_value=0.0), axis=[-2])

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        check_not_sequence(self, "DenseFeatures", "SequenceFeatures")
        return transformation_cache.get(self, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        check_sequence(self, "SequenceFeatures")
        dense = transformation_cache.get(self, state_manager)
        pair = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        return TensorSequenceLengthPair(dense, sequence_length_from_sparse_tensor(pair.id_tensor))

    def _get_config(self) -> dict[str, Any]:
        return {"categorical_column": serialize_column(self.categorical_column)}

    @classmethod
    def _from_config(cls, config: Mapping[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        check_keys(config, cls._fields)
        return cls(deserialize_column(config["categorical_column"], custom_objects, columns_by_name))


def indicator_column(categorical_column: FeatureColumn) -> IndicatorColumn:
    """Return the column of counts of another column's ids."""
    if not is_categorical(categorical_column):
        raise ValueError(
            "Unsupported input type. Input must be a CategoricalColumn. "
            f"Given (type {type(categorical_column)}): {categorical_column}"
        )
    return IndicatorColumn(categorical_column)
