"""Datasets that keep elements: made ahead of time in a thread, or once and for all in memory or a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.data.background import Ahead
from ebbflow.data.columns import Block, Columns, in_memory, length, rows_of
from ebbflow.data.file_cache import in_file
from ebbflow.data.going_on import Failed, goes_on, told
from ebbflow.data.pipe import AHEAD, NOTED, TYPED, Element, Pipe, dataset_op, made, pipe_of
from ebbflow.data.running import DEBUG, current
from ebbflow.ops.declare import FLAT, scalar
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
        self.elements: list[Element] | None = None
        self.columns: Block | None = None


def _kept(source: Pipe, memory: Memory) -> Iterator[Element]:
    if memory.columns is not None:
        return rows_of(in_memory(memory.columns))
    if memory.elements is not None:
        return iter(memory.elements)
    return _keeping(source.start(), memory, source.size)


@goes_on
def _keeping(elements: Iterator[Element], memory: Memory, size: int) -> Iterator[Any]:
    """Yield elements, and keep them when all have come: where their number is known, with the last of them."""
    found = []
    for element in told(elements):
        if element.__class__ is not Failed:
            found.append(element)
            if len(found) == size:
                memory.elements = found
        yield element
    memory.elements = found


def _kept_columns(source: Pipe, memory: Memory) -> Columns | None:
    if memory.columns is not None:
        return in_memory(memory.columns)
    given = source.by_column() if memory.elements is None else None
    return None if given is None else _Keeping(given, memory, source.size)


class _Keeping:
    """Columns that are kept once they have been gone through, or given to the last that is known to come."""

    __slots__ = ("_blocks", "_left", "_memory", "_source")

    def __init__(self, source: Columns, memory: Memory, size: int):
        self._source, self._memory = source, memory
        self._left = size  # rows to come, where that is known
        self._blocks: list[Block] = []

    def take(self, count: int) -> Block | None:
        """Return the next rows, and keep them."""
        block = self._source.take(count)
        if block is not None:
            self._blocks.append(block)
            self._left -= length(block)
        if self._blocks and (block is None or not self._left):
            self._memory.columns = tuple([np.concatenate(parts) for parts in zip(*self._blocks, strict=True)])
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
    return made(lambda: _kept(source, memory), source.size, source, source.rows, columns)
