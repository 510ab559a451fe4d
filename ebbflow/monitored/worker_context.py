"""What a task of a cluster knows of its part while it runs the function it was given: its place, its strategy, and
what the strategy leaves to it. `MonitoredTrainingSession` asks inside `with context:`.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from ebbflow.cluster.members import is_chief, task_count
from ebbflow.cluster.spec import ClusterSpec
from ebbflow.core.typing import Message

_here = threading.local()


def get_current_worker_context() -> WorkerContext | None:
    """Return the context that this thread is in, or None."""
    return getattr(_here, "context", None)


class WorkerContext:
    """The part of one task; one at a time in a thread.

    >>> import ebbflow.v1 as tf
    >>> cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:2"]})
    >>> part = WorkerContext(tf.distribute.OneDeviceStrategy("/cpu:0"), cluster, "worker", 1)
    >>> part.is_chief, part.num_workers, part.master_target
    (False, 2, 'grpc://b:2')
    """

    def __init__(
        self,
        strategy: Any,
        cluster_spec: ClusterSpec | None,
        task_type: str | None,
        task_id: int | None,
        session_config: Message | None = None,
        rpc_layer: str | None = "grpc",
        worker_barrier: Any = None,
    ):
        self._strategy, self._worker_barrier = strategy, worker_barrier
        self.cluster_spec, self.task_type, self.task_id = cluster_spec, task_type, task_id
        self.session_config = session_config
        self.master_target = self._target(rpc_layer)
        self.num_workers = sum(task_count(cluster_spec, job) for job in ("chief", "worker")) if cluster_spec else 0
        leads = not cluster_spec or task_type in (None, "chief", "evaluator")
        self.is_chief = leads or is_chief(cluster_spec, task_type, task_id)

    def _target(self, rpc_layer: str | None) -> str:
        """Return what a session is to connect to: nothing where there is no cluster."""
        if not self.cluster_spec or self.task_type == "local":
            return ""
        job, index = self.task_type, self.task_id or 0
        if job is None:  # one client of all: it asks the first of them
            job, index = "chief" if "chief" in self.cluster_spec.jobs else "worker", 0
        return (f"{rpc_layer}://" if rpc_layer else "") + self.cluster_spec.task_address(job, index)

    def __enter__(self) -> WorkerContext:
        if get_current_worker_context() is not None:
            raise ValueError(f"You cannot run distribute coordinator in a `worker_fn`.\t{self._debug_message()}")
        _here.context = self
        return self

    def __exit__(self, *error: object) -> None:
        _here.context = None

    def _debug_message(self) -> str:
        if not self.cluster_spec:
            return "[local]"
        return f"[cluster_spec: {self.cluster_spec}, task_type: {self.task_type!r}, task_id: {self.task_id!r}]"

    strategy = property(lambda self: self._strategy, doc="The strategy of the task.")
    has_barrier = property(lambda self: self._worker_barrier is not None, doc="Whether workers can wait for another.")

    @property
    def distributed_mode(self) -> bool:
        """Whether this is one of several tasks that train."""
        return bool(self.cluster_spec) and self.task_type != "evaluator"

    @property
    def experimental_should_init(self) -> bool:
        """Whether this task initializes variables."""
        return self._strategy.extended.experimental_should_init

    @property
    def should_checkpoint(self) -> bool:
        """Whether this task saves."""
        return self._strategy.extended.should_checkpoint

    @property
    def should_save_summary(self) -> bool:
        """Whether this task writes summaries."""
        return self._strategy.extended.should_save_summary

    def own_directory(self, directory: str | None) -> str | None:
        """Return where a worker saves what nobody keeps, where saving asks something of every worker."""
        all_save = getattr(self._strategy.extended, "_all_must_save", False)
        if directory is None or self.should_checkpoint or not all_save:
            return None
        return os.path.join(directory, f"tmp_{self.task_type}_{self.task_id}")

    def wait_for_other_workers(self) -> None:
        """Wait until all workers are here, where they can."""
        if self._worker_barrier is not None:
            self._worker_barrier.wait()

    def session_creator(
        self,
        scaffold: Any = None,
        config: Message | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        max_wait_secs: float = 7200,
    ) -> Any:
        """Return what makes this task's sessions: the chief's, where it initializes variables."""
        from ebbflow.monitored import monitored_session as made  # it asks this module whether there is a context

        config = config or self.session_config
        if not self.experimental_should_init:
            return made.WorkerSessionCreator(scaffold, self.master_target, config, max_wait_secs)
        return made.ChiefSessionCreator(
            scaffold, self.master_target, config, checkpoint_dir, checkpoint_filename_with_path
        )
