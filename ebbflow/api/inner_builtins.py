"""`tensorflow.python.autograph.operators.py_builtins` and their kin: Python's functions on any tensor or dataset.

What converted code calls (`functions.autograph.ag`) leaves eager values to Python; these, which programs call by hand,
take tensors of both modes and datasets, and are Python's own on everything else. Imported by nobody: the tables name
what is here.
"""

from __future__ import annotations

import builtins
import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.data.dataset import DatasetV2 as Dataset
from ebbflow.functions.autograph import python_functions
from ebbflow.functions.autograph.operators import Undefined
from ebbflow.functions.control_flow.cond import cond
from ebbflow.functions.control_flow.loops import map_fn
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.ops.arrays import ranges
from ebbflow.ops.arrays.sorting import argsort, sort
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.control.script import py_func
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.reduce.reductions import reduce_all, reduce_any, reduce_max, reduce_min, reduce_sum
from ebbflow.ops.strings.texts import string_to_number

UNSPECIFIED = object()


def abs_(x: Any) -> Any:
    """Return magnitudes: of a number, a tensor, or all parts of a dataset's elements."""
    if isinstance(x, Dataset):
        return x.map(lambda *parts: nest.map_structure(raw.Abs, parts if len(parts) > 1 else parts[0]))
    return raw.Abs(x) if isinstance(x, Tensor) else builtins.abs(x)


def float_(x: Any = 0) -> Any:
    """Return a number with a fraction; text is read."""
    return _number(x, dtypes.float32) if isinstance(x, Tensor) else builtins.float(x)


def int_(x: Any = 0, base: Any = UNSPECIFIED) -> Any:
    """Return a whole number; text is read, of a tensor's only decimal digits."""
    if not isinstance(x, Tensor):
        return builtins.int(x) if base is UNSPECIFIED else builtins.int(x, base)
    if base not in (10, UNSPECIFIED):
        raise NotImplementedError(f"base {base} is not supported for int of a tensor: it reads decimal numbers")
    return _number(x, dtypes.int32)


def _number(x: Tensor, dtype: dtypes.DType) -> Tensor:
    return string_to_number(x, dtype) if x.dtype.base_dtype is dtypes.string else cast(x, dtype)


def len_(s: Any) -> Any:
    """Return the number of items, as a Python number where it is known."""
    if isinstance(s, TensorArray):
        return s.size()
    if isinstance(s, Dataset):
        return _length_of_dataset(s.cardinality())
    if not isinstance(s, Tensor):
        return python_functions.len(s)
    if s.dtype.base_dtype is dtypes.variant:
        return raw.TensorListLength(s)
    if s.shape.rank == 0:
        raise ValueError("len requires a non-scalar tensor, got one of shape ()")
    if s.shape.rank is not None and s.shape[0] is not None:
        return s.shape[0]
    check = Assert(raw.GreaterEqual(raw.Rank(s), 1), ["len requires a non-zero rank, got", raw.Rank(s)])
    with context.default_graph().control_dependencies([check]):
        return raw.Identity(raw.Shape(s)[0])


def _length_of_dataset(cardinality: Any) -> Any:
    words = "len requires dataset with definitive cardinality (INFINITE is -1, UNKNOWN is -2), got"
    check = Assert(raw.GreaterEqual(cardinality, convert(0, dtypes.int64)), [words, cardinality])
    if context.executing_eagerly():
        return cardinality
    with context.default_graph().control_dependencies([check]):
        return raw.Identity(cardinality)


def print_(*objects: Any, **kwargs: Any) -> Any:
    """Print as Python does; with tensors of a graph, return the node that prints when it runs."""
    unknown = set(kwargs) - {"sep", "end", "file", "flush"}
    if unknown:
        raise ValueError(f"invalid keyword arguments: {sorted(unknown)}")
    if not builtins.any(isinstance(leaf, Tensor) for leaf in nest.flatten(objects)):
        return builtins.print(*objects, **kwargs)
    places = [i for i, value in enumerate(objects) if isinstance(value, Tensor)]

    def show(*values: Any) -> int:
        shown = list(objects)
        for i, value in zip(places, values, strict=True):
            shown[i] = value.decode() if isinstance(value, bytes) else value
        builtins.print(*shown, **{"flush": True, **kwargs})
        return 0

    return py_func(show, [objects[i] for i in places], dtypes.int64)


