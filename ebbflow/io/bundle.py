"""TensorBundle: tensors by name in `PREFIX.index` and `PREFIX.data-00000-of-00001`, as checkpoints hold them.

Reads them, whole or put together from the slices of partitioned variables; every checksum is checked. Knows the format;
knows nothing of variables.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.io.records import masked_crc32c, open_file
from ebbflow.io.sorted_table import read_table, varint


class BundleReader:
    """The tensors of a checkpoint."""

    def __init__(self, prefix: str | os.PathLike[str]):
        self.prefix = os.fspath(prefix)
        path = self.prefix + ".index"
        if not os.path.exists(path):
            raise errors.NotFoundError(
                None,
                None,
                f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}",
            )
        table = read_table(path)
        header = messages.parse(messages.BundleHeaderProto, table.pop(b"", b""), path)
        if header.endianness:
            raise errors.UnimplementedError(None, None, f"{path}: written by a big-endian machine")
        self._shards = max(header.num_shards, 1)
        self._entries = {key: messages.parse(messages.BundleEntryProto, data, path) for key, data in table.items()}
        self.names = [key.decode("utf-8", "replace") for key in self._entries if not key.startswith(b"\0")]

    def __contains__(self, name: str) -> bool:
        return name.encode() in self._entries

    def dtype_of(self, name: str) -> dtypes.DType:
        """Return a tensor's dtype."""
        return dtypes.as_dtype(self._entry(name.encode()).dtype)

    def shape_of(self, name: str) -> tuple[int, ...]:
        """Return a tensor's shape."""
        return _shape(self._entry(name.encode()))

    def read(self, name: str) -> np.ndarray:
        """Return a tensor's value."""
        entry = self._entry(name.encode())
        if not entry.slices:
            return self._read(entry, name)
        shape = _shape(entry)
        whole = np.empty(shape, dtypes.as_dtype(entry.dtype).np)
        for part in entry.slices:
            value = self._read(self._entry(slice_key(name, part)), name)
            places = tuple(
                slice(None) if not e.HasField("length") else slice(e.start, e.start + e.length) for e in part.extent
            )
            if whole[places].shape != value.shape:
                raise errors.DataLossError(None, None, f"{self.prefix}: slice of {name} has shape {value.shape}")
            whole[places] = value
        return whole

    def _entry(self, key: bytes) -> Any:
        found = self._entries.get(key)
        if found is None:
            raise errors.NotFoundError(None, None, f"Key {key.decode('utf-8', 'replace')} not found in checkpoint")
        return found

    def _read(self, entry: Any, name: str) -> np.ndarray:
        path = f"{self.prefix}.data-{entry.shard_id:05d}-of-{self._shards:05d}"
        dtype, shape = dtypes.as_dtype(entry.dtype), _shape(entry)
        with open_file(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if entry.offset < 0 or entry.size < 0 or entry.offset + entry.size > size:
                raise errors.DataLossError(None, None, f"{path}: tensor {name} lies outside of the file")
            file.seek(entry.offset)
            data = file.read(entry.size)
        if dtype is dtypes.string:
            return self._strings(data, entry, shape, path, name)
        if math.prod(shape) * dtype.np.itemsize != len(data):
            raise errors.DataLossError(None, None, f"{path}: tensor {name} has {len(data)} bytes for shape {shape}")
        if masked_crc32c(data) != entry.crc32c:
            raise errors.DataLossError(None, None, f"{path}: checksum does not match for tensor {name}")
        return np.frombuffer(data, dtype.np).reshape(shape).copy()

    def _strings(self, data: bytes, entry: Any, shape: tuple[int, ...], path: str, name: str) -> np.ndarray:
        lengths, at = [], 0
        try:
            for _ in range(math.prod(shape)):
                length, at = varint(data, at)
                lengths.append(length)
        except IndexError as error:
            raise errors.DataLossError(None, None, f"{path}: lengths of strings of {name} are cut off") from error
        contents = data[at + 4 :]
        as_numbers = b"".join(n.to_bytes(4 if n < 1 << 32 else 8, "little") for n in lengths)
        if sum(lengths) != len(contents) or masked_crc32c(as_numbers + data[at:]) != entry.crc32c:
            raise errors.DataLossError(None, None, f"{path}: checksum does not match for tensor {name}")
        result, start = np.empty(len(lengths), object), 0
        for i, length in enumerate(lengths):
            result[i] = contents[start : start + length]
            start += length
        return result.reshape(shape)


def _shape(entry: Any) -> tuple[int, ...]:
    return tuple(d.size for d in entry.shape.dim)


# --- keys of slices ---------------------------------------------------------------------------------------------------


def slice_key(name: str, part: Any) -> bytes:
    """Return the key under which a slice of a tensor stands."""
    escaped = b"".join({0: b"\x00\xff", 255: b"\xff\x00"}.get(byte, bytes([byte])) for byte in name.encode())
    rank = len(part.extent)
    key = b"\0" + escaped + b"\0\1" + (bytes([0]) if not rank else bytes([1, rank]))
    for extent in part.extent:
        whole = not extent.HasField("length")
        key += signed(extent.start) + signed(-1 if whole else extent.length)
    return key


def signed(value: int) -> bytes:
    """Return a signed number so that bytes sort as numbers do.

    >>> signed(0).hex(), signed(-1).hex(), signed(67).hex(), signed(10000).hex()
    ('80', '7f', 'c043', 'e02710')
    """
    if -64 <= value < 64:
        return bytes([0x80 ^ (value & 0xFF)])
    count = -(-((value if value >= 0 else ~value).bit_length() + 1) // 7)
    data = bytearray(value.to_bytes(count, "big", signed=True))
    header = (0xC000, 0xE000, 0xF000, 0xF800, 0xFC00, 0xFE00, 0xFF00, 0xFF80, 0xFFC0)[count - 2]
    data[0] ^= header >> 8
    data[1] ^= header & 0xFF
    return bytes(data)
