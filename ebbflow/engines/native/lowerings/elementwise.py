"""Element-wise ops, as arithmetic on scalars: a formula an op, in the order of its inputs.

A formula gives bit for bit what the op's kernel gives, but for functions such as `exp`, which are right to an ulp or
two in their own way. Where an element costs more than one addition the formula says how many (`costing`): what costs
much is not computed twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.engines.native.text import TYPES
from ebbflow.engines.native.values import Num
from ebbflow.ops.elementwise.activations import SELU_ALPHA, SELU_SCALE

_SELU_SLOPE = SELU_SCALE * SELU_ALPHA


def costing(additions: int, formula: Callable[..., Num]) -> Callable[..., Num]:
    """Return a formula that says what an element costs."""
    formula.cost = additions  # type: ignore[attr-defined]
    return formula


FORMULAS: dict[str, Callable[..., Num]] = {
    "AddV2": lambda x, y: x + y,
    "Add": lambda x, y: x + y,
    "Sub": lambda x, y: x - y,
    "Mul": lambda x, y: x * y,
    "Neg": lambda x: -x,
    "Square": lambda x: x * x,
    "SquaredDifference": lambda x, y: (x - y) * (x - y),
    "Maximum": lambda x, y: larger(x, y),
    "Minimum": lambda x, y: smaller(x, y),
    "Abs": lambda x: x.call("fabs") if x.is_float else (x < 0).where(-x, x),
    "Sign": lambda x: sign_of(x),
    "Relu": lambda features: larger(features, Num(features.body, features.kind, features._like(0))),
    "Relu6": lambda features: _relu6(features),
    "ReluGrad": lambda gradients, features: (features > 0).where(gradients, gradients * 0),
    "Relu6Grad": lambda gradients, features: ((features > 0) & (features < 6)).where(gradients, gradients * 0),
    "ClipByValue": lambda t, low, high: larger(smaller(t, high), low),
    "Round": lambda x: x.call("roundeven") if x.is_float else x,
    "AddN": lambda first, *others: sum(others, first),
    "Less": lambda x, y: x < y,
    "LessEqual": lambda x, y: x.compare("le", y),
    "Greater": lambda x, y: x > y,
    "GreaterEqual": lambda x, y: x.compare("ge", y),
}

BOOLS: dict[str, Callable[..., Num]] = {
    "LogicalAnd": lambda x, y: x & y,
    "LogicalOr": lambda x, y: x | y,
    "LogicalNot": lambda x: ~x,
}

ANY: dict[str, Callable[..., Num]] = {
    "Equal": lambda x, y: x.compare("eq", y),
    "NotEqual": lambda x, y: x.compare("ne", y),
    "SelectV2": lambda condition, t, e: condition.where(t, e),
}
"""Formulas for numbers and truth values alike."""

FLOATS: dict[str, Callable[..., Num]] = {
    "RealDiv": costing(4, lambda x, y: x / y),
    "Div": costing(4, lambda x, y: x / y),
    "DivNoNan": costing(4, lambda x, y: y.compare("eq", 0).where(0, x / y)),
    "MulNoNan": lambda x, y: y.compare("eq", 0).where(0, x * y),
    "Reciprocal": costing(4, lambda x: 1 / x),
    "Inv": lambda x: 1 / x,
    "Sqrt": costing(4, lambda x: x.call("sqrt")),
    "Rsqrt": costing(8, lambda x: 1 / x.call("sqrt")),
    "Floor": lambda x: x.call("floor"),
    "Ceil": lambda x: x.call("ceil"),
    "Rint": lambda x: x.call("roundeven"),
    "FloorDiv": costing(6, lambda x, y: (x / y).call("floor")),
    "TruncateDiv": costing(6, lambda x, y: (x / y).call("trunc")),
    "Xdivy": costing(6, lambda x, y: x.compare("eq", 0).where(0, x / y)),
    "Xlogy": costing(24, lambda x, y: x.compare("eq", 0).where(0, x * y.function("log"))),
    "Xlog1py": costing(24, lambda x, y: x.compare("eq", 0).where(0, x * y.function("log1p"))),
    "IsInf": lambda x: x.call("fabs").compare("eq", np.inf),
    "IsFinite": lambda x: x.call("fabs") < np.inf,
    "IsNan": lambda x: Num(x.body, "bool", x.body(f"fcmp uno {TYPES[x.kind]} {x.name}, {x.name}")),
    "SigmoidGrad": lambda y, dy: dy * (y * (1 - y)),
    "TanhGrad": lambda y, dy: dy * (1 - y * y),
    "SqrtGrad": costing(4, lambda y, dy: _unless_nothing(dy, dy * 0.5 / y)),
    "RsqrtGrad": lambda y, dy: _unless_nothing(dy, y * y * y * (dy * -0.5)),
    "ReciprocalGrad": lambda y, dy: _unless_nothing(dy, -dy * (y * y)),
    "InvGrad": lambda y, dy: _unless_nothing(dy, -dy * (y * y)),
    "Softsign": costing(4, lambda features: features / (features.call("fabs") + 1)),
    "Elu": costing(24, lambda features: (features < 0).where(_below(features).function("expm1"), features)),
    "EluGrad": lambda gradients, outputs: (outputs < 0).where(gradients * (outputs + 1), gradients),
    "Selu": costing(
        24,
        lambda features: (features < 0).where(_below(features).function("expm1") * _SELU_SLOPE, features * SELU_SCALE),
    ),
    "SeluGrad": lambda gradients, outputs: (outputs < 0).where(
        gradients * (outputs + _SELU_SLOPE), gradients * SELU_SCALE
    ),
    "SoftplusGrad": costing(24, lambda gradients, features: gradients / ((-features).function("exp") + 1)),
    "SoftsignGrad": costing(6, lambda gradients, features: gradients / _square(features.call("fabs") + 1)),
    "Exp": costing(20, lambda x: x.function("exp")),
    "Expm1": costing(20, lambda x: x.function("expm1")),
    "Log": costing(20, lambda x: x.function("log")),
    "Log1p": costing(20, lambda x: x.function("log1p")),
    "Tanh": costing(20, lambda x: x.function("tanh")),
    "Sigmoid": costing(20, lambda x: x.function("sigmoid")),
    "Softplus": costing(20, lambda features: features.function("softplus")),
    "Erf": costing(20, lambda x: x.function("erf")),
    "Erfc": costing(20, lambda x: x.function("erfc")),
    "Sin": costing(40, lambda x: x.function("sin")),
    "Cos": costing(40, lambda x: x.function("cos")),
    "Pow": costing(40, lambda x, y: x.function("pow", y)),
    "Tan": costing(40, lambda x: x.function("tan")),
    "Asin": costing(40, lambda x: x.function("asin")),
    "Acos": costing(40, lambda x: x.function("acos")),
    "Atan": costing(40, lambda x: x.function("atan")),
    "Sinh": costing(24, lambda x: x.function("sinh")),
    "Cosh": costing(24, lambda x: x.function("cosh")),
    "Asinh": costing(40, lambda x: x.function("asinh")),
    "Acosh": costing(40, lambda x: x.function("acosh")),
    "Atanh": costing(40, lambda x: x.function("atanh")),
    "Atan2": costing(40, lambda y, x: y.function("atan2", x)),
}

INTRINSICS = {
    "fabs": 1, "sqrt": 1, "floor": 1, "ceil": 1, "roundeven": 1, "trunc": 1, "maximum": 2, "minimum": 2, "copysign": 2,
}  # fmt: skip


def larger(x: Num, y: Num) -> Num:
    """Return the larger one; NaN where one of them is."""
    return x.call("maximum", y) if x.is_float else (x > y).where(x, y)


def smaller(x: Num, y: Num) -> Num:
    """Return the smaller one; NaN where one of them is."""
    return x.call("minimum", y) if x.is_float else (x < y).where(x, y)


def _below(x: Num) -> Num:
    """Return the number, or 0 if it is above."""
    return (x < 0).where(x, 0)


def _square(x: Num) -> Num:
    return x * x


def sign_of(x: Num) -> Num:
    """Return -1, 0 or 1."""
    if not x.is_float:
        return (x > 0).where((x * 0) + 1, (x < 0).where((x * 0) - 1, x * 0))
    one = Num(x.body, x.kind, x._like(1))
    return (x > 0).where(one, (x < 0).where(-one, x))


def _unless_nothing(dy: Num, slope: Num) -> Num:
    """Return a slope with the factor dy: where that is 0 the result is, even beside an infinity."""
    return dy.compare("eq", 0).where(dy, slope)


def _relu6(x: Num) -> Num:
    return smaller(larger(x, Num(x.body, x.kind, x._like(0))), Num(x.body, x.kind, x._like(6)))


def cast(x: Num, kind: str) -> Num:
    """Return a number as one of another kind, rounded towards zero where it must be."""
    if x.kind == kind:
        return x
    a, b = TYPES[x.kind], TYPES[kind]
    if kind == "bool":
        return x.compare("ne", 0)
    if x.kind == "bool":
        how = "uitofp" if kind[0] == "f" else "zext"
    elif x.is_float:
        if kind[0] == "i":
            return _whole(x, kind)
        how = "fpext" if kind == "f64" else "fptrunc"
    else:
        how = "sitofp" if kind[0] == "f" else ("sext" if kind == "i64" else "trunc")
    return Num(x.body, kind, x.body(f"{how} {a} {x.name} to {b}"))


def _whole(x: Num, kind: str) -> Num:
    """Return a float without its fraction as an integer; the smallest one where it has none, as x86 does."""
    end = 2.0 ** (31 if kind == "i32" else 63)
    above = x.compare("ge", -end) if (x.kind, kind) != ("f64", "i32") else x > -end - 1
    near = above & (x < end)
    inside = near.where(x, 0)
    found = Num(x.body, kind, x.body(f"fptosi {TYPES[x.kind]} {inside.name} to {TYPES[kind]}"))
    return near.where(found, -int(end))


def formula(name: str, attrs: dict[str, Any], kinds: list[str]) -> Callable[..., Num] | None:
    """Return how an op is computed for inputs of these kinds, or None where it cannot be."""
    if name in ANY:
        return ANY[name]
    if name in FORMULAS:
        return FORMULAS[name] if kinds[0] != "bool" else None
    if name in BOOLS:
        return BOOLS[name] if kinds[0] == "bool" else None
    if name in FLOATS:
        return FLOATS[name] if kinds[0][0] == "f" else None
    if name in LEAKY and kinds[0][0] == "f":
        return functools.partial(LEAKY[name], float(np.float32(attrs["alpha"])))
    return None


def _leaky_relu(alpha: float, features: Num) -> Num:
    return larger(features, features * alpha) if alpha <= 1 else (features > 0).where(features, features * alpha)


LEAKY: dict[str, Callable[..., Num]] = {
    "LeakyRelu": _leaky_relu,
    "LeakyReluGrad": lambda alpha, gradients, features: (features > 0).where(gradients, gradients * alpha),
}
"""Formulas that take the op's `alpha` first."""
