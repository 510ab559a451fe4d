"""Initial values that depend on other variables: made safe to compute before those have a value.

Where a reference variable stands among what an initial value is computed from, its place is taken by the variable's
`initialized_value`, and the nodes in between are made again. Knows graphs and collections.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import nest
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.symbolic import Operation, SymbolicTensor

_VARIABLES = ("Variable", "VariableV2")


def guarded(name: str, value: Any) -> Any:
    """Return the initial value of the variable `name` in a form that needs no other variable to be initialised."""
    if type(value) is not SymbolicTensor:
        return value
    nodes = _behind(value.op)
    if not any(node.type in _VARIABLES for node in nodes):
        return value
    graph = value.graph
    replaced: dict[int, SymbolicTensor] = {}
    for node in nodes:
        if node.type in _VARIABLES:
            variable = _variable_of(graph, node)
            if variable is not None:
                replaced[id(node._outputs[0])] = variable.initialized_value()
        elif not node._op.facts.reads and any(id(t) in replaced for t in node._inputs):
            again = _made_again(
                node, [replaced.get(id(t), t) for t in node._inputs], f"{node.name}_{name}".replace(":", "_")
            )
            replaced.update(zip(map(id, node._outputs), again._outputs, strict=True))
    return replaced.get(id(value), value)


def _behind(node: Operation) -> list[Operation]:
    """Return the nodes a node is computed from, and itself, each after what it needs; none where there is a circle."""
    found: dict[int, Operation] = {}
    stack = [node]
    while stack:
        here = stack.pop()
        if here._id in found:
            continue
        found[here._id] = here
        if any(t.op._id >= here._id for t in here._inputs):
            return []
        stack.extend(t.op for t in here._inputs)
    return [found[number] for number in sorted(found)]


def _variable_of(graph: Any, node: Operation) -> Any:
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in graph.get_collection(key):
            if getattr(variable, "op", None) is node:
                return variable
    return None


def _made_again(node: Operation, inputs: list[Any], name: str) -> Operation:
    """Return a node like `node`, with other inputs."""
    signature = node._op.signature
    attrs = {
        key: value for key, value in node._attrs.items() if key in signature.attrs and key not in signature.inferred
    }
    with node.graph.name_scope(None):
        made = node._op(*signature.group_inputs(inputs, node._attrs), name=name, **attrs)
    return made if isinstance(made, Operation) else nest.flatten(made)[0].op
