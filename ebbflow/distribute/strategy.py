"""`tf.distribute.Strategy`: what a program asks of any strategy; how it is done is in its `extended`.

Knows replicas and values for each of them. `Extended` is right for one replica as it stands; strategies of several
replicas derive from it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import nest
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Message, Nested, TensorLike
from ebbflow.distribute import current
from ebbflow.distribute.current import Place
from ebbflow.distribute.datasets import InputContext, InputIterator, InputReplicationMode
from ebbflow.distribute.reduce_op import ReduceOp, reduce_op_named
from ebbflow.distribute.replica import ReplicaContext
from ebbflow.distribute.values import local_results, refuse_rows, regroup, value_of_replica
from ebbflow.functions.autograph.status import converted_where_on
from ebbflow.graph.scopes import device_scope, group
from ebbflow.ops.reduce import reductions
from ebbflow.state import variables

if TYPE_CHECKING:
    from ebbflow.data.dataset import DatasetV2
    from ebbflow.state.base import Variable


class RunOptions:
    """How `strategy.run` runs its function."""

    def __init__(
        self,
        experimental_enable_dynamic_batch_size: bool = True,
        experimental_bucketizing_dynamic_shape: bool = False,
        experimental_xla_options: Any = None,
    ):
        self.experimental_enable_dynamic_batch_size = experimental_enable_dynamic_batch_size
        self.experimental_bucketizing_dynamic_shape = experimental_bucketizing_dynamic_shape
        self.experimental_xla_options = experimental_xla_options


class _Making(threading.local):
    """Who makes a variable in this thread."""

    def __init__(self) -> None:
        self.strategies: list[Extended] = []


_making = _Making()


class Strategy:
    """Runs a step on replicas, and keeps what they share."""

    _should_use_with_coordinator = False  # nothing is given to other machines
    _scales_loss = False  # an estimator trains: its optimizers, of the first kind, take the mean over replicas

    def __init__(self, extended: Any):
        self._extended = extended
        self._replica_context = ReplicaContext(self, 0)

    @property
    def extended(self) -> Extended:
        """What libraries ask for."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas gradients are brought together over."""
        return self._extended._num_replicas_in_sync

    @property
    def cluster_resolver(self) -> Any:
        """What knows the machines, or None."""
        return None

    @contextlib.contextmanager
    def _scale_loss_for_estimator_enabled(self) -> Iterator[None]:
        """Have optimizers of the first kind take the mean over replicas; estimators ask for it."""
        self._scales_loss = True
        try:
            yield
        finally:
            self._scales_loss = False

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Make variables as this strategy has them inside the block, and let it hold there."""
        current.require_cross_replica(self)
        with self._open():
            yield self

    @contextlib.contextmanager
    def _open(self) -> Iterator[None]:
        with current.entered(Place(self)), variables.variable_creator_scope(self._extended._variable):
            yield

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Nested:
        """Call `fn` once in each replica, with its own values of `args`; return what they gave."""
        if not isinstance(args, (list, tuple)):
            raise ValueError(f"positional args must be a list or tuple, got {type(args)}")
        current.require_cross_replica(self)
        with self._open():
            return self._extended.call_for_each_replica(converted_where_on(fn), args, kwargs or {})

    def reduce(self, reduce_op: ReduceOp | str, value: Nested, axis: int | None = None) -> Tensor:
        """Return the sum or mean of a value over replicas, and along an axis of each where one is given."""
        current.require_cross_replica(self)
        op = reduce_op_named(reduce_op)
        return nest.map_structure(lambda leaf: self._extended._reduce(op, leaf, axis), value)

    def gather(self, value: Nested, axis: int) -> Tensor:
        """Return the values of all replicas one after the other along an axis."""
        current.require_cross_replica(self)
        refuse_rows("gather", value)
        return nest.map_structure(lambda leaf: self._extended._gather(leaf, axis), value)

    def experimental_local_results(self, value: Nested) -> tuple[Any, ...]:
        """Return the value of each replica of this process as a tuple."""
        return self._extended._local_results(value)

    def unwrap(self, value: Nested) -> tuple[Any, ...]:
        """Return the value of each replica as a tuple."""
        return self._extended._local_results(value)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Nested:
        """Return a dataset whose elements are divided among the replicas."""
        return self._extended._distribute_dataset(dataset, options)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[..., Any], options: Message | None = None
    ) -> Nested:
        """Return a dataset made of what `dataset_fn(input_context)` gives."""
        return self._extended._datasets_from_function(dataset_fn, options)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(self, value_fn: Callable[..., Any]) -> Nested:
        """Return a value for each replica: `value_fn(value_context)`."""
        first, here = self._extended._first_replica, len(self._extended.worker_devices)
        count = self.num_replicas_in_sync
        return regroup_values([value_fn(ValueContext(first + i, count)) for i in range(here)])

    def experimental_make_numpy_dataset(self, numpy_input: Nested, session: object = None) -> Nested:
        """Return a dataset of the rows of arrays."""
        return self._extended._numpy_dataset(numpy_input)

    # --- of TF 1 and the first TF 2 -----------------------------------------------------------------------------------

    experimental_run_v2 = run

    def make_dataset_iterator(self, dataset: DatasetV2) -> InputIterator:
        """Return an iterator over a dataset whose elements are divided among the replicas."""
        return InputIterator(self._extended._distribute_dataset(dataset, None))

    def make_input_fn_iterator(
        self,
        input_fn: Callable[[InputContext], DatasetV2],
        replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
    ) -> InputIterator:
        """Return an iterator over the dataset that `input_fn(input_context)` gives."""
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode}")
        return InputIterator(self._extended._datasets_from_function(input_fn, None))

    def experimental_run(self, fn: Callable[..., Any], input_iterator: InputIterator | None = None) -> Nested:
        """Run a function on every replica, with the next element of an iterator where there is one."""
        return self.run(fn, () if input_iterator is None else (input_iterator.get_next(),))

    def group(self, value: Nested, name: str | None = None) -> Nested:
        """Return one operation that waits for a value on every replica."""
        return group(*self.unwrap(value), name=name)

    def colocate_vars_with(self, colocate_with_variable: Variable) -> contextlib.AbstractContextManager[None]:
        """Have variables made inside stand where another one does."""
        return self._extended.colocate_vars_with(colocate_with_variable)

    def configure(
        self,
        session_config: Message | None = None,
        cluster_spec: Nested = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        """Be told of the cluster: what runs in this process has nothing to change."""

    def update_config_proto(self, config_proto: Message) -> Message:
        """Return a session's configuration as this strategy wants it."""
        return config_proto

    def __deepcopy__(self, memo: Any) -> Strategy:
        memo[id(self)] = self
        return self


