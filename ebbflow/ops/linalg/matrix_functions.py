"""Functions of whole matrices: exponential, logarithm, square root, eigenvalues of any square matrix, LU.

Kernels are SciPy's and LAPACK's, matrix by matrix where the library knows no batches. The gradient of a function f of
a matrix is a block of f of a matrix twice as large: f([[A, E], [0, A]]) has the slope of f in direction E in its upper
right corner. So it is the same op again, and differentiable as often as one likes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.op import op
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg import direct
from ebbflow.ops.linalg.factorizations import each_matrix
from ebbflow.ops.linalg.matmul import adjoint
from ebbflow.ops.linalg.solvers import LAPACK, check_square, square_dims, times, wide
from ebbflow.ops.sizes import invalid
from ebbflow.platform import blas

# --- exponential, logarithm, square root ------------------------------------------------------------------------------


def by_doubling(declared: Any) -> Callable[..., Any]:
    """Return the gradient rule of a matrix function: the op itself on a matrix of blocks."""

    def gradient(call: Any, grad: Any) -> Any:
        matrix = adjoint(call.input)
        upper = raw.ConcatV2([matrix, grad], -1)
        lower = raw.ConcatV2([raw.ZerosLike(matrix), matrix], -1)
        whole = declared(raw.ConcatV2([upper, lower], -2))
        size = raw.Shape(matrix)[-1]
        return whole[..., :size, size:]

    return gradient


def matrix_by_matrix(name: str) -> Callable[..., Any]:
    """Return the kernel that calls a function of `scipy.linalg` for each matrix of a batch; no answer is NaN."""

    def kernel(xp: Any, input: Any) -> Any:
        import scipy.linalg  # on use: heavy

        check_square(input)
        function, x = getattr(scipy.linalg, name), wide(input)
        result = np.full(x.shape, np.nan, x.dtype)
        for at in np.ndindex(x.shape[:-2]):
            if x[at].size and np.isfinite(x[at]).all():
                with warnings.catch_warnings():  # a remark on the last digits is none of the caller's business
                    warnings.simplefilter("ignore")
                    value = np.asarray(function(x[at]))
                if x.dtype.kind == "c" or _is_real(value):
                    result[at] = value if x.dtype.kind == "c" else value.real
        return result.astype(input.dtype)

    return blas.calm(kernel)


def _is_real(value: np.ndarray) -> bool:
    """Return whether a result is real but for rounding, which pairs of complex eigenvalues leave some of."""
    if value.dtype.kind != "c":
        return True
    return bool(np.abs(value.imag).max() <= 1000 * np.finfo(value.dtype).eps * np.abs(value).max())


MatrixExponential = op(f"MatrixExponential(input:T) -> (output:T) | T: type in [{LAPACK}] | deprecated@27")
MatrixExponential.shape(square_dims)
MatrixExponential.gradient(by_doubling(MatrixExponential))


@MatrixExponential.kernel
@blas.calm
def _(xp, input):
    check_square(input)
    x = wide(input)
    if xp is not np:
        import jax.scipy.linalg  # on use: heavy

        flat = x.reshape((-1, *x.shape[-2:]))
        return xp.stack([jax.scipy.linalg.expm(m) for m in flat]).reshape(x.shape).astype(input.dtype)
    import scipy.linalg  # on use: heavy

    if not x.size:
        return input
    (result,) = each_matrix(lambda a: (scipy.linalg.expm(a),), x, [(x.shape, x.dtype)])
    return result.astype(input.dtype)


MatrixLogarithm = op("MatrixLogarithm(input:T) -> (output:T) | T: type in [complex64,complex128]", shape=square_dims)
MatrixLogarithm.kernel(matrix_by_matrix("logm"))
MatrixLogarithm.gradient(by_doubling(MatrixLogarithm))

MatrixSquareRoot = op(f"MatrixSquareRoot(input:T) -> (output:T) | T: type in [{LAPACK}]", shape=square_dims)
MatrixSquareRoot.kernel(matrix_by_matrix("sqrtm"))
MatrixSquareRoot.gradient(by_doubling(MatrixSquareRoot))

# --- eigenvalues ------------------------------------------------------------------------------------------------------

Eig = op(
    "Eig(input:T) -> (e:Tout, v:Tout) | compute_v: bool = true; T: type in [float,double,complex64,complex128]; "
    "Tout: type in [complex64,complex128]"
)


@Eig.shape
def _(input, *, compute_v):
    dims = square_dims(input)
    if dims is None:
        return [None, None if compute_v else (0,)]
    return [dims[:-1], dims if compute_v else (0,)]


@Eig.kernel
@blas.calm
def _(xp, input, *, compute_v, Tout):
    check_square(input)
    values, vectors = (input.shape[:-1], Tout.np), (input.shape, Tout.np)
    if not compute_v:
        (e,) = each_matrix(lambda a: (np.linalg.eigvals(a),), input, [values])
        return e.astype(Tout.np), np.zeros((0,), Tout.np)
    e, v = direct.eig(input) or each_matrix(np.linalg.eig, input, [values, vectors])
    return e.astype(Tout.np), v.astype(Tout.np)


@Eig.gradient
def _(call, grad_e, grad_v):
    """V⁻*(diag(gₑ) + F∘(V*gᵥ - V*V diag(Re V*gᵥ)))V*, with F the reciprocal gaps: vectors are of length one."""
    if call.compute_v:
        e, v = call.e, call.v
        product = times(v, grad_v, adjoint_a=True)
        lengths = raw.MatrixDiagPart(product)
        lengths = raw.MatrixDiag(raw.Cast(raw.Real(lengths, Tout=lengths.dtype.real_dtype), DstT=v.dtype))
        across = product - times(times(v, v, adjoint_a=True), lengths)
        middle = raw.MatrixDiag(grad_e) + _inverse_gaps(raw.Conj(e)) * across
    else:
        _, v = raw.Eig(call.input, Tout=call.Tout)
        middle = raw.MatrixDiag(grad_e)
    whole = raw.MatrixSolve(adjoint(v), times(middle, v, adjoint_b=True))
    if call.input.dtype.is_complex:
        return whole
    return raw.Real(whole, Tout=call.input.dtype)


def _inverse_gaps(e: Any) -> Any:
    """Return 1 / (e_j - e_i), and 0 on the diagonal."""
    gaps = raw.ExpandDims(e, -2) - raw.ExpandDims(e, -1)
    gaps = raw.MatrixSetDiag(gaps, raw.OnesLike(e))
    return raw.MatrixSetDiag(raw.Reciprocal(gaps), raw.ZerosLike(e))


# --- LU ---------------------------------------------------------------------------------------------------------------

Lu = op(f"Lu(input:T) -> (lu:T, p:output_idx_type) | T: type in [{LAPACK}]; output_idx_type: index = int32")


@Lu.shape
def _(input):
    dims = square_dims(input)
    return [dims, dims and dims[:-1]]


@Lu.kernel
@blas.calm
def _(xp, input, *, output_idx_type):
    check_square(input)
    from scipy.linalg import lapack  # on use: heavy

    x = wide(input)
    factorise = lapack.get_lapack_funcs("getrf", (x,)) if x.size else None
    result, rows = np.empty_like(x), np.empty(x.shape[:-1], output_idx_type.np)
    for at in np.ndindex(x.shape[:-2]):
        if factorise is None:
            continue
        lu, pivots, info = factorise(x[at])
        if info > 0:
            raise invalid("Input is not invertible.")
        result[at], rows[at] = lu, _permutation(pivots, x.shape[-2])
    return result.astype(input.dtype), rows


def _permutation(pivots: np.ndarray, count: int) -> np.ndarray:
    """Return the order of rows that LAPACK's exchanges amount to."""
    order = list(range(count))
    for here, there in enumerate(pivots.tolist()):
        order[here], order[there] = order[there], order[here]
    return np.array(order)


