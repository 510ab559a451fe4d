"""Element-wise functions of NumPy. Most are rows: an op, and whether whole numbers become floats first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Array, DTypeLike, TensorLike
from ebbflow.ops.arrays.creation import ones_like, zeros_like
from ebbflow.ops.control.script import numpy_function
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where as choose
from ebbflow.ops.elementwise.complex_numbers import angle as angle_of
from ebbflow.ops.elementwise.complex_numbers import conj as conjugate_of
from ebbflow.ops.elementwise.complex_numbers import imag as imaginary_part
from ebbflow.ops.elementwise.complex_numbers import real as real_part
from ebbflow.ops.numpy.promotion import ArrayLike, inexact, inexact_together, tensor, together


def _named(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _floats(name: str, op: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def function(x: ArrayLike) -> Tensor:
        return op(inexact(x))

    return _named(function, name, doc)


def _same(name: str, op: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def function(x: ArrayLike) -> Tensor:
        return op(tensor(x))

    return _named(function, name, doc)


def _pair(name: str, op: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def function(x1: ArrayLike, x2: ArrayLike) -> Tensor:
        return op(*together(x1, x2))

    return _named(function, name, doc)


def _float_pair(name: str, op: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def function(x1: ArrayLike, x2: ArrayLike) -> Tensor:
        return op(*inexact_together(x1, x2))

    return _named(function, name, doc)


def _truth(name: str, op: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def function(x1: ArrayLike, x2: ArrayLike) -> Tensor:
        return op(truth_of(x1), truth_of(x2))

    return _named(function, name, doc)


def _or_bools(op: Callable[..., Any], bools: Callable[..., Any]) -> Callable[..., Any]:
    """Return what does `op`, and of bools `bools`."""
    return lambda x, *y: (bools if x.dtype == dtypes.bool else op)(x, *y)


def _or_nan(op: Callable[..., Any]) -> Callable[..., Any]:
    """Return what does `op`, or gives the first argument where that is NaN."""
    return lambda x, y: choose(raw.IsNan(x), x, op(x, y)) if x.dtype.is_floating else op(x, y)


def truth_of(x: ArrayLike) -> Any:
    """Return whether each entry is not zero."""
    x = tensor(x)
    return x if x.dtype == dtypes.bool else raw.NotEqual(x, zeros_like(x))


# --- one argument -----------------------------------------------------------------------------------------------------

sin = _floats("sin", raw.Sin, "Return the sine.")
cos = _floats("cos", raw.Cos, "Return the cosine.")
tan = _floats("tan", raw.Tan, "Return the tangent.")
sinh = _floats("sinh", raw.Sinh, "Return the hyperbolic sine.")
cosh = _floats("cosh", raw.Cosh, "Return the hyperbolic cosine.")
tanh = _floats("tanh", raw.Tanh, "Return the hyperbolic tangent.")
arcsin = _floats("arcsin", raw.Asin, "Return the angle of a sine.")
arccos = _floats("arccos", raw.Acos, "Return the angle of a cosine.")
arctan = _floats("arctan", raw.Atan, "Return the angle of a tangent.")
arcsinh = _floats("arcsinh", raw.Asinh, "Return the inverse hyperbolic sine.")
arccosh = _floats("arccosh", raw.Acosh, "Return the inverse hyperbolic cosine.")
arctanh = _floats("arctanh", raw.Atanh, "Return the inverse hyperbolic tangent.")
exp = _floats("exp", raw.Exp, "Return e to the power of x.")
expm1 = _floats("expm1", raw.Expm1, "Return exp(x) - 1.")
log = _floats("log", raw.Log, "Return the natural logarithm.")
log1p = _floats("log1p", raw.Log1p, "Return log(1 + x).")
log2 = _floats("log2", lambda x: raw.Log(x) / math.log(2.0), "Return the logarithm to base 2.")
log10 = _floats("log10", lambda x: raw.Log(x) / math.log(10.0), "Return the logarithm to base 10.")
exp2 = _floats("exp2", lambda x: raw.Exp(x * math.log(2.0)), "Return 2 to the power of x.")
sqrt = _floats("sqrt", raw.Sqrt, "Return the square root.")
cbrt = _floats("cbrt", lambda x: raw.Sign(x) * raw.Pow(raw.Abs(x), cast(1.0 / 3.0, x.dtype)), "Return the cube root.")
deg2rad = _floats("deg2rad", lambda x: x * (math.pi / 180.0), "Return radians of degrees.")
rad2deg = _floats("rad2deg", lambda x: x * (180.0 / math.pi), "Return degrees of radians.")
fabs = _same("fabs", raw.Abs, "Return the absolute value.")
ceil = _floats("ceil", raw.Ceil, "Return the next whole number above.")
floor = _floats("floor", raw.Floor, "Return the next whole number below.")
fix = _floats("fix", lambda x: choose(x < 0, raw.Ceil(x), raw.Floor(x)), "Return x without its fraction.")
isfinite = _floats("isfinite", raw.IsFinite, "Return whether each is neither infinite nor NaN.")
isinf = _floats("isinf", raw.IsInf, "Return whether each is infinite.")
isnan = _floats("isnan", raw.IsNan, "Return whether each is NaN.")
isposinf = _floats("isposinf", lambda x: x == np.inf, "Return whether each is infinity.")
isneginf = _floats("isneginf", lambda x: x == -np.inf, "Return whether each is minus infinity.")
absolute = _same("absolute", _or_bools(lambda x: _magnitude(x), raw.Identity), "Return the absolute value.")
abs = absolute
negative = _same("negative", raw.Neg, "Return -x.")
positive = _same("positive", raw.Identity, "Return x.")
square = _same("square", raw.Square, "Return x·x.")
reciprocal = _same("reciprocal", lambda x: _over(ones_like(x), x), "Return 1/x.")
conjugate = _same("conjugate", conjugate_of, "Return the complex conjugate.")
conj = conjugate
bitwise_not = _same("bitwise_not", _or_bools(raw.Invert, raw.LogicalNot), "Return x with its bits flipped.")


def _magnitude(x: Any) -> Any:
    if x.dtype.is_complex:
        return raw.ComplexAbs(x, Tout=x.dtype.real_dtype)
    return x if x.dtype.is_unsigned else raw.Abs(x)


def _over(x: Any, y: Any) -> Any:
    if x.dtype == dtypes.bool:
        x, y = cast(x, dtypes.int8), cast(y, dtypes.int8)
    return raw.TruncateDiv(x, y) if x.dtype.is_integer else x / y


def logical_not(x: ArrayLike) -> Tensor:
    """Return whether each is zero."""
    return raw.LogicalNot(truth_of(x))


def float_power(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Return x1 to the power of x2."""
    return power(x1, x2)


