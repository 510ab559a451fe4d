"""What ops give for structured tensors: concat, gather, expand_dims, shuffle, and what asks for their shape.

An op on outer axes is the op of every field, and of a tensor that has the structure's own axes. Puts on the class how
ops find the way here (`_op_form`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dispatch import borrowed
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged import rows
from ebbflow.ops.ragged.conversion import ragged_or_tensor
from ebbflow.ops.ragged.dynamic_shape import DynamicRaggedShape
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.structured.fields import normal
from ebbflow.ops.structured.tensor import StructuredTensor, _positive, marker


def extend_op(values: Sequence[Any], leaf_op: Callable[[Sequence[Any]], Any], empty_st_op: Any = None) -> Any:
    """Return the structure of what a function of tensors gives for each field of structures with the same names."""
    if not isinstance(values, (list, tuple)):
        raise ValueError("Expected a list")
    if not values:
        raise ValueError("List cannot be empty")
    first = values[0]
    if not isinstance(first, StructuredTensor):
        return leaf_op(values)
    axes = (empty_st_op or leaf_op)([marker(value._ragged_shape) for value in values])
    kind = first._ragged_shape.dtype
    shape = axes._ragged_shape if isinstance(axes, StructuredTensor) else DynamicRaggedShape.from_tensor(axes, kind)
    names = first.field_names()
    fields = {name: extend_op([value.field_value(name) for value in values], leaf_op, empty_st_op) for name in names}
    return StructuredTensor._of(fields, normal(shape))


def concat(values: Sequence[Any], axis: int, name: str = "concat") -> StructuredTensor:
    """Return structures one behind the other along one of their axes."""
    if not isinstance(values, (list, tuple)):
        raise ValueError("values must be a list of StructuredTensors (not a list)")
    if not values:
        raise ValueError("values must not be an empty list")
    if not all(isinstance(value, StructuredTensor) for value in values):
        raise ValueError("values must be a list of StructuredTensors")
    _check_alike(values, ())
    axis = _positive(axis, values[0].rank, "axis")
    return extend_op(values, lambda parts: borrowed("concat", list(parts), axis))


def _check_alike(values: Sequence[Any], path: tuple[str, ...]) -> None:
    """Refuse structures that have other fields, or other axes, than the first of them."""
    first = values[0]
    for value in values[1:]:
        if isinstance(value, StructuredTensor) != isinstance(first, StructuredTensor):
            raise ValueError(f"Only some of the values have fields at {path}")
    if not isinstance(first, StructuredTensor):
        ranks = {value.shape.rank for value in values}
        if len(ranks) > 1:
            raise ValueError(f"Field {path} must have rank {first.shape.rank} in all values, got {sorted(ranks)}")
        return
    for value in values[1:]:
        if set(value.field_names()) != set(first.field_names()):
            names = sorted(first.field_names()), sorted(value.field_names())
            raise ValueError(f"The fields at {path} do not match: {names[0]} and {names[1]}")
        if value.rank != first.rank:
            raise ValueError(f"Ranks of sub-message do not match at {path}: {first.rank} and {value.rank}")
    for name in first.field_names():
        _check_alike([value.field_value(name) for value in values], (*path, name))


def gather(
    params: StructuredTensor,
    indices: AnyTensor,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: int | None = None,
    batch_dims: int = 0,
) -> StructuredTensor:
    """Return the parts of a structure at these places along one of its axes."""
    at = _positive(batch_dims if axis is None else axis, params.rank, "axis")
    if not -params.rank <= batch_dims <= at:
        raise ValueError(f"batch_dims={batch_dims} out of bounds: expected 0<=batch_dims<={at}")
    indices = ragged_or_tensor(indices)
    return extend_op([params], lambda parts: _gathered(parts[0], indices, at, batch_dims))


def _gathered(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    if isinstance(params, RaggedTensor) or isinstance(indices, RaggedTensor):
        return rows.gather(params, indices, axis, batch_dims)
    return raw.GatherV2(params, indices, axis, batch_dims=batch_dims)


def expand_dims(input: StructuredTensor, axis: int | None = None, name: str | None = None, dim: Any = None) -> Any:
    """Return a structure with a further axis of length 1 among, or behind, its own."""
    at = _positive(dim if axis is None else axis, input.rank + 1, "axis")
    return extend_op([input], lambda parts: borrowed("expand_dims", parts[0], at))


def random_shuffle(value: StructuredTensor, seed: int | None = None, name: str | None = None) -> StructuredTensor:
    """Return a structure with its rows in an order of chance."""
    return _shuffled(value, lambda order: borrowed("random.shuffle", order, seed))


def _shuffled(value: StructuredTensor, shuffle: Callable[[Any], Any]) -> StructuredTensor:
    if not value.rank:
        raise ValueError("Cannot shuffle a scalar StructuredTensor")
    count = value.nrows()
    kind = value._ragged_shape.dtype.np
    return gather(value, shuffle(raw.Range(np.array(0, kind), count, np.array(1, kind))))


def size(input: StructuredTensor, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """Return how many structures there are in one."""
    kind = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    return raw.Cast(input._ragged_shape._num_elements(), DstT=kind)


def size_v2(input: StructuredTensor, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Return how many structures there are in one."""
    return size(input, name, out_type)


