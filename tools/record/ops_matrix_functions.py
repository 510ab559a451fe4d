"""Cases for functions of whole matrices, and for matrices of a few diagonals."""

from __future__ import annotations

from collections.abc import Iterator

from ops_matrix import OTHER, POSITIVE, ROUNDED, SOLVED, SQUARE
from ops_rows import COMPLEX, DT, D, V, bad, case, op

LOOSE = {"tol64": [100, "iterations of different libraries stop at different last digits"]}


def cases() -> Iterator[dict]:
    for family in (functions, lu, eigenvalues, tridiagonal, banded):
        yield from family()


def functions() -> Iterator[dict]:
    wrong = [bad(input=D(d)) for d in ("2 3", "3", "")] + [bad(input=D("2 2", dtype="int32"))]
    rows = [case(input=V(m), no_grad=True, **LOOSE) for m in (POSITIVE, [[2.5]], [POSITIVE, OTHER])]
    rows += [case(input=D(d), no_grad=True) for d in ("0 0", "0 2 2")]
    yield from op("MatrixLogarithm", COMPLEX, *rows, *wrong)
    rows = [case(input=V(m), **LOOSE) for m in (POSITIVE, [[2.5]])]
    rows += [case(input=V([POSITIVE, SQUARE]), no_grad=True, **LOOSE), case(input=D("0 0"), no_grad=True)]
    yield from op("MatrixSquareRoot", ("float32", "float64", *COMPLEX), *rows, *wrong)


def lu() -> Iterator[dict]:
    rows = [case(input=V(m), **ROUNDED) for m in (SQUARE, [[2.5]], [SQUARE, OTHER], [[0.0, 2.0], [4.0, 1.0]])]
    rows += [case(input=V(OTHER), output_idx_type=DT("int64"), **ROUNDED), case(input=D("0 0"), no_grad=True)]
    rows += [bad(input=D(d)) for d in ("2 3", "3", "")] + [bad(input=V([[1.0, 2.0], [2.0, 4.0]]))]
    yield from op("Lu", SOLVED, *rows)


def eigenvalues() -> Iterator[dict]:
    triangle = [[1.0, 0.5, 0.25], [0.0, 2.0, -0.5], [0.0, 0.0, 4.0]]
    for dtype, out in (("float64", "complex128"), ("complex64", "complex64")):
        to = {"Tout": DT(out), "dtypes": [dtype]}
        rows = [case(input=V(triangle), compute_v=False, via="first", **to, **LOOSE)]
        rows += [case(input=V([[2.5]]), no_grad=True, **to), bad(input=D("2 3"), **to), bad(input=D("3"), **to)]
        rows += [case(input=D("0 2 2"), compute_v=False, via="first", no_grad=True, **to)]
        yield from op("Eig", (dtype,), *rows)


def tridiagonal() -> Iterator[dict]:
    shapes = [("1 3", "3 2"), ("1 1", "1 1"), ("2 1 3", "2 3 1"), ("1 4", "4 0")]
    rows = [case(superdiag=D(a), maindiag=D(a), subdiag=D(a), rhs=D(b)) for a, b in shapes]
    rows += [case(superdiag=D("1 3"), maindiag=D("1 3"), subdiag=D("1 3"), rhs=D("3 2"), second=True)]
    wrong = [("1 2", "3 2"), ("1 3", "4 2")]
    rows += [bad(superdiag=D("1 3"), maindiag=D("1 3"), subdiag=D(c), rhs=D(d)) for c, d in wrong]
    yield from op("TridiagonalMatMul", ("float64", "float32", *COMPLEX), *rows)
    diagonals = [[1.0, 0.5, 0.0], [3.0, 4.0, 5.0], [0.0, -1.0, 2.0]]
    rows = [case(diagonals=V(diagonals), rhs=D("3 2"), **ROUNDED), case(diagonals=V([diagonals] * 2), rhs=D("2 3 1"))]
    rows += [case(diagonals=V(diagonals), rhs=D("3 2"), partial_pivoting=False, **ROUNDED)]
    rows += [case(diagonals=V(diagonals), rhs=D("3 1"), second=True, dtypes=["float64"], **ROUNDED)]
    rows += [case(diagonals=V([[0.0], [2.0], [0.0]]), rhs=D("1 2"), **ROUNDED)]
    rows += [bad(diagonals=D(a), rhs=D(b)) for a, b in (("2 3", "3 1"), ("3 3", "4 1"), ("3", "3 1"), ("3 3", "3"))]
    yield from op("TridiagonalSolve", ("float64", "float32", *COMPLEX), *rows)


def banded() -> Iterator[dict]:
    bands = [[2.0, 3.0, 4.0], [1.0, 2.0, 3.0]]
    flags = [(lower, adjoint) for lower in (True, False) for adjoint in (False, True)]
    rows = [case(matrix=V(bands), rhs=D("3 2"), lower=a, adjoint=b, dtypes=SOLVED, **ROUNDED) for a, b in flags]
    rows += [
        case(matrix=V([bands, bands]), rhs=D("3 1"), **ROUNDED),
        case(matrix=V([bands]), rhs=D("2 3 1"), **ROUNDED),
    ]
    rows += [case(matrix=V([[2.0, 3.0, 4.0]]), rhs=D("3 2"), no_grad=True, **ROUNDED)]
    rows += [bad(matrix=V(bands), rhs=D(b)) for b in ("2 1", "3")] + [bad(matrix=D("3"), rhs=D("3 1"))]
    yield from op("BandedTriangularSolve", ("float64", "float32", *COMPLEX), *rows)
