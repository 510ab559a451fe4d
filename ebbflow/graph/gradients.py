"""`tf.gradients`: differentiation by adding nodes to the graph.

Finds the nodes between xs and ys, walks them backwards and asks each one's gradient rule; what the rules call is added
to the same graph, under the names and in the order in which TensorFlow adds it: `gradients/NODE_grad/…`, sums as
`gradients/AddN`. TensorFlow asks rules for the gradients of all inputs, and so does this walk where names matter (not
in the bodies of functions); sessions run only those that lead somewhere. In a body the walk goes on through what is
captured to the nodes around it, whose rules then are asked inside.
"""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.call import Call
from ebbflow.core.composite_gradient import flat_tensors, gradients_like
from ebbflow.core.convert import convert
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested
from ebbflow.eager.backprop import Sums, add_up, ask, differentiable, rule_of, takes_none, unconnected
from ebbflow.eager.tape import UnconnectedGradients
from ebbflow.graph.scopes import tuple as gated
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.ops.arrays.shaping import shape
from ebbflow.ops.declare import FLAT, raw


class AggregationMethod:
    """How several gradients of one tensor are added up. The choices differ in memory, not in what they give."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def gradients(
    ys: Nested,
    xs: Nested,
    grad_ys: Nested = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Nested = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
) -> list[Any]:
    """Return sum(dy/dx) for each x in `xs`: symbolic tensors (None where no y depends on x)."""
    if context.executing_eagerly():
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError(f"Invalid `aggregation_method` specified {aggregation_method}.")
    if unconnected_gradients not in {*UnconnectedGradients, *(kind.value for kind in UnconnectedGradients)}:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}")
    unconnected_gradients = UnconnectedGradients(unconnected_gradients)
    flat_ys, values = flat_tensors(_as_list(ys)), _as_list(xs)
    flat_xs = flat_tensors(values)
    flat_stops = [] if stop_gradients is None else _as_list(stop_gradients)
    given = [None] * len(flat_ys) if grad_ys is None else _given(_as_list(grad_ys), len(flat_ys))
    if len(given) != len(flat_ys):
        raise ValueError(f"Passed {len(given)} grad_ys for {len(flat_ys)} ys")
    graph = context.current_graph()
    with graph.name_scope(name):
        targets = [_tensor(y, "y") for y in flat_ys]
        inside = any(getattr(t, "graph", None) is graph for t in targets)
        sources = [_source(x, inside) for x in flat_xs]
        stops = {id(_source(s, inside)) for s in flat_stops}
        sums = Sums()
        _seed(graph, targets, given, sums, colocate_gradients_with_ops)
        walk = _Walk(graph, targets, sources, stops, sums)
        walk.run(gate_gradients, colocate_gradients_with_ops, aggregation_method)
        found = [sums.get(s) for s in sources]
        pairs = zip(found, flat_xs, strict=True)
        filled = [g if g is not None else unconnected(x, unconnected_gradients) for g, x in pairs]
        return gradients_like(values, filled)


def _given(grads: list[Any], count: int) -> list[Any]:
    """Return the gradients that are given, one for each y: a list among them may be the numbers of one."""
    flat = flat_tensors(grads)
    return grads if len(flat) != count and len(grads) == count else flat


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else nest.flatten(value)


def _tensor(value: Any, name: str) -> Any:
    if isinstance(value, IndexedSlices):
        return value.values
    return value if isinstance(value, Tensor) else convert(value, name=name)


def _source(value: Any, inside: bool) -> Any:
    """Return the tensor a gradient is taken by: a variable's handle (or reference), or the tensor itself.

    For an eager one that is, in the body of a function, what carries it in, unless what is differentiated is not
    `inside` either.
    """
    found = getattr(value, "_tape_handle", None)
    if found is None:
        found = value.values if isinstance(value, IndexedSlices) else value
    if not isinstance(found, Tensor):
        return convert(found, name="x")
    graph: Any = context.current_graph()
    if type(found) is SymbolicTensor or not inside or isinstance(value, IndexedSlices):
        return found
    return graph.take(found) if graph.building_function else found


def _seed(graph: Any, targets: Sequence[Any], given: Sequence[Any], sums: Sums, colocate: bool) -> None:
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
            with _beside(graph, y.op, colocate):
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
    """The way from the targets back to the sources, node by node: a node's turn comes after all that use it."""

    def __init__(self, graph: Any, targets: Sequence[Any], sources: Sequence[Any], stops: set[int], sums: Sums):
        self._graph = graph
        self._sums = sums
        self._keep = {id(s) for s in sources}
        self._borders = _Borders(graph, sources)
        self._reached = _from_sources(sources, self._borders)
        self._between = self._from_targets(targets, stops)
        self._stops = stops
        self._pending = Counter(
            x.op for node in self._between for x in self._borders.inputs(node) if x.op in self._between
        )
        self._ready = deque(dict.fromkeys(t.op for t in targets if t.op in self._between and not self._pending[t.op]))

    def _from_targets(self, targets: Sequence[Any], stops: set[int]) -> dict[Operation, None]:
        """Return the nodes through which a target depends on a source."""
        found: dict[Operation, None] = {}
        stack = [t for t in targets if id(t) in self._reached]
        while stack:
            tensor = stack.pop()
            node = tensor.op
            if node in found:
                continue
            found[node] = None
            self._borders.check(tensor, self._reached, self._keep)
            if id(tensor) not in stops:
                stack.extend(x for x in self._borders.inputs(node) if id(x) in self._reached)
        return found

    def run(self, gate: bool, colocate: bool, aggregation_method: Any) -> None:
        """Push the gradients in `sums` back to the sources."""
        while self._ready:
            node = self._ready.popleft()
            with _beside(self._graph, node, colocate):
                grads = [self._sum_of(tensor, aggregation_method) for tensor in node._outputs]
                if grads.count(None) != len(grads) and not any(id(t) in self._stops for t in node._outputs):
                    self._push(node, grads, gate)
            for tensor in self._borders.inputs(node):
                before = tensor.op
                if before in self._between:
                    self._pending[before] -= 1
                    if not self._pending[before]:
                        self._ready.append(before)

    def _sum_of(self, tensor: Any, aggregation_method: Any) -> Any:
        """Return the whole gradient of a tensor; that of a source is kept for the end."""
        parts = self._sums.parts(tensor)
        if len(parts) > 1:
            parts[:] = [_add_up(self._graph, parts, tensor, aggregation_method)]
        return self._sums.get(tensor) if id(tensor) in self._keep else self._sums.take(tensor)

    def _push(self, node: Operation, grads: list[Any], gate: bool) -> None:
        """Ask a node's rule, and add what it gives to the sums of the inputs."""
        outside = self._borders.outside(node)
        if outside is not None:
            self._sums.add(outside, grads[0])
            return
        call = Call(node._op, node._inputs, node._outputs, node._attrs, node.line, node)
        rule = rule_of(call) if any(self._needs(x) for x in node._inputs) else FLAT
        if rule is FLAT:
            return
        if self._graph.building_function or takes_none(rule):
            call.wanted = [self._needs(x) for x in node._inputs]
        filled = grads if takes_none(rule) else _filled(grads, node._outputs)
        first = len(self._graph._nodes)
        with self._graph.name_scope(node.name + "_grad"):
            given = ask(rule, call, filled)
            if gate and sum(g is not None for g in given) > 1:
                given = self._gated(given, node)
        for new in self._graph._nodes[first:]:
            new._original_op = node
        for index, (tensor, grad) in enumerate(zip(node._inputs, given, strict=True)):
            if grad is not None and self._needs(tensor):
                _learn_shape(grad, tensor, node, index)
                self._sums.add(tensor, grad)

    def _needs(self, tensor: Any) -> bool:
        return id(tensor) in self._reached and differentiable(tensor.dtype.base_dtype)

    def _gated(self, grads: Sequence[Any], node: Operation) -> list[Any]:
        """Have none of a node's gradients be there before all are; those that lead nowhere need not be made for it."""
        with self._graph.device(None), self._graph.colocate_with(None, ignore_existing=True):
            results = gated(grads)
        needed = {_node_of(g) for g, x in zip(grads, node._inputs, strict=True) if g is not None and self._needs(x)}
        idle = [n for n in (_node_of(g) for g in grads if g is not None) if n not in needed]
        if idle:
            gates = _node_of(next(r for r in results if r is not None))._control_inputs
            for gate in [*gates, *[n for g in gates for n in g._control_inputs]]:
                gate._idle_controls = idle
        return results


