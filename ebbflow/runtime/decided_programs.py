"""Programs for graphs whose loops turn as often as what they are fed says: one for each way the graph may go.

A loop that nobody can count beforehand is run turn by turn. Where the values of one run decide its turns
(`compiler/decisions.py`), there is a straight Program for that way, and a small one that says whether a run goes it. A
way that is gone for the second time gets its Programs; every other run is the general Program's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ebbflow.compiler.program import Program
from ebbflow.core import forks

if TYPE_CHECKING:
    from ebbflow.compiler.decisions import Decisions
    from ebbflow.compiler.flow import Flow

MOST_WAYS = 4
"""At most this many ways get a Program, for each set of shapes."""

MOST_LOOKS = 16
"""After so many ways that were gone once only, nobody looks for more."""


MOST_ONCE = 2
"""Ways that were gone once and are remembered whole: who says whether a run goes one takes some time in each."""


class Ways(Protocol):
    """Makes Programs: what a Runner gives."""

    def decided(self, fed: Sequence[Any]) -> tuple[Flow, Decisions]: ...

    def program(self, flow: Flow, fed: Sequence[Any]) -> Program: ...


class Way:
    """A way that was gone: who says whether a run goes it again, and the Program that is made when one does."""

    def __init__(self, answers: tuple[bool, ...], asks: Program | None, flow: Flow):
        self.answers, self._asks = answers, asks
        self.flow: Flow | None = flow  # until the Program is there
        self.program: Program | None = None

    def is_gone(self, fed: Sequence[Any]) -> bool:
        """Return whether a run goes this way."""
        if self._asks is None:
            return True
        try:
            return tuple(map(bool, self._asks.run(fed))) == self.answers
        except Exception:  # what this way computes makes no sense on another
            return False

    def make(self, ways: Ways, fed: Sequence[Any]) -> None:
        """Make the Program."""
        if self.flow is not None:
            self.program, self.flow = ways.program(self.flow, fed), None


class Decided:
    """A Program that takes the way which its arguments decide."""

    def __init__(self, general: Program, ways: Ways):
        self._general = general
        self._ways = ways
        self._looks = MOST_LOOKS
        self._known: list[Way] = []
        self._met: set[tuple[bool, ...]] = set()  # the answers of ways that were gone
        self._lock = forks.lock()
        self.handles = general.handles
        self.shared = general.shared

    @property
    def _programs(self) -> list[tuple[Way, Program]]:
        return [(way, way.program) for way in self._known if way.program is not None]

    @property
    def flow(self) -> Flow:
        """What all runs have in common."""
        return self._general.flow

    @property
    def memory(self) -> int:
        """The bytes that intermediate values take."""
        return max(p.memory for p in (self._general, *[p for _, p in self._programs]))

    @property
    def source(self) -> str:
        """The text of all Programs, the general one last."""
        found = [f"# for {len(way.answers)} decisions\n{p.source}" for way, p in self._programs]
        return "\n".join([*found, self._general.source])

    def run(self, fed: Sequence[Any]) -> tuple[Any, ...]:
        """Return the fetched values."""
        return self._way(fed).run(fed)

    def traced(self, fed: Sequence[Any], trace: list[Any]) -> tuple[Any, ...]:
        """Return the fetched values; add what ran when to `trace`."""
        return self._way(fed).traced(fed, trace)

    def _way(self, fed: Sequence[Any]) -> Program:
        for way in self._known:
            if way.is_gone(fed):
                return way.program or self._again(way, fed)
        return self._next(fed) if self._looks else self._general

    def _again(self, way: Way, fed: Sequence[Any]) -> Program:
        """Return the Program of a way that is gone for the second time."""
        with self._lock:
            try:
                way.make(self._ways, fed)
            except Exception:  # the general Program says what is wrong
                self._known = [known for known in self._known if known is not way]
            if len(self._programs) >= MOST_WAYS:
                self._looks, self._known = 0, [known for known, _ in self._programs]
        if way.program is None:
            return self._general
        self.shared = tuple(sorted({*self.shared, *way.program.shared}))
        return way.program

    def _next(self, fed: Sequence[Any]) -> Program:
        """Return the Program for a way of which nobody knew: the general one, if it is gone for the first time."""
        with self._lock:
            if not self._looks:
                return self._general
            try:
                way, is_new = self._look(fed)
            except Exception:  # the general Program says what is wrong
                self._looks = 0
                return self._general
        return self._general if way is None or is_new else self._again(way, fed)

    def _look(self, fed: Sequence[Any]) -> tuple[Way | None, bool]:
        """Return the way that a run goes, and whether no run went it before."""
        flow, decisions = self._ways.decided(fed)
        answers = decisions.answers
        if not decisions.unrolled:
            self._looks = 0
            return None, True
        way = Way(answers, self._ways.program(decisions.question(flow), fed) if answers else None, flow)
        is_new = bool(answers) and answers not in self._met
        self._met.add(answers)
        self._looks -= is_new
        once = [known for known in self._known if known.program is None]
        too_many = once[: max(len(once) + 1 - MOST_ONCE, 0)]
        self._known = [*[known for known in self._known if known not in too_many], way]
        return way, is_new
