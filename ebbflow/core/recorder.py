"""What listens to the calls of ops: tapes, forward accumulators, and those that only look for variables.

An op that has run tells each recorder of its thread, through `record`; the quick paths of ops with one or two inputs
and one output, through `note`, which a tape makes short. Knows the context, where open recorders are kept; knows
nothing of gradients. Imported by `eager/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import context


class Recorder:
    """Hears nothing: the base of those that hear something."""

    asks_for_more = False
    """Whether gradients of gradients may be asked for, besides first ones."""

    sees_all = False
    """Whether it hears of what is traced into functions, too."""

    def record(self, op: Any, inputs: Sequence[Any], outputs: Sequence[Any], attrs: dict[str, Any]) -> None:
        """Hear of a call."""

    def note(self, op: Any, attrs: dict[str, Any], result: Any, *inputs: Any) -> None:
        """Hear of a call of one or two inputs that gave one result."""
        self.record(op, inputs, (result,), attrs)

    def watches(self, tensors: Sequence[Any]) -> list[bool]:
        """Return for each tensor whether a call that takes it is of interest."""
        return [False] * len(tensors)

    def watch_beside(self, known: Sequence[Any], added: Any) -> None:
        """Hear that a call that gave `known` was made to give one more tensor."""

    def variable_accessed(self, variable: Any) -> None:
        """Hear that a trainable variable is read."""

    def _listen(self, first: bool = False) -> None:
        """Hear of every op that this thread calls from now on; `first`, before those that listen already."""
        recorders = context.thread.recorders
        recorders.insert(0 if first else len(recorders), self)
        context.count_recorders(1)

    def _leave(self) -> None:
        context.thread.recorders.remove(self)
        context.count_recorders(-1)
