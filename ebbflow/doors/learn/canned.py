"""The canned models of `tf.contrib.learn`: today's, with the arguments, defaults and predictions of those years.

Losses are means over a batch, as they were then. Feature columns are those of `tf.feature_column`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core.typing import Activation, Array
from ebbflow.doors.learn import old_options
from ebbflow.doors.learn.estimator import BaseEstimator, core
from ebbflow.doors.learn.inputs import named
from ebbflow.doors.learn.metric_spec import MetricSpec
from ebbflow.doors.learn.variable_names import early_name, numeric_names
from ebbflow.ops.elementwise.activations import relu
from ebbflow.train.losses import Reduction

if TYPE_CHECKING:
    from ebbflow.train.optimizer import Optimizer


class PredictionKey:
    """The names of predictions."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


class ProblemType:
    """What a model is for."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


HALF = "0.500000"
METRICS = {
    "accuracy_baseline": "accuracy/baseline_label_mean",
    "label/mean": "labels/actual_label_mean",
    "prediction/mean": "labels/prediction_mean",
    "precision": f"precision/positive_threshold_{HALF}_mean",
    "recall": f"recall/positive_threshold_{HALF}_mean",
}
"""What metrics are called today, and what they were called."""


def old_metrics(found: Mapping[str, Any], regression: bool = False) -> dict[str, Any]:
    """Return metrics under the names they had; regression had none but its loss."""
    dropped = {"average_loss", *(("label/mean", "prediction/mean") if regression else ())}
    told = {METRICS.get(key, key): value for key, value in found.items() if key not in dropped}
    told["loss"] = found.get("average_loss", told.get("loss"))  # the mean over examples, by their weights
    if "accuracy/baseline_label_mean" in told and "accuracy" in told:
        told[f"accuracy/threshold_{HALF}_mean"] = told["accuracy"]
    return told


class _Canned(BaseEstimator):
    """A canned model of the package's, fed with dictionaries."""

    _is_regression = False

    def __init__(
        self, kind: str, model_dir: str | None, config: Any, gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False, feature_engineering_fn: Any = None, embedding_lr_multipliers: Any = None,
        **kwargs: Any,
    ):  # fmt: skip
        super().__init__(model_dir, config)
        if kwargs.get("n_classes", 2) < 2:
            raise ValueError(f"n_classes must be > 1 for classification: {kwargs['n_classes']}.")
        arguments = {name: value for name, value in kwargs.items() if value is not None}
        if hasattr(kwargs.get("optimizer"), "of_package"):  # a solver, which takes no gradients
            if enable_centered_bias:
                raise ValueError(f"enable_centered_bias is not supported with {kwargs['optimizer'].get_name()}")
            arguments |= {"optimizer": kwargs["optimizer"].of_package(), "partitioner": kwargs["optimizer"].partitioner}
        else:
            arguments = old_options.adjusted(kind, arguments, gradient_clip_norm, embedding_lr_multipliers)
        arguments["loss_reduction"] = Reduction.SUM_OVER_BATCH_SIZE
        if enable_centered_bias:
            kind, arguments = old_options.with_centered_bias(kind, arguments)
        self._estimator = getattr(core, kind)(model_dir=model_dir, config=config, **arguments)
        if feature_engineering_fn is not None:
            self._estimator = old_options.with_features_anew(self._estimator, feature_engineering_fn)
        self._plain = self._estimator
        self._numeric = numeric_names(arguments)
        self._class_key = "classes" if "label_vocabulary" in arguments else "class_ids"

    def get_variable_names(self) -> list[str]:
        """Return the names that the variables in the last checkpoint had."""
        return sorted({early_name(name, self._numeric) for name in self._estimator.get_variable_names()})

    def get_variable_value(self, name: str) -> Array:
        """Return the value of a variable in the last checkpoint, by its early name or by that of today."""
        for kept in self._estimator.get_variable_names():
            if early_name(kept, self._numeric) == name:
                return self._estimator.get_variable_value(kept)
        return self._estimator.get_variable_value(name)

    def _input(self, input_fn: Any) -> Any:
        return named(input_fn)

    def evaluate(self, *args: Any, metrics: Mapping[str, Any] | None = None, **kwargs: Any) -> dict[str, Any]:
        """Return the loss and the metrics, under the names they had: the model's own, and those given."""
        if not metrics:
            return old_metrics(super().evaluate(*args, **kwargs), self._is_regression)

        def more(features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
            early = self._old_names(predictions)
            shown = early if self._is_regression else {**predictions, **early}
            specs = {
                _name(key): s if isinstance(s, MetricSpec) else MetricSpec(s, _key(key)) for key, s in metrics.items()
            }
            return {key: spec.create_metric_ops(features, labels, shown) for key, spec in specs.items()}

        self._estimator = core.add_metrics(self._plain, more)
        try:
            return old_metrics(super().evaluate(*args, **kwargs), self._is_regression)
        finally:
            self._estimator = self._plain

    def _old_names(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        """Return predictions under the names they had: classes are numbers, or what labels are called."""
        if "class_ids" in predictions:
            return {PredictionKey.CLASSES: predictions[self._class_key][..., 0]}
        return {PredictionKey.SCORES: predictions["predictions"][..., 0]}

    def _column(self, key: str, x: Any, input_fn: Any, batch_size: Any, as_iterable: bool, first: bool) -> Any:
        """Return one prediction of each row: the first number of it, or all."""
        found: Any = BaseEstimator.predict(self, x, input_fn, batch_size, as_iterable=as_iterable)
        values = (row[key] for row in found) if as_iterable else iter(found[key])
        picked = (value[0] if first or len(value) == 1 else value for value in values)
        return picked if as_iterable else _stacked(picked)


def _name(key: Any) -> str:
    return key[0] if isinstance(key, tuple) else key


def _key(key: Any) -> str:
    return key[1] if isinstance(key, tuple) else PredictionKey.CLASSES


class _Classifier(_Canned):
    def predict(self, x: Any = None, input_fn: Any = None, batch_size: int | None = None, outputs: Any = None,
                as_iterable: bool = True, iterate_batches: bool = False) -> Any:  # fmt: skip
        """Return the classes, or where `outputs` names several predictions, dictionaries of them."""
        if outputs is None:
            return self.predict_classes(x, input_fn, batch_size, as_iterable)
        rows = super().predict(x, input_fn, batch_size)
        found = ({key: {**row, **self._old_names(row)}[key] for key in outputs} for row in rows)
        return found if as_iterable else list(found)

    def predict_classes(
        self, x: Any = None, input_fn: Any = None, batch_size: int | None = None, as_iterable: bool = True
    ) -> Any:
        """Return the number of each row's class."""
        return self._column(self._class_key, x, input_fn, batch_size, as_iterable, first=True)

    def predict_proba(
        self, x: Any = None, input_fn: Any = None, batch_size: int | None = None, as_iterable: bool = True
    ) -> Any:
        """Return the probabilities of all classes, for each row."""
        return self._column("probabilities", x, input_fn, batch_size, as_iterable, first=False)


class _Regressor(_Canned):
    _is_regression = True

    def predict(self, x: Any = None, input_fn: Any = None, batch_size: int | None = None, outputs: Any = None,
                as_iterable: bool = True, iterate_batches: bool = False) -> Any:  # fmt: skip
        """Return the score of each row."""
        return self.predict_scores(x, input_fn, batch_size, as_iterable)

    def predict_scores(
        self, x: Any = None, input_fn: Any = None, batch_size: int | None = None, as_iterable: bool = True
    ) -> Any:
        """Return the score of each row: a number, or several where labels are several."""
        return self._column("predictions", x, input_fn, batch_size, as_iterable, first=False)


def _stacked(values: Iterator[Any]) -> Any:
    import numpy as np

    return np.array(list(values))


class LinearClassifier(_Classifier):
    """Logistic regression."""

    def __init__(
        self, feature_columns: Iterable[Any], model_dir: str | None = None, n_classes: int = 2,
        weight_column_name: str | None = None, optimizer: Optimizer | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False, _joint_weight: bool = False, config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None, label_keys: Iterable[Any] | None = None,
    ):  # fmt: skip
        super().__init__(
            "LinearClassifier", model_dir, config, feature_columns=list(feature_columns), n_classes=n_classes,
            weight_column=weight_column_name, optimizer=optimizer, label_vocabulary=label_keys,
            gradient_clip_norm=gradient_clip_norm, enable_centered_bias=enable_centered_bias,
            feature_engineering_fn=feature_engineering_fn,
        )  # fmt: skip


class LinearRegressor(_Regressor):
    """Linear regression."""

    def __init__(
        self, feature_columns: Iterable[Any], model_dir: str | None = None, weight_column_name: str | None = None,
        optimizer: Optimizer | None = None, gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
        label_dimension: int = 1, _joint_weights: bool = False, config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):  # fmt: skip
        super().__init__(
            "LinearRegressor", model_dir, config, feature_columns=list(feature_columns),
            weight_column=weight_column_name, optimizer=optimizer, label_dimension=label_dimension,
            gradient_clip_norm=gradient_clip_norm, enable_centered_bias=enable_centered_bias,
            feature_engineering_fn=feature_engineering_fn,
        )  # fmt: skip


class DNNClassifier(_Classifier):
    """Layers of neurons, then a class."""

    def __init__(
        self, hidden_units: Iterable[Any], feature_columns: Iterable[Any], model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None, optimizer: Optimizer | None = None, activation_fn: Activation = relu,
        dropout: float | None = None, gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
        config: object = None, feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, Any] | None = None,
        input_layer_min_slice_size: int | None = None, label_keys: Iterable[Any] | None = None,
    ):  # fmt: skip
        super().__init__(
            "DNNClassifier", model_dir, config, hidden_units=hidden_units, feature_columns=list(feature_columns),
            n_classes=n_classes, weight_column=weight_column_name, optimizer=optimizer, activation_fn=activation_fn,
            dropout=dropout, label_vocabulary=label_keys,
            gradient_clip_norm=gradient_clip_norm, enable_centered_bias=enable_centered_bias,
            feature_engineering_fn=feature_engineering_fn, embedding_lr_multipliers=embedding_lr_multipliers,
        )  # fmt: skip


class DNNRegressor(_Regressor):
    """Layers of neurons, then a number."""

    def __init__(
        self, hidden_units: Iterable[Any], feature_columns: Iterable[Any], model_dir: str | None = None,
        weight_column_name: str | None = None, optimizer: Optimizer | None = None, activation_fn: Activation = relu,
        dropout: float | None = None, gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
        config: object = None, feature_engineering_fn: Callable[..., Any] | None = None, label_dimension: int = 1,
        embedding_lr_multipliers: Mapping[Any, Any] | None = None, input_layer_min_slice_size: int | None = None,
    ):  # fmt: skip
        super().__init__(
            "DNNRegressor", model_dir, config, hidden_units=hidden_units, feature_columns=list(feature_columns),
            weight_column=weight_column_name, optimizer=optimizer, activation_fn=activation_fn, dropout=dropout,
            label_dimension=label_dimension,
            gradient_clip_norm=gradient_clip_norm, enable_centered_bias=enable_centered_bias,
            feature_engineering_fn=feature_engineering_fn, embedding_lr_multipliers=embedding_lr_multipliers,
        )  # fmt: skip


class DNNLinearCombinedClassifier(_Classifier):
    """A linear model and layers of neurons side by side, then a class."""

    def __init__(
        self, model_dir: str | None = None, n_classes: int = 2, weight_column_name: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None, linear_optimizer: object = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Iterable[Any] | None = None, dnn_optimizer: object = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Activation = relu, dnn_dropout: float | None = None, gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False, config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, Any] | None = None, input_layer_min_slice_size: int | None = None,
        label_keys: Iterable[Any] | None = None,
        fix_global_step_increment_bug: bool = False,
    ):  # fmt: skip
        super().__init__(
            "DNNLinearCombinedClassifier", model_dir, config, n_classes=n_classes, weight_column=weight_column_name,
            linear_feature_columns=linear_feature_columns, linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns, dnn_optimizer=dnn_optimizer, dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn, dnn_dropout=dnn_dropout, label_vocabulary=label_keys,
            gradient_clip_norm=gradient_clip_norm, enable_centered_bias=enable_centered_bias,
            feature_engineering_fn=feature_engineering_fn, embedding_lr_multipliers=embedding_lr_multipliers,
        )  # fmt: skip


class DNNLinearCombinedRegressor(_Regressor):
    """A linear model and layers of neurons side by side, then a number."""

    def __init__(
        self, model_dir: str | None = None, weight_column_name: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: object = None, _joint_linear_weights: bool = False,
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: object = None, dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Activation = relu,
        dnn_dropout: float | None = None, gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
        label_dimension: int = 1, config: object = None, feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, Any] | None = None, input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ):  # fmt: skip
        super().__init__(
            "DNNLinearCombinedRegressor", model_dir, config, weight_column=weight_column_name,
            linear_feature_columns=linear_feature_columns, linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns, dnn_optimizer=dnn_optimizer, dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn, dnn_dropout=dnn_dropout, label_dimension=label_dimension,
            gradient_clip_norm=gradient_clip_norm, enable_centered_bias=enable_centered_bias,
            feature_engineering_fn=feature_engineering_fn, embedding_lr_multipliers=embedding_lr_multipliers,
        )  # fmt: skip
