"""Cases for ops of two or more tensors, element by element with broadcasting, and for broadcasting itself.

A row is an op, its two arguments, its dtypes and an interval for each argument where it is smooth; every row goes
through the same cases (dtypes, broadcast pairs, empty tensors, special values against each other, refusals).
"""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import (
    ANY,
    COMPLEX,
    DT,
    FLOAT,
    INT,
    NUMBER,
    REAL,
    SHAPE,
    SIGNED,
    B,
    D,
    I,
    L,
    Row,
    V,
    bad,
    case,
    inf,
    nan,
    op,
)

BROADCASTS = [
    ("", ""),
    ("", "2 3"),
    ("2 3", ""),
    ("3", "2 3"),
    ("2 3", "3"),
    ("2 1", "1 3"),
    ("2 1 3", "4 1"),
    ("1 1 1", "2"),
    ("2 1 2 1", "3 1 2"),
    ("0", "1"),
    ("0", ""),
    ("0 3", "3"),
    ("2 1", "2 0"),
    ("2 0 3", "1 1 3"),
]
MISMATCHES = [("2", "3"), ("2 3", "2"), ("0", "2"), ("2 1 3", "4 2")]
SPECIAL = [nan, inf, -inf, 0.0, -0.0, 1.0, -2.5]
WHOLE = [-7, 7, -8, 8, 0, 1]
NONZERO = [3, -3, 2, -2, 1, 5]
FC = FLOAT + COMPLEX
DOUBLES = ("float32", "float64")
APPROXIMATED = {"tol64": [100, "a special function: approximations differ in the last digits"]}
SMOOTH = True

