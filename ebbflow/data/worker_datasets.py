"""What `tensorflow.python.data.experimental.ops.distribute` offers: datasets for one of several workers or replicas.

Strategies of other libraries and tests reach for these names. Knows datasets; how they are shared is `sharding`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.composite import BatchableTypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.spec import TensorSpec
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.data import structure
from ebbflow.data.batching import RebatchDataset
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.sharding import AutoShardDataset
from ebbflow.data.written_graphs import DatasetFromGraph
from ebbflow.data.written_ops import NonSerializableDataset, SleepDataset


def auto_sharded(input_dataset: Any, num_workers: int, index: int, num_replicas: int | None = None) -> Any:
    """Return the share of a dataset that one of several workers has, by its `auto_shard_policy`."""
    policy = input_dataset.options().experimental_distribute.auto_shard_policy
    return input_dataset._then(
        AutoShardDataset, convert(num_workers, dtypes.int64), convert(index, dtypes.int64), kind="_AutoShardDataset",
        auto_shard_policy=int(policy), num_replicas=num_replicas or 0,
    )  # fmt: skip


def rebatched_for_replicas(input_dataset: Any, num_replicas: int) -> Any:
    """Return a dataset whose batches are each cut into one part for each replica; the last ones may be empty."""
    spec = structure.map_structure(lambda leaf: _part(leaf, num_replicas), input_dataset.element_spec)
    replicas = convert(num_replicas, dtypes.int64)
    return input_dataset._then(RebatchDataset, replicas, spec=spec, kind="_LegacyRebatchDataset")


def _part(spec: Any, replicas: int) -> Any:
    if isinstance(spec, TensorSpec):
        if spec.shape.rank == 0:
            raise ValueError("You can only fetch elements with at least one dimension from a dataset that is rebatched")
        if spec.shape.rank is None:
            return spec
        rows = spec.shape[0]
        rows = rows // replicas if rows is not None and rows % replicas == 0 else None
        return TensorSpec(TensorShape([rows]).concatenate(spec.shape[1:]), spec.dtype)
    return spec._unbatch()._batch(None) if isinstance(spec, BatchableTypeSpec) else spec  # type: ignore[attr-defined]


def replicate(dataset: DatasetV2, devices: list[str]) -> dict[str, DatasetV2]:
    """Return a dataset like the given one for each device, by its name."""
    if not isinstance(dataset, DatasetV2):
        raise TypeError(f"Invalid `dataset`. Expected a `tf.data.Dataset` object but got {type(dataset)}.")
    if devices == [dataset._variant_tensor.device]:
        return {devices[0]: dataset}
    graph = dataset._as_serialized_graph(strip_device_assignment=True)
    return {device: remote_dataset(graph, device, dataset.element_spec) for device in devices}


def prefetched(input_dataset: Any, buffer_size: Any, slack_period: int | None = None, name: str | None = None) -> Any:
    """Return the elements, made ahead; how many of them wait for each step of a period is left to us."""
    return input_dataset.prefetch(-1 if buffer_size is None else buffer_size, name=name)


def sleep(sleep_microseconds: int) -> Callable[[DatasetV2], DatasetV2]:
    """Return a transformation: before each element the pipeline sleeps."""
    pause = convert(sleep_microseconds, dtypes.int64)
    return lambda dataset: dataset._then(SleepDataset, pause, kind="_SleepDataset")


def non_serializable() -> Callable[[DatasetV2], DatasetV2]:
    """Return a transformation that changes nothing, and cannot be written in a graph by TensorFlow."""
    return lambda dataset: dataset._then(NonSerializableDataset, kind="_NonSerializableDataset")


def remote_dataset(graph_def: TensorLike, device: str, element_spec: Nested) -> DatasetV2:
    """Return the dataset that a GraphDef says."""
    return DatasetV2(DatasetFromGraph(convert(graph_def)), element_spec, "_RemoteDataset")
