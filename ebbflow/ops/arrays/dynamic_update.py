"""Putting a block into a tensor at a place that is known when it runs (`tensorflow.compiler.tf2xla.python.xla`)."""

from __future__ import annotations

from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.creation import ones_like
from ebbflow.ops.declare import raw


def dynamic_update_slice(x: TensorLike, updates: TensorLike, starts: TensorLike) -> Tensor:
    """Return `x` with `updates` in place of the block that begins at `starts`, moved so that it lies inside.

    >>> dynamic_update_slice([1, 2, 3, 4], [8, 9], [3]).numpy().tolist()
    [1, 2, 8, 9]
    """
    x = convert(x)
    updates, starts = convert(updates, x.dtype), convert(starts)
    room = raw.Sub(raw.Shape(x, out_type=starts.dtype), raw.Shape(updates, out_type=starts.dtype))
    begin = raw.Maximum(raw.Minimum(starts, room), convert(0, starts.dtype))
    end = raw.AddV2(begin, raw.Shape(updates, out_type=starts.dtype))
    return raw.TensorStridedSliceUpdate(x, begin, end, ones_like(begin), updates)
