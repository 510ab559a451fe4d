"""The plain graph of a SavedModel: what sessions, servers and converters read.

A node for each variable and table, a placeholder for each input of a signature and a call of its function, a saver, and
an operation that fills the tables. Values that functions have captured are constants of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ebbflow import messages
from ebbflow.core import context, dtypes, nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.functions.call import call_body
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.trackable_resource import Asset, CapturableResource
from ebbflow.graph.graph import Graph
from ebbflow.graph.graph_def import Library, distinct, fill_node
from ebbflow.graph.scopes import control_dependencies, device_scope, no_op
from ebbflow.messages.tensors import make_tensor_proto, shape_proto
from ebbflow.ops.declare import raw
from ebbflow.savedmodel import constants
from ebbflow.savedmodel.checkpoint_graph import CheckpointValues
from ebbflow.savedmodel.object_graph import ObjectGraph
from ebbflow.savedmodel.signature_defs import build_tensor_info, op_signature_def


class SessionGraph:
    """The graph, and what refers to it by name."""

    def __init__(
        self,
        objects: ObjectGraph,
        values: CheckpointValues,
        signatures: Any,
        library: Library,
        defaults: Mapping[str, Mapping[str, Any]],
        with_saver: bool = True,
        keeps_devices: bool = False,
    ):
        self._keeps_devices = keeps_devices
        self._objects, self._values, self._library, self._defaults = objects, values, library, defaults
        self.graph = Graph()
        self._tensors: dict[int, Any] = {}  # by an object's number: what stands for it here
        self._later: dict[int, Any] = {}  # what stands for some of them once the model is prepared
        self._signature_defs: dict[str, Any] = {}
        self._assets: list[Any] = []
        self._saver = messages.SaverDef()
        with context.scope(self.graph):
            self._add_state()
            self._add_tables()
            for name in signatures:
                self._signature_defs[name] = self._signature(name, signatures[name])
            if with_saver:
                self._add_saver()

    def fill(self, meta: Any) -> None:
        """Write nodes, signatures, saver and assets into a MetaGraphDef."""
        for node in self.graph._nodes:
            fill_node(meta.graph_def.node.add(), node, self._library)
        for name, signature in self._signature_defs.items():
            meta.signature_def[name].CopyFrom(signature)
        if self._saver.save_tensor_name:
            meta.saver_def.CopyFrom(self._saver)
        meta.asset_file_def.extend(self._assets)

    def _add_state(self) -> None:
        taken: set[str] = set()
        for number, variable in self._values.variables:
            name = distinct(variable.name.removesuffix(":0"), taken)
            with device_scope(variable.device if self._keeps_devices else None):
                handle = raw.VarHandleOp(
                    dtype=variable.dtype.base_dtype, shape=variable.shape, shared_name=name, name=_node_name(name)
                )
            raw.ReadVariableOp(handle, dtype=variable.dtype.base_dtype, name=f"{handle.op.name}/Read/ReadVariableOp")
            self._tensors[number] = handle
        for number, value in self._objects.constants.items():
            name = self._objects.constant_name(number)
            self._tensors[number] = self.graph.constant(np.array(value._array), value.dtype, name)

    def _add_assets(self) -> list[Any]:
        """Have the path of each file in a variable, which is given it when the model is prepared; return what gives."""
        handles: dict[str, Any] = {}
        assigns: dict[str, Any] = {}
        for path, filename in self._objects.assets.items():
            given = self.graph.constant(np.array(b"", object), dtypes.string, "asset_path_initializer")
            info = messages.TensorInfo(name=given.name)
            self._assets.append(messages.AssetFileDef(tensor_info=info, filename=filename))
            handles[path] = raw.VarHandleOp(dtype=dtypes.string, shape=(), shared_name=given.op.name, name="asset_path")
            assigns[path] = raw.AssignVariableOp(handles[path], given)
        for number, obj in enumerate(self._objects.view.objects):
            if isinstance(obj, Asset):
                with control_dependencies([assigns[obj.path]]):
                    self._tensors[number] = raw.ReadVariableOp(handles[obj.path], dtype=dtypes.string)
                self._later[number] = raw.ReadVariableOp(handles[obj.path], dtype=dtypes.string)
        return list(assigns.values())

    def _add_tables(self) -> None:
        """Make the tables, then what fills them; the operation that does is noted as the model's own."""
        view, waits = self._objects.view, self._add_assets()
        tables = [(i, obj) for i, obj in enumerate(view.objects) if isinstance(obj, CapturableResource)]
        for number, _ in tables:
            creator = self._objects.trace_of(view.children[number]["_create_resource"])
            self._tensors[number] = self._called(creator, [])[0]
        for number, _ in tables:
            initializer = self._objects.trace_of(view.children[number]["_initialize"])
            results = self._called(initializer, [])
            waits.append(results[0].op)
        with control_dependencies(waits):
            op = no_op(name="NoOp")
        key = constants.INIT_OP_SIGNATURE_KEY
        self._signature_defs[key] = op_signature_def(op, key)
        self._tensors.update(self._later)

    def _called(self, concrete: ConcreteFunction, inputs: list[Any]) -> list[Any]:
        captured = [self._tensors[self._objects.number_of(t, concrete)] for t in concrete.captured_inputs]
        return call_body(concrete.graph, [*inputs, *captured])

    def _signature(self, key: str, concrete: ConcreteFunction) -> Any:
        names = concrete._arg_keywords
        inputs = []
        result = messages.SignatureDef(method_name=constants.PREDICT_METHOD_NAME)
        for name, tensor in zip(names, concrete.inputs, strict=False):
            node, default = _node_name(f"{key}_{name.replace('/', '_')}"), self._defaults.get(key, {}).get(name)
            if default is None:
                given = raw.Placeholder(dtype=tensor.dtype.base_dtype, shape=tensor._dims, name=node)
            else:
                given = raw.PlaceholderWithDefault(default.numpy(), shape=tensor._dims, name=node)
                result.defaults[name].CopyFrom(make_tensor_proto(default.numpy(), tensor.dtype.base_dtype))
            inputs.append(given)
            result.inputs[name].CopyFrom(build_tensor_info(given))
        given = iter(self._called(concrete, inputs))
        for name in sorted(concrete.graph.structured_outputs):
            inner = concrete.graph.structured_outputs[name]
            parts = [next(given) for _ in nest.flatten(inner, expand_composites=True)]
            info = build_tensor_info(nest.pack_sequence_as(inner, parts, expand_composites=True))
            if not isinstance(inner, CompositeTensor):
                info.tensor_shape.CopyFrom(shape_proto(inner._dims))
            result.outputs[name].CopyFrom(info)
        return result

    def _add_saver(self) -> None:
        """Add the nodes by which a session saves and restores values, under the object graph's keys."""
        path = raw.Placeholder(dtype=dtypes.string, shape=(), name="saver_filename")
        with self.graph.name_scope("save"):
            parts = [self._variable_part(number, variable) for number, variable in self._values.saved_variables]
            parts += [self._saveable_part(number, tensors) for number, (_, tensors) in self._values.others.items()]
            registered = self._values.savers
            if not parts and not registered:
                return
            keys = [key for part in parts for key in part.keys]
            tensors = [tensor for part in parts for tensor in part.tensors]
            names, slices = np.array([k.encode() for k in keys], object), np.array([b""] * len(keys), object)
            saving = self._save_nodes(path, names, slices, tensors)
            with control_dependencies([saving]):
                saved = raw.Identity(path, name="saved_path")
            kinds = [t.dtype.base_dtype for t in tensors]
            values = list(raw.RestoreV2(path, names, slices, dtypes=kinds)) if kinds else []
            restored = [part.restore([values.pop(0) for _ in part.keys]) for part in parts]
            restored += [self._called(restore, [path])[-1].op for _, restore in registered]
            with control_dependencies(restored):
                restore = no_op(name="restore_all")
        self._saver.filename_tensor_name, self._saver.save_tensor_name = path.name, saved.name
        self._saver.restore_op_name, self._saver.version = restore.name, messages.SaverDef.V2

    def _save_nodes(self, path: Any, names: Any, slices: Any, tensors: list[Any]) -> Any:
        """Return the node that saves: of a part of the values where savers of the program have the others."""
        if not self._values.savers:
            return raw.SaveV2(path, names, slices, tensors)
        beside = raw.StringJoin([path, np.array(b"_temp/part", object)])
        prefixes = [prefix for save, _ in self._values.savers for prefix in self._called(save, [beside])]
        if tensors:
            rest = raw.ShardedFilename(beside, np.int32(len(prefixes)), np.int32(len(prefixes) + 1))
            with control_dependencies([raw.SaveV2(rest, names, slices, tensors)]):
                prefixes.append(raw.Identity(rest))
        return raw.MergeV2Checkpoints(raw.Pack(prefixes), path, delete_old_dirs=True)

    def _variable_part(self, number: int, variable: Any) -> _Part:
        handle = self._tensors[number]
        read = raw.ReadVariableOp(handle, dtype=variable.dtype.base_dtype)
        return _Part([self._values.key_of(number)], [read], lambda values: raw.AssignVariableOp(handle, values[0]))

    def _saveable_part(self, number: int, tensors: list[Any]) -> _Part:
        """Return what an object that saves by functions adds: its functions are called here too."""
        view = self._objects.view
        (save_number, restore_number) = next(iter(self._objects.saveables[number].values()))
        save, restore = view.objects[save_number], view.objects[restore_number]
        keys = [key for key, _ in tensors]
        given = self.graph.constant(np.array(b"", object), dtypes.string, "checkpoint_key")
        specs = save.pack(self._called(save, [given]))
        return _Part(keys, [spec["tensor"] for spec in specs], lambda values: self._called(restore, values)[0].op)


class _Part(NamedTuple):
    """What one object adds to the saver: keys, the tensors to save, how to take values back."""

    keys: list[str]
    tensors: list[Any]
    restore: Callable[[list[Any]], Any]


def _node_name(name: str) -> str:
    """Return a name that a node may have: others are written in other characters."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_./-") else "_" for c in name).lstrip("_") or "value"
