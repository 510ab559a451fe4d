"""From a graph's nodes to a Flow, specialised on the shapes at hand.

`build` takes the nodes that are needed, in order, with what is fed and fetched. Reference variables are read by a node
of their own in front of every use, as their value is the one at that moment. Shapes are inferred anew from those of the
fed values, and small integer values (shapes, axes) are computed along the way, because the shapes of others depend on
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.compiler.decisions import Decisions, has_effects, truth_of
from ebbflow.compiler.flow import READ, Flow, Held, Node, Value
from ebbflow.compiler.partial_values import note_partly
from ebbflow.compiler.shapes_through import note_choice, note_lists, note_loop
from ebbflow.core import dtypes
from ebbflow.core.shape import Dims, is_static, merge_dims
from ebbflow.ops.state.variable_ops import handle_facts

SMALL = 4096
"""Values with at most this many elements are computed while shapes are inferred."""


def build(
    nodes: Sequence[Any],
    feeds: Sequence[Any],
    dims: Sequence[Dims],
    fetches: Sequence[Any],
    decisions: Decisions | None = None,
    like: Sequence[Value] = (),
) -> Flow:
    """Return the flow of graph nodes; `dims` are the shapes of the fed values, `fetches` tensors (or operations).

    With `decisions` loops are unrolled and choices made that follow from the values of one run. `like` are values that
    know more of what is fed: what it holds, and which numbers it is.
    """
    made: dict[int, Value] = {}
    inputs: list[Any] = []
    for tensor, shape in zip(feeds, dims, strict=True):
        value = made[id(tensor)] = Value(None, len(inputs), tensor.dtype, shape, tensor)
        inputs.append(value)
    for value, known in zip(inputs, like, strict=False):
        value.held, value.known = known.held, known.known
    flow = Flow(inputs, [], [])
    if decisions is not None:
        decisions.begin(inputs)
    for origin in nodes:
        _add(flow, origin, made, decisions)
    flow.outputs = [_fetched(flow, made[id(t)]) for t in fetches if hasattr(t, "_value_index")]
    taken = {v for node in flow.nodes for v in node.inputs}
    asked = {id(n) for n in _asked_for(fetches)}
    flow.roots = {
        n
        for n in flow.nodes
        if not taken.intersection(n.outputs)
        and (id(n.origin) in asked or n.op.facts.complains)
        and n.op.name != "Const"
    }
    return flow


def _asked_for(fetches: Sequence[Any]) -> list[Any]:
    """Return the operations that are fetched, and through groups of them those that are meant."""
    stack = [f for f in fetches if not hasattr(f, "_value_index")]
    found: list[Any] = []
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        found.append(node)
        if node.type == "NoOp":
            stack.extend(node._control_inputs)
    return found


def _add(flow: Flow, origin: Any, made: dict[int, Value], decisions: Decisions | None) -> None:
    op = origin._op
    if op.name == "NoOp":
        return
    taken = [made[id(t)] for t in origin._inputs]
    body = _body(origin, taken, decisions)
    if body is not None:
        results = _inline(flow, body, taken[len(taken) - len(body.inputs) :], decisions)
        _stand_for(origin, results, made)
        return
    if decisions is not None and op.facts.loop:
        turned = _unrolled(flow, origin, taken, decisions)
        if turned is not None:
            _stand_for(origin, turned, made)
            return
    if op.name == "Identity" and taken[0].dtype._is_ref_dtype:  # `v/read` is read where it is used
        fresh = made.setdefault(id(origin._outputs[0]), taken[0])
        if fresh is taken[0]:
            return
    node = Node(op, _dereferenced(flow, origin, taken), origin._attrs, origin)
    node.outputs = [Value(node, t._value_index, t.dtype, t._dims, t) for t in origin._outputs]
    infer(node)
    flow.nodes.append(node)
    _stand_for(origin, node.outputs if decisions is None else decisions.results(flow, node), made)


def _stand_for(origin: Any, results: Sequence[Value], made: dict[int, Value]) -> None:
    """Have values stand for what a graph's node gives; what is fed stays as fed."""
    for tensor, value in zip(origin._outputs, results, strict=True):
        made.setdefault(id(tensor), value)


def _body(origin: Any, taken: list[Value], decisions: Decisions | None) -> Any:
    """Return the function whose nodes take the place of this one: of a call, or of a choice that is made already."""
    kind, attrs = origin._op.name, origin._attrs
    if kind in ("PartitionedCall", "StatefulPartitionedCall"):
        return None if attrs["f"].is_spread() else attrs["f"]
    if kind in ("If", "StatelessIf"):
        holds = truth_of(taken[0].known) if decisions is None else decisions.decide(taken[0])
        return None if holds is None else attrs["then_branch" if holds else "else_branch"]
    return None


def _inline(flow: Flow, body: Any, given: list[Value], decisions: Decisions | None) -> list[Value]:
    """Put a function's nodes in the place of a node that calls it; return what it gives."""
    inside = {id(t): v for t, v in zip(body.inputs, given, strict=True)}
    for node in body._nodes:
        if id(node._outputs[0] if node._outputs else node) not in inside:
            _add(flow, node, inside, decisions)
    return [inside[id(result)] for result in body.outputs]


