"""Threads that keep queues filled: `tf.train.QueueRunner`, and starting all those of a graph.

A runner has a queue and the operations that put into it; for each of them a thread runs it again and again until the
queue is closed, its input is at its end, or its coordinator stops. The last to end closes the queue, so whoever takes
from it comes to an end too. Knows sessions only by `run` and `make_callable`.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ebbflow import messages
from ebbflow.core import context, errors, forks, stopping
from ebbflow.core.typing import Effect, Message, Nested, SessionLike
from ebbflow.data.queue_blocks import blocks_of, queue_of
from ebbflow.graph import collections
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.proto_functions import register_proto_function
from ebbflow.platform import logging
from ebbflow.state.queues.queue import QueueBase

if TYPE_CHECKING:
    from ebbflow.train.coordinator import Coordinator


class QueueRunner:
    """The operations that fill a queue, to be run in threads."""

    def __init__(
        self,
        queue: QueueBase | None = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Nested = None,
        cancel_op: Nested = None,
        queue_closed_exception_types: tuple[type[BaseException], ...] | None = None,
        queue_runner_def: Message | None = None,
        import_scope: str | None = None,
    ):
        if context.executing_eagerly():
            raise RuntimeError("QueueRunners are not supported when eager execution is enabled. Use tf.data instead.")
        self._lock = forks.lock()
        self._runs_per_session: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._exceptions_raised: list[BaseException] = []
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._read(queue_runner_def, import_scope)
            return
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue, self._enqueue_ops = queue, list(enqueue_ops)
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        types = queue_closed_exception_types
        if types is None:
            types = (errors.OutOfRangeError,)
        elif not isinstance(types, tuple) or not types or not all(_is_error(t) for t in types):
            raise TypeError(f"queue_closed_exception_types, when provided, must be a tuple of tf.error types: {types}")
        self._queue_closed_exception_types = types

    def _read(self, message: Any, scope: str | None) -> None:
        graph = context.default_graph()

        def found(name: str) -> Any:
            return graph.as_graph_element(f"{scope}/{name}" if scope else name)

        handle = found(message.queue_name)
        self._queue = QueueBase([], [], None, handle._outputs[0] if hasattr(handle, "_outputs") else handle)
        self._enqueue_ops = [found(name) for name in message.enqueue_op_name]
        self._close_op, self._cancel_op = found(message.close_op_name), found(message.cancel_op_name)
        codes = message.queue_closed_exception_types
        self._queue_closed_exception_types = tuple(errors.exception_type_from_error_code(code) for code in codes)
        if not self._queue_closed_exception_types:
            self._queue_closed_exception_types = (errors.OutOfRangeError,)

    # --- what it was made of -----------------------------------------------------------------------------------------

    @property
    def queue(self) -> QueueBase:
        """The queue that is filled."""
        return self._queue

    @property
    def enqueue_ops(self) -> list[Any]:
        """The operations that fill it, a thread each."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Effect:
        """What is run when the last thread has come to its end."""
        return self._close_op

    @property
    def cancel_op(self) -> Effect:
        """What is run when the coordinator stops."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[BaseException], ...]:
        """The errors that mean that a thread has come to its end, not that something is wrong."""
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """What threads without a coordinator raised."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        """The name of the queue."""
        return self._queue.name

    # --- threads -----------------------------------------------------------------------------------------------------

    def create_threads(
        self, sess: SessionLike, coord: Coordinator | None = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Return threads that fill the queue in a session; none where they run there already."""
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        stop = stopping.Stop(sess, parent=getattr(sess, "stop", None))
        threads = [
            threading.Thread(
                target=self._run, args=(sess, op, coord, stop), name=f"QueueRunnerThread-{self.name}-{op.name}"
            )
            for op in self._enqueue_ops
        ]
        if coord is not None:
            name = f"QueueRunnerThread-{self.name}-close_on_stop"
            args = (sess, self._cancel_op, coord, stop)
            threads.append(threading.Thread(target=self._close_on_stop, args=args, name=name))
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            thread.daemon = daemon
            if start:
                thread.start()
        return threads

    def _run(self, sess: Any, enqueue_op: Any, coord: Any, stop: stopping.Stop) -> None:
        """Run an operation until its input, or the queue, is at its end; `stop` ends what it waits for."""
        ended = False
        try:
            blocks = blocks_of(sess, enqueue_op)
            put = sess.make_callable(enqueue_op) if blocks is None else blocks.put
            while coord is None or not coord.should_stop():
                try:
                    with stopping.heeding(stop):
                        put()
                except self._queue_closed_exception_types:
                    ended = True
                    self._end(sess)
                    return
        except Exception as error:
            self._say_why(sess, error)
            if coord is not None:
                coord.request_stop(error)
            else:
                logging.error("Exception in QueueRunner: %s", error)
                with self._lock:
                    self._exceptions_raised.append(error)
                ended = True
                self._end(sess)  # or whoever takes from the queue would wait for ever
                raise
        finally:
            if not ended:
                with self._lock:
                    self._runs_per_session[sess] -= 1

    def _say_why(self, sess: Any, error: Exception) -> None:
        """Have whoever finds the queue closed and empty told what ended the thread that filled it."""
        try:
            queue = queue_of(sess, self._queue.queue_ref)
        except Exception as failed:  # the session may be closed by now
            logging.vlog(1, "Ignored exception: %s", failed)
            return
        if queue is not None:
            said = str(getattr(error, "message", error)).partition("\n")[0]
            queue.reason = f"; a thread that filled it ended with {type(error).__name__}: {said}"

    def _end(self, sess: Any) -> None:
        """Note that a thread is at its end; the last one closes the queue."""
        with self._lock:
            self._runs_per_session[sess] -= 1
            last = self._runs_per_session[sess] == 0
        if last:
            try:
                sess.run(self._close_op)
            except Exception as error:  # closed already, by whoever reported the end
                logging.vlog(1, "Ignored exception: %s", error)

    def _close_on_stop(self, sess: Any, cancel_op: Any, coord: Any, stop: stopping.Stop | None = None) -> None:
        """Close the queue when the coordinator stops, and end whatever else the threads wait for."""
        coord.wait_for_stop()
        try:
            sess.run(cancel_op)
        except Exception as error:  # the session may be closed by now
            logging.vlog(1, "Ignored exception: %s", error)
        if stop is not None:
            stop.cancel()

    # --- messages ----------------------------------------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return the runner as a QueueRunnerDef, or None where it is not in the scope that is written."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None

        def shown(name: str) -> str:
            return name if export_scope is None else name.removeprefix(f"{export_scope}/")

        message: Any = messages.message("tensorflow.QueueRunnerDef")()
        message.queue_name = shown(self._queue.queue_ref.name.split(":")[0])
        message.enqueue_op_name.extend(shown(op.name) for op in self._enqueue_ops)
        message.close_op_name, message.cancel_op_name = shown(self._close_op.name), shown(self._cancel_op.name)
        message.queue_closed_exception_types.extend(
            errors.error_code_from_exception_type(kind) for kind in self._queue_closed_exception_types
        )
        return message

    @staticmethod
    def from_proto(queue_runner_def: Message, import_scope: str | None = None) -> QueueRunner:
        """Return the runner that a QueueRunnerDef describes, in the default graph."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


register_proto_function(
    GraphKeys.QUEUE_RUNNERS,
    lambda: messages.message("tensorflow.QueueRunnerDef"),
    QueueRunner.to_proto,
    QueueRunner.from_proto,
)


def _is_error(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, errors.OpError)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Have `start_queue_runners` start a runner of the default graph."""
    collections.add_to_collection(collection, qr)


def start_queue_runners(
    sess: SessionLike | None = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Start the threads of all runners of the session's graph, and return them."""
    if context.executing_eagerly():
        raise RuntimeError("Queues are not compatible with eager execution.")
    if sess is None:
        sess = context.thread.sessions[-1] if context.thread.sessions else None
        if sess is None:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or pass an "
                "explicit session to tf.start_queue_runners(sess=sess)"
            )
    if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
        return []  # they start the threads themselves
    if not hasattr(sess, "make_callable"):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    runners = sess.graph.get_collection(collection)
    if not runners:
        logging.warning("`tf.train.start_queue_runners()` was called when no queue runners were defined.")
    with sess.graph.as_default():
        return [t for runner in runners for t in runner.create_threads(sess, coord=coord, daemon=daemon, start=start)]
