"""Graphs as messages: GraphDef, NodeDef, OpDef in TensorFlow's exact forms.

Every declared attr is written, defaults included, as TensorFlow does; attrs that start with an underscore are written
with the kind their value shows. Function bodies that nodes call go into the library, each under a name of its own.
Knows the messages (loaded on first use) and the graph's nodes.
"""

from __future__ import annotations

import ast
import itertools
import os
import re
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import context, dtypes
from ebbflow.core.dtypes import DType
from ebbflow.core.registry import registry
from ebbflow.core.typing import Message
from ebbflow.graph.low_level_def import LowLevelWriter, takes_references
from ebbflow.graph.younger_attrs import younger_attrs
from ebbflow.messages.attrs import attr_value
from ebbflow.messages.tensors import make_tensor_proto, shape_proto
from ebbflow.platform import files

PRODUCER = 2474
"""The GraphDef version that TensorFlow 2.21 writes."""

RELEASE = "2.21.0"
"""The release of TensorFlow whose forms are written."""

GIT_VERSION = "unknown"

_KINDS = {bool: "bool", int: "int", float: "float", str: "string", bytes: "string", DType: "type"}


def graph_def(graph: Any, from_version: int | None = None, add_shapes: bool = False) -> Any:
    """Return the nodes (made after `from_version`) as a GraphDef."""
    result = messages.GraphDef()
    result.versions.CopyFrom(graph.graph_def_versions)
    library = Library()
    low_level = LowLevelWriter(result, lambda written, node: fill_node(written, node, library), set(graph._by_name))
    for node in graph._nodes:
        if from_version is not None and node._id < from_version:
            continue
        if takes_references(node):
            low_level.write(node)
            continue
        written = result.node.add()
        fill_node(written, node, library)
        if "_class" in node._attrs:
            _forget_strangers(written, graph)
        if add_shapes and node._outputs:
            written.attr["_output_shapes"].CopyFrom(attr_value("list(shape)", [t._dims for t in node._outputs]))
    for function in graph._functions.values():
        result.library.function.add().CopyFrom(function.definition)
    for body in library.bodies:  # grows while it is walked: a body may call others
        fill_function(result.library.function.add(), body, library)
        if getattr(body, "gradient_body", None) is not None:
            backward = library.name_of(body.gradient_body())
            result.library.gradient.add(function_name=library.name_of(body), gradient_func=backward)
    if result.library.function:
        result.versions.min_consumer = max(12, result.versions.min_consumer)
    return result


def function_of(node: Any) -> Any:
    """Return the body that a node calls by its name, as TF 1's functions are called; None for every other node."""
    body = node._attrs.get("f") if "executor_type" in node._attrs else None
    return body if getattr(body, "called_by_name", False) else None


def _forget_strangers(written: Any, graph: Any) -> None:
    """Take out of a node's wish to stand beside others those that are not in the graph: TensorFlow would refuse it."""
    places = written.attr["_class"].list.s
    known = [p for p in places if not p.startswith(b"loc:@") or p[5:].decode("utf-8", "replace") in graph._by_name]
    if len(known) < len(places):
        del places[:]
        places.extend(known)
    if not known:
        del written.attr["_class"]


def node_def(node: Any) -> Any:
    """Return one node as a NodeDef."""
    result = messages.NodeDef()
    fill_node(result, node, Library())
    return result


def fill_node(message: Any, node: Any, library: Library) -> None:
    """Write a node into a NodeDef."""
    message.name = node.name
    body = function_of(node)
    message.op = node.type if body is None else library.name_of(body)
    message.device = node.device
    message.input.extend(t._as_node_def_input() for t in node._inputs)
    message.input.extend(f"^{n.name}" for n in sorted(node._control_inputs, key=lambda n: n._id))
    declared = node._op.signature.attrs
    younger = frozenset() if context.switches.v2_behavior else younger_attrs().get(node.type, frozenset())
    for name, value in node._attrs.items():
        attr = declared.get(name)
        if body is not None and (attr is not None or name == "_gradient_op_type"):
            continue  # what calls a function by its name has no attrs; its gradient is the library's
        if name in younger and (value == attr.default or name == "debug_name"):
            continue
        kind = attr.kind if attr is not None else _kind(value)
        if kind == "message":
            message.attr[name].CopyFrom(value)
        elif kind == "tensor":
            message.attr[name].tensor.CopyFrom(tensor_proto(value, node._attrs.get("dtype")))
        elif value is None and kind != "shape":
            continue
        elif kind == "func":
            message.attr[name].CopyFrom(attr_value(kind, library.name_of(value)))
        elif kind == "list(func)":
            message.attr[name].CopyFrom(attr_value(kind, [library.name_of(one) for one in value]))
        else:
            message.attr[name].CopyFrom(attr_value(kind, value))


