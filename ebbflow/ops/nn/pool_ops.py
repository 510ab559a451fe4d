"""Pooling: the ops. The largest or the mean element of every window, and the way back.

A window's elements are visited tap by tap, all windows at once. The gradient of a maximum goes to the first of several
equal elements (MaxPool3DGrad, as in TensorFlow, to each of them). NaN never wins against a number. The functions people
call are in `pooling`.
"""

from __future__ import annotations

import math

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.ops.declare import raw, show
from ebbflow.ops.nn.pool_arrays import (
    first_largest,
    first_places,
    give_to_largest,
    largest,
    lowest,
    means,
    spread_means,
    take_from,
)
from ebbflow.ops.nn.windows import (
    channel_axis,
    dims_in,
    explicit_pairs,
    from_channels_last,
    grid,
    output_length,
    spatial,
    taps,
    to_channels_last,
    with_edges,
    without_edges,
)
from ebbflow.ops.shape_rules import agreed, ranked, sizes_from
from ebbflow.ops.sizes import invalid, shape_of

# --- attributes -------------------------------------------------------------------------------------------------------


def _pool_rule(input, rank, ksize, strides, padding, explicit, data_format):
    shape = ranked(input, rank)
    for values, name in ((ksize, "ksize"), (strides, "stride")):
        if len(values) != rank:
            raise errors.StaticShapeError(
                f"Pooling requires the {name} attribute to contain {rank} values, but got: {len(values)}"
            )
    pairs = explicit_pairs(padding, explicit, data_format, rank) or (None,) * (rank - 2)
    space = [
        output_length(n, k, s, 1, padding, pair)
        for n, k, s, pair in zip(
            spatial(shape, data_format), spatial(ksize, data_format), spatial(strides, data_format), pairs, strict=True
        )
    ]
    at = channel_axis(data_format, rank)
    untouched = ksize[at] == strides[at] == 1  # none of them then is as good as many
    channels = shape[at] if untouched else output_length(shape[at], ksize[at], strides[at], 1, padding)
    return dims_in(data_format, shape[0], space, channels)


class _Pool:
    """How an array is pooled: its windows, and its form with channels last.

    Pooling across channels makes them one more windowed axis, with a single channel behind it.
    """

    def __init__(self, shape, ksize, strides, padding, explicit, data_format):
        rank = len(shape)
        if rank not in (4, 5) or len(ksize) != rank or len(strides) != rank:
            raise invalid(
                f"Input must be 4 or 5-dimensional, with as many ksize and strides: {show(shape)}, "
                f"{list(ksize)}, {list(strides)}"
            )
        if data_format == "NCHW_VECT_C":
            raise _unimplemented("pooling in the data format NCHW_VECT_C; use NCHW or NHWC")
        if any(k < 1 for k in ksize):
            raise invalid(
                "Sliding window ksize must be positive. The specified or inferred ksize is: "
                + ",".join(map(str, ksize))
            )
        if ksize[0] != 1 or strides[0] != 1:
            raise _unimplemented("Pooling is not yet supported on the batch dimension.")
        self.data_format = data_format
        at = channel_axis(data_format, rank)
        self.deep = ksize[at] != 1 or strides[at] != 1
        sizes, windows, steps = (spatial(v, data_format) for v in (shape, ksize, strides))
        pairs = explicit_pairs(padding, explicit, data_format, rank)
        if pairs is not None and any(max(pair) >= k for pair, k in zip(pairs, windows, strict=True)):
            raise invalid(f"Every padding of {list(pairs)} needs to be smaller than the window size {list(windows)}")
        if self.deep:
            _check_depth(shape[at], ksize[at], strides[at], windows)
            sizes, windows, steps = (*sizes, shape[at]), (*windows, ksize[at]), (*steps, strides[at])
            pairs = None if pairs is None else (*pairs, (0, 0))
        self.grid = grid(tuple(sizes), windows, steps, padding, None, pairs)

    def open(self, x):
        """Return an array as the functions above take it: channels last, in computing precision."""
        x = to_channels_last(x, self.data_format)
        x = x[..., None] if self.deep else x
        return x.astype(np.float32) if x.dtype.kind not in "iu" and x.dtype.itemsize == 2 else x

    def close(self, x, dtype):
        """Return what came of it in the caller's form."""
        x = x[..., 0] if self.deep else x
        return from_channels_last(x, self.data_format).astype(dtype, copy=False)

    def out_shape(self, shape):
        """Return the shape of the pooled array."""
        at = channel_axis(self.data_format, len(shape))
        space, channels = (self.grid.out[:-1], self.grid.out[-1]) if self.deep else (self.grid.out, shape[at])
        return dims_in(self.data_format, shape[0], space, channels)


