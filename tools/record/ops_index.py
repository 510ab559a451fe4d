"""Cases for ops that pick elements out, put them in, look them up, rank them, or turn them to text."""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import ANY, DT, FLOAT, NUMBER, REAL, D, I, L, V, bad, case, inf, nan, op

INDEX3 = ("int32", "int64", "int16")
POLICIES = ("", "DEFAULT", "ERROR", "IGNORE")


def K(values: object) -> V:
    return L("int32", values)


def cases() -> Iterator[dict]:
    for family in (
        slices,
        strided,
        strided_gradients,
        gathers,
        gathers_along,
        gathers_of_points,
        scatters,
        tensor_scatters,
        lookups,
        uniques,
    ):
        yield from family()
    for family in (ranked, in_top, nth, searches, texts):
        yield from family()


def slices() -> Iterator[dict]:
    good = [
        ("2 3", [0, 1], [2, 2]),
        ("2 3", [1, 0], [1, 3]),
        ("2 3", [0, 0], [2, 3]),
        ("2 3", [0, 1], [-1, -1]),
        ("4", [2], [1]),
    ]
    good += [
        ("4", [4], [0]),
        ("4", [0], [0]),
        ("", [], []),
        ("2 3 2", [1, 0, 1], [1, 2, 1]),
        ("1 2 2 2", [0, 1, 0, 1], [1, -1, 2, 1]),
    ]
    good += [("0", [0], [0]), ("0 3", [0, 1], [-1, 2]), ("2 0 3", [0, 0, 1], [1, 0, 1])]
    wrong = [
        ("2 3", [0, 2], [2, 2]),
        ("2 3", [0], [1]),
        ("2 3", [-1, 0], [1, 1]),
        ("2 3", [0, 0], [3, 1]),
        ("4", [5], [-1]),
        ("4", [0], [-2]),
    ]
    rows = [case(input=D(d), begin=I(b), size=I(s)) for d, b, s in good] + [
        bad(input=D(d), begin=I(b), size=I(s)) for d, b, s in wrong
    ]
    rows += [case(input=D("2 3"), begin=I([0, 1]), size=I([2, 1]), second=True, dtypes=["float64"])]
    rows += [bad(input=D("2"), begin=I([[0]]), size=I([[1]])), bad(input=D("2"), begin=I([0]), size=L("float32", [1]))]
    yield from op("Slice", ANY, *rows)


#   shape, begin, end, strides, masks: x[begin:end:strides] as the op spells it
STRIDED = [
    ("2 3", [0, 1], [2, 3], [1, 1], {}),
    ("5", [1], [4], [2], {}),
    ("5", [-1], [-6], [-1], {}),
    ("5", [4], [0], [-2], {}),
    ("5", [0], [0], [-1], {"begin_mask": 1, "end_mask": 1}),
    ("5", [3], [9], [1], {}),
    ("5", [-9], [2], [1], {}),
    ("5", [3], [1], [1], {}),
    ("5", [2], [0], [1], {"end_mask": 1}),
    ("5", [2], [0], [1], {"shrink_axis_mask": 1}),
    ("5", [-2], [0], [1], {"shrink_axis_mask": 1}),
    ("2 3", [0], [1], [1], {"shrink_axis_mask": 1}),
    ("2 3", [0, 1], [0, 2], [1, 1], {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2}),
    ("2 3", [0, 0], [0, 0], [1, 1], {"new_axis_mask": 1, "begin_mask": 2, "end_mask": 2}),
    ("2 3 2", [0, 1], [0, 2], [1, 1], {"ellipsis_mask": 1}),
    ("2 3 2", [0, 0, 1], [0, 0, 2], [1, 1, 1], {"ellipsis_mask": 2, "shrink_axis_mask": 5}),
    ("2 3 2", [1, 0, 0], [2, 0, 0], [1, 1, 1], {"ellipsis_mask": 2, "new_axis_mask": 4}),
    (
        "2 3 2",
        [0, 0, 0, 1],
        [0, 0, 0, 2],
        [1, 1, 1, 1],
        {"new_axis_mask": 2, "ellipsis_mask": 4, "begin_mask": 1, "end_mask": 1},
    ),
    ("1 2 2 2", [0, 1, 0, 0], [1, 2, 2, 2], [1, 1, 1, 2], {}),
    ("2 3", [], [], [], {}),
    ("", [], [], [], {}),
    ("", [0], [0], [1], {"new_axis_mask": 1}),
    ("", [0], [0], [1], {"ellipsis_mask": 1}),
    ("0", [0], [0], [1], {"end_mask": 1}),
    ("0 3", [0, 1], [0, 3], [1, 1], {"end_mask": 1}),
    ("2 0 3", [0, 0, -1], [2, 0, -4], [1, 1, -1], {}),
    ("2 3", [0, 2], [2, -4], [1, -1], {}),
    ("4 4", [1, 3], [4, 0], [2, -2], {}),
]
BAD_STRIDED = [
    ("5", [0], [3], [0], {}),
    ("5", [5], [6], [1], {"shrink_axis_mask": 1}),
    ("5", [-6], [0], [1], {"shrink_axis_mask": 1}),
    ("5", [2], [3], [-1], {"shrink_axis_mask": 1}),
    ("5", [0, 0], [1, 1], [1, 1], {}),
    ("2 3", [0, 0], [1], [1, 1], {}),
    ("2 3 2", [0, 0], [0, 0], [1, 1], {"ellipsis_mask": 3}),
    ("0", [0], [1], [1], {"shrink_axis_mask": 1}),
    ("", [0], [1], [1], {}),
]


