"""Products and normalisations behind a convolution, put into its weights; convolutions with holes as one op.

`fold_batch_norms` takes a Mul by constants behind a Conv2D or MatMul, `fold_old_batch_norms` the ops of a normalisation
with moments that are known, `flatten_atrous_conv` a convolution between SpaceToBatchND and BatchToSpaceND.
"""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ebbflow.core.typing import Message
from ebbflow.graph.scope_names import node_name
from ebbflow.messages.tensors import make_ndarray
from ebbflow.tf1.graph_transforms.edits import by_name, is_control, needed, with_nodes
from ebbflow.tf1.graph_transforms.folding import constant
from ebbflow.tf1.graph_transforms.request import Request

CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")


class View:
    """The nodes of a GraphDef, who takes them, and which hold constants."""

    def __init__(self, graph_def: Any, request: Request):
        self.nodes = by_name(graph_def)
        self.users = collections.Counter(node_name(edge) for node in graph_def.node for edge in node.input)
        self._outputs = frozenset(request.outputs)

    def source(self, node: Any, number: int, *ops: str) -> Any:
        """Return the node of one of these ops whose first tensor is a certain input of `node`, or None."""
        if number >= len(node.input) or is_control(node.input[number]):
            return None
        found = self.nodes.get(node.input[number].removesuffix(":0"))
        return found if found is not None and found.op in ops else None

    def own(self, node: Any) -> bool:
        """Return whether a node is there for one other alone."""
        return self.users[node.name] == 1 and node.name not in self._outputs

    def value(self, node: Any, number: int) -> np.ndarray | None:
        """Return the constant that a certain input of `node` is, or None."""
        found = self.source(node, number, "Const")
        return None if found is None else make_ndarray(found.attr["value"].tensor)


def rewritten(graph_def: Any, request: Request, changed: dict[str, Any], more: list[Any]) -> Message:
    """Return a GraphDef with some nodes changed and some more; what nobody needs any more goes."""
    result = with_nodes(graph_def, [*(changed.get(node.name, node) for node in graph_def.node), *more])
    return needed(result, request.outputs, request.inputs)


def changed_copy(node: Any, **fields: Any) -> Any:
    result = type(node)()
    result.CopyFrom(node)
    for name, value in fields.items():
        setattr(result, name, value)
    return result


# --- a product --------------------------------------------------------------------------------------------------------


def fold_batch_norms(graph_def: Message, request: Request) -> Message:
    """Put a product with constants, one a channel, into the weights in front of it."""
    view = View(graph_def, request)
    changed: dict[str, Any] = {}
    for node in graph_def.node:
        if node.op != "Mul":
            continue
        before, scale = view.source(node, 0, "Conv2D", "MatMul"), view.value(node, 1)
        weights = view.value(before, 1) if before is not None else None
        if weights is None or scale is None or _turned(before):
            continue
        held = view.source(before, 1, "Const")
        if scale.shape != weights.shape[-1:] or not (view.own(before) and view.own(held)):
            continue
        changed[held.name] = constant(held.name, weights * scale)
        changed[node.name] = changed_copy(before, name=node.name)
    return rewritten(graph_def, request, changed, []) if changed else graph_def


def _turned(node: Any) -> bool:
    """Return whether a MatMul takes its weights the other way round."""
    return "transpose_b" in node.attr and node.attr["transpose_b"].b


# --- a normalisation --------------------------------------------------------------------------------------------------

#  op                                  where variance, mean, beta and gamma stand
NORMS = {
    "BatchNormWithGlobalNormalization": (2, 1, 3, 4),
    "FusedBatchNorm": (4, 3, 2, 1),
}


def fold_old_batch_norms(graph_def: Message, request: Request) -> Message:
    """Put a normalisation with constant moments into the convolution in front of it and a BiasAdd."""
    return folded_norms(graph_def, request, NORMS)


