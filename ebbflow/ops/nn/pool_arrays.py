"""Pooling arrays: the largest or the mean element of every window, and the way back.

Works on arrays with channels last, window element by window element ("tap"), all windows at once. Knows nothing of
ops; `pool` declares those.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow.ops.nn.pool_loops import first_maxima
from ebbflow.ops.nn.windows import Grid, taps, with_edges, without_edges
from ebbflow.ops.parts import in_shares


def lowest(dtype: np.dtype) -> Any:
    """Return the value that every other one is larger than."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def largest(x: np.ndarray, g: Grid) -> np.ndarray:
    """Return the largest element of every window."""
    x = with_edges(x, g, lowest(x.dtype))
    result: Any = None
    for _, where in taps(g):
        result = x[where].copy() if result is None else np.fmax(result, x[where], out=result)
    return result


def first_largest(x: np.ndarray, g: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Return every window's largest element and which of its taps that is, the first where several are."""
    x = with_edges(x, g, lowest(x.dtype))
    shape = (x.shape[0], *g.out, x.shape[-1])
    best = np.full(shape, lowest(x.dtype), x.dtype)
    which = np.empty(shape, np.int32)
    which[...] = _first_inside(g)[..., None]
    for at, (_, where) in enumerate(taps(g)):
        candidate = x[where]
        better = candidate > best
        np.copyto(best, candidate, where=better)
        np.copyto(which, at, where=better)
    return best, which


def _first_inside(g: Grid) -> np.ndarray:
    """Return the first tap of every window that is no padding: the answer where nothing is larger than `lowest`."""
    result = np.zeros((1,) * len(g.out), np.int32)
    for axis, (count, window, stride, (before, _)) in enumerate(zip(g.out, g.windows, g.strides, g.pads, strict=True)):
        first = np.clip(before - np.arange(count) * stride, 0, window - 1)
        shape = [count if i == axis else 1 for i in range(len(g.out))]
        result = result * window + first.reshape(shape).astype(np.int32)
    return result


def first_places(x: np.ndarray, grid: Grid, batch_step: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return every window's largest element and its place by machine code, None where there is none for it."""
    code = None
    if x.dtype == np.float32 and x.flags.c_contiguous and x.size:
        code = first_maxima.worth(x.size, 1 << 12)
    if code is None:
        return None
    (tall, wide), (down, right), ((top, _), (left, _)) = grid.windows, grid.strides, grid.pads
    rows, columns = grid.out
    out = (x.shape[0], rows, columns, x.shape[3])
    best, index = np.empty(out, np.float32), np.empty(out, np.int64)
    sizes = (*x.shape[1:], tall, wide, down, right, top, left, rows, columns, batch_step)

    def work(begin: int, end: int) -> None:
        code(x, *sizes, best, index, begin, end)

    in_shares(work, x.shape[0] * rows, max(1, (1 << 14) // max(columns * x.shape[3], 1)))
    return best, index


def give_to_largest(x: np.ndarray, dy: np.ndarray, g: Grid) -> np.ndarray:
    """Return an input-sized array with each window's entry of `dy` added to its (first) largest element."""
    if x.dtype.kind in "iu":
        best, which = first_largest(x, g)
        hits = (which == at for at in range(math.prod(g.windows)))
    else:
        best = largest(x, g)
        hits = _first_equal(with_edges(x, g, np.nan), best, g)  # type: ignore[assignment]  # NaN: padding equals nothing
    padded = np.zeros((dy.shape[0], *g.padded, dy.shape[-1]), dy.dtype)
    zero = dy.dtype.type(0)
    for hit, (_, where) in zip(hits, taps(g), strict=True):
        padded[where] += np.where(hit, dy, zero)
    return without_edges(padded, g)


def _first_equal(x: np.ndarray, best: np.ndarray, g: Grid) -> Iterator[np.ndarray]:
    """Yield, tap by tap, which windows have their largest element there and nowhere before."""
    free = np.ones(best.shape, bool)
    for _, where in taps(g):
        hit = x[where] == best
        hit &= free
        free ^= hit
        yield hit


def take_from(which: np.ndarray, x: np.ndarray, g: Grid) -> np.ndarray:
    """Return, for every window, the element of `x` that `which` names."""
    x = with_edges(x, g)
    result = np.zeros(which.shape, x.dtype)
    for at, (_, where) in enumerate(taps(g)):
        np.copyto(result, x[where], where=which == at)
    return result


def means(x: np.ndarray, g: Grid) -> np.ndarray:
    """Return the mean of every window's elements, padding not counted."""
    x = with_edges(x, g)
    result = None
    for _, where in taps(g):
        result = x[where].copy() if result is None else np.add(result, x[where], out=result)
    result /= _counts(g, x.dtype)
    return result


def spread_means(dy: np.ndarray, g: Grid) -> np.ndarray:
    """Return the gradient of `means`."""
    padded = np.zeros((dy.shape[0], *g.padded, dy.shape[-1]), dy.dtype)
    share = dy / _counts(g, dy.dtype)
    for _, where in taps(g):
        padded[where] += share
    return without_edges(padded, g)


def _counts(g: Grid, dtype: np.dtype) -> np.ndarray:
    """Return how many elements of each window are no padding."""
    counts = np.ones((), dtype)
    for size, window, stride, (before, _), count in zip(g.sizes, g.windows, g.strides, g.pads, g.out, strict=True):
        start = np.arange(count) * stride - before
        inside = np.minimum(start + window, size) - np.maximum(start, 0)
        counts = counts[..., None] * inside.astype(dtype)
    return counts[..., None]
