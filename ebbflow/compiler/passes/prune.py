"""Leave out what nobody needs."""

from __future__ import annotations

from ebbflow.compiler.flow import Flow


def prune(flow: Flow) -> Flow:
    """Return the flow without nodes whose results nobody takes, unless they keep state or were asked for themselves."""
    wanted = set(flow.outputs)
    kept = []
    for node in reversed(flow.nodes):
        if wanted.intersection(node.outputs) or node in flow.roots or node.acts:
            wanted.update(node.inputs)
            kept.append(node)
    return Flow(flow.inputs, kept[::-1], flow.outputs, flow.roots)
