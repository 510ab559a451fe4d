"""`tf.tpu.experimental.embedding`: tables of embeddings that several features look into.

What a TPU's embedding engine would do ahead of a step is plain lookups here, which tapes differentiate: for serving,
and under a TPUStrategy by `TPUEmbeddingV0`, whose tables each replica has. The engine itself, with its
queues, is a TPU's.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from typing import Any

from ebbflow.core import errors, nest
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested
from ebbflow.distribute import current
from ebbflow.distribute.embedding_config import FeatureConfig, Optimizer, TableConfig
from ebbflow.distribute.tpu import TPUStrategy
from ebbflow.ops.declare import raw
from ebbflow.ops.nn.embedding import embedding_lookup
from ebbflow.ops.nn.embedding_sparse import embedding_lookup_sparse, safe_embedding_lookup_sparse
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.sparse.functions import to_dense
from ebbflow.platform import logging
from ebbflow.state.tf2_initializers import Constant
from ebbflow.state.variables import Variable
from ebbflow.trackable.auto import AutoTrackable
from ebbflow.trackable.data_structures import NoDependency

Features = FeatureConfig | Iterable[Any]


class _Tables(AutoTrackable):
    """The variables of the tables that some features name: the values, and what the optimizers keep beside them."""

    def __init__(self, feature_config: Features, optimizer: Optimizer | None):
        if optimizer is not None and not isinstance(optimizer, Optimizer):
            raise ValueError(
                f"{type(optimizer)} is an unsupported optimizer class. Please pass an instance of one of the optimizer "
                "classes under tf.tpu.experimental.embedding."
            )
        self._feature_config = self._no_dependency(feature_config)
        tables: dict[TableConfig, None] = dict.fromkeys(feature.table for feature in nest.flatten(feature_config))
        self._table_config = self._no_dependency(list(tables))
        names: set[str] = set()
        for number, table in enumerate(tables):
            table.optimizer = optimizer if table.optimizer is None else table.optimizer
            table.name = f"table_{number}" if table.name is None else table.name
            if table.name in names:
                raise ValueError(f"Tables must have a unique name. Multiple tables with name {table.name} found.")
            names.add(table.name)
        self._built: dict[str, dict[str, Any]] | None = self._no_dependency(None)

    def build(self) -> None:
        """Make the variables of all tables, once."""
        if self._built is None:
            self._built = self._no_dependency({table.name: self._variables_of(table) for table in self._table_config})

    def _variables_of(self, table: TableConfig) -> dict[str, Any]:
        shape = (table.vocabulary_size, table.dim)
        name = str(table.name)
        first = functools.partial(table.initializer, shape, dtype=table.dtype)  # type: ignore[misc,arg-type]
        values = Variable(first, name=name, shape=shape, dtype=table.dtype)
        slots = self._slots_of(table, values, shape) if table.optimizer is not None else {}
        self._track_trackable(values, name)
        for slot, variable in slots.items():
            if isinstance(variable, NoDependency):  # an optimizer that tracks it itself
                slots[slot] = variable.value
            else:
                self._track_trackable(variable, f"{name}/{slot}")
        return {**slots, "parameters": values}

    def _slots_of(self, table: TableConfig, values: Any, shape: tuple[int, int]) -> dict[str, Any]:
        optimizer = table.optimizer
        assert optimizer is not None
        begins = {slot: Constant(value) for slot, value in optimizer._slots().items()}
        if optimizer.slot_variable_creation_fn is not None:
            return optimizer.slot_variable_creation_fn(values, list(begins), list(begins.values()))
        return {
            slot: Variable(
                functools.partial(first, shape, dtype=table.dtype), name=f"{table.name}/{slot}", trainable=False
            )
            for slot, first in begins.items()
        }

    @property
    def embedding_tables(self) -> dict[TableConfig, Any]:
        """The variable of each table."""
        variables = self._all_variables()
        return {table: variables[str(table.name)]["parameters"] for table in self._table_config}

    def _all_variables(self) -> dict[str, dict[str, Any]]:
        self.build()
        assert self._built is not None
        return self._built


class TPUEmbeddingForServing(_Tables):
    """Tables that are looked into without a TPU."""

    def __init__(
        self,
        feature_config: Features,
        optimizer: Optimizer | None,
        experimental_sparsecore_restore_info: Mapping[str, Any] | None = None,
    ):
        super().__init__(feature_config, optimizer)

    @property
    def variables(self) -> dict[str, dict[str, Any]]:
        """For each table its values ("parameters") and what its optimizer keeps."""
        return self._all_variables()

    def embedding_lookup(self, features: Nested, weights: Nested | None = None) -> Nested:
        """Return the embeddings of `features`, in their structure."""
        return serving_embedding_lookup(features, weights, self.embedding_tables, self._feature_config)

    __call__ = embedding_lookup


class TPUEmbeddingV0(_Tables):
    """Tables for TPUs without an embedding engine: each replica of a TPUStrategy has them, and looks into its own."""

    def __init__(self, feature_config: Features, optimizer: Optimizer | None):
        strategy = current.get_strategy()
        if not isinstance(strategy, TPUStrategy):
            raise RuntimeError(f"TPUEmbeddingV0 should be created under TPUStrategy but found {strategy}.")
        super().__init__(feature_config, optimizer)

    def embedding_lookup(self, features: Nested, weights: Nested | None = None) -> Nested:
        """Return the embeddings of `features`, in their structure."""
        return serving_embedding_lookup(features, weights, self.embedding_tables, self._feature_config)

    __call__ = embedding_lookup


class TPUEmbedding(_Tables):
    """Tables that live in a TPU's embedding engine; without one they can be made, saved and restored."""

    def __init__(
        self,
        feature_config: Features,
        optimizer: Optimizer | None,
        pipeline_execution_with_tensor_core: bool = False,
    ):
        super().__init__(feature_config, optimizer)
        self._on_tpu = isinstance(current.get_strategy(), TPUStrategy)

    def build(self, per_replica_input_shapes: Nested = None, per_replica_batch_size: int | None = None) -> None:
        """Make the variables of all tables, once."""
        super().build()

    def enqueue(
        self,
        features: Nested,
        weights: Nested | None = None,
        training: bool = True,
        name: str | None = None,
        device: str | None = None,
    ) -> None:
        """Give the engine the features of a step."""
        raise self._refusal("enqueue")

    def dequeue(self, name: str | None = None) -> Nested:
        """Return the embeddings of the features given first."""
        raise self._refusal("dequeue")

    def apply_gradients(self, gradients: Nested, name: str | None = None) -> None:
        """Give the engine the gradients of a step."""
        raise self._refusal("apply_gradients")

    def _refusal(self, method: str) -> Exception:
        if not self._on_tpu:
            return RuntimeError(f"{method} is not valid when TPUEmbedding object is not created under a TPUStrategy.")
        return errors.UnimplementedError(
            None, None, f"TPUEmbedding.{method}: there is no TPU embedding engine here; TPUEmbeddingV0 looks up without"
        )


