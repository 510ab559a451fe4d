"""Cases for ops that move, repeat, pad, join, split or describe tensors without computing with their elements."""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import ANY, DT, SHAPE, B, D, I, L, V, bad, case, inf, nan, op


def K(values: object) -> V:
    return L("int32", values)


def cases() -> Iterator[dict]:
    for family in (
        reshapes,
        unit_axes,
        ensured,
        transposes,
        joins,
        splits,
        repeats,
        pads,
        described,
        reversals,
        copies,
    ):
        yield from family()


def reshapes() -> Iterator[dict]:
    good = [
        ("2 3", [3, 2]),
        ("2 3", [6]),
        ("2 3", [-1]),
        ("2 3", [2, -1]),
        ("2 3", [-1, 1, 3]),
        ("", []),
        ("", [1]),
        ("1", []),
    ]
    good += [
        ("1 2 2 2", [4, -1]),
        ("0", [0]),
        ("0 3", [3, 0]),
        ("0", [2, 0]),
        ("2 0 3", [0]),
        ("2 0 3", [-1, 2]),
        ("", [1, 1, 1, 1]),
    ]
    wrong = [
        ("2 3", [4]),
        ("2 3", [4, -1]),
        ("2 3", [-1, -1]),
        ("2 3", [-2, 3]),
        ("2 3", [0, -1]),
        ("2", []),
        ("0", [1]),
    ]
    rows = [case(tensor=D(dims), shape=I(shape)) for dims, shape in good]
    rows += [bad(tensor=D(dims), shape=I(shape)) for dims, shape in wrong]
    rows += [bad(tensor=D("2"), shape=I([[2]])), bad(tensor=D("2"), shape=L("float32", [2]))]
    rows += [bad(tensor=D("6"), shape=I([2**31 - 1, 2**31 - 1])), bad(tensor=D("6"), shape=L("int64", [2**62, 4]))]
    yield from op("Reshape", ANY, *rows)


def unit_axes() -> Iterator[dict]:
    dims = [
        ("2 3", -1),
        ("2 3", 1),
        ("2 3", 2),
        ("2 3", -3),
        ("", 0),
        ("", -1),
        ("4", 0),
        ("1 2 2 2", 2),
        ("0", 0),
        ("2 0 3", -2),
    ]
    rows = [
        case(input=D("2 3"), axis=I(0)),
        *[case(input=D(d), axis=I(axis)) for d, axis in dims],
        case(input=D("2"), axis=I([1])),
    ]
    rows += [bad(input=D(d), axis=I(axis)) for d, axis in (("2 3", 3), ("2 3", -4), ("", 1))]
    rows += [bad(input=D("2"), axis=I([0, 1])), bad(input=D("2"), axis=L("float32", 0))]
    yield from op("ExpandDims", ANY, *rows)

    rows = [case(input=D("1 2 1 3"))]
    rows += [case(input=D("1 2 1 3"), axis=axis) for axis in ([0], [2], [-2], [0, 2], [-4], [2, 0])]
    rows += [case(input=D(d)) for d in ("", "2 3", "1", "1 1 1", "0", "1 0", "2 0 1")]
    rows += [case(input=D("1 0 1"), axis=[2])]
    rows += [
        bad(input=D(d), axis=axis) for d, axis in (("1 2", [1]), ("1 2", [2]), ("1 2", [-3]), ("", [0]), ("0", [0]))
    ]
    yield from op("Squeeze", ANY, *rows)


def ensured() -> Iterator[dict]:
    rows = [case(input=D("2 3"), shape=SHAPE(s)) for s in ([2, 3], [None, 3], [2, None], [None, None], None)]
    rows += [
        case(input=D(""), shape=SHAPE([])),
        case(input=D("0"), shape=SHAPE([0])),
        case(input=D("2 0 3"), shape=SHAPE([2, None, 3])),
    ]
    rows += [bad(input=D("2 3"), shape=SHAPE(s)) for s in ([3, 2], [2], [2, 3, None], [], [None, 2])]
    yield from op("EnsureShape", ANY, *rows)


