"""The functions of a region: its body, and a function for each nest of steps that threads divide among them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from ebbflow.engines.native import threads
from ebbflow.engines.native.lowering import Lowering
from ebbflow.engines.native.lowerings.parallel_loops import shared
from ebbflow.engines.native.nest_steps import Fold, Step, Update, fold, start
from ebbflow.engines.native.schedule import LARGE, Nest, gatherers, grouped, merged, place_all, unravelled
from ebbflow.engines.native.text import TYPES, WIDTH, Body
from ebbflow.engines.native.values import Buffer, Memory

UNIT = 64
"""Elements that are not parted when a stretch is."""

BLOCK = 4096
"""Elements that are folded one behind the other."""

_NAME = re.compile(r"%[\w.]+")
_TAGS = re.compile(r", !alias\.scope !\d+, !noalias !\d+")
_ON_THE_WAY = {"%mine", "%behind", "%own"}
"""Through which the places in the scratch array are found."""


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
        self._here = {m.pointer for m, _, own in self._scratch.rooms if own} | {m.pointer for m in self._scratch.here}
        self._here |= {"%me", *_ON_THE_WAY}
        self._anywhere = {m.pointer for m, _, own in self._scratch.rooms if not own} | {
            m.pointer for m in low.arguments
        }
        self._alike: dict[str, int] = {}  # functions of stretches, by their text
        self.needs: set[tuple[str, str]] = set()
        self.texts: list[str] = []
        self._pointers = [*[m.pointer for m in low.arguments], "%scratch"]
        body = Body()
        for number, nest in enumerate(nests):
            self._write(body, number, nest)
        self._define("void @body", _taken(self._pointers), body, me="0")
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
                if self._is_alike(step):
                    self._stretch(body, step, "0", str(math.prod(step.dims)))
                else:
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
            self._stretch(inside, nest.steps[0], "%begin", "%end")
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

    def _is_alike(self, step: Step) -> bool:
        """Return whether a step may be written as a function that others like it share: an optimizer's for one
        variable. Such loops are what LLVM takes longest for, and a net has them by the hundred.
        """
        return self.low.work >= LARGE and isinstance(step, Update) and step.flat and math.prod(step.dims) > 0

    def _stretch(self, body: Body, step: Step, begin: str, end: str) -> None:
        """Write a stretch of a step's elements: where it may be, as a call of what is written once for all alike."""
        inside = Body()
        if self._is_alike(step):
            step.stretch(inside, "%begin", "%end")
        names = _NAME.findall("\n".join(inside.lines))
        if not inside.lines or inside.frames or inside.functions or self._here.intersection(names):
            step.stretch(body, begin, end)
            return
        self.needs |= inside.needs
        given = [name for name in dict.fromkeys(names) if name in self._anywhere]
        places = {name: f"%p{i}" for i, name in enumerate(given)}
        # Which room an array lies in (its tags) does not matter inside: the arguments are not each other's memory.
        lines = [_NAME.sub(lambda m: places.get(m[0], m[0]), _TAGS.sub("", line)) for line in inside.lines]
        text = "\n".join(lines)
        number = self._alike.get(text)
        if number is None:
            number = self._alike[text] = len(self._alike)
            inside.lines = lines
            taken = "".join(f"{pointer}, " for pointer in map(_noalias, places.values()))
            self.texts.append(inside.function(f"void @alike{number}", f"{taken}i64 %begin, i64 %end"))
        pointers = "".join(f"ptr {name}, " for name in given)
        body.do(f"call void @alike{number}({pointers}i64 {begin}, i64 {end})")

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
        used = _names([*inside.lines, *inside.frames])
        pointers = [p for p in self._pointers if p in used or p == "%scratch"]
        self._define(f"void @work{number}", f"{_taken(pointers)}, i64 %me, i64 %begin, i64 %end", inside)
        self.texts += threads.parted(number, len(pointers), total, unit)
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
        used = _names([*body.lines, *body.frames]) | _ON_THE_WAY
        pointers = [line for line in self._scratch.pointers() if line.split(maxsplit=1)[0] in used]
        pointers = [line.replace("%me", me) if me is not None else line for line in pointers]
        self.texts += [*body.functions, body.function(head, taken, pointers)]


def _names(lines: Iterable[str]) -> set[str]:
    """Return what instructions mention: a function takes only that of a training step's hundred arrays."""
    return set(_NAME.findall("\n".join(lines)))


def _taken(pointers: Sequence[str]) -> str:
    return ", ".join(map(_noalias, pointers))


def _noalias(pointer: str) -> str:
    return f"ptr noalias {pointer}"


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
