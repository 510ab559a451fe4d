"""Convolutions of three by three by Winograd's way: two by two results from four by four inputs, with 16 products each
instead of 36.

Inputs and filters are transformed (sums and differences), multiplied for each of the 16 places as matrices of tiles by
channels, and the products transformed back. A unit of work is some rows of tiles of one image: small enough that
everything between input and result stays in the cache. The gradient by the input is the same with the filter turned
round; that by the filter multiplies transformed inputs with transformed gradients, per thread, and is put together in
the end. Results differ from those of a plain sum by a few units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ebbflow.engines.native import library
from ebbflow.engines.native.lowering import Lowering
from ebbflow.engines.native.lowerings import matmul
from ebbflow.engines.native.nest_steps import Step
from ebbflow.engines.native.text import Body, Index
from ebbflow.engines.native.values import Buffer, Dims, Memory

PLACES = 16
CACHE = 150_000
"""Numbers that a unit may have between input and result."""


@dataclass(frozen=True)
class Shape:
    """A convolution: sizes of input and result, zeros before the first row and column."""

    images: int
    high: int
    wide: int
    taken: int  # channels of the input
    out_high: int
    out_wide: int
    given: int  # channels of the result
    top: int
    left: int

    @property
    def across(self) -> int:
        """How many tiles are in a row."""
        return -(-self.out_wide // 2)

    @property
    def rows(self) -> int:
        """How many rows of tiles are a unit."""
        most = max(CACHE // (PLACES * (self.taken + self.given) * self.across), 1)
        down = -(-self.out_high // 2)
        return -(-down // -(-down // min(most, down)))

    @property
    def units(self) -> int:
        """How many units an image has."""
        return -(-self.out_high // (2 * self.rows))

    @property
    def tiles(self) -> int:
        """How many tiles a unit has."""
        return self.rows * self.across


def apart(size: int) -> int:
    """Return how far apart the parts for the 16 places lie, so that they do not meet in the cache."""
    return -(-size // 1024) * 1024 + 80


# --- arithmetic of vectors --------------------------------------------------------------------------------------------


class Vectors:
    """Vectors of that many numbers each, in a function body."""

    def __init__(self, body: Body, lanes: int):
        self.body, self.lanes = body, lanes
        self.type = f"<{lanes} x float>"

    def load(self, pointer: str) -> str:
        return self.body(f"load {self.type}, ptr {pointer}, align 4")

    def store(self, value: str, pointer: str) -> None:
        self.body.do(f"store {self.type} {value}, ptr {pointer}, align 4")

    def plus(self, a: str, b: str) -> str:
        return self.body(f"fadd {self.type} {a}, {b}")

    def minus(self, a: str, b: str) -> str:
        return self.body(f"fsub {self.type} {a}, {b}")

    def half(self, a: str) -> str:
        halves = ", ".join(["float 0.5"] * self.lanes)
        return self.body(f"fmul {self.type} {a}, <{halves}>")

    def above_zero(self, a: str) -> str:
        """Return a vector with zeros where it is below (NaN stays)."""
        below = self.body(f"fcmp ole {self.type} {a}, zeroinitializer")
        return self.body(f"select <{self.lanes} x i1> {below}, {self.type} zeroinitializer, {self.type} {a}")

    # Each takes a row (or column) of values and gives another: the four matrices of the method.

    def of_inputs(self, d: Sequence[str]) -> list[str]:
        return [self.minus(d[0], d[2]), self.plus(d[1], d[2]), self.minus(d[2], d[1]), self.minus(d[1], d[3])]

    def of_filters(self, w: Sequence[str]) -> list[str]:
        ends = self.half(self.plus(w[0], w[2]))
        middle = self.half(w[1])
        return [w[0], self.plus(ends, middle), self.minus(ends, middle), w[2]]

    def of_products(self, m: Sequence[str]) -> list[str]:
        sums = self.plus(m[1], m[2])
        return [self.plus(m[0], sums), self.minus(self.minus(m[1], m[2]), m[3])]

    def of_slopes(self, y: Sequence[str]) -> list[str]:
        nothing = "zeroinitializer"
        return [y[0], self.plus(y[0], y[1]), self.minus(y[0], y[1]), self.minus(nothing, y[1])]

    def to_filters(self, u: Sequence[str]) -> list[str]:
        sums, ends = self.half(self.plus(u[1], u[2])), self.half(self.minus(u[1], u[2]))
        return [self.plus(u[0], sums), ends, self.plus(sums, u[3])]


def both_ways(change: Callable[[Sequence[str]], list[str]], square: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return a square of values changed along its columns and then along its rows."""
    columns = [change(column) for column in zip(*square, strict=True)]
    return [change(row) for row in zip(*columns, strict=True)]


# --- pieces of a unit -------------------------------------------------------------------------------------------------


