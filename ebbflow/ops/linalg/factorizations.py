"""Factorisations: Cholesky, QR, singular values, eigenvalues of self-adjoint matrices.

Kernels are LAPACK's through NumPy, over batches; halves are computed in float32. What has no answer (a matrix that is
not positive definite, a NaN) comes out as NaN for that matrix alone, the rest of its batch keeps its answers. Signs and
phases of columns are LAPACK's; gradients take them as they are.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core import context
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.complex_numbers import real
from ebbflow.ops.linalg import direct
from ebbflow.ops.linalg.direct import sound
from ebbflow.ops.linalg.matmul import adjoint
from ebbflow.ops.linalg.solvers import LAPACK, check_square, dagger, square_dims, times, wide
from ebbflow.ops.shape_rules import agreed, ranked_at_least
from ebbflow.ops.sizes import invalid
from ebbflow.platform import blas

_TINY = 1e-20  # keeps 1/x finite where singular values or eigenvalues coincide


def each_matrix(factorise, x, outputs):
    """Factorise a batch at once; where that fails, matrix by matrix, with NaN for those that have no answer.

    A matrix with an infinity or a NaN in it has none, and is kept from LAPACK, which may iterate on it for ever.
    """
    if sound(x) or np.isfinite(x).all():
        try:
            return factorise(x)
        except np.linalg.LinAlgError:
            pass
    finite = np.isfinite(x).all(axis=(-2, -1))
    results = [np.full(shape, np.nan, dtype) for shape, dtype in outputs]
    for at in np.ndindex(x.shape[:-2]):
        if not finite[at]:
            continue
        try:
            parts = factorise(x[at])
        except np.linalg.LinAlgError:
            continue
        for result, part in zip(results, parts, strict=True):
            result[at] = part
    return results


def _real(dtype):
    return np.zeros((), dtype).real.dtype


# --- Cholesky ---------------------------------------------------------------------------------------------------------

Cholesky = op(f"Cholesky(input:T) -> (output:T) | T: type in [{LAPACK}]", shape=square_dims)


@Cholesky.kernel
@blas.calm
def _(xp, input):
    check_square(input)
    x = wide(input)
    if xp is not np:
        return xp.linalg.cholesky(x).astype(input.dtype)
    (factor,) = each_matrix(lambda a: (np.linalg.cholesky(a),), x, [(x.shape, x.dtype)])
    if not sound(factor):
        if context.switches.tf1 and np.isnan(factor).any() and not np.isnan(x).any():
            raise invalid("Cholesky decomposition was not successful. The input might not be valid.")
        if np.isnan(factor[..., :1, :1]).any():
            factor = np.tril(factor)
    return factor.astype(input.dtype, copy=False)


@Cholesky.gradient
def _(call, grad):
    return _cholesky_gradient(call.output, grad)


def _cholesky_gradient(factor, grad):
    """½(X + X*) with X = L⁻* Φ(L* G) L⁻¹, where Φ takes the lower triangle and halves the diagonal."""
    middle = times(factor, grad, adjoint_a=True)
    middle = raw.MatrixBandPart(raw.MatrixSetDiag(middle, 0.5 * raw.MatrixDiagPart(middle)), -1, 0)
    left = raw.MatrixTriangularSolve(factor, middle, lower=True, adjoint=True)
    whole = adjoint(raw.MatrixTriangularSolve(factor, adjoint(left), lower=True, adjoint=True))
    return 0.5 * (whole + adjoint(whole))


CholeskyGrad = op("CholeskyGrad(l:T, grad:T) -> (output:T) | T: type in [half,float,double]")


@CholeskyGrad.shape
def _(l, grad):
    return agreed(square_dims(l), square_dims(grad))


@CholeskyGrad.kernel
@blas.calm
def _(xp, l, grad):
    check_square(l)
    if l.shape != grad.shape:
        raise invalid(f"l and grad must have one shape, got {l.shape} and {grad.shape}")
    factor, g = np.tril(wide(l)), np.tril(wide(grad))
    middle = np.tril(np.matmul(dagger(factor), g))
    middle[..., np.arange(l.shape[-1]), np.arange(l.shape[-1])] *= 0.5
    left = np.linalg.solve(dagger(factor), middle)
    whole = dagger(np.linalg.solve(dagger(factor), dagger(left)))
    return (0.5 * (whole + dagger(whole))).astype(l.dtype)


@CholeskyGrad.gradient
def _(call, grad):
    raise LookupError(
        "No gradient defined for operation CholeskyGrad. Differentiate tf.linalg.cholesky twice instead: its gradient "
        "is made of ops that have one"
    )


# --- QR ---------------------------------------------------------------------------------------------------------------

Qr = op(
    f"Qr(input:T) -> (q:T, r:T) | full_matrices: bool = false; T: type in [{LAPACK}]",
    facts="one_core=110 matrices portable",
)


@Qr.shape
def _(input, *, full_matrices):
    dims = ranked_at_least(input, 2)
    if dims is None:
        return [None, None]
    *lead, m, n = dims
    inner = m if full_matrices else _smaller(m, n)
    return [(*lead, m, inner), (*lead, inner, n)]


def _smaller(m, n):
    return 0 if 0 in (m, n) else None if None in (m, n) else min(m, n)


@Qr.kernel
@blas.calm
def _(xp, input, *, full_matrices):
    _check_matrix(input)
    found = direct.qr(wide(input)) if xp is np and not full_matrices else None
    q, r = found or xp.linalg.qr(wide(input), mode="complete" if full_matrices else "reduced")
    return q.astype(input.dtype), r.astype(input.dtype)


def _check_matrix(x):
    if x.ndim < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {x.ndim}")


@Qr.gradient
def _(call, grad_q, grad_r):
    q, r = call.q, call.r
    dims = r._dims
    if dims is None or None in dims[-2:] or q._dims is None or None in q._dims[-2:]:
        raise NotImplementedError("QrGrad needs to know the matrix's shape when the graph is built: set_shape it")
    rows, columns = dims[-2:]
    if rows > columns and call.full_matrices and q._dims[-2] == q._dims[-1]:
        raise NotImplementedError(
            "QrGrad not implemented when nrows > ncols and full_matrices is true: the further columns of q are not "
            "determined; use full_matrices=False"
        )
    if rows >= columns:
        return _tall_qr_gradient(q, r, grad_q, grad_r)
    rest = call.input[..., rows:]
    grad_rest = grad_r[..., rows:]
    first = _tall_qr_gradient(q, r[..., :rows], grad_q + times(rest, grad_rest, adjoint_b=True), grad_r[..., :rows])
    return raw.ConcatV2([first, times(q, grad_rest)], -1)


def _tall_qr_gradient(q, r, grad_q, grad_r):
    qq = times(q, grad_q, adjoint_a=True)
    rr = times(r, grad_r, adjoint_b=True)
    lower = raw.MatrixBandPart(qq - adjoint(qq) + rr - adjoint(rr), -1, 0)
    result = times(q, grad_r + _over(lower, r)) + _over(grad_q - times(q, qq), r)
    if not q.dtype.is_complex:
        return result
    diagonal = raw.MatrixDiagPart(rr - adjoint(qq))
    phase = raw.MatrixDiag(diagonal - raw.Cast(raw.Real(diagonal, Tout=diagonal.dtype.real_dtype), DstT=q.dtype))
    return result + _over(times(q, adjoint(phase)), r)


def _over(x, r):
    """x r⁻* for an upper triangle r."""
    return adjoint(raw.MatrixTriangularSolve(r, adjoint(x), lower=False, adjoint=False))


# --- singular values --------------------------------------------------------------------------------------------------

Svd = op(
    f"Svd(input:T) -> (s:T, u:T, v:T) | compute_uv: bool = true; full_matrices: bool = false; T: type in [{LAPACK}]",
    facts="one_core=260 matrices",
)


@Svd.shape
def _(input, *, compute_uv, full_matrices):
    dims = ranked_at_least(input, 2)
    if dims is None:
        return [None, None, None] if compute_uv else [None, (0,), (0,)]
    *lead, m, n = dims
    k = _smaller(m, n)
    if not compute_uv:
        return [(*lead, k), (0,), (0,)]
    return [(*lead, k), (*lead, m, m if full_matrices else k), (*lead, n, n if full_matrices else k)]


@Svd.kernel
@blas.calm
def _(xp, input, *, compute_uv, full_matrices):
    _check_matrix(input)
    x = wide(input)
    *lead, m, n = x.shape
    k = min(m, n)
    real = _real(x.dtype)
    if not compute_uv:
        (s,) = each_matrix(lambda a: (np.linalg.svd(a, compute_uv=False),), x, [((*lead, k), real)])
        nothing = np.zeros((0,), input.dtype)
        return s.astype(input.dtype), nothing, nothing
    mu, nv = (m, n) if full_matrices else (k, k)
    u, s, vh = each_matrix(
        lambda a: np.linalg.svd(a, full_matrices=full_matrices),
        x,
        [((*lead, m, mu), x.dtype), ((*lead, k), real), ((*lead, nv, n), x.dtype)],
    )
    return s.astype(input.dtype, copy=False), u.astype(input.dtype, copy=False), dagger(vh).astype(input.dtype)


@Svd.gradient
def _(call, grad_s, grad_u, grad_v):
    if not call.compute_uv:
        _, u, v = raw.Svd(call.input, compute_uv=True)
        return _between(u, raw.MatrixDiag(grad_s), v)
    dims = call.input._dims
    if dims is None or None in dims[-2:]:
        raise NotImplementedError("SVD gradient needs to know the matrix's shape when the graph is built: set_shape it")
    m, n = dims[-2:]
    if call.full_matrices and abs(m - n) > 1:
        raise NotImplementedError(
            "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True: the further columns are "
            f"not determined; use full_matrices=False. Received: m={m} and n={n}"
        )
    if m > n:  # the formulas are those of a matrix that is not tall; a tall one is its adjoint
        return adjoint(_svd_gradient(call.s, call.v, call.u, grad_s, grad_v, grad_u, n, m))
    return _svd_gradient(call.s, call.u, call.v, grad_s, grad_u, grad_v, m, n)


def _between(u, middle, v):
    return times(u, times(middle, v, adjoint_b=True))


def _svd_gradient(s, u, v, grad_s, grad_u, grad_v, m, n):
    square_s = s * s
    gaps = _without_diagonal(_reciprocal(raw.ExpandDims(square_s, -2) - raw.ExpandDims(square_s, -1)))
    s_matrix = raw.MatrixDiag(s)
    v1, grad_v1 = v[..., :m], grad_v[..., :m]
    vv = times(v1, grad_v1, adjoint_a=True)
    fu, fv = gaps * times(u, grad_u, adjoint_a=True), gaps * vv
    middle = raw.MatrixDiag(grad_s) + times(fu + adjoint(fu), s_matrix) + times(s_matrix, fv + adjoint(fv))
    result = _between(u, middle, v1)
    s_inverse = raw.MatrixDiag(_reciprocal(s))
    if m != n:
        rest = adjoint(grad_v1) - times(adjoint(vv), v1, adjoint_b=True)
        if v._dims[-1] > m:  # all columns of v were asked for: the further ones turn against the first
            mixed = times(v1, grad_v[..., m:], adjoint_a=True)
            rest = rest - times(mixed, v[..., m:], adjoint_b=True)
        result = result + times(times(u, s_inverse), rest)
    if u.dtype.is_complex:
        phase = raw.MatrixDiag(raw.MatrixDiagPart(vv))
        result = result + 0.5 * _between(u, times(s_inverse, adjoint(phase) - phase), v1)
    return result


def _reciprocal(x):
    """1/x that is 0 and not infinite where x is 0."""
    return x * raw.Reciprocal(x * x + _TINY)


def _without_diagonal(x):
    return raw.MatrixSetDiag(x, raw.ZerosLike(raw.MatrixDiagPart(x)))


# --- eigenvalues ------------------------------------------------------------------------------------------------------

SelfAdjointEigV2 = op(
    f"SelfAdjointEigV2(input:T) -> (e:T, v:T) | compute_v: bool = true; T: type in [{LAPACK}]",
    facts="one_core=290 matrices",
)


@SelfAdjointEigV2.shape
def _(input, *, compute_v):
    dims = square_dims(input)
    if dims is None:
        return [None, None if compute_v else (0,)]
    return [dims[:-1], dims if compute_v else (0,)]


@SelfAdjointEigV2.kernel
@blas.calm
def _(xp, input, *, compute_v):
    check_square(input)
    x = wide(input)
    values = (x.shape[:-1], _real(x.dtype))
    if not compute_v:
        (e,) = each_matrix(lambda a: (np.linalg.eigvalsh(a),), x, [values])
        return e.astype(input.dtype), np.zeros((0,), input.dtype)
    e, v = each_matrix(np.linalg.eigh, x, [values, (x.shape, x.dtype)])
    return e.astype(input.dtype, copy=False), v.astype(input.dtype, copy=False)


@SelfAdjointEigV2.gradient
def _(call, grad_e, grad_v):
    """Only the lower triangle of the input counts, so its gradient holds both halves' share."""
    if call.compute_v:
        e, v = call.e, call.v
        gaps = _without_diagonal(_reciprocal(raw.ExpandDims(e, -2) - raw.ExpandDims(e, -1)))
        middle = raw.MatrixDiag(grad_e) + gaps * times(v, grad_v, adjoint_a=True)
    else:
        _, v = raw.SelfAdjointEigV2(call.input)
        middle = raw.MatrixDiag(grad_e)
    whole = _between(v, middle, v)
    both = raw.MatrixBandPart(whole + adjoint(whole), -1, 0)
    return raw.MatrixSetDiag(both, 0.5 * raw.MatrixDiagPart(both))


# --- public functions -------------------------------------------------------------------------------------------------


def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the lower triangle L with L·L* = input.

    >>> cholesky([[4., 2.], [2., 5.]]).numpy().tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    return Cholesky(input, name=name)


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Nested:
    """Return q with orthonormal columns and an upper triangle r with q·r = input."""
    return Qr(input, full_matrices=full_matrices, name=name)


def svd(tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Nested:
    """Return the singular values and, where asked for, u and v with tensor = u·diag(s)·v*."""
    s, u, v = Svd(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (real(s), u, v) if compute_uv else real(s)


def eigh(tensor: TensorLike, name: str | None = None) -> Nested:
    """Return the eigenvalues, in rising order, and the eigenvectors of self-adjoint matrices.

    >>> [round(float(e), 5) for e in eigh([[2., 1.], [1., 2.]])[0]]
    [1.0, 3.0]
    """
    return SelfAdjointEigV2(tensor, compute_v=True, name=name)


def eigvalsh(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Return the eigenvalues of self-adjoint matrices, in rising order."""
    values, _ = SelfAdjointEigV2(tensor, compute_v=False, name=name)
    return values
