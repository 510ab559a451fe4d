"""Shapes of small pieces of a graph, looked for from their last node backwards.

    conv = Pattern("Conv2D|MatMul", ANY, ANY, name="layer")
    for match in matches(Pattern("Relu", conv), graph):
        match.op("layer")

A pattern says which types a node may have and what its inputs must look like. What matched is known by the names of the
patterns. Knows nodes and tensors; knows nothing of quantisation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any


class Match:
    """Which node, and which of its tensors, stands where a pattern has a name."""

    def __init__(self, parts: dict[str, tuple[Any, Any]]):
        self._parts = parts

    def op(self, *names: str) -> Any:
        """Return the node of the first of these names that took part, or None."""
        return next((self._parts[name][0] for name in names if name in self._parts), None)

    def tensor(self, *names: str) -> Any:
        """Return the tensor through which the node of the first of these names was reached, or None."""
        return next((self._parts[name][1] for name in names if name in self._parts), None)


class Pattern:
    """A node of one of some types (`A|B`, or `*`) whose inputs look like these, in this order or in any."""

    def __init__(self, types: str, *inputs: Any, name: str | None = None, ordered: bool = True):
        self.types = None if types == "*" else frozenset(types.split("|"))
        self.inputs = inputs
        self.name = name
        self.ordered = ordered

    def match(self, op: Any, tensor: Any) -> dict[str, tuple[Any, Any]] | None:
        """Return the named parts of what ends in `op`, or None where it looks otherwise."""
        if self.types is not None and op.type not in self.types:
            return None
        parts = {self.name: (op, tensor)} if self.name else {}
        if not self.inputs:
            return parts
        if len(op.inputs) != len(self.inputs):
            return None
        for inputs in [self.inputs] if self.ordered else itertools.permutations(self.inputs):
            inner = self._inner(inputs, op.inputs)
            if inner is not None:
                return {**parts, **inner}
        return None

    @staticmethod
    def _inner(patterns: Sequence[Any], tensors: Sequence[Any]) -> dict[str, tuple[Any, Any]] | None:
        parts: dict[str, tuple[Any, Any]] = {}
        for pattern, tensor in zip(patterns, tensors, strict=True):
            found = pattern.match(tensor.op, tensor)
            if found is None:
                return None
            parts.update(found)
        return parts


class OneOf:
    """Whatever the first of these patterns that fits says."""

    def __init__(self, *patterns: Any):
        self.patterns = patterns

    def match(self, op: Any, tensor: Any) -> dict[str, tuple[Any, Any]] | None:
        """Return the named parts of the first pattern that fits, or None."""
        return next((parts for p in self.patterns if (parts := p.match(op, tensor)) is not None), None)


ANY = Pattern("*")


def matches(pattern: Pattern | OneOf, graph: Any) -> Iterator[Match]:
    """Return what fits, for each node of the graph as it is now, in the order of nodes."""
    for op in list(graph.get_operations()):
        parts = pattern.match(op, None)
        if parts is not None:
            yield Match(parts)
