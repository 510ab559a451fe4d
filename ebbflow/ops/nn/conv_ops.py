"""Convolution: the ops, for one to three spatial axes, with groups, dilation and any padding.

Shape rules, checks and gradients; the arithmetic is in `conv_arrays`, the functions people call are in `convolve`.
Halves and bfloat16 are computed in float32. Both data formats work: channels are brought last and taken back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context, errors
from ebbflow.core.op import Op, op
from ebbflow.ops.declare import raw, show
from ebbflow.ops.nn.conv_arrays import (
    convolve,
    convolve_across,
    convolve_back,
    convolve_depthwise,
    convolve_depthwise_across,
    convolve_depthwise_back,
)
from ebbflow.ops.nn.windows import (
    Grid,
    channel_axis,
    check_per_axis,
    dims_in,
    explicit_pairs,
    from_channels_last,
    grid,
    output_length,
    spatial,
    to_channels_last,
)
from ebbflow.ops.shape_rules import equal_length, ranked, sizes_from
from ebbflow.ops.sizes import invalid, shape_of

# --- the rules --------------------------------------------------------------------------------------------------------


def _conv_rule(what, input, filter, strides, padding, explicit, data_format, dilations, depthwise=False):
    rank = 5 if what == "Conv3D" else 4
    shape, filters = ranked(input, rank), ranked(filter, rank)
    check_per_axis("stride", strides, rank, what, data_format)
    check_per_axis("dilation", dilations, rank, what, data_format)
    pairs = explicit_pairs(padding, explicit, data_format, rank) or (None,) * (rank - 2)
    ins, outs = filters[-2:]
    channels = shape[channel_axis(data_format, rank)]
    if depthwise:
        equal_length(channels, ins)
        outs = None if None in (ins, outs) else ins * outs
    else:
        _check_groups(channels, ins, outs)
    space = [
        output_length(*axis[:4], padding, axis[4])
        for axis in zip(
            spatial(shape, data_format),
            filters[:-2],
            spatial(strides, data_format),
            spatial(dilations, data_format),
            pairs,
            strict=True,
        )
    ]
    return dims_in(data_format, shape[0], space, outs)


def _check_groups(channels, ins, outs):
    if ins == 0:
        raise errors.StaticShapeError("Depth of filter must not be 0")
    if channels is None or ins is None:
        return
    if channels % ins:
        raise errors.StaticShapeError(f"Depth of input ({channels}) is not a multiple of input depth of filter ({ins})")
    groups = channels // ins
    if groups and outs is not None and outs % groups:
        raise errors.StaticShapeError(f"Depth of output ({outs}) is not a multiple of the number of groups ({groups})")


def _computing(x: np.ndarray, data_format: str) -> np.ndarray:
    """Channels last, in the precision the work is done in."""
    x = to_channels_last(x, data_format)
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _grid_of(what, sizes, filters, strides, padding, explicit, data_format, dilations, depthwise=False) -> Grid:
    """Return the windows over an input of these sizes (all axes), checked in a kernel's words."""
    rank = 5 if what == "Conv3D" else 4
    if len(sizes) != rank or len(filters) != rank:
        raise invalid(f"input and filter must be {rank}-dimensional: {show(sizes)} and {show(filters)}")
    for values, name in ((strides, "strides"), (dilations, "dilations")):
        if len(values) != rank:
            raise invalid(f"Sliding window {name} field must specify {rank} dimensions, got {list(values)}")
        if values[0] != 1 or values[channel_axis(data_format, rank)] != 1:
            kind = errors.UnimplementedError if (name, what) == ("strides", "Conv2D") else errors.InvalidArgumentError
            raise kind(
                None,
                None,
                f"Current implementation does not yet support {name} in the batch and depth dimensions: {list(values)}",
            )
    if depthwise and min(dilations) < 1:
        raise errors.UnimplementedError(None, None, f"dilations must be at least 1, got {list(dilations)}")
    if 0 in filters:
        raise invalid(f"filter must not have zero elements (i.e. all dimensions must be non-zero), got {show(filters)}")
    _check_channels(sizes[channel_axis(data_format, rank)], *filters[-2:], depthwise)  # type: ignore[call-arg]
    pairs = explicit_pairs(padding, explicit, data_format, rank)
    return grid(
        spatial(sizes, data_format),
        tuple(filters[:-2]),
        spatial(strides, data_format),
        padding,
        spatial(dilations, data_format),
        pairs,
    )


