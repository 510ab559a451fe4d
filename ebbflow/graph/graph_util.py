"""`tf.graph_util` on GraphDefs: cutting out what a result needs, taking out nodes that only training uses.

Messages in, messages out; nothing is run. What is asked of a session is in `functions.convert_to_constants`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow import messages
from ebbflow.core import device, dtypes
from ebbflow.core.typing import Message
from ebbflow.graph.scope_names import node_name
from ebbflow.messages.tensors import make_ndarray

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph


VARIABLE_OPS = ("Assign", "AssignAdd", "AssignSub", "Queue", "ScatterAdd", "ScatterSub", "ScatterUpdate",
                "TruncatedNormal", "Variable", "VariableV2")  # fmt: skip
"""Ops that `must_run_on_cpu` keeps on the host where variables are to be pinned there."""


def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> Any:
    """Return the shape of the tensor that an input of a NodeDef names."""
    name = input_name if ":" in input_name else input_name + ":0"
    return graph.get_tensor_by_name(re.sub(r"^\^", "", name)).get_shape()


def must_run_on_cpu(node: Message, pin_variables_on_cpu: bool = False) -> bool:
    """Return whether a node (or its NodeDef) can only run on the host: summaries, text and its like.

    >>> must_run_on_cpu(messages.NodeDef(name="a", op="MergeSummary")), must_run_on_cpu(messages.NodeDef(op="MatMul"))
    (True, False)
    """
    definition = node if isinstance(node, messages.NodeDef) else node.node_def
    if not isinstance(definition, messages.NodeDef):
        raise TypeError(f"node is expected to be an Operation or a NodeDef, got {type(node)}")
    if definition.op.startswith(("ScalarSummary", "HistogramSummary", "MergeSummary")):
        return True
    if pin_variables_on_cpu and definition.op in VARIABLE_OPS:
        return True
    if definition.op == "Const":
        return definition.attr["dtype"].type == dtypes.string.as_datatype_enum
    stitches = definition.op in ("DynamicStitch", "ParallelDynamicStitch")
    return stitches and definition.attr["T"].type == dtypes.int32.as_datatype_enum


def set_cpu0(device_string: str) -> str:
    """Return a device's name, on the host of the same task.

    >>> set_cpu0("/job:worker/device:GPU:1")
    '/job:worker/device:CPU:0'
    """
    parsed = device.DeviceSpec.from_string(device_string)
    return parsed.replace(device_type="CPU", device_index=0).to_string()


def extract_sub_graph(graph_def: Message, dest_nodes: Sequence[str]) -> Message:
    """Return a GraphDef of the nodes that `dest_nodes` (names) need, in their old order."""
    if not isinstance(graph_def, messages.GraphDef):
        raise TypeError(f"graph_def must be a graph_pb2.GraphDef proto, but got type {type(graph_def)}.")
    if isinstance(dest_nodes, str):
        raise TypeError(f"dest_nodes must be a list; it must be an iterable of names, got {dest_nodes!r}")
    by_name = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        if name not in by_name:
            raise AssertionError(f"{name} is not in graph")
    kept = reached(by_name, dest_nodes)
    result = messages.GraphDef()
    result.node.extend(node for node in graph_def.node if node.name in kept)
    return with_rest(result, graph_def)


def with_rest(result: Any, graph_def: Any) -> Any:
    """Return a GraphDef with the functions and versions of another."""
    for field in ("library", "versions"):
        if graph_def.HasField(field):
            getattr(result, field).CopyFrom(getattr(graph_def, field))
    return result


def reached(by_name: dict[str, Any], ends: Iterable[str]) -> set[str]:
    """Return the names of the nodes that `ends` need, themselves included."""
    found: set[str] = set()
    stack = list(ends)
    while stack:
        name = stack.pop()
        if name in by_name and name not in found:
            found.add(name)
            stack.extend(node_name(edge) for edge in by_name[name].input)
    return found


def remove_training_nodes(input_graph: Message, protected_nodes: Iterable[str] | None = None) -> Message:
    """Return a GraphDef without nodes that inference does not need: checks of numbers, and identities between nodes.

    An identity stays where it is protected, has (or is the target of) a control edge, or joins two devices.
    """
    protected = set(protected_nodes or ())
    checked = _without(input_graph, {"CheckNumerics"}, protected)
    named = {node_name(edge) for node in checked.node for edge in node.input if edge.startswith("^")}
    named |= {
        node_name(place.decode())
        for node in checked.node
        if "_class" in node.attr
        for place in node.attr["_class"].list.s
    }
    held = {node.name for node in checked.node if any(edge.startswith("^") for edge in node.input)}
    return _without(checked, {"Identity"}, protected | named | held)


def strip_debug_nodes(graph_def: Any) -> None:
    """Make nodes that only check or print do nothing, in a GraphDef and its functions; what waits for them still may.

    `Assert` and `PrintV2` become `NoOp`, `CheckNumerics` and `Print` become `Identity`.
    """
    for node in (*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)):
        if node.op not in ("Assert", "PrintV2", "CheckNumerics", "Print"):
            continue
        passed = 0 if node.op in ("Assert", "PrintV2") else 1
        node.op = "Identity" if passed else "NoOp"
        edges = [*node.input[:passed], *(_waiting(edge) for edge in node.input[passed:])]
        node.input[:] = list(dict.fromkeys(edges))
        for name in [name for name in node.attr if not name.startswith("_") and not (passed and name == "T")]:
            del node.attr[name]


def _waiting(edge: str) -> str:
    """Return the edge by which a node waits for where another edge comes from.

    >>> _waiting("a:1"), _waiting("^b")
    ('^a', '^b')
    """
    return edge if edge.startswith("^") else f"^{node_name(edge)}"


def _without(graph_def: Any, ops: set[str], protected: set[str]) -> Any:
    """Return a GraphDef in which the users of certain nodes take those nodes' first inputs; nobody waits for them."""
    instead = {
        node.name: node.input[0]
        for node in graph_def.node
        if node.op in ops and node.input and node.name not in protected
    }
    result = messages.GraphDef()
    for node in graph_def.node:
        if node.name in instead:
            continue
        written = result.node.add()
        written.CopyFrom(node)
        kept = [edge for edge in node.input if not edge.startswith("^") or edge[1:] not in instead]
        written.input[:] = [_followed(edge, instead) for edge in kept]
    return with_rest(result, graph_def)


