"""Which numbers integers inside of loops may be: indices that stay within need not be looked at when the code runs.

Ranges follow from counters, from known numbers, and from ops that give places (the largest of so many); through
additions, choices and everything that only moves numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Value
from ebbflow.core import dtypes

Range = tuple[int, int]
"""The least and the greatest of some numbers."""

Ranges = dict[Value, Range]

MOST_TRIALS = 4
"""What a loop carries gets no range if it takes more turns than these to settle."""

_LIMIT = 2**31
"""Numbers of which 32 bits hold not all may have come round."""


def range_of(known: np.ndarray | None) -> Range | None:
    """Return the range of known numbers."""
    if known is None or not known.size or known.dtype.kind not in "iu":
        return None
    return int(known.min()), int(known.max())


def both(one: Range | None, other: Range | None) -> Range | None:
    """Return the range of the numbers of two."""
    return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))


def spread(flow: Flow, ranges: Ranges) -> Ranges:
    """Return ranges with those of the numbers of a flow that follow from them."""
    for node in flow.nodes:
        note_range(node, ranges)
    return ranges


def note_range(node: Node, ranges: Ranges) -> None:
    """Note the range of numbers that follow from others whose ranges are known."""
    rule = _RULES.get(node.op.name)
    if rule is None:
        return
    value = node.outputs[rule.output]
    if value in ranges or value.dtype not in (dtypes.int32, dtypes.int64):
        return
    given = [ranges.get(node.inputs[i]) or range_of(node.inputs[i].known) for i in rule.inputs(node)]
    if None in given:
        return
    found = rule.of(node, given)
    if found is not None and found[0] >= -_LIMIT and found[1] < _LIMIT:
        ranges[value] = found


def carried(body: Flow, entering: dict[int, Range], known: Ranges) -> Ranges:
    """Return the ranges inside a loop's body, with those of what it carries from turn to turn.

    `entering` are those of what comes in, by number; `known` are what counters say.
    """
    for _ in range(MOST_TRIALS):
        found = spread(body, {**{body.inputs[i]: r for i, r in entering.items()}, **known})
        after = {i: both(r, _range(body.outputs[i], found)) for i, r in entering.items()}
        settled = {i: r for i, r in after.items() if r is not None}
        if settled == entering:
            return found
        entering = settled
    kept = {i: r for i, r in entering.items() if body.outputs[i] is body.inputs[i]}
    return spread(body, {**{body.inputs[i]: r for i, r in kept.items()}, **known})


def _range(value: Value, ranges: Ranges) -> Range | None:
    return ranges.get(value) or range_of(value.known)


# --- rules ------------------------------------------------------------------------------------------------------------


class _Rule:
    """How the range of an op's result follows from those of some inputs."""

    def __init__(
        self,
        of: Callable[[Node, Sequence[Any]], Range | None],
        inputs: Callable[[Node], Sequence[int]] = lambda node: range(len(node.inputs)),
        output: int = 0,
    ):
        self.of, self.inputs, self.output = of, inputs, output


def _two(of: Callable[[Range, Range], Range | None]) -> _Rule:
    return _Rule(lambda node, given: of(*given))


def _any_of(first: int, behind: int = 0) -> _Rule:
    """The numbers are those of some inputs."""

    def of(node: Node, given: Sequence[Range]) -> Range:
        return min(low for low, _ in given), max(high for _, high in given)

    return _Rule(of, lambda node: range(first, len(node.inputs) - behind))


def _moved(number: int = 0) -> _Rule:
    """The numbers are those of one input."""
    return _Rule(lambda node, given: given[0], lambda node: (number,))


def _places(axis: Callable[[Node], Any], output: int = 0) -> _Rule:
    """The numbers are places along an axis of the first input."""

    def of(node: Node, given: Sequence[Range]) -> Range | None:
        at, dims = axis(node), node.inputs[0].dims
        n = None if at is None or not dims else dims[int(at)]
        return (0, n - 1) if n else None

    return _Rule(of, lambda node: (), output)


def _cast(node: Node, given: Sequence[Range]) -> Range:
    return given[0] if given else (0, 1)


def _product(a: Range, b: Range) -> Range:
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


_RULES: dict[str, _Rule] = {
    "AddV2": _two(lambda a, b: (a[0] + b[0], a[1] + b[1])),
    "Sub": _two(lambda a, b: (a[0] - b[1], a[1] - b[0])),
    "Mul": _two(_product),
    "Minimum": _two(lambda a, b: (min(a[0], b[0]), min(a[1], b[1]))),
    "Maximum": _two(lambda a, b: (max(a[0], b[0]), max(a[1], b[1]))),
    "FloorMod": _two(lambda a, b: (0, b[1] - 1) if b[0] > 0 else None),
    "FloorDiv": _two(lambda a, b: (a[0] // b[0], a[1] // b[0]) if 0 < b[0] == b[1] else None),
    **dict.fromkeys(("Identity", "Reshape", "ExpandDims", "Squeeze", "Transpose"), _moved()),
    **dict.fromkeys(("StridedSlice", "Slice", "Tile", "BroadcastTo", "GatherV2"), _moved()),
    "Cast": _Rule(_cast, lambda node: () if node.inputs[0].dtype is dtypes.bool else (0,)),
    "Fill": _moved(1),
    "Pack": _any_of(0),
    "ConcatV2": _any_of(0, behind=1),
    **dict.fromkeys(("SelectV2", "Select"), _any_of(1)),
    **dict.fromkeys(("ArgMax", "ArgMin"), _places(lambda node: node.inputs[1].known)),
    "TopKV2": _places(lambda node: -1, output=1),
}
