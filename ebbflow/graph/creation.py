"""Nodes made by hand: `Graph.create_op`, and `tf.Operation(node_def, graph, ...)`.

Ops called as functions never come here: this is for programs that name an op by its type and give attrs as messages,
as code generators, graph editors and libraries that copy parts of graphs do. Such a node may also be made bare and be
given its inputs later (`_add_input`, then `set_shapes_for_outputs`), which is how TensorFlow before 1.5 was used.
A mixin of `Graph`, which adds the nodes; knows nothing of functions: an attr that names one must be in the graph.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.core.attrs import normalise
from ebbflow.core.convert import convert
from ebbflow.core.op import Op
from ebbflow.core.registry import registry
from ebbflow.core.signature import Arg
from ebbflow.core.source import users
from ebbflow.core.tensor import Tensor
from ebbflow.graph.graph_scopes import VALID_NAME
from ebbflow.graph.symbolic import NOT_LOOKED_FOR, Operation, SymbolicTensor
from ebbflow.messages.attrs import attr_python


class NodeCreation:
    """The part of a Graph that makes nodes from the types of ops."""

    _nodes: list[Operation]
    _by_name: dict[str, Operation]
    _functions: dict[str, Any]
    _lock: Any
    _scope: Any
    _names_in_use: dict[str, int]
    _version: int
    _mutations: int
    _add: Any
    _apply_scopes: Any
    _apply_devices: Any
    _check_not_finalized: Any
    _infer: Any
    unique_name: Any
    control_dependencies: Any
    as_default: Any

    def create_op(
        self, op_type: str, inputs: Sequence[Any], dtypes: Any = None, input_types: Any = None,
        name: str | None = None, attrs: Mapping[str, Any] | None = None, op_def: Any = None,
        compute_shapes: bool = True, compute_device: bool = True,
    ) -> Operation:  # fmt: skip
        """Add a node of the op called `op_type` and return it; `attrs` are AttrValue messages by name."""
        self._check_not_finalized()
        for i, value in enumerate(inputs):
            if not isinstance(value, Tensor):
                raise TypeError(f"Input #{i} is not a tensor: {value}")
        name = name or op_type
        name = name if isinstance(name, str) else name.decode()
        full = name[:-1] if name.endswith("/") else self.unique_name(name)
        op = _declared(op_type, full)
        values = {key: self._attr(op, key, value, full) for key, value in (attrs or {}).items()}
        with self.as_default():
            tensors = [convert(value) for value in inputs]
            _check_types(full, tensors, input_types)
            return self._created(op, full, tensors, values)

    _create_op_internal = create_op

    def _created(self, op: Op, name: str, inputs: Sequence[Any], attrs: dict[str, Any]) -> Operation:
        kept = {key: value for key, value in attrs.items() if key not in op.signature.attrs}
        grouped, settled = op.settle(_grouped(op, name, inputs, attrs), _without(attrs, kept), convert)
        return self._add(op, name, list(inputs), grouped, {**settled, **kept})

    def _attr(self, op: Op, name: str, value: Any, node: str) -> Any:
        """Return an attr in Python's form; what is no message is taken as it is."""
        if not isinstance(value, messages.AttrValue):
            return value
        declared = op.signature.attrs.get(name)
        found = attr_python(value, declared.kind if declared is not None else None)
        if isinstance(found, messages.NameAttrList):
            return self._function_named(found.name, node)
        if isinstance(found, list):
            return tuple(
                self._function_named(item.name, node) if isinstance(item, messages.NameAttrList) else item
                for item in found
            )
        return found

    def _function_named(self, name: str, node: str) -> Any:
        function = self._functions.get(name)
        if function is None:
            raise errors.NotFoundError(None, None, f"node '{node}' calls '{name}', which is no function of the graph")
        return getattr(function, "graph", function)

    # --- tf.Operation(node_def, graph, ...)

    def _fill_node(
        self, node: Operation, node_def: Any, inputs: Sequence[Any], output_types: Any, control_inputs: Sequence[Any],
        input_types: Any, original_op: Any,
    ) -> None:  # fmt: skip
        """Make of a new `node` what a NodeDef says, and add it to the graph."""
        name = node_def.name
        if not VALID_NAME.match(name):
            raise ValueError(f"'{name}' is not a valid node name")
        op = _declared(node_def.op, name)
        attrs = {key: self._attr(op, key, value, name) for key, value in node_def.attr.items()}
        _check_types(name, inputs, input_types)
        bare = not inputs and bool(op.signature.inputs)  # its inputs will be added one by one
        controls = [item if isinstance(item, Operation) else item.op for item in control_inputs]
        kept = _without(attrs, op.signature.attrs)
        if bare:
            defaults = {key: attr.default for key, attr in op.signature.attrs.items() if attr.has_default}
            settled = {**defaults, **normalise(op, _without(attrs, kept)), **kept}
            dims = [None] * len(output_types or op.flat_output_types(settled))
        else:
            with self.as_default():
                grouped, settled = op.settle(_grouped(op, name, inputs, attrs), _without(attrs, kept), convert)
            settled = {**settled, **kept}
            dims = self._infer(op, name, grouped, settled)
        types = op.flat_output_types(settled)
        frame = users(sys._getframe(2))
        with self._lock:
            self._check_not_finalized()
            if name in self._by_name:
                raise ValueError(f"Duplicate node name in graph: '{name}'")
            self._names_in_use.setdefault(name.lower(), 1)
            node._fill(self, op, name, inputs, settled, controls, len(self._nodes), (frame.f_code, frame.f_lasti))
            node._original_op = original_op
            node._outputs = [SymbolicTensor(node, i, t, d) for i, (t, d) in enumerate(zip(types, dims, strict=True))]
            self._nodes.append(node)
            self._by_name[name] = node
            self._version += 1
        if node_def.device:
            node._set_device(node_def.device)

    def _add_op(self, op: Operation, op_name: str | None = None) -> None:
        """Make sure that a node is in this graph: nodes are added as they are made."""
        if not isinstance(op, Operation):
            raise TypeError(f"op must be an Operation: {op}")
        if op.graph is not self:
            raise ValueError(f"{op!r} is not an element of this graph.")

    def _move_to_end(self, node: Operation) -> None:
        """Put a node behind all others, so that the order stays one in which nodes can run."""
        with self._lock:
            self._nodes.remove(node)
            self._nodes.append(node)
            for number, other in enumerate(self._nodes):
                other._id = number
            self._mutations += 1

    def _record_op_seen_by_control_dependencies(self, op: Operation) -> None:
        for controller in self._scope.__dict__.get("controllers") or ():
            controller.inside.add(op)

    def _apply_device_functions(self, op: Operation) -> None:
        devices = self._scope.__dict__.get("devices")
        if devices:
            self._apply_devices(op, devices)

    @property
    def _colocation_stack(self) -> list[Operation]:
        return list(self._scope.__dict__.get("colocation") or ())

    @property
    def _device_function_stack(self) -> list[Any]:
        return list(self._scope.__dict__.get("devices") or ())

    def _get_op_def(self, op_type: str) -> Any:
        return self._op_def_of(_declared(op_type, op_type))  # type: ignore[attr-defined]

    def _is_function(self, name: str) -> bool:
        return name in self._functions

    def _get_function(self, name: str) -> Any:
        return self._functions.get(name)