def rank(input: StructuredTensor, name: str | None = None) -> Tensor:
    """Return how many axes a structure has."""
    return convert(input.rank, dtypes.int32)


def zeros_like(tensor: StructuredTensor, dtype: DTypeLike | None = None, name: str | None = None, _: Any = None) -> Any:
    """Return zeros in the shape of a structure."""
    return _filled(tensor, 0, dtype)


def ones_like(tensor: StructuredTensor, dtype: DTypeLike | None = None, name: str | None = None, _: Any = None) -> Any:
    """Return ones in the shape of a structure."""
    return _filled(tensor, 1, dtype)


def _filled(structure: StructuredTensor, value: int, dtype: Any) -> Any:
    kind, shape = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype), structure._ragged_shape
    return shape._add_row_partitions(raw.Fill(shape.inner_shape, convert(np.array(value, kind.np), kind)))


def shape_v2(
    input: StructuredTensor, out_type: DTypeLike = dtypes.int32, name: str | None = None
) -> DynamicRaggedShape:
    """Return the shape of a structure."""
    return input._ragged_shape.with_dtype(out_type)


def shape_v1(
    input: StructuredTensor, name: str | None = None, out_type: DTypeLike = dtypes.int32
) -> DynamicRaggedShape:
    """Return the shape of a structure."""
    return shape_v2(input, out_type)


def structured_tensor_like(t: TensorLike) -> StructuredTensor:
    """Return a structure without fields in the shape of a tensor."""
    if isinstance(t, StructuredTensor):
        return StructuredTensor.from_shape(t._ragged_shape)
    found: Any = ragged_or_tensor(t)
    if found.shape.rank is None:
        raise ValueError("Can't build StructuredTensor w/ unknown rank")
    kind = dtypes.int64 if isinstance(found, RaggedTensor) or found.shape.is_fully_defined() else dtypes.int32
    return StructuredTensor.from_shape(normal(DynamicRaggedShape.from_tensor(found, kind)))


FORMS: dict[str, Callable[[Sequence[Any], dict[str, Any]], Any]] = {
    "ConcatV2": lambda x, attrs: concat(x[0], _number(x[1])),
    "ExpandDims": lambda x, attrs: expand_dims(x[0], _number(x[1])),
    "Gather": lambda x, attrs: gather(x[0], x[1], axis=0),
    "GatherV2": lambda x, attrs: gather(x[0], x[1], axis=_number(x[2]), batch_dims=attrs.get("batch_dims", 0)),
    "OnesLike": lambda x, attrs: ones_like(x[0]),
    "RandomShuffle": lambda x, attrs: _shuffled(x[0], lambda order: raw.RandomShuffle(order, **attrs)),
    "Rank": lambda x, attrs: rank(x[0]),
    "Size": lambda x, attrs: size(x[0], out_type=attrs.get("out_type")),
    "ZerosLike": lambda x, attrs: zeros_like(x[0]),
}


def form(op: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Return what an op gives for inputs with a structured tensor among them, or NotImplemented."""
    found = FORMS.get(op.name)
    return NotImplemented if found is None else found(inputs, attrs)


def _number(axis: Any) -> int:
    known = axis if isinstance(axis, (int, np.integer)) else convert(axis).constant_value()
    if known is None:
        raise ValueError("the axis of a structured tensor must be known when the graph is built")
    return int(known)


StructuredTensor._op_form = staticmethod(form)  # type: ignore[attr-defined]
StructuredTensor._dynamic_shape = lambda self, dtype: shape_v2(self, dtype or dtypes.int32)  # type: ignore[attr-defined]