def serving_embedding_lookup(
    inputs: Nested, weights: Nested | None, tables: Mapping[TableConfig, Variable], feature_config: Features
) -> Nested:
    """Return the embeddings of `inputs`: dense ids one by one, the ids of a sparse or ragged row combined, or, where a
    feature has a length, as a sequence filled up with zeros.
    """
    features = dict(nest.flatten_with_joined_string_paths(feature_config))
    given = nest.flatten_with_joined_string_paths(inputs)
    if not {path for path, _ in given} <= set(features):
        raise ValueError(
            f"Inputs are not a subset of feature_config. Inputs keys are { {path for path, _ in given} }, but "
            f"feature_config keys are {features.keys()}"
        )
    weighed = dict(nest.flatten_with_joined_string_paths(weights)) if weights is not None else {}
    found = []
    for path, ids in given:
        feature, weight = features[path], weighed.get(path)
        _check_weight(path, ids, weight, feature)
        found.append(_looked_up(path, ids, weight, tables[feature.table], feature))
    return nest.pack_sequence_as(inputs, found)


def _check_weight(path: str, ids: Any, weight: Any, feature: FeatureConfig) -> None:
    if weight is None:
        return
    if not isinstance(ids, (SparseTensor, RaggedTensor)):
        raise ValueError(f"Weight specified for {path}, but input is dense.")
    if type(weight) is not type(ids):
        raise ValueError(
            f"Weight for {path} is of type {type(weight)} but it does not match type of the input which is {type(ids)}."
        )
    if feature.max_sequence_length > 0:
        raise ValueError(f"Weight specified for {path}, but this is a sequence feature.")


