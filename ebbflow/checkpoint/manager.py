"""`tf.train.CheckpointManager`: numbered checkpoints in one folder, of which the latest few are kept."""

from __future__ import annotations

import collections
import os
import time
from collections.abc import Callable
from typing import Any

from ebbflow.checkpoint import management
from ebbflow.checkpoint.checkpoint import Checkpoint, CheckpointV1
from ebbflow.checkpoint.options import CheckpointOptions
from ebbflow.checkpoint.status import get_session
from ebbflow.core import context, errors
from ebbflow.core.tensor import Tensor
from ebbflow.platform import logging
from ebbflow.state.variables import Variable


def _value_of(count: Any) -> int:
    """Return a count that may be a variable or a tensor as a number."""
    if not isinstance(count, (Variable, Tensor)):
        return int(count)
    return int(count.numpy()) if context.executing_eagerly() else int(get_session().run(count))


class CheckpointManager:
    """Saves a checkpoint again and again, and removes those that need not be kept."""

    def __init__(
        self,
        checkpoint: Any,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None,
        checkpoint_interval: Any = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ):
        if not isinstance(checkpoint, (Checkpoint, CheckpointV1)) and not hasattr(checkpoint, "save_counter"):
            raise ValueError(f"CheckpointManager needs a tf.train.Checkpoint, got {checkpoint!r}")
        self._checkpoint = checkpoint
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._directory = os.fspath(directory)
        self._checkpoint_prefix = os.path.join(self._directory, checkpoint_name)
        self._checkpoint_interval = checkpoint_interval
        self._last_checkpoint_step = last_checkpoint_step
        self._step_counter = step_counter
        self._init_fn = init_fn
        self._maybe_delete: collections.OrderedDict[str, float] = collections.OrderedDict()
        self._latest_checkpoint: str | None = None
        self._last_preserved_timestamp = time.time() - 1.0
        self._recover()

    def _recover(self) -> None:
        """Take over the checkpoints that another manager left in the folder."""
        state = management.get_checkpoint_state(self._directory)
        if state is None:
            return
        now = time.time()
        self._latest_checkpoint = state.model_checkpoint_path
        self._last_preserved_timestamp = state.last_preserved_timestamp
        if now < self._last_preserved_timestamp:
            logging.warning(
                "The clock is %f seconds behind the last preserved checkpoint of %s.",
                self._last_preserved_timestamp - now, self._directory,
            )  # fmt: skip
            self._last_preserved_timestamp = now
        paths = list(state.all_model_checkpoint_paths)
        times = list(state.all_model_checkpoint_timestamps) or [self._last_preserved_timestamp] * len(paths)
        for path, written in zip(paths, times, strict=False):
            # Those that were not listed with their times are somebody else's, and are never removed; a save that was
            # killed may have left names of checkpoints that it had removed.
            if min(written, now) > self._last_preserved_timestamp and management.checkpoint_exists_internal(path):
                self._maybe_delete[path] = min(written, now)

    # --- what there is ------------------------------------------------------------------------------------------------

    @property
    def directory(self) -> str:
        """The folder of the checkpoints."""
        return self._directory

    @property
    def checkpoint(self) -> Any:
        """The tf.train.Checkpoint that is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int:
        """How many steps there are at least between two checkpoints."""
        return self._checkpoint_interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the latest checkpoint, or None."""
        return self._latest_checkpoint

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints that are kept, oldest first."""
        return list(self._maybe_delete)

    @property
    def _prefix(self) -> str:
        return self._checkpoint_prefix

    # --- saving -------------------------------------------------------------------------------------------------------

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: CheckpointOptions | None = None
    ) -> str | None:
        """Save a checkpoint and return its prefix; None where the interval has not passed."""
        if self._checkpoint_interval is not None:
            step = _value_of(self._step_counter)
            last = self._last_checkpoint_step
            if check_interval and last is not None and step < last + self._checkpoint_interval:
                return None
            self._last_checkpoint_step = step
        number = self._checkpoint._counted(None)
        if checkpoint_number is not None:
            number = _value_of(checkpoint_number)
        return self._write(f"{self._prefix}-{number}", options)

    def _write(self, path: str, options: CheckpointOptions | None) -> str:
        arguments: dict[str, Any] = {"options": options, "when_written": self._written}
        if context.executing_eagerly():
            self._checkpoint._saver.save(path, **arguments)
        else:
            self._checkpoint._saver.save(path, session=get_session(), **arguments)
        return path

    def _written(self, path: str) -> None:
        """List a checkpoint that is complete, and remove those that need not be kept."""
        self._latest_checkpoint = path
        self._maybe_delete.pop(path, None)
        self._maybe_delete[path] = time.time()
        self._record_state()  # the list names it before another is removed
        if self._sweep():
            self._record_state()

    def _sweep(self) -> bool:
        """Remove checkpoints that are too many; return whether there were any."""
        if not self._max_to_keep:
            return False
        removed = False
        while len(self._maybe_delete) > self._max_to_keep:
            path, written = self._maybe_delete.popitem(last=False)
            removed = True
            hours = self._keep_checkpoint_every_n_hours
            if hours and written - hours * 3600.0 >= self._last_preserved_timestamp:
                self._last_preserved_timestamp = written
                continue
            for pattern in (path + ".index", path + ".data-?????-of-?????"):
                try:
                    management._remove_matching(pattern)
                except errors.OpError as error:
                    logging.warning("Could not remove %s: %s", pattern, error)
        return removed

    def _record_state(self) -> None:
        paths, times = zip(*self._maybe_delete.items(), strict=True) if self._maybe_delete else ((), ())
        management.update_checkpoint_state_internal(
            self._directory,
            model_checkpoint_path=self._latest_checkpoint,
            all_model_checkpoint_paths=list(paths),
            all_model_checkpoint_timestamps=list(times),
            last_preserved_timestamp=self._last_preserved_timestamp,
            save_relative_paths=True,
        )

    # --- restoring ----------------------------------------------------------------------------------------------------

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint and return it; where there is none, call `init_fn` and return None."""
        self.sync()
        if self._latest_checkpoint is not None:
            status = self._checkpoint.restore(self._latest_checkpoint)
            if not context.executing_eagerly():
                status.initialize_or_restore()
            if self._checkpoint_interval is not None:
                self._last_checkpoint_step = _value_of(self._step_counter)
            return self._latest_checkpoint
        if self._init_fn is not None:
            self._init_fn()
            logging.info("Customized initialization is done through the passed `init_fn`.")
        return None

    def sync(self) -> None:
        """Wait for what is being written in the background."""
        self._checkpoint._saver.sync()
