"""Distributions over vectors: normals of a diagonal, a triangle or a covariance; Laplace and exponential likewise."""

from __future__ import annotations

import math
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, dimension_value
from ebbflow.distributions.base import Distribution, RegisterKL, after
from ebbflow.distributions.bijectors.vectors import AffineLinearOperator, linear_scale
from ebbflow.distributions.positive import Exponential
from ebbflow.distributions.real import Laplace, Normal
from ebbflow.distributions.transformed import TransformedDistribution
from ebbflow.linear.kinds import LinearOperatorDiag, LinearOperatorLowerTriangular
from ebbflow.linear.sized import LinearOperatorScaledIdentity
from ebbflow.ops.arrays.broadcasting import broadcast_static_shape
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.checks.asserts import assert_near
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.activations import softplus
from ebbflow.ops.linalg.diag import diag
from ebbflow.ops.linalg.factorizations import cholesky
from ebbflow.ops.linalg.matmul import adjoint, matmul
from ebbflow.ops.reduce.reductions import reduce_sum


class _VectorOf(TransformedDistribution):
    """scale @ x + loc, where the entries of x are independent draws of one standard distribution."""

    loc = property(lambda self: self._bijector.shift, doc="Where it lies.")
    scale = property(lambda self: self._bijector.scale, doc="The linear operator that stretches it.")

    def _enter(
        self, standard: Distribution, loc: Any, scale: Any, validate: bool, allow_nan: bool, name: str
    ) -> None:  # fmt: skip
        standard._allow_nan_stats = allow_nan
        loc = None if loc is None else convert(loc, scale.dtype)
        batch: Any = scale.batch_shape
        if loc is not None and loc.shape.rank != 1:
            batch = broadcast_static_shape(batch, TensorShape(loc.shape.as_list()[:-1]))
        if not batch.is_fully_defined():
            batch = scale.batch_shape_tensor()
            batch = batch if loc is None else raw.BroadcastArgs(batch, raw.Shape(loc)[:-1])
        size = scale._row_count
        event = TensorShape([size]) if size is not None else raw.Reshape(scale.range_dimension_tensor(), [1])
        TransformedDistribution.__init__(
            self, standard, AffineLinearOperator(loc, scale, validate), batch_shape=batch, event_shape=event,
            validate_args=validate, name=name,
        )  # fmt: skip

    _unit_variance = 1.0
    _unit_mean = 0.0

    def _mean(self):
        dims = concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        if not self._unit_mean:
            zeros = raw.Fill(dims, convert(0.0, self.dtype))
            return zeros if self.loc is None else zeros + self.loc
        moved = self.scale.matvec(raw.Fill(dims, convert(self._unit_mean, self.dtype)))
        return moved if self.loc is None else moved + self.loc

    def _covariance(self):
        if isinstance(self.scale, (LinearOperatorDiag, LinearOperatorScaledIdentity)):
            return diag(self._variance())
        dense = self.scale.to_dense()
        return self._unit_variance * matmul(dense, dense, adjoint_b=True)

    def _variance(self):
        if isinstance(self.scale, (LinearOperatorDiag, LinearOperatorScaledIdentity)):
            return self._unit_variance * raw.Square(self.scale.diag_part())
        return self._unit_variance * reduce_sum(raw.Square(self.scale.to_dense()), axis=-1)

    def _stddev(self):
        if isinstance(self.scale, (LinearOperatorDiag, LinearOperatorScaledIdentity)):
            return math.sqrt(self._unit_variance) * raw.Abs(self.scale.diag_part())
        return raw.Sqrt(self._variance())


class MultivariateNormalLinearOperator(_VectorOf):
    """The normal of mean `loc` and covariance scale @ scaleᵀ."""

    def __init__(
        self, loc=None, scale=None, validate_args=False, allow_nan_stats=True,
        name="MultivariateNormalLinearOperator",
    ):  # fmt: skip
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        one = convert(1.0, scale.dtype)
        self._enter(Normal(0.0 * one, one), loc, scale, validate_args, allow_nan_stats, name)

    def _mode(self):
        return self._mean()


def _diagonal(loc: Any, scale_diag: Any, multiplier: Any) -> Any:
    """Return the scale of a diagonal and a multiple of I, as long as `loc` where neither says how long."""
    if scale_diag is not None or multiplier is not None:
        scale = linear_scale(diag=scale_diag, multiplier=multiplier, shift=loc)
        if scale is None:
            raise ValueError("scale_identity_multiplier needs a `loc` of known length")
        return scale
    if loc is None:
        raise ValueError("Must specify one or both of `loc` and `scale`.")
    loc = convert(loc)
    return LinearOperatorScaledIdentity(dimension_value(loc.shape[-1]), convert(1.0, loc.dtype), is_non_singular=True)


