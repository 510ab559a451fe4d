"""Ops that only say which element stands where: reshapes, transposes, slices, parts put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.engines.native import preconditions
from ebbflow.engines.native.alarms import inside
from ebbflow.engines.native.lowering import Lowering, Refused, kind_of, lowers
from ebbflow.engines.native.lowerings.elementwise import cast
from ebbflow.engines.native.text import Body, Index
from ebbflow.engines.native.values import (
    Buffer,
    Dims,
    Held,
    Lazy,
    Num,
    aligned,
    contiguous,
    limited,
    shared_axes,
    size_of,
)
from ebbflow.ops.arrays.slicing import MASK_NAMES, entries, numpy_index


def viewed(held: Held, dims: Dims, where: Callable[[Body, Sequence[Index]], list[Index]], depth: int = 0) -> Lazy:
    """Return an array whose element at an index is another's elsewhere; `depth` leading axes are passed on."""
    element = lambda body, index: held.load(body, where(body, index))
    return Lazy(held.kind, dims, element, limited(held.reads, depth), held.cost)


@lowers("Identity", "StopGradient", "PreventGradient", "Snapshot", "EnsureShape")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    return held[0]


@lowers("IdentityN")
def _(low: Lowering, node: Any, held: list[Held]) -> list[Held]:
    return held


@lowers("Reshape", "ExpandDims", "Squeeze")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    return reshaped(low, held[0], tuple(node.outputs[0].dims))


def reshaped(low: Lowering, held: Held, dims: Dims) -> Held:
    """Return an array's elements, in order, in another shape."""
    if held.dims == dims:
        return held
    if isinstance(held, Buffer) and held.is_whole:
        return held.viewed(dims, contiguous(dims))
    if [n for n in held.dims if n != 1] != [n for n in dims if n != 1]:
        held = low.in_memory(held)
        if not held.is_whole:
            held = low.write(low.room(held.kind, held.dims), held)
        return held.viewed(dims, contiguous(dims))
    before = held.dims  # only axes of one element come or go
    if isinstance(held, Buffer):
        steps = iter([s for s, n in zip(held.strides, before, strict=True) if n != 1])
        return held.viewed(dims, tuple(1 if n == 1 else next(steps) for n in dims))

    def where(body: Body, index: Sequence[Index]) -> list[Index]:
        left = iter([i for i, n in zip(index, dims, strict=True) if n != 1])
        return [0 if n == 1 else next(left) for n in before]

    return viewed(held, dims, where, shared_axes(before, dims))


@lowers("Transpose")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    perm = [int(p) % len(held[0].dims) for p in known(node, 1)]
    return transposed(held[0], perm)


def transposed(held: Held, perm: Sequence[int]) -> Held:
    """Return an array with its axes in another order."""
    dims = tuple(held.dims[p] for p in perm)
    if isinstance(held, Buffer):
        return held.viewed(dims, tuple(held.strides[p] for p in perm))

    def where(body: Body, index: Sequence[Index]) -> list[Index]:
        found: list[Index] = [0] * len(perm)
        for i, p in zip(index, perm, strict=True):
            found[p] = i
        return found

    stay = next((i for i, p in enumerate(perm) if i != p), len(perm))
    return viewed(held, dims, where, stay)


@lowers("BroadcastTo", "Fill")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    value = held[1] if node.op.name == "Fill" else held[0]
    dims = tuple(node.outputs[0].dims)
    return viewed(value, dims, lambda body, index: aligned(index, value.dims))


@lowers("ZerosLike", "OnesLike")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    return low.full(int(node.op.name == "OnesLike"), kind_of(node.outputs[0]), tuple(node.outputs[0].dims))


@lowers("Cast", where=preconditions.cast)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    kind = kind_of(node.outputs[0])
    if not preconditions.LIMITS["Cast"](node):
        raise Refused("what becomes of floats that do not fit is left to NumPy")
    return low.map(lambda x: cast(x, kind), held[0], kind=kind)


# --- slices -----------------------------------------------------------------------------------------------------------


