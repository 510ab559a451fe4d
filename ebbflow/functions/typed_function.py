"""`function.Defun`, the functions of TF 1 graphs: typed arguments, one body, optionally a gradient of their own.

The body is built once, for arguments of the declared dtypes and whatever shapes they come in. A call adds a node.
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow import messages
from ebbflow.core import context, dtypes, errors, nest
from ebbflow.core.convert import convert
from ebbflow.core.tensor import EagerTensor
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
        self._by_value = kwargs.pop("capture_by_value", False)
        self._allowed = kwargs.pop("allowlisted_stateful_ops", None) or kwargs.pop("whitelisted_stateful_ops", None)
        self._attributes = {_attribute(key): value for key, value in kwargs.items() if value is not None}
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
        made = DefinedFunction(func, name, self._types, gradient, self._shapes, self._gradient)
        made.out_names, made.attributes = list(self._out_names or ()), self._attributes
        made.capture = CapturingByValue.for_ops(self._allowed) if self._by_value else FuncGraph
        return made


def _attribute(key: str) -> str:
    """Return the attr that a wish of `Defun` is written as."""
    return key if key.startswith(("_", "experimental_")) else "_" + key


class CapturingByValue(FuncGraph):
    """A body that makes what it takes from outside anew, with all that this is made of."""

    allowed: frozenset[Any] = frozenset()

    @classmethod
    def for_ops(cls, allowed: Any) -> type[FuncGraph]:
        """Return the class of bodies that may make these effects anew, and no others."""
        return type("CapturingByValue", (cls,), {"allowed": frozenset(allowed or ())})

    def capture(self, tensor: Any, name: str | None = None) -> Any:
        if tensor.dtype.base_dtype in (dtypes.resource, dtypes.variant):
            return super().capture(tensor, name)
        known = self.__dict__.setdefault("_copies", {})
        if id(tensor) not in known:
            known[id(tensor)] = (tensor, self._copied(tensor))
        return known[id(tensor)][1]

    def _copied(self, tensor: Any) -> Any:
        with context.scope(self), self.control_dependencies(None):
            if isinstance(tensor, EagerTensor):
                return self.constant(tensor._array, tensor.dtype.base_dtype, "Const")
            node = tensor.op
            if node.type == "Const":
                return self.constant(node._attrs["value"], tensor.dtype.base_dtype, node.name)
            if node.type == "Placeholder":
                raise ValueError(f"Cannot capture a placeholder (name:{node.name}, type:{node.type}) by value.")
            if node._op.keeps_state and node not in self.allowed:
                raise ValueError(f"Cannot capture a stateful node (name:{node.name}, type:{node.type}) by value.")
            signature = node._op.signature
            attrs = {k: v for k, v in node._attrs.items() if k in signature.attrs and k not in signature.inferred}
            inputs = [self.take(t) for t in node._inputs]
            made = node._op(*signature.group_inputs(inputs, node._attrs), **attrs)
        return nest.flatten(made)[node._outputs.index(tensor)]


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
        self.out_names: list[str] = []
        self.attributes: dict[str, Any] = {}
        self.capture: type[FuncGraph] = FuncGraph
        self._devices = list(context.default_graph()._stack("devices"))  # its nodes stand where it is defined
        self._func, self.name, self._types, self._gradient, self._shapes = func, name, list(types), gradient, shapes
        self._bodies: dict[Any, FuncGraph] = {}

    @property
    def declared_input_types(self) -> tuple[Any, ...]:
        return tuple(self._types)

    @property
    def grad_func_name(self) -> str | None:
        """The name of the function that computes the gradient, if there is one."""
        return getattr(self._backward, "name", None)

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """The names and types of the nodes that keep state."""
        return [(node.name, node.type) for node in self.body(self._types)._nodes if node._op.stateful]

    def instantiate(self, types: Sequence[Any]) -> DefinedFunction:
        """Return the function for arguments of these dtypes."""
        if self._types:
            return self
        made = copy.copy(self)
        made._types = [dtypes.as_dtype(t) for t in types]
        return made

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
            names = self._argument_names(len(types))
            arguments = [(t, None, names[i]) for i, t in enumerate(types)]
            with stop_recording():
                found = build(self.name, self._func, graph, arguments, kind=self.capture, devices=self._devices)
            self._check_results(found)
            found.attributes, found.description = dict(self.attributes), inspect.getdoc(self._func) or ""
            found.closed = found.called_by_name = True
            if isinstance(self._backward, DefinedFunction):
                given = [*types, *(t.dtype.base_dtype for t in found.outputs)]
                found.gradient_body = functools.partial(self._backward.body, given)
            self._bodies[key] = found
        return found

    def _argument_names(self, count: int) -> list[str]:
        """Return what the arguments are called; refuse a function that takes others than are declared."""
        try:
            parameters = list(inspect.signature(self._func).parameters.values())
        except (TypeError, ValueError):
            return [f"arg{i}" for i in range(count)]
        if any(p.kind in (p.VAR_KEYWORD, p.KEYWORD_ONLY) or p.default is not p.empty for p in parameters):
            raise ValueError(f"Functions with argument defaults or keywords arguments are not supported. {self._func}")
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            own = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
            return [*own, *[f"arg{i}" for i in range(len(own), count)]][:count]
        if len(parameters) != count:
            more = "fewer" if len(parameters) < count else "more"
            raise ValueError(
                f"{self._func} has {more} arguments ({len(parameters)}) than the number of specified tf.function input "
                f"types ({count})."
            )
        return [p.name for p in parameters]

    def _check_results(self, body: FuncGraph) -> None:
        structure = body.structured_outputs
        if isinstance(structure, (list, tuple)) and any(one is None for one in structure):
            raise ValueError(f"Function {self._func} can not return None.")
        if self.out_names and len(self.out_names) != len(body.outputs):
            raise errors.InvalidArgumentError(
                None,
                None,
                "output names must be either empty or equal in size to outputs. "
                f"output names size = {len(self.out_names)} outputs size = {len(body.outputs)}",
            )
        body.output_names = list(self.out_names)

    def _expected(self) -> int | None:
        """Return how many arguments a call needs; None where any number is taken."""
        if self._types:
            return len(self._types)
        try:
            parameters = inspect.signature(self._func).parameters.values()
        except (TypeError, ValueError):
            return None
        return None if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(parameters)

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        expected = self._expected()
        if expected is not None and len(inputs) != expected:
            raise ValueError(
                f"Expected number of arguments: {expected}, received: {len(inputs)}. Expected {expected} by {self.name}"
            )
        if set(kwargs) - {"name"}:
            raise ValueError(f"Unknown keyword arguments: {', '.join(sorted(set(kwargs) - {'name'}))}")
        declared = self._types or [None] * len(inputs)
        tensors = [convert(x, t) for x, t in zip(inputs, declared, strict=True)]
        body = self.body([t.dtype.base_dtype for t in tensors])
        given = [*tensors, *body.external_captures]
        name = kwargs.get("name") or re.sub(r"\W", "_", self.name).lstrip("_") or "function"
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
