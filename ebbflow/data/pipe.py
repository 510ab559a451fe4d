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
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, errors, forks
from ebbflow.core.op import Op
from ebbflow.data.calls import Call, Element
from ebbflow.data.columns import Columns, Indexed, rows_of
from ebbflow.data.free_order import ORDERS, Orders, Packed
from ebbflow.data.options import Options
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
        self.mixes = False  # whether its elements may come in another order, where that is asked for
        self.without_order: tuple[Sequence[Pipe], Sequence[Pipe]] | None = None  # stages of it, once somebody asked
        self.role = ""  # AHEAD or GATHERS, for whoever explains
        self.call: Call | None = None  # of those that call a function for each element
        self.check: Callable[[Pipe], None] | None = None  # of those that refuse some pipes that they may be part of

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
    mixes: bool = False,
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
        self.seeds: list[tuple[int, int, int]] = []  # of the stages, when this began
        self._asked = 0  # elements since the start, those included that wait here
        self._ready: deque[Element] = deque()  # those that came with the last one taken
        self._lock = forks.rlock()  # one who asks while being asked is told so by Python, instead of waiting

    def begin(
        self,
        pipe: Pipe,
        run: Run | None = None,
        own: tuple[int, int] | None = None,
        later: bool = False,
        orders: Packed | None = None,
    ) -> None:
        """Start over a pipe from its first element; with seeds for what has none of its own, or by chance.

        Where nothing is in random order that may be `later`, when the first one is asked for: Keras makes an iterator
        behind the last epoch too, that nobody asks. Stages whose order is free begin with the `orders` given.
        """
        with self._lock:
            self._elements = None  # whatever the last one held goes first
            self.pipe, self._streams = pipe, {} if own is None else {OWN: own}
            self._asked, self._ready = 0, deque()
            self.run = run or (current.run if current.run is not USUAL else usual(pipe.options))
            seeded, mixing = _without_order(pipe)
            self.seeds = [stage.seeds.state() for stage in seeded]
            if mixing:
                self._streams[ORDERS] = Orders(mixing, orders)
            if later and not self.seeds:
                self._elements = _LATER
                return
            around, current.run = current.run, self.run
            try:
                with begun_anew(self._streams):
                    self._elements = pipe.start()
            finally:
                current.run = around

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
    def all_seeds(self) -> list[tuple[int, int, int]]:
        """The seeds of the stages when this began, and behind them those of what has none of its own."""
        return [*self.seeds, (*own_seeds(self._streams), 0)]

    @property
    def orders(self) -> Packed | None:
        """The order in which stages gave their elements, where that was left free."""
        orders: Orders | None = self._streams.get(ORDERS)
        return None if orders is None else orders.packed()

    def go_to(
        self, taken: int, seeds: Sequence[tuple[int, int, int]] | None = None, orders: Packed | None = None
    ) -> None:
        """Start over as one did that began with these seeds, and leave out as many elements as it had taken."""
        with self._lock:
            if self.pipe is None:
                raise errors.FailedPreconditionError(None, None, f"{self.name} goes over no dataset yet")
            stages, mixing = _without_order(self.pipe)
            seeds = self.all_seeds if seeds is None else seeds
            if len(seeds) != len(stages) + 1:
                raise errors.FailedPreconditionError(
                    None, None,
                    f"{self.name} was saved with {len(seeds) - 1} stages in random order, this dataset has "
                    f"{len(stages)}",
                )  # fmt: skip
            if orders is not None and len(orders) != len(mixing):
                raise errors.FailedPreconditionError(
                    None, None,
                    f"{self.name} was saved with {len(orders)} stages that run calls side by side, this dataset has "
                    f"{len(mixing)}",
                )  # fmt: skip
            for stage, state in zip(stages, seeds, strict=False):
                stage.seeds.go_to(state)
            self.begin(self.pipe, self.run, seeds[-1][:2], orders=orders)
            self._streams[GOING_BACK] = True
            self._leave_out(taken)

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


def _without_order(pipe: Pipe) -> tuple[Sequence[Pipe], Sequence[Pipe]]:
    """Return the stages in random order, and those that may leave theirs; what a pipe is made of never changes."""
    if pipe.without_order is None:
        found = tuple(stages(pipe))
        for stage in found:
            if stage.check is not None:
                stage.check(pipe)
        pipe.without_order = tuple([s for s in found if s.seeds is not None]), tuple([s for s in found if s.mixes])
    return pipe.without_order


def mixing(pipe: Pipe, inputs: Sequence[Pipe]) -> tuple[Pipe, ...]:
    """Return the stages that may leave their order, of a pipe that is made of others where this is known."""
    own = [pipe] if pipe.mixes else []
    found = {id(stage): stage for stage in own}
    for source in inputs:
        found |= {id(stage): stage for stage in _without_order(source)[1] if id(stage) not in found}
    return tuple(found.values())
