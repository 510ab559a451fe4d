"""Freezing: the variables of a session's graph, or of a traced function, made constants of their present values.

Finds which nodes hold variables and what they hold; `graph.freezing` rewrites the GraphDef.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.tensor import EagerTensor
from ebbflow.core.typing import Message, SessionLike
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def
from ebbflow.functions.wrap_function import WrappedFunction, wrap_function
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.freezing import HANDLE_OPS, REFERENCE_OPS, freeze
from ebbflow.graph.graph_util import extract_sub_graph
from ebbflow.ops.state.storage import Storage, held
from ebbflow.platform import logging
from ebbflow.runtime.session import get_default_session


def convert_variables_to_constants(
    sess: SessionLike,
    input_graph_def: Message,
    output_node_names: Iterable[str],
    variable_names_whitelist: Iterable[str] | None = None,
    variable_names_blacklist: Iterable[str] | None = None,
) -> Message:
    """Return the part of a GraphDef that some nodes need, with the session's values in place of variables."""
    needed = extract_sub_graph(input_graph_def, list(output_node_names))
    wanted = None if variable_names_whitelist is None else set(variable_names_whitelist)
    unwanted = set(variable_names_blacklist or ())
    names = [
        node.name
        for node in needed.node
        if node.op in REFERENCE_OPS | HANDLE_OPS
        and (wanted is None or node.name in wanted)
        and node.name not in unwanted
    ]
    found = sess.run([f"{name}:0" for name in names]) if names else []
    values = {name: np.asarray(v.read() if isinstance(v, Storage) else v) for name, v in zip(names, found, strict=True)}
    if names:
        logging.info("Froze %d variables.", len(names))
    frozen = freeze(needed, values)
    return extract_sub_graph(frozen, list(output_node_names))


def convert_variables_to_constants_from_session_graph(
    session: Any,
    graph_def: Any,
    output_node_names: Iterable[str],
    variable_names_allowlist: Iterable[str] | None = None,
    variable_names_denylist: Iterable[str] | None = None,
) -> Any:
    """Return the part of a GraphDef that some nodes need, with the session's values in place of variables."""
    return convert_variables_to_constants(
        session, graph_def, output_node_names, variable_names_allowlist, variable_names_denylist
    )


def frozen_graph_def(func: ConcreteFunction, value_of: Callable[[Any], Any] | None = None) -> Any:
    """Return the body of a function as a GraphDef without variables; arguments are its placeholders."""
    graph = func.graph
    definition = graph.as_graph_def()
    if graph.effects is not None:  # a part of a graph: the rest may change what becomes constant
        ends = [*(t.op for t in [*graph.inputs, *graph.outputs]), *graph.effects]
        definition = extract_sub_graph(definition, list(dict.fromkeys(node.name for node in ends)))
    values = {}
    for outside, inside in graph.captures:
        value = (value_of or _value_now)(outside)
        if value is not None:
            values[inside.op.name] = np.asarray(value)
    return freeze(definition, values)


def _value_now(tensor: Any) -> Any:
    """Return what a captured tensor, or the variable it names, holds where ops run at once; None for others."""
    if not isinstance(tensor, EagerTensor):
        return None
    if tensor.dtype is not dtypes.resource:
        return tensor.numpy()
    storage = held(tensor._array)
    return storage.read() if isinstance(storage, Storage) else None


VAR_ASSIGN_COLLECTION = "extra_var_assign_ops"
"""The collection of a graph with what is to run before its variables become constants."""


def convert_var_to_const_function_in_v1(
    func: ConcreteFunction, lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> ConcreteFunction:
    """Return a function of a graph whose variables are constants: what they hold in the default session.

    Those that hold nothing yet are initialised; then the operations of the collection `VAR_ASSIGN_COLLECTION` run.
    """
    session = get_default_session()
    if session is None:
        raise RuntimeError("The conversion must be carried out in a Session context.")
    variables = session.graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
    handles = {id(variable.handle): variable for variable in variables if hasattr(variable, "handle")}
    captured = [handles[id(outside)] for outside, _ in func.graph.captures if id(outside) in handles]
    ready = session.run([variable.is_initialized() for variable in captured]) if captured else []
    session.run([variable.initializer for variable, done in zip(captured, ready, strict=True) if not done])
    for assign in session.graph.get_collection(VAR_ASSIGN_COLLECTION):
        session.run(assign)

    def value_of(tensor: Any) -> Any:
        if isinstance(tensor, EagerTensor):
            return _value_now(tensor)
        if tensor.dtype is not dtypes.resource:
            return session.run(tensor)
        return session.run(handles[id(tensor)].read_value()) if id(tensor) in handles else None

    return _function_of(frozen_graph_def(func, value_of), func)


def convert_variables_to_constants_v2(
    func: ConcreteFunction, lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> ConcreteFunction:
    """Return a function that computes what `func` computes now, its variables being constants."""
    return _function_of(frozen_graph_def(func), func)


def convert_variables_to_constants_v2_as_graph(
    func: ConcreteFunction, lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> tuple[ConcreteFunction, Any]:
    """Return a function whose variables are constants, and its graph as a GraphDef."""
    definition = frozen_graph_def(func)
    return _function_of(definition, func), definition


def _function_of(definition: Any, func: ConcreteFunction) -> ConcreteFunction:
    """Return the function of a frozen GraphDef, with the arguments and the results of the one it was made from."""
    frozen = {node.name for node in definition.node if node.op == "Const"}
    inputs = [t.name for t in func.inputs if t.op.name not in frozen]
    outputs = [t.name for t in func.outputs]
    carried = {inside.name: outside for outside, inside in func.graph.captures if inside.name in inputs}
    wrapped: WrappedFunction = wrap_function(
        lambda: import_graph_def(definition, input_map=carried or None, name=""), []
    )
    feeds = [name for name in inputs if name not in carried]
    result = wrapped.prune(feeds, outputs)
    if isinstance(func.structured_outputs, dict):
        keys = sorted(func.structured_outputs)
        result = wrapped.prune(feeds, dict(zip(keys, outputs, strict=True)))
    return result
