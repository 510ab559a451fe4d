"""How the tensors of a checkpoint are dealt out to files: a callback sees them all and gives one dictionary a file.

`MaxShardSizePolicy` keeps every file below a size, `ShardByTaskPolicy` puts all that is of one machine into one file.
Knows tensors and slices, and how several files become one checkpoint.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ebbflow.core import device as devices
from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import EagerTensor, wrap
from ebbflow.io import tensor_slices
from ebbflow.io.bundle_writer import merge
from ebbflow.io.save_ops import save_bundle
from ebbflow.platform import files

Shard = dict[str, dict[str, Any]]
"""The tensors of one file: by their keys, and by the slices they are ("" for a whole)."""


@dataclasses.dataclass(frozen=True, eq=False)
class ShardableTensor:
    """A tensor of a checkpoint, and all that is known of it."""

    _tensor_save_spec: Any
    tensor: Any
    dtype: Any
    device: Any
    name: str
    shape: Any
    slice_spec: str
    checkpoint_key: str
    trackable: Any

    def __hash__(self) -> int:
        return hash((self.name, str(self.dtype), str(self.device), self.checkpoint_key))


class ShardingCallback(abc.ABC):
    """Deals out the tensors of a checkpoint to files."""

    @property
    @abc.abstractmethod
    def description(self) -> str:
        """What the callback does, in a few words."""

    @abc.abstractmethod
    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """Return the tensors of each file, by key and slice."""

    def __hash__(self) -> int:
        return hash((self.description, *sorted((k, v) for k, v in vars(self).items() if isinstance(v, Hashable))))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)


class ShardByTaskPolicy(ShardingCallback):
    """One file for each task of a cluster: what is on one machine goes into one file."""

    @property
    def description(self) -> str:
        return "Split tensors into shards based on task."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        shards: dict[str, Shard] = {}
        for each in shardable_tensors:
            spec = devices.DeviceSpecV2.from_string(str(each.device or ""))
            task = devices.DeviceSpecV2(job=spec.job, replica=spec.replica, task=spec.task).to_string()
            shards.setdefault(task, {}).setdefault(each.checkpoint_key, {})[each.slice_spec] = each.tensor
        return [shards[task] for task in sorted(shards)]


class MaxShardSizePolicy(ShardingCallback):
    """Files of at most `max_shard_size` bytes: tensors that do not fit into one are cut along an axis.

    A text, and a single number, cannot be cut: a file may be larger by one of those.
    """

    def __init__(self, max_shard_size: int):
        if max_shard_size < 1:
            raise ValueError(f"max_shard_size must be at least 1 byte, got {max_shard_size}")
        self.max_shard_size = max_shard_size

    @property
    def description(self) -> str:
        return "Split tensors into shards with a max shard size."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        shards: list[Shard] = [{}]
        room = self.max_shard_size
        for each in shardable_tensors:
            for spec, tensor in self._parts(each):
                size = _bytes_of(tensor)
                if size > room and shards[-1]:
                    shards.append({})
                    room = self.max_shard_size
                shards[-1].setdefault(each.checkpoint_key, {})[spec] = tensor
                room -= size
        return shards

    def _parts(self, each: ShardableTensor) -> list[tuple[str, Any]]:
        """Return a tensor in parts that fit into a file, each with the slice it is."""
        size, dims = _bytes_of(each.tensor), tuple(each.tensor.shape)
        axis = next((i for i, length in enumerate(dims) if length > 1), None)
        if size <= self.max_shard_size or axis is None or each.dtype == dtypes.string:
            return [(each.slice_spec, each.tensor)]
        length = dims[axis]
        rows = max(1, self.max_shard_size * length // size)
        parts = []
        for start in range(0, length, rows):
            count = min(rows, length - start)
            place = (slice(None),) * axis + (slice(start, start + count),)
            part = wrap(each.tensor.numpy()[place], each.tensor.dtype)
            piece = dataclasses.replace(
                each, tensor=part, slice_spec=_within(each.slice_spec, dims, axis, start, count)
            )
            parts += self._parts(piece)
        return parts


def _bytes_of(tensor: EagerTensor) -> int:
    array = tensor.numpy()
    if tensor.dtype == dtypes.string:
        return sum(map(len, np.ravel(np.asarray(array, object))))
    return np.asarray(array).nbytes


def _within(spec: str, dims: Sequence[int], axis: int, start: int, count: int) -> str:
    """Return the slice of a whole tensor that some rows of one of its slices are."""
    if spec:
        whole, part = tensor_slices.parse_shape_and_slice(spec)
        begins = [start for start, _ in tensor_slices.settled(part, whole)]
    else:
        whole, begins = tuple(dims), [0] * len(dims)
    spans = [[begin, length] for begin, length in zip(begins, dims, strict=True)]
    spans[axis] = [begins[axis] + start, count]
    shape = " ".join(map(str, whole))
    return f"{shape} " + ":".join(f"{begin},{length}" for begin, length in spans)


def save_dealt(prefix: str, callback: Any, tensors: Sequence[ShardableTensor]) -> None:
    """Write tensors as a callback deals them out: each part to files of its own, which then become one checkpoint."""
    shards = dealt(callback, tensors)
    parts = [f"{prefix}_temp/part-{number:05d}" for number in range(len(shards))]
    files.makedirs(f"{prefix}_temp")
    try:
        for part, shard in zip(parts, shards, strict=True):
            rows = [(key, spec, convert(value)) for key, slices in shard.items() for spec, value in slices.items()]
            names, specs = [row[0] for row in rows], [row[1] for row in rows]
            save_bundle(part, names, specs, [row[2]._array for row in rows], [row[2].dtype for row in rows])
        merge(parts, prefix)
    finally:
        files.rmtree(f"{prefix}_temp")


def described(key: str, spec: str, tensor: Any, trackable: Any = None) -> ShardableTensor:
    """Return a tensor as callbacks see it."""
    return ShardableTensor(None, tensor, tensor.dtype, tensor.device, key, tensor.shape, spec, key, trackable)


def dealt(callback: Any, tensors: Sequence[ShardableTensor]) -> list[Shard]:
    """Return what a callback makes of tensors; one that it loses, or adds, is an error."""
    shards = [dict(shard) for shard in callback(tensors)]
    before = {tensor.checkpoint_key for tensor in tensors}
    after: set[str] = set()
    for number, shard in enumerate(shards):
        for key, parts in shard.items():
            if not isinstance(parts, Mapping):
                kind = type(parts).__name__
                raise TypeError(f"the sharding callback gave a {kind} for {key!r} in shard {number}: it must be a dict")
            after.add(key)
    if before != after:
        raise RuntimeError(
            f"the sharding callback ({callback.description}) does not give the tensors it got: lost "
            f"{sorted(before - after)}, added {sorted(after - before)}"
        )
    return shards
