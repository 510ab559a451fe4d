"""Arrays by name in files that are not TensorFlow's: `.npz` (NumPy) and `.safetensors`, out and in.

A `.safetensors` file is the length of a JSON header, the header (dtype, shape and place of each array), and the arrays
end to end. Neither kind holds code or objects; a header is not believed beyond the bytes that are there. Knows arrays;
knows nothing of variables (`checkpoint/array_variables.py`) or models.
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
from ebbflow.io.bundle import bytes_of_array
from ebbflow.io.bundle_writer import written_atomically
from ebbflow.io.records import open_file

ENDINGS = (".npz", ".safetensors")
_KINDS: dict[str, Any] = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16, "I64": np.int64,
    "I32": np.int32, "I16": np.int16, "I8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16,
    "U8": np.uint8, "BOOL": np.bool_, "C64": np.complex64, "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip
_NAMES = {np.dtype(kind): name for name, kind in _KINDS.items()}
_LARGEST_HEADER = 100_000_000  # the limit of safetensors' own library


def check_ending(path: str) -> None:
    """Refuse a name that tells no format that is known here."""
    if not path.endswith(ENDINGS):
        raise errors.InvalidArgumentError(None, None, f"{path}: the name must end in {' or '.join(ENDINGS)}")


def write_arrays(path: str, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name, in the format that the file's name ends with; a killed write leaves the old file."""
    check_ending(path)
    plain = {name: np.asarray(value) for name, value in arrays.items()}
    if path.endswith(".npz"):
        plain = {name: _for_npz(name, value, path) for name, value in plain.items()}
        with written_atomically(path) as file:
            np.savez(file, **plain)  # type: ignore[arg-type]
        return
    header = _header(plain, path)
    with written_atomically(path) as file:
        file.write(header)
        for value in plain.values():
            file.write(bytes_of_array(np.ascontiguousarray(value)))


def read_arrays(path: str) -> dict[str, np.ndarray]:
    """Return the arrays of a `.npz` or `.safetensors` file by name.

    NumPy's format has no bfloat16 or float8: they come back as void of their size (`view` makes them what they were).
    """
    check_ending(path)
    with open_file(path, "rb") as file:
        data = file.read()
    if path.endswith(".safetensors"):
        return _from_safetensors(data, path)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception as error:  # zipfile, zlib and NumPy each have their own
        raise errors.DataLossError(None, None, f"{path}: not an archive of arrays: {error}") from error


def _for_npz(name: str, value: np.ndarray, path: str) -> np.ndarray:
    """Return an array that a `.npz` can hold: text as bytes of one length, which lose zeros at their ends."""
    if value.dtype != object:
        return value
    texts = [text.encode() if isinstance(text, str) else text for text in value.reshape(-1).tolist()]
    if not all(isinstance(text, bytes) and not text.endswith(b"\0") for text in texts):
        raise errors.InvalidArgumentError(
            None, None, f"{path}: {name} has strings that end in a zero byte, or objects, which .npz cannot hold: "
            "save a checkpoint (tf.train.Checkpoint)",
        )  # fmt: skip
    return np.array(texts, np.bytes_).reshape(value.shape)


# --- safetensors ------------------------------------------------------------------------------------------------------


def _header(arrays: Mapping[str, np.ndarray], path: str) -> bytes:
    rows: dict[str, Any] = {}
    at = 0
    for name, array in arrays.items():
        if array.dtype not in _NAMES:
            kind = "string" if array.dtype == object else array.dtype
            raise errors.InvalidArgumentError(
                None, None, f"{path}: {name} is {kind}, which safetensors files cannot hold"
            )
        span = [at, at + array.nbytes]
        rows[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": span}
        at += array.nbytes
    text = json.dumps(rows, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


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
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise errors.DataLossError(None, None, f"{path}: the header is damaged: {error!r}") from error
    ends = 0
    for name, row in sorted(rows.items(), key=lambda item: item[1][2:]):
        if row[2] < ends:
            raise errors.DataLossError(None, None, f"{path}: {name} shares bytes {row[2]} to {ends} with another array")
        ends = max(ends, *row[2:])
    return {name: _array(data, 8 + length, row, f"{path}: {name}") for name, row in rows.items()}


def _array(data: bytes, start: int, row: tuple[Any, ...], what: str) -> np.ndarray:
    """Return one array: a view of the file's bytes, which nobody may write to."""
    if len(row) != 4 or not isinstance(row[0], str) or row[0] not in _KINDS:
        raise errors.DataLossError(None, None, f"{what} has unknown dtype {row[0]!r}, or no place")
    kind, shape, begin, end = np.dtype(_KINDS[row[0]]), row[1], row[2], row[3]
    size = math.prod(shape) * kind.itemsize
    if min(shape, default=0) < 0 or not 0 <= begin <= end <= len(data) - start or end - begin != size:
        raise errors.DataLossError(
            None, None, f"{what} has {size} bytes of shape {shape} at {begin} to {end} of {len(data) - start}"
        )
    return np.frombuffer(data, kind, math.prod(shape), start + begin).reshape(shape)
