"""Results that share memory with an input: reshapes, transposes, slices, splits.

A rule gives the input that is looked into and an expression per output, with `{}` where that input stands. Of an array
in planned memory the views are made once, with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.compiler.flow import Node
from ebbflow.core.rule_names import named
from ebbflow.ops.arrays.slicing import MASK_NAMES, numpy_index

View = tuple[int, list[str]]

VIEWS: dict[str, Callable[[Node], View | None]] = {}


def looks(*names: str) -> Callable[[Callable[[Node], View | None]], Callable[[Node], View | None]]:
    """Declare how the ops named look into an input."""

    def declare(fn: Callable[[Node], View | None]) -> Callable[[Node], View | None]:
        for name in names:
            VIEWS[name] = fn
        return named(fn, f"{names[0]}.view")

    return declare


def view_of(node: Node) -> View | None:
    """Return which input a node looks into and the expressions of its outputs, or None where it must compute."""
    if node.op.facts.memory == "same":
        return 0, ["{}"]
    found = VIEWS.get(node.op.name)
    if found is None or any(not v.is_static for v in (*node.inputs, *node.outputs)):
        return None
    return found(node)


@looks("Reshape", "ExpandDims", "Squeeze")
def _(node: Node) -> View | None:
    if node.inputs[0].size != node.outputs[0].size or any(v.known is None for v in node.inputs[1:]):
        return None  # its kernel compares the two
    return 0, [f"{{}}.reshape({node.outputs[0].dims})"]


@looks("Transpose")
def _(node: Node) -> View | None:
    perm = node.inputs[1].known
    if perm is None or sorted(perm.tolist()) != list(range(len(node.inputs[0].dims or ()))):
        return None
    return 0, [f"{{}}.transpose({tuple(int(p) for p in perm)})"]


@looks("Split", "SplitV", "Unpack")
def _(node: Node) -> View | None:
    name = node.op.name
    which = 1 if name == "Split" else 0
    axis = node.attrs["axis"] if name == "Unpack" else node.inputs[0 if name == "Split" else 2].known
    if axis is None:
        return None
    rank = len(node.inputs[which].dims or ())
    at = int(axis) % rank
    lead = ":, " * at
    if name == "Unpack":  # without the dots the parts of a vector were numbers of that moment, not views
        return which, [f"{{}}[{lead}{i}, ...]" for i in range(len(node.outputs))]
    texts, start = [], 0
    for value in node.outputs:
        length = value.dims[at]  # type: ignore[index]
        texts.append(f"{{}}[{lead}{start}:{start + length}]")  # type: ignore[operator]
        start += length  # type: ignore[operator]
    return which, texts


@looks("StridedSlice")
def _(node: Node) -> View | None:
    begin, end, strides = (v.known for v in node.inputs[1:])
    if begin is None or end is None or strides is None:
        return None
    masks = tuple(node.attrs[m] for m in MASK_NAMES)
    return 0, [f"{{}}[{_written(numpy_index(node.inputs[0].dims, begin, end, strides, masks))}]"]


@looks("Slice")
def _(node: Node) -> View | None:
    begin, size, dims = node.inputs[1].known, node.inputs[2].known, node.inputs[0].dims
    if begin is None or size is None or not dims:
        return None
    starts = [int(b) for b in begin]
    ends = [n if int(m) == -1 else s + int(m) for s, m, n in zip(starts, size, dims, strict=True)]
    if any(not 0 <= s <= e <= n for s, e, n in zip(starts, ends, dims, strict=True)):  # type: ignore[operator]
        return None
    return 0, [f"{{}}[{', '.join(f'{s}:{e}' for s, e in zip(starts, ends, strict=True))}]"]


def _written(index: tuple[Any, ...]) -> str:
    return ", ".join(_item(i) for i in index) or "..."


def _item(item: Any) -> str:
    if item is None or item is Ellipsis:
        return "None" if item is None else "..."
    if isinstance(item, slice):
        ends = ["" if e is None else str(int(e)) for e in (item.start, item.stop)]
        return ":".join(ends) + (f":{int(item.step)}" if item.step not in (None, 1) else "")
    return str(int(item) if isinstance(item, (int, np.integer)) else item)
