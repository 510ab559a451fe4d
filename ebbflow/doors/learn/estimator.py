"""`tf.contrib.learn.Estimator`, and what its model functions return: `ModelFnOps`, judged by `MetricSpec`.

A model function of those years is turned into one of today's, which returns an `EstimatorSpec`; the package does the
rest. Knows the package; knows no canned models.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ebbflow.checkpoint.management import latest_checkpoint
from ebbflow.core.typing import Array, Nested, TensorLike
from ebbflow.doors import estimator_package
from ebbflow.doors.learn.inputs import input_of
from ebbflow.doors.learn.metric_spec import MetricSpec
from ebbflow.doors.learn.monitors import hooks_of
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.graph import get_default_graph
from ebbflow.tf1.learn_roles import Evaluable, Trainable
from ebbflow.tf1.tensor_signatures import create_placeholders_from_signatures, create_signatures, tensors_compatible

core = estimator_package.shown(1)


class ModeKeys:
    """What a model function is called for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """Refuse any other key."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


OLD_MODES = {
    core.ModeKeys.TRAIN: ModeKeys.TRAIN,
    core.ModeKeys.EVAL: ModeKeys.EVAL,
    core.ModeKeys.PREDICT: ModeKeys.INFER,
}
NEW_MODES = {old: new for new, old in OLD_MODES.items()}


class NotFittedError(ValueError, AttributeError):
    """A model is asked before it was trained."""


class ModelFnOps(NamedTuple("ModelFnOps", [
    ("predictions", Any), ("loss", Any), ("train_op", Any), ("eval_metric_ops", Any), ("output_alternatives", Any),
    ("training_chief_hooks", Any), ("training_hooks", Any), ("scaffold", Any), ("mode", Any),
])):  # fmt: skip
    """What a model function returns: predictions, loss, and the op that trains, as far as its mode needs them."""

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        output_alternatives: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if loss is None and mode != ModeKeys.INFER:
            raise ValueError("Missing loss.")
        if predictions is None and mode != ModeKeys.TRAIN:
            raise ValueError("Missing predictions.")
        return super().__new__(
            cls, {} if predictions is None else predictions, loss, train_op, dict(eval_metric_ops or {}),
            output_alternatives, list(training_chief_hooks or ()), list(training_hooks or ()), scaffold, mode,
        )  # fmt: skip


class BaseEstimator:
    """`fit`, `evaluate` and `predict` over one of the package's Estimators."""

    _as_given = False
    """Whether the model sees arrays of 64-bit floats as they are: a user's own does."""

    def __init__(self, model_dir: str | None = None, config: object = None):
        self._given_dir, self._given_config = model_dir, config
        self._metrics: Mapping[str, Any] | None = None
        self._estimator: Any = None

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def config(self) -> Any:
        """How it runs."""
        return self._estimator.config

    @property
    def model_dir(self) -> str:
        """Where its checkpoints are."""
        return self._estimator.model_dir

    @property
    def params(self) -> Mapping[str, Any]:
        """A copy of what the model function is told."""
        return self._estimator.params

    def get_variable_value(self, name: str) -> Array:
        """Return the value of a variable in the last checkpoint."""
        return self._estimator.get_variable_value(name)

    def get_variable_names(self) -> list[str]:
        """Return the names of the variables in the last checkpoint."""
        return self._estimator.get_variable_names()

    # --- training and what follows ------------------------------------------------------------------------------------

    def fit(
        self,
        x: TensorLike | None = None,
        y: TensorLike | None = None,
        input_fn: Callable[..., Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Iterable[Any] | None = None,
        max_steps: int | None = None,
    ) -> BaseEstimator:
        """Train on arrays or on what an input function gives, `steps` more or until `max_steps`; return itself."""
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        feed = self._input(input_of(x, y, input_fn, batch_size, True, None, self._as_given))
        self._estimator.train(feed, hooks=hooks_of(monitors, self), steps=steps, max_steps=max_steps)
        return self

    partial_fit = fit
    train = fit

    def evaluate(
        self,
        x: TensorLike | None = None,
        y: TensorLike | None = None,
        input_fn: Callable[..., Any] | None = None,
        feed_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[str, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Iterable[Any] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """Return the loss and the metrics over arrays, once, or over `steps` batches of an input function."""
        if feed_fn is not None:
            raise ValueError("feed_fn is of the queues of TensorFlow 0.x: give input_fn")
        self._check_fitted(checkpoint_path)
        feed = self._input(input_of(x, y, input_fn, batch_size, False, 1, self._as_given))
        self._metrics = metrics
        try:
            return self._estimator.evaluate(feed, steps=steps, hooks=hooks, checkpoint_path=checkpoint_path, name=name)
        finally:
            self._metrics = None

    def predict(
        self,
        x: TensorLike | None = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        outputs: Nested = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Nested:
        """Return predictions row by row (or batch by batch), or all of them at once where `as_iterable` is False.

        An input function may give batches without end: at once, it is asked for one.
        """
        self._check_fitted(None)
        feed = self._input(input_of(x, None, input_fn, batch_size, False, 1, self._as_given))
        keys = None if outputs is None else list(outputs)
        if input_fn is not None and not as_iterable:
            batch = next(self._estimator.predict(feed, predict_keys=keys, yield_single_examples=False))
            return self._shown(batch)
        rows = (self._shown(row) for row in self._predicted(feed, keys, iterate_batches))
        return rows if as_iterable else _together(list(rows))

    def _predicted(self, feed: Any, keys: Any, whole: bool) -> Iterator[Any]:
        """Yield predictions to the end of the input; of an input that has none, nor can have, of one batch."""
        ends = True

        def noted() -> Any:
            nonlocal ends
            found, graph = feed(), get_default_graph()
            queued = bool(graph.get_collection(GraphKeys.QUEUE_RUNNERS))
            is_read = any(op._op.facts.brings for op in graph.get_operations())
            ends = queued or is_read or hasattr(found, "make_one_shot_iterator")
            return found

        for batch in self._estimator.predict(noted, predict_keys=keys, yield_single_examples=False):
            if whole:
                yield batch
            elif isinstance(batch, Mapping):
                count = self._estimator._extract_batch_length(batch)
                yield from ({key: value[i] for key, value in batch.items()} for i in range(count))
            else:
                yield from batch
            if not ends:
                return

    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_fn: Callable[..., Any],
        default_output_alternative_key: str | None = None,
        assets_extra: Mapping[Any, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        **kwargs: Any,
    ) -> bytes | str:
        """Write a SavedModel that takes what a serving input function says; return where."""

        def receive() -> Any:
            found = serving_input_fn()
            if hasattr(found, "receiver_tensors"):
                return found
            features, _, inputs = found  # InputFnOps
            inputs = inputs or features
            return core.export.ServingInputReceiver(features, inputs)

        return self._estimator.export_savedmodel(
            export_dir_base, receive, assets_extra=assets_extra, as_text=as_text, checkpoint_path=checkpoint_path
        )

    def _check_fitted(self, checkpoint_path: str | None) -> None:
        if checkpoint_path is None and latest_checkpoint(self.model_dir) is None:
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")

    def _input(self, input_fn: Any) -> Any:
        return input_fn

    def _shown(self, row: Any) -> Any:
        return row


def _together(rows: list[Any]) -> Any:
    if rows and isinstance(rows[0], Mapping):
        return {key: np.array([row[key] for row in rows]) for key in rows[0]}
    return np.array(rows)


ALONE = "predictions"
"""The key of a prediction that came without one: the package's Estimators keep dictionaries."""


Evaluable.register(BaseEstimator)
Trainable.register(BaseEstimator)


class Estimator(BaseEstimator):
    """An Estimator of a model function in the manner of `tf.contrib.learn`.

    What the first batch was like, all must be like. A model function that predicts is given a placeholder of such
    labels: those of that time asked for labels whatever they did.
    """

    _as_given = True

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: str | None = None,
        config: object = None,
        params: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):
        super().__init__(model_dir, config)
        self._old_fn, self._engineer = model_fn, feature_engineering_fn
        self._alone = False
        self._features_info: Any = None
        self._labels_info: Any = None
        self._exports = False
        self._estimator = core.Estimator(self._model_fn, model_dir, config, {} if params is None else params)
        self._params_given = params is not None

    def _model_fn(self, features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
        if mode != core.ModeKeys.PREDICT:
            self._check_inputs(features, labels)
        elif not self._exports:
            labels = create_placeholders_from_signatures(self._labels_info)
        if self._engineer is not None:
            features, labels = self._engineer(features, labels)
        ops = self._ops(features, labels, OLD_MODES[mode], params, config)
        predictions = ops.predictions
        self._alone = not isinstance(predictions, Mapping)
        if self._alone:
            predictions = {ALONE: predictions}
        metrics = {key: value for key, value in ops.eval_metric_ops.items() if key != "loss"}  # the package adds that
        if mode == core.ModeKeys.EVAL:
            for name, spec in (self._metrics or {}).items():
                spec = spec if isinstance(spec, MetricSpec) else MetricSpec(spec)
                metrics[name] = spec.create_metric_ops(features, labels, ops.predictions)
        return core.EstimatorSpec(
            mode, predictions=predictions or None, loss=ops.loss, train_op=ops.train_op,
            eval_metric_ops=metrics or None, training_chief_hooks=ops.training_chief_hooks,
            training_hooks=ops.training_hooks, scaffold=ops.scaffold,
            export_outputs={"serving_default": core.export.PredictOutput(predictions)} if predictions else None,
        )  # fmt: skip

    def _check_inputs(self, features: Any, labels: Any) -> None:
        """Note what features and labels are like; ValueError if they were different before."""
        for what, given, noted in (("features", features, "_features_info"), ("labels", labels, "_labels_info")):
            known = getattr(self, noted)
            if known is None:
                setattr(self, noted, create_signatures(given))
            elif given is not None and not tensors_compatible(given, known):
                raise ValueError(
                    f"{what.capitalize()} are incompatible with given information. "
                    f"Given {what}: {given}, required signatures: {known}."
                )

    def export_savedmodel(self, *args: Any, **kwargs: Any) -> bytes | str:
        """Write a SavedModel that takes what a serving input function says; return where."""
        self._exports = True
        try:
            return super().export_savedmodel(*args, **kwargs)
        finally:
            self._exports = False

    def _ops(self, features: Any, labels: Any, mode: str, params: Any, config: Any) -> ModelFnOps:
        if self._old_fn is None:
            raise ValueError("model_fn must be given")
        names = inspect.signature(self._old_fn).parameters
        told = {"mode": mode, "params": params, "config": config, "model_dir": self.model_dir}
        found = self._old_fn(features, labels, **{name: told[name] for name in told if name in names})
        if isinstance(found, ModelFnOps):
            return found
        if hasattr(found, "export_outputs"):  # an EstimatorSpec of today
            metrics = found.eval_metric_ops
            return ModelFnOps(mode, found.predictions, found.loss, found.train_op, metrics, scaffold=found.scaffold)
        if not isinstance(found, tuple) or len(found) != 3:
            raise ValueError(
                f"Unrecognized value returned by model_fn: {found!r}; ModelFnOps, or predictions, loss and train_op"
            )
        return ModelFnOps(mode, *found)

    def _shown(self, row: Any) -> Any:
        return row[ALONE] if self._alone and set(row) == {ALONE} else row


class SKCompat:
    """An Estimator with the methods that scikit-learn's have: arrays in, arrays out."""

    def __init__(self, estimator: BaseEstimator):
        self._estimator = estimator

    def fit(
        self, x: TensorLike, y: TensorLike, batch_size: int = 128, steps: int | None = None,
        max_steps: int | None = None,
        monitors: Iterable[Any] | None = None,
    ) -> SKCompat:  # fmt: skip
        """Train on arrays; return itself."""
        self._estimator.fit(x, y, batch_size=batch_size, steps=steps, max_steps=max_steps, monitors=monitors)
        return self

    def score(
        self, x: TensorLike, y: TensorLike, batch_size: int = 128, steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Return the loss and the metrics over arrays."""
        return self._estimator.evaluate(x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name)

    def predict(self, x: TensorLike, batch_size: int = 128, outputs: Nested = None) -> Nested:
        """Return all predictions for an array."""
        return self._estimator.predict(x, batch_size=batch_size, outputs=outputs, as_iterable=False)

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        """Return what the model is told."""
        return dict(self._estimator.params or {})
