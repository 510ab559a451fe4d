"""Datasets that leave elements as they are and change which come, how often and in which order."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow.core import context, errors
from ebbflow.core.op import op
from ebbflow.core.shape import is_static
from ebbflow.data.columns import (
    Block,
    Columns,
    InTurn,
    Listed,
    Sharded,
    Shuffled,
    Skipped,
    Taken,
    Zipped,
    moved,
    stacked,
)
from ebbflow.data.going_on import Failed, goes_on, told
from ebbflow.data.options import known
from ebbflow.data.pipe import (
    DEALT,
    INFINITE,
    NOTED,
    TYPED,
    UNKNOWN,
    Element,
    Pipe,
    Under,
    bounded,
    dataset_op,
    made,
    pipe_of,
    stages,
)
from ebbflow.data.random_words import Seeds, seeds_of, words_of
from ebbflow.data.running import current
from ebbflow.ops.declare import FLAT
from ebbflow.ops.random.philox import Words
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed
from ebbflow.ops.strings.arrays import as_bytes
from ebbflow.platform import logging

_COUNTED = "(input_dataset:variant, count:int64) -> (handle:variant) | " + NOTED
RepeatDataset = dataset_op("RepeatDataset" + _COUNTED, lasting=True, idle=1)
TakeDataset = dataset_op("TakeDataset" + _COUNTED, lasting=True, idle=-1)
SkipDataset = dataset_op("SkipDataset" + _COUNTED, lasting=True, idle=0)
ShardDataset = dataset_op(
    "ShardDataset(input_dataset:variant, num_shards:int64, index:int64) -> (handle:variant) | require_non_empty: bool "
    f"= false; {NOTED}"
)
ConcatenateDataset = dataset_op(
    f"ConcatenateDataset(input_dataset:variant, another_dataset:variant) -> (handle:variant) | {NOTED}",
    lasting=True,
)
ZipDataset = dataset_op(
    f'ZipDataset(input_datasets:N*variant) -> (handle:variant) | {TYPED}; N: int >= 1; metadata: string = ""',
    lasting=True,
)
DirectedInterleaveDataset = dataset_op(
    "DirectedInterleaveDataset(selector_input_dataset:variant, data_input_datasets:N*variant) -> (handle:variant) | "
    f"{TYPED}; N: int >= 1; stop_on_empty_dataset: bool = false"
)
UniqueDataset = dataset_op(f"UniqueDataset(input_dataset:variant) -> (handle:variant) | {NOTED}", looks_back=True)
IgnoreErrorsDataset = dataset_op(
    f"IgnoreErrorsDataset(input_dataset:variant) -> (handle:variant) | {TYPED}; log_warning: bool = false"
)
AssertCardinalityDataset = dataset_op(
    f"AssertCardinalityDataset(input_dataset:variant, cardinality:int64) -> (handle:variant) | {TYPED}"
)
OptionsDataset = dataset_op(
    f"OptionsDataset(input_dataset:variant) -> (handle:variant) | serialized_options: string; {NOTED}",
    lasting=True,
    silent=True,
)
DatasetCardinality = op(
    'DatasetCardinality(input_dataset:variant) -> (cardinality:int64) | cardinality_options: string = ""',
    shape=lambda input_dataset: (),
    kernel=lambda xp, input_dataset: xp.int64(pipe_of(input_dataset).size),
    gradient=FLAT,
)


@RepeatDataset.kernel
def _(xp: Any, input_dataset: Any, count: Any) -> Any:
    source, times = pipe_of(input_dataset), int(count)
    for_ever = times < 0 and any(stage.role == DEALT for stage in stages(source))  # the next may have some again
    if source.repeated is not None and context.switches.tf1 and times:  # TF 1 makes one step of the two
        return made(lambda: source.repeated(times), _times(source.size, times), source)  # type: ignore[misc]

    def start() -> Iterator[Element]:
        return _repeated(source.start(), source, times, for_ever) if times else iter(())

    def columns() -> Columns | None:
        first = source.by_column() if times else None
        epochs = iter(range(times - 1)) if times >= 0 else itertools.count()
        if first is None:
            return None

        def again(empty: bool) -> Columns | None:
            if next(epochs, None) is None or (empty and times < 0 and not for_ever):
                return None
            return source.by_column() or Listed(_as_blocks(source.start()))

        return InTurn(first, again)

    return made(start, _times(source.size, times), source, columns=columns)


class _repeated:  # noqa: N801  (called like a function)
    """The elements of a dataset several times over, or for ever; an error ends nothing."""

    __slots__ = ("_elements", "_empty", "_for_ever", "_left", "_source")

    def __init__(self, elements: Iterator[Element], source: Pipe, times: int, for_ever: bool = False):
        self._elements, self._source, self._left, self._for_ever = elements, source, times, for_ever
        self._empty = True

    def __iter__(self) -> _repeated:
        return self

    def __next__(self) -> Element:
        while True:
            element = next(self._elements, None)
            if element is not None:
                self._empty = False
                return element
            if self._left == 1 or (self._empty and self._left < 0 and not self._for_ever):
                raise StopIteration  # where there is nothing, there is nothing however often
            self._left -= 1 if self._left > 0 else 0
            self._elements, self._empty = self._source.start(), True


def _as_blocks(elements: Iterator[Element]) -> Iterator[Block]:
    return (tuple([stacked([part]) for part in element]) for element in elements)


def _times(size: int, times: int) -> int:
    """Return how many elements there are when `size` come that many times, or for ever."""
    if times < 0:
        return 0 if size == 0 else INFINITE
    return size if size < 0 and times else size * times


@TakeDataset.kernel
def _(xp: Any, input_dataset: Any, count: Any) -> Any:
    source, most = pipe_of(input_dataset), int(count)
    if most < 0:
        return input_dataset
    columns = _moved(source, lambda rows: Taken(rows, most))
    return made(lambda: _some(source.start(), most=most), bounded(source.size, most), source, columns=columns)


class _some:  # noqa: N801  (called like a function)
    """Every n-th element behind the first ones; an error counts as no element, and ends nothing."""

    __slots__ = ("_elements", "_gap", "_left", "_step")

    def __init__(self, elements: Iterator[Element], first: int = 0, step: int = 1, most: int = -1):
        self._elements, self._gap, self._step, self._left = elements, first, step, most

    def __iter__(self) -> _some:
        return self

    def __next__(self) -> Element:
        if not self._left:
            raise StopIteration
        while self._gap:
            next(self._elements)
            self._gap -= 1
        element = next(self._elements)
        self._gap = self._step - 1
        self._left -= 1
        return element


def _moved(source: Pipe, how: Callable[[Columns], Columns], shuffled: bool = False) -> Callable[[], Columns | None]:
    """Return how a stage that only moves elements gives them by the column."""

    def columns() -> Columns | None:
        given = source.by_column()
        return None if given is None else moved(given, how, shuffled)

    return columns


@SkipDataset.kernel
def _(xp: Any, input_dataset: Any, count: Any) -> Any:
    source, first = pipe_of(input_dataset), int(count)
    if first < 0:
        return made(lambda: iter(()), 0, source)
    size = source.size if source.size < 0 else max(0, source.size - first)
    columns = _moved(source, lambda rows: Skipped(rows, first))
    return made(lambda: _some(source.start(), first), size, source, columns=columns)


SHARD_HINT = -1
"""Shards of which only whoever shares the dataset among workers knows how many there are."""


def _undivided() -> Iterator[Element]:
    raise errors.FailedPreconditionError(
        None, None, "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used where workers share the dataset: with "
        "tf.data service and `tf.data.experimental.service.ShardingPolicy.HINT`",
    )  # fmt: skip


@ShardDataset.kernel
def _(xp: Any, input_dataset: Any, num_shards: Any, index: Any, *, require_non_empty: Any) -> Any:
    source, shards, mine = pipe_of(input_dataset), int(num_shards), int(index)
    if shards == SHARD_HINT:
        return made(_undivided, source.size, source)
    if shards < 1:
        raise invalid(f"Number of shards must be greater than zero (currently num_shards = {shards}).")
    if not 0 <= mine < shards:
        raise invalid(f"Index must be between 0 and {shards - 1} (currently index = {mine}).")
    size = source.size if source.size < 0 else len(range(mine, source.size, shards))
    if require_non_empty:
        return made(lambda: _one_each(source.start(), mine, shards), size, source)
    columns = _moved(source, lambda rows: Sharded(rows, shards, mine))
    return made(lambda: _some(source.start(), mine, shards), size, source, columns=columns)


def _one_each(elements: Iterator[Element], mine: int, shards: int) -> Iterator[Element]:
    """Yield every so-manieth element, where there is one for each shard at least, or none at all."""

    def first() -> Iterator[Element]:
        found = list(itertools.islice(elements, shards))
        if 0 < len(found) < shards:
            raise invalid(
                "There aren't enough elements in this dataset for each shard to have at least one element (# elems = "
                f"{len(found)}, # shards = {shards}): {len(found)} are not enough for the required {shards} "
                "shards/workers. Set `experimental_distribute.auto_shard_policy` of `tf.data.Options` to DATA or OFF, "
                "or use more files"
            )
        return iter(found[mine : mine + 1])

    rest = lambda: _some(elements, mine, shards)
    return itertools.chain.from_iterable(map(lambda begin: begin(), (first, rest)))  # not before it is asked for


@ConcatenateDataset.kernel
def _(xp: Any, input_dataset: Any, another_dataset: Any, *, output_shapes: Any) -> Any:
    first, second = pipe_of(input_dataset), pipe_of(another_dataset)
    sizes = (first.size, second.size)
    size = INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)

    def start() -> Iterator[Element]:
        return itertools.chain.from_iterable(map(Pipe.start, (first, second)))

    def columns() -> Columns | None:
        if second.columns is None or not all(is_static(dims) for dims in output_shapes):
            return None
        rest = iter([second])

        def further(empty: bool) -> Columns | None:
            follows = next(rest, None)
            return None if follows is None else follows.by_column() or Listed(_as_blocks(follows.start()))

        begun = first.by_column()
        return None if begun is None else InTurn(begun, further)

    return made(start, size, first, columns=columns)


@ZipDataset.kernel
def _(xp: Any, input_datasets: Any) -> Any:
    sources = [pipe_of(d) for d in input_datasets]
    size = INFINITE
    for source in sources:
        size = source.size if size == INFINITE else size if source.size == INFINITE else _shorter(size, source.size)

    def start() -> Iterator[Element]:
        return _side_by_side([source.start() for source in sources])

    def columns() -> Columns | None:
        if any(source.columns is None for source in sources):
            return None
        begun: list[Any] = [source.by_column() for source in sources]
        return None if None in begun else Zipped(begun)

    return made(start, size, sources[0], columns=columns)


class _side_by_side:  # noqa: N801  (called like a function)
    """The elements of several datasets as one; where one of them fails, the others have gone on, too."""

    __slots__ = ("_sources",)

    def __init__(self, sources: list[Iterator[Element]]):
        self._sources = sources

    def __iter__(self) -> _side_by_side:
        return self

    def __next__(self) -> Element:
        arrays: list[Any] = []
        failed: Exception | None = None
        for source in self._sources:
            try:
                arrays.extend(next(source))
            except StopIteration:
                raise
            except Exception as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return tuple(arrays)


def _shorter(a: int, b: int) -> int:
    return UNKNOWN if UNKNOWN in (a, b) else min(a, b)


@DirectedInterleaveDataset.kernel
def _(xp: Any, selector_input_dataset: Any, data_input_datasets: Any, *, stop_on_empty_dataset: Any) -> Any:
    selector, sources = pipe_of(selector_input_dataset), [pipe_of(d) for d in data_input_datasets]

    def start() -> Iterator[Element]:
        return _chosen(selector.start(), [source.start() for source in sources], bool(stop_on_empty_dataset))

    return made(start, INFINITE if any(s.size == INFINITE for s in sources) else UNKNOWN, sources[0])


class _chosen:  # noqa: N801  (called like a function)
    """Elements of several datasets, each of the one whose number comes next; an error ends nothing."""

    __slots__ = ("_count", "_running", "_selector", "_stops")

    def __init__(self, selector: Iterator[Element], sources: list[Iterator[Element]], stops: bool):
        self._selector, self._stops, self._count = selector, stops, len(sources)
        self._running = dict(enumerate(sources))

    def __iter__(self) -> _chosen:
        return self

    def __next__(self) -> Element:
        while True:
            chosen = int(next(self._selector)[0])
            if not 0 <= chosen < self._count:
                raise invalid(f"Selector index out of range: {chosen} >= {self._count}")
            element = next(self._running[chosen], None) if chosen in self._running else None
            if element is not None:
                return element
            self._running.pop(chosen, None)
            if self._stops or not self._running:
                self._selector = iter(())


@UniqueDataset.kernel
def _(xp: Any, input_dataset: Any) -> Any:
    source = pipe_of(input_dataset)

    def start() -> Iterator[Element]:
        seen: set[Any] = set()

        def is_new(element: Element) -> bool:
            count = len(seen)
            seen.add(tuple(element[0].reshape(-1).tolist()))
            return len(seen) > count

        return filter(is_new, source.start())

    return made(start, 0 if source.size == 0 else UNKNOWN, source)


@IgnoreErrorsDataset.kernel
def _(xp: Any, input_dataset: Any, *, log_warning: Any) -> Any:
    source = pipe_of(input_dataset)

    def start() -> Iterator[Element]:
        return left_out(Under(source, current.run.leaving_out()))

    def left_out(elements: Iterator[Element]) -> Iterator[Element]:
        while True:
            try:
                element = next(elements)
            except StopIteration:
                return
            except errors.OpError as error:
                if log_warning:
                    logging.warning("Error raised with error message %s", error)
                continue
            yield element

    return made(start, UNKNOWN, source)


@AssertCardinalityDataset.kernel
def _(xp: Any, input_dataset: Any, cardinality: Any) -> Any:
    source, wanted = pipe_of(input_dataset), int(cardinality)

    return made(lambda: _counted(source.start(), wanted), wanted, source)


@goes_on
def _counted(elements: Iterator[Element], wanted: int) -> Iterator[Any]:
    """Yield elements, and an error where they are not as many as they should be."""
    count = 0
    for element in told(elements):
        count += element.__class__ is not Failed
        if count > wanted >= 0:
            raise _miscounted(wanted, f"at least {count}")
        yield element
    if count != wanted:
        raise _miscounted(wanted, f"only {count}")


def _miscounted(wanted: int, found: str) -> errors.OpError:
    expected = "an infinite number of elements" if wanted == INFINITE else f"{wanted} element{'s' * (wanted != 1)}"
    return errors.FailedPreconditionError(
        None,
        None,
        f"Input dataset was expected to contain {expected} but contained {found} element{'s' * (found != 'only 1')}.",
    )


@OptionsDataset.kernel
def _(xp: Any, input_dataset: Any, *, serialized_options: Any, metadata: Any) -> Any:
    source, asked = pipe_of(input_dataset), known(as_bytes(serialized_options), as_bytes(metadata))
    whole = asked if source.options is None else source.options.with_set(asked)

    def start() -> Iterator[Element]:
        return source.elements() if current.run.meters is None else source.start()

    return boxed(Pipe(start, source.size, whole, source.rows, None if source.columns is None else source.by_column))


GetOptions = op(
    "GetOptions(input_dataset:variant) -> (serialized_options:string)",
    shape=lambda input_dataset: (),
    gradient=FLAT,
)


@GetOptions.kernel
def _(xp: Any, input_dataset: Any) -> Any:
    options = pipe_of(input_dataset).options
    return boxed(b"" if options is None else options.serialized())


# --- in random order --------------------------------------------------------------------------------------------------

_SHUFFLED = (
    "reshuffle_each_iteration: bool = true; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
    'metadata: string = ""'
)
ShuffleDataset = dataset_op(
    "ShuffleDataset(input_dataset:variant, buffer_size:int64, seed:int64, seed2:int64) -> (handle:variant) | "
    + _SHUFFLED
)
ShuffleDatasetV3 = dataset_op(
    "ShuffleDatasetV3(input_dataset:variant, buffer_size:int64, seed:int64, seed2:int64, seed_generator:resource) -> "
    f"(handle:variant) | {_SHUFFLED} | stateful"
)


@ShuffleDataset.kernel
def _(xp: Any, input_dataset: Any, buffer_size: Any, seed: Any, seed2: Any, *, reshuffle_each_iteration: Any) -> Any:
    return in_random_order(
        pipe_of(input_dataset), int(buffer_size), seeds_of(int(seed), int(seed2), reshuffle_each_iteration)
    )


@ShuffleDatasetV3.kernel
def _(
    xp: Any, input_dataset: Any, buffer_size: Any, seed: Any, seed2: Any, seed_generator: Any,
    *, reshuffle_each_iteration: Any,
) -> Any:  # fmt: skip
    return in_random_order(
        pipe_of(input_dataset), int(buffer_size), seeds_of(int(seed), int(seed2), reshuffle_each_iteration)
    )


ENDLESS = 1 << 62
"""Room for whatever comes."""

ShuffleAndRepeatDataset = dataset_op(
    "ShuffleAndRepeatDataset(input_dataset:variant, buffer_size:int64, seed:int64, seed2:int64, count:int64) -> "
    f'(handle:variant) | {TYPED}; reshuffle_each_iteration: bool = true; metadata: string = ""'
)


@ShuffleAndRepeatDataset.kernel
def _(
    xp: Any, input_dataset: Any, buffer_size: Any, seed: Any, seed2: Any, count: Any, *, reshuffle_each_iteration: Any
) -> Any:
    source, room, times = pipe_of(input_dataset), int(buffer_size), int(count)
    seeds = seeds_of(int(seed), int(seed2), reshuffle_each_iteration)
    _check_room(room)
    return made(lambda: _in_random_order(source, room, seeds.first, times), _times(source.size, times), source)


MOST_EPOCHS = 3
"""Epochs that lie in line at most, as in TensorFlow, however much room there is."""


def _check_room(room: int) -> None:
    if room < 1 and room != UNKNOWN:
        raise invalid(f"buffer_size must be greater than zero or UNKNOWN_CARDINALITY, got buffer_size = {room}")


def in_random_order(source: Pipe, room: int, seeds: Seeds) -> Any:
    _check_room(room)
    found = Pipe(
        lambda: _in_random_order(source, room, seeds.draw(), 1), source.size, source.options,
        columns=lambda: _shuffled_rows(source, room, seeds),
    )  # fmt: skip
    found.seeds = seeds
    if seeds.anew:
        found.repeated = lambda times: _in_random_order(source, room, seeds.first, times)
    return boxed(found)


def _shuffled_rows(source: Pipe, room: int, seeds: Seeds) -> Columns | None:
    given = source.by_column()
    if given is None:
        return None
    words, most = Words(*seeds.draw()), room if room != UNKNOWN else ENDLESS
    return moved(given, lambda rows: Shuffled(rows, most, words), shuffled=True)


@goes_on
def _in_random_order(source: Pipe, room: int, seeds: tuple[int, int], times: int) -> Iterator[Any]:
    """Yield the elements, each drawn of those next in line; where an epoch ends, the next fills up what is free."""
    words = words_of(*seeds)
    elements: Iterator[Any] | None = told(source.start())
    ring: list[Any] = []
    room = room if room != UNKNOWN else ENDLESS  # until an epoch has said how many there are
    epochs = deque([[0, 0]])  # of each epoch the places in line, from the first to behind the last
    epoch, begun = 1, 0
    while True:
        while elements is not None and epochs[-1][1] - epochs[0][0] < room and len(epochs) <= MOST_EPOCHS:
            fresh = next(elements, None)
            end = epochs[-1][1]
            if fresh.__class__ is Failed:
                yield fresh
                continue
            if fresh is None:
                room = room if room != ENDLESS else max(1, end)
                elements = None if epoch == times or end == begun else told(source.start())
                epoch, begun = epoch + 1, end
                if elements is not None:
                    epochs.append([end, end])
                continue
            if len(ring) < room:
                ring.append(fresh)
            else:
                ring[end % room] = fresh
            epochs[-1][1] += 1
        while epochs[0][0] == epochs[0][1]:
            if len(epochs) == 1:
                return
            epochs.popleft()
        line = epochs[0]
        place, first = (line[0] + next(words) % (line[1] - line[0])) % room, line[0] % room
        chosen, ring[place], ring[first] = ring[place], ring[first], None
        line[0] += 1
        yield chosen
