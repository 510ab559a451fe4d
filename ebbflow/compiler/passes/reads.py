"""Have loops that only read variables take their values instead.

A loop that takes a variable keeps state, and what keeps state runs turn by turn: cells of recurrent networks read their
weights in every step. A variable that nobody changes while the loop runs may be read once, in front of it; then the
loop is like any other without effects. Which loops these are the op itself says: `with_values(attrs)` gives what to
take (the number of an input, and the dtype of the value if it is to be read), and the op and attrs of the loop that
takes it.
"""

from __future__ import annotations

from ebbflow.compiler.flow import Flow, Node, Rewrite, Value, standing_for


def read_before_loops(flow: Flow) -> Flow:
    """Return the flow with variables read in front of loops that do no more than read them.

    x, v = While(x, v)     =>     w = ReadVariableOp(v); x, w = StatelessWhile(x, w)
    """
    if all(node.op.with_values is None for node in flow.nodes):
        return flow
    return Rewrite(flow).run(_with_values)


def _with_values(node: Node, rewrite: Rewrite) -> list[Value] | None:
    found = None if node.op.with_values is None else node.op.with_values(node.attrs)
    if found is None:
        return None
    taken, op, attrs = found
    inputs, values = [], dict[int, Value]()
    for i, dtype in taken:
        if dtype is not None and i not in values:
            values[i] = rewrite.call("ReadVariableOp", [node.inputs[i]], {"dtype": dtype}, node.origin)
        inputs.append(node.inputs[i] if dtype is None else values[i])
    given = [node.outputs[i] if dtype is None else values[i] for i, dtype in taken]
    loop = rewrite.add(standing_for(op, inputs, attrs, node.origin, given))
    results = {i: v for (i, dtype), v in zip(taken, loop.outputs, strict=True) if dtype is None}
    return [results.get(i, v) for i, v in enumerate(node.inputs)]
