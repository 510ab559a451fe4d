"""The checkpoint beside a SavedModel: values by key, and the object graph that says whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.checkpoint.object_graph import TensorCallable
from ebbflow.checkpoint.registered import call_restorer, call_saver
from ebbflow.checkpoint.saveables import has_tensors
from ebbflow.checkpoint.status import get_session
from ebbflow.core import dtypes, nest
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.function import function
from ebbflow.ops.declare import raw
from ebbflow.ops.state.storage import held
from ebbflow.savedmodel.object_graph import ObjectGraph, is_variable, variable_in
from ebbflow.savedmodel.object_view import ObjectView
from ebbflow.savedmodel.replicas import copies_of
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.keys import checkpoint_key
from ebbflow.trackable.registration import get_registered_saver_name

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE = "VARIABLE_VALUE"


class CheckpointValues:
    """Which values a model's objects have, and under which keys they stand."""

    def __init__(self, view: ObjectView, objects: ObjectGraph):
        self._view = view
        self.registered: dict[str, dict[str, Any]] = {}  # by saver of the program, and path
        self._savers: dict[int, str] = {}
        for number, obj in enumerate(view.objects):
            saver = get_registered_saver_name(obj) if isinstance(obj, Trackable) else None
            if saver is not None:
                self._savers[number] = saver
                self.registered.setdefault(saver, {})[view.paths[number]] = obj
        self.savers = [_saver_functions(name, rows, objects) for name, rows in self.registered.items()]
        self.variables: list[tuple[int, Any]] = [
            (i, variable_in(obj)) for i, obj in enumerate(view.objects) if is_variable(obj)
        ]
        self.saved_variables = [(i, obj) for i, obj in self.variables if i not in self._savers]
        self.others: dict[int, tuple[str, list[tuple[str, EagerTensor]]]] = {}
        for number, obj in list(enumerate(view.objects)):
            if not is_variable(obj) and number not in self._savers and _saves(obj):
                self._note_saveable(number, obj, objects)

    def key_of(self, number: int) -> str:
        """Return the key of a variable's value."""
        return checkpoint_key(self._view.paths[number], VALUE)

    def _note_saveable(self, number: int, obj: Any, objects: ObjectGraph) -> None:
        """Have an object that says by itself what to save be written with functions that save and restore it."""
        loaded = getattr(obj, "_saved_saveables", None)
        name = next(iter(loaded)) if loaded else getattr(obj, "_LEGACY_SAVEABLE_NAME", ".TENSORS")
        key = checkpoint_key(self._view.paths[number], name)
        save, restore = loaded[name] if loaded else _functions_of(obj)
        objects.saveables[number] = {name: (objects.add_function(save), objects.add_function(restore))}
        specs = save(EagerTensor(np.array(key.encode(), object), dtypes.string))
        self.others[number] = (name, [(spec["name"].numpy().decode(), spec["tensor"]) for spec in specs])

    def tensors(self) -> Iterator[tuple[str, np.ndarray, Any]]:
        """Yield key, value and dtype of everything, the object graph last."""
        for (number, variable), value in zip(self.saved_variables, self._values(), strict=True):
            if value is None:  # never initialised: whoever loads the model learns that its key is missing
                continue
            yield self.key_of(number), value, variable.dtype.base_dtype
        for _, tensors in self.others.values():
            for key, tensor in tensors:
                yield key, np.asarray(tensor._array), tensor.dtype
        yield OBJECT_GRAPH_KEY, np.array(messages.serialize(self.graph()), object), dtypes.string

    def _values(self) -> list[np.ndarray | None]:
        """Return the values of the variables, where they have one: those of graphs have them in a session."""
        handles = [variable.handle for _, variable in self.saved_variables]
        if all(isinstance(handle, EagerTensor) for handle in handles):
            return [
                np.asarray(variable.value()) if copies_of(variable) else _stored(handle)
                for handle, (_, variable) in zip(handles, self.saved_variables, strict=True)
            ]
        return get_session().run([variable.value() for _, variable in self.saved_variables])

    def graph(self) -> Any:
        """Return the checkpoint's object graph; objects have the numbers that the SavedModel gives them."""
        result = messages.TrackableObjectGraph()
        for number, obj in enumerate(self._view.objects):
            node = result.nodes.add()
            node.slot_variables.extend(self._view.slots.get(number, ()))
            for name, child in self._view.children[number].items():
                node.children.add(node_id=child, local_name=name)
            if number in self._savers:
                node.registered_saver.name = self._savers[number]
                node.registered_saver.object_name = self._view.paths[number]
            elif is_variable(obj):
                full_name = variable_in(obj).name.removesuffix(":0")  # type: ignore[union-attr]
                node.attributes.add(name=VALUE, full_name=full_name, checkpoint_key=self.key_of(number))
            elif number in self.others:
                name = self.others[number][0]
                node.attributes.add(
                    name=name, full_name=name, checkpoint_key=checkpoint_key(self._view.paths[number], name)
                )
        return result


