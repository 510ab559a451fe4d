"""Which variables a piece of a graph depends on: `custom_gradient.get_dependent_variables`."""

from __future__ import annotations

from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.registry import registry
from ebbflow.graph.collections import GraphKeys
from ebbflow.ops.declare import FLAT


def get_dependent_variables(input_ops: Any, output_ops: Any) -> list[Any]:
    """Return the trainable variables that gradients of the outputs flow to, but not by way of the inputs."""
    outputs = nest.flatten(output_ops)
    if not outputs:
        return []
    graph = outputs[0].graph
    trained = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
    owners = {(v.handle if hasattr(v, "handle") else v).op: v for v in trained}
    inputs, found, seen = set(map(id, nest.flatten(input_ops))), [], set()
    waiting = [tensor for tensor in outputs if id(tensor) not in inputs]
    while waiting:
        node = waiting.pop(0).op
        if node in seen:
            continue
        seen.add(node)
        if node in owners:
            found.append(owners[node])
        elif _differentiable(node):
            waiting += [tensor for tensor in node.inputs if id(tensor) not in inputs]
    return found


def variable_by_name(name: str) -> Any:
    """Return the variable of the graph that an op of this name holds, or is named so; None where there is none."""
    found = []
    for variable in context.current_graph().get_collection(GraphKeys.GLOBAL_VARIABLES):
        node = getattr(getattr(variable, "handle", variable), "op", None)
        if name in (variable.op.name, getattr(node, "name", None)):
            found.append(variable)
    if len(found) > 1:
        raise ValueError(
            f"Unsuccessful at finding trainable variable {name}: found {len(found)} variables of that name"
        )
    return found[0] if found else None


def _differentiable(node: Any) -> bool:
    if "_gradient_op_type" in node._attrs:
        return True
    registry.complete(node.type)
    return node._op.gradient_fn is not FLAT
