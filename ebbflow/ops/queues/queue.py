"""Queues of tensors: first in first out, shuffled, padded, by priority.

A queue holds rows, each a tuple of arrays. Putting, taking and closing are attempts, which stand in two lines, one for
each side, in the order of arrival: a large batch that waits at the head gathers rows before a later call gets one.
Whoever changes something lets both lines go on as far as they can, so one thread may complete what another waits for.
All waiting heeds a `Stop`, so closing a session or a deadline ends it. Knows arrays, threads and errors; nothing of
graphs or ops.
"""

from __future__ import annotations

import collections
import heapq
import itertools
import secrets
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.dtypes import DType
from ebbflow.core.shape import Dims, dims_str, is_compatible
from ebbflow.core.stopping import Stop
from ebbflow.ops.random.philox import words_of
from ebbflow.ops.sizes import invalid

Row = tuple[np.ndarray, ...]
_numbers = itertools.count()


class Queue:
    """First in, first out."""

    kind = "FIFOQueue"

    def __init__(self, name: str, capacity: int, types: Sequence[DType], shapes: Sequence[Dims]):
        if capacity < -1 or capacity == 0:
            raise invalid(f"{self.kind} '{name}': capacity must be -1 (no limit) or at least 1, got {capacity}")
        if shapes and len(shapes) != len(types):
            raise invalid(
                f"{self.kind} '{name}': different number of component types and shapes: {len(types)} and {len(shapes)}"
            )
        self.name = f"_{next(_numbers)}_{name}"
        self.capacity = float("inf") if capacity < 0 else capacity
        self.types, self.shapes = tuple(types), tuple(shapes)
        self.closed = False
        self.reason = ""  # why nobody fills it any more, where something went wrong
        self._changed = threading.Condition()
        self._putting: collections.deque[_Attempt] = collections.deque()
        self._taking: collections.deque[_Attempt] = collections.deque()
        self._held: Any = self._empty()
        self._last_taken: dict[Any, int] = {}  # by taker, of tokens

    # --- what the kinds of queues do differently ---------------------------------------------------------------------

    def _empty(self) -> Any:
        return collections.deque()

    def _push(self, row: Row) -> None:
        self._held.append(row)

    def _pop(self) -> Row:
        return self._held.popleft()

    def _put_back(self, rows: list[Row]) -> None:
        """Undo the last pops."""
        self._held.extendleft(reversed(rows))

    def _available(self) -> int:
        """Return how many rows may be taken now."""
        return len(self._held)

    def _joined(self, component: int, arrays: list[np.ndarray]) -> np.ndarray:
        """Return one component of several rows as a batch."""
        if arrays:
            return stacked(arrays)
        dims = self.shapes[component] or ()
        return np.empty((0, *(n or 0 for n in dims)), self.types[component].np)

    # --- putting and taking ------------------------------------------------------------------------------------------

    def put(self, rows: Iterable[Row], stop: Stop) -> None:
        """Add rows, one by one; wait while the queue is full."""
        with self._changed:
            self._attempt(_Put(self, rows), self._putting, stop, "Enqueue operation was cancelled")

    def take(self, count: int, stop: Stop, at_most: bool = False) -> list[Row]:
        """Return `count` rows, waiting until they are there; from a closed queue, what is left if `at_most`."""
        attempt = _Take(self, count, at_most)
        with self._changed:
            self._attempt(attempt, self._taking, stop, "Dequeue operation was cancelled")
        return attempt.rows

    def _attempt(self, attempt: _Attempt, line: collections.deque[_Attempt], stop: Stop, words: str) -> None:
        """Stand in a line until the attempt is done: by this thread, or by another that changes the queue."""
        line.append(attempt)
        self._go_on()
        if not attempt.done:
            try:
                stop.wait_for(self._changed, lambda: attempt.done, words)
            except BaseException:
                if not attempt.done:
                    line.remove(attempt)
                    attempt.undo()
                    self._go_on()
                raise
        if attempt.error is not None:
            raise attempt.error

    def _go_on(self) -> None:
        """Let both lines go on as far as they can."""
        moved, ended = True, False
        while moved:
            moved = False
            for line in (self._putting, self._taking):
                while line:
                    moved = line[0].advance() or moved
                    if not line[0].done:
                        break
                    line.popleft()
                    moved = ended = True
        if ended:
            self._changed.notify_all()

    def _exhausted(self, count: int, taken: int) -> errors.OpError:
        left = len(self._held) + taken
        return errors.OutOfRangeError(
            None,
            None,
            f"{self.kind} '{self.name}' is closed and has insufficient elements (requested {count}, current size "
            f"{left}){self.reason}",
        )

    def take_one(self, stop: Stop) -> Row:
        """Return the next row."""
        return self.take(1, stop)[0]

    def take_batch(self, count: int, stop: Stop, at_most: bool) -> list[np.ndarray]:
        """Return `count` rows joined, a batch for each component."""
        if count < 0:
            raise invalid(f"{self.kind} '{self.name}': requested {count} < 0 elements")
        if not self.shapes:
            raise invalid(f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes.")
        rows = self.take(count, stop, at_most)
        columns = zip(*rows, strict=True) if rows else [()] * len(self.types)
        return [self._joined(i, list(column)) for i, column in enumerate(columns)]

    # --- tokens: rows of one number, each for one taker --------------------------------------------------------------

    def renew(self, rows: list[Row]) -> None:
        """Hold these tokens instead of those that nobody took; where numbers go back or end, all may take again."""
        with self._changed:
            number = int(rows[0][0]) if rows else None
            taken = self._last_taken.items()
            self._last_taken = {} if number is None else {taker: last for taker, last in taken if last <= number}
            self._held = self._empty()
            for row in rows:
                self._push(row)
            self._changed.notify_all()

    def take_new(self, taker: Any, stop: Stop) -> Row:
        """Return a token, waiting until there is one of another number than the last that this taker took."""
        with self._changed:

            def ready() -> bool:
                return len(self._held) > 0 and int(self._held[0][0]) != self._last_taken.get(taker)

            stop.wait_for(self._changed, lambda: ready() or self.closed, "Dequeue operation was cancelled")
            if not ready():
                raise self._exhausted(1, 0)
            row = self._pop()
            self._last_taken[taker] = int(row[0])
            return row

    # --- state -------------------------------------------------------------------------------------------------------

    def close(self, cancel_pending: bool, stop: Stop) -> None:
        """Take no more rows: after those that wait to be put, or at once, which cancels them."""
        with self._changed:
            if not cancel_pending:
                self._attempt(_Close(self), self._putting, stop, "Close operation was cancelled")
                return
            self.closed = True
            for attempt in self._putting:
                attempt.fail(errors.CancelledError(None, None, "Enqueue operation was cancelled"))
            self._putting.clear()
            self._go_on()
            self._changed.notify_all()

    def size(self) -> int:
        """Return how many rows it holds."""
        return len(self._held)

    def check(self, arrays: Sequence[np.ndarray], many: bool = False) -> None:
        """Refuse what does not fit the queue's components."""
        if len(arrays) != len(self.types):
            raise invalid(
                f"Wrong number of components in tuple for {self.kind} '{self.name}'. Expected {len(self.types)}, got "
                f"{len(arrays)}"
            )
        for i, (array, dtype) in enumerate(zip(arrays, self.types, strict=True)):
            if array.dtype != dtype.np:
                raise invalid(
                    f"Type mismatch in tuple component {i} of {self.kind} '{self.name}'. Expected {dtype.name}, got "
                    f"{array.dtype}"
                )
            dims = array.shape[1:] if many else array.shape
            if self.shapes and not is_compatible(self.shapes[i], dims):
                lead = [array.shape[0]] if many else []
                want = [*lead, *("?" if n is None else n for n in self.shapes[i] or ())]
                raise invalid(
                    f"Shape mismatch in tuple component {i}. Expected [{','.join(map(str, want))}], got "
                    f"[{','.join(map(str, array.shape))}]"
                )
        if many and len({a.shape[0] for a in arrays}) > 1:
            raise invalid(
                f"All input tensors must have the same size in the 0th dimension, got {[a.shape[0] for a in arrays]} "
                f"for {self.kind} '{self.name}'"
            )

    def refuse_other(self, other: Queue) -> None:
        """Refuse a node that shares this queue under its name but asks for another one (`other`, never used)."""
        mine, theirs = self._asked(), other._asked()
        for what, value in mine.items():
            if value != theirs.get(what, value):
                raise invalid(
                    f"Shared queue '{self.name}' has {what} {value} but requested {what} was {theirs.get(what)}"
                )

    def _asked(self) -> dict[str, Any]:
        shapes = [dims_str(dims) for dims in self.shapes]
        return {
            "type": self.kind,
            "capacity": self.capacity,
            "component types": [t.name for t in self.types],
            "component shapes": shapes,
        }


class _Attempt:
    """Something that is done when the queue allows: `advance` says whether it could do anything."""

    def __init__(self, queue: Queue):
        self.queue = queue
        self.done = False
        self.error: Exception | None = None

    def advance(self) -> bool:
        """Do as much as can be done now."""
        raise AssertionError("each kind of attempt defines it")

    def fail(self, error: Exception) -> None:
        """End with an error."""
        self.error, self.done = error, True

    def undo(self) -> None:
        """Take back what was done, because nobody waits any more."""


class _Put(_Attempt):
    def __init__(self, queue: Queue, rows: Iterable[Row]):
        super().__init__(queue)
        self._rows = collections.deque(rows)

    def advance(self) -> bool:
        queue, moved = self.queue, False
        if queue.closed:
            self.fail(errors.CancelledError(None, None, f"{queue.kind} '{queue.name}' is closed."))
            return True
        while self._rows and len(queue._held) < queue.capacity:
            try:
                queue._push(self._rows.popleft())
            except errors.OpError as error:
                self.fail(error)
                return True
            moved = True
        self.done = not self._rows
        return moved or self.done


class _Take(_Attempt):
    def __init__(self, queue: Queue, count: int, at_most: bool):
        super().__init__(queue)
        self.rows: list[Row] = []
        self._count, self._at_most = count, at_most

    def advance(self) -> bool:
        queue, moved = self.queue, False
        missing = self._count - len(self.rows)
        if queue.closed and queue._available() < missing:
            if not self._at_most or not (self.rows or queue._available()):
                error = queue._exhausted(self._count, len(self.rows))
                self.undo()
                self.fail(error)
                return True
            self._count = len(self.rows) + queue._available()
        while len(self.rows) < self._count and queue._available():
            self.rows.append(queue._pop())
            moved = True
        self.done = len(self.rows) >= self._count
        return moved or self.done

    def undo(self) -> None:
        self.queue._put_back(self.rows)
        self.rows = []


class _Close(_Attempt):
    def advance(self) -> bool:
        queue = self.queue
        if queue.closed:
            self.fail(errors.CancelledError(None, None, f"Queue '{queue.name}' is already closed."))
        queue.closed = self.done = True
        return True


class PaddingQueue(Queue):
    """First in, first out; rows of a batch are padded to the longest where a length is not known."""

    kind = "PaddingFIFOQueue"

    def _joined(self, component: int, arrays: list[np.ndarray]) -> np.ndarray:
        dims = self.shapes[component] or ()
        if None not in dims or not arrays:
            return super()._joined(component, arrays)
        longest = [max(lengths) for lengths in zip(*(a.shape for a in arrays), strict=True)]
        fill: Any = b"" if arrays[0].dtype == object else 0
        batch = np.full((len(arrays), *longest), fill, arrays[0].dtype)
        for row, array in zip(batch, arrays, strict=True):
            row[tuple(slice(n) for n in array.shape)] = array
        return batch


class ShuffleQueue(Queue):
    """Rows come out in random order, while at least `min_after_dequeue` stay (until it is closed)."""

    kind = "RandomShuffleQueue"

    def __init__(
        self, name: str, capacity: int, types: Any, shapes: Any, min_after_dequeue: int, seed: int, seed2: int
    ):
        super().__init__(name, capacity, types, shapes)
        if min_after_dequeue < 0 or (min_after_dequeue >= self.capacity):
            raise invalid(
                f"RandomShuffleQueue '{name}': min_after_dequeue {min_after_dequeue} must be >= 0 and < capacity "
                f"{capacity}"
            )
        self.minimum, self.seeds = min_after_dequeue, (seed, seed2)
        if not seed and not seed2:
            seed, seed2 = secrets.randbits(64), secrets.randbits(64)
        self._words = words_of(seed, seed2)

    def _empty(self) -> Any:
        return []

    def _pop(self) -> Row:
        held = self._held
        at = next(self._words) % len(held)
        row = held[at]
        held[at] = held[-1]
        held.pop()
        return row

    def _put_back(self, rows: list[Row]) -> None:
        self._held.extend(rows)

    def _available(self) -> int:
        return len(self._held) if self.closed else max(len(self._held) - self.minimum, 0)

    def _asked(self) -> dict[str, Any]:
        asked = {**super()._asked(), "min_after_dequeue": self.minimum}
        return {**asked, "random seeds": self.seeds} if any(self.seeds) else asked  # who asks for none takes any


class PriorityQueue(Queue):
    """The row whose first component is smallest comes out first; rows of one priority in the order they came."""

    kind = "PriorityQueue"

    def _empty(self) -> Any:
        self._arrivals = itertools.count()
        return []

    def _push(self, row: Row) -> None:
        if row[0].ndim:
            raise invalid(f"Expected the priority element to be a scalar, but received shape: {list(row[0].shape)}")
        heapq.heappush(self._held, (int(row[0]), next(self._arrivals), row))

    def _pop(self) -> Row:
        return heapq.heappop(self._held)[2]

    def _put_back(self, rows: list[Row]) -> None:
        for i, row in enumerate(rows):
            heapq.heappush(self._held, (int(row[0]), i - len(rows) - (1 << 62), row))


def rows_of(arrays: Sequence[np.ndarray]) -> Iterator[Row]:
    """Yield the rows of a batch, one for each index of the first axis."""
    if all(a.ndim == 1 for a in arrays):
        return zip(*([_scalar(a, i) for i in range(len(a))] for a in arrays), strict=True)
    return zip(*([a[i, ...] for i in range(len(a))] for a in arrays), strict=True)


def _scalar(array: np.ndarray, index: int) -> np.ndarray:
    return array[index : index + 1].reshape(())


def stacked(arrays: list[np.ndarray]) -> np.ndarray:
    """Return arrays of one shape as one; strings, which NumPy would take for sequences, included."""
    first = arrays[0]
    if first.ndim == 0:
        batch = np.empty(len(arrays), first.dtype)
        batch[:] = [a.item() if first.dtype == object else a[()] for a in arrays]
        return batch
    try:
        return np.stack(arrays)
    except ValueError:
        raise invalid(
            f"rows of a batch must have one shape, got {sorted({a.shape for a in arrays})}; a PaddingFIFOQueue pads"
        ) from None
