"""A task as a session sees it: served in this process, or at the other end of a link.

Both kinds answer the same questions: open a session, take graphs, start them in a step. A task in this process is given
the graphs as they are. Knows tasks, links and steps; knows nothing of fetches or feeds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow import messages
from ebbflow.cluster import wire
from ebbflow.cluster.endpoint import here
from ebbflow.cluster.link import Link
from ebbflow.cluster.steps import Step
from ebbflow.cluster.task import Task, TaskSession, as_bytes
from ebbflow.core import errors
from ebbflow.engines.devices import Device
from ebbflow.graph.graph_def import graph_def
from ebbflow.runtime.partition import Part

ANSWER_SECONDS = 30.0
"""How long a task may take to answer what is no step: a large graph may have to be read."""


class LocalPeer:
    """A task of this process."""

    def __init__(self, task: Task, address: str):
        self.task, self.address = task, address
        self.epoch: str | None = None  # which state of the task the session counts on, if it does
        self._opened: TaskSession | None = None

    def describe(self) -> Any:
        return self.task.describe()

    def open(self, session: str, name: str, config: Any, worker: str) -> list[Device]:
        """Open the session of a worker at this task, and return its devices."""
        self._key = (session, name)
        self._opened = self.task.open(session, name, config, worker)
        return list(self._opened.devices)

    @property
    def session(self) -> TaskSession:
        """The session at this task; AbortedError if it was reset."""
        return self.task.session(*self._key)

    def check(self) -> None:
        """Raise AbortedError if the session was reset, or the state it counts on."""
        self.task.session(*self._key)
        self.task.check_epoch(self.epoch)

    def ask_epoch(self, begin: str | None = None) -> str:
        """Return which state the task holds, which is another from now on where one begins."""
        if begin is not None:
            self.task.begin_epoch(begin)
        return self.task.epoch

    def reset(self, containers: Sequence[str]) -> None:
        self.task.reset(containers)

    def close(self) -> None:
        if self._opened is not None:
            self.task.close(*self._key)


class RemotePeer:
    """A task in another process."""

    def __init__(self, link: Link, address: str):
        self.link, self.address = link, address
        self.epoch: str | None = None
        self._key: dict[str, str] = {}
        self._heads: dict[Any, bytes] = {}  # what starts a graph, which is the same in each step

    def _ask(self, method: str, content: Any, **tensors: Any) -> Any:
        return self.link.ask(method, content, tensors, ANSWER_SECONDS)

    def describe(self) -> Any:
        return self._ask("describe", {})

    def open(self, session: str, name: str, config: Any, worker: str) -> list[Device]:
        """Open the session of a worker at this task, and return its devices."""
        self._key = {"session": session, "name": name}
        asked, tensors = {**self._key, "worker": worker}, {"config": as_bytes(config.SerializeToString())}
        answer = self.link.ask("open", asked, tensors, ANSWER_SECONDS)
        return [Device(n, kind, memory, number, told) for n, kind, memory, number, told in answer]

    def ask_epoch(self, begin: str | None = None) -> str:
        """Return which state the task holds, which is another from now on where one begins."""
        return self._ask("epoch", {"begin": begin})

    def register(self, parts: Sequence[Part], addresses: dict[str, str]) -> int:
        """Give the task its parts of a graph, and return the number they have there."""
        described = [_described(part) for part in parts]
        graphs = {f"graph/{i}": as_bytes(_serialized(part)) for i, part in enumerate(parts)}
        content = {**self._key, "parts": described, "addresses": addresses}
        return self.link.ask("register", content, graphs, ANSWER_SECONDS)

    def release(self, graph: int) -> None:
        """Have the task keep a graph no longer."""
        self._heads = {known: head for known, head in self._heads.items() if known[0] != graph}
        self._tell("release", {**self._key, "graph": graph})

    def start(
        self, step: Step, graph: int, fed: dict[int, Any], trace: bool, done: Callable[[Any, bool], None]
    ) -> None:
        """Start a registered graph in a step; `done` is called with what the task says at its end."""
        self.link.expect(step.number, done)
        for place, value in fed.items():
            self.link.post(step.number, f"feed/{place}", value)
        self.link.say(wire.Frame(wire.RUN, step.number, self._head(graph, trace, self.epoch), b""))

    def _head(self, graph: int, trace: bool, epoch: str | None) -> bytes:
        head = self._heads.get((graph, trace, epoch))
        if head is None:
            content = {**self._key, "graph": graph, "trace": trace, "epoch": epoch}
            head = self._heads[graph, trace, epoch] = wire.said(wire.RUN, 0, content).head
        return head

    def cancel(self, step: Step) -> None:
        """Have the task stop its part of a step."""
        self.link.forget(step.number)
        with contextlib.suppress(errors.OpError):  # it is gone, and so is its part
            self.link.say(wire.said(wire.CANCEL, step.number))

    def reset(self, containers: Sequence[str]) -> None:
        self._ask("reset", {"containers": list(containers)})

    def close(self) -> None:
        if self._key:
            self._tell("close", self._key)

    def _tell(self, method: str, content: Any) -> None:
        """Ask for something and wait for no answer."""
        step = here.steps.begin()
        here.steps.end(step)
        with contextlib.suppress(errors.OpError):  # what is gone keeps nothing
            self.link.say(wire.said(wire.CALL, step.number, [method, content]))


def _described(part: Part) -> dict[str, Any]:
    return {
        "device": part.device.name,
        "feeds": [[tensor.name, place] for tensor, place in zip(part.feeds, part.fed, strict=True)],
        "fetches": [[fetch.name, place] for fetch, place in zip(part.fetches, part.fetched, strict=True)],
        "sends": [node.name for node in part.sends],
    }


def _serialized(part: Part) -> bytes:
    return messages.serialize(graph_def(part.graph))


def peer_at(address: str, seconds: float) -> LocalPeer | RemotePeer:
    """Return the task that is served at an address; UnavailableError if none answers within so many seconds."""
    task = here.tasks.get(address)
    return RemotePeer(here.link(address, seconds), address) if task is None else LocalPeer(task, address)
