"""Normalisation: fused batch norm and local response normalisation, the ops.

Statistics are float32 whatever the input is; batch statistics are computed from deviations, so that a large mean costs
no precision. The gradient of a training step goes through the batch's statistics, and so does the gradient of that. The
functions people call are in `moments`.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.op import op
from ebbflow.ops.declare import raw, show
from ebbflow.ops.nn.windows import channel_axis
from ebbflow.ops.shape_rules import agreed, equal_length, ranked
from ebbflow.ops.sizes import invalid, shape_of

_EPSILON = "epsilon: float = 9.999999747378752e-05"
_OUTPUTS = "y:T, batch_mean:{U}, batch_variance:{U}, reserve_space_1:{U}, reserve_space_2:{U}"
_STATISTICS = "x:T, scale:{U}, offset:{U}, mean:{U}, variance:{U}"
_AVERAGE = f"{_EPSILON}; exponential_avg_factor: float = 1.0"
_TAIL = '; data_format: string in ["NHWC","NCHW"] = "NHWC"; is_training: bool = true'
_TAIL_3D = '; data_format: string in ["NHWC","NCHW","NDHWC","NCDHW"] = "NHWC"; is_training: bool = true'
_HALVES = "T: type in [half,bfloat16,float]"

FusedBatchNorm = op(
    f"FusedBatchNorm({_STATISTICS.format(U='T')}) -> ({_OUTPUTS.format(U='T')})"
    f" | T: type in [float]; {_AVERAGE}{_TAIL}",
    facts="cheap heavy",
)
FusedBatchNormV2 = op(
    f"FusedBatchNormV2({_STATISTICS.format(U='U')}) -> ({_OUTPUTS.format(U='U')}) | "
    f"{_HALVES}; U: type in [float]; {_AVERAGE}{_TAIL}",
    facts="cheap heavy",
)
FusedBatchNormV3 = op(
    f"FusedBatchNormV3({_STATISTICS.format(U='U')}) -> ({_OUTPUTS.format(U='U')}, reserve_space_3:U) | "
    f"{_HALVES}; U: type in [bfloat16,float]; {_AVERAGE}{_TAIL_3D}",
    facts="fresh cheap heavy",
)


# --- rules ------------------------------------------------------------------------------------------------------------


def _norm_rule(x, scale, offset, mean, variance, exponential_avg_factor, data_format, is_training, extra):
    rank = 5 if len(data_format) == 5 else 4
    dims = ranked(x, rank)
    at = channel_axis(data_format, rank)
    channels = dims[at]
    used = (scale, offset, mean, variance) if not is_training or exponential_avg_factor != 1.0 else (scale, offset)
    for vector in used:
        channels = equal_length(channels, ranked(vector, 1)[0])
    y = (*dims[:at], channels, *dims[at + 1 :])
    return [y] + [(channels,)] * 4 + [None] * extra


@FusedBatchNormV2.shape
@FusedBatchNorm.shape
def _(x, scale, offset, mean, variance, *, exponential_avg_factor, data_format, is_training):
    return _norm_rule(x, scale, offset, mean, variance, exponential_avg_factor, data_format, is_training, 0)


@FusedBatchNormV3.shape
def _(x, scale, offset, mean, variance, *, exponential_avg_factor, data_format, is_training):
    return _norm_rule(x, scale, offset, mean, variance, exponential_avg_factor, data_format, is_training, 1)


# --- kernels ----------------------------------------------------------------------------------------------------------


_ROWS = 256  # summed at once; the blocks' sums are added up after that, so that rounding stays small


class _Layout:
    """Which axes are summed, and how a vector of channels lies against the input."""

    def __init__(self, shape, data_format):
        rank = 5 if len(data_format) == 5 else 4
        if len(shape) != rank:
            raise invalid(f"input must be {rank}-dimensional, got shape {show(shape)}")
        at = channel_axis(data_format, rank)
        self.channels = shape[at]
        self.axes = tuple(i for i in range(rank) if i != at)
        self.count = int(np.prod([shape[i] for i in self.axes]))
        self.along = tuple(self.channels if i == at else 1 for i in range(rank))

    def check(self, vector, name):
        if vector.shape != (self.channels,):
            raise invalid(
                f"{name} must have the same number of elements as the channels of x, got {show(vector.shape)} "
                f"and {self.channels}"
            )

    def lay(self, vector):
        return vector.reshape(self.along)

    def sum(self, x):
        """Return the sums over all but the channels: by BLAS (NumPy is ten times slower on short rows)."""
        if self.along[-1] == 1 or not x.flags.c_contiguous or not self.channels:
            return x.sum(axis=self.axes, dtype=np.float32)
        rows = x.reshape(-1, self.channels)
        whole = len(rows) - len(rows) % _ROWS
        blocks = rows[:whole].reshape(-1, _ROWS, self.channels)
        ones = np.ones((1, _ROWS), np.float32)
        return np.matmul(ones, blocks).sum(axis=(0, 1)) + rows[whole:].sum(axis=0)


def _norm(x, scale, offset, mean, variance, epsilon, factor, data_format, is_training):
    layout = _Layout(x.shape, data_format)
    layout.check(scale, "scale")
    layout.check(offset, "offset")
    if not is_training or factor != 1.0:
        reason = "When is_training=false, " if not is_training else "When exponential_avg_factor != 1, "
        layout.check(mean, reason + "mean")
        layout.check(variance, reason + "variance")
    wide, scale, offset = (a.astype(np.float32, copy=False) for a in (x, scale, offset))
    if is_training:
        center, spread, given, y = _batch_statistics(wide, layout)
    else:
        center, spread = (a.astype(np.float32, copy=False) for a in (mean, variance))
        given, y = (center, spread), wide - layout.lay(center)
    y *= layout.lay(scale / np.sqrt(spread + np.float32(epsilon)))
    y += layout.lay(offset)
    batch_mean, batch_variance = given if layout.count else (np.full(layout.channels, np.nan, np.float32),) * 2
    if is_training and factor != 1.0:
        keep, share = np.float32(1.0 - factor), np.float32(factor)
        batch_mean = keep * mean.astype(np.float32) + share * batch_mean
        batch_variance = keep * variance.astype(np.float32) + share * batch_variance
    return y.astype(x.dtype), batch_mean, batch_variance, center, spread


def _batch_statistics(x, layout):
    """Return mean and variance of the batch, what is handed out of them (without bias), and x less the mean."""
    if not layout.count:
        nothing = np.full(layout.channels, np.nan, np.float32)
        return nothing, nothing, (nothing, nothing), x.copy()
    count = np.float32(layout.count)
    center = layout.sum(x) / count
    deviation = x - layout.lay(center)
    spread = layout.sum(deviation * deviation) / count
    unbiased = spread * (count / np.float32(max(layout.count - 1, 1)))
    return center, spread, (center, unbiased), deviation


@FusedBatchNormV2.kernel
@FusedBatchNorm.kernel
def _(xp, x, scale, offset, mean, variance, *, epsilon, exponential_avg_factor, data_format, is_training):
    return _norm(x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, is_training)


@FusedBatchNormV3.kernel
def _(xp, x, scale, offset, mean, variance, *, epsilon, exponential_avg_factor, data_format, is_training):
    y, *statistics = _norm(x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, is_training)
    return (y, *(s.astype(scale.dtype, copy=False) for s in statistics), np.zeros((), scale.dtype))


# --- gradients --------------------------------------------------------------------------------------------------------

_GRADIENT = "x_backprop:T, scale_backprop:{U}, offset_backprop:{U}, reserve_space_{a}:{U}, reserve_space_{b}:{U}"

FusedBatchNormGrad = op(
    "FusedBatchNormGrad(y_backprop:T, x:T, scale:T, reserve_space_1:T, reserve_space_2:T) -> "
    f"({_GRADIENT.format(U='T', a=3, b=4)}) | T: type in [float]; {_EPSILON}{_TAIL}",
    facts="heavy",
)
FusedBatchNormGradV2 = op(
    "FusedBatchNormGradV2(y_backprop:T, x:T, scale:float, reserve_space_1:U, reserve_space_2:U) -> "
    f"({_GRADIENT.format(U='U', a=3, b=4)}) | {_HALVES}; U: type in [float]; {_EPSILON}{_TAIL}",
    facts="heavy",
)
FusedBatchNormGradV3 = op(
    "FusedBatchNormGradV3(y_backprop:T, x:T, scale:float, reserve_space_1:U, reserve_space_2:U, reserve_space_3:U) -> "
    f"({_GRADIENT.format(U='U', a=4, b=5)}) | {_HALVES}; U: type in [float]; {_EPSILON}{_TAIL_3D}",
    facts="fresh heavy",
)


def _grad_rule(y_backprop, x, scale, reserve_space_1, reserve_space_2, data_format):
    rank = 5 if len(data_format) == 5 else 4
    dims = agreed(ranked(y_backprop, rank), ranked(x, rank))
    at = channel_axis(data_format, rank)
    channels = dims[at]
    for vector in (scale, reserve_space_1, reserve_space_2):
        channels = equal_length(channels, ranked(vector, 1)[0])
    return [(*dims[:at], channels, *dims[at + 1 :]), (channels,), (channels,), (0,), (0,)]


@FusedBatchNormGradV2.shape
@FusedBatchNormGrad.shape
def _(y_backprop, x, scale, reserve_space_1, reserve_space_2, *, data_format):
    return _grad_rule(y_backprop, x, scale, reserve_space_1, reserve_space_2, data_format)


@FusedBatchNormGradV3.shape
def _(y_backprop, x, scale, reserve_space_1, reserve_space_2, reserve_space_3, *, data_format):
    return _grad_rule(y_backprop, x, scale, reserve_space_1, reserve_space_2, data_format)


def _norm_grad(dy, x, scale, center, spread, epsilon, data_format, is_training):
    layout = _Layout(x.shape, data_format)
    if dy.shape != x.shape:
        raise invalid(
            f"x and y_backprop must have same shape, but x has shape {show(x.shape)} and y_backprop {show(dy.shape)}"
        )
    for vector, name in ((scale, "scale"), (center, "reserve_space_1"), (spread, "reserve_space_2")):
        layout.check(vector, name)
    wide, g, scale = (a.astype(np.float32, copy=False) for a in (x, dy, scale))
    inverse = 1 / np.sqrt(spread.astype(np.float32) + np.float32(epsilon))
    normal = (wide - layout.lay(center.astype(np.float32))) * layout.lay(inverse)
    d_offset = layout.sum(g)
    d_scale = layout.sum(g * normal)
    if is_training and layout.count:
        count = np.float32(layout.count)
        normal *= layout.lay(d_scale / -count)
        normal += g
        normal -= layout.lay(d_offset / count)
        g = normal
    dx = g * layout.lay(scale * inverse)
    nothing = np.zeros(0, np.float32)
    return dx.astype(x.dtype), d_scale, d_offset, nothing, nothing


@FusedBatchNormGradV2.kernel
@FusedBatchNormGrad.kernel
def _(xp, y_backprop, x, scale, reserve_space_1, reserve_space_2, *, epsilon, data_format, is_training):
    return _norm_grad(y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training)


@FusedBatchNormGradV3.kernel
def _(
    xp, y_backprop, x, scale, reserve_space_1, reserve_space_2, reserve_space_3, *, epsilon, data_format, is_training
):
    return _norm_grad(y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training)


def _batch_norm_gradient(call, grad, *_):
    """One rule for the three versions: the last one's gradient op has one input more."""
    if call.is_training:
        center, spread = call.reserve_space_1, call.reserve_space_2
    else:
        center, spread = call.mean, call.variance
    attrs = {name: call.attrs[name] for name in ("epsilon", "data_format", "is_training")}
    inputs = [grad, call.x, *(_float32(v) for v in (call.scale, center, spread))]
    if call.op.name == "FusedBatchNormV3":
        inputs.append(_float32(call.reserve_space_3))
    dx, d_scale, d_offset, *_ = getattr(raw, call.op.name.replace("Norm", "NormGrad"))(*inputs, **attrs)
    kind = call.scale.dtype
    if kind is not dtypes.float32:
        d_scale, d_offset = raw.Cast(d_scale, DstT=kind), raw.Cast(d_offset, DstT=kind)
    return dx, d_scale, d_offset, None, None


