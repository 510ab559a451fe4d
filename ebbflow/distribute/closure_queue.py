"""Steps that wait for a worker, and what became of them.

A step is taken by one worker, and put back when that worker is lost. The first error ends all that wait; whoever asks
next (`schedule`, `join`, `done`) is told, once. Knows nothing of workers.
"""

from __future__ import annotations

import collections
import threading
from typing import Any

from ebbflow.core import errors
from ebbflow.distribute.work import RemoteValue

MOST_WAITING = 256 * 1024
"""How many steps may wait; whoever schedules more waits with them."""


class Closure:
    """A traced function with its arguments, and where its result will be."""

    def __init__(self, function: Any, args: Any, kwargs: Any, output: RemoteValue):
        self.function, self.args, self.kwargs, self.output = function, args, kwargs, output


class ClosureQueue:
    """Steps that wait for a worker."""

    def __init__(self, most: int | None = None):
        self._most = MOST_WAITING if most is None else most
        self._waiting: collections.deque[Closure] = collections.deque()
        self._inflight = 0
        self._error: BaseException | None = None
        self._change = threading.Condition()
        self.stopped = False
        self.failing = False  # an error was met, and what was begun before it has not ended yet

    def put(self, closure: Closure) -> None:
        """Have a step done by some worker."""
        with self._change:
            self._change.wait_for(lambda: len(self._waiting) < self._most or self._error is not None)
            self._raise()
            self._waiting.append(closure)
            self._change.notify_all()

    def take(self, seconds: float) -> Closure | None:
        """Return a step to be done, or None where there is none for that long."""
        with self._change:
            if not self._change.wait_for(lambda: self._waiting or self.stopped, seconds) or self.stopped:
                return None
            self._inflight += 1
            closure = self._waiting.popleft()
            self._change.notify_all()
            return closure

    def finished(self) -> None:
        """A step that was taken is done."""
        with self._change:
            self._inflight -= 1
            self.failing = self.failing and self._inflight > 0
            self._change.notify_all()

    def put_back(self, closure: Closure) -> None:
        """A step that was taken could not be done by that worker: another is to do it."""
        with self._change:
            self._inflight -= 1
            if self._error is not None or self.failing:
                closure.output._set_error(_given_up(self._error))
            else:
                self._waiting.appendleft(closure)
            self.failing = self.failing and self._inflight > 0
            self._change.notify_all()

    def failed(self, error: BaseException) -> None:
        """A step that was taken has failed: nothing that waits is done any more."""
        with self._change:
            self._inflight -= 1
            if self._error is None and not self.failing:  # or it is of one that was cancelled for it
                self._error = error
                self.failing = True
            self.failing = self.failing and self._inflight > 0
            while self._waiting:
                self._waiting.popleft().output._set_error(_given_up(error))
            self._change.notify_all()

    def join(self) -> None:
        """Wait until all is done; raise the error that a step met."""
        with self._change:
            self._change.wait_for(lambda: not self._inflight and (not self._waiting or self._error is not None))
            self._raise()

    def done(self) -> bool:
        """Return whether all is done; raise the error that a step met."""
        with self._change:
            self._raise()
            return not self._waiting and not self._inflight

    def stop(self) -> None:
        """Have workers take nothing any more."""
        with self._change:
            self.stopped = True
            while self._waiting:
                self._waiting.popleft().output._set_error(_given_up(None))
            self._change.notify_all()

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            self._change.wait_for(lambda: not self._inflight)
            raise error


def _given_up(error: Any) -> errors.CancelledError:
    return errors.CancelledError(
        None, None, f"The step was given up, because another had failed: {error}" if error else "The step was given up"
    )
