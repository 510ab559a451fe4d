"""The body of a function put into a graph node by node, with what it calls, so that each node can go to its own device.

A node that calls a function runs on one device; where a function reads variables of several tasks, its nodes have to
be in the graph themselves. Loops and choices stay nodes. Knows bodies and graphs; the caller says where nodes go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context
from ebbflow.core.shape import Dims, merge_dims
from ebbflow.functions import side_effects
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.graph.graph import Graph
from ebbflow.graph.graph_scopes import VALID_NAME
from ebbflow.graph.symbolic import Operation
from ebbflow.runtime.executor import needed_nodes

CALLS = ("PartitionedCall", "StatefulPartitionedCall")

Place = Callable[[Operation, list[Any]], tuple[list[Any], str]]
"""From a node of a body and its inputs in the graph: the inputs it is to have, and the device it asks for."""


def inline(graph: Graph, body: FuncGraph, arguments: Sequence[Any], place: Place) -> list[Any]:
    """Add what a body does to a graph, and return the tensors there that stand for its results."""
    with context.scope(graph), graph.name_scope(None):
        name = body.name if VALID_NAME.match(body.name) else "function"
        return _Inlining(graph, place).body(body, arguments, name)


class _Inlining:
    def __init__(self, graph: Graph, place: Place):
        self.graph, self.place = graph, place

    def body(self, body: FuncGraph, arguments: Sequence[Any], prefix: str) -> list[Any]:
        inside = {id(t): outside for t, outside in zip(body.inputs, arguments, strict=True)}
        effects = body.effects
        if effects is None:
            effects = [node for node in body._nodes if side_effects.must_run(node)]
        waited: dict[Operation, list[Operation]] = {}
        with body.changing:
            for node in needed_nodes([*body.outputs, *effects], set(inside)):
                if not (node._outputs and id(node._outputs[0]) in inside):
                    self._add(node, inside, waited, prefix)
        return [inside[id(t)] for t in body.outputs]

    def _add(self, node: Operation, inside: dict[int, Any], waited: dict[Operation, list[Any]], prefix: str) -> None:
        graph = self.graph
        inputs = [inside[id(t)] for t in node._inputs]
        name = f"{prefix}/{node.name}"
        first = len(graph._nodes)
        controls = [n for other in node._control_inputs for n in waited.get(other, ())]
        if node.type in CALLS:
            with graph.control_dependencies(controls):
                results = self.body(node._attrs["f"], inputs, name)
            waited[node] = [n for n in graph._nodes[first:] if side_effects.must_run(n)] or graph._nodes[first:][-1:]
        else:
            inputs, device = self.place(node, inputs)
            grouped = node._op.signature.group_inputs(inputs, node._attrs)
            attrs = {key: value for key, value in node._attrs.items() if key != "_class"}
            with graph.control_dependencies(controls):
                copy = graph._add(node._op, graph.unique_name(name), inputs, grouped, attrs)
            copy._line, copy._device = node._line, device
            for mine, theirs in zip(copy._outputs, node._outputs, strict=True):
                mine._dims = _narrowed(mine._dims, theirs._dims)
            results, waited[node] = copy._outputs, [copy]
        for tensor, result in zip(node._outputs, results, strict=True):
            inside[id(tensor)] = result


def _narrowed(dims: Dims, other: Dims) -> Dims:
    try:
        return merge_dims(dims, other)
    except ValueError:
        return dims
