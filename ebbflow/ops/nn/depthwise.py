"""Convolutions that take each channel by itself: `depthwise_conv2d`, `separable_conv2d`, and the ops' own functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Padding, Sizes, TensorLike
from ebbflow.ops.arrays.creation import building
from ebbflow.ops.arrays.shaping import shape as shape_of_tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.nn.conv import padding_of, per_axis, splits, through_batches
from ebbflow.ops.reduce.reductions import one_of

_ONES = [1, 1, 1, 1]


def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Sizes,
    padding: Padding,
    data_format: str | None = None,
    dilations: Sizes | None = None,
    name: str | None = None,
) -> Tensor:
    """Return every channel convolved with filters of its own, [height, width, channels, multiplier].

    >>> depthwise_conv2d([[[[1., 2.]]]], [[[[3.], [4.]]]], [1, 1, 1, 1], "SAME").numpy().ravel().tolist()
    [3.0, 8.0]
    """
    data_format = data_format or "NHWC"
    with name_scope(name, "depthwise", [input, filter]) as scope:
        x, f = convert(input, None, None, "tensor_in"), convert(filter, None, None, "filter_in")
        return _depthwise(x, f, strides, padding, data_format, dilations, scope)


def _depthwise(x: Any, f: Any, strides: Any, padding: Any, data_format: str, rate: Any, scope: Any) -> Any:
    rates = _rates(rate)
    kind, explicit = padding_of(padding)

    def op(x: Any, padding: str, rates: Any, name: Any) -> Any:
        return raw.DepthwiseConv2dNative(
            x,
            f,
            strides=strides,
            padding=padding,
            explicit_paddings=explicit if padding == "EXPLICIT" else [],
            data_format=data_format,
            dilations=per_axis(rates, 2, data_format, "dilations"),
            name=name,
        )

    if building() is None:
        return op(x, kind, rates, None)
    shape_of_tensor(f)
    convert(np.array(rates, np.int32), None, None, "dilation_rate")
    if rates != [1, 1] and splits(x, f, kind, data_format):
        return through_batches(x, f._dims, kind, rates, data_format, op, scope)
    return op(x, kind, rates, scope)


def _rates(rate: Any) -> list[int]:
    if rate is None:
        return [1, 1]
    values = [int(r) for r in rate] if hasattr(rate, "__len__") else [int(rate)] * 2
    return values * 2 if len(values) == 1 else values[-2:] if len(values) == 2 else values[1:3]


def depthwise_conv2d_v1(
    input: TensorLike,
    filter: TensorLike,
    strides: Sizes,
    padding: Padding,
    rate: Sizes | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Sizes | None = None,
) -> Tensor:
    """Return every channel convolved with filters of its own, [height, width, channels, multiplier]."""
    rate = one_of("rate", rate, "dilations", dilations)
    return depthwise_conv2d(input, filter, strides, padding, data_format, rate, name)


def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: Sizes,
    padding: Padding,
    data_format: str | None = None,
    dilations: Sizes | None = None,
    name: str | None = None,
) -> Tensor:
    """Return `depthwise_conv2d` followed by a convolution of 1×1 that mixes the channels."""
    data_format = data_format or "NHWC"
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        x = convert(input, None, None, "tensor_in")
        deep = convert(depthwise_filter, None, None, "depthwise_filter")
        points = convert(pointwise_filter, None, None, "pointwise_filter")
        if points._dims is not None and points._dims[:2] not in ((1, 1), (None, None), (1, None), (None, 1)):
            raise ValueError(f"`pointwise_filter` must have 1 as its first two dimensions. Received: {points.shape}")
        middle = _depthwise(x, deep, strides, padding, data_format, dilations, "depthwise")
        return raw.Conv2D(middle, points, strides=_ONES, padding="VALID", data_format=data_format, name=scope or None)


def separable_conv2d_v1(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: Sizes,
    padding: Padding,
    rate: Sizes | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Sizes | None = None,
) -> Tensor:
    """Return `depthwise_conv2d` followed by a convolution of 1×1 that mixes the channels."""
    rate = one_of("rate", rate, "dilations", dilations)
    return separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format, rate, name)


def depthwise_conv2d_native(
    input: TensorLike,
    filter: TensorLike,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NHWC",
    dilations: Sizes = _ONES,
    name: str | None = None,
) -> Tensor:
    """Return the op itself: every channel convolved with filters of its own."""
    return _native(raw.DepthwiseConv2dNative, (input, filter), strides, padding, data_format, dilations, name)


def depthwise_conv2d_backprop_input(
    input_sizes: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NHWC",
    dilations: Sizes = _ONES,
    name: str | None = None,
) -> Tensor:
    """Return the gradient of `depthwise_conv2d` for its input."""
    inputs = (input_sizes, filter, out_backprop)
    op = raw.DepthwiseConv2dNativeBackpropInput
    return _native(op, inputs, strides, padding, data_format, dilations, name)


def depthwise_conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NHWC",
    dilations: Sizes = _ONES,
    name: str | None = None,
) -> Tensor:
    """Return the gradient of `depthwise_conv2d` for its filters."""
    inputs = (input, filter_sizes, out_backprop)
    op = raw.DepthwiseConv2dNativeBackpropFilter
    return _native(op, inputs, strides, padding, data_format, dilations, name)


def _native(op: Any, inputs: Any, strides: Any, padding: Any, data_format: Any, dilations: Any, name: Any) -> Any:
    kind, explicit = padding_of(padding)
    return op(
        *inputs,
        strides=strides,
        padding=kind,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )
