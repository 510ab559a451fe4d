"""Transforms that compute nothing: names, devices, attrs, nodes left out, order.

Each takes a GraphDef and what is asked, and returns another GraphDef.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ebbflow import messages
from ebbflow.core import dtypes
from ebbflow.core.registry import registry
from ebbflow.core.signature import Attr
from ebbflow.core.typing import Message
from ebbflow.graph.graph_util import reached
from ebbflow.graph.scope_names import node_name
from ebbflow.graph.younger_attrs import younger_attrs
from ebbflow.messages.attrs import attr_value
from ebbflow.ops.sizes import invalid
from ebbflow.tf1.graph_transforms.request import Request

EVERY = "*"
"""Stands for all ops where one may be named."""

PLACEHOLDERS = ("Placeholder", "PlaceholderWithDefault")
"""Ops of what a run is given."""


def with_nodes(graph_def: Any, nodes: Iterable[Any]) -> Any:
    """Return a GraphDef of copies of these nodes, with another's functions."""
    result = messages.GraphDef()
    if graph_def.HasField("library"):
        result.library.CopyFrom(graph_def.library)
    for node in nodes:
        result.node.add().CopyFrom(node)
    return result


def by_name(graph_def: Any) -> dict[str, Any]:
    """Return the nodes of a GraphDef by their names."""
    return {node.name: node for node in graph_def.node}


def is_control(edge: str) -> bool:
    """Return whether an edge says only what comes first."""
    return edge.startswith("^")


def renamed(edge: str, names: dict[str, str]) -> str:
    """Return an edge that comes from a node by its new name.

    >>> renamed("a:1", {"a": "b"}), renamed("^a", {"a": "b"}), renamed("c", {"a": "b"})
    ('b:1', '^b', 'c')
    """
    source = node_name(edge)
    if source not in names:
        return edge
    return "^" + names[source] if is_control(edge) else names[source] + edge[len(source) :]


def _each(graph_def: Any, change: Callable[[Any], None]) -> Any:
    """Return a GraphDef whose nodes have been changed."""
    result = with_nodes(graph_def, graph_def.node)
    for node in result.node:
        change(node)
    return result


# --- devices, ops, attrs ----------------------------------------------------------------------------------------------


def remove_device(graph_def: Message, request: Request) -> Message:
    """Say of no node where it runs."""
    return _each(graph_def, lambda node: node.ClearField("device"))


def set_device(graph_def: Message, request: Request) -> Message:
    """Say where nodes run: all, or (`if_default`) those of which nothing is said."""
    device, spare = request.one("device", ""), request.flag("if_default")

    def change(node: Any) -> None:
        if not (spare and node.device):
            node.device = device

    return _each(graph_def, change)


def rename_op(graph_def: Message, request: Request) -> Message:
    """Have nodes of one op be of another."""
    says = (
        "rename_op expects exactly one 'old_op_name' and 'new_op_name' argument, "
        "e.g. rename_op(old_op_name=Mul, new_op_name=Multiply)"
    )
    old, new = request.needed("old_op_name", "new_op_name", says=says)

    def change(node: Any) -> None:
        if node.op == old:
            node.op = new

    return _each(graph_def, change)


def remove_attribute(graph_def: Message, request: Request) -> Message:
    """Take an attr away from all nodes, or from those of one op."""
    says = (
        "remove_attribute expects exactly one 'attribute_name' argument, "
        "e.g. remove_attribute(op_name=Mul, attribute_name=foo)"
    )
    (name,) = request.needed("attribute_name", says=says)
    op = request.one("op_name", EVERY)

    def change(node: Any) -> None:
        if op in (EVERY, node.op) and name in node.attr:
            del node.attr[name]

    return _each(graph_def, change)


def rename_attribute(graph_def: Message, request: Request) -> Message:
    """Call an attr something else, in all nodes or in those of one op."""
    says = (
        "rename_attribute expects exactly one 'old_attribute_name' and one 'new_attribute_name' argument, "
        "e.g. rename_attribute(old_attribute_name=foo, new_attribute_name=bar)"
    )
    old, new = request.needed("old_attribute_name", "new_attribute_name", says=says)
    op = request.one("op_name", EVERY)

    def change(node: Any) -> None:
        if op in (EVERY, node.op) and old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]

    return _each(graph_def, change)


def add_default_attributes(graph_def: Message, request: Request) -> Message:
    """Give nodes the attrs that they lack and their ops have a default for."""

    def change(node: Any) -> None:
        op = registry.find(node.op)
        attrs: dict[str, Attr] = op.signature.attrs if op is not None else {}
        younger = younger_attrs().get(node.op, ())  # older programs do not know them
        for name, attr in attrs.items():
            if attr.has_default and name not in node.attr and name not in younger:
                node.attr[name].CopyFrom(attr_value(attr.kind, attr.default))

    return _each(graph_def, change)


# --- nodes left out ---------------------------------------------------------------------------------------------------


def needed(graph_def: Message, outputs: Iterable[str], inputs: Iterable[str] = ()) -> Message:
    """Return a GraphDef of what outputs need, as far back as the inputs."""
    nodes = by_name(graph_def)
    kept = reached(nodes, outputs)
    return with_nodes(graph_def, (node for node in graph_def.node if node.name in kept or node.name in set(inputs)))


def strip_unused_nodes(graph_def: Message, request: Request) -> Message:
    """Keep what lies between inputs and outputs; inputs that are none become placeholders."""
    shapes, types = _by_input(request, "shape"), _by_input(request, "type")
    nodes = by_name(graph_def)
    for name in request.outputs:
        if name not in nodes:
            raise invalid(f"Input node {name} not found in graph")
    cut = with_nodes(graph_def, graph_def.node)
    for node in cut.node:
        if node.name in request.inputs and node.op not in PLACEHOLDERS:
            node.op = "Placeholder"
            node.device = ""
            del node.input[:]
            node.attr.clear()
            node.attr["dtype"].type = _type_named(types.get(node.name, request.one("type", "float")))
            node.attr["shape"].shape.CopyFrom(_shape_named(shapes.get(node.name, request.one("shape", ""))))
    return needed(cut, request.outputs, request.inputs)


def _by_input(request: Request, what: str) -> dict[str, str]:
    """Return the types or shapes that are given for single inputs."""
    names, values = request.params.get("name", []), request.params.get(f"{what}_for_name", [])
    if values and len(values) != len(names):
        raise invalid(f"You need to pass a {what}_for_name for every name: got {len(values)} for {len(names)}")
    return dict(zip(names, values))


def _type_named(name: str) -> int:
    try:
        return int(dtypes.as_dtype(name).as_datatype_enum)
    except TypeError:
        raise invalid(f"Couldn't understand type argument '{name}'") from None


def _shape_named(text: str) -> Any:
    shape = messages.TensorShapeProto()
    for size in text.split(",") if text else []:
        try:
            shape.dim.add().size = int(size)
        except ValueError:
            raise invalid(f"Couldn't understand shape argument '{text}': {size!r} is not a number") from None
    return shape


def remove_nodes(graph_def: Message, request: Request) -> Message:
    """Leave out nodes of some ops that take and give one tensor; outputs stay, and what is waited for."""
    ops = set(request.params.get("op", ()))
    if not ops:
        raise invalid("remove_nodes expects at least one 'op'argument, e.g. remove_nodes(op=Identity)")
    most = request.number("max_inputs", 1)
    waited_for = {node_name(edge) for node in graph_def.node for edge in node.input if is_control(edge)}
    gone = {
        node.name: node.input[0]
        for node in graph_def.node
        if node.op in ops
        and node.name not in request.ends | waited_for
        and 1 <= len(node.input) <= most
        and not any(is_control(edge) for edge in node.input)
    }

    def followed(edge: str) -> str:
        while edge.removesuffix(":0") in gone:
            edge = gone[edge.removesuffix(":0")]
        return edge

    result = with_nodes(graph_def, (node for node in graph_def.node if node.name not in gone))
    for node in result.node:
        node.input[:] = [followed(edge) for edge in node.input]
    return needed(result, request.outputs, request.inputs)


def remove_control_dependencies(graph_def: Message, request: Request) -> Message:
    """Have no node wait for another whose tensors it does not take."""

    def change(node: Any) -> None:
        node.input[:] = [edge for edge in node.input if not is_control(edge)]

    return _each(graph_def, change)


def merge_duplicate_nodes(graph_def: Message, request: Request) -> Message:
    """Keep one of several nodes that compute the same; what draws or keeps state is never the same."""
    result = with_nodes(graph_def, graph_def.node)
    while True:
        first: dict[bytes, str] = {}
        instead: dict[str, str] = {}
        ends_first = sorted(result.node, key=lambda node: node.name not in request.ends)
        for node in ends_first:
            kept = first.setdefault(_computes(node), node.name)
            if kept != node.name and node.name not in request.ends:
                instead[node.name] = kept
        if not instead:
            return result
        result = with_nodes(result, (node for node in result.node if node.name not in instead))
        for node in result.node:
            node.input[:] = [renamed(edge, instead) for edge in node.input]


def _computes(node: Any) -> bytes:
    """Return what is the same for nodes that compute the same."""
    op = registry.find(node.op)
    stateful = op is None or op.keeps_state or node.op in PLACEHOLDERS
    content = messages.NodeDef()
    content.CopyFrom(node)
    if not stateful:
        content.ClearField("name")
        content.input[:] = [edge.removesuffix(":0") for edge in node.input]
    return bytes(content.SerializeToString(deterministic=True))


# --- names and order --------------------------------------------------------------------------------------------------

_DIGITS = string.digits + string.ascii_letters


def short_names() -> Iterator[str]:
    """Yield the shortest names there are.

    >>> [next(names) for names in [short_names()] for _ in range(12)]
    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b']
    """
    yield _DIGITS[0]
    for length in itertools.count(1):
        for digits in itertools.product(_DIGITS, repeat=length):
            if digits[0] != _DIGITS[0]:
                yield "".join(digits)


def obfuscate_names(graph_def: Message, request: Request) -> Message:
    """Call nodes by short names that say nothing; inputs and outputs keep theirs."""
    names = (name for name in short_names() if name not in request.ends)
    called = {node.name: next(names) for node in graph_def.node if node.name not in request.ends}

    def change(node: Any) -> None:
        node.name = called.get(node.name, node.name)
        node.input[:] = [renamed(edge, called) for edge in node.input]

    return _each(graph_def, change)


def sort_by_execution_order(graph_def: Message, request: Request) -> Message:
    """Put nodes behind those that they take something from, or else in the order that they had."""
    nodes = by_name(graph_def)
    placed: dict[str, Any] = {}
    for end in nodes:
        waiting = [end]
        begun: set[str] = set()
        while waiting:
            name = waiting[-1]
            before = [node_name(edge) for edge in nodes[name].input]
            missing = [source for source in before if source in nodes and source not in placed and source not in begun]
            begun.add(name)  # a loop leads back to what has begun: its edge is no order
            if missing:
                waiting.append(missing[0])
            else:
                placed.setdefault(name, nodes[name])
                waiting.pop()
    return with_nodes(graph_def, placed.values())
