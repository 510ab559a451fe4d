"""Running a function once in each of several replicas: one thread for each, of which one at a time goes on.

A replica runs until its function ends or it asks for all replicas to be brought together (`merge_call`); then the next
one goes on. When all have asked, what they gave is put together and the function they named is called once, outside of
any replica. So programs that build graphs build them in one order, and no two replicas run at the same time.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ebbflow.core import context, nest
from ebbflow.core.tensor import Tensor
from ebbflow.distribute import current
from ebbflow.distribute.current import Place
from ebbflow.distribute.replica import ReplicaContext
from ebbflow.distribute.values import DistributedValues, regroup, value_of_replica
from ebbflow.functions.autograph import status
from ebbflow.graph.scopes import device_scope, name_scope
from ebbflow.ops.declare import raw
from ebbflow.platform.eras import executing_eagerly_outside_functions
from ebbflow.state.variable_scope import get_variable_scope, variable_scope
from ebbflow.state.variables import variable_creator_scope


class Merge(NamedTuple):
    """What a replica asks to be called for all."""

    function: Callable[..., Any]
    args: Any
    kwargs: Any


class ThreadedReplica(ReplicaContext):
    """The context of a replica that runs in a thread of its own."""

    def __init__(self, strategy: Any, number: int, run: Replica):
        super().__init__(strategy, number)
        self._run = run

    def _merge_call(self, merge_fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        return self._run.ask(Merge(merge_fn, tuple(args), kwargs))

    def _all_reduce(self, op: Any, tensors: list[Any]) -> list[Any]:
        totals = self.merge_call(lambda strategy, *values: _reduced(strategy, op, values), tensors)
        return [self._own(total) for total in totals]

    def _all_gather(self, tensor: Any, axis: int) -> Any:
        return self._own(self.merge_call(lambda strategy, value: strategy.extended._gather(value, axis), [tensor]))

    def _is_differentiated(self) -> bool:
        """Whether a tape listens that this replica has opened, or a graph is built: a tape around all replicas hears of
        what they bring together itself.
        """
        count = len(context.thread.recorders)
        return count > self._run.recorders or (not count and not context.executing_eagerly())

    def _own(self, value: Any) -> Any:
        """Return a value that all replicas get as this one's: what they return of it is a value of each."""
        return raw.Identity(value) if self._number and isinstance(value, Tensor) else value


def _reduced(strategy: Any, op: Any, values: Sequence[Any]) -> tuple[Any, ...]:
    """Return sums or means over replicas; of a tensor that is one object in all of them, itself, as in TensorFlow."""
    own = [i for i, value in enumerate(values) if isinstance(value, DistributedValues)]
    totals = dict(zip(own, strategy.extended._reduce_all(op, [values[i] for i in own]), strict=True))
    return tuple(totals.get(i, value) for i, value in enumerate(values))