#    op              arguments       dtypes                    x in          y in         smooth  options
TABLE = [
    ("Add", ("x", "y"), FC + SIGNED + ("uint8", "string"), (-2, 2), (-2, 2), not SMOOTH, {}),
    ("AddV2", ("x", "y"), NUMBER, (-2, 2), (-2, 2), not SMOOTH, {}),
    ("Sub", ("x", "y"), NUMBER, (-2, 2), (-2, 2), not SMOOTH, {}),
    ("Mul", ("x", "y"), NUMBER, (-2, 2), (-2, 2), SMOOTH, {}),
    ("Div", ("x", "y"), NUMBER, (-2, 2), (0.3, 2), SMOOTH, {}),
    ("RealDiv", ("x", "y"), FC, (-2, 2), (0.3, 2), SMOOTH, {}),
    ("TruncateDiv", ("x", "y"), INT, (-2, 2), (0.3, 2), not SMOOTH, {}),
    ("FloorDiv", ("x", "y"), REAL, (-2, 2), (0.3, 2), not SMOOTH, {}),
    ("FloorMod", ("x", "y"), REAL, (-2, 2), (0.3, 2), not SMOOTH, {}),
    ("Mod", ("x", "y"), ("float32", "float64", "int32", "int64"), (-2, 2), (0.3, 2), not SMOOTH, {}),
    ("TruncateMod", ("x", "y"), ("float32", "float64", "int32", "int64"), (-2, 2), (0.3, 2), not SMOOTH, {}),
    ("DivNoNan", ("x", "y"), FC, (-2, 2), (0.3, 2), SMOOTH, {}),
    ("MulNoNan", ("x", "y"), FC, (-2, 2), (-2, 2), SMOOTH, {}),
    ("Pow", ("x", "y"), FLOAT + SIGNED + COMPLEX, (0.3, 2), (0, 2), SMOOTH, {}),
    ("Maximum", ("x", "y"), REAL, (-2, 2), (-2, 2), not SMOOTH, {}),
    ("Minimum", ("x", "y"), REAL, (-2, 2), (-2, 2), not SMOOTH, {}),
    ("SquaredDifference", ("x", "y"), (*FC, "int32", "int64"), (-2, 2), (-2, 2), SMOOTH, {}),
    ("Atan2", ("y", "x"), FLOAT, (-2, 2), (0.3, 2), SMOOTH, {}),
    ("Xdivy", ("x", "y"), FC, (-2, 2), (0.3, 2), SMOOTH, {}),
    ("Xlogy", ("x", "y"), FC, (-2, 2), (0.3, 2), SMOOTH, {}),
    ("Xlog1py", ("x", "y"), FC, (-2, 2), (-0.7, 2), SMOOTH, {}),
    ("Igamma", ("a", "x"), FLOAT, (0.5, 3), (0.2, 4), not SMOOTH, APPROXIMATED),
    ("Igammac", ("a", "x"), FLOAT, (0.5, 3), (0.2, 4), not SMOOTH, APPROXIMATED),
    ("Zeta", ("x", "q"), DOUBLES, (1.5, 4), (0.5, 3), not SMOOTH, APPROXIMATED),
    ("NextAfter", ("x1", "x2"), DOUBLES, (-2, 2), (-2, 2), not SMOOTH, {"tol": [0, "neighbours must be told apart"]}),
    ("BitwiseAnd", ("x", "y"), INT, (-2, 2), (-2, 2), not SMOOTH, {}),
    ("BitwiseOr", ("x", "y"), INT, (-2, 2), (-2, 2), not SMOOTH, {}),
    ("BitwiseXor", ("x", "y"), INT, (-2, 2), (-2, 2), not SMOOTH, {}),
    ("LeftShift", ("x", "y"), INT, (-2, 2), (0, 1), not SMOOTH, {}),
    ("RightShift", ("x", "y"), INT, (-2, 2), (0, 1), not SMOOTH, {}),
    ("Equal", ("x", "y"), ANY, (-1, 1), (-1, 1), not SMOOTH, {}),
    ("NotEqual", ("x", "y"), ANY, (-1, 1), (-1, 1), not SMOOTH, {}),
    ("Less", ("x", "y"), REAL, (-1, 1), (-1, 1), not SMOOTH, {}),
    ("LessEqual", ("x", "y"), REAL, (-1, 1), (-1, 1), not SMOOTH, {}),
    ("Greater", ("x", "y"), REAL, (-1, 1), (-1, 1), not SMOOTH, {}),
    ("GreaterEqual", ("x", "y"), REAL, (-1, 1), (-1, 1), not SMOOTH, {}),
    ("LogicalAnd", ("x", "y"), ("bool",), (-1, 1), (-1, 1), not SMOOTH, {}),
    ("LogicalOr", ("x", "y"), ("bool",), (-1, 1), (-1, 1), not SMOOTH, {}),
]
NO_SPECIALS = {"Zeta", "Igamma", "Igammac"}  # slow series, and noise, outside their domain
DIVIDES = {"Div", "TruncateDiv", "FloorDiv", "FloorMod", "Mod", "TruncateMod"}
NEGATIVE_REFUSED = {"Pow"}
MAXIMA = {"int8": 127, "int16": 2**15 - 1, "int32": 2**31 - 1, "int64": 2**63 - 1}


def cases() -> Iterator[dict]:
    for name, args, dtypes, x_in, y_in, smooth, options in TABLE:
        yield from op(name, dtypes, *_binary(name, args, dtypes, x_in, y_in, smooth, options))
    for family in (pow_edges, comparisons, special_functions, complexes, sums, selections, clipping, broadcasting):
        yield from family()


def _binary(
    name: str, args: tuple, dtypes: tuple, x_in: tuple, y_in: tuple, smooth: bool, options: dict
) -> Iterator[Row]:
    first, second = args

    def data(a: str, b: str) -> dict:
        return {first: D(a, *x_in), second: D(b, *y_in)}

    yield case(**data("2 3", "2 3"), **options)
    for a, b in BROADCASTS:
        yield case(**data(a, b), **options)
    if smooth:
        yield case(**data("2 3", "3"), second=True, dtypes=["float64", "float32"])
        yield case(**data("4", "4"), second=True, dtypes=["float64"])
    yield from _specials(name, first, second, dtypes, options)
    for a, b in MISMATCHES:
        yield bad(**data(a, b))
    yield bad(**{first: D("3"), second: D("3", dtype="float64" if dtypes[0] != "float64" else "float32")})
    refused = next((t for t in ("string", "complex64", "float32") if t not in dtypes), None)
    if refused:
        yield bad(**{first: D("2", dtype=refused), second: D("2", dtype=refused)})


