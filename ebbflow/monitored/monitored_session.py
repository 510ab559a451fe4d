"""`tf.train.MonitoredTrainingSession` and its kin: sessions with hooks, threads that stop together, and recovery.

A monitored session is layers around a plain one: hooks fetch along with each run; a coordinator joins the threads of
queues; a recoverable one makes a new session where the old one was lost (AbortedError, UnavailableError), from the last
checkpoint. A run without hooks costs one call more than a plain one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import context, errors
from ebbflow.core.typing import Message
from ebbflow.messages import message as message_class
from ebbflow.monitored.hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from ebbflow.monitored.scaffold import USE_DEFAULT, Scaffold
from ebbflow.monitored.session_manager import SessionManager
from ebbflow.monitored.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from ebbflow.monitored.worker_context import get_current_worker_context
from ebbflow.platform import logging
from ebbflow.train import queue_runner
from ebbflow.train.coordinator import Coordinator

if TYPE_CHECKING:
    from ebbflow.runtime.session import Session


PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)
"""What means that a session was lost, through no fault of the program."""


# --- who makes sessions -----------------------------------------------------------------------------------------------


class SessionCreator:
    """Makes sessions: the base of those below."""

    def create_session(self) -> Session:
        """Return a session that is ready."""
        raise NotImplementedError("a session creator of one's own defines create_session")


class ChiefSessionCreator(SessionCreator):
    """Makes the session of the one that initializes or restores."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Message | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ):
        self._checkpoint_dir, self._checkpoint_filename_with_path = checkpoint_dir, checkpoint_filename_with_path
        self._scaffold = scaffold or Scaffold()
        self._session_manager: SessionManager | None = None
        self._master, self._config = master, config

    def _get_session_manager(self) -> SessionManager:
        if self._session_manager is None:
            self._session_manager = _manager_of(self._scaffold)
        return self._session_manager

    def create_session(self) -> Session:
        """Return a session that is restored, or else initialized."""
        self._scaffold.finalize()
        return self._get_session_manager().prepare_session(
            self._master,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


class WorkerSessionCreator(SessionCreator):
    """Makes the session of one that waits for the chief."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Message | None = None,
        max_wait_secs: float = 30 * 60,
    ):
        self._scaffold = scaffold or Scaffold()
        self._session_manager: SessionManager | None = None
        self._master, self._config, self._max_wait_secs = master, config, max_wait_secs

    def create_session(self) -> Session:
        """Return a session that the chief has made ready."""
        self._scaffold.finalize()
        if self._session_manager is None:
            self._session_manager = _manager_of(self._scaffold)
        return self._session_manager.wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )


def _manager_of(scaffold: Scaffold) -> SessionManager:
    return SessionManager(
        local_init_op=scaffold.local_init_op,
        local_init_feed_dict=scaffold.local_init_feed_dict,
        ready_op=scaffold.ready_op,
        ready_for_local_init_op=scaffold.ready_for_local_init_op,
        graph=context.default_graph(),
    )


# --- layers around a session ------------------------------------------------------------------------------------------


class WrappedSession:
    """A layer around a session: everything goes through."""

    def __init__(self, sess: Any):
        self._sess = sess
        self._wrapped_is_stoppable = isinstance(sess, WrappedSession)

    @property
    def graph(self) -> Any:
        """The session's graph."""
        return self._sess.graph

    @property
    def sess_str(self) -> Any:
        """Where the session runs."""
        return self._sess.sess_str

    def should_stop(self) -> bool:
        """Return whether it is over: here, or further inside."""
        if self._check_stop():
            return True
        if self._sess is not None:
            return self._wrapped_is_stoppable and self._sess.should_stop()
        return True

    def _check_stop(self) -> bool:
        return False

    def close(self) -> None:
        """Close what is inside."""
        if self._sess is not None:
            try:
                self._sess.close()
            except PREEMPTION_ERRORS as error:
                logging.error("An error occurred when attempting to close the session: %s", error)
            finally:
                self._sess = None

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run."""
        return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn: Callable[..., Any], raw_session: Any, run_with_hooks: Any) -> Any:
        """Call a function that runs what it likes, with hooks or without."""
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class StepContext:
    """What the function of `run_step_fn` is given."""

    def __init__(self, session: Any, run_with_hooks_fn: Callable[..., Any]):
        self._session, self._run_with_hooks_fn = session, run_with_hooks_fn

    @property
    def session(self) -> Any:
        """The plain session: runs without hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Run as `MonitoredSession.run` does."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """End the training loop."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class RecoverableSession(WrappedSession):
    """Makes a new session where the old one was lost."""

    def __init__(self, sess_creator: Any):
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._sess_creator.create_session()
            except PREEMPTION_ERRORS as error:
                logging.info("An error was raised while a session was being created. A new session will be created. "
                             "Error: %s", error)  # fmt: skip

    def _check_stop(self) -> bool:
        try:
            return True if self._sess is None else self._sess._check_stop()
        except PREEMPTION_ERRORS as error:
            self._lost(error)
            self._sess = self._create_session()
            return False
        except Exception:
            return True  # whatever it is, `run` will raise it

    def _lost(self, error: BaseException) -> None:
        logging.info("The session was lost; a new one continues from the last checkpoint: %s", error)
        self.close()
        self._sess = None

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run; again, in a new session, where this one was lost."""
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)
            except PREEMPTION_ERRORS as error:
                self._lost(error)

    def run_step_fn(self, step_fn: Callable[..., Any], raw_session: Any, run_with_hooks: Any) -> Any:
        """Call a function; again where the session was lost meanwhile."""
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                return self._sess.run_step_fn(step_fn, raw_session, run_with_hooks or self._sess.run)
            except PREEMPTION_ERRORS as error:
                self._lost(error)


class CoordinatedSession(WrappedSession):
    """Stops the threads of queues with the session; their errors come out of `run`."""

    def __init__(self, sess: Any, coord: Coordinator, stop_grace_period_secs: float = 120):
        super().__init__(sess)
        self._coord, self._stop_grace_period_secs = coord, stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        """Stop the threads, wait for them, close the session."""
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            try:
                super().close()
            except Exception:  # an error of a thread, if there is one, says more
                logging.error("An error occurred while a session was being closed", exc_info=True)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run; where a thread has failed, its error is the one to raise."""
        try:
            return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)
        except PREEMPTION_ERRORS:
            raise
        except Exception:
            self._coord.raise_requested_exception()
            raise


