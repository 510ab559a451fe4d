"""Datasets that keep elements: made ahead of time in a thread, or once and for all in memory or a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.data.background import Ahead
from ebbflow.data.columns import Block, Columns, in_memory, length, rows_of
from ebbflow.data.file_cache import in_file
from ebbflow.data.fills import FILLS, Apart, Fill, Fills, Within
from ebbflow.data.going_on import Failed, goes_on, told
from ebbflow.data.pipe import AHEAD, NOTED, TYPED, Element, Pipe, begun_anew, dataset_op, made, pipe_of
from ebbflow.data.running import DEBUG, current
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.random.seeds import iteration
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed

PrefetchDataset = dataset_op(
    f"PrefetchDataset(input_dataset:variant, buffer_size:int64) -> (handle:variant) | {TYPED}; slack_period: int = 0; "
    'legacy_autotune: bool = true; buffer_size_min: int = 0; metadata: string = ""',
    lasting=True,
)
CacheDataset = dataset_op(
    f"CacheDataset(input_dataset:variant, filename:string) -> (handle:variant) | {NOTED}", keeps=True
)
CacheDatasetV2 = dataset_op(
    f"CacheDatasetV2(input_dataset:variant, filename:string, cache:resource) -> (handle:variant) | {NOTED} | stateful",
    keeps=True,
)
DummyMemoryCache = op(
    "DummyMemoryCache() -> (handle:resource) | stateful",
    shape=scalar,
    kernel=lambda xp: boxed(None),
    gradient=FLAT,
    facts="copyable",
)

MOST_AHEAD = 64
"""Elements made ahead at most where the size of the buffer is left to us; it grows only while it runs empty."""


@PrefetchDataset.kernel
def _(xp: Any, input_dataset: Any, buffer_size: Any) -> Any:
    source, room = pipe_of(input_dataset), int(buffer_size)
    if room < -1:
        raise invalid(f"buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning, got {room}")
    if room == 0:
        return input_dataset

    def start() -> Iterator[Element]:
        if current.run.mode is DEBUG or 0 <= source.size <= 1:  # nothing comes behind the only element
            return source.start()
        if room > 0:
            return Ahead(source.start, room, most=room)
        return Ahead(source.start, 2, most=MOST_AHEAD, when_worth=True)

    return made(start, source.size, source, role=AHEAD)


# --- in memory --------------------------------------------------------------------------------------------------------


class Memory:
    """All elements of a dataset, once somebody has gone through it to the end: a list of them, or their columns."""

    def __init__(self) -> None:
        self._elements: list[Element] | None = None
        self._columns: Block | None = None
        self.fill: Fill | None = None

    def keep(self, elements: list[Element] | None, columns: Block | None, fill: Fill | None) -> None:
        """Hold what was gone through, and how it came about where that was left to chance."""
        self._elements, self._columns, self.fill = elements, columns, fill

    def held(self) -> tuple[list[Element] | None, Block | None]:
        """Return what this iteration finds, as a list or as columns; nothing where it must go through all once."""
        fills: Fills | None = (iteration.streams or {}).get(FILLS)
        return (self._elements, self._columns) if fills is None or fills.serves(self) else (None, None)

    def filled_by(self, begin: Callable[[], Any]) -> tuple[Any, Fill | None]:
        """Begin what the cache is filled with, and return how that is done where it is left to chance."""
        around = iteration.streams or {}
        fills: Fills | None = around.get(FILLS)
        fill = None if fills is None else fills.begin(self, around)
        if fill is None:
            return begin(), None
        streams = Apart(around, fill.own, fill.draws)
        with begun_anew(streams):
            begun = begin()
        return None if begun is None else Within(begun, streams), fill


def _kept(source: Pipe, memory: Memory) -> Iterator[Element]:
    elements, columns = memory.held()
    if columns is not None:
        return rows_of(in_memory(columns))
    if elements is not None:
        return iter(elements)
    begun, fill = memory.filled_by(source.start)
    return _keeping(begun, memory, source.size, fill)


@goes_on
def _keeping(elements: Iterator[Element], memory: Memory, size: int, fill: Fill | None) -> Iterator[Any]:
    """Yield elements, and keep them when all have come: where their number is known, with the last of them."""
    found = []
    for element in told(elements):
        if element.__class__ is not Failed:
            found.append(element)
            if len(found) == size:
                memory.keep(found, None, fill)
        yield element
    memory.keep(found, None, fill)


def _kept_columns(source: Pipe, memory: Memory) -> Columns | None:
    elements, columns = memory.held()
    if columns is not None:
        return in_memory(columns)
    if elements is not None:
        return None
    given, fill = memory.filled_by(source.by_column)
    return None if given is None else _Keeping(given, memory, source.size, fill)


class _Keeping:
    """Columns that are kept once they have been gone through, or given to the last that is known to come."""

    __slots__ = ("_blocks", "_fill", "_left", "_memory", "_source")

    def __init__(self, source: Columns, memory: Memory, size: int, fill: Fill | None):
        self._source, self._memory, self._fill = source, memory, fill
        self._left = size  # rows to come, where that is known
        self._blocks: list[Block] = []

    def take(self, count: int) -> Block | None:
        """Return the next rows, and keep them."""
        block = self._source.take(count)
        if block is not None:
            self._blocks.append(block)
            self._left -= length(block)
        if self._blocks and (block is None or not self._left):
            whole = tuple([np.concatenate(parts) for parts in zip(*self._blocks, strict=True)])
            self._memory.keep(None, whole, self._fill)
            self._blocks = []
        return block


@CacheDataset.kernel
def _(xp: Any, input_dataset: Any, filename: Any) -> Any:
    return _cached(pipe_of(input_dataset), filename, Memory())


@CacheDatasetV2.kernel
def _(xp: Any, input_dataset: Any, filename: Any, cache: Any) -> Any:
    return _cached(pipe_of(input_dataset), filename, Memory())


def _cached(source: Pipe, filename: Any, memory: Memory) -> Any:
    path = os.fsdecode(filename.item())
    if path:
        return made(lambda: in_file(source, path), source.size, source)
    columns = partial(_kept_columns, source, memory)
    cached = made(lambda: _kept(source, memory), source.size, source, source.rows, columns)
    cached.item().memory = memory
    return cached
