"""What every distribution does: samples of any shape, densities and their logarithms, moments, divergences.

A kind of distribution says what it knows by methods with a leading underscore (`_log_prob`, `_sample_n`, `_mean`, …)
and, in `_shaped_by`, which parameters decide its batch shape. The base class gives names, converts arguments, derives
what can be derived (a density from its logarithm, a deviation from a variance) and says what is missing. Programs
write kinds of their own by the same methods. Knows ops and linear algebra; knows nothing of sessions or variables.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert, convert_to_tensor
from ebbflow.core.dtypes import DType
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, ShapeLike, TensorLike
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.broadcasting import broadcast_dynamic_shape, broadcast_static_shape
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape, shape
from ebbflow.ops.declare import raw


class ReparameterizationType:
    """Whether a sample is a smooth function of the parameters, so that gradients go through it."""

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameteriation Type: {self._rep_type}>"

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


class Distribution:
    """A batch of probability distributions over events of one shape."""

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        self = super().__new__(cls)
        self._arguments = (args, kwargs)
        return self

    def __init__(
        self,
        dtype: DTypeLike,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> None:
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._validate_args = validate_args
        self._allow_nan_stats = allow_nan_stats
        self._given_parameters = parameters
        self._graph_parents = list(graph_parents or ())
        if not (name and name.endswith("/")):
            with name_scope(name or type(self).__name__) as scope:
                name = scope
        self._name = name

    # --- what it is -------------------------------------------------------------------------------------------------

    name = property(lambda self: self._name, doc="The name scope of its ops.")
    reparameterization_type = property(lambda self: self._reparameterization_type, doc="How samples are made.")
    allow_nan_stats = property(lambda self: self._allow_nan_stats, doc="Whether what is undefined is NaN.")
    validate_args = property(lambda self: self._validate_args, doc="Whether arguments are checked.")

    @property
    def dtype(self) -> DType:
        """The dtype of events."""
        return None if self._dtype is None else dtypes.as_dtype(self._dtype)

    @property
    def parameters(self) -> dict[str, Any]:
        """What it was made with, by name."""
        if self._given_parameters is not None:
            return {k: v for k, v in self._given_parameters.items() if not k.startswith("__") and k != "self"}
        args, kwargs = self._arguments
        bound = inspect.signature(type(self).__init__).bind(self, *args, **kwargs)
        bound.apply_defaults()
        return dict(list(bound.arguments.items())[1:])

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """Return such a distribution with some of its parameters changed."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    # --- shapes -------------------------------------------------------------------------------------------------------

    _shaped_by: tuple[tuple[str, int], ...] = ()
    """Attributes that decide the batch shape, each with how many of its last axes belong to one event."""

    def _batch_shape(self) -> TensorShape:
        parts = [_front(getattr(self, name).shape, axes) for name, axes in self._shaped_by]
        return functools.reduce(broadcast_static_shape, parts) if parts else TensorShape(None)

    def _batch_shape_tensor(self) -> Any:
        if not self._shaped_by:
            raise NotImplementedError(f"batch_shape_tensor is not implemented: {type(self).__name__}")
        parts = []
        for name, axes in self._shaped_by:
            dims = shape(getattr(self, name))
            parts.append(dims[:-axes] if axes else dims)
        return functools.reduce(broadcast_dynamic_shape, parts)

    def _event_shape(self) -> TensorShape:
        return TensorShape([]) if self._shaped_by else TensorShape(None)

    def _event_shape_tensor(self) -> Any:
        if not self._shaped_by:
            raise NotImplementedError(f"event_shape_tensor is not implemented: {type(self).__name__}")
        return dims_tensor([])

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the batch, as far as it is known."""
        return TensorShape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The shape of one event, as far as it is known."""
        return TensorShape(self._event_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """Return the shape of the batch."""
        with self._scope(name):
            return _dims(self.batch_shape, self._batch_shape_tensor)

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """Return the shape of one event."""
        with self._scope(name):
            return _dims(self.event_shape, self._event_shape_tensor)

    def is_scalar_event(self, name: str = "is_scalar_event") -> Any:
        """Return whether one event is a number."""
        return convert(self.event_shape.rank == 0, name=name)

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Any:
        """Return whether there is one distribution only."""
        return convert(self.batch_shape.rank == 0, name=name)

    @classmethod
    def param_shapes(cls, sample_shape: ShapeLike, name: str = "DistributionParamShapes") -> dict[str, Any]:
        """Return the shapes the parameters need for samples of that shape."""
        with name_scope(name):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: ShapeLike) -> dict[str, TensorShape]:
        """Return the shapes the parameters need for samples of that shape, which is known."""
        dims = TensorShape(convert(sample_shape).constant_value() if hasattr(sample_shape, "op") else sample_shape)
        if not dims.is_fully_defined():
            raise ValueError("sample_shape must be fully defined")
        return {key: TensorShape(value.constant_value()) for key, value in cls.param_shapes(dims.as_list()).items()}

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        raise NotImplementedError("_param_shapes not implemented")

    # --- samples ------------------------------------------------------------------------------------------------------

    def sample(
        self, sample_shape: Any = (), seed: int | None = None, name: str = "sample", **conditions: Any
    ) -> Tensor:
        """Return samples, in front of whose batch and event axes stand those of `sample_shape`."""
        with self._scope(name):
            wanted = convert(sample_shape, dtypes.int32) if not isinstance(sample_shape, TensorShape) else None
            wanted = dims_tensor(sample_shape.as_list()) if wanted is None else reshape(wanted, [-1])
            drawn = self._sample_n(raw.Prod(wanted, 0), seed, **conditions)
            drawn = reshape(drawn, concat([wanted, shape(drawn)[1:]], 0))
            known = wanted.constant_value()
            front = TensorShape(None) if known is None else TensorShape(known.tolist())
            drawn.set_shape(front.concatenate(self.batch_shape).concatenate(self.event_shape))
            return drawn

    # --- densities ----------------------------------------------------------------------------------------------------

    def log_prob(self, value: TensorLike, name: str = "log_prob", **conditions: Any) -> Tensor:
        """Return the logarithm of the density (or probability) at `value`."""
        return self._either(name, value, conditions, "_log_prob", "_prob", raw.Log)

    def prob(self, value: TensorLike, name: str = "prob", **conditions: Any) -> Tensor:
        """Return the density (or probability) at `value`."""
        return self._either(name, value, conditions, "_prob", "_log_prob", raw.Exp)

    def log_cdf(self, value: TensorLike, name: str = "log_cdf", **conditions: Any) -> Tensor:
        """Return the logarithm of the probability of at most `value`."""
        return self._either(name, value, conditions, "_log_cdf", "_cdf", raw.Log)

    def cdf(self, value: TensorLike, name: str = "cdf", **conditions: Any) -> Tensor:
        """Return the probability of at most `value`."""
        return self._either(name, value, conditions, "_cdf", "_log_cdf", raw.Exp)

    def log_survival_function(
        self, value: TensorLike, name: str = "log_survival_function", **conditions: Any
    ) -> Tensor:  # fmt: skip
        """Return the logarithm of the probability of more than `value`."""
        if self._knows("_log_survival_function"):
            return self._either(name, value, conditions, "_log_survival_function", "_survival_function", raw.Log)
        return raw.Log1p(-self.cdf(value, **conditions))

    def survival_function(self, value: TensorLike, name: str = "survival_function", **conditions: Any) -> Tensor:
        """Return the probability of more than `value`."""
        if self._knows("_survival_function"):
            return self._either(name, value, conditions, "_survival_function", "_log_survival_function", raw.Exp)
        return 1.0 - self.cdf(value, **conditions)

    def quantile(self, value: TensorLike, name: str = "quantile", **conditions: Any) -> Tensor:
        """Return the point below which lies the share `value`."""
        return self._either(name, value, conditions, "_quantile", "_quantile", raw.Identity)

    def _either(self, name: str, value: Any, conditions: Any, first: str, other: str, then: Callable[..., Any]) -> Any:
        """Return what method `first` says of `value`, or `then` of what `other` says."""
        with self._scope(name):
            value = convert_to_tensor(value, dtype_hint=self._dtype)
            if self._knows(first):
                return getattr(self, first)(value, **conditions)
            if self._knows(other):
                return then(getattr(self, other)(value, **conditions))
            raise NotImplementedError(f"{name} is not implemented: {type(self).__name__}")

    # --- moments ------------------------------------------------------------------------------------------------------

    def entropy(self, name: str = "entropy") -> Tensor:
        """Return the entropy in nats."""
        return self._fact(name, "_entropy")

    def mean(self, name: str = "mean") -> Tensor:
        """Return the mean."""
        return self._fact(name, "_mean")

    def mode(self, name: str = "mode") -> Tensor:
        """Return the point of the highest density."""
        return self._fact(name, "_mode")

    def variance(self, name: str = "variance") -> Tensor:
        """Return the variance of each part of an event."""
        if not self._knows("_variance") and self._knows("_stddev"):
            return raw.Square(self._fact(name, "_stddev"))
        return self._fact(name, "_variance")

    def stddev(self, name: str = "stddev") -> Tensor:
        """Return the standard deviation of each part of an event."""
        if not self._knows("_stddev") and self._knows("_variance"):
            return raw.Sqrt(self._fact(name, "_variance"))
        return self._fact(name, "_stddev")

    def covariance(self, name: str = "covariance") -> Tensor:
        """Return how the parts of a vector vary together."""
        return self._fact(name, "_covariance")

    def _fact(self, name: str, method: str) -> Any:
        with self._scope(name):
            if not self._knows(method):
                raise NotImplementedError(f"{name} is not implemented: {type(self).__name__}")
            return getattr(self, method)()

    # --- two of them --------------------------------------------------------------------------------------------------

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Any:
        """Return the mean of -log(other) over this one."""
        with self._scope(name):
            return self._cross_entropy(other)

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Any:
        """Return the mean of log(this) - log(other) over this one."""
        with self._scope(name):
            return self._kl_divergence(other)

    def _cross_entropy(self, other: Distribution) -> Any:
        return cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def _kl_divergence(self, other: Distribution) -> Any:
        return kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    # --- for kinds ----------------------------------------------------------------------------------------------------

    def _knows(self, method: str) -> bool:
        return hasattr(self, method)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        raise NotImplementedError(f"sample_n is not implemented: {type(self).__name__}")

    def _scope(self, name: str) -> Any:
        return name_scope(f"{self._name}{name}/")

    def _undefined(self, value: Any, defined: Any, message: str, check: Callable[[], Any]) -> Any:
        """Return `value` where it is defined: elsewhere NaN, or an error where NaN is not allowed."""
        if self.allow_nan_stats:
            return raw.SelectV2(defined, value, convert(np.nan, self.dtype))
        return after([check()], value)

    def __str__(self) -> str:
        return (
            f'tfp.distributions.{type(self).__name__}("{self.name}"{_said(", batch_shape=", self.batch_shape)}'
            f"{_said(', event_shape=', self.event_shape)}, dtype={self.dtype.name if self.dtype else None})"
        )

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
            f"event_shape={self.event_shape} dtype={self.dtype.name if self.dtype else None}>"
        )