def _unrolled(flow: Flow, origin: Any, taken: list[Value], decisions: Decisions) -> list[Value] | None:
    """Put the turns of a loop in its place, one behind the other, and return what it gives.

    None, and nothing is changed, where a turn cannot be decided, there are too many, or the loop has effects.
    """
    test, body = (origin._attrs[name].with_first(len(taken), n) for name, n in (("cond", 1), ("body", len(taken))))
    if has_effects(test) or has_effects(body):
        return None
    nodes, before = len(flow.nodes), decisions.mark()
    values = _dereferenced(flow, origin, taken)
    turns = 0 if any(v.dtype._is_ref_dtype for v in values) else decisions.turns + 1
    for _ in range(turns):
        (condition,) = _inline(flow, test, values, decisions)
        holds = decisions.decide(condition)
        if holds is False:
            decisions.unrolled += 1
            return values
        if holds is None or len(flow.nodes) > decisions.nodes:
            break
        first = len(flow.nodes)
        values = _inline(flow, body, values, decisions)
        decisions.number_turn(flow.nodes[first:])
    del flow.nodes[nodes:]
    decisions.go_back(before)
    return None


def _dereferenced(flow: Flow, origin: Any, taken: list[Value]) -> list[Value]:
    """Return the inputs with references read where the op wants values."""
    if not any(v.dtype._is_ref_dtype for v in taken):
        return taken
    op = origin._op
    has_body = any("func" in attr.kind for attr in op.signature.attrs.values())
    found = []
    for value, tensor, arg in zip(taken, origin._inputs, op.signature.each_input(origin._attrs), strict=True):
        passed_on = arg.is_ref or (has_body and tensor.dtype._is_ref_dtype)
        if value.dtype._is_ref_dtype and not passed_on:
            value = _read(flow, value, tensor.op if tensor.op.type == "Identity" else origin)
        found.append(value)
    return found


def _read(flow: Flow, ref: Value, origin: Any) -> Value:
    dtype = ref.dtype.base_dtype
    node = Node(READ, [ref], {"T": dtype}, origin)
    value = Value(node, 0, dtype, ref.dims, ref.tensor)
    node.outputs = [value]
    flow.nodes.append(node)
    return value


def _fetched(flow: Flow, value: Value) -> Value:
    return _read(flow, value, value.op) if value.dtype._is_ref_dtype else value


def loop_function(
    attrs: dict[str, Any], name: str, given: Sequence[Value], entering: Sequence[tuple[Dims, Held]] | None = None
) -> Flow:
    """Return the flow of a loop's `cond` or `body` for what it is given, or for other shapes that enter a turn.

    Numbers that no turn changes are known inside.
    """
    body = attrs["body"].with_first(len(given), len(given))  # its gradient may give it more while this runs
    function = body if name == "body" else attrs[name].with_first(len(given), 1)
    like = [Value(None, i, v.dtype, v.dims) for i, v in enumerate(given)]
    for value, outer, before, after in zip(like, given, body.inputs, body.outputs, strict=True):
        value.held, value.known = outer.held, outer.known if before is after else None
    for value, (dims, held) in zip(like, entering or (), strict=False):
        value.dims, value.held = dims, held
    return function_like(function, like)


def function_like(function: Any, given: Sequence[Value]) -> Flow:
    """Return the flow of a function for values like those given."""
    return build(_needed(function), function.inputs, [v.dims for v in given], function.outputs, like=given)


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


# --- shapes and small values ------------------------------------------------------------------------------------------


def infer(node: Node) -> None:
    """Find the shapes of the outputs, and their values where they are small and decided by the inputs'."""
    for value, dims in zip(node.outputs, node.infer(), strict=True):
        try:
            value.dims = merge_dims(value.dims, dims)
        except ValueError:
            value.dims = dims
    note_lists(node)
    if node.op.facts.loop:
        note_loop(node, loop_function)
    if node.op.name in ("If", "StatelessIf"):
        note_choice(node, function_like)
    if node.op.name == "FusedBatchNormV3":
        node.outputs[5].dims = ()  # room for other devices' notes: nothing is in it here
    if node.op.name == "VariableShape":
        dims = handle_facts(node.inputs[0])[1]
        if is_static(dims):
            node.outputs[0].known = np.array(dims, node.outputs[0].dtype.np)
    if not node.stateful and node.outputs and (all(_small(v) for v in node.outputs) or node.op.facts.bounded):
        for value, array in zip(node.outputs, computed(node), strict=True):
            if array is not None:
                value.known, value.dims = array, array.shape
    note_partly(node)


def _small(value: Value) -> bool:
    return value.is_static and value.size <= SMALL and not value.dtype._is_ref_dtype


def computed(node: Node) -> Sequence[np.ndarray | None]:
    """Return the values of a stateless node's outputs, as far as its inputs' decide them."""
    outputs = node.outputs
    if node.op.name == "Const":
        return [np.asarray(node.attrs["value"])]
    from_dims = node.op.from_dims_fn
    if from_dims is not None and outputs[0].dtype.np.kind in "fiubc":
        pairs = zip(outputs, node.inputs, strict=True)
        results: Any = [None if of.dims is None else from_dims(of.dims, value.dtype.np) for value, of in pairs]
        return [None if result is None else np.array(result) for result in results]
    nothing = [None] * len(outputs)
    inputs = [v.known for v in node.inputs]
    if not node.inputs or any(v is None for v in inputs) or node.op.needs_run or node.op.kernel_fn is None:
        return nothing
    if any(v.dtype is dtypes.variant for v in outputs):  # a list is no constant: XLA has a form of its own for it
        return nothing
    try:
        with np.errstate(all="ignore"):
            results = node.op.run(node.grouped(inputs), node.attrs)
    except Exception:  # running it will say what is wrong
        return nothing
    flat = node.op.signature.flat_results(results)
    return [np.asarray(result, value.dtype.np) for value, result in zip(outputs, flat, strict=True)]
