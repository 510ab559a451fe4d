"""TF 1 models as objects: `tf.saved_model.load` of a folder without an object graph.

The graph becomes functions, one a signature. What holds state in it (variables, tables) is made once, beside the
functions, and captured by them: variables are ordinary ones, trainable again, with their values from the checkpoint.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from ebbflow import messages
from ebbflow.core import context, errors, nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.registry import registry
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.spec import TensorSpec
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.signature import FunctionType, Parameter
from ebbflow.functions.trackable_resource import Asset, TrackableResource
from ebbflow.functions.wrap_function import WrappedFunction, wrap_function
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.freezing import HANDLE_OPS, REFERENCE_OPS
from ebbflow.graph.graph import Graph
from ebbflow.graph.graph_util import reached
from ebbflow.graph.scope_names import node_name
from ebbflow.graph.scopes import control_dependencies
from ebbflow.messages.attrs import attr_python
from ebbflow.ops.declare import raw
from ebbflow.runtime.session import Session
from ebbflow.savedmodel import constants, loader, reading
from ebbflow.savedmodel.objects import SignatureMap
from ebbflow.savedmodel.signature_defs import get_tensor_from_tensor_info
from ebbflow.state.lookup.interface import remember_initializer
from ebbflow.state.variables import ResourceVariable
from ebbflow.trackable.auto import AutoTrackable

INITIALIZERS_KEY = "saved_model_initializers"
"""The collection of a graph that a model was loaded into: what gives the model's variables their values."""

HELD_BY_NAME = ("HashTable", "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable")


class UnliftableError(ValueError):
    """A part of a graph needs what nothing gives it."""

    ag_pass_through = True