StrategyV1 = Strategy


def regroup_values(values: list[Any]) -> Any:
    """Return values of replicas as one: of one replica, its own."""
    return values[0] if len(values) == 1 else regroup(values)


class ValueContext:
    """Which replica a value is made for."""

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1):
        self._replica_id_in_sync_group = replica_id_in_sync_group
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        return self._num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> int:
        return self._replica_id_in_sync_group


class Extended:
    """How a strategy does what is asked of it; here: with one replica on one device."""

    def __init__(self, strategy: Strategy, device: str | None = None):
        self._strategy = strategy
        self._device = device
        self._retrace_functions_for_each_device = False

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self.worker_devices)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return (self._device or "/device:CPU:0",)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return self.worker_devices

    def non_slot_devices(self, var_list: Iterable[Any]) -> Nested:
        """Return where variables go that belong to no other variable."""
        return self.parameter_devices[0]

    experimental_between_graph = False
    experimental_should_init = True
    should_checkpoint = True
    should_save_summary = True
    experimental_require_static_shapes = False
    _num_hosts = 1
    _first_replica = 0  # of this process, among those of all
    _global_batch_size = True

    def _in_multi_worker_mode(self) -> bool:
        return False

    def _use_merge_call(self) -> bool:
        return True

    # --- variables ----------------------------------------------------------------------------------------------------

    def _variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        if "use_resource" in kwargs:  # TF 1's variables, which are resources inside every strategy
            kwargs["use_resource"] = True
        if self in _making.strategies:  # its block is open in itself: the inner one has begun
            return next_creator(**kwargs)
        _making.strategies.append(self)
        try:
            return self._create_variable(next_creator, **kwargs)
        finally:
            _making.strategies.pop()

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        with device_scope(self._device) if self._device else contextlib.nullcontext():
            return next_creator(**kwargs)

    def variable_created_in_scope(self, v: Nested) -> bool:
        """Return whether a variable belongs to this strategy."""
        return True

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable: Nested) -> Iterator[None]:
        """Make variables inside the block where another one is."""
        yield

    def value_container(self, value: Nested) -> Nested:
        """Return the distributed value that one replica's part belongs to, or the value."""
        return getattr(value, "_distributed_container", None) or value

    def read_var(self, v: Nested) -> Tensor:
        """Return the value of a variable."""
        return v.read_value()

    # --- running ------------------------------------------------------------------------------------------------------

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Nested = (), kwargs: Mapping[str, Any] | None = None
    ) -> Nested:
        """Call `fn` once in each replica."""
        args, kwargs = nest.map_structure(lambda leaf: value_of_replica(leaf, 0), (tuple(args), kwargs or {}))
        placed = device_scope(self._device) if self._device else contextlib.nullcontext()
        with current.entered(Place(self._strategy, self._strategy._replica_context)), placed:
            return fn(*args, **kwargs)

    def update(
        self,
        var: Variable,
        fn: Callable[..., Any],
        args: Nested = (),
        kwargs: Mapping[str, Any] | None = None,
        group: bool = True,
    ) -> Nested:
        """Call `fn(var, …)` where each part of a variable is."""
        replica = current.get_replica_context()
        if replica is not None and replica.strategy is self._strategy:
            return self._update_in_replica(replica, var, fn, args, kwargs or {}, group)
        current.require_cross_replica(self._strategy)
        return self._update(var, fn, args, kwargs or {}, group)

    def update_non_slot(
        self,
        colocate_with: Nested,
        fn: Callable[..., Any],
        args: Nested = (),
        kwargs: Mapping[str, Any] | None = None,
        group: bool = True,
    ) -> Nested:
        """Call `fn(…)` once for variables that belong to no other."""
        with current.entered(Place(self._strategy, None, 0)):
            result = fn(*args, **(kwargs or {}))
        return result if group else nest.map_structure(self._local_results, result)

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        with current.entered(Place(self._strategy, None, 0)):
            result = fn(var, *args, **kwargs)
        return result if group else nest.map_structure(self._local_results, result)

    def _update_in_replica(
        self, replica: Any, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool
    ) -> Any:
        result = fn(var, *args, **kwargs)
        return result if group else nest.map_structure(self._local_results, result)

    # --- values -------------------------------------------------------------------------------------------------------

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        return local_results(value)

    def _reduce(self, op: ReduceOp, value: Any, axis: Any) -> Any:
        if axis is None:
            return self._reduce_to(op, value)
        reduce = reductions.reduce_sum if op is ReduceOp.SUM else reductions.reduce_mean
        return reduce(convert(value_of_replica(value, 0)), axis=axis)

    def _reduce_to(self, op: ReduceOp, value: Any) -> Any:
        return value_of_replica(value, 0)

    def _reduce_all(self, op: ReduceOp, values: Sequence[Any]) -> list[Any]:
        """Reduce several values; a strategy that sends them anywhere may do so at once."""
        return [self._reduce_to(op, value) for value in values]

    def _all_reduced(self, op: ReduceOp, tensors: list[Any]) -> list[Any]:
        """Return the sums or means that the one replica of this process gets: of one replica alone, the tensors."""
        return tensors

    def reduce_to(
        self, reduce_op: ReduceOp | str, value: Nested, destinations: Nested, options: Message | None = None
    ) -> Tensor:
        """Return the sum or mean of a value over replicas, where `destinations` is."""
        current.require_cross_replica(self._strategy)
        return self._at(destinations, self._reduce_to(reduce_op_named(reduce_op), value))

    def batch_reduce_to(
        self, reduce_op: ReduceOp | str, value_destination_pairs: Nested, options: object = None
    ) -> list[Any]:
        """Do so for several values."""
        current.require_cross_replica(self._strategy)
        pairs = list(value_destination_pairs)
        totals = self._reduce_all(reduce_op_named(reduce_op), [value for value, _ in pairs])
        return [self._at(place, total) for (_, place), total in zip(pairs, totals, strict=True)]

    def _at(self, destinations: Any, value: Any) -> Any:
        """Return a value as it is at its destinations: here there is one."""
        return value

    def broadcast_to(self, tensor: TensorLike, destinations: Nested) -> Nested:
        """Return a value for every replica."""
        return self._at(destinations, tensor)

    def _gather(self, value: Any, axis: int) -> Any:
        return value_of_replica(value, 0)

    # --- data ---------------------------------------------------------------------------------------------------------

    def _distribute_dataset(self, dataset: Any, options: Any) -> Any:
        return dataset

    def _datasets_from_function(self, dataset_fn: Callable[..., Any], options: Any) -> Any:
        return dataset_fn(InputContext(1, 0, self._num_replicas_in_sync))

    def _numpy_dataset(self, numpy_input: Any) -> Any:
        from ebbflow.data.dataset import DatasetV2  # the room of datasets is large, and seldom needed here

        return DatasetV2.from_tensor_slices(numpy_input)

    _input_replication_mode = InputReplicationMode.PER_WORKER
