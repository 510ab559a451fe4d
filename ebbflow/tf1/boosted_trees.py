"""What boosted trees keep: an ensemble of trees and quantiles of features, as things that are initialized and saved.

On these stand the Estimators of `doors/boosted_trees/`, and those of packages of the time, which reach them as
`tensorflow.python.ops.boosted_trees_ops`. The arithmetic is in the ops (`ops/learning/`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.checkpoint.saveables import SaveableObject, SaveSpec
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.graph.collections import GraphKeys, add_to_collection
from ebbflow.graph.scopes import control_dependencies, name_scope_v1
from ebbflow.ops.arrays.creation import identity
from ebbflow.ops.declare import raw
from ebbflow.state.shared_resources import register_resource


class PruningMode:
    """When splits that lose are taken back."""

    NO_PRUNING, PRE_PRUNING, POST_PRUNING = range(3)

    @classmethod
    def from_str(cls, mode: str) -> int:
        """Return the number of a mode."""
        known = {"none": cls.NO_PRUNING, "pre": cls.PRE_PRUNING, "post": cls.POST_PRUNING}
        if mode not in known:
            raise ValueError(f"pruning_mode mode must be one of: {', '.join(sorted(known))}. Found: {mode}")
        return known[mode]


class TreeEnsemble:
    """An ensemble of trees in the graph, initialized and saved with it."""

    def __init__(self, name: str, stamp_token: int = 0, is_local: bool = False, serialized_proto: str | bytes = ""):
        with name_scope_v1(name, "TreeEnsemble") as scope:
            self.resource_handle = raw.BoostedTreesEnsembleResourceHandleOp(container="", shared_name=scope, name=scope)
            self._initializer = raw.BoostedTreesCreateEnsemble(self.resource_handle, stamp_token, serialized_proto)
            is_initialized = self.is_initialized()
            if not is_local:
                add_to_collection(
                    GraphKeys.SAVEABLE_OBJECTS,
                    _TreeEnsembleSavable(self.resource_handle, self._initializer, self.resource_handle.name),
                )
            register_resource(self.resource_handle, self._initializer, is_initialized, is_shared=not is_local)

    @property
    def initializer(self) -> Any:
        """The op that fills it, if nobody has."""
        return self._initializer

    def is_initialized(self) -> Tensor:
        """Return whether it was filled."""
        return raw.IsBoostedTreesEnsembleInitialized(self.resource_handle)

    def get_stamp_token(self) -> Tensor:
        """Return the number of its changes."""
        return raw.BoostedTreesGetEnsembleStates(self.resource_handle)[0]

    def get_states(self) -> tuple[Tensor, ...]:
        """Return its stamp, the numbers of trees, of those done and of layers tried, and the last layer's nodes."""
        names = ("stamp_token", "num_trees", "num_finalized_trees", "num_attempted_layers", "last_layer_nodes_range")
        states = raw.BoostedTreesGetEnsembleStates(self.resource_handle)
        return tuple(identity(state, name=name) for state, name in zip(states, names, strict=True))

    def serialize(self) -> tuple[Tensor, Tensor]:
        """Return its stamp, and its trees as the bytes of a message."""
        return raw.BoostedTreesSerializeEnsemble(self.resource_handle)

    def deserialize(self, stamp_token: TensorLike, serialized_proto: TensorLike) -> Any:
        """Return the op that takes a stamp and trees in the place of its own."""
        return raw.BoostedTreesDeserializeEnsemble(self.resource_handle, stamp_token, serialized_proto)


class _TreeEnsembleSavable(SaveableObject):
    def __init__(self, resource_handle: Any, create_op: Any, name: str):
        stamp, trees = raw.BoostedTreesSerializeEnsemble(resource_handle)
        specs = [SaveSpec(stamp, "", f"{name}_stamp"), SaveSpec(trees, "", f"{name}_serialized")]
        super().__init__(resource_handle, specs, name)
        self.resource_handle, self._create_op = resource_handle, create_op

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Return the op that takes the trees of a checkpoint."""
        with control_dependencies([self._create_op]):
            return raw.BoostedTreesDeserializeEnsemble(self.resource_handle, *restored_tensors)


class QuantileAccumulator:
    """Quantiles of features in the graph: summaries are gathered, and flushed into boundaries of buckets."""

    def __init__(
        self,
        epsilon: float,
        num_streams: int,
        num_quantiles: int,
        name: str | None = None,
        max_elements: int | None = None,
    ):
        self._epsilon, self._num_streams, self._num_quantiles = epsilon, num_streams, num_quantiles
        with name_scope_v1(name, "QuantileAccumulator") as scope:
            self.resource_handle = raw.BoostedTreesQuantileStreamResourceHandleOp(
                container="", shared_name=scope, name=scope
            )
            self._initializer = raw.BoostedTreesCreateQuantileStreamResource(self.resource_handle, epsilon, num_streams)
            is_initialized = self.is_initialized()
        register_resource(self.resource_handle, self._initializer, is_initialized)
        saveable = QuantileAccumulatorSaveable(
            self.resource_handle, self._initializer, num_streams, self.resource_handle.name
        )
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)

    @property
    def initializer(self) -> Any:
        """The op that begins the streams, if nobody has."""
        return self._initializer

    def is_initialized(self) -> Tensor:
        """Return whether the streams have begun."""
        return raw.IsBoostedTreesQuantileStreamResourceInitialized(self.resource_handle)

    def add_summaries(self, float_columns: Sequence[TensorLike], example_weights: TensorLike) -> Any:
        """Return the op that takes a batch of every feature."""
        summaries = raw.BoostedTreesMakeQuantileSummaries(float_columns, example_weights, self._epsilon)
        return raw.BoostedTreesQuantileStreamResourceAddSummaries(self.resource_handle, summaries)

    def flush(self) -> Any:
        """Return the op that makes boundaries of what was gathered, and begins anew."""
        return raw.BoostedTreesQuantileStreamResourceFlush(self.resource_handle, self._num_quantiles)

    def get_bucket_boundaries(self) -> list[Tensor]:
        """Return the boundaries of every feature."""
        return raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
            self.resource_handle, num_features=self._num_streams
        )


class QuantileAccumulatorSaveable(SaveableObject):
    """Boundaries in checkpoints: a tensor for every feature."""

    def __init__(self, resource_handle: Any, create_op: Any, num_streams: int, name: str):
        self.resource_handle, self._create_op = resource_handle, create_op
        boundaries = raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
            resource_handle, num_features=num_streams
        )
        specs = [SaveSpec(b, "", f"{name}_bucket_boundaries_{i}") for i, b in enumerate(boundaries)]
        super().__init__(resource_handle, specs, name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Return the op that takes the boundaries of a checkpoint."""
        with control_dependencies([self._create_op]):
            return raw.BoostedTreesQuantileStreamResourceDeserialize(self.resource_handle, list(restored_tensors))
