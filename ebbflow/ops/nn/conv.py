"""The convolution functions that programs call: `conv1d` … `conv3d`, transposed, depthwise, separable, dilated.

They bring the many ways of writing strides, paddings and data formats to the attrs of the ops in `conv`. A dilated
`convolution` in a graph of known sizes becomes TensorFlow's three nodes (space to batch, convolve, batch to space);
everywhere else the op dilates by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core.convert import convert, operand
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Padding, ShapeLike, Sizes, TensorLike
from ebbflow.ops.arrays.creation import building
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import expand_dims, reshape, squeeze
from ebbflow.ops.arrays.shaping import shape as shape_of_tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.nn.windows import channel_axis, spatial
from ebbflow.ops.reduce.reductions import one_of
from ebbflow.ops.sizes import is_static

# --- the ways arguments are written -----------------------------------------------------------------------------------


def per_axis(value: Any, n: int, data_format: str, name: str) -> list[int]:
    """Return strides, dilations or windows for every axis: from one number, one per spatial axis, or one per axis."""
    at = channel_axis(data_format, n + 2)
    if value is None:
        return [1] * (n + 2)
    several = not isinstance(value, int) and (isinstance(value, (list, tuple)) or _is_shape(value) or np.ndim(value))
    values = [int(v) for v in value] if several else [int(value)]
    if len(values) == n + 2:
        return values
    if len(values) not in (1, n):
        raise ValueError(
            f"`{name}` should be of length 1, {n} or {n + 2}. Received: {name}={value} of length {len(values)}"
        )
    values = values * n if len(values) == 1 else values
    return [1, 1, *values] if at == 1 else [1, *values, 1]


def _is_shape(value: Any) -> bool:
    return hasattr(value, "as_list")


def padding_of(padding: Any, rank: int = 4) -> tuple[str, list[int]]:
    """Return the padding attr and the explicit numbers, from "SAME", "VALID" or a list of pairs."""
    if not isinstance(padding, (list, tuple)):
        if padding == "EXPLICIT":
            raise ValueError("'EXPLICIT' is not a valid value for `padding`: give the numbers, [[0, 0], [1, 1], ...]")
        return padding, []
    numbers: list[int] = []
    for i, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ValueError(
                f"When `padding` is a list, each element must be a list/tuple of size 2. Got {pair} at {i}"
            )
        numbers.extend(int(p) for p in pair)
    if len(padding) != rank:
        raise ValueError(f"When `padding` is a list, it must be of size {rank}. Received: padding={padding}")
    return "EXPLICIT", numbers


def _known_rank(x: Any) -> int | None:
    if not isinstance(x, Tensor):
        return np.ndim(x)
    return None if x._dims is None else len(x._dims)


def over_flat_batch(x: Any, op: Callable[[Any], Any], inner: int, name: Any) -> Any:
    """Apply `op`, which takes one batch axis and `inner` more, to a tensor with several batch axes."""
    with name_scope(name, "squeeze_batch_dims", [x]):
        x = operand(x, name="input")
        dims = x._dims
        lead = list(dims[:-inner]) if dims is not None and None not in dims[:-inner] else shape_of_tensor(x)[:-inner]
        rest = list(dims[-inner:]) if dims is not None and None not in dims[-inner:] else shape_of_tensor(x)[-inner:]
        together = isinstance(lead, list) and isinstance(rest, list)
        result = op(reshape(x, [-1, *rest] if isinstance(rest, list) else concat(([-1], rest), axis=-1)))
        found = result._dims
        after = list(found[1:]) if found is not None and None not in found[1:] else shape_of_tensor(result)[1:]
        result = reshape(result, concat((lead, after), axis=-1))
        if together and found is not None:
            result.set_shape([*lead, *found[1:]])
        return result


# --- conv1d, conv2d, conv3d -------------------------------------------------------------------------------------------


def conv2d(
    input: TensorLike,
    filters: TensorLike,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NHWC",
    dilations: Sizes | None = None,
    name: str | None = None,
) -> Tensor:
    """Return images convolved with filters of shape [height, width, channels in, channels out].

    >>> conv2d([[[[1.], [2.], [3.]]]], [[[[1.]], [[1.]]]], 1, "VALID").numpy().ravel().tolist()
    [3.0, 5.0]
    """
    return _conv2d(input, filters, strides, padding, True, data_format or "NHWC", dilations, name)


def conv2d_v1(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: Sizes | None = None,
    padding: Padding | None = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Sizes = [1, 1, 1, 1],  # noqa: B006
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """Return images convolved with filters of shape [height, width, channels in, channels out]."""
    filters = one_of("filter", filter, "filters", filters)
    return _conv2d(input, filters, strides, padding, use_cudnn_on_gpu, data_format or "NHWC", dilations, name)


def _conv2d(input, filters, strides, padding, cudnn, data_format, dilations, name):
    kind, explicit = padding_of(padding)
    attrs = {
        "strides": per_axis(strides, 2, data_format, "strides"),
        "padding": kind,
        "use_cudnn_on_gpu": cudnn,
        "explicit_paddings": explicit,
        "data_format": data_format,
        "dilations": per_axis(dilations, 2, data_format, "dilations"),
    }
    if (_known_rank(input) or 4) > 4:
        return over_flat_batch(input, lambda x: raw.Conv2D(x, filters, **attrs), 3, name)
    return raw.Conv2D(input, filters, name=name, **attrs)


def conv3d(
    input: TensorLike,
    filters: TensorLike,
    strides: Sizes | None,
    padding: Padding | None,
    data_format: str = "NDHWC",
    dilations: Sizes | None = None,
    name: str | None = None,
) -> Tensor:
    """Return volumes convolved with filters of shape [depth, height, width, channels in, channels out]."""
    data_format = data_format or "NDHWC"
    attrs = {
        "strides": per_axis(strides, 3, data_format, "strides"),
        "padding": padding,
        "data_format": data_format,
        "dilations": per_axis(dilations, 3, data_format, "dilations"),
    }
    if (_known_rank(input) or 5) > 5:
        return over_flat_batch(input, lambda x: raw.Conv3D(x, filters, **attrs), 4, name)
    return raw.Conv3D(input, filters, name=name, **attrs)


def conv3d_v1(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: Sizes | None = None,
    padding: Padding | None = None,
    data_format: str = "NDHWC",
    dilations: Sizes = [1, 1, 1, 1, 1],  # noqa: B006
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """Return volumes convolved with filters of shape [depth, height, width, channels in, channels out]."""
    return conv3d(input, one_of("filter", filter, "filters", filters), strides, padding, data_format, dilations, name)


def conv1d(
    input: TensorLike,
    filters: TensorLike,
    stride: Sizes,
    padding: Padding,
    data_format: str = "NWC",
    dilations: Sizes | None = None,
    name: str | None = None,
) -> Tensor:
    """Return sequences convolved with filters of shape [width, channels in, channels out].

    >>> conv1d([[[1.], [2.], [3.]]], [[[1.]], [[1.]]], 1, "VALID").numpy().ravel().tolist()
    [3.0, 5.0]
    """
    return _conv1d(input, filters, stride, padding, True, data_format, dilations, name)


def conv1d_v1(
    value: TensorLike | None = None,
    filters: TensorLike | None = None,
    stride: Sizes | None = None,
    padding: Padding | None = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
    dilations: Sizes | None = None,
) -> Tensor:
    """Return sequences convolved with filters of shape [width, channels in, channels out]."""
    value = one_of("value", value, "input", input)
    return _conv1d(value, filters, stride, padding, use_cudnn_on_gpu, data_format, dilations, name)


_WITH_HEIGHT = {"NWC": "NHWC", "NCW": "NCHW", "NHWC": "NHWC", "NCHW": "NCHW", None: "NHWC", "": "NHWC"}


def _conv1d(value, filters, stride, padding, cudnn, data_format, dilations, name):
    if data_format not in _WITH_HEIGHT:
        raise ValueError(f'`data_format` must be "NWC" or "NCW". Received: data_format={data_format}')
    image = _WITH_HEIGHT[data_format]
    line = "NCW" if image == "NCHW" else "NWC"
    with name_scope(name, "conv1d", [value, filters]) as scope:
        at = -2 if image == "NCHW" else -3
        value = expand_dims(value, at)
        filters = expand_dims(filters, 0)
        strides, rates = (
            _with_height(per_axis(v, 1, line, n), line) for v, n in ((stride, "stride"), (dilations, "dilations"))
        )
        if _known_rank(value) not in (4, None):
            result = over_flat_batch(
                value, lambda x: _conv2d(x, filters, strides, padding, cudnn, image, rates, None), 3, scope or None
            )
        else:
            result = _conv2d(value, filters, strides, padding, cudnn, image, rates, scope or None)
        return squeeze(result, [at])


def _with_height(values: Sequence[int], line: str) -> list[int]:
    """Put a 1 for the height of one before the width."""
    at = 2 if line == "NCW" else 1
    return [*values[:at], 1, *values[at:]]


# --- any number of axes -----------------------------------------------------------------------------------------------


def convolution(
    input: TensorLike,
    filters: TensorLike,
    strides: Sizes | None = None,
    padding: Padding = "VALID",
    data_format: str | None = None,
    dilations: Sizes | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the convolution over as many axes as the filters have."""
    return _convolution(input, filters, strides, padding, data_format, dilations, name)


