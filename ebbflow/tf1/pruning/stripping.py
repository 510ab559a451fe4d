"""Masks out of a trained graph: products of weights and masks become constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.checkpoint.management import latest_checkpoint
from ebbflow.checkpoint.saver import import_meta_graph
from ebbflow.core.typing import Message
from ebbflow.functions.convert_to_constants import convert_variables_to_constants
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def
from ebbflow.graph.graph import Graph
from ebbflow.graph.graph_util import extract_sub_graph
from ebbflow.messages.tensors import make_tensor_proto
from ebbflow.platform import logging
from ebbflow.runtime.session import Session


def node_name(tensor_name: str) -> str:
    """Return the name of the node that a tensor is from."""
    return tensor_name.partition(":")[0].removeprefix("^")


def _masked_weights(graph_def: Message) -> dict[str, Any]:
    """Return the values of all products of weights and masks, by their nodes' names."""
    names = [node.name for node in graph_def.node if "masked_weight" in node.name]
    with Graph().as_default() as graph:
        import_graph_def(graph_def, name="")
        with Session(graph=graph) as session:
            values = session.run([graph.get_tensor_by_name(f"{name}:0") for name in names])
    for name, value in zip(names, values, strict=True):
        zeros = 100 * (1 - np.count_nonzero(value) / max(np.size(value), 1))
        logging.info("%s has %d values, %1.2f%% zeros \n", name, np.size(value), zeros)
    return dict(zip(names, values, strict=True))


def strip_pruning_vars_fn(input_graph_def: Message, output_node_names: Sequence[str]) -> Message:
    """Return a frozen graph without masks: each masked weight is a constant."""
    values = _masked_weights(input_graph_def)
    stripped = messages.GraphDef()
    for node in input_graph_def.node:
        if node.name not in values:
            stripped.node.add().CopyFrom(node)
            continue
        constant = stripped.node.add(op="Const", name=node.name)
        constant.attr["dtype"].CopyFrom(node.attr["T"])
        constant.attr["value"].tensor.CopyFrom(make_tensor_proto(values[node.name]))
    return extract_sub_graph(stripped, list(output_node_names))


def graph_def_from_checkpoint(checkpoint_dir: str, output_node_names: Sequence[str]) -> Message:
    """Return the graph of a folder's newest checkpoint, with its variables as constants."""
    path = latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    with Graph().as_default() as graph:
        saver: Any = import_meta_graph(path + ".meta", clear_devices=True)
        with Session(graph=graph) as session:
            saver.restore(session, path)
            return convert_variables_to_constants(session, graph.as_graph_def(), list(output_node_names))