def max_(*args: Any, **kwargs: Any) -> Any:
    """Return the greatest of several values, or of the items of one."""
    return _extreme("max_", args, kwargs, builtins.max, reduce_max)


def min_(*args: Any, **kwargs: Any) -> Any:
    """Return the least of several values, or of the items of one."""
    return _extreme("min_", args, kwargs, builtins.min, reduce_min)


def _extreme(word: str, args: Any, kwargs: Any, pythons: Callable[..., Any], reduce: Callable[..., Any]) -> Any:
    if not builtins.any(isinstance(arg, Tensor) for arg in args):
        return pythons(*args, **kwargs)
    if len(args) == 1:
        if args[0].shape.rank == 0:
            return raw.Identity(args[0])
        if args[0].shape.rank == 1:
            return reduce(args[0], axis=0)
        raise ValueError(f"{word}(arg) currently support only tensor with 0-d or 1-d, got shape {args[0].shape}")
    for arg in args:
        if isinstance(arg, Tensor) and arg.shape.rank != 0:
            raise ValueError(f"{word}(arg1, arg2, *args) currently support only scalar tensors, got shape {arg.shape}")
    return reduce(args, axis=0)


def range_(start_or_stop: Any, stop: Any = UNSPECIFIED, step: Any = UNSPECIFIED) -> Any:
    """Return the numbers between bounds: none where there are none, as in Python."""
    bounds = [bound for bound in (start_or_stop, stop, step) if bound is not UNSPECIFIED]
    if not builtins.any(isinstance(bound, Tensor) for bound in bounds):
        return builtins.range(*bounds)
    if len(bounds) == 3:
        return ranges.range(*bounds)
    start, end = bounds if len(bounds) == 2 else (0, bounds[0])
    return ranges.range(start, reduce_max([start, end], axis=0))


def enumerate_(s: Any, start: Any = 0) -> Any:
    """Return pairs of a number and an item."""
    return s.enumerate(start) if isinstance(s, Dataset) else python_functions.enumerate(s, start)


def zip_(*iterables: Any, strict: bool = False) -> Any:
    """Return tuples of the items of several iterables."""
    if iterables and builtins.all(isinstance(one, Dataset) for one in iterables):
        return type(iterables[0]).zip(iterables)
    return python_functions.zip(*iterables, **({"strict": True} if strict else {}))


def map_(fn: Callable[..., Any], *iterables: Any, strict: bool = False) -> Any:
    """Return what a function gives for each item."""
    if iterables and builtins.all(isinstance(one, Dataset) for one in iterables):
        return iterables[0].map(fn) if len(iterables) == 1 else zip_(*iterables).map(fn)
    return python_functions.map(fn, *iterables)


def filter_(function: Any, iterable: Any) -> Any:
    """Return the items for which a function holds."""
    return iterable.filter(function) if isinstance(iterable, Dataset) else python_functions.filter(function, iterable)


def any_(iterable: Any) -> Any:
    """Return whether some item holds."""
    return _together("any_", iterable, builtins.any, reduce_any, raw.LogicalOr, False)


def all_(iterable: Any) -> Any:
    """Return whether all items hold."""
    return _together("all_", iterable, builtins.all, reduce_all, raw.LogicalAnd, True)


def _together(word: str, items: Any, pythons: Any, reduce: Any, pair: Any, none: bool) -> Any:
    if isinstance(items, Dataset):
        spec = items.element_spec
        if nest.is_nested(spec) or spec.dtype is not dtypes.bool:
            raise ValueError(f"{word} of a dataset needs elements of one boolean tensor, got {spec}")
        return items.reduce(convert(none), pair)
    return reduce(items, axis=0) if isinstance(items, Tensor) else pythons(items)


def sum_(iterable: Any, start: Any = 0) -> Any:
    """Return the sum of the items."""
    if not isinstance(iterable, Tensor):
        return builtins.sum(iterable, start)
    total = reduce_sum(iterable, axis=0)
    return total if isinstance(start, int) and start == 0 else start + total


