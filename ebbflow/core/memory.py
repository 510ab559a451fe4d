"""Memory as engines see it: where an array's data lies, and new arrays at addresses that vector units like.

Large arrays are made of memory that others have left. Knows NumPy arrays and nothing of ops.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import forks

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


def empty(shape: Sequence[int], dtype: Any = np.float32, pooled: bool = True) -> np.ndarray:
    """Return a new array, not filled, that starts at a multiple of 64 bytes.

    What is `pooled` is kept, where it is large, for the next of its size; there may be none of so odd a size.

    >>> address(empty([3, 5])) % 64
    0
    """
    dtype = np.dtype(dtype)
    nbytes = math.prod(shape) * dtype.itemsize
    raw = _pool.array(nbytes + ALIGN) if pooled and nbytes >= LARGE else np.empty(nbytes + ALIGN, np.uint8)
    start = -address(raw) % ALIGN
    return raw[start : start + nbytes].view(dtype).reshape(shape)


def copied(array: np.ndarray, dtype: Any = None) -> np.ndarray:
    """Return a copy of an array, rows last and without gaps; a large one is where engines take it as it is."""
    dtype = array.dtype if dtype is None else dtype
    if array.size * dtype.itemsize < LARGE or dtype.hasobject:
        copy = np.array(array, dtype, order="C")
        if copy.dtype is dtype:
            return copy
        copy = np.empty(array.shape, dtype)  # what files gave may have an equal dtype: code knows only the very one
        np.copyto(copy, array)
        return copy
    copy = empty(array.shape, dtype)
    np.copyto(copy, array, casting="unsafe")
    return copy


def is_whole(array: np.ndarray) -> bool:
    """Return whether an array is all of its memory: it has its own, or `empty` made it."""
    if array.base is None:
        return array.flags.owndata
    block = getattr(array.base, "base", None)
    return block.__class__ is _Block and array.nbytes + ALIGN == block.raw.size


# --- large arrays -----------------------------------------------------------------------------------------------------

LARGE = 1 << 20
"""Bytes from which on memory is kept for the next array of its size: new memory comes from the system page by page,
each filled with zeros, which for a large array takes as long as computing it."""

KEPT = 1 << 28
"""Bytes that are kept at most."""


class _Block:
    """Memory that goes back to the pool when the last array that sees it is gone."""

    __slots__ = ("__array_interface__", "pool", "raw")

    def __init__(self, raw: np.ndarray, pool: Pool):
        self.raw = raw
        self.pool = pool
        self.__array_interface__ = {
            "shape": raw.shape,
            "typestr": "|u1",
            "data": (address(raw), False),
            "version": 3,
        }

    def __del__(self) -> None:
        self.pool.give_back(self.raw)


class Pool:
    """Memory of arrays that are gone, by size; the longest unused goes first when there is too much."""

    def __init__(self, most: int = KEPT) -> None:
        self._free: list[np.ndarray] = []
        self._lock = forks.rlock()  # an array may die while this thread is in here
        self._most = most
        self.kept = 0

    def array(self, nbytes: int) -> np.ndarray:
        """Return an array of bytes."""
        raw = None
        with self._lock:
            for i in range(len(self._free) - 1, -1, -1):
                if self._free[i].size == nbytes:
                    raw = self._free.pop(i)
                    self.kept -= nbytes
                    break
        return np.asarray(_Block(np.empty(nbytes, np.uint8) if raw is None else raw, self))

    def give_back(self, raw: np.ndarray) -> None:
        """Keep memory that nobody sees any longer."""
        dropped = []  # given to the system outside of the lock
        with self._lock:
            self._free.append(raw)
            self.kept += raw.size
            while self.kept > self._most:
                dropped.append(self._free.pop(0))
                self.kept -= dropped[-1].size


_pool = Pool()


def _keep_what_is_freed() -> None:
    """Have the C library keep what others free (XLA's results, NumPy's temporary arrays), as far as it can."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        _ = mallopt(_MMAP_THRESHOLD, 1 << 30) or mallopt(_MMAP_THRESHOLD, 1 << 25)  # the most that older ones take
        mallopt(_TRIM_THRESHOLD, KEPT)


def give_back() -> None:
    """Give the system what the C library has kept, as far as it can: behind work that took much, and is over."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of <malloc.h>
_keep_what_is_freed()
