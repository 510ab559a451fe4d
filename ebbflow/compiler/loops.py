"""What is known of a loop before it runs: its functions as flows, how often it turns, how long its lists become.

A loop whose counters start from known numbers is counted beforehand, by computing them alone. That also tells which
range an index stays in, and how many elements a list has that is pushed to in every turn: `sized` notes the shapes that
follow for those who put lists together again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.compiler.build import build
from ebbflow.compiler.flow import Flow, Node, Rewrite, Substitution, Value, is_loop
from ebbflow.compiler.passes.columns import take_columns
from ebbflow.compiler.passes.common import share_common
from ebbflow.compiler.passes.fold import fold_constants
from ebbflow.compiler.passes.prune import prune
from ebbflow.compiler.passes.simplify import simplify
from ebbflow.core import dtypes
from ebbflow.core.shape import Dims

MOST_TURNS = 4096
"""Loops are counted up to this many turns."""


class LoopFlows:
    """A loop as flows, and what counting it has told."""

    def __init__(self, node: Node, known: dict[Value, np.ndarray]):
        dims = [v.dims for v in node.inputs]
        self.test, tests = _with_inner(_flow(node.attrs["cond"], dims))
        self.body, steps = _with_inner(_flow(node.attrs["body"], dims))
        self.inner = tests | steps
        self.turns: int | None = None
        self.ends: dict[int, np.ndarray] = {}
        self.growth: dict[int, int] = {}  # by how many elements a list grows in a turn
        self.elements: dict[int, tuple[int, ...]] = {}  # shapes of what the lists among its variables hold
        self.ranges: dict[Value, tuple[int, int]] = {}
        start = {i: n for i, v in enumerate(node.inputs) if (n := known.get(v, v.known)) is not None and _is_count(v)}
        self._count(start)

    def _count(self, start: dict[int, np.ndarray]) -> None:
        counters = set(start)
        while True:
            steps = _Numbers(self.body, counters)
            kept = {i for i in counters if self.body.outputs[i] in steps.known}
            if kept == counters:
                break
            counters = kept
        tests = _Numbers(self.test, counters)
        if self.test.outputs[0] not in tests.known:
            return
        values = {i: start[i] for i in counters}
        seen: dict[int, list[int]] = {i: [] for i in counters}
        for turn in range(MOST_TURNS):
            if not tests.run(values)[0]:
                self.turns, self.ends = turn, values
                break
            for i, n in values.items():
                seen[i].append(int(n))
            after = steps.run(values)
            values = {i: after[i] for i in counters}
        for i, numbers in seen.items():
            if numbers and self.turns is not None:
                self.ranges[self.body.inputs[i]] = (min(numbers), max(numbers))


class _Numbers:
    """The nodes of a flow that follow from some of its arguments."""

    def __init__(self, flow: Flow, given: set[int]):
        self.flow = flow
        self.known: set[Value] = {flow.inputs[i] for i in given}
        self.nodes = []
        for node in flow.nodes:
            if node.op.name == "Const" and _is_count(node.outputs[0]):
                self.known.add(node.outputs[0])
                self.nodes.append(node)
            elif node.inputs and all(v in self.known for v in node.inputs) and all(map(_is_count, node.outputs)):
                self.known.update(node.outputs)
                self.nodes.append(node)

    def run(self, values: dict[int, np.ndarray]) -> list[Any]:
        """Return the flow's results, None for those that do not follow."""
        found: dict[Value, Any] = {self.flow.inputs[i]: n for i, n in values.items()}
        for node in self.nodes:
            if node.op.name == "Const":
                found[node.outputs[0]] = np.asarray(node.attrs["value"])
            else:
                result = node.op.run(node.grouped([found[v] for v in node.inputs]), node.attrs)
                found[node.outputs[0]] = np.asarray(result)
        return [found.get(v) for v in self.flow.outputs]


def _is_count(value: Value) -> bool:
    return value.is_static and value.size == 1 and value.dtype in (dtypes.int32, dtypes.int64, dtypes.bool)


def _flow(graph: Any, dims: Sequence[Any]) -> Flow:
    flow = build(_needed(graph), graph.inputs, dims, graph.outputs)
    return prune(share_common(take_columns(simplify(fold_constants(prune(flow))))))


def _needed(graph: Any) -> list[Any]:
    """Return the nodes that a function's results follow from, in order."""
    given = {id(t) for t in graph.inputs}
    found: set[Any] = set()
    stack = [t for t in graph.outputs if id(t) not in given]
    while stack:
        node = stack.pop()._op
        if node not in found:
            found.add(node)
            stack += [t for t in node._inputs if id(t) not in given]
    return [n for n in graph._nodes if n in found]


