"""Custom gradients in a SavedModel: written as functions beside the nodes they are for, and found again.

A node names its rule (`_gradient_op_type`), and the library says which function the rule is. Such a function takes the
gradients of the node's outputs, then what it uses of the body that the node stands in; the object graph says which
tensors those are. Names of rules mean something in one process only, so those of a file are made new when it is read.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.call import Call
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.eager.backprop import ask, local_rules
from ebbflow.eager.tape import stop_recording
from ebbflow.functions.backward import BackwardFunctionGraph
from ebbflow.functions.call import call_body
from ebbflow.functions.func_graph import FuncGraph, variable_of
from ebbflow.graph.graph_def import Library
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.io.structures import decode_proto, encode_structure

RULE = "_gradient_op_type"
OWN = "CustomGradient-"
"""What the names of rules begin with that `tf.custom_gradient` makes."""
_loads = itertools.count(1)


# --- writing ----------------------------------------------------------------------------------------------------------


class CapturedTensor(NamedTuple):
    """A tensor inside of a function that a gradient function uses: an object of the model."""

    name: str
    function: str


class TracedGradient(NamedTuple):
    """A rule as a function: what of its captures it takes, and which of the node's inputs have a gradient."""

    rule: str
    graph: FuncGraph
    captures: list[Any]  # tensors outside, or CapturedTensors
    given: list[bool]

    @property
    def name(self) -> str:
        return self.graph.function_name or self.graph.name


def traced_gradients(library: Library) -> list[TracedGradient]:
    """Return the custom gradients of all nodes in a library's bodies, and put their functions into the library."""
    traced: dict[str, TracedGradient] = {}
    for body in library.bodies:  # grows while it is walked: a gradient may have custom gradients inside
        for node in body._nodes:
            for value in node._attrs.values():
                for inner in value if isinstance(value, (list, tuple)) else (value,):
                    library.name_of(inner)
            name = node._attrs.get(RULE)
            if name is None or name in traced or name not in local_rules:
                continue
            traced[name] = _traced(name, body, node, library)
    return list(traced.values())


def _traced(name: str, body: FuncGraph, node: Any, library: Library) -> TracedGradient:
    graph = BackwardFunctionGraph("internal_grad_fn", None)
    graph.function_name = f"__inference_internal_grad_fn_{name.removeprefix(OWN)}"
    with body.reopened(), context.scope(graph), stop_recording():
        kinds = [_kind_of_gradient(tensor) for tensor in node.inputs]  # an identity: outputs are what inputs are
        grads = [graph.argument(*kind, f"result_grads_{i}") for i, kind in enumerate(kinds)]
        graph.inputs = list(grads)
        call = Call(node._op, node._inputs, node._outputs, node._attrs, node.line, node)
        found = ask(local_rules[name], call, grads)
        graph.outputs = [graph.take(convert(grad)) for grad in found if grad is not None]
    graph.structured_outputs = list(graph.outputs)
    library.name_of(graph)
    outside = {id(inside): outer for outer, inside in graph.captures}
    captures = [_outermost(outside[id(t)], body, library) for t in graph.inputs[len(grads) :]]
    return TracedGradient(name, graph, captures, [grad is not None for grad in found])


def _kind_of_gradient(tensor: Any) -> tuple[Any, Any]:
    """Return dtype and dims of a tensor's gradient; of a variable's handle it is one of the value."""
    if tensor.dtype is not dtypes.resource:
        return tensor.dtype.base_dtype, tensor._dims
    variable = variable_of(tensor)
    return (dtypes.float32, ()) if variable is None else (variable.dtype.base_dtype, tuple(variable.shape))


def _outermost(tensor: Any, body: FuncGraph, library: Library) -> Any:
    """Return the tensor that is captured in the end: what a body has captured itself is outside of it.

    `body` is the one that is called; it may be a variant, with further results, of the one its tensors know.
    """
    while type(tensor) is SymbolicTensor:
        inside = tensor.graph
        outer = next((outer for outer, inner in getattr(inside, "captures", ()) if inner is tensor), None)
        if outer is None:
            return CapturedTensor(tensor.name, library.name_of(body if inside is body.base else inside))
        tensor = outer
    return tensor


