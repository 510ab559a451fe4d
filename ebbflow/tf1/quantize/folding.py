"""Batch normalisation folded into the weights of the layer in front of it, as a network is used after training.

    Conv2D(x, w) -> FusedBatchNorm   =>   Conv2D(x, w * gamma / sigma) + (beta - mean * gamma / sigma)

In training the weights are scaled by the moving deviation, which changes slowly, and the difference to the batch's own
is put right behind the layer (`corrections`); after `freeze_delay` steps the moving averages are used, and stay.
This file has normalisation that is one node; `unfused` has that which is spelled out, on the same parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ebbflow.core import dtypes
from ebbflow.eager.custom_gradient import RegisterGradient
from ebbflow.graph.graph import get_default_graph
from ebbflow.layers.smart_cond import smart_cond
from ebbflow.ops.arrays.creation import identity, ones, zeros
from ebbflow.ops.arrays.shaping import reshape, size
from ebbflow.ops.arrays.space import batch_to_space_nd
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import add_tf1 as add
from ebbflow.ops.elementwise.binary import divide, multiply, subtract
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.nn.depthwise import depthwise_conv2d
from ebbflow.tf1.graph_copies import reroute_ts
from ebbflow.tf1.quantize.fake import quantization_step
from ebbflow.tf1.quantize.patterns import ANY, Match, OneOf, Pattern, matches

OWN_GRADIENT = "FoldFusedBatchNormGrad"


@dataclass
class Normalisation:
    """The tensors of one batch normalisation behind a layer."""

    gamma: Any
    mean: Any
    variance: Any
    epsilon: Any
    moving_mean: Any = None
    moving_variance: Any = None
    mean_decay: Any = None
    variance_decay: Any = None


@dataclass
class FusedLayer:
    """A layer and the one node that normalises it."""

    layer: Any
    node: Any
    output: Any
    input: Any
    weights: Any
    beta: Any
    batch_to_space: Any
    norm: Normalisation


def fold_fused(graph: Any, freeze_delay: int | None) -> None:
    """Fold every FusedBatchNorm that stands behind a convolution or a product."""
    for found in list(_fused_layers(graph)):
        scope, sep, _ = found.layer.name.rpartition("/")
        with graph.as_default(), graph.name_scope(scope + sep):
            folded = _folded(graph, found, scope + sep, sep, freeze_delay)
        if not reroute_ts([folded], [found.output]):
            raise ValueError(f"Folding batch norms failed, {found.output.name} had no outputs.")


def _folded(graph: Any, found: FusedLayer, scope: str, sep: str, freeze_delay: int | None) -> Any:
    """Return what comes out of the layer and its normalisation, computed by a copy of the layer with other weights."""
    norm, corrected = found.norm, None
    with graph.name_scope(f"{scope}BatchNorm_Fold{sep}"):
        multiplier = norm.gamma * raw.Rsqrt(norm.variance + norm.epsilon)
        bias = subtract(found.beta, norm.mean * multiplier, name="bias")
        if found.node.get_attr("is_training"):
            corrected = corrections(norm, "", freeze_delay)
        if found.layer.type == "DepthwiseConv2dNative":
            per_filter = found.weights.shape.as_list()[2:4]
            multiplier = reshape(multiplier, per_filter, name="scale_reshape")
            if corrected is not None:
                corrected = (reshape(corrected[0], per_filter, name="correction_reshape"), *corrected[1:])
    weights = found.weights
    if corrected is not None:
        weights = multiply(corrected[0], weights, name="correction_mult")
    weights = multiply(weights, multiplier, name="mul_fold")
    out = copy_of_layer(found.layer, found.input, weights, _last(found.layer.name) + "_Fold")
    if found.batch_to_space is not None and found.layer.type == "DepthwiseConv2dNative":
        back = found.batch_to_space
        out = batch_to_space_nd(out, back.inputs[1], back.inputs[2], name=_last(back.name) + "_Fold")
    if found.layer.type != "MatMul" and found.layer.get_attr("data_format") == b"NCHW":
        bias = reshape(bias, [1, -1, 1, 1])
    if corrected is not None:
        out = add(multiply(corrected[1], out, name="post_conv_mul"), corrected[2], name="correction_add")
    return add(out, bias, name="add_fold")


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def copy_of_layer(layer: Any, x: Any, weights: Any, name: str) -> Any:
    """Return what a layer's node computes from another input or other weights, by a node of its own."""
    if layer.type == "MatMul":
        flags = {flag: layer.get_attr(flag) for flag in ("transpose_a", "transpose_b")}
        return raw.MatMul(x, weights, name=name, **flags)
    attrs = {attr: layer.get_attr(attr) for attr in ("strides", "padding", "data_format")}
    attrs = {attr: value.decode() if isinstance(value, bytes) else value for attr, value in attrs.items()}
    if layer.type == "Conv2D":
        attrs["use_cudnn_on_gpu"] = layer.get_attr("use_cudnn_on_gpu")
        return raw.Conv2D(x, weights, name=name, dilations=layer.get_attr("dilations"), **attrs)
    if layer.type == "DepthwiseConv2dNative":
        return depthwise_conv2d(x, weights, name=name, **attrs)
    raise ValueError(f"Cannot handle operation of type: {layer.type}")


