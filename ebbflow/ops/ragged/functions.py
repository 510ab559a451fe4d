"""Functions that make ragged tensors, or work on their elements: `tf.ragged`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Array, DTypeLike, Nested, ShapeLike, TensorLike
from ebbflow.ops.arrays.creation import constant as dense_constant
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged import rows as ragged_rows
from ebbflow.ops.ragged.forms import RaggedTensor, as_splits
from ebbflow.ops.ragged.pylists import Rows, is_nested, rows_of_lists
from ebbflow.ops.ragged.tensor import rows_of
from ebbflow.ops.ragged.value import RaggedTensorValue


def constant(
    pylist: Sequence[Any],
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: ShapeLike = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> AnyTensor:
    """Return nested lists as a ragged tensor (as a tensor, if they are not nested).

    >>> constant([[1, 2], [], [3]]).to_list()
    [[1, 2], [], [3]]
    """
    splits, values, shape = _rows(pylist, ragged_rank, inner_shape)
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    with name_scope(name, "RaggedConstant", []):
        flat = _flat(values, kind, shape, "values" if splits else "Const")
        made = [convert(s, dtypes.as_dtype(row_splits_dtype)) for s in splits]
    return RaggedTensor.from_nested_row_splits(flat, made, validate=False) if splits else flat


def constant_value(
    pylist: Sequence[Any],
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: ShapeLike = None,
    row_splits_dtype: DTypeLike = "int64",
) -> RaggedTensorValue | Array:
    """Return nested lists as what may be fed for a ragged tensor (as an array, if they are not nested).

    >>> constant_value([[1, 2], [3]]).to_list()
    [[1, 2], [3]]
    """
    splits, values, shape = _rows(pylist, ragged_rank, inner_shape)
    wanted: Any = dtype.as_numpy_dtype if isinstance(dtype, dtypes.DType) else dtype
    flat = np.asarray(values)
    flat = flat if wanted is None else flat.astype(wanted)  # numbers that do not fit turn around, as in TensorFlow
    flat = flat if shape is None else flat.reshape(shape)
    kind = dtypes.as_dtype(row_splits_dtype).np
    return RaggedTensorValue.of_parts([flat, *[np.asarray(s, kind) for s in splits]])


def _flat(values: Any, dtype: dtypes.DType | None, shape: tuple[int, ...] | None, name: str) -> Tensor:
    """Return what is inside the rows of nested lists as a tensor."""
    if isinstance(values, Tensor) or (is_nested(values) and any(isinstance(value, Tensor) for value in values)):
        return convert(values, dtype)
    if is_nested(values) and not len(values):
        values = np.zeros(shape or (0,), np.float32 if dtype is None else dtype.np)
    return dense_constant(values, dtype, shape, name)


def _rows(pylist: Any, ragged_rank: int | None, inner_shape: Any) -> Rows:
    if isinstance(pylist, (RaggedTensor, RaggedTensorValue)):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    return rows_of_lists(pylist, ragged_rank, inner_shape)


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Nested:
    """Return what `op` gives for the elements of ragged tensors, in the same rows."""
    given = [*args, *kwargs.values()]
    like = next((x for x in given if isinstance(x, RaggedTensor)), None)
    if like is None:
        return op(*args, **kwargs)
    flat = lambda x: x.flat_values if isinstance(x, RaggedTensor) else x
    return like.with_flat_values(op(*[flat(x) for x in args], **{k: flat(x) for k, x in kwargs.items()}))


def ragged_range(
    starts: TensorLike,
    limits: TensorLike | None = None,
    deltas: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> AnyTensor:
    """Return a row of numbers for each start, limit and step.

    >>> ragged_range([3, 5, 2])
    <tf.RaggedTensor [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1]]>
    """
    if limits is None:
        starts, limits = 0, starts
    limits = convert(limits, None if dtype is None else dtypes.as_dtype(dtype))
    starts, deltas = convert(starts, limits.dtype), convert(deltas, limits.dtype)
    if limits.dtype in (dtypes.int32, dtypes.int64):
        splits, values = raw.RaggedRange(starts, limits, deltas, Tsplits=dtypes.as_dtype(row_splits_dtype))
        return rows_of(values, splits)
    steps = raw.Ceil(raw.Cast(limits - starts, DstT=dtypes.float64) / raw.Cast(deltas, DstT=dtypes.float64))
    lengths = raw.Cast(raw.Maximum(steps, convert(0.0, dtypes.float64)), DstT=dtypes.as_dtype(row_splits_dtype))
    lengths = raw.Reshape(lengths, [-1])
    empty = RaggedTensor.from_row_lengths(
        raw.Range(0, raw.Cast(raw.Sum(lengths, [0]), DstT=dtypes.int32), 1), lengths, validate=False
    )
    rows = empty.value_rowids()
    inside = raw.Cast(empty._places() - raw.GatherV2(empty.row_splits, rows, 0), DstT=limits.dtype)

    def of_row(x: Any) -> Any:
        return x if x.shape.rank == 0 else raw.GatherV2(x, rows, 0)

    return empty.with_values(of_row(starts) + inside * of_row(deltas))


def stack(values: AnyTensor, axis: int = 0, name: str | None = None) -> AnyTensor:
    """Return the values as rows of a ragged tensor; they need not be of the same shape.

    >>> stack([[1, 2], [3]])
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    if isinstance(values, (Tensor, RaggedTensor)):
        return ragged_rows.with_new_axis(values, axis)
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    return ragged_rows.stack([v if isinstance(v, RaggedTensor) else convert(v) for v in values], axis)


def row_splits_to_segment_ids(splits: AnyTensor, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """Return the number of the row of each value, from where rows begin."""
    splits = as_splits(splits)
    found = rows_of(raw.Range(0, raw.Cast(splits[-1], DstT=dtypes.int32), 1), splits).value_rowids()
    return found if out_type is None else raw.Cast(found, DstT=dtypes.as_dtype(out_type))


def segment_ids_to_row_splits(
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Return where rows begin, from the number of the row of each value."""
    made = RaggedTensor.from_value_rowids(raw.Range(0, raw.Size(convert(segment_ids)), 1), segment_ids, num_segments)
    return made.row_splits if out_type is None else raw.Cast(made.row_splits, DstT=dtypes.as_dtype(out_type))
