"""Cases for products and factorisations of matrices.

Factors are free up to signs (QR, SVD, eigenvectors): those cases name a way to make them comparable (`via`), which the
replayer applies to both sides. Gradients through a factorisation are recorded where they do not depend on the freedom.
"""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import COMPLEX, FLOAT, REAL, D, L, Row, V, bad, case, inf, nan, op

FC = FLOAT + COMPLEX
SOLVED = ("float32", "float64", "float16", *COMPLEX)
DOUBLES = ("float32", "float64")
ROUNDED = {"tol64": [10, "elimination order differs between libraries"]}

# Well-conditioned matrices with short entries.
SQUARE = [[2.0, -1.0, 0.5], [0.25, 3.0, -1.0], [-0.5, 1.0, 1.5]]
OTHER = [[1.0, 2.0, 0.0], [-1.0, 2.5, 0.5], [0.5, -0.25, 3.0]]
POSITIVE = [[4.0, 1.0, -0.5], [1.0, 3.0, 0.75], [-0.5, 0.75, 2.0]]
TALL = [[1.0, 2.0], [3.0, -1.0], [0.5, 1.5], [-2.0, 0.25]]
LOWER = [[2.0, 0.0, 0.0], [0.5, 1.5, 0.0], [-1.0, 0.25, 3.0]]


def cases() -> Iterator[dict]:
    for family in (products, einsums, inverses, solves, least_squares, factors, small):
        yield from family()


def products() -> Iterator[dict]:
    numbers = (*FC, "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    shapes = [
        ("2 3", "3 2"),
        ("1 1", "1 1"),
        ("3 1", "1 4"),
        ("1 4", "4 1"),
        ("0 3", "3 2"),
        ("2 0", "0 3"),
        ("2 3", "3 0"),
        ("0 0", "0 0"),
    ]
    rows = [case(a=D(a), b=D(b)) for a, b in shapes]
    flags = [(False, True, "2 3", "2 3"), (True, False, "3 2", "3 4"), (True, True, "3 2", "4 3")]
    rows += [case(a=D(a), b=D(b), transpose_a=ta, transpose_b=tb, dtypes=FC) for ta, tb, a, b in flags]
    rows += [
        case(a=D(a), b=D(b), transpose_a=ta, transpose_b=tb, second=True, dtypes=["float64"])
        for ta, tb, a, b in [(False, False, "2 3", "3 2"), *flags]
    ]
    rows += [
        case(a=V([[nan, 1.0], [inf, 0.0]]), b=V([[1.0, 0.0], [2.0, 3.0]])),
        case(a=D("2 3"), b=D("3 2"), grad_a=True, grad_b=True, no_grad=True),
    ]
    rows += [
        bad(a=D(a), b=D(b)) for a, b in (("2 3", "2 3"), ("3", "3 2"), ("2 3", "3"), ("2 2 2", "2 2"), ("", "2 2"))
    ]
    rows += [
        bad(a=D("2 2"), b=D("2 2", dtype="int32")),
        bad(a=D("2 2", dtype="bool"), b=D("2 2", dtype="bool")),
        bad(a=D("3 2"), b=D("3 2"), transpose_b=True, transpose_a=True),
    ]
    yield from op("MatMul", numbers, *rows)
    for name in ("BatchMatMul", "BatchMatMulV2"):
        shapes = [
            ("2 2 3", "2 3 2"),
            ("2 3", "3 2"),
            ("2 1 2 2", "2 1 2 1"),
            ("0 2 3", "0 3 2"),
            ("2 0 3", "2 3 2"),
            ("2 2 0", "2 0 3"),
            ("1 1 1", "1 1 1"),
        ]
        shapes += (
            [("2 3", "2 3 2"), ("2 1 2 2", "3 2 2"), ("1 2 3", "4 3 1"), ("2 2 3", "3 1")]
            if name == "BatchMatMulV2"
            else []
        )
        rows = [case(x=D(a), y=D(b)) for a, b in shapes]
        flags = [(False, True, "2 2 3", "2 2 3"), (True, False, "2 3 2", "2 3 1"), (True, True, "2 3 2", "2 1 3")]
        rows += [case(x=D(a), y=D(b), adj_x=ta, adj_y=tb, dtypes=FC) for ta, tb, a, b in flags]
        rows += [
            case(x=D(a), y=D(b), adj_x=ta, adj_y=tb, second=True, dtypes=["float64", "complex128"])
            for ta, tb, a, b in flags
        ]
        rows += [
            bad(x=D(a), y=D(b)) for a, b in (("2 2 3", "2 2 3"), ("3", "3 2"), ("2 2 2", "3 2 2"), ("", "2 2"))
        ] + [bad(x=D("2 2"), y=D("2 2", dtype="int64"))]
        rows += [case(x=D("2 2 3"), y=D("2 3 2"), grad_x=True, grad_y=True, no_grad=True)]
        yield from op(name, (*FC, "int32", "int64"), *rows)


