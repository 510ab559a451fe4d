"""Metrics of `tf.contrib.metrics` that choose a point of a curve: the best F1, recall where precision is enough, rates.

Like `metrics_thresholds`, whose counts at many thresholds they read; `streaming_dynamic_auc` and its like, which keep
all predictions, are in `metrics_kept`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.functions.control_flow.cond import cond_v1 as cond
from ebbflow.graph.scopes import control_dependencies, group
from ebbflow.ops.arrays.argmax import argmax, argmin
from ebbflow.ops.arrays.joining import stack
from ebbflow.ops.arrays.ranges import linspace
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.checks.asserts import assert_greater_equal_v1, assert_less_equal_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import div, maximum
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where_v1
from ebbflow.ops.reduce.reductions import reduce_max, reduce_sum
from ebbflow.ops.reduce.scan import cumsum
from ebbflow.state.functions import scatter_add
from ebbflow.state.variable_scope import variable_scope
from ebbflow.train import metrics
from ebbflow.train.metrics import collected, metric_variable, only_in_graphs
from ebbflow.train.metrics_thresholds import TINY, confusion_matrix_at_thresholds, even_thresholds
from ebbflow.train.weights import matched

Counts = dict[str, Any]


def _at_points(
    kind: str, labels: Any, predictions: Any, weights: Any, count: int, point: Callable[[Counts, str], Any],
    metrics_collections: Any, updates_collections: Any, name: str | None, includes: Sequence[str] | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Return a number that `point` reads off the counts at `count` thresholds, and its update."""
    with variable_scope(name, kind, [labels, predictions, weights]):
        thresholds = even_thresholds(count)
        values, updates = confusion_matrix_at_thresholds(labels, predictions, thresholds, weights, includes)
        values, updates = ({k: convert(v) for k, v in counts.items()} for counts in (values, updates))
        return collected(point(values, "value"), point(updates, "update_op"), metrics_collections, updates_collections)


