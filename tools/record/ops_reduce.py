"""Cases for ops that fold a tensor along axes, run along an axis, or fold rows into segments and bins."""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import DT, FLOAT, NUMBER, REAL, B, D, I, L, V, bad, case, inf, nan, op

DOUBLES = ("float32", "float64")
AXES = [
    ("2 3", [1]),
    ("2 3", [0]),
    ("2 3", [0, 1]),
    ("2 3", 1),
    ("2 3", []),
    ("", []),
    ("4", [0]),
    ("4", [-1]),
    ("2 3 2", [0, 2]),
    ("2 3 2", [1]),
    ("2 3 2", [-1, -3]),
    ("1 2 2 2", [1, 2]),
    ("1 2 1 3", [0, 3]),
    ("0", [0]),
    ("0 3", [0]),
    ("0 3", [1]),
    ("2 0 3", [1]),
    ("2 0 3", [0, 2]),
]
BAD_AXES = [("2 3", [2]), ("2 3", [-3]), ("2 3", [0, 0]), ("", [0])]


def cases() -> Iterator[dict]:
    for family in (folds, logical, arg_folds, scans, segments, unsorted_segments, bins):
        yield from family()


def folds() -> Iterator[dict]:
    #  op, dtypes, a value to put special numbers beside
    for name, dtypes in (
        ("Sum", NUMBER),
        ("Mean", NUMBER),
        ("Prod", NUMBER),
        ("Max", REAL),
        ("Min", REAL),
        ("EuclideanNorm", NUMBER),
    ):
        rows = [case(input=D(dims), axis=I(axis)) for dims, axis in AXES]
        rows += [case(input=D(dims), axis=I(axis), keep_dims=True) for dims, axis in AXES]
        rows += [case(input=V([[nan, 1.0], [inf, 2.0], [-inf, inf], [0.0, -0.0]]), axis=I([1]), dtypes=FLOAT)]
        rows += [case(input=V([[0.0, 2.0, 3.0], [0.0, 0.0, 4.0], [5.0, 6.0, 7.0]]), axis=I([1]), dtypes=DOUBLES)]
        rows += [case(input=V([[1.0, 1.0, 0.0], [2.0, -2.0, 2.0]]), axis=I([1]), dtypes=DOUBLES)]
        rows += [case(input=D("2 3 2", 0.3, 2.0), axis=I([0, 2]), second=True, dtypes=["float64"])]
        rows += [case(input=V([100, 100, 100, 7]), axis=I([0]), dtypes=["int8", "uint8", "int32"])]
        rows += [bad(input=D(dims), axis=I(axis)) for dims, axis in BAD_AXES]
        rows += [bad(input=D("2 3"), axis=L("float32", [0])), bad(input=D("2", dtype="string"), axis=I([0]))]
        yield from op(name, dtypes, *rows)


def logical() -> Iterator[dict]:
    for name in ("All", "Any"):
        rows = [
            case(input=D(dims, dtype="bool"), axis=I(axis), keep_dims=keep)
            for keep in (False, True)
            for dims, axis in AXES
        ]
        rows += [case(input=B([[True, True], [True, False], [False, False]]), axis=I([1]))]
        rows += [bad(input=D(dims, dtype="bool"), axis=I(axis)) for dims, axis in BAD_AXES]
        yield from op(name, ("bool",), *rows, bad(input=D("2", dtype="int32"), axis=I([0])))


def arg_folds() -> Iterator[dict]:
    for name, results in (("ArgMax", ("int32", "int64", "int16", "uint16")), ("ArgMin", ("int32", "int64"))):
        rows = [case(input=D("2 3"), dimension=I(1))]
        rows += [
            case(input=D(dims), dimension=I(axis)) for dims, axis in (("2 3", 0), ("2 3", -1), ("5", 0), ("2 3 2", 1))
        ]
        rows += [
            case(input=D(dims), dimension=I(axis))
            for dims, axis in (("1 2 2 2", 2), ("0 3", 1), ("2 0 3", 2), ("2 3 0", 1))
        ]
        rows += [case(input=D("2 3"), dimension=I(1), output_type=DT(t)) for t in results]
        rows += [case(input=V([[1.0, 3.0, 3.0], [2.0, 2.0, 1.0]]), dimension=I(1), wide=True)]
        rows += [
            case(
                input=V([[nan, 1.0, 2.0], [1.0, inf, nan], [-inf, -inf, 0.0], [0.0, -0.0, 0.0]]),
                dimension=I(1),
                dtypes=FLOAT,
            )
        ]
        rows += [case(input=V([[0, 1, 1], [1, 0, 0]], "bool"), dimension=I(1))]
        rows += [
            bad(input=D(dims), dimension=I(axis))
            for dims, axis in (("2 3", 2), ("2 3", -3), ("", 0), ("0", 0), ("2 0", 1))
        ]
        rows += [bad(input=D("2 3"), dimension=I([0, 1])), bad(input=D("2", dtype="string"), dimension=I(0))]
        yield from op(name, REAL, *rows)


