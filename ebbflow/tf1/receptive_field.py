"""How much of an image an entry of a net's output sees (`tf.contrib.receptive_field`), from the nodes of a GraphDef.

From the output backwards, each layer widens the field: by its kernel, times the strides behind it. Where ways meet, the
widest counts, and all must be centred alike. A padding that depends on an unknown size of the image stays None.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.core.registry import registry
from ebbflow.core.typing import Message
from ebbflow.graph.graph import Graph
from ebbflow.messages.tensors import make_ndarray

KEEPS = frozenset(
    (
        "BiasAdd", "ConcatV2", "Const", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "Identity", "LRN",
        "Placeholder", "PlaceholderWithDefault", "ReadVariableOp", "VarHandleOp", "VariableV2",
    )
)  # fmt: skip
"""Kinds of nodes, beside element-wise ones, whose entries see what those of their inputs see."""


class Layer(NamedTuple):
    """What a node does along x and y: kernel, stride, padding in front, padding altogether."""

    kernel_size_x: Any
    kernel_size_y: Any
    stride_x: Any
    stride_y: Any
    padding_x: Any
    padding_y: Any
    total_padding_x: Any
    total_padding_y: Any


class NodeInfo(NamedTuple):
    """A node's place in the order, and the sizes [height, width] of its input and output where they are known."""

    order: int
    node: Any
    input_size: Any
    output_size: Any


class ReceptiveField:
    """Size, stride and padding along x and y; entries of the output and of the image by each other's places."""

    def __init__(self, size: Any, stride: Any, padding: Any) -> None:
        self.size, self.stride, self.padding = np.asarray(size), np.asarray(stride), np.asarray(padding)

    def __iter__(self) -> Iterator[Any]:
        return iter([*self.size.tolist(), *self.stride.tolist(), *self.padding.tolist()])

    def _along(self, axis: Any) -> tuple[Any, Any, Any]:
        axes = slice(None) if axis is None else axis
        if any(value is None for value in np.atleast_1d(self.padding[axes])):
            raise ValueError("coordinates need a padding that is known; give the input's resolution")
        return self.size[axes], self.stride[axes], self.padding[axes]

    def compute_input_center_coordinates(self, y: Any, axis: Any = None) -> Any:
        """Return the middle of what entries of the output see."""
        size, stride, padding = self._along(axis)
        return -padding + np.asarray(y) * stride + (size - 1) / 2

    def compute_feature_coordinates(self, x: Any, axis: Any = None) -> Any:
        """Return the entries of the output whose middles these places of the image are."""
        size, stride, padding = self._along(axis)
        return (np.asarray(x) + padding + (1 - size) / 2) / stride


# --- one layer --------------------------------------------------------------------------------------------------------


def _source(name: str) -> str:
    return name.partition(":")[0].removeprefix("^")


def _constant(node: Any, at: int, attr: str, nodes: Mapping[str, Any]) -> list[int]:
    """Return a list of integers that a node has as an attr, or is given by a constant."""
    if attr in node.attr:
        return list(node.attr[attr].list.i)
    source = nodes[_source(node.input[at])]
    if source.op != "Const":
        raise ValueError(f"{node.name}: {attr} must be constant, and is from {source.name} ({source.op})")
    return make_ndarray(source.attr["value"].tensor).tolist()


def _kernel(node: Any, nodes: Mapping[str, Any]) -> tuple[int, int]:
    """Return a convolution's kernel size (x, y)."""
    source = nodes[_source(node.input[1])]
    while source.op in ("Identity", "ReadVariableOp"):
        source = nodes[_source(source.input[0])]
    if source.op == "Const":
        dims = [dim.size for dim in source.attr["value"].tensor.tensor_shape.dim]
    elif "shape" in source.attr:
        dims = [dim.size for dim in source.attr["shape"].shape.dim]
    else:
        raise ValueError(f"{node.name}: the kernel must be a variable or a constant, not {source.op}")
    if len(dims) != 4:
        raise ValueError(f"{node.name}: the kernel must have 4 axes, got {dims}")
    return dims[1], dims[0]


