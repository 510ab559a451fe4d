"""Where the parts of one step meet, when they run in several processes.

A `Step` is the rendezvous of those parts that run in this process. What they send goes to parts beside them, or is
posted on the link to another task; what other tasks send is delivered by whoever reads the links, and may come before
the step itself is started here. `Steps` are those that go on in this process, by number; the number of a step that has
ended is remembered for a while, so that what comes late is dropped. Knows rendezvous keys; knows nothing of gRPC.
"""

from __future__ import annotations

import collections
import itertools
import operator
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from ebbflow.core import errors, stopping
from ebbflow.runtime.rendezvous import Aborted, Rendezvous

REMEMBERED = 4096
"""Ended steps whose numbers are remembered."""

UNCLAIMED_SECONDS = 60.0
"""How long values wait for a step to start that they were sent for."""


class Road(Protocol):
    """What leads to another task: values are posted, and leave when the road is flushed."""

    def post(self, step: int, key: str, value: np.ndarray) -> None: ...

    def flush(self) -> None: ...


@lru_cache(4096)
def _receiver(key: str) -> str:
    """Return the device that a key of a rendezvous names as the receiver."""
    return key.split(";", 3)[2]


_number = operator.itemgetter(0)


class Step(Rendezvous):
    """One step, as far as this process takes part in it."""

    def __init__(self, number: int):
        self.number = number
        self.roads: Mapping[str, Road] = MappingProxyType({})  # by device: how to reach it, where it is not here
        self.stop: stopping.Stop = stopping.NEVER
        self.error: BaseException | None = None
        self.claimed = False  # somebody runs it here
        self.begun = time.monotonic()
        self._values: dict[str, Any] = {}
        self._change = threading.Condition()
        self._posted: set[Road] = set()

    # --- the parts' side ----------------------------------------------------------------------------------------------

    def send(self, key: str, value: Any) -> None:
        road = self.roads.get(_receiver(key))
        if road is None:
            self.deliver({key: value})
        else:
            road.post(self.number, key, value)
            self._posted.add(road)

    def receive(self, key: str) -> Any:
        if key in self._values and self.error is None:  # nobody else takes it
            return self._values.pop(key)
        self.flush()  # whoever sends it may wait for what was posted here
        with self._change:
            if key not in self._values:
                self.stop.wait_for(
                    self._change, lambda: key in self._values or self.error is not None, "Run call was cancelled"
                )
            if self.error is not None:
                raise Aborted
            return self._values.pop(key)

    def flush(self) -> None:
        """Let go what was posted."""
        while self._posted:
            self._posted.pop().flush()

    def abort(self, error: BaseException) -> None:
        with self._change:
            if self.error is None:
                self.error = error
            self._change.notify_all()

    # --- the readers' side --------------------------------------------------------------------------------------------

    def deliver(self, values: Mapping[str, Any]) -> None:
        """Leave values that were sent to parts in this process."""
        with self._change:
            self._values.update(values)
            self._change.notify_all()

    def take(self, key: str) -> Any:
        """Return a value that must be there by now."""
        with self._change:
            if key not in self._values:
                raise errors.InternalError(None, None, f"step {self.number} ended without {key!r}")
            return self._values.pop(key)

    def await_value(self, key: str, stop: stopping.Stop, end: float | None) -> Any:
        """Return a value when it is there: as long as `stop` lets, and until `end` where that is a time."""
        with self._change:
            while key not in self._values:
                if self.error is not None:
                    raise self.error
                if end is not None and time.monotonic() >= end:
                    raise errors.DeadlineExceededError(None, None, f"{key}: nothing came in time")
                if end is None:
                    ready = lambda: key in self._values or self.error is not None
                    stop.wait_for(self._change, ready, "Run call was cancelled")
                else:
                    stop.check("Run call was cancelled")
                    self._change.wait(min(end - time.monotonic(), stopping.PATIENCE))
            return self._values.pop(key)

    def wait(self, done: Callable[[], bool]) -> None:
        """Wait until `done()`, or an error, which is raised."""
        with self._change:
            if not done() and self.error is None:
                self.stop.wait_for(self._change, lambda: done() or self.error is not None, "Run call was cancelled")
            if self.error is not None:
                raise self.error

    def wait_seconds(self, done: Callable[[], bool], seconds: float | None, what: str) -> None:
        """`wait`, for that many seconds at most."""
        with self._change:
            in_time = self._change.wait_for(lambda: done() or self.error is not None, seconds)
        if self.error is not None:
            raise self.error
        if not in_time:
            raise errors.DeadlineExceededError(None, None, f"{what}: no answer within {seconds} seconds")

    def leave(self) -> None:
        """A part is done here: others may still send."""

    def wake(self) -> None:
        """Have those who wait look again."""
        with self._change:
            self._change.notify_all()


class Steps:
    """The steps that go on in this process."""

    def __init__(self) -> None:
        self._steps: dict[int, Step] = {}
        self._ended: collections.OrderedDict[int, None] = collections.OrderedDict()
        self._lock = threading.RLock()  # a graph that is collected meanwhile, in this thread, tells its tasks
        first = random.SystemRandom().getrandbits(40) << 24  # other processes count from elsewhere
        self._numbers = itertools.count(first)

    def begin(self) -> Step:
        """Return a new step, which no other process has."""
        step = Step(next(self._numbers))
        step.claimed = True
        self._steps[step.number] = step
        return step

    def join(self, number: int) -> Step | None:
        """Return a step that another process has begun; None if it has ended here."""
        with self._lock:
            step = self._steps.get(number)
            if step is None and number not in self._ended:
                self._forget_unclaimed()
                step = self._steps[number] = Step(number)
            return step

    def deliver(self, tensors: Iterable[tuple[int, str, Any]]) -> None:
        """Leave values for steps, or drop them where the steps have ended."""
        for number, of_step in itertools.groupby(tensors, _number):
            step = self._steps.get(number) or self.join(number)
            if step is not None:
                step.deliver({key: value for _, key, value in of_step})

    def end(self, step: Step) -> None:
        """Forget a step, and what was left in it."""
        with self._lock:
            self._steps.pop(step.number, None)
            self._ended[step.number] = None
            while len(self._ended) > REMEMBERED:
                self._ended.popitem(last=False)

    def _forget_unclaimed(self) -> None:
        """Drop steps that values came for and nobody started: their client is gone."""
        before = time.monotonic() - UNCLAIMED_SECONDS
        for number, step in list(self._steps.items()):
            if step.begun >= before:
                break  # in the order they came
            if not step.claimed:
                del self._steps[number]
