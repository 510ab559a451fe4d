"""`tf.contrib.tensorrt`: graphs for inference, where there is no TensorRT.

TensorRT takes the parts of a graph that it can run and leaves the others as they are; without it nothing is taken. So a
program that converts its graph goes on with one that computes the same, pruned to what it fetches, and is told so once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core.typing import Message
from ebbflow.functions.convert_to_constants import convert_variables_to_constants
from ebbflow.graph.graph import Graph
from ebbflow.graph.graph_util import extract_sub_graph
from ebbflow.platform import logging
from ebbflow.runtime.session import Session
from ebbflow.savedmodel.loader import load

PRECISIONS = ("FP32", "FP16", "INT8")


def create_inference_graph(
    input_graph_def: Message | None,
    outputs: Sequence[Any] | None,
    max_batch_size: int = 1,
    max_workspace_size_bytes: int = 1 << 30,
    precision_mode: str = "FP32",
    minimum_segment_size: int = 3,
    is_dynamic_op: bool = False,
    maximum_cached_engines: int = 1,
    input_saved_model_dir: str | None = None,
    input_saved_model_tags: Sequence[str] | None = None,
    output_saved_model_dir: str | None = None,
    session_config: Message | None = None,
) -> Message:
    """Return the GraphDef that computes `outputs`, of a frozen graph or of a SavedModel, whose variables are frozen."""
    if str(precision_mode).upper() not in PRECISIONS:
        raise ValueError(f"precision mode '{precision_mode}' is not supported. It should be one of {list(PRECISIONS)}")
    if (input_graph_def is None) == (input_saved_model_dir is None):
        raise ValueError("exactly one of input_graph_def and input_saved_model_dir must be given")
    if output_saved_model_dir is not None:
        raise ValueError("output_saved_model_dir: write the GraphDef that is returned with tf.saved_model.simple_save")
    logging.log_first_n(
        logging.WARN,
        "There is no TensorRT here: tf.contrib.tensorrt only prunes the graph.",
        1,
    )
    names = [_node(output) for output in outputs or ()]
    if input_graph_def is not None:
        return extract_sub_graph(input_graph_def, names)
    graph = Graph()
    with graph.as_default(), Session(graph=graph, config=session_config) as session:
        meta = load(session, list(input_saved_model_tags or ["serve"]), str(input_saved_model_dir))
        if not names:
            signatures = meta.signature_def.values()
            names = sorted({_node(info.name) for signature in signatures for info in signature.outputs.values()})
        return convert_variables_to_constants(session, graph.as_graph_def(), names)


def _node(output: Any) -> str:
    """Return the name of the node that gives an output: a tensor, a node, or the name of one."""
    name = output if isinstance(output, str) else output.name
    return name.rpartition(":")[0] or name


def calib_graph_to_infer_graph(calibration_graph_def: Message, is_dynamic_op: bool = False) -> Message:
    """Return a graph as it is used after calibration: the same, since nothing was given to TensorRT."""
    return calibration_graph_def
