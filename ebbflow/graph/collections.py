"""Collections: lists of anything, kept in a graph under a name.

The graph's half is `Collections`; `GraphKeys` are the names that TensorFlow's own code uses.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Any

from ebbflow.core import context, forks
from ebbflow.core.typing import TensorLike


class GraphKeys:
    """Names of the usual collections."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    TRAIN_OP = "train_op"
    GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"
    EVAL_STEP = "eval_step"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    VARIABLES = GLOBAL_VARIABLES
    _SUMMARY_COLLECTION = "_SUMMARY_V2"
    _VARIABLE_COLLECTIONS = (
        GLOBAL_VARIABLES,
        LOCAL_VARIABLES,
        METRIC_VARIABLES,
        MODEL_VARIABLES,
        TRAINABLE_VARIABLES,
        MOVING_AVERAGE_VARIABLES,
        CONCATENATED_VARIABLES,
    )


class Collections:
    """The part of a Graph that keeps collections."""

    def __init__(self) -> None:
        self._collections: dict[Any, list[Any]] = {}
        self._collections_lock = forks.rlock()

    def begin_with(self, outer: Collections) -> None:
        """Hold what another graph's collections hold now; what is added here is not seen there."""
        with outer._collections_lock:
            self._collections = {name: list(held) for name, held in outer._collections.items()}

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Put `value` at the end of the collection `name`."""
        self._check_not_finalized()
        with self._collections_lock:
            self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Put `value` at the end of each named collection, once per name."""
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """Return the collection itself; changing the list changes the collection."""
        with self._collections_lock:
            return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """Return a copy of the collection, or of the items whose name starts with (or matches) `scope`."""
        with self._collections_lock:
            items = list(self._collections.get(name, ()))
        if scope is None:
            return items
        pattern = re.compile(scope)
        return [item for item in items if hasattr(item, "name") and pattern.match(item.name)]

    def get_all_collection_keys(self) -> list[Any]:
        """Return the names of the collections that hold something."""
        with self._collections_lock:
            return [key for key in self._collections if isinstance(key, str)]

    @property
    def collections(self) -> list[Any]:
        return list(self._collections)

    def clear_collection(self, name: Any) -> None:
        """Empty the collection."""
        self._check_not_finalized()
        with self._collections_lock:
            self._collections.pop(name, None)

    def _check_not_finalized(self) -> None:
        """Raise where the graph takes no more changes."""


def add_to_collection(name: str, value: object) -> None:
    """Put `value` into a collection of the default graph.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default():
    ...     add_to_collection("names", "a")
    ...     tf.compat.v1.get_collection("names")
    ['a']
    """
    context.default_graph().add_to_collection(name, value)


def add_to_collections(names: Iterable[Any], value: TensorLike) -> None:
    """Put `value` into each of the default graph's named collections."""
    context.default_graph().add_to_collections(names, value)


def get_collection(key: Hashable, scope: str | None = None) -> list[Any]:
    """Return what is in a collection of the default graph.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default():
    ...     tf.compat.v1.add_to_collection("mine", 7)
    ...     get_collection("mine")
    [7]
    """
    return context.default_graph().get_collection(key, scope)


def get_collection_ref(key: Hashable) -> list[Any]:
    """Return a collection of the default graph itself."""
    return context.default_graph().get_collection_ref(key)
