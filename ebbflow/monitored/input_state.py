"""Where the input of an Estimator's training is, in checkpoints of its own beside the model's.

Knows iterators of graphs and the hook that saves. An input that must never be a step apart from the model belongs into
the model's own checkpoints: see `make_saveable_from_iterator`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbflow.checkpoint.iterators import IteratorSaveable, policy_of
from ebbflow.checkpoint.management import checkpoint_exists, latest_checkpoint
from ebbflow.checkpoint.saver import Saver
from ebbflow.core import context
from ebbflow.core.typing import SessionLike
from ebbflow.data.iterator_v1 import GLOBAL_ITERATORS
from ebbflow.data.options import ExternalStatePolicy
from ebbflow.monitored.hooks import CheckpointSaverHook
from ebbflow.monitored.session_run_hook import SessionRunHook
from ebbflow.platform import logging

if TYPE_CHECKING:
    from ebbflow.monitored.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunValues
    from ebbflow.train.coordinator import Coordinator


class _ListedApart(Saver):
    """A saver whose checkpoints are in a list of another name than the model's."""

    list_name: str | None = None

    def save(self, sess: Any, save_path: str, global_step: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Save, and note it in that list."""
        return super().save(sess, save_path, global_step, *args, **{"latest_filename": self.list_name, **kwargs})


class CheckpointInputPipelineHook(SessionRunHook):
    """Saves where the iterators of a graph are as often as the Estimator saves its model, and goes on from there.

    The files are called `input.ckpt-…` and stand in the folder of the model; their list is `checkpoint_input`.
    """

    def __init__(self, estimator: Any, external_state_policy: ExternalStatePolicy | str | None = None):
        config = estimator._config
        base = "input"
        if config.num_worker_replicas > 1:
            base = f"input_{config.task_type}_{config.task_id}"
        self._policy = policy_of(external_state_policy)
        self._folder, self._base, self._list = estimator.model_dir, f"{base}.ckpt", f"checkpoint_{base}"
        self._saver: _ListedApart | None = None
        self._first_run = False
        self._hook = CheckpointSaverHook(
            estimator.model_dir, save_secs=config._save_checkpoints_secs, save_steps=config._save_checkpoints_steps,
            checkpoint_basename=self._base, save_graph_def=False,
        )  # fmt: skip

    def begin(self) -> None:
        """Make what saves the iterators of the graph."""
        if self._saver is None:
            resources = context.default_graph().get_collection(GLOBAL_ITERATORS)
            saveables = [IteratorSaveable(resource, resource.name, self._policy) for resource in resources]
            self._saver = self._hook._saver = _ListedApart(saveables, sharded=True)
            self._saver.list_name = self._list
        self._hook.begin()

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Note that the iterators of this session are at their beginning."""
        self._first_run = True

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Before the first run, set the iterators where they were; then have the step fetched."""
        if self._first_run:
            self._restore_or_save(run_context.session)
            self._first_run = False
        return self._hook.before_run(run_context)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Save where it is due."""
        self._hook.after_run(run_context, run_values)

    def end(self, session: SessionLike) -> None:
        """Save a last time."""
        self._hook.end(session)

    def _restore_or_save(self, session: Any) -> None:
        """Restore the iterators as they were at the model's step; without any checkpoint, write the first."""
        step = int(session.run(self._hook._global_step_tensor))
        self._hook._timer.update_last_triggered_step(step)
        latest = latest_checkpoint(self._folder, self._list)
        assert self._saver is not None
        if latest is None:
            self._hook._save(session, step)
            return
        same = f"{self._hook._save_path}-{step}"
        if same != latest and checkpoint_exists(same):  # a program that was killed between the two saves
            latest = same
        if same != latest:
            logging.warning("The model is at step %d, its input goes on from %s.", step, latest)
        self._saver.restore(session, latest)
