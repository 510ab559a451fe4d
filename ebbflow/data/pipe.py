"""Pipes: what the variant of a dataset holds when it runs.

A pipe says how to start over its elements, each a tuple of arrays, and how many there are as far as that is known.
Starting gives a plain Python iterator; dropping that iterator frees whatever it holds, threads included. A pipe that
can also say how its rows come by the column (`columns`) is run that way, unless the run wants elements one by one: it
gives the same. The ops of this room make pipes from pipes; what each was made of is kept for whoever explains. Knows
arrays; knows nothing of structures, graphs or users.
"""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.core import context, errors, forks
from ebbflow.core.op import Op
from ebbflow.data.calls import Call, Element
from ebbflow.data.columns import Columns, Indexed, rows_of
from ebbflow.data.fills import FILLS, Fills, Recorded
from ebbflow.data.free_order import ORDERS, Mark, Orders, Packed
from ebbflow.data.options import Options
from ebbflow.data.random_words import DRAWN, Draws, Runs
from ebbflow.data.running import PLANNED, USUAL, Metered, MeteredColumns, Run, bunch_of, current, usual
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.random.seeds import OWN, iteration, own_seeds
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed

INFINITE = -1
UNKNOWN = -2

Start = Callable[[], Iterator[Element]]

TYPED = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"
NOTED = TYPED + '; metadata: string = ""'
"""How most ops on datasets say what the elements are."""


AHEAD, GATHERS, DEALT, MAPS = "ahead", "gathers", "dealt", "maps"
"""What a stage does, as far as others must know: it makes elements ahead in a thread, or many elements one, gives only
those that are dealt to it, which may be none, or one for each by a function.
"""


class Loose(NamedTuple):
    """The stages of a pipe that may differ from one iteration to the next."""

    seeded: Sequence[Pipe] = ()  # in random order
    mixing: Sequence[Pipe] = ()  # free to give whichever is there first, or the same without a number of calls
    kept: Sequence[Any] = ()  # the memories of caches that hold what was left to chance


class Pipe:
    """Elements, and how to start over them."""

    __slots__ = (
        "call",
        "check",
        "columns",
        "elements",
        "given",
        "inputs",
        "made_by",
        "memory",
        "mixes",
        "name",
        "options",
        "repeated",
        "role",
        "rows",
        "seeds",
        "size",
        "without_order",
    )

    def __init__(
        self,
        elements: Start,
        size: int = UNKNOWN,
        options: Options | None = None,
        rows: int | None = None,
        columns: Callable[[], Columns | None] | None = None,
    ):
        self.elements = elements
        self.columns = columns
        self.size = size
        self.options = options
        self.rows = rows  # how many rows each element has, where that is known
        self.repeated: Callable[[int], Any] | None = None  # of shuffled ones: how to go over them several times
        self.name = ""  # of the op that made it
        self.inputs: tuple[Pipe, ...] = ()
        self.made_by: tuple[Op, Sequence[Any], dict[str, Any]] | None = None  # the op, its arguments and its attrs
        self.given: tuple[Sequence[Any], dict[str, Any]] | None = None  # to the kernel of that op
        self.seeds: Any = None  # of those in random order
        self.mixes: Mark | None = None  # of those whose elements may come in another order, where that is asked for
        self.without_order: Loose | None = None  # stages of it, once somebody asked
        self.memory: Any = None  # of those that keep their elements there
        self.role = ""  # AHEAD or GATHERS, for whoever explains
        self.call: Call | None = None  # of those that call a function for each element
        self.check: Callable[[Pipe, Pipe], None] | None = None  # of those that refuse some pipes that they are part of

    @property
    def looks_back(self) -> bool:
        """Whether what an element becomes depends on those before it, beyond which ones there are."""
        return isinstance(self.made_by and self.made_by[0], DatasetOp) and self.made_by[0].looks_back  # type: ignore

    def start(self) -> Iterator[Element]:
        """Start over the elements, in the way of the run that this thread works for."""
        columns = self.by_column()
        if columns is not None:
            return rows_of(columns)
        elements, meter = self.elements(), current.run.meter(self)
        if meter is None:
            return elements
        if hasattr(elements, "meter"):  # it has more to tell than how many and how long
            elements.meter = meter
        return Metered(elements, meter)

    def by_column(self) -> Columns | None:
        """Start over the rows by the column; None where they must come one by one."""
        run = current.run
        if self.columns is None or run.mode is not PLANNED:
            return None
        columns = self.columns()
        meter = None if columns is None else run.meter(self)
        if meter is None:
            return columns
        meter.note = "rows by their number" if isinstance(columns, Indexed) else "by column"
        return columns if isinstance(columns, Indexed) else MeteredColumns(columns.take, meter)  # type: ignore[union-attr]


