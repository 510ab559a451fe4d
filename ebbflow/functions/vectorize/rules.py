"""How ops are done for all rows at once.

A rule gets a node of a function of one row and the node's inputs, some of them `Stacked`: all rows along a new first
axis. It calls ops that give the results of all rows, and returns those; where it does not apply it raises `NoRule`, and
the op is done row by row. Element-wise ops need no rule of their own: their inputs are only brought to one rank. Here
are the rules of products, reductions, shapes and parts; those of ops on batches are in `vectorize_batches`. Knows ops;
knows nothing of tracing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.rule_names import named
from ebbflow.core.shape import is_static
from ebbflow.ops.declare import raw


class NoRule(Exception):  # noqa: N818  (a finding, not a failure)
    """An op cannot be done for all rows at once: the message says what and why."""


class Stacked:
    """A tensor for each row, stacked along the first axis."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


class Rows:
    """The rows at hand: how many there are, and how tensors are made to have as many."""

    def __init__(self, count: Any, looped: Callable[[str], None] = lambda reason: None):
        self.count = count
        self.looped = looped
        """Told why, when an op is about to be done row by row; it may refuse by raising `NoRule`."""
        self.seen_by_all: dict[Any, Any] = {}
        """Nodes that stand for a tensor of every row, as any row may ask for (`Reductions`), each with that tensor."""
        self.parted = False

    def of(self, count: Any) -> Rows:
        """Return other rows that are treated alike."""
        other = Rows(count, self.looped)
        other.seen_by_all, other.parted = self.seen_by_all, True
        return other

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

    def numbers(self, dtype: Any, ones: int) -> Any:
        """Return the number of each row, with `ones` axes of length 1 behind."""
        numbers = raw.Range(
            *[convert(n, dtype) if isinstance(n, int) else raw.Cast(n, DstT=dtype) for n in (0, self.count, 1)]
        )
        return lifted(numbers, ones)

    def stack(self, x: Any) -> Stacked:
        """Return a tensor with a copy for each row, or the stacked one that it is."""
        if isinstance(x, Stacked):
            return x
        x = convert(x)
        dims = list(x._dims) if is_static(x._dims) else raw.Shape(x)
        return Stacked(raw.BroadcastTo(x, self.shape(dims)))


Rule = Callable[[Any, list[Any], Rows], Sequence[Any]]
"""From a node, its inputs and the rows to the node's outputs for all rows."""

RULES: dict[str, Rule] = {}
"""The rules by the name of the op; "" is that of element-wise ops."""


ROUNDING: set[str] = set()
"""Ops whose results may be rounded otherwise when they are computed for many rows at once."""


def rule(*names: str, rounds: bool = False) -> Callable[[Rule], Rule]:
    """Enter a rule for some ops; `rounds` says that what it gives need not be equal bit for bit, only as exact."""

    def enter(call: Rule) -> Rule:
        for name in names:
            RULES[name] = call
        if rounds:
            ROUNDING.update(names)
        return named(call, f"{names[0]}.vectorize")

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


def plain(node: Any, *inputs: Any) -> None:
    """Refuse where one of these inputs differs from row to row."""
    if any(isinstance(x, Stacked) for x in inputs):
        raise NoRule(f"{node.type}: a parameter differs from row to row")


def stacked(node: Any, x: Any) -> Any:
    """Return the value of an input that must differ from row to row."""
    if not isinstance(x, Stacked):
        raise NoRule(f"{node.type}: only a parameter differs from row to row")
    return x.value


def values_of(inputs: Sequence[Any]) -> list[Any]:
    return [x.value if isinstance(x, Stacked) else x for x in inputs]


def rank_of(tensor: Any) -> int:
    return len(tensor._dims)


def lifted(x: Any, missing: int) -> Any:
    """Return stacked rows with axes of length 1 behind the first one."""
    for _ in range(missing):
        x = raw.ExpandDims(x, 1)
    return x


def merged_axes(x: Any, row: Any, rows: Rows) -> Any:
    """Return stacked batches as one batch."""
    dims = row._dims[1:]
    if is_static(dims):
        return raw.Reshape(x, np.array([-1, *dims], np.int32))
    return raw.Reshape(x, raw.ConcatV2([[-1], raw.StridedSlice(raw.Shape(x), [2], [0], [1], end_mask=1)], 0))


