"""MetaGraphDefs brought into a graph: nodes, functions and collections, under a scope of their own if one is asked for.

Collections of messages (variables, queue runners, savers) become objects again through the rows of
`graph.proto_functions`; a variable that stands in several collections is one object in all of them. The contexts of
TF 1's loops and choices are left where they are: those nodes are functional here (`dataflow_v1`), and need none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ebbflow.core import context, errors
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.meta_graph import export_scoped_meta_graph, read_meta_graph_file
from ebbflow.graph.proto_functions import get_from_proto_function, parsed
from ebbflow.graph.scope_names import prepend_name_scope, strip_name_scope
from ebbflow.platform import logging

CONTEXTS = (GraphKeys.COND_CONTEXT, GraphKeys.WHILE_CONTEXT)


def import_scoped_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Any = None,
    import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
) -> dict[str, Any]:
    """Add a MetaGraphDef (or the one in a file) to a graph; return its variables by their names in the file."""
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices, graph, import_scope, input_map, unbound_inputs_col_name,
        restore_collections_predicate,
    )[0]  # fmt: skip


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Any = None,
    import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
    return_elements: Sequence[str] | None = None,
) -> tuple[dict[str, Any], list[Any] | None]:
    """Add a MetaGraphDef to a graph; return its variables by name, and the elements asked for."""
    if context.executing_eagerly():
        raise ValueError("Exporting/importing meta graphs is not supported when eager execution is enabled.")
    meta = meta_graph_or_file
    if type(meta).__name__ != "MetaGraphDef":
        meta = read_meta_graph_file(meta)
    if unbound_inputs_col_name and unbound_inputs_col_name in meta.collection_def:
        _check_bound(meta.collection_def[unbound_inputs_col_name], input_map)
    graph = context.default_graph() if graph is None else graph
    with graph.as_default():
        graph_def = meta.graph_def
        if clear_devices:
            graph_def = type(graph_def)()
            graph_def.CopyFrom(meta.graph_def)
            for node in graph_def.node:
                node.device = ""
        scope = graph.unique_name(import_scope or "", mark_as_used=False)
        elements = import_graph_def(
            graph_def, name=import_scope or scope, input_map=input_map, return_elements=return_elements,
            producer_op_list=meta.meta_info_def.stripped_op_list,
        )  # fmt: skip
        _restore_collections(meta, graph, scope, restore_collections_predicate)
        variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)
        return {strip_name_scope(v.name, scope): v for v in variables}, elements


def _check_bound(collection: Any, input_map: Mapping[str, Any] | None) -> None:
    """Refuse a part of a graph whose edges from outside are not all given."""
    needed = [_text(name) for name in collection.bytes_list.value] or list(collection.node_list.value)
    missing = sorted(set(needed) - set(input_map or {}))
    if missing:
        names = ", ".join(missing)
        raise ValueError(f"Graph contains unbound inputs: {names}. Must provide these inputs through input_map.")


def _text(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name


# --- collections ------------------------------------------------------------------------------------------------------


def _restore_collections(meta: Any, graph: Any, scope: str, wanted: Callable[[str], bool]) -> None:
    variables: dict[str, Any] = {}
    for key in sorted(meta.collection_def):
        if not wanted(key) or key in CONTEXTS:
            continue
        definition = meta.collection_def[key]
        kind = definition.WhichOneof("kind")
        if kind is None:
            logging.error("Cannot identify data type for collection %s. Skipping.", key)
        elif kind == "bytes_list" and get_from_proto_function(key) is not None:
            _restore_messages(graph, key, definition.bytes_list.value, scope, variables)
        else:
            for value in getattr(definition, kind).value:
                graph.add_to_collection(key, _plain_item(graph, kind, value, scope))


def _restore_messages(graph: Any, key: str, values: Sequence[bytes], scope: str, variables: dict[str, Any]) -> None:
    from_proto: Any = get_from_proto_function(key)
    for data in values:
        proto = parsed(key, data)
        name = getattr(proto, "variable_name", None)
        item = variables.get(name) if name is not None else None
        if item is None:
            item = _made(key, from_proto, proto, scope)
        if name is not None:
            variables[name] = item
        graph.add_to_collection(key, item)


def _made(key: str, from_proto: Callable[..., Any], proto: Any, scope: str) -> Any:
    """Return the object that a message describes; one that describes none is the file's fault."""
    try:
        return from_proto(proto, import_scope=scope)
    except (AttributeError, IndexError, AssertionError) as error:
        raise errors.DataLossError(
            None, None, f"collection '{key}' has an item that is not in the graph: {proto}: {error}"
        ) from None


def _plain_item(graph: Any, kind: str, value: Any, scope: str) -> Any:
    if kind == "node_list":
        return graph.as_graph_element(prepend_name_scope(value, scope))
    return int(value) if kind == "int64_list" else value


# --- from scope to scope ----------------------------------------------------------------------------------------------


def copy_scoped_meta_graph(from_scope: str, to_scope: str, from_graph: Any = None, to_graph: Any = None) -> Any:
    """Copy what is under a scope to another scope, of the same graph or another; return the variables by name."""
    from_graph = context.default_graph() if from_graph is None else from_graph
    to_graph = context.default_graph() if to_graph is None else to_graph
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError(
            "'from_scope' and 'to_scope' need to be different when performing copy in the same graph. "
            f"Received: 'from_graph': {from_graph}, 'to_graph': {to_graph}, 'from_scope': {from_scope}, "
            f"'to_scope': {to_scope}."
        )
    meta, _ = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    return import_scoped_meta_graph(meta, graph=to_graph, import_scope=to_scope)
