"""Where an iterator is, as a value: what a checkpoint keeps of one, and the ops that take it and give it back.

The state is how many elements were taken and the seeds that the iteration has drawn, so it is small whatever buffers
hold, and means the same however many calls run at once. Where stages left their order free it is also in which order
their elements came.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.core.registry import registry
from ebbflow.data import free_order
from ebbflow.data.fills import FILLS, Fill, Fills, Recorded
from ebbflow.data.free_order import ORDERS, Orders, Packed
from ebbflow.data.iterator_ops import position_of
from ebbflow.data.options import ExternalStatePolicy
from ebbflow.data.pipe import AHEAD, GATHERS, UNCHANGED, Pipe, Position, loose_stages, stages
from ebbflow.data.random_words import DRAWN, Runs, Seeds
from ebbflow.io import variants
from ebbflow.ops.declare import FLAT
from ebbflow.ops.random.seeds import own_seeds
from ebbflow.ops.sizes import invalid
from ebbflow.ops.strings.arrays import as_bytes
from ebbflow.platform import logging

SeedState = tuple[int, int, int]


class State:
    """Where an iteration is and what it left to chance.

    That is how far it came, the seeds of its stages, the order of those that left it free, by the number of a stage
    which of its seeds were drawn, by the number of a cache how it was filled where others did that, and the names of
    the stages.
    """

    __slots__ = ("draws", "fills", "orders", "over", "seeds", "taken")

    def __init__(
        self,
        taken: int,
        seeds: Sequence[SeedState] | None,
        orders: Packed | None = None,
        draws: dict[int, Runs] | None = None,
        fills: Recorded | None = None,
        over: str = "",
    ):
        self.taken, self.seeds, self.orders = taken, seeds, orders
        self.draws, self.fills, self.over = draws or {}, fills or {}, over

    @classmethod
    def of(cls, position: Position) -> State:
        """Return where an iterator is."""
        taken = position.taken  # first: what is noted meanwhile does no harm
        streams, pipe = position.streams, position.pipe
        seeded = [] if pipe is None else [stage.seeds for stage in loose_stages(pipe).seeded]
        noted = [seeds.noted(streams.get(DRAWN)) for seeds in seeded]
        states = [*[state for state, _ in noted], (*own_seeds(streams), 0)]
        draws = {place: runs for place, (_, runs) in enumerate(noted) if runs}
        fills: Fills | None = streams.get(FILLS)
        below = (
            {} if fills is None else {place: (fill.own, _below(seeded, fill)) for place, fill in fills.read().items()}
        )
        orders: Orders | None = streams.get(ORDERS)
        packed = None if orders is None else orders.packed()
        return cls(taken, states, packed, draws, below, "" if pipe is None else _definition(pipe))

    def restore(self, position: Position) -> None:
        """Have an iterator go on from here."""
        if self.over and position.pipe is not None:
            (mark, _, names), (own, _, found) = self.over.partition(" "), _definition(position.pipe).partition(" ")
            if mark != own:
                what = f"the state is that of an iterator over {names}; {position.name} goes over {found}"
                raise errors.NotFoundError(None, None, f"{what}. {UNCHANGED}")
        seeds = State.of(position).seeds if self.seeds is None else self.seeds  # the oldest states say none
        position.go_to(self.taken, seeds or (), self.orders, self.draws, self.fills)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return the state as arrays.

        They are the count, a row of three numbers for each seeded stage and the iteration, orders (two arrays), a row
        for each run of what was drawn (stage, first, count) or of a fill (stage, first, count, cache), whose seeds have
        a row with the stage -1, and the names of the stages.
        """
        seeds = np.array([_as_signed(state) for state in self.seeds or ()], np.int64).reshape(-1, 3)
        orders = free_order.to_arrays(self.orders or []) or [np.empty(0, np.int64), np.empty(0, np.uint8)]
        rows = [[-1, stage, *run] for stage, runs in self.draws.items() for run in runs]
        for cache, (own, draws) in self.fills.items():
            rows.append([cache, -1, *_as_signed((*own, 0))[:2]])
            rows += [[cache, stage, *run] for stage, runs in draws.items() for run in runs]
        drawn = np.array(rows, np.int64).reshape(-1, 4)
        return np.array(self.taken, np.int64), seeds, *orders, drawn, np.array(self.over.encode(), object)

    @classmethod
    def from_arrays(cls, arrays: Sequence[Any]) -> State:
        """Return the state that arrays say; those of old checkpoints lack some."""
        taken = np.asarray(arrays[0])
        seeds = np.asarray(arrays[1]) if len(arrays) > 1 else None
        if taken.size != 1 or int(taken.item()) < 0 or (seeds is not None and (seeds.ndim != 2 or seeds.shape[1] != 3)):
            raise ValueError("an iterator's state is a count and three numbers for each stage in random order")
        states = None if seeds is None else [(a, b, c) for a, b, c in seeds.tolist()]
        orders = free_order.from_arrays(arrays[2:4] if len(arrays) > 2 and np.asarray(arrays[2]).size else ())
        draws, fills = _from_rows(arrays[4], len(states or ()) - 1) if len(arrays) > 4 else ({}, {})
        over = as_bytes(np.asarray(arrays[5]).item()).decode() if len(arrays) > 5 else ""
        return cls(int(taken.item()), states, orders, draws, fills, over)


