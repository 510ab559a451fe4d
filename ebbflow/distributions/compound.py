"""Distributions of other distributions: mixtures, batches taken as events, rounded values, values in a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, dimension_value
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.distributions.argument_checks import assert_integer_form
from ebbflow.distributions.base import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    RegisterKL,
    after,
    kl_divergence,
)
from ebbflow.distributions.categories import Categorical
from ebbflow.distributions.functions import SeedStream
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.arrays.indexing import one_hot
from ebbflow.ops.arrays.joining import concat, stack
from ebbflow.ops.arrays.shaping import expand_dims, reshape, shape
from ebbflow.ops.checks.asserts import assert_less_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.compare import where
from ebbflow.ops.linalg.diag import diag
from ebbflow.ops.nn.bias_softmax import log_softmax
from ebbflow.ops.reduce.reductions import reduce_logsumexp, reduce_sum


class Independent(Distribution):
    """Another distribution with the last axes of its batch taken as part of an event."""

    distribution = property(lambda self: self._distribution, doc="The other distribution.")
    reinterpreted_batch_ndims = property(lambda self: self._taken, doc="How many axes are taken.")

    def __init__(self, distribution, reinterpreted_batch_ndims=None, validate_args=False, name=None):
        rank = distribution.batch_shape.rank
        taken = max(0, rank - 1) if reinterpreted_batch_ndims is None else int(reinterpreted_batch_ndims)
        if taken > rank:
            raise ValueError(f"reinterpreted_batch_ndims({taken}) cannot exceed distribution.batch_ndims({rank})")
        self._distribution, self._taken = distribution, taken
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args, distribution.allow_nan_stats,
            name=name or "Independent" + distribution.name.rstrip("/"),
        )  # fmt: skip

    def _batch_shape(self):
        dims = self._distribution.batch_shape.as_list()
        return TensorShape(dims[: len(dims) - self._taken])

    def _batch_shape_tensor(self):
        dims = self._distribution.batch_shape_tensor()
        return dims[: dimension_value(dims.shape[0]) - self._taken]

    def _event_shape(self):
        dims = self._distribution.batch_shape.as_list()
        return TensorShape(dims[len(dims) - self._taken :]).concatenate(self._distribution.event_shape)

    def _event_shape_tensor(self):
        dims = self._distribution.batch_shape_tensor()
        return concat(
            [dims[dimension_value(dims.shape[0]) - self._taken :], self._distribution.event_shape_tensor()], 0
        )

    def _sample_n(self, n, seed=None):
        return self._distribution.sample(n, seed=seed)

    def _over(self, value):
        return reduce_sum(value, axis=list(range(-self._taken, 0))) if self._taken else value

    def _log_prob(self, x):
        return self._over(self._distribution.log_prob(x))

    def _entropy(self):
        return self._over(self._distribution.entropy())

    def _mean(self):
        return self._distribution.mean()

    def _variance(self):
        return self._distribution.variance()

    def _stddev(self):
        return self._distribution.stddev()

    def _mode(self):
        return self._distribution.mode()


@RegisterKL(Independent, Independent)
def _independent_from_independent(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_independent"):
        if a.event_shape.rank != b.event_shape.rank:
            raise ValueError("Event shapes do not match.")
        return a._over(kl_divergence(a.distribution, b.distribution))


def _spread_weights(log_weights: Any, rank: int) -> Any:
    for _ in range(rank):
        log_weights = log_weights[..., None]
    return log_weights


class Mixture(Distribution):
    """One of several distributions, chosen by a categorical."""

    cat = property(lambda self: self._cat, doc="What chooses.")
    components = property(lambda self: self._components, doc="What is chosen from.")
    num_components = property(lambda self: len(self._components), doc="How many there are.")

    def __init__(
        self, cat, components, validate_args=False, allow_nan_stats=True, use_static_graph=False, name="Mixture"
    ):  # fmt: skip
        if not isinstance(cat, Categorical):
            raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if not all(isinstance(c, Distribution) for c in components):
            raise TypeError(f"all entries in components must be Distribution instances but saw: {components}")
        if any(c.dtype != components[0].dtype for c in components):
            raise TypeError("All components must have the same dtype, but saw dtypes: "
                            f"{[(c.name, c.dtype) for c in components]}")  # fmt: skip
        count = dimension_value(cat.logits.shape[-1])
        if count is not None and count != len(components):
            raise ValueError(
                f"cat.num_classes != len(components): number of components {len(components)} vs {count} categories"
            )
        if count is None:
            raise ValueError("Could not infer number of classes from cat")
        rows, event = cat.batch_shape, components[0].event_shape
        for component in components:
            rows, event = rows.merge_with(component.batch_shape), event.merge_with(component.event_shape)
        self._cat, self._components = cat, list(components)
        super().__init__(components[0].dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    def _batch_shape(self):
        return self._components[0].batch_shape

    def _batch_shape_tensor(self):
        return self._components[0].batch_shape_tensor()

    def _event_shape(self):
        return self._components[0].event_shape

    def _event_shape_tensor(self):
        return self._components[0].event_shape_tensor()

    def _sample_n(self, n, seed=None):
        seeds = SeedStream(seed, "Mixture")
        chosen = self._cat.sample(n, seed=seeds())
        drawn = stack([c.sample(n, seed=seeds()) for c in self._components], axis=-1)
        mask = one_hot(chosen, len(self._components), dtype=drawn.dtype)
        for _ in range(self.event_shape.rank):
            mask = expand_dims(mask, -2)
        return reduce_sum(where(mask > 0, drawn, zeros_like(drawn)), axis=-1)

    def _log_weights(self):
        return raw.Unpack(log_softmax(self._cat.logits), num=len(self._components), axis=-1)

    def _log_prob(self, x):
        parts = [w + c.log_prob(x) for w, c in zip(self._log_weights(), self._components, strict=True)]
        return reduce_logsumexp(stack(parts, axis=0), axis=0)

    def _log_cdf(self, x):
        parts = [w + c.log_cdf(x) for w, c in zip(self._log_weights(), self._components, strict=True)]
        return reduce_logsumexp(stack(parts, axis=0), axis=0)

    def _weights(self):
        rank = self.event_shape.rank
        return [_spread_weights(raw.Exp(w), rank) for w in self._log_weights()]

    def _mean(self):
        return raw.AddN([w * c.mean() for w, c in zip(self._weights(), self._components, strict=True)])

    def _stddev(self):
        weights, mean = self._weights(), self._mean()
        second = [
            w * (raw.Square(c.stddev()) + raw.Square(c.mean()))
            for w, c in zip(weights, self._components, strict=True)
        ]  # fmt: skip
        return raw.Sqrt(raw.AddN(second) - raw.Square(mean))

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Tensor:
        """Return the weighted mean of the components' entropies, below which the mixture's cannot lie."""
        with self._scope(name):
            weights = [raw.Exp(w) for w in self._log_weights()]
            return raw.AddN([w * c.entropy() for w, c in zip(weights, self._components, strict=True)])


class MixtureSameFamily(Distribution):
    """A mixture whose components are the last axis of one distribution's batch."""

    mixture_distribution = property(lambda self: self._mixture, doc="What chooses.")
    components_distribution = property(lambda self: self._all, doc="What is chosen from.")

    def __init__(
        self, mixture_distribution, components_distribution, validate_args=False, allow_nan_stats=True,
        name="MixtureSameFamily",
    ):  # fmt: skip
        if not mixture_distribution.dtype.is_integer:
            raise ValueError(f"`mixture_distribution.dtype` ({mixture_distribution.dtype}) is not over integers")
        count = dimension_value(mixture_distribution.logits.shape[-1])
        rows = components_distribution.batch_shape
        if rows.rank == 0 or (None not in (count, rows.as_list()[-1]) and rows.as_list()[-1] != count):
            raise ValueError(
                f"`mixture_distribution` components ({count}) does not equal "
                f"`components_distribution.batch_shape[-1]` ({rows})"
            )
        self._mixture, self._all = mixture_distribution, components_distribution
        super().__init__(components_distribution.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    def _batch_shape(self):
        return TensorShape(self._all.batch_shape.as_list()[:-1])

    def _batch_shape_tensor(self):
        return self._all.batch_shape_tensor()[:-1]

    def _event_shape(self):
        return self._all.event_shape

    def _event_shape_tensor(self):
        return self._all.event_shape_tensor()

    @property
    def _axis(self) -> int:
        return -1 - self.event_shape.rank

    def _sample_n(self, n, seed=None):
        seeds = SeedStream(seed, "MixtureSameFamily")
        drawn = self._all.sample(n, seed=seeds())
        dims = concat([[n], self.batch_shape_tensor()], 0)
        chosen = self._mixture.sample(n, seed=seeds())
        chosen = raw.BroadcastTo(reshape(chosen, concat([[n], _padded(self._mixture, self)], 0)), dims)
        mask = one_hot(
            chosen, dimension_value(self._mixture.logits.shape[-1]), dtype=dtypes.bool, on_value=True, off_value=False
        )
        for _ in range(self.event_shape.rank):
            mask = expand_dims(mask, -1)
        return reduce_sum(where(mask, drawn, zeros_like(drawn)), axis=self._axis)

    def _among(self, x):
        return expand_dims(x, self._axis)

    def _log_prob(self, x):
        each = self._all.log_prob(self._among(x))
        return reduce_logsumexp(each + log_softmax(self._mixture.logits), axis=-1)

    def _cdf(self, x):
        return reduce_sum(self._all.cdf(self._among(x)) * self._mixture.probs, axis=-1)

    def _log_cdf(self, x):
        each = self._all.log_cdf(self._among(x))
        return reduce_logsumexp(each + log_softmax(self._mixture.logits), axis=-1)

    def _chances(self):
        return _spread_weights(self._mixture.probs, self.event_shape.rank)

    def _mean(self):
        return reduce_sum(self._chances() * self._all.mean(), axis=self._axis)

    def _variance(self):
        mean = self._among(self._mean())
        within, between = self._all.variance(), raw.SquaredDifference(self._all.mean(), mean)
        return reduce_sum(self._chances() * (within + between), axis=self._axis)

    def _covariance(self):
        if self.event_shape.rank == 1 and not self._all._knows("_covariance"):
            return diag(self._variance())
        chances = _spread_weights(self._mixture.probs, 2)
        centred = self._all.mean() - self._among(self._mean())
        outer = centred[..., None] * centred[..., None, :]
        return reduce_sum(chances * (self._all.covariance() + outer), axis=-3)


def _padded(mixture: Any, whole: Any) -> Any:
    """Return the batch shape of `mixture`, with ones in front up to the rank of the whole's."""
    missing = whole.batch_shape.rank - mixture.batch_shape.rank
    return concat([np.ones(missing, np.int32), mixture.batch_shape_tensor()], 0)


class BatchReshape(Distribution):
    """Another distribution with its batch in another shape."""

    distribution = property(lambda self: self._distribution, doc="The other distribution.")

    def __init__(self, distribution, batch_shape, validate_args=False, allow_nan_stats=True, name=None):
        self._distribution = distribution
        old = distribution.batch_shape.as_list()
        wanted = np.atleast_1d(np.asarray(convert(batch_shape, dtypes.int32).constant_value()))
        try:
            self._dims = list(np.empty(old, np.bool_).reshape(wanted).shape)
        except ValueError:
            raise ValueError(f"batch_shape {wanted.tolist()} does not fit a batch of shape {old}") from None
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args, allow_nan_stats,
            name=name or "BatchReshape" + distribution.name.rstrip("/"),
        )  # fmt: skip

    def _batch_shape(self):
        return TensorShape(self._dims)

    def _batch_shape_tensor(self):
        return convert(self._dims, dtypes.int32)

    def _event_shape(self):
        return self._distribution.event_shape

    def _event_shape_tensor(self):
        return self._distribution.event_shape_tensor()

    def _turned(self, x, dims, axes):
        """Return x with its batch in the shape `dims`; `axes` are the axes of the batch it has now."""
        after_it = self.event_shape.rank
        front = shape(x)[: x.shape.rank - after_it - axes]
        back = shape(x)[x.shape.rank - after_it :]
        return reshape(x, concat([front, np.asarray(dims, np.int32), back], 0))

    def _sample_n(self, n, seed=None):
        old = self._distribution.batch_shape.rank
        return self._turned(self._distribution.sample(n, seed=seed), self._dims, old)

    def _of_events(self, method, x):
        old = self._distribution.batch_shape.as_list()
        x = raw.BroadcastTo(x, concat([shape(x)[: max(x.shape.rank - len(self._dims) - self.event_shape.rank, 0)],
                                       self._dims, self.event_shape_tensor()], 0))  # fmt: skip
        value = getattr(self._distribution, method)(self._turned(x, old, len(self._dims)))
        front = shape(value)[: value.shape.rank - len(old)]
        return reshape(value, concat([front, self._dims], 0))

    def _log_prob(self, x):
        return self._of_events("log_prob", x)

    def _cdf(self, x):
        return self._of_events("cdf", x)

    def _of_batch(self, method):
        return reshape(getattr(self._distribution, method)(), self._dims)

    def _entropy(self):
        return self._of_batch("entropy")

    def _of_moments(self, method):
        value = getattr(self._distribution, method)()
        return reshape(value, concat([self._dims, shape(value)[self._distribution.batch_shape.rank :]], 0))

    def _mean(self):
        return self._of_moments("mean")

    def _mode(self):
        return self._of_moments("mode")

    def _stddev(self):
        return self._of_moments("stddev")

    def _variance(self):
        return self._of_moments("variance")


