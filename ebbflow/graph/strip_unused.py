"""`tensorflow.python.tools.strip_unused_lib`: a GraphDef cut down to what lies between inputs and outputs.

The nodes given as inputs become placeholders. Messages in, messages out, or files of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow import messages
from ebbflow.core import dtypes
from ebbflow.graph.graph_util import extract_sub_graph, with_rest
from ebbflow.platform import files


def strip_unused(
    input_graph_def: Any, input_node_names: Sequence[str], output_node_names: Sequence[str], placeholder_type_enum: Any
) -> Any:
    """Return a GraphDef of the nodes that `output_node_names` need, the inputs being placeholders of the type(s)."""
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not an Operation.")
    by_name = {node.name: node for node in input_graph_def.node}
    missing = [name for name in input_node_names if name not in by_name]
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}")
    is_list = isinstance(placeholder_type_enum, (list, tuple))
    kinds = list(placeholder_type_enum) if is_list else [placeholder_type_enum] * len(input_node_names)
    placeholders = dict(zip(input_node_names, kinds, strict=True))
    replaced = with_rest(messages.GraphDef(), input_graph_def)
    for node in input_graph_def.node:
        written = replaced.node.add()
        if node.name not in placeholders:
            written.CopyFrom(node)
            continue
        written.op, written.name = "Placeholder", node.name
        written.attr["dtype"].type = dtypes.as_dtype(placeholders[node.name]).as_datatype_enum
        for attr in ("_output_shapes", "shape"):
            if attr in node.attr:
                written.attr[attr].CopyFrom(node.attr[attr])
        if "shape" not in written.attr:
            written.attr["shape"].shape.unknown_rank = True
    return extract_sub_graph(replaced, list(output_node_names))


def strip_unused_from_files(
    input_graph: Any,
    input_binary: bool,
    output_graph: Any,
    output_binary: bool,
    input_node_names: str,
    output_node_names: str,
    placeholder_type_enum: Any,
) -> None:
    """Do the same from file to file; names are joined by commas."""
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    path = files.text_of(input_graph)
    data = files.read_file_to_string(path, binary_mode=True)
    kind = messages.GraphDef
    graph_def = messages.parse(kind, data, path) if input_binary else messages.parse_text(data, kind, path)
    stripped = strip_unused(graph_def, input_node_names.split(","), output_node_names.split(","), placeholder_type_enum)
    text = messages.serialize(stripped) if output_binary else messages.to_text(stripped)
    files.atomic_write_string_to_file(files.text_of(output_graph), text)
