"""Order among nodes that do more than compute: reads and writes of variables, prints, assertions.

The executor runs stateful nodes in the order they were made, so nothing here is needed for running. A graph that is
written to a file is run by others, who know only edges: there each write waits for the reads and writes of the same
resource before it, each read for the last write, and what touches no resource for the one before it of its kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    order = _Order(same)
    graph.control_outputs = [node for node in graph._nodes if order.add(node)]


class _Order:
    """Who touched what last."""

    def __init__(self, same: Mapping[int, int]) -> None:
        self._same = same
        self._writes: dict[Any, Any] = {}
        self._reads: dict[Any, list[Any]] = {}

    def add(self, node: Any) -> bool:
        """Have `node` wait for what came before it; return whether it is an effect at all."""
        op = node._op
        resources = [self._same.get(id(t), id(t)) for t in node._inputs if t._dtype is dtypes.resource]
        if not resources and (not op.stateful or op.facts.random or op.facts.variable):
            return False
        before: dict[Any, None] = {}
        for resource in dict.fromkeys(resources or [None]):  # type: ignore[list-item]
            before.update(dict.fromkeys(self._before(node, resource, bool(op.facts.reads))))
        _wait(node, list(before))
        return op.keeps_state

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
