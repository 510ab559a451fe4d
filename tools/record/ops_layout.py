"""Cases for ops that make tensors, and for those that lay elements out on diagonals, in blocks and in patches."""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import ANY, COMPLEX, FLOAT, NUMBER, D, I, L, V, bad, case, inf, nan, op

FC = FLOAT + COMPLEX
NONE = [[0, 0], [0, 0]]  # no padding, no crop
ALIGNS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def K(values: object) -> V:
    return L("int32", values)


def cases() -> Iterator[dict]:
    for family in (
        made,
        ranges,
        one_hots,
        diagonals,
        banded_diagonals,
        bands_out,
        bands_in,
        blocks,
        space_batches,
        batch_spaces,
        square_blocks,
        patches,
    ):
        yield from family()


def made() -> Iterator[dict]:
    rows = [case(dims=I(d), value=V(1)) for d in ([2, 3], [], [4], [1, 2, 1, 2], [0], [2, 0, 3])]
    rows += [case(dims=I([2]), value=D(""), wide=True), case(dims=I([2, 2]), value=V(nan), dtypes=FLOAT)]
    rows += [
        bad(dims=I([-1]), value=V(1)),
        bad(dims=I([[2]]), value=V(1)),
        bad(dims=I([2]), value=V([1, 2])),
        bad(dims=L("float32", [2]), value=V(1)),
    ]
    rows += [bad(dims=L("int64", [2**40, 2**40]), value=V(1))]
    yield from op("Fill", ANY, *rows)


def ranges() -> Iterator[dict]:
    numbers = ("int32", "float32", "float64", "float16", "bfloat16", "int64", "int8", "int16")
    good = [(0, 5, 1), (2, 9, 3), (5, 0, -1), (3, 3, 1), (0, 5, 7), (10, 0, -3)]
    rows = [case(start=V(a), limit=V(b), delta=V(c), no_grad=True, wide=True) for a, b, c in good]
    rows += [
        case(start=V(a), limit=V(b), delta=V(c), dtypes=FLOAT, no_grad=True)
        for a, b, c in ((0.0, 1.0, 0.25), (1.5, -1.5, -0.5), (0.0, 1.0, 0.3))
    ]
    rows += [
        case(start=V(a), limit=V(b), delta=V(1), dtypes=("uint16", "uint32", "uint64"), no_grad=True)
        for a, b in ((0, 4),)
    ]
    rows += [
        bad(start=V(0), limit=V(5), delta=V(0), wide=True),
        bad(start=V(0), limit=V(5), delta=V(-1)),
        bad(start=V(5), limit=V(0), delta=V(1)),
    ]
    rows += [
        bad(start=V([0]), limit=V([5, 6]), delta=V(1)),
        bad(start=L("string", "0"), limit=L("string", "5"), delta=L("string", "1")),
    ]
    yield from op("Range", numbers, *rows)

    rows = [
        case(start=V(0.0), stop=V(1.0), num=I(5), wide=True),
        *[
            case(start=V(a), stop=V(b), num=I(n))
            for a, b, n in ((2.0, -2.0, 9), (0.0, 1.0, 1), (3.0, 3.0, 4), (1.0, 10.0, 2))
        ],
    ]
    rows += [case(start=V(0.0), stop=V(inf), num=I(2)), case(start=V(0.0), stop=V(1.0), num=I(7), wide=True)]
    rows += [bad(start=V(0.0), stop=V(1.0), num=I(n)) for n in (0, -1)] + [
        bad(start=V([0.0, 1.0]), stop=V(1.0), num=I(3)),
        bad(start=V(0.0), stop=V(1.0), num=L("float32", 3)),
    ]
    yield from op("LinSpace", FLOAT, *rows)


