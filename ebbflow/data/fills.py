"""How caches in memory were filled: an iteration that reads one goes on from a checkpoint with what was in it.

What a cache holds may follow from chance: an order, random numbers. Another process has no cache, so the state of an
iterator says with which seeds each was filled that it has read, and the stages below are gone through once more with
them. A cache below which nothing is left to chance is as good as any other. Knows seeds and streams; knows nothing of
elements.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from ebbflow.data.free_order import ORDERS
from ebbflow.data.random_words import DRAWN, Draws, Runs
from ebbflow.ops.random.philox import Stream
from ebbflow.ops.random.seeds import OWN, iteration

FILLS = "fills"
"""In the streams of an iteration: how the caches that it reads were filled, as `Fills`."""

_APART = 0xD1B54A32D192ED03
"""From the seeds of an iteration to those below one of its caches."""


Recorded = Mapping[int, tuple[tuple[int, int], Mapping[int, Runs]]]
"""By the place of a cache: the seeds below it, and what was drawn of those of stages."""


class Fill:
    """With which seeds a cache is filled."""

    def __init__(self, own: tuple[int, int], draws: Draws):
        self.own, self.draws = own, draws


class Fills:
    """The fills that one iteration reads, by cache; `recorded` are those of one that is done again."""

    def __init__(self, caches: Sequence[Any], own: tuple[int, int], recorded: Recorded | None):
        self._own = own  # seeds of the iteration
        self._places = {id(cache): place for place, cache in enumerate(caches)}
        self._recorded = recorded
        self._read: dict[int, Fill | None] = {}  # those of other iterations, or that a cache was filled by this one
        self._lock = threading.Lock()

    def serves(self, cache: Any) -> bool:
        """Return whether what a full cache holds is what this iteration reads; who does one again is particular."""
        place = self._places.get(id(cache))
        if place is None or cache.fill is None:
            return True
        with self._lock:
            if self._recorded is not None and cache.fill.own != self._seeds(place):
                return False
            self._read.setdefault(place, cache.fill)
            return True

    def begin(self, cache: Any, streams: dict[Any, Any]) -> Fill | None:
        """Return how this iteration fills a cache; None for one that is not a stage of it."""
        place = self._places.get(id(cache))
        if place is None:
            return None
        with self._lock:
            given, around = (self._recorded or {}).get(place), streams.get(DRAWN)
            stages = () if around is None else around.stages
            draws = Draws(stages, around=around) if given is None else Draws(stages, given[1])
            fill = Fill(self._seeds(place), draws)
            if given is not None:
                self._read[place] = fill
            else:
                self._read.setdefault(place, None)
            return fill

    def _seeds(self, place: int) -> tuple[int, int]:
        """Return the seeds below a cache that this iteration fills."""
        given = (self._recorded or {}).get(place)
        return given[0] if given is not None else (self._own[0] ^ _APART * (place + 1) % 2**64, self._own[1])

    def read(self) -> dict[int, Fill]:
        """Return the fills of other iterations that this one reads, by the place of the cache."""
        with self._lock:
            return {place: fill for place, fill in self._read.items() if fill is not None}


class Apart(dict[Any, Any]):
    """The streams of an iteration as some of its stages see them, which have seeds of their own.

    They are those below a cache while they fill it, and those of a dataset that runs beside others.
    """

    def __init__(self, around: dict[Any, Any], own: tuple[int, int], draws: Draws | None = None):
        super().__init__({key: around[key] for key in (DRAWN, FILLS, ORDERS) if key in around})
        self[OWN] = own
        if draws is not None:
            self[DRAWN] = draws
        self._around = around

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return what stands under a key; streams of seeded ops are the iteration's."""
        return self._around.setdefault(key, default) if type(default) is Stream else super().setdefault(key, default)


class Within:
    """Elements or columns that are made apart."""

    __slots__ = ("_made", "_streams")

    def __init__(self, made: Any, streams: Apart):
        self._made, self._streams = made, streams

    def __iter__(self) -> Within:
        return self

    def __next__(self) -> Any:
        around, iteration.streams = iteration.streams, self._streams
        try:
            return next(self._made)
        finally:
            iteration.streams = around

    def take(self, count: int) -> Any:
        """Return the next rows."""
        around, iteration.streams = iteration.streams, self._streams
        try:
            return self._made.take(count)
        finally:
            iteration.streams = around
