"""NumPy's sums, means, extremes and products of arrays: along axes, running, of two arrays."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Array, Axis, DTypeLike
from ebbflow.ops.arrays import argmax as places
from ebbflow.ops.arrays import shaping
from ebbflow.ops.arrays.creation import ones_like, zeros_like
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where as choose
from ebbflow.ops.linalg import einsum as sums_of_products
from ebbflow.ops.linalg import matmul as products
from ebbflow.ops.numpy.arrays import _type, moveaxis, ravel
from ebbflow.ops.numpy.elementwise import isclose, truth_of
from ebbflow.ops.numpy.promotion import ArrayLike, inexact, tensor, together
from ebbflow.ops.reduce import reductions, scan
from ebbflow.ops.sizes import invalid
from ebbflow.ops.weak.promotion import is_auto_dtype_conversion_enabled

_NARROW = {dtypes.bool: dtypes.int64, dtypes.int8: dtypes.int64, dtypes.int16: dtypes.int64, dtypes.int32: dtypes.int64,
           dtypes.uint8: dtypes.uint64, dtypes.uint16: dtypes.uint64, dtypes.uint32: dtypes.uint64}  # fmt: skip
_HALF_AS_NARROW = {dtypes.bool: dtypes.int32, dtypes.int8: dtypes.int32, dtypes.int16: dtypes.int32,
                   dtypes.uint8: dtypes.uint32, dtypes.uint16: dtypes.uint32}  # fmt: skip


def _wide(a: Any, dtype: Any) -> Any:
    """Return `a` in the dtype asked for, else whole numbers in 64 bits: sums have room that way."""
    x = tensor(a)
    room = _HALF_AS_NARROW if is_auto_dtype_conversion_enabled() else _NARROW
    wanted = _type(dtype) or room.get(x.dtype.base_dtype, x.dtype)
    return x if x.dtype == wanted else cast(x, wanted)


def sum(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool | None = None
) -> Tensor:  # fmt: skip
    """Return the sum along some axes, or of all."""
    return reductions.reduce_sum(_wide(a, dtype), axis, bool(keepdims))


def prod(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool | None = None
) -> Tensor:  # fmt: skip
    """Return the product along some axes, or of all."""
    return reductions.reduce_prod(_wide(a, dtype), axis, bool(keepdims))


def mean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Return the mean along some axes, or of all."""
    if out is not None:
        raise ValueError("Setting out is not supported.")
    x = tensor(a) if dtype is not None else inexact(a)
    return reductions.reduce_mean(x if dtype is None else cast(x, _type(dtype)), axis, bool(keepdims))


def var(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: Array | None = None, ddof: int = 0,
    keepdims: bool | None = None,
) -> Tensor:  # fmt: skip
    """Return the variance along some axes, or of all, over `n - ddof`."""
    if out is not None:
        raise ValueError("Setting out is not supported.")
    x = inexact(a)
    x = x if dtype is None else cast(x, _type(dtype))
    centred = x - reductions.reduce_mean(x, axis, True)
    squares = raw.Square(raw.ComplexAbs(centred, Tout=x.dtype.real_dtype) if x.dtype.is_complex else centred)
    if not ddof:
        return reductions.reduce_mean(squares, axis, bool(keepdims))
    total = reductions.reduce_sum(squares, axis, bool(keepdims))
    count = reductions.reduce_sum(ones_like(squares), axis, bool(keepdims))
    return total / (count - ddof)


def std(a: ArrayLike, axis: Axis = None, keepdims: bool | None = None) -> Tensor:
    """Return the standard deviation along some axes, or of all."""
    return raw.Sqrt(var(a, axis, keepdims=keepdims))


def max(a: ArrayLike, axis: Axis = None, keepdims: bool | None = None) -> Tensor:
    """Return the largest along some axes, or of all."""
    x = tensor(a)
    if x.dtype == dtypes.bool:
        return reductions.reduce_any(x, axis, bool(keepdims))
    return reductions.reduce_max(x, axis, bool(keepdims))


def min(a: ArrayLike, axis: Axis = None, keepdims: bool | None = None) -> Tensor:
    """Return the smallest along some axes, or of all."""
    x = tensor(a)
    if x.dtype == dtypes.bool:
        return reductions.reduce_all(x, axis, bool(keepdims))
    return reductions.reduce_min(x, axis, bool(keepdims))


