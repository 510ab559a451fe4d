"""What distributions of vectors are made from: scales of diagonals and triangles, shapes of a shift and a scale,
axes that mixtures add (`tf.contrib.distributions.python.ops.distribution_util`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, dimension_value
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.graph.scopes import with_dependencies
from ebbflow.linear.kinds import LinearOperatorDiag, LinearOperatorLowerTriangular
from ebbflow.linear.sized import LinearOperatorScaledIdentity
from ebbflow.ops.arrays.broadcasting import broadcast_static_shape
from ebbflow.ops.arrays.joining import concat, stack
from ebbflow.ops.arrays.shaping import rank, reshape, shape
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg.diag import diag_part, set_diag
from ebbflow.ops.reduce.reductions import reduce_all, reduce_sum

__all__ = [
    "get_broadcast_shape",
    "is_diagonal_scale",
    "make_diag_scale",
    "make_tril_scale",
    "mixture_stddev",
    "move_dimension",
    "pad",
    "pad_mixture_dimensions",
    "shapes_from_loc_and_scale",
]


def _checked(x: Any, diagonal: Any, validate_args: bool, assert_positive: bool) -> Any:
    """Return `x`, which asks of its diagonal when it runs that no entry is zero, or each positive."""
    if not validate_args:
        return x
    zero = convert(0, x.dtype)
    if assert_positive:
        test = Assert(reduce_all(raw.Greater(diagonal, zero)), ["diagonal part must be positive", diagonal])
    else:
        test = Assert(reduce_all(raw.NotEqual(diagonal, zero)), ["diagonal part must be non-zero", diagonal])
    return with_dependencies([test], x)


def _as_tensor(value: Any, name: str, dtype: Any = None) -> Any:
    return None if value is None else convert(value, dtype, name=name)


def make_diag_scale(
    loc: TensorLike | None = None,
    scale_diag: TensorLike | None = None,
    scale_identity_multiplier: TensorLike | None = None,
    shape_hint: int | None = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
    dtype: Any = None,
) -> Any:
    """Return the linear operator of a diagonal and a multiple of I, as long as `loc` or `shape_hint` says."""
    with name_scope(name, "make_diag_scale", [loc, scale_diag, scale_identity_multiplier]):
        shift = _as_tensor(loc, "loc", dtype)
        diagonal = _as_tensor(scale_diag, "scale_diag", dtype)
        multiplier = _as_tensor(scale_identity_multiplier, "scale_identity_multiplier", dtype)
        if diagonal is not None:
            if multiplier is not None:
                diagonal = diagonal + multiplier[..., None]
            diagonal = _checked(diagonal, diagonal, validate_args, assert_positive)
            return LinearOperatorDiag(
                diagonal, is_non_singular=True, is_self_adjoint=True, is_positive_definite=assert_positive or None
            )
        if shift is None and shape_hint is None:
            raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
        rows = dimension_value(shift.shape[-1]) if shape_hint is None else shape_hint
        if multiplier is None:
            multiplier = convert(1.0, dtype or (dtypes.float32 if shift is None else shift.dtype))
        multiplier = _checked(multiplier, multiplier, validate_args, assert_positive)
        return LinearOperatorScaledIdentity(
            rows, multiplier, is_non_singular=True, is_self_adjoint=True, is_positive_definite=assert_positive or None,
            assert_proper_shapes=validate_args,
        )  # fmt: skip


def make_tril_scale(
    loc: TensorLike | None = None,
    scale_tril: TensorLike | None = None,
    scale_diag: TensorLike | None = None,
    scale_identity_multiplier: TensorLike | None = None,
    shape_hint: int | None = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> Any:
    """Return the linear operator of a lower triangle, with what is given added to its diagonal."""
    if scale_tril is None:
        return make_diag_scale(
            loc, scale_diag, scale_identity_multiplier, shape_hint, validate_args, assert_positive, name
        )
    with name_scope(name, "make_tril_scale", [scale_tril, scale_diag, scale_identity_multiplier]):
        triangle = raw.MatrixBandPart(convert(scale_tril, name="scale_tril"), -1, 0)
        diagonal = diag_part(triangle)
        if scale_diag is not None:
            diagonal = diagonal + convert(scale_diag, triangle.dtype, name="scale_diag")
        if scale_identity_multiplier is not None:
            diagonal = diagonal + convert(scale_identity_multiplier, triangle.dtype)[..., None]
        triangle = _checked(set_diag(triangle, diagonal), diagonal, validate_args, assert_positive)
        return LinearOperatorLowerTriangular(
            triangle, is_non_singular=True, is_self_adjoint=False, is_positive_definite=assert_positive or None
        )


def is_diagonal_scale(scale: Any) -> bool:
    """Return whether a linear operator is known to have nothing beside its diagonal."""
    return isinstance(scale, (LinearOperatorDiag, LinearOperatorScaledIdentity))


def shapes_from_loc_and_scale(
    loc: TensorLike | None, scale: Any, name: str = "shapes_from_loc_and_scale"
) -> tuple[Any, Any]:
    """Return the batch and event shapes of scale @ x + loc: known ones where they are known, else tensors."""
    with name_scope(name, values=[loc]):
        shift: Any = None if loc is None else convert(loc, name="loc")
        if shift is not None and shift.shape.rank == 0:
            shift = None
        size = dimension_value(scale.range_dimension)
        event_shape = reshape(scale.range_dimension_tensor(), [1]) if size is None else TensorShape([size])
        if shift is None:
            known = scale.batch_shape
            return known if known.is_fully_defined() else scale.batch_shape_tensor(), event_shape
        own = shift.shape[-1:] if shift.shape.rank else TensorShape([None])
        if size is not None and dimension_value(own[0]) not in (None, 1, size):
            raise ValueError(f"loc's last dimension {own} could not be broadcast to scale's, {size}")
        batch = shift.shape[:-1]
        if batch.is_fully_defined() and scale.batch_shape.is_fully_defined():
            return broadcast_static_shape(batch, scale.batch_shape), event_shape
        return raw.BroadcastArgs(shape(shift)[:-1], scale.batch_shape_tensor()), event_shape


def get_broadcast_shape(*tensors: TensorLike) -> Any:
    """Return the shape that the tensors have when they are combined: a list if it is known, else a tensor."""
    given = [convert(t) for t in tensors]
    known = given[0].shape
    for other in given[1:]:
        known = broadcast_static_shape(known, other.shape)
    if known.is_fully_defined():
        return known.as_list()
    dims = shape(given[0])
    for other in given[1:]:
        dims = raw.BroadcastArgs(dims, shape(other))
    return dims


def mixture_stddev(mixture_weight_vector: Tensor, mean_vector: Tensor, stddev_vector: Tensor) -> Any:
    """Return the standard deviation of each mixture, from rows of weights, means and deviations."""
    for value in (mixture_weight_vector, mean_vector, stddev_vector):
        value.shape.assert_has_rank(2)
    mean = reduce_sum(mixture_weight_vector * mean_vector, axis=1, keepdims=True)
    spread = raw.Square(stddev_vector) + raw.Square(mean_vector)
    return raw.Sqrt(reduce_sum(mixture_weight_vector * spread, axis=1) - raw.Square(mean[:, 0]))


def pad_mixture_dimensions(
    x: Tensor, mixture_distribution: Any, categorical_distribution: Any, event_ndims: int
) -> Any:
    """Return `x`, of the categories' batch, with axes of one for what a mixture has beside it."""
    with name_scope("pad_mix_dims", values=[x]):
        missing = mixture_distribution.batch_shape.rank - categorical_distribution.batch_shape.rank
        dims = shape(x)
        inner, behind = np.ones(missing, np.int32), np.ones(event_ndims, np.int32)
        return reshape(x, concat([dims[:-1], inner, dims[-1:], behind], 0))


