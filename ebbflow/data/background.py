"""Work ahead in threads: elements made before they are asked for, and calls that run side by side.

A thread knows only the buffer it fills. When whoever takes from the buffer is dropped, the buffer is closed and the
thread ends at its next element. Knows iterators, and that random ops have streams; knows nothing of pipes.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ebbflow.ops.random.seeds import iteration

LONG = 200e-6
"""Seconds from which on a call is worth a thread: handing it over and back takes about 50 µs."""

TRIED = 8
"""Calls that are timed, one after the other, before threads are considered."""


class Buffer:
    """What one thread makes and another takes, in order, a few at a time.

    The usual case takes no lock: appending to a deque and taking from it cannot be interrupted. Each side says that it
    waits before it looks for the last time, so one of the two always sees the other.
    """

    def __init__(self, room: int):
        self.room = room
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


def _join(streams: Any) -> None:
    """Have this thread work for an iteration: random ops read its streams."""
    iteration.streams = streams


def _fill(start: Callable[[], Iterator[Any]], buffer: Buffer, streams: Any) -> None:
    _join(streams)
    try:
        elements = start()
    except BaseException as error:
        buffer.put("error", error)
        buffer.put("end")
        return
    while buffer.wait_for_room():
        try:
            buffer.put("value", next(elements))
        except StopIteration:
            buffer.put("end")
            return
        except BaseException as error:  # for whoever takes it; what comes after may be fine
            buffer.put("error", error)


class Ahead:
    """What an iterator gives, made by a thread of its own up to `room` items ahead."""

    def __init__(self, start: Callable[[], Iterator[Any]], room: int, name: str = "prefetch"):
        self._buffer = Buffer(room)
        self._ended = False
        given = (start, self._buffer, iteration.streams)
        threading.Thread(target=_fill, args=given, name=f"ebbflow-{name}", daemon=True).start()

    def __iter__(self) -> Ahead:
        return self

    def __next__(self) -> Any:
        if self._ended:
            raise StopIteration
        kind, value = self._buffer.take()
        if kind == "value":
            return value
        if kind == "error":
            raise value
        self._ended = True
        raise StopIteration

    def __del__(self) -> None:
        self._buffer.close()


class SideBySide:
    """What a function gives for each element, in order; where a call takes long, several run at once.

    An error ends nothing: the next element is asked for as if it had not been.
    """

    def __init__(self, call: Callable[[Any], Any], elements: Iterator[Any], width: int):
        self._call, self._elements, self._width = call, elements, width
        self._times: list[float] = []
        self._pool: ThreadPoolExecutor | None = None
        self._running: deque[Future[Any]] = deque()

    def __iter__(self) -> SideBySide:
        return self

    def __next__(self) -> Any:
        if self._pool is not None:
            return self._next_of_many()
        element = next(self._elements)
        if len(self._times) >= TRIED:
            return self._call(element)
        began = time.perf_counter()
        try:
            return self._call(element)
        finally:
            self._times.append(time.perf_counter() - began)
            if len(self._times) >= 3 and min(self._times) > LONG:  # a first call always takes long
                self._pool = ThreadPoolExecutor(self._width, "ebbflow-map", _join, (iteration.streams,))

    def _next_of_many(self) -> Any:
        while len(self._running) < self._width:
            element = next(self._elements, None)
            if element is None:
                break
            self._running.append(self._pool.submit(self._call, element))  # type: ignore[union-attr]
        if not self._running:
            self._pool.shutdown(wait=False)  # type: ignore[union-attr]
            raise StopIteration
        return self._running.popleft().result()

    def __del__(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def width_of(asked: int) -> int:
    """Return how many calls may run at once; -1 leaves it to us."""
    return asked if asked > 0 else min(16, os.cpu_count() or 1)
