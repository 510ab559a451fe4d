"""`tf.contrib.eager`'s switches and odds and ends, from when eager execution was new.

Thin functions over `eras` and `app`. The gradients of that time are in `eager.functions`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow.core import context
from ebbflow.platform import app, eras


def in_eager_mode() -> bool:
    """Return whether an op called here runs at once."""
    return context.executing_eagerly()


def in_graph_mode() -> bool:
    """Return whether an op called here is added to a graph."""
    return not context.executing_eagerly()


def run(main: Callable[..., Any] | None = None, argv: Any = None) -> None:
    """Switch to eager execution and run the program as `tf.app.run` does."""
    eras.enable_eager_execution()
    app.run(main, argv)


def set_execution_mode(mode: int | None) -> None:
    """Say whether ops may return before they have finished; Ebbflow's never do."""
    if mode not in (None, eras.SYNC, eras.ASYNC):
        raise ValueError("Execution mode should be None/SYNC/ASYNC. Setting CPU execution mode failed.")


@contextlib.contextmanager
def execution_mode(mode: int | None) -> Iterator[None]:
    """Say so for a block."""
    set_execution_mode(mode)
    yield


def async_wait() -> None:
    """Wait until every op has finished: each has when it returns."""


def async_clear_error() -> None:
    """Forget errors of ops that finished late: there are none."""


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """Add ops to the default graph inside the block."""
    with context.scope(context.default_graph()):
        yield


@contextlib.contextmanager
def eager_mode() -> Iterator[None]:
    """Run ops at once inside the block; what the block makes the default is not so behind it."""
    before = context.switches.eager_by_default
    try:
        with context.eager_scope():
            yield
    finally:
        context.set_eager_default(before)
