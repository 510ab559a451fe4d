"""Crosses of features some of which are ragged, and rows stacked by the number of their part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor, SparseTensorValue
from ebbflow.core.tensor import EagerTensor
from ebbflow.core.typing import AnyTensor, TensorLike
from ebbflow.ops.checks.asserts import assert_equal, assert_less, assert_non_negative
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.conversion import ragged_or_tensor
from ebbflow.ops.ragged.rows import as_ragged, take, with_new_axis
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.sparse.cross import DEFAULT_KEY, RaggedCross


def cross(inputs: Sequence[TensorLike], name: str | None = None) -> AnyTensor:
    """Return all combinations of features of each row, joined to texts, as a ragged tensor.

    >>> cross([[[b"a"], [b"b"]], RaggedTensor.from_row_splits([b"c", b"d", b"e"], [0, 2, 3])]).to_list()
    [[b'a_X_c', b'a_X_d'], [b'b_X_e']]
    """
    return _crossed(inputs, False, 0, None, name)


def cross_hashed(
    inputs: Sequence[TensorLike], num_buckets: int = 0, hash_key: TensorLike | None = None, name: str | None = None
) -> AnyTensor:
    """Return the buckets of all combinations of features of each row, as a ragged tensor."""
    return _crossed(inputs, True, num_buckets, hash_key, name)


def _crossed(inputs: Any, hashed: bool, buckets: int, key: Any, name: Any) -> Any:
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError("`inputs` must be a list of at least one tensor")
    with name_scope(name, "RaggedCross"):
        inputs = [_as_tensors(x) for x in inputs]
        for i, x in enumerate(inputs):
            if not (x.dtype.is_integer or x.dtype is dtypes.string):
                raise ValueError(f"Unexpected dtype for inputs[{i}]: {x.dtype}")
        order = "".join(
            "R" if isinstance(x, RaggedTensor) else "S" if isinstance(x, SparseTensor) else "D" for x in inputs
        )
        ragged, sparse, rest = ([x for x, kind in zip(inputs, order, strict=True) if kind == k] for k in "RSD")
        dense = [_wide(convert(x)) for x in rest]
        if any(x.shape.rank not in (None, 2) for x in inputs):
            raise errors.StaticShapeError("tf.ragged.cross only supports inputs with rank=2")
        kind = dtypes.int64 if any(x.row_splits.dtype is dtypes.int64 for x in ragged) or not ragged else dtypes.int32
        values, splits = RaggedCross(
            [_wide(x.values) for x in ragged], [x.row_splits for x in ragged], [x.indices for x in sparse],
            [_wide(x.values) for x in sparse], [x.dense_shape for x in sparse], dense, input_order=order,
            hashed_output=hashed, num_buckets=buckets, hash_key=DEFAULT_KEY if key is None else key,
            out_values_type=dtypes.int64 if hashed else dtypes.string, out_row_splits_type=kind,
        )  # fmt: skip
        return RaggedTensor.from_row_splits(values, splits, validate=False)


def _as_tensors(x: Any) -> Any:
    """Return what was fetched of a ragged or sparse tensor as one."""
    if isinstance(x, SparseTensorValue):
        return SparseTensor.from_value(x)
    return x if isinstance(x, (RaggedTensor, SparseTensor)) else ragged_or_tensor(x)


def _wide(x: Any) -> Any:
    return x if x.dtype in (dtypes.string, dtypes.int64) else raw.Cast(x, DstT=dtypes.int64)


def stack_dynamic_partitions(
    data: TensorLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> AnyTensor:
    """Return the rows of `data` stacked by the number `partitions` gives each.

    >>> stack_dynamic_partitions([b"a", b"b", b"c"], [1, 0, 1], 2).to_list()
    [[b'b'], [b'a', b'c']]
    """
    with name_scope(name, "SegmentStack"):
        rows, numbers = ragged_or_tensor(data), ragged_or_tensor(partitions)
        found = _stacked(rows, numbers, convert(num_partitions))
        ragged = next((x for x in (rows, numbers) if isinstance(x, RaggedTensor)), None)
        return found.with_row_splits_dtype(numbers.dtype if ragged is None else ragged.row_splits.dtype)


def _stacked(data: Any, partitions: Any, count: Any) -> Any:
    if count.shape.rank not in (None, 0):
        raise ValueError(f"num_partitions of shape {count.shape} must have rank 0")
    if partitions.shape.rank is None:
        raise ValueError("partitions must have known rank")
    if isinstance(partitions, RaggedTensor):
        if not isinstance(data, RaggedTensor):
            data = as_ragged(data, partitions.ragged_rank, partitions.row_splits.dtype)
        words = "data and partitions have incompatible ragged shapes"
        same = assert_equal(data.row_splits, partitions.row_splits, message=words)
        if same is not None and not isinstance(data.row_splits, EagerTensor):
            with context.current_graph().control_dependencies([same]):
                partitions = partitions.with_flat_values(raw.Identity(partitions.flat_values))
        return _stacked(data.values, partitions.values, count)
    if partitions.shape.rank == 0:
        return _stacked(with_new_axis(data), raw.ExpandDims(partitions, 0), count)
    partitions.shape.assert_is_compatible_with(data.shape[: partitions.shape.rank])
    if partitions.shape.rank > 1:
        data = data.merge_dims(0, partitions.shape.rank - 1) if isinstance(data, RaggedTensor) else raw.Reshape(
            data, raw.ConcatV2([[-1], raw.Shape(data)[partitions.shape.rank :]], 0)
        )  # fmt: skip
        partitions = raw.Reshape(partitions, [-1])
    return _by_number(data, partitions, raw.Cast(count, DstT=dtypes.int32))


def _by_number(data: Any, partitions: Any, count: Any) -> RaggedTensor:
    """Return rows in the order of their numbers, those with the same number together."""
    numbers = _checked(raw.Cast(partitions, DstT=dtypes.int32), count)
    size = raw.Shape(numbers)[0]
    places = raw.Range(0, size, 1)
    wide = raw.Cast(numbers, DstT=dtypes.int64) * raw.Cast(size, DstT=dtypes.int64)
    _, order = raw.TopKV2(-(wide + raw.Cast(places, DstT=dtypes.int64)), size)
    lengths = raw.UnsortedSegmentSum(raw.OnesLike(numbers), numbers, count)
    if isinstance(data, RaggedTensor):
        return RaggedTensor.from_row_lengths(take(data, order), lengths)
    return RaggedTensor.from_row_lengths(raw.GatherV2(data, order, 0), lengths)


def _checked(numbers: Any, count: Any) -> Any:
    """Return numbers once they are known to be those of partitions."""
    checks = [
        assert_non_negative(numbers, message="partitions must be non-negative"),
        assert_less(numbers, count, message="partitions must be less than num_partitions"),
    ]
    if isinstance(numbers, EagerTensor):
        return numbers
    with context.current_graph().control_dependencies([check for check in checks if check is not None]):
        return raw.Identity(numbers)
