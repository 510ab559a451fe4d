"""The line that a shuffle draws from: a ring of places, each with the number of something that is kept elsewhere.

A draw takes a random place of those in line; what stands first in line moves there, and the number that was drawn
stands where the line has left off, for whatever comes in next. A draw sees what the last one left, so NumPy cannot make
many at once: the loop becomes machine code where many are drawn. Knows numbers and random words.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core.loops import I64, loop
from ebbflow.ops.random.philox import Words

MANY = 1 << 14
"""Draws, of all lines together, after which machine code is asked for."""


@loop
def draws(
    ring: I64, since: I64, words: I64, first: int, room: int, span: int, shrinks: int, n: int, drawn: I64, came: I64
) -> int:
    """Draw `n` times of `span` places, from the one that `first` counts to on; the span may shrink as it goes."""
    head = first % room
    for i in range(n):
        place = head + words[i] % (span - shrinks * i)
        if place >= room:
            place -= room
        kept = ring[place]
        ring[place] = ring[head]
        ring[head] = kept
        drawn[i] = kept
        came[i] = since[kept] - first
        since[kept] = first + i
        head += 1
        if head == room:
            head = 0
    return n


class Line:
    """Numbers from 0 to `count`, in line to be drawn."""

    def __init__(self, count: int, words: Words):
        self._words = words
        self._ring: list[int] = list(range(count))
        self._since: list[int] = [-1] * count  # the draw at which each number came in
        self._arrays: tuple[np.ndarray, np.ndarray] | None = None  # the two, once code works on them
        self.first, self.end = 0, count  # places, counted from the beginning: the next to go, and behind the last

    def __len__(self) -> int:
        return self.end - self.first

    def exchange(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw while as many come in; return their numbers, and for each which of those that came in with this call it
        stands for by then: below zero, none."""
        result = self._drawn(count, False)
        self.end += count
        return result

    def draw(self, count: int) -> np.ndarray:
        """Draw while nothing comes in: the line gets shorter."""
        return self._drawn(count, True)[0]

    def _drawn(self, count: int, shrinks: bool) -> tuple[np.ndarray, np.ndarray]:
        first, span, words = self.first, len(self), self._words.take(count)
        self.first += count
        code = draws.code() if _many(count) else None
        if code is None and self._arrays is None:
            return self._in_python(words, first, span, shrinks)
        if self._arrays is None:
            self._arrays = np.array(self._ring, np.int64), np.array(self._since, np.int64)
            self._ring, self._since = [], []
        drawn, came = np.empty(count, np.int64), np.empty(count, np.int64)
        words, room = np.ascontiguousarray(words, np.int64), len(self._arrays[0])
        (code or draws.function)(*self._arrays, words, first, room, span, int(shrinks), count, drawn, came)
        return drawn, came

    def _in_python(self, words: np.ndarray, first: int, span: int, shrinks: bool) -> tuple[np.ndarray, np.ndarray]:
        """Draw as the loop does, from lists: those Python is quickest with."""
        ring, since, room = self._ring, self._since, len(self._ring)
        heads = np.arange(first, first + len(words))
        spans = span - np.arange(len(words)) if shrinks else span
        places = (heads + words % spans) % room
        drawn, came = [], []
        for now, place, head in zip(heads.tolist(), places.tolist(), (heads % room).tolist(), strict=True):
            kept = ring[place]
            ring[place] = ring[head]
            ring[head] = kept
            drawn.append(kept)
            came.append(since[kept])
            since[kept] = now
        return np.array(drawn, np.int64), np.array(came, np.int64) - first


_count = 0


def _many(count: int) -> bool:
    """Count draws; return whether there have been many."""
    global _count
    _count += count
    return _count >= MANY