def f1_score(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the best F1 of all thresholds, and the update."""

    def best(counts: Counts, name: str) -> Any:
        tp, fp, fn = (counts[key] for key in ("tp", "fp", "fn"))
        right, recalled = div(tp, TINY + tp + fp), div(tp, TINY + tp + fn)
        return reduce_max(2.0 * right * recalled / (right + recalled + TINY))

    predictions, labels, weights = matched(predictions, labels, weights)
    collections = metrics_collections, updates_collections
    counted = ("tp", "fp", "fn")
    return _at_points("f1", labels, predictions, weights, num_thresholds, best, *collections, name, counted)


def precision_at_recall(
    labels: TensorLike,
    predictions: TensorLike,
    target_recall: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the precision at the highest threshold whose recall is at least the one asked for, and the update."""
    only_in_graphs("precision_at_recall")
    if not 0 <= target_recall <= 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")

    def precision(counts: Counts, name: str) -> Any:
        tp, fp, fn = (counts[key] for key in ("tp", "fp", "fn"))
        enough = raw.GreaterEqual(div(tp, tp + fn + TINY), target_recall)  # falls as the threshold rises
        at = reduce_sum(cast(enough, dtypes.int64)) - 1
        return div(tp[at] + TINY, tp[at] + fp[at] + TINY, name=name)

    collections = metrics_collections, updates_collections
    kind = "precision_at_recall"
    return _at_points(kind, labels, predictions, weights, num_thresholds, precision, *collections, name)


def recall_at_precision(
    labels: TensorLike,
    predictions: TensorLike,
    precision: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the recall where the precision is nearest to the one asked for, and the update.

    In `strict_mode` it must not be smaller: the recall is 0 where it is at no threshold.
    """
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")

    def recall(counts: Counts, name: str) -> Any:
        tp, fp, fn = (counts[key] for key in ("tp", "fp", "fn"))
        found = div(tp, tp + fp + TINY)
        if not strict_mode:
            at = cast(argmin(raw.Abs(found - precision), 0), dtypes.int32)
            return div(tp[at], tp[at] + fn[at] + TINY, name=name)
        # One over the difference: the smallest that is above comes first, and all below come last.
        at = cast(argmax(div(1.0, found - precision + TINY), 0), dtypes.int32)
        value = div(tp[at], tp[at] + fn[at] + TINY, name=name)
        return cond(raw.GreaterEqual(found[at], precision), lambda: value, lambda: 0.0)

    collections = metrics_collections, updates_collections
    kind = "recall_at_precision"
    return _at_points(kind, labels, predictions, weights, num_thresholds, recall, *collections, name)


def streaming_curve_points(
    labels: TensorLike | None = None,
    predictions: TensorLike | None = None,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    curve: str = "ROC",
    name: str | None = None,
) -> tuple[Tensor, Any]:
    """Return the points of the ROC or precision-recall curve, a row each, and the update."""
    with variable_scope(name, "curve_points", [labels, predictions, weights]):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        thresholds = even_thresholds(num_thresholds)
        counts, updates = confusion_matrix_at_thresholds(convert(labels), convert(predictions), thresholds, weights)
        tp, fn, tn, fp = (counts[key] for key in ("tp", "fn", "tn", "fp"))
        epsilon = 1.0e-6
        recalled = div(tp + epsilon, tp + fn + epsilon)
        if curve == "ROC":
            points = stack([div(fp, fp + tn + epsilon), recalled], axis=1)
        else:
            points = stack([recalled, div(tp + epsilon, tp + fp + epsilon)], axis=1)
        return collected(points, group(*updates.values()), metrics_collections, updates_collections)


# --- rates of misses --------------------------------------------------------------------------------------------------


def _rate(kind: str, miss: Callable[..., Any], hit: Callable[..., Any], doc: str) -> Callable[..., tuple[Any, Any]]:
    def function(
        predictions: TensorLike,
        labels: TensorLike,
        weights: TensorLike | None = None,
        metrics_collections: Sequence[str] | str | None = None,
        updates_collections: Sequence[str] | str | None = None,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor]:
        with variable_scope(name, kind, [predictions, labels, weights]):
            given = cast(predictions, dtypes.bool), cast(labels, dtypes.bool)
            predictions, labels, weights = matched(*given, weights)
            misses, update_misses = miss(labels, predictions, weights)
            hits, update_hits = hit(labels, predictions, weights)

            def part(misses: Any, hits: Any, name: str) -> Any:
                total = misses + hits
                return where_v1(raw.Greater(total, 0.0), div(misses, total), 0.0, name=name)

            found = part(misses, hits, "value"), part(update_misses, update_hits, "update_op")
            return collected(*found, metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = f"streaming_{kind}"
    function.__doc__ = doc
    return function


streaming_false_positive_rate = _rate(
    "false_positive_rate", metrics.false_positives, metrics.true_negatives,
    "Return which part of what is false was predicted as true, and the update.",
)  # fmt: skip
streaming_false_negative_rate = _rate(
    "false_negative_rate", metrics.false_negatives, metrics.true_positives,
    "Return which part of what is true was predicted as false, and the update.",
)  # fmt: skip


def _rate_at(kind: str, miss: str, hit: str, doc: str) -> Callable[..., tuple[Any, Any]]:
    def function(
        predictions: TensorLike,
        labels: TensorLike,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
        metrics_collections: Sequence[str] | str | None = None,
        updates_collections: Sequence[str] | str | None = None,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor]:
        with variable_scope(name, f"{kind}_at_thresholds", [predictions, labels, weights]):
            both = (miss, hit)
            values, updates = confusion_matrix_at_thresholds(labels, predictions, thresholds, weights, both)

            def part(counts: Counts, name: str) -> Any:
                return div(counts[miss], TINY + counts[miss] + counts[hit], name=f"{kind}_{name}")

            found = part(values, "value"), part(updates, "update_op")
            return collected(*found, metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = f"streaming_{kind}_at_thresholds"
    function.__doc__ = doc
    return function


streaming_false_positive_rate_at_thresholds = _rate_at(
    "false_positive_rate", "fp", "tn", "Return which part of what is false is above each threshold, and the update."
)
streaming_false_negative_rate_at_thresholds = _rate_at(
    "false_negative_rate", "fn", "tp", "Return which part of what is true is below each threshold, and the update."
)


# --- in buckets of equal width ----------------------------------------------------------------------------------------

PrecisionRecallData = namedtuple("PrecisionRecallData", "tp fp tn fn precision recall thresholds")


def precision_recall_at_equal_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> tuple[PrecisionRecallData, Any]:
    """Return hits, misses, precision and recall at evenly spaced thresholds, and the update.

    Each prediction is counted once, in its bucket: sums over the buckets above are what other metrics count.
    """
    count = 201 if num_thresholds is None else num_thresholds
    predictions, labels = convert(predictions), convert(labels)
    if labels.dtype.base_dtype is not dtypes.bool:
        raise TypeError(f"labels must be bool, got {labels.dtype.name}")
    with variable_scope(name, "precision_recall_at_equal_thresholds", [labels, predictions, weights]):
        predictions, labels, weights = _in_range(predictions, labels, 1.0 if weights is None else weights)
        is_true = cast(labels, dtypes.float64)
        weights = cast(weights, dtypes.float64)
        flat = reshape(predictions, [-1])
        bucket = cast(raw.Floor(flat * (count - 1)), dtypes.int32)
        with name_scope("variables"):
            trues = metric_variable([count], dtypes.float64, name="tp_buckets")
            falses = metric_variable([count], dtypes.float64, name="fp_buckets")
        with name_scope("update_op"):
            update = group(
                scatter_add(trues, bucket, reshape(is_true * weights, [-1])),
                scatter_add(falses, bucket, reshape((1.0 - is_true) * weights, [-1])),
            )
        return _from_buckets(convert(trues), convert(falses), count, flat.dtype), update


def _in_range(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    zero, one = (cast(n, predictions.dtype) for n in (0.0, 1.0))
    checks = [
        assert_greater_equal_v1(predictions, zero, message="predictions must be in [0, 1]"),
        assert_less_equal_v1(predictions, one, message="predictions must be in [0, 1]"),
    ]
    with control_dependencies([c for c in checks if c is not None]):
        return matched(raw.Identity(predictions), labels, weights)


def _from_buckets(trues: Any, falses: Any, count: int, dtype: Any) -> PrecisionRecallData:
    tp, fp = cumsum(trues, reverse=True, name="tp"), cumsum(falses, reverse=True, name="fp")
    tn, fn = fp[0] - fp, tp[0] - tp
    least = cast(1e-7, dtypes.float64)
    found = (tp, fp, tn, fn, tp / maximum(least, tp + fp), tp / maximum(least, tp + fn), linspace(0.0, 1.0, count))
    return PrecisionRecallData(*(cast(x, dtype) for x in found))
