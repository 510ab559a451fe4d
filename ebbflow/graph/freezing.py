"""Variables of a GraphDef made constants: `freeze(graph_def, {node: value})`.

A node that held a variable becomes a Const; what read it becomes a copy of it; what handed its handle on (identities,
switches, calls, choices, loops) hands on the value, with bodies of its own. Messages in, messages out: where values
come from, and which nodes hold variables, is for the caller to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes
from ebbflow.core.registry import registry
from ebbflow.graph.graph_def import distinct
from ebbflow.messages.attrs import attr_value
from ebbflow.messages.tensors import make_tensor_proto

REFERENCE_OPS = frozenset(["Variable", "VariableV2", "AutoReloadVariable", "TemporaryVariable"])
HANDLE_OPS = frozenset(["VarHandleOp", "_VarHandlesOp"])
CALLS = {
    "PartitionedCall": ("f",),
    "StatefulPartitionedCall": ("f",),
    "If": ("then_branch", "else_branch"),
    "StatelessIf": ("then_branch", "else_branch"),
    "Case": ("branches",),
    "StatelessCase": ("branches",),
    "While": ("cond", "body"),
    "StatelessWhile": ("cond", "body"),
}
"""Ops that call functions, and the attrs that name them."""
PASSES_ON = frozenset(["Identity", "Switch", "RefSwitch", "Enter", "RefEnter", "Exit", "NextIteration", "Merge"])


def freeze(graph_def: Any, values: Mapping[str, np.ndarray]) -> Any:
    """Return a GraphDef in which the named nodes are constants and whatever took their handles takes the values."""
    frozen = messages.GraphDef()
    frozen.versions.CopyFrom(graph_def.versions)
    functions = {function.signature.name: function for function in graph_def.library.function}
    freezing = _Freezing(functions)
    nodes = [_constant(node, values[node.name]) if node.name in values else _copied(node) for node in graph_def.node]
    types = {name: dtypes.as_dtype(value.dtype).as_datatype_enum for name, value in values.items()}
    frozen.node.extend(freezing.settled(nodes, types))
    frozen.library.function.extend(graph_def.library.function)
    frozen.library.function.extend(freezing.added)
    frozen.library.gradient.extend(graph_def.library.gradient)
    used = _functions_used(frozen)
    kept = [function for function in frozen.library.function if function.signature.name in used]
    del frozen.library.function[:]
    frozen.library.function.extend(kept)
    return frozen


def _constant(node: Any, value: np.ndarray) -> Any:
    result = messages.NodeDef(name=node.name, op="Const", device=node.device)
    dtype = dtypes.as_dtype(value.dtype)
    result.attr["dtype"].type = dtype.as_datatype_enum
    result.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype, list(value.shape)))
    return result


def _copied(node: Any) -> Any:
    result = messages.NodeDef()
    result.CopyFrom(node)
    return result


def _source(edge: str) -> str:
    """Return the node (or, in a body, the argument) that an edge comes from; control edges come from none."""
    return "" if edge.startswith("^") else edge.partition(":")[0]


class _Freezing:
    """One GraphDef being frozen: its functions, and those made for values in the place of handles."""

    def __init__(self, functions: Mapping[str, Any]):
        self._functions = functions
        self._taken = set(functions)
        self._made: dict[Any, str] = {}
        self.added: list[Any] = []

    def settled(self, nodes: list[Any], types: dict[str, int]) -> list[Any]:
        """Return the nodes with those that take a handle (a name in `types`: its variable's dtype) taking a value."""
        waiting, settled, gathers = list(nodes), set(), set()
        changed = True
        while changed:  # once round for graphs in order; more often where a loop leads back
            changed = False
            for i, node in enumerate(waiting):
                given = {at: types[_source(edge)] for at, edge in enumerate(node.input) if _source(edge) in types}
                if not given or node.name in settled:
                    continue
                settled.add(node.name)
                changed = True
                if node.op == "ResourceGather":
                    gathers.add(node.name)
                waiting[i] = self._one(node, given)
                if waiting[i].op in PASSES_ON:
                    types[node.name] = next(iter(given.values()))
        return [extra for node in waiting for extra in ([_axis(node), node] if node.name in gathers else [node])]

    def _one(self, node: Any, given: dict[int, int]) -> Any:
        """Return a node that took handles as inputs number so and so, and now takes values of these dtypes."""
        if node.op in CALLS:
            return self._call(node, given)
        if node.op in PASSES_ON:
            if not node.attr["T"].type or node.attr["T"].type == dtypes.resource.as_datatype_enum:
                node.attr["T"].type = next(iter(given.values()))
            return node
        row = _ROWS.get(node.op)
        if row is None:
            if any(
                node.op.startswith(prefix) for prefix in ("Assign", "Resource", "Scatter", "Apply", "Count", "Sparse")
            ):
                raise ValueError(
                    f"node '{node.name}' ({node.op}) changes a variable that becomes a constant: leave it out of the "
                    "nodes to keep, or leave that variable as it is"
                )
            return node  # it takes a reference, that is a value already
        return row(node, given[0])

    def _call(self, node: Any, given: dict[int, int]) -> Any:
        first = 1 if node.op in ("If", "StatelessIf", "Case", "StatelessCase") else 0
        inside = {at - first: dtype for at, dtype in given.items()}
        loops = node.op in ("While", "StatelessWhile")
        types = node.attr["T" if loops else "Tin"].list.type
        for at, dtype in inside.items():
            types[at] = dtype
        for attr in CALLS[node.op]:
            value = node.attr[attr]
            for one in value.list.func if value.HasField("list") else [value.func]:
                one.name = self._function(one.name, inside, loops and attr == "body")
        if node.op == "StatefulPartitionedCall" and not self._has_state(node.attr["f"].func.name):
            node.op = "PartitionedCall"
        return node

    def _has_state(self, name: str) -> bool:
        """Return whether a function that has been frozen still does more than compute."""
        function = next(function for function in self.added if function.signature.name == name)
        ops = [registry.find(node.op) for node in function.node_def]
        return any(op is None or op.stateful for op in ops)

    def _function(self, name: str, given: dict[int, int], hands_back: bool) -> str:
        """Return the name of a function that takes values as some arguments, and as a loop's body returns them."""
        if name not in self._functions:
            raise ValueError(f"function '{name}' is not in the library of the GraphDef")
        key = (name, tuple(sorted(given.items())), hands_back)
        if key not in self._made:
            self._made[key] = distinct(name + "_frozen", self._taken)
            function = messages.FunctionDef()
            function.CopyFrom(self._functions[name])
            function.signature.name = self._made[key]
            types = {}
            for at, dtype in given.items():
                function.signature.input_arg[at].type = dtype
                types[function.signature.input_arg[at].name] = dtype
                if at in function.arg_attr:
                    function.arg_attr[at].attr.pop("_output_shapes", None)
                if hands_back:
                    function.signature.output_arg[at].type = dtype
            nodes = self.settled([_copied(node) for node in function.node_def], types)
            del function.node_def[:]
            function.node_def.extend(nodes)
            _rename_edges(function)
            self.added.append(function)
        return self._made[key]


# --- what takes a handle ----------------------------------------------------------------------------------------------


def _read(node: Any, dtype: int) -> Any:
    result = messages.NodeDef(name=node.name, op="Identity", device=node.device, input=node.input)
    result.attr["T"].type = dtype
    return result


def _gather(node: Any, dtype: int) -> Any:
    result = messages.NodeDef(name=node.name, op="GatherV2", device=node.device)
    controls = [edge for edge in node.input if edge.startswith("^")]
    result.input.extend([*node.input[:2], f"{node.name}/axis", *controls])
    result.attr["Tparams"].type = dtype
    result.attr["Tindices"].CopyFrom(node.attr["Tindices"])
    result.attr["Taxis"].type = dtypes.int32.as_datatype_enum
    result.attr["batch_dims"].i = node.attr["batch_dims"].i
    return result


def _gather_nd(node: Any, dtype: int) -> Any:
    result = messages.NodeDef(name=node.name, op="GatherNd", device=node.device, input=node.input)
    result.attr["Tparams"].type = dtype
    result.attr["Tindices"].CopyFrom(node.attr["Tindices"])
    return result


def _shape(node: Any, dtype: int) -> Any:
    result = messages.NodeDef(name=node.name, op="Shape", device=node.device, input=node.input)
    result.attr["T"].type = dtype
    result.attr["out_type"].type = node.attr["out_type"].type or dtypes.int32.as_datatype_enum
    return result


def _is_there(node: Any, dtype: int) -> Any:
    return _constant(node, np.array(True))


def _nothing(node: Any, dtype: int) -> Any:
    return messages.NodeDef(name=node.name, op="NoOp", input=[e for e in node.input if e.startswith("^")])


_ROWS: dict[str, Callable[[Any, int], Any]] = {
    "ReadVariableOp": _read,
    "ResourceGather": _gather,
    "ResourceGatherNd": _gather_nd,
    "VariableShape": _shape,
    "VarIsInitializedOp": _is_there,
    "IsVariableInitialized": _is_there,
    "DisableCopyOnRead": _nothing,
}


def _axis(node: Any) -> Any:
    """Return the axis that a gather needs, where one by a handle did not."""
    axis = messages.NodeDef(name=f"{node.name}/axis", op="Const", device=node.device)
    axis.attr["dtype"].CopyFrom(attr_value("type", dtypes.int32))
    axis.attr["value"].tensor.CopyFrom(make_tensor_proto(np.array(0, np.int32)))
    return axis


_OUTPUTS = {"Identity": "output", "GatherV2": "output", "GatherNd": "output", "Shape": "output", "Const": "output"}


def _rename_edges(function: Any) -> None:
    """Have edges name the outputs of what stands there now: `output`, where a ReadVariableOp's was `value`."""
    outputs = {node.name: _OUTPUTS[node.op] for node in function.node_def if node.op in _OUTPUTS}

    def renamed(edge: str) -> str:
        name, colon, _ = edge.partition(":")
        return f"{name}:{outputs[name]}:0" if colon and name in outputs else edge

    for node in function.node_def:
        edges = [f"{e}:output:0" if e == f"{node.name}/axis" else renamed(e) for e in node.input]
        node.input[:] = edges
    for name in list(function.ret):
        function.ret[name] = renamed(function.ret[name])


def _functions_used(graph_def: Any) -> set[str]:
    functions = {function.signature.name: function for function in graph_def.library.function}
    found: set[str] = set()
    stack = [graph_def.node]
    while stack:
        for node in stack.pop():
            named = {node.op, *(f.name for value in node.attr.values() for f in [value.func, *value.list.func])}
            fresh = (named & functions.keys()) - found
            found |= fresh
            stack.extend(functions[name].node_def for name in fresh)
    return found
