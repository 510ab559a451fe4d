"""A node made from its NodeDef and its inputs: what Keras 2 does with nodes of models that it read from a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ebbflow import messages
from ebbflow.core.typing import Message
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph


def create_c_op(
    graph: Graph, node_def: Message, inputs: Sequence[Any], control_inputs: Sequence[Any] = (),
    op_def: Message | None = None,
    extract_traceback: bool = True,
) -> Any:  # fmt: skip
    """Add the node that a NodeDef describes to a graph, with these inputs in place of those it names; return it."""
    fed = messages.GraphDef()
    node = fed.node.add()
    node.CopyFrom(node_def)
    flat = [tensor for group in inputs for tensor in (group if isinstance(group, (list, tuple)) else [group])]
    del node.input[:]
    node.input.extend(f"input_{i}:0" for i in range(len(flat)))
    scope = node.name.rpartition("/")[0]
    node.name = node.name.rpartition("/")[2]
    mapping = {f"input_{i}:0": tensor for i, tensor in enumerate(flat)}
    scoped = graph.name_scope(f"{scope}/" if scope else None)
    with graph.as_default(), scoped, graph.control_dependencies(list(control_inputs)):
        added = import_graph_def(fed, input_map=mapping, return_elements=[node.name], name="")
    assert added is not None
    return added[0]
