"""Memory that LLVM's own code takes: what is mapped of it is let go of while nothing is compiled.

Loading the library brings sixty megabytes of its code into the process, of which a compilation needs half and a program
whose code is made nothing. They are pages of a file, which the system has at hand when they are needed again. Knows the
maps of processes as Linux shows them; elsewhere it does nothing.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys

_DONT_NEED = 4  # of <sys/mman.h>
MAPS = "/proc/self/maps"
_found: dict[str, list[tuple[int, int]]] = {}  # of libraries, which stay where they are


def let_go_of_code(library: str = "libllvmlite") -> None:
    """Have the pages of a library's code leave this process until they are used again."""
    for start, size in _code_of(library):
        _madvise()(start, size, _DONT_NEED)


def code_of(library: str, maps: str) -> list[tuple[int, int]]:
    """Return where the code of a library lies, and how long it is, in the text of a process's maps.

    What may be written to is left out, and what is only read: addresses have been put into that when it was loaded.

    >>> code_of("libx", "10-18 r-xp 0 0:1 5 /lib/libx.so.1\\n18-20 r--p 0 0:1 5 /lib/libx.so.1")
    [(16, 8)]
    """
    found = []
    for line in maps.splitlines():
        span, kind, *rest = line.split(maxsplit=5)
        if kind == "r-xp" and len(rest) == 4 and os.path.basename(rest[3]).startswith(library):
            start, end = (int(part, 16) for part in span.split("-"))
            found.append((start, end - start))
    return found


def _code_of(library: str) -> list[tuple[int, int]]:
    if library not in _found and sys.platform == "linux":
        try:
            with open(MAPS) as maps:
                spans = code_of(library, maps.read())
        except OSError:  # a system without it: nothing is gained there, and nothing lost
            return []
        if not spans:  # not loaded yet
            return []
        _found[library] = spans
    return _found.get(library, [])


@functools.cache
def _madvise() -> ctypes._NamedFuncPointer:
    function = ctypes.CDLL(None).madvise
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return function
