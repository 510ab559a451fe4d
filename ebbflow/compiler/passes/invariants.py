"""Take out of lists what is the same in every turn of a loop.

A loop pushes onto lists what its gradient wants of each turn. A variable that it reads may be another in every turn,
until it is known to be read in front (`reads`): then all elements of that list are one array, and the loop that runs
backwards may take the array itself. Weights of recurrent networks would be copied once a turn otherwise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ebbflow.compiler.flow import Flow, Node, Substitution, Value, standing_for
from ebbflow.compiler.passes.narrow import narrow_bodies
from ebbflow.graph.constants import adds_one, is_number, original


def take_invariants(flow: Flow) -> Flow:
    """Return the flow with loops that take an array, not a list of it.

    l, w = StatelessWhile(l, w); … = StatelessWhile(l)     =>     w = StatelessWhile(w); … = StatelessWhile(w)
    """
    loops = [node for node in flow.nodes if node.op.facts.loop]
    if len(loops) < 2:
        return flow
    alike = {list: (loop, value) for loop in loops for list, value in _lists_of_one(loop).items()}
    used = {v for node in flow.nodes for v in node.inputs} | set(flow.outputs)
    popped = {loop: _pops(loop, alike, used) for loop in loops} if alike else {}
    if not any(popped.values()):
        return flow
    substitution, nodes = Substitution(), []
    for node in flow.nodes:
        pops, now = popped.get(node), substitution.node(node)
        if pops:
            values = substitution.values([pop.value for pop in pops.values()])
            loop = _given(now, {i: pop.item for i, pop in pops.items()}, dict(zip(pops, values, strict=True)))
            substitution.put(now.outputs, loop.outputs)
            substitution.renewed[now] = loop
            now = loop
        nodes.append(now)
    return narrow_bodies(substitution.flow(flow, nodes))


class _Pop(NamedTuple):
    """What a loop pops in every turn: the tensor in its body, and the value that it always is."""

    item: Any
    value: Value


def _lists_of_one(loop: Node) -> dict[Value, Value]:
    """Return the lists to which every turn of a loop pushes the same value, with that value."""
    body, found = loop.attrs["body"], {}
    fixed = {id(x): v for x, y, v in zip(body.inputs, body.outputs, loop.inputs, strict=False) if original(y) is x}
    for given, before, after, result in zip(loop.inputs, body.inputs, body.outputs, loop.outputs, strict=False):
        if after.op.type != "TensorListPushBack" or given.node is None or given.node.op.name != "EmptyTensorList":
            continue
        whole, item = after.op._inputs
        value = fixed.get(id(original(item)))
        if whole is before and value is not None:
            found[result] = value
    return found


def _pops(loop: Node, alike: dict[Value, tuple[Node, Value]], used: set[Value]) -> dict[int, _Pop]:
    """Return what a loop pops from lists of one value, by number of its input."""
    found: dict[int, _Pop] = {}
    for i, value in enumerate(loop.inputs):
        if value not in alike or loop.outputs[i] in used:
            continue
        pushing, same = alike[value]
        item = _only_popped(loop, i)
        if item is not None and item.dtype.base_dtype is same.dtype and _as_often(loop, pushing):
            found[i] = _Pop(item, same)
    return found


def _only_popped(loop: Node, number: int) -> Any:
    """Return what a loop pops from a list in every turn, if it does nothing else with it."""
    test, body = loop.attrs["cond"], loop.attrs["body"]
    list, rest = body.inputs[number], body.outputs[number]
    if rest.op.type != "TensorListPopBack" or rest.op._inputs[0] is not list:
        return None
    takes = [node for node in body._nodes if any(t is list or t is rest for t in node._inputs)]
    handed_on = [t for t in body.outputs if t is list or t is rest]
    tested = any(t is test.inputs[number] for node in test._nodes for t in node._inputs)
    return None if takes != [rest.op] or len(handed_on) > 1 or tested else rest.op._outputs[1]


def _as_often(loop: Node, other: Node) -> bool:
    """Return whether a loop turns as often as the other: it counts to what the other has counted."""
    test = loop.attrs["cond"]
    (more,) = test.outputs
    if more.op.type != "Less":
        return False
    numbers = {id(t): i for i, t in enumerate(test.inputs)}
    counter, limit = (numbers.get(id(original(t))) for t in more.op._inputs)
    if counter is None or limit is None or counter not in _counters(loop):
        return False
    body = loop.attrs["body"]
    handed_on = original(body.outputs[limit]) is body.inputs[limit]
    return handed_on and any(loop.inputs[limit] is other.outputs[i] for i in _counters(other))


def _counters(loop: Node) -> list[int]:
    """Return the numbers of the variables that count the turns of a loop from zero."""
    body = loop.attrs["body"]
    pairs = zip(loop.inputs, body.inputs, body.outputs, strict=False)
    return [i for i, (given, x, y) in enumerate(pairs) if is_number(given, 0) and adds_one(x, y)]


def _given(node: Node, items: dict[int, Any], values: dict[int, Value]) -> Node:
    """Return a loop that takes values in the place of lists: what it popped is what comes in."""
    count = len(node.inputs)
    test, body = node.attrs["cond"].with_first(count, 1), node.attrs["body"].with_first(count, count)
    functions = {
        "cond": test.with_outputs(test.outputs),
        "body": body.with_outputs([items.get(i, t) for i, t in enumerate(body.outputs)]),
    }
    for function in functions.values():
        function.inputs = [items.get(i, t) for i, t in enumerate(function.inputs)]
    inputs = [values.get(i, v) for i, v in enumerate(node.inputs)]
    given = [values.get(i, v) for i, v in enumerate(node.outputs)]
    types, dims = tuple(v.dtype for v in given), tuple(v.dims for v in given)
    attrs = {**node.attrs, **functions, "T": types, "output_shapes": dims}
    return standing_for(node.op, inputs, attrs, node.origin, given)