def _pointer(body: Body, memory: Memory, *terms: Index) -> str:
    at: Index = 0
    for term in terms:
        at = body.plus(at, term)
    return body.pointer(memory.pointer, "f32", at)


def _padded(body: Body, source: Buffer, image: Index, first: Index, left: int, room: Memory) -> None:
    """Copy rows of an image, from `first` on, into a room of rows, columns and channels; zeros are around."""
    rows, columns, channels = room.dims[-3:]
    _, high, wide, _ = source.dims
    v = Vectors(body, library.lanes())
    length = wide * channels

    def fill(begin: Index, count: int, row: Index) -> None:
        if count:
            with body.loop(count, v.lanes) as at:
                v.store("zeroinitializer", _pointer(body, room, row, begin, at.index))

    with body.loop(rows) as loop:
        row = body.times(loop.index, columns * channels)
        here = body.plus(first, loop.index)
        inside = body(f"icmp ult i64 {here}, {high}")
        fill(0, left * channels, row)
        fill((left + wide) * channels, (columns - left - wide) * channels, row)
        with body.when(inside):
            start = source.pointer(body, [image, here, 0, 0])
            with body.loop(length, v.lanes) as at:
                value = v.load(body.pointer(start, "f32", at.index))
                v.store(value, _pointer(body, room, row, left * channels, at.index))
        with body.when(body(f"xor i1 {inside}, true")):
            fill(left * channels, length, row)


def _each_tile(shape: Shape, body: Body, channels: int, write: Callable[[Vectors, Index, Index, Index], None]) -> None:
    """Write what is done for each tile of a unit, given its row, column and channels."""
    v = Vectors(body, library.lanes())
    with body.loop(shape.rows) as i, body.loop(shape.across) as j, body.loop(channels, v.lanes) as c:
        write(v, i.index, j.index, c.index)


def _spread(v: Vectors, square: Sequence[Sequence[str]], room: Memory, at: Index) -> None:
    """Write the 16 values of a tile each to its place."""
    for place, value in enumerate(v for row in square for v in row):
        v.store(value, _pointer(v.body, room, place * room.dims[-1], at))


def _transformed(shape: Shape, body: Body, padded: Memory, size: int, change: str, room: Memory) -> None:
    """Write the tiles (of `size` rows and columns) of a padded unit, transformed."""
    columns, channels = padded.dims[-2:]

    def tile(v: Vectors, i: Index, j: Index, c: Index) -> None:
        corner = body.plus(body.times(i, 2 * columns * channels), body.plus(body.times(j, 2 * channels), c))
        square = [
            [v.load(_pointer(body, padded, (y * columns + x) * channels, corner)) for x in range(size)]
            for y in range(size)
        ]
        number = body.plus(body.times(i, shape.across), j)
        _spread(v, both_ways(getattr(v, change), square), room, body.plus(body.times(number, channels), c))

    _each_tile(shape, body, channels, tile)


def _part(body: Body, room: Memory, place: Index, dims: Dims, strides: Dims | None = None) -> Buffer:
    """Return the matrix of one of the 16 places."""
    pointer = _pointer(body, room, body.times(place, room.dims[-1]))
    return Buffer(Memory("f32", dims, pointer), dims, strides)


# --- steps ------------------------------------------------------------------------------------------------------------


class _Units(Step):
    """A step that is done unit by unit: that many axes lead to one."""

    axes = 1

    def rows_from(self, axes: int) -> bool:
        return axes == self.axes

    def whole(self, body: Body) -> None:
        with body.loops(self.dims[: self.axes]) as at:
            self.row(body, at)


class Filters(_Units):
    """Filters transformed, in panels for products: [place, input channel, output channel]."""

    def __init__(self, filters: Buffer, room: Buffer, wide: int):
        self.filters, self.room, self.wide = filters, room, wide
        taken, given = filters.dims[2:]
        self.dims = (taken, given)
        self.reads, self.writes = {filters.memory: 0}, {room.memory: 0}
        self.work = taken * given * 40

    def row(self, body: Body, at: Sequence[Index]) -> None:
        (i,) = at
        taken, given = self.dims
        lanes = library.lanes() if self.filters.strides[-1] == 1 else 1
        v = Vectors(body, lanes)
        for left, count, wide in matmul.blocks(given, self.wide):
            with body.loop(left + count * wide, wide, start=left) as j, body.loop(wide, lanes) as c:
                o = body.plus(j.index, c.index)
                square = [[v.load(self.filters.pointer(body, [y, x, i, o])) for x in range(3)] for y in range(3)]
                place = body.plus(body.times(j.index, taken), body.plus(body.times(i, wide), c.index))
                _spread(v, both_ways(v.of_filters, square), self.room.memory, place)


