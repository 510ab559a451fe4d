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

from ebbflow.compiler.flow import READ, Flow, Node, Value
from ebbflow.core import dtypes
from ebbflow.core.shape import Dims, is_static, merge_dims
from ebbflow.ops.state.variable_ops import handle_facts

SMALL = 4096
"""Values with at most this many elements are computed while shapes are inferred."""


def build(
    nodes: Sequence[Any], feeds: Sequence[Any], dims: Sequence[Dims], fetches: Sequence[Any], values: bool = True
) -> Flow:
    """Return the flow of graph nodes; `dims` are the shapes of the fed values, `fetches` tensors (or operations)."""
    made: dict[int, Value] = {}
    inputs: list[Any] = []
    for tensor, shape in zip(feeds, dims, strict=True):
        value = made[id(tensor)] = Value(None, len(inputs), tensor.dtype, shape, tensor)
        inputs.append(value)
    flow = Flow(inputs, [], [])
    for origin in nodes:
        _add(flow, origin, made)
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


def _add(flow: Flow, origin: Any, made: dict[int, Value]) -> None:
    op = origin._op
    if op.name == "NoOp":
        return
    taken = [made[id(t)] for t in origin._inputs]
    body = _body(origin, taken)
    if body is not None:
        _inline(flow, origin, body, taken[len(taken) - len(body.inputs) :], made)
        return
    if op.name == "Identity" and taken[0].dtype._is_ref_dtype:  # `v/read` is read where it is used
        fresh = made.setdefault(id(origin._outputs[0]), taken[0])
        if fresh is taken[0]:
            return
    node = Node(op, _dereferenced(flow, origin, taken), origin._attrs, origin)
    for tensor in origin._outputs:
        value = Value(node, tensor._value_index, tensor.dtype, tensor._dims, tensor)
        node.outputs.append(value)
        made.setdefault(id(tensor), value)  # what is fed stays as fed
    infer(node)
    flow.nodes.append(node)


def _body(origin: Any, taken: list[Value]) -> Any:
    """Return the function whose nodes take the place of this one: of a call, or of a choice that is made already."""
    kind, attrs = origin._op.name, origin._attrs
    if kind in ("PartitionedCall", "StatefulPartitionedCall"):
        return None if attrs["f"].is_spread() else attrs["f"]
    if kind in ("If", "StatelessIf") and taken[0].known is not None:
        known = taken[0].known
        return attrs["then_branch" if (known.size > 0 if known.ndim else bool(known)) else "else_branch"]
    return None


def _inline(flow: Flow, origin: Any, body: Any, given: list[Value], made: dict[int, Value]) -> None:
    """Put a function's nodes in the place of the node that calls it."""
    inside = {id(t): v for t, v in zip(body.inputs, given, strict=True)}
    for node in body._nodes:
        if id(node._outputs[0] if node._outputs else node) not in inside:
            _add(flow, node, inside)
    for tensor, result in zip(origin._outputs, body.outputs, strict=True):
        made.setdefault(id(tensor), inside[id(result)])


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


# --- shapes and small values ------------------------------------------------------------------------------------------


def infer(node: Node) -> None:
    """Find the shapes of the outputs, and their values where they are small and decided by the inputs'."""
    for value, dims in zip(node.outputs, node.infer(), strict=True):
        try:
            value.dims = merge_dims(value.dims, dims)
        except ValueError:
            value.dims = dims
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
