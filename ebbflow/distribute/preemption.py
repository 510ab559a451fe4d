"""`tf.distribute.experimental.PreemptionCheckpointHandler`: a checkpoint before a machine is taken away.

Whoever takes machines away says so first, by SIGTERM or by what a function of the program's finds out. The step that
runs is finished, all workers agree that it was the last (a sum of one number after each step, where there are several),
the checkpoint is written, and the process exits. Started again, the program goes on from there.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from ebbflow.checkpoint.checkpoint import Checkpoint
from ebbflow.checkpoint.manager import CheckpointManager
from ebbflow.core.convert import convert
from ebbflow.distribute import current
from ebbflow.distribute.reduce_op import ReduceOp
from ebbflow.platform import logging
from ebbflow.state.base import Variable

EXIT_CODE = 143
"""What a process exits with that is to be started again: what a shell says of one that SIGTERM ended."""

WATCH_SECONDS = 0.5
"""How often `termination_watcher_fn` is asked."""


class TerminationConfig:
    """How a program learns that its machine is taken away, and what it does then."""

    def __init__(
        self,
        termination_watcher_fn: Callable[[], bool] | None = None,
        exit_fn: Callable[[], Any] | None = None,
        grace_period: float | None = None,
        save_fn: Callable[..., Any] | None = None,
    ):
        self.termination_watcher_fn, self.exit_fn = termination_watcher_fn, exit_fn
        self.grace_period, self.save_fn = grace_period or 0.0, save_fn


class PreemptionCheckpointHandler:
    """Runs training steps, and writes a checkpoint when the machine is to be taken away."""

    def __init__(
        self,
        cluster_resolver: Any,
        checkpoint_or_checkpoint_manager: Checkpoint | CheckpointManager,
        checkpoint_dir: str | None = None,
        termination_config: TerminationConfig | None = None,
    ):
        given = checkpoint_or_checkpoint_manager
        if isinstance(given, Checkpoint):
            if not checkpoint_dir:
                raise ValueError("When a checkpoint is passed, a checkpoint_dir must be passed as well")
            given = CheckpointManager(given, checkpoint_dir, max_to_keep=1)
        elif not isinstance(given, CheckpointManager):
            raise TypeError(f"expected a tf.train.Checkpoint or a tf.train.CheckpointManager, got {given!r}")
        self._manager, self._resolver = given, cluster_resolver
        self._config = termination_config or TerminationConfig()
        self._strategy = current.get_strategy()
        self._told = threading.Event()
        self._told_at = 0.0
        self._run_counter = Variable(0, dtype="int64", trainable=False, name="preemption_run_counter")
        given.checkpoint._preemption_run_counter = self._run_counter
        if given.latest_checkpoint:
            given.checkpoint.restore(given.latest_checkpoint)
        self._watch()

    def _watch(self) -> None:
        watcher = self._config.termination_watcher_fn
        if watcher is None:
            signal.signal(signal.SIGTERM, lambda number, frame: self._tell("SIGTERM"))
            return

        def look() -> None:
            while not watcher():
                time.sleep(WATCH_SECONDS)
            self._tell("termination_watcher_fn")

        threading.Thread(target=look, daemon=True, name="ebbflow-preemption").start()

    def _tell(self, who: str) -> None:
        self._told_at = time.monotonic()
        self._told.set()
        logging.warning("%s says that this machine is taken away: a checkpoint follows the step that runs", who)

    @property
    def total_run_calls(self) -> int:
        """How often `run` was called, before this process was started, too."""
        return int(self._run_counter)

    def run(self, distributed_train_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a training function; write a checkpoint behind it, and exit, when that is to be."""
        result = distributed_train_function(*args, **kwargs)
        self._run_counter.assign_add(1)
        self.save_checkpoint_if_preempted()
        return result

    def save_checkpoint_if_preempted(self, *args: Any, **kwargs: Any) -> None:
        """Write a checkpoint and exit if any worker was told that its machine is taken away."""
        if not self._agreed():
            return
        left = self._config.grace_period - (time.monotonic() - self._told_at)
        if self._told.is_set() and left > 0:
            return  # there is time for another step
        save = self._config.save_fn or self._manager.save
        save(*args, **kwargs)
        logging.warning("a checkpoint of step %d is written: the process exits", self.total_run_calls)
        leave = self._config.exit_fn
        if leave is None:
            sys.stdout.flush()
            sys.exit(EXIT_CODE)
        leave()

    def _agreed(self) -> bool:
        """Return whether any worker was told; all of them answer alike."""
        told = float(self._told.is_set())
        if not self._strategy.extended._in_multi_worker_mode():
            return bool(told)

        def total() -> Any:
            return current.get_replica_context().all_reduce(ReduceOp.SUM, convert(told))

        return float(self._strategy.experimental_local_results(self._strategy.run(total))[0]) > 0.0
