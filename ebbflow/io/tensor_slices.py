"""Slices of tensors as checkpoints write them: which part of a larger tensor a piece is.

A slice is a tuple of (start, length) for each axis; a length of -1 stands for the whole axis. Knows the text form that
save and restore ops take, the message, and the key under which a slice stands in a sorted table. Knows no files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from ebbflow import messages
from ebbflow.core import errors

Slice = tuple[tuple[int, int], ...]
Shape = tuple[int, ...]

WHOLE = -1
_SPECIAL = re.compile(rb"[\x00\xff]")


def parse_shape_and_slice(text: str) -> tuple[Shape, Slice]:
    """Return the full shape and the slice that `shape_and_slice` names.

    >>> parse_shape_and_slice("10 6 4,3:-")
    ((10, 6), ((4, 3), (0, -1)))
    """
    *dims, spec = text.split(" ")
    if not dims:
        raise _refused(text, "need a shape and a slice, as in '10 6 4,3:-'")
    try:
        shape = tuple(int(d) for d in dims if d)
    except ValueError:
        raise _refused(text, "the shape is not a list of whole numbers") from None
    part = tuple(_parse_extent(piece, text) for piece in spec.split(":"))
    if len(part) != len(shape):
        raise _refused(text, f"the shape has rank {len(shape)}, the slice {len(part)}")
    for (start, length), size in zip(part, shape, strict=True):
        if size < 0 or (length != WHOLE and (start < 0 or length < 0 or start + length > size)):
            raise _refused(text, f"{start},{length} is not inside an axis of {size}")
    return shape, part


def _parse_extent(piece: str, text: str) -> tuple[int, int]:
    if piece == "-":
        return 0, WHOLE
    try:
        start, length = piece.split(",")
        return int(start), int(length)
    except ValueError:
        raise _refused(text, f"expected 'start,length' or '-', got {piece!r}") from None


def _refused(text: str, why: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, f"Invalid shape_and_slice specification {text!r}: {why}")


def is_full(part: Slice) -> bool:
    """Return whether a slice is all of its tensor."""
    return all(length == WHOLE for _, length in part)


def settled(part: Slice, shape: Sequence[int]) -> Slice:
    """Return a slice with the lengths of whole axes filled in.

    >>> settled(((4, 3), (0, -1)), (10, 6))
    ((4, 3), (0, 6))
    """
    return tuple((start, size if length == WHOLE else length) for (start, length), size in zip(part, shape))


def shape_of(part: Slice, shape: Sequence[int]) -> Shape:
    """Return the shape of what a slice cuts out."""
    return tuple(length for _, length in settled(part, shape))


def places(part: Slice) -> tuple[slice, ...]:
    """Return a settled slice as an index of arrays."""
    return tuple(slice(start, start + length) for start, length in part)


def common(a: Slice, b: Slice) -> Slice | None:
    """Return what two settled slices have in common, or None.

    >>> common(((0, 4),), ((3, 5),)), common(((0, 3),), ((3, 5),))
    (((3, 1),), None)
    """
    both = []
    for (start_a, length_a), (start_b, length_b) in zip(a, b, strict=True):
        start, end = max(start_a, start_b), min(start_a + length_a, start_b + length_b)
        if start >= end:
            return None
        both.append((start, end - start))
    return tuple(both)


def elements(part: Slice) -> int:
    """Return how many elements a settled slice has."""
    return math.prod(length for _, length in part)


# --- messages and keys ------------------------------------------------------------------------------------------------


def from_message(message: Any) -> Slice:
    """Return the slice that a TensorSliceProto describes."""
    return tuple((e.start, e.length if e.HasField("length") else WHOLE) for e in message.extent)


def to_message(part: Slice) -> Any:
    """Return a slice as a TensorSliceProto."""
    message = messages.TensorSliceProto()
    for start, length in part:
        extent = message.extent.add()
        if length != WHOLE:
            extent.start, extent.length = start, length
    return message


def key_of(name: bytes, part: Slice) -> bytes:
    """Return the key under which a slice of a tensor stands: keys sort by name, then by place."""
    escaped = _SPECIAL.sub(lambda found: b"\x00\xff" if found[0] == b"\x00" else b"\xff\x00", name)
    key = b"\0" + escaped + b"\0\1" + (bytes([1, len(part)]) if part else b"\0")
    return key + b"".join(signed(start) + signed(length) for start, length in part)


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
