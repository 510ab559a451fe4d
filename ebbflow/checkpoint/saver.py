"""`tf.train.Saver`: saves a session's variables (or eager ones) by name, and keeps the latest few checkpoints.

The nodes it runs are made by `builders`; the list of checkpoints in a folder is kept by `management`. A MetaGraph is
written beside each checkpoint.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow import messages
from ebbflow.checkpoint import management, saveables
from ebbflow.checkpoint.builders import V2, BulkSaverBuilder
from ebbflow.core import context, errors
from ebbflow.core.shape import dims_str
from ebbflow.core.typing import Message, PathLike, TensorLike
from ebbflow.functions.meta_graph_import import import_scoped_meta_graph_with_return_elements
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.meta_graph import add_collection_def, export_scoped_meta_graph, read_meta_graph_file
from ebbflow.graph.proto_functions import register_proto_function
from ebbflow.graph.scope_names import prepend_name_scope, strip_name_scope
from ebbflow.io.save_ops import check_names, open_checkpoint
from ebbflow.platform import files, logging
from ebbflow.state.base import Variable
from ebbflow.trackable.constants import OBJECT_GRAPH_PROTO_KEY

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph
    from ebbflow.state.base import Variable


_FIELDS = ("filename_tensor_name", "save_tensor_name", "restore_op_name")


class Saver:
    """Saves and restores variables.

    >>> import ebbflow.v1 as tf, tempfile
    >>> with tf.Graph().as_default(), tf.Session() as sess, tempfile.TemporaryDirectory() as folder:
    ...     v = tf.Variable(3.0, name="v")
    ...     saver = tf.train.Saver()
    ...     sess.run(v.initializer)
    ...     path = saver.save(sess, folder + "/model", global_step=7)
    ...     _ = sess.run(v.assign(0.0))
    ...     saver.restore(sess, path)
    ...     os.path.basename(path), float(sess.run(v))
    ('model-7', 3.0)
    """

    def __init__(
        self,
        var_list: Iterable[Any] | None = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Message | None = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ):
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                "var_list=None."
            )
        if context.executing_eagerly() and var_list is None:
            raise RuntimeError(
                "When eager execution is enabled, `var_list` must specify a list or dict of variables to save"
            )
        if saver_def is not None and not isinstance(saver_def, messages.SaverDef):
            raise ValueError(f"if `saver_def` is not None, it must be of type SaverDef: {saver_def}")
        self._var_list = var_list
        self._options: dict[str, Any] = {
            "reshape": reshape, "sharded": sharded, "max_to_keep": max_to_keep,
            "keep_checkpoint_every_n_hours": keep_checkpoint_every_n_hours, "name": name,
            "restore_sequentially": restore_sequentially,
        }  # fmt: skip
        self.saver_def: Any = saver_def
        self._builder = builder
        self._is_built = False
        self._allow_empty = allow_empty
        self._is_empty = False
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._filename = filename
        self._last_checkpoints: list[tuple[str, float]] = []
        self._checkpoints_to_be_deleted: list[tuple[str, float]] = []
        self._next_checkpoint_time = time.time() + keep_checkpoint_every_n_hours * 3600
        self._save_relative_paths = save_relative_paths
        self._object_restore_saver: Any = None
        if context.executing_eagerly():
            self._take_options(saver_def)
        elif not defer_build:
            self.build()
        elif saver_def:
            self._take_options(saver_def)

    def _take_options(self, saver_def: Any) -> None:
        if saver_def is None:
            return
        self._write_version = saver_def.version
        self._options["max_to_keep"] = saver_def.max_to_keep
        self._options["keep_checkpoint_every_n_hours"] = saver_def.keep_checkpoint_every_n_hours

    # --- its nodes ----------------------------------------------------------------------------------------------------

    def build(self) -> None:
        """Make the nodes, where `defer_build` put that off."""
        if context.executing_eagerly():
            raise RuntimeError("Use save/restore instead of build in eager mode.")
        self._build(self._filename, True, True)

    def _build_eager(self, checkpoint_path: str, build_save: bool, build_restore: bool) -> None:
        self._build(checkpoint_path, build_save, build_restore)

    def _build(self, checkpoint_path: str | None, build_save: bool, build_restore: bool) -> None:
        eager = context.executing_eagerly()
        if not eager:
            if self._is_built:
                return
            self._is_built = True
        if self.saver_def is None or eager:
            if self._builder is None:
                self._builder = BulkSaverBuilder(self._write_version)
            if self._var_list is None:
                self._var_list = saveables.all_saveables()
            if isinstance(self._var_list, (dict, list, tuple, set)) and not self._var_list:
                if not self._allow_empty:
                    raise ValueError("No variables to save")
                self._is_empty = True
                return
            self._is_empty = False
            self.saver_def = self._builder._build_internal(
                self._var_list, filename=checkpoint_path, build_save=build_save, build_restore=build_restore,
                **self._options,
            )  # fmt: skip
        elif self._options["name"]:
            for field in _FIELDS:
                setattr(
                    self.saver_def, field, prepend_name_scope(getattr(self.saver_def, field), self._options["name"])
                )
        self._check_saver_def()
        if not eager:
            self._next_checkpoint_time = time.time() + self.saver_def.keep_checkpoint_every_n_hours * 3600

    def _check_saver_def(self) -> None:
        if not isinstance(self.saver_def, messages.SaverDef):
            raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {self.saver_def}")
        if context.executing_eagerly():
            return
        for field in _FIELDS[1:]:
            if not getattr(self.saver_def, field):
                raise ValueError(f"saver_def must specify the {field}: {self.saver_def}")

    # --- as a message -------------------------------------------------------------------------------------------------

    def as_saver_def(self) -> Message:
        """Return the SaverDef that names this saver's nodes."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return the SaverDef, its names without a scope (None where the saver is not in that scope)."""
        if export_scope is None:
            return self.saver_def
        names = [getattr(self.saver_def, field) for field in _FIELDS]
        if not all(name.startswith(export_scope) for name in names):
            return None
        stripped = messages.SaverDef()
        stripped.CopyFrom(self.saver_def)
        for field, name in zip(_FIELDS, names, strict=True):
            setattr(stripped, field, strip_name_scope(name, export_scope))
        return stripped

    @staticmethod
    def from_proto(saver_def: Message, import_scope: str | None = None) -> Saver:
        """Return the saver whose nodes a SaverDef names; they are in the default graph, maybe under a scope."""
        return Saver(saver_def=saver_def, name=import_scope)

    # --- the checkpoints it keeps -------------------------------------------------------------------------------------

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that were not removed, oldest first."""
        return [self._CheckpointFilename(pair) for pair in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """Say which checkpoints there are, oldest first."""
        assert isinstance(last_checkpoints, list)
        self._last_checkpoints = [(path, np.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: list[tuple[str, float]]) -> None:
        """Say which checkpoints there are, oldest first, with the seconds at which they were written."""
        assert isinstance(last_checkpoints_with_time, list)
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[Any]) -> None:
        """Find out which of these checkpoints there are, after a program was started again."""
        known = []
        for path in checkpoint_paths:
            known += [(path, written) for written in management.get_checkpoint_mtimes([path])]
        self.set_last_checkpoints_with_time(known)

    def _CheckpointFilename(self, p: tuple[str, float]) -> str:
        return p[0]

    def _RecordLastCheckpoint(self, latest_save_path: str) -> None:
        if not self.saver_def.max_to_keep:
            return
        self._last_checkpoints = [p for p in self._last_checkpoints if p[0] != latest_save_path]
        self._last_checkpoints.append((latest_save_path, time.time()))
        if len(self._last_checkpoints) > self.saver_def.max_to_keep:
            self._checkpoints_to_be_deleted.append(self._last_checkpoints.pop(0))

    def _MaybeDeleteOldCheckpoints(self, meta_graph_suffix: str = "meta") -> None:
        if not self._checkpoints_to_be_deleted:
            return
        path, written = self._checkpoints_to_be_deleted.pop(0)
        if written > self._next_checkpoint_time:
            self._next_checkpoint_time += self.saver_def.keep_checkpoint_every_n_hours * 3600
            return
        try:
            management.remove_checkpoint(path, self.saver_def.version, meta_graph_suffix)
        except Exception as error:  # whatever stands in the way of tidying up must not end a training
            logging.warning("Ignoring: %s", error)

    # --- saving -------------------------------------------------------------------------------------------------------

    def save(
        self,
        sess: Any,
        save_path: Any,
        global_step: Variable | TensorLike | None = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Save the variables, and return the prefix of the checkpoint (None where there is nothing to save)."""
        if not self._is_built and not context.executing_eagerly():
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        latest_filename = latest_filename or management.LIST
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        if self._write_version != V2:
            logging.warning("Checkpoints of the first format are deprecated: tf.train.Saver writes V2 by default.")
        save_path = os.fspath(save_path)
        checkpoint_file = self._path_of(sess, save_path, global_step, latest_filename)
        if not context.executing_eagerly() and not (hasattr(sess, "run") and hasattr(sess, "graph")):
            raise TypeError(f"'sess' must be a Session; {sess}")
        written = None
        if not self._is_empty:
            try:
                written = self._write(sess, checkpoint_file, save_path)
                if write_state:
                    self._list(os.path.dirname(save_path), written, latest_filename, meta_graph_suffix)
            except (errors.FailedPreconditionError, errors.NotFoundError) as error:
                parent = os.path.dirname(save_path)
                if parent and not files.isdir(parent):
                    raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.") from error
                raise
        if write_meta_graph and not context.executing_eagerly():
            name = management.meta_graph_filename(checkpoint_file, meta_graph_suffix)
            with sess.graph.as_default():
                self.export_meta_graph(name, strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info)
        return written

    def _path_of(self, sess: Any, save_path: str, global_step: Any, latest_filename: str) -> str:
        if global_step is None:
            if os.path.basename(save_path) == latest_filename and not self._options["sharded"]:
                raise ValueError(f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{save_path}'")
            return save_path
        if not isinstance(global_step, (int, np.integer)):
            global_step = global_step.numpy() if context.executing_eagerly() else sess.run(global_step)
        return f"{save_path}-{int(global_step):08d}" if self._pad_step_number else f"{save_path}-{int(global_step)}"

    def _write(self, sess: Any, path: str, base: str) -> str:
        if context.executing_eagerly():
            self._build_eager(path, build_save=True, build_restore=False)
            return self.saver_def.save_tensor_name
        definition = self.saver_def
        try:
            written = sess.run(definition.save_tensor_name, {definition.filename_tensor_name: path})
        except errors.OpError:
            _remove_parts(path)
            raise
        if self._options["sharded"]:
            _remove_parts(f"{base}-")  # of saves that somebody's end cut off
        return written.decode() if isinstance(written, bytes) else str(written)

    def _list(self, folder: str, written: str, latest_filename: str, meta_graph_suffix: str) -> None:
        self._RecordLastCheckpoint(written)
        management.update_checkpoint_state_internal(
            folder, written, self.last_checkpoints, latest_filename, self._save_relative_paths
        )
        self._MaybeDeleteOldCheckpoints(meta_graph_suffix)

    # --- restoring ----------------------------------------------------------------------------------------------------

    def restore(self, sess: Any, save_path: Any) -> None:
        """Give the variables the values that a checkpoint holds; they need not be initialised before."""
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        save_path = files.text_of(save_path)
        if not management.checkpoint_exists_internal(save_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        logging.info("Restoring parameters from %s", save_path)
        try:
            if context.executing_eagerly():
                self._build_eager(save_path, build_save=False, build_restore=True)
                return
            definition = self.saver_def
            sess.run(definition.restore_op_name, {definition.filename_tensor_name: save_path})
        except errors.NotFoundError as error:
            if not self._restore_by_objects(sess, save_path):
                raise _explained(error, "a Variable name or other graph key that is missing") from error
        except errors.InvalidArgumentError as error:
            differences = self._differences(save_path)
            raise _explained(error, "a mismatch between the current graph and the graph", differences) from error
        except ValueError as error:  # an eager variable of another shape
            raise ValueError(f"{error}{self._differences(save_path)}") from error

    def _differences(self, save_path: str) -> str:
        """Return a line for every variable whose shape or dtype is not what the checkpoint holds under its name."""
        reader, lines, given = open_checkpoint(save_path), [], self._var_list or []
        if isinstance(given, dict):
            variables: Any = {name: each for name, each in given.items() if isinstance(each, Variable)}
        else:
            variables = [each for each in given if isinstance(each, Variable)]
        for each in saveables.validate_and_slice_inputs(variables):
            for spec in each.specs:
                shape, dtype = getattr(each.op, "shape", None), spec.dtype.base_dtype
                if spec.slice_spec or shape is None or spec.name not in reader:
                    continue
                stored, kind = reader.shape_of(spec.name), reader.dtype_of(spec.name)
                if not shape.is_compatible_with(stored) or kind is not dtype:
                    lines.append(f"  {spec.name}: {dtype.name} {shape} here, {kind.name} {dims_str(stored)} there")
        return f"\n{len(lines)} variables differ from the checkpoint:\n" + "\n".join(lines) if lines else ""

    def _restore_by_objects(self, sess: Any, save_path: str) -> bool:
        """Restore from a checkpoint whose keys are objects, by the names it has of their variables."""
        reader = open_checkpoint(save_path)
        if OBJECT_GRAPH_PROTO_KEY not in reader:
            return False
        if self._object_restore_saver is None:
            self._object_restore_saver = saver_from_object_based_checkpoint(save_path, self._var_list, self._builder)
        logging.warning(
            "Restoring an object-based checkpoint using a name-based saver. This may be somewhat fragile, and will "
            "re-build the Saver. Instead, consider loading object-based checkpoints using tf.train.Checkpoint()."
        )
        self._object_restore_saver.restore(sess, save_path)
        return True

    # --- MetaGraphs ---------------------------------------------------------------------------------------------------

    def export_meta_graph(
        self,
        filename: PathLike | None = None,
        collection_list: Iterable[Any] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Message:
        """Return the default graph with this saver as a MetaGraphDef, and write it where a file name is given."""
        return export_meta_graph(
            filename=filename, graph_def=context.default_graph().as_graph_def(add_shapes=True),
            saver_def=self.saver_def, collection_list=collection_list, as_text=as_text, export_scope=export_scope,
            clear_devices=clear_devices, clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info,
        )  # fmt: skip

    def _add_collection_def(self, meta_graph_def: Any, key: Any, export_scope: str | None = None) -> None:
        add_collection_def(meta_graph_def, key, export_scope=export_scope)


def _remove_parts(beginning: str) -> None:
    """Remove folders with parts of checkpoints, whose names begin so, that were never put together."""
    folder, name = os.path.split(beginning)
    with contextlib.suppress(errors.OpError):  # a disk that cannot be written to, or a folder of another machine
        for entry in files.listdir(folder or "."):
            if entry.startswith(name) and _PARTS.search(entry):
                files.rmtree(os.path.join(folder, entry))


_PARTS = re.compile("_temp_[0-9a-f]{32}/?$")


def _explained(error: Any, what: str, more: str = "") -> Any:
    text = (
        f"Restoring from checkpoint failed. This is most likely due to {what} from the checkpoint. Please ensure that "
        f"you have not altered the graph expected based on the checkpoint. Original error:\n\n{error.message}{more}"
    )
    return type(error)(error.node_def, error.op, text)


# --- MetaGraphs -------------------------------------------------------------------------------------------------------

_NO_GRAPH = (
    "meta graphs is not supported when eager execution is enabled. No graph exists when eager execution is enabled."
)


def export_meta_graph(
    filename: PathLike | None = None,
    meta_info_def: Message | None = None,
    graph_def: Message | None = None,
    saver_def: Message | None = None,
    collection_list: Iterable[Any] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Message:
    """Return a graph (or what is under a scope of it) as a MetaGraphDef, and write it where a file name is given."""
    if context.executing_eagerly():
        raise RuntimeError(f"Exporting {_NO_GRAPH}")
    meta, _ = export_scoped_meta_graph(
        filename=filename, meta_info_def=meta_info_def, graph_def=graph_def, saver_def=saver_def,
        collection_list=collection_list, as_text=as_text, graph=graph, export_scope=export_scope,
        clear_devices=clear_devices, clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info, **kwargs,
    )  # fmt: skip
    return meta


def import_meta_graph(
    meta_graph_or_file: PathLike, clear_devices: bool = False, import_scope: str | None = None, **kwargs: Any
) -> Saver | None:
    """Add a MetaGraph to the default graph; return its saver (None where there is nothing to save)."""
    return import_meta_graph_with_return_elements(meta_graph_or_file, clear_devices, import_scope, **kwargs)[0]


def import_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    return_elements: Any = None,
    **kwargs: Any,
) -> tuple[Saver | None, Any]:
    """Add a MetaGraph to the default graph; return its saver, and the elements asked for."""
    if context.executing_eagerly():
        raise RuntimeError(f"Importing {_NO_GRAPH}")
    meta = meta_graph_or_file
    if type(meta).__name__ != "MetaGraphDef":
        meta = read_meta_graph_file(meta)
    variables, elements = import_scoped_meta_graph_with_return_elements(
        meta, clear_devices=clear_devices, import_scope=import_scope, return_elements=return_elements, **kwargs
    )
    return _saver_of(meta, import_scope, variables), elements


def _saver_of(meta: Any, import_scope: str | None, variables: dict[str, Any]) -> Saver | None:
    """Return the saver that an imported MetaGraph names, or one for what it brought."""
    if meta.HasField("saver_def"):
        scope = import_scope
        if variables:  # the scope they really came into, which may have a number behind its name
            name, variable = next(iter(variables.items()))
            scope = variable.name[: -len(name)]
        definition = messages.SaverDef()
        definition.CopyFrom(messages.parse(messages.SaverDef, meta.saver_def.SerializeToString()))
        return Saver(saver_def=definition, name=scope)
    if saveables.all_saveables(import_scope):
        return Saver()
    logging.info("Saver not created because there are no variables in the graph to restore")
    return None


register_proto_function(GraphKeys.SAVERS, lambda: messages.SaverDef, Saver.to_proto, Saver.from_proto)


def object_graph_key_mapping(checkpoint_path: Any) -> dict[str, str]:
    """Return the keys of an object-based checkpoint by the names its variables had when it was written."""
    reader = open_checkpoint(files.text_of(checkpoint_path))
    check_names(reader, [OBJECT_GRAPH_PROTO_KEY])
    data = reader.read(OBJECT_GRAPH_PROTO_KEY).item()
    graph = messages.parse(messages.TrackableObjectGraph, data, f"{OBJECT_GRAPH_PROTO_KEY} of {checkpoint_path}")
    return {a.full_name: a.checkpoint_key for node in graph.nodes for a in node.attributes if a.full_name}


def saver_from_object_based_checkpoint(
    checkpoint_path: Any, var_list: Any = None, builder: Any = None, names_to_keys: Any = None, cached_saver: Any = None
) -> Saver:
    """Return a saver that finds variables in an object-based checkpoint by the names they had in it."""
    names_to_keys = names_to_keys or object_graph_key_mapping(checkpoint_path)
    if var_list is None:
        var_list = saveables.all_saveables()
    if not isinstance(var_list, dict):
        var_list = saveables.op_list_to_dict(var_list)
    missing, extra = sorted(set(var_list) - set(names_to_keys)), sorted(set(names_to_keys) - set(var_list))
    if missing:
        raise errors.NotFoundError(
            None, None, f"Existing variables not in the checkpoint: {', '.join(missing)}\n\nVariables names when this "
            f"checkpoint was written which don't exist now: {', '.join(extra)}\n\n"
            f"({len(set(var_list) & set(names_to_keys))} variable name(s) did match)\n\nCould not find some variables "
            "in the checkpoint (see names above). The checkpoint is one of objects (tf.train.Checkpoint or "
            "tf.keras.Model.save_weights), and the saver goes by names of variables. Restore it with "
            "tf.train.Checkpoint, or pass Saver(var_list=…) the variables it has, by their old names.",
        )  # fmt: skip
    if cached_saver is not None:
        return cached_saver
    return Saver({names_to_keys[name]: variable for name, variable in var_list.items()}, builder=builder)


def get_saver_or_default() -> Saver:
    """Return the graph's saver; one that saves everything is made where there is none."""
    savers = context.default_graph().get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(
            f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by passing it to "
            "the constructor."
        )
    if savers:
        return savers[0]
    saver = Saver(sharded=True, allow_empty=True)
    context.default_graph().add_to_collection(GraphKeys.SAVERS, saver)
    return saver
