"""What can be saved: variables, parts of variables and other objects as lists of (tensor, slice, name), and back.

A `SaveableObject` says which tensors a checkpoint keeps of something and how they are put back. Knows variables of both
kinds; how the tensors get into files is the affair of the savers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ebbflow.core import context, device, dtypes
from ebbflow.core.identity import ObjectIdentitySet
from ebbflow.core.shape import TensorShape, dims_str
from ebbflow.core.tensor import Tensor
from ebbflow.graph.scopes import device_scope
from ebbflow.ops.declare import raw
from ebbflow.state.partitioners import PartitionedVariable
from ebbflow.state.variables import RefVariable, ResourceVariable, Variable
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import VARIABLE_VALUE_KEY

_REFERENCES = ("Variable", "VariableV2")


class SaveSpec:
    """One tensor of a checkpoint: its value (or a function that gives it), the slice it is, and its name."""

    def __init__(self, tensor: Any, slice_spec: str, name: str, dtype: Any = None, device: str | None = None):
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if callable(tensor):
            if dtype is None or device is None:
                raise AssertionError(
                    "When passing a callable `tensor` to a SaveSpec, an explicit dtype and device must be provided."
                )
            self.dtype, self.device = dtypes.as_dtype(dtype), device
        else:
            self.dtype = dtypes.as_dtype(tensor.dtype if dtype is None else dtype)
            self.device = tensor.device if device is None else device

    @property
    def tensor(self) -> Any:
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """Something a checkpoint keeps; subclasses say how it is restored."""

    def __init__(self, op: Any, specs: Any, name: str):
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def optional_restore(self) -> bool:
        """Whether a checkpoint without it may be restored."""
        return False

    @property
    def device(self) -> str:
        """The device of its tensors."""
        return self.specs[0].device

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Return the operation that puts tensors back; `restored_shapes` are what to reshape them to, or None."""
        raise ValueError(f"{type(self).__name__} does not say how it is restored: it must define restore()")


def on_host(device_name: Any) -> str:
    """Return a device's name with the first CPU of its machine in its place.

    >>> on_host("/job:ps/device:GPU:1")
    '/job:ps/device:CPU:0'
    """
    spec = device.DeviceSpecV2.from_string(device_name or "")
    return spec.replace(device_type="CPU", device_index=0).to_string()


class ReferenceVariableSaveable(SaveableObject):
    """A reference variable, given as the tensor of its node."""

    def __init__(self, var: Any, slice_spec: str, name: str):
        super().__init__(var, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Return the node that assigns the tensor."""
        tensor = restored_tensors[0]
        if restored_shapes is not None:
            tensor = raw.Reshape(tensor, _shape_argument(restored_shapes[0]))
        checked = restored_shapes is None and self.op.get_shape().is_fully_defined()
        target = self.op._variable if isinstance(self.op, RefVariable) else self.op
        return raw.Assign(target, tensor, validate_shape=checked, use_locking=True)


class ResourceVariableSaveable(SaveableObject):
    """A resource variable, or the tensor that reads it in a graph."""

    def __init__(self, var: Any, slice_spec: str, name: str):
        if isinstance(var, Tensor):
            tensor: Any = var
            self.handle_op = var.op.inputs[0]
        elif isinstance(var, ResourceVariable):
            self.handle_op, tensor = var.handle, _reading(var)
        else:
            raise ValueError(f"Saveable is neither a resource variable nor a read operation. Got: {var!r}")
        self._var_device, self._var_shape = var.device, var.shape
        spec = SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=var.device)
        super().__init__(var, [spec], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Return the node that assigns the tensor; eagerly it is assigned at once."""
        tensor = restored_tensors[0]
        if restored_shapes is not None:
            tensor = raw.Reshape(tensor, _shape_argument(restored_shapes[0]))
        if not self._var_shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"Received incompatible tensor with shape {dims_str(tensor._dims)} when attempting to restore "
                f"variable with shape {dims_str(self._var_shape._dims)} and name {self.name}."
            )
        with device_scope(self._var_device):
            return raw.AssignVariableOp(self.handle_op, raw.Identity(tensor))


