"""Loops that take the values of variables in their place, also where rows are looked up, or a choice reads them.

A loop that only reads variables is written anew, with functions that take values: `compiler/passes/reads.py` reads them
in front of it. Nodes are copied with the user's lines; a look-up of rows becomes one in the value, and a choice one
without effects, with branches written anew in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.shape import Dims, is_static
from ebbflow.functions.control_flow.branch_op import If, StatelessIf, branches_of
from ebbflow.functions.control_flow.loop_edits import copy_node
from ebbflow.functions.control_flow.while_op import StatelessWhile, While
from ebbflow.functions.func_graph import FuncGraph, build
from ebbflow.ops.declare import raw
from ebbflow.ops.state.variable_ops import ResourceGather, VariableShape, handle_facts

LARGEST = 1 << 24
"""Variables of more bytes stay where they are when rows of them are looked up: somebody may have to copy a value."""

Facts = dict[int, tuple[Any, Dims]]
"""By number of an argument: dtype and dims of the variable it is, where it is one that is read."""


def with_values(attrs: dict[str, Any]) -> tuple[list[tuple[int, Any]], Any, dict[str, Any]] | None:
    """Return the loop that takes values, as `Op.with_values` does; None where it does more than read variables."""
    attrs = as_it_was(attrs)
    facts = _read_by_loop(attrs)
    if not facts:
        return None
    taken = [(i, facts[i][0] if i in facts else None) for i in range(len(attrs["T"]))]
    return taken, StatelessWhile, _loop_of_values(attrs, facts)


def as_it_was(attrs: dict[str, Any]) -> dict[str, Any]:
    """Return a loop's attrs with functions of as many variables as these say: its gradient may give it more."""
    count = len(attrs["T"])
    test, body = attrs["cond"].with_first(count, 1), attrs["body"].with_first(count, count)
    return {**attrs, "cond": test, "body": body}


def _read_by_loop(attrs: dict[str, Any]) -> Facts | None:
    """Return which inputs of a loop are variables that it reads and hands on; None where it does more."""
    test, body = attrs["cond"], attrs["body"]
    found = [_read(test), _read(body)]
    if None in found:
        return None
    facts: Facts = {**found[0], **found[1]}  # type: ignore[dict-item]
    return None if any(body.outputs[i] is not body.inputs[i] for i in facts) else facts


def _loop_of_values(attrs: dict[str, Any], facts: Facts) -> dict[str, Any]:
    """Return the attrs of the loop that takes values where `facts` has the number of an input."""
    types = tuple(facts[i][0] if i in facts else t for i, t in enumerate(attrs["T"]))
    shapes = attrs["output_shapes"] or [t._dims for t in attrs["body"].inputs]
    dims = tuple(facts[i][1] if i in facts else d for i, d in enumerate(shapes))
    new = {name: _anew(attrs[name], facts) for name in ("cond", "body")}
    return {**attrs, **new, "T": types, "output_shapes": dims}


def _read(graph: FuncGraph) -> Facts | None:
    """Return which arguments of a function are variables that it reads; None where it does more to any state.

    What waits for a read need not, where all there is are reads.
    """
    numbers = {id(t): i for i, t in enumerate(graph.inputs)}
    facts: Facts = {}
    for node in graph._nodes:
        handles = [t for t in node._inputs if t.dtype.base_dtype is dtypes.resource]
        if not node._op.keeps_state and not handles:
            continue
        found = _read_by(node)
        if found is None or any(id(t) not in numbers for t, _ in found) or len(found) < len({id(t) for t in handles}):
            return None
        facts |= {numbers[id(tensor)]: fact for tensor, fact in found}
    return facts


def _read_by(node: Any) -> list[tuple[Any, tuple[Any, Dims]]] | None:
    """Return the handles of variables that a node reads, with dtypes and dims; None where it does anything else."""
    if node._op is If:
        parts = [_read(branch) for branch in branches_of(node)]
        if None in parts:
            return None
        return [(node._inputs[1 + i], fact) for part in parts for i, fact in part.items()]  # type: ignore[union-attr]
    if node._op is While:
        facts = _read_by_loop(node._attrs)
        return None if facts is None else [(node._inputs[i], fact) for i, fact in facts.items()]
    handle, value = node._inputs[0], node._outputs[0] if node._outputs else None
    if node._op.facts.reads == "whole":
        return [(handle, (value._dtype, value._dims))]  # type: ignore[union-attr]
    if node._op is not VariableShape and (node._op is not ResourceGather or node._attrs["batch_dims"]):
        return None
    dtype, dims = handle_facts(handle)
    if dtype is None or dims is None or not is_static(dims) or math.prod(n or 0 for n in dims) * dtype.size > LARGEST:
        return None
    return [(handle, (dtype, dims))]


def _anew(graph: FuncGraph, facts: Facts) -> FuncGraph:
    """Return a function that takes values where `facts` has the number of an argument."""
    given = enumerate(graph.inputs)
    arguments = [(*facts.get(i, (t.dtype.base_dtype, t._dims)), "argument") for i, t in given]
    return build(f"{graph.name}_of_values", lambda *values: copied(graph, values, _copy), None, arguments)


def copied(graph: FuncGraph, values: Any, copy: Callable[[Any, list[Any]], list[Any]]) -> list[Any]:
    """Return the results of a function whose nodes `copy` adds to the current graph, on other arguments."""
    made = dict(zip(map(id, graph.inputs), values, strict=True))
    for node in graph._nodes:
        if any(id(t) in made for t in node._outputs):  # an argument
            continue
        inputs = [made[id(t)] for t in node._inputs]
        results = copy(node, inputs)
        for result in results:
            result.op._line = node._line
        made.update(zip(map(id, node._outputs), results, strict=True))
    return [made[id(t)] for t in graph.outputs]


def _copy(node: Any, inputs: list[Any]) -> list[Any]:
    """Return the outputs of a node like another, on values."""
    if node._op.facts.reads == "whole":
        return [raw.Identity(inputs[0])]
    if node._op is ResourceGather:
        return [raw.GatherV2(inputs[0], inputs[1], 0)]
    if node._op is VariableShape:
        return [raw.Shape(inputs[0], out_type=node._attrs["out_type"])]
    if node._op is While:
        pairs = zip(node._inputs, inputs, strict=True)
        given = {i: (t.dtype.base_dtype, t._dims) for i, (was, t) in enumerate(pairs) if was.dtype != t.dtype}
        return list(StatelessWhile(inputs, **_loop_of_values(node._attrs, given)))
    if node._op is not If:
        return copy_node(node, inputs)
    facts = {i: (t.dtype.base_dtype, t._dims) for i, t in enumerate(inputs[1:])}
    branches = [_anew(branch, facts) for branch in branches_of(node)]
    attrs = {"Tout": node._attrs["Tout"], "output_shapes": node._attrs["output_shapes"]}
    return list(StatelessIf(inputs[0], inputs[1:], then_branch=branches[0], else_branch=branches[1], **attrs))
