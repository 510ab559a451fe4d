"""What is known of a loop before it runs: its functions as flows, how often it turns, how long its lists become.

A loop whose counters start from known numbers is counted beforehand, by computing them alone. That also tells which
range an index stays in, and how many elements a list has that is pushed to in every turn: `sized` notes the shapes that
follow for those who put lists together again.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.compiler.build import function_like, infer, loop_function
from ebbflow.compiler.flow import NOTHING, Flow, Held, Node, Rewrite, Substitution, Value, constant, is_loop, make
from ebbflow.compiler.growing_lists import as_pushes, may_grow, without_cuts
from ebbflow.compiler.passes.columns import take_columns
from ebbflow.compiler.passes.common import share_common
from ebbflow.compiler.passes.fold import fold_constants
from ebbflow.compiler.passes.prune import prune
from ebbflow.compiler.passes.simplify import simplify
from ebbflow.compiler.ranges import Range, both, carried, note_range, range_of, spread
from ebbflow.core import dtypes
from ebbflow.core.dtypes import DType
from ebbflow.core.op import op
from ebbflow.core.registry import registry
from ebbflow.core.shape import Dims

MOST_TURNS = 4096
"""Loops are counted up to this many turns."""


class LoopFlows:
    """A loop as flows, and what counting it has told."""

    def __init__(self, node: Node, known: dict[Value, np.ndarray], entering: Sequence[tuple[Dims, Held]] | None = None):
        self.test, self.body = (
            _with_inner(_settled(loop_function(node.attrs, name, node.inputs, entering))) for name in ("cond", "body")
        )
        self.turns: int | None = None
        self.ends: dict[int, np.ndarray] = {}
        self.growth: dict[int, int] = {}  # by how many elements a list grows in a turn
        self.elements: dict[int, tuple[int, ...]] = {}  # shapes of what the lists among its variables hold
        self.ranges: dict[Value, Range] = {}  # of numbers inside that follow from its counters
        self.starts: dict[Value, int] = {}  # such numbers in the first turn, where each further turn adds one
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
        ends = [v for v in _all_of(self.test.outputs[0]) if v in tests.known]
        if not ends:
            return
        values = {i: start[i] for i in counters}
        ranges: dict[Value, Range] = {}
        starts: dict[Value, int] = {}
        for turn in range(MOST_TURNS):
            found = tests.run(values)
            if not all(found[v] for v in ends):
                self.ranges = ranges  # of the most turns that there may be
                if self.test.outputs[0] in tests.known:
                    self.turns, self.ends, self.starts = turn, values, starts
                break
            after = steps.run(values)
            for value, number in after.items():
                now = int(number.item())
                ranges[value] = both(ranges.get(value, (now, now)), (now, now))  # type: ignore[assignment]
                if not turn:
                    starts[value] = now
                elif starts.get(value) != now - turn:
                    starts.pop(value, None)
            values = {i: after[self.body.outputs[i]] for i in counters}

    def ranges_within(self, node: Node, around: dict[Value, Range]) -> dict[Value, Range]:
        """Return the ranges of numbers inside, where some around the loop are known."""
        given = {i: around.get(v) or range_of(v.known) for i, v in enumerate(node.inputs)}
        return carried(self.body, {i: r for i, r in given.items() if r is not None}, self.ranges)


def _all_of(value: Value) -> list[Value]:
    """Return a condition and, where it is several that must hold, these."""
    node = value.node
    if node is None or node.op.name != "LogicalAnd":
        return [value]
    return [value, *[part for v in node.inputs for part in _all_of(v)]]


class ChoiceFlows:
    """What a loop chooses between in a turn, as flows."""

    adds = False
    """Whether lists that it gives are those that it takes, with something added to their elements: see `open_rows`."""

    def __init__(self, node: Node):
        graphs = (node.attrs["then_branch"], node.attrs["else_branch"])
        self.flows = [_with_inner(_settled(function_like(graph, node.inputs[1:]))) for graph in graphs]
        for flow in self.flows:
            del flow.outputs[len(node.outputs) :]  # a branch may have further ones, which nobody asked this node for

    def adding(self, flows: list[Flow]) -> ChoiceFlows:
        """Return the same choice between flows that add to lists."""
        made = copy.copy(self)
        made.flows, made.adds = flows, True
        return made

    def ranges_within(self, node: Node, around: dict[Value, Range]) -> dict[Value, Range]:
        """Return the ranges of numbers inside, where some around the choice are known."""
        found: dict[Value, Range] = {}
        for flow in self.flows:
            given = zip(flow.inputs, node.inputs[1:], strict=True)
            found |= spread(flow, {i: around[outer] for i, outer in given if outer in around})
        return found


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

    def run(self, values: dict[int, np.ndarray]) -> dict[Value, Any]:
        """Return the numbers that follow."""
        found: dict[Value, Any] = {self.flow.inputs[i]: n for i, n in values.items()}
        for node in self.nodes:
            if node.op.name == "Const":
                found[node.outputs[0]] = np.asarray(node.attrs["value"])
            else:
                result = node.op.run(node.grouped([found[v] for v in node.inputs]), node.attrs)
                found[node.outputs[0]] = np.asarray(result)
        return found


def _is_count(value: Value) -> bool:
    return value.is_static and value.size == 1 and value.dtype in (dtypes.int32, dtypes.int64, dtypes.bool)


def _settled(flow: Flow) -> Flow:
    """Return a loop's function as code is made of it."""
    return prune(share_common(take_columns(simplify(fold_constants(prune(_added_in_place(flow)))))))