class Convolution(_Units):
    """Units of a convolution, with what is done to its results while they are at hand."""

    axes = 2

    def __init__(self, low: Lowering, shape: Shape, x: Buffer, filters: Buffer, out: Buffer, bias: Buffer | None = None,
                 addend: Buffer | None = None, relu: bool = False):  # fmt: skip
        self.shape, self.x, self.out, self.relu = shape, x, out, relu
        self.bias, self.addend = bias, addend
        self.dims = (shape.images, shape.units)
        self.wide = min(2 * library.lanes(), shape.given)
        self.filters = low.room("f32", (PLACES, apart(shape.taken * shape.given)))
        low.steps.append(Filters(filters, self.filters, self.wide))
        columns = 2 * shape.across + 2
        self.padded = self._own(low, 2 * shape.rows + 2, columns, shape.taken)
        self.inputs = self._own(low, PLACES, apart(shape.tiles * shape.taken))
        self.products = self._own(low, PLACES, apart(shape.tiles * shape.given))
        self.seen = low.room("f32", (*self.dims, library.lanes()))  # sums of all results of a unit: numbers, or not
        others = [m for h in (bias, addend) if h is not None for m in h.reads]
        self.reads = {x.memory: 0, self.filters.memory: 0, **dict.fromkeys(others, 0)}
        self.writes = {out.memory: 0, self.padded: 2, self.inputs: 2, self.products: 2, self.seen.memory: 2}
        self.work = PLACES * shape.images * shape.units * shape.tiles * shape.taken * shape.given

    def _own(self, low: Lowering, *dims: int) -> Memory:
        """Return memory that a unit has for itself."""
        return low.room("f32", (*self.dims, *dims)).memory

    def row(self, body: Body, at: Sequence[Index]) -> None:
        image, unit = at
        shape = self.shape
        first = body.times(unit, 2 * shape.rows)
        _padded(body, self.x, image, body.plus(first, -shape.top), shape.left, self.padded)
        body.forget()
        _transformed(shape, body, self.padded, 4, "of_inputs", self.inputs)
        with body.loop(PLACES) as place:
            a = _part(body, self.inputs, place.index, (shape.tiles, shape.taken))
            b = _part(body, self.filters.memory, place.index, (shape.taken, shape.given))
            out = _part(body, self.products, place.index, (shape.tiles, shape.given))
            matmul.multiply(body, a, matmul.Panels(b.memory, b.dims), out, self.wide)
        Vectors(body, library.lanes()).store("zeroinitializer", self.seen.pointer(body, [image, unit, 0]))
        self._results(body, image, first, unit)

    def _results(self, body: Body, image: Index, first: Index, unit: Index) -> None:
        """Write two rows of results for each row of tiles, one where the last is cut off."""
        shape = self.shape
        with body.loop(shape.rows) as i:
            here = body.plus(first, body.times(i.index, 2))
            if not shape.out_high % (2 * shape.rows):
                self._row(body, [image, unit], here, i.index, 2)
                return
            with body.when(body(f"icmp slt i64 {here}, {shape.out_high - 1}")):
                self._row(body, [image, unit], here, i.index, 2)
            if shape.out_high % 2:
                with body.when(body(f"icmp eq i64 {here}, {shape.out_high - 1}")):
                    self._row(body, [image, unit], here, i.index, 1)

    def _row(self, body: Body, at: list[Index], here: Index, i: Index, rows: int) -> None:
        shape = self.shape
        whole = shape.out_wide // 2
        if whole:
            with body.loop(whole) as j:
                self._tile(body, at, here, i, j.index, (rows, 2))
        if shape.out_wide % 2:
            self._tile(body, at, here, i, whole, (rows, 1))

    def _tile(self, body: Body, place: list[Index], here: Index, i: Index, j: Index, size: tuple[int, int]) -> None:
        shape = self.shape
        v = Vectors(body, library.lanes())
        number = body.plus(body.times(i, shape.across), j)
        with body.loop(shape.given, v.lanes) as c:
            at = body.plus(body.times(number, shape.given), c.index)
            apart_by = self.products.dims[-1]
            found = [v.load(_pointer(body, self.products, k * apart_by, at)) for k in range(PLACES)]
            square = both_ways(v.of_products, [found[4 * y : 4 * y + 4] for y in range(4)])
            self._look(v, square, place)
            for y in range(size[0]):
                for x in range(size[1]):
                    index = [place[0], body.plus(here, y), body.plus(body.times(j, 2), x), c.index]
                    v.store(self._finished(v, square[y][x], index), self.out.pointer(body, index))

    def _look(self, v: Vectors, square: Sequence[Sequence[str]], unit: list[Index]) -> None:
        """Add the results of a tile to the unit's sums: an infinity or a NaN among its inputs has spread over it."""
        pointer = self.seen.pointer(v.body, [*unit, 0])
        (a, b), (c, d) = square
        v.store(v.plus(v.load(pointer), v.plus(v.plus(a, b), v.plus(c, d))), pointer)

    def _finished(self, v: Vectors, value: str, index: list[Index]) -> str:
        if self.bias is not None:
            value = v.plus(value, v.load(self.bias.pointer(v.body, index[-1:])))
        if self.addend is not None:
            value = v.plus(value, v.load(self.addend.pointer(v.body, index)))
        return v.above_zero(value) if self.relu else value