def amax(a: ArrayLike, axis: Axis = None, out: Array | None = None, keepdims: bool | None = None) -> Tensor:
    """Return the largest along some axes, or of all."""
    return max(a, axis, keepdims)


def amin(a: ArrayLike, axis: Axis = None, out: Array | None = None, keepdims: bool | None = None) -> Tensor:
    """Return the smallest along some axes, or of all."""
    return min(a, axis, keepdims)


def ptp(a: ArrayLike, axis: Axis = None, keepdims: bool | None = None) -> Tensor:
    """Return how far apart the largest and the smallest are."""
    return max(a, axis, keepdims) - min(a, axis, keepdims)


def all(a: ArrayLike, axis: Axis = None, keepdims: bool | None = None) -> Tensor:
    """Return whether none is zero."""
    return reductions.reduce_all(truth_of(a), axis, bool(keepdims))


def any(a: ArrayLike, axis: Axis = None, keepdims: bool | None = None) -> Tensor:
    """Return whether any is not zero."""
    return reductions.reduce_any(truth_of(a), axis, bool(keepdims))


def count_nonzero(a: ArrayLike, axis: Axis = None) -> Tensor:
    """Return how many are not zero."""
    return reductions.reduce_sum(cast(truth_of(a), dtypes.int64), axis)


def _without_nan(a: Any, value: float) -> Any:
    x = tensor(a)
    return choose(raw.IsNan(x), zeros_like(x) + value, x) if x.dtype.is_floating else x


