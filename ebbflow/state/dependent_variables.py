"""Which variables a piece of a graph depends on: `custom_gradient.get_dependent_variables`."""

from __future__ import annotations

from typing import Any

from ebbflow.core import nest
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


def _differentiable(node: Any) -> bool:
    if "_gradient_op_type" in node._attrs:
        return True
    registry.complete(node.type)
    return node._op.gradient_fn is not FLAT
