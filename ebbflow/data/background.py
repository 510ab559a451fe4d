"""Work ahead in threads: elements made before they are asked for, and calls that run side by side.

A thread knows only the buffer it fills. When whoever takes from the buffer is dropped, the buffer is closed and the
thread ends at its next element. A forked process has none of the threads, so there an iterator that has begun is
refused. Knows iterators, and that random ops have streams; knows nothing of pipes.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from ebbflow.core import errors
from ebbflow.data.free_order import Order
from ebbflow.data.going_on import Failed, attempt, told
from ebbflow.data.running import MOST, Bunched, Meter, bunch_of, join, standing

LONG = 200e-6
"""Seconds from which on a call is worth a thread: handing it over and back takes about 50 µs."""

STARTING = 20e-3
"""Seconds that the first item may take without saying anything of the others: it pays for whatever must be prepared."""

LATELY, LONG_ONES = 8, 2
"""A thread begins when so many of the last few items took long: one alone may have been another process's turn."""

TRIED = 8
"""Calls that are timed, one after the other, before threads are considered."""

PIECE, MOST_TOGETHER = 2e-3, 8
"""Seconds of calls that a thread is given at once, and how many calls that may be: each handing over has threads wait
for Python's lock. 200 JPEG files of 0.4 ms on two cores take 65 ms one by one, and 50 ms by fives."""


_generation = 0
"""How many forks this process is away from the first one."""


def _forked() -> None:
    global _generation
    _generation += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _left_behind(what: str) -> errors.OpError:
    return errors.FailedPreconditionError(
        None,
        None,
        f"this iterator was begun before the process was forked, and the threads of its `{what}` are not there: begin "
        "one here, iter(dataset)",
    )


class Buffer:
    """What one thread makes and another takes, in order, a few at a time.

    The usual case takes no lock: appending to a deque and taking from it cannot be interrupted. Each side says that it
    waits before it looks for the last time, so one of the two always sees the other.
    """

    def __init__(self, room: int, came: threading.Event | None = None):
        self.room = room
        self._came = came  # is set with every item, for one who takes from several
        self.items: deque[tuple[str, Any]] = deque()
        self.closed = False
        self._changed = threading.Condition()
        self._waiting = 0

    def wait_for_room(self) -> bool:
        """Wait until one more item may be made; return False when nobody wants any more."""
        if len(self.items) >= self.room:
            self._wait(lambda: len(self.items) < self.room)
        return not self.closed

    def put(self, kind: str, value: Any = None) -> None:
        """Add an item."""
        self.items.append((kind, value))
        if self._came is not None:
            self._came.set()
        self._tell()

    def take(self) -> tuple[str, Any]:
        """Return the next item when there is one."""
        while True:
            try:
                item = self.items.popleft()
            except IndexError:
                self._wait(lambda: bool(self.items))
                continue
            self._tell()
            return item

    def close(self) -> None:
        """Let the other side end."""
        self.closed = True
        self._tell()

    def _wait(self, ready: Callable[[], bool]) -> None:
        with self._changed:
            self._waiting += 1
            while not ready() and not self.closed:
                self._changed.wait()
            self._waiting -= 1

    def _tell(self) -> None:
        if self._waiting:
            with self._changed:
                self._changed.notify_all()


def _fill(elements: Started, buffer: Buffer, work_for: Any) -> None:
    join(work_for)
    while buffer.wait_for_room():
        try:
            bunch = elements.bunch()
            buffer.put("values" if bunch else "end", bunch)
            if not bunch:
                return
        except BaseException as error:  # for whoever takes it; what comes after may be fine
            buffer.put("error", error)


class Started:
    """What an iterator gives that is started when the first item is asked for."""

    def __init__(self, start: Callable[[], Iterator[Any]]):
        self._start = start
        self._elements: Iterator[Any] | None = None

    def bunch(self) -> Sequence[Any]:
        """Return the next item, with those behind it that are there already; none behind the last."""
        if self._elements is None:
            self._elements = iter(())
            self._elements = self._start()
        return bunch_of(self._elements)


