"""Whether errors show Ebbflow's own frames: `tf.debugging.disable_traceback_filtering`, or EBBFLOW_FULL_TRACEBACK=1."""

from __future__ import annotations

from ebbflow.core import context


def enable_traceback_filtering() -> None:
    """Leave Ebbflow's own frames out of the tracebacks of errors, as it is at first."""
    context.full_traceback = False


def disable_traceback_filtering() -> None:
    """Show every frame in the tracebacks of errors."""
    context.full_traceback = True


def is_traceback_filtering_enabled() -> bool:
    """Return whether Ebbflow's own frames are left out of tracebacks."""
    return not context.full_traceback
