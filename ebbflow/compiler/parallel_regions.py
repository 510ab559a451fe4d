"""Running the regions of a `_Together` node: each a Program of its own, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.compiler.flow import Flow, Node
from ebbflow.compiler.program import Program
from ebbflow.platform import threads


class Together:
    """A function from the arrays that go into the regions, one after the other, to those that come out."""

    def __init__(self, regions: Sequence[Flow], bind: Callable[[Node], Callable[..., Any]]):
        self.programs = [Program(region, bind) for region in regions]
        self._counts = [len(region.inputs) for region in regions]

    def __call__(self, *arrays: Any) -> list[Any]:
        """Return the results of all regions; an error is that of the first that failed."""
        results: list[Any] = [None] * len(self.programs)
        parts, at = [], 0
        for number, count in enumerate(self._counts):
            parts.append((number, arrays[at : at + count], results))
            at += count
        threads.spread(self._run, parts, threads.between_ops())
        return [value for values in results for value in values]

    def _run(self, number: int, arrays: Sequence[Any], results: list[Any]) -> None:
        results[number] = self.programs[number].run(arrays)