def _looked_up(path: str, ids: Any, weight: Any, table: Any, feature: FeatureConfig) -> Any:
    if isinstance(ids, RaggedTensor):
        return _of_ragged(ids, weight, table, feature)
    if isinstance(ids, SparseTensor):
        return _of_sparse(ids, weight, table, feature)
    if feature.max_sequence_length > 0:
        raise ValueError(f"Feature {path} is a sequence feature but a dense tensor was passed.")
    return embedding_lookup(table, ids)


def _of_sparse(ids: SparseTensor, weight: Any, table: Any, feature: FeatureConfig) -> Tensor:
    length = feature.max_sequence_length
    if length > 0 and feature.output_shape.rank is None:  # type: ignore[union-attr]
        absent = to_dense(SparseTensor(ids.indices, raw.ZerosLike(ids.values) + 1, ids.dense_shape))
        return _sequence(RaggedTensor.from_tensor(to_dense(ids), raw.Sum(absent, 1)), table, length)
    if length > 0:
        logging.warning("max_sequence_length is not used, for the feature's output_shape is set")
    look = safe_embedding_lookup_sparse if feature.validate_weights_and_indices else embedding_lookup_sparse
    return look(table, ids, weight, combiner=feature.table.combiner)


def _of_ragged(ids: RaggedTensor, weight: Any, table: Any, feature: FeatureConfig) -> Any:
    if ids.shape.rank != 2:
        raise ValueError(f"Only rank 2 ragged tensor is supported, but got rank {ids.shape.rank}")
    shape, length = feature.output_shape, feature.max_sequence_length
    assert shape is not None
    if shape.rank is not None:  # type: ignore[union-attr]
        sizes = list(shape.as_list())  # type: ignore[union-attr]
        length = _length_for(sizes, ids.shape[0], shape)
    if length > 0:
        rows = _sequence(ids, table, length)
    else:
        rows = safe_embedding_lookup_sparse(table, ids, weight, combiner=feature.table.combiner)
    return rows if shape.rank is None else raw.Reshape(rows, [*sizes, feature.table.dim])  # type: ignore[union-attr]


def _length_for(sizes: list[int | None], batch: int | None, shape: Any) -> int:
    """Return how many rows of the answer each row of ids has: none of its own when they are combined into one."""
    if None in sizes:
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    count = math.prod(sizes)  # type: ignore[arg-type]
    if batch is None or batch > count or count % batch:
        raise ValueError(
            "Output shape set in the FeatureConfig should be the factor of the input data batch size. But instead got "
            f"output shape {shape}, input data batch size {batch}"
        )
    return 0 if count == batch else count // batch


def _sequence(ids: RaggedTensor, table: Any, length: int) -> Any:
    """Return [rows, length, dim]: the embeddings of each row's first ids, and zeros after its last."""
    rows = RaggedTensor.from_row_splits(embedding_lookup(table, ids.values), ids.row_splits, validate=False)
    return rows.to_tensor(shape=[None, length, None])
