"""What stands for an array while a region is being written: memory, or a way to compute an element.

A `Buffer` is elements in memory, at strides; a `Lazy` computes the element at an index when somebody wants it, so that
a chain of element-wise work is one loop. `reads` says which memory a value looks at, and along how many leading axes
only at the very index that is asked for: two things may stand in one loop along these if one reads what the other
writes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.engines.native.text import STORED, TYPES, Body, Index, number

Dims = tuple[int, ...]

OPEN = 1 << 40
"""The first size of an argument that is as long as it comes: memory of a list that others made."""


def contiguous(dims: Sequence[int]) -> Dims:
    """Return the strides, in elements, of an array without gaps."""
    strides, step = [], 1
    for n in reversed(dims):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


SCOPES = 64
"""So much memory at most is told apart for the compiler."""


def scopes(count: int) -> list[str]:
    """Return what the tags of loads and stores mean: memory of one scope is no other's."""
    if not count:
        return []
    lines = ['!0 = distinct !{!0, !"rooms"}']
    for n in range(count):
        others = ", ".join(f"!{1 + 3 * m}" for m in range(count) if m != n)
        lines += [f"!{1 + 3 * n} = distinct !{{!{1 + 3 * n}, !0}}", f"!{2 + 3 * n} = !{{!{1 + 3 * n}}}"]
        lines += [f"!{3 + 3 * n} = !{{{others}}}"]
    return lines


class Memory:
    """A stretch of memory: told apart by identity.

    `pointer` is where it begins; memory of the scratch array has none until it is known how much of it is needed. Where
    only a row is kept at a time (`row` axes lead to it), all rows lie at the same place. Memory of a list has elements
    of some dims each: which of them is looked at does not count among the axes an access stays at.
    """

    def __init__(self, kind: str, dims: Dims, pointer: str = "", is_list: bool = False):
        self.kind = kind
        self.dims = dims
        self.pointer = pointer
        self.is_list = is_list
        self.row = 0
        self.scope: int | None = None  # its number among memory that is never reached through another's pointer
        self.is_kept = True  # whether it is memory at all: what only one loop knows stays in registers
        self.is_looked_at = False  # whether it is looked at when all is done, and so is memory

    @property
    def tags(self) -> str:
        """What is written behind a load or a store, so that the compiler knows that it is of no other memory."""
        return "" if self.scope is None else f", !alias.scope !{2 + 3 * self.scope}, !noalias !{3 + 3 * self.scope}"

    @property
    def is_scratch(self) -> bool:
        """Whether it has no place yet."""
        return not self.pointer

    @property
    def is_constant(self) -> bool:
        """Whether it is known beforehand, and lies outside of what the code is given."""
        return self.pointer.startswith("@")


