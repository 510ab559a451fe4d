"""What a Python function reads from outside of itself, as a key: with an equal key, tracing it again gives the same.

A function that is defined anew at each call of another (Keras's data adapters do so for each `predict`) is another
object with the same code. What it could do differently depends on the values it reads: cells of its closure, globals,
and attributes of these, which its code names. Where all of them are plain values, functions that depend on their
arguments alone, or functions of which the same holds, they are the key. Where anything else is read (a list, a layer,
an object), or anything outside is changed, there is no key, and the function must be traced. Knows byte code; knows no
tensors.
"""

from __future__ import annotations

import builtins
import dis
import operator
import sys
import types
import weakref
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

from ebbflow.core.dtypes import DType
from ebbflow.core.op import Op

_ONLY_ARGUMENTS = (
    "ebbflow.api.adapters", "ebbflow.core", "ebbflow.ops", "ebbflow.data", "ebbflow.functions.control_flow", "math",
    "numpy", "optree", "tensorflow.python", "keras.src.tree", "keras.src.trainers.data_adapters",
)  # fmt: skip
"""Packages whose functions do the same for the same arguments, as far as the nodes of a graph can tell. (Some of our
classes say that they are TensorFlow's, once Keras is there.)"""
_NOT_ONLY_ARGUMENTS = ("ebbflow.ops.random.seeds", "ebbflow.ops.numpy", "numpy.random")

_PURE_BUILTINS = frozenset(
    getattr(builtins, name)
    for name in """
    abs all any bool bytes callable complex dict divmod enumerate filter float frozenset hasattr int isinstance
    issubclass len list map max min pow range reversed round set slice sorted str sum tuple type zip
    """.split()  # noqa: SIM905
)
_PLAIN = (int, bool, str, bytes, complex, type(None), type(...), type(NotImplemented), DType)
_LOADS = frozenset(
    """
    LOAD_CONST LOAD_SMALL_INT LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_AND_CLEAR LOAD_FAST_LOAD_FAST LOAD_FAST_BORROW
    LOAD_FAST_BORROW_LOAD_FAST_BORROW LOAD_GLOBAL LOAD_DEREF LOAD_CLOSURE LOAD_ATTR LOAD_METHOD LOAD_ASSERTION_ERROR
    LOAD_COMMON_CONSTANT LOAD_SPECIAL STORE_FAST STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST STORE_FAST_MAYBE_NULL
    STORE_DEREF DELETE_FAST DELETE_DEREF
    """.split()  # noqa: SIM905
)
_TOUCHING = ("LOAD_", "STORE_", "DELETE_", "IMPORT_")


class _Read(NamedTuple):
    """A name, its place in the closure (-1 for a global one), and the attributes that are asked for behind it."""

    place: int
    name: str
    attributes: tuple[str, ...]


class _Plan:
    """What a code object reads. In keys it stands for the code, whose own hash goes through all its constants."""

    __slots__ = ("last", "reads")

    def __init__(self, reads: tuple[_Read, ...]):
        self.reads = reads
        self.last: tuple[list[Any], list[Any]] = [], []  # values that were read, and their part of the key


_plans: dict[int, tuple[Any, _Plan | None]] = {}
"""By the identity of a code object, which is held weakly: what it reads, None where it does more than reading."""


def outside(function: Any) -> tuple[Any, ...] | None:
    """Return a key of all that a function depends on besides its arguments; None where that cannot be told.

    >>> def scaled_by(factor): return lambda x: x * factor
    >>> outside(scaled_by(2)) == outside(scaled_by(2)), outside(scaled_by(2)) == outside(scaled_by(3))
    (True, False)
    >>> outside(scaled_by([2])) is None
    True
    """
    if type(function) is not FunctionType:
        return None
    key: list[Any] = []
    return tuple(key) if _add_function(function, key, set()) else None


def _add_function(function: FunctionType, key: list[Any], seen: set[int]) -> bool:
    """Add what a function depends on to the key; return whether all of it can be."""
    if id(function) in seen:
        return True
    seen.add(id(function))
    code = function.__code__
    plan = _plan(code)
    if plan is None:
        return False
    key += (plan, *function.__dict__.items()) if function.__dict__ else (plan,)
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        if not _add(value, key, seen):
            return False
    cells: Any = function.__closure__
    names = function.__globals__
    values = []
    try:
        for place, name, attributes in plan.reads:
            read: Any = (
                cells[place].cell_contents if place >= 0 else names[name] if name in names else getattr(builtins, name)
            )
            for attribute in attributes:
                read = getattr(read, attribute)
            if read.__class__ is MethodType:  # a new object each time
                values.append(read.__self__)
                if not isinstance(read.__self__, type):  # what an instance is, may change
                    return False
                read = read.__func__
            values.append(read)
    except Exception:  # not there yet, or an attribute that refuses: the function itself will tell
        return False
    return _add_values(values, plan, key, seen)


