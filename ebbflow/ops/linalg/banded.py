"""Matrices of a few diagonals: tridiagonal products and solves, triangular solves with bands.

Diagonals come as TensorFlow packs them: of a tridiagonal matrix the one above, the main one and the one below as three
rows, the first's last and the last's first entry unused. SciPy's banded solvers do the work, a matrix at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.ops.arrays.shaping import matrix_transpose
from ebbflow.ops.declare import mismatch, raw, show
from ebbflow.ops.elementwise.complex_numbers import conj
from ebbflow.ops.linalg.diag import diag, diag_part
from ebbflow.ops.linalg.factorizations import eigh, eigvalsh
from ebbflow.ops.linalg.matmul import unbroadcast
from ebbflow.ops.linalg.solvers import LAPACK, wide
from ebbflow.ops.shape_rules import agreed, broadcast_batches, equal_length, ranked_at_least
from ebbflow.ops.sizes import invalid
from ebbflow.platform import blas

_DOUBLES = "double,float,complex64,complex128"

# --- products ---------------------------------------------------------------------------------------------------------

TridiagonalMatMul = op(
    f"TridiagonalMatMul(superdiag:T, maindiag:T, subdiag:T, rhs:T) -> (output:T) | T: type in [{_DOUBLES}]",
    checks_first=True,
    facts="beside",
)


@TridiagonalMatMul.shape
def _(superdiag, maindiag, subdiag, rhs):
    dims = ranked_at_least(rhs, 2)
    for name, arg in (("superdiag", superdiag), ("maindiag", maindiag), ("subdiag", subdiag)):
        own = ranked_at_least(arg, 2)
        if dims is not None and own is not None:
            agreed(own, (*dims[:-2], 1, dims[-2]))
        elif own is not None and own[-2] not in (None, 1):
            raise mismatch(f"{name} must be a row of a matrix, but its shape is {show(own)}")
    return dims


@TridiagonalMatMul.kernel
def _(xp, superdiag, maindiag, subdiag, rhs):
    above, main, below = (xp.swapaxes(d, -1, -2) for d in (superdiag, maindiag, subdiag))
    zeros = xp.zeros_like(rhs[..., :1, :])
    result = main * rhs
    result = result + above * xp.concatenate([rhs[..., 1:, :], zeros], -2)
    return result + below * xp.concatenate([zeros, rhs[..., :-1, :]], -2)


@TridiagonalMatMul.gradient
def _(call, grad):
    above, main, below = (conj(d) for d in (call.superdiag, call.maindiag, call.subdiag))
    rhs = conj(call.rhs)
    over, under = _rows_moved(rhs, -1), _rows_moved(rhs, 1)
    sums = [raw.ExpandDims(raw.Sum(x * grad, -1), -2) for x in (over, rhs, under)]
    column = lambda d: matrix_transpose(d)
    grad_rhs = column(main) * grad + _rows_moved(column(above) * grad, 1) + _rows_moved(column(below) * grad, -1)
    return (*sums, grad_rhs)


def _rows_moved(x: Any, by: int) -> Any:
    """Return a batch of matrices with rows moved down by one (up for -1), zeros where none came."""
    zeros = raw.ZerosLike(x[..., :1, :])
    parts = [zeros, x[..., :-1, :]] if by == 1 else [x[..., 1:, :], zeros]
    return raw.ConcatV2(parts, -2)


# --- solves -----------------------------------------------------------------------------------------------------------

TridiagonalSolve = op(
    "TridiagonalSolve(diagonals:T, rhs:T) -> (output:T) | partial_pivoting: bool = true; "
    f"perturb_singular: bool = false; T: type in [{_DOUBLES}]",
    checks_first=True,
    facts="beside",
)


@TridiagonalSolve.shape
def _(diagonals, rhs):
    dims, columns = ranked_at_least(diagonals, 2), ranked_at_least(rhs, 2)
    if dims is None or columns is None:
        return columns
    agreed(dims[:-2], columns[:-2])
    equal_length(dims[-2], 3)
    rows = equal_length(dims[-1], columns[-2])
    return (*columns[:-2], rows, columns[-1])


@TridiagonalSolve.kernel
def _(xp, diagonals, rhs, *, partial_pivoting, perturb_singular):
    if xp is not np:
        import jax.lax.linalg  # on use: heavy

        above, main, below = (diagonals[..., i, :] for i in range(3))
        return jax.lax.linalg.tridiagonal_solve(below, main, above, rhs)
    if perturb_singular and not partial_pivoting:
        raise invalid("Setting perturb_singular requires pivoting.")
    import scipy.linalg  # on use: heavy

    result = np.empty_like(rhs)
    for at in np.ndindex(rhs.shape[:-2]):
        result[at] = _solve_tridiagonal(scipy.linalg, diagonals[at], rhs[at], perturb_singular)
    return result


def _solve_tridiagonal(library: Any, diagonals: np.ndarray, rhs: np.ndarray, perturb: bool) -> np.ndarray:
    if not rhs.size:
        return rhs
    bands = np.zeros_like(diagonals)
    bands[0, 1:], bands[1], bands[2, :-1] = diagonals[0, :-1], diagonals[1], diagonals[2, 1:]
    if not (np.isfinite(bands).all() and np.isfinite(rhs).all()):
        return np.full_like(rhs, np.nan)
    try:
        return np.asarray(library.solve_banded((1, 1), bands, rhs))
    except np.linalg.LinAlgError:
        if not perturb:
            return np.full_like(rhs, np.nan)
    bands[1] += np.finfo(bands.dtype).eps * max(float(np.abs(bands).max()), 1e-30)
    return np.asarray(library.solve_banded((1, 1), bands, rhs))


@TridiagonalSolve.gradient
def _(call, grad):
    diagonals, x = call.diagonals, call.output
    above, main, below = (conj(diagonals[..., i, :]) for i in range(3))
    turned = raw.Pack([_moved(below, -1), main, _moved(above, 1)], axis=-2)
    grad_rhs = raw.TridiagonalSolve(turned, grad, partial_pivoting=call.partial_pivoting)
    solution = x  # TensorFlow's rule does not take the conjugate of complex ones either
    parts = [
        -raw.Sum(grad_rhs * moved, -1) for moved in (_rows_moved(solution, -1), solution, _rows_moved(solution, 1))
    ]
    return raw.Pack(parts, axis=-2), grad_rhs


def _moved(x: Any, by: int) -> Any:
    zeros = raw.ZerosLike(x[..., :1])
    return raw.ConcatV2([zeros, x[..., :-1]] if by == 1 else [x[..., 1:], zeros], -1)


BandedTriangularSolve = op(
    f"BandedTriangularSolve(matrix:T, rhs:T) -> (output:T) | lower: bool = true; adjoint: bool = false; "
    f"T: type in [{LAPACK}]",
    checks_first=True,
)


@BandedTriangularSolve.shape
def _(matrix, rhs):
    dims, columns = ranked_at_least(matrix, 2), ranked_at_least(rhs, 2)
    if dims is None or columns is None:
        return None
    rows = equal_length(dims[-1], columns[-2])
    batch = broadcast_batches(dims[:-2], columns[:-2])
    return None if batch is None else (*batch, rows, columns[-1])


@BandedTriangularSolve.kernel
@blas.calm
def _(xp, matrix, rhs, *, lower, adjoint):
    import scipy.linalg  # on use: heavy

    count, rows = matrix.shape[-2:]
    if not 0 < count <= max(rows, 1):
        raise invalid(f"the number of bands must be positive and at most the number of rows, got {count} for {rows}")
    bands, right = wide(matrix), wide(rhs)
    batch = np.broadcast_shapes(bands.shape[:-2], right.shape[:-2])
    bands = np.broadcast_to(bands, (*batch, count, rows))
    right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    result = np.empty(right.shape, right.dtype)
    narrow = _band_solver(bands)
    for at in np.ndindex(batch):
        if narrow is not None and right[at].size:
            result[at] = _solved(narrow, bands[at], right[at], lower, adjoint)
            continue
        full = np.zeros((rows, rows), bands.dtype)
        for i in range(count):
            if lower:
                full[np.arange(i, rows), np.arange(rows - i)] = bands[at][i, i:]
            else:
                full[np.arange(rows - i), np.arange(i, rows)] = bands[at][count - 1 - i, : rows - i]
        if right[at].size:
            if (np.diag(full) == 0).any():
                raise invalid("Input matrix is not invertible.")
            result[at] = scipy.linalg.solve_triangular(
                full, right[at], lower=lower, trans="C" if adjoint else "N", check_finite=False
            )
    return result.astype(rhs.dtype)


def _band_solver(bands: np.ndarray) -> Any:
    """Return LAPACK's solver of banded triangles, None where SciPy does not have it."""
    from scipy.linalg import lapack  # on use: heavy

    letter = {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}[bands.dtype.str[1:]]
    return getattr(lapack, f"{letter}tbtrs", None)


