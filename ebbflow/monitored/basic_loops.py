"""Loops around monitored sessions: `basic_train_loop`, `tf.contrib.training.train`, evaluation of checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.checkpoint.management import checkpoints_iterator
from ebbflow.core import context, dtypes
from ebbflow.core.typing import Feeds, Message, Nested, SessionLike
from ebbflow.graph import scopes
from ebbflow.graph.collections import GraphKeys
from ebbflow.monitored.hooks import FinalOpsHook
from ebbflow.monitored.monitored_session import ChiefSessionCreator, MonitoredSession, MonitoredTrainingSession
from ebbflow.monitored.scaffold import Scaffold
from ebbflow.monitored.session_run_hook import SessionRunArgs, SessionRunHook
from ebbflow.platform import logging
from ebbflow.state.initializers import Zeros
from ebbflow.state.variable_scope import get_variable
from ebbflow.summary.ops import merge_all
from ebbflow.summary.writer import FileWriterCache
from ebbflow.train.step_counter import get_global_step

if TYPE_CHECKING:
    from ebbflow.monitored.session_run_hook import SessionRunContext, SessionRunValues
    from ebbflow.monitored.supervisor import Supervisor
    from ebbflow.state.base import Variable
    from ebbflow.summary.writer import FileWriter
    from ebbflow.train.coordinator import Coordinator


def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., Any],
    args: Nested = None,
    kwargs: Mapping[str, Any] | None = None,
    master: str = "",
) -> None:
    """Call `train_step_fn(sess, …)` in a supervisor's session until it stops."""
    with supervisor.managed_session(master) as sess:
        while not supervisor.should_stop():
            train_step_fn(sess, *(args or ()), **(kwargs or {}))


def train(
    train_op: Nested,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Message | None = None,
    max_wait_secs: float = 7200,
) -> Nested:
    """Run `train_op` until a hook stops it; return its last value (`tf.contrib.training.train`)."""
    if logdir is None and is_chief and (save_summaries_steps or save_checkpoint_secs):
        raise ValueError("logdir cannot be None when save_summaries_steps or save_checkpoint_secs are not None")
    with MonitoredTrainingSession(
        master=master, is_chief=is_chief, checkpoint_dir=logdir, scaffold=scaffold, hooks=hooks,
        chief_only_hooks=chief_only_hooks, save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps, config=config, max_wait_secs=max_wait_secs,
    ) as session:  # fmt: skip
        value = None
        while not session.should_stop():
            value = session.run(train_op)
    return value


# --- evaluation -------------------------------------------------------------------------------------------------------


def get_or_create_eval_step() -> Variable:
    """Return the local variable that counts evaluations, made on first use."""
    graph = context.default_graph()
    steps = graph.get_collection(GraphKeys.EVAL_STEP)
    if len(steps) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if steps:
        return steps[0]
    return get_variable(
        "eval_step", shape=[], dtype=dtypes.int64, initializer=Zeros(), trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )  # fmt: skip


class StopAfterNEvalsHook(SessionRunHook):
    """Stops after a number of evaluations."""

    def __init__(self, num_evals: int | None, log_progress: bool = True):
        self._num_evals, self._log_progress = num_evals, log_progress
        self._evals_completed: Any = None
        self._log_frequency = 1 if num_evals is None or num_evals < 20 else max(num_evals // 10, 1)

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Have the count fetched."""
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stop where it is reached."""
        done = run_values.results["evals_completed"]
        if self._log_progress and (self._num_evals == done or done % self._log_frequency == 0):
            logging.info("Evaluation [%s/%s]", done, self._num_evals if self._num_evals is not None else "inf")
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes summaries once, at the end."""

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: FileWriter | None = None,
        summary_op: Nested = None,
        feed_dict: Feeds | None = None,
    ):
        if log_dir is None and summary_writer is None:
            raise ValueError("Exactly one of log_dir or summary_writer should be provided.")
        self._summary_op, self._replace_summary_op = summary_op, summary_op is None
        self._feed_dict, self._summary_writer, self._log_dir = feed_dict, summary_writer, log_dir

    def begin(self) -> None:
        """Find the summaries and the global step."""
        if self._replace_summary_op:
            self._summary_op = merge_all()
        self._global_step = get_global_step()

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Find the writer, and give it the graph."""
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = FileWriterCache.get(self._log_dir)
            if self._summary_writer:
                self._summary_writer.add_graph(session.graph)

    def end(self, session: SessionLike) -> None:
        """Compute and write them."""
        if self._summary_op is None:
            return
        if self._global_step is None:
            values, step = session.run(self._summary_op, self._feed_dict), None
        else:
            values, step = session.run([self._summary_op, self._global_step], self._feed_dict)
        if self._summary_writer:
            self._summary_writer.add_summary(values, step)
            self._summary_writer.flush()


def evaluate_once(
    checkpoint_path: str,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Nested = None,
    feed_dict: Feeds | None = None,
    final_ops: Nested = None,
    final_ops_feed_dict: Feeds | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    config: Message | None = None,
) -> Nested:
    """Restore a checkpoint, run `eval_ops` until a hook stops it, return what `final_ops` are then."""
    eval_step = get_or_create_eval_step()
    hooks = list(hooks or ())
    if eval_ops is not None:
        counted = eval_step.assign_add(1)
        eval_ops = {**eval_ops, "update_eval_step": counted} if isinstance(eval_ops, dict) else (
            [*eval_ops, counted] if isinstance(eval_ops, (list, tuple)) else [eval_ops, counted]
        )  # fmt: skip
        with scopes.control_dependencies([counted]):
            read = eval_step.read_value()
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(read)
    logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S%z"))
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    creator = ChiefSessionCreator(
        scaffold=scaffold or Scaffold(), checkpoint_filename_with_path=checkpoint_path, master=master, config=config
    )
    with MonitoredSession(session_creator=creator, hooks=[*hooks, final]) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))
    return final.final_ops_values


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Nested = None,
    feed_dict: Feeds | None = None,
    final_ops: Nested = None,
    final_ops_feed_dict: Feeds | None = None,
    eval_interval_secs: float = 60,
    hooks: Sequence[SessionRunHook] | None = None,
    config: Message | None = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Nested:
    """Evaluate each new checkpoint of a folder, at most every so many seconds; return the last final values."""
    value = None
    final = final_ops, final_ops_feed_dict
    for count, path in enumerate(checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn), 1):
        value = evaluate_once(path, master, scaffold, eval_ops, feed_dict, *final, hooks, config)
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            break
    return value
