"""Solvers and factorisations whose kernels are LAPACK's through NumPy, matrix by matrix; here by XLA, in batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.engines.xla.library import lax
from ebbflow.engines.xla.rules import lowering


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


@lowering("MatrixTriangularSolve")
def _(jnp: Any, matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    a, b = _wide(matrix), _wide(rhs)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = jnp.broadcast_to(a, (*lead, *a.shape[-2:]))
    b = jnp.broadcast_to(b, (*lead, *b.shape[-2:]))
    if not a.size or not b.size:
        return jnp.zeros(b.shape, rhs.dtype)
    return lax.linalg.triangular_solve(
        a, b, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint
    ).astype(rhs.dtype)


@lowering("MatrixBandPart", "BatchMatrixBandPart", may_vary="num_lower num_upper", loses="how wide bands may be")
def _(jnp: Any, input: Any, num_lower: Any, num_upper: Any) -> Any:
    rows, columns = input.shape[-2:]
    k = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    inside = ((num_lower < 0) | (-k <= num_lower)) & ((num_upper < 0) | (k <= num_upper))
    return jnp.where(inside, input, jnp.zeros((), input.dtype))


@lowering("Cholesky")
def _(jnp: Any, input: Any) -> Any:
    """The lower triangle alone is read, as the kernel does it."""
    x = _wide(input)
    low = jnp.tril(x)
    whole = low + jnp.conj(jnp.swapaxes(jnp.tril(x, -1), -1, -2))
    return jnp.tril(lax.linalg.cholesky(whole, symmetrize_input=False)).astype(input.dtype)


@lowering("Svd")
def _(jnp: Any, input: Any, *, compute_uv: bool, full_matrices: bool) -> Any:
    x = _wide(input)
    if not compute_uv:
        nothing = jnp.zeros(0, input.dtype)
        return jnp.linalg.svd(x, compute_uv=False), nothing, nothing
    u, s, vh = jnp.linalg.svd(x, full_matrices=full_matrices)
    return s, u, jnp.conj(jnp.swapaxes(vh, -1, -2))


@lowering("SelfAdjointEigV2")
def _(jnp: Any, input: Any, *, compute_v: bool) -> Any:
    x = _wide(input)
    e, v = jnp.linalg.eigh(x, UPLO="L", symmetrize_input=False)
    return e, v if compute_v else jnp.zeros(0, input.dtype)
