"""Comparison, logic and choice: which number is larger, which of two conditions holds, which of two tensors to take.

No gradient flows through a comparison; through a choice it flows to the side taken. The comparison operators and `==`
are installed here; `&`, `|`, `^` and `~` are logic for booleans and bit arithmetic (`bitwise`) for integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert, operand
from ebbflow.core.op import Op, op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import broadcast_dims
from ebbflow.core.tensor import EagerTensor, Tensor, _new, ndarray
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.declare import (
    FLAT,
    binary,
    broadcast,
    dense,
    merged,
    quick_binary,
    quick_unary,
    raw,
    reduce_to,
    same,
    show,
)
from ebbflow.ops.elementwise.element_loops import LARGE, select
from ebbflow.ops.operators import install_binary, install_equality, install_unary, number

# --- comparison -------------------------------------------------------------------------------------------------------

Less = binary("Less", "less", FLAT, FLAT, types="reals", result="bool", facts="static")
LessEqual = binary("LessEqual", "less_equal", FLAT, FLAT, types="reals", result="bool", facts="static")
Greater = binary("Greater", "greater", FLAT, FLAT, types="reals", result="bool", facts="static")
GreaterEqual = binary("GreaterEqual", "greater_equal", FLAT, FLAT, types="reals", result="bool", facts="static")

_EQUALITY = "(x:T, y:T) -> (z:bool) | T: type; incompatible_shape_error: bool = true | commutative"
Equal = op("Equal" + _EQUALITY, gradient=FLAT, facts="elementwise broadcasts static")
NotEqual = op("NotEqual" + _EQUALITY, gradient=FLAT, facts="elementwise broadcasts static")
_OF_ONE_RANK = ((None, None), (None, 1), (1, None))  # what TensorFlow takes for sizes that fit


@NotEqual.shape
@Equal.shape
def _(x, y, *, incompatible_shape_error):
    if incompatible_shape_error:
        return broadcast(x, y)
    if x.dims is None or y.dims is None:
        return None
    if any(None in pair and pair not in _OF_ONE_RANK for pair in zip(x.dims[::-1], y.dims[::-1], strict=False)):
        return None  # a size that is not known may not fit: then there is one word for all
    try:
        return broadcast_dims(x.dims, y.dims)
    except ValueError:
        return ()  # tensors that cannot be laid over each other are unequal, all in one word


@Equal.kernel
def _(xp, x, y, *, incompatible_shape_error):
    return _compared(xp, xp.equal, x, y, incompatible_shape_error, False)


@NotEqual.kernel
def _(xp, x, y, *, incompatible_shape_error):
    return _compared(xp, xp.not_equal, x, y, incompatible_shape_error, True)


def _compared(xp: Any, compare: Any, x: Any, y: Any, strict: bool, otherwise: bool) -> Any:
    if x.dtype.names:  # a quantised type is a record of one field
        x, y = x[x.dtype.names[0]], y[y.dtype.names[0]]
    try:
        return compare(x, y)
    except (ValueError, TypeError):  # NumPy's word for shapes that do not fit, and jax's
        if strict:
            raise
        return xp.asarray(otherwise)


ApproximateEqual = op(
    "ApproximateEqual(x:T, y:T) -> (z:bool) | T: numbers; tolerance: float = 9.999999747378752e-06 | commutative",
    shape=merged,
    gradient=FLAT,
    facts="elementwise",
)


@ApproximateEqual.kernel
def _(xp, x, y, *, tolerance):
    if x.shape != y.shape:
        raise errors.InvalidArgumentError(
            None, None, f"x and y must be of the same shape. x shape: {show(x.shape)}. y shape: {show(y.shape)}"
        )
    apart = xp.where(x > y, x - y, y - x) if x.dtype.kind == "u" else xp.abs(x - y)
    return apart < (tolerance if x.dtype.kind in "iu" else apart.dtype.type(tolerance))


less = quick_binary(Less, "less", "Return where `x < y`.\n\n>>> less([1, 2], 2).numpy().tolist()\n[True, False]")
less_equal = quick_binary(
    LessEqual,
    "less_equal",
    "Return where `x <= y`.\n\n>>> less_equal([1, 2, 3], 2).numpy().tolist()\n[True, True, False]",
)
greater = quick_binary(
    Greater, "greater", "Return where `x > y`.\n\n>>> greater([1, 2, 3], 2).numpy().tolist()\n[False, False, True]"
)
greater_equal = quick_binary(
    GreaterEqual,
    "greater_equal",
    "Return where `x >= y`.\n\n>>> greater_equal([1, 2, 3], 2).numpy().tolist()\n[False, True, True]",
)


def equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return where `x` and `y` are equal.

    >>> equal([1, 2, 3], 2).numpy().tolist()
    [False, True, False]
    """
    return Equal(x, y, name=name or "Equal")


