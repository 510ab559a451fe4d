"""Which steps share a loop, which memory they need, and who runs them.

Small regions run step after step. In large ones, steps go through the same rows together, so that what one writes is
still in the cache when the next reads it; memory that only they know is as large as a row, and a thread has its own.
Rows (or stretches, of what is element-wise throughout) are divided among the threads of libgomp, which oneDNN uses too:
there is one set of threads, and it is awake.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ebbflow.engines.native.nest_steps import Fold, Step, Store
from ebbflow.engines.native.text import STORED, WIDTH, Body, Index
from ebbflow.engines.native.values import SCOPES, Buffer, Dims, Memory, contiguous

LARGE = 1 << 17
"""Work, in additions, from which on steps are grouped into rows and divided among threads."""

ROW = 256
"""Elements of a row, at least, if it can be had."""


class Nest:
    """Steps that go through their rows together."""

    def __init__(self, step: Step):
        self.steps = [step]
        self.axes = 0
        self.shares: Any = None  # how a loop is divided among threads: see shares.py

    @property
    def work(self) -> int:
        return sum(s.work for s in self.steps)

    @property
    def is_parted(self) -> bool:
        """Whether threads divide it among them."""
        return self.shares is not None or (self.work >= LARGE and (self.axes > 0 or self.is_flat))

    @property
    def is_flat(self) -> bool:
        """Whether it is one step that a stretch of elements is enough for."""
        return len(self.steps) == 1 and self.steps[0].flat

    def touches(self, step: Step) -> bool:
        """Return whether a step must come after this, or with it."""
        return any(m in s.writes for s in self.steps for m in (*step.reads, *step.writes)) or any(
            m in s.reads for s in self.steps for m in step.writes
        )

    def takes(self, step: Step) -> bool:
        """Return whether a step can go through the same rows."""
        return bool(self._possible([*self.steps, step]))

    def settle(self) -> None:
        """Choose how many axes lead to a row: the most that leave it long enough."""
        found = self._possible(self.steps)
        dims = self.steps[0].dims
        long = [a for a in found if math.prod(dims[a:]) >= ROW]
        self.axes = max(long or found, default=0)

    def _possible(self, steps: Sequence[Step]) -> list[int]:
        limit = min(len(s.dims) for s in steps)
        found = []
        for axes in range(1, limit + 1):
            if any(s.dims[:axes] != steps[0].dims[:axes] or not s.rows_from(axes) for s in steps):
                continue
            if all(_goes_together(a, b, axes) for i, a in enumerate(steps) for b in steps[i + 1 :]):
                found.append(axes)
        return found


def _goes_together(a: Step, b: Step, axes: int) -> bool:
    """Return whether, row by row, `b` finds what `a` wrote and `a` what `b` has not yet written."""
    for memory, depth in a.writes.items():
        if memory in b.reads or memory in b.writes:
            other = min(b.reads.get(memory, axes), b.writes.get(memory, axes))
            if depth < axes or other < axes or (isinstance(a, Fold) and a.gathers):
                return False
    return all(a.reads.get(m, axes) >= axes and d >= axes for m, d in b.writes.items() if m in a.reads)


def grouped(steps: Sequence[Step]) -> list[Nest]:
    """Return the steps in nests: each in the first one it can join, behind all that it needs."""
    nests: list[Nest] = []
    for step in steps:
        last = max((i for i, nest in enumerate(nests) if nest.touches(step)), default=-1)
        for nest in nests[max(last, 0) :]:
            if nest.takes(step):
                nest.steps.append(step)
                break
        else:
            nests.append(Nest(step))
    for nest in nests:
        nest.settle()
    return nests


def merged(steps: Sequence[Step]) -> list[Step]:
    """Return the steps with stores of one shape that follow one another in one loop."""
    found: list[Step] = []
    for step in steps:
        last = found[-1] if found else None
        if isinstance(step, Store) and isinstance(last, Store) and last.takes(step):
            last.add(step)
        else:
            found.append(step)
    return found


# --- memory -----------------------------------------------------------------------------------------------------------


class Scratch:
    """The scratch array: what lies where. Each thread has a part of its own, behind what all share."""

    def __init__(self, threads: int):
        self.threads = threads
        self.shared = 0
        self.own = 0
        self.rooms: list[tuple[Memory, int, bool]] = []
        self.scopes = 0
        self.here: list[Memory] = []

    def place(self, memory: Memory, dims: Dims, own: bool) -> None:
        """Give memory a place."""
        size = -(-max(math.prod(dims), 1) * WIDTH[memory.kind] // 64) * 64
        at = self.own if own else self.shared
        memory.pointer = f"%{'o' if own else 's'}{at}"
        if own:
            self.own += size
        else:
            self.shared += size
        self.rooms.append((memory, at, own))

    def tell_apart(self, memory: Memory) -> None:
        """Have the compiler know that memory is reached through its own pointer only."""
        if self.scopes < SCOPES:
            memory.scope, self.scopes = self.scopes, self.scopes + 1

    def place_here(self, memory: Memory) -> None:
        """Give a single number, of which no other function knows, a place that may become a register."""
        memory.pointer = f"%n{len(self.here)}"
        self.here.append(memory)

    @property
    def size(self) -> int:
        return self.shared + self.threads * self.own

    def pointers(self) -> Iterator[str]:
        """Give the instructions that find each place, given `%scratch` and the thread's number `%me`."""
        for memory in self.here:
            yield f"  {memory.pointer} = alloca {STORED[memory.kind]}"
        yield f"  %mine = mul nsw i64 %me, {self.own}"
        yield f"  %behind = add nsw i64 %mine, {self.shared}"
        yield "  %own = getelementptr inbounds i8, ptr %scratch, i64 %behind"
        for memory, at, own in self.rooms:
            base = "%own" if own else "%scratch"
            yield f"  {memory.pointer} = getelementptr inbounds i8, ptr {base}, i64 {at}"