class Under:
    """The elements of a pipe, made under a run of their own."""

    __slots__ = ("_elements", "_run")

    def __init__(self, pipe: Pipe, run: Run):
        self._run = run
        around, current.run = current.run, run
        try:
            self._elements = pipe.start()
        finally:
            current.run = around

    def __iter__(self) -> Under:
        return self

    def __next__(self) -> Element:
        around, current.run = current.run, self._run
        try:
            return next(self._elements)
        finally:
            current.run = around


class DatasetOp(Op):
    """An op that makes a dataset; the pipe it makes knows its name and what it was made of."""

    bare_kernel: Callable[..., Any]  # without the label
    looks_back = False  # whether what an element becomes depends on those before it
    lasting = False  # whether equal calls make equal datasets, that keep nothing from one iteration to the next
    idle: int | None = None  # the count with which it does nothing, of those that take one
    keeps = False  # whether elements are kept, in memory or the file that is given
    silent = False  # whether nobody tells it from what it is made of
    seeded = False  # whether it is asked for with seeds, and takes some where there are none

    def kernel(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Declare how the op computes, and have the pipe labelled."""

        @functools.wraps(fn)
        def labelled(*args: Any, **attrs: Any) -> Any:
            result = fn(*args, **attrs)
            pipe = _pipe_in(result)
            if pipe is not None and not pipe.name:
                pipe.name, pipe.given = self.name, (args[1:], attrs)
                flat = [a for arg in args for a in (arg if arg.__class__ is list else (arg,))]
                pipe.inputs = tuple([p for value in flat for p in pipes_in(value)])
                for other in pipe.inputs[1:]:
                    pipe.options = joint(pipe.options, other.options)
            return result

        super().kernel(fn)
        self.kernel_fn, self.bare_kernel = labelled, fn
        return fn

    def run(self, arrays: list[Any], attrs: dict[str, Any], run: Any = None) -> Any:
        """Make the dataset, and have its pipe know the call: it may be asked to be made again elsewhere."""
        result = super().run(arrays, attrs, run)
        pipe = _pipe_in(result)
        if pipe is not None and pipe.made_by is None:
            pipe.made_by = self, tuple(arrays), attrs
        return result

    def bound(self, attrs: dict[str, Any], run: Any = None) -> Callable[..., Any]:
        """Return the op, with these attrs, as a function of arrays; what it makes knows the call, as eagerly."""
        return lambda *arrays: self.run(self.signature.group_inputs(arrays, attrs), attrs, run)


def dataset_op(text: str, lasting: bool = False, looks_back: bool = False, **facts: Any) -> Op:
    """Declare an op that makes a dataset."""
    declared = DatasetOp(text, "copyable")
    declared.lasting, declared.looks_back = lasting, looks_back
    declared.seeded = "seed" in text.partition("->")[0]
    for name, value in facts.items():
        setattr(declared, name, value)
    declared.shape(scalar)
    declared.gradient(FLAT)
    return declared


def made(
    start: Start,
    size: int = UNKNOWN,
    source: Pipe | None = None,
    rows: int | None = None,
    columns: Callable[[], Columns | None] | None = None,
    call: Call | None = None,
    role: str = "",
    mixes: Mark | None = None,
) -> np.ndarray:
    """Return a pipe as the value of a variant; it keeps the options of `source`."""
    pipe = Pipe(start, size, None if source is None else source.options, rows, columns)
    pipe.call, pipe.role, pipe.mixes = call, role, mixes
    return boxed(pipe)


def joint(first: Options | None, second: Options | None) -> Options | None:
    """Return the options of two datasets together."""
    return first.merge(second) if first is not None and second is not None else second if first is None else first


def _pipe_in(variant: Any) -> Pipe | None:
    if variant.__class__ is not np.ndarray or variant.dtype.char != "O" or variant.size != 1:
        return None
    found = variant.item()
    return found if isinstance(found, Pipe) else None


def pipes_in(variant: Any) -> list[Pipe]:
    """Return the pipes of an array of datasets."""
    if variant.__class__ is not np.ndarray or variant.dtype.char != "O" or not variant.size:
        return []
    return [p for p in variant.flat if isinstance(p, Pipe)] if isinstance(variant.flat[0], Pipe) else []


def pipe_of(variant: np.ndarray) -> Pipe:
    """Return the pipe in a scalar of dtype variant."""
    found = variant.item() if variant.dtype.char == "O" and variant.size == 1 else None
    if not isinstance(found, Pipe):
        raise invalid(f"The given variant does not hold a dataset: it holds {type(found).__name__}")
    return found


def bounded(size: int, most: int) -> int:
    """Return how many elements are left of `size` where at most `most` are taken."""
    if size == UNKNOWN:
        return UNKNOWN
    return most if size == INFINITE else min(size, most)


def caller(body: Any, captured: Sequence[Any], run: Any) -> Call:
    """Return the function from an element to what the user's traced function gives for it."""
    return Call(body if hasattr(body, "run") else body.graph, captured, run)  # by hand, concrete functions are given


@contextlib.contextmanager
def begun_anew(streams: dict[Any, Any]) -> Iterator[None]:
    """Let random ops in functions of elements read these streams inside the block: an iteration's own."""
    around, iteration.streams = iteration.streams, streams
    try:
        yield
    finally:
        iteration.streams = around


def stages(pipe: Pipe) -> Iterator[Pipe]:
    """Yield a pipe and all that it was made of, each once, what is given last first."""
    seen: set[int] = set()
    waiting = [pipe]
    while waiting:
        stage = waiting.pop()
        if id(stage) not in seen:
            seen.add(id(stage))
            yield stage
            waiting.extend(reversed(stage.inputs))


UNCHANGED = "Make sure the dataset definition has not changed between saving and restoring."

GOING_BACK = "going back"
"""In the streams of an iteration: it does again what another did, and may take its place."""

_LATER: Iterator[Any] = iter(())
"""Stands for the elements of a pipe that is to be started."""


_ENDED: Iterator[Any] = iter(())
"""Stands for the elements of a pipe that have all been taken."""


class Position:
    """An iterator that several may share: a pipe, and where one is in it."""

    def __init__(self, name: str = "iterator", types: Sequence[Any] = (), dims: Sequence[Any] = ()):
        self.name, self.types, self.dims = name, list(types), list(dims)
        self.pipe: Pipe | None = None
        self._elements: Iterator[Element] | None = None
        self._streams: dict[Any, Any] = {}
        self.run = current.run
        self._asked = 0  # elements since the start, those included that wait here
        self._ready: deque[Element] = deque()  # those that came with the last one taken
        self._lock = forks.rlock()  # one who asks while being asked is told so by Python, instead of waiting

    def begin(
        self,
        pipe: Pipe,
        run: Run | None = None,
        own: tuple[int, int] | None = None,
        later: bool = False,
        again: bool = False,
        orders: Packed | None = None,
        draws: Draws | None = None,
        fills: Recorded | None = None,
    ) -> None:
        """Start over a pipe from its first element; with seeds for what has none of its own, or by chance.

        Where nothing is in random order that may be `later`, when the first one is asked for: Keras makes an iterator
        behind the last epoch too, that nobody asks. One that does `again` what another did is told of the `orders` of
        stages whose order was free, of the `draws` of those in random order, and of the `fills` of caches.
        """
        with self._lock:
            self._leave()  # whatever the last one held goes first
            self.pipe, self._streams = pipe, {} if own is None else {OWN: own}
            self._asked, self._ready = 0, deque()
            self.run = run or (current.run if current.run is not USUAL else usual(pipe.options))
            loose = loose_stages(pipe)
            if loose.seeded:
                self._streams[DRAWN] = draws or Draws([stage.seeds for stage in loose.seeded])
            if loose.mixing:
                self._streams[ORDERS] = Orders([s.mixes for s in loose.mixing if s.mixes], orders, again)
            if loose.kept:
                self._streams[FILLS] = Fills(loose.kept, own_seeds(self._streams), fills)
            if later and not loose.seeded:
                self._elements = _LATER
                return
            around, current.run = current.run, self.run
            try:
                with begun_anew(self._streams):
                    self._elements = pipe.start()
            finally:
                current.run = around

    def _leave(self) -> None:
        """Let the elements go; threads that still make some take no seeds from others."""
        self._elements = None
        if DRAWN in self._streams:
            self._streams[DRAWN].over = True

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # where it was never made
            self._leave()

    @property
    def taken(self) -> int:
        """How many elements were taken since the start: where a checkpoint says one was."""
        return self._asked - len(self._ready)

    def take(self) -> Element | None:
        """Return the next element, or None behind the last."""
        try:
            return self._ready.popleft()
        except IndexError:
            return self._take_more()

    def _take_more(self) -> Element | None:
        """Return the next element when none is at hand, and keep what came with it."""
        with self._lock:
            if self._ready:  # another thread has brought some
                return self._ready.popleft()
            if self._elements is None:
                raise errors.FailedPreconditionError(
                    None,
                    None,
                    "GetNext() failed because the iterator has not been initialized. Ensure that you have run the "
                    "initializer operation for this iterator before getting the next element.",
                )
            around, iteration.streams = iteration.streams, self._streams
            outer, current.run = current.run, self.run
            self._asked += 1
            try:
                if self._elements is _LATER:
                    self._elements = self.pipe.start()  # type: ignore[union-attr]
                first, *more = bunch_of(self._elements) or (None,)
                if first is None:
                    self._elements = _ENDED  # what it holds is free from here on
                self._asked += len(more)
                self._ready.extend(more)
                return first
            except MemoryError as error:
                raise errors.ResourceExhaustedError(None, None, f"out of memory: {error}") from None
            except errors.OutOfRangeError as error:
                raise _not_the_end(error, self.name) from error.__cause__
            finally:
                iteration.streams, current.run = around, outer

    @property
    def streams(self) -> dict[Any, Any]:
        """What the iteration has drawn, in which order its elements came, and what caches it has read."""
        return self._streams

    def go_to(
        self,
        taken: int,
        seeds: Sequence[tuple[int, int, int]],
        orders: Packed | None = None,
        draws: Mapping[int, Runs] | None = None,
        fills: Recorded | None = None,
    ) -> None:
        """Start over as another did, and leave out as many elements as it had taken.

        The seeds are those of stages in random order, and behind them those of what has none of its own. Of the former
        it is said, by their number, what was drawn; so of those below a cache that others had filled.
        """
        with self._lock:
            if self.pipe is None:
                raise errors.FailedPreconditionError(None, None, f"{self.name} goes over no dataset yet")
            loose = loose_stages(self.pipe)
            self._check_number("in random order", len(seeds) - 1, len(loose.seeded))
            if orders is not None:
                self._check_number("that run calls side by side", len(orders), len(loose.mixing))
            self._leave()
            for stage, state in zip(loose.seeded, seeds, strict=False):
                stage.seeds.go_to(state)
            drawn = Draws([stage.seeds for stage in loose.seeded], _by_seeds(loose, draws or {}))
            below = {place: (own, _by_seeds(loose, runs)) for place, (own, runs) in (fills or {}).items()}
            self.begin(self.pipe, self.run, seeds[-1][:2], again=True, orders=orders, draws=drawn, fills=below)
            self._streams[GOING_BACK] = True
            self._leave_out(taken)

    def _check_number(self, which: str, saved: int, found: int) -> None:
        if saved != found:
            what = f"{self.name} was saved with {saved} stages {which}, this dataset has {found}"
            raise errors.NotFoundError(None, None, f"{what}. {UNCHANGED}")

    def _leave_out(self, count: int) -> None:
        """Go on until so many elements were taken; errors among them were raised to whoever took them first."""
        while self.taken < count:
            try:
                if self.take() is None:
                    return
            except errors.OpError:
                continue


def _not_the_end(error: errors.OpError, name: str) -> errors.OpError:
    """Return the error for something else that came to its end: taken for the dataset's, it would lose elements."""
    if context.switches.tf1:  # where programs end datasets so
        return error
    words = f"{name} returned OutOfRange without setting `*end_of_sequence`. This indicates that an error may have"
    return errors.InternalError(error.node_def, error.op, f"{words} occurred. Original message: {error.message}")


def _by_seeds(loose: Loose, runs: Mapping[int, Runs]) -> dict[int, Runs]:
    """Return what was drawn by whose seeds it were, instead of by the number of the stage."""
    return {id(loose.seeded[place].seeds): drawn for place, drawn in runs.items()}


def loose_stages(pipe: Pipe) -> Loose:
    """Return the stages that may differ from one iteration to the next; what a pipe is made of never changes."""
    if pipe.without_order is None:
        found = tuple(stages(pipe))
        for stage in found:
            if stage.check is not None:
                stage.check(pipe, stage)
        kept = [s.memory for s in found if s.memory is not None and any(map(left_to_chance, stages(s)))]
        seeded, mixing = [s for s in found if s.seeds is not None], [s for s in found if s.mixes is not None]
        pipe.without_order = Loose(tuple(seeded), tuple(mixing), tuple(kept))
    return pipe.without_order


def left_to_chance(stage: Pipe) -> bool:
    """Return whether what a stage gives may follow from chance: in its order, its numbers or those of its datasets."""
    return stage.seeds is not None or (stage.call is not None and stage.call.facts.chance)


def mixing(pipe: Pipe, inputs: Sequence[Pipe]) -> tuple[Pipe, ...]:
    """Return the stages that may leave their order, of a pipe that is made of others where this is known."""
    own = [pipe] if pipe.mixes else []
    found = {id(stage): stage for stage in own}
    for source in inputs:
        found |= {id(stage): stage for stage in loose_stages(source).mixing if id(stage) not in found}
    return tuple(found.values())