def node_def(op_type: str, name: str, attrs: Mapping[str, Any] | None = None) -> Any:
    """Return a NodeDef of an op and a name; `attrs` are AttrValue messages."""
    made = messages.NodeDef(op=op_type, name=name)
    for key, value in (attrs or {}).items():
        made.attr[key].CopyFrom(value)
    return made


def set_shapes_for_outputs(op: Operation) -> None:
    """Infer the shapes of a node's outputs anew, from what is known of its inputs now."""
    graph = op.graph
    if op._op.shape_fn is None:
        return
    with graph.as_default():
        grouped = op._op.signature.group_inputs(op._inputs, op._attrs)
        dims = graph._infer(op._op, op.name, grouped, op._attrs)
    for tensor, known in zip(op._outputs, dims, strict=True):
        tensor._dims = known
        tensor._known = NOT_LOOKED_FOR


def _declared(op_type: str, name: str) -> Op:
    op = registry.find(op_type)
    if op is None:
        raise errors.NotFoundError(None, None, f"Op type not registered '{op_type}' (node '{name}')")
    return op


def _check_types(name: str, inputs: Sequence[Any], wanted: Any) -> None:
    if not wanted:
        return
    types = [dtypes.as_dtype(t) for t in wanted]
    if len(types) != len(inputs) or not all(t.is_compatible_with(x.dtype) for x, t in zip(inputs, types, strict=True)):
        raise TypeError(
            f"In op '{name}', input types ({[x.dtype for x in inputs]}) are not compatible with expected types "
            f"({types})"
        )


def _without(attrs: Mapping[str, Any], names: Any) -> dict[str, Any]:
    return {key: value for key, value in attrs.items() if key not in names}


def _grouped(op: Op, name: str, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> list[Any]:
    """Return flat inputs as the op declares them. A list whose length no attr tells takes what the others leave."""
    args = op.signature.inputs
    if not op.signature.takes_lists:
        counts = [1] * len(args)
    else:
        told = [_count(arg, attrs) for arg in args]
        open_lists = max(sum(count is None for count in told), 1)
        spare = (len(inputs) - sum(count or 0 for count in told)) // open_lists
        counts = [spare if count is None else count for count in told]
    if sum(counts) != len(inputs):
        raise ValueError(f"node '{name}' has {len(inputs)} inputs, but Op<name={op.name}> takes {sum(counts)}")
    grouped: list[Any] = []
    rest = list(inputs)
    for arg, count in zip(args, counts, strict=True):
        taken, rest = rest[:count], rest[count:]
        grouped.append(taken if arg.is_list else taken[0])
    return grouped


def _count(arg: Arg, attrs: Mapping[str, Any]) -> int | None:
    if not arg.is_list:
        return 1
    counted = attrs.get(arg.type_attr or "") if arg.is_type_list else attrs.get(arg.number_attr or "")
    if counted is None:
        return None
    return len(counted) if arg.is_type_list else counted
