"""Arithmetic of two numbers, element by element with broadcasting: sums, products, quotients, powers, extremes.

Rows say each op's array function and its gradients for both inputs; the gradients are summed down to the inputs' shapes
by `declare`. Python's arithmetic operators are installed here, and the public functions stand below. Comparison is in
`compare`, sums over axes in `reduce`.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert, operand
from ebbflow.core.op import Op, op
from ebbflow.core.scopes import name_scope
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.creation import ones_like_v1, zeros_like
from ebbflow.ops.declare import (
    FLAT,
    array_function,
    binary,
    binary_gradient,
    broadcast,
    constant_like,
    dense,
    in_float32,
    quick_binary,
    raw,
    show,
    sums_down,
    zeros_shaped_as,
)
from ebbflow.ops.elementwise.unary import abs as absolute
from ebbflow.ops.elementwise.unary import log, negative, square
from ebbflow.ops.operators import install_binary, install_unary
from ebbflow.ops.parts import in_parts

NUMBERS = "floats,integers,complexes"


# --- arrays -----------------------------------------------------------------------------------------------------------


def _checked_divisor(x: Any, y: Any, kind: Any = errors.InvalidArgumentError) -> None:
    if y.dtype.kind in "iu" and x.size and not y.all():
        raise kind(None, None, "Integer division by zero")


def _truncate_div(xp: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return xp.divide(x, y) if x.dtype.kind == "c" else xp.trunc(xp.divide(x, y))
    _checked_divisor(x, y, errors.InternalError)  # the class TensorFlow has for these two
    return _whole_quotient(xp, x, y)


def _whole_quotient(xp: Any, x: Any, y: Any) -> Any:
    """Return the quotient of integers rounded toward 0."""
    if x.dtype.kind == "u":
        return xp.floor_divide(x, y)
    return xp.floor_divide(x - xp.fmod(x, y), y)  # what is left divides evenly, so flooring changes nothing


def _divide(xp: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return xp.divide(x, y)
    _checked_divisor(x, y)
    return _whole_quotient(xp, x, y)


_divide.for_dtype = lambda dtype: np.divide if dtype.is_floating or dtype.is_complex else None  # type: ignore[attr-defined]


def _floor_div(xp: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu":
        _checked_divisor(x, y)
        return xp.floor_divide(x, y)
    return xp.floor(xp.divide(x, y))  # not floor_divide, whose 1.0 // 0.1 is 9


def _floor_mod(xp: Any, x: Any, y: Any) -> Any:
    _checked_divisor(x, y)
    return xp.mod(x, y)


def _truncate_mod(xp: Any, x: Any, y: Any) -> Any:
    _checked_divisor(x, y, errors.InternalError)
    return xp.fmod(x, y)


def _mod(xp: Any, x: Any, y: Any) -> Any:
    _checked_divisor(x, y)
    return xp.fmod(x, y)


def _unless_zero(xp: Any, judge: Any, value: Any) -> Any:
    """Return `value`, and 0 where `judge` is 0."""
    return xp.where(judge == 0, value.dtype.type(0), value)


def _divided_unless_zero(xp: Any, x: Any, y: Any) -> Any:
    if xp is np and not x.ndim and not y.ndim:  # a metric's mean at every step: 2 µs, where arrays take 9
        return np.asarray(x / y if y else x.dtype.type(0))
    return _unless_zero(xp, y, xp.divide(x, y))


def _pow(xp: Any, x: Any, y: Any) -> Any:
    if y.dtype.kind == "i" and y.size and x.size and y.min() < 0:
        raise errors.InvalidArgumentError(None, None, "Integers to negative integer powers are not allowed")
    if xp is np and not y.ndim and y.dtype.kind != "c":
        quick = _SMALL_POWERS.get(float(y))  # several times as quick as the general power
        if quick is not None:
            return quick(x)
    return xp.power(x, y)


_SMALL_POWERS: dict[float, Callable[..., Any]] = {
    0.0: np.ones_like,
    1.0: lambda x: x,
    2.0: np.square,
    3.0: lambda x: x * x * x,
}


def _squared_difference(xp: Any, x: Any, y: Any) -> Any:
    difference = xp.subtract(x, y)
    return difference * xp.conj(difference) if x.dtype.kind == "c" else xp.square(difference)


# --- the rows ---------------------------------------------------------------------------------------------------------


def _pow_dy(g: Any, x: Any, y: Any, z: Any) -> Any:
    # Where the logarithm exists; elsewhere z * log x counts as its limit, 0.
    mask = raw.NotEqual(x, raw.ZerosLike(x)) if x.dtype.is_complex else raw.Greater(x, 0.0)
    safe = raw.Select(mask, x, ones_like_v1(x))
    logarithm = raw.Select(mask, log(safe), zeros_like(x))
    return g * z * logarithm


def _not_zero(x: Any) -> Any:
    return raw.Cast(raw.NotEqual(x, constant_like(0, x, "NotEqual/y")), DstT=x.dtype.base_dtype)


def _quotient(g: Any, x: Any, y: Any, z: Any) -> Any:
    return realdiv(g, y)


def _quotient_dy(g: Any, x: Any, y: Any, z: Any) -> Any:
    return g * realdiv(realdiv(-x, y), y)


def _product_dy(g: Any, x: Any, y: Any, z: Any) -> Any:
    if context.graph_scopes and x._dims is not None and None not in x._dims and x._dims == y._dims:
        return multiply(g, x)  # the same; TensorFlow has the order so
    return multiply(x, g)


def _div_no_nan(x: Any, y: Any) -> Any:
    return raw.DivNoNan(x, y, name="div_no_nan")


def _extreme(name: str, fn: str, holds: str) -> Op:
    """Declare the larger or the smaller of two: where `holds`, x is the one."""
    declared = op(
        f"{name}(x:T, y:T) -> (z:T) | T: type in [floats,integers]", "elementwise broadcasts static", shape=broadcast
    )
    declared.kernel(array_function(fn))

    @declared.gradient
    def _(call, grad):
        x, y = call.inputs
        grad = dense(grad)
        down = sums_down(x, y)
        zeros = zeros_shaped_as(grad)
        mask = getattr(raw, holds)(x, y)
        return (
            down(raw.Select(mask, grad, zeros), 0) if call.wants(0) else None,
            down(raw.Select(mask, zeros, grad), 1) if call.wants(1) else None,
        )

    return declared


_SUM = (lambda g, x, y, z: g, lambda g, x, y, z: g)

#              op        array function    d/dx                            d/dy
Add = binary(
    "Add",
    "add",
    *_SUM,
    types="floats,uint8,int8,int16,int32,int64,complexes,string",
    settles_shapes=True,
    facts="static finishes=add",
)
AddV2 = binary(
    "AddV2",
    "add",
    *_SUM,
    types=NUMBERS,
    flags="commutative aggregate",
    settles_shapes=True,
    facts="light static finishes=add",
)
Sub = binary(
    "Sub",
    "subtract",
    lambda g, x, y, z: g,
    lambda g, x, y, z: -g,
    types=NUMBERS,
    settles_shapes=True,
    facts="light static",
)
Mul = binary(
    "Mul", "multiply", lambda g, x, y, z: multiply(g, y), _product_dy,
    types=NUMBERS, flags="commutative", settles_shapes=True,
    facts="light static",
)  # fmt: skip
Div = binary(
    "Div", _divide, lambda g, x, y, z: raw.Div(g, y), lambda g, x, y, z: g * raw.Div(raw.Div(-x, y), y), types=NUMBERS
)
RealDiv = binary("RealDiv", _divide, _quotient, _quotient_dy, types=NUMBERS, facts="static")
TruncateDiv = binary("TruncateDiv", _truncate_div, FLAT, FLAT, types=NUMBERS)
FloorDiv = binary("FloorDiv", _floor_div, FLAT, FLAT, types=NUMBERS, facts="static")
FloorMod = binary(
    "FloorMod",
    _floor_mod,
    lambda g, x, y, z: g,
    lambda g, x, y, z: g * -raw.FloorDiv(x, y),
    types="integers,floats",
    facts="static",
)
Mod = binary(
    "Mod", _mod, lambda g, x, y, z: g, lambda g, x, y, z: g * -raw.Rint((x - z) / y),
    types="int32,int64,half,half,bfloat16,float,double",
)  # fmt: skip
TruncateMod = binary(
    "TruncateMod", _truncate_mod, lambda g, x, y, z: g, lambda g, x, y, z: g * -raw.Rint((x - z) / y),
    types="int32,int64,floats",
)  # fmt: skip
DivNoNan = binary(
    "DivNoNan", _divided_unless_zero,
    lambda g, x, y, z: _div_no_nan(g, y), lambda g, x, y, z: g * _div_no_nan(_div_no_nan(-x, y), y),
    types="floats_complex",
)  # fmt: skip
MulNoNan = binary(
    "MulNoNan", lambda xp, x, y: _unless_zero(xp, y, xp.multiply(x, y)),
    lambda g, x, y, z: raw.MulNoNan(g, y), lambda g, x, y, z: raw.MulNoNan(x, g),
    types="floats_complex", conjugates=False,
)  # fmt: skip
Pow = binary(
    "Pow", _pow, lambda g, x, y, z: g * y * raw.Pow(x, y - 1), _pow_dy,
    types="floats,int8,int16,int32,int64,complexes", settles_shapes=True,
)  # fmt: skip
Maximum = _extreme("Maximum", "maximum", "GreaterEqual")
Minimum = _extreme("Minimum", "minimum", "LessEqual")
SquaredDifference = op(
    "SquaredDifference(x:T, y:T) -> (z:T) | T: type in [floats,int32,int64,complexes] | commutative",
    shape=broadcast,
    kernel=_squared_difference,
    facts="elementwise broadcasts",
)
Atan2 = binary(
    "Atan2", "arctan2",
    lambda g, y, x, z: x * (g / (square(x) + square(y))), lambda g, y, x, z: -y * (g / (square(x) + square(y))),
    types="floats", args="y x",
)  # fmt: skip
Xdivy = binary(
    "Xdivy", lambda xp, x, y: _unless_zero(xp, x, xp.divide(x, y)),
    lambda g, x, y, z: g * raw.Xdivy(_not_zero(x), y), lambda g, x, y, z: g * raw.Xdivy(-x, y * y),
    types="floats_complex", conjugates=False,
)  # fmt: skip
Xlogy = binary(
    "Xlogy", in_float32(lambda xp, x, y: _unless_zero(xp, x, x * xp.log(y))),
    lambda g, x, y, z: g * raw.Xlogy(_not_zero(x), y), lambda g, x, y, z: g * raw.Xdivy(x, y),
    types="floats_complex", conjugates=False,
)  # fmt: skip
Xlog1py = binary(
    "Xlog1py", in_float32(lambda xp, x, y: _unless_zero(xp, x, x * xp.log1p(y))),
    lambda g, x, y, z: g * raw.Xlog1py(_not_zero(x), y), lambda g, x, y, z: g * raw.Xdivy(x, y + 1),
    types="floats_complex", conjugates=False,
)  # fmt: skip


@SquaredDifference.gradient
def _(call, grad):
    x, y = call.inputs
    slope = multiply(constant_like(2.0, x, "scalar"), dense(grad)) * (x - y)
    down = sums_down(x, y, settles_shapes=True)
    return down(slope, 0) if call.wants(0) else None, -down(slope, 1) if call.wants(1) else None


NextAfter = op(
    "NextAfter(x1:T, x2:T) -> (output:T) | T: type in [double,float] = float",
    shape=broadcast,
    kernel=in_parts(lambda xp, x1, x2: xp.nextafter(x1, x2)),
    gradient=binary_gradient(lambda g, x, y, z: g, lambda g, x, y, z: raw.ZerosLike(g)),
    facts="elementwise broadcasts",
)

# --- public functions -------------------------------------------------------------------------------------------------

add_v2 = quick_binary(AddV2, "add_v2", "Return `x + y`.", node="Add")
atan2 = quick_binary(Atan2, "atan2", "Return the angle of the point (`x`, `y`).", "y x")
_real_div_no_nan = quick_binary(DivNoNan, "div_no_nan", "Return `x / y`, and 0 where `y` is 0.", node="div_no_nan")
floor_div = quick_binary(FloorDiv, "floor_div", "Return the floor of `x / y`.")
floordiv = quick_binary(
    FloorDiv,
    "floordiv",
    "Return the floor of `x / y`.\n\n>>> floordiv([7, -7], 2).numpy().tolist()\n[3, -4]",
    node="floordiv",
)
floormod = quick_binary(FloorMod, "floormod", "Return what remains of `x` after floor division by `y`.")
maximum = quick_binary(
    Maximum, "maximum", "Return the larger of `x` and `y`.\n\n>>> maximum([1, 5], [3, 2]).numpy().tolist()\n[3, 5]"
)
minimum = quick_binary(
    Minimum, "minimum", "Return the smaller of `x` and `y`.\n\n>>> minimum([1, 5], [3, 2]).numpy().tolist()\n[1, 2]"
)
multiply: Callable[..., Any] = quick_binary(
    Mul, "multiply", "Return `x * y`.\n\n>>> multiply([1, 2], 3).numpy().tolist()\n[3, 6]"
)
multiply_no_nan = quick_binary(
    MulNoNan, "multiply_no_nan", "Return `x * y`, and 0 where `y` is 0.", node="multiply_no_nan"
)
_pow_of_tensors = quick_binary(Pow, "pow", "Return `x` to the power `y`.")
nextafter = quick_binary(NextAfter, "nextafter", "Return the number next to `x1` on the way to `x2`.", "x1 x2")
realdiv = quick_binary(RealDiv, "realdiv", "Return `x / y`.")
squared_difference = quick_binary(
    SquaredDifference,
    "squared_difference",
    "Return `(x - y)` times itself.\n\n>>> squared_difference([1.0, 4.0], 2.0).numpy().tolist()\n[1.0, 4.0]",
)
subtract = quick_binary(Sub, "subtract", "Return `x - y`.\n\n>>> subtract([5, 7], 2).numpy().tolist()\n[3, 5]")
truncatediv = quick_binary(TruncateDiv, "truncatediv", "Return `x / y` rounded toward 0.")
truncatemod = quick_binary(TruncateMod, "truncatemod", "Return what remains of `x` after `truncatediv` by `y`.")
xdivy = quick_binary(Xdivy, "xdivy", "Return `x / y`, and 0 where `x` is 0.", scope="xdivy")
xlog1py = quick_binary(Xlog1py, "xlog1py", "Return `x * log1p(y)`, and 0 where `x` is 0.", scope="xlog1py")
xlogy = quick_binary(Xlogy, "xlogy", "Return `x * log(y)`, and 0 where `x` is 0.")
add_tf1 = quick_binary(Add, "add", "Return `x + y` (as TensorFlow 1 puts it into a graph: an Add node).")
Mul.function = multiply  # type: ignore[attr-defined]  # for families that come before this one
mod = floormod


def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return `x + y`; of strings, one behind the other.

    >>> add([1, 2], 3).numpy().tolist(), add("a", "b").numpy()
    ([4, 5], b'ab')
    """
    return _add(x, y, name or "Add")


