"""Linear algebra: inverses, determinants, solvers. The factorisations are in `factor`.

Kernels are LAPACK's through NumPy, over batches; halves are computed in float32. A matrix that cannot be inverted is
refused, in TensorFlow's words.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.ops.arrays.shaping import matrix_transpose
from ebbflow.ops.declare import raw, show
from ebbflow.ops.elementwise import complex_numbers, unary
from ebbflow.ops.linalg.direct import sound
from ebbflow.ops.linalg.matmul import diagonal, swap, unbroadcast
from ebbflow.ops.reduce import reductions
from ebbflow.ops.shape_rules import agreed, broadcast_batches, equal_length, ranked, ranked_at_least
from ebbflow.ops.sizes import invalid
from ebbflow.platform import blas

LAPACK = "double,float,half,complex64,complex128"


def square_dims(arg):
    """Return the dims of a batch of square matrices."""
    dims = ranked_at_least(arg, 2)
    if dims is None:
        return None
    side = equal_length(dims[-2], dims[-1])
    return (*dims[:-2], side, side)


def wide(x):
    """Return an array in the precision LAPACK works in."""
    return x.astype(np.float32) if x.dtype.char not in "fdFD" else x


def check_square(x, what="Input matrix must be square."):
    """Refuse what is no batch of square matrices."""
    if x.ndim < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {x.ndim}")
    if x.shape[-1] != x.shape[-2]:
        raise invalid(f"{what} Got shape {show(x.shape)}")


def dagger(x):
    """Return the conjugate transpose of an array of matrices."""
    return swap(x.conj() if x.dtype.kind == "c" else x)


def times(a, b, adjoint_a=False, adjoint_b=False):
    """Return the product of two tensors of matrices."""
    return raw.BatchMatMulV2(a, b, adj_x=adjoint_a, adj_y=adjoint_b)


# --- inverse and determinant ------------------------------------------------------------------------------------------

MatrixInverse = op(
    f"MatrixInverse(input:T) -> (output:T) | adjoint: bool = false; T: type in [{LAPACK}]",
    shape=square_dims,
    facts="one_core=110 matrices portable",
)


@MatrixInverse.kernel
@blas.calm
def _(xp, input, *, adjoint):
    check_square(input)
    try:
        inverse = xp.linalg.inv(wide(input))
    except np.linalg.LinAlgError:
        raise invalid("Input is not invertible.") from None
    return (dagger(inverse) if adjoint else inverse).astype(input.dtype)


@MatrixInverse.gradient
def _(call, grad):
    inverse = call.output
    if call.adjoint:
        return -times(inverse, times(grad, inverse, adjoint_a=True))
    return -times(inverse, times(grad, inverse, adjoint_b=True), adjoint_a=True)


MatrixDeterminant = op(
    "MatrixDeterminant(input:T) -> (output:T) | T: type in [half,float,double,complex64,complex128]", facts="portable"
)


@MatrixDeterminant.shape
def _(input):
    dims = square_dims(input)
    return None if dims is None else dims[:-2]


@MatrixDeterminant.kernel
@blas.calm
def _(xp, input):
    check_square(input)
    if xp is np and sound(input):
        return np.asarray(np.linalg.det(wide(input)), input.dtype)
    with np.errstate(invalid="ignore"):
        found = xp.linalg.det(wide(input))
    return xp.asarray(_nan_with(xp, input, found), input.dtype)


def _nan_with(xp, matrix, found):
    """Return what was found of each matrix, not a number where the matrix holds one that is none: LAPACK says 0."""
    return xp.where(xp.isnan(matrix).any((-2, -1)), xp.nan, found) if matrix.size else found


@MatrixDeterminant.gradient
def _(call, grad):
    return _per_matrix(grad * call.output) * raw.MatrixInverse(call.input, adjoint=True)


def _per_matrix(x):
    """Give every scalar of `x` two more axes, to be multiplied with a matrix."""
    return raw.ExpandDims(raw.ExpandDims(x, -1), -1)


LogMatrixDeterminant = op(
    "LogMatrixDeterminant(input:T) -> (sign:T, log_abs_determinant:T) | "
    "T: type in [half,float,double,complex64,complex128]",
    facts="portable",
)


@LogMatrixDeterminant.shape
def _(input):
    dims = square_dims(input)
    return [None if dims is None else dims[:-2]] * 2


@LogMatrixDeterminant.kernel
@blas.calm
def _(xp, input):
    check_square(input)
    if xp is np and sound(input):
        sign, logarithm = np.linalg.slogdet(wide(input))
        return np.asarray(sign, input.dtype), np.asarray(logarithm, input.dtype)
    with np.errstate(invalid="ignore"):
        sign, logarithm = xp.linalg.slogdet(wide(input))
    logarithm = _nan_with(xp, input, logarithm)
    sign = xp.where(xp.isnan(logarithm), xp.nan, sign)
    return xp.asarray(sign, input.dtype), xp.asarray(logarithm, input.dtype)


@LogMatrixDeterminant.gradient
def _(call, grad_sign, grad_log):
    return _per_matrix(grad_log) * raw.MatrixInverse(call.input, adjoint=True)


# --- solvers ----------------------------------------------------------------------------------------------------------

MatrixSolve = op(
    f"MatrixSolve(matrix:T, rhs:T) -> (output:T) | adjoint: bool = false; T: type in [{LAPACK}]", facts="portable"
)


@MatrixSolve.shape
def _(matrix, rhs):
    dims, columns = square_dims(matrix), ranked_at_least(rhs, 2)
    if dims is None or columns is None:
        return None
    lead = agreed(dims[:-2], columns[:-2])
    return (*lead, equal_length(dims[-1], columns[-2]), columns[-1])


@MatrixSolve.kernel
@blas.calm
def _(xp, matrix, rhs, *, adjoint):
    check_square(matrix, "First input (lhs) must be a square matrix.")
    _check_rhs(matrix, rhs, matrix.shape[-2])
    left = dagger(matrix) if adjoint else matrix
    try:
        return xp.linalg.solve(wide(left), wide(rhs)).astype(rhs.dtype)
    except np.linalg.LinAlgError:
        raise invalid("Input matrix is not invertible.") from None


def _check_rhs(matrix, rhs, rows):
    if rhs.ndim < 2 or matrix.shape[:-2] != rhs.shape[:-2] or rhs.shape[-2] != rows:
        raise invalid(f"Input matrix and rhs are incompatible. Got {show(matrix.shape)} and {show(rhs.shape)}")


@MatrixSolve.gradient
def _(call, grad):
    solved = raw.MatrixSolve(call.matrix, grad, adjoint=not call.adjoint)
    if not call.wants(0):
        return None, solved
    left, right = (call.output, solved) if call.adjoint else (solved, call.output)
    return -times(left, right, adjoint_b=True), solved


MatrixTriangularSolve = op(
    "MatrixTriangularSolve(matrix:T, rhs:T) -> (output:T) | lower: bool = true; adjoint: bool = false; "
    f"T: type in [bfloat16,{LAPACK}]"
)


@MatrixTriangularSolve.shape
def _(matrix, rhs):
    dims, columns = square_dims(matrix), ranked_at_least(rhs, 2)
    if dims is None or columns is None:
        return None
    lead = broadcast_batches(dims[:-2], columns[:-2])
    return (*lead, equal_length(dims[-1], columns[-2]), columns[-1])


@MatrixTriangularSolve.kernel
@blas.calm
def _(xp, matrix, rhs, *, lower, adjoint):
    check_square(matrix)
    if rhs.ndim < 2 or rhs.shape[-2] != matrix.shape[-1]:
        raise invalid(
            f"In[0] mismatch In[1] shape: {matrix.shape[-1]} vs. {rhs.shape[-2] if rhs.ndim > 1 else rhs.shape}: "
            f"{show(matrix.shape)} {show(rhs.shape)}"
        )
    if matrix.ndim == rhs.ndim == 2 and matrix.shape[0] > 1 and rhs.size:
        return _solve_one(wide(matrix), wide(rhs), lower, adjoint).astype(rhs.dtype, copy=False)
    left = dagger(matrix) if adjoint else matrix
    solve = _solve_lower if lower != adjoint else _solve_upper
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return solve(wide(left), wide(rhs)).astype(rhs.dtype)


_BLOCK = 16  # sides up to this are solved row by row, larger ones split in two with a matrix product between


def _solve_one(a: np.ndarray, b: np.ndarray, lower: bool, adjoint: bool) -> np.ndarray:
    """Return the solution of one system. To BLAS, rows are columns: x'·a' = b', of which a' has the other triangle."""
    import scipy.linalg.blas  # on use: heavy

    (solve,) = scipy.linalg.blas.get_blas_funcs(("trsm",), (a, b))
    solved: np.ndarray = solve(1, a.T, b.T, side=1, lower=not lower, trans_a=2 if adjoint else 0).T
    return solved


def _solve_lower(a, b):
    n = a.shape[-1]
    if n > _BLOCK:
        h = n // 2
        top = _solve_lower(a[..., :h, :h], b[..., :h, :])
        bottom = _solve_lower(a[..., h:, h:], b[..., h:, :] - np.matmul(a[..., h:, :h], top))
        return np.concatenate([top, bottom], axis=-2)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.empty((*lead, n, b.shape[-1]), b.dtype)
    for i in range(n):
        known = np.matmul(a[..., i : i + 1, :i], x[..., :i, :])
        x[..., i : i + 1, :] = (b[..., i : i + 1, :] - known) / a[..., i : i + 1, i : i + 1]
    return x


def _solve_upper(a, b):
    """An upper triangle is a lower one read from the other end."""
    return _solve_lower(a[..., ::-1, ::-1], b[..., ::-1, :])[..., ::-1, :]


@MatrixTriangularSolve.gradient
def _(call, grad):
    matrix, lower, flipped = call.matrix, call.lower, call.adjoint
    solved = raw.MatrixTriangularSolve(matrix, grad, lower=lower, adjoint=not flipped)
    left, right = (call.output, solved) if flipped else (solved, call.output)
    whole = -times(left, right, adjoint_b=True)
    triangle = raw.MatrixBandPart(whole, -1, 0) if lower else raw.MatrixBandPart(whole, 0, -1)
    return unbroadcast(triangle, matrix, call.rhs), unbroadcast(solved, call.rhs, matrix)


MatrixSolveLs = op(
    f"MatrixSolveLs(matrix:T, rhs:T, l2_regularizer:double) -> (output:T) | T: type in [{LAPACK}]; fast: bool = true"
)


@MatrixSolveLs.shape
def _(matrix, rhs, l2_regularizer):
    ranked(l2_regularizer, 0)
    dims, columns = ranked_at_least(matrix, 2), ranked_at_least(rhs, 2)
    if dims is None or columns is None:
        return None
    equal_length(dims[-2], columns[-2])
    return (*agreed(dims[:-2], columns[:-2]), dims[-1], columns[-1])


@MatrixSolveLs.kernel
@blas.calm
def _(xp, matrix, rhs, l2_regularizer, *, fast):
    if matrix.ndim < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {matrix.ndim}")
    _check_rhs(matrix, rhs, matrix.shape[-2])
    if l2_regularizer.ndim:
        raise invalid(f"l2_regularizer must be a scalar, got shape {show(l2_regularizer.shape)}")
    penalty = float(l2_regularizer)
    if not penalty >= 0:
        raise invalid("l2_regularizer must be >= 0.")
    a, b = wide(matrix), wide(rhs)
    if not fast:
        return np.matmul(np.linalg.pinv(a), b).astype(rhs.dtype)
    try:
        return _by_normal_equations(a, b, penalty).astype(rhs.dtype)
    except np.linalg.LinAlgError:
        raise invalid(
            "Input matrix was rank deficient or ill-conditioned. "
            "Try setting fast=False or provide a larger l2_regularizer > 0."
        ) from None


def _by_normal_equations(a, b, penalty):
    tall = a.shape[-2] >= a.shape[-1]
    conjugate = dagger(a)
    gram = np.matmul(conjugate, a) if tall else np.matmul(a, conjugate)
    gram = gram + np.asarray(penalty, a.dtype) * np.eye(gram.shape[-1], dtype=a.dtype)
    factor = np.linalg.cholesky(gram)
    right = np.matmul(conjugate, b) if tall else b
    if factor.ndim == 2 and right.size:
        solved = _solve_one(factor, _solve_one(factor, right, lower=True, adjoint=False), lower=True, adjoint=True)
    else:
        solved = _solve_upper(dagger(factor), _solve_lower(factor, right))
    return solved if tall else np.matmul(conjugate, solved)


@MatrixSolveLs.gradient
def _(call, grad):
    if not call.fast:
        raise ValueError("Gradient not defined for fast=False; use fast=True, whose answer is the same for full rank")
    dims = call.matrix._dims
    if dims is not None and None not in dims[-2:]:
        return (_tall_gradient if dims[-2] >= dims[-1] else _wide_gradient)(call, grad, 0.0)
    # The other form's Gram matrix has no inverse: with one added to its diagonal it does no harm until it is dropped.
    shape = raw.Shape(call.matrix)
    is_tall = shape[-2] >= shape[-1]
    tall, wide = (
        form(call, grad, raw.Cast(unused, DstT=call.matrix.dtype))
        for form, unused in ((_tall_gradient, raw.LogicalNot(is_tall)), (_wide_gradient, is_tall))
    )
    return [raw.SelectV2(is_tall, t, w) for t, w in zip(tall[:2], wide[:2], strict=True)] + [None]


def _tall_gradient(call, grad, more):
    """From x = (A*A + λ)⁻¹ A* b."""
    a, b, x = call.matrix, call.rhs, call.output
    solved = cholesky_solve(_gram_factor(times(a, a, adjoint_a=True), call.l2_regularizer, more), grad)
    mixed = times(x, solved, adjoint_b=True)
    both = mixed + matrix_transpose(mixed)  # TensorFlow's rule, which does not conjugate here
    return times(b, solved, adjoint_b=True) - times(a, both), times(a, solved), None


def _wide_gradient(call, grad, more):
    """From x = A* (A A* + λ)⁻¹ b."""
    a, b = call.matrix, call.rhs
    factor = _gram_factor(times(a, a, adjoint_b=True), call.l2_regularizer, more)
    grad_b = cholesky_solve(factor, times(a, grad))
    y = cholesky_solve(factor, b)
    rest = grad - times(a, grad_b, adjoint_a=True)
    return times(y, rest, adjoint_b=True) - times(grad_b, times(y, a, adjoint_a=True)), grad_b, None


def _gram_factor(gram, penalty, more):
    scale = raw.Cast(penalty, DstT=gram.dtype) + more
    return raw.Cholesky(raw.MatrixSetDiag(gram, raw.MatrixDiagPart(gram) + scale))


# --- public functions -------------------------------------------------------------------------------------------------


def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Return the inverse of every square matrix.

    >>> inv([[2., 0.], [0., 4.]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return MatrixInverse(input, adjoint=adjoint, name=name)


def det(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the determinant of every square matrix.

    >>> det([[2., 0.], [0., 4.]]).numpy()
    np.float32(8.0)
    """
    return MatrixDeterminant(input, name=name)