def _check_channels(channels, ins, outs, depthwise):
    if channels % ins or (depthwise and channels != ins):
        raise invalid(f"input depth must be evenly divisible by filter depth: {channels} vs {ins}")
    groups = channels // ins
    if not depthwise and groups and outs % groups:
        raise invalid(f"output depth must be evenly divisible by number of groups: {outs} vs {groups}")


def _check_backprop(dy, g, batch, outs):
    """Refuse a gradient that has not the shape of the convolution's output."""
    wanted = (batch, *g.out, outs)
    if dy.shape != wanted:
        raise invalid(
            f"Size of out_backprop doesn't match computed: actual = {show(dy.shape)}, computed = {show(wanted)}"
        )


def _input_sizes(vector, dy, filters, data_format):
    """Return the whole shape of the input; for images the spatial lengths alone are enough."""
    rank = len(filters)
    if rank == 4 and vector.shape == (2,):
        return dims_in(data_format, dy.shape[0], sizes_from(vector, 2, "input_sizes"), filters[-2])
    return sizes_from(vector, rank, "input_sizes", dy.itemsize)


# --- kernels that Conv2D, Conv3D and DepthwiseConv2dNative share ------------------------------------------------------


def _forward(what, input, filter, strides, padding, explicit, data_format, dilations):
    depthwise = what.startswith("Depthwise")
    g = _grid_of(what, input.shape, filter.shape, strides, padding, explicit, data_format, dilations, depthwise)
    x, f = _computing(input, data_format), _computing(filter, "")
    y = convolve_depthwise(x, f, g) if depthwise else convolve(x, f, g)
    return from_channels_last(y, data_format).astype(input.dtype, copy=False)


def _to_input(what, input_sizes, filter, out_backprop, strides, padding, explicit, data_format, dilations):
    depthwise = what.startswith("Depthwise")
    sizes = _input_sizes(input_sizes, out_backprop, filter.shape, data_format)
    g = _grid_of(what, sizes, filter.shape, strides, padding, explicit, data_format, dilations, depthwise)
    dy, f = _computing(out_backprop, data_format), _computing(filter, "")
    channels = sizes[channel_axis(data_format, len(sizes))]
    _check_backprop(dy, g, sizes[0], channels * f.shape[-1] if depthwise else f.shape[-1])
    dx = convolve_depthwise_back(dy, f, g) if depthwise else convolve_back(dy, f, g, channels)
    return from_channels_last(dx, data_format).astype(filter.dtype, copy=False)


def _to_filter(what, input, filter_sizes, out_backprop, strides, padding, explicit, data_format, dilations):
    depthwise = what.startswith("Depthwise")
    filters = sizes_from(filter_sizes, input.ndim, "filter_sizes", input.itemsize)
    g = _grid_of(what, input.shape, filters, strides, padding, explicit, data_format, dilations, depthwise)
    x, dy = _computing(input, data_format), _computing(out_backprop, data_format)
    _check_backprop(dy, g, x.shape[0], x.shape[-1] * filters[-1] if depthwise else filters[-1])
    df = convolve_depthwise_across(x, dy, g, filters[-1]) if depthwise else convolve_across(x, dy, g, filters[-2])
    return df.astype(input.dtype, copy=False)


def _sized_rule(vector, rank):
    """The shape rule of an op whose output's shape is the value of an input."""
    ranked(vector, 1)
    dims = vector.as_dims
    if dims is not None and len(dims) != rank:
        raise errors.StaticShapeError(f"Shape must be rank {rank} but is rank {len(dims)}")
    return dims if dims is not None else (None,) * rank


def _to_input_rule(input_sizes, filter, out_backprop, data_format, rank):
    grads, filters = ranked(out_backprop, rank), ranked(filter, rank)
    ranked(input_sizes, 1)
    dims = input_sizes.as_dims
    if rank == 4 and dims is not None and len(dims) == 2:
        return dims_in(data_format, grads[0], dims, filters[-2])
    dims = _sized_rule(input_sizes, rank)
    batch = equal_length(dims[0], grads[0])
    # TensorFlow 1.15 took an unknown batch from the sizes asked for, and its programs reshape by that; 2.x does not.
    return (batch if rank == 5 or context.switches.tf1 else grads[0], *dims[1:])


# --- what the three kinds share ---------------------------------------------------------------------------------------


def _attrs(call, names):
    return {name: call.attrs[name] for name in names.split()}


