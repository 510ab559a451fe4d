"""Kinds of datasets as classes: what programs that reach inside ask `isinstance` of.

All datasets are of one class here, which knows from what it was made. Knows that name only.
"""

from __future__ import annotations

from typing import Any

from ebbflow.data.dataset import DatasetV2


class _Kind(type):
    """A class whose instances are the datasets of one kind."""

    kind = ""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, DatasetV2) and instance._kind.lstrip("_") == cls.kind


def _kind(name: str) -> type:
    return _Kind(f"_{name}", (), {"kind": name, "__doc__": f"Datasets that are a {name}."})


_GeneratorDataset = _kind("GeneratorDataset")
_RangeDataset = _kind("RangeDataset")
_SparseTensorSliceDataset = _kind("SparseTensorSliceDataset")
_TensorDataset = _kind("TensorDataset")
_TensorSliceDataset = _kind("TensorSliceDataset")


def auto_shard_dataset(dataset: Any, num_shards: int, index: int, num_replicas_in_sync: int | None = None) -> Any:
    """Return the part of a dataset that one of `num_shards` workers goes over."""
    return dataset.shard(num_shards, index)


def _get_dataset_attributes(dataset: Any) -> tuple[Any, bool, Any]:
    """Return a dataset's batch size, whether short batches are left out, and how many elements are made ahead."""
    size = dataset._rows_asked
    first = None
    for spec in _flat(dataset.element_spec):
        shape = getattr(spec, "shape", None)
        if shape is not None and shape.rank:
            first = shape[0]
            break
    return (None if size == -1 else size), first is not None, None


def _flat(spec: Any) -> list[Any]:
    if isinstance(spec, (list, tuple)):
        return [leaf for part in spec for leaf in _flat(part)]
    if isinstance(spec, dict):
        return [leaf for part in spec.values() for leaf in _flat(part)]
    return [spec]
