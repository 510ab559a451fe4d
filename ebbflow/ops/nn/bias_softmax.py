"""The small layers of neural nets: biases, softmax, L2 loss, and what is composed of them.

Softmax and its logarithm are computed with the largest logit subtracted, halves in float32. Convolutions, pooling,
normalisation and losses have files of their own.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert, operand
from ebbflow.core.elsewhere import RunElsewhere
from ebbflow.core.op import op, record
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import EagerTensor, Tensor, _new
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.ops.arrays.creation import building
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.ranges import range as range_of
from ebbflow.ops.arrays.shaping import rank as rank_of
from ebbflow.ops.arrays.shaping import transpose
from ebbflow.ops.declare import raw, show
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.row_loops import divided, less_largest, short_rows, sums
from ebbflow.ops.nn.windows import channel_axis
from ebbflow.ops.reduce.reductions import one_of
from ebbflow.ops.shape_rules import equal_length, ranked, ranked_at_least
from ebbflow.ops.sizes import invalid, shape_of


def wide(x: Any) -> Any:
    """Return an array in the precision sums are made in: halves and bfloat16 as float32."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


# --- BiasAdd ----------------------------------------------------------------------------------------------------------

_FORMAT = 'data_format: string in ["NHWC","NCHW"] = "NHWC"'

BiasAdd = op(
    f"BiasAdd(value:T, bias:T) -> (output:T) | T: numbers; {_FORMAT}", facts="cheap folds finishes=add portable"
)
BiasAddV1 = op("BiasAddV1(value:T, bias:T) -> (output:T) | T: numbers", facts="portable")
BiasAddGrad = op(f"BiasAddGrad(out_backprop:T) -> (output:T) | T: numbers; {_FORMAT}", facts="fresh folds portable")


@BiasAdd.shape
def _(value, bias, *, data_format):
    dims = ranked_at_least(value, 3 if data_format == "NCHW" else 2)
    (length,) = ranked(bias, 1)
    if dims is None:
        return None
    at = channel_axis(data_format, len(dims))
    return (*dims[:at], equal_length(dims[at], length), *dims[at + 1 :])


@BiasAdd.kernel
def _(xp, value, bias, *, data_format):
    _check_bias(value, bias, data_format)
    if data_format == "NCHW":
        bias = bias.reshape(-1, *(1,) * (value.ndim - 2))
    return value + bias


def _check_bias(value, bias, data_format):
    if bias.ndim != 1:
        raise invalid(f"Biases must be 1D: {show(bias.shape)}")
    if value.ndim < 2:
        raise invalid(f"Input tensor must be at least 2D: {show(value.shape)}")
    if value.shape[channel_axis(data_format, value.ndim)] != bias.shape[0]:
        where = "channel" if data_format == "NCHW" else "last"
        raise invalid(
            f"Must provide as many biases as the {where} dimension of the input tensor: "
            f"{show(bias.shape)} vs. {show(value.shape)}"
        )


@BiasAdd.gradient
def _(call, grad):
    return grad, raw.BiasAddGrad(grad, data_format=call.data_format) if call.wants(1) else None


@BiasAddV1.shape
def _(value, bias):
    return BiasAdd.shape_fn(value, bias, data_format="NHWC")


@BiasAddV1.kernel
def _(xp, value, bias):
    return BiasAdd.kernel_fn(xp, value, bias, data_format="NHWC")


@BiasAddV1.gradient
def _(call, grad):
    return grad, raw.BiasAddGrad(grad) if call.wants(1) else None


@BiasAddGrad.shape
def _(out_backprop, *, data_format):
    dims = ranked_at_least(out_backprop, 3 if data_format == "NCHW" else 2)
    return (None if dims is None else dims[channel_axis(data_format, len(dims))],)


@BiasAddGrad.kernel
def _(xp, out_backprop, *, data_format):
    if out_backprop.ndim < 2:
        raise invalid(f"Input tensor must be at least 2D: {show(out_backprop.shape)}")
    at = channel_axis(data_format, out_backprop.ndim)
    x = wide(out_backprop) if out_backprop.dtype.kind not in "iu" else out_backprop
    return x.sum(axis=tuple(i for i in range(x.ndim) if i != at), dtype=x.dtype).astype(out_backprop.dtype)


