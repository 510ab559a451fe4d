"""What goes along an axis step by step: running sums, where the largest stands, whether all or any hold."""

from __future__ import annotations

from typing import Any

from ebbflow.engines.native import preconditions
from ebbflow.engines.native.lowering import Lowering, Refused, kind_of, lowers
from ebbflow.engines.native.lowerings.elementwise import cast
from ebbflow.engines.native.lowerings.structure import known
from ebbflow.engines.native.nest_steps import Block, start
from ebbflow.engines.native.text import TYPES, Body, Index
from ebbflow.engines.native.values import Held, Lazy, Num, size_of


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
