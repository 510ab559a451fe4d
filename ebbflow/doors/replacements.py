"""What stands in for vanished functions that have no successor of the same form.

Knows NumPy and the standard library; nothing of who asks.
"""

from __future__ import annotations

import importlib.util
import inspect
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
    """Do what `sys.setcheckinterval` has done since Python 3.2: nothing."""


def check_interval() -> int:
    """Return what `sys.getcheckinterval` gave by default."""
    return 100
