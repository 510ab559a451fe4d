"""Primitives run one after another on arrays.

A `Chain` is made once for given shapes; calling it with arrays of those shapes runs it. Everything about the arrays is
checked before the library sees an address. Any number of threads may call: what a run needs for itself (memory objects,
room for intermediate values) belongs to a `Slot`, and there are only as many slots as keep the CPUs from being
oversubscribed, so a call may have to wait for its turn. About 3 µs a call beside the work itself.
"""

from __future__ import annotations

import ctypes
import functools
import math
import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from ebbflow.core import errors, memory
from ebbflow.core.memory import address
from ebbflow.engines.onednn import binding, library
from ebbflow.engines.onednn.binding import DST, SCRATCHPAD, SRC, Description, Layout, Owned, describe, function

FLOAT32 = np.dtype(np.float32)
ndarray = np.ndarray


class Plan(NamedTuple):
    """How an op is computed: a function of its inputs and of the arrays for its results, and the results' shapes."""

    call: Callable[..., None]
    outputs: tuple[tuple[int, ...], ...]


ALONE = 20
"""Microseconds of work that one thread does by itself: another that still spins joins in 2, one that sleeps in 25."""

LATE = 1e-3
"""Seconds that any work of a team may take; one that sleeps is awake after a fortieth of it."""

SLOWEST = 8
"""Times what the work was thought to take, with memory that is touched for the first time."""

NEW = 2.0
"""Seconds for which a chain works with its team even if that comes late."""

REST = 0.1
"""Seconds for which no team is called after one was late: on a machine that others use, a thread that waits for a core
holds up all the rest for milliseconds.
"""

LONG = 5000
"""Microseconds of work from which on a team's waiting is small beside it."""

MAX_PLANS = 512
"""A planner remembers this many plans; each has the machine code of its primitives, some hundred kilobytes at most."""


def planner(function: Callable[..., Plan]) -> Callable[..., Plan | None]:
    """Make a function that plans for given shapes one that remembers its plans, and returns None where oneDNN does not
    serve: it is not there, it has no such primitive, or the arguments are not in order.
    """

    @functools.lru_cache(MAX_PLANS)
    def remembered(threads: int, *arguments: Any, **named: Any) -> Plan | None:
        try:
            made = function(*arguments, **named)
        except errors.OpError:
            return None
        if made is not None and isinstance(made.call, Chain) and made.call.again is None:
            made.call.again = functools.partial(function, *arguments, **named)
        return made

    @functools.wraps(function)
    def plan(*arguments: Any, **named: Any) -> Plan | None:
        return remembered(library.thread_count(), *arguments, **named) if library.serves() else None

    return plan


def need(condition: Any) -> None:
    """Give up planning where a condition does not hold; the op's own kernel says what is wrong, if anything is."""
    if not condition:
        raise errors.UnimplementedError(None, None, "oneDNN does not serve this")


def multiplying(count: float) -> float:
    """Return about how long one thread takes for that many multiplications with additions, in microseconds."""
    return count / 50_000


def moving(*shapes: Sequence[int]) -> float:
    """Return about how long one thread takes to read or write arrays of these shapes, in microseconds."""
    return sum(map(math.prod, shapes)) / 2_500


class Room(NamedTuple):
    """A place in a slot's memory."""

    start: int
    layout: Any


class _Argument(ctypes.Structure):
    _fields_ = (("name", ctypes.c_int), ("memory", ctypes.c_void_p))


# --- where runs take place --------------------------------------------------------------------------------------------


class Slot:
    """What one run at a time needs: a stream, and room for values that only it sees."""

    def __init__(self) -> None:
        self.stream = Owned("stream", "stream_create", binding.engine(), 1)
        self.room = memory.empty((0,), np.uint8)
        self.start = 0

    def grow(self, nbytes: int) -> None:
        """Have room for that many bytes at least."""
        self.room = memory.empty((nbytes,), np.uint8)
        self.start = address(self.room)


