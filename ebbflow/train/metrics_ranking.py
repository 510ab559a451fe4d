"""Metrics of rankings: whether the right classes are among the first k.

Labels are sets: the classes that are right for each case, as the last axis of a tensor, or as a sparse tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import dimension_value
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.shaping import expand_dims, size
from ebbflow.ops.arrays.sorting import top_k
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import div, div_no_nan
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.reduce.reductions import reduce_any, reduce_sum
from ebbflow.ops.reduce.scan import cumsum
from ebbflow.ops.sparse.functions import convert_to_tensor_or_sparse_tensor, to_dense
from ebbflow.ops.sparse.functions import expand_dims as sparse_expand_dims
from ebbflow.state.functions import assign_add
from ebbflow.train.metrics import collected, metric_variable, only_in_graphs
from ebbflow.train.weights import broadcast_weights

WIDE = dtypes.float64


def _at_k(name: str, k: Any, class_id: Any = None) -> str:
    named = f"{name}_at_{k}" if k is not None else f"{name}_at_k"
    return named if class_id is None else f"{named}_class{class_id}"


# --- sets -------------------------------------------------------------------------------------------------------------


class _Sets:
    """One set of integers for each case: numbers [..., n], and which of them count."""

    def __init__(self, values: Any, counts: Any):
        self.values = values
        self.counts = counts

    def only(self, class_id: Any) -> _Sets:
        """Return the sets with everything but one class taken out."""
        if class_id is None:
            return self
        return _Sets(self.values, raw.LogicalAnd(self.counts, raw.Equal(self.values, cast(class_id, dtypes.int64))))

    def members_in(self, other: _Sets) -> Any:
        """Return which of the numbers are in the other set too."""
        same = raw.Equal(expand_dims(self.values, -1), expand_dims(other.values, -2))
        met = reduce_any(raw.LogicalAnd(same, expand_dims(other.counts, -2)), axis=-1)
        return raw.LogicalAnd(self.counts, met)


def _first(ids: Any) -> _Sets:
    values = cast(ids, dtypes.int64)
    return _Sets(values, raw.GreaterEqual(raw.ZerosLike(values), raw.ZerosLike(values)))


def _labelled(labels: Any, predictions: Any) -> _Sets:
    """Return labels as sets: each number counts once."""
    labels = convert_to_tensor_or_sparse_tensor(labels)
    _check_ranks(labels.shape, predictions.shape)
    one_each = None not in (labels.shape.rank, predictions.shape.rank) and labels.shape.rank < predictions.shape.rank
    if isinstance(labels, SparseTensor):
        labels = sparse_expand_dims(labels, -1) if one_each else labels
        there = to_dense(labels.with_values(raw.OnesLike(labels.values)))
        return _once(cast(to_dense(labels), dtypes.int64), raw.NotEqual(there, raw.ZerosLike(there)))
    labels = cast(labels, dtypes.int64)
    labels = expand_dims(labels, -1) if one_each else labels
    return _once(labels, raw.Equal(labels, labels))


def _check_ranks(labels: Any, predictions: Any) -> None:
    if labels.rank is None or predictions.rank is None:
        return
    if labels.rank not in (predictions.rank, predictions.rank - 1):
        raise ValueError(
            f"Unexpected labels shape {labels} for predictions shape {predictions}. Predictions rank should be the "
            "same rank as labels rank or labels rank plus one."
        )
    if predictions.rank < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {predictions.rank}: predictions of {predictions}")


def _once(values: Any, counts: Any) -> _Sets:
    earlier = raw.LogicalAnd(raw.Equal(expand_dims(values, -1), expand_dims(values, -2)), expand_dims(counts, -2))
    # a number counts unless the same one stands before it in the row
    before = raw.MatrixBandPart(cast(earlier, dtypes.int32), cast(-1, dtypes.int64), cast(0, dtypes.int64))
    repeats = reduce_sum(before, axis=-1)
    return _Sets(values, raw.LogicalAnd(counts, raw.LessEqual(repeats, 1)))


def _number(flags: Any, weights: Any) -> Any:
    """Return how many hold in each case, times its weight."""
    count = cast(reduce_sum(cast(flags, dtypes.int32), axis=-1), WIDE)
    return count if weights is None else raw.Mul(count, broadcast_weights(cast(weights, WIDE), count))


def _gathered(kind: str, k: Any, class_id: Any, flags: Any, weights: Any) -> tuple[Any, Any]:
    """Return the variable that counts over batches, and its update."""
    with name_scope(None, _at_k(kind, k, class_id)) as scope:
        variable = metric_variable([], WIDE, name=scope)
        return variable, assign_add(variable, reduce_sum(_number(flags, weights)), name="update")


# --- recall and precision ---------------------------------------------------------------------------------------------


def recall_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: TensorLike,
    class_id: TensorLike | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return which part of the right classes is among the k best predicted, and the update."""
    only_in_graphs("recall_at_k")
    with name_scope(name, _at_k("recall", k, class_id), [predictions, labels, weights]) as scope:
        best = top_k(predictions, k)[1]
        return recall_at_top_k(labels, best, k, class_id, weights, metrics_collections, updates_collections, name=scope)