def _said(words: str, dims: TensorShape) -> str:
    return f"{words}{dims}" if dims.rank is not None else ""


def _front(dims: TensorShape, axes: int) -> TensorShape:
    return dims if dims.rank is None else TensorShape(dims.as_list()[: dims.rank - axes])


def _dims(static: TensorShape, dynamic: Callable[[], Any]) -> Any:
    return dims_tensor(static.as_list()) if static.is_fully_defined() else dynamic()


def dims_tensor(dims: Sequence[int]) -> Any:
    """Return known dimensions as a tensor."""
    return convert(np.asarray(dims, np.int32))


def after(checks: Sequence[Any], value: Any) -> Any:
    """Return `value` once `checks` have passed."""
    checks = [check for check in checks if check is not None]
    if not checks:
        return value
    with control_dependencies(checks):
        return raw.Identity(value)


def floats(**values: Any) -> list[Any]:
    """Return the parameters as tensors of one floating dtype: the first's that has one."""
    dtype = next((v.dtype for v in values.values() if isinstance(getattr(v, "dtype", None), DType)), None)
    preferred = next((v.dtype for v in values.values() if isinstance(v, (np.ndarray, np.generic))), None)
    tensors: list[Any] = []
    for name, value in values.items():
        plain = not hasattr(value, "dtype")
        wanted = dtype or (None if preferred is None else dtypes.as_dtype(preferred))
        tensor = convert(value, wanted if plain else None, name=name)
        if not tensor.dtype.is_floating:
            raise ValueError(f"Expected floating point type, got {tensor.dtype!r}.")
        if tensors and tensor.dtype.base_dtype != tensors[0].dtype.base_dtype:
            raise ValueError(
                f"{tensor}, type={tensor.dtype!r}, must be of the same type ({tensors[0].dtype!r}) as {tensors[0]}."
            )
        tensors.append(tensor)
    return tensors


