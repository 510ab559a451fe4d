"""`UninitializedVariable`: a variable without an initial value, which whoever made it assigns later.

Loaders use it for variables whose values a file does not hold. Reading it before it is assigned is an error, as for
every variable without a value; checkpoints leave it out.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import EagerTensor
from ebbflow.core.typing import DTypeLike, ShapeLike
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import init_scope
from ebbflow.ops.declare import raw
from ebbflow.ops.state.storage import Storage
from ebbflow.state.base import VariableAggregation, VariableSynchronization, settle
from ebbflow.state.resource import ResourceVariable, next_unique_id
from ebbflow.trackable.constants import VARIABLE_VALUE_KEY


class UninitializedVariable(ResourceVariable):
    """A resource variable that has a shape and a dtype, and no value until it is assigned one."""

    def __init__(
        self,
        trainable: bool | None = None,
        caching_device: str | Callable[..., Any] | None = None,
        name: str | None = None,
        shape: ShapeLike = None,
        dtype: DTypeLike | None = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization | None = None,
        aggregation: VariableAggregation | None = None,
        extra_handle_data: object = None,
        distribute_strategy: object = None,
        **unused_kwargs: object,
    ):
        if dtype is None:
            raise ValueError(f"UninitializedVariable '{name or 'Variable'}' needs a dtype: it has no value to tell it.")
        self._cached = self._initial_value = self._initializer = None
        settle(self, name, trainable, constraint, synchronization, aggregation)
        self._dtype, self._dims = dtypes.as_dtype(dtype).base_dtype, TensorShape(shape)._dims
        with init_scope(), name_scope(name, "Variable") as scope:
            self._name = scope.rstrip("/")
            self._in_graph = not context.executing_eagerly()
            if self._in_graph:
                self._add_nodes(scope)
            else:
                self._make_storage()

    def _make_storage(self) -> None:
        self._can_add = self._dtype.is_floating or self._dtype.is_integer or self._dtype.is_complex
        self._storage = Storage(self._name, self._dtype, self._dims)
        self._storage.owner = weakref.ref(self)
        self._handle = EagerTensor(self._storage.handle(), dtypes.resource)
        self._unique_id = next_unique_id(self._name)

    def _add_nodes(self, scope: str) -> None:
        graph = context.current_graph()
        self._unique_id = self._name
        self._handle = raw.VarHandleOp(
            shared_name=self._name, debug_name=scope, dtype=self._dtype, shape=self._dims, name=scope
        )
        with graph.name_scope("Read"), graph.device(self._handle.device or None):
            self._read = raw.ReadVariableOp(self._handle, dtype=self._dtype)
        graph.add_to_collection(GraphKeys.GLOBAL_VARIABLES, self)

    def _serialize_to_tensors(self) -> dict[str, Any]:
        if not self._in_graph and context.executing_eagerly() and not self._storage.is_set():
            return {VARIABLE_VALUE_KEY: None}  # known to the object graph, and left out of the file
        return super()._serialize_to_tensors()