class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """A normal over vectors whose entries are independent."""

    def __init__(
        self, loc=None, scale_diag=None, scale_identity_multiplier=None, validate_args=False, allow_nan_stats=True,
        name="MultivariateNormalDiag",
    ):  # fmt: skip
        with name_scope(name) as scope:
            scale = _diagonal(loc, scale_diag, scale_identity_multiplier)
            super().__init__(loc, scale, validate_args, allow_nan_stats, scope)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """A normal over vectors of independent entries, whose deviations go through softplus."""

    def __init__(
        self, loc, scale_diag, validate_args=False, allow_nan_stats=True,
        name="MultivariateNormalDiagWithSoftplusScale",
    ):  # fmt: skip
        with name_scope(name) as scope:
            super().__init__(
                loc, softplus(scale_diag), validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=scope
            )


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """A normal whose scale is a diagonal and a matrix of low rank."""

    def __init__(
        self, loc=None, scale_diag=None, scale_identity_multiplier=None, scale_perturb_factor=None,
        scale_perturb_diag=None, validate_args=False, allow_nan_stats=True,
        name="MultivariateNormalDiagPlusLowRank",
    ):  # fmt: skip
        with name_scope(name) as scope:
            scale = linear_scale(
                scale_diag, None, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag, loc
            )
            super().__init__(loc, scale, validate_args, allow_nan_stats, scope)


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """A normal whose scale is a lower triangle."""

    def __init__(
        self, loc=None, scale_tril=None, validate_args=False, allow_nan_stats=True, name="MultivariateNormalTriL"
    ):  # fmt: skip
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name) as scope:
            if scale_tril is None:
                scale = _diagonal(loc, None, None)
            else:
                scale = LinearOperatorLowerTriangular(
                    convert(scale_tril, name="scale_tril"), is_non_singular=True, is_self_adjoint=False,
                    is_positive_definite=False,
                )  # fmt: skip
            super().__init__(loc, scale, validate_args, allow_nan_stats, scope)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """A normal of a covariance given whole."""

    def __init__(
        self, loc=None, covariance_matrix=None, validate_args=False, allow_nan_stats=True,
        name="MultivariateNormalFullCovariance",
    ):  # fmt: skip
        with name_scope(name) as scope:
            triangle = None
            if covariance_matrix is not None:
                matrix = convert(covariance_matrix, name="covariance_matrix")
                if validate_args:
                    message = "Matrix was not symmetric"
                    matrix = after([assert_near(matrix, adjoint(matrix), message=message)], matrix)
                triangle = cholesky(matrix)
            super().__init__(loc, triangle, validate_args, allow_nan_stats, scope)


class VectorLaplaceDiag(_VectorOf):
    """A Laplace distribution over vectors whose entries are independent."""

    _unit_variance = 2.0

    def __init__(
        self, loc=None, scale_diag=None, scale_identity_multiplier=None, validate_args=False, allow_nan_stats=True,
        name="VectorLaplaceDiag",
    ):  # fmt: skip
        with name_scope(name) as scope:
            scale = _diagonal(loc, scale_diag, scale_identity_multiplier)
            one = convert(1.0, scale.dtype)
            self._enter(Laplace(0.0 * one, one), loc, scale, validate_args, allow_nan_stats, scope)

    def _mode(self):
        return self._mean()


class VectorExponentialDiag(_VectorOf):
    """An exponential distribution over vectors whose entries are independent."""

    _unit_mean = 1.0

    def __init__(
        self, loc=None, scale_diag=None, scale_identity_multiplier=None, validate_args=False, allow_nan_stats=True,
        name="VectorExponentialDiag",
    ):  # fmt: skip
        with name_scope(name) as scope:
            scale = _diagonal(loc, scale_diag, scale_identity_multiplier)
            self._enter(Exponential(convert(1.0, scale.dtype)), loc, scale, validate_args, allow_nan_stats, scope)

    def _mode(self):
        zeros = raw.Fill(concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), convert(0.0, self.dtype))
        return zeros if self.loc is None else zeros + self.loc


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _normal_from_normal(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_mvn"):
        inner = b.scale.solve(a.scale.to_dense())
        squares = reduce_sum(raw.Square(inner), axis=[-2, -1])
        moved = b.scale.solvevec(b.mean() - a.mean())
        size = raw.Cast(a.scale.domain_dimension_tensor(), DstT=a.dtype)
        return (
            b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
            + 0.5 * (-size + squares + reduce_sum(raw.Square(moved), axis=-1))
        )  # fmt: skip