# --- divergences of two kinds ---------------------------------------------------------------------------------------

_DIVERGENCES: dict[tuple[type, type], Callable[..., Any]] = {}


def _registered(a: type, b: type) -> Callable[..., Any] | None:
    pairs = [
        (i + j, pair)
        for i, first in enumerate(inspect.getmro(a))
        for j, second in enumerate(inspect.getmro(b))
        if (pair := (first, second)) in _DIVERGENCES
    ]
    return _DIVERGENCES[min(pairs, key=lambda entry: entry[0])[1]] if pairs else None


class RegisterKL:
    """`@RegisterKL(A, B)`: the decorated function (a, b, name=None) is the divergence of an A from a B."""

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            names = " || ".join(kind.__name__ for kind in self._key)
            raise ValueError(f"KL({names}) has already been registered to: {_DIVERGENCES[self._key]}")
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn


def kl_divergence(
    distribution_a: Distribution, distribution_b: Distribution, allow_nan_stats: bool = True, name: str | None = None
) -> Tensor:
    """Return KL(a ‖ b), the mean of log(a) - log(b) over a.

    >>> from ebbflow.distributions.real import Normal
    >>> kl_divergence(Normal(0., 1.), Normal(1., 1.)).numpy().tolist()
    0.5
    """
    divergence = _registered(type(distribution_a), type(distribution_b))
    if divergence is None:
        raise NotImplementedError(
            f"No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}"
        )
    with name_scope("KullbackLeibler"):
        value = divergence(distribution_a, distribution_b, name=name)
        return value if allow_nan_stats else raw.CheckNumerics(value, message="KL calculation between two objects")


