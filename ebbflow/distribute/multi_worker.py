"""`tf.distribute.MultiWorkerMirroredStrategy`: replicas in several processes, with variables that are kept alike.

Every worker runs the same program. Replicas of one worker are those of a `MirroredStrategy`; what goes beyond the
process is a collective op, so it runs eagerly, in functions and in graphs. Values of one call are sent together. A
variable begins with what the first worker gives it. When a worker is lost the others get `UnavailableError`; starting
all of them again is the business of whoever started them (`ebbflow launch`), going on that of checkpoints.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.cluster import members
from ebbflow.cluster.collectives import CollectiveGroup, register
from ebbflow.cluster.endpoint import here
from ebbflow.cluster.resolvers import TFConfigClusterResolver
from ebbflow.cluster.server import Server
from ebbflow.cluster.spec import ClusterSpec
from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.slices import IndexedSlices
from ebbflow.distribute.communication import CommunicationImplementation, CommunicationOptions
from ebbflow.distribute.datasets import Dealing, InputContext
from ebbflow.distribute.mirrored import MirroredExtended, device_names
from ebbflow.distribute.reduce_op import ReduceOp
from ebbflow.distribute.strategy import Strategy
from ebbflow.distribute.values import DistributedValues
from ebbflow.ops.declare import raw
from ebbflow.platform import config
from ebbflow.state.base import Variable

MEMBERS = ("chief", "worker")
GENERATION = "EBBFLOW_GENERATION"

_keys = itertools.count(1)
_names = itertools.count()


class MultiWorkerMirroredStrategy(Strategy):
    """A replica on each device of several workers, which TF_CONFIG or a cluster resolver names."""

    def __init__(self, cluster_resolver: object = None, communication_options: CommunicationOptions | None = None):
        resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        self._resolver = resolver
        workers = Workers(resolver)
        super().__init__(MultiWorkerExtended(self, workers, communication_options or CommunicationOptions()))

    @property
    def cluster_resolver(self) -> Any:
        """What knows the workers."""
        return self._resolver


class ExperimentalMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """The same by its first name, which took the communication before the cluster."""

    def __init__(
        self,
        communication: CommunicationImplementation = CommunicationImplementation.AUTO,
        cluster_resolver: object = None,
    ):
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication))


ExperimentalMultiWorkerMirroredStrategy.__name__ = "MultiWorkerMirroredStrategy"


class Workers:
    """The processes of a strategy: which of them this is, and the group they meet in."""

    def __init__(self, resolver: Any):
        spec = ClusterSpec(resolver.cluster_spec() or {})
        jobs = [job for job in MEMBERS if job in spec.jobs]
        places = [(job, i) for job in jobs for i in spec.task_indices(job)]
        job, index = resolver.task_type, resolver.task_id
        if spec and (not job or index is None):
            raise ValueError("When `cluster_spec` is given, you must also specify `task_type` and `task_id`.")
        if spec:
            members.id_in_cluster(spec, job, index)
        self.served: Server | None = None
        if job not in MEMBERS or len(places) < 2:  # alone, or an evaluator
            self.count, self.rank, self.is_chief, self.group = 1, 0, True, None
            return
        addresses = [spec.task_address(*place) for place in places]
        self.count, self.rank = len(places), places.index((job, index))
        self.is_chief = self.rank == 0
        if addresses[self.rank] not in here.tasks:
            self.served = Server(spec, job, index)
        name = f"workers/{os.environ.get(GENERATION, '')}/{next(_names)}"
        self.group = CollectiveGroup(addresses, self.rank, name)


class MultiWorkerExtended(MirroredExtended):
    """How replicas of several processes do what is asked of a strategy."""

    _group_key = 0
    _all_must_save = True  # what is read over replicas is summed by all workers

    def __init__(self, strategy: Any, workers: Workers, options: CommunicationOptions):
        super().__init__(strategy, device_names(None))
        self._workers, self._options = workers, options
        self._instances = itertools.count(1)
        self._first_replica = workers.rank * len(self._devices)
        self.experimental_between_graph = workers.count > 1
        self._is_chief = workers.is_chief
        if workers.group is not None:
            self._group_key = next(_keys)
            config.wishes.deterministic = True  # or copies drift apart as workers go over to compiled code one by one
            register(self._group_key, workers.group)

    @property
    def should_checkpoint(self) -> bool:  # type: ignore[override]
        """Whether this worker saves: the chief does."""
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:  # type: ignore[override]
        """Whether this worker writes summaries: the chief does."""
        return self._is_chief

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self._devices) * self._workers.count

    def _in_multi_worker_mode(self) -> bool:
        return self._workers.count > 1

    @property
    def _num_hosts(self) -> int:  # type: ignore[override]
        return self._workers.count

    # --- what goes beyond this process --------------------------------------------------------------------------------

    def _keyed(self) -> tuple[Any, ...]:
        """Return what names a call: the group, and a number that all workers count alike."""
        instance = 0 if context.executing_eagerly() else next(self._instances)  # eagerly the order tells them apart
        numbers = (self._workers.count, self._group_key, instance)
        return tuple(convert(number, dtypes.int32) for number in numbers)

    @property
    def _seconds(self) -> float:
        return self._options.timeout_seconds or 0.0

    def _summed(self, tensor: Any) -> Any:
        return raw.CollectiveReduceV2(
            tensor, *self._keyed(), [], merge_op="Add", final_op="Id", timeout_seconds=self._seconds
        )

    def _sums(self, tensors: Sequence[Any]) -> list[Any]:
        """Return the sums of some tensors over workers: those of one dtype travel as one."""
        totals: list[Any] = [None] * len(tensors)
        kinds: dict[Any, list[int]] = {}
        for i, tensor in enumerate(tensors):
            kinds.setdefault(tensor.dtype, []).append(i)
        for dtype, places in kinds.items():
            own = [tensors[i] for i in places]
            sent = dtypes.int32 if dtype not in _SUMMED else dtype
            flat = [raw.Reshape(raw.Cast(t, DstT=sent) if sent is not dtype else t, [-1]) for t in own]
            total = self._summed(flat[0] if len(flat) == 1 else raw.ConcatV2(flat, 0))
            total = total if sent is dtype else raw.Cast(total, DstT=dtype)
            sizes = [raw.Size(t) for t in flat]
            parts = [total] if len(flat) == 1 else raw.SplitV(total, raw.Pack(sizes), 0, num_split=len(flat))
            for i, tensor, part in zip(places, own, parts, strict=True):
                totals[i] = raw.Reshape(part, raw.Shape(tensor))
                totals[i].set_shape(tensor.shape)
        return totals

    def _gathered_rows(self, tensor: Any) -> Any:
        """Return the rows of all workers, one after the other."""
        small = tensor.dtype if tensor.dtype in _GATHERED else dtypes.int32
        sent = tensor if small is tensor.dtype else raw.Cast(tensor, DstT=small)
        rows = raw.CollectiveGatherV2(sent, *self._keyed(), [], timeout_seconds=self._seconds)
        return rows if small is tensor.dtype else raw.Cast(rows, DstT=tensor.dtype)

    def _from_first(self, value: Any) -> Any:
        """Return the first worker's value."""
        dtype = value.dtype
        sent = dtype if dtype in _BROADCAST else dtypes.int64 if dtype.is_integer else dtypes.float32
        keys = self._keyed()
        if self._workers.rank == 0:
            tensor = value if sent is dtype else raw.Cast(value, DstT=sent)
            first = raw.CollectiveBcastSendV2(tensor, *keys, timeout_seconds=self._seconds)
        else:
            first = raw.CollectiveBcastRecvV2(*keys, raw.Shape(value), T=sent, timeout_seconds=self._seconds)
        return first if sent is dtype else raw.Cast(first, DstT=dtype)

    # --- variables ----------------------------------------------------------------------------------------------------

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        if self._workers.count == 1:
            return super()._create_variable(next_creator, **kwargs)
        initial, dtype = kwargs.get("initial_value"), kwargs.get("dtype")
        dtype = None if dtype is None else dtypes.as_dtype(dtype)

        def agreed() -> Any:
            value = initial() if callable(initial) else initial
            value = value.value() if isinstance(value, Variable) else convert(value, dtype)
            return value if value.dtype == dtypes.string else self._from_first(value)

        kwargs["initial_value"] = agreed
        return super()._create_variable(next_creator, **kwargs)

    # --- values -------------------------------------------------------------------------------------------------------

    def _reduce_to(self, op: ReduceOp, value: Any) -> Any:
        return self._reduce_all(op, [value])[0]

    def _reduce_all(self, op: ReduceOp, values: Sequence[Any]) -> list[Any]:
        if self._workers.count == 1:
            return [super(MultiWorkerExtended, self)._reduce_to(op, value) for value in values]
        local = [self._local_sum(value) for value in values]
        dense = [i for i, part in enumerate(local) if not isinstance(part, IndexedSlices)]
        sums = dict(zip(dense, self._sums([local[i] for i in dense]), strict=True))
        totals = [sums[i] if i in sums else self._rows(part) for i, part in enumerate(local)]
        return totals if op is ReduceOp.SUM else [_divided(total, self._num_replicas_in_sync) for total in totals]

    def _local_sum(self, value: Any) -> Any:
        """Return the sum over the replicas of this process."""
        parts = list(value.values) if isinstance(value, DistributedValues) else value
        parts = parts if isinstance(parts, list) else [parts] * len(self._devices)
        if all(isinstance(part, IndexedSlices) for part in parts):
            joined = [raw.ConcatV2(list(a), 0) if len(a) > 1 else a[0] for a in
                      ([p.values for p in parts], [p.indices for p in parts])]  # fmt: skip
            return IndexedSlices(joined[0], joined[1], parts[0].dense_shape)
        parts = [convert(part) for part in parts]
        return raw.AddN(parts) if len(parts) > 1 else parts[0]

    def _rows(self, part: IndexedSlices) -> IndexedSlices:
        values, indices = self._gathered_rows(part.values), self._gathered_rows(part.indices)
        return IndexedSlices(values, indices, part.dense_shape)

    def _all_reduced(self, op: ReduceOp, tensors: list[Any]) -> list[Any]:
        return self._reduce_all(op, tensors)

    def _reduce(self, op: ReduceOp, value: Any, axis: Any) -> Any:
        if axis is None or self._workers.count == 1:
            return super()._reduce(op, value, axis)
        parts = [convert(part) for part in self._local_results(value)]
        if parts[0].shape.rank == 0:  # Keras 3 asks for the mean of metrics along an axis that they do not have
            return self._reduce_to(op, value)
        total = raw.AddN([raw.Sum(part, axis) for part in parts])
        if op is ReduceOp.SUM:
            return self._sums([total])[0]
        counts = raw.AddN([raw.GatherV2(raw.Shape(part), axis, 0) for part in parts])
        total, count = self._sums([total, counts])
        return total / raw.Cast(count, DstT=total.dtype)

    def _gather(self, value: Any, axis: int) -> Any:
        own = super()._gather(value, axis)
        if self._workers.count == 1:
            return own
        rank = own.shape.rank
        if rank is None or not -rank <= axis < rank or rank == 0:
            raise ValueError(f"gather: axis {axis} of a value of shape {own.shape}")
        axis %= rank
        order = [axis, *(i for i in range(rank) if i != axis)]
        back = [order.index(i) for i in range(rank)]
        rows = self._gathered_rows(raw.Transpose(own, order) if axis else own)
        return raw.Transpose(rows, back) if axis else rows

    # --- data ---------------------------------------------------------------------------------------------------------

    def _distribute_dataset(self, dataset: Any, options: Any) -> Any:
        return super()._distribute_dataset(_share(dataset, self._workers.count, self._workers.rank), options)

    def _datasets_from_function(self, dataset_fn: Callable[..., Any], options: Any) -> Any:
        workers, rank = self._workers.count, self._workers.rank
        return self._dealt(dataset_fn(InputContext(workers, rank, self._num_replicas_in_sync)))


