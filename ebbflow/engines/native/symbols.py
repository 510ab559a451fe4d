"""What the code calls and looks at outside of itself: by name, so that it is the same in every process.

Where the names lead is said when the code is loaded (`addresses`). Those of functions and of Python's objects mean the
same to all code; a kernel adds its own arrays.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from ebbflow.core import stopping
from ebbflow.engines.onednn import library as onednn

DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "bool": np.bool_}

ARRAY = "@numpy.ndarray"
LOOK = "@ebbflow.look"
"""A function of Python that raises where what runs in this thread should end."""

BUSY = "@ebbflow.busy"
"""The cycle until which this process does alone what it has threads for: see `threads`."""

SPARE = "@ebbflow.spare"
"""Where a call has left its memory, or 0: see `kernel`."""

_PYTHON = {
    "PyBool_FromLong": "ptr (i64)",
    "PyEval_SaveThread": "ptr ()",
    "PyEval_RestoreThread": "void (ptr)",
    "PyMem_RawMalloc": "ptr (i64)",
    "PyMem_RawFree": "void (ptr)",
    "PyGILState_Ensure": "i32 ()",
    "PyGILState_Release": "void (i32)",
    "PyErr_CheckSignals": "i32 ()",
    "PyErr_Occurred": "ptr ()",
    "PyObject_CallNoArgs": "ptr (ptr)",
    "Py_DecRef": "void (ptr)",
    # What C has is found beside that, but on Windows.
    "getpid": "i32 ()",
    "fmodf": "float (float, float)",
    "fmod": "double (double, double)",
}
_GOMP = {
    "GOMP_parallel": "void (ptr, ptr, i32, i32)",
    "GOMP_barrier": "void (ptr)",  # it takes none: see threads.wait
    "omp_get_thread_num": "i32 ()",
    "omp_get_num_threads": "i32 ()",
}


busy, spare = np.zeros((), np.int64), np.zeros((), np.int64)
"""What the code finds there."""


def dtype_of(kind: str) -> str:
    """Return what the code calls the dtype object of a kind."""
    return f"@numpy.{kind}"


def declarations() -> list[str]:
    """Return the lines that say what the names are."""
    functions = [(name, *type.split(" ", 1)) for name, type in (_PYTHON | _GOMP).items()]
    objects = [ARRAY, LOOK, *[dtype_of(kind) for kind in DTYPES]]
    return [
        *[f"declare {result} @{name}{taken}" for name, result, taken in functions],
        *[f"{name} = external global i8" for name in objects],
        *[f"{name} = external global i64" for name in (BUSY, SPARE)],
    ]


@functools.cache
def addresses() -> dict[str, int]:
    """Return where the names lead, as far as what they mean is there."""
    objects = {ARRAY: np.ndarray, LOOK: stopping.look} | {dtype_of(kind): np.dtype(d) for kind, d in DTYPES.items()}
    found = {name[1:]: id(thing) for name, thing in objects.items()} | {
        BUSY[1:]: busy.ctypes.data,
        SPARE[1:]: spare.ctypes.data,
    }
    return found | _found(ctypes.pythonapi, _PYTHON) | gomp()


@functools.cache
def gomp() -> dict[str, int]:
    """Return where libgomp's functions begin, or nothing where it is not there."""
    found = onednn.load()
    return {} if found is None else _found(found.omp, _GOMP)


def _found(where: ctypes.CDLL, names: dict[str, str]) -> dict[str, int]:
    return {n: ctypes.cast(getattr(where, n), ctypes.c_void_p).value or 0 for n in names if hasattr(where, n)}
