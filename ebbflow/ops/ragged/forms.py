"""Ragged tensors, complete: the class, its operators and indices, and what ops give for it.

An op that is given what it cannot take asks that value (`core.op`): here is what a ragged tensor answers. An
element-wise op is the op of its elements; for the others there is a row below. For any function of the elements there
is `tf.ragged.map_flat_values`, for everything else `to_tensor`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.dispatch import NOT_SUPPORTED, answer, borrowed
from ebbflow.core.tensor import compares_by_value
from ebbflow.core.typing import AnyTensor
from ebbflow.ops.declare import raw
from ebbflow.ops.operators import PUBLIC
from ebbflow.ops.ragged import index, reduce
from ebbflow.ops.ragged import rows as ragged_rows
from ebbflow.ops.ragged.checks import axis_in
from ebbflow.ops.ragged.conversion import ragged_or_tensor
from ebbflow.ops.ragged.dynamic_shape import DynamicRaggedShape
from ebbflow.ops.ragged.elementwise import elementwise
from ebbflow.ops.ragged.matmul import matmul
from ebbflow.ops.ragged.partition import as_splits
from ebbflow.ops.ragged.shape_broadcast import broadcast_dynamic_shape, broadcast_to
from ebbflow.ops.ragged.spec import RaggedTensorSpec
from ebbflow.ops.ragged.splitting import split
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.ragged.text import formatted
from ebbflow.ops.ragged.value import RaggedTensorValue

__all__ = ["RaggedTensor", "RaggedTensorSpec", "as_splits"]

OF_ELEMENTS = frozenset(
    [
        "AddN",
        "AsString",
        "Bitcast",
        "CheckNumerics",
        "DecodeBase64",
        "DecodeCompressed",
        "EncodeBase64",
        "Identity",
        "OnesLike",
        "RegexFullMatch",
        "RegexReplace",
        "StaticRegexFullMatch",
        "StaticRegexReplace",
        "StopGradient",
        "StringJoin",
        "StringLength",
        "StringLower",
        "StringStrip",
        "StringToHashBucket",
        "StringToHashBucketFast",
        "StringToHashBucketStrong",
        "StringToNumber",
        "StringUpper",
        "Substr",
        "UnicodeScript",
        "UnicodeTranscode",
        "ZerosLike",
    ]
)
"""Ops that are functions of the elements and do not say so in their declaration."""

# By op: what it gives for (inputs, attrs) with a ragged tensor among the inputs.
FORMS: dict[str, Callable[[Sequence[Any], dict[str, Any]], Any]] = {
    "BiasAdd": lambda x, attrs: _with_bias(*x, **attrs),
    "BroadcastArgs": lambda x, attrs: broadcast_dynamic_shape(*map(_as_shape, x)),
    "BroadcastTo": lambda x, attrs: broadcast_to(x[0], _as_shape(x[1])),
    "ConcatV2": lambda x, attrs: ragged_rows.concat(x[0], _number(x[1])),
    "Cumsum": lambda x, attrs: _cumsum(x[0], _number(x[1]), **attrs),
    "ExpandDims": lambda x, attrs: ragged_rows.expand_dims(x[0], _number(x[1])),
    "Fill": lambda x, attrs: x[0]._add_row_partitions(raw.Fill(x[0].inner_shape, x[1])),
    "Gather": lambda x, attrs: ragged_rows.gather(x[0], x[1]),
    "GatherNd": lambda x, attrs: ragged_rows.gather_nd(x[0], x[1], 0, attrs.get("bad_indices_policy", "")),
    "GatherV2": lambda x, attrs: ragged_rows.gather(x[0], x[1], _number(x[2]), attrs.get("batch_dims", 0)),
    "OneHot": lambda x, attrs: _one_hot(x[0], x[1:], **attrs),
    "Pack": lambda x, attrs: ragged_rows.stack(x[0], attrs.get("axis", 0)),
    "Rank": lambda x, attrs: convert(x[0].shape.rank, dtypes.int32),
    "Reshape": lambda x, attrs: ragged_reshape(*x),
    "ReverseV2": lambda x, attrs: ragged_rows.reverse(*x),
    "Size": lambda x, attrs: raw.Size(x[0].flat_values, **attrs),
    "Split": lambda x, attrs: split(x[1], attrs["num_split"], _number(x[0])),
    "SplitV": lambda x, attrs: split(x[0], x[1], _number(x[2]), attrs["num_split"]),
    "StringFormat": lambda x, attrs: formatted(x, attrs),
    "Squeeze": lambda x, attrs: ragged_rows.squeeze(x[0], attrs.get("squeeze_dims", attrs.get("axis", ()))),
    "Tile": lambda x, attrs: ragged_rows.tile(*x),
    "Where": lambda x, attrs: _where(x[0]),
    "Softmax": lambda x, attrs: _softmax(x[0]),
    "DynamicPartition": lambda x, attrs: ragged_rows.partition(*x, attrs["num_partitions"]),  # type: ignore[call-arg]
    **{
        name: lambda x, attrs, name=name: reduce.by_segments(name[15:], *x)  # type: ignore[misc]
        for name in ("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin")
    },
}


def _chosen_rows(condition: Any, x: Any, y: Any) -> Any:
    """Return the rows of x where a vector is true, and else of y."""
    count = raw.Shape(condition)[0]
    places = raw.Range(0, count, 1)
    return ragged_rows.gather(ragged_rows.concat([x, y], 0), raw.SelectV2(condition, places, places + count))


def form(op: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Return what an op gives for inputs with a ragged tensor among them, or NotImplemented."""
    if op.name == "Select" and not isinstance(inputs[0], RaggedTensor):  # TF 1's, by rows
        condition = convert(inputs[0], dtypes.bool)
        if condition.shape.rank == 1:
            return _chosen_rows(condition, *map(ragged_or_tensor, inputs[1:]))
    if (op.facts.elementwise or op.name in OF_ELEMENTS) and not any(isinstance(x, DynamicRaggedShape) for x in inputs):
        if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)):
            return elementwise(lambda *flat: _applied(op, (list(flat),), attrs), inputs[0])
        return elementwise(lambda *flat: _applied(op, flat, attrs), inputs)
    found = FORMS.get(op.name)
    return NotImplemented if found is None else found(inputs, attrs)