def _specials(name: str, first: str, second: str, dtypes: tuple, options: dict) -> Iterator[Row]:
    """Special values against each other, as a column against a row."""
    floats = [t for t in FLOAT if t in dtypes]
    if floats and name not in NO_SPECIALS:
        yield case(**{first: V([[v] for v in SPECIAL]), second: V([SPECIAL])}, no_grad=True, dtypes=floats, **options)
        yield case(**{first: V(SPECIAL), second: V(SPECIAL[3:] + SPECIAL[:3])}, dtypes=floats[:2], **options)
        yield case(**{first: V([0.0, 0.0, 1.0, -1.0]), second: V([0.0, 2.0, 0.0, 1.0])}, dtypes=floats, **options)
    signed = [t for t in SIGNED if t in dtypes]
    if signed and name not in NEGATIVE_REFUSED:
        yield case(**{first: V([[v] for v in WHOLE]), second: V([NONZERO])}, dtypes=signed)
    for dtype in signed:
        top = MAXIMA[dtype]
        pairs = [(top, 1), (-top - 1, 2), (top, top), (-top - 1, 3)]
        pairs += [] if name in NEGATIVE_REFUSED else [(-top - 1, -1), (top, -1)]
        yield case(**{first: V([a for a, _ in pairs]), second: V([b for _, b in pairs])}, dtypes=[dtype])
    if signed and name in DIVIDES:
        yield bad(**{first: V([1, 2]), second: V([1, 0])}, dtypes=signed, says="zero")
        yield bad(**{first: V([1, 2]), second: V(0)}, dtypes=signed, says="zero")


def pow_edges() -> Iterator[dict]:
    rows = [
        case(x=D("2 3", 0.3, 2), y=D("2 3"), dtypes=FC),
        case(x=V([0.0, 0.0, -2.0, -2.0, -2.0, 1.0]), y=V([0.0, 2.0, 2.0, 3.0, -1.0, nan]), dtypes=FLOAT),
        case(x=V([2, -2, 3, 0, -1]), y=V([10, 3, 0, 0, 7]), dtypes=SIGNED),
        bad(x=V([2, 3]), y=V([1, -1]), dtypes=["int32", "int64"]),
    ]
    yield from _tagged(op("Pow", FLOAT, *rows), "edge")
    shifts = [case(x=V([[-7], [1], [100]]), y=V([[0, 1, 7, 8, 31, 64, -1]]), dtypes=["int8", "int32", "int64"])]
    yield from _tagged(op("LeftShift", INT, *shifts), "width")
    yield from _tagged(op("RightShift", INT, *shifts), "width")


def comparisons() -> Iterator[dict]:
    for name in ("Equal", "NotEqual"):
        lenient = {"incompatible_shape_error": False}
        rows = [
            case(x=D("2 3"), y=D("3"), **lenient),
            case(x=D("2 3"), y=D("2"), **lenient),
            case(x=D("0"), y=D("3"), **lenient),
            case(x=L("string", ["a", "b", ""]), y=L("string", ["a", "", ""])),
            case(x=V([1 + 2j, nan, 1j], "complex64"), y=V([1 + 2j, nan, 1], "complex64")),
            bad(x=D("2"), y=D("2", dtype="int32"), **lenient),
        ]
        yield from _tagged(op(name, ("float32",), *rows), "lenient")
    yield from op(
        "ApproximateEqual",
        NUMBER,
        case(x=V([1.0, 2.0, 3.0, 4.0]), y=V([1.0, 2.5, 3.0, 5.0]), tolerance=0.75),
        case(x=D("2 3"), y=D("2 3"), tolerance=1.0),
        case(x=V([1.0, 1.0, 1.0]), y=V([1.000001, 1.00002, 0.99])),
        case(x=V([nan, inf, inf, 0.0]), y=V([nan, inf, -inf, -0.0]), tolerance=0.5, dtypes=FLOAT),
        case(x=D(""), y=D(""), tolerance=10.0),
        case(x=D("0"), y=D("0")),
        case(x=D("2 0 3"), y=D("2 0 3")),
        bad(x=D("2 3"), y=D("3")),
        bad(x=D("2"), y=D("2", dtype="float64")),
    )


