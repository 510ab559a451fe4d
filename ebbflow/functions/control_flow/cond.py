"""`cond`: one of two functions, by a tensor's value.

Eagerly the chosen function is simply called. In a graph both become bodies of one node, which runs the chosen one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.functions.control_flow.branch_op import choose_node
from ebbflow.functions.control_flow.leaving import let_out
from ebbflow.functions.func_graph import FuncGraph, build, of_tf1, prunes
from ebbflow.functions.side_effects import keeping_state
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.ops.declare import raw


def cond(
    pred: TensorLike,
    true_fn: Callable[..., Any] | None = None,
    false_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Nested:
    """Return what `true_fn` gives where `pred` holds, else what `false_fn` gives.

    >>> float(cond(convert(2) < 3, lambda: convert(1.0), lambda: convert(0.0)))
    1.0
    """
    return cond_v1(pred, true_fn, false_fn, strict=True, name=name)


def cond_v1(
    pred: TensorLike,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Nested:
    """Return what `true_fn` (or `fn1`) gives where `pred` holds, else what `false_fn` (or `fn2`) gives.

    A list of one is given as its one, unless `strict`.
    """
    branches = [_one_of("true_fn", true_fn, "fn1", fn1), _one_of("false_fn", false_fn, "fn2", fn2)]
    if context.executing_eagerly():
        found = branches[0]() if bool(convert(pred)) else branches[1]()
    elif isinstance(pred, (bool, np.bool_)):
        raise TypeError("pred must not be a Python bool", pred)
    else:
        found = _add(context.current_graph(), pred, branches, name or "cond", strict)
    return found[0] if isinstance(found, (list, tuple)) and len(found) == 1 and not strict else found


def _one_of(name: str, given: Any, old_name: str, old: Any) -> Callable[[], Any]:
    if given is not None and old is not None:
        raise TypeError(f"cond(): '{name}' and '{old_name}' may not be set simultaneously.")
    found = old if given is None else given
    if found is None:
        raise TypeError(f"cond(): '{name}' argument required")
    if not callable(found):
        raise TypeError(f"'{name}' must be callable.")
    return found


def _add(graph: Any, pred: Any, branches: Sequence[Any], name: str, strict: bool) -> Any:
    with graph.name_scope(name) as scope:
        pred = convert(pred, name="pred")
        if pred._dims != ():
            pred = raw.Squeeze(pred)
        prefix = scope.replace("/", "_")
        bodies = [
            build(f"{prefix}{which}", fn, graph, control_flow=True)
            for which, fn in zip(("true", "false"), branches, strict=True)
        ]
        if of_tf1(graph):
            _check_there(bodies, strict)
        check_alike(bodies, ["true_fn", "false_fn"], "tf.cond")
        outputs = chosen(graph, pred, bodies, scope, by_index=False)
        let_out(graph, pred, bodies, outputs, by_index=False)
        outputs = handed_out(graph, outputs)
    return packed(bodies[0].structured_outputs, outputs)


def chosen(graph: Any, selector: Any, bodies: list[FuncGraph], scope: str, by_index: bool) -> list[Any]:
    """Return the outputs of a choice. In a session's graph each brings only the effects that it waits for.

    A run there does what its fetches need, inside branches too: outputs that share nothing with a state are choices of
    their own, and what no output waits for is never done.
    """
    count = len(bodies[0].outputs)
    if not count or not prunes(graph) or not any(body.stateful for body in bodies):
        return choose_node(selector, bodies, by_index=by_index, name=scope)
    needs = [set().union(*(keeping_state(body.outputs[i]) for body in bodies)) for i in range(count)]
    outputs: list[Any] = [None] * count
    for number, group in enumerate(_sharing(needs)):
        effects = set().union(*(needs[i] for i in group))
        parts = [body.with_outputs([body.outputs[i] for i in group], name=body.name) for body in bodies]
        for part in parts:
            part.effects = [node for node in part._nodes if node in effects]
        found = choose_node(selector, parts, by_index=by_index, name=None if number else scope)
        for i, tensor in zip(group, found, strict=True):
            outputs[i] = tensor
    return outputs


def _sharing(needs: Sequence[set[Operation]]) -> list[list[int]]:
    """Return which outputs must be computed together: those that have a node in common, and those that have none."""
    groups: list[tuple[set[Operation], list[int]]] = []
    for i, nodes in enumerate(needs):
        same = [g for g in groups if g[0] & nodes or not (g[0] or nodes)]
        rest = [g for g in groups if g not in same]
        groups = [*rest, (nodes.union(*(g[0] for g in same)), sorted([i, *(n for g in same for n in g[1])]))]
    return sorted(group for _, group in groups)


def _check_there(bodies: Sequence[FuncGraph], strict: bool) -> None:
    """Refuse branches that give nothing, as TF 1 does; a list of one is its one, unless `strict`."""
    for body, name in zip(bodies, ("true_fn", "false_fn"), strict=True):
        given = body.structured_outputs
        if given is None:
            raise ValueError(f"{name} must have a return value.")
        if not strict and isinstance(given, (list, tuple)) and len(given) == 1:
            body.structured_outputs = given[0]


def check_alike(bodies: Sequence[FuncGraph], names: Sequence[str], what: str) -> None:
    """Refuse branches whose results differ in structure or dtype; rows of tensors are made alike in their indices."""
    first, old = bodies[0], of_tf1(bodies[0]._around)
    if not old:
        _check_apart(bodies, names)
    _reconcile_rows(bodies, names, what, old)
    for body, name in zip(bodies[1:], names[1:], strict=True):
        kind = ValueError if old else TypeError
        try:
            nest.assert_same_structure(first.structured_outputs, body.structured_outputs, expand_composites=True)
            detail = _difference(first, body, names[0], name)
        except (ValueError, TypeError) as error:
            detail = str(error)
            kind = TypeError if isinstance(error, TypeError) and _counts(first) == _counts(body) else kind
        if detail:
            raise kind(
                f"{names[0]} and {name} arguments to {what} must have the same number, type, and overall structure of "
                f"return values.\n\n{names[0]} output: {first.structured_outputs}\n{name} output: "
                f"{body.structured_outputs}\n\nError details:\n{detail}"
            )


def _counts(body: FuncGraph) -> int:
    return len(nest.flatten(body.structured_outputs))


def _check_apart(bodies: Sequence[FuncGraph], names: Sequence[str]) -> None:
    """Refuse a branch that uses what another one makes."""
    owners: dict[Any, str] = dict(zip(bodies, names, strict=True))
    for body, name in owners.items():
        for tensor in body.external_captures:
            owner = owners.get(tensor.graph) if type(tensor) is SymbolicTensor else None
            if owner is not None:
                raise ValueError(f"Tensor {tensor.name} in {owner} is accessed from {name}.")


def _reconcile_rows(bodies: Sequence[FuncGraph], names: Sequence[str], what: str, old: bool) -> None:
    """Give rows of tensors (IndexedSlices) indices of one dtype in all branches."""
    columns = [nest.flatten(body.structured_outputs) for body in bodies]
    if len({len(column) for column in columns}) > 1:
        return
    place = 0
    for i, leaves in enumerate(zip(*columns, strict=True)):
        rows = [isinstance(leaf, IndexedSlices) for leaf in leaves]
        if any(rows) and not all(rows) and not old:
            kinds = ", ".join(f"{type(leaf).__name__} in {name}" for leaf, name in zip(leaves, names, strict=True))
            raise TypeError(f"Cannot reconcile {what} {i}-th outputs: {kinds}. Give IndexedSlices in all, or in none.")
        if all(rows) and len({body.outputs[place + 1].dtype for body in bodies}) > 1:
            for body, column in zip(bodies, columns, strict=True):
                with context.scope(body):
                    indices = body.outputs[place + 1] = raw.Cast(body.outputs[place + 1], DstT=dtypes.int64)
                column[i] = IndexedSlices(body.outputs[place], indices, column[i].dense_shape)
                body.structured_outputs = nest.pack_sequence_as(body.structured_outputs, column)
        place += sum(part is not None for part in nest.flatten(leaves[0], expand_composites=True))


def _difference(first: FuncGraph, other: FuncGraph, name: str, other_name: str) -> str:
    """Return how the results of two branches of one structure differ, or nothing."""
    leaves = [nest.flatten(b.structured_outputs, expand_composites=True) for b in (first, other)]
    for i, (a, b) in enumerate(zip(*leaves, strict=True)):
        if (a is None) != (b is None):
            return f"output {i} is {a} in {name} and {b} in {other_name}."
    for i, (x, y) in enumerate(zip(first.outputs, other.outputs, strict=True)):
        if x.dtype.base_dtype is not y.dtype.base_dtype:
            return (
                f"output {i} is {x.dtype.name} in {name} and {y.dtype.name} in {other_name}. Outputs of {name} and "
                f"{other_name} must have the same type: {x.dtype.name}, {y.dtype.name}"
            )
    return ""


def handed_out(graph: Any, outputs: list[Any]) -> list[Any]:
    """Return the outputs as they are in a function, under names of their own in a graph: `cond/Merge` in TF 1."""
    if graph.building_function:
        return outputs
    name = "Identity" if context.switches.control_flow_v2 else "Merge"
    return [raw.Identity(t, name=name) for t in outputs]


def packed(structure: Any, outputs: Sequence[Any]) -> Any:
    """Return outputs in the structure of a branch's result, in which None is None."""
    given = iter(outputs)
    leaves = nest.flatten(structure, expand_composites=True)
    flat = [None if leaf is None else next(given) for leaf in leaves]
    if len(leaves) == 1 and isinstance(structure, Operation):
        return flat[0]
    return nest.pack_sequence_as(structure, flat, expand_composites=True)
