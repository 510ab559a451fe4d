"""Saving and restoring the objects below a root: eagerly, in functions, and in the graph of a session."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.checkpoint.background import Background
from ebbflow.checkpoint.object_graph import Attribute, Described, ObjectGraphView, Piece, attributes_of, describe
from ebbflow.checkpoint.options import CheckpointOptions
from ebbflow.checkpoint.positions import Loaded, LoadedByName, Position, RestoreNodes, _uids, is_object_based
from ebbflow.checkpoint.registered import merge_parts, save_parts
from ebbflow.checkpoint.sharding import described as shardable
from ebbflow.checkpoint.sharding import save_dealt
from ebbflow.checkpoint.status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    LoadStatus,
    NameBasedSaverStatus,
    get_session,
    has_values,
)
from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.identity import ObjectIdentityWeakKeyDictionary
from ebbflow.core.tensor import wrap
from ebbflow.graph.scopes import control_dependencies, device_scope
from ebbflow.io.save_ops import save_bundle
from ebbflow.ops.declare import raw
from ebbflow.platform import files
from ebbflow.trackable.constants import OBJECT_GRAPH_PROTO_KEY


def _in_session() -> bool:
    """Return whether values are to be had from a session only."""
    graph = context.current_graph() if context.graph_scopes else None
    return graph is not None and not graph.building_function


class TrackableSaver:
    """Saves and restores what a root holds."""

    def __init__(self, graph_view: ObjectGraphView):
        self._graph_view = graph_view
        self._nodes = RestoreNodes()
        self._background = Background()
        # In a graph the nodes that save are made once, and again only when the objects have changed.
        self._values = ObjectIdentityWeakKeyDictionary()
        self._feeds: dict[Any, Any] = {}
        self._saving: tuple[Any, Any, Any, Any] | None = None  # message, its tensor, the path's, and the save node

    # --- saving -------------------------------------------------------------------------------------------------------

    def save(
        self,
        file_prefix: Any,
        checkpoint_number: int | None = None,
        session: Any = None,
        options: CheckpointOptions | None = None,
        when_written: Callable[[str], None] | None = None,
    ) -> Any:
        """Write a checkpoint; return its path (in a function: a tensor of it). `when_written` is told it afterwards."""
        options = options or CheckpointOptions()
        if checkpoint_number:
            file_prefix = f"{file_prefix}-{checkpoint_number}"
        if not context.graph_scopes or context.executing_eagerly():
            path = files.text_of(_plain(file_prefix))
            if os.path.dirname(path):
                files.makedirs(os.path.dirname(path))
            return self._save_now(path, options, when_written)
        if options.experimental_sharding_callback is not None:
            raise errors.UnimplementedError(
                None, None, "experimental_sharding_callback is for checkpoints that are saved eagerly; in a graph, use "
                "tf.compat.v1.train.Saver(sharded=True)",
            )  # fmt: skip
        if _in_session():
            path = files.text_of(file_prefix)
            if os.path.dirname(path):
                files.makedirs(os.path.dirname(path))
            with device_scope(options.experimental_io_device or "cpu:0"):
                self._save_in_session(path, session)
            if when_written:
                when_written(path)
            return path
        described = describe(self._graph_view, _values_to_save)
        saved = self._save_nodes(described, convert(file_prefix), messages.serialize(described.message))
        with control_dependencies([saved]):
            return raw.Identity(convert(file_prefix))

    def _save_now(self, path: str, options: CheckpointOptions, when_written: Callable[[str], None] | None) -> str:
        described = describe(self._graph_view, _values_to_save)
        values = [(piece, _called(piece.value)) for piece in described.pieces]
        pieces = [piece for piece, value in values if value is not None]  # None: never initialised
        tensors = [convert(value) for _, value in values if value is not None]
        names = [piece.key for piece in pieces] + [OBJECT_GRAPH_PROTO_KEY]
        specs = [piece.spec for piece in pieces] + [""]
        arrays = [t._array for t in tensors] + [np.array(messages.serialize(described.message), object)]
        kinds = [t.dtype for t in tensors] + [dtypes.string]
        del tensors, values

        def write_to(prefix: str) -> None:
            if options.experimental_sharding_callback is None:
                save_bundle(prefix, names, specs, arrays, kinds)
            else:
                rows = zip(names, specs, map(wrap, arrays, kinds), strict=True)
                save_dealt(prefix, options.experimental_sharding_callback, [shardable(*row) for row in rows])

        parts = save_parts(described.registered, path) if described.registered else None

        def write() -> None:
            if parts is None:
                write_to(path)
            else:
                write_to(files.text_of(_plain(parts.rest)))
                merge_parts(parts, path)
            arrays.clear()
            if when_written:
                when_written(path)
            options.written(path)

        if options.enable_async:
            self._background.start(write)
        else:
            self._background.wait()
            write()
        return path

    def _save_in_session(self, path: str, session: Any) -> None:
        described = describe(self._graph_view, self._values_in_graph)
        if self._saving is None or self._saving[0] != described.message:
            about = raw.PlaceholderWithDefault("", shape=(), name="object_graph")
            prefix = raw.PlaceholderWithDefault("", shape=(), name="file_prefix")
            self._saving = described.message, about, prefix, self._save_nodes(described, prefix, about)
        _, about, prefix, save = self._saving
        session = session or get_session()
        session.run(save, {about: messages.serialize(described.message), prefix: path, **self._feeds})

    def _values_in_graph(self, trackable: Any, path: str) -> list[Attribute]:
        known = self._values.get(trackable)
        if known is None or known[0] != path:
            attributes = [
                a._replace(pieces=[self._in_graph(p) for p in a.pieces]) for a in _values_to_save(trackable, path)
            ]
            known = self._values[trackable] = path, attributes
        elif getattr(trackable, "_restores_at_once", False):  # Python values: the nodes stay, the values are new
            for old, new in zip(known[1], _values_to_save(trackable, path), strict=True):
                self._feeds.update(zip([p.value for p in old.pieces], [p.value for p in new.pieces], strict=True))
        return known[1]

    def _in_graph(self, piece: Piece) -> Piece:
        """Return a piece with a tensor for its value: a Python value is fed, because the next time it is another."""
        if not isinstance(piece.value, (str, bytes)):
            return piece._replace(value=_called(piece.value))
        fed = raw.PlaceholderWithDefault("", shape=(), name="python_state")
        self._feeds[fed] = piece.value
        return piece._replace(value=fed)

    def _save_nodes(self, described: Described, path: Any, about: Any) -> Any:
        """Return the last node of those that save."""
        if not described.registered:
            return self._save_node(described, path, about)
        parts = save_parts(described.registered, path)
        return merge_parts(parts, path, self._save_node(described, parts.rest, about))

    def _save_node(self, described: Described, path: Any, about: Any) -> Any:
        pieces = [*described.pieces, Piece(OBJECT_GRAPH_PROTO_KEY, "", about)]
        return raw.SaveV2(
            path,
            [piece.key for piece in pieces],
            [piece.spec for piece in pieces],
            [convert(_called(piece.value)) for piece in pieces],
        )

    def sync(self) -> None:
        """Wait for what is being written in the background."""
        self._background.wait()

    # --- restoring ----------------------------------------------------------------------------------------------------

    def restore(self, save_path: Any, options: CheckpointOptions | None = None) -> LoadStatus:
        """Match the objects with a checkpoint, of objects or of names, and restore what can be now."""
        options = options or CheckpointOptions()
        self._background.wait()
        if save_path is None:
            return InitializationOnlyStatus(self._graph_view, next(_uids))
        path = files.text_of(_plain(save_path))
        if not is_object_based(path):
            return self._restore_by_name(path)
        self._nodes.device = options.experimental_io_device or "cpu:0"
        checkpoint = Loaded(path, self._nodes, options.experimental_skip_slot_variables)
        Position(checkpoint, 0).restore(self._graph_view.root)
        self._restore_attached(checkpoint)

        def feed() -> dict[Any, Any]:
            return {self._nodes.path: path} if self._nodes.path is not None else {}

        return CheckpointLoadStatus(checkpoint, feed, self._graph_view, options)

    def _restore_attached(self, checkpoint: Loaded) -> None:
        """Restore what is attached to the root without being its child."""
        for reference in self._graph_view.attached_dependencies or ():
            if reference.name == "root":  # the root object itself, under a name
                continue
            for child in checkpoint.object_graph_proto.nodes[0].children:
                if child.local_name == reference.name:
                    Position(checkpoint, child.node_id).restore(reference.ref)
                    break

    def _restore_by_name(self, path: str) -> NameBasedSaverStatus:
        checkpoint = LoadedByName(path)
        for each in self._graph_view.descendants():
            each._maybe_initialize_trackable()
            each._name_based_restores.add(checkpoint)
            each._name_based_attribute_restore(checkpoint) if context.executing_eagerly() else None
        return NameBasedSaverStatus(checkpoint, self._graph_view)


def _values_to_save(trackable: Any, path: str) -> list[Attribute]:
    return attributes_of(trackable, path) if has_values(trackable) else []


def _called(value: Any) -> Any:
    return value() if callable(value) else value


def _plain(path: Any) -> Any:
    """Return a path that came as a tensor as text."""
    return path.numpy() if hasattr(path, "numpy") else path
