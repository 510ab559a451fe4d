"""Compute again what a cluster would otherwise take from another's memory.

The backward part of a step wants much of what the forward part made on its way: of a GELU, five arrays as large as its
input. Element by element all of them follow from that one array, and computing them again takes less time than writing
and reading them. So a cluster that takes several such values takes what they are made of, where that is less, and
makes them itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ebbflow.compiler.flow import Flow, Node, Substitution, Value, copied

MOST = 32
"""Nodes that are written once more for one cluster, at most."""

Groups = Sequence[list[Node]]


def recompute(flow: Flow, groups: Groups, least: int = 1) -> tuple[Flow, list[list[Node]]]:
    """Return the flow and its groups with such nodes once more; `least` is how many bytes must be saved.

    All that a group takes must stand before the first of its nodes: before that one comes what is run again.
    """
    home = {node: i for i, group in enumerate(groups) for node in group}
    again = [copied(_worth_again(group, i, home, least)) for i, group in enumerate(groups)]
    if not any(copies for copies, _ in again):
        return flow, [list(group) for group in groups]
    before = {group[0]: copies for group, (copies, _) in zip(groups, again, strict=True)}
    substitution = Substitution()
    nodes: list[Node] = []
    now: dict[Node, Node] = {}
    for node in flow.nodes:
        instead = again[home[node]][1] if node in home else {}
        for old in (*before.get(node, ()), node):
            taken = [instead.get(v, v) for v in old.inputs] if old is node else old.inputs
            new = substitution.node(old.taking(taken) if taken != old.inputs else old)
            substitution.put(old.outputs, new.outputs)
            nodes.append(new)
            now[old] = new
    grown = [[now[n] for n in (*copies, *group)] for (copies, _), group in zip(again, groups, strict=True)]
    roots = {now[root] for root in flow.roots}
    return Flow(flow.inputs, nodes, substitution.values(flow.outputs), roots), grown


def _worth_again(group: Sequence[Node], number: int, home: dict[Node, int], least: int) -> list[Node]:
    """Return the nodes of other groups, in order, that this one had better run itself."""
    inside = set(group)
    taken = dict.fromkeys(v for n in group for v in n.inputs if v.node not in inside)
    from_others = [v for v in taken if _can_repeat(v, number, home)]
    needed: dict[Node, None] = {}
    sources: dict[Value, None] = {}
    for value in from_others:
        _follow(value, number, home, needed, sources)
    extra = [v for v in sources if v not in taken]
    saved = _bytes(v for v in from_others if v not in sources)
    return list(needed) if len(needed) <= MOST and _bytes(extra) + least <= saved else []


def _can_repeat(value: Value, number: int, home: dict[Node, int]) -> bool:
    node = value.node
    return node is not None and home.get(node, number) != number and node.op.facts.elementwise


def _follow(value: Value, number: int, home: dict[Node, int], needed: dict[Node, None], sources: dict) -> None:
    """Note the nodes that make a value element by element, first ones first, and the values that they start from."""
    stack = [(value.node, False)]
    while stack:
        node, is_ready = stack.pop()
        if node in needed:
            continue
        if is_ready:
            needed[node] = None  # type: ignore[index]
            continue
        stack.append((node, True))
        for taken in node.inputs:  # type: ignore[union-attr]
            if _can_repeat(taken, number, home):
                stack.append((taken.node, False))
            elif taken.node is None or taken.node.op.name != "Const":
                sources[taken] = None


def _bytes(values: Iterable[Value]) -> int:
    return sum(v.nbytes for v in values if v.is_static)
