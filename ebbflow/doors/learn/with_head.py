"""Models of `tf.contrib.learn` that take their head from outside: `DNNEstimator`, `LinearEstimator` and both at once.

`LogisticRegressor` is a model function of the user's, judged as a classifier of two classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ebbflow.core.typing import Activation
from ebbflow.doors.estimator_package import inside
from ebbflow.doors.learn.canned import HALF
from ebbflow.doors.learn.estimator import NEW_MODES, Estimator, ModelFnOps
from ebbflow.doors.learn.heads import Head
from ebbflow.doors.learn.inputs import named
from ebbflow.doors.learn.metric_spec import MetricSpec
from ebbflow.doors.learn.old_options import AdjustedGradients
from ebbflow.graph.collections import GraphKeys, get_collection
from ebbflow.graph.scopes import group
from ebbflow.ops.elementwise.activations import relu
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import greater
from ebbflow.state.variable_scope import variable_scope
from ebbflow.train import metrics
from ebbflow.train.metrics_thresholds import auc, precision_at_thresholds, recall_at_thresholds
from ebbflow.train.step_counter import get_global_step

DNN_RATE, LINEAR_RATE, BESIDE_NEURONS_RATE = 0.05, 0.2, 0.005


class _WithHead(Estimator):
    """A model whose logits are sums of parts; each part has variables under its name and an optimizer of its own."""

    _as_given = False

    def __init__(
        self, head: Head, model_dir: Any, config: Any, engineer: Any, clip: float | None, parts: Mapping[str, Any]
    ):
        self._head, self._clip = head, clip
        self._parts = parts  # name -> (a function of features and mode that gives logits, optimizer, name, rate)
        super().__init__(self._model, model_dir, config, feature_engineering_fn=engineer)

    def _input(self, input_fn: Any) -> Any:
        return named(input_fn)

    def _model(self, features: Mapping[str, Any], labels: Any, mode: str) -> ModelFnOps:
        logits = [make(features, NEW_MODES[mode]) for make, *_ in self._parts.values()]
        total = logits[0] if len(logits) == 1 else logits[0] + logits[1]
        return self._head.create_model_fn_ops(features, mode, labels, self._train_op, total)

    def _train_op(self, loss: Any) -> Any:
        steps: list[Any] = []
        for name, (_, optimizer, kind, rate) in self._parts.items():
            chosen = inside("canned.optimizers").get_optimizer_instance(optimizer or kind, learning_rate=rate)
            trained = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=f"{name}/")
            counter = None if steps else get_global_step()
            steps.append(AdjustedGradients(chosen, self._clip, {}).minimize(loss, counter, trained))
        return group(*steps)


def _neurons(head: Head, units: Any, columns: Any, activation: Any, dropout: Any) -> Callable[..., Any]:
    build = inside("canned.dnn").dnn_logit_fn_builder

    def logits(features: Any, mode: str) -> Any:
        make = build(
            units=head.logits_dimension, hidden_units=list(units), feature_columns=list(columns),
            activation_fn=activation, dropout=dropout, input_layer_partitioner=None, batch_norm=False,
        )  # fmt: skip
        with variable_scope("dnn"):
            return make(features=features, mode=mode)

    return logits


def _linear(head: Head, columns: Any) -> Callable[..., Any]:
    build = inside("canned.linear").linear_logit_fn_builder

    def logits(features: Any, mode: str) -> Any:
        with variable_scope("linear"):
            return build(units=head.logits_dimension, feature_columns=list(columns))(features)

    return logits


class DNNEstimator(_WithHead):
    """Layers of neurons, and any head."""

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: str | None = None,
        optimizer: Any = None,
        activation_fn: Activation = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, Any] | None = None,
        input_layer_min_slice_size: int | None = None,
    ):
        make = _neurons(head, hidden_units, feature_columns, activation_fn, dropout)
        parts = {"dnn": (make, optimizer, "Adagrad", DNN_RATE)}
        super().__init__(head, model_dir, config, feature_engineering_fn, gradient_clip_norm, parts)


class LinearEstimator(_WithHead):
    """A linear model, and any head."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        head: Head,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):
        if hasattr(optimizer, "of_package"):
            raise ValueError(
                f"LinearEstimator takes gradients, which {optimizer.get_name()} does not; got optimizer={optimizer!r}"
            )
        columns = list(feature_columns)
        rate = min(LINEAR_RATE, 1 / len(columns) ** 0.5)
        parts = {"linear": (_linear(head, columns), optimizer, "Ftrl", rate)}
        super().__init__(head, model_dir, config, feature_engineering_fn, gradient_clip_norm, parts)


class DNNLinearCombinedEstimator(_WithHead):
    """A linear model and layers of neurons side by side, and any head."""

    def __init__(
        self,
        head: Head,
        model_dir: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Activation = relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, Any] | None = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_min_slice_size: int | None = None,
    ):
        parts: dict[str, Any] = {}
        if dnn_feature_columns:
            make = _neurons(head, dnn_hidden_units, dnn_feature_columns, dnn_activation_fn, dnn_dropout)
            parts["dnn"] = make, dnn_optimizer, "Adagrad", DNN_RATE
        if linear_feature_columns:
            columns = list(linear_feature_columns)
            rate = min(BESIDE_NEURONS_RATE, 1 / len(columns) ** 0.5)
            parts["linear"] = _linear(head, columns), linear_optimizer, "Ftrl", rate
        if not parts:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
        super().__init__(head, model_dir, config, feature_engineering_fn, gradient_clip_norm, parts)


class LogisticRegressor(Estimator):
    """A model function that gives probabilities of a class, judged as such."""

    def __init__(
        self,
        model_fn: Callable[..., Any],
        thresholds: Iterable[float] | None = None,
        model_dir: str | None = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):
        self._limits = sorted({0.5, *(thresholds or ())})
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the loss and the metrics: a classifier's, and those given."""
        kwargs["metrics"] = {**self._own_metrics(), **(kwargs.get("metrics") or {})}
        return super().evaluate(*args, **kwargs)

    def _own_metrics(self) -> dict[str, Any]:
        own: dict[str, Any] = {
            "labels/prediction_mean": MetricSpec(lambda predictions, labels, weights=None: metrics.mean(predictions)),
            "labels/actual_label_mean": MetricSpec(lambda predictions, labels, weights=None: metrics.mean(labels)),
            "accuracy/baseline_label_mean": MetricSpec(lambda predictions, labels, weights=None: metrics.mean(labels)),
            "auc": MetricSpec(lambda predictions, labels, weights=None: auc(labels, predictions)),
        }
        for limit in self._limits:
            own |= _at(limit)
        return own


def _at(limit: float) -> dict[str, Any]:
    shown = HALF if limit == 0.5 else f"{limit:f}"

    def right(predictions: Any, labels: Any, weights: Any = None) -> Any:
        return metrics.accuracy(labels, cast(greater(predictions, limit), labels.dtype))

    def precise(predictions: Any, labels: Any, weights: Any = None) -> Any:
        value, update = precision_at_thresholds(labels, predictions, [limit])
        return value[0], update[0]

    def recalled(predictions: Any, labels: Any, weights: Any = None) -> Any:
        value, update = recall_at_thresholds(labels, predictions, [limit])
        return value[0], update[0]

    return {
        f"accuracy/threshold_{shown}_mean": MetricSpec(right),
        f"precision/positive_threshold_{shown}_mean": MetricSpec(precise),
        f"recall/positive_threshold_{shown}_mean": MetricSpec(recalled),
    }
