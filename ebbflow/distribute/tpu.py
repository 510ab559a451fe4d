"""`tf.distribute.TPUStrategy` on what there is: a replica on each TPU that XLA knows here, or else on each GPU or CPU.

A program for a TPU host names it by a cluster resolver ("local" for this machine), initializes the system, and makes
the strategy; where nobody names one, the resolver is refused (`TPUClusterResolver`) and programs take another strategy.
TPUs at other addresses are not driven from here.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.cluster.tpu_resolver import TPUClusterResolver
from ebbflow.core import errors
from ebbflow.core.tensor import Tensor
from ebbflow.distribute.mirrored import MirroredExtended
from ebbflow.distribute.strategy import Strategy
from ebbflow.engines import devices
from ebbflow.platform import logging


class Topology:
    """Where the cores of a system are: for each task and each of its devices, coordinates in a mesh.

    >>> Topology(mesh_shape=[1, 2, 1, 1], device_coordinates=[[[0, 0, 0, 0], [0, 1, 0, 0]]]).num_tpus_per_task
    2
    """

    def __init__(
        self,
        serialized: bytes | None = None,
        mesh_shape: Sequence[int] | None = None,
        device_coordinates: Sequence[Sequence[Sequence[int]]] | np.ndarray | None = None,
    ):
        if serialized is not None:
            told = messages.TopologyProto.FromString(serialized)
            shape = (told.num_tasks, told.num_tpu_devices_per_task, len(told.mesh_shape))
            mesh_shape, device_coordinates = list(told.mesh_shape), np.reshape(list(told.device_coordinates), shape)
        self.mesh_shape = np.asarray(mesh_shape, np.int32)
        self.device_coordinates = np.asarray(device_coordinates, np.int32)
        if len(self.mesh_shape) != 4 or (self.mesh_shape < 1).any():
            raise ValueError(f"`mesh_shape` must be a sequence of 4 positive entries. Received: {mesh_shape}")
        if self.device_coordinates.ndim != 3 or self.device_coordinates.shape[2] != len(self.mesh_shape):
            raise ValueError(
                "`device_coordinates` must be a rank 3 int32 array with minor dimension equal to the mesh rank, "
                f"got shape {self.device_coordinates.shape}"
            )
        places = {tuple(c): (t, d) for t, row in enumerate(self.device_coordinates.tolist()) for d, c in enumerate(row)}
        self._places: dict[tuple[int, ...], tuple[int, int]] = places

    mesh_rank = property(lambda self: len(self.mesh_shape), doc="How many axes the mesh has.")
    num_tasks = property(lambda self: self.device_coordinates.shape[0], doc="How many tasks there are.")
    num_tpus_per_task = property(lambda self: self.device_coordinates.shape[1], doc="How many devices each has.")

    @property
    def missing_devices(self) -> np.ndarray:
        """The coordinates of the mesh that have no device."""
        places = [c for c in np.ndindex(*self.mesh_shape.tolist()) if c not in self._places]
        return np.array(places, np.int32).reshape(-1, self.mesh_rank)

    def task_ordinal_at_coordinates(self, device_coordinates: Iterable[int]) -> int:
        """Return which task has the device at some coordinates."""
        return self._places[tuple(device_coordinates)][0]

    def tpu_device_ordinal_at_coordinates(self, device_coordinates: Iterable[int]) -> int:
        """Return which of its task's devices is at some coordinates."""
        return self._places[tuple(device_coordinates)][1]

    def cpu_device_name_at_coordinates(self, device_coordinates: Iterable[int], job: str | None = None) -> str:
        """Return the name of the host of the device at some coordinates."""
        return _name(job, self.task_ordinal_at_coordinates(device_coordinates), "CPU", 0)

    def tpu_device_name_at_coordinates(self, device_coordinates: Iterable[int], job: str | None = None) -> str:
        """Return the name of the device at some coordinates."""
        task, number = self._places[tuple(device_coordinates)]
        return _name(job, task, "TPU", number)

    def serialized(self) -> bytes:
        """Return this as the message that TensorFlow keeps it in."""
        return messages.TopologyProto(
            mesh_shape=self.mesh_shape.tolist(),
            num_tasks=self.num_tasks,
            num_tpu_devices_per_task=self.num_tpus_per_task,
            device_coordinates=self.device_coordinates.reshape(-1).tolist(),
        ).SerializeToString()


class HardwareFeature:
    """What a TPU has besides its cores, as its system told."""

    class EmbeddingFeature(enum.Enum):
        """Which embedding engine there is."""

        UNSUPPORTED = "UNSUPPORTED"
        V1 = "V1"
        V2 = "V2"

    def __init__(self, tpu_hardware_feature_proto: Any):
        self.tpu_hardware_feature_proto = tpu_hardware_feature_proto

    @property
    def embedding_feature(self) -> EmbeddingFeature:
        """Which embedding engine there is."""
        return list(HardwareFeature.EmbeddingFeature)[self.tpu_hardware_feature_proto.embedding_feature]

    @property
    def num_embedding_devices_per_chip(self) -> int:
        """How many of them a chip has."""
        return self.tpu_hardware_feature_proto.num_embedding_devices_per_chip


