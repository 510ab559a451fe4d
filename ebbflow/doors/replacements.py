"""What stands in for vanished functions that have no successor of the same form.

Knows NumPy and the standard library; nothing of who asks.
"""

from __future__ import annotations

import importlib.util
import inspect
import platform
import sys
from typing import Any

import numpy as np

from ebbflow.platform.decorators import ArgSpec


def asscalar(a: Any) -> Any:
    """Return the one element of an array as a Python number."""
    return np.asarray(a).item()


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False, **kwargs: Any) -> np.ndarray:
    """Return, for each element of `ar1` in a row, whether it is in `ar2`."""
    return np.isin(np.asarray(ar1).ravel(), ar2, assume_unique=assume_unique, invert=invert, **kwargs)


def msort(a: Any) -> np.ndarray:
    """Return an array sorted along its first axis."""
    return np.sort(a, axis=0)


SCTYPES = {
    "int": [np.int8, np.int16, np.int32, np.int64],
    "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
    "float": [np.float16, np.float32, np.float64, np.longdouble],
    "complex": [np.complex64, np.complex128, np.clongdouble],
    "others": [bool, object, bytes, str, np.void],
}
"""Types by kind, as `np.sctypes` had them."""


class _ByType(dict[Any, Any]):
    """A table with an entry for each type, made when it is asked for."""

    def __init__(self, make: Any) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, key: Any) -> Any:
        return self.make(np.dtype(key).type)


CAST = _ByType(lambda kind: lambda values: np.asarray(values).astype(kind))
NBYTES = _ByType(lambda kind: np.dtype(kind).itemsize)


def issctype(rep: Any) -> bool:
    """Return whether something is a type of array elements, or a dtype."""
    return isinstance(rep, np.dtype) or (isinstance(rep, type) and np.dtype(rep) != object)


def issubclass_(arg1: Any, arg2: Any) -> bool:
    """Return whether one class is a subclass of another; false for what is no class."""
    return isinstance(arg1, type) and issubclass(arg1, arg2)


def obj2sctype(rep: Any, default: Any = None) -> Any:
    """Return the type of array elements that something stands for."""
    try:
        return np.dtype(getattr(rep, "dtype", rep)).type
    except TypeError:
        return default


def sctype2char(sctype: Any) -> str:
    """Return the letter of a type."""
    return np.dtype(sctype).char


def find_common_type(array_types: Any, scalar_types: Any) -> Any:
    """Return the dtype that holds arrays of these types; scalars count where they are of a higher kind."""
    arrays, scalars = ([np.dtype(kind) for kind in kinds] for kinds in (array_types, scalar_types))
    if not arrays or not scalars:
        return np.result_type(*arrays, *scalars)
    array, scalar = np.result_type(*arrays), np.result_type(*scalars)
    return scalar if "biufc".find(scalar.kind) > "biufc".find(array.kind) else array


def asfarray(a: Any, dtype: Any = np.float64) -> np.ndarray:
    """Return an array of floats; a dtype that is none becomes float64."""
    return np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


def disp(mesg: Any, device: Any = None, linefeed: bool = True) -> None:
    """Write a message, with a new line."""
    (device or sys.stdout).write(f"{mesg}" + "\n" * linefeed)


def getargspec(func: Any) -> ArgSpec:
    """Return a function's arguments: args, varargs, keywords, defaults."""
    full = inspect.getfullargspec(func)
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def formatargspec(
    args: Any, varargs: Any = None, varkw: Any = None, defaults: Any = None, *more: Any, **kwargs: Any
) -> str:
    """Return arguments as they are written in a `def`."""
    first = len(args) - len(defaults or ())
    words = [arg if place < first else f"{arg}={defaults[place - first]!r}" for place, arg in enumerate(args)]
    words += [f"*{varargs}"] * bool(varargs) + [f"**{varkw}"] * bool(varkw)
    return f"({', '.join(words)})"


def find_loader(name: str, path: Any = None) -> Any:
    """Return the loader of a module, or None where there is no such module."""
    spec = importlib.util.find_spec(name)
    return None if spec is None else spec.loader


def nothing(*args: Any) -> None:
    """Do nothing, as `sys.setcheckinterval` since Python 3.2, and `hold` of Matplotlib, which always holds."""


def distribution(*args: Any, **kwargs: Any) -> tuple[str, str, str]:
    """Return name, version and codename of the Linux this runs on."""
    try:
        told = platform.freedesktop_os_release()
    except OSError:
        return "", "", ""
    return told["NAME"], told.get("VERSION_ID", ""), told.get("VERSION_CODENAME", "")


class Waves:
    """`librosa.output`."""

    @staticmethod
    def write_wav(path: Any, y: Any, sr: int, norm: bool = False) -> None:
        """Write samples, (n,) or (2, n), as a WAV file of their own type."""
        samples = np.asarray(y)
        if norm and np.issubdtype(samples.dtype, np.floating):
            samples = samples / (np.abs(samples).max() or 1)
        importlib.import_module("scipy.io.wavfile").write(path, sr, samples.T)


def check_interval() -> int:
    """Return what `sys.getcheckinterval` gave by default."""
    return 100
