"""What is believed of the mean of a normal distribution, after observations whose scale is known."""

from __future__ import annotations

from typing import Any

from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.distributions.real import Normal
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast


def normal_conjugates_known_scale_posterior(prior: Normal, scale: TensorLike, s: Tensor, n: TensorLike) -> Normal:
    """Return the posterior of a mean with a normal prior, after `n` observations of the given scale that sum to `s`.

    >>> from ebbflow.ops.arrays.creation import constant
    >>> after = normal_conjugates_known_scale_posterior(Normal(0.0, 1.0), 1.0, constant(6.0), 2)
    >>> float(after.mean())
    2.0
    """
    mean, variance = _moments(prior, scale, s, n)
    return Normal(loc=mean, scale=raw.Sqrt(variance))


def normal_conjugates_known_scale_predictive(prior: Normal, scale: TensorLike, s: Tensor, n: TensorLike) -> Normal:
    """Return the distribution of the next observation, after `n` of the given scale that sum to `s`."""
    mean, variance = _moments(prior, scale, s, n)
    return Normal(loc=mean, scale=raw.Sqrt(variance + raw.Square(cast(scale, prior.dtype))))


def _moments(prior: Any, scale: Any, s: Any, n: Any) -> tuple[Any, Any]:
    """Return the posterior's mean and variance: precisions add up, and weigh what is believed and what was seen."""
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}")
    count = cast(n, prior.dtype)
    believed, seen = raw.Square(prior.scale), raw.Square(cast(scale, prior.dtype))
    variance = 1.0 / (1.0 / believed + count / seen)
    return (prior.loc / believed + s / seen) * variance, variance