def _unimplemented(message):
    return errors.UnimplementedError(None, None, message)


def _check_depth(channels, window, stride, others):
    if any(k != 1 for k in others):
        raise _unimplemented("MaxPooling supports exactly one of pooling across depth or pooling across width/height.")
    if channels % window:
        raise _unimplemented("Depthwise max pooling requires the depth window to evenly divide the input depth")
    if window != stride:
        raise _unimplemented("Depthwise max pooling requires the depth window to equal the depth stride")


def _check_shape(name, array, wanted):
    if array.shape != wanted:
        raise invalid(f"Expected {name} shape to be {show(wanted)}, but got {show(array.shape)}")


# --- kernels that 2-D and 3-D pooling share ---------------------------------------------------------------------------


def _max(input, ksize, strides, padding, explicit, data_format):
    p = _Pool(input.shape, ksize, strides, padding, explicit, data_format)
    if not math.prod(p.out_shape(input.shape)):
        return np.zeros(p.out_shape(input.shape), input.dtype)
    return p.close(largest(p.open(input), p.grid), input.dtype)


def _max_grad(orig_input, orig_output, grad, ksize, strides, padding, explicit, data_format, ties=False):
    p = _Pool(orig_input.shape, ksize, strides, padding, explicit, data_format)
    wanted = p.out_shape(orig_input.shape)
    _check_shape("orig_output", orig_output, wanted)
    _check_shape("grad", grad, wanted)
    x, dy, g = p.open(orig_input), p.open(grad), p.grid
    if not ties:
        return p.close(give_to_largest(x, dy, g), grad.dtype)
    best = p.open(orig_output)
    padded, x = np.zeros((x.shape[0], *g.padded, x.shape[-1]), dy.dtype), with_edges(x, g, lowest(x.dtype))
    for _, where in taps(g):
        padded[where] += dy * (x[where] == best)
    return p.close(without_edges(padded, g), grad.dtype)


def _max_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format):
    p = _Pool(orig_input.shape, ksize, strides, padding, (), data_format)
    _check_shape("orig_output", orig_output, p.out_shape(orig_input.shape))
    _check_shape("grad", grad, orig_input.shape)
    which = first_largest(p.open(orig_input), p.grid)[1]
    return p.close(take_from(which, p.open(grad), p.grid), grad.dtype)


def _mean(value, ksize, strides, padding, data_format):
    if value.ndim == 4 and len(ksize) == 4 and ksize[0] != 1:
        raise _unimplemented("Pooling is not yet supported on the batch dimension.")
    p = _Pool(value.shape, ksize, strides, padding, (), data_format)
    if p.deep:
        raise _unimplemented("Non-spatial pooling is not yet supported for means; reshape and use tf.reduce_mean")
    return p.close(means(p.open(value), p.grid), value.dtype)


def _mean_grad(orig_input_shape, grad, ksize, strides, padding, data_format):
    sizes = sizes_from(orig_input_shape, grad.ndim, "orig_input_shape", grad.itemsize)
    p = _Pool(sizes, ksize, strides, padding, (), data_format)
    _check_shape("grad", grad, p.out_shape(sizes))
    return p.close(spread_means(p.open(grad), p.grid), grad.dtype)


def _attrs(call, names="ksize strides padding data_format"):
    return {name: call.attrs[name] for name in names.split()}


# --- MaxPool ----------------------------------------------------------------------------------------------------------

_POOLED = "half,bfloat16,float,double,int32,int64,uint8,int16,int8,uint16,qint8"
_SIZES = "ksize: list(int) >= 4; strides: list(int) >= 4"
_EXPLICIT = 'padding: string in ["SAME","VALID","EXPLICIT"]; explicit_paddings: list(int) = []'
_PADDING = 'padding: string in ["SAME","VALID"]'
_FORMAT = 'data_format: string in ["NHWC","NCHW"] = "NHWC"'
_FORMATS = 'data_format: string in ["NHWC","NCHW","NCHW_VECT_C"] = "NHWC"'

