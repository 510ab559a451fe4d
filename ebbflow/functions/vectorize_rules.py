"""How ops are done for all rows at once.

A rule gets a node of a function of one row and the node's inputs, some of them `Stacked`: all rows along a new first
axis. It calls ops that give the results of all rows, and returns those. Element-wise ops need no rule of their own:
their inputs are only brought to one rank. Knows ops; knows nothing of tracing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import is_static
from ebbflow.ops.declare import merged, raw


class NoRule(Exception):  # noqa: N818  (a finding, not a failure)
    """An op cannot be done for all rows at once: the message names it."""


class Stacked:
    """A tensor for each row, stacked along the first axis."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


class Rows:
    """The rows at hand: how many there are, and how tensors are made to have as many."""

    def __init__(self, count: Any):
        self.count = count

    @property
    def lead(self) -> Any:
        """The number of rows as the beginning of a shape."""
        return [self.count] if isinstance(self.count, int) else raw.ExpandDims(self.count, 0)

    def shape(self, rest: Any) -> Any:
        """Return the shape of stacked tensors that have the shape `rest` each."""
        if isinstance(self.count, int) and isinstance(rest, (list, tuple)):
            return np.array([self.count, *rest], np.int32)
        rest = np.array(rest, np.int32) if isinstance(rest, (list, tuple)) else raw.Cast(rest, DstT=dtypes.int32)
        return raw.ConcatV2([self.lead, rest], 0)

    def stack(self, x: Any) -> Stacked:
        """Return a tensor with a copy for each row, or the stacked one that it is."""
        if isinstance(x, Stacked):
            return x
        x = convert(x)
        dims = list(x._dims) if is_static(x._dims) else raw.Shape(x)
        return Stacked(raw.BroadcastTo(x, self.shape(dims)))


Call = Callable[[Any, list[Any], Rows], Sequence[Any]]


class Rule:
    """How one op is done for all rows; `check` may refuse a node beforehand."""

    def __init__(self, call: Call, check: Callable[[Any], None] = lambda node: None):
        self.call = call
        self.check = check


RULES: dict[str, Rule] = {}
"""The rules by the name of the op; "" is that of element-wise ops."""


def rule(*names: str, check: Callable[[Any], None] = lambda node: None) -> Callable[[Call], Call]:
    """Enter a rule for some ops."""

    def enter(call: Call) -> Call:
        for name in names:
            RULES[name] = Rule(call, check)
        return call

    return enter


# --- pieces -----------------------------------------------------------------------------------------------------------


def attrs_of(node: Any) -> dict[str, Any]:
    """Return the attrs that are not decided by the inputs."""
    return {k: v for k, v in node._attrs.items() if k not in node._op.signature.inferred and not k.startswith("_")}


def constant(node: Any, number: int) -> Any:
    """Return an input's value, which must be known."""
    value = node._inputs[number].constant_value()
    if value is None:
        raise NoRule(f"{node.type} whose input {number} is not known beforehand")
    return value


def _fixed(*numbers: int) -> Callable[[Any], None]:
    """Return a check that some inputs are known beforehand."""

    def check(node: Any) -> None:
        for number in numbers:
            constant(node, number)

    return check


def _rank(tensor: Any) -> int:
    return len(tensor._dims)


def _lifted(x: Any, missing: int) -> Any:
    """Return stacked rows with axes of length 1 behind the first one."""
    for _ in range(missing):
        x = raw.ExpandDims(x, 1)
    return x


def _merged_axes(x: Any, row: Any, rows: Rows) -> Any:
    """Return stacked batches as one batch."""
    dims = row._dims[1:]
    if is_static(dims):
        return raw.Reshape(x, np.array([-1, *dims], np.int32))
    return raw.Reshape(x, raw.ConcatV2([[-1], raw.StridedSlice(raw.Shape(x), [2], [0], [1], end_mask=1)], 0))


def _parted_axes(y: Any, like: Any, rows: Rows) -> Any:
    """Return one batch as stacked batches, as many as the stacked tensor `like` has."""
    lead = raw.StridedSlice(raw.Shape(like), [0], [2], [1])
    rest = raw.StridedSlice(raw.Shape(y), [1], [0], [1], end_mask=1)
    return raw.Reshape(y, raw.ConcatV2([lead, rest], 0))


