"""`tf.distribute.ParameterServerStrategy`: variables on parameter servers, steps on workers, one coordinator.

The coordinator's program makes variables in the strategy's scope; they go to the servers in turn, in parts where a
partitioner says so. What runs on the workers is given out by a `ClusterCoordinator`. Variables are eager ones to the
program (`remote_variable`), with the names and devices that TensorFlow gives them.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow.cluster import connection
from ebbflow.cluster.remote_storage import Home
from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import Nested
from ebbflow.distribute import current, work
from ebbflow.distribute.datasets import InputContext
from ebbflow.distribute.reduce_op import ReduceOp
from ebbflow.distribute.remote_variable import RemoteVariable
from ebbflow.distribute.sharded_variable import ShardedVariable
from ebbflow.distribute.strategy import Extended, Strategy
from ebbflow.graph.scopes import init_scope
from ebbflow.platform import logging
from ebbflow.state import variables
from ebbflow.state.partitioners import slices_of

JOBS = ("chief", "worker", "ps", "evaluator")

USAGE = (
    "A `tf.distribute.experimental.ParameterServerStrategy` method is invoked without using "
    "`ClusterCoordinator.schedule`. If you are not tracing a tf.function, this method is possibly executed on the "
    "coordinator, which can be slow. To properly dispatch functions to run on workers, methods like `run` or `reduce` "
    "should be used within a function passed to `tf.distribute.experimental.coordinator.ClusterCoordinator.schedule`."
)


class ParameterServerStrategyV2(Strategy):
    """Variables on parameter servers, and steps that a `ClusterCoordinator` gives to workers."""

    _should_use_with_coordinator = True

    def __init__(self, cluster_resolver: Any, variable_partitioner: Callable[..., Any] | None = None):
        spec = _checked(cluster_resolver)
        self._cluster_resolver = cluster_resolver
        self._num_workers, self._num_ps = len(spec.job_tasks("worker")), len(spec.job_tasks("ps"))
        self._connected = connection.connect(spec, "chief")
        self._cluster_coordinator: Any = None
        super().__init__(ParameterServerExtended(self, self._connected, variable_partitioner))
        logging.info(
            "`tf.distribute.experimental.ParameterServerStrategy` is initialized with cluster_spec: %s", spec.as_dict()
        )

    @property
    def cluster_resolver(self) -> Any:
        """What knows the machines."""
        return self._cluster_resolver

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Make variables on the parameter servers inside the block."""
        with current.entered(current.Place(self)), variables.variable_creator_scope(self._extended._variable):
            yield self

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Nested:
        """Call `fn` in the one replica of the worker that a step was given to."""
        self._extended._check_used_by_schedule()
        return super().run(fn, args, kwargs, options)

    def reduce(self, reduce_op: ReduceOp | str, value: Any, axis: Any = None) -> Nested:
        """Return the sum or mean of a value over the replicas of a worker."""
        self._extended._check_used_by_schedule()
        return None if value is None else super().reduce(reduce_op, value, axis)


def _checked(resolver: Any) -> Any:
    spec = resolver.cluster_spec()
    unknown = [job for job in spec.jobs if job not in JOBS]
    if unknown:
        raise ValueError(f"Disallowed task type found in cluster spec: {unknown}; allowed types are {list(JOBS)}")
    if resolver.task_type is not None and resolver.task_type not in JOBS:
        raise ValueError(f"Unrecognized task_type: {resolver.task_type}, valid task types are: {', '.join(JOBS)}.")
    if "chief" in spec.jobs and spec.num_tasks("chief") > 1:
        raise ValueError("There must be at most one 'chief' job.")
    if "worker" not in spec.jobs or not spec.num_tasks("worker"):
        raise ValueError("There must be at least one worker.")
    if "ps" not in spec.jobs or not spec.num_tasks("ps"):
        raise ValueError("There must be at least one ps.")
    return spec