ADD_ITEM = op(
    "_TensorListAddItem(input_handle:variant, index:int32, item:element_dtype) -> (output_handle:variant) | "
    "element_dtype: type",
    "lists",
    internal=True,
    shape=lambda input_handle, index, item: (),
)
"""Adds to one element of a list. It stands in a loop's function as code is made of it, and nowhere else."""


def _added_in_place(flow: Flow) -> Flow:
    """Return a loop's function with single elements added to a list in the place of whole lists.

        one = TensorListSetItem(zeros, i, x); sum = AddN(list, one)     =>     sum = _TensorListAddItem(list, i, x)

    That is what gradients of lists do that a loop reads from: each turn adds that of one element.
    """

    def visit(node: Node, rewrite: Rewrite) -> list[Value] | None:
        if node.op.name != "AddN" or len(node.inputs) != 2 or node.inputs[0].dtype is not dtypes.variant:
            return None
        for total, one in (node.inputs, node.inputs[::-1]):
            item = one.node
            if item is not None and item.op.name == "TensorListSetItem" and _is_zeros(item.inputs[0]):
                attrs = {"element_dtype": item.attrs["element_dtype"]}
                return rewrite.add(make(ADD_ITEM, [total, *item.inputs[1:]], attrs, node.origin)).outputs
        return None

    return Rewrite(flow).run(visit)


def _is_zeros(value: Value) -> bool:
    return value.node is not None and value.node.op.name == "ZerosLike"


def sized(flow: Flow) -> tuple[Flow, dict[Node, LoopFlows]]:
    """Return the flow with the shapes of what is made of lists whose length is known, and its loops."""
    loops: dict[Node, LoopFlows] = {}
    if not any(is_loop(n) for n in flow.nodes):
        return flow, loops
    known: dict[Value, np.ndarray] = {}
    lists: dict[Value, Sized] = {}
    taken = {v for n in flow.nodes for v in n.inputs} | set(flow.outputs)
    refined: set[Value] = set()  # what has other shapes than before

    def visit(node: Node, rewrite: Rewrite) -> list[Value] | None:
        if is_loop(node):
            loop = loops[node] = LoopFlows(node, known)
            lengths = {i: lists[v].length for i, v in enumerate(node.inputs) if v in lists}
            loop.body = as_pushes(loop.body, lengths, loop.starts) if loop.turns else loop.body
            loop.body = without_cuts(loop.body, {i for i, v in enumerate(rewrite.original.outputs) if v not in taken})
            known.update({node.outputs[i]: n for i, n in loop.ends.items()})
            _through(node, loop, lists)
            return None
        if node.op.name == "ZerosLike" and lists.get(node.inputs[0], _UNKNOWN).dtype is not None:
            node = _reserved(lists[node.inputs[0]], node.origin, rewrite)
            _note_list(node, lists)
            return node.outputs
        if node.op.name == "TensorListLength" and node.inputs[0] in lists:
            length = np.array(lists[node.inputs[0]].length, np.int32)
            return rewrite.add(constant(length, dtypes.int32, node.origin)).outputs
        _note_list(node, lists)
        shapes = _shapes(node, lists)
        if shapes is None and (refined.isdisjoint(node.inputs) or all(v.is_static for v in node.outputs)):
            return None
        shaped = _shaped(node, shapes) if shapes is not None else _inferred(node)
        refined.update(shaped.outputs)
        _note_list(shaped, lists)
        return rewrite.add(shaped).outputs

    return Rewrite(flow).run(visit), loops


def sizes_of_lists(flow: Flow) -> dict[Value, Sized]:
    """Return what is known of the lists of a flow whose loops carry what is known of them."""
    lists: dict[Value, Sized] = {}
    for node in flow.nodes:
        if "_loop" in node.attrs:
            _through(node, node.attrs["_loop"], lists)
        else:
            _note_list(node, lists)
    return lists


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


def _with_inner(flow: Flow) -> Flow:
    """Return a loop's function with its own loops and choices noted."""
    return _with_choices(with_loops(*sized(flow)))


def _with_choices(flow: Flow) -> Flow:
    """Return a loop's function with choices that carry their functions as flows, as the attr `_choice`."""

    def visit(node: Node, rewrite: Rewrite) -> list[Value] | None:
        if node.op.name != "StatelessIf" or node.inputs[0].dtype is not dtypes.bool:
            return None
        choice = ChoiceFlows(node)
        noted = node.taking(node.inputs, {**node.attrs, "_choice": choice})
        for value, *results in zip(noted.outputs, *[flow.outputs for flow in choice.flows], strict=False):
            if all(r.dims == results[0].dims for r in results):
                value.dims = results[0].dims
        return rewrite.add(noted).outputs

    return Rewrite(flow).run(visit)


