"""How an iteration runs: as planned, element by element, or all in the calling thread; and what is measured meanwhile.

A `Run` belongs to one iteration. Threads that work for the iteration join it, as they join its random streams, so that
whatever they start runs the same way. Knows threads and clocks; knows nothing of pipes beyond their identity.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ebbflow.data.options import Options
from ebbflow.ops.random.seeds import iteration

PLANNED, PLAIN, DEBUG = "planned", "plain", "debug"
"""Column by column where that gives the same; element by element; that, and no threads, and functions as Python."""


class Meter:
    """What one stage did: elements (or blocks of rows) it gave, how long that took, how its buffer was filled."""

    __slots__ = ("asked", "blocks", "elements", "filled", "first", "note", "room", "seconds", "waited")

    def __init__(self) -> None:
        self.elements = self.blocks = self.asked = 0
        self.seconds = self.waited = self.first = 0.0
        self.filled = 0  # of the buffer, summed over all times it was asked
        self.room = 0
        self.note = ""

    @property
    def warm_seconds(self) -> float:
        """The time all but the first took, where that took longer than ten of the others: something was compiled."""
        others = self.seconds - self.first
        return others if self.blocks > 1 and self.first * (self.blocks - 1) > 10 * others else self.seconds

    def forget_waiting(self) -> None:
        """Count anew how often and how long something was waited for."""
        self.asked = self.filled = 0
        self.waited = 0.0

    def add(self, began: float, rows: int = 1) -> None:
        """Count what was given since `began`."""
        spent = time.perf_counter() - began
        if not self.blocks:
            self.first = spent
        self.seconds += spent
        self.elements += rows
        self.blocks += 1


class Run:
    """One iteration: its way of running, and the meters of its stages where somebody wants them."""

    __slots__ = ("in_order", "leaves_out", "meters", "mode", "most", "processes")

    def __init__(
        self, mode: str = PLANNED, measured: bool = False, processes: bool = False, in_order: bool = True, most: int = 0
    ):
        self.mode = mode
        self.in_order = in_order  # elements come in order, also where nothing is said of it
        self.meters: dict[Any, Meter] | None = {} if measured else None
        self.processes = processes  # slow functions in Python may run in processes of their own
        self.most = most  # calls of a function at once, where that is bounded
        self.leaves_out = False  # errors are left out: what cannot be read is not asked for again

    def meter(self, stage: Any) -> Meter | None:
        """Return the meter of a stage, if there are meters."""
        if self.meters is None:
            return None
        return self.meters.setdefault(stage, Meter())

    def leaving_out(self) -> Run:
        """Return the same for stages whose errors are left out."""
        run = self._copy()
        run.leaves_out = True
        return run

    def within(self, most: int) -> Run:
        """Return the same for stages that may make so many calls at once."""
        run = self._copy()
        run.most = most
        return run

    def _copy(self) -> Run:
        run = Run(self.mode, False, self.processes, self.in_order, self.most)
        run.meters, run.leaves_out = self.meters, self.leaves_out
        return run

    def calls(self, asked: int) -> int:
        """Return how many calls may run at once where so many are asked for; -1 leaves it to whoever makes them."""
        if not self.most or (asked < 1 and self.most >= MOST):
            return asked
        return self.most if asked < 1 else min(asked, self.most)


MOST = 16
"""Calls at once at most where their number is found out: more than cores, since calls may wait for disks."""

USUAL = Run()
_OTHERS = {(p, o): Run(processes=p, in_order=o) for p in (False, True) for o in (False, True) if p or not o}


def usual(options: Options | None) -> Run:
    """Return how a dataset with these options is usually run."""
    if options is None:
        return USUAL
    processes, in_order = bool(options.experimental_python_processes), options.deterministic is not False
    most = options.threading.private_threadpool_size or 0
    if most > 0:
        return Run(processes=processes, in_order=in_order, most=most)
    return _OTHERS.get((processes, in_order), USUAL)


class _Current(threading.local):
    run: Run = USUAL


current = _Current()
"""The run that this thread works for."""


def standing() -> tuple[Any, Run]:
    """Return what another thread must know to work for the same iteration."""
    return iteration.streams, current.run


def join(standing: tuple[Any, Run]) -> None:
    """Have this thread work for an iteration: random ops read its streams, stages run as it says."""
    iteration.streams, current.run = standing


def bunch_of(elements: Iterator[Any]) -> Sequence[Any]:
    """Return the next item of an iterator, with those behind it if it gives several at once; none behind the last."""
    bunch = getattr(elements, "bunch", None)
    if bunch is not None:
        return bunch()
    for element in elements:
        return (element,)
    return ()


class Bunched:
    """An iterator whose items come several at a time (`_more`: none behind the last)."""

    __slots__ = ("_ready",)

    def __init__(self) -> None:
        self._ready: deque[Any] = deque()  # those that came with the last one given

    def __iter__(self) -> Bunched:
        return self

    def __next__(self) -> Any:
        if not self._ready:
            self._ready.extend(self._more())
        try:
            return self._ready.popleft()
        except IndexError:
            raise StopIteration from None

    def bunch(self) -> Sequence[Any]:
        """Return the next item, with those behind it that came with it; none behind the last."""
        if not self._ready:
            return self._more()
        bunch, self._ready = self._ready, deque()
        return bunch

    def _more(self) -> Sequence[Any]:
        raise NotImplementedError("who gives items several at a time says where they come from")


class Metered:
    """An iterator whose elements are counted and timed."""

    __slots__ = ("_elements", "_meter")

    def __init__(self, elements: Iterator[Any], meter: Meter):
        self._elements, self._meter = elements, meter

    def __iter__(self) -> Metered:
        return self

    def __next__(self) -> Any:
        began = time.perf_counter()
        element = next(self._elements)
        self._meter.add(began)
        return element


class MeteredColumns:
    """Columns whose blocks are counted and timed."""

    __slots__ = ("_meter", "_take")

    def __init__(self, take: Callable[[int], Any], meter: Meter):
        self._take, self._meter = take, meter

    def take(self, count: int) -> Any:
        """Return the next block."""
        began = time.perf_counter()
        block = self._take(count)
        if block is not None:
            self._meter.add(began, len(block[0]))
        return block
