"""Distributions over positive numbers and over [0, 1]: gamma and its kin, beta."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.distributions import base
from ebbflow.distributions.base import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    RegisterKL,
    after,
    floats,
)
from ebbflow.distributions.functions import gen_new_seed
from ebbflow.ops.arrays.creation import ones_like, zeros_like
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.checks.asserts import assert_less, assert_positive
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.activations import softplus
from ebbflow.ops.elementwise.special import betainc
from ebbflow.ops.random.stateful import random_gamma, random_uniform


class _Two(Distribution):
    """A distribution of two positive parameters."""

    _way = FULLY_REPARAMETERIZED

    def _enter(self, first: str, a: Any, second: str, b: Any, validate: bool, allow_nan: bool, scope: str) -> None:
        values = floats(**{first: a, second: b})
        if validate:
            values = [after([assert_positive(value)], value) for value in values]
        for name, value in zip((first, second), values, strict=True):
            setattr(self, f"_{name}", value)
        Distribution.__init__(self, values[0].dtype, self._way, validate, allow_nan, graph_parents=values, name=scope)

    def _ones(self) -> Any:
        return raw.Fill(self.batch_shape_tensor(), convert(1.0, self.dtype))

    def _checked(self, x: Any) -> Any:
        return after([assert_positive(x)], x) if self.validate_args else x


class Gamma(_Two):
    """The gamma distribution of a concentration (shape) and a rate."""

    _shaped_by: tuple[tuple[str, int], ...] = (("_concentration", 0), ("_rate", 0))
    concentration = property(lambda self: self._concentration, doc="Its shape.")
    rate = property(lambda self: self._rate, doc="One over its scale.")

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="Gamma"):
        with name_scope(name) as scope:
            self._enter("concentration", concentration, "rate", rate, validate_args, allow_nan_stats, scope)

    @staticmethod
    def _param_shapes(sample_shape):
        return {name: convert(sample_shape, dtypes.int32) for name in ("concentration", "rate")}

    def _sample_n(self, n, seed=None):
        return random_gamma([n], self._concentration, beta=self._rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        x = self._checked(x)
        a = self._concentration
        return raw.Xlogy(a - 1.0, x) - self._rate * x - (raw.Lgamma(a) - a * raw.Log(self._rate))

    def _cdf(self, x):
        x = self._checked(x)
        return raw.Igamma(self._concentration * ones_like(x * self._rate), self._rate * x)

    def _entropy(self):
        a = self._concentration
        return a - raw.Log(self._rate) + raw.Lgamma(a) + (1.0 - a) * raw.Digamma(a)

    def _mean(self):
        return self._concentration / self._rate

    def _variance(self):
        return self._concentration / raw.Square(self._rate)

    def _stddev(self):
        return raw.Sqrt(self._concentration) / self._rate

    def _mode(self):
        message = "mode not defined when any concentration <= 1"
        a = self._concentration
        return self._undefined(
            (a - 1.0) / self._rate, a > 1.0, message, lambda: assert_less(ones_like(a), a, message=message)
        )  # fmt: skip


class Exponential(Gamma):
    """The time to an event that comes at a constant rate."""

    _shaped_by = (("_rate", 0),)

    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="Exponential"):
        with name_scope(name) as scope:
            (rate,) = floats(rate=rate)
            self._enter("concentration", ones_like(rate), "rate", rate, validate_args, allow_nan_stats, scope)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"rate": convert(sample_shape, dtypes.int32)}

    def _sample_n(self, n, seed=None):
        dims = concat([[n], self.batch_shape_tensor()], 0)
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        return -raw.Log(random_uniform(dims, tiny, 1.0, self.dtype, seed)) / self._rate

    def _log_survival_function(self, x):
        return -self._rate * self._checked(x)


class Chi2(Gamma):
    """The sum of the squares of `df` standard normals."""

    _shaped_by = (("_df", 0),)
    df = property(lambda self: self._df, doc="Degrees of freedom.")

    def __init__(self, df, validate_args=False, allow_nan_stats=True, name="Chi2"):
        with name_scope(name) as scope:
            (df,) = floats(df=df)
            self._df = after([assert_positive(df)] if validate_args else [], df)
            half = convert(0.5, self._df.dtype)
            self._enter("concentration", half * self._df, "rate", half, validate_args, allow_nan_stats, scope)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"df": convert(sample_shape, dtypes.int32)}


class InverseGamma(_Two):
    """One over a gamma."""

    _way = NOT_REPARAMETERIZED

    _shaped_by = (("_concentration", 0), ("_rate", 0))
    concentration = property(lambda self: self._concentration, doc="Its shape.")
    rate = property(lambda self: self._rate, doc="Its scale, the rate of the gamma.")

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="InverseGamma"):
        with name_scope(name) as scope:
            self._enter("concentration", concentration, "rate", rate, validate_args, allow_nan_stats, scope)

    @staticmethod
    def _param_shapes(sample_shape):
        return {name: convert(sample_shape, dtypes.int32) for name in ("concentration", "rate")}

    def _sample_n(self, n, seed=None):
        return 1.0 / random_gamma([n], self._concentration, beta=self._rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        x = self._checked(x)
        a = self._concentration
        return -(1.0 + a) * raw.Log(x) - self._rate / x - (raw.Lgamma(a) - a * raw.Log(self._rate))

    def _cdf(self, x):
        x = self._checked(x)
        return raw.Igammac(self._concentration * ones_like(x * self._rate), self._rate / x)

    def _entropy(self):
        a = self._concentration
        return a + raw.Log(self._rate) + raw.Lgamma(a) - (1.0 + a) * raw.Digamma(a)

    def _mean(self):
        a = self._concentration
        message = "mean undefined when any concentration <= 1"
        return self._undefined(
            self._rate / (a - 1.0), a > 1.0, message, lambda: assert_less(ones_like(a), a, message=message)
        )  # fmt: skip

    def _variance(self):
        a = self._concentration
        value = raw.Square(self._rate) / raw.Square(a - 1.0) / (a - 2.0)
        message = "variance undefined when any concentration <= 2"
        return self._undefined(
            value, a > 2.0, message, lambda: assert_less(2.0 * ones_like(a), a, message=message)
        )  # fmt: skip

    def _mode(self):
        return self._rate / (1.0 + self._concentration)


class Beta(_Two):
    """The distribution of a share: densities x^(a-1) (1-x)^(b-1)."""

    _shaped_by = (("_concentration1", 0), ("_concentration0", 0))
    concentration1 = property(lambda self: self._concentration1, doc="What stands for a success.")
    concentration0 = property(lambda self: self._concentration0, doc="What stands for a failure.")
    total_concentration = property(lambda self: self._concentration1 + self._concentration0, doc="Both together.")

    def __init__(
        self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True, name="Beta"
    ):  # fmt: skip
        with name_scope(name) as scope:
            self._enter(
                "concentration1", 1.0 if concentration1 is None else concentration1,
                "concentration0", 1.0 if concentration0 is None else concentration0,
                validate_args, allow_nan_stats, scope,
            )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape):
        return {name: convert(sample_shape, dtypes.int32) for name in ("concentration1", "concentration0")}

    def _sample_n(self, n, seed=None):
        ones = self._ones()
        first = random_gamma([n], self._concentration1 * ones, dtype=self.dtype, seed=seed)
        second = random_gamma([n], self._concentration0 * ones, dtype=self.dtype, seed=gen_new_seed(seed, "beta"))
        return first / (first + second)

    def _inside(self, x):
        if not self.validate_args:
            return x
        return after(
            [
                assert_positive(x, message="sample must be positive"),
                assert_less(x, ones_like(x), message="sample must be less than `1`."),
            ],
            x,
        )

    def _log_norm(self):
        a, b = self._concentration1, self._concentration0
        return raw.Lgamma(a) + raw.Lgamma(b) - raw.Lgamma(a + b)

    def _log_prob(self, x):
        x = self._inside(x)
        a, b = self._concentration1, self._concentration0
        return raw.Xlogy(a - 1.0, x) + (b - 1.0) * raw.Log1p(-x) - self._log_norm()

    def _cdf(self, x):
        x = self._inside(x)
        zeros = zeros_like(x * self._concentration1 * self._concentration0)
        return betainc(self._concentration1 + zeros, self._concentration0 + zeros, x + zeros)

    def _entropy(self):
        a, b = self._concentration1, self._concentration0
        return (
            self._log_norm() - (a - 1.0) * raw.Digamma(a) - (b - 1.0) * raw.Digamma(b)
            + (a + b - 2.0) * raw.Digamma(a + b)
        )  # fmt: skip

    def _mean(self):
        return self._concentration1 / self.total_concentration

    def _variance(self):
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self):
        a, b = self._concentration1, self._concentration0
        ones = ones_like(a * b)
        return self._undefined(
            (a - 1.0) / (a + b - 2.0), (a > 1.0) & (b > 1.0), "",
            lambda: assert_less(ones, raw.Minimum(a, b), message="Mode undefined for concentration <= 1."),
        )  # fmt: skip


@RegisterKL(Gamma, Gamma)
def _gamma_from_gamma(g0: Any, g1: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_gamma_gamma"):
        a, b = g0.concentration, g1.concentration
        return (
            (a - b) * raw.Digamma(a) + raw.Lgamma(b) - raw.Lgamma(a)
            + b * (raw.Log(g0.rate) - raw.Log(g1.rate)) + a * (g1.rate / g0.rate - 1.0)
        )  # fmt: skip


@RegisterKL(Beta, Beta)
def _beta_from_beta(d1: Any, d2: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_beta_beta"):
        total = d1.total_concentration

        def of(part: str) -> Any:
            a, b = getattr(d1, part), getattr(d2, part)
            return raw.Digamma(a) * (a - b)

        return (
            d2._log_norm() - d1._log_norm() + of("concentration1") + of("concentration0")
            - raw.Digamma(total) * (total - d2.total_concentration)
        )  # fmt: skip


ExponentialWithSoftplusRate = base.with_positive(
    "ExponentialWithSoftplusRate", Exponential, "An exponential whose rate is the softplus of `rate`.",
    lambda rate: {"rate": softplus(rate)}, "rate",
)  # fmt: skip
GammaWithSoftplusConcentrationRate = base.with_positive(
    "GammaWithSoftplusConcentrationRate", Gamma, "A gamma whose parameters go through softplus.",
    lambda concentration, rate: {"concentration": softplus(concentration), "rate": softplus(rate)},
    "concentration rate",
)  # fmt: skip
InverseGammaWithSoftplusConcentrationRate = base.with_positive(
    "InverseGammaWithSoftplusConcentrationRate", InverseGamma, "An inverse gamma whose parameters go through softplus.",
    lambda concentration, rate: {"concentration": softplus(concentration), "rate": softplus(rate)},
    "concentration rate",
)  # fmt: skip
BetaWithSoftplusConcentration = base.with_positive(
    "BetaWithSoftplusConcentration", Beta, "A beta whose concentrations go through softplus.",
    lambda concentration1, concentration0: {
        "concentration1": softplus(concentration1), "concentration0": softplus(concentration0)
    },
    "concentration1 concentration0",
)  # fmt: skip
Chi2WithAbsDf = base.with_positive(
    "Chi2WithAbsDf", Chi2, "A chi-squared of ⌊|df|⌋ degrees of freedom.",
    lambda df: {"df": raw.Floor(raw.Abs(df))}, "df",
)  # fmt: skip
