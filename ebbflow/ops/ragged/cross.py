"""Crosses of features some of which are ragged, and rows stacked by the number of their part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor, SparseTensorValue
from ebbflow.core.typing import AnyTensor, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.conversion import ragged_or_tensor
from ebbflow.ops.ragged.rows import take
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.ragged.value import RaggedTensorValue
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
        order = "".join(
            "R" if isinstance(x, RaggedTensor) else "S" if isinstance(x, SparseTensor) else "D" for x in inputs
        )
        ragged, sparse, rest = ([x for x, kind in zip(inputs, order, strict=True) if kind == k] for k in "RSD")
        dense = [_wide(convert(x)) for x in rest]
        if any(x.ragged_rank != 1 for x in ragged):
            raise ValueError("tf.ragged.cross only supports inputs with rank=2")
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
    return ragged_or_tensor(x) if isinstance(x, RaggedTensorValue) else x


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
        partitions = convert(partitions, name="partitions")
        if partitions.shape.rank not in (None, 1):
            data = data.merge_dims(0, partitions.shape.rank - 1) if isinstance(data, RaggedTensor) else raw.Reshape(
                convert(data), raw.ConcatV2([[-1], raw.Shape(convert(data))[partitions.shape.rank :]], 0)
            )  # fmt: skip
            partitions = raw.Reshape(partitions, [-1])
        count = raw.Cast(convert(num_partitions), DstT=dtypes.int32)
        numbers = raw.Cast(partitions, DstT=dtypes.int32)
        size = raw.Shape(numbers)[0]
        places = raw.Range(0, size, 1)
        wide = raw.Cast(numbers, DstT=dtypes.int64) * raw.Cast(size, DstT=dtypes.int64)
        _, order = raw.TopKV2(-(wide + raw.Cast(places, DstT=dtypes.int64)), size)
        lengths = raw.UnsortedSegmentSum(raw.OnesLike(numbers), numbers, count)
        if isinstance(data, RaggedTensor):
            return RaggedTensor.from_row_lengths(take(data, order), lengths)
        return RaggedTensor.from_row_lengths(raw.GatherV2(convert(data), order, 0), lengths)