def _differentiate(forward: Op, to_input: Op, to_filter: Op, names: str) -> None:
    """State the gradients of a convolution and of its two gradients: each of the three is found by the other two."""

    def both(call: Any, grad: Any, sizes: Any) -> tuple[Any, Any]:
        x, f, attrs = call.input, call.filter, _attrs(call, names)
        return (
            to_input(sizes[0], f, grad, **attrs) if call.wants(0) else None,
            to_filter(x, sizes[1], grad, **attrs) if call.wants(1) else None,
        )

    @forward.gradient
    def _(call, grad):
        return both(call, grad, (shape_of(call.input), shape_of(call.filter)))

    if forward.name == "Conv2D":
        forward.gradient_by_name(lambda call, grad: both(call, grad, raw.ShapeN([call.input, call.filter])))

    @to_input.gradient
    def _(call, grad):
        f, dy, attrs = call.filter, call.out_backprop, _attrs(call, names)
        return (
            None,
            to_filter(grad, shape_of(f), dy, **attrs) if call.wants(1) else None,
            forward(grad, f, **attrs) if call.wants(2) else None,
        )

    @to_filter.gradient
    def _(call, grad):
        x, dy, attrs = call.input, call.out_backprop, _attrs(call, names)
        return (
            to_input(shape_of(x), grad, dy, **attrs) if call.wants(0) else None,
            None,
            forward(x, grad, **attrs) if call.wants(2) else None,
        )


def _compute_images(what: str, forward: Op, to_input: Op, to_filter: Op) -> None:
    """Give the ops of a kind that works on images, and pads as it is told to, their kernels."""

    @forward.kernel
    def _(xp, input, filter, *, strides, padding, explicit_paddings, data_format, dilations):
        return _forward(what, input, filter, strides, padding, explicit_paddings, data_format, dilations)

    @to_input.kernel
    def _(xp, input_sizes, filter, out_backprop, *, strides, padding, explicit_paddings, data_format, dilations):
        return _to_input(
            what, input_sizes, filter, out_backprop, strides, padding, explicit_paddings, data_format, dilations
        )

    @to_filter.kernel
    def _(xp, input, filter_sizes, out_backprop, *, strides, padding, explicit_paddings, data_format, dilations):
        return _to_filter(
            what, input, filter_sizes, out_backprop, strides, padding, explicit_paddings, data_format, dilations
        )


def _to_filter_rule(rank: int) -> Any:
    def rule(input, filter_sizes, out_backprop):
        ranked(input, rank)
        ranked(out_backprop, rank)
        return _sized_rule(filter_sizes, rank)

    return rule


# --- Conv2D -----------------------------------------------------------------------------------------------------------

_ATTRS_2D = (
    'padding: string in ["SAME","VALID","EXPLICIT"]; explicit_paddings: list(int) = []; '
    'data_format: string in ["NHWC","NCHW"] = "NHWC"; dilations: list(int) = [1,1,1,1]'
)
_CUDNN = "strides: list(int); use_cudnn_on_gpu: bool = true"

Conv2D = op(
    f"Conv2D(input:T, filter:T) -> (output:T) | T: type in [half,bfloat16,float,double,int32]; {_CUDNN}; {_ATTRS_2D}",
    facts="fresh heavy",
)
Conv2DBackpropInput = op(
    "Conv2DBackpropInput(input_sizes:int32, filter:T, out_backprop:T) -> (output:T) | "
    f"T: type in [half,bfloat16,float,double,int32]; {_CUDNN}; {_ATTRS_2D}",
    facts="fresh heavy sizes=input_sizes",
)
Conv2DBackpropFilter = op(
    "Conv2DBackpropFilter(input:T, filter_sizes:int32, out_backprop:T) -> (output:T) | "
    f"T: type in [half,bfloat16,float,double]; {_CUDNN}; {_ATTRS_2D}",
    facts="fresh heavy sizes=filter_sizes",
)


_compute_images("Conv2D", Conv2D, Conv2DBackpropInput, Conv2DBackpropFilter)
_differentiate(
    Conv2D, Conv2DBackpropInput, Conv2DBackpropFilter,
    "strides use_cudnn_on_gpu padding explicit_paddings data_format dilations",
)  # fmt: skip
Conv2DBackpropFilter.shape(_to_filter_rule(4))


@Conv2D.shape
def _(input, filter, *, strides, padding, explicit_paddings, data_format, dilations):
    return _conv_rule("Conv2D", input, filter, strides, padding, explicit_paddings, data_format, dilations)


@Conv2DBackpropInput.shape
def _(input_sizes, filter, out_backprop, *, data_format):
    grads, filters = ranked(out_backprop, 4), ranked(filter, 4)
    equal_length(grads[channel_axis(data_format, 4)], filters[-1])
    return _to_input_rule(input_sizes, filter, out_backprop, data_format, 4)