def _reading(variable: Any) -> Callable[[], Any]:
    def read() -> Any:
        if not variable._in_graph and context.current_graph() is None and not variable._storage.is_set():
            return None
        with device_scope(variable.device):
            value = variable.read_value()
            with device_scope("/device:CPU:0"):  # of the variable's own machine
                return raw.Identity(value) if context.current_graph() is not None else value

    return read


def _shape_argument(shape: Any) -> Any:
    return shape.as_list() if isinstance(shape, TensorShape) else shape


class TensorsSaveable(SaveableObject):
    """An object that says its values in `_serialize_to_tensors` and takes them back in `_restore_from_tensors`."""

    def __init__(self, trackable: Any, name: str = ""):
        self._keys = []
        specs = []
        for key, value in trackable._serialize_to_tensors().items():
            if isinstance(value, (list, tuple)):
                value = value[0]
            self._keys.append(key)
            specs.append(SaveSpec(value, "", name + key))
        super().__init__(trackable, specs, name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Give the tensors back to the object."""
        return self.op._restore_from_tensors(dict(zip(self._keys, restored_tensors, strict=True)))


# --- from variables to saveables --------------------------------------------------------------------------------------


def has_tensors(trackable: Any) -> bool:
    """Return whether an object says its values in `_serialize_to_tensors`."""
    method = trackable._serialize_to_tensors  # of another object, where one speaks for it
    return getattr(method, "__func__", method) is not Trackable._serialize_to_tensors


def saveable_objects_for_op(op: Any, name: str) -> Iterator[SaveableObject]:
    """Yield what saves and restores a variable, the parts of one, or another object, under a name."""
    if not isinstance(name, str):
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to trackable operations. "
            f"Name is not a string: {name}"
        )
    if isinstance(op, SaveableObject):
        yield op
    elif isinstance(op, (list, tuple, PartitionedVariable)):
        yield from _slices(list(op), name)
    elif isinstance(op, ResourceVariable):
        yield ResourceVariableSaveable(op._read if op._in_graph else op, "", name)
    elif isinstance(op, Trackable) and not hasattr(op, "_graph_tensor"):  # a distributed variable is many
        yield from _of_trackable(op, name)
    elif context.executing_eagerly():
        raise ValueError(f"Can only save/restore ResourceVariables when executing eagerly, got type: {type(op)}.")
    else:
        variable = _as_tensor(op)
        if not _comes_from_variable(variable):
            raise TypeError(
                "names_to_saveables must be a dict mapping string names to Tensors/Variables. "
                f"Not a variable: {variable}"
            )
        kind = ReferenceVariableSaveable if variable.op.type in _REFERENCES else ResourceVariableSaveable
        yield kind(variable, "", name)


def _of_trackable(trackable: Any, name: str) -> Iterator[SaveableObject]:
    older = trackable._gather_saveables_for_checkpoint()
    if not older and has_tensors(trackable):
        yield TensorsSaveable(trackable, name)
    for attr, factory in older.items():
        full_name = name if attr == VARIABLE_VALUE_KEY else f"{name}_{attr}"
        saveable = factory(full_name) if callable(factory) else factory
        yield from saveable_objects_for_op(saveable, saveable.name)


def _slices(variables: list[Any], name: str) -> Iterator[SaveableObject]:
    slice_name = None
    for variable in variables:
        if not isinstance(variable, Variable):
            raise ValueError(f"Slices must all be Variables: {variable}")
        info = variable._get_save_slice_info()
        if info is None:
            raise ValueError(f"Slices must all be slices: {variable}")
        slice_name = info.full_name if slice_name is None else slice_name
        if slice_name != info.full_name:
            raise ValueError(f"Slices must all be from the same tensor: {slice_name} != {info.full_name}")
        kind = ResourceVariableSaveable if isinstance(variable, ResourceVariable) else ReferenceVariableSaveable
        yield kind(variable, info.spec, name)


def _as_tensor(op: Any) -> Any:
    return op._graph_tensor() if isinstance(op, Variable) else op


def _comes_from_variable(tensor: Any) -> bool:
    if not isinstance(tensor, Tensor):
        return False
    facts = tensor.op._op.facts
    return facts.variable or facts.reads == "whole"


def op_list_to_dict(op_list: Any, convert_variable_to_tensor: bool = True) -> dict[str, Any]:
    """Return what is to be saved by name; parts of one variable come together under its name."""
    if not isinstance(op_list, (list, tuple, set, ObjectIdentitySet)):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {op_list}")
    named: dict[str, Any] = {}
    for var in sorted(op_list, key=lambda x: x.name):
        if isinstance(var, SaveableObject):
            named[var.name] = var
        elif isinstance(var, PartitionedVariable):
            _put(named, var.name, var)
        elif isinstance(var, Variable) and var._get_save_slice_info() is not None:
            _put_slice(named, var)
        elif isinstance(var, Trackable) and not isinstance(var, (ResourceVariable, RefVariable)):
            older = var._gather_saveables_for_checkpoint().values()
            saveables = [factory() if callable(factory) else factory for factory in older]
            if not saveables and has_tensors(var):
                saveables = [TensorsSaveable(var, var.name)]  # type: ignore[attr-defined]
            named.update(op_list_to_dict(saveables))
        elif not getattr(var, "_in_graph", True):
            _put_eager(named, var)
        else:
            _put_node(named, var, convert_variable_to_tensor)
    return named


def _put(named: dict[str, Any], name: str, value: Any) -> None:
    if name in named:
        raise ValueError(f"At least two variables have the same name: {name}")
    named[name] = value


def _put_slice(named: dict[str, Any], variable: Any) -> None:
    name = variable._get_save_slice_info().full_name
    parts = named.setdefault(name, [])
    if not isinstance(parts, list):
        raise ValueError(f"Mixing slices and non-slices with the same name: {name}")
    parts.append(variable)


def _put_eager(named: dict[str, Any], variable: Any) -> None:
    if not isinstance(variable, ResourceVariable):
        raise ValueError(
            f"Can only save/restore ResourceVariables when eager execution is enabled, type: {type(variable)}."
        )
    if named.setdefault(variable._shared_name, variable) is not variable:
        raise ValueError(
            f"Two different ResourceVariable objects with the same shared_name '{variable._shared_name}' were passed "
            "to the Saver. This likely means that they were created in different Graphs or isolation contexts, and "
            "may not be checkpointed together."
        )


def _put_node(named: dict[str, Any], var: Any, convert: bool) -> None:
    tensor = _as_tensor(var)
    if not _comes_from_variable(tensor):
        raise TypeError(f"Variable to save is not a Variable: {var}")
    node = tensor.op.inputs[0].op if tensor.op.type == "ReadVariableOp" else tensor.op
    _put(named, node.name, tensor if convert else var)


def validate_and_slice_inputs(names_to_saveables: Any) -> list[SaveableObject]:
    """Return the saveables for what is given by name (or as a list), in the order of names."""
    if not isinstance(names_to_saveables, dict):
        names_to_saveables = op_list_to_dict(names_to_saveables)
    saveables: list[SaveableObject] = []
    seen = ObjectIdentitySet()
    for name, op in sorted(names_to_saveables.items(), key=lambda item: item[0]):
        for saveable in saveable_objects_for_op(op, name):
            if saveable.op in seen:
                raise ValueError(f"The same saveable will be restored with two names: {saveable.name}")
            saveables.append(saveable)
            seen.add(saveable.op)
    return saveables


def all_saveables(scope: str | None = None) -> list[Any]:
    """Return what a saver without a list saves: global variables and other saveable objects of the graph."""
    graph = context.default_graph()
    return graph.get_collection("variables", scope) + graph.get_collection("saveable_objects", scope)