def one_hots() -> Iterator[dict]:
    on_off = {"on_value": V(1), "off_value": V(0)}
    rows = [case(indices=I([0, 2, 1]), depth=K(3), **on_off)]
    rows += [case(indices=I([[0, 2], [1, 3]]), depth=K(4), axis=a, **on_off) for a in (-1, 0, 1, 2)]
    rows += [
        case(indices=I(v), depth=K(n), on_value=V(5.0), off_value=V(-1.0))
        for v, n in ((2, 3), ([0, 5, 1], 3), ([0], 0), ([], 3), ([[], []], 2), ([1, 1], 1))
    ]
    rows += [
        case(indices=L("int64", [-1, 0, 7]), depth=K(3), **on_off),
        case(indices=I([1, 0]), depth=K(2), on_value=V(nan), off_value=V(inf), dtypes=("float32",)),
    ]
    rows += [
        bad(indices=I([0]), depth=K(-1), **on_off),
        bad(indices=I([0]), depth=K([3]), **on_off),
        bad(indices=I([0]), depth=K(3), axis=2, **on_off),
    ]
    rows += [
        bad(indices=I([0]), depth=K(3), on_value=V([1, 2]), off_value=V(0)),
        bad(indices=L("float32", [0]), depth=K(3), **on_off),
    ]
    yield from op("OneHot", ANY, *rows, index=("int32", "int64", "uint8"))


def diagonals() -> Iterator[dict]:
    numbers = (*FC, "int32", "int64")
    rows = [case(diagonal=D(d)) for d in ("3", "1", "2 2", "1 2 1", "0", "2 0")] + [
        case(diagonal=V([nan, inf])),
        bad(diagonal=D("")),
        bad(diagonal=D("2", dtype="bool")),
    ]
    yield from op("Diag", numbers, *rows)
    rows = [case(input=D(d)) for d in ("3 3", "1 1", "2 2 2 2", "2 1 2 1", "0 0", "2 0 2 0")]
    rows += [bad(input=D(d)) for d in ("3 2", "3", "", "2 3 3 2", "2 2 2")]
    yield from op("DiagPart", numbers, *rows)
    rows = [case(diagonal=D(d)) for d in ("3", "2 3", "1", "2 1 2", "0", "2 0", "0 2", "1 1 2 2")] + [
        bad(diagonal=D(""))
    ]
    yield from op("MatrixDiag", ANY, *rows)
    rows = [case(input=D(d)) for d in ("3 3", "2 3", "3 2", "2 2 3", "1 2 2 2", "0 0", "0 3", "2 0 3", "0 2 2")] + [
        bad(input=D("3")),
        bad(input=D("")),
    ]
    yield from op("MatrixDiagPart", ANY, *rows)
    rows = [
        case(input=D(a), diagonal=D(b))
        for a, b in (
            ("3 3", "3"),
            ("2 3", "2"),
            ("3 2", "2"),
            ("2 2 3", "2 2"),
            ("0 0", "0"),
            ("2 0 3", "2 0"),
            ("1 2 2 2", "1 2 2"),
        )
    ]
    rows += [bad(input=D(a), diagonal=D(b)) for a, b in (("3 3", "2"), ("3", "3"), ("2 2 2", "2"), ("3 3", ""))] + [
        bad(input=D("2 2"), diagonal=D("2", dtype="int32"))
    ]
    yield from op("MatrixSetDiag", ANY, *rows)
    rows = [
        case(input=D(d), num_lower=I(lo), num_upper=I(up))
        for d, lo, up in (("3 3", 1, 0), ("3 3", 0, 1), ("3 3", -1, 0), ("3 3", 0, -1), ("3 3", -1, -1), ("3 3", 0, 0))
    ]
    rows += [
        case(input=D(d), num_lower=I(lo), num_upper=I(up))
        for d, lo, up in (
            ("2 4", 1, 1),
            ("4 2", 1, 1),
            ("2 2 3", 0, 1),
            ("0 0", 0, 0),
            ("2 0 3", 0, 1),
            ("1 2 2 2", -1, 0),
        )
    ]
    rows += [
        bad(input=D(d), num_lower=I(lo), num_upper=I(up))
        for d, lo, up in (("3 3", 4, 0), ("3 3", 0, 4), ("3", 0, 0), ("", 0, 0))
    ] + [bad(input=D("2 2"), num_lower=I([1]), num_upper=I(0))]
    yield from op("MatrixBandPart", ANY, *rows, index=("int64", "int32"))


