"""`tf.train.SessionManager`: sessions that are ready to train.

The chief's session is restored from the last whole checkpoint, or else initialized; other processes wait until the
chief has done so. A chief that starts again takes over what the tasks of its cluster hold, where that is whole. Ready
is what `ready_op` says: it gives the names of whatever is not initialized.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.checkpoint import management
from ebbflow.core import context, errors, stopping
from ebbflow.core.typing import Feeds, Message, Nested
from ebbflow.monitored.live_state import LiveState
from ebbflow.platform import logging
from ebbflow.runtime.session import Session

if TYPE_CHECKING:
    from ebbflow.checkpoint.saver import Saver
    from ebbflow.graph.graph import Graph


FIRST_WAIT = 0.25
"""Seconds until a process that waits for its chief looks again; each wait is twice the last, up to the longest."""

LONGEST_WAIT = 2.0
"""Looking costs a few messages; a worker that sleeps when its chief is ready holds up all who train in step."""


class SessionManager:
    """Makes sessions, and has them initialized or restored."""

    def __init__(
        self,
        local_init_op: Nested = None,
        ready_op: Nested = None,
        ready_for_local_init_op: Nested = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Message | None = None,
        local_init_feed_dict: Feeds | None = None,
    ):
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("If you pass a ready_for_local_init_op you must also pass a local_init_op "
                             f", ready_for_local_init_op [{ready_for_local_init_op}]")  # fmt: skip
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = context.default_graph() if graph is None else graph
        self._wait = recovery_wait_secs
        self._local_init_run_options = local_init_run_options
        self._local_init_feed_dict = local_init_feed_dict
        self._target: Any = None

    # --- the chief ---------------------------------------------------------------------------------------------------

    def prepare_session(
        self,
        master: str,
        init_op: Nested = None,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Message | None = None,
        init_feed_dict: Feeds | None = None,
        init_fn: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Return a session that is restored from a checkpoint or, where there is none, initialized.

        One that goes on from checkpoints of its own comes to the very numbers of a training without interruption.
        """
        sess, live = self._session(master, config, checkpoint_dir)
        if not self._adopted(sess, live, saver, checkpoint_dir):
            live.replace()
            restored = self._restore(
                sess, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs
            )
            if not restored:
                self._initialize(sess, init_op, init_feed_dict, init_fn)
            live.begin()
        done, message = self._local_init(sess)
        if not done:
            raise RuntimeError(
                f"Init operations did not make model ready for local_init.  Init op: {_named(init_op)}, init fn: "
                f"{init_fn}, error: {message}"
            )
        ready, message = self._is_ready(sess)
        if not ready:
            raise RuntimeError(
                f"Init operations did not make model ready.  Init op: {_named(init_op)}, init fn: {init_fn}, "
                f"local_init_op: {self._local_init_op}, error: {message}"
            )
        sess.exact = bool(checkpoint_dir)
        return sess

    def _session(self, master: str, config: Any, folder: str | None = None) -> tuple[Any, LiveState]:
        """Return a new session, and what its cluster holds."""
        self._target = master
        sess = Session(master, graph=self._graph, config=config)
        return sess, LiveState(sess, folder)

    def _adopted(self, sess: Any, live: LiveState, saver: Any, folder: str | None) -> bool:
        """Return whether the cluster holds the state of this training, which is then gone on with."""
        if not saver or not folder or self._ready_for_local_init_op is None:
            return False
        if not (state := management.get_checkpoint_state(folder)) or not state.model_checkpoint_path:
            return False  # whoever takes the checkpoints away wants to begin anew
        if not live.adopt(lambda: _check(self._ready_for_local_init_op, sess, "Model not ready for local init")[0]):
            return False
        logging.info("The tasks of the cluster hold the state of %s: it is gone on with.", folder)
        saver.recover_last_checkpoints(list(state.all_model_checkpoint_paths))
        return True

    def _initialize(self, sess: Any, init_op: Any, feeds: Any, init_fn: Any) -> None:
        if init_op is None and not init_fn and self._local_init_op is None:
            raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
        if init_op is not None:
            sess.run(init_op, feed_dict=feeds)
        if init_fn:
            init_fn(sess)

    def recover_session(
        self,
        master: str,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Message | None = None,
    ) -> tuple[Any, bool]:
        """Return a session, and whether it could be restored and is ready."""
        sess, _ = self._session(master, config)
        restored = self._restore(
            sess, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs
        )
        for done, message in (self._local_init(sess), (restored, "there is no checkpoint"), self._is_ready(sess)):
            if not done:
                logging.info("Restoring model from %s did not make model ready: %s", checkpoint_dir, message)
                return sess, False
        return sess, True

    def _restore(self, sess: Any, saver: Any, folder: Any, path: Any, wait: bool, max_wait: float) -> bool:
        """Return whether a checkpoint was restored into a session."""
        if folder and path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        if not saver or not (folder or path):
            return False
        if path:
            saver.restore(sess, path)
            return True
        state = management.get_checkpoint_state(folder)
        end, pause = time.monotonic() + max_wait, min(self._wait, FIRST_WAIT)
        while not state or not state.model_checkpoint_path:
            left = end - time.monotonic()
            if not wait or left <= 0:
                return False
            logging.info("Waiting for checkpoint to be available.")
            time.sleep(min(pause, left))
            pause = min(self._wait, LONGEST_WAIT, 2 * pause)
            state = management.get_checkpoint_state(folder)
        _restore_newest_whole(sess, saver, state)
        return True

    # --- the others --------------------------------------------------------------------------------------------------

    def wait_for_session(self, master: str, config: Message | None = None, max_wait_secs: float = float("inf")) -> Any:
        """Return a session that is ready because somebody else made it so; DeadlineExceededError after so long."""
        patience = stopping.Stop(seconds=None if max_wait_secs == float("inf") else max_wait_secs)
        pause = min(self._wait, FIRST_WAIT)
        while True:
            sess, waiting = self._ready_session(master, config, patience)
            if sess is not None:
                return sess
            if patience.left <= pause:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {max_wait_secs} secs. {waiting}"
                )
            logging.info("Waiting for model to be ready.  Ready_for_local_init_op:  %s", waiting)
            time.sleep(pause)
            pause = min(self._wait, LONGEST_WAIT, 2 * pause)

    def _ready_session(self, master: str, config: Any, patience: stopping.Stop) -> tuple[Any, str | None]:
        """Return a session, if somebody has made its cluster ready, or what it waits for."""
        try:
            with stopping.heeding(patience):
                sess, live = self._session(master, config)
        except errors.UnavailableError as error:  # a task is not there
            return None, error.message
        waiting: str | None = "the chief restores"
        try:
            done = False
            if live.heed():
                done, waiting = self._local_init(sess)
            if done:
                done, waiting = self._is_ready(sess)
            if done:
                return sess, None
            sess.close()
        except errors.AbortedError as error:  # the chief has just restored
            sess.close()
            waiting = str(error)
        except BaseException:
            sess.close()
            raise
        return None, waiting

    # --- ready -------------------------------------------------------------------------------------------------------

    def _is_ready(self, sess: Any) -> tuple[bool, str | None]:
        return _check(self._ready_op, sess, "Model not ready")

    def _local_init(self, sess: Any) -> tuple[bool, str | None]:
        """Run what initializes what is local, if what it needs is there."""
        if self._local_init_op is None:
            return True, None
        ready, message = _check(self._ready_for_local_init_op, sess, "Model not ready for local init")
        if ready:
            logging.info("Running local_init_op.")
            options = {} if self._local_init_run_options is None else {"options": self._local_init_run_options}
            sess.run(self._local_init_op, feed_dict=self._local_init_feed_dict, **options)
            logging.info("Done running local_init_op.")
        return ready, message


