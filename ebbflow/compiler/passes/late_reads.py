"""Read variables as late as they are used.

What reads a variable may come long before what changes it: Keras's Adam reads a moment, and waits for the gradient. The
array that was read is then held when the update wants to write, which makes a copy of it. Read in the region of its
update, the variable is changed where it lies. Knows levels, the order of regions and what lies between them.
"""

from __future__ import annotations

from ebbflow.compiler.flow import Flow, Node, is_state
from ebbflow.ops.state.storage import Storage

_NEVER = 1 << 60


def read_late(flow: Flow, fits: set[Node], levels: dict[Node, int]) -> dict[Node, int]:
    """Return the levels with reads put where their variable is changed, if nothing changes it before.

    0: a = Read v; 1: g = MatMul(x, y); 2: AssignAdd(v, g - a)     =>     1: g = …; 2: a = Read v; AssignAdd(v, g - a)
    """
    uses, fetched, found = flow.uses(), set(flow.outputs), dict(levels)
    changed: dict[Storage, int] = {}  # by what comes later: the first level
    opaque = _NEVER  # of what comes later, the first level of what may change any variable
    for node in reversed(flow.nodes):
        if node.op.facts.reads == "whole":
            storage, value = node.inputs[0].storage, node.outputs[0]
            if storage is None or node not in fits or value in fetched:
                continue
            wanted = min((found[user] for user in uses.get(value, ())), default=0)
            if found[node] < wanted == changed.get(storage) and opaque > wanted:
                found[node] = wanted
        elif node.stateful and not node.op.facts.variable and not node.op.facts.random:
            taken = [v.storage for v in node.inputs if is_state(v)]
            if node in fits and taken and None not in taken:
                changed |= {s: min(found[node], changed.get(s, _NEVER)) for s in taken if s is not None}
            else:
                opaque = min(opaque, found[node])
    return found
