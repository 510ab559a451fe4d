"""`tf.contrib.learn.Experiment` and `learn_runner`: training and evaluation by the schedule.

Takes Estimators of `tf.contrib.learn` and of `tf.estimator` alike.
"""

from __future__ import annotations

import inspect
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ebbflow.checkpoint.management import latest_checkpoint
from ebbflow.cluster.server import Server
from ebbflow.core.typing import Nested
from ebbflow.doors.learn.monitors import hooks_of
from ebbflow.doors.learn.run_config import RunConfig, TaskType
from ebbflow.monitored.hooks import GlobalStepWaiterHook
from ebbflow.monitored.session_run_hook import SessionRunHook
from ebbflow.platform import files, logging
from ebbflow.savedmodel import kept_exports
from ebbflow.tf1.hparams import HParams


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
        more = {"assets_extra": assets_extra, "as_text": as_text, "checkpoint_path": checkpoint_path}
        if hasattr(estimator, "fit"):
            more["default_output_alternative_key"] = default_output_alternative_key
        elif default_output_alternative_key is not None:
            raise ValueError("default_output_alternative_key is not supported in core Estimator.")
        where = estimator.export_savedmodel(export_dir_base, serving_input_fn, **more)
        if not exports_to_keep:
            return where
        old = kept_exports.negation(kept_exports.largest_export_versions(exports_to_keep))
        for path in old(kept_exports.numbered(export_dir_base)):
            files.rmtree(path.path)
        return where

    return ExportStrategy("Servo", export)


