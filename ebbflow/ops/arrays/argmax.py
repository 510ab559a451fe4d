"""Where the largest and the smallest stand along an axis. A NaN is never chosen; of equals, the first is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, DTypeLike, TensorLike
from ebbflow.ops.declare import FLAT, raw, show
from ebbflow.ops.nn.row_loops import largest_places, rank_of
from ebbflow.ops.reduce.reductions import ORDERED, highest, lowest, one_of

ArgMax = op(
    f"ArgMax(input:T, dimension:Tidx) -> (output:output_type) | T: type in [{ORDERED},bool]; "
    "Tidx: type in [int16,int32,int64] = int32; output_type: type in [int16,uint16,int32,int64] = int64",
    gradient=FLAT,
    checks_first=True,
    facts="fresh portable known=dimension",
)
ArgMin = op(
    f"ArgMin(input:T, dimension:Tidx) -> (output:output_type) | T: type in [{ORDERED},bool]; "
    "Tidx: index = int32; output_type: index = int64",
    gradient=FLAT,
    checks_first=True,
    facts="portable known=dimension",
)


@ArgMin.shape
@ArgMax.shape
def _without_one(input: Known, dimension: Known) -> Dims:
    if dimension.dims not in (None, ()):
        raise errors.StaticShapeError(f"dim must be a scalar, but received tensor of shape: {show(dimension.dims)}")
    if input.dims is None:
        return None
    rank = len(input.dims)
    if dimension.value is None:
        return () if rank <= 1 else (None,) * (rank - 1)
    axis = int(dimension.value)
    if not -rank <= axis < rank:
        raise errors.StaticShapeError(f"Expected dimension in the range [{-rank}, {rank}), but got {axis}")
    axis %= rank
    if input.dims[axis] == 0:
        raise errors.StaticShapeError(f"Reduction axis {axis} is empty in shape {show(input.dims)}")
    return input.dims[:axis] + input.dims[axis + 1 :]


_NAN_LAST = rank_of(lowest(np.dtype(np.float32)), 0)
"""A NaN counts as the lowest number."""


@ArgMax.kernel
def _(xp, input, dimension, *, output_type):
    if xp is np and int(dimension) in (-1, input.ndim - 1):
        quick = largest_places(input, _NAN_LAST)
        if quick is not None:
            return quick[0].astype(output_type.np, copy=False)
    return xp.argmax(_without_nan(xp, input, lowest), axis=int(dimension)).astype(output_type.np)


@ArgMin.kernel
def _(xp, input, dimension, *, output_type):
    return xp.argmin(_without_nan(xp, input, highest), axis=int(dimension)).astype(output_type.np)


def _without_nan(xp: Any, x: Any, never_chosen: Any) -> Any:
    if x.dtype.names:  # a quantised type is a record of one field
        return x[x.dtype.names[0]]
    if x.dtype.kind in "biu":
        return x
    missing = xp.isnan(x)
    if xp is np and not missing.any():
        return x
    return xp.where(missing, never_chosen(x.dtype), x)


def _axis(axis: Any) -> Any:
    """Return an axis in a type that the op takes; every integer will do."""
    if axis is None:
        return 0
    dtype = getattr(axis, "dtype", None)
    if dtype is None or (kind := as_dtype(dtype)) in (dtypes.int32, dtypes.int64) or not kind.is_integer:
        return axis
    return raw.Cast(axis, DstT=dtypes.int64)


def argmax(
    input: TensorLike, axis: Axis = None, output_type: DTypeLike = dtypes.int64, name: str | None = None
) -> Tensor:
    """Return the index of the largest along `axis` (the first axis where it is None).

    >>> argmax([[1, 9, 3], [4, 5, 6]], axis=1).numpy().tolist()
    [1, 2]
    """
    return ArgMax(input, _axis(axis), output_type=as_dtype(output_type), name=name or "ArgMax")


def argmin(
    input: TensorLike, axis: Axis = None, output_type: DTypeLike = dtypes.int64, name: str | None = None
) -> Tensor:
    """Return the index of the smallest along `axis` (the first axis where it is None).

    >>> argmin([[1, 9, 3], [4, 5, 6]], axis=1).numpy().tolist()
    [0, 0]
    """
    return ArgMin(input, _axis(axis), output_type=as_dtype(output_type), name=name or "ArgMin")


def argmax_v1(
    input: TensorLike,
    axis: Axis = None,
    name: str | None = None,
    dimension: Axis = None,
    output_type: DTypeLike = dtypes.int64,
) -> Tensor:
    """`argmax` with TensorFlow 1's arguments."""
    return argmax(input, one_of("axis", axis, "dimension", dimension), output_type, name)


def argmin_v1(
    input: TensorLike,
    axis: Axis = None,
    name: str | None = None,
    dimension: Axis = None,
    output_type: DTypeLike = dtypes.int64,
) -> Tensor:
    """`argmin` with TensorFlow 1's arguments."""
    return argmin(input, one_of("axis", axis, "dimension", dimension), output_type, name)


def arg_max(
    input: TensorLike, dimension: Axis, output_type: DTypeLike = dtypes.int64, name: str | None = None
) -> Tensor:
    """`argmax` under its oldest name."""
    return argmax(input, dimension, output_type, name)


def arg_min(
    input: TensorLike, dimension: Axis, output_type: DTypeLike = dtypes.int64, name: str | None = None
) -> Tensor:
    """`argmin` under its oldest name."""
    return argmin(input, dimension, output_type, name)