def _add_values(values: list[Any], plan: _Plan, key: list[Any], seen: set[int]) -> bool:
    """Add the values that code reads; where they are the very ones of the last time, so is their part of the key."""
    before, part = plan.last
    if len(before) == len(values) and all(map(operator.is_, before, values)):
        key += part
        return True
    start, functions = len(key), len(seen)
    if not all([_add(value, key, seen) for value in values]):
        return False
    if len(seen) == functions:  # no function among them whose own values may change
        plan.last = values, key[start:]
    return True


def _add(value: Any, key: list[Any], seen: set[int]) -> bool:
    kind = value.__class__
    if kind in _PLAIN:
        key.append((kind, value))
    elif kind is float:
        key.append(value.hex())  # 0.0 and -0.0 are equal, but not the same
    elif kind is tuple:
        key.append(len(value))
        return all([_add(item, key, seen) for item in value])
    elif kind is FunctionType and not _only_arguments(value):
        return _add_function(value, key, seen)
    elif kind is MethodType:  # of a class; what an instance is, may change
        return isinstance(value.__self__, type) and _add(value.__func__, key, seen) and _add(value.__self__, key, seen)
    elif kind is FunctionType or _is_fixed(value, kind):
        key.append(value)
    else:
        return False
    return True


def _is_fixed(value: Any, kind: type) -> bool:
    """Return whether an object that can be called does the same for the same arguments."""
    if kind is BuiltinFunctionType and isinstance(value.__self__, types.ModuleType | None):
        return value in _PURE_BUILTINS or _belongs(value.__module__)
    if isinstance(value, type):
        return value in _PURE_BUILTINS or _belongs(value.__module__) or _is_named_tuple(value)
    return isinstance(value, Op)


def _is_named_tuple(cls: type) -> bool:
    return cls.__base__ is tuple and isinstance(vars(cls).get("_fields"), tuple)


def _belongs(module: Any) -> bool:
    if module.__class__ is not str or not module.startswith(_ONLY_ARGUMENTS):
        return False
    return not module.startswith(_NOT_ONLY_ARGUMENTS)


def _only_arguments(function: FunctionType) -> bool:
    """Return whether a function is one of those packages' own, and no wrapper that they made around a user's."""
    if not _belongs(function.__module__):
        return False
    return function.__closure__ is None or vars(sys.modules[function.__module__]).get(function.__name__) is function


# --- from code to what it reads ---------------------------------------------------------------------------------------


def _plan(code: CodeType) -> _Plan | None:
    kept = _plans.get(id(code))
    if kept is not None and kept[0]() is code:
        return kept[1]
    try:
        plan: _Plan | None = _Plan(tuple(dict.fromkeys(_reads(code))))
    except _MoreThanReadingError:
        plan = None
    number = id(code)
    _plans[number] = (weakref.ref(code, lambda _, plans=_plans: plans.pop(number, None)), plan)  # type: ignore[misc]
    return plan


class _MoreThanReadingError(Exception):
    """Code changes what is outside, or reads it in a way that its names do not tell."""


def _reads(code: CodeType) -> Iterator[_Read]:
    """Yield what code reads from outside, functions inside of it included."""
    steps = list(dis.get_instructions(code))
    for i, step in enumerate(steps):
        word = step.opname
        if (word.startswith(_TOUCHING) and word not in _LOADS) or word in ("YIELD_FROM", "SEND"):
            raise _MoreThanReadingError
        if word in ("STORE_DEREF", "DELETE_DEREF") and step.argval in code.co_freevars:
            raise _MoreThanReadingError
        if word == "LOAD_GLOBAL" or (word == "LOAD_DEREF" and step.argval in code.co_freevars):
            place = code.co_freevars.index(step.argval) if word == "LOAD_DEREF" else -1
            yield _Read(place, step.argval, _attributes(steps, i + 1))
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            for place, name, attributes in _reads(inner):
                if place < 0:
                    yield _Read(place, name, attributes)
                elif name in code.co_freevars:  # what is of this function itself is not outside
                    yield _Read(code.co_freevars.index(name), name, attributes)


def _attributes(steps: list[Any], at: int) -> tuple[str, ...]:
    found = []
    while steps[at].opname in ("LOAD_ATTR", "LOAD_METHOD"):
        found.append(steps[at].argval)
        at += 1
    return tuple(found)