def special_functions() -> Iterator[dict]:
    yield from op(
        "Polygamma",
        DOUBLES,
        case(a=V([[0.0], [1.0], [2.0], [3.0]]), x=D("5", 0.5, 3), **APPROXIMATED),
        case(a=V(1.0), x=D("2 3", 0.5, 3), **APPROXIMATED),
        case(a=V([1.0, 2.0]), x=V(1.5), **APPROXIMATED),
        case(a=V(2.0), x=V(0.75), **APPROXIMATED),
        case(a=V([1.0]), x=D("0"), **APPROXIMATED),
        case(a=V([[1.0], [2.0]]), x=D("2 0"), **APPROXIMATED),
        case(a=V([1.0, 1.0, 2.0]), x=V([-1.5, 0.0, 100.0]), **APPROXIMATED),
        bad(a=V([1.0, 2.0]), x=D("3")),
        bad(a=D("2", dtype="int32"), x=D("2", dtype="int32")),
    )
    edges = [case(a=V([1.0, 1.0, 2.0, 0.5, 3.0]), x=V([0.0, 1.0, 30.0, 0.001, 100.0]), dtypes=DOUBLES, **APPROXIMATED)]
    edges += [case(a=V([-1.0, 1.0, nan]), x=V([1.0, -1.0, 1.0]), dtypes=DOUBLES, **APPROXIMATED)]
    yield from _tagged(op("Igamma", DOUBLES, *edges), "edge")
    yield from _tagged(op("Igammac", DOUBLES, *edges), "edge")
    zeta = [case(x=V([2.0, 1.0, 0.5, 2.0, 3.0]), q=V([1.0, 1.0, 1.0, -1.0, -1.5]), dtypes=DOUBLES, **APPROXIMATED)]
    yield from _tagged(op("Zeta", DOUBLES, *zeta), "edge")
    yield from op(
        "Betainc",
        DOUBLES,
        case(a=D("2 3", 0.5, 3), b=D("2 3", 0.5, 3), x=D("2 3", 0.1, 0.9), **APPROXIMATED),
        case(a=V(2.0), b=V(3.0), x=D("5", 0.1, 0.9), **APPROXIMATED),
        case(a=D("4", 0.5, 3), b=V(1.5), x=V(0.25), **APPROXIMATED),
        case(a=V(0.5), b=V(0.5), x=V(0.5), **APPROXIMATED),
        case(a=D("0", 0.5, 3), b=D("0", 0.5, 3), x=D("0", 0.1, 0.9), **APPROXIMATED),
        case(a=D("2 0", 0.5, 3), b=V(1.0), x=D("2 0", 0.1, 0.9), **APPROXIMATED),
        case(a=V([1.0, 2.0, -1.0, 1.0]), b=V([1.0, 3.0, 1.0, 1.0]), x=V([0.0, 1.0, 0.5, 1.5]), **APPROXIMATED),
        bad(a=D("2", 0.5, 3), b=D("3", 0.5, 3), x=D("2", 0.1, 0.9)),
        bad(a=D("2 3", 0.5, 3), b=D("3", 0.5, 3), x=D("2 3", 0.1, 0.9)),
    )


