"""Distributions over whole numbers and single points: Bernoulli, binomial, Poisson and the like."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.distributions.base import (
    NOT_REPARAMETERIZED,
    Distribution,
    RegisterKL,
    after,
    floats,
)
from ebbflow.distributions.functions import gen_new_seed, probs_and_logits
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import shape
from ebbflow.ops.checks.asserts import assert_equal, assert_non_negative, assert_positive
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.activations import softplus
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where
from ebbflow.ops.elementwise.special import betainc
from ebbflow.ops.nn.cross_entropy import sigmoid_cross_entropy_with_logits
from ebbflow.ops.random.stateful import random_gamma, random_poisson_v1, random_uniform
from ebbflow.ops.reduce.reductions import reduce_all, reduce_sum


def _whole(x: Any) -> list[Any]:
    return [assert_non_negative(x), assert_equal(x, raw.Floor(x), message="cannot contain fractional components.")]


class _OfChance(Distribution):
    """A distribution of one probability, given as such or as log-odds."""

    _shaped_by: tuple[tuple[str, int], ...] = (("_logits", 0),)
    logits = property(lambda self: self._logits, doc="Log-odds of a success.")
    probs = property(lambda self: self._probs, doc="Probability of a success.")

    def _chance(self, logits: Any, probs: Any, validate: bool) -> None:
        self._logits, self._probs = probs_and_logits(logits, probs)
        if validate and probs is not None:
            self._probs = after(
                [assert_non_negative(self._probs), assert_non_negative(1.0 - self._probs)], self._probs
            )  # fmt: skip


class Bernoulli(_OfChance):
    """One or zero."""

    def __init__(
        self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True, name="Bernoulli"
    ):  # fmt: skip
        with name_scope(name) as scope:
            self._chance(logits, probs, validate_args)
            super().__init__(
                dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._logits, self._probs], name=scope,
            )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape):
        return {"logits": convert(sample_shape, dtypes.int32)}

    def _sample_n(self, n, seed=None):
        dims = concat([[n], self.batch_shape_tensor()], 0)
        return cast(random_uniform(dims, dtype=self._probs.dtype, seed=seed) < self._probs, self.dtype)

    def _log_prob(self, event):
        if self.validate_args:
            event = after([assert_non_negative(event), assert_non_negative(1 - event)], event)
        event = cast(event, self._logits.dtype)
        zeros = zeros_like(event + self._logits)
        return -sigmoid_cross_entropy_with_logits(labels=event + zeros, logits=self._logits + zeros)

    def _entropy(self):
        return -self._logits * (raw.Sigmoid(self._logits) - 1) + softplus(-self._logits)

    def _mean(self):
        return raw.Identity(self._probs)

    def _variance(self):
        return self._probs * (1.0 - self._probs)

    def _mode(self):
        return cast(self._probs > 0.5, self.dtype)


class Binomial(_OfChance):
    """How many of `total_count` trials succeed."""

    _shaped_by = (("_total_count", 0), ("_logits", 0))
    total_count = property(lambda self: self._total_count, doc="How many trials there are.")

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Binomial"
    ):  # fmt: skip
        with name_scope(name) as scope:
            total = convert(total_count, name="total_count")
            self._total_count = after(_whole(total) if validate_args else [], total)
            self._chance(logits, probs, validate_args)
            super().__init__(
                self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._total_count, self._logits, self._probs], name=scope,
            )  # fmt: skip

    def _log_prob(self, counts):
        if self.validate_args:
            counts = after([*_whole(counts), assert_non_negative(self._total_count - counts)], counts)
        n, p = self._total_count, self._probs
        choices = raw.Lgamma(1.0 + n) - raw.Lgamma(1.0 + counts) - raw.Lgamma(1.0 + n - counts)
        return counts * raw.Log(p) + (n - counts) * raw.Log1p(-p) + choices

    def _cdf(self, counts):
        n, zeros = self._total_count, zeros_like(counts + self._total_count + self._probs)
        inside = where(counts < n, counts + zeros, zeros)  # all of them is no point of the incomplete beta
        share = betainc(n - inside, inside + 1.0, 1.0 - self._probs + zeros)
        return where(counts + zeros >= n, zeros + 1.0, share)

    def _mean(self):
        return self._total_count * self._probs

    def _variance(self):
        return self._mean() * (1.0 - self._probs)

    def _mode(self):
        return raw.Floor((1.0 + self._total_count) * self._probs)


class Geometric(_OfChance):
    """How many trials fail before one succeeds."""

    def __init__(self, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Geometric"):
        with name_scope(name) as scope:
            self._chance(logits, probs, False)
            if validate_args:
                self._probs = after([assert_positive(self._probs)], self._probs)
            super().__init__(
                self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._logits, self._probs], name=scope,
            )  # fmt: skip

    def _sample_n(self, n, seed=None):
        dims = concat([[n], self.batch_shape_tensor()], 0)
        drawn = random_uniform(dims, np.finfo(self.dtype.as_numpy_dtype).tiny, 1.0, self.dtype, seed)
        return raw.Floor(raw.Log(drawn) / raw.Log1p(-self._probs))

    def _log_prob(self, counts):
        counts = after(_whole(counts), counts) if self.validate_args else raw.Floor(counts)
        safe = where(counts == 0.0, zeros_like(self._probs + counts), self._probs + zeros_like(counts))
        return counts * raw.Log1p(-safe) + raw.Log(self._probs)

    def _cdf(self, counts):
        counts = after(_whole(counts), counts) if self.validate_args else counts
        counts = raw.Floor(counts)
        steps = where(counts < 0.0, zeros_like(counts), counts)
        share = -raw.Expm1((1.0 + steps) * raw.Log1p(-self._probs))
        return where(counts < 0.0, zeros_like(share), share)

    def _entropy(self):
        return (-self._logits * (raw.Sigmoid(self._logits) - 1) + softplus(-self._logits)) / self._probs

    def _mean(self):
        return raw.Exp(-self._logits)

    def _variance(self):
        return self._mean() / self._probs

    def _mode(self):
        return zeros_like(self._probs)


class NegativeBinomial(_OfChance):
    """How many trials succeed before `total_count` fail."""

    _shaped_by = (("_total_count", 0), ("_logits", 0))
    total_count = property(lambda self: self._total_count, doc="How many trials may fail.")

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="NegativeBinomial"
    ):  # fmt: skip
        with name_scope(name) as scope:
            self._chance(logits, probs, validate_args)
            total = convert(total_count, self._probs.dtype if not hasattr(total_count, "dtype") else None)
            self._total_count = after([assert_positive(total)] if validate_args else [], total)
            super().__init__(
                self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._total_count, self._logits, self._probs], name=scope,
            )  # fmt: skip

    def _sample_n(self, n, seed=None):
        # a Poisson whose rate is a gamma
        total = self._total_count + zeros_like(self._logits)
        rate = random_gamma([n], total, beta=raw.Exp(-self._logits), dtype=self.dtype, seed=seed)
        return random_poisson_v1(rate, [], dtype=self.dtype, seed=gen_new_seed(seed, "negative_binom"))

    def _log_prob(self, x):
        if self.validate_args:
            x = after(_whole(x), x)
        n, logits = self._total_count, self._logits
        log_norm = raw.Lgamma(1.0 + x) + raw.Lgamma(n) - raw.Lgamma(n + x)
        return n * -softplus(logits) + x * -softplus(-logits) - log_norm

    def _cdf(self, x):
        if self.validate_args:
            x = after([assert_non_negative(x)], x)
        zeros = zeros_like(x + self._total_count + self._logits)
        return betainc(self._total_count + zeros, 1.0 + x + zeros, raw.Sigmoid(-self._logits) + zeros)

    def _mean(self):
        return self._total_count * raw.Exp(self._logits)

    def _mode(self):
        adjusted = where(self._total_count > 1.0, self._total_count - 1.0, zeros_like(self._total_count))
        return raw.Floor(adjusted * raw.Exp(self._logits))

    def _variance(self):
        return self._mean() / raw.Sigmoid(-self._logits)


class Poisson(Distribution):
    """How many events come in a time in which `rate` are expected."""

    _shaped_by = (("_rate", 0),)
    rate = property(lambda self: self._rate, doc="How many are expected.")
    log_rate = property(lambda self: self._log_rate, doc="The logarithm of the rate.")

    def __init__(self, rate=None, log_rate=None, validate_args=False, allow_nan_stats=True, name="Poisson"):
        if (rate is None) == (log_rate is None):
            raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
        with name_scope(name) as scope:
            if log_rate is None:
                (rate,) = floats(rate=rate)
                self._rate = after([assert_positive(rate)] if validate_args else [], rate)
                self._log_rate = raw.Log(self._rate)
            else:
                (self._log_rate,) = floats(log_rate=log_rate)
                self._rate = raw.Exp(self._log_rate)
            super().__init__(
                self._rate.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._rate], name=scope,
            )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape):
        return {"rate": convert(sample_shape, dtypes.int32)}

    def _sample_n(self, n, seed=None):
        return random_poisson_v1(self._rate, [n], dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        if self.validate_args:
            x = after(_whole(x), x)
        return self._log_rate * x - raw.Lgamma(1.0 + x) - self._rate

    def _cdf(self, x):
        if self.validate_args:
            x = after([assert_non_negative(x)], x)
        zeros = zeros_like(x + self._rate)
        return raw.Igammac(1.0 + x + zeros, self._rate + zeros)

    def _mean(self):
        return raw.Identity(self._rate)

    def _variance(self):
        return raw.Identity(self._rate)

    def _mode(self):
        return raw.Floor(self._rate)


class _Point(Distribution):
    """A number or vector that has all the probability."""

    _axes = 0
    loc = property(lambda self: self._loc, doc="The point.")
    atol = property(lambda self: self._atol, doc="How far off still counts as the point.")
    rtol = property(lambda self: self._rtol, doc="The share of the point that may be off.")

    def __init__(self, loc: Any, atol: Any, rtol: Any, validate_args: bool, allow_nan_stats: bool, name: str) -> None:
        with name_scope(name) as scope:
            self._loc = convert(loc, name="loc")
            if self._loc.shape.rank is not None and self._loc.shape.rank < self._axes:
                raise ValueError("Argument loc must be at least rank 1.")
            self._atol = convert(0 if atol is None else atol, self._loc.dtype)
            self._rtol = convert(0 if rtol is None else rtol, self._loc.dtype)
            if validate_args:
                self._atol = after([assert_non_negative(self._atol)], self._atol)
                self._rtol = after([assert_non_negative(self._rtol)], self._rtol)
            super().__init__(
                self._loc.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._loc, self._atol, self._rtol], name=scope,
            )  # fmt: skip

    def _sample_n(self, n, seed=None):
        return raw.BroadcastTo(self._loc, concat([[n], shape(self._loc)], 0))

    def _slack(self):
        return self._atol + self._rtol * raw.Abs(self._loc)

    def _mean(self):
        return raw.Identity(self._loc)

    def _mode(self):
        return raw.Identity(self._loc)

    def _variance(self):
        return zeros_like(self._loc)


class Deterministic(_Point):
    """One point, which has all the probability."""

    _shaped_by = (("_loc", 0),)

    def __init__(
        self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="Deterministic"
    ):  # fmt: skip
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, name)

    def _prob(self, x):
        return cast(raw.Abs(x - self._loc) <= self._slack(), self.dtype)

    def _cdf(self, x):
        return cast(x >= self._loc - self._slack(), self.dtype)

    def _entropy(self):
        return zeros_like(self._loc)


class VectorDeterministic(_Point):
    """One vector, which has all the probability."""

    _shaped_by = (("_loc", 1),)
    _axes = 1

    def __init__(
        self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="VectorDeterministic"
    ):  # fmt: skip
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, name)

    def _event_shape(self):
        return TensorShape(self._loc.shape.as_list()[-1:]) if self._loc.shape.rank is not None else TensorShape([None])

    def _event_shape_tensor(self):
        return shape(self._loc)[-1:]

    def _prob(self, x):
        return cast(reduce_all(raw.Abs(x - self._loc) <= self._slack(), axis=-1), self.dtype)

    def _entropy(self):
        return reduce_sum(zeros_like(self._loc), axis=-1)


@RegisterKL(Bernoulli, Bernoulli)
def _bernoulli_from_bernoulli(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_bernoulli_bernoulli"):
        success = softplus(-b.logits) - softplus(-a.logits)
        failure = softplus(b.logits) - softplus(a.logits)
        return raw.Sigmoid(a.logits) * success + raw.Sigmoid(-a.logits) * failure
