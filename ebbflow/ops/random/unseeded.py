"""Unseeded randomness: what random ops give that have no seed.

NumPy's quickest generator, one a thread, started from what the operating system offers; inside an iteration over a
dataset one that the iteration's seeds start, so that a checkpoint can go on with it. The functions stand beside
those of `distributions` and `samplers` and give numbers of the same kinds, only not TensorFlow's own. Knows arrays, no
ops.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

from ebbflow.ops.random.distributions import TRUNCATED_AT
from ebbflow.ops.random.philox import Stream
from ebbflow.ops.random.seeds import iteration, own_seeds

_LARGE = 1e15
"""Rates from here on are too large for NumPy's Poisson sampler; a normal number is as good."""


class _Generators(threading.local):
    def __init__(self) -> None:
        self.here = np.random.Generator(np.random.SFC64())


_generators = _Generators()
_process: tuple[int, ...] = ()  # which of several forked processes this is


def generator() -> np.random.Generator:
    """Return this thread's generator, or that of the iteration it works for."""
    streams = iteration.streams
    if streams is None:
        return _generators.here
    known = streams.get(_process)
    if known is None:
        lend = None if _process else getattr(streams, "lend", None)
        known = streams.setdefault(_process, (lend or _begun)(own_seeds(streams)))
    return known


def _begun(seeds: tuple[int, int]) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64([*[n % 2**64 for n in seeds], *_process]))


def _restart() -> None:
    """Begin anew in a forked process, which must not repeat its parent's numbers."""
    global _generators, _process
    _generators, _process = _Generators(), (os.getpid(),)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restart)


def uniform(count: int, dtype: Any) -> np.ndarray:
    """Return numbers from [0, 1)."""
    dtype = np.dtype(dtype)
    if dtype.itemsize != 2:
        return generator().random(count, dtype=dtype)
    bits = 10 if dtype == np.float16 else 7
    return (generator().integers(0, 1 << bits, count, np.uint16) * np.float32(2.0**-bits)).astype(dtype)


def uniform_int(count: int, low: int, high: int, dtype: Any) -> np.ndarray:
    """Return integers from [low, high)."""
    return generator().integers(low, high, count, np.dtype(dtype))


def full_int(count: int, dtype: Any) -> np.ndarray:
    """Return integers of which every bit is random."""
    dtype = np.dtype(dtype)
    return np.frombuffer(bytearray(generator().bytes(count * dtype.itemsize)), dtype)


def normal(count: int, dtype: Any) -> np.ndarray:
    """Return numbers of mean 0 and standard deviation 1."""
    dtype = np.dtype(dtype)
    if dtype.itemsize == 2:
        return generator().standard_normal(count, np.float32).astype(dtype)
    return generator().standard_normal(count, dtype)


def truncated_normal(count: int, dtype: Any) -> np.ndarray:
    """Return normal numbers of which those too far out are drawn again."""
    dtype = np.dtype(dtype)
    wide = np.dtype(np.float32) if dtype.itemsize == 2 else dtype
    out = generator().standard_normal(count, wide)
    far = np.flatnonzero(np.abs(out) >= TRUNCATED_AT)
    while far.size:
        out[far] = generator().standard_normal(far.size, wide)
        far = far[np.abs(out[far]) >= TRUNCATED_AT]
    return out.astype(dtype, copy=False)


def gamma(count: int, alpha: np.ndarray) -> np.ndarray:
    """Return `count` gamma numbers for each shape in `alpha`, a row a shape; for a shape below zero, no number."""
    usable = alpha >= 0
    out = generator().standard_gamma(np.where(usable, alpha, 1)[:, None], (alpha.size, count))
    out[~usable] = np.nan
    return out


def poisson(count: int, rate: np.ndarray) -> np.ndarray:
    """Return `count` Poisson numbers for each rate, a row a rate; none happen at a rate below zero."""
    usual = rate < _LARGE
    out = generator().poisson(np.where(usual, np.maximum(rate, 0), 1)[:, None], (rate.size, count)).astype(np.float64)
    large = rate[~usual][:, None]
    spread = generator().standard_normal((large.size, count))
    out[~usual] = np.where(np.isinf(large), large, np.floor(large + np.sqrt(large) * spread))
    return out


def stream() -> Stream:
    """Return a stream for samplers that know no other way: one nobody can predict."""
    return Stream(*full_int(2, np.int64).tolist())


def order(size: int) -> np.ndarray:
    """Return the numbers below `size` in random order."""
    return generator().permutation(size)
