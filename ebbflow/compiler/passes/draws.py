"""Draw the random numbers of all turns of a loop in front of it.

Dropout in a recurrent network draws in every step, and what draws keeps state, so that the whole loop would run turn by
turn. Where it is known how often a loop turns and what it draws, the same numbers are drawn before: each op has a
stream of its own, so nothing can tell.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Rewrite, Value, constant, make, standing_for
from ebbflow.compiler.loops import LoopFlows
from ebbflow.core import dtypes
from ebbflow.core.op import Op, op

MOST = 1 << 24
"""Numbers drawn for all turns of a loop, at most."""


class Draw(NamedTuple):
    """A node that draws, once a turn: its op and attrs, and the shape of what it gives."""

    op: Op
    attrs: dict[str, Any]
    dims: tuple[int, ...]


DRAWN = op(
    "_Drawn(given:Tin) -> (output:dtype) | Tin: list(type) >= 0; dtype: type; turns: int; draw: func | stateful",
    internal=True,
    shape=lambda given, *, turns, draw: (turns, *draw.dims),
    facts="random",
)
"""What one node draws in all turns of a loop."""


@DRAWN.kernel
def _(xp: Any, given: Any, *, turns: int, draw: Draw, run: Any) -> np.ndarray:
    arrays = draw.op.signature.group_inputs(given, draw.attrs)
    if not draw.attrs["seed"] and not draw.attrs["seed2"] and _spells(given, draw.dims):
        return draw.op.run([np.array([turns, *draw.dims], given[0].dtype), *arrays[1:]], draw.attrs, run)
    return np.stack([draw.op.run(arrays, draw.attrs, run) for _ in range(turns)])


def _spells(given: Any, dims: Any) -> bool:
    """Return whether the first of an op's inputs is the shape of what it gives, and others hold for all of it."""
    first, *others = given
    return first.ndim == 1 and first.tolist() == list(dims) and all(a.ndim == 0 for a in others)


def draw_before_loops(flow: Flow) -> Flow:
    """Return the flow with loops that are given what they drew.

    x = While(x)     =>     ys = _Drawn(shape); x, i, ys = StatelessWhile(x, 0, ys)
    """
    if not any(_draws(node) for node in flow.nodes):
        return flow
    return Rewrite(flow).run(_given_draws)


def _draws(node: Node) -> bool:
    return node.op.with_draws is not None and any(
        n._op.facts.random and n._op.stateful for n in node.attrs["body"]._nodes
    )


def _given_draws(node: Node, rewrite: Rewrite) -> list[Value] | None:
    if not _draws(node):
        return None
    loop = LoopFlows(node, {})
    found = [n for n in loop.body.nodes if n.op.facts.random and n.op.stateful]
    if not loop.turns or not found or not all(map(_known, found)) or loop.turns * sum(map(_size, found)) > MOST:
        return None
    rows = [_drawn(n, loop.turns, rewrite) for n in found]
    anew, attrs = node.op.with_draws(node.attrs, [(n.origin, v.dims) for n, v in zip(found, rows, strict=True)])
    zero = rewrite.add(constant(np.array(0, np.int32), dtypes.int32, node.origin)).outputs[0]
    given = [*node.outputs, zero, *rows]
    made = rewrite.add(standing_for(anew, [*node.inputs, zero, *rows], attrs, node.origin, given))
    return made.outputs[: len(node.outputs)]


def _known(node: Node) -> bool:
    """Return whether it is known what a node draws, whatever the turn."""
    attrs = node.attrs
    return "seed" in attrs and "seed2" in attrs and all(v.known is not None for v in node.inputs) and _size(node) >= 0


def _size(node: Node) -> int:
    (value,) = node.outputs
    return math.prod(value.dims) if value.is_static else -1  # type: ignore[arg-type]


def _drawn(node: Node, turns: int, rewrite: Rewrite) -> Value:
    """Add what a node of a loop draws in all turns: with the node as origin, whose stream of numbers it is."""
    inputs = [rewrite.add(constant(np.asarray(v.known), v.dtype, node.origin)).outputs[0] for v in node.inputs]
    value = node.outputs[0]
    attrs = {
        "Tin": tuple(v.dtype for v in inputs),
        "dtype": value.dtype,
        "turns": turns,
        "draw": Draw(node.op, node.attrs, tuple(value.dims or ())),  # type: ignore[arg-type]
    }
    return rewrite.add(make(DRAWN, inputs, attrs, node.origin)).outputs[0]
