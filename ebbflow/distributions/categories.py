"""Distributions over categories and over shares of them: categorical, one-hot, multinomial, Dirichlet, and relaxations.

Each has its probabilities (or log-odds, or concentrations) along the last axis of one parameter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, dimension_value
from ebbflow.distributions.base import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    RegisterKL,
    after,
    floats,
)
from ebbflow.distributions.functions import gen_new_seed, probs_and_logits
from ebbflow.ops.arrays.argmax import argmax
from ebbflow.ops.arrays.creation import ones_like, zeros_like
from ebbflow.ops.arrays.indexing import one_hot
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import expand_dims, reshape, shape, transpose
from ebbflow.ops.checks.asserts import assert_equal, assert_near, assert_non_negative, assert_positive
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where
from ebbflow.ops.elementwise.special import lbeta
from ebbflow.ops.linalg.diag import set_diag
from ebbflow.ops.nn.bias_softmax import log_softmax, softmax
from ebbflow.ops.nn.cross_entropy import (
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from ebbflow.ops.random.stateful import multinomial, random_gamma, random_uniform
from ebbflow.ops.reduce.reductions import reduce_logsumexp, reduce_sum


def _last(dims: TensorShape) -> TensorShape:
    return TensorShape([None]) if dims.rank is None else TensorShape(dims.as_list()[-1:])


class _OverCategories(Distribution):
    """A distribution whose logits (or probs) have the categories along their last axis."""

    _shaped_by: tuple[tuple[str, int], ...] = (("_logits", 1),)
    logits = property(lambda self: self._logits, doc="Log-odds of each category.")
    probs = property(lambda self: self._probs, doc="Probability of each category.")

    def _chances(self, logits: Any, probs: Any, validate: bool) -> None:
        self._logits, self._probs = probs_and_logits(logits, probs, multidimensional=True)
        if validate and probs is not None:
            total = reduce_sum(self._probs, axis=-1)
            self._probs = after(
                [assert_non_negative(self._probs), assert_near(total, ones_like(total))], self._probs
            )  # fmt: skip
        if self._logits.shape.rank == 0:
            raise ValueError("Argument `logits` must have rank at least 1.")

    @property
    def event_size(self) -> Any:
        """The number of categories."""
        known = dimension_value(self._logits.shape[-1])
        return shape(self._logits)[-1] if known is None else convert(known, dtypes.int32)

    def _flat_draws(self, n: Any, seed: Any) -> Any:
        """Return categories [n, batch...] drawn from the logits."""
        flat = reshape(self._logits, [-1, self.event_size])
        drawn = multinomial(flat, n, seed=seed)
        return reshape(transpose(drawn), concat([[n], self.batch_shape_tensor()], 0))


class Categorical(_OverCategories):
    """A category, as a whole number."""

    def __init__(
        self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True,
        name="Categorical",
    ):  # fmt: skip
        with name_scope(name) as scope:
            self._chances(logits, probs, validate_args)
            super().__init__(
                dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._logits, self._probs], name=scope,
            )  # fmt: skip

    def _sample_n(self, n, seed=None):
        return cast(self._flat_draws(n, seed), self.dtype)

    def _spread(self, k):
        """Return the events as int32 and the logits, over the shape both have together."""
        k = convert(k, name="k")
        if k.dtype.is_floating and self.validate_args:
            k = after([assert_equal(k, raw.Floor(k), message="has non-integer components.")], k)
        k = cast(k, dtypes.int32)
        dims = raw.BroadcastArgs(shape(k), self.batch_shape_tensor())
        return raw.BroadcastTo(k, dims), raw.BroadcastTo(self._logits, concat([dims, [self.event_size]], 0))

    def _log_prob(self, k):
        k, logits = self._spread(k)
        return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _cdf(self, k):
        k, logits = self._spread(k)
        sums = raw.Cumsum(softmax(logits), convert(-1, dtypes.int32), exclusive=True)
        below = raw.Cast(raw.Range(0, self.event_size, 1), DstT=dtypes.int32) <= expand_dims(k, -1)
        chances = where(below, softmax(logits), zeros_like(sums))
        return reduce_sum(chances, axis=-1) - _at(softmax(logits), k)

    def _entropy(self):
        return -reduce_sum(log_softmax(self._logits) * softmax(self._logits), axis=-1)

    def _mode(self):
        return cast(argmax(self._logits, axis=-1), self.dtype)


def _at(x: Any, k: Any) -> Any:
    """Return x[..., k], element by element of k."""
    depth = shape(x)[-1]
    return reduce_sum(x * one_hot(k, depth, dtype=x.dtype), axis=-1)


class OneHotCategorical(_OverCategories):
    """A category, as a vector of zeros with one one."""

    def __init__(
        self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True,
        name="OneHotCategorical",
    ):  # fmt: skip
        with name_scope(name) as scope:
            self._chances(logits, probs, validate_args)
            super().__init__(
                dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._logits, self._probs], name=scope,
            )  # fmt: skip

    def _event_shape(self):
        return _last(self._logits.shape)

    def _event_shape_tensor(self):
        return shape(self._logits)[-1:]

    def _sample_n(self, n, seed=None):
        return one_hot(self._flat_draws(n, seed), self.event_size, dtype=self.dtype)

    def _log_prob(self, x):
        x = cast(x, self._logits.dtype)
        if self.validate_args:
            total = reduce_sum(x, axis=-1)
            x = after([assert_non_negative(x), assert_near(total, ones_like(total))], x)
        zeros = zeros_like(x + self._logits)
        return -softmax_cross_entropy_with_logits_v2(labels=x + zeros, logits=self._logits + zeros)

    def _entropy(self):
        return -reduce_sum(log_softmax(self._logits) * softmax(self._logits), axis=-1)

    def _mean(self):
        return self._probs

    def _mode(self):
        return one_hot(argmax(self._logits, axis=-1), self.event_size, dtype=self.dtype)

    def _covariance(self):
        return set_diag(-self._probs[..., None] * self._probs[..., None, :], self._variance())

    def _variance(self):
        return self._probs * (1.0 - self._probs)


class Multinomial(_OverCategories):
    """How often each category comes in `total_count` draws."""

    _shaped_by = (("_mean_value", 1),)
    total_count = property(lambda self: self._total_count, doc="How many draws there are.")

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Multinomial"
    ):  # fmt: skip
        with name_scope(name) as scope:
            total = convert(total_count, name="total_count")
            self._chances(logits, probs, validate_args)
            self._total_count = after([assert_non_negative(total)] if validate_args else [], total)
            self._mean_value = self._total_count[..., None] * self._probs
            super().__init__(
                self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._total_count, self._logits, self._probs], name=scope,
            )  # fmt: skip

    def _event_shape(self):
        return _last(self._mean_value.shape)

    def _event_shape_tensor(self):
        return shape(self._mean_value)[-1:]

    def _sample_n(self, n, seed=None):
        """As many draws as the largest count, of which each row counts its own."""
        size = shape(self._mean_value)[-1]
        dims = shape(self._mean_value)[:-1]
        totals = reshape(raw.BroadcastTo(self._total_count, dims), [-1])
        logits = reshape(raw.BroadcastTo(self._logits, shape(self._mean_value)), [-1, size])
        most = raw.Maximum(cast(raw.Max(totals, 0), dtypes.int32), 1)
        drawn = reshape(multinomial(logits, n * most, seed=seed), [-1, n, most])
        counted = raw.Range(0, most, 1) < cast(totals, dtypes.int32)[:, None, None]
        hits = one_hot(drawn, size, dtype=self.dtype) * cast(counted, self.dtype)[..., None]
        counts = transpose(reduce_sum(hits, axis=2), [1, 0, 2])
        return reshape(counts, concat([[n], dims, [size]], 0))

    def _log_prob(self, counts):
        if self.validate_args:
            counts = after(
                [assert_non_negative(counts), assert_equal(self._total_count, reduce_sum(counts, axis=-1))], counts
            )  # fmt: skip
        return reduce_sum(counts * log_softmax(self._logits), axis=-1) + _log_orders(self._total_count, counts)

    def _mean(self):
        return raw.Identity(self._mean_value)

    def _covariance(self):
        p = self._probs * ones_like(self._total_count)[..., None]
        outer = raw.BatchMatMulV2(self._mean_value[..., None], p[..., None, :])
        return set_diag(-outer, self._variance())

    def _variance(self):
        p = self._probs * ones_like(self._total_count)[..., None]
        return self._mean_value - self._mean_value * p


def _log_orders(n: Any, counts: Any) -> Any:
    """Return the logarithm of the number of orders in which `counts` can come."""
    return raw.Lgamma(n + 1.0) - reduce_sum(raw.Lgamma(counts + 1.0), axis=-1)


class Dirichlet(Distribution):
    """Shares of a whole."""

    _shaped_by: tuple[tuple[str, int], ...] = (("_concentration", 1),)
    concentration = property(lambda self: self._concentration, doc="One positive number a share.")
    total_concentration = property(lambda self: self._total_concentration, doc="All concentrations together.")

    def __init__(self, concentration, validate_args=False, allow_nan_stats=True, name="Dirichlet"):
        with name_scope(name) as scope:
            (concentration,) = floats(concentration=concentration)
            self._concentration = _concentrations(concentration, validate_args)
            self._total_concentration = reduce_sum(self._concentration, -1)
            super().__init__(
                self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._concentration, self._total_concentration], name=scope,
            )  # fmt: skip

    def _event_shape(self):
        return _last(self._concentration.shape)

    def _event_shape_tensor(self):
        return shape(self._concentration)[-1:]

    def _sample_n(self, n, seed=None):
        drawn = random_gamma([n], self._concentration, dtype=self.dtype, seed=seed)
        return drawn / reduce_sum(drawn, -1, keepdims=True)

    def _log_prob(self, x):
        if self.validate_args:
            total = reduce_sum(x, -1)
            x = after(
                [assert_positive(x, message="samples must be positive"),
                 assert_near(ones_like(total), total, message="sample last-dimension must sum to `1`")], x,
            )  # fmt: skip
        return reduce_sum(raw.Xlogy(self._concentration - 1.0, x), -1) - lbeta(self._concentration)

    def _entropy(self):
        k = cast(self.event_shape_tensor()[0], self.dtype)
        a, total = self._concentration, self._total_concentration
        return lbeta(a) + (total - k) * raw.Digamma(total) - reduce_sum((a - 1.0) * raw.Digamma(a), -1)

    def _mean(self):
        return self._concentration / self._total_concentration[..., None]

    def _scaled(self):
        scale = raw.Rsqrt(1.0 + self._total_concentration[..., None])
        return self._concentration / self._total_concentration[..., None] * scale, scale

    def _covariance(self):
        x, _ = self._scaled()
        return set_diag(-x[..., None] * x[..., None, :], self._variance())

    def _variance(self):
        x, scale = self._scaled()
        return x * (scale - x)

    def _mode(self):
        k = cast(self.event_shape_tensor()[0], self.dtype)
        mode = (self._concentration - 1.0) / (self._total_concentration[..., None] - k)
        defined = raw.All(self._concentration > 1.0, [-1], keep_dims=True)
        return self._undefined(
            mode, defined, "",
            lambda: assert_positive(self._concentration - 1.0, message="Mode undefined when any concentration <= 1"),
        )  # fmt: skip


def _concentrations(concentration: Any, validate: bool) -> Any:
    if not validate:
        return concentration
    if concentration.shape.rank == 0 or concentration.shape.as_list()[-1] == 1:
        raise ValueError("concentration must have event_size >= 2 along its last axis.")
    return after([assert_positive(concentration, message="Concentration parameter must be positive.")], concentration)


class DirichletMultinomial(Distribution):
    """How often each category comes in `total_count` draws whose chances are themselves a Dirichlet's."""

    _shaped_by = (("_mean_value", 1),)
    total_count = property(lambda self: self._total_count, doc="How many draws there are.")
    concentration = property(lambda self: self._concentration, doc="One positive number a category.")
    total_concentration = property(lambda self: self._total_concentration, doc="All concentrations together.")

    def __init__(
        self, total_count, concentration, validate_args=False, allow_nan_stats=True, name="DirichletMultinomial"
    ):  # fmt: skip
        with name_scope(name) as scope:
            total, concentration = floats(total_count=total_count, concentration=concentration)
            self._total_count = after([assert_non_negative(total)] if validate_args else [], total)
            self._concentration = _concentrations(concentration, validate_args)
            self._total_concentration = reduce_sum(self._concentration, -1)
            share = self._concentration / self._total_concentration[..., None]
            self._mean_value = self._total_count[..., None] * share
            super().__init__(
                self._concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._total_count, self._concentration], name=scope,
            )  # fmt: skip

    def _event_shape(self):
        return _last(self._mean_value.shape)

    def _event_shape_tensor(self):
        return shape(self._mean_value)[-1:]

    def _sample_n(self, n, seed=None):
        dims = shape(self._mean_value)
        spread = raw.BroadcastTo(self._concentration, dims)
        gamma = random_gamma([n], spread, dtype=self.dtype, seed=seed)
        counts = Multinomial(self._total_count, logits=raw.Log(gamma))
        return counts._sample_n(convert(1, dtypes.int32), gen_new_seed(seed, "dirichlet_multinomial"))[0]

    def _log_prob(self, counts):
        if self.validate_args:
            counts = after([assert_non_negative(counts)], counts)
        ordered = lbeta(self._concentration + counts) - lbeta(self._concentration)
        return ordered + _log_orders(self._total_count, counts)

    def _mean(self):
        return raw.Identity(self._mean_value)

    def _scale(self):
        return raw.Sqrt(
            (1.0 + self._total_concentration[..., None] / self._total_count[..., None])
            / (1.0 + self._total_concentration[..., None])
        )

    def _covariance(self):
        x = self._scale() * self._mean_value
        return set_diag(-x[..., None] * x[..., None, :], self._variance())

    def _variance(self):
        scale = self._scale()
        x = scale * self._mean_value
        return x * (self._total_count[..., None] * scale - x)


