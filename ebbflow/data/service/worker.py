"""A worker of a data service: runs datasets, and gives their elements to whoever asks.

A task is one dataset as one iteration runs it here. Clients that share a job take from the same task, each element
once; consumers that are coordinated each get their own element of every round; trainers that share a cache each get all
that is in it. The dispatcher knows the worker by the link it keeps open. Knows pipes; nothing of users.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from collections import deque
from typing import Any

from ebbflow.cluster.endpoint import CONNECT_SECONDS
from ebbflow.cluster.methods import Answer, Methods, Peer
from ebbflow.core import errors
from ebbflow.data.pipe import Element, Pipe, Position
from ebbflow.data.service.calls import ABOUT, packed
from ebbflow.data.sharding import shared
from ebbflow.data.written_graphs import pipe_of_graph
from ebbflow.platform import logging

BUNCH_SECONDS = 2e-3
"""How long a worker goes on to make elements before it gives those it has."""

MOST = 64
"""Elements given at once."""

AHEAD = 8
"""Rounds that one consumer may be ahead of the others."""

CACHED = 1024
"""Elements that trainers share a cache of."""

HEARTBEAT_MS = 200
"""How often a worker tells the dispatcher that it is there, unless told otherwise."""

here: set[str] = set()
"""The addresses of the workers in this process."""

TASKS = 64
"""Tasks that have ended, and are remembered as such."""


class Task:
    """A dataset that is run here."""

    def __init__(self, pipe: Pipe, consumers: int):
        self._position, self._consumers = Position(), max(1, consumers)
        self._position.begin(pipe)
        self._change = threading.Condition()
        self._failed: Exception | None = None
        self.ended = False
        self._seen = 0  # elements taken, for those who count them
        self._kept: dict[int, Element | None] = {}  # of coordinated consumers, by number
        self._rounds: dict[int, int] = {}  # by consumer: the round that it asked for last
        self._cached: deque[Element] = deque()
        self._read: dict[str, int] = {}  # by trainer: how many elements it has had

    def _next(self) -> Element | None:
        element = None if self.ended else self._position.take()
        self.ended = element is None
        self._seen += 1
        return element

    def bunch(self) -> list[Element]:
        """Return the next elements, those that come quickly; none behind the last."""
        with self._change:
            if self._failed is not None:
                failed, self._failed = self._failed, None
                raise failed
            found: list[Element] = []
            end = time.monotonic() + BUNCH_SECONDS
            while len(found) < MOST:
                try:
                    element = self._next()
                except Exception as error:
                    if not found:
                        raise
                    self._failed = error
                    return found
                if element is None:
                    return found
                found.append(element)
                if time.monotonic() > end:
                    return found
            return found

    def of_round(self, number: int, consumer: int) -> list[Element]:
        """Return what a consumer gets in a round."""
        with self._change:
            wanted = number * self._consumers + consumer
            if wanted < self._seen and wanted not in self._kept:
                reached = max(self._rounds.values(), default=0)
                raise errors.FailedPreconditionError(
                    None, None, f"Consumer {consumer} requested data for round {number}, but the current round "
                    f"has already reached {reached}: perhaps the consumer was restarted, and its job was not",
                )  # fmt: skip
            self._rounds[consumer] = number
            self._change.notify_all()
            everyone = lambda: len(self._rounds) == self._consumers and number - min(self._rounds.values()) <= AHEAD
            self._change.wait_for(lambda: number < AHEAD or everyone())
            while self._seen <= wanted:
                at = self._seen
                self._kept[at] = self._next()
            element = self._kept.pop(wanted)
            return [] if element is None else [element]

    def for_trainer(self, trainer: str) -> list[Element]:
        """Return the element that a trainer has not had yet, from what all of them share."""
        with self._change:
            first = self._seen - len(self._cached)
            at = max(self._read.get(trainer, 0), first)
            if at == self._seen:
                element = self._next()
                if element is None:
                    raise errors.InvalidArgumentError(
                        None,
                        None,
                        "Cross-trainer caching requires the input dataset to be infinite, this one has ended",
                    )
                self._cached.append(element)
                if len(self._cached) > CACHED:
                    self._cached.popleft()
            self._read[trainer] = at + 1
            return [self._cached[at - self._seen]]


class Worker:
    """What a worker keeps."""

    def __init__(self, dispatcher: str, heartbeat_ms: int | None = None):
        self.address = ""
        self._heartbeat = (HEARTBEAT_MS if heartbeat_ms is None else heartbeat_ms) / 1000
        self._dispatcher = Peer(dispatcher)
        self._tasks: dict[int, Task] = {}
        self._making: dict[int, threading.Lock] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._known_as = secrets.token_hex(8)  # to the dispatcher; another worker may come to the same address
        self.service = Methods({"element": self._element, "begin": self._begin}, ABOUT)

    @property
    def task_count(self) -> int:
        """How many datasets are run here."""
        return sum(not task.ended for task in list(self._tasks.values()))

    def join(self, seconds: float) -> None:
        """Have the dispatcher know this worker; wait for it so many seconds."""
        self._dispatcher.ask_patiently(seconds, "join", address=self.address)
        here.add(self.address)
        threading.Thread(target=self._stay, name="ebbflow-data-worker", daemon=True).start()

    def _stay(self) -> None:
        """Tell the dispatcher that one is there, join again whenever it was gone, and end what is over."""
        link = self._dispatcher.link()
        while not self._stopped.wait(self._heartbeat):
            try:
                if link.error is not None:
                    link = self._dispatcher.link()
                    self._dispatcher.ask("join", address=self.address)
                over, _ = self._dispatcher.ask("alive", address=self.address, iterations=list(self._tasks))
                for iteration in over:
                    self._end(iteration)
            except errors.OpError as error:
                logging.debug("the dispatcher is not there: %s", error)

    def stop(self) -> None:
        """Serve no longer."""
        self._stopped.set()
        here.discard(self.address)
        self.service.stop()  # first, so that no reader hears of calls that fail because of the rest
        self._dispatcher.close()
        self._tasks.clear()

    def _begin(self, link: Any, arrays: Any, iteration: int) -> Answer:
        """Have a task for an iteration before anybody asks for elements."""
        self._task(iteration)
        return None, ()

    def _element(
        self, link: Any, arrays: Any, iteration: int, round: int = -1, consumer: int = -1, trainer: str = ""
    ) -> Answer:
        task = self._task(iteration)
        if consumer >= 0:
            found = task.of_round(round, consumer)
        else:
            found = task.for_trainer(trainer) if trainer else task.bunch()
        return packed(found)

    def _task(self, iteration: int) -> Task:
        with self._lock:
            making = self._making.setdefault(iteration, threading.Lock())
        with making:  # others may go on meanwhile: a dataset may read from this very worker
            task = self._tasks.get(iteration)
            if task is None:
                task = self._tasks[iteration] = self._made(iteration)
                with self._lock:
                    for number in [n for n, t in list(self._tasks.items()) if t.ended][:-TASKS]:
                        self._end(number)
            return task

    def _end(self, iteration: int) -> None:
        self._tasks.pop(iteration, None)
        self._making.pop(iteration, None)

    def _made(self, iteration: int) -> Task:
        told, arrays = self._dispatcher.ask("describe", iteration=iteration, address=self.address)
        pipe, turns = pipe_of_graph(arrays[0][0]), itertools.count()

        def deal(source: int, repetition: int, count: int) -> int:
            try:
                first, _ = self._dispatcher.ask_patiently(
                    CONNECT_SECONDS, "deal", iteration=iteration, source=source, repetition=repetition, count=count,
                    asked=[self._known_as, next(turns)],
                )  # fmt: skip
            except errors.CancelledError:  # of a worker that is stopping
                raise errors.UnavailableError(None, None, f"the worker at {self.address} has stopped") from None
            return first

        if told["consumers"] and pipe.size >= 0:
            raise errors.FailedPreconditionError(
                None, None, "Round robin reads require that the input dataset has infinite cardinality, but the "
                f"dataset has cardinality {pipe.size}. Consider adding a `.repeat()` transformation to the dataset.",
            )  # fmt: skip
        mine = shared(pipe, told["mode"], told["place"], told["places"], deal, short=False)
        return Task(mine, told["consumers"])
