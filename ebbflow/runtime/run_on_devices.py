"""Running a part of a graph where its nodes belong: on one device by a Runner, on several by one for each.

`runner` is the one way from fetches and feeds to something that runs them. Where everything is on one device of the
host, which is nearly always, it gives a plain Runner and the devices have cost nothing. Otherwise the graph is cut, and
each part runs in a thread of its own; the parts meet in a rendezvous. When one fails the others are told, and its error
is the one that is raised.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from ebbflow.compiler.build import build
from ebbflow.core import stopping
from ebbflow.core.device import matches
from ebbflow.engines import devices
from ebbflow.engines.devices import Device
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.platform import config
from ebbflow.runtime.compiled import MAX_SHAPES, Runner
from ebbflow.runtime.device_runner import DeviceRunner, runs_on
from ebbflow.runtime.partition import Part, partition
from ebbflow.runtime.placement import place
from ebbflow.runtime.rendezvous import Aborted, LocalRendezvous, taking_part
from ebbflow.runtime.sources import Sourced, sourced

MOST_PARTS = 4096
"""Threads that may wait for each other at once: enough for every part that runs."""


def runner_for(
    session: Any,
    fetches: Sequence[Any],
    feeds: Sequence[Any],
    jit: Any = None,
    name: str = "graph",
    default: Device | None = None,
) -> Runner | Sourced | Partitioned:
    """Return what gives the fetched values from the fed ones, on the devices that the nodes belong on; `default` is for
    those that ask for none.
    """
    whole = Runner(session, fetches, feeds, jit, name)
    there = _there(session)
    nodes = [bound.node for bound in whole.executor.bound]
    cluster = getattr(session, "cluster", None)
    simple = cluster is None and len(there) == 1 and not _logs(session)
    if simple and _all_match({node._device for node in nodes}, there[0]):
        return sourced(whole)
    where = _where(session, nodes, {id(t) for t in whole.feeds}, there, default)
    homes = set(where.values())
    if cluster is not None:
        return Partitioned(session, nodes, where, whole)
    if jit is True:  # compiled whole, for the one accelerator that is asked for
        accelerators = [home for home in homes if home.number is not None]
        whole.jit_device = accelerators[0].engine_device() if len(accelerators) == 1 else None
        return whole
    if len(homes) <= 1 and all(home.number is None for home in homes):
        whole.device = next(iter(homes)).name if homes else there[0].name
        return sourced(whole)
    return Partitioned(session, nodes, where, whole)


def devices_of(session: Any, nodes: Sequence[Operation], fed: set[int]) -> dict[Operation, Device]:
    """Return the device of each node of a graph between what is fed, by id, and what is fetched."""
    return _where(session, nodes, fed, _there(session), None)


def _there(session: Any) -> Sequence[Device]:
    return getattr(session, "devices", None) or devices.table.logical()


def _all_match(asked: set[str], device: Device) -> bool:
    return all(matches(name, device.name) for name in asked)


def _logs(session: Any) -> bool:
    proto = getattr(session, "_config", None)
    return config.get_log_device_placement() if proto is None else proto.log_device_placement


def _where(
    session: Any, nodes: Sequence[Operation], fed: set[int], there: Sequence[Device], default: Device | None
) -> dict[Operation, Device]:
    soft = getattr(session, "soft_placement", config.wishes.soft_placement is not False)
    where = place(nodes, fed, there, soft, runs_on, default, getattr(session, "here_only", False))
    if _logs(session):
        _log(session, where)
    return where


def _log(session: Any, where: dict[Operation, Device]) -> None:
    """Say where nodes go, each once in a session's life."""
    told = session.resources.setdefault(("placements", "told"), set())
    for node, device in where.items():
        if node.name not in told:
            told.add(node.name)
            print(f"{node.name}: ({node.type}): {device.name}", flush=True)


