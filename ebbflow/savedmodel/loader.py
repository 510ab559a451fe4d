"""`tf.saved_model.loader`: a SavedModel brought into a session's graph, in TF 1's manner, variables restored and tables
filled. Works for models of both eras: the signatures' graph is in both.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ebbflow.checkpoint.saveables import all_saveables
from ebbflow.checkpoint.saver import import_meta_graph_with_return_elements
from ebbflow.core import context
from ebbflow.core.typing import Message, PathLike, SessionLike
from ebbflow.graph.meta_graph import add_default_attrs
from ebbflow.graph.scope_names import prepend_name_scope
from ebbflow.platform import logging
from ebbflow.savedmodel import constants, reading, safety
from ebbflow.savedmodel.signature_defs import load_op_from_signature_def


def load(
    sess: SessionLike, tags: Iterable[str], export_dir: PathLike, import_scope: str | None = None,
    allow: Iterable[str] | str | None = None,
    **saver_kwargs: Any,
) -> Message:  # fmt: skip
    """Load the graph of these tags into a session, restore its variables, run its initialisation; return the message.

    A model that writes files, calls Python or uses the network is refused, unless `allow` names those ops.
    """
    return SavedModelLoader(export_dir, allow).load(sess, tags, import_scope, **saver_kwargs)


class SavedModelLoader:
    """The steps of loading a SavedModel, one by one."""

    def __init__(self, export_dir: Any, allow: Any = None):
        self._export_dir = os.fspath(export_dir)
        if isinstance(self._export_dir, bytes):
            self._export_dir = self._export_dir.decode()
        self._allow = allow
        self._saved_model = reading.parse_saved_model(self._export_dir)

    @property
    def export_dir(self) -> str:
        return self._export_dir

    @property
    def variables_path(self) -> str:
        return reading.variables_path(self._export_dir)

    @property
    def saved_model(self) -> Any:
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags: Iterable[str]) -> Any:
        """Return the MetaGraphDef with exactly these tags."""
        return reading.get_meta_graph_def(self._saved_model, tags)

    def load_graph(
        self, graph: Any, tags: Iterable[str], import_scope: str | None = None, **saver_kwargs: Any
    ) -> tuple[Any, Any]:
        """Add the graph to another; return the saver and the elements asked for."""
        meta = self.get_meta_graph_def_from_tags(tags)
        safety.check(meta, f"SavedModel {self._export_dir}", self._allow)
        if meta.meta_info_def.stripped_default_attrs:
            add_default_attrs(meta.graph_def)
        with graph.as_default():
            return import_meta_graph_with_return_elements(meta, import_scope=import_scope, **saver_kwargs)

    def restore_variables(self, sess: Any, saver: Any, import_scope: str | None = None) -> None:
        """Give the session's variables their saved values."""
        with sess.graph.as_default():
            if saver is None and not all_saveables(import_scope):
                logging.info("The specified SavedModel has no variables; no checkpoints were restored.")
            elif not hasattr(saver, "restore"):
                raise ValueError(f"No tf.train.Saver object was passed to restore_variables: {saver!r}")
            elif saver._is_empty:
                logging.info("The specified SavedModel has no variables; no checkpoints were restored.")
            else:
                saver.restore(sess, self.variables_path)

    def run_init_ops(self, sess: Any, tags: Iterable[str], import_scope: str | None = None) -> None:
        """Run what prepares the session: the main op, or a legacy one; assets are given their paths here."""
        meta = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            assets = reading.get_asset_tensors(self._export_dir, meta, import_scope)
            op = init_op(meta, import_scope)
            if op is not None:
                sess.run(fetches=[op], feed_dict=assets)

    def load(self, sess: Any, tags: Iterable[str], import_scope: str | None = None, **saver_kwargs: Any) -> Any:
        """Do all of it; return the MetaGraphDef."""
        with sess.graph.as_default():
            saver, _ = self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)
            self.restore_variables(sess, saver, import_scope)
            self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)


def init_op(meta: Any, import_scope: str | None = None) -> Any:
    """Return the operation (or its name) that prepares a session for a graph, or None."""
    key = constants.INIT_OP_SIGNATURE_KEY
    if key in meta.signature_def:
        return load_op_from_signature_def(meta.signature_def[key], key, import_scope)
    for collection in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if collection not in meta.collection_def:
            continue
        names = meta.collection_def[collection].node_list.value
        if len(names) != 1:
            raise RuntimeError(f"Expected exactly one SavedModel init op. Found: {list(names)}.")
        imported = context.default_graph().get_collection(collection) if import_scope is None else []
        return imported[0] if len(imported) == 1 else prepend_name_scope(names[0], import_scope)
    return None


def get_train_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """Return the operation that trains a graph which has been loaded, or None."""
    key = constants.TRAIN_OP_SIGNATURE_KEY
    if key in meta_graph_def.signature_def:
        return load_op_from_signature_def(meta_graph_def.signature_def[key], key, import_scope)
    if constants.TRAIN_OP_KEY in meta_graph_def.collection_def:
        trained = context.default_graph().get_collection(constants.TRAIN_OP_KEY)
        return trained[0] if trained else None
    return None
