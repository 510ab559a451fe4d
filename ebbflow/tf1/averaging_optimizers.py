"""Optimizers of `tf.contrib.opt` for workers that train copies of their own and meet at times.

A custom getter gives each worker a local copy of what it trains, and a centre that all share. Every so many steps
copies and centre draw together (elastic averaging), the centre becomes the mean of the copies (model averaging), or the
centre takes the step of the gradients that were gathered meanwhile (AGN).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ebbflow.checkpoint.saver import Saver
from ebbflow.core import dtypes
from ebbflow.core.typing import Effect
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.graph.collections import GraphKeys, get_collection_ref
from ebbflow.graph.scopes import control_dependencies, device_scope, group, no_op
from ebbflow.monitored.session_run_hook import SessionRunHook
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.sums import add_n
from ebbflow.state.functions import (
    assign,
    assign_add,
    assign_sub,
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    trainable_variables,
)
from ebbflow.state.queues.accumulators import ConditionalAccumulator
from ebbflow.state.queues.queue import FIFOQueue
from ebbflow.state.variable_scope import get_variable
from ebbflow.state.variables import VariableV1
from ebbflow.train.optimizer import Optimizer

GLOBAL_VARIABLE_NAME = "global_center_variable"
LOCAL_VARIABLE_NAME = "local_center_variable"
GRAD_VARIABLE_NAME = "grad_variable"

Pairs = Iterable[tuple[Any, Any]]


class _Copies:
    """Has each trainable variable made as a local copy on the worker's device, with what goes with it."""

    def __init__(self, worker_device: str) -> None:
        self._worker_device = worker_device

    def __call__(
        self, getter: Callable[..., Any], name: str, trainable: bool, collections: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if trainable:
            with device_scope(self._worker_device):
                local = getter(
                    name, *args, trainable=True, collections=[GraphKeys.LOCAL_VARIABLES], **kwargs
                )  # fmt: skip
            if kwargs.get("reuse") is not True:
                self._accompany(getter, name, local, args, kwargs)
            return local
        is_local = GraphKeys.LOCAL_VARIABLES in (collections or ())
        with device_scope(self._worker_device) if is_local else contextlib.nullcontext():
            return getter(name, *args, trainable=trainable, collections=collections, **kwargs)

    def _accompany(self, getter: Any, name: str, local: Any, args: Any, kwargs: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} must say which variables go with a local one")

    def _second(self, getter: Any, name: str, kind: str, collection: str, args: Any, kwargs: Any) -> Any:
        """Return a variable like another, below a name."""
        return getter(f"{kind}/{name}", *args, trainable=False, collections=[collection], **kwargs)


def _by_part(of: Any, beside: Any, is_parted: bool) -> dict[Any, Any]:
    return dict(zip(list(of), list(beside), strict=True)) if is_parted else {of: beside}


class _Centred(_Copies):
    """Gives each copy a centre that workers share, and another variable of the worker's own."""

    _own = ""

    def __init__(self, worker_device: str) -> None:
        super().__init__(worker_device)
        self._global_map: dict[Any, Any] = {}
        self._own_map: dict[Any, Any] = {}

    def _accompany(self, getter: Any, name: str, local: Any, args: Any, kwargs: Any) -> None:
        centre = self._second(getter, name, GLOBAL_VARIABLE_NAME, GraphKeys.GLOBAL_VARIABLES, args, kwargs)
        with device_scope(self._worker_device):
            own = self._second(getter, name, self._own, GraphKeys.LOCAL_VARIABLES, args, kwargs)
        is_parted = kwargs.get("partitioner") is not None
        self._global_map |= _by_part(local, centre, is_parted)
        self._own_map |= _by_part(local, own, is_parted)


class ElasticAverageCustomGetter(_Centred):
    """A custom getter for `ElasticAverageOptimizer`: copies, centres, and where a worker last saw these."""

    _own = LOCAL_VARIABLE_NAME
    _local_map = property(lambda self: self._own_map)


class AGNCustomGetter(_Centred):
    """A custom getter for `AGNOptimizer`: copies, centres, and the gradients gathered."""

    _own = GRAD_VARIABLE_NAME
    _grad_map = property(lambda self: self._own_map)


class ModelAverageCustomGetter(_Copies):
    """A custom getter for `ModelAverageOptimizer`: copies, and centres that begin like them."""

    def __init__(self, worker_device: str) -> None:
        super().__init__(worker_device)
        self._local_2_global: dict[Any, Any] = {}

    def _accompany(self, getter: Any, name: str, local: Any, args: Any, kwargs: Any) -> None:
        self._local_2_global[local] = VariableV1(
            local.initialized_value(), trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES],
            name=f"{GLOBAL_VARIABLE_NAME}/{name}",
        )  # fmt: skip