def sorted_(iterable: Any, key: Any = UNSPECIFIED, reverse: Any = UNSPECIFIED) -> Any:
    """Return the items in order of themselves, or of what `key` gives for each: numbers, where they are a tensor's."""
    given = {} if key is UNSPECIFIED else {"key": key}
    if not isinstance(iterable, Tensor):
        return builtins.sorted(iterable, **given, **({} if reverse is UNSPECIFIED else {"reverse": reverse}))
    direction = "DESCENDING" if reverse is True else "ASCENDING"
    keys = map_fn(key, iterable) if given and key is not None else iterable
    if keys.shape.rank != 1:
        raise ValueError("sorted_ needs a tensor of one axis, or a key that gives numbers")
    if keys is iterable:
        return sort(iterable, direction=direction)
    return raw.GatherV2(iterable, argsort(keys, direction=direction, stable=True), 0)


def next_(iterator: Any, default: Any = UNSPECIFIED) -> Any:
    """Return the next element, or `default` at the end; of a dataset's iterator the two are of one kind."""
    given = () if default is UNSPECIFIED else (default,)
    if not given or not hasattr(iterator, "get_next_as_optional"):
        return next(iterator, *given)
    found = iterator.get_next_as_optional()
    _check_alike(default, iterator.element_spec)
    return cond(found.has_value(), found.get_value, lambda: nest.map_structure(convert, default))


def _check_alike(default: Any, spec: Any) -> None:
    """Refuse a default that is not of an iterator's kind."""
    try:
        nest.assert_same_structure(default, spec)
    except (ValueError, TypeError) as error:
        raise TypeError(f"default must have the same element structure as iterator's elements: {error}") from None
    for value, wanted in zip(nest.flatten(default), nest.flatten(spec), strict=True):
        dtype = convert(value).dtype.base_dtype
        if dtype is not wanted.dtype:
            raise TypeError(
                f"default argument must be of dtype {wanted.dtype.name} as the elements are, got {dtype.name}"
            )


# --- where a function of the program stands ---------------------------------------------------------------------------


class FunctionScope:
    """Stands in a converted function, under the name `scope_name` among its local variables."""

    def __init__(self, function_name: str | None, scope_name: str | None, options: Any = None):
        self.name, self.options = scope_name, options
        features = getattr(options, "optional_features", None) or ()
        names = {
            feature.name for feature in (features if isinstance(features, (tuple, set, frozenset)) else (features,))
        }
        self._scope = function_name if {"NAME_SCOPES", "ALL"} & names else None
        self._entered = contextlib.ExitStack()

    def __enter__(self) -> FunctionScope:
        if self._scope and not context.executing_eagerly():
            self._entered.enter_context(context.default_graph().name_scope(self._scope.lstrip("_") or "function"))
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.close()

    def ret(self, value: Any, did_return: bool) -> Any:
        """Return what the function gives, or None where it gave nothing."""
        return None if isinstance(value, Undefined) else value


def _frame_of(scope: FunctionScope, innermost: bool) -> Any:
    """Return the frame that has a scope among its local variables: the nearest, or that farthest out."""
    own: Any = inspect.currentframe()  # its caller is a function of this file, too
    frame, found = own.f_back.f_back, None
    while frame is not None:
        if scope.name in frame.f_locals and frame.f_locals[scope.name] is scope:
            found = frame
            if innermost:
                break
        frame = frame.f_back
    if found is None:
        raise AssertionError(f"there is no function around with the scope {scope.name!r}")
    return found


def locals_in_original_context(caller_fn_scope: FunctionScope) -> Any:
    """Return the local variables of the function that a scope stands in."""
    return _frame_of(caller_fn_scope, True).f_locals


def globals_in_original_context(caller_fn_scope: FunctionScope) -> Any:
    """Return the global variables of the function that a scope stands in."""
    return _frame_of(caller_fn_scope, True).f_globals


