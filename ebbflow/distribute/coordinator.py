"""`tf.distribute.coordinator.ClusterCoordinator`: gives functions to the workers of a cluster.

Each worker has a thread here, which takes one step after the other and runs it there (`cluster.calls`). A step whose
worker is lost is done by another; the worker is used again when its process is back, with its datasets made anew. So a
step is done at least once. A lost parameter server is an error: its variables are gone, and the program must begin
again from its checkpoint. Knows strategies, queues and calls.
"""

from __future__ import annotations

import collections
import threading
import time
import uuid
import weakref
from collections.abc import Callable
from typing import Any

from ebbflow.cluster import calls
from ebbflow.cluster.calls import Call, RemoteResource, kept_by
from ebbflow.cluster.remote_storage import LOST, Home
from ebbflow.core import context, dtypes, errors, nest
from ebbflow.core.spec import TensorSpec, type_spec_from_value
from ebbflow.core.tensor import EagerTensor
from ebbflow.core.typing import Nested
from ebbflow.data import iterator_ops, structure
from ebbflow.data.pipe import Pipe
from ebbflow.data.rebuilding import rebuilt
from ebbflow.distribute import closure_queue, work
from ebbflow.distribute.closure_queue import Closure, ClosureQueue
from ebbflow.distribute.parameter_server import ParameterServerStrategyV2
from ebbflow.distribute.remote_variable import RemoteVariable
from ebbflow.distribute.work import ClosureInputError, PerWorkerIterator, PerWorkerValues, RemoteIterator, RemoteValue
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.function import Function
from ebbflow.ops.declare import raw
from ebbflow.platform import logging
from ebbflow.state import variables

LOOK_SECONDS = 0.2
"""How often a worker that is lost is looked for, and how long an idle one waits before it looks again."""

MOST_CALLS = 64
"""How many functions a worker keeps ready."""

calls.rebuild_dataset[:] = [lambda pipe: rebuilt(pipe) if isinstance(pipe, Pipe) else _not_ours(pipe)]


def _not_ours(resource: Any) -> Any:
    raise errors.InvalidArgumentError(None, None, f"Failed copying input tensor from the coordinator: {resource!r}")


class ClusterCoordinator:
    """Gives functions to the workers of a ParameterServerStrategy; there is one for each strategy."""

    def __new__(cls, strategy: Any) -> ClusterCoordinator:
        if not isinstance(strategy, ParameterServerStrategyV2):
            raise ValueError(
                "Only `tf.distribute.experimental.ParameterServerStrategy` or "
                f"`tf.distribute.ParameterServerStrategy` works with ClusterCoordinator; got {strategy!r}"
            )
        if strategy._cluster_coordinator is None:
            strategy._cluster_coordinator = super().__new__(cls)
        return strategy._cluster_coordinator

    def __init__(self, strategy: Any):
        if not hasattr(self, "_strategy"):
            self._strategy = strategy
            strategy.extended._used_with_coordinator = True
            self._cluster = Workers(strategy)
            weakref.finalize(self, self._cluster.closure_queue.stop)

    @property
    def strategy(self) -> Any:
        """The strategy whose workers these are."""
        return self._strategy

    def schedule(self, fn: Any, args: Any = None, kwargs: Any = None) -> RemoteValue:
        """Have some worker run a tf.function, and return what its result will be, at once."""
        if not isinstance(fn, (Function, ConcreteFunction)):
            raise TypeError(
                "`tf.distribute.experimental.coordinator.ClusterCoordinator.schedule` only accepts a `tf.function` or "
                f"a concrete function. Got {fn!r}"
            )
        args, kwargs = tuple(args or ()), dict(kwargs or {})
        if any(isinstance(leaf, RemoteValue) for leaf in nest.flatten((args, kwargs))):
            raise ValueError("A RemoteValue cannot be given to `schedule`: fetch it first")
        with self._strategy.scope(), work.giving_out():
            concrete = _traced(fn, args, kwargs)
        output = RemoteValue(concrete.structured_outputs)
        self._cluster.closure_queue.put(Closure(concrete, args, kwargs, output))
        return output

    def join(self) -> None:
        """Wait until everything that was scheduled is done; raise the first error that was met since the last call."""
        self._cluster.closure_queue.join()

    def done(self) -> bool:
        """Return whether everything that was scheduled is done; raise the first error that was met."""
        return self._cluster.closure_queue.done()

    def fetch(self, val: Nested) -> Nested:
        """Return a structure with the results of RemoteValues in their places."""
        return nest.map_structure(lambda leaf: leaf.fetch() if isinstance(leaf, RemoteValue) else leaf, val)

    def create_per_worker_dataset(self, dataset_fn: Callable[..., Any]) -> PerWorkerDataset:
        """Return a dataset that every worker has of its own: `dataset_fn()` is traced here and made there."""
        return PerWorkerDataset(dataset_fn, self)

    def _create_per_worker_resources(self, fn: Any, args: Any = None, kwargs: Any = None) -> PerWorkerValues:
        args, kwargs = tuple(args or ()), dict(kwargs or {})
        if not isinstance(fn, (Function, ConcreteFunction)):
            return self._cluster.resources(lambda worker: worker.python(fn, args, kwargs), None)
        with self._strategy.scope(), work.giving_out():
            concrete = _traced(fn, args, kwargs)
        spec = nest.map_structure(lambda t: TensorSpec(t.shape, t.dtype), concrete.structured_outputs)
        return self._cluster.resources(lambda worker: worker.call(concrete, args, kwargs), spec)


