"""How a node that works on images with channels first reads when they come with channels last.

A rule gives a `Form`: which inputs and outputs are images (or volumes), and what else changes, attrs and inputs that
speak of axes. Ops that have a data format are rows of a table; what is element-wise, reduces, joins, cuts or repeats
counts its axes anew. A node without a form keeps its channels where they are. Which nodes are rewritten at all is for
`layout` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ebbflow.compiler.flow import Node, Value
from ebbflow.core import dtypes
from ebbflow.core.rule_names import named

Order = tuple[int, ...]


@dataclass(frozen=True)
class Form:
    """A node with channels last."""

    takes: Order  # inputs that are images
    gives: Order  # outputs that are
    attrs: dict[str, Any]
    known: dict[int, np.ndarray] = field(default_factory=dict)  # inputs that speak of axes, as they are then
    reshaped: dict[int, Order] = field(default_factory=dict)  # inputs of lower rank, as they lie against images
    gain: float = 0.0  # elements that could be rearranged in the time it saves; below zero it loses


RULES: dict[str, Callable[[Node], Form | None]] = {}

FORMATS = {"NCHW": "NHWC", "NCDHW": "NDHWC"}
RANKS = (3, 4, 5)
"""Of images: rows, images proper, volumes."""


def form_of(node: Node) -> Form | None:
    """Return how a node reads with channels last, or None where it cannot be said."""
    values = (*node.inputs, *node.outputs)
    if node.stateful or not all(v.is_static and v.dtype.np.kind != "O" for v in values):
        return None
    found = RULES.get(node.op.name, _elementwise if node.op.facts.elementwise else None)
    form = found(node) if found is not None else None
    if form is None or not all(_is_image(node.inputs[i]) for i in form.takes):
        return None
    return form if all(_is_image(node.outputs[i]) for i in form.gives) and (form.takes or form.gives) else None


def _is_image(value: Value) -> bool:
    return len(value.dims or ()) in RANKS


# --- orders of axes ---------------------------------------------------------------------------------------------------


def to_last(rank: int) -> Order:
    """Return the order of axes that brings channels from the second place to the last."""
    return (0, *range(2, rank), 1)


def to_first(rank: int) -> Order:
    """Return the order of axes that brings channels from the last place to the second."""
    return (0, rank - 1, *range(1, rank - 1))


def stays_in_place(dims: Sequence[int], order: Sequence[int]) -> bool:
    """Return whether no element of an array moves when its axes are put into this order."""
    long = [axis for axis in order if dims[axis] != 1]
    return long == sorted(long) or 0 in dims


def _rearranged(items: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(items[i] for i in to_last(len(items)))


def _axis(axis: int, rank: int) -> int:
    """Return where an axis is when channels are last."""
    return to_last(rank).index(int(axis) % rank)


def _vectors(node: Node, rank: int, *which: int) -> dict[int, np.ndarray] | None:
    """Return inputs that have an entry (or a row) for each axis as they are with channels last, if they are known."""
    found = [node.inputs[i].known for i in which]
    if any(v is None or len(v.shape) == 0 or len(v) != rank for v in found):
        return None
    return {i: v[list(to_last(rank))] for i, v in zip(which, found, strict=True)}  # type: ignore[index]


def rule(*names: str) -> Callable[[Callable[[Node], Form | None]], Callable[[Node], Form | None]]:
    """Declare how nodes of the ops named read with channels last."""

    def declare(fn: Callable[[Node], Form | None]) -> Callable[[Node], Form | None]:
        for name in names:
            RULES[name] = fn
        return named(fn, f"{names[0]}.channels_last")

    return declare


# --- ops with a data format -------------------------------------------------------------------------------------------


class _Images(NamedTuple):
    takes: Order
    gives: Order
    gain: float = 0.0  # for each element of the images
    vectors: Order = ()  # inputs with an entry for each axis


# What is saved for each element of the images that go in and out, in elements that could be rearranged in that time:
# see the measurements in `layout`.
_CONV, _POOL, _NORM, _BIAS = 1.0, 0.25, 0.5, 0.25
_ODD_NORM, _EVEN = -3.0, 4  # of channels that are no multiple of four oneDNN has plain loops only, and they are slow
_FEW, _MANY = -8.0, 16  # sums over some axes, and what is repeated along them, where there are fewer channels
_FORWARD, _TO_INPUT = _Images((0,), (0,), _CONV), _Images((2,), (0,), _CONV, (0,))
_TO_FILTER = _Images((0, 2), (), _CONV)
_POOLED, _UNPOOLED, _SPREAD = (
    _Images((0,), (0,), _POOL),
    _Images((0, 1, 2), (0,), _POOL),
    _Images((1,), (0,), _POOL, (0,)),
)
_NORMED, _NORMED_BACK = _Images((0,), (0,), _NORM), _Images((0, 1), (0,), _NORM)

_FORMATTED = {
    "Conv2D": _FORWARD,
    "Conv3D": _FORWARD,
    "DepthwiseConv2dNative": _FORWARD,
    "Conv2DBackpropInput": _TO_INPUT,
    "Conv3DBackpropInputV2": _TO_INPUT,
    "DepthwiseConv2dNativeBackpropInput": _TO_INPUT,
    "Conv2DBackpropFilter": _TO_FILTER,
    "Conv3DBackpropFilterV2": _TO_FILTER,
    "DepthwiseConv2dNativeBackpropFilter": _TO_FILTER,
    "MaxPool": _POOLED,
    "MaxPool3D": _POOLED,
    "AvgPool": _POOLED,
    "AvgPool3D": _POOLED,
    "MaxPoolV2": _POOLED._replace(vectors=(1, 2)),
    "MaxPoolGrad": _UNPOOLED,
    "MaxPool3DGrad": _UNPOOLED,
    "MaxPoolGradGrad": _UNPOOLED,
    "MaxPool3DGradGrad": _UNPOOLED,
    "MaxPoolGradV2": _UNPOOLED._replace(vectors=(3, 4)),
    "MaxPoolGradGradV2": _UNPOOLED._replace(vectors=(3, 4)),
    "AvgPoolGrad": _SPREAD,
    "AvgPool3DGrad": _SPREAD,
    "FusedBatchNorm": _NORMED,
    "FusedBatchNormV2": _NORMED,
    "FusedBatchNormV3": _NORMED,
    "FusedBatchNormGrad": _NORMED_BACK,
    "FusedBatchNormGradV2": _NORMED_BACK,
    "FusedBatchNormGradV3": _NORMED_BACK,
    "BiasAdd": _Images((0,), (0,), _BIAS),
    "BiasAddGrad": _Images((0,), ()),
    "SpaceToDepth": _Images((0,), (0,)),
    "DepthToSpace": _Images((0,), (0,)),
}

_LISTS = ("strides", "dilations", "ksize")


@rule(*_FORMATTED)
def _(node: Node) -> Form | None:
    row, attrs = _FORMATTED[node.op.name], dict(node.attrs)
    images = [*[node.inputs[i] for i in row.takes], *[node.outputs[i] for i in row.gives]]
    rank = len(images[0].dims or ())
    vectors = _vectors(node, rank, *row.vectors)
    paddings = attrs.get("explicit_paddings") or ()
    if attrs["data_format"] not in FORMATS or vectors is None or len(paddings) not in (0, 2 * rank):
        return None
    attrs["data_format"] = FORMATS[attrs["data_format"]]
    for name in _LISTS:
        if name in attrs:
            if len(attrs[name]) != rank:
                return None
            attrs[name] = _rearranged(attrs[name])
    if paddings:
        pairs = [paddings[i : i + 2] for i in range(0, len(paddings), 2)]
        attrs["explicit_paddings"] = tuple(n for pair in _rearranged(pairs) for n in pair)
    return Form(row.takes, row.gives, attrs, vectors, gain=_gain(row, images))


def _gain(row: _Images, images: Sequence[Value]) -> float:
    dims: Any = images[0].dims
    if images[0].dtype is not dtypes.float32:
        return 0.0
    is_odd = row.gain == _NORM and dims[1] % _EVEN
    return (_ODD_NORM if is_odd else row.gain) * sum(v.size for v in images)


@rule("Transpose")
def _(node: Node) -> Form | None:
    """The program's own way between the two orders is none at all; any other ends or begins where channels are."""
    rank, perm = len(node.inputs[0].dims or ()), node.inputs[1].known
    if perm is None or sorted(perm.tolist()) != list(range(rank)) or rank not in RANKS:
        return None
    order, there = [int(p) for p in perm], to_last(rank)
    maker = node.inputs[0].node
    arrives = order[1] == rank - 1 and (tuple(order) == to_first(rank) or maker is None or form_of(maker) is None)
    moved = [order[i] for i in there] if arrives else [there.index(p) for p in order]
    gain = float(node.outputs[0].size) if moved == sorted(moved) else 0.0
    return Form(
        () if arrives else (0,), (0,) if arrives else (), node.attrs, {1: np.array(moved, perm.dtype)}, gain=gain
    )