class Slopes(_Units):
    """The products of transformed inputs and gradients, summed over some of the images."""

    def __init__(self, low: Lowering, shape: Shape, x: Buffer, slope: Buffer, parts: int):
        self.shape, self.x, self.slope = shape, x, slope
        self.dims = (parts,)
        columns = 2 * shape.across
        own = lambda *dims: low.room("f32", (parts, *dims)).memory
        self.padded = own(2 * shape.rows + 2, columns + 2, shape.taken)
        self.padded_slope = own(2 * shape.rows, columns, shape.given)
        self.inputs = own(PLACES, apart(shape.tiles * shape.taken))
        self.slopes = own(PLACES, apart(shape.tiles * shape.given))
        self.sums = low.room("f32", (parts, PLACES, apart(shape.taken * shape.given)))
        self.reads = {x.memory: 0, slope.memory: 0}
        rooms = (self.padded, self.padded_slope, self.inputs, self.slopes)
        self.writes = {**dict.fromkeys(rooms, 1), self.sums.memory: 0}
        self.work = PLACES * shape.images * shape.units * shape.tiles * shape.taken * shape.given

    def row(self, body: Body, at: Sequence[Index]) -> None:
        (part,) = at
        shape = self.shape
        sums = _sums_of(body, self.sums, part)
        v = Vectors(body, library.lanes())
        with body.loop(PLACES) as place, body.loop(shape.taken * shape.given, v.lanes) as i:
            v.store("zeroinitializer", _pointer(body, sums, body.times(place.index, sums.dims[-1]), i.index))
        ends = [self._image(body, part), self._image(body, body.plus(part, 1))]
        with body.loop(ends[1], start=ends[0]) as image, body.loop(shape.units) as unit:
            self._unit(body, image.index, unit.index, sums)

    def _image(self, body: Body, part: Index) -> Index:
        """Return the first image of a part."""
        return body(f"udiv i64 {body.times(part, self.shape.images)}, {self.dims[0]}")

    def _unit(self, body: Body, image: Index, unit: Index, sums: Memory) -> None:
        shape = self.shape
        first = body.times(unit, 2 * shape.rows)
        _padded(body, self.x, image, body.plus(first, -shape.top), shape.left, self.padded)
        body.forget()
        _transformed(shape, body, self.padded, 4, "of_inputs", self.inputs)
        _padded(body, self.slope, image, first, 0, self.padded_slope)
        body.forget()
        _transformed(shape, body, self.padded_slope, 2, "of_slopes", self.slopes)
        with body.loop(PLACES) as place:
            a = _part(body, self.inputs, place.index, (shape.taken, shape.tiles), (1, shape.taken))
            b = _part(body, self.slopes, place.index, (shape.tiles, shape.given))
            out = _part(body, sums, place.index, (shape.taken, shape.given))
            matmul.multiply(body, a, b, out, 2 * library.lanes(), add=True)


def _sums_of(body: Body, sums: Buffer, part: Index) -> Memory:
    pointer = sums.pointer(body, [part, 0, 0])
    return Memory("f32", sums.dims[1:], pointer)


class FromSlopes(_Units):
    """What the parts have summed up, as the gradient of the filter."""

    def __init__(self, slopes: Slopes, out: Buffer):
        self.parts, self.sums, self.out = slopes.dims[0], slopes.sums, out
        self.dims = out.dims[2:]
        self.reads, self.writes = {self.sums.memory: 0}, {out.memory: 0}
        self.work = self.dims[0] * self.dims[1] * 20 * self.parts

    def row(self, body: Body, at: Sequence[Index]) -> None:
        v = Vectors(body, library.lanes())
        (i,) = at
        with body.loop(self.dims[1], v.lanes) as c:
            found = [self._total(v, place, body.plus(body.times(i, self.dims[1]), c.index)) for place in range(PLACES)]
            square = both_ways(v.to_filters, [found[4 * y : 4 * y + 4] for y in range(4)])
            for y in range(3):
                for x in range(3):
                    v.store(square[y][x], self.out.pointer(body, [y, x, i, c.index]))

    def _total(self, v: Vectors, place: int, at: Index) -> str:
        values = [v.load(self.sums.pointer(v.body, [part, place, at])) for part in range(self.parts)]
        total = values[0]
        for other in values[1:]:
            total = v.plus(total, other)
        return total
