"""Stopping what runs: a session that is closed, a run that takes too long.

Whoever may wait or turn for long (a loop, a lock, parts that meet) asks for the `Stop` it has to heed and looks at it
now and then. A session has one for its whole life; a run with a deadline has one of its own, which the session's
reaches too. Who does not ask runs to the end, and costs nothing: nothing is interrupted by force. Knows errors and
threads only.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ebbflow.core import errors, forks

PATIENCE = 0.05
"""Seconds between two looks of those whom nobody can wake."""


class Stop:
    """Whether something has to end, and why."""

    def __init__(self, session: Any = None, seconds: float | None = None, parent: Stop | None = None):
        self.session = session
        ends = [] if seconds is None else [time.monotonic() + seconds]
        if parent is not None and parent._end is not None:
            ends.append(parent._end)
        self._end: float | None = min(ends, default=None)
        self._chain: tuple[Stop, ...] = (self, *(() if parent is None else parent._chain))
        self._sleepers: list[threading.Condition] = []
        self._lock = forks.lock()
        self._children: weakref.WeakSet[Stop] = weakref.WeakSet()
        self.cancelled = False
        self.urgent = self._end is not None  # there is something to look at: a loop reads this once a turn
        if parent is not None:
            with parent._lock:
                parent._children.add(self)
            self.urgent = self.urgent or parent.urgent

    @property
    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self._end is not None and time.monotonic() >= self._end

    @property
    def left(self) -> float:
        """How many seconds there are until the deadline; infinitely many without one."""
        return float("inf") if self._end is None else max(self._end - time.monotonic(), 0.0)

    def cancel(self) -> None:
        """Have everything that heeds this end."""
        self.cancelled = True
        self._make_urgent()
        with self._lock:
            sleepers = list(self._sleepers)
        for condition in sleepers:
            with condition:
                condition.notify_all()

    def _make_urgent(self) -> None:
        """Have loops look, those too that heed a stop which this one reaches."""
        self.urgent = True
        with self._lock:
            children = list(self._children)
        for child in children:
            child._make_urgent()

    def check(self, what: str) -> None:
        """Raise CancelledError, in these words, if it is time to end."""
        if self.late or any(stop.cancelled for stop in self._chain):
            raise errors.CancelledError(None, None, what)

    def wait_for(self, condition: threading.Condition, ready: Callable[[], bool], what: str) -> None:
        """Wait, holding `condition`, until `ready()`; raise CancelledError if it is time to end before."""
        for stop in self._chain:
            with stop._lock:
                stop._sleepers.append(condition)
        try:
            while not ready():
                self.check(what)
                condition.wait(None if self._end is None else self.left)
        finally:
            for stop in self._chain:
                with stop._lock:
                    stop._sleepers.remove(condition)

    def acquire(self, lock: threading.Lock, what: str) -> None:
        """Take a lock that finalisers release, so that nobody can be woken by it."""
        while not lock.acquire(timeout=PATIENCE):
            self.check(what)


NEVER = Stop()
"""What those heed who run for nobody in particular: eager code."""


class _Here(threading.local):
    stop: Stop | None = None


_here = _Here()


def current(session: Any) -> Stop:
    """Return what a part of `session` that runs in this thread has to heed."""
    stop = _here.stop
    return stop if stop is not None and stop.session is session else getattr(session, "stop", NEVER)


def look() -> None:
    """Raise CancelledError if it is time to end: for loops that do not know whom they run for."""
    stop = _here.stop
    if stop is not None:
        stop.check("Loop execution was cancelled.")


def seconds_left() -> float:
    """Return how long what runs in this thread may still take."""
    return NEVER.left if _here.stop is None else _here.stop.left


@contextmanager
def heeding(stop: Stop) -> Iterator[None]:
    """Have what runs inside the block, in this thread, for the stop's session, heed it."""
    before, _here.stop = _here.stop, stop
    try:
        yield
    finally:
        _here.stop = before
