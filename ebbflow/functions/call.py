"""Calling a body: now, or as a node of the graph being built; and the gradient of such a call, of any order.

Eagerly a call runs the body on the values. While a tape listens to one of the arguments, the body that runs is one that
also hands out what its gradient needs, and the call is recorded as a whole. In a graph a call is a node,
PartitionedCall (StatefulPartitionedCall where the body has effects). The gradient of a call is a call of the backward
function, so the gradient of a gradient is no special case. Knows bodies; knows nothing of Python functions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.elsewhere import as_array
from ebbflow.core.op import eager_run, op, record
from ebbflow.core.shape import Dims
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor, _new, ndarray
from ebbflow.eager.backprop import differentiable
from ebbflow.functions.backward import BackwardFunction, backward_of, differentiable_outputs, forward_of
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.ops.declare import raw

_TEXT = (
    "{}(args:list(Tin)) -> (output:list(Tout)) | Tin: list(type) >= 0; Tout: list(type) >= 0; f: func; "
    'config: string = ""; config_proto: string = ""; executor_type: string = ""{}'
)
PartitionedCall = op(_TEXT.format("PartitionedCall", ""))
StatefulPartitionedCall = op(_TEXT.format("StatefulPartitionedCall", " | stateful"), facts="distributed_communication")


def _shape(args: Any, *, f: Any, Tout: Any) -> list[Dims]:
    return [t._dims for t in f.outputs] if isinstance(f, FuncGraph) else [None] * len(Tout)


def _kernel(xp: Any, args: Any, *, f: Any, run: Any) -> list[Any]:
    return f.run(run.session, args)


for _op in (PartitionedCall, StatefulPartitionedCall):
    _op.shape(_shape)
    _op.kernel(_kernel)


# --- calling ----------------------------------------------------------------------------------------------------------


def call_body(body: FuncGraph, inputs: Sequence[Any], name: str | None = None) -> list[Any]:
    """Return the results of `body` for tensors that stand for all its inputs, captures included."""
    if context.graph_scopes:
        graph = context.current_graph()
        if graph is not None:
            return _call_in_graph(graph, body, inputs, name)
    if context.recorders and context.thread.recorders:
        return _call_recorded(body, inputs)
    return wrap(_dtypes(body), body.run(eager_run, [x._array for x in inputs]))


def wrap(dtypes: Sequence[Any], results: Sequence[Any]) -> list[EagerTensor]:
    """Return arrays as eager tensors of these dtypes."""
    tensors = []
    for dtype, array in zip(dtypes, results, strict=True):
        tensor = _new(EagerTensor)
        tensor._array = array if array.__class__ is ndarray else as_array(array, dtype.np)
        tensor._dtype = dtype
        tensors.append(tensor)
    return tensors


def _dtypes(body: FuncGraph) -> list[Any]:
    return [t._dtype.base_dtype for t in body.outputs]


def _call_in_graph(graph: Any, body: FuncGraph, inputs: Sequence[Any], name: str | None) -> list[Any]:
    inputs = [graph.take(x) for x in inputs]
    forward = body
    if context.recorders and context.thread.recorders:
        forward = _prepared(body, inputs)[0]
    kind = raw.StatefulPartitionedCall if body.stateful else raw.PartitionedCall
    with graph.control_dependencies(body.outer_controls) if body.outer_controls else contextlib.nullcontext():
        outputs = kind(inputs, Tout=[t.dtype.base_dtype for t in forward.outputs], f=forward, name=name)
    return [] if not body.outputs else list(outputs)[: len(body.outputs)]


def _call_recorded(body: FuncGraph, inputs: Sequence[Any]) -> list[EagerTensor]:
    forward, wanted = _prepared(body, inputs)
    outputs = wrap(_dtypes(forward), forward.run(eager_run, [x._array for x in inputs]))
    if True in wanted or context.thread.devices:
        record(PartitionedCall, inputs, outputs, {"f": forward, "_wanted": wanted, "_visible": len(body.outputs)})
    return outputs[: len(body.outputs)]


def _prepared(body: FuncGraph, inputs: Sequence[Any]) -> tuple[FuncGraph, tuple[bool, ...]]:
    """Return the body to run where recorders listen, and for which inputs they do."""
    recorders = context.thread.recorders
    watched = recorders[0].watches(inputs)
    for recorder in recorders[1:]:
        watched = [a or b for a, b in zip(watched, recorder.watches(inputs), strict=True)]
    if True not in watched:
        return body, ()
    differentiable_inputs = body.derived.differentiable_inputs
    if differentiable_inputs is None:
        differentiable_inputs = body.derived.differentiable_inputs = [differentiable(x.dtype) for x in body.inputs]
    wanted = tuple([w and d for w, d in zip(watched, differentiable_inputs, strict=True)])
    return forward_of(body, wanted, len(recorders) > 1 or recorders[0].asks_for_more), wanted


# --- gradient ---------------------------------------------------------------------------------------------------------


def _gradient(call: Any, *grads: Any) -> list[Any]:
    node = call.outputs[0].op if type(call.outputs[0]) is SymbolicTensor else None
    gradient = _gradient_now if node is None else _gradient_of_node
    return gradient(call, grads, node)


_gradient.takes_none = True  # type: ignore[attr-defined]
PartitionedCall.gradient(_gradient)
StatefulPartitionedCall.gradient(_gradient)


def _gradient_now(call: Any, grads: Sequence[Any], node: Any) -> list[Any]:
    """The gradient of a call that has run: all there is of the forward run is what it handed out."""
    body, wanted = call.attrs["f"], call.attrs["_wanted"]
    given = [i for i, g in enumerate(grads) if g is not None]
    backward = backward_of(body, given, wanted)
    if backward is None:
        return [None] * len(wanted)
    taken = _taken(body, backward, call.inputs, call.outputs)
    if taken is None:  # what was kept serves for all results together: those without a gradient have zeros
        count = call.attrs["_visible"] if all(i < call.attrs["_visible"] for i in given) else len(body.outputs)
        given = [i for i in differentiable_outputs(body) if i < count]
        backward = backward_of(body, given, wanted)
        taken = _taken(body, backward, call.inputs, call.outputs)  # type: ignore[arg-type]
    seeds = [_seed(grads[i], call.outputs[i]) for i in given]
    return backward.pack(call_body(backward.graph, [*seeds, *taken]))  # type: ignore[misc,union-attr]


def _gradient_of_node(call: Any, grads: Sequence[Any], node: Any) -> list[Any]:
    """The gradient of a call in a graph: the node can be made to hand out whatever is needed."""
    wanted = tuple([differentiable(x.dtype) and call.wants(i) for i, x in enumerate(call.inputs)])
    given = [i for i, g in enumerate(grads) if g is not None and differentiable(node._outputs[i].dtype)]
    backward = backward_of(node._attrs["f"], given, wanted)
    opaque = node._attrs["f"].base.called_by_name
    if backward is None:
        return _with_zeros(call, wanted, [None] * len(wanted)) if opaque else [None] * len(wanted)
    _hand_out(node, backward.needs)
    taken = _taken(node._attrs["f"], backward, node._inputs, node._outputs)
    seeds = [_seed(grads[i], node._outputs[i]) for i in given]
    found = backward.pack(call_body(backward.graph, [*seeds, *taken]))  # type: ignore[misc]
    return _with_zeros(call, wanted, found) if opaque else found


def _with_zeros(call: Any, wanted: Sequence[bool], found: list[Any]) -> list[Any]:
    """Return gradients with zeros for what a function of TF 1 does not use: nobody looks inside of it."""
    rows = zip(call.inputs, wanted, found, strict=True)
    return [raw.ZerosLike(x) if wants and grad is None else grad for x, wants, grad in rows]


def _seed(grad: Any, output: Any) -> Any:
    if grad is None:
        return raw.ZerosLike(output)
    return convert(grad) if isinstance(grad, IndexedSlices) else grad


def _taken(
    body: FuncGraph, backward: BackwardFunction, inputs: Sequence[Any], outputs: Sequence[Any]
) -> list[Any] | None:
    """Return what a backward function takes from a forward call, or None where the call did not hand it all out."""
    handed_over = body.derived.handed_over
    places = handed_over.get(id(backward))
    if places is None:
        there = {id(t): i for i, t in [*enumerate(body.outputs, len(body.inputs)), *enumerate(body.inputs)]}
        places = [there.get(id(t), -1) if backward.is_forward(t) else t for t in backward.taken]
        handed_over[id(backward)] = places
    if any(place.__class__ is int and place < 0 for place in places):
        return None
    tensors = [*inputs, *outputs]
    return [tensors[place] if place.__class__ is int else place for place in places]


def _hand_out(node: Any, needs: Sequence[Any]) -> None:
    """Have a node that calls a body give further tensors of it."""
    body = node._attrs["f"]
    there = {id(t) for t in [*body.inputs, *body.outputs]}
    missing = [t for t in needs if id(t) not in there]
    if not missing:
        return
    extended, key = body.derived.extended, tuple(map(id, missing))
    if key not in extended:
        extended[key] = body.with_outputs([*body.outputs, *missing], f"__forward_{body.base.name}")
    types = [t.dtype.base_dtype for t in missing]
    node._attrs = {**node._attrs, "f": extended[key], "Tout": (*node._attrs["Tout"], *types)}
    for tensor, dtype in zip(missing, types, strict=True):
        node._outputs.append(SymbolicTensor(node, len(node._outputs), dtype, tensor._dims))
    node.graph._mutations += 1
