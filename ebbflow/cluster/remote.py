"""What a session of a cluster is: its tasks, their devices, and how a graph runs on them.

`Session("grpc://…")` asks the server there who else belongs to the cluster, waits until all of them answer, and opens
itself at each; a server in this process is spoken to directly. The process with the session is its master: it places
nodes and cuts the graph, gives each task its parts once, and starts them with one message per task and step. Tensors go
from task to task. Knows peers and parts; where nodes go is the runtime's.
"""

from __future__ import annotations

import contextlib
import secrets
import time
import weakref
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ebbflow import messages
from ebbflow.cluster.departed import departed
from ebbflow.cluster.endpoint import here
from ebbflow.cluster.peers import LocalPeer, RemotePeer, peer_at
from ebbflow.cluster.steps import Step
from ebbflow.cluster.task import roads
from ebbflow.cluster.wire import error_from
from ebbflow.core import device as device_names
from ebbflow.core import errors, stopping
from ebbflow.engines.devices import Device
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.platform import logging
from ebbflow.runtime.partition import Part
from ebbflow.runtime.run_on_devices import Team

SCHEME = "grpc://"
WAIT_SECONDS = 120.0
"""How long a session waits for the tasks of its cluster, unless `ConfigProto.operation_timeout_in_ms` says so."""

REMIND_SECONDS = 10.0
ATTEMPT_SECONDS = 2.0


class Cluster:
    """The tasks of a session."""

    def __init__(self, target: str, config: Any):
        address = target.removeprefix(SCHEME)
        asked = messages.ConfigProto() if config is None else config
        end = _deadline(asked)
        first = _reached(address, target, end)
        described = first.describe()
        self._session = secrets.token_hex(8)
        tasks = _tasks(asked, described, address)
        self.master = next(name for name, where in tasks.items() if where == address)
        wanted = [name for name in tasks if name == self.master or _admitted(name, asked.device_filters)]
        self.peers: dict[str, LocalPeer | RemotePeer] = {}
        self.devices: list[Device] = []
        try:
            for name in sorted(wanted, key=lambda name: (name != self.master, name)):
                try:
                    peer = first if name == self.master else _reached(tasks[name], name, end)
                except _DepartedError:
                    continue
                self.devices += peer.open(self._session, name, asked, self.master)
                self.peers[name] = peer
        except BaseException:
            self.close()
            raise
        self._addresses = {name: tasks[name] for name in self.peers}

    def heed_epochs(self, tasks: Iterable[str]) -> list[str]:
        """Return which states tasks hold; runs of this session fail when they come to hold others."""
        for name in tasks:
            self.peers[name].epoch = self.peers[name].ask_epoch()
        return [self.peers[name].epoch or "" for name in tasks]

    def begin_epoch(self, tasks: Iterable[str], epoch: str) -> None:
        """Say that tasks hold another state from now on: who counts on the one before is refused."""
        for name in tasks:
            self.peers[name].epoch = self.peers[name].ask_epoch(epoch)

    def team(self, session: Any, parts: Sequence[Part]) -> ClusterTeam:
        """Return what runs the parts of a graph."""
        return ClusterTeam(session, self, parts)

    def task_of(self, device: str) -> str:
        """Return the name of the task that has a device."""
        return device.rpartition("/device:")[0]

    def addresses_for(self, parts: Sequence[Part]) -> dict[str, str]:
        """Return where the devices are that parts send to."""
        goals = {node._attrs["recv_device"] for part in parts for node in part.sends}
        return {goal: self._addresses[self.task_of(goal)] for goal in goals}

    def close(self) -> None:
        """Have all tasks forget the session."""
        for peer in self.peers.values():
            peer.close()


class _Deadline(NamedTuple):
    """Until when to wait for tasks, how long that is, and what it means if they do not answer."""

    time: float
    seconds: float
    error: type[errors.OpError]


def _deadline(config: Any) -> _Deadline:
    asked = config.operation_timeout_in_ms / 1000
    error = errors.DeadlineExceededError if asked else errors.UnavailableError
    seconds = min(asked or WAIT_SECONDS, stopping.seconds_left())
    return _Deadline(time.monotonic() + seconds, seconds, error)


class _DepartedError(Exception):
    """A task has done its work, and is gone."""


def _reached(address: str, name: str, end: _Deadline) -> LocalPeer | RemotePeer:
    """Return a task, waiting until it answers."""
    remind = time.monotonic() + REMIND_SECONDS
    while True:
        if name in departed():
            raise _DepartedError(name)
        left = end.time - time.monotonic()
        try:
            return peer_at(address, max(min(left, ATTEMPT_SECONDS), 0.02))
        except errors.UnavailableError as error:
            if left <= 0:
                raise end.error(  # type: ignore[call-arg]
                    None,
                    None,
                    f"{name} does not answer at {address}: {error.message} (waited {end.seconds:.3g} s). Is its server "
                    "running, and is this the address that the cluster has for it? A session may do without a task: "
                    "ConfigProto(device_filters=[...]); it waits longer with ConfigProto(operation_timeout_in_ms=...)",
                ) from None
        if time.monotonic() >= remind:
            logging.info("CreateSession still waiting for response from worker: %s", name)
            remind += REMIND_SECONDS
        time.sleep(0.05)


