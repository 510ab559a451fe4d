"""Normalisation and losses: softmax and cross entropy, fused batch norm, local response normalisation.

The formulas are the kernels': statistics in float32 from deviations, so that a large mean costs no precision. Where a
kernel keeps exponentials for a second use, they are computed a second time here: XLA would go through memory for them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.engines.xla.library import lax
from ebbflow.engines.xla.rules import lowering
from ebbflow.ops.nn.windows import channel_axis

# --- softmax ----------------------------------------------------------------------------------------------------------


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _shifted(jnp: Any, x: Any) -> tuple[Any, Any]:
    """Return logits less the largest of each row, and the logarithms of the row sums of their exponentials.

    (Softmax as exp(x - log sum), not exp(x) / sum, in cross entropy of 1024 x 32000: 0.6 of the time.)
    """
    moved = x - x.max(axis=-1, keepdims=True) if x.shape[-1] else x
    return moved, jnp.log(jnp.exp(moved).sum(axis=-1, keepdims=True))


@lowering("Softmax")
def _(jnp: Any, logits: Any) -> Any:
    moved, total = _shifted(jnp, _wide(logits))
    return jnp.exp(moved - total)


@lowering("LogSoftmax")
def _(jnp: Any, logits: Any) -> Any:
    moved, total = _shifted(jnp, _wide(logits))
    return moved - total


@lowering("SoftmaxCrossEntropyWithLogits")
def _(jnp: Any, features: Any, labels: Any) -> Any:
    x, y = jnp.broadcast_arrays(_wide(features), _wide(labels))
    moved, total = _shifted(jnp, x)
    return (y * (total - moved)).sum(axis=-1), jnp.exp(moved - total) - y


@lowering("SparseSoftmaxCrossEntropyWithLogits")
def _(jnp: Any, features: Any, labels: Any) -> Any:
    """A label that is no class gives NaN."""
    x, classes = _wide(features), features.shape[-1]
    moved, total = _shifted(jnp, x)
    outside = ((labels < 0) | (labels >= classes))[:, None]
    total = jnp.where(outside, np.array(np.nan, x.dtype), total)
    chosen = jnp.take_along_axis(moved, jnp.where(outside, 0, labels[:, None]), axis=-1, mode="clip")
    here = labels[:, None] == jnp.arange(classes, dtype=labels.dtype)
    return (total - chosen)[:, 0], jnp.exp(moved - total) - here.astype(x.dtype)


# --- batch norm -------------------------------------------------------------------------------------------------------


class _Layout:
    """Which axes are summed, and how a vector of channels lies against the input."""

    def __init__(self, shape: Any, data_format: str):
        at = channel_axis(data_format, len(shape))
        self.channels = shape[at]
        self.axes = tuple(i for i in range(len(shape)) if i != at)
        self.count = math.prod(shape[i] for i in self.axes)
        self.along = tuple(self.channels if i == at else 1 for i in range(len(shape)))

    def lay(self, vector: Any) -> Any:
        return vector.reshape(self.along)


def _norm(jnp: Any, x: Any, scale: Any, offset: Any, mean: Any, variance: Any, attrs: dict[str, Any]) -> Any:
    layout, factor = _Layout(x.shape, attrs["data_format"]), attrs["exponential_avg_factor"]
    wide, scale, offset, mean, variance = (a.astype(np.float32) for a in (x, scale, offset, mean, variance))
    nothing = jnp.full(layout.channels, np.nan, np.float32)
    if not attrs["is_training"]:
        center, spread = given = mean, variance
    elif layout.count:
        center = wide.mean(axis=layout.axes)
        spread = jnp.square(wide - layout.lay(center)).mean(axis=layout.axes)
        given = center, spread * np.float32(layout.count / max(layout.count - 1, 1))
    else:
        center = spread = nothing
        given = nothing, nothing
    y = (wide - layout.lay(center)) * layout.lay(scale / jnp.sqrt(spread + np.float32(attrs["epsilon"])))
    batch_mean, batch_variance = given if layout.count else (nothing, nothing)
    if attrs["is_training"] and factor != 1.0:
        keep, share = np.float32(1.0 - factor), np.float32(factor)
        batch_mean = keep * mean + share * batch_mean
        batch_variance = keep * variance + share * batch_variance
    return (y + layout.lay(offset)).astype(x.dtype), batch_mean, batch_variance, center, spread


@lowering("FusedBatchNorm", "FusedBatchNormV2")
def _(jnp: Any, x: Any, scale: Any, offset: Any, mean: Any, variance: Any, *, attrs: dict[str, Any]) -> Any:
    return _norm(jnp, x, scale, offset, mean, variance, attrs)


@lowering("FusedBatchNormV3")
def _(jnp: Any, x: Any, scale: Any, offset: Any, mean: Any, variance: Any, *, attrs: dict[str, Any]) -> Any:
    return (*_norm(jnp, x, scale, offset, mean, variance, attrs), jnp.zeros((), scale.dtype))


def _norm_grad(jnp: Any, dy: Any, x: Any, scale: Any, center: Any, spread: Any, attrs: dict[str, Any]) -> Any:
    layout = _Layout(x.shape, attrs["data_format"])
    wide, g, scale, center, spread = (a.astype(np.float32) for a in (x, dy, scale, center, spread))
    inverse = 1 / jnp.sqrt(spread + np.float32(attrs["epsilon"]))
    normal = (wide - layout.lay(center)) * layout.lay(inverse)
    d_offset, d_scale = g.sum(axis=layout.axes), (g * normal).sum(axis=layout.axes)
    if attrs["is_training"] and layout.count:
        count = np.float32(layout.count)
        g = g - layout.lay(d_offset / count) - normal * layout.lay(d_scale / count)
    dx = g * layout.lay(scale * inverse)
    nothing = jnp.zeros(0, np.float32)
    return dx.astype(x.dtype), d_scale, d_offset, nothing, nothing


@lowering("FusedBatchNormGrad", "FusedBatchNormGradV2")
def _(jnp: Any, y_backprop: Any, x: Any, scale: Any, center: Any, spread: Any, *, attrs: dict[str, Any]) -> Any:
    return _norm_grad(jnp, y_backprop, x, scale, center, spread, attrs)


@lowering("FusedBatchNormGradV3")
def _(jnp: Any, y_backprop: Any, x: Any, scale: Any, center: Any, spread: Any, rest: Any, *, attrs: Any) -> Any:
    return _norm_grad(jnp, y_backprop, x, scale, center, spread, attrs)


# --- local response normalisation -------------------------------------------------------------------------------------


def _around(x: Any, radius: int) -> Any:
    """Return the sum of the channels at most `radius` away from each."""
    window = (1,) * (x.ndim - 1) + (2 * radius + 1,)
    pads = ((0, 0),) * (x.ndim - 1) + ((radius, radius),)
    return lax.reduce_window(x, np.zeros((), x.dtype), lax.add, window, (1,) * x.ndim, pads)


@lowering("LRN")
def _(jnp: Any, input: Any, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    x = _wide(input)
    return x * (bias + alpha * _around(x * x, depth_radius)) ** -beta


@lowering("LRNGrad")
def _(
    jnp: Any, input_grads: Any, input_image: Any, output_image: Any,
    *, depth_radius: int, bias: float, alpha: float, beta: float,
) -> Any:  # fmt: skip
    dy, x, y = _wide(input_grads), _wide(input_image), _wide(output_image)
    norm = bias + alpha * _around(x * x, depth_radius)
    shares = _around(dy * y / norm, depth_radius)
    return norm**-beta * dy - (2 * alpha * beta) * x * shares