class QuantizedDistribution(Distribution):
    """The ceiling of another distribution's value, cut to [low, high]."""

    distribution = property(lambda self: self._distribution, doc="What is rounded.")
    low = property(lambda self: self._low, doc="The least value.")
    high = property(lambda self: self._high, doc="The largest value.")

    def __init__(self, distribution, low=None, high=None, validate_args=False, name="QuantizedDistribution"):
        self._distribution = distribution
        self._low = None if low is None else convert(low, distribution.dtype)
        self._high = None if high is None else convert(high, distribution.dtype)
        if validate_args:
            self._check_bounds()
        super().__init__(
            distribution.dtype, NOT_REPARAMETERIZED, validate_args, distribution.allow_nan_stats, name=name
        )

    def _batch_shape(self):
        return self._distribution.batch_shape

    def _batch_shape_tensor(self):
        return self._distribution.batch_shape_tensor()

    def _event_shape(self):
        return self._distribution.event_shape

    def _event_shape_tensor(self):
        return self._distribution.event_shape_tensor()

    def _check_bounds(self):
        """Have it checked that the bounds are whole numbers, the low one below the high one."""
        if self._low is not None and self._high is not None:
            least = assert_less_v1(self._low, self._high, message="low must be strictly less than high.")
            self._low = after([least], self._low)
        if self._low is not None:
            self._low = after([assert_integer_form(self._low)], self._low)
        if self._high is not None:
            self._high = after([assert_integer_form(self._high)], self._high)

    def _sample_n(self, n, seed=None):
        x = raw.Ceil(self._distribution.sample(n, seed=seed))
        x = x if self._low is None else where(x < self._low, self._low, x)
        return x if self._high is None else where(x > self._high, self._high, x)

    def _cdf(self, y):
        j = raw.Floor(y)
        value = self._distribution.cdf(j)
        value = value if self._low is None else where(j < self._low, zeros_like(value), value)
        return value if self._high is None else where(j >= self._high, zeros_like(value) + 1.0, value)

    def _survival_function(self, y):
        j = raw.Ceil(y)
        value = self._distribution.survival_function(j)
        value = value if self._low is None else where(j < self._low, zeros_like(value) + 1.0, value)
        return value if self._high is None else where(j >= self._high, zeros_like(value), value)

    def _log_cdf(self, y):
        j = raw.Floor(y)
        value = self._distribution.log_cdf(j)
        value = value if self._low is None else where(j < self._low, zeros_like(value) - np.inf, value)
        return value if self._high is None else where(j >= self._high, zeros_like(value), value)

    def _log_survival_function(self, y):
        j = raw.Ceil(y)
        value = self._distribution.log_survival_function(j)
        value = value if self._low is None else where(j < self._low, zeros_like(value), value)
        return value if self._high is None else where(j >= self._high, zeros_like(value) - np.inf, value)

    def _prob(self, y):
        upper, lower = self._survival_function(y - 1.0), self._survival_function(y)
        return where(lower > 0.5, self._cdf(y) - self._cdf(y - 1.0), upper - lower)

    def _log_prob(self, y):
        above, below = self._log_survival_function(y), self._log_cdf(y)
        by_tail = above < below  # the difference of the smaller two keeps more digits
        large = where(by_tail, self._log_survival_function(y - 1.0), below)
        small = where(by_tail, above, self._log_cdf(y - 1.0))
        return large + raw.Log1p(-raw.Exp(small - large))