def _traced(fn: Any, args: Any, kwargs: Any) -> ConcreteFunction:
    if isinstance(fn, ConcreteFunction):
        return fn
    args, kwargs = nest.map_structure(_spec_of_own, (args, kwargs))
    return fn.get_concrete_function(*args, **kwargs)


def _spec_of_own(leaf: Any) -> Any:
    """Return what a function is traced with: for a value of each worker, the type of one."""
    if not isinstance(leaf, PerWorkerValues):
        return leaf
    if leaf._spec is not None:
        return leaf._spec
    first = leaf._values[0]
    return getattr(first, "_type_spec", None) or type_spec_from_value(first.get())


# --- workers ----------------------------------------------------------------------------------------------------------


class Workers:
    """The workers of a cluster, and the servers that they count on."""

    def __init__(self, strategy: Any):
        self.closure_queue = ClosureQueue(closure_queue.MOST_WAITING)
        homes = strategy._connected.homes
        self._servers = [(home, home.incarnation(60.0)) for home in homes("ps")]
        self.workers = [Worker(self, i, home) for i, home in enumerate(homes("worker"))]

    def resources(self, make: Callable[[Worker], Any], spec: Any) -> PerWorkerValues:
        """Have every worker make something of its own, now and whenever it is back after it was lost."""
        made = PerWorkerValues([RemoteValue(spec) for _ in self.workers], spec)
        for worker, value in zip(self.workers, made._values, strict=True):
            worker.add(value, make)
        return made

    def lost_server(self) -> str | None:
        """Return what became of a parameter server that is lost, or None."""
        for home, incarnation in self._servers:
            try:
                if home.incarnation() == incarnation:
                    continue
                why = "was started again, and its variables are gone"
            except errors.UnavailableError as error:
                why = f"is lost: {error.message}"
            return f"{home.device} {why}. Begin again from the last checkpoint"
        return None

    def cancel(self) -> None:
        """Stop what the workers run."""
        for worker in self.workers:
            worker.cancel()


