"""Questions about loops and choices, and changes to them, that differentiation asks for.

What depends on what in a body; which loop variables never change; how often a loop ran. A loop can be given another
variable after the fact: a list to which each iteration pushes a tensor of the body, a count of the iterations. A choice
can be made to hand out a tensor of one of its branches. Knows the nodes with bodies; knows nothing of gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import Dims
from ebbflow.eager.backprop import differentiable
from ebbflow.functions.control_flow.branch_op import branches_of
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.graph.constants import adds_one, is_number, original
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.ops.declare import FLAT, raw

MAX_COPIED = 32
"""A computation on invariants alone is done outside the loop if it has at most this many nodes."""


# --- questions --------------------------------------------------------------------------------------------------------


def dependencies(body: FuncGraph, through_flat: bool = False) -> list[set[int]]:
    """Return for each result of a body the numbers of the arguments whose gradient it can have a part in.

    With `through_flat` also those it depends on only by ops that let no gradient through.
    """
    felt: dict[int, int] = {id(t): 1 << i for i, t in enumerate(body.inputs)}  # a bit for each argument
    for node in body._nodes:
        if (node._op.gradient_fn is FLAT and not through_flat) or not node._inputs:
            continue
        bits = 0
        for tensor in node._inputs:
            if differentiable(tensor.dtype):
                bits |= felt.get(id(tensor), 0)
        if bits:
            for tensor in node._outputs:
                if differentiable(tensor.dtype):
                    felt[id(tensor)] = felt.get(id(tensor), 0) | bits
    found = [felt.get(id(t), 0) if differentiable(t.dtype) else 0 for t in body.outputs]
    return [{i for i in range(bits.bit_length()) if bits >> i & 1} for bits in found]


def invariants(body: FuncGraph) -> set[int]:
    """Return the numbers of the arguments that a body hands on unchanged."""
    return {i for i, (x, y) in enumerate(zip(body.inputs, body.outputs, strict=True)) if original(y) is x}


def iterations(node: Operation) -> Any:
    """Return how often the loop ran, as a tensor: its counter, which is added where it has none."""
    body = node._attrs["body"]
    if adds_one(body.inputs[0], body.outputs[0]) and is_number(node._inputs[0], 0):
        return node._outputs[0]
    counter = body.derived.counter
    if counter is None:
        zero = at_front(node.graph, lambda: node.graph.constant(np.array(0, np.int32), dtypes.int32))
        counter = body.derived.counter = add_variable(node, zero, lambda count: count + 1)
    return node._outputs[counter]


# --- changes ----------------------------------------------------------------------------------------------------------


def at_front(graph: Any, make: Callable[[], Any]) -> Any:
    """Return what `make` gives, its nodes (which take nothing from others) put before all others of the graph."""
    start = len(graph._nodes)
    with context.scope(graph), graph.control_dependencies(None), graph.name_scope(None):
        made = make()
    nodes = graph._nodes[start:]
    del graph._nodes[start:]
    lowest = graph._nodes[0]._id if graph._nodes else 0
    for node, number in zip(nodes, range(lowest - len(nodes), lowest), strict=True):
        node._id = number
    graph._nodes[:0] = nodes
    return made


def add_variable(node: Operation, first: Any, step: Callable[[Any], Any]) -> int:
    """Give a loop one more variable, `first` at the start and `step(it)` after each iteration; return its number."""
    test, body = node._attrs["cond"], node._attrs["body"]
    number, dtype, dims = len(node._inputs), first.dtype.base_dtype, first._dims
    inside = body.argument(dtype, dims, first.op.name)
    with context.scope(body.base), body.base.control_dependencies(None):
        body.outputs.append(step(inside))
    body.inputs.append(inside)
    test.inputs.append(test.argument(dtype, dims, first.op.name))
    node._inputs.append(first)
    first._consumers.append(node)
    attrs = node._attrs
    shapes = (*attrs["output_shapes"], dims) if attrs["output_shapes"] else ()
    node._attrs = {**attrs, "T": (*attrs["T"], dtype), "output_shapes": shapes}
    _add_output(node, dtype, dims)
    for graph in (test.base, body.base):
        graph._mutations += 1
    return number


def accumulated(node: Operation, tensor: Any) -> Any:
    """Return the list, as an output of the loop, of what a tensor of its body was in each iteration."""
    body = node._attrs["body"]
    lists = body.derived.accumulated
    if id(tensor) not in lists:
        limit, dims = _limit(node), shape_argument(kept_dims(tensor))
        empty = at_front(node.graph, lambda: raw.EmptyTensorList(dims, limit, element_dtype=tensor.dtype.base_dtype))
        number = add_variable(node, empty, lambda pushed: raw.TensorListPushBack(pushed, tensor))
        lists[id(tensor)] = tensor, number
    return node._outputs[lists[id(tensor)][1]]


def kept_dims(tensor: Any) -> Dims:
    """Return the shape that a tensor has when it is kept in a list: handles are single, whatever graphs say of them."""
    return () if tensor.dtype.base_dtype is dtypes.resource else tensor._dims


def shape_argument(dims: Dims) -> np.ndarray:
    """Return a shape as ops on lists take it."""
    return np.array(-1 if dims is None else [-1 if n is None else n for n in dims], np.int32)


def _limit(node: Operation) -> np.ndarray:
    """Return the number of iterations that a loop cannot exceed, or -1."""
    value = node._inputs[1].constant_value() if len(node._inputs) > 1 and 1 in invariants(node._attrs["body"]) else None
    known = value is not None and value.ndim == 0 and value.dtype.kind == "i" and 0 <= value < 2**31
    return np.array(value if known and _counts_first(node) else -1, np.int32)


def _counts_first(node: Operation) -> bool:
    body = node._attrs["body"]
    return adds_one(body.inputs[0], body.outputs[0]) and is_number(node._inputs[0], 0)


def exposed(node: Operation, number: int, tensor: Any) -> Any:
    """Return a tensor of a node's branch as an output of the node; other branches give an empty one in its place."""
    branches = branches_of(node)
    for i, output in enumerate(branches[number].outputs):
        if output is tensor:
            return node._outputs[i]
    dtype, dims = tensor.dtype.base_dtype, tensor._dims
    for i, body in enumerate(branches):
        with context.scope(body.base), body.base.control_dependencies(None):
            body.outputs.append(tensor if i == number else raw.FakeParam(dtype=dtype, shape=dims))
        body.base._mutations += 1
    attrs = node._attrs
    shapes = (*attrs["output_shapes"], dims) if attrs["output_shapes"] or not node._outputs else ()
    node._attrs = {**attrs, "Tout": (*attrs["Tout"], dtype), "output_shapes": shapes}
    return _add_output(node, dtype, dims)