def strided() -> Iterator[dict]:
    rows = [case(input=D(d), begin=I(b), end=I(e), strides=I(s), **masks) for d, b, e, s, masks in STRIDED]
    rows += [bad(input=D(d), begin=I(b), end=I(e), strides=I(s), **masks) for d, b, e, s, masks in BAD_STRIDED]
    rows += [case(input=D("3 4"), begin=I([0, 3]), end=I([3, 0]), strides=I([2, -1]), second=True, dtypes=["float64"])]
    rows += [bad(input=D("5"), begin=I([[0]]), end=I([[1]]), strides=I([[1]]))]
    yield from op("StridedSlice", ANY, *rows, index=INDEX3)


def strided_gradients() -> Iterator[dict]:
    picked = [
        ("2 3", "2 2", STRIDED[0]),
        ("5", "2", STRIDED[1]),
        ("5", "5", STRIDED[2]),
        ("5", "", STRIDED[9]),
        ("2 3", "3", STRIDED[11]),
    ]
    picked += [
        ("2 3", "2", STRIDED[12]),
        ("2 3", "1 2 3", STRIDED[13]),
        ("2 3 2", "2 3 1", STRIDED[14]),
        ("", "1", STRIDED[21]),
        ("0", "0", STRIDED[23]),
    ]
    picked += [("5", "0", STRIDED[7]), ("4 4", "2 2", STRIDED[27]), ("2 0 3", "2 0 3", STRIDED[25])]
    shape = lambda dims: I([int(d) for d in dims.split()])
    rows = [
        case(shape=shape(d), begin=I(b), end=I(e), strides=I(s), dy=D(dy), **m) for d, dy, (_, b, e, s, m) in picked
    ]
    wrong = [("5", "3", STRIDED[1]), ("2 3", "2", STRIDED[0]), ("5", "3", BAD_STRIDED[0]), ("5", "", BAD_STRIDED[1])]
    rows += [bad(shape=shape(d), begin=I(b), end=I(e), strides=I(s), dy=D(dy), **m) for d, dy, (_, b, e, s, m) in wrong]
    yield from op("StridedSliceGrad", ANY, *rows)


