"""Batches of Examples that are alike: the same features in the same order, of values of any length.

The first record is read; what stands before the values of each of its features (tags, lengths, the key) is its frame.
The frames of all other records are compared with it, a feature at a time over all records at once: every byte must be
the same but those that are lengths, and the lengths must agree with each other. Where one record is different the
answer is None, and `wire` reads them in another way. Knows NumPy and the wire format, and nothing of tensors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ebbflow.ops.parsing.wire import BYTES, FLOATS, INTS, Batch, Column, varint

KINDS = {0x0A: BYTES, 0x12: FLOATS, 0x1A: INTS}


class Frame(NamedTuple):
    """What stands before the values of a feature."""

    key: bytes
    kind: int
    packed: bool  # whether the values are one stretch, whose tag and length are part of the frame
    size: int
    lengths: list[tuple[int, int]]  # place and width of each; the last is that of the values
    gaps: list[int]  # what each length counts besides the values
    mask: np.ndarray  # of the bits that are not lengths
    text: np.ndarray  # these bits
    counts: np.ndarray  # 1 for the bytes that are lengths
    net: np.ndarray  # the bytes of a record without values: each length is its gap
    short: bool  # every length is one byte


class _Reader:
    """Reads tags and lengths of the first record, and remembers where the lengths were."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data, self.at, self.end, self.start = data, at, end, at
        self.places: list[tuple[int, int]] = []

    def tag(self) -> int:
        self.at += 1
        return self.data[self.at - 1] if self.at <= self.end else -1

    def stretch(self) -> int:
        """Read a length; return where the stretch of this length ends."""
        length, behind = varint(self.data, self.at, self.end)
        self.places.append((self.at - self.start, behind - self.at))
        self.at = behind
        return behind + length

    def frame(self, key: bytes = b"", kind: int = 0, packed: bool = False) -> Frame:
        """Return what has been read as a frame."""
        net = np.frombuffer(self.data[self.start : self.at], np.uint8).copy()
        counts = np.zeros_like(net)
        for place, width in self.places:
            counts[place : place + width] = 1
        gaps = [len(net) - place - width for place, width in self.places]
        mask = np.where(counts, 0x80, 0xFF).astype(np.uint8)
        text = net & mask
        for (place, _), gap in zip(self.places, gaps, strict=True):
            net[place] = gap & 0xFF
        short = all(width == 1 for _, width in self.places)
        return Frame(key, kind, packed, len(net), self.places, gaps, mask, text, counts, net, short)


def _frames(data: bytes, end: int) -> list[Frame]:
    """Return the frame of the record and that of each of its features; none if it is of another form."""
    outer = _Reader(data, 0, end)
    if outer.tag() != 0x0A or outer.stretch() != end:
        return []
    found, at = [outer.frame()], outer.at
    while at < end:
        entry = _entry(data, at, end)
        if entry is None:
            return []
        frame, at = entry
        found.append(frame)
    return found


def _entry(data: bytes, at: int, end: int) -> tuple[Frame, int] | None:
    """Return the frame of the feature that stands at a place, and the place behind its values."""
    reader = _Reader(data, at, end)
    if reader.tag() != 0x0A or (stop := reader.stretch()) > end or reader.tag() != 0x0A:
        return None
    length, begin = varint(data, reader.at, end)
    behind = reader.at = begin + length
    if behind >= stop or reader.tag() != 0x12 or reader.stretch() != stop:
        return None
    kind = KINDS.get(reader.tag(), 0)
    if not kind or reader.stretch() != stop:
        return None
    packed = _packed(data, reader.at, stop)
    if packed:
        reader.tag()
        reader.stretch()
    return reader.frame(data[begin:behind], kind, packed), stop


def _packed(data: bytes, at: int, stop: int) -> bool:
    if at >= stop or data[at] != 0x0A:
        return False
    length, behind = varint(data, at + 1, stop)
    return behind + length == stop


def windows(array: np.ndarray, starts: np.ndarray, size: int) -> np.ndarray:
    """Return the `size` bytes from each place on, a row for each; an IndexError where they end too early."""
    if size > len(array):
        raise IndexError(size)
    if not size:
        return np.zeros((len(starts), 0), np.uint8)
    overlapping = np.ndarray((len(array) - size + 1,), np.dtype((np.void, size)), array, 0, (1,))
    return overlapping[starts].view(np.uint8).reshape(-1, size)


def _numbers(rows: np.ndarray, place: int, width: int) -> np.ndarray:
    number = (rows[:, place] & 0x7F).astype(np.int64)
    for k in range(1, width):
        number |= (rows[:, place + k] & 0x7F).astype(np.int64) << (7 * k)
    return number


def _behind(frame: Frame, array: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return where the values that a frame stands before begin and end in all records, or None if one is different."""
    rows = windows(array, at, frame.size)
    inner = _short(frame, rows) if frame.short else _long(frame, rows)
    if inner is None:
        return None
    first = at + frame.size
    return first, first + inner


def _short(frame: Frame, rows: np.ndarray) -> np.ndarray | None:
    """Return the lengths of the values, where every length is one byte: then one comparison is enough."""
    inner = rows[:, frame.lengths[-1][0]]
    if int(inner.max()) + frame.gaps[0] >= 0x80 or (rows - inner[:, None] * frame.counts != frame.net).any():
        return None
    return inner


def _long(frame: Frame, rows: np.ndarray) -> np.ndarray | None:
    if ((rows & frame.mask) != frame.text).any():
        return None
    inner = _numbers(rows, *frame.lengths[-1])
    for place, gap in zip(frame.lengths, frame.gaps, strict=True):
        if gap and (_numbers(rows, *place) != inner + gap).any():
            return None
    return inner


_recent: list[list[Frame]] = [[]]
"""The frames of the last batch: the next is often like it, and then its first record need not be read."""


def alike(batch: Batch) -> dict[bytes, Column] | None:
    """Return the columns of records that are alike; None if they are not."""
    found = _matched(batch, _recent[0])
    if found is not None:
        return found
    try:
        frames = _frames(batch.data, int(batch.ends[0]))
    except (IndexError, ValueError):  # it is none
        return None
    found = _matched(batch, frames)
    if found is not None:
        _recent[0] = frames
    return found


def _matched(batch: Batch, frames: list[Frame]) -> dict[bytes, Column] | None:
    """Return the columns of records that all have these frames."""
    if not frames:
        return None
    found = {}
    ends = batch.ends
    try:
        place = _behind(frames[0], batch.array, batch.starts)
        if place is None or (place[1] != ends).any():
            return None
        at = place[0]
        for frame in frames[1:]:
            place = _behind(frame, batch.array, at)
            if place is None:
                return None
            at = place[1]
            found[frame.key] = Column(frame.kind, *place, frame.packed)
    except IndexError:  # one ends too early
        return None
    return found if (at == ends).all() else None