def _float32(x):
    return x if x.dtype is dtypes.float32 else raw.Cast(x, DstT=dtypes.float32)


FusedBatchNorm.gradient(_batch_norm_gradient)
FusedBatchNormV2.gradient(_batch_norm_gradient)
FusedBatchNormV3.gradient(_batch_norm_gradient)


def _second_order(call, u, v, w, *_):
    """The gradient of (dx, dγ, dβ), asked for with (u, v, w), for dy = g, x and γ.

    With r = 1/√(σ² + ε), n = (x - μ)·r and means ⟨·⟩ over a channel, dx = γ r (g - ⟨g⟩ - n⟨g n⟩) in training. What
    flows to x goes through n and through r, both of which depend on all of x by way of μ and σ².
    """
    lay, sums, means = _channel_tools(call.data_format)
    g, x, u = (_float32(t) for t in (call.y_backprop, call.x, u))
    if call.is_training:
        deviation = x - means(x)
        r = raw.Rsqrt(means(deviation * deviation) + call.epsilon)
    else:
        deviation = x - lay(call.reserve_space_1)
        r = lay(raw.Rsqrt(call.reserve_space_2 + call.epsilon))
    n = deviation * r
    slope, v, w = lay(call.scale) * r, lay(v), lay(w)
    if call.is_training:
        um, gm, un, gn = means(u), means(g), means(u * n), means(g * n)
        to_g = slope * (u - um - n * un) + n * v + w
        to_scale = r * (sums(u * g) - sums(u) * gm - sums(u * n) * gn)
        through_n = g * v - slope * (u * gn + g * un)
        bend = slope * (means(u * g) - um * gm - un * gn)
        to_x = r * (through_n - means(through_n) - n * (means(through_n * n) + bend))
    else:
        to_g = slope * u + n * v + w
        to_scale = r * sums(u * g)
        to_x = g * v * r
    kind = call.x.dtype
    if kind is not dtypes.float32:
        to_g, to_x = raw.Cast(to_g, DstT=kind), raw.Cast(to_x, DstT=kind)
    return [to_g, to_x, raw.Reshape(to_scale, [-1]), None, None]