def einsums() -> Iterator[dict]:
    good = [
        ("ij,jk->ik", ["2 3", "3 2"]),
        ("ij->ji", ["2 3"]),
        ("ij->", ["2 3"]),
        ("ij->j", ["2 3"]),
        ("ii->i", ["3 3"]),
        ("ii->", ["3 3"]),
        ("i,i->", ["4", "4"]),
        ("i,j->ij", ["2", "3"]),
    ]
    good += [
        ("bij,bjk->bik", ["2 2 3", "2 3 1"]),
        ("...ij,...jk->...ik", ["2 2 3", "3 2"]),
        ("abc,bd->acd", ["2 3 2", "3 2"]),
        ("ij,ij->ij", ["2 3", "2 3"]),
        ("...->...", ["2 3"]),
        ("ijk->kij", ["2 1 3"]),
        (",->", ["", ""]),
    ]
    good += [
        ("i->ii", ["3"]),
        ("ab,cd->abcd", ["2 1", "1 2"]),
        ("...i,...i->...", ["2 3", "3"]),
        ("ij,jk->ik", ["0 3", "3 2"]),
        ("ij,jk->ik", ["2 0", "0 2"]),
        ("bhqd,bhkd->bhqk", ["1 2 2 2", "1 2 3 2"]),
        ("abij,b->aij", ["2 2 1 2", "2"]),
    ]
    rows = [case(inputs=[D(d) for d in dims], equation=e) for e, dims in good]
    rows += [
        case(inputs=[D(d) for d in dims], equation=e, second=True, dtypes=["float64"])
        for e, dims in (good[0], good[8], good[9], good[4])
    ]
    wrong = [
        ("ij,jk->ik", ["2 3", "2 3"]),
        ("ij", ["2 3"]),
        ("ij,jk->ik", ["2 3"]),
        ("ij->i", ["2"]),
        ("ii->i", ["2 3"]),
        ("i..j->ij", ["2 3"]),
        ("ij->..j", ["2 3"]),
    ]
    rows += [bad(inputs=[D(d) for d in dims], equation=e) for e, dims in wrong] + [
        bad(inputs=[D("2 2"), D("2 2", dtype="int32")], equation="ij,jk->ik")
    ]
    yield from op("Einsum", (*FC, "int32", "int64"), *rows)


def _squares(argument: str, matrix: list, wrong: tuple = ("2 3", "3", ""), **options) -> list[Row]:
    stacked = [matrix, [[3.0, 0.5, 0.0], [0.5, 2.0, 0.25], [0.0, 0.25, 1.0]]]
    rows = [
        case(**{argument: V(matrix)}, **options),
        case(**{argument: V([[2.5]])}, **options),
        case(**{argument: V(stacked)}, **options),
        case(**{argument: V([[stacked[1]]])}, **options),
    ]
    rows += [case(**{argument: D(d)}, **options) for d in ("0 0", "0 2 2", "2 0 0")] + [
        bad(**{argument: D(d)}) for d in wrong
    ]
    return [
        *rows,
        case(**{argument: V(matrix)}, second=True, dtypes=["float64"], **options),
        bad(**{argument: D("2 2", dtype="int32")}),
    ]


def inverses() -> Iterator[dict]:
    singular = [[1.0, 2.0], [2.0, 4.0]]
    rows = _squares("input", POSITIVE, **ROUNDED) + [case(input=V(m), no_grad=True) for m in ([[-1.0]], [[nan]])]
    rows += [
        case(input=V([[2.0 + 0j, 0.5 - 0.5j], [0.5 + 0.5j, 3.0 + 0j]]), dtypes=COMPLEX, **ROUNDED),
        case(input=V([[4.0, 99.0], [1.0, 3.0]]), **ROUNDED),
    ]
    yield from op("Cholesky", SOLVED, *rows)
    rows = [
        *_squares("input", SQUARE, **ROUNDED),
        case(input=V(SQUARE), adjoint=True, dtypes=SOLVED, **ROUNDED),
        case(input=D("2 2", 1.0, 2.0), dtypes=COMPLEX, **ROUNDED),
        case(input=D("2 2", 1.0, 2.0), adjoint=True, dtypes=COMPLEX, **ROUNDED),
        bad(input=V(singular)),
        bad(input=V([[0.0]])),
    ]
    yield from op("MatrixInverse", SOLVED, *rows)
    rows = [
        *_squares("input", SQUARE, **ROUNDED),
        case(input=V(singular), no_grad=True),
        case(input=D("2 2", 1.0, 2.0), dtypes=COMPLEX, **ROUNDED),
    ]
    yield from op("MatrixDeterminant", SOLVED, *rows)
    rows = [
        *_squares("input", SQUARE, **ROUNDED),
        case(input=V(singular), no_grad=True),
        case(input=V([[0.0, 1.0], [1.0, 0.0]]), **ROUNDED),
        case(input=D("2 2", 1.0, 2.0), dtypes=COMPLEX, **ROUNDED),
    ]
    yield from op("LogMatrixDeterminant", SOLVED, *rows)