def _kind(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"list({_kind(value[0]) if value else 'string'})"
    return "message" if isinstance(value, messages.AttrValue) else _KINDS.get(type(value), "string")


def tensor_proto(value: Any, dtype: Any = None) -> Any:
    """Return an array as a TensorProto; one value spread over a shape is written once.

    Text is a declared default, `tensor([255, 0, 0, 255])`: bytes, which TensorFlow writes one by one.
    """
    if isinstance(value, str):
        numbers = ast.literal_eval(value.removeprefix("tensor(").removesuffix(")"))
        result = messages.TensorProto(dtype=dtypes.uint8.as_datatype_enum, int_val=numbers)
        result.tensor_shape.dim.add(size=len(numbers))
        return result
    if value.dtype == np.float16 and value.size and not context.switches.v2_behavior:
        return _halves(value)
    if value.size > 1 and not any(value.strides):
        return make_tensor_proto(value.reshape(-1)[0], dtype, list(value.shape), allow_broadcast=True)
    return make_tensor_proto(value, dtype, list(value.shape))


def _halves(value: np.ndarray) -> Any:
    """Return half floats as TF 1 writes them: bit by bit, each in an integer of its own."""
    result = messages.TensorProto(dtype=dtypes.float16.as_datatype_enum)
    result.tensor_shape.CopyFrom(shape_proto(value.shape))
    result.half_val.extend(np.ascontiguousarray(value).view(np.uint16).reshape(-1).tolist())
    return result


# --- functions --------------------------------------------------------------------------------------------------------


class Library:
    """The function bodies that nodes call, and the name each is written under."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self._names: dict[int, str] = {}
        self._taken: set[str] = set()

    def name_of(self, body: Any) -> Any:
        """Return the name of a body; what is a name already stays as it is."""
        if not hasattr(body, "outputs"):
            return body
        if id(body) not in self._names:
            name = getattr(body, "function_name", None) or body.name.strip("_/") or "body"
            self._names[id(body)] = distinct(name, self._taken)
            self.bodies.append(body)
        return self._names[id(body)]


def distinct(name: str, taken: set[str]) -> str:
    """Return `name`, with a number behind it where it is taken, and take it.

    >>> taken = set()
    >>> distinct("a", taken), distinct("a", taken)
    ('a', 'a_1')
    """
    choices = itertools.chain([name], (f"{name}_{n}" for n in itertools.count(1)))
    found = next(choice for choice in choices if choice not in taken)
    taken.add(found)
    return found


def fill_function(message: Any, body: Any, library: Library) -> None:
    """Write a body into a FunctionDef: arguments are no nodes there, and edges name the outputs they leave by."""
    signature = message.signature
    signature.name, signature.description = library.name_of(body), getattr(body, "description", "")
    taken: set[str] = set()
    arguments = {id(t): distinct(_argument_name(t.op.name), taken) for t in body.inputs}
    nodes = {t.op for t in body.inputs}
    for tensor in body.inputs:
        signature.input_arg.add(name=arguments[id(tensor)], type=tensor.dtype.base_dtype.as_datatype_enum)
    for tensor, name in zip(body.outputs, _output_names(body), strict=True):
        signature.output_arg.add(name=name, type=tensor.dtype.base_dtype.as_datatype_enum)
        message.ret[name] = _edge(tensor, arguments)
    for name, value in getattr(body, "attributes", {}).items():
        message.attr[name].CopyFrom(
            value if isinstance(value, messages.AttrValue) else attr_value(_kind_of_value(name, value), value)
        )
    chosen = getattr(body, "effects", None)  # where a part of a graph is the body, what of the rest runs, too
    wanted = None if chosen is None else _needed([*(t.op for t in body.outputs), *chosen], nodes)
    for node in body._nodes:
        if node in nodes or (wanted is not None and node not in wanted):
            continue
        written = message.node_def.add()
        fill_node(written, node, library)
        written.input[: len(node._inputs)] = [_edge(t, arguments) for t in node._inputs]
        signature.is_stateful |= node._op.stateful
        if node._op.stateful if chosen is None else node in chosen:  # TensorFlow drops an effect that is not named here
            signature.control_output.append(node.name)
            message.control_ret[node.name] = node.name


def _kind_of_value(name: str, value: Any) -> str:
    """Return the kind of attr that a function's attribute becomes."""
    for types, kind in ((bool, "bool"), (int, "int"), (float, "float"), ((str, bytes), "string")):
        if isinstance(value, types):
            return kind
    raise ValueError(f"Attribute {name} must be bool, int, float, string, or AttrValue. Got {type(value)}.")


def _needed(ends: list[Any], given: set[Any]) -> set[Any]:
    """Return the nodes that some nodes need, themselves among them; what is given needs nothing."""
    needed, waiting = set(ends), [node for node in ends if node not in given]
    while waiting:
        node = waiting.pop()
        for other in [*(tensor.op for tensor in node._inputs), *node.control_inputs]:
            if other not in needed:
                needed.add(other)
                if other not in given:
                    waiting.append(other)
    return needed


def _output_names(body: Any) -> list[str]:
    """Return what the results of a body are called in a FunctionDef, where arguments have their names already."""
    taken: set[str] = set()
    for tensor in body.inputs:
        distinct(_argument_name(tensor.op.name), taken)
    own = getattr(body, "output_names", ())
    names = own if len(own) == len(body.outputs) else [_argument_name(tensor.op.name) for tensor in body.outputs]
    return [distinct(name, taken) for name in names]


def _argument_name(name: str) -> str:
    clean = re.sub(r"[^a-z0-9_]", "_", name.lower())
    return clean if clean[:1].isalpha() else f"arg_{clean}"


def _edge(tensor: Any, arguments: dict[int, str]) -> str:
    """Return how a function body names a tensor: an argument, or NODE:OUTPUT:INDEX."""
    if id(tensor) in arguments:
        return arguments[id(tensor)]
    node, at = tensor.op, 0
    body = function_of(node)
    if body is not None:
        return f"{node.name}:{_output_names(body)[tensor._value_index]}:0"
    for arg in node._op.signature.outputs:
        count = arg.count(node._attrs)
        if tensor._value_index < at + count:
            return f"{node.name}:{arg.name}:{tensor._value_index - at}"
        at += count
    raise AssertionError(f"{tensor!r} is no output of its node")


# --- interfaces -------------------------------------------------------------------------------------------------------


def op_def(op: Any) -> Any:
    """Return an op's interface as an OpDef."""
    signature = op.signature
    result = messages.OpDef(name=op.name)
    for args, field in ((signature.inputs, result.input_arg), (signature.outputs, result.output_arg)):
        for arg in args:
            _fill_arg(field.add(), arg)
    for attr in signature.attrs.values():
        written = result.attr.add()
        written.name, written.type = attr.name, attr.kind
        if attr.has_default:
            if attr.kind == "tensor":
                written.default_value.tensor.CopyFrom(tensor_proto(attr.default))
            else:
                written.default_value.CopyFrom(attr_value(attr.kind, attr.default))
        if attr.minimum is not None:
            written.has_minimum, written.minimum = True, attr.minimum
        if attr.allowed is not None:
            base = "type" if "type" in attr.kind else "string"
            written.allowed_values.CopyFrom(attr_value(f"list({base})", list(attr.allowed)))
    for flag in signature.flags:
        if flag.startswith("deprecated@"):
            result.deprecation.version = int(flag.removeprefix("deprecated@"))
    result.is_stateful = "stateful" in signature.flags
    result.is_commutative = "commutative" in signature.flags
    result.is_aggregate = "aggregate" in signature.flags
    result.is_distributed_communication = op.facts.distributed_communication
    result.allows_uninitialized_input = "allows_uninitialized_input" in signature.flags
    return result


def _fill_arg(message: Any, arg: Any) -> None:
    message.name = arg.name
    message.is_ref = arg.is_ref
    if arg.type is not None:
        message.type = arg.type.as_datatype_enum
    elif arg.is_type_list:
        message.type_list_attr = arg.type_attr
    else:
        message.type_attr = arg.type_attr
    if arg.number_attr is not None:
        message.number_attr = arg.number_attr


def op_def_named(name: str) -> Any:
    """Return the interface of the op of that name as an OpDef, or None."""
    op = registry.find(name)
    return None if op is None else op_def(op)


def get_registered_ops() -> dict[str, Any]:
    """Return the interfaces of all ops by name."""
    return {name: op_def(op) for name, op in registry.declare_all().items()}


# --- files ------------------------------------------------------------------------------------------------------------


def write_graph(graph_or_graph_def: Message, logdir: Any, name: str, as_text: bool = True) -> str:
    """Write a graph to a file, as text or as bytes, and return where it is."""
    definition = graph_or_graph_def
    if hasattr(definition, "as_graph_def"):
        definition = definition.as_graph_def()
    files.makedirs(logdir)
    path = os.path.join(os.fspath(logdir), name)
    written = messages.to_text(definition) if as_text else messages.serialize(definition)
    files.atomic_write_string_to_file(path, written)
    return path
