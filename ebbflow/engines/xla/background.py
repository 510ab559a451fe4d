"""Compiling in the background, while the host already answers; and ending a process that is compiling.

One daemon thread compiles what is asked for, in order. A `Pending` says whether its executable is `ready`; whoever made
it looks at that on every call and goes on without until then. A process must not end under XLA's feet: that aborts it
(tried: exit code 134 each time). So at exit nothing new is begun, and whatever thread is `at_work` is waited for, which
takes as long as one compilation at most.
"""

from __future__ import annotations

import atexit
import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

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


class Pending:
    """An executable being compiled; when it is `ready`, `executable` or `error` is there."""

    __slots__ = ("_done", "error", "executable", "ready")

    def __init__(self) -> None:
        self.ready = False
        self.executable: Any = None
        self.error: Exception | None = None
        self._done = threading.Event()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is ready, at most so long; return whether it is."""
        return self._done.wait(seconds)

    def result(self) -> Any:
        """Wait for the executable and return it; raise what compiling it raised."""
        self._done.wait()
        if self.error is not None:
            raise self.error
        return self.executable

    def _make(self, make: Callable[[], Any]) -> None:
        try:
            self.executable = make()
        except Exception as error:  # whoever looks at the result decides what it means
            self.error = error
        self.ready = True
        self._done.set()


class _Worker:
    """The thread, started when first needed."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, make: Callable[[], Any]) -> Pending:
        pending = Pending()
        self._jobs.put((pending, make))
        with self._lock:
            if self._thread is None or not self._thread.is_alive():  # it does not live on in a forked process
                self._thread = threading.Thread(target=self._work, name="ebbflow-xla-compiler", daemon=True)
                self._thread.start()
        return pending

    def _work(self) -> None:
        while True:
            pending, make = self._jobs.get()
            pending._make(make)


_worker = _Worker()


def in_background(make: Callable[[], Any]) -> Pending:
    """Have `make` called by the compiling thread; return what will hold its result."""
    return _worker.add(make)