MaxPool = op(
    f"MaxPool(input:T) -> (output:T) | T: type in [{_POOLED}] = float; {_SIZES}; {_EXPLICIT}; {_FORMATS}", facts="fresh"
)
MaxPoolGrad = op(
    "MaxPoolGrad(orig_input:T, orig_output:T, grad:T) -> (output:T) | "
    f"{_SIZES}; {_EXPLICIT}; {_FORMAT}; T: reals = float",
    facts="fresh",
)
MaxPoolGradGrad = op(
    f"MaxPoolGradGrad(orig_input:T, orig_output:T, grad:T) -> (output:T) | {_SIZES}; {_PADDING}; {_FORMAT}; T: reals"
)


@MaxPool.shape
def _(input, *, ksize, strides, padding, explicit_paddings, data_format):
    if data_format == "NCHW_VECT_C":
        return None
    return _pool_rule(input, 4, ksize, strides, padding, explicit_paddings, data_format)


@MaxPool.kernel
def _(xp, input, *, ksize, strides, padding, explicit_paddings, data_format):
    return _max(input, ksize, strides, padding, explicit_paddings, data_format)


@MaxPool.gradient
def _(call, grad):
    attrs = _attrs(call, "ksize strides padding explicit_paddings data_format")
    return raw.MaxPoolGrad(call.input, call.output, grad, **attrs)


@MaxPoolGrad.shape
def _(orig_input, orig_output, grad):
    return ranked(orig_input, 4)


@MaxPoolGrad.kernel
def _(xp, orig_input, orig_output, grad, *, ksize, strides, padding, explicit_paddings, data_format):
    return _max_grad(orig_input, orig_output, grad, ksize, strides, padding, explicit_paddings, data_format)


@MaxPoolGrad.gradient
def _(call, grad):
    x, y = call.orig_input, call.orig_output
    attrs = _attrs(call)
    source, dy = x, grad
    if call.padding == "EXPLICIT":  # MaxPoolGradGrad has no explicit padding: pad first
        pairs = [list(call.explicit_paddings[i : i + 2]) for i in range(0, 8, 2)]
        source = raw.PadV2(x, pairs, x.dtype.min)
        dy, attrs["padding"] = raw.Pad(grad, pairs), "VALID"
    return raw.ZerosLike(x), raw.ZerosLike(y), raw.MaxPoolGradGrad(source, y, dy, **attrs)


@MaxPoolGradGrad.shape
def _(orig_input, orig_output, grad, *, ksize, strides, padding, data_format):
    dims = _pool_rule(orig_input, 4, ksize, strides, padding, (), data_format)
    agreed(ranked(orig_input, 4), ranked(grad, 4))
    return agreed(dims, ranked(orig_output, 4))


@MaxPoolGradGrad.kernel
def _(xp, orig_input, orig_output, grad, *, ksize, strides, padding, data_format):
    return _max_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format)


@MaxPoolGradGrad.gradient
def _(call, grad):
    x, y = call.orig_input, call.orig_output
    return raw.ZerosLike(x), raw.ZerosLike(y), raw.MaxPoolGrad(x, y, grad, **_attrs(call))


# --- MaxPoolV2: window and strides are tensors ------------------------------------------------------------------------

MaxPoolV2 = op(
    "MaxPoolV2(input:T, ksize:int32, strides:int32) -> (output:T) | "
    f"T: type in [{_POOLED}] = float; {_PADDING}; {_FORMATS}",
    facts="known=ksize,strides",
)
MaxPoolGradV2 = op(
    "MaxPoolGradV2(orig_input:T, orig_output:T, grad:T, ksize:int32, strides:int32) -> (output:T) | "
    f"{_PADDING}; {_FORMAT}; T: reals = float",
    facts="known=ksize,strides",
)
MaxPoolGradGradV2 = op(
    "MaxPoolGradGradV2(orig_input:T, orig_output:T, grad:T, ksize:int32, strides:int32) -> (output:T) | "
    f"{_PADDING}; {_FORMAT}; T: reals",
    facts="known=ksize,strides",
)


@MaxPoolV2.shape
def _(input, ksize, strides, *, padding, data_format):
    ranked(ksize, 1)
    ranked(strides, 1)
    if ksize.value is None or strides.value is None or data_format == "NCHW_VECT_C":
        return ranked(input, 4)[:1] + (None,) * 3
    return _pool_rule(input, 4, ksize.value.tolist(), strides.value.tolist(), padding, (), data_format)


@MaxPoolV2.kernel
def _(xp, input, ksize, strides, *, padding, data_format):
    return _max(input, *_numbers(ksize, strides), padding, (), data_format)