def _applied(op: Any, flat: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Return an op of flat values, which may be of a program's own type: then its dispatchers say what that is."""
    parts = flat[0] if isinstance(flat[0], list) else flat
    if not any(isinstance(part, CompositeTensor) for part in parts):
        return op(*flat, **attrs)
    found = answer(op, flat, attrs)
    if found is NOT_SUPPORTED:
        raise TypeError(f"{op.name} of a ragged tensor whose values are of type {type(parts[0]).__name__}")
    return found


def _number(axis: Any) -> int:
    known = axis if isinstance(axis, (int, np.integer)) else convert(axis).constant_value()
    if known is None:
        raise ValueError("the axis of a ragged tensor must be known when the graph is built")
    return int(known)


def _as_shape(shape: Any) -> DynamicRaggedShape:
    return shape if isinstance(shape, DynamicRaggedShape) else DynamicRaggedShape._from_inner_shape(shape)


def ragged_reshape(tensor: AnyTensor, shape: Any) -> AnyTensor:
    """Return the elements of a tensor in another shape, both of which may be ragged.

    >>> ragged_reshape(raw.Range(0, 4, 1), DynamicRaggedShape.from_lengths([2, (1, 3)]))
    <tf.RaggedTensor [[0], [1, 2, 3]]>
    """
    flat = tensor.flat_values if isinstance(tensor, RaggedTensor) else tensor
    if not isinstance(shape, DynamicRaggedShape):
        return raw.Reshape(flat, shape)
    return shape._add_row_partitions(raw.Reshape(flat, shape.inner_shape))


def _one_hot(indices: RaggedTensor, others: Sequence[Any], axis: int = -1, **attrs: Any) -> RaggedTensor:
    """Return one-hot vectors along a further axis, which lies inside all that are ragged."""
    if 0 <= axis <= indices.ragged_rank:
        raise ValueError(f"axis ({axis}) must be greater than indices.ragged_rank ({indices.ragged_rank}).")
    inner = axis - indices.ragged_rank if axis > 0 else axis
    return indices.with_flat_values(raw.OneHot(indices.flat_values, *others, axis=inner, **attrs))


def _where(truth: RaggedTensor) -> Any:
    """Return where the elements are true: a row of coordinates for each."""
    places = raw.Cast(truth.coordinates(), DstT=dtypes.int64)
    found = raw.Where(truth.flat_values)
    at = raw.GatherV2(places, found[:, 0], 0)
    return at if len(truth.flat_values._dims) == 1 else raw.ConcatV2([at, found[:, 1:]], 1)


def _with_bias(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Any:
    """Return rows of channels with a bias added to each row."""
    if data_format == "NCHW" or not isinstance(value, RaggedTensor):
        raise ValueError(f"bias_add of a ragged tensor takes a dense bias and the last axis (N...C), not {data_format}")
    return raw.AddV2(value, bias)


def _softmax(logits: RaggedTensor) -> Any:
    """Return the softmax of each of the innermost rows."""
    if isinstance(logits.values, RaggedTensor):
        return logits.with_values(_softmax(logits.values))
    if len(logits.values._dims) > 1:
        return logits.with_values(raw.Softmax(logits.values))
    rows, count = logits.value_rowids(), raw.Cast(logits.nrows(), DstT=dtypes.int32)
    largest = raw.GatherV2(raw.UnsortedSegmentMax(logits.values, rows, count), rows, 0)
    grown = raw.Exp(logits.values - raw.StopGradient(largest))
    return logits.with_values(grown / raw.GatherV2(raw.UnsortedSegmentSum(grown, rows, count), rows, 0))


def _cumsum(x: RaggedTensor, axis: int, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
    """Return running sums along an axis inside the rows."""
    axis = axis_in(axis, x.shape.rank)
    if axis > 1:
        inner = isinstance(x.values, RaggedTensor)
        sums = _cumsum if inner else raw.Cumsum
        return x.with_values(sums(x.values, axis - 1, exclusive=exclusive, reverse=reverse))
    if axis == 0 or isinstance(x.values, RaggedTensor):  # rows that have ended add nothing
        sums = raw.Cumsum(x.to_tensor(), axis, exclusive=exclusive, reverse=reverse)
        kind = x.row_splits.dtype
        return RaggedTensor.from_tensor(sums, lengths=x.nested_row_lengths(), row_splits_dtype=kind)
    before = raw.Cumsum(raw.ConcatV2([raw.ZerosLike(x.values[:1]), x.values], 0), 0)  # with a row in front, if any
    edges = raw.GatherV2(x.row_limits() if reverse else x.row_starts(), x.value_rowids(), 0)
    sums = before[:-1] if exclusive != reverse else before[1:]
    at_edge = raw.GatherV2(before, edges, 0)
    return x.with_values(at_edge - sums if reverse else sums - at_edge)


# --- the class, completed ---------------------------------------------------------------------------------------------


def _operator(symbol: str, reflected: bool) -> Callable[[Any, Any], Any]:
    function = getattr(operator, f"{symbol}_" if symbol in ("and", "or") else symbol)

    def of_two(x: Any, y: Any) -> Any:
        own = isinstance(x, CompositeTensor) or isinstance(y, CompositeTensor)  # values of a program's own type
        return borrowed(PUBLIC[symbol], x, y) if own else function(x, y)

    def straight(x: Any, y: Any) -> Any:
        return elementwise(of_two, (x, y)) if isinstance(x, RaggedTensor) else borrowed(PUBLIC[symbol], x, y)

    def swapped(x: Any, y: Any) -> Any:
        return elementwise(of_two, (y, x)) if isinstance(x, RaggedTensor) else borrowed(PUBLIC[symbol], y, x)

    return swapped if reflected else straight


def _getitem(x: Any, key: Any) -> Any:
    return index.getitem(x, key) if isinstance(x, RaggedTensor) else borrowed("__operators__.ragged_getitem", x, key)


def _equal(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def compared(x: RaggedTensor, y: Any) -> Any:
        if not compares_by_value(x.flat_values):  # TensorFlow 1 and plain graphs ask whether it is the same object
            return NotImplemented
        if isinstance(y, RaggedTensor) and not _can_meet(x.flat_values.shape, y.flat_values.shape):
            return function is operator.ne
        try:
            return elementwise(function, (x, y))
        except errors.InvalidArgumentError:  # rows that do not match
            return function is operator.ne
        except (TypeError, ValueError):  # something that no element can be equal to
            return NotImplemented

    return compared


def _can_meet(a: Any, b: Any) -> bool:
    """Return whether the dense axes inside two ragged tensors can be broadcast to each other."""
    if a.rank is None or b.rank is None:
        return True
    pairs = zip(reversed(a.as_list()[1:]), reversed(b.as_list()[1:]), strict=False)
    return all(m in (None, 1, n) or n in (None, 1) for m, n in pairs)


_METHODS: dict[str, Any] = {
    "__getitem__": _getitem,
    "_reduce": reduce.reduced,
    "_op_form": staticmethod(form),
    "_matmul": staticmethod(matmul),
    "_dynamic_shape": lambda rows, dtype: DynamicRaggedShape.from_tensor(
        rows, dtypes.int32 if dtype is None else dtype
    ),
    "__neg__": lambda x: x.with_flat_values(-x.flat_values),
    "__abs__": lambda x: x.with_flat_values(abs(x.flat_values)),
    "__invert__": lambda x: x.with_flat_values(~x.flat_values),
    "__eq__": _equal(operator.eq),
    "__ne__": _equal(operator.ne),
    "__hash__": object.__hash__,
}
for _symbol in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    _METHODS[f"__{_symbol}__"] = _operator(_symbol, reflected=False)
    _METHODS[f"__r{_symbol}__"] = _operator(_symbol, reflected=True)
for _symbol in ("lt", "le", "gt", "ge"):
    _METHODS[f"__{_symbol}__"] = _operator(_symbol, reflected=False)
for _name, _method in _METHODS.items():
    setattr(RaggedTensor, _name, _method)

DynamicRaggedShape._op_form = staticmethod(form)  # type: ignore[attr-defined]


def _form_of_values(op: Any, inputs: Any, attrs: Any) -> Any:
    """Return what an op gives for fetched ragged tensors: what it gives for ragged tensors of these values."""
    return form(op, [_as_tensors(value) for value in inputs], attrs)


def _as_tensors(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_as_tensors(item) for item in value]
    return ragged_or_tensor(value) if isinstance(value, RaggedTensorValue) else value


RaggedTensorValue._op_form = staticmethod(_form_of_values)  # type: ignore[attr-defined]
RaggedTensorValue._as_operand = ragged_or_tensor  # type: ignore[attr-defined]
RaggedTensorValue._matmul = staticmethod(matmul)  # type: ignore[attr-defined]
for _name in ("with_values", "with_flat_values"):
    setattr(RaggedTensorValue, _name, lambda rows, parts, _name=_name: getattr(ragged_or_tensor(rows), _name)(parts))
