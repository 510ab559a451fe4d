"""Compiled code on disk, so that the next process need not compile again: jax's cache, in a folder of ours.

The folder is `xla` in `$EBBFLOW_CACHE` (an empty value switches it off), or `~/.cache/ebbflow/xla`; it is kept below
`MOST_BYTES` by dropping what was used longest ago. What lies in it is run as code, so only its owner may write there. A
program that has set up jax's cache itself keeps its own.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
from typing import Any

from ebbflow.engines.xla import library

MOST_BYTES = 1 << 29
SLOW = 0.2
"""Seconds of compiling from which on code is kept."""


def folder() -> pathlib.Path | None:
    """Return where compiled code is kept, made where it was not there; None where none is kept."""
    chosen = os.environ.get("EBBFLOW_CACHE")
    if chosen == "":
        return None
    try:
        found = (pathlib.Path(chosen) if chosen else pathlib.Path.home() / ".cache" / "ebbflow") / "xla"
        found.mkdir(parents=True, exist_ok=True, mode=0o700)
        facts = found.stat()
    except (OSError, RuntimeError):  # no home, no room, no right to write: compile every time
        return None
    if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & 0o022):
        return None  # somebody else could put code there
    return found


@functools.cache
def use() -> pathlib.Path | None:
    """Have jax keep compiled code in our folder, unless the program has chosen one; return the folder in use."""
    config: Any = library.jax().config
    if config.jax_compilation_cache_dir is not None:
        return pathlib.Path(config.jax_compilation_cache_dir)
    found = folder()
    if found is None:
        return None
    shrink(found, MOST_BYTES)
    config.update("jax_compilation_cache_dir", str(found))
    config.update("jax_persistent_cache_min_compile_time_secs", SLOW)
    return found


def shrink(place: pathlib.Path, most: int) -> None:
    """Delete files, those used longest ago first, until the rest have at most so many bytes."""
    with contextlib.suppress(OSError):  # another process may be at it too
        files = [
            (max(s.st_atime, s.st_mtime), s.st_size, f) for f in place.iterdir() if (s := f.stat()) and f.is_file()
        ]
        total = sum(size for _, size, _ in files)
        for _, size, file in sorted(files):
            if total <= most:
                return
            total -= size
            file.unlink(missing_ok=True)
