"""Distributions over the real line: normal, Laplace, Cauchy, logistic, Student's t, uniform, half-normal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.distributions import base
from ebbflow.distributions.base import FULLY_REPARAMETERIZED, Distribution, RegisterKL, after, floats
from ebbflow.distributions.functions import gen_new_seed, log_cdf_laplace, log_ndtr, ndtr, ndtri
from ebbflow.ops.arrays.broadcasting import broadcast_to
from ebbflow.ops.arrays.creation import ones_like, zeros_like
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.checks.asserts import assert_less, assert_positive
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.activations import softplus
from ebbflow.ops.elementwise.compare import where
from ebbflow.ops.elementwise.special import betainc
from ebbflow.ops.random.stateful import random_gamma, random_normal, random_uniform

_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
_TINY = {dtypes.float16: np.float16, dtypes.float32: np.float32, dtypes.float64: np.float64}


class _LocationScale(Distribution):
    """A standard distribution, moved by `loc` and stretched by `scale`."""

    _shaped_by = (("_loc", 0), ("_scale", 0))
    loc = property(lambda self: self._loc, doc="Where it lies.")
    scale = property(lambda self: self._scale, doc="How wide it is.")

    def __init__(self, loc: Any, scale: Any, validate_args: bool, allow_nan_stats: bool, name: str) -> None:
        with name_scope(name) as scope:
            loc, scale = floats(loc=loc, scale=scale)
            self._loc = raw.Identity(loc, name="loc")
            self._scale = after([assert_positive(scale)] if validate_args else [], scale)
            super().__init__(
                self._loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._loc, self._scale], name=scope,
            )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        return {name: convert(sample_shape, dtypes.int32) for name in ("loc", "scale")}

    def _z(self, x: Any) -> Any:
        return (x - self._loc) / self._scale

    def _spread(self, value: Any) -> Any:
        return broadcast_to(convert(value, self.dtype), self.batch_shape_tensor())

    def _shape_of(self, n: Any) -> Any:
        return concat([[n], self.batch_shape_tensor()], 0)

    def _mean(self) -> Any:
        return self._loc * ones_like(self._scale)

    def _mode(self) -> Any:
        return self._mean()


class Normal(_LocationScale):
    """The bell curve of mean `loc` and standard deviation `scale`."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Normal"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        return random_normal(self._shape_of(n), 0.0, 1.0, self.dtype, seed) * self._scale + self._loc

    def _log_prob(self, x):
        return -0.5 * raw.Square(self._z(x)) - (_HALF_LOG_TWO_PI + raw.Log(self._scale))

    def _cdf(self, x):
        return ndtr(self._z(x))

    def _log_cdf(self, x):
        return log_ndtr(self._z(x))

    def _survival_function(self, x):
        return ndtr(-self._z(x))

    def _log_survival_function(self, x):
        return log_ndtr(-self._z(x))

    def _entropy(self):
        return 0.5 + _HALF_LOG_TWO_PI + raw.Log(self._scale * ones_like(self._loc))

    def _quantile(self, p):
        return ndtri(p) * self._scale + self._loc

    def _stddev(self):
        return self._scale * ones_like(self._loc)


class Laplace(_LocationScale):
    """Two exponentials back to back."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Laplace"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        lowest = np.nextafter(dtypes.as_dtype(self.dtype).as_numpy_dtype(-1.0), _TINY[self.dtype](0.0))
        drawn = random_uniform(self._shape_of(n), lowest, 1.0, self.dtype, seed)
        return self._loc - self._scale * raw.Sign(drawn) * raw.Log1p(-raw.Abs(drawn))

    def _log_prob(self, x):
        return -raw.Abs(self._z(x)) - (math.log(2.0) + raw.Log(self._scale))

    def _cdf(self, x):
        z = self._z(x)
        return 0.5 + 0.5 * raw.Sign(z) * (1.0 - raw.Exp(-raw.Abs(z)))

    def _log_cdf(self, x):
        return log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x):
        return log_cdf_laplace(-self._z(x))

    def _entropy(self):
        return math.log(2.0) + 1 + raw.Log(self._scale + zeros_like(self._loc))

    def _stddev(self):
        return math.sqrt(2.0) * (self._scale + zeros_like(self._loc))

    def _median(self):
        return self._mean()


class Cauchy(_LocationScale):
    """The distribution of a ratio of normals, which has no mean."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Cauchy"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        return self._quantile(random_uniform(self._shape_of(n), 0.0, 1.0, self.dtype, seed))

    def _log_prob(self, x):
        return -raw.Log1p(raw.Square(self._z(x))) - (math.log(math.pi) + raw.Log(self._scale))

    def _cdf(self, x):
        return raw.Atan(self._z(x)) / math.pi + 0.5

    def _log_cdf(self, x):
        return raw.Log1p(2 / math.pi * raw.Atan(self._z(x))) - math.log(2.0)

    def _log_survival_function(self, x):
        return raw.Log1p(-2 / math.pi * raw.Atan(self._z(x))) - math.log(2.0)

    def _entropy(self):
        return math.log(4 * math.pi) + raw.Log(self._scale) + zeros_like(self._loc)

    def _quantile(self, p):
        return self._loc + self._scale * raw.Tan(math.pi * (p - 0.5))

    def _mode(self):
        return self._loc * ones_like(self._scale)

    def _nothing(self, what):
        if self.allow_nan_stats:
            return self._spread(np.nan)
        raise ValueError(f"`{what}` is undefined for Cauchy distribution.")

    def _mean(self):
        return self._nothing("mean")

    def _stddev(self):
        return self._nothing("stddev")


