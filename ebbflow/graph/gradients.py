"""`tf.gradients`: differentiation by adding nodes to the graph.

Finds the nodes between xs and ys and lets `eager.backprop` walk them backwards; what the gradient rules call is added
to the same graph, under the names TensorFlow gives: `gradients/NODE_grad/…`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.call import Call
from ebbflow.core.convert import convert
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import Tensor
from ebbflow.eager.backprop import Sums, add_up, differentiable, propagate, rule_of, unconnected
from ebbflow.eager.tape import UnconnectedGradients
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.ops.declare import FLAT, raw
from ebbflow.ops.shaping import shape


class AggregationMethod:
    """How several gradients of one tensor are added up. The choices differ in memory, not in what they give."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """Return sum(dy/dx) for each x in `xs`: symbolic tensors (None where no y depends on x)."""
    if context.executing_eagerly():
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError(f"Invalid `aggregation_method` specified {aggregation_method}.")
    unconnected_gradients = UnconnectedGradients(unconnected_gradients)  # ValueError for anything else
    flat_ys, flat_xs = _as_list(ys), _as_list(xs)
    flat_stops = [] if stop_gradients is None else _as_list(stop_gradients)
    given = [None] * len(flat_ys) if grad_ys is None else _as_list(grad_ys)
    if len(given) != len(flat_ys):
        raise ValueError(f"Passed {len(given)} grad_ys for {len(flat_ys)} ys")
    graph = context.current_graph()
    with graph.name_scope(name) as scope:
        targets = [_tensor(y, "y") for y in flat_ys]
        sources = [_source(x) for x in flat_xs]
        stops = {id(_source(s)) for s in flat_stops}
        sums = Sums(lambda parts: _add_up(parts, scope))
        _seed(graph, targets, given, sums)
        walk = _Walk(targets, sources, stops)
        propagate(
            walk.calls(),
            sums,
            walk.keep,
            walk.needed,
            lambda call: _node_scope(graph, call, colocate_gradients_with_ops),
        )
        found = [sums.get(s) for s in sources]
        if gate_gradients:
            found = _gated(found)
        return [
            g if g is not None else unconnected(x, unconnected_gradients) for g, x in zip(found, flat_xs, strict=True)
        ]


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else nest.flatten(value)


def _tensor(value: Any, name: str) -> Any:
    if isinstance(value, IndexedSlices):
        return value.values
    return value if isinstance(value, Tensor) else convert(value, name=name)


def _source(value: Any) -> Any:
    """Return the tensor a gradient is taken by: a variable's handle (or reference), or the tensor itself."""
    handle = getattr(value, "_tape_handle", None)
    if handle is not None:
        return handle
    if isinstance(value, IndexedSlices):
        return value.values
    return value if isinstance(value, Tensor) else convert(value, name="x")


def _seed(graph: Any, targets: Sequence[Any], given: Sequence[Any], sums: Sums) -> None:
    for index, (y, grad) in enumerate(zip(targets, given, strict=True)):
        if grad is None:
            if not differentiable(y.dtype.base_dtype):
                if not y.dtype.base_dtype.is_integer:
                    raise TypeError(
                        f"Gradients of tensors must be floating or complex, got dtype {y.dtype.name} for {y!r}"
                    )
                continue
            if y.dtype.is_complex:
                raise TypeError(f"Gradients of complex tensors ({y!r}) must set grad_ys (y.dtype = {y.dtype!r})")
            grad = _ones(graph, y, f"grad_ys_{index}")
        else:
            grad = (
                grad
                if isinstance(grad, (Tensor, IndexedSlices))
                else convert(grad, y.dtype.base_dtype, name=f"grad_ys_{index}")
            )
            if isinstance(grad, Tensor) and grad.dtype.base_dtype is not y.dtype.base_dtype:
                raise TypeError(
                    f"Gradient type {grad.dtype.name} generated for floating or complex tensor {y!r} with type "
                    f"{y.dtype.name} must be the same"
                )
        sums.add(y, grad)


