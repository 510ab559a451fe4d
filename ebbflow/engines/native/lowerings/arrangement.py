"""Arrays put together from others: repeated, padded, mirrored, turned round, picked out, cut along a diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.engines.native import preconditions
from ebbflow.engines.native.alarms import inside
from ebbflow.engines.native.lowering import Lowering, Refused, kind_of, lowers
from ebbflow.engines.native.lowerings.elementwise import cast
from ebbflow.engines.native.lowerings.reductions import guard_range
from ebbflow.engines.native.lowerings.structure import at_counter, known, reshaped, sliced, viewed
from ebbflow.engines.native.nest_steps import Block
from ebbflow.engines.native.text import Body, Index
from ebbflow.engines.native.values import Buffer, Dims, Held, Lazy, Num, contiguous, reads_of, size_of


@lowers("Tile")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    times = [int(n) for n in known(node, 1)]
    dims = tuple(node.outputs[0].dims)
    if not size_of(dims):
        return low.full(0, held[0].kind, dims)
    out = _room_of(low, node.outputs[0])
    apart = tuple(n for pair in zip(times, held[0].dims, strict=True) for n in pair)  # which copy, and where in it
    again = viewed(held[0], apart, lambda body, index: list(index[1::2]))
    low.write(out.viewed(apart, contiguous(apart)), again)
    return out


def _room_of(low: Lowering, value: Any) -> Buffer:
    return low._targets.get(value) or low.room(kind_of(value), tuple(value.dims))


@lowers("Pad", "PadV2")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    begin = [int(before) for before, _ in known(node, 1).reshape(-1, 2)]
    x, dims, kind = held[0], tuple(node.outputs[0].dims), held[0].kind
    value = held[2] if node.op.name == "PadV2" else low.full(0, kind, ())
    out = _room_of(low, node.outputs[0])
    low.write(out, viewed(value, dims, lambda body, index: []))
    if size_of(x.dims):
        place = sliced(out, begin, x.dims, [1] * len(dims))
        assert isinstance(place, Buffer)
        low.write(place, x)
    return out


@lowers("MirrorPad")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    pairs = [(int(before), int(after)) for before, after in known(node, 1).reshape(-1, 2)]
    edge = int(node.attrs["mode"] == "REFLECT")  # the outermost element is not repeated
    found = held[0]
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            n = found.dims[axis]
            parts = [_along(found, axis, before - 1 + edge, before, -1), found]
            parts.append(_along(found, axis, n - 1 - edge, after, -1))
            found = _joined(low, parts, axis)
    return found


def _along(held: Held, axis: int, begin: int, count: int, step: int) -> Held:
    """Return that many elements along an axis."""
    rank = range(len(held.dims))
    return sliced(
        held,
        [begin if i == axis and count else 0 for i in rank],
        [count if i == axis else held.dims[i] for i in rank],
        [step if i == axis else 1 for i in rank],
    )


def _joined(low: Lowering, parts: Sequence[Held], axis: int) -> Buffer:
    """Return arrays one after the other along an axis, in memory of their own."""
    first = parts[0].dims
    dims = (*first[:axis], sum(p.dims[axis] for p in parts), *first[axis + 1 :])
    out = low.room(parts[0].kind, dims)
    at = 0
    for part in parts:
        if size_of(part.dims):
            place = sliced(out, [at if i == axis else 0 for i in range(len(dims))], part.dims, [1] * len(dims))
            assert isinstance(place, Buffer)
            low.write(place, part)
        at += part.dims[axis]
    return out


@lowers("ReverseV2")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    x = held[0]
    turned = {int(a) % len(x.dims) for a in known(node, 1).reshape(-1)}
    begin = [max(n - 1, 0) if i in turned else 0 for i, n in enumerate(x.dims)]
    return sliced(x, begin, x.dims, [-1 if i in turned else 1 for i in range(len(x.dims))])


@lowers("ReverseSequence")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    x, lengths = held
    along, batch = node.attrs["seq_dim"], node.attrs["batch_dim"]
    lengths = guard_range(low, lengths, x.dims[along] + 1, node.inputs[1])
    table = low.in_memory(x)

    def element(body: Body, index: Sequence[Index]) -> str:
        step, end = (Num(body, "i64", str(at)) for at in (index[along], _row(body, lengths, [index[batch]])))
        place = (step < end).where(end - 1 - step, step).name
        return table.look(body, [place if i == along else at for i, at in enumerate(index)])

    reads = dict.fromkeys({**table.reads, **lengths.reads}, 0)
    return Lazy(table.kind, x.dims, element, reads, lengths.cost + 2)


@lowers("Select")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    condition, yes, no = held
    if len(condition.dims) == 1 and len(yes.dims) > 1:  # a row for each
        condition = reshaped(low, condition, (*condition.dims, *[1] * (len(yes.dims) - 1)))
    return low.map(lambda c, t, e: c.where(t, e), condition, yes, no, kind=yes.kind)


# --- picking out ------------------------------------------------------------------------------------------------------


@lowers("GatherV2", "Gather")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    params, indices = held[:2]
    axis = int(known(node, 2)) % len(params.dims) if node.op.name == "GatherV2" else 0
    batch = int(node.attrs.get("batch_dims", 0))
    batch += len(indices.dims) if batch < 0 else 0
    if not indices.dims and _stays_within(low, node.inputs[1], params.dims[axis]):
        return at_counter(low, params, axis, node.inputs[1])
    indices = guard_range(low, indices, params.dims[axis], node.inputs[1])
    end = axis + len(indices.dims) - batch
    table = low.in_memory(params)

    def element(body: Body, index: Sequence[Index]) -> str:
        row = _row(body, indices, [*index[:batch], *index[axis:end]])
        return table.look(body, [*index[:axis], row, *index[end:]])

    reads = dict.fromkeys({**table.reads, **indices.reads}, 0)
    return Lazy(table.kind, tuple(node.outputs[0].dims), element, reads, indices.cost + 1)


def _stays_within(low: Lowering, value: Any, count: int) -> bool:
    """Return whether counters of a loop say that an index is one of so many places."""
    least, most = low.ranges.get(value, (-1, -1))
    return 0 <= least <= most < count


def _row(body: Body, indices: Held, index: Sequence[Index]) -> Index:
    return cast(Num(body, indices.kind, indices.load(body, index)), "i64").name


@lowers("GatherNd")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    params, indices = held
    count, led = indices.dims[-1], len(indices.dims) - 1
    indices = guard_places(low, indices, params.dims[:count], node.inputs[1])
    table = low.in_memory(params)

    def element(body: Body, index: Sequence[Index]) -> str:
        rows = [_row(body, indices, [*index[:led], i]) for i in range(count)]
        return table.look(body, [*rows, *index[led:]])

    reads = dict.fromkeys({**table.reads, **indices.reads}, 0)
    return Lazy(table.kind, tuple(node.outputs[0].dims), element, reads, indices.cost * max(count, 1) + 1)


def guard_places(low: Lowering, indices: Held, dims: Dims, value: Any) -> Held:
    """Refuse to run where a row of indices is no place in an array of these dims; return the indices to take."""
    if low.alarm is not None and value.known is None and dims:
        return inside(low, indices, low.constant(np.array(dims, np.int64), "i64"))
    for i, n in enumerate(dims):
        begin, sizes = [0] * (len(indices.dims) - 1) + [i], [*indices.dims[:-1], 1]
        column = sliced(indices, begin, sizes, [1] * len(sizes))
        guard_range(low, column, n, value, i)
    return indices


@lowers("ScatterNd", "UnsortedSegmentSum")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    nd = node.op.name == "ScatterNd"
    indices, data = (held[0], held[1]) if nd else (held[1], held[0])
    value = node.inputs[0 if nd else 1]
    out = low.room(data.kind, tuple(node.outputs[0].dims))
    led = len(indices.dims) - nd
    if nd:
        indices = guard_places(low, indices, out.dims[: indices.dims[-1]], value)
    else:
        indices = guard_range(low, indices, out.dims[0], value)
    data = low.in_memory(data) if isinstance(data, Lazy) and data.cost > 4 else data
    low.write(out, low.full(0, data.kind, out.dims))

    def write(body: Body) -> None:
        with body.loops(data.dims) as index:
            places = [[*index[:led], i] for i in range(indices.dims[-1])] if nd else [index[:led]]
            rows = [0 if n == 1 else _row(body, indices, at) for n, at in zip(out.dims, places, strict=False)]
            place = [*rows, *index[led:]]
            total = Num(body, data.kind, out.look(body, place)) + Num(body, data.kind, data.load(body, index))
            out.store(body, place, total.name)

    if size_of(data.dims):
        low.steps.append(Block(write, [indices, data], [out], size_of(data.dims) * 2))
    return out


# --- diagonals --------------------------------------------------------------------------------------------------------


def _number(body: Body, index: Index) -> Num:
    return Num(body, "i64", str(index))


@lowers("MatrixBandPart", where=preconditions.band)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    x, (lower, upper) = held[0], (int(known(node, i)) for i in (1, 2))
    if lower > x.dims[-2] or upper > x.dims[-1]:
        raise Refused("a band wider than the matrix is an error, which the kernel tells")
    lower, upper = (size_of(x.dims) if n < 0 else n for n in (lower, upper))

    def element(body: Body, index: Sequence[Index]) -> str:
        above = _number(body, index[-1]) - _number(body, index[-2])
        inside = above.compare("le", upper) & above.compare("ge", -lower)
        return inside.where(Num(body, x.kind, x.load(body, index)), 0).name

    return Lazy(x.kind, x.dims, element, reads_of([x], x.dims), x.cost + 2)


@lowers("MatrixDiagPart", "MatrixDiagPartV3", where=preconditions.main_diagonal)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    _need_main_diagonal(node)
    x = held[0]
    n = min(x.dims[-2:])
    if isinstance(x, Buffer):
        return x.viewed((*x.dims[:-2], n), (*x.strides[:-2], x.strides[-2] + x.strides[-1]))
    return viewed(x, (*x.dims[:-2], n), lambda body, index: [*index, index[-1]])


@lowers("MatrixDiag", "MatrixDiagV3", where=preconditions.square)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    _need_main_diagonal(node)
    x, dims = held[0], tuple(node.outputs[0].dims)
    if dims != (*x.dims, x.dims[-1]):
        raise Refused("a diagonal is put into a square matrix")
    padding = held[4] if len(held) > 4 else low.full(0, x.kind, ())

    def element(body: Body, index: Sequence[Index]) -> str:
        on = _number(body, index[-1]).compare("eq", _number(body, index[-2]))
        values = (Num(body, x.kind, h.load(body, i)) for h, i in ((x, index[:-1]), (padding, [])))
        return on.where(*values).name

    return Lazy(x.kind, dims, element, dict.fromkeys({**x.reads, **padding.reads}, 0), x.cost + 2)


def _need_main_diagonal(node: Any) -> None:
    if len(node.inputs) > 1 and known(node, 1).any():
        raise Refused("the diagonal in the middle is lowered")
