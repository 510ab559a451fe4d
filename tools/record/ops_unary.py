"""Cases for ops of one tensor, element by element, and for the ops that are their gradients.

A row is an op, its argument, its dtypes and the interval where it is smooth; every row goes through the same cases
(dtypes, ranks, empty tensors, special values, extremes, a dtype it refuses, second order where it is smooth).
"""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import ANY, COMPLEX, DT, FLOAT, INT, NUMBER, REAL, SIGNED, B, D, L, Row, V, bad, case, inf, nan, op

SPECIAL = [nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 20.0, -20.0, 100.0, -100.0]
NOISY_AT_INFINITY = {("Erf", "float64")}  # TensorFlow answers nan there
EXTREME = {
    "int8": [-128, 127, 0, -1],
    "int16": [-32768, 32767, 0, -1],
    "int32": [-(2**31), 2**31 - 1, 0, -1],
    "int64": [-(2**63), 2**63 - 1, 0, -1],
}
SMOOTH = True
FC = FLOAT + COMPLEX
ALL_SIGNED = FLOAT + SIGNED + COMPLEX
APPROXIMATED = [100, "a special function: approximations differ in the last digits"]

#   op           arg         dtypes              lo     hi    smooth  options
TABLE = [
    ("Abs", "x", FLOAT + SIGNED, -3.0, 3.0, SMOOTH, {"zeros": "signed"}),
    ("Acos", "x", FC, -0.9, 0.9, SMOOTH, {}),
    ("Acosh", "x", FC, 1.1, 4.0, SMOOTH, {}),
    ("Asin", "x", FC, -0.9, 0.9, SMOOTH, {}),
    ("Asinh", "x", FC, -3.0, 3.0, SMOOTH, {}),
    ("Atan", "x", FC, -3.0, 3.0, SMOOTH, {}),
    ("Atanh", "x", FC, -0.9, 0.9, SMOOTH, {}),
    ("BesselI0e", "x", FLOAT, -3.0, 3.0, SMOOTH, {"tol64": APPROXIMATED}),
    ("BesselI1e", "x", FLOAT, -3.0, 3.0, SMOOTH, {"tol64": APPROXIMATED}),
    ("Ceil", "x", FLOAT, -3.0, 3.0, not SMOOTH, {"zeros": "signed"}),
    ("Conj", "input", COMPLEX, -3.0, 3.0, SMOOTH, {}),
    ("Cos", "x", FC, -3.0, 3.0, SMOOTH, {}),
    ("Cosh", "x", FC, -3.0, 3.0, SMOOTH, {}),
    ("Digamma", "x", FLOAT, 0.3, 4.0, SMOOTH, {"tol64": APPROXIMATED}),
    ("Elu", "features", FLOAT, -3.0, 3.0, SMOOTH, {}),
    ("Erf", "x", FLOAT, -2.0, 2.0, SMOOTH, {}),
    ("Erfc", "x", FLOAT, -2.0, 2.0, SMOOTH, {}),
    ("Erfinv", "x", FLOAT, -0.9, 0.9, SMOOTH, {"tol64": APPROXIMATED}),
    ("Exp", "x", FC, -3.0, 3.0, SMOOTH, {}),
    ("Expm1", "x", FC, -3.0, 3.0, SMOOTH, {}),
    ("Floor", "x", FLOAT, -3.0, 3.0, not SMOOTH, {"zeros": "signed"}),
    ("Identity", "input", ANY, -3.0, 3.0, not SMOOTH, {"zeros": "signed"}),
    ("Inv", "x", FC, 0.3, 3.0, SMOOTH, {}),
    ("Invert", "x", INT, -3.0, 3.0, not SMOOTH, {}),
    ("IsFinite", "x", FLOAT, -3.0, 3.0, not SMOOTH, {}),
    ("IsInf", "x", FLOAT, -3.0, 3.0, not SMOOTH, {}),
    ("IsNan", "x", FLOAT, -3.0, 3.0, not SMOOTH, {}),
    ("LeakyRelu", "features", FLOAT, -3.0, 3.0, not SMOOTH, {}),
    ("Lgamma", "x", FLOAT, 0.3, 4.0, SMOOTH, {"tol64": APPROXIMATED}),
    ("Log", "x", FC, 0.1, 4.0, SMOOTH, {}),
    ("Log1p", "x", FC, -0.8, 4.0, SMOOTH, {}),
    ("LogicalNot", "x", ("bool",), 0.0, 1.0, not SMOOTH, {}),
    ("Ndtri", "x", FLOAT, 0.05, 0.95, SMOOTH, {"tol64": APPROXIMATED}),
    ("Neg", "x", ALL_SIGNED, -3.0, 3.0, not SMOOTH, {"zeros": "signed"}),
    ("OnesLike", "x", (*NUMBER, "bool"), -3.0, 3.0, not SMOOTH, {}),
    ("Reciprocal", "x", FC, 0.3, 3.0, SMOOTH, {}),
    ("Relu", "features", REAL, -3.0, 3.0, not SMOOTH, {}),
    ("Relu6", "features", REAL, -3.0, 9.0, not SMOOTH, {}),
    ("Rint", "x", FLOAT, -3.0, 3.0, not SMOOTH, {"zeros": "signed"}),
    ("Round", "x", FLOAT, -3.0, 3.0, not SMOOTH, {}),  # TensorFlow's kernel for integers answers 0
    ("Rsqrt", "x", FC, 0.2, 4.0, SMOOTH, {}),
    ("Selu", "features", FLOAT, -3.0, 3.0, SMOOTH, {}),
    ("Sigmoid", "x", FC, -3.0, 3.0, SMOOTH, {}),
    ("Sign", "x", ALL_SIGNED, -3.0, 3.0, not SMOOTH, {}),
    ("Sin", "x", FC, -3.0, 3.0, SMOOTH, {}),
    ("Sinh", "x", FC, -3.0, 3.0, SMOOTH, {}),
    ("Snapshot", "input", ANY, -3.0, 3.0, not SMOOTH, {}),
    ("Softplus", "features", FLOAT, -3.0, 3.0, SMOOTH, {}),
    ("Softsign", "features", FLOAT, -3.0, 3.0, SMOOTH, {}),
    ("Sqrt", "x", FC, 0.2, 4.0, SMOOTH, {"zeros": "signed"}),
    ("Square", "x", NUMBER, -3.0, 3.0, SMOOTH, {}),
    ("StopGradient", "input", ANY, -3.0, 3.0, not SMOOTH, {}),
    ("Tan", "x", FC, -1.3, 1.3, SMOOTH, {}),
    ("Tanh", "x", FC, -3.0, 3.0, SMOOTH, {}),
    ("ZerosLike", "x", ANY, -3.0, 3.0, not SMOOTH, {}),
]

