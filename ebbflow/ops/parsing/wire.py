"""The wire format of `tf.train.Example`: where in the bytes each feature's values lie.

An Example is a map from names to lists of bytes, floats or integers. `features_of` reads one record; `columns_of` reads
a whole batch of alike records side by side, byte by byte over all of them at once, and gives up (None) where they are
not alike. Nothing is copied here: what comes out are places in the bytes. Knows NumPy and nothing of tensors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

BYTES, FLOATS, INTS = 1, 2, 3
"""The kinds of lists, by their field of `Feature`; 0 is none."""

SLACK = 16  # zeros behind the bytes of a batch, so that a look ahead stays inside
VARINT, EIGHT, RANGE, FOUR = 0, 1, 2, 5  # wire types


class MalformedError(ValueError):
    """Bytes that are no such message."""


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return the number at a place, and the place behind it."""
    value = shift = 0
    while True:
        if at >= end or shift > 63:
            raise MalformedError("a number is cut short or too long")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (field, wire type, start, end of its bytes) of a message; a number's bytes are the number itself."""
    while at < end:
        tag, at = (data[at], at + 1) if data[at] < 0x80 else varint(data, at, end)
        kind = tag & 7
        if kind == RANGE:
            length, at = (data[at], at + 1) if at < end and data[at] < 0x80 else varint(data, at, end)
            stop = at + length
        elif kind == VARINT:
            _, stop = varint(data, at, end)
        elif kind in (FOUR, EIGHT):
            stop = at + (4 if kind == FOUR else 8)
        else:
            raise MalformedError(f"wire type {kind} is not one")
        if stop > end or not tag >> 3:
            raise MalformedError("a field reaches beyond its message")
        yield tag >> 3, kind, at, stop
        at = stop


Feature = tuple[int, int, int]
"""Which kind of list, and where the bytes of that list lie."""


def entries_of(data: bytes, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield each key of a map with the place of its value."""
    for number, kind, start, stop in fields(data, at, end):
        if number != 1 or kind != RANGE:
            continue
        key, value = b"", (stop, stop)
        for part, form, a, b in fields(data, start, stop):
            if part == 1 and form == RANGE:
                key = data[a:b]
            elif part == 2 and form == RANGE:
                value = (a, b)
        yield key, *value


def feature_at(data: bytes, at: int, end: int) -> Feature:
    """Return the list that a Feature holds."""
    found = (0, end, end)
    for number, kind, start, stop in fields(data, at, end):
        if kind == RANGE and number in (BYTES, FLOATS, INTS):
            found = (number, start, stop)
    return found


def features_of(data: bytes, at: int = 0, end: int | None = None) -> dict[bytes, Feature]:
    """Return the features of a `Features` message by name: its first field, as an Example's first field is one."""
    end = len(data) if end is None else end
    found: dict[bytes, Feature] = {}
    for number, kind, start, stop in fields(data, at, end):
        if number == 1 and kind == RANGE:
            for key, a, b in entries_of(data, start, stop):
                found[key] = feature_at(data, a, b)
    return found


# --- many records -----------------------------------------------------------------------------------------------------


class Column(NamedTuple):
    """One feature of all records: its kind in each (0: it is not there), and where its list lies in the bytes."""

    kinds: np.ndarray
    starts: np.ndarray
    ends: np.ndarray


class Batch(NamedTuple):
    """Records as one stretch of bytes, and where each begins and ends."""

    data: bytes
    array: np.ndarray  # the same bytes
    starts: np.ndarray
    ends: np.ndarray


def joined(records: list[bytes]) -> Batch:
    """Return records behind each other."""
    data = b"".join([*records, bytes(SLACK)])
    ends = np.cumsum(np.fromiter(map(len, records), np.int64, len(records)))
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]]) if len(ends) else ends
    return Batch(data, np.frombuffer(data, np.uint8), starts, ends)


def columns_of(batch: Batch, keys: set[bytes]) -> dict[bytes, Column]:
    """Return the features of these names in all records. A record that is none is named in the error."""
    found = _same_layout(batch) if len(batch.starts) > 1 else None
    if found is None and len(batch.starts) > 4:
        found = _side_by_side(batch)
    return found if found is not None else _one_by_one(batch, keys)


