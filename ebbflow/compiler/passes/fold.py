"""Compute now what no run can change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.compiler.build import computed
from ebbflow.compiler.flow import Flow, Node, Rewrite, Value, constant

LARGEST = 1 << 20
"""Results of more bytes are left to be computed: a Program should not carry them about."""


def fold_constants(flow: Flow) -> Flow:
    """Return the flow with constants in the place of nodes whose inputs are constants, or that only ask for shapes."""
    return Rewrite(flow).run(_visit)


def _visit(node: Node, rewrite: Rewrite) -> list[Value] | None:
    if node.op.name == "Const" or node.stateful or not node.outputs:
        return None
    arrays: Sequence[Any] = [v.known for v in node.outputs]
    if any(a is None for a in arrays):
        if not node.inputs or any(v.known is None for v in node.inputs) or not _affordable(node):
            return None
        arrays = computed(node)
    if any(a is None for a in arrays):
        return None
    pairs = zip(arrays, node.outputs, strict=True)
    return [rewrite.add(constant(array, v.dtype, node.origin)).outputs[0] for array, v in pairs]


def _affordable(node: Node) -> bool:
    return all(v.is_static and v.dtype.np.kind != "O" and v.nbytes <= LARGEST for v in node.outputs)