def _solved(solve: Any, bands: np.ndarray, right: np.ndarray, lower: bool, adjoint: bool) -> np.ndarray:
    """Solve one system: LAPACK has each diagonal begin with the column that it meets first."""
    count, rows = bands.shape
    kept = np.zeros((count, rows), bands.dtype, order="F")
    for i in range(count):
        if lower:
            kept[i, : rows - i] = bands[i, i:]
        else:
            kept[count - 1 - i, i:] = bands[count - 1 - i, : rows - i]
    x, info = solve(kept, right, uplo="L" if lower else "U", trans="C" if adjoint else "N")
    if info > 0:
        raise invalid("Input matrix is not invertible.")
    return x


@BandedTriangularSolve.gradient
def _(call, grad):
    matrix, x = call.matrix, call.output
    grad_rhs = raw.BandedTriangularSolve(matrix, grad, lower=call.lower, adjoint=not call.adjoint)
    left, right = (x, grad_rhs) if call.adjoint else (grad_rhs, x)
    whole = -raw.BatchMatMulV2(left, right, adj_y=True)
    size = raw.Shape(matrix)
    count = size[-2]
    k = raw.Pack([1 - count, count - count] if call.lower else [count - count, count - 1])
    parts = diag_part(whole, k=k, align="LEFT_LEFT" if not call.lower else "RIGHT_RIGHT")
    parts = raw.Reshape(parts, raw.ConcatV2([raw.Shape(whole)[:-2], size[-2:]], 0))
    rhs = call.rhs
    return unbroadcast(parts, matrix, rhs), unbroadcast(grad_rhs, rhs, matrix)