@Lu.gradient
def _(call, grad, grad_p):
    """Pᵀ L⁻* (below(L* gₗ) + above(gᵤ U*)) U⁻*."""
    lu = call.lu
    lower = raw.MatrixSetDiag(raw.MatrixBandPart(lu, -1, 0), raw.OnesLike(raw.MatrixDiagPart(lu)))
    upper = raw.MatrixBandPart(lu, 0, -1)
    grad_upper = raw.MatrixBandPart(grad, 0, -1)
    grad_lower = grad - grad_upper
    below = times(lower, grad_lower, adjoint_a=True)
    below = raw.MatrixBandPart(below, -1, 0)
    below = raw.MatrixSetDiag(below, raw.ZerosLike(raw.MatrixDiagPart(below)))
    above = raw.MatrixBandPart(times(grad_upper, upper, adjoint_b=True), 0, -1)
    left = raw.MatrixTriangularSolve(lower, below + above, lower=True, adjoint=True)
    whole = adjoint(raw.MatrixTriangularSolve(upper, adjoint(left), lower=False))
    return permuted_rows(whole, call.p, back=True)


def permuted_rows(x: Any, order: Any, back: bool = False) -> Any:
    """Return batches of matrices with their rows in another order (or, from that one, in their own again)."""
    size = raw.Shape(x)
    rows = size[-2]
    flat = raw.Reshape(raw.Cast(order, DstT=dtypes.int32), raw.Pack([-1, rows]))
    if back:
        _, flat = raw.TopKV2(-flat, rows)
    moved = raw.GatherV2(raw.Reshape(x, raw.Pack([-1, rows, size[-1]])), flat, 1, batch_dims=1)
    return raw.Reshape(moved, size)
