"""Datasets made by functions of their elements: map, filter, scan, interleave, groups; and what reduces to a value."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from ebbflow.core import stopping
from ebbflow.core.op import op
from ebbflow.data.background import Ahead, SideBySide, width_of
from ebbflow.data.calls import Call, Mapped, Masked, OneByOne
from ebbflow.data.columns import Columns
from ebbflow.data.fills import Apart, Within
from ebbflow.data.free_order import Mark, Order, order_of
from ebbflow.data.going_on import Failed, attempt, goes_on, told
from ebbflow.data.pipe import (
    MAPS,
    NOTED,
    TYPED,
    UNKNOWN,
    Element,
    Pipe,
    begun_anew,
    caller,
    dataset_op,
    left_to_chance,
    made,
    pipe_of,
    stages,
)
from ebbflow.data.processes import Processes, available
from ebbflow.data.random_words import drawer
from ebbflow.data.running import DEBUG, current
from ebbflow.data.turns import Turns
from ebbflow.ops.declare import FLAT
from ebbflow.ops.random.seeds import iteration, own_seeds
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed
from ebbflow.ops.strings.arrays import as_bytes

_ARGS = "input_dataset:variant, other_arguments:list(Targuments)"
_MORE = "f: func; Targuments: list(type) >= 0; "
_SURE = 'deterministic: string = "default"; '
MapDataset = dataset_op(
    f"MapDataset({_ARGS}) -> (handle:variant) | {_MORE}{TYPED}; use_inter_op_parallelism: bool = true; "
    'preserve_cardinality: bool = false; force_synchronous: bool = false; metadata: string = ""',
    lasting=True,
)
ParallelMapDatasetV2 = dataset_op(
    f"ParallelMapDatasetV2({_ARGS}, num_parallel_calls:int64) -> (handle:variant) | {_MORE}{TYPED}; "
    f"use_inter_op_parallelism: bool = true; {_SURE}preserve_cardinality: bool = false; "
    'use_unbounded_threadpool: bool = false; metadata: string = ""',
    lasting=True,
)
FilterDataset = dataset_op(
    f"FilterDataset({_ARGS}) -> (handle:variant) | predicate: func; Targuments: list(type) >= 0; {NOTED}",
    lasting=True,
)
TakeWhileDataset = dataset_op(
    f"TakeWhileDataset({_ARGS}) -> (handle:variant) | predicate: func; Targuments: list(type) >= 0; {NOTED}"
)
FlatMapDataset = dataset_op(f"FlatMapDataset({_ARGS}) -> (handle:variant) | {_MORE}{NOTED}", lasting=True)
InterleaveDataset = dataset_op(
    f"InterleaveDataset({_ARGS}, cycle_length:int64, block_length:int64) -> (handle:variant) | {_MORE}{NOTED}"
)
ParallelInterleaveDatasetV4 = dataset_op(
    f"ParallelInterleaveDatasetV4({_ARGS}, cycle_length:int64, block_length:int64, buffer_output_elements:int64, "
    f"prefetch_input_elements:int64, num_parallel_calls:int64) -> (handle:variant) | f: func; {_SURE}"
    f"Targuments: list(type) >= 0; {NOTED}"
)
ScanDataset = dataset_op(
    "ScanDataset(input_dataset:variant, initial_state:list(Tstate), other_arguments:list(Targuments)) -> "
    f"(handle:variant) | f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0; {TYPED}; preserve_cardinality: "
    'bool = false; use_default_device: bool = true; metadata: string = ""'
)
ReduceDataset = op(
    "ReduceDataset(input_dataset:variant, initial_state:list(Tstate), other_arguments:list(Targuments)) -> "
    "(components:list(output_types)) | f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0; "
    f'{TYPED}; use_inter_op_parallelism: bool = true; metadata: string = "" | stateful',
    shape=lambda *given, output_shapes: list(output_shapes),
    gradient=FLAT,
    facts="copyable",
)
_GROUPS = ("key_func", "reduce_func", "window_size_func")
GroupByWindowDataset = dataset_op(
    "GroupByWindowDataset(input_dataset:variant, "
    + ", ".join(f"{name}_other_arguments:list(T{name}_other_arguments)" for name in _GROUPS)
    + ") -> (handle:variant) | "
    + "; ".join(f"{name}: func" for name in _GROUPS)
    + "; "
    + "; ".join(f"T{name}_other_arguments: list(type) >= 0" for name in _GROUPS)
    + f"; {NOTED}"
)


# --- one by one -------------------------------------------------------------------------------------------------------


@MapDataset.kernel
def _(xp: Any, input_dataset: Any, other_arguments: Any, *, f: Any, run: Any) -> Any:
    source, call, own = pipe_of(input_dataset), caller(f, other_arguments, run), Mark()

    def start() -> Iterator[Element]:
        order = order_of(own, False)
        if call.facts.draws:  # as those that run side by side do
            return SideBySide(Turns(call.numbered, call.facts.drawn_once, order.number), source.start(), 1)
        if order.free:  # one that ran side by side was saved
            return SideBySide(call.numbered, source.start(), 1, order=order)
        return OneByOne(call, source.start(), "map")

    return made(start, source.size, source, _rows(f), _mapped(source, call), call, MAPS, own)


def _mapped(source: Pipe, call: Call, kind: Any = Mapped, what: str = "map") -> Callable[[], Columns | None]:
    """Return how the results come by the column: not at all where the function must be called for each element."""

    def columns() -> Columns | None:
        if call.obstacle():
            return None
        given = source.by_column()
        return None if given is None else kind(given, call, what)

    return columns


def _rows(body: Any) -> int | None:
    """Return how many rows the results of a function have, where that is known."""
    dims = body.outputs[0]._dims if body.outputs else None
    return dims[0] if dims else None


@ParallelMapDatasetV2.kernel
def _(
    xp: Any, input_dataset: Any, other_arguments: Any, num_parallel_calls: Any, *, f: Any, deterministic: Any, run: Any
) -> Any:
    said = as_bytes(deterministic)
    source, call, asked = pipe_of(input_dataset), caller(f, other_arguments, run), int(num_parallel_calls)
    own = Mark()

    def start() -> Iterator[Element]:
        width = current.run.calls(asked)
        alone = current.run.mode is DEBUG or 0 <= source.size <= 1  # nothing runs beside the only element
        free = width != 1 and not alone and (said == b"false" or (said == b"default" and not current.run.in_order))
        free = free and call.facts.in_python and not call.facts.draws  # others take about as long as each other
        order = order_of(own, free)
        if order.free:
            return SideBySide(call.numbered, source.start(), width, order=order)
        if alone and not call.facts.draws:
            return OneByOne(call, source.start(), "map")
        if current.run.processes and call.facts.in_python and width != 1 and available():
            count = width_of(width)
            apart = Processes(call, count)
            note = f"{count} processes at once"
            return SideBySide(call.elsewhere(apart), source.start(), count, apart.close, note=note)
        in_turn = Turns(call.numbered, call.facts.drawn_once, order.number) if call.facts.draws else call.numbered
        entangled = call.facts.in_python or call.facts.draws  # such calls may wait for each other
        return SideBySide(in_turn, source.start(), 1 if alone else width, apart=entangled)

    return made(start, source.size, source, _rows(f), _mapped(source, call), call, MAPS, own)


@FilterDataset.kernel
def _(xp: Any, input_dataset: Any, other_arguments: Any, *, predicate: Any, run: Any) -> Any:
    source, call = pipe_of(input_dataset), caller(predicate, other_arguments, run)
    columns = _mapped(source, call, Masked, "filter")
    return made(
        lambda: _kept(call, source.start()), 0 if source.size == 0 else UNKNOWN, source, columns=columns, call=call
    )


def _kept(call: Call, elements: Iterator[Element]) -> Iterator[Element]:
    tested = OneByOne(lambda element: (element, bool(call(element)[0])), elements, "filter")
    return map(itemgetter(0), filter(itemgetter(1), tested))


@TakeWhileDataset.kernel
def _(xp: Any, input_dataset: Any, other_arguments: Any, *, predicate: Any, run: Any) -> Any:
    source, call = pipe_of(input_dataset), caller(predicate, other_arguments, run)
    return made(
        lambda: itertools.takewhile(lambda element: bool(call(element)[0]), source.start()),
        0 if source.size == 0 else UNKNOWN, source, call=call,
    )  # fmt: skip


@ScanDataset.kernel
def _(xp: Any, input_dataset: Any, initial_state: Any, other_arguments: Any, *, f: Any, run: Any) -> Any:
    source, call = pipe_of(input_dataset), caller(f, other_arguments, run)

    def start() -> Iterator[Element]:
        state, count = tuple(initial_state), len(initial_state)

        def step(element: Element) -> Element:
            nonlocal state
            found = call((*state, *element))
            state = found[:count]  # type: ignore[assignment]
            return found[count:]

        return OneByOne(step, source.start(), "scan")

    return made(start, source.size, source, call=call)


@ReduceDataset.kernel
def _(xp: Any, input_dataset: Any, initial_state: Any, other_arguments: Any, *, f: Any, run: Any) -> Any:
    call = caller(f, other_arguments, run)
    state, stop = tuple(initial_state), stopping.current(getattr(run, "session", None))
    with begun_anew({}):
        for element in pipe_of(input_dataset).start():
            if stop.urgent:
                stop.check("Reducing a dataset was cancelled.")
            state = call((*state, *element))  # type: ignore[assignment]
    return list(state)


# --- datasets of elements ---------------------------------------------------------------------------------------------


def _inner(call: Callable[[Element], Element]) -> Callable[[Element], Pipe]:
    return lambda element: pipe_of(call(element)[0])


@FlatMapDataset.kernel
def _(xp: Any, input_dataset: Any, other_arguments: Any, *, f: Any, run: Any) -> Any:
    source, call = pipe_of(input_dataset), caller(f, other_arguments, run)
    inner = _inner(call)
    begin = lambda element: inner(element).start()
    return made(lambda: Interleaved(source.start(), begin, 1, 1), _size(source), source, call=call)


def _size(source: Pipe) -> int:
    """Return how many elements there are where each of these gives any number: none and endless stay."""
    return source.size if source.size <= 0 else UNKNOWN


class Interleaved:
    """`block` elements at a time of `cycle` datasets in turn; one that has ended makes room for the next.

    An error of one of them, or of their source, ends nothing: what comes next is what comes behind it. Where they run
    side by side it counts as an element, and that of the source as a dataset of one.
    """

    __slots__ = ("_begin", "_block", "_counts", "_elements", "_more", "_place", "_slots", "_taken")

    def __init__(
        self,
        elements: Iterator[Element],
        begin: Callable[[Element], Iterator[Element]],
        cycle: int,
        block: int,
        errors_count: bool = False,
    ):
        self._elements, self._begin, self._block, self._counts = elements, begin, block, errors_count
        self._slots: list[Iterator[Element] | None] = [None] * cycle
        self._place = self._taken = 0  # whose turn it is, and how many of its block are gone
        self._more = True

    def __iter__(self) -> Interleaved:
        return self

    def __next__(self) -> Element:
        slots = self._slots
        while True:
            running = slots[self._place]
            if running is None:
                if not self._opened():
                    if all(slot is None for slot in slots):
                        raise StopIteration
                    self._turn()
                continue
            try:
                found = next(running, None)
            except Exception:
                if self._counts:
                    self._count()
                raise
            if found is None:
                slots[self._place] = None
                self._turn()
                continue
            self._count()
            return found

    def _count(self) -> None:
        self._taken += 1
        if self._taken == self._block:
            self._turn()

    def _turn(self) -> None:
        self._place, self._taken = (self._place + 1) % len(self._slots), 0

    def _opened(self) -> bool:
        """Fill the place whose turn it is; False where no more datasets come."""
        try:
            element = next(self._elements, None) if self._more else None
            self._more = element is not None
            if element is not None:
                self._slots[self._place] = self._begin(element)
        except Exception:
            if self._counts:
                self._slots[self._place] = iter(())
                self._count()
            raise
        return self._more


class AsTheyCome:
    """Elements of `cycle` datasets side by side, whichever are there; nobody waits for one that takes longer."""

    def __init__(
        self,
        elements: Iterator[Element],
        begin: Callable[[Element, threading.Event], Ahead],
        cycle: int,
        block: int,
        order: Order,
    ):
        self._elements, self._begin, self._cycle, self._block = elements, begin, cycle, block
        self._came, self._order = threading.Event(), order
        self._running: list[Ahead] = []  # in the order they began
        self._place = self._taken = 0  # whose turn it is, and how many of its block are gone
        self._more = True

    def __iter__(self) -> AsTheyCome:
        return self

    def __next__(self) -> Element:
        while True:
            before = self._order.again()
            self._open(self._cycle if before is None else max(self._cycle, before + 1))
            if before is not None:
                self._turn_to(min(before, len(self._running)))
            if not self._running:
                raise StopIteration
            if before is None:
                self._wait_for_one()
            if self._place == len(self._running):
                raise StopIteration  # a state that this dataset cannot have had
            self._order.note(self._place)
            found = next(self._running[self._place], None)
            if found is not None:
                self._taken += 1
                return found
            del self._running[self._place]
            self._taken = 0

    def _open(self, count: int) -> None:
        while self._more and len(self._running) < count:
            element = next(self._elements, None)
            self._more = element is not None
            if element is not None:
                self._running.append(self._begin(element, self._came))

    def _turn_to(self, place: int) -> None:
        if place != self._place:
            self._place, self._taken = place, 0

    def _wait_for_one(self) -> None:
        """Have it be the turn of one that has something; of the one whose turn it is, until its block is gone."""
        count = len(self._running)
        first = self._place + 1 if self._taken >= self._block else self._place
        if not self._order.free:
            return self._turn_to(first % count)
        while True:
            self._came.clear()
            for place in range(first, first + count):
                if self._running[place % count].ready:
                    self._taken = 0 if self._taken >= self._block else self._taken
                    return self._turn_to(place % count)
            self._came.wait()


MOST_SIDE_BY_SIDE = 1 << 20
"""Datasets that may be interleaved at once, and elements of one in a row."""


def _positive(value: Any, name: str) -> int:
    if not 1 <= int(value) <= MOST_SIDE_BY_SIDE:
        raise invalid(f"`{name}` must be greater than zero and at most {MOST_SIDE_BY_SIDE}, got {int(value)}")
    return int(value)


def _cycle(length: Any, calls: int) -> int:
    return width_of(calls) if int(length) == -1 else _positive(length, "cycle_length")


@InterleaveDataset.kernel
def _(
    xp: Any, input_dataset: Any, other_arguments: Any, cycle_length: Any, block_length: Any, *, f: Any, run: Any
) -> Any:
    source, call = pipe_of(input_dataset), caller(f, other_arguments, run)
    inner = _inner(call)
    cycle, block = _cycle(cycle_length, -1), _positive(block_length, "block_length")
    own = Mark()

    def begin(element: Element, came: threading.Event | None = None) -> Any:
        pipe = inner(element)
        return _here(pipe) if came is None else Ahead(pipe.start, block, "interleave", came=came).begin()

    def start() -> Iterator[Element]:
        order = order_of(own, False)
        opened = each_apart(begin, order.number) if call.facts.chance else begin
        if order.free:  # one that ran side by side was saved
            return AsTheyCome(source.start(), opened, cycle, block, order)
        return Interleaved(source.start(), opened, cycle, block)

    return made(start, _size(source), source, call=call, mixes=own)


@ParallelInterleaveDatasetV4.kernel
def _(
    xp: Any, input_dataset: Any, other_arguments: Any, cycle_length: Any, block_length: Any,
    buffer_output_elements: Any, prefetch_input_elements: Any, num_parallel_calls: Any, *, f: Any,
    deterministic: Any, run: Any,
) -> Any:  # fmt: skip
    source, call = pipe_of(input_dataset), caller(f, other_arguments, run)
    inner, said = _inner(call), as_bytes(deterministic)
    cycle = _cycle(cycle_length, int(num_parallel_calls))
    block, own = _positive(block_length, "block_length"), Mark()
    room = int(buffer_output_elements) if int(buffer_output_elements) > 0 else max(block, 16)

    def begin(element: Element, came: threading.Event | None = None) -> Any:
        pipe = inner(element)
        if came is None and (current.run.mode is DEBUG or (said != b"false" and _draw(pipe))):
            return _here(pipe)
        return Ahead(pipe.start, room, "interleave", came=came).begin()

    def start() -> Iterator[Element]:
        free = said == b"false" or (said == b"default" and not current.run.in_order)
        order = order_of(own, free and current.run.mode is not DEBUG)
        opened = each_apart(begin, order.number) if call.facts.chance else begin
        if order.free:
            return AsTheyCome(source.start(), opened, cycle, block, order)
        return Interleaved(source.start(), opened, cycle, block, True)

    return made(start, _size(source), source, call=call, mixes=own)


def each_apart(begin: Callable[..., Any], stage: int) -> Callable[..., Any]:
    """Have each dataset of an interleave take seeds of its own where it has none: side by side they ask in no order."""
    numbers, streams = itertools.count(1), iteration.streams
    if streams is None:
        return begin
    first, second = own_seeds(streams) if stage >= 0 else drawer(streams).draw()

    def opened(*given: Any) -> Any:
        own = first ^ (stage + 2) * _STAGES % 2**64, (second + next(numbers) * _DATASETS) % 2**64
        with begun_anew(Apart(streams, own)):
            return begin(*given)

    return opened


def _here(pipe: Pipe) -> Iterator[Element]:
    """Begin one of the datasets of an interleave where it is asked for its elements, with its seeds."""
    streams, begun = iteration.streams, pipe.start()
    if streams.__class__ is not Apart or not any(map(left_to_chance, stages(pipe))):
        return begun
    return Within(begun, streams)


_STAGES, _DATASETS = 0xA24BAED4963EE407, 0x9FB21C651E98DF25
"""From the seeds of an iteration to those of a stage, and from those of one of its datasets to those of the next."""


def _draw(pipe: Pipe) -> bool:
    """Return whether a dataset draws random numbers: several of them at once would, in no order."""
    return any(stage.call is not None and stage.call.facts.draws for stage in stages(pipe))


# --- groups -----------------------------------------------------------------------------------------------------------


@GroupByWindowDataset.kernel
def _(
    xp: Any, input_dataset: Any, key_arguments: Any, reduce_arguments: Any, size_arguments: Any,
    *, key_func: Any, reduce_func: Any, window_size_func: Any, run: Any,
) -> Any:  # fmt: skip
    source = pipe_of(input_dataset)
    key_of = caller(key_func, key_arguments, run)
    size_of = caller(window_size_func, size_arguments, run)
    reduce = caller(reduce_func, reduce_arguments, run)

    return made(lambda: _in_windows(source.start(), key_of, size_of, reduce), _size(source), source)


@goes_on
def _in_windows(elements: Iterator[Element], key_of: Call, size_of: Call, reduce: Call) -> Iterator[Any]:
    """Yield what the user's function makes of the elements with one key, as many at a time as a window holds."""
    groups: dict[int, list[Element]] = {}
    sizes: dict[int, int] = {}
    for element in told(elements):
        found: Any = element if element.__class__ is Failed else attempt(key_of, element)
        if found.__class__ is Failed:
            yield found
            continue
        key = int(found[0])
        if key not in sizes:
            sizes[key] = int(size_of((np.array(key, np.int64),))[0])
            if sizes[key] < 1:
                raise invalid(f"Window size must be greater than zero, but got {sizes[key]}.")
        group = groups.setdefault(key, [])
        group.append(element)
        if len(group) >= sizes[key]:
            del groups[key], sizes[key]
            yield from _reduced(reduce, key, group)
    for key in sorted(groups):
        yield from _reduced(reduce, key, groups[key])


def _reduced(reduce: Call, key: int, group: list[Element]) -> Iterator[Any]:
    """Return what the user's function makes of the dataset of one group, its errors included."""
    window = boxed(Pipe(partial(iter, group), len(group)))
    found: Any = attempt(reduce, (np.array(key, np.int64), window))
    return iter((found,)) if found.__class__ is Failed else told(pipe_of(found[0]).start())
