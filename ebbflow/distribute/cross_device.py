"""Bringing the values of replicas together: `tf.distribute.CrossDeviceOps` and those a program can choose from.

Knows values for each replica and devices of this process. A strategy that is given one of these asks it for every sum;
without one it adds the values up itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.device import canonical_name
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.distribute.communication import CommunicationOptions
from ebbflow.distribute.reduce_op import ReduceOp, reduce_op_named
from ebbflow.distribute.values import DistributedValues, Mirrored, local_results
from ebbflow.graph.scopes import device_scope
from ebbflow.ops.declare import raw

Destinations = Any
"""Where a value is to be: the name of a device, names, or a tensor, variable or distributed value that is there."""


class CrossDeviceOps:
    """Sums and means over replicas, and copies to devices. To make one of your own, derive from it and say how
    `reduce_implementation`, `batch_reduce_implementation` and, where copies need more, `broadcast_implementation` work.
    """

    def reduce(
        self,
        reduce_op: ReduceOp | str,
        per_replica_value: DistributedValues | TensorLike,
        destinations: Destinations,
        options: CommunicationOptions | None = None,
    ) -> Nested:
        """Return the sum or mean of a value over replicas, on each device of `destinations`."""
        parts = local_results(per_replica_value)
        if len(parts) == 1:
            return self.broadcast(parts[0], destinations)
        options = options or CommunicationOptions()
        return self.reduce_implementation(reduce_op_named(reduce_op), per_replica_value, destinations, options)

    def batch_reduce(
        self,
        reduce_op: ReduceOp | str,
        value_destination_pairs: Sequence[tuple[Any, Destinations]],
        options: CommunicationOptions | None = None,
    ) -> list[Any]:
        """Do so for several values, each with its destinations."""
        pairs = list(value_destination_pairs)
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise ValueError(f"value_destination_pairs must be pairs (value, destinations), not {pairs!r}")
        if any(len(local_results(value)) == 1 for value, _ in pairs):
            return [self.reduce(reduce_op, value, place, options) for value, place in pairs]
        options = options or CommunicationOptions()
        return self.batch_reduce_implementation(reduce_op_named(reduce_op), pairs, options)

    def broadcast(self, tensor: TensorLike, destinations: Destinations) -> Nested:
        """Return a value for each device of `destinations`."""
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(
        self, reduce_op: ReduceOp, per_replica_value: Nested, destinations: Destinations, options: CommunicationOptions
    ) -> Nested:
        """Do what `reduce` says, of values of at least two replicas."""
        raise NotImplementedError(
            f"{type(self).__name__}.reduce_implementation: a class derived from tf.distribute.CrossDeviceOps has to "
            "say how values are reduced; tf.distribute.ReductionToOneDevice does"
        )

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Nested, options: CommunicationOptions
    ) -> list[Any]:
        """Do what `batch_reduce` says, of values of at least two replicas."""
        return [self.reduce_implementation(reduce_op, v, place, options) for v, place in value_destination_pairs]

    def broadcast_implementation(self, tensor: TensorLike, destinations: Destinations) -> Nested:
        """Do what `broadcast` says."""
        copies = []
        for device in devices_of(destinations):
            with device_scope(device):
                copies.append(_copied(tensor))
        return copies[0] if len(copies) == 1 else Mirrored(copies)


def devices_of(destinations: Destinations) -> tuple[str, ...]:
    """Return the names of the devices that a destination means.

    >>> devices_of(["cpu:0", "/device:CPU:1"])
    ('/device:CPU:0', '/device:CPU:1')
    """
    if isinstance(destinations, str):
        return (canonical_name(destinations),)
    if isinstance(destinations, DistributedValues):
        return tuple(value.device for value in destinations.values)
    if isinstance(destinations, (list, tuple)):
        return tuple(device for item in destinations for device in devices_of(item))
    return (destinations.device,)


def _copied(value: Any) -> Any:
    if isinstance(value, IndexedSlices):
        shape = None if value.dense_shape is None else raw.Identity(value.dense_shape)
        return IndexedSlices(raw.Identity(value.values), raw.Identity(value.indices), shape)
    return raw.Identity(convert(value))


def _added(parts: Sequence[Any]) -> Any:
    """Return the sum of values; of values of some rows, all rows (one that occurs twice counts twice)."""
    if all(isinstance(part, IndexedSlices) for part in parts):
        values, indices = raw.ConcatV2([p.values for p in parts], 0), raw.ConcatV2([p.indices for p in parts], 0)
        return IndexedSlices(values, indices, parts[0].dense_shape)
    return raw.AddN([convert(part) for part in parts])


def _divided(value: Any, count: int) -> Any:
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / count, value.indices, value.dense_shape)
    return value / count


class ReductionToOneDevice(CrossDeviceOps):
    """Copies all values to one device, adds them up there, and copies the result to where it is wanted.

    >>> import ebbflow as tf
    >>> both = tf.distribute.DistributedValues([tf.constant(1.0), tf.constant(2.0)])
    >>> float(tf.distribute.ReductionToOneDevice().reduce("mean", both, "/device:CPU:0"))
    1.5
    """

    def __init__(self, reduce_to_device: str | None = None, accumulation_fn: Callable[[list[Any]], Any] | None = None):
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn or _added

    def reduce_implementation(
        self, reduce_op: ReduceOp, per_replica_value: Nested, destinations: Destinations, options: CommunicationOptions
    ) -> Nested:
        """Add the values up on one device."""
        parts = list(local_results(per_replica_value))
        with device_scope(self.reduce_to_device or devices_of(destinations)[0]):
            total = self.accumulation_fn([_copied(part) for part in parts])
            if reduce_op is ReduceOp.MEAN:
                total = _divided(total, len(parts))
        return self.broadcast(total, destinations)


class _AllReduce(ReductionToOneDevice):
    """Sums that every device gets. Between devices of one process, which share their memory, there is one sum."""

    def __init__(self, num_packs: int = 1):
        if num_packs < 0:
            raise ValueError(f"{type(self).__name__} requires num_packs >= 0, but {num_packs} is specified")
        super().__init__()
        self._num_packs = num_packs


class HierarchicalCopyAllReduce(_AllReduce):
    """Sums that every device gets, by way of a tree of devices where they are connected in one.

    >>> import ebbflow as tf
    >>> both = tf.distribute.DistributedValues([tf.constant(1.0), tf.constant(2.0)])
    >>> float(tf.distribute.HierarchicalCopyAllReduce().reduce("sum", both, "/device:CPU:0"))
    3.0
    """


class NcclAllReduce(_AllReduce):
    """Sums that every device gets, by NCCL where the devices are GPUs; that is XLA's business.

    >>> import ebbflow as tf
    >>> both = tf.distribute.DistributedValues([tf.constant(1.0), tf.constant(2.0)])
    >>> float(tf.distribute.NcclAllReduce(num_packs=2).reduce("sum", both, "/device:CPU:0"))
    3.0
    """