# --- element by element -----------------------------------------------------------------------------------------------


@rule("AddN", "ZerosLike", "OnesLike", "Identity", "StopGradient", "PreventGradient", "Snapshot")
def _elementwise(node: Node) -> Form | None:
    rank = len(node.outputs[0].dims or ())
    takes = [i for i, v in enumerate(node.inputs) if len(v.dims or ()) == rank]
    known: dict[int, np.ndarray] = {}
    reshaped: dict[int, Order] = {}
    for i, value in enumerate(node.inputs):
        dims: Any = value.dims
        if i in takes or not dims or (node.op.name == "Select" and len(dims) == 1):  # which picks whole examples
            continue
        whole = (*(1,) * (rank - len(dims)), *dims)
        if value.known is not None:
            known[i] = np.ascontiguousarray(value.known.reshape(whole).transpose(to_last(rank)))
        elif stays_in_place(whole, to_last(rank)):
            reshaped[i] = _rearranged(whole)
        else:
            return None
    against = [node.inputs[i] for i in (*takes, *known, *reshaped)]
    repeats = any(v.dims != node.outputs[0].dims and v.size > 1 for v in against)
    gain = _along_channels(node.outputs[0]) if repeats else 0.0
    return Form(tuple(takes), (0,), node.attrs, known, reshaped, gain) if takes else None


