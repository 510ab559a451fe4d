"""Products of small matrices, in registers.

A block of rows times a few vectors of columns is summed up in registers while the loop runs along the inner axis; each
turn takes one vector of the right matrix per column block and one number of the left per row. The last vector of a row
may be narrower. A right matrix that lies the other way round is turned first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.engines.native import library, preconditions, threads
from ebbflow.engines.native.lowering import Lowering, Refused, lowers
from ebbflow.engines.native.lowerings.structure import transposed
from ebbflow.engines.native.nest_steps import Block, Step
from ebbflow.engines.native.text import TYPES, WIDTH, Body, Index
from ebbflow.engines.native.values import Buffer, Held, Memory, size_of

PARTED = 1 << 20
"""Multiplications from which on the columns of a product are divided among threads."""

WORTH_PACKING = 16
FAR = 1 << 14
"""Rows of the left matrix, and elements of the right one, from which on that is put into panels."""

TURNED = 8
"""A matrix is transposed in blocks of this many rows and columns."""


@lowers("MatMul", where=preconditions.product)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    a, b = (low.in_memory(h) for h in held)
    if node.attrs["transpose_a"]:
        a = transposed(a, [1, 0])  # type: ignore[assignment]
    if node.attrs["transpose_b"]:
        b = transposed(b, [1, 0])  # type: ignore[assignment]
    out = low.target(node.outputs[0])
    product(low, a, b, out)
    return out


@lowers("BatchMatMulV2", "BatchMatMul", where=preconditions.product)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    a, b = (low.in_memory(h) for h in held)
    rank = len(a.dims)
    if rank < 3 or a.dims[:-2] != b.dims[:-2]:
        raise Refused("products of many matrices are lowered where there are as many on both sides")
    swap = [*range(rank - 2), rank - 1, rank - 2]
    a = transposed(a, swap) if node.attrs["adj_x"] else a  # type: ignore[assignment]
    b = transposed(b, swap) if node.attrs["adj_y"] else b  # type: ignore[assignment]
    out = low.target(node.outputs[0])
    product(low, a, b, out)
    return out


def _matrix(body: Body, held: Buffer, at: list[Index]) -> Buffer:
    """Return one matrix of many."""
    pointer = held.pointer(body, [*at, 0, 0])
    return Buffer(Memory(held.kind, held.dims[-2:], pointer), held.dims[-2:], held.strides[-2:])


def product(low: Lowering, a: Buffer, b: Buffer, out: Buffer) -> None:
    """Write a @ b to `out`, matrix by matrix."""
    if a.kind[0] != "f":
        raise Refused("products are lowered for floats")
    k, n = a.dims[-1], b.dims[-1]
    if not k:
        raise Refused("a product over nothing")
    if not size_of(out.dims):
        return
    if len(b.dims) == 2 and a.dims[0] >= WORTH_PACKING and size_of(b.dims) >= FAR:
        b = _packed(low, b, _columns(a, b))
    elif b.strides[-1] != 1 and n > 1:  # a step of its own: of what a loop does not change it is done before
        b, lying = low.room(b.kind, b.dims), b
        low.steps.append(Block(_each(turn, lying, b), [lying], [b], size_of(b.dims)))
    low.steps.append(Product(a, b, out))


class Product(Step):
    """Products of matrices, which may be many."""

    dims = ()

    def __init__(self, a: Buffer, b: Buffer, out: Buffer):
        self.a, self.b, self.out = a, b, out
        self.work = size_of(out.dims) * a.dims[-1]
        self.reads = dict.fromkeys(b.reads, 0) | dict(a.reads)
        self.writes = {out.memory: out.depth}
        if a.memory is b.memory:
            self.reads[a.memory] = 0
        if out.row is not None:
            self.reads |= dict.fromkeys(out.row[0].reads, 0)
        self.wide = _columns(a, b)

    def whole(self, body: Body) -> None:
        _each(self._multiply, self.a, self.b, self.out)(body)

    @property
    def rows(self) -> int:
        return self.a.dims[0] if len(self.a.dims) == 2 else 0

    def some(self, body: Body, begin: Index, count: int) -> None:
        a, out = (_rows_of(body, x, begin, count) for x in (self.a, self.out))
        multiply(body, a, self.b, out, self.wide)

    def _multiply(self, body: Body, a: Buffer, b: Buffer, out: Buffer) -> None:
        """Write the product of two matrices; many columns are divided among threads."""
        n, wide = b.dims[1], self.wide
        whole = n // wide
        if whole > 1 and a.dims[0] * a.dims[1] * n >= PARTED and threads.count() > 1:
            _parted(body, a, b, out, whole, wide)
            if n % wide:
                _panel(body, a, b, out, (whole * wide, n % wide))
        else:
            multiply(body, a, b, out, wide)


def multiply(body: Body, a: Buffer, b: Buffer, out: Buffer, wide: int, add: bool = False) -> None:
    """Write the product of two matrices, that many columns at a time; `add` to what is there."""
    for left, count, columns in blocks(b.dims[1], wide):
        with body.loop(left + count * columns, columns, start=left) as j:
            _panel(body, a, b, out, (j.index, columns), add)


def _rows_of(body: Body, held: Buffer, begin: Index, count: int) -> Buffer:
    dims = (count, *held.dims[1:])
    return Buffer(Memory(held.kind, dims, held.pointer(body, [begin, 0])), dims, held.strides)


class Panels(Buffer):
    """A matrix cut into panels of some columns, each of which lies in memory row by row."""

    __slots__ = ()


def _packed(low: Lowering, b: Buffer, wide: int) -> Panels:
    """Return a matrix in panels: rows that lie far from each other would drive each other out of the cache."""
    room = low.room(b.kind, b.dims)
    k, n = b.dims

    def write(body: Body) -> None:
        for left, count, stride in blocks(n, wide):
            with body.loop(left + count * stride, stride, start=left) as j:
                part = Memory(b.kind, (k, stride), b.pointer(body, [0, j.index]))
                place = Memory(b.kind, (k, stride), body.pointer(room.memory.pointer, b.kind, body.times(j.index, k)))
                turn(body, Buffer(part, (k, stride), b.strides), Buffer(place, (k, stride)))

    low.steps.append(Block(write, [b], [room], size_of(b.dims)))
    return Panels(room.memory, b.dims)


def _each(write: Callable[..., None], *matrices: Buffer) -> Callable[[Body], None]:
    """Return what writes code for each matrix of many."""

    def written(body: Body) -> None:
        with body.loops(matrices[0].dims[:-2]) as at:
            write(body, *(_matrix(body, m, at) if at else m for m in matrices))

    return written


def _lanes(kind: str) -> tuple[int, int]:
    """Return how many numbers a register holds, and how many registers sums may take."""
    lanes = library.lanes() * 4 // WIDTH[kind]
    return lanes, 24 if lanes * WIDTH[kind] == 64 else 12


def _columns(a: Buffer, b: Buffer) -> int:
    """Return how many columns are computed at a time: few enough to stay in the nearest cache for all rows."""
    lanes, registers = _lanes(a.kind)
    return min(-(-b.dims[1] // lanes), max(registers // a.dims[0], 2)) * lanes


def _panel(body: Body, a: Buffer, b: Buffer, out: Buffer, j: tuple[Index, int], add: bool = False) -> None:
    """Write some columns of a product, for all rows."""
    lanes, registers = _lanes(a.kind)
    m = a.dims[0]
    most = max(registers // -(-j[1] // lanes), 1)
    for first, count, step in blocks(m, -(-m // -(-m // most))):
        with body.loop(first + count * step, step, start=first) as i:
            _block(body, a, b, out, (i.index, step), j, lanes, add)


def _parted(body: Body, a: Buffer, b: Buffer, out: Buffer, whole: int, wide: int) -> None:
    """Have threads compute the columns."""
    name, inside = body.label("p"), Body()
    matrices = [a, b, out]
    pointers = [x.pointer(body, [0, 0]) for x in matrices]
    given = [type(x)(Memory(x.kind, x.dims, f"%x{i}"), x.dims, x.strides) for i, x in enumerate(matrices)]
    with inside.loop("%end", wide, start="%begin") as j:
        _panel(inside, *given, (j.index, wide))  # type: ignore[arg-type,call-arg]
    taken = ", ".join(f"ptr noalias %x{i}" for i in range(3))
    body.functions += [inside.function(f"void @work{name}", f"{taken}, i64 %me, i64 %begin, i64 %end")]
    body.functions += threads.parted(name, 3, whole * wide, wide)
    body.needs |= inside.needs
    patience = threads.SLOWEST * out.dims[0] * out.dims[1] * a.dims[1]
    threads.call(body, name, pointers, threads.count(), patience)


def blocks(total: int, size: int) -> list[tuple[int, int, int]]:
    """Return (start, number, size) of equal blocks and what is left."""
    whole, rest = divmod(total, size)
    return [part for part in ((0, whole, size), (whole * size, 1, rest)) if part[1] * part[2]]


def _block(
    body: Body,
    a: Buffer,
    b: Buffer,
    out: Buffer,
    i: tuple[Index, int],
    j: tuple[Index, int],
    lanes: int,
    add: bool,
) -> None:
    t, width = TYPES[a.kind], WIDTH[a.kind]
    columns = [(at, min(lanes, j[1] - at)) for at in range(0, j[1], lanes)]  # the last may be narrower
    places = [
        (f"<{n} x {t}>", out.pointer(body, [body.plus(i[0], r), body.plus(j[0], at)]))
        for r in range(i[1])
        for at, n in columns
    ]
    begin = [body(f"load {v}, ptr {p}, align {width}") if add else "zeroinitializer" for v, p in places]
    with body.loop(a.dims[1], carried=[(v, s) for (v, _), s in zip(places, begin, strict=True)]) as loop:
        parts = []
        for at, n in columns:
            pointer = _right(body, b, loop.index, j, at)
            parts.append(body(f"load <{n} x {t}>, ptr {pointer}, align {width}"))
        for r in range(i[1]):
            one = a.load(body, [body.plus(i[0], r), loop.index])
            for (_, n), part in zip(columns, parts, strict=True):
                before = loop.carried[len(loop.next)]
                loop.next.append(_fma(body, a.kind, n, one, part, before))
    for (v, pointer), total in zip(places, loop.carried, strict=True):
        body.do(f"store {v} {total}, ptr {pointer}, align {width}")


def _right(body: Body, b: Buffer, k: Index, j: tuple[Index, int], at: int) -> str:
    """Return a pointer to the columns from `at` on, of those at hand, in a row of the right matrix."""
    if not isinstance(b, Panels):
        return b.pointer(body, [k, body.plus(j[0], at)])
    panel, row = body.times(j[0], b.dims[0]), body.plus(body.times(k, j[1]), at)
    return body.pointer(b.memory.pointer, b.kind, body.plus(panel, row))


def _fma(body: Body, kind: str, n: int, one: str, part: str, before: str) -> str:
    """Return a number times a vector plus a vector."""
    vector = f"<{n} x {TYPES[kind]}>"
    body.needs.add((f"fma.v{n}", kind))

    def spread() -> str:
        first = body(f"insertelement {vector} poison, {TYPES[kind]} {one}, i64 0")
        return body(f"shufflevector {vector} {first}, {vector} poison, <{n} x i32> zeroinitializer")

    many = body.once(("spread", one, n), spread)
    return body(f"call {vector} @llvm.fma.v{n}{kind}({vector} {many}, {vector} {part}, {vector} {before})")


def turn(body: Body, b: Buffer, out: Buffer) -> None:
    """Write a matrix whose columns lie in memory one after the other so that its rows do."""
    k, n = b.dims
    square = b.strides[0] == 1 and b.kind == "f32"
    whole_k, whole_n = (k - k % TURNED, n - n % TURNED) if square else (0, 0)
    if whole_k and whole_n:
        with body.loop(whole_n, TURNED) as j, body.loop(whole_k, TURNED) as i:
            _turn(body, b, out, i.index, j.index)
    for begin, sizes in (([whole_k, 0], [k - whole_k, n]), ([0, whole_n], [whole_k, n - whole_n])):
        if size_of((sizes[0], sizes[1])):
            with body.loops(sizes) as at:
                place = [body.plus(b, x) for b, x in zip(begin, at, strict=True)]
                out.store(body, place, b.load(body, place))


def _turn(body: Body, b: Buffer, out: Buffer, i: Index, j: Index) -> None:
    """Turn one square block: pairs of vectors exchange ever larger halves."""
    vector = f"<{TURNED} x float>"
    rows = [body(f"load {vector}, ptr {b.pointer(body, [i, body.plus(j, c)])}, align 4") for c in range(TURNED)]
    half = TURNED // 2
    while half:
        for r in range(TURNED):
            if not r & half:
                low_, high = rows[r], rows[r + half]
                lower = [(x & ~half) + (TURNED if x & half else 0) for x in range(TURNED)]
                upper = [(x | half) + (TURNED if x & half else 0) for x in range(TURNED)]
                rows[r], rows[r + half] = (_shuffled(body, vector, low_, high, m) for m in (lower, upper))
        half //= 2
    for r in range(TURNED):
        body.do(f"store {vector} {rows[r]}, ptr {out.pointer(body, [body.plus(i, r), j])}, align 4")


def _shuffled(body: Body, vector: str, a: str, b: str, picks: list[int]) -> str:
    mask = f"<{TURNED} x i32> <{', '.join(f'i32 {p}' for p in picks)}>"
    return body(f"shufflevector {vector} {a}, {vector} {b}, {mask}")
