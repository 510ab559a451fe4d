"""Order among nodes that do more than compute: reads and writes of variables, prints, assertions.

The executor runs stateful nodes in the order they were made, so nothing here is needed for running. A graph that is
written to a file is run by others, who know only edges: there each write waits for the reads and writes of the same
resource before it, each read for the last write, and what touches no resource for the one before it of its kind.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ebbflow.core import dtypes


def must_run(node: Any) -> bool:
    """Return whether a node has to run even if nobody takes its results."""
    facts = node._op.facts
    return node._op.keeps_state and not (facts.reads or facts.random or facts.variable)


def keeping_state(tensor: Any) -> set[Any]:
    """Return the nodes of a body that keep state and that a tensor needs."""
    graph, waiting = tensor.graph, [tensor.op]
    seen: set[Any] = set()
    while waiting:
        node = waiting.pop()
        if node not in seen and node.graph is graph:
            seen.add(node)
            waiting += [t.op for t in node._inputs]
            waiting += node._control_inputs
    return {node for node in seen if node._op.keeps_state}


def waited_for(body: Any) -> list[Any] | None:
    """Return which of the effects of a body of a session's graph its results wait for; None where it does them all."""
    if body.effects is None:
        return None
    waited = set().union(*(keeping_state(t) for t in body.outputs if t.graph is body.base))
    return [node for node in body.effects if node in waited]


def put_in_order(graph: Any, same: Mapping[int, int] = MappingProxyType({})) -> None:
    """Add the control edges that keep effects in the order they were written; note them as `control_outputs`.

    `same` says, by their ids, which handles are of the resource that another handle is of.
    """
    graph.control_outputs = ordered(graph._nodes, same, getattr(graph, "independent", ()))


def ordered(
    nodes: Sequence[Any], same: Mapping[int, int] = MappingProxyType({}), independent: Collection[Any] = ()
) -> list[Any]:
    """Add control edges among nodes, but for those that are `independent`; return which of the nodes are effects."""
    order = _Order(same, independent)
    return [node for node in nodes if order.add(node)]


def only_reads(node: Any, position: int) -> bool:
    """Return whether a node only reads the resource that it is given at a position, its bodies included."""
    if node._op.facts.reads:
        return True
    bodies = [body for value in node._attrs.values() for body in _bodies_in(value)]
    if not bodies:
        return False
    first = len(node._inputs) - min(len(body.inputs) for body in bodies)  # conditions come before what bodies take
    return position >= first and all(_only_read_in(body, position - first) for body in bodies)


def _bodies_in(value: Any) -> list[Any]:
    held = value if isinstance(value, (list, tuple)) else [value]
    return [body for body in held if hasattr(body, "internal_captures") and hasattr(body, "_nodes")]


def _only_read_in(body: Any, number: int) -> bool:
    given = body.inputs[number] if number < len(body.inputs) else None
    return all(
        only_reads(node, i) or node.type == "Identity"
        for node in body._nodes
        for i, tensor in enumerate(node._inputs)
        if tensor is given
    )


class Manager:
    """What a function's graph offers to what is traced in it (`graph.experimental_acd_manager`)."""

    def __init__(self, graph: Any):
        self._graph = graph

    def run_independently(self, op: Any) -> None:
        """Have an effect of the function wait for no other, and none for it."""
        self._graph.independent.add(op)


class _Order:
    """Who touched what last."""

    def __init__(self, same: Mapping[int, int], independent: Collection[Any] = ()) -> None:
        self._same, self._independent = same, independent
        self._writes: dict[Any, Any] = {}
        self._reads: dict[Any, list[Any]] = {}

    def add(self, node: Any) -> bool:
        """Have `node` wait for what came before it; return whether it is an effect at all."""
        op = node._op
        given = [(i, t) for i, t in enumerate(node._inputs) if t._dtype is dtypes.resource]
        resources: dict[int | None, bool] = {self._resource(t): only_reads(node, i) for i, t in given}
        if node.type == "Identity":  # another name of a resource: who uses that counts
            return False
        if not resources and (not op.stateful or op.facts.random or op.facts.variable):
            return False
        before: dict[Any, None] = {}
        if node in self._independent:
            return bool(op.keeps_state)
        for resource, reads in (resources or {None: bool(op.facts.reads)}).items():
            before.update(dict.fromkeys(self._before(node, resource, reads)))
        _wait(node, list(before))
        return bool(op.keeps_state)

    def _resource(self, handle: Any) -> int:
        """Return what tells a resource from others, whatever names its handle goes by."""
        while handle.op.type == "Identity" and id(handle) not in self._same:
            handle = handle.op._inputs[0]
        return self._same.get(id(handle), id(handle))

    def _before(self, node: Any, resource: Any, reads: bool) -> list[Any]:
        last = [self._writes[resource]] if resource in self._writes else []
        if reads:
            self._reads.setdefault(resource, []).append(node)
            return last
        last += self._reads.pop(resource, [])
        self._writes[resource] = node
        return last


def _wait(node: Any, before: Sequence[Any]) -> None:
    direct = {t.op for t in node._inputs}
    node._add_control_inputs([n for n in before if n not in direct and n is not node])
