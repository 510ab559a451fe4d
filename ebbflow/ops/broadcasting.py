"""Shapes laid over each other: what two shape vectors broadcast to, and which axes of each it stretched.

The gradient rules of broadcasting ops ask `BroadcastGradientArgs` when shapes are known only at run time; `reduce_to`
in `declare` decides when that is.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, show

BroadcastArgs = op("BroadcastArgs(s0:T, s1:T) -> (r0:T) | T: index = int32", gradient=FLAT)
BroadcastGradientArgs = op("BroadcastGradientArgs(s0:T, s1:T) -> (r0:T, r1:T) | T: index = int32", gradient=FLAT)


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
