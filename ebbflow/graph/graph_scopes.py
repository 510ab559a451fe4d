"""The scopes of a graph: names, devices, colocation, control dependencies, gradient overrides, containers.

Each thread has its own stacks, so that threads can build one graph together. `_apply_scopes` writes what is open onto
a new node. A mixin of `Graph`, which keeps the names in use and the lock.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, KeysView, Sequence, ValuesView
from typing import Any

from ebbflow import messages
from ebbflow.core import context, device
from ebbflow.core.convert import convert
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.messages.attrs import attr_python

VALID_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_VALID_SCOPE = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")

SEVERAL = (list, tuple, set, frozenset, Iterator, KeysView, ValuesView)
"""What control inputs may come in: a tensor can be gone over, too, but is one."""


class GraphScopes:
    """The part of a Graph that keeps open scopes."""

    brought_out: Callable[[Any, Any], Any] | None = None  # of a branch: how what is made in it is had in another graph

    _scope: Any
    _lock: Any
    _names_in_use: dict[str, int]
    _overrides: dict[str, str]
    _attr_overrides: dict[str, Any]
    _kernel_labels: dict[str, str]
    _container: str
    as_graph_element: Any

    # --- scopes: each thread has its own
    # -------------------------------------------------------------------------------

    @property
    def _name_stack(self) -> str:
        return getattr(self._scope, "names", "")

    @_name_stack.setter
    def _name_stack(self, value: str) -> None:
        self._scope.names = value

    def _stack(self, which: str) -> list[Any]:
        found = self._scope.__dict__.get(which)
        if found is None:
            found = self._scope.__dict__[which] = []
        return found

    @property
    def asks_for_places(self) -> bool:
        """Whether a scope that is open says where nodes belong: on a device, or beside others."""
        scope = self._scope.__dict__
        return bool(scope.get("colocation") or scope.get("devices"))

    @property
    def _variable_creator_stack(self) -> list[Any]:
        return list(self._stack("variable_creators"))

    def switch_to_thread_local(self) -> None:
        """Have each thread open device, colocation and dependency scopes of its own: that is so from the start."""

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Any]:
        """Make this the graph that ops are added to inside the block."""
        with context.scope(self):
            yield self

    @contextlib.contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Name nodes made inside the block under `name`; gives the scope's full name with a slash behind it.

        A name that ends in a slash is taken as it is (to enter a scope again); None or "" is the top level.
        """
        if name and not isinstance(name, str):
            raise TypeError(f"name for name_scope must be a string, got {name!r}")
        if name:
            if self._name_stack:
                if not _VALID_SCOPE.match(name):
                    raise ValueError(f"'{name}' is not a valid scope name")
            elif not VALID_NAME.match(name):
                raise ValueError(
                    f"'{name}' is not a valid scope name. A scope name has to match the following pattern: "
                    f"^[A-Za-z0-9.][A-Za-z0-9_.\\\\/>-]*$"
                )
        old = self._name_stack
        if not name:
            new = ""
        elif name.endswith("/"):
            new = name[:-1]
        else:
            new = self.unique_name(name)
        self._name_stack = new
        try:
            yield new + "/" if name else ""
        finally:
            self._name_stack = old

    def _get_control_flow_context(self) -> None:
        """Return the construct of TF 1's control flow that is being built: none, loops and choices are functions."""

    def _set_control_flow_context(self, ctx: Any) -> None:
        """Take a construct of TF 1's control flow, of which there are none."""

    def get_name_scope(self) -> str:
        """Return the name of the innermost open name scope."""
        return self._name_stack

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Return `name` under the open scope, with _1, _2, … behind it where it is taken (case does not count)."""
        full = f"{self._name_stack}/{name}" if self._name_stack else name
        key = full.lower()
        with self._lock:
            used = self._names_in_use
            count = used.get(key, 0)
            if mark_as_used:
                used[key] = count + 1
            if not count:
                return full
            candidate = key
            while candidate in used:
                candidate = f"{key}_{count}"
                count += 1
            if mark_as_used:
                used[candidate] = 1
        return f"{full}_{count - 1}"

    @contextlib.contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """Ask for a device for nodes made inside the block: a name, a function of the node, or None to ask for
        nothing.
        """
        stack = self._stack("devices")
        entry = device_name_or_function
        if entry is not None and not callable(entry):
            entry = device.DeviceSpec.from_string(
                device.canonical_name(entry)
            )  # refuses bad names here, at the user's line
        stack.append(entry)
        depth = len(stack)
        try:
            yield
        finally:
            if len(stack) != depth:
                raise RuntimeError("Exiting device scope without proper scope nesting.")
            stack.pop()

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Place nodes made inside the block where `op` is placed."""
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        node = None if op is None or _has_no_node(op) else _node_of(op)
        stack = self._stack("colocation")
        held = list(stack)
        devices = self._stack("devices")
        held_devices = list(devices)
        if ignore_existing:
            stack.clear()
        if node is not None:
            stack.append(node)
        devices[:] = []  # a place beside a node is a stronger wish than a device
        try:
            yield
        finally:
            stack[:] = held
            devices[:] = held_devices

    def control_dependencies(self, control_inputs: Any) -> ControlDependencies:
        """Have nodes made inside the block run after `control_inputs`; None forgets outer dependencies."""
        if control_inputs is None:
            return ControlDependencies(self, None)
        nodes: list[Operation] = []
        for item in control_inputs if isinstance(control_inputs, SEVERAL) else [control_inputs]:
            node = self._control_input(item)
            if node not in nodes:
                nodes.append(node)
        return ControlDependencies(self, nodes)

    def from_branches(self, item: Any) -> Any:
        """Return a tensor, or a node, as it is outside of the branches of choices that do not lie around this graph."""
        while item.graph is not self and item.graph.brought_out is not None and not self._is_inside(item.graph):
            item = item.graph.brought_out(item, self)
        return item

    def _is_inside(self, graph: Any) -> bool:
        """Return whether another graph is around this one."""
        return False

    def _control_input(self, item: Any) -> Operation:
        if isinstance(item, EagerTensor):
            raise TypeError(f"an eager tensor cannot be a control input: {item!r} has its value already")
        element = _element_of(item)
        if type(element) is SymbolicTensor or isinstance(element, Operation):
            element = self.from_branches(element)
        found = self.as_graph_element(element, allow_tensor=True, allow_operation=True)
        return found if isinstance(found, Operation) else found.op

    def _control_inputs_for(self, inputs: Sequence[Any]) -> list[Operation]:
        controllers = self._scope.__dict__.get("controllers")
        if not controllers:
            return []
        before = {t.op for t in inputs}
        result: list[Operation] = []
        for controller in controllers:
            if any(node in controller.inside for node in before):
                continue  # an input made in the block waits for the same nodes already
            result.extend(n for n in controller.nodes if n not in before and n not in result)
        return result

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Use the gradient registered as `op_type_map[T]` for nodes of type T made inside the block."""
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for key, value in op_type_map.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        held = dict(self._overrides)
        self._overrides.update(op_type_map)
        try:
            yield
        finally:
            self._overrides = held

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        """Write a kernel's label on nodes of these types made inside the block; there is one kernel for each op."""
        if not isinstance(op_to_kernel_label_map, dict):
            raise TypeError("op_to_kernel_label_map must be a dictionary mapping strings to strings")
        held = dict(self._kernel_labels)
        self._kernel_labels.update(op_to_kernel_label_map)
        try:
            yield
        finally:
            self._kernel_labels = held

    @contextlib.contextmanager
    def _attr_scope(self, attr_map: dict[str, Any]) -> Iterator[None]:
        if not isinstance(attr_map, dict):
            raise TypeError(f"attr_map must be a dictionary of attrs by name, got {attr_map!r}")
        held = dict(self._attr_overrides)
        self._attr_overrides.update(
            {k: attr_python(v, None) if isinstance(v, messages.AttrValue) else v for k, v in attr_map.items()}
        )
        try:
            yield
        finally:
            self._attr_overrides = held

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Keep variables and other resources made inside the block in the container of this name."""
        held, self._container = self._container, container_name
        try:
            yield container_name
        finally:
            self._container = held

    def _apply_scopes(self, node: Operation, by_devices: bool = True) -> None:
        scope = self._scope.__dict__
        if scope.get("controllers"):
            for controller in scope["controllers"]:
                controller.inside.add(node)
        if by_devices and scope.get("devices"):
            self._apply_devices(node, scope["devices"])
        override = self._overrides.get(node.type)
        if override is not None:
            node._attrs = {**node._attrs, "_gradient_op_type": override}
        if self._kernel_labels and node.type in self._kernel_labels:
            node._attrs = {**node._attrs, "_kernel": self._kernel_labels[node.type]}
        if self._attr_overrides:
            node._attrs = {**node._attrs, **{k: v for k, v in self._attr_overrides.items() if v is not None}}
        if scope.get("colocation"):  # whatever else said where the node belongs, this decides
            names = sorted({g for other in scope["colocation"] for g in other.colocation_groups()})
            node._attrs = {**node._attrs, "_class": tuple(names)}
            for other in scope["colocation"]:
                if other.device and not node.device:
                    node._set_device(other.device)
        if self._container and "container" in node._attrs and not node._attrs["container"]:
            node._attrs = {**node._attrs, "container": self._container}

    def _place(self, node: Operation, stated: str) -> None:
        """Place a node that comes with a device of its own: the open scopes say what it leaves open."""
        node._set_device(stated)
        devices = self._scope.__dict__.get("devices")
        if devices:
            self._apply_devices(node, devices)

    def _apply_device_functions(self, op: Any) -> None:
        """Have `op` be on the device that is asked for here, unless it says otherwise itself."""
        self._apply_devices(op, self._stack("devices"))

    def _apply_devices(self, node: Any, stack: list[Any]) -> None:
        for entry in reversed(stack):
            if entry is None:
                break
            if callable(entry):
                asked = entry(node)
                node._set_device(
                    asked if asked is None or isinstance(asked, str) else asked.to_string()
                ) if asked is not None else None
                continue
            node._set_device(entry.make_merged_spec(device.DeviceSpec.from_string(node.device or "")).to_string())


class ControlDependencies:
    """`with graph.control_dependencies([...])`: the nodes to wait for, and the nodes made in the block."""

    def __init__(self, graph: Any, nodes: list[Operation] | None):
        self._graph = graph
        self.nodes = nodes or []
        self.inside: set[Operation] = set()
        self._clears = nodes is None
        self._held: list[Any] | None = None

    def __enter__(self) -> None:
        stack = self._graph._stack("controllers")
        if self._clears:
            self._held = list(stack)
            stack.clear()
        stack.append(self)

    def __exit__(self, *exc: Any) -> None:
        stack = self._graph._stack("controllers")
        stack.remove(self)
        if self._held is not None:
            stack[:] = self._held


def _element_of(item: Any) -> Any:
    """Return what a control dependency on `item` waits for (a variable's handle, the values of slices)."""
    if hasattr(item, "handle") and hasattr(item, "op"):  # waiting for a variable must not read it
        return item.op
    values = getattr(item, "values", None)
    return values if isinstance(values, Tensor) else item


def _has_no_node(item: Any) -> bool:
    """Return whether `item` lives outside of graphs: an eager tensor, or a variable that a function only borrows."""
    return isinstance(item, EagerTensor) or not getattr(item, "_in_graph", True)


def _node_of(item: Any) -> Operation:
    if isinstance(item, Operation):
        return item
    found = getattr(item, "op", None)
    if isinstance(found, Operation):
        return found
    try:
        made = None if found is not None else convert(item).op  # what stands for a tensor
    except (AttributeError, TypeError, ValueError):
        made = None
    if isinstance(made, Operation):
        return made
    raise TypeError(f"expected a node, tensor or variable of a graph, got {item!r}")