def solves() -> Iterator[dict]:
    pair = V([SQUARE, OTHER])
    wrong = [("2 2", "3 1"), ("2 3", "2 1"), ("2", "2 1"), ("2 2", "2"), ("2 2 2", "3 2 1")]
    rows = [
        case(matrix=V(SQUARE), rhs=D("3 2"), **ROUNDED),
        case(matrix=pair, rhs=D("2 3 1"), **ROUNDED),
        case(matrix=V([[2.0]]), rhs=V([[3.0]]), **ROUNDED),
    ]
    rows += [
        case(matrix=V(SQUARE), rhs=D("3 2"), adjoint=True, dtypes=SOLVED, **ROUNDED),
        case(matrix=D("2 2", 1.0, 2.0), rhs=D("2 1"), adjoint=True, dtypes=COMPLEX, **ROUNDED),
    ]
    rows += [case(matrix=D(a), rhs=D(b)) for a, b in (("0 0", "0 2"), ("2 2", "2 0"), ("0 2 2", "0 2 1"))]
    rows += [
        case(matrix=V(SQUARE), rhs=D("3 2"), adjoint=adjoint, second=True, dtypes=["float64"], **ROUNDED)
        for adjoint in (False, True)
    ]
    rows += [bad(matrix=D(a), rhs=D(b)) for a, b in wrong] + [
        bad(matrix=V([[1.0, 2.0], [2.0, 4.0]]), rhs=D("2 1")),
        bad(matrix=V(SQUARE), rhs=D("3 1", dtype="int32")),
    ]
    yield from op("MatrixSolve", SOLVED, *rows)
    rows = [
        case(matrix=V(LOWER), rhs=D("3 2"), **ROUNDED),
        case(matrix=V([LOWER, OTHER]), rhs=D("2 3 1"), **ROUNDED),
        case(matrix=V(LOWER), rhs=D("2 3 1"), **ROUNDED),
        case(matrix=V([LOWER, OTHER]), rhs=D("3 1"), **ROUNDED),
    ]
    rows += [
        case(matrix=V(SQUARE), rhs=D("3 2"), lower=lower, adjoint=adjoint, dtypes=(*SOLVED, "bfloat16"), **ROUNDED)
        for lower in (True, False)
        for adjoint in (False, True)
    ]
    rows += [
        case(matrix=V(SQUARE), rhs=D("3 2"), lower=lower, second=True, dtypes=["float64"], **ROUNDED)
        for lower in (True, False)
    ] + [case(matrix=D(a), rhs=D(b)) for a, b in (("0 0", "0 2"), ("2 2", "2 0"), ("0 2 2", "0 2 1"))]
    rows += [bad(matrix=D(a), rhs=D(b)) for a, b in wrong] + [
        case(matrix=V([[0.0, 0.0], [1.0, 1.0]]), rhs=D("2 1"), no_grad=True)
    ]
    yield from op("MatrixTriangularSolve", (*SOLVED, "bfloat16"), *rows)


def least_squares() -> Iterator[dict]:
    least = {"tol64": [1000, "normal equations square the condition number"]}
    regular = lambda v: L("float64", v)
    rows = [
        case(matrix=V(TALL), rhs=D("4 2"), l2_regularizer=regular(v), fast=fast, wide=True, **least)
        for fast in (True, False)
        for v in (0.0, 0.5)
    ]
    rows += [
        case(matrix=V([list(c) for c in zip(*TALL, strict=True)]), rhs=D("2 1"), l2_regularizer=regular(v), **least)
        for v in (0.0, 0.5)
    ] + [
        case(matrix=V([TALL, TALL]), rhs=D("2 4 1"), l2_regularizer=regular(0.25), **least),
        case(matrix=V(SQUARE), rhs=D("3 1"), l2_regularizer=regular(0.0), **least),
    ]
    rows += [
        bad(matrix=V(TALL), rhs=D("3 1"), l2_regularizer=regular(0.0)),
        bad(matrix=D("3"), rhs=D("3 1"), l2_regularizer=regular(0.0)),
        bad(matrix=V(TALL), rhs=D("4 1"), l2_regularizer=regular([0.0, 1.0])),
        bad(matrix=V(TALL), rhs=D("4 1"), l2_regularizer=L("float32", 0.0)),
    ]
    yield from op("MatrixSolveLs", ("float32", "float64", *COMPLEX), *rows)


