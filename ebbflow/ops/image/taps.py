"""Where the pixels of a resized image come from: for each place along an axis, a few pixels of the old one and weights.

`Taps` of both axes say all about a resize; applying them forwards is the resize, backwards its gradient. The formulas
are float32, step by step as TensorFlow takes them, so that the same pixels are chosen. Knows NumPy only (weights are
made on the host even where XLA applies them).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ebbflow.ops.image.tap_loops import resampled_across, resampled_down
from ebbflow.ops.parts import in_shares
from ebbflow.platform import threads

F = np.float32
SHARE = 1 << 16
"""Numbers that a thread makes at a time."""
TABLE = 1024  # steps of the table that cubic weights are looked up in


class Taps(NamedTuple):
    """For each new place along an axis, the old places it is made of [new, k], and how much of each."""

    places: np.ndarray
    weights: np.ndarray
    size: int  # of the old axis


def scale_of(old: int, new: int, align_corners: bool) -> np.float32:
    """Return how many old pixels a new one spans."""
    return F(old - 1) / F(new - 1) if align_corners and new > 1 else F(old) / F(new)


def _positions(old: int, new: int, align_corners: bool, half_pixel: bool) -> np.ndarray:
    scale = scale_of(old, new, align_corners)
    steps = np.arange(new, dtype=F)
    return (steps + F(0.5)) * scale - F(0.5) if half_pixel else steps * scale


@functools.lru_cache(maxsize=128)
def bilinear(old: int, new: int, align_corners: bool, half_pixel: bool) -> Taps:
    """Return the two neighbours of each place; the second weight is the way from the first."""
    at = _positions(old, new, align_corners, half_pixel)
    floor = np.floor(at)
    low = np.maximum(floor.astype(np.int64), 0)
    high = np.minimum(np.ceil(at).astype(np.int64), old - 1)
    way = at - floor
    return Taps(np.stack([low, high], 1), np.stack([F(1) - way, way], 1), old)


@functools.lru_cache(maxsize=128)
def nearest(old: int, new: int, align_corners: bool, half_pixel: bool) -> np.ndarray:
    """Return the old place of each new one."""
    scale = scale_of(old, new, align_corners)
    steps = np.arange(new, dtype=F)
    at = (steps + F(0.5)) * scale if half_pixel else steps * scale
    chosen = np.floor(at + F(0.5)) if align_corners else np.floor(at)  # positions are never negative
    return np.clip(chosen.astype(np.int64), 0, old - 1)


@functools.cache
def _cubic_table(sharpness: float) -> np.ndarray:
    """Return the cubic weight at distances 0 to 1 (first column) and 1 to 2 (second), in steps of 1 / TABLE."""
    x = np.arange(TABLE + 1, dtype=np.float64).astype(F) / F(TABLE)
    a = F(sharpness)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    y = x + F(1)
    far = ((a * y - 5 * a) * y + 8 * a) * y - 4 * a
    return np.stack([near, far], 1).astype(F)


@functools.lru_cache(maxsize=128)
def bicubic(old: int, new: int, align_corners: bool, half_pixel: bool) -> Taps:
    """Return four neighbours; with half-pixel centres those outside count nothing, else the edge stands for them."""
    at = _positions(old, new, align_corners, half_pixel)
    floor = np.floor(at)
    first = floor.astype(np.int64)
    step = np.rint((at - floor) * F(TABLE)).astype(np.int64)
    table = _cubic_table(-0.5 if half_pixel else -0.75)
    weights = np.stack([table[step, 1], table[step, 0], table[TABLE - step, 0], table[TABLE - step, 1]], 1)
    wanted = first[:, None] + np.arange(-1, 3)
    places = np.clip(wanted, 0, old - 1)
    if half_pixel:
        weights = _normalised(np.where(places == wanted, weights, F(0)))
    return Taps(places, weights, old)


def _normalised(weights: np.ndarray) -> np.ndarray:
    """Return weights that add up to one in each row; rows that add up to nothing stay."""
    total = functools.reduce(np.add, weights.T) if weights.shape[1] else np.zeros(len(weights), F)
    some = np.abs(total) >= 1000 * np.finfo(F).tiny
    return np.where(some[:, None], weights * (F(1) / np.where(some, total, F(1)))[:, None], weights)


@functools.lru_cache(maxsize=128)
def area(old: int, new: int, align_corners: bool) -> Taps:
    """Return every old pixel that a new one covers, by the share that is covered."""
    scale = scale_of(old, new, align_corners)
    starts = np.arange(new, dtype=F) * scale
    ends = np.arange(1, new + 1, dtype=F) * scale
    first = np.floor(starts).astype(np.int64)
    width = int((np.ceil(ends).astype(np.int64) - first).max(initial=1))
    wanted = first[:, None] + np.arange(width)
    low, high, at = starts[:, None], ends[:, None], wanted.astype(F)
    share = np.where(
        at < low, np.where(at + 1 > high, scale, at + 1 - low), np.where(at + 1 > high, high - at, F(1))
    ).astype(F)
    share = np.where(at < np.ceil(high), share, F(0))
    return Taps(np.clip(wanted, 0, old - 1), share, old)


# --- any kernel -------------------------------------------------------------------------------------------------------


def _lanczos(radius: float) -> Callable[[np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray) -> np.ndarray:
        pi = np.pi
        with np.errstate(all="ignore"):
            value = radius * np.sin(pi * x) * np.sin(pi * x / radius) / (pi * pi * x * x)
        return np.where(x > radius, 0, np.where(x <= 1e-3, 1, value))

    return kernel


def _gaussian(x: np.ndarray) -> np.ndarray:
    sigma = 1.5 / 3.0
    return np.where(x >= 1.5, 0, np.exp(-x * x / (2 * sigma * sigma)))


def _keys_cubic(x: np.ndarray) -> np.ndarray:
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, (1.5 * x - 2.5) * x * x + 1))


def _mitchell_cubic(x: np.ndarray) -> np.ndarray:
    far = (((-7 / 18) * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, ((7 / 6) * x - 2) * x * x + 8 / 9))


KERNELS: dict[str, tuple[float, Callable[[np.ndarray], np.ndarray]]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, lambda x: np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda x: np.maximum(1 - x, 0)),
    "keyscubic": (2.0, _keys_cubic),
    "mitchellcubic": (2.0, _mitchell_cubic),
}


@functools.lru_cache(maxsize=128)
def spans(old: int, new: int, scale: float, shift: float, kind: str, antialias: bool) -> Taps:
    """Return what a kernel takes of the old axis when it is scaled and then moved."""
    radius, kernel = KERNELS[kind]
    back = F(1) / F(scale)
    offset = -back * F(shift)
    wide = np.maximum(back, F(1)) if antialias else F(1)
    at = (np.arange(new, dtype=F) + F(0.5)) * back + offset
    reach = F(radius) * wide
    first = np.clip(np.ceil(at - reach - F(0.5)), 0, old - 1).astype(np.int64)
    last = np.clip(np.floor(at + reach - F(0.5)), 0, old - 1).astype(np.int64)
    inside = (at >= 0) & (at <= old)
    count = int((last - first + 1).max(initial=1)) if old else 0
    wanted = first[:, None] + np.arange(max(count, 0))
    distance = np.abs((wanted.astype(F) + F(0.5) - at[:, None]) / wide)
    weights = kernel(distance).astype(F)
    weights = np.where((wanted <= last[:, None]) & inside[:, None], weights, F(0))
    return Taps(np.clip(wanted, 0, max(old - 1, 0)), _normalised(weights), old)


# --- applying ---------------------------------------------------------------------------------------------------------


def gathered(xp: Any, x: Any, taps: Taps, axis: int) -> Any:
    """Return `x` with an axis made of its old places by their weights."""
    if xp is np:
        return _product(matrix(taps), x, axis)
    shape = [1] * x.ndim
    shape[axis] = -1
    total = None
    for k in range(taps.places.shape[1]):
        part = xp.take(x, taps.places[:, k], axis=axis) * taps.weights[:, k].reshape(shape)
        total = part if total is None else total + part
    return total


def resampled(xp: Any, images: Any, down: Taps, across: Taps) -> Any:
    """Return images [batch, height, width, channels] with both axes made anew, an image (in the cache) at a time."""
    if xp is not np:
        return gathered(xp, gathered(xp, images.astype(np.float32), down, 1), across, 2)
    batch, height, width, channels = images.shape
    new, wide = len(down.places), len(across.places)
    result = np.empty((batch, new, wide, channels), np.float32)
    if images.size >= ENOUGH and result.size and _resampled_by_code(images, down, across, result):
        return result
    first, second = matrix(down), matrix(across)

    def one(i: int) -> None:
        rows = first @ np.ascontiguousarray(images[i], np.float32).reshape(height, width * channels)
        columns = np.ascontiguousarray(rows.reshape(new, width, channels).transpose(1, 0, 2))
        spread = second @ columns.reshape(width, new * channels)
        result[i] = spread.reshape(wide, new, channels).transpose(1, 0, 2)

    each_image(one, batch, result.size)
    return result


def _resampled_by_code(images: np.ndarray, down: Taps, across: Taps, out: np.ndarray) -> bool:
    """Make images anew by machine code, along the axis first that leaves less to do; return whether that was done."""
    codes = resampled_down.code(), resampled_across.code()
    if None in codes:
        return False
    x = np.ascontiguousarray(images, np.float32)
    batch, height, width, channels = images.shape
    new, wide = out.shape[1:3]
    if height <= new:
        x = _along(codes[1], x, (width, channels), across, (batch, height, wide, channels))
        _along(codes[0], x, (wide * channels, height), down, out.shape, out)
    else:
        x = _along(codes[0], x, (width * channels, height), down, (batch, new, width, channels))
        _along(codes[1], x, (width, channels), across, out.shape, out)
    return True


def _along(code: Any, x: np.ndarray, sizes: tuple[int, int], taps: Taps, shape: Any, out: Any = None) -> np.ndarray:
    """Return images of a shape, with one axis made of its old places by their weights."""
    result: np.ndarray = np.empty(shape, np.float32) if out is None else out
    places, weights = np.ascontiguousarray(taps.places, np.int64), np.ascontiguousarray(taps.weights, np.float32)
    given = *sizes, places, weights, places.shape[1], len(places)
    rows = shape[0] * shape[1]
    in_shares(lambda begin, end: code(x, *given, result, begin, end), rows, max(1, SHARE * rows // result.size))
    return result


def between(xp: Any, x: Any, taps: Taps, axis: int) -> Any:
    """Return `x` with an axis made of two neighbours each: the first, and a part of the way to the second."""
    shape = [1] * x.ndim
    shape[axis] = -1
    low = xp.take(x, taps.places[:, 0], axis=axis)
    high = xp.take(x, taps.places[:, 1], axis=axis)
    way = taps.weights[:, 1].reshape(shape)
    if xp is not np:
        return low + (high - low) * way
    high -= low
    high *= way
    high += low
    return high


def both_between(xp: Any, images: Any, down: Taps, across: Taps) -> Any:
    """Return images with both axes made of two neighbours each, across first: an image at a time stays in the cache."""
    if xp is not np:
        return between(xp, between(xp, images.astype(np.float32), across, 2), down, 1)
    channels = images.shape[3]
    result = np.empty((len(images), len(down.places), len(across.places), channels), np.float32)
    flat = result.reshape(len(images), len(down.places), -1)
    pairs = kept(across, channels, lambda taps: _pairs(taps, channels))
    steps = down.weights[:, 1].reshape(-1, 1)

    def one(i: int) -> None:
        wide, low = pairs.pick(images[i], 1), pairs.pick(images[i], 0)
        wide -= low
        wide *= pairs.ways
        wide += low
        low = wide.take(down.places[:, 0], axis=0)
        high = np.take(wide, down.places[:, 1], axis=0, out=flat[i], mode="clip")
        high -= low
        high *= steps
        high += low

    each_image(one, len(images), result.size)
    return result


class _Pairs(NamedTuple):
    """Two neighbours for each number of a row of pixels."""

    places: np.ndarray  # [2, numbers], or of pixels as a whole [2, pixels]
    ways: np.ndarray  # from the first to the second
    whole: bool

    def pick(self, image: np.ndarray, which: int) -> np.ndarray:
        """Return the first or second neighbours in all rows, as rows of float32."""
        rows = image if self.whole else image.reshape(len(image), -1)
        return rows.take(self.places[which], axis=1).astype(np.float32, copy=False).reshape(len(image), -1)


def _pairs(across: Taps, channels: int) -> _Pairs:
    ways = np.repeat(across.weights[:, 1], channels)
    if channels > 4:  # pixels of so many numbers are quicker copied as a whole
        return _Pairs(across.places.T.copy(), ways, True)
    places = across.places.T[:, :, None] * channels + np.arange(channels)
    return _Pairs(places.reshape(2, -1), ways, False)


ENOUGH = 1 << 18
"""Numbers from which on two threads are quicker than one."""


def each_image(work: Callable[[int], None], count: int, numbers: int) -> None:
    """Do `work` for each image, on several threads where there is much to do."""
    parts = threads.count() if numbers >= ENOUGH else 1
    bounds = [count * k // parts for k in range(parts + 1)]

    def some(begin: int, end: int) -> None:
        for i in range(begin, end):
            work(i)

    threads.spread(some, [part for part in itertools.pairwise(bounds) if part[0] < part[1]] or [(0, 0)])


def scattered(xp: Any, x: Any, taps: Taps, axis: int) -> Any:
    """Return what `gathered` is the transpose of: each new place gives its share back to the old ones."""
    if xp is np:
        return _product(matrix(taps).T.tocsr(), x, axis)
    dense = np.zeros((taps.size, len(taps.places)), F)
    np.add.at(dense, (taps.places.T, np.arange(len(taps.places))), taps.weights.T)
    return xp.moveaxis(xp.tensordot(dense, x, ((1,), (axis,))), 0, axis)


_known: dict[tuple[int, Any], tuple[Taps, Any]] = {}


def kept(taps: Taps, use: Any, make: Callable[[Taps], Any]) -> Any:
    """Return what `make` makes of taps for some use; that of taps in use is kept."""
    known = _known.get((id(taps), use))
    if known is not None and known[0] is taps:
        return known[1]
    if len(_known) > 256:
        _known.clear()
    _known[id(taps), use] = known = (taps, make(taps))
    return known[1]


def matrix(taps: Taps) -> Any:
    """Return the taps as a sparse matrix [new, old]."""
    return kept(taps, "matrix", _made_matrix)


def _made_matrix(taps: Taps) -> Any:
    from scipy.sparse import csr_matrix  # heavy, and needed only here

    new, count = taps.places.shape
    rows = np.repeat(np.arange(new), count)
    made = csr_matrix((taps.weights.reshape(-1), (rows, taps.places.reshape(-1))), (new, taps.size))
    made.eliminate_zeros()
    return made


def _product(sparse: Any, x: np.ndarray, axis: int) -> np.ndarray:
    moved = np.moveaxis(x, axis, 0)
    flat = np.ascontiguousarray(moved).reshape(moved.shape[0], -1)
    result = sparse @ flat
    return np.moveaxis(result.reshape(sparse.shape[0], *moved.shape[1:]), 0, axis)