class Partitioned:
    """The fetched values from the fed ones, by a runner for each device.

    Where shapes depend on what is fed, a set of shapes that comes again gets runners of its own, which know the shapes
    of what they receive.
    """

    when_settled: Any = None  # no call of it can go anywhere else

    def __init__(self, session: Any, nodes: Sequence[Operation], where: dict[Operation, Device], whole: Runner):
        self._session, self._nodes, self._where, self._whole = session, nodes, where, whole
        self.parts = partition(nodes, where, whole.fetches, whole.feeds)
        self._team = team_for(session, self.parts)
        self._static = all(t._dims is not None and None not in t._dims for t in whole.feeds)
        self._teams: dict[Any, Team | None] = {}
        self._lock = threading.Lock()
        self._tensors = tuple(i for i, f in enumerate(whole.fetches) if type(f) is SymbolicTensor)
        self.keeps_feeds = whole.keeps_feeds

    def run(self, fed: Sequence[Any], trace: list[Any] | None = None) -> tuple[list[Any], Sequence[int]]:
        """Return the fetched values (None for operations), and which of them somebody else may hold."""
        team = self._team if self._static else self._team_for(tuple([a.shape for a in fed]))
        return team.run(fed, len(self._whole.fetches), trace), self._tensors

    run_stoppable = run  # each part knows what it has to heed

    def values(self, fed: Sequence[Any]) -> Sequence[Any]:
        """Return the fetched values: see `Runner.values`."""
        return self.run(fed)[0]

    def _team_for(self, shapes: tuple[Any, ...]) -> Team:
        with self._lock:
            if shapes not in self._teams:
                if len(self._teams) < MAX_SHAPES:
                    self._teams[shapes] = None  # met once: it may come again
                return self._team
            if self._teams[shapes] is None:
                self._teams[shapes] = self._informed(shapes)
            return self._teams[shapes] or self._team

    def _informed(self, shapes: Sequence[Any]) -> Team:
        """Return runners that know the shapes of what passes between them."""
        whole = self._whole
        try:
            made = build(self._nodes, whole.feeds, shapes, whole.fetches)
        except Exception:  # running it says what is wrong
            return self._team
        dims = {v.tensor: v.dims for node in made.nodes for v in node.outputs if v.tensor is not None}
        return team_for(self._session, partition(self._nodes, self._where, whole.fetches, whole.feeds, dims))

    def explain(self) -> str:
        """Return what runs, as text: a Program for each device."""
        teams = [team for team in self._teams.values() if team is not None] or [self._team]
        return "\n".join(team.explain() for team in dict.fromkeys(teams))


def team_for(session: Any, parts: Sequence[Part]) -> Any:
    """Return what runs the parts of a graph for a session: in this process, or on the cluster it is a session of."""
    cluster = getattr(session, "cluster", None)
    return Team([(part, session) for part in parts]) if cluster is None else cluster.team(session, parts)


class Team:
    """A runner for each part, each for its session."""

    def __init__(self, parts: Sequence[tuple[Part, Any]]):
        self.parts = [part for part, _ in parts]
        self._sessions = [session for _, session in parts]
        self.runners = [_runner_of(session, part) for part, session in parts]

    def run(self, fed: Sequence[Any], count: int, trace: list[Any] | None) -> list[Any]:
        """Return that many fetched values."""
        results: list[Any] = [None] * count
        stop = stopping.current(self._sessions[0])
        meeting = LocalRendezvous(len(self.parts), stop)
        self.meet(meeting, stop, fed, results, trace)
        if meeting.error is not None:
            raise meeting.error
        return results

    def meet(self, meeting: Any, stop: stopping.Stop, fed: Any, results: Any, trace: list[Any] | None) -> None:
        """Run all parts; what is fetched goes to its place among the results, an error to the meeting."""
        traces: list[Any] = [None if trace is None else [] for _ in self.parts]
        others = [
            _threads().submit(self._run_part, i, fed, results, meeting, traces[i], stop)
            for i in range(1, len(self.parts))
        ]
        try:
            self._run_part(0, fed, results, meeting, traces[0], stop)
            for other in others:
                other.result()
        except BaseException as error:  # an interrupt while waiting
            meeting.abort(error)
            raise
        if trace is not None and meeting.error is None:
            trace += [(*entry, part.device.name) for part, run in zip(self.parts, traces, strict=True) for entry in run]

    def _run_part(self, number: int, fed: Any, results: Any, meeting: Any, trace: Any, stop: stopping.Stop) -> None:
        part, runner, session = self.parts[number], self.runners[number], self._sessions[number]
        run = runner.run_stoppable if stop.urgent and isinstance(runner, Runner) else runner.run
        heeded = stop if stop.session is session else stopping.Stop(session, None, stop)
        try:
            with taking_part(meeting), stopping.heeding(heeded):
                values, _ = run([fed[i] for i in part.fed], trace)
            for place, value in zip(part.fetched, values, strict=False):
                results[place] = value
        except Aborted:
            pass  # another part says why
        except BaseException as error:  # an interrupt too must reach those who wait
            meeting.abort(error)
        finally:
            meeting.leave()

    def explain(self) -> str:
        """Return what runs, as text: a Program for each device."""
        return "\n".join(
            f"# on {part.device.name}\n{run.explain()}" for part, run in zip(self.parts, self.runners, strict=True)
        )


def _runner_of(session: Any, part: Part) -> Runner | DeviceRunner:
    wanted = [*part.fetches, *part.sends]
    if part.device.number is None:
        return Runner(session, wanted, part.feeds)
    return DeviceRunner(session, wanted, part.feeds, part.device)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST_PARTS, thread_name_prefix="ebbflow-device")


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_threads.cache_clear)