# --- Conv3D -----------------------------------------------------------------------------------------------------------

_TYPES_3D = "T: type in [half,bfloat16,float,double]"
_ATTRS_3D = (
    'strides: list(int) >= 5; padding: string in ["SAME","VALID"]; '
    'data_format: string in ["NDHWC","NCDHW"] = "NDHWC"; dilations: list(int) = [1,1,1,1,1]'
)

Conv3D = op(f"Conv3D(input:T, filter:T) -> (output:T) | {_TYPES_3D}; {_ATTRS_3D}", facts="heavy")
Conv3DBackpropInputV2 = op(
    "Conv3DBackpropInputV2(input_sizes:Tshape, filter:T, out_backprop:T) -> (output:T) | "
    f"{_TYPES_3D}; {_ATTRS_3D}; Tshape: type in [int32,int64] = int32",
    facts="heavy sizes=input_sizes",
)
Conv3DBackpropFilterV2 = op(
    f"Conv3DBackpropFilterV2(input:T, filter_sizes:int32, out_backprop:T) -> (output:T) | {_TYPES_3D}; {_ATTRS_3D}",
    facts="heavy sizes=filter_sizes",
)
_differentiate(Conv3D, Conv3DBackpropInputV2, Conv3DBackpropFilterV2, "strides padding data_format dilations")
Conv3DBackpropFilterV2.shape(_to_filter_rule(5))


@Conv3D.shape
def _(input, filter, *, strides, padding, data_format, dilations):
    return _conv_rule("Conv3D", input, filter, strides, padding, (), data_format, dilations)


@Conv3D.kernel
def _(xp, input, filter, *, strides, padding, data_format, dilations):
    return _forward("Conv3D", input, filter, strides, padding, (), data_format, dilations)


@Conv3DBackpropInputV2.shape
def _(input_sizes, filter, out_backprop, *, data_format):
    return _to_input_rule(input_sizes, filter, out_backprop, data_format, 5)


@Conv3DBackpropInputV2.kernel
def _(xp, input_sizes, filter, out_backprop, *, strides, padding, data_format, dilations):
    return _to_input("Conv3D", input_sizes, filter, out_backprop, strides, padding, (), data_format, dilations)


@Conv3DBackpropFilterV2.kernel
def _(xp, input, filter_sizes, out_backprop, *, strides, padding, data_format, dilations):
    return _to_filter("Conv3D", input, filter_sizes, out_backprop, strides, padding, (), data_format, dilations)


# --- DepthwiseConv2dNative --------------------------------------------------------------------------------------------

DepthwiseConv2dNative = op(
    f"DepthwiseConv2dNative(input:T, filter:T) -> (output:T) | {_TYPES_3D}; strides: list(int); {_ATTRS_2D}",
    facts="heavy",
)
DepthwiseConv2dNativeBackpropInput = op(
    "DepthwiseConv2dNativeBackpropInput(input_sizes:int32, filter:T, out_backprop:T) -> (output:T) | "
    f"{_TYPES_3D}; strides: list(int); {_ATTRS_2D}",
    facts="heavy sizes=input_sizes",
)
DepthwiseConv2dNativeBackpropFilter = op(
    "DepthwiseConv2dNativeBackpropFilter(input:T, filter_sizes:int32, out_backprop:T) -> (output:T) | "
    f"{_TYPES_3D}; strides: list(int); {_ATTRS_2D}",
    facts="heavy sizes=filter_sizes",
)
_DEPTHWISE = "DepthwiseConv2D"
_compute_images(
    _DEPTHWISE, DepthwiseConv2dNative, DepthwiseConv2dNativeBackpropInput, DepthwiseConv2dNativeBackpropFilter
)
_differentiate(
    DepthwiseConv2dNative, DepthwiseConv2dNativeBackpropInput, DepthwiseConv2dNativeBackpropFilter,
    "strides padding explicit_paddings data_format dilations",
)  # fmt: skip
DepthwiseConv2dNativeBackpropFilter.shape(_to_filter_rule(4))


@DepthwiseConv2dNative.shape
def _(input, filter, *, strides, padding, explicit_paddings, data_format, dilations):
    return _conv_rule(_DEPTHWISE, input, filter, strides, padding, explicit_paddings, data_format, dilations, True)


@DepthwiseConv2dNativeBackpropInput.shape
def _(input_sizes, filter, out_backprop):
    ranked(filter, 4)
    ranked(out_backprop, 4)
    return _sized_rule(input_sizes, 4)