def sign(x: ArrayLike, out: Array | None = None, where: TensorLike | None = None, **kwargs: Any) -> Tensor:
    """Return -1, 0 or 1; of complex numbers, which way they point."""
    if out is not None or where is not None or kwargs:
        raise ValueError("tf.numpy doesn't support setting out or where")
    return raw.Sign(tensor(x))


def signbit(x: ArrayLike) -> Tensor:
    """Return whether each is negative."""
    x = tensor(x)
    return raw.Less(x, zeros_like(x)) if x.dtype != dtypes.bool else raw.Fill(raw.Shape(x), False)


def sinc(x: ArrayLike) -> Tensor:
    """Return sin(πx) / πx."""
    x = inexact(x)
    scaled = x * math.pi
    safe = choose(scaled == 0, ones_like(scaled), scaled)
    return choose(scaled == 0, ones_like(scaled), raw.Sin(safe) / safe)


def real(val: ArrayLike) -> Tensor:
    """Return the real part."""
    return real_part(tensor(val))


def imag(val: ArrayLike) -> Tensor:
    """Return the imaginary part."""
    x = tensor(val)
    return imaginary_part(x) if x.dtype.is_complex else zeros_like(x)


def angle(z: ArrayLike, deg: bool = False) -> Tensor:
    """Return the angle of complex numbers, in radians or degrees."""
    turned = angle_of(inexact(z))
    return turned * (180.0 / math.pi) if deg else turned


