"""The object graph of a SavedModel: a message for each object, and one for each trace of each function.

Knows how objects are written; what they hold is for `checkpoint_graph`, and the plain graph for `session_graph`.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import context, dtypes, nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.data.pipe import Pipe
from ebbflow.data.rebuilding import rebuilt
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.function import Function
from ebbflow.functions.trackable_resource import Asset, CapturableResource
from ebbflow.graph.graph_def import Library, distinct
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.io.structures import NotEncodableError, can_encode, encode_structure, named_tuple_class
from ebbflow.messages.tensors import shape_proto
from ebbflow.ops.state.storage import held
from ebbflow.platform import logging
from ebbflow.savedmodel import objects as revived_types
from ebbflow.savedmodel.custom_gradients import CapturedTensor, TracedGradient, fill_concrete
from ebbflow.savedmodel.object_view import ObjectView
from ebbflow.savedmodel.options import SaveOptions
from ebbflow.savedmodel.replicas import copies_of, for_a_file
from ebbflow.savedmodel.restored_function import FULL_ARG_SPEC
from ebbflow.state.base import Variable
from ebbflow.state.reference import RefVariable
from ebbflow.trackable import registration
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import SaveType


class ObjectGraph:
    """What the object graph says of the objects of a view."""

    def __init__(self, view: ObjectView, library: Library, options: SaveOptions):
        self.view, self._library, self._options = view, library, options
        self.assets: dict[str, str] = {}  # the files to copy, and what each is called there
        self.constants: dict[int, EagerTensor] = {}  # by an object's number
        self.saveables: dict[int, dict[str, tuple[int, int]]] = {}  # numbers of functions that save and restore
        self._asset_names: set[str] = set()
        self._traces: dict[int, list[ConcreteFunction]] = {}
        self._captured: dict[int, int] = {}  # the number of the object that a tensor stands for
        self._shared: dict[int, int] = {}  # the same by what a handle holds
        self._concretes: dict[int, ConcreteFunction] = {}
        self._kept: list[Any] = []  # what `_captured` knows by its id
        self._gradients: list[tuple[TracedGradient, list[int]]] = []
        for number, obj in enumerate(view.objects):
            self._note(number, obj)
        for number in range(len(view.objects)):
            self._note_functions(number, view.objects[number])
        for concrete in list(self._concretes.values()):
            for tensor in concrete.captured_inputs:
                self.number_of(tensor, concrete)

    def _note(self, number: int, obj: Any) -> None:
        """Note by which tensors an object goes into functions."""
        handle = None
        if is_variable(obj):
            handle = obj.handle
        elif isinstance(obj, CapturableResource):
            handle = obj.resource_handle
        elif isinstance(obj, Asset):
            self._captured[id(obj.asset_path)] = number
            self._note_asset(obj)
        elif isinstance(obj, EagerTensor):
            self._captured[id(obj)] = number
            self.constants[number] = obj
        if is_variable(obj) and self._options.experimental_variable_policy._expand_distributed_variables():
            self._captured.update({id(copy.handle): number for copy in copies_of(variable_in(obj))})
        if handle is not None:
            self._captured[id(handle)] = number
        if isinstance(handle, EagerTensor):
            self._shared[id(held(handle._array))] = number

    def _note_asset(self, obj: Asset) -> None:
        path = obj.path
        if path not in self.assets:
            self.assets[path] = distinct(os.path.basename(path), self._asset_names)

    def _note_functions(self, number: int, obj: Any) -> None:
        if isinstance(obj, ConcreteFunction):
            self.view.objects[number] = concrete = for_a_file(obj, self._options)
            self._note_concrete(concrete)
        elif isinstance(obj, Function):
            traces = [c for c in obj._list_all_concrete_functions_for_serialization() if _captures_lasting(c)]
            if not traces and obj.input_signature is not None:
                traces = [obj.get_concrete_function()]
            self._traces[number] = [
                for_a_file(concrete, self._options) for concrete in traces if _is_writable(concrete)
            ]
            for concrete in self._traces[number]:
                self._note_concrete(concrete)

    def _note_concrete(self, concrete: ConcreteFunction) -> None:
        self._concretes[id(concrete)] = concrete
        self._library.name_of(concrete.graph)

    def trace_of(self, number: int) -> ConcreteFunction:
        """Return the only trace of a function without arguments, as it is written."""
        return self._traces[number][0]

    def add_function(self, concrete: ConcreteFunction) -> int:
        """Add a function that is nobody's child; return its number."""
        number = self.view.add(concrete)
        self._note_concrete(concrete)
        for tensor in concrete.captured_inputs:
            self.number_of(tensor, concrete)
        return number

    def add_gradients(self, gradients: Sequence[TracedGradient]) -> None:
        """Add what gradient functions capture: tensors of other functions are objects too."""
        for traced in gradients:
            numbers = [
                self.view.add(capture) if isinstance(capture, CapturedTensor) else self.number_of(capture, traced)
                for capture in traced.captures
            ]
            self._gradients.append((traced, numbers))

    def number_of(self, tensor: Any, function: ConcreteFunction | TracedGradient) -> int:
        """Return the number of the object that a captured tensor stands for; a plain value becomes a constant."""
        found = self._captured.get(id(tensor))
        if found is None and isinstance(tensor, EagerTensor) and tensor.dtype is dtypes.resource:
            found = self._shared.get(id(held(tensor._array)))
        if found is None and isinstance(tensor, EagerTensor) and isinstance(_held(tensor), Pipe):
            found = self._add_dataset(_held(tensor))
        if found is None:
            value = tensor
            if type(tensor) is SymbolicTensor and tensor.constant_value() is not None:
                # A constant of the graph that the model was made in: what it holds is as good.
                value = EagerTensor(np.asarray(tensor.constant_value()), tensor.dtype.base_dtype)
                self._kept.append(tensor)
            if not isinstance(value, EagerTensor) or value.dtype in (dtypes.resource, dtypes.variant):
                raise self._untracked(tensor, function)
            found = self.view.add(value)
            self.constants[found] = value
        self._captured[id(tensor)] = found
        return found

    def _add_dataset(self, pipe: Pipe) -> int:
        """Add a dataset that a function captures: a resource that functions make, as tables are; return its number."""
        dataset = CapturedDataset(pipe)
        number = self.view.add(dataset)
        self.view.children[0][f"_captured_dataset_{number}"] = number  # so that a loaded model can be saved again
        for name, child in dataset._trackable_children(SaveType.SAVEDMODEL).items():
            there = self.view.children[number][name] = self.view.add(child)
            self._note_functions(there, child)
            for concrete in self._traces[there]:
                for tensor in concrete.captured_inputs:
                    self.number_of(tensor, concrete)
        return number

    def _untracked(self, tensor: Any, function: ConcreteFunction | TracedGradient) -> UntrackedError:
        what = tensor
        if isinstance(tensor, EagerTensor) and tensor.dtype in (dtypes.resource, dtypes.variant):
            owner = getattr(_held(tensor), "owner", None)
            what = owner() if owner is not None and owner() is not None else _held(tensor)
        return UntrackedError(
            f"Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. "
            f"tf.Variable) captured by functions must be 'tracked' by assigning them to an attribute of a tracked "
            f"object or assigned to an attribute of the main object directly; this one is not reachable from root. "
            f"Function name = {function.name!r}. Trackable referencing this tensor = {type(what).__name__} {what!r}"
        )

    # --- the messages -------------------------------------------------------------------------------------------------

    def fill(self, message: Any) -> None:
        """Write everything."""
        for number in range(len(self.view.objects)):
            written = message.nodes.add()
            written.slot_variables.extend(self.view.slots.get(number, ()))
            for name, child in self.view.children[number].items():
                written.children.add(node_id=child, local_name=name)
            self._fill_object(written, number, self.view.objects[number])
            self._fill_registered(written, number, self.view.objects[number])
            for name, (save, restore) in self.saveables.get(number, {}).items():
                written.saveable_objects[name].save_function = save
                written.saveable_objects[name].restore_function = restore
        _check_order(message.nodes)
        for concrete in self._concretes.values():
            self._fill_concrete(message.concrete_functions[self._name(concrete)], concrete)
        for traced, numbers in self._gradients:
            fill_concrete(message.concrete_functions[self._library.name_of(traced.graph)], traced, numbers)

    def _name(self, concrete: ConcreteFunction) -> str:
        return self._library.name_of(concrete.graph)

    def _fill_object(self, message: Any, number: int, obj: Any) -> None:
        if is_variable(obj):
            self._fill_variable(message.variable, variable_in(obj))
        elif isinstance(obj, Function):
            message.function.concrete_functions.extend(self._name(c) for c in self._traces[number])
            fill_function_spec(message.function.function_spec, obj._signature.python, obj.input_signature)
            message.function.function_spec.jit_compile = {True: 1, False: 2}.get(obj._jit_compile, 0)
        elif isinstance(obj, CapturedTensor):
            message.captured_tensor.name, message.captured_tensor.concrete_function = obj.name, obj.function
        elif isinstance(obj, ConcreteFunction):
            self._fill_bare(message.bare_concrete_function, obj)
        elif isinstance(obj, Asset):
            names = list(self.assets)
            message.asset.asset_file_def_index = names.index(obj.path)
        elif number in self.constants:
            message.constant.operation = self.constant_name(number)
        elif isinstance(obj, CapturableResource):
            message.resource.device = obj._resource_device or ""
            message.resource.SetInParent()
        else:
            proto = revived_types.serialize(obj)
            if proto is None:
                version = messages.VersionDef(producer=1, min_consumer=1)
                proto = messages.SavedUserObject(identifier=obj._object_identifier, version=version)
            message.user_object.CopyFrom(proto)

    def _fill_registered(self, message: Any, number: int, obj: Any) -> None:
        """Write under which names an object's class and saver are registered, and what it needs to be made again."""
        if not isinstance(obj, Trackable):
            return
        name = registration.get_registered_class_name(obj)
        if name is not None:
            message.registered_name = name
            proto = obj._serialize_to_proto(object_proto=message, options=self._options)
            if proto is not None:
                message.serialized_user_proto.Pack(proto)
        children = {child: self.view.objects[there] for child, there in self.view.children[number].items()}
        for child, needed in obj._deserialization_dependencies(children).items():
            message.dependencies.add(node_id=self.view.number_of(needed, child), local_name=child)
        message.registered_saver = registration.get_registered_saver_name(obj) or ""

    def constant_name(self, number: int) -> str:
        """Return what the node of a captured value is called."""
        return f"Const_{number}"

    def _fill_variable(self, message: Any, variable: Any) -> None:
        message.name = variable.name.removesuffix(":0")
        message.dtype = variable.dtype.base_dtype.as_datatype_enum
        message.shape.CopyFrom(shape_proto(variable.shape))
        message.trainable = bool(variable.trainable)
        message.synchronization = variable.synchronization.value
        message.aggregation = variable.aggregation.value
        policy = self._options.experimental_variable_policy
        if policy._save_variable_devices():
            message.device = variable.device or ""
        if policy._expand_distributed_variables():
            for copy in copies_of(variable):
                self._fill_variable(message.experimental_distributed_variable_components.add(), copy)

    def _fill_bare(self, message: Any, concrete: ConcreteFunction) -> None:
        message.concrete_function_name = self._name(concrete)
        message.argument_keywords.extend(concrete._arg_keywords)
        args, _ = concrete.structured_input_signature
        tensors = [leaf for leaf in nest.flatten(list(args)) if isinstance(leaf, TensorSpec)]
        message.allowed_positional_arguments = len(tensors) or (1 if len(concrete._arg_keywords) == 1 else 0)
        fill_function_spec(message.function_spec, concrete.function_type.signature(), None)

    def _fill_concrete(self, message: Any, concrete: ConcreteFunction) -> None:
        message.bound_inputs.extend(self.number_of(t, concrete) for t in concrete.captured_inputs)
        message.canonicalized_input_signature.CopyFrom(encode_structure(concrete.structured_input_signature))
        message.output_signature.CopyFrom(encode_structure(_specs(concrete.graph.structured_outputs)))