class _AtStart(SessionRunHook):
    """Has copies begin where their centres are."""

    def __init__(self, make: Callable[[], Any], is_chief: bool, runs: bool = True) -> None:
        self._make, self._is_chief, self._runs = make, is_chief, runs

    def begin(self) -> None:
        """Make the operations, while the graph may change."""
        self._local_init_op = local_variables_initializer()
        self._global_init_op = global_variables_initializer() if self._is_chief else None
        self._variable_init_op = self._make()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Run them."""
        if self._runs:
            session.run(self._variable_init_op)


class _Meeting(Optimizer):
    """Another optimizer for the copies; every so many of a worker's steps something more happens."""

    def __init__(self, opt: Optimizer, period: Any, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._opt: Any = opt
        self._period = period
        self._local_step = get_variable(
            "local_step", initializer=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
        )
        self._opt._prepare()

    def _own_step(self, pairs: Sequence[Any]) -> Any:
        """Take the other's step; what variables it makes are the worker's own."""
        before = {variable.op.name for variable in global_variables()}
        step = self._opt.apply_gradients(pairs)
        shared = get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        made = [variable for variable in shared if variable.op.name not in before]
        get_collection_ref(GraphKeys.LOCAL_VARIABLES).extend(made)
        shared[:] = [variable for variable in shared if variable.op.name in before]
        return step

    def _at_times(self, after: Sequence[Any], meet: Callable[[], Any]) -> Any:
        """Count a step; every so many, after some operations, meet."""
        with control_dependencies(after):
            counted = assign_add(self._local_step, 1, name="local_step_update").op
        with control_dependencies([counted]):
            due = raw.Equal(raw.FloorMod(raw.Identity(self._local_step), self._period), 0)
            return cond_v1(due, meet, no_op)

    def get_slot(self, var: VariableV1, name: str) -> Any:
        """Return the other's slot."""
        return self._opt.get_slot(var, name)


def _trained(pairs: Sequence[Any]) -> list[Any]:
    return [variable for gradient, variable in pairs if gradient is not None]


def _counted(global_step: Any) -> list[Any]:
    return [] if global_step is None else [assign_add(global_step, 1)]


class ElasticAverageOptimizer(_Meeting):
    """Has copies explore around a centre: every `communication_period` steps both go a part of the way between them."""

    BETA = 0.9

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        ea_custom_getter: ElasticAverageCustomGetter,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ) -> None:
        super().__init__(opt, communication_period, use_locking, name)
        self._num_worker, self._synchronous = num_worker, synchronous
        self._local_map, self._global_map = ea_custom_getter._local_map, ea_custom_getter._global_map
        self._moving_rate = self.BETA / communication_period / num_worker if moving_rate is None else moving_rate
        self._rho = self._moving_rate / self._opt._learning_rate if rho is None else rho

    def compute_gradients(self, loss: Any, var_list: Any = None, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Return the gradients of the loss and of the distance from the centre."""
        var_list = var_list or trainable_variables()
        away = [raw.L2Loss(variable - self._local_map[variable]) for variable in var_list]
        return self._opt.compute_gradients(loss + self._rho * add_n(away), var_list, *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Pairs, global_step: Any = None, name: str | None = None) -> Effect:
        """Take the other's step; at times, draw copies and centres together."""
        pairs = list(grads_and_vars)
        copies = _trained(pairs)

        def meet() -> Any:
            seen = [self._local_map[copy].assign(self._global_map[copy]) for copy in copies]
            with control_dependencies(seen):
                ways = [self._moving_rate * (copy - self._local_map[copy]) for copy in copies]
            with control_dependencies(ways):
                moved = [assign_sub(copy, way) for copy, way in zip(copies, ways, strict=True)]
                moved += [assign_add(self._global_map[copy], way) for copy, way in zip(copies, ways, strict=True)]
                return group(*moved, *_counted(global_step))

        return self._at_times([self._own_step(pairs)], meet)

    def get_init_op(self, task_index: int) -> Effect:
        """Return the operation after which copies are where their centres are; synchronous workers wait for all."""
        copies = trainable_variables()
        if not copies or not self._global_map:
            raise ValueError("there are no trainable variables with centres; make them with ElasticAverageCustomGetter")
        begun = [assign(copy, self._global_map[copy]) for copy in copies]
        begun += [assign(self._local_map[copy], self._global_map[copy]) for copy in copies]
        start = group(*begun)
        return self._all_there(start, task_index) if self._synchronous else start

    def _all_there(self, start: Any, task_index: int) -> Any:
        """Return the operation that tells other workers of `start`, and ends when all have told."""
        queues = [
            FIFOQueue(self._num_worker, [dtypes.bool], shapes=[[]], shared_name=f"variable_init_sync_queue{i}")
            for i in range(self._num_worker)
        ]
        with control_dependencies([start]):
            told = [queue.enqueue(False) for i, queue in enumerate(queues) if i != task_index]
        return group(*told, queues[task_index].dequeue_many(len(queues) - 1))

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """Return the hook that has copies begin where their centres are."""
        return _AtStart(lambda: self.get_init_op(task_index), is_chief)

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Saver:
        """Return a Saver that writes centres under the names of the copies."""
        if not self._global_map:
            raise RuntimeError("there are no centres; make variables with ElasticAverageCustomGetter first")
        if not isinstance(var_list, Mapping):
            var_list = {v.op.name: v for v in (trainable_variables() if var_list is None else var_list)}
        centres = {copy.op.name: centre for copy, centre in self._global_map.items()}
        swapped = {
            key: [centres.get(part.op.name, part) for part in kept]
            if isinstance(kept, list)
            else centres.get(kept.op.name, kept)
            for key, kept in var_list.items()
        }
        return Saver(swapped, name=name, **kwargs)


class AGNOptimizer(_Meeting):
    """Gathers gradients while copies go on; every so many steps the centre takes that of their mean."""

    def __init__(
        self,
        optimizer: Optimizer,
        num_worker: int,
        custom_getter: AGNCustomGetter,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ) -> None:
        super().__init__(optimizer, communication_period, use_locking, name)
        self._num_worker = num_worker
        self._global_map, self._grad_map = custom_getter._global_map, custom_getter._grad_map

    def apply_gradients(self, grads_and_vars: Pairs, global_step: Any = None, name: str | None = None) -> Effect:
        """Take the other's step and gather gradients; at times, have the centre take theirs."""
        pairs = list(grads_and_vars)
        copies = _trained(pairs)
        gathered = [self._grad_map[copy] for copy in copies]
        centres = [self._global_map[copy] for copy in copies]
        added = [assign_add(self._grad_map[copy], gradient) for gradient, copy in pairs if gradient is not None]

        def meet() -> Any:
            means = [assign(total, total / self._period) for total in gathered]
            with control_dependencies(means):
                step = self._opt.apply_gradients(zip(gathered, centres, strict=True))
            with control_dependencies([step]):
                moved = [assign(copy, self._global_map[copy].read_value()) for copy in copies]
                cleared = [assign(total, raw.ZerosLike(total)) for total in gathered]
                return group(*_counted(global_step), *moved, *cleared)

        return self._at_times([self._own_step(pairs), *added], meet)

    def get_init_op(self, task_index: int) -> Effect:
        """Return the operation after which copies are where their centres are, and no gradients are gathered."""
        copies = trainable_variables()
        if not copies or not self._global_map:
            raise ValueError("there are no trainable variables with centres; make them with AGNCustomGetter")
        begun = [assign(copy, self._global_map[copy]) for copy in copies]
        return group(*begun, *[assign(self._grad_map[copy], raw.ZerosLike(self._grad_map[copy])) for copy in copies])

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """Return the hook that has copies begin where their centres are."""
        return _AtStart(lambda: self.get_init_op(task_index), is_chief)


class ModelAverageOptimizer(_Meeting):
    """Has the centre become the mean of all workers' copies every `interval_steps`, and the copies the centre."""

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ) -> None:
        super().__init__(opt, interval_steps, use_locking, name)
        self._num_worker, self._is_chief = num_worker, is_chief
        self._local_2_global = ma_custom_getter._local_2_global
        self._accumulators: list[Any] = []
        self._chief_init_op: Any = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Return what the other one computes."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Pairs, global_step: Any = None, name: str | None = None) -> Effect:
        """Take the other's step; at times, meet at the mean."""
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        copies = _trained(pairs)
        update = self._at_times([self._opt.apply_gradients(pairs)], lambda: self._meet(copies, global_step))
        told = [accumulator.set_global_step(global_step, name="SetGlobalStep") for accumulator in self._accumulators]
        self._chief_init_op = group(*told)
        return update

    def _meet(self, copies: Sequence[Any], global_step: Any) -> Any:
        tokens = FIFOQueue(-1, [dtypes.bool], shapes=[[]], shared_name="sync_queue")
        given, means = [], []
        centres = [self._local_2_global[copy] for copy in copies]
        for copy, centre in zip(copies, centres, strict=True):
            with device_scope(centre.device):
                accumulator = ConditionalAccumulator(
                    copy.dtype.base_dtype, shape=copy.shape, shared_name=f"{centre.name}/var_accum"
                )
                given.append(accumulator.apply_grad(copy.read_value(), local_step=global_step))
                means.append(accumulator.take_grad(self._num_worker))
                self._accumulators.append(accumulator)
        with control_dependencies(given):
            if self._is_chief:
                moved = [assign(centre, mean) for centre, mean in zip(centres, means, strict=True)]
                with control_dependencies([*moved, assign_add(global_step, 1)]):
                    met = tokens.enqueue_many(raw.Fill([self._num_worker - 1], False))
            else:
                met = tokens.dequeue()
        with control_dependencies([met]):
            return self._to_centres(copies)

    def _to_centres(self, copies: Sequence[Any]) -> Any:
        if not copies:
            raise ValueError("The list of local_variables should not be empty")
        return group(*[assign(copy, self._local_2_global[copy].read_value()) for copy in copies])

    def get_init_op(self) -> Effect:
        """Return the operation after which copies are where their centres are."""
        return self._to_centres(trainable_variables())

    def make_session_run_hook(self) -> SessionRunHook:
        """Return the hook that makes the operations of the beginning."""
        return _AtStart(self.get_init_op, self._is_chief, runs=False)
