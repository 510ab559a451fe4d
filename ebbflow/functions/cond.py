"""Choosing between two functions by a tensor's value: `cond`, and the ops `If` and `StatelessIf`.

Eagerly the chosen function is simply called. In a graph both become bodies of one node, which runs the chosen one.
Its gradient is a node of the same kind whose bodies are the gradients of the two; what they need from the forward
bodies is added to the forward node's outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context, nest
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.shape import Dims
from ebbflow.functions.func_graph import FuncGraph, build
from ebbflow.graph.gradients import gradients
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.ops.declare import FLAT, raw

_TEXT = (
    "{}(cond:Tcond, input:list(Tin)) -> (output:list(Tout)) | Tcond: type; Tin: list(type) >= 0; Tout: list(type) "
    ">= 0; "
    "then_branch: func; else_branch: func; output_shapes: list(shape) = []{}"
)
If = op(_TEXT.format("If", " | stateful"))
StatelessIf = op(_TEXT.format("StatelessIf", ""))
FakeParam = op(
    "FakeParam() -> (output:dtype) | dtype: type; shape: shape",
    shape=lambda *, shape: shape,
    kernel=lambda xp, *, dtype, shape: np.zeros([0 if n is None else n for n in shape or ()], dtype.np),
    gradient=FLAT,
)


def _shape(cond: Any, input: Any, *, output_shapes: Any) -> list[Dims]:
    return list(output_shapes)


def _kernel(xp: Any, cond: Any, input: Any, *, then_branch: Any, else_branch: Any, run: Any) -> Any:
    chosen = then_branch if truth(cond) else else_branch
    return chosen.run(run.session, input)


def truth(value: np.ndarray) -> bool:
    """Return whether a condition holds: a scalar by its value, anything else by having elements."""
    if value.ndim:
        return value.size > 0
    item = value.item()
    return bool(item)


for _op in (If, StatelessIf):
    _op.shape(_shape)
    _op.kernel(_kernel)


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any:
    """Return what `true_fn` gives where `pred` holds, else what `false_fn` gives."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("'true_fn' and 'false_fn' must be callable.")
    if context.executing_eagerly():
        return true_fn() if bool(pred) else false_fn()
    if isinstance(pred, (bool, np.bool_)):
        raise TypeError("pred must not be a Python bool")
    graph = context.current_graph()
    with graph.name_scope(name or "cond") as scope:
        pred = convert(pred, name="pred")
        bodies = [
            build(f"{scope.replace('/', '_')}{which}", fn, graph)
            for which, fn in (("true", true_fn), ("false", false_fn))
        ]
        _check_alike(*bodies)
        outputs = choose(pred, *bodies, name=scope)
    return nest.pack_sequence_as(bodies[0].structured_outputs, outputs, expand_composites=True)


def _check_alike(then_body: FuncGraph, else_body: FuncGraph) -> None:
    try:
        nest.assert_same_structure(then_body.structured_outputs, else_body.structured_outputs, expand_composites=True)
    except (ValueError, TypeError) as error:
        raise TypeError(
            f"true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of "
            f"return values. {error}"
        ) from None
    for i, (a, b) in enumerate(zip(then_body.outputs, else_body.outputs, strict=True)):
        if a.dtype is not b.dtype:
            raise TypeError(
                f"true_fn and false_fn arguments to tf.cond must have the same number, type, and overall "
                f"structure of return values: "
                f"output {i} is {a.dtype.name} in true_fn and {b.dtype.name} in false_fn."
            )


def choose(pred: Any, then_body: FuncGraph, else_body: FuncGraph, name: str | None = None) -> list[Any]:
    """Add the node that runs one of two bodies; return its outputs."""
    captured = _unite(then_body, else_body)
    stateful = any(n._op.stateful for body in (then_body, else_body) for n in body._nodes)
    return (raw.If if stateful else raw.StatelessIf)(
        pred,
        captured,
        Tout=[t.dtype.base_dtype for t in then_body.outputs],
        then_branch=then_body,
        else_branch=else_body,
        output_shapes=[_either(a._dims, b._dims) for a, b in zip(then_body.outputs, else_body.outputs, strict=True)],
        name=name,
    )


