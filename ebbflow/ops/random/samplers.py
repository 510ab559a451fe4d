"""Numbers that are drawn until they are accepted: gamma, Poisson, binomial, normal between bounds; shuffles and
categories.

Each number has blocks of its own to draw from, at fixed places in the stream, so that all of them are drawn at once and
only those refused are drawn again; the order in which a number uses its blocks, and the arithmetic, are those of
TensorFlow on a CPU, and so are the answers. Knows words and arrays, no ops.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.loops import Loop
from ebbflow.ops.parts import in_shares
from ebbflow.ops.random import sampler_loops
from ebbflow.ops.random.distributions import (
    BLOCKS_PER_NUMBER,
    SLAB,
    each,
    fractions,
    log_single,
    normals,
    normals_double,
)
from ebbflow.ops.random.philox import Source

_KINDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "uniform": lambda words: fractions(words, np.float64),
    "normal": normals_double,
}


class Draws:
    """Uniform and normal numbers for many rows at once; a block gives a row two of a kind, the second one first."""

    def __init__(self, source: Source, places: np.ndarray):
        self._source = source
        self._next = places
        self._held = {kind: np.empty((len(places), 2)) for kind in _KINDS}
        self._left = {kind: np.zeros(len(places), np.int8) for kind in _KINDS}

    def take(self, kind: str, rows: np.ndarray) -> np.ndarray:
        """Return the next number of a kind for each of some rows."""
        held, left = self._held[kind], self._left[kind]
        empty = rows[left[rows] == 0]
        if empty.size:
            held[empty] = _KINDS[kind](self._source.words_at(self._next[empty]))
            self._next[empty] += 1
            left[empty] = 2
        left[rows] -= 1
        return held[rows, left[rows]]


@dataclasses.dataclass(frozen=True)
class Sampler:
    """How numbers of one kind are drawn: many at once by arrays, or one by one by code, for parameters it serves."""

    arrays: Callable[..., np.ndarray]
    loop: Loop
    serves: Callable[..., bool]


SHARE = 1 << 10
"""Numbers that a thread draws at a time by machine code."""
WEIGHT = 1 << 6
"""As many elements of simple work is drawing one number by arrays: so much sooner is it worth having code."""


def sampled(
    source: Source,
    count: int,
    sampler: Sampler,
    *parameters: np.ndarray,
    blocks: Any = BLOCKS_PER_NUMBER,
) -> np.ndarray:
    """Return `count` numbers for each entry of the parameters (vectors of one length), a row an entry.

    `blocks` is how far apart the numbers' places in the stream are.
    """
    total = count * parameters[0].size
    code = sampler.loop.worth(total * WEIGHT) if sampler.serves(*parameters) else None
    out = np.empty(total)
    if code is not None:
        _draw(code, source, count, blocks, parameters, out)
        return out.reshape(-1, count)
    for start in range(0, total, SLAB):
        numbers = np.arange(start, min(start + SLAB, total))
        entry = numbers // count
        apart = blocks if isinstance(blocks, int) else blocks[entry]
        out[numbers] = sampler.arrays(Draws(source, numbers * apart), *(p[entry] for p in parameters))
    return out.reshape(-1, count)


def _draw(
    code: Callable[..., Any], source: Source, count: int, blocks: Any, parameters: Sequence[np.ndarray], out: np.ndarray
) -> None:
    apart = np.ascontiguousarray(np.broadcast_to(blocks, parameters[0].shape), np.int64)
    given = [np.ascontiguousarray(p, np.float64) for p in parameters]

    def work(begin: int, end: int) -> None:
        seat, held = np.empty(sampler_loops.SEATS, np.uint64), np.empty(sampler_loops.HELD)
        code(*source.numbers(), begin, end, count, apart, *given, seat, held, out)

    in_shares(work, out.size, SHARE)


# --- gamma ------------------------------------------------------------------------------------------------------------


def _gamma(draws: Draws, alpha: np.ndarray) -> np.ndarray:
    """Return gamma numbers of shape `alpha` and scale 1 (Marsaglia and Tsang; exponential ones where alpha is 1)."""
    out = np.empty(len(alpha))
    exponential = np.flatnonzero(alpha == 1)
    out[exponential] = -each(math.log1p, -draws.take("uniform", exponential))
    less = alpha < 1
    d = alpha + np.where(less, 2.0 / 3, -1.0 / 3)
    c = 1.0 / 3 / np.sqrt(d)
    rows = np.flatnonzero(alpha != 1)
    while rows.size:
        x = draws.take("normal", rows)
        v = 1 + c[rows] * x
        tried, x, v = (a[~(v <= 0)] for a in (rows, x, v))
        v = v * v * v
        u = draws.take("uniform", tried)
        good = u < 1 - 0.0331 * (x * x) * (x * x)
        good |= np.log(u) < 0.5 * x * x + d[tried] * (1 - v + np.log(v))
        found = tried[good]
        out[found] = d[found] * v[good]
        smaller = found[less[found]]
        out[smaller] *= _power(draws.take("uniform", smaller), 1 / alpha[smaller])
        rows = np.setdiff1d(rows, found, assume_unique=True)
    return out


gamma = Sampler(_gamma, sampler_loops.gamma, lambda alpha: bool((alpha > 0).all() and np.isfinite(alpha).all()))


def _power(base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    return each(math.pow, base, exponent) if (exponent >= 0).all() else np.power(base, exponent)


# --- Poisson ----------------------------------------------------------------------------------------------------------


def _poisson(draws: Draws, rate: np.ndarray, highest: np.ndarray) -> np.ndarray:
    """Return Poisson numbers of these rates, each up to its highest."""
    out = np.where(np.isposinf(rate), np.inf, np.nan)
    _poisson_by_product(draws, rate, np.flatnonzero(rate < 10), out)
    _poisson_by_rejection(draws, rate, np.flatnonzero((rate >= 10) & (rate < np.inf)), highest, out)
    return out


poisson = Sampler(_poisson, sampler_loops.poisson, lambda rate, highest: bool(np.isfinite(rate).all()))


def poissons(source: Source, count: int, rate: np.ndarray, highest: float) -> np.ndarray:
    """Return `count` Poisson numbers of each rate, a row a rate, none above `highest`."""
    return sampled(source, count, poisson, rate, np.full(rate.shape, highest, np.float64))


def _poisson_by_product(draws: Draws, rate: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """Count the uniform numbers whose product stays above e**-rate (Knuth)."""
    end = np.exp(-rate)
    product = np.ones(len(rate))
    out[rows] = 0
    while rows.size:
        product[rows] *= draws.take("uniform", rows)
        rows = rows[~(product[rows] <= end[rows])]
        out[rows] += 1


def _poisson_by_rejection(
    draws: Draws, rate: np.ndarray, rows: np.ndarray, highest: np.ndarray, out: np.ndarray
) -> None:
    """Transform a uniform number into nearly the right one and accept it by a second (Hörmann)."""
    log_rate = np.log(rate)
    b = 0.931 + 2.53 * np.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while rows.size:
        u = draws.take("uniform", rows) - 0.5
        v = draws.take("uniform", rows)
        distance = 0.5 - np.abs(u)
        k = np.floor((2 * a[rows] / distance + b[rows]) * u + rate[rows] + 0.43)
        good = (distance >= 0.07) & (v <= 0.9277 - 3.6224 / (b[rows] - 2))
        unsure = np.flatnonzero(~good & ~(k < 0) & ~((distance < 0.013) & (v > distance)) & (k <= highest[rows]))
        row, count = rows[unsure], k[unsure]
        s = np.log(v[unsure] * inverse_alpha[row] / (a[row] / (distance[unsure] * distance[unsure]) + b[row]))
        t = -rate[row] + count * log_rate[row] - each(math.lgamma, count + 1)
        good[unsure] = s <= t
        good &= k <= highest[rows]
        out[rows[good]] = k[good]
        rows = rows[~good]


# --- binomial ---------------------------------------------------------------------------------------------------------


def _binomial(draws: Draws, count: np.ndarray, chance: np.ndarray, often: np.ndarray) -> np.ndarray:
    """Return how often what has this chance (at most a half) happens in `count` tries; `often`: ten times or more."""
    out = np.zeros(len(count))
    _binomial_by_gaps(draws, count, chance, np.flatnonzero((often == 0) & (count > 0) & (chance > 0)), out)
    _binomial_by_rejection(draws, count, chance, np.flatnonzero((often != 0) & (count > 0) & (chance > 0)), out)
    return out


binomial = Sampler(_binomial, sampler_loops.binomial, lambda count, *others: bool(np.isfinite(count).all()))


def _binomial_by_gaps(draws: Draws, count: np.ndarray, chance: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """Add up the gaps between two successes until the tries are used up."""
    tries = np.zeros(len(count))
    scale = np.log1p(-chance)
    while rows.size:
        tries[rows] += np.ceil(np.log(draws.take("uniform", rows)) / scale[rows])
        rows = rows[~(tries[rows] > count[rows])]
        out[rows] += 1


def _binomial_by_rejection(
    draws: Draws, count: np.ndarray, chance: np.ndarray, rows: np.ndarray, out: np.ndarray
) -> None:
    """Transform a uniform number into nearly the right one and accept it by a second (Hörmann)."""
    deviation = np.sqrt(count * chance * (1 - chance))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    while rows.size:
        u = draws.take("uniform", rows)
        v = draws.take("uniform", rows)
        u -= 0.5
        distance = 0.5 - np.abs(u)
        k = np.floor((2 * a[rows] / distance + b[rows]) * u + (count[rows] * chance[rows] + 0.5))
        good = (distance >= 0.07) & (v <= 0.92 - 4.2 / b[rows])
        unsure = np.flatnonzero(~good & ~(k < 0) & ~(k > count[rows]))
        row = rows[unsure]
        alpha = (2.83 + 5.1 / b[row]) * deviation[row]
        v = np.log(v[unsure] * alpha / (a[row] / (distance[unsure] * distance[unsure]) + b[row]))
        good[unsure] = v <= _binomial_bound(k[unsure], count[row], chance[row])
        out[rows[good]] = k[good]
        rows = rows[~good]


def _binomial_bound(k: np.ndarray, count: np.ndarray, chance: np.ndarray) -> np.ndarray:
    odds = chance / (1 - chance)
    m = np.floor((count + 1) * chance)
    return (
        (m + 0.5) * np.log((m + 1) / (odds * (count - m + 1)))
        + (count + 1) * np.log((count - m + 1) / (count - k + 1))
        + (k + 0.5) * np.log(odds * (count - k + 1) / (k + 1))
        + _stirling_tail(m)
        + _stirling_tail(count - m)
        - _stirling_tail(k)
        - _stirling_tail(count - k)
    )


_STIRLING_TAILS = np.array(
    [math.lgamma(k + 1) - (k + 0.5) * math.log(k + 1) + (k + 1) - math.log(2 * math.pi) / 2 for k in range(10)]
)


def _stirling_tail(k: np.ndarray) -> np.ndarray:
    """Return what Stirling's formula leaves of log(k!)."""
    square = (k + 1) * (k + 1)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    return np.where(k <= 9, _STIRLING_TAILS[np.clip(k, 0, 9).astype(np.intp)], series)


