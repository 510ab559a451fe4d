"""Looking into checkpoints: `load_checkpoint`, `list_variables`, `load_variable`, and printing what is there."""

from __future__ import annotations

import math
import os
import re
from typing import Any

import numpy as np

from ebbflow.checkpoint.management import latest_checkpoint
from ebbflow.core import errors
from ebbflow.core.typing import Array, PathLike, TensorLike
from ebbflow.io.save_ops import open_checkpoint
from ebbflow.platform import files


class CheckpointReader:
    """The tensors of a checkpoint of either format, by name."""

    def __init__(self, filename: Any):
        self._reader = open_checkpoint(files.text_of(filename))

    def has_tensor(self, tensor_str: Any) -> bool:
        """Return whether there is a tensor of that name."""
        return files.text_of(tensor_str) in self._reader

    def get_tensor(self, tensor_str: Any) -> Any:
        """Return a tensor as an array (a scalar of NumPy's where it has no axes, bytes where it is a string)."""
        value = self._reader.read(files.text_of(tensor_str))
        return value[()] if value.ndim == 0 else value

    def map_tensor(self, tensor_str: Any) -> np.ndarray:
        """Return a tensor as a read-only view of its file: only what is looked at is read, and nothing is checked."""
        return self._reader.mapped(files.text_of(tensor_str))

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Return the shapes by name."""
        return {name: list(self._reader.shape_of(name)) for name in self._reader.names}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """Return the dtypes by name."""
        return {name: self._reader.dtype_of(name) for name in self._reader.names}

    def debug_string(self) -> bytes:
        """Return a line for each tensor: name, dtype and shape."""
        reader = self._reader
        lines = []
        for name in sorted(reader.names):
            shape = ",".join(str(n) for n in reader.shape_of(name))
            lines.append(f"{name} ({_KIND.get(reader.dtype_of(name).name, reader.dtype_of(name).name)}) [{shape}]\n")
        return "".join(lines).encode()


_KIND = {"float32": "DT_FLOAT", "float64": "DT_DOUBLE", "float16": "DT_HALF", "int32": "DT_INT32",
         "int64": "DT_INT64", "string": "DT_STRING", "bool": "DT_BOOL"}  # fmt: skip


def new_checkpoint_reader(filepattern: TensorLike) -> CheckpointReader:
    """Return a reader of the checkpoint with that prefix."""
    return CheckpointReader(filepattern)


def checkpoint_filename(ckpt_dir_or_file: Any) -> str | None:
    """Return the prefix of a checkpoint: what is given, or the latest one of a folder."""
    path = files.text_of(os.fspath(ckpt_dir_or_file))
    return latest_checkpoint(path) if files.isdir(path) else path


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """Return a reader of a checkpoint, or of the latest one of a folder."""
    filename = checkpoint_filename(ckpt_dir_or_file)
    if filename is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {ckpt_dir_or_file}")
    return CheckpointReader(filename)


def load_variable(ckpt_dir_or_file: PathLike, name: str) -> Array:
    """Return the value that a checkpoint holds for a variable."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: PathLike) -> list[tuple[str, list[int]]]:
    """Return the names and shapes of a checkpoint's tensors, by name."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


# --- printing ---------------------------------------------------------------------------------------------------------


def print_tensors_in_checkpoint_file(
    file_name: str,
    tensor_name: str | None = None,
    all_tensors: bool = False,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Print names, values or a summary of a checkpoint's tensors, and how many numbers they are."""
    try:
        reader = CheckpointReader(file_name)
        if all_tensors or all_tensor_names:
            for name in sorted(reader.get_variable_to_shape_map()):
                print("tensor_name: ", name)
                if all_tensors:
                    print(reader.get_tensor(name))
        elif not tensor_name:
            print(reader.debug_string().decode("utf-8", errors="ignore"))
        else:
            print("tensor_name: ", tensor_name)
            print(reader.get_tensor(tensor_name))
        print(f"# Total number of params: {count_params(reader, count_exclude_pattern)}")
    except errors.OpError as error:
        print(error)
        if isinstance(error, errors.DataLossError) and file_name.endswith((".index", ".meta", ".data-00000-of-00001")):
            print(f"A checkpoint is named by its prefix: try {file_name.rpartition('.')[0]}")


def count_params(reader: CheckpointReader, count_exclude_pattern: str = "") -> int:
    """Return how many numbers a checkpoint holds, without the tensors whose names fit a pattern."""
    shapes = reader.get_variable_to_shape_map()
    if count_exclude_pattern:
        excluded = {name for name in shapes if re.search(count_exclude_pattern, name)}
        numbers = sum(math.prod(shapes[name]) for name in excluded)
        print(
            f"# Excluding {len(excluded)} tensors ({numbers} params) that match {count_exclude_pattern} when counting."
        )
        shapes = {name: shape for name, shape in shapes.items() if name not in excluded}
    return sum(math.prod(shape) for shape in shapes.values())
