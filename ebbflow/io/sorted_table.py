"""Sorted tables: byte strings by key, in ascending order, in checksummed blocks (the `.index` of a checkpoint).

Reads and writes them, byte for byte as TensorFlow does. A file is not trusted: every block is checked, every length is
held against the bytes that are there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from ebbflow.core import errors
from ebbflow.core.varint import to_varint, varint
from ebbflow.io import snappy
from ebbflow.io.records import masked_crc32c, open_file

_MAGIC = bytes.fromhex("57fb808b247547db")
_FOOTER = 48
_UINT32 = struct.Struct("<I")
_PLAIN, _SNAPPY = 0, 1
BLOCK = 262144  # bytes from which on a block is closed
RESTART = 16  # entries after which a key is written whole again


# --- reading ----------------------------------------------------------------------------------------------------------


def read_table(path: str) -> dict[bytes, bytes]:
    """Return all entries of a sorted table, in their order."""
    with open_file(path, "rb") as file:
        data = file.read()
    if len(data) < _FOOTER or data[-8:] != _MAGIC:
        raise errors.DataLossError(None, None, f"{path}: not an sstable (bad magic number)")
    entries: dict[bytes, bytes] = {}
    last = None
    where = f"the footer, at byte {len(data) - _FOOTER}"
    try:
        footer = data[-_FOOTER:]
        at = _handle(footer, 0)[2]  # behind the handle of the metaindex
        offset, size, _ = _handle(footer, at)
        where = f"the index block, at byte {offset}"
        for _, handle in _entries(_block(data, offset, size, path)):
            start, length, _ = _handle(handle, 0)
            where = f"the block at byte {start}"
            for key, value in _entries(_block(data, start, length, path)):
                if last is not None and key <= last:
                    raise IndexError(f"key {key!r} behind {last!r}: keys must ascend")
                entries[key], last = value, key
    except (IndexError, struct.error) as error:
        raise errors.DataLossError(None, None, f"{path}: {where} is cut off or damaged: {error}") from error
    return entries


def is_table(path: str) -> bool:
    """Return whether a file ends as sorted tables do."""
    with open_file(path, "rb") as file:
        file.seek(0, 2)
        if file.tell() < _FOOTER:
            return False
        file.seek(-8, 2)
        return file.read(8) == _MAGIC


def _handle(data: bytes, at: int) -> tuple[int, int, int]:
    offset, at = varint(data, at)
    size, at = varint(data, at)
    return offset, size, at


def _block(data: bytes, offset: int, size: int, path: str) -> bytes:
    end = offset + size
    if end + 5 > len(data) - _FOOTER:
        raise IndexError(f"a block of {size} bytes at {offset} is outside of the file")
    (crc,) = _UINT32.unpack_from(data, end + 1)
    if masked_crc32c(data[offset : end + 1]) != crc:
        raise errors.DataLossError(None, None, f"{path}: block checksum mismatch, in the block at byte {offset}")
    contents = data[offset:end]
    if data[end] == _PLAIN:
        return contents
    if data[end] != _SNAPPY:
        raise errors.DataLossError(None, None, f"{path}: the block at byte {offset} has unknown type {data[end]}")
    return snappy.decompress(contents, f"{path}, block at byte {offset}")


def _entries(block: bytes) -> list[tuple[bytes, bytes]]:
    (restarts,) = _UINT32.unpack_from(block, len(block) - 4)
    end = len(block) - 4 - 4 * restarts
    if end < 0:
        raise IndexError(f"{restarts} restarts in a block of {len(block)} bytes")
    entries, key, at = [], b"", 0
    while at < end:
        shared, at = varint(block, at)
        unshared, at = varint(block, at)
        length, at = varint(block, at)
        if at + unshared + length > end or shared > len(key):
            raise IndexError("an entry outside of its block")
        key = key[:shared] + block[at : at + unshared]
        at += unshared
        entries.append((key, block[at : at + length]))
        at += length
    return entries


# --- writing ----------------------------------------------------------------------------------------------------------


def table_bytes(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the file that holds these entries, whose keys ascend.

    >>> len(table_bytes([(b"", b"header"), (b"v", b"value")]))
    111
    """
    file = bytearray()
    index = _Block(restart=1)
    block, last = _Block(RESTART), None
    waiting: tuple[bytes, bytes] | None = None  # the last key of a closed block, and its handle
    for key, value in entries:
        if last is not None and key <= last:
            raise ValueError(f"keys must ascend, got {key!r} behind {last!r}")
        if waiting is not None:
            index.add(_separator(waiting[0], key), waiting[1])
            waiting = None
        block.add(key, value)
        last = key
        if block.size() >= BLOCK:
            waiting, block = (key, _append(file, block)), _Block(RESTART)
    if block.entries:
        waiting = (last or b"", _append(file, block))
    if waiting is not None:
        index.add(_successor(waiting[0]), waiting[1])
    metaindex = _append(file, _Block(RESTART))
    handles = metaindex + _append(file, index)
    return bytes(file) + handles.ljust(_FOOTER - 8, b"\0") + _MAGIC


class _Block:
    """A block that is being written."""

    def __init__(self, restart: int):
        self.interval, self.count, self.last = restart, 0, b""
        self.entries = bytearray()
        self.restarts = [0]

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self.count == self.interval:
            self.restarts.append(len(self.entries))
            self.count = 0
        elif self.entries:
            shared = _common_prefix(self.last, key)
        self.entries += to_varint(shared) + to_varint(len(key) - shared) + to_varint(len(value)) + key[shared:] + value
        self.last = key
        self.count += 1

    def size(self) -> int:
        return len(self.entries) + 4 * len(self.restarts) + 4

    def contents(self) -> bytes:
        numbers = (*self.restarts, len(self.restarts))
        return bytes(self.entries) + b"".join(_UINT32.pack(number) for number in numbers)


def _append(file: bytearray, block: _Block) -> bytes:
    """Add a block to the file; return its handle."""
    contents = block.contents()
    handle = to_varint(len(file)) + to_varint(len(contents))
    typed = contents + bytes([_PLAIN])
    file += typed + _UINT32.pack(masked_crc32c(typed))
    return handle


def _common_prefix(a: bytes, b: bytes) -> int:
    length = min(len(a), len(b))
    if a[:length] == b[:length]:
        return length
    return next(i for i in range(length) if a[i] != b[i])


def _separator(last: bytes, following: bytes) -> bytes:
    at = _common_prefix(last, following)
    if at < min(len(last), len(following)) and last[at] + 1 < following[at]:
        return last[:at] + bytes([last[at] + 1])
    return last


def _successor(key: bytes) -> bytes:
    for i, byte in enumerate(key):
        if byte != 0xFF:
            return key[:i] + bytes([byte + 1])
    return key
