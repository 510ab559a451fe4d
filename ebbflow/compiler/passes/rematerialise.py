"""Compute cheap values a second time instead of keeping them, where the memory they take exceeds a limit.

Training keeps what the forward half made until the backward half asks for it. Where that is more than the limit allows,
the fullest moment of the flow is looked at: results of cheap nodes (element-wise work, casts, broadcasts, bias and
activation, batch norm, and clusters of such) that lie idle there are let go, and computed again just before they are
asked for, together with the cheap nodes that lead to them, from what is still there. This goes on until the limit holds
or nothing more helps. What is random or keeps state is never computed twice; products and convolutions are not, for
their cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ebbflow.compiler.aliasing import last_uses
from ebbflow.compiler.flow import Flow, Node, Substitution, Value, copied
from ebbflow.compiler.passes.cluster import CLUSTER
from ebbflow.compiler.views import view_of

_LEAST = 1 << 10
"""Bytes below which it is not worth it."""
_DEEPEST = 8
"""At most this many cheap nodes in a row are computed again for one value."""


def rematerialise(flow: Flow, limit: int, scope: str = "") -> Flow:
    """Return a flow that needs no more than `limit` bytes at once, or as few as can be had; only nodes with `scope` in
    their names are given a value anew.

    y = Relu x; … ; z = Mul g y   =>   y = Relu x; … ; y2 = Relu x; z = Mul g y2
    """
    lives = Lives(flow)
    refused: set[tuple[Node, Node]] = set()
    copies: set[Node] = set()
    several = True  # all at once that the fullest moment asks for; one by one where that went wrong
    for _ in range(4 * len(flow.nodes)):
        wanted = lives.peak - limit if several else 1
        may_change = {n for n in lives.flow.nodes if n in copies or scope in n.name}
        repeats = _repeats(lives, may_change, refused, wanted) if lives.peak > limit else []
        if not repeats:
            break
        again, made, now = _again(lives.flow, repeats)
        changed = Lives(again)
        several = changed.weight < lives.weight
        if several:
            lives = changed
            copies = made | {now.get(n, n) for n in copies}
            refused = {(now.get(node, node), now.get(user, user)) for node, user in refused}
        elif len(repeats) == 1:
            refused.add((repeats[0].node, repeats[0].user))
    return lives.flow


class Lives:
    """When each value of a flow comes and goes, and how many bytes are there at each node."""

    def __init__(self, flow: Flow):
        self.flow = flow
        self.born = {v: i for i, node in enumerate(flow.nodes) for v in node.outputs}
        self.uses: dict[Value, list[int]] = {}
        for i, node in enumerate(flow.nodes):
            for value in node.inputs:
                self.uses.setdefault(value, []).append(i)
        self.last = last_uses(flow, {node for node in flow.nodes if not node.op.facts.view})
        changes = [0] * (len(flow.nodes) + 2)
        fetched = set(flow.outputs)  # what leaves is the caller's
        for value, start in self.born.items():
            if value not in fetched:
                end = self.last.get(value, start)
                changes[start] += size(value)
                changes[end + (not self._is_overwritten(value, end))] -= size(value)
        self.bytes: list[int] = []
        total = 0
        for change in changes[: len(flow.nodes)]:
            total += change
            self.bytes.append(total)
        self.peak = max(self.bytes, default=0)
        self.fullest = self.bytes.index(self.peak) if self.bytes else 0

    def _is_overwritten(self, value: Value, end: int) -> bool:
        """Return whether the node that uses a value last writes its result in the value's place."""
        user = self.flow.nodes[end] if self.born[value] < end < len(self.flow.nodes) else None
        if user is None or not user.op.facts.elementwise or user.outputs[0].dims != value.dims:
            return False
        heirs = [v for v in user.inputs if self.last.get(v) == end and v.dims == value.dims and size(v)]
        return bool(heirs) and heirs[0] is value and size(value) == size(user.outputs[0])

    @property
    def weight(self) -> tuple[int, int]:
        """What is to become less: the most bytes at once, and at how many nodes."""
        return self.peak, self.bytes.count(self.peak)

    def is_there(self, value: Value, at: int) -> bool:
        """Return whether a value is there anyway when a node runs."""
        value = looked_into(value)
        return value not in self.born or size(value) == 0 or self.last.get(value, -1) >= at


