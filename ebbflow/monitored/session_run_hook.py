"""Hooks: what a program has done around each `run` of a monitored session.

A hook may fetch and feed along with each run, look at what came out, and ask for an end. Its calls, in order: `begin`
(the graph may still grow), `after_create_session`, then for each run `before_run` and `after_run`, and `end`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ebbflow.core.typing import SessionLike

if TYPE_CHECKING:
    from ebbflow.train.coordinator import Coordinator


class SessionRunArgs(NamedTuple):
    """What a hook wants run: fetches, feeds, options."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a hook is told after a run: its own fetches' values, the options and metadata of the run."""

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """One run as hooks see it: what was asked for, and in which session."""

    def __init__(self, original_args: SessionRunArgs, session: SessionLike):
        self._original_args, self._session = original_args, session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """What the caller of `run` asked for."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The plain session."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook asked for an end."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Have `should_stop` be true from now on."""
        self._stop_requested = True


class SessionRunHook:
    """The base of hooks: does nothing at every occasion."""

    def begin(self) -> None:
        """Called once, before the session is made; the graph may be added to."""

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Called when a session was made, also when one was made anew; the graph is final."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each run; what it returns is run along."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each run that did not fail."""

    def end(self, session: SessionLike) -> None:
        """Called at the end, if no error brought it about (OutOfRangeError and StopIteration are none)."""
