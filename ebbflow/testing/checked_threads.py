"""Threads of a test: what goes wrong in them fails it."""

from __future__ import annotations

import threading
import traceback
import unittest
from collections.abc import Callable
from typing import Any


class CheckedThread:
    """A thread whose error fails the test."""

    def __init__(self, test: unittest.TestCase, target: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self._test, self._target, self._args, self._kwargs = test, target, args, kwargs
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._joined = False

    def _run(self) -> None:
        try:
            self._target(*self._args, **self._kwargs)
        except BaseException as error:
            self._error = error

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the thread, and fail if it failed."""
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._test.fail("Error in checkedThread: " + "".join(traceback.format_exception(self._error)))

    def is_alive(self) -> bool:
        """Return whether the thread is running."""
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """Fail if the thread was never joined and still runs."""
        if not self._joined and self._thread.is_alive():
            self._test.fail("A checked thread was not terminated upon test completion.")