class HookedSession(WrappedSession):
    """Calls hooks around each run."""

    def __init__(self, sess: Any, hooks: Sequence[SessionRunHook]):
        super().__init__(sess)
        self._hooks = list(hooks)
        self._should_stop = False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run what is asked for, and what hooks ask for, in one go."""
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        if not self._hooks:
            return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)
        run_context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        asked = [(hook, hook.before_run(run_context)) for hook in self._hooks]
        feeds, options = _joined(asked, feed_dict, options)
        if run_metadata is None and options is not None and options.trace_level:
            run_metadata = message_class("tensorflow.RunMetadata")()
        extra = [args.fetches for _, args in asked if args is not None and args.fetches is not None]
        results = self._sess.run([fetches, *extra], feed_dict=feeds, options=options, run_metadata=run_metadata)
        told = (
            options or message_class("tensorflow.RunOptions")(),
            run_metadata or message_class("tensorflow.RunMetadata")(),
        )
        given = iter(results[1:])
        for hook, args in asked:
            value = next(given) if args is not None and args.fetches is not None else None
            hook.after_run(run_context, SessionRunValues(value, *told))
        self._should_stop = self._should_stop or run_context.stop_requested
        return results[0]


def _joined(asked: list[tuple[Any, Any]], feed_dict: Any, options: Any) -> tuple[Any, Any]:
    """Return the feeds and options of a caller and of its hooks as one."""
    feeds = feed_dict
    for hook, args in asked:
        if args is None:
            continue
        if args.feed_dict:
            feeds = dict(feeds or {}) if feeds is feed_dict else feeds
            for key, value in args.feed_dict.items():
                _refuse_twice(key, feed_dict, asked, hook)
                feeds[key] = value
        if args.options is not None:
            options = _merged(options, args.options)
    return feeds, options


def _refuse_twice(key: Any, feed_dict: Any, asked: list[tuple[Any, Any]], hook: Any) -> None:
    """Refuse a tensor that is fed by the caller, or by an earlier hook, too."""
    ours = {id(k) for k in feed_dict or ()}
    if id(key) in ours or key in (feed_dict or {}):
        raise RuntimeError(f"Same tensor is fed by a SessionRunHook and user. Conflict(SessionRunHook: {hook}, {key}).")
    for other, args in asked:
        if other is hook:
            return
        if args is not None and args.feed_dict and key in args.feed_dict:
            raise RuntimeError(f"Same tensor is fed by two hooks: {other} and {hook}, {key}.")


def _merged(first: Any, second: Any) -> Any:
    """Return options that ask for all that either asks for."""
    merged = message_class("tensorflow.RunOptions")()
    if first is not None:
        merged.CopyFrom(first)
    merged.trace_level = max(merged.trace_level, second.trace_level)
    merged.timeout_in_ms = max(merged.timeout_in_ms, second.timeout_in_ms)
    merged.inter_op_thread_pool = max(merged.inter_op_thread_pool, second.inter_op_thread_pool)
    merged.output_partition_graphs = merged.output_partition_graphs or second.output_partition_graphs
    merged.debug_options.debug_tensor_watch_opts.extend(second.debug_options.debug_tensor_watch_opts)
    return merged


# --- the sessions -----------------------------------------------------------------------------------------------------


class _CoordinatedSessionCreator(SessionCreator):
    """Makes a session with its coordinator, threads and hooks."""

    def __init__(self, session_creator: Any, hooks: Sequence[SessionRunHook], stop_grace_period_secs: float):
        self._session_creator, self._hooks = session_creator, hooks
        self.coord: Coordinator | None = None
        self.tf_sess: Any = None
        self._stop_grace_period_secs = stop_grace_period_secs

    def create_session(self) -> Any:
        """Return a hooked session whose threads run."""
        self.tf_sess = self._session_creator.create_session()
        self.coord = Coordinator(clean_stop_exception_types=())
        if context.default_graph().get_collection("queue_runners"):
            queue_runner.start_queue_runners(sess=self.tf_sess, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        return CoordinatedSession(HookedSession(self.tf_sess, self._hooks), self.coord, self._stop_grace_period_secs)


class BaseMonitoredSession:
    """What the two public kinds share."""

    def __init__(
        self,
        session_creator: Any,
        hooks: Sequence[SessionRunHook] | None,
        should_recover: bool,
        stop_grace_period_secs: float = 120,
    ):
        self._graph_was_finalized = context.default_graph().finalized
        self._hooks = list(hooks or ())
        for hook in self._hooks:
            hook.begin()
        self._coordinated_creator = _CoordinatedSessionCreator(
            session_creator or ChiefSessionCreator(), self._hooks, stop_grace_period_secs
        )
        self._sess: Any = (
            RecoverableSession(self._coordinated_creator)
            if should_recover
            else self._coordinated_creator.create_session()
        )

    @property
    def graph(self) -> Any:
        """The session's graph; None after the end."""
        return None if self._tf_sess() is None else self._coordinated_creator.tf_sess.graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run `fetches`, with hooks, and return the values."""
        return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Call `step_fn(step_context)`, which may run with hooks and without; return what it returns."""
        arguments = list(inspect.signature(step_fn).parameters)
        if len(arguments) != 1 or arguments[0] != "step_context":
            raise ValueError(
                f"`step_fn` may either have one `step_context` argument, or be a method with that one, got {arguments}"
            )
        return self._sess.run_step_fn(step_fn, self._tf_sess(), run_with_hooks=None)

    def should_stop(self) -> bool:
        """Return whether a hook, a thread or the end of the input asked for the end."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """End the session: hooks are told, threads joined."""
        self._close_internal()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, exception_type: Any, exception_value: Any, traceback: Any) -> bool:
        if exception_type in (errors.OutOfRangeError, StopIteration):
            exception_type = None
        self._close_internal(exception_type)
        return exception_type is None

    def _is_closed(self) -> bool:
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self) -> Any:
        return self._coordinated_creator.tf_sess

    def _close_internal(self, exception_type: Any = None) -> None:
        try:
            if exception_type is None:
                for hook in self._hooks:
                    hook.end(self._tf_sess())
        finally:
            try:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                self._sess.close()
            finally:
                self._sess = None
                self._coordinated_creator.tf_sess = None
                self._coordinated_creator.coord = None
                if not self._graph_was_finalized:
                    context.default_graph()._unsafe_unfinalize()


class MonitoredSession(BaseMonitoredSession):
    """A session with hooks, which is made anew where it was lost."""

    StepContext = StepContext

    def __init__(
        self, session_creator: SessionCreator | None = None, hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ):  # fmt: skip
        super().__init__(session_creator, hooks, should_recover=True, stop_grace_period_secs=stop_grace_period_secs)


class SingularMonitoredSession(BaseMonitoredSession):
    """A session with hooks in one process: the plain session can be had, and nothing is recovered."""

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Message | None = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ):
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, should_recover=False, stop_grace_period_secs=stop_grace_period_secs)

    def raw_session(self) -> Session:
        """Return the plain session."""
        return self._tf_sess()


def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: object = USE_DEFAULT,
    save_summaries_steps: object = USE_DEFAULT,
    save_summaries_secs: object = USE_DEFAULT,
    config: Message | None = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: object = USE_DEFAULT,
    summary_dir: str | None = None,
    save_graph_def: bool = True,
) -> MonitoredSession:
    """Return a session for training: the chief's restores, saves and summarises, a worker's waits for the chief."""
    summaries = _defaulted(save_summaries_steps, save_summaries_secs, (100, None))
    saves = _defaulted(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
    scaffold = scaffold or Scaffold()
    part = get_current_worker_context()
    creator: SessionCreator
    summarises = keeps = is_chief
    if part is not None:
        creator = part.session_creator(scaffold, config, checkpoint_dir, max_wait_secs=max_wait_secs)
        own = part.own_directory(checkpoint_dir)
        is_chief, checkpoint_dir, summary_dir = part.is_chief, own or checkpoint_dir, own or summary_dir
        summarises, keeps = bool(own) or part.should_save_summary, bool(own) or part.should_checkpoint
    elif is_chief:
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    else:
        creator = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
    all_hooks: list[Any] = list(chief_only_hooks or ()) if is_chief else []
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir and summarises:
        all_hooks += _summary_hooks(summary_dir, log_step_count_steps, summaries, scaffold)
    if checkpoint_dir and keeps and _wanted(saves):
        all_hooks.append(
            CheckpointSaverHook(checkpoint_dir, save_steps=saves[0], save_secs=saves[1], scaffold=scaffold,
                                save_graph_def=save_graph_def)
        )  # fmt: skip
    all_hooks.extend(hooks or ())
    return MonitoredSession(creator, all_hooks, stop_grace_period_secs)


def _summary_hooks(directory: str, log_steps: int, often: tuple[Any, Any], scaffold: Scaffold) -> list[SessionRunHook]:
    """Return what writes steps per second, and the summaries of the graph."""
    made: list[SessionRunHook] = []
    if log_steps and log_steps > 0:
        made.append(StepCounterHook(output_dir=directory, every_n_steps=log_steps))
    if _wanted(often):
        made.append(SummarySaverHook(save_steps=often[0], save_secs=often[1], scaffold=scaffold, output_dir=directory))
    return made


def _defaulted(steps: Any, secs: Any, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return how often something is done, by steps and by seconds: by default where neither is said."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default
    return (None if steps is USE_DEFAULT else steps), (None if secs is USE_DEFAULT else secs)


def _wanted(often: tuple[Any, Any]) -> bool:
    return bool((often[0] and often[0] > 0) or (often[1] and often[1] > 0))