def sliced(held: Held, begin: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> Held:
    """Return every so-many-th element along each axis."""
    dims = tuple(sizes)
    if isinstance(held, Buffer):
        offset = sum(b * s for b, s in zip(begin, held.strides, strict=True))
        return held.viewed(dims, tuple(s * t for s, t in zip(held.strides, steps, strict=True)), offset)

    def where(body: Body, index: Sequence[Index]) -> list[Index]:
        return [body.plus(b, body.times(i, t)) for i, b, t in zip(index, begin, steps, strict=True)]

    stays = [(b, n, t if n > 1 else 1) == (0, m, 1) for b, n, t, m in zip(begin, dims, steps, held.dims, strict=True)]
    return viewed(held, dims, where, [*stays, False].index(False))


@lowers("Slice", where=preconditions.inside)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    begin = [int(b) for b in known(node, 1)]
    dims = tuple(node.outputs[0].dims)
    if any(not 0 <= b <= b + n <= m for b, n, m in zip(begin, dims, held[0].dims, strict=True)):
        raise Refused("a slice out of bounds is an error, which the kernel tells")
    return sliced(held[0], begin, dims, [1] * len(dims))


@lowers("StridedSlice")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    picked, moving = _picked(node, held[0].dims)
    found = held[0]
    for axis in sorted(moving, reverse=True):
        found = at_counter(low, found, axis, moving[axis])
    starts, sizes, steps, final = _taken(found.dims, picked)
    return reshaped(low, sliced(found, starts, sizes, steps), final)


@lowers("StridedSliceGrad")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    dims, kind = tuple(node.outputs[0].dims), kind_of(node.outputs[0])
    picked, moving = _picked(node, dims)
    if len(moving) > 1:
        raise Refused("two indices that are known only when it runs")
    out = low.room(kind, dims)
    low.write(out, low.full(0, kind, dims))
    place: Held = out
    for axis in moving:
        place = at_counter(low, out, axis, moving[axis])
    starts, sizes, steps, _ = _taken(place.dims, picked)
    if size_of(tuple(sizes)):
        place = sliced(place, starts, sizes, steps)
        assert isinstance(place, Buffer)
        low.write(place, reshaped(low, held[4], place.dims))
    return out


def _picked(node: Any, dims: Dims) -> tuple[list[Any], dict[int, Any]]:
    """Return what a slice takes, as NumPy's index with an item per axis (None for each new one), and apart from it
    the numbers that are indices and are known only when it runs, by axis.
    """
    masks = tuple(node.attrs[m] for m in MASK_NAMES)
    begin, end, strides = (_numbers(node, i) for i in (1, 2, 3))
    of_axis: dict[int, Any] = {}
    shrinks = MASK_NAMES.index("shrink_axis_mask")
    for axis, i in entries(len(dims), len(begin), masks[2], masks[3]):
        if i is None or axis is None or isinstance(begin[i], int):
            continue
        if not masks[shrinks] >> i & 1 or not dims[axis]:
            raise Refused("a slice whose begin is known only when it runs")
        of_axis[axis] = begin[i]
        begin[i], end[i] = 0, 1
    if not all(isinstance(n, int) for n in (*begin, *end, *strides)):
        raise Refused("a slice whose bounds are known only when it runs")
    bounds = [np.array(n, np.int64) for n in (begin, end, strides)]
    index = numpy_index(dims, bounds[0], bounds[1], bounds[2], masks)
    items = _spread(index, len(dims))
    places = [i for i, item in enumerate(items) if item is not None]
    gone = {places[axis] for axis in of_axis}
    return [item for i, item in enumerate(items) if i not in gone], of_axis


def _numbers(node: Any, i: int) -> list[Any]:
    """Return the numbers of a vector: one that is not the same in every run is the value that is it."""
    value = node.inputs[i]
    if value.known is not None:
        return np.asarray(value.known).tolist()
    if value.node is None or value.node.op.name != "Pack":
        raise Refused("an index that is known only when it runs")
    return [v if v.known is None else int(v.known) for v in value.node.inputs]


def _taken(dims: Dims, items: Sequence[Any]) -> tuple[list[int], list[int], list[int], Dims]:
    """Return where a slice begins along each axis, how many it takes, in which steps, and the shape of the result."""
    starts: list[Any] = []
    sizes: list[Any] = []
    steps: list[Any] = []
    final: list[Any] = []
    for item in items:
        if item is None:
            final.append(1)
            continue
        n = dims[len(starts)]
        taken = range(n)[item] if isinstance(item, slice) else range(n)[slice(int(item) % n, int(item) % n + 1)]
        starts.append(taken.start if len(taken) else 0)
        sizes.append(len(taken))
        steps.append(taken.step)
        if isinstance(item, slice):
            final.append(len(taken))
    return starts, sizes, steps, tuple(final)


def at_counter(low: Lowering, held: Held, axis: int, value: Any) -> Held:
    """Return what stands along an axis at an index that follows from the counters of a loop."""
    n = held.dims[axis]
    least, most = low.ranges.get(value, (0, n))
    number = low.held(value)
    if not (0 <= least <= most < n or -n <= least <= most < 0):
        if low.alarm is None:
            raise Refused("an index that is known only when it runs")
        number, most = inside(low, number, n), n
    if most < 0:
        number = low.map(lambda i: i + n, number)
    if isinstance(held, Buffer) and held.row is None:
        order = [axis, *[i for i in range(len(held.dims)) if i != axis]]
        front = held.viewed(tuple(held.dims[i] for i in order), tuple(held.strides[i] for i in order))
        return front.indexed(number, 0)

    def element(body: Body, at: Sequence[Index]) -> str:
        here = cast(Num(body, number.kind, number.load(body, [])), "i64").name
        return held.load(body, [*at[:axis], here, *at[axis:]])

    dims = (*held.dims[:axis], *held.dims[axis + 1 :])
    return Lazy(held.kind, dims, element, dict.fromkeys({**held.reads, **number.reads}, 0), held.cost + 1)


def _spread(index: tuple[Any, ...], rank: int) -> list[Any]:
    """Return a NumPy index with an item per axis (None for each new one)."""
    items = list(index)
    if not any(i is Ellipsis for i in items):
        items.append(Ellipsis)
    at = next(n for n, i in enumerate(items) if i is Ellipsis)
    rest = rank - sum(i is not None and i is not Ellipsis for i in items)
    return [*items[:at], *[slice(None)] * rest, *items[at + 1 :]]


@lowers("Split", "SplitV", "Unpack")
def _(low: Lowering, node: Any, held: list[Held]) -> list[Held]:
    name = node.op.name
    whole = held[1 if name == "Split" else 0]
    axis = node.attrs["axis"] if name == "Unpack" else int(known(node, 0 if name == "Split" else 2))
    axis %= len(whole.dims)
    found, at = [], 0
    for value in node.outputs:
        length = 1 if name == "Unpack" else value.dims[axis]
        begin = [at if i == axis else 0 for i in range(len(whole.dims))]
        sizes = [length if i == axis else n for i, n in enumerate(whole.dims)]
        part = sliced(whole, begin, sizes, [1] * len(sizes))
        found.append(reshaped(low, part, tuple(value.dims)) if name == "Unpack" else part)
        at += length
    return found


@lowers("ConcatV2", "Pack")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    value = node.outputs[0]
    pack = node.op.name == "Pack"
    parts = held if pack else held[:-1]
    axis = (node.attrs["axis"] if pack else int(known(node, -1))) % len(value.dims)
    out = low._targets.get(value) or low.room(kind_of(value), tuple(value.dims))
    at = 0
    for part in parts:
        length = 1 if pack else part.dims[axis]
        begin = [at if i == axis else 0 for i in range(len(value.dims))]
        sizes = [length if i == axis else n for i, n in enumerate(value.dims)]
        if size_of(tuple(sizes)):
            place = sliced(out, begin, sizes, [1] * len(sizes))
            assert isinstance(place, Buffer)
            low.write(place, reshaped(low, part, place.dims) if pack else part)
        at += length
    return out


def known(node: Any, i: int) -> np.ndarray:
    """Return the value of an input that is the same in every run."""
    value = node.inputs[i].known
    if value is None:
        raise Refused(f"{node.op.name} is lowered where input {i} is known")
    return np.asarray(value)