class Buffer:
    """Elements in memory."""

    __slots__ = ("dims", "kind", "memory", "offset", "row", "strides")
    cost = 1

    def __init__(self, memory: Memory, dims: Dims, strides: Dims | None = None, offset: int = 0):
        self.row: tuple[Held, int] | None = None  # a number that is known when it runs, and what it is multiplied with
        self.memory = memory
        self.kind = memory.kind
        self.dims = dims
        self.strides = contiguous(dims) if strides is None else strides
        self.offset = offset

    @property
    def is_whole(self) -> bool:
        """Whether the elements lie without gaps, in order."""
        if self.row is not None:
            return False
        return all(s == t or n == 1 for s, t, n in zip(self.strides, contiguous(self.dims), self.dims, strict=True))

    @property
    def flat(self) -> bool:
        """Whether the last index alone, run through all elements, finds each of them."""
        return all(s == t or n == 1 for s, t, n in zip(self.strides, contiguous(self.dims), self.dims, strict=True))

    @property
    def depth(self) -> int:
        """How many leading axes are the memory's own (of a list: those of its elements)."""
        if self.memory.is_list and self.row is None:
            return 0
        dims, offset = self.memory.dims, self.offset
        if self.memory.is_list:
            dims, offset = dims[1:], offset % max(size_of(dims[1:]), 1)
        whole = contiguous(dims)
        count = 0
        for n, s, m, t in zip(self.dims, self.strides, dims, whole, strict=False):
            if n != m or (s != t and n != 1):
                break
            count += 1
        if offset and (count == 0 or offset >= whole[count - 1]):
            return 0
        if self.row is not None and not self.memory.is_list and (count == 0 or self.row[1] >= whole[count - 1]):
            return 0  # the number that is known when it runs is an index along one of those axes
        return count

    @property
    def reads(self) -> dict[Memory, int]:
        if self.row is None:
            return {self.memory: self.depth}
        return {self.memory: self.depth, **dict.fromkeys(self.row[0].reads, 0)}

    def viewed(self, dims: Dims, strides: Dims, offset: int = 0) -> Buffer:
        """Return other elements of the same memory."""
        found = Buffer(self.memory, dims, strides, self.offset + offset)
        found.row = self.row
        return found

    def indexed(self, number: Held, offset: int) -> Buffer:
        """Return the elements behind a first index that is known when it runs."""
        if self.row is not None:
            raise ValueError("one index at a time")
        found = self.viewed(self.dims[1:], self.strides[1:], offset)
        found.row = (number, self.strides[0])
        return found

    def pointer(self, body: Body, index: Sequence[Index]) -> str:
        at: Index = self.offset
        if self.row is not None:
            number, stride = self.row
            found = number.load(body, [])
            wide = found if number.kind == "i64" else body.once(("s", found), lambda: body(f"sext i32 {found} to i64"))
            at = body.plus(at, body.times(wide, stride))
        for axis, (i, stride) in enumerate(zip(index, self.strides, strict=True)):
            if axis >= self.memory.row:
                at = body.plus(at, body.times(i, stride))
        return body.pointer(self.memory.pointer, self.kind, at)

    def load(self, body: Body, index: Sequence[Index]) -> str:
        """Return the element at an index."""
        if not self.memory.is_kept:
            return body.known((self.memory, tuple(index)))
        pointer = self.pointer(body, index)
        return body.once(("load", pointer), lambda: self._loaded(body, pointer))

    def look(self, body: Body, index: Sequence[Index]) -> str:
        """Return the element at an index that is only known when the code runs: it is not remembered."""
        return self._loaded(body, self.pointer(body, index))

    def _loaded(self, body: Body, pointer: str) -> str:
        found = body(f"load {STORED[self.kind]}, ptr {pointer}{self.memory.tags}")
        return body(f"icmp ne i8 {found}, 0") if self.kind == "bool" else found

    def store(self, body: Body, index: Sequence[Index], value: str) -> None:
        """Write the element at an index; reading it again there gives what was written."""
        if not self.memory.is_kept:
            body.remember((self.memory, tuple(index)), value)
            return
        pointer = self.pointer(body, index)
        stored = body(f"zext i1 {value} to i8") if self.kind == "bool" else value
        body.do(f"store {STORED[self.kind]} {stored}, ptr {pointer}{self.memory.tags}")
        body.remember(("load", pointer), value)


class Lazy:
    """Elements to be computed."""

    __slots__ = ("_fn", "cost", "dims", "flat", "kind", "reads")

    def __init__(
        self,
        kind: str,
        dims: Dims,
        fn: Callable[[Body, Sequence[Index]], str],
        reads: dict[Memory, int],
        cost: int,
        flat: bool = False,
    ):
        self.flat = flat
        self.kind = kind
        self.dims = dims
        self.reads = reads
        self.cost = cost
        self._fn = fn

    def load(self, body: Body, index: Sequence[Index]) -> str:
        """Return the element at an index."""
        return body.once((self, tuple(index)), lambda: self._fn(body, index))


Held = Buffer | Lazy


def aligned(index: Sequence[Index], dims: Dims) -> list[Index]:
    """Return the index into an array of these dims that broadcasts: its last axes, and 0 where there is one element."""
    return [0 if n == 1 else i for i, n in zip(index[len(index) - len(dims) :], dims, strict=True)]


def broadcast(*all_dims: Dims) -> Dims:
    """Return the shape of what arrays of these shapes are combined to."""
    rank = max((len(d) for d in all_dims), default=0)
    padded = [(1,) * (rank - len(d)) + d for d in all_dims]
    return tuple(0 if 0 in ns else max(ns) for ns in zip(*padded, strict=True)) if rank else ()


def shared_axes(dims: Dims, others: Dims) -> int:
    """Return how many leading axes two shapes have in common."""
    count = 0
    while count < min(len(dims), len(others)) and dims[count] == others[count]:
        count += 1
    return count


