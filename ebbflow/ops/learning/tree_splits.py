"""Where to split a node of a tree: sums of gradients and hessians by bucket, and the best place between buckets.

A leaf whose examples have gradients g and hessians h says the w that makes 1/2 (h + l2) w² + g w + l1 |w| least; how
much that gains is the measure of a split. The last bucket of a feature is for missing values, which go left or right,
whichever gains more. Knows arrays only; trees are in `tree_ensemble.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import FLAT, show, with_rank
from ebbflow.ops.learning.tree_ensemble import EQUAL, LEFT, RIGHT
from ebbflow.ops.shape_rules import agreed, equal_length
from ebbflow.ops.sizes import invalid, room_for

TINY = np.float32(1e-15)
REGULARIZERS = "l1:float, l2:float, tree_complexity:float, min_node_weight:float"
SPLITS = "left_node_contribs:float, right_node_contribs:float, split_with_default_directions:string"

# --- what a leaf says -------------------------------------------------------------------------------------------------


def best_values(gradients: np.ndarray, hessians: np.ndarray, l1: Any, l2: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what leaves with these sums say (their last axis is the logits'), and how much each gains by it.

    Hessians are one number for each logit (the diagonal), or a whole matrix.
    """
    l1, l2 = np.float32(l1), np.float32(l2)
    width = gradients.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if width == 1:
            shrunk = np.where(gradients > l1, gradients - l1, np.where(gradients < -l1, gradients + l1, 0))
            shrunk = shrunk if l1 > 0 else gradients
            weight = hessians + l2
            values = np.where(weight <= TINY, np.float32(0), -shrunk / weight)
            return values.astype(np.float32), (-shrunk * values)[..., 0].astype(np.float32)
        if hessians.shape[-1] == width:
            values = _solved_by_diagonal(hessians + l2, gradients)
        else:
            square = hessians.reshape(*hessians.shape[:-1], width, width) + l2 * np.eye(width, dtype=np.float32)
            values = _solved(square, gradients)
        return values, (-gradients * values).sum(-1, dtype=np.float32)


