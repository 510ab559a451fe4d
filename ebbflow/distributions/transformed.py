"""Distributions of a function of something random, and those that are made that way."""

from __future__ import annotations

import math
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, dimension_value
from ebbflow.core.typing import ShapeLike
from ebbflow.distributions.base import Distribution, after, dims_tensor
from ebbflow.distributions.bijectors.base import Bijector
from ebbflow.distributions.bijectors.composed import Chain
from ebbflow.distributions.bijectors.elementwise import AffineScalar, Exp, Identity, Sigmoid
from ebbflow.distributions.bijectors.elementwise import Kumaraswamy as KumaraswamyBijector
from ebbflow.distributions.bijectors.elementwise import SinhArcsinh as Bend
from ebbflow.distributions.categories import ExpRelaxedOneHotCategorical
from ebbflow.distributions.functions import probs_and_logits
from ebbflow.distributions.real import Logistic, Normal, Uniform
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import transpose
from ebbflow.ops.checks.asserts import assert_positive
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where
from ebbflow.ops.reduce.reductions import reduce_prod, reduce_sum


class TransformedDistribution(Distribution):
    """The distribution of `bijector.forward(x)` where x is of `distribution`.

    `batch_shape` and `event_shape` make a batch, or an event, of independent draws of a single number.
    """

    distribution = property(lambda self: self._distribution, doc="What is transformed.")
    bijector = property(lambda self: self._bijector, doc="What transforms it.")

    def __init__(
        self,
        distribution: Distribution,
        bijector: Bijector | None = None,
        batch_shape: ShapeLike = None,
        event_shape: ShapeLike = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        self._distribution = distribution
        self._bijector = Identity(validate_args=validate_args) if bijector is None else bijector
        self._batch_override = None if batch_shape is None else _as_dims(batch_shape)
        self._event_override = None if event_shape is None else _as_dims(event_shape)
        if self._batch_override is not None and distribution.batch_shape.rank != 0:
            raise ValueError("TransformedDistribution: batch_shape is only for distributions of scalar batch")
        if self._event_override is not None and distribution.event_shape.rank != 0:
            raise ValueError("TransformedDistribution: event_shape is only for distributions of scalar events")
        name = name or (("" if bijector is None else self._bijector.name) + distribution.name.rstrip("/"))
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args, distribution.allow_nan_stats,
            name=name,
        )  # fmt: skip

    # --- shapes -------------------------------------------------------------------------------------------------------

    def _event_shape(self):
        base = self._event_override
        return self._bijector.forward_event_shape(self._distribution.event_shape if base is None else _static(base))

    def _event_shape_tensor(self):
        base = self._event_override
        return self._bijector.forward_event_shape_tensor(
            self._distribution.event_shape_tensor() if base is None else base
        )

    def _batch_shape(self):
        return self._distribution.batch_shape if self._batch_override is None else _static(self._batch_override)

    def _batch_shape_tensor(self):
        return self._distribution.batch_shape_tensor() if self._batch_override is None else self._batch_override

    @property
    def _ndims(self) -> int:
        rank = self.event_shape.rank
        if rank is None:
            raise ValueError(f"{self.name}: the number of an event's axes must be known")
        return max(rank, self._bijector.inverse_min_event_ndims)

    @property
    def _extra(self) -> int:
        return 0 if self._event_override is None else dimension_value(self._event_override.shape[0])

    @property
    def _turns(self) -> bool:
        """Whether the axes of an event must go behind those of the batch."""
        return bool(self._extra) and self._batch_override is None and self._distribution.batch_shape.rank != 0

    def _with_event_last(self, x: Any, ahead: int) -> Any:
        """Return x, whose axes `ahead : ahead + extra` are the event's, with these at the end."""
        axes = list(range(x.shape.rank))
        event = axes[ahead : ahead + self._extra]
        return transpose(x, [a for a in axes if a not in event] + event)

    def _with_event_first(self, x: Any) -> Any:
        axes = list(range(x.shape.rank))
        return transpose(x, axes[-self._extra :] + axes[: -self._extra])

    # --- samples and densities ----------------------------------------------------------------------------------------

    def _draw(self, n: Any, seed: Any, **conditions: Any) -> Any:
        parts = [convert([n], dtypes.int32)]
        if self._batch_override is not None:
            parts.append(self._batch_override)
        if self._event_override is not None:
            parts.append(self._event_override)
        x = self._distribution.sample(concat(parts, 0), seed=seed, **conditions)
        return self._with_event_last(x, 1) if self._turns else x

    def sample(self, sample_shape=(), seed=None, name="sample", bijector_kwargs=None, distribution_kwargs=None):
        """Return samples: what the bijector makes of the other distribution's."""
        with self._scope(name):
            given = sample_shape.as_list() if isinstance(sample_shape, TensorShape) else sample_shape
            wanted = raw.Reshape(convert(given, dtypes.int32), [-1])
            x = self._draw(raw.Prod(wanted, 0), seed, **(distribution_kwargs or {}))
            x = raw.Reshape(x, concat([wanted, raw.Shape(x)[1:]], 0))
            y = self._bijector.forward(x, **(bijector_kwargs or {}))
            known = wanted.constant_value()
            front = TensorShape(None) if known is None else TensorShape(known.tolist())
            y.set_shape(front.concatenate(self.batch_shape).concatenate(self.event_shape))
            return y

    def _of_base(self, method: str, x: Any, **conditions: Any) -> Any:
        """Return what the base says of x, summed (or multiplied) over the axes that an override added."""
        ndims = self._extra
        if self._turns:
            x = self._with_event_first(x)
        value = getattr(self._distribution, method)(x, **conditions)
        axes = list(range(ndims)) if self._turns else list(range(-ndims, 0))
        return reduce_sum(value, axis=axes) if axes else value

    def _log_prob(self, y, bijector_kwargs=None, distribution_kwargs=None):
        bijector_kwargs, distribution_kwargs = bijector_kwargs or {}, distribution_kwargs or {}
        x = self._bijector.inverse(y, **bijector_kwargs)
        stretch = self._bijector.inverse_log_det_jacobian(y, self._ndims, **bijector_kwargs)
        if self._bijector._is_injective:
            return self._of_base("log_prob", x, **distribution_kwargs) + stretch
        terms = [self._of_base("log_prob", a, **distribution_kwargs) + b for a, b in zip(x, stretch, strict=True)]
        highest = terms[0]
        for term in terms[1:]:
            highest = raw.Maximum(highest, term)
        return highest + raw.Log(raw.AddN([raw.Exp(term - highest) for term in terms]))

    def _monotone(self, method: str, y: Any, bijector_kwargs: Any, distribution_kwargs: Any) -> Any:
        if self._event_override is not None:
            raise NotImplementedError(f"{method} is not implemented when overriding event_shape: {type(self).__name__}")
        if not self._bijector._is_injective:
            raise NotImplementedError(f"{method} is not implemented when bijector is not injective.")
        x = self._bijector.inverse(y, **(bijector_kwargs or {}))
        return getattr(self._distribution, method)(x, **(distribution_kwargs or {}))

    def _cdf(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._monotone("cdf", y, bijector_kwargs, distribution_kwargs)

    def _log_cdf(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._monotone("log_cdf", y, bijector_kwargs, distribution_kwargs)

    def _survival_function(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._monotone("survival_function", y, bijector_kwargs, distribution_kwargs)

    def _log_survival_function(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._monotone("log_survival_function", y, bijector_kwargs, distribution_kwargs)

    def _quantile(self, value):
        if self._event_override is not None:
            raise NotImplementedError("quantile is not implemented when overriding event_shape")
        return self._bijector.forward(self._distribution.quantile(value))

    # --- moments ------------------------------------------------------------------------------------------------------

    def _entropy(self):
        if not self._bijector.is_constant_jacobian or not self._bijector._is_injective:
            raise NotImplementedError(f"entropy is not implemented: {type(self).__name__}")
        entropy = self._distribution.entropy()
        if self._event_override is not None:
            entropy = entropy * cast(reduce_prod(self._event_override), entropy.dtype)
        if self._batch_override is not None:
            entropy = raw.BroadcastTo(entropy, self._batch_override)
        dims = concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        dummy = raw.Fill(dims, convert(0.0, self.dtype))
        return entropy - self._bijector.inverse_log_det_jacobian(dummy, self._ndims)


class ConditionalTransformedDistribution(TransformedDistribution):
    """A transformed distribution whose bijector and base take further arguments."""


class ConditionalDistribution(Distribution):
    """A distribution whose functions take further arguments."""


def _as_dims(dims: Any) -> Any:
    if isinstance(dims, TensorShape):
        return dims_tensor(dims.as_list())
    return raw.Reshape(convert(dims, dtypes.int32), [-1])


def _static(dims: Any) -> TensorShape:
    known = dims.constant_value()
    return TensorShape([None] * dimension_value(dims.shape[0])) if known is None else TensorShape(known.tolist())


class RelaxedOneHotCategorical(TransformedDistribution):
    """Shares of one that lean to a single category the more, the lower the temperature."""

    def __init__(
        self, temperature, logits=None, probs=None, dtype=None, validate_args=False, allow_nan_stats=True,
        name="RelaxedOneHotCategorical",
    ):  # fmt: skip
        inner = ExpRelaxedOneHotCategorical(temperature, logits, probs, dtype, validate_args, allow_nan_stats)
        super().__init__(inner, Exp(), validate_args=validate_args, name=name)

    temperature = property(lambda self: self._distribution.temperature, doc="How far it is from one-hot.")
    logits = property(lambda self: self._distribution.logits, doc="Log-odds of each category.")
    probs = property(lambda self: self._distribution.probs, doc="Probability of each category.")


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1 that lean to either end the more, the lower the temperature."""

    def __init__(
        self, temperature, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="RelaxedBernoulli"
    ):  # fmt: skip
        with name_scope(name) as scope:
            self._logits, self._probs = probs_and_logits(logits, probs)
            self._temperature = convert(temperature, self._logits.dtype, name="temperature")
            if validate_args:
                self._temperature = after([assert_positive(self._temperature)], self._temperature)
            warm = self._temperature
            inner = Logistic(self._logits / warm, 1.0 / warm + zeros_like(self._logits), validate_args, allow_nan_stats)
            super().__init__(inner, Sigmoid(validate_args=validate_args), validate_args=validate_args, name=scope)

    temperature = property(lambda self: self._temperature, doc="How far it is from zero or one.")
    logits = property(lambda self: self._logits, doc="Log-odds of a success.")
    probs = property(lambda self: self._probs, doc="Probability of a success.")


class Kumaraswamy(TransformedDistribution):
    """A distribution of shares much like a beta, with a plain cumulative probability."""

    def __init__(
        self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True, name="Kumaraswamy"
    ):  # fmt: skip
        with name_scope(name) as scope:
            a = convert(1.0 if concentration1 is None else concentration1, name="concentration1")
            b = convert(1.0 if concentration0 is None else concentration0, name="concentration0")
            zeros = zeros_like(a + b)
            inner = Uniform(zeros, zeros + 1.0, allow_nan_stats=allow_nan_stats)
            super().__init__(inner, KumaraswamyBijector(a, b, validate_args), validate_args=validate_args, name=scope)

    concentration1 = property(lambda self: self._bijector.concentration1, doc="The power a.")
    concentration0 = property(lambda self: self._bijector.concentration0, doc="The power b.")

    def _entropy(self):
        a, b = self.concentration1, self.concentration0
        euler = 0.5772156649015329
        return (1 - 1.0 / b) + (1 - 1.0 / a) * (raw.Digamma(b + 1.0) + euler) - raw.Log(a) - raw.Log(b)

    def _log_moment(self, n):
        a, b = self.concentration1, self.concentration0
        one = 1.0 + n / a
        return raw.Log(b) + raw.Lgamma(one) + raw.Lgamma(b) - raw.Lgamma(one + b)

    def _mean(self):
        return raw.Exp(self._log_moment(1))

    def _variance(self):
        first = self._log_moment(1)
        second = self._log_moment(2)
        return raw.Exp(second) - raw.Exp(2.0 * first)

    def _mode(self):
        a, b = self.concentration1, self.concentration0
        mode = raw.Pow((a - 1) / (a * b - 1), 1.0 / a)
        return where((a > 1.0) & (b > 1.0), mode, convert(math.nan, self.dtype))


class SinhArcsinh(TransformedDistribution):
    """A normal (or another distribution) that leans by `skewness` and has tails of another weight."""

    def __init__(
        self, loc, scale, skewness=None, tailweight=None, distribution=None, validate_args=False,
        allow_nan_stats=True, name="SinhArcsinh",
    ):  # fmt: skip
        with name_scope(name) as scope:
            self._loc = convert(loc, name="loc")
            self._scale = convert(scale, self._loc.dtype, name="scale")
            self._tailweight = convert(1.0 if tailweight is None else tailweight, self._loc.dtype)
            self._skewness = convert(0.0 if skewness is None else skewness, self._loc.dtype)
            zeros = zeros_like(self._loc + self._scale + self._skewness + self._tailweight)
            base = Normal(zeros, zeros + 1.0) if distribution is None else distribution
            bend = Bend(self._skewness, self._tailweight)
            plain = Bend(None, self._tailweight)
            # stretched so that, without skewness, the point two deviations out stays where it is
            stretch = self._scale * (2.0 / plain.forward(convert(2.0, self._loc.dtype)))
            super().__init__(
                base, Chain([AffineScalar(self._loc, stretch), bend]), validate_args=validate_args, name=scope,
                batch_shape=None if distribution is None else zeros.shape,
            )  # fmt: skip

    loc = property(lambda self: self._loc, doc="Where it lies.")
    scale = property(lambda self: self._scale, doc="How wide it is.")
    skewness = property(lambda self: self._skewness, doc="How it leans.")
    tailweight = property(lambda self: self._tailweight, doc="How heavy its tails are.")
