"""Where engines keep compiled code on disk, so that the next process need not compile again.

Each has a folder of its own in `$EBBFLOW_CACHE` (an empty value: nothing is kept), or in `~/.cache/ebbflow`. What lies
there is run as code, so only its owner may write to it.
"""

from __future__ import annotations

import contextlib
import os
import pathlib


def folder(engine: str) -> pathlib.Path | None:
    """Return where an engine keeps its code, made where it was not there; None where none is kept."""
    chosen = os.environ.get("EBBFLOW_CACHE")
    if chosen == "":
        return None
    try:
        found = (pathlib.Path(chosen) if chosen else pathlib.Path.home() / ".cache" / "ebbflow") / engine
        found.mkdir(parents=True, exist_ok=True, mode=0o700)
        facts = found.stat()
    except (OSError, RuntimeError):  # no home, no room, no right to write: compile every time
        return None
    if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & 0o022):
        return None  # somebody else could put code there
    return found


def shrink(place: pathlib.Path, most: int) -> None:
    """Delete files, those used longest ago first, until the rest have at most that many bytes."""
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
