"""What goes along an axis step by step: running sums, where the largest stands, whether all or any hold."""

from __future__ import annotations

from typing import Any

from ebbflow.engines.native import preconditions
from ebbflow.engines.native.lowering import KINDS, Lowering, Refused, kind_of, lowers
from ebbflow.engines.native.lowerings.elementwise import cast
from ebbflow.engines.native.lowerings.structure import known
from ebbflow.engines.native.nest_steps import Block, start
from ebbflow.engines.native.text import TYPES, Body, Index
from ebbflow.engines.native.values import Held, Lazy, Num, size_of

FEW = 16
"""So many of a row are found by keeping them in order; for more, sorting is quicker."""


def _axes(low: Lowering, node: Any, held: Held) -> list[int]:
    return sorted({int(a) % len(held.dims) for a in known(node, 1).reshape(-1)}) if held.dims else []


def _cheap(low: Lowering, held: Held) -> Held:
    """Return an array whose elements may be read in any order, more than once."""
    return low.in_memory(held) if isinstance(held, Lazy) and held.cost > 4 else held


@lowers("Cumsum", "Cumprod", serial=True)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    x = _cheap(low, held[0])
    axis = int(known(node, 1)) % len(x.dims)
    out = low._targets.get(node.outputs[0]) or low.room(x.kind, x.dims)
    adds, n = node.op.name == "Cumsum", x.dims[axis]

    def write(body: Body) -> None:
        init = Num(body, x.kind, "")._like(int(not adds))
        with body.loops([m for i, m in enumerate(x.dims) if i != axis]) as around:
            index: list[Index] = [*around[:axis], 0, *around[axis:]]
            with body.loop(n, carried=[(TYPES[x.kind], init)]) as loop:
                index[axis] = body.plus(n - 1, body.times(loop.index, -1)) if node.attrs["reverse"] else loop.index
                before, here = (Num(body, x.kind, v) for v in (loop.carried[0], x.load(body, index)))
                after = before + here if adds else before * here
                out.store(body, index, (before if node.attrs["exclusive"] else after).name)
                loop.next = [after.name]

    if size_of(x.dims):
        low.steps.append(Block(write, [x], [out], size_of(x.dims) * 4))
    return out


@lowers("ArgMax", "ArgMin", serial=True, where=lambda node: not node.inputs[0].dtype.is_bool)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    x = held[0]
    if x.kind == "bool":
        raise Refused("which is the largest is asked of numbers")
    axis, kind, how = int(known(node, 1)) % len(x.dims), kind_of(node.outputs[0]), node.op.name[3:].lower()
    out = low.room(kind, tuple(node.outputs[0].dims))

    def write(body: Body) -> None:
        with body.loops(out.dims) as around:
            index: list[Index] = [*around[:axis], 0, *around[axis:]]
            with body.loop(x.dims[axis], carried=[(TYPES[x.kind], start(how, x.kind)), ("i64", "0")]) as loop:
                index[axis] = loop.index
                best, here = (Num(body, x.kind, v) for v in (loop.carried[0], x.load(body, index)))
                better = here > best if how == "max" else here < best  # never of NaN
                place = better.where(*(Num(body, "i64", str(v)) for v in (loop.index, loop.carried[1])))
                loop.next = [better.where(here, best).name, place.name]
            out.store(body, around, cast(Num(body, "i64", loop.carried[1]), kind).name)

    if size_of(out.dims):
        low.steps.append(Block(write, [x], [out], size_of(x.dims) * max(x.cost, 2)))
    return out


def _has_few_places(node: Any) -> bool:
    """Return whether a few are asked for, of numbers and in indices that there are kinds for."""
    return int(node.inputs[1].known) <= FEW and {v.dtype.name for v in (*node.inputs[:1], *node.outputs)} <= {*KINDS}


@lowers("TopKV2", serial=True, where=_has_few_places)
def _(low: Lowering, node: Any, held: list[Held]) -> list[Held]:
    x, count = _cheap(low, held[0]), int(known(node, 1))
    values, places = (low.target(value) for value in node.outputs)

    def write(body: Body) -> None:
        with body.loops(x.dims[:-1]) as row, body.loop(x.dims[-1]) as loop:
            here = Num(body, x.kind, x.load(body, [*row, loop.index]))
            early = body(f"icmp slt i64 {loop.index}, {count}")
            last = Num(body, x.kind, values.load(body, [*row, count - 1]))
            with body.when(body(f"or i1 {early}, {_comes_before(body, here, last)}")):
                _insert(body, here, loop.index, (values, places), row, count)

    if count and size_of(x.dims):
        low.steps.append(Block(write, [x], [values, places], size_of(x.dims) * 4))
    return [values, places]


def _insert(body: Body, here: Num, at: Index, out: tuple[Any, Any], row: list[Index], count: int) -> None:
    """Put a number among the best so far, of which there are no more than numbers before it; the last one goes."""
    values, places = out
    carried = [(TYPES[here.kind], here.name), ("i64", str(at)), ("i1", "false")]
    with body.loop(count, carried=carried) as loop:
        number, place = Num(body, here.kind, loop.carried[0]), Num(body, "i64", loop.carried[1])
        index = [*row, loop.index]
        best = Num(body, here.kind, values.load(body, index))
        best_place = cast(Num(body, places.kind, places.load(body, index)), "i64")
        free = body(f"icmp sge i64 {loop.index}, {at}")
        better = body(f"or i1 {free}, {_comes_before(body, number, best)}")
        moves = Num(body, "bool", body(f"or i1 {better}, {loop.carried[2]}"))  # behind it all move on
        values.store(body, index, moves.where(number, best).name)
        places.store(body, index, cast(moves.where(place, best_place), places.kind).name)
        loop.next = [moves.where(best, number).name, moves.where(best_place, place).name, moves.name]


def _comes_before(body: Body, a: Num, b: Num) -> str:
    """Return whether a number is larger; no number (NaN) is the largest of all, as NumPy sorts."""
    larger = (a > b).name
    if a.kind[0] != "f":
        return larger
    odd, sound = (body(f"fcmp {how} {TYPES[a.kind]} {x.name}, {x.name}") for how, x in (("uno", a), ("ord", b)))
    return body(f"or i1 {larger}, {body(f'and i1 {odd}, {sound}')}")


@lowers("All", "Any")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    axes = _axes(low, node, held[0])
    if not axes:
        return held[0]
    every = node.op.name == "All"
    against = low.map(lambda x: cast(~x if every else x, "i32"), held[0], kind="i32")
    count = low.reduce("sum", against, axes, bool(node.attrs["keep_dims"]))
    return low.map(lambda n: n.compare("eq" if every else "ne", 0), count, kind="bool")


@lowers("EuclideanNorm", where=preconditions.floats)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    if held[0].kind[0] != "f":
        raise Refused("lengths are lowered for floats")
    squares = low.map(lambda x: x * x, held[0])
    axes = _axes(low, node, held[0])
    total: Held = low.reduce("sum", squares, axes, bool(node.attrs["keep_dims"])) if axes else squares
    return low.map(lambda s: s.call("sqrt"), total, cost=4)