def iscomplex(x: ArrayLike) -> Tensor:
    """Return whether each has an imaginary part."""
    return raw.NotEqual(imag(x), zeros_like(imag(x)))


def isreal(x: ArrayLike) -> Tensor:
    """Return whether each has no imaginary part."""
    return raw.LogicalNot(iscomplex(x))


def iscomplexobj(x: ArrayLike) -> bool:
    """Return whether the dtype is a complex one."""
    return tensor(x).dtype.is_complex


def isrealobj(x: ArrayLike) -> bool:
    """Return whether the dtype is no complex one."""
    return not iscomplexobj(x)


def around(a: ArrayLike, decimals: int = 0) -> Tensor:
    """Return the nearest numbers of so many decimals; halves go to the even one."""
    x = tensor(a)
    factor = 10.0**decimals
    if x.dtype.is_integer and decimals >= 0:
        return x
    scaled = raw.Round(inexact(x) * factor) / factor
    return cast(scaled, x.dtype)


round = around


# --- two arguments ----------------------------------------------------------------------------------------------------

add = _pair("add", _or_bools(raw.AddV2, raw.LogicalOr), "Return x1 + x2.")
subtract = _pair("subtract", raw.Sub, "Return x1 - x2.")
multiply = _pair("multiply", _or_bools(raw.Mul, raw.LogicalAnd), "Return x1·x2.")
true_divide = _float_pair("true_divide", raw.RealDiv, "Return x1 / x2.")
divide = true_divide
floor_divide = _pair("floor_divide", raw.FloorDiv, "Return ⌊x1 / x2⌋.")
mod = _pair("mod", raw.FloorMod, "Return what is left of x1 over x2, with x2's sign.")
remainder = mod
power = _pair("power", raw.Pow, "Return x1 to the power of x2.")

maximum = _pair("maximum", _or_bools(_or_nan(raw.Maximum), raw.LogicalOr), "Return the larger one.")
minimum = _pair("minimum", _or_bools(_or_nan(raw.Minimum), raw.LogicalAnd), "Return the smaller one.")
arctan2 = _float_pair("arctan2", raw.Atan2, "Return the angle of the point (x2, x1).")
hypot = _float_pair("hypot", lambda x, y: raw.Sqrt(x * x + y * y), "Return √(x1² + x2²).")
nextafter = _float_pair("nextafter", raw.NextAfter, "Return the next number after x1 towards x2.")
logaddexp = _float_pair("logaddexp", lambda x, y: _summed_logs(x, y, 1.0), "Return log(exp(x1) + exp(x2)).")
logaddexp2 = _float_pair("logaddexp2", lambda x, y: _summed_logs(x, y, math.log(2.0)), "Return log2(2^x1 + 2^x2).")
heaviside = _float_pair(
    "heaviside",
    lambda x, y: choose(x < 0, zeros_like(x), choose(x > 0, ones_like(x), y)),
    "Return 0, x2 or 1 where x1 is negative, zero or positive.",
)
bitwise_and = _pair("bitwise_and", _or_bools(raw.BitwiseAnd, raw.LogicalAnd), "Return the bits both have.")
bitwise_or = _pair("bitwise_or", _or_bools(raw.BitwiseOr, raw.LogicalOr), "Return the bits either has.")
bitwise_xor = _pair("bitwise_xor", _or_bools(raw.BitwiseXor, raw.NotEqual), "Return the bits only one has.")
equal = _pair("equal", lambda x, y: raw.Equal(x, y), "Return whether x1 = x2.")
not_equal = _pair("not_equal", lambda x, y: raw.NotEqual(x, y), "Return whether x1 ≠ x2.")
less = _pair("less", raw.Less, "Return whether x1 < x2.")
less_equal = _pair("less_equal", raw.LessEqual, "Return whether x1 ≤ x2.")
greater = _pair("greater", raw.Greater, "Return whether x1 > x2.")
greater_equal = _pair("greater_equal", raw.GreaterEqual, "Return whether x1 ≥ x2.")
logical_and = _truth("logical_and", raw.LogicalAnd, "Return whether both are not zero.")
logical_or = _truth("logical_or", raw.LogicalOr, "Return whether either is not zero.")
logical_xor = _truth("logical_xor", raw.NotEqual, "Return whether only one is not zero.")


