"""Threads that nobody waits for when the program ends.

What serves other processes may be waiting for them at any time, so it must not keep its own process alive. Threads are
made when there is work and none is idle, and used again. Knows nothing of the work.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from ebbflow.platform import logging


class DaemonThreads(Executor):
    """As many threads as there is work at once."""

    def __init__(self, name: str):
        self._name = name
        self._numbers = itertools.count()
        self._work: queue.SimpleQueue[tuple[Callable[..., None], tuple[Any, ...]]] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a thread call a function, now."""
        future: Future[Any] = Future()
        self._put(_settle, (future, fn, args, kwargs))
        return future

    def start(self, fn: Callable[..., None], *args: Any) -> None:
        """Have a thread call a function that tells of its errors itself."""
        self._put(fn, args)

    def _put(self, fn: Callable[..., None], args: tuple[Any, ...]) -> None:
        self._work.put((fn, args))
        if not self._idle.acquire(blocking=False):
            threading.Thread(target=self._serve, daemon=True, name=f"{self._name}-{next(self._numbers)}").start()

    def _serve(self) -> None:
        while True:
            fn, args = self._work.get()
            try:
                fn(*args)
            except BaseException:
                logging.exception("a thread that serves other processes")
            del fn, args  # an idle thread keeps nothing alive
            self._idle.release()


def _settle(future: Future[Any], fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
    try:
        future.set_result(fn(*args, **kwargs))
    except BaseException as error:
        future.set_exception(error)


threads = DaemonThreads("ebbflow-cluster")