def complexes() -> Iterator[dict]:
    rows = []
    for part, whole in (("float32", "complex64"), ("float64", "complex128")):
        for a, b in [("2 3", "2 3"), *BROADCASTS]:
            rows.append(case(real=D(a, dtype=part), imag=D(b, dtype=part), Tout=DT(whole)))
        rows.append(case(real=V([nan, inf, 0.0], part), imag=V([1.0, -inf, nan], part), Tout=DT(whole)))
    rows += [bad(real=D(a), imag=D(b), Tout=DT("complex64")) for a, b in MISMATCHES]
    rows += [bad(real=D("2", dtype="int32"), imag=D("2", dtype="int32"), Tout=DT("complex64"))]
    yield from op("Complex", ("float32",), *rows)


def sums() -> Iterator[dict]:
    for name in ("AddN", "AccumulateNV2"):
        shape = (
            (lambda dims: {"shape": SHAPE(dims), "only": ("graph", "late")})
            if name == "AccumulateNV2"
            else (lambda dims: {})
        )
        rows = [
            case(inputs=[D("2 3"), D("2 3"), D("2 3")], **shape([2, 3])),
            case(inputs=[D("2 3")], **shape([2, 3])),
            case(inputs=[D(""), D("")], **shape([])),
            case(inputs=[D("4")] * 9, **shape([4])),
            case(inputs=[D("0"), D("0")], **shape([0])),
            case(inputs=[D("2 0 3"), D("2 0 3")], **shape([2, 0, 3])),
            case(inputs=[V([nan, inf, inf]), V([1.0, -inf, 1.0])], **shape([3])),
            bad(inputs=[D("2 3"), D("3 2")], **shape([2, 3])),
            bad(inputs=[D("2"), D("")], **shape([2])),
            bad(inputs=[D("2"), D("2", dtype="int32")], **shape([2])),
            bad(inputs=[D("2", dtype="string"), D("2", dtype="string")], **shape([2])),
        ]
        yield from op(name, NUMBER, *rows)


def selections() -> Iterator[dict]:
    yes_no = B([[True, False, True], [False, False, True]])
    for name, yes, no in (("Select", "x", "y"), ("SelectV2", "t", "e")):

        def row(make, condition, t, e, yes=yes, no=no):
            return make(condition=condition, **{yes: t, no: e})

        shapes = [("", ""), ("1 2 2 2", "1 2 2 2"), ("0", "0"), ("2 0 3", "2 0 3"), ("", "2 3")]
        rows = [
            row(case, yes_no, D("2 3"), D("2 3")),
            *[row(case, D(c, dtype="bool"), D(shape), D(shape)) for c, shape in shapes],
            row(case, B(True), D("2 3"), D("2 3")),
            row(case, B([True, False, True]), V([nan, nan, 1.0]), V([0.0, inf, nan])),
            row(bad, yes_no, D("2 3"), D("2 3", dtype="int32")),
            row(bad, D("2 3"), D("2 3"), D("2 3")),
            row(bad, yes_no, D("3 2"), D("3 2")),
        ]
        yield from op(name, ANY, *rows)
    vector = [
        case(condition=B([True, False]), x=D("2 3"), y=D("2 3")),
        case(condition=B([False, True, False]), x=D("3 2 2"), y=D("3 2 2")),
        bad(condition=B([True, False, True]), x=D("2 3"), y=D("2 3")),
        bad(condition=yes_no, x=D("2 3"), y=D("")),
    ]
    yield from _tagged(op("Select", ANY, *vector), "rows")
    spread = [("3", "2 3", "2 1"), ("2 1", "3", ""), ("", "2 3", "3"), ("2 3", "", "")]
    spread += [("1", "0", "0"), ("2 1", "2 0", "1 1"), ("2 1 1", "3 1", "1 2")]
    rows = [case(condition=D(c, dtype="bool"), t=D(t), e=D(e)) for c, t, e in spread]
    rows += [bad(condition=D("2", dtype="bool"), t=D("3"), e=D("3")), bad(condition=B(True), t=D("2"), e=D("3"))]
    yield from _tagged(op("SelectV2", ANY, *rows), "broadcast")