def convolution_v1(
    input: TensorLike,
    filter: TensorLike,
    padding: Padding,
    strides: Sizes | None = None,
    dilation_rate: Sizes | None = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: TensorLike | None = None,
    dilations: Sizes | None = None,
) -> Tensor:
    """Return the convolution over as many axes as the filters have."""
    rate = one_of("dilation_rate", dilation_rate, "dilations", dilations)
    return _convolution(input, filter if filter is not None else filters, strides, padding, data_format, rate, name)


_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _convolution(input, filters, strides, padding, data_format, dilations, name):
    input, filters = convert(input, None, None, "input"), convert(filters, None, None, "filters")
    n = _spatial_count(input, filters, data_format, strides, dilations)
    data_format = data_format or _FORMATS[n][0]
    with name_scope(name, "convolution", [input, filters]) as scope:
        strides = per_axis(strides, n, data_format, "strides")
        rates = per_axis(dilations, n, data_format, "dilations")

        def op(x, padding, rates, name):
            function = {1: conv1d, 2: conv2d, 3: conv3d}[n]
            return function(x, filters, spatial(strides, data_format), padding, data_format, rates, name)

        steps = spatial(rates, data_format)
        if all(r == 1 for r in steps):
            return op(input, padding, None, scope or None)
        if any(s != 1 for s in strides):
            raise ValueError(
                "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
                f"Received: strides={strides} and dilation_rate={list(steps)}"
            )
        if splits(input, filters, padding, data_format):
            convert(np.array(steps, np.int32), None, None, "dilation_rate")
            if padding == "SAME":
                convert(np.array(filters._dims, np.int32), None, None, "filter_shape")
            return through_batches(input, filters._dims, padding, steps, data_format, op, scope)
        return op(input, padding, steps, scope or None)


