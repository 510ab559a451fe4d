"""The hooks that come with the library: stop, log, save, summarise, count, watch for NaN, wait, feed, profile.

Timers (`SecondOrStepTimer`) say when a hook is due, by steps or by seconds. Hooks that write share one writer for each
folder (`FileWriterCache`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.core import context, errors
from ebbflow.core.typing import Feeds, Nested, SessionLike
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.graph import get_default_graph
from ebbflow.graph.graph_def import write_graph
from ebbflow.graph.meta_graph import create_meta_graph_def
from ebbflow.messages import message as message_class
from ebbflow.monitored.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from ebbflow.platform import files, logging
from ebbflow.runtime.timeline import Timeline
from ebbflow.summary.writer import FileWriterCache
from ebbflow.train.step_counter import GLOBAL_STEP_READ_KEY, get_global_step

if TYPE_CHECKING:
    from ebbflow.checkpoint.saver import Saver
    from ebbflow.monitored.scaffold import Scaffold
    from ebbflow.summary.writer import FileWriter
    from ebbflow.train.coordinator import Coordinator


# --- timers -----------------------------------------------------------------------------------------------------------


class _HookTimer:
    """When something is due."""

    def reset(self) -> None:
        """Forget when it was last due."""

    def should_trigger_for_step(self, step: int) -> bool:
        """Return whether it is due at a step."""
        raise NotImplementedError("a timer of one's own defines should_trigger_for_step")

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Note that it was done at a step; return the seconds and steps since the time before."""
        raise NotImplementedError("a timer of one's own defines update_last_triggered_step")

    def last_triggered_step(self) -> int | None:
        """Return the step at which it was last done."""
        raise NotImplementedError("a timer of one's own defines last_triggered_step")


class SecondOrStepTimer(_HookTimer):
    """Due every so many steps, or every so many seconds.

    >>> timer = SecondOrStepTimer(every_steps=3)
    >>> due = []
    >>> for step in range(7):
    ...     if timer.should_trigger_for_step(step):
    ...         due.append(step)
    ...         _ = timer.update_last_triggered_step(step)
    >>> due
    [0, 3, 6]
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None):
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Forget when it was last due."""
        self._last_triggered_step: int | None = None
        self._last_triggered_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Return whether it is due at a step: not twice at the same one."""
        if self._last_triggered_step is None:
            return True
        if self._last_triggered_step == step:
            return False
        if self._every_secs is not None:
            assert self._last_triggered_time is not None
            return time.time() >= self._last_triggered_time + self._every_secs
        assert self._every_steps is not None
        return step >= self._last_triggered_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Note that it was done at a step; return the seconds and steps since the time before."""
        now = time.time()
        elapsed: tuple[float | None, int | None] = None, None
        if self._last_triggered_time is not None and self._last_triggered_step is not None:
            elapsed = now - self._last_triggered_time, step - self._last_triggered_step
        self._last_triggered_time, self._last_triggered_step = now, step
        return elapsed

    def last_triggered_step(self) -> int | None:
        """Return the step at which it was last done."""
        return self._last_triggered_step


class NeverTriggerTimer(_HookTimer):
    """Never due."""

    def should_trigger_for_step(self, step: int) -> bool:
        """Return False."""
        return False

    def update_last_triggered_step(self, step: int) -> tuple[None, None]:
        """Return that nothing has passed."""
        return None, None

    def last_triggered_step(self) -> None:
        """Return None."""
        return None


def _the_step(what: str) -> Any:
    """Return the global step; where training waits for a read of it, that read: the step before training's."""
    if (step := get_global_step()) is None:
        raise RuntimeError(f"Global step should be created to use {what}.")
    return (get_default_graph().get_collection(GLOBAL_STEP_READ_KEY) or [step])[0]


# --- looking ----------------------------------------------------------------------------------------------------------


class LoggingTensorHook(SessionRunHook):
    """Logs values every so many runs, every so many seconds, or at the end."""

    def __init__(
        self,
        tensors: Nested,
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[str, Any]], str] | None = None,
    ):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if not isinstance(tensors, dict):
            self._tag_order: Sequence[str] | None = list(tensors)  # under the name that subclasses know
            tensors = {item: item for item in tensors}
        else:
            self._tag_order = list(tensors) if tensors else None
        self._tensors, self._formatter, self._log_at_end = tensors, formatter, at_end
        self._timer: _HookTimer = NeverTriggerTimer() if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)

    def begin(self) -> None:
        """Find the tensors in the graph."""
        self._timer.reset()
        self._iter_count = 0
        graph = context.default_graph()
        self._current_tensors = {tag: graph.as_graph_element(t) for tag, t in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Have the tensors fetched where they are due."""
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Log what was fetched."""
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session: SessionLike) -> None:
        """Log once more, if asked for."""
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))

    def _log_tensors(self, values: dict[Any, Any]) -> None:
        elapsed, _ = self._timer.update_last_triggered_step(self._iter_count)
        if self._formatter:
            logging.info(self._formatter(values))
            return
        with np.printoptions(suppress=True):
            text = ", ".join(f"{tag} = {values[tag]}" for tag in self._tag_order or ())
        logging.info(text if elapsed is None else f"{text} ({elapsed:.3f} sec)")


