"""`tf.saved_model.save`: an object with its functions, variables, tables and files, as a folder that TensorFlow loads.

The message has two halves that say the same: the object graph, from which objects are rebuilt, and a plain graph with
signatures and a saver, for those who know sessions only. Values go into a checkpoint beside it. Everything is put
together before the first byte is written, and the message comes last: a folder with a `saved_model.pb` is complete.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ebbflow import messages
from ebbflow.checkpoint.registered import merge_parts, save_parts
from ebbflow.checkpoint.sharding import described as shardable
from ebbflow.checkpoint.sharding import save_dealt
from ebbflow.core import context
from ebbflow.core.identity import ObjectIdentityDictionary
from ebbflow.core.tensor import wrap
from ebbflow.core.typing import Nested
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.function import Function
from ebbflow.graph import graph_def as writing
from ebbflow.graph.debug_info import debug_info
from ebbflow.graph.graph_util import strip_debug_nodes
from ebbflow.graph.meta_graph import strip_graph_default_valued_attrs, stripped_op_list_for_graph
from ebbflow.graph.scopes import init_scope
from ebbflow.io.bundle_writer import BundleWriter
from ebbflow.platform import files, logging
from ebbflow.savedmodel import constants, flags, reading
from ebbflow.savedmodel.checkpoint_graph import CheckpointValues
from ebbflow.savedmodel.custom_gradients import traced_gradients
from ebbflow.savedmodel.fingerprint import write_fingerprint
from ebbflow.savedmodel.object_graph import ObjectGraph
from ebbflow.savedmodel.object_view import ObjectView
from ebbflow.savedmodel.objects import SignatureMap
from ebbflow.savedmodel.options import SaveOptions
from ebbflow.savedmodel.session_graph import SessionGraph
from ebbflow.savedmodel.signature_functions import canonicalize_signatures, default_inputs, find_function_to_export
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import SaveType


def save(obj: object, export_dir: Any, signatures: Nested = None, options: SaveOptions | None = None) -> None:
    """Write an object (a `tf.Module`, say) and what belongs to it to a folder.

    `signatures` is a function, or a dict of them; without, the object's only function that has an `input_signature` is
    the default signature.
    """
    _save(obj, export_dir, signatures, options)


def save_and_return_nodes(
    obj: Any,
    export_dir: Any,
    signatures: Any = None,
    options: SaveOptions | None = None,
    experimental_skip_checkpoint: bool = False,
) -> tuple[list[Any], ObjectIdentityDictionary]:
    """Write an object to a folder; return all objects in the order of their numbers, and the path to each."""
    view = _save(obj, export_dir, signatures, options, not experimental_skip_checkpoint).view
    return view.objects, view.references()


def export_meta_graph(obj: Any, filename: Any, signatures: Any = None, options: SaveOptions | None = None) -> None:
    """Write the MetaGraphDef of an object (its functions, signatures and object graph, no values) to a file."""
    path = files.text_of(filename)
    with init_scope():
        export = Export(obj, signatures, options or SaveOptions())
        files.makedirs(os.path.dirname(path) or ".")
        data = messages.serialize(export.message.meta_graphs[0])
        files.atomic_write_string_to_file(path, data)
        _write_debug_info(os.path.dirname(path), export)


def _save(obj: Any, export_dir: Any, signatures: Any, options: SaveOptions | None, with_values: bool = True) -> Export:
    if context.current_graph() is not None and getattr(context.current_graph(), "building_function", False):
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move the call to the outer "
            "eagerly-executed context."
        )
    if not isinstance(obj, Trackable):
        raise ValueError(
            f"Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` class, for "
            f"export. Got {obj} with type {type(obj)}."
        )
    folder = os.fspath(export_dir)
    folder = folder.decode() if isinstance(folder, bytes) else folder
    with init_scope():
        export = Export(obj, signatures, options or SaveOptions())
        _write(folder, export, with_values)
    return export


class Export:
    """A SavedModel put together: the message, the values and the files."""

    def __init__(self, root: Any, signatures: Any, options: SaveOptions):
        self.options = options
        own = getattr(root, "signatures", None)
        cache: dict[Any, Any] = {}
        children = root._trackable_children(
            SaveType.SAVEDMODEL, cache=cache
        )  # once: attributes may be properties that make things
        if signatures is None:
            signatures = own if isinstance(own, SignatureMap) and len(own) else find_function_to_export(root, children)
        if own is not None and not isinstance(own, SignatureMap):
            raise ValueError(
                f"Exporting an object {root} which has an attribute named 'signatures'. This is a reserved attribute "
                "used to store SavedModel signatures in objects which come from `tf.saved_model.load`. Delete this "
                "attribute (e.g. `del obj.signatures`) before saving if this shadowing is acceptable."
            )
        offered, concretes = canonicalize_signatures(signatures, options)
        defaults = default_inputs(signatures, concretes)
        self.view = ObjectView(root, offered, children, cache)
        self.library = writing.Library()
        self.objects = ObjectGraph(self.view, self.library, options)
        self.values = CheckpointValues(self.view, self.objects)
        self.gradients = traced_gradients(self.library) if options.experimental_custom_gradients else []
        self.objects.add_gradients(self.gradients)
        has_saver = not options.experimental_skip_saver
        keeps_devices = options.experimental_variable_policy._save_variable_devices()
        self.session = SessionGraph(
            self.objects, self.values, offered, self.library, defaults, has_saver, keeps_devices
        )
        self.message = self._message(options)

    def _message(self, options: SaveOptions) -> Any:
        saved = messages.SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        meta = saved.meta_graphs.add()
        info = meta.meta_info_def
        info.tags.extend([constants.SERVING, *(options.extra_tags or ())])
        info.tensorflow_version, info.tensorflow_git_version = writing.RELEASE, writing.GIT_VERSION
        for name, function in options.function_aliases.items():
            for concrete in _concrete_functions(function, name):
                info.function_aliases[self.library.name_of(concrete.graph)] = name
        self.session.fill(meta)
        for body in self.library.bodies:  # grows while it is walked: a body may call others
            if not body.saveable:
                raise ValueError(
                    f"Unable to save function '{self.library.name_of(body)}' for the following reason(s):\n"
                    + "\n".join(sorted(body.saving_errors))
                )
            written = meta.graph_def.library.function.add()
            writing.fill_function(written, body, self.library)
            _note_shapes(written, body)
        for traced in self.gradients:
            meta.graph_def.library.registered_gradients.add(
                gradient_func=self.library.name_of(traced.graph), registered_op_type=traced.rule
            )
        meta.graph_def.versions.producer = writing.PRODUCER
        meta.graph_def.versions.min_consumer = 12
        self.objects.fill(meta.object_graph_def)
        if options.experimental_debug_stripper:
            strip_debug_nodes(meta.graph_def)
        info.stripped_op_list.MergeFrom(stripped_op_list_for_graph(meta.graph_def))
        strip_graph_default_valued_attrs(meta)
        check_namespaces(meta.graph_def, options.namespace_whitelist)
        return saved

    def debug_info(self) -> Any:
        """Return where the nodes of functions were made, as a message."""
        library = self.library
        return debug_info((library.name_of(body), node.name, node) for body in library.bodies for node in body._nodes)


def check_namespaces(graph_def: Any, namespace_whitelist: Iterable[str] | None) -> None:
    """Refuse ops of namespaces that are not listed; without a list all are welcome."""
    if namespace_whitelist is None:
        return
    allowed, nodes = set(namespace_whitelist), list(graph_def.node)
    for function in graph_def.library.function:
        nodes.extend(function.node_def)
    foreign = sorted({node.op for node in nodes if ">" in node.op and node.op.split(">")[0] not in allowed})
    if foreign:
        raise ValueError(
            f"Attempted to save ops from non-whitelisted namespaces to SavedModel: {foreign}. Please verify that "
            "these ops should be saved, since they must be available when loading the SavedModel. If loading from "
            "Python, you must import the library defining these ops. Once you've confirmed this, add them to "
            "`SaveOptions(namespace_whitelist=...)`."
        )


def strip_debug(meta_graph_def: Any) -> None:
    """Make nodes that only check or print do nothing, in a MetaGraphDef."""
    strip_debug_nodes(meta_graph_def.graph_def)


def _concrete_functions(function: Any, name: str) -> list[Any]:
    """Return the traces that an alias is for: of a function, or those given one by one."""
    if isinstance(function, Function):
        return function._list_all_concrete_functions()
    given = function if isinstance(function, (list, tuple)) else [function]
    if not all(isinstance(one, ConcreteFunction) for one in given):
        raise TypeError(
            f"Unsupported type {type(function)} for the function alias '{name}'. Functions in `function_aliases` "
            "should be created by tf.function, or concrete functions, or collections of concrete functions."
        )
    return list(given)


def _note_shapes(function: Any, body: Any) -> None:
    """Say the shapes of a body's arguments: without them others know nothing of shapes inside."""
    shapes = function.attr["_input_shapes"].list.shape
    for tensor in body.inputs:
        shapes.add().CopyFrom(writing.shape_proto(tensor._dims))