def _name(job: str | None, task: int, kind: str, number: int) -> str:
    return f"{'' if job is None else f'/job:{job}'}/task:{task}/device:{kind}:{number}"


def initialize_tpu_system(cluster_resolver: TPUClusterResolver | None = None) -> Topology:
    """Return where the devices are that a TPUStrategy of this resolver uses."""
    count = len(_devices(cluster_resolver or TPUClusterResolver(), "initialize_tpu_system"))
    return Topology(mesh_shape=[1, count, 1, 1], device_coordinates=[[[0, i, 0, 0] for i in range(count)]])


def shutdown_tpu_system(cluster_resolver: TPUClusterResolver | None = None) -> None:
    """End the use of the system: devices of this machine need nothing."""
    _devices(cluster_resolver or TPUClusterResolver(), "shutdown_tpu_system")


def _devices(resolver: Any, caller: str) -> list[devices.LogicalDevice]:
    address = resolver.master() if resolver is not None else ""
    if address:
        raise errors.NotFoundError(
            None,
            None,
            f"{caller}: TPUs at {address} are not driven from here; name the devices of this machine by "
            "TPUClusterResolver('local')",
        )
    for kind in ("TPU", "GPU", "CPU"):
        found = devices.list_logical_devices(kind)
        if found:
            return found
    raise errors.NotFoundError(None, None, f"{caller}: there is no visible device")


class TPUExtended(MirroredExtended):
    """What the strategy does for its replicas, and what the devices of all of them have."""

    @property
    def tpu_hardware_feature(self) -> HardwareFeature:
        """What the devices have besides their cores: no embedding engine that is driven from here."""
        return HardwareFeature(messages.TPUHardwareFeature())


class TPUStrategy(Strategy):
    """A replica on each TPU of this machine, or, where it has none, on each of its GPUs or CPUs."""

    def __init__(
        self,
        tpu_cluster_resolver: TPUClusterResolver | None = None,
        experimental_device_assignment: object = None,
        experimental_spmd_xla_partitioning: bool = False,
    ):
        resolver = TPUClusterResolver() if tpu_cluster_resolver is None else tpu_cluster_resolver
        found = _devices(resolver, "TPUStrategy")
        if found[0].device_type != "TPU":
            logging.warning("TPUStrategy: there is no TPU; replicas run on %s", ", ".join(d.name for d in found))
        self._resolver = resolver
        super().__init__(TPUExtended(self, tuple(device.name for device in found)))

    @property
    def cluster_resolver(self) -> Any:
        """What the system was found by."""
        return self._resolver

    def experimental_assign_to_logical_device(self, tensor: Tensor, logical_device_id: int) -> Tensor:
        """Say which device of a replica has a tensor: each replica has one."""
        if logical_device_id != 0:
            raise ValueError(
                f"logical_device_id = {logical_device_id} must be lower than the number of logical devices of a "
                "replica, which is 1"
            )
        return tensor

    def experimental_split_to_logical_devices(self, tensor: Tensor, partition_dimensions: Sequence[int]) -> Tensor:
        """Say how a tensor is cut for the devices of a replica, of which there is one."""
        if tensor.shape.rank is not None and len(partition_dimensions) != tensor.shape.rank:
            raise ValueError(
                f"partition_dimensions = {partition_dimensions} must have an entry for each of the tensor's "
                f"{tensor.shape.rank} dimensions"
            )
        if np.prod(partition_dimensions) != 1:
            raise ValueError(
                f"the product of partition_dimensions = {partition_dimensions} must be the number of logical devices "
                "of a replica, which is 1"
            )
        return tensor

    def experimental_replicate_to_logical_devices(self, tensor: Tensor) -> Tensor:
        """Say that all devices of a replica have a tensor."""
        return tensor


TPUStrategyV2 = TPUStrategy


class ExperimentalTPUStrategy(TPUStrategy):
    """The same by its first name in TensorFlow 2."""

    def __init__(self, tpu_cluster_resolver: TPUClusterResolver | None = None, device_assignment: object = None):
        super().__init__(tpu_cluster_resolver, device_assignment)


class TPUStrategyV1(TPUStrategy):
    """The same by its name in TensorFlow 1, where several steps could be one call; each is one here."""

    def __init__(
        self,
        tpu_cluster_resolver: TPUClusterResolver | None = None,
        steps_per_run: int | None = None,
        device_assignment: object = None,
    ):
        super().__init__(tpu_cluster_resolver, device_assignment)
        self.steps_per_run = 1 if steps_per_run is None else steps_per_run


ExperimentalTPUStrategy.__name__ = TPUStrategyV1.__name__ = "TPUStrategy"
