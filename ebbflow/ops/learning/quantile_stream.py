"""Quantiles of numbers that come batch by batch, in little memory and with a bound on the error.

A summary is a matrix of float32, a row for each value in increasing order: value, weight, and the least and greatest
rank that it may have. Two summaries merge into one; a long one is thinned so that no rank is off by more than a part
`epsilon` of the whole. A stream keeps summaries of blocks in levels, each of twice as many blocks as the one below.
Knows arrays only.
"""

from __future__ import annotations

import math

import numpy as np

from ebbflow.core import forks
from ebbflow.ops.sizes import invalid

VALUE, WEIGHT, LEAST, GREATEST = range(4)
EMPTY = np.zeros((0, 4), np.float32)


def summary_of(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the summary of numbers with weights: exact, a row for each number that differs."""
    known, place = np.unique(values, return_inverse=True)
    total = np.zeros(len(known), np.float32)
    np.add.at(total, place.reshape(-1), weights)
    ends = np.cumsum(total, dtype=np.float32)
    starts = np.concatenate([np.zeros(1, np.float32), ends[:-1]])[: len(known)]
    return np.stack([known.astype(np.float32), total, starts, ends], 1)


def merged(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the summary of what two summaries are of."""
    if not len(a) or not len(b):
        return a if len(a) else b
    in_both = np.isin(b[:, VALUE], a[:, VALUE])
    rows = np.concatenate([_moved(a, b), _moved(b, a)[~in_both]])
    return rows[np.argsort(rows[:, VALUE], kind="stable")]


def _moved(mine: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return rows with the ranks that they have among the others too."""
    at = np.searchsorted(others[:, VALUE], mine[:, VALUE], side="left")
    below = np.concatenate([np.zeros(1, np.float32), others[:, LEAST] + others[:, WEIGHT]])
    above = np.concatenate([others[:, GREATEST] - others[:, WEIGHT], others[-1:, GREATEST]])
    rows = mine.copy()
    rows[:, LEAST] += below[at]
    rows[:, GREATEST] += above[at]
    same = np.flatnonzero(others[np.minimum(at, len(others) - 1), VALUE] == mine[:, VALUE])
    rows[same, WEIGHT:] = mine[same, WEIGHT:] + others[at[same], WEIGHT:]
    return rows


def thinned(rows: np.ndarray, size: int, epsilon: float = 0.0) -> np.ndarray:
    """Return about `size` of the rows, first and last among them, or fewer where `epsilon` allows wider gaps."""
    size = max(size, 2)
    count = len(rows)
    if count <= size:
        return rows
    widest = float(rows[-1, GREATEST]) * max(1.0 / size, epsilon)
    ends, starts = rows[:, GREATEST] - rows[:, WEIGHT], rows[:, LEAST] + rows[:, WEIGHT]
    kept, debt, at = [0], 0, 0
    while at + 1 < count:
        after = at + 1
        while after < count and debt < count and float(ends[after] - starts[at]) <= widest:  # not as float32
            debt += size
            after += 1
        at = at + 1 if after - 1 == at else after - 1
        kept.append(at)
        debt -= count
    return rows[kept]


def error_of(rows: np.ndarray) -> float:
    """Return by how much of the whole a rank may be off."""
    if len(rows) < 2:
        return 0.0
    own = rows[1:, GREATEST] - rows[1:, LEAST] - rows[1:, WEIGHT]
    gaps = (rows[1:, GREATEST] - rows[1:, WEIGHT]) - (rows[:-1, LEAST] + rows[:-1, WEIGHT])
    return float(max(np.maximum(own, gaps).max(), np.float32(0))) / float(rows[-1, GREATEST])


def boundaries_of(rows: np.ndarray, count: int) -> np.ndarray:
    """Return about `count` of the values, between which lie about equal parts of the whole."""
    if not len(rows):
        return np.zeros(0, np.float32)
    epsilon = float(np.float32(error_of(rows) + 1.0 / count))
    return thinned(rows, count, epsilon)[:, VALUE]


def quantiles_of(rows: np.ndarray, count: int) -> np.ndarray:
    """Return the values at `count` equal steps of rank, beginning and end among them."""
    if not len(rows):
        return np.zeros(0, np.float32)
    steps = max(count - 1, 2)
    middle = rows[:, LEAST] + rows[:, GREATEST]
    ends, starts = rows[:, GREATEST] - rows[:, WEIGHT], rows[:, LEAST] + rows[:, WEIGHT]
    chosen, at = [], 0
    for step in range(steps + 1):
        twice = np.float32(2) * (np.float32(step) * rows[-1, GREATEST] / np.float32(steps))
        while at + 1 < len(rows) and twice >= middle[at + 1]:
            at += 1
        after = at + 1
        takes_next = after < len(rows) and not twice < starts[at] + ends[after]
        chosen.append(rows[after if takes_next else at, VALUE])
    return np.array(chosen, np.float32)


class Stream:
    """Summaries of what came so far."""

    def __init__(self, epsilon: float, max_elements: int):
        self.epsilon = epsilon
        self._block = _block_size(epsilon, max_elements)
        self._room = min(self._block << 1, max_elements)
        self._levels: list[np.ndarray] = []

    def push(self, values: np.ndarray, weights: np.ndarray) -> None:
        """Take numbers with weights; those of no weight do not count."""
        counts = weights > 0
        values, weights = values[counts], weights[counts]
        for start in range(0, len(values), self._room):
            some = slice(start, start + self._room)
            self.push_summary(summary_of(values[some], weights[some]))

    def push_summary(self, rows: np.ndarray) -> None:
        """Take a summary."""
        rows = thinned(rows, self._block, self.epsilon)
        level = 0
        while len(rows):
            if len(self._levels) == level:
                self._levels.append(EMPTY)
            known, self._levels[level] = self._levels[level], EMPTY
            rows = merged(rows, known)
            if not len(known) or len(rows) <= self._block + 1:
                self._levels[level] = rows
                return
            rows = thinned(rows, self._block, self.epsilon)
            level += 1

    def summary(self) -> np.ndarray:
        """Return the summary of everything."""
        rows = EMPTY
        for known in self._levels:
            rows = merged(rows, known)
        return rows


def _block_size(epsilon: float, max_elements: int) -> int:
    if epsilon <= np.finfo(np.float64).eps:
        return max(max_elements, 2)
    levels, block = 1, 2
    while (block << levels) < max_elements:
        block = math.ceil(levels / epsilon) + 1
        levels += 1
    return max(block, 2)


class Streams:
    """Several streams and the boundaries that were made of them: the resource of a session."""

    def __init__(self) -> None:
        self.lock = forks.rlock()
        self.ready = False
        self.streams: list[Stream] = []
        self.boundaries: list[np.ndarray] = []

    def fill(self, epsilon: float, count: int, max_elements: int) -> None:
        """Begin `count` streams."""
        if not 0 < epsilon < 1:
            raise invalid(f"epsilon = {epsilon} is not between 0 and 1. An epsilon value of zero is not allowed.")
        if max_elements < 1:
            raise invalid(f"max_elements = {max_elements} must be positive")
        with self.lock:
            self._epsilon, self._max_elements = epsilon, max_elements
            self.boundaries = [np.zeros(0, np.float32) for _ in range(count)]
            self.ready = True
            self.restart()

    def restart(self) -> None:
        """Begin anew, with the boundaries as they are."""
        self.streams = [Stream(self._epsilon, self._max_elements) for _ in self.boundaries]