def banded_diagonals() -> Iterator[dict]:
    size = {"num_rows": K(-1), "num_cols": K(-1), "padding_value": V(0)}
    rows = [case(diagonal=D("3"), k=K(0), **size)]
    rows += [
        case(diagonal=D("2 3"), k=K([0, 1]), align=a, num_rows=K(3), num_cols=K(3), padding_value=V(9)) for a in ALIGNS
    ]
    rows += [case(diagonal=D("3 3"), k=K([-1, 1]), align=a, **size) for a in ALIGNS] + [
        case(diagonal=D("2 2"), k=K(k), **size) for k in (1, -1)
    ]
    rows += [
        case(diagonal=D("2 3 2"), k=K([-1, 1]), num_rows=K(2), num_cols=K(3), padding_value=V(1), align=a)
        for a in ALIGNS
    ]
    rows += [
        case(diagonal=D("2"), k=K(1), num_rows=K(4), num_cols=K(3), padding_value=V(7)),
        case(diagonal=D("0 2"), k=K(0), **size),
        case(diagonal=D("2 1 2"), k=K(0), **size),
    ]
    rows += [
        bad(diagonal=D(""), k=K(0), **size),
        bad(diagonal=D("3"), k=K([1, 0]), **size),
        bad(diagonal=D("2 3"), k=K([0, 2]), **size),
        bad(diagonal=D("3"), k=K(0), num_rows=K(2), num_cols=K(2), padding_value=V(0)),
    ]
    rows += [
        bad(diagonal=D("2"), k=K([0, 1, 2]), **size),
        bad(diagonal=D("2"), k=K(0), num_rows=K(-1), num_cols=K(-1), padding_value=V([0, 1])),
        bad(diagonal=D("2"), k=K(0), align="CENTER", **size),
    ]
    yield from op("MatrixDiagV3", ANY, *rows)


def bands_out() -> Iterator[dict]:
    zero = {"padding_value": V(0)}
    rows = [case(input=D("3 4"), k=K(0), **zero), *[case(input=D("3 4"), k=K(k), **zero) for k in (1, -1, 3, -2)]]
    rows += [case(input=D("3 4"), k=K([-1, 2]), align=a, padding_value=V(9)) for a in ALIGNS] + [
        case(input=D("2 3 2"), k=K([-2, 1]), align=a, **zero) for a in ALIGNS
    ]
    rows += [
        case(input=D("2 2 2"), k=K([0, 0]), **zero),
        case(input=D("0 2 2"), k=K(0), **zero),
        case(input=D("1 1 3 3"), k=K([0, 1]), **zero),
    ]
    rows += [
        bad(input=D("3"), k=K(0), **zero),
        bad(input=D("3 4"), k=K(4), **zero),
        bad(input=D("3 4"), k=K(-3), **zero),
        bad(input=D("3 4"), k=K([1, 0]), **zero),
        bad(input=D("3 3"), k=K(0), padding_value=V([0, 0])),
    ]
    yield from op("MatrixDiagPartV3", ANY, *rows)


def bands_in() -> Iterator[dict]:
    rows = [
        case(input=D("3 4"), diagonal=D("3"), k=K(0)),
        case(input=D("3 4"), diagonal=D("3"), k=K(1)),
        case(input=D("3 4"), diagonal=D("2"), k=K(-1)),
    ]
    rows += [case(input=D("3 4"), diagonal=D("4 3"), k=K([-1, 2]), align=a) for a in ALIGNS] + [
        case(input=D("2 3 3"), diagonal=D("2 2 3"), k=K([-1, 0]), align=a) for a in ALIGNS
    ]
    rows += [
        case(input=D("0 2 2"), diagonal=D("0 2"), k=K(0)),
        case(input=D("1 1 2 2"), diagonal=D("1 1 2"), k=K([0, 0])),
    ]
    rows += [
        bad(input=D("3 4"), diagonal=D("2"), k=K(0)),
        bad(input=D("3"), diagonal=D("3"), k=K(0)),
        bad(input=D("3 4"), diagonal=D("3"), k=K(4)),
        bad(input=D("3 4"), diagonal=D("3 3"), k=K([-1, 2])),
        bad(input=D("3 3"), diagonal=D("3", dtype="int32"), k=K(0)),
    ]
    yield from op("MatrixSetDiagV3", ANY, *rows)


