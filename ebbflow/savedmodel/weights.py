"""Variables in other people's files: `.npz` and `.safetensors`, read and written.

A safetensors file is a length, a table as JSON and the bytes of the tensors one after the other; all that the table
says is checked before anything is taken from the file. Knows arrays by name; knows nothing of models.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.platform import files

KINDS = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
    "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool",
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
}  # fmt: skip
_LETTERS = {name: letters for letters, name in KINDS.items()}
LARGEST_TABLE = 100_000_000
"""Bytes that the table of a safetensors file may have: the limit of its own library."""


def save_weights(path: str, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name, in the format that the file's name ends with."""
    arrays = {name: np.asarray(value) for name, value in arrays.items()}
    if path.endswith(".npz"):
        with open(path, "wb") as file:
            plain: dict[str, Any] = {name: _plain(value) for name, value in arrays.items()}
            np.savez(file, **plain)
    elif path.endswith(".safetensors"):
        files.atomic_write_string_to_file(path, _safetensors(arrays))
    else:
        raise ValueError(f"weights are written as .npz or .safetensors, not as {path}")


def load_weights(path: str) -> dict[str, np.ndarray]:
    """Return the arrays of a `.npz` or `.safetensors` file by name."""
    if path.endswith(".npz"):
        try:
            with np.load(path, allow_pickle=False) as found:
                return {name: found[name] for name in found.files}
        except (ValueError, OSError, EOFError) as error:
            if isinstance(error, FileNotFoundError):
                raise errors.NotFoundError(None, None, f"{path}: there is no such file") from None
            raise errors.DataLossError(None, None, f"{path} is no .npz file of arrays: {error}") from None
    if path.endswith(".safetensors"):
        return _from_safetensors(files.read_file_to_string(path, binary_mode=True), path)
    raise ValueError(f"weights are read from .npz and .safetensors, not from {path}")


def assign_weights(variables: Any, arrays: Mapping[str, Any]) -> None:
    """Give variables the arrays of their names; every name that does not fit is told at once."""
    by_name = {variable.name.removesuffix(":0"): variable for variable in variables}
    missing, unknown = sorted(set(by_name) - set(arrays)), sorted(set(arrays) - set(by_name))
    wrong = [
        f"{name}: {tuple(np.shape(arrays[name]))} for {variable.shape}"
        for name, variable in by_name.items()
        if name in arrays and not variable.shape.is_compatible_with(np.shape(arrays[name]))
    ]
    if missing or unknown or wrong:
        raise errors.InvalidArgumentError(
            None, None, f"weights do not fit: missing {missing}, unexpected {unknown}, other shapes {wrong}"
        )
    for name, variable in by_name.items():
        variable.assign(arrays[name])


def _plain(value: np.ndarray) -> np.ndarray:
    """Return an array that `.npz` can hold: text as bytes, bfloat16 as its bits."""
    if value.dtype == object:
        return value.astype(np.bytes_)
    return value.view(np.uint16) if value.dtype == dtypes.bfloat16.np else value


def _safetensors(arrays: Mapping[str, np.ndarray]) -> bytes:
    table: dict[str, Any] = {}
    parts, at = [], 0
    for name, value in arrays.items():
        letters = _LETTERS.get(dtypes.as_dtype(value.dtype).name)
        if letters is None:
            raise TypeError(f"{name}: safetensors has no {dtypes.as_dtype(value.dtype).name}")
        data = np.ascontiguousarray(value).tobytes()
        table[name] = {"dtype": letters, "shape": list(value.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(table, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


def _from_safetensors(data: bytes, path: str) -> dict[str, np.ndarray]:
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(LARGEST_TABLE, len(data) - 8):
        raise _broken(path, f"its table would have {length} bytes of {len(data)}")
    try:
        table = json.loads(data[8 : 8 + length])
    except (ValueError, RecursionError) as error:
        raise _broken(path, f"its table is no JSON: {error}") from None
    if not isinstance(table, dict):
        raise _broken(path, "its table is no object")
    body = memoryview(data)[8 + length :]
    return {name: _tensor(name, row, body, path) for name, row in table.items() if name != "__metadata__"}


def _tensor(name: str, row: Any, body: memoryview, path: str) -> np.ndarray:
    try:
        kind, shape, (start, end) = KINDS[row["dtype"]], [int(n) for n in row["shape"]], row["data_offsets"]
    except (KeyError, TypeError, ValueError) as error:
        raise _broken(path, f"the row of '{name}' is not understood: {error!r}") from None
    dtype = dtypes.as_dtype(kind)
    if not 0 <= start <= end <= len(body) or any(n < 0 for n in shape):
        raise _broken(path, f"'{name}' lies outside of the file")
    if math.prod(shape) * dtype.np.itemsize != end - start:
        raise _broken(path, f"'{name}' has {end - start} bytes for shape {shape} of {kind}")
    return np.frombuffer(body[start:end], dtype.np).reshape(shape).copy()


def _broken(path: str, why: str) -> errors.DataLossError:
    return errors.DataLossError(None, None, f"{path} is no safetensors file: {why}")
