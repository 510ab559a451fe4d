"""Running nodes that may wait for each other: each of them in a thread of its own.

The plain executor runs one node after the other, which is right as long as no node waits for another one of the same
run. Two nodes that wait (a queue's dequeue and the enqueue that fills it, Python functions that meet) and that no path
connects may do just that: an Executor with such a pair starts each node that may wait as soon as its inputs are there,
and goes on with the others meanwhile. So it does where one waits and the other may end the run (a counter at its limit
beside a dequeue). Knows an Executor's nodes; what they compute is theirs.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import stopping


def edges(bound_nodes: Sequence[Any]) -> list[set[int]]:
    """Return for each node the numbers of the nodes it must come after."""
    number = {id(bound.node): i for i, bound in enumerate(bound_nodes)}
    return [
        {number[id(before)] for before in (*(t.op for t in bound.node._inputs), *bound.node.waits_for)
         if id(before) in number}
        for bound in bound_nodes
    ]  # fmt: skip


def may_meet(bound_nodes: Sequence[Any]) -> bool:
    """Return whether a node that may wait has no path to or from another that may wait too, or end the run."""
    facts = [bound.node._op.facts for bound in bound_nodes]
    if sum(fact.waits or fact.ends for fact in facts) < 2 or not any(fact.waits for fact in facts):
        return False
    waiting = ending = 0  # the nodes of each kind so far, as bits
    behind: list[int] = []  # those of either kind that a node comes after, as bits
    for i, before in enumerate(edges(bound_nodes)):
        bits = 0
        for j in before:
            bits |= behind[j] if j < i else 0
        concerned = (waiting | ending) if facts[i].waits else waiting if facts[i].ends else 0
        if bits & concerned != concerned:
            return True
        if facts[i].waits:
            waiting |= 1 << i
        elif facts[i].ends:
            ending |= 1 << i
        behind.append(bits | ((waiting | ending) & 1 << i))
    return False


class _Run:
    """One run of such an Executor."""

    def __init__(self, bound_nodes: Sequence[Any], run_node: Callable[[Any, list[Any]], None], stop: stopping.Stop):
        self._bound_nodes, self._run_node, self._stop = bound_nodes, run_node, stop
        after = edges(bound_nodes)
        self._missing = [len(before) for before in after]
        self._users: list[list[int]] = [[] for _ in bound_nodes]
        for i, before in enumerate(after):
            for j in before:
                self._users[j].append(i)
        self._done: queue.SimpleQueue[tuple[int, BaseException | None]] = queue.SimpleQueue()

    def run(self, values: list[Any]) -> None:
        """Run all nodes; the first error ends those that wait, and is raised."""
        ready = [i for i, count in enumerate(self._missing) if not count]
        waiting, error, left = 0, None, len(self._bound_nodes)
        while left and (error is None or waiting):
            while ready and error is None:
                i = ready.pop()
                if self._bound_nodes[i].node._op.facts.waits:
                    threading.Thread(
                        target=self._wait, args=(i, values), daemon=True, name="ebbflow-waiting-op"
                    ).start()
                    waiting += 1
                    continue
                error = self._attempt(i, values)
                left, ready = left - 1, ready + self._freed(i)
                if error is not None:
                    self._stop.cancel()
            if not waiting:
                continue
            i, failed = self._done.get()
            waiting, left = waiting - 1, left - 1
            if failed is not None and error is None:
                error = failed
                self._stop.cancel()
            ready += self._freed(i) if failed is None else []
        if error is not None:
            raise error

    def _attempt(self, i: int, values: list[Any]) -> BaseException | None:
        try:
            self._run_node(self._bound_nodes[i], values)
        except BaseException as error:
            return error
        return None

    def _wait(self, i: int, values: list[Any]) -> None:
        with stopping.heeding(self._stop):
            self._done.put((i, self._attempt(i, values)))

    def _freed(self, i: int) -> list[int]:
        """Return the nodes that waited for this one alone."""
        free = []
        for user in self._users[i]:
            self._missing[user] -= 1
            if not self._missing[user]:
                free.append(user)
        return free


def run(
    bound_nodes: Sequence[Any], values: list[Any], run_node: Callable[[Any, list[Any]], None], session: Any
) -> None:
    """Run nodes of which some may wait for others."""
    _Run(bound_nodes, run_node, stopping.Stop(session, parent=stopping.current(session))).run(values)
