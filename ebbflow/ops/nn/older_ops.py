"""Ops of neural nets that are others under older names, or several in one: exported graphs hold them.

Convolutions whose gradient's shape is that of a tensor, convolutions of any rank, convolutions of what was resized or
padded with its mirror image, batch normalisation of the first releases.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Known, Op, op
from ebbflow.core.registry import registry
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Padding, Sizes, TensorLike
from ebbflow.ops.declare import UNDEFINED, dense, raw, same, show
from ebbflow.ops.image import taps
from ebbflow.ops.image.resize_ops import checked_size
from ebbflow.ops.kernels import computed
from ebbflow.ops.nn.windows import grid, output_length, patches, with_edges
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid

# --- convolutions -----------------------------------------------------------------------------------------------------

_EXPLICIT = (
    'strides: list(int); use_cudnn_on_gpu: bool = true; padding: string in ["SAME","VALID","EXPLICIT"]; '
    'explicit_paddings: list(int) = []; data_format: string in ["NHWC","NCHW"] = "NHWC"; '
    "dilations: list(int) = [1,1,1,1]"
)
_THREE = 'strides: list(int) >= 5; padding: string in ["SAME","VALID"]; dilations: list(int) = [1,1,1,1,1]'


def _by_tensor(text: str, today: str, sized: int) -> Op:
    """Declare a gradient of a convolution that is given a tensor where today's is given its shape."""
    declared = op(text, gradient=UNDEFINED)
    declared.shape(lambda input, filter, out_backprop: (input, filter)[sized].dims)
    names = [n for n in registry[today].kernel_attrs if n in declared.signature.attrs]

    def kernel(xp: Any, input: Any, filter: Any, out_backprop: Any, **attrs: Any) -> Any:
        sizes = np.array((input, filter)[sized].shape, np.int32)
        first = (sizes, filter) if sized == 0 else (input, sizes)
        return computed(today, *first, out_backprop, **attrs)

    declared.kernel(kernel)
    declared.kernel_attrs = tuple(names)
    return declared


Conv2DBackpropInputV2 = _by_tensor(
    "Conv2DBackpropInputV2(input:T, filter:T, out_backprop:T) -> (output:T) | "
    f"T: type in [half,bfloat16,float,double,int32]; {_EXPLICIT}",
    "Conv2DBackpropInput", 0,
)  # fmt: skip
Conv2DBackpropFilterV2 = _by_tensor(
    "Conv2DBackpropFilterV2(input:T, filter:T, out_backprop:T) -> (output:T) | "
    f"T: type in [half,bfloat16,float,double]; {_EXPLICIT}",
    "Conv2DBackpropFilter", 1,
)  # fmt: skip
Conv3DBackpropInput = _by_tensor(
    f"Conv3DBackpropInput(input:T, filter:T, out_backprop:T) -> (output:T) | T: type in [half,float,double]; {_THREE}"
    " | deprecated@10",
    "Conv3DBackpropInputV2", 0,
)  # fmt: skip
Conv3DBackpropFilter = _by_tensor(
    f"Conv3DBackpropFilter(input:T, filter:T, out_backprop:T) -> (output:T) | T: type in [half,float,double]; {_THREE}"
    " | deprecated@10",
    "Conv3DBackpropFilterV2", 1,
)  # fmt: skip

Conv = op(
    "Conv(input:T, filter:T) -> (output:T) | T: type in [half,bfloat16,float,double,int32]; strides: list(int); "
    'padding: string in ["SAME","VALID","EXPLICIT"]; explicit_paddings: list(int) = []; '
    'data_format: string in ["CHANNELS_FIRST","CHANNELS_LAST"] = "CHANNELS_LAST"; dilations: list(int) = []; '
    "batch_dims: int = 1; groups: int = 1"
)


def _conv_attrs(
    rank: int, strides: Any, padding: str, explicit: Any, data_format: str, dilations: Any, batch: int
) -> Any:
    """Return the op of images of this rank whose batch axes are made one, and its attrs."""
    rank -= batch - 1
    if batch < 1 or rank not in (4, 5):
        raise invalid(f"Conv takes images with 2 or 3 axes of space, not {rank - 2} (batch_dims = {batch})")
    last = data_format == "CHANNELS_LAST"
    form = ("NHWC" if last else "NCHW") if rank == 4 else ("NDHWC" if last else "NCDHW")
    attrs = {"strides": strides, "padding": padding, "data_format": form, "dilations": dilations or [1] * rank}
    if rank == 4:
        return "Conv2D", attrs | {"explicit_paddings": explicit}
    if padding == "EXPLICIT":
        raise invalid("Conv with 3 axes of space knows no explicit padding")
    return "Conv3D", attrs


@Conv.shape
def _(input, filter, *, strides, padding, explicit_paddings, data_format, dilations, batch_dims):
    if input.dims is None:
        return None
    name, attrs = _conv_attrs(len(input.dims), strides, padding, explicit_paddings, data_format, dilations, batch_dims)
    lead, rest = input.dims[:batch_dims], input.dims[batch_dims:]
    found = registry[name].shape_fn(Known((None, *rest), input.dtype), filter, **attrs)
    return None if found is None else (*lead, *found[1:])


