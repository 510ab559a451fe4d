"""Reference variables of TF 1 that one body both reads and writes.

Outside, `v/read` shares memory with `v`: whoever uses it sees what was assigned before. A body that captures `v/read`
takes the value that it has when the loop (or choice) begins, which is the same as long as nothing inside assigns to
`v`. Where something does, the body takes the variable alone and has a `v/read` of its own. Knows bodies and what they
capture; knows nothing of how they are run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core.registry import registry
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.graph.symbolic import Operation, SymbolicTensor


def read_inside(bodies: Sequence[FuncGraph]) -> None:
    """Have the bodies of one node read reference variables where they use them, if one of the bodies takes the
    variable itself.
    """
    taken = {id(outside) for body in bodies for outside, _ in body.captures if outside.dtype._is_ref_dtype}
    if not taken:
        return
    for body in bodies:
        for outside, inside in body.captures:
            variable = _variable_read(outside)
            if id(variable) in taken:
                _read_in(body, variable, outside, inside)


def _variable_read(tensor: Any) -> Any:
    """Return the reference that `v/read` reads, or None for any other tensor."""
    if type(tensor) is not SymbolicTensor or tensor.op.type != "Identity":
        return None
    source = tensor.op._inputs[0]
    return source if source.dtype._is_ref_dtype else None


def _read_in(body: FuncGraph, variable: SymbolicTensor, outside: SymbolicTensor, inside: SymbolicTensor) -> None:
    """Turn the argument that carries `outside` in into a node that reads the variable there."""
    reference, node = body.capture(variable), inside.op
    del body._captures[id(outside)]
    body.inputs = [t for t in body.inputs if t is not inside]
    node._op, node._attrs, node._inputs = registry["Identity"], {"T": inside.dtype}, [reference]
    reference._consumers.append(node)
    _to_front(body, [reference.op, node])


def _to_front(body: FuncGraph, nodes: list[Operation]) -> None:
    """Put nodes before all others of a body."""
    rest = [node for node in body._nodes if node not in nodes]
    lowest = rest[0]._id if rest else 0
    for node, number in zip(nodes, range(lowest - len(nodes), lowest), strict=True):
        node._id = number
    body._nodes[:] = [*nodes, *rest]
