"""Savers of lists of values, by the names under which TensorFlow's inside knew them.

`MultiDeviceSaver` saves and restores what saveables say, eagerly and as nodes of a graph; `restore_nodes` restores
single objects of a checkpoint by their numbers. Checkpoints of objects and of names go their own ways (`object_saver`,
`saver`); this is for programs that build such ways themselves.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ebbflow import messages
from ebbflow.checkpoint.object_graph import Attribute, ObjectGraphView, TensorCallable, attributes_of, describe
from ebbflow.checkpoint.options import CheckpointOptions
from ebbflow.checkpoint.positions import Loaded, Position
from ebbflow.checkpoint.registered import Registered, merge_parts, restore_with, save_parts
from ebbflow.checkpoint.saveables import SaveableObject, SaveSpec, has_tensors, saveable_objects_for_op
from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.graph.scopes import control_dependencies, device_scope, no_op
from ebbflow.ops.declare import raw
from ebbflow.platform import files
from ebbflow.state.base import Variable
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import OBJECT_GRAPH_PROTO_KEY
from ebbflow.trackable.keys import OBJECT_ATTRIBUTES_NAME, extract_local_name

_HERE = "cpu:0"


class _Tensors(SaveableObject):
    """The values of an object by key, which it takes back by the same keys."""

    def __init__(self, trackable: Any, tensors: Mapping[str, Any]):
        rows = [
            (key, spec, tensor)
            for key, value in tensors.items()
            for spec, tensor in (value.items() if isinstance(value, Mapping) else [("", value)])
        ]
        specs = [SaveSpec(value, spec, key, value.dtype, value.device) for key, spec, value in rows]
        super().__init__(trackable, specs, "")

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Give the object its values under the names it knows them by."""
        names = [extract_local_name(spec.name) for spec in self.specs]
        return self.op._restore_from_tensors(dict(zip(names, restored_tensors, strict=True)))


class MultiDeviceSaver:
    """Saves tensors of objects to a checkpoint and gives them back."""

    def __init__(
        self,
        serialized_tensors: Mapping[Any, Mapping[str, Any]],
        registered_savers: Registered | None = None,
        call_with_mapped_captures: object = None,
    ):
        self._saveables: list[SaveableObject] = [_Tensors(each, ts) for each, ts in serialized_tensors.items()]
        self._registered: Registered = registered_savers or {}

    @classmethod
    def from_saveables(
        cls,
        saveables: Iterable[Any],
        registered_savers: Registered | None = None,
        call_with_mapped_captures: object = None,
    ) -> MultiDeviceSaver:
        """Return the saver of some saveables."""
        made = cls({}, registered_savers)
        made._saveables = list(saveables)
        return made

    def save(self, file_prefix: Any, options: CheckpointOptions | None = None) -> Any:
        """Write a checkpoint; return, in a graph, the node that does."""
        specs = [spec for saveable in self._saveables for spec in saveable.specs]
        prefix = convert(file_prefix)
        with device_scope(_device(options)):
            parts = save_parts(self._registered, prefix) if self._registered else None
            written = raw.SaveV2(
                prefix if parts is None else parts.rest, [spec.name for spec in specs],
                [spec.slice_spec for spec in specs], [convert(spec.tensor) for spec in specs],
            )  # fmt: skip
            return written if parts is None else merge_parts(parts, prefix, written)

    def restore(self, file_prefix: Any, options: CheckpointOptions | None = None) -> dict[str, Any]:
        """Give everything its value; return by name, in a graph, the nodes that do."""
        prefix = convert(file_prefix)
        restored: dict[str, Any] = {}
        for number, saveable in enumerate(self._saveables):
            specs = saveable.specs
            with device_scope(_device(options)):
                tensors = raw.RestoreV2(
                    prefix, [spec.name for spec in specs], [spec.slice_spec for spec in specs],
                    dtypes=[spec.dtype for spec in specs],
                )  # fmt: skip
            done = saveable.restore(list(tensors), None)
            if done is not None:
                restored[saveable.name or str(number)] = done
        for number, done in enumerate(restore_with(self._registered, prefix)):
            restored[f"registered_{number}"] = done
        return {} if context.executing_eagerly() else restored

    def to_proto(self) -> Any:
        """Add the nodes that save and restore to the current graph; return the SaverDef that names them."""
        path = raw.Placeholder(dtype=dtypes.string, shape=(), name="saver_filename")
        with control_dependencies([self.save(path)]):
            saved = raw.Identity(path, name="saved_path")
        with control_dependencies([_operation(each) for each in self.restore(path).values()]):
            restored = no_op(name="restore_all")
        return messages.SaverDef(
            filename_tensor_name=path.name, save_tensor_name=saved.name, restore_op_name=restored.name,
            version=messages.SaverDef.V2,
        )  # fmt: skip