def _channel_tools(data_format):
    """Return how to lay a vector along the channels, and how to sum and average over all else."""
    rank = 5 if len(data_format) == 5 else 4
    at = channel_axis(data_format, rank)
    axes = [i for i in range(rank) if i != at]
    along = [-1 if i == at else 1 for i in range(rank)]
    return (
        lambda vector: raw.Reshape(vector, along),
        lambda x: raw.Sum(x, axes, keep_dims=True),
        lambda x: raw.Mean(x, axes, keep_dims=True),
    )


FusedBatchNormGrad.gradient(_second_order)
FusedBatchNormGradV2.gradient(_second_order)


@FusedBatchNormGradV3.gradient
def _(call, *grads):
    return [*_second_order(call, *grads), None]


# --- local response normalisation -------------------------------------------------------------------------------------

_LRN = (
    "depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; "
    "T: type in [half,bfloat16,float] = float"
)

LRN = op(f"LRN(input:T) -> (output:T) | {_LRN}", shape=lambda input: ranked(input, 4))
LRNGrad = op(f"LRNGrad(input_grads:T, input_image:T, output_image:T) -> (output:T) | {_LRN}")


def _near_sums(x, radius):
    """Return the sums over the channels at most `radius` away: a product with a band of ones."""
    if not x.size:
        return x
    at = np.arange(x.shape[-1])
    band = (abs(at[:, None] - at) <= radius).astype(x.dtype)
    return np.matmul(x.reshape(-1, x.shape[-1]), band).reshape(x.shape)


