"""The functions of a region: its body, and a function for each nest of steps that threads divide among them."""

from __future__ import annotations

import math

from ebbflow.engines.native import threads
from ebbflow.engines.native.lowering import Lowering
from ebbflow.engines.native.lowerings.parallel_loops import shared
from ebbflow.engines.native.nest_steps import Fold, fold, start
from ebbflow.engines.native.schedule import LARGE, Nest, gatherers, grouped, merged, place_all, unravelled
from ebbflow.engines.native.text import TYPES, WIDTH, Body
from ebbflow.engines.native.values import Buffer, Memory

UNIT = 64
"""Elements that are not parted when a stretch is."""

BLOCK = 4096
"""Elements that are folded one behind the other."""


class Parts:
    """The text of the functions, and how large the scratch array must be."""

    def __init__(self, low: Lowering, workers: int):
        self.low = low
        self.workers = workers if low.work >= LARGE else 1
        steps = merged(low.steps)
        nests = grouped(steps) if low.work >= LARGE else [Nest(step) for step in steps]
        for nest in nests:
            nest.steps = merged(nest.steps)
        for nest in nests:
            nest.shares = shared(nest.steps[0], self.workers)
        self._scratch = place_all(low.rooms, nests, self.workers)
        self._gathered = gatherers(nests, self.workers, self._scratch)
        self.needs: set[tuple[str, str]] = set()
        self.texts: list[str] = []
        self._taken = ", ".join(f"ptr noalias {m.pointer}" for m in (*low.arguments, Memory("", (), "%scratch")))
        body = Body()
        for number, nest in enumerate(nests):
            self._write(body, number, nest)
        self._define("void @body", self._taken, body, me="0")
        self.size = self._scratch.size
        self.verdict = next((at for memory, at, _ in self._scratch.rooms if memory is low.verdict), None)
        self.scopes = self._scratch.scopes

    def _write(self, body: Body, number: int, nest: Nest) -> None:
        if nest.shares is not None:
            self._shared(body, number, nest)
        elif nest.is_parted:
            self._parted(body, number, nest)
        else:
            for step in nest.steps:
                step.whole(body)
                body.forget()
        self.needs |= body.needs

    def _parted(self, body: Body, number: int, nest: Nest) -> None:
        """Write a nest as a function of a range, and have it called for all ranges at once."""
        dims = nest.steps[0].dims
        total = math.prod(dims) if nest.is_flat else math.prod(dims[: nest.axes])
        folds = [s for s in nest.steps if isinstance(s, Fold) and s.gathers]
        inside = Body()
        for step in folds:
            self._begin_gathering(body, inside, step)
        if nest.is_flat:
            nest.steps[0].stretch(inside, "%begin", "%end")
        elif folds and all(math.prod(s.dims[nest.axes :]) == 1 for s in folds):
            _by_element(inside, nest, folds)
        else:
            with inside.loop("%end", start="%begin") as loop:
                at = unravelled(inside, loop.index, dims[: nest.axes])
                for step in nest.steps:  # type: ignore[assignment]
                    step.row(inside, at)
        self._call(body, number, inside, total, threads.SLOWEST * nest.work, UNIT if nest.is_flat else 1)
        for step in folds:
            step.part = None
            step.joined(body, self._gathered[step])

    def _shared(self, body: Body, number: int, nest: Nest) -> None:
        """Write a loop as a function of some rows."""
        inside, shares = Body(), nest.shares
        shares.place(self._scratch)
        shares.write(inside)
        turns = max(shares.loop.expected, 1)
        patience = max(threads.SLOWEST * nest.work // turns, nest.work // 2)  # later, memory is at hand
        self._call(body, number, inside, shares.parts, patience, waits=True)

    def _call(
        self, body: Body, number: int, inside: Body, total: int, patience: int, unit: int = 1, waits: bool = False
    ) -> None:
        """Write a function of a range, and have it called for all ranges at once: see `threads.call`."""
        self._define(f"void @work{number}", f"{self._taken}, i64 %me, i64 %begin, i64 %end", inside)
        self.texts += threads.parted(number, len(self.low.arguments) + 1, total, unit)
        pointers = [*[m.pointer for m in self.low.arguments], "%scratch"]
        threads.call(body, number, pointers, self.workers, patience, waits)
        body.forget()

    def _begin_gathering(self, body: Body, inside: Body, step: Fold) -> None:
        parts = self._gathered[step]
        for part in parts:
            step.begin(body, part)
        size = math.prod(step.out.dims) * WIDTH[step.held.kind]
        far = inside(f"mul nsw i64 %me, {size}")
        mine = inside(f"getelementptr inbounds i8, ptr {parts[0].memory.pointer}, i64 {far}")
        step.part = Buffer(Memory(step.held.kind, step.out.dims, mine), step.out.dims)

    def _define(self, head: str, taken: str, body: Body, me: str | None = None) -> None:
        self.needs |= body.needs
        pointers = [line.replace("%me", me) if me is not None else line for line in self._scratch.pointers()]
        self.texts += [*body.functions, body.function(head, taken, pointers)]


def _by_element(body: Body, nest: Nest, folds: list[Fold]) -> None:
    """Write a nest whose folds take one element of each row: they add up in a register, some thousand at a time.

    Sums of many stay exact longer than one behind the other, whatever LLVM makes of it.
    """
    dims = nest.steps[0].dims
    with body.loop("%end", step=BLOCK, start="%begin") as block:
        behind = body(f"add nuw nsw i64 {block.index}, {BLOCK}")
        last = body(f"call i64 @llvm.smin.i64(i64 {behind}, i64 %end)")
        first = [(TYPES[s.held.kind], start(s.how, s.held.kind)) for s in folds]
        with body.loop(last, start=block.index, carried=first) as loop:
            at = unravelled(body, loop.index, dims[: nest.axes])
            found = {}
            for step in nest.steps:
                if step in folds:
                    element = step.held.load(body, [*at, *[0] * (len(step.dims) - len(at))])
                    total = loop.carried[folds.index(step)]
                    found[step] = fold(body, step.how, step.held.kind, total, element)
                else:
                    step.row(body, at)
            loop.next = [found[s] for s in folds]
        for step, total in zip(folds, loop.carried, strict=True):
            place, out = [0] * len(step.dims), step.part
            assert out is not None
            out.store(body, place, fold(body, step.how, step.held.kind, out.load(body, place), total))
