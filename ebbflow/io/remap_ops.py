"""Matrices of a checkpoint brought to another vocabulary, as ops: GenerateVocabRemapping, LoadAndRemapMatrix.

A remapping says for each new row (or column) which old one it comes from; -1 is none. Knows files of words, one a line,
and checkpoints of either format; which variables are to be started so is the affair of `checkpoint.warm_start`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.op import op
from ebbflow.io.records import file_errors
from ebbflow.io.save_ops import check_names, open_checkpoint
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid
from ebbflow.platform.files import GFile

GenerateVocabRemapping = op(
    "GenerateVocabRemapping(new_vocab_file:string, old_vocab_file:string) -> (remapping:int64, num_present:int32) | "
    "new_vocab_offset: int >= 0; num_new_vocab: int >= 0; old_vocab_size: int >= -1 = -1",
    gradient=FLAT,
)
LoadAndRemapMatrix = op(
    "LoadAndRemapMatrix(ckpt_path:string, old_tensor_name:string, row_remapping:int64, col_remapping:int64, "
    "initializing_values:float) -> (output_matrix:float) | "
    "num_rows: int >= 0; num_cols: int >= 1; max_rows_in_memory: int = -1 | stateful",
    gradient=FLAT,
)


@GenerateVocabRemapping.shape
def _(new_vocab_file, old_vocab_file, *, new_vocab_offset, num_new_vocab, old_vocab_size):
    return [(num_new_vocab,), ()]


@GenerateVocabRemapping.kernel
def _(xp, new_vocab_file, old_vocab_file, *, new_vocab_offset, num_new_vocab, old_vocab_size):
    new_path, old_path = _one_path("new_vocab_file", new_vocab_file), _one_path("old_vocab_file", old_vocab_file)
    if not num_new_vocab:
        return np.empty(0, np.int64), np.int32(0)
    new, old = _lines(new_path), _lines(old_path)
    if new_vocab_offset + num_new_vocab > len(new):
        raise invalid(
            f"lookup table size must be larger than last new vocab entry's line: {new_path} has {len(new)} lines, "
            f"new_vocab_offset + num_new_vocab = {new_vocab_offset + num_new_vocab}"
        )
    if old_vocab_size > len(old):
        raise invalid(f"Invalid vocab_size in {old_path}: expected {old_vocab_size} but got {len(old)}")
    places = {word: i for i, word in enumerate(old if old_vocab_size < 0 else old[:old_vocab_size])}
    wanted = new[new_vocab_offset : new_vocab_offset + num_new_vocab]
    remapping = np.array([places.get(word, -1) for word in wanted], np.int64)
    return remapping, np.int32(np.count_nonzero(remapping >= 0))


def _one_path(name: str, value: np.ndarray) -> str:
    if np.shape(value) != ():
        raise invalid(f"{name} should be a single string, but got {list(np.shape(value))}")
    return np.asarray(value).item().decode()


def _lines(path: str) -> list[bytes]:
    with file_errors(path), GFile(path, "rb") as file:
        return file.read().splitlines()


# --- the matrix -------------------------------------------------------------------------------------------------------


@LoadAndRemapMatrix.shape
def _(ckpt_path, old_tensor_name, row_remapping, col_remapping, initializing_values, *, num_rows, num_cols):
    return (num_rows, num_cols)


@LoadAndRemapMatrix.kernel
def _(
    xp,
    ckpt_path,
    old_tensor_name,
    row_remapping,
    col_remapping,
    initializing_values,
    *,
    num_rows,
    num_cols,
    max_rows_in_memory,
):
    rows = _checked_remapping("row_remapping", row_remapping, "num_rows", num_rows)
    columns = None
    if np.size(col_remapping) or np.ndim(col_remapping) != 1:
        columns = _checked_remapping("col_remapping", col_remapping, "num_cols", num_cols)
    matrix = _Matrix(_one("ckpt_path", ckpt_path), _one("old_tensor_name", old_tensor_name))
    if columns is None and matrix.shape[1] != num_cols:
        raise invalid(
            f"Tensor {matrix.name} has shape {list(matrix.shape)}, where the size of its 2nd dimension is "
            f"{matrix.shape[1]} instead of being equal to num_cols={num_cols}"
        )
    _check_places("Row", rows, matrix.shape[0])
    columns = np.arange(matrix.shape[1]) if columns is None else columns
    _check_places("Col", columns, matrix.shape[1])
    return _filled(matrix.part(rows, columns, max_rows_in_memory), rows, columns, initializing_values)


def _one(name: str, value: np.ndarray) -> str:
    if np.size(value) != 1:
        raise invalid(f"The `{name}` tensor must have exactly one element, got tensor of shape {list(np.shape(value))}")
    return np.asarray(value).reshape(()).item().decode()


def _checked_remapping(name: str, value: np.ndarray, count_name: str, count: int) -> np.ndarray:
    if np.ndim(value) != 1:
        raise invalid(f"The `{name}` tensor must be 1-D, got a tensor of shape {list(np.shape(value))}")
    if value.size != count:
        raise invalid(f"Size of {name} is {value.size} instead of being equal to {count_name}={count}")
    return value


def _check_places(what: str, places: np.ndarray, size: int) -> None:
    """Refuse places outside the old matrix, and two new places for one old."""
    outside = places[places >= size]
    if outside.size:
        raise invalid(f"{what} remapping index {outside[0]} is out of bounds: the old tensor has {size}")
    used = places[places >= 0]
    if np.unique(used).size != used.size:
        twice = next(p for p in used if np.count_nonzero(used == p) > 1)
        first, second = np.flatnonzero(places == twice)[:2]
        raise errors.UnimplementedError(
            None, None, f"Old ID {twice} is mapped to both new ID {first} and {second}, which is not supported."
        )


class _Matrix:
    """A matrix of floats in a checkpoint, not read yet."""

    def __init__(self, path: str, name: str):
        self._reader, self.name = open_checkpoint(path), name
        check_names(self._reader, [name])
        kind, self.shape = self._reader.dtype_of(name), tuple(self._reader.shape_of(name))
        if kind is not dtypes.float32:
            raise invalid(f"Tensor {name} has invalid type {kind.name} instead of expected type float")
        if len(self.shape) != 2:
            raise invalid(
                f"Tensor {name} has shape {list(self.shape)} of invalid rank {len(self.shape)} instead of expected "
                "shape of rank 2."
            )

    def part(self, rows: np.ndarray, columns: np.ndarray, at_once: int) -> np.ndarray:
        """Return old values at these places, and zero where there are none; read so many rows at a time."""
        result = np.zeros((rows.size, columns.size), np.float32)
        ways = columns >= 0
        step = at_once if at_once > 0 else max(self.shape[0], 1)
        for start in range(0, self.shape[0], step):
            count = min(step, self.shape[0] - start)
            here = np.flatnonzero((rows >= start) & (rows < start + count))
            if here.size:
                block = self._reader.read(self.name, ((start, count), (0, self.shape[1])))
                result[np.ix_(here, ways)] = block[np.ix_(rows[here] - start, columns[ways])]
        return result


def _filled(matrix: np.ndarray, rows: np.ndarray, columns: np.ndarray, values: Any) -> np.ndarray:
    """Put initial values, in order, where the old matrix has none."""
    missing = (rows < 0)[:, None] | (columns < 0)[None, :]
    count = int(np.count_nonzero(missing))
    if np.size(values) != count:
        more = "more missing values remain" if np.size(values) < count else f"only {count} values are missing"
        raise invalid(f"initializing_values contained {np.size(values)} elements, but {more}.")
    matrix[missing] = np.reshape(values, -1)
    return matrix
