"""Compute on the whole what is asked of several of its parts.

A gate of an LSTM cell is a quarter of one small matrix, and three of the four go through a sigmoid. On small tensors a
call costs more than its arithmetic, so the function is applied once, before the split. A constant that is added to one
part moves up with it: the other parts get -0.0, which changes no number.
"""

from __future__ import annotations

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Substitution, Value, constant, make
from ebbflow.core import dtypes
from ebbflow.core.registry import registry

SMALL = 8192
"""Elements of a whole, at most: beyond, arithmetic that nobody asked for costs more than calls."""


def batch_siblings(flow: Flow) -> Flow:
    """Return the flow with functions of several parts of a split applied to the whole."""
    uses = flow.uses()
    fetched = set(flow.outputs)
    nodes: list[Node] = []
    instead: dict[Value, Value] = {}
    gone: set[Node] = set()
    for node in flow.nodes:
        if node in gone:
            continue
        nodes.append(node)
        if node.op.name == "Split" and _is_small(node):
            _batch(node, uses, fetched, nodes, instead, gone)
    return Substitution(instead).flow(flow, nodes) if instead else flow


def _is_small(node: Node) -> bool:
    whole = node.inputs[1]
    floats = whole.dtype in (dtypes.float32, dtypes.float64)
    return floats and node.inputs[0].known is not None and whole.is_static and 0 < whole.size <= SMALL


def _batch(split: Node, uses: dict, fetched: set[Value], nodes: list[Node], instead: dict, gone: set[Node]) -> None:
    whole, parts = split.inputs[1], list(split.outputs)
    added = {i: found for i, v in enumerate(parts) if (found := _added(v, uses, fetched)) is not None}
    after = {i: added[i][0].outputs[0] if i in added else v for i, v in enumerate(parts)}
    calls: dict[str, dict[int, list[Node]]] = {}
    for i, value in after.items():
        for user in uses.get(value, ()):
            if user.op.facts.activation:
                calls.setdefault(user.op.name, {}).setdefault(i, []).append(user)
    calls = {name: by_part for name, by_part in calls.items() if len(by_part) > 1}
    if not calls:
        return
    if any(i in by_part for by_part in calls.values() for i in added):
        whole = _moved_up(split, whole, added, nodes, instead, gone)
    for name, by_part in calls.items():
        origin = next(iter(by_part.values()))[0].origin
        function = make(registry[name], [whole], {"T": whole.dtype}, origin)
        again = make(split.op, [split.inputs[0], function.outputs[0]], split.attrs, origin)
        nodes += [function, again]
        for i, users in by_part.items():
            for user in users:
                instead[user.outputs[0]] = again.outputs[i]
                gone.add(user)


def _added(value: Value, uses: dict, fetched: set[Value]) -> tuple[Node, float] | None:
    """Return the node that adds a constant number to a part, if that is all that happens to it."""
    users = uses.get(value, [])
    if len(users) != 1 or value in fetched or users[0].op.name not in ("Add", "AddV2"):
        return None
    x, y = users[0].inputs
    number = y.known if x is value else x.known
    return None if number is None or number.ndim else (users[0], float(number))


def _moved_up(
    split: Node, whole: Value, added: dict[int, tuple[Node, float]], nodes: list[Node], instead: dict, gone: set[Node]
) -> Value:
    """Add the constants to the whole and split that; return it."""
    dims = split.outputs[0].dims or ()
    axis = int(split.inputs[0].known) % len(dims)  # type: ignore[arg-type]
    shape = [1] * (len(dims) - axis)
    shape[0] = len(split.outputs) * dims[axis]  # type: ignore[operator]
    row = np.full(shape, -0.0, whole.dtype.np)
    for i, (_, number) in added.items():
        row[i * dims[axis] : (i + 1) * dims[axis]] = number  # type: ignore[operator]
    origin = next(iter(added.values()))[0].origin
    numbers = constant(row, whole.dtype, origin)
    total = make(registry["AddV2"], [whole, numbers.outputs[0]], {"T": whole.dtype}, origin)
    again = make(split.op, [split.inputs[0], total.outputs[0]], split.attrs, origin)
    nodes += [numbers, total, again]
    for i, (node, _) in added.items():
        instead[node.outputs[0]] = again.outputs[i]
        gone.add(node)
    return total.outputs[0]
