"""Clipping: numbers cut to a range, tensors scaled down to a norm.

The norms of many tensors together (`global_norm`) are what keeps recurrent nets' gradients in bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert, operand
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.ops.arrays.creation import constant, ones_like_v1
from ebbflow.ops.arrays.ranges import range as number_range
from ebbflow.ops.arrays.shaping import rank, size
from ebbflow.ops.declare import dense, raw, reduce_to, show
from ebbflow.ops.elementwise.binary import maximum, minimum
from ebbflow.ops.elementwise.element_loops import LARGE, clipped
from ebbflow.ops.reduce.reductions import reduce_sum

ClipByValue = op(
    "ClipByValue(t:T, clip_value_min:T, clip_value_max:T) -> (output:T) | T: numbers", facts="elementwise broadcasts"
)


@ClipByValue.shape
def _(t, clip_value_min, clip_value_max):
    for name, limit in (("clip_value_min", clip_value_min), ("clip_value_max", clip_value_max)):
        if limit.dims in (None, ()) or t.dims is None:
            continue
        same_rank = len(limit.dims) == len(t.dims)
        if not same_rank or any(a is not None and b is not None and a != b for a, b in zip(limit.dims, t.dims)):
            raise errors.StaticShapeError(
                f"{name} and t must have the same shape, or {name} must be a scalar: "
                f"{show(limit.dims)} and {show(t.dims)}"
            )
    return t.dims


@ClipByValue.kernel
def _(xp, t, clip_value_min, clip_value_max):
    if any(limit.ndim and limit.shape != t.shape for limit in (clip_value_min, clip_value_max)):
        raise ValueError("the limits differ in shape")
    if xp is np and t.size >= LARGE:
        result = clipped(t, clip_value_min, clip_value_max)
        if result is not None:
            return result
    return xp.maximum(xp.minimum(t, clip_value_max), clip_value_min)


@ClipByValue.gradient
def _(call, grad):
    (t, low, high), grad = call.inputs, dense(grad)
    zeros = raw.ZerosLike(grad)
    below, above = raw.Less(t, low), raw.Greater(t, high)
    return (
        raw.SelectV2(raw.LogicalOr(below, above), zeros, grad),
        reduce_to(raw.SelectV2(below, grad, zeros), low, grad),
        reduce_to(raw.SelectV2(above, grad, zeros), high, grad),
    )


def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Tensor:
    """Return `t` with every number cut to the range from `clip_value_min` to `clip_value_max`.

    >>> clip_by_value([-2.0, 0.5, 3.0], -1.0, 1.0).numpy().tolist()
    [-1.0, 0.5, 1.0]
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = t.values if isinstance(t, IndexedSlices) else operand(t, name="t")
        if values.__class__ is EagerTensor and not context.recorders and values._array.size >= LARGE:
            low, high = (operand(v, values.dtype) for v in (clip_value_min, clip_value_max))
            if low._dims == () == high._dims and low.dtype is values.dtype is high.dtype:
                return _with_values(t, ClipByValue(values, low, high))
        cut = minimum(values, clip_value_max)
        _same_shape(values, cut)
        cut = maximum(cut, clip_value_min, name=scope or None)
        _same_shape(values, cut)
        return _with_values(t, cut)


def _with_values(t: TensorLike, values: Tensor) -> Any:
    """Return the values, as IndexedSlices where `t` is."""
    return IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values


def _same_shape(values: Any, cut: Any) -> None:
    if not values.shape.is_compatible_with(cut.shape):
        raise errors.InvalidArgumentError(
            None, None, f"Shapes {values.shape} and {cut.shape} are incompatible: the limits must broadcast to `t`"
        )