def _share(dataset: Any, workers: int, rank: int) -> Any:
    """Return a worker's share of a dataset of global batches: its rows of every batch.

    Every worker goes over the whole dataset and takes its rows; where the dataset's options turn sharding off it goes
    over all rows, in batches of a worker's size.
    """
    if workers == 1:
        return dataset
    policy = getattr(dataset.options().experimental_distribute, "auto_shard_policy", None)
    if getattr(policy, "name", "") == "OFF":
        size = dataset._rows_asked
        return dataset if size == -1 else dataset.rebatch(-(-size // workers))
    dealing = Dealing(workers)

    def own(*element: Any) -> Any:
        dealt = dealing.deal(element if len(element) > 1 else element[0])
        return nest.map_structure(lambda leaf: leaf.values[rank], dealt, expand_composites=False)

    return dataset.map(own)


def _divided(value: Any, count: int) -> Any:
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / count, value.indices, value.dense_shape)
    return value / count if value.dtype.is_floating else value // count


_SUMMED = (dtypes.bfloat16, dtypes.float32, dtypes.float16, dtypes.float64, dtypes.int32, dtypes.int64)
_GATHERED = (dtypes.float32, dtypes.float16, dtypes.float64, dtypes.int32, dtypes.int64)
_BROADCAST = (dtypes.bool, *_GATHERED)
