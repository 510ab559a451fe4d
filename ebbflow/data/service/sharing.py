"""How the workers of a data service share a dataset: what each gives instead of all elements.

    OFF            each worker gives all of them
    DYNAMIC        the elements of each source are dealt out to whoever is ready for more
    FILE           each has its own files
    DATA           each gives every so-manieth element
    HINT           as DATA, where the dataset says `shard(SHARD_HINT, SHARD_HINT)`

A worker has made the dataset for itself, so the stages of its pipe may be told to start otherwise. Knows pipes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.data.pipe import Element, Pipe, stages
from ebbflow.data.selecting import SHARD_HINT

DEALT = 64
"""Elements of a source that a worker gets at once at most: fewer where it is short, so that all workers have some."""


def share(pipe: Pipe, mode: str, place: int, places: int, deal: Callable[[int, int, int], int]) -> None:
    """Have a pipe give this worker's share, the `place`-th of `places`; `deal` gives numbers of elements."""
    if mode == "DYNAMIC":
        for number, source in enumerate(_sources(pipe)):
            _deal_out(source, number, deal)
    elif mode in ("FILE", "FILE_OR_DATA"):
        files = [source for source in _sources(pipe) if _is_files(source)]
        if not files and mode == "FILE":
            raise errors.NotFoundError(
                None, None, f"Did not find a shardable source: {[s.name for s in _sources(pipe)]} read no files"
            )
        for source in files:
            _keep_files(source, place, places)
        if not files:
            _keep(pipe, place, places)
    elif mode == "DATA":
        _keep(pipe, place, places)
    elif mode == "HINT":
        for stage in stages(pipe):
            if stage.name == "ShardDataset" and int(stage.made_by[1][1]) == SHARD_HINT:  # type: ignore[index]
                _keep(stage, place, places, stage.inputs[0].start)


def _sources(pipe: Pipe) -> list[Pipe]:
    return [stage for stage in stages(pipe) if not stage.inputs]


def _otherwise(stage: Pipe, start: Callable[[], Iterator[Element]]) -> None:
    stage.elements, stage.columns = start, None


def _keep(stage: Pipe, place: int, places: int, start: Any = None) -> None:
    whole = start or stage.elements
    _otherwise(stage, lambda: itertools.islice(whole(), place, None, places))


def _first_input(source: Pipe) -> tuple[str, np.ndarray]:
    """Return what the op of a source calls its first input, and what it was given there."""
    op, args, _ = source.made_by or (None, (), {})
    if op is None or not op.signature.inputs:
        return "", np.zeros(0)
    first = args[0]
    if isinstance(first, (list, tuple)):
        first = first[0] if len(first) == 1 else np.zeros(0)
    return op.signature.inputs[0].name, np.asarray(first)


def _is_files(source: Pipe) -> bool:
    """Whether a source reads files, or gives what may be names of some."""
    name, given = _first_input(source)
    return name in ("filenames", "patterns") or (given.dtype == object and given.ndim == 1)


def _keep_files(source: Pipe, place: int, places: int) -> None:
    if _first_input(source)[0] != "filenames":
        return _keep(source, place, places)
    op, args, attrs = source.made_by  # type: ignore[misc]
    names = np.asarray(args[0]).reshape(-1)
    if len(names) < places:
        raise errors.InvalidArgumentError(
            None, None, f"not enough for FILE sharding: {len(names)} files are fewer than {places} workers"
        )
    made: Pipe = op.run([names[place::places], *args[1:]], attrs).item()
    source.elements, source.columns = made.elements, made.columns
    return None


def _deal_out(source: Pipe, number: int, deal: Callable[[int, int, int], int]) -> None:
    if "next_func" in (source.made_by or (None, (), {}))[2]:  # whatever a program does in between cannot be left out
        raise errors.UnimplementedError(
            None, None, f"{source.name} cannot be divided among workers (DYNAMIC sharding): use OFF or DATA"
        )
    whole, size, repetitions = source.elements, source.size, itertools.count()
    at_once = min(DEALT, max(1, size // 256))

    def start() -> Iterator[Element]:
        repetition, elements, at = next(repetitions), whole(), 0
        while True:
            first = deal(number, repetition, at_once)
            if 0 <= size <= first:
                return
            wanted = itertools.islice(elements, first - at, first - at + at_once)
            at, count = first + at_once, 0
            for element in wanted:
                count += 1
                yield element
            if count < at_once:
                return

    _otherwise(source, start)
