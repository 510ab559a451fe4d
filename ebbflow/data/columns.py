"""Elements by the column: the rows of many elements at once, as long as nobody needs them one by one.

A `Columns` hands out blocks: tuples of arrays, one for each component, with a row for each element. Whoever takes says
how many rows it could use; it gets at least one and at most as many, and None at the end. Blocks are handed on as they
are wherever a stage only selects: slices of arrays are views. Rows of arrays in memory are numbers until somebody needs
what they stand for (`Indexed`), so shuffling moves numbers. Every class here gives exactly the elements, in exactly the
order, that its stage gives element by element. Knows arrays; knows nothing of pipes, functions or threads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from ebbflow.data.line import Line
from ebbflow.data.running import Bunched
from ebbflow.ops.random.philox import Words
from ebbflow.ops.sizes import invalid

Block = tuple[np.ndarray, ...]

BYTES = 1 << 18
"""What a block should hold: enough that the cost of a call is spread, little enough that it stays in the cache."""

MOST_ROWS = 1 << 14
"""Rows in a block, however short they are."""


class Columns(Protocol):
    """Rows that come in blocks."""

    def take(self, count: int) -> Block | None:
        """Return the next rows, at least one and at most `count`; None behind the last."""


def length(block: Block) -> int:
    """Return the number of rows of a block."""
    return len(block[0])


def part(block: Block, first: int, last: int) -> Block:
    """Return some rows of a block, as views."""
    return tuple([column[first:last] for column in block])


def stacked(parts: Sequence[np.ndarray], index: int = 0) -> np.ndarray:
    """Return arrays of one shape as the rows of one."""
    first = parts[0]
    rows = np.empty((len(parts), *first.shape), first.dtype)
    if first.ndim == 0:
        for i, row in enumerate(parts):
            if row.ndim:
                raise _different(first, row, i, index)
            rows[i] = row[()]
        return rows
    for i, row in enumerate(parts):
        if row.shape != first.shape:
            raise _different(first, row, i, index)
        rows[i] = row
    return rows


def _different(first: np.ndarray, other: np.ndarray, place: int, index: int) -> Exception:
    shapes = [f"[{','.join(map(str, a.shape))}]" for a in (first, other)]
    return invalid(
        "Cannot batch tensors with different shapes in component "
        f"{index}. First element had shape {shapes[0]} and element {place} had shape {shapes[1]}."
    )


class Sizes:
    """How many rows to ask for: few at first, then more until a block is worth its call."""

    __slots__ = ("_least", "_most", "want")

    def __init__(self, least: int = 1):
        self._least = self.want = least
        self._most = max(least, MOST_ROWS)

    def after(self, block: Block) -> None:
        """Learn from a block."""
        if self.want < self._most:
            each = sum(column.nbytes for column in block) // length(block) or 1
            room = max(self._least, min(MOST_ROWS, BYTES // each))
            self._most = room - room % self._least
            self.want = min(self._most, self.want * 4)


class rows_of:  # noqa: N801  (called like a function)
    """The elements one by one. An error ends nothing: the next element may be fine."""

    __slots__ = ("_at", "_block", "_columns", "_count", "_sizes")

    def __init__(self, columns: Columns):
        self._columns, self._sizes = columns, Sizes()
        self._block: Block = ()
        self._at = self._count = 0

    def __iter__(self) -> rows_of:
        return self

    def __next__(self) -> Block:
        i = self._at
        if i == self._count:
            self._at = self._count = i = 0
            block = self._columns.take(self._sizes.want)
            if block is None:
                raise StopIteration
            self._sizes.after(block)
            self._block, self._count = block, length(block)
        self._at = i + 1
        return tuple([column[i, ...] for column in self._block])


class batches_of(Bunched):  # noqa: N801  (called like a function)
    """Blocks of `count` rows, and what is left in the end unless only whole ones are wanted.

    `bunch` gives all that need no more work than the first of them. An error takes the rows before it along that have
    not filled a batch yet (where it `costs` one, also those behind it that would), and ends nothing.
    """

    __slots__ = ("_columns", "_costs", "_count", "_held", "_sizes", "_whole")

    def __init__(self, columns: Columns, count: int, whole: bool, costs: bool = False):
        super().__init__()
        self._columns, self._count, self._whole, self._costs = columns, count, whole, costs
        self._sizes = Sizes(count)
        self._held: list[Block] = []  # fewer rows than a batch has

    def _more(self) -> list[Block]:
        """Return the next batches, at least one; none behind the last."""
        held, self._held = self._held, []
        have, count = sum(map(length, held)), self._count
        while have < count and (block := self._take(have)) is not None:
            held.append(block)
            have += length(block)
            self._sizes.after(block)
        if have < count:
            return [split(held, have)[0]] if have and not self._whole else []
        batches = []
        if len(held) > 1:  # what was left, and a block or more to fill it up
            taken, held = split(held, count)
            batches.append(taken)
        for block in held:  # the last one, if any
            rows = length(block)
            ends = range(count, rows + 1, count)
            batches += zip(*[[column[i - count : i] for i in ends] for column in block], strict=True)
            self._held = [part(block, rows - rows % count, rows)] if rows % count else []
        return batches

    def _take(self, have: int) -> Block | None:
        """Return more rows, for a batch that has some."""
        try:
            return self._columns.take(self._sizes.want)
        except Exception:
            if self._costs:
                self._leave_out(self._count - have - 1)
            raise

    def _leave_out(self, count: int) -> None:
        while count > 0:
            try:
                block = self._columns.take(count)
            except Exception:  # it belongs to the same batch
                count -= 1
                continue
            if block is None:
                return
            rows = length(block)
            self._held = [part(block, count, rows)] if rows > count else []
            count -= rows


def split(held: list[Block], count: int) -> tuple[Block, list[Block]]:
    """Return the first `count` rows as one block, and the blocks that are left."""
    first = held[0]
    rows = length(first)
    if rows > count:
        return part(first, 0, count), [part(first, count, rows), *held[1:]]
    if rows == count:
        return first, held[1:]
    pieces, at = [first], 1
    while rows < count:
        piece = held[at]
        room = count - rows
        if length(piece) > room:
            pieces.append(part(piece, 0, room))
            held[at] = part(piece, room, length(piece))
            rows = count
        else:
            pieces.append(piece)
            rows += length(piece)
            at += 1
    return tuple([np.concatenate(parts) for parts in zip(*pieces, strict=True)]), held[at:]


# --- beginnings -------------------------------------------------------------------------------------------------------


class Counted:
    """The numbers of a range, as a column."""

    __slots__ = ("_at", "_numbers", "_type")

    def __init__(self, numbers: range, dtype: Any = np.int64):
        self._numbers, self._type, self._at = numbers, dtype, 0

    def take(self, count: int) -> Block | None:
        """Return the next numbers."""
        some = self._numbers[self._at : self._at + count]
        if not some:
            return None
        self._at += count
        return (np.arange(some.start, some.stop, some.step, dtype=np.int64).astype(self._type, copy=False),)


class Indexed:
    """Rows of arrays in memory, by their numbers: what moves rows moves numbers, and asks for the rest in the end."""

    __slots__ = ("arrays", "numbers", "shuffled")

    def __init__(self, arrays: Block, numbers: Columns, shuffled: bool = False):
        self.arrays, self.numbers, self.shuffled = arrays, numbers, shuffled

    def take(self, count: int) -> Block | None:
        """Return the rows at the next numbers: a view where those follow each other."""
        block = self.numbers.take(count)
        if block is None:
            return None
        at = block[0]
        first, rows = int(at[0]), len(at)
        if not self.shuffled and int(at[-1]) - first == rows - 1 and (rows < 3 or bool((np.diff(at) == 1).all())):
            return part(self.arrays, first, first + rows)
        return tuple([array.take(at, axis=0) for array in self.arrays])


def in_memory(arrays: Block) -> Indexed:
    """Return the rows of arrays."""
    return Indexed(arrays, Counted(range(len(arrays[0]))))


def moved(source: Columns, how: Callable[[Columns], Columns], shuffled: bool = False) -> Columns:
    """Return what a stage that moves rows makes of columns; of rows in memory it moves the numbers."""
    if isinstance(source, Indexed):
        return Indexed(source.arrays, how(source.numbers), source.shuffled or shuffled)
    return how(source)


class Listed:
    """Blocks that something else makes: an iterator of them."""

    __slots__ = ("_blocks", "_held")

    def __init__(self, blocks: Iterator[Block]):
        self._blocks = blocks
        self._held: Block | None = None

    def take(self, count: int) -> Block | None:
        """Return the next rows of the block at hand."""
        block = self._held
        while block is None or not length(block):
            block = next(self._blocks, None)
            if block is None:
                return None
        rows = length(block)
        self._held = part(block, count, rows) if rows > count else None
        return part(block, 0, count) if rows > count else block


# --- which rows -------------------------------------------------------------------------------------------------------


class Taken:
    """The first rows."""

    __slots__ = ("_left", "_source")

    def __init__(self, source: Columns, most: int):
        self._source, self._left = source, most

    def take(self, count: int) -> Block | None:
        """Return the next rows while any are left."""
        block = self._source.take(min(count, self._left)) if self._left else None
        self._left -= length(block) if block is not None else self._left
        return block


class Skipped:
    """The rows behind the first ones."""

    __slots__ = ("_left", "_source")

    def __init__(self, source: Columns, first: int):
        self._source, self._left = source, first

    def take(self, count: int) -> Block | None:
        """Return the next rows, after leaving out the first."""
        while self._left:
            block = self._source.take(min(self._left, MOST_ROWS))
            if block is None:
                return None
            self._left -= length(block)
        return self._source.take(count)


class Sharded:
    """Every n-th row."""

    __slots__ = ("_next", "_source", "_step")

    def __init__(self, source: Columns, step: int, first: int):
        self._source, self._step, self._next = source, step, first

    def take(self, count: int) -> Block | None:
        """Return those of the next rows that are ours."""
        while True:
            block = self._source.take(min(MOST_ROWS, self._next + (count - 1) * self._step + 1))
            if block is None:
                return None
            rows, first = length(block), self._next
            self._next = (first - rows) % self._step if first < rows else first - rows
            if first < rows:
                return tuple([column[first :: self._step] for column in block])


class InTurn:
    """The rows of one source after the other; the next is started when the last has ended."""

    __slots__ = ("_begin", "_empty", "_now")

    def __init__(self, first: Columns | None, begin: Callable[[bool], Columns | None]):
        self._now, self._begin, self._empty = first, begin, True

    def take(self, count: int) -> Block | None:
        """Return the next rows of the source at hand, or of the next: `begin(whether this one had none)` gives it."""
        while self._now is not None:
            block = self._now.take(count)
            if block is not None:
                self._empty = False
                return block
            self._now, self._empty = self._begin(self._empty), True
        return None


class Zipped:
    """The columns of several sources side by side, as many rows as the shortest has.

    Where a row of one of them fails, the others leave theirs out.
    """

    __slots__ = ("_held", "_sources")

    def __init__(self, sources: Sequence[Columns]):
        self._sources = sources
        self._held: list[Block | None] = [None] * len(sources)

    def take(self, count: int) -> Block | None:
        """Return the next rows of all."""
        for i, source in enumerate(self._sources):
            if self._held[i] is None:
                try:
                    self._held[i] = source.take(count)
                except Exception:
                    self._leave_out(i)
                    raise
            if self._held[i] is None:
                return None
        rows = min(count, *[length(block) for block in self._held])  # type: ignore[arg-type]
        parts: list[np.ndarray] = []
        for i, block in enumerate(self._held):
            parts += part(block, 0, rows)  # type: ignore[arg-type]
            self._drop(i, rows)
        return tuple(parts)

    def _drop(self, i: int, rows: int) -> None:
        block: Any = self._held[i]
        self._held[i] = part(block, rows, length(block)) if length(block) > rows else None

    def _leave_out(self, failed: int) -> None:
        """Have all sources but one leave out a row; an error there is one of the same row."""
        for i, source in enumerate(self._sources):
            if i != failed and self._held[i] is not None:
                self._drop(i, 1)
            elif i != failed:
                with contextlib.suppress(Exception):
                    source.take(1)


# --- in random order --------------------------------------------------------------------------------------------------


class Shuffled:
    """Rows drawn at random of the `room` next ones, by the words of a stream; several epochs may share the line.

    What stands in line are the numbers of the rows of `_store` that elements are kept in. An element that comes in is
    kept where the one that was drawn had been, so a whole block of draws is one gather, and one assignment for what
    comes in.
    """

    def __init__(self, source: Columns, room: int, words: Words):
        self._source, self._room, self._words = source, room, words
        self._first: list[Block] | None = []  # those that fill the line, until it is full
        self._store: Block | None = None
        self._line = Line(0, words)
        self._more = True
        self._free: int | None = None  # where one is to come in before the next is drawn
        self._error: Exception | None = None

    def take(self, count: int) -> Block | None:
        """Return the next rows drawn."""
        if self._first is not None:
            self._fill(self._first)
        if self._free is not None:
            self._fill_gap(self._free)
        if self._store is None or not len(self._line):
            return None
        fresh = self._incoming(min(count, self._room)) if self._more else None
        if fresh is not None:
            return self._exchanged(fresh)
        if self._error is not None:  # the line is full; what would come in next is the error
            at = self._line.draw(1)
            self._free = int(at[0])
            return self._rows(at)
        self._more = False
        return self._rows(self._line.draw(min(count, len(self._line))))

    def _incoming(self, count: int) -> Block | None:
        """Return rows from the source; an error of its is raised when its element would have come in."""
        try:
            return self._source.take(count)
        except Exception as error:
            self._error = error
            return None

    def _fill(self, blocks: list[Block]) -> None:
        """Fill the line; where an error comes on the way, the rest is for the next time."""
        have = sum(map(length, blocks))
        while have < self._room and (block := self._source.take(min(self._room - have, MOST_ROWS))) is not None:
            blocks.append(block)
            have += length(block)
        if blocks:
            self._store = tuple([np.concatenate(parts) for parts in zip(*blocks, strict=True)])
        self._more = have == self._room
        self._line, self._first = Line(have, self._words), None

    def _fill_gap(self, free: int) -> None:
        """Raise the error that came instead of a row, or have the row behind it come in."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        block = self._source.take(1)
        self._free, self._more = None, block is not None
        if block is not None:
            for column, new in zip(self._store, block, strict=True):  # type: ignore[arg-type]
                column[free] = new[0]
            self._line.end += 1

    def _exchanged(self, fresh: Block) -> Block:
        """Return as many rows as come in; the line stays full."""
        at, came = self._line.exchange(length(fresh))
        found = tuple([column.take(at, axis=0) for column in self._store])  # type: ignore[union-attr]
        again = np.flatnonzero(came >= 0)  # those that came in with this block and go out with it, too
        for column, new, out in zip(self._store, fresh, found, strict=True):  # type: ignore[arg-type]
            out[again] = new[came[again]]
            column[at] = new  # of several at one place the last stays
        return found

    def _rows(self, at: np.ndarray) -> Block:
        return tuple([column.take(at, axis=0) for column in self._store])  # type: ignore[union-attr]
