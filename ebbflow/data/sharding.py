"""How workers share a dataset: what each of them gives instead of all elements.

    OFF            each worker gives all of them
    DYNAMIC        the elements of each source are dealt out to whoever is ready for more
    FILE           each has its own files
    DATA           each gives every so-manieth element
    AUTO           as FILE where files are read, else as DATA
    HINT           as DATA, where the dataset says `shard(SHARD_HINT, SHARD_HINT)`

A dataset is made again for a worker, with some of its stages exchanged; the one it was made from stays as it is. Knows
pipes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.data.batching import RebatchDataset
from ebbflow.data.calls import bodies_in
from ebbflow.data.options import AutoShardPolicy
from ebbflow.data.pipe import AHEAD, DEALT, TYPED, DatasetOp, Element, Pipe, dataset_op, made, pipe_of, stages
from ebbflow.data.selecting import SHARD_HINT, ShardDataset
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed

AT_ONCE = 64
"""Elements of a source that a worker gets at once at most: fewer where it is short, so that all workers have some."""

AutoShardDataset = dataset_op(
    "AutoShardDataset(input_dataset:variant, num_workers:int64, index:int64) -> (handle:variant) | "
    f"auto_shard_policy: int = 0; {TYPED}; num_replicas: int = 0"
)


@AutoShardDataset.kernel
def _(xp: Any, input_dataset: Any, num_workers: Any, index: Any, *, auto_shard_policy: int, num_replicas: int) -> Any:
    source, places, place = pipe_of(input_dataset), int(num_workers), int(index)
    if places < 1 or not 0 <= place < places:
        raise invalid(f"index should be >= 0 and < num_workers, got index {place} of num_workers {places}")
    mode = AutoShardPolicy(auto_shard_policy).name
    mine = shared(source, mode, place, places, replicas=num_replicas)
    share = made(mine.start, mine.size, source, mine.rows, mine.by_column)
    share.item().name, share.item().inputs = AutoShardDataset.name, (mine,)  # not what it is the share of
    return share


Deal = Callable[[int, int, int], int]


def shared(
    pipe: Pipe, mode: str, place: int, places: int, deal: Deal | None = None, replicas: int = 0, short: bool = True
) -> Pipe:
    """Return the `place`-th of `places` workers' share of a dataset; `deal` gives numbers of elements.

    Where `short`, a worker may go without a file.
    """
    if mode == "DYNAMIC" and deal is not None:
        return _dealt(pipe, deal)
    if mode in ("FILE", "FILE_OR_DATA", "AUTO"):
        found = _by_file(pipe, place, places, short)
        if found is not None:
            return found
        if mode == "FILE":
            names = [stage.name for stage in stages(pipe) if not stage.inputs]
            raise errors.NotFoundError(None, None, f"Found an unshardable source dataset: {names} read no files")
    if mode == "HINT":
        return _exchanged(pipe, lambda stage: _hinted(stage, place, places))
    return pipe if mode == "OFF" else _every(_for_replicas(pipe, replicas), place, places, True)


# --- datasets made again ----------------------------------------------------------------------------------------------


def _exchanged(pipe: Pipe, change: Callable[[Pipe], Pipe | None], known: dict[int, Pipe] | None = None) -> Pipe:
    """Return a dataset like `pipe` whose stages are what `change` gives for them; None leaves one as it is."""
    known = {} if known is None else known
    if id(pipe) not in known:
        other = change(pipe)
        known[id(pipe)] = other or _remade(pipe, [_exchanged(each, change, known) for each in pipe.inputs])
    return known[id(pipe)]


def _remade(pipe: Pipe, inputs: Sequence[Pipe]) -> Pipe:
    """Return a stage that takes other inputs."""
    fresh = {id(old): new for old, new in zip(pipe.inputs, inputs, strict=True) if old is not new}
    if not fresh:
        return pipe
    if pipe.given is None or pipe.made_by is None:
        raise errors.UnimplementedError(None, None, f"workers cannot share what {pipe.name} makes of a dataset")

    def swapped(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [swapped(each) for each in value]
        if not isinstance(value, np.ndarray) or value.dtype != object or not value.size:
            return value
        if not isinstance(value.flat[0], Pipe):
            return value
        others = np.empty_like(value)
        for place in np.ndindex(value.shape):
            others[place] = fresh.get(id(value[place]), value[place])
        return others

    op, args, attrs = pipe.made_by
    arrays, named = pipe.given
    found: Pipe = op.kernel_fn(np, *map(swapped, arrays), **named).item()
    found.made_by = op, tuple(map(swapped, args)), attrs
    return found


def _every(pipe: Pipe, place: int, places: int, all_have_some: bool = False) -> Pipe:
    found: Pipe = ShardDataset.kernel_fn(
        np, boxed(pipe), np.int64(places), np.int64(place), require_non_empty=all_have_some
    ).item()
    return found


def _hinted(stage: Pipe, place: int, places: int) -> Pipe | None:
    is_hint = stage.made_by is not None and stage.made_by[0] is ShardDataset and int(stage.made_by[1][1]) == SHARD_HINT
    return _every(stage.inputs[0], place, places, True) if is_hint else None


def _for_replicas(pipe: Pipe, replicas: int) -> Pipe:
    """Return a dataset whose batches for replicas are each cut up by itself: workers skip whole ones."""

    def change(stage: Pipe) -> Pipe | None:
        if stage.name != "RebatchDatasetV2":
            return None
        found: Pipe = RebatchDataset.kernel_fn(np, boxed(stage.inputs[0]), np.int64(replicas)).item()
        return found

    return _exchanged(pipe, change) if replicas > 1 else pipe


# --- by the file ------------------------------------------------------------------------------------------------------


def _by_file(pipe: Pipe, place: int, places: int, short: bool) -> Pipe | None:
    """Return a dataset that reads a worker's files alone; None where some of its elements come from none."""
    if pipe.call is not None and _reads_files(pipe.call.body):
        return _remade(pipe, [_some_files(pipe.inputs[0], place, places, not short), *pipe.inputs[1:]])
    if not pipe.inputs:
        return _of_files(pipe, place, places, short)
    if pipe.looks_back:
        return None
    if pipe.name == "AssertCardinalityDataset":  # which speaks of the whole
        return _by_file(pipe.inputs[0], place, places, short)
    inputs = [_by_file(each, place, places, short) for each in pipe.inputs]
    return None if None in inputs else _remade(pipe, inputs)  # type: ignore[arg-type]


