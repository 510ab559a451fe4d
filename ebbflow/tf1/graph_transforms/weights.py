"""Weights that take less room: rounded to few values, so that they compress, or kept in eight bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes
from ebbflow.core.typing import Message
from ebbflow.messages.tensors import make_ndarray, make_tensor_proto
from ebbflow.tf1.graph_transforms.edits import with_nodes
from ebbflow.tf1.graph_transforms.folding import constant
from ebbflow.tf1.graph_transforms.request import Request

FEWEST = 16
"""Weights of fewer numbers are not worth rounding."""

TINY = np.finfo(np.float32).tiny


def _floats(node: Any, fewest: int) -> np.ndarray | None:
    """Return the float32 numbers of a constant, if it is one of that many."""
    if node.op != "Const" or node.attr["dtype"].type != dtypes.float32.as_datatype_enum:
        return None
    value = make_ndarray(node.attr["value"].tensor)
    return value if value.size >= max(fewest, 1) else None


def round_weights(graph_def: Message, request: Request) -> Message:
    """Have the numbers of each constant be the middles of `num_steps` ranges."""
    steps = request.number("num_steps", 256)
    result = with_nodes(graph_def, graph_def.node)
    for node in result.node:
        value = _floats(node, FEWEST)
        if value is not None:
            node.attr["value"].tensor.CopyFrom(constant("", rounded(value, steps)).attr["value"].tensor)
    return result


def rounded(value: np.ndarray, steps: int) -> np.ndarray:
    """Return numbers, each the middle of the range it is in.

    >>> rounded(np.float32([0.0, 0.9, 1.1, 4.0]), 4).tolist()
    [0.5, 0.5, 1.5, 4.5]
    """
    low, high = value.min(), value.max()
    if low == high:
        low, high = min(low, np.float32(0)), max(high, TINY)
    with np.errstate(all="ignore"):  # no steps: infinities, as from TensorFlow
        width = (high - low) / np.float32(steps)
        return np.asarray(low + (np.floor((value - low) / width) + np.float32(0.5)) * width, np.float32)


def quantize_weights(graph_def: Message, request: Request) -> Message:
    """Keep constants of `minimum_size` numbers or more in eight bits, with a Dequantize behind them."""
    fewest = request.number("minimum_size", 1024)
    nodes = []
    for node in graph_def.node:
        value = _floats(node, fewest)
        nodes += [node] if value is None else _in_eight_bits(node.name, value)
    return with_nodes(graph_def, nodes)


def _in_eight_bits(name: str, value: np.ndarray) -> list[Any]:
    low, high = min(value.min(), np.float32(0)), max(value.max(), TINY)
    scale = 255 / (np.float64(high) - low)
    steps = np.clip(_nearest(value * scale) - _nearest(low * scale), 0, 255).astype(np.uint8)
    held = messages.NodeDef(name=f"{name}_quantized_const", op="Const")
    held.attr["dtype"].type = dtypes.quint8.as_datatype_enum
    held.attr["value"].tensor.CopyFrom(make_tensor_proto(steps, dtypes.quint8, list(value.shape)))
    ends = [constant(f"{name}_quantized_{end}", np.float32(number)) for end, number in (("min", low), ("max", high))]
    whole = messages.NodeDef(name=name, op="Dequantize", input=[node.name for node in (held, *ends)])
    whole.attr["T"].type = dtypes.quint8.as_datatype_enum
    whole.attr["mode"].s = b"MIN_FIRST"
    return [held, *ends, whole]


def _nearest(value: Any) -> Any:
    """Return the nearest whole numbers; halves go away from zero."""
    return np.copysign(np.floor(np.abs(value) + 0.5), value)