def gathers() -> Iterator[dict]:
    good = [
        ("3 2", [2, 0, 2]),
        ("3 2", 1),
        ("4", [3, 3]),
        ("4", 0),
        ("3 2", [[0, 1], [2, 0]]),
        ("2 2 2", [1]),
        ("3 1 1 2", [0, 2]),
    ]
    good += [("3 2", []), ("0 2", []), ("3 0", [1, 2]), ("3", [[], []])]
    wrong = [("3 2", [3]), ("3 2", [-1]), ("3", 7), ("0 2", [0]), ("", [0])]
    rows = [case(params=D(d), indices=I(i)) for d, i in good] + [bad(params=D(d), indices=I(i)) for d, i in wrong]
    rows += [case(params=D("3"), indices=I([1]), validate_indices=False), bad(params=D("3"), indices=L("float32", [0]))]
    yield from op("Gather", ANY, *rows)


def gathers_along() -> Iterator[dict]:
    good = [
        ("3 2", [2, 0, 2], 0, 0),
        ("2 3", [2, 0], 1, 0),
        ("2 3", [[0, 1], [2, 2]], -1, 0),
        ("2 3", 1, 0, 0),
        ("2 3", 1, 1, 0),
        ("2 3 2", [1, 0], 1, 0),
    ]
    good += [
        ("2 3", [[0], [2]], 1, 1),
        ("2 3 2", [[0, 1], [2, 0]], 1, 1),
        ("2 2 3", [[[0], [1]], [[2], [0]]], 2, 2),
        ("2 3 2", [[1], [0]], 2, 1),
        ("2 3", [[0, 1], [2, 0]], -1, -1),
    ]
    good += [
        ("2 3", [], 1, 0),
        ("0 2", [], 0, 0),
        ("2 0 3", [1, 1], 2, 0),
        ("0 3", [1], 1, 0),
        ("1 2 2 2", [1, 0], 3, 0),
    ]
    wrong = [
        ("3 2", [3], 0, 0),
        ("3 2", [-1], 0, 0),
        ("2 3", [3], 1, 0),
        ("2 3", [0], 2, 0),
        ("2 3", [0], -3, 0),
        ("2 3", [[0], [1], [2]], 1, 1),
        ("2 3", [[0], [1]], 0, 1),
    ]
    wrong += [("", [0], 0, 0), ("2 3", [0, 1], 1, 2), ("2 0", [0], 1, 0)]
    rows = [case(params=D(d), indices=I(i), axis=K(a), batch_dims=b) for d, i, a, b in good]
    rows += [bad(params=D(d), indices=I(i), axis=K(a), batch_dims=b) for d, i, a, b in wrong]
    rows += [case(params=D("3 2"), indices=I([2, 0]), axis=K(a), second=True, dtypes=["float64"]) for a in (0,)]
    rows += [
        case(params=D("3"), indices=I([1]), axis=L("int64", 0)),
        bad(params=D("3"), indices=I([0]), axis=K([0, 1])),
    ]
    yield from op("GatherV2", ANY, *rows, index=INDEX3)


def gathers_of_points() -> Iterator[dict]:
    good = [
        ("2 3", [[0, 1], [1, 2]]),
        ("2 3", [[1], [0]]),
        ("2 3", [1, 2]),
        ("2 3", [0]),
        ("4", [[3], [3], [0]]),
        ("2 2 2", [[[0, 1]], [[1, 0]]]),
        ("2 3", [[], []]),
    ]
    good += [("2 2 2", [[0, 1, 1]]), ("1 2 2 2", [[0, 1]])]
    rows = [case(params=D(d), indices=I(i)) for d, i in good]
    rows += [case(params=D("2 3"), indices=I([[0, 1], [1, 2]]), bad_indices_policy=p) for p in POLICIES]
    rows += [case(params=D("2 3"), indices=I([[0, 1], [2, 0]]), bad_indices_policy="IGNORE")]
    rows += [bad(params=D("2 3"), indices=I(i)) for i in ([[2, 0]], [[0, -1]], [[0, 0, 0]], [[0, 3]])] + [
        bad(params=D("2 3"), indices=I([[0, 1]]), bad_indices_policy="CLAMP")
    ]
    rows += [
        bad(params=D(""), indices=I([[0]])),
        bad(params=D("2 3"), indices=L("float32", [[0]])),
        bad(params=D("0"), indices=I([[0]])),
    ]
    yield from op("GatherNd", ANY, *rows, index=INDEX3)


