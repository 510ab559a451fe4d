"""Compute now what no run can change."""

from __future__ import annotations

from ebbflow.compiler.build import compute
from ebbflow.compiler.flow import Flow, Node, Rewrite, Value, constant

LARGEST = 1 << 20
"""Results of more bytes are left to be computed: a Program should not carry them about."""


def fold_constants(flow: Flow) -> Flow:
    """Return the flow with constants in the place of nodes whose inputs are constants, or that only ask for shapes."""
    return Rewrite(flow).run(_visit)


def _visit(node: Node, rewrite: Rewrite) -> list[Value] | None:
    if node.op.name == "Const" or node.stateful or not node.outputs:
        return None
    if any(v.known is None for v in node.outputs):
        if not node.inputs or any(v.known is None for v in node.inputs) or not _affordable(node):
            return None
        compute(node)
    if any(v.known is None for v in node.outputs):
        return None
    return [rewrite.add(constant(v.known, v.dtype, node.origin)).outputs[0] for v in node.outputs]  # type: ignore[arg-type]


def _affordable(node: Node) -> bool:
    return all(v.is_static and v.dtype.np.kind != "O" and v.nbytes <= LARGEST for v in node.outputs)
