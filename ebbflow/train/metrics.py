"""`tf.metrics` of TensorFlow 1: numbers gathered over many batches, in local variables.

Each function gives two tensors: the value so far, and one that takes in the current batch and gives the value then.
Means and errors are here, counts of hits and misses too; what depends on thresholds is in `metrics_thresholds`, what
ranks predictions in `metrics_ranking`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import as_dims
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, DTypeLike, ShapeLike, TensorLike
from ebbflow.distribute import current
from ebbflow.graph.collections import GraphKeys, add_to_collections
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.creation import identity, ones, ones_like_v1, zeros, zeros_like
from ebbflow.ops.arrays.shaping import reshape, size
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import div, div_no_nan, maximum
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where_v1
from ebbflow.ops.linalg.diag import tensor_diag_part
from ebbflow.ops.reduce.reductions import reduce_mean, reduce_sum
from ebbflow.state.base import VariableAggregation, VariableSynchronization
from ebbflow.state.functions import assign_add, scatter_add
from ebbflow.state.variable_scope import variable_scope
from ebbflow.state.variables import VariableV1
from ebbflow.train.confusion import confusion_matrix
from ebbflow.train.weights import as_floats, broadcast_weights, matched, remove_squeezable_dimensions

# --- what all share ---------------------------------------------------------------------------------------------------


def metric_variable(shape: ShapeLike, dtype: DTypeLike, validate_shape: bool = True, name: str | None = None) -> Any:
    """Return a local variable of zeros that a metric gathers in."""
    return VariableV1(
        lambda: zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        name=name,
        synchronization=VariableSynchronization.ON_READ,  # replicas count for themselves
        aggregation=VariableAggregation.SUM,
        shape=None if validate_shape else [None] * len(as_dims(shape) or ()),
    )


def only_in_graphs(name: str) -> None:
    """Refuse a metric where ops run at once: its update would be done, and gone."""
    if context.executing_eagerly():
        raise RuntimeError(f"tf.metrics.{name} is not supported when eager execution is enabled.")


def together(compute: Callable[..., Any], *variables: Any) -> Any:
    """Return what a metric's variables give; in one of several replicas, what those of all give."""
    if not current.thread.places or current.in_cross_replica_context():
        return compute(*variables)
    return current.get_replica_context().merge_call(lambda strategy, *own: compute(*own), args=variables)


def collected(value: Any, update: Any, metrics_collections: Any, updates_collections: Any) -> tuple[Any, Any]:
    """Return value and update, put into collections where those are named."""
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update


# --- means ------------------------------------------------------------------------------------------------------------