def place_all(rooms: Sequence[Memory], nests: Sequence[Nest], threads: int) -> Scratch:
    """Decide what is memory, and how much of it is needed at once."""
    scratch = Scratch(threads)
    for memory in rooms:
        if not memory.is_kept:
            continue
        if memory.is_looked_at:
            scratch.place(memory, memory.dims, own=False)
            continue
        users = [n for n in nests if any(memory in s.reads or memory in s.writes for s in n.steps)]
        steps = [s for n in users for s in n.steps if memory in s.reads or memory in s.writes]
        if len(steps) == 1 and isinstance(steps[0], Store) and steps[0].makes_for_itself(memory):
            memory.is_kept = False
            continue
        if math.prod(memory.dims) == 1 and not any(n.is_parted for n in users):
            scratch.place_here(memory)
            continue
        scratch.tell_apart(memory)
        axes = users[0].axes if len(users) == 1 and users[0].is_parted and not users[0].is_flat else 0
        depths = [min(s.reads.get(memory, axes), s.writes.get(memory, axes)) for s in steps]
        if axes and len(memory.dims) >= axes and min(depths) >= axes and not memory.is_list:
            memory.row = axes
            scratch.place(memory, memory.dims[axes:], own=True)
        else:
            scratch.place(memory, memory.dims, own=False)
    return scratch


def gatherers(nests: Sequence[Nest], threads: int, scratch: Scratch) -> dict[Fold, list[Buffer]]:
    """Give each thread room for what it gathers over its rows."""
    found = {}
    for step in [s for nest in nests if nest.axes for s in nest.steps if isinstance(s, Fold) and s.gathers]:
        room = Memory(step.held.kind, (threads, *step.out.dims))
        scratch.place(room, room.dims, own=False)
        size = math.prod(step.out.dims)
        strides = contiguous(step.out.dims)
        found[step] = [Buffer(room, step.out.dims, strides, t * size) for t in range(threads)]
    return found


def unravelled(body: Body, number: Index, dims: Dims) -> list[Index]:
    """Return the index of the so-many-th element."""
    found: list[Index] = []
    left = number
    for i, n in enumerate(dims):
        behind = math.prod(dims[i + 1 :])
        if n == 1:
            found.append(0)
        elif behind == 1:
            found.append(left)
        else:
            found.append(body(f"udiv i64 {left}, {behind}"))
            left = body(f"urem i64 {left}, {behind}")
    return found