def blocks() -> Iterator[dict]:
    for name, shapes, wrong in (
        (
            "SpaceToDepth",
            ("1 2 2 1", "1 4 2 2", "2 2 4 1", "0 2 2 1", "1 2 2 0", "1 0 2 1"),
            ("1 3 2 1", "1 2 3 1", "2 2 1"),
        ),
        (
            "DepthToSpace",
            ("1 1 1 4", "1 2 1 8", "2 1 2 4", "0 1 1 4", "1 0 1 4", "1 1 1 0"),
            ("1 1 1 3", "1 1 1 6", "1 1 4"),
        ),
    ):
        rows = [case(input=D(d), block_size=2) for d in shapes] + [bad(input=D(d), block_size=2) for d in wrong]
        rows += [case(input=D("1 3 3 1" if name == "SpaceToDepth" else "1 1 1 9"), block_size=3)]
        rows += [
            case(input=D(d), block_size=2, data_format="NCHW")
            for d in (("1 1 2 2", "2 2 2 4") if name == "SpaceToDepth" else ("1 4 1 1", "2 8 1 2"))
        ]
        rows += [bad(input=D("1 2 2 4"), block_size=b) for b in (1, 0, -2)] + [
            bad(input=D("1 2 2 4"), block_size=2, data_format="CHWN")
        ]
        yield from op(name, ANY, *rows)


def space_batches() -> Iterator[dict]:
    good = [
        ("1 2 2 1", [2, 2], NONE),
        ("1 4 4 1", [2, 2], NONE),
        ("2 3 1 1", [3, 1], NONE),
        ("1 3 2 1", [2, 2], [[1, 0], [0, 2]]),
        ("1 4", [2], [[0, 0]]),
        ("1 3 2", [2], [[1, 2]]),
    ]
    good += [
        ("1 2 4 2", [1, 2], NONE),
        ("2 2", [1], [[0, 0]]),
        ("0 2 2 1", [2, 2], NONE),
        ("1 2 2 0", [2, 2], NONE),
        ("1 0 2", [2], [[0, 0]]),
    ]
    wrong = [
        ("1 3 2 1", [2, 2], NONE),
        ("1 2 2 1", [0, 2], NONE),
        ("1 2 2 1", [2, 2], [[-1, 1], [0, 0]]),
        ("1 2 2 1", [2, 2], [[0, 0]]),
        ("1", [2, 2], NONE),
        ("1 2 2 1", [-2, 2], NONE),
    ]
    rows = [case(input=D(d), block_shape=I(b), paddings=I(p)) for d, b, p in good] + [
        bad(input=D(d), block_shape=I(b), paddings=I(p)) for d, b, p in wrong
    ]
    yield from op("SpaceToBatchND", ANY, *rows)


def batch_spaces() -> Iterator[dict]:
    good = [
        ("4 1 1 1", [2, 2], NONE),
        ("4 2 2 1", [2, 2], NONE),
        ("6 1 2 1", [3, 1], NONE),
        ("4 2 2 1", [2, 2], [[1, 0], [0, 2]]),
        ("2 3", [2], [[1, 2]]),
        ("4 1 2 2", [2, 2], [[0, 1], [1, 1]]),
    ]
    good += [("2 2", [1], [[0, 0]]), ("0 2 2 1", [2, 2], NONE), ("4 2 2 0", [2, 2], NONE)]
    wrong = [
        ("3 1 1 1", [2, 2], NONE),
        ("4 1 1 1", [2, 2], [[2, 1], [0, 0]]),
        ("4 1 1 1", [0, 2], NONE),
        ("4 1 1 1", [2, 2], [[-1, 0], [0, 0]]),
        ("4 1 1 1", [2, 2], [[0, 0]]),
    ]
    rows = [case(input=D(d), block_shape=I(b), crops=I(p)) for d, b, p in good] + [
        bad(input=D(d), block_shape=I(b), crops=I(p)) for d, b, p in wrong
    ]
    yield from op("BatchToSpaceND", ANY, *rows)