class Ahead(Bunched):
    """What an iterator gives, made by a thread of its own up to `room` items ahead.

    Where `most` is larger the room doubles whenever the buffer has been full and then runs empty: it is then too small
    for how unevenly items come, and not for how fast they are made. The thread starts with the first item that is asked
    for or, `when_worth` it, when some behind it have taken long: quick ones are made by whoever asks.
    """

    meter: Meter | None = None

    def __init__(
        self,
        start: Callable[[], Iterator[Any]],
        room: int,
        name: str = "prefetch",
        most: int = 0,
        when_worth: bool = False,
        came: threading.Event | None = None,
    ):
        super().__init__()
        self._buffer = Buffer(room, came)
        self._elements: Started | None = Started(start)  # until a thread has them
        self._ended = False
        self._most, self._was_full = most, False
        self._name, self._work_for = name, standing()
        self._when_worth, self._lately = when_worth, deque[bool](maxlen=LATELY)  # whether items took long
        self._home = _generation  # where the thread is

    def begin(self) -> Ahead:
        """Have the thread start."""
        if self._elements is not None:
            given = (self._elements, self._buffer, self._work_for)
            self._elements, self._home = None, _generation
            threading.Thread(target=_fill, args=given, name=f"ebbflow-{self._name}", daemon=True).start()
        return self

    @property
    def ready(self) -> bool:
        """Whether an item, or the news that none comes, is there: nobody would wait."""
        return self._ended or bool(self._ready or self._buffer.items) or self._home != _generation

    def _make_here(self, elements: Started) -> Sequence[Any]:
        began = time.perf_counter()
        bunch = elements.bunch()
        spent = time.perf_counter() - began
        if spent > LONG:
            first = not self._lately
            self._lately.append(not first)
            if spent > STARTING if first else self._lately.count(True) >= LONG_ONES:
                self.begin()
        else:
            self._lately.append(False)
        return bunch

    def _more(self) -> Sequence[Any]:
        if self._ended:
            return ()
        if self._elements is not None:
            if self._when_worth and self.meter is None:
                return self._make_here(self._elements)
            self.begin()
        if self._home != _generation:
            raise _left_behind(self._name)
        buffer = self._buffer
        if buffer.room < self._most:
            self._make_room(len(buffer.items))
        kind, value = buffer.take() if self.meter is None else self._measured(self.meter)
        if kind == "error":
            raise value
        self._ended = kind == "end"
        return value

    def _make_room(self, waiting: int) -> None:
        if waiting >= self._buffer.room:
            self._was_full = True
        elif not waiting and self._was_full:
            self._buffer.room, self._was_full = min(self._most, 2 * self._buffer.room), False

    def _measured(self, meter: Meter) -> tuple[str, Any]:
        meter.asked += 1
        meter.filled += min(len(self._buffer.items), self._buffer.room)
        meter.room = self._buffer.room
        began = time.perf_counter()
        found = self._buffer.take()
        meter.waited += time.perf_counter() - began
        return found

    def __del__(self) -> None:
        if self._home == _generation:
            self._buffer.close()


