"""The writer below TensorFlow's event files: `pywrap_tensorflow.EventsWriter`, of a file whose name begins as told.

No thread and no queue, as in `events`: what is written is in the file after `Flush` or `Close`.
"""

from __future__ import annotations

import os
import socket
import time

from ebbflow import messages
from ebbflow.core.typing import Message
from ebbflow.io.events import FILE_VERSION, WRITER
from ebbflow.io.records import TFRecordWriter


class EventsWriter:
    """Writes events to `PREFIX.out.tfevents.SECONDS.HOST`, which is made when it is first named or written to."""

    def __init__(self, file_prefix: str | bytes) -> None:
        self._prefix, self._suffix = os.fsdecode(file_prefix), ""
        self._path = ""
        self._file: TFRecordWriter | None = None

    def InitWithSuffix(self, suffix: str | bytes) -> None:
        """Begin a file whose name ends as told."""
        self.Close()
        self._path, self._suffix = "", os.fsdecode(suffix)
        self._open()

    def FileName(self) -> bytes:
        """Return the name of the file."""
        self._open()
        return os.fsencode(self._path)

    def WriteEvent(self, event: Message) -> None:
        """Add an `Event` to the file."""
        if not isinstance(event, messages.Event):
            raise TypeError(f"Expected an event_pb2.Event proto,  but got {type(event)}")
        self._WriteSerializedEvent(event.SerializeToString(deterministic=True))

    def _WriteSerializedEvent(self, event_str: bytes) -> None:
        self._open()
        if self._file is not None:
            self._file.write(event_str)

    def Flush(self) -> None:
        """Have what was written in the file."""
        if self._file is not None:
            self._file.flush()

    def Close(self) -> None:
        """Close the file; what is written after that is lost."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> None:
        if self._path:
            return
        seconds = int(time.time())
        self._path = f"{self._prefix}.out.tfevents.{seconds:010d}.{socket.gethostname()}{self._suffix}"
        self._file = TFRecordWriter(self._path)
        version = messages.Event(wall_time=seconds, file_version=FILE_VERSION)
        version.source_metadata.writer = WRITER
        self._file.write(messages.serialize(version))
