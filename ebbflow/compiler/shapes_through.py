"""Shapes that come through lists, loops and choices, while a flow is built.

A graph made for batches of any size says little of what its loops carry, and nothing of what their lists hold; a run
has one size. Which shapes a loop's variables have in every turn is found by trying: the body is built for the shapes
that enter, and where other ones leave, once more for what both have in common.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.compiler.flow import NOTHING, Flow, Held, Node, Value
from ebbflow.core import dtypes
from ebbflow.core.common_dims import common_dims
from ebbflow.core.shape import Dims, is_static, merge_dims

MOST_TRIALS = 5
"""Shapes that are not settled then stay what the graph says."""

FEW = 16
"""Numbers, at most, that are remembered of what is in a list: those of a shape."""

Known = tuple[Dims, Held]
"""The dims of a value, and what it holds if it is a list."""

Build = Callable[[dict[str, Any], str, Sequence[Value], Sequence[Known]], Flow]
"""Makes the flow of a loop's function, of these attrs and this name, for what is given and enters a turn."""


def note_lists(node: Node) -> None:
    """Note of what shape the elements are that a node takes from a list, and what the lists hold that it gives."""
    rule = _RULES.get(node.op.name)
    if rule is not None:
        rule(node)


def note_loop(node: Node, build: Build) -> None:
    """Note the shapes that a loop's variables have whatever the number of turns."""
    if all(v.is_static and (v.dtype is not dtypes.variant or _settled(v.held)) for v in (*node.outputs, *node.inputs)):
        return
    entering = [(v.dims, v.held) for v in node.inputs]
    for _ in range(MOST_TRIALS):
        body = build(node.attrs, "body", node.inputs, entering)
        together = [
            (common_dims(dims, value.dims), _held_by_both(held, value.held))
            for (dims, held), value in zip(entering, body.outputs, strict=True)
        ]
        if together == entering:
            break
        entering = together
    else:
        return
    for value, (dims, held) in zip(node.outputs, entering, strict=True):
        value.held = held
        with contextlib.suppress(ValueError):  # the graph says otherwise: running it will tell
            value.dims = merge_dims(value.dims, dims)


def entering(node: Node) -> list[Known]:
    """Return what a loop's variables are at the beginning of every turn, as far as that was noted."""
    pairs = zip(node.inputs, node.outputs, strict=True)
    return [(common_dims(given.dims, v.dims), _held_by_both(given.held, v.held)) for given, v in pairs]


def note_choice(node: Node, build: Callable[[Any, Sequence[Value]], Flow]) -> None:
    """Note the shapes that both branches of a choice give, and what is in the lists."""
    if all(v.is_static and v.dtype is not dtypes.variant for v in node.outputs):
        return
    branches = [build(node.attrs[name], node.inputs[1:]).outputs for name in ("then_branch", "else_branch")]
    for value, one, other in zip(node.outputs, *branches, strict=False):
        if value.dtype is dtypes.variant:
            value.held = _held_by_both(one.held, other.held)
        with contextlib.suppress(ValueError):
            value.dims = merge_dims(value.dims, common_dims(one.dims, other.dims))


def _settled(held: Held) -> bool:
    return held is not NOTHING and is_static(held.dims)


def _held_by_both(one: Held, other: Held) -> Held:
    if one is NOTHING or other is NOTHING:
        return other if one is NOTHING else one
    dims = common_dims(one.dims, other.dims)
    return Held(dims, one.numbers if one.numbers == other.numbers and is_static(dims) else None)


# --- rules: what ops on lists give ------------------------------------------------------------------------------------


def _empty(node: Node) -> None:
    node.outputs[0].held = NOTHING


def _of_rows(node: Node) -> None:
    dims = node.inputs[0].dims
    node.outputs[0].held = Held(None if dims is None else dims[1:])


def _put(number: int) -> Callable[[Node], None]:
    def rule(node: Node) -> None:
        item = node.inputs[number]
        pushed = node.op.name == "TensorListPushBack"  # else elements that were not set are zeros
        few = pushed and item.known is not None and item.dtype.is_integer and item.known.size <= FEW
        numbers = tuple(item.known.reshape(-1).tolist()) if few else None  # type: ignore[union-attr]
        node.outputs[0].held = _held_by_both(node.inputs[0].held, Held(item.dims, numbers))

    return rule


def _same(node: Node) -> None:
    held = [v.held for v in node.inputs if v.dtype is dtypes.variant]
    if held:
        total = held[0]
        for more in held[1:]:
            total = _held_by_both(total, more)
        node.outputs[0].held = total if node.op.name == "Identity" else total._replace(numbers=None)


def _taken(number: int, of: Callable[[tuple[int | None, ...]], Dims]) -> Callable[[Node], None]:
    def rule(node: Node) -> None:
        held, value = node.inputs[0].held, node.outputs[number]
        if number:
            node.outputs[0].held = held
        if held is NOTHING or held.dims is None:
            return
        try:
            value.dims = merge_dims(value.dims, of(held.dims))
        except ValueError:  # running it will say what is wrong
            return
        if held.numbers is not None and value.dims == held.dims:
            value.known = np.array(held.numbers, value.dtype.np).reshape(held.dims)  # type: ignore[arg-type]

    return rule


_RULES: dict[str, Callable[[Node], None]] = {
    "EmptyTensorList": _empty,
    "TensorListReserve": _empty,
    "TensorListFromTensor": _of_rows,
    "TensorListPushBack": _put(1),
    "TensorListSetItem": _put(2),
    **dict.fromkeys(("Identity", "ZerosLike", "AddN", "TensorListResize", "TensorListConcatLists"), _same),
    "TensorListPopBack": _taken(1, lambda held: held),
    "TensorListGetItem": _taken(0, lambda held: held),
    **dict.fromkeys(("TensorListStack", "TensorListGather"), _taken(0, lambda held: (None, *held))),
    "TensorListConcatV2": _taken(0, lambda held: (None, *held[1:]) if held else None),
}