class UntrackedError(AssertionError, KeyError):
    """A function captures what the model does not hold: TensorFlow raises the one or the other."""

    __str__ = AssertionError.__str__


class CapturedDataset(CapturableResource):
    """A dataset that a function captures, as an object of a model: its ops are called again where it is loaded."""

    def __init__(self, pipe: Pipe):
        super().__init__()
        self._pipe = pipe

    def _create_resource(self) -> Any:
        return rebuilt(self._pipe)


def _check_order(nodes: Sequence[Any]) -> None:
    """Refuse objects each of which must be made before the other."""
    done: set[int] = set()
    for start in range(len(nodes)):
        way, waiting = [start], {start: [r.node_id for r in nodes[start].dependencies]}
        while way:
            if not waiting[way[-1]]:
                done.add(way.pop())
                continue
            number = waiting[way[-1]].pop()
            if number in way:
                raise ValueError(f"Found a dependency cycle in the saved Trackable: objects {[*way, number]}")
            if number not in done:
                way.append(number)
                waiting[number] = [r.node_id for r in nodes[number].dependencies]


def _held(tensor: EagerTensor) -> Any:
    """Return what the scalar of a resource or variant holds."""
    return tensor._array.item() if tensor._array.dtype == object and tensor._array.size == 1 else None


