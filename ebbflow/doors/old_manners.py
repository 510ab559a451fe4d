"""Functions and methods of NumPy, pandas and protobuf that changed their manners, as the program being run knew them.

A function is called as it is now; only where that fails, and the program's own code called, is it called as it was.
Methods that are gone are lent by a descriptor that answers the program's own code alone. Knows nothing of TensorFlow.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
import gc
import sys
from collections.abc import Callable, Iterator
from types import MethodType, ModuleType
from typing import Any, Protocol

import numpy as np

from ebbflow.doors.program import Program

Call = Callable[..., Any]


class Keeper(Protocol):
    """Who lends: it knows the program, and keeps the list of what was lent."""

    program: Program
    lent: dict[str, None]


# --- functions: how each was called then; NotImplemented where that would have failed as well -------------------------


def _array(now: Call, *args: Any, **kwargs: Any) -> Any:
    """Copy where `copy=False` cannot be kept; hold rows of different lengths as objects."""
    if kwargs.get("copy") is False:
        return now(*args, **{**kwargs, "copy": None})
    return NotImplemented if "dtype" in kwargs or len(args) > 1 else now(*args, **kwargs, dtype=object)


def _fromstring(now: Call, string: Any, dtype: Any = float, count: int = -1, sep: str = "") -> Any:
    data = string.encode("latin-1") if isinstance(string, str) else string
    return NotImplemented if sep else np.frombuffer(data, dtype, count).copy()


def _reshape(now: Call, a: Any, *args: Any, **kwargs: Any) -> Any:
    return now(a, kwargs.pop("newshape"), *args, **kwargs) if "newshape" in kwargs else NotImplemented


def _histogram(now: Call, *args: Any, **kwargs: Any) -> Any:
    return now(*args, density=kwargs.pop("normed"), **kwargs) if "normed" in kwargs else NotImplemented


def _stack(now: Call, arrays: Any, *args: Any, **kwargs: Any) -> Any:
    return now(list(arrays), *args, **kwargs) if isinstance(arrays, Iterator) else NotImplemented


def _sum(now: Call, a: Any, *args: Any, **kwargs: Any) -> Any:
    return builtins.sum(a) if isinstance(a, Iterator) and not args and not kwargs else NotImplemented


STACKS = ("stack", "vstack", "hstack", "dstack", "column_stack")

FUNCTIONS: dict[str, Call] = {
    "array": _array, "asarray": _array, "fromstring": _fromstring, "reshape": _reshape, "histogram": _histogram,
    "sum": _sum, **dict.fromkeys(STACKS, _stack),
}  # fmt: skip
"""Functions of NumPy -> how they were called."""


LISTS = ("meshgrid", "broadcast_arrays", "atleast_1d", "atleast_2d", "atleast_3d")
"""Functions of NumPy that gave lists of arrays, and give tuples."""


def teach_functions(keeper: Keeper, numpy: ModuleType) -> None:
    """Have NumPy's functions take from the program what they took then, and give it what they gave."""
    for name, then in FUNCTIONS.items():
        setattr(numpy, name, _forgiving(keeper, name, getattr(numpy, name), then))
    for name in LISTS:
        setattr(numpy, name, _listing(keeper, name, getattr(numpy, name)))


def _listing(keeper: Keeper, name: str, now: Call) -> Call:
    @functools.wraps(now)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = now(*args, **kwargs)
        if type(found) is not tuple or not keeper.program.asks(sys._getframe(1)):
            return found
        keeper.lent[f"numpy.{name} as it was"] = None
        return list(found)

    return call


def _forgiving(keeper: Keeper, name: str, now: Call, then: Call) -> Call:
    @functools.wraps(now)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return now(*args, **kwargs)
        except (TypeError, ValueError):
            if not keeper.program.asks(sys._getframe(1)):
                raise
            try:
                found = then(now, *args, **kwargs)
            except (TypeError, ValueError):
                found = NotImplemented
            if found is NotImplemented:
                raise
        keeper.lent[f"numpy.{name} as it was"] = None
        return found

    return call


