"""Pooling: the largest or the mean element of every window, and the way back.

Maxima keep the kernels' manners: NaN never wins against a number, and of equal elements the first does. Which element
won is found by one reduction over (value, place); a gradient is added to that place. Pooling across channels makes them
one more windowed axis.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.engines.xla import library
from ebbflow.engines.xla.library import lax
from ebbflow.engines.xla.rules import lowering
from ebbflow.ops.nn.pool_arrays import _counts, lowest
from ebbflow.ops.nn.windows import channel_axis, explicit_pairs, grid, spatial, taps
from ebbflow.ops.shape_rules import sizes_from


class Pool:
    """How an array is pooled: its windows, and its form with channels last, in computing precision."""

    def __init__(self, shape: Any, attrs: dict[str, Any]):
        rank = len(shape)
        self.data_format = attrs.get("data_format", "NHWC")
        if self.data_format == "NCHW_VECT_C":
            raise errors.UnimplementedError(None, None, "pooling in the data format NCHW_VECT_C; use NCHW or NHWC")
        ksize, strides = tuple(attrs["ksize"]), tuple(attrs["strides"])
        at = channel_axis(self.data_format, rank)
        self.deep = ksize[at] != 1 or strides[at] != 1
        sizes, windows, steps = (spatial(v, self.data_format) for v in (tuple(shape), ksize, strides))
        pairs = explicit_pairs(attrs["padding"], attrs.get("explicit_paddings", ()), self.data_format, rank)
        if self.deep:
            sizes, windows, steps = (*sizes, shape[at]), (*windows, ksize[at]), (*steps, strides[at])
            pairs = None if pairs is None else (*pairs, (0, 0))
        self.grid = grid(sizes, windows, steps, attrs["padding"], None, pairs)

    def open(self, jnp: Any, x: Any) -> Any:
        x = jnp.moveaxis(x, 1, -1) if self.data_format.startswith("NC") else x
        x = x[..., None] if self.deep else x
        return x.astype(np.float32) if x.dtype.kind not in "iu" and x.dtype.itemsize == 2 else x

    def close(self, jnp: Any, x: Any, dtype: Any) -> Any:
        x = x[..., 0] if self.deep else x
        return (jnp.moveaxis(x, -1, 1) if self.data_format.startswith("NC") else x).astype(dtype)

    def windows(self) -> Any:
        """Return window, strides and padding for all axes, as `reduce_window` takes them."""
        g = self.grid
        return (1, *g.windows, 1), (1, *g.strides, 1), ((0, 0), *g.pads, (0, 0))


# --- maxima -----------------------------------------------------------------------------------------------------------


def _winners(jnp: Any, p: Pool, x: Any) -> tuple[Any, Any]:
    """Return every window's largest element and its place among the spatial elements of its image and channel."""
    g = p.grid
    places = jnp.arange(math.prod(g.sizes), dtype=np.int32).reshape(1, *g.sizes, 1)
    places = jnp.broadcast_to(places, x.shape)
    start = np.array(np.nan if x.dtype.kind not in "iu" else lowest(x.dtype), x.dtype)

    def better(a: Any, b: Any) -> Any:
        (v, i), (w, j) = a, b
        wins, same = w > v, w == v
        if x.dtype.kind not in "iu":
            wins, same = wins | ((v != v) & (w == w)), same | ((v != v) & (w != w))
        second = wins | (same & (j < i))
        return jnp.where(second, w, v), jnp.where(second, j, i)

    most = np.array(np.iinfo(np.int32).max, np.int32)
    return lax.reduce_window((x, places), (start, most), better, *p.windows())


def _max(jnp: Any, input: Any, attrs: dict[str, Any]) -> Any:
    p = Pool(input.shape, attrs)
    x = p.open(jnp, input)
    whole = x.dtype.kind in "iu"
    start = np.array(lowest(x.dtype) if whole else np.nan, x.dtype)
    larger = lax.max if whole else lambda a, b: jnp.where((b > a) | (a != a), b, a)
    return p.close(jnp, lax.reduce_window(x, start, larger, *p.windows()), input.dtype)


