"""Initializers that read a matrix of a checkpoint under another vocabulary: rows and columns are found by their words.

What the old vocabulary lacks, and the buckets for words of no vocabulary, start with another initializer. A part of a
divided variable asks for its own rows. Knows the ops of `io.remap_ops` and initializers; knows nothing of variables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.typing import PathLike
from ebbflow.ops.declare import raw
from ebbflow.state.initializers import Zeros

Initializer = Callable[..., Any]


def load_and_remap_matrix(
    ckpt_path: Any,
    old_tensor_name: str,
    new_row_vocab_offset: int,
    num_rows_to_load: int,
    new_col_vocab_size: int,
    initializer: Initializer,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: str | None = None,
    new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None,
    new_col_vocab_file: str | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    max_rows_in_memory: int = -1,
) -> Any:
    """Return rows of a matrix in a checkpoint for new vocabularies, with rows and columns for words of none behind."""
    _check_pair("row", old_row_vocab_file, new_row_vocab_file)
    _check_pair("col", old_col_vocab_file, new_col_vocab_file)
    _check_buckets(num_row_oov_buckets, num_col_oov_buckets)
    if new_row_vocab_file:
        rows, rows_present = raw.GenerateVocabRemapping(
            new_row_vocab_file,
            old_row_vocab_file,
            new_vocab_offset=new_row_vocab_offset,
            num_new_vocab=num_rows_to_load,
            old_vocab_size=old_row_vocab_size,
        )
    else:
        rows = convert(list(range(new_row_vocab_offset, new_row_vocab_offset + num_rows_to_load)), dtypes.int64)
        rows_present = convert(num_rows_to_load, dtypes.int32)
    if new_col_vocab_file:
        columns, columns_present = raw.GenerateVocabRemapping(
            new_col_vocab_file, old_col_vocab_file, new_vocab_offset=0, num_new_vocab=new_col_vocab_size
        )
    else:
        columns, columns_present = convert([], dtypes.int64), convert(new_col_vocab_size, dtypes.int32)
    missing = num_rows_to_load * new_col_vocab_size - rows_present * columns_present
    start = initializer(raw.Pack([missing, 1]), dtypes.float32)
    matrix = raw.LoadAndRemapMatrix(
        ckpt_path,
        old_tensor_name,
        rows,
        columns,
        raw.Reshape(start, [-1]),
        num_rows=num_rows_to_load,
        num_cols=new_col_vocab_size,
        max_rows_in_memory=max_rows_in_memory,
    )
    return _with_buckets(matrix, num_row_oov_buckets, num_col_oov_buckets, initializer)


def _check_pair(what: str, old: str | None, new: str | None) -> None:
    if bool(old) != bool(new):
        raise ValueError(
            f"old_{what}_vocab_file and new_{what}_vocab_file go together: both or neither must be specified, got "
            f"{old!r} and {new!r}"
        )


def _check_buckets(rows: int, columns: int) -> None:
    for name, value in (("num_row_oov_buckets", rows), ("num_col_oov_buckets", columns)):
        if value < 0:
            raise ValueError(f"{name} must be >= 0, but received {value}")


def _with_buckets(matrix: Any, rows: int, columns: int, initializer: Initializer) -> Any:
    count, width = matrix.shape.as_list()
    if rows:
        more = initializer([rows, width], dtypes.float32)
        matrix, count = raw.ConcatV2([matrix, more], 0), count + rows
    if columns:
        matrix = raw.ConcatV2([matrix, initializer([count, columns], dtypes.float32)], 1)
    return matrix


def load_and_remap_matrix_initializer(
    ckpt_path: Any,
    old_tensor_name: str,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: str | None = None,
    new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None,
    new_col_vocab_file: str | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """Return an initializer that reads a matrix of a checkpoint for new vocabularies; zeros where they have new words.

    Buckets for words of no vocabulary come last.
    """
    _check_buckets(num_row_oov_buckets, num_col_oov_buckets)
    start = Zeros() if initializer is None else initializer

    def read(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        shape = [int(n) for n in shape]
        _check_shape(shape, dtype, new_col_vocab_size + num_col_oov_buckets)
        first = partition_info.single_offset(shape) if partition_info is not None else 0
        if first + shape[0] > new_row_vocab_size + num_row_oov_buckets:
            raise ValueError(
                f"Trying to initialize {shape[0]} additional rows after {first} rows have already been initialized, "
                f"which would exceed expected total row count of new_row_vocab_size ({new_row_vocab_size}) + "
                f"num_row_oov_buckets ({num_row_oov_buckets})."
            )
        buckets = min(shape[0], max(0, first + shape[0] - new_row_vocab_size))
        return load_and_remap_matrix(
            ckpt_path,
            old_tensor_name,
            min(first, new_row_vocab_size),
            shape[0] - buckets,
            new_col_vocab_size,
            start,
            old_row_vocab_size=old_row_vocab_size,
            old_row_vocab_file=old_row_vocab_file,
            new_row_vocab_file=new_row_vocab_file,
            old_col_vocab_file=old_col_vocab_file,
            new_col_vocab_file=new_col_vocab_file,
            num_row_oov_buckets=buckets,
            num_col_oov_buckets=num_col_oov_buckets,
            max_rows_in_memory=max_rows_in_memory,
        )

    return read


def _check_shape(shape: list[int], dtype: Any, width: int) -> None:
    if len(shape) != 2:
        raise ValueError(f"Expected 2-dim shape, but received: {shape}")
    if shape[0] <= 0:
        raise ValueError(f"Expected 1st dim of shape to be > 0, but received shape: {shape}")
    if shape[1] != width:
        raise ValueError(
            f"Expected 2nd dim of shape to be new_col_vocab_size + num_col_oov_buckets = {width}, but received shape: "
            f"{shape}"
        )
    if dtypes.as_dtype(dtype) is not dtypes.float32:
        raise TypeError(
            "Currently, only float32 matrices of a checkpoint are read under another vocabulary. Received dtype: "
            f"{dtype}"
        )


def load_embedding_initializer(
    ckpt_path: PathLike,
    embedding_tensor_name: str,
    new_vocab_size: int,
    embedding_dim: int,
    old_vocab_file: str,
    new_vocab_file: str,
    old_vocab_size: int = -1,
    num_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """Return an initializer of embeddings: a row a word, read from a checkpoint under another vocabulary."""
    return load_and_remap_matrix_initializer(
        ckpt_path,
        embedding_tensor_name,
        new_vocab_size,
        embedding_dim,
        old_row_vocab_size=old_vocab_size,
        old_row_vocab_file=old_vocab_file,
        new_row_vocab_file=new_vocab_file,
        num_row_oov_buckets=num_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


def load_linear_multiclass_bias_initializer(
    ckpt_path: PathLike,
    bias_tensor_name: str,
    new_class_vocab_size: int,
    old_class_vocab_file: str,
    new_class_vocab_file: str,
    num_class_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """Return an initializer of the biases of classes: a column with a row for each, read under another vocabulary."""
    return load_and_remap_matrix_initializer(
        ckpt_path,
        bias_tensor_name,
        new_class_vocab_size,
        1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


def load_variable_slot_initializer(
    ckpt_path: PathLike,
    old_tensor_name: str,
    primary_partition_info: Any,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_file: str | None = None,
    new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None,
    new_col_vocab_file: str | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """Return an initializer of an optimizer's slot: which part it is, the variable it belongs to says."""
    read = load_and_remap_matrix_initializer(
        ckpt_path,
        old_tensor_name,
        new_row_vocab_size,
        new_col_vocab_size,
        old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file,
        old_col_vocab_file=old_col_vocab_file,
        new_col_vocab_file=new_col_vocab_file,
        num_row_oov_buckets=num_row_oov_buckets,
        num_col_oov_buckets=num_col_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )

    def read_slot(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        return read(shape, dtype, primary_partition_info)

    return read_slot