def is_variable(obj: Any) -> bool:
    """Return whether an object is a variable that has a value now, or where a graph is built, in its session."""
    variable = variable_in(obj)
    return variable is not None and (not getattr(variable, "_in_graph", False) or not context.executing_eagerly())


def variable_in(obj: Any) -> Variable | None:
    """Return the variable that an object is, or that one which acts as a variable (Keras's do) has as its `value`."""
    if getattr(obj, "_should_act_as_resource_variable", None) is not None and not isinstance(obj, Variable):
        obj = getattr(obj, "value", None)
    return obj if isinstance(obj, Variable) and not isinstance(obj, RefVariable) else None


def _captures_lasting(concrete: ConcreteFunction) -> bool:
    """Return whether what a trace captures outlives it: values, or tensors of the graph whose model is saved."""
    if concrete._symbolic is None:
        return True
    here = context.current_graph()
    return here is not None and all(
        isinstance(tensor, EagerTensor) or tensor.graph is here for tensor in concrete.captured_inputs
    )


def _is_writable(concrete: ConcreteFunction) -> bool:
    """Return whether a trace's arguments can be described: not those made for an object."""
    if can_encode(concrete.structured_input_signature):
        return True
    logging.warning(
        "Skipping full serialization of the trace %s: its arguments %s have no form in a SavedModel.",
        concrete.name.decode(), concrete.structured_input_signature,
    )  # fmt: skip
    return False


