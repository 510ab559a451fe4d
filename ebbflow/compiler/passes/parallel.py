"""Heavy work that does not hang together is done side by side.

Most of what is heavy already uses all cores: products and convolutions in oneDNN and BLAS, clusters in XLA or in tiles.
What NumPy and scipy do on one core (sorting, scanning, gathering, special functions, decompositions of small matrices)
can share the cores with its like, as they let go of the interpreter while they work. Chains of such nodes that no path
connects become the regions of one node. Small work stays as it is: handing it to a thread costs some twenty
microseconds. Only stateless nodes take part, so the results are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.compiler.flow import Flow, Node, Value, standing_for
from ebbflow.compiler.passes.cluster import cluster_of, levels_of, replaced
from ebbflow.core.op import op
from ebbflow.platform import threads

TOGETHER = op(
    "_Together(inputs:Tin) -> (outputs:Tout) | Tin: list(type) >= 0; Tout: list(type) >= 0; regions: func",
    internal=True,
    shape=lambda inputs, *, regions: [v.dims for region in regions for v in region.outputs],
)

WORTH = 500_000
"""Nanoseconds of heavy work that a chain must have to be given to another thread."""

_SMALL_MATRIX = 64
"""Up to this many rows LAPACK stays on one core."""


def run_side_by_side(flow: Flow) -> Flow:
    """Return the flow with one node in the place of heavy chains that may run at the same time.

    s = Cumsum x; t = Cumsum y; z = Add s t   =>   s, t = _Together x y; z = Add s t
    """
    heavy = {node for node in flow.nodes if cost(node) > 0}
    if len(heavy) < 2 or threads.between_ops() < 2:
        return flow
    levels = levels_of(flow, heavy)
    by_level: dict[int, list[list[Node]]] = {}
    for chain in _chains(flow, heavy, levels):
        if sum(cost(node) for node in chain) >= WORTH:
            by_level.setdefault(levels[chain[0]], []).append(chain)
    teams = [chains for chains in by_level.values() if len(chains) > 1]
    if not teams:
        return flow
    ordered = sorted(flow.nodes, key=levels.__getitem__)  # stable: what keeps state stays in order
    return _teamed(Flow(flow.inputs, ordered, flow.outputs, flow.roots), teams)


def cost(node: Node) -> int:
    """Return the nanoseconds of a node that keeps one core busy, and no other; 0 for those that are not known to."""
    rate = node.op.facts.one_core
    sizes = [v.size for v in (*node.inputs, *node.outputs) if v.is_static]
    if not rate or node.stateful or not sizes:
        return 0
    if node.op.facts.matrices and max(node.inputs[0].dims[-2:]) > _SMALL_MATRIX:  # type: ignore[index]
        return 0
    return rate * max(sizes)


def _chains(flow: Flow, heavy: set[Node], levels: dict[Node, int]) -> list[list[Node]]:
    """Return the sets of heavy nodes of one level that take from each other."""
    home: dict[Node, list[Node]] = {}
    for node in flow.nodes:
        if node not in heavy:
            continue
        home[node] = [node]
        for value in node.inputs:
            maker = value.node
            if maker in home and levels[maker] == levels[node] and home[maker] is not home[node]:
                joined = home[maker] + home[node]
                for member in joined:
                    home[member] = joined
    return list({id(chain): chain for chain in home.values()}.values())


def _teamed(flow: Flow, teams: Sequence[Sequence[Sequence[Node]]]) -> Flow:
    """Put a node in the place of each team, where its last member stood."""
    position = {node: i for i, node in enumerate(flow.nodes)}
    groups = [sorted((n for chain in team for n in chain), key=position.__getitem__) for team in teams]
    team_of = {group[-1]: team for group, team in zip(groups, teams, strict=True)}
    return replaced(flow, groups, lambda group, uses, fetched: _team(team_of[group[-1]], uses, fetched))


def _team(chains: Sequence[Sequence[Node]], uses: Any, fetched: set[Value]) -> tuple[Node, list[Value]]:
    """Return the node of a team, and the values of its members that others take."""
    parts = [cluster_of(chain, uses, fetched) for chain in chains]
    given = [v for _, values in parts for v in values]
    inputs = [v for part, _ in parts for v in part.inputs]
    attrs = {
        "regions": tuple(part.attrs["region"] for part, _ in parts),
        "Tin": tuple(v.dtype for v in inputs),
        "Tout": tuple(v.dtype for v in given),
    }
    return standing_for(TOGETHER, inputs, attrs, chains[0][-1].origin, given), given
