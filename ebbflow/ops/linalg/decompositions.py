"""Public functions on decompositions: eigenvalues of any matrix, LU and what is solved with it, rank, pseudo-inverse.

Compositions of the ops in `matrix_functions`, `factorizations` and `solvers`, so gradients and XLA come with those.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg.diag import eye
from ebbflow.ops.linalg.factorizations import svd
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.linalg.matrix_functions import (
    Eig,
    Lu,
    MatrixExponential,
    MatrixLogarithm,
    MatrixSquareRoot,
    permuted_rows,
)

_COMPLEX = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}


def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues and eigenvectors of square matrices; both are complex.

    >>> eig([[2., 0.], [0., 3.]])[0].numpy().tolist()
    [(2+0j), (3+0j)]
    """
    tensor = convert(tensor)
    return Eig(tensor, Tout=_COMPLEX.get(tensor.dtype, tensor.dtype), compute_v=True, name=name)


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Return the eigenvalues of square matrices, as complex numbers."""
    tensor = convert(tensor)
    return Eig(tensor, Tout=_COMPLEX.get(tensor.dtype, tensor.dtype), compute_v=False, name=name)[0]


def expm(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the exponential of square matrices.

    >>> expm([[0., 1.], [0., 0.]]).numpy().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    with name_scope(name, "matrix_exponential", [input]):
        return MatrixExponential(convert(input, name="input"))


def logm(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the logarithm of square matrices of complex numbers."""
    return MatrixLogarithm(input, name=name)


def sqrtm(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the square root of square matrices.

    >>> sqrtm([[4., 0.], [0., 9.]]).numpy().tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return MatrixSquareRoot(input, name=name)


def lu(input: TensorLike, output_idx_type: DTypeLike = dtypes.int32, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return L and U in one matrix (L's ones are not stored), and the order of rows with input[p] = L·U."""
    return Lu(input, output_idx_type=output_idx_type, name=name)


def lu_solve(
    lower_upper: TensorLike, perm: TensorLike, rhs: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Solve A·x = rhs for A given by its LU decomposition.

    >>> lu_solve(*lu([[0., 2.], [4., 0.]]), rhs=[[2.], [4.]]).numpy().tolist()
    [[1.0], [1.0]]
    """
    with name_scope(name or "lu_solve"):
        lower_upper, perm = convert(lower_upper, name="lower_upper"), convert(perm, name="perm")
        rhs = convert(rhs, dtype=lower_upper.dtype, name="rhs")
        checks = _checked(lower_upper, perm, rhs) if validate_args else lower_upper
        if perm.shape.rank == 1:
            permuted = raw.GatherV2(rhs, perm, -2)
        else:
            batch = raw.BroadcastArgs(raw.Shape(lower_upper)[:-2], raw.Shape(rhs)[:-2])
            size = raw.Shape(rhs)[-2:]
            wide_rhs = raw.BroadcastTo(rhs, raw.ConcatV2([batch, size], 0))
            permuted = permuted_rows(wide_rhs, raw.BroadcastTo(perm, raw.ConcatV2([batch, size[:1]], 0)))
        lower = _unit_lower(checks)
        return raw.MatrixTriangularSolve(checks, raw.MatrixTriangularSolve(lower, permuted, lower=True), lower=False)


def _unit_lower(lower_upper: Any) -> Any:
    return raw.MatrixSetDiag(lower_upper, raw.OnesLike(raw.MatrixDiagPart(lower_upper)))


def _checked(lower_upper: Any, perm: Any, rhs: Any) -> Any:
    for what, arg, rank in (("lower_upper", lower_upper, 2), ("rhs", rhs, 2)):
        if arg is not None and arg.shape.rank is not None and arg.shape.rank < rank:
            raise ValueError(f"`{what}` must have at least {rank} dimensions, but has {arg.shape.rank}")
    if None not in (lower_upper.shape.rank, perm.shape.rank) and lower_upper.shape.rank != perm.shape.rank + 1:
        raise ValueError("`lower_upper` rank should be one more than `perm`'s")
    if lower_upper.shape.rank is not None and lower_upper.shape[-1] != lower_upper.shape[-2]:
        raise ValueError(f"`lower_upper` must be square, but its shape is {lower_upper.shape}")
    return lower_upper


def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Return the inverse of matrices given by their LU decomposition."""
    with name_scope(name or "lu_matrix_inverse"):
        lower_upper = convert(lower_upper, name="lower_upper")
        size = raw.Shape(lower_upper)
        identity = eye(size[-1], batch_shape=size[:-2], dtype=lower_upper.dtype)
        return lu_solve(lower_upper, perm, identity, validate_args)


def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Return the matrices whose LU decomposition is given."""
    with name_scope(name or "lu_reconstruct"):
        lower_upper, perm = convert(lower_upper, name="lower_upper"), convert(perm, name="perm")
        if validate_args:
            _checked(lower_upper, perm, None)
        product = matmul(raw.MatrixBandPart(_unit_lower(lower_upper), -1, 0), raw.MatrixBandPart(lower_upper, 0, -1))
        result = permuted_rows(product, perm, back=True)
        result.set_shape(lower_upper.shape)
        return result


def matrix_rank(
    a: TensorLike, tol: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Return how many singular values of each matrix are larger than `tol`.

    >>> int(matrix_rank([[1., 2.], [2., 4.]]))
    1
    """
    with name_scope(name or "matrix_rank"):
        a = _matrices(a, "a")
        values = svd(a, compute_uv=False)
        if tol is None:
            size = raw.Cast(raw.Max(raw.Shape(a)[-2:], 0), DstT=values.dtype)
            largest = raw.Max(values, -1, keep_dims=True)
            tol = np.finfo(values.dtype.as_numpy_dtype).eps * size * largest
        return raw.Sum(raw.Cast(values > tol, DstT=dtypes.int32), -1)


def _matrices(a: Any, name: str) -> Tensor:
    a = convert(a, name=name)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        raise TypeError(f"Input `{name}` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.shape.rank is not None and a.shape.rank < 2:
        raise ValueError(f"Input `{name}` must have at least 2 dimensions (saw: {a.shape.rank}).")
    return a


def pinv(
    a: TensorLike, rcond: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Return the pseudo-inverse of matrices; singular values up to `rcond` times the largest count as zero.

    >>> pinv([[2., 0.], [0., 0.]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    with name_scope(name or "pinv"):
        a = _matrices(a, "a")
        real = a.dtype.real_dtype
        if rcond is None:
            size = raw.Cast(raw.Max(raw.Shape(a)[-2:], 0), DstT=real)
            rcond = 10.0 * np.finfo(a.dtype.as_numpy_dtype).eps * size
        rcond = convert(rcond, dtype=real, name="rcond")
        values, left, right = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * raw.Max(values, -1)
        inverse = raw.SelectV2(values > raw.ExpandDims(cutoff, -1), raw.Reciprocal(values), raw.ZerosLike(values))
        scaled = right * raw.Cast(raw.ExpandDims(inverse, -2), DstT=right.dtype)
        result = matmul(scaled, left, adjoint_b=True)
        if a.shape.rank is not None:
            result.set_shape([*a.shape[:-2], a.shape[-1], a.shape[-2]])
        return result
