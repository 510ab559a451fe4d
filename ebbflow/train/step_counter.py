"""The global step: the variable that counts a program's training steps. (Not called `global_step`:
`tf.train.global_step` is a function.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbflow.core import context, dtypes
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Assigned, SessionLike
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.graph import get_default_graph
from ebbflow.graph.scopes import control_dependencies, name_scope_v1
from ebbflow.platform import logging
from ebbflow.state.initializers import Zeros
from ebbflow.state.resource import is_resource_variable
from ebbflow.state.variable_scope import get_variable
from ebbflow.state.variables import Variable, VariableAggregation

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph


GLOBAL_STEP_READ_KEY = GraphKeys.GLOBAL_STEP_READ_KEY
"""The collection of the graph's one read of its step."""


def global_step(sess: SessionLike, global_step_tensor: AnyTensor) -> int:
    """Return the global step's value as a Python int."""
    if context.executing_eagerly():
        return int(global_step_tensor.numpy())
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Graph | None = None) -> Assigned:
    """Return the graph's global step, or None where there is none."""
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        logging.error("Multiple tensors in global_step collection.")
        return None
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


def create_global_step(graph: Graph | None = None) -> Assigned:
    """Make the graph's global step and return it; an error where it has one."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    if context.executing_eagerly():
        return _make()
    with graph.as_default(), name_scope(None):
        return _make()


def _make() -> Any:
    return get_variable(
        GraphKeys.GLOBAL_STEP,
        shape=[],
        dtype=dtypes.int64,
        initializer=Zeros(),
        trainable=False,
        aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
    )


def get_or_create_global_step(graph: Graph | None = None) -> Assigned:
    """Return the graph's global step, made where there is none.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default():
    ...     get_or_create_global_step().name, get_or_create_global_step() is get_or_create_global_step()
    ('global_step:0', True)
    """
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def assert_global_step(global_step_tensor: AnyTensor) -> None:
    """Raise unless this can be a global step: an integer scalar, in a variable or a tensor."""
    if not isinstance(global_step_tensor, (Variable, Tensor)):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype!r}')
    shape = global_step_tensor.get_shape()
    if shape.rank != 0 and shape.is_fully_defined():
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


def get_or_create_global_step_read(graph: Any = None) -> Any:
    """Return the graph's global step as a tensor: one read for the whole graph."""
    graph = graph or get_default_graph()
    kept = graph.get_collection(GLOBAL_STEP_READ_KEY)
    if len(kept) > 1:
        raise RuntimeError(f"There are multiple items in collection {kept}. There should be only one.")
    if kept:
        return kept[0]
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default(), name_scope_v1(None), name_scope_v1(step.op.name + "/"):
        value = (step.read_value() if is_resource_variable(step) else step.initialized_value()) + 0
    graph.add_to_collection(GLOBAL_STEP_READ_KEY, value)
    return value


def increment_global_step(increment: int, graph: Any = None) -> Any:
    """Return the operation that adds to the global step (`training_util._increment_global_step`)."""
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError("Global step tensor should be created by tf.train.get_or_create_global_step before calling "
                         "increment.")  # fmt: skip
    read = get_or_create_global_step_read(graph)
    with graph.as_default(), graph.name_scope(f"{step.op.name}/"), control_dependencies([read]):
        return step.assign_add(increment)
