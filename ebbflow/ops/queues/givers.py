"""Who gives and takes: workers that meet at the accumulators and queues of a task, one thing each in a step.

A node that is marked counts once for each worker, by the name of the worker's task: one that was started again is
still the same. Without a cluster, or without the mark, nobody is told apart. Knows nodes and sessions by attributes.
"""

from __future__ import annotations

from typing import Any

ONE_EACH = "_one_each"
"""The attr that marks a node."""


def giver(run: Any) -> tuple[str, str] | None:
    """Return for which worker and by which node something is given or taken, where each is to do it once."""
    worker = getattr(run.session, "worker", None)
    if worker is None or run.node is None or not run.node._attrs.get(ONE_EACH):
        return None
    return worker, run.node.name


def mark(node: Any) -> Any:
    """Return a node after it was marked."""
    node._attrs = {**node._attrs, ONE_EACH: True}
    return node
