"""Large arrays in parts, for kernels that compute each element by itself: on all cores, and in each core's cache.

NumPy and SciPy work on one core, and a kernel of several steps brings every step's array from memory and back. A part
has the same numbers in it whoever computes it, so results are the same to the last bit. Knows kernels as functions of
arrays, and threads; no op.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import memory
from ebbflow.core.loops import Loop
from ebbflow.platform import threads

MANY = 1 << 17
"""Elements from which on threads are worth waking."""
PART = 1 << 16
"""Elements that a thread takes at a time where NumPy computes them."""
SHARE = 1 << 17
"""Elements that a thread takes at a time where machine code does, and never waits for Python's lock."""


def by_parts(kernel: Callable[..., Any], arrays: Sequence[Any]) -> np.ndarray | None:
    """Return what a kernel of single elements gives, computed in parts; None where the arrays are not alike.

    >>> x = np.arange(200_000)
    >>> bool((by_parts(lambda x, y: x * x + y, [x, np.array(1)]) == x * x + 1).all())
    True
    """
    shape = max((a.shape for a in arrays), key=len)
    flat = []
    for array in arrays:
        if array.shape == shape and array.flags.c_contiguous and not array.dtype.hasobject:
            flat.append(array.reshape(-1))
        elif array.ndim == 0:
            flat.append(array)
        else:
            return None
    return _computed(kernel, flat, shape)


def _computed(kernel: Callable[..., Any], flat: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    size = max(a.size for a in flat)

    def result_of(begin: int) -> Any:
        return kernel(*[a[begin : begin + PART] if a.ndim else a for a in flat])

    first = result_of(0)
    out = memory.empty((size,), first.dtype)
    out[:PART] = first

    def work(begin: int, end: int) -> None:
        out[begin + PART : end + PART] = result_of(begin + PART)

    in_shares(work, size - PART, PART)
    return out.reshape(shape)


def in_parts(kernel: Callable[..., Any], inputs: int = 0) -> Callable[..., Any]:
    """Have a kernel of single elements, `(xp, *arrays, **attrs)`, work on large NumPy arrays in parts.

    One that is a single function of NumPy's stays as it is: those mostly wait for memory. Of one or two `inputs` and no
    attrs, small arrays lose no time.
    """
    if getattr(kernel, "ufunc", None) is not None:
        return kernel

    if inputs == 1:
        return functools.wraps(kernel)(_of_one(kernel))
    if inputs == 2:
        return functools.wraps(kernel)(_of_two(kernel))

    @functools.wraps(kernel)
    def parted(xp: Any, *arrays: Any, **attrs: Any) -> Any:
        if xp is np and arrays and max([a.size for a in arrays]) >= MANY:
            result = by_parts(functools.partial(kernel, np, **attrs), arrays)
            if result is not None:
                return result
        return kernel(xp, *arrays, **attrs)

    return parted


def _of_one(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def parted(xp: Any, x: Any) -> Any:
        if x.size < MANY or xp is not np:
            return kernel(xp, x)
        result = by_parts(functools.partial(kernel, np), (x,))
        return kernel(xp, x) if result is None else result

    return parted


def _of_two(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def parted(xp: Any, x: Any, y: Any) -> Any:
        if (x.size < MANY and y.size < MANY) or xp is not np:
            return kernel(xp, x, y)
        result = by_parts(functools.partial(kernel, np), (x, y))
        return kernel(xp, x, y) if result is None else result

    return parted


def walked(loop: Loop, arrays: Sequence[Any], dtype: Any) -> np.ndarray | None:
    """Return what a loop over `elements` gives for arrays of one shape; None where there is no code, or not for these.

    Of what is read as 32 bits, arrays may be of 16 bits; which dtypes a loop is for knows the caller.
    """
    code = loop.code()
    shape = arrays[0].shape
    if code is None or not all([a.shape == shape and a.flags.c_contiguous and a.flags.aligned for a in arrays]):
        return None
    out = memory.empty(shape, dtype)
    in_shares(lambda begin, end: code(*arrays, out, begin, end), out.size, SHARE)
    return out


def in_shares(work: Callable[[int, int], Any], size: int, share: int) -> None:
    """Do work from 0 to `size`, given as `work(begin, end)`, on all cores where it is more than one share.

    >>> done = []
    >>> in_shares(lambda begin, end: done.append((begin, end)), 5, 2)
    >>> sorted(done)
    [(0, 2), (2, 4), (4, 5)]
    """
    if size <= share:
        work(0, size)
        return
    starts = itertools.count(0, share)  # its next number is one thread's alone
    failures: list[BaseException] = []

    def helper() -> None:
        begin = next(starts)
        try:
            while begin < size and not failures:
                work(begin, min(begin + share, size))
                begin = next(starts)
        except BaseException as error:
            failures.append(error)

    threads.helped(helper)
    if failures:
        raise failures[0]
