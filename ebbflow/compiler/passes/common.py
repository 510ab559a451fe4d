"""Compute once what is written twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Rewrite, Value


def share_common(flow: Flow) -> Flow:
    """Return the flow with one node where several compute the same: same op, inputs and attrs, and nothing random.

    Two reads of a variable are the same while nothing that keeps state stands between them.
    """
    seen: dict[Any, Node] = {}
    reads: dict[Any, Node] = {}

    def visit(node: Node, rewrite: Rewrite) -> list[Value] | None:
        if node.op.facts.reads:
            known = reads
        elif node.op.facts.variable:
            return None
        elif node.stateful:
            reads.clear()
            return None
        else:
            known = seen
        key = (node.op.name, tuple(node.inputs), attrs_key(node.attrs))
        first = known.setdefault(key, node)
        return None if first is node else first.outputs

    return Rewrite(flow).run(visit)


def attrs_key(attrs: Mapping[str, Any]) -> Any:
    """Return what is equal for attrs that say the same."""
    return tuple([(name, _key(value)) for name, value in attrs.items() if not name.startswith("_")])


def _key(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return (
            (value.dtype, value.shape, value.tobytes())
            if value.nbytes <= 1024 and value.dtype.kind != "O"
            else id(value)
        )
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value.__class__, value