def scans() -> Iterator[dict]:
    flags = [dict(exclusive=e, reverse=r) for e in (False, True) for r in (False, True)]
    shapes = [
        ("2 3", 0),
        ("2 3", -1),
        ("", 0),
        ("2 3 2", 1),
        ("1 2 2 2", 2),
        ("0", 0),
        ("0 3", 0),
        ("0 3", 1),
        ("2 0 3", 1),
    ]
    for name, dtypes in (("Cumsum", NUMBER), ("Cumprod", NUMBER), ("CumulativeLogsumexp", FLOAT)):
        rows = [case(x=D("2 3"), axis=I(1))]
        rows += [case(x=D(dims), axis=I(axis)) for dims, axis in shapes if dims]
        rows += [case(x=D("2 4"), axis=I(1), wide=True, **f) for f in flags[1:]]
        rows += [case(x=D("2 3 2"), axis=I(axis), **f) for f in flags for axis in (0, 1)]
        rows += [case(x=D("2 3", 0.3, 2.0), axis=I(1), second=True, dtypes=["float64"], **f) for f in flags]
        rows += [case(x=V([1.0, 0.0, 3.0, 0.0, 2.0]), axis=I(0), **f) for f in flags]
        rows += [case(x=V([1.0, nan, 3.0, inf, -inf, 2.0]), axis=I(0), dtypes=DOUBLES, **f) for f in flags]
        rows += (
            [case(x=V([100, 100, 3]), axis=I(0), dtypes=["int8", "uint8", "int32"])]
            if name != "CumulativeLogsumexp"
            else []
        )
        rows += [bad(x=D(dims), axis=I(axis)) for dims, axis in (("2 3", 2), ("2 3", -3), ("", 0))]
        rows += [bad(x=D("2 3"), axis=I([0])), bad(x=D("2", dtype="string"), axis=I(0))]
        yield from op(name, dtypes, *rows)


def segments() -> Iterator[dict]:
    for name in ("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"):
        dtypes = REAL if name in ("SegmentMax", "SegmentMin") else NUMBER
        yield from op(
            name,
            dtypes,
            case(data=D("4 2"), segment_ids=I([0, 0, 1, 2])),
            case(data=D("4"), segment_ids=I([0, 0, 0, 0])),
            case(data=D("4"), segment_ids=I([0, 1, 2, 3])),
            case(data=D("5 2"), segment_ids=I([0, 0, 2, 2, 5])),
            case(data=D("3"), segment_ids=I([1, 1, 3])),
            case(data=D("3 2 2"), segment_ids=I([0, 1, 1])),
            case(data=D("2 1 2 2"), segment_ids=I([0, 0])),
            case(data=D("0"), segment_ids=I([])),
            case(data=D("0 3"), segment_ids=I([])),
            case(data=D("3 0"), segment_ids=I([0, 0, 1])),
            case(data=V([0.0, 2.0, 0.0, 0.0, 3.0, 3.0]), segment_ids=I([0, 0, 1, 1, 2, 2])),
            case(data=V([nan, 2.0, inf, -inf, 3.0]), segment_ids=I([0, 0, 1, 1, 2]), dtypes=DOUBLES),
            bad(data=D("4"), segment_ids=I([0, 1, 0, 1])),
            bad(data=D("4"), segment_ids=I([0, 1, 1])),
            bad(data=D("3"), segment_ids=I([-1, 0, 1])),
            bad(data=D("4"), segment_ids=I([[0, 0], [1, 1]])),
            bad(data=D(""), segment_ids=I([0])),
            bad(data=D("2"), segment_ids=L("float32", [0, 1])),
        )


