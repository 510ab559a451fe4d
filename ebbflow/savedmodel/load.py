"""`tf.saved_model.load`: the objects of a SavedModel, rebuilt.

Every node of the object graph becomes an object: a variable with its value from the checkpoint, a table made and
filled by the functions that came with it, a function with its recorded traces. Functions are built when they are first
called. Models without an object graph (TF 1's) are for `load_v1`. Nothing of a model runs before `safety` has looked
at it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ebbflow import messages
from ebbflow.checkpoint.registered import restore_with
from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.shape import is_compatible
from ebbflow.core.tensor import EagerTensor
from ebbflow.eager.backprop import local_rules
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.dataflow_v1.graph_import import Library
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.signature import FunctionSignature
from ebbflow.functions.trackable_resource import Asset, CapturableResource, RestoredResource
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import init_scope
from ebbflow.io.bundle import BundleReader
from ebbflow.io.structures import decode_proto
from ebbflow.messages.tensors import make_ndarray, shape_dims
from ebbflow.ops.declare import raw
from ebbflow.savedmodel import reading, safety
from ebbflow.savedmodel.custom_gradients import loaded_rule, renamed_rules
from ebbflow.savedmodel.load_v1 import load_v1
from ebbflow.savedmodel.objects import SignatureMap, attach, revived
from ebbflow.savedmodel.options import LoadOptions, options_here
from ebbflow.savedmodel.restored_function import (
    RestoredConcreteFunction,
    RestoredFunction,
    bound_body,
    kind_of,
    python_signature,
    stub,
)
from ebbflow.state.lookup.interface import remember_initializer
from ebbflow.state.uninitialized_variable import UninitializedVariable
from ebbflow.state.variables import Variable, VariableAggregation, VariableSynchronization
from ebbflow.trackable.registration import get_registered_class, validate_restore_function

if TYPE_CHECKING:
    from ebbflow.trackable.base import Trackable


OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


def load(
    export_dir: Any,
    tags: Iterable[str] | str | None = None,
    options: LoadOptions | None = None,
    allow: Iterable[str] | str | None = None,
) -> Trackable:
    """Return the root object of the SavedModel in a folder; its signatures are `.signatures`.

    A model that writes files, calls Python or uses the network is refused, unless `allow` names those ops.
    """
    folder = os.fspath(export_dir)
    folder = folder.decode() if isinstance(folder, bytes) else folder
    if isinstance(tags, str):
        tags = [tags]
    saved = reading.parse_saved_model(folder)
    options = options or options_here()
    with init_scope():
        if len(saved.meta_graphs) == 1 and saved.meta_graphs[0].HasField("object_graph_def"):
            meta = _only_graph(saved.meta_graphs[0], tags, folder)
            safety.check(meta, f"SavedModel {folder}", allow)
            return Loader(meta, folder, options or LoadOptions()).load()
        meta = reading.get_meta_graph_def(saved, tags, folder)
        safety.check(meta, f"SavedModel {folder}", allow)
        return load_v1(meta, folder, options or LoadOptions())


def _only_graph(meta: Any, tags: Any, folder: str) -> Any:
    """Return the one graph of a model of objects; tags, where any are given, must be its own."""
    own = list(meta.meta_info_def.tags)
    if tags is not None and set(tags) != set(own):
        raise ValueError(
            f"Got an incompatible argument to `tags`: {tags}. The SavedModel at {folder} has one MetaGraph with tags "
            f"{own}. You may omit the argument, pass 'None', or pass matching tags."
        )
    return meta


def load_partial(
    export_dir: Any,
    filters: Mapping[str, Any],
    tags: Iterable[str] | str | None = None,
    options: LoadOptions | None = None,
    allow: Iterable[str] | str | None = None,
) -> dict[str, Any]:
    """Return objects of a SavedModel by their paths (`root.layers.0`).

    Where `filters` gives an object for a path (or a pair: the object, and what sets attributes on it), that one is used
    in place of a new one, and takes its values from the checkpoint.
    """
    folder = os.fspath(export_dir)
    saved = reading.parse_saved_model(folder)
    meta = reading.get_meta_graph_def(saved, tags, folder) if tags is not None else saved.meta_graphs[0]
    safety.check(meta, f"SavedModel {folder}", allow)
    with init_scope():
        loader = Loader(meta, folder, options or options_here() or LoadOptions())
        numbers = {path: loader.number_at(path) for path in filters}
        for path, use in filters.items():
            if use is not None:
                loader.existing[numbers[path]] = use if isinstance(use, tuple) else (use, setattr)
        loader.load()
        return {path: loader.object(number) for path, number in numbers.items()}


class Loader:
    """One SavedModel on its way to objects."""

    def __init__(self, meta: Any, folder: str, options: LoadOptions):
        self.existing: dict[int, tuple[Any, Callable[..., Any]]] = {}  # objects to use, and what sets their attributes
        self._meta, self._folder, self._options = meta, folder, options
        self._nodes = meta.object_graph_def.nodes
        self._saved = meta.object_graph_def.concrete_functions
        rules = renamed_rules(meta.graph_def)
        self._library = Library(meta.graph_def.library, FuncGraph("library"))
        self._constants = {node.name: node for node in meta.graph_def.node if node.op == "Const"}
        self._assets = reading.asset_file_defs(meta, folder)
        self._bare: dict[str, Any] = {}  # by the name of a function: what is known of it as a concrete function
        self._python: dict[str, Any] = {}  # by the name of a trace: the parameters of its Python function
        self._concrete: dict[str, ConcreteFunction] = {}
        self._objects: list[Any] = []
        self._rules = [self._rule(*row) for row in rules.items()]  # held by the functions whose nodes name them

    def load(self) -> Any:
        """Return the root, with all that belongs to it."""
        if not self._nodes:
            raise errors.DataLossError(None, None, f"SavedModel {self._folder} has an object graph without objects")
        functions = {function.signature.name: function for function in self._meta.graph_def.library.function}
        self._library.check_ops((), safety.reachable(functions, self._saved))
        self._check_references()
        for node in self._nodes:
            if node.WhichOneof("kind") == "bare_concrete_function":
                self._bare[node.bare_concrete_function.concrete_function_name] = node.bare_concrete_function
            elif node.WhichOneof("kind") == "function":
                self._python.update(dict.fromkeys(node.function.concrete_functions, node.function.function_spec))
        values = _Values(self._folder, self._nodes, self._options)
        self._make_objects(values)
        setters = {id(obj): setter for obj, setter in self.existing.values()}
        for whole in (False, True):  # concrete functions last: what they capture is complete by then
            for parent, node in zip(self._objects, self._nodes, strict=True):
                for child in node.children:
                    if (self._nodes[child.node_id].WhichOneof("kind") == "bare_concrete_function") is whole:
                        self._attach(parent, child.local_name, self._objects[child.node_id], setters.get(id(parent)))
        self._fill_resources(values)
        values.restore_registered(self._objects)
        root = self._objects[0]
        if self.existing:
            return root
        info = self._meta.meta_info_def
        root.__dict__["tensorflow_version"] = info.tensorflow_version
        root.__dict__["tensorflow_git_version"] = info.tensorflow_git_version
        if not hasattr(root, "signatures"):
            root.signatures = SignatureMap({})
        if self._options.experimental_load_function_aliases:
            if hasattr(root, "function_aliases"):
                raise ValueError(
                    f"SavedModel {self._folder}: experimental_load_function_aliases needs the attribute "
                    "`function_aliases` of the top-level object, which has one of its own"
                )
            root.__dict__["function_aliases"] = self._functions_by_alias()
        return root

    def _functions_by_alias(self) -> dict[str, Any]:
        """Return the functions that got other names when they were saved, by those."""
        aliases = self._meta.meta_info_def.function_aliases
        return {
            aliases[name]: self.object(number)
            for number, node in enumerate(self._nodes)
            if node.WhichOneof("kind") == "function"
            for name in node.function.concrete_functions
            if name in aliases
        }

    def number_at(self, path: str) -> int:
        """Return the number of the object at a path of names that begins with `root`."""
        number = 0
        names = path.split(".")
        if names[0] != "root":
            raise ValueError(f"When specifying filters, all names must start with 'root'. Got: {path}")
        for name in names[1:]:
            children = {child.local_name: child.node_id for child in self._nodes[number].children}
            if name not in children:
                raise ValueError(f"SavedModel {self._folder}: there is no {name!r} on the way {path!r}")
            number = children[name]
        return number

    def object(self, number: int) -> Any:
        """Return the object of a number, once loaded."""
        found = self._objects[number]
        return found.make() if isinstance(found, _Later) else found

    def _check_references(self) -> None:
        """Refuse numbers of objects that there are not, and functions that are not in the library."""
        count = len(self._nodes)
        for i, node in enumerate(self._nodes):
            saveables = [n for s in node.saveable_objects.values() for n in (s.save_function, s.restore_function)]
            needed = (reference.node_id for reference in node.dependencies)
            for number in [*(child.node_id for child in node.children), *needed, *saveables]:
                if not 0 <= number < count:
                    raise self._broken(f"object {i} refers to object {number} of {count}")
            named = {child.local_name for child in node.children}
            if node.WhichOneof("kind") == "resource" and "_create_resource" not in named:
                raise self._broken(f"object {i} is a resource that nothing makes: it has no _create_resource")
            for number in saveables:
                if self._nodes[number].WhichOneof("kind") != "bare_concrete_function":
                    raise self._broken(f"object {i} is to be saved by object {number}, which is no function")
            names = list(node.function.concrete_functions) if node.WhichOneof("kind") == "function" else []
            for name in [name for name in names if name not in self._saved]:
                raise self._broken(f"object {i} has the trace '{name}', which is not described")
        for name, saved in self._saved.items():
            if any(not 0 <= number < count for number in saved.bound_inputs):
                raise self._broken(f"function '{name}' captures an object that there is not")

    def _broken(self, what: str) -> errors.DataLossError:
        return errors.DataLossError(None, None, f"SavedModel {self._folder}: {what}")

    # --- objects ------------------------------------------------------------------------------------------------------

    def _make_objects(self, values: _Values) -> None:
        """Make all objects; what one needs to be made comes first."""
        made: dict[int, Any] = {}
        waiting: list[int] = []

        def make(number: int) -> Any:
            if number in waiting:
                raise self._broken(f"object {number} depends on itself")
            if number not in made:
                waiting.append(number)
                node = self._nodes[number]
                needed = {reference.local_name: make(reference.node_id) for reference in node.dependencies}
                made[number] = self._made(number, node, values, needed)
                waiting.pop()
            return made[number]

        self._objects = [make(number) for number in range(len(self._nodes))]

    def _made(self, number: int, node: Any, values: _Values, needed: dict[str, Any]) -> Any:
        kind = node.WhichOneof("kind")
        registered = get_registered_class(node.registered_name) if node.registered_name else None
        if registered is not None and number not in self.existing:
            return self._registered(registered, number, node, values, needed)
        if number in self.existing:
            existing = self.existing[number][0]
            if kind == "variable" and not self._options.experimental_skip_checkpoint:
                _give(values.variable(number, node.variable, shape_dims(node.variable.shape)), existing)
            return existing
        if kind == "user_object":
            return revived(node)
        if kind == "variable":
            return self._variable(number, node.variable, values)
        if kind == "function":
            return self._function(node.function)
        if kind == "bare_concrete_function":
            return _Later(functools.partial(self.build, node.bare_concrete_function.concrete_function_name))
        if kind == "asset":
            return self._asset(node.asset.asset_file_def_index)
        if kind == "constant":
            return self._constant(node.constant.operation)
        if kind == "captured_tensor":
            return None  # of a function's inside: gradient functions ask for it by name
        if kind == "resource":
            return RestoredResource(device=node.resource.device if self._options.keeps_devices else "")
        raise self._broken(f"object {number} is of a kind that is not read here: {kind}")

    def _registered(self, cls: Any, number: int, node: Any, values: _Values, needed: dict[str, Any]) -> Any:
        """Return an object that its own class makes anew; a variable takes its value from the checkpoint."""
        made = cls._deserialize_from_proto(
            proto=node.serialized_user_proto, object_proto=node, dependencies=needed, export_dir=self._folder,
            asset_file_def=self._assets,
            operation_attributes={name: constant.attr for name, constant in self._constants.items()},
        )  # fmt: skip
        if node.WhichOneof("kind") == "variable" and not node.registered_saver:
            _give(values.variable(number, node.variable, shape_dims(node.variable.shape)), made)
        return made

    def _variable(self, number: int, saved: Any, values: _Values) -> Any:
        dims = shape_dims(saved.shape)
        value = values.variable(number, saved, dims)
        about: dict[str, Any] = {
            "trainable": saved.trainable, "name": saved.name or None, "dtype": dtypes.as_dtype(saved.dtype),
            "shape": dims, "synchronization": VariableSynchronization(saved.synchronization),
            "aggregation": VariableAggregation(saved.aggregation),
        }  # fmt: skip
        return UninitializedVariable(**about) if value is None else Variable(value, **about)

    def _asset(self, index: int) -> Asset:
        if not 0 <= index < len(self._assets):
            raise self._broken(f"there is no asset number {index}")
        made = Asset(reading.asset_path(self._folder, self._assets[index].filename))
        if not context.executing_eagerly():
            context.default_graph().add_to_collection(GraphKeys.ASSET_FILEPATHS, made.asset_path)
        return made

    def _constant(self, name: str) -> EagerTensor:
        node = self._constants.get(name)
        if node is None:
            raise self._broken(f"the constant '{name}' is not in the graph")
        proto = node.attr["value"].tensor
        return EagerTensor(make_ndarray(proto), dtypes.as_dtype(proto.dtype))

    def _attach(self, parent: Any, name: str, child: Any, setter: Callable[..., Any] | None = None) -> None:
        if isinstance(parent, (RestoredFunction, _Later, EagerTensor)):
            return  # its traces, and what they capture: known already
        if setter is not None:
            setter(parent, name, child.make() if isinstance(child, _Later) else child)
            return
        if isinstance(child, _Later) and not isinstance(parent, SignatureMap):
            child = child.make()
        attach(parent, name, child.make if isinstance(child, _Later) else child)

    def _fill_resources(self, values: _Values) -> None:
        """Make and fill tables, then give them what the checkpoint holds."""
        for made in self._objects:
            if isinstance(made, CapturableResource):  # of a program's own, too: it is filled with what was saved
                made.resource_handle  # noqa: B018  (made when asked for)
                if callable(made._initialize):
                    remember_initializer(made._initialize())
        if self._options.experimental_skip_checkpoint:
            return
        for number, node in enumerate(self._nodes):
            for name, functions in node.saveable_objects.items():
                save, restore = (self._objects[n].make() for n in (functions.save_function, functions.restore_function))
                self._objects[number]._saved_saveables = {
                    **getattr(self._objects[number], "_saved_saveables", {}), name: (save, restore)
                }  # fmt: skip
                values.restore_saveable(number, name, save, restore)

    # --- functions ----------------------------------------------------------------------------------------------------

    def _function(self, saved: Any) -> RestoredFunction:
        traces = [(self._saved[name], functools.partial(self.build, name)) for name in saved.concrete_functions]
        return RestoredFunction(_own_name(saved.concrete_functions), saved.function_spec, traces)

    def _rule(self, rule: str, name: str) -> Callable[..., Any]:
        """Make the gradient function of a name the rule of the nodes that name it."""
        saved = self._saved.get(name)
        if saved is None:
            raise self._broken(f"gradient function '{name}' is not described")
        body, captured = functools.partial(self._library.body, name, {}), functools.partial(self._captured, name=name)
        local_rules[rule] = made = loaded_rule(name, body, saved, self._nodes, captured)
        return made

    def build(self, name: str) -> ConcreteFunction:
        """Return the concrete function of a name, built once."""
        if name not in self._concrete:
            saved = self._saved.get(name)
            if saved is None:
                raise self._broken(f"function '{name}' is not described")
            captures = [self._captured(number, name) for number in saved.bound_inputs]
            body = self._library.body(name, {})
            if len(body.inputs) < len(captures):
                raise self._broken(f"function '{name}' has {len(body.inputs)} arguments and {len(captures)} captures")
            bare = self._bare.get(name)
            keywords = list(bare.argument_keywords) if bare is not None else None
            positional = bare.allowed_positional_arguments if bare is not None else 0
            spec, signature = bare.function_spec if bare is not None else self._python.get(name), None
            if spec is not None and spec.HasField("fullargspec") and saved.HasField("output_signature"):
                signature = FunctionSignature(stub(name, python_signature(spec)))
            kind = kind_of(saved, _fitting(signature, saved), keywords or ())
            output = decode_proto(saved.output_signature)
            graph = bound_body(body, captures, output, name)
            if len(kind.flat_types()) != len(graph.inputs) - len(captures):
                raise self._broken(f"function '{name}' takes other arguments than its signature says")
            graph.__dict__["_local_rules"] = self._rules
            self._concrete[name] = RestoredConcreteFunction(graph, kind, keywords, positional, output)
        return self._concrete[name]

    def _captured(self, number: int, name: str) -> Any:
        """Return the tensor by which an object goes into a function."""
        made = self._objects[number]
        if isinstance(made, CapturableResource):
            return made.resource_handle
        if isinstance(made, Asset):
            return made.asset_path
        if isinstance(made, EagerTensor):
            return made
        handle = getattr(made, "_tape_handle", None)
        if handle is None:
            raise self._broken(
                f"function '{name}' captures object {number}, a {type(made).__name__}, which has no tensor"
            )
        return handle


class _Later(NamedTuple):
    """A concrete function that is built when somebody needs it."""

    make: Callable[[], ConcreteFunction]


def _fitting(signature: FunctionSignature | None, saved: Any) -> FunctionSignature | None:
    """Return a Python signature where a trace's arguments are those it has parameters for."""
    if signature is None:
        return None
    args, kwargs = decode_proto(saved.canonicalized_input_signature)
    try:
        bound = signature.python.bind(*args, **kwargs)
    except TypeError:
        return None
    return signature if len(bound.args) == len(args) else None


