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

from ebbflow.doors import old_pandas, replacements
from ebbflow.doors.program import Program

Call = Callable[..., Any]


class Keeper(Protocol):
    """Who lends: it knows the program, and keeps the list of what was lent."""

    program: Program
    lent: dict[str, None]


# --- functions: how each was called then; NotImplemented where that would have failed as well -------------------------


def _array(now: Call, *args: Any, **kwargs: Any) -> Any:
    """Copy where `copy=False` cannot be kept; hold rows of different lengths as objects; let integers run over."""
    if isinstance(sys.exc_info()[1], OverflowError):
        kind = args[1] if len(args) > 1 else kwargs["dtype"]
        return now(args[0]).astype(kind)
    if kwargs.get("dtype") in ABSTRACT:
        return now(*args, **{**kwargs, "dtype": ABSTRACT[kwargs["dtype"]]})
    if kwargs.get("copy") is False:
        return now(*args, **{**kwargs, "copy": None})
    return NotImplemented if "dtype" in kwargs or len(args) > 1 else now(*args, **kwargs, dtype=object)


ABSTRACT = {np.integer: np.int_, np.signedinteger: np.int_, np.unsignedinteger: np.uint} | dict.fromkeys(
    (np.floating, np.inexact, np.number), np.float64
)
"""Kinds of numbers that stood for a dtype."""


def _made(now: Call, shape: Any, dtype: Any = float, *args: Any, **kwargs: Any) -> Any:
    return now(shape, ABSTRACT[dtype], *args, **kwargs) if dtype in ABSTRACT else NotImplemented


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
    if isinstance(a, Iterator) and not args and not kwargs:
        return builtins.sum(a)
    return _of_rows(now, a, *args, **kwargs)


def _of_rows(now: Call, a: Any, *args: Any, **kwargs: Any) -> Any:
    """Take rows of different lengths as an array of objects, where they cannot be one of numbers."""
    uneven = "inhomogeneous" in str(sys.exc_info()[1])
    return now(_objects(a), *args, **kwargs) if uneven else NotImplemented


