"""Where an iterator is, as a value: what a checkpoint keeps of one, and the ops that take it and give it back.

The state is how many elements were taken and the seeds that the iteration began with, so it is small whatever buffers
hold, and means the same however many calls run at once. Where stages left their order free it is also in which order
their elements came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.data import free_order
from ebbflow.data.free_order import Packed
from ebbflow.data.iterator_ops import position_of
from ebbflow.data.options import ExternalStatePolicy
from ebbflow.data.pipe import Position, stages
from ebbflow.io import variants
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid
from ebbflow.platform import logging

SeedState = tuple[int, int, int]


class State:
    """How far an iterator came, the seeds of its stages when it began, and the order of those that left it free."""

    __slots__ = ("orders", "seeds", "taken")

    def __init__(self, taken: int, seeds: Sequence[SeedState] | None, orders: Packed | None = None):
        self.taken, self.seeds, self.orders = taken, seeds, orders

    @classmethod
    def of(cls, position: Position) -> State:
        """Return where an iterator is."""
        taken = position.taken  # first: what is noted meanwhile does no harm
        return cls(taken, position.all_seeds, position.orders)

    def restore(self, position: Position) -> None:
        """Have an iterator go on from here."""
        position.go_to(self.taken, self.seeds, self.orders)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return the state as arrays.

        They are the count, a row of three numbers for each seeded stage and the iteration, and orders, where any are.
        """
        seeds = np.array([_as_signed(state) for state in self.seeds or ()], np.int64).reshape(-1, 3)
        return np.array(self.taken, np.int64), seeds, *free_order.to_arrays(self.orders or [])

    @classmethod
    def from_arrays(cls, arrays: Sequence[Any]) -> State:
        """Return the state that arrays say; those of old checkpoints lack the seeds."""
        taken = np.asarray(arrays[0])
        seeds = np.asarray(arrays[1]) if len(arrays) > 1 else None
        if taken.size != 1 or int(taken.item()) < 0 or (seeds is not None and (seeds.ndim != 2 or seeds.shape[1] != 3)):
            raise ValueError("an iterator's state is a count and three numbers for each stage in random order")
        states = None if seeds is None else [(a, b, c) for a, b, c in seeds.tolist()]
        return cls(int(taken.item()), states, free_order.from_arrays(arrays[2:]))


def _as_signed(state: SeedState) -> list[int]:
    """Return seeds as numbers of 64 bits with a sign: they name the same stream."""
    return [(n + 2**63) % 2**64 - 2**63 for n in state]


variants.register(State, "ebbflow::IteratorState", State.arrays, State.from_arrays)

SerializeIterator = op(
    "SerializeIterator(resource_handle:resource) -> (serialized:variant) | external_state_policy: int = 0 | stateful",
    shape=lambda resource_handle, **attrs: (1,),
    gradient=FLAT,
)
DeserializeIterator = op(
    "DeserializeIterator(resource_handle:resource, serialized:variant) -> () | stateful",
    shape=lambda resource_handle, serialized: [],
    gradient=FLAT,
)


@SerializeIterator.kernel
def _(xp: Any, resource_handle: Any, *, external_state_policy: Any) -> Any:
    position = position_of(resource_handle)
    _heed(position, external_state_policy)
    box = np.empty(1, object)
    box[0] = State.of(position)
    return box


def _heed(position: Position, policy: int) -> None:
    """Refuse to save an iterator whose functions keep state elsewhere, or say so, where that is asked for."""
    options = position.pipe.options if position.pipe is not None else None
    wanted = options.experimental_external_state_policy if options is not None else None
    kind = ExternalStatePolicy(policy) if wanted is None else wanted
    if position.pipe is None or (kind is not ExternalStatePolicy.FAIL and wanted is not ExternalStatePolicy.WARN):
        return
    stateful = next((s for s in stages(position.pipe) if s.call is not None and s.call.outside), None)
    if stateful is None:
        return
    what = f"{position.name}: what {stateful.name} calls keeps state ({stateful.call.outside}) that is not saved"  # type: ignore[union-attr]
    if kind is ExternalStatePolicy.FAIL:
        raise errors.FailedPreconditionError(None, None, what)
    logging.warning(what)


@DeserializeIterator.kernel
def _(xp: Any, resource_handle: Any, serialized: Any) -> Any:
    position = position_of(resource_handle)
    states = serialized.reshape(-1).tolist()
    if len(states) != 1 or not isinstance(states[0], State):
        names = sorted({getattr(s, "name", type(s).__name__) for s in states})
        raise invalid(f"serialized does not hold the state of an iterator of Ebbflow, but {len(states)} of {names}")
    states[0].restore(position)
    return ()