def scatters() -> Iterator[dict]:
    good = [
        ([[1], [3]], "2", [5]),
        ([[0], [2]], "2 3", [3, 3]),
        ([[0, 1], [1, 0]], "2", [2, 2]),
        ([[1], [1], [1]], "3", [3]),
        ([[[0]], [[1]]], "2 1 2", [2, 2]),
    ]
    good += [([[0, 1]], "1 2", [1, 2, 2]), ([[0, 0, 1], [0, 1, 0]], "2", [1, 2, 2])]
    rows = [case(indices=I(i), updates=D(u), shape=I(s)) for i, u, s in good]
    rows += [case(indices=V([[1]], "index"), updates=D("1"), shape=I([2]), bad_indices_policy=p) for p in POLICIES]
    rows += [case(indices=I([[0], [7], [-1]]), updates=D("3"), shape=I([2]), bad_indices_policy="IGNORE")]
    rows += [
        case(indices=D("0 1", 0, 0, "int32"), updates=D("0"), shape=K([3])),
        case(indices=D("0 1", 0, 0, "int32"), updates=D("0 2"), shape=K([3, 2])),
    ]
    wrong = [
        ([1], "2", [2, 2]),
        ([[5]], "1", [5]),
        ([[-1]], "1", [5]),
        ([[0], [1]], "3", [5]),
        ([[0, 0]], "1", [5]),
        ([[0]], "1 2", [3, 3]),
        ([[0]], "1", [-1]),
    ]
    rows += [bad(indices=I(i), updates=D(u), shape=I(s)) for i, u, s in wrong] + [
        bad(indices=I([[0]]), updates=D("1"), shape=I([[2]])),
        bad(indices=L("float32", [[0]]), updates=D("1"), shape=I([2])),
    ]
    yield from op("ScatterNd", ANY, *rows, index=INDEX3)


def tensor_scatters() -> Iterator[dict]:
    good = [
        ("5", [[1], [3]], "2"),
        ("3 2", [[0], [2]], "2 2"),
        ("2 3", [[0, 1], [1, 2]], "2"),
        ("2 2 2", [[1, 0]], "1 2"),
        ("4", [[[0]], [[3]]], "2 1"),
    ]
    repeated = [("3", [[1], [1], [0]], "3"), ("2 2", [[0], [0]], "2 2")]
    wrong = [
        ("2 3", [1], "3"),
        ("5", [[5]], "1"),
        ("5", [[-1]], "1"),
        ("5", [[0], [1]], "3"),
        ("5", [[0, 0]], "1"),
        ("3 2", [[0]], "1 3"),
        ("", [[0]], "1"),
        ("0", [[0]], "1"),
    ]
    for name in ("Update", "Add", "Sub", "Min", "Max"):
        dtypes = {"Update": ANY, "Min": REAL, "Max": REAL}.get(name, NUMBER)
        rows = [case(tensor=D(t), indices=I(i), updates=D(u)) for t, i, u in good]
        rows += [case(tensor=D(t), indices=I(i), updates=D(u)) for t, i, u in repeated if name != "Update"]
        rows += [
            case(tensor=D("3"), indices=D("0 1", 0, 0, "int32"), updates=D("0")),
            case(tensor=D("0 2"), indices=D("0 1", 0, 0, "int32"), updates=D("0 2")),
        ]
        rows += [case(tensor=D("3"), indices=I([[1]]), updates=D("1"), bad_indices_policy=p) for p in POLICIES]
        rows += [case(tensor=D("3"), indices=I([[1], [3], [-1]]), updates=D("3"), bad_indices_policy="IGNORE")]
        rows += [
            case(tensor=V([1.0, 2.0, 2.0]), indices=I([[0], [1]]), updates=V([1.0, 5.0])),
            case(tensor=V([1.0, nan, inf]), indices=I([[0], [1], [2]]), updates=V([nan, 5.0, -inf])),
        ]
        rows += [bad(tensor=D(t), indices=I(i), updates=D(u)) for t, i, u in wrong] + [
            bad(tensor=D("3"), indices=I([[1]]), updates=D("1", dtype="int64"))
        ]
        yield from op("TensorScatter" + name, dtypes, *rows)