class _Signature(WrappedFunction):
    """A signature of a TF 1 model: tensors by name in (or in the order of their names), tensors by name out."""

    def __init__(self, graph: FuncGraph, kind: FunctionType, variables: Sequence[Any], names: Sequence[str]):
        super().__init__(graph, kind, variables)
        self._names = self._keywords = list(names)

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The types of the arguments, all by name."""
        return (), dict(zip(self._names, self.function_type.types, strict=True))

    def _bound_flat(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        kinds = dict(zip(self._names, self.function_type.types, strict=True))
        named = {name: convert(value, kinds[name].dtype) if name in kinds else value for name, value in kwargs.items()}
        return super()._bound_flat([convert(x, t.dtype) for x, t in zip(args, kinds.values())], named)


class _Table(TrackableResource):
    """A table like the one that a node of the graph makes; what fills it is for `_Preparation`."""

    def __init__(self, node: Any):
        super().__init__()
        self._op = registry[node.op if node.op.endswith("V2") else node.op + "V2"]
        attrs = {name: attr_python(node.attr[name]) for name in node.attr}
        attrs.update(shared_name="", use_node_name_sharing=not context.executing_eagerly())
        self._attrs = {name: value for name, value in attrs.items() if name in self._op.signature.attrs}

    def _create_resource(self) -> Any:
        return self._op(**self._attrs)


class _Preparation(TrackableResource):
    """What a graph runs before its first use, once; an object of its own, so that it is saved with the model."""

    def __init__(self, run: WrappedFunction, assets: Sequence[Asset]):
        super().__init__()
        self._run, self._assets = run, assets

    def _create_resource(self) -> Any:
        return convert(1)  # nothing of its own

    def _initialize(self) -> Any:
        return self._run(*[asset.asset_path for asset in self._assets])


def load_v1(meta: Any, folder: str, options: Any) -> AutoTrackable:
    """Return an object with the signatures, the variables and the graph of a TF 1 model."""
    state = _State(meta, folder, options)
    wrapped = state.wrapped()
    root = AutoTrackable()
    root.variables = [variable for name, variable in state.variables.items() if name not in state.unlisted]
    root._self_other_variables = [state.variables[name] for name in state.unlisted]
    root.__dict__["restore"] = state.restore
    root.signatures = SignatureMap(_signatures(meta, wrapped))
    assets = root.asset_paths = [Asset(path) for path in state.assets.values()]
    root._self_tables = list(state.tables.values())
    prepare = _preparation(meta, wrapped, list(state.assets))
    if prepare is not None:
        preparation = root.initializer = _Preparation(prepare, assets)
        remember_initializer(preparation._initialize())
    state.remember_initializers()
    root.__dict__["tensorflow_version"] = meta.meta_info_def.tensorflow_version
    root.__dict__["tensorflow_git_version"] = meta.meta_info_def.tensorflow_git_version
    root.__dict__["graph"] = wrapped.graph
    root.__dict__["prune"] = wrapped.prune
    return root


class _State:
    """What of a graph keeps state, made outside of it."""

    def __init__(self, meta: Any, folder: str, options: Any):
        self._meta, self._folder = meta, folder
        by_name = {node.name: node for node in meta.graph_def.node}
        needed = reached(by_name, [node_name(name) for name in _ends(meta)])
        self._kept = needed | _harmless(meta.graph_def.node)
        self._described = _variable_defs(meta)
        self._local = _variable_defs(meta, ("local_variables",)).keys() - _variable_defs(meta, ("variables",)).keys()
        holders = [node for name, node in by_name.items() if name in self._kept or name in self._described]
        self.variables = self._made_variables([n for n in holders if n.op in HANDLE_OPS | REFERENCE_OPS], options)
        self.tables = {n.name: _Table(n) for n in holders if n.op.removesuffix("V2") in HELD_BY_NAME}
        self.assets = reading.get_asset_tensors(folder, meta)
        self._references = {n.name for n in holders if n.op in REFERENCE_OPS}
        self.unlisted = sorted(self._references - needed)  # of old kind, and no signature asks for them

    def _made_variables(self, nodes: list[Any], options: Any) -> dict[str, Any]:
        """Return variables with the values that the graph's own saver restores."""
        if not nodes:
            return {}
        trained = _trained(self._meta, self._described)
        values = self._values([node.name for node in nodes], options)
        return {
            node.name: ResourceVariable(
                values[node.name], trainable=node.name in trained, name=node.name,
                collections=[GraphKeys.LOCAL_VARIABLES] if node.name in self._local else None,
            )
            for node in nodes
        }  # fmt: skip

    def remember_initializers(self) -> None:
        """Where a graph is being built, note which of its operations give the variables their values."""
        if not context.executing_eagerly():
            names = [variable.initializer for variable in self.variables.values()]
            context.default_graph().get_collection_ref(INITIALIZERS_KEY).extend(names)

    def _values(self, names: list[str], options: Any, path: str | None = None) -> dict[str, Any]:
        """Return the values of variables: from a checkpoint (the model's own), else what their initializers give."""
        graph = Graph()
        reader = loader.SavedModelLoader(self._folder, allow=True)
        tags = list(self._meta.meta_info_def.tags)
        with graph.as_default(), Session(graph=graph) as session:
            saver, _ = reader.load_graph(graph, tags)
            if path is not None:
                saver.restore(session, path)
            elif not options.experimental_skip_checkpoint:
                reader.restore_variables(session, saver)
            found = [self._value(session, name) for name in names]
        return {name: convert(value) for name, value in zip(names, found, strict=True)}

    def _value(self, session: Any, name: str) -> Any:
        def read() -> Any:
            value = session.run(f"{name}:0")
            return value.read() if hasattr(value, "read") else value

        try:
            return read()
        except errors.FailedPreconditionError:  # not of those that are saved
            if name not in self._described:
                raise
            session.run(self._described[name].initializer_name)
            return read()

    def restore(self, path: Any) -> None:
        """Give the variables the values that a checkpoint of the model's graph holds, by name."""
        values = self._values(list(self.variables), None, os.fspath(path))
        for name, variable in self.variables.items():
            variable.assign(values[name])

    def wrapped(self) -> WrappedFunction:
        """Return the graph as a function to be cut to size, its state being captured."""
        part = messages.GraphDef(versions=self._meta.graph_def.versions, library=self._meta.graph_def.library)
        held = {*self.variables, *self.tables}
        part.node.extend(n for n in self._meta.graph_def.node if n.name in self._kept and n.name not in held)

        def build() -> None:
            graph = context.current_graph()
            bound: dict[str, Any] = {}
            for name, variable in self.variables.items():
                is_reference = name in self._references
                bound[name] = raw.Identity(variable.read_value()) if is_reference else graph.take(variable.handle, name)
            for name, table in self.tables.items():
                bound[name] = graph.take(table.resource_handle, name)
            used = {node_name(edge) for node in part.node for edge in node.input if not edge.startswith("^")}
            for node in part.node:
                node.input[:] = [e for e in node.input if not (e.startswith("^") and e[1:] in held)]
                node.attr.pop("_class", None)  # what they were to be placed with may be outside now
            import_graph_def(part, input_map={k: v for k, v in bound.items() if k in used}, name="")

        return wrap_function(build, [])


def _ends(meta: Any) -> list[str]:
    """Return the names of all that a model is for: results and inputs of signatures, what prepares it, assets."""
    names = []
    for signature in meta.signature_def.values():
        for info in [*signature.inputs.values(), *signature.outputs.values()]:
            sparse = info.coo_sparse
            parts = [c.name for c in info.composite_tensor.components]
            names += [info.name, sparse.values_tensor_name, sparse.indices_tensor_name, sparse.dense_shape_tensor_name]
            names += parts
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY, "table_initializer"):
        if key in meta.collection_def:
            names += list(meta.collection_def[key].node_list.value)
    names += [definition.tensor_info.name for definition in reading.asset_file_defs(meta, "")]
    return [name for name in names if name]