class Workers:
    """Threads that do what they are given, first come first served; as many as whoever gives it says.

    They end with the program, whatever they do then.
    """

    def __init__(self, name: str):
        self._work: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._count, self._name, self._work_for = 0, name, standing()

    def resize(self, count: int) -> None:
        """Have so many threads; those that are too many end when they are done with what was given before."""
        while self._count < count:
            given = (self._work, self._work_for)
            name = f"ebbflow-{self._name}_{self._count}"
            threading.Thread(target=_serve, args=given, name=name, daemon=True).start()
            self._count += 1
        while self._count > count:
            self._work.put(None)
            self._count -= 1

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Return what will hold the result of a call."""
        future: Future[Any] = Future()
        self._work.put((future, call))
        return future

    def close(self) -> None:
        """Forget what nobody has begun, and have the threads end."""
        count, self._count = self._count, 0
        with contextlib.suppress(Empty):
            while count:  # what tells threads to end is not taken away by whoever closes again
                count += self._work.get_nowait() is None
        for _ in range(count):
            self._work.put(None)


def _serve(work: SimpleQueue[Any], work_for: Any) -> None:
    join(work_for)
    while (given := work.get()) is not None:
        future, call = given
        try:
            future.set_result(call())
        except BaseException as error:  # for whoever takes the result
            future.set_exception(error)
        del given, future, call  # or they would live until the next


class SideBySide:
    """What a function gives for each element, in order; where a call takes long, several run at once.

    How many is asked for, or found out: `width` -1 tries more as long as that makes a tenth more calls a second, and
    goes back where it does not (functions in Python that never let go of the interpreter). An error ends nothing: the
    next element is asked for as if it had not been. Where the `order` is free none waits for one that takes longer, and
    calls run at once from the first on: it may be that one that the others are waited for by.
    """

    def __init__(
        self,
        call: Callable[[int, Any], Any],
        elements: Iterator[Any],
        width: int,
        end: Callable[[], None] | None = None,
        apart: bool = True,
        order: Order | None = None,
        note: str = "",
    ):
        self._call, self._elements = call, elements
        self._order, self._note = order, note  # what to tell whoever explains
        self._apart = apart  # whether calls may wait for each other, so that each needs a thread of its own
        self._together = 1  # how many calls a thread is given at once
        self._end = end  # called behind the last element, or when nobody wants any more
        self._most = width if width > 0 else MOST
        self._width = self._most if width > 0 else min(2, self._most)
        self._trial = Trial(self._width, self._most) if width <= 0 else None
        self._times: list[float] = []
        self._pool: Workers | None = None
        self._home = _generation
        self._running: deque[Future[Any]] = deque()
        self._done: deque[Any] = deque()  # results that are there, or how they failed
        self._number = -1
        self.meter: Meter | None = None
        if order is not None:
            self._pool = Workers("map")

    def __iter__(self) -> SideBySide:
        return self

    def __next__(self) -> Any:
        if self._pool is not None:
            return self._next_of_many()
        element = next(self._elements, None)
        if element is None:
            self._close()
            raise StopIteration
        self._number += 1
        if len(self._times) >= TRIED:
            return self._call(self._number, element)
        began = time.perf_counter()
        try:
            return self._call(self._number, element)
        finally:
            self._times.append(time.perf_counter() - began)
            if len(self._times) >= 3 and min(self._times) > LONG:  # a first call always takes long
                self._begin_pool()

    def _begin_pool(self) -> None:
        if self._most < 2:
            return
        self._pool, self._home = Workers("map"), _generation
        if not self._apart:
            self._together = max(1, min(MOST_TOGETHER, int(PIECE / min(self._times))))
        if self._trial is not None:
            self._trial.rates[1] = 1 / min(self._times)

    def _next_of_many(self) -> Any:
        if self._home != _generation:
            raise _left_behind("map")
        if not self._done:
            self._hand_over()
            future = self._next_done()
            if future is None:
                self._close()
                raise StopIteration
            self._done.extend(future.result())
            self._hand_over()  # nobody waits for whoever takes these
        if self._trial is not None:
            self._width = self._trial.after_one()
        if self.meter is not None:
            self.meter.room, self.meter.note = self._width, self._note
        found = self._done.popleft()
        if found.__class__ is Failed:
            raise found.error
        return found

    def _next_done(self) -> Future[Any] | None:
        """Return the call whose results come next, None where no more run."""
        place = 0 if self._order is None or not self._order.free else self._first_done(self._order)
        if place >= len(self._running):
            return None
        future = self._running[place]
        del self._running[place]
        if self._order is not None:
            self._order.note(place)
        return future

    def _first_done(self, order: Order) -> int:
        """Return the place, among the calls that run, of one that is done, or of the one that was next before."""
        before = order.again()
        if before is not None:
            self._hand_over(before + 1)
            return before
        if self._running and not self._running[0].done():
            wait(self._running, return_when=FIRST_COMPLETED)
        return next((i for i, future in enumerate(self._running) if future.done()), 0)

    def _hand_over(self, least: int = 0) -> None:
        """Have as many calls run as should, `least` of them in any case."""
        pool: Workers = self._pool  # type: ignore[assignment]
        pool.resize(self._width)
        most = self._width + (1 if self._together > 1 else self._width)  # so that no thread waits for whoever takes
        while len(self._running) < max(most, least):
            elements = list(itertools.islice(told(self._elements), self._together))
            if not elements:
                return
            first = self._number + 1
            self._number += sum(element.__class__ is not Failed for element in elements)
            self._running.append(pool.submit(partial(_in_turn, self._call, first, elements)))

    def _close(self) -> None:
        if self._pool is not None and self._home == _generation:
            self._pool.close()
        if self._end is not None:
            self._end()

    def __del__(self, exiting: Callable[[], bool] = sys.is_finalizing) -> None:
        if not exiting():  # modules are half gone then, and whatever runs ends with the program
            self._close()


def _in_turn(call: Callable[[int, Any], Any], number: int, elements: list[Any]) -> list[Any]:
    """Return what a function gives for elements, or how it failed; knows nothing of who asks, which may be dropped."""
    results = []
    for element in elements:
        if element.__class__ is Failed:  # what is before this could not make it: it has no number
            results.append(element)
            continue
        results.append(attempt(call, number, element))
        number += 1
    return results


class Trial:
    """How many calls should run at once, by measuring: windows of calls, each with twice as many at once."""

    WINDOW = 8

    def __init__(self, width: int, most: int):
        self.width, self._most = width, most
        self.rates: dict[int, float] = {}
        self._count, self._began = 0, time.perf_counter()
        self._done = width >= most and most < 2

    def after_one(self) -> int:
        """Count a result; return how many calls may run at once from here on."""
        if self._done:
            return self.width
        self._count += 1
        if self._count == self.WINDOW:  # the pool has come to its pace
            self._began = time.perf_counter()
        elif self._count == 3 * self.WINDOW:
            self.rates[self.width] = 2 * self.WINDOW / max(1e-9, time.perf_counter() - self._began)
            self._decide()
        return self.width

    def _decide(self) -> None:
        before = max([rate for width, rate in self.rates.items() if width < self.width], default=0.0)
        if self.rates[self.width] > 1.1 * before and self.width < self._most:
            self.width, self._count = min(self._most, 2 * self.width), 0
            return
        self._done = True
        best = max(self.rates.values())
        self.width = min(width for width, rate in self.rates.items() if rate > best / 1.1)


def width_of(asked: int) -> int:
    """Return how many calls may run at once; -1 leaves it to us."""
    return asked if asked > 0 else min(16, os.cpu_count() or 1)
