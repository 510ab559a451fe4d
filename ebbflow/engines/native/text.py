"""Writing LLVM's language: one function body, instruction by instruction.

A `Body` gives names to results and knows which loop it is in; what was computed at an index before is found again
(`once`) as long as it is visible there. Indices are Python integers where they are known, so that sums of them fold.
"""

from __future__ import annotations

import contextlib
import itertools
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

Index = int | str

TYPES = {"f32": "float", "f64": "double", "i32": "i32", "i64": "i64", "bool": "i1"}
STORED = {**TYPES, "bool": "i8"}
WIDTH = {"f32": 4, "f64": 8, "i32": 4, "i64": 8, "bool": 1}


ATTRIBUTES = 'nounwind "prefer-vector-width"="512"'
LEFT = "  %left = alloca i64"  # work to be done before somebody may want it to end: see `Turn.heed`
LONG = 512
"""Turns, with those of loops inside, from which on a loop around others is not written out: that takes LLVM seconds."""
ROLLED = ", !llvm.loop !rolled"
_INDICES = ("+", "*", "p")  # what is computed of indices alone


class LoopText:
    """A loop being written: its index, what it carries from turn to turn, and what that is in the end."""

    def __init__(self, index: Index, carried: list[str]):
        self.index = index
        self.carried = carried
        self.next: list[str] = []


class Turn:
    """A loop that goes on while something holds."""

    def __init__(self, body: Body):
        self._body = body
        self.head, self.done = body.label("turn"), body.label("over")

    def go_on(self, flag: str) -> None:
        """Leave the loop where the flag does not hold."""
        inside = self._body.label("inside")
        self._body.do(f"br i1 {flag}, label %{inside}, label %{self.done}")
        self._body.begin(inside)

    def heed(self, work: int, patience: int) -> None:
        """Have the function return, once so much work was done since the last look, where somebody wants it to end.

        `work` is what a turn does. All loops of the function count down together.
        """
        body = self._body
        body.needs.add(("stopped", ""))
        if LEFT not in body.frames:
            body.frames += [LEFT, f"  store i64 {patience}, ptr %left"]
        ask, end, go = body.label("ask"), body.label("end"), body.label("go")
        less = body(f"sub i64 {body('load i64, ptr %left')}, {work}")
        body.do(f"store i64 {less}, ptr %left")
        body.do(f"br i1 {body(f'icmp slt i64 {less}, 0')}, label %{ask}, label %{go}")
        body.begin(ask)
        body.do(f"store i64 {patience}, ptr %left")
        body.do(f"br i1 {body('call i1 @stopped()')}, label %{end}, label %{go}")
        body.begin(end)
        body.do("ret void")
        body.begin(go)