def _padding(node: Any, kernel: int, stride: int, size: int | None) -> tuple[int | None, int | None]:
    """Return a window's padding in front and altogether along one axis."""
    way = node.attr["padding"].s.decode()
    if way == "VALID" or (way == "SAME" and kernel == 1):
        return 0, 0
    if way != "SAME":
        raise ValueError(f"{node.name}: padding must be VALID or SAME, got {way!r}")
    if size is None and stride != 1:
        return None, None
    left = 0 if stride == 1 or size is None else size % stride
    total = max(kernel - (left or stride), 0)
    return total // 2, total


def _window(node: Any, kernel: tuple[int, int], strides: Sequence[int], resolution: Any) -> Layer:
    sizes = [None, None] if resolution is None else resolution
    x = _padding(node, kernel[0], strides[2], sizes[1])
    y = _padding(node, kernel[1], strides[1], sizes[0])
    return Layer(*kernel, strides[2], strides[1], x[0], y[0], x[1], y[1])


def get_layer_params(
    node: Any, name_to_node: Mapping[str, Any], input_resolution: Any = None, force: bool = False
) -> Layer:
    """Return what a node does; where that is not known, Nones if `force`, else ValueError."""
    if node.attr["data_format"].s not in (b"", b"NHWC"):
        raise ValueError(f"{node.name}: only data_format NHWC is understood, got {node.attr['data_format'].s!r}")
    if node.op in ("Conv2D", "DepthwiseConv2dNative"):
        strides = list(node.attr["strides"].list.i)
        return _window(node, _kernel(node, name_to_node), strides, input_resolution)
    if node.op in ("MaxPool", "AvgPool", "MaxPoolV2"):
        size = _constant(node, 1, "ksize", name_to_node)
        return _window(node, (size[2], size[1]), _constant(node, 2, "strides", name_to_node), input_resolution)
    if node.op == "Pad":
        pads = make_ndarray(name_to_node[_source(node.input[1])].attr["value"].tensor)
        if pads[0].any() or pads[3].any():
            raise ValueError(f"{node.name}: only height and width may be padded, got {pads.tolist()}")
        (top, bottom), (left, right) = pads[1].tolist(), pads[2].tolist()
        return Layer(1, 1, 1, 1, left, top, left + right, top + bottom)
    declared = registry.find(node.op)
    if node.op in KEEPS or (declared is not None and declared.facts.elementwise):
        return Layer(1, 1, 1, 1, 0, 0, 0, 0)
    if force:
        return Layer(*[None] * 8)
    raise ValueError(f"{node.name}: unknown layer for operation {node.op}")


# --- the whole graph --------------------------------------------------------------------------------------------------


def parse_graph_nodes(graph_def: Any) -> dict[str, Any]:
    """Return the nodes of a graph by their names."""
    return {node.name: node for node in graph_def.node}


def _ordered(nodes: Mapping[str, Any]) -> list[Any]:
    """Return all nodes, each after its inputs."""
    done: dict[str, Any] = {}
    for first in nodes:
        stack = [first]
        while stack:
            name = stack[-1]
            missing = [_source(i) for i in nodes[name].input if _source(i) not in done and _source(i) in nodes]
            stack.extend(missing)
            if not missing:
                done.setdefault(stack.pop(), nodes[name])
    return list(done.values())


def _size_after(layer: Layer, size: Any) -> Any:
    if size is None or None in layer:
        return None
    y = math.ceil((size[0] - layer.kernel_size_y + 1 + layer.total_padding_y) / layer.stride_y)
    x = math.ceil((size[1] - layer.kernel_size_x + 1 + layer.total_padding_x) / layer.stride_x)
    return [y, x]


