"""Philox 4x32-10: random bits as a function of a key and a counter, and the streams that seeded ops read them from.

The generator turns a 64-bit key and a 128-bit counter into a block of four 32-bit words; the next block is the counter
plus one. Nothing is carried from block to block, so any part of a stream can be computed alone and all at once, which
is what NumPy needs. A `Stream` only counts which blocks are taken. Knows words and counters; what numbers are made of
them is in `distributions`.

    Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ebbflow.core import forks
from ebbflow.core.offers import quicker

CHUNK = 1 << 13
"""Blocks computed at once: few enough that what a round reads and writes (256 KB) stays in the cache."""

FEW = 8
"""Up to this many blocks plain Python is quicker than the fifty array operations (4 µs a block against 40 µs)."""

_M32, _M64, _M128 = (1 << 32) - 1, (1 << 64) - 1, (1 << 128) - 1
_FACTORS = 0xD2511F53, 0xCD9E8D57
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
_MULTIPLY = np.array(_FACTORS, np.uint64).reshape(2, 1)
_HALF = np.uint64(32)
_LOWER, _UPPER = (0, 1) if sys.byteorder == "little" else (1, 0)


class Source(NamedTuple):
    """A place in the sequence of blocks of one key."""

    key: int
    counter: int

    def words(self, count: int, skip: int = 0) -> np.ndarray:
        """Return `count` blocks from here on, after skipping some, as rows of four words."""
        start = (self.counter + skip) & _M128
        if count <= FEW:
            return _few(self.key, start, count)
        low, high = start & _M64, start >> 64
        if low + count > _M64:
            return self.words_at(np.arange(skip, skip + count, dtype=np.uint64))
        found = quicker(WORDS, self.key, low, high, count)
        return found if found is not None else _many(self.key, np.arange(low, low + count, dtype=np.uint64), high)

    def fractions(self, count: int) -> np.ndarray | None:
        """Return the float32 from [0, 1) that `count` blocks from here on stand for, by machine code if it is there."""
        low, high = self.counter & _M64, self.counter >> 64
        return None if low + count > _M64 else quicker(FRACTIONS, self.key, low, high, count)

    def words_at(self, offsets: np.ndarray) -> np.ndarray:
        """Return the blocks that stand at `offsets` from here, as rows of four words."""
        if len(offsets) > CHUNK:
            return np.concatenate([self.words_at(offsets[i : i + CHUNK]) for i in range(0, len(offsets), CHUNK)])
        low = np.uint64(self.counter & _M64)
        places = offsets.astype(np.uint64) + low
        high = self.counter >> 64
        carried = places < low
        if carried.any():
            return _many(self.key, places, np.where(carried, np.uint64((high + 1) & _M64), np.uint64(high)))
        return _many(self.key, places, high)

    def numbers(self) -> tuple[int, int, int]:
        """Return the key, and the lower and the upper half of the counter."""
        return self.key, self.counter & _M64, self.counter >> 64

    def chunks(self, count: int) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the first `count` blocks in pieces that fit the cache, each with the number of its first block."""
        for start in range(0, count, CHUNK):
            yield start, self.words(min(CHUNK, count - start), start)


WORDS = "random words"
"""Asked of engines: `count` blocks of a key from a counter on (its lower and its upper half), as rows of four words."""


FRACTIONS = "random fractions"
"""Asked of engines: as above, but as float32 from [0, 1)."""


class Stream:
    """The blocks one seeded op reads, run after run; threads never get the same block."""

    __slots__ = ("_counter", "_key", "_lock")

    def __init__(self, seed: int, seed2: int):
        self._key = seed & _M64
        self._counter = (seed2 & _M64) << 64
        self._lock = forks.lock()

    def reserve(self, blocks: int) -> Source:
        """Return where the next `blocks` blocks begin; nobody else gets them."""
        with self._lock:
            source = Source(self._key, self._counter)
            self._counter = (self._counter + blocks) & _M128
        return source


def scramble(seed: int, seed2: int) -> Source:
    """Return where the numbers of a stateless op begin, given its two seeds (any 64-bit integers)."""
    counter = (seed & _M64) | (seed2 & _M64) << 64
    a, b, c, d = _block(_key_pairs(0x02461E293EC8F720), counter)
    return Source(a | b << 32, (c | d << 32) << 64)