def _beside(graph: Any, node: Operation, colocate: bool) -> contextlib.AbstractContextManager[Any]:
    return graph.colocate_with(node) if colocate else contextlib.nullcontext()


class _Borders:
    """What is captured on the way from the sources into the body in which gradients are wanted; elsewhere nothing."""

    def __init__(self, graph: Any, sources: Sequence[Any]):
        self._outside: dict[Any, Any] = {}  # the node that carries a tensor in, and that tensor
        self._inside: dict[int, list[Any]] = {}
        self._first_values: dict[int, Any] = {}
        if graph.building_function and any(type(s) is SymbolicTensor and s.graph is not graph for s in sources):
            while graph is not None and graph.building_function:
                self._add(graph)
                graph = graph._around

    def _add(self, graph: Any) -> None:
        for outside, inside in graph.captures:
            if type(outside) is SymbolicTensor:
                self._outside[inside.op] = outside
                self._inside.setdefault(id(outside), []).append(inside)
        for first, inside in zip(graph.first_values, graph.inputs, strict=False):
            self._inside.setdefault(id(first), []).append(inside)
            self._first_values[id(inside)] = first

    def outside(self, node: Operation) -> Any:
        """Return the tensor that a node carries into a body, or None."""
        return self._outside.get(node) if self._outside else None

    def inputs(self, node: Operation) -> list[Any]:
        """Return what a node depends on; for one that carries a tensor into a body, this tensor."""
        return node._inputs if self.outside(node) is None else [self._outside[node]]

    def inside(self, tensor: Any) -> list[Any]:
        """Return the tensors of bodies that carry in a tensor from around them."""
        return self._inside.get(id(tensor), []) if self._inside else []

    def check(self, tensor: Any, reached: set[int], sources: set[int]) -> None:
        """Refuse to go on from the variable of a loop to the value it starts with: that is for the loop's gradient."""
        origin = self._first_values.get(id(tensor))
        if origin is None or id(origin) not in reached:
            return
        while id(origin) not in sources:
            origin = next(x for x in self.inputs(origin.op) if id(x) in reached)
        raise ValueError(
            f"Cannot compute gradient inside while loop with respect to op '{origin.op.name}'. We do not support "
            "taking the gradient wrt or through the initial value of a loop variable. Gradients can be computed "
            "through loop invariants or wrt the input parameters to the loop body."
        )


