"""Loops that threads go through side by side, each with some of the rows.

A batch that goes through a recurrent network is rows that know nothing of each other: a row of a turn follows from the
same row of the turn before. Then a thread takes its rows through all turns, and nobody waits. Small steps (counters,
sums of a turn) every thread does for itself, in memory of its own. Where something is folded over all rows, each part
of the rows is folded into a place of its own, the threads wait for each other, and each folds the parts together: how
many threads there are changes neither the parts nor the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ebbflow.engines.native import threads
from ebbflow.engines.native.lowerings.loops import Turns
from ebbflow.engines.native.nest_steps import Fold, Step, over
from ebbflow.engines.native.schedule import Scratch
from ebbflow.engines.native.text import STORED, Body, Index
from ebbflow.engines.native.values import Buffer, Memory, size_of

SMALL = 4096
"""Work, in additions, that every thread does for itself."""

WORTH = 1 << 16
"""Work of a turn, in additions, from which on it is divided."""


@dataclass
class Shares:
    """How a loop is divided: the number of parts, and of rows in each."""

    loop: Turns
    parts: int
    rows: int  # of a part
    lined: set[Step]
    private: list[Memory] = field(default_factory=list)
    gathered: dict[Fold, Memory] = field(default_factory=dict)

    def place(self, scratch: Scratch) -> None:
        """Take memory: a copy of what is a thread's own, and two places for the parts of each fold."""
        self.own = {m: Memory(m.kind, m.dims) for m in self.private}
        for memory in self.own.values():
            if size_of(memory.dims) > 1:
                scratch.place(memory, memory.dims, own=True)
        for step in self.gathered:
            memory = self.gathered[step] = Memory(step.held.kind, (2, self.parts, *step.out.dims))
            scratch.place(memory, memory.dims, own=False)

    def write(self, body: Body) -> None:
        """Write the loop for the parts from %begin to %end."""
        for number, memory in enumerate(m for m in self.own.values() if size_of(m.dims) == 1):
            memory.pointer = f"%m{number}"
            body.frames.append(f"  {memory.pointer} = alloca {STORED[memory.kind]}")
        body.frames.append("  %odd = alloca i64")
        body.do("store i64 0, ptr %odd")
        for memory, mine in self.own.items():
            _copy(body, memory, mine)
        threads.wait(body, "%scratch")  # who is done first changes what all begin with
        with self._privately():
            self.loop.write(body, self._step, heeds=False)  # only the caller may look, and it ends by itself
        with body.when(body("icmp eq i64 %begin, 0")):
            for memory, mine in self.own.items():
                _copy(body, mine, memory)

    @contextmanager
    def _privately(self) -> Iterator[None]:
        """Have steps look at this thread's own memory."""
        shared = {m: m.pointer for m in self.private}
        for memory, mine in self.own.items():
            memory.pointer = mine.pointer
        yield
        for memory, pointer in shared.items():
            memory.pointer = pointer

    def _step(self, body: Body, step: Step) -> None:
        if isinstance(step, Fold) and step in self.gathered:
            self._gather(body, step, self.gathered[step])
        elif step in self.lined:
            with body.loop("%end", start="%begin") as part:
                step.some(body, body.times(part.index, self.rows), self.rows)
        else:
            step.whole(body)

    def _gather(self, body: Body, step: Fold, memory: Memory) -> None:
        """Fold rows into parts, and the parts, once all are there, into one.

        The places of two turns differ: nobody writes where another may still look.
        """
        size = size_of(step.out.dims)
        turn = body("load i64, ptr %odd")
        body.do(f"store i64 {body(f'xor i64 {turn}, 1')}, ptr %odd")
        base = body.pointer(memory.pointer, memory.kind, body.times(turn, self.parts * size))

        def place(part: Index) -> Buffer:
            pointer = body.pointer(base, memory.kind, body.times(part, size))
            return Buffer(Memory(memory.kind, step.out.dims, pointer), step.out.dims)

        with body.loop("%end", start="%begin") as part:
            step.part = place(part.index)
            step.begin(body, step.part)
            step.some(body, body.times(part.index, self.rows), self.rows)
        step.part = None
        threads.wait(body, base)
        body.forget()
        step.joined(body, [place(part) for part in range(self.parts)])


def _copy(body: Body, source: Memory, target: Memory) -> None:
    with over(body, source.dims, flat=True) as index:
        Buffer(target, target.dims).store(body, index, Buffer(source, source.dims).load(body, index))
    body.forget()


def shared(loop: Step, workers: int) -> Shares | None:
    """Return how a loop is divided among threads, if it can be."""
    if not isinstance(loop, Turns) or loop.expected is None or workers < 2:
        return None
    steps = [*loop.tests, *loop.steps]
    rows = max(steps, key=lambda s: s.work).rows
    if not rows or rows % workers or sum(s.work for s in steps) < WORTH:
        return None
    lined = {s for s in steps if s.rows == rows}
    private = _private(loop, lined, [s for s in steps if s not in lined])
    if private is None:
        return None
    gathered = {s: s.out.memory for s in lined if isinstance(s, Fold) and s.gathers}
    return Shares(loop, workers, rows // workers, lined, private, gathered)


def _private(loop: Turns, lined: set[Step], others: list[Step]) -> list[Memory] | None:
    """Return the memory that each thread has a copy of; None where rows know of each other.

    Into a list that nobody reads meanwhile all threads may write the same.
    """
    by_row = {m for s in lined if not s.gathers for m in s.writes}
    steps = [*loop.tests, *loop.steps]
    read = {m for s in steps for m in s.reads}
    private = {m: None for s in steps if s in others or s.gathers for m in s.writes if m in read or not m.is_list}
    right = (
        not by_row & private.keys()
        and not any(m in by_row for s in others for m in s.reads)
        and not any(m in by_row for m in loop.flag.reads)
        and all(depth for s in lined for m, depth in s.reads.items() if m in by_row)
        and all(depth for s in lined if not s.gathers for depth in s.writes.values())
        and all(s.work <= SMALL for s in others)
        and all(size_of(m.dims) <= SMALL for m in private)
    )
    return [m for m in private if m.is_kept] if right else None
