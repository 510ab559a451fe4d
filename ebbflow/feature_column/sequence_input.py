"""`tf.contrib.feature_column.sequence_input_layer`: columns of sequences side by side, as TF 1 asks them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ebbflow.core.shape import TensorShape
from ebbflow.feature_column.base import (
    FeatureTransformationCache,
    LazyBuilder,
    OldSequenceDenseColumn,
    SequenceDenseColumn,
    normalized,
    scope_name,
)
from ebbflow.feature_column.first_generation import _variable_collections
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.creation import identity
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.checks.asserts import assert_equal_v1
from ebbflow.state.variable_scope import variable_scope


def sequence_input_layer(
    features: Mapping[str, Any],
    feature_columns: Iterable[Any],
    weight_collections: Iterable[Any] | None = None,
    trainable: bool = True,
) -> tuple[Any, Any]:
    """Return the columns' steps side by side [batch, steps, n], and how many steps each row has."""
    columns = normalized(feature_columns)
    for column in columns:
        if not isinstance(column, (OldSequenceDenseColumn, SequenceDenseColumn)):
            raise ValueError(
                "All feature_columns must be of type _SequenceDenseColumn. You can wrap a sequence_categorical_column "
                f"with an embedding_column or indicator_column. Given (type {type(column)}): {column}"
            )
    into = _variable_collections(weight_collections)
    caches = LazyBuilder(features), FeatureTransformationCache(features)
    with variable_scope(None, default_name="sequence_input_layer", values=list(features.values())):
        tensors, lengths = [], []
        for column in columns:
            with variable_scope(None, default_name=scope_name(getattr(column, "_var_scope_name", column.name))):
                tensor, length = _one(column, caches, into, trainable)
                dims = shape_of(tensor)
                shape = TensorShape(getattr(column, "variable_shape", None) or column._variable_shape)
                tensors.append(reshape(tensor, [dims[0], dims[1], shape.num_elements()]))
                lengths.append(length)
        return concat(tensors, -1), _equal(lengths)


def _one(column: Any, caches: tuple[LazyBuilder, FeatureTransformationCache], into: Any, trainable: bool) -> Any:
    """Return a column's steps and their count, asked in the manner of the column's generation."""
    if isinstance(column, OldSequenceDenseColumn):
        return column._get_sequence_dense_tensor(caches[0], weight_collections=into, trainable=trainable)
    return column.get_sequence_dense_tensor(caches[1], None)


def _equal(lengths: list[Any]) -> Any:
    """Return the first of tensors that must all be equal when they are computed."""
    checks = [assert_equal_v1(lengths[0], other) for other in lengths[1:]]
    with control_dependencies([check for check in checks if check is not None]):
        return identity(lengths[0])
