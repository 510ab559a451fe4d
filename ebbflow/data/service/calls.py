"""Elements of datasets as the arrays that travel between the processes of a data service."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ebbflow.data.element_records import array_of, record_of

ABOUT = "gives elements of datasets"
"""What a server of a data service does."""


def text_array(*texts: bytes) -> np.ndarray:
    """Return byte strings as an array that travels."""
    found = np.empty(len(texts), object)
    found[:] = texts
    return found


def packed(elements: Sequence[Sequence[np.ndarray]]) -> tuple[list[list[int]], list[np.ndarray]]:
    """Return elements as arrays that travel, and which of their parts had to be written as records."""
    arrays: list[np.ndarray] = []
    written = []
    for element in elements:
        records = [int(_is_record(part)) for part in element]
        arrays += [text_array(record_of(p)) if r else p for p, r in zip(element, records, strict=True)]
        written.append(records)
    return written, arrays


def _is_record(part: np.ndarray) -> bool:
    return part.dtype == object and part.size > 0 and not isinstance(part.reshape(-1)[0], (bytes, str))


def unpacked(written: Sequence[Sequence[int]], arrays: Sequence[np.ndarray]) -> list[tuple[np.ndarray, ...]]:
    """Return the elements that were `packed`."""
    parts = iter(arrays)
    return [
        tuple([array_of(next(parts)[0], "an element") if is_record else next(parts) for is_record in element])
        for element in written
    ]