class ExpRelaxedOneHotCategorical(_OverCategories):
    """The logarithm of a relaxed one-hot vector: a softmax, at a temperature, of logits with Gumbel noise."""

    temperature = property(lambda self: self._temperature, doc="How far it is from one-hot.")

    def __init__(
        self, temperature, logits=None, probs=None, dtype=None, validate_args=False, allow_nan_stats=True,
        name="ExpRelaxedOneHotCategorical",
    ):  # fmt: skip
        with name_scope(name) as scope:
            self._chances(logits, probs, validate_args)
            dtype = self._logits.dtype if dtype is None else dtypes.as_dtype(dtype)
            self._temperature = convert(temperature, self._logits.dtype, name="temperature")
            if validate_args:
                self._temperature = after([assert_positive(self._temperature)], self._temperature)
            self._warm = self._temperature[..., None] if self._temperature.shape.rank else self._temperature
            super().__init__(
                dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._logits, self._probs, self._temperature], name=scope,
            )  # fmt: skip

    def _batch_shape(self):
        rows = TensorShape(self._logits.shape.as_list()[:-1])
        from_logits = rows.as_list()
        return TensorShape(np.broadcast_shapes(tuple(from_logits), tuple(self._temperature.shape.as_list())))

    def _batch_shape_tensor(self):
        return raw.BroadcastArgs(shape(self._logits)[:-1], shape(self._temperature))

    def _event_shape(self):
        return _last(self._logits.shape)

    def _event_shape_tensor(self):
        return shape(self._logits)[-1:]

    def _sample_n(self, n, seed=None):
        dims = concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        logits = self._logits * ones_like(self._warm)
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        gumbel = -raw.Log(-raw.Log(random_uniform(dims, tiny, 1.0, self.dtype, seed)))
        return log_softmax((logits + gumbel) / self._warm)

    def _log_prob(self, x):
        if self.validate_args:
            total = reduce_logsumexp(x, axis=-1)
            x = after([assert_near(total, zeros_like(total), message="x must be logarithms of shares of one")], x)
        logits = self._logits * ones_like(self._warm)
        k = cast(self.event_size, x.dtype)
        log_norm = raw.Lgamma(k) + (k - 1.0) * raw.Log(self._temperature)
        return reduce_sum(log_softmax(logits - x * self._warm), axis=-1) + log_norm


@RegisterKL(Categorical, Categorical)
def _categorical_from_categorical(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_categorical_categorical"):
        return reduce_sum(softmax(a.logits) * (log_softmax(a.logits) - log_softmax(b.logits)), axis=-1)


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _one_hot_from_one_hot(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_categorical_categorical"):
        return reduce_sum(softmax(a.logits) * (log_softmax(a.logits) - log_softmax(b.logits)), axis=-1)


@RegisterKL(Dirichlet, Dirichlet)
def _dirichlet_from_dirichlet(d1: Any, d2: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_dirichlet_dirichlet"):
        a, b = d1.concentration, d2.concentration
        above = raw.Digamma(a) - raw.Digamma(reduce_sum(a, -1, keepdims=True))
        return reduce_sum((a - b) * above, -1) - lbeta(a) + lbeta(b)
