"""Let a product or a convolution finish what is done to its result: bias, another array added, activation.

oneDNN does these while the numbers are still in registers. What is fused becomes one node, if oneDNN has a plan for it;
where it has none (too small, another dtype, no library) everything stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.compiler.flow import Flow, Node, Substitution, Value, standing_for
from ebbflow.core import dtypes
from ebbflow.core.op import op
from ebbflow.engines.onednn import conv, library, matmul

FUSED = op(
    "_Fused(inputs:N*T) -> (outputs:M*T) | N: int >= 2; M: int >= 1; T: type; dims: list(shape); call: func",
    internal=True,
    shape=lambda inputs, *, dims: list(dims),
)
FUSED.prepare(lambda knowns, attrs, dims: attrs["call"])

WORTH = 1 << 20
"""Multiplications of a product, at least."""
WORTH_CONVOLVING = 1 << 9
"""Elements of a convolution's input, at least."""

_ACTIVATIONS = ("relu", "tanh", "sigmoid")
"""What oneDNN's products and convolutions can end with."""

_CONV = ("strides", "padding", "explicit_paddings", "data_format", "dilations")


def fuse(flow: Flow) -> Flow:
    """Return the flow with what follows products and convolutions fused into them."""
    if not any(n.op.name in _PLANNERS for n in flow.nodes) or not library.serves():
        return flow
    uses, fetched = flow.uses(), set(flow.outputs)
    position = {node: i for i, node in enumerate(flow.nodes)}
    instead: dict[Node, Node] = {}  # the last node of a chain, and the one that takes its place
    gone: set[Node] = set()
    renamed: dict[Value, Value] = {}
    for node in flow.nodes:
        if node.op.name not in _PLANNERS or node.outputs[0].dtype is not dtypes.float32 or not _worth(node):
            continue
        is_gradient = node.op.name == "Conv2DBackpropFilter"
        chain: Any = _FilterGradient(node, uses, position) if is_gradient else _Chain(node, uses, fetched, gone)
        made = chain.fused()
        if made is not None:
            instead[chain.place] = made
            gone.update(chain.nodes)
            renamed.update(zip(chain.results, made.outputs, strict=True))
    if not instead:
        return flow
    nodes = [instead.get(node, node) for node in flow.nodes if node in instead or node not in gone]
    return Substitution(renamed).flow(flow, nodes)


def _worth(node: Node) -> bool:
    """Return whether there is enough arithmetic that calling oneDNN pays."""
    values = (*node.inputs, *node.outputs)
    if not all(v.is_static for v in values):
        return False
    if node.op.name == "MatMul":
        return values[0].size * values[2].dims[1] >= WORTH  # type: ignore[index,operator]
    return values[0].size >= WORTH_CONVOLVING


class _Chain:
    """A product or convolution, and the nodes behind it as far as they can be one with it."""

    def __init__(self, node: Node, uses: dict[Value, list[Node]], fetched: set[Value], gone: set[Node]):
        self.nodes = [node]
        self._uses, self._fetched, self._gone = uses, fetched, gone
        self._bias: Value | None = None
        self._addend: Value | None = None
        self._activation: str | None = None
        while self._activation is None and (following := self._only_user()) is not None and self._takes(following):
            self.nodes.append(following)

    @property
    def _result(self) -> Value:
        return self.nodes[-1].outputs[0]

    @property
    def place(self) -> Node:
        return self.nodes[-1]

    @property
    def results(self) -> list[Value]:
        return [self._result]

    def _only_user(self) -> Node | None:
        users = self._uses.get(self._result, [])
        if len(users) != 1 or self._result in self._fetched:
            return None
        return None if users[0] in self._gone else users[0]  # a sum of two products is finished by one of them

    def _takes(self, node: Node) -> bool:
        finish, result = node.op.facts.finishes, self._result
        if not node.outputs or node.outputs[0].dims != result.dims:
            return False
        if finish in _ACTIVATIONS:
            self._activation = finish
            return True
        if finish != "add":
            return False
        other = node.inputs[1] if node.inputs[0] is result else node.inputs[0]
        if node.attrs.get("data_format", "NHWC") != "NHWC":
            return False
        is_row = other.dims == result.dims[-1:] and self.nodes[0].attrs.get("data_format", "NHWC") == "NHWC"  # type: ignore[index]
        if is_row and self._bias is None and self._addend is None:
            self._bias = other
            return True
        if other.dims == result.dims and other is not result and self._addend is None:
            self._addend = other
            return True
        return False

    def fused(self) -> Node | None:
        """Return the one node for all, or None where there is nothing to fuse or no plan."""
        if len(self.nodes) == 1:
            return None
        first, last = self.nodes[0], self.nodes[-1]
        plan = _PLANNERS[first.op.name](
            first, bias=self._bias is not None, add=self._addend is not None, activation=self._activation
        )
        if plan is None or plan.outputs[0] != first.outputs[0].dims:
            return None
        extra = [v for v in (self._bias, self._addend) if v is not None]
        how = {"bias": self._bias is not None, "add": self._addend is not None, "activation": self._activation}
        return _node(plan, first, [*first.inputs[:2], *extra], [last.outputs[0]], last.origin, **how)  # type: ignore[arg-type]


class _FilterGradient:
    """The gradient of a convolution for its filter, and that of the bias behind it: sums of the same array."""

    def __init__(self, node: Node, uses: dict[Value, list[Node]], position: dict[Node, int]):
        x, _, dy = node.inputs
        ready = max(position.get(v.node, -1) for v in (x, dy))  # type: ignore[arg-type]
        sums = [n for n in uses.get(dy, []) if n.op.name == "BiasAddGrad" and position[n] > ready]
        self.nodes = [node, *sums[:1]]
        self.place = min(self.nodes, key=position.__getitem__)  # before all who take either result
        self.results = [n.outputs[0] for n in self.nodes]

    def fused(self) -> Node | None:
        """Return the one node for both, or None where there is nothing to fuse or no plan."""
        node = self.nodes[0]
        if len(self.nodes) == 1 or node.attrs["data_format"] != "NHWC":
            return None
        x, _, dy = node.inputs
        plan = conv.to_filter(x.dims, node.outputs[0].dims, dy.dims, *[node.attrs[name] for name in _CONV], bias=True)
        if plan is None:
            return None
        return _node(plan, node, [x, x, dy], self.results, node.origin, bias=True)


def _node(
    plan: Any,
    first: Node,
    inputs: list[Value],
    results: list[Value],
    origin: Any,
    bias: bool = False,
    add: bool = False,
    activation: str | None = None,
) -> Node:
    """Return the one node for a plan; it says what it stands for."""
    dims = tuple(v.dims for v in results)
    attrs = {"N": len(inputs), "M": len(results), "T": dtypes.float32, "dims": dims, "call": plan.call}
    attrs |= {"first": first.op.name, "how": first.attrs, "bias": bias, "add": add, "activation": activation}
    return standing_for(FUSED, inputs, attrs, origin, results)


def _product(node: Node, **what: Any) -> Any:
    return matmul.forward(
        node.inputs[0].dims, node.inputs[1].dims, node.attrs["transpose_a"], node.attrs["transpose_b"], **what
    )


def _convolution(node: Node, **what: Any) -> Any:
    return conv.forward(node.inputs[0].dims, node.inputs[1].dims, *[node.attrs[name] for name in _CONV], **what)


_PLANNERS: dict[str, Callable[..., Any]] = {
    "MatMul": _product,
    "Conv2D": _convolution,
    "Conv2DBackpropFilter": conv.to_filter,
}
