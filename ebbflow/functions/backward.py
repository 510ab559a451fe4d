"""Backward functions: the gradient of a body, as a body of its own.

A backward function takes the gradients of (some of) a body's results and what it needs of the forward run, and gives
the gradients of (some of) the arguments. What it needs are arguments of the body, results, or tensors in between; for
the last kind the forward run has to hand out more than its results: `forward_of` makes such a body. Both are made once
and kept with the body they belong to. Used by calls of functions; knows nothing of tapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor
from ebbflow.eager.backprop import differentiable
from ebbflow.eager.tape import stop_recording
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.graph.gradients import gradients
from ebbflow.graph.symbolic import SymbolicTensor


class BackwardFunctionGraph(FuncGraph):
    """The body of a backward function. Constants of the forward body are made anew, not handed over."""

    def __init__(self, name: str, outer: Any = None):
        super().__init__(name, outer)
        self._constants: list[tuple[Any, Any]] = []  # keeps what constants were made from

    def call(self, op: Any, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Any:
        """Add a node; of a forward tensor of known shape the shape alone is no reason to keep it."""
        if op.from_dims_fn is not None and type(inputs[0]) is SymbolicTensor and inputs[0].graph is not self:
            dims, dtype = inputs[0]._dims, inputs[0].dtype.base_dtype
            if dims is not None and None not in dims and not dtype.np.hasobject:
                kind = op.flat_output_types({"out_type": dtypes.int32, "T": dtype, **attrs})[0]
                return self.constant(op.from_dims_fn(dims, kind.np), kind, name or op.name)
        return super().call(op, inputs, attrs, name)

    def capture(self, tensor: Any, name: str | None = None) -> SymbolicTensor:
        """Return the argument that carries `tensor` in, or a constant of the same value."""
        if id(tensor) in self._captures:
            return self._captures[id(tensor)][1]
        value = _constant(tensor)
        if value is None:
            return super().capture(tensor, name)
        with context.scope(self), self.control_dependencies(None):
            inside = self.constant(value, tensor.dtype.base_dtype, name or "Const")
        self._constants.append((tensor, inside))
        return inside


def _constant(tensor: Any) -> Any:
    if tensor.dtype is dtypes.resource or tensor.dtype is dtypes.variant or tensor.dtype._is_ref_dtype:
        return None
    if isinstance(tensor, EagerTensor):
        return tensor._array
    node = tensor.op
    return node._attrs["value"] if node.type == "Const" else None


class BackwardFunction:
    """A backward function: its body, the forward tensors it needs, and where each gradient stands among its results.

    The body's arguments are the gradients of the results, then for each capture either a tensor of the forward body
    (`needs`), or a tensor from elsewhere that the rules use.
    """

    def __init__(self, graph: FuncGraph, forward: FuncGraph, count: int, places: list[Any]):
        self.graph = graph
        self.count = count
        self._places = places
        self._forward = forward.base
        outside = {id(inside): outer for outer, inside in graph.captures}
        self.taken = [outside[id(t)] for t in graph.inputs[count:]]

    def is_forward(self, tensor: Any) -> bool:
        """Return whether a tensor that is taken belongs to the forward body."""
        return type(tensor) is SymbolicTensor and tensor.graph is self._forward

    @property
    def needs(self) -> list[Any]:
        return [t for t in self.taken if self.is_forward(t)]

    def pack(self, results: Sequence[Any]) -> list[Any]:
        """Return the gradients, one an argument of the forward body, from the results of the backward body."""
        return [
            None if at is None else results[at] if at.__class__ is int else IndexedSlices(*[results[i] for i in at])
            for at in self._places
        ]


def backward_of(body: FuncGraph, given: Sequence[int], wanted: Sequence[bool]) -> BackwardFunction | None:
    """Return the function from the gradients of the results numbered `given` to those of the `wanted` arguments.

    None: none of the arguments is reached.
    """
    ys = [body.outputs[i] for i in given]
    key = tuple([id(y) for y in ys]), tuple(wanted)
    backwards = body.base.derived.backwards
    with body.changing:
        if key not in backwards:
            backwards[key] = _build(body, ys, wanted)
    return backwards[key]


def _build(body: FuncGraph, ys: Sequence[Any], wanted: Sequence[bool]) -> BackwardFunction | None:
    graph = BackwardFunctionGraph(f"__backward_{body.base.name}", None)
    graph._seed, graph.function_name = body.base._seed, f"__inference___backward_{body.base.name}"
    graph.jit_compile = body.base.jit_compile
    chosen = [i for i, wants in enumerate(wanted) if wants]
    if not ys or not chosen:
        return None
    with body.reopened(), context.scope(graph), stop_recording():
        grad_ys = [graph.argument(y.dtype.base_dtype, y._dims, "grad_ys") for y in ys]
        graph.inputs = list(grad_ys)
        found = gradients(ys, [body.inputs[i] for i in chosen], grad_ys=grad_ys)
        places: list[Any] = [None] * len(wanted)
        for i, grad in zip(chosen, found, strict=True):
            places[i] = _place(graph, grad)
    graph.structured_outputs = list(graph.outputs)
    return BackwardFunction(graph, body, len(ys), places) if graph.outputs else None


def _place(graph: FuncGraph, grad: Any) -> Any:
    """Put a gradient among the results; return its number, or those of its parts where it is rows of a tensor."""
    if grad is None:
        return None
    if isinstance(grad, IndexedSlices):
        return [_place(graph, part) for part in grad._flatten()]
    graph.outputs.append(graph.take(convert(grad)))
    return len(graph.outputs) - 1


def differentiable_outputs(body: FuncGraph) -> list[int]:
    """Return the numbers of the results that may have a gradient."""
    return [i for i, y in enumerate(body.outputs) if differentiable(y.dtype)]


def forward_of(body: FuncGraph, wanted: Sequence[bool], more: bool) -> FuncGraph:
    """Return `body` with further results, as far as the gradients of the `wanted` arguments need them.

    With `more`, gradients of these further results can be had too, and so gradients of any order.
    """
    key = tuple(wanted), more
    forwards = body.derived.forwards
    with body.changing:
        if key not in forwards:
            forwards[key] = _with_needs(body, wanted, more)
    return forwards[key]


def _with_needs(body: FuncGraph, wanted: Sequence[bool], more: bool) -> FuncGraph:
    arguments = {id(t) for t in body.inputs}
    variant = body
    while True:
        there = arguments | {id(t) for t in variant.outputs}
        missing = [t for t in _needs(variant, wanted) if id(t) not in there]
        if missing:
            variant = body.with_outputs([*variant.outputs, *missing], f"__forward_{body.base.name}")
        if not missing or not more:
            return variant


def _needs(body: FuncGraph, wanted: Sequence[bool]) -> list[Any]:
    """Return the tensors of a body that the gradients of its results need."""
    given = differentiable_outputs(body)
    try:
        backwards = [backward_of(body, given, wanted)]
    except LookupError:  # an op without a gradient: it matters only to the results that depend on it
        backwards = [_backward_or_none(body, [i], wanted) for i in given]
    found = {id(t): t for backward in backwards if backward is not None for t in backward.needs}
    return list(found.values())


def _backward_or_none(body: FuncGraph, given: Sequence[int], wanted: Sequence[bool]) -> BackwardFunction | None:
    try:
        return backward_of(body, given, wanted)
    except LookupError:
        return None
