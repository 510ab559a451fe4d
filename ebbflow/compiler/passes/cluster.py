"""Group large element-wise work and reductions into clusters, which XLA fuses.

What NumPy does op by op goes through memory once per op; fused it goes through once. A cluster is a node of its own
whose attr `region` is the flow inside. Nodes are numbered by how many borders between the two kinds of work lie before
them; what has the same number and hangs together may become one, because no path leaves it and comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.compiler.flow import Flow, Node, Substitution, Value, is_loop, standing_for
from ebbflow.compiler.passes.recompute import recompute
from ebbflow.core import dtypes
from ebbflow.core.op import op
from ebbflow.engines import enabled
from ebbflow.engines.xla import library
from ebbflow.engines.xla.refusal import why_not
from ebbflow.ops.checks.asserts import AssertOp

CLUSTER = op(
    "_Cluster(inputs:Tin) -> (outputs:Tout) | Tin: list(type) >= 0; Tout: list(type) >= 0; region: func",
    internal=True,
    shape=lambda inputs, *, region: [v.dims for v in region.outputs],
)

StandIn = Callable[[Sequence[Node], dict[Value, list[Node]], set[Value]], tuple[Node, list[Value]]]

WORTH = 1 << 20
"""Bytes that pass between the nodes of a cluster, at least: a call of XLA costs some ten microseconds."""


def cluster(flow: Flow, greedy: bool = False) -> Flow:
    """Return the flow with a node for each cluster that pays; greedily, with all that XLA can take."""
    if not enabled.allowed("xla") or not library.available():
        return flow
    fits = {node for node in flow.nodes if _fits(node, greedy)}
    if not greedy and sum(_traffic(n) for n in fits) < WORTH and not any(is_loop(n) for n in fits):
        return flow
    levels = levels_of(flow, fits)
    groups = [g for g in connected(fits, levels, flow) if (_legal(g) if greedy else _pays(g))]
    if not groups:
        return flow
    return replaced(*recompute(by_levels(flow, levels), groups), cluster_of)


def by_levels(flow: Flow, levels: dict[Node, int]) -> Flow:
    """Return the flow with its nodes in the order of their levels, so that whatever a group takes stands before it."""
    ordered = sorted(flow.nodes, key=levels.__getitem__)  # stable: what keeps state stays in order
    return Flow(flow.inputs, ordered, flow.outputs, flow.roots)


def cluster_all(flow: Flow) -> Flow:
    """Return the flow with the largest regions that XLA can take as clusters: `jit_compile="auto"`."""
    return cluster(flow, greedy=True)


def _fits(node: Node, greedy: bool) -> bool:
    """Return whether a node may be part of a cluster."""
    facts = node.op.facts
    if node.stateful or node.op.name == "Const":
        return False
    if not (greedy or facts.elementwise or facts.folds or facts.arranges or facts.lists or facts.loop):
        return False
    if not all(v.is_static or v.dtype is dtypes.variant for v in (*node.inputs, *node.outputs)):
        return False
    return why_not(node.op, node.attrs, [_Known(v) for v in node.inputs], strict=not greedy) is None


class _Known:
    """What is known of an input, as the rules of lowering ask."""

    __slots__ = ("dims", "dtype", "value")

    def __init__(self, value: Value):
        self.dims, self.dtype, self.value = value.dims, value.dtype, value.known


def _traffic(node: Node) -> int:
    return sum(v.nbytes for v in node.outputs if v.is_static)


def levels_of(flow: Flow, fits: set[Node]) -> dict[Node, int]:
    """Return for each node how many borders lie before it: even numbers fit, odd ones do not."""
    of_value: dict[Value, int] = {}
    levels: dict[Node, int] = {}
    last = 0  # of what keeps state: it may not overtake
    asserted = 0  # of assertions: what they are there for would say less of what is wrong
    for node in flow.nodes:
        level = max((of_value.get(v, 0) + 2 * _comes_from_another_turn(v, node) for v in node.inputs), default=0)
        always = node.op.name == "Const" or node.op.facts.variable  # there from the beginning
        if not always:
            if node not in fits or node.op.facts.in_range:
                level = max(level, asserted)
            level += (level % 2) != (0 if node in fits else 1)
        if node.stateful and not always:
            level = max(level, last)
            level += (level % 2) != (0 if node in fits else 1)
            last = level
            asserted = level if node.op is AssertOp else asserted
        levels[node] = level
        for value in node.outputs:
            of_value[value] = level
    return levels


def _comes_from_another_turn(value: Value, node: Node) -> bool:
    """Return whether a value crosses the border between two turns of an unrolled loop.

    Regions of single turns are alike, so that one piece of code serves all turns and loops of any number of them.
    """
    return value.node is not None and value.node.turn != node.turn and value.known is None


def connected(fits: set[Node], levels: dict[Node, int], flow: Flow) -> list[list[Node]]:
    """Return the sets of fitting nodes of one level that share values."""
    home: dict[Node, list[Node]] = {}
    by_value: dict[tuple[Value, int, int], Node] = {}
    for node in flow.nodes:
        if node not in fits:
            continue
        home[node] = [node]
        for value in (*node.inputs, *node.outputs):
            if value.known is not None:
                continue
            other = by_value.setdefault((value, levels[node], node.turn), node)
            if home[other] is not home[node]:
                joined = home[other] + home[node]
                for member in joined:
                    home[member] = joined
    unique = {id(group): group for group in home.values()}
    position = {node: i for i, node in enumerate(flow.nodes)}
    return [sorted(group, key=position.__getitem__) for group in unique.values()]


def _legal(group: Sequence[Node]) -> bool:
    return not any(v.dtype is dtypes.variant for v in _border(group)) and any(not n.op.facts.arranges for n in group)


def _pays(group: Sequence[Node]) -> bool:
    if any(is_loop(n) for n in group):
        return not any(v.dtype is dtypes.variant for v in _border(group))
    work = [n for n in group if not n.op.facts.arranges and not n.op.facts.lists]
    if any(n.op.facts.lists for n in group):
        return False
    return len(work) > 1 and sum(_traffic(n) for n in work) >= WORTH


def _border(group: Sequence[Node]) -> set[Value]:
    """Return what goes into a group, and what nobody inside takes."""
    inside = {v for n in group for v in n.outputs}
    taken = {v for n in group for v in n.inputs}
    return (taken - inside) | (inside - taken)


def replaced(flow: Flow, groups: Sequence[Sequence[Node]], stand_in: StandIn) -> Flow:
    """Put what `stand_in(group, uses, fetched)` gives in the place of each group, where its last member stood."""
    uses, fetched = flow.uses(), set(flow.outputs)
    last = {group[-1]: group for group in groups}
    members = {node for group in groups for node in group}
    nodes: list[Node] = []
    substitution = Substitution()
    for node in flow.nodes:
        if node not in members:
            nodes.append(node)
        elif node in last:
            made, given = stand_in(last[node], uses, fetched)
            nodes.append(made)
            substitution.put(given, made.outputs)
    return substitution.flow(flow, nodes)


def cluster_of(group: Sequence[Node], uses: dict[Value, list[Node]], fetched: set[Value]) -> tuple[Node, list[Value]]:
    """Return the node of a group, and the values of its members that others take."""
    outside = flow_of(group, uses, fetched)
    taken = {v: Value(None, i, v.dtype, v.dims, v.tensor) for i, v in enumerate(outside.inputs)}
    region = Substitution(taken).flow(Flow(list(taken.values()), [], outside.outputs), outside.nodes)
    attrs: dict[str, Any] = {
        "region": region,
        "Tin": tuple(v.dtype for v in taken),
        "Tout": tuple(v.dtype for v in region.outputs),
    }
    return standing_for(CLUSTER, list(taken), attrs, group[-1].origin, region.outputs), outside.outputs


def flow_of(group: Sequence[Node], uses: dict[Value, list[Node]], fetched: set[Value]) -> Flow:
    """Return a group as a flow: of the values it takes, with constants inside, to those that others take from it."""
    inside = set(group)
    made = dict.fromkeys(v for node in group for v in node.outputs)
    taken = dict.fromkeys(v for node in group for v in node.inputs if v not in made)
    constants = {v: v.node for v in taken if v.known is not None and v.node is not None and v.node.op.name == "Const"}
    given = [v for v in made if v in fetched or any(n not in inside for n in uses.get(v, ()))]
    return Flow([v for v in taken if v not in constants], [*dict.fromkeys(constants.values()), *group], given)