#   op                 arguments                   dtypes  smooth
GRADIENT_TABLE = [
    ("SigmoidGrad", ("y", "dy"), FC, SMOOTH),
    ("TanhGrad", ("y", "dy"), FC, SMOOTH),
    ("SqrtGrad", ("y", "dy"), FC, not SMOOTH),
    ("RsqrtGrad", ("y", "dy"), FC, SMOOTH),
    ("ReciprocalGrad", ("y", "dy"), FC, SMOOTH),
    ("InvGrad", ("y", "dy"), FC, SMOOTH),
    ("ReluGrad", ("gradients", "features"), REAL, not SMOOTH),
    ("Relu6Grad", ("gradients", "features"), REAL, not SMOOTH),
    ("EluGrad", ("gradients", "outputs"), FLOAT, not SMOOTH),
    ("SeluGrad", ("gradients", "outputs"), FLOAT, not SMOOTH),
    ("SoftplusGrad", ("gradients", "features"), FLOAT, SMOOTH),
    ("SoftsignGrad", ("gradients", "features"), FLOAT, not SMOOTH),
    ("LeakyReluGrad", ("gradients", "features"), FLOAT, not SMOOTH),
]

SHAPES = ("", "5", "1 2 2 2", "0", "0 3", "2 0 3")


def cases() -> Iterator[dict]:
    for name, arg, dtypes, lo, hi, smooth, options in TABLE:
        yield from op(name, dtypes, *_unary(name, arg, dtypes, lo, hi, smooth, options))
    for name, args, dtypes, smooth in GRADIENT_TABLE:
        yield from op(name, dtypes, *_gradient(args, dtypes, smooth))
    yield from complex_parts()
    yield from casts()
    yield from attributed()


def _unary(name: str, arg: str, dtypes: tuple, lo: float, hi: float, smooth: bool, options: dict) -> Iterator[Row]:
    yield case(**{arg: D("2 3", lo, hi)}, **options)
    for shape in SHAPES:
        yield case(**{arg: D(shape, lo, hi)}, **options)
    if smooth:
        yield case(
            **{arg: D("7", lo, hi)}, second=True, dtypes=[t for t in ("float64", "float32") if t in dtypes], **options
        )
        if "complex128" in dtypes:
            yield case(**{arg: D("4", lo, hi)}, second=True, dtypes=["complex128"], **options)
    floats = [t for t in FLOAT if t in dtypes]
    if floats:
        noisy = [t for t in floats if (name, t) in NOISY_AT_INFINITY]
        yield case(**{arg: V(SPECIAL)}, dtypes=[t for t in floats if t not in noisy], **options)
        yield case(**{arg: V([v for v in SPECIAL if abs(v) != inf])}, dtypes=noisy, **options)
    for dtype in (t for t in EXTREME if t in dtypes):
        yield case(**{arg: V(EXTREME[dtype])}, dtypes=[dtype])
    refused = next((t for t in ("string", "int32", "float32") if t not in dtypes), None)
    if refused:
        yield bad(**{arg: D("2", dtype=refused)})


