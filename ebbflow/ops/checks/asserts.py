"""Assertions about values: `tf.Assert`, comparisons (`tf.debugging.assert_equal`, …), signs, nearness, order.

Eagerly an assertion fails at once. In a graph it is an operation to be run or depended on; where both sides are
constants it fails while the graph is built. Those of TF 1 take `data`, which is shown instead of the values compared;
each comparison therefore stands here twice, as TF 2 and as TF 1 call it. Assertions about shapes and types are in
`shape_asserts` and `type_asserts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert, operand
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import Effect, TensorLike
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.checks.type_asserts import is_nameless, is_numeric_tensor
from ebbflow.ops.checks.value_text import opening
from ebbflow.ops.declare import FLAT, raw, with_rank
from ebbflow.ops.elementwise.compare import equal, greater, greater_equal, less, less_equal, not_equal
from ebbflow.ops.reduce.reductions import reduce_all
from ebbflow.ops.sizes import invalid

AssertOp = op(
    "Assert(condition:bool, data:list(T)) -> () | T: list(type) >= 1; summarize: int = 3 | stateful",
    gradient=FLAT,
    facts="forgets copyable beside",
)


@AssertOp.shape
def _(condition, data):
    with_rank(condition, 0, "condition")
    return []


@AssertOp.kernel
def _(xp, condition, data, *, summarize):
    if condition.ndim:
        raise invalid(f"In[0] should be a scalar: [{','.join(map(str, condition.shape))}]")
    if not condition:
        raise invalid("assertion failed: " + " ".join(f"[{opening(x, summarize)}]" for x in data))
    return ()


def Assert(condition: TensorLike, data: Sequence[Any], summarize: int | None = None, name: str | None = None) -> Effect:
    """Fail, showing `data`, unless `condition` holds: at once where ops run at once, else when the operation runs.

    >>> Assert(1 < 2, ["never shown"])
    """
    if context.executing_eagerly():
        if not condition:
            shown = "\n".join(_brief(convert(x), 3 if summarize is None else summarize) for x in _listed(data))
            raise invalid(f"Expected '{condition!s}' to be true. Summarized data: {shown}")
        return None
    with name_scope(name, "Assert", [condition, data]):
        kinds = {convert(x).dtype.base_dtype for x in _listed(data)}
        if kinds <= {dtypes.string, dtypes.int32}:
            return AssertOp(condition, list(data), summarize=summarize, name="Assert")
        condition = convert(condition, name="Condition")
        with name_scope("AssertGuard"):
            return AssertOp(condition, list(data), summarize=summarize, name="Assert")


def _listed(data: Any) -> Any:
    if not isinstance(data, (list, tuple)):
        raise TypeError("values must be a sequence.")
    return data


def _brief(tensor: Any, count: int) -> str:
    """Return the first elements of an eager tensor, as a failed eager `Assert` shows them."""
    array = tensor._array
    count = array.size if count < 0 else count
    shown = [str(item) for item in array.reshape(-1)[:count]]
    return ", ".join([*shown, "..."] if array.size > count else shown)


# --- words ------------------------------------------------------------------------------------------------------------


def prefix(message: Any) -> str:
    """Return the user's message as the beginning of ours.

    >>> prefix("m"), prefix(None)
    ('m.  ', '')
    """
    return f"{message}.  " if message else ""


def label(tensor: Any) -> str:
    """Return what a message calls a tensor: its name, or eagerly its shape and dtype."""
    if is_nameless(tensor):
        return f"shape={tensor.shape} dtype={tensor.dtype.name}"
    return tensor.name


def _lines(data: Any, summarize: int) -> str:
    return "\n".join(_line(item, summarize) for item in data)


def _line(item: Any, summarize: int) -> str:
    """Return one entry of `data` as a failed comparison shows it."""
    value = item.constant_value() if isinstance(item, Tensor) else item
    if value is None:
        return str(item)
    if not isinstance(value, np.ndarray) or not value.ndim:
        return str(value)
    if not context.executing_eagerly():
        return str(value)
    shown = [str(x) for x in value.reshape(-1)[: value.size if summarize < 0 else summarize]]
    return str([*shown, "..."] if value.size > len(shown) else shown)


# --- comparisons ------------------------------------------------------------------------------------------------------


class _Test(NamedTuple):
    """What a comparison asserts: as it is written, as an op, and of arrays."""

    sign: str
    of_tensors: Callable[..., Any]
    of_arrays: Any


def _compare(scope, test, x, y, data, summarize, message, name):
    """Assert that `test` holds for every pair of elements."""
    with name_scope(name, scope, [x, y, data]):
        x, y = _both_flat(operand(x, name="x"), operand(y, name="y"))
        if context.executing_eagerly():
            holds = test.of_tensors(x, y)
            if not holds._array.all():
                raise invalid(_difference(test.sign, x, y, holds, data, summarize, message))
            return None
        if data is None:
            told = f"Condition x {test.sign} y did not hold element-wise:"
            data = [told, f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        data = data if message is None else [message, *data]
        condition = reduce_all(test.of_tensors(x, y))
        known_x, known_y = _seen(x), _seen(y)
        if known_x is not None and known_y is not None and not np.all(test.of_arrays(known_x, known_y)):
            raise invalid(_lines(data, 3))
        return Assert(condition, data, summarize=summarize)


def _seen(tensor: Any) -> np.ndarray | None:
    """Return the value that TensorFlow knows while it builds a graph: what we know beyond it fails in a run."""
    pending = [] if isinstance(tensor, EagerTensor) else [tensor]
    while pending:
        node = pending.pop().op
        if node.type not in _SEEN_THROUGH:
            return None
        pending += () if node.type in _OF_SHAPES else node.inputs
    return tensor.constant_value()


_OF_SHAPES = frozenset(("Shape", "Size", "Rank"))
_SEEN_THROUGH = _OF_SHAPES.union(
    ("Cast", "Concat", "ConcatV2", "Const", "Equal", "Fill", "Identity", "NotEqual", "Pack", "Range", "Split")
) | {"StopGradient", "Unpack"}


def _both_flat(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Return both sides as tensors: of ragged ones the elements, broadcast to each other."""
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return x, y
    first = raw.LogicalOr(raw.Equal(x, y), True)
    return raw.SelectV2(first, x, y).flat_values, raw.SelectV2(raw.LogicalNot(first), x, y).flat_values


