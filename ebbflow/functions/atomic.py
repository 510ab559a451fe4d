"""Atomic functions: one traced graph, called with values for everything that it takes, captures included.

What a concrete function is once nothing is kept for it: no captures, no gradient. `ConcreteFunction.inference_fn` gives
it. Knows bodies, their types and how they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow import messages
from ebbflow.core.convert import convert
from ebbflow.core.typing import Message, Nested
from ebbflow.eager.tape import stop_recording
from ebbflow.functions import trace_types
from ebbflow.functions.call import call_body
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.signature import FunctionType
from ebbflow.graph import graph_def


class AtomicFunction:
    """A traced graph, which no tape listens to.

    >>> import ebbflow as tf
    >>> traced = tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([], tf.int32))
    >>> int(traced.inference_fn(2))
    3
    """

    def __init__(
        self, name: bytes, graph: FuncGraph, function_type: FunctionType, pack: Callable[[Sequence[Any]], Any]
    ):
        self.name, self.graph, self.function_type, self._pack = name, graph, function_type, pack

    def __call__(self, *args: Any, **kwargs: Any) -> Nested:
        """Return the structured result, as of the Python function; only where nothing is captured."""
        if self.function_type.captured:
            raise ValueError("The FunctionType defines captured inputs. Use call_with_captures instead.")
        return self.call_with_captures(args, kwargs, [])

    def call_with_captures(self, args: Sequence[Any], kwargs: dict[str, Any], captures: Sequence[Any]) -> Nested:
        """Return the structured result for these arguments, and these tensors for what is captured."""
        kind = self.function_type
        if len(captures) != len(kind.captured):
            raise ValueError(f"{self.name!r} captures {len(kind.captured)} tensors, captures = {captures}")
        bound = kind.signature().bind(*args, **kwargs)
        positional, named = kind.cast(bound.args, bound.kwargs)
        return self.call_preflattened([convert(t) for t in kind.tensors_of(positional, named)] + list(captures))

    def call_preflattened(self, args: Sequence[Any]) -> Nested:
        """Return the structured result for one tensor a placeholder."""
        return self._pack(self.call_flat(*args))

    def call_flat(self, *args: Any) -> list[Any]:
        """Return the flat results for one tensor a placeholder."""
        if len(args) != len(self.graph.inputs):
            raise ValueError(
                f"Signature specifies {len(self.graph.inputs)} arguments, got: {len(args)}. Expected inputs: "
                f"{self.graph.inputs}. Received inputs: {args}. Function Type: {self.function_type!r}"
            )
        with stop_recording():
            return list(call_body(self.graph, args))

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def definition(self) -> Message:
        """The body as a FunctionDef message."""
        message = messages.FunctionDef()
        graph_def.fill_function(message, self.graph, graph_def.Library())
        return message

    cached_definition = definition

    @property
    def attributes(self) -> Any:
        """The attributes of the body, by name."""
        return self.definition.attr

    @property
    def children(self) -> list[Any]:
        """The functions that it calls and brings along: none, since a node holds the body that it calls."""
        return []

    def __str__(self) -> str:
        return f"<AtomicFunction> {self.name.decode()}{self.function_type}"

    def __repr__(self) -> str:
        return f"AtomicFunction(name={self.name!r}, function_type={self.function_type!r})"


trace_types.Callable.register(AtomicFunction)