def pad(
    x: TensorLike,
    axis: TensorLike,
    front: bool = False,
    back: bool = False,
    value: TensorLike = 0,
    count: TensorLike = 1,
    name: str | None = None,
) -> Any:
    """Return `x` with `count` entries of `value` before and/or after it along one axis."""
    with name_scope(name, "pad", [x, value, count]):
        x = convert(x, name="x")
        value = convert(value, x.dtype, name="value")
        count = convert(count, dtypes.int32, name="count")
        if not front and not back:
            raise ValueError("At least one of `front` and `back` must be True.")
        place = convert(axis, dtypes.int32, name="axis").constant_value()
        return raw.PadV2(x, _paddings(x, axis if place is None else int(place), count, front, back), value)


def _paddings(x: Any, axis: Any, count: Any, front: bool, back: bool) -> Any:
    """Return how much to add before and after each axis."""
    ndims = x.shape.rank
    if ndims is not None and isinstance(axis, int):
        both, neither = [count if front else 0, count if back else 0], [0, 0]
        return stack([both if at == axis % ndims else neither for at in range(ndims)])
    ndims = rank(x)
    column = raw.OneHot(raw.FloorMod(convert(axis, dtypes.int32), ndims), ndims, count, convert(0, dtypes.int32))
    none = raw.ZerosLike(column)
    return raw.Pack([column if front else none, column if back else none], axis=1)


def move_dimension(x: Tensor, source_idx: int, dest_idx: int) -> Any:
    """Return `x` with one axis in another place; the other axes keep their order."""
    ndims = x.shape.rank
    if ndims is not None and all(isinstance(place, (int, np.integer)) for place in (source_idx, dest_idx)):
        order: Any = [at for at in range(ndims) if at != source_idx % ndims]
        order.insert(dest_idx % ndims, source_idx % ndims)
        return raw.Transpose(x, order)
    count = rank(x)
    source, dest = (raw.FloorMod(convert(place, dtypes.int32), count) for place in (source_idx, dest_idx))
    others = raw.Range(0, count - 1, 1)
    others = others + raw.Cast(raw.GreaterEqual(others, source), DstT=dtypes.int32)
    return raw.Transpose(x, concat([others[:dest], reshape(source, [1]), others[dest:]], 0))