def _add_output(node: Operation, dtype: Any, dims: Any) -> Any:
    """Add an output to a node, and have the tapes that watch its others watch it."""
    known = list(node._outputs)
    added = SymbolicTensor(node, len(known), dtype, dims)
    node._outputs.append(added)
    node.graph._mutations += 1
    for recorder in context.thread.recorders:
        recorder.watch_beside(known, added)
    return added


# --- taking things out of a loop --------------------------------------------------------------------------------------


def outside(node: Operation, tensor: Any, graph: Any) -> Any:
    """Return a tensor of `graph` that equals a tensor of the loop's body in every iteration, or None.

    That is so for invariants, and for what is computed from them and constants by stateless ops: those are copied.
    """
    body = node._attrs["body"]
    fixed = invariants(body)
    places = {id(x): node._inputs[i] for i, x in enumerate(body.inputs) if i in fixed}
    varying = {id(x) for i, x in enumerate(body.inputs) if i not in fixed}
    nodes = _ancestors(tensor, places, varying)
    if nodes is None:
        return None
    made = dict(places)
    with context.scope(graph), graph.control_dependencies(None):
        for origin in nodes:
            results = copy_node(origin, [made[id(t)] for t in origin._inputs])
            made.update(zip(map(id, origin._outputs), results, strict=True))
    return made[id(tensor)]


def _ancestors(tensor: Any, places: dict[int, Any], varying: set[int]) -> list[Operation] | None:
    """Return the nodes that lead from `places` to a tensor, in order; None where others do, or too many."""
    found: dict[int, Operation] = {}
    stack = [tensor]
    while stack:
        here = stack.pop()
        if id(here) in places or here.op._id in found:
            continue
        node = here.op
        if id(here) in varying or node._op.keeps_state or node.type == "Placeholder" or node._op.needs_run:
            return None
        found[node._id] = node
        if len(found) > MAX_COPIED:
            return None
        stack.extend(node._inputs)
    return [found[number] for number in sorted(found)]


def copy_node(origin: Operation, inputs: Sequence[Any]) -> list[Any]:
    """Add a node like `origin` to the current graph, with other inputs (flat); return its outputs, flat."""
    op = origin._op
    if op.name == "Const":
        return [convert(np.array(origin._attrs["value"]), origin._attrs["dtype"], name=origin.name.rpartition("/")[2])]
    grouped = op.signature.group_inputs(inputs, origin._attrs)
    attrs = {k: v for k, v in origin._attrs.items() if k not in op.signature.inferred and k != "_class"}
    result = op(*grouped, name=origin.name.rpartition("/")[2], **attrs)
    if isinstance(result, Operation):
        return []
    return list(op.signature.flat_results(result))
