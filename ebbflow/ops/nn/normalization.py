"""Means, variances and normalising with them: `moments`, `batch_normalization`, `fused_batch_norm`, `lrn`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.ops.arrays.creation import constant, stop_gradient, zeros_like_v1
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.shaping import shape as shape_of_tensor
from ebbflow.ops.arrays.shaping import squeeze
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise import binary as math_ops
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.unary import reciprocal, rsqrt, square
from ebbflow.ops.reduce.reductions import one_of, reduce_mean, reduce_prod, reduce_sum

_SHORT = frozenset([dtypes.float16, dtypes.bfloat16])


def moments(
    x: TensorLike, axes: Axis, shift: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return the mean and the variance of `x` over `axes`.

    >>> [float(m) for m in moments([1., 3.], [0])]
    [2.0, 1.0]
    """
    with name_scope(name, "moments", [x, axes]):
        x = convert(x)
        y = cast(x, dtypes.float32) if x.dtype.base_dtype in _SHORT else x
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        apart = math_ops.squared_difference(y, stop_gradient(mean))
        variance = reduce_mean(apart, axes, keepdims=True, name="variance")
        if not keepdims:
            mean, variance = _dropped(mean, axes), _dropped(variance, axes)
        return cast(mean, x.dtype), cast(variance, x.dtype)


def _dropped(x: Any, axes: Any) -> Any:
    """Return `x` without the axes that were summed over."""
    if isinstance(axes, Tensor):
        axes = axes.constant_value()
        axes = None if axes is None else axes.reshape(-1).tolist()
    return squeeze(x, axes if axes is None or isinstance(axes, int) else [int(a) for a in axes])