class NanLossDuringTrainingError(RuntimeError):
    """The loss became NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Ends training, with an error or without, when a loss is NaN."""

    def __init__(self, loss_tensor: Nested, fail_on_nan_loss: bool = True):
        self._loss_tensor, self._fail_on_nan_loss = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Have the loss fetched."""
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Look at the loss."""
        if np.isnan(run_values.results).any():
            if self._fail_on_nan_loss:
                logging.error("Model diverged with loss = NaN.")
                raise NanLossDuringTrainingError
            logging.warning("Model diverged with loss = NaN.")
            run_context.request_stop()


class StopAtStepHook(SessionRunHook):
    """Ends training at a step, or after a number of steps."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        if (num_steps is None) == (last_step is None):
            raise ValueError("One of num_steps or last_step must be specified." if num_steps is None
                             else "Only one of num_steps or last_step can be specified.")  # fmt: skip
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        """Find the global step."""
        self._global_step_tensor = _the_step("StopAtStepHook")

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Work out the last step, from where training starts."""
        if self._last_step is None:
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Have the step fetched."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Ask for the end where the step is reached; what was fetched may be from before the update."""
        assert self._last_step is not None
        near = run_values.results + 1 >= self._last_step
        if near and run_context.session.run(self._global_step_tensor) >= self._last_step:
            run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Holds the first run back until the global step is reached: workers start one after the other."""

    def __init__(self, wait_until_step: int):
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Find the global step."""
        self._worker_is_started = False
        self._global_step_tensor = _the_step("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        """Wait, half a second at a time."""
        if self._worker_is_started:
            return None
        if self._wait_until_step <= 0:
            self._worker_is_started = True
            return None
        logging.info("Waiting for global step %d before starting training.", self._wait_until_step)
        while run_context.session.run(self._global_step_tensor) < self._wait_until_step:
            time.sleep(0.5)
        self._worker_is_started = True
        return None


class FinalOpsHook(SessionRunHook):
    """Evaluates tensors at the end of a session."""

    def __init__(self, final_ops: Nested, final_ops_feed_dict: Feeds | None = None):
        self._final_ops, self._final_ops_feed_dict = final_ops, final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Nested:
        """What the tensors were."""
        return self._final_ops_values

    def end(self, session: SessionLike) -> None:
        """Evaluate them."""
        if self._final_ops is not None:
            try:
                self._final_ops_values = session.run(self._final_ops, feed_dict=self._final_ops_feed_dict)
            except (errors.OutOfRangeError, StopIteration) as error:
                logging.warning("An OutOfRangeError or StopIteration exception is raised by the code in FinalOpsHook. "
                                "This typically means the Ops running by the FinalOpsHook have a dependency back to "
                                "some input source, which should not happen. %s", error)  # fmt: skip
                raise


class FeedFnHook(SessionRunHook):
    """Feeds each run what a function gives."""

    def __init__(self, feed_fn: Callable[[], Any]):
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask the function."""
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


# --- writing ----------------------------------------------------------------------------------------------------------


class CheckpointSaverListener:
    """Is told before and after a checkpoint is written; does nothing itself."""

    def begin(self) -> None:
        """Called once, before the session is made."""

    def before_save(self, session: SessionLike, global_step_value: int) -> None:
        """Called before a checkpoint is written."""

    def after_save(self, session: SessionLike, global_step_value: int) -> bool | None:
        """Called after; returning True asks training to stop."""

    def end(self, session: SessionLike, global_step_value: int) -> None:
        """Called at the end."""


class CheckpointSaverHook(SessionRunHook):
    """Writes a checkpoint at the start, every so many steps or seconds, and at the end."""

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
        save_graph_def: bool = True,
    ):
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        logging.info("Create CheckpointSaverHook.")
        self._saver, self._scaffold = saver, scaffold
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = list(listeners or ())
        self._steps_per_run = 1
        self._save_graph_def = save_graph_def

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        """Find the global step and the writer of events."""
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = _the_step("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Write the graph, and the first checkpoint."""
        step = session.run(self._global_step_tensor)
        graph = context.default_graph()
        if self._save_graph_def:
            write_graph(graph.as_graph_def(add_shapes=True), self._checkpoint_dir, "graph.pbtxt")
        self._summary_writer.add_graph(graph)
        saver_def = self._get_saver().saver_def
        self._summary_writer.add_meta_graph(
            create_meta_graph_def(graph_def=graph.as_graph_def(add_shapes=True), saver_def=saver_def)
        )
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Have the step fetched."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write a checkpoint where one is due; the fetched step may be from before the update."""
        if self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(step):
                self._timer.update_last_triggered_step(step)
                if self._tried_to_save(run_context.session, step):
                    run_context.request_stop()

    def end(self, session: SessionLike) -> None:
        """Write the last checkpoint."""
        step = session.run(self._global_step_tensor)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _tried_to_save(self, session: Any, step: int) -> bool:
        """Save, or say why not: the first and the last checkpoint must be written, others may be missed."""
        try:
            return self._save(session, step)
        except (errors.ResourceExhaustedError, errors.PermissionDeniedError) as error:
            logging.error("the checkpoint of step %d was not written, training goes on: %s", step, error)
            return False

    def _save(self, session: Any, step: int) -> bool:
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step, write_meta_graph=self._save_graph_def)
        log = message_class("tensorflow.SessionLog")(status=3, checkpoint_path=self._save_path)  # CHECKPOINT
        self._summary_writer.add_session_log(log, step)
        stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                logging.info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
                stop = True
        return stop

    def _get_saver(self) -> Any:
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        savers = context.default_graph().get_collection(GraphKeys.SAVERS)
        if len(savers) != 1:
            kind = "No items" if not savers else "More than one item"
            raise RuntimeError(
                f"{kind} in collection {GraphKeys.SAVERS}. Please indicate which one to use by passing it to the "
                "constructor (saver=) or a Scaffold."
            )
        self._saver = savers[0]
        return self._saver


