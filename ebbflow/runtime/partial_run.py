"""Partial runs: one run of a graph, fed and fetched in several goes; each node runs once.

Where nodes run is decided once, for all that will be fetched. A go cuts out what is needed and has not run yet, and
runs it like any graph on one or several devices; what it gave is fed to the goes that follow.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes, errors
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.runtime.compiled import before_running
from ebbflow.runtime.executor import PLACEHOLDERS, NodeRun, bind, needed_nodes
from ebbflow.runtime.partition import partition
from ebbflow.runtime.run_on_devices import devices_of, team_for


class PartialRun:
    """What has been fed and computed so far in a partial run."""

    def __init__(self, session: Any, fetches: Sequence[Any], feeds: Sequence[SymbolicTensor]):
        runs: Sequence[Any] = list(fetches)
        fed: Sequence[Any] = list(feeds)
        for rewrite in before_running:
            runs, fed = rewrite(runs, fed)
        self._fetches = dict(zip(fetches, runs, strict=True))  # by what the user knows: what runs for it
        self._feeds = dict(zip(feeds, fed, strict=True))
        self._session = session
        self._remote = getattr(session, "cluster", None) is not None
        self._nodes = needed_nodes(runs, {id(t) for t in fed})
        self._where = devices_of(session, self._nodes, {id(t) for t in fed})
        self._known: dict[SymbolicTensor, Any] = {}
        self._done: set[Operation] = set()
        self._fetched: set[Any] = set()
        self._lock = threading.Lock()

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to feed or to fetch."""
        return self._fetched.issuperset(self._fetches) and self._known.keys() >= set(self._feeds.values())

    def go_on(self, fetches: Sequence[Any], fed: Sequence[tuple[SymbolicTensor, Any]]) -> list[Any]:
        """Take more feeds and return the values of more fetches."""
        with self._lock:
            self._check(fetches, [tensor for tensor, _ in fed])
            known = self._known | {self._feeds[tensor]: value for tensor, value in fed}
            wanted = [self._fetches[f] for f in fetches]
            values = self._run(wanted, known)
            self._known = known
            self._fetched.update(fetches)
            return values

    def _check(self, fetches: Sequence[Any], feeds: Sequence[SymbolicTensor]) -> None:
        for tensor in feeds:
            if tensor not in self._feeds:
                raise _refusal(f"The feed {tensor.name} was not specified in partial_run_setup.")
            if self._feeds[tensor] in self._known:
                raise _refusal(f"The feed {tensor.name} has already been fed.")
        for item in fetches:
            if item not in self._fetches:
                raise _refusal(f"The fetch {item.name} was not specified in partial_run_setup.")
            if item in self._fetched:
                raise _refusal(f"The fetch {item.name} has already been fetched.")

    def _run(self, wanted: Sequence[Any], known: dict[SymbolicTensor, Any]) -> list[Any]:
        """Return the wanted values; what is computed for them becomes known."""
        nodes = self._missing(wanted, known)
        if not nodes:
            return [known.get(f) for f in wanted]
        again = {node for node in nodes if self._remote and any(map(_stays, node._outputs))}
        made = [t for node in nodes if node not in again for t in node._outputs if t not in known]
        fetches = [f for f in wanted if f not in known and f not in self._done] + made
        where = {node: self._where[node] for node in nodes}
        parts = partition(nodes, where, fetches, list(known))
        results = team_for(self._session, parts).run(list(known.values()), len(fetches), None)
        found = dict(zip(fetches, results, strict=True))
        references = () if self._remote else (t for t in made if t.dtype._is_ref_dtype)
        known.update({t: found[t] for t in made} | {t: self._reference(t) for t in references})
        self._done.update(node for node in nodes if node not in again)
        return [found[f] if f in found else known.get(f) for f in wanted]

    def _reference(self, tensor: SymbolicTensor) -> Any:
        """Return the variable that a reference stands for, which updates hand on."""
        node = tensor.op
        while node._inputs:
            node = node._inputs[0].op
        return bind(node, NodeRun(self._session, node))()

    def _missing(self, wanted: Sequence[Any], known: dict[SymbolicTensor, Any]) -> list[Operation]:
        """Return the nodes that are needed and have not run yet, in their order."""
        open_feeds = {feed for feed in self._feeds.values() if feed not in known}
        needed: set[Operation] = set()

        def need(source: Any) -> None:
            if type(source) is SymbolicTensor and source.op.type in PLACEHOLDERS and source not in open_feeds:
                raise _refusal(f"You must feed a value for placeholder tensor '{source.op.name}'")
            if type(source) is SymbolicTensor and source in open_feeds:
                raise _refusal(f"Fetch {source.name} can't be computed from the feeds that have been fed so far.")
            needed.add(source.op if type(source) is SymbolicTensor else source)

        for fetch in wanted:
            if fetch not in known:
                need(fetch)
        missing = []
        for node in reversed(self._nodes):
            if node in needed and node not in self._done:
                missing.append(node)
                for source in node._inputs:
                    if source not in known:
                        need(source)
                needed.update(node.waits_for)
        return missing[::-1]


def _stays(tensor: SymbolicTensor) -> bool:
    """Return whether what a node gives stays where the node runs: a handle, which is made again when it is needed."""
    reference = tensor.dtype._is_ref_dtype and not tensor.op._inputs
    return reference or tensor.dtype in (dtypes.resource, dtypes.variant)


def _refusal(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)
