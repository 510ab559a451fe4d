"""`tf.contrib.tensor_forest.client.random_forest`: Estimators that grow forests.

The graphs are `tf1/forest.py`; here are the model function, the heads and the hooks that say when it has grown enough.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.doors import estimator_package
from ebbflow.doors.learn.estimator import BaseEstimator, core
from ebbflow.doors.learn.inputs import ALL, named
from ebbflow.graph.scopes import control_dependencies, group
from ebbflow.monitored.session_run_hook import SessionRunArgs, SessionRunHook
from ebbflow.ops.declare import raw
from ebbflow.state.functions import assign_add
from ebbflow.summary.ops import scalar
from ebbflow.tf1.feature_inputs import transform_features
from ebbflow.tf1.forest import RandomForestGraphs
from ebbflow.train.losses import Reduction
from ebbflow.train.step_counter import get_global_step

EPSILON = 0.000001
TREE_PATHS_PREDICTION_KEY = "tree_paths"
VARIANCE_PREDICTION_KEY = "prediction_variance"
ALL_SERVING_KEY = "tensorforest_all"

log = logging.getLogger("tensorflow")


class TensorForestRunOpAtEndHook(SessionRunHook):
    """Runs ops before a session ends, in the order of their names, and logs what they give."""

    def __init__(self, op_dict: Mapping[str, Any]):
        self._ops = op_dict

    def end(self, session: Any) -> None:
        for name in sorted(self._ops):
            log.info("%s: %s", name, session.run(self._ops[name]))


class TensorForestLossHook(SessionRunHook):
    """Stops a training whose loss has not fallen by a share of it for some steps."""

    def __init__(
        self,
        early_stopping_rounds: int,
        early_stopping_loss_threshold: float | None = None,
        loss_op: TensorLike | None = None,
    ):
        self.early_stopping_rounds, self.loss_op = early_stopping_rounds, loss_op
        self.early_stopping_loss_threshold = early_stopping_loss_threshold or 0.0
        self.min_loss: float | None = None
        self.last_step, self.steps = -1, 0

    def before_run(self, run_context: Any) -> Any:
        loss = self.loss_op
        if loss is None:
            loss = run_context.session.graph.get_operation_by_name("rf_training_loss").outputs[0]
        return SessionRunArgs({"global_step": get_global_step(), "current_loss": loss})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss, step = run_values.results["current_loss"], run_values.results["global_step"]
        self.steps += 1
        if self.last_step == -1 or self.last_step > step:
            self.last_step, self.steps, self.min_loss = step, 0, None
            return
        self.last_step = step
        if self.min_loss is None or loss < self.min_loss - self.min_loss * self.early_stopping_loss_threshold:
            self.min_loss, self.steps = loss, 0
        if self.steps > self.early_stopping_rounds:
            log.info("The loss of the forest falls no more: training is asked to stop.")
            run_context.request_stop()


def _default_head(params: Any, weights: str | None) -> Any:
    heads, mean = estimator_package.inside("canned.head"), Reduction.SUM_OVER_BATCH_SIZE
    if params.regression:
        return heads._regression_head(weights, params.num_outputs, mean)
    return heads._binary_logistic_or_multi_class_head(params.num_classes, weights, None, mean)


def model_function(
    params: Any, make_graphs: Any, device_assigner: Any, columns: Iterable[Any] | None, weights_name: str | None,
    head: Any, keys_name: str | None, rounds: int | None, threshold: float, trainers: tuple[int, int],
    importances: bool, local_eval: bool, all_in_serving: bool,
) -> Callable[..., Any]:  # fmt: skip
    """Return the model function of a forest."""
    head = head or _default_head(params, weights_name)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        features = {"features": features} if isinstance(features, Tensor | SparseTensor) else dict(features)
        if columns:
            features.update({column.name: t for column, t in transform_features(features, list(columns)).items()})
        weights = features.pop(weights_name, None) if weights_name else None
        keys = features.pop(keys_name, None) if keys_name else None
        local = mode == core.ModeKeys.PREDICT or (local_eval and mode == core.ModeKeys.EVAL)
        graphs = make_graphs(params, device_assigner=None if local else device_assigner)
        logits, paths, variance = graphs.inference_graph(features)
        scalar("average_tree_size", graphs.average_size())
        if not params.regression and params.num_classes == 2:
            one = logits[:, 1:2]
            logits = raw.Log(raw.Maximum(one / raw.Maximum(1.0 - one, EPSILON), EPSILON))
        training = None
        if mode == core.ModeKeys.TRAIN:
            with control_dependencies([logits]):
                step = graphs.training_graph(
                    features, labels, input_weights=weights, num_trainers=trainers[0], trainer_id=trainers[1]
                )
                training = group(step, assign_add(get_global_step(), 1))
        if weights is not None:
            features[weights_name] = weights
        spec = head.create_estimator_spec(
            features=features, mode=mode, labels=labels, train_op_fn=lambda loss: training, logits=logits
        )
        hooks: list[Any] = list(spec.training_hooks)
        if importances:
            hooks.append(TensorForestRunOpAtEndHook({"1: feature_importances": graphs.feature_importances()}))
        if rounds and mode == core.ModeKeys.TRAIN:
            hooks.append(TensorForestLossHook(rounds, threshold, spec.loss))
        return _with_more(spec, params, hooks, keys_name, keys, paths, variance, all_in_serving)

    return model_fn


def _with_more(
    spec: Any, params: Any, hooks: Any, keys_name: Any, keys: Any, paths: Any, variance: Any, all_in_serving: bool
) -> Any:
    """Return a spec with the predictions that only forests have."""
    more = {VARIANCE_PREDICTION_KEY: variance}
    if keys is not None:
        more[keys_name] = keys
    if params.inference_tree_paths:
        more[TREE_PATHS_PREDICTION_KEY] = paths
    predictions = {**spec.predictions, **more}
    outputs = spec.export_outputs
    if all_in_serving:
        shown = core.export.PredictOutput(predictions)
        outputs = {**(outputs or {}), ALL_SERVING_KEY: shown, "serving_default": shown}
    return spec._replace(predictions=predictions, training_hooks=tuple(hooks), export_outputs=outputs)


class CoreTensorForestEstimator(core.Estimator):  # type: ignore[name-defined]
    """A forest with the methods of today's Estimators: `train`, `evaluate`, `predict`."""

    def __init__(
        self,
        params: Any,
        device_assigner: Any = None,
        model_dir: str | None = None,
        feature_columns: Iterable[Any] | None = None,
        graph_builder_class: type = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: Any = None,
        head: Any = None,
        include_all_in_serving: bool = False,
    ):
        if num_trainers == 1 and config is not None:
            num_trainers = max(1, config.num_worker_replicas)
        inner = model_function(
            params.fill(), graph_builder_class, device_assigner, feature_columns, weight_column, head, keys_column,
            early_stopping_rounds, early_stopping_loss_threshold, (num_trainers, trainer_id),
            report_feature_importances, local_eval, include_all_in_serving,
        )  # fmt: skip

        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            if feature_engineering_fn is not None:
                features, labels = feature_engineering_fn(features, labels)
            return inner(features, labels, mode)

        super().__init__(model_fn, model_dir, config)


