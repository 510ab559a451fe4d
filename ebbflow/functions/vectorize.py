"""`vectorized_map` and `pfor`: a function of one row, done for all rows at once.

The function is traced for one row; then its nodes are called anew, each with all rows stacked along a new first axis
(`vectorize_rules` says how, op by op). What does not depend on the row is done once. Where an op has no rule, the loop
is run row by row. Nothing is compiled or kept: eagerly the stacked ops run at once and tapes see them, in a graph they
become nodes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.functions.func_graph import FuncGraph, build
from ebbflow.functions.loops import map_fn
from ebbflow.functions.rewriting import copy_node
from ebbflow.functions.vectorize_rules import RULES, NoRule, Rows, Rule, Stacked
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.declare import raw


def vectorized_map(fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """Return what `fn` gives for each row of `elems`, stacked, computed for all rows at once where that can be.

    >>> vectorized_map(lambda x: x * x + 1, convert([1, 2, 3])).numpy().tolist()
    [2, 5, 10]
    """
    tensors = nest.map_structure(convert, elems)
    flat = nest.flatten(tensors)
    if not flat:
        raise ValueError(f"elems must hold at least one tensor, got {elems}")
    for tensor in flat:
        if tensor._dims == ():
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    with name_scope(None, "vectorized_map"):
        longest = _longest(flat)
        count = longest._dims[0] if longest._dims and longest._dims[0] is not None else _length(longest)
        single = [t._dims is not None and t._dims[0] == 1 and count != 1 for t in flat]
        rows = [raw.Squeeze(t, squeeze_dims=[0]) if one else t for t, one in zip(flat, single, strict=True)]

        def row(*taken: Any) -> Any:
            given = iter(taken)
            return fn(
                nest.pack_sequence_as(tensors, [r if one else next(given) for r, one in zip(rows, single, strict=True)])
            )

        stacked = [t for t, one in zip(rows, single, strict=True) if not one]
        slow = (lambda: map_fn_over(row, stacked, count)) if fallback_to_while_loop else None
        return _for_all(row, stacked, count, slow, warn)


def _longest(flat: Sequence[Any]) -> Any:
    return next((t for t in flat if t._dims is None or t._dims[0] != 1), flat[0])


def _length(tensor: Any) -> Any:
    return raw.StridedSlice(raw.Shape(tensor), [0], [1], [1], shrink_axis_mask=1)


def pfor(
    loop_fn: Callable[..., Any],
    iters: Any,
    fallback_to_while_loop: bool = True,
    parallel_iterations: int | None = None,
    warn: bool = False,
) -> Any:
    """Return what `loop_fn(i)` gives for each i from 0 to `iters`, stacked, computed for all of them at once."""
    known = iters if isinstance(iters, int) else convert(iters).constant_value()
    count = int(known) if known is not None else convert(iters, dtypes.int32)
    with name_scope(None, "pfor"):
        numbers = raw.Range(0, count, 1)
        slow = (lambda: map_fn_over(loop_fn, [numbers], count)) if fallback_to_while_loop else None
        return _for_all(loop_fn, [numbers], count, slow, warn)


def for_loop(
    loop_fn: Callable[[Any], Any], loop_fn_dtypes: Any, iters: Any, parallel_iterations: int | None = None
) -> Any:
    """Return what `loop_fn(i)` gives for each i from 0 to `iters`, stacked, computed one after the other."""
    numbers = raw.Range(0, convert(iters, dtypes.int32), 1)
    return map_fn(loop_fn, numbers, dtype=loop_fn_dtypes)


def map_fn_over(row: Callable[..., Any], stacked: Sequence[Any], count: Any) -> Any:
    """Return the results of a function of rows, computed row by row."""
    body = _traced(row, stacked)
    structure = body.structured_outputs
    if not body.outputs:
        return structure
    wanted = nest.pack_sequence_as(
        structure,
        [None if r is None else convert_dtype(r) for r in nest.flatten(structure, expand_composites=True)],
        expand_composites=True,
    )
    return map_fn(lambda taken: row(*taken), tuple(stacked), dtype=wanted)


def convert_dtype(result: Any) -> dtypes.DType:
    """Return the dtype that a result of a traced function has as a tensor."""
    found = getattr(result, "dtype", None)
    return found.base_dtype if isinstance(found, dtypes.DType) else convert(result).dtype.base_dtype


def _traced(row: Callable[..., Any], stacked: Sequence[Any]) -> FuncGraph:
    arguments = [(t.dtype.base_dtype, None if t._dims is None else t._dims[1:], "row") for t in stacked]
    return build("vectorized_body", row, context.current_graph(), arguments)


def _for_all(row: Any, stacked: Sequence[Any], count: Any, slow: Callable[[], Any] | None, warn: bool) -> Any:
    body = _traced(row, stacked)
    try:
        _check(body, {id(t) for t in body.inputs} - {id(t) for t in body.internal_captures})
    except NoRule as missing:
        if slow is None:
            raise ValueError(f"No pfor vectorization defined for {missing}") from None
        if warn:
            warnings.warn(f"vectorized_map runs row by row: it has no rule for the op {missing}.", stacklevel=4)
        return slow()
    values: dict[int, Any] = {id(t): Stacked(value) for t, value in zip(body.inputs, stacked, strict=False)}
    values |= {id(inside): outside for outside, inside in body.captures}
    found = _run(body, values, Rows(count))
    results = iter(found)
    leaves = nest.flatten(body.structured_outputs, expand_composites=True)
    flat = [None if leaf is None else next(results) for leaf in leaves]
    return nest.pack_sequence_as(body.structured_outputs, flat, expand_composites=True)


def _dependent(body: FuncGraph, start: set[int]) -> list[tuple[Operation, bool]]:
    """Return the nodes of a body, and whether they depend on the row (or draw anew for each)."""
    found = []
    reached = set(start)
    for node in body._nodes:
        if node.type == "Placeholder":
            continue
        depends = any(id(t) in reached for t in node._inputs) or (node._op.stateful and node.type in RULES)
        if depends:
            reached.update(id(t) for t in node._outputs)
        found.append((node, depends))
    return found


def _check_called(node: Operation) -> None:
    body = node._attrs["f"]
    _check(body, {id(t) for t in body.inputs})


def _call(node: Operation, inputs: list[Any], rows: Rows) -> list[Any]:
    body = node._attrs["f"]
    return [Stacked(t) for t in _run(body, {id(t): x for t, x in zip(body.inputs, inputs, strict=True)}, rows)]


RULES["PartitionedCall"] = Rule(_call, _check_called)


def _check(body: FuncGraph, start: set[int]) -> None:
    """Raise where a node that depends on the row cannot be done for all rows at once."""
    for node, depends in _dependent(body, start):
        if not depends:
            if node._op.stateful and node.type != "ReadVariableOp":
                raise NoRule(node.type)
            continue
        if node.type not in RULES and not node._op.facts.get("elementwise"):
            raise NoRule(node.type)
        if any(t._dims is None for t in node._inputs):
            raise NoRule(f"{node.type} of a tensor whose rank is unknown")
        RULES.get(node.type, RULES[""]).check(node)


def _run(body: FuncGraph, values: dict[int, Any], rows: Rows) -> list[Any]:
    """Call a body's nodes with stacked values; return its results, stacked."""
    needed = _needed(body)
    for node in body._nodes:
        if node not in needed or node.type == "Placeholder":
            continue
        inputs = [values[id(t)] for t in node._inputs]
        if not any(isinstance(x, Stacked) for x in inputs) and not (node._op.stateful and node.type in RULES):
            outputs: Sequence[Any] = copy_node(node, inputs)
        else:
            outputs = RULES.get(node.type, RULES[""]).call(node, inputs, rows)
        values.update((id(t), value) for t, value in zip(node._outputs, outputs, strict=True))
    return [rows.stack(values[id(t)]).value for t in body.outputs]


def _needed(body: FuncGraph) -> set[Operation]:
    found: set[Operation] = set()
    stack = [t.op for t in body.outputs]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(t.op for t in node._inputs)
    return found