def _axis(axis: int, rank: int) -> int:
    """Return an axis of a row as one of stacked rows."""
    return int(axis) + 1 if axis >= 0 else int(axis) + rank + 1


# --- element by element -----------------------------------------------------------------------------------------------


def _elementwise(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    whole = max(_rank(t) for t in node._inputs)
    if node._op.shape_fn is merged or node.type in ("Select", "AddN"):
        inputs = [rows.stack(x) for x in inputs]
    given = [
        _lifted(x.value, whole - _rank(t)) if isinstance(x, Stacked) else x
        for x, t in zip(inputs, node._inputs, strict=True)
    ]
    op = raw.SelectV2 if node.type == "Select" else node._op
    if len(op.signature.inputs) == 1 and op.signature.inputs[0].is_list:
        return [Stacked(op(given, **attrs_of(node)))]
    return [Stacked(op(*given, **attrs_of(node)))]


def _check_select(node: Any) -> None:
    if len({_rank(t) for t in node._inputs}) > 1:
        raise NoRule("Select of tensors of different ranks")


RULES[""] = Rule(_elementwise)
RULES["AddN"] = Rule(_elementwise)
RULES["Select"] = Rule(_elementwise, _check_select)


@rule("Identity", "StopGradient", "ZerosLike", "OnesLike", "PreventGradient", "Snapshot")
@rule("Softmax", "LogSoftmax", "Cholesky", "MatrixInverse", "MatrixDeterminant", "MatrixDiag", "MatrixDiagPart")
@rule("MatrixBandPart")
def _as_it_is(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    given = [x.value if isinstance(x, Stacked) else x for x in inputs]
    result = node._op(*given, **attrs_of(node))
    return [Stacked(result)]


@rule("Shape", "Size", "Rank")
def _of_shape(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    out = node._attrs.get("out_type", dtypes.int32)
    known = node._outputs[0].constant_value()
    if known is not None:
        return [convert(known, out)]
    dims = raw.StridedSlice(raw.Shape(inputs[0].value, out_type=out), [1], [0], [1], end_mask=1)
    return [dims if node.type == "Shape" else raw.Prod(dims, [0])]


# --- products ---------------------------------------------------------------------------------------------------------


@rule("MatMul")
def _matmul(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    a, b = inputs
    turn_a, turn_b = node._attrs["transpose_a"], node._attrs["transpose_b"]
    if isinstance(a, Stacked) and not isinstance(b, Stacked) and not turn_a:
        flat = raw.MatMul(_merged_axes(a.value, node._inputs[0], rows), b, transpose_b=turn_b)
        return [Stacked(_parted_axes(flat, a.value, rows))]
    given = [x.value if isinstance(x, Stacked) else x for x in (a, b)]
    return [Stacked(raw.BatchMatMulV2(*given, adj_x=turn_a, adj_y=turn_b))]


@rule("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def _batch_matmul(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    whole = max(_rank(t) for t in node._inputs)
    given = [
        _lifted(x.value, whole - _rank(t)) if isinstance(x, Stacked) else x
        for x, t in zip(inputs, node._inputs, strict=True)
    ]
    return [Stacked(raw.BatchMatMulV2(*given, adj_x=node._attrs["adj_x"], adj_y=node._attrs["adj_y"]))]


def _check_einsum(node: Any) -> None:
    if "..." in node._attrs["equation"]:
        raise NoRule("Einsum with an ellipsis")


@rule("Einsum", check=_check_einsum)
def _einsum(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    terms, _, result = node._attrs["equation"].replace(" ", "").partition("->")
    new = next(c for c in "zyxwvutsrqponmlkjihgfedcba" if c not in terms)
    named = [(new if isinstance(x, Stacked) else "") + t for x, t in zip(inputs, terms.split(","), strict=True)]
    given = [x.value if isinstance(x, Stacked) else x for x in inputs]
    return [Stacked(raw.Einsum(given, equation=f"{','.join(named)}->{new}{result}"))]


@rule("BiasAdd")
def _bias_add(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    value, bias = inputs
    if node._attrs["data_format"] == "NCHW":
        raise NoRule("BiasAdd with channels first")
    if isinstance(bias, Stacked):
        bias = _lifted(bias.value, _rank(node._inputs[0]) - 1)
    return [Stacked(raw.AddV2(value.value if isinstance(value, Stacked) else value, bias))]


def _check_channels_last(node: Any) -> None:
    if node._attrs.get("data_format") == "NCHW":
        raise NoRule(f"{node.type} with channels first")


RULES["BiasAdd"].check = _check_channels_last


@rule("Conv2D", "MaxPool", "AvgPool", "DepthwiseConv2dNative")
def _on_batches(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    data, *filters = inputs
    if any(isinstance(f, Stacked) for f in filters):
        raise NoRule(f"{node.type} with a filter for each row")
    flat = node._op(_merged_axes(data.value, node._inputs[0], rows), *filters, **attrs_of(node))
    return [Stacked(_parted_axes(flat, data.value, rows))]


# --- reductions -------------------------------------------------------------------------------------------------------


@rule("Sum", "Mean", "Max", "Min", "Prod", "All", "Any", "EuclideanNorm", check=_fixed(1))
def _reduction(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    rank = _rank(node._inputs[0])
    axes = [_axis(int(a), rank) for a in constant(node, 1).reshape(-1)]
    return [Stacked(node._op(inputs[0].value, np.array(axes, np.int32), keep_dims=node._attrs["keep_dims"]))]


@rule("ArgMax", "ArgMin", check=_fixed(1))
@rule("Cumsum", "Cumprod", check=_fixed(1))
def _along_axis(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    axis = _axis(int(constant(node, 1)), _rank(node._inputs[0]))
    return [Stacked(node._op(inputs[0].value, np.array(axis, np.int32), **attrs_of(node)))]


@rule("L2Loss")
def _l2_loss(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    x = inputs[0].value
    axes = np.arange(1, _rank(node._inputs[0]) + 1, dtype=np.int32)
    half = np.array(0.5, x.dtype.np)
    return [Stacked(raw.Sum(raw.Square(x), axes) * half)]


@rule("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
def _cross_entropy(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    both = [rows.stack(x).value for x in inputs]
    flat = [_merged_axes(x, t, rows) for x, t in zip(both, node._inputs, strict=True)]
    loss, backprop = node._op(*flat)
    return [Stacked(_parted_axes(loss, both[0], rows)), Stacked(_parted_axes(backprop, both[0], rows))]


# --- shapes -----------------------------------------------------------------------------------------------------------


@rule("Reshape")
def _reshape(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    x, shape = inputs
    known = node._inputs[1].constant_value()
    if isinstance(shape, Stacked):
        raise NoRule("Reshape to a shape for each row")
    if known is not None and (known < 0).any() and isinstance(rows.count, int) and not rows.count:
        known = np.array(node._outputs[0]._dims if is_static(node._outputs[0]._dims) else known)
    return [Stacked(raw.Reshape(x.value, rows.shape(known.tolist() if known is not None else shape)))]


@rule("BroadcastTo")
def _broadcast_to(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    x, shape = inputs
    if isinstance(shape, Stacked):
        raise NoRule("BroadcastTo a shape for each row")
    rank = _rank(node._outputs[0])
    return [Stacked(raw.BroadcastTo(_lifted(x.value, rank - _rank(node._inputs[0])), rows.shape(shape)))]


@rule("Fill")
def _fill(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    dims, value = inputs
    if isinstance(dims, Stacked):
        raise NoRule("Fill of a shape for each row")
    rank = _rank(node._outputs[0])
    return [Stacked(raw.BroadcastTo(_lifted(value.value, rank), rows.shape(dims)))]


@rule("Transpose", check=_fixed(1))
def _transpose(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    order = [0, *[int(n) + 1 for n in constant(node, 1)]]
    return [Stacked(raw.Transpose(inputs[0].value, np.array(order, np.int32)))]


@rule("ExpandDims", check=_fixed(1))
def _expand_dims(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    axis = _axis(int(constant(node, 1).reshape(-1)[0]), _rank(node._inputs[0]) + 1)
    return [Stacked(raw.ExpandDims(inputs[0].value, np.array(axis, np.int32)))]


@rule("Squeeze")
def _squeeze(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    rank, dims = _rank(node._inputs[0]), node._inputs[0]._dims
    axes = [_axis(a, rank) for a in node._attrs["squeeze_dims"]] or [i + 1 for i, n in enumerate(dims) if n == 1]
    return [Stacked(raw.Squeeze(inputs[0].value, squeeze_dims=axes) if axes else inputs[0].value)]


@rule("ConcatV2")
def _concat(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    axis = _axis(int(constant(node, len(inputs) - 1)), _rank(node._inputs[0]))
    return [Stacked(raw.ConcatV2([rows.stack(x).value for x in inputs[:-1]], np.array(axis, np.int32)))]


@rule("Pack")
def _pack(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    axis = _axis(node._attrs["axis"], _rank(node._inputs[0]) + 1)
    return [Stacked(raw.Pack([rows.stack(x).value for x in inputs], axis=axis))]


@rule("Unpack")
def _unpack(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    axis = _axis(node._attrs["axis"], _rank(node._inputs[0]))
    return [Stacked(t) for t in raw.Unpack(inputs[0].value, num=node._attrs["num"], axis=axis)]


@rule("Split", check=_fixed(0))
def _split(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    axis = _axis(int(constant(node, 0)), _rank(node._inputs[1]))
    parts = raw.Split(np.array(axis, np.int32), inputs[1].value, num_split=node._attrs["num_split"])
    return [Stacked(t) for t in parts]


@rule("Tile", check=_fixed(1))
def _tile(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    times = [1, *constant(node, 1).tolist()]
    return [Stacked(raw.Tile(inputs[0].value, np.array(times, np.int32)))]


@rule("Pad", "PadV2", "MirrorPad", check=_fixed(1))
def _pad(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    widths = np.array([[0, 0], *constant(node, 1).tolist()], np.int32)
    return [Stacked(node._op(inputs[0].value, widths, *inputs[2:], **attrs_of(node)))]


@rule("ReverseV2", check=_fixed(1))
def _reverse(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    rank = _rank(node._inputs[0])
    axes = [_axis(int(a), rank) for a in constant(node, 1)]
    return [Stacked(raw.ReverseV2(inputs[0].value, np.array(axes, np.int32)))]


# --- parts ------------------------------------------------------------------------------------------------------------


@rule("StridedSlice", check=_fixed(1, 2, 3))
def _strided_slice(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    begin, end, strides = ([first, *constant(node, i).tolist()] for i, first in ((1, 0), (2, 0), (3, 1)))
    masks = {k: node._attrs[k] << 1 for k in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    masks |= {k: node._attrs[k] << 1 | 1 for k in ("begin_mask", "end_mask")}
    bounds = [np.array(v, np.int32) for v in (begin, end, strides)]
    return [Stacked(raw.StridedSlice(inputs[0].value, *bounds, **masks))]


@rule("Slice", check=_fixed(1, 2))
def _slice(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    begin, size = [0, *constant(node, 1).tolist()], [-1, *constant(node, 2).tolist()]
    return [Stacked(raw.Slice(inputs[0].value, np.array(begin, np.int32), np.array(size, np.int32)))]


def _check_gather(node: Any) -> None:
    constant(node, 2)
    if node._attrs["batch_dims"]:
        raise NoRule("GatherV2 with batch_dims")


@rule("GatherV2", check=_check_gather)
def _gather(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    params, indices, _ = inputs
    rank, axis = _rank(node._inputs[0]), int(constant(node, 2))
    axis = axis + rank if axis < 0 else axis
    if not isinstance(params, Stacked):
        return [Stacked(_with_lead_axis(raw.GatherV2(params, indices.value, axis), axis))]
    if not isinstance(indices, Stacked):
        return [Stacked(raw.GatherV2(params.value, indices, axis + 1))]
    return [Stacked(raw.GatherV2(params.value, indices.value, axis + 1, batch_dims=1))]


def _with_lead_axis(x: Any, axis: int) -> Any:
    """Return a tensor with one of its axes moved to the front."""
    if not axis:
        return x
    order = [axis, *[i for i in range(len(x._dims)) if i != axis]]
    return raw.Transpose(x, np.array(order, np.int32))


@rule("OneHot", check=_fixed(1))
def _one_hot(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    indices, depth, on, off = inputs
    axis = node._attrs["axis"]
    axis = axis if axis == -1 else axis + 1
    return [Stacked(raw.OneHot(indices.value, depth, on, off, axis=axis))]


# --- drawn anew for each row ------------------------------------------------------------------------------------------


@rule("RandomUniform", "RandomStandardNormal", "TruncatedNormal")
def _draw(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    if isinstance(inputs[0], Stacked):
        raise NoRule(f"{node.type} of a shape for each row")
    known = node._inputs[0].constant_value()
    return [Stacked(node._op(rows.shape(known.tolist() if known is not None else inputs[0]), **attrs_of(node)))]
