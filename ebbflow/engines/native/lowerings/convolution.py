"""Which convolutions are computed here, and how the nodes that say so are read.

Those of three by three, in steps of one, of channels that fill vectors, and of enough work that transforming pays:
see winograd.py. All others are oneDNN's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.engines.native import library, threads
from ebbflow.engines.native.lowering import Lowering, Refused, lowers
from ebbflow.engines.native.lowerings.structure import transposed
from ebbflow.engines.native.lowerings.winograd import Convolution, FromSlopes, Shape, Slopes
from ebbflow.engines.native.values import Buffer, Held

FEWEST, MOST = 32, 256
"""Channels between which it pays: fewer make no products to speak of, more make filters that no cache holds."""

TILES = 512
"""Tiles, at least, and twice as many as channels: below, transforming the filter costs too much."""


_OPERANDS: dict[str, Callable[..., tuple[Any, Any, Any]]] = {
    "Conv2D": lambda x, f, *rest: (x, f, rest[-1]),
    "Conv2DBackpropInput": lambda sizes, f, y, x: (x, f, y),
    "Conv2DBackpropFilter": lambda x, sizes, y, f: (x, f, y),
}
"""Input, filter and result, among the inputs of a node and its output."""

NAMES = frozenset([*_OPERANDS, "_Fused"])


def serves(node: Any) -> bool:
    """Return whether a convolution is computed here."""
    return _shape(node) is not None


def _shape(node: Any) -> Shape | None:
    """Return what a node convolves, where it is computed here: the result of `Conv2D`, or what would give it."""
    name, attrs = node.op.name, node.attrs
    if name == "_Fused":
        name, attrs = attrs["first"], attrs["how"]
        if name not in NAMES or node.attrs["activation"] not in (None, "relu"):
            return None
    if name not in NAMES or not all(v.is_static for v in (*node.inputs, *node.outputs)):
        return None
    out = node.outputs[0]
    x, f, y = (v.dims for v in _OPERANDS[name](*node.inputs[:3], out))
    plain = attrs["data_format"] == "NHWC" and set(attrs["strides"]) == set(attrs["dilations"]) == {1}
    if not plain or out.dtype.name != "float32" or f[:2] != (3, 3) or f[2] != x[3]:
        return None
    zeros = _zeros(attrs)
    if max(zeros) > 2:  # more than a filter reaches: results of nothing, and gradients wider than what they are of
        return None
    top, _, left, _ = zeros
    shape = Shape(*x, *y[1:], top, left)  # type: ignore[call-arg]
    if name == "Conv2DBackpropInput":
        shape = Shape(*y, *x[1:], 2 - top, 2 - left)  # type: ignore[call-arg]
    return shape if _pays(shape) else None


def _zeros(attrs: Any) -> list[int]:
    """Return how many zeros are above, below, left and right."""
    if attrs["padding"] == "EXPLICIT":
        return list(attrs["explicit_paddings"][2:6])
    return [1 if attrs["padding"] == "SAME" else 0] * 4


def _pays(shape: Shape) -> bool:
    channels = (shape.taken, shape.given)
    if any(n % library.lanes() or not FEWEST <= n <= MOST for n in channels):
        return False
    return shape.images * shape.tiles * shape.units >= max(TILES, 2 * max(channels))


def _found(node: Any) -> Shape:
    shape = _shape(node)
    if shape is None:
        raise Refused("a convolution that oneDNN computes")
    return shape


@lowers("Conv2D")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    return _forward(low, node, held)


@lowers("_Fused")
def _(low: Lowering, node: Any, held: list[Held]) -> Held | list[Held]:
    attrs = node.attrs
    if attrs["first"] == "Conv2DBackpropFilter":
        return [_to_filter(low, node, held[0], held[2]), low.reduce("sum", held[2], [0, 1, 2])]
    more = iter(low.in_memory(h) for h in held[2:])
    bias, addend = (next(more) if there else None for there in (attrs["bias"], attrs["add"]))
    return [_forward(low, node, held, bias=bias, addend=addend, relu=attrs["activation"] == "relu")]


@lowers("Conv2DBackpropInput")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    x, filters = low.in_memory(held[2]), low.in_memory(held[1])
    turned = Buffer(filters.memory, filters.dims, (-filters.strides[0], -filters.strides[1], *filters.strides[2:]),
                    filters.offset + 2 * (filters.strides[0] + filters.strides[1]))  # fmt: skip
    out = low.target(node.outputs[0])
    turned = transposed(turned, [0, 1, 3, 2])  # type: ignore[assignment]
    return _convolved(low, Convolution(low, _found(node), x, turned, out))


@lowers("Conv2DBackpropFilter")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    return _to_filter(low, node, held[0], held[2])


def _forward(low: Lowering, node: Any, held: list[Held], **finish: Any) -> Buffer:
    x, filters = low.in_memory(held[0]), low.in_memory(held[1])
    out = low.target(node.outputs[0])
    return _convolved(low, Convolution(low, _found(node), x, filters, out, **finish))


def _convolved(low: Lowering, step: Convolution) -> Buffer:
    """Return the result of a convolution that has no infinity or NaN among its inputs: a tile would be full of them."""
    low.steps.append(step)
    low.refuse_unless_finite(step.seen)
    return step.out


def _to_filter(low: Lowering, node: Any, x: Held, slope: Held) -> Buffer:
    out = low.target(node.outputs[0])
    shape = _found(node)
    parts = min(threads.count(), shape.images)
    low.steps.append(Slopes(low, shape, low.in_memory(x), low.in_memory(slope), parts))
    low.steps.append(FromSlopes(low.steps[-1], out))  # type: ignore[arg-type]
    low.refuse_unless_finite(out)
    return out
