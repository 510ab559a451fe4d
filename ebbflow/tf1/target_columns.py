"""What early models of `tf.contrib.learn` learn (`tf.contrib.layers.regression_target` and its kin): loss, predictions
and metrics of a label. Heads came in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.argmax import argmax
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import expand_dims, reshape, squeeze
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.nn.bias_softmax import softmax
from ebbflow.ops.nn.cross_entropy import sigmoid_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits
from ebbflow.ops.reduce.reductions import reduce_mean, reduce_sum
from ebbflow.train.contrib_metrics import (
    streaming_accuracy,
    streaming_auc,
    streaming_mean,
    streaming_precision_at_thresholds,
    streaming_recall_at_thresholds,
)

Metric = Callable[..., Any]


def _column(labels: Any) -> Any:
    return expand_dims(labels, 1) if labels.shape.rank == 1 else labels


class TargetColumn:
    """A label: how far predictions are from it, example by example, and what is told of them."""

    UNSPECIFIED, CLASSIFICATION, LINEAR_REGRESSION, LOGISTIC_REGRESSION = range(4)

    def __init__(
        self, num_label_columns: int, label_name: str | None, weight_column_name: str | None, kind: int
    ) -> None:
        self.num_label_columns, self.label_name = num_label_columns, label_name
        self.weight_column_name, self.problem_type = weight_column_name, kind

    def _losses(self, logits: Any, target: Any) -> Any:
        raise NotImplementedError

    def logits_to_predictions(self, logits: TensorLike, proba: bool = False) -> Any:
        """Return what is predicted, or how likely each class is."""
        raise NotImplementedError

    def get_weight_tensor(self, features: Mapping[str, Any]) -> Any:
        """Return how much each example counts; None where all count alike."""
        if not self.weight_column_name:
            return None
        return raw.Reshape(cast(features[self.weight_column_name], dtypes.float32), [-1])

    def _weighted(self, logits: Any, target: Any, features: Any) -> tuple[Any, Any]:
        target = target[self.label_name] if isinstance(target, Mapping) else target
        losses, weights = self._losses(convert(logits), convert(target)), self.get_weight_tensor(features)
        return (losses if weights is None else reshape(losses, [-1]) * weights), weights

    def training_loss(
        self, logits: TensorLike, target: Any, features: Mapping[str, Any], name: str = "training_loss"
    ) -> Any:
        """Return the sum of weighted losses, divided by the number of examples."""
        return reduce_mean(self._weighted(logits, target, features)[0], name=name)

    def loss(self, logits: TensorLike, target: Any, features: Mapping[str, Any]) -> Any:
        """Return the mean of losses by their weights."""
        losses, weights = self._weighted(logits, target, features)
        return reduce_mean(losses, name="loss") if weights is None else reduce_sum(losses) / reduce_sum(weights)

    def get_eval_ops(
        self, features: Mapping[str, Any], logits: TensorLike, labels: Any, metrics: Mapping[Any, Metric] | None = None
    ) -> dict[Any, Any]:
        """Return the metrics: the loss, the column's own, and what is asked for: by (name, "classes" or …)."""
        found = {"loss": streaming_mean(self.loss(logits, labels, features))}
        labels = convert(labels[self.label_name] if isinstance(labels, Mapping) else labels)
        weights = self.get_weight_tensor(features)
        kinds = {"classes": False, "probabilities": True}
        for name, metric in {**self._own_metrics(), **(metrics or {})}.items():
            key, kind = name if isinstance(name, tuple) else (name, "classes")
            if kind not in kinds:
                raise ValueError(f"metric {name}: its second word must be classes or probabilities")
            predictions = self.logits_to_predictions(logits, proba=kinds[kind])
            given = {} if weights is None else {"weights": weights}
            found[key] = metric(predictions, self._shaped(labels, predictions), **given)
        return found

    def _own_metrics(self) -> dict[Any, Metric]:
        return {}

    @staticmethod
    def _shaped(labels: Any, predictions: Any) -> Any:
        """Return labels as predictions are: of their dtype, and in a row where these are."""
        labels = cast(labels, predictions.dtype)
        return reshape(labels, [-1]) if predictions.shape.rank == 1 and labels.shape.rank == 2 else labels


class _Regression(TargetColumn):
    def _losses(self, logits: Any, target: Any) -> Any:
        target = _column(target)
        logits.shape.assert_is_compatible_with(target.shape)  # nothing is repeated unseen
        return raw.SquaredDifference(logits, cast(target, dtypes.float32))

    def logits_to_predictions(self, logits: TensorLike, proba: bool = False) -> Any:
        logits = convert(logits)
        return squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits


class _Classes(TargetColumn):
    def _losses(self, logits: Any, target: Any) -> Any:
        if self.num_label_columns == 1:
            return sigmoid_cross_entropy_with_logits(labels=cast(_column(target), dtypes.float32), logits=logits)
        if not target.dtype.is_integer:
            raise ValueError(f"Target's dtype should be integer Instead got {target.dtype}.")
        labels = squeeze(target, axis=[1]) if target.shape.rank == 2 else target
        return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    def logits_to_predictions(self, logits: TensorLike, proba: bool = False) -> Any:
        logits = convert(logits)
        if self.num_label_columns == 1:
            logits = concat([raw.ZerosLike(logits), logits], 1)
        return softmax(logits) if proba else argmax(logits, 1)

    def _own_metrics(self) -> dict[Any, Metric]:
        return {("accuracy", "classes"): streaming_accuracy}

    def get_eval_ops(
        self, features: Mapping[str, Any], logits: TensorLike, labels: Any, metrics: Mapping[Any, Metric] | None = None
    ) -> dict[Any, Any]:
        """Return the metrics; of two classes also those by the likelihood of the second, unweighted."""
        found = super().get_eval_ops(features, logits, labels, metrics)
        if self.num_label_columns == 1:
            likely = raw.Sigmoid(convert(logits))
            labels = convert(labels[self.label_name] if isinstance(labels, Mapping) else labels)
            labels = cast(_column(labels), likely.dtype)
            found |= {name: metric(likely, labels) for name, metric in _binary_metrics().items()}
        return found


class _Margin(_Classes):
    def _losses(self, logits: Any, target: Any) -> Any:
        sides = 2.0 * cast(_column(target), dtypes.float32) - 1.0
        return raw.Relu(1.0 - sides * logits)

    def logits_to_predictions(self, logits: TensorLike, proba: bool = False) -> Any:
        if proba:
            raise ValueError("logits to probabilities is not supported for _BinarySvmTargetColumn")
        return super().logits_to_predictions(logits)


def _binary_metrics(threshold: float = 0.5) -> dict[str, Metric]:
    """Return what is told of two classes, by the likelihood of the second."""

    def of_labels(likely: Any, labels: Any) -> Any:
        return streaming_mean(labels)

    def accuracy(likely: Any, labels: Any) -> Any:
        return streaming_accuracy(cast(raw.GreaterEqual(likely, threshold), dtypes.float32), labels)

    return {
        "labels/prediction_mean": lambda likely, labels: streaming_mean(likely),
        "labels/actual_target_mean": of_labels,
        "accuracy/baseline_target_mean": of_labels,
        "auc": streaming_auc,
        f"accuracy/threshold_{threshold:f}_mean": accuracy,
        f"precision/positive_threshold_{threshold:f}_mean": lambda likely, labels: _first(
            streaming_precision_at_thresholds(likely, labels, [threshold])
        ),
        f"recall/positive_threshold_{threshold:f}_mean": lambda likely, labels: _first(
            streaming_recall_at_thresholds(likely, labels, [threshold])
        ),
    }


def _first(pair: tuple[Any, Any]) -> tuple[Any, Any]:
    return squeeze(pair[0]), squeeze(pair[1])


def regression_target(
    label_name: str | None = None, weight_column_name: str | None = None, label_dimension: int = 1
) -> TargetColumn:
    """Return the label of a regression: squared distances."""
    return _Regression(label_dimension, label_name, weight_column_name, TargetColumn.LINEAR_REGRESSION)


def multi_class_target(
    n_classes: int, label_name: str | None = None, weight_column_name: str | None = None
) -> TargetColumn:
    """Return the label of a choice of one of some classes: cross entropy."""
    if n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification, got {n_classes}")
    kind = TargetColumn.LOGISTIC_REGRESSION if n_classes == 2 else TargetColumn.CLASSIFICATION
    return _Classes(1 if n_classes == 2 else n_classes, label_name, weight_column_name, kind)


def binary_svm_target(label_name: str | None = None, weight_column_name: str | None = None) -> TargetColumn:
    """Return the label of a choice between two sides of a margin: how far an example is on the wrong one."""
    return _Margin(1, label_name, weight_column_name, TargetColumn.LOGISTIC_REGRESSION)