def _max_grad(jnp: Any, orig_input: Any, grad: Any, attrs: dict[str, Any]) -> Any:
    p = Pool(orig_input.shape, attrs)
    x, dy = p.open(jnp, orig_input), p.open(jnp, grad)
    if not x.size or not dy.size:
        return jnp.zeros(orig_input.shape, grad.dtype)
    best, places = _winners(jnp, p, x)
    if x.dtype.kind not in "iu":
        dy = jnp.where(best == best, dy, 0)  # where all are NaN, none has won
    return p.close(jnp, _added(jnp, x.shape, places, dy), grad.dtype)


def _added(jnp: Any, shape: Any, places: Any, dy: Any) -> Any:
    """Return an array of `shape` with each entry of `dy` added at its place in its image and channel."""
    batch, channels, space = shape[0], shape[-1], math.prod(shape[1:-1])
    images = jnp.arange(batch).reshape(-1, 1, 1)
    columns = jnp.arange(channels).reshape(1, 1, -1)
    zeros = jnp.zeros((batch, space, channels), dy.dtype)
    rows = places.reshape(batch, -1, channels)
    return zeros.at[images, rows, columns].add(dy.reshape(rows.shape)).reshape(shape)


def _max_grad_grad(jnp: Any, orig_input: Any, orig_output: Any, grad: Any, attrs: dict[str, Any]) -> Any:
    p = Pool(orig_input.shape, attrs)
    x = p.open(jnp, grad)
    if not x.size:
        return jnp.zeros(orig_output.shape, grad.dtype)
    _, places = _winners(jnp, p, p.open(jnp, orig_input))
    batch, channels = x.shape[0], x.shape[-1]
    rows = places.reshape(batch, -1, channels)
    taken = jnp.take_along_axis(x.reshape(batch, -1, channels), rows, axis=1)
    return p.close(jnp, taken.reshape(places.shape), grad.dtype)


@lowering("MaxPool", "MaxPool3D")
def _(jnp: Any, input: Any, *, attrs: dict[str, Any]) -> Any:
    return _max(jnp, input, attrs)


@lowering("MaxPoolGrad")
def _(jnp: Any, orig_input: Any, orig_output: Any, grad: Any, *, attrs: dict[str, Any]) -> Any:
    return _max_grad(jnp, orig_input, grad, attrs)


@lowering("MaxPoolGradGrad", "MaxPool3DGradGrad")
def _(jnp: Any, orig_input: Any, orig_output: Any, grad: Any, *, attrs: dict[str, Any]) -> Any:
    return _max_grad_grad(jnp, orig_input, orig_output, grad, attrs)


@lowering("MaxPool3DGrad")
def _(jnp: Any, orig_input: Any, orig_output: Any, grad: Any, *, attrs: dict[str, Any]) -> Any:
    """All elements that equal the largest have the whole gradient, as TensorFlow does it in three dimensions."""
    p = Pool(orig_input.shape, attrs)
    g, x, best, dy = p.grid, p.open(jnp, orig_input), p.open(jnp, orig_output), p.open(jnp, grad)
    config = [(0, 0, 0), *((lo, hi, 0) for lo, hi in g.pads), (0, 0, 0)]
    x = lax.pad(x, np.array(lowest(x.dtype), x.dtype), config)
    total = jnp.zeros(x.shape, dy.dtype)
    for _, where in taps(g):
        total = total.at[where].add(jnp.where(x[where] == best, dy, 0))
    inside = (slice(None), *(slice(lo, lo + n) for n, (lo, _) in zip(g.sizes, g.pads, strict=True)))
    return p.close(jnp, total[inside], grad.dtype)


def _with_numbers(attrs: dict[str, Any], ksize: Any, strides: Any) -> dict[str, Any]:
    return {**attrs, "ksize": tuple(ksize.tolist()), "strides": tuple(strides.tolist())}


