"""What does not depend on a graph's inputs, computed once: `fold_constants`.

The part that is folded runs in a session of its own; what is left takes constants in its place.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.core.registry import registry
from ebbflow.core.typing import Message
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def
from ebbflow.graph.graph import Graph
from ebbflow.graph.scope_names import node_name
from ebbflow.messages.tensors import make_tensor_proto
from ebbflow.ops.sizes import invalid
from ebbflow.runtime.session import Session
from ebbflow.tf1.graph_transforms.edits import PLACEHOLDERS, by_name, is_control, needed, with_nodes
from ebbflow.tf1.graph_transforms.request import Request

FLOW = frozenset(["Enter", "Exit", "Merge", "NextIteration", "Switch", "LoopCond", "ControlTrigger", "NoOp"])
"""Ops of loops and choices, whose values are there only while these run."""


def constant(name: str, value: np.ndarray | np.generic) -> Message:
    """Return a node that holds an array."""
    node = messages.NodeDef(name=name, op="Const")
    dtype = dtypes.as_dtype(value.dtype)
    node.attr["dtype"].type = dtype.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype, list(value.shape)))
    return node


def fold_constants(graph_def: Message, request: Request) -> Message:
    """Compute what depends on no input, and put constants in its place; nodes that nobody needs any more go."""
    nodes = by_name(graph_def)
    for name in request.inputs:
        op = nodes[name].op if name in nodes else PLACEHOLDERS[0]
        if op not in PLACEHOLDERS:
            raise invalid(f"Input '{name}' was expected to be a Placeholder or PlaceholderWithDefault op, but was {op}")
    try:
        return _folded(graph_def, request)
    except errors.OpError:
        if request.flag("ignore_errors"):
            return graph_def
        raise


def _folded(graph_def: Any, request: Request) -> Message:
    kept = needed(graph_def, request.outputs, request.inputs)
    nodes = by_name(kept)
    known = _known(nodes, frozenset(request.inputs))
    edges = {
        edge
        for node in kept.node
        if node.name not in known
        for edge in node.input
        if not is_control(edge) and node_name(edge) in known
    }
    taken = sorted(edge for edge in edges if nodes[node_name(edge)].op != "Const")
    ends = [name for name in request.outputs if name in known and nodes[name].op != "Const"]
    values = _computed(with_nodes(kept, (nodes[name] for name in nodes if name in known)), taken + ends)
    names = _free_names(taken, nodes)
    result = with_nodes(kept, (node for node in kept.node if node.name not in ends))
    for node in result.node:
        if node.name not in known:
            node.input[:] = [names.get(edge, edge) for edge in node.input]
    for edge, value in zip([*taken, *ends], values):
        result.node.add().CopyFrom(constant(names.get(edge, edge), np.asarray(value)))
    if request.flag("clear_output_shapes", True):
        for node in result.node:
            node.attr.pop("_output_shapes", None)
    return needed(result, request.outputs, request.inputs)


def _known(nodes: dict[str, Any], inputs: frozenset[str]) -> set[str]:
    """Return the names of the nodes whose values depend on no input and on nothing that changes."""
    unknown = {name for name, node in nodes.items() if name in inputs or not _computes_alike(node)}
    users: dict[str, list[str]] = {}
    for name, node in nodes.items():
        for edge in node.input:
            users.setdefault(node_name(edge), []).append(name)
    waiting = list(unknown)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in unknown:
                unknown.add(user)
                waiting.append(user)
    return set(nodes) - unknown


def _computes_alike(node: Any) -> bool:
    """Return whether a node gives the same each time, if what it takes is the same."""
    op = registry.find(node.op)
    return op is not None and not op.keeps_state and node.op not in FLOW


def _computed(graph_def: Message, edges: list[str]) -> list[Any]:
    if not edges:
        return []
    anywhere = with_nodes(graph_def, graph_def.node)
    for node in anywhere.node:
        node.ClearField("device")  # the machine that folds need not have those that will run the rest
    graph = Graph()
    with graph.as_default():
        import_graph_def(anywhere, name="")
        fetches = [graph.get_tensor_by_name(edge if ":" in edge else f"{edge}:0") for edge in edges]
        with Session(graph=graph) as session:
            return list(session.run(fetches))


def _free_names(edges: Iterable[str], nodes: dict[str, Any]) -> dict[str, str]:
    """Return names for the constants of edges, which no node has."""
    names: dict[str, str] = {}
    for number, edge in enumerate(edges):
        base = f"{node_name(edge)}/_{number}__cf__"
        names[edge] = next(name for i in itertools.count(number) if (name := f"{base}{i}") not in nodes)
    return names
