"""The losses of `tf.losses`: one number for how far predictions are from labels, kept in a collection of the graph.

Each computes a loss per element, weighs it, and reduces it as `Reduction` says (by default to the mean over elements
whose weight is not zero). In a graph the result is added to the collection LOSSES, which `get_total_loss` adds up.
Knows ops and collections; knows nothing of layers or optimizers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.graph.collections import GraphKeys, get_collection
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.ranges import range as range_of
from ebbflow.ops.arrays.shaping import rank as rank_of
from ebbflow.ops.arrays.shaping import size as size_of
from ebbflow.ops.arrays.shaping import squeeze
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import div_no_nan
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.sums import add_n
from ebbflow.ops.nn.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from ebbflow.ops.reduce.reductions import one_of, reduce_sum
from ebbflow.state.regularizers import get_regularization_losses
from ebbflow.train.weights import broadcastable, remove_squeezable_dimensions


class Reduction:
    """How losses of elements become one loss."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Return every way there is."""
        return (
            cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )  # fmt: skip

    @classmethod
    def validate(cls, key: str) -> None:
        """Raise ValueError where there is no such way."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


# --- collected losses -------------------------------------------------------------------------------------------------


def add_loss(loss: TensorLike | Callable[..., Any], loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Add a loss to a collection of the graph."""
    if loss_collection and not context.executing_eagerly():
        context.default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """Return the losses collected (under `scope`)."""
    return get_collection(loss_collection, scope)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """Return the sum of the losses collected, those of regularizers included."""
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope=scope)
    return add_n(losses, name=name)


# --- weighing and reducing --------------------------------------------------------------------------------------------


def compute_weighted_loss(
    losses: Nested,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Return losses of elements, weighed and reduced.

    >>> float(compute_weighted_loss([1.0, 2.0, 6.0], weights=[1.0, 1.0, 0.0]))
    1.5
    """
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert(losses)
        with control_dependencies(broadcastable(weights, losses)):
            dtype = losses.dtype.base_dtype
            losses = cast(losses, dtypes.float32)
            weights = cast(weights, dtypes.float32)
            loss = cast(_reduced(losses, weights, reduction), dtype)
        add_loss(loss, loss_collection)
        return loss


def _reduced(losses: Any, weights: Any, reduction: str) -> Any:
    weighed = raw.Mul(losses, weights)
    if reduction == Reduction.NONE:
        return weighed
    total = reduce_sum(weighed)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.MEAN:
        count = reduce_sum(raw.OnesLike(losses) * weights)
    elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
        count = cast(size_of(losses), losses.dtype)
    else:
        count = _present(losses, weights)
    return div_no_nan(total, count, name="value")


def _present(losses: Any, weights: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return how many losses have a weight that is not zero."""
    with name_scope("num_present"):
        used = cast(raw.NotEqual(cast(weights, dtypes.float32), 0.0), dtypes.float32)
        return reduce_sum(raw.OnesLike(losses) * used, axis=axis, keepdims=keepdims)


# --- losses -----------------------------------------------------------------------------------------------------------


def _given(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _pair(labels: Any, predictions: Any) -> tuple[Tensor, Tensor]:
    """Return labels and predictions as float32, of shapes that match."""
    predictions = cast(predictions, dtypes.float32)
    labels = cast(labels, dtypes.float32)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return labels, predictions


def absolute_difference(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Return the mean of |predictions - labels|."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = raw.Abs(raw.Sub(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Return the mean of (predictions - labels)².

    >>> float(mean_squared_error([0.0, 1.0], [1.0, 3.0]))
    2.5
    """
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = raw.SquaredDifference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def huber_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    delta: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Return the mean of half the squared error where it is below `delta`, and growing straight from there."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        error = raw.Abs(raw.Sub(predictions, labels))
        quadratic = raw.Minimum(error, delta)
        losses = 0.5 * (quadratic * quadratic) + delta * (error - quadratic)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def log_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Return the mean of -labels·log(predictions) - (1 - labels)·log(1 - predictions)."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        missed = raw.Mul(labels, raw.Log(predictions + epsilon))
        false = raw.Mul(1 - labels, raw.Log(1 - predictions + epsilon))
        return compute_weighted_loss(-missed - false, weights, scope, loss_collection, reduction=reduction)


def hinge_loss(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Return the mean of how far logits are from the right side of the margin; labels are 0 or 1."""
    _given(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as scope:
        labels, logits = _pair(labels, logits)
        losses = raw.Relu(1 - (2 * labels - 1) * logits)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    axis: int | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: int | None = None,
) -> Tensor:
    """Return the mean of 1 - predictions · labels along `axis`, both being of length one."""
    axis = one_of("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = 1 - reduce_sum(raw.Mul(predictions, labels), axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def mean_pairwise_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """Return how far differences between pairs of elements are from those between pairs of labels, squared."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        labels, predictions = _pair(labels, predictions)
        weights = cast(weights, dtypes.float32)
        with control_dependencies(broadcastable(weights, labels)):
            diffs = raw.Sub(predictions, labels)
            axis = range_of(1, rank_of(diffs))
            count = _present(diffs, weights, axis=axis, keepdims=True)
            squares = reduce_sum(raw.Square(diffs), axis=axis, keepdims=True)
            square = raw.Square(reduce_sum(diffs, axis=axis, keepdims=True))
            own = 2.0 * div_no_nan(squares, raw.Maximum(count - 1, 0.0), name="value")
            shared = 2.0 * div_no_nan(square, raw.Maximum(count * (count - 1), 0.0), name="value")
            total = reduce_sum(raw.Mul(own - shared, weights))
            any_present = raw.Greater(reduce_sum(count), 0.0)
            loss = raw.SelectV2(any_present, total, raw.ZerosLike(total), name="value")
        add_loss(loss, loss_collection)
        return loss


# --- cross entropies --------------------------------------------------------------------------------------------------


def sigmoid_cross_entropy(
    multi_class_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Return the mean cross entropy of sigmoid(logits) with labels, which are moved towards ½ by `label_smoothing`."""
    _given(multi_class_labels=multi_class_labels, logits=logits)
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as scope:
        labels, logits = _like_logits(multi_class_labels, logits)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def softmax_cross_entropy(
    onehot_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Return the mean cross entropy of softmax(logits) with labels, which are evened out by `label_smoothing`.

    >>> float(softmax_cross_entropy([[0.0, 1.0]], [[0.0, 0.0]])).__round__(3)
    0.693
    """
    _given(onehot_labels=onehot_labels, logits=logits)
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        labels, logits = _like_logits(onehot_labels, logits)
        if label_smoothing > 0:
            classes = cast(raw.Shape(labels)[-1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        labels = raw.StopGradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def _like_logits(labels: Any, logits: Any) -> tuple[Tensor, Tensor]:
    logits = convert(logits)
    labels = cast(labels, logits.dtype)
    logits.get_shape().assert_is_compatible_with(labels.get_shape())
    return labels, logits


def sparse_softmax_cross_entropy(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Return the mean cross entropy of softmax(logits) with classes given by number."""
    _given(labels=labels, logits=logits)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels, logits = convert(labels), convert(logits)
        if labels._dims is None or logits._dims is None:
            labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        labels = _without_last(labels, logits, 0)
        weights = _without_last(convert(weights), labels, 1)
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def _without_last(x: Any, other: Any, more: int) -> Any:
    """Return `x` without a last axis of length one, where that makes its rank `more` than it should be by one."""
    dims, others = x._dims, other._dims
    if not dims or others is None or len(dims) != len(others) + more or dims[-1] not in (1, None):
        return x
    return squeeze(x, [-1])
