"""Is a flow well made? Asked between passes when EBBFLOW_CHECK is set."""

from __future__ import annotations

from typing import Any

from ebbflow.compiler.flow import Flow, Value
from ebbflow.core import errors
from ebbflow.core.shape import is_compatible


def verify(flow: Flow, after: str) -> None:
    """Raise an InternalError naming the pass where a flow uses what is not there, or contradicts the ops' own rules."""
    there: set[Value] = set(flow.inputs)
    for node in flow.nodes:
        for value in node.inputs:
            if value not in there:
                raise _broken(after, f"node {node!r} takes {value!r}, which nothing before it gives")
        if [v.dtype for v in node.outputs] != node.op.flat_output_types(node.attrs):
            raise _broken(after, f"node {node!r} gives {node.outputs}, not the types its op declares")
        for value, dims in zip(node.outputs, node.infer(), strict=True):
            if not is_compatible(value.dims, dims):
                raise _broken(after, f"{value!r} does not have the shape {dims} that its op's rule says")
        there.update(node.outputs)
    for value in flow.outputs:
        if value not in there:
            raise _broken(after, f"{value!r} is fetched, and nothing gives it")


Picture = tuple[Any, ...]


def picture(flow: Flow) -> Picture:
    """Return all that makes a flow, to see later whether it is still the same."""
    nodes = [(n, n.op, tuple(n.inputs), n.attrs, tuple([_facts(v) for v in n.outputs])) for n in flow.nodes]
    return nodes, [_facts(v) for v in flow.inputs], list(flow.outputs), set(flow.roots)


def _facts(value: Value) -> Picture:
    return value, value.node, value.index, value.dtype, value.dims, id(value.known)


def verify_unchanged(flow: Flow, before: Picture, after: str) -> None:
    """Raise an InternalError naming the pass that changed the flow it was given."""
    if picture(flow) != before:
        raise errors.InternalError(None, None, f"pass '{after}' changed the flow it was given")


def _broken(after: str, what: str) -> errors.InternalError:
    return errors.InternalError(None, None, f"pass '{after}' broke the graph: {what}")