def lookups() -> Iterator[dict]:
    rows = [case(condition=D(d)) for d in ("2 3", "4", "1 2 1 2", "0", "2 0 3")] + [bad(condition=D(""))]
    rows += [
        case(condition=V([[0, 1, 0], [2, 0, 3]]), wide=True),
        case(condition=V([0.0, -0.0, nan, inf])),
        case(condition=V([0, 0])),
    ]
    rows += [case(condition=D(d, dtype="bool")) for d in ("2 3", "2 2 2", "0 2")] + [
        bad(condition=D("2", dtype="string"))
    ]
    yield from op("Where", (*NUMBER, "bool"), *rows)
    rows = [case(x=I(p)) for p in ([2, 0, 1], [0], [], [3, 4, 0, 2, 1])] + [
        bad(x=I(p)) for p in ([0, 0], [0, 3], [-1, 0], [[0, 1]], 0)
    ]
    yield from op("InvertPermutation", ("int32",), *rows, bad(x=L("float32", [0, 1])))
    rows = [
        case(x=V([1, 2, 3, 4, 5, 6]), y=V([1, 3, 5])),
        *[case(x=V(x), y=V(y)) for x, y in (([1, 1, 2, 2], [2]), ([1, 2], []), ([], [1]), ([], []), ([3, 1], [1, 3]))],
    ]
    rows += [
        case(x=V([1, 2, 3]), y=V([2]), out_idx=DT("int64")),
        case(x=V([nan, 1.0]), y=V([nan]), dtypes=("float32",)),
        case(x=L("string", ["a", "b", ""]), y=L("string", ["b"])),
    ]
    rows += [bad(x=V([[1]]), y=V([1])), bad(x=V(1), y=V([1])), bad(x=V([1]), y=L("string", ["1"]))]
    yield from op("ListDiff", (*REAL, "string"), *rows)


def uniques() -> Iterator[dict]:
    for name in ("Unique", "UniqueWithCounts"):
        rows = [case(x=V(v)) for v in ([3, 1, 3, 2, 1], [], [5], [1, 1, 1])] + [
            case(x=V([3, 1, 3]), out_idx=DT("int64"), wide=True),
            case(x=V([0.0, -0.0, nan, nan]), dtypes=("float32",)),
        ]
        rows += [
            case(x=L("string", ["b", "a", "b", ""])),
            case(x=V([1, 0, 1], "bool")),
            bad(x=V([[1, 2]])),
            bad(x=V(1)),
        ]
        yield from op(name, (*REAL, "string", "bool"), *rows)
        rows = [case(x=V([3, 1, 3, 2, 1]), axis=I([]))]
        rows += [case(x=V([[1, 0, 1], [2, 0, 2], [1, 0, 1]]), axis=I([a])) for a in (0, 1, -1, -2)] + [
            case(x=V([3, 1, 3]), axis=I([0]), out_idx=DT("int64"))
        ]
        rows += [
            case(x=V([]), axis=I([0])),
            case(x=D("0 2"), axis=I([0])),
            case(x=V([[[1, 1], [2, 2]], [[1, 1], [3, 3]]]), axis=I([2])),
            case(x=L("string", [["b", "b"], ["a", "a"]]), axis=I([1])),
        ]
        rows += [
            bad(x=V([[1, 2]]), axis=I([])),
            bad(x=V([[1, 2]]), axis=I([2])),
            bad(x=V([1]), axis=I([0, 0])),
            bad(x=V([[1, 2]]), axis=I([-3])),
            bad(x=V(1), axis=I([0])),
        ]
        yield from op(name + "V2", (*REAL, "string"), *rows, index=("int64", "int32"))


