"""Writing in the background: one thread for each checkpoint object, one save at a time.

Arrays handed over are snapshots already (a variable that changes leaves what was read alone), so nothing is copied. An
error comes back with the next `wait`. A program that ends waits for what it has begun to write.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class Background:
    """Runs one job at a time beside the program."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def start(self, job: Callable[[], None]) -> None:
        """Begin a job, once the one before is done."""
        self.wait()

        def run() -> None:
            try:
                job()
            except BaseException as error:  # it is raised again by `wait`
                self._error = error

        self._thread = threading.Thread(target=run, name="checkpoint writer", daemon=False)
        self._thread.start()

    def wait(self) -> None:
        """Wait until nothing is being written; raise what went wrong."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error
