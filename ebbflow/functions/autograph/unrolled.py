"""Python loops that are unrolled into a graph: one that never ends is an error, one that makes many nodes a warning.

Limits are read at each loop, so that a program may set them. Knows graphs; knows nothing of statements.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import context
from ebbflow.functions.autograph import log

PYTHON_MAX_ITERATIONS = 100_000_000
"""A Python loop that turns more often is taken for one that never ends."""

INEFFICIENT_UNROLL_MIN_ITERATIONS = 50_000
"""From this many turns on, a Python loop that makes nodes is spoken of."""

INEFFICIENT_UNROLL_MIN_OPS = 1
"""So many nodes a turn make a loop one that is unrolled."""


class Turns:
    """Counts the turns of a Python loop."""

    def __init__(self) -> None:
        self._graph: Any = context.current_graph()
        self._count = self._nodes = 0
        self._warned = self._graph is None

    def begin(self) -> None:
        """Note that a turn begins."""
        if self._count >= PYTHON_MAX_ITERATIONS:
            raise ValueError(f"iteration limit exceeded: a Python loop has run {self._count} times")

    def end(self) -> None:
        """Note that a turn has ended; say so once if turns keep adding nodes to the graph."""
        self._count += 1
        if self._warned or self._count < INEFFICIENT_UNROLL_MIN_ITERATIONS:
            return
        before, self._nodes = self._nodes, len(self._graph._nodes)
        if self._count > INEFFICIENT_UNROLL_MIN_ITERATIONS and self._nodes - before >= INEFFICIENT_UNROLL_MIN_OPS:
            self._warned = True
            made = ", ".join(f"{node.type} '{node.name}'" for node in self._graph._nodes[before : before + 10])
            log.warn(
                "Large unrolled loop: a Python loop has run %s times, and each turn adds nodes to the graph (%s). "
                "Was a loop over a tensor meant?",
                self._count,
                made,
            )
