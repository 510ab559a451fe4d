"""A task: what one server keeps and runs for sessions, wherever these are.

Variables, queues and tables live in the task, by container and name, so sessions of several programs share them; random
streams and whatever else belongs to a program's nodes is kept for each session. A session brings its graphs once, cut
for this task, and starts them by number, step after step. Knows graphs and runners; knows nothing of gRPC.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.cluster import collectives, wire
from ebbflow.cluster.endpoint import here
from ebbflow.cluster.link import Link
from ebbflow.cluster.steps import Step
from ebbflow.core import errors, stopping
from ebbflow.engines import devices
from ebbflow.functions.dataflow_v1.graph_import import import_part
from ebbflow.graph.graph import Graph
from ebbflow.runtime.partition import Part
from ebbflow.runtime.rendezvous import Recv, Send
from ebbflow.runtime.run_on_devices import Team

DEFAULT_CONTAINER = "localhost"
"""What the container without a name is called when one is to be reset."""

ENDING_SECONDS = 10.0
"""How long steps may take to end when the state that they count on is replaced."""


class Task:
    """What a server keeps and runs."""

    def __init__(self, name: str, cluster: Any, config: Any):
        self.name, self.cluster, self.config = name, cluster, config
        self.containers: dict[Any, Any] = {}
        self.epoch = ""  # which restored or initialized state is in the containers, as the chief names it
        self.incarnation = f"{devices.table.logical()[0].incarnation:016x}"
        self._sessions: dict[tuple[str, str], TaskSession] = {}
        self._running: dict[int, tuple[str | None, Step]] = {}  # by number: which epoch a step counts on
        self._lock = threading.Lock()
        self._ended = threading.Condition(self._lock)  # a step of an epoch that is over

    # --- what a session asks for --------------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """Return what this task knows of its cluster."""
        jobs = {job: {str(i): self.cluster.task_address(job, i) for i in self.cluster.task_indices(job)}
                for job in self.cluster.jobs}  # fmt: skip
        return {"name": self.name, "cluster": jobs, "incarnation": self.incarnation}

    def open(self, session: str, name: str, config: Any, worker: str) -> TaskSession:
        """Begin to serve a session of some worker, which calls this task by a name."""
        with self._lock:
            opened = self._sessions[session, name] = TaskSession(self, name, config, worker)
        return opened

    def check_epoch(self, epoch: str | None) -> None:
        """Raise AbortedError where somebody counts on a state that was replaced by another since."""
        if epoch is not None and epoch != self.epoch:
            raise errors.AbortedError(
                None, None, f"{self.name} was restored or initialized again: its state is of epoch {self.epoch!r}, the "
                f"session's of {epoch!r}",
            )  # fmt: skip

    def begin_epoch(self, epoch: str) -> None:
        """Hold another state from now on: steps that count on the one before are stopped."""
        self.epoch = epoch
        for counted_on, step in list(self._running.values()):
            try:
                self.check_epoch(counted_on)
            except errors.AbortedError as error:
                step.abort(error)
                step.stop.cancel()
        with self._lock:  # one that is past all looks may still change something
            in_time = self._ended.wait_for(lambda: not self._of_other_epochs(), ENDING_SECONDS)
        if not in_time:
            raise errors.UnavailableError(None, None, f"{self.name}: steps of the state before do not end")

    def _of_other_epochs(self) -> bool:
        return any(counted_on not in (None, self.epoch) for counted_on, _ in list(self._running.values()))

    def session(self, session: str, name: str) -> TaskSession:
        """Return a session that was opened; AbortedError if it is not here any more."""
        found = self._sessions.get((session, name))
        if found is None:
            raise errors.AbortedError(
                None, None, f"Session {session} is not known at {name}: the task was restarted, or the session reset"
            )
        return found

    def close(self, session: str, name: str) -> None:
        """Serve a session no longer, and stop what runs for it."""
        with self._lock:
            found = self._sessions.pop((session, name), None)
        if found is not None:
            found.close()

    def reset(self, containers: Sequence[str]) -> None:
        """Forget what is in the containers (none: in all), and end all sessions."""
        names = {"" if name == DEFAULT_CONTAINER else name for name in containers}
        for key in [k for k in list(self.containers) if not names or k[0] in names]:
            self.containers.pop(key, None)
        for session, name in list(self._sessions):
            self.close(session, name)

    # --- what comes over a link ---------------------------------------------------------------------------------------

    def answer(self, link: Link, number: int, content: Any) -> None:
        """Do what a call asks for, and say how it went."""
        step = here.steps.join(number)
        try:
            method, arguments = content
            if method not in _CALLS or step is None:
                raise wire.damaged(f"there is no call {method!r}")
            link.say(wire.said(wire.ANSWER, number, _CALLS[method](self, link, step, **arguments)))
        except Exception as error:
            _try_to_say(link, wire.said(wire.FAILURE, number, wire.error_content(error)))
        finally:
            if step is not None:
                here.steps.end(step)

    def run(self, link: Link, number: int, content: Any) -> None:
        """Run this task's part of a step, and send back what is fetched."""
        step = here.steps.join(number)
        if step is None:
            return
        step.claimed = True
        try:
            session = self.session(content["session"], content["name"])
            step.stop = stopping.Stop(session, None, session.stop)
            self._running[number] = content["epoch"], step
            self.check_epoch(content["epoch"])
            link.serving[number] = lambda: _cancel(step)
            for gone in (link.error, step.error):
                if gone is not None:
                    raise gone
            graph = session.graph(content["graph"])
            fed = {place: step.take(f"feed/{place}") for place in graph.feeds}
            results: dict[int, Any] = {}
            trace: list[Any] | None = [] if content["trace"] else None
            graph.run(step, fed, results, trace)
            if step.error is not None:
                raise step.error
            for place, value in results.items():
                if value is not None:
                    link.post(number, f"fetch/{place}", value)
            link.say(wire.said(wire.DONE, number, None if trace is None else [_entry(*e) for e in trace]))
        except Exception as error:
            _try_to_say(link, wire.said(wire.FAILURE, number, wire.error_content(error)))
        finally:
            link.serving.pop(number, None)
            epoch, _ = self._running.pop(number, (None, None))
            if epoch is not None and epoch != self.epoch:
                with self._lock:
                    self._ended.notify_all()
            here.steps.end(step)