class Logistic(_LocationScale):
    """The distribution whose cumulative probability is a sigmoid."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Logistic"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        drawn = random_uniform(self._shape_of(n), tiny, 1.0, self.dtype, seed)
        return (raw.Log(drawn) - raw.Log1p(-drawn)) * self._scale + self._loc

    def _log_prob(self, x):
        z = self._z(x)
        return -z - 2.0 * softplus(-z) - raw.Log(self._scale)

    def _cdf(self, x):
        return raw.Sigmoid(self._z(x))

    def _log_cdf(self, x):
        return -softplus(-self._z(x))

    def _survival_function(self, x):
        return raw.Sigmoid(-self._z(x))

    def _log_survival_function(self, x):
        return -softplus(self._z(x))

    def _entropy(self):
        return 2 + raw.Log(self._scale * ones_like(self._loc))

    def _stddev(self):
        return self._scale * ones_like(self._loc) * math.pi / math.sqrt(3)


class StudentT(Distribution):
    """Student's t of `df` degrees of freedom, moved and stretched."""

    _shaped_by = (("_df", 0), ("_loc", 0), ("_scale", 0))
    df = property(lambda self: self._df, doc="Degrees of freedom.")
    loc = property(lambda self: self._loc, doc="Where it lies.")
    scale = property(lambda self: self._scale, doc="How wide it is.")

    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentT"):
        with name_scope(name) as scope:
            df, self._loc, self._scale = floats(df=df, loc=loc, scale=scale)
            self._df = after([assert_positive(df)] if validate_args else [], df)
            super().__init__(
                self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._df, self._loc, self._scale], name=scope,
            )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape):
        return {name: convert(sample_shape, dtypes.int32) for name in ("df", "loc", "scale")}

    def _sample_n(self, n, seed=None):
        dims = concat([[n], self.batch_shape_tensor()], 0)
        normal = random_normal(dims, dtype=self.dtype, seed=seed)
        df = self._df * raw.Fill(self.batch_shape_tensor(), convert(1.0, self.dtype))
        gamma = random_gamma([n], 0.5 * df, beta=convert(0.5, self.dtype), dtype=self.dtype,
                             seed=gen_new_seed(seed, "student_t"))  # fmt: skip
        return normal * raw.Rsqrt(gamma / df) * self._scale + self._loc

    def _log_norm(self):
        df = self._df
        return (
            raw.Log(raw.Abs(self._scale)) + 0.5 * raw.Log(df) + 0.5 * math.log(math.pi)
            + raw.Lgamma(0.5 * df) - raw.Lgamma(0.5 * (df + 1.0))
        )  # fmt: skip

    def _log_prob(self, x):
        z = (x - self._loc) / self._scale
        return -0.5 * (self._df + 1.0) * raw.Log1p(raw.Square(z) / self._df) - self._log_norm()

    def _cdf(self, x):
        z = (x - self._loc) / raw.Abs(self._scale)
        df = self._df + zeros_like(z)
        tail = 0.5 * betainc(0.5 * df, convert(0.5, self.dtype) + zeros_like(z), df / (raw.Square(z) + df))
        return where(z < 0.0, tail, 1.0 - tail)

    def _entropy(self):
        spread = raw.Fill(self.batch_shape_tensor(), convert(1.0, self.dtype))
        half, more = 0.5 * self._df * spread, 0.5 * (self._df * spread + 1.0)
        log_beta = raw.Lgamma(half) + raw.Lgamma(convert(0.5, self.dtype)) - raw.Lgamma(half + 0.5)
        log_scale = raw.Log(raw.Abs(self._scale) * spread)
        return log_scale + 0.5 * raw.Log(self._df) + log_beta + more * (raw.Digamma(more) - raw.Digamma(half))

    def _mean(self):
        mean = self._loc * raw.Fill(self.batch_shape_tensor(), convert(1.0, self.dtype))
        message = "mean not defined for components of df <= 1"
        least = ones_like(self._df)
        return self._undefined(
            mean, self._df > 1.0, message, lambda: assert_less(least, self._df, message=message)
        )  # fmt: skip

    def _variance(self):
        spread = raw.Fill(self.batch_shape_tensor(), convert(1.0, self.dtype))
        enough = self._df > 2.0
        safe = where(enough, self._df - 2.0, ones_like(self._df))
        variance = raw.Square(self._scale) * spread * self._df / safe
        variance = where(enough, variance, convert(np.inf, self.dtype))
        message = "variance not defined for components of df <= 1"
        return self._undefined(
            variance, self._df > 1.0, message, lambda: assert_less(ones_like(self._df), self._df, message=message)
        )  # fmt: skip

    def _mode(self):
        return raw.Identity(self._loc)