class _Judge(SessionRunHook):
    """Evaluates a model while it is trained: every so many steps, if there is a new checkpoint."""

    def __init__(self, experiment: Experiment, every: int):
        self._experiment, self._every = experiment, every
        self._steps = 0
        self._seen: str | None = None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Evaluate if it is time."""
        self._steps += 1
        latest = None if self._steps % self._every else latest_checkpoint(self._experiment.estimator.model_dir)
        if latest is not None and latest != self._seen:
            self._seen = latest
            self._experiment._judged(checkpoint_path=latest, export=self._experiment._checkpoint_and_export)


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
        self._early = hasattr(estimator, "fit")  # an Estimator of tf.contrib.learn
        if not self._early and eval_metrics is not None:
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`: its model has eval_metric_ops"
            )
        if self._early and saving_listeners is not None:
            raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`.")
        if train_steps_per_iteration is not None and not isinstance(train_steps_per_iteration, int):
            raise ValueError(f"`train_steps_per_iteration` must be an integer. Got: {train_steps_per_iteration!r}")
        self._estimator = estimator
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._eval_metrics, self._eval_hooks = eval_metrics, list(eval_hooks or ())
        self._train_steps, self._eval_steps = train_steps, eval_steps
        self._train_monitors, self._saving_listeners = list(train_monitors or ()), saving_listeners
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        if local_eval_frequency is not None:
            self._min_eval_frequency = local_eval_frequency
        self._eval_delay_secs, self._throttle_secs = eval_delay_secs, continuous_eval_throttle_secs
        self._delay_workers_by_global_step = delay_workers_by_global_step
        self._every, self._checkpoint_and_export = train_steps_per_iteration, checkpoint_and_export
        self._exports: list[ExportStrategy] = []
        self.reset_export_strategies(export_strategies)

    @property
    def estimator(self) -> Nested:
        """The Estimator."""
        return self._estimator

    @property
    def eval_metrics(self) -> Nested:
        """The metrics besides the model's own."""
        return self._eval_metrics

    @property
    def train_steps(self) -> int | None:
        """The step at which training ends."""
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        """How many batches are evaluated."""
        return self._eval_steps

    def reset_export_strategies(self, new_export_strategies: Any = None) -> list[Any]:
        """Take other strategies of export; return those there were."""
        given = new_export_strategies
        strategies = [given] if isinstance(given, ExportStrategy) else list(given or ())
        for each in strategies:
            if not isinstance(each, ExportStrategy):
                raise ValueError(f"`export_strategies` must be an ExportStrategy or several, got {each!r}")
        old, self._exports = self._exports, strategies
        return old

    def extend_train_hooks(self, additional_hooks: Iterable[Any]) -> None:
        """Add hooks to those of training."""
        self._train_monitors.extend(additional_hooks)

    # --- training -----------------------------------------------------------------------------------------------------

    def train(self, delay_secs: float | None = None) -> Nested:
        """Train until `train_steps`. The later a worker's number, the later it begins, unless a delay is given."""
        begun, more = time.time(), []
        config = self._estimator.config
        if getattr(config, "cluster_spec", None) and getattr(config, "master", "") and not self._is_local(config):
            self._start_server()
        if delay_secs is None:
            task = getattr(config, "task_id", 0) or 0
            delay_secs = min(60, task * 5)
            if self._delay_workers_by_global_step:
                more, delay_secs = [GlobalStepWaiterHook(int(8000.0 * math.log(task + 1)))], 0
        _sleep(delay_secs - (time.time() - begun))
        return self._call_train(max_steps=self._train_steps, hooks=self._train_monitors + more)

    @staticmethod
    def _is_local(config: Any) -> bool:
        return getattr(config, "environment", "local") in ("local", "google")

    def _start_server(self) -> Any:
        config = self._estimator.config
        if not config.cluster_spec or not config.task_type or config.task_id is None:
            raise ValueError(
                "Could not start server; be sure to specify cluster_spec, task_type, and task in RunConfig or set the "
                "TF_CONFIG environment variable."
            )
        session = getattr(config, "tf_config", None) or getattr(config, "session_config", None)
        server = Server(
            config.cluster_spec, job_name=config.task_type, task_index=config.task_id, config=session, start=False
        )
        server.start()
        return server

    def run_std_server(self) -> None:
        """Start this task's server, and serve until the process ends."""
        self._start_server().join()

    def _call_train(self, hooks: Iterable[Any], steps: int | None = None, max_steps: int | None = None) -> Any:
        said = {"input_fn": self._train_input_fn, "steps": steps, "max_steps": max_steps}
        if self._early:
            return self._estimator.fit(monitors=list(hooks), **said)
        hooks = hooks_of(list(hooks), self._estimator)
        return self._estimator.train(hooks=hooks, saving_listeners=self._saving_listeners, **said)

    # --- evaluation ---------------------------------------------------------------------------------------------------

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> dict[str, Any]:
        """Evaluate once, after a while."""
        _sleep(self._eval_delay_secs if delay_secs is None else delay_secs)
        return self._call_evaluate(name=name)

    def _call_evaluate(
        self, name: str | None = None, checkpoint_path: str | None = None, input_fn: Any = None, **more: Any
    ) -> Any:
        said: dict[str, Any] = {"input_fn": input_fn or self._eval_input_fn, "steps": self._eval_steps, **more}
        if self._early:
            said["metrics"] = self._eval_metrics
        return self._estimator.evaluate(name=name, checkpoint_path=checkpoint_path, hooks=self._eval_hooks, **said)

    def _judged(self, checkpoint_path: str | None = None, export: bool = True) -> tuple[Any, list[Any]]:
        told = self._call_evaluate(checkpoint_path=checkpoint_path)
        return told, self._maybe_export(told, checkpoint_path) if export else []

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Callable[..., Any] | None = None,
        name: str = "continuous",
    ) -> None:
        """Evaluate and export checkpoints as they come, until `train_steps` or until the predicate is False."""
        timing = (delay_secs, throttle_delay_secs, evaluate_checkpoint_only_once)
        self._continuous(self._eval_input_fn, name, *timing, continuous_eval_predicate_fn, export=True)

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: Callable[..., Any] | None = None,
        name: str = "continuous_on_train_data",
    ) -> None:
        """Evaluate checkpoints as they come on what the model is trained on."""
        timing = (delay_secs, throttle_delay_secs, True)
        self._continuous(self._train_input_fn, name, *timing, continuous_eval_predicate_fn, export=False)

    def _continuous(
        self, input_fn: Any, name: str, delay: float | None, throttle: float | None, once: bool, predicate: Any,
        export: bool,
    ) -> None:  # fmt: skip
        go_on = _predicate(predicate)
        _sleep(self._eval_delay_secs if delay is None else delay)
        throttle = self._throttle_secs if throttle is None else throttle
        told, seen = None, None
        while go_on(told, None if told is None else seen) and not self._is_trained(told):
            begun, told = time.time(), None
            latest = latest_checkpoint(self._estimator.model_dir)
            if latest is None:
                logging.warning("Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
            elif not once or latest != seen:
                seen = latest
                told = self._call_evaluate(name, latest, input_fn)
                if export:
                    self._maybe_export(told, latest)
            _sleep(throttle - (time.time() - begun))

    def _is_trained(self, told: Any) -> bool:
        step = told.get("global_step") if isinstance(told, Mapping) else None
        return bool(step is not None and self._train_steps and step >= self._train_steps)

    # --- both ---------------------------------------------------------------------------------------------------------

    def train_and_evaluate(self) -> tuple[dict[str, Any], list[Any]]:
        """Train, evaluating new checkpoints every `min_eval_frequency` steps; then evaluate and export."""
        judges = [_Judge(self, self._min_eval_frequency)] if self._min_eval_frequency else []
        hooks = [*self._train_monitors, *judges]
        self._call_train(max_steps=self._train_steps, hooks=hooks)
        return self._judged()

    local_run = train_and_evaluate

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Callable[..., Any] | None = None
    ) -> tuple[dict[str, Any], list[Any]]:
        """Train and evaluate in turns, until `train_steps` or until the predicate, given the result, is False."""
        go_on = _predicate(continuous_eval_predicate_fn)
        turn = self._every or max(1, int(self._train_steps / 10) if self._train_steps else 1000)
        told: Any = None
        while go_on(told, None) and not self._is_trained(told):
            before = told
            self._call_train(self._train_monitors, steps=turn)
            told = self._call_evaluate()
            if isinstance(told, Mapping) and told == before:  # the input has ended, and nothing is learned any more
                break
        return told, [] if told is None else self._maybe_export(told)

    def test(self) -> tuple[dict[str, Any], list[Any]]:
        """Train one step, evaluate and export: to see that everything works."""
        self._call_train(self._train_monitors, steps=1)
        told = self._call_evaluate(steps=1)
        return told, self._maybe_export(told)

    def _maybe_export(self, told: Any, checkpoint_path: str | None = None) -> list[Any]:
        if not self._exports:
            return []
        base = files.join(self._estimator.model_dir, "export")
        return [
            each.export(self._estimator, files.join(base, each.name), checkpoint_path, told) for each in self._exports
        ]


