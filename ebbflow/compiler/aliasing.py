"""Who may share memory with whom, and what leaves the Program.

A result of a view, or of a kernel that promises nothing, may be (part of) one of its inputs. What is fetched, or handed
to an op that keeps it, escapes: it, and all that it may share memory with, must not lie in memory that is used again.
"""

from __future__ import annotations

from ebbflow.compiler.flow import Flow, Node, Value
from ebbflow.compiler.views import view_of


def shared_inputs(node: Node, fresh: set[Node]) -> list[Value]:
    """Return the inputs that a node's results may share memory with."""
    if node in fresh or node.op.facts.fresh:
        return []
    if node.op.facts.view:
        view = view_of(node)
        if view is not None:
            return [node.inputs[view[0]]]
    if node.op.name == "_Cluster":
        handed_on = escaping(node.attrs["region"], set())
        return [v for v, inside in zip(node.inputs, node.attrs["region"].inputs, strict=True) if inside in handed_on]
    return [v for v in node.inputs if not (v.is_static and v.size == 0)]


def keeps_inputs(node: Node) -> bool:
    """Return whether a node may hold on to its inputs after it ran."""
    return node.acts and not node.op.facts.forgets


def escaping(flow: Flow, fresh: set[Node]) -> set[Value]:
    """Return the values whose memory somebody outside may hold after the Program ran."""
    out = set(flow.outputs)
    for node in reversed(flow.nodes):
        if keeps_inputs(node):
            out.update(node.inputs)
        if out.intersection(node.outputs):
            out.update(shared_inputs(node, fresh))
    return out


def last_uses(flow: Flow, fresh: set[Node]) -> dict[Value, int]:
    """Return the number of the last node that needs each value's memory; what is fetched is needed to the end."""
    last = dict.fromkeys(flow.outputs, len(flow.nodes))
    for number in range(len(flow.nodes) - 1, -1, -1):
        node = flow.nodes[number]
        for value in node.inputs:
            last.setdefault(value, number)
        longest = max((last[v] for v in node.outputs if v in last), default=number)
        for value in shared_inputs(node, fresh):
            last[value] = max(last[value], longest)
    return last