def nansum(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Tensor:
    """Return the sum of what is no NaN."""
    return sum(_without_nan(a, 0.0), axis, dtype, keepdims)


def nanprod(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Tensor:
    """Return the product of what is no NaN."""
    return prod(_without_nan(a, 1.0), axis, dtype, keepdims)


def nanmean(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool | None = None) -> Tensor:
    """Return the mean of what is no NaN."""
    x = inexact(a)
    x = x if dtype is None else cast(x, _type(dtype))
    counted = cast(raw.LogicalNot(raw.IsNan(x)), x.dtype)
    total = reductions.reduce_sum(_without_nan(x, 0.0), axis, bool(keepdims))
    return total / reductions.reduce_sum(counted, axis, bool(keepdims))


def average(a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, returned: bool = False) -> AnyTensor:
    """Return the mean, each entry weighing what `weights` say; with the sum of these where that is asked for."""
    x = inexact(a)
    if weights is None:
        answer = reductions.reduce_mean(x, axis)
        count = reductions.reduce_sum(ones_like(x), axis)
        return (answer, count) if returned else answer
    x, w = together(x, weights)
    if w.shape.rank == 1 and x.shape.rank != 1:
        if axis is None:
            raise ValueError("If `weights` and `a` have different shapes, `axis` must be given")
        rank, length = x.shape.rank, x.shape[int(np.asarray(axis))]
        if length is not None and w.shape[0] not in (None, length):
            raise invalid(f"weights has length {w.shape[0]}, which is not that of axis {axis} of a, {length}")
        w = shaping.reshape(w, [-1 if i == int(np.asarray(axis)) % rank else 1 for i in range(rank)])
    elif not w.shape.is_compatible_with(x.shape):
        raise invalid(f"weights of shape {w.shape} are neither of a's shape, {x.shape}, nor a vector")
    w = w + zeros_like(x)
    total = reductions.reduce_sum(w, axis)
    answer = reductions.reduce_sum(x * w, axis) / total
    return (answer, total) if returned else answer


def _one_axis(x: Any, axis: int | None) -> tuple[Any, int]:
    """Return a tensor and the axis to look along: flat where none is named, and a number is a vector of one."""
    if axis is None:
        return ravel(x), 0
    return (raw.Reshape(x, [1]) if x.shape.rank == 0 else x), axis


def argmax(a: ArrayLike, axis: int | None = None) -> Tensor:
    """Return where the largest is."""
    x = tensor(a)
    x = cast(x, dtypes.int32) if x.dtype == dtypes.bool else x
    return places.argmax(*_one_axis(x, axis))


def argmin(a: ArrayLike, axis: int | None = None) -> Tensor:
    """Return where the smallest is."""
    x = tensor(a)
    x = cast(x, dtypes.int32) if x.dtype == dtypes.bool else x
    return places.argmin(*_one_axis(x, axis))


def cumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Return running sums."""
    x = _wide(a, dtype)
    return scan.cumsum(ravel(x), 0) if axis is None else scan.cumsum(x, axis)


def cumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Return running products."""
    x = _wide(a, dtype)
    return scan.cumprod(ravel(x), 0) if axis is None else scan.cumprod(x, axis)


def diff(a: ArrayLike, n: int = 1, axis: int = -1) -> Tensor:
    """Return the differences of neighbours, n times over."""
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    x = moveaxis(a, axis, -1)
    for _ in range(n):
        x = raw.NotEqual(x[..., 1:], x[..., :-1]) if x.dtype == dtypes.bool else x[..., 1:] - x[..., :-1]
    return moveaxis(x, -1, axis)


# --- of two -----------------------------------------------------------------------------------------------------------


def matmul(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Return the product of matrices; of vectors and matrices too."""
    x, y = together(x1, x2)
    if 0 in (x.shape.rank, y.shape.rank):
        raise ValueError("matmul: input operands must have at least one axis")
    first, second = x.shape.rank == 1, y.shape.rank == 1
    x, y = (x[None, :] if first else x), (y[:, None] if second else y)
    answer = products.matmul(x, y)
    answer = answer[..., 0] if second else answer
    return answer[..., 0, :] if first and not second else answer[..., 0] if first else answer


def dot(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Return the sums of products over a's last axis and b's last but one."""
    x, y = together(a, b)
    if 0 in (x.shape.rank, y.shape.rank):
        return x * y
    axis = 0 if y.shape.rank == 1 else y.shape.rank - 2
    return tensordot(x, y, [[x.shape.rank - 1], [axis]])


def inner(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Return the sums of products over the last axes."""
    x, y = together(a, b)
    if 0 in (x.shape.rank, y.shape.rank):
        return x * y
    return tensordot(x, y, [[x.shape.rank - 1], [y.shape.rank - 1]])


def outer(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Return all products of an entry of a with one of b."""
    x, y = together(a, b)
    return ravel(x)[:, None] * ravel(y)[None, :]


def vdot(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Return the sum of products of all entries, a's conjugated."""
    x, y = together(a, b)
    x = raw.Conj(x) if x.dtype.is_complex else x
    return dot(ravel(x), ravel(y))


def tensordot(a: ArrayLike, b: ArrayLike, axes: Axis = 2) -> Tensor:
    """Return the sums of products over pairs of axes."""
    x, y = together(a, b)
    return sums_of_products.tensordot(x, y, axes)


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Tensor:
    """Return the sums of products that the subscripts say."""
    kwargs.pop("casting", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise ValueError(f"einsum: unknown arguments {sorted(kwargs)}")
    return sums_of_products.einsum(subscripts, *together(*operands))


def kron(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Return `b` multiplied by each entry of `a`, side by side."""
    x, y = together(a, b)
    rank = builtins.max(x.shape.rank, y.shape.rank)
    dims = [[1] * (rank - t.shape.rank) + t.shape.as_list() for t in (x, y)]
    x = shaping.reshape(x, [n for pair in zip(dims[0], [1] * rank, strict=True) for n in pair])
    y = shaping.reshape(y, [n for pair in zip([1] * rank, dims[1], strict=True) for n in pair])
    return shaping.reshape(x * y, [m * n for m, n in zip(*dims, strict=True)])


def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:  # fmt: skip
    """Return the vectors at right angles to both."""
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    x, y = together(a, b)
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ValueError("Incompatible dimensions for cross product (dimension must be 2 or 3)")
    flat = x.shape[-1] == y.shape[-1] == 2
    (x0, x1, x2), (y0, y1, y2) = _three(x), _three(y)
    last = x0 * y1 - x1 * y0
    if flat:
        return last
    parts = [x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, last]
    return moveaxis(raw.Pack(parts, axis=-1), -1, axisc)


def _three(x: Any) -> tuple[Any, Any, Any]:
    return x[..., 0], x[..., 1], x[..., 2] if x.shape[-1] == 3 else zeros_like(x[..., 0])


def allclose(
    a: ArrayLike, b: ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:  # fmt: skip
    """Return whether all of a are close to b."""
    return all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    """Return whether both have the same shape and entries."""
    x, y = together(a1, a2)
    if not x.shape.is_compatible_with(y.shape):
        return convert(False)
    return all(raw.Equal(x, y))
