"""The features of a batch of Examples: where the values of each lie in all records.

Records that are alike are read side by side (`alike`); those with the same features in the same order, but lengths that
take more bytes in one than in another, byte by byte over all of them at once; any others one by one. All three give the
same. Knows NumPy and the wire format, and nothing of tensors.
"""

from __future__ import annotations

import numpy as np

from ebbflow.ops.parsing.alike import KINDS, alike
from ebbflow.ops.parsing.wire import Batch, Column, MalformedError, features_of


def columns_of(batch: Batch, keys: set[bytes]) -> dict[bytes, Column]:
    """Return the features of these names in all records. A record that is none is named in the error."""
    found = alike(batch) if len(batch.starts) > 1 else None
    if found is None and len(batch.starts) > 4:
        found = _side_by_side(batch)
    return found if found is not None else _one_by_one(batch, keys)


def _one_by_one(batch: Batch, keys: set[bytes]) -> dict[bytes, Column]:
    count = len(batch.starts)
    made = {key: (np.zeros(count, np.int8), np.zeros(count, np.int64), np.zeros(count, np.int64)) for key in keys}
    for row, (start, end) in enumerate(zip(batch.starts.tolist(), batch.ends.tolist(), strict=True)):
        try:
            found = features_of(batch.data, start, end)
        except (MalformedError, IndexError) as error:
            raise MalformedError(row, str(error)) from None
        for key, (kind, a, b) in found.items():
            if key in made:
                kinds, starts, ends = made[key]
                kinds[row], starts[row], ends[row] = kind, a, b
    return {key: Column(*places) for key, places in made.items()}


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
    kind = KINDS.get(cursor.tag(), 0)
    if not kind or (list_end := cursor.length(end)) is None or (list_end != end).any():
        return None
    column = Column(kind, cursor.at, end)
    cursor.at = end
    return keys[0].tobytes(), column
