"""Sorted tables: byte strings by key, in ascending order, in checksummed blocks (the `.index` of a checkpoint).

Reads them; a file is not trusted: every block is checked, every length is held against the bytes that are there.
"""

from __future__ import annotations

import struct
from typing import Any

from ebbflow.core import errors
from ebbflow.io.records import masked_crc32c, open_file

_MAGIC = bytes.fromhex("57fb808b247547db")
_FOOTER = 48
_UINT32 = struct.Struct("<I")


def read_table(path: str) -> dict[bytes, bytes]:
    """Return all entries of a sorted table, in their order."""
    with open_file(path, "rb") as file:
        data = file.read()
    if len(data) < _FOOTER or data[-8:] != _MAGIC:
        raise errors.DataLossError(None, None, f"{path}: not an sstable (bad magic number)")
    try:
        footer = data[-_FOOTER:]
        at = _handle(footer, 0)[2]  # behind the handle of the metaindex
        offset, size, _ = _handle(footer, at)
        found: dict[bytes, bytes] = {}
        for _, handle in _entries(_block(data, offset, size, path)):
            start, length, _ = _handle(handle, 0)
            found.update(_entries(_block(data, start, length, path)))
    except (IndexError, struct.error) as error:
        raise errors.DataLossError(None, None, f"{path}: a block is cut off or damaged") from error
    return found


def varint(data: Any, at: int) -> tuple[int, int]:
    """Return the number that starts at `at`, and where the next thing starts."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
        if shift > 63:
            raise IndexError("a varint of more than ten bytes")


def _handle(data: bytes, at: int) -> tuple[int, int, int]:
    offset, at = varint(data, at)
    size, at = varint(data, at)
    return offset, size, at


def _block(data: bytes, offset: int, size: int, path: str) -> bytes:
    end = offset + size
    if end + 5 > len(data):
        raise IndexError("a block outside of the file")
    (crc,) = _UINT32.unpack_from(data, end + 1)
    if masked_crc32c(data[offset : end + 1]) != crc:
        raise errors.DataLossError(None, None, f"{path}: block checksum mismatch")
    if data[end] != 0:
        raise errors.UnimplementedError(
            None, None, f"{path}: compressed blocks; write it with a newer TensorFlow again"
        )
    return data[offset:end]


def _entries(block: bytes) -> list[tuple[bytes, bytes]]:
    (restarts,) = _UINT32.unpack_from(block, len(block) - 4)
    end = len(block) - 4 - 4 * restarts
    found, key, at = [], b"", 0
    while at < end:
        shared, at = varint(block, at)
        unshared, at = varint(block, at)
        length, at = varint(block, at)
        if at + unshared + length > end or shared > len(key):
            raise IndexError("an entry outside of its block")
        key = key[:shared] + block[at : at + unshared]
        at += unshared
        found.append((key, block[at : at + length]))
        at += length
    return found