def unsorted_segments() -> Iterator[dict]:
    for name in ("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"):
        dtypes = REAL if name in ("UnsortedSegmentMax", "UnsortedSegmentMin") else NUMBER
        yield from op(
            name,
            dtypes,
            case(data=D("4 2"), segment_ids=I([2, 0, 2, 1]), num_segments=I(3)),
            case(data=D("4"), segment_ids=I([1, 1, 1, 1]), num_segments=I(4), wide=True),
            case(data=D("2 3"), segment_ids=I([[0, 1, 0], [2, 1, 0]]), num_segments=I(3)),
            case(data=D("2 2 3"), segment_ids=I([[0, 1], [1, 0]]), num_segments=I(2)),
            case(data=D("2 1 2 2"), segment_ids=I([0, 1]), num_segments=I(2)),
            case(data=D(""), segment_ids=I(1), num_segments=I(2)),
            case(data=D("2"), segment_ids=I(1), num_segments=I(2)),
            case(data=D("4"), segment_ids=I([0, -1, -1, 1]), num_segments=I(2)),
            case(data=D("0"), segment_ids=I([]), num_segments=I(2)),
            case(data=D("0 3"), segment_ids=I([]), num_segments=I(2)),
            case(data=D("3 0"), segment_ids=I([0, 1, 0]), num_segments=I(2)),
            case(data=D("0 2"), segment_ids=I([]), num_segments=I(0)),
            case(data=V([0.0, 2.0, 0.0, 0.0, 3.0, 3.0]), segment_ids=I([0, 0, 1, 1, 2, 2]), num_segments=I(3)),
            case(data=D("3"), segment_ids=I([0, 1, 0]), num_segments=L("int64", 2)),
            bad(data=D("3"), segment_ids=I([0, 1, 2]), num_segments=I(2)),
            bad(data=D("3"), segment_ids=I([0, 1]), num_segments=I(2)),
            bad(data=D("2 3"), segment_ids=I([0, 1, 0]), num_segments=I(2)),
            bad(data=D("3"), segment_ids=I([0, 1, 0]), num_segments=I(-1)),
            bad(data=D("3"), segment_ids=I([0, 1, 0]), num_segments=I([2])),
        )


def bins() -> Iterator[dict]:
    weights = ("float32", "float64", "int32", "int64")
    arr = L("int32", [1, 0, 2, 1, 1, 5])
    yield from op(
        "Bincount",
        weights,
        case(arr=arr, size=L("int32", 6), weights=D("6", 0.5, 2.0)),
        case(arr=arr, size=L("int32", 6), weights=V([]), wide=True),
        case(arr=arr, size=L("int32", 3), weights=D("6", 0.5, 2.0)),
        case(arr=L("int32", [[1, 0], [2, 1]]), size=L("int32", 4), weights=D("2 2", 0.5, 2.0)),
        case(arr=L("int32", []), size=L("int32", 3), weights=V([])),
        case(arr=arr, size=L("int32", 0), weights=V([])),
        bad(arr=L("int32", [1, -1]), size=L("int32", 3), weights=V([])),
        bad(arr=arr, size=L("int32", -1), weights=V([])),
        bad(arr=arr, size=L("int32", 3), weights=D("2", 0.5, 2.0)),
    )
    rows_of = I([[1, 0, 1], [2, 2, 2]])
    yield from op(
        "DenseBincount",
        weights,
        case(input=I([1, 0, 2, 1, 1, 5]), size=I(6), weights=D("6", 0.5, 2.0)),
        case(input=I([1, 0, 2, 1, 1, 5]), size=I(6), weights=V([]), wide=True),
        case(input=I([1, 0, 2, 1, 1, 5]), size=I(3), weights=V([])),
        case(input=I([1, 0, 2, 1, 1, 5]), size=I(6), weights=V([]), binary_output=True, wide=True),
        case(input=rows_of, size=I(4), weights=V([])),
        case(input=rows_of, size=I(4), weights=D("2 3", 0.5, 2.0)),
        case(input=rows_of, size=I(4), weights=V([]), binary_output=True),
        case(input=I([]), size=I(3), weights=V([])),
        case(input=V([[], []], "int32"), size=I(3), weights=V([])),
        bad(input=I([1, -1]), size=I(3), weights=V([])),
        bad(input=I([1, 1]), size=I(-1), weights=V([])),
        bad(input=I([1, 1]), size=I(3), weights=D("3", 0.5, 2.0)),
        bad(input=D("2 2 2", 0, 1, "int32"), size=I(3), weights=V([])),
    )