def _gradient(args: tuple, dtypes: tuple, smooth: bool) -> Iterator[Row]:
    first, second = args
    yield case(**{first: D("2 3", 0.1, 0.9), second: D("2 3", -2.0, 2.0)})
    for shape in SHAPES:
        yield case(**{first: D(shape, 0.1, 0.9), second: D(shape, -2.0, 2.0)})
    if smooth:
        yield case(**{first: D("5", 0.2, 0.9), second: D("5")}, second=True, dtypes=["float64"])
    yield case(
        **{first: V([nan, inf, -inf, 0.0, 1.0, 1.0, 2.0, -1.0]), second: V([1.0, 1.0, 1.0, 7.0, nan, inf, -inf, 0.0])}
    )
    yield case(**{first: V([1.0, -1.0, 0.5, 2.0, 3.0]), second: V([0.0, 0.0, 6.0, 6.5, -0.5])})
    if second != "dy":  # those of y and dy do not check their shapes
        yield bad(**{first: D("2 3"), second: D("3 2")})
    yield bad(**{first: D("2 3"), second: D("2 3", dtype="string")})


def complex_parts() -> Iterator[dict]:
    """Ops from complex to real: their result dtype is an attr."""
    for name, arg in (("Real", "input"), ("Imag", "input"), ("Angle", "input"), ("ComplexAbs", "x")):
        rows = []
        for source, result in (("complex64", "float32"), ("complex128", "float64")):
            for shape in ("2 3", "", "4", "0", "2 0", "1 2 1 2"):
                rows.append(case(**{arg: D(shape, dtype=source)}, Tout=DT(result)))
            rows.append(case(**{arg: V([1 + 0j, -1 + 0j, 2j, -2j, 0j, 3 - 4j], source)}, Tout=DT(result)))
        rows.append(
            case(**{arg: D("5", 0.3, 2.0, dtype="complex128")}, Tout=DT("float64"), second=name == "ComplexAbs")
        )
        rows.append(bad(**{arg: D("2", dtype="float32")}, Tout=DT("float32")))
        yield from op(name, ("complex64",), *rows)


def casts() -> Iterator[dict]:
    """Every source dtype to every result dtype, with values that every dtype can hold."""
    names = tuple(t for t in ANY if t != "string")
    rows = [case(x=V([0, 1, 3, 2.5, 100], source), DstT=DT(result)) for source in names for result in names]
    rows += [
        case(x=V([-3, -2.5, -0.5, 0.5, 1.5, 2.5, -100], source), DstT=DT(result))
        for source in FLOAT
        for result in FLOAT + SIGNED
    ]
    rows += [case(x=V([300, -129, 65536 + 7, -1], "int32"), DstT=DT(result)) for result in (*INT, "bool")]
    rows += [
        case(x=V([nan, inf, -inf, -0.0, 70000.0, 1e30], "float32"), DstT=DT(result))
        for result in (*FLOAT, "bool", "complex64")
    ]
    rows += [
        case(x=V([1.00390625, 1.01171875, 3.0e-8, 65519.0], "float32"), DstT=DT(t)) for t in ("float16", "bfloat16")
    ]
    rows += [case(x=D(shape, dtype="float32"), DstT=DT("float64")) for shape in ("", "0", "2 0 3", "1 2 2 2")]
    rows += [case(x=V([1.75, -2.5 + 1j], "complex64"), DstT=DT("float32"))]
    rows += [
        case(x=V([1.1, 1.00390625, 3.14159], "float32"), DstT=DT(t), Truncate=True) for t in ("bfloat16", "float16")
    ]
    rows += [bad(x=L("string", ["1"]), DstT=DT("int32")), bad(x=D("2", dtype="float32"), DstT=DT("string"))]
    yield from op("Cast", ("float32",), *rows)


def attributed() -> Iterator[dict]:
    """Ops whose attrs matter."""
    alphas = [0.0, 0.1, 0.5, 1.0, 1.5, -0.5]
    yield from _renamed(
        op("LeakyRelu", FLOAT, *[case(features=D("2 3", -3.0, 3.0), alpha=a, wide=True) for a in alphas]), "alpha"
    )
    yield from _renamed(
        op("LeakyReluGrad", FLOAT, *[case(gradients=D("6"), features=D("6", -3.0, 3.0), alpha=a) for a in alphas]),
        "alpha",
    )
    yield from op(
        "CheckNumerics",
        FLOAT,
        case(tensor=D("2 3"), message="fine"),
        case(tensor=D(""), message=""),
        case(tensor=D("0"), message="empty"),
        case(tensor=D("2 0 3"), message="empty"),
        case(tensor=V([-0.0, 1e30, -1e30]), message="large", dtypes=["float32", "float64"]),
        bad(tensor=V([1.0, nan]), message="here", says="here", wide=True),
        bad(tensor=V([inf, 1.0]), message="there", says="there", wide=True),
        bad(tensor=V([[1.0], [-inf]]), message="there", wide=True),
        bad(tensor=V([inf, nan, -inf]), message="both", says="both"),
        bad(tensor=D("2", dtype="int32"), message="integer"),
    )
    yield from op(
        "PreventGradient",
        ANY,
        case(input=D("2 3"), message="second order?", refuses_grad=True),
        case(input=D(""), refuses_grad=True),
        case(input=D("0 2"), refuses_grad=True),
        case(input=B([True, False])),
    )


def _renamed(entries: Iterator[dict], suffix: str) -> Iterator[dict]:
    for entry in entries:
        yield entry | {"id": f"{entry['id']}-{suffix}"}
