"""Numbers in as few bytes as they need, seven bits each: how protocol messages and sorted tables write lengths.

Knows bytes only. Parsing of examples has a reader of its own (`ops/parsing/wire.py`), bounded by the message.
"""

from __future__ import annotations

from typing import Any


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


def to_varint(number: int) -> bytes:
    """Return a number as a varint.

    >>> to_varint(300).hex()
    'ac02'
    """
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
