"""Dealing rows out to several tensors and putting them together again: `dynamic_partition`, `dynamic_stitch`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import raw, show
from ebbflow.ops.shape_rules import agreed
from ebbflow.ops.sizes import invalid, room_for, shape_of

DynamicPartition = op(
    "DynamicPartition(data:T, partitions:int32) -> (outputs:num_partitions*T) | num_partitions: int >= 1; T: type",
    facts="data_dependent beside",
)


@DynamicPartition.shape
def _(data, partitions, *, num_partitions):
    if data.dims is None or partitions.dims is None:
        return [None] * num_partitions
    lead = len(partitions.dims)
    if len(data.dims) < lead:
        raise errors.StaticShapeError(f"Shape must be at least rank {lead} but is rank {len(data.dims)}")
    agreed(data.dims[:lead], partitions.dims)
    return [(None, *data.dims[lead:])] * num_partitions


@DynamicPartition.kernel
def _(xp, data, partitions, *, num_partitions):
    if data.shape[: partitions.ndim] != partitions.shape:
        raise invalid(
            "data.shape must start with partitions.shape, got data.shape = "
            f"{show(data.shape)}, partitions.shape = {show(partitions.shape)}"
        )
    if partitions.size and not (partitions.min() >= 0 and partitions.max() < num_partitions):
        at = np.argwhere((partitions < 0) | (partitions >= num_partitions))[0]
        raise invalid(f"partitions{list(map(int, at))} = {partitions[tuple(at)]} is not in [0, {num_partitions})")
    return [data[partitions == i] for i in range(num_partitions)]


@DynamicPartition.gradient
def _(call, *grads):
    partitions = call.partitions
    numbers = raw.Reshape(raw.Range(0, raw.Size(partitions), 1), shape_of(partitions))
    places = raw.DynamicPartition(numbers, partitions, num_partitions=call.num_partitions)
    together = raw.ParallelDynamicStitch(places, list(grads))
    return raw.Reshape(together, shape_of(call.data)), None


_STITCH = "(indices:N*int32, data:N*T) -> (merged:T) | N: int >= 1; T: type"
DynamicStitch = op("DynamicStitch" + _STITCH, facts="known=indices")
ParallelDynamicStitch = op("ParallelDynamicStitch" + _STITCH, facts="known=indices")


@ParallelDynamicStitch.shape
@DynamicStitch.shape
def _(indices, data):
    rest: Any = None
    for i, (places, rows) in enumerate(zip(indices, data, strict=True)):
        if places.dims is None or rows.dims is None:
            continue
        lead = len(places.dims)
        if len(rows.dims) < lead:
            raise errors.StaticShapeError(f"data[{i}].shape must start with indices[{i}].shape")
        agreed(places.dims, rows.dims[:lead])
        rest = agreed(rest, rows.dims[lead:])
    if rest is None:
        return None
    values = [p.value for p in indices]
    if any(v is None for v in values):
        return (None, *rest)
    return (max((int(v.max()) for v in values if v.size), default=-1) + 1, *rest)


@ParallelDynamicStitch.kernel
@DynamicStitch.kernel
def _(xp, indices, data):
    for i, (places, rows) in enumerate(zip(indices, data, strict=True)):
        if rows.shape[: places.ndim] != places.shape:
            raise invalid(
                f"data[{i}].shape must start with indices[{i}].shape, got data[{i}].shape = {show(rows.shape)}, "
                f"indices[{i}].shape = {show(places.shape)}"
            )
        if rows.shape[places.ndim :] != data[0].shape[indices[0].ndim :]:
            raise invalid(
                f"Need data[0].shape{show(data[0].shape)} and data[{i}].shape{show(rows.shape)} to have one row shape"
            )
        if places.size and places.min() < 0:
            raise invalid(f"indices[{i}] is out of range: {places.min()} is negative")
    count = max((int(p.max()) for p in indices if p.size), default=-1) + 1
    shape = (count, *data[0].shape[indices[0].ndim :])
    room_for(shape, data[0].itemsize)
    merged = np.zeros(shape, data[0].dtype)
    for places, rows in zip(indices, data, strict=True):
        merged[places] = rows
    return merged


@ParallelDynamicStitch.gradient
@DynamicStitch.gradient
def _(call, grad):
    return [None] * call.N + [raw.GatherV2(grad, places, 0) for places in call.indices]


def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """Return a list of tensors: rows of `data` that `partitions` gives the same number, in order.

    >>> [part.numpy().tolist() for part in dynamic_partition([10, 20, 30], [1, 0, 1], 2)]
    [[20], [10, 30]]
    """
    return DynamicPartition(data, partitions, num_partitions=num_partitions, name=name)


def dynamic_stitch(indices: Sequence[TensorLike], data: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Return the rows of all `data`, each at the place its index names; of two at one place the last counts.

    >>> dynamic_stitch([[1], [0, 2]], [[20], [10, 30]]).numpy().tolist()
    [10, 20, 30]
    """
    return DynamicStitch(list(indices), list(data), name=name)