def recall_at_top_k(
    labels: TensorLike,
    predictions_idx: TensorLike,
    k: TensorLike | None = None,
    class_id: TensorLike | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return which part of the right classes is among those predicted, and the update."""
    return _ranked(
        "recall", labels, predictions_idx, k, class_id, weights, metrics_collections, updates_collections, name
    )


def precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: TensorLike,
    class_id: TensorLike | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return which part of the k best predicted classes is right, and the update."""
    only_in_graphs("precision_at_k")
    with name_scope(name, _at_k("precision", k, class_id), [predictions, labels, weights]) as scope:
        best = top_k(predictions, k)[1]
        return precision_at_top_k(
            labels, best, k, class_id, weights, metrics_collections, updates_collections, name=scope
        )


sparse_precision_at_k = precision_at_k


def precision_at_top_k(
    labels: TensorLike,
    predictions_idx: TensorLike,
    k: TensorLike | None = None,
    class_id: TensorLike | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return which part of the predicted classes is right, and the update."""
    return _ranked(
        "precision", labels, predictions_idx, k, class_id, weights, metrics_collections, updates_collections, name
    )


def _ranked(kind: str, labels: Any, ids: Any, k: Any, class_id: Any, weights: Any, *collections_and_name: Any) -> Any:
    only_in_graphs(f"{kind}_at_top_k")
    *collections, name = collections_and_name
    with name_scope(name, _at_k(kind, k, class_id), [ids, labels, weights]) as scope:
        ids = convert(ids)
        predicted, right = _first(ids).only(class_id), _labelled(labels, ids).only(class_id)
        hits = predicted.members_in(right)
        hit, hit_update = _gathered("true_positive", k, class_id, hits, weights)
        if kind == "recall":
            misses = raw.LogicalAnd(right.counts, raw.LogicalNot(right.members_in(predicted)))
            miss, miss_update = _gathered("false_negative", k, class_id, misses, weights)
        else:
            misses = raw.LogicalAnd(predicted.counts, raw.LogicalNot(hits))
            miss, miss_update = _gathered("false_positive", k, class_id, misses, weights)
        value = div(hit, raw.AddV2(hit, miss, name="add"), name=scope)
        update = div(hit_update, raw.AddV2(hit_update, miss_update, name="add"), name="update")
        return collected(value, update, *collections)


# --- average precision ------------------------------------------------------------------------------------------------


def average_precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the mean over cases of the precision at each right class among the k best, and the update."""
    only_in_graphs("average_precision_at_k")
    if isinstance(k, (int, np.integer)) and k < 1:
        raise ValueError(f"Invalid k={k}.")
    with name_scope(name, _at_k("average_precision", k), [predictions, labels, weights]) as scope:
        best = top_k(predictions, k)[1]
        return _mean_of_precisions(labels, best, k, weights, metrics_collections, updates_collections, scope)


def average_precision_at_top_k(
    labels: TensorLike,
    predictions_idx: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return `average_precision_at_k` for predictions that are class numbers already, best first, and its update."""
    only_in_graphs("average_precision_at_top_k")
    best = convert(predictions_idx)
    k = dimension_value(best.shape[-1]) if best.shape.rank else None
    if k is None:
        raise ValueError(f"the last axis of predictions_idx must have a known length, got shape {best.shape}")
    with name_scope(name, _at_k("average_precision", int(k)), [best, labels, weights]) as scope:
        return _mean_of_precisions(labels, best, int(k), weights, metrics_collections, updates_collections, scope)


def _mean_of_precisions(
    labels: Any, best: Any, k: Any, weights: Any, metrics_collections: Any, updates_collections: Any, scope: str
) -> tuple[Tensor, Tensor]:
    """Return the mean of average precisions so far, and its update."""
    each = _average_precision(_first(best), _labelled(labels, best), k)
    number = cast(size(each, name="batch_max"), WIDE)
    if weights is not None:
        weights = broadcast_weights(cast(weights, WIDE), each)
        each, number = raw.Mul(each, weights), reduce_sum(weights)
    with name_scope(None, "max_1") as inner:
        most = metric_variable([], WIDE, name=inner)
        more = assign_add(most, number, name="update")
    with name_scope(None, "total") as inner:
        total = metric_variable([], WIDE, name=inner)
        sums = assign_add(total, reduce_sum(each, name="batch_total"), name="update")
    value = div_no_nan(total, most, name="mean")
    return collected(value, div_no_nan(sums, more, name=scope), metrics_collections, updates_collections)


sparse_average_precision_at_k = average_precision_at_k


def _average_precision(predicted: _Sets, right: _Sets, k: Any) -> Any:
    """Return for each case the precision at those of its first k that are right, over how many could be."""
    hits = cast(predicted.members_in(right), WIDE)
    places = cumsum(raw.OnesLike(hits), axis=-1)
    precision = cumsum(hits, axis=-1) / places
    could = cast(raw.Minimum(reduce_sum(cast(right.counts, dtypes.int32), axis=-1), k), WIDE)
    return div_no_nan(reduce_sum(precision * hits, axis=-1), could)
