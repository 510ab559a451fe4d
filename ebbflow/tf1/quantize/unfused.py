"""Batch normalisation that is spelled out in nodes under `…/BatchNorm/`, folded as `folding` does with single nodes.

Its parts are known by their names alone, those of `slim.batch_norm(fused=False)`.
"""

from __future__ import annotations

import re
from typing import Any

from ebbflow.ops.arrays.creation import ones
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.arrays.space import batch_to_space_nd
from ebbflow.ops.elementwise.binary import add_tf1 as add
from ebbflow.ops.elementwise.binary import multiply
from ebbflow.tf1.graph_copies import reroute_ts
from ebbflow.tf1.quantize.folding import Normalisation, copy_of_layer, corrections

NOT_OF_THE_NETWORK = ("gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary")
"""How names of nodes begin that train or tell, and are left alone."""

_GROUP = re.compile(r"^(.*)BatchNorm/batchnorm")


def fold_unfused(graph: Any, is_training: bool, freeze_delay: int | None) -> None:
    """Fold every normalisation that is spelled out."""
    for prefix in batch_norm_groups(graph):
        inside = f"{prefix}BatchNorm/batchnorm_1/"
        shifted = graph.get_operation_by_name(f"{inside}add_1").outputs[0]
        if not shifted.consumers():
            continue
        root = graph.get_operation_by_name(f"{inside}Rsqrt")
        scales = sum(user.type == "Mul" for user in root.outputs[0].consumers()) == 1
        with graph.as_default(), graph.name_scope(None):
            folded = _folded(graph, prefix, scales, is_training, freeze_delay)
        reroute_ts([folded], [shifted])


def batch_norm_groups(graph: Any) -> list[str]:
    """Return what the names of normalisations begin with, in the order of nodes."""
    found = (_GROUP.search(op.name) for op in graph.get_operations())
    return list(dict.fromkeys(m[1] for m in found if m and not m[1].startswith(NOT_OF_THE_NETWORK)))


def _folded(graph: Any, prefix: str, scales: bool, is_training: bool, freeze_delay: int | None) -> Any:
    inside = f"{prefix}BatchNorm/batchnorm_1/"
    scaled = graph.get_operation_by_name(inside + ("mul_1" if scales else "mul"))
    layer, back = scaled.inputs[0].op, None
    if layer.type == "BatchToSpaceND":
        back, layer = layer, layer.inputs[0].op
    if layer.type not in ("Conv2D", "MatMul", "DepthwiseConv2dNative"):
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    weights, scale, corrected = layer.inputs[1], scaled.inputs[1], None
    if is_training:
        corrected = corrections(_normalisation(graph, prefix, scales), prefix, freeze_delay)
    if layer.type == "DepthwiseConv2dNative":
        per_filter = weights.shape.as_list()[2:4]
        scale = graph.get_operation_by_name(inside + ("mul" if scales else "Rsqrt")).outputs[0]
        scale = reshape(scale, per_filter, name=f"{prefix}scale_reshape")
        if corrected is not None:
            corrected = (reshape(corrected[0], per_filter, name=f"{prefix}correction_reshape"), *corrected[1:])
    if corrected is not None:
        weights = multiply(corrected[0], weights, name=f"{prefix}correction_mult")
    weights = multiply(weights, scale, name=f"{prefix}mul_fold")
    out = copy_of_layer(layer, layer.inputs[0], weights, f"{layer.name}_Fold")
    if back is not None:
        out = batch_to_space_nd(out, back.inputs[1], back.inputs[2], name=f"{back.name}_Fold")
    if corrected is not None:
        out = multiply(corrected[1], out, name=f"{prefix}post_conv_mul")
        out = add(out, corrected[2], name=f"{prefix}correction_add")
    return add(out, graph.get_operation_by_name(f"{inside}add_1").inputs[1], name=f"{prefix}add_fold")


def _normalisation(graph: Any, prefix: str, scales: bool) -> Normalisation:
    def tensor(suffix: str) -> Any:
        return _closest(graph, f"BatchNorm/{suffix}", prefix)

    resource = tensor("moving_mean/read") is None
    read, kept = ("/Read/ReadVariableOp", "/Read/ReadVariableOp") if resource else ("/read", "")
    moving_mean, moving_variance = tensor(f"moving_mean{read}"), tensor(f"moving_variance{read}")
    if moving_mean is None or moving_variance is None:
        raise ValueError(f"'{prefix}BatchNorm' has no moving averages of mean and variance")
    return Normalisation(
        gamma=tensor(f"gamma{kept}") if scales else ones(moving_mean.shape),
        mean=tensor("moments/Squeeze"),
        variance=tensor("moments/Squeeze_1"),
        epsilon=tensor("batchnorm_1/add/y"),
        moving_mean=moving_mean,
        moving_variance=moving_variance,
        mean_decay=tensor("AssignMovingAvg/decay"),
        variance_decay=tensor("AssignMovingAvg_1/decay"),
    )


def _closest(graph: Any, suffix: str, prefix: str) -> Any:
    """Return the tensor of this last name that shares most scopes with `prefix`: variables may lie in fewer scopes."""
    scopes, best, most = set(prefix.split("/")), None, 0
    for op in graph.get_operations():
        if op.name.endswith(suffix):
            shared = len(scopes & set(op.name.split("/"))) if prefix else 1
            if shared > most:
                best, most = op, shared
    return None if best is None else best.outputs[0]