def teach_integers(keeper: Keeper, kind: type) -> None:
    """Have a message that lists integers take truth values from the program, as protobuf did before its release 7."""
    now = kind.__init__  # type: ignore[misc]

    @functools.wraps(now)
    def make(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            now(self, *args, **kwargs)
        except TypeError:
            given = kwargs.get("value")
            if isinstance(given, Iterator) or given is None or not keeper.program.asks(sys._getframe(1)):
                raise
            numbers = [int(one) if isinstance(one, (bool, np.bool_)) else one for one in given]
            self.Clear()
            now(self, **{**kwargs, "value": numbers})
            keeper.lent[f"{kind.__name__} of truth values"] = None

    kind.__init__ = make  # type: ignore[misc]


# --- methods ----------------------------------------------------------------------------------------------------------


def _itemset(self: Any, *args: Any) -> None:
    self[args[0] if len(args) > 1 else (0,) * self.ndim] = args[-1]


def _append(
    self: Any, other: Any, ignore_index: bool = False, verify_integrity: bool = False, sort: bool = False
) -> Any:
    pandas = sys.modules["pandas"]
    rows = list(other) if isinstance(other, (list, tuple)) else [other]
    if self.ndim == 2:
        if any(isinstance(row, dict) for row in rows) and not ignore_index:
            raise TypeError("Can only append a dict if ignore_index=True")
        rows = [row if getattr(row, "ndim", 1) == 2 else pandas.DataFrame([row]) for row in rows]
    return pandas.concat([self, *rows], ignore_index=ignore_index, verify_integrity=verify_integrity)


METHODS: dict[str, dict[str, dict[str, Call]]] = {
    "numpy": {
        "ndarray": {
            "tostring": lambda self, order="C": self.tobytes(order),
            "itemset": _itemset,
            "newbyteorder": lambda self, new_order="S": self.view(self.dtype.newbyteorder(new_order)),
            "ptp": lambda self, axis=None, out=None, keepdims=False: np.ptp(self, axis, out, keepdims),
        },
        "generic": {"tostring": lambda self, order="C": self.tobytes(order)},
    },
    "pandas": {
        "DataFrame": {
            "as_matrix": lambda self, columns=None: (self if columns is None else self[columns]).to_numpy(),
            "append": _append,
            "iteritems": lambda self: self.items(),
        },
        "Series": {
            "as_matrix": lambda self, columns=None: self.to_numpy(),
            "append": _append,
            "iteritems": lambda self: self.items(),
        },
    },
}
"""Module -> class -> methods that are gone, and what they did."""


class Lent:
    """A method that is there for the program's own code."""

    def __init__(self, keeper: Keeper, owner: str, name: str, function: Call) -> None:
        self.keeper, self.owner, self.name, self.function = keeper, owner, name, function

    def __get__(self, instance: Any, kind: type) -> Any:
        if not self.keeper.program.asks(sys._getframe(1)):
            raise AttributeError(
                f"{kind.__name__!r} object has no attribute {self.name!r}", name=self.name, obj=instance
            )
        self.keeper.lent[f"{self.owner}.{self.name}"] = None
        return self.function if instance is None else MethodType(self.function, instance)


def teach_methods(keeper: Keeper, module: ModuleType) -> None:
    """Give a module's classes the methods they have lost."""
    for class_name, methods in METHODS[module.__name__].items():
        kind = getattr(module, class_name)
        for name, function in methods.items():
            if not hasattr(kind, name):
                _put(kind, name, Lent(keeper, f"{module.__name__}.{class_name}", name, function))


def _put(kind: type, name: str, value: object) -> None:
    """Put a name into a class; one written in C refuses `setattr`, but its dictionary is an ordinary one."""
    try:
        setattr(kind, name, value)
    except TypeError:
        (names,) = gc.get_referents(kind.__dict__)
        names[name] = value
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def take_back(module: ModuleType) -> None:
    """Undo `teach_methods`, for a process that goes on to something else."""
    for class_name, methods in METHODS[module.__name__].items():
        kind = getattr(module, class_name)
        (names,) = gc.get_referents(kind.__dict__)
        for name in methods:
            if isinstance(names.get(name), Lent):
                del names[name]
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