def _some_files(names: Pipe, place: int, places: int, all_have_some: bool) -> Pipe:
    """Return every so-manieth name of a file, chosen before they are put into random order: each worker has its own."""
    if names.seeds is not None or names.role == AHEAD:  # in random order, or made ahead
        return _remade(names, [_some_files(names.inputs[0], place, places, all_have_some)])
    return _every(names, place, places, all_have_some)


def _is_reader(op: Any) -> bool:
    return isinstance(op, DatasetOp) and any(given.name == "filenames" for given in op.signature.inputs[:1])


def _reads_files(body: Any) -> bool:
    """Return whether a function makes a dataset of the contents of files."""
    return any(_is_reader(node._op) or any(map(_reads_files, bodies_in(node._attrs.values()))) for node in body._nodes)


def _of_files(source: Pipe, place: int, places: int, short: bool) -> Pipe | None:
    if source.made_by is None or not _is_reader(source.made_by[0]):
        return None
    op, args, attrs = source.made_by
    names = np.asarray(args[0]).reshape(-1)
    if len(names) < places and not short:
        raise invalid(f"{len(names)} files are not enough for the required {places} shards/workers.")
    found: Pipe = op.run([names[place::places], *args[1:]], attrs).item()
    return found


# --- by the element, to whoever asks ----------------------------------------------------------------------------------


def _dealt(pipe: Pipe, deal: Deal) -> Pipe:
    """Return a dataset whose sources give what is dealt to this worker; what only guides the others it has whole."""
    whole = {
        id(s) for stage in stages(pipe) if stage.name == "DirectedInterleaveDataset" for s in stages(stage.inputs[0])
    }
    numbers = itertools.count()

    def change(stage: Pipe) -> Pipe | None:
        attrs = {} if stage.made_by is None else stage.made_by[2]
        if stage.inputs or id(stage) in whole or attrs.get("replicate_on_split"):
            return None
        return _dealt_out(stage, next(numbers), deal, "next_func" in attrs)

    return _exchanged(pipe, change)


def _dealt_out(source: Pipe, number: int, deal: Deal, by_program: bool) -> Pipe:
    if by_program:  # whatever it does in between cannot be left out
        raise errors.UnimplementedError(
            None, None, f"{source.name} cannot be divided among workers (DYNAMIC sharding): use OFF or DATA"
        )
    size, repetitions = source.size, itertools.count()
    at_once = min(AT_ONCE, max(1, size // 256))

    def start() -> Iterator[Element]:
        repetition, elements, at = next(repetitions), source.start(), 0
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

    found = Pipe(start, size, source.options, source.rows)
    found.name, found.made_by, found.given, found.role = source.name, source.made_by, source.given, DEALT
    return found