def not_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return where `x` and `y` differ.

    >>> not_equal(["a", "b"], "a").numpy().tolist()
    [False, True]
    """
    return NotEqual(x, y, name=name or "NotEqual")


def approximate_equal(x, y, tolerance=1e-05, name=None):
    """Return where `x` and `y` are less than `tolerance` apart.

    >>> approximate_equal([1.0, 2.0], [1.000001, 2.1]).numpy().tolist()
    [True, False]
    """
    return ApproximateEqual(x, y, tolerance=tolerance, name=name or "ApproximateEqual")


def _equality_operator(op: Op, ufunc: Any) -> Any:
    """Return what `==` or `!=` does: a quick comparison where both sides are eager tensors of one dtype."""

    def compare(x: Any, y: Any) -> Any:
        if x.__class__ is EagerTensor and not context.graph_scopes:
            dtype = x._dtype
            other = y if y.__class__ is EagerTensor else number(y, dtype)
            if other is not None and other._dtype is dtype and not dtype.is_quantized:
                try:
                    value = ufunc(x._array, other._array)
                except Exception:  # shapes that do not fit: the op answers
                    return op(x, other, incompatible_shape_error=False)
                result = _new(EagerTensor)
                result._array = value if value.__class__ is ndarray else np.asarray(value, np.bool_)
                result._dtype = dtypes.bool
                return result
        return op(x, y, incompatible_shape_error=False)

    return compare


install_equality(_equality_operator(Equal, np.equal), _equality_operator(NotEqual, np.not_equal))
install_binary("lt", Less, "Less")
install_binary("le", LessEqual, "LessEqual")
install_binary("gt", Greater, "Greater")
install_binary("ge", GreaterEqual, "GreaterEqual")

# --- logic ------------------------------------------------------------------------------------------------------------

LogicalAnd = op(
    "LogicalAnd(x:bool, y:bool) -> (z:bool) | commutative",
    shape=broadcast,
    kernel=lambda xp, x, y: xp.logical_and(x, y),
    gradient=FLAT,
    facts="elementwise static broadcasts",
)
LogicalOr = op(
    "LogicalOr(x:bool, y:bool) -> (z:bool) | commutative",
    shape=broadcast,
    kernel=lambda xp, x, y: xp.logical_or(x, y),
    gradient=FLAT,
    facts="elementwise static broadcasts",
)
LogicalNot = op(
    "LogicalNot(x:bool) -> (y:bool)",
    shape=same,
    kernel=lambda xp, x: xp.logical_not(x),
    gradient=FLAT,
    facts="elementwise static",
)

logical_and = quick_binary(
    LogicalAnd,
    "logical_and",
    "Return where `x` and `y` hold.\n\n>>> logical_and([True, True], [True, False]).numpy().tolist()\n[True, False]",
)
logical_or = quick_binary(
    LogicalOr,
    "logical_or",
    "Return where `x` or `y` holds.\n\n>>> logical_or([True, False], [False, False]).numpy().tolist()\n[True, False]",
)
logical_not = quick_unary(
    LogicalNot,
    "logical_not",
    "Return where `x` does not hold.\n\n>>> logical_not([True, False]).numpy().tolist()\n[False, True]",
)


def logical_xor(x: TensorLike, y: TensorLike, name: str | None = "LogicalXor") -> Tensor:
    """Return where either `x` or `y` holds, but not both.

    >>> logical_xor([True, True], [True, False]).numpy().tolist()
    [False, True]
    """
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)), name=name)


def _xor_in_a_scope(x: Any, y: Any, name: str) -> Any:
    for side in (x, y):
        if isinstance(side, Tensor) and side.dtype.base_dtype is not dtypes.bool:
            return LogicalAnd(x, y)  # which says what is wrong with it
    with name_scope(name, None, [x, y]) as scope:
        x, y = convert(x, dtypes.bool, name="x"), convert(y, dtypes.bool, name="y")
        return logical_xor(x, y, name=scope or None)


def _by_type(logical: Any, bits: str) -> Any:
    """Return an operator that is logic for booleans and bit arithmetic for integers."""

    def apply(x: Any, y: Any, name: str | None = None) -> Any:
        tensor = x if isinstance(x, Tensor) else y
        return (logical if tensor.dtype.base_dtype is dtypes.bool else getattr(raw, bits))(x, y, name=name)

    return apply


install_binary("and", None, "and", function=_by_type(LogicalAnd, "BitwiseAnd"))
install_binary("or", None, "or", function=_by_type(LogicalOr, "BitwiseOr"))
install_binary("xor", None, "xor", function=_by_type(_xor_in_a_scope, "BitwiseXor"))
install_unary("invert", lambda x: logical_not(x) if x.dtype.base_dtype is dtypes.bool else raw.Invert(x))

# --- choice -----------------------------------------------------------------------------------------------------------

Select = op("Select(condition:bool, t:T, e:T) -> (output:T) | T: type", checks_first=True, facts="elementwise static")
SelectV2 = op("SelectV2(condition:bool, t:T, e:T) -> (output:T) | T: type", facts="elementwise static broadcasts")


@Select.shape
def _(condition, t, e):
    try:
        dims = merged(t, e)
    except errors.StaticShapeError:
        raise errors.StaticShapeError(
            f"'then' and 'else' must have the same size, but received: {show(t.dims)} vs. {show(e.dims)}"
        ) from None
    if condition.dims is None or dims is None or condition.dims == ():
        return dims
    rows = len(condition.dims) == 1 and len(dims) > 1
    length = condition.dims[0] if condition.dims else None
    if rows and length is not None and dims[0] is not None and length != dims[0]:
        raise errors.StaticShapeError(
            f"Number of batches of 'then' must match size of 'cond', but saw: {dims[0]} vs. {length}"
        )
    if not rows:
        fits = len(condition.dims) == len(dims) and all(
            a is None or b is None or a == b for a, b in zip(condition.dims, dims, strict=True)
        )
        if not fits:
            raise errors.StaticShapeError(
                f"'cond' must be a scalar, a vector or of the shape of 'then': {show(condition.dims)} vs. {show(dims)}"
            )
    return dims


@Select.kernel
def _(xp, condition, t, e):
    if condition.ndim == 1 and t.ndim > 1:
        condition = condition.reshape(condition.shape + (1,) * (t.ndim - 1))
    return _chosen(xp, condition, t, e)


def _chosen(xp, condition, t, e):
    if xp is np and condition.size >= LARGE:
        result = select(condition, t, e)
        if result is not None:
            return result
    return xp.where(condition, t, e)


@SelectV2.shape
def _(condition, t, e):
    try:
        return broadcast_dims(broadcast_dims(condition.dims, t.dims), e.dims)
    except ValueError:
        shapes = ", ".join(f"{n} {show(x.dims)}" for n, x in (("condition", condition), ("then", t), ("else", e)))
        raise errors.StaticShapeError(f"{shapes} must be broadcastable") from None


SelectV2.kernel(_chosen)


@Select.gradient
def _(call, grad):
    (condition, x, _), grad = call.inputs, dense(grad)
    zeros = raw.ZerosLike(grad) if x.__class__ is EagerTensor else zeros_like(x)
    return None, raw.Select(condition, grad, zeros), raw.Select(condition, zeros, grad)


@SelectV2.gradient
def _(call, grad):
    (condition, t, e), grad = call.inputs, dense(grad)
    zeros = raw.ZerosLike(grad)
    return (
        None,
        reduce_to(raw.SelectV2(condition, grad, zeros), t, grad) if call.wants(1) else None,
        reduce_to(raw.SelectV2(condition, zeros, grad), e, grad) if call.wants(2) else None,
    )


def where(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Return `x` where the condition holds and `y` elsewhere (broadcasting), or the indices where it holds.

    >>> where([True, False], [1, 2], 0).numpy().tolist()
    [1, 0]
    """
    return _where(SelectV2, condition, x, y, name)


def where_v1(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """`where` of TensorFlow 1: `x` and `y` have one shape, and a vector condition chooses rows."""
    return _where(Select, condition, x, y, name)


def _where(select, condition, x, y, name):
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    if x is not None:
        return select(condition, x, y, name=name or select.name)
    with name_scope(name, "Where", [condition]) as scope:
        return raw.Where(operand(condition, None, dtypes.bool, name="condition"), name=scope or None)