def looked_into(value: Value) -> Value:
    """Return the value whose memory this one shows: itself, unless it is a view."""
    while value.node is not None and value.node.op.facts.view:
        view = view_of(value.node)
        if view is None:
            break
        value = value.node.inputs[view[0]]
    return value


def size(value: Value) -> int:
    """Return the bytes that a value takes by itself: none for constants, variables and views."""
    node = value.node
    if node is None or value.known is not None or not value.is_static or value.dtype.np.kind == "O":
        return 0
    if node.op.facts.variable or node.op.facts.reads == "whole" or looked_into(value) is not value:
        return 0
    return value.nbytes


def is_cheap(node: Node) -> bool:
    """Return whether a node may be computed twice."""
    if node.stateful or any(not v.is_static for v in node.outputs):
        return False
    if node.op is CLUSTER:
        return all(inner.op.name == "Const" or is_cheap(inner) for inner in node.attrs["region"].nodes)
    return node.op.facts.elementwise or node.op.facts.cheap


class _Repeat(NamedTuple):
    """Compute `copies` (the last is `node`) again for `user` and the nodes behind it."""

    node: Node
    copies: list[Node]
    user: Node
    saved: int


def _repeats(lives: Lives, may_change: set[Node], refused: set[tuple[Node, Node]], wanted: int) -> list[_Repeat]:
    """Return the repeats that save most at the fullest moment, as many as it takes to save the bytes wanted."""
    candidates = []
    for node in lives.flow.nodes[: lives.fullest]:
        repeat = _repeat(lives, node, may_change) if is_cheap(node) else None
        if repeat is not None and repeat.saved >= _LEAST and (node, repeat.user) not in refused:
            candidates.append(repeat)
    candidates.sort(key=lambda repeat: -repeat.saved)
    chosen: list[_Repeat] = []
    while candidates and sum(repeat.saved for repeat in chosen) < wanted:
        chosen.append(candidates.pop(0))
    return chosen


def _repeat(lives: Lives, node: Node, may_change: set[Node]) -> _Repeat | None:
    """Return what it takes to let go of a node's results before the fullest moment, and what that saves there."""
    now, nodes = lives.fullest, lives.flow.nodes
    idle = [v for v in node.outputs if size(v) and lives.last.get(v, -1) > now]
    later = [i for v in idle for i in lives.uses.get(v, ()) if i >= now]
    if not later or min(later) == now or any(lives.last[v] not in later for v in idle):  # views, or fetched
        return None
    if not all(nodes[i] in may_change for i in later):
        return None
    copies: dict[Node, None] = {}
    kept = _lead_to(lives, node, min(later), copies, _DEEPEST)
    return _Repeat(node, list(copies), nodes[min(later)], sum(map(size, idle)) - sum(map(size, kept)))


def _lead_to(lives: Lives, node: Node, at: int, copies: dict[Node, None], depth: int) -> set[Value]:
    """Gather the nodes to compute again, first ones first; return the values that must be kept longer for it."""
    kept: set[Value] = set()
    for value in node.inputs:
        maker = value.node
        if lives.is_there(value, at) or maker in copies:
            continue
        if depth and maker is not None and is_cheap(maker):
            kept |= _lead_to(lives, maker, at, copies, depth - 1)
        else:
            kept.add(looked_into(value))
    copies[node] = None
    return kept


def _again(flow: Flow, repeats: Sequence[_Repeat]) -> tuple[Flow, set[Node], dict[Node, Node]]:
    """Return the flow with copies of nodes in front of those that use them, the copies, and what old nodes are now."""
    before: dict[Node, list[_Repeat]] = {}
    for repeat in repeats:
        before.setdefault(repeat.user, []).append(repeat)
    substitution = Substitution()
    nodes: list[Node] = []
    copies: set[Node] = set()
    for node in flow.nodes:
        for repeat in before.get(node, ()):
            made, _ = copied([substitution.now(n) for n in repeat.copies])
            nodes += made
            copies.update(made)
            substitution.put(substitution.now(repeat.node).outputs, made[-1].outputs)
        nodes.append(substitution.node(node))
    again = Flow(flow.inputs, nodes, substitution.values(flow.outputs), map(substitution.now, flow.roots))
    return again, copies, substitution.renewed