def _numbers(ksize, strides):
    """Return window and strides that came as tensors."""
    for vector, name in ((ksize, "ksize"), (strides, "strides")):
        if vector.shape != (4,):
            raise invalid(f"{name} must be a vector of 4 elements, got shape {show(vector.shape)}")
    return tuple(ksize.tolist()), tuple(strides.tolist())


@MaxPoolV2.gradient
def _(call, grad):
    attrs = _attrs(call, "padding data_format")
    return raw.MaxPoolGradV2(call.input, call.output, grad, call.ksize, call.strides, **attrs), None, None


@MaxPoolGradV2.shape
def _(orig_input, orig_output, grad, ksize, strides):
    return ranked(orig_input, 4)


@MaxPoolGradV2.kernel
def _(xp, orig_input, orig_output, grad, ksize, strides, *, padding, data_format):
    ksize, strides = _numbers(ksize, strides)
    return _max_grad(orig_input, orig_output, grad, ksize, strides, padding, (), data_format)


@MaxPoolGradV2.gradient
def _(call, grad):
    x, y, k, s = call.orig_input, call.orig_output, call.ksize, call.strides
    again = raw.MaxPoolGradGradV2(x, y, grad, k, s, **_attrs(call, "padding data_format"))
    return raw.ZerosLike(x), raw.ZerosLike(y), again, None, None


@MaxPoolGradGradV2.shape
def _(orig_input, orig_output, grad, ksize, strides):
    return ranked(orig_output, 4)


@MaxPoolGradGradV2.kernel
def _(xp, orig_input, orig_output, grad, ksize, strides, *, padding, data_format):
    ksize, strides = _numbers(ksize, strides)
    return _max_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format)


@MaxPoolGradGradV2.gradient
def _(call, grad):
    x, y, k, s = call.orig_input, call.orig_output, call.ksize, call.strides
    again = raw.MaxPoolGradV2(x, y, grad, k, s, **_attrs(call, "padding data_format"))
    return raw.ZerosLike(x), raw.ZerosLike(y), again, None, None


# --- MaxPoolWithArgmax ------------------------------------------------------------------------------------------------

_INDEXED = "include_batch_in_index: bool = false"

MaxPoolWithArgmax = op(
    f"MaxPoolWithArgmax(input:T) -> (output:T, argmax:Targmax) | {_SIZES}; Targmax: index = int64; "
    f"{_PADDING}; {_INDEXED}; T: reals"
)
MaxPoolGradWithArgmax = op(
    "MaxPoolGradWithArgmax(input:T, grad:T, argmax:Targmax) -> (output:T) | "
    f"{_SIZES}; {_PADDING}; {_INDEXED}; Targmax: index; T: reals"
)
MaxPoolGradGradWithArgmax = op(
    "MaxPoolGradGradWithArgmax(input:T, grad:T, argmax:Targmax) -> (output:T) | "
    f"{_SIZES}; {_PADDING}; {_INDEXED}; Targmax: index; T: reals"
)


@MaxPoolWithArgmax.shape
def _(input, *, ksize, strides, padding):
    if min(ksize) < 1:
        raise errors.StaticShapeError(f"ksize must be a positive int32 value, got:{min(ksize)}")
    return [_pool_rule(input, 4, ksize, strides, padding, (), "NHWC")] * 2


@MaxPoolWithArgmax.kernel
def _(xp, input, *, ksize, strides, padding, include_batch_in_index, Targmax):
    if not input.size:
        raise invalid(f"tensor_in must not be empty, got shape {show(input.shape)}")
    p = _Pool(input.shape, ksize, strides, padding, (), "NHWC")
    if p.deep:
        raise _unimplemented("Non-spatial pooling is not yet supported with argmax.")
    batch, height, width, channels = input.shape
    quick = first_places(input, p.grid, height * width * channels if include_batch_in_index else 0)
    if quick is not None:
        return quick[0], quick[1].astype(Targmax.np, copy=False)
    best, which = first_largest(p.open(input), p.grid)
    (_, across), (down, right), ((top, _), (left, _)) = p.grid.windows, p.grid.strides, p.grid.pads
    row, column = np.divmod(which.astype(np.int64), across)
    row += (np.arange(p.grid.out[0]) * down - top)[:, None, None]
    column += (np.arange(p.grid.out[1]) * right - left)[:, None]
    index = (row * width + column) * channels + np.arange(channels)
    if include_batch_in_index:
        index += (np.arange(batch) * height * width * channels)[:, None, None, None]
    return best.astype(input.dtype, copy=False), index.astype(Targmax.np)