class ParameterServerExtended(Extended):
    """How variables are given to parameter servers."""

    def __init__(self, strategy: Any, connected: connection.Connected, partitioner: Callable[..., Any] | None):
        super().__init__(strategy)
        self._servers = connected.homes("ps")
        self._num_ps, self._num_workers = len(self._servers), len(connected.homes("worker"))
        self._variable_partitioner = partitioner
        self._variable_count = 0
        self._allow_run_without_coordinator = False
        self._used_with_coordinator = False

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return ("/job:worker/replica:0/task:0/device:CPU:0",)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return tuple(server.device for server in self._servers)

    def _check_used_by_schedule(self) -> None:
        if not work.given_out() and not self._allow_run_without_coordinator:
            logging.warning(USAGE)

    # --- variables ----------------------------------------------------------------------------------------------------

    def variable_created_in_scope(self, v: Any) -> bool:
        """Return whether a variable is one of this strategy's servers."""
        home = getattr(v.variables[0] if isinstance(v, ShardedVariable) else v, "_home", None)
        return home in self._servers

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Iterator[None]:
        """Make variables inside the block where another one is."""

        def beside(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            return next_creator(**{"colocate_with": colocate_with_variable, **kwargs})

        with variables.variable_creator_scope(beside):
            yield

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        beside = kwargs.pop("colocate_with", None)
        if isinstance(beside, ShardedVariable):
            beside = beside.variables[0]
        home = getattr(beside, "_home", None)
        if home is not None:
            return _made_at(home, next_creator, kwargs)
        if self._variable_partitioner is None or beside is not None or kwargs.get("per_worker_variable"):
            return self._in_turn(next_creator, kwargs)
        return self._in_parts(next_creator, kwargs)

    def _in_turn(self, next_creator: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
        home = self._servers[self._variable_count % self._num_ps]
        self._variable_count += 1
        return _made_at(home, next_creator, kwargs)

    def _in_parts(self, next_creator: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
        initial, shape, dtype = _described(kwargs)
        if not shape.rank:
            return self._in_turn(next_creator, kwargs)
        parts = self._parts(shape, dtype)
        if parts == 1:
            return self._in_turn(next_creator, kwargs)
        name = kwargs.get("name") or "Variable"
        made = []
        for i, (offset, part) in enumerate(slices_of(shape.as_list(), parts, 0)):
            own = {**kwargs, "name": f"{name}/part_{i}", "shape": None,
                   "initial_value": functools.partial(_part_of, initial, part, offset, dtype)}  # fmt: skip
            made.append(self._in_turn(next_creator, own))
        return ShardedVariable(made, name)

    def _parts(self, shape: TensorShape, dtype: Any) -> int:
        counts = self._variable_partitioner(shape=shape, dtype=dtype)  # type: ignore[misc]
        rule = f"variable_partitioner must return a list with as many positive numbers as the shape {shape} has axes"
        if not isinstance(counts, (list, tuple)) or len(counts) != shape.rank or not counts or min(counts) < 1:
            raise ValueError(f"{rule}, got {counts}")
        if any(count > 1 for count in counts[1:]):
            raise ValueError(f"{rule}, and divide the first axis only, got {list(counts)}")
        return int(min(counts[0], shape.as_list()[0]))

    # --- running ------------------------------------------------------------------------------------------------------

    def _reduce_to(self, op: ReduceOp, value: Any) -> Any:
        return value

    def _distribute_dataset(self, dataset: Any, options: Any) -> Any:
        return work.WorkersDataset(dataset)

    def _datasets_from_function(self, dataset_fn: Callable[..., Any], options: Any) -> Any:
        takes = inspect.signature(dataset_fn).parameters
        return work.WorkersDataset(dataset_fn(InputContext(1, 0, 1)) if takes else dataset_fn())


def _made_at(home: Home, next_creator: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
    with variables.made_by(functools.partial(RemoteVariable, home)):
        return next_creator(**kwargs)


def _described(kwargs: dict[str, Any]) -> tuple[Any, TensorShape, Any]:
    """Return the initial value (a value, or a function that makes one), and the shape and dtype of the variable."""
    initial, shape, dtype = kwargs.get("initial_value"), kwargs.get("shape"), kwargs.get("dtype")
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    if not callable(initial):
        with init_scope():
            initial = convert(initial, dtype)
    elif shape is None or dtype is None:  # unknown before it is made
        with init_scope():
            made = convert(initial(), dtype)
        initial, shape, dtype = made, made.shape, made.dtype
    shape = initial.shape if shape is None else shape
    return initial, TensorShape(shape), dtypes.as_dtype(initial.dtype if dtype is None else dtype)


def _part_of(initial: Any, shape: list[int], offset: list[int], dtype: Any) -> Any:
    """Return a part of an initial value: made alone where its function knows how, cut out of the whole otherwise."""
    if not callable(initial):
        whole = initial
    else:
        takes = _keywords(initial)
        if takes is None or {"partition_shape", "partition_offset"} <= takes:
            try:
                return convert(initial(partition_shape=tuple(shape), partition_offset=tuple(offset)), dtype)
            except TypeError:
                if takes is not None:
                    raise
        whole = convert(initial(), dtype)
    end = [at + n for at, n in zip(offset, shape, strict=True)]
    return whole[tuple(slice(at, to) for at, to in zip(offset, end, strict=True))]


def _keywords(function: Callable[..., Any]) -> set[str] | None:
    """Return the names of a function's arguments, or None where it takes any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return set()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return {p.name for p in parameters}
