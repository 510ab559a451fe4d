"""A function body called with all rows at once: node by node, each by its rule, or row by row where there is none.

Choices that differ from row to row are taken apart: each branch runs for its own rows, and the results are put
together again. A loop goes on as long as any row does; rows that are done stay as they are. What changes the world
(assignments, prints) cannot be done this way: `obstacle` says so, and the caller runs the whole function row by row.
Knows the rules and the nodes with bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.shape import TensorShape, is_static
from ebbflow.functions.control_flow.branch_op import branches_of
from ebbflow.functions.control_flow.case import switch_case
from ebbflow.functions.control_flow.loop_edits import copy_node
from ebbflow.functions.control_flow.loops import map_fn
from ebbflow.functions.control_flow.while_loop import while_loop
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.side_effects import must_run
from ebbflow.functions.vectorize import batches
from ebbflow.functions.vectorize.rules import RULES, NoRule, Rows, Stacked, lifted, rule
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.declare import raw

__all__ = ["batches", "obstacle", "run_body"]  # the rules for batches are entered when they are imported

_BODIES = ("f", "then_branch", "else_branch", "cond", "body")


def bodies_of(node: Operation) -> list[FuncGraph]:
    """Return the bodies that a node runs."""
    attrs = node._attrs
    return [*[attrs[k] for k in _BODIES if isinstance(attrs.get(k), FuncGraph)], *attrs.get("branches", ())]


def obstacle(body: FuncGraph) -> str | None:
    """Return what in a body cannot be done for all rows at once, not even an op at a time; None if all can."""
    for node in body._nodes:
        if node.type == "Placeholder":
            continue
        inside = bodies_of(node)
        for called in inside:
            found = obstacle(called)
            if found is not None:
                return found
        if not inside and must_run(node):
            return node.type
        if any(t.dtype.base_dtype is dtypes.variant for t in node._outputs):
            return f"{node.type}, which gives a list"
    return None


def run_body(body: FuncGraph, inputs: Sequence[Any], rows: Rows) -> list[Any]:
    """Return a body's results, stacked, for inputs of which some are."""
    values = {id(t): x for t, x in zip(body.inputs, inputs, strict=True)}
    needed = needed_for(body)
    for node in body._nodes:
        if node not in needed or node.type == "Placeholder":
            continue
        if node in rows.seen_by_all:
            if rows.parted:
                raise ValueError("pfor_config: a row asks for the values of all rows inside a choice or a loop")
            values[id(node._outputs[0])] = rows.stack(values[id(rows.seen_by_all[node])]).value
            continue
        given = [values[id(t)] for t in node._inputs]
        if any(isinstance(x, Stacked) for x in given) or _draws(node):
            outputs = _apply(node, given, rows)
        else:
            outputs = copy_node(node, given)
        values.update((id(t), value) for t, value in zip(node._outputs, outputs, strict=True))
    return [values[id(t)] for t in body.outputs]


def _draws(node: Operation) -> bool:
    """Return whether a node gives something else each time."""
    return node._op.stateful and not node._op.facts.reads and not bodies_of(node)


def needed_for(body: FuncGraph) -> set[Operation]:
    """Return the nodes that a body's results are made of."""
    found: set[Operation] = set()
    stack = [t.op for t in body.outputs]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(t.op for t in node._inputs)
    return found


def _apply(node: Operation, inputs: list[Any], rows: Rows) -> Sequence[Any]:
    try:
        if any(t._dims is None for t in node._inputs):
            raise NoRule(f"{node.type} of a tensor whose rank is unknown")
        name = "" if node.type not in RULES and node._op.facts.elementwise else node.type
        if name not in RULES:
            raise NoRule(node.type)
        return RULES[name](node, inputs, rows)
    except NoRule as reason:
        rows.looped(str(reason))
        return _row_by_row(node, inputs, rows)


def _row_by_row(node: Operation, inputs: list[Any], rows: Rows) -> list[Any]:
    """Return the outputs of a node for each row, one after the other."""
    varying = [i for i, x in enumerate(inputs) if isinstance(x, Stacked)]

    def once(taken: Any) -> Any:
        given = list(inputs)
        for i, x in zip(varying, taken, strict=False):
            given[i] = x
        return tuple(copy_node(node, given))

    elems = tuple(inputs[i].value for i in varying) or (rows.numbers(dtypes.int32, 0),)
    wanted = tuple(t.dtype.base_dtype for t in node._outputs)
    return [Stacked(t) for t in map_fn(once, elems, dtype=wanted)] if wanted else []


# --- calls ------------------------------------------------------------------------------------------------------------


@rule("PartitionedCall", "StatefulPartitionedCall")
def _call(node: Operation, inputs: list[Any], rows: Rows) -> list[Any]:
    return run_body(node._attrs["f"], inputs, rows)


# --- choices ----------------------------------------------------------------------------------------------------------


