"""Memory as engines see it: where an array's data lies, and new arrays at addresses that vector units like.

Knows NumPy arrays and nothing of ops. Imported by the engines and by the compiler.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

ALIGN = 64
"""Bytes: a cache line, and what XLA and oneDNN want an array to start at."""

_BEHIND_THE_HEAD = object.__basicsize__
_pointer_at = ctypes.c_void_p.from_address


def _read_address(array: np.ndarray) -> int:
    """Return where an array's data lies, read from the array object itself: 0.25 µs; `array.ctypes.data` takes 1.3."""
    return _pointer_at(id(array) + _BEHIND_THE_HEAD).value or 0


def _ask_address(array: np.ndarray) -> int:
    return array.ctypes.data


def _choose() -> Callable[[np.ndarray], int]:
    """NumPy's C interface promises where the pointer stands; where an interpreter differs, NumPy is asked each time."""
    probe = np.zeros(4)[1:]
    return _read_address if _read_address(probe) == _ask_address(probe) else _ask_address


address = _choose()


def empty(shape: Sequence[int], dtype: Any = np.float32) -> np.ndarray:
    """Return a new array, not filled, that starts at a multiple of 64 bytes.

    >>> address(empty([3, 5])) % 64
    0
    """
    dtype = np.dtype(dtype)
    nbytes = math.prod(shape) * dtype.itemsize
    raw = np.empty(nbytes + ALIGN, np.uint8)
    start = -address(raw) % ALIGN
    return raw[start : start + nbytes].view(dtype).reshape(shape)
