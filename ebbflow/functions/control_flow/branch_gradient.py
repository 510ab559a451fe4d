"""The gradient of a choice: a choice of the same kind, between the gradients of the branches.

What a branch's gradient needs of the forward branch is handed out by the forward node as one more result; the other
branches give an empty one in its place. Made of ordinary ops, so it can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import is_static
from ebbflow.core.slices import IndexedSlices
from ebbflow.eager.backprop import differentiable
from ebbflow.functions.control_flow import loop_edits
from ebbflow.functions.control_flow.body_gradient import BodyGradient, made_of_numbers
from ebbflow.functions.control_flow.branch_op import Case, If, StatelessCase, StatelessIf, branches_of, choose_node
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.graph.gradients import gradients
from ebbflow.ops.declare import raw


def gradient(call: Any, *grads: Any) -> list[Any]:
    """Return the gradient for each input of a choice: none for what decides it."""
    node = call.outputs[0].op
    inputs = node._inputs[1:]
    wanted = [i for i in range(len(inputs)) if call.wants(i + 1)]
    bodies = [BranchGradient(node, number) for number in range(len(branches_of(node)))]
    given = [None if g is None else convert(g) for g in grads]
    parts = [body.differentiate(given, wanted) for body in bodies]
    found = [i for i in wanted if any(part[i] is not None for part in parts)]
    if not found:
        return [None] * len(node._inputs)
    layouts = [_layout([part[i] for part in parts]) for i in found]
    for body, part in zip(bodies, parts, strict=True):
        body.outputs = [t for i, layout in zip(found, layouts, strict=True) for t in layout(body, inputs[i], part[i])]
    outputs = iter(choose_node(node._inputs[0], bodies, "branches" in node._attrs))
    results = {i: layout.pack(inputs[i], outputs) for i, layout in zip(found, layouts, strict=True)}
    return [None, *[results.get(i) for i in range(len(inputs))]]


gradient.takes_none = True  # type: ignore[attr-defined]
for _op in (If, StatelessIf, Case, StatelessCase):
    _op.gradient(gradient)


class BranchGradient(BodyGradient):
    """The gradient of one branch: asked for a tensor of the forward branch, it finds a way to have it."""

    def __init__(self, node: Any, number: int):
        self._number = number
        super().__init__(node, branches_of(node)[number], context.current_graph())

    def differentiate(self, grads: Sequence[Any], wanted: Sequence[int]) -> dict[int, Any]:
        """Return the gradient, or None, for each wanted argument of the branch."""
        body = self._forward
        given = [
            (y, g)
            for y, g in zip(body.outputs, grads, strict=False)
            if g is not None and differentiable(y.dtype) and y.op.type != "FakeParam"
        ]
        if not given:
            return dict.fromkeys(wanted)
        with context.scope(self), body.reopened():
            found = gradients(
                [y for y, _ in given], [body.inputs[i] for i in wanted], grad_ys=[self.take(g) for _, g in given]
            )
            found = [g if g is None or isinstance(g, IndexedSlices) else self.take(g) for g in found]
        return dict(zip(wanted, found, strict=True))

    def resolve(self, tensor: Any) -> Any:
        """Return a constant, an argument of the choice, or what the forward branch hands out."""
        if tensor.op.type == "Const":
            return self.constant(np.array(tensor.op._attrs["value"]), tensor.dtype.base_dtype)
        for argument, outside in zip(self._forward.inputs, self._node._inputs[1:], strict=True):
            if argument is tensor:
                return super().capture(outside)
        if made_of_numbers(tensor):
            return self.made_again(tensor)
        return super().capture(loop_edits.exposed(self._node, self._number, tensor))


# --- results that all branches must give in one form ------------------------------------------------------------------


def _layout(parts: Sequence[Any]) -> Any:
    """Return how what the branches have for one argument becomes outputs: as rows, where all there is are rows."""
    present = [p for p in parts if p is not None]
    return _Rows(present[0]) if all(isinstance(p, IndexedSlices) for p in present) else _Whole(present[0])


class _Whole:
    """A gradient as one tensor."""

    def __init__(self, like: Any):
        self._like = like.values if isinstance(like, IndexedSlices) else like

    def __call__(self, body: FuncGraph, argument: Any, part: Any) -> list[Any]:
        with context.scope(body):
            return [body.take(convert(part)) if part is not None else self._zeros(body, argument)]

    def _zeros(self, body: FuncGraph, argument: Any) -> Any:
        if argument.dtype.base_dtype is not dtypes.resource:
            return raw.ZerosLike(body.take(argument))
        dtype, dims = self._like.dtype.base_dtype, self._like._dims
        if is_static(dims):
            return raw.Fill(np.array(dims, np.int32), np.zeros((), dtype.np))
        return raw.ZerosLike(raw.ReadVariableOp(body.take(argument), dtype=dtype))

    def pack(self, argument: Any, outputs: Any) -> Any:
        return next(outputs)


class _Rows:
    """A gradient as rows of one, and where they belong."""

    def __init__(self, like: IndexedSlices):
        self._dtypes = like.values.dtype.base_dtype, like.indices.dtype.base_dtype
        self._rest = like.values._dims and like.values._dims[1:]

    def __call__(self, body: FuncGraph, argument: Any, part: Any) -> list[Any]:
        with context.scope(body):
            if part is not None:
                return [body.take(part.values), body.take(part.indices)]
            rest = self._rest if is_static(self._rest) else None
            shape = [0, *rest] if rest is not None else raw.ConcatV2([[0], _shape_of(body.take(argument))[1:]], 0)
            return [
                raw.Fill(shape, np.zeros((), self._dtypes[0].np)),
                raw.Fill([0], np.zeros((), self._dtypes[1].np)),
            ]

    def pack(self, argument: Any, outputs: Any) -> Any:
        return IndexedSlices(next(outputs), next(outputs), _shape_of(argument))


def _shape_of(tensor: Any) -> Any:
    return raw.VariableShape(tensor) if tensor.dtype.base_dtype is dtypes.resource else raw.Shape(tensor)