def _device(options: CheckpointOptions | None) -> str:
    return (options.experimental_io_device if options is not None else None) or _HERE


def _operation(result: Any) -> Any:
    return result[-1] if isinstance(result, (list, tuple)) else result


class _Note(SaveableObject):
    """A value that is written and never read back."""

    def __init__(self, spec: SaveSpec):
        super().__init__(None, [spec], spec.name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> None:
        """Do nothing."""


def frozen_saver(root_trackable: Trackable) -> MultiDeviceSaver:
    """Return the saver of what an object holds now; what is added to it later is not saved."""
    return MultiDeviceSaver.from_saveables(*_frozen(ObjectGraphView(root_trackable)))


def _frozen(view: ObjectGraphView, object_map: Any = None) -> tuple[list[SaveableObject], dict[str, dict[str, Any]]]:
    """Return the saveables of what a view shows now, the graph of objects among them, and what savers take."""
    named, message, _, registered = serialize_gathered_objects(view, object_map)
    about = SaveSpec(convert(messages.serialize(message)), "", OBJECT_GRAPH_PROTO_KEY)
    return [*named, _Note(about)], registered


def frozen_saveable_objects(
    graph_view: ObjectGraphView, object_map: Any = None, to_graph: Any = None
) -> list[SaveableObject]:
    """Return what a `tf.compat.v1.train.Saver` takes to write a checkpoint of objects, as they are now.

    `to_graph` is the graph in which the saver will be; `object_map` says which objects there stand for others.
    """
    with to_graph.as_default() if to_graph is not None else contextlib.nullcontext():
        return _frozen(graph_view, object_map)[0]


def serialize_gathered_objects(
    graph_view: ObjectGraphView,
    object_map: Any = None,
    call_with_mapped_captures: object = None,
    saveables_cache: object = None,
) -> tuple[list[SaveableObject], Any, dict[Any, Any], dict[str, dict[str, Any]]]:
    """Return the saveables of all objects, the message that describes these, nothing to feed, and savers' objects.

    `object_map` says which objects give their values in place of others.
    """
    found: list[SaveableObject] = []

    def stand_in(each: Any) -> Any:
        return each if object_map is None or each not in object_map else object_map[each]

    def noted(each: Any, path: str) -> list[Attribute]:
        attributes = attributes_of(each, path)
        found.extend(_saveables(stand_in(each), attributes))
        return attributes

    described = describe(graph_view, noted)
    registered = {
        saver: {name: stand_in(each) for name, each in rows.items()} for saver, rows in described.registered.items()
    }
    return found, described.message, {}, registered


def _saveables(trackable: Any, attributes: list[Attribute]) -> list[SaveableObject]:
    if isinstance(trackable, Variable):
        return list(saveable_objects_for_op(trackable, attributes[0].key)) if attributes else []
    if has_tensors(trackable):
        return [_Tensors(trackable, _now(trackable, attributes))] if attributes else []
    factories = trackable._gather_saveables_for_checkpoint()
    pairs = [(attribute.key, factories[attribute.name]) for attribute in attributes]
    made = [(key, factory(name=key) if callable(factory) else factory) for key, factory in pairs]
    return [each for key, saveable in made for each in saveable_objects_for_op(saveable, key)]


def _now(trackable: Any, attributes: list[Attribute]) -> dict[str, Any]:
    """Return functions that ask an object for its values by key, when they are saved."""

    def asked(name: str, value: Any) -> TensorCallable:
        return TensorCallable(lambda: trackable._serialize_to_tensors()[name], convert(value).dtype, "")

    return {piece.key: asked(each.name, piece.value) for each in attributes for piece in each.pieces}


# --- single objects ---------------------------------------------------------------------------------------------------


def restore_nodes(save_path: Any, nodes_to_restore: Mapping[int, Trackable]) -> None:
    """Give objects the values that a checkpoint has for its objects of these numbers, and nothing below them."""
    if not isinstance(nodes_to_restore, Mapping):
        raise ValueError(
            "Expecting a dictionary of node_id to Trackable for nodes_to_restore. Got "
            f"{type(nodes_to_restore).__name__}"
        )
    checkpoint = Loaded(files.text_of(save_path))
    checkpoint.expect_partial = True
    for number, trackable in nodes_to_restore.items():
        if not isinstance(trackable, Trackable):
            raise ValueError(f"Expecting a valid Trackable to node_id: {number} but got trackable: {trackable}.")
        if not 0 <= number < len(checkpoint.object_graph_proto.nodes):
            raise ValueError(
                f"The expected node_id: {number} to Trackable {trackable} to restore does not exist in the checkpoint."
            )
        _check_counts(checkpoint.object_graph_proto.nodes[number], number, trackable)
    for number, trackable in nodes_to_restore.items():
        Position(checkpoint, number)._restore_values(trackable)


def _check_counts(node: Any, number: int, trackable: Trackable) -> None:
    serialized = has_tensors(trackable)
    mine = len(trackable._serialize_to_tensors() if serialized else trackable._gather_saveables_for_checkpoint())
    if mine and not node.attributes:
        raise ValueError(
            f"Trackable {trackable} expects checkpointed values but checkpoint does not contain serialized tensors for "
            f"node_id: {number}."
        )
    if mine != len(node.attributes):
        what = "serialized_tensors for Trackable" if serialized else "saveable_objects for Trackable"
        the = "" if serialized else "the "
        raise ValueError(
            f"Size for {what}: {mine} did not match {the}size for serialized_tensors for checkpoint: "
            f"{len(node.attributes)}."
        )


def saveable_name(checkpoint_key: str) -> str:
    """Return the part of a key that names the saveable: the object's path and `.ATTRIBUTES/`.

    >>> saveable_name("object_path/.ATTRIBUTES/123")
    'object_path/.ATTRIBUTES/'
    """
    mark = f"{OBJECT_ATTRIBUTES_NAME}/"
    return checkpoint_key[: checkpoint_key.index(mark) + len(mark)]


# --- in the background ------------------------------------------------------------------------------------------------


class AsyncCheckpointHelper:
    """A checkpoint whose saves are finished in the background: `sync()` waits for them."""

    def __init__(self, checkpointer_impl: Callable[..., Any], root: Trackable | None = None, **kwargs: Any):
        self._checkpoint = checkpointer_impl(**kwargs) if root is None else checkpointer_impl(root, **kwargs)

    def checkpointer(self) -> Any:
        """Return the checkpoint that does the work."""
        return self._checkpoint

    def __getattr__(self, name: str) -> Any:
        if name == "_checkpoint":
            raise AttributeError(name)
        return getattr(self._checkpoint, name)

    def save(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Start to write a numbered checkpoint; return its path."""
        return self._checkpoint.save(file_prefix, options=_in_background(options))

    def write(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Start to write a checkpoint; return its path."""
        return self._checkpoint.write(file_prefix, options=_in_background(options))


def _in_background(options: CheckpointOptions | None) -> CheckpointOptions:
    changed = copy.copy(options or CheckpointOptions())
    changed.enable_async = True
    return changed
