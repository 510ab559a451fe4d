"""From random words to numbers: uniform, normal and truncated normal, to the last bit as TensorFlow on a CPU.

A uniform number is as many random bits as the type's fraction has. A pair of normal numbers is made from a pair of
uniform ones (Box and Muller): the radius from a logarithm, the direction from a sine and a cosine. In single precision
these three are the C library's on Linux, computed here in double precision by the same steps and rounded once, so that
they come out alike on every machine; all 2**23 arguments there can be were compared. Knows words (`philox`) and arrays,
no ops.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import memory
from ebbflow.ops.parts import in_shares
from ebbflow.ops.random import sampler_loops
from ebbflow.ops.random.normal_loops import (
    COSINE_TERMS,
    LOG_ORIGIN,
    LOG_TERMS,
    SINE_TERMS,
    SMALLEST,
    pairs_of_normals,
)
from ebbflow.ops.random.philox import CHUNK, FEW, Source, pairs

_FRACTION_BITS = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}
TRUNCATED_AT = 2
"""A truncated normal number is drawn again unless it is nearer to zero than this."""

_PIECE = 1 << 11
"""Blocks made into numbers at once: the many arrays in between stay in the first cache (1 << 13: twice the time)."""

SLAB = 1 << 16
"""Numbers that may be drawn again are made in slabs of this many: what is left of one is then worth an array."""

BLOCKS_PER_NUMBER = 256
"""What TensorFlow sets aside for each number an op may have to draw again, and so for every number of every op."""


def per_block(dtype: Any) -> int:
    """Return how many numbers a block of four words gives: one a word, or one a pair of words."""
    return 2 if np.dtype(dtype).itemsize == 8 else 4


def filled(source: Source, count: int, dtype: Any, convert: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return `count` numbers, made of consecutive blocks by `convert` (rows of words to rows of numbers)."""
    out = memory.empty((count,), dtype)
    per = per_block(dtype)

    for start, words in source.chunks(-(-count // per)):
        for first in range(0, len(words), _PIECE):
            piece = words[first : first + _PIECE]
            part = out[(start + first) * per :][: len(piece) * per]
            part[:] = convert(piece).reshape(-1)[: part.size]
    return out


# --- uniform ----------------------------------------------------------------------------------------------------------


def uniform(source: Source, count: int, dtype: Any) -> np.ndarray:
    """Return numbers from [0, 1)."""
    if dtype == np.float32 and count > 4 * FEW:
        found = source.fractions(-(-count // 4))
        if found is not None:
            return found.reshape(-1)[:count]
    return filled(source, count, dtype, lambda words: fractions(words, dtype))


def fractions(words: np.ndarray, dtype: Any) -> np.ndarray:
    """Return rows of words as rows of numbers from [0, 1)."""
    dtype = np.dtype(dtype)
    bits = _FRACTION_BITS[dtype.name]
    if bits == 52:
        upper = (words[:, 0::2] & 0xFFFFF).astype(np.uint64) << np.uint64(32)
        return (upper | words[:, 1::2]).astype(dtype) * 2.0**-52
    fraction = (words & np.uint32((1 << bits) - 1)).astype(np.float32)
    fraction *= np.float32(2.0**-bits)
    return fraction.astype(dtype, copy=False)


def uniform_int(source: Source, count: int, low: int, high: int, dtype: Any) -> np.ndarray:
    """Return integers from [low, high): the remainders of random words."""
    dtype = np.dtype(dtype)
    unsigned = np.dtype(f"uint{dtype.itemsize * 8}").type
    mask = (1 << dtype.itemsize * 8) - 1
    span, shift = unsigned((high - low) & mask), unsigned(low & mask)
    return filled(source, count, dtype, lambda words: (_integers(words, dtype) % span + shift).view(dtype))


def full_int(source: Source, count: int, dtype: Any) -> np.ndarray:
    """Return integers of which every bit is random."""
    return filled(source, count, dtype, lambda words: _integers(words, dtype).view(dtype))


def _integers(words: np.ndarray, dtype: Any) -> np.ndarray:
    return pairs(words) if np.dtype(dtype).itemsize == 8 else words


# --- normal -----------------------------------------------------------------------------------------------------------


def normal(source: Source, count: int, dtype: Any) -> np.ndarray:
    """Return numbers of mean 0 and standard deviation 1."""
    code = pairs_of_normals.worth(count) if np.dtype(dtype) == np.float32 else None
    if code is not None and count > 4 * _PIECE:
        return _by_code(source, count, code)
    return filled(source, count, dtype, normals_double if np.dtype(dtype).itemsize == 8 else normals)


def _by_code(source: Source, count: int, code: Callable[..., Any]) -> np.ndarray:
    """Return normal numbers that machine code makes, on all cores: it never waits for Python's lock."""
    blocks = -(-count // 4)
    out = memory.empty((4 * blocks,))

    def fill(begin: int, end: int) -> None:
        code(source.words(end - begin, begin), out[4 * begin : 4 * end], _RECIPROCALS, _LOGARITHMS, 2 * (end - begin))

    in_shares(fill, blocks, CHUNK)
    return out[:count]


def normals(words: np.ndarray) -> np.ndarray:
    """Return rows of words as rows of four normal numbers in single precision."""
    code = pairs_of_normals.worth(words.size)
    if code is not None and words.flags.c_contiguous:
        made = np.empty(words.shape, np.float32)
        code(words, made, _RECIPROCALS, _LOGARITHMS, words.size // 2)
        return made
    fraction = (words & np.uint32(0x7FFFFF)).reshape(-1, 2)
    u = fraction[:, 0].astype(np.float32)
    u *= np.float32(2.0**-23)
    radius = np.sqrt(np.float32(-2) * log_single(np.maximum(u, np.float32(SMALLEST))))
    angle = (fraction[:, 1] * (2 * math.pi * 2.0**-23)).astype(np.float32)
    out = np.empty((len(u), 2), np.float32)
    out[:, 0], out[:, 1] = _sine_and_cosine(angle, radius)
    return out.reshape(-1, 4)


def normals_double(words: np.ndarray) -> np.ndarray:
    """Return rows of words as rows of two normal numbers in double precision.

    NumPy's own logarithm is another than the C library's in the last bit, once in a few hundred times.
    """
    u = fractions(words, np.float64)
    radius = np.sqrt(-2.0 * each(math.log, np.maximum(u[:, 0], SMALLEST)))
    angle = 2 * math.pi * u[:, 1]
    return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], axis=1)


def each(function: Callable[..., float], *arrays: np.ndarray) -> np.ndarray:
    """Return the C library's answer for each element."""
    return np.fromiter(map(function, *(a.tolist() for a in arrays)), np.float64, arrays[0].size)


# The logarithm: x is z * 2**k with z near 1; one of sixteen reciprocals takes z so near to 1 that three terms are
# enough.
_LN2 = math.log(2)
_RECIPROCALS = np.array(
    [float.fromhex(f"0x1.{digits}p{exponent}") for digits, exponent in (
        ("661ec79f8f3be", 0), ("571ed4aaf883d", 0), ("49539f0f010b0", 0), ("3c995b0b80385", 0),
        ("30d190c8864a5", 0), ("25e227b0b8ea0", 0), ("1bb4a4a1a343f", 0), ("12358f08ae5ba", 0),
        ("0953f419900a7", 0), ("0000000000000", 0), ("e608cfd9a47ac", -1), ("ca4b31f026aa0", -1),
        ("b2036576afce6", -1), ("9c2d163a1aa2d", -1), ("886e6037841ed", -1), ("767dcf5534862", -1),
    )]
)  # fmt: skip
_LOGARITHMS = np.array([-math.log(c) for c in _RECIPROCALS])
_LOG_ORIGIN = np.int32(LOG_ORIGIN)


def log_single(x: np.ndarray) -> np.ndarray:
    """Return the logarithms of positive normal numbers in single precision."""
    bits = x.view(np.int32)
    from_origin = bits - _LOG_ORIGIN
    k = from_origin >> 23
    nearest = ((from_origin >> 19) & 15).astype(np.intp)
    r = (bits - (k << 23)).view(np.float32) * _RECIPROCALS.take(nearest)
    r -= 1.0
    square = r * r
    low, middle, high = LOG_TERMS
    tail = middle * r
    tail += low
    tail += high * square
    tail *= square
    r += _LOGARITHMS.take(nearest) + k * _LN2
    return (tail + r).astype(np.float32)


# Sine and cosine: the angle less a number of quarter turns, then a few terms of either series; odd quarters swap the
# two.
_SINE_SIGNS = np.array([1, 1, -1, -1, 1], np.float32)  # by quarter; the fourth is the first again
_COSINE_SIGNS = np.array([1, -1, -1, 1, 1], np.float32)


def _sine_and_cosine(angle: np.ndarray, radius: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sine and cosine of angles from [0, 2 pi], times `radius`, in single precision."""
    x = angle.astype(np.float64)
    quarters = np.rint(x * (2 / math.pi))
    x -= quarters * (math.pi / 2)
    x2 = x * x
    x4 = x2 * x2
    s1, s2, s3 = SINE_TERMS
    sine = ((s3 * x2 + s2) * x4 * x + (x + x * x2 * s1)).astype(np.float32)
    c1, c2, c3, c4 = COSINE_TERMS
    cosine = ((c4 * x2 + c3) * (x4 * x2) + ((1 + c1 * x2) + x4 * c2)).astype(np.float32)
    quarter = quarters.astype(np.intp)
    swapped = (quarter & 1).astype(bool)
    return (
        np.where(swapped, cosine, sine) * (radius * _SINE_SIGNS.take(quarter)),
        np.where(swapped, sine, cosine) * (radius * _COSINE_SIGNS.take(quarter)),
    )


# --- truncated normal -------------------------------------------------------------------------------------------------


def truncated_normal(source: Source, count: int, dtype: Any) -> np.ndarray:
    """Return normal numbers of which those too far out are drawn again.

    The numbers of one block (four, or two in double precision) have blocks of their own to be drawn from.
    """
    dtype = np.dtype(dtype)
    per = per_block(dtype)
    out = np.empty((-(-count // per), per), np.float64 if per == 2 else np.float32)
    code = sampler_loops.truncated_normals.worth(8 * count) if per == 4 else None
    if code is not None:
        _truncate_by_code(code, source, out)
        return out.reshape(-1)[:count].astype(dtype, copy=False)
    for start in range(0, len(out), SLAB):
        _fill_truncated(source, start, out[start : start + SLAB])
    return out.reshape(-1)[:count].astype(dtype, copy=False)


def _truncate_by_code(code: Callable[..., Any], source: Source, out: np.ndarray) -> None:
    def work(begin: int, end: int) -> None:
        seat, four = np.empty(sampler_loops.SEATS, np.uint64), np.empty(4, np.float32)
        code(*source.numbers(), begin, end, BLOCKS_PER_NUMBER, _RECIPROCALS, _LOGARITHMS, seat, four, out)

    in_shares(work, len(out), CHUNK)


def _fill_truncated(source: Source, first: int, out: np.ndarray) -> None:
    """Fill the rows of `out`, the first of which is row number `first`."""
    per = out.shape[1]
    rows, have = np.arange(len(out)), np.zeros(len(out), np.intp)
    block = 0
    while rows.size:
        values = _normals_at(source, (rows + first) * (per * BLOCKS_PER_NUMBER // 4) + block, out.dtype)
        near = np.abs(values) < TRUNCATED_AT
        if not block:  # most rows are done at once
            out[:] = values
            rows = np.flatnonzero(~near.all(axis=1))
            have, values, near = have[rows], values[rows], near[rows]
        place = have[:, None] + np.cumsum(near, axis=1) - 1
        near &= place < per
        out[np.broadcast_to(rows[:, None], near.shape)[near], place[near]] = values[near]
        have += near.sum(axis=1)
        rows, have = rows[have < per], have[have < per]
        block += 1


def _normals_at(source: Source, places: np.ndarray, dtype: Any) -> np.ndarray:
    """Return the normal numbers of single blocks, a row a block."""
    per = per_block(dtype)
    convert = normals_double if per == 2 else normals
    out = np.empty((len(places), per), dtype)
    words = source.words_at(places)
    for start in range(0, len(words), _PIECE):
        out[start : start + _PIECE] = convert(words[start : start + _PIECE])
    return out
