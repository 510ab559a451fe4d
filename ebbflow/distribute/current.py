"""Which strategy holds in this thread, and whether one replica speaks here or all of them at once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ebbflow.core.typing import Effect
from ebbflow.ops.nn import losses

if TYPE_CHECKING:
    from ebbflow.distribute.strategy import Strategy


class Place(NamedTuple):
    """Where a thread stands: the strategy, the replica (None: across replicas), the device updates are made on."""

    strategy: Any
    replica: Any = None
    update_replica: Any = None


class _Thread(threading.local):
    def __init__(self) -> None:
        self.places: list[Place] = []


thread = _Thread()
_default: list[Any] = []
_chosen: list[Any] = []
_make_default: list[Callable[[], Any]] = []


def provide_default(make: Callable[[], Any]) -> None:
    """Say how the strategy is made that holds where none was chosen."""
    _make_default[:] = [make]


def default_strategy() -> Any:
    """Return the strategy that holds where none was chosen: one replica, no changes to what a program does."""
    if not _default:
        _default.append(_make_default[0]())
    return _default[0]


def _place() -> Place | None:
    if thread.places:
        return thread.places[-1]
    return Place(_chosen[0]) if _chosen else None


def get_strategy() -> Strategy:
    """Return the strategy that holds here."""
    place = _place()
    return default_strategy() if place is None else place.strategy


def has_strategy() -> bool:
    """Return whether another strategy than the default one holds here."""
    return get_strategy() is not default_strategy()


def get_replica_context() -> Any:
    """Return the context of the replica that speaks here, or None where all of them do at once."""
    place = _place()
    return default_strategy()._replica_context if place is None else place.replica


def in_cross_replica_context() -> bool:
    """Return whether code here speaks for all replicas at once: in a strategy's scope, not in one of its replicas."""
    place = _place()
    return place is not None and place.replica is None


def get_update_replica_id() -> Any:
    """Return the replica whose part of a variable is being updated, or None."""
    place = _place()
    return None if place is None else place.update_replica


def experimental_set_strategy(strategy: Strategy) -> None:
    """Make a strategy hold wherever no other scope is open; None: the default one again."""
    if thread.places:
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    _chosen[:] = [] if strategy is None or strategy is default_strategy() else [strategy]


@contextlib.contextmanager
def entered(place: Place) -> Iterator[Any]:
    """Let `place` hold inside the block."""
    thread.places.append(place)
    try:
        yield place.strategy
    finally:
        if thread.places.pop() is not place:
            raise RuntimeError("Scopes of strategies must be closed in the order they were opened.")


def require_replica_context(context: Any) -> None:
    """Refuse a method of a replica that does not speak here."""
    if get_replica_context() is not context:
        raise RuntimeError(
            "The method of a tf.distribute.ReplicaContext was called outside of its replica: "
            "call it in the function that strategy.run runs"
        )


def require_cross_replica(strategy: Any) -> None:
    """Refuse what is for all replicas of a strategy at once inside of one of them, or in another strategy's scope."""
    place = _place()
    if place is None or (place.strategy is strategy and place.replica is None):
        return
    if place.strategy is default_strategy():  # a plain program, which may say so
        return
    if place.strategy is not strategy:
        raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {place.strategy} is not {strategy}")
    raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")


def strategy_supports_no_merge_call() -> bool:
    """Return whether updates can be made in each replica without bringing all of them together first."""
    return not has_strategy() or not get_strategy().extended._use_merge_call()


def maybe_merge_call(fn: Callable[..., Any], strategy: Strategy, *args: Any, **kwargs: Any) -> Effect:
    """Call `fn(strategy, …)` across replicas where the strategy needs that, and else here."""
    if strategy_supports_no_merge_call():
        return fn(strategy, *args, **kwargs)
    return get_replica_context().merge_call(fn, args=args, kwargs=kwargs)


@contextlib.contextmanager
def variable_sync_on_read_context() -> Iterator[None]:
    """Read what each replica has of variables that are summed when read: in a replica's code that is so anyway."""
    yield


@contextlib.contextmanager
def cache_variable_reads() -> Iterator[None]:
    """Let variables of other machines be read once inside the block: here all are near."""
    yield


def _replicas_here() -> int | None:
    if _place() is None:
        return 1
    return None if in_cross_replica_context() else get_strategy().num_replicas_in_sync


losses.replicas[:] = [_replicas_here]
