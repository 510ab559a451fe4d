"""The order in which stages gave their elements, where that was left free: iterators in checkpoints go on with it.

A stage whose order is free gives whichever of those that it has begun is there first. What it gave is noted: for each,
how many that were begun before it were still to come, which is mostly none and takes a byte or less. One who goes on
from a checkpoint has the stage do the same again, and each element comes once, whatever stands behind the stage and
however many calls run at once. Notes are bounded: a stage that has made too many keeps to the order from there on. So
do stages of datasets that are made while an iteration runs: nobody could tell them apart. Knows numbers; knows nothing
of what is begun.
"""

from __future__ import annotations

import itertools
import threading
import zlib
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.ops.random.seeds import iteration

ORDERS = "orders"
"""In the streams of an iteration: the notes of its stages, as `Orders`."""

CHUNK = 1 << 14
"""Notes that are packed together."""

MOST = 1 << 26
"""Bytes of packed notes an iteration may keep."""

MOST_STARTS = 1 << 16
"""How often a stage may start and leave its order free; what is repeated more often keeps to it from there on."""

Packed = list[list[list[bytes] | None]]
"""For each stage, for each time it was started: packed notes, or None where it kept to the order."""


class Mark:
    """Says which stage it is. The stage itself would do, but arrays that hold it are seen by no collector of cycles."""


class Order:
    """The order of a stage that was started once: what was given next, time after time."""

    def __init__(self, free: bool, recorded: Sequence[bytes] = (), kept: Orders | None = None, number: int = -1):
        self._free, self._kept = free, kept
        self.number = number  # of this start among those of all stages of the iteration; -1: it is not known
        self._before: Iterator[int] = itertools.chain.from_iterable(map(_unpacked, recorded))
        self._again = bool(recorded)  # it does again what another did
        self._packed: list[bytes] = []
        self._notes = array("i")
        self._lock = threading.Lock()

    @property
    def free(self) -> bool:
        """Whether what comes next may be whatever is there first, or is what came before."""
        return self._again or (self._free and (self._kept is None or self._kept.size < MOST))

    def again(self) -> int | None:
        """Return what was given at this point before, by one who is done again; None where nobody was that far."""
        if self._again:
            for place in self._before:
                return place
            self._again = False
        return None

    def note(self, place: int) -> None:
        """Keep what was given: how many of those that were begun before it are still to come."""
        if self._kept is None:
            return
        with self._lock:
            self._notes.append(place)
            if len(self._notes) == CHUNK:
                self._packed.append(zlib.compress(self._notes.tobytes()))
                self._kept.size += len(self._packed[-1])
                del self._notes[:]

    def packed(self) -> list[bytes]:
        """Return all that was noted."""
        with self._lock:
            rest = [zlib.compress(self._notes.tobytes())] if self._notes else []
            return self._packed + rest


class Orders:
    """The orders of the stages of one iteration; `again` is one that does what was recorded of another.

    A stage of which nothing was recorded kept to the order, and does so again: it may have been another kind of stage.
    """

    def __init__(self, stages: Sequence[Mark], recorded: Packed | None = None, again: bool = False):
        self._places = {id(stage): place for place, stage in enumerate(stages)}
        self._recorded, self._again = recorded or [[] for _ in stages], again
        self._starts = [0 for _ in stages]
        self._begun: list[dict[int, Order]] = [{} for _ in stages]  # those that are noted, by the number of the start
        self._lock = threading.Lock()
        self.size = 0  # of what is packed

    def begin(self, stage: Mark, free: bool) -> Order:
        """Return the order of a stage that starts."""
        place = self._places.get(id(stage))
        if place is None:
            return Order(False)
        with self._lock:
            start, recorded = self._starts[place], self._recorded[place]
            self._starts[place] += 1
            before = recorded[start] if start < len(recorded) else () if recorded or not self._again else None
            number = place + start * len(self._starts)
            if start >= MOST_STARTS or before is None or not (free or before):
                return Order(False, number=number)
            order = self._begun[place][start] = Order(free, before, self, number)
            return order

    def packed(self) -> Packed:
        """Return all that was noted."""
        with self._lock:
            return [
                [begun[start].packed() if start in begun else None for start in range(max(begun, default=-1) + 1)]
                for begun in self._begun
            ]


def order_of(stage: Mark, free: bool) -> Order:
    """Return the order of a stage that starts here and now; nobody goes on from where no iterator is."""
    orders: Orders | None = (iteration.streams or {}).get(ORDERS)
    return Order(free) if orders is None else orders.begin(stage, free)


# --- as arrays --------------------------------------------------------------------------------------------------------

_IN_ORDER = -1
"""Stands for the number of notes of a stage that kept to the order."""


def to_arrays(packed: Packed) -> list[np.ndarray]:
    """Return notes as two arrays, how much there is of what and the bytes; none where no stage has begun."""
    if not any(packed):
        return []
    counts = [len(packed)]
    for starts in packed:
        counts.append(len(starts))
        for chunks in starts:
            counts += [_IN_ORDER] if chunks is None else [len(chunks), *map(len, chunks)]
    payload = b"".join(chunk for starts in packed for chunks in starts for chunk in chunks or ())
    return [np.array(counts, np.int64), np.frombuffer(payload, np.uint8)]


def from_arrays(arrays: Sequence[Any]) -> Packed | None:
    """Return the notes that arrays say."""
    if not arrays:
        return None
    counts, payload = np.asarray(arrays[0]), np.asarray(arrays[1] if len(arrays) > 1 else (), np.uint8).tobytes()
    numbers, at = iter(counts.reshape(-1).tolist()), 0
    packed: Packed = []
    try:
        for _ in range(next(numbers)):
            packed.append([])
            for _ in range(next(numbers)):
                count = next(numbers)
                if count == _IN_ORDER:
                    packed[-1].append(None)
                    continue
                sizes = list(itertools.islice(numbers, count))
                ends = list(itertools.accumulate(sizes, initial=at))
                packed[-1].append([payload[a:b] for a, b in itertools.pairwise(ends)])
                at = ends[-1]
    except (StopIteration, ValueError):
        at = -1
    if at != len(payload):
        raise ValueError("the orders in an iterator's state are not of the lengths that it says")
    return packed


def _unpacked(chunk: bytes) -> array[int]:
    notes = array("i")
    try:
        data = zlib.decompressobj().decompress(chunk, CHUNK * notes.itemsize)
        notes.frombytes(data)
    except (zlib.error, ValueError) as error:
        raise ValueError(f"the orders in an iterator's state are damaged: {error}") from None
    if any(place < 0 for place in notes):
        raise ValueError("the orders in an iterator's state are damaged: places below zero")
    return notes
