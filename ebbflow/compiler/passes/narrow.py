"""Have nodes with bodies compute only what is used of them.

A loop that was differentiated keeps what its gradient needs, and so does a choice; where the gradient is not asked for,
nobody takes those results. What an op can do without, its fact `narrow` says: `narrow(attrs, used outputs)` gives the
numbers of the inputs and of the outputs that stay, and the attrs for them.
"""

from __future__ import annotations

from ebbflow.compiler.flow import Flow, Node, Substitution, standing_for


def narrow_bodies(flow: Flow) -> Flow:
    """Return the flow with loops and choices that give, and compute, no more than somebody takes.

    i, x, list = While(i, x, list); return x     =>     i, x = While(i, x); return x
    """
    if all(node.op.narrow is None for node in flow.nodes):
        return flow
    taken = {v for node in flow.nodes for v in node.inputs} | set(flow.outputs)
    substitution = Substitution()
    nodes = []
    for node in flow.nodes:
        narrowed = _narrowed(node, [i for i, v in enumerate(node.outputs) if v in taken])
        if narrowed is None:
            nodes.append(node)
            continue
        slim, outputs = narrowed
        nodes.append(slim)
        substitution.renewed[node] = slim
        substitution.put([node.outputs[i] for i in outputs], slim.outputs)
    return substitution.flow(flow, nodes)


def _narrowed(node: Node, used: list[int]) -> tuple[Node, list[int]] | None:
    """Return the node that gives less, and which outputs those are; None where it gives no more than is used."""
    narrow = node.op.narrow
    if narrow is None or len(used) == len(node.outputs):
        return None
    found = narrow(node.attrs, used)
    if found is None:
        return None
    inputs, outputs, attrs = found
    given = [node.outputs[i] for i in outputs]
    return standing_for(node.op, [node.inputs[i] for i in inputs], attrs, node.origin, given), outputs
