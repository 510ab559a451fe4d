"""Bijectors that work number by number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.distributions.base import after
from ebbflow.distributions.bijectors.base import Bijector
from ebbflow.distributions.functions import softplus_inverse
from ebbflow.ops.checks.asserts import assert_non_negative, assert_positive
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.activations import softplus, softsign


class _Scalar(Bijector):
    """A bijector of single numbers."""

    def __init__(self, validate_args: bool, name: str, constant: bool = False, parents: Any = ()) -> None:
        super().__init__(
            graph_parents=parents, is_constant_jacobian=constant, validate_args=validate_args,
            forward_min_event_ndims=0, name=name,
        )  # fmt: skip


def _within_one(x: Any) -> Any:
    """Return numbers that must lie between 0 and 1."""
    low = assert_non_negative(x, "sample must be non-negative")
    return after([low, assert_non_negative(1.0 - x, "sample must be no larger than `1.0`.")], x)


class Identity(_Scalar):
    """y = x."""

    def __init__(self, validate_args: bool = False, name: str = "identity") -> None:
        super().__init__(validate_args, name, constant=True)

    def _forward(self, x):
        return x

    def _inverse(self, y):
        return y

    def _inverse_log_det_jacobian(self, y):
        return convert(0.0, y.dtype)

    def _forward_log_det_jacobian(self, x):
        return convert(0.0, x.dtype)


class PowerTransform(_Scalar):
    """y = (1 + c·x)^(1/c), which for c = 0 is exp."""

    power = property(lambda self: self._power, doc="The power c.")

    def __init__(self, power: float = 0.0, validate_args: bool = False, name: str = "power_transform") -> None:
        if power is None or power < 0:
            raise ValueError(f"`power` must be a non-negative TF constant; got {power}")
        self._power = float(power)
        super().__init__(validate_args, name)

    def _forward(self, x):
        if self.validate_args and self._power:
            x = after([assert_non_negative(1.0 + x * self._power)], x)
        return raw.Exp(x) if not self._power else raw.Exp(raw.Log1p(x * self._power) / self._power)

    def _inverse(self, y):
        if self.validate_args:
            y = after([assert_positive(y)], y)
        return raw.Log(y) if not self._power else raw.Expm1(raw.Log(y) * self._power) / self._power

    def _inverse_log_det_jacobian(self, y):
        if self.validate_args:
            y = after([assert_positive(y)], y)
        return (self._power - 1.0) * raw.Log(y)

    def _forward_log_det_jacobian(self, x):
        return raw.Identity(x) if not self._power else (1.0 / self._power - 1.0) * raw.Log1p(x * self._power)


class Exp(PowerTransform):
    """y = exp(x)."""

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(validate_args=validate_args, name=name)


class Softplus(_Scalar):
    """y = c·log(1 + exp(x / c)); c is `hinge_softness`."""

    hinge_softness = property(lambda self: self._hinge_softness, doc="How soft the bend is.")

    def __init__(
        self, hinge_softness: TensorLike | None = None, validate_args: bool = False, name: str = "softplus"
    ) -> None:
        self._hinge_softness = None if hinge_softness is None else convert(hinge_softness, name="hinge_softness")
        super().__init__(validate_args, name)

    def _forward(self, x):
        c = self._hinge_softness
        return softplus(x) if c is None else c * softplus(x / c)

    def _inverse(self, y):
        c = self._hinge_softness
        return softplus_inverse(y) if c is None else c * softplus_inverse(y / c)

    def _inverse_log_det_jacobian(self, y):
        scaled = y if self._hinge_softness is None else y / self._hinge_softness
        return -raw.Log(-raw.Expm1(-scaled))

    def _forward_log_det_jacobian(self, x):
        return -softplus(-(x if self._hinge_softness is None else x / self._hinge_softness))


class Sigmoid(_Scalar):
    """y = 1 / (1 + exp(-x))."""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(validate_args, name)

    def _forward(self, x):
        return raw.Sigmoid(x)

    def _inverse(self, y):
        return raw.Log(y) - raw.Log1p(-y)

    def _inverse_log_det_jacobian(self, y):
        return -raw.Log(y) - raw.Log1p(-y)

    def _forward_log_det_jacobian(self, x):
        return -softplus(-x) - softplus(x)


class Softsign(_Scalar):
    """y = x / (1 + |x|)."""

    def __init__(self, validate_args: bool = False, name: str = "softsign") -> None:
        super().__init__(validate_args, name)

    def _forward(self, x):
        return softsign(x)

    def _inverse(self, y):
        return y / (1.0 - raw.Abs(y))

    def _forward_log_det_jacobian(self, x):
        return -2.0 * raw.Log1p(raw.Abs(x))

    def _inverse_log_det_jacobian(self, y):
        return -2.0 * raw.Log1p(-raw.Abs(y))


class Square(_Scalar):
    """y = x², of numbers that are not negative."""

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        super().__init__(validate_args, name)

    def _checked(self, x):
        return after([assert_non_negative(x, "sample must be non-negative")], x) if self.validate_args else x

    def _forward(self, x):
        return raw.Square(self._checked(x))

    def _inverse(self, y):
        return raw.Sqrt(self._checked(y))

    def _forward_log_det_jacobian(self, x):
        return math.log(2.0) + raw.Log(self._checked(x))


class AbsoluteValue(_Scalar):
    """y = |x|, whose way back has two answers."""

    _is_injective = False

    def __init__(self, validate_args: bool = False, name: str = "absolute_value") -> None:
        super().__init__(validate_args, name, constant=True)

    def _forward(self, x):
        return raw.Abs(x)

    def _inverse(self, y):
        if self.validate_args:
            y = after([assert_non_negative(y, message="Argument y was negative")], y)
        return -y, y

    def _inverse_log_det_jacobian(self, y):
        return convert(0.0, y.dtype), convert(0.0, y.dtype)

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian", **conditions):
        """Return the logarithm of the stretch of both ways back, which is none."""
        y = self._of(y)
        zero = convert(0.0, y.dtype)
        if self.validate_args:
            zero = after([assert_non_negative(y, message="Argument y was negative")], zero)
        return zero, zero


class AffineScalar(_Scalar):
    """y = scale·x + shift, number by number."""

    shift = property(lambda self: self._shift, doc="What is added.")
    scale = property(lambda self: self._scale, doc="What is multiplied by.")

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "affine_scalar",
    ) -> None:
        with name_scope(name):
            self._shift = None if shift is None else convert(shift, name="shift")
            self._scale = None if scale is None else convert(scale, name="scale")
        super().__init__(validate_args, name, constant=True)

    def _forward(self, x):
        y = raw.Identity(x) if self._scale is None else x * self._scale
        return y if self._shift is None else y + self._shift

    def _inverse(self, y):
        x = raw.Identity(y) if self._shift is None else y - self._shift
        return x if self._scale is None else x / self._scale

    def _forward_log_det_jacobian(self, x):
        return convert(0.0, x.dtype) if self._scale is None else raw.Log(raw.Abs(self._scale))


class Gumbel(_Scalar):
    """y = exp(-exp(-(x - loc) / scale)), the cumulative probability of a Gumbel."""

    loc = property(lambda self: self._loc, doc="Where it lies.")
    scale = property(lambda self: self._scale, doc="How wide it is.")

    def __init__(
        self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, validate_args: bool = False, name: str = "gumbel"
    ) -> None:
        self._loc, self._scale = convert(loc, name="loc"), convert(scale, name="scale")
        if validate_args:
            self._scale = after([assert_positive(self._scale)], self._scale)
        super().__init__(validate_args, name)

    def _forward(self, x):
        return raw.Exp(-raw.Exp(-(x - self._loc) / self._scale))

    def _inverse(self, y):
        return self._loc - self._scale * raw.Log(-raw.Log(y))

    def _inverse_log_det_jacobian(self, y):
        return raw.Log(self._scale / (-raw.Log(y) * y))

    def _forward_log_det_jacobian(self, x):
        z = (x - self._loc) / self._scale
        return -z - raw.Exp(-z) - raw.Log(self._scale)


class Weibull(_Scalar):
    """y = 1 - exp(-(x / scale)^concentration), the cumulative probability of a Weibull."""

    scale = property(lambda self: self._scale, doc="How wide it is.")
    concentration = property(lambda self: self._concentration, doc="Its shape.")

    def __init__(
        self,
        scale: TensorLike = 1.0,
        concentration: TensorLike = 1.0,
        validate_args: bool = False,
        name: str = "weibull",
    ) -> None:
        self._scale, self._concentration = convert(scale, name="scale"), convert(concentration, name="concentration")
        if validate_args:
            self._scale = after([assert_positive(self._scale)], self._scale)
            self._concentration = after([assert_positive(self._concentration)], self._concentration)
        super().__init__(validate_args, name)

    def _positive(self, x):
        return after([assert_non_negative(x, "sample must be non-negative")], x) if self.validate_args else x

    def _forward(self, x):
        return -raw.Expm1(-raw.Pow(self._positive(x) / self._scale, self._concentration))

    def _inverse(self, y):
        if self.validate_args:
            y = _within_one(y)
        return self._scale * raw.Pow(-raw.Log1p(-y), 1.0 / self._concentration)

    def _inverse_log_det_jacobian(self, y):
        steep = -raw.Log1p(-y)
        power = 1.0 / self._concentration
        return steep + (power - 1.0) * raw.Log(steep) + raw.Log(self._scale * power)

    def _forward_log_det_jacobian(self, x):
        x = self._positive(x)
        z, c = x / self._scale, self._concentration
        return -raw.Pow(z, c) + (c - 1.0) * raw.Log(x) + raw.Log(c) - c * raw.Log(self._scale)


class Kumaraswamy(_Scalar):
    """y = (1 - (1 - x)^(1/b))^(1/a), of numbers between 0 and 1."""

    concentration1 = property(lambda self: self._a, doc="The power a.")
    concentration0 = property(lambda self: self._b, doc="The power b.")

    def __init__(
        self,
        concentration1: TensorLike | None = None,
        concentration0: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "kumaraswamy",
    ) -> None:
        self._a = convert(1.0 if concentration1 is None else concentration1, name="concentration1")
        self._b = convert(1.0 if concentration0 is None else concentration0, name="concentration0")
        super().__init__(validate_args, name)

    def _share(self, value):
        """Return a value, having checked, if it is to be, that it lies between 0 and 1."""
        return _within_one(value) if self.validate_args else value

    def _forward(self, x):
        return raw.Exp(raw.Log1p(-raw.Exp(raw.Log1p(-self._share(x)) / self._b)) / self._a)

    def _inverse(self, y):
        return -raw.Expm1(self._b * raw.Log1p(-raw.Pow(self._share(y), self._a)))

    def _inverse_log_det_jacobian(self, y):
        y = self._share(y)
        return (
            raw.Log(self._a) + raw.Log(self._b) + (self._a - 1.0) * raw.Log(y)
            + (self._b - 1.0) * raw.Log1p(-raw.Pow(y, self._a))
        )  # fmt: skip


class SinhArcsinh(_Scalar):
    """y = sinh((arcsinh(x) + skewness)·tailweight): leans and fattens a distribution."""

    skewness = property(lambda self: self._skewness, doc="How it leans.")
    tailweight = property(lambda self: self._tailweight, doc="How heavy its tails are.")

    def __init__(
        self,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "SinhArcsinh",
    ) -> None:
        kind = next((each.dtype for each in (skewness, tailweight) if isinstance(each, Tensor)), None)
        self._skewness = convert(0.0 if skewness is None else skewness, kind, name="skewness")
        self._tailweight = convert(1.0 if tailweight is None else tailweight, self._skewness.dtype, name="tailweight")
        if validate_args:
            positive = assert_positive(self._tailweight, message="Argument tailweight was not positive")
            self._tailweight = after([positive], self._tailweight)
        super().__init__(validate_args, name)

    def _forward(self, x):
        return raw.Sinh((raw.Asinh(x) + self._skewness) * self._tailweight)

    def _inverse(self, y):
        return raw.Sinh(raw.Asinh(y) / self._tailweight - self._skewness)

    def _inverse_log_det_jacobian(self, y):
        inner = raw.Asinh(y) / self._tailweight - self._skewness
        return raw.Log(raw.Cosh(inner) / _hypotenuse(y)) - raw.Log(self._tailweight)

    def _forward_log_det_jacobian(self, x):
        inner = (raw.Asinh(x) + self._skewness) * self._tailweight
        return raw.Log(raw.Cosh(inner) / _hypotenuse(x)) + raw.Log(self._tailweight)


def _hypotenuse(x: Any) -> Any:
    """Return sqrt(x² + 1) without squaring what is so large that the one is lost."""
    size = raw.Abs(x)
    small = raw.LessEqual(size, convert(float(np.finfo(x.dtype.as_numpy_dtype).eps ** -0.5), x.dtype))
    safe = raw.SelectV2(small, x, raw.OnesLike(x))
    return raw.SelectV2(small, raw.Sqrt(raw.Square(safe) + 1.0), size)
