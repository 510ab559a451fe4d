"""The wire format of `tf.train.Example`: where in the bytes each feature's values lie.

An Example is a map from names to lists of bytes, floats or integers. `features_of` reads one record; a `Batch` of them
is read by `batches`. Nothing is copied: what comes out are places in the bytes. Knows NumPy and nothing of tensors.
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

    kinds: int | np.ndarray  # a number: it is of this kind in all
    starts: np.ndarray
    ends: np.ndarray
    packed: bool = False  # the places are those of the values, not of the list around them


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
