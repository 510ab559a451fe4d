"""A file that is written from a thread of its own, so that checksums, copies and the disk are busy at the same time.

Pieces are written in the order they are given; few wait at a time. Where the file is to be on the disk in the end, the
system is told to begin while more is being written. The first error is raised to whoever gives more, or finishes.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from typing import Any

WAITING = 8
"""Pieces that may wait to be written."""
FLUSHED = 1 << 26
"""Bytes after which the system is asked to bring them to the disk."""


class WriteBehind:
    """Writes pieces of bytes to an open file, until `end`."""

    def __init__(self, file: Any, to_disk: bool):
        self._file = file
        self._pieces: queue.Queue[Any] = queue.Queue(WAITING)
        self._flushes: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._failure: BaseException | None = None
        self._threads = [threading.Thread(target=self._write_all, daemon=True, name="ebbflow-write")]
        if to_disk:
            self._threads.append(threading.Thread(target=self._flush_all, daemon=True, name="ebbflow-flush"))
        self._to_disk = to_disk
        for thread in self._threads:
            thread.start()

    def write(self, piece: Any) -> None:
        """Have a piece written soon; it must not change until `end`."""
        if self._failure is not None:
            raise self._failure
        self._pieces.put(piece)

    def end(self) -> None:
        """Wait until all is written."""
        self.stop()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Write what waits, and end the threads; errors are left alone."""
        self._pieces.put(None)
        for thread in self._threads:
            thread.join()
        self._threads = []

    def _write_all(self) -> None:
        since = 0
        while (piece := self._pieces.get()) is not None:
            if self._failure is not None:
                continue
            try:
                self._file.write(piece)
            except BaseException as error:
                self._failure = error
            since += len(piece)
            if self._to_disk and since >= FLUSHED:
                self._flushes.put(True)
                since = 0
        self._flushes.put(False)

    def _flush_all(self) -> None:
        while self._flushes.get():
            with contextlib.suppress(OSError):  # whoever syncs the file in the end is told
                os.fdatasync(self._file.fileno())
