"""GraphDefs brought into a graph: `tf.import_graph_def`.

Nodes written with Switch, Merge, Enter and their like are made functional on the way (`functionalize`); function
bodies of the library become graphs of their own where a node calls them. A file may come from a stranger: unknown ops,
attrs that an op has not, inputs of other types or numbers are typed errors that name the node. Knows the messages,
the declared ops and `functionalize`; knows nothing of files.
"""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ebbflow import messages
from ebbflow.core import context, dtypes, errors
from ebbflow.core.attrs import normalise
from ebbflow.core.convert import convert
from ebbflow.core.op import Op
from ebbflow.core.registry import registry
from ebbflow.core.shape import merge_dims
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Message
from ebbflow.functions.dataflow_v1.functionalize import functionalize
from ebbflow.functions.dataflow_v1.low_level import LOW_LEVEL, Item
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.typed_function import gradient_of, named_rule, rule_of_body
from ebbflow.graph.graph_def import PRODUCER, RELEASE
from ebbflow.graph.symbolic import Operation
from ebbflow.messages.attrs import Placeholder, attr_python, kind_of
from ebbflow.messages.tensors import one_number, shape_dims

GIVEN = "given"
"""What stands, among the nodes, for a tensor that the caller gives."""

GRADIENT = "SymbolicGradient"
"""The op by which TensorFlow 1 differentiates a call: read as a call of the function that does so."""


def import_graph_def(
    graph_def: Message,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: object = None,
    producer_op_list: Message | None = None,
) -> list[Any] | None:
    """Add the nodes of a GraphDef to the current graph, under `name`; return the `return_elements` (names), if any.

    `input_map` gives tensors to use in place of those with certain names in the GraphDef.
    """
    graph_def = _checked_graph_def(graph_def)
    _check_versions(graph_def.versions)
    wanted = _checked_elements(return_elements)
    if input_map is not None and not isinstance(input_map, Mapping):
        raise TypeError(f"Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}")
    graph = context.default_graph() if context.current_graph() is None else context.current_graph()
    with context.scope(graph):
        if name == "" and not all(isinstance(v, Tensor) for v in (input_map or {}).values()):
            raise ValueError(
                "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values. Try "
                "calling tf.convert_to_tensor() on `input_map` values before calling tf.import_graph_def()."
            )
        with graph.name_scope("import" if name is None else name) as scope:
            given = {_key(k): convert(v) for k, v in (input_map or {}).items()}
        prefix = scope[:-1] if scope.endswith("/") else scope
        with graph.name_scope(None), _without_collections():
            return _Import(graph_def, graph, prefix, _producer(producer_op_list)).run(given, wanted)