def _difference(sign, x, y, holds, data, summarize, message):
    """Return the words for a comparison that failed eagerly."""
    count = 3 if summarize is None else summarize
    if data is not None:
        return _lines(data if message is None else [message, *data], count)
    x, y, wrong = x._array, y._array, ~holds._array
    count = x.size + y.size if count < 0 else count
    words = [] if message is None else [str(message)]
    words.append(f"Condition x {sign} y did not hold.")
    if x.ndim and x.shape == y.shape:
        where = np.argwhere(wrong)[:count]
        words += [f"Indices of first {len(where)} different values:", str(where)]
        words += ["Corresponding x values:", str(x[wrong][:count]), "Corresponding y values:", str(y[wrong][:count])]
    for side, array in (("x", x), ("y", y)):
        shown = array.reshape(-1)[:count]
        words += [f"First {shown.size} elements of {side}:", str(shown)]
    return "\n".join(words)


def _comparison(scope: str, sign: str, of_tensors: Any, of_arrays: Any) -> tuple[Any, Any]:
    """Return an assertion as TF 2 and as TF 1 call it."""
    test = _Test(sign, of_tensors, of_arrays)

    def second(
        x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> Effect:
        return _compare(scope, test, x, y, None, summarize, message, name)

    def first(
        x: TensorLike,
        y: TensorLike,
        data: Sequence[Any] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Effect:
        return _compare(scope, test, x, y, data, summarize, message, name)

    return _named(scope, f"Assert that `x {sign} y` everywhere.", second, first)


def _named(name: str, doc: str, *functions: Any) -> Any:
    for function in functions:
        function.__name__ = function.__qualname__ = name
        function.__doc__ = doc
    return functions


assert_less, assert_less_v1 = _comparison("assert_less", "<", less, np.less)
assert_less_equal, assert_less_equal_v1 = _comparison("assert_less_equal", "<=", less_equal, np.less_equal)
assert_greater, assert_greater_v1 = _comparison("assert_greater", ">", greater, np.greater)
assert_greater_equal, assert_greater_equal_v1 = _comparison(
    "assert_greater_equal", ">=", greater_equal, np.greater_equal
)
_, assert_none_equal_v1 = _comparison("assert_none_equal", "!=", not_equal, np.not_equal)
_, _assert_equal = _comparison("assert_equal", "==", equal, np.equal)


def assert_none_equal(
    x: TensorLike, y: TensorLike, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Effect:
    """Assert that `x != y` everywhere.

    >>> assert_none_equal([1, 2], [2, 1])
    """
    return assert_none_equal_v1(x, y, summarize=summarize, message=message, name=name)


def assert_equal_v1(
    x: TensorLike,
    y: TensorLike,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Effect:
    """Assert that `x == y` everywhere.

    >>> assert_equal_v1([1, 2], [1, 2])
    """
    with name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return raw.NoOp()
    return _assert_equal(x, y, data=data, summarize=summarize, message=message, name=name)


def assert_equal(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Effect:
    """Assert that `x == y` everywhere.

    >>> assert_equal([1, 2], [1, 2])
    """
    return assert_equal_v1(x, y, summarize=summarize, message=message, name=name)


# --- signs ------------------------------------------------------------------------------------------------------------


def _signed(scope: str, sign: str, assertion: Callable[..., Any], zero_first: bool) -> tuple[Any, Any]:
    """Return an assertion about the sign of numbers, as TF 2 and as TF 1 call it."""

    def first(
        x: TensorLike,
        data: Sequence[Any] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Effect:
        with name_scope(name, scope, [x, data]):
            x = convert(x, name="x")
            data = _told_of_sign(sign, x, message) if data is None else data
            zero = convert(0, x.dtype.base_dtype)
            return assertion(*((zero, x) if zero_first else (x, zero)), data=data, summarize=summarize)

    def second(
        x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> Effect:
        return first(x, summarize=summarize, message=message, name=name)

    return _named(scope, f"Assert that `x {sign} 0` everywhere.", second, first)


def _told_of_sign(sign: str, x: Any, message: Any) -> list[Any]:
    told, shown = f"Condition x {sign} 0 did not hold element-wise:", f"x ({label(x)}) = "
    return [prefix(message), told + shown, x] if sign == "<=" else [prefix(message), told, shown, x]


assert_positive, assert_positive_v1 = _signed("assert_positive", ">", assert_less_v1, True)
assert_negative, assert_negative_v1 = _signed("assert_negative", "<", assert_less_v1, False)
assert_non_negative, assert_non_negative_v1 = _signed("assert_non_negative", ">=", assert_less_equal_v1, True)
assert_non_positive, assert_non_positive_v1 = _signed("assert_non_positive", "<=", assert_less_equal_v1, False)


# --- nearness and order -----------------------------------------------------------------------------------------------


def assert_near_v1(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Effect:
    """Assert that `|x - y| < atol + rtol * |y|` everywhere; each tolerance is ten times the precision unless given.

    >>> assert_near_v1([1.0], [1.0000001])
    """
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = operand(x, name="x")
        x, y = _both_flat(x, operand(y, x.dtype.base_dtype, name="y"))
        real = x.dtype.base_dtype.real_dtype
        if not real.is_floating:
            raise ValueError(f"data type {real.name} not inexact: assert_near compares floats, use assert_equal")
        precision = 10 * float(ml_dtypes.finfo(real.np).eps)
        rtol = convert(precision if rtol is None else rtol, real, name="rtol")
        atol = convert(precision if atol is None else atol, real, name="atol")
        if data is None:
            told = f"x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}"
            data = [prefix(message), told, f"x ({label(x)}) = ", x, f"y ({label(y)}) = ", y]
        tolerance = atol + rtol * _distance(y)
        return Assert(reduce_all(less(_distance(x - y), tolerance)), data, summarize=summarize)


def _distance(x: Any) -> Any:
    if x.dtype.is_complex:
        return raw.ComplexAbs(x, Tout=x.dtype.real_dtype, name="Abs")
    return raw.Abs(x)


def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Effect:
    """Assert that `|x - y| < atol + rtol * |y|` everywhere; each tolerance is ten times the precision unless given.

    >>> assert_near(1.0, 1.1, atol=0.2)
    """
    return assert_near_v1(x, y, rtol=rtol, atol=atol, summarize=summarize, message=message, name=name)


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Return whether no element (of a matrix, row by row) is below the one before it.

    >>> bool(is_non_decreasing([1, 2, 2]))
    True
    """
    return _ordered(less_equal, x, name, "is_non_decreasing")


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Return whether every element (of a matrix, row by row) is above the one before it.

    >>> bool(is_strictly_increasing([1, 2, 2]))
    False
    """
    return _ordered(less, x, name, "is_strictly_increasing")


def _ordered(test: Callable[..., Any], x: Any, name: str | None, scope: str) -> Any:
    with name_scope(name, scope, [x]):
        x = convert(x, name="x")
        if not is_numeric_tensor(x):
            raise TypeError(f"Expected x to be numeric, instead found: {x}")
        row = reshape(x, [-1])
        return reduce_all(test(row[:-1], row[1:]))


def add_check_numerics_ops() -> Effect:
    """Return an operation that checks every tensor of floats in the default graph for NaN and infinity, in order."""
    if context.executing_eagerly():
        raise RuntimeError(
            "add_check_numerics_ops() is not compatible with eager execution. To check for Inf's and NaN's under eager "
            "execution, call tf.debugging.check_numerics on the tensors in question."
        )
    graph = context.default_graph()
    checked: list[Any] = []
    for node in graph.get_operations():
        for i, output in enumerate(node.outputs):
            if output.dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
                with graph.control_dependencies(checked):
                    checked = [raw.CheckNumerics(output, message=f"{node.name}:{i}")]
    with graph.control_dependencies(checked):
        return raw.NoOp(name="group_deps")
