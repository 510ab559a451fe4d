"""`tf.contrib.distribute`: strategies by the arguments that TensorFlow 1 first had for them.

They are today's strategies. What is here turns numbers of GPUs into devices, and keeps the names of those years.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ebbflow.distribute import current
from ebbflow.distribute.communication import CommunicationImplementation, CommunicationOptions
from ebbflow.distribute.cross_device import CrossDeviceOps, _AllReduce
from ebbflow.distribute.mirrored import MirroredStrategy as TodaysMirroredStrategy
from ebbflow.distribute.multi_worker import MultiWorkerMirroredStrategy


class MirroredStrategy(TodaysMirroredStrategy):
    """A replica on each of some devices: those that are named, or so many GPUs."""

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: CrossDeviceOps | None = None,
    ):
        if cross_device_ops is not None and cross_tower_ops is not None:
            raise ValueError("Only one of cross_device_ops and cross_tower_ops may be given")
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        number = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is not None and number is not None:
            raise ValueError("Must only specify one of `devices` and `num_gpus`.")
        if devices is None and number is not None:
            devices = [f"/device:GPU:{i}" for i in range(number)] or ["/device:CPU:0"]
        super().__init__(devices, cross_device_ops or cross_tower_ops)


class CollectiveAllReduceStrategy(MultiWorkerMirroredStrategy):
    """A replica on each device of the workers that TF_CONFIG names."""

    def __init__(
        self,
        num_gpus_per_worker: int = 0,
        communication: CommunicationImplementation = CommunicationImplementation.AUTO,
    ):
        super().__init__(None, CommunicationOptions(implementation=communication))
        self._num_gpus_per_worker = num_gpus_per_worker


class AllReduceCrossDeviceOps(_AllReduce):
    """Sums that every device gets, by an algorithm that is named: "nccl" or "hierarchical_copy".

    >>> import ebbflow as tf
    >>> both = tf.distribute.DistributedValues([tf.constant(1.0), tf.constant(2.0)])
    >>> float(AllReduceCrossDeviceOps("hierarchical_copy").reduce("sum", both, "/device:CPU:0"))
    3.0
    """

    def __init__(
        self,
        all_reduce_alg: str = "nccl",
        num_packs: int = 1,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ):
        super().__init__(num_packs)
        self._all_reduce_alg = all_reduce_alg


class DistributeConfig(NamedTuple):
    """Which strategies an Estimator trains and evaluates with, and the cluster a client gives the work to."""

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


def get_cross_replica_context() -> Any:
    """Return the strategy that holds here where code speaks for all replicas at once, otherwise None."""
    return current.get_strategy() if current.in_cross_replica_context() else None


def require_replica_context(replica_ctx: Any) -> None:
    """Raise RuntimeError where another replica than this one speaks, or all of them at once."""
    if current.get_replica_context() is not replica_ctx:
        raise RuntimeError(f"Need to be inside the replica context {replica_ctx!r} of `call_for_each_replica()`")