def _below(seeded: Sequence[Seeds], fill: Fill) -> dict[int, Runs]:
    """Return what was drawn of whose seeds when a cache was filled, by the number of the stage."""
    found = {place: seeds.noted(fill.draws)[1] for place, seeds in enumerate(seeded)}
    return {place: runs for place, runs in found.items() if runs}


def _from_rows(rows: Any, stages: int) -> tuple[dict[int, Runs], Recorded]:
    """Return what was drawn, and how caches were filled, from the rows that say so."""
    array = np.asarray(rows)
    if array.ndim != 2 or array.shape[1] != 4 or (array[:, 1] >= stages).any():
        raise ValueError("what an iterator's stages drew is four numbers for each run, of stages that there are")
    draws: dict[int, Any] = {}
    fills: dict[int, Any] = {}
    for cache, stage, first, count in array.tolist():
        if stage < 0:
            fills[cache] = (first % 2**64, count % 2**64), {}
        elif first < 0 or not 0 < count < 2**40:
            raise ValueError("an iterator's stages drew runs of numbers below zero")
        else:
            (draws if cache < 0 else fills[cache][1]).setdefault(stage, []).append((first, count))
    return draws, fills


def _definition(pipe: Pipe) -> str:
    """Return what a pipe is made of, as a number and in words, as far as others go on otherwise: how many calls run at
    once, and what is made ahead, is left out.
    """
    marks: dict[int, int] = {}
    waiting = [pipe]
    while waiting:
        stage = waiting[-1]
        missing = [source for source in stage.inputs if id(source) not in marks]
        waiting += missing
        if not missing:
            inside = [marks[id(source)] for source in stage.inputs]
            kind = "" if stage.role == AHEAD else _kind(stage)
            marks[id(stage)] = zlib.crc32(f"{kind}{inside}".encode()) if kind or len(inside) != 1 else inside[0]
            waiting.pop()
    names = [_kind(stage) for stage in stages(pipe) if stage.role != AHEAD]
    return f"{marks[id(pipe)]:08x} {', '.join([name for name in names if name])}"


def _kind(stage: Pipe) -> str:
    declared = registry.find(stage.name)
    if getattr(declared, "silent", False) or not stage.name:
        return ""
    name = re.sub(r"^Parallel|Dataset(V\d+)?$|V\d+$", "", stage.name)
    name = re.sub(r"^Parallel|Dataset$", "", name)
    return f"{name} of {np.asarray(stage.given[0][1]).tolist()}" if stage.role == GATHERS and stage.given else name


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