def corrections(norm: Normalisation, prefix: str, freeze_delay: int | None) -> tuple[Any, Any, Any]:
    """Return what to scale weights by, and what to scale and shift the layer's result by to undo it.

    Until normalisation is frozen the batch's own statistics count in the end, afterwards the moving ones.
    """
    with get_default_graph().name_scope(f"{prefix}batch_norm_correction"):
        moving = raw.Rsqrt(norm.moving_variance + norm.epsilon)
        own = raw.Rsqrt(norm.variance + norm.epsilon)
        scale = identity(divide(moving, own, name="scale_compute"), name="correction_scale")
        undone = raw.Reciprocal(scale, name="reciprocal_compute")
        offset = multiply(norm.gamma, norm.mean * own - norm.moving_mean * moving, name="offset_compute")
        frozen: Any = False
        if freeze_delay is not None:
            frozen = raw.GreaterEqual(quantization_step(), freeze_delay, name="use_moving_average")
        _stop(norm.mean_decay, frozen, "freeze_moving_mean")
        _stop(norm.variance_decay, frozen, "freeze_moving_var")
        return (
            scale,
            smart_cond(frozen, lambda: ones(scale.shape), lambda: undone, name="correction_recip"),
            smart_cond(frozen, lambda: offset, lambda: zeros(offset.shape), name="correction_offset"),
        )


def _stop(decay: Any, frozen: Any, name: str) -> None:
    """Have a moving average stand still once normalisation is frozen."""
    users = decay.consumers()
    rate = smart_cond(frozen, lambda: 0.0, lambda: decay, name=name)
    reroute_ts([rate], [decay], can_modify=users)


@RegisterGradient(OWN_GRADIENT)
def _statistics_gradient(op: Any, grad_y: Any, grad_mean: Any, grad_variance: Any, *rest: Any) -> Any:
    """Return the gradient by way of the batch's statistics, which is all that is left of a folded normalisation."""
    x = op.inputs[0]
    n = cast(size(x) / size(grad_mean), dtypes.float32)
    return grad_mean / n + 2 * grad_variance * (x - op.outputs[1]) / (n - 1), None, None, None, None


# --- where they are ---------------------------------------------------------------------------------------------------


_LAYER = Pattern(
    "Conv2D|DepthwiseConv2dNative|MatMul", Pattern("*", name="input"), Pattern("*", name="weights"), name="layer"
)
_BACK = Pattern("BatchToSpaceND", _LAYER, ANY, ANY, name="batch_to_space")
_OUT = OneOf(Pattern("Identity", OneOf(_BACK, _LAYER)), _LAYER, _BACK)
_NORM = Pattern(
    "FusedBatchNorm|FusedBatchNormV3",
    OneOf(Pattern("Reshape", _OUT, ANY), _OUT),
    *(Pattern("*", name=name) for name in ("gamma", "beta", "mean", "variance")),
    name="norm",
)
_FUSED = OneOf(Pattern("Reshape", _NORM, ANY, name="output_reshape"), _NORM)
_STEP = Pattern(
    "Mul",
    Pattern("Sub", Pattern("*", name="average"), Pattern("*", name="statistic")),
    Pattern("*", name="decay"),
)
"""How far a moving average moves: (average - statistic) * decay."""


def _fused_layers(graph: Any) -> Iterator[FusedLayer]:
    seen = set()
    for match in matches(_FUSED, graph):
        layer, node = match.op("layer"), match.op("norm")
        reshaped = match.op("output_reshape")
        if layer in seen or (layer.type == "MatMul" and reshaped is None):
            continue  # of a product's normalisation, what is reshaped back to a matrix matches for itself
        output = reshaped.outputs[0] if layer.type == "MatMul" else node.outputs[0]
        if not output.consumers():
            continue
        seen.add(layer)
        tensors = (match.tensor("input"), match.tensor("weights"), match.tensor("beta"), match.op("batch_to_space"))
        yield FusedLayer(layer, node, output, *tensors, _normalisation(graph, match))


def _normalisation(graph: Any, match: Match) -> Normalisation:
    node, gamma = match.op("norm"), match.tensor("gamma")
    epsilon = node.get_attr("epsilon")
    if not node.get_attr("is_training"):
        return Normalisation(gamma, match.tensor("mean"), match.tensor("variance"), epsilon)
    node._set_attr("_gradient_op_type", OWN_GRADIENT)
    mean = node.outputs[1]
    scope, sep, _ = node.name.rpartition("/")
    with graph.as_default(), graph.name_scope(scope + sep):
        n = cast(size(match.tensor("layer")) / size(mean), dtypes.float32)
        # what the node tells as variance is for moving averages: over n - 1; it normalises by that over n
        variance = multiply(node.outputs[2], (n - 1) / n, name="Undo_Bessel_Correction")
    norm = Normalisation(gamma, mean, variance, epsilon)
    for step in matches(_STEP, graph):
        if step.tensor("statistic") is node.outputs[1]:
            norm.moving_mean, norm.mean_decay = step.tensor("average"), step.tensor("decay")
        elif step.tensor("statistic") is node.outputs[2]:
            norm.moving_variance, norm.variance_decay = step.tensor("average"), step.tensor("decay")
    if norm.moving_mean is None or norm.moving_variance is None:
        raise ValueError(f"'{node.name}' normalises by its batch, but no moving averages follow its mean and variance")
    return norm