def clipping() -> Iterator[dict]:
    yield from op(
        "ClipByValue",
        REAL,
        case(t=D("2 3", -3, 3), clip_value_min=V(0.0), clip_value_max=V(2.0)),
        case(t=D("2 3", -3, 3), clip_value_min=V(-1.0), clip_value_max=V(1.0)),
        case(t=D("2 3", -3, 3), clip_value_min=D("2 3", -2, -1), clip_value_max=D("2 3", 1, 2)),
        case(t=D("2 3", -3, 3), clip_value_min=V(-1.0), clip_value_max=D("2 3", 1, 2)),
        case(t=D("2 3", -3, 3), clip_value_min=D("2 3", -2, -1), clip_value_max=V(1.5)),
        case(t=D("", -3, 3), clip_value_min=V(-0.5), clip_value_max=V(0.5)),
        case(t=D("0"), clip_value_min=V(-1.0), clip_value_max=V(1.0)),
        case(t=D("2 0 3"), clip_value_min=V(-1.0), clip_value_max=V(1.0)),
        case(t=V([-1.0, 1.0, 0.0, 2.0]), clip_value_min=V(-1.0), clip_value_max=V(1.0)),
        case(t=V([nan, inf, -inf, 0.0]), clip_value_min=V(-1.0), clip_value_max=V(1.0), dtypes=FLOAT),
        case(t=D("4"), clip_value_min=V(1.0), clip_value_max=V(-1.0)),
        bad(t=D("2 3"), clip_value_min=D("2"), clip_value_max=V(1.0)),
        bad(t=D("2"), clip_value_min=V(-1.0), clip_value_max=L("int32", 1)),
    )


def broadcasting() -> Iterator[dict]:
    to = [("3", [2, 3]), ("2 1", [2, 3]), ("", [2, 2]), ("1", [4]), ("2 3", [2, 3]), ("", []), ("1 2 1", [3, 1, 2, 2])]
    to += [("1", [0]), ("0", [2, 0]), ("2 1", [2, 0]), ("1 1", [0, 3]), ("1 0 3", [2, 0, 3])]
    rows = [case(input=D(source), shape=I(dims)) for source, dims in to]
    rows += [
        bad(input=D(source), shape=I(dims)) for source, dims in (("2", [3]), ("2 3", [3]), ("2 3", [2]), ("0", [2]))
    ]
    rows += [
        bad(input=D("2"), shape=I([-1, 2])),
        bad(input=D("2"), shape=I([[2]])),
        bad(input=D("2"), shape=L("float32", [2])),
    ]
    yield from op("BroadcastTo", ANY, *rows)
    pairs = [
        ([2, 3], [3]),
        ([3], [2, 3]),
        ([], [2]),
        ([2, 1], [1, 3]),
        ([], []),
        ([1], [0]),
        ([5, 1, 4], [3, 1]),
        ([2, 0], [1, 1]),
    ]
    apart = [([2], [3]), ([2, 3], [2]), ([0], [2])]
    rows = [case(s0=I(a), s1=I(b)) for a, b in pairs] + [bad(s0=I(a), s1=I(b)) for a, b in apart]
    yield from op("BroadcastArgs", ("int32",), *rows, bad(s0=I([[1]]), s1=I([1])), bad(s0=I([2]), s1=L("float32", [2])))
    rows = [case(s0=I(a), s1=I(b)) for a, b in [*pairs, ([2, 3], [2, 3]), ([1, 1], [1, 1]), ([2, 1], [2, 3])]]
    rows += [bad(s0=I(a), s1=I(b)) for a, b in apart]
    yield from op("BroadcastGradientArgs", ("int32",), *rows, bad(s0=I([[1]]), s1=I([1])))


def _tagged(entries: Iterator[dict], tag: str) -> Iterator[dict]:
    for entry in entries:
        yield entry | {"id": f"{entry['id']}-{tag}"}