def _along_channels(image: Value) -> float:
    """Return what is saved where NumPy's inner loop goes along the channels: a loss, where these are few."""
    dims: Any = image.dims
    return 0.0 if len(dims) < 2 or dims[1] >= _MANY else float(_FEW * image.size)


# --- rows of pixels and images one pixel high -------------------------------------------------------------------------


@rule("ExpandDims")
def _(node: Node) -> Form | None:
    axis, rank = node.inputs[1].known, len(node.outputs[0].dims or ())
    if axis is None or axis.size != 1 or axis.item() % rank < 2:
        return None
    return Form((0,), (0,), node.attrs, {1: np.full(axis.shape, _axis(axis.item(), rank), axis.dtype)})


@rule("Squeeze")
def _(node: Node) -> Form | None:
    dims: Any = node.inputs[0].dims
    gone = [int(a) % len(dims) for a in node.attrs["squeeze_dims"]] or [i for i, n in enumerate(dims) if n == 1]
    if any(axis < 2 for axis in gone):
        return None
    return Form((0,), (0,), {**node.attrs, "squeeze_dims": tuple(_axis(a, len(dims)) for a in gone)})


@rule("Reshape")
def _(node: Node) -> Form | None:
    before: Any = node.inputs[0].dims
    after: Any = node.outputs[0].dims
    shape = node.inputs[1].known
    if shape is None or before[:2] != after[:2] or len(after) != len(shape):
        return None
    if [n for n in before[2:] if n != 1] != [n for n in after[2:] if n != 1]:
        return None
    return Form((0,), (0,), node.attrs, {1: np.array(_rearranged(after), shape.dtype)})


# --- axes renumbered --------------------------------------------------------------------------------------------------


