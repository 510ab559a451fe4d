"""`tensorflow.python.tools.optimize_for_inference_lib`: a trained graph cut down to what its results need.

Checks of numbers go, normalisations become part of the convolutions in front of them, and what prepares pictures for a
convolution becomes one op with it. Messages in, messages out.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes
from ebbflow.core.typing import Message
from ebbflow.graph.graph_util import remove_training_nodes, with_rest
from ebbflow.graph.scope_names import node_name
from ebbflow.graph.strip_unused import strip_unused
from ebbflow.messages.tensors import make_ndarray
from ebbflow.tf1.graph_transforms.batch_norms import (
    CONVOLUTIONS,
    NORMS,
    View,
    changed_copy,
    folded_norms,
    rewritten,
)
from ebbflow.tf1.graph_transforms.edits import PLACEHOLDERS, with_nodes
from ebbflow.tf1.graph_transforms.folding import constant
from ebbflow.tf1.graph_transforms.request import Request

LEARNING_PHASE = "keras_learning_phase"
"""The placeholder that says whether a model of Keras trains: false from here on, whoever asks."""


def optimize_for_inference(
    input_graph_def: Message,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
    toco_compatible: bool = False,
    placeholder_to_const_names: Sequence[str] | None = None,
) -> Message:
    """Return a GraphDef of what the outputs need of the inputs, without what only training uses."""
    ensure_graph_is_valid(input_graph_def)
    graph_def = convert_placeholder_to_const(input_graph_def, placeholder_to_const_names)
    graph_def = strip_unused(graph_def, input_node_names, output_node_names, placeholder_type_enum)
    graph_def = remove_training_nodes(graph_def, output_node_names)
    graph_def = fold_batch_norms(fuse_decomposed_batch_norm(graph_def))
    if not toco_compatible:
        graph_def = fuse_resize_and_conv(graph_def, output_node_names)
    ensure_graph_is_valid(graph_def)
    return graph_def


# --- what is there ----------------------------------------------------------------------------------------------------


def ensure_graph_is_valid(graph_def: Message) -> None:
    """Raise a ValueError if two nodes have one name, or an input comes from none."""
    nodes = _distinct(graph_def)
    for node in nodes.values():
        for edge in node.input:
            if node_name(edge) not in nodes:
                raise ValueError("Input for ", node.name, " not found: ", edge)


def _distinct(graph_def: Any) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for node in graph_def.node:
        if node.name in nodes:
            raise ValueError("Duplicate node names detected for ", node.name)
        nodes[node.name] = node
    return nodes


def node_from_map(node_map: Mapping[str, Any], name: str) -> Any:
    """Return the node that an edge comes from."""
    if node_name(name) not in node_map:
        raise ValueError(f"No node named '{name}' found in map.")
    return node_map[node_name(name)]


def values_from_const(node_def: Message) -> np.ndarray:
    """Return the array that a Const holds."""
    node: Any = node_def
    if node.op != "Const":
        raise ValueError(f"Can not extract constant value from a node that is not Const. Got:\n{node}")
    return make_ndarray(node.attr["value"].tensor)


def get_const_dim_count(node_def: Message) -> int:
    """Return the rank of what a Const holds."""
    return values_from_const(node_def).ndim


def scale_after_normalization(node: Any) -> bool:
    """Return whether a normalisation multiplies by gamma."""
    old = node.op == "BatchNormWithGlobalNormalization"
    return bool(node.attr["scale_after_normalization"].b) if old else True


# --- placeholders -----------------------------------------------------------------------------------------------------


def convert_placeholder_to_const(input_graph_def: Any, nodes_to_convert: Sequence[str] | None = None) -> Message:
    """Return a GraphDef whose truths named in `nodes_to_convert` ("training=False") are not asked for any more."""
    entries = [entry.split("=") for entry in nodes_to_convert or () if "=" in entry]
    said = {LEARNING_PHASE: "False", **{entry[0]: entry[1] for entry in entries}}
    _distinct(input_graph_def)
    result = with_nodes(input_graph_def, input_graph_def.node)
    for node in result.node:
        asked = node.op in PLACEHOLDERS and node.name in said
        if asked and node.attr["dtype"].type == dtypes.bool.as_datatype_enum:
            node.CopyFrom(constant(node.name, np.array([said[node.name].lower() == "true"])))
    return with_rest(result, input_graph_def)


# --- normalisations ---------------------------------------------------------------------------------------------------

_NORMS = {**NORMS, **dict.fromkeys(("FusedBatchNormV2", "FusedBatchNormV3"), NORMS["FusedBatchNorm"])}


def fold_batch_norms(input_graph_def: Any) -> Message:
    """Return a GraphDef whose normalisations behind convolutions are part of these, and a BiasAdd."""
    _distinct(input_graph_def)
    return with_rest(folded_norms(input_graph_def, _all_ends(input_graph_def), _NORMS), input_graph_def)


def _all_ends(graph_def: Any) -> Request:
    """Return what keeps all nodes that give something nobody takes."""
    taken = {node_name(edge) for node in graph_def.node for edge in node.input}
    asked = (node.name for node in graph_def.node if node.op == "Placeholder")
    return Request(tuple(asked), tuple(node.name for node in graph_def.node if node.name not in taken))


def fuse_decomposed_batch_norm(input_graph_def: Any) -> Message:
    """Return a GraphDef in which x·s + (β − μ·s), s = γ/√(σ² + ε), behind a convolution is one normalisation."""
    _distinct(input_graph_def)
    view = View(input_graph_def, _all_ends(input_graph_def))
    changed: dict[str, Any] = {}
    more: list[Any] = []
    for node in input_graph_def.node:
        for first, second in ((0, 1), (1, 0)) if node.op in ("Add", "AddV2") else ():
            norm = _norm_of(view, node, first, second)
            if norm is not None:
                changed[node.name], extra = norm
                more += extra
                break
    if not changed:
        return input_graph_def
    return with_rest(rewritten(input_graph_def, _all_ends(input_graph_def), changed, more), input_graph_def)


def _norm_of(view: View, node: Any, first: int, second: int) -> tuple[Any, list[Any]] | None:
    """Return the normalisation that an addition is, with constants that it needs; None if it is none."""
    product, shift = view.source(node, first, "Mul"), view.source(node, second, "Sub")
    shifted = view.source(shift, 1, "Mul") if shift is not None else None
    if product is None or shift is None or shifted is None:
        return None
    for x, scale in itertools.product((0, 1), (0, 1)):
        if product.input[1 - x] != shifted.input[1 - scale]:
            continue
        conv, mean, beta = view.source(product, x, *CONVOLUTIONS), shifted.input[scale], shift.input[0]
        slope = _slope(view, product, 1 - x)
        known = all(view.value(n, i) is not None for n, i in ((shifted, scale), (shift, 0)))
        if conv is None or slope is None or not known or conv.attr["data_format"].s not in (b"", b"NHWC"):
            continue
        variance, epsilon, gamma = slope
        channels = view.value(shift, 0)
        more = [] if gamma else [constant(f"{node.name}_gamma", np.ones_like(channels))]
        edges = [product.input[x], gamma or more[0].name, beta, mean, variance]
        norm = messages.NodeDef(name=node.name, op="FusedBatchNorm", device=node.device, input=edges)
        norm.attr["T"].CopyFrom(node.attr["T"])
        norm.attr["epsilon"].f = epsilon
        norm.attr["is_training"].b = False
        return norm, more
    return None


def _slope(view: View, node: Any, number: int) -> tuple[str, float, str] | None:
    """Return where variance, epsilon and gamma ("" where there is none) of an input 1/√(σ² + ε)·γ come from."""
    gamma, root = "", view.source(node, number, "Rsqrt")
    scaled = view.source(node, number, "Mul")
    if scaled is not None:
        side = next((i for i in (0, 1) if view.source(scaled, i, "Rsqrt") is not None), None)
        if side is None or view.value(scaled, 1 - side) is None:
            return None
        root, gamma = view.source(scaled, side, "Rsqrt"), scaled.input[1 - side]
    total = view.source(root, 0, "Add", "AddV2") if root is not None else None
    if total is None:
        return None
    variance, epsilon = view.value(total, 0), view.value(total, 1)
    if variance is None or epsilon is None or epsilon.ndim or variance.ndim != 1:
        return None
    return total.input[0], float(epsilon), gamma


# --- pictures ---------------------------------------------------------------------------------------------------------


def fuse_resize_and_conv(input_graph_def: Any, output_node_names: Sequence[str]) -> Message:
    """Return a GraphDef in which resizing and mirroring in front of a convolution are one op with it."""
    _distinct(input_graph_def)
    ends = _all_ends(input_graph_def)
    request = Request(ends.inputs, tuple(dict.fromkeys([*ends.outputs, *output_node_names])))
    view = View(input_graph_def, request)
    changed: dict[str, Any] = {}
    more: list[Any] = []
    for conv in input_graph_def.node:
        fused = _with_preparation(view, conv) if conv.op == "Conv2D" and _plain(conv) else None
        if fused is not None:
            changed[conv.name], extra = fused
            more += extra
    if not changed:
        return input_graph_def
    return with_rest(rewritten(input_graph_def, request, changed, more), input_graph_def)


def _plain(conv: Any) -> bool:
    """Return whether a convolution is over rows and columns without holes."""
    holes = any(rate != 1 for rate in conv.attr["dilations"].list.i) if "dilations" in conv.attr else False
    layout = conv.attr["data_format"].s if "data_format" in conv.attr else b""
    return layout in (b"", b"NHWC") and conv.attr["padding"].s != b"EXPLICIT" and not holes


def _with_preparation(view: View, conv: Any) -> tuple[Any, list[Any]] | None:
    """Return a convolution that resizes and pads what it takes, with constants that it needs; None if nothing does."""
    pad = _owned(view, conv, "MirrorPad")
    resize = _owned(view, pad if pad is not None else conv, "ResizeBilinear")
    if resize is not None and "half_pixel_centers" in resize.attr and resize.attr["half_pixel_centers"].b:
        resize = None
    if pad is None and resize is None:
        return None
    op = "FusedPadConv2D" if resize is None else "FusedResizeAndPadConv2D"
    more = [] if pad is not None else [constant(f"{conv.name}_dummy_paddings", np.zeros([4, 2], np.int32))]
    start = pad if resize is None else resize
    sizes = [] if resize is None else [resize.input[1]]
    fused = changed_copy(conv, op=op)
    fused.attr.clear()
    fused.input[:] = [start.input[0], *sizes, pad.input[1] if pad is not None else more[0].name, conv.input[1]]
    for name in ("T", "strides", "padding"):
        fused.attr[name].CopyFrom(conv.attr[name])
    fused.attr["mode"].s = pad.attr["mode"].s if pad is not None else b"REFLECT"
    if resize is not None:
        fused.attr["resize_align_corners"].b = resize.attr["align_corners"].b
    return fused, more


def _owned(view: View, node: Any, op: str) -> Any:
    """Return the node of an op that another takes and nobody else, or None."""
    found = view.source(node, 0, op)
    return found if found is not None and view.own(found) else None