def _sleep(seconds: float) -> None:
    if seconds > 0:
        time.sleep(seconds)


def _predicate(given: Any) -> Callable[[Any, Any], Any]:
    """Return a function of the last result and its checkpoint that says whether to go on."""
    if given is None:
        return lambda told, path: True
    if not callable(given):
        raise ValueError(f"`continuous_eval_predicate_fn` must be a callable, or None, got {given!r}")
    takes_path = len(inspect.signature(given).parameters) > 1
    return given if takes_path else lambda told, path: given(told)


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
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    experiment = _by_directory(experiment_fn, output_dir, hparams) if run_config is None else _by_config(
        experiment_fn, run_config, hparams
    )  # fmt: skip
    schedule = schedule or _schedule(experiment.estimator.config if run_config is None else run_config)
    if schedule.startswith("_") or not hasattr(experiment, schedule):
        known = ", ".join(
            sorted(name for name, value in vars(Experiment).items() if name[0] != "_" and callable(value))
        )
        raise ValueError(f"Schedule references non-existent task {schedule}; one of {known}")
    task = getattr(experiment, schedule)
    if not callable(task):
        raise TypeError(f"Schedule references non-callable member {schedule}")
    logging.info("Running experiment: %s", schedule)
    return task()


def _made(experiment: Any) -> Any:
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {experiment!r} instead.")
    return experiment


def _by_directory(experiment_fn: Callable[..., Any], output_dir: Any, hparams: Any) -> Any:
    """Return the experiment of a function that takes a directory."""
    if output_dir is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not output_dir:
        raise ValueError("Must specify an output directory")
    if hparams is not None:
        raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
    return _made(experiment_fn(output_dir))


def _by_config(experiment_fn: Callable[..., Any], run_config: Any, hparams: Any) -> Any:
    """Return the experiment of a function that takes a configuration, which its Estimator must have."""
    if not isinstance(run_config, RunConfig):
        raise ValueError(f"`run_config` must be `tf.contrib.learn.RunConfig` instance, got {run_config!r}")
    if not run_config.model_dir:
        raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
    if hparams is not None and not isinstance(hparams, HParams):
        raise ValueError(f"`hparams` must be `HParams` instance, got {hparams!r}")
    experiment, wanted = _made(experiment_fn(run_config, hparams)), run_config.uid()
    used = experiment.estimator.config
    if not hasattr(used, "uid"):
        raise RuntimeError("Pass `run_config` argument of the `experiment_fn` to the Estimator in Experiment. "
                           f"It has no uid: {used!r}")  # fmt: skip
    if used.uid() != wanted:
        raise RuntimeError("`RunConfig` instance is expected to be used by the `Estimator` inside the `Experiment`. "
                           f"expected {wanted}, but got {used.uid()}")  # fmt: skip
    return experiment


SCHEDULES = {
    TaskType.MASTER: "train_and_evaluate", TaskType.PS: "run_std_server", TaskType.WORKER: "train",
    "chief": "train_and_evaluate",
    "evaluator": "evaluate",
}  # fmt: skip
"""What a task of a cluster does, by its kind."""


def _schedule(config: Any) -> str:
    """Return what a task does if nobody says: train and evaluate alone, its part in a cluster."""
    if not config or not _is_distributed(config):
        return "train_and_evaluate"
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    if config.task_type not in SCHEDULES:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return SCHEDULES[config.task_type]


def _is_distributed(config: Any) -> bool:
    """Return whether there are several machines: a parameter server, or more than one of another kind."""
    if not os.environ.get("TF_CONFIG"):
        return False
    cluster = getattr(config, "cluster_spec", None)
    if not cluster or not cluster.jobs:
        return False
    return sum(cluster.num_tasks(job) for job in cluster.jobs if job != "evaluator") > 1