def clip_by_norm(t: TensorLike, clip_norm: TensorLike, axes: Axis = None, name: str | None = None) -> Tensor:
    """Return `t`, scaled down where its norm (over `axes`) is above `clip_norm`.

    >>> clip_by_norm([3.0, 4.0], 2.5).numpy().tolist()
    [1.5, 2.0]
    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = t.values if isinstance(t, IndexedSlices) else convert(t, name="t")
        if not context.switches.tf1:  # TF 1 took a norm below zero as it was
            clip_norm = max(clip_norm, 0) if isinstance(clip_norm, (int, float)) else maximum(clip_norm, 0.0)
        squares = reduce_sum(values * values, axes, keepdims=True)
        positive = squares > 0
        # Two choices, so that no gradient runs through the square root of zero.
        safe = raw.Select(positive, squares, ones_like_v1(squares))
        norm = raw.Select(positive, raw.Sqrt(safe), squares)
        scaled = values * clip_norm
        _same_shape(values, scaled)
        clipped = raw.Identity(scaled / maximum(norm, clip_norm), name=scope or None)
        return _with_values(t, clipped)


def clip_by_average_norm(t: TensorLike, clip_norm: TensorLike, name: str | None = None) -> Tensor:
    """Return `t`, scaled down where its norm over the number of its elements is above `clip_norm`.

    >>> print(clip_by_average_norm([3.0, 4.0], 1.0).numpy())
    [1.2 1.6]
    """
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert(t, name="t")
        count = raw.Cast(size(t), DstT=dtypes.float32)
        inverse = raw.Rsqrt(reduce_sum(t * t, number_range(0, rank(t))))
        return raw.Identity(t * clip_norm * minimum(inverse * count, constant(1.0) / clip_norm), name=scope or None)


def global_norm(t_list: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Return the norm of all tensors of a list together; None entries count for nothing.

    >>> global_norm([[3.0], None, [4.0]]).numpy()
    np.float32(5.0)
    """
    values = _values(t_list)
    with name_scope(name, "global_norm", values):
        halves = []
        for value in values:
            if value is not None:
                with _beside(value):
                    halves.append(raw.L2Loss(convert(value)))
        half = reduce_sum(raw.Pack(halves, name="stack"))
        return raw.Sqrt(half * constant(2.0, half.dtype), name="global_norm")


def clip_by_global_norm(
    t_list: Sequence[TensorLike], clip_norm: TensorLike, use_norm: TensorLike | None = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """Return the tensors of a list, all scaled down by one factor where their norm together is above `clip_norm`.

    The second result is that norm (before the scaling); where it is not finite, so are the tensors.

    >>> clipped, norm = clip_by_global_norm([[3.0], None, [4.0]], 2.5)
    >>> clipped[0].numpy().tolist(), clipped[1], norm.numpy()
    ([1.5], None, np.float32(5.0))
    """
    return _clip_together(t_list, clip_norm, use_norm, name, lambda scale, norm: scale + (norm - norm))


def clip_by_global_norm_tf1(
    t_list: Sequence[TensorLike], clip_norm: TensorLike, use_norm: TensorLike | None = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """`clip_by_global_norm` as TensorFlow 1 puts it into a graph."""

    def finite_or_nan(scale: Any, norm: Any) -> Any:
        return raw.Select(raw.IsFinite(norm), scale, constant(float("nan"), norm.dtype))

    return _clip_together(t_list, clip_norm, use_norm, name, finite_or_nan)


def _clip_together(t_list, clip_norm, use_norm, name, finite_or_nan):
    norm = global_norm(t_list, name) if use_norm is None else convert(use_norm)
    values = _values(t_list)
    with name_scope(name, "clip_by_global_norm", [*values, clip_norm]) as scope:
        scale = clip_norm * minimum(1.0 / norm, constant(1.0, norm.dtype) / clip_norm)
        scale = finite_or_nan(scale, norm)
        clipped = []
        for i, (given, value) in enumerate(zip(t_list, values, strict=True)):
            if value is None:
                clipped.append(None)
                continue
            with _beside(value):
                dtype = value.dtype.base_dtype
                factor = scale if scale.dtype is dtype else raw.Cast(scale, DstT=dtype)
                cut = raw.Identity(value * factor, name=f"{scope}_{i}")
            rows = isinstance(given, IndexedSlices)
            clipped.append(IndexedSlices(cut, given.indices, given.dense_shape) if rows else cut)
        return clipped, norm


def _values(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, (str, bytes)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return [_value(t, f"t_{i}") for i, t in enumerate(t_list)]


def _value(t: Any, name: str) -> Any:
    if isinstance(t, IndexedSlices):
        return t.values
    return t if t is None or isinstance(t, Tensor) else convert(t, name=name)


def _beside(tensor: Any) -> AbstractContextManager[Any]:
    """Place what is made inside where `tensor` is, in a graph."""
    graph = context.current_graph() if context.graph_scopes else None
    return nullcontext() if graph is None else graph.colocate_with(tensor.op)