def _followed(edge: str, instead: dict[str, str]) -> str:
    for _ in instead:  # a circle of identities ends too
        if edge.removesuffix(":0") not in instead:
            break
        edge = instead[edge.removesuffix(":0")]
    return edge


def graph_defs_equal(graph_def_1: Message, graph_def_2: Message, treat_nan_as_equal: bool = False) -> bool:
    """Return whether two GraphDefs have the same nodes and functions, in whatever order."""
    return _in_order(graph_def_1, treat_nan_as_equal) == _in_order(graph_def_2, treat_nan_as_equal)


def _in_order(graph_def: Any, treat_nan_as_equal: bool) -> Any:
    ordered = messages.GraphDef()
    ordered.CopyFrom(graph_def)
    ordered.ClearField("versions")
    functions = ordered.library.function
    functions.sort(key=lambda function: function.signature.name)
    for nodes in [ordered.node, *(function.node_def for function in functions)]:
        nodes.sort(key=lambda node: node.name)
    data = ordered.SerializeToString(deterministic=True)
    return data if treat_nan_as_equal or not _has_nan(ordered) else object()


def _has_nan(graph_def: Any) -> bool:
    bodies = [graph_def.node, *(function.node_def for function in graph_def.library.function)]
    values = (value for body in bodies for node in body for value in node.attr.values())
    return any(_nan_in(value) for value in values)


def _nan_in(value: Any) -> bool:
    kind = value.WhichOneof("value")
    if kind == "f":
        return value.f != value.f
    if kind != "tensor" or not dtypes.as_dtype(value.tensor.dtype).is_floating:
        return False
    array = make_ndarray(value.tensor)
    return bool((array != array).any())