def _harmless(nodes: Sequence[Any]) -> set[str]:
    """Return the names of the nodes that only compute, and need none that do more."""
    spoilt: set[str] = set()
    for node in nodes:
        op = registry.find(node.op)
        holds = node.op in REFERENCE_OPS | HANDLE_OPS or node.op.removesuffix("V2") in HELD_BY_NAME
        if op is None or (not holds and (op.stateful or any(arg.is_ref for arg in op.signature.inputs))):
            spoilt.add(node.name)
    takers: dict[str, list[str]] = {}
    for node in nodes:
        for edge in node.input:
            takers.setdefault(node_name(edge.removeprefix("^")), []).append(node.name)
    waiting = list(spoilt)
    while waiting:
        for name in takers.get(waiting.pop(), ()):
            if name not in spoilt:
                spoilt.add(name)
                waiting.append(name)
    return {node.name for node in nodes} - spoilt


COLLECTIONS = ("variables", "trainable_variables", "local_variables")


def _variable_defs(meta: Any, collections: Sequence[str] = COLLECTIONS) -> dict[str, Any]:
    """Return what the collections say of variables, by the names of their nodes."""
    described = {}
    for key in collections:
        if key in meta.collection_def:
            for data in meta.collection_def[key].bytes_list.value:
                definition = messages.parse(messages.VariableDef, data)
                described[node_name(definition.variable_name)] = definition
    return described


def _trained(meta: Any, described: dict[str, Any]) -> set[str]:
    """Return the names of the nodes of trainable variables: since 1.13 each says it itself."""
    numbers = meta.meta_info_def.tensorflow_version.split(".")[:2]
    if all(number.isdigit() for number in numbers) and tuple(map(int, numbers)) >= (1, 13):
        return {name for name, definition in described.items() if definition.trainable}
    return set(_variable_defs(meta, ("trainable_variables",)))


def _signatures(meta: Any, wrapped: WrappedFunction) -> dict[str, Any]:
    reserved = (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY)
    return {name: _signature(wrapped, one, name) for name, one in meta.signature_def.items() if name not in reserved}


def _signature(wrapped: WrappedFunction, signature: Any, name: str) -> _Signature:
    feeds: dict[str, Any] = {}
    with wrapped.graph.as_default():  # sparse and ragged ones are put together
        for key in sorted(signature.inputs):
            feeds.update(_parts(key, get_tensor_from_tensor_info(signature.inputs[key], wrapped.graph)))
        infos = sorted(signature.outputs.items())
        fetches = {key: get_tensor_from_tensor_info(info, wrapped.graph) for key, info in infos}
    pruned = wrapped.prune(list(feeds.values()), fetches, name=f"signature_{name}")
    _check_fed(pruned.graph, name)
    parameters = [
        (re.sub(r"\W", "_", key), Parameter.POSITIONAL_OR_KEYWORD, TensorSpec(feed.shape, feed.dtype.base_dtype, key))
        for key, feed in feeds.items()
    ]
    graph: FuncGraph = pruned.graph
    graph.function_name = None
    return _Signature(graph, FunctionType(parameters), wrapped._kept, list(feeds))


def _parts(key: str, feed: Any) -> dict[str, Any]:
    """Return the tensors that an input is, by the names they are given under."""
    if isinstance(feed, SparseTensor):
        return {f"{key}_indices": feed.indices, f"{key}_values": feed.values, f"{key}_dense_shape": feed.dense_shape}
    if isinstance(feed, CompositeTensor):
        tensors = nest.flatten(feed, expand_composites=True)
        return {f"{key}_component_{i}": tensor for i, tensor in enumerate(tensors)}
    return {key: feed}


def _check_fed(graph: FuncGraph, name: str) -> None:
    """Refuse a signature whose outputs need a placeholder that is none of its inputs."""
    given = {tensor.op for tensor in graph.inputs}
    waiting = [tensor.op for tensor in nest.flatten(graph.outputs, expand_composites=True)]
    met = set(waiting)
    while waiting:
        node = waiting.pop()
        if node.type in ("Placeholder", "PlaceholderV2") and node not in given:
            raise UnliftableError(
                "A SavedModel signature needs an input for each placeholder the signature's outputs use. An output for "
                f"signature '{name}' depends on a placeholder which is not an input (i.e. the placeholder is not fed a "
                f"value).\n\nUnable to lift tensor {node.outputs[0]!r} because it depends transitively on "
                f"placeholder {node.name!r}."
            )
        if node in given:
            continue
        for other in [*(tensor.op for tensor in node.inputs), *node.control_inputs]:
            if other not in met:
                met.add(other)
                waiting.append(other)


def _preparation(meta: Any, wrapped: WrappedFunction, assets: list[str]) -> WrappedFunction | None:
    """Return the function of the assets' paths that fills the tables, if anything does."""
    with wrapped.graph.as_default():
        op = loader.init_op(meta)
        names = [op] if op is not None else []
        if not names and "table_initializer" in meta.collection_def:
            names = list(meta.collection_def["table_initializer"].node_list.value)
        if not names:
            return None
        with control_dependencies([wrapped.graph.as_graph_element(name) for name in names]):
            done = convert(1)  # a function in a SavedModel returns something
    return wrapped.prune(assets, done)