def cross_entropy(
    ref: Distribution, other: Distribution, allow_nan_stats: bool = True, name: str | None = None
) -> Any:  # fmt: skip
    """Return the mean of -log(other) over `ref`."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)


def with_positive(
    name: str, kind: type, words: str, make: Callable[..., dict[str, Any]], parameters: str
) -> type[Any]:  # fmt: skip
    """Return a kind like `kind` whose parameters (named in one string) go through `make` first."""
    names = parameters.split()

    def enter(
        self: Any,
        *args: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = name,
        **kwargs: Any,
    ) -> None:
        given = dict(zip([*names, "validate_args", "allow_nan_stats", "name"], args, strict=False)) | kwargs
        options = {"validate_args": validate_args, "allow_nan_stats": allow_nan_stats, "name": name}
        options |= {key: given.pop(key) for key in list(given) if key in options}
        if sorted(given) != sorted(names):
            raise TypeError(f"{type(self).__name__} takes {', '.join(names)}; got {', '.join(given) or 'nothing'}")
        scope = options.pop("name")
        with name_scope(scope) as options["name"]:
            kind.__init__(self, **make(**given), **options)  # type: ignore[misc]
        self._given_parameters = {**given, **options, "name": scope}

    return types.new_class(
        name, (kind,), {}, lambda body: body.update(__init__=enter, __doc__=words, __module__=kind.__module__)
    )
