"""Which way a graph goes for the values at hand: turns of loops and choices that follow from small integers it is fed.

A loop that goes on until every row of a batch has ended turns as often as the lengths say that are fed. `Decisions`
carries such values along while a flow is built: integers and booleans, computed from those that are fed by cheap nodes
without state. Where a condition follows from them it is decided, and the flow is that of this one way. It serves every
run that decides alike: `question` is the flow that computes the conditions alone, which is asked before each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Value
from ebbflow.compiler.known_lists import Lists

MOST_TURNS = 32
"""Loops of more turns are not unrolled."""

MOST_NODES = 6000
"""Nor is what makes a flow of more nodes."""

MOST_ELEMENTS = 4096
"""Larger arrays are not looked at."""


class Decisions:
    """What is known of one run while its flow is built, and which ways were taken because of it."""

    def __init__(self, fed: Sequence[Any]):
        self._fed = fed
        self._actual: dict[Value, np.ndarray] = {}
        self.made: dict[Value, bool] = {}  # conditions, in the order in which they were asked
        self._lists = Lists()
        self.turns, self.nodes = MOST_TURNS, MOST_NODES
        self.unrolled = 0  # loops
        self._turn = 0

    def begin(self, inputs: Sequence[Value]) -> None:
        """Take over what is fed."""
        for value, array in zip(inputs, self._fed, strict=True):
            if _is_small(value) and isinstance(array, np.ndarray):
                self._actual[value] = array

    def results(self, flow: Flow, node: Node) -> Sequence[Value]:
        """Return what stands for the results of the flow's last node, and note what is known of them in this run."""
        self._note(node)
        found = self._lists.results(node, lambda more: _added(flow, more))
        return node.outputs if found is None else found

    def _note(self, node: Node) -> None:
        actual = self._actual
        if node.stateful or not any(v in actual for v in node.inputs) or not all(map(_is_small, node.outputs)):
            return
        given = [v.known if v.known is not None else actual.get(v) for v in node.inputs]
        if any(a is None for a in given) or node.op.needs_run or node.op.kernel_fn is None:
            return
        try:
            results = node.op.signature.flat_results(node.op.run(node.grouped(given), node.attrs))
        except Exception:  # running it will say what is wrong
            return
        for value, result in zip(node.outputs, results, strict=True):
            actual[value] = np.asarray(result, value.dtype.np)

    def decide(self, condition: Value) -> bool | None:
        """Return whether a condition holds; None where that cannot be told."""
        if condition.known is not None or condition not in self._actual:
            return truth_of(condition.known)
        return self.made.setdefault(condition, bool(truth_of(self._actual[condition])))

    def mark(self) -> tuple[int, int]:
        """Return where it stands, for `go_back`."""
        return len(self.made), self.unrolled

    def go_back(self, mark: tuple[int, int]) -> None:
        """Forget what was decided since then."""
        self.made = dict(list(self.made.items())[: mark[0]])
        self.unrolled = mark[1]

    def number_turn(self, nodes: Sequence[Node]) -> None:
        """Tell the nodes of one turn from those of others; those of a loop inside have their number."""
        self._turn += 1
        for node in nodes:
            node.turn = node.turn or self._turn

    @property
    def answers(self) -> tuple[bool, ...]:
        """What was decided, in order."""
        return tuple(self.made.values())

    def question(self, flow: Flow) -> Flow:
        """Return the part of the flow that computes the conditions."""
        return Flow(flow.inputs, _stateless(flow), list(self.made))


def _stateless(flow: Flow) -> list[Node]:
    return [node for node in flow.nodes if not node.stateful]


def _is_small(value: Value) -> bool:
    kind = "" if value.dtype._is_ref_dtype else value.dtype.np.kind
    return kind in ("i", "u", "b") and value.is_static and value.size <= MOST_ELEMENTS


def _added(flow: Flow, node: Node) -> Node:
    flow.nodes.append(node)
    return node


def truth_of(condition: np.ndarray | None) -> bool | None:
    """Return whether a known condition holds: a number that is not zero, or an array that has elements."""
    if condition is None:
        return None
    return condition.size > 0 if condition.ndim else bool(condition)


def has_effects(body: Any) -> bool:
    """Return whether a function's nodes, or those of functions in it, do more to state than read variables or draw."""
    return any(map(_acts, body._nodes))


def _acts(node: Any) -> bool:
    if not node._op.keeps_state or node._op.facts.reads or node._op.facts.random:
        return False
    inner = [attr for attr in node._attrs.values() if hasattr(attr, "_nodes")]
    return not inner or any(map(has_effects, inner))