def ranked() -> Iterator[dict]:
    for name in ("TopKV2", "TopK"):
        k = (lambda n: I(n)) if name == "TopKV2" else (lambda n: n)
        rows = [
            case(input=D("2 5"), k=k(2)),
            *[
                case(input=D(d), k=k(n))
                for d, n in (
                    ("5", 5),
                    ("5", 0),
                    ("5", 1),
                    ("2 2 3", 2),
                    ("1 2 1 4", 3),
                    ("0", 0),
                    ("0 3", 2),
                    ("2 0 3", 1),
                )
            ],
        ]
        rows += [case(input=V([1, 3, 3, 2, 3]), k=k(n), wide=True) for n in (2, 4)] + [
            case(input=V([inf, -inf, 0.0, 5.0]), k=k(4)),
            case(input=D("6"), k=k(1), sorted=False),
        ]
        rows += [
            bad(input=D("5"), k=k(6)),
            bad(input=D("5"), k=k(-1)),
            bad(input=D(""), k=k(1)),
            bad(input=D("2", dtype="bool"), k=k(1)),
        ]
        rows += (
            [bad(input=D("5"), k=I([1]))] + [case(input=D("2 5"), k=K(2), index_type=DT(t)) for t in ("int16", "int64")]
            if name == "TopKV2"
            else []
        )
        yield from op(name, REAL, *rows)


