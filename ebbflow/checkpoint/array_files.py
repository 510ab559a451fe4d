"""Variables as plain files of arrays: `.npz` (NumPy) and `.safetensors`, out and in.

    export_variables("weights.safetensors", model.variables)
    import_variables("weights.safetensors", model.variables)

Names are the variables' own, or the keys of a dictionary. A `.safetensors` file is the length of a JSON header,
the header (dtype, shape and place of each array), and the arrays end to end. Neither kind holds code or objects; a
header is not believed beyond the bytes that are there.
"""

from __future__ import annotations

import io
import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from ebbflow.core import errors
from ebbflow.core.convert import convert
from ebbflow.io.bundle_writer import write_atomically
from ebbflow.io.records import open_file
from ebbflow.platform import files

_KINDS: dict[str, Any] = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16, "I64": np.int64,
    "I32": np.int32, "I16": np.int16, "I8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16,
    "U8": np.uint8, "BOOL": np.bool_, "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip
_NAMES = {np.dtype(kind): name for name, kind in _KINDS.items()}
_LARGEST_HEADER = 100 << 20


def export_variables(path: Any, variables: Any) -> None:
    """Write the values of eager variables (a list, or a dictionary by name) to a `.npz` or `.safetensors` file."""
    arrays = {name: np.asarray(variable.numpy()) for name, variable in _by_name(variables).items()}
    path = files.text_of(path)
    if path.endswith(".npz"):
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        write_atomically(path, buffer.getvalue())
    elif path.endswith(".safetensors"):
        write_atomically(path, _safetensors(arrays))
    else:
        raise _unknown(path)


def import_variables(path: Any, variables: Any) -> None:
    """Give eager variables the values of a `.npz` or `.safetensors` file; differences are told before any is set."""
    named, path = _by_name(variables), files.text_of(path)
    arrays = read_arrays(path)
    wrong = [f"{name} is missing" for name in named if name not in arrays]
    for name, variable in named.items():
        array = arrays.get(name)
        if array is None:
            continue
        if not variable.shape.is_compatible_with(array.shape):
            wrong.append(f"{name} has shape {list(array.shape)} in the file, {variable.shape} in the program")
        if array.dtype != variable.dtype.base_dtype.np:
            wrong.append(f"{name} is {array.dtype} in the file, {variable.dtype.base_dtype.name} in the program")
    if wrong:
        extra = sorted(set(arrays) - set(named))
        raise errors.InvalidArgumentError(
            None, None, f"{path} does not fit the variables: {'; '.join(wrong)}. Not asked for: {extra[:20]}"
        )
    for name, variable in named.items():
        variable.assign(convert(arrays[name]))


def read_arrays(path: str) -> dict[str, np.ndarray]:
    """Return the arrays of a `.npz` or `.safetensors` file by name."""
    with open_file(path, "rb") as file:
        data = file.read()
    if path.endswith(".safetensors"):
        return _from_safetensors(data, path)
    if not path.endswith(".npz"):
        raise _unknown(path)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception as error:  # zipfile, zlib and NumPy each have their own
        raise errors.DataLossError(None, None, f"{path}: not an archive of arrays: {error}") from error


def _unknown(path: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, f"{path}: the name must end in .npz or .safetensors")


def _by_name(variables: Any) -> dict[str, Any]:
    if isinstance(variables, Mapping):
        return dict(variables)
    named: dict[str, Any] = {}
    for variable in variables:
        if variable._shared_name in named:
            raise errors.InvalidArgumentError(
                None, None, f"Two variables are called {variable._shared_name}: pass a dictionary by name"
            )
        named[variable._shared_name] = variable
    return named


# --- safetensors ------------------------------------------------------------------------------------------------------


def _safetensors(arrays: dict[str, np.ndarray]) -> bytes:
    header: dict[str, Any] = {}
    at = 0
    for name, array in arrays.items():
        if array.dtype not in _NAMES:
            raise errors.InvalidArgumentError(None, None, f"safetensors files hold no {array.dtype}: {name}")
        span = [at, at + array.nbytes]
        header[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": span}
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(np.ascontiguousarray(a).tobytes() for a in arrays.values())


def _from_safetensors(data: bytes, path: str) -> dict[str, np.ndarray]:
    if len(data) < 8:
        raise errors.DataLossError(None, None, f"{path}: {len(data)} bytes are no safetensors file")
    (length,) = struct.unpack_from("<Q", data)
    if length > min(len(data) - 8, _LARGEST_HEADER):
        raise errors.DataLossError(None, None, f"{path}: a header of {length} bytes in a file of {len(data)}")
    try:
        header = json.loads(data[8 : 8 + length])
        rows = {k: (v["dtype"], [int(n) for n in v["shape"]], *map(int, v["data_offsets"]))
                for k, v in header.items() if k != "__metadata__"}  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise errors.DataLossError(None, None, f"{path}: the header is damaged: {error!r}") from error
    return {name: _array(data, 8 + length, row, f"{path}: {name}") for name, row in rows.items()}


def _array(data: bytes, start: int, row: tuple[Any, ...], what: str) -> np.ndarray:
    if len(row) != 4 or row[0] not in _KINDS:
        raise errors.DataLossError(None, None, f"{what} has unknown dtype {row[0]!r}, or no place")
    kind, shape, begin, end = np.dtype(_KINDS[row[0]]), row[1], row[2], row[3]
    size = math.prod(shape) * kind.itemsize
    if min(shape, default=0) < 0 or not 0 <= begin <= end <= len(data) - start or end - begin != size:
        raise errors.DataLossError(
            None, None, f"{what} has {size} bytes of shape {shape} at {begin} to {end} of {len(data) - start}"
        )
    return np.frombuffer(data, kind, math.prod(shape), start + begin).reshape(shape).copy()
