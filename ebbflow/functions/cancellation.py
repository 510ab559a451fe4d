"""Ending a function that runs, from another thread: `tensorflow.python.eager.cancellation`.

A manager hands out functions that heed it. What waits (a queue, a lock) and what turns (a loop) notices, and raises
CancelledError. Knows concrete functions and how runs are stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import stopping
from ebbflow.core.op import eager_run


class CancellationManager:
    """Can cancel the functions it gave."""

    def __init__(self) -> None:
        self._stop = stopping.Stop(eager_run)

    @property
    def is_cancelled(self) -> bool:
        """Whether it has been told to cancel."""
        return self._stop.cancelled

    def start_cancel(self) -> None:
        """Have what runs end, and what is called from now on not begin."""
        self._stop.cancel()

    def get_cancelable_function(self, concrete_function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that does what `concrete_function` does until it is cancelled."""

        def cancelable(*args: Any, **kwargs: Any) -> Any:
            self._stop.check("Function was cancelled before it was started")
            with stopping.heeding(self._stop):
                return concrete_function(*args, **kwargs)

        return cancelable