def _own_name(names: Sequence[str]) -> str:
    """Return what a function was called, from its traces: `__inference_f_12` is `f`."""
    if not names:
        return "function"
    return names[0].removeprefix("__inference_").rpartition("_")[0] or names[0]


# --- values -----------------------------------------------------------------------------------------------------------


def _give(value: Any, variable: Any) -> None:
    """Give a variable that there is already its value; one of a graph gets it when it is initialised."""
    if value is None:  # not in the checkpoint, and need not be
        return
    if getattr(variable, "_in_graph", False):
        variable._initializer = variable.assign(value, read_value=False)
    else:
        variable.assign(value)


class _Values:
    """The checkpoint beside a SavedModel, and which of its keys belong to which object."""

    def __init__(self, folder: str, nodes: Sequence[Any], options: LoadOptions):
        self._folder = folder
        self._skips, self._is_partial = options.experimental_skip_checkpoint, options.allow_partial_checkpoint
        self._reader: BundleReader | None = None
        self._keys: dict[int, dict[str, str]] = {}
        self._savers: dict[int, tuple[str, str]] = {}
        if self._skips:
            return
        if not reading.has_variables(folder):
            if any(node.WhichOneof("kind") == "variable" for node in nodes):
                raise errors.NotFoundError(None, None, f"SavedModel {folder} has no variables/variables.index")
            return
        self._reader = BundleReader(reading.variables_path(folder))
        if OBJECT_GRAPH_KEY in self._reader:
            data = self._reader.read(OBJECT_GRAPH_KEY).item()
            graph = messages.parse(messages.TrackableObjectGraph, data, f"{reading.variables_path(folder)}.index")
            self._keys, self._savers = _keys_by_object(nodes, graph.nodes)

    def variable(self, number: int, saved: Any, dims: Any) -> Any:
        """Return the value of a variable, checked against what the object graph says of it.

        None says that there is none, and that the options allow it.
        """
        if self._skips:
            return None
        key = self._keys.get(number, {}).get("VARIABLE_VALUE")
        if key is None or self._reader is None or key not in self._reader:
            if self._is_partial:
                return None
            raise errors.NotFoundError(
                None,
                None,
                f"SavedModel {self._folder}: the checkpoint has no value for variable '{saved.name}'"
                f"{'' if key is None else f': Key {key} not found in {reading.variables_path(self._folder)}'}. To load "
                "what there is, ask for tf.saved_model.LoadOptions(allow_partial_checkpoint=True)",
            )
        dtype, shape = self._reader.dtype_of(key), self._reader.shape_of(key)
        if dtype.as_datatype_enum != saved.dtype or not is_compatible(tuple(shape), dims):
            told = f"{dtypes.as_dtype(saved.dtype).name} {dims} in the object graph"
            raise errors.DataLossError(
                None, None, f"SavedModel {self._folder}: variable '{saved.name}' is {told}, and {dtype.name} {shape} "
                f"in the checkpoint ({key})",
            )  # fmt: skip
        return EagerTensor(self._reader.read(key), dtype)

    def restore_registered(self, objects: Sequence[Any]) -> None:
        """Have savers of the program restore what they saved."""
        registered: dict[str, dict[str, Any]] = {}
        for number, (saver, name) in self._savers.items():
            validate_restore_function(objects[number], saver)
            registered.setdefault(saver, {})[name] = objects[number]
        restore_with(registered, reading.variables_path(self._folder))

    def restore_saveable(self, number: int, name: str, save: Any, restore: Any) -> None:
        """Give an object that saves and restores by functions what the checkpoint holds for it."""
        key = self._keys.get(number, {}).get(name)
        if key is None or self._reader is None:
            return
        specs = save(EagerTensor(np.array(key.encode(), object), dtypes.string))
        if not context.executing_eagerly():
            names, slices = raw.Pack([s["name"] for s in specs]), raw.Pack([s["slice_spec"] for s in specs])
            path, types = convert(reading.variables_path(self._folder)), [s["tensor"].dtype for s in specs]
            remember_initializer(restore(*raw.RestoreV2(path, names, slices, dtypes=types)))
            return
        tensors = []
        for spec in specs:
            full = spec["name"].numpy().decode()
            tensors.append(EagerTensor(self._reader.read(full), self._reader.dtype_of(full)))
        restore(*tensors)