class Sized(NamedTuple):
    """How many elements a list has, of which shape and dtype, and which numbers they are, as far as that is known."""

    length: int
    element: tuple[int, ...] | None
    dtype: DType | None = None
    range: Range | None = None


_UNKNOWN = Sized(0, None)


def _note_list(node: Node, lists: dict[Value, Sized], ranges: dict[Value, Range] | None = None) -> None:
    """Note how long the list is that a node gives; `ranges` are those of numbers that may be put into it."""
    name, dtype = node.op.name, node.attrs.get("element_dtype")
    if name in ("EmptyTensorList", "TensorListReserve"):
        length = node.inputs[1].known if name == "TensorListReserve" else 0
        if length is not None:
            lists[node.outputs[0]] = Sized(int(length), _static(node.inputs[0].known), dtype)
    elif name == "TensorListFromTensor" and node.inputs[0].is_static and node.inputs[0].dims:
        count, *dims = node.inputs[0].dims
        lists[node.outputs[0]] = Sized(count, tuple(dims), dtype)  # type: ignore[arg-type]
    elif name in GROWS and node.inputs[0] in lists:
        length, element, _, numbers = lists[node.inputs[0]]
        ranges = {} if ranges is None else ranges
        if may_grow(node):
            at = ranges.get(node.inputs[1]) or range_of(node.inputs[1].known)
            if at is None or at[1] >= length:
                return
        if name == "TensorListPopBack":
            if numbers is not None:
                ranges[node.outputs[1]] = numbers
        else:
            item = node.inputs[1 if name == "TensorListPushBack" else 2]
            if element is None and item.is_static:
                element = tuple(item.dims)  # type: ignore[arg-type]
            one = ranges.get(item)
            numbers = both(numbers if length else one, one) if name == "TensorListPushBack" else None
        lists[node.outputs[0]] = Sized(length + GROWS[name], element, dtype, numbers)


def _reserved(zeros: Sized, origin: Any, rewrite: Rewrite) -> Node:
    """Return the node that makes a list of zeros."""
    shape = np.array(-1 if zeros.element is None else zeros.element, np.int32)
    parts = [
        rewrite.add(constant(a, dtypes.int32, origin)).outputs[0] for a in (shape, np.array(zeros.length, np.int32))
    ]
    attrs = {"element_dtype": zeros.dtype, "shape_type": dtypes.int32}
    made = rewrite.add(make(registry["TensorListReserve"], parts, attrs, origin))
    made.outputs[0].held = NOTHING
    return made


GROWS = {"TensorListPushBack": 1, "TensorListPopBack": -1, "TensorListSetItem": 0, "_TensorListAddItem": 0}
"""By how much each op changes the length of a list."""


def _static(shape: np.ndarray | None) -> tuple[int, ...] | None:
    return None if shape is None or shape.ndim != 1 or (shape < 0).any() else tuple(int(n) for n in shape)


def _through(node: Node, loop: LoopFlows, lists: dict[Value, Sized]) -> None:
    """Note how long lists are that came through a loop, and which numbers it takes from them."""
    entering = {i: lists[v] for i, v in enumerate(node.inputs) if v in lists}
    within = loop.ranges_within(node, {})
    while True:
        inside, ranges = {loop.body.inputs[i]: known for i, known in entering.items()}, dict(within)
        for inner in loop.body.nodes:
            _note_list(inner, inside, ranges)
            note_range(inner, ranges)
        leaving = {i: inside[v] for i, v in enumerate(loop.body.outputs) if v in inside and i in entering}
        other = [i for i, known in entering.items() if known.range != leaving.get(i, known).range and known.length]
        if all(entering[i].range is None for i in other):
            break
        entering |= {
            i: entering[i]._replace(range=None) for i in other
        }  # a turn adds other numbers: take none for sure
    loop.ranges = ranges
    for i, after in leaving.items():
        before = entering[i]
        if after.element is not None:
            loop.elements[i] = after.element
        loop.growth[i] = after.length - before.length
        if loop.turns is not None:
            lists[node.outputs[i]] = after._replace(length=before.length + loop.growth[i] * loop.turns)


def _shapes(node: Node, lists: dict[Value, Sized]) -> list[Dims] | None:
    """Return the shapes of what a node makes of a list's elements, put together."""
    if node.op.name not in ("TensorListStack", "TensorListConcatV2") or node.inputs[0] not in lists:
        return None
    count, element = lists[node.inputs[0]][:2]
    if element is None:
        return None
    if node.op.name == "TensorListStack":
        return [(count, *element)]
    return [(count * element[0], *element[1:]), (count,)] if element else None


def _inferred(node: Node) -> Node:
    """Return the node with the shapes that follow from those of its inputs."""
    anew = node.taking(node.inputs)
    infer(anew)
    return anew


def _shaped(node: Node, shapes: Sequence[Dims]) -> Node:
    """Return the node with results of these shapes."""
    shaped = node.taking(node.inputs)
    for value, dims in zip(shaped.outputs, shapes, strict=True):
        value.dims = dims
    return shaped