class TensorForestEstimator(BaseEstimator):
    """A forest with the methods of `tf.contrib.learn`: `fit`, `evaluate`, `predict`. Takes what
    `CoreTensorForestEstimator` takes.
    """

    def __init__(self, params: Any, device_assigner: Any = None, model_dir: str | None = None, **options: Any):
        super().__init__(model_dir, options.get("config"))
        self._estimator = CoreTensorForestEstimator(params, device_assigner, model_dir, **options)
        self._classes = not params.regression

    def _input(self, input_fn: Any) -> Any:
        return named(input_fn, (ALL,))  # a forest takes all features that there are

    def _shown(self, row: Any) -> Any:
        """Return a row of predictions with the names of those years besides today's."""
        if self._classes and "class_ids" in row:
            return {**row, "classes": np.asarray(row["class_ids"])[..., 0]}
        return {**row, "scores": np.squeeze(row["predictions"], -1)} if "predictions" in row else row

    def predict(
        self, x: TensorLike | None = None, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None,
        outputs: Nested = None, as_iterable: bool = True, iterate_batches: bool = False,
    ) -> Nested:  # fmt: skip
        """Return predictions row by row, or all of them at once where `as_iterable` is False."""
        told = super().predict(x, input_fn, batch_size, None, as_iterable, iterate_batches)
        if outputs is None:
            return told
        chosen = lambda row: {key: row[key] for key in outputs}
        return (chosen(row) for row in told) if as_iterable else chosen(told)
