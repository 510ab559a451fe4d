"""Functions of one number, element by element: exponentials, powers, circles, rounding, signs.

Rows of one statement each: op, array function, slope. The ops that are slopes themselves (`TanhGrad`, `SqrtGrad`, …)
are rows too, because TensorFlow's graphs name them and because one kernel is quicker than three. Public functions stand
below the rows. Functions of two numbers are in `math`, special functions in `special`, activations in `activations`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import operand
from ebbflow.core.dtypes import DType
from ebbflow.core.op import Op, op
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import (
    FLAT,
    constant_like,
    dense,
    in_float32,
    merged,
    quick_binary,
    quick_unary,
    raw,
    unary,
    zeros_shaped_as,
)

REAL_SIGNED = "floats,int8,int16,int32,int64"
SIGNED = REAL_SIGNED + ",complexes"


def one_shape(x: Any, y: Any) -> None:
    """Refuse two arrays of different shapes, where NumPy would broadcast them."""
    if x.shape != y.shape:
        raise ValueError("the inputs differ in shape")


def slope_op(
    name: str,
    args: str,
    fn: Callable[..., Any],
    gradient: Callable[..., Any],
    types: str = "floats_complex",
    out: str = "z",
) -> Op:
    """Declare an op that is the gradient of another: `fn(xp, a, b)`, two inputs of one shape.

    `gradient(grad, a, b, z)` gives both gradients.
    """
    first, second = args.split()
    declared = op(f"{name}({first}:T, {second}:T) -> ({out}:T) | T: {types}", shape=merged, facts="elementwise")
    compute = in_float32(fn) if types != "reals" else fn

    def kernel(xp: Any, a: Any, b: Any) -> Any:
        one_shape(a, b)
        return compute(xp, a, b)

    kernel.for_dtype = getattr(fn, "for_dtype", lambda dtype: None)  # type: ignore[attr-defined]

    declared.kernel(kernel)
    declared.gradient(lambda call, grad: gradient(dense(grad), *call.inputs, call.outputs[0]))
    return declared


# --- slopes that are ops ----------------------------------------------------------------------------------------------


def _bar(x: Any) -> Any:
    """Return the complex conjugate of a tensor; a real one as it is."""
    return raw.Conj(x) if x.dtype.is_complex else x


def _product(x: Any, y: Any) -> Any:
    return raw.Mul.function(x, y)


def _one_plus(x: Any) -> Any:
    one = constant_like(1, x)
    return (raw.Add if context.switches.tf1 else raw.AddV2)(one, x, name="Add")


def _one_minus(x: Any) -> Any:
    return raw.Sub(constant_like(1, x), x)


def _conj(xp: Any, x: Any) -> Any:
    return xp.conj(x) if x.dtype.kind == "c" else x


def _nothing_stays_nothing(xp: Any, dy: Any, slope: Any) -> Any:
    """Return `slope`, which contains the factor `dy`; where that is 0 the result is, even beside an infinity."""
    return xp.where(dy == 0, dy, slope)


def _tanh_grad(xp: Any, y: Any, dy: Any) -> Any:
    return dy * (1 - y * y)


def _sigmoid_grad(xp: Any, y: Any, dy: Any) -> Any:
    return dy * (y * (1 - y))


def _for_floats(make: Callable[..., Any]) -> Callable[[DType], Any]:
    """Return `for_dtype` of a kernel that has a quicker form, made from a 1 of the dtype, for float32 and float64."""
    return lambda dtype: make(np.ones((), dtype.np)) if dtype in (dtypes.float32, dtypes.float64) else None


def _quick_tanh_grad(one: np.ndarray) -> Callable[..., Any]:
    def slope(y: np.ndarray, dy: np.ndarray) -> Any:
        one_shape(y, dy)
        buffer = np.multiply(y, y)
        if buffer.__class__ is not np.ndarray:
            return dy * (one - buffer)
        np.subtract(one, buffer, buffer)
        return np.multiply(dy, buffer, buffer)

    return slope


def _quick_sigmoid_grad(one: np.ndarray) -> Callable[..., Any]:
    def slope(y: np.ndarray, dy: np.ndarray) -> Any:
        one_shape(y, dy)
        buffer = np.subtract(one, y)
        if buffer.__class__ is not np.ndarray:
            return dy * (y * buffer)
        np.multiply(y, buffer, buffer)
        return np.multiply(dy, buffer, buffer)

    return slope


def _quick_sigmoid(one: np.ndarray) -> Callable[..., Any]:
    def sigmoid_of(x: np.ndarray) -> Any:
        buffer = np.negative(x)
        if buffer.__class__ is not np.ndarray:
            return _sigmoid(np, x)
        np.exp(buffer, buffer)
        np.add(buffer, one, buffer)
        return np.reciprocal(buffer, buffer)

    return sigmoid_of


_tanh_grad.for_dtype = _for_floats(_quick_tanh_grad)  # type: ignore[attr-defined]
_sigmoid_grad.for_dtype = _for_floats(_quick_sigmoid_grad)  # type: ignore[attr-defined]


def _sqrt_grad(xp: Any, y: Any, dy: Any) -> Any:
    return _nothing_stays_nothing(xp, dy, dy * 0.5 / _conj(xp, y))


def _rsqrt_grad(xp: Any, y: Any, dy: Any) -> Any:
    return _nothing_stays_nothing(xp, dy, _conj(xp, y * y * y) * (dy * -0.5))


def _reciprocal_grad(xp: Any, y: Any, dy: Any) -> Any:
    return _nothing_stays_nothing(xp, dy, -dy * _conj(xp, y * y))


def _reciprocal_grad_rule(again: str) -> Callable[..., Any]:
    return lambda g, y, dy, z: (_bar(g) * -2.0 * dy * _bar(y), getattr(raw, again)(_bar(y), g))


TanhGrad = slope_op(
    "TanhGrad", "y dy", _tanh_grad, lambda g, y, dy, z: (g * -2.0 * _bar(dy) * _bar(y), tanh_grad(_bar(y), g))
)
SigmoidGrad = slope_op(
    "SigmoidGrad", "y dy", _sigmoid_grad,
    lambda g, y, dy, z: (g * _bar(dy) - 2.0 * (g * _bar(dy)) * _bar(y), sigmoid_grad(_bar(y), g)),
)  # fmt: skip
SqrtGrad = slope_op("SqrtGrad", "y dy", _sqrt_grad, lambda g, y, dy, z: (-_bar(g / y) * z, 0.5 * (g / y)))
RsqrtGrad = slope_op(
    "RsqrtGrad", "y dy", _rsqrt_grad,
    lambda g, y, dy, z: (-1.5 * _bar(g) * dy * square(_bar(y)), raw.RsqrtGrad(_bar(y), g)),
)  # fmt: skip
ReciprocalGrad = slope_op("ReciprocalGrad", "y dy", _reciprocal_grad, _reciprocal_grad_rule("ReciprocalGrad"))
InvGrad = slope_op("InvGrad", "y dy", _reciprocal_grad, _reciprocal_grad_rule("InvGrad"))

tanh_grad: Callable[..., Any] = quick_binary(
    TanhGrad, "tanh_grad", "Return the gradient of tanh from its result.", "y dy"
)
sigmoid_grad: Callable[..., Any] = quick_binary(
    SigmoidGrad, "sigmoid_grad", "Return the gradient of sigmoid from its result.", "y dy"
)
sqrt_grad = quick_binary(SqrtGrad, "sqrt_grad", "Return the gradient of sqrt from its result.", "y dy")


# --- arrays -----------------------------------------------------------------------------------------------------------


def _sigmoid(xp: Any, x: Any) -> Any:
    if x.dtype.itemsize == 2:
        return _sigmoid(xp, x.astype("float32")).astype(x.dtype)
    return xp.reciprocal(1 + xp.exp(-x))  # exp may reach infinity; its reciprocal is the right 0


_sigmoid.for_dtype = _for_floats(_quick_sigmoid)  # type: ignore[attr-defined]


def _rounded(xp: Any, x: Any) -> Any:
    return x if x.dtype.kind == "i" else xp.rint(x)


def _sign(xp: Any, x: Any) -> Any:
    if x.dtype.kind != "c":
        return xp.sign(x)
    length = xp.abs(x)
    return xp.where(length == 0, x, x / xp.where(length == 0, length.dtype.type(1), length))


def _reciprocal(xp: Any, x: Any) -> Any:
    if x.dtype.kind == "i":
        return xp.floor_divide(x.dtype.type(1), x)
    if x.dtype == np.complex64:
        return xp.divide(x.dtype.type(1), x)  # of 0, inf+nanj as TensorFlow has it; of a complex128 0 it has NaN
    return xp.reciprocal(x)


# --- the rows ---------------------------------------------------------------------------------------------------------

#             op         array function    slope of y = f(x)
Abs = unary("Abs", "absolute", lambda x, y: raw.Sign(x), types=REAL_SIGNED)
Acos = unary("Acos", "arccos", backward=lambda g, x, y: -g * raw.Reciprocal(sqrt(_one_minus(square(_bar(x))))))
Acosh = unary("Acosh", "arccosh", lambda x, y: raw.Reciprocal(raw.Sinh(y)))
Asin = unary("Asin", "arcsin", lambda x, y: raw.Reciprocal(sqrt(_one_minus(square(x)))))
Asinh = unary("Asinh", "arcsinh", lambda x, y: raw.Reciprocal(raw.Cosh(y)))
Atan = unary("Atan", "arctan", lambda x, y: raw.Reciprocal(_one_plus(square(x))))
Atanh = unary("Atanh", "arctanh", lambda x, y: raw.Reciprocal(_one_minus(square(x))))
Ceil = unary("Ceil", "ceil", FLAT, types="floats", facts="static")
Cos = unary("Cos", "cos", backward=lambda g, x, y: -g * sin(_bar(x)))
Cosh = unary("Cosh", "cosh", lambda x, y: raw.Sinh(x))
Exp = unary("Exp", "exp", lambda x, y: y, facts="activation")
Expm1 = unary("Expm1", "expm1", lambda x, y: exp(x))
Floor = unary("Floor", "floor", FLAT, types="floats", facts="static")
Inv = unary("Inv", _reciprocal, types=SIGNED, backward=lambda g, x, y: raw.InvGrad(y, g))
IsFinite = unary("IsFinite", "isfinite", FLAT, types="floats", result="bool")
IsInf = unary("IsInf", "isinf", FLAT, types="floats", result="bool")
IsNan = unary("IsNan", "isnan", FLAT, types="floats", result="bool")
Log = unary("Log", "log", lambda x, y: raw.Reciprocal(x))
Log1p = unary("Log1p", "log1p", lambda x, y: raw.Reciprocal(1 + x))
Neg = unary("Neg", "negative", types=SIGNED, backward=lambda g, x, y: -g, facts="static")
Reciprocal = unary("Reciprocal", _reciprocal, types=SIGNED, backward=lambda g, x, y: raw.ReciprocalGrad(y, g))
Rint = unary("Rint", "rint", FLAT, types="floats", facts="static")
Round = unary("Round", _rounded, FLAT, types=SIGNED, facts="static")
Rsqrt = unary(
    "Rsqrt", in_float32(lambda xp, x: xp.reciprocal(xp.sqrt(x))), backward=lambda g, x, y: raw.RsqrtGrad(y, g)
)
Sigmoid = unary(
    "Sigmoid", _sigmoid, backward=lambda g, x, y: sigmoid_grad(_bar(y), g), facts="activation finishes=sigmoid"
)
Sign = unary("Sign", _sign, types=SIGNED, backward=lambda g, x, y: zeros_shaped_as(x))
Sin = unary("Sin", "sin", lambda x, y: cos(x))
Sinh = unary("Sinh", "sinh", lambda x, y: raw.Cosh(x))
Sqrt = unary("Sqrt", "sqrt", backward=lambda g, x, y: sqrt_grad(y, g))
Square = unary(
    "Square", "square", types="floats,integers,complexes",
    backward=lambda g, x, y: _product(g, _product(_bar(x), constant_like(2.0, x))),
)  # fmt: skip
Tan = unary("Tan", "tan", backward=lambda g, x, y: square(raw.Reciprocal(cos(_bar(x)))) * g)
Tanh = unary("Tanh", "tanh", backward=lambda g, x, y: tanh_grad(_bar(y), g), facts="activation finishes=tanh")

# --- public functions -------------------------------------------------------------------------------------------------

acos = quick_unary(Acos, "acos", "Return the angle whose cosine is `x`.")
acosh = quick_unary(Acosh, "acosh", "Return the inverse of cosh at `x`.")
asin = quick_unary(Asin, "asin", "Return the angle whose sine is `x`.")
asinh = quick_unary(Asinh, "asinh", "Return the inverse of sinh at `x`.")
atan = quick_unary(Atan, "atan", "Return the angle whose tangent is `x`.")
atanh = quick_unary(Atanh, "atanh", "Return the inverse of tanh at `x`.")
ceil = quick_unary(
    Ceil, "ceil", "Return the least integers not below `x`.\n\n>>> ceil([1.2, -1.7]).numpy().tolist()\n[2.0, -1.0]"
)
cos: Callable[..., Any] = quick_unary(
    Cos, "cos", "Return the cosine of `x`.\n\n>>> [f'{v:.4f}' for v in cos([0.0, 1.0])]\n['1.0000', '0.5403']"
)
cosh = quick_unary(Cosh, "cosh", "Return the hyperbolic cosine of `x`.")
exp: Callable[..., Any] = quick_unary(
    Exp, "exp", "Return e to the power `x`.\n\n>>> [f'{v:.4f}' for v in exp([0.0, 1.0])]\n['1.0000', '2.7183']"
)
expm1 = quick_unary(Expm1, "expm1", "Return e to the power `x` minus 1, exact near 0.")
floor = quick_unary(
    Floor,
    "floor",
    "Return the greatest integers not above `x`.\n\n>>> floor([1.7, -1.2]).numpy().tolist()\n[1.0, -2.0]",
)
is_finite = quick_unary(
    IsFinite,
    "is_finite",
    "Return where `x` is neither infinite nor NaN."
    '\n\n>>> is_finite([1.0, float("inf")]).numpy().tolist()\n[True, False]',
)
is_inf = quick_unary(IsInf, "is_inf", "Return where `x` is an infinity.")
is_nan = quick_unary(
    IsNan, "is_nan", 'Return where `x` is NaN.\n\n>>> is_nan([1.0, float("nan")]).numpy().tolist()\n[False, True]'
)
log = quick_unary(
    Log,
    "log",
    "Return the natural logarithm of `x`.\n\n>>> [f'{v:.4f}' for v in log([1.0, 2.0])]\n['0.0000', '0.6931']",
)
log1p = quick_unary(
    Log1p,
    "log1p",
    "Return the natural logarithm of 1 + `x`, exact near 0."
    "\n\n>>> [f'{v:.4f}' for v in log1p([0.0, 1.0])]\n['0.0000', '0.6931']",
)
negative = quick_unary(Neg, "negative", "Return `-x`.\n\n>>> negative([1.0, -2.0]).numpy().tolist()\n[-1.0, 2.0]")
reciprocal = quick_unary(
    Reciprocal, "reciprocal", "Return `1 / x`.\n\n>>> reciprocal([2.0, 4.0]).numpy().tolist()\n[0.5, 0.25]"
)
rint = quick_unary(Rint, "rint", "Return the nearest integers to `x`, halves to the even one.")
rsqrt = quick_unary(
    Rsqrt, "rsqrt", "Return 1 over the square root of `x`.\n\n>>> rsqrt([4.0, 16.0]).numpy().tolist()\n[0.5, 0.25]"
)
sigmoid = quick_unary(
    Sigmoid,
    "sigmoid",
    "Return `1 / (1 + exp(-x))`.\n\n>>> [f'{v:.4f}' for v in sigmoid([0.0, 4.0])]\n['0.5000', '0.9820']",
)
sign = quick_unary(
    Sign,
    "sign",
    "Return -1, 0 or 1 as `x` is; of a complex number, its direction."
    "\n\n>>> sign([-2.0, 0.0, 5.0]).numpy().tolist()\n[-1.0, 0.0, 1.0]",
)
sin: Callable[..., Any] = quick_unary(
    Sin, "sin", "Return the sine of `x`.\n\n>>> [f'{v:.4f}' for v in sin([0.0, 1.0])]\n['0.0000', '0.8415']"
)
sinh = quick_unary(Sinh, "sinh", "Return the hyperbolic sine of `x`.")
sqrt: Callable[..., Any] = quick_unary(
    Sqrt, "sqrt", "Return the square root of `x`.\n\n>>> sqrt([4.0, 9.0]).numpy().tolist()\n[2.0, 3.0]"
)
square: Callable[..., Any] = quick_unary(
    Square, "square", "Return `x * x`.\n\n>>> square([1.0, -3.0]).numpy().tolist()\n[1.0, 9.0]"
)
tan = quick_unary(Tan, "tan", "Return the tangent of `x`.")
tanh = quick_unary(
    Tanh,
    "tanh",
    "Return the hyperbolic tangent of `x`.\n\n>>> [f'{v:.4f}' for v in tanh([0.0, 1.0])]\n['0.0000', '0.7616']",
)
_abs = quick_unary(Abs, "abs", "Return the distance of real `x` from 0.")


def abs(x: TensorLike, name: str | None = None) -> Tensor:
    """Return the distance of `x` from 0.

    >>> abs([-1.5, 2.0]).numpy().tolist(), abs([3 + 4j]).numpy().tolist()
    ([1.5, 2.0], [5.0])
    """
    if x.__class__ is EagerTensor and not x._dtype.is_complex:
        return _abs(x, name)
    tensor: Any = x
    if not isinstance(getattr(x, "dtype", None), DType):  # arrays, and variables whose dtype is a word
        tensor = operand(x, name="Abs/x" if name is None else f"{name}/x")
    if tensor.dtype.is_complex:
        return raw.ComplexAbs(tensor, Tout=tensor.dtype.real_dtype, name=name or "Abs")
    return _abs(tensor, name=name)


def round(x: TensorLike, name: str | None = None) -> Tensor:
    """Return the nearest integers to `x`, halves to the even one; integers as they are.

    >>> round([0.5, 1.5, -2.7]).numpy().tolist()
    [0.0, 2.0, -3.0]
    """
    x = operand(x, name="x")
    return x if x.dtype.is_integer else Round(x, name=name or "Round")
