"""`tf.contrib.learn.monitors`: what is told of training steps, before there were hooks; each is a hook here.

A monitor says before a step which tensors it wants, and gets them after it. Knows hooks; knows of an Estimator only
that it can be evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.checkpoint.management import latest_checkpoint
from ebbflow.core import context
from ebbflow.core.typing import SessionLike, TensorLike
from ebbflow.graph.collections import GraphKeys, get_collection
from ebbflow.monitored.hooks import (
    CheckpointSaverHook,
    NanTensorHook,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
)
from ebbflow.monitored.session_run_hook import SessionRunArgs, SessionRunHook
from ebbflow.platform import logging
from ebbflow.train.step_counter import get_global_step

if TYPE_CHECKING:
    from ebbflow.monitored.session_run_hook import SessionRunContext, SessionRunValues
    from ebbflow.summary.writer import FileWriter
    from ebbflow.train.coordinator import Coordinator


class BaseMonitor:
    """Is told when training begins and ends, and of every step."""

    def __init__(self) -> None:
        self._estimator: Any = None
        self._max_steps: int | None = None

    def set_estimator(self, estimator: object) -> None:
        """Know whose training is watched."""
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Be told that training begins."""
        self._max_steps = max_steps

    def end(self, session: SessionLike | None = None) -> None:
        """Be told that training has ended."""

    def epoch_begin(self, epoch: int) -> None:
        """Be told that an epoch begins."""

    def epoch_end(self, epoch: int) -> None:
        """Be told that an epoch has ended."""

    def step_begin(self, step: int) -> list[Any]:
        """Return the tensors whose values are wanted after a step."""
        return []

    def step_end(self, step: int, output: dict[str, Any]) -> bool:
        """Take the values; return whether training should stop."""
        return False

    def post_step(self, step: int, session: SessionLike) -> None:
        """Be told that a step is done, with the session."""


class EveryN(BaseMonitor):
    """Is told of every n-th step, and of the first and the last."""

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1):
        super().__init__()
        self._every, self._first = every_n_steps, first_n_steps
        self._last = 0
        self._active = False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Return the tensors that are wanted after such a step."""
        return []

    def every_n_step_end(self, step: int, outputs: dict[str, Any]) -> bool:
        """Take them; return whether training should stop."""
        return False

    def every_n_post_step(self, step: int, session: SessionLike) -> None:
        """Be told that such a step is done, with the session."""

    def step_begin(self, step: int) -> list[Any]:
        """Return the tensors wanted, where it is such a step."""
        self._active = step <= self._first or step >= self._last + self._every or step == self._max_steps
        return self.every_n_step_begin(step) if self._active else []

    def step_end(self, step: int, output: dict[str, Any]) -> bool:
        """Take the values, where it is such a step."""
        return self.every_n_step_end(step, output) if self._active else False

    def post_step(self, step: int, session: SessionLike) -> None:
        """Remember when it was."""
        if self._active:
            self._last = step
            self.every_n_post_step(step, session)


class PrintTensor(EveryN):
    """Logs tensors every n steps."""

    def __init__(self, tensor_names: Any, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        named = tensor_names if isinstance(tensor_names, dict) else {name: name for name in tensor_names}
        self._named = named

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Return the tensors to print."""
        return list(self._named.values())

    def every_n_step_end(self, step: int, outputs: dict[str, Any]) -> bool:
        """Print them."""
        shown = ", ".join(f"{tag} = {outputs[name]}" for tag, name in self._named.items() if name in outputs)
        logging.info("Step %d: %s", step, shown)
        return False


