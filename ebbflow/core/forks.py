"""Forks of a process that has threads: locks are free in the child, and a fork waits while something is compiled.

The threads of the parent are not there in the child, and what they held nobody would let go. Python's own locks of
modules that are just being loaded cannot be freed, so a fork waits for whoever may be loading some (`undivided`).
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any

PATIENCE = 10.0
"""Seconds for which a fork waits at most: who compiles may wait for something that the forking thread holds."""

_locks: weakref.WeakSet[Any] = weakref.WeakSet()
_busy: Counter[int] = Counter()  # threads that must not be forked away from
_changed = threading.Condition()


def lock() -> Any:
    """Return a lock."""
    return _kept(threading.Lock())


def rlock() -> Any:
    """Return a lock that its holder may take again."""
    return _kept(threading.RLock())


def _kept(made: Any) -> Any:
    _locks.add(made)
    return made


@contextlib.contextmanager
def undivided() -> Iterator[None]:
    """Have forks by other threads wait until the block has ended."""
    me = threading.get_ident()
    with _changed:
        _busy[me] += 1
    try:
        yield
    finally:
        with _changed:
            _busy[me] -= 1
            if not _busy[me]:
                del _busy[me]
            _changed.notify_all()


def wait() -> None:
    """Wait until a fork divides nobody from what it does, and have nobody begin until `go_on`."""
    _changed.acquire()
    _changed.wait_for(lambda: not _busy.keys() - {threading.get_ident()}, PATIENCE)


def go_on() -> None:
    """Let others go on in the process that has forked."""
    _changed.release()


def _in_child() -> None:
    global _changed
    _changed = threading.Condition()
    for other in _busy.keys() - {threading.get_ident()}:
        del _busy[other]
    for made in list(_locks):
        made._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=wait, after_in_parent=go_on, after_in_child=_in_child)
