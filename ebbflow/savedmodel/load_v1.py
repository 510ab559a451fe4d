"""TF 1 models as objects: `tf.saved_model.load` of a folder without an object graph.

The graph becomes functions, one a signature. What holds state in it (variables, tables) is made once, beside the
functions, and captured by them: variables are ordinary ones, trainable again, with their values from the checkpoint.
"""

from __future__ import annotations

from typing import Any

from ebbflow import messages
from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.registry import registry
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.signature import FunctionType, Parameter
from ebbflow.functions.trackable_resource import Asset
from ebbflow.functions.wrap_function import WrappedFunction, wrap_function
from ebbflow.graph.freezing import HANDLE_OPS, REFERENCE_OPS
from ebbflow.graph.graph import Graph
from ebbflow.graph.graph_util import reached
from ebbflow.graph.scope_names import node_name
from ebbflow.messages.attrs import attr_python
from ebbflow.ops.declare import raw
from ebbflow.runtime.session import Session
from ebbflow.savedmodel import constants, loader, reading
from ebbflow.savedmodel.objects import SignatureMap
from ebbflow.savedmodel.signature_defs import get_tensor_from_tensor_info
from ebbflow.state.variables import Variable
from ebbflow.trackable.auto import AutoTrackable

HELD_BY_NAME = ("HashTable", "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable")


class _Signature(WrappedFunction):
    """A signature of a TF 1 model: tensors by name in, tensors by name out."""

    @property
    def _arg_keywords(self) -> list[str]:
        return list(self.function_type.names)


def load_v1(meta: Any, folder: str, options: Any) -> AutoTrackable:
    """Return an object with the signatures, the variables and the graph of a TF 1 model."""
    state = _State(meta, folder, options)
    wrapped = state.wrapped()
    root = AutoTrackable()
    root.variables = list(state.variables.values())
    root.signatures = SignatureMap(_signatures(meta, wrapped))
    root.asset_paths = [Asset(path) for path in state.assets.values()]
    root._self_tables = list(state.handles.values())
    _initialize(meta, wrapped, state.assets)
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
        self._kept = reached(by_name, [node_name(name) for name in _ends(meta)])
        holders = [by_name[name] for name in by_name if name in self._kept]
        self.variables = self._made_variables([n for n in holders if n.op in HANDLE_OPS | REFERENCE_OPS], options)
        self.handles = {n.name: _table(n) for n in holders if n.op.removesuffix("V2") in HELD_BY_NAME}
        self.assets = reading.get_asset_tensors(folder, meta)
        self._references = {n.name for n in holders if n.op in REFERENCE_OPS}

    def _made_variables(self, nodes: list[Any], options: Any) -> dict[str, Any]:
        """Return variables with the values that the graph's own saver restores."""
        if not nodes:
            return {}
        trained = _trained(self._meta)
        values = self._values([node.name for node in nodes], options)
        return {
            node.name: Variable(values[node.name], trainable=node.name in trained, name=node.name) for node in nodes
        }

    def _values(self, names: list[str], options: Any) -> dict[str, Any]:
        graph = Graph()
        reader = loader.SavedModelLoader(self._folder, allow=True)
        tags = list(self._meta.meta_info_def.tags)
        with graph.as_default(), Session(graph=graph) as session:
            saver, _ = reader.load_graph(graph, tags)
            if not options.experimental_skip_checkpoint:
                reader.restore_variables(session, saver)
            found = session.run([f"{name}:0" for name in names])
        return {name: convert(getattr(value, "read", lambda value=value: value)()) for name, value in zip(names, found)}

    def wrapped(self) -> WrappedFunction:
        """Return the graph as a function to be cut to size, its state being captured."""
        part = messages.GraphDef(versions=self._meta.graph_def.versions, library=self._meta.graph_def.library)
        held = {*self.variables, *self.handles}
        part.node.extend(n for n in self._meta.graph_def.node if n.name in self._kept and n.name not in held)

        def build() -> None:
            graph = context.current_graph()
            bound: dict[str, Any] = {}
            for name, variable in self.variables.items():
                is_reference = name in self._references
                bound[name] = raw.Identity(variable.read_value()) if is_reference else graph.take(variable.handle, name)
            for name, handle in self.handles.items():
                bound[name] = graph.take(handle, name)
            used = {node_name(edge) for node in part.node for edge in node.input if not edge.startswith("^")}
            for node in part.node:
                node.input[:] = [e for e in node.input if not (e.startswith("^") and e[1:] in held)]
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


def _trained(meta: Any) -> set[str]:
    """Return the names of the nodes of trainable variables."""
    if "trainable_variables" not in meta.collection_def:
        return set()
    data = meta.collection_def["trainable_variables"].bytes_list.value
    return {node_name(messages.parse(messages.VariableDef, one).variable_name) for one in data}


def _table(node: Any) -> EagerTensor:
    """Return the handle of a new table like the one a node makes."""
    op = registry[node.op if node.op.endswith("V2") else node.op + "V2"]
    attrs = {name: attr_python(node.attr[name]) for name in node.attr if name in op.signature.attrs}
    attrs["shared_name"] = ""
    attrs["use_node_name_sharing"] = False
    return op(**{k: v for k, v in attrs.items() if k in op.signature.attrs})


def _signatures(meta: Any, wrapped: WrappedFunction) -> dict[str, Any]:
    reserved = (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY)
    return {name: _signature(wrapped, one, name) for name, one in meta.signature_def.items() if name not in reserved}


def _signature(wrapped: WrappedFunction, signature: Any, name: str) -> _Signature:
    names = sorted(signature.inputs)
    feeds = [get_tensor_from_tensor_info(signature.inputs[key], wrapped.graph) for key in names]
    fetches = {key: get_tensor_from_tensor_info(info, wrapped.graph) for key, info in sorted(signature.outputs.items())}
    for key, feed in zip(names, feeds, strict=True):
        if not hasattr(feed, "op"):
            raise errors.UnimplementedError(
                None,
                None,
                f"signature '{name}': input '{key}' is sparse or ragged; load it with tf.compat.v1.saved_model",
            )
    pruned = wrapped.prune(feeds, fetches, name=f"signature_{name}")
    kind = FunctionType(
        [
            (k, Parameter.KEYWORD_ONLY, TensorSpec(f.shape, f.dtype.base_dtype))
            for k, f in zip(names, feeds, strict=True)
        ]
    )
    graph: FuncGraph = pruned.graph
    graph.function_name = None
    return _Signature(graph, kind, wrapped._kept)


def _initialize(meta: Any, wrapped: WrappedFunction, assets: dict[str, str]) -> None:
    """Fill the tables."""
    with wrapped.graph.as_default():
        op = loader.init_op(meta)
    names = [op] if op is not None else []
    if not names and "table_initializer" in meta.collection_def:
        names = list(meta.collection_def["table_initializer"].node_list.value)
    if names:
        paths = [convert(path, dtypes.string) for path in assets.values()]
        wrapped.prune(list(assets), names)(*paths)