def reads_of(held: Sequence[Held], dims: Dims) -> dict[Memory, int]:
    """Return what element-wise work on these looks at, and how many leading axes are passed on as they are."""
    found: dict[Memory, int] = {}
    for value in held:
        limit = shared_axes(value.dims, dims) if len(value.dims) == len(dims) else 0
        for memory, depth in value.reads.items():
            found[memory] = min(found.get(memory, len(dims)), depth, limit)
    return found


def limited(reads: dict[Memory, int], depth: int) -> dict[Memory, int]:
    """Return reads of which only that many leading axes are passed on."""
    return {memory: min(d, depth) for memory, d in reads.items()}


class Num:
    """A scalar being computed, with Python's operators."""

    __slots__ = ("body", "kind", "name")

    def __init__(self, body: Body, kind: str, name: str):
        self.body, self.kind, self.name = body, kind, name

    @property
    def is_float(self) -> bool:
        return self.kind[0] == "f"

    def _like(self, other: Any) -> str:
        if isinstance(other, Num):
            return other.name
        return number(other, self.kind)

    def _with(self, instruction: str, other: Any, swapped: bool = False) -> Num:
        prefix = "f" if self.is_float else ""
        a, b = self.name, self._like(other)
        a, b = (b, a) if swapped else (a, b)
        return type(self)(self.body, self.kind, self.body(f"{prefix}{instruction} {TYPES[self.kind]} {a}, {b}"))

    def __add__(self, other: Any) -> Num:
        return self._with("add", other)

    def __sub__(self, other: Any) -> Num:
        return self._with("sub", other)

    def __rsub__(self, other: Any) -> Num:
        return self._with("sub", other, True)

    def __mul__(self, other: Any) -> Num:
        return self._with("mul", other)

    def __truediv__(self, other: Any) -> Num:
        return self._with("div", other)

    def __rtruediv__(self, other: Any) -> Num:
        return self._with("div", other, True)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Num:
        if self.is_float:
            return type(self)(self.body, self.kind, self.body(f"fneg {TYPES[self.kind]} {self.name}"))
        return self._with("sub", 0, True)

    def compare(self, how: str, other: Any) -> Num:
        """Return a bool; `how` is eq, ne, lt, le, gt or ge."""
        b = self._like(other)
        if self.is_float:
            text = f"fcmp {'une' if how == 'ne' else 'o' + how} {TYPES[self.kind]} {self.name}, {b}"
        else:
            text = f"icmp {how if how in ('eq', 'ne') else 's' + how} {TYPES[self.kind]} {self.name}, {b}"
        return Num(self.body, "bool", self.body(text))

    def __lt__(self, other: Any) -> Num:
        return self.compare("lt", other)

    def __gt__(self, other: Any) -> Num:
        return self.compare("gt", other)

    def __and__(self, other: Num) -> Num:
        return type(self)(self.body, self.kind, self.body(f"and {TYPES[self.kind]} {self.name}, {other.name}"))

    def __or__(self, other: Num) -> Num:
        return type(self)(self.body, self.kind, self.body(f"or {TYPES[self.kind]} {self.name}, {other.name}"))

    def __invert__(self) -> Num:
        mask = "true" if self.kind == "bool" else "-1"
        return type(self)(self.body, self.kind, self.body(f"xor {TYPES[self.kind]} {self.name}, {mask}"))

    def where(self, yes: Any, no: Any) -> Num:
        """Return `yes` where this is true, else `no`; at least one of them is no plain number."""
        like = yes if isinstance(yes, Num) else no
        kind = like.kind
        a, b = like._like(yes), like._like(no)
        t = TYPES[kind]
        return Num(self.body, kind, self.body(f"select i1 {self.name}, {t} {a}, {t} {b}"))

    def call(self, name: str, *others: Num) -> Num:
        """Return an intrinsic function of LLVM's of this (and others)."""
        t = TYPES[self.kind]
        given = ", ".join(f"{t} {n.name}" for n in (self, *others))
        self.body.needs.add((name, self.kind))
        return type(self)(self.body, self.kind, self.body(f"call {t} @llvm.{name}.{self.kind}({given})"))

    def function(self, name: str, *others: Num) -> Num:
        """Return one of our own functions of this."""
        t = TYPES[self.kind]
        given = ", ".join(f"{t} {n.name}" for n in (self, *others))
        self.body.needs.add((f"ebb.{name}", self.kind))
        return type(self)(self.body, self.kind, self.body(f'call {t} @"ebb.{name}.{self.kind}"({given})'))


def size_of(dims: Dims) -> int:
    return math.prod(dims)