def transposes() -> Iterator[dict]:
    good = [
        ("2 3", [1, 0]),
        ("2 3", [0, 1]),
        ("2 3 2", [2, 0, 1]),
        ("2 3 2", [0, 2, 1]),
        ("1 2 3 2", [0, 3, 1, 2]),
        ("4", [0]),
    ]
    good += [
        ("", []),
        ("0", [0]),
        ("0 3", [1, 0]),
        ("2 0 3", [2, 1, 0]),
        ("2 1 2 1", [3, 2, 1, 0]),
        ("1 2 1 2 1", [4, 0, 3, 1, 2]),
    ]
    wrong = [("2 3", [0]), ("2 3", [0, 0]), ("2 3", [0, 2]), ("2 3", [0, 1, 2]), ("2 3", [-3, 0]), ("", [0])]
    for name in ("Transpose", "ConjugateTranspose"):
        rows = [case(x=D(dims), perm=I(perm)) for dims, perm in good] + [
            bad(x=D(dims), perm=I(perm)) for dims, perm in wrong
        ]
        rows += [bad(x=D("2 3"), perm=I([[1, 0]])), bad(x=D("2 3"), perm=L("float32", [1, 0]))]
        yield from op(name, ANY, *rows)


def joins() -> Iterator[dict]:
    good = [
        (["2 3", "1 3"], 0),
        (["2 3", "2 2"], 1),
        (["2 3", "2 1", "2 0"], -1),
        (["2", "3"], 0),
        (["2 2 1", "2 2 2"], 2),
    ]
    good += [
        (["0", "2"], 0),
        (["0", "0"], 0),
        (["0 3", "2 3"], -2),
        (["2 0", "2 3"], 1),
        (["2 0 3", "2 0 1"], 2),
        (["1 1 1 2"] * 3, 1),
    ]
    wrong = [(["2 3", "2 2"], 0), (["2 3", "3"], 0), (["2 3", "2 3"], 2), (["2 3", "2 3"], -3), (["", ""], 0)]
    for name, axis in (("ConcatV2", "axis"), ("Concat", "concat_dim")):
        at = I if axis == "axis" else K
        rows = [case(**{axis: at(a), "values": [D(d) for d in dims]}) for dims, a in good]
        rows += [bad(**{axis: at(a), "values": [D(d) for d in dims]}) for dims, a in wrong]
        rows += [
            bad(**{axis: at([0, 1]), "values": [D("2"), D("2")]}),
            bad(**{axis: at(0), "values": [D("2"), D("2", dtype="int64")]}),
        ]
        yield from op(name, ANY, *rows, bad(**{axis: at(0), "values": [D("2")]}))
    yield from op(
        "ConcatOffset",
        ("int32",),
        case(concat_dim=K(1), shape=[K([2, 2, 5, 7]), K([2, 3, 5, 7]), K([2, 4, 5, 7])]),
        case(concat_dim=K(0), shape=[K([2]), K([0]), K([3])]),
        case(concat_dim=K(-1), shape=[K([2, 1]), K([2, 4])]),
        case(concat_dim=K(1), shape=[L("int64", [2, 1]), L("int64", [2, 4])]),
        bad(concat_dim=K(1), shape=[K([2, 2]), K([3, 2])]),
        bad(concat_dim=K(2), shape=[K([2, 2]), K([2, 2])]),
        bad(concat_dim=K(0), shape=[K([2, 2]), K([2])]),
        bad(concat_dim=K([0]), shape=[K([2, 2]), K([2, 2])]),
    )
    rows = [case(values=[D("2 3"), D("2 3")], axis=axis) for axis in (0, 1, 2, -1, -3)]
    rows += [
        case(values=[D("")]),
        case(values=[D("")] * 4),
        case(values=[D("2")] * 3, axis=1),
        case(values=[D("1 2 1")] * 2, axis=3),
    ]
    rows += [case(values=[D("0")] * 2, axis=axis) for axis in (0, 1)] + [case(values=[D("2 0")] * 2, axis=1)]
    rows += [
        bad(values=[D("2 3"), D("2 2")]),
        bad(values=[D("2"), D("")]),
        bad(values=[D("2")] * 2, axis=2),
        bad(values=[D("2")] * 2, axis=-3),
    ]
    yield from op("Pack", ANY, *rows, bad(values=[D("2"), D("2", dtype="int32")]))


