"""The heads of `tf.contrib.learn`: what is above a model's logits, with the predictions and metrics of those years.

Each stands on a head of `tf.contrib.estimator`, and turns what that says into `ModelFnOps`. Losses are means over a
batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.doors.contrib_estimator import heads as core_heads
from ebbflow.doors.contrib_estimator.multi_head import multi_head as core_multi_head
from ebbflow.doors.contrib_estimator.multi_label import multi_label_head as core_multi_label_head
from ebbflow.doors.learn.canned import PredictionKey, ProblemType, old_metrics
from ebbflow.doors.learn.estimator import NEW_MODES, ModelFnOps
from ebbflow.doors.learn.old_options import CenteredHead
from ebbflow.graph.scopes import group, no_op
from ebbflow.layers.core import dense
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import greater
from ebbflow.train import metrics
from ebbflow.train.losses import Reduction, hinge_loss


class Head:
    """What is above a model's logits: it makes predictions, the loss, the op that trains, and metrics."""

    def __init__(self, core: Any, problem: int, shown: Callable[[Mapping[str, Any]], dict[str, Any]], name: Any = None):
        self._core, self._problem, self._shown, self.head_name = core, problem, shown, name

    @property
    def logits_dimension(self) -> int:
        """How many logits it takes."""
        return self._core.logits_dimension

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[..., Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """Return what a model function returns, for logits or for what logits are to be made of."""
        if (logits is None) == (logits_input is None):
            raise ValueError("Neither or both of logits and logits_input supplied: give one of them.")
        if logits is None:
            logits = dense(logits_input, self.logits_dimension, name="logits")
        if mode == "train" and train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode")
        spec = self._core.create_estimator_spec(
            features=features, mode=NEW_MODES[mode], logits=logits, labels=labels, train_op_fn=train_op_fn
        )
        told = old_metrics(spec.eval_metric_ops or {}, self._problem == ProblemType.LINEAR_REGRESSION)
        if mode == "eval":
            told["loss"] = metrics.mean(spec.loss)
            told.update(self._more_metrics(spec, labels))
        said = self._shown(spec.predictions)
        alternatives = {self.head_name: (self._problem, said)}
        return ModelFnOps(mode, said, spec.loss, spec.train_op, told, alternatives)

    def _more_metrics(self, spec: Any, labels: Any) -> dict[str, Any]:
        return {}


class _MultiLabel(Head):
    def _more_metrics(self, spec: Any, labels: Any) -> dict[str, Any]:
        right = greater(spec.predictions["probabilities"], 0.5)
        return {"accuracy": metrics.accuracy(labels, cast(right, labels.dtype))}


class _Svm(Head):
    def _more_metrics(self, spec: Any, labels: Any) -> dict[str, Any]:
        said = cast(greater(spec.predictions["predictions"], 0.0), labels.dtype)
        return {"accuracy": metrics.accuracy(labels, said)}


def _class_numbers(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the predictions of a classifier: classes are numbers."""
    shown = {
        PredictionKey.LOGITS: said["logits"], PredictionKey.PROBABILITIES: said["probabilities"],
        PredictionKey.CLASSES: said["class_ids"][..., 0],
    }  # fmt: skip
    if "logistic" in said:
        shown[PredictionKey.LOGISTIC] = said["logistic"]
    return shown


def _several_classes(said: Mapping[str, Any]) -> dict[str, Any]:
    classes = cast(greater(said["probabilities"], 0.5), dtypes.int64)
    return {**said, PredictionKey.CLASSES: classes}


def _score(said: Mapping[str, Any]) -> dict[str, Any]:
    scores = said["predictions"]
    return {PredictionKey.SCORES: scores[..., 0] if scores.shape[-1] == 1 else scores}


def _side(said: Mapping[str, Any]) -> dict[str, Any]:
    logits = said["predictions"]
    return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: cast(greater(logits, 0.0), dtypes.int64)[..., 0]}


def _centered(core: Any, wanted: bool, scope: str) -> Any:
    return CenteredHead(core, scope) if wanted else core


def _refuse(**given: Any) -> None:
    for name, value in given.items():
        if value:
            raise ValueError(f"{name} = {value!r}: heads here have no metrics by threshold or class besides their own")


def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Iterable[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
    label_keys: Sequence[str] | None = None,
) -> Head:
    """Return a head that tells classes apart, of which one holds."""
    _refuse(thresholds=thresholds, metric_class_ids=metric_class_ids)
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    if n_classes == 2:
        core = core_heads.binary_classification_head(weight_column_name, None, label_keys, loss_fn=loss_fn)
        core = _centered(core, enable_centered_bias, "binary_logistic_head")
        return Head(core, ProblemType.LOGISTIC_REGRESSION, _class_numbers, head_name)
    core = core_heads.multi_class_head(n_classes, weight_column_name, label_keys, loss_fn=loss_fn)
    core = _centered(core, enable_centered_bias, "multi_class_head")
    return Head(core, ProblemType.CLASSIFICATION, _class_numbers, head_name)


def multi_label_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Iterable[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
) -> Head:
    """Return a head for classes of which any number may hold."""
    _refuse(thresholds=thresholds, metric_class_ids=metric_class_ids)
    core = core_multi_label_head(n_classes, weight_column_name, loss_fn=loss_fn)
    core = _centered(core, enable_centered_bias, "multi_label_head")
    return _MultiLabel(core, ProblemType.CLASSIFICATION, _several_classes, head_name)


def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable[..., Any] | None = None,
) -> Head:
    """Return a head that says numbers."""
    core = core_heads.regression_head(weight_column_name, label_dimension, inverse_link_fn=link_fn)
    core = _centered(core, enable_centered_bias, "regression_head")
    return Head(core, ProblemType.LINEAR_REGRESSION, _score, head_name)


def poisson_regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """Return a head that says how many of something there are."""
    core = core_heads.poisson_regression_head(weight_column_name, label_dimension)
    core = _centered(core, enable_centered_bias, "poisson_regression_head")
    return Head(core, ProblemType.LINEAR_REGRESSION, _score, head_name)


def binary_svm_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Iterable[float] | None = None,
) -> Head:
    """Return a head for two classes, judged by how far logits are on the right side."""
    _refuse(thresholds=thresholds)

    def loss(labels: Any, logits: Any) -> Any:
        return hinge_loss(labels, logits, reduction=Reduction.NONE)

    core = _centered(core_heads.regression_head(weight_column_name, loss_fn=loss), enable_centered_bias, "binary_svm")
    return _Svm(core, ProblemType.LINEAR_REGRESSION, _side, head_name)


class _MultiHead(Head):
    """Several heads, each with its part of the logits and its labels."""

    def __init__(self, heads: Sequence[Head], weights: Sequence[float] | None):
        for head in heads:
            head._core._name = head._core._name or head.head_name
            if not head.head_name:
                raise ValueError("Members of MultiHead must have names.")
        super().__init__(core_multi_head([head._core for head in heads], weights), ProblemType.UNSPECIFIED, dict)
        self._heads = list(heads)

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[..., Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """Return what a model function returns; predictions have keys of a head's name and the head's own key."""
        ops = super().create_model_fn_ops(features, mode, labels, train_op_fn, logits, logits_input, scope)
        alone: dict[str, dict[str, Any]] = {}
        for (name, key), value in ops.predictions.items():
            alone.setdefault(name, {})[key] = value
        shown = {head.head_name: (head._problem, head._shown(alone[head.head_name])) for head in self._heads}
        said = {(name, key): value for name, (_, part) in shown.items() for key, value in part.items()}
        return ops._replace(predictions=said, output_alternatives=shown)


def multi_head(heads: Sequence[Head], loss_weights: Sequence[float] | None = None) -> Head:
    """Return a head of several, whose losses are added."""
    if not heads:
        raise ValueError("heads must not be empty.")
    return _MultiHead(heads, loss_weights)


def no_op_train_fn(loss: Any) -> Any:
    """Return an op that trains nothing, for whoever trains by themselves."""
    return group(no_op())
