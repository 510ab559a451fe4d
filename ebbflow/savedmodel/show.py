"""What is in a model, as text: tags, signatures, functions, ops that do more than compute; in saved_model_cli's words.

Reads files and prints; builds nothing and runs nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.io.structures import decode_proto
from ebbflow.messages.tensors import shape_dims
from ebbflow.platform import files
from ebbflow.savedmodel import constants, reading, safety

RESERVED = (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY)


def show_saved_model(
    folder: str, tag_set: str | None = None, signature: str | None = None, everything: bool = False
) -> Iterator[str]:
    """Yield the lines that `ebbflow show` prints of a SavedModel."""
    if everything:
        for tags in sorted(map(sorted, reading.get_saved_model_tag_sets(folder))):
            yield from _whole(folder, ",".join(tags))
    elif tag_set is None:
        yield "The given SavedModel contains the following tag-sets:"
        for tags in sorted(map(sorted, reading.get_saved_model_tag_sets(folder))):
            yield ", ".join(repr(tag) for tag in tags)
        for meta in reading.parse_saved_model(folder).meta_graphs:
            yield from _effects(meta)
    elif signature is None:
        meta = reading.meta_graph_of(folder, tag_set)
        yield "The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:"
        for key in sorted(meta.signature_def):
            yield f'SignatureDef key: "{key}"'
    else:
        yield from signature_lines(reading.meta_graph_of(folder, tag_set), signature)


def _whole(folder: str, tag_set: str) -> Iterator[str]:
    meta = reading.meta_graph_of(folder, tag_set)
    yield ""
    yield f"MetaGraphDef with tag-set: '{tag_set}' contains the following SignatureDefs:"
    for key in sorted(meta.signature_def):
        yield ""
        yield f"signature_def['{key}']:"
        yield from signature_lines(meta, key, "  ")
    yield from function_lines(meta)
    yield from _effects(meta)


def signature_lines(meta: Any, key: str, indent: str = "") -> Iterator[str]:
    """Yield what a signature takes and gives."""
    if key not in meta.signature_def:
        known = sorted(meta.signature_def)
        raise errors.NotFoundError(None, None, f"there is no signature '{key}'; there are {known}")
    signature = meta.signature_def[key]
    for word, infos in (("input", signature.inputs), ("output", signature.outputs)):
        yield f"{indent}The given SavedModel SignatureDef contains the following {word}(s):"
        for name in sorted(infos):
            yield f"{indent}  {word}s['{name}'] tensor_info:"
            yield from _tensor_lines(infos[name], indent + " " * 6)
    yield f"{indent}Method name is: {signature.method_name}"


def _tensor_lines(info: Any, indent: str) -> Iterator[str]:
    yield f"{indent}dtype: {messages.enum('DataType').Name(info.dtype)}"
    dims = shape_dims(info.tensor_shape)
    shape = "unknown_rank" if dims is None else "(" + ", ".join("-1" if d is None else str(d) for d in dims) + ")"
    yield f"{indent}shape: {shape if dims is None or len(dims) != 1 else shape[:-1] + ')'}"
    yield f"{indent}name: {info.name or info.WhichOneof('encoding')}"


def function_lines(meta: Any) -> Iterator[str]:
    """Yield the functions that the objects of a model offer, with the arguments of their traces."""
    nodes = meta.object_graph_def.nodes
    if not nodes:
        return
    yield ""
    yield "Concrete Functions:"
    for child in sorted(nodes[0].children, key=lambda child: child.local_name):
        if not 0 <= child.node_id < len(nodes) or nodes[child.node_id].WhichOneof("kind") != "function":
            continue
        yield f"  Function Name: '{child.local_name}'"
        for i, name in enumerate(nodes[child.node_id].function.concrete_functions):
            yield f"    Option #{i + 1}"
            args, kwargs = decode_proto(meta.object_graph_def.concrete_functions[name].canonicalized_input_signature)
            yield "      Callable with:"
            yield from (f"        Argument #{j + 1}: {arg!r}" for j, arg in enumerate(args))
            yield from (f"        {key}: {value!r}" for key, value in kwargs.items())


def _effects(meta: Any) -> Iterator[str]:
    found = safety.effects(meta)
    if found:
        yield ""
        yield "Nodes that do more than compute (loading needs allow=):"
        yield from (f"  {effect.op} '{effect.place}': {effect.what}" for effect in found)


# --- graphs -----------------------------------------------------------------------------------------------------------


def read_graph(path: str) -> Any:
    """Return the GraphDef of a file (frozen graph or MetaGraph, bytes or text), or of a SavedModel with one graph."""
    if files.isdir(path):
        return reading.get_meta_graph_def(reading.parse_saved_model(path), None).graph_def
    data = files.read_file_to_string(path, binary_mode=True)
    if path.endswith(".meta"):
        return messages.parse(messages.MetaGraphDef, data, path).graph_def
    if path.endswith((".pbtxt", ".txt")):
        return messages.parse_text(data, messages.GraphDef, path)
    graph_def = messages.parse(messages.GraphDef, data, path)
    if not graph_def.node and data:
        raise errors.DataLossError(None, None, f"{path} holds no GraphDef: no node in {len(data)} bytes")
    return graph_def


def show_graph(graph_def: Any, path: str) -> Iterator[str]:
    """Yield what is in a GraphDef: how many nodes of which op, what goes in and what comes out."""
    used = {edge.removeprefix("^").partition(":")[0] for node in graph_def.node for edge in node.input}
    yield f"{path}: {len(graph_def.node)} nodes, {len(graph_def.library.function)} functions"
    yield "Inputs:"
    for node in graph_def.node:
        if node.op in ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault"):
            dims = shape_dims(node.attr["shape"].shape) if "shape" in node.attr else None
            yield f"  {node.name}: {messages.enum('DataType').Name(node.attr['dtype'].type)} {dims}"
    yield "Outputs:"
    yield from (f"  {node.name}: {node.op}" for node in graph_def.node if node.name not in used)
    yield "Ops:"
    for op, count in sorted(Counter(node.op for node in graph_def.node).items()):
        yield f"  {op}: {count}"
    yield from _effects(messages.MetaGraphDef(graph_def=graph_def))
