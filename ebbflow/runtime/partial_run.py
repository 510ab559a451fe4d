"""Partial runs: one run of a graph, fed and fetched in several goes; each node runs once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import errors
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.runtime.executor import Plan


class PartialRun:
    """What has been fed and computed so far in a partial run."""

    def __init__(self, session: Any, fetches: Sequence[Any], feeds: Sequence[SymbolicTensor]):
        self._allowed_fetches = {id(f) for f in fetches}
        self._allowed_feeds = {id(f) for f in feeds}
        self._keep = (list(fetches), list(feeds))
        self._session = session
        self._known: dict[int, tuple[Any, Any]] = {}

    def go_on(self, fetches: Sequence[Any], fed: Sequence[tuple[SymbolicTensor, Any]]) -> list[Any]:
        """Take more feeds and return the values of more fetches."""
        for tensor, value in fed:
            if id(tensor) not in self._allowed_feeds:
                raise errors.InvalidArgumentError(
                    None, None, f"The feed {tensor.name} was not specified in partial_run_setup."
                )
            if id(tensor) in self._known:
                raise errors.InvalidArgumentError(None, None, f"The feed {tensor.name} has already been fed.")
            self._known[id(tensor)] = (tensor, value)
        for item in fetches:
            if id(item) not in self._allowed_fetches:
                raise errors.InvalidArgumentError(
                    None, None, f"The fetch {item.name} was not specified in partial_run_setup."
                )
        known = list(self._known.values())
        plan = Plan(self._session, list(fetches), [tensor for tensor, _ in known])
        every = [t for step in plan.steps for t in step.node._outputs]
        plan = Plan(self._session, [*fetches, *every], [tensor for tensor, _ in known])
        values = plan.run([value for _, value in known])
        for tensor, value in zip(every, values[len(fetches) :], strict=True):
            self._known[id(tensor)] = (tensor, value)
        return values[: len(fetches)]