class StepCounterHook(SessionRunHook):
    """Counts steps per second, for the log and a summary."""

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
    ):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer, self._output_dir = summary_writer, output_dir
        self._last_global_step: int | None = None
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        """Find the global step and the writer."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._global_step_tensor = _the_step("StepCounterHook")
        self._summary_tag = f"{get_global_step().op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Have the step fetched."""
        return SessionRunArgs(self._global_step_tensor)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        rate = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            summary = message_class("tensorflow.Summary")()
            summary.value.add(tag=self._summary_tag, simple_value=rate)
            self._summary_writer.add_summary(summary, global_step)
        logging.info("%s: %g", self._summary_tag, rate)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Count, where it is due; warn where the step stands still."""
        stale = run_values.results
        if self._timer.should_trigger_for_step(stale + self._steps_per_run):
            step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(step):
                elapsed_time, elapsed_steps = self._timer.update_last_triggered_step(step)
                if elapsed_time is not None and elapsed_steps is not None:
                    self._log_and_record(elapsed_steps, max(elapsed_time, 1e-9), step)
        if stale == self._last_global_step:
            logging.log_first_n(
                logging.WARN,
                f"It seems that global step (tf.train.get_global_step) has not been increased. Current value (could be "
                f"stable): {self._last_global_step} vs previous value: {stale}.",
                5,
            )
        self._last_global_step = stale


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds."""

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
        scaffold: Any = None,
        summary_op: Nested = None,
    ):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op, self._scaffold = summary_op, scaffold
        self._summary_writer, self._output_dir = summary_writer, output_dir
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        """Find the global step and the writer."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        self._global_step_tensor = _the_step("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Have the step fetched, and the summaries where they are due."""
        self._request_summary = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        requests = {"global_step": self._global_step_tensor}
        if self._request_summary:
            summary_op = self._get_summary_op()
            if summary_op is not None:
                requests["summary"] = summary_op
        return SessionRunArgs(requests)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write them."""
        if not self._summary_writer:
            return
        stale = run_values.results["global_step"]
        step = stale + 1
        if self._next_step is None or self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            log = message_class("tensorflow.SessionLog")(status=1)  # START
            self._summary_writer.add_session_log(log, step)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: SessionLike | None = None) -> None:
        """Have what was written reach the file."""
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self) -> list[Any] | None:
        op = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
        if op is None:
            return None
        return op if isinstance(op, list) else [op]


class ProfilerHook(SessionRunHook):
    """Writes a trace of one run, as Chrome shows it, every so many steps or seconds."""

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ):
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._file_writer = FileWriterCache.get(output_dir)
        self._show_dataflow, self._show_memory = show_dataflow, show_memory

    def begin(self) -> None:
        """Find the global step."""
        self._next_step: int | None = None
        self._global_step_tensor = _the_step("ProfilerHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Have the run traced where it is due."""
        self._request_trace = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        options = message_class("tensorflow.RunOptions")(trace_level=3) if self._request_trace else None
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the trace."""
        stale = run_values.results["global_step"]
        if self._next_step is None:
            self._timer.update_last_triggered_step(stale)
        step = stale + 1
        if self._request_trace:
            step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(step)
            trace = Timeline(run_values.run_metadata.step_stats).generate_chrome_trace_format(
                self._show_dataflow, self._show_memory
            )
            files.atomic_write_string_to_file(self._output_file.format(step), trace)
            self._file_writer.add_run_metadata(run_values.run_metadata, f"step_{step}")
        self._next_step = step + 1
