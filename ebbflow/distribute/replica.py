"""The context of one replica: what `tf.distribute.get_replica_context()` gives inside `strategy.run`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ebbflow.core import context, nest
from ebbflow.core.convert import convert
from ebbflow.core.typing import Message, Nested
from ebbflow.distribute import current, differentiable
from ebbflow.distribute.current import Place
from ebbflow.distribute.reduce_op import ReduceOp, reduce_op_named
from ebbflow.distribute.values import refuse_rows

if TYPE_CHECKING:
    from ebbflow.distribute.strategy import Strategy


class ReplicaContext:
    """One replica of a strategy, as the code it runs sees it."""

    def __init__(self, strategy: Strategy, replica_id_in_sync_group: Nested):
        self._strategy = strategy
        self._number = replica_id_in_sync_group  # among those of this process

    def __enter__(self) -> None:
        self._entered = current.entered(Place(self._strategy, self))
        self._entered.__enter__()

    def __exit__(self, *exc: Any) -> None:
        self._entered.__exit__(*exc)

    @property
    def strategy(self) -> Strategy:
        """The strategy this is a replica of."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas gradients are brought together over."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> int:
        """Which replica this is, from 0."""
        return self._number + self._strategy.extended._first_replica

    @property
    def _replica_id_in_sync_group(self) -> Any:
        return self.replica_id_in_sync_group

    @property
    def devices(self) -> list[str]:
        """The devices this replica runs on."""
        return [self._strategy.extended.worker_devices[self._number]]

    def merge_call(
        self, merge_fn: Callable[..., Any], args: Nested = (), kwargs: Mapping[str, Any] | None = None
    ) -> Nested:
        """Call `merge_fn(strategy, …)` once for all replicas, with the arguments of all, and return its result."""
        current.require_replica_context(self)
        return self._merge_call(merge_fn, args, kwargs or {})

    def _merge_call(self, merge_fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        with current.entered(Place(self._strategy)):
            return merge_fn(self._strategy, *args, **kwargs)

    def all_reduce(self, reduce_op: ReduceOp | str, value: Nested, options: Message | None = None) -> Nested:
        """Return the sum or mean over replicas of each tensor of a structure."""
        op, values = reduce_op_named(reduce_op), nest.flatten(value)
        totals = self._all_reduce(op, values)
        if self._is_differentiated():
            totals = differentiable.reduced(self, op, values, totals)
        return nest.pack_sequence_as(value, totals)

    def _all_reduce(self, op: ReduceOp, tensors: list[Any]) -> list[Any]:
        return self._strategy.extended._all_reduced(op, tensors)

    def all_gather(self, value: Nested, axis: int, options: object = None) -> Nested:
        """Return the values of all replicas one after the other along an axis."""
        refuse_rows("all_gather", value)
        return nest.map_structure(lambda tensor: self._gathered(tensor, axis), value)

    def _gathered(self, value: Any, axis: int) -> Any:
        whole = self._all_gather(value, axis)
        return differentiable.gathered(self, convert(value), axis, whole) if self._is_differentiated() else whole

    def _is_differentiated(self) -> bool:
        """Whether this replica may ask for the gradient of what it does now."""
        if self.num_replicas_in_sync == 1:
            return False
        return bool(context.thread.recorders) or not context.executing_eagerly()

    def _all_gather(self, tensor: Any, axis: int) -> Any:
        return self._strategy.extended._gather(tensor, axis)

    def _update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        return self._strategy.extended._update_in_replica(self, var, fn, args, kwargs or {}, group)