def in_top() -> Iterator[dict]:
    predictions = L("float32", [[0.1, 0.5, 0.4], [0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [inf, 1.0, nan]])
    for name in ("InTopK", "InTopKV2"):
        k = (lambda n: I(n)) if name == "InTopKV2" else (lambda n: n)
        rows = [case(predictions=predictions, targets=I([1, 1, 0, 1]), k=k(n)) for n in (1, 2, 3, 0, 5)] + [
            case(predictions=predictions, targets=I(t), k=k(2)) for t in ([2, 0, 1, 0], [0, 0, 3, 2], [-1, 5, 0, 0])
        ]
        rows += [
            case(predictions=D("0 3"), targets=I([]), k=k(1)),
            bad(predictions=predictions, targets=I([1, 1]), k=k(1)),
            bad(predictions=D("3"), targets=I([1]), k=k(1)),
            bad(predictions=D("2 3"), targets=I([[1], [0]]), k=k(1)),
            bad(predictions=D("2 3", dtype="float64"), targets=I([0, 1]), k=k(1)),
        ]
        yield from op(name, ("float32",), *rows)


def nth() -> Iterator[dict]:
    rows = [case(input=D("2 5"), n=K(1))] + [
        case(input=D("2 5"), n=K(n), reverse=r) for n in (0, 2, 4) for r in (False, True)
    ]
    rows += [case(input=D(d), n=K(n)) for d, n in (("5", 3), ("2 2 3", 1), ("1 2 1 3", 0), ("0 3", 1))] + [
        case(input=V([3, 1, 3, 2]), n=K(2), reverse=True, wide=True)
    ]
    rows += [
        bad(input=D("5"), n=K(5)),
        bad(input=D("5"), n=K(-1)),
        bad(input=D(""), n=K(0)),
        bad(input=D("5"), n=K([1, 2])),
    ]
    yield from op("NthElement", REAL, *rows)


def searches() -> Iterator[dict]:
    table = V([[0, 3, 9, 9, 10], [1, 2, 3, 4, 5]])
    for name in ("LowerBound", "UpperBound"):
        rows = [case(sorted_inputs=table, values=V([[2, 4, 9], [0, 2, 6]]))] + [
            case(sorted_inputs=table, values=V([[9, 10, 11, -1], [3, 3, 5, 1]]), out_type=DT(t))
            for t in ("int32", "int64")
        ]
        rows += [
            case(sorted_inputs=V([[1.0, 1.0, 1.0]]), values=V([[0.5, 1.0, 1.5]])),
            case(sorted_inputs=D("2 0"), values=V([[1.0], [2.0]])),
            case(sorted_inputs=table, values=D("2 0")),
            case(sorted_inputs=D("0 3"), values=D("0 2")),
        ]
        rows += [
            bad(sorted_inputs=table, values=V([[1.0]])),
            bad(sorted_inputs=table, values=V([1.0, 2.0])),
            bad(sorted_inputs=V([1.0]), values=V([1.0])),
            bad(sorted_inputs=table, values=L("string", [["a"], ["b"]])),
        ]
        yield from op(name, REAL, *rows)
    edges = [0.0, 1.5, 10.0]
    rows = [case(input=V([-1, 0, 1, 1.5, 9, 10, 11]), boundaries=edges)] + [
        case(input=D(d), boundaries=edges) for d in ("2 3", "", "1 2 1 2", "0", "2 0 3")
    ]
    rows += [
        case(input=V([1, 2]), boundaries=[]),
        case(input=V([nan, inf, -inf]), boundaries=edges, dtypes=("float32", "float64")),
        case(input=V([1, 2]), boundaries=[1.0, 1.0, 2.0]),
    ]
    rows += [bad(input=V([1.0]), boundaries=[2.0, 1.0]), bad(input=D("2", dtype="string"), boundaries=edges)]
    yield from op("Bucketize", ("float32", "float64", "int32", "int64"), *rows)


def texts() -> Iterator[dict]:
    values = V([0, 1, -2.5, 3.14159, 100])
    rows = [case(input=values)] + [
        case(input=values, dtypes=("float32", "float64", "complex64"), **a)
        for a in (
            {"precision": 2},
            {"precision": 0},
            {"scientific": True},
            {"scientific": True, "precision": 3},
            {"shortest": True},
        )
    ]
    rows += [
        case(input=values, dtypes=("float32", "int32"), **a)
        for a in (
            {"width": 8},
            {"width": 8, "fill": "0"},
            {"width": 8, "fill": " "},
            {"width": 8, "fill": "-"},
            {"width": 8, "fill": "+"},
        )
    ]
    rows += [case(input=V([1, -22, 33]), dtypes=("int32", "int64", "int8"), width=5, fill="0")]
    rows += [
        case(input=V([nan, inf, -inf, 1e30, 1e-5, -0.0]), dtypes=FLOAT),
        case(input=V([1, 0], "bool")),
        case(input=L("string", ["a", "", "\xff"])),
        case(input=L("string", ["ab"]), width=5),
    ]
    rows += [case(input=D(d)) for d in ("", "2 2", "0", "2 0")] + [
        case(input=V([2**63 - 1, -(2**63)], "int64")),
        case(input=V([1 + 2j, -0.5j], "complex128"), precision=1),
    ]
    rows += [
        bad(input=V([1]), fill="xy"),
        bad(input=V([1], "int32"), scientific=True),
        bad(input=V([1], "int32"), precision=2),
        bad(input=V([1.0]), scientific=True, shortest=True),
        bad(input=V([1], "int32"), width=3, fill="x"),
    ]
    yield from op("AsString", NUMBER, *rows)
    words, more = L("string", ["a", "bc", ""]), L("string", ["x", "", "y\xff"])
    rows = [case(inputs=[words, more], separator=s) for s in ("", ",", "--", "\n")] + [
        case(inputs=[words], separator="-"),
        case(inputs=[L("string", "p"), words], separator="/"),
        case(inputs=[words, L("string", "s"), more]),
    ]
    rows += [
        case(inputs=[L("string", "a"), L("string", "b")]),
        case(inputs=[L("string", [["a"], ["b"]]), L("string", "c")], separator="."),
        case(inputs=[D("0", dtype="string"), L("string", "c")]),
    ]
    rows += [
        bad(inputs=[words, L("string", ["a", "b"])]),
        bad(inputs=[words, L("string", [["a", "b", "c"]])]),
        bad(inputs=[words, D("3", dtype="float32")]),
    ]
    yield from op("StringJoin", ("string",), *rows)