def _add(x, y, name=None):
    if x.__class__ is EagerTensor is y.__class__ and x._dtype is not dtypes.string:
        return add_v2(x, y, name)
    for side in (x, y):
        if isinstance(side, (str, bytes)) or getattr(side, "dtype", None) is dtypes.string:
            return Add(x, y, name=name)
    return add_v2(x, y, name=name)


def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return `x` to the power `y`.

    >>> pow([2, 3], 2).numpy().tolist()
    [4, 9]
    """
    return _pow_of_tensors(x, y, name or "Pow")


# What integers become before they are divided as real numbers; the others stay what they are.
_REAL_OF: dict[Any, Any] = dict.fromkeys((dtypes.uint8, dtypes.int8, dtypes.uint16, dtypes.int16), dtypes.float32)
_REAL_OF |= dict.fromkeys((dtypes.uint32, dtypes.int32, dtypes.uint64, dtypes.int64), dtypes.float64)
_REAL_OF |= dict.fromkeys((dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64, *dtypes.COMPLEX))


def real_of(dtype: dtypes.DType) -> dtypes.DType | None:
    """Return the type of fractions of an integer type, None for a type that has them itself."""
    return _REAL_OF.get(dtype.base_dtype)


def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return `x / y` as Python 3 divides: of integers, a fraction (float64, or float32 for the 8 and 16 bit ones).

    >>> truediv([3, 4], 2).numpy().tolist()
    [1.5, 2.0]
    """
    with name_scope(name, "truediv", [x, y]) as scope:
        x, y = _both_sides(x, y)
        if x.dtype.base_dtype not in _REAL_OF:
            allowed = ", ".join(repr(t) for t in _REAL_OF)
            raise TypeError(f"Invalid dtype {x.dtype!r} in __truediv__. Expected one of {{{allowed}}}.")
        real = _REAL_OF[x.dtype.base_dtype]
        if real is not None:
            x, y = raw.Cast(x, DstT=real), raw.Cast(y, DstT=real)
        return realdiv(x, y, name=scope)


