"""Edit distances of many rows as loops that may become machine code (`core.loops`)."""

from __future__ import annotations

from ebbflow.core.loops import I64, Texts, all_texts, loop

LONGEST = 7
"""Bytes of the longest text that one number can stand for."""


@loop
def numbers_of_texts(texts: Texts, n: int, out: I64) -> int:
    """Write a number for each text, its bytes and its length; a negative answer says that one is too long."""
    if not all_texts(texts, n):
        return -1
    for i in range(n):
        text = texts[i]
        size = len(text)
        if size > LONGEST:
            return -1
        number = size
        for k in range(size):
            number = number << 8 | text[k]
        out[i] = number
    return 0


@loop
def distances(a: I64, a_starts: I64, b: I64, b_starts: I64, n: int, row: I64, out: I64) -> None:
    """Count for each pair of rows how many insertions, deletions and replacements lead from one to the other."""
    for i in range(n):
        first = a_starts[i]
        second = b_starts[i]
        many = a_starts[i + 1] - first
        width = b_starts[i + 1] - second
        for k in range(width + 1):
            row[k] = k
        for j in range(many):
            diagonal = row[0]
            row[0] = j + 1
            for k in range(width):
                here = diagonal if a[first + j] == b[second + k] else diagonal + 1
                diagonal = row[k + 1]
                row[k + 1] = min(here, min(diagonal, row[k]) + 1)
        out[i] = row[width]
