"""Convolutions: XLA's own, and for gradients its transposes.

16-bit floats are computed in float32, as the kernels do. `windows.grid` says how much is padded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.engines.xla import library
from ebbflow.engines.xla.library import lax
from ebbflow.engines.xla.rules import lowering
from ebbflow.ops.nn.windows import channel_axis, dims_in, explicit_pairs, grid, spatial
from ebbflow.ops.shape_rules import sizes_from

_SPACE = {4: "HW", 5: "DHW"}


def _computing(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _convolution(sizes: Any, filters: Any, depthwise: bool, attrs: dict[str, Any]) -> Any:
    """Return the function (input, filter) -> output, both in computing precision."""
    rank, data_format = len(sizes), attrs["data_format"]
    pairs = explicit_pairs(attrs["padding"], attrs.get("explicit_paddings", ()), data_format, rank)
    steps, dilations = (spatial(attrs[name], data_format) for name in ("strides", "dilations"))
    g = grid(spatial(tuple(sizes), data_format), tuple(filters[:-2]), steps, attrs["padding"], dilations, pairs)
    space = _SPACE[rank]
    layout = f"NC{space}" if data_format.startswith("NC") else f"N{space}C"
    channels = sizes[channel_axis(data_format, rank)]
    groups = channels if depthwise else channels // filters[-2]

    def convolve(x: Any, f: Any) -> Any:
        if depthwise:  # channel by channel: the multiplier's filters stand beside each other
            f = f.reshape(*f.shape[:-2], 1, f.shape[-2] * f.shape[-1])
        return lax.conv_general_dilated(
            x, f, g.strides, g.pads, rhs_dilation=g.dilations, feature_group_count=groups,
            dimension_numbers=(layout, f"{space}IO", layout),
        )  # fmt: skip

    return convolve


def _forward(depthwise: bool) -> Any:
    def lower(jnp: Any, input: Any, filter: Any, *, attrs: dict[str, Any]) -> Any:
        convolve = _convolution(input.shape, filter.shape, depthwise, attrs)
        return convolve(_computing(input), _computing(filter)).astype(input.dtype)

    return lower


def _to_input(depthwise: bool) -> Any:
    def lower(jnp: Any, input_sizes: Any, filter: Any, out_backprop: Any, *, attrs: dict[str, Any]) -> Any:
        if filter.ndim == 4 and input_sizes.shape == (2,):
            sizes = dims_in(attrs["data_format"], out_backprop.shape[0], input_sizes.tolist(), filter.shape[-2])
        else:
            sizes = sizes_from(input_sizes, filter.ndim, "input_sizes", out_backprop.dtype.itemsize)
        convolve, f, dy = (
            _convolution(sizes, filter.shape, depthwise, attrs),
            _computing(filter),
            _computing(out_backprop),
        )
        like = library.jax().ShapeDtypeStruct(tuple(sizes), f.dtype)
        (dx,) = library.jax().linear_transpose(lambda x: convolve(x, f), like)(dy)
        return dx.astype(filter.dtype)

    return lower


def _to_filter(depthwise: bool) -> Any:
    def lower(jnp: Any, input: Any, filter_sizes: Any, out_backprop: Any, *, attrs: dict[str, Any]) -> Any:
        filters = sizes_from(filter_sizes, input.ndim, "filter_sizes", input.dtype.itemsize)
        convolve, x, dy = (
            _convolution(input.shape, filters, depthwise, attrs),
            _computing(input),
            _computing(out_backprop),
        )
        like = library.jax().ShapeDtypeStruct(tuple(filters), x.dtype)
        (df,) = library.jax().linear_transpose(lambda f: convolve(x, f), like)(dy)
        return df.astype(input.dtype)

    return lower


lowering("Conv2D", "Conv3D")(_forward(False))
lowering("Conv2DBackpropInput", "Conv3DBackpropInputV2")(_to_input(False))
lowering("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")(_to_filter(False))
lowering("DepthwiseConv2dNative")(_forward(True))
lowering("DepthwiseConv2dNativeBackpropInput")(_to_input(True))
lowering("DepthwiseConv2dNativeBackpropFilter")(_to_filter(True))
