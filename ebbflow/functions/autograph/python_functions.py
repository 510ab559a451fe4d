"""Python's built-in functions for tensors of a graph: `len`, `range`, `print`, `int`, `max`, `sum`, `zip`, …

Each takes what Python's own takes, and is Python's own on plain values (eager tensors among them). The names are
Python's, because converted code calls them `ag.len` and so on; Python's are reached as `builtins.len`.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import Any

from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.functions.autograph.convert import converted
from ebbflow.functions.autograph.iteration import Items, mapped, numbered, side_by_side
from ebbflow.functions.autograph.lists import StagedList
from ebbflow.functions.autograph.values import is_staged, is_staged_ragged
from ebbflow.functions.control_flow import loops
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.ops.arrays import ranges
from ebbflow.ops.arrays.sorting import argsort, sort
from ebbflow.ops.checks import printing
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise import unary
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.reduce.reductions import reduce_all, reduce_any, reduce_max, reduce_min, reduce_sum


def print(*values: Any, **keywords: Any) -> Any:
    """Print; tensors of a graph when it runs, each time that it runs."""
    if not builtins.any([is_staged(leaf) for leaf in nest.flatten(values)]) or keywords.keys() - {
        "sep",
        "end",
        "file",
        "flush",
    }:
        builtins.print(*values, **keywords)
        return None
    stream = keywords.get("file") or sys.stdout
    if stream not in (sys.stdout, sys.stderr):
        raise ValueError(
            "print of a graph's tensors goes to sys.stdout or sys.stderr; for a file use "
            "tf.print(..., output_stream='file://PATH')"
        )
    words = {"sep": keywords.get("sep"), "end": keywords.get("end")}
    return printing.print(*values, output_stream=stream, **{k: v for k, v in words.items() if v is not None})


def len(value: Any) -> Any:
    """Return the number of items: a Python number where it is known, else a tensor."""
    if is_staged(value):
        dims = convert(value)._dims
        if dims == ():
            raise ValueError("len requires a non-scalar tensor, got one of shape ()")
        return raw.Shape(value)[0] if dims is None or dims[0] is None else dims[0]
    if isinstance(value, StagedList):
        return value.length()
    if isinstance(value, TensorArray):
        return value.size()
    if is_staged_ragged(value):
        return value.nrows(dtypes.int32)
    if _is_dataset(value):
        return _counted(value.cardinality())
    return builtins.len(value)


def _counted(cardinality: Any) -> Any:
    """Return the length of a dataset, if it has one when this runs."""
    words = "len requires dataset with definitive cardinality (INFINITE is -1, UNKNOWN is -2), got"
    checked = raw.Assert(raw.GreaterEqual(cardinality, convert(0, dtypes.int64)), [convert(words), cardinality])
    with context.current_graph().control_dependencies([checked]):
        return raw.Identity(cardinality)


def range(*bounds: Any) -> Any:
    """Return the numbers between bounds, as a tensor if one of the bounds is one."""
    if not builtins.any([is_staged(bound) for bound in bounds]):
        return builtins.range(*bounds)
    if builtins.len(bounds) == 3:
        return ranges.range(*bounds)
    start, stop = bounds if builtins.len(bounds) == 2 else (0, bounds[0])
    return ranges.range(start, max(start, stop))  # none where there are none between, as in Python


def enumerate(iterable: Any, start: Any = 0) -> Any:
    """Return pairs of a number and an item."""
    if _is_dataset(iterable):
        return iterable.enumerate(start)
    return numbered(iterable, start) if _staged_items(iterable) else builtins.enumerate(iterable, start)


def zip(*iterables: Any, **keywords: Any) -> Any:
    """Return tuples of the items of several iterables."""
    if iterables and builtins.all([_is_dataset(i) for i in iterables]):
        return type(iterables[0]).zip(tuple(iterables))
    return (
        side_by_side(iterables)
        if builtins.any([_staged_items(i) for i in iterables])
        else builtins.zip(*iterables, **keywords)
    )


def map(function: Callable[..., Any], *iterables: Any) -> Any:
    """Return what a function gives for each item."""
    function = converted(function)
    if builtins.len(iterables) == 1 and _is_dataset(iterables[0]):
        return iterables[0].map(function)
    if builtins.any([_staged_items(i) for i in iterables]):
        return mapped(function, iterables)
    return builtins.map(function, *iterables)


def filter(function: Any, iterable: Any) -> Any:
    """Return the items for which a function holds."""
    function = function if function is None else converted(function)
    return iterable.filter(function) if _is_dataset(iterable) else builtins.filter(function, iterable)


def _is_dataset(value: Any) -> builtins.bool:
    return hasattr(value, "element_spec") and hasattr(value, "reduce") and not context.executing_eagerly()


def _staged_items(value: Any) -> builtins.bool:
    return (
        is_staged(value)
        or isinstance(value, (Items, StagedList))
        or is_staged_ragged(value)
        or (isinstance(value, TensorArray) and not context.executing_eagerly())
        or (hasattr(value, "get_next_as_optional") and not context.executing_eagerly())
    )


# --- numbers ----------------------------------------------------------------------------------------------------------


def int(*given: Any, **keywords: Any) -> Any:
    """Return a whole number, of a tensor as int32."""
    if not given or not is_staged(given[0]):
        return builtins.int(*given, **keywords)
    if (builtins.len(given) > 1 and given[1] != 10) or keywords.get("base", 10) != 10:
        raise NotImplementedError("int of a graph's tensor reads decimal numbers: base is to be 10")
    return _number(given[0], dtypes.int32)


def float(*given: Any) -> Any:
    """Return a number with a fraction, of a tensor as float32."""
    return _number(given[0], dtypes.float32) if given and is_staged(given[0]) else builtins.float(*given)


def _number(tensor: Any, dtype: Any) -> Any:
    is_text = convert(tensor).dtype.base_dtype is dtypes.string
    return raw.StringToNumber(tensor, out_type=dtype) if is_text else cast(tensor, dtype)


def bool(*given: Any) -> Any:
    """Return whether a value holds, of a tensor as a boolean tensor."""
    return cast(given[0], dtypes.bool) if given and is_staged(given[0]) else builtins.bool(*given)


def round(number: Any, *digits: Any) -> Any:
    """Return the nearest whole number."""
    if is_staged(number) and not digits:
        return unary.round(number)
    return builtins.round(number, *digits)


def sum(iterable: Any, *start: Any, **keywords: Any) -> Any:
    """Return the sum of the items, of a tensor along its first axis."""
    if not is_staged(iterable):
        return builtins.sum(iterable, *start, **keywords)
    total = reduce_sum(iterable, axis=0)
    first = start[0] if start else keywords.get("start", 0)
    return total if first.__class__ is builtins.int and first == 0 else first + total


def all(iterable: Any) -> Any:
    """Return whether all items hold."""
    return reduce_all(iterable, axis=0) if is_staged(iterable) else builtins.all(iterable)


def any(iterable: Any) -> Any:
    """Return whether some item holds."""
    return reduce_any(iterable, axis=0) if is_staged(iterable) else builtins.any(iterable)


def max(*values: Any, **keywords: Any) -> Any:
    """Return the greatest value, or the greatest item of one."""
    return _extreme(values, keywords, builtins.max, reduce_max, raw.Maximum)


def min(*values: Any, **keywords: Any) -> Any:
    """Return the least value, or the least item of one."""
    return _extreme(values, keywords, builtins.min, reduce_min, raw.Minimum)


def _extreme(values: tuple[Any, ...], keywords: dict[str, Any], pythons: Any, reduce: Any, pair: Any) -> Any:
    staged = [value for value in values if is_staged(value)]
    if not staged or keywords:
        return pythons(*values, **keywords)
    if builtins.len(values) == 1:
        return values[0] if convert(values[0])._dims == () else reduce(values[0], axis=0)
    dtype = convert(staged[0]).dtype.base_dtype
    found = convert(values[0], None, dtype)
    for value in values[1:]:
        found = pair(found, convert(value, None, dtype))
    return found


def sorted(iterable: Any, **keywords: Any) -> Any:
    """Return the items in order."""
    if not is_staged(iterable):
        return builtins.sorted(iterable, **keywords)
    direction, key = "DESCENDING" if keywords.get("reverse") else "ASCENDING", keywords.get("key")
    if key is None:
        return sort(iterable, axis=0, direction=direction)
    keys = loops.map_fn(converted(key), iterable, fn_output_signature=_kind_of(key, iterable))
    return raw.GatherV2(iterable, argsort(keys, axis=0, direction=direction, stable=True), convert(0))


def _kind_of(key: Any, iterable: Any) -> Any:
    """Return the dtype of what a function gives for an item, without leaving a trace of having asked."""
    with context.scope(FuncGraph("key", context.current_graph())):
        return convert(converted(key)(convert(iterable)[0])).dtype.base_dtype