def _cancel(step: Step) -> None:
    step.abort(errors.CancelledError(None, None, "Run call was cancelled"))
    step.stop.cancel()


def _try_to_say(link: Link, frame: wire.Frame) -> None:
    with contextlib.suppress(errors.OpError):  # whoever asked is gone
        link.say(frame)


def _entry(node: Any, start: int, end: int, device: str) -> list[Any]:
    return [node.name, start, end, device]


def _describe(task: Task, link: Link, step: Step) -> Any:
    return task.describe()


def _open(task: Task, link: Link, step: Step, session: str, name: str, worker: str) -> Any:
    config = messages.parse(messages.ConfigProto, step.take("config").tobytes())
    opened = task.open(session, name, config, worker)
    link.when_lost.append(lambda: task.close(session, name))
    return [[d.name, d.device_type, d.memory_limit, d.number, d.incarnation] for d in opened.devices]


def _close(task: Task, link: Link, step: Step, session: str, name: str) -> None:
    task.close(session, name)


def _reset(task: Task, link: Link, step: Step, containers: list[str]) -> None:
    task.reset(containers)


def _register(task: Task, link: Link, step: Step, session: str, name: str, parts: Any, addresses: Any) -> int:
    definitions = [messages.parse(messages.GraphDef, step.take(f"graph/{i}").tobytes()) for i in range(len(parts))]
    return task.session(session, name).register(parts, definitions, addresses)


def _release(task: Task, link: Link, step: Step, session: str, name: str, graph: int) -> None:
    task.session(session, name).release(graph)


def _epoch(task: Task, link: Link, step: Step, begin: str | None = None) -> str:
    if begin is not None:
        task.begin_epoch(begin)
    return task.epoch


def _join(task: Task, link: Link, step: Step, group: int, rank: int, incarnation: str) -> str:
    return collectives.admitted(group, rank, incarnation)


_CALLS: dict[str, Callable[..., Any]] = {
    "describe": _describe, "open": _open, "close": _close, "reset": _reset, "register": _register, "release": _release,
    "join": _join, "epoch": _epoch,
}  # fmt: skip


# --- sessions ---------------------------------------------------------------------------------------------------------