def _from_sources(sources: Sequence[Any], borders: _Borders) -> set[int]:
    """Return the ids of all tensors through which a source could be felt."""
    reached = {id(s) for s in sources}
    stack = [s for s in sources if type(s) is SymbolicTensor]
    while stack:
        tensor = stack.pop()
        for output in [*[y for node in tensor._consumers for y in node._outputs], *borders.inside(tensor)]:
            if id(output) not in reached and differentiable(output.dtype.base_dtype):
                reached.add(id(output))
                stack.append(output)
    return reached


def _filled(grads: list[Any], outputs: Sequence[Any]) -> list[Any]:
    """Give outputs that nobody used a zero gradient, where they could have had one."""
    return [
        raw.ZerosLike(y, name="zeros_like") if g is None and (y.dtype.is_floating or y.dtype.is_complex) else g
        for g, y in zip(grads, outputs, strict=True)
    ]


def _node_of(grad: Any) -> Operation:
    return grad.values.op if isinstance(grad, IndexedSlices) else grad.op


def _learn_shape(grad: Any, tensor: Any, node: Operation, index: int) -> None:
    """Note that a gradient has the shape of what it is the gradient of."""
    if type(grad) is not SymbolicTensor or not (tensor.dtype.is_floating or tensor.dtype.is_complex):
        return
    try:
        grad.set_shape(tensor._dims)
    except ValueError:
        raise ValueError(
            f"Incompatible shapes between op input and calculated input gradient.  Forward operation: {node.name}.  "
            f"Input index: {index}. Original input shape: {tensor.shape}.  "
            f"Calculated input gradient shape: {grad.shape}"
        ) from None


def _add_up(graph: Any, parts: list[Any], tensor: Any, method: Any) -> Any:
    """Return the sum of gradients, beside the first of them."""
    if any(isinstance(p, IndexedSlices) for p in parts):
        return add_up(parts)
    if method == AggregationMethod.EXPERIMENTAL_TREE:
        with graph.name_scope(f"{tensor.op.name}_gradient_sum"):
            total = parts[0]
            for part in parts[1:]:
                total = raw.AddN([total, part])
            return total
    if type(parts[0]) is SymbolicTensor and parts[0].graph is graph:
        with graph.colocate_with(parts[0].op, ignore_existing=True):
            return raw.AddN(parts)
    return raw.AddN(parts)


def hessians(
    ys: Nested,
    xs: Nested,
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
    found: list[Any] = []
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