def factors() -> Iterator[dict]:
    loose = {"tol64": [100, "iterations of different libraries stop at different last digits"]}
    wide = [list(c) for c in zip(*TALL, strict=True)]
    qr = {"via": "qr", **loose}
    rows = [
        case(input=V(TALL), **qr),
        case(input=V(SQUARE), **qr),
        case(input=V([SQUARE, OTHER]), **qr),
        case(input=V(wide), **qr),
        case(input=V([[2.0]]), **qr),
        case(input=V(SQUARE), full_matrices=True, **qr),
        case(input=D("3 2"), dtypes=COMPLEX, no_grad=True, **qr),
    ]
    rows += [bad(input=D("3")), bad(input=D("")), bad(input=D("2 2", dtype="int32"))]
    yield from op("Qr", DOUBLES, *rows)
    svd, whole = {"via": "svd", **loose}, {"via": "product", "full_matrices": True, "toward": (0, 1), **loose}
    rows = [
        case(input=V(TALL), **svd),
        case(input=V(wide), **svd),
        case(input=V(SQUARE), **svd),
        case(input=V([SQUARE, OTHER]), **svd),
        case(input=V([[2.0]]), **svd),
        case(input=V(TALL), no_grad=True, **whole),
        case(input=V(wide), no_grad=True, **whole),
    ]
    rows += [
        case(input=V(matrix), via="first", compute_uv=False, dtypes=SOLVED[:2] + COMPLEX, **loose)
        for matrix in (TALL, wide, SQUARE)
    ] + [case(input=D("0 2"), via="first", compute_uv=False, no_grad=True)]
    rows += [
        case(input=D("3 2"), dtypes=COMPLEX, no_grad=True, **svd),
        bad(input=D("3")),
        bad(input=D("")),
        bad(input=D("2 2", dtype="int32")),
    ]
    yield from op("Svd", ("float32", "float64"), *rows)
    eigh = {"via": "eigh", **loose}
    stacked = [POSITIVE, [[1.0, 0.25, 0.0], [0.25, 2.0, 0.5], [0.0, 0.5, 4.0]]]
    rows = [
        case(input=V(POSITIVE), **eigh),
        case(input=V(stacked), **eigh),
        case(input=V([[2.0]]), **eigh),
        case(input=V([[2.0, 9.0], [0.5, 1.0]]), **eigh),
        case(input=V([[2.0 + 0j, 0.5 - 0.5j], [0.5 + 0.5j, 3.0 + 0j]]), dtypes=COMPLEX, no_grad=True, **eigh),
    ]
    rows += [case(input=V(m), compute_v=False, via="first", dtypes=DOUBLES, **loose) for m in (POSITIVE, stacked)] + [
        case(input=D("0 2 2"), compute_v=False, via="first", no_grad=True)
    ]
    rows += [bad(input=D(d)) for d in ("2 3", "3", "")] + [bad(input=D("2 2", dtype="int32"))]
    yield from op("SelfAdjointEigV2", DOUBLES, *rows)


def small() -> Iterator[dict]:
    rows = [case(a=D(d), b=D(d)) for d in ("2 3", "3", "1 2 3", "2 1 1 3", "0 3", "2 0 3")] + [
        case(a=D("2 3"), b=D("2 3"), second=True, dtypes=["float64"]),
        case(a=V([nan, 1.0, inf]), b=V([1.0, 0.0, 2.0])),
    ]
    rows += [bad(a=D(a), b=D(b)) for a, b in (("2 3", "3"), ("2", "2"), ("", ""), ("4 3", "2 3"), ("3 2", "3 2"))] + [
        bad(a=D("3"), b=D("3", dtype="int32"))
    ]
    yield from op("Cross", REAL, *rows)
    rows = [case(t=D(d)) for d in ("2 3", "", "4", "1 2 2 2", "0", "2 0 3")] + [
        case(t=D("2 3"), second=True, dtypes=["float64"]),
        case(t=V([nan, 1.0])),
        case(t=V([inf, 1.0])),
        bad(t=D("2", dtype="int32")),
    ]
    yield from op("L2Loss", FLOAT, *rows)
