"""Event files, which TensorBoard shows: TFRecords of `Event` messages, written in the background.

Knows events, not what is summarised in them. `add_event` only puts the event in a queue; one thread per open writer
does the writing. It ends when the writer is closed, forgotten or the program ends, and then all that was added is in
the file.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ebbflow import messages
from ebbflow.core import errors, forks
from ebbflow.io.records import RecordReader, TFRecordWriter, open_file
from ebbflow.platform import files

if TYPE_CHECKING:
    from google.protobuf.message import Message

FILE_VERSION = "brain.Event:2"  # what readers expect in the first record
WRITER = "ebbflow.io.events"


class EventFileWriter:
    """Writes events to a new file `events.out.tfevents.SECONDS.HOST` in `logdir`.

    At most `max_queue` events wait to be written, then `add_event` waits too (0: no limit). What was written reaches
    the disk every `flush_secs` seconds, and on `flush` and `close`. Many threads may add events.
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = None,
    ) -> None:
        self._logdir = os.fspath(logdir)
        self._settings = (max_queue, flush_secs, filename_suffix or "")
        self._lock = forks.lock()  # of opening and closing
        self._closed = True
        _make_folder(self._logdir)
        self._open()

    def get_logdir(self) -> str:
        """The folder the file is in."""
        return self._logdir

    @property
    def path(self) -> str | None:
        """The file being written; None before the first event is."""
        return self._log.path

    @property
    def closed(self) -> bool:
        """Whether `close` was called and `reopen` was not, since."""
        return self._closed

    def add_event(self, event: Message) -> None:
        """Add an `Event` to the file; on a closed writer do nothing."""
        if not hasattr(event, "SerializeToString"):
            raise TypeError(f"Expected an Event message, but got {type(event)}")
        data = event.SerializeToString(deterministic=True)  # now: the caller may go on changing it
        if not self._closed:
            self._log.put(data)

    def flush(self) -> None:
        """Return when all events added so far are on the disk."""
        if not self._closed:
            self._log.flush()

    def close(self) -> None:
        """Write what is left and close the file; a second time does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._finalizer.detach()
        self._log.stop()
        self._log.check()

    def reopen(self) -> None:
        """After `close`: go on, in a new file of the same folder. Otherwise do nothing."""
        with self._lock:
            if self._closed:
                self._open()

    def __enter__(self) -> EventFileWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def _open(self) -> None:
        self._log = _Log(self._logdir, *self._settings)
        # The thread knows the log, not the writer: a forgotten writer is collected, and this ends its thread. The same
        # happens when the program ends.
        self._finalizer = weakref.finalize(self, self._log.abandon)
        self._closed = False


class _Log:
    """One event file: a queue, and the thread that empties it into the file."""

    def __init__(self, folder: str, max_queue: int, flush_secs: float, suffix: str) -> None:
        self.folder = folder
        self.limit = max_queue
        self.flush_secs = flush_secs
        self.suffix = suffix
        self.path: str | None = None
        self.file: TFRecordWriter | None = None
        self.changed = threading.Condition()  # guards everything below
        self.pending: deque[bytes] = deque()
        self.thread: threading.Thread | None = None
        self.flushes_asked = self.flushes_done = 0
        self.stopping = False
        self.failure: Exception | None = None
        self.next_flush = 0.0  # so that the first event is on the disk at once
        self.unflushed = False

    def put(self, data: bytes) -> None:
        with self.changed:
            while self.limit > 0 and len(self.pending) >= self.limit and self.failure is None and not self.stopping:
                self.changed.wait()
            self.check()
            if self.stopping:  # closed by another thread meanwhile
                return
            self.pending.append(data)
            self._start()
            self.changed.notify_all()

    def flush(self) -> None:
        with self.changed:
            self.check()
            self._start()
            self.flushes_asked += 1
            mine = self.flushes_asked
            self.changed.notify_all()
            while self.flushes_done < mine:
                self.changed.wait()
            self.check()

    def stop(self) -> None:
        """Let the thread write the rest and end; the file exists afterwards, even without events."""
        with self.changed:
            self._start()
        self.abandon()

    def abandon(self) -> None:
        with self.changed:
            self.stopping = True
            self.changed.notify_all()
        if self.thread is not None and self.thread is not threading.current_thread():
            self.thread.join()

    def check(self) -> None:
        """Raise what went wrong in the thread."""
        if self.failure is not None:
            raise self.failure

    def _start(self) -> None:
        if self.thread is None or not (self.stopping or self.thread.is_alive()):  # dead: this is a forked process
            self.thread = threading.Thread(target=self._run, name="EventLoggerThread", daemon=True)
            self.thread.start()

    def _run(self) -> None:
        ending = False
        while not ending:
            with self.changed:
                self.changed.wait_for(self._has_work, self._patience())
                batch = list(self.pending)
                self.pending.clear()
                asked, ending = self.flushes_asked, self.stopping
                self.changed.notify_all()  # there is room in the queue
            try:
                if self.failure is None:
                    self._write(batch, flush_now=ending or asked > self.flushes_done, close=ending)
            except Exception as e:  # told to whoever adds, flushes or closes next
                self.failure = e
            with self.changed:
                self.flushes_done = asked
                self.changed.notify_all()

    def _has_work(self) -> bool:
        return bool(self.pending) or self.flushes_asked > self.flushes_done or self.stopping

    def _patience(self) -> float | None:
        """How long to wait for work before what is written must be flushed."""
        return max(0.0, self.next_flush - time.monotonic()) if self.unflushed else None

    def _write(self, batch: list[bytes], flush_now: bool, close: bool) -> None:
        if self.file is None:
            self.file = self._create()
        for data in batch:
            self.file.write(data)
            self.unflushed = True
        if flush_now or (self.unflushed and time.monotonic() >= self.next_flush):
            self.file.flush()
            self.unflushed = False
            self.next_flush = time.monotonic() + self.flush_secs
        if close:
            self.file.close()

    def _create(self) -> TFRecordWriter:
        seconds = int(time.time())
        host = socket.gethostname()
        while True:
            path = os.path.join(self.folder, f"events.out.tfevents.{seconds:010d}.{host}{self.suffix}")
            if _claim(path):
                break
            seconds += 1  # a writer of the same second has that name already
        file = TFRecordWriter(path)
        version = messages.Event(wall_time=seconds, file_version=FILE_VERSION)
        version.source_metadata.writer = WRITER
        file.write(messages.serialize(version))
        self.path = path
        return file


def _claim(path: str) -> bool:
    """Create an empty file of that name; False if there is one."""
    try:
        open_file(path, "xb").close()
    except errors.AlreadyExistsError:
        return False
    return True


def _make_folder(path: str) -> None:
    if files.exists(path) and not files.isdir(path):
        raise errors.FailedPreconditionError(None, None, f"{path} is not a directory")
    files.makedirs(path)


def read_events(path: str | os.PathLike[str]) -> Iterator[Message]:
    """The `Event` messages of a file, in order (`tf.train.summary_iterator`)."""
    return _events(RecordReader(path))


def _events(records: RecordReader) -> Iterator[Message]:
    with records:
        while (record := records.read()) is not None:
            yield messages.parse(messages.Event, record, records.path)