def square_blocks() -> Iterator[dict]:
    good = [
        ("1 2 2 1", NONE, 2),
        ("1 4 2 2", NONE, 2),
        ("2 3 3 1", NONE, 3),
        ("1 3 2 1", [[1, 0], [0, 2]], 2),
        ("0 2 2 1", NONE, 2),
    ]
    wrong = [
        ("1 3 2 1", NONE, 2),
        ("1 2 2", NONE, 2),
        ("1 2 2 1", [[-1, 1], [0, 0]], 2),
        ("1 2 2 1", NONE, 1),
        ("1 2 2 1", [[0, 0]], 2),
    ]
    rows = [case(input=D(d), paddings=I(p), block_size=b) for d, p, b in good] + [
        bad(input=D(d), paddings=I(p), block_size=b) for d, p, b in wrong
    ]
    yield from op("SpaceToBatch", ANY, *rows)
    good = [
        ("4 1 1 1", NONE, 2),
        ("4 2 1 2", NONE, 2),
        ("9 1 1 1", NONE, 3),
        ("4 2 2 1", [[1, 0], [0, 2]], 2),
        ("0 1 1 1", NONE, 2),
    ]
    wrong = [
        ("3 1 1 1", NONE, 2),
        ("4 1 1", NONE, 2),
        ("4 1 1 1", [[2, 1], [0, 0]], 2),
        ("4 1 1 1", NONE, 1),
        ("4 1 1 1", [[-1, 0], [0, 0]], 2),
    ]
    rows = [case(input=D(d), crops=I(p), block_size=b) for d, p, b in good] + [
        bad(input=D(d), crops=I(p), block_size=b) for d, p, b in wrong
    ]
    yield from op("BatchToSpace", ANY, *rows)


def patches() -> Iterator[dict]:
    def window(k: int, s: int, r: int, padding: str) -> dict:
        return {"ksizes": [1, k, k, 1], "strides": [1, s, s, 1], "rates": [1, r, r, 1], "padding": padding}

    rows = [case(images=D("1 3 3 1"), **window(2, 1, 1, "VALID"))]
    rows += [
        case(images=D(d), **window(*w))
        for d, w in (
            ("1 3 3 1", (2, 1, 1, "SAME")),
            ("1 4 4 1", (2, 2, 1, "VALID")),
            ("1 4 4 1", (2, 1, 2, "VALID")),
            ("1 4 4 1", (2, 3, 2, "SAME")),
        )
    ]
    rows += [
        case(images=D(d), **window(*w))
        for d, w in (
            ("2 2 2 2", (2, 1, 1, "SAME")),
            ("1 3 2 2", (1, 1, 1, "VALID")),
            ("0 3 3 1", (2, 1, 1, "VALID")),
            ("1 3 3 0", (2, 1, 1, "SAME")),
        )
    ]
    rows += [
        bad(images=D("3 3 1"), **window(2, 1, 1, "VALID")),
        bad(images=D("1 2 2 1"), **window(3, 1, 1, "VALID")),
        bad(images=D("1 3 3 1"), **window(0, 1, 1, "VALID")),
        bad(images=D("1 3 3 1"), **window(2, 0, 1, "VALID")),
    ]
    rows += [
        bad(images=D("1 3 3 1"), **window(2, 1, 1, "EXPLICIT")),
        bad(images=D("1 3 3 1"), ksizes=[2, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID"),
    ]
    yield from op("ExtractImagePatches", (*NUMBER, "bool"), *rows)