def _both_sides(x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    hint = y.dtype.base_dtype if isinstance(y, Tensor) and not isinstance(x, Tensor) else None
    x = operand(x, None, hint, name="x")
    y = operand(y, None, x.dtype.base_dtype, name="y")
    if x.dtype.base_dtype is not y.dtype.base_dtype:
        raise errors.WrongTypeError(f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}.")
    return x, y


def div_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return `x / y`, and 0 where `y` is 0; of integers, a fraction as `truediv` gives it.

    >>> div_no_nan([1.0, 2.0], [0.0, 4.0]).numpy().tolist()
    [0.0, 0.5]
    """
    if isinstance(x, Tensor) and not x.dtype.is_integer:
        return _real_div_no_nan(x, y, name)
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x, y = _both_sides(x, y)
        real = _REAL_OF.get(x.dtype.base_dtype)
        if real is not None:
            x, y = raw.Cast(x, DstT=real), raw.Cast(y, DstT=real)
        return DivNoNan(x, y, name=scope or None)


divide_no_nan = div_no_nan


def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return `x / y` as Python 2 divides: of integers, the floor.

    >>> div(7, 2).numpy(), div(7.0, 2.0).numpy()
    (np.int32(3), np.float32(3.5))
    """
    with name_scope(name, "div", [x, y]) as scope:
        x, y = _both_sides(x, y)
        real = x.dtype.is_floating or x.dtype.is_complex
        return (realdiv if real else floor_div)(x, y, name=scope)


def divide(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return `x / y`, as the operator does.

    >>> divide(3, 2).numpy()
    np.float64(1.5)
    """
    if not isinstance(x, Tensor) and not isinstance(y, Tensor):
        x, y = operand(x, name="x"), operand(y, name="y") if hasattr(type(y), "_as_operand") else y
    return truediv(x, y, name=name) if name is not None else typing.cast(Any, x) / y


def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Return `x` times a scalar; IndexedSlices stay IndexedSlices.

    >>> scalar_mul(2.0, [1.0, 2.0]).numpy().tolist()
    [2.0, 4.0]
    """
    x = x if isinstance(x, (Tensor, IndexedSlices)) else operand(x)
    scalar = convert(scalar, x.dtype.base_dtype, name="scalar")
    if scalar._dims is not None and scalar._dims != ():
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {show(scalar._dims)}.")
    if isinstance(x, IndexedSlices):
        values = multiply(scalar, x.values, name=name)
        return IndexedSlices(values, x.indices, x.dense_shape)  # type: ignore[return-value]
    return multiply(scalar, x, name=name)


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Return `1 / x`, and 0 where `x` is 0.

    >>> reciprocal_no_nan([2.0, 0.0]).numpy().tolist()
    [0.5, 0.0]
    """
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = operand(x, name="x")
        one = convert(1, x.dtype.base_dtype, name="one")
        return DivNoNan(one, x, name=scope or None)


def polyval(coeffs: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Return the polynomial whose coefficients are `coeffs`, highest power first, at `x`.

    >>> polyval([1.0, 0.0, -2.0], 3.0).numpy()
    np.float32(7.0)
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    with name_scope(name, "polyval", [*coeffs, x]):
        x = convert(x, name="x")
        if not coeffs:
            return raw.ZerosLike(x, name=name)
        terms = [convert(c, None, x.dtype.base_dtype, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        value = terms[0]
        for term in terms[1:]:
            value = term + value * x
        return value


# --- operators --------------------------------------------------------------------------------------------------------

install_binary("add", AddV2, "add", function=_add, quick=True)
install_binary("sub", Sub, "sub")
install_binary("mul", Mul, "mul")
install_binary("truediv", RealDiv, "truediv", function=truediv, quick=True)
install_binary("div", RealDiv, "div", function=div, quick=True)
install_binary("floordiv", FloorDiv, "floordiv")
install_binary("mod", FloorMod, "mod")
install_binary("pow", Pow, "pow")
install_unary("neg", negative)
install_unary("pos", lambda x: x)
install_unary("abs", absolute)