def _tasks(config: Any, described: Any, address: str) -> dict[str, str]:
    """Return the addresses of all tasks by name: as the session's cluster has them, or the server's."""
    if not config.cluster_def.job:
        jobs = {job: {int(i): where for i, where in tasks.items()} for job, tasks in described["cluster"].items()}
        named = {f"/job:{job}/replica:0/task:{i}": where for job, tasks in jobs.items() for i, where in tasks.items()}
        return {**named, described["name"]: address}
    named = {f"/job:{job.name}/replica:0/task:{i}": where for job in config.cluster_def.job
             for i, where in job.tasks.items()}  # fmt: skip
    if address not in named.values():
        raise errors.InvalidArgumentError(
            None, None, f"ConfigProto.cluster_def has no task at {address}, which the session was made for: {named}"
        )
    return named


def _admitted(name: str, filters: Sequence[str]) -> bool:
    """Return whether device filters, where there are any, let a task in."""
    return not filters or any(device_names.is_compatible(wanted, name) for wanted in filters)


def reset(target: str, containers: Sequence[str], config: Any) -> None:
    """Have all tasks of a cluster forget what is in the containers, and end their sessions."""
    asked = messages.ConfigProto() if config is None else config
    end = _deadline(asked)
    address = target.removeprefix(SCHEME)
    first = _reached(address, target, end)
    for name, where in _tasks(asked, first.describe(), address).items():
        if where == address or _admitted(name, asked.device_filters):
            with contextlib.suppress(_DepartedError):
                (first if where == address else _reached(where, name, end)).reset(containers)


class ClusterTeam:
    """The parts of a graph, each at its task."""

    def __init__(self, session: Any, cluster: Cluster, parts: Sequence[Part]):
        self._session = session
        by_task: dict[str, list[Part]] = {}
        for part in parts:
            by_task.setdefault(cluster.task_of(part.device.name), []).append(part)
        local: list[tuple[Part, Any]] = []
        self._remote: list[tuple[RemotePeer, int, list[int], list[int]]] = []
        self._locals: list[LocalPeer] = []
        for name, own in by_task.items():
            peer = cluster.peers[name]
            if isinstance(peer, LocalPeer):
                local += [(part, peer.session) for part in own]
                self._locals.append(peer)
            else:
                graph = peer.register(own, cluster.addresses_for(own))
                feeds = sorted({place for part in own for place in part.fed})
                pairs = [pair for part in own for pair in zip(part.fetched, part.fetches, strict=True)]
                fetched = [place for place, fetch in pairs if type(fetch) is SymbolicTensor]
                self._remote.append((peer, graph, feeds, fetched))
                weakref.finalize(self, peer.release, graph)
        self._local = Team(local) if local else None
        self._addresses = cluster.addresses_for([part for part, _ in local])

    def run(self, fed: Sequence[Any], count: int, trace: list[Any] | None) -> list[Any]:
        """Return that many fetched values."""
        results: list[Any] = [None] * count
        step = here.steps.begin()
        stop = step.stop = stopping.current(self._session)
        pending = _Pending(id(peer) for peer, *_ in self._remote)
        started: list[RemotePeer] = []
        try:
            for own in self._locals:
                own.check()
            for peer, graph, feeds, _ in self._remote:
                started.append(peer)
                done = self._ending(peer, step, pending, trace)
                peer.start(step, graph, {i: fed[i] for i in feeds}, trace is not None, done)
            if self._local is not None:
                step.roads = roads(self._addresses)
                self._local.meet(step, stop, fed, results, trace)
                step.flush()
            step.wait(lambda: not pending)
            for _, _, _, fetched in self._remote:
                for place in fetched:
                    results[place] = step.take(f"fetch/{place}")
            return results
        finally:
            pending.over = True
            for peer in started:
                if id(peer) in pending:
                    peer.cancel(step)
                elif len(started) > 1:
                    peer.link.forget(step.number)
            here.steps.end(step)

    def _ending(self, peer: RemotePeer, step: Step, pending: _Pending, trace: list[Any] | None) -> Any:
        """Return what is to be done when a task is done with its part.

        Until the others are done with theirs it must not be lost: they may wait for what only it could bring about.
        """

        def lost(said: Any, failed: bool) -> None:
            step.abort(error_from(said, self._session.graph))

        def done(said: Any, failed: bool) -> None:
            if failed:
                step.abort(error_from(said, self._session.graph))
            elif trace is not None and said:
                trace.extend(self._entry(*entry) for entry in said)
            pending.discard(id(peer))
            if pending and not failed:
                try:
                    peer.link.expect(step.number, lost)
                except errors.OpError as error:
                    step.abort(error)
                if pending.over:
                    peer.link.forget(step.number)
            step.wake()

        return done

    def _entry(self, name: str, start: int, end: int, device: str) -> tuple[Any, int, int, str]:
        return self._session.graph._by_name.get(name, _Elsewhere(name)), start, end, device

    def explain(self) -> str:
        """Return what runs in this process, as text; what runs at other tasks is compiled there."""
        own = "" if self._local is None else self._local.explain()
        return own + "".join(f"# at {peer.address}: graph {graph}\n" for peer, graph, *_ in self._remote)


class _Pending(set[int]):
    """The tasks that are not done with their part of a step."""

    over = False  # nobody waits for them any longer


class _Elsewhere:
    """A node that only the part of another task has: it sends or receives."""

    type = "_Recv"

    def __init__(self, name: str):
        self.name = name
        self.device = ""
