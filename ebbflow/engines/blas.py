"""The threads of NumPy's BLAS: as many as the program wishes for one op.

OpenBLAS keeps threads of its own, a number it decides when it is loaded. It is found among the libraries of this
process (on Linux; elsewhere, and with another BLAS, it is left alone) and told when `tf.config` is told. Importing this
file does that.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, NamedTuple

from ebbflow.platform import config


class Blas(NamedTuple):
    """One OpenBLAS in this process."""

    set: Any
    get: Any
    began_with: int


@functools.cache
def found() -> tuple[Blas, ...]:
    """Return every OpenBLAS in this process: NumPy's, and scipy's where that is loaded."""
    try:
        with open("/proc/self/maps") as maps:
            paths = sorted({line.split(maxsplit=5)[5].strip() for line in maps if "openblas" in line})
    except OSError:
        return ()
    return tuple(blas for blas in map(_opened, paths) if blas is not None)


def _opened(path: str) -> Blas | None:
    library = ctypes.CDLL(path)
    for name in ("scipy_openblas_%s_num_threads64_", "openblas_%s_num_threads64_", "openblas_%s_num_threads"):
        if hasattr(library, name % "set"):
            get = getattr(library, name % "get")
            return Blas(getattr(library, name % "set"), get, get())
    return None


def set_threads(count: int) -> None:
    """Have NumPy's products use at most that many threads; 0 means as many as they began with."""
    for blas in found():
        blas.set(min(count, blas.began_with) if count > 0 else blas.began_with)


config.on_intra_op_threads.append(set_threads)
if config.wishes.intra_op_threads:
    set_threads(config.wishes.intra_op_threads)
