"""Other method names for the signatures of a written SavedModel: servers choose by them what to call."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ebbflow import messages
from ebbflow.platform import files
from ebbflow.savedmodel import constants, reading


class MethodNameUpdater:
    """Gives signatures of a SavedModel other method names, and writes it again."""

    def __init__(self, export_dir: Any):
        self._folder = os.fspath(export_dir)
        self._saved_model = reading.parse_saved_model(self._folder)

    def replace_method_name(
        self, signature_key: str, method_name: str, tags: Iterable[str] | str | None = None
    ) -> None:
        """Give a signature another method name: in the graph of these tags, or in all that have it."""
        if not signature_key:
            raise ValueError("`signature_key` must be defined.")
        if not method_name:
            raise ValueError("`method_name` must be defined.")
        wanted = None if tags is None else {tags} if isinstance(tags, str) else set(tags)
        changed = False
        for meta in self._saved_model.meta_graphs:
            if wanted is not None and set(meta.meta_info_def.tags) != wanted:
                continue
            if signature_key in meta.signature_def:
                meta.signature_def[signature_key].method_name = method_name
                changed = True
            elif wanted is not None:
                raise ValueError(
                    f"MetaGraphDef associated with tags {tags} does not have a signature_def with key: "
                    f"'{signature_key}'. This means either you specified the wrong signature key or forgot to put the "
                    "signature_def with the corresponding key in your SavedModel."
                )
        if not changed:
            raise ValueError(
                f"MetaGraphDef associated with tags {_shown(wanted)} could not be found in SavedModel with a signature "
                f"'{signature_key}'."
            )

    def save(self, new_export_dir: Any = None) -> None:
        """Write the model's message, as text if it was text: in its own folder, or alone in a new one."""
        folder = self._folder if new_export_dir is None else os.fspath(new_export_dir)
        if new_export_dir is not None:
            if files.exists(folder) and files.listdir(folder):
                raise ValueError(f"Export directory `new_export_dir` already exists, and is not empty: {folder}.")
            files.makedirs(folder)
        if not files.exists(files.join(self._folder, constants.SAVED_MODEL_FILENAME_PB)):  # it was read from text
            path = files.join(folder, constants.SAVED_MODEL_FILENAME_PBTXT)
            files.atomic_write_string_to_file(path, messages.to_text(self._saved_model))
            return
        path = files.join(folder, constants.SAVED_MODEL_FILENAME_PB)
        files.atomic_write_string_to_file(path, messages.serialize(self._saved_model))


def _shown(tags: Iterable[str] | None) -> str:
    return "of any kind" if tags is None else str(sorted(tags))
