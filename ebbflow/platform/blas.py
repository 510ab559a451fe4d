"""The threads of NumPy's BLAS: as many as the program wishes for one op, and one for small matrices.

OpenBLAS keeps threads of its own, a number it decides when it is loaded. It is found among the libraries of this
process (on Linux; elsewhere, and with another BLAS, it is left alone) and told when `tf.config` is told. Importing this
file does that. Knows nothing of ops.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ebbflow.platform import config

SMALL = 512
"""Matrices with sides up to this one are a single thread's work. Two halve the time of a larger one where nobody else
uses the machine; of one of 100 by 100 they save a tenth then, and otherwise wait for each other: a solution that takes
0.2 ms took 190 ms in the median beside two busy processes on two cores."""

TINY = 16
"""Matrices with sides up to this one OpenBLAS gives to no second thread anyway: nothing need be said to it, which takes
a fifth of a call."""


_NAMES = tuple(f"{who}openblas_%s_num_threads{bits}" for who in ("scipy_", "") for bits in ("64_", ""))
"""What its functions are called: NumPy's, scipy's (the same with shorter integers), and those of distributions."""


class Blas(NamedTuple):
    """One OpenBLAS in this process."""

    set: Any
    get: Any
    began_with: int


def found() -> tuple[Blas, ...]:
    """Return every OpenBLAS in this process: NumPy's, and scipy's where that is loaded."""
    return _found("scipy.linalg" in sys.modules)


@functools.cache
def _found(with_scipy: bool) -> tuple[Blas, ...]:
    try:
        with open("/proc/self/maps") as maps:
            paths = sorted({line.split(maxsplit=5)[5].strip() for line in maps if "openblas" in line})
    except OSError:
        return ()
    return tuple(blas for blas in map(_opened, paths) if blas is not None)


def _opened(path: str) -> Blas | None:
    library = ctypes.CDLL(path)
    for name in _NAMES:
        if hasattr(library, name % "set"):
            get = getattr(library, name % "get")
            return Blas(getattr(library, name % "set"), get, get())
    return None


def set_threads(count: int) -> None:
    """Have NumPy's products use at most that many threads; 0 means as many as they began with."""
    for blas in found():
        blas.set(min(count, blas.began_with) if count > 0 else blas.began_with)


def calm(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that keeps to the thread that calls it, as long as its first array's matrices are small."""

    @functools.wraps(kernel)
    def small_or_not(xp: Any, first: Any, *others: Any, **attrs: Any) -> Any:
        sides = first.shape[-2:] if xp is np else ()
        if not sides or not TINY < max(sides) <= SMALL:
            return kernel(xp, first, *others, **attrs)
        libraries = found()
        before = [blas.get() for blas in libraries]
        for blas in libraries:
            blas.set(1)
        try:
            return kernel(xp, first, *others, **attrs)
        finally:
            for blas, count in zip(libraries, before, strict=True):
                blas.set(count)

    return small_or_not


config.on_intra_op_threads.append(set_threads)
if config.wishes.intra_op_threads:
    set_threads(config.wishes.intra_op_threads)
