"""Embeddings: rows of a variable, one for each id, combined for each row; and embeddings that share one."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any

from ebbflow.checkpoint.initializing import init_from_checkpoint
from ebbflow.core import context, dtypes
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import InitializerLike
from ebbflow.feature_column.base import (
    BothDense,
    BothSequenceDense,
    OldDenseColumn,
    OldSequenceDenseColumn,
    TensorSequenceLengthPair,
    buckets_of,
    is_categorical,
    sparse_tensors_of,
    spec_of,
)
from ebbflow.feature_column.categorical import WeightedCategoricalColumn
from ebbflow.feature_column.checks import sequence_length_from_sparse_tensor
from ebbflow.feature_column.sequence import check_not_sequence, check_sequence
from ebbflow.feature_column.serialization import (
    check_keys,
    deserialize_column,
    deserialize_object,
    register_column,
    serialize_column,
    serialize_object,
)
from ebbflow.graph.collections import GraphKeys, add_to_collection, get_collection
from ebbflow.graph.graph import get_default_graph
from ebbflow.graph.scopes import name_scope_v1
from ebbflow.ops.nn.embedding_sparse import embedding_lookup_sparse_v1, safe_embedding_lookup_sparse_v1
from ebbflow.state.initializers import TruncatedNormal
from ebbflow.state.partitioners import PartitionedVariable
from ebbflow.state.variable_scope import get_variable
from ebbflow.trackable.auto import AutoTrackable


def restore(variable: Any, ckpt_to_load_from: Any, tensor_name_in_ckpt: Any) -> None:
    """Have a new variable begin with a checkpoint's tensor, where one is named."""
    if ckpt_to_load_from is not None:
        parts = variable._get_variable_list() if isinstance(variable, PartitionedVariable) else variable
        init_from_checkpoint(ckpt_to_load_from, {tensor_name_in_ckpt: parts})


def looked_up(column: Any, pair: Any, weights: Any) -> Any:
    """Return the combined rows of `weights` for a column's ids."""
    rank = pair.id_tensor.shape.rank
    safe = getattr(column, "use_safe_embedding_lookup", True) or rank is None or rank > 2
    find = safe_embedding_lookup_sparse_v1 if safe else embedding_lookup_sparse_v1
    return find(
        weights,
        pair.id_tensor,
        pair.weight_tensor,
        combiner=column.combiner,
        name=f"{column.name}_weights",
        partition_strategy="div",
        max_norm=column.max_norm,
    )


def _collections(weight_collections: Any) -> list[str] | None:
    """Return the collections a variable goes to: the usual one is always among them."""
    return None if not weight_collections else [*dict.fromkeys([*weight_collections, GraphKeys.GLOBAL_VARIABLES])]


class _OfIds(BothDense, BothSequenceDense):
    """What columns of embeddings have in common: they stand on a column of ids."""

    categorical_column: Any
    USED_AS = "embedding_column"

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return spec_of(self.categorical_column)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self.categorical_column, state_manager)


