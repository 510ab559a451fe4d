"""`tf.distribute.MirroredStrategy`: replicas on the devices of this process, with variables that are kept alike."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.convert import convert
from ebbflow.core.device import canonical_name
from ebbflow.distribute import current
from ebbflow.distribute.cross_device import CrossDeviceOps, devices_of
from ebbflow.distribute.current import Place
from ebbflow.distribute.datasets import DistributedDataset, DistributedDatasetsFromFunction, InputContext
from ebbflow.distribute.distributed_variable import MirroredVariable, SyncOnReadVariable
from ebbflow.distribute.reduce_op import ReduceOp
from ebbflow.distribute.replica_threads import run_replicas
from ebbflow.distribute.strategy import Extended, Strategy
from ebbflow.distribute.values import DistributedValues, Mirrored, regroup, value_of_replica
from ebbflow.engines import devices as engine_devices
from ebbflow.functions.autograph.status import converted_where_on
from ebbflow.functions.function import Function
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import device_scope
from ebbflow.ops.declare import raw
from ebbflow.ops.reduce import reductions
from ebbflow.state.base import VariableAggregation, VariableSynchronization


class MirroredStrategy(Strategy):
    """A replica on each of some devices of this process; a step runs in each, on its share of a batch."""

    _collective_key_base = 0  # tests of TensorFlow's set it, so that strategies do not meet in collective ops

    def __init__(self, devices: Sequence[Any] | None = None, cross_device_ops: CrossDeviceOps | None = None):
        if cross_device_ops is not None and not isinstance(cross_device_ops, CrossDeviceOps):
            raise ValueError(f"cross_device_ops must be a tf.distribute.CrossDeviceOps, not {cross_device_ops!r}")
        super().__init__(MirroredExtended(self, device_names(devices), cross_device_ops))


def device_names(devices: Sequence[Any] | None) -> tuple[str, ...]:
    """Return the full names of some devices: if none are given, of all GPUs, or of the first CPU."""
    if devices is None:
        found = engine_devices.list_logical_devices("GPU") or engine_devices.list_logical_devices("CPU")[:1]
        return tuple(device.name for device in found)
    if isinstance(devices, str) or not devices:
        raise ValueError(f"devices must be a list of device names, not {devices!r}")
    names = tuple(canonical_name(getattr(device, "name", device)) for device in devices)  # logical devices have one
    if len(set(names)) != len(names):
        raise ValueError(f"Duplicates in `devices` argument: {list(devices)}")
    return names


class MirroredExtended(Extended):
    """How several replicas in one process do what is asked of a strategy."""

    def __init__(self, strategy: Any, devices: tuple[str, ...], cross_device_ops: CrossDeviceOps | None = None):
        super().__init__(strategy, devices[0])
        self._cross_device_ops = cross_device_ops
        self._devices = devices
        self._functions: weakref.WeakKeyDictionary[Function, Function] = weakref.WeakKeyDictionary()

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return self._devices

    def non_slot_devices(self, var_list: Any) -> Any:
        """Return where variables go that belong to no other variable: everywhere."""
        return self._devices

    # --- variables ----------------------------------------------------------------------------------------------------

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        synchronization = kwargs.pop("synchronization", None) or VariableSynchronization.AUTO
        aggregation = kwargs.pop("aggregation", None) or VariableAggregation.NONE
        if synchronization is VariableSynchronization.NONE:
            raise ValueError("`NONE` variable synchronization mode is not supported with tf.distribute strategies")
        on_read = synchronization is VariableSynchronization.ON_READ
        if on_read and kwargs.get("trainable") is None:
            kwargs["trainable"] = False
        collections = kwargs.pop("collections", None)
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        copies: list[Any] = []
        kwargs["collections"] = []  # the variable stands for its copies there
        for i, device in enumerate(self._devices):
            if i:
                name = f"{copies[0]._name}/replica_{i}"
                kwargs.update(initial_value=_value_of(copies[0]), name=name, dtype=None, shape=None)
            with device_scope(device):
                copies.append(next_creator(**kwargs))
        kind = SyncOnReadVariable if on_read else MirroredVariable
        made = kind(self._strategy, copies, aggregation)
        if not context.executing_eagerly():
            _collect(made, collections)
        return made

    def variable_created_in_scope(self, v: Any) -> bool:
        """Return whether a variable belongs to this strategy."""
        return getattr(v, "_distribute_strategy", None) is self._strategy  # Keras 2's casting variables pass it on

    def value_container(self, value: Any) -> Any:
        """Return the distributed value that one replica's part belongs to, or the value."""
        container = getattr(value, "_distributed_container", None)
        return value if container is None else container()

    # --- running ------------------------------------------------------------------------------------------------------

    def call_for_each_replica(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Call `fn` once in each replica."""
        if len(self._devices) == 1:
            return super().call_for_each_replica(fn, args, kwargs)
        if isinstance(fn, Function):  # one graph for all replicas, so that they can be brought together inside it
            return self._around(fn)(tuple(args), kwargs or {})
        return run_replicas(self._strategy, self._devices, fn, args, kwargs or {})

    def _around(self, fn: Function) -> Function:
        """Return a function of TensorFlow's kind that runs what another one runs in every replica."""
        if fn not in self._functions:
            inner = converted_where_on(fn.python_function, by_default=fn._autograph)

            def each(args: Any, kwargs: Any) -> Any:
                return run_replicas(self._strategy, self._devices, inner, args, kwargs)

            self._functions[fn] = Function(each, fn._name, autograph=False, jit_compile=fn._jit_compile)
        return self._functions[fn]

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        if not isinstance(var, DistributedValues):
            return super()._update(var, fn, args, kwargs, group)
        results = []
        for i, device in enumerate(self._devices):
            own_args, own_kwargs = nest.map_structure(
                lambda leaf, i=i: value_of_replica(leaf, i), (tuple(args), kwargs)
            )
            with current.entered(Place(self._strategy, None, i)), device_scope(device):
                results.append(fn(var.values[i], *own_args, **own_kwargs))
        if group:
            return regroup(results)
        return nest.map_structure(self._local_results, regroup(results))

    def _update_in_replica(
        self, replica: Any, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool
    ) -> Any:
        number = replica._number
        with current.entered(Place(self._strategy, replica, number)):
            return fn(value_of_replica(var, number), *args, **kwargs)

    # --- values -------------------------------------------------------------------------------------------------------

    def _reduce(self, op: ReduceOp, value: Any, axis: Any) -> Any:
        if axis is None:
            return self._reduce_to(op, value)
        parts = [convert(part) for part in self._local_results(value)]
        total = raw.AddN([reductions.reduce_sum(part, axis=axis) for part in parts])
        if op is ReduceOp.SUM:
            return total
        counts = raw.AddN([raw.GatherV2(raw.Shape(part), axis, 0) for part in parts])
        return total / raw.Cast(counts, DstT=total.dtype)

    def _reduce_to(self, op: ReduceOp, value: Any) -> Any:
        if not isinstance(value, DistributedValues):
            return self._reduce_same(op, value)
        if self._cross_device_ops is not None:
            return value_of_replica(self._cross_device_ops.reduce(op, value, self._devices[0]), 0)
        parts = [_dense(part) for part in value.values]
        total = raw.AddN(parts) if len(parts) > 1 else parts[0]
        return total if op is ReduceOp.SUM else total / len(parts)

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, DistributedValues):
            return value.values
        if not nest.is_nested(value):
            return (value,)
        return tuple(nest.map_structure(lambda leaf, i=i: value_of_replica(leaf, i), value)
                     for i in range(len(self._devices)))  # fmt: skip

    def _at(self, destinations: Any, value: Any) -> Any:
        """Return a value as it is on each device of a distributed value, or of a list; on one device itself."""
        several = isinstance(destinations, DistributedValues | list | tuple)
        count = len(devices_of(destinations)) if several else 1
        return value if count == 1 or isinstance(value, DistributedValues) else Mirrored([value] * count)

    def _reduce_same(self, op: ReduceOp, value: Any) -> Any:
        """Return what a value that is the same on all replicas is reduced to."""
        if op is ReduceOp.MEAN or len(self._devices) == 1 or (isinstance(value, (int, float)) and value == 0):
            return value
        return value * len(self._devices)

    def _gather(self, value: Any, axis: int) -> Any:
        parts = [convert(part) for part in self._local_results(value)]
        return raw.ConcatV2(parts, axis) if len(parts) > 1 else parts[0]

    # --- data ---------------------------------------------------------------------------------------------------------

    def _distribute_dataset(self, dataset: Any, options: Any) -> Any:
        return dataset if len(self._devices) == 1 else DistributedDataset(dataset, len(self._devices))

    def _datasets_from_function(self, dataset_fn: Callable[..., Any], options: Any) -> Any:
        return self._dealt(dataset_fn(InputContext(1, 0, len(self._devices))))

    def _dealt(self, dataset: Any) -> Any:
        """Return a dataset whose elements go to the replicas of this process one after the other."""
        count = len(self._devices)
        return dataset if count == 1 else DistributedDatasetsFromFunction(dataset, count)


def _value_of(variable: Any) -> Any:
    """Return the value of a variable, for another one; in a function, how it is asked for where variables are made."""
    graph = context.current_graph()
    return variable.value if graph is not None and graph.building_function else variable.value()


def _collect(variable: Any, collections: Sequence[str]) -> None:
    """Put a variable in collections of the graph: what looks for all variables finds it, and none of its copies."""
    graph = context.default_graph()
    names = [*collections, GraphKeys.TRAINABLE_VARIABLES] if variable.trainable else list(collections)
    graph.add_to_collections(dict.fromkeys(names), variable)
    copies = {id(copy) for copy in variable.values}
    held = graph.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
    held[:] = [other for other in held if id(other) not in copies]


def _dense(part: Any) -> Any:
    return convert(part)
