"""Metrics of `tf.contrib.metrics` that keep more than sums of hits: all values so far, moments, tables of agreement.

`streaming_concat` keeps everything in a variable that grows; areas under curves are computed from what it keeps.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.functions.control_flow.cond import cond_v1 as cond
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import control_dependencies, group, no_op
from ebbflow.ops.arrays.creation import identity, zeros
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.masks import boolean_mask
from ebbflow.ops.arrays.sets import unique, unique_with_counts
from ebbflow.ops.arrays.shaping import reshape, size, squeeze, transpose
from ebbflow.ops.arrays.sorting import top_k
from ebbflow.ops.checks.asserts import assert_greater_equal_v1, assert_less_equal_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import div_no_nan, minimum
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where_v1
from ebbflow.ops.linalg.diag import tensor_diag_part
from ebbflow.ops.reduce.counting import histogram_fixed_width
from ebbflow.ops.reduce.reductions import reduce_max, reduce_min, reduce_sum
from ebbflow.ops.reduce.scan import cumsum
from ebbflow.state.functions import assign, assign_add
from ebbflow.state.variable_scope import variable_scope
from ebbflow.state.variables import VariableV1
from ebbflow.train.confusion import confusion_matrix
from ebbflow.train.metrics import collected, metric_variable, only_in_graphs
from ebbflow.train.metrics_thresholds import TINY
from ebbflow.train.weights import as_floats, broadcast_weights, matched


def count(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return how many values there were (the sum of their weights), and the update."""
    only_in_graphs("count")
    with variable_scope(name, "count", [values, weights]):
        counter = metric_variable([], dtypes.float32, name="count")
        values = convert(values)
        if weights is None:
            number = cast(size(values), dtypes.float32)
        else:
            values, _, weights = matched(cast(values, dtypes.float32), None, weights)
            number = reduce_sum(broadcast_weights(as_floats(weights), values))
        with control_dependencies([values]):
            update = assign_add(counter, number)
        return collected(identity(counter), update, metrics_collections, updates_collections)


