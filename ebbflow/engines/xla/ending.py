"""Ending a process that is compiling.

A process must not end under XLA's feet: that aborts it (tried: exit code 134 each time). So at exit nothing new is
begun, and whatever thread is `at_work` is waited for, which takes as long as one compilation at most.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections.abc import Iterator

from ebbflow.engines.xla import library

_changed = threading.Condition()
_workers: set[threading.Thread] = set()
_state = {"closing": False, "registered": False}


class Ending(RuntimeError):  # noqa: N818  (it tells of an end, not of a fault)
    """Raised where something is to be compiled while the process ends."""


def go_on() -> None:
    """Raise where the process has begun to end."""
    if _state["closing"]:
        raise Ending("the process is ending: nothing is compiled any more")


@contextlib.contextmanager
def at_work() -> Iterator[None]:
    """Keep the process from ending while this thread is inside."""
    thread = threading.current_thread()
    with _changed:
        go_on()
        outermost = thread not in _workers
        _workers.add(thread)
    try:
        library.jax()
        if not _state["registered"]:  # what is registered last runs first: before jax takes itself down
            _state["registered"] = True
            atexit.register(_close)
        yield
    finally:
        with _changed:
            if outermost:
                _workers.discard(thread)
            _changed.notify_all()


def _close() -> None:
    """Begin nothing more; wait for the threads that are at work."""
    with _changed:
        _state["closing"] = True
        while any(thread.is_alive() and thread is not threading.current_thread() for thread in _workers):
            _changed.wait()


atexit.register(_close)  # for an end that comes while jax is still being imported