class Worker:
    """One worker, as the thread that gives it work."""

    def __init__(self, cluster: Workers, index: int, home: Home):
        self.home, self.index, self.device_name = home, index, home.device
        self._cluster, self._queue = cluster, cluster.closure_queue
        self._to_make: collections.deque[tuple[Any, Any]] = collections.deque()
        self._resource_remote_value_refs: list[weakref.ref[RemoteValue]] = []
        self._makers: dict[int, Callable[[Worker], Any]] = {}
        self._calls: collections.OrderedDict[Any, Call] = collections.OrderedDict()
        self._incarnation = ""
        threading.Thread(target=self._serve, daemon=True, name=f"ebbflow-worker-{index}").start()

    def add(self, value: RemoteValue, make: Callable[[Worker], Any]) -> None:
        """Have something made here before the next step."""
        self._to_make.append((weakref.ref(value), make))

    def _serve(self) -> None:
        while not self._queue.stopped:
            self._make_resources()
            closure = self._queue.take(LOOK_SECONDS if not self._to_make else 0.0)
            if closure is not None:
                self._make_resources()
                self._do(closure)
                del closure  # an idle worker keeps nothing alive

    # --- steps --------------------------------------------------------------------------------------------------------

    def _do(self, closure: Closure) -> None:
        try:
            result = self.call(closure.function, closure.args, closure.kwargs, lambda: self._queue.failing)
        except LOST as error:
            self._lost(closure, error)
        except Exception as error:
            closure.output._set_error(error)
            self._queue.failed(error)
            self._cluster.cancel()
        else:
            closure.output._set_value(result)
            self._queue.finished()

    def _lost(self, closure: Closure, error: errors.OpError) -> None:
        """Something is gone: a server, which ends the program, or this worker, whose step another does."""
        if self._queue.failing:
            closure.output._set_error(errors.CancelledError(None, None, f"The step was given up: {error.message}"))
            self._queue.finished()
            return
        lost = self._cluster.lost_server()
        if lost is not None:
            failure = errors.UnavailableError(None, None, lost)
            closure.output._set_error(failure)
            self._queue.failed(failure)
            return
        logging.warning("%s is lost (%s): its step is done by another worker", self.device_name, error.message)
        self._queue.put_back(closure)
        self._forget()
        self._await_return()

    def call(
        self, function: ConcreteFunction, args: Any, kwargs: Any, unwanted: Callable[[], bool] = lambda: False
    ) -> Any:
        """Run a function here, and return its result."""
        args, kwargs = nest.map_structure(self._own, (args, kwargs))
        tensors = function._bound(args, kwargs)
        key = (function, kept_by(tensors))
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = Call(function, self.home, tensors)
            while len(self._calls) > MOST_CALLS:
                self._calls.popitem(last=False)[1].close()
        else:
            self._calls.move_to_end(key)
        try:
            return call(tensors, unwanted)
        except LOST:
            call.close()
            raise

    def _own(self, leaf: Any) -> Any:
        """Return what this worker has of an argument."""
        if not isinstance(leaf, PerWorkerValues):
            return leaf
        value = leaf._values[self.index]
        try:
            return value.get()
        except Exception as error:
            raise error if isinstance(error, ClosureInputError) else ClosureInputError(error) from error

    def cancel(self) -> None:
        """Stop what runs here."""
        for call in list(self._calls.values()):
            call.close()

    # --- what it keeps ------------------------------------------------------------------------------------------------

    def python(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call a Python function whose variables are this worker's."""
        args, kwargs = nest.map_structure(self._own, (args, kwargs))
        with variables.made_by(lambda **given: RemoteVariable(self.home, **given)):
            return fn(*args, **kwargs)

    def _make_resources(self) -> None:
        while self._to_make:
            ref, make = self._to_make.popleft()
            value = ref()
            if value is None:
                continue  # nobody wants it any more
            try:
                value._set_value(make(self))
            except LOST:
                self._to_make.appendleft((ref, make))
                if self._cluster.lost_server() is not None or self._queue.stopped:
                    return
                self._forget()
                self._await_return()
                continue
            except Exception as error:
                value._set_error(ClosureInputError(error))
            self._resource_remote_value_refs.append(ref)
            self._makers[id(ref)] = make

    def _forget(self) -> None:
        """What the worker kept is gone with its process: functions are sent again, and datasets made again."""
        self.cancel()
        self._calls.clear()
        self.home.close()
        refs, self._resource_remote_value_refs = self._resource_remote_value_refs, []
        makers, self._makers = self._makers, {}
        for ref in refs:
            value = ref()
            if value is not None:
                value._rebuild()
                self._to_make.append((ref, makers[id(ref)]))

    def _await_return(self) -> None:
        while not self._queue.stopped:
            try:
                self.home.incarnation()
            except errors.UnavailableError:
                time.sleep(LOOK_SECONDS)
            else:
                return


# --- datasets ---------------------------------------------------------------------------------------------------------


class PerWorkerDataset:
    """A dataset that every worker has of its own."""

    def __init__(self, dataset_or_fn: Any, coordinator: ClusterCoordinator):
        self._coordinator = coordinator
        self._element_spec: Any = None
        dataset_fn = dataset_or_fn
        if not callable(dataset_or_fn):
            dataset_fn = lambda: dataset_or_fn
        python = dataset_fn.python_function if isinstance(dataset_fn, Function) else dataset_fn

        def start(handle: Any) -> None:
            dataset = python()
            if not hasattr(dataset, "_variant_tensor"):
                raise ValueError(f"Expected `dataset_fn` to return a dataset, got {dataset!r}")
            self._element_spec = dataset.element_spec
            variant = dataset._variant_tensor
            if isinstance(variant, EagerTensor) and not callable(dataset_or_fn):
                variant = rebuilt(variant._array.item())
            iterator_ops.MakeIterator(variant, handle)

        with coordinator.strategy.scope(), work.giving_out():
            function = Function(start, "make_iterator", autograph=True)
            self._start = function.get_concrete_function(TensorSpec([], dtypes.resource))

    @property
    def element_spec(self) -> Any:
        """The type of an element."""
        return self._element_spec

    def __iter__(self) -> PerWorkerIterator:
        if not context.executing_eagerly() and not self._coordinator.strategy._should_use_with_coordinator:
            raise RuntimeError("A dataset of each worker is iterated over eagerly")
        attrs = structure.types_and_shapes(self._element_spec)

        def make(worker: Worker) -> RemoteIterator:
            name = f"iterator.{uuid.uuid4().hex}"  # of its own each time: the last one's is forgotten when that goes
            resource = RemoteResource(worker.home, "IteratorV2", shared_name=name, container="", **attrs)
            iterator = RemoteIterator(resource, self._element_spec)
            worker.call(self._start, (iterator._resource,), {})
            weakref.finalize(iterator, _destroy, worker.home, iterator._resource).atexit = False
            return iterator

        values = self._coordinator._cluster.resources(make, None)._values
        return PerWorkerIterator(values, self._element_spec)


def _destroy(home: Home, handle: EagerTensor) -> None:
    """Have a worker forget an iterator."""

    def tell() -> None:
        try:
            home.run(raw.DestroyResourceOp, [handle._array], {"ignore_lookup_error": True})
        except (errors.OpError, RuntimeError):
            return  # a worker that is gone keeps nothing

    threading.Thread(target=tell, daemon=True).start()