def _restore_newest_whole(sess: Any, saver: Any, state: Any) -> None:
    """Restore the newest checkpoint that can be read: a damaged one is passed over, and said so.

    Where none can be read, the error is that of the newest.
    """
    newest = state.model_checkpoint_path
    earlier = [path for path in state.all_model_checkpoint_paths if path != newest]
    first: Exception | None = None
    for path in [newest, *reversed(earlier)]:
        try:
            saver.restore(sess, path)
        except (errors.DataLossError, errors.NotFoundError, errors.OutOfRangeError, ValueError) as error:
            logging.error("the checkpoint %s cannot be restored: %s", path, error)  # damaged, or not there (ValueError)
            first = first or error
            continue
        kept = list(state.all_model_checkpoint_paths)
        saver.recover_last_checkpoints(kept[: kept.index(path) + 1] if path in kept else kept)
        return
    assert first is not None
    raise first


def _check(ready_op: Any, sess: Any, words: str) -> tuple[bool, str | None]:
    """Return whether an op that names what is missing names nothing; one that has no value is always content."""
    if ready_op is None:
        return True, None
    try:
        missing = sess.run(ready_op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            logging.warning("%s: error [%s]", words, error)
            raise
        return False, str(error)
    if missing is None or np.size(missing) == 0 or np.asarray(missing).dtype == np.int32:  # an old op: no names
        return True, None
    names = ", ".join(name.decode("utf-8", "replace") for name in np.reshape(missing, -1))
    return False, f"Variables not initialized: {names}"


def _named(op: Any) -> Any:
    return getattr(op, "name", None) if op is not None and not isinstance(op, (list, tuple)) else op