def _save(now: Call, file: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    uneven = "inhomogeneous" in str(sys.exc_info()[1])
    return now(file, _objects(arr), *args, **kwargs) if uneven else NotImplemented


def _objects(rows: Any) -> np.ndarray[Any, Any]:
    return np.array(rows, dtype=object)


OF_ROWS = ("nan_to_num", "shape", "size", "ndim", "mean", "squeeze", "array_split")
STACKS = ("stack", "vstack", "hstack", "dstack", "column_stack")

FUNCTIONS: dict[str, Call] = {
    "array": _array, "asarray": _array, "fromstring": _fromstring, "reshape": _reshape, "histogram": _histogram,
    "sum": _sum, **dict.fromkeys(("empty", "zeros", "ones"), _made), **dict.fromkeys(STACKS, _stack),
    "save": _save, **dict.fromkeys(OF_ROWS, _of_rows),
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
    numpy.load = _opening(keeper, numpy.load)  # type: ignore[attr-defined]


def _listing(keeper: Keeper, name: str, now: Call) -> Call:
    @functools.wraps(now)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = now(*args, **kwargs)
        if type(found) is not tuple or not keeper.program.asks(sys._getframe(1)):
            return found
        keeper.lent[f"numpy.{name} as it was"] = None
        return list(found)

    return call


def _opening(keeper: Keeper, now: Call) -> Call:
    """Return `numpy.load` that unpickles objects for the program where nothing is said of it, as until NumPy 1.16."""

    @functools.wraps(now)
    def load(file: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 or "allow_pickle" in kwargs or not keeper.program.asks(sys._getframe(1)):
            return now(file, *args, **kwargs)
        begin = file.tell() if hasattr(file, "tell") else None
        try:
            found = now(file, *args, **kwargs)
        except ValueError:
            if begin is not None:
                file.seek(begin)
            found = now(file, *args, **kwargs, allow_pickle=True)
            keeper.lent["numpy.load as it was"] = None
        if type(found).__name__ == "NpzFile":
            found.allow_pickle = True  # which of its arrays are of objects shows when they are read
        return found

    return load


def _forgiving(keeper: Keeper, name: str, now: Call, then: Call) -> Call:
    @functools.wraps(now)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return now(*args, **kwargs)
        except (TypeError, ValueError, OverflowError):
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


def _text_size(self: Any, text: str, font: Any = None, *args: Any, **kwargs: Any) -> tuple[int, int]:
    _, _, right, bottom = self.textbbox((0, 0), text, font, *args, **kwargs)
    return int(right), int(bottom)


def _font_size(self: Any, text: str, *args: Any, **kwargs: Any) -> tuple[int, int]:
    _, _, right, bottom = self.getbbox(text, *args, **kwargs)
    return int(right), int(bottom)


def _tostring_rgb(self: Any) -> bytes:
    return np.asarray(self.buffer_rgba())[..., :3].tobytes()


def _set_window_title(self: Any, title: str) -> None:
    if self.manager is not None:
        self.manager.set_window_title(title)


METHODS: dict[str, dict[str, dict[str, Any]]] = {
    "numpy": {
        "ndarray": {
            "tostring": lambda self, order="C": self.tobytes(order),
            "itemset": _itemset,
            "newbyteorder": lambda self, new_order="S": self.view(self.dtype.newbyteorder(new_order)),
            "ptp": lambda self, axis=None, out=None, keepdims=False: np.ptp(self, axis, out, keepdims),
        },
        "generic": {"tostring": lambda self, order="C": self.tobytes(order)},
    },
    "pandas": {"DataFrame": old_pandas.TABLE, "Series": old_pandas.COLUMN},
    "threading": {"Thread": {"isAlive": lambda self: self.is_alive()}},
    "xml.etree.ElementTree": {
        "Element": {"getchildren": lambda self: list(self), "getiterator": lambda self, tag=None: list(self.iter(tag))},
    },
    "PIL.ImageDraw": {"ImageDraw": {"textsize": _text_size, "multiline_textsize": _text_size}},
    "PIL.ImageFont": {kind: {"getsize": _font_size} for kind in ("FreeTypeFont", "ImageFont", "TransposedFont")},
    "matplotlib.backend_bases": {"FigureCanvasBase": {"set_window_title": _set_window_title}},
    "matplotlib.backends.backend_agg": {"FigureCanvasAgg": {"tostring_rgb": _tostring_rgb}},
    "matplotlib.axes": {"Axes": {"hold": replacements.nothing}},
}
"""Module -> class -> methods and properties that are gone, and what they did."""


class Lent:
    """A method that is there for the program's own code."""

    def __init__(self, keeper: Keeper, owner: str, name: str, function: Any) -> None:
        self.keeper, self.owner, self.name, self.function = keeper, owner, name, function

    def __get__(self, instance: Any, kind: type) -> Any:
        if not self.keeper.program.asks(sys._getframe(1)):
            raise AttributeError(
                f"{kind.__name__!r} object has no attribute {self.name!r}", name=self.name, obj=instance
            )
        self.keeper.lent[f"{self.owner}.{self.name}"] = None
        if isinstance(self.function, property):
            return self.function.__get__(instance, kind)
        return self.function if instance is None else MethodType(self.function, instance)


def teach_methods(keeper: Keeper, module: ModuleType) -> None:
    """Give a module's classes the methods they have lost."""
    for class_name, methods in METHODS[module.__name__].items():
        kind = getattr(module, class_name, None)
        for name, function in methods.items():
            if kind is not None and not hasattr(kind, name):
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
        kind = getattr(module, class_name, None)
        if kind is None:
            continue
        (names,) = gc.get_referents(kind.__dict__)
        for name in methods:
            if isinstance(names.get(name), Lent):
                del names[name]
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
