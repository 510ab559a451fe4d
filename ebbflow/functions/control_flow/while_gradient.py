"""The gradient of a loop: a loop that runs backwards.

Its body is the gradient of the forward body. What that needs of an iteration is pushed onto lists by the forward loop
(`loop_edits` adds them to the node) and popped by the backward one; constants are made anew, loop invariants are taken
from outside, and what is computed from invariants alone is computed once, outside. The gradient of an invariant is a
sum over the iterations; rows of it (`IndexedSlices`) are collected and joined in the end. All that is made of ordinary
ops, so it can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import Dims, is_static
from ebbflow.core.slices import IndexedSlices
from ebbflow.eager.backprop import add_up, differentiable
from ebbflow.functions.control_flow import loop_edits
from ebbflow.functions.control_flow.body_gradient import BodyGradient, made_of_numbers
from ebbflow.functions.control_flow.summed_once import summed_once
from ebbflow.functions.control_flow.while_op import StatelessWhile, While, loop_node
from ebbflow.functions.func_graph import FuncGraph, build
from ebbflow.graph.gradients import gradients
from ebbflow.ops.declare import raw

SMALL = 4096
"""Known values with at most this many elements become constants of the backward body."""


def gradient(call: Any, *grads: Any) -> list[Any]:
    """Return the gradient for each input of a loop."""
    node = call.outputs[0].op
    backward = _LoopGradient(node, grads, [call.wants(i) for i in range(len(node._inputs))])
    found = backward.build() if backward.varying else {}
    if call.wanted is not None:  # the lists that were added to the node have no gradients of interest
        call.wanted = [*call.wanted, *[False] * (len(node._inputs) - len(call.wanted))]
    results = {**backward.passed, **found}
    unfelt = [i for i in backward.unfelt() if results.get(i) is None]
    results.update({i: _zeros(context.current_graph(), node._inputs[i]) for i in unfelt})
    return [results.get(i) for i in range(len(node._inputs))]


gradient.takes_none = True  # type: ignore[attr-defined]
While.gradient(gradient)
StatelessWhile.gradient(gradient)


class _LoopGradient:
    """The backward loop of one forward loop, being built."""

    def __init__(self, node: Any, grads: Sequence[Any], wanted: Sequence[bool]):
        self.node = node
        self.body: FuncGraph = node._attrs["body"]
        self.grads = [None if g is None else convert(g) for g in grads]
        self.wanted = {i for i, w in enumerate(wanted) if w}
        felt = loop_edits.dependencies(self.body)
        carried = _closure({i for i, g in enumerate(self.grads) if g is not None}, felt)
        useful = _closure(self.wanted, _transposed(felt))
        keep = sorted(i for i in carried & useful if differentiable(self.body.inputs[i].dtype))
        fixed = loop_edits.invariants(self.body)
        self.varying = [i for i in keep if i not in fixed]
        self.summed = [i for i in keep if i in fixed]
        self.passed = {i: self.grads[i] for i in self.summed}

    def unfelt(self) -> list[int]:
        """Return the variables that no gradient may come to, and that TensorFlow has zeros for, not None.

        Where control flow is made of functions these are all; in TF 1 those that the results use.
        """
        if context.switches.control_flow_v2:
            return [i for i in sorted(self.wanted) if self.body.inputs[i].dtype.is_floating]
        used = loop_edits.dependencies(self.body, through_flat=True)
        touched = _closure({i for i, g in enumerate(self.grads) if g is not None}, used)
        fixed = loop_edits.invariants(self.body)
        return [i for i in touched & self.wanted if i not in fixed and self.body.inputs[i].dtype.is_floating]

    def build(self) -> dict[int, Any]:
        """Add the backward loop; return the gradients it gives, by number of input."""
        outer = context.current_graph()
        graph = TurnGradient(outer, self.node)
        count = outer.take(loop_edits.iterations(self.node))
        with context.scope(graph):
            graph.variable(convert_outside(outer, 0, count.dtype), lambda counter: counter + 1)
            graph.variable(count, lambda limit: limit)
            results = self._differentiate(graph, outer)
        outputs = graph.close(outer)
        return {i: result(outputs) for i, result in results.items()}

    def _differentiate(self, graph: TurnGradient, outer: Any) -> dict[int, Any]:
        """Fill the backward body; return how to find each gradient among the loop's outputs."""
        body = self.body
        arguments = [graph.add(self._first(i, outer), body.inputs[i]._dims) for i in self.varying]
        with body.reopened():
            found = gradients(
                [body.outputs[i] for i in self.varying],
                [body.inputs[i] for i in [*self.varying, *self.summed]],
                grad_ys=[inside for _, inside in arguments],
            )
        results: dict[int, Any] = {}
        for i, (number, _), grad in zip(self.varying, arguments, found, strict=False):
            graph.give(number, graph.zeros_like(body.inputs[i]) if grad is None else graph.take(convert(grad)))
            results[i] = lambda outputs, number=number: outputs[number]
        for i, grad in zip(self.summed, found[len(self.varying) :], strict=True):
            if isinstance(grad, IndexedSlices):
                results[i] = self._rows(graph, outer, i, grad)
            elif grad is not None:
                results[i] = self._sum(graph, outer, i, graph.take(grad))
        return results

    def _first(self, i: int, outer: Any) -> Any:
        """Return the gradient that the backward loop starts with for a loop variable."""
        return self.grads[i] if self.grads[i] is not None else _zeros(outer, self.node._outputs[i])

    def _sum(self, graph: TurnGradient, outer: Any, i: int, part: Any) -> Any:
        """Have the loop add up the gradients of an invariant, or collect what their sum can be had from at once."""
        first = self.grads[i]
        once = summed_once(part)
        if once is not None:
            operands, total_of = once
            kept = [(graph.collected(outer, t), t.dtype.base_dtype, t._dims) for t in operands]

            def computed(outputs: Sequence[Any]) -> Any:
                total = total_of(*[join_list(outputs[n], dtype, dims) for n, dtype, dims in kept])
                return total if first is None else raw.AddN([first, total])

            return computed
        if first is None:
            first = _zeros(outer, self.node._inputs[i], part)
        number = graph.variable(first, lambda total: raw.AddN([total, part]), part._dims)
        return lambda outputs: outputs[number]

    def _rows(self, graph: TurnGradient, outer: Any, i: int, part: IndexedSlices) -> Any:
        """Have the loop collect the rows of the gradient of an invariant."""
        numbers = [graph.collected(outer, graph.take(tensor)) for tensor in (part.values, part.indices)]
        values, indices = part.values, part.indices

        def joined(outputs: Sequence[Any]) -> Any:
            rows = IndexedSlices(
                join_list(outputs[numbers[0]], values.dtype.base_dtype, values._dims),
                join_list(outputs[numbers[1]], indices.dtype.base_dtype, indices._dims),
                _whole_shape(self.node._inputs[i]),
            )
            return rows if self.grads[i] is None else add_up([self.grads[i], rows])

        return joined


