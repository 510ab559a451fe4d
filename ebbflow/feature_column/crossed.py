"""Crosses: ids for the combinations of several features."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.feature_column.base import (
    BothCategorical,
    IdWeightPair,
    is_categorical,
    is_column,
    sparse_tensors_of,
    spec_of,
)
from ebbflow.feature_column.categorical import HashedCategoricalColumn
from ebbflow.feature_column.serialization import check_keys, deserialize_column, register_column, serialize_column
from ebbflow.ops.parsing.features import VarLenFeature
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.sparse.cross import sparse_cross_hashed


@register_column
class CrossedColumn(BothCategorical, namedtuple("CrossedColumn", ("keys", "hash_bucket_size", "hash_key"))):
    """Ids that are hashes of every combination of the values of several features or columns."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return "_X_".join(sorted(key.name if is_column(key) else key for key in leaves(self)))

    @property
    def parents(self) -> list[Any]:
        return list(self.keys)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {}
        for key in self.keys:
            spec.update(spec_of(key) if is_column(key) else {key: VarLenFeature(dtypes.string)})
        return spec

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        parts = []
        for key in leaves(self):
            if isinstance(key, str):
                part = transformation_cache.get(key, state_manager)
                parts.append(part.to_sparse() if isinstance(part, RaggedTensor) else part)
                continue
            pair = sparse_tensors_of(key, transformation_cache, state_manager)
            if pair.weight_tensor is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
                    f"Given column: {key.name}"
                )
            parts.append(pair.id_tensor)
        return sparse_cross_hashed(parts, num_buckets=self.hash_bucket_size, hash_key=self.hash_key)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        return IdWeightPair(transformation_cache.get(self, state_manager), None)

    def _get_config(self) -> dict[str, Any]:
        config = dict(zip(self._fields, self))
        return {**config, "keys": tuple(serialize_column(key) for key in self.keys)}

    @classmethod
    def _from_config(cls, config: Mapping[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        check_keys(config, cls._fields)
        keys = tuple(deserialize_column(key, custom_objects, columns_by_name) for key in config["keys"])
        return cls(keys, config["hash_bucket_size"], config["hash_key"])


def leaves(cross: CrossedColumn) -> list[Any]:
    """Return what a cross combines; a cross in it stands for what it combines."""
    found: list[Any] = []
    for key in cross.keys:
        found += leaves(key) if isinstance(key, CrossedColumn) else [key]
    return found


def crossed_column(keys: Sequence[Any], hash_bucket_size: int, hash_key: int | None = None) -> CrossedColumn:
    """Return the column of combinations of features.

    >>> crossed_column(["colour", "size"], 10).name
    'colour_X_size'
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or isinstance(keys, str) or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, str) and not is_categorical(key):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column except "
                f"HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will "
                f"increase probability of collision. Instead, use the feature name as a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