@BiasAddGrad.gradient
def _(call, grad):
    x = call.out_backprop
    if call.data_format == "NCHW":
        rank = len(x._dims) - 2 if x._dims is not None else raw.Rank(x) - 2
        ones = [1] * rank if isinstance(rank, int) else raw.Fill(raw.Pack([rank]), 1)
        grad = raw.Reshape(grad, concat([[-1], ones], 0))
    return raw.BroadcastTo(grad, shape_of(x))


def bias_add(value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Return `value` with `bias` added along its channel axis.

    >>> bias_add([[1., 2.], [3., 4.]], [10., 20.]).numpy().tolist()
    [[11.0, 22.0], [13.0, 24.0]]
    """
    if value.__class__ is EagerTensor and not data_format and not context.graph_scopes:
        return BiasAdd(value, bias)
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        if data_format is not None:
            if not data_format.startswith(("NC", "N")) or not (
                data_format.startswith("NC") or data_format.endswith("C")
            ):
                raise ValueError(
                    f"`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}"
                )
            data_format = "NCHW" if data_format.startswith("NC") else "NHWC"
        value = operand(value, None, None, "input")
        bias = convert(bias, value.dtype.base_dtype, None, "bias")
        return raw.BiasAdd(value, bias, data_format=data_format, name=scope or None)


def xw_plus_b(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """Return matmul(x, weights) + biases.

    >>> xw_plus_b([[1., 2.]], [[1.], [1.]], [5.]).numpy().tolist()
    [[8.0]]
    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        product = matmul(convert(x, None, None, "x"), convert(weights, None, None, "weights"))
        return bias_add(product, convert(biases, None, None, "biases"), name=scope or None)


def relu_layer(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """Return relu(matmul(x, weights) + biases).

    >>> relu_layer([[1., 2.]], [[1.], [1.]], [-5.]).numpy().tolist()
    [[0.0]]
    """
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        product = matmul(convert(x, None, None, "x"), convert(weights, None, None, "weights"))
        return raw.Relu(bias_add(product, convert(biases, None, None, "biases")), name=scope or None)


# --- Softmax ----------------------------------------------------------------------------------------------------------

Softmax = op("Softmax(logits:T) -> (softmax:T) | T: floats", facts="fresh cheap folds")
LogSoftmax = op("LogSoftmax(logits:T) -> (logsoftmax:T) | T: floats", facts="fresh cheap folds")


@LogSoftmax.shape
@Softmax.shape
def _(logits):
    return ranked_at_least(logits, 1)


def shifted(xp, x):
    """Return logits with the largest of each row subtracted, and the row sums of their exponentials."""
    if not x.ndim:
        raise invalid("logits must have at least one dimension, got a scalar")
    if not x.shape[-1]:
        return x, x.sum(-1, keepdims=True), x
    if xp is np and short_rows(x):
        code, adding = less_largest.code(), sums.code()
        if code is not None and adding is not None:
            size = x.size // x.shape[-1], x.shape[-1]
            moved, total = np.empty_like(x), np.empty((*x.shape[:-1], 1), x.dtype)
            code(x, *size, moved)
            exponentials = np.exp(moved)
            adding(exponentials, *size, total)
            return moved, total, exponentials
    x = x - x.max(-1, keepdims=True)
    exponentials = xp.exp(x)
    return x, exponentials.sum(-1, keepdims=True), exponentials


def shares(xp: Any, exponentials: Any, total: Any) -> Any:
    """Return what part of its row's total each number is."""
    code = divided.code() if xp is np and short_rows(exponentials) else None
    if code is None:
        return exponentials / total
    result = np.empty_like(exponentials)
    code(exponentials, total.size, exponentials.shape[-1], total, result)
    return result


@Softmax.kernel
def _(xp, logits):
    _, total, exponentials = shifted(xp, wide(logits))
    return shares(xp, exponentials, total).astype(logits.dtype, copy=False)


@Softmax.gradient
def _(call, grad):
    y = call.softmax
    return (grad - raw.Sum(grad * y, -1, keep_dims=True)) * y


@LogSoftmax.kernel
def _(xp, logits):
    x, total, _ = shifted(xp, wide(logits))
    return (x - xp.log(total)).astype(logits.dtype)


@LogSoftmax.gradient
def _(call, grad):
    return grad - raw.Sum(grad, -1, keep_dims=True) * raw.Exp(call.logsoftmax)


def softmax(logits: TensorLike, axis: Axis = None, name: str | None = None) -> Tensor:
    """Return exp(logits) scaled to sum to one along an axis, the last one if none is named.

    >>> softmax([0., 0.]).numpy().tolist()
    [0.5, 0.5]
    """
    return _along_axis(Softmax, logits, -1 if axis is None else axis, name)


def log_softmax(logits: TensorLike, axis: Axis = None, name: str | None = None) -> Tensor:
    """Return the logarithm of `softmax(logits)`.

    >>> log_softmax([0.]).numpy().tolist()
    [0.0]
    """
    return _along_axis(LogSoftmax, logits, -1 if axis is None else axis, name)


def softmax_v1(logits: TensorLike, axis: Axis = None, name: str | None = None, dim: Axis = None) -> Tensor:
    """Return exp(logits) scaled to sum to one along an axis."""
    return softmax(logits, one_of("axis", axis, "dim", dim), name)


def log_softmax_v1(logits: TensorLike, axis: Axis = None, name: str | None = None, dim: Axis = None) -> Tensor:
    """Return the logarithm of `softmax(logits)`."""
    return log_softmax(logits, one_of("axis", axis, "dim", dim), name)


_ENGINES_FROM = 1 << 14  # elements; fewer never pay for looking whether an engine is better
_TYPES = {dtype: {"T": dtype} for dtype in (dtypes.float32, dtypes.float64)}


def _along_axis(op, logits, axis, name):
    if logits.__class__ is EagerTensor and axis == -1 and not context.graph_scopes:
        dtype, x = logits._dtype, logits._array
        if dtype in _TYPES and x.ndim and (not op.engines or x.size < _ENGINES_FROM):
            try:
                value = op.kernel_fn(np, x)
            except RunElsewhere:
                return op(logits)
            result = _new(EagerTensor)
            result._array = value
            result._dtype = dtype
            if context.recorders:
                record(op, (logits,), (result,), _TYPES[dtype])
            return result
    logits = operand(logits, None, None, "logits")
    if not isinstance(logits, Tensor):
        return op(logits, name=name)
    rank = None if logits._dims is None else len(logits._dims)
    if isinstance(axis, numbers.Integral) and (axis == -1 or (rank is not None and axis == rank - 1)):
        return op(logits, name=name)
    if isinstance(axis, numbers.Integral) and rank is not None and not -rank <= axis < rank:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of dimensions in the "
            f"input. Received: dim={axis}",
        )
    if building() is None:
        order = list(range(rank))
        order[axis], order[-1] = order[-1], order[axis]
        return transpose(op(transpose(logits, order)), order)
    return _along_axis_in_graph(op, logits, axis, name)


def _along_axis_in_graph(op, logits, axis, name):
    dims, count = logits._dims, rank_of(logits)
    if isinstance(axis, Tensor):
        axis = raw.Select(axis < 0, axis + count, axis)
    elif axis < 0:
        axis = axis + count
    whole = rank_of(logits)
    result = _swapped(op(_swapped(logits, axis, raw.Sub(whole, 1))), axis, raw.Sub(whole, 1), name)
    result.set_shape(dims)
    return result


def _swapped(x, axis, last, name=None):
    order = concat([range_of(axis), [last], range_of(axis + 1, last), [axis]], 0)
    return transpose(x, order, name=name or "transpose")


# --- L2Loss -----------------------------------------------------------------------------------------------------------

L2Loss = op("L2Loss(t:T) -> (output:T) | T: floats", shape=lambda t: (), facts="fresh folds portable")


@L2Loss.kernel
def _(xp, t):
    x = wide(t)
    return xp.asarray(xp.vdot(x, x) / 2, t.dtype)


@L2Loss.gradient
def _(call, grad):
    return call.t * grad


def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Return half the sum of the squares.

    >>> l2_loss([3., 4.]).numpy()
    np.float32(12.5)
    """
    return L2Loss(t, name=name)