@Conv.kernel
def _(xp, input, filter, *, strides, padding, explicit_paddings, data_format, dilations, batch_dims):
    name, attrs = _conv_attrs(input.ndim, strides, padding, explicit_paddings, data_format, dilations, batch_dims)
    lead, rest = input.shape[:batch_dims], input.shape[batch_dims:]
    found = computed(name, input.reshape((math.prod(lead), *rest)), filter, **attrs)
    return found.reshape((*lead, *found.shape[1:]))


@Conv.gradient
def _(call, grad):
    name, attrs = _conv_attrs(
        call.input.shape.rank, call.strides, call.padding, call.explicit_paddings, call.data_format, call.dilations,
        call.batch_dims,
    )  # fmt: skip
    version = "V2" if name == "Conv3D" else ""
    back = getattr(raw, f"{name}BackpropInput{version}"), getattr(raw, f"{name}BackpropFilter{version}")
    whole = raw.Shape(call.input)
    images, grad = (
        x if call.batch_dims == 1 else raw.Reshape(x, raw.ConcatV2([[-1], raw.Shape(x)[call.batch_dims :]], 0))
        for x in (call.input, dense(grad))
    )
    return (
        raw.Reshape(back[0](raw.Shape(images), call.filter, grad, **attrs), whole),
        back[1](images, raw.Shape(call.filter), grad, **attrs),
    )


FusedPadConv2D = op(
    "FusedPadConv2D(input:T, paddings:int32, filter:T) -> (output:T) | T: type in [half,bfloat16,float,double]; "
    'mode: string in ["REFLECT","SYMMETRIC"]; strides: list(int); padding: string in ["SAME","VALID"]',
    gradient=UNDEFINED,
)


@FusedPadConv2D.shape
def _(input, paddings, filter, *, mode, strides, padding):
    padded = Known(registry["MirrorPad"].shape_fn(input, paddings, mode=mode), input.dtype)
    return registry["Conv2D"].shape_fn(
        padded, filter, strides=strides, padding=padding, explicit_paddings=(), data_format="NHWC",
        dilations=(1, 1, 1, 1),
    )  # fmt: skip


@FusedPadConv2D.kernel
def _(xp, input, paddings, filter, *, mode, strides, padding):
    return computed(
        "Conv2D", computed("MirrorPad", input, paddings, mode=mode), filter, strides=strides, padding=padding
    )


FusedResizeAndPadConv2D = op(
    "FusedResizeAndPadConv2D(input:T, size:int32, paddings:int32, filter:T) -> (output:T) | T: type in "
    '[half,float,double]; resize_align_corners: bool = false; mode: string in ["REFLECT","SYMMETRIC"]; '
    'strides: list(int); padding: string in ["SAME","VALID"]',
    gradient=UNDEFINED,
)


@FusedResizeAndPadConv2D.shape
def _(input, size, paddings, filter, *, resize_align_corners, mode, strides, padding):
    resized = Known(registry["ResizeBilinear"].shape_fn(input, size), input.dtype)
    return FusedPadConv2D.shape_fn(resized, paddings, filter, mode=mode, strides=strides, padding=padding)


@FusedResizeAndPadConv2D.kernel
def _(xp, input, size, paddings, filter, *, resize_align_corners, mode, strides, padding):
    if input.dtype == np.float64:  # ResizeBilinear gives float32
        height, width = checked_size(input, size)
        resized = between(xp, input, taps.bilinear(input.shape[1], height, resize_align_corners, False), 1)
        resized = between(xp, resized, taps.bilinear(input.shape[2], width, resize_align_corners, False), 2)
    else:
        resized = computed("ResizeBilinear", input, size, align_corners=resize_align_corners).astype(input.dtype)
    return computed("FusedPadConv2D", resized, paddings, filter, mode=mode, strides=strides, padding=padding)


def between(xp: Any, images: Any, ways: taps.Taps, axis: int) -> Any:
    """Return what lies between neighbours along an axis, in the precision of the images."""
    first, second = (xp.take(images, ways.places[:, i], axis=axis) for i in (0, 1))
    weights = ways.weights[:, 1].astype(images.dtype).reshape([-1 if i == axis else 1 for i in range(images.ndim)])
    return first + (second - first) * weights


# --- normalisation of the first releases ------------------------------------------------------------------------------

_NORM = "T: numbers; variance_epsilon: float; scale_after_normalization: bool | deprecated@9"
BatchNormWithGlobalNormalization = op(
    f"BatchNormWithGlobalNormalization(t:T, m:T, v:T, beta:T, gamma:T) -> (result:T) | {_NORM}", shape=same
)
BatchNormWithGlobalNormalizationGrad = op(
    "BatchNormWithGlobalNormalizationGrad(t:T, m:T, v:T, gamma:T, backprop:T) -> (dx:T, dm:T, dv:T, db:T, dg:T) | "
    f"{_NORM}",
    gradient=UNDEFINED,
)