def folded_norms(graph_def: Any, request: Request, norms: dict[str, tuple[int, int, int, int]]) -> Message:
    """Return a graph without the normalisations of some ops that stand behind a convolution of their own."""
    view = View(graph_def, request)
    changed: dict[str, Any] = {}
    more = []
    for node in graph_def.node:
        conv = view.source(node, 0, *CONVOLUTIONS) if node.op in norms else None
        held = view.source(conv, 1, "Const") if conv is not None else None
        if conv is None or held is None or not (view.own(conv) and view.own(held)) or _trains(node):
            continue
        values = [view.value(node, place) for place in norms[node.op]]
        if any(value is None for value in values):
            continue
        slope, offset = _slope_and_offset(node, *values)
        weights = make_ndarray(held.attr["value"].tensor)
        per_output = slope if conv.op == "Conv2D" else slope.reshape(weights.shape[2:])
        changed[held.name] = constant(held.name, weights * per_output)
        more.append(constant(f"{conv.name}_bn_offset", offset))
        bias = type(node)(name=node.name, op="BiasAdd", device=node.device, input=[conv.name, more[-1].name])
        bias.attr["T"].CopyFrom(conv.attr["T"])
        bias.attr["data_format"].CopyFrom(conv.attr["data_format"])
        changed[node.name] = bias
    return rewritten(graph_def, request, changed, more) if changed else graph_def


def _trains(node: Any) -> bool:
    return node.op.startswith("FusedBatchNorm") and ("is_training" not in node.attr or node.attr["is_training"].b)


def _slope_and_offset(node: Any, variance: Any, mean: Any, beta: Any, gamma: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what a normalisation multiplies by and adds, one number a channel."""
    old = node.op == "BatchNormWithGlobalNormalization"
    epsilon = node.attr["variance_epsilon" if old else "epsilon"].f
    slope = 1 / np.sqrt(variance + np.float32(epsilon))
    if not old or node.attr["scale_after_normalization"].b:
        slope = slope * gamma
    return slope.astype(np.float32), (beta - mean * slope).astype(np.float32)


# --- holes ------------------------------------------------------------------------------------------------------------


def flatten_atrous_conv(graph_def: Message, request: Request) -> Message:
    """Write a convolution between SpaceToBatchND and BatchToSpaceND as one whose weights have holes."""
    view = View(graph_def, request)
    changed: dict[str, Any] = {}
    for back in graph_def.node:
        conv = view.source(back, 0, *CONVOLUTIONS) if back.op == "BatchToSpaceND" else None
        spread = view.source(conv, 0, "SpaceToBatchND") if conv is not None else None
        held = view.source(conv, 1, "Const") if spread is not None else None
        if conv is None or spread is None or held is None:
            continue
        if not (view.own(conv) and view.own(spread) and view.own(held)):
            continue
        rates, paddings = view.value(spread, 1), view.value(spread, 2)
        if rates is None or paddings is None or rates.shape != (2,):
            continue
        changed[held.name] = constant(held.name, with_holes(make_ndarray(held.attr["value"].tensor), rates))
        flat = changed_copy(conv, name=back.name)
        flat.input[0] = spread.input[0]
        flat.attr["padding"].s = b"SAME" if paddings.any() else b"VALID"
        for name in ("dilations", "explicit_paddings"):
            flat.attr.pop(name, None)
        changed[back.name] = flat
    return rewritten(graph_def, request, changed, []) if changed else graph_def


def with_holes(weights: np.ndarray, rates: Any) -> np.ndarray:
    """Return a convolution's weights with zeros between their rows and columns.

    >>> with_holes(np.ones([2, 1, 1, 1]), [2, 1])[:, 0, 0, 0].tolist()
    [1.0, 0.0, 1.0]
    """
    rows, columns = ((size - 1) * int(rate) + 1 for size, rate in zip(weights.shape, rates))
    spread = np.zeros((rows, columns, *weights.shape[2:]), weights.dtype)
    spread[:: int(rates[0]), :: int(rates[1])] = weights
    return spread