def _summed_logs(x: Any, y: Any, unit: float) -> Any:
    high = raw.Maximum(x, y)
    low = raw.Minimum(x, y)
    return choose(raw.IsFinite(high), high + raw.Log1p(raw.Exp((low - high) * unit)) / unit, high)


def divmod(x1: ArrayLike, x2: ArrayLike) -> tuple[Any, Any]:
    """Return ⌊x1 / x2⌋ and what is left."""
    return floor_divide(x1, x2), mod(x1, x2)


def gcd(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Return the greatest common divisor of whole numbers."""
    x, y = together(x1, x2)
    if not x.dtype.is_integer:
        raise ValueError(f"Arguments to gcd must be integers; got {x.dtype.name}")
    x, y = raw.Abs(x + zeros_like(y)), raw.Abs(y + zeros_like(x))
    answer = numpy_function(np.gcd, [x, y], x.dtype)
    answer.set_shape(x.shape)
    return answer


def clip(a: ArrayLike, a_min: ArrayLike | None, a_max: ArrayLike | None) -> Tensor:
    """Return each number, at least `a_min` and at most `a_max`."""
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    a = tensor(a)
    if a_min is not None:
        a = maximum(*together(a, a_min))
    return a if a_max is None else minimum(*together(a, a_max))


def where(condition: ArrayLike, x: ArrayLike | None = None, y: TensorLike | None = None) -> Tensor:
    """Return x's entries where the condition holds and y's elsewhere; without these the indices where it holds."""
    if (x is None) != (y is None):
        raise ValueError("Both x and y must be specified, or neither.")
    condition = truth_of(condition)
    if x is None or y is None:
        return raw.Unpack(raw.Transpose(raw.Where(condition), [1, 0]), num=condition.shape.rank)
    first, second = together(x, y)
    return choose(condition, first, second)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: object = 0) -> Tensor:
    """Return, entry by entry, the choice of the first condition that holds."""
    if len(condlist) != len(choicelist):
        raise ValueError(f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})")
    if not condlist:
        raise ValueError("condlist must be non-empty")
    answer, *choices = together(default, *choicelist)
    for condition, choice in reversed(list(zip(condlist, choices, strict=True))):
        answer = choose(truth_of(condition), choice, answer)
    return answer


def isclose(
    a: ArrayLike, b: ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:  # fmt: skip
    """Return whether |a - b| ≤ atol + rtol·|b|."""
    x, y = inexact_together(a, b)
    close = (raw.Abs(x - y) <= atol + rtol * raw.Abs(y)) & raw.IsFinite(y) | raw.Equal(x, y)
    return close | (raw.IsNan(x) & raw.IsNan(y)) if equal_nan else close


def lcm(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Return the least common multiple of whole numbers."""
    x, y = together(x1, x2)
    x, y = raw.Abs(x), raw.Abs(y)
    divisor = gcd(x, y)
    none = divisor == 0
    return choose(none, zeros_like(x * y), raw.FloorDiv(x, choose(none, ones_like(divisor), divisor)) * y)


def polyval(p: ArrayLike, x: ArrayLike) -> Tensor:
    """Return a polynomial at x, its coefficients from the highest power on."""
    coefficients, x = together(p, x)
    answer = zeros_like(x)
    for i in range(coefficients.shape[0]):
        answer = answer * x + coefficients[i]
    return answer


def finfo(dtype: DTypeLike) -> np.finfo:
    """Return the limits of a floating dtype."""
    return ml_dtypes.finfo(dtypes.as_dtype(dtype).as_numpy_dtype)  # NumPy's for NumPy's own types


def iinfo(int_type: DTypeLike) -> np.iinfo:
    """Return the limits of a dtype of whole numbers."""
    return np.iinfo(dtypes.as_dtype(int_type).as_numpy_dtype)
