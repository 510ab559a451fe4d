"""Functions of TF 1's graphs from their messages (`from_library`), and what a function being built takes from outside.

A function made of a FunctionDef is called like one that `Defun` made, and gives that very message back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow import messages
from ebbflow.core import context, dtypes, errors
from ebbflow.functions.call import call_body
from ebbflow.functions.dataflow_v1.graph_import import Library
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.typed_function import DefinedFunction, gradient_of


class FunctionOfMessage(DefinedFunction):
    """A function whose body a FunctionDef says; those that it calls are in a library beside it."""

    def __init__(self, definition: Any, grad_func: DefinedFunction | None = None, library: Any = None):
        self._message, self._library = definition, library
        gradient = None if grad_func is None else (lambda call, *grads: grad_func(*call.inputs, *grads))
        types = [dtypes.as_dtype(arg.type) for arg in definition.signature.input_arg]
        super().__init__(self._run, definition.signature.name, types, gradient, None, grad_func)

    def _run(self, *inputs: Any) -> Any:
        return call_body(self.body(self._types), list(inputs))

    @property
    def definition(self) -> Any:
        return self._message

    def body(self, types: Sequence[Any]) -> FuncGraph:
        """Return the graph that the message says."""
        found = self._bodies.get("message")
        if found is None:
            library = messages.FunctionDefLibrary()
            if self._library is not None:
                library.CopyFrom(self._library)
            else:
                library.function.add().CopyFrom(self._message)
            found = self._bodies["message"] = Library(library, context.default_graph()).body(self.name, {})
            found.closed = found.called_by_name = True
        return found


def from_definition(fdef: Any, grad_func: DefinedFunction | None = None) -> FunctionOfMessage:
    """Return the function that a FunctionDef says."""
    return FunctionOfMessage(fdef, grad_func)


def from_library(lib: Any) -> list[DefinedFunction]:
    """Return the functions of a FunctionDefLibrary, each with its gradient function; those functions are among them."""
    known = {function.signature.name: function for function in lib.function}
    gradients = {pair.function_name: pair.gradient_func for pair in lib.gradient}
    for name in (*gradients, *gradients.values()):
        if name not in known:
            raise ValueError(f"FunctionDefLibrary missing '{name}' FunctionDef")
    made: dict[str, DefinedFunction] = {}

    def make(name: str, above: frozenset[str]) -> DefinedFunction:
        if name in above:
            raise ValueError("FunctionDefLibrary contains cyclic gradient functions!")
        if name not in made:
            gradient = gradients.get(name)
            backward = None if gradient is None else make(gradient, above | {name})
            made[name] = FunctionOfMessage(known[name], backward, lib)
        return made[name]

    return [make(name, frozenset()) for name in known]


def _being_built() -> FuncGraph | None:
    graph = context.current_graph()
    return graph if isinstance(graph, FuncGraph) else None


def get_extra_args() -> list[Any]:
    """Return what stands, in the function being built, for tensors from outside."""
    graph = _being_built()
    return [] if graph is None else list(graph.internal_captures)


def get_extra_inputs() -> list[Any]:
    """Return the tensors from outside that the function being built uses."""
    graph = _being_built()
    return [] if graph is None else list(graph.external_captures)


def get_extra_vars() -> list[Any]:
    """Return the variables that the function being built uses."""
    graph = _being_built()
    return [] if graph is None else list(graph.variables)


def symbolic_gradient(input: Any, Tout: Sequence[Any], f: Any, name: str | None = None) -> Any:
    """Return the gradients of a function, or of the one with a name; `input` ends with those of its results."""
    body = gradient_of(f.body(f.declared_input_types) if isinstance(f, DefinedFunction) else _body_named(f))
    found = call_body(body, list(input), name or "SymbolicGradient")
    return found[0] if len(Tout) == 1 else found


def _body_named(name: str) -> FuncGraph:
    """Return the function of a name that the graph here, or one around it, calls."""
    graph: Any = context.default_graph()
    while graph is not None:
        for node in graph._nodes:
            body = node._attrs.get("f")
            if isinstance(body, FuncGraph) and name in (body.name, body.function_name):
                return body
        graph = getattr(graph, "_around", None)
    raise errors.NotFoundError(None, None, f"Function {name} is not defined.")