@rule("Sum", "Mean", "Max", "Min", "Prod", "All", "Any", "EuclideanNorm")
def _(node: Node) -> Form | None:
    dims, axes = node.inputs[0].dims, node.inputs[1].known
    if axes is None or not dims or len(dims) not in RANKS:
        return None
    rank = len(dims)
    folded = [int(a) % rank for a in axes.reshape(-1)]
    kept = [1 if i in folded else n for i, n in enumerate(dims)]
    if not node.attrs["keep_dims"] and not stays_in_place(kept, to_last(rank)):  # type: ignore[arg-type]
        return None
    moved = np.array([_axis(a, rank) for a in folded], axes.dtype).reshape(axes.shape)
    gain = _along_channels(node.inputs[0]) if len(set(folded)) < rank else 0.0
    return Form((0,), (0,) if node.attrs["keep_dims"] else (), node.attrs, {1: moved}, gain=gain)


def _with_axis(node: Node, at: int, takes: Order) -> Form | None:
    axis, rank = node.inputs[at].known, len(node.outputs[0].dims or ())
    if axis is None or axis.size != 1 or rank not in RANKS:
        return None
    moved = np.full(axis.shape, _axis(axis.item(), rank), axis.dtype)
    return Form(takes, tuple(range(len(node.outputs))), node.attrs, {at: moved})


@rule("ConcatV2")
def _(node: Node) -> Form | None:
    last = len(node.inputs) - 1
    return _with_axis(node, last, tuple(range(last)))


@rule("Split")
def _(node: Node) -> Form | None:
    return _with_axis(node, 0, (1,))


@rule("SplitV")
def _(node: Node) -> Form | None:
    return _with_axis(node, 2, (0,))


_PER_AXIS = {"Slice": (1, 2), "Pad": (1,), "PadV2": (1,), "MirrorPad": (1,), "MirrorPadGrad": (1,), "Tile": (1,)}


@rule(*_PER_AXIS)
def _(node: Node) -> Form | None:
    vectors = _vectors(node, len(node.inputs[0].dims or ()), *_PER_AXIS[node.op.name])
    return None if vectors is None else Form((0,), (0,), node.attrs, vectors)


@rule("Fill")
def _(node: Node) -> Form | None:
    vectors = _vectors(node, len(node.outputs[0].dims or ()), 0)
    return None if vectors is None else Form((), (0,), node.attrs, vectors)


@rule("BroadcastTo")
def _(node: Node) -> Form | None:
    dims: Any = node.inputs[0].dims
    rank = len(node.outputs[0].dims or ())
    vectors = _vectors(node, rank, 1)
    if vectors is None or len(dims) == rank:
        return None if vectors is None else Form((0,), (0,), node.attrs, vectors)
    whole = (*(1,) * (rank - len(dims)), *dims)
    if not stays_in_place(whole, to_last(rank)):
        return None
    return Form((), (0,), node.attrs, vectors, {0: _rearranged(whole)})


@rule("StridedSlice")
def _(node: Node) -> Form | None:
    return _strided(node, (0,), {})


@rule("StridedSliceGrad")
def _(node: Node) -> Form | None:
    sizes = _vectors(node, len(node.outputs[0].dims or ()), 0)
    return None if sizes is None else _strided(node, (4,), sizes)


def _strided(node: Node, takes: Order, sizes: dict[int, np.ndarray]) -> Form | None:
    """Of slices with steps only those of images that keep all axes; most others are of shapes."""
    if not _is_image(node.outputs[0]):
        return None
    rank, attrs = len(node.outputs[0].dims or ()), dict(node.attrs)
    ends = {i: node.inputs[i].known for i in (1, 2, 3)}
    if any(v is None for v in ends.values()) or any(
        attrs[f"{m}_mask"] for m in ("ellipsis", "new_axis", "shrink_axis")
    ):
        return None
    said = len(ends[1])  # type: ignore[arg-type]
    order = list(to_last(rank))
    for name in ("begin_mask", "end_mask"):
        bits = _rearranged([axis >= said or attrs[name] >> axis & 1 for axis in range(rank)])
        attrs[name] = sum(bool(bit) << i for i, bit in enumerate(bits))
    whole = {i: np.append(v, np.full(rank - said, i == 3, v.dtype))[order] for i, v in ends.items()}  # type: ignore
    return Form(takes, (0,), attrs, {**whole, **sizes})