@lowering("MaxPoolV2")
def _(jnp: Any, input: Any, ksize: Any, strides: Any, *, attrs: dict[str, Any]) -> Any:
    return _max(jnp, input, _with_numbers(attrs, ksize, strides))


@lowering("MaxPoolGradV2")
def _(jnp: Any, orig_input: Any, orig_output: Any, grad: Any, ksize: Any, strides: Any, *, attrs: Any) -> Any:
    return _max_grad(jnp, orig_input, grad, _with_numbers(attrs, ksize, strides))


@lowering("MaxPoolGradGradV2")
def _(jnp: Any, orig_input: Any, orig_output: Any, grad: Any, ksize: Any, strides: Any, *, attrs: Any) -> Any:
    return _max_grad_grad(jnp, orig_input, orig_output, grad, _with_numbers(attrs, ksize, strides))


@lowering("MaxPoolWithArgmax")
def _(jnp: Any, input: Any, *, include_batch_in_index: bool, attrs: dict[str, Any]) -> Any:
    p = Pool(input.shape, attrs)
    x = p.open(jnp, input)
    best, places = _winners(jnp, p, x)
    if x.dtype.kind not in "iu":
        best = jnp.where(best == best, best, -np.inf)
    batch, *space, channels = x.shape
    index = places.astype(np.int64) * channels + jnp.arange(channels)
    if include_batch_in_index:
        index = index + (jnp.arange(batch) * math.prod(space) * channels).reshape(-1, 1, 1, 1)
    return best.astype(input.dtype), index


def _flat_index(jnp: Any, shape: Any, argmax: Any, include_batch: bool) -> Any:
    index = argmax.astype(np.int64)
    if include_batch:
        return index
    return index + (jnp.arange(shape[0]) * math.prod(shape[1:])).reshape(-1, 1, 1, 1)


_PLACE = "whether argmax points inside"


@lowering("MaxPoolGradWithArgmax", loses=_PLACE)
def _(jnp: Any, input: Any, grad: Any, argmax: Any, *, include_batch_in_index: bool) -> Any:
    half = grad.dtype.itemsize == 2 and grad.dtype.kind not in "iu"
    wide = grad.astype(np.float32) if half else grad
    index = _flat_index(jnp, input.shape, argmax, include_batch_in_index).reshape(-1)
    total = jnp.zeros(math.prod(input.shape), wide.dtype).at[index].add(wide.reshape(-1))
    return total.reshape(input.shape).astype(grad.dtype)


@lowering("MaxPoolGradGradWithArgmax", loses=_PLACE)
def _(jnp: Any, input: Any, grad: Any, argmax: Any, *, include_batch_in_index: bool) -> Any:
    index = _flat_index(jnp, input.shape, argmax, include_batch_in_index)
    return grad.reshape(-1)[index.reshape(-1)].reshape(argmax.shape)


# --- means ------------------------------------------------------------------------------------------------------------


def _window_sums(p: Pool, x: Any) -> Any:
    return lax.reduce_window(x, np.zeros((), x.dtype), lax.add, *p.windows())


def _mean(jnp: Any, value: Any, *, attrs: dict[str, Any]) -> Any:
    p = Pool(value.shape, attrs)
    x = p.open(jnp, value)
    return p.close(jnp, _window_sums(p, x) / _counts(p.grid, x.dtype), value.dtype)


def _mean_grad(jnp: Any, orig_input_shape: Any, grad: Any, *, attrs: dict[str, Any]) -> Any:
    p = Pool(sizes_from(orig_input_shape, grad.ndim, "orig_input_shape", grad.dtype.itemsize), attrs)
    dy = p.open(jnp, grad)
    like = library.jax().ShapeDtypeStruct((dy.shape[0], *p.grid.sizes, dy.shape[-1]), dy.dtype)
    (dx,) = library.jax().linear_transpose(lambda x: _window_sums(p, x), like)(dy / _counts(p.grid, dy.dtype))
    return p.close(jnp, dx, grad.dtype)


lowering("AvgPool", "AvgPool3D")(_mean)
lowering("AvgPoolGrad", "AvgPool3DGrad")(_mean_grad)