class LoggingTrainable(EveryN):
    """Logs variables that are trained, those of a scope, every n steps."""

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Return the names of the variables to log."""
        return [variable.name for variable in get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=self._scope)]

    def every_n_step_end(self, step: int, outputs: dict[str, Any]) -> bool:
        """Log them."""
        names = self.every_n_step_begin(step)
        logging.info("Step %d: %s", step, ", ".join(f"{name} = {outputs[name]}" for name in names if name in outputs))
        return False


class CaptureVariable(EveryN):
    """Keeps a variable's value every n steps, in `values`, by the step."""

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._name = var_name
        self._values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """The values so far, by the step."""
        return self._values

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Return the name of the variable."""
        return [self._name]

    def every_n_step_end(self, step: int, outputs: dict[str, Any]) -> bool:
        """Keep its value."""
        self._values[step] = outputs[self._name]
        return False


class GraphDump(BaseMonitor):
    """Keeps the values of all tensors that are computed at every step, in `data`, by the step.

    Those of ops without inputs (constants, placeholders) and of ops with state (assignments, random numbers) are left
    out, and those of `ignore_ops`.
    """

    def __init__(self, ignore_ops: Iterable[str] | None = None):
        super().__init__()
        self._ignored = set(ignore_ops or ())
        self._data: dict[int, dict[str, Any]] = {}
        self._tensors: list[Any] = []

    @property
    def data(self) -> dict[int, dict[str, Any]]:
        """The values so far: by the step, then by the name."""
        return self._data

    def begin(self, max_steps: int | None = None) -> None:
        """Choose the tensors."""
        super().begin(max_steps)
        operations = context.default_graph().get_operations()
        kinds = [op for op in operations if _computes(op) and op.type not in self._ignored]
        self._tensors = [out for op in kinds for out in op.outputs if out.dtype.name not in ("resource", "variant")]

    def step_begin(self, step: int) -> list[Any]:
        """Return the tensors."""
        return self._tensors

    def step_end(self, step: int, output: dict[str, Any]) -> bool:
        """Keep their values."""
        self._data[step] = dict(output)
        return False

    def compare(self, other_dump: GraphDump, step: int, atol: float = 1e-06) -> tuple[list[str], dict[str, Any]]:
        """Return the names whose values agree at a step of two dumps, and the pairs of values that do not."""
        same, differing = [], {}
        for name, value in self._data[step].items():
            other = other_dump.data[step].get(name)
            if _agree(np.asarray(value), np.asarray(other), atol):
                same.append(name)
            else:
                differing[name] = (value, other)
        return same, differing


def _computes(op: Any) -> bool:
    """Return whether an op does nothing but compute from its inputs."""
    declared = op.op_def
    return bool(op.inputs) and not declared.is_stateful and not any(arg.is_ref for arg in declared.input_arg)


def _agree(one: np.ndarray, other: np.ndarray, atol: float) -> bool:
    if one.shape != other.shape:
        return False
    numbers = one.dtype.kind in "fcbiu" and other.dtype.kind in "fcbiu"
    return np.allclose(one, other, atol=atol, equal_nan=True) if numbers else bool((one == other).all())


class SummarySaver(SummarySaverHook):
    """Writes summaries every so many steps."""

    def __init__(
        self,
        summary_op: TensorLike | None,
        save_steps: int = 100,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
        scaffold: Any = None,
    ):
        super().__init__(save_steps, None, output_dir, summary_writer, scaffold, summary_op)


class CheckpointSaver(CheckpointSaverHook):
    """Saves checkpoints every so many seconds or steps."""

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: int | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
    ):
        super().__init__(checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename, scaffold)


def get_default_monitors(
    loss_op: TensorLike | None = None,
    summary_op: TensorLike | None = None,
    save_summary_steps: int = 100,
    output_dir: str | None = None,
    summary_writer: FileWriter | None = None,
) -> list[Any]:
    """Return the monitors of any training: of the loss and of summaries, where they are given."""
    found: list[Any] = []
    if loss_op is not None:
        found.append(PrintTensor({"loss": getattr(loss_op, "name", loss_op)}))
    if summary_op is not None:
        found.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return found


class ValidationMonitor(EveryN):
    """Evaluates every n steps, where there is a new checkpoint, and may end training that no longer gets better."""

    def __init__(
        self,
        x: TensorLike | None = None,
        y: TensorLike | None = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Mapping[Any, Any] | None = None,
        hooks: Iterable[Any] | None = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ):
        super().__init__(every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._feed = {"x": x, "y": y, "input_fn": input_fn, "batch_size": batch_size, "steps": eval_steps}
        self._how = {"metrics": metrics, "hooks": hooks, "name": name}
        self._rounds, self._metric = early_stopping_rounds, early_stopping_metric
        self._sign = 1 if early_stopping_metric_minimize else -1
        self._seen: str | None = None
        self.best_step: int | None = None
        self.best_value: Any = None
        self.best_metrics: dict[str, Any] | None = None
        self.early_stopped = False

    def every_n_step_end(self, step: int, outputs: dict[str, Any]) -> bool:
        """Evaluate the last checkpoint; return whether the metric has not got better for too long."""
        latest = latest_checkpoint(self._estimator.model_dir)
        if latest is None or latest == self._seen:
            return False
        self._seen = latest
        told = self._estimator.evaluate(**self._feed, **self._how)
        logging.info("Validation (step %d): %s", step, ", ".join(f"{k} = {v}" for k, v in sorted(told.items())))
        if self._metric not in told:
            raise ValueError(f"early_stopping_metric {self._metric!r} is none of {sorted(told)}")
        value = told[self._metric]
        if self.best_value is None or self._sign * value < self._sign * self.best_value:
            self.best_value, self.best_metrics, self.best_step = value, told, step
        if self._rounds is not None and self.best_step is not None and step - self.best_step >= self._rounds:
            logging.info("Stopping. Best step: %d with %s = %s.", self.best_step, self._metric, self.best_value)
            self.early_stopped = True
        return self.early_stopped


class StopAtStep(StopAtStepHook):
    """Ends training after so many steps, or at a step."""


class NanLoss(NanTensorHook):
    """Ends training, or fails it, when a loss is not a number."""


class StepCounter(StepCounterHook):
    """Writes how many steps a second are made."""

    def __init__(
        self, every_n_steps: int = 100, output_dir: str | None = None, summary_writer: FileWriter | None = None
    ):
        super().__init__(every_n_steps, output_dir=output_dir, summary_writer=summary_writer)


class RunHookAdapterForMonitors(SessionRunHook):
    """Monitors as one hook."""

    def __init__(self, monitors: Iterable[BaseMonitor]):
        self._monitors = list(monitors)
        self._step = 0
        self._counter: Any = None

    def begin(self) -> None:
        """Tell the monitors that training begins."""
        self._counter = get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Know where training stands."""
        self._step = int(session.run(self._counter))

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Ask for the tensors the monitors want."""
        wanted: dict[Any, Any] = {}
        for monitor in self._monitors:
            for tensor in monitor.step_begin(self._step + 1):
                wanted[tensor if isinstance(tensor, str) else tensor.name] = _in_graph(tensor)
        return SessionRunArgs([wanted, self._counter])

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Give them their values; stop where one says so."""
        values, self._step = run_values.results[0], int(run_values.results[1])
        stop = [monitor.step_end(self._step, values) for monitor in self._monitors]
        for monitor in self._monitors:
            monitor.post_step(self._step, run_context.session)
        if any(stop):
            run_context.request_stop()

    def end(self, session: SessionLike) -> None:
        """Tell the monitors that training has ended."""
        for monitor in self._monitors:
            monitor.end(session=session)


def _in_graph(tensor: Any) -> Any:
    if not isinstance(tensor, str):
        return tensor
    return context.default_graph().as_graph_element(tensor if ":" in tensor else f"{tensor}:0")


def hooks_of(monitors: Any, estimator: Any) -> list[Any]:
    """Return monitors and hooks as hooks."""
    several = [] if monitors is None else list(monitors) if isinstance(monitors, (list, tuple)) else [monitors]
    old = [monitor for monitor in several if isinstance(monitor, BaseMonitor)]
    for monitor in old:
        monitor.set_estimator(estimator)
    hooks = [monitor for monitor in several if not isinstance(monitor, BaseMonitor)]
    return [*hooks, RunHookAdapterForMonitors(old)] if old else hooks


def replace_monitors_with_hooks(monitors_or_hooks: object, estimator: object) -> list[Any]:
    """Return monitors and hooks as hooks, for an Estimator."""
    return hooks_of(monitors_or_hooks, estimator)
