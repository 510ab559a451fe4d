"""Programs for graphs whose loops turn as often as what they are fed says: one for each way the graph may go.

A loop that nobody can count beforehand is run turn by turn. Where the values of one run decide its turns
(`compiler/decisions.py`), there is a straight Program for that way, and a small one that says whether a run goes it. A
way that is gone for the second time gets its Programs; every other run is the general Program's.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ebbflow.compiler.program import Program

if TYPE_CHECKING:
    from ebbflow.compiler.decisions import Decisions
    from ebbflow.compiler.flow import Flow

MOST_WAYS = 4
"""At most this many ways get a Program, for each set of shapes."""

MOST_LOOKS = 16
"""After so many ways that were gone once only, nobody looks for more."""


class Ways(Protocol):
    """Makes Programs: what a Runner gives."""

    def decided(self, fed: Sequence[Any]) -> tuple[Flow, Decisions]: ...

    def program(self, flow: Flow, fed: Sequence[Any]) -> Program: ...


class Decided:
    """A Program that takes the way which its arguments decide."""

    def __init__(self, general: Program, ways: Ways):
        self._general = general
        self._ways: Ways | None = ways  # None: nobody looks for more
        self._known: list[tuple[tuple[bool, ...], Program | None, Program]] = []  # answers, who asks, what runs
        self._met: set[tuple[bool, ...]] = set()
        self._lock = threading.Lock()
        self.handles = general.handles
        self.shared = general.shared

    @property
    def flow(self) -> Flow:
        """What all runs have in common."""
        return self._general.flow

    @property
    def memory(self) -> int:
        """The bytes that intermediate values take."""
        return max(p.memory for p in (self._general, *[p for _, _, p in self._known]))

    @property
    def source(self) -> str:
        """The text of all Programs, the general one last."""
        found = [f"# for {len(answers)} decisions\n{p.source}" for answers, _, p in self._known]
        return "\n".join([*found, self._general.source])

    def run(self, fed: Sequence[Any]) -> tuple[Any, ...]:
        """Return the fetched values."""
        return self._way(fed).run(fed)

    def traced(self, fed: Sequence[Any], trace: list[Any]) -> tuple[Any, ...]:
        """Return the fetched values; add what ran when to `trace`."""
        return self._way(fed).traced(fed, trace)

    def _way(self, fed: Sequence[Any]) -> Program:
        for answers, asks, program in self._known:
            if asks is None or tuple(map(bool, asks.run(fed))) == answers:
                return program
        return self._general if self._ways is None else self._next(fed)

    def _next(self, fed: Sequence[Any]) -> Program:
        with self._lock:
            if self._ways is None:
                return self._general
            try:
                found = self._look(self._ways, fed)
            except Exception:  # the general Program says what is wrong
                found = None
                self._ways = None
            if len(self._known) >= MOST_WAYS or len(self._met) >= MOST_LOOKS:
                self._ways = None
        return found or self._general

    def _look(self, ways: Ways, fed: Sequence[Any]) -> Program | None:
        flow, decisions = ways.decided(fed)
        answers = decisions.answers
        if not decisions.unrolled:
            self._ways = None
            return None
        if answers and answers not in self._met:
            self._met.add(answers)
            return None
        asks = ways.program(decisions.question(flow), fed) if answers else None
        program = ways.program(flow, fed)
        self.shared = tuple(sorted({*self.shared, *program.shared}))
        self._known.append((answers, asks, program))
        return program
