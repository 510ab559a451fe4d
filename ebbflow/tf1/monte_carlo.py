"""Expectations from samples (`tf.contrib.bayesflow.monte_carlo`): by drawing from the distribution itself, or from
another one, whose samples are weighted by how much likelier they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.distributions.base import Distribution
from ebbflow.ops.declare import raw
from ebbflow.ops.reduce.reductions import reduce_max, reduce_mean

Function = Callable[[Any], Any]


def samples_of(dist: Any, z: TensorLike | None, n: int | None, seed: int | None) -> Any:
    """Return the samples that are given, or `n` drawn ones."""
    if (n is None) == (z is None):
        raise ValueError(f"Must specify exactly one of arguments 'n' and 'z'. Found: n = {n!r}, z = {z!r}")
    return dist.sample(n, seed=seed) if z is None else convert(z, name="z")


def expectation_importance_sampler(
    f: Function,
    log_p: Function,
    sampling_dist_q: Distribution,
    z: TensorLike | None = None,
    n: int | None = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler",
) -> Tensor:
    """Return the mean of f(z) p(z) / q(z) over samples z of q, for an `f` of any sign."""
    with name_scope(name, values=[z, n]):
        z = samples_of(sampling_dist_q, z, n, seed)
        ratio = log_p(z) - sampling_dist_q.log_prob(z)
        highest = raw.StopGradient(reduce_max(ratio, axis=0))
        return reduce_mean(f(z) * raw.Exp(ratio - highest), axis=0) * raw.Exp(highest)


def expectation_importance_sampler_logspace(
    log_f: Function,
    log_p: Function,
    sampling_dist_q: Distribution,
    z: TensorLike | None = None,
    n: int | None = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler_logspace",
) -> Tensor:
    """Return the logarithm of the mean of f(z) p(z) / q(z) over samples z of q, for an `f` that is positive."""
    with name_scope(name, values=[z, n]):
        z = samples_of(sampling_dist_q, z, n, seed)
        return _mean_of_logs(log_f(z) + log_p(z) - sampling_dist_q.log_prob(z))


def _mean_of_logs(logs: Any) -> Any:
    """Return log(mean(exp(logs))) over the first axis, without overflow."""
    highest = raw.StopGradient(reduce_max(logs, axis=0))
    return raw.Log(reduce_mean(raw.Exp(logs - highest), axis=0)) + highest


def expectation(
    f: Function,
    samples: TensorLike,
    log_prob: Function | None = None,
    use_reparametrization: bool = True,
    axis: Axis = 0,
    keep_dims: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the mean of f over samples, with a gradient by the distribution's parameters.

    It goes through the samples where these can be differentiated by; else (`use_reparametrization=False`) through the
    probability of each sample, which `log_prob` tells.
    """
    with name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        fixed = raw.StopGradient(convert(samples))
        x, log_p = f(fixed), log_prob(fixed)
        # The added term is zero; its gradient is that of the score function.
        return reduce_mean(x + raw.StopGradient(x) * (log_p - raw.StopGradient(log_p)), axis=axis, keepdims=keep_dims)
