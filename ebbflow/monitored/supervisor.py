"""`tf.train.Supervisor`: the older way to a training session, with threads that save and summarise beside it.

The chief initializes or restores, then threads write summaries and checkpoints every so many seconds and count steps;
other processes wait. `managed_session` does it all and ends it all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, ClassVar

from ebbflow.checkpoint.saver import Saver
from ebbflow.core import context, dtypes
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Assigned, Feeds, Message, Nested, SessionLike, TensorLike
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.graph_def import write_graph
from ebbflow.graph.meta_graph import create_meta_graph_def
from ebbflow.messages import message as message_class
from ebbflow.monitored.scaffold import Scaffold, default_ready_for_local_init_op
from ebbflow.monitored.session_manager import SessionManager
from ebbflow.platform import logging
from ebbflow.state import functions
from ebbflow.summary import ops as summary
from ebbflow.summary.writer import FileWriter
from ebbflow.train.coordinator import Coordinator, LooperThread
from ebbflow.train.step_counter import get_global_step

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph
    from ebbflow.runtime.session import Session
    from ebbflow.state.base import Variable


class Supervisor:
    """Has a session made, checkpointed and summarised, and its threads ended together."""

    USE_DEFAULT: ClassVar[int] = 0
    """Given for an argument: the default is meant, where None means: none."""

    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Nested = USE_DEFAULT,
        ready_for_local_init_op: Nested = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Nested = USE_DEFAULT,
        init_feed_dict: Feeds | None = None,
        local_init_op: Nested = USE_DEFAULT,
        logdir: str | None = None,
        summary_op: Nested = USE_DEFAULT,
        saver: Nested = USE_DEFAULT,
        global_step: Variable | TensorLike = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: Nested = USE_DEFAULT,
        init_fn: Callable[[Any], Any] | None = None,
        local_init_run_options: Message | None = None,
    ):
        if context.executing_eagerly():
            raise RuntimeError("Supervisors are incompatible with eager execution.")
        self._graph = context.default_graph() if graph is None else graph
        self._is_chief, self._logdir = is_chief, logdir
        self._init_feed_dict, self._init_fn = init_feed_dict, init_fn
        self._save_summaries_secs, self._save_model_secs = save_summaries_secs, save_model_secs
        self._recovery_wait_secs, self._stop_grace_secs = recovery_wait_secs, stop_grace_secs
        self._coord = Coordinator()
        self._refuse_unplaced()
        with self._graph.as_default():
            self._make_ops(ready_op, ready_for_local_init_op, init_op, local_init_op, summary_op, saver, global_step)
            self._session_manager = session_manager or SessionManager(
                local_init_op=self._local_init_op,
                ready_op=self._ready_op,
                ready_for_local_init_op=self._ready_for_local_init_op,
                graph=self._graph,
                recovery_wait_secs=recovery_wait_secs,
                local_init_run_options=local_init_run_options,
            )
        self._save_path = os.path.join(logdir, checkpoint_basename) if logdir and is_chief else None
        if summary_writer == Supervisor.USE_DEFAULT and not isinstance(summary_writer, FileWriter):
            summary_writer = FileWriter(logdir) if logdir and is_chief else None
        self._summary_writer = summary_writer if is_chief else None
        self._graph_added_to_summary = False
        self._started_threads: list[Any] = []
        self._graph.finalize()

    def _make_ops(
        self, ready: Any, ready_local: Any, init: Any, local: Any, summaries: Any, saver: Any, step: Any
    ) -> None:
        """Take what is given, else what a collection of the graph has, else make it."""
        self._ready_op = self._first(ready, GraphKeys.READY_OP, functions.report_uninitialized_variables)
        key = GraphKeys.READY_FOR_LOCAL_INIT_OP
        self._ready_for_local_init_op = self._first(ready_local, key, default_ready_for_local_init_op)
        self._init_op = self._first(init, GraphKeys.INIT_OP, functions.global_variables_initializer)
        self._local_init_op = self._first(local, GraphKeys.LOCAL_INIT_OP, _local_init_op)
        if self._local_init_op is None:
            self._ready_for_local_init_op = None
        self._saver = self._first(saver, GraphKeys.SAVERS, lambda: Saver() if functions.global_variables() else None)
        self._summary_op = self._first(summaries, GraphKeys.SUMMARY_OP, summary.merge_all)
        self._global_step = self._default_step() if _is_default(step) else step

    def _default_step(self) -> Any:
        """Return the integer tensor called global_step, or None."""
        try:
            step = self._graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
        if step.dtype.base_dtype in (dtypes.int32, dtypes.int64) or step.dtype.base_dtype is dtypes.resource:
            return get_global_step(self._graph) if step.dtype.base_dtype is dtypes.resource else step
        logging.warning("Found 'global_step' but is not an int type: %s", step.dtype)
        return None

    def _refuse_unplaced(self) -> None:
        """Refuse variables without a device where there are replicas: each would have one of its own."""
        for node in [] if self._is_chief else self._graph.get_operations():
            if node.type in ("Variable", "VariableV2") and not node.device:
                raise ValueError(f"When using replicas, all Variables must have their device set: {node}")

    def _first(self, given: Any, key: str, make: Callable[[], Any]) -> Any:
        if not _is_default(given):
            return given
        items = self._graph.get_collection(key)
        if items:
            return items[0]
        made = make()
        if made is not None:
            self._graph.add_to_collection(key, made)
        return made

    # --- what it was made of -----------------------------------------------------------------------------------------

    @property
    def is_chief(self) -> bool:
        """Whether this process initializes, saves and summarises."""
        return self._is_chief

    @property
    def session_manager(self) -> SessionManager:
        """What makes sessions."""
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        """What ends the threads together."""
        return self._coord

    @property
    def init_op(self) -> Nested:
        """What initializes the variables."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Feeds | None:
        """What is fed to it."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Nested:
        """The names of what is not initialized."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Nested:
        """The names of what must be initialized before local things are."""
        return self._ready_for_local_init_op

    @property
    def summary_writer(self) -> FileWriter | None:
        """What writes events; None where this is not the chief."""
        return self._summary_writer

    @property
    def summary_op(self) -> Tensor:
        """All summaries, merged."""
        return self._summary_op

    @property
    def save_summaries_secs(self) -> float:
        """Seconds between two summaries."""
        return self._save_summaries_secs

    @property
    def global_step(self) -> Assigned:
        """The global step."""
        return self._global_step

    @property
    def saver(self) -> Any:
        """What writes checkpoints."""
        return self._saver

    @property
    def save_model_secs(self) -> float:
        """Seconds between two checkpoints."""
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        """Where checkpoints go."""
        return self._save_path

    # --- sessions ----------------------------------------------------------------------------------------------------

    def prepare_or_wait_for_session(
        self, master: str = "", config: Message | None = None, wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Session:  # fmt: skip
        """Return a session that is ready; the chief's services and the threads of queues run."""
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            sess = self._session_manager.prepare_session(
                master,
                init_op=self._init_op,
                saver=self._saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                logging.info("Starting standard services.")
                self.start_standard_services(sess)
        else:
            sess = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            logging.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    @contextmanager
    def managed_session(
        self, master: str = "", config: Message | None = None, start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Any]:  # fmt: skip
        """Give a session for the block; the end of the input ends it quietly, an error of a thread is raised."""
        try:
            with self._coord.stop_on_exception():
                sess = self.prepare_or_wait_for_session(
                    master=master, config=config, start_standard_services=start_standard_services
                )
                self._graph_scope = sess.graph.as_default()
                with self._graph_scope, sess.as_default():
                    yield sess
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                self._close(locals().get("sess"))

    def _close(self, sess: Any) -> None:
        if sess is not None:
            try:
                sess.close()
            except Exception as error:  # what ended the block says more
                logging.info("The session could not be closed: %s", error)

    def _write_graph(self) -> None:
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            saver_def = self._saver.saver_def if self._saver else None
            definition = self._graph.as_graph_def(add_shapes=True)
            self._summary_writer.add_meta_graph(create_meta_graph_def(graph_def=definition, saver_def=saver_def))
            self._graph_added_to_summary = True

    # --- threads -----------------------------------------------------------------------------------------------------

    def start_standard_services(self, sess: SessionLike) -> list[Any]:
        """Start the threads that summarise, count steps and save; return them."""
        if not self._is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can "
                               "write events.")  # fmt: skip
        if not self._logdir:
            logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return []
        if self._global_step is not None and self._summary_writer:
            log = message_class("tensorflow.SessionLog")(status=1)  # START
            self._summary_writer.add_session_log(log, int(sess.run(self._global_step)))
        threads: list[Any] = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self._saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        self._started_threads.extend(threads)
        return threads

    def start_queue_runners(self, sess: SessionLike, queue_runners: Sequence[Any] | None = None) -> list[Any]:
        """Start the threads of queue runners, the graph's unless given; return them."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        threads = []
        for runner in queue_runners:
            threads.extend(runner.create_threads(sess, coord=self._coord, daemon=True, start=True))
        self._started_threads.extend(threads)
        return threads

    def loop(self, timer_interval_secs: float | None, target: Any, args: Any = None, kwargs: Any = None) -> Thread:
        """Start a thread that calls `target` every so many seconds until all stop; return it."""
        looper = LooperThread(self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def stop(
        self, threads: Sequence[Any] | None = None, close_summary_writer: bool = True, ignore_live_threads: bool = False
    ) -> None:
        """Ask all threads to stop, wait for them, close the writer; raises what one of them reported."""
        self._coord.request_stop()
        try:
            self._coord.join(threads, self._stop_grace_secs, ignore_live_threads)
        finally:
            if close_summary_writer and self._summary_writer:
                self._summary_writer.add_session_log(message_class("tensorflow.SessionLog")(status=2))  # STOP
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex: BaseException | tuple[Any, ...] | None = None) -> None:
        """Ask all threads to stop."""
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """Return whether threads were asked to stop."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> AbstractContextManager[None]:
        """Ask all to stop with whatever the block raises."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Wait until threads are asked to stop."""
        self._coord.wait_for_stop()

    def summary_computed(
        self, sess: SessionLike, summary: Message | bytes, global_step: Variable | TensorLike | None = None
    ) -> None:
        """Write a summary that was computed elsewhere."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = int(sess.run(self._global_step))
        self._summary_writer.add_summary(summary, global_step)

    # the names of the first releases
    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _is_default(value: Any) -> bool:
    return value.__class__ is int and value == Supervisor.USE_DEFAULT


def _local_init_op() -> Any:
    """Return the operation that initializes local variables and tables, or None where there are none."""
    graph = context.default_graph()
    has_any = graph.get_collection(GraphKeys.LOCAL_VARIABLES) or graph.get_collection(GraphKeys.TABLE_INITIALIZERS)
    return Scaffold.default_local_init_op() if has_any else None


class SVSummaryThread(LooperThread):
    """Writes summaries at intervals."""

    def __init__(self, sv: Supervisor, sess: Any):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        """Compute and write them."""
        step = self._sv.global_step
        if step is not None:
            value, number = self._sess.run([self._sv.summary_op, step])
        else:
            value, number = self._sess.run(self._sv.summary_op), None
        if self._sv.summary_writer:
            self._sv.summary_writer.add_summary(value, number)


class SVStepCounterThread(LooperThread):
    """Counts steps per second."""

    def __init__(self, sv: Supervisor, sess: Any, step_counter: Any = None):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess
        self._step = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step.op.name}/sec"

    def start_loop(self) -> None:
        """Note where counting starts."""
        self._last_time = time.time()
        self._last_step = int(self._sess.run(self._step))

    def run_loop(self) -> None:
        """Write how many steps a second there were."""
        step, now = int(self._sess.run(self._step)), time.time()
        seconds = now - self._last_time
        rate = (step - self._last_step) / seconds if seconds else float("inf")
        self._last_step, self._last_time = step, now
        record = message_class("tensorflow.Summary")()
        record.value.add(tag=self._summary_tag, simple_value=rate)
        if self._sv.summary_writer:
            self._sv.summary_writer.add_summary(record, step)
        logging.log_first_n(logging.INFO, f"{self._summary_tag}: {rate:g}", 10)


class SVTimerCheckpointThread(LooperThread):
    """Writes checkpoints at intervals."""

    def __init__(self, sv: Supervisor, sess: Any):
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        """Write one."""
        logging.info("Saving checkpoint to path %s", self._sv.save_path)
        with self._sess.graph.as_default():  # a thread starts with none
            self._sv.saver.save(self._sess, self._sv.save_path, global_step=self._sv.global_step)
        if self._sv.summary_writer and self._sv.global_step is not None:
            log = message_class("tensorflow.SessionLog")(status=3, checkpoint_path=self._sv.save_path)  # CHECKPOINT
            self._sv.summary_writer.add_session_log(log, int(self._sess.run(self._sv.global_step)))
