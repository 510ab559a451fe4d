"""The graph of a function: arguments, results, and what it captures from outside.

A tensor of another graph (or an eager one) that is used inside becomes an argument of its own: a capture. `run_body`
runs such a graph on values; the executor keeps its plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, errors, nest
from ebbflow.core.convert import convert
from ebbflow.core.tensor import EagerTensor
from ebbflow.graph.graph import Graph
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.ops.declare import raw
from ebbflow.runtime.executor import Plan


class FuncGraph(Graph):
    """A graph that is the body of a function."""

    building_function = True

    def __init__(self, name: str, outer: Graph | None = None):
        super().__init__()
        self.name = name
        self.outer_graph = outer
        self.inputs: list[SymbolicTensor] = []
        self.outputs: list[SymbolicTensor] = []
        self.structured_outputs: Any = None
        self._captures: dict[int, tuple[Any, SymbolicTensor]] = {}
        self._plans: dict[int, tuple[Any, Plan]] = {}
        if outer is not None:
            self._seed = outer.seed

    def take(self, tensor: Any, name: str | None = None) -> SymbolicTensor:
        """Return the tensor inside that stands for `tensor`."""
        if isinstance(tensor, SymbolicTensor) and tensor.graph is self:
            return tensor
        return self.capture(tensor, name)

    def capture(self, tensor: Any, name: str | None = None) -> SymbolicTensor:
        """Return the argument that carries `tensor` in."""
        found = self._captures.get(id(tensor))
        if found is None:
            dtype = tensor.dtype.base_dtype
            with context.scope(self), self.control_dependencies(None), self.name_scope(None):
                inside = raw.Placeholder(
                    dtype=dtype,
                    shape=tensor._dims,
                    name=name or (getattr(tensor, "_op", None) and tensor.op.name) or "capture",
                )
            inside._known = tensor.constant_value() if isinstance(tensor, SymbolicTensor) else inside._known
            inside._dtype = tensor.dtype  # a reference stays one: the body may assign to it
            found = self._captures[id(tensor)] = (tensor, inside)
            self.inputs.append(inside)
        return found[1]

    @property
    def captures(self) -> list[tuple[Any, SymbolicTensor]]:
        """What is captured: pairs of the tensor outside and the argument inside."""
        return list(self._captures.values())

    @property
    def external_captures(self) -> list[Any]:
        return [outside for outside, _ in self._captures.values()]

    def _home(self, inputs: Sequence[Any]) -> Graph:
        return self  # what comes from elsewhere is captured

    def run(self, session: Any, values: Sequence[Any]) -> list[Any]:
        """Return the results for these argument values, with `session`'s resources."""
        found = self._plans.get(id(session))
        if found is None or found[0] is not session:
            stateful = [n for n in self._nodes if n._op.stateful]
            found = self._plans[id(session)] = (session, Plan(session, [*self.outputs, *stateful], self.inputs))
        return found[1].run(values)[: len(self.outputs)]


def build(name: str, function: Callable[[], Any], outer: Graph) -> FuncGraph:
    """Return the graph of a function without arguments; `structured_outputs` keeps the form of its result."""
    graph = FuncGraph(name, outer)
    with context.scope(graph):
        result = function()
        graph.structured_outputs = result
        graph.outputs = [_inside(graph, r) for r in nest.flatten(result, expand_composites=True) if r is not None]
    return graph


def _inside(graph: FuncGraph, value: Any) -> SymbolicTensor:
    if isinstance(value, Operation):  # of an operation that it is done is all there is to give
        with graph.control_dependencies([value]):
            return convert(True)  # type: ignore[return-value]
    if hasattr(value, "op") and not isinstance(value, SymbolicTensor) and not hasattr(value, "value"):
        raise errors.InvalidArgumentError(None, None, f"a function of a graph must return tensors, got {value!r}")
    tensor = convert(value)
    if isinstance(tensor, EagerTensor):
        tensor = graph.take(tensor)
    return raw.Identity(tensor) if tensor.dtype._is_ref_dtype else tensor