def eval_in_original_context(f: Callable[..., Any], args: tuple[Any, ...], caller_fn_scope: FunctionScope) -> Any:
    """Return the value of an expression where a scope stands, unless `args` say where."""
    frame = _frame_of(caller_fn_scope, True)
    places = (*args[1:], *(frame.f_globals, frame.f_locals)[len(args) - 1 :])
    return f(args[0], *places)


def super_in_original_context(f: Callable[..., Any], args: tuple[Any, ...], caller_fn_scope: FunctionScope) -> Any:
    """Return `super(*args)`; without arguments, that of the method that a scope stands in."""
    if args:
        return f(*args)
    frame = _frame_of(caller_fn_scope, False)
    if "__class__" not in frame.f_locals:
        raise RuntimeError("super(): the method around has no __class__: it is to use super() or __class__ itself")
    return f(frame.f_locals["__class__"], frame.f_locals[frame.f_code.co_varnames[0]])


# --- statements -------------------------------------------------------------------------------------------------------


def assert_stmt(expression1: Any, expression2: Callable[[], Any]) -> Any:
    """Raise unless the first holds, with what the second says; on a tensor, return the check as a node."""
    if not callable(expression2):
        raise ValueError(f"expression2 must be callable, got {expression2!r}")
    if isinstance(expression1, Tensor):
        said = expression2()
        return Assert(expression1, list(said) if isinstance(said, (list, tuple)) else [said])
    assert expression1, expression2()
    return None


def if_exp(cond_: Any, if_true: Callable[[], Any], if_false: Callable[[], Any], expr_repr: str) -> Any:
    """Return what the function of the case that holds gives; `expr_repr` is what errors call the expression."""
    if not isinstance(cond_, Tensor):
        return if_true() if cond_ else if_false()
    if context.executing_eagerly():
        return cond(cond_, if_true, if_false)
    kinds: dict[str, Any] = {}

    def noting(branch: str, function: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            found = nest.map_structure(convert, function())
            kinds[branch] = [t.dtype.base_dtype.name for t in nest.flatten(found)]
            _check_kinds(expr_repr, kinds)
            return found

        return run

    return cond(cond_, noting("main", if_true), noting("else", if_false))


def _check_kinds(shown: str, kinds: dict[str, list[str]]) -> None:
    for main, other in zip(kinds.get("main", ()), kinds.get("else", ()), strict=False):
        if main != other:
            raise TypeError(f"{shown!r} has dtype {main} in the main branch, but dtype {other} in the else branch")


def ld(v: Any) -> Any:
    """Return a variable's value; one that has none is an error that names it."""
    return v.read() if isinstance(v, Undefined) else v


def ldu(load_v: Callable[[], Any], name: str) -> Any:
    """Return a variable's value, or what stands for one that has none."""
    try:
        return load_v()
    except (KeyError, AttributeError, NameError):
        return Undefined(name)


@contextlib.contextmanager
def control_dependency_on_returns(return_value: Any) -> Iterator[None]:
    """Have what is made inside wait for a value that a function gave."""
    flat = [] if return_value is None else nest.flatten(return_value)
    waited = [value.flow if isinstance(value, TensorArray) else value for value in flat]
    if context.executing_eagerly() or not waited:
        yield
        return
    with context.default_graph().control_dependencies([t for t in waited if isinstance(t, Tensor)]):
        yield


def alias_tensors(*args: Any) -> Any:
    """Return the same values, each tensor under another name."""
    found = tuple(raw.Identity(arg) if isinstance(arg, Tensor) else arg for arg in args)
    return found[0] if len(found) == 1 else found


def get_range_len(start: Any, limit: Any, delta: Any) -> Any:
    """Return how many numbers Python's `range` of these has.

    >>> int(get_range_len(convert(0), convert(7), convert(3)))
    3
    """
    start, limit, delta = (convert(bound, dtypes.int32) for bound in (start, limit, delta))
    steps = raw.FloorDiv(limit - start + delta - raw.Sign(delta), delta)
    return raw.Maximum(steps, convert(0, dtypes.int32))


def match_staging_level(value: Any, like_value: Any) -> Any:
    """Return a value as a tensor where another one is."""
    return convert(value) if isinstance(like_value, Tensor) else value