def splits() -> Iterator[dict]:
    rows = [case(axis=K(1), value=D("2 4"), num_split=2)]
    rows += [
        case(axis=K(a), value=D(d), num_split=n)
        for d, a, n in (("2 4", 0, 2), ("2 4", -1, 4), ("6", 0, 3), ("6", 0, 1), ("2 1 2 2", 2, 2))
    ]
    rows += [case(axis=K(a), value=D(d), num_split=n) for d, a, n in (("0", 0, 2), ("0 4", 1, 2), ("2 0 4", 1, 3))]
    rows += [
        bad(axis=K(a), value=D(d), num_split=n)
        for d, a, n in (("2 4", 1, 3), ("2 4", 2, 2), ("2 4", -3, 2), ("", 0, 1), ("2", 0, 0))
    ]
    yield from op("Split", ANY, *rows, bad(axis=K([0, 1]), value=D("2"), num_split=2))
    good = [
        ("2 4", [1, 3], 1),
        ("4 2", [2, 1, 1], 0),
        ("5", [2, -1], 0),
        ("5", [0, 5], 0),
        ("5", [5], 0),
        ("2 4", [1, -1, 2], -1),
    ]
    good += [("0", [0, 0], 0), ("0 3", [1, 2], 1), ("2 0", [0, -1], 1), ("2 1 2 2", [1, 1], 3)]
    wrong = [
        ("2 4", [1, 2], 1),
        ("2 4", [1, 4], 1),
        ("4", [-1, -1], 0),
        ("4", [5, -1], 0),
        ("2 4", [2, 2], 2),
        ("", [1], 0),
        ("4", [-2, 6], 0),
    ]
    rows = [case(value=D(d), size_splits=I(sizes), axis=K(a), num_split=len(sizes)) for d, sizes, a in good]
    rows += [bad(value=D(d), size_splits=I(sizes), axis=K(a), num_split=len(sizes)) for d, sizes, a in wrong]
    yield from op("SplitV", ANY, *rows, bad(value=D("4"), size_splits=I([2, 2]), axis=K(0), num_split=3))
    rows = [
        case(value=D(d), num=n, axis=a)
        for d, n, a in (("2 3", 2, 0), ("2 3", 3, 1), ("2 3", 3, -1), ("2 3", 2, -2), ("3", 3, 0))
    ]
    rows += [
        case(value=D(d), num=n, axis=a)
        for d, n, a in (("2 1 2", 1, 1), ("0 2", 0, 0), ("2 0", 2, 0), ("2 0 3", 3, 2), ("1 2 2 1", 2, 2))
    ]
    rows += [
        bad(value=D(d), num=n, axis=a)
        for d, n, a in (("2 3", 3, 0), ("2 3", 2, 2), ("2 3", 2, -3), ("", 1, 0), ("2 3", -1, 0))
    ]
    yield from op("Unpack", ANY, *rows)


def repeats() -> Iterator[dict]:
    good = [
        ("2 3", [2, 1]),
        ("2 3", [1, 2]),
        ("2 3", [2, 3]),
        ("2 3", [1, 1]),
        ("3", [3]),
        ("", []),
        ("2 1 2", [1, 3, 2]),
        ("1 2 1 2", [2, 1, 2, 1]),
    ]
    good += [("2 3", [0, 2]), ("2 3", [1, 0]), ("0", [3]), ("0 2", [2, 2]), ("2 0 3", [1, 2, 1])]
    wrong = [("2 3", [2]), ("2 3", [1, 1, 1]), ("2 3", [-1, 1]), ("", [2]), ("2", [])]
    rows = [case(input=D(dims), multiples=I(m)) for dims, m in good] + [
        bad(input=D(dims), multiples=I(m)) for dims, m in wrong
    ]
    rows += [
        case(input=D("2 2"), multiples=I([2, 3]), second=True, dtypes=["float64"]),
        bad(input=D("2"), multiples=I([[2]])),
    ]
    yield from op("Tile", ANY, *rows, bad(input=D("2"), multiples=L("float32", [2])))
    good = [
        ("2 3", [1], [1]),
        ("2 3", [-1], [0]),
        ("2 3", [4, 1], [1, 0]),
        ("2 3", 2, 1),
        ("5", [7], [0]),
        ("2 3", [1, 1], [1, 1]),
    ]
    good += [
        ("2 3 2", [1, -2], [-1, -2]),
        ("0", [1], [0]),
        ("2 0 3", [1], [2]),
        ("1 2 2 2", [1], [3]),
        ("2 3", [0], [0]),
    ]
    rows = [case(input=D(dims), shift=I(s), axis=I(a)) for dims, s, a in good]
    rows += [
        bad(input=D(dims), shift=I(s), axis=I(a))
        for dims, s, a in (("2 3", [1], [2]), ("2 3", [1], [-3]), ("2 3", [1, 2], [0]), ("", [1], [0]))
    ]
    yield from op("Roll", ANY, *rows)


