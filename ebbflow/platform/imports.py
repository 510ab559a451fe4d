"""Importing a large package in the background while the program imports what it likes.

One thread may import `a.b` while another is in the midst of `a`. Where each then waits for the other, Python lets one
go on with a module that is half there. Libraries do that who look for "jax" in `sys.modules` and `import jax.numpy`. So
a package that nobody of the program's asked for is imported while other imports wait. Knows Python's import system.
"""

from __future__ import annotations

import _imp
import contextlib
import threading
import time
from collections.abc import Iterator
from importlib import _bootstrap

PATIENCE = 1.0
"""Seconds that a background thread waits for other imports to end: a program may run for hours within one."""


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Import in the block while imports of other threads wait; on the main thread, and where one lasts, as ever."""
    if threading.current_thread() is threading.main_thread() or not _lock_when_quiet():
        yield
        return
    try:
        yield
    finally:
        _imp.release_lock()


def _lock_when_quiet() -> bool:
    """Take the lock that every import takes at its beginning, at a moment when none is under way."""
    latest = time.monotonic() + PATIENCE
    while True:
        _imp.acquire_lock()
        if not any(lock() is not None for lock in list(vars(_bootstrap)["_module_locks"].values())):
            return True
        _imp.release_lock()
        if time.monotonic() > latest:
            return False
        time.sleep(0.01)