def moments_v1(
    x: TensorLike,
    axes: Axis,
    shift: TensorLike | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the mean and the variance of `x` over `axes`."""
    return moments(x, axes, shift, bool(one_of("keepdims", keepdims, "keep_dims", keep_dims)), name)


def weighted_moments(
    x: TensorLike, axes: Axis, frequency_weights: TensorLike, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return the mean and the variance of `x` over `axes`, elements counted as often as their weights say.

    >>> [float(m) for m in weighted_moments([1., 3.], [0], [3., 1.])]
    [1.5, 0.75]
    """
    return _weighted_moments(x, axes, frequency_weights, keepdims, name, _divided)


def _divided(weights: Any) -> Any:
    return lambda total: math_ops.div_no_nan(total, weights)


def _multiplied(weights: Any) -> Any:
    inverse = reciprocal(weights, name="inv_weight_sum")
    return lambda total: math_ops.multiply(total, inverse)


def weighted_moments_v1(
    x: TensorLike,
    axes: Axis,
    frequency_weights: TensorLike,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the mean and the variance of `x` over `axes`, elements counted as often as their weights say."""
    keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    return _weighted_moments(x, axes, frequency_weights, keepdims, name, _divided)


def weighted_moments_tf1(
    x: TensorLike,
    axes: Axis,
    frequency_weights: TensorLike,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the weighted mean and variance (as TensorFlow 1 puts them into a graph)."""
    keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    return _weighted_moments(x, axes, frequency_weights, keepdims, name, _multiplied)


def _weighted_moments(x, axes, frequency_weights, keepdims, name, scaling):
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert(x, None, None, "x")
        weights = convert(frequency_weights, None, None, "frequency_weights")
        dtype = x.dtype.base_dtype
        if dtype in _SHORT:
            x = cast(x, dtypes.float32)
        weights = cast(weights, x.dtype)
        total = reduce_sum(weights * x, axes, keepdims=True, name="weighted_input_sum")
        spread = weights + zeros_like_v1(x)
        over_weights = scaling(reduce_sum(spread, axes, keepdims=True, name="sum_of_weights"))
        mean = over_weights(total)
        apart = weights * math_ops.squared_difference(x, mean)
        variance = over_weights(reduce_sum(apart, axes, keepdims=True, name="weighted_distsq"))
        if not keepdims:
            mean, variance = _dropped(mean, axes), _dropped(variance, axes)
        return cast(mean, dtype), cast(variance, dtype)


def sufficient_statistics(
    x: TensorLike, axes: Axis, shift: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Return the count, the sum, the sum of squares of `x` over `axes`, and the shift subtracted before."""
    axes = list(dict.fromkeys(axes)) if isinstance(axes, (list, tuple)) else axes
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert(x, None, None, "x")
        counts = _count(x, axes)
        if shift is not None:
            shift = convert(shift, None, x.dtype, "shift")
            first, second = math_ops.subtract(x, shift), math_ops.squared_difference(x, shift)
        else:
            first, second = x, square(x)
        total = reduce_sum(first, axes, keepdims=keepdims, name="mean_ss")
        return counts, total, reduce_sum(second, axes, keepdims=keepdims, name="var_ss"), shift


def _count(x: Any, axes: Any) -> Any:
    dims = x._dims
    if dims is not None and all(dims[int(a)] is not None for a in axes):
        return constant(float(np.prod([dims[int(a)] for a in axes])), dtype=x.dtype.base_dtype)
    return reduce_prod(gather(cast(shape_of_tensor(x), x.dtype), axes), name="count")


def sufficient_statistics_v1(
    x: TensorLike,
    axes: Axis,
    shift: TensorLike | None = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Return the count, the sum, the sum of squares of `x` over `axes`, and the shift subtracted before."""
    return sufficient_statistics(x, axes, shift, bool(one_of("keepdims", keepdims, "keep_dims", keep_dims)), name)


def normalize_moments(
    counts: TensorLike, mean_ss: TensorLike, variance_ss: TensorLike, shift: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return mean and variance from what `sufficient_statistics` gave."""
    return _normalize_moments(counts, mean_ss, variance_ss, shift, name, math_ops.add)


def normalize_moments_tf1(
    counts: TensorLike, mean_ss: TensorLike, variance_ss: TensorLike, shift: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return mean and variance from sufficient statistics (as TensorFlow 1 puts them into a graph)."""
    return _normalize_moments(counts, mean_ss, variance_ss, shift, name, math_ops.add_tf1)


def _normalize_moments(counts, mean_ss, variance_ss, shift, name, add):
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = reciprocal(counts, name="divisor")
        if shift is not None:
            moved = math_ops.multiply(mean_ss, divisor, name="shifted_mean")
            mean = add(moved, shift, name="mean")
        else:
            mean = moved = math_ops.multiply(mean_ss, divisor, name="mean")
        return mean, math_ops.subtract(math_ops.multiply(variance_ss, divisor), square(moved), name="variance")


# --- normalising ------------------------------------------------------------------------------------------------------


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None,
    scale: TensorLike | None,
    variance_epsilon: TensorLike | None,
    name: str | None = None,
) -> Tensor:
    """Return (x - mean)/√(variance + ε), scaled and shifted.

    >>> batch_normalization([3.], [1.], [4.], [10.], [5.], 0.).numpy().tolist()
    [15.0]
    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        x, mean, variance = convert(x), convert(mean), convert(variance)
        slope = rsqrt(variance + variance_epsilon)
        if scale is not None:
            slope = slope * scale
        scaled = x * cast(slope, x.dtype)
        return scaled + cast(offset - mean * slope if offset is not None else -mean * slope, x.dtype)


_SMALLEST_EPSILON = 1.001e-5  # what cuDNN takes; TensorFlow raises smaller ones to it everywhere


def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
    exponential_avg_factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return x normalised over all axes but the channels', and the mean and variance (to be) used for that."""
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError(
            "Both `mean` and `variance` must be specified when not training or when `exponential_avg_factor` is not "
            f"1.0. Received: mean={mean!s} and variance={variance!s}"
        )
    x = convert(x, None, None, "input")
    scale, offset = convert(scale, None, None, "scale"), convert(offset, None, None, "offset")
    kind = scale.dtype.base_dtype
    mean = constant(np.zeros(0, kind.np)) if mean is None else mean
    variance = constant(np.zeros(0, kind.np)) if variance is None else variance
    y, running_mean, running_variance, *_ = raw.FusedBatchNormV3(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=max(epsilon, _SMALLEST_EPSILON),
        exponential_avg_factor=exponential_avg_factor,
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return y, running_mean, running_variance


def batch_norm_with_global_normalization(
    input: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    beta: TensorLike | None,
    gamma: TensorLike | None,
    variance_epsilon: TensorLike | None,
    scale_after_normalization: bool | None,
    name: str | None = None,
) -> Tensor:
    """Return `batch_normalization(input, mean, variance, beta, gamma, ...)`, gamma only where asked for."""
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon, name)


def batch_norm_with_global_normalization_v1(
    t: TensorLike | None = None,
    m: TensorLike | None = None,
    v: TensorLike | None = None,
    beta: TensorLike | None = None,
    gamma: TensorLike | None = None,
    variance_epsilon: TensorLike | None = None,
    scale_after_normalization: bool | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
) -> Tensor:
    """Return `batch_normalization(t, m, v, beta, gamma, variance_epsilon)`, gamma only where asked for."""
    t, m, v = one_of("t", t, "input", input), one_of("m", m, "mean", mean), one_of("v", v, "variance", variance)
    return batch_norm_with_global_normalization(t, m, v, beta, gamma, variance_epsilon, scale_after_normalization, name)


def local_response_normalization(
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Return x / (bias + α Σ x²)^β with the sum over the channels at most `depth_radius` away."""
    return raw.LRN(input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)


lrn = local_response_normalization