def _one_by_one(batch: Batch, keys: set[bytes]) -> dict[bytes, Column]:
    count = len(batch.starts)
    made = {key: Column(np.zeros(count, np.int8), np.zeros(count, np.int64), np.zeros(count, np.int64)) for key in keys}
    for row, (start, end) in enumerate(zip(batch.starts.tolist(), batch.ends.tolist(), strict=True)):
        try:
            found = features_of(batch.data, start, end)
        except (MalformedError, IndexError) as error:
            raise MalformedError(row, str(error)) from None
        for key, (kind, a, b) in found.items():
            column = made.get(key)
            if column is not None:
                column.kinds[row], column.starts[row], column.ends[row] = kind, a, b
    return made


def _same_layout(batch: Batch) -> dict[bytes, Column] | None:
    """Return the columns of records that differ in nothing but the values: read one, compare the others with it."""
    lengths = batch.ends - batch.starts
    length = int(lengths[0])
    if not length or (lengths != length).any():
        return None
    try:
        first = features_of(batch.data, 0, length)
    except (MalformedError, IndexError):
        return None
    frame = np.ones(length, bool)
    for kind, start, end in first.values():
        frame[start + _header(batch.data, kind, start, end) : end] = False
    rows = batch.array[: length * len(lengths)].reshape(-1, length)
    places = np.flatnonzero(frame)
    if (rows[:, places] != rows[0, places]).any():
        return None
    count = len(lengths)
    return {
        key: Column(np.full(count, kind, np.int8), batch.starts + start, batch.starts + end)
        for key, (kind, start, end) in first.items()
    }


def _header(data: bytes, kind: int, start: int, end: int) -> int:
    """Return how many bytes of a list are its layout: a tag and a length where all values stand in one stretch."""
    if start == end or data[start] != 0x0A:
        return end - start
    length, at = varint(data, start + 1, end)
    return at - start if at + length == end else end - start


class _Cursor:
    """A place in each record, moved on over all of them at once."""

    def __init__(self, batch: Batch) -> None:
        self.array, self.at = batch.array, batch.starts

    def tag(self) -> int:
        """Return the byte that stands at all places, or -1 where they differ; move on."""
        here = self.array[self.at]
        first = here[0]
        self.at = self.at + 1
        return int(first) if (here == first).all() else -1

    def length(self, limit: np.ndarray) -> np.ndarray | None:
        """Return where the stretch ends whose length stands at each place, or None where one reaches too far."""
        here = self.array[self.at]
        if here.max() < 0x80:
            self.at = self.at + 1
            ends = self.at + here
            return ends if (ends <= limit).all() else None
        value, shift, going = (here & 0x7F).astype(np.int64), 7, here >= 0x80
        at = self.at + 1
        while going.any():
            if shift > 28 or (at[going] >= limit[going]).any():
                return None
            here = self.array[at]
            value = np.where(going, value | (here & 0x7F).astype(np.int64) << shift, value)
            at = at + going
            going = going & (here >= 0x80)
            shift += 7
        self.at = at
        ends = at + value
        return ends if (ends <= limit).all() else None


def _side_by_side(batch: Batch) -> dict[bytes, Column] | None:
    """Return the columns of records with the same keys in the same order, whatever their lengths."""
    cursor = _Cursor(batch)
    found: dict[bytes, Column] = {}
    if (batch.starts == batch.ends).any() or cursor.tag() != 0x0A:
        return None
    ends = cursor.length(batch.ends)
    if ends is None or (ends != batch.ends).any():
        return None
    while True:
        going = cursor.at < ends
        if not going.all():
            return None if going.any() else found
        entry = _entry(cursor, ends)
        if entry is None:
            return None
        found[entry[0]] = entry[1]


def _entry(cursor: _Cursor, limit: np.ndarray) -> tuple[bytes, Column] | None:
    """Return the key and the column of the map entry that stands at all places."""
    if cursor.tag() != 0x0A or (end := cursor.length(limit)) is None:
        return None
    if cursor.tag() != 0x0A or (key_end := cursor.length(end)) is None:
        return None
    widths = key_end - cursor.at
    width = int(widths[0])
    if (widths != width).any():
        return None
    keys = cursor.array[cursor.at[:, None] + np.arange(width)]
    if (keys != keys[0]).any():
        return None
    cursor.at = key_end
    if (key_end >= end).any() or cursor.tag() != 0x12 or (value_end := cursor.length(end)) is None:
        return None
    if (value_end != end).any() or (cursor.at >= end).any():
        return None
    kind = {0x0A: BYTES, 0x12: FLOATS, 0x1A: INTS}.get(cursor.tag(), 0)
    if not kind or (list_end := cursor.length(end)) is None or (list_end != end).any():
        return None
    column = Column(np.full(len(end), kind, np.int8), cursor.at, end)
    cursor.at = end
    return keys[0].tobytes(), column