class Body:
    """The instructions of a function so far."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.frames: list[str] = []  # memory of the function, taken once
        self.functions: list[str] = []  # that it calls, written beside it
        self.needs: set[tuple[str, str]] = set()  # (function, kind) that is called
        self._numbers = itertools.count(1)
        self._block = "entry"
        self._known: list[dict[Any, str]] = [{}]
        self._turns = [0]  # of the loops inside the one at hand, at most

    def __call__(self, text: str) -> str:
        """Add an instruction; return the name of its result."""
        name = f"%v{next(self._numbers)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def function(self, head: str, taken: str, before: Iterable[str] = ()) -> str:
        """Return the instructions as a function."""
        top = f"define internal {head}({taken}) noinline {ATTRIBUTES} {{"
        return "\n".join([top, "entry:", *self.frames, *before, *self.lines, "  ret void", "}"])

    def do(self, text: str) -> None:
        """Add an instruction without a result."""
        self.lines.append(f"  {text}")

    def once(self, key: Any, make: Callable[[], str]) -> str:
        """Return what `make` gives, or gave for this key where it is still visible."""
        for known in reversed(self._known):
            if key in known:
                return known[key]
        found = self._known[-1][key] = make()
        return found

    def known(self, key: Any) -> str:
        """Return what was remembered under a key."""
        return next(known[key] for known in reversed(self._known) if key in known)

    def forget(self) -> None:
        """Let no result be found any more but what was computed of indices alone."""
        for known in self._known:
            for key in [k for k in known if k[0] not in _INDICES]:
                del known[key]

    def remember(self, key: Any, name: str) -> None:
        """Let a result be found under a key."""
        self._known[-1][key] = name

    def label(self, stem: str) -> str:
        return f"{stem}{next(self._numbers)}"

    def begin(self, label: str) -> None:
        """Begin a block, to which the one before has jumped."""
        self.lines.append(f"{label}:")
        self._block = label

    @contextlib.contextmanager
    def loop(
        self, count: Index, step: int = 1, carried: Sequence[tuple[str, str]] = (), start: Index = 0
    ) -> Iterator[LoopText]:
        """Repeat what is added inside for each index from `start` to below `count`, at least once."""
        if isinstance(count, int) and isinstance(start, int) and count - start <= step:
            loop = LoopText(start, [init for _, init in carried])
            yield loop
            loop.carried = loop.next
            return
        head, latch, done = self.label("head"), self.label("latch"), self.label("done")
        before, index, after = self._block, f"%{self.label('i')}", f"%{self.label('i')}"
        names = [f"%{self.label('c')}" for _ in carried]
        self.do(f"br label %{head}")
        self.begin(head)
        self.do(f"{index} = phi i64 [ {start}, %{before} ], [ {after}, %{latch} ]")
        at = len(self.lines)
        self.lines += [""] * len(names)
        loop = LoopText(index, names)
        self._known.append({})
        self._turns.append(0)
        yield loop
        self._known.pop()
        self.forget()  # the loop may have written to what was read before it
        rolled = self._note_turns(
            (count - start) // step if isinstance(count, int) and isinstance(start, int) else LONG
        )
        self.do(f"br label %{latch}")
        self.begin(latch)
        self.do(f"{after} = add nuw nsw i64 {index}, {step}")
        more = self(f"icmp slt i64 {after}, {count}")
        self.do(f"br i1 {more}, label %{head}, label %{done}{ROLLED if rolled else ''}")
        self.begin(done)
        for i, (name, (kind, init)) in enumerate(zip(names, carried, strict=True)):
            self.lines[at + i] = f"  {name} = phi {kind} [ {init}, %{before} ], [ {loop.next[i]}, %{latch} ]"
        loop.carried = loop.next

    def _note_turns(self, count: int) -> bool:
        """Note how often a loop turns that ends here; return whether it is to stay a loop."""
        inside = self._turns.pop()
        total = count * max(inside, 1)
        self._turns[-1] = max(self._turns[-1], total)
        return inside > 0 and total >= LONG

    @contextlib.contextmanager
    def turns(self) -> Iterator[Turn]:
        """Repeat what is added inside for as long as `go_on` is told to."""
        turn = Turn(self)
        self.do(f"br label %{turn.head}")
        self.begin(turn.head)
        self._known.append({})
        yield turn
        self._known.pop()
        self.forget()
        self.do(f"br label %{turn.head}")
        self.begin(turn.done)

    @contextlib.contextmanager
    def when(self, flag: str) -> Iterator[None]:
        """Do what is added inside only where a flag holds."""
        yes, after = self.label("yes"), self.label("after")
        self.do(f"br i1 {flag}, label %{yes}, label %{after}")
        self.begin(yes)
        self._known.append({})
        yield
        self._known.pop()
        self.forget()
        self.do(f"br label %{after}")
        self.begin(after)

    @contextlib.contextmanager
    def loops(self, counts: Sequence[int]) -> Iterator[list[Index]]:
        """Repeat for each index of a nest of loops."""
        with contextlib.ExitStack() as stack:
            yield [stack.enter_context(self.loop(n)).index for n in counts]

    # --- arithmetic of indices ----------------------------------------------------------------------------------------

    def plus(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0 or b == 0:
            return b if a == 0 else a
        return self.once(("+", a, b), lambda: self(f"add nsw i64 {a}, {b}"))

    def times(self, a: Index, b: int) -> Index:
        if isinstance(a, int):
            return a * b
        return 0 if b == 0 else a if b == 1 else self.once(("*", a, b), lambda: self(f"mul nsw i64 {a}, {b}"))

    def pointer(self, base: str, kind: str, at: Index) -> str:
        """Return a pointer to the element at a distance from another."""
        if at == 0:
            return base
        return self.once(("p", base, at), lambda: self(f"getelementptr inbounds {STORED[kind]}, ptr {base}, i64 {at}"))


def number(value: float | int | bool, kind: str) -> str:
    """Return a constant as LLVM writes it."""
    if kind == "bool":
        return "true" if value else "false"
    if kind[0] == "i":
        return str(int(value))
    if kind == "f32":
        value = struct.unpack("f", struct.pack("f", value))[0] if abs(value) < 3.4028236e38 else value
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


def finished(lines: Iterable[str], scopes: Sequence[str]) -> str:
    """Return the text of a module: each loop that is to stay one gets a mark of its own."""
    first, *rest = "\n".join(lines).split(ROLLED)
    marks = ['!1000 = !{!"llvm.loop.unroll.disable"}'] if rest else []
    for n, part in enumerate(rest, 1001):
        first += f", !llvm.loop !{n}{part}"
        marks.append(f"!{n} = distinct !{{!{n}, !1000}}")
    return "\n".join([first, *scopes, *marks])