# --- normal between bounds --------------------------------------------------------------------------------------------

MAX_TRIES = 1000
"""What is set aside for one number between bounds: a number refused that often would be an error in TensorFlow."""

_NORMAL_FROM = 1.3
"""Where a bound is this many deviations out, plain normal numbers fall between the bounds often enough."""


def between(
    source: Source, count: int, mean: Any, deviation: Any, low: Any, high: Any, dtype: Any
) -> tuple[np.ndarray, int]:
    """Return `count` normal numbers between two bounds, and how many blocks that took."""
    kind = np.dtype(dtype).type
    if (np.isinf(low) and low < 0) or high < mean:  # mirrored, so that the bound that matters is the lower one
        low, high, deviation = high, low, kind(-deviation)
    start, end = kind(kind(low - mean) / deviation), kind(kind(high - mean) / deviation)
    root = np.sqrt(start * start + kind(4))
    cutoff = kind(2) * np.exp(kind(0.5) + (start * (start - root)) / kind(4)) / (start + root)
    far = kind(_NORMAL_FROM)
    if (start < -far and end >= 0) or (end > far and start <= 0):
        accepted = _accepted_normals(start, end, kind)
        step = 1
    elif end - start < cutoff:
        accepted = _accepted_uniforms(start, end, kind)
        step = 2
    else:
        accepted = _accepted_exponentials(start, end, kind)
        step = 1
    found, blocks = _collect(source, count, accepted, step)
    return found * kind(deviation) + kind(mean), blocks


