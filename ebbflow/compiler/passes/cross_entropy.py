"""Scale the slope of a cross entropy while it is made.

The gradient of a mean loss is the slope of each row times a number: a second walk through an array that is often the
largest of the step. Where that number is known before the loss is, the two become one node.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Substitution, Value, standing_for
from ebbflow.core import dtypes
from ebbflow.core.op import op
from ebbflow.ops.nn.cross_entropy import sparse_entropy

SCALED = op(
    "_ScaledCrossEntropy(features:T, labels:Tlabels, scale:T) -> (loss:T, backprop:T) | T: floats; Tlabels: index",
    "fresh",
    internal=True,
    shape=lambda features, labels, scale: [features.dims[:1], features.dims],
)


@SCALED.kernel
def _(xp: Any, features: Any, labels: Any, scale: Any) -> Any:
    loss, slope = np.empty(features.shape[0], features.dtype), np.empty(features.shape, features.dtype)
    sparse_entropy(features, labels, scale, loss, slope)
    return loss, slope


SCALED.prepare(lambda knowns, attrs, dims: sparse_entropy)


def scale_entropies(flow: Flow) -> Flow:
    """Return the flow with the factors of cross entropies' slopes given to those who make them."""
    if not any(n.op.name == "SparseSoftmaxCrossEntropyWithLogits" for n in flow.nodes):
        return flow
    uses, fetched = flow.uses(), set(flow.outputs)
    position = {node: i for i, node in enumerate(flow.nodes)}
    instead: dict[Value, Value] = {}
    replaced: dict[Node, list[Node]] = {}
    for node in flow.nodes:
        found = _factor(node, uses, fetched, position)
        if found is not None:
            product, scale = found
            made = _scaled(node, product, scale)
            instead.update({node.outputs[0]: made.outputs[0], product.outputs[0]: made.outputs[1]})
            replaced[product] = []
            replaced[node] = [made]
            if scale.node is not None and position[scale.node] > position[node]:  # a constant, which may stand anywhere
                replaced[scale.node] = []
                replaced[node] = [scale.node, made]
    if not replaced:
        return flow
    nodes = [kept for n in flow.nodes for kept in replaced.get(n, [n])]
    return Substitution(instead).flow(flow, nodes)


def _factor(node: Node, uses: Any, fetched: set[Value], position: dict[Node, int]) -> tuple[Node, Value] | None:
    """Return the product that a cross entropy's slope goes into, and the other side of it."""
    if node.op.name != "SparseSoftmaxCrossEntropyWithLogits":
        return None
    slope = node.outputs[1]
    users = uses.get(slope, [])
    if slope in fetched or len(users) != 1 or users[0].op.name != "Mul" or not slope.is_static:
        return None
    if slope.dtype not in (dtypes.float32, dtypes.float64):
        return None
    x, y = users[0].inputs
    scale = y if x is slope else x
    if scale is slope or scale.dims not in ((), (1,), (1, 1), (slope.dims[0], 1)):  # type: ignore[index]
        return None
    is_ready = scale.node is None or scale.node.op.name == "Const" or position[scale.node] < position[node]
    return (users[0], scale) if is_ready else None


def _scaled(node: Node, product: Node, scale: Value) -> Node:
    attrs = {"T": scale.dtype, "Tlabels": node.inputs[1].dtype}
    given = (node.outputs[0], product.outputs[0])
    return standing_for(SCALED, [*node.inputs, scale], attrs, product.origin, given)
