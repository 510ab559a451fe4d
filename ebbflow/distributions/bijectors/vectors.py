"""Bijectors of vectors and matrices: affine maps, permutations, triangles, shares of one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, dimension_value
from ebbflow.core.typing import TensorLike
from ebbflow.distributions.bijectors.base import Bijector
from ebbflow.distributions.bijectors.composed import Chain
from ebbflow.distributions.bijectors.elementwise import AffineScalar, Softplus
from ebbflow.distributions.functions import fill_triangular, fill_triangular_inverse, matrix_diag_transform
from ebbflow.graph.scopes import control_dependencies
from ebbflow.linear.composed import LinearOperatorLowRankUpdate
from ebbflow.linear.kinds import LinearOperatorDiag, LinearOperatorLowerTriangular
from ebbflow.linear.sized import LinearOperatorScaledIdentity
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import shape
from ebbflow.ops.checks.asserts import assert_equal_v1, assert_none_equal_v1
from ebbflow.ops.checks.shape_asserts import assert_rank_at_least_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg.diag import band_part, diag_part, eye, set_diag
from ebbflow.ops.linalg.factorizations import cholesky
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.linalg.solvers import triangular_solve
from ebbflow.ops.nn.bias_softmax import softmax
from ebbflow.ops.reduce.reductions import reduce_logsumexp, reduce_sum


class AffineLinearOperator(Bijector):
    """y = scale @ x + shift, for a linear operator `scale`."""

    shift = property(lambda self: self._shift, doc="What is added.")
    scale = property(lambda self: self._scale, doc="The linear operator.")

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale: Any = None,
        validate_args: bool = False,
        name: str = "affine_linear_operator",
    ) -> None:
        with name_scope(name):
            dtype = None if scale is None else scale.dtype
            self._shift = None if shift is None else convert(shift, dtype, name="shift")
            if scale is not None and not scale.is_non_singular:
                raise ValueError("`scale` must be a linear operator with is_non_singular=True.")
            self._scale = scale
        super().__init__(
            is_constant_jacobian=True, dtype=dtype or getattr(self._shift, "dtype", None),
            validate_args=validate_args, forward_min_event_ndims=1, name=name,
        )  # fmt: skip

    def _forward(self, x):
        y = x if self._scale is None else self._scale.matvec(x)
        return y if self._shift is None else y + self._shift

    def _inverse(self, y):
        x = y if self._shift is None else y - self._shift
        return x if self._scale is None else self._scale.solvevec(x)

    def _forward_log_det_jacobian(self, x):
        return convert(0.0, x.dtype) if self._scale is None else self._scale.log_abs_determinant()


class Affine(AffineLinearOperator):
    """y = scale @ x + shift, whose scale is the sum of the parts that are given."""

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        scale_perturb_factor: TensorLike | None = None,
        scale_perturb_diag: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "affine",
    ) -> None:
        with name_scope(name):
            scale = linear_scale(
                scale_diag, scale_tril, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag, shift
            )
        self._multiplier = None
        if scale is None and scale_identity_multiplier is not None:
            self._multiplier = convert(scale_identity_multiplier)
        super().__init__(shift, scale, validate_args, name)

    def _forward(self, x):
        if self._multiplier is not None:
            y = x * self._multiplier[..., None]
            return y if self._shift is None else y + self._shift
        return super()._forward(x)

    def _inverse(self, y):
        if self._multiplier is not None:
            return (y if self._shift is None else y - self._shift) / self._multiplier[..., None]
        return super()._inverse(y)

    def _forward_log_det_jacobian(self, x):
        if self._multiplier is not None:
            return raw.Log(raw.Abs(self._multiplier)) * raw.Cast(shape(x)[-1], DstT=x.dtype)
        return super()._forward_log_det_jacobian(x)


def linear_scale(
    diag: Any = None, tril: Any = None, multiplier: Any = None, factor: Any = None, inner: Any = None, shift: Any = None
) -> Any:
    """Return the linear operator that is the sum of a diagonal or triangle, a multiple of I, and F·diag·Fᵀ."""
    base: Any = None
    if tril is not None:
        tril = raw.MatrixBandPart(convert(tril, name="scale_tril"), -1, 0)
        if diag is not None:
            tril = raw.MatrixSetDiag(tril, diag_part(tril) + convert(diag, tril.dtype))
        if multiplier is not None:
            tril = raw.MatrixSetDiag(tril, diag_part(tril) + convert(multiplier, tril.dtype)[..., None])
        base = LinearOperatorLowerTriangular(tril, is_non_singular=True)
    elif diag is not None:
        diag = convert(diag, name="scale_diag")
        if multiplier is not None:
            diag = diag + convert(multiplier, diag.dtype)[..., None]
        base = LinearOperatorDiag(diag, is_non_singular=True, is_self_adjoint=True)
    elif factor is not None or (multiplier is not None and shift is not None and convert(shift).shape.rank):
        like = convert(factor if factor is not None else shift)
        size = dimension_value(like.shape[-2 if factor is not None else -1])
        scale = convert(1.0 if multiplier is None else multiplier, like.dtype)
        if size is not None:
            base = LinearOperatorScaledIdentity(size, scale, is_non_singular=True, is_self_adjoint=True)
    if factor is None:
        return base
    return LinearOperatorLowRankUpdate(
        base, u=convert(factor), diag_update=None if inner is None else convert(inner),
        is_diag_update_positive=inner is None, is_non_singular=True, is_self_adjoint=tril is None,
        is_positive_definite=tril is None, is_square=True,
    )  # fmt: skip


class Permute(Bijector):
    """The entries of vectors in another order."""

    permutation = property(lambda self: self._permutation, doc="Where each entry comes from.")

    def __init__(self, permutation: TensorLike, validate_args: bool = False, name: str | None = None) -> None:
        self._permutation = convert(permutation, name="permutation")
        if not self._permutation.dtype.is_integer:
            raise TypeError(f"permutation.dtype ({self._permutation.dtype.name}) should be `int`-like.")
        known = self._permutation.constant_value()
        if known is not None and sorted(np.ravel(known).tolist()) != list(range(np.size(known))):
            raise ValueError(f"Permutation over `d` must contain exactly one of each of `{{0, 1, ..., d-1}}`: {known}")
        super().__init__(
            is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=1, name=name or "permute"
        )

    def _forward(self, x):
        return gather(x, self._permutation, axis=-1)

    def _inverse(self, y):
        return gather(y, raw.InvertPermutation(self._permutation), axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return convert(0.0, y.dtype)

    def _forward_log_det_jacobian(self, x):
        return convert(0.0, x.dtype)


class SoftmaxCentered(Bijector):
    """Vectors of n numbers to n + 1 shares of one: a softmax with a zero put at the end."""

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=1, name=name)

    def _forward_event_shape(self, input_shape):
        return _longer(input_shape, 1)

    def _inverse_event_shape(self, output_shape):
        return _longer(output_shape, -1)

    def _forward_event_shape_tensor(self, input_shape):
        return concat([input_shape[:-1], input_shape[-1:] + 1], 0)

    def _inverse_event_shape_tensor(self, output_shape):
        return concat([output_shape[:-1], output_shape[-1:] - 1], 0)

    def _forward(self, x):
        return softmax(concat([x, zeros_like(x[..., :1])], -1))

    def _inverse(self, y):
        logs = raw.Log(y)
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y):
        return -reduce_sum(raw.Log(y), axis=-1)

    def _forward_log_det_jacobian(self, x):
        size = raw.Cast(shape(x)[-1], DstT=x.dtype) + 1.0
        full = concat([x, zeros_like(x[..., :1])], -1)
        total = reduce_logsumexp(full, axis=-1)
        return reduce_sum(x, axis=-1) - size * total


def _longer(dims: TensorShape, by: int) -> TensorShape:
    if dims.rank is None or dims.as_list()[-1] is None:
        return dims
    return TensorShape([*dims.as_list()[:-1], dims.as_list()[-1] + by])


class CholeskyOuterProduct(Bijector):
    """A lower triangle times its transpose."""

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=2, name=name)

    def _forward(self, x):
        x = raw.MatrixBandPart(x, -1, 0)
        return matmul(x, x, adjoint_b=True)

    def _inverse(self, y):
        return cholesky(y)

    def _forward_log_det_jacobian(self, x):
        size = dimension_value(x.shape[-1])
        if size is None:
            raise ValueError("CholeskyOuterProduct: the size of the matrices must be known")
        powers = convert(np.arange(size, 0, -1), x.dtype)
        return size * math.log(2.0) + reduce_sum(powers * raw.Log(diag_part(x)), axis=-1)


class FillTriangular(Bijector):
    """Vectors as triangular matrices."""

    def __init__(self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular") -> None:
        self._upper = upper
        super().__init__(
            validate_args=validate_args, forward_min_event_ndims=1, inverse_min_event_ndims=2, name=name,
        )  # fmt: skip

    def _forward(self, x):
        return fill_triangular(x, self._upper)

    def _inverse(self, y):
        return fill_triangular_inverse(y, self._upper)

    def _forward_log_det_jacobian(self, x):
        return zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y):
        return zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape):
        if input_shape.rank is None or input_shape.as_list()[-1] is None:
            return input_shape
        *front, length = input_shape.as_list()
        n = round((math.sqrt(8 * length + 1) - 1) / 2)
        return TensorShape([*front, n, n])

    def _inverse_event_shape(self, output_shape):
        *front, n, _ = output_shape.as_list()
        return TensorShape([*front, n * (n + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape):
        return convert(self._forward_event_shape(TensorShape(input_shape.constant_value())).as_list(), dtypes.int32)

    def _inverse_event_shape_tensor(self, output_shape):
        return convert(self._inverse_event_shape(TensorShape(output_shape.constant_value())).as_list(), dtypes.int32)


class TransformDiagonal(Bijector):
    """Another bijector, applied to the diagonals of matrices."""

    def __init__(self, diag_bijector: Bijector, validate_args: bool = False, name: str = "transform_diagonal") -> None:
        self._diag_bijector = diag_bijector
        super().__init__(
            is_constant_jacobian=diag_bijector.is_constant_jacobian, validate_args=validate_args,
            forward_min_event_ndims=2, name=name,
        )  # fmt: skip

    def _forward(self, x):
        return matrix_diag_transform(x, self._diag_bijector.forward)

    def _inverse(self, y):
        return matrix_diag_transform(y, self._diag_bijector.inverse)

    def _forward_log_det_jacobian(self, x):
        return self._diag_bijector.forward_log_det_jacobian(diag_part(x), 1)

    def _inverse_log_det_jacobian(self, y):
        return self._diag_bijector.inverse_log_det_jacobian(diag_part(y), 1)


class ScaleTriL(Chain):
    """Vectors as lower triangles whose diagonals are positive."""

    def __init__(
        self,
        diag_bijector: Bijector | None = None,
        diag_shift: TensorLike | None = 1e-5,
        validate_args: bool = False,
        name: str = "scale_tril",
    ) -> None:
        bijector: Bijector = diag_bijector or Softplus()
        if diag_shift is not None:
            bijector = Chain([AffineScalar(shift=diag_shift), bijector])
        super().__init__([TransformDiagonal(bijector), FillTriangular()], validate_args, name)


class MatrixInverseTriL(Bijector):
    """The inverse of lower triangles. Its volume is counted over all entries, as TensorFlow 1 counted it."""

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=2, name=name)

    def _forward(self, x):
        x = self._checked(x)
        return triangular_solve(x, eye(shape(x)[-1], batch_shape=shape(x)[:-2], dtype=x.dtype))

    _inverse = _forward

    def _forward_log_det_jacobian(self, x):
        x = self._checked(x)
        size = raw.Cast(shape(x)[-1], DstT=x.dtype)
        return -2.0 * size * reduce_sum(raw.Log(raw.Abs(diag_part(x))), axis=-1)

    def _checked(self, x):
        """Return lower triangles that can be inverted; others are refused where that is asked for."""
        if not self.validate_args:
            return x
        zero, lower = convert(0, x.dtype), "Input must be lower triangular."
        checks = [
            assert_rank_at_least_v1(x, 2, message="Input must have rank at least 2."),
            assert_equal_v1(band_part(x, 0, -1), set_diag(raw.ZerosLike(x), diag_part(x)), message=lower),
            assert_none_equal_v1(diag_part(x), zero, message="Input must have all diagonal entries nonzero."),
        ]
        with control_dependencies([check for check in checks if check is not None]):
            return raw.Identity(x)


class Ordered(Bijector):
    """Vectors that grow to vectors of any numbers: the first one, then the logarithms of the steps."""

    def __init__(self, validate_args: bool = False, name: str = "ordered") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=1, name=name)

    def _forward(self, x):
        return concat([x[..., :1], raw.Log(x[..., 1:] - x[..., :-1])], -1)

    def _inverse(self, y):
        return raw.Cumsum(concat([y[..., :1], raw.Exp(y[..., 1:])], -1), convert(-1, dtypes.int32))

    def _inverse_log_det_jacobian(self, y):
        return reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x):
        return -reduce_sum(raw.Log(x[..., 1:] - x[..., :-1]), axis=-1)