class TurnGradient(BodyGradient):
    """The body of a backward loop: asked for a tensor of the forward body, it finds the cheapest way to have it."""

    def __init__(self, outer: Any, node: Any):
        super().__init__(node, node._attrs["body"], outer)
        self._variables: list[list[Any]] = []  # first value outside, argument inside, result inside
        self._collected: dict[int, int] = {}

    # --- loop variables -----------------------------------------------------------------------------------------------

    def add(self, first: Any, dims: Dims) -> tuple[int, Any]:
        """Add a loop variable that starts as the outer tensor `first`; return its number and its argument."""
        inside = self.argument(first.dtype.base_dtype, dims, "grad")
        self._variables.append([first, inside, None])
        return len(self._variables) - 1, inside

    def give(self, number: int, result: Any) -> None:
        """Say what a loop variable is after an iteration."""
        self._variables[number][2] = result

    def variable(self, first: Any, step: Any, dims: Dims = ()) -> int:
        """Add a loop variable and what an iteration makes of it; return its number."""
        number, inside = self.add(first, dims)
        self.give(number, step(inside))
        return number

    def collected(self, outer: Any, tensor: Any) -> int:
        """Add a loop variable that collects a tensor of this body in a list; return its number."""
        if id(tensor) not in self._collected:
            with context.scope(outer):
                empty = empty_list(tensor.dtype.base_dtype, tensor._dims and (None, *tensor._dims[1:]))
            self._collected[id(tensor)] = self.variable(empty, lambda rows: raw.TensorListPushBack(rows, tensor))
        return self._collected[id(tensor)]

    def close(self, outer: Any) -> list[Any]:
        """Add the loop whose body this is; return its outputs."""
        given = [outer.take(first) for first, _, _ in self._variables]
        self.inputs = [inside for _, inside, _ in self._variables]
        self.outputs = [result for _, _, result in self._variables]
        dims = [inside._dims for inside in self.inputs]
        arguments = [(t.dtype.base_dtype, d, "argument") for t, d in zip(given, dims, strict=True)]
        test = build(f"{self._node._attrs['cond'].name}_grad", lambda i, n, *rest: i < n, outer, arguments)
        return loop_node(given, dims, test, self, self._node._attrs["parallel_iterations"])

    # --- what comes from the forward body -----------------------------------------------------------------------------

    def call(self, op: Any, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Any:
        """Add a node; a question about the shape of a forward tensor is put to the forward body."""
        if op.facts.small and self.is_forward(inputs[0]) and self._forward_size_unknown(inputs[0]):
            return self.take(self._asked_forward(op, inputs[0], attrs))
        return super().call(op, inputs, attrs, name)

    def _asked_forward(self, op: Any, tensor: Any, attrs: dict[str, Any]) -> Any:
        """Return the answer of the forward body, asked once: a new node each time would have to be kept each time."""
        answers = self._forward.base.derived.sizes
        key = (op.name, id(tensor), tuple(sorted(attrs.items())))
        if key not in answers:
            with context.scope(self._forward.base):
                answers[key] = op(tensor, **attrs)
        return answers[key]

    def _forward_size_unknown(self, tensor: Any) -> bool:
        known = any(tensor is x for x in self._forward.inputs) and tensor.dtype.base_dtype is not dtypes.variant
        return id(tensor) not in self._resolved and not known

    def resolve(self, tensor: Any) -> Any:
        """Return a constant, what is outside of the loop, or what the forward loop pushed."""
        value = _small_constant(tensor)
        if value is not None:
            return self.constant(np.array(value), tensor.dtype.base_dtype)
        outside = loop_edits.outside(self._node, tensor, self._around)
        if outside is not None:
            return super().capture(outside)
        if made_of_numbers(tensor):
            return self.made_again(tensor)
        pushed = loop_edits.accumulated(self._node, tensor)
        number, inside = self.add(pushed, ())
        shape = loop_edits.shape_argument(loop_edits.kept_dims(tensor))
        rest, item = raw.TensorListPopBack(inside, shape, element_dtype=tensor.dtype.base_dtype)
        item.set_shape(loop_edits.kept_dims(tensor))
        self.give(number, rest)
        return item

    def zeros_like(self, tensor: Any) -> Any:
        """Return zeros shaped like a tensor of the forward body."""
        if is_static(tensor._dims) and tensor.dtype.base_dtype is not dtypes.variant:
            return raw.Fill(np.array(tensor._dims, np.int32), _zero(tensor.dtype))
        return raw.ZerosLike(self.take(tensor))


# --- small pieces -----------------------------------------------------------------------------------------------------


def _closure(start: set[int], steps: Sequence[set[int]]) -> set[int]:
    """Return all that can be reached from `start` by steps i -> steps[i]."""
    found, stack = set(start), list(start)
    while stack:
        for i in steps[stack.pop()] - found:
            found.add(i)
            stack.append(i)
    return found


def _transposed(steps: Sequence[set[int]]) -> list[set[int]]:
    turned: list[set[int]] = [set() for _ in steps]
    for i, targets in enumerate(steps):
        for j in targets:
            turned[j].add(i)
    return turned


def convert_outside(outer: Any, value: Any, dtype: Any) -> Any:
    """Return a constant of the graph `outer`."""
    with context.scope(outer):
        return convert(value, dtype.base_dtype)


def _zero(dtype: Any) -> np.ndarray:
    return np.zeros((), dtype.base_dtype.np)


def _zeros(outer: Any, like: Any, part: Any = None) -> Any:
    """Return zeros in the graph `outer`, shaped like one of its tensors; `part` is a gradient for it, if any."""
    with context.scope(outer):
        dtype = like.dtype.base_dtype
        if dtype is dtypes.variant:
            return raw.ZerosLike(like)
        dims = like._dims
        if part is not None and dtype is dtypes.resource:
            dtype, dims = part.dtype.base_dtype, part._dims
            like = like if is_static(dims) else raw.ReadVariableOp(like, dtype=dtype)
        return raw.Fill(np.array(dims, np.int32), _zero(dtype)) if is_static(dims) else raw.ZerosLike(like)


def _small_constant(tensor: Any) -> np.ndarray | None:
    if tensor.dtype.base_dtype in (dtypes.variant, dtypes.resource):
        return None
    if tensor.op.type == "Const":
        return tensor.op._attrs["value"]
    if differentiable(tensor.dtype):  # known perhaps through an invariant, by which gradients may be wanted in turn
        return None
    value = tensor.constant_value()
    return value if value is not None and value.size <= SMALL else None


def empty_list(dtype: Any, element_dims: Dims, limit: int = -1) -> Any:
    """Return an empty list of tensors."""
    return raw.EmptyTensorList(loop_edits.shape_argument(element_dims), limit, element_dtype=dtype)


def join_list(handle: Any, dtype: Any, element_dims: Dims) -> Any:
    """Return the elements of a list, joined along their first axis."""
    dims = element_dims and (None, *element_dims[1:])
    no_lengths = np.zeros([0], np.int64)
    return raw.TensorListConcatV2(handle, loop_edits.shape_argument(dims), no_lengths, element_dtype=dtype).tensor


def _whole_shape(tensor: Any) -> Any:
    """Return the shape of what rows are a gradient for: a variable by its handle, or a tensor."""
    if tensor.dtype.base_dtype is dtypes.resource:
        return raw.VariableShape(tensor)
    return raw.Shape(tensor)
