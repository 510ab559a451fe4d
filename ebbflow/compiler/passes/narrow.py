"""Have nodes with bodies compute only what is used of them.

A loop that was differentiated keeps what its gradient needs, and so does a choice; where the gradient is not asked for,
nobody takes those results. What an op can do without, its fact `narrow` says: `narrow(attrs, used outputs)` gives the
numbers of the inputs and of the outputs that stay, and the attrs for them.
"""

from __future__ import annotations

from ebbflow.compiler.flow import Flow, Node


def narrow_bodies(flow: Flow) -> Flow:
    """Return the flow with loops and choices that give, and compute, no more than somebody takes.

    i, x, list = While(i, x, list); return x     =>     i, x = While(i, x); return x
    """
    taken = {v for node in flow.nodes for v in node.inputs} | set(flow.outputs)
    nodes, roots = [], set(flow.roots)
    for node in flow.nodes:
        slim = _narrowed(node, [i for i, v in enumerate(node.outputs) if v in taken])
        nodes.append(slim)
        if slim is not node and node in roots:
            roots.remove(node)
            roots.add(slim)
    return Flow(flow.inputs, nodes, flow.outputs, roots)


def _narrowed(node: Node, used: list[int]) -> Node:
    narrow = node.op.narrow
    if narrow is None or len(used) == len(node.outputs):
        return node
    found = narrow(node.attrs, used)
    if found is None:
        return node
    inputs, outputs, attrs = found
    slim = Node(node.op, [node.inputs[i] for i in inputs], attrs, node.origin)
    for number, i in enumerate(outputs):
        value = node.outputs[i]
        value.node, value.index = slim, number
        slim.outputs.append(value)
    return slim
