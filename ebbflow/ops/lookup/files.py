"""Vocabulary files: text whose lines are turned into the keys and values of a table.

A column is a number; -2 is the whole line, -1 the number of the line. Knows files through `platform.files`; which table
the pairs are for is none of its business.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.dtypes import DType
from ebbflow.ops.sizes import invalid
from ebbflow.platform import files

WHOLE_LINE = -2
LINE_NUMBER = -1


def read_pairs(
    filename: str,
    key_dtype: DType,
    value_dtype: DType,
    key_index: int,
    value_index: int,
    vocab_size: int,
    delimiter: str,
    offset: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys and values that the lines of a file give; `offset` is added to numbers of lines."""
    lines = _lines(filename)
    if vocab_size >= 0:
        if len(lines) < vocab_size:
            raise invalid(f"Invalid vocab_size in {filename}: expected {vocab_size} but got {len(lines)}")
        lines = lines[:vocab_size]
    columns: list[list[bytes]] | None = None
    if key_index >= 0 or value_index >= 0:
        columns = [line.split(delimiter.encode()) for line in lines]
        _check_columns(filename, lines, columns, max(key_index, value_index) + 1)
    keys = _column(lines, columns, key_index, key_dtype, offset)
    return keys, _column(lines, columns, value_index, value_dtype, offset)


def _lines(filename: str) -> list[bytes]:
    try:
        with files.GFile(filename, "rb") as file:
            text = file.read()
    except errors.NotFoundError:
        raise errors.NotFoundError(None, None, f"{filename}; No such file or directory") from None
    lines = text.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line[:-1] if line.endswith(b"\r") else line for line in lines]


def _check_columns(filename: str, lines: list[bytes], columns: list[list[bytes]], wanted: int) -> None:
    for number, (line, parts) in enumerate(zip(lines, columns, strict=True)):
        if len(parts) < wanted:
            raise invalid(
                f"Invalid number of columns in {filename} line {number} ({line.decode('utf-8', 'replace')}) : "
                f"expected at least {wanted} got {len(parts)}"
            )


def _column(lines: list[bytes], columns: Any, index: int, dtype: DType, offset: int) -> np.ndarray:
    if index == LINE_NUMBER:
        return np.arange(offset, offset + len(lines), dtype=dtype.np)
    fields = lines if index == WHOLE_LINE else [parts[index] for parts in columns]
    array = np.empty(len(fields), dtype.np)
    if dtype.np.kind == "O":
        array[:] = fields
        return array
    parse = int if dtype.is_integer else float
    for number, field in enumerate(fields):
        try:
            array[number] = parse(field)
        except (ValueError, OverflowError):
            raise invalid(
                f"Field {field.decode('utf-8', 'replace')} in line {number} is not a valid {dtype.name}."
            ) from None
    return array