def _specs(structure: Any) -> Any:
    """Return the specs of a function's results, each named by the way to it: `t_0` for the first entry of "t"."""

    def spec(path: Sequence[Any], leaf: Any) -> Any:
        if isinstance(leaf, CompositeTensor):
            return leaf._type_spec
        name = re.sub("[^0-9A-Za-z_]", "_", "_".join(map(str, path))) or "unknown"
        return TensorSpec(leaf.shape, leaf.dtype.base_dtype, name) if isinstance(leaf, Tensor) else leaf

    return nest.map_structure_with_tuple_paths(spec, structure)


def fill_function_spec(message: Any, signature: inspect.Signature, input_signature: Any) -> None:
    """Write the parameters of a Python function."""
    parameters = list(signature.parameters.values())
    message.fullargspec.CopyFrom(encode_structure(_full_arg_spec(parameters)))
    try:
        message.input_signature.CopyFrom(encode_structure(_as_tuple(input_signature)))
    except NotEncodableError:
        message.input_signature.none_value.SetInParent()


def _as_tuple(input_signature: Sequence[Any] | None) -> Any:
    return None if input_signature is None else tuple(input_signature)


def _full_arg_spec(parameters: list[inspect.Parameter]) -> Any:
    empty = inspect.Parameter.empty
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    defaults = tuple(_default(p) for p in positional if p.default is not empty)
    by_name = {p.name: _default(p) for p in keywords if p.default is not empty}
    return named_tuple_class("FullArgSpec", FULL_ARG_SPEC)(
        [p.name for p in positional],
        next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None),
        next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), None),
        defaults or None,
        [p.name for p in keywords],
        by_name or None,
        {},
    )


def _default(parameter: inspect.Parameter) -> Any:
    return parameter.default if can_encode(parameter.default) else None