def _stored(handle: EagerTensor) -> np.ndarray | None:
    storage = held(handle._array)
    return storage.read() if storage.is_set() else None


def _saves(obj: Any) -> bool:
    if getattr(obj, "_saved_saveables", None):
        return True
    return isinstance(obj, Trackable) and has_tensors(obj)


def _saver_functions(name: str, trackables: dict[str, Any], objects: ObjectGraph) -> tuple[Any, Any]:
    """Return the functions of a saver of the program as concrete functions: of a prefix, and of the merged path."""

    @function(input_signature=[TensorSpec([], dtypes.string, "file_prefix")], autograph=False)
    def save(file_prefix: Any) -> list[Any]:
        return call_saver(name, trackables, raw.StringJoin([file_prefix, f"-{name}"]))

    @function(input_signature=[TensorSpec([], dtypes.string, "merged_prefix")], autograph=False)
    def restore(merged_prefix: Any) -> Any:
        return call_restorer(name, trackables, merged_prefix)

    both = save.get_concrete_function(), restore.get_concrete_function()
    for concrete in both:
        for tensor in concrete.captured_inputs:
            objects.number_of(tensor, concrete)
    return both


def trace_save_and_restore(obj: Trackable) -> tuple[ConcreteFunction, ConcreteFunction]:
    """Return what gives an object's values by name, and what takes such a dict back, as concrete functions."""
    save: Any = obj._serialize_to_tensors
    restore: Any = obj._restore_from_tensors
    if not isinstance(save, ConcreteFunction):
        save = _concrete(save)
    if not isinstance(restore, ConcreteFunction):
        put_back = restore

        def restored(restored_tensors: Any) -> int:
            put_back(restored_tensors)
            return 1

        specs = nest.map_structure(lambda t: TensorSpec(t.shape, t.dtype), save.structured_outputs)
        restore = _concrete(restored, specs)
    return save, restore


def _concrete(python: Any, *specs: Any) -> ConcreteFunction:
    traced: Any = function(python, autograph=False)
    return traced.get_concrete_function(*specs)


def _functions_of(obj: Any) -> tuple[Any, Any]:
    """Return the functions that give an object's values and take them back, as concrete functions."""
    tensors = obj._serialize_to_tensors()
    names = list(tensors)
    if any(isinstance(tensor, TensorCallable) for tensor in tensors.values()):
        raise NotImplementedError(
            f"Unable to save {obj!r} in a SavedModel: its `_serialize_to_tensors` returns a Callable, which is called "
            "when a checkpoint is written; return tensors instead"
        )

    @function(input_signature=[TensorSpec([], dtypes.string, "checkpoint_key")], autograph=False)
    def save_fn(checkpoint_key: Any) -> list[dict[str, Any]]:
        found = obj._serialize_to_tensors()
        return [
            {"name": raw.StringJoin([checkpoint_key, name]), "slice_spec": "", "tensor": found[name]} for name in names
        ]

    specs = [TensorSpec(None, tensors[name].dtype, f"restored_tensors_{i}") for i, name in enumerate(names)]

    @function(input_signature=specs, autograph=False)
    def restore_fn(*restored_tensors: Any) -> int:
        obj._restore_from_tensors(dict(zip(names, restored_tensors, strict=True)))
        return 1

    return save_fn.get_concrete_function(), restore_fn.get_concrete_function()