@MaxPoolWithArgmax.gradient
def _(call, grad, _argmax):
    attrs = _attrs(call, "ksize strides padding include_batch_in_index")
    return raw.MaxPoolGradWithArgmax(call.input, grad, call.argmax, **attrs)


def _flat_index(shape, argmax, include_batch):
    """Return indices into the flat input, checked."""
    index = argmax.astype(np.int64)
    size = math.prod(shape) if include_batch else math.prod(shape[1:])
    if index.size and (index.min() < 0 or index.max() >= size):
        bad = index[(index < 0) | (index >= size)].reshape(-1)[0]
        raise invalid(f"Invalid argmax index {bad}: it is not in [0, {size})")
    return index if include_batch else index + (np.arange(shape[0]) * size)[:, None, None, None]


@MaxPoolGradWithArgmax.shape
def _(input, grad, argmax):
    return ranked(input, 4)


@MaxPoolGradWithArgmax.kernel
def _(xp, input, grad, argmax, *, include_batch_in_index):
    if input.ndim != 4:
        raise invalid(f"tensor_in must be 4-dimensional, not of shape {show(input.shape)}")
    _check_shape("argmax", argmax, grad.shape)
    _check_shape("grad", grad, (input.shape[0], *grad.shape[1:]))
    result = np.zeros(
        input.size, np.float32 if grad.dtype.itemsize == 2 and grad.dtype.kind not in "iu" else grad.dtype
    )
    np.add.at(result, _flat_index(input.shape, argmax, include_batch_in_index).reshape(-1), grad.reshape(-1))
    return result.reshape(input.shape).astype(grad.dtype, copy=False)


@MaxPoolGradWithArgmax.gradient
def _(call, grad):
    attrs = _attrs(call, "ksize strides padding include_batch_in_index")
    return raw.ZerosLike(call.input), raw.MaxPoolGradGradWithArgmax(call.input, grad, call.argmax, **attrs), None


@MaxPoolGradGradWithArgmax.shape
def _(input, grad, argmax):
    agreed(ranked(input, 4), ranked(grad, 4))
    return ranked(argmax, 4)


@MaxPoolGradGradWithArgmax.kernel
def _(xp, input, grad, argmax, *, include_batch_in_index):
    _check_shape("grad", grad, input.shape)
    _check_shape("argmax", argmax, (input.shape[0], *argmax.shape[1:]))
    return grad.reshape(-1)[_flat_index(input.shape, argmax, include_batch_in_index)]


@MaxPoolGradGradWithArgmax.gradient
def _(call, grad):
    attrs = _attrs(call, "ksize strides padding include_batch_in_index")
    return raw.ZerosLike(call.input), raw.MaxPoolGradWithArgmax(call.input, grad, call.argmax, **attrs), None


# --- AvgPool ----------------------------------------------------------------------------------------------------------

_FLOATS = "T: floats"
AvgPool = op(f"AvgPool(value:T) -> (output:T) | {_SIZES}; {_PADDING}; {_FORMAT}; {_FLOATS}", facts="fresh")
AvgPoolGrad = op(
    f"AvgPoolGrad(orig_input_shape:int32, grad:T) -> (output:T) | {_SIZES}; {_PADDING}; {_FORMAT}; {_FLOATS}",
    facts="fresh sizes=orig_input_shape",
)


@AvgPool.shape
def _(value, *, ksize, strides, padding, data_format):
    return _pool_rule(value, 4, ksize, strides, padding, (), data_format)


@AvgPool.kernel
def _(xp, value, *, ksize, strides, padding, data_format):
    return _mean(value, ksize, strides, padding, data_format)


@AvgPool.gradient
def _(call, grad):
    return raw.AvgPoolGrad(shape_of(call.value), grad, **_attrs(call))


def _mean_grad_rule(orig_input_shape, grad, rank):
    ranked(grad, rank)
    ranked(orig_input_shape, 1)
    dims = orig_input_shape.as_dims
    if dims is not None and len(dims) != rank:
        raise errors.StaticShapeError(f"Shape must be rank {rank} but is rank {len(dims)}")
    return dims if dims is not None else (None,) * rank