def _unite(*bodies: FuncGraph) -> list[Any]:
    """Give the bodies one list of arguments: all that any of them captures."""
    captured = list({id(t): t for body in bodies for t in body.external_captures}.values())
    for body in bodies:
        body.inputs = [body.capture(t) for t in captured]
    return captured


def _either(a: Dims, b: Dims) -> Dims:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(m if m == n else None for m, n in zip(a, b, strict=True))


# --- gradient
# -----------------------------------------------------------------------------------------------------------


def _gradient(call: Any, *grads: Any) -> list[Any]:
    node = call.node
    bodies = [call.attrs["then_branch"], call.attrs["else_branch"]]
    inputs = node._inputs[1:]
    backward = [_backward(body, len(grads), grads, node) for body in bodies]
    wanted = [i for i in range(len(inputs)) if call.wants(i + 1) and any(found[i] is not None for _, found in backward)]
    if not wanted:
        return [None] * (len(inputs) + 1)
    for graph, found in backward:
        with context.scope(graph):
            graph.outputs = [_or_zeros(found[i], inputs[i], graph) for i in wanted]
    _resolve(node, bodies, [graph for graph, _ in backward])
    results = choose(node._inputs[0], backward[0][0], backward[1][0])
    by_input = dict(zip(wanted, results, strict=True))
    return [None, *[by_input.get(i) for i in range(len(inputs))]]


def _backward(body: FuncGraph, count: int, grads: Any, node: Any) -> tuple[FuncGraph, list[Any]]:
    """Return a graph that computes the gradients of a body for its arguments, and those gradients."""
    graph = FuncGraph(f"{body.name}_grad", node.graph)
    given = [
        (y, g)
        for y, g in zip(body.outputs[:count], grads, strict=True)
        if g is not None and (y.dtype.is_floating or y.dtype.is_complex)
    ]
    with context.scope(graph):
        ys, grad_ys = [y for y, _ in given], [graph.take(convert(g)) for _, g in given]
        found = gradients(ys, body.inputs, grad_ys=grad_ys) if ys else [None] * len(body.inputs)
        return graph, [None if g is None else graph.take(convert(g)) for g in found]


def _or_zeros(grad: Any, tensor: Any, graph: FuncGraph) -> Any:
    return grad if grad is not None else raw.ZerosLike(graph.take(tensor))


def _resolve(node: Any, bodies: list[FuncGraph], backward: list[FuncGraph]) -> None:
    """Replace what gradient bodies capture from forward bodies by outputs and inputs of the forward node."""
    for which, (body, graph) in enumerate(zip(bodies, backward, strict=True)):
        for key, (outside, inside) in list(graph._captures.items()):
            if not isinstance(outside, SymbolicTensor) or outside.graph is not body:
                continue
            del graph._captures[key]
            stand_in = _argument_of(node, body, outside)
            if stand_in is None:
                stand_in = _expose(node, bodies, which, outside)
            graph._captures[id(stand_in)] = (stand_in, inside)


def _argument_of(node: Any, body: FuncGraph, tensor: Any) -> Any:
    for i, argument in enumerate(body.inputs):
        if argument is tensor:
            return node._inputs[1 + i]
    return None


def _expose(node: Any, bodies: list[FuncGraph], which: int, tensor: Any) -> Any:
    """Make a tensor of one body an output of the node; the other body gives an empty one in its place."""
    for i, output in enumerate(bodies[which].outputs):
        if output is tensor:
            return node._outputs[i]
    for i, body in enumerate(bodies):
        if i == which:
            body.outputs.append(tensor)
            continue
        with context.scope(body):
            body.outputs.append(raw.FakeParam(dtype=tensor.dtype.base_dtype, shape=tensor._dims))
    output = SymbolicTensor(node, len(node._outputs), tensor.dtype.base_dtype, tensor._dims)
    node._outputs.append(output)
    attrs = node._attrs
    node._attrs = {
        **attrs,
        "Tout": (*attrs["Tout"], tensor.dtype.base_dtype),
        "output_shapes": (*attrs["output_shapes"], tensor._dims),
    }
    for body in bodies:
        body._plans.clear()
    node.graph._mutations += 1
    return output


If.gradient(_gradient)
StatelessIf.gradient(_gradient)
