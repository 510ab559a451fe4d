"""The pooling functions that programs call: largest, mean, with argmax, over one to three axes, or any (`pool`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, Padding, Sizes, TensorLike
from ebbflow.ops.arrays.padding import required_space_to_batch_paddings
from ebbflow.ops.arrays.shaping import expand_dims, squeeze
from ebbflow.ops.arrays.shaping import shape as shape_of_tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.nn.conv import padding_of, per_axis
from ebbflow.ops.nn.windows import spatial, spatial_axes
from ebbflow.ops.reduce.reductions import one_of


def max_pool(
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the largest element of every window, over the axes between batch and channels.

    >>> max_pool([[[[1.], [5.]], [[3.], [2.]]]], 2, 2, "VALID").numpy().ravel().tolist()
    [5.0]
    """
    n = _axes_of(input, data_format)
    form = data_format or _FORMATS[n]
    return {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}[n](input, ksize, strides, padding, form, name)


def avg_pool(
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the mean of every window, over the axes between batch and channels.

    >>> avg_pool([[[[1.], [5.]], [[4.], [2.]]]], 2, 2, "VALID").numpy().ravel().tolist()
    [3.0]
    """
    n = _axes_of(input, data_format)
    form = data_format or _FORMATS[n]
    return {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}[n](input, ksize, strides, padding, form, name)


_FORMATS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def _axes_of(x: Any, data_format: Any) -> int:
    if data_format is not None:
        n = len(data_format) - 2
    else:
        rank = len(x._dims) if isinstance(x, Tensor) and x._dims is not None else None
        rank = np.ndim(x) if not isinstance(x, Tensor) else rank
        if rank is None:
            raise ValueError("`input` must have a static shape or `data_format` must be given.")
        n = rank - 2
    if not 1 <= n <= 3:
        raise ValueError(f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={np.shape(x)} of rank {n + 2}.")
    return n


# --- two axes ---------------------------------------------------------------------------------------------------------


def max_pool_v1(
    value: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """Return the largest element of every window of images."""
    value = one_of("value", value, "input", input)
    return _max_pool(value, ksize, strides, padding, data_format or "NHWC", name, "MaxPool")


def max_pool2d(
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """Return the largest element of every window of images."""
    return _max_pool(input, ksize, strides, padding, data_format or "NHWC", name, "MaxPool2d")


def _max_pool(value, ksize, strides, padding, data_format, name, default):
    kind, explicit = padding_of(padding)
    with name_scope(name, default, [value]) as scope:
        if isinstance(ksize, Tensor) or isinstance(strides, Tensor):
            if explicit:
                raise ValueError("`padding` should not be specified as a list when ksize or strides are tensors.")
            return raw.MaxPoolV2(value, ksize, strides, padding=kind, data_format=data_format, name=scope or None)
        return raw.MaxPool(
            value,
            ksize=per_axis(ksize, 2, data_format, "ksize"),
            strides=per_axis(strides, 2, data_format, "strides"),
            padding=kind,
            explicit_paddings=explicit,
            data_format=data_format,
            name=scope or None,
        )


def avg_pool_v1(
    value: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """Return the mean of every window of images."""
    value = one_of("value", value, "input", input)
    return avg_pool2d(value, ksize, strides, padding, data_format, name)


def avg_pool2d(
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """Return the mean of every window of images."""
    data_format = data_format or "NHWC"
    with name_scope(name, "AvgPool", [input]) as scope:
        return raw.AvgPool(
            input,
            ksize=per_axis(ksize, 2, data_format, "ksize"),
            strides=per_axis(strides, 2, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            name=scope or None,
        )


def max_pool_with_argmax(
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NHWC",
    output_dtype: DTypeLike = dtypes.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the largest element of every window of images, and where each stands in its flattened image."""
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other than 'NHWC' are not supported. Received: data_format={data_format}"
        )
    return raw.MaxPoolWithArgmax(
        input,
        ksize=per_axis(ksize, 2, "NHWC", "ksize"),
        strides=per_axis(strides, 2, "NHWC", "strides"),
        padding=padding,
        Targmax=output_dtype,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def max_pool_with_argmax_v1(
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NHWC",
    Targmax: DTypeLike | None = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
    include_batch_in_index: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the largest element of every window of images, and where each stands in its flattened image."""
    kind = one_of("Targmax", Targmax, "output_dtype", output_dtype) or dtypes.int64
    return max_pool_with_argmax(
        input, ksize, strides, padding, data_format or "NHWC", kind, include_batch_in_index, name
    )


# --- one axis and three -----------------------------------------------------------------------------------------------


def max_pool1d(
    input: TensorLike, ksize: Sizes, strides: Sizes, padding: Padding, data_format: str = "NWC", name: str | None = None
) -> Tensor:
    """Return the largest element of every window of sequences."""
    return _pool1d(raw.MaxPool, input, ksize, strides, padding, data_format, name, "MaxPool1d")


def avg_pool1d(
    input: TensorLike, ksize: Sizes, strides: Sizes, padding: Padding, data_format: str = "NWC", name: str | None = None
) -> Tensor:
    """Return the mean of every window of sequences."""
    return _pool1d(raw.AvgPool, input, ksize, strides, padding, data_format, name, "AvgPool1D")


def _pool1d(op, x, ksize, strides, padding, data_format, name, default):
    data_format = data_format or "NWC"
    at = 2 if data_format == "NCW" else 1
    kind, explicit = _padding1d(padding, at)
    with name_scope(name, default, [x]) as scope:
        sizes, steps = (per_axis(v, 1, data_format, n) for v, n in ((ksize, "ksize"), (strides, "strides")))
        result = op(
            expand_dims(x, at),
            ksize=[*sizes[:at], 1, *sizes[at:]],
            strides=[*steps[:at], 1, *steps[at:]],
            padding=kind,
            data_format="NCHW" if at == 2 else "NHWC",
            name=scope or None,
            **explicit,
        )
        return squeeze(result, at)


def _padding1d(padding: Any, at: int) -> tuple[Any, dict[str, Any]]:
    """Return the padding of images of one row for one of sequences, and the attr that says how much."""
    if not isinstance(padding, (list, tuple)):
        return padding, {}
    kind, explicit = padding_of([*padding[:at], [0, 0], *padding[at:]])
    return kind, {"explicit_paddings": explicit}


def max_pool3d(
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """Return the largest element of every window of volumes."""
    return _pool3d(raw.MaxPool3D, input, ksize, strides, padding, data_format, name)


def avg_pool3d(
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """Return the mean of every window of volumes."""
    return _pool3d(raw.AvgPool3D, input, ksize, strides, padding, data_format, name)


def _pool3d(op, x, ksize, strides, padding, data_format, name):
    data_format = data_format or "NDHWC"
    with name_scope(name, op.name, [x]) as scope:
        return op(
            x,
            ksize=per_axis(ksize, 3, data_format, "ksize"),
            strides=per_axis(strides, 3, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            name=scope or None,
        )


# --- any number of axes -----------------------------------------------------------------------------------------------


def pool(
    input: TensorLike,
    window_shape: Sequence[int],
    pooling_type: str,
    strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
    data_format: str | None = None,
    dilations: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the largest element ("MAX") or the mean ("AVG") of windows that may be dilated."""
    n = len(window_shape)
    if n not in _FORMATS:
        raise ValueError(f"`window_shape` must have 1, 2 or 3 entries. Received: window_shape={window_shape}")
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"`pooling_type` must be 'MAX' or 'AVG'. Received: pooling_type={pooling_type}")
    data_format = data_format or _FORMATS[n]
    functions: Any = {
        "MAX": {1: max_pool1d, 2: max_pool_v1, 3: max_pool3d},
        "AVG": {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d},
    }
    steps = list(strides) if strides is not None else [1] * n
    rates = list(dilations) if dilations is not None else [1] * n
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        function = functions[pooling_type][n]
        if all(r == 1 for r in rates):
            return function(input, list(window_shape), steps, padding, data_format, scope or None)
        return _dilated_pool(function, input, window_shape, steps, padding, data_format, rates, scope)


def _dilated_pool(function, x, window_shape, steps, padding, data_format, rates, scope):
    """Elements a rate apart are put beside each other, as images of one larger batch, and pooled there."""
    if padding == "SAME":
        raise ValueError(
            "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. "
            f"Received: padding={padding} and dilation_rate={rates}"
        )
    if any(s > 1 for s in steps):
        raise ValueError(
            "`strides` > 1 not supported in conjunction with `dilation_rate` > 1. "
            f"Received: strides={steps} and dilation_rate={rates}"
        )
    x = convert(x, None, None, "input")
    rank = len(rates) + 2
    sizes = None if x._dims is None else spatial(x._dims, data_format)
    if sizes is None or None in sizes:
        whole = shape_of_tensor(x)
        sizes = [whole[i] for i in spatial_axes(data_format, rank)]
    pads, crops = required_space_to_batch_paddings(list(sizes), rates)
    blocks = np.array(rates, np.int32)
    if data_format.startswith("NC"):
        blocks = np.concatenate([np.ones(1, np.int32), blocks])
        none = np.zeros((1, 2), np.int32)
        pads, crops = (raw.ConcatV2([none, p], 0) for p in (pads, crops))
    inner = function(
        raw.SpaceToBatchND(x, blocks, pads), list(window_shape), steps, padding, data_format, scope or None
    )
    return raw.BatchToSpaceND(inner, blocks, crops)


def pool_v1(
    input: TensorLike,
    window_shape: Sequence[int],
    pooling_type: str,
    padding: Padding,
    dilation_rate: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """Return the largest element ("MAX") or the mean ("AVG") of windows that may be dilated."""
    rates = one_of("dilation_rate", dilation_rate, "dilations", dilations)
    return pool(input, window_shape, pooling_type, strides, padding, data_format, rates, name)
