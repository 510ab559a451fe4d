"""`float` and `int` of an array of one element, which NumPy took until 2.4 and programs do everywhere, and its use as a
size or an index, which NumPy took until 1.12.

NumPy converts in C, and elements are set by the same conversion (`a[0] = np.array([1.0])`). So the slots of the array
class get Python's own function that asks the class for `__float__` and `__int__`, and these are ours: they do what
NumPy does, and where that fails, and the program's own code asks, they convert the one element. Knows nothing of
TensorFlow.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import sysconfig
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from ebbflow.doors.old_manners import Keeper
from ebbflow.doors.program import INSTALLED

NUMBER_TABLE = object.__basicsize__ + 10 * ctypes.sizeof(ctypes.c_void_p)
"""Where a class keeps the address of its number slots (`PyTypeObject.tp_as_number`)."""

SLOTS = {"__int__": 16, "__float__": 18, "__index__": 33}
"""Conversion -> its place among the slots (`PyNumberMethods`)."""


class _Asks:
    """Any class that defines the conversions in Python: its slots are the ones that ask the class."""

    def __int__(self) -> int:
        return 0

    def __float__(self) -> float:
        return 0.0

    def __index__(self) -> int:
        return 0


class _AsksToo(_Asks):
    def __int__(self) -> int:
        return 1

    def __float__(self) -> float:
        return 1.0

    def __index__(self) -> int:
        return 1


def _slot(kind: type, name: str) -> Any:
    """Return the place in memory of a class's slot, as a number that can be read and set."""
    table = ctypes.c_void_p.from_address(id(kind) + NUMBER_TABLE).value or 0
    return ctypes.c_void_p.from_address(table + SLOTS[name] * ctypes.sizeof(ctypes.c_void_p))


def possible() -> bool:
    """Return whether classes of this Python are laid out as this module takes them to be."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    return all(_slot(_Asks, name).value == _slot(_AsksToo, name).value for name in SLOTS)


def teach(keeper: Keeper, numpy: ModuleType) -> None:
    """Have arrays of one element convert to numbers when the program asks."""
    if not possible() or not _refuses(numpy):
        return
    names = _names(numpy.ndarray)
    for name in SLOTS:
        _before[name] = (names[name], _slot(numpy.ndarray, name).value)
        names[name] = _forgiving(keeper, name, names[name])
        _slot(numpy.ndarray, name).value = _slot(_Asks, name).value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(numpy.ndarray))


def take_back(numpy: ModuleType) -> None:
    """Undo `teach`, for a process that goes on to something else."""
    names = _names(numpy.ndarray)
    for name, (method, address) in _before.items():
        _slot(numpy.ndarray, name).value = address
        names[name] = method
    _before.clear()
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(numpy.ndarray))


_before: dict[str, tuple[Any, Any]] = {}


def _names(kind: type) -> dict[str, Any]:
    (names,) = gc.get_referents(kind.__dict__)
    return names


def _refuses(numpy: ModuleType) -> bool:
    try:
        float(numpy.ones(1))
    except TypeError:
        return not _before
    return False


def _behind_python(frame: FrameType | None) -> FrameType | None:
    """Return the frame that called Python's own modules, where these ask: `gzip` for the size that it is to read."""
    while frame is not None and frame.f_code.co_filename.startswith(STANDARD) and not _installed(frame):
        frame = frame.f_back
    return frame


STANDARD = sysconfig.get_path("stdlib")


def _installed(frame: FrameType) -> bool:
    return any(place in frame.f_code.co_filename for place in INSTALLED)


def _forgiving(keeper: Keeper, name: str, now: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def convert(array: Any) -> Any:
        try:
            return now(array)
        except TypeError:
            if array.size != 1 or not keeper.program.asks(_behind_python(sys._getframe(1))):
                raise
        found = now(array.reshape(()))
        keeper.lent[f"{name.strip('_')} of an array of one element"] = None
        return found

    convert.__name__ = name
    return convert