class Team:
    """Threads that work on one primitive together; as many runs at once as there are CPUs for."""

    def __init__(self, threads: int):
        self.threads = threads
        self.fill()

    def fill(self) -> None:
        """Let all slots be free."""
        self.slots: SimpleQueue[Slot] = SimpleQueue()
        for _ in range(max(1, library.cpus() // self.threads)):
            self.slots.put(Slot())


@functools.lru_cache(64)
def team(threads: int) -> Team:
    """Return the team of that many threads."""
    made = Team(threads)
    library.after_fork.append(made.fill)  # a slot may have been taken by a thread that is not there in the child
    return made


class _Here(threading.local):
    threads = 0  # what libgomp was told in this thread
    plans_alone = False  # for one thread, whatever there is to do


_here = _Here()


class _Crowd:
    until = 0.0  # when teams may be called again


_crowd = _Crowd()


def _join(threads: int) -> None:
    """Have libgomp use that many threads for what this thread starts."""
    loaded = library.load()
    assert loaded is not None
    loaded.omp.omp_set_num_threads(threads)
    _here.threads = threads


# --- chains -----------------------------------------------------------------------------------------------------------


class _Bound:
    """A chain's memory objects in one slot."""

    def __init__(self, chain: Chain):
        self.start = -1
        self.last: dict[int, int] = {}  # where each operand was
        self.given: list[tuple[int, int]] = []  # (memory object, operand)
        self.rooms: list[tuple[int, int]] = []  # (memory object, offset)
        self.steps: list[tuple[int, int, Any]] = []
        self.owned: list[Owned] = []
        engine = binding.engine()
        for primitive, operands in chain.steps:
            arguments = (_Argument * len(operands))()
            for place, (name, (operand, layout)) in zip(arguments, operands.items(), strict=True):
                made = Owned("memory", "memory_create", layout, engine, 0)
                self.owned.append(made)
                place.name, place.memory = name, made.handle
                if operand.__class__ is Room:
                    self.rooms.append((made.handle, operand.start))  # type: ignore[arg-type]
                else:
                    self.given.append((made.handle, operand))  # type: ignore[arg-type]
            self.steps.append((primitive.handle, len(arguments), arguments))  # type: ignore[arg-type]


class Chain:
    """Primitives and the operands between them. Operands are numbered as the arrays of a call are."""

    shares: tuple[int, ...] = ()
    """Which of the arrays that are read may be the one that is written."""

    again: Callable[[], Plan] | None = None
    """What planned it."""

    _spare: Chain | None = None
    """One for a single thread that gives the same bits: see `_alone`."""

    def __init__(self, microseconds: float) -> None:
        """Start a chain of about so much work for one thread; descriptions of its primitives must follow, for they are
        made for the number of threads that is decided here.
        """
        self.team = team(library.thread_count() if microseconds > ALONE and not _here.plans_alone else 1)
        self._patience = max(LATE, SLOWEST * microseconds / 1e6)
        self._has_looked = self.team.threads == 1 or microseconds > LONG
        self._made = time.perf_counter()
        _join(self.team.threads)
        self.steps: list[tuple[Owned, dict[int, tuple[Any, Any]]]] = []
        self.operands: dict[int, tuple[tuple[int, ...], np.dtype, bool]] = {}
        self.nbytes = 0
        self._bound: dict[Slot, _Bound] = {}
        self._set_address, self._execute = function("memory_set_data_handle"), function("primitive_execute")

    # --- making ---

    def reads(self, operand: int, shape: Sequence[int], dtype: np.dtype = FLOAT32) -> int:
        """Declare an array that is read."""
        self.operands[operand] = (tuple(shape), dtype, False)
        return operand

    def writes(self, operand: int, shape: Sequence[int], dtype: np.dtype = FLOAT32) -> int:
        """Declare an array that is written."""
        self.operands[operand] = (tuple(shape), dtype, True)
        return operand

    def room(self, layout: Any) -> Room:
        """Return room for a value of this layout that only the chain sees."""
        found = Room(self.nbytes, layout)
        self.nbytes += -(-binding.nbytes(layout) // memory.ALIGN) * memory.ALIGN
        return found

    def add(self, description: Description, operands: dict[int, Any]) -> None:
        """Add a primitive; its arguments are numbered as in `binding`, and None where there is none."""
        primitive = Owned("primitive", "primitive_create", description, holds=description)
        given = {name: (operand, description.layout(name)) for name, operand in operands.items() if operand is not None}
        need(all(layout for _, layout in given.values()))
        scratchpad = description.layout(SCRATCHPAD)
        if scratchpad:
            given[SCRATCHPAD] = (self.room(scratchpad), scratchpad)
        self.steps.append((primitive, given))

    def arranged(self, operand: Any, has: Layout, wanted: Any) -> Any:
        """Return the operand as it is wanted: itself, or what a reordering step makes of it."""
        if binding.same(has, wanted):
            return operand
        place = self.room(wanted)
        self.reorder(operand, has, place, wanted)
        return place

    def target(self, operand: int, has: Layout, wanted: Any) -> Any:
        """Return where a primitive may write what is wanted in `operand`: there, or in a room of its own."""
        return operand if binding.same(has, wanted) else self.room(wanted)

    def deliver(self, source: Any, operand: int, has: Layout) -> None:
        """Bring what a primitive wrote to `target` into the operand."""
        if source != operand:
            self.reorder(source, source.layout, operand, has)

    def reorder(self, source: Any, has: Any, target: Any, wanted: Any) -> None:
        """Add a step that copies a value from one layout to another."""
        engine = binding.engine()
        made = describe("reorder", has, engine, wanted, engine, plain_loops=True)
        self.add(made, {SRC: source, DST: target})

    # --- running ---

    def __call__(self, *arrays: np.ndarray) -> None:
        """Run on arrays numbered as the operands are."""
        kept = []  # copies made here must live until the end
        addresses = {}
        for operand, (shape, dtype, written) in self.operands.items():
            array = arrays[operand]
            if array.__class__ is not ndarray:
                array = self._as_array(operand, array)
                kept.append(array)
            if array.shape != shape or (array.dtype is not dtype and array.dtype != dtype):
                raise ValueError(f"operand {operand} is {array.dtype}{array.shape}, not {dtype}{shape}")
            at, flags = address(array), array.flags
            if written:
                if at % dtype.itemsize or not (flags.c_contiguous and flags.writeable):
                    raise ValueError(f"operand {operand} cannot be written: it has gaps or is read-only")
            elif at % dtype.itemsize or not flags.c_contiguous:
                array = np.array(array, order="C")
                kept.append(array)
                at = address(array)
            addresses[operand] = at
        if library.is_child:
            library.in_own_thread(self._run, addresses)
        elif self.team.threads == 1:
            self._run(addresses)
        else:
            self._run_together(addresses)

    def _run_together(self, addresses: dict[int, int]) -> None:
        """Run with a team, or alone while teams come late: on a machine that others use."""
        start = time.perf_counter()
        if start < _crowd.until and (alone := self._alone()) is not None:
            alone._run(addresses)
            return
        self._run(addresses)
        end = time.perf_counter()
        if end - start > self._patience:
            _crowd.until = end + REST

    def _alone(self) -> Chain | None:
        """Return a chain that does the same with one thread, bit for bit: made, and tried, when this is not new.

        The first step of a graph would do all its work three times.
        """
        if not self._has_looked and time.perf_counter() - self._made > NEW:
            self._has_looked = True
            self._spare = self._made_alone()
        return self._spare

    def _made_alone(self) -> Chain | None:
        if self.again is None:
            return None
        _here.plans_alone = True
        try:
            made = self.again().call
        except errors.OpError:
            return None
        finally:
            _here.plans_alone = False
        return made if isinstance(made, Chain) and self._tried() == made._tried() else None

    def _tried(self) -> list[bytes]:
        """Return what comes of numbers that are as good as any."""
        random = np.random.default_rng(0)
        count = max(self.operands) + 1
        arrays: list[Any] = [None] * count
        for operand, (shape, dtype, written) in sorted(self.operands.items()):
            numbers = random.standard_normal(shape, np.float32)
            arrays[operand] = np.zeros(shape, dtype) if written else (numbers * 8).astype(dtype)
        self._run({operand: address(arrays[operand]) for operand in self.operands})
        return [arrays[operand].tobytes() for operand, (_, _, written) in self.operands.items() if written]

    def _as_array(self, operand: int, given: Any) -> np.ndarray:
        """Return a scalar, or an array of another class, as an array: what it holds is read, but not written."""
        if self.operands[operand][2] or not isinstance(given, (np.ndarray, np.generic)):
            raise TypeError(f"operand {operand} is a {type(given).__name__}, not an array")
        return np.array(given)

    def _run(self, addresses: dict[int, int]) -> None:
        team = self.team
        if _here.threads != team.threads:
            _join(team.threads)
        slot = team.slots.get()
        try:
            bound = self._bound.get(slot) or self._bind(slot)
            if len(slot.room) < self.nbytes:
                slot.grow(self.nbytes)
            if bound.start != slot.start:
                bound.start = slot.start
                for handle, offset in bound.rooms:
                    self._set_address(handle, slot.start + offset)
            last = bound.last
            if last != addresses:
                for handle, operand in bound.given:
                    at = addresses[operand]
                    if last.get(operand) != at:
                        self._set_address(handle, at)
                bound.last = addresses
            stream = slot.stream.handle
            for primitive, count, arguments in bound.steps:
                status = self._execute(primitive, stream, count, arguments)
                if status:
                    binding.check(status, "execution")
        finally:
            team.slots.put(slot)

    def _bind(self, slot: Slot) -> _Bound:
        found = self._bound[slot] = _Bound(self)
        return found