def slogdet(input: TensorLike, name: str | None = None) -> Nested:
    """Return the sign of the determinant of every square matrix, and the logarithm of its absolute value."""
    return LogMatrixDeterminant(input, name=name)


def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Return the logarithm of the determinant of every hermitian positive definite matrix.

    >>> round(float(logdet([[2., 0.], [0., 4.]])), 4)
    2.0794
    """
    with name_scope(name, "logdet", [matrix]):
        factor = raw.Cholesky(matrix)
        return 2.0 * reductions.reduce_sum(unary.log(complex_numbers.real(diagonal(factor))), axis=[-1])


def solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Return x with matrix·x = rhs.

    >>> solve([[2., 0.], [0., 4.]], [[2.], [2.]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    return MatrixSolve(matrix, rhs, adjoint=adjoint, name=name)


def triangular_solve(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Return x with matrix·x = rhs, reading only the lower (or upper) triangle of `matrix`."""
    with name_scope(name, "triangular_solve", [matrix, rhs]):
        return MatrixTriangularSolve(matrix, rhs, lower=lower, adjoint=adjoint)


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Return x with A·x = rhs, given the Cholesky factor of A."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        chol = convert(chol)
        return raw.MatrixTriangularSolve(
            chol, raw.MatrixTriangularSolve(chol, rhs, lower=True), lower=True, adjoint=True
        )


def lstsq(
    matrix: TensorLike, rhs: TensorLike, l2_regularizer: TensorLike = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """Return the x that brings matrix·x nearest to rhs, with l2_regularizer·|x|² added to what is to be small."""
    if l2_regularizer is None:
        l2_regularizer = 0.0
    return MatrixSolveLs(matrix, rhs, l2_regularizer, fast=fast, name=name or "matrix_solve_ls")