def _solved_by_diagonal(diagonal: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """Return -g / d; where some d is zero, those that are next to nothing beside the largest say nothing."""
    largest = np.abs(diagonal).max(-1, keepdims=True)
    least = np.finfo(np.float32).eps * diagonal.shape[-1] * largest
    singular = (diagonal == 0).any(-1, keepdims=True)
    return np.where(singular & (np.abs(diagonal) <= least), np.float32(0), -gradients / diagonal).astype(np.float32)


def _solved(matrices: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """Return -g / H for matrices one by one, with as many logits at zero as a singular one leaves open."""
    import scipy.linalg  # on first use: scipy takes long to import

    flat, sides = matrices.reshape(-1, *matrices.shape[-2:]), gradients.reshape(-1, gradients.shape[-1])
    values = np.zeros_like(sides)
    width = sides.shape[-1]
    for row, (matrix, side) in enumerate(zip(flat, sides, strict=True)):
        if not np.isfinite(matrix).all() or not np.isfinite(side).all():
            values[row] = np.nan
            continue
        q, r, order = scipy.linalg.qr(matrix, pivoting=True)
        pivots = np.abs(np.diag(r))
        rank = int((pivots > np.finfo(np.float32).eps * width * pivots[0]).sum())
        if rank:
            values[row, order[:rank]] = -scipy.linalg.solve_triangular(r[:rank, :rank], (q.T @ side)[:rank])
    return values.reshape(gradients.shape)


# --- the best split of a node -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """What a split costs: the penalties of leaves, that of a split, and the least weight of a node."""

    l1: np.ndarray
    l2: np.ndarray
    complexity: np.ndarray
    least: np.ndarray

    def gain(self, gradients: np.ndarray, hessians: np.ndarray) -> np.ndarray:
        """Return how much leaves with these sums gain."""
        return best_values(gradients, hessians, self.l1, self.l2)[1]


@dataclass(frozen=True)
class Best:
    """The best split of a node by one feature."""

    gain: np.float32
    dimension: int
    bucket: int
    left: np.ndarray
    right: np.ndarray
    kind: bytes


def best_split(stats: np.ndarray, total: np.ndarray, equality: bool, width: int, rule: Rule) -> Best | None:
    """Return the best split of a node whose sums by (dimension, bucket) are `stats`; None where none is a number.

    Of equal ones the first is taken: by dimension, then by bucket, missing values to the left first.
    """
    buckets, missing = stats[:, :-1], stats[:, -1:]
    kinds: tuple[bytes, ...]
    if equality:
        lefts, whole, kinds = buckets[:, :, None], total, (EQUAL,)
    else:
        sums = np.cumsum(buckets, 1, dtype=np.float32)
        whole = (stats.cumsum(1, dtype=np.float32)[:, -1])[:, None, None]
        lefts, kinds = np.stack([sums + missing, sums], 2), (LEFT, RIGHT)
    rights = whole - lefts
    left, left_gain = best_values(lefts[..., :width], lefts[..., width:], rule.l1, rule.l2)
    right, right_gain = best_values(rights[..., :width], rights[..., width:], rule.l1, rule.l2)
    gains = left_gain + right_gain
    usable = gains > np.finfo(np.float32).min  # NaN is not
    if not usable.any():
        return None
    at = np.unravel_index(np.argmax(np.where(usable, gains, -np.inf)), gains.shape)
    return Best(gains[at], int(at[0]), int(at[1]), left[at], right[at], kinds[at[2]])


def _nodes_in(node_id_range: np.ndarray, splits: int) -> range:
    first, last = node_id_range.tolist()
    if last > first and not 0 <= first < last <= splits:
        raise invalid(f"node_id_range = [{first}, {last}) is not within the {splits} nodes of the stats summary")
    return range(first, last)


def _check_rule(l1: Any, l2: Any, width: int) -> None:
    for value, name in ((l1, "l1"), (l2, "l2")):
        if not value >= 0:
            raise invalid(f"{name} = {value} but it should be >= 0")
    if width > 1 and l1 != 0:
        raise invalid(f"l1 = {l1}: l1 != 0 is not yet supported for multi-class regularization")


def _rows(found: list[tuple[int, int, np.float32, Best]], width: int, with_ids: bool) -> tuple[np.ndarray, ...]:
    """Return the columns of the result from (node, feature, gain, split)."""
    ints = [[f[0] for f in found], [f[3].dimension for f in found], [f[3].bucket for f in found]]
    nodes, dimensions, buckets = (np.array(column, np.int32) for column in ints)
    sides = (np.array(side, np.float32).reshape(-1, width) for side in
             ([f[3].left for f in found], [f[3].right for f in found]))  # fmt: skip
    kinds = np.empty(len(found), object)
    kinds[:] = [f[3].kind for f in found]
    ids = (np.array([f[1] for f in found], np.int32),) if with_ids else ()
    return nodes, np.array([f[2] for f in found], np.float32), *ids, dimensions, buckets, *sides, kinds


def _dense_splits(
    node_id_range: np.ndarray, summaries: list[np.ndarray], types: list[bytes], ids: list[int], rule: Rule, width: int
) -> list[tuple[int, int, np.float32, Best]]:
    _check_rule(rule.l1, rule.l2, width)
    hessian = summaries[0].shape[3] - width
    if not 0 < hessian <= width * width or summaries[0].shape[2] < 1:
        raise invalid(
            f"stats_summary has shape {show(summaries[0].shape)}: beside logits_dimension = {width} gradients its last "
            f"axis holds the hessians, {width} of them or {width * width}, and its third the bucket of missing values"
        )
    found = []
    for node in _nodes_in(node_id_range, summaries[0].shape[0]):
        total = summaries[0][node, 0].sum(0, dtype=np.float32)
        if np.linalg.norm(total[width:]) < rule.least:
            continue
        best, chosen = None, -1
        for stats, kind, number in zip(summaries, types, ids, strict=True):
            split = best_split(stats[node], total, kind == b"equality", width, rule)
            if split is not None and (best is None or split.gain > best.gain):
                best, chosen = split, number
        if best is not None:
            gain = best.gain - rule.gain(total[:width], total[width:]) - rule.complexity
            found.append((node, chosen, gain, best))
    return found


def _range_and_rule(node_id_range: Known, rule: tuple[Known, ...]) -> None:
    equal_length((with_rank(node_id_range, 1, "node_id_range") or (None,))[0], 2)
    for value, name in zip(rule, ("l1", "l2", "tree_complexity", "min_node_weight"), strict=True):
        with_rank(value, 0, name)


def _split_dims(width: int, with_ids: bool) -> list[Dims]:
    vectors: list[Dims] = [(None,)] * (5 if with_ids else 4)
    return [*vectors, (None, width), (None, width), (None,)]


BoostedTreesCalculateBestFeatureSplit = op(
    f"BoostedTreesCalculateBestFeatureSplit(node_id_range:int32, stats_summary:float, {REGULARIZERS}) -> "
    f"(node_ids:int32, gains:float, feature_dimensions:int32, thresholds:int32, {SPLITS}) | "
    'logits_dimension: int >= 1; split_type: string in ["inequality","equality"] = "inequality"',
    facts="data_dependent",
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesCalculateBestFeatureSplit.shape
def _(node_id_range, stats_summary, *rule, logits_dimension):
    _range_and_rule(node_id_range, rule)
    with_rank(stats_summary, 4, "stats_summary")
    return _split_dims(logits_dimension, False)


@BoostedTreesCalculateBestFeatureSplit.kernel
def _(xp, node_id_range, stats_summary, *rule, logits_dimension, split_type):
    kind = split_type if isinstance(split_type, bytes) else split_type.encode()
    found = _dense_splits(node_id_range, [stats_summary], [kind], [0], Rule(*rule), logits_dimension)
    return _rows(found, logits_dimension, False)


BoostedTreesCalculateBestFeatureSplitV2 = op(
    "BoostedTreesCalculateBestFeatureSplitV2(node_id_range:int32, stats_summaries_list:num_features*float, "
    f"split_types:string, candidate_feature_ids:int32, {REGULARIZERS}) -> (node_ids:int32, gains:float, "
    f"feature_ids:int32, feature_dimensions:int32, thresholds:int32, {SPLITS}) | num_features: int >= 1; "
    "logits_dimension: int >= 1",
    facts="data_dependent",
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesCalculateBestFeatureSplitV2.shape
def _(node_id_range, stats_summaries_list, split_types, candidate_feature_ids, *rule, logits_dimension):
    _range_and_rule(node_id_range, rule)
    dims: Dims = None
    for number, summary in enumerate(stats_summaries_list):
        dims = agreed(dims, with_rank(summary, 4, f"stats_summaries_list[{number}]"))
    for column, name in ((split_types, "split_types"), (candidate_feature_ids, "candidate_feature_ids")):
        equal_length((with_rank(column, 1, name) or (None,))[0], len(stats_summaries_list))
    return _split_dims(logits_dimension, True)


@BoostedTreesCalculateBestFeatureSplitV2.kernel
def _(xp, node_id_range, stats_summaries_list, split_types, candidate_feature_ids, *rule, logits_dimension):
    types = split_types.tolist()
    for kind in types:
        if kind not in (b"inequality", b"equality"):
            raise errors.AbortedError(
                None, None, f"Incorrect split type: split_types has {kind!r}, not 'inequality' or 'equality'"
            )
    ids = candidate_feature_ids.tolist()
    found = _dense_splits(node_id_range, stats_summaries_list, types, ids, Rule(*rule), logits_dimension)
    return _rows(found, logits_dimension, True)


BoostedTreesCalculateBestGainsPerFeature = op(
    "BoostedTreesCalculateBestGainsPerFeature(node_id_range:int32, stats_summary_list:num_features*float, "
    f"{REGULARIZERS}) -> (node_ids_list:num_features*int32, gains_list:num_features*float, "
    "thresholds_list:num_features*int32, left_node_contribs_list:num_features*float, "
    "right_node_contribs_list:num_features*float) | max_splits: int >= 1; num_features: int >= 1",
    facts="data_dependent",
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesCalculateBestGainsPerFeature.shape
def _(node_id_range, stats_summary_list, *rule, max_splits):
    _range_and_rule(node_id_range, rule)
    dims: Dims = (max_splits, None, 2)
    for number, summary in enumerate(stats_summary_list):
        dims = agreed(dims, with_rank(summary, 3, f"stats_summary_list[{number}]"))
    count = len(stats_summary_list)
    return [*[(None,)] * (3 * count), *[(None, 1)] * (2 * count)]


@BoostedTreesCalculateBestGainsPerFeature.kernel
def _(xp, node_id_range, stats_summary_list, *rule):
    rule = Rule(*rule)
    results: tuple[list[Any], ...] = ([], [], [], [], [])
    for summary in stats_summary_list:
        found = []
        for node in _nodes_in(node_id_range, len(summary)):
            sums = np.cumsum(summary[node], 0, dtype=np.float32)
            total = sums[-1] if len(sums) else np.zeros(2, np.float32)
            if total[1] < rule.least:
                continue
            stats = np.concatenate([summary[node], np.zeros((1, 2), np.float32)])[None]
            best = best_split(stats, total, False, 1, rule)
            if best is not None:
                found.append((node, 0, best.gain - rule.gain(total[:1], total[1:]) - rule.complexity, best))
        nodes, gains, _, buckets, left, right, _ = _rows(found, 1, False)
        for column, part in zip(results, (nodes, gains, buckets, left, right), strict=True):
            column.append(part)
    return results


# --- sparse features --------------------------------------------------------------------------------------------------

BoostedTreesSparseCalculateBestFeatureSplit = op(
    "BoostedTreesSparseCalculateBestFeatureSplit(node_id_range:int32, stats_summary_indices:int32, "
    f"stats_summary_values:float, stats_summary_shape:int32, {REGULARIZERS}) -> (node_ids:int32, gains:float, "
    f"feature_dimensions:int32, thresholds:int32, {SPLITS}) | logits_dimension: int >= 1; "
    'split_type: string in ["inequality"] = "inequality"',
    facts="data_dependent",
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesSparseCalculateBestFeatureSplit.shape
def _(node_id_range, stats_summary_indices, stats_summary_values, stats_summary_shape, *rule, logits_dimension):
    _range_and_rule(node_id_range, rule)
    entries, columns = with_rank(stats_summary_indices, 2, "stats_summary_indices") or (None, None)
    equal_length(columns, 4)
    equal_length(entries, (with_rank(stats_summary_values, 1, "stats_summary_values") or (None,))[0])
    equal_length((with_rank(stats_summary_shape, 1, "stats_summary_shape") or (None,))[0], 4)
    return _split_dims(logits_dimension, False)


@BoostedTreesSparseCalculateBestFeatureSplit.kernel
def _(xp, node_id_range, stats_summary_indices, stats_summary_values, stats_summary_shape, *rule, logits_dimension):
    if logits_dimension != 1 or stats_summary_shape[3] != 2:
        raise invalid(
            f"logits_dimension = {logits_dimension} and stats_summary_shape = {stats_summary_shape.tolist()}: sparse "
            "features have splits for one logit, with one hessian"
        )
    rule = Rule(*rule)
    _check_sparse(stats_summary_indices, stats_summary_shape, node_id_range)
    found = []
    for node in np.unique(stats_summary_indices[:, 0]):
        mine = stats_summary_indices[:, 0] == node
        best = _best_sparse(stats_summary_indices[mine], stats_summary_values[mine], stats_summary_shape[2] - 1, rule)
        if best is not None:
            found.append((int(node), 0, *best))
    return _rows(found, 1, False)


def _check_sparse(indices: np.ndarray, shape: np.ndarray, node_id_range: np.ndarray) -> None:
    if not len(indices):
        return
    first, last = node_id_range.tolist()
    if not first <= indices[:, 0].min() <= indices[:, 0].max() < last:
        wrong = indices[:, 0].max() if indices[:, 0].max() >= last else indices[:, 0].min()
        raise invalid(f"node_id = {wrong} which is not in [{first}, {last})")
    for axis, name in ((1, "feature dimension"), (2, "bucket"), (3, "stat dim")):
        if not 0 <= indices[:, axis].min() <= indices[:, axis].max() < shape[axis]:
            raise invalid(
                f"stats_summary_indices has the {name} {indices[:, axis].max()}: it must be in [0, {shape[axis]})"
            )


def _best_sparse(indices: np.ndarray, values: np.ndarray, missing: int, rule: Rule) -> tuple[np.float32, Best] | None:
    """Return the gain and the best split among the buckets that there are; missing values to the right first."""
    best: Best | None = None
    total: Any = None
    for dimension in np.unique(indices[:, 1]):
        mine = indices[:, 1] == dimension
        buckets, place = np.unique(indices[mine, 2], return_inverse=True)
        stats = np.zeros((len(buckets), 2), np.float32)
        stats[place.reshape(-1), indices[mine, 3]] = values[mine]
        if total is None:
            total = stats.cumsum(0, dtype=np.float32)[-1]
            if total[1] < rule.least:
                return None
        apart = buckets == missing
        absent = stats[apart].sum(0, dtype=np.float32)
        sums = stats[~apart].cumsum(0, dtype=np.float32)
        lefts = np.stack([sums, sums + absent], 1)
        rights = np.stack([total - sums, total - absent - sums], 1)
        left, left_gain = best_values(lefts[..., :1], lefts[..., 1:], rule.l1, rule.l2)
        right, right_gain = best_values(rights[..., :1], rights[..., 1:], rule.l1, rule.l2)
        gains = np.where(np.isnan(left_gain + right_gain), -np.inf, left_gain + right_gain)
        if not gains.size or (best is not None and gains.max() <= best.gain) or gains.max() == -np.inf:
            continue
        at = np.unravel_index(np.argmax(gains), gains.shape)
        bucket = int(buckets[~apart][at[0]])
        best = Best(gains[at], int(dimension), bucket, left[at], right[at], (RIGHT, LEFT)[at[1]])
    if best is None:
        return None
    return best.gain - rule.gain(total[:1], total[1:]) - rule.complexity, best


# --- sums by bucket ---------------------------------------------------------------------------------------------------


def _sums(
    places: tuple[np.ndarray, ...], dims: tuple[int, ...], names: tuple[str, ...], stats: np.ndarray
) -> np.ndarray:
    """Return rows of `stats` summed by place, in double precision."""
    for axis, (place, size, name) in enumerate(zip(places, dims, names, strict=True)):
        if place.size and not 0 <= place.min() <= place.max() < size:
            wrong = place.min() if place.min() < 0 else place.max()
            raise invalid(f"{name} has {wrong} (axis {axis} of the sums), which is not in [0, {size})")
    room_for((*dims, stats.shape[-1]), 8)
    total = np.zeros((*dims, stats.shape[-1]), np.float64)
    np.add.at(total, places, stats)
    return total.astype(np.float32)


BoostedTreesMakeStatsSummary = op(
    "BoostedTreesMakeStatsSummary(node_ids:int32, gradients:float, hessians:float, "
    "bucketized_features_list:num_features*int32) -> (stats_summary:float) | max_splits: int >= 1; "
    "num_buckets: int >= 1; num_features: int >= 1",
    gradient=FLAT,
    facts="data_dependent",
    checks_first=True,
)


def _examples(node_ids: Known, gradients: Known, hessians: Known) -> tuple[int | None, int | None]:
    """Return the number of examples, and how many gradients and hessians each has together."""
    (count,) = with_rank(node_ids, 1, "node_ids") or (None,)
    rows, wide = with_rank(gradients, 2, "gradients") or (None, None)
    others, more = with_rank(hessians, 2, "hessians") or (None, None)
    count = equal_length(equal_length(count, rows), others)
    return count, None if wide is None or more is None else wide + more


@BoostedTreesMakeStatsSummary.shape
def _(node_ids, gradients, hessians, bucketized_features_list, *, max_splits, num_buckets):
    count, _ = _examples(node_ids, gradients, hessians)
    for number, feature in enumerate(bucketized_features_list):
        equal_length(count, (with_rank(feature, 1, f"bucketized_features_list[{number}]") or (None,))[0])
    return (len(bucketized_features_list), max_splits, num_buckets, 2)


@BoostedTreesMakeStatsSummary.kernel
def _(xp, node_ids, gradients, hessians, bucketized_features_list, *, max_splits, num_buckets):
    if len(node_ids) and (not gradients.shape[1] or not hessians.shape[1]):
        raise invalid("gradients and hessians must have a column")
    stats = np.concatenate([gradients[:, :1], hessians[:, :1]], 1)
    dims, names = (max_splits, num_buckets), ("node_ids", "bucketized_features_list")
    return np.stack([_sums((node_ids, feature), dims, names, stats) for feature in bucketized_features_list])


BoostedTreesAggregateStats = op(
    "BoostedTreesAggregateStats(node_ids:int32, gradients:float, hessians:float, feature:int32) -> "
    "(stats_summary:float) | max_splits: int >= 1; num_buckets: int >= 1",
    gradient=FLAT,
    facts="data_dependent",
    checks_first=True,
)


@BoostedTreesAggregateStats.shape
def _(node_ids, gradients, hessians, feature, *, max_splits, num_buckets):
    count, stats = _examples(node_ids, gradients, hessians)
    rows, dimensions = with_rank(feature, 2, "feature") or (None, None)
    equal_length(count, rows)
    return (max_splits, dimensions, num_buckets + 1, stats)


@BoostedTreesAggregateStats.kernel
def _(xp, node_ids, gradients, hessians, feature, *, max_splits, num_buckets):
    stats = np.concatenate([gradients, hessians], 1)[:, None]
    dimension = np.broadcast_to(np.arange(feature.shape[1]), feature.shape)
    nodes = np.broadcast_to(node_ids[:, None], feature.shape)
    places = nodes, dimension, np.where(feature == -1, num_buckets, feature)
    dims = max_splits, feature.shape[1], num_buckets + 1
    stats = np.broadcast_to(stats, (*feature.shape, stats.shape[-1]))
    return _sums(places, dims, ("node_ids", "feature", "feature"), stats)


BoostedTreesSparseAggregateStats = op(
    "BoostedTreesSparseAggregateStats(node_ids:int32, gradients:float, hessians:float, feature_indices:int32, "
    "feature_values:int32, feature_shape:int32) -> (stats_summary_indices:int32, stats_summary_values:float, "
    "stats_summary_shape:int32) | max_splits: int >= 1; num_buckets: int >= 1",
    gradient=FLAT,
    facts="data_dependent",
    checks_first=True,
)


@BoostedTreesSparseAggregateStats.shape
def _(node_ids, gradients, hessians, feature_indices, feature_values, feature_shape):
    _examples(node_ids, gradients, hessians)
    entries, columns = with_rank(feature_indices, 2, "feature_indices") or (None, None)
    equal_length(columns, 2)
    equal_length(entries, (with_rank(feature_values, 1, "feature_values") or (None,))[0])
    equal_length((with_rank(feature_shape, 1, "feature_shape") or (None,))[0], 2)
    return [(None, 4), (None,), (4,)]


@BoostedTreesSparseAggregateStats.kernel
def _(xp, node_ids, gradients, hessians, feature_indices, feature_values, feature_shape, *, max_splits, num_buckets):
    batch, dimensions = len(node_ids), int(feature_shape[1])
    _check_places(feature_indices, batch, dimensions)
    if feature_values.size and not 0 <= feature_values.min() <= feature_values.max() <= num_buckets:
        raise invalid(f"feature_values has {feature_values.max()}, which is not in [0, {num_buckets}]")
    if node_ids.size and not 0 <= node_ids.min() <= node_ids.max() <= max_splits:
        raise invalid(f"node_ids has {node_ids.max()}, which is not in [0, {max_splits}]")
    room_for((batch, dimensions), 4)
    buckets = np.full((batch, dimensions), num_buckets, np.int32)
    buckets[feature_indices[:, 0], feature_indices[:, 1]] = feature_values
    nodes = np.broadcast_to(node_ids[:, None], buckets.shape)
    dimension = np.broadcast_to(np.arange(dimensions, dtype=np.int32), buckets.shape)
    places = np.stack([nodes, dimension, buckets], -1).reshape(-1, 3)
    stats = np.concatenate([gradients, hessians], 1)
    kept, which = np.unique(places, axis=0, return_inverse=True)
    sums = np.zeros((len(kept), stats.shape[1]), np.float32)
    np.add.at(sums, which.reshape(-1), np.repeat(stats, dimensions, 0))
    wide = stats.shape[1]
    indices = np.concatenate([np.repeat(kept, wide, 0), np.tile(np.arange(wide), len(kept))[:, None]], 1)
    whole = np.array([max_splits, dimensions, num_buckets + 1, wide], np.int32)
    return indices.astype(np.int32), sums.reshape(-1), whole


def _check_places(feature_indices: np.ndarray, batch: int, dimensions: int) -> None:
    if dimensions < 0:
        raise invalid(f"feature_shape[1] = {dimensions} must not be negative")
    for axis, size, name in ((0, batch, "example"), (1, dimensions, "dimension")):
        column = feature_indices[:, axis]
        if column.size and not 0 <= column.min() <= column.max() < size:
            wrong = column.min() if column.min() < 0 else column.max()
            raise invalid(f"feature_indices has the {name} {wrong}, which is not in [0, {size})")
    if (np.diff(feature_indices[:, 0]) < 0).any():
        raise invalid("feature_indices should be increasing, by example")