def _spatial_count(x: Any, filters: Any, data_format: Any, *per_axis_values: Any) -> int:
    """Return over how many axes to convolve, from whatever tells it."""
    ranks = [_known_rank(filters), _known_rank(x), len(data_format) if data_format else None]
    ranks += [len(v) + 2 for v in per_axis_values if hasattr(v, "__len__") and len(v) > 1]
    rank = next((r for r in ranks if r is not None), None)
    if rank is None or not 3 <= rank <= 5:
        raise ValueError(f"`filters` must be of a known rank, 3, 4 or 5. Received: filters={filters}, of rank {rank}")
    return rank - 2


def splits(x: Any, filters: Any, padding: Any, data_format: str) -> bool:
    """Return whether a dilated convolution is written as nodes around an undilated one: in a graph, of known sizes."""
    if building() is None or x._dims is None or None in spatial(x._dims, data_format):
        return False
    return is_static(filters) and len(filters._dims) == len(x._dims) and padding in ("SAME", "VALID")


def through_batches(x, filter_dims, padding, rates, data_format, op, scope):
    """Return `op` at a dilation rate: elements that far apart are put side by side, as images of one larger batch."""
    n = len(rates)
    steps = np.array(rates, np.int32)
    extra = (np.array(filter_dims[:n], np.int32) - 1) * steps if padding == "SAME" else np.zeros(n, np.int32)
    base = np.stack([extra // 2, extra - extra // 2], axis=1)
    if padding == "SAME":
        convert(base, None, None, "stack")
    pads, crops = _block_paddings(np.array(spatial(x._dims, data_format), np.int32), steps, base, padding)
    if data_format.startswith("NC"):
        steps = np.concatenate([np.ones(1, np.int32), steps])
        pads, crops = (np.concatenate([np.zeros((1, 2), np.int32), p]) for p in (pads, crops))
    inner = op(raw.SpaceToBatchND(x, steps, pads), "VALID", None, scope)
    return raw.BatchToSpaceND(inner, steps, crops)


def _block_paddings(sizes, steps, base, padding):
    """Return what must be padded, and cropped again, to make every size a multiple of its step."""
    more = -(sizes + base.sum(axis=1)) % steps
    pads = np.stack([base[:, 0], base[:, 1] + more], axis=1).astype(np.int32)
    crops = np.stack([np.zeros_like(more), more], axis=1).astype(np.int32)
    with name_scope("required_space_to_batch_paddings"):
        convert(sizes, None, None, "input_shape")
        if padding == "VALID":
            convert(base.copy(), None, None, "base_paddings")
        convert(pads, None, None, "paddings")
        convert(crops, None, None, "crops")
    return pads, crops


def atrous_conv2d(
    value: TensorLike, filters: TensorLike, rate: int, padding: Padding, name: str | None = None
) -> Tensor:
    """Return images convolved with filters whose elements lie `rate` apart."""
    return _convolution(value, filters, None, padding, None, [int(rate)] * 2, name)


# --- the way back -----------------------------------------------------------------------------------------------------


def conv2d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: Sizes | None,
    padding: Padding = "SAME",
    data_format: str = "NHWC",
    dilations: Sizes | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the transpose (the gradient for the input) of a `conv2d` that would give `input`.

    >>> conv2d_transpose(np.ones((1, 2, 2, 1)), np.ones((3, 3, 1, 1)), [1, 4, 4, 1], 2).shape
    TensorShape([1, 4, 4, 1])
    """
    data_format = data_format or "NHWC"
    with name_scope(name, "conv2d_transpose", [input, filters, output_shape]) as scope:
        return _conv2d_back(output_shape, filters, input, strides, padding, data_format, dilations, scope or None)


def _conv2d_back(sizes, filters, grads, strides, padding, data_format, dilations, name, cudnn=True):
    kind, explicit = padding_of(padding)
    return raw.Conv2DBackpropInput(
        _sizes(sizes),
        filters,
        grads,
        strides=per_axis(strides, 2, data_format, "strides"),
        padding=kind,
        use_cudnn_on_gpu=cudnn,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=per_axis(dilations, 2, data_format, "dilations"),
        name=name,
    )


def _sizes(shape: Any) -> Any:
    return shape.as_list() if _is_shape(shape) else shape


def conv2d_transpose_v1(
    value: TensorLike | None = None,
    filter: TensorLike | None = None,
    output_shape: ShapeLike = None,
    strides: Sizes | None = None,
    padding: Padding = "SAME",
    data_format: str = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
    filters: TensorLike | None = None,
    dilations: Sizes | None = None,
) -> Tensor:
    """Return the transpose (the gradient for the input) of a `conv2d` that would give `value`."""
    value, filters = one_of("value", value, "input", input), one_of("filter", filter, "filters", filters)
    return conv2d_transpose(value, filters, output_shape, strides, padding, data_format, dilations, name)


def conv3d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: Sizes | None,
    padding: Padding = "SAME",
    data_format: str = "NDHWC",
    dilations: Sizes | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the transpose (the gradient for the input) of a `conv3d` that would give `input`."""
    data_format = data_format or "NDHWC"
    with name_scope(name, "conv3d_transpose", [input, filters, output_shape]) as scope:
        return raw.Conv3DBackpropInputV2(
            _sizes(output_shape),
            filters,
            input,
            strides=per_axis(strides, 3, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=per_axis(dilations, 3, data_format, "dilations"),
            name=scope or None,
        )


def conv3d_transpose_v1(
    value: TensorLike,
    filter: TensorLike | None = None,
    output_shape: ShapeLike = None,
    strides: Sizes | None = None,
    padding: Padding = "SAME",
    data_format: str = "NDHWC",
    name: str | None = None,
    input: TensorLike | None = None,
    filters: TensorLike | None = None,
    dilations: Sizes | None = None,
) -> Tensor:
    """Return the transpose (the gradient for the input) of a `conv3d` that would give `value`."""
    value, filters = one_of("value", value, "input", input), one_of("filter", filter, "filters", filters)
    return conv3d_transpose(value, filters, output_shape, strides, padding, data_format, dilations, name)


def conv1d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: Sizes,
    padding: Padding = "SAME",
    data_format: str = "NWC",
    dilations: Sizes | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the transpose (the gradient for the input) of a `conv1d` that would give `input`."""
    if data_format not in _WITH_HEIGHT:
        raise ValueError(f'`data_format` must be "NWC" or "NCW". Received: data_format={data_format}')
    image = _WITH_HEIGHT[data_format]
    line, at = ("NCW", 2) if image == "NCHW" else ("NWC", 1)
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        strides, rates = (
            _with_height(per_axis(v, 1, line, n), line) for v, n in ((strides, "strides"), (dilations, "dilations"))
        )
        input, filters = expand_dims(input, at), expand_dims(filters, 0)
        sizes = _sizes(output_shape)
        if not isinstance(sizes, Tensor):
            sizes = list(sizes)
        sizes = concat([sizes[:at], [1], sizes[at:]], 0)
        result = _conv2d_back(sizes, filters, input, strides, padding, image, rates, scope or None)
        return squeeze(result, at)


def conv_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: Sizes,
    padding: Padding = "SAME",
    data_format: str | None = None,
    dilations: Sizes | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the transpose of a convolution over as many axes as `output_shape` has between batch and channels."""
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as scope:
        shape: Any = output_shape
        n = (shape._dims[0] if isinstance(shape, Tensor) else len(shape)) - 2
        if n not in _FORMATS:
            raise ValueError(f"`output_shape` must be of length 3, 4 or 5. Received {shape} of length {n + 2}.")
        function, form = (conv1d_transpose, conv2d_transpose, conv3d_transpose)[n - 1], data_format or _FORMATS[n][0]
        return function(input, filters, output_shape, strides, padding, form, dilations, scope or None)


def atrous_conv2d_transpose(
    value: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    rate: int,
    padding: Padding,
    name: str | None = None,
) -> Tensor:
    """Return the transpose of an `atrous_conv2d` that would give `value`."""
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]):
        value, filters = convert(value, None, None, "value"), convert(filters, None, None, "filters")
        if rate < 1:
            raise ValueError(f"`rate` cannot be less than one. Received: rate={rate}")
        if rate == 1:
            return conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding)
        return _conv2d_back(output_shape, filters, value, None, padding, "NHWC", rate, "Conv2DBackpropInput")