def pads() -> Iterator[dict]:
    good = [
        ("2 3", [[1, 1], [0, 2]]),
        ("2 3", [[0, 0], [0, 0]]),
        ("3", [[2, 1]]),
        ("2 1 2", [[0, 1], [1, 0], [1, 1]]),
        ("1 2 2 1", [[0, 0], [1, 1], [1, 0], [0, 1]]),
    ]
    good += [("0", [[1, 2]]), ("0 2", [[0, 0], [1, 1]]), ("2 0 1", [[0, 0], [1, 1], [0, 0]])]
    wrong = [("2 3", [[1, 1]]), ("2 3", [[1, 1, 1], [0, 0, 0]]), ("2", [[-1, 0]]), ("2", [1, 1]), ("", [[1, 1]])]
    for name in ("Pad", "PadV2"):
        extra = {"constant_values": V(1)} if name == "PadV2" else {}
        dtypes = tuple(t for t in ANY if t != "string") if name == "PadV2" else ANY
        rows = [case(input=D(dims), paddings=I(p), **extra) for dims, p in good]
        rows += [bad(input=D(dims), paddings=I(p), **extra) for dims, p in wrong]
        rows += [case(input=D("2 2"), paddings=I([[1, 0], [0, 1]]), second=True, dtypes=["float64"], **extra)]
        yield from op(name, dtypes, *rows, bad(input=D("2"), paddings=L("float32", [[1, 1]]), **extra))
    rows = [
        case(input=D("2"), paddings=I([[1, 1]]), constant_values=V(v), dtypes=("float32",)) for v in (nan, -inf, 0.5)
    ]
    rows += [bad(input=D("2"), paddings=I([[1, 1]]), constant_values=V([1.0, 2.0]), dtypes=("float32",))]
    rows += [case(input=D("2"), paddings=I([[1, 1]]), constant_values=L("string", "pad"), dtypes=("string",))]
    rows += [bad(input=D("2"), paddings=I([[1, 1]]), constant_values=L("int32", 1), dtypes=("float32",))]
    yield from (entry | {"id": entry["id"] + "-constant"} for entry in op("PadV2", ANY, *rows))
    for mode, edge in (("REFLECT", 0), ("SYMMETRIC", 1)):
        good = [
            ("2 3", [[1, 1], [2, 1]]),
            ("3", [[2, 2]]),
            ("3", [[0, 1]]),
            ("2 2 3", [[0, 1], [1, 0], [1, 2]]),
            ("1 2 2 3", [[0, 0], [1, 1], [1, 1], [0, 2]]),
        ]
        good += [("4", [[3 + edge, 3 + edge]]), ("2 3", [[0, 0], [0, 0]])]
        wrong = [("3", [[3 + edge, 0]]), ("2 3", [[1, 1]]), ("3", [[-1, 0]]), ("3", [[1, 1, 1]])]
        rows = [case(input=D(dims), paddings=I(p), mode=mode) for dims, p in good]
        rows += [bad(input=D(dims), paddings=I(p), mode=mode) for dims, p in wrong]
        rows += [case(input=D("3 3"), paddings=I([[1, 2], [2, 1]]), mode=mode, second=True, dtypes=["float64"])]
        rows += [bad(input=D("3"), paddings=I([[1, 1]]), mode="CONSTANT")] if not edge else []
        yield from (entry | {"id": f"{entry['id']}-{mode}"} for entry in op("MirrorPad", ANY, *rows))


def described() -> Iterator[dict]:
    shapes = ("2 3", "", "4", "1 2 1 2", "0", "2 0 3", "1 1 1 1 1")
    for name in ("Shape", "Size"):
        rows = [case(input=D(d), out_type=DT(t)) for t in ("int32", "int64") for d in shapes]
        yield from op(name, ANY, *rows)
    yield from op("Rank", ANY, *[case(input=D(d)) for d in shapes])
    rows = [
        case(input=[D(d) for d in dims], out_type=DT(t))
        for t in ("int32", "int64")
        for dims in (["2 3", "", "0 2"], ["4"], ["1 2", "1 2"])
    ]
    yield from op("ShapeN", ANY, *rows, bad(input=[D("2"), D("2", dtype="int32")], out_type=DT("int32")))


