"""Importing a large package in the background while the program imports what it likes.

One thread may import `a.b` while another is in the midst of `a`. Where each then waits for the other, Python lets one
go on with a module that is half there. Libraries do that who look for "jax" in `sys.modules` and `import jax.numpy`. So
a package that nobody of the program's asked for is imported while other imports wait. A fork waits, too, and holds none
of the locks meanwhile that what is being imported may ask for. Knows Python's import system.
"""

from __future__ import annotations

import _imp
import concurrent.futures.thread
import contextlib
import functools
import logging
import os
import threading
import time
from collections.abc import Iterator
from importlib import _bootstrap

from ebbflow.core import forks

PATIENCE = 1.0
"""Seconds that a background thread waits for other imports to end: a program may run for hours within one."""


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Import in the block while imports of other threads wait; on the main thread, and where one lasts, as ever."""
    _have_forks_wait()
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


_LOCKED_AT_FORKS = (logging, concurrent.futures.thread)
"""Whose locks a forking thread takes. What was registered last is done first, so these are registered before us."""


@functools.cache
def _have_forks_wait() -> None:
    """Have who forks take the import lock, which Python takes last, in front of locks that an import may wait for.

    A program hung that forked while jax was imported: it had the lock of `logging` and waited for that of imports.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork, after_in_parent=_behind_fork, after_in_child=_imp.release_lock)


def _before_fork() -> None:
    forks.wait()
    _imp.acquire_lock()


def _behind_fork() -> None:
    _imp.release_lock()
    forks.go_on()
