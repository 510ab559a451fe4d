"""What is made inside a branch and used outside of it: in TF 1's graphs a branch is no world of its own.

Programs keep such tensors in lists or collections (losses, updates of moving averages, summaries) and use them after
the choice. They become outputs of the choice whose effects they share, or of a further choice that runs no more than
they need. Where another branch is taken they have no value, and a run that wants one fails; an operation that others
wait for has nothing to do then. Knows the nodes that choose; is asked by graphs when they meet a tensor of a branch.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.functions.control_flow.branch_gradient import BranchGradient
from ebbflow.functions.control_flow.branch_op import branches_of, choose_node
from ebbflow.functions.control_flow.loop_edits import exposed
from ebbflow.functions.func_graph import FuncGraph, of_tf1
from ebbflow.functions.side_effects import keeping_state, must_run
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.declare import raw


def let_out(graph: Any, selector: Any, bodies: Sequence[FuncGraph], outputs: Sequence[Any], by_index: bool) -> None:
    """Have what is made in the bodies of a choice of TF 1, which gives `outputs`, be usable outside of it."""
    if not of_tf1(graph) or not outputs:
        return
    choice = _Choice(graph, selector, bodies, list(dict.fromkeys(t.op for t in outputs)), by_index)
    for number, body in enumerate(bodies):
        body.brought_out = functools.partial(choice.bring_out, number)


class _Choice:
    """A choice, and what has been brought out of it."""

    def __init__(self, graph: Any, selector: Any, bodies: Sequence[FuncGraph], nodes: list[Operation], by_index: bool):
        self._graph, self._selector, self._bodies = graph, selector, bodies
        self._nodes, self._by_index = nodes, by_index
        self._outside: dict[
            tuple[int, bool], tuple[Any, Any]
        ] = {}  # what it was made for is kept, so that no other has its id

    def bring_out(self, number: int, item: Any, taker: Any) -> Any:
        """Return for a tensor, or an operation, of a body one of the graph around the choice.

        What the gradient of a branch takes, the other branches need not have: it runs with that branch alone.
        """
        key = id(item), _is_gradient(taker)
        if key not in self._outside:
            is_node = isinstance(item, Operation)
            tensor = self._flag(number, item) if is_node else self._plain(number, item)
            found = self._brought(number, tensor, is_node, key[1])
            self._outside[key] = item, found.op if is_node else found
        return self._outside[key][1]

    def _flag(self, number: int, node: Operation) -> Any:
        """Return a tensor of the body that is there when an operation is done."""
        body = self._bodies[number]
        with context.scope(body), body.control_dependencies([node]):
            return convert(True)

    def _plain(self, number: int, tensor: Any) -> Any:
        if not tensor.dtype._is_ref_dtype:
            return tensor
        with context.scope(self._bodies[number]):
            return raw.Identity(tensor)

    def _brought(self, number: int, tensor: Any, is_node: bool, quiet: bool) -> Any:
        state = keeping_state(tensor)
        for node in self._nodes:
            if state & _effects(branches_of(node)[number]):  # must not be done twice
                return exposed(node, number, tensor)
        self._keep_effects()
        parts = []
        for i, body in enumerate(self._bodies):
            part = body.with_outputs(
                [tensor if i == number else _nothing(body, tensor, is_node, quiet)], name=body.name
            )
            part.effects = [node for node in part._nodes if node in state] if i == number else []
            body._mutations += 1
            parts.append(part)
        graph = self._graph
        with context.scope(graph), graph.control_dependencies(None), graph.name_scope(None):
            return choose_node(self._selector, parts, self._by_index)[0]

    def _keep_effects(self) -> None:
        """Have the choice itself do what it did before anything was added to its bodies."""
        for body in (body for node in self._nodes for body in branches_of(node)):
            if body.effects is None:
                body.effects = [node for node in body._nodes if must_run(node)]


def _effects(body: FuncGraph) -> set[Operation]:
    return {node for node in (body._nodes if body.effects is None else body.effects) if node._op.keeps_state}


def _is_gradient(graph: Any) -> bool:
    """Return whether a graph is, or lies in, the gradient of a branch."""
    while graph is not None and not isinstance(graph, BranchGradient):
        graph = getattr(graph, "_around", None)
    return graph is not None


def _nothing(body: FuncGraph, like: Any, is_node: bool, quiet: bool) -> Any:
    """Return what another branch gives in the place of a tensor: an error, unless nobody there can look at it."""
    with context.scope(body), body.control_dependencies(None):
        if is_node:
            return convert(False)
        if quiet:
            return raw.FakeParam(dtype=like.dtype.base_dtype, shape=like._dims)
        message = f"{like.name} does not have value: it is made in a branch that was not taken"
        with body.control_dependencies([raw.Assert(False, [convert(message)])]):
            return raw.FakeParam(dtype=like.dtype.base_dtype, shape=like._dims)