def pairs(words: np.ndarray) -> np.ndarray:
    """Return words as 64-bit numbers, two a row, the first word of each being its lower half."""
    return words[:, 0::2].astype(np.uint64) | words[:, 1::2].astype(np.uint64) << _HALF


# Ten times over, the halves of two products are crossed with the other words and the round's key. Each product goes in
# one 64-bit lane as (word << 32 | next word), which makes a round five array operations.


def _many(key: int, low: np.ndarray, high: int | np.ndarray) -> np.ndarray:
    lanes = np.empty((2, low.size), np.uint64)
    lanes[0] = low << _HALF | low >> _HALF
    lanes[1] = (high & _M32) << 32 | high >> 32 if isinstance(high, int) else high << _HALF | high >> _HALF
    products = np.empty_like(lanes)
    for round_key in _round_keys(key):
        np.right_shift(lanes, _HALF, products)
        np.multiply(products, _MULTIPLY, products)
        np.left_shift(lanes, _HALF, lanes)
        np.bitwise_xor(lanes, round_key, lanes)
        np.bitwise_xor(lanes, products[::-1], lanes)
    halves = lanes.view(np.uint32)  # copied as they lie in memory: six times quicker than by shifts and casts
    words = np.empty((low.size, 4), np.uint32)
    words[:, 0], words[:, 1] = halves[0, _UPPER::2], halves[0, _LOWER::2]
    words[:, 2], words[:, 3] = halves[1, _UPPER::2], halves[1, _LOWER::2]
    return words


@functools.lru_cache(maxsize=256)
def _round_keys(key: int) -> np.ndarray:
    """Return the keys of all rounds, as they stand in the upper halves of the two lanes."""
    return np.array([[(k << 32,) for k in pair] for pair in _key_pairs(key)], np.uint64)


@functools.lru_cache(maxsize=256)
def _key_pairs(key: int) -> tuple[tuple[int, int], ...]:  # a list would count as left behind by who drew last
    first, second = key & _M32, key >> 32
    return tuple(((first + i * _KEY_STEPS[0]) & _M32, (second + i * _KEY_STEPS[1]) & _M32) for i in range(_ROUNDS))


def _few(key: int, counter: int, count: int) -> np.ndarray:
    pairs = _key_pairs(key)
    rows = [_block(pairs, place) for place in range(counter, counter + count)]
    return np.array(rows, np.uint32).reshape(count, 4)


def _block(pairs: tuple[tuple[int, int], ...], place: int) -> tuple[int, int, int, int]:
    a, b, c, d = place & _M32, place >> 32 & _M32, place >> 64 & _M32, place >> 96 & _M32
    for first, second in pairs:
        p, q = a * _FACTORS[0], c * _FACTORS[1]
        a, b, c, d = q >> 32 ^ b ^ first, q & _M32, p >> 32 ^ d ^ second, p & _M32
    return a, b, c, d


WORD_BLOCKS = 64
"""Blocks that `words_of` computes at once, after the first few."""


def words_of(seed: int, seed2: int, at: int = 0) -> Iterator[int]:
    """Yield the 32-bit words of the stream that two seeds name, without end, from a block of four on."""
    source = Source(seed & _M64, (seed2 & _M64) << 64)
    yield from source.words(4, at).reshape(-1).tolist()
    at += 4
    while True:
        yield from source.words(WORD_BLOCKS, at).reshape(-1).tolist()
        at += WORD_BLOCKS


class Words:
    """The stream of `words_of` by the block."""

    __slots__ = ("_at", "_held", "_source")

    def __init__(self, seed: int, seed2: int):
        self._source = Source(seed & _M64, (seed2 & _M64) << 64)
        self._at = 0
        self._held = np.empty(0, np.int64)

    def take(self, count: int) -> np.ndarray:
        """Return the next `count` words, as numbers that can be reckoned with."""
        missing = count - len(self._held)
        if missing > 0:
            blocks = max(-(-missing // 4), min(CHUNK, max(FEW, 2 * self._at)))
            fresh = [words.reshape(-1) for words in self._chunks(blocks)]
            self._held = np.concatenate([self._held, *fresh]).astype(np.int64)
        taken, self._held = self._held[:count], self._held[count:]
        return taken

    def _chunks(self, blocks: int) -> Iterator[np.ndarray]:
        for start in range(0, blocks, CHUNK):
            yield self._source.words(min(CHUNK, blocks - start), self._at + start)
        self._at += blocks
