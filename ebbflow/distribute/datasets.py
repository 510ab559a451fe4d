"""Datasets of a strategy: what a function that makes one is told, and datasets of elements for several replicas."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any


class InputReplicationMode(enum.Enum):
    """How often a strategy calls a function that makes a dataset."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputContext:
    """What a function that makes a dataset is told of the strategy."""

    def __init__(self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1):
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        return self._num_replicas_in_sync

    @property
    def input_pipeline_id(self) -> int:
        return self._input_pipeline_id

    @property
    def num_input_pipelines(self) -> int:
        return self._num_input_pipelines

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Return a replica's share of a batch; ValueError if it does not come out even."""
        if global_batch_size % self._num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                f"{self._num_replicas_in_sync} "
            )
        return global_batch_size // self._num_replicas_in_sync

    def __repr__(self) -> str:
        pipeline = f"input pipeline id {self._input_pipeline_id}, total: {self._num_input_pipelines}"
        return f"tf.distribute.InputContext({pipeline})"


class InputOptions:
    """How a dataset goes to the replicas."""

    def __init__(
        self,
        experimental_fetch_to_device: bool | None = None,
        experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
        experimental_place_dataset_on_device: bool = False,
        experimental_per_replica_buffer_size: int = 1,
    ):
        if experimental_place_dataset_on_device and experimental_fetch_to_device is None:
            experimental_fetch_to_device = False
        self.experimental_fetch_to_device = (
            True if experimental_fetch_to_device is None else experimental_fetch_to_device
        )
        self.experimental_replication_mode = experimental_replication_mode
        self.experimental_place_dataset_on_device = experimental_place_dataset_on_device
        self.experimental_per_replica_buffer_size = experimental_per_replica_buffer_size


class DistributedIterator:
    """Goes over the elements of a dataset of several replicas."""

    def __init__(self, iterator: Any, element_spec: Any, split: Any):
        self._iterator, self._spec, self._split = iterator, element_spec, split

    @property
    def element_spec(self) -> Any:
        return self._spec

    def __iter__(self) -> DistributedIterator:
        return self

    def __next__(self) -> Any:
        return self._split(next(self._iterator))

    def get_next(self) -> Any:
        """Return the next element, one value for each replica; behind the last, `tf.errors.OutOfRangeError`."""
        return self._split(self._iterator.get_next())


class DistributedDataset:
    """A dataset whose batches are divided among replicas."""

    def __init__(self, dataset: Any, element_spec: Any, split: Any):
        self._dataset, self._spec, self._split = dataset, element_spec, split

    @property
    def element_spec(self) -> Any:
        return self._spec

    @property
    def cardinality(self) -> Any:
        return self._dataset.cardinality()

    def __iter__(self) -> Iterator[Any]:
        return DistributedIterator(iter(self._dataset), self._spec, self._split)


class DistributedDatasetsFromFunction(DistributedDataset):
    """A dataset that a function made, whose elements are dealt to replicas in turn."""
