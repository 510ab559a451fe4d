"""Graphs with their collections as MetaGraphDefs: the whole of a graph, or what stands under one scope of it.

What is exported from a scope loses its name in front; an edge from outside of it becomes `$unbound_inputs_NAME`, to be
given when the part is imported (`functions.meta_graph_import`). Knows graphs, messages and the rows of
`proto_functions`; knows nothing of variables or savers beyond their names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from ebbflow import messages
from ebbflow.core import context
from ebbflow.core.registry import registry
from ebbflow.graph import graph_def as writing
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.debug_info import debug_info
from ebbflow.graph.proto_functions import get_to_proto_function
from ebbflow.graph.scope_names import is_in_scope, node_name, prepend_name_scope, strip_name_scope
from ebbflow.platform import files, logging

UNBOUND = "$unbound_inputs_"
"""What the name of an edge from outside of an exported scope begins with."""


def export_scoped_meta_graph(
    filename: Any = None,
    graph_def: Any = None,
    graph: Any = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    clear_devices: bool = False,
    saver_def: Any = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> tuple[Any, dict[str, Any]]:
    """Return a graph (or what is under `export_scope`) as a MetaGraphDef, written to `filename` if one is given, and
    its variables by name.
    """
    graph = context.default_graph() if graph is None else graph
    excluded = _savers_of_others(graph) if clear_extraneous_savers else ()
    variables: dict[str, Any] = {}
    if export_scope or clear_extraneous_savers or clear_devices:
        whole = graph.as_graph_def(add_shapes=True) if graph_def is None else graph_def
        graph_def, unbound = _part_of(whole, export_scope, excluded, clear_devices)
        if unbound_inputs_col_name:
            graph.clear_collection(unbound_inputs_col_name)
            for name in unbound:
                graph.add_to_collection(unbound_inputs_col_name, name)
        for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=export_scope):
            if _is_wanted(variable.op.name, export_scope, excluded):
                variables[strip_name_scope(variable.name, export_scope)] = variable
    meta = create_meta_graph_def(
        graph_def=graph_def, graph=graph, export_scope=export_scope, exclude_nodes=excluded, saver_def=saver_def,
        clear_extraneous_savers=clear_extraneous_savers, strip_default_attrs=strip_default_attrs, **kwargs,
    )  # fmt: skip
    if filename:
        folder, base = os.path.split(os.fspath(filename))
        writing.write_graph(meta, folder or ".", base, as_text=as_text)
        if save_debug_info:
            info = debug_info(_originals(meta.graph_def, graph, export_scope))
            writing.write_graph(info, folder or ".", f"{os.path.splitext(base)[0]}.debug", as_text=as_text)
    return meta, variables


def _originals(graph_def: Any, graph: Any, scope: str | None) -> Iterator[tuple[str, str, Any]]:
    """Go over the nodes of a graph that a GraphDef was made of, as `debug_info` takes them."""
    for node in graph_def.node:
        name = prepend_name_scope(node.name, scope)
        if name in graph._by_name:
            yield "", name, graph._by_name[name]


def _part_of(whole: Any, scope: str | None, excluded: Iterable[str], clear_devices: bool) -> tuple[Any, list[str]]:
    """Return the nodes of a GraphDef under a scope with their names stripped, and the names of edges from outside."""
    part = messages.GraphDef()
    part.versions.CopyFrom(whole.versions)
    part.library.CopyFrom(whole.library)
    unbound: list[str] = []
    for node in whole.node:
        if not _is_wanted(node.name, scope, excluded):
            continue
        written = part.node.add()
        written.CopyFrom(node)
        written.name = strip_name_scope(node.name, scope)
        if clear_devices:
            written.device = ""
        written.input[:] = [_stripped(edge, scope, excluded, unbound) for edge in node.input]
        if scope and "_class" in node.attr:
            kept = [place for place in node.attr["_class"].list.s if is_in_scope(place.decode(), scope)]
            written.attr["_class"].list.s[:] = [strip_name_scope(place.decode(), scope).encode() for place in kept]
            if not kept:
                del written.attr["_class"]
    return part, list(dict.fromkeys(unbound))


def _stripped(edge: str, scope: str | None, excluded: Iterable[str], unbound: list[str]) -> str:
    if _is_wanted(node_name(edge), scope, excluded):
        return strip_name_scope(edge, scope)
    mark = "^" if edge.startswith("^") else ""
    unbound.append(f"{mark}{UNBOUND}{edge.removeprefix('^')}")
    return unbound[-1]


def _is_wanted(name: str, scope: str | None, excluded: Iterable[str]) -> bool:
    return is_in_scope(name, scope) and not any(name.startswith(prefix) for prefix in excluded)


def _savers_of_others(graph: Any) -> tuple[str, ...]:
    """Return the scopes in which savers of the graph have their nodes."""
    found = []
    for saver in graph.get_collection(GraphKeys.SAVERS):
        name = saver.saver_def.filename_tensor_name
        if "/" in name:
            found.append(name.rpartition("/")[0] + "/")
    return tuple(found)


# --- the message ------------------------------------------------------------------------------------------------------


def create_meta_graph_def(
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Iterable[str] | None = None,
    graph: Any = None,
    export_scope: str | None = None,
    exclude_nodes: Any = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
) -> Any:
    """Return a MetaGraphDef of a graph, the interfaces of its ops, a saver and (some of) its collections."""
    for what, kind, name in ((graph_def, "GraphDef", "graph_def"), (meta_info_def, "MetaInfoDef", "meta_info_def")):
        if what is not None and type(what).__name__ != kind:
            raise TypeError(f"{name} must be of type {kind}. Received type: {type(what)}")
    graph = context.default_graph() if graph is None else graph
    result = messages.MetaGraphDef()
    if meta_info_def is not None:
        result.meta_info_def.MergeFrom(meta_info_def)
    info = result.meta_info_def
    info.tensorflow_version, info.tensorflow_git_version = writing.RELEASE, writing.GIT_VERSION
    result.graph_def.MergeFrom(graph.as_graph_def(add_shapes=True) if graph_def is None else graph_def)
    if not info.HasField("stripped_op_list"):
        info.stripped_op_list.MergeFrom(stripped_op_list_for_graph(result.graph_def))
    if strip_default_attrs:
        strip_graph_default_valued_attrs(result)
    if saver_def is not None:
        result.saver_def.MergeFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        if not (clear_extraneous_savers and key == GraphKeys.SAVERS):
            add_collection_def(result, key, graph=graph, export_scope=export_scope, exclude_nodes=exclude_nodes)
    return result


def add_collection_def(
    meta_graph_def: Any,
    key: Any,
    graph: Any = None,
    export_scope: str | None = None,
    exclude_nodes: Any = None,
    override_contents: Any = None,
) -> None:
    """Write a collection into a MetaGraphDef. One whose items have no form there is left out, with a warning."""
    if type(meta_graph_def).__name__ != "MetaGraphDef":
        raise TypeError(f"meta_graph_def must be of type MetaGraphDef. Received type: {type(meta_graph_def)}")
    graph = context.default_graph() if graph is None else graph
    items = graph.get_collection(key) if override_contents is None else list(override_contents)
    if not isinstance(key, (str, bytes)):
        logging.warning("Only collections with string type keys can be serialized. This key has %s", type(key))
        return
    items = [item for item in items if not getattr(getattr(item, "graph", None), "is_control_flow_graph", False)]
    if not items:  # or only what stands in branches, which are written as functions: nothing outside can name it
        return
    excluded = tuple(exclude_nodes or ())
    try:
        written = _collection_def(key, items, export_scope, excluded)
    except (TypeError, ValueError, AttributeError) as error:
        logging.warning(
            "Issue encountered when serializing %s. Type is unsupported, or the types of the items don't match field "
            "type in CollectionDef. Note this is a warning and probably safe to ignore.\n%s", key, error,
        )  # fmt: skip
        return
    meta_graph_def.collection_def[key].CopyFrom(written)


def _collection_def(key: Any, items: list[Any], scope: str | None, excluded: tuple[str, ...]) -> Any:
    result = messages.CollectionDef()
    to_proto = get_to_proto_function(key)
    if to_proto is not None:
        result.bytes_list.SetInParent()
        for item in items:
            if not _is_item_wanted(item, scope, excluded):
                continue
            proto = to_proto(item, export_scope=scope)
            if proto is not None:
                result.bytes_list.value.append(messages.serialize(proto))
        return result
    field, encode = _form(items[0])
    values = getattr(result, field)
    values.SetInParent()
    for item in items:
        if field == "any_list":
            values.value.add().ParseFromString(item.SerializeToString())
        elif field != "node_list" or _is_item_wanted(item, scope, excluded):
            values.value.append(strip_name_scope(item.name, scope) if field == "node_list" else encode(item))
    return result


def _is_item_wanted(item: Any, scope: str | None, excluded: tuple[str, ...]) -> bool:
    name = getattr(item, "name", None)
    return not isinstance(name, str) or _is_wanted(name, scope, excluded)


def _form(item: Any) -> tuple[str, Any]:
    if isinstance(item, (str, bytes)):
        return "bytes_list", lambda value: value.encode() if isinstance(value, str) else value
    if isinstance(item, bool) or type(item).__name__ == "Any":
        return "any_list", None
    if isinstance(item, int):
        return "int64_list", int
    return ("float_list", float) if isinstance(item, float) else ("node_list", None)


# --- interfaces and their defaults ------------------------------------------------------------------------------------


def ops_used_by_graph_def(graph_def: Any) -> set[str]:
    """Return the names of the ops of a GraphDef, those of the functions it calls included."""
    functions = {function.signature.name: function for function in graph_def.library.function}
    used: set[str] = set()
    stack = [graph_def.node]
    while stack:
        for node in stack.pop():
            calls = {node.op, *_functions_named(node)} & functions.keys() - used
            used |= {node.op, *calls}
            stack.extend(functions[name].node_def for name in calls)
    return used - functions.keys()


def _functions_named(node: Any) -> Iterable[str]:
    for value in node.attr.values():
        if value.HasField("func"):
            yield value.func.name
        yield from (function.name for function in value.list.func)


def stripped_op_list_for_graph(graph_def: Any) -> Any:
    """Return the interfaces of the ops that a GraphDef uses, as an OpList in the order of their names."""
    used = (registry.find(name) for name in sorted(ops_used_by_graph_def(graph_def)))
    return messages.OpList(op=[writing.op_def(op) for op in used if op is not None])


def strip_graph_default_valued_attrs(meta_graph_def: Any) -> None:
    """Leave out of the nodes and functions of a MetaGraphDef the attrs that say what they would say anyway."""
    graph_def = meta_graph_def.graph_def
    functions = {function.signature.name for function in graph_def.library.function}
    bodies = [graph_def.node, *(function.node_def for function in graph_def.library.function)]
    for node in (node for body in bodies for node in body):
        if node.op not in functions:
            _strip_defaults(node)
    meta_graph_def.meta_info_def.stripped_default_attrs = True


def _strip_defaults(node: Any) -> None:
    definition = writing.op_def_named(node.op)
    if definition is None:
        logging.warning("Op '%s' is not registered: the attrs of node '%s' are written in full", node.op, node.name)
        return
    for attr in definition.attr:
        if attr.HasField("default_value") and attr.name in node.attr and same(node.attr[attr.name], attr.default_value):
            del node.attr[attr.name]


def add_default_attrs(graph_def: Any) -> None:
    """Say in full, for each node of a GraphDef and its functions, the attrs that were left out as they are anyway."""
    functions = {function.signature.name for function in graph_def.library.function}
    known: dict[str, list[Any]] = {}
    for body in [graph_def.node, *(function.node_def for function in graph_def.library.function)]:
        for node in body:
            if node.op not in known:
                definition = None if node.op in functions else writing.op_def_named(node.op)
                attrs = () if definition is None else definition.attr
                known[node.op] = [attr for attr in attrs if attr.HasField("default_value")]
            for attr in known[node.op]:
                if attr.name not in node.attr:
                    node.attr[attr.name].CopyFrom(attr.default_value)


def same(value: Any, other: Any) -> bool:
    """Return whether two AttrValues say the same."""
    return value == other or value.SerializeToString(deterministic=True) == other.SerializeToString(deterministic=True)


def read_meta_graph_file(filename: Any) -> Any:
    """Return the MetaGraphDef in a file, be it bytes or text."""
    path = os.fspath(filename)
    if not files.exists(path):
        raise OSError(f"File does not exist. Received: {path}.")
    data = files.read_file_to_string(path, binary_mode=True)
    try:
        return messages.parse(messages.MetaGraphDef, data, path)
    except Exception as binary:
        try:
            return messages.parse_text(data.decode("utf-8"), messages.MetaGraphDef, path)
        except Exception as text:
            raise OSError(f"Cannot parse file {path}: {text}.") from binary
