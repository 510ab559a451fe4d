"""Machine code on disk: object files, named by all that they were made of.

A file begins with a digest of its name and what is in it. One that is cut short, or another's, does not count, and is
written again. Knows files and bytes; knows nothing of LLVM.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import tempfile

from ebbflow.engines import code_cache

MOST_BYTES = 1 << 28

_HEAD = b"ebbflow native code\n"
_unwatched = 0
"""At most this many bytes are written before the folder is looked at again."""


def recall(name: str) -> bytes | None:
    """Return what was kept under a name."""
    place = code_cache.folder("native")
    if place is None:
        return None
    try:
        found = (place / name).read_bytes()
        code = found[len(_HEAD) + 32 :]
        if found[: len(_HEAD) + 32] != _head(name, code):
            return None
        os.utime(place / name)  # what is used stays longest
    except OSError:
        return None
    return code


def keep(name: str, code: bytes) -> None:
    """Keep code under a name, if there is a place for it."""
    global _unwatched
    place = code_cache.folder("native")
    if place is None:
        return
    with contextlib.suppress(OSError):
        _write(place, name, _head(name, code) + code)
    _unwatched -= len(code)
    if _unwatched < 0:
        code_cache.shrink(place, MOST_BYTES)
        _unwatched = MOST_BYTES // 8


def _head(name: str, code: bytes) -> bytes:
    return _HEAD + hashlib.sha256(name.encode() + code).digest()


def _write(place: pathlib.Path, name: str, data: bytes) -> None:
    """Write a file that is there whole or not at all."""
    number, made = tempfile.mkstemp(dir=place)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        os.replace(made, place / name)
    except OSError:
        os.unlink(made)
        raise