def get_compute_order(
    graph_def: Message | Graph, input_node_name: str = "", input_node_size: Sequence[int] | None = None
) -> tuple[dict[str, NodeInfo], dict[str, Any]]:
    """Return each node's place and sizes, by its name, and the nodes by their names."""
    if isinstance(graph_def, Graph):
        graph_def = graph_def.as_graph_def()
    nodes = parse_graph_nodes(graph_def)
    found: dict[str, NodeInfo] = {}
    for order, node in enumerate(_ordered(nodes)):
        if node.name == input_node_name:
            found[node.name] = NodeInfo(order, node, None, None if input_node_size is None else list(input_node_size))
            continue
        above = (found[_source(name)].output_size for name in node.input if name[0] != "^")
        size = next((known for known in above if known is not None), None)
        layer = None if size is None else get_layer_params(node, nodes, size, force=True)
        found[node.name] = NodeInfo(order, node, size, None if layer is None else _size_after(layer, size))
    return found, nodes


class _Seen(NamedTuple):
    """What the output sees of a node, along one axis."""

    size: int
    stride: int
    padding: int | None


def _before(seen: _Seen, kernel: int, stride: int, padding: int | None) -> _Seen:
    """Return what is seen of a layer's input, by what is seen of its output."""
    inner = None if padding is None or seen.padding is None else stride * seen.padding + padding
    return _Seen(stride * seen.size + kernel - stride, stride * seen.stride, inner)


def _met(old: _Seen | None, new: _Seen, name: str) -> _Seen:
    """Return what is seen by two ways together."""
    if old is None:
        return new
    if old.stride != new.stride:
        raise ValueError(f"Graph is not aligned: the strides to {name} are {old.stride} and {new.stride}")
    if None in (old.padding, new.padding):
        return _Seen(max(old.size, new.size), old.stride, None)
    middles = [seen.padding - (seen.size - 1) / 2 for seen in (old, new)]  # type: ignore[operator]
    if middles[0] != middles[1]:
        raise ValueError(f"Graph is not aligned: the middles of what is seen of {name} differ by two ways")
    return max(old, new)


def compute_receptive_field_from_graph_def(
    graph_def: Message | Graph,
    input_node: str,
    output_node: str,
    stop_propagation: Sequence[str] | None = None,
    input_resolution: Sequence[int] | None = None,
) -> ReceptiveField:
    """Return what an entry of the output sees of the input; ValueError where that differs from entry to entry."""
    order, nodes = get_compute_order(graph_def, input_node, input_resolution)
    for name in (input_node, output_node):
        if name not in nodes:
            raise ValueError(f"{name} is no node of the graph")
    seen: dict[str, tuple[_Seen, _Seen]] = {output_node: (_Seen(1, 1, 0), _Seen(1, 1, 0))}
    after_input = _leading_on(order, input_node)
    for info in sorted(order.values(), reverse=True, key=lambda info: info.order):
        if info.node.name not in seen or info.node.name == input_node:
            continue
        layer = get_layer_params(info.node, nodes, info.input_size)
        x, y = seen[info.node.name]
        x = _before(x, layer.kernel_size_x, layer.stride_x, layer.padding_x)
        y = _before(y, layer.kernel_size_y, layer.stride_y, layer.padding_y)
        for name in {_source(name) for name in info.node.input if name[0] != "^"}:
            if name in after_input and name not in (stop_propagation or ()):
                old = seen.get(name, (None, None))
                seen[name] = _met(old[0], x, name), _met(old[1], y, name)
    if input_node not in seen:
        raise ValueError(f"Output node {output_node} sees nothing of input node {input_node}")
    (x, y) = seen[input_node]
    return ReceptiveField((x.size, y.size), (x.stride, y.stride), (x.padding, y.padding))


def _leading_on(order: Mapping[str, NodeInfo], input_node: str) -> set[str]:
    """Return the nodes that see the input."""
    reached = {input_node}
    for info in sorted(order.values(), key=lambda info: info.order):
        if any(_source(name) in reached for name in info.node.input if name[0] != "^"):
            reached.add(info.node.name)
    return reached
