"""`tf.contrib.metrics`: the metrics of `tf.metrics` under their first names, predictions before labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.sorting import in_top_k
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.reduce.reductions import reduce_mean, reduce_sum
from ebbflow.train import metrics, metrics_ranking, metrics_thresholds
from ebbflow.train.weights import as_floats


def _predictions_first(metric: Callable[..., Any]) -> Callable[..., Any]:
    def function(predictions: TensorLike, labels: TensorLike, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        return metric(labels, predictions, *args, **kwargs)

    function.__name__ = function.__qualname__ = f"streaming_{metric.__name__}"
    function.__doc__ = f"`tf.metrics.{metric.__name__}`, with predictions before labels."
    return function


streaming_accuracy = _predictions_first(metrics.accuracy)
streaming_auc = _predictions_first(metrics_thresholds.auc)
streaming_false_negatives = _predictions_first(metrics.false_negatives)
streaming_false_positives = _predictions_first(metrics.false_positives)
streaming_mean_absolute_error = _predictions_first(metrics.mean_absolute_error)
streaming_mean_cosine_distance = _predictions_first(metrics.mean_cosine_distance)
streaming_mean_iou = _predictions_first(metrics.mean_iou)
streaming_mean_relative_error = _predictions_first(metrics.mean_relative_error)
streaming_mean_squared_error = _predictions_first(metrics.mean_squared_error)
streaming_precision = _predictions_first(metrics.precision)
streaming_precision_at_thresholds = _predictions_first(metrics_thresholds.precision_at_thresholds)
streaming_recall = _predictions_first(metrics.recall)
streaming_recall_at_thresholds = _predictions_first(metrics_thresholds.recall_at_thresholds)
streaming_root_mean_squared_error = _predictions_first(metrics.root_mean_squared_error)
streaming_sensitivity_at_specificity = _predictions_first(metrics_thresholds.sensitivity_at_specificity)
streaming_sparse_precision_at_k = _predictions_first(metrics_ranking.precision_at_k)
streaming_sparse_recall_at_k = _predictions_first(metrics_ranking.recall_at_k)
streaming_specificity_at_sensitivity = _predictions_first(metrics_thresholds.specificity_at_sensitivity)
streaming_sparse_average_precision_at_k = _predictions_first(metrics_ranking.average_precision_at_k)
streaming_true_positives_at_thresholds = _predictions_first(metrics_thresholds.true_positives_at_thresholds)
streaming_true_negatives_at_thresholds = _predictions_first(metrics_thresholds.true_negatives_at_thresholds)
streaming_false_positives_at_thresholds = _predictions_first(metrics_thresholds.false_positives_at_thresholds)
streaming_false_negatives_at_thresholds = _predictions_first(metrics_thresholds.false_negatives_at_thresholds)
streaming_true_negatives = _predictions_first(metrics.true_negatives)
streaming_true_positives = _predictions_first(metrics.true_positives)
streaming_mean = metrics.mean
streaming_mean_tensor = metrics.mean_tensor
streaming_percentage_less = metrics.percentage_below


def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.metrics.average_precision_at_k` of class numbers, best first; predictions come before labels."""
    return metrics_ranking.average_precision_at_top_k(
        labels, top_k_predictions, weights, metrics_collections, updates_collections, name
    )


def streaming_sparse_precision_at_top_k(
    top_k_predictions: TensorLike,
    labels: TensorLike,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.metrics.precision_at_top_k`, with predictions before labels."""
    return metrics_ranking.precision_at_top_k(
        labels, top_k_predictions, None, class_id, weights, metrics_collections, updates_collections, name
    )


def sparse_recall_at_top_k(
    labels: TensorLike,
    top_k_predictions: TensorLike,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.metrics.recall_at_top_k` without k."""
    return metrics_ranking.recall_at_top_k(
        labels, top_k_predictions, None, class_id, weights, metrics_collections, updates_collections, name
    )


def streaming_recall_at_k(
    predictions: TensorLike,
    labels: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return how often a row's one label is among its `k` highest predictions, and the update."""
    hits = cast(in_top_k(labels, predictions, k), dtypes.float32)
    return metrics.mean(hits, weights, metrics_collections, updates_collections, name or f"recall_at_{k}")


def accuracy(
    predictions: TensorLike, labels: TensorLike, weights: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Return how often predictions equal labels in this batch.

    >>> float(accuracy([1, 2], [1, 3]))
    0.5
    """
    predictions, labels = convert(predictions), convert(labels)
    if predictions.dtype.base_dtype is not labels.dtype.base_dtype or predictions.dtype.is_floating:
        raise ValueError(
            f"Labels and predictions should be integers, booleans or strings of one type, got {labels.dtype.name} and "
            f"{predictions.dtype.name}."
        )
    with name_scope(name, "accuracy", [predictions, labels]):
        hits = cast(raw.Equal(predictions, labels), dtypes.float32)
        if weights is None:
            return reduce_mean(hits)
        weights = as_floats(weights)
        return reduce_sum(raw.Mul(weights, hits)) / reduce_sum(weights * raw.OnesLike(hits))


def aggregate_metrics(*value_update_tuples: Any) -> tuple[list[Tensor], list[Any]]:
    """Return the values of several metrics, and their updates."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of several metrics by name, and their updates by name.

    >>> aggregate_metric_map({"a": (1, 2)})
    ({'a': 1}, {'a': 2})
    """
    return {n: v for n, (v, _) in names_to_tuples.items()}, {n: u for n, (_, u) in names_to_tuples.items()}
