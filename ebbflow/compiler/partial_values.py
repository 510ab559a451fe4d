"""Integers of which only some elements are known: shapes whose lengths are open, and what is put together from them.

In a Program for sequences of any length, `tf.shape(x)` is [32, ?, 16], and the state made from its first element is 32
rows all the same. What a node makes of such numbers is found by trying it: elements that come out alike, whatever
stands in the place of those unknown, are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.compiler.flow import Node, Value

MOST = 64
"""Elements of what is looked at."""

TRIED = (0, 1, 2, 7919, 104723, 2**31 - 1, 2**40 + 3)
"""Sizes that stand in the place of those unknown, one after the other; where one is too large, the largest there is."""

APART = 13
"""By how much the larger of them differ from one unknown to the next: their difference is not known to be zero."""


def note_partly(node: Node) -> None:
    """Note which elements of a node's results are known, where some of its inputs' are."""
    if node.stateful or not node.outputs or not all(map(_is_short, node.outputs)):
        return
    tried = _of_shapes(node) if node.op.from_dims_fn is not None else _of_numbers(node)
    if tried is None:
        return
    try:
        with np.errstate(all="ignore"):
            results = [tried(number) for number in TRIED]
    except Exception:  # not every size makes sense to it
        return
    for value, arrays in zip(node.outputs, zip(*results, strict=True), strict=True):
        first, *others = arrays
        if first is None or any(a is None or a.shape != first.shape for a in others) or first.shape != value.dims:
            continue
        alike = np.logical_and.reduce([a == first for a in others])
        if alike.all():
            value.known = first
        else:  # also where no element is known: it is a size, at least
            value.partly = (first, alike)


def _is_short(value: Value) -> bool:
    if value.dtype._is_ref_dtype or not value.is_static or value.size > MOST:
        return False
    return value.dtype.np.kind == "i" and value.known is None


def _of_shapes(node: Node) -> Callable[[int], Sequence[Any]] | None:
    """Return what asks for the shapes of a node's inputs, some of which are open."""
    given = [v.dims for v in node.inputs]
    if all(dims is None for dims in given):
        return None

    def tried(number: int) -> Sequence[Any]:
        return [_asked(node, v, dims, number) for v, dims in zip(node.outputs, given, strict=True)]

    return tried


def _asked(node: Node, value: Value, dims: Any, number: int) -> np.ndarray | None:
    if dims is None:
        return None
    dtype = value.dtype.np
    sizes = tuple(_size(number, i, dtype) if n is None else n for i, n in enumerate(dims))
    return np.array(node.op.from_dims_fn(sizes, dtype))


def _size(number: int, place: int, dtype: np.dtype) -> int:
    """Return what stands for the unknown at a place."""
    return min(number + APART * place * (number > TRIED[2]), int(np.iinfo(dtype).max))


def _filled(value: Value, number: int, place: int) -> Any:
    """Return the elements of the input at a place, with others for those unknown."""
    if value.partly is None:
        return value.known
    elements, known = value.partly
    others = [_size(number, MOST * place + i, elements.dtype) for i in range(elements.size)]
    return np.where(known, elements, np.array(others, elements.dtype).reshape(elements.shape))


def _of_numbers(node: Node) -> Callable[[int], Sequence[Any]] | None:
    """Return what computes a node for numbers of which some are open."""
    op = node.op
    if not op.facts.static or op.needs_run or op.kernel_fn is None or all(v.partly is None for v in node.inputs):
        return None
    if any(v.known is None and v.partly is None for v in node.inputs):
        return None

    def tried(number: int) -> Sequence[Any]:
        given = [_filled(v, number, place) for place, v in enumerate(node.inputs)]
        results = op.signature.flat_results(op.run(node.grouped(given), node.attrs))
        return [np.asarray(r, v.dtype.np) for v, r in zip(node.outputs, results, strict=True)]

    return tried
