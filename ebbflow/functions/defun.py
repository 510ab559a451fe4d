"""`tfe.defun`, the function of the first eager programs: like `tf.function`, but free to make variables in any trace.

The variables that its traces make are kept with it. Knows nothing of names of variables: `state.graph_callable` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core.typing import Nested
from ebbflow.functions.function import Function
from ebbflow.functions.signature import FunctionType
from ebbflow.functions.tracing import lifted
from ebbflow.graph.symbolic import SymbolicTensor


class FreeFunction(Function):
    """A traced function that keeps the variables it makes."""

    @property
    def variables(self) -> list[Any]:
        """The variables that its traces have made, and those they use, each once."""
        made = self.__dict__.setdefault("_made_variables", [])
        used = [v for e in self._entries for v in e.concrete.variables]
        return list({id(v): v for v in [*made, *used]}.values())

    @property
    def trainable_variables(self) -> list[Any]:
        return [v for v in self.variables if v.trainable]

    def _trace(self, kind: FunctionType, tensors: Sequence[Any] | None) -> Any:
        made = self.__dict__.setdefault("_made_variables", [])

        def create(graph: Any, make: Callable[..., Any], given: dict[str, Any]) -> Any:
            value = given.get("initial_value")
            if type(value) is SymbolicTensor and value.graph is graph:
                given["initial_value"] = lifted(graph, value, tensors)
            made.append(make(**given))
            return made[-1]

        return self._trace_once(kind, create)


def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Nested = None,
    autograph: bool = True,
    experimental_autograph_options: object = None,
    experimental_relax_shapes: bool = False,
    reduce_retracing: bool = False,
) -> Callable[..., Any]:
    """Return `func` as a function that is traced once for each kind of arguments and then runs as a graph."""

    def decorated(inner: Callable[..., Any]) -> FreeFunction:
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        widen = bool(reduce_retracing or experimental_relax_shapes)
        return FreeFunction(inner, None, input_signature, autograph, reduce_retracing=widen)

    return decorated if func is None else decorated(func)


def defun_with_attributes(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    attributes: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    jit_compile: Any = None,
    reduce_retracing: bool = False,
    experimental_relax_shapes: bool = False,
) -> Any:
    """`defun` with attributes for the function's definition, which change nothing about what it computes."""
    return defun(
        func, input_signature, autograph, experimental_autograph_options, experimental_relax_shapes, reduce_retracing
    )
