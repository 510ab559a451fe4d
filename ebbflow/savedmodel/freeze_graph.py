"""`tensorflow.python.tools.freeze_graph`: a graph and a checkpoint as one GraphDef in which variables are constants.

The graph comes from a GraphDef, a MetaGraphDef or a SavedModel, in files or as messages. Knows files and sessions; the
work is `convert_variables_to_constants`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow import messages
from ebbflow.checkpoint.management import checkpoint_exists
from ebbflow.checkpoint.reader import load_checkpoint
from ebbflow.checkpoint.saver import Saver, import_meta_graph
from ebbflow.core import context
from ebbflow.functions.convert_to_constants import convert_variables_to_constants
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def
from ebbflow.graph.freezing import HANDLE_OPS, REFERENCE_OPS
from ebbflow.graph.graph import Graph
from ebbflow.graph.placeholders import placeholder
from ebbflow.io.bundle_writer import write_atomically
from ebbflow.ops.declare import raw
from ebbflow.platform import files
from ebbflow.runtime.session import Session
from ebbflow.savedmodel import constants, loader, reading


def freeze_graph(
    input_graph: Any,
    input_saver: Any,
    input_binary: bool,
    input_checkpoint: Any,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: Any,
    clear_devices: bool,
    initializer_nodes: str | None,
    variable_names_whitelist: str = "",
    variable_names_denylist: str = "",
    input_meta_graph: Any = None,
    input_saved_model_dir: Any = None,
    saved_model_tags: str = constants.SERVING,
    checkpoint_version: int = 2,
    variable_names_blacklist: str = "",
) -> Any:
    """Return the graph of files as a GraphDef with constants for variables, written to `output_graph` if that is given.

    The names of nodes and variables are joined by commas, and so are the tags of a SavedModel.
    """
    graph_def = meta = saver = None
    tags = saved_model_tags.replace(" ", "").split(",") if saved_model_tags else []
    if input_saved_model_dir:
        meta = reading.get_meta_graph_def(reading.parse_saved_model(str(input_saved_model_dir)), tags)
        graph_def = meta.graph_def
    elif input_graph:
        graph_def = _read(input_graph, messages.GraphDef, input_binary)
    elif input_meta_graph:
        meta = _read(input_meta_graph, messages.MetaGraphDef, input_binary)
    if input_saver:
        saver = _read(input_saver, messages.SaverDef, input_binary)
    return freeze_graph_with_def_protos(
        graph_def, saver, input_checkpoint, output_node_names, restore_op_name, filename_tensor_name, output_graph,
        clear_devices, initializer_nodes, variable_names_whitelist, variable_names_denylist, meta,
        input_saved_model_dir, tags, checkpoint_version, variable_names_blacklist,
    )  # fmt: skip


def freeze_graph_with_def_protos(
    input_graph_def: Any,
    input_saver_def: Any,
    input_checkpoint: Any,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: Any,
    clear_devices: bool,
    initializer_nodes: str | None,
    variable_names_whitelist: str = "",
    variable_names_denylist: str = "",
    input_meta_graph_def: Any = None,
    input_saved_model_dir: Any = None,
    saved_model_tags: Sequence[str] | None = None,
    checkpoint_version: int = 2,
    variable_names_blacklist: str = "",
) -> Any:
    """Return a graph as a GraphDef with constants for variables, written to `output_graph` if that is given."""
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint {str(input_checkpoint)!r} does not exist!")
    if not output_node_names:
        raise ValueError("You must supply the name of a node to --output_node_names: none was given.")
    if clear_devices:
        for node in [*_nodes(input_graph_def), *_nodes(getattr(input_meta_graph_def, "graph_def", None))]:
            node.device = ""
    graph = Graph()
    with graph.as_default(), Session(graph=graph) as session:
        if input_saved_model_dir:
            loader.load(session, saved_model_tags or [], str(input_saved_model_dir))
        elif input_meta_graph_def is not None:
            _restore(import_meta_graph(input_meta_graph_def, clear_devices=True), session, input_checkpoint)
        else:
            import_graph_def(input_graph_def, name="")
            nodes = (restore_op_name, filename_tensor_name)
            _fill(session, input_saver_def, input_checkpoint, nodes, initializer_nodes)
        whole = input_graph_def if input_graph_def is not None else graph.as_graph_def()
        frozen = convert_variables_to_constants(
            session, whole, _words(output_node_names), _words(variable_names_whitelist) or None,
            _words(variable_names_denylist or variable_names_blacklist) or None,
        )  # fmt: skip
    if output_graph:
        write_atomically(files.text_of(output_graph), messages.serialize(frozen))
    return frozen


def _fill(session: Any, saver_def: Any, path: Any, nodes: tuple[str | None, str | None], start: str | None) -> None:
    """Give the variables of an imported graph their values, by its own saver or by the checkpoint's names.

    `nodes` are those that restore and that take the path, `start` those to run in the end.
    """
    if saver_def is not None:
        _restore(Saver(saver_def=saver_def), session, path)
        return
    graph, reader = context.default_graph(), load_checkpoint(path)
    variables = [node for node in graph.get_operations() if node.type in REFERENCE_OPS | HANDLE_OPS]
    if not variables:
        raise ValueError("No variables were found in this model. It is likely the model was frozen previously.")
    restore, filename = nodes
    if restore in graph._by_name and filename:  # the graph's own saver knows slices of partitioned variables
        session.run([restore], {filename: str(path)})
        variables = []
    for node in variables:
        if reader.has_tensor(node.name):
            fed = placeholder(node._attrs["dtype"], name="restored")
            assign = raw.Assign if node.type in REFERENCE_OPS else raw.AssignVariableOp
            made = assign(node.outputs[0], fed)
            session.run(getattr(made, "op", made), {fed: reader.get_tensor(node.name)})
    if start:
        session.run(_words(start))


def _restore(saver: Any, session: Any, path: Any) -> None:
    if saver is not None:
        saver.restore(session, str(path))


def _nodes(graph_def: Any) -> Any:
    return () if graph_def is None else graph_def.node


def _words(names: str | None) -> list[str]:
    return [name for name in (names or "").replace(" ", "").split(",") if name]


def _read(path: Any, cls: Any, binary: bool) -> Any:
    path = files.text_of(path)
    data = files.read_file_to_string(path, binary_mode=True)
    return messages.parse(cls, data, path) if binary else messages.parse_text(data, cls, path)
