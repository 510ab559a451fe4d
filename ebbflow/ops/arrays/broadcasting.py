"""Shapes laid over each other: what two shapes broadcast to, which axes of each it stretched, and arrays so stretched.

The gradient rules of broadcasting ops ask `BroadcastGradientArgs` when shapes are known only at run time; `reduce_to`
in `declare` decides when that is.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.core.shape import TensorShape, as_dims, broadcast_dims, from_dims
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import ShapeLike, TensorLike
from ebbflow.ops.declare import FLAT, raw, show
from ebbflow.ops.sizes import int_vector, is_static, lengths, like, room_for, shape_of

BroadcastArgs = op(
    "BroadcastArgs(s0:T, s1:T) -> (r0:T) | T: index = int32", gradient=FLAT, facts="static portable known=s0,s1"
)
BroadcastGradientArgs = op(
    "BroadcastGradientArgs(s0:T, s1:T) -> (r0:T, r1:T) | T: index = int32",
    gradient=FLAT,
    facts="static bounded portable known=s0,s1 beside",
)


def _vector(arg, name):
    if arg.dims is not None and len(arg.dims) != 1:
        raise errors.StaticShapeError(f"{name} must be a vector, but its shape is {show(arg.dims)}")
    return None if arg.dims is None else arg.dims[0]


@BroadcastArgs.shape
def _(s0, s1):
    a, b = _vector(s0, "In[0]"), _vector(s1, "In[1]")
    return (None,) if a is None or b is None else (max(a, b),)


@BroadcastArgs.kernel
def _(xp, s0, s1):
    return np.array(_broadcast(s0, s1), s0.dtype)


def _broadcast(s0, s1):
    for s in (s0, s1):
        if s.ndim != 1:
            raise errors.InvalidArgumentError(None, None, f"a shape must be a vector, not of shape {show(s.shape)}")
    a, b = s0.tolist(), s1.tolist()
    width = max(len(a), len(b))
    a, b = [1] * (width - len(a)) + a, [1] * (width - len(b)) + b
    for x, y in zip(a, b, strict=True):
        if x != y and x != 1 and y != 1:
            raise errors.InvalidArgumentError(
                None, None, f"Incompatible shapes: {show(tuple(s0.tolist()))} vs. {show(tuple(s1.tolist()))}"
            )
    return [y if x == 1 else x for x, y in zip(a, b, strict=True)]


@BroadcastGradientArgs.shape
def _(s0, s1):
    _vector(s0, "In[0]"), _vector(s1, "In[1]")
    return [(None,), (None,)]


@BroadcastGradientArgs.kernel
def _(xp, s0, s1):
    width = len(_broadcast(s0, s1))
    if s0.tolist() == s1.tolist():
        return np.zeros(0, s0.dtype), np.zeros(0, s1.dtype)
    # An axis of length 1 on both sides is named as well: summing over it changes nothing.
    padded = ([1] * (width - s.size) + s.tolist() for s in (s0, s1))
    return tuple(np.array([axis for axis, n in enumerate(dims) if n == 1], s0.dtype) for dims in padded)


# --- to a shape -------------------------------------------------------------------------------------------------------

BroadcastTo = op(
    "BroadcastTo(input:T, shape:Tidx) -> (output:T) | T: type; Tidx: index = int32",
    facts="view free cheap arranges repeats=input static portable sizes=shape",
)


@BroadcastTo.shape
def _(input, shape):
    if shape.rank not in (None, 1):
        raise errors.StaticShapeError(f"shape must be a vector of {{int32,int64}}, got shape {show(shape.dims)}")
    wanted = lengths(shape, "shape")
    if wanted is None or input.dims is None:
        return wanted
    if len(input.dims) > len(wanted):
        raise errors.StaticShapeError(
            f"Rank of input ({len(input.dims)}) must be no greater than rank of output shape ({len(wanted)})."
        )
    tail = wanted[len(wanted) - len(input.dims) :]
    for have, want in zip(input.dims, tail, strict=True):
        if have not in (None, 1) and want is not None and have != want:
            if want == 1:
                raise errors.StaticShapeError(
                    f"Unable to broadcast tensor of shape {show(input.dims)} to tensor of shape {show(wanted)}"
                )
            raise errors.StaticShapeError(f"Incompatible shapes: {show(input.dims)} vs. {show(wanted)}")
    return wanted


@BroadcastTo.kernel
def _(xp, input, shape):
    sizes = tuple(shape.tolist())
    room_for(sizes, input.dtype.itemsize)
    return xp.broadcast_to(input, sizes)


@BroadcastTo.gradient
def _(call, grad):
    x, dims, given = call.input, call.input._dims, grad._dims
    if is_static(x) and given is not None:
        lead = len(given) - len(dims)
        axes = [*range(lead), *(lead + i for i, n in enumerate(dims) if n == 1 and given[lead + i] != 1)]
        return like(raw.Sum(grad, int_vector(axes, grad)) if axes else grad, x), None
    axes = raw.BroadcastGradientArgs(call.shape, raw.Shape(x, out_type=call.shape.dtype))[1]
    return like(raw.Sum(grad, axes, keep_dims=True), x), None


@BroadcastTo.gradient_by_name
def _(call, grad):
    shape = shape_of(call.input, call.shape.dtype)
    return raw.Reshape(raw.Sum(grad, raw.BroadcastGradientArgs(call.shape, shape)[1]), shape), None


# --- public -----------------------------------------------------------------------------------------------------------


def broadcast_static_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    """Return the TensorShape that two static shapes broadcast to."""
    return from_dims(broadcast_dims(as_dims(shape_x), as_dims(shape_y)))


def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """Return the shape that two shape vectors broadcast to."""
    return raw.BroadcastArgs(shape_x, shape_y)


def broadcast_to(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Return `input` repeated to `shape` by the rules of broadcasting.

    >>> broadcast_to([1, 2], [2, 2]).numpy().tolist()
    [[1, 2], [1, 2]]
    """
    return BroadcastTo(input, shape, name=name)