def _power(norm, beta):
    """Return norm^-beta; square roots are many times quicker than powers, and betas are what they are."""
    if beta == 0.5:
        return 1 / np.sqrt(norm)
    if beta == 0.75:
        root = np.sqrt(norm)
        return 1 / (root * np.sqrt(root))
    return 1 / norm if beta == 1.0 else norm ** np.float32(-beta)


def _check_lrn(x, radius):
    if x.ndim != 4:
        raise invalid(f"in must be 4-dimensional, got shape {show(x.shape)}")
    if radius < 0:
        raise invalid(f"depth_radius = {radius} is negative")
    return x.astype(np.float32, copy=False)


@LRN.kernel
def _(xp, input, *, depth_radius, bias, alpha, beta):
    x = _check_lrn(input, depth_radius)
    norm = np.float32(bias) + np.float32(alpha) * _near_sums(x * x, depth_radius)
    return (x * _power(norm, beta)).astype(input.dtype)


@LRN.gradient
def _(call, grad):
    return raw.LRNGrad(grad, call.input, call.output, **_lrn_attrs(call))


def _lrn_attrs(call):
    return {name: call.attrs[name] for name in ("depth_radius", "bias", "alpha", "beta")}


@LRNGrad.shape
def _(input_grads, input_image, output_image):
    return agreed(agreed(ranked(input_grads, 4), ranked(input_image, 4)), ranked(output_image, 4))


