"""`tf.contrib.learn.Experiment` and `learn_runner`: training and evaluation by the schedule.

Takes Estimators of `tf.contrib.learn` and of `tf.estimator` alike.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ebbflow.checkpoint.management import latest_checkpoint
from ebbflow.core.typing import Nested
from ebbflow.doors.learn.estimator import BaseEstimator
from ebbflow.doors.learn.monitors import hooks_of
from ebbflow.platform import files, logging


class ExportStrategy(NamedTuple("ExportStrategy", [("name", str), ("export_fn", Any)])):
    """A name, and a function that exports an Estimator."""

    def export(
        self, estimator: Nested, export_path: str, checkpoint_path: str | None = None, eval_result: Any = None
    ) -> Nested:
        """Export the model; return where."""
        names = inspect.signature(self.export_fn).parameters
        more = {"checkpoint_path": checkpoint_path} if "checkpoint_path" in names else {}
        if "eval_result" in names:
            more["eval_result"] = eval_result
        return self.export_fn(estimator, export_path, **more)


def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[Any, Any] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """Return a strategy that exports a SavedModel and keeps the last few."""

    def export(estimator: Any, export_dir_base: str, checkpoint_path: str | None = None) -> Any:
        where = estimator.export_savedmodel(
            export_dir_base, serving_input_fn, assets_extra=assets_extra, as_text=as_text,
            checkpoint_path=checkpoint_path,
        )  # fmt: skip
        kept = sorted(name.rstrip("/") for name in files.listdir(export_dir_base) if name.rstrip("/").isdigit())
        for name in kept[:-exports_to_keep] if exports_to_keep else ():
            files.rmtree(files.join(export_dir_base, name))
        return where

    return ExportStrategy("Servo", export)


class Experiment:
    """An Estimator with what it is trained and evaluated on, and for how long."""

    def __init__(
        self,
        estimator: Nested,
        train_input_fn: Callable[[], Any],
        eval_input_fn: Callable[[], Any],
        eval_metrics: object = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Iterable[Any] | None = None,
        eval_hooks: Iterable[Any] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Iterable[Any] | None = None,
        check_interval_secs: float = 5,
    ):
        if not hasattr(estimator, "evaluate"):
            raise ValueError(f"`estimator` must implement `tf.contrib.learn.Evaluable` or `Estimator`: {estimator!r}")
        self._estimator = estimator
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._eval_metrics, self._eval_hooks = eval_metrics, list(eval_hooks or ())
        self._train_steps, self._eval_steps = train_steps, eval_steps
        self._monitors = list(train_monitors or ())
        self._every = train_steps_per_iteration
        single = isinstance(export_strategies, ExportStrategy)
        self._exports = [export_strategies] if single else list(export_strategies or ())

    @property
    def estimator(self) -> Nested:
        """The Estimator."""
        return self._estimator

    @property
    def train_steps(self) -> int | None:
        """The step at which training ends."""
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        """How many batches are evaluated."""
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks: Iterable[Any]) -> None:
        """Add hooks to those of training."""
        self._monitors.extend(additional_hooks)

    def train(self, delay_secs: float | None = None) -> Nested:
        """Train until `train_steps`."""
        return self._train(self._train_steps)

    def _train(self, max_steps: int | None) -> Any:
        if isinstance(self._estimator, BaseEstimator):
            return self._estimator.fit(input_fn=self._train_input_fn, max_steps=max_steps, monitors=self._monitors)
        hooks = hooks_of(self._monitors, self._estimator)
        return self._estimator.train(self._train_input_fn, max_steps=max_steps, hooks=hooks)

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> dict[str, Any]:
        """Evaluate once."""
        more = {"metrics": self._eval_metrics} if isinstance(self._estimator, BaseEstimator) else {}
        return self._estimator.evaluate(
            input_fn=self._eval_input_fn, steps=self._eval_steps, hooks=self._eval_hooks, name=name, **more
        )

    def train_and_evaluate(self) -> tuple[dict[str, Any], list[Any]]:
        """Train, evaluate and export, in turns of `train_steps_per_iteration` where that is given."""
        if self._every and self._train_steps:
            return self.continuous_train_and_eval()
        self.train()
        return self._judged()

    local_run = train_and_evaluate

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Callable[..., Any] | None = None
    ) -> tuple[dict[str, Any], list[Any]]:
        """Train and evaluate in turns, until `train_steps` or until the predicate, given the result, is False."""
        turn = self._every or self._train_steps
        told: dict[str, Any] | None = None
        while continuous_eval_predicate_fn is None or continuous_eval_predicate_fn(told):
            step = self._step()
            if self._train_steps and step >= self._train_steps:
                break
            limit = step + turn if turn else None
            self._train(min(limit, self._train_steps) if limit and self._train_steps else limit)
            told = self.evaluate()
            if self._train_steps is None or self._step() == step:
                break
        return told or self.evaluate(), self._export(told)

    def test(self) -> tuple[dict[str, Any], list[Any]]:
        """Train one step, evaluate and export: to see that everything works."""
        self._train(self._step() + 1)
        return self._judged()

    def _judged(self) -> tuple[dict[str, Any], list[Any]]:
        told = self.evaluate()
        return told, self._export(told)

    def _export(self, told: Any) -> list[Any]:
        base = files.join(self._estimator.model_dir, "export")
        return [each.export(self._estimator, files.join(base, each.name), eval_result=told) for each in self._exports]

    def _step(self) -> int:
        if latest_checkpoint(self._estimator.model_dir) is None:
            return 0
        return int(self._estimator.get_variable_value("global_step"))


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: Nested = None,
    hparams: Nested = None,
) -> Nested:
    """Make an experiment and do what the schedule says: a method of it, else `train_and_evaluate`.

    The function takes a directory, or, where `run_config` is given, that and `hparams`.
    """
    if not callable(experiment_fn):
        raise TypeError(f"Experiment builder {experiment_fn!r} is not callable.")
    if run_config is None:
        if not output_dir:
            raise ValueError("Must specify an output directory when `run_config` is not given")
        experiment = experiment_fn(output_dir)
    else:
        if not run_config.model_dir:
            raise ValueError("Must specify a model directory in `run_config`.")
        experiment = experiment_fn(run_config, hparams)
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {experiment!r} instead.")
    schedule = schedule or _schedule(experiment.estimator.config if run_config is None else run_config)
    task = getattr(experiment, schedule, None)
    if schedule.startswith("_") or not callable(task):
        known = ", ".join(
            sorted(name for name, value in vars(Experiment).items() if name[0] != "_" and callable(value))
        )
        raise ValueError(f"Schedule references non-callable member {schedule}; one of {known}")
    logging.info("Running experiment: %s", schedule)
    return task()


def _schedule(config: Any) -> str:
    if not os.environ.get("TF_CONFIG") or not getattr(config, "cluster_spec", None) or not config.cluster_spec.jobs:
        return "train_and_evaluate"
    known = {"worker": "train", "master": "train_and_evaluate", "chief": "train_and_evaluate", "evaluator": "evaluate"}
    if config.task_type not in known:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return known[config.task_type]
