"""Runs whose values come from iterators and queues of the graph: those are asked first, the rest is run as if fed.

The shape of a batch that an iterator brings is known when it is there, and often only then (a last batch may be
smaller). Fed to the rest of the graph, it has one, and the rest is compiled for it as for any placeholder. Knows
Runners.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.shape import is_static
from ebbflow.graph.symbolic import Operation
from ebbflow.runtime.compiled import Runner
from ebbflow.runtime.executor import to_run_last


class Sourced:
    """The fetched values from the fed ones, in two runs: of what brings values, and of all else."""

    when_settled: Any = None  # it is always both

    def __init__(self, whole: Runner, sources: Sequence[Operation]):
        brought = [t for node in sources for t in node._outputs]
        used = {id(t) for node in sources for t in node._inputs}
        self._handles = [i for i, t in enumerate(whole.feeds) if id(t) in used]
        self._first = Runner(whole.session, brought, [whole.feeds[i] for i in self._handles], name=whole.name)
        number = {id(t): i for i, t in enumerate(brought)}
        self._passed_on = {i: number[id(f)] for i, f in enumerate(whole.fetches) if id(f) in number}
        self._others = [i for i in range(len(whole.fetches)) if i not in self._passed_on]
        fetches = [whole.fetches[i] for i in self._others]
        self._rest = Runner(whole.session, fetches, [*whole.feeds, *brought], whole.jit, whole.name, sources)
        self.keeps_feeds, self.device = whole.keeps_feeds, whole.device

    def run(self, fed: Sequence[Any], trace: list[Any] | None = None) -> tuple[list[Any], Sequence[int]]:
        """Return the fetched values (None for operations), and which of them somebody else may hold."""
        return self._by(self._rest.run, fed, trace)

    def run_stoppable(self, fed: Sequence[Any], trace: list[Any] | None = None) -> tuple[list[Any], Sequence[int]]:
        """`run` for a limited time."""
        return self._by(self._rest.run_stoppable, fed, trace)

    def _by(self, run: Any, fed: Sequence[Any], trace: list[Any] | None) -> tuple[list[Any], Sequence[int]]:
        brought, held = self._first.run([fed[i] for i in self._handles], trace)
        results, shared = run([*fed, *brought], trace)
        if not self._passed_on:
            return results, shared
        held = range(len(brought)) if self.keeps_feeds else held
        merged: list[Any] = [None] * (len(results) + len(self._passed_on))
        for i, value in zip(self._others, results, strict=True):
            merged[i] = value
        for i, number in self._passed_on.items():
            merged[i] = brought[number]
        theirs = [i for i, number in self._passed_on.items() if number in held]
        return merged, [*[self._others[i] for i in shared], *theirs]

    def values(self, fed: Sequence[Any]) -> Sequence[Any]:
        """Return the fetched values: see `Runner.values`."""
        if self._passed_on:
            return self.run(fed)[0]
        return self._rest.values([*fed, *self._first.values([fed[i] for i in self._handles])])

    def explain(self) -> str:
        """Return what runs, as text."""
        return f"{self._first.explain()}\n{self._rest.explain()}"


def sourced(whole: Runner) -> Runner | Sourced:
    """Return a Runner, or one in two parts where that lets shapes be known that are not."""
    if whole.jit is True or whole.executor.concurrent:
        return whole
    nodes = [bound.node for bound in whole.executor.bound]
    bringing = [node for node in nodes if node._op.facts.brings]
    fed = {id(t) for t in whole.feeds}
    if not bringing or to_run_last(nodes, fed):  # what brings values is not the first, then
        return whole
    users: dict[int, int] = {}
    for node in nodes:
        for tensor in node._inputs:
            users[id(tensor)] = users.get(id(tensor), 0) + 1
    sources = [node for node in bringing if _comes_first(node, fed, users)]
    open_shape = any(not is_static(t._dims) for node in sources for t in node._outputs)
    handles = {t.op for node in sources for t in node._inputs}
    computes = any(node not in handles and node not in sources for node in nodes)
    return Sourced(whole, sources) if open_shape and computes and len(sources) == len(bringing) else whole


def _comes_first(node: Operation, fed: set[int], users: dict[int, int]) -> bool:
    """Return whether a node can be run before all others: it waits for none, and no other has to do with its source."""
    handle = node._inputs[0]
    known = [t for t in node._inputs if id(t) in fed or not (t.op._inputs or t.op.waits_for)]
    alone = users[id(handle)] == 1 and not any(id(t) in fed for t in node._outputs)
    plain = all(t.dtype not in (dtypes.resource, dtypes.variant) for t in node._outputs)
    return alone and plain and not node.waits_for and len(known) == len(node._inputs)