@rule("If", "StatelessIf", "Case", "StatelessCase")
def _choice(node: Operation, inputs: list[Any], rows: Rows) -> list[Any]:
    selector, *rest = inputs
    branches = branches_of(node)
    if node._inputs[0]._dims != ():
        raise NoRule(f"{node.type} by a tensor that is no scalar")
    if isinstance(selector, Stacked):
        return _by_rows(branches, _index(selector.value, len(branches)), rest, rows)

    def branch(body: FuncGraph) -> Any:
        return lambda: [rows.stack(x).value for x in run_body(body, rest, rows)]

    return [Stacked(t) for t in switch_case(_index(selector, len(branches)), [branch(b) for b in branches])]


def _index(selector: Any, count: int) -> Any:
    """Return the number of the branch that is chosen: a condition's first branch is taken if it holds."""
    if not selector.dtype.is_integer:
        return raw.Cast(raw.LogicalNot(raw.Cast(selector, DstT=dtypes.bool)), DstT=dtypes.int32)
    inside = raw.LogicalAnd(raw.GreaterEqual(selector, 0), raw.Less(selector, count))
    return raw.SelectV2(inside, selector, count - 1)  # the last branch serves as the default


def _by_rows(branches: Sequence[FuncGraph], index: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    """Return the results of each branch for the rows that choose it, put together."""

    def parted(x: Any) -> Any:  # unlike a gather, it has a dense gradient
        return raw.DynamicPartition(x, index, num_partitions=len(branches))

    places = parted(rows.numbers(dtypes.int32, 0))
    parts = [[Stacked(t) for t in parted(x.value)] if isinstance(x, Stacked) else [x] * len(branches) for x in inputs]
    results = []
    for number, body in enumerate(branches):
        count = int(places[number]._dims[0]) if context.executing_eagerly() else raw.Size(places[number])
        few = rows.of(count)
        results.append([few.stack(x).value for x in run_body(body, [each[number] for each in parts], few)])
    found = [raw.DynamicStitch(places, list(parts)) for parts in zip(*results, strict=True)]
    for tensor, output in zip(found, branches[0].outputs, strict=True):
        if not context.executing_eagerly() and output._dims is not None:
            tensor.set_shape([rows.count if isinstance(rows.count, int) else None, *output._dims])
    return [Stacked(t) for t in found]


# --- loops ------------------------------------------------------------------------------------------------------------


@rule("While", "StatelessWhile")
def _loop(node: Operation, inputs: list[Any], rows: Rows) -> list[Any]:
    test, body = node._attrs["cond"], node._attrs["body"]
    start = {i for i, x in enumerate(inputs) if isinstance(x, Stacked)}
    varying = _varying(body, start)
    by_rows = bool(_reached(test, varying)[0])
    if by_rows:  # which rows are done differs, so everything that changes does
        varying |= {i for i, (x, y) in enumerate(zip(body.inputs, body.outputs, strict=True)) if x is not y}
    for i in varying:
        if not is_static(body.inputs[i]._dims):
            raise NoRule(f"{node.type} with a variable whose shape is unknown")

    def wrapped(given: Sequence[Any]) -> list[Any]:
        return [Stacked(x) if i in varying else x for i, x in enumerate(given)]

    def going(*given: Any) -> Any:
        answer = run_body(test, wrapped(given), rows)[0]
        return raw.Any(answer.value, [0]) if isinstance(answer, Stacked) else answer

    def step(*given: Any) -> Any:
        old = wrapped(given)
        new = run_body(body, old, rows)
        on = rows.stack(run_body(test, old, rows)[0]).value if by_rows else None
        return [_kept(i, on, new[i], x, rows) if i in varying else new[i] for i, x in enumerate(given)]

    first = [rows.stack(x).value if i in varying else x for i, x in enumerate(inputs)]
    shapes = [TensorShape(_stacked_dims(t, i in varying, rows)) for i, t in enumerate(body.inputs)]
    return wrapped(while_loop(going, step, first, shape_invariants=shapes))


def _kept(number: int, on: Any, new: Any, old: Any, rows: Rows) -> Any:
    """Return the new values of the rows that go on, and the old ones of those that are done."""
    new = rows.stack(new).value
    return new if on is None else raw.SelectV2(lifted(on, len(old._dims) - 1), new, old)


def _stacked_dims(tensor: Any, varies: bool, rows: Rows) -> Any:
    if not varies:
        return tensor._dims
    return [rows.count if isinstance(rows.count, int) else None, *tensor._dims]


def _varying(body: FuncGraph, start: set[int]) -> set[int]:
    """Return the numbers of the loop variables that come to differ from row to row."""
    found = set(start)
    while True:
        more = {i for i, reached in enumerate(_reached(body, found)) if reached} | found
        if more == found:
            return found
        found = more


def _reached(body: FuncGraph, varying: set[int]) -> list[bool]:
    """Return for each result of a body whether it depends on certain arguments, or on chance."""
    reached = {id(t) for i, t in enumerate(body.inputs) if i in varying}
    for node in body._nodes:
        if any(id(t) in reached for t in node._inputs) or (node.type != "Placeholder" and _draws(node)):
            reached.update(id(t) for t in node._outputs)
    return [id(t) in reached for t in body.outputs]