def _write_values(path: str, export: Export) -> None:
    if export.values.registered:
        parts = save_parts(export.values.registered, path)
        _write_own_values(parts.rest.numpy().decode(), export)
        merge_parts(parts, path)
    else:
        _write_own_values(path, export)


def _write_own_values(path: str, export: Export) -> None:
    callback = export.options.experimental_sharding_callback
    if callback is not None:
        save_dealt(path, callback, [shardable(key, "", wrap(a, dtype)) for key, a, dtype in export.values.tensors()])
        return
    with BundleWriter(path) as writer:
        for key, array, dtype in export.values.tensors():
            writer.add(key, array, dtype)


def _write(folder: str, export: Export, with_values: bool) -> None:
    files.makedirs(files.join(folder, constants.VARIABLES_DIRECTORY))
    files.makedirs(files.join(folder, constants.ASSETS_DIRECTORY))
    for source, name in export.objects.assets.items():
        files.copy(source, files.join(folder, constants.ASSETS_DIRECTORY, name), overwrite=True)
    if with_values:
        _write_values(reading.variables_path(folder), export)
    data = messages.serialize(export.message)
    files.atomic_write_string_to_file(files.join(folder, constants.SAVED_MODEL_FILENAME_PB), data)
    if flags.config().saved_model_fingerprinting.value():
        write_fingerprint(folder, export.message, data)
    _write_debug_info(folder, export)
    logging.info("Assets written to: %s", files.join(folder, constants.ASSETS_DIRECTORY))


def _write_debug_info(folder: str, export: Export) -> None:
    if export.options.save_debug_info:
        files.makedirs(files.join(folder, constants.DEBUG_DIRECTORY))
        path = files.join(folder, constants.DEBUG_DIRECTORY, constants.DEBUG_INFO_FILENAME_PB)
        files.atomic_write_string_to_file(path, messages.serialize(export.debug_info()))