@LRNGrad.kernel
def _(xp, input_grads, input_image, output_image, *, depth_radius, bias, alpha, beta):
    if not input_grads.shape == input_image.shape == output_image.shape:
        raise invalid(
            "input_grads, input_image, and out_image should have the same shape, got "
            f"{show(input_grads.shape)}, {show(input_image.shape)} and {show(output_image.shape)}"
        )
    g, x, y = (_check_lrn(a, depth_radius) for a in (input_grads, input_image, output_image))
    norm = np.float32(bias) + np.float32(alpha) * _near_sums(x * x, depth_radius)
    dx = g * _power(norm, beta) - np.float32(2 * alpha * beta) * x * _near_sums(g * y / norm, depth_radius)
    return dx.astype(input_grads.dtype)


@LRNGrad.gradient
def _(call, u):
    """Term by term from dx = g n^-β - 2αβ x S(g y/n), with n = bias + α S(x²) and S the sum over near channels."""
    g, x, y = call.input_grads, call.input_image, call.output_image
    alpha, beta = call.alpha, call.beta

    def near(t):
        channels = shape_of(x)[-1]
        ones = raw.Fill(raw.Pack([channels, channels]), raw.Cast(1.0, DstT=x.dtype))
        reach = raw.Minimum(channels, call.depth_radius)
        return raw.BatchMatMulV2(t, raw.MatrixBandPart(ones, reach, reach))

    n = call.bias + alpha * near(x * x)
    power = raw.Pow(n, -beta)
    turned = near(u * x)
    to_n = -beta * u * g * power / n + 2 * alpha * beta * turned * g * y / (n * n)
    to_g = u * power - 2 * alpha * beta * turned * y / n
    to_x = -2 * alpha * beta * u * near(g * y / n) + 2 * alpha * x * near(to_n)
    return to_g, to_x, -2 * alpha * beta * turned * g / n
