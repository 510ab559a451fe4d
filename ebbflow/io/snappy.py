"""Snappy: blocks of old checkpoints, and files that consist of blocks. Those that are written are valid, not small.

A block is the length of its contents (a varint), then literals and copies of what came before. Nothing is believed that
the bytes at hand do not bear out.
"""

from __future__ import annotations

from typing import IO

from ebbflow.core import errors
from ebbflow.core.varint import to_varint

WRITTEN = 1 << 15  # bytes of a block that is written: TensorFlow's readers have room for as many
LARGEST = 1 << 28  # bytes that one block may become


def decompress(data: bytes, what: str) -> bytes:
    """Return the contents of a block; `what` names it in errors.

    >>> decompress(bytes([11, 0x14]) + b"abcdef" + bytes([0x05, 6]), "a test")
    b'abcdefabcde'
    """
    try:
        return _decompress(data)
    except (IndexError, ValueError) as error:
        raise errors.DataLossError(None, None, f"{what}: damaged snappy block: {error}") from None


def _decompress(data: bytes) -> bytes:
    length, at, shift = 0, 0, 0
    while True:
        byte = data[at]
        length |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
        if shift > 28:
            raise ValueError("its length is no varint of 32 bits")
    if length > LARGEST:
        raise ValueError(f"it claims {length} bytes")
    out = bytearray()
    while at < len(data):
        at = _literal(data, at, out) if data[at] & 3 == 0 else _copy(data, at, out)
        if len(out) > length:
            raise ValueError(f"it has more than the {length} bytes it claims")
    if len(out) != length:
        raise ValueError(f"it has {len(out)} bytes and claims {length}")
    return bytes(out)


def _literal(data: bytes, at: int, out: bytearray) -> int:
    count = data[at] >> 2
    at += 1
    if count >= 60:
        width = count - 59
        count = int.from_bytes(data[at : at + width], "little")
        at += width
    if at + count + 1 > len(data):
        raise ValueError("a literal is cut off")
    out += data[at : at + count + 1]
    return at + count + 1


def _copy(data: bytes, at: int, out: bytearray) -> int:
    tag = data[at]
    kind = tag & 3
    if kind == 1:
        count, offset, at = 4 + (tag >> 2 & 7), (tag >> 5) << 8 | data[at + 1], at + 2
    else:
        width = 2 if kind == 2 else 4
        if at + 1 + width > len(data):
            raise ValueError("a copy is cut off")
        count, offset = 1 + (tag >> 2), int.from_bytes(data[at + 1 : at + 1 + width], "little")
        at += 1 + width
    if not 0 < offset <= len(out):
        raise ValueError(f"a copy from {offset} bytes back, where there are {len(out)}")
    piece = bytes(out[-offset : len(out) - offset + count])
    while len(piece) < count:  # it runs into what it makes
        piece += piece[: count - len(piece)]
    out += piece
    return at


def stored(data: bytes) -> bytes:
    """Return a block whose contents are these bytes, at most 65,536 of them, as they are.

    >>> decompress(stored(b"abc"), "a test")
    b'abc'
    """
    return to_varint(len(data)) + (b"\xf4" + (len(data) - 1).to_bytes(2, "little") + data if data else b"")


class Unsnapped:
    """A file of blocks, each behind its length, read as what they hold."""

    def __init__(self, file: IO[bytes], path: str) -> None:
        self.file = file
        self._path = path
        self._plain = bytearray()  # taken out of blocks, not handed out yet

    def read(self, size: int) -> bytes:
        """Return `size` bytes, or as many as there are."""
        while len(self._plain) < size and (head := self.file.read(4)):
            length = int.from_bytes(head, "big")
            block = self.file.read(length) if length <= LARGEST else b""
            if len(block) < max(length, 1):
                raise errors.DataLossError(None, None, f"a block of {length} bytes is cut short in {self._path}")
            self._plain += decompress(block, self._path)
        data = bytes(self._plain[:size])
        del self._plain[:size]
        return data

    def put_back(self, data: bytes) -> None:
        """Have these bytes read again."""
        self._plain[:0] = data

    def close(self) -> None:
        """Close the file."""
        self.file.close()


class Snapped:
    """Bytes on their way to a file of blocks."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def compress(self, data: bytes) -> bytes:
        """Return the blocks that are full with these bytes."""
        self._waiting += data
        blocks = []
        while len(self._waiting) >= WRITTEN:
            blocks.append(self._block(bytes(self._waiting[:WRITTEN])))
            del self._waiting[:WRITTEN]
        return b"".join(blocks)

    def flush(self, mode: int = 0) -> bytes:
        """Return a block of what has come since the last full one."""
        rest = bytes(self._waiting)
        self._waiting.clear()
        return self._block(rest) if rest else b""

    @staticmethod
    def _block(data: bytes) -> bytes:
        block = stored(data)
        return len(block).to_bytes(4, "big") + block