def _ones(graph: Any, y: Any, name: str) -> Any:
    """Return the gradient of a target by itself, under the names that each TensorFlow gives its nodes."""
    dims = shape(y)
    if context.switches.tf1:
        return raw.Fill(dims, convert(1.0, y.dtype.base_dtype, name=name))
    with graph.name_scope(name) as scope:
        return raw.Fill(dims, convert(1.0, y.dtype.base_dtype, name="Const"), name=scope)


class _Walk:
    """The nodes from the targets back to the sources."""

    def __init__(self, targets: Sequence[Any], sources: Sequence[Any], stops: set[int]):
        self.keep = {id(s) for s in sources}
        self._stops = stops
        self._reached = self._from_sources(sources)
        self._targets = targets

    def _from_sources(self, sources: Sequence[Any]) -> set[int]:
        """Return the ids of all tensors that depend on a source."""
        reached = {id(s) for s in sources}
        stack = [s for s in sources if isinstance(s, SymbolicTensor)]
        while stack:
            for node in stack.pop()._consumers:
                for output in node._outputs:
                    if id(output) not in reached:
                        reached.add(id(output))
                        stack.append(output)
        return reached

    def needed(self, tensor: Any) -> bool:
        return id(tensor) in self._reached and differentiable(tensor.dtype.base_dtype)

    def calls(self) -> Iterator[Call]:
        """Yield the calls between, last first: a node's number is higher than those of all it depends on."""
        found: dict[int, Operation] = {}
        stack = [t for t in self._targets if id(t) in self._reached]
        while stack:
            tensor = stack.pop()
            if id(tensor) in self._stops:
                continue
            node = tensor.op
            if node._id in found:
                continue
            found[node._id] = node
            stack.extend(x for x in node._inputs if id(x) in self._reached)
        for number in sorted(found, reverse=True):
            node = found[number]
            call = Call(node._op, node._inputs, node._outputs, node._attrs, node.line, node)
            if any(id(x) in self._reached for x in node._inputs) and rule_of(call) is not FLAT:
                yield call


@contextlib.contextmanager
def _node_scope(graph: Any, call: Call, colocate: bool) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        stack.enter_context(graph.name_scope(call.node.name + "_grad"))
        if colocate:
            stack.enter_context(graph.colocate_with(call.node))
        yield


def _add_up(parts: list[Any], scope: str) -> Any:
    """Add up where we are for rows; a sum of tensors stands under the name of the whole."""
    if all(isinstance(p, IndexedSlices) for p in parts):
        return add_up(parts)
    with context.current_graph().name_scope(scope):
        return add_up(parts)


def _gated(grads: list[Any]) -> list[Any]:
    """Have no gradient be used before all are there."""
    tensors = [g for g in grads if isinstance(g, Tensor)]
    if len(tensors) < 2:
        return grads
    with context.current_graph().control_dependencies(tensors):
        return [raw.Identity(g) if isinstance(g, Tensor) else g for g in grads]


def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
) -> list[Any]:
    """Return the matrix (tensor) of second derivatives of sum(ys) for each x."""
    options = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    xs = _as_list(xs)
    found = []
    for grad, x in zip(gradients(ys, xs, **options), xs, strict=True):
        if grad is None:
            found.append(None)
            continue
        grad = convert(grad)
        dims = _tensor(x, "x")._dims
        if dims is None or None in dims:
            raise ValueError(f"tf.hessians needs xs of fully known shape, got {x!r}")
        rows = [gradients(row, x, **options)[0] for row in raw.Unpack(raw.Reshape(grad, [-1]), num=_size(dims))]
        zero = raw.Fill(list(dims), convert(0.0, grad.dtype.base_dtype))
        stacked = raw.Pack([zero if r is None else convert(r) for r in rows])
        found.append(raw.Reshape(stacked, list(dims) * 2))
    return found


def _size(dims: Sequence[int]) -> int:
    total = 1
    for n in dims:
        total *= n
    return total
