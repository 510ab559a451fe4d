"""Norms of vectors and matrices, scaling to them, and how much of a tensor is zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.ops.arrays.creation import identity
from ebbflow.ops.arrays.shaping import expand_dims, size, squeeze, transpose
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise import binary as math_ops
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.complex_numbers import complex as complex_of
from ebbflow.ops.elementwise.complex_numbers import conj, imag, real
from ebbflow.ops.elementwise.unary import abs, rsqrt, sqrt, square
from ebbflow.ops.linalg.factorizations import svd
from ebbflow.ops.reduce.reductions import one_of, reduce_max, reduce_sum

_MATRIX_NORMS = ("euclidean", "fro", 1, 2, np.inf)


def norm(
    tensor: TensorLike,
    ord: str | float = "euclidean",
    axis: Axis = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the norm of vectors (one axis, or all elements) or of matrices (two axes).

    >>> norm([3., 4.]).numpy()
    np.float32(5.0)
    """
    keepdims = bool(keepdims)
    axis, is_matrix = _norm_axes(axis)
    _check_order(ord, is_matrix)
    with name_scope(name, "norm", [tensor]):
        tensor = convert(tensor)
        if ord in ("fro", "euclidean", 2, 2.0):
            if is_matrix and ord in (2, 2.0):
                result = _largest_singular_value(tensor, axis)
            else:
                result = sqrt(reduce_sum(tensor * conj(tensor), axis, keepdims=True))
        else:
            result = _other_norm(abs(tensor), ord, axis, is_matrix)
        return result if keepdims else squeeze(result, axis)


def norm_v1(
    tensor: TensorLike,
    ord: str | float = "euclidean",
    axis: Axis = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Return the norm of vectors (one axis, or all elements) or of matrices (two axes)."""
    return norm(tensor, ord, axis, one_of("keepdims", keepdims, "keep_dims", keep_dims), name)


def _norm_axes(axis: Any) -> tuple[Any, bool]:
    if not isinstance(axis, (tuple, list)):
        return axis, False
    whole = all(isinstance(one, (int, np.integer, Tensor)) for one in axis)
    if len(axis) != 2 or not whole or axis[0] == axis[1]:
        raise ValueError(
            f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
            if len(axis) == 2
            else f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis} of length {len(axis)}"
        )
    return axis, True


def _check_order(order: Any, is_matrix: bool) -> None:
    if is_matrix:
        if order not in _MATRIX_NORMS:
            raise ValueError(f"'ord' must be a supported matrix norm in {list(_MATRIX_NORMS)}, got {order}")
    elif order != "euclidean" and (isinstance(order, str) or order <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {order}")


def _other_norm(size_of: Any, order: Any, axis: Any, is_matrix: bool) -> Any:
    """Norms of absolute values: 1, infinity, or any power."""
    if order == 1:
        result = reduce_sum(size_of, axis[0] if is_matrix else axis, keepdims=True)
        return reduce_max(result, axis[-1], keepdims=True) if is_matrix else result
    if order == np.inf:
        if is_matrix:
            size_of = reduce_sum(size_of, axis[1], keepdims=True)
        return reduce_max(size_of, axis[0] if is_matrix else axis, keepdims=True)
    return math_ops.pow(reduce_sum(math_ops.pow(size_of, order), axis, keepdims=True), 1.0 / order)


def _largest_singular_value(x: Any, axis: Any) -> Any:
    if x._dims is None:
        return _largest_of_unknown_rank(x, axis)
    rank = len(x._dims)
    axes = [int(a) % rank for a in axis]
    order = [i for i in range(rank) if i not in axes] + axes
    values = reduce_max(svd(transpose(x, order), compute_uv=False), axis=-1, keepdims=True)
    return transpose(expand_dims(values, -1), np.argsort(order).tolist())


def _largest_of_unknown_rank(x: Any, axis: Any) -> Any:
    """Return the largest singular values where the number of axes is known in the run only: these axes go last."""
    rank = raw.Rank(x)
    axes = raw.FloorMod(convert([int(a) for a in axis], dtypes.int32) + rank, rank)
    others = raw.ListDiff(raw.Range(0, rank, 1), axes)[0]
    order = raw.ConcatV2([others, axes], 0)
    values = reduce_max(svd(raw.Transpose(x, order), compute_uv=False), axis=-1, keepdims=True)
    return raw.Transpose(expand_dims(values, -1), raw.InvertPermutation(order))


def normalize(
    tensor: TensorLike, ord: str | float = "euclidean", axis: Axis = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return the tensor divided by its norm, and the norm.

    >>> normalize([3., 4.])[0].numpy().tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    with name_scope(name, "normalize", [tensor]):
        tensor = convert(tensor)
        length = norm(tensor, ord, axis, keepdims=True)
        length = cast(length, tensor.dtype)
        return tensor / length, length


def l2_normalize(
    x: TensorLike, axis: Axis = None, epsilon: TensorLike = 1e-12, name: str | None = None, dim: Axis = None
) -> Tensor:
    """Return `x` scaled to length one along `axis`; vectors shorter than √epsilon only that far.

    >>> [round(float(v), 4) for v in l2_normalize([3., 4.])]
    [0.6, 0.8]
    """
    axis = one_of("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert(x, None, None, "x")
        if x.dtype.is_complex:
            total = reduce_sum(square(real(x)) + square(imag(x)), axis, keepdims=True)
            inverse = rsqrt(math_ops.maximum(total, epsilon))
            parts = math_ops.multiply(real(x), inverse), math_ops.multiply(imag(x), inverse)
            return complex_of(*parts, name=scope or None)
        total = reduce_sum(square(x), axis, keepdims=True)
        return math_ops.multiply(x, rsqrt(math_ops.maximum(total, epsilon)), name=scope or None)


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """Return how much of `value` is zero, between 0 and 1.

    >>> zero_fraction([0., 1., 0., 0.]).numpy()
    np.float32(0.75)
    """
    with name_scope(name, "zero_fraction", [value]):
        value = convert(value, None, None, "value")
        count = size(value, out_type=dtypes.int64)
        with name_scope("count_nonzero"):
            other = raw.NotEqual(value, convert(np.zeros((), value.dtype.np), None, None, "zeros"))
            nonzero = reduce_sum(cast(other, dtypes.int64), name="nonzero_count")
        with name_scope("counts_to_fraction"):
            fraction = cast(count - nonzero, dtypes.float32) / cast(count, dtypes.float32)
        return identity(fraction, "fraction")