def _check_norm(t: Any, *vectors: Any) -> None:
    if t.ndim != 4:
        raise invalid(f"input must be 4-dimensional, got shape {show(t.shape)}")
    for vector in vectors:
        if vector.shape != t.shape[-1:]:
            raise invalid(f"mean, variance, beta and gamma must have {t.shape[-1]} entries, got {show(vector.shape)}")


@BatchNormWithGlobalNormalization.kernel
def _(xp, t, m, v, beta, gamma, *, variance_epsilon, scale_after_normalization):
    _check_norm(t, m, v, beta, gamma)
    scale = 1.0 / xp.sqrt(v + t.dtype.type(variance_epsilon))
    if scale_after_normalization:
        scale = scale * gamma
    return ((t - m) * scale + beta).astype(t.dtype)


@BatchNormWithGlobalNormalization.gradient
def _(call, grad):
    dx, dm, dv, db, dg = raw.BatchNormWithGlobalNormalizationGrad(
        call.t, call.m, call.v, call.gamma, grad, variance_epsilon=call.variance_epsilon,
        scale_after_normalization=call.scale_after_normalization,
    )  # fmt: skip
    return dx, dm, dv, db, dg


@BatchNormWithGlobalNormalizationGrad.shape
def _(t, m, v, gamma, backprop):
    return [ranked(t, 4), *[ranked(m, 1)] * 4]


@BatchNormWithGlobalNormalizationGrad.kernel
def _(xp, t, m, v, gamma, backprop, *, variance_epsilon, scale_after_normalization):
    _check_norm(t, m, v, gamma)
    if backprop.shape != t.shape:
        raise invalid(f"backprop must have the shape of the input, {show(t.shape)}, got {show(backprop.shape)}")
    axes, root = (0, 1, 2), 1.0 / xp.sqrt(v + t.dtype.type(variance_epsilon))
    factor = gamma if scale_after_normalization else xp.ones_like(gamma)
    sums = backprop.sum(axes)
    moved = (backprop * (t - m)).sum(axes)
    parts = (backprop * (root * factor), -sums * root * factor, -0.5 * moved * factor * root**3, sums)
    scaled = moved * root if scale_after_normalization else xp.zeros_like(gamma)
    return tuple(p.astype(t.dtype) for p in (*parts, scaled))


# --- patches of volumes -----------------------------------------------------------------------------------------------

ExtractVolumePatches = op(
    "ExtractVolumePatches(input:T) -> (patches:T) | ksizes: list(int) >= 5; strides: list(int) >= 5; T: reals; "
    'padding: string in ["SAME","VALID"]'
)


@ExtractVolumePatches.shape
def _(input, *, ksizes, strides, padding):
    batch, *space, depth = ranked(input, 5)
    if len(ksizes) != 5 or len(strides) != 5:
        raise errors.StaticShapeError(f"ksizes and strides must have 5 entries, got {ksizes} and {strides}")
    out = [output_length(n, k, s, 1, padding) for n, k, s in zip(space, ksizes[1:4], strides[1:4], strict=True)]
    size = ksizes[1] * ksizes[2] * ksizes[3]
    return (batch, *out, None if depth is None else depth * size)


@ExtractVolumePatches.kernel
def _(xp, input, *, ksizes, strides, padding):
    if input.ndim != 5 or len(ksizes) != 5 or len(strides) != 5:
        raise invalid(f"input must be 5-dimensional, with as many ksizes and strides; got shape {show(input.shape)}")
    if {ksizes[0], ksizes[4], strides[0], strides[4]} != {1}:
        text = f"patches across batch or depth are not supported: ksizes {ksizes}, strides {strides}"
        raise errors.UnimplementedError(None, None, text)
    g = grid(input.shape[1:4], tuple(ksizes[1:4]), tuple(strides[1:4]), padding)
    windows = patches(with_edges(input, g), g)
    return np.ascontiguousarray(windows).reshape(input.shape[0], *g.out, -1)


@ExtractVolumePatches.gradient
def _(call, grad):
    """Each element goes to the places of the windows that hold it: those of its number, taken out the same way."""
    flat = raw.Reshape(raw.Range(1, raw.Size(call.input) + 1, 1), raw.Shape(call.input))
    attrs = {"ksizes": call.ksizes, "strides": call.strides, "padding": call.padding}
    numbers = raw.Reshape(raw.ExtractVolumePatches(flat, **attrs), [-1])  # 0 where there is only padding
    sums = raw.UnsortedSegmentSum(raw.Reshape(grad, [-1]), numbers, raw.Size(call.input) + 1)
    return raw.Reshape(sums[1:], raw.Shape(call.input))


def extract_volume_patches(
    input: TensorLike, ksizes: Sizes, strides: Sizes, padding: Padding, name: str | None = None
) -> Tensor:
    """Return the windows of volumes, each laid out along the last axis."""
    return ExtractVolumePatches(input, ksizes=ksizes, strides=strides, padding=padding, name=name)