class Uniform(Distribution):
    """All of [low, high) alike."""

    _shaped_by = (("_low", 0), ("_high", 0))
    low = property(lambda self: self._low, doc="The least value.")
    high = property(lambda self: self._high, doc="The first value that is too large.")

    def __init__(self, low=0.0, high=1.0, validate_args=False, allow_nan_stats=True, name="Uniform"):
        with name_scope(name) as scope:
            self._low, self._high = floats(low=low, high=high)
            if validate_args:
                check = assert_less(self._low, self._high, message="uniform not defined when low >= high.")
                self._low, self._high = after([check], self._low), after([check], self._high)
            super().__init__(
                self._low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._low, self._high], name=scope,
            )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape):
        return {name: convert(sample_shape, dtypes.int32) for name in ("low", "high")}

    def range(self, name="range"):
        """Return `high - low`."""
        with self._scope(name):
            return self._high - self._low

    def _sample_n(self, n, seed=None):
        dims = concat([[n], self.batch_shape_tensor()], 0)
        return self._low + self.range() * random_uniform(dims, 0.0, 1.0, self.dtype, seed)

    def _prob(self, x):
        inside = 1.0 / self.range() + zeros_like(x)
        density = where((x < self._low) | (x >= self._high), zeros_like(inside), inside)
        return where(raw.IsNan(x), x, density)

    def _cdf(self, x):
        share = (x - self._low) / self.range()
        share = where(x >= self._high, ones_like(share), share)
        return where(x < self._low, zeros_like(share), share)

    def _entropy(self):
        return raw.Log(self.range())

    def _mean(self):
        return (self._low + self._high) / 2.0

    def _variance(self):
        return raw.Square(self.range()) / 12.0

    def _stddev(self):
        return self.range() / math.sqrt(12.0)


class HalfNormal(Distribution):
    """The absolute value of a normal of mean zero."""

    _shaped_by = (("_scale", 0),)
    scale = property(lambda self: self._scale, doc="The standard deviation of the whole normal.")

    def __init__(self, scale, validate_args=False, allow_nan_stats=True, name="HalfNormal"):
        with name_scope(name) as scope:
            (scale,) = floats(scale=scale)
            self._scale = after([assert_positive(scale)] if validate_args else [], scale)
            super().__init__(
                self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=[self._scale], name=scope,
            )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape):
        return {"scale": convert(sample_shape, dtypes.int32)}

    def _sample_n(self, n, seed=None):
        dims = concat([[n], self.batch_shape_tensor()], 0)
        return raw.Abs(random_normal(dims, 0.0, 1.0, self.dtype, seed) * self._scale)

    def _prob(self, x):
        front = math.sqrt(2 / math.pi) / self._scale
        return where(x < 0.0, zeros_like(x * front), front * raw.Exp(-0.5 * raw.Square(x / self._scale)))

    def _cdf(self, x):
        return raw.Erf(raw.Relu(x) / self._scale / math.sqrt(2.0))

    def _entropy(self):
        return 0.5 * raw.Log(math.pi * raw.Square(self._scale) / 2.0) + 0.5

    def _mean(self):
        return self._scale * math.sqrt(2.0) / math.sqrt(math.pi)

    def _quantile(self, p):
        return math.sqrt(2.0) * self._scale * raw.Erfinv(p)

    def _mode(self):
        return zeros_like(self._scale)

    def _variance(self):
        return raw.Square(self._scale) * (1.0 - 2.0 / math.pi)


@RegisterKL(Normal, Normal)
def _normal_from_normal(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_normal_normal"):
        ratio = raw.Square(a.scale / b.scale)
        return raw.SquaredDifference(a.loc, b.loc) / (2.0 * raw.Square(b.scale)) + 0.5 * (
            ratio - 1.0 - raw.Log(ratio)
        )  # fmt: skip


@RegisterKL(HalfNormal, HalfNormal)
def _half_from_half(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_half_normal_half_normal"):
        square = raw.Square(a.scale / b.scale)
        return 0.5 * (square - 1.0 - raw.Log(square))


NormalWithSoftplusScale = base.with_positive(
    "NormalWithSoftplusScale", Normal, "A normal whose scale is the softplus of `scale`.",
    lambda loc, scale: {"loc": loc, "scale": softplus(scale)}, "loc scale",
)  # fmt: skip
LaplaceWithSoftplusScale = base.with_positive(
    "LaplaceWithSoftplusScale", Laplace, "A Laplace distribution whose scale is the softplus of `scale`.",
    lambda loc, scale: {"loc": loc, "scale": softplus(scale)}, "loc scale",
)  # fmt: skip
StudentTWithAbsDfSoftplusScale = base.with_positive(
    "StudentTWithAbsDfSoftplusScale", StudentT,
    "A t of ⌊|df|⌋ degrees of freedom whose scale is the softplus of `scale`.",
    lambda df, loc, scale: {"df": raw.Floor(raw.Abs(df)), "loc": loc, "scale": softplus(scale)}, "df loc scale",
)  # fmt: skip