def _keys_by_object(
    nodes: Sequence[Any], checkpointed: Sequence[Any]
) -> tuple[dict[int, dict[str, str]], dict[int, tuple[str, str]]]:
    """Return the checkpoint's keys by object and attribute, and by object the saver of a program and its name there.

    Both graphs are walked along the same names, and from optimizers to the slots they have for the same variables.
    """
    found: dict[int, dict[str, str]] = {}
    savers: dict[int, tuple[str, str]] = {}
    stack, seen = [(0, 0)], {(0, 0)}
    while stack or (stack := _slots_beside(nodes, checkpointed, seen)):
        mine, theirs = stack.pop()
        if not 0 <= theirs < len(checkpointed):
            raise errors.DataLossError(None, None, f"the checkpoint's object graph has no object {theirs}")
        found.setdefault(mine, {}).update({a.name: a.checkpoint_key for a in checkpointed[theirs].attributes})
        if checkpointed[theirs].registered_saver.name:
            saver = checkpointed[theirs].registered_saver
            savers[mine] = saver.name, saver.object_name
        children = {child.local_name: child.node_id for child in checkpointed[theirs].children}
        for child in nodes[mine].children:
            pair = (child.node_id, children.get(child.local_name, -1))
            if pair[1] >= 0 and pair not in seen:
                seen.add(pair)
                stack.append(pair)
    return found, savers


def _slots_beside(
    nodes: Sequence[Any], checkpointed: Sequence[Any], seen: set[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return pairs of slot variables that were not seen yet, of optimizers and variables that were; note them."""
    beside: dict[int, list[int]] = {}
    for mine, theirs in seen:
        beside.setdefault(mine, []).append(theirs)
    found = set()
    for mine, theirs in seen:
        there = {(s.original_variable_node_id, s.slot_name): s for s in checkpointed[theirs].slot_variables}
        for slot in nodes[mine].slot_variables:
            for original in beside.get(slot.original_variable_node_id, ()):
                if (original, slot.slot_name) in there:
                    found.add((slot.slot_variable_node_id, there[original, slot.slot_name].slot_variable_node_id))
    found -= seen
    seen |= found
    return list(found)
