"""Compiling in the background, while the host already answers.

A `Worker` does what it is asked for in order, in a thread of its own that starts with the first job. Compilers must not
be at work when a process takes them down: at its end nothing more is begun, and what is being made is waited for. A
forked process has none of the threads; there, a worker goes on with what was left in its queue when it is next asked.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections import deque
from collections.abc import Callable

from ebbflow.core import garbage

_workers: list[Worker] = []


class Worker:
    """A queue, and the thread that works through it; there for the life of the process."""

    def __init__(self, name: str, when_done: Callable[[], None] | None = None):
        self._name = name
        self._when_done = when_done  # called behind the last job, until there are others
        self._jobs: deque[Callable[[], None]] = deque()
        self._closing = False
        self.begin_again()
        _workers.append(self)

    def begin_again(self) -> None:
        """In a forked process, do without a thread that is not there, and what it held."""
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._busy = False

    def add(self, job: Callable[[], None]) -> None:
        """Have a job done."""
        with self._changed:
            self._jobs.append(job)
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._jobs and not self._closing)
                job = self._jobs.popleft()
                self._busy = True
            self._do(job)
            if self._when_done is not None and not self._jobs:
                self._do(self._when_done)

    def _do(self, job: Callable[[], None]) -> None:
        try:
            with garbage.seldom():
                job()
        except Exception:  # told as a thread's error is, but the thread lives on
            threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), self._thread)))

    def settle(self, timeout: float = 60.0) -> None:
        """Wait until all that was asked for so far is done: for measurements and tests."""
        with self._changed:
            self._changed.wait_for(lambda: not self._jobs and not self._busy, timeout)

    def close(self) -> None:
        """Begin nothing more, and wait for what is being done."""
        with self._changed:
            self._closing = True
            self._changed.wait_for(lambda: not self._busy)


@atexit.register
def _close() -> None:
    for worker in _workers:
        worker.close()


def _begin_again() -> None:
    for worker in _workers:
        worker.begin_again()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
