"""The files of a SavedModel, read and checked: which graphs there are, which one a set of tags names, where assets lie.

A folder may come from a stranger. Messages are parsed under the limits of protobuf, names of files are taken only where
they stay inside the folder, and every error says which file it is about. Knows files and messages; builds nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.core.typing import Message, PathLike
from ebbflow.platform import files
from ebbflow.savedmodel import constants


def contains_saved_model(export_dir: Any) -> bool:
    """Return whether a folder holds a SavedModel."""
    path = os.fspath(export_dir)
    if isinstance(path, bytes):
        path = path.decode()
    names = (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT)
    return any(files.exists(files.join(path, name)) for name in (*names, constants.SAVED_MODEL_FILENAME_CPB))


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Return whether a folder holds a SavedModel."""
    return contains_saved_model(export_dir)


def parse_saved_model(export_dir: Any) -> Message:
    """Return the SavedModel message of a folder."""
    folder = os.fspath(export_dir)
    if isinstance(folder, bytes):
        folder = folder.decode()
    binary = files.join(folder, constants.SAVED_MODEL_FILENAME_PB)
    text = files.join(folder, constants.SAVED_MODEL_FILENAME_PBTXT)
    if files.exists(binary):
        data = files.read_file_to_string(binary, binary_mode=True)
        try:
            return messages.parse(messages.SavedModel, data, binary)
        except errors.DataLossError as error:
            raise CannotParseError(None, None, f"Cannot parse file {binary}: {error.message}.") from None
    if files.exists(text):
        try:
            return messages.parse_text(files.read_file_to_string(text, binary_mode=True), messages.SavedModel, text)
        except errors.InvalidArgumentError as error:
            raise CannotParseError(None, None, f"Cannot parse file {text}: {error.message}.") from None
    if files.exists(files.join(folder, constants.SAVED_MODEL_FILENAME_CPB)):
        raise errors.UnimplementedError(
            None, None, f"{folder} holds a model of more than 2 GB in pieces (saved_model.cpb), which is not read here"
        )
    raise OSError(
        f"SavedModel file does not exist at: {folder}{os.path.sep}{{{constants.SAVED_MODEL_FILENAME_PBTXT}|"
        f"{constants.SAVED_MODEL_FILENAME_PB}}}"
    )


class CannotParseError(errors.DataLossError, OSError):
    """A file is no SavedModel: both what TensorFlow raises and what the file suffers from."""


def get_meta_graph_def(saved_model: Any, tags: Iterable[str] | str | None, where: str = "") -> Any:
    """Return the MetaGraphDef whose tags are exactly these; with no tags, the only one there is."""
    if tags is None:
        if len(saved_model.meta_graphs) != 1:
            found = [list(meta.meta_info_def.tags) for meta in saved_model.meta_graphs]
            raise ValueError(
                "Importing a SavedModel with `tf.saved_model.load` requires a `tags=` argument if there is more than "
                f"one MetaGraph. Got `tags=None`, but there are {len(found)} MetaGraphs in the SavedModel with tag "
                f"sets: {found}. Pass a `tags=` argument to load this SavedModel."
            )
        return saved_model.meta_graphs[0]
    wanted = {tags} if isinstance(tags, str) else set(tags)
    for meta in saved_model.meta_graphs:
        if set(meta.meta_info_def.tags) == wanted:
            return meta
    found = [sorted(meta.meta_info_def.tags) for meta in saved_model.meta_graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tags {str(sorted(wanted)).strip('[]')} could not be found in SavedModel"
        f"{f' {where}' if where else ''}, with available tags '{found}'. To inspect available tag-sets in the "
        "SavedModel, please use `ebbflow show`."
    )


def read_saved_model(saved_model_dir: PathLike) -> Message:
    """Return the SavedModel message of a folder."""
    return parse_saved_model(saved_model_dir)


def get_saved_model_tag_sets(saved_model_dir: PathLike) -> list[list[str]]:
    """Return the tags of each graph, as they were given."""
    return [list(meta.meta_info_def.tags) for meta in parse_saved_model(saved_model_dir).meta_graphs]


# --- files beside the message -----------------------------------------------------------------------------------------


def variables_path(export_dir: str) -> str:
    """Return the prefix of the checkpoint with the values of a SavedModel's variables."""
    return files.join(export_dir, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)


def has_variables(export_dir: str) -> bool:
    """Return whether there is a checkpoint beside the message."""
    return files.exists(variables_path(export_dir) + ".index")


def asset_path(export_dir: str, filename: str) -> str:
    """Return where an asset lies. A name that leads out of the folder is refused."""
    parts = re.split(r"[/\\]", filename)
    if not filename or filename.startswith(("/", "\\")) or ":" in parts[0] or any(p in ("..", "") for p in parts):
        raise errors.InvalidArgumentError(
            None, None, f"SavedModel {export_dir} names the asset {filename!r}, which does not stay inside its folder"
        )
    return files.join(export_dir, constants.ASSETS_DIRECTORY, *parts)


def asset_file_defs(meta_graph_def: Any, export_dir: str) -> list[Any]:
    """Return the AssetFileDefs of a graph: its own, or those that the TF 1 builder packs into a collection."""
    if meta_graph_def.asset_file_def:
        return list(meta_graph_def.asset_file_def)
    if constants.ASSETS_KEY not in meta_graph_def.collection_def:
        return []
    found = []
    for packed in meta_graph_def.collection_def[constants.ASSETS_KEY].any_list.value:
        if packed.type_url.rpartition("/")[2] != "tensorflow.AssetFileDef":
            raise errors.DataLossError(None, None, f"{export_dir}: an asset is a {packed.type_url}, no AssetFileDef")
        found.append(messages.parse(messages.AssetFileDef, packed.value, f"the assets of {export_dir}"))
    return found


def get_asset_tensors(export_dir: str, meta_graph_def: Any, import_scope: str | None = None) -> dict[str, str]:
    """Return the paths of a graph's assets by the names of the tensors that take them."""
    prefix = f"{import_scope}/" if import_scope else ""
    definitions = asset_file_defs(meta_graph_def, export_dir)
    return {prefix + d.tensor_info.name: asset_path(export_dir, d.filename) for d in definitions}


def meta_graph_of(saved_model_dir: Any, tag_set: str) -> Any:
    """Return the MetaGraphDef of a folder whose tags are those of a text, `serve` or `serve,gpu`."""
    wanted = set(tag_set.split(","))
    for meta in parse_saved_model(saved_model_dir).meta_graphs:
        if set(meta.meta_info_def.tags) == wanted:
            return meta
    raise RuntimeError(f"MetaGraphDef associated with tag-set {tag_set!r} could not be found in the SavedModel")