_ONES = [1, 1, 1, 1]


def conv2d_backprop_input(
    input_sizes: TensorLike,
    filter: TensorLike | None = None,
    out_backprop: TensorLike | None = None,
    strides: Sizes | None = None,
    padding: Padding | None = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Sizes = _ONES,
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """Return the gradient of `conv2d` for its input."""
    filters = one_of("filter", filter, "filters", filters)
    return _conv2d_back(
        input_sizes, filters, out_backprop, strides, padding, data_format, dilations, name, use_cudnn_on_gpu
    )


def conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sizes,
    padding: Padding,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Sizes = _ONES,
    name: str | None = None,
) -> Tensor:
    """Return the gradient of `conv2d` for its filters."""
    kind, explicit = padding_of(padding)
    return raw.Conv2DBackpropFilter(
        input,
        _sizes(filter_sizes),
        out_backprop,
        strides=per_axis(strides, 2, data_format, "strides"),
        padding=kind,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def conv3d_backprop_filter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sizes,
    padding: Padding,
    data_format: str = "NDHWC",
    dilations: Sizes = [1, 1, 1, 1, 1],  # noqa: B006
    name: str | None = None,
) -> Tensor:
    """Return the gradient of `conv3d` for its filters."""
    return raw.Conv3DBackpropFilterV2(
        input,
        _sizes(filter_sizes),
        out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )
