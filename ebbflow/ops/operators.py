"""Python's operators on tensors: `a + b`, `-a`, `a < b`, `a == b`, both ways round.

Each binary operator has two forms. On an eager tensor the kernel is called at once when the other side is an eager
tensor of the same dtype, or a Python number that it can hold: that is what makes `a + b` cost NumPy plus about half a
microsecond (`eager_add_10x10` in `benchmarks/`). All else, and every symbolic tensor, goes through the op, and a number
or array on the other side takes the tensor's dtype. Which op an operator means is said by the families, which install
it here; indexing is put on the classes by `arrays/slicing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context
from ebbflow.core.context import thread
from ebbflow.core.convert import at_hand, convert, instant
from ebbflow.core.dispatch import borrowed
from ebbflow.core.dtypes import DType
from ebbflow.core.op import TYPED, Op
from ebbflow.core.tensor import EagerTensor, Tensor, _new, compares_by_value, ndarray
from ebbflow.ops.declare import array_kernel

Learnt = dict[DType, tuple[DType, Callable[..., Any], dict[str, Any], dict[type, dict[Any, EagerTensor]]]]

_KEPT = 64  # numbers that an operator keeps as scalars: a program has few, written out in its text

PUBLIC = {
    "add": "__operators__.add",
    "sub": "math.subtract",
    "mul": "math.multiply",
    "truediv": "math.truediv",
    "div": "math.divide",
    "floordiv": "math.floordiv",
    "mod": "math.floormod",
    "pow": "math.pow",
    "matmul": "linalg.matmul",
    "lt": "math.less",
    "le": "math.less_equal",
    "gt": "math.greater",
    "ge": "math.greater_equal",
    "and": "math.logical_and",
    "or": "math.logical_or",
    "xor": "math.logical_xor",
    "neg": "math.negative",
    "abs": "math.abs",
    "pos": "identity",
    "invert": "math.logical_not",
}
"""The public function that an operator means to classes that have taken it over from tensors: what it is given then is
no tensor, and the function's dispatchers know what to do with it.
"""

_array = np.array
_NUMBERS = (np.ndarray, np.generic, int, float, complex)


def install_binary(
    symbol: str, op: Op | None, name: str, function: Callable[..., Any] | None = None, quick: bool = False
) -> None:
    """Put `__symbol__` and `__rsymbol__` on tensors, meaning `op` under the node name `name`.

    `function(x, y, name=)` stands in for the op where more is to be done first (casts, a choice between ops). With
    `quick` the op is called straight away for those dtypes for which the function gives what the op gives.
    """
    apply = function or op
    reflected = f"__r{symbol}__"
    public = PUBLIC[symbol]

    def general(x, y):
        if not isinstance(x, Tensor):
            return borrowed(public, x, y)
        if isinstance(y, Tensor):
            return apply(x, y, name=name)
        try:
            return apply(x, _other_side(x, y), name=name)
        except (TypeError, ValueError) as error:
            return _said_by_the_other(reflected, x, y, error)

    def general_reflected(y, x):
        if not isinstance(y, Tensor):
            return borrowed(public, _numbers_like(y, x), y)
        if not isinstance(x, Tensor):
            x = _other_side(y, x)
        return apply(x, y, name=name)

    setattr(Tensor, f"__{symbol}__", general)
    setattr(Tensor, reflected, general_reflected)
    if op is not None and (quick or function is None):
        learnt: Learnt = {}
        setattr(EagerTensor, f"__{symbol}__", _quick(op, general, learnt))
        setattr(EagerTensor, reflected, _quick_reflected(op, general_reflected, learnt))


def _said_by_the_other(reflected: str, x: Any, y: Any, error: Exception) -> Any:
    """Return what the right side's own operator says where a tensor could not take it; otherwise raise `error`."""
    if hasattr(type(y), reflected) and not isinstance(y, _NUMBERS):
        try:
            answer = getattr(type(y), reflected)(y, x)
        except (TypeError, ValueError):
            answer = NotImplemented
        if answer is not NotImplemented:
            return answer
    raise error


def _numbers_like(borrower: Any, value: Any) -> Any:
    """Return numbers as a tensor of the dtype of what has taken the operator over, as tensors do; else the value."""
    dtype = getattr(borrower, "dtype", None)
    return convert(value, None, dtype) if dtype is not None and isinstance(value, (*_NUMBERS, list, tuple)) else value


def _other_side(tensor: Any, value: Any) -> Any:
    """Return what stands on the other side of an operator as an eager tensor; a NumPy mask counts as ones and zeros.

    In a graph it is left to the op, whose own name scope its Const belongs to (`add/y`).
    """
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "b" and tensor.dtype.is_numeric:
        value = value.astype(tensor.dtype.np)
    if context.graph_scopes:
        graph = context.current_graph()
        if graph is not None:
            return value
    if value.__class__ is bool and tensor.dtype.is_numeric:
        value = int(value)
    return convert(value, None, tensor.dtype.base_dtype)


def _quick(op: Op, general: Callable[..., Any], learnt: Learnt) -> Callable[..., Any]:
    """Return the operator of eager tensors.

    `learnt` maps a dtype to the result's, to the kernel, the attrs and the scalars met so far, once a call has gone
    the long way: only dtypes that the op takes get in.
    """
    engines = op.engines

    def operator(x, y):
        if not context.graph_scopes:
            dtype = x._dtype
            try:
                out, kernel, attrs, scalars = learnt[dtype]
            except KeyError:
                return _learn(op, general(x, y), x, learnt)
            kind = y.__class__
            if kind is not EagerTensor:
                if kind is float or kind is int:
                    kept = scalars[kind].get(y)
                    y = _scalar(y, dtype, scalars) if kept is None else kept
                elif kind in instant:
                    y = at_hand(y)
                kind = y.__class__
            if kind is EagerTensor and y._dtype is dtype and not engines:
                try:
                    value = kernel(x._array, y._array)
                except Exception:  # the long way explains it
                    return op(x, y)
                result = _new(EagerTensor)
                result._array = value if value.__class__ is ndarray else np.asarray(value, out.np)
                result._dtype = out
                if context.recorders:
                    for recorder in thread.recorders:
                        recorder.note(op, attrs, result, x, y)
                return result
        return _learn(op, general(x, y), x, learnt)

    return operator


def _quick_reflected(op: Op, general: Callable[..., Any], learnt: Learnt) -> Callable[..., Any]:
    """Return the reflected operator of eager tensors, quick for a Python number on the left."""
    straight = _quick(op, op, learnt)

    def operator(y, x):
        if not context.graph_scopes:
            dtype = y._dtype
            if dtype in learnt:
                kind = x.__class__
                if kind is float or kind is int:
                    scalars = learnt[dtype][3]
                    kept = scalars[kind].get(x)
                    x = _scalar(x, dtype, scalars) if kept is None else kept
                    if x.__class__ is EagerTensor:
                        return straight(x, y)
        return _learn(op, general(y, x), y, learnt)

    return operator


def _learn(op: Op, result: Any, x: Any, learnt: Learnt) -> Any:
    if result.__class__ is EagerTensor:
        fixed = op.signature.outputs[0].type
        if (fixed or x._dtype) is result._dtype:
            attrs = TYPED[x._dtype]
            learnt[x._dtype] = result._dtype, array_kernel(op, x._dtype), attrs, {int: {}, float: {}}
    return result


def _scalar(value: Any, dtype: DType, scalars: dict[type, dict[Any, EagerTensor]]) -> Any:
    """Return a Python number as a scalar of `dtype`, kept for next time (0 is not: -0.0 would find it), or itself."""
    found = number(value, dtype)
    if found is None:
        return value
    known = scalars[value.__class__]
    if value and len(known) < _KEPT:
        known[value] = found
    return found


def number(value: Any, dtype: DType) -> EagerTensor | None:
    """Return a Python number as a scalar of `dtype`, or None where it is none, or may not become one without a word."""
    kind = value.__class__
    if kind is float:
        if not dtype.is_floating:
            return None
    elif kind is not int or not (dtype.is_floating or dtype.is_integer):
        return None
    try:
        array = _array(value, dtype.np)
    except OverflowError:
        return None
    scalar = _new(EagerTensor)
    scalar._array = array
    scalar._dtype = dtype
    return scalar


def install_unary(symbol: str, function: Callable[..., Any]) -> None:
    """Put a one-operand operator on tensors."""
    public = PUBLIC[symbol]
    setattr(Tensor, f"__{symbol}__", lambda x: function(x) if isinstance(x, Tensor) else borrowed(public, x))


def install_equality(equal: Callable[..., Any], not_equal: Callable[..., Any]) -> None:
    """Put `==` and `!=` on tensors: by element in TF 2, by identity in TF 1 and in plain graphs."""

    def by_value(x, y):
        if y is None:
            return False
        if not isinstance(x, Tensor):
            return borrowed("__operators__.eq", x, y)
        return equal(x, y) if compares_by_value(x) or _by_value(y) else x is y

    def not_by_value(x, y):
        if y is None:
            return True
        if not isinstance(x, Tensor):
            return borrowed("__operators__.ne", x, y)
        return not_equal(x, y) if compares_by_value(x) or _by_value(y) else x is not y

    def quick_eq(x, y):
        return equal(x, y) if y is not None and context.switches.tensor_equality else by_value(x, y)

    def quick_ne(x, y):
        return not_equal(x, y) if y is not None and context.switches.tensor_equality else not_by_value(x, y)

    Tensor.__eq__, Tensor.__ne__ = by_value, not_by_value  # type: ignore[method-assign]
    EagerTensor.__eq__, EagerTensor.__ne__ = quick_eq, quick_ne  # type: ignore[method-assign]


def _by_value(other: Any) -> bool:
    return isinstance(other, Tensor) and compares_by_value(other)
