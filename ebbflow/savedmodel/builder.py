"""`tf.saved_model.Builder` and `simple_save`: a session's graph, variables and files as a SavedModel in TF 1's manner.

Several graphs with tags of their own may share the variables of the first. The message is written last, by `save`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ebbflow import messages
from ebbflow.checkpoint.saver import Saver
from ebbflow.core import dtypes
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, PathLike, SessionLike
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.graph import get_default_graph
from ebbflow.graph.symbolic import Operation
from ebbflow.messages.tensors import make_ndarray
from ebbflow.platform import files, logging
from ebbflow.savedmodel import constants, reading
from ebbflow.savedmodel.signature_defs import op_signature_def, predict_signature_def


class SavedModelBuilder:
    """Collects graphs for one SavedModel."""

    def __init__(self, export_dir: Any):
        self._saved_model = messages.SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        self._export_dir = os.fspath(export_dir)
        if isinstance(self._export_dir, bytes):
            self._export_dir = self._export_dir.decode()
        if files.exists(self._export_dir):
            if files.listdir(self._export_dir):
                raise AssertionError(
                    f"Export directory {self._export_dir} already exists, and isn't empty. Please choose a different "
                    "export directory, or delete all the contents of the specified directory."
                )
        else:
            files.makedirs(self._export_dir)
        self._has_saved_variables = False
        self._saved_assets: dict[str, str] = {}

    # --- graphs -------------------------------------------------------------------------------------------------------

    def add_meta_graph_and_variables(
        self,
        sess: SessionLike,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Sequence[Any] | None = None,
        legacy_init_op: Nested = None,
        clear_devices: bool = False,
        main_op: Nested = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
        init_op: Nested = None,
        train_op: Nested = None,
        assets_list: Sequence[Any] | None = None,
    ) -> None:
        """Add the default graph under these tags, and the session's variables for it and all that follow."""
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke `add_meta_graph()` "
                "instead."
            )
        signatures = dict(signature_def_map or {})
        check_signatures(signatures)
        self._note_ops(legacy_init_op, _first(main_op, init_op), train_op, signatures)
        noted = self._note_assets(_first(assets_collection, assets_list))
        files.makedirs(files.join(self._export_dir, constants.VARIABLES_DIRECTORY))
        saver = self._saver(saver)
        saver.save(sess, reading.variables_path(self._export_dir), write_meta_graph=False, write_state=False)
        self._add(saver, tags, signatures, clear_devices, strip_default_attrs, noted)
        self._has_saved_variables = True

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Sequence[Any] | None = None,
        legacy_init_op: Nested = None,
        clear_devices: bool = False,
        main_op: Nested = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
        init_op: Nested = None,
        train_op: Nested = None,
        assets_list: Sequence[Any] | None = None,
    ) -> None:
        """Add the default graph under these tags; its variables are those that were saved before."""
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        signatures = dict(signature_def_map or {})
        check_signatures(signatures)
        self._note_ops(legacy_init_op, _first(main_op, init_op), train_op, signatures)
        noted = self._note_assets(_first(assets_collection, assets_list))
        self._add(self._saver(saver), tags, signatures, clear_devices, strip_default_attrs, noted)

    def _saver(self, saver: Any) -> Any:
        if saver is not None:
            return saver
        graph = get_default_graph()
        everything = [
            *graph.get_collection(GraphKeys.GLOBAL_VARIABLES),
            *graph.get_collection(GraphKeys.SAVEABLE_OBJECTS),
        ]
        return Saver(everything, sharded=True, write_version=messages.SaverDef.V2, allow_empty=True)

    def _add(
        self, saver: Any, tags: Iterable[str], signatures: dict[str, Any], clear_devices: bool, strip: bool, noted: Any
    ) -> None:
        if isinstance(tags, str):
            raise TypeError(f"tags must be a list of names, got {tags!r}")
        meta = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip)
        meta.meta_info_def.tags.extend(tags)
        for name, signature in signatures.items():
            meta.signature_def[name].CopyFrom(signature)
        meta.asset_file_def.extend(noted)
        self._saved_model.meta_graphs.add().CopyFrom(meta)

    # --- what goes along ----------------------------------------------------------------------------------------------

    def _note_ops(self, legacy_init_op: Any, main_op: Any, train_op: Any, signatures: dict[str, Any]) -> None:
        """Put the op that prepares a session into its collection, or among the signatures."""
        graph = get_default_graph()
        for op, key in ((legacy_init_op, constants.LEGACY_INIT_OP_KEY), (main_op, constants.MAIN_OP_KEY)):
            if op is None:
                continue
            if not isinstance(getattr(op, "op", op), Operation):
                raise TypeError(f"{key} needs to be an Operation: {op!r}")
            for taken in (constants.LEGACY_INIT_OP_KEY, constants.MAIN_OP_KEY):  # one op prepares a session
                if graph.get_collection(taken):
                    raise ValueError(f"Graph already contains one or more elements under the collection {taken}.")
            graph.add_to_collection(key, op)
        if train_op is not None:
            if not isinstance(getattr(train_op, "op", train_op), Operation):
                raise TypeError(f"`train_op` {train_op} needs to be a Tensor or Op.")
            key = constants.TRAIN_OP_SIGNATURE_KEY
            fetched = train_op if isinstance(train_op, Tensor) else getattr(train_op, "op", train_op)
            signatures[key] = op_signature_def(fetched, key)

    def _add_train_op(self, train_op: Any) -> None:
        """Note in the graph which op trains it; Estimators call this."""
        if train_op is not None:
            if not isinstance(getattr(train_op, "op", train_op), Operation):
                raise TypeError(f"`train_op` {train_op} needs to be a Tensor or Op.")
            get_default_graph().add_to_collection(constants.TRAIN_OP_KEY, train_op)

    def _note_assets(self, assets: Any) -> list[Any]:
        """Copy the files that tensors name, and note in the graph which tensor takes which."""
        graph = get_default_graph()
        graph.clear_collection(constants.ASSETS_KEY)
        found = []
        for tensor in assets or ():
            source = _asset_source(tensor)
            definition = messages.AssetFileDef(
                filename=self._copied(source), tensor_info=messages.TensorInfo(name=tensor.name)
            )
            packed = messages.message("google.protobuf.Any")()
            packed.Pack(definition)
            graph.add_to_collection(constants.ASSETS_KEY, packed)
            found.append(definition)
        return found

    def _copied(self, source: str) -> str:
        """Copy a file into the assets, once, under a name that no other has; return that name."""
        if source not in self._saved_assets:
            folder = files.join(self._export_dir, constants.ASSETS_DIRECTORY)
            files.makedirs(folder)
            base, taken = os.path.basename(source), set(self._saved_assets.values())
            name, number = base, 1
            while name in taken and not _same_bytes(source, files.join(folder, name)):
                name, number = f"{base}_{number}", number + 1
            if name not in taken:
                files.copy(source, files.join(folder, name), overwrite=True)
            self._saved_assets[source] = name
        return self._saved_assets[source]

    def save(self, as_text: bool = False) -> bytes:
        """Write the message, and return where it is."""
        files.makedirs(self._export_dir)
        name = constants.SAVED_MODEL_FILENAME_PBTXT if as_text else constants.SAVED_MODEL_FILENAME_PB
        path = files.join(self._export_dir, name)
        data = messages.to_text(self._saved_model) if as_text else messages.serialize(self._saved_model)
        files.atomic_write_string_to_file(path, data)
        logging.info("SavedModel written to: %s", path)
        return path.encode()