def parted_axes(y: Any, like: Any, rows: Rows) -> Any:
    """Return one batch as stacked batches, as many as the stacked tensor `like` has."""
    lead = raw.StridedSlice(raw.Shape(like), [0], [2], [1])
    rest = raw.StridedSlice(raw.Shape(y), [1], [0], [1], end_mask=1)
    return raw.Reshape(y, raw.ConcatV2([lead, rest], 0))


def axis_of(axis: int, rank: int) -> int:
    """Return an axis of a row as one of stacked rows."""
    return int(axis) + 1 if axis >= 0 else int(axis) + rank + 1


# --- element by element -----------------------------------------------------------------------------------------------


def _elementwise(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    whole = max(rank_of(t) for t in node._inputs)
    if len(inputs) > 1 and not node._op.facts.broadcasts:
        inputs = [rows.stack(x) for x in inputs]
    given = [
        lifted(x.value, whole - rank_of(t)) if isinstance(x, Stacked) else x
        for x, t in zip(inputs, node._inputs, strict=True)
    ]
    op = raw.SelectV2 if node.type == "Select" else node._op
    if len(op.signature.inputs) == 1 and op.signature.inputs[0].is_list:
        return [Stacked(op(given, **attrs_of(node)))]
    return [Stacked(op(*given, **attrs_of(node)))]


RULES[""] = RULES["AddN"] = RULES["AccumulateNV2"] = _elementwise


@rule("Select")
def _select(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    if len({rank_of(t) for t in node._inputs}) > 1:
        raise NoRule("Select of tensors of different ranks")
    return _elementwise(node, inputs, rows)


@rule("Identity", "StopGradient", "ZerosLike", "OnesLike", "PreventGradient", "Snapshot", "CheckNumerics", "Bitcast")
def _as_it_is(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    return [Stacked(node._op(*values_of(inputs), **attrs_of(node)))]


@rule("StringToNumber", "AsString", "StringStrip", "StringLower", "StringUpper", "StringLength", "EncodeBase64",
      "DecodeBase64", "StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong", "StaticRegexReplace",
      "StaticRegexFullMatch")  # fmt: skip
def _each_text(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    return [Stacked(node._op(stacked(node, inputs[0]), **attrs_of(node)))]


@rule("DecodeCSV")
def _lines_of_csv(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    plain(node, *inputs[1:])
    return [Stacked(column) for column in node._op(stacked(node, inputs[0]), inputs[1:], **attrs_of(node))]


@rule("IdentityN")
def _identities(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    return list(inputs)


@rule("Shape", "Size", "Rank")
def _of_shape(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    out = node._attrs.get("out_type", dtypes.int32)
    known = node._outputs[0].constant_value()
    if known is not None:
        return [convert(known, out)]
    dims = raw.StridedSlice(raw.Shape(stacked(node, inputs[0]), out_type=out), [1], [0], [1], end_mask=1)
    return [dims if node.type == "Shape" else raw.Prod(dims, [0])]


# --- products ---------------------------------------------------------------------------------------------------------


@rule("MatMul", rounds=True)
def _matmul(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    a, b = inputs
    turn_a, turn_b = node._attrs["transpose_a"], node._attrs["transpose_b"]
    if isinstance(a, Stacked) and not isinstance(b, Stacked) and not turn_a:
        flat = raw.MatMul(merged_axes(a.value, node._inputs[0], rows), b, transpose_b=turn_b)
        return [Stacked(parted_axes(flat, a.value, rows))]
    return [Stacked(raw.BatchMatMulV2(*values_of(inputs), adj_x=turn_a, adj_y=turn_b))]


@rule("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", rounds=True)
def _batch_matmul(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    whole = max(rank_of(t) for t in node._inputs)
    given = [
        lifted(x.value, whole - rank_of(t)) if isinstance(x, Stacked) else x
        for x, t in zip(inputs, node._inputs, strict=True)
    ]
    return [Stacked(raw.BatchMatMulV2(*given, adj_x=node._attrs["adj_x"], adj_y=node._attrs["adj_y"]))]


@rule("Einsum", rounds=True)
def _einsum(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    if "..." in node._attrs["equation"]:
        raise NoRule("Einsum with an ellipsis")
    terms, _, result = node._attrs["equation"].replace(" ", "").partition("->")
    new = next(c for c in "zyxwvutsrqponmlkjihgfedcba" if c not in terms)
    named = [(new if isinstance(x, Stacked) else "") + t for x, t in zip(inputs, terms.split(","), strict=True)]
    return [Stacked(raw.Einsum(values_of(inputs), equation=f"{','.join(named)}->{new}{result}"))]


@rule("BiasAdd")
def _bias_add(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    value, bias = inputs
    if node._attrs["data_format"] == "NCHW":
        raise NoRule("BiasAdd with channels first")
    if isinstance(bias, Stacked):
        bias = Stacked(lifted(bias.value, rank_of(node._inputs[0]) - 1))
    return [Stacked(raw.AddV2(*values_of([value, bias])))]


@rule("BiasAddGrad", rounds=True)
def _bias_add_grad(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    rank = rank_of(node._inputs[0])
    if node._attrs["data_format"] == "NCHW":
        raise NoRule("BiasAddGrad with channels first")
    return [Stacked(raw.Sum(stacked(node, inputs[0]), np.arange(1, rank, dtype=np.int32)))]


# --- reductions -------------------------------------------------------------------------------------------------------


@rule("Sum", "Mean", "Prod", "EuclideanNorm", rounds=True)
@rule("Max", "Min", "All", "Any")
def _reduction(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    rank = rank_of(node._inputs[0])
    axes = [axis_of(int(a), rank) for a in constant(node, 1).reshape(-1)]
    return [Stacked(node._op(stacked(node, inputs[0]), np.array(axes, np.int32), keep_dims=node._attrs["keep_dims"]))]


@rule("Cumsum", "Cumprod", "CumulativeLogsumexp", rounds=True)
@rule("ArgMax", "ArgMin")
def _along_axis(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    axis = axis_of(int(constant(node, 1)), rank_of(node._inputs[0]))
    return [Stacked(node._op(stacked(node, inputs[0]), np.array(axis, np.int32), **attrs_of(node)))]


@rule("L2Loss", rounds=True)
def _l2_loss(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    x = stacked(node, inputs[0])
    axes = np.arange(1, rank_of(node._inputs[0]) + 1, dtype=np.int32)
    half = np.array(0.5, x.dtype.np)
    return [Stacked(raw.Sum(raw.Square(x), axes) * half)]


@rule("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", rounds=True)
def _cross_entropy(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    both = [rows.stack(x).value for x in inputs]
    flat = [merged_axes(x, t, rows) for x, t in zip(both, node._inputs, strict=True)]
    loss, backprop = node._op(*flat)
    return [Stacked(parted_axes(loss, both[0], rows)), Stacked(parted_axes(backprop, both[0], rows))]


# --- shapes -----------------------------------------------------------------------------------------------------------


@rule("Reshape")
def _reshape(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    x, shape = inputs
    plain(node, shape)
    dims, known = node._outputs[0]._dims, node._inputs[1].constant_value()
    if is_static(dims):
        return [Stacked(raw.Reshape(stacked(node, x), rows.shape(list(dims))))]
    return [Stacked(raw.Reshape(stacked(node, x), rows.shape(shape if known is None else known.tolist())))]


@rule("BroadcastTo")
def _broadcast_to(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    x, shape = inputs
    plain(node, shape)
    rank = rank_of(node._outputs[0])
    return [Stacked(raw.BroadcastTo(lifted(stacked(node, x), rank - rank_of(node._inputs[0])), rows.shape(shape)))]


@rule("Fill")
def _fill(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    dims, value = inputs
    plain(node, dims)
    rank = rank_of(node._outputs[0])
    return [Stacked(raw.BroadcastTo(lifted(stacked(node, value), rank), rows.shape(dims)))]


@rule("Transpose", "ConjugateTranspose")
def _transpose(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    order = [0, *[int(n) + 1 for n in constant(node, 1)]]
    return [Stacked(node._op(stacked(node, inputs[0]), np.array(order, np.int32)))]


@rule("ExpandDims")
def _expand_dims(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    axis = axis_of(int(constant(node, 1).reshape(-1)[0]), rank_of(node._inputs[0]) + 1)
    return [Stacked(raw.ExpandDims(stacked(node, inputs[0]), np.array(axis, np.int32)))]


@rule("Squeeze")
def _squeeze(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    rank, dims = rank_of(node._inputs[0]), node._inputs[0]._dims
    axes = [axis_of(a, rank) for a in node._attrs["squeeze_dims"]] or [i + 1 for i, n in enumerate(dims) if n == 1]
    return [Stacked(raw.Squeeze(stacked(node, inputs[0]), squeeze_dims=axes) if axes else stacked(node, inputs[0]))]


@rule("ConcatV2")
def _concat(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    axis = axis_of(int(constant(node, len(inputs) - 1)), rank_of(node._inputs[0]))
    return [Stacked(raw.ConcatV2([rows.stack(x).value for x in inputs[:-1]], np.array(axis, np.int32)))]


@rule("Pack")
def _pack(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    axis = axis_of(node._attrs["axis"], rank_of(node._inputs[0]) + 1)
    return [Stacked(raw.Pack([rows.stack(x).value for x in inputs], axis=axis))]


@rule("Unpack")
def _unpack(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    axis = axis_of(node._attrs["axis"], rank_of(node._inputs[0]))
    return [Stacked(t) for t in raw.Unpack(stacked(node, inputs[0]), num=node._attrs["num"], axis=axis)]


@rule("Split")
def _split(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    axis = axis_of(int(constant(node, 0)), rank_of(node._inputs[1]))
    parts = raw.Split(np.array(axis, np.int32), stacked(node, inputs[1]), num_split=node._attrs["num_split"])
    return [Stacked(t) for t in parts]


@rule("SplitV")
def _split_v(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    plain(node, inputs[1])
    axis = axis_of(int(constant(node, 2)), rank_of(node._inputs[0]))
    parts = raw.SplitV(stacked(node, inputs[0]), inputs[1], axis, num_split=node._attrs["num_split"])
    return [Stacked(t) for t in parts]


@rule("Tile")
def _tile(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    times = [1, *constant(node, 1).tolist()]
    return [Stacked(raw.Tile(stacked(node, inputs[0]), np.array(times, np.int32)))]


@rule("Pad", "PadV2", "MirrorPad", "MirrorPadGrad")
def _pad(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    plain(node, *inputs[1:])
    widths = np.array([[0, 0], *constant(node, 1).tolist()], np.int32)
    return [Stacked(node._op(stacked(node, inputs[0]), widths, *inputs[2:], **attrs_of(node)))]


@rule("ReverseV2")
def _reverse(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    rank = rank_of(node._inputs[0])
    axes = [axis_of(int(a), rank) for a in constant(node, 1)]
    return [Stacked(raw.ReverseV2(stacked(node, inputs[0]), np.array(axes, np.int32)))]


@rule("Roll")
def _roll(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    plain(node, inputs[1])
    axes = constant(node, 2)
    turned = [axis_of(int(a), rank_of(node._inputs[0])) for a in axes.reshape(-1)]
    return [Stacked(raw.Roll(stacked(node, inputs[0]), inputs[1], np.array(turned, np.int32).reshape(axes.shape)))]


@rule("EnsureShape")
def _ensure_shape(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    dims = node._attrs["shape"]
    return [Stacked(raw.EnsureShape(inputs[0].value, shape=dims if dims is None else (None, *dims)))]


@rule("Diag", "DiagPart")
def _diag(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    if rank_of(node._inputs[0]) != (1 if node.type == "Diag" else 2):
        raise NoRule(f"{node.type} of a tensor of higher rank")
    return [Stacked((raw.MatrixDiag if node.type == "Diag" else raw.MatrixDiagPart)(inputs[0].value))]


# --- parts ------------------------------------------------------------------------------------------------------------


@rule("StridedSlice")
def _strided_slice(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    if any(isinstance(x, Stacked) for x in inputs[1:]):
        return _picked(node, inputs, rows)
    begin, end, strides = ([first, *constant(node, i).tolist()] for i, first in ((1, 0), (2, 0), (3, 1)))
    bounds = [np.array(v, np.int32) for v in (begin, end, strides)]
    return [Stacked(raw.StridedSlice(stacked(node, inputs[0]), *bounds, **_masks(node)))]


def _masks(node: Any) -> dict[str, int]:
    """Return the masks of a slice with one more axis, all of which is taken, in front."""
    masks = {k: node._attrs[k] << 1 for k in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    return masks | {k: node._attrs[k] << 1 | 1 for k in ("begin_mask", "end_mask")}


def _picked(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    """Return what `x[i, j]` gives, where i and j differ from row to row."""
    given, attrs = node._inputs[1]._dims, node._attrs
    whole = given is not None and given[0] is not None and attrs["shrink_axis_mask"] == (1 << given[0]) - 1
    if not whole or attrs["ellipsis_mask"] or attrs["new_axis_mask"]:
        raise NoRule("StridedSlice: its bounds differ from row to row")
    return [Stacked(pick(node._inputs[0], inputs[0], inputs[1], rows))]


def pick(row: Any, params: Any, indices: Any, rows: Rows) -> Any:
    """Return for each row the parts of `params` at `indices`, counted from the end where they are negative."""
    at = rows.stack(indices).value
    size = at._dims[-1]
    dims = (
        np.array(row._dims[:size], at.dtype.np)
        if is_static(row._dims[:size])
        else raw.Slice(
            raw.Cast(raw.Shape(values_of([params])[0]), DstT=at.dtype), [int(isinstance(params, Stacked))], [size]
        )
    )
    at = raw.FloorMod(at, dims)
    return (
        raw.GatherNd(params.value, with_row_numbers(at, rows))
        if isinstance(params, Stacked)
        else raw.GatherNd(params, at)
    )


def with_row_numbers(indices: Any, rows: Rows) -> Any:
    """Return stacked indices of parts of rows as indices of parts of all rows."""
    lead = raw.Slice(raw.Shape(indices), [0], [len(indices._dims) - 1])
    numbers = rows.numbers(indices.dtype, len(indices._dims) - 1)
    return raw.ConcatV2([raw.BroadcastTo(numbers, raw.ConcatV2([lead, [1]], 0)), indices], -1)


@rule("StridedSliceGrad")
def _strided_slice_grad(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    plain(node, *inputs[:4])
    known = [constant(node, i).tolist() for i in range(4)]
    bounds = [np.array([first, *v], np.int32) for first, v in zip((0, 0, 1), known[1:], strict=True)]
    return [Stacked(raw.StridedSliceGrad(rows.shape(known[0]), *bounds, stacked(node, inputs[4]), **_masks(node)))]


@rule("Slice")
def _slice(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    begin, size = [0, *constant(node, 1).tolist()], [-1, *constant(node, 2).tolist()]
    return [Stacked(raw.Slice(stacked(node, inputs[0]), np.array(begin, np.int32), np.array(size, np.int32)))]


@rule("OneHot")
def _one_hot(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    indices, depth, on, off = inputs
    plain(node, depth, on, off)
    axis = node._attrs["axis"]
    axis = axis if axis == -1 else axis + 1
    return [Stacked(raw.OneHot(stacked(node, indices), depth, on, off, axis=axis))]


# --- records ----------------------------------------------------------------------------------------------------------


@rule("ParseExampleV2")
def _parse_example(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    plain(node, *inputs[1:])
    attrs = attrs_of(node)
    if node._inputs[0]._dims != () or attrs["num_sparse"] or attrs["ragged_value_types"]:
        raise NoRule("ParseExampleV2 into sparse or ragged parts")
    if not all(is_static(dims) for dims in attrs["dense_shapes"]):
        raise NoRule("ParseExampleV2 of features of any length")
    found = raw.ParseExampleV2(stacked(node, inputs[0]), *inputs[1:5], list(inputs[5:]), **attrs)
    return [Stacked(t) for t in found.dense_values]


@rule("DecodeRaw")
def _decode_raw(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    return [Stacked(raw.DecodeRaw(stacked(node, inputs[0]), **attrs_of(node)))]


# --- drawn anew for each row ------------------------------------------------------------------------------------------


@rule("RandomUniform", "RandomStandardNormal", "TruncatedNormal")
def _draw(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    plain(node, *inputs)
    known = node._inputs[0].constant_value()
    return [Stacked(node._op(rows.shape(known.tolist() if known is not None else inputs[0]), **attrs_of(node)))]