# --- public functions -------------------------------------------------------------------------------------------------


def banded_triangular_solve(
    bands: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solve triangular systems whose matrices are given by their bands."""
    with name_scope(name, "banded_triangular_solve", [bands, rhs]):
        return BandedTriangularSolve(bands, rhs, lower=lower, adjoint=adjoint)


def tridiagonal_matmul(
    diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """Return tridiagonal matrices times matrices.

    >>> tridiagonal_matmul(([[1.], [0.]], [[2., 2.], ], [[0., 1.]]) and [[[1., 0.], [2., 2.], [0., 1.]]],
    ...                    [[[1.], [1.]]]).numpy().tolist()
    [[[3.0], [3.0]]]
    """
    with name_scope(name, "tridiagonal_matmul", [rhs]):
        rhs = convert(rhs, name="rhs")
        above, main, below = _three_rows(diagonals, diagonals_format)
        rows = [raw.ExpandDims(d, -2) for d in (above, main, below)]
        return TridiagonalMatMul(*rows, rhs)


def _three_rows(diagonals: Any, form: str) -> tuple[Any, Any, Any]:
    """Return the diagonals above, on and below the main one, each with one entry a row of the matrix."""
    if form == "compact":
        packed = convert(diagonals, name="diagonals")
        return packed[..., 0, :], packed[..., 1, :], packed[..., 2, :]
    if form == "sequence":
        if not isinstance(diagonals, (list, tuple)) or len(diagonals) != 3:
            raise ValueError(f"Expected `diagonals` to be a sequence of length 3, got {diagonals!r}")
        above, main, below = (convert(d) for d in diagonals)
        if None in (above.shape.rank, main.shape.rank, below.shape.rank):
            return above, main, below
        if not main.shape[:-1].is_compatible_with(above.shape[:-1]) or above.shape.rank != below.shape.rank:
            raise ValueError(
                "The three diagonals must have the same shape, except for the last dimension, got "
                f"{above.shape}, {main.shape}, {below.shape}"
            )
        rows = main.shape[-1]
        for diagonal, name in ((above, "superdiagonal"), (below, "subdiagonal")):
            length = diagonal.shape[-1]
            if None not in (length, rows) and length not in (rows, rows - 1):
                raise ValueError(f"Expected the {name} to have length {rows} or {rows - 1}, got {length}")
        if above.shape[-1] is not None and rows is not None and above.shape[-1] == rows - 1:
            above = raw.ConcatV2([above, raw.ZerosLike(main[..., :1])], -1)
        if below.shape[-1] is not None and rows is not None and below.shape[-1] == rows - 1:
            below = raw.ConcatV2([raw.ZerosLike(main[..., :1]), below], -1)
        return above, main, below
    if form == "matrix":
        matrix = convert(diagonals, name="diagonals")
        sides = [None, None] if matrix.shape.rank is None else matrix.shape[-2:].as_list()
        if None not in sides and sides[0] != sides[1]:
            raise ValueError(f"Expected last two dimensions of diagonals to be same, got {matrix.shape}")
        packed = diag_part(matrix, k=(-1, 1), align="LEFT_RIGHT")
        return packed[..., 0, :], packed[..., 1, :], packed[..., 2, :]
    raise ValueError(f"Unrecognized diagonals_format: {form}; it is 'compact', 'sequence' or 'matrix'")


def tridiagonal_solve(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """Solve tridiagonal systems; `rhs` is a matrix, or a vector for each system.

    With `transpose_rhs` a right side is a row of `rhs`; what solves it is a column, as without.
    """
    with name_scope(name, "tridiagonal_solve", [rhs]):
        if diagonals_format == "compact":
            packed = convert(diagonals, name="diagonals")
        else:
            packed = raw.Pack(list(_three_rows(diagonals, diagonals_format)), axis=-2)
        rhs = convert(rhs, name="rhs", dtype=packed.dtype)
        _check_systems(packed.shape, rhs.shape, transpose_rhs)
        vectors = None not in (rhs.shape.rank, packed.shape.rank) and rhs.shape.rank == packed.shape.rank - 1
        if vectors:
            rhs = raw.ExpandDims(rhs, -1)
        elif transpose_rhs:
            rhs = matrix_transpose(rhs)
        if conjugate_rhs:
            rhs = conj(rhs)
        result = TridiagonalSolve(packed, rhs, partial_pivoting=partial_pivoting, perturb_singular=perturb_singular)
        return raw.Squeeze(result, squeeze_dims=[-1]) if vectors else result


def _check_systems(packed: TensorShape, rhs: TensorShape, turned: bool) -> None:
    """Refuse diagonals and right sides that make no systems, as far as their shapes are known."""
    if packed.rank is None or rhs.rank is None:
        return
    if packed.rank < 2:
        raise ValueError(f"Expected `diagonals` to have rank at least 2, got {packed.rank}")
    if rhs.rank not in (packed.rank, packed.rank - 1):
        raise ValueError(f"Expected the rank of `rhs` to be {packed.rank - 1} or {packed.rank}, got {rhs.rank}")
    if packed[-2] not in (None, 3):
        raise ValueError(f"Expected 3 diagonals, got {packed[-2]}")
    sides = rhs.rank - packed.rank + 2
    if not packed[:-2].is_compatible_with(rhs[: rhs.rank - sides]):
        raise ValueError(f"Batch shapes {packed[:-2]} and {rhs[: rhs.rank - sides]} are incompatible")
    count = rhs[-1] if turned or sides == 1 else rhs[-2]
    if None not in (count, packed[-1]) and count != packed[-1]:
        raise ValueError(f"Expected as many right sides as equations, got {count} and {packed[-1]}")


def eigh_tridiagonal(
    alpha: TensorLike,
    beta: TensorLike,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: TensorLike | None = None,
    name: str | None = None,
) -> Nested:
    """Return the eigenvalues (and, where asked for, vectors) of a self-adjoint matrix of three diagonals.

    `select` chooses all ("a"), those with numbers in `select_range` ("i"), or those whose value is in it ("v").

    >>> [round(float(e), 4) for e in eigh_tridiagonal([2., 2.], [1.])]
    [1.0, 3.0]
    """
    with name_scope(name, "eigh_tridiagonal", [alpha, beta]):
        alpha, beta = convert(alpha, name="alpha"), convert(beta, name="beta")
        if select not in ("a", "i", "v"):
            raise ValueError(f"'select' must have a value in {{'a', 'i', 'v'}}, got {select!r}")
        if select != "a" and select_range is None:
            raise ValueError(f"select_range must not be None when select is {select!r}")
        main = raw.Cast(raw.Real(alpha, Tout=alpha.dtype.real_dtype), DstT=alpha.dtype) if _complex(alpha) else alpha
        lower = diag(main) + diag(conj(beta) if _complex(beta) else beta, k=-1)  # `beta` is above the main diagonal
        values, vectors = (eigvalsh(lower), None) if eigvals_only else eigh(lower)
        if _complex(values):
            values = raw.Real(values, Tout=values.dtype.real_dtype)
        if select == "i":
            first, last = select_range
            values, vectors = values[first : last + 1], vectors if vectors is None else vectors[:, first : last + 1]
        elif select == "v":
            low, high = select_range
            inside = raw.Where(raw.LogicalAnd(values > low, values <= high))[:, 0]
            values = raw.GatherV2(values, inside, 0)
            vectors = vectors if vectors is None else raw.GatherV2(vectors, inside, 1)
        return values if eigvals_only else (values, vectors)


def _complex(x: Any) -> bool:
    return bool(x.dtype.is_complex)
