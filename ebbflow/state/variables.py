"""Making variables: which kind `tf.Variable(...)` gives, and who else has a say in it.

Eagerly, and in graphs in TF 2 manner, a variable is a `ResourceVariable`; in graphs in TF 1 manner it is a
`RefVariable`. `variable_creator_scope` lets a program stand between. The public door to the kinds of variables.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow import messages
from ebbflow.core import context
from ebbflow.core.interception import offer
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.proto_functions import register_proto_function
from ebbflow.state.base import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    VariableV1,
    provide_creator,
)
from ebbflow.state.reference import RefVariable
from ebbflow.state.resource import ResourceVariable, UnreadVariable
from ebbflow.state.variable_def import SaveSliceInfo

__all__ = [
    "RefVariable",
    "ResourceVariable",
    "SaveSliceInfo",
    "UnreadVariable",
    "Variable",
    "VariableAggregation",
    "VariableSynchronization",
    "VariableV1",
    "variable_creator_scope",
]

SCOPE_KEY = ("__varscope",)
"""The collection in which a graph keeps its variable scopes."""


_FOR_OTHERS = ("experimental_enable_variable_lifting", "per_worker_variable")
"""Arguments about traces and machines that make no difference to a variable here."""


def _make_v2(
    initial_value: Any = None,
    trainable: Any = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    import_scope: str | None = None,
    constraint: Callable[..., Any] | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
    shape: Any = None,
    experimental_enable_variable_lifting: bool = True,
    per_worker_variable: bool = False,
) -> Any:
    """What `tf.Variable(...)` does in TF 2."""
    arguments = {key: value for key, value in locals().items() if key not in _FOR_OTHERS}
    return _through_creators(lambda **given: _kind_of(ResourceVariable, given), arguments)


def _make_v1(
    initial_value: Any = None,
    trainable: Any = None,
    collections: Any = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    expected_shape: Any = None,
    import_scope: str | None = None,
    constraint: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
    shape: Any = None,
    experimental_enable_variable_lifting: bool = True,
) -> Any:
    """What `tf.Variable(...)` does in TF 1."""
    arguments = {key: value for key, value in locals().items() if key not in _FOR_OTHERS}
    return _through_creators(_default_kind, arguments)


provide_creator(_make_v2, _make_v1)


def _default_kind(**given: Any) -> Any:
    use_resource = given.get("use_resource")
    if use_resource is None:
        use_resource = _wanted_by_scope()
    if use_resource is None:
        use_resource = context.switches.resource_variables
    return _kind_of(ResourceVariable if use_resource or context.executing_eagerly() else RefVariable, given)


def _wanted_by_scope() -> bool | None:
    """Return what the open variable scope says about the kind of variables."""
    stores = context.default_graph().get_collection_ref(SCOPE_KEY)
    return stores[0].current_scope.use_resource if stores else None


_TAKEN = (  # noqa: SIM905
    "initial_value trainable collections validate_shape caching_device name variable_def dtype import_scope constraint "
    "synchronization aggregation shape"
).split()


class _Thread(threading.local):
    instead: Callable[..., Any] | None = None


_thread = _Thread()


def _kind_of(kind: Callable[..., Any], given: dict[str, Any]) -> Any:
    if _thread.instead is not None:
        kind = _thread.instead
    elif context.thread.devices and context.thread.devices[-1].task is not None and context.executing_eagerly():
        kind = context.thread.devices[-1].task.new_variable
    return kind(**{key: given[key] for key in _TAKEN if key in given})


@contextlib.contextmanager
def made_by(kind: Callable[..., Any] | None) -> Iterator[None]:
    """Have variables that are made inside the block made by `kind`, once all creators had their say; None: as usual."""
    before, _thread.instead = _thread.instead, kind
    try:
        yield
    finally:
        _thread.instead = before


# --- creators ---------------------------------------------------------------------------------------------------------


def _through_creators(make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    for creator in _creators():
        make = functools.partial(creator, make)
    return make(**arguments)


def _creators() -> list[Callable[..., Any]]:
    """Return this thread's creators for the graph being built, those of the graphs around a function's included."""
    graph = context.default_graph()
    graphs = [graph]
    while graph.building_function and getattr(graph, "_around", None) is not None:
        graph = graph._around
        graphs.insert(0, graph)
    return [creator for graph in graphs for creator in graph._stack("variable_creators")]


@contextlib.contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Have `variable_creator(next_creator, **arguments)` make the variables asked for inside the block."""
    stack = context.default_graph()._stack("variable_creators")
    stack.append(variable_creator)
    try:
        yield
    finally:
        stack.remove(variable_creator)


# --- in a MetaGraph ---------------------------------------------------------------------------------------------------


def _written(variable: Any, export_scope: str | None = None) -> Any:
    return variable.to_proto(export_scope=export_scope)


for _collection in (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.GLOBAL_STEP,
):
    register_proto_function(
        _collection, proto_type=lambda: messages.VariableDef, to_proto=_written, from_proto=Variable.from_proto
    )

for _method in (ResourceVariable.assign, ResourceVariable.assign_add, ResourceVariable.assign_sub):
    offer("assignment", _method)
