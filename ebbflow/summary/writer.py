"""`tf.summary.FileWriter`: puts summaries, graphs, run metadata and session logs into an event file for TensorBoard.

Wraps what it is given in `Event` messages with time and step; `io.events` writes them in the background. Messages of
another protobuf pool (an installed TensorFlow's, TensorBoard's) are taken by their bytes.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

from ebbflow import messages
from ebbflow.core import context
from ebbflow.core.typing import Message, SessionLike
from ebbflow.graph.graph import get_default_graph
from ebbflow.graph.meta_graph import create_meta_graph_def
from ebbflow.io.events import EventFileWriter, read_events
from ebbflow.platform import logging


class EventAdder:
    """Turns what a program reports into events, and hands them to an event writer."""

    def __init__(self, event_writer: Any, graph: Any = None, graph_def: Any = None):
        self.event_writer = event_writer
        self._run_tags: set[str] = set()
        self._described_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            if hasattr(graph, "as_graph_def"):
                self.add_meta_graph(create_meta_graph_def(graph=graph))
            else:
                self.add_meta_graph(create_meta_graph_def(graph_def=graph if graph_def is None else graph_def))

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Add a `Summary` message, or its bytes as a summary op gives them."""
        event = messages.Event()
        event.summary.ParseFromString(_bytes(summary))
        for value in event.summary.value:
            if not value.HasField("metadata"):
                continue
            if value.tag in self._described_tags:
                value.ClearField("metadata")  # a reader needs it only once
            self._described_tags.add(value.tag)
        self._add(event, global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Add a `SessionLog` message."""
        event = messages.Event()
        event.session_log.SetInParent()
        event.session_log.ParseFromString(_bytes(session_log))
        self._add(event, global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Add a graph, which TensorBoard draws (or, as it was in early days, its GraphDef)."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        if hasattr(given, "as_graph_def"):
            given = given.as_graph_def(add_shapes=True)
        elif _is_message(given, "GraphDef"):
            logging.warning(
                "Passing a `GraphDef` to the SummaryWriter is deprecated. "
                "Pass a `Graph` object instead, such as `sess.graph`."
            )
        else:
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._add(messages.Event(graph_def=_bytes(given)), global_step)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Add a `MetaGraphDef` message."""
        if not _is_message(meta_graph_def, "MetaGraphDef"):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(messages.Event(meta_graph_def=_bytes(meta_graph_def)), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Add the `RunMetadata` of one run under a name, which may be used once."""
        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        event = messages.Event()
        event.tagged_run_metadata.tag = tag
        event.tagged_run_metadata.run_metadata = _bytes(run_metadata)
        self._add(event, global_step)

    def _add(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)


class FileWriter(EventAdder):
    """Writes an event file in `logdir`; many threads may add to it.

    >>> import os, tempfile
    >>> import ebbflow as tf
    >>> with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default() as graph:
    ...     FileWriter(folder, graph).close()
    ...     len(os.listdir(folder))
    1
    """

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: SessionLike | None = None,
    ):
        if context.executing_eagerly():
            raise RuntimeError(
                "tf.summary.FileWriter is not compatible with eager execution. Use `tf.summary.create_file_writer`, "
                "or a `with tf.Graph().as_default():` context"
            )
        self._closed = False
        super().__init__(EventFileWriter(logdir, max_queue, flush_secs, filename_suffix), graph, graph_def)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def get_logdir(self) -> str:
        """Return the folder of the event file."""
        return self.event_writer.get_logdir()

    def _warn_if_closed(self) -> None:
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is "
                "explicitly reopened.",
                stacklevel=3,
            )

    def _add(self, event: Any, step: Any) -> None:
        self._warn_if_closed()
        super()._add(event, step)

    def add_event(self, event: Message) -> None:
        """Add an `Event` message as it is."""
        self._warn_if_closed()
        self.event_writer.add_event(event)

    def flush(self) -> None:
        """Return when all that was added is on the disk."""
        self._warn_if_closed()
        self.event_writer.flush()

    def close(self) -> None:
        """Write what is left and close the file; what is added afterwards is dropped."""
        self.event_writer.close()
        self._closed = True

    def reopen(self) -> None:
        """Go on in a new file of the same folder, where this was closed."""
        self.event_writer.reopen()
        self._closed = False


class FileWriterCache:
    """One FileWriter a folder, for parts of a program that write to the same."""

    _cache: dict[str, FileWriter] = {}  # noqa: RUF012  (shared by intent)
    _lock = threading.RLock()

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """Return the writer of a folder, made with the default graph on first use."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                FileWriterCache._cache[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._cache[logdir]

    @staticmethod
    def clear() -> None:
        """Close all writers and forget them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache.clear()


def summary_iterator(path: Any) -> Iterator[Any]:
    """Return the `Event` messages of a file, in order."""
    return read_events(path)


def _bytes(message: Any) -> bytes:
    return message if isinstance(message, bytes) else message.SerializeToString(deterministic=True)


def _is_message(value: Any, name: str) -> bool:
    """Return whether a value is a message of this name, of whichever pool."""
    descriptor = getattr(value, "DESCRIPTOR", None)
    return descriptor is not None and descriptor.name == name
