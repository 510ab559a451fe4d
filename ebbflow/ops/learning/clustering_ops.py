"""Clusters: the centers nearest to points, and centers to begin with.

Random words are read one by one in TensorFlow's order, so a seed means TensorFlow's centers. The k-means that is made
of these ops is in `tf1/clustering.py`.
"""

from __future__ import annotations

import math

import numpy as np

from ebbflow.core.op import op
from ebbflow.ops.declare import UNDEFINED
from ebbflow.ops.nn.candidate_sampling import Words
from ebbflow.ops.random.philox import Source
from ebbflow.ops.shape_rules import equal_length, ranked
from ebbflow.ops.sizes import invalid, one

_M64 = (1 << 64) - 1
BLOCK = 1 << 22
"""How many distances are held at a time."""

NearestNeighbors = op(
    "NearestNeighbors(points:float, centers:float, k:int64) -> "
    "(nearest_center_indices:int64, nearest_center_distances:float)",
    facts="data_dependent",
    gradient=UNDEFINED,
)


@NearestNeighbors.shape
def _(points, centers, k):
    rows, width = ranked(points, 2)
    count, other = ranked(centers, 2)
    ranked(k, 0)
    equal_length(width, other)
    wanted = None if k.value is None else int(k.value)
    nearest = min(wanted, count) if wanted is not None and count is not None else None
    return [(rows, nearest), (rows, nearest)]


@NearestNeighbors.kernel
def _(xp, points, centers, k):
    if points.ndim != 2 or centers.ndim != 2:
        raise invalid(f"points and centers must be matrices, got shapes {points.shape} and {centers.shape}")
    if not len(points):
        raise invalid("Expected points.rows() > 0.")
    if points.shape[1] != centers.shape[1]:
        raise invalid(f"Expected point_dimensions == center_dimensions: {points.shape[1]} vs {centers.shape[1]}.")
    if int(one(k, "k")) < 0:
        raise invalid(f"k = {k} must not be negative")
    nearest = min(int(one(k, "k")), len(centers))
    indices = np.empty((len(points), nearest), np.int64)
    distances = np.empty((len(points), nearest), np.float32)
    rows = max(1, BLOCK // max(1, len(centers)))
    for start in range(0, len(points), rows) if nearest else ():
        some = slice(start, start + rows)
        indices[some], distances[some] = _nearest(points[some], centers, nearest)
    return indices, distances


def _nearest(points: np.ndarray, centers: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    partly = np.float32(0.5) * np.square(centers).sum(1) - points @ centers.T
    if k == 1:
        order = partly.argmin(1)[:, None]
    else:
        order = partly.argsort(1, kind="stable")[:, :k]
    norms = np.float32(0.5) * np.square(points).sum(1, keepdims=True)
    return order, np.float32(2) * (norms + np.take_along_axis(partly, order, 1))


MOST_RETRIES = 100_000
MOST_DRAWS = 1000
"""Draws of a point that is no center yet: where only centers seem to be away from centers, that is rounding."""

KmeansPlusPlusInitialization = op(
    "KmeansPlusPlusInitialization(points:float, num_to_sample:int64, seed:int64, num_retries_per_sample:int64) -> "
    "(samples:float)",
    facts="data_dependent",
    gradient=UNDEFINED,
)


@KmeansPlusPlusInitialization.shape
def _(points, num_to_sample, seed, num_retries_per_sample):
    for scalar in (num_to_sample, seed, num_retries_per_sample):
        ranked(scalar, 0)
    wanted = num_to_sample.value
    return (None if wanted is None else int(wanted), ranked(points, 2)[1])


@KmeansPlusPlusInitialization.kernel
def _(xp, points, num_to_sample, seed, num_retries_per_sample):
    wanted = int(one(num_to_sample, "num_to_sample"))
    retries = int(one(num_retries_per_sample, "num_retries_per_sample"))
    if points.ndim != 2 or not len(points):
        raise invalid(f"points must be a matrix with rows, got shape {points.shape}")
    if not 0 < wanted <= len(points):
        raise invalid(f"num_to_sample = {wanted} is not in [1, {len(points)}]: there are that many points")
    if retries > MOST_RETRIES:
        raise invalid(
            f"num_retries_per_sample = {retries} is more than {MOST_RETRIES}, and each draw looks at all points"
        )
    if retries < 0:
        retries = 2 + int(math.log(wanted))
    return points[_spread(points, wanted, retries, Words(Source(int(one(seed, "seed")) & _M64, 0)))]


def _spread(points: np.ndarray, wanted: int, retries: int, words: Words) -> list[int]:
    """Return the numbers of points far from each other: each drawn with odds by its squared distance from those before.

    Of one more than `retries` draws the one that leaves all points nearest is taken.
    """
    half = np.float32(0.5) * np.square(points).sum(1)
    least = np.full(len(points), np.inf, np.float32)
    chosen: list[int] = []
    while len(chosen) < wanted:
        sums = np.cumsum(least, dtype=np.float32) if chosen else None
        best, best_sum, best_least = 0, np.inf, least
        for _ in range(1 + retries):
            index = words.below(len(points), 64) if sums is None else _by_distance(sums, chosen, words)
            row = min(index, len(points) - 1)
            closer = np.minimum(least, half - points @ points[row] + half[row])
            total = closer.sum()
            if total < best_sum or not retries:
                best, best_sum, best_least = row, total, closer
        least = best_least
        chosen.append(best)
    return chosen


def _by_distance(sums: np.ndarray, chosen: list[int], words: Words) -> int:
    for _ in range(MOST_DRAWS if sums[-1] > 0 else 0):
        index = int(np.searchsorted(sums, np.float32(words.unit_float()) * sums[-1], side="right"))
        if index not in chosen:
            return index
    return next(i for i in range(len(sums)) if i not in chosen)  # every point lies on a center: any other will do


KMC2ChainInitialization = op(
    "KMC2ChainInitialization(distances:float, seed:int64) -> (index:int64)", facts="data_dependent", gradient=UNDEFINED
)


@KMC2ChainInitialization.shape
def _(distances, seed):
    ranked(distances, 1)
    ranked(seed, 0)
    return ()


@KMC2ChainInitialization.kernel
def _(xp, distances, seed):
    if distances.ndim != 1 or not len(distances):
        raise invalid(f"distances must be a vector with elements, got shape {distances.shape}")
    words = Words(Source(int(one(seed, "seed")) & _M64, 0))
    at = 0
    for i in range(1, len(distances)):
        if distances[i] > np.float32(words.unit_float()) * distances[at]:
            at = i
    return np.array(at, np.int64)