def streaming_concat(
    values: TensorLike,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return all values so far, joined along an axis (at most `max_size`), and the update, which gives how many."""
    with variable_scope(name, "streaming_concat", [values]):
        values = convert(values)
        if values._dims is None:
            raise ValueError("`values` must have known statically known rank")
        rank = len(values._dims)
        if not -rank <= axis < rank:
            raise ValueError(f"axis = {axis!r} not in [0, {rank!r})")
        axis %= rank
        fixed = [n for i, n in enumerate(values._dims) if i != axis]
        if None in fixed:
            raise ValueError(
                "all dimensions of `values` other than the dimension to concatenate along must have statically known "
                "size"
            )
        kept = metric_variable([0, *fixed], values.dtype, validate_shape=False, name="array")
        length = metric_variable([], dtypes.int32, name="size")
        before = reshape(convert(kept), [-1, *fixed]) if all(fixed) else convert(kept)
        before.set_shape([None, *fixed])
        value = transpose(before, [0 if n == axis else n + 1 if n < axis else n for n in range(rank)], name="concat")
        batch = transpose(values, [axis, *(n for n in range(rank) if n != axis)])
        if max_size is not None:
            batch = batch[: minimum(raw.Shape(batch)[0], max_size - convert(length))]
        grown = assign(kept, concat([before, batch], 0), validate_shape=False)
        with control_dependencies([grown]):
            update = assign_add(length, raw.Shape(batch)[0])
        return collected(value, update, metrics_collections, updates_collections)


# --- moments ----------------------------------------------------------------------------------------------------------


def streaming_covariance(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the (weighted) unbiased covariance of predictions and labels, and the update.

    Means and the sum of products of deviations are carried from batch to batch, so nothing is lost to cancellation.
    """
    with variable_scope(name, "covariance", [predictions, labels, weights]):
        x, y, weights = matched(predictions, labels, weights)
        total, mean_x, mean_y, comoment = (
            metric_variable([], dtypes.float32, name=n) for n in ("count", "mean_prediction", "mean_label", "comoment")
        )
        spread = raw.OnesLike(y) if weights is None else broadcast_weights(weights, y)
        number = reduce_sum(spread)
        now = assign_add(total, number)
        before = now - number
        batch_x, batch_y = (div_no_nan(reduce_sum(v * spread), number) for v in (x, y))
        step_x, step_y = (div_no_nan((b - convert(m)) * number, now) for b, m in ((batch_x, mean_x), (batch_y, mean_y)))
        old_x, old_y = assign_add(mean_x, step_x) - step_x, assign_add(mean_y, step_y) - step_y
        inside = reduce_sum((x - batch_x) * (y - batch_y) * spread)
        between = (old_x - batch_x) * (old_y - batch_y) * div_no_nan(before * number, now)
        update = assign_add(comoment, inside + between)
        value = _unbiased(comoment, total, "covariance")
        with control_dependencies([update]):
            updated = _unbiased(comoment, total, "update_op")
        return collected(value, updated, metrics_collections, updates_collections)


def _unbiased(comoment: Any, total: Any, name: str) -> Any:
    total, comoment = identity(total), identity(comoment)
    return where_v1(raw.LessEqual(total, 1.0), float("nan"), raw.RealDiv(comoment, total - 1.0), name=name)


def streaming_pearson_correlation(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return Pearson's correlation of predictions and labels, and the update."""
    with variable_scope(name, "pearson_r", [predictions, labels, weights]):
        x, y, weights = matched(predictions, labels, weights)
        if weights is not None:
            weights = broadcast_weights(weights, y)
        names = ("covariance", "variance_predictions", "variance_labels")
        pairs = [
            streaming_covariance(a, b, weights, name=n)
            for (a, b), n in zip(((x, y), (x, x), (y, y)), names, strict=True)
        ]
        value, update = (
            raw.RealDiv(both, raw.Sqrt(spread_x) * raw.Sqrt(spread_y), name=n)
            for (both, spread_x, spread_y), n in zip(zip(*pairs, strict=True), ("pearson_r", "update_op"), strict=True)
        )
        return collected(value, update, metrics_collections, updates_collections)


def cohen_kappa(
    labels: TensorLike,
    predictions_idx: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return Cohen's kappa, how far labels and predictions agree beyond chance, and the update."""
    only_in_graphs("cohen_kappa")
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with variable_scope(name, "cohen_kappa", [labels, predictions_idx, weights]):
        labels = convert(labels)
        labels.shape.with_rank_at_most(2)
        if labels.shape.rank == 2:
            labels = squeeze(labels, [-1])
        shaped: Any = matched(predictions_idx, labels, weights)
        predictions, labels, weights = shaped
        dtype = dtypes.int64 if weights is None or shaped[2].dtype.is_integer else dtypes.float32
        table = confusion_matrix(
            labels, predictions, num_classes=num_classes, weights=weights, dtype=dtype, name="counts_in_table"
        )
        parts = (tensor_diag_part(table), reduce_sum(table, axis=0), reduce_sum(table, axis=1))
        sums = [metric_variable([num_classes], dtype, name=n) for n in ("po", "pe_row", "pe_col")]
        updates = [assign_add(s, part) for s, part in zip(sums, parts, strict=True)]
        value = _kappa([convert(s) for s in sums], "value")
        return collected(value, _kappa(updates, "update_op"), metrics_collections, updates_collections)


def _kappa(parts: Sequence[Any], name: str) -> Any:
    agreed, rows, columns = parts
    hits, total = (cast(reduce_sum(x), dtypes.float64) for x in (agreed, rows))
    by_chance = reduce_sum(div_no_nan(cast(rows * columns, dtypes.float64), total))
    return div_no_nan(hits - by_chance, total - by_chance, name=name)


# --- areas of what was kept -------------------------------------------------------------------------------------------


def _labels_checked(labels: Any) -> tuple[Any, list[Any]]:
    labels = reshape(cast(labels, dtypes.int64), [-1])
    checks = [
        assert_greater_equal_v1(labels, raw.ZerosLike(labels), message="labels must be 0 or 1, at least one is <0"),
        assert_less_equal_v1(labels, raw.OnesLike(labels), message="labels must be 0 or 1, at least one is >1"),
    ]
    return labels, [c for c in checks if c is not None]


def streaming_dynamic_auc(
    labels: TensorLike,
    predictions: TensorLike,
    curve: str = "ROC",
    metrics_collections: Sequence[str] | str = (),
    updates_collections: Sequence[str] | str = (),
    name: str | None = None,
    weights: TensorLike | None = None,
) -> tuple[Tensor, Any]:
    """Return the area under the ROC or precision-recall curve with every prediction a threshold, and the update."""
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, "dynamic_auc"):
        labels, predictions = convert(labels), convert(predictions)
        labels.shape.assert_is_compatible_with(predictions.shape)
        predictions = reshape(cast(predictions, dtypes.float64), [-1])
        labels, checks = _labels_checked(labels)
        with control_dependencies(checks):
            kept = [
                streaming_concat(predictions, name="concat_preds"),
                streaming_concat(labels, name="concat_labels"),
            ]
            if weights is not None:
                weights = reshape(cast(weights, dtypes.float64), [-1])
                kept.append(streaming_concat(weights, name="concat_weights"))
            scores, truths, *rest = (value for value, _ in kept)
            masses = rest[0] if rest else raw.OnesLike(scores)
            area = _area_of_all(truths, scores, masses, curve)
            return collected(area, group(*(u for _, u in kept)), metrics_collections, updates_collections)


def _area_of_all(labels: Any, scores: Any, weights: Any, curve: str) -> Any:
    """Return the area by trapezoids between all different scores; 0 where all labels are alike."""
    is_true = raw.Greater(labels, 0)
    positive = reduce_sum(where_v1(is_true, weights, raw.ZerosLike(weights)))
    total = reduce_sum(weights)

    def area() -> Any:
        ordered, order = top_k(scores, raw.Size(scores))
        truth, mass = gather(is_true, order), gather(weights, order)
        ends = raw.PadV2(cumsum(unique_with_counts(ordered)[2]), [[1, 0]], 0)

        def up_to_ends(values: Any) -> Any:
            return gather(raw.PadV2(cumsum(values), [[1, 0]], cast(0.0, dtypes.float64)), ends)

        trues = up_to_ends(where_v1(truth, mass, raw.ZerosLike(mass)))
        if curve == "ROC":
            falses = up_to_ends(where_v1(truth, raw.ZerosLike(mass), mass))
            x, y = falses / (total - positive), trues / positive
        else:
            x = trues / positive
            y = where_v1(raw.Greater(ends, 0), trues / up_to_ends(mass), raw.OnesLike(trues))
        return reduce_sum((y[1:] + y[:-1]) / 2.0 * raw.Abs(x[1:] - x[:-1]))

    alike = raw.LogicalOr(raw.Equal(positive, 0), raw.Equal(positive, total))
    return cond(alike, lambda: cast(0.0, dtypes.float64), area)


AucData = namedtuple("AucData", "auc lower upper")


def auc_with_confidence_intervals(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Sequence[str] | str = (),
    updates_collections: Sequence[str] | str = (),
    name: str | None = None,
) -> tuple[AucData, Any]:
    """Return the area under the ROC curve between bounds that hold it with probability `alpha`, and the update.

    By DeLong's placement values, computed from ranks.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.2f}")
    with variable_scope(name, "auc_with_confidence_intervals", [labels, predictions, weights]):
        labels, predictions = convert(labels), convert(predictions)
        weights = raw.OnesLike(cast(labels, dtypes.float32)) if weights is None else as_floats(weights)
        predictions, labels, weights = matched(predictions, labels, weights)
        mass = reduce_sum(weights)
        predictions = reshape(cast(predictions, dtypes.float64), [-1])
        labels, checks = _labels_checked(labels)
        with control_dependencies(checks):
            kept = [
                streaming_concat(value, name=f"concat_{n}")
                for value, n in ((predictions, "preds"), (labels, "labels"), (reshape(weights, [-1]), "weights"))
            ]
            both_kinds = raw.LogicalAnd(raw.Equal(reduce_min(labels), 0), raw.Equal(reduce_max(labels), 1))
            enough = raw.GreaterEqual(mass, 1.0)
            everything = group(*(u for _, u in kept))
            update = cond(enough, lambda: everything, no_op)
            data = _with_bounds([value for value, _ in kept], alpha, logit_transformation)
            valid = raw.LogicalAnd(both_kinds, enough)
            found = AucData(*cond(valid, lambda: list(data), lambda: [convert(0.0)] * 3))
            return collected(found, update, metrics_collections, updates_collections)


def _with_bounds(kept: Sequence[Any], alpha: float, logit: bool) -> tuple[Any, Any, Any]:
    scores, labels, weights = kept
    order = raw.ReverseV2(top_k(scores, raw.Size(scores))[1], [0])
    is_true = cast(gather(labels, order), dtypes.float32)
    weights = gather(weights, order)
    places = unique(gather(scores, order))[1]
    sides = []
    for side in (1.0 - is_true, is_true):  # negatives first; each is placed among the other kind
        others = raw.SegmentSum(weights * (1.0 - side), places)
        placed = gather((cumsum(others, exclusive=True) + others / 2.0) / (reduce_sum(others) + TINY), places)
        mass = weights * side
        sides.append((placed, mass, reduce_sum(mass)))
    (placed_0, mass_0, total_0), (placed_1, mass_1, total_1) = sides
    area_0 = reduce_sum(mass_0 * (1.0 - placed_0)) / (total_0 + TINY)
    area_1 = reduce_sum(mass_1 * placed_1) / (total_1 + TINY)
    area = where_v1(raw.Less(total_0, total_1), area_1, area_0)
    spread_0 = reduce_sum(mass_0 * raw.Square(1.0 - placed_0 - area_0)) / (total_0 - 1.0 + TINY)
    spread_1 = reduce_sum(mass_1 * raw.Square(placed_1 - area_1)) / (total_1 - 1.0 + TINY)
    error = raw.Sqrt(spread_0 / (total_0 + TINY) + spread_1 / (total_1 + TINY))
    quantile = NormalDist().inv_cdf((1.0 - alpha) / 2.0)
    if logit:
        middle = raw.Log(area / (1.0 - area + TINY))
        error = error / (area * (1.0 - area + TINY))
        bounds = [1.0 / (1.0 + raw.Exp(-(middle + sign * quantile * error)) + TINY) for sign in (1.0, -1.0)]
    else:
        bounds = [area + sign * quantile * error for sign in (1.0, -1.0)]
    certain = raw.LogicalOr(raw.Equal(area, 1.0), raw.Equal(area, 0.0))
    lower, upper = (where_v1(certain, area, bound) for bound in bounds)
    return area, lower, upper


def auc_using_histogram(
    boolean_labels: TensorLike,
    scores: TensorLike,
    score_range: Sequence[float],
    nbins: int = 100,
    collections: Sequence[str] | None = None,
    check_shape: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Any]:
    """Return the area under the ROC curve as far as histograms of the scores tell it, and the update."""
    with variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        labels, scores = convert(boolean_labels), convert(scores)
        if labels.dtype.base_dtype is not dtypes.bool:
            raise ValueError(f"Expected bool labels, got {labels.dtype.name}")
        if check_shape:
            labels.shape.assert_is_compatible_with(scores.shape)
        where = collections or [GraphKeys.LOCAL_VARIABLES]
        kinds = {"hist_true": labels, "hist_false": raw.LogicalNot(labels)}
        histograms, updates = [], []
        for kind, mask in kinds.items():
            bins = VariableV1(lambda: zeros([nbins], dtypes.int64), trainable=False, collections=where, name=kind)
            chosen = boolean_mask(scores, mask)
            updates.append(assign_add(bins, histogram_fixed_width(chosen, score_range, nbins, dtype=dtypes.int64)))
            histograms.append(cast(bins, dtypes.float32))
        return _area_of_histograms(*histograms), group(*updates)


def _area_of_histograms(trues: Any, falses: Any) -> Any:
    """Return the area by trapezoids, from the highest bin down."""
    rates = []
    for bins in (falses, trues):
        found = cumsum(bins, reverse=True) / reduce_sum(bins)
        rates.append(concat([raw.Reverse(found, [True]), [1.0]], 0))
    x, y = (concat([[0.0], rate], 0) for rate in rates)
    return reduce_sum((y[1:] + y[:-1]) / 2.0 * (x[1:] - x[:-1]))
