"""Snappy, read only: old checkpoints have compressed blocks.

A block is the length of its contents (a varint), then literals and copies of what came before. Nothing is believed that
the bytes at hand do not bear out.
"""

from __future__ import annotations

from ebbflow.core import errors

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