@AvgPoolGrad.shape
def _(orig_input_shape, grad):
    return _mean_grad_rule(orig_input_shape, grad, 4)


@AvgPoolGrad.kernel
def _(xp, orig_input_shape, grad, *, ksize, strides, padding, data_format):
    return _mean_grad(orig_input_shape, grad, ksize, strides, padding, data_format)


@AvgPoolGrad.gradient
def _(call, grad):
    return None, raw.AvgPool(grad, **_attrs(call))


# --- three spatial axes -----------------------------------------------------------------------------------------------

_SIZES_3D = "ksize: list(int) >= 5; strides: list(int) >= 5"
_FORMAT_3D = 'data_format: string in ["NDHWC","NCDHW"] = "NDHWC"'
_POOL_3D = f"{_SIZES_3D}; {_PADDING}; {_FORMAT_3D}"

MaxPool3D = op(f"MaxPool3D(input:T) -> (output:T) | {_POOL_3D}; T: type in [half,bfloat16,float]")
MaxPool3DGrad = op(
    f"MaxPool3DGrad(orig_input:TInput, orig_output:TInput, grad:T) -> (output:T) | {_POOL_3D}; "
    "T: type in [half,bfloat16,float] = float; TInput: type in [half,bfloat16,float] = float"
)
MaxPool3DGradGrad = op(f"MaxPool3DGradGrad(orig_input:T, orig_output:T, grad:T) -> (output:T) | {_POOL_3D}; T: reals")
AvgPool3D = op(f"AvgPool3D(input:T) -> (output:T) | {_POOL_3D}; {_FLOATS}")
AvgPool3DGrad = op(
    f"AvgPool3DGrad(orig_input_shape:int32, grad:T) -> (output:T) | {_POOL_3D}; {_FLOATS}",
    facts="sizes=orig_input_shape",
)


@AvgPool3D.shape
@MaxPool3D.shape
def _(input, *, ksize, strides, padding, data_format):
    return _pool_rule(input, 5, ksize, strides, padding, (), data_format)


@MaxPool3D.kernel
def _(xp, input, *, ksize, strides, padding, data_format):
    return _max(input, ksize, strides, padding, (), data_format)


@MaxPool3D.gradient
def _(call, grad):
    return raw.MaxPool3DGrad(call.input, call.output, grad, **_attrs(call))


@MaxPool3DGrad.shape
def _(orig_input, orig_output, grad):
    return ranked(orig_input, 5)


@MaxPool3DGrad.kernel
def _(xp, orig_input, orig_output, grad, *, ksize, strides, padding, data_format):
    return _max_grad(orig_input, orig_output, grad, ksize, strides, padding, (), data_format, ties=True)


@MaxPool3DGrad.gradient
def _(call, grad):
    x, y = call.orig_input, call.orig_output
    return raw.ZerosLike(x), raw.ZerosLike(y), raw.MaxPool3DGradGrad(x, y, grad, **_attrs(call))


@MaxPool3DGradGrad.shape
def _(orig_input, orig_output, grad, *, ksize, strides, padding, data_format):
    dims = _pool_rule(orig_input, 5, ksize, strides, padding, (), data_format)
    agreed(ranked(orig_input, 5), ranked(grad, 5))
    return agreed(dims, ranked(orig_output, 5))


@MaxPool3DGradGrad.kernel
def _(xp, orig_input, orig_output, grad, *, ksize, strides, padding, data_format):
    return _max_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format)


@MaxPool3DGradGrad.gradient
def _(call, grad):
    x, y = call.orig_input, call.orig_output
    return raw.ZerosLike(x), raw.ZerosLike(y), raw.MaxPool3DGrad(x, y, grad, **_attrs(call))


@AvgPool3D.kernel
def _(xp, input, *, ksize, strides, padding, data_format):
    return _mean(input, ksize, strides, padding, data_format)


@AvgPool3D.gradient
def _(call, grad):
    return raw.AvgPool3DGrad(shape_of(call.input), grad, **_attrs(call))


@AvgPool3DGrad.shape
def _(orig_input_shape, grad):
    return _mean_grad_rule(orig_input_shape, grad, 5)


@AvgPool3DGrad.kernel
def _(xp, orig_input_shape, grad, *, ksize, strides, padding, data_format):
    return _mean_grad(orig_input_shape, grad, ksize, strides, padding, data_format)


@AvgPool3DGrad.gradient
def _(call, grad):
    return None, raw.AvgPool3D(grad, **_attrs(call))