def fill_concrete(message: Any, traced: TracedGradient, numbers: Sequence[int]) -> None:
    """Describe a gradient function: the objects it captures have these numbers."""
    grads = traced.graph.inputs[: len(traced.graph.inputs) - len(traced.captures)]
    specs = [TensorSpec(t.shape, t.dtype.base_dtype, f"result_grads_{i}") for i, t in enumerate(grads)]
    message.bound_inputs.extend(numbers)
    message.canonicalized_input_signature.CopyFrom(encode_structure(((None, *specs), {})))
    results = iter(traced.graph.outputs)
    outputs = [_spec(next(results), i) if given else None for i, given in enumerate(traced.given)]
    message.output_signature.CopyFrom(encode_structure(outputs))


def _spec(tensor: Any, number: int) -> TensorSpec:
    return TensorSpec(tensor.shape, tensor.dtype.base_dtype, f"tensor_{number}")


# --- reading ----------------------------------------------------------------------------------------------------------


def renamed_rules(graph_def: Any) -> dict[str, str]:
    """Give the rules of a file's nodes names that no rule of this process has; return those that have functions.

    What comes back is by the new name the name of the function in the library.
    """
    mark = f"{next(_loads)}_"
    for node in (*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)):
        name = node.attr[RULE].s.decode("utf-8", "replace") if RULE in node.attr else ""
        if name.startswith(OWN):
            node.attr[RULE].s = f"{OWN}{mark}{name.removeprefix(OWN)}".encode()
    functions = {}
    for registered in graph_def.library.registered_gradients:
        if registered.registered_op_type.startswith(OWN):
            new = f"{OWN}{mark}{registered.registered_op_type.removeprefix(OWN)}"
            registered.registered_op_type = new
            functions[new] = registered.gradient_func
    return functions


def loaded_rule(
    name: str, body_of: Callable[[], FuncGraph], saved: Any, objects: Sequence[Any], captured: Callable[[int], Any]
) -> Callable[..., list[Any]]:
    """Return the rule of a gradient function; `captured` gives the tensor of an object that it takes."""
    outputs = decode_proto(saved.output_signature) if saved.HasField("output_signature") else None

    def rule(call: Any, *grads: Any) -> list[Any]:
        body = body_of()
        count = len(body.inputs) - len(saved.bound_inputs)
        if count != len(grads):
            raise errors.DataLossError(
                None, None, f"gradient function '{name}' takes {count} gradients, and '{call.name}' has {len(grads)}"
            )
        given = [_zeros(body.inputs[i]) if grad is None else grad for i, grad in enumerate(grads)]
        given += [_used(call, objects[n], name) if _is_inside(objects[n]) else captured(n) for n in saved.bound_inputs]
        results = iter(call_body(body, given))
        kept = [True] * len(body.outputs) if outputs is None else [spec is not None for spec in outputs]
        if sum(kept) != len(body.outputs) or len(kept) != len(call.inputs):
            raise errors.DataLossError(None, None, f"gradient function '{name}' does not give what '{call.name}' needs")
        return [next(results) if there else None for there in kept]

    return rule


def _zeros(argument: Any) -> Any:
    """Return what stands for a gradient that there is not: a handle has none, nor do integers."""
    dtype = argument.dtype.base_dtype
    return convert(np.zeros([n or 0 for n in argument._dims or ()], dtype.np), dtype)


def _is_inside(node: Any) -> bool:
    return node.WhichOneof("kind") == "captured_tensor"


def _used(call: Any, node: Any, name: str) -> Any:
    """Return the tensor of the body around a call that an object of the model stands for."""
    graph = call.node.graph if call.node is not None else None
    text = node.captured_tensor.name
    if graph is None or text.partition(":")[0] not in graph._by_name:
        raise LookupError(
            f"The gradient function '{name}' uses {text} of '{node.captured_tensor.concrete_function}', which is not "
            f"around '{call.name}'"
        )
    return graph.get_tensor_by_name(text)
