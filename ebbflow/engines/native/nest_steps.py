"""What a region's code does, step by step, before it is known which loops the steps share.

A step goes through an index space: all of it (`whole`), one row of it (`row`: the leading axes are given) or, where the
last index alone finds every element, a stretch (`stretch`). `reads` and `writes` say which memory it touches, and along
how many leading axes it stays at the index at hand. What is folded along leading axes is complete only when all rows
are through; until then every thread has a part of its own.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence

from ebbflow.engines.native.lowerings import elementwise
from ebbflow.engines.native.text import TYPES, Body, Index, number
from ebbflow.engines.native.values import Buffer, Dims, Held, Memory, Num, size_of


class Step:
    """Work on an index space."""

    dims: Dims
    flat = False
    gathers = False  # whether leading axes are folded: see `Fold`
    reads: dict[Memory, int]
    writes: dict[Memory, int]
    work = 0

    @property
    def rows(self) -> int:
        """How many rows it has, of which it can do some; 0 where it is done as a whole."""
        return 0

    def some(self, body: Body, begin: Index, count: int) -> None:
        """Do that many rows of the first axis."""
        with body.loop(count) as loop:
            self.row(body, [body.plus(begin, loop.index)])

    def whole(self, body: Body) -> None:
        raise AssertionError("every step can go through all")

    def row(self, body: Body, at: Sequence[Index]) -> None:
        raise AssertionError("asked of steps that have rows")

    def stretch(self, body: Body, begin: Index, end: Index) -> None:
        raise AssertionError("asked of steps that are flat")

    def rows_from(self, axes: int) -> bool:
        """Return whether the step can go row by row, that many axes leading to a row."""
        return False


def along(dims: Dims, number: Index) -> list[Index]:
    """Return the index that finds the so-many-th element of an array without gaps: in the last axis that moves."""
    last = max((i for i, n in enumerate(dims) if n != 1), default=None)
    return [number if i == last else 0 for i in range(len(dims))]


@contextlib.contextmanager
def over(body: Body, dims: Dims, flat: bool, lead: Sequence[Index] = ()) -> Iterator[list[Index]]:
    """Repeat for each index of an array behind the leading ones; by one alone where that finds every element."""
    rest = dims[len(lead) :]
    if flat:
        with body.loop(size_of(rest)) as loop:
            yield [*lead, *along(rest, loop.index)]
        return
    with body.loops([n for n in rest if n != 1]) as found:
        given = iter(found)
        yield [*lead, *[0 if n == 1 else next(given) for n in rest]]


class Store(Step):
    """Arrays of one shape, written element by element."""

    def __init__(self, target: Buffer, held: Held):
        self.dims = target.dims
        self.stores = [(target, held)]
        self.reads = dict(held.reads)
        if target.row is not None:
            self.reads |= dict.fromkeys(target.row[0].reads, 0)
        self.writes = {target.memory: target.depth}
        self.flat = target.flat and held.flat
        self.work = size_of(self.dims) * max(held.cost, 1)

    @property
    def rows(self) -> int:
        return self.dims[0] if self.dims and size_of(self.dims) else 0

    def some(self, body: Body, begin: Index, count: int) -> None:
        if not self.flat:
            super().some(body, begin, count)
            return
        first = body.times(begin, size_of(self.dims[1:]))
        with body.loop(count * size_of(self.dims[1:])) as loop:
            self._at(body, along(self.dims, body.plus(first, loop.index)))

    def makes_for_itself(self, memory: Memory) -> bool:
        """Return whether every element of memory is made and looked at in the same turn of the loop."""
        full = len(self.dims)
        return memory.dims == self.dims and self.writes.get(memory) == full and self.reads.get(memory, full) == full

    def takes(self, other: Store) -> bool:
        """Return whether another store can be made in the same loop."""
        full = len(self.dims)
        return (
            self.dims == other.dims
            and all(other.reads.get(m, full) == full for m in self.writes)
            and all(self.reads.get(m, full) == full for m in other.writes)
            and all(d == full for d in (*self.writes.values(), *other.writes.values()))
            and (self.flat == other.flat or size_of(self.dims) < 4096)
        )

    def add(self, other: Store) -> None:
        self.stores += other.stores
        for memory, depth in other.reads.items():
            self.reads[memory] = min(self.reads.get(memory, depth), depth)
        self.writes |= other.writes
        self.flat = self.flat and other.flat
        self.work += other.work

    def _at(self, body: Body, index: list[Index]) -> None:
        for target, held in self.stores:
            target.store(body, index, held.load(body, index))

    def whole(self, body: Body) -> None:
        if size_of(self.dims):
            with over(body, self.dims, self.flat) as index:
                self._at(body, index)

    def row(self, body: Body, at: Sequence[Index]) -> None:
        with over(body, self.dims, self.flat, at) as index:
            self._at(body, index)

    def stretch(self, body: Body, begin: Index, end: Index) -> None:
        with body.loop(end, start=begin) as loop:
            self._at(body, along(self.dims, loop.index))

    def rows_from(self, axes: int) -> bool:
        return len(self.dims) >= axes


class Update(Step):
    """Arrays changed in place by a formula of their elements."""

    def __init__(self, dims: Dims, flat: bool, held: Sequence[Held], changed: Sequence[Buffer], at: Callable):
        self.dims = dims
        self.flat = flat and bool(dims)
        self.reads = {m: 0 for h in held for m in h.reads}
        self.writes = {b.memory: 0 for b in changed}
        self.work = size_of(dims) * 8
        self._at = at

    def whole(self, body: Body) -> None:
        if size_of(self.dims):
            with over(body, self.dims, self.flat) as index:
                self._at(body, index)

    def stretch(self, body: Body, begin: Index, end: Index) -> None:
        with body.loop(end, start=begin) as loop:
            self._at(body, along(self.dims, loop.index))


class Block(Step):
    """Work that is written as it is."""

    def __init__(self, write: Callable[[Body], None], reads: Sequence[Held], writes: Sequence[Buffer], work: int):
        self.dims = ()
        self.reads = {m: 0 for h in reads for m in h.reads}
        self.reads |= {m: 0 for b in writes if b.row is not None for m in b.row[0].reads}
        self.writes = {b.memory: 0 for b in writes}
        self.work = work
        self.whole = write  # type: ignore[assignment,method-assign]


# --- folding ----------------------------------------------------------------------------------------------------------

_ENDS = {"f32": float("inf"), "f64": float("inf"), "i32": 2**31 - 1, "i64": 2**63 - 1}


def fold(body: Body, how: str, kind: str, a: str, b: str) -> str:
    """Return two numbers folded into one; sums may be taken in any order."""
    if how in ("max", "min"):
        pick = elementwise.larger if how == "max" else elementwise.smaller
        return pick(Num(body, kind, a), Num(body, kind, b)).name
    name = "add" if how == "sum" else "mul"
    return body(f"{'f' + name + ' reassoc' if kind[0] == 'f' else name} {TYPES[kind]} {a}, {b}")


def start(how: str, kind: str) -> str:
    """Return what folding begins with."""
    if how == "max":
        return number(-_ENDS[kind] - (kind[0] == "i"), kind)
    return number({"min": _ENDS[kind], "sum": 0, "prod": 1}[how], kind)


class Fold(Step):
    """An array folded along axes; `out` has one element there."""

    def __init__(self, how: str, held: Held, axes: Sequence[int], out: Buffer):
        self.how, self.held, self.axes, self.out = how, held, set(axes), out
        self.dims = held.dims
        self.reads = dict(held.reads)
        self.writes = {out.memory: min(axes)}
        self.work = size_of(self.dims) * max(held.cost, 1)
        self.gathers = 0 in self.axes
        self.part: Buffer | None = None  # where a thread gathers, if it is not alone

    @property
    def rows(self) -> int:
        return self.dims[0] if self.rows_from(1) and size_of(self.dims) else 0

    def rows_from(self, axes: int) -> bool:
        if len(self.dims) < axes:
            return False
        lead = set(range(axes))
        return lead <= self.axes if self.gathers else not lead & self.axes

    def whole(self, body: Body) -> None:
        self.begin(body, self.out)
        if size_of(self.dims):
            self._rows(body, [], self.out)

    def row(self, body: Body, at: Sequence[Index]) -> None:
        out = self.part or self.out
        if not self.gathers:
            self.begin(body, out, at)
        self._rows(body, list(at), out)

    def begin(self, body: Body, out: Buffer, lead: Sequence[Index] = ()) -> None:
        """Write what folding begins with."""
        if size_of(out.dims):
            with over(body, out.dims, out.flat, lead) as index:
                out.store(body, index, start(self.how, self.held.kind))

    def joined(self, body: Body, parts: Sequence[Buffer]) -> None:
        """Fold what the threads have gathered."""
        kind = self.held.kind
        with over(body, self.out.dims, self.out.flat) as index:
            found = [part.load(body, index) for part in parts]
            total = found[0]
            for other in found[1:]:
                total = fold(body, self.how, kind, total, other)
            self.out.store(body, index, total)

    def _rows(self, body: Body, lead: list[Index], out: Buffer) -> None:
        """Fold what is behind the leading index into `out`."""
        dims, how, kind = self.dims, self.how, self.held.kind
        axes = [i for i in range(len(lead), len(dims)) if dims[i] != 1]
        place = lambda index: [0 if i in self.axes else x for i, x in enumerate(index)]
        inner = [i for i in axes if i in self.axes]
        if axes and axes[-1] not in self.axes:  # row upon row: the innermost axis stays
            with body.loops([dims[i] for i in axes]) as at:
                index = _filled(lead, axes, at, len(dims))
                before = out.load(body, place(index))
                out.store(body, place(index), fold(body, how, kind, before, self.held.load(body, index)))
            return
        outer = [i for i in axes if i not in self.axes]
        with body.loops([dims[i] for i in outer]) as at:
            index = _filled(lead, outer, at, len(dims))
            if self.held.flat and not outer and inner:
                total = self._stretch(body, lead, math.prod(dims[i] for i in inner))
            else:
                total = self._nest(body, inner, index)
            out.store(body, place(index), fold(body, how, kind, out.load(body, place(index)), total))

    def _stretch(self, body: Body, lead: list[Index], count: int) -> str:
        how, kind = self.how, self.held.kind
        with body.loop(count, carried=[(TYPES[kind], start(how, kind))]) as loop:
            element = self.held.load(body, [*lead, *along(self.dims[len(lead) :], loop.index)])
            loop.next = [fold(body, how, kind, loop.carried[0], element)]
        return loop.carried[0]

    def _nest(self, body: Body, inner: list[int], index: list[Index]) -> str:
        """Return the elements under the axes `inner` folded, axis by axis: sums stay exact longer."""
        how, kind = self.how, self.held.kind
        if not inner:
            return self.held.load(body, index)
        with body.loop(self.dims[inner[0]], carried=[(TYPES[kind], start(how, kind))]) as loop:
            deeper = [*index[: inner[0]], loop.index, *index[inner[0] + 1 :]]
            loop.next = [fold(body, how, kind, loop.carried[0], self._nest(body, inner[1:], deeper))]
        return loop.carried[0]


def _filled(lead: list[Index], axes: list[int], at: list[Index], rank: int) -> list[Index]:
    index: list[Index] = [*lead, *[0] * (rank - len(lead))]
    for axis, i in zip(axes, at, strict=True):
        index[axis] = i
    return index