def mean(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the (weighted) mean of all values so far, and its update."""
    only_in_graphs("mean")
    with variable_scope(name, "mean", [values, weights]):
        values = cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = cast(size(values), dtypes.float32)
        else:
            values, _, weights = matched(values, None, weights)
            weights = broadcast_weights(as_floats(weights), values)
            values = raw.Mul(values, weights)
            number = reduce_sum(weights)
        more = assign_add(total, reduce_sum(values))
        with control_dependencies([values]):
            number = assign_add(count, number)
        value = together(lambda total, count: _quotient(total, count, "value"), total, count)
        return collected(value, _quotient(more, number, "update_op"), metrics_collections, updates_collections)


def _quotient(total: Any, count: Any, name: str) -> Any:
    return div_no_nan(total, maximum(count, 0), name=name)


def safe_scalar_div(numerator: TensorLike, denominator: TensorLike, name: str | None = None) -> Tensor:
    """Return the quotient of two numbers, 0 where the second is 0 (`metrics_impl._safe_scalar_div`)."""
    return div_no_nan(numerator, denominator, name=name)


def aggregate_variable(v: TensorLike, collections: Sequence[str] | str | None) -> Any:
    """Return the value of a metric's variable, put into collections (`metrics_impl._aggregate_variable`)."""
    value = raw.Identity(v)
    if collections:
        add_to_collections(collections, value)
    return value


def mean_tensor(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the (weighted) mean of tensors so far, element by element, and its update."""
    only_in_graphs("mean_tensor")
    with variable_scope(name, "mean", [values, weights]):
        values = cast(values, dtypes.float32)
        total = metric_variable(values.get_shape(), dtypes.float32, name="total_tensor")
        count = metric_variable(values.get_shape(), dtypes.float32, name="count_tensor")
        number = ones_like_v1(values)
        if weights is not None:
            values, _, weights = matched(values, None, weights)
            weights = broadcast_weights(as_floats(weights), values)
            values, number = raw.Mul(values, weights), raw.Mul(number, weights)
        more = assign_add(total, values)
        with control_dependencies([values]):
            number = assign_add(count, number)
        value = together(lambda total, count: _quotient(total, count, "value"), total, count)
        return collected(value, _quotient(more, number, "update_op"), metrics_collections, updates_collections)


def accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return how often predictions equal labels, and its update."""
    only_in_graphs("accuracy")
    predictions, labels, weights = matched(predictions, labels, weights)
    if labels.dtype is not predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    hits = cast(raw.Equal(predictions, labels), dtypes.float32)
    return mean(hits, weights, metrics_collections, updates_collections, name or "accuracy")


def percentage_below(
    values: TensorLike,
    threshold: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return which part of the values is below a threshold, and its update."""
    only_in_graphs("percentage_below")
    below = cast(raw.Less(values, threshold), dtypes.float32)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


# --- errors -----------------------------------------------------------------------------------------------------------


def _floats(labels: Any, predictions: Any, weights: Any) -> tuple[Tensor, Tensor, Any]:
    predictions, labels, weights = matched(cast(predictions, dtypes.float32), cast(labels, dtypes.float32), weights)
    return labels, predictions, weights


def mean_absolute_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the mean of |predictions - labels|, and its update."""
    only_in_graphs("mean_absolute_error")
    labels, predictions, weights = _floats(labels, predictions, weights)
    errors = raw.Abs(predictions - labels)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the mean of (predictions - labels)², and its update."""
    only_in_graphs("mean_squared_error")
    labels, predictions, weights = _floats(labels, predictions, weights)
    errors = raw.SquaredDifference(labels, predictions)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_squared_error")


def root_mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the root of the mean of (predictions - labels)², and its update."""
    only_in_graphs("root_mean_squared_error")
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return collected(raw.Sqrt(value), raw.Sqrt(update), metrics_collections, updates_collections)


def mean_relative_error(
    labels: TensorLike,
    predictions: TensorLike,
    normalizer: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the mean of |labels - predictions| / normalizer (0 where that is 0), and its update."""
    only_in_graphs("mean_relative_error")
    labels, predictions, weights = _floats(labels, predictions, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.get_shape().assert_is_compatible_with(normalizer.get_shape())
    errors = where_v1(raw.Equal(normalizer, 0.0), zeros_like(labels), div(raw.Abs(labels - predictions), normalizer))
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    dim: Axis,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return 1 minus the mean of labels · predictions along `dim` (of vectors of length 1), and its update."""
    only_in_graphs("mean_cosine_distance")
    labels, predictions, weights = _floats(labels, predictions, weights)
    close = reduce_sum(raw.Mul(predictions, labels), [dim], keepdims=True)
    value, update = mean(close, weights, None, None, name or "mean_cosine_distance")
    return collected(raw.Sub(1.0, value), raw.Sub(1.0, update), metrics_collections, updates_collections)


# --- counts -----------------------------------------------------------------------------------------------------------


def _count(hits: Any, weights: Any, metrics_collections: Any, updates_collections: Any) -> tuple[Any, Any]:
    """Return how often something was so (or what the weights add up to), and the update."""
    count = metric_variable([], dtypes.float32, name="count")
    values = cast(hits, dtypes.float32)
    if weights is not None:
        weights = as_floats(weights)
        if weights._dims is not None and values._dims is not None and len(weights._dims) not in (0, len(values._dims)):
            raise ValueError(f"weights must be of rank 0 or {len(values._dims)}, got shape {weights.get_shape()}")
        values = raw.Mul(values, weights)
    value = identity(count)
    return collected(value, assign_add(count, reduce_sum(values)), metrics_collections, updates_collections)


def _counter(kind: str, label: bool, prediction: bool, doc: str) -> Callable[..., tuple[Any, Any]]:
    """Return the metric that counts cases of this label that were predicted so."""

    def function(
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
        metrics_collections: Sequence[str] | str | None = None,
        updates_collections: Sequence[str] | str | None = None,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor]:
        only_in_graphs(kind)
        with variable_scope(name, kind, [predictions, labels, weights]):
            given = cast(predictions, dtypes.bool), cast(labels, dtypes.bool)
            predictions, labels, weights = matched(*given, weights)
            hits = raw.LogicalAnd(raw.Equal(labels, label), raw.Equal(predictions, prediction))
            return _count(hits, weights, metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = kind
    function.__doc__ = doc
    return function


true_positives = _counter("true_positives", True, True, "Return how many true labels were predicted, and the update.")
true_negatives = _counter(
    "true_negatives", False, False, "Return how many false labels were predicted as such, and the update."
)
false_positives = _counter(
    "false_positives", False, True, "Return how many false labels were predicted as true, and the update."
)
false_negatives = _counter(
    "false_negatives", True, False, "Return how many true labels were predicted as false, and the update."
)


def precision(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return which part of what was predicted as true is, and the update."""
    only_in_graphs("precision")
    return _part(
        "precision", false_positives, labels, predictions, weights, metrics_collections, updates_collections, name
    )


def recall(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return which part of what is true was predicted, and the update."""
    only_in_graphs("recall")
    return _part(
        "recall", false_negatives, labels, predictions, weights, metrics_collections, updates_collections, name
    )


def _part(kind: str, misses: Any, labels: Any, predictions: Any, weights: Any, *collections_and_name: Any) -> Any:
    *collections, name = collections_and_name
    with variable_scope(name, kind, [predictions, labels, weights]):
        given = cast(predictions, dtypes.bool), cast(labels, dtypes.bool)
        predictions, labels, weights = matched(*given, weights)
        hit, hit_update = true_positives(labels, predictions, weights)
        miss, miss_update = misses(labels, predictions, weights)

        def quotient(a: Any, b: Any, name: str) -> Any:
            return where_v1(raw.Greater(a + b, 0), div(a, a + b), 0.0, name=name)

        return collected(quotient(hit, miss, "value"), quotient(hit_update, miss_update, "update_op"), *collections)


# --- classes ----------------------------------------------------------------------------------------------------------


def mean_iou(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the mean over classes of intersection over union, and the update, which gives the confusion matrix."""
    only_in_graphs("mean_iou")
    with variable_scope(name, "mean_iou", [predictions, labels, weights]):
        predictions = convert(predictions)
        predictions.get_shape().assert_is_compatible_with(convert(labels).get_shape())
        total = metric_variable([num_classes, num_classes], dtypes.float64, name="total_confusion_matrix")
        flat = [_flat(cast(x, dtypes.int64)) for x in (labels, predictions)]
        weights = None if weights is None else _flat(convert(weights))
        update = assign_add(total, confusion_matrix(flat[0], flat[1], num_classes, weights, dtypes.float64))
        return collected(_mean_iou(total), update, metrics_collections, updates_collections)


def _flat(x: Any) -> Tensor:
    return reshape(x, [-1]) if x._dims is None or len(x._dims) > 1 else x


def _mean_iou(matrix: Any) -> Any:
    rows = cast(reduce_sum(matrix, 0), dtypes.float32)
    columns = cast(reduce_sum(matrix, 1), dtypes.float32)
    both = cast(tensor_diag_part(convert(matrix)), dtypes.float32)
    union = rows + columns - both
    met = reduce_sum(cast(raw.NotEqual(union, 0.0), dtypes.float32))
    union = where_v1(raw.Greater(union, 0.0), union, ones_like_v1(union))
    shares = div(both, union)
    return where_v1(raw.Greater(met, 0.0), reduce_sum(shares, name="mean_iou") / met, 0.0)


def mean_per_class_accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the mean over classes of how often each was predicted rightly, and the update, which gives them apart."""
    only_in_graphs("mean_per_class_accuracy")
    with variable_scope(name, "mean_accuracy", [predictions, labels, weights]):
        labels = _flat(cast(labels, dtypes.int64))
        predictions = _flat(convert(predictions))
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        number = ones([size(labels)], dtypes.float32)
        if labels.dtype is not predictions.dtype:
            predictions = cast(predictions, labels.dtype)
        hits = cast(raw.Equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = as_floats(_flat(convert(weights)))
            hits, number = raw.Mul(hits, weights), raw.Mul(number, weights)
        more = scatter_add(total, labels, number)
        more_hits = scatter_add(count, labels, hits)
        value = reduce_mean(div_no_nan(count, maximum(total, 0)), name="mean_accuracy")
        update = _quotient(more_hits, more, "update_op")
        return collected(value, update, metrics_collections, updates_collections)