def reversals() -> Iterator[dict]:
    good = [
        ("2 3", [1]),
        ("2 3", [0]),
        ("2 3", [0, 1]),
        ("2 3", [-1]),
        ("2 3", []),
        ("", []),
        ("5", [0]),
        ("2 2 3", [0, 2]),
        ("1 2 2 2", [1, -1]),
    ]
    good += [("0", [0]), ("0 2", [1]), ("2 0 3", [0, 2])]
    wrong = [("2 3", [2]), ("2 3", [-3]), ("2 3", [0, 0]), ("2 3", [1, -1]), ("", [0])]
    rows = (
        [case(tensor=D(d), axis=I(a)) for d, a in good]
        + [bad(tensor=D(d), axis=I(a)) for d, a in wrong]
        + [bad(tensor=D("2"), axis=I([[0]]))]
    )
    yield from op("ReverseV2", ANY, *rows)
    good = [
        ("2 3", [0, 1]),
        ("2 3", [1, 0]),
        ("2 3", [0, 0]),
        ("", []),
        ("5", [1]),
        ("2 2 3", [1, 0, 1]),
        ("2 0 3", [1, 1, 0]),
    ]
    rows = [case(tensor=D(d), dims=B(a)) for d, a in good]
    yield from op(
        "Reverse",
        ANY,
        *rows,
        bad(tensor=D("2 3"), dims=B([1])),
        bad(tensor=D("2"), dims=I([0])),
        bad(tensor=D("2 2"), dims=B([[1, 0]])),
    )
    rows = [case(input=D("2 4"), seq_lengths=I([3, 2]), seq_dim=1)]
    rows += [
        case(input=D("4 2"), seq_lengths=I([4, 1]), seq_dim=0, batch_dim=1),
        case(input=D("2 3 2"), seq_lengths=I([0, 3]), seq_dim=1),
    ]
    rows += [
        case(input=D("3 2 2"), seq_lengths=I([2, 3]), seq_dim=0, batch_dim=2),
        case(input=D("1 2 1 3"), seq_lengths=I([2]), seq_dim=3),
    ]
    rows += [case(input=D("0 3"), seq_lengths=I([]), seq_dim=1), case(input=D("2 0"), seq_lengths=I([0, 0]), seq_dim=1)]
    wrong = [
        ("2 4", [3], 1, 0),
        ("2 4", [5, 1], 1, 0),
        ("2 4", [-1, 1], 1, 0),
        ("2 4", [1, 1], 0, 0),
        ("2 4", [1, 1], 2, 0),
        ("2 4", [1, 1], 1, 2),
    ]
    rows += [bad(input=D(d), seq_lengths=I(s), seq_dim=q, batch_dim=b) for d, s, q, b in wrong] + [
        bad(input=D("2 4"), seq_lengths=I([[1, 1]]), seq_dim=1)
    ]
    yield from op("ReverseSequence", ANY, *rows)


def copies() -> Iterator[dict]:
    rows = [
        case(input=[D("2 3"), D("2", dtype="int32")]),
        case(input=[D("")]),
        case(input=[D("0"), D("2 0 3"), D("1 2 2 2")]),
        case(input=[D("2", dtype="string"), D("3", dtype="complex64"), D("2", dtype="float64")]),
    ]
    yield from op("IdentityN", ANY, *rows)
    pairs = [
        ("float32", "int32"),
        ("float32", "uint32"),
        ("float64", "int64"),
        ("int64", "float64"),
        ("int32", "float32"),
        ("float16", "uint16"),
        ("bfloat16", "int16"),
        ("int8", "uint8"),
        ("complex64", "int64"),
    ]
    narrow = [
        ("float32", "uint8"),
        ("float32", "int16"),
        ("float64", "float32"),
        ("int32", "bfloat16"),
        ("complex128", "complex64"),
        ("complex64", "float32"),
        ("int64", "int8"),
    ]
    rows = [case(input=D(d, dtype=a), type=DT(b)) for a, b in pairs for d in ("2 3", "")] + [
        case(input=D("2", dtype=a), type=DT(b)) for a, b in narrow
    ]
    rows += [
        case(input=V(v, a), type=DT(b))
        for v, a, b in (
            ([[1, 2, 3, 4]], "uint8", "int32"),
            ([1, 2, 3, 4], "int16", "int64"),
            ([[1, 0], [0, 1]], "int32", "int64"),
            ([0, 1, 2, 3], "uint8", "uint32"),
        )
    ]
    rows += [
        case(input=D("0", dtype="float32"), type=DT("int32")),
        case(input=D("2 0 4", dtype="uint8"), type=DT("int32")),
        case(input=V([nan, inf, -0.0], "float32"), type=DT("int32")),
    ]
    rows += [
        bad(input=D("3", dtype="uint8"), type=DT("int32")),
        bad(input=D("", dtype="uint8"), type=DT("int32")),
        bad(input=D("2", dtype="string"), type=DT("int32")),
        bad(input=D("2", dtype="bool"), type=DT("uint8")),
    ]
    yield from op("Bitcast", ("float32",), *rows)