def import_part(graph_def: Any, graph: Any, ops: Mapping[str, Op]) -> None:
    """Fill a graph with the nodes of a GraphDef as they are called there; `ops` are there beside those of the registry.

    For parts of a graph that another process has cut: they have nodes that no program can name.
    """
    _check_versions(graph_def.versions)
    with context.scope(graph), graph.name_scope(None), _without_collections():
        _Import(graph_def, graph, "", {}, ops).run({}, None)


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """Look for no cycles of garbage meanwhile: all that is made stays, and going over it again takes a fifth longer."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _checked_graph_def(graph_def: Any) -> Any:
    if isinstance(graph_def, messages.GraphDef):
        return graph_def
    try:
        return messages.GraphDef.FromString(graph_def.SerializeToString())  # made by another protobuf pool
    except AttributeError:
        raise TypeError(f"Argument `graph_def` must be a GraphDef proto, got {type(graph_def).__name__}.") from None


def _check_versions(versions: Any) -> None:
    """Refuse a graph that says it is not for readers of this version."""
    if versions.min_consumer > PRODUCER:
        raise ValueError(
            f"GraphDef min consumer version {versions.min_consumer} above current version {PRODUCER} for TensorFlow "
            f"{RELEASE}.  Please upgrade TensorFlow."
        )
    if versions.producer < 0:
        raise ValueError(
            f"GraphDef producer version {versions.producer} below min producer 0 supported by TensorFlow {RELEASE}.  "
            "Please regenerate your graph."
        )
    if PRODUCER in versions.bad_consumers:
        raise ValueError(f"GraphDef disallows consumer version {PRODUCER}, which this is")


def _checked_elements(elements: Any) -> list[str] | None:
    if elements is None:
        return None
    found = [element.decode() if isinstance(element, bytes) else element for element in elements]
    for element in found:
        if not isinstance(element, str):
            raise TypeError(f"Argument `return_elements` must be a list of strings. Received {element!r}.")
        if element.count(":") > 1:
            raise ValueError(f"Cannot convert '{element}' to a tensor name.")
    return found


def _key(name: Any) -> str:
    """Return the name of a tensor in the form that edges have: without `:0`."""
    name = name.decode() if isinstance(name, bytes) else name
    if not isinstance(name, str):
        raise TypeError(f"Argument `input_map` must have strings for keys, got {name!r}")
    return name.removesuffix(":0")


def _producer(op_list: Any) -> dict[str, Any]:
    """Return the interfaces as the program that wrote the graph knew them, by name."""
    if op_list is None:
        return {}
    if not hasattr(op_list, "op"):
        raise TypeError(f"Argument `producer_op_list` must be an OpList proto, got {type(op_list).__name__}.")
    return {op.name: op for op in op_list.op}


def _op_named(name: str) -> Op:
    """Return an op of a node that was let in: it may be one that programs cannot name."""
    return registry.internal.get(name) or registry[name]


class _Import:
    """One GraphDef on its way into one graph."""

    def __init__(
        self, graph_def: Any, graph: Any, prefix: str, producer: Mapping[str, Any], ops: Mapping[str, Op] | None = None
    ):
        self._graph, self._prefix = graph, prefix
        self._nodes, self._versions = graph_def.node, graph_def.versions
        self._library = Library(graph_def.library, graph, producer, ops)
        self._keeps_names = ops is not None
        self._library.check_ops(graph_def.node)
        self._items: dict[str, Item] = {}

    def run(self, given: dict[str, Any], wanted: list[str] | None) -> list[Any] | None:
        for node in self._nodes:
            name = node.name
            if name in self._items:
                raise ValueError(f"Node '{name}' is not unique")
            full = f"{self._prefix}/{name}" if self._prefix else name
            full = full if self._keeps_names else self._name_for(full)
            self._items[name] = self._library.item(node, full)
        for name, item in self._items.items():
            self._prefix_colocation(name, item.attrs)
        used = self._connect(given)
        unused = [k for k in given if k not in used and not self._gives(k)]
        if unused:
            names = ", ".join(k if ":" in k else f"{k}:0" for k in unused)
            raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{names}]")
        self._graph._take_versions(self._versions)
        found = functionalize([*self._items.values(), *used.values()], self._graph, emit)
        self._place_colocated()
        return None if wanted is None else [self._element(found, name) for name in wanted]

    def _name_for(self, name: str) -> str:
        """Return a name no other node has; one that only a scope without nodes has is free."""
        graph, key = self._graph, name.lower()
        if name in graph._by_name or (
            key in graph._names_in_use and any(other.startswith(f"{name}/") for other in graph._by_name)
        ):
            return graph.unique_name(name)
        graph._names_in_use.setdefault(key, 1)
        return name

    def _gives(self, key: str) -> bool:
        """Return whether a key of `input_map` is an output of a node here, if one that no other node takes."""
        name, _, index = key.partition(":")
        item = self._items.get(name.removeprefix("^"))
        if item is None or item.op not in registry.names():
            return item is not None
        outputs = registry[item.op].signature.outputs
        return name.startswith("^") or int(index or 0) < sum(arg.count(item.attrs) for arg in outputs)

    def _connect(self, given: dict[str, Any]) -> dict[str, Item]:
        """Give every item its inputs; return those that stand for given tensors, by the names they replace."""
        stand_ins: dict[str, Item] = {}
        for node in self._nodes:
            item = self._items[node.name]
            for text in node.input:
                key = _key(text) if given else text
                if key in given:
                    tensor = given[key]
                    if key not in stand_ins:
                        stand_ins[key] = Item(f"{tensor.op.name}/{key}", GIVEN, origin=tensor)
                    item.inputs.append((stand_ins[key], 0))
                elif text.startswith("^"):
                    item.controls.append(self._find(text[1:], text, node))
                else:
                    name, colon, index = text.partition(":")
                    if colon and index and not index.isdigit():
                        raise ValueError(f"Node '{node.name}': Unknown input node '{text}'")
                    item.inputs.append((self._find(name, text, node), int(index or 0)))
        return stand_ins

    def _place_colocated(self) -> None:
        """Put nodes where those are that they are colocated with, whatever else was said."""
        for item in self._items.values():
            node = self._graph._by_name.get(item.name) if "_class" in item.attrs else None
            groups = [group.decode().removeprefix("loc:@") for group in node.colocation_groups()] if node else []
            others = [self._graph._by_name.get(name) for name in groups if name != item.name]
            if node is not None and others:
                node._set_device(next((other.device for other in others if other is not None and other.device), ""))

    def _find(self, name: str, text: str, node: Any) -> Item:
        if name not in self._items:
            raise ValueError(f"Node '{node.name}': Unknown input node '{text}'")
        return self._items[name]

    def _prefix_colocation(self, name: str, attrs: dict[str, Any]) -> None:
        if isinstance(attrs.get("_class"), tuple):
            attrs["_class"] = tuple(self._renamed(place, name) for place in attrs["_class"])

    def _renamed(self, place: str | bytes, name: str) -> bytes:
        text = place if isinstance(place, str) else place.decode("utf-8", "replace")
        if not text.startswith("loc:@"):
            return place if isinstance(place, bytes) else text.encode()
        other = text.removeprefix("loc:@")
        if other not in self._items:
            raise ValueError(f"Node '{name}' expects to be colocated with unknown node '{other}'")
        return f"loc:@{self._items[other].name}".encode()

    def _element(self, found: Any, name: str) -> Any:
        base, colon, index = name.partition(":")
        if base not in self._items or (colon and not index.isdigit()):
            kind = "tensor" if colon else "node"
            raise ValueError(f"Requested return {kind} '{name}' not found in graph def")
        if not colon:
            return found(self._items[base], None)
        try:
            return found(self._items[base], int(index))
        except ValueError:
            node = found(self._items[base], None)
            raise ValueError(
                f"Invalid return output {index} of node '{base}', which has {len(node.outputs)} output(s)"
            ) from None


# --- functions --------------------------------------------------------------------------------------------------------


class Library:
    """The functions of a GraphDef, made graphs when they are first asked for."""

    def __init__(
        self,
        library: Any,
        graph: Any,
        producer: Mapping[str, Any] | None = None,
        ops: Mapping[str, Op] | None = None,
    ):
        self._graph = graph
        self._ops = ops or {}
        self._producer = producer or {}
        self._functions = {function.signature.name: function for function in library.function}
        self._gradients = {pair.function_name: pair.gradient_func for pair in library.gradient}
        self._rules: dict[str, tuple[str, Any]] = {}  # by function: the name of its own rule, and that
        self._bodies: dict[Any, FuncGraph] = {}
        self._backward: dict[FuncGraph, FuncGraph] = {}  # what computes the gradient of a body
        self._open: set[str] = set()
        self._known_attrs: dict[Any, dict[str, Any]] = {}

    def check_ops(self, nodes: Sequence[Any], names: Collection[str] | None = None) -> None:
        """Refuse ops that nobody has declared, in nodes or in functions (those of `names`): all of them at once."""
        unknown: dict[str, str] = {}
        checked: set[str] = set()
        functions = [f for name, f in self._functions.items() if names is None or name in names]
        for owner, body in [("", nodes), *((f.signature.name, f.node_def) for f in functions)]:
            for node in body:
                if node.op in checked:
                    continue
                checked.add(node.op)
                if node.op not in self._functions and node.op != GRADIENT and self._op(node.op) is None:
                    place = f" of function '{owner}'" if owner else ""
                    unknown[node.op] = f"'{node.op}' (node '{node.name}'{place})"
        if unknown:
            raise errors.NotFoundError(None, None, f"Op type not registered {', '.join(unknown.values())}")

    def _op(self, name: str) -> Op | None:
        return self._ops.get(name) or registry.find(name)

    def item(self, node: Any, name: str, bound: Mapping[str, Any] | None = None) -> Item:
        """Return a node as an item; `bound` are the attrs of the function whose body it is in."""
        if node.op in self._functions:
            return self._call_item(node, name, bound or {})
        if node.op == GRADIENT:
            return self._item_of_call(self._gradient_of(node), node, name)
        op = self._op(node.op)
        if op is None:
            raise errors.NotFoundError(None, None, f"Op type not registered '{node.op}' (node '{node.name}')")
        return Item(name, node.op, attrs=self._settled(op, node, bound or {}), origin=node.device)

    def _call_item(self, node: Any, name: str, bound: Mapping[str, Any]) -> Item:
        """Return a node whose op is a function, as a call of it."""
        given = {k: _bound(attr_python(node.attr[k]), bound) for k in node.attr if not k.startswith("_")}
        body = self.body(node.op, given)
        item = self._item_of_call(body, node, name)
        body.called_by_name = True
        if node.op in self._gradients:
            item.attrs["_gradient_op_type"] = self._rule(node.op, body)
        return item

    def _gradient_of(self, node: Any) -> FuncGraph:
        """Return what computes the gradient of the function that a SymbolicGradient names."""
        function = node.attr["f"].func.name
        if function in self._gradients:
            return self.body(self._gradients[function], {})
        body = self.body(function, {k: attr_python(v) for k, v in node.attr["f"].func.attr.items()})
        if body not in self._backward:
            self._backward[body] = gradient_of(body)
        return self._backward[body]

    def _item_of_call(self, body: FuncGraph, node: Any, name: str) -> Item:
        types = {"Tin": [t.dtype.base_dtype for t in body.inputs], "Tout": [t.dtype.base_dtype for t in body.outputs]}
        op = registry["StatefulPartitionedCall" if body.stateful else "PartitionedCall"]
        attrs = {n: a.default for n, a in op.signature.attrs.items() if a.has_default}
        settled = {**attrs, **{k: tuple(v) for k, v in types.items()}, "f": body}
        return Item(name, op.name, attrs=settled, origin=node.device)

    def _rule(self, function: str, body: FuncGraph) -> str:
        """Return the name of the gradient rule that the library says a function has."""
        body.gradient_body = functools.partial(self.body, self._gradients[function], {})
        if function not in self._rules:
            rule = rule_of_body(body.gradient_body)
            self._rules[function] = named_rule(function, rule), rule
        name, body.gradient_rule = self._rules[function]
        return name

    def _settled(self, op: Op, node: Any, bound: Mapping[str, Any]) -> dict[str, Any]:
        """Return a node's attrs as Python values. Most nodes are like others: those are looked up."""
        if bound:
            return self._attrs(op, node, bound)
        if op.name == "Const":
            return _plain_constant(node.attr) or self._attrs(op, node, bound)
        key = (op.name, tuple([(name, value.SerializeToString()) for name, value in node.attr.items()]))
        found = self._known_attrs.get(key)
        if found is None:
            found = self._known_attrs[key] = self._attrs(op, node, bound)
        return dict(found)

    def _attrs(self, op: Op, node: Any, bound: Mapping[str, Any]) -> dict[str, Any]:
        declared = op.signature.attrs
        found = {name: attr.default for name, attr in declared.items() if attr.has_default}
        for name in node.attr:
            if name in declared:
                found[name] = self._value(_bound(_python(node, name, declared[name].kind), bound))
            elif name.startswith("_") or not self._says_nothing(node, name):
                found[name] = _kept(name, node.attr[name])  # of a younger TensorFlow, perhaps
        missing = [name for name in declared if name not in found]
        if missing:
            raise ValueError(f"NodeDef missing attr '{missing[0]}' from Op<name={op.name}>; NodeDef: '{node.name}'")
        if op.name == "Const" and node.attr["value"].tensor.dtype != found["dtype"].as_datatype_enum:
            given = dtypes.as_dtype(node.attr["value"].tensor.dtype).name
            raise ValueError(
                f"Type mismatch between value ({given}) and dtype ({found['dtype'].name}); NodeDef: '{node.name}'"
            )
        return _checked_attrs(op, found, node)

    def _says_nothing(self, node: Any, name: str) -> bool:
        """Return whether an attr unknown here has the value that the graph's writer took as its default."""
        known = self._producer.get(node.op)
        attr = next((a for a in known.attr if a.name == name), None) if known is not None else None
        return attr is not None and attr.HasField("default_value") and attr.default_value == node.attr[name]

    def _value(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return tuple(self._value(v) for v in value)
        if isinstance(value, messages.NameAttrList):
            if not value.name:
                return None
            return self.body(value.name, {k: attr_python(v) for k, v in value.attr.items()})
        return value

    def body(self, name: str, bound: Mapping[str, Any]) -> FuncGraph:
        """Return the graph of a function, for these values of its own attrs."""
        if name not in self._functions:
            raise errors.NotFoundError(None, None, f"Function '{name}' is not in the library of the GraphDef")
        if name in self._open:
            raise errors.InvalidArgumentError(None, None, f"function '{name}' calls itself: it would never end")
        key = (name, tuple(sorted((k, repr(v)) for k, v in bound.items() if not k.startswith("_"))))
        if key not in self._bodies:
            self._open.add(name)
            try:
                self._bodies[key] = self._built(self._functions[name], bound)
            finally:
                self._open.discard(name)
        return self._bodies[key]

    def _built(self, function: Any, bound: Mapping[str, Any]) -> FuncGraph:
        graph = FuncGraph(function.signature.name, None)
        graph.function_name = function.signature.name
        values: dict[str, Any] = {}
        for i, arg in enumerate(function.signature.input_arg):
            dims = _argument_dims(function, i)
            tensor = graph.argument(_argument_type(arg, bound), dims, arg.name)
            graph.inputs.append(tensor)
            values[arg.name] = (Item(arg.name, GIVEN, origin=tensor), 0)
        items = {node.name: self.item(node, node.name, bound) for node in function.node_def}
        for node in function.node_def:
            for text in node.input:
                if text.startswith("^"):
                    control = values[text[1:]][0] if text[1:] in values else items.get(text[1:])
                    if control is not None and control.op != GIVEN:
                        items[node.name].controls.append(control)
                else:
                    items[node.name].inputs.append(_edge(text, values, items))
        with context.scope(graph):
            everything = [*[item for item, _ in values.values()], *items.values()]
            found = functionalize(everything, graph, emit)
            ends = [_edge(function.ret[arg.name], values, items) for arg in function.signature.output_arg]
            graph.outputs = [found(item, index) for item, index in ends]
            effects = [items[name] for name in dict.fromkeys(function.control_ret.values()) if name in items]
            graph.control_outputs = [found(item, None) for item in effects]
        graph.structured_outputs = list(graph.outputs)
        graph.output_names = [arg.name for arg in function.signature.output_arg]
        return graph


def _plain_constant(attrs: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the attrs of a constant that is one number and nothing else, as most are; None if it is another."""
    if len(attrs) != 2 or "value" not in attrs or "dtype" not in attrs:
        return None
    array = one_number(attrs["value"].tensor)
    if array is None or attrs["dtype"].type != attrs["value"].tensor.dtype:
        return None
    return {"value": array, "dtype": dtypes.as_dtype(attrs["dtype"].type)}


def _checked_attrs(op: Op, attrs: dict[str, Any], node: Any) -> dict[str, Any]:
    """Refuse values that the op does not allow."""
    try:
        return {**attrs, **normalise(op, {k: v for k, v in attrs.items() if k in op.signature.attrs})}
    except (TypeError, ValueError) as error:
        raise ValueError(f"{error} NodeDef: '{node.name}'") from None


def _kept(name: str, attr: Any) -> Any:
    """Return an attr that no op declares as Python knows it, or as it is: it will be written again as it was."""
    kind = kind_of(attr) or ""
    if name == "_class" and kind in ("", "list(any)"):
        return ()  # an empty list may be of anything
    simple = kind.removeprefix("list(").rstrip(")") in ("string", "int", "bool", "float", "type")
    if not simple and name != "_output_shapes":
        return attr
    value = attr_python(attr)
    return tuple(value) if isinstance(value, list) else value


def _bound(value: Any, bound: Mapping[str, Any]) -> Any:
    if isinstance(value, Placeholder):
        if value.name not in bound:
            raise ValueError(f"the function's attr '{value.name}' has no value here")
        return bound[value.name]
    return value


def _python(node: Any, name: str, kind: str) -> Any:
    try:
        return attr_python(node.attr[name], kind)
    except errors.InvalidArgumentError as error:
        raise ValueError(f"{error.message}; attr '{name}' of node '{node.name}'") from None


def _argument_type(arg: Any, bound: Mapping[str, Any]) -> Any:
    if arg.type_attr:
        return _bound(Placeholder(arg.type_attr), bound)
    from_number = attr_python(messages.AttrValue(type=arg.type))
    return from_number.base_dtype


def _argument_dims(function: Any, number: int) -> Any:
    attrs = function.arg_attr[number].attr if number in function.arg_attr else {}
    if "_output_shapes" in attrs:
        shapes = attr_python(attrs["_output_shapes"])
        return shapes[0] if shapes else None
    if "_input_shapes" not in function.attr:
        return None
    known = function.attr["_input_shapes"].list.shape
    return shape_dims(known[number]) if number < len(known) else None


def _edge(text: str, values: Mapping[str, Any], items: Mapping[str, Item]) -> tuple[Item, int]:
    """Return what an edge of a function body names: an argument, NODE:OUTPUT:INDEX or NODE:OUTPUT."""
    if text in values:
        return values[text]
    name, _, rest = text.partition(":")
    if name not in items:
        raise ValueError(f"a function body has no node or argument '{text}'")
    output, _, index = rest.partition(":")
    return items[name], _first_of(items[name], output) + int(index or 0)


def _first_of(item: Item, output: str) -> int:
    """Return the number of the first tensor of a declared output."""
    at = 0
    for arg in _op_named(item.op).signature.outputs:
        if arg.name == output:
            return at
        at += arg.count(item.attrs)
    body = item.attrs.get("f")
    if isinstance(body, FuncGraph) and body.called_by_name and output in body.output_names:
        return body.output_names.index(output)
    raise ValueError(f"'{item.name}' ({item.op}) has no output '{output}'")


# --- nodes ------------------------------------------------------------------------------------------------------------


def emit(item: Item, inputs: list[Any], graph: Any) -> list[Any]:
    """Add the node that an item stands for; return its outputs (the node itself if it has none)."""
    if item.op == GIVEN:
        return [graph.take(item.origin) if isinstance(graph, FuncGraph) else item.origin]
    op, attrs = _op_named(item.op), item.attrs
    stated = attrs.get("_output_shapes", ())
    if stated:
        attrs = {k: v for k, v in attrs.items() if k != "_output_shapes"}
    node: Operation = graph._add(op, item.name, inputs, _grouped(op, item, inputs), attrs)
    if item.origin:
        graph._place(node, item.origin)
    for tensor, dims in zip(node._outputs, stated, strict=False):
        if item.op not in LOW_LEVEL:
            tensor._dims = _merged(node, tensor._dims, dims)
    return node._outputs or [node]


def _merged(node: Operation, dims: Any, stated: Any) -> Any:
    try:
        return merge_dims(dims, stated)
    except ValueError:
        raise ValueError(
            f"Node '{node.name}' has an _output_shapes attr inconsistent with the shape that was inferred: "
            f"{stated} against {dims}"
        ) from None


def _grouped(op: Op, item: Item, inputs: list[Any]) -> list[Any]:
    """Return the inputs as the op declares them; refuse a wrong number, or wrong types."""
    types: list[Any] = op.signature.input_types(item.attrs)
    if None in types:  # a type that is written as nothing
        raise ValueError(f"NodeDef '{item.name}' ({op.name}) does not say the type of its input {types.index(None)}")
    for i, (tensor, wanted) in enumerate(zip(inputs, types, strict=False)):
        if tensor._dtype is not wanted and tensor.dtype.base_dtype is not wanted.base_dtype:
            raise ValueError(
                f"Input {i} of node {item.name} was passed {dtypes.c_name(tensor.dtype)} from {tensor.name} "
                f"incompatible with expected {dtypes.c_name(wanted)}."
            )
    if len(inputs) != len(types):
        wants = ", ".join(map(dtypes.c_name, types))
        raise ValueError(
            f"NodeDef expected inputs '{wants}' do not match {len(inputs)} inputs specified; Op<name={op.name}>; "
            f"NodeDef: '{item.name}'"
        )
    return op.signature.group_inputs(inputs, item.attrs)
