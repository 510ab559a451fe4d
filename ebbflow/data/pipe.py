"""Pipes: what the variant of a dataset holds when it runs.

A pipe says how to start over its elements, each a tuple of arrays, and how many there are as far as that is known.
Starting gives a plain Python iterator; dropping that iterator frees whatever it holds, threads included. The ops of
this room make pipes from pipes. Knows arrays; knows nothing of structures, graphs or users.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Op, op
from ebbflow.core.tensor import ndarray
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.random.seeds import iteration
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed

INFINITE = -1
UNKNOWN = -2

Element = Sequence[np.ndarray]
Start = Callable[[], Iterator[Element]]

TYPED = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"
NOTED = TYPED + '; metadata: string = ""'
"""How most ops on datasets say what the elements are."""


class Pipe:
    """Elements, and how to start over them."""

    __slots__ = ("options", "repeated", "rows", "size", "start")

    def __init__(self, start: Start, size: int = UNKNOWN, options: Any = None, rows: int | None = None):
        self.start = start
        self.size = size
        self.options = options
        self.rows = rows  # how many rows each element has, where that is known
        self.repeated: Callable[[int], Any] | None = None  # of shuffled ones: how to go over them several times


def dataset_op(text: str) -> Op:
    """Declare an op that makes a dataset."""
    return op(text, "copyable", shape=scalar, gradient=FLAT)


def made(start: Start, size: int = UNKNOWN, source: Pipe | None = None, rows: int | None = None) -> np.ndarray:
    """Return a pipe as the value of a variant; it keeps the options of `source`."""
    return boxed(Pipe(start, size, None if source is None else source.options, rows))


def pipe_of(variant: np.ndarray) -> Pipe:
    """Return the pipe in a scalar of dtype variant."""
    found = variant.item() if variant.dtype == object and variant.size == 1 else None
    if not isinstance(found, Pipe):
        raise invalid(f"The given variant does not hold a dataset: it holds {type(found).__name__}")
    return found


def bounded(size: int, most: int) -> int:
    """Return how many elements are left of `size` where at most `most` are taken."""
    if size == UNKNOWN:
        return UNKNOWN
    return most if size == INFINITE else min(size, most)


def caller(body: Any, captured: Sequence[Any], run: Any) -> Callable[[Element], Element]:
    """Return the function from an element to what the user's traced function gives for it."""
    session, call = run.session, body.run
    extra = list(captured)
    types = [t.dtype.base_dtype.np for t in body.outputs]

    def one(element: Element) -> Element:
        found = call(session, [*element, *extra])
        for value in found:
            if value.__class__ is not ndarray:
                return tuple([np.asarray(v, t) for v, t in zip(found, types, strict=True)])
        return tuple(found)

    return one


@contextlib.contextmanager
def begun_anew(streams: dict[Any, Any]) -> Iterator[None]:
    """Let random ops in functions of elements read these streams inside the block: an iteration's own."""
    around, iteration.streams = iteration.streams, streams
    try:
        yield
    finally:
        iteration.streams = around


class Position:
    """An iterator that several may share: a pipe, and where one is in it."""

    def __init__(self, name: str = "iterator", types: Sequence[Any] = (), dims: Sequence[Any] = ()):
        self.name, self.types, self.dims = name, list(types), list(dims)
        self.pipe: Pipe | None = None
        self._elements: Iterator[Element] | None = None
        self._streams: dict[Any, Any] = {}
        self.taken = 0  # elements since the start: where a checkpoint says one was
        self._lock = threading.RLock()  # one who asks while being asked is told so by Python, instead of waiting

    def begin(self, pipe: Pipe) -> None:
        """Start over a pipe from its first element."""
        with self._lock:
            self._elements = None  # whatever the last one held goes first
            self.pipe, self._streams, self.taken = pipe, {}, 0
            with begun_anew(self._streams):
                self._elements = pipe.start()

    def take(self) -> Element | None:
        """Return the next element, or None behind the last."""
        with self._lock:
            if self._elements is None:
                raise errors.FailedPreconditionError(
                    None,
                    None,
                    "GetNext() failed because the iterator has not been initialized. Ensure that you have run the "
                    "initializer operation for this iterator before getting the next element.",
                )
            around, iteration.streams = iteration.streams, self._streams
            self.taken += 1
            try:
                return next(self._elements, None)
            except MemoryError as error:
                raise errors.ResourceExhaustedError(None, None, f"out of memory: {error}") from None
            finally:
                iteration.streams = around

    def go_to(self, taken: int) -> None:
        """Start over, and leave out as many elements as had been taken."""
        with self._lock:
            if self.pipe is None:
                raise errors.FailedPreconditionError(None, None, f"{self.name} goes over no dataset yet")
            self.begin(self.pipe)
            while self.taken < taken and self.take() is not None:
                pass
