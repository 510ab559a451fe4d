"""Turns at random numbers: calls that run side by side draw what they would draw one after the other.

A seeded op in a function of elements reads one stream, call after call. Where calls run in threads, a call that comes
to the op waits until those for earlier elements have drawn theirs, or are done; the rest of them goes on side by side.
What has no seed draws from the seeds of the iteration and the number of the element. So an iteration gives the same
however many calls run at once, and a checkpoint goes on with it. Knows streams and numbers; knows nothing of pipes.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.ops.random.philox import Source, Stream
from ebbflow.ops.random.seeds import OWN, iteration, own_seeds

_STEP = 0x9E3779B97F4A7C15
"""From the seeds of one element to those of the next: they lie far from each other."""

_MASK = 2**64 - 1

_MADE = 1 << 40
"""The number of the first stage of those that functions make."""


class Turns:
    """Whose turn it is at each of the ops in the calls of one function over one iteration."""

    def __init__(self, call: Callable[[int, Any], Any], once: frozenset[Any], stage: int = -1):
        self._call, self._once = call, once  # the nodes that each call comes to once
        self._changed = threading.Condition()
        self._done = 0  # all calls for elements below this are over
        self._over: set[int] = set()  # and these
        self._passed: dict[Any, int] = {}  # of a node: the first element that has not drawn there yet
        self._streams: Any = {} if iteration.streams is None else iteration.streams
        if stage < 0:  # known to nobody: those of datasets that a function makes, which start one after the other
            stage = next(self._streams.setdefault("stages", itertools.count())) + _MADE
        self._stage = stage

    def __call__(self, number: int, element: Any) -> Any:
        """Call the function for an element, in a thread that draws in its turn."""
        drawn = _Drawn(self, number)
        around, iteration.streams = iteration.streams, drawn
        try:
            return self._call(number, element)
        finally:
            iteration.streams = around
            drawn.give_back()
            self._end(number)

    def seeds_for(self, number: int) -> tuple[int, int]:
        """Return the seeds for what has none of its own in the call for an element."""
        first, second = own_seeds(self._streams)
        return first ^ self._stage + 1, (second + (number + 1) * _STEP) % 2**64

    def stream(self, node: Any, fresh: Stream) -> Stream:
        """Return the stream that all calls read at a node."""
        stream: Stream = self._streams.setdefault(node, fresh)
        return stream

    def draw(self, node: Any, number: int, stream: Stream, blocks: int) -> Source:
        """Reserve blocks of a stream when it is the turn of an element."""
        with self._changed:
            while self._done < number and self._passed.get(node, 0) < number:
                self._changed.wait()
            source = stream.reserve(blocks)
            if node in self._once:
                self._passed[node] = number + 1
                self._changed.notify_all()
        return source

    def _end(self, number: int) -> None:
        with self._changed:
            self._over.add(number)
            while self._done in self._over:
                self._over.remove(self._done)
                self._done += 1
            self._changed.notify_all()


class _Drawn(dict[Any, Any]):
    """The streams as the call for one element sees them."""

    def __init__(self, turns: Turns, number: int):
        super().__init__({OWN: turns.seeds_for(number)})
        self._turns, self._number = turns, number
        self._lent: list[Any] = []

    def lend(self, seeds: tuple[int, int]) -> np.random.Generator:
        """Return a generator of this thread's, begun with seeds: to make one takes longer than most calls."""
        free = _generators.free
        known = free.pop() if free else np.random.Generator(np.random.SFC64())
        known.bit_generator.state = _state(*seeds)
        self._lent.append(known)
        return known

    def give_back(self) -> None:
        """Have the thread's generators free for its next call."""
        _generators.free += self._lent

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return what stands under a key; a stream is everybody's, and read in turn."""
        if type(default) is Stream:
            return _InTurn(self._turns, self._number, key, self._turns.stream(key, default))
        return super().setdefault(key, default)


class _Generators(threading.local):
    def __init__(self) -> None:
        self.free: list[np.random.Generator] = []


_generators = _Generators()


def _state(first: int, second: int) -> dict[str, Any]:
    """Return the state of an SFC64 that seeds say; neighbours have nothing in common.

    The first number that it gives is the sum of its words: each has both seeds in it, or two stages whose seeds differ
    in one would be apart by the same number in every element.
    """
    words = [_mixed(first ^ _mixed(second)), _mixed(second ^ _mixed(~first & _MASK)), _mixed(first + second & _MASK), 1]
    return {"bit_generator": "SFC64", "state": {"state": np.array(words, np.uint64)}, "has_uint32": 0, "uinteger": 0}


def _mixed(word: int) -> int:
    """Return the word that SplitMix64 makes of a word."""
    word = (word + _STEP) & _MASK
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _MASK
    return word ^ word >> 31


class _InTurn:
    """A stream that a call reads in its turn."""

    __slots__ = ("_node", "_number", "_stream", "_turns")

    def __init__(self, turns: Turns, number: int, node: Any, stream: Stream):
        self._turns, self._number, self._node, self._stream = turns, number, node, stream

    def reserve(self, blocks: int) -> Source:
        """Return where the next blocks begin; nobody else gets them."""
        return self._turns.draw(self._node, self._number, self._stream, blocks)
