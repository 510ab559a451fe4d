"""What a model gives to whoever serves it, by kind: classes and scores, a value, named tensors, or a step's losses."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.tensor import Tensor
from ebbflow.graph.scopes import control_dependencies
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.arrays.creation import constant
from ebbflow.savedmodel import signature_defs as signatures
from ebbflow.state.base import Variable


class ExportOutput(abc.ABC):
    """One output of a model, which knows the signature that describes it."""

    _SEPARATOR_CHAR = "/"

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """Return the SignatureDef for a model that takes these tensors."""

    def _check_output_key(self, key: Any, error_label: str) -> str:
        if isinstance(key, tuple):
            key = self._SEPARATOR_CHAR.join(key)
        if not isinstance(key, str):
            raise ValueError(f"{error_label} output key must be a string; got {key}.")
        return key

    def _prefixed(self, key: str, prefix: str) -> str:
        """Return a key that begins with what kind of output it names; one that does already stays."""
        return key if key.startswith(prefix) else f"{prefix}{self._SEPARATOR_CHAR}{key}"

    def _wrap_and_check_outputs(
        self, outputs: Any, single_output_default_name: str, error_label: str = "Prediction"
    ) -> dict[str, Any]:
        if not isinstance(outputs, Mapping):
            outputs = {single_output_default_name: outputs}
        checked = {}
        for key, value in outputs.items():
            name = self._check_output_key(key, error_label)
            if not isinstance(value, Tensor):
                raise ValueError(f"{error_label} output value must be a Tensor; got {value}.")
            checked[name] = value
        return checked


def _alone(receiver_tensors: Any, kind: str) -> Any:
    if len(receiver_tensors) != 1:
        raise ValueError(f"{kind} signatures can only accept a single tensor input of type tf.string.")
    (examples,) = receiver_tensors.values()
    if examples.dtype is not dtypes.string:
        raise ValueError(f"{kind} signatures can only accept a single tensor input of type tf.string.")
    return examples


class ClassificationOutput(ExportOutput):
    """Classes, scores, or both."""

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        if scores is not None and not (isinstance(scores, Tensor) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (isinstance(classes, Tensor) and classes.dtype is dtypes.string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError(
                "Cannot create a ClassificationOutput with empty arguments. At least one of scores and classes must be "
                "set."
            )
        self._scores, self._classes = scores, classes

    @property
    def scores(self) -> Any:
        """The score of each class."""
        return self._scores

    @property
    def classes(self) -> Any:
        """The names of classes."""
        return self._classes

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """Return the signature of a classification of Examples."""
        examples = _alone(receiver_tensors, "Classification")
        return signatures.classification_signature_def(examples, self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """A value for each row."""

    def __init__(self, value: Any) -> None:
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self._value = value

    @property
    def value(self) -> Any:
        """The value."""
        return self._value

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """Return the signature of a regression on Examples."""
        return signatures.regression_signature_def(_alone(receiver_tensors, "Regression"), self.value)


class PredictOutput(ExportOutput):
    """Any named tensors."""

    _SINGLE_OUTPUT_DEFAULT_NAME = "output"

    def __init__(self, outputs: Any) -> None:
        self._outputs = self._wrap_and_check_outputs(outputs, self._SINGLE_OUTPUT_DEFAULT_NAME)

    @property
    def outputs(self) -> dict[str, Any]:
        """The tensors by their names."""
        return self._outputs

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """Return the signature of a prediction."""
        return signatures.predict_signature_def(receiver_tensors, self.outputs)


class SupervisedOutput(ExportOutput):
    """What a step of training or of evaluation gives: loss, predictions, metrics."""

    LOSS_NAME = "loss"
    PREDICTIONS_NAME = "predictions"
    METRICS_NAME = "metrics"
    METRIC_VALUE_SUFFIX = "value"
    METRIC_UPDATE_SUFFIX = "update_op"

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None) -> None:
        self._loss = self._predictions = self._metrics = None
        if loss is not None:
            self._loss = self._named(loss, self.LOSS_NAME)
        if predictions is not None:
            self._predictions = self._named(predictions, self.PREDICTIONS_NAME)
        if metrics is not None:
            self._metrics = self._wrap_and_check_metrics(metrics)

    def _named(self, outputs: Any, kind: str) -> dict[str, Any]:
        checked = self._wrap_and_check_outputs(outputs, kind, error_label=kind)
        return {self._prefixed(key, kind): value for key, value in checked.items()}

    def _wrap_and_check_metrics(self, metrics: Any) -> dict[str, Any]:
        if not isinstance(metrics, Mapping):
            metrics = {self.METRICS_NAME: metrics}
        outputs = {}
        for key, metric in metrics.items():
            value, update = metric if isinstance(metric, tuple) else (metric.result(), metric.updates[0])
            name = self._prefixed(self._check_output_key(key, self.METRICS_NAME), self.METRICS_NAME)
            if not isinstance(value, Tensor):
                raise ValueError(f"{self.METRICS_NAME} output value must be a Tensor; got {value}.")
            if not isinstance(update, (Tensor, Operation, Variable)):
                raise ValueError(
                    f"{self.METRICS_NAME} update_op must be a Tensor, an Operation or a Variable; got {update}."
                )
            outputs[f"{name}/{self.METRIC_VALUE_SUFFIX}"] = value
            outputs[f"{name}/{self.METRIC_UPDATE_SUFFIX}"] = _as_tensor(update)
        return outputs

    @property
    def loss(self) -> Any:
        """The loss, by its name."""
        return self._loss

    @property
    def predictions(self) -> Any:
        """The predictions by their names."""
        return self._predictions

    @property
    def metrics(self) -> Any:
        """Values and updates of metrics by their names."""
        return self._metrics

    @abc.abstractmethod
    def _get_signature_def_fn(self) -> Any:
        """Return the function that makes the signature."""

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """Return the signature of such a step."""
        return self._get_signature_def_fn()(receiver_tensors, self.loss, self.predictions, self.metrics)


def _as_tensor(update: Any) -> Any:
    """Return an op as a tensor, which alone can stand in a signature: an empty one that is there after the op."""
    if isinstance(update, Tensor):
        return update
    if isinstance(update, Variable):  # what Keras's metrics return: it has been updated when it is read
        return update.read_value()
    with control_dependencies([update]):
        return constant([], name="metric_op_wrapper")


class TrainOutput(SupervisedOutput):
    """What a step of training gives."""

    def _get_signature_def_fn(self) -> Any:
        return signatures.supervised_train_signature_def


class EvalOutput(SupervisedOutput):
    """What a step of evaluation gives."""

    def _get_signature_def_fn(self) -> Any:
        return signatures.supervised_eval_signature_def