def sized(flow: Flow) -> tuple[Flow, dict[Node, LoopFlows]]:
    """Return the flow with the shapes of what is made of lists whose length is known, and its loops."""
    loops: dict[Node, LoopFlows] = {}
    if not any(is_loop(n) for n in flow.nodes):
        return flow, loops
    known: dict[Value, np.ndarray] = {}
    lists: dict[Value, Sized] = {}

    def visit(node: Node, rewrite: Rewrite) -> list[Value] | None:
        if is_loop(node):
            loop = loops[node] = LoopFlows(node, known)
            known.update({node.outputs[i]: n for i, n in loop.ends.items()})
            _through(node, loop, lists)
            return None
        _note_list(node, lists)
        shapes = _shapes(node, lists)
        return None if shapes is None else rewrite.add(_shaped(node, shapes)).outputs

    return Rewrite(flow).run(visit), loops


def with_loops(flow: Flow, loops: dict[Node, LoopFlows]) -> Flow:
    """Return the flow with loops that carry what is known of them, as the attr `_loop`."""
    substitution = Substitution()
    nodes = []
    for node in flow.nodes:
        if node in loops:
            noted = node.taking(node.inputs, {**node.attrs, "_loop": loops[node]})
            substitution.put(node.outputs, noted.outputs)
            node = noted
        nodes.append(node)
    return substitution.flow(flow, nodes)


def _with_inner(flow: Flow) -> tuple[Flow, dict[Node, LoopFlows]]:
    """Return a loop's function with its own loops noted, and these."""
    flow, loops = sized(flow)
    flow = with_loops(flow, loops)
    return flow, {n: n.attrs["_loop"] for n in flow.nodes if "_loop" in n.attrs}


class Sized(NamedTuple):
    """How many elements a list has, and of which shape, as far as that is known."""

    length: int
    element: tuple[int, ...] | None


def _note_list(node: Node, lists: dict[Value, Sized]) -> None:
    """Note how long the list is that a node gives."""
    name = node.op.name
    if name in ("EmptyTensorList", "TensorListReserve"):
        length = node.inputs[1].known if name == "TensorListReserve" else 0
        if length is not None:
            lists[node.outputs[0]] = Sized(int(length), _static(node.inputs[0].known))
    elif name == "TensorListFromTensor" and node.inputs[0].is_static and node.inputs[0].dims:
        count, *element = node.inputs[0].dims
        lists[node.outputs[0]] = Sized(count, tuple(element))  # type: ignore[arg-type]
    elif name in _GROWS and node.inputs[0] in lists:
        length, element = lists[node.inputs[0]]  # type: ignore[assignment]
        item = {"TensorListPushBack": 1, "TensorListSetItem": 2}.get(name)
        if element is None and item is not None and node.inputs[item].is_static:
            element = tuple(node.inputs[item].dims)
        lists[node.outputs[0]] = Sized(length + _GROWS[name], element)  # type: ignore[arg-type]


_GROWS = {"TensorListPushBack": 1, "TensorListPopBack": -1, "TensorListSetItem": 0}


def _static(shape: np.ndarray | None) -> tuple[int, ...] | None:
    return None if shape is None or shape.ndim != 1 or (shape < 0).any() else tuple(int(n) for n in shape)


def _through(node: Node, loop: LoopFlows, lists: dict[Value, Sized]) -> None:
    """Note how long lists are that came through a loop."""
    inside = {v: lists[w] for v, w in zip(loop.body.inputs, node.inputs, strict=True) if w in lists}
    for inner in loop.body.nodes:
        _note_list(inner, inside)
    for i, value in enumerate(loop.body.outputs):
        if value in inside and node.inputs[i] in lists:
            before, (after, element) = lists[node.inputs[i]], inside[value]
            if element is not None:
                loop.elements[i] = element
            loop.growth[i] = after - before.length
            if loop.turns is not None:
                lists[node.outputs[i]] = Sized(before.length + (after - before.length) * loop.turns, element)


def _shapes(node: Node, lists: dict[Value, Sized]) -> list[Dims] | None:
    """Return the shapes of what a node makes of a list's elements, put together."""
    if node.op.name not in ("TensorListStack", "TensorListConcatV2") or node.inputs[0] not in lists:
        return None
    count, element = lists[node.inputs[0]]
    if element is None:
        return None
    if node.op.name == "TensorListStack":
        return [(count, *element)]
    return [(count * element[0], *element[1:]), (count,)] if element else None


def _shaped(node: Node, shapes: Sequence[Dims]) -> Node:
    """Return the node with results of these shapes."""
    shaped = node.taking(node.inputs)
    for value, dims in zip(shaped.outputs, shapes, strict=True):
        value.dims = dims
    return shaped