class TaskSession:
    """A session, as one task sees it: what runners and kernels ask a session for."""

    here_only = True  # what functions in its graphs say of other tasks means this one

    def __init__(self, task: Task, name: str, config: Any, worker: str):
        self.name, self.worker = name, worker  # this task's name, and that of the one the session belongs to
        self._config = config
        self.soft_placement = config.allow_soft_placement
        self.devices = [d._replace(name=d.name.replace(devices.TASK, name)) for d in devices.of_session(task.config)]
        isolated = config.isolate_session_state or config.cluster_def.job  # names of tasks are this session's own
        shared: dict[Any, Any] = {} if isolated else task.containers
        self.resources = Resources(shared)
        self.stop = stopping.Stop(self)
        self.bodies: dict[Any, Any] = {}
        self._graphs: dict[int, TaskGraph] = {}
        self._numbers = itertools.count(1)
        self._originals: dict[str, Any] = {}

    def register(self, parts: Any, definitions: Sequence[Any], addresses: dict[str, str]) -> int:
        """Keep graphs that are to be run, and return their number."""
        made = [self._part(part, definition) for part, definition in zip(parts, definitions, strict=True)]
        number = next(self._numbers)
        self._graphs[number] = TaskGraph(self, made, addresses)
        return number

    def _part(self, described: Any, definition: Any) -> Part:
        """Return the part of a graph that was sent here."""
        device = next((d for d in self.devices if d.name == described["device"]), None)
        if device is None:
            raise errors.InvalidArgumentError(None, None, f"{self.name} has no device {described['device']}")
        part = Part(device)
        part.graph = Graph()
        import_part(definition, part.graph, {"_Send": Send, "_Recv": Recv})
        for node in part.graph._nodes:  # one node of the program may be in several graphs: it has one random stream
            first = self._originals.setdefault(node.name, node)
            if first is not node and first.type == node.type:
                node._copy_of = first
        element = part.graph.as_graph_element
        part.feeds, part.fed = [element(name) for name, _ in described["feeds"]], [i for _, i in described["feeds"]]
        part.fetches = [element(name) for name, _ in described["fetches"]]
        part.fetched = [i for _, i in described["fetches"]]
        part.sends = [element(name, False, True) for name in described["sends"]]
        return part

    def graph(self, number: int) -> TaskGraph:
        """Return graphs that were registered."""
        found = self._graphs.get(number)
        if found is None:
            raise errors.AbortedError(None, None, f"{self.name} has no graph {number} of this session")
        return found

    def release(self, number: int) -> None:
        """Keep graphs no longer."""
        self._graphs.pop(number, None)

    def close(self) -> None:
        """Stop what runs, and keep nothing."""
        self.stop.cancel()
        self._graphs.clear()
        self.bodies.clear()
        self.resources.own.clear()


class TaskGraph:
    """The parts of one graph that a task runs."""

    def __init__(self, session: TaskSession, parts: Sequence[Part], addresses: dict[str, str]):
        self._team = Team([(part, session) for part in parts])
        self._addresses = addresses
        self.feeds = sorted({place for part in parts for place in part.fed})

    def run(self, step: Step, fed: Any, results: Any, trace: list[Any] | None) -> None:
        """Run the parts in a step; what is fetched goes to its place among the results."""
        step.roads = roads(self._addresses)
        try:
            self._team.meet(step, step.stop, fed, results, trace)
        finally:
            step.flush()


def roads(addresses: dict[str, str]) -> dict[str, Any]:
    """Return the way to each device that is not in this process."""
    found = ((device, here.road(address)) for device, address in addresses.items())
    return {device: road for device, road in found if road is not None}


class Resources(MutableMapping[Any, Any]):
    """What kernels find by key: things with a container and a name in the task, all else in the session."""

    def __init__(self, shared: dict[Any, Any]):
        self._shared = shared
        self.own: dict[Any, Any] = {}

    def _home(self, key: Any) -> dict[Any, Any]:
        return self._shared if key.__class__ is tuple and key[0].__class__ is str else self.own

    def get(self, key: Any, default: Any = None) -> Any:
        return self._home(key).get(key, default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self._home(key).setdefault(key, default)  # one step, whoever else asks

    def __getitem__(self, key: Any) -> Any:
        return self._home(key)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._home(key)[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._home(key)[key]

    def __iter__(self) -> Iterator[Any]:
        return iter([*self._shared, *self.own])

    def __len__(self) -> int:
        return len(self._shared) + len(self.own)


def as_bytes(content: bytes) -> np.ndarray:
    """Return bytes as a tensor that can be sent."""
    return np.frombuffer(content, np.uint8)