@register_column
class EmbeddingColumn(
    _OfIds,
    namedtuple(
        "EmbeddingColumn",
        (
            "categorical_column", "dimension", "combiner", "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt",
            "max_norm", "trainable", "use_safe_embedding_lookup",
        ),
        defaults=(True,),
    ),
):  # fmt: skip
    """Rows of a variable of its own for the ids of another column."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def create_state(self, state_manager: Any) -> None:
        """Have the variable made: a row of `dimension` numbers for each id."""
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(buckets_of(self.categorical_column), self.dimension),
            dtype=dtypes.float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )

    def _get_dense_tensor_internal_helper(self, sparse_tensors: Any, embedding_weights: Any) -> Any:
        restore(embedding_weights, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return looked_up(self, sparse_tensors, embedding_weights)

    def _get_dense_tensor_internal(self, sparse_tensors: Any, state_manager: Any) -> Any:
        return self._get_dense_tensor_internal_helper(
            sparse_tensors, state_manager.get_variable(self, name="embedding_weights")
        )

    def _old_dense_tensor(self, sparse_tensors: Any, weight_collections: Any, trainable: Any) -> Any:
        """The first generation's way: the variable is made, or found, in the variable scope that is open."""
        weights = get_variable(
            name="embedding_weights",
            shape=(buckets_of(self.categorical_column), self.dimension),
            dtype=dtypes.float32,
            initializer=self.initializer,
            trainable=self.trainable and (trainable is None or trainable),
            collections=_collections(weight_collections),
        )
        return self._get_dense_tensor_internal_helper(sparse_tensors, weights)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        check_not_sequence(self, "DenseFeatures", "SequenceFeatures")
        pair = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        return self._get_dense_tensor_internal(pair, state_manager)

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        check_not_sequence(self, "input_layer", "sequence_input_layer")
        pair = sparse_tensors_of(self.categorical_column, inputs, None)
        return self._old_dense_tensor(pair, weight_collections, trainable)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        check_sequence(self, "SequenceFeatures")
        pair = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        found = self._get_dense_tensor_internal(pair, state_manager)
        return TensorSequenceLengthPair(found, sequence_length_from_sparse_tensor(pair.id_tensor))

    def _get_sequence_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        check_sequence(self, "sequence_input_layer")
        pair = sparse_tensors_of(self.categorical_column, inputs, None)
        found = self._old_dense_tensor(pair, weight_collections, trainable)
        return TensorSequenceLengthPair(found, sequence_length_from_sparse_tensor(pair.id_tensor))

    def _get_config(self) -> dict[str, Any]:
        config = dict(zip(self._fields, self))
        config["categorical_column"] = serialize_column(self.categorical_column)
        config["initializer"] = serialize_object(self.initializer)
        return config

    @classmethod
    def _from_config(cls, config: Mapping[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        settled = {"use_safe_embedding_lookup": True, **config}
        check_keys(settled, cls._fields)
        settled["categorical_column"] = deserialize_column(
            config["categorical_column"], custom_objects, columns_by_name
        )
        settled["initializer"] = deserialize_object(config["initializer"], custom_objects)
        return cls(**settled)


def _checked_initializer(initializer: Any, dimension: Any, ckpt: Any, tensor_name: Any, of: str) -> Any:
    """Return the initializer of an embedding, having checked what was said of it."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt is None) != (tensor_name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. Embedding of column_name: {of}")
    return TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension)) if initializer is None else initializer


def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: InitializerLike | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> EmbeddingColumn:
    """Return the column of trained vectors for the ids of another column."""
    initializer = _checked_initializer(
        initializer, dimension, ckpt_to_load_from, tensor_name_in_ckpt, getattr(categorical_column, "name", "?")
    )
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm,
        trainable, use_safe_embedding_lookup,
    )  # fmt: skip


class SharedEmbeddingColumnCreator(AutoTrackable):
    """The variable that several columns share: one in each graph, made when it is first needed."""

    def __init__(
        self,
        dimension: int,
        initializer: Any,
        ckpt_to_load_from: Any,
        tensor_name_in_ckpt: Any,
        num_buckets: int,
        trainable: bool,
        name: str = "shared_embedding_column_creator",
        use_safe_embedding_lookup: bool = True,
    ) -> None:
        self._dimension = dimension
        self._initializer = initializer
        self._ckpt_to_load_from = ckpt_to_load_from
        self._tensor_name_in_ckpt = tensor_name_in_ckpt
        self._num_buckets = num_buckets
        self._trainable = trainable
        self._name = name
        self._use_safe_embedding_lookup = use_safe_embedding_lookup
        self._embedding_weights: dict[Any, Any] = {}  # by the graph's key

    def __call__(self, categorical_column: Any, combiner: str, max_norm: Any) -> SharedEmbeddingColumn:
        return SharedEmbeddingColumn(categorical_column, self, combiner, max_norm, self._use_safe_embedding_lookup)

    @property
    def embedding_weights(self) -> Any:
        """The variable, in the graph that is open."""
        key = get_default_graph()._graph_key
        if key not in self._embedding_weights:
            variable = get_variable(
                name=self._name,
                shape=(self._num_buckets, self._dimension),
                dtype=dtypes.float32,
                initializer=self._initializer,
                trainable=self._trainable,
            )
            restore(variable, self._ckpt_to_load_from, self._tensor_name_in_ckpt)
            self._embedding_weights[key] = variable
        return self._embedding_weights[key]

    @property
    def dimension(self) -> int:
        """How long a row is."""
        return self._dimension


@register_column
class SharedEmbeddingColumn(
    _OfIds,
    namedtuple(
        "SharedEmbeddingColumn",
        (
            "categorical_column", "shared_embedding_column_creator", "combiner", "max_norm",
            "use_safe_embedding_lookup",
        ),
        defaults=(True,),
    ),
):  # fmt: skip
    """Rows of a variable that other columns use too (the second generation's)."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def _found(self, pair: Any) -> Any:
        return looked_up(self, pair, self.shared_embedding_column_creator.embedding_weights)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        check_not_sequence(self, "DenseFeatures", "SequenceFeatures")
        with name_scope_v1(None, default_name=self.name):
            return self._found(sparse_tensors_of(self.categorical_column, transformation_cache, state_manager))

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        check_sequence(self, "SequenceFeatures")
        pair = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        return TensorSequenceLengthPair(self._found(pair), sequence_length_from_sparse_tensor(pair.id_tensor))

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(
            "SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. Please use `DenseFeatures` "
            "or `LinearModel` instead."
        )

    _get_dense_tensor = _get_sequence_dense_tensor = _refuse


class OldSharedEmbeddingColumn(
    OldDenseColumn,
    OldSequenceDenseColumn,
    namedtuple(
        "_SharedEmbeddingColumn",
        (
            "categorical_column", "dimension", "combiner", "initializer", "shared_embedding_collection_name",
            "ckpt_to_load_from", "tensor_name_in_ckpt", "max_norm", "trainable", "use_safe_embedding_lookup",
        ),
        defaults=(True,),
    ),
):  # fmt: skip
    """Rows of a variable that other columns use too (the first generation's): a graph collection holds it."""

    USED_AS = "shared_embedding_column"

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def _var_scope_name(self) -> str:
        return self.shared_embedding_collection_name

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return spec_of(self.categorical_column)

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.categorical_column)

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _weights(self, weight_collections: Any, trainable: Any) -> Any:
        shape = (buckets_of(self.categorical_column), self.dimension)
        name = self.shared_embedding_collection_name
        kept = get_collection(name)
        if len(kept) > 1:
            raise ValueError(
                f"Collection {kept} can only contain one variable. Choose a different "
                "shared_embedding_collection_name, or do not add to the collection yourself."
            )
        if kept:
            if TensorShape(kept[0].shape).as_list() != list(shape):
                raise ValueError(
                    f"Shared embedding collection {name} contains variable {kept[0].name} of unexpected shape "
                    f"{kept[0].shape}. Expected shape is {shape}. Choose a different shared_embedding_collection_name."
                )
            return kept[0]
        weights = get_variable(
            name="embedding_weights",
            shape=shape,
            dtype=dtypes.float32,
            initializer=self.initializer,
            trainable=self.trainable and (trainable is None or trainable),
            collections=_collections(weight_collections),
        )
        add_to_collection(name, weights)
        return weights

    def _combined(self, inputs: Any, weight_collections: Any, trainable: Any) -> tuple[Any, Any]:
        with name_scope_v1(None, default_name=self.name):
            pair = sparse_tensors_of(self.categorical_column, inputs, None)
            weights = self._weights(weight_collections, trainable)
            restore(weights, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
            return looked_up(self, pair, weights), pair

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        check_not_sequence(self, "input_layer", "sequence_input_layer")
        return self._combined(inputs, weight_collections, trainable)[0]

    def _get_sequence_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        check_sequence(self, "sequence_input_layer")
        found, pair = self._combined(inputs, weight_collections, trainable)
        return TensorSequenceLengthPair(found, sequence_length_from_sparse_tensor(pair.id_tensor))


def _checked_sharers(categorical_columns: Sequence[Any], name: str | None) -> tuple[int, str]:
    """Return how many ids the columns have, all of one kind and all as many, and the name of what they share."""
    columns = sorted(categorical_columns, key=lambda column: column.name)
    inner = [c.categorical_column if isinstance(c, WeightedCategoricalColumn) else c for c in columns]
    inner = [c.categorical_column if type(c).__name__ == "SequenceCategoricalColumn" else c for c in inner]
    for column, core in zip(columns, inner):
        if not is_categorical(column):
            raise ValueError(f"all categorical_columns must be columns of ids. Given: {column}")
        if type(core) is not type(inner[0]):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be "
                "weighted_categorical_column or sequence column of the same type. "
                f"Given column: {columns[0]} of type: {type(inner[0])} does not match given column: {column} of type: "
                f"{type(core)}"
            )
        if buckets_of(column) != buckets_of(columns[0]):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. Given "
                f"column: {columns[0]} with buckets: {buckets_of(columns[0])} does not match column: {column} with "
                f"buckets: {buckets_of(column)}"
            )
    return buckets_of(columns[0]), name or "_".join(c.name for c in columns) + "_shared_embedding"


def shared_embedding_columns(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: InitializerLike | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> list[Any]:
    """Return columns of vectors that share one variable, for `input_layer` and `linear_model` (TF 1)."""
    _refuse_eager("shared_embedding_columns")
    initializer = _checked_initializer(
        initializer, dimension, ckpt_to_load_from, tensor_name_in_ckpt, "shared_embedding_columns"
    )
    _, name = _checked_sharers(categorical_columns, shared_embedding_collection_name)
    return [
        OldSharedEmbeddingColumn(
            column, dimension, combiner, initializer, name, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
            use_safe_embedding_lookup,
        )
        for column in categorical_columns
    ]  # fmt: skip


def shared_embeddings(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: InitializerLike | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> list[SharedEmbeddingColumn]:
    """Return columns of vectors that share one variable, for `DenseFeatures` (TF 2)."""
    _refuse_eager("shared_embedding_columns")
    initializer = _checked_initializer(
        initializer, dimension, ckpt_to_load_from, tensor_name_in_ckpt, "shared_embeddings"
    )
    buckets, name = _checked_sharers(categorical_columns, shared_embedding_collection_name)
    creator = SharedEmbeddingColumnCreator(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, buckets, trainable, name,
        use_safe_embedding_lookup,
    )  # fmt: skip
    return [creator(column, combiner, max_norm) for column in categorical_columns]


def _refuse_eager(what: str) -> None:
    if context.executing_eagerly():
        raise RuntimeError(f"{what} are not supported when eager execution is enabled: use them in a graph")
