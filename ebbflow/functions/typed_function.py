"""`function.Defun`, the functions of TF 1 graphs: typed arguments, one body, optionally a gradient of their own.

The body is built once, for arguments of the declared dtypes and whatever shapes they come in. A call adds a node.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow import messages
from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.eager.backprop import GradientFn, local_rules
from ebbflow.eager.tape import record_call, stop_recording
from ebbflow.functions.call import call_body
from ebbflow.functions.concrete import packer
from ebbflow.functions.func_graph import FuncGraph, build
from ebbflow.graph import graph_def
from ebbflow.graph.gradients import gradients
from ebbflow.ops.declare import raw

_numbers = itertools.count()


class Defun:
    """`@Defun(tf.float32, tf.float32)`: the function below, of tensors of these dtypes, as one node of a graph."""

    def __init__(self, *input_types: Any, **kwargs: Any):
        self._types = [dtypes.as_dtype(t) for t in input_types]
        self._name = kwargs.pop("func_name", None)
        self._gradient = kwargs.pop("grad_func", None)
        self._python_gradient = kwargs.pop("python_grad_func", None)
        self._shapes = kwargs.pop("shape_func", None)
        self._out_names = kwargs.pop("out_names", None)
        if self._gradient is not None and self._python_gradient is not None:
            raise ValueError("Gradient defined twice: give grad_func or python_grad_func")

    def __call__(self, func: Callable[..., Any]) -> DefinedFunction:
        if not callable(func):
            raise ValueError(f"Function {func} must be callable.")
        name = self._name or getattr(func, "__name__", "defun")
        gradient = self._python_gradient
        if self._gradient is not None:
            backward = self._gradient
            gradient = lambda call, *grads: backward(*call.inputs, *grads)
        return DefinedFunction(func, name, self._types, gradient, self._shapes, self._gradient)


class DefinedFunction:
    """A function of tensors with one body."""

    def __init__(
        self,
        func: Callable[..., Any],
        name: str,
        types: Sequence[Any],
        gradient: Any,
        shapes: Any,
        backward: DefinedFunction | None = None,
    ):
        functools.update_wrapper(self, func)
        self._backward = backward
        self._func, self.name, self._types, self._gradient, self._shapes = func, name, list(types), gradient, shapes
        self._bodies: dict[Any, FuncGraph] = {}

    @property
    def declared_input_types(self) -> list[Any]:
        return list(self._types)

    def _body_of_attr(self) -> FuncGraph:
        return self.body(self._types)

    @property
    def captured_inputs(self) -> list[Any]:
        """The tensors outside that the function of its declared types uses."""
        return list(self.body(self._types).external_captures)

    @property
    def definition(self) -> Any:
        """The function as a FunctionDef message."""
        message = messages.FunctionDef()
        graph_def.fill_function(message, self.body(self._types), graph_def.Library())
        return message

    def body(self, types: Sequence[Any]) -> FuncGraph:
        """Return the graph for arguments of these dtypes."""
        graph = context.current_graph()
        key = (*types, None if graph is None or graph.building_function else id(graph))
        found = self._bodies.get(key)
        if found is None:
            code = getattr(self._func, "__code__", None)  # its arguments come first among its names, then its own
            names = () if code is None else code.co_varnames[inspect.ismethod(self._func) : code.co_argcount]
            arguments = [(t, None, names[i] if i < len(names) else f"arg{i}") for i, t in enumerate(types)]
            with stop_recording():
                found = build(self.name, self._func, graph, arguments)
            found.closed = found.called_by_name = True
            if isinstance(self._backward, DefinedFunction):
                given = [*types, *(t.dtype.base_dtype for t in found.outputs)]
                found.gradient_body = functools.partial(self._backward.body, given)
            self._bodies[key] = found
        return found

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if self._types and len(inputs) != len(self._types):
            raise ValueError(f"Expected number of arguments: {len(self._types)}, received: {len(inputs)}")
        declared = self._types or [None] * len(inputs)
        tensors = [convert(x, t) for x, t in zip(inputs, declared, strict=True)]
        body = self.body([t.dtype.base_dtype for t in tensors])
        given = [*tensors, *body.external_captures]
        name = kwargs.get("name")
        results = call_body(body, given, name) if self._gradient is None else self._differentiable(body, given, name)
        if self._shapes is not None and not context.executing_eagerly() and results:
            for tensor, shape in zip(results, self._shapes(results[0].op), strict=True):
                tensor.set_shape(shape)
        if isinstance(body.structured_outputs, (list, tuple)):  # one is itself, several a tuple
            return results[0] if len(results) == 1 else tuple(results)
        return packer(body.structured_outputs)(results)

    def _differentiable(self, body: FuncGraph, given: list[Any], node_name: str | None) -> list[Any]:
        """Return the results of a call whose gradient is the program's own."""
        own = self._gradient

        def rule(call: Any, *grads: Any) -> list[Any]:
            found = own(call, *grads)
            found = list(found) if isinstance(found, (list, tuple)) else [found]
            return found + [None] * (len(given) - len(found))

        if context.executing_eagerly():
            with stop_recording():
                outputs = call_body(body, given)
            fn = GradientFn(self.name, rule)
            fn.gradient_fn = rule
            record_call(fn, given, outputs)
            return outputs
        graph = context.current_graph()
        graph.__dict__.setdefault("_local_rules", []).append(rule)
        name = named_rule(self.name, rule)
        with graph.gradient_override_map({"PartitionedCall": name, "StatefulPartitionedCall": name}):
            return call_body(body, given, node_name)


def named_rule(function: str, rule: Callable[..., Any]) -> str:
    """Return the name under which nodes find the gradient rule of a function, as long as somebody holds the rule."""
    name = f"{function}-{next(_numbers)}"
    local_rules[name] = rule
    return name


def gradient_of(body: FuncGraph) -> FuncGraph:
    """Return the function from a body's arguments and the gradients of its results to those of its arguments."""
    count = len(body.inputs)

    def backward(*given: Any) -> list[Any]:
        xs = [raw.Identity(x) for x in given[:count]]
        slopes = gradients(call_body(body, xs), xs, list(given[count:]))
        return [raw.ZerosLike(x) if slope is None else convert(slope) for x, slope in zip(xs, slopes, strict=True)]

    arguments = [(t.dtype.base_dtype, t._dims, f"arg{i}") for i, t in enumerate([*body.inputs, *body.outputs])]
    return build(f"{body.name}_gradient", backward, None, arguments)


def rule_of_body(backward: Callable[[], FuncGraph]) -> Callable[..., list[Any]]:
    """Return the gradient rule of a call whose gradient another function computes, from inputs and gradients."""

    def rule(call: Any, *grads: Any) -> list[Any]:
        return call_body(backward(), [*call.inputs, *grads])

    return rule