class Replica:
    """One replica's run of a function: a thread that goes on when it is told to."""

    def __init__(self, strategy: Any, number: int, device: str, function: Callable[[], Any], made: dict[Any, Any]):
        self.context = ThreadedReplica(strategy, number, self)
        self._made, self._taken = made, dict[Any, int]()
        self.strategy, self.number, self.device, self.function = strategy, number, device, function
        self.result: Any = None
        self.error: BaseException | None = None
        self.wish: Merge | None = None
        self.done = False
        self._answer: Any = None
        self._go, self._paused = threading.Semaphore(0), threading.Semaphore(0)
        self._around, self._graph = _surroundings(), context.current_graph()
        self.recorders = len(context.thread.recorders)
        self._scope = None if executing_eagerly_outside_functions() else get_variable_scope()
        self._thread = threading.Thread(target=self._work, name=f"replica_{number}", daemon=True)
        self._thread.start()

    def go_on(self, answer: Any = None) -> None:
        """Let the replica run until it ends or asks for something; raise what it raised."""
        self._answer, self.wish = answer, None
        self._go.release()
        self._paused.acquire()
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        """Let a replica that will not be answered end."""
        if not self.done:
            self._answer = _Stopped()
            self._go.release()
            self._thread.join()

    def ask(self, wish: Merge) -> Any:
        """Called in the replica: wait until all have asked, and return the answer."""
        if context.current_graph() is not self._graph:
            raise RuntimeError(
                "merge_call called while defining a new graph or a tf.function. This can often happen if the function "
                "`fn` passed to `strategy.run()` contains a nested `@tf.function`, and the nested `@tf.function` "
                "contains a synchronization point, such as aggregating gradients (e.g, optimizer.apply_gradients): "
                "move it out of the nested function, or decorate the function given to strategy.run() instead"
            )
        self.wish = wish
        self._paused.release()
        self._go.acquire()
        if isinstance(self._answer, _Stopped):
            raise self._answer
        return self._answer

    def _work(self) -> None:
        self._go.acquire()
        try:
            if isinstance(self._answer, _Stopped):
                return
            for local, state in self._around:
                local.__dict__.update(state)
            place = current.entered(Place(self.strategy, self.context))
            named = name_scope(f"replica_{self.number}") if self.number else contextlib.nullcontext()
            made = variable_creator_scope(self._shared)
            with place, device_scope(self.device), named, self._sharing(), made:
                self.result = self.function()
        except _Stopped:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self.done = True
            self._paused.release()

    def _shared(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        """Return the variable that the first replica has made at this place: it has a copy for each of them."""
        name = kwargs.get("name")
        made = self._made.setdefault(name, [])
        if self.number:
            self._taken[name] = self._taken.get(name, 0) + 1
            if self._taken[name] <= len(made):
                return made[self._taken[name] - 1]
        variable = next_creator(**kwargs)
        if not self.number:
            made.append(variable)
        return variable

    def _sharing(self) -> Any:
        """Where a graph's variables go by scopes: the scope of the caller, where others find what the first made."""
        if self._scope is None:
            return contextlib.nullcontext()
        return variable_scope(self._scope, reuse=True if self.number else None, auxiliary_name_scope=False)


class _Stopped(BaseException):
    """Another replica failed: this one is not needed any more."""


def _surroundings() -> list[tuple[Any, dict[str, Any]]]:
    """Return what the calling thread has around it: the graphs it builds, tapes, devices, names."""
    locals_ = [context.thread, status._thread, current.thread]
    locals_ += [graph._scope for graph in context.thread.scopes if graph is not None]
    locals_.append(context.default_graph()._scope)
    return [(local, {key: _copied(value) for key, value in local.__dict__.items()}) for local in locals_]


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return list(value) if isinstance(value, list) else value


def run_replicas(strategy: Any, devices: Sequence[str], function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Return what `function` gives in each replica, put together."""

    def of(number: int) -> Callable[[], Any]:
        own_args, own_kwargs = nest.map_structure(lambda leaf: value_of_replica(leaf, number), (tuple(args), kwargs))
        return lambda: function(*own_args, **own_kwargs)

    made: dict[Any, list[Any]] = {}
    replicas = [Replica(strategy, i, device, of(i), made) for i, device in enumerate(devices)]
    try:
        answers: list[Any] = [None] * len(replicas)
        while True:
            for replica, answer in zip(replicas, answers, strict=True):
                replica.go_on(answer)
            if all(replica.done for replica in replicas):
                return regroup([replica.result for replica in replicas])
            answers = _merged(strategy, replicas)
    finally:
        for replica in replicas:
            replica.stop()


def _merged(strategy: Any, replicas: Sequence[Replica]) -> list[Any]:
    wishes = [replica.wish for replica in replicas]
    if any(wish is None for wish in wishes):
        raise RuntimeError(
            "Some replicas called merge_call and others have ended: all must call the same merge_calls, in one order"
        )
    args = regroup([wish.args for wish in wishes])  # type: ignore[union-attr]
    kwargs = regroup([wish.kwargs for wish in wishes])  # type: ignore[union-attr]
    with current.entered(Place(strategy)):
        result = wishes[0].function(strategy, *args, **kwargs)  # type: ignore[union-attr]
    return [nest.map_structure(lambda leaf, i=i: value_of_replica(leaf, i), result) for i in range(len(replicas))]