def _same_bytes(one: str, other: str) -> bool:
    """Return whether two files hold the same."""
    if files.stat(one).length != files.stat(other).length:
        return False
    left, right = (files.read_file_to_string(path, binary_mode=True) for path in (one, other))
    return bool(left == right)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _asset_source(tensor: Any) -> str:
    """Return the path that a constant holds."""
    if not isinstance(tensor, Tensor):
        raise ValueError(f"Asset path tensor {tensor} must be a Tensor.")
    node = getattr(tensor, "op", None)
    if node is None or node.type != "Const":
        raise TypeError(f"Asset path tensor {tensor} must be of type Const.")
    value = make_ndarray(node.node_def.attr["value"].tensor)
    if tensor.dtype is not dtypes.string or value.size != 1:
        raise TypeError(f"Asset path tensor {tensor} must be of dtype string and hold one path.")
    path = value.reshape(-1)[0].decode()
    if not path:
        raise ValueError(f"Asset path tensor {tensor} is invalid: it is empty.")
    return path


def check_signatures(signature_def_map: Mapping[str, Any]) -> None:
    """Refuse signatures whose tensors have no name or no dtype."""
    for key, signature in signature_def_map.items():
        if key in (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY):
            raise KeyError(f'SignatureDef map key "{key}" is reserved for initialization. Please use a different key.')
        for info in [*signature.inputs.values(), *signature.outputs.values()]:
            if info.WhichOneof("encoding") is None:
                raise AssertionError(
                    f"All TensorInfo protos used in the SignatureDefs must have the name field set: {info}."
                )
            if info.dtype == 0:
                raise AssertionError(
                    f"All TensorInfo protos used in the SignatureDefs must have the dtype field set: {info}."
                )


def simple_save(
    session: SessionLike,
    export_dir: PathLike,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Nested = None,
) -> None:
    """Write the session's graph with one signature, for serving."""
    signatures = {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)}
    builder = SavedModelBuilder(export_dir)
    with session.graph.as_default():
        builder.add_meta_graph_and_variables(
            session, [constants.SERVING], signatures, main_op=legacy_init_op, clear_devices=True,
            assets_collection=get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS),
        )  # fmt: skip
    builder.save()
