"""Threads that stop together: `tf.train.Coordinator`, and a thread that does something again and again.

Any thread may ask all to stop, with an error or without; those who belong together look at `should_stop` and end;
`join` waits for them, for a while, and raises the first error that was reported. Knows threads and errors only.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from ebbflow.core import errors, forks
from ebbflow.platform import logging

LOOK = 1.0
"""Seconds between two looks at whether a stop was asked for, while `join` waits for threads."""


class Coordinator:
    """Has threads end together.

    >>> coord = Coordinator()
    >>> counts = []
    >>> def work():
    ...     while not coord.should_stop():
    ...         counts.append(1)
    ...         if len(counts) == 5:
    ...             coord.request_stop()
    >>> thread = threading.Thread(target=work)
    >>> thread.start()
    >>> coord.join([thread])
    >>> len(counts)
    5
    """

    def __init__(self, clean_stop_exception_types: tuple[type[BaseException], ...] | None = None):
        self._clean = tuple(clean_stop_exception_types or (errors.OutOfRangeError,))
        self._lock = forks.lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    # --- asking to stop ----------------------------------------------------------------------------------------------

    def request_stop(self, ex: BaseException | tuple[Any, ...] | None = None) -> None:
        """Ask all threads to stop; `join` raises `ex`, an error or what `sys.exc_info()` gives."""
        with self._lock:
            error = _as_error(ex)
            if self._joined:
                if error is not None:
                    raise error
                return
            if isinstance(error, self._clean):
                error = None
            if self._stop.is_set():
                if error is not None and self._error is not None:
                    logging.info("%s is reported after another error: %s", type(error).__name__, error)
                return
            self._error = error
            if error is not None:
                logging.info("Error reported to Coordinator: %s, %s", type(error), error)
            self._stop.set()

    def clear_stop(self) -> None:
        """Forget that threads were asked to stop, and why."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Return whether threads were asked to stop."""
        return self._stop.is_set()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until threads are asked to stop; return whether they were before `timeout` seconds passed."""
        return self._stop.wait(timeout)

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Ask all to stop with whatever the block raises; nothing goes beyond the block."""
        try:
            yield
        except BaseException:  # also SystemExit and KeyboardInterrupt: `join` raises them where it is called
            self.request_stop(sys.exc_info()[1])

    def raise_requested_exception(self) -> None:
        """Raise the error that threads were asked to stop with, if there was one."""
        with self._lock:
            error = self._error
        if error is not None:
            raise error

    # --- waiting for the end -----------------------------------------------------------------------------------------

    def register_thread(self, thread: threading.Thread) -> None:
        """Have `join` wait for a thread."""
        with self._lock:
            self._registered_threads.add(thread)

    @property
    def joined(self) -> bool:
        """Whether `join` has ended."""
        return self._joined

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait until the threads have ended: for ever, but only so long once they were asked to stop.

        Raises the error that was reported; where there is none and threads still live, RuntimeError with their names.
        """
        with self._lock:
            waited = [*self._registered_threads, *(threads or ())]
        while any(thread.is_alive() for thread in waited) and not self._stop.wait(LOOK):
            pass
        self._wait_at_most(waited, stop_grace_period_secs)
        with self._lock:
            self._joined = True
            self._registered_threads = set()
        self._report(waited, ignore_live_threads)

    def _wait_at_most(self, threads: list[threading.Thread], seconds: float) -> None:
        end = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(end - time.monotonic(), 0))

    def _report(self, threads: list[threading.Thread], ignore: bool) -> None:
        alive = [thread.name for thread in threads if thread.is_alive()]
        if self._error is not None:
            raise self._error
        if alive and ignore:
            logging.info("Coordinator stopped with threads still running: %s", " ".join(alive))
        elif alive:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(alive)}")


def _as_error(ex: Any) -> BaseException | None:
    """Return an error as it is given: itself, or what `sys.exc_info()` gives."""
    if isinstance(ex, tuple):
        kind, error, trace = ex
        if error is not None and isinstance(trace, TracebackType):
            error = error.with_traceback(trace)
        return error if error is not None else (kind() if kind is not None else None)
    if ex is not None and not isinstance(ex, BaseException):
        raise TypeError(f"request_stop takes an error or sys.exc_info(), got {ex!r}")
    return ex


class LooperThread(threading.Thread):
    """A thread that calls a function at intervals until its coordinator stops."""

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Iterable[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
    ):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__(daemon=True)
        self._coord, self._interval = coord, timer_interval_secs
        self._work, self._args, self._kwargs = target, tuple(args or ()), dict(kwargs or {})
        if self._args and target is None:
            raise ValueError("'args' argument requires that you specify a 'target'")
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator, timer_interval_secs: float | None, target: Any, args: Any = None, kwargs: Any = None
    ) -> LooperThread:
        """Start a thread that calls `target` every so many seconds, and return it."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """Call the function until the coordinator stops; what it raises stops the coordinator."""
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._interval is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                next_time = time.monotonic()
                while not self._coord.wait_for_stop(max(next_time - time.monotonic(), 0)):
                    next_time += self._interval
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called once before the first call; for classes of one's own."""

    def stop_loop(self) -> None:
        """Called once after the last call."""

    def run_loop(self) -> None:
        """Called each time: calls the function."""
        if self._work is not None:
            self._work(*self._args, **self._kwargs)
