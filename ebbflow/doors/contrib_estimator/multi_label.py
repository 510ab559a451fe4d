"""`tf.contrib.estimator.multi_label_head`: several classes may be true of one example at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert_to_tensor
from ebbflow.core.sparse import SparseTensor
from ebbflow.doors.estimator_package import inside
from ebbflow.graph.scopes import control_dependencies, name_scope_v1
from ebbflow.ops.arrays.creation import ones_like
from ebbflow.ops.checks.asserts import assert_less, assert_non_negative
from ebbflow.ops.checks.type_asserts import assert_integer
from ebbflow.ops.elementwise.casts import to_int64
from ebbflow.ops.elementwise.sums import add_n
from ebbflow.ops.elementwise.unary import sigmoid
from ebbflow.ops.reduce.reductions import reduce_mean, reduce_sum
from ebbflow.ops.sparse.functions import to_indicator
from ebbflow.state.lookup.vocabulary import index_table_from_tensor
from ebbflow.summary.ops import scalar
from ebbflow.train import metrics
from ebbflow.train.losses import Reduction, compute_weighted_loss, sigmoid_cross_entropy
from ebbflow.train.metrics_thresholds import auc
from ebbflow.train.step_counter import get_global_step

base = inside("canned.head")
model_fn = inside("model_fn")
Keys = inside("canned.metric_keys").MetricKeys
Outputs = inside("export.export_output")


def multi_label_head(
    n_classes: int,
    weight_column: object = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    classes_for_class_based_metrics: Sequence[Any] | None = None,
    name: str | None = None,
) -> Any:
    """Return a head that says of each class whether it is true of an example."""
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for multi-class classification. Given: {n_classes}")
    limits = tuple(thresholds or ())
    for limit in limits:
        if not 0.0 < limit < 1.0:
            raise ValueError(f"thresholds must be in (0, 1) range. Given: {limit}")
    if label_vocabulary is not None:
        if not isinstance(label_vocabulary, (list, tuple)):
            raise ValueError(f"label_vocabulary must be a list or tuple. Given type: {type(label_vocabulary)}")
        if len(label_vocabulary) != n_classes:
            raise ValueError(f"Length of label_vocabulary must be n_classes ({n_classes}). "
                             f"Given: {len(label_vocabulary)}")  # fmt: skip
    if loss_fn:
        base._validate_loss_fn_args(loss_fn)
    if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
        raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
    judged = _class_numbers(classes_for_class_based_metrics, label_vocabulary, n_classes)
    return _MultiLabelHead(n_classes, weight_column, limits, label_vocabulary, loss_reduction, loss_fn, judged, name)


def _class_numbers(classes: Sequence[Any] | None, words: Sequence[str] | None, n_classes: int) -> tuple[int, ...]:
    numbers = tuple(classes or ())
    if numbers and isinstance(numbers[0], str):
        if not words:
            raise ValueError("label_vocabulary must be provided when classes_for_class_based_metrics are sting.")
        numbers = tuple(list(words).index(word) for word in numbers)
    for number in numbers:
        if not 0 <= number < n_classes:
            raise ValueError(f"All classes_for_class_based_metrics must be in range [0, {n_classes - 1}]. "
                             f"Given: {number}")  # fmt: skip
    return numbers


class _MultiLabelHead(base._Head):  # type: ignore[name-defined]
    """What `multi_label_head` returns."""

    def __init__(
        self, n_classes: int, weight_column: Any, thresholds: tuple[float, ...], words: Any, loss_reduction: str,
        loss_fn: Any, judged: tuple[int, ...], name: str | None,
    ):  # fmt: skip
        self._n_classes, self._weight_column, self._thresholds = n_classes, weight_column, thresholds
        self._words, self._reduction, self._loss_fn = words, loss_reduction, loss_fn
        self._judged, self._name = judged, name

    @property
    def name(self) -> str | None:
        """What its metrics are told apart by."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """As many as there are classes."""
        return self._n_classes

    def _indicators(self, labels: Any) -> Any:
        """Return labels as 0 and 1 for each class."""
        if labels is None:
            raise ValueError(
                "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your data "
                "contain your label feature. Check that your input_fn properly parses and returns labels."
            )
        if not isinstance(labels, SparseTensor):
            rule = "labels must be an integer indicator Tensor with values in [0, 1]"
            return base._assert_range(labels, 2, message=rule)
        if labels.dtype == dtypes.string:
            numbers = index_table_from_tensor(tuple(self._words or ()), name="class_id_lookup").lookup(labels.values)
            return to_int64(to_indicator(SparseTensor(labels.indices, numbers, labels.dense_shape), self._n_classes))
        rule = f"labels must be an integer SparseTensor with values in [0, {self._n_classes})"
        assert_integer(labels.values, message=rule)
        top = convert_to_tensor(self._n_classes, dtype=labels.dtype)
        checks = [assert_less(labels.values, top, message=rule), assert_non_negative(labels.values, message=rule)]
        with control_dependencies(checks):
            return to_int64(to_indicator(labels, self._n_classes))

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> Any:
        """Return the loss of logits: the mean over the classes, weighted and reduced over the batch."""
        logits = convert_to_tensor(logits)
        labels = base._check_dense_labels_match_logits_and_reshape(
            labels=self._indicators(labels), logits=logits, expected_labels_dimension=self.logits_dimension
        )
        if self._loss_fn:
            single = base._call_loss_fn(
                loss_fn=self._loss_fn, labels=labels, logits=logits, features=features, expected_loss_dim=1
            )
        else:
            single = sigmoid_cross_entropy(labels, logits, reduction=Reduction.NONE)
            single = reduce_mean(single, axis=-1, keepdims=True)
        weights = base._get_weights_and_check_match_logits(
            features=features, weight_column=self._weight_column, logits=logits
        )
        loss = compute_weighted_loss(single, weights=weights, reduction=self._reduction)
        return base.LossSpec(training_loss=loss, unreduced_loss=single, weights=weights, processed_labels=labels)

    def _create_tpu_estimator_spec(
        self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None, train_op_fn: Any = None,
        regularization_losses: Any = None,
    ) -> Any:  # fmt: skip
        with name_scope_v1(self._name, "head"):
            logits = base._check_logits_final_dim(logits, self.logits_dimension)
            with name_scope_v1(None, "predictions", (logits,)):
                chances = sigmoid(logits, name="probabilities")
            said = {"logits": logits, "probabilities": chances}
            if mode == model_fn.ModeKeys.PREDICT:
                return self._prediction(said)
            loss, single, weights, labels = self.create_loss(features, mode, logits, labels)
            extra = add_n(list(regularization_losses)) if regularization_losses else None
            total = loss if extra is None else loss + extra
            if mode == model_fn.ModeKeys.EVAL:
                told = {"labels": labels, "probabilities": chances, "weights": weights, "single": single,
                        "extra": extra}  # fmt: skip
                judged = base._create_eval_metrics_tuple(self._metrics, told)
                return model_fn._TPUEstimatorSpec(mode=mode, predictions=said, loss=total, eval_metrics=judged)
            step = base._append_update_ops(_train_op(total, optimizer, train_op_fn))
            mean = None
            if self._reduction == Reduction.SUM:
                mean = loss / reduce_sum(weights * ones_like(single))
        with name_scope_v1(""):
            for key, value in ((Keys.LOSS, total), (Keys.LOSS_MEAN, mean), (Keys.LOSS_REGULARIZATION, extra)):
                if value is not None:
                    scalar(base._summary_key(self._name, key), value)
        return model_fn._TPUEstimatorSpec(mode=mode, predictions=said, loss=total, train_op=step)

    def _prediction(self, said: dict[str, Any]) -> Any:
        classes = base._classification_output(
            scores=said["probabilities"], n_classes=self._n_classes, label_vocabulary=self._words
        )
        outputs = {"serving_default": classes, "classification": classes, "predict": Outputs.PredictOutput(said)}
        return model_fn._TPUEstimatorSpec(mode=model_fn.ModeKeys.PREDICT, predictions=said, export_outputs=outputs)

    def _metrics(self, labels: Any, probabilities: Any, weights: Any, single: Any, extra: Any) -> dict[str, Any]:
        with name_scope_v1(None, "metrics", [labels, probabilities, weights, single]):
            found = {
                Keys.LOSS_MEAN: metrics.mean(single, weights, name=Keys.LOSS_MEAN),
                Keys.AUC: auc(labels, probabilities, weights, name=Keys.AUC),
                Keys.AUC_PR: auc(labels, probabilities, weights, curve="PR", name=Keys.AUC_PR),
            }
            if extra is not None:
                found[Keys.LOSS_REGULARIZATION] = metrics.mean(extra, name=Keys.LOSS_REGULARIZATION)
            for limit in self._thresholds:
                for pattern, judge in (
                    (Keys.ACCURACY_AT_THRESHOLD, base._accuracy_at_threshold),
                    (Keys.PRECISION_AT_THRESHOLD, base._precision_at_threshold),
                    (Keys.RECALL_AT_THRESHOLD, base._recall_at_threshold),
                ):
                    key = pattern % limit
                    found[key] = judge(labels, probabilities, weights, limit, name=key)
            for number in self._judged:
                found.update(self._of_class(number, labels, probabilities, weights))
        return {base._summary_key(self._name, key): value for key, value in found.items()}

    def _of_class(self, number: int, labels: Any, probabilities: Any, weights: Any) -> dict[str, Any]:
        chances, truth = probabilities[..., number : number + 1], labels[..., number : number + 1]
        if self._words is None:
            mean, area, area_pr = (
                pattern % number
                for pattern in (Keys.PROBABILITY_MEAN_AT_CLASS, Keys.AUC_AT_CLASS, Keys.AUC_PR_AT_CLASS)
            )
        else:
            mean, area, area_pr = (
                pattern % self._words[number]
                for pattern in (Keys.PROBABILITY_MEAN_AT_NAME, Keys.AUC_AT_NAME, Keys.AUC_PR_AT_NAME)
            )
        return {
            mean: base._predictions_mean(chances, weights, name=mean),
            area: base._auc(truth, chances, weights, name=area),
            area_pr: base._auc(truth, chances, weights, curve="PR", name=area_pr),
        }


def _train_op(loss: Any, optimizer: Any, train_op_fn: Any) -> Any:
    """Return the op that trains, made by an optimizer or by a function: by one of them."""
    if optimizer is not None:
        if train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        return optimizer.minimize(loss, global_step=get_global_step())
    if train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    return train_op_fn(loss)