class Autoregressive(Distribution):
    """Values each of which depends on those before: `distribution_fn(sample)` says how, `num_steps` times over."""

    distribution_fn = property(lambda self: self._function, doc="How a value follows from others.")
    sample0 = property(lambda self: self._sample0, doc="What it begins with.")
    num_steps = property(lambda self: self._num_steps, doc="How many steps there are.")
    distribution0 = property(lambda self: self._distribution0, doc="The distribution at the beginning.")

    def __init__(
        self,
        distribution_fn: Callable[..., Distribution],
        sample0: TensorLike | None = None,
        num_steps: int | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Autoregressive",
    ) -> None:
        self._function, self._sample0 = distribution_fn, sample0
        self._distribution0 = distribution_fn() if sample0 is None else distribution_fn(sample0)
        first = self._distribution0
        self._num_steps = int(np.prod(first.event_shape.as_list())) if num_steps is None else int(num_steps)
        if self._num_steps < 1:
            raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
        super().__init__(first.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    def _batch_shape(self):
        return self._distribution0.batch_shape

    def _batch_shape_tensor(self):
        return self._distribution0.batch_shape_tensor()

    def _event_shape(self):
        return self._distribution0.event_shape

    def _event_shape_tensor(self):
        return self._distribution0.event_shape_tensor()

    def _sample_n(self, n, seed=None):
        value = self._distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            value = self._function(value).sample(seed=seed)
        return value

    def _log_prob(self, value):
        return self._function(value).log_prob(value)