def _collect(source: Source, count: int, accepted: Callable[..., Any], step: int) -> tuple[np.ndarray, int]:
    """Draw `step` blocks at a time until `count` numbers are accepted; what is left of the last is lost."""
    parts, have, blocks = [], 0, 0
    while have < count:
        tries = max(16, (count - have) // 2)
        values, good = accepted(source.words(tries * step, blocks))
        through = np.cumsum(good.sum(axis=1))
        last = int(np.searchsorted(through, count - have))
        used = min(last + 1, tries)
        parts.append(values[:used][good[:used]])
        if not parts[-1].size and blocks > MAX_TRIES:
            raise errors.InternalError(None, None, "TruncatedNormal rejection sampler failed to accept a sample.")
        have += parts[-1].size
        blocks += used * step
    return np.concatenate(parts)[:count] if parts else np.empty(0), blocks


def _accepted_normals(start: Any, end: Any, kind: Any) -> Callable[..., Any]:
    def accepted(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = (normals_double(words) if kind is np.float64 else normals(words)).astype(kind, copy=False)
        return x, (x >= start) & (x <= end)

    return accepted


def _accepted_uniforms(start: Any, end: Any, kind: Any) -> Callable[..., Any]:
    largest = kind(0) if start < 0 else start * start

    def accepted(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u = fractions(words, kind)
        z = u[0::2] * (end - start) + start
        return z, u[1::2] <= np.exp((largest - z * z) / kind(2))

    return accepted


def _accepted_exponentials(start: Any, end: Any, kind: Any) -> Callable[..., Any]:
    alpha = (start + np.sqrt(start * start + kind(4))) / kind(2)

    def accepted(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u = fractions(words, kind)
        z = -_log(u[:, 0::2]) / alpha + start
        x = alpha - z if start < alpha else np.broadcast_to(start - alpha, z.shape)
        return z, (u[:, 1::2] <= np.exp(-x * x / kind(2))) & (z < end)

    return accepted


def _log(u: np.ndarray) -> np.ndarray:
    if u.dtype == np.float64:
        positive = np.where(u > 0, u, 1.0)
        return np.where(u > 0, each(math.log, positive.reshape(-1)).reshape(u.shape), -np.inf)
    wide = np.ascontiguousarray(u, np.float32)
    with np.errstate(all="ignore"):
        return np.where(u > 0, log_single(np.maximum(wide, np.finfo(np.float32).tiny)), np.float32(-np.inf)).astype(
            u.dtype
        )


# --- orders and categories --------------------------------------------------------------------------------------------


def shuffled(words: np.ndarray, size: int) -> list[int]:
    """Return the numbers below `size` in random order, given a word for each but the last (Fisher and Yates)."""
    order = list(range(size))
    ahead = np.arange(size, 1, -1, dtype=np.int64)
    swaps = (words.reshape(-1)[: size - 1] % ahead.astype(np.uint32)).tolist()
    for i, distance in enumerate(swaps):
        j = i + distance
        order[i], order[j] = order[j], order[i]
    return order


def categories(logits: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return for each uniform number of a row which category of the row's unnormalised log-chances it falls into.

    A log-chance that is no finite number never wins; where none is finite, the answer is the number of categories.
    """
    if logits.dtype == np.float32 and logits.flags.c_contiguous and u.flags.c_contiguous:
        code = sampler_loops.categories.worth(logits.size + u.size)
        if code is not None:
            return _categories_by_code(code, logits, u)
    finite = np.isfinite(logits)
    wide = logits.astype(np.float64)
    top = np.max(np.where(finite, wide, -np.inf), axis=1, keepdims=True)
    weight = np.where(finite, np.exp(np.where(finite, wide - np.where(np.isfinite(top), top, 0), 0)), 0)
    ends = np.cumsum(weight, axis=1)
    wanted = u * ends[:, -1:]
    each_row = u.shape[1] * ends.shape[1]
    if each_row > _COMPARED:
        return np.stack([np.searchsorted(e, w, side="right") for e, w in zip(ends, wanted, strict=True)])
    out = np.empty(u.shape, np.int64)
    rows = max(1, _COMPARED // each_row)
    for start in range(0, len(u), rows):
        some = slice(start, start + rows)
        np.sum(ends[some, None, :] <= wanted[some, :, None], axis=2, out=out[some])
    return out


def _categories_by_code(code: Callable[..., Any], logits: np.ndarray, u: np.ndarray) -> np.ndarray:
    (rows, classes), samples = logits.shape, u.shape[1]
    out = np.empty(u.shape, np.int64)

    def work(begin: int, end: int) -> None:
        code(logits, u, begin, end, classes, samples, np.empty(classes), out)

    in_shares(work, rows, max(1, SHARE * 32 // (classes + samples)))
    return out


_COMPARED = 1 << 16
"""As many comparisons of ends with numbers are made at once; a row that needs more is searched through instead."""
