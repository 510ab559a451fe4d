"""Softmax cross entropies, written into arrays that are there: a block of rows at a time, blocks side by side.

A row of logits goes through the cache once: its largest, the exponentials, their sum, the loss, the slope and, where
one is given, the factor of the slope. Knows NumPy and threads; knows nothing of ops.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ebbflow.platform import threads

BLOCK = 1 << 17
"""Elements that are worked on at a time: half a megabyte of float32, which fits into a core's own cache."""

FEW = 32
"""Classes up to which rows are short for NumPy: finding where their largest is takes it less than what it is."""

_largest, _sum = np.maximum.reduce, np.add.reduce


def in_range(labels: np.ndarray, classes: int) -> bool:
    """Return whether all labels name a class."""
    unsigned = labels.view(_UNSIGNED[labels.itemsize])  # what is negative is large
    return not labels.size or unsigned.max() < classes


_UNSIGNED = {4: np.uint32, 8: np.uint64}


def sparse(logits: np.ndarray, labels: np.ndarray, scale: Any, loss: np.ndarray, slope: np.ndarray) -> None:
    """Write the loss of each row, and its slope by the logits times `scale` (a number, a column, or None for 1)."""
    rows, classes = logits.shape
    if logits.size < 2 * BLOCK:
        _rows(logits, labels, scale, loss, slope)
        return
    step = max(1, BLOCK // classes)
    column = scale is not None and scale.size > 1

    def part(first: int, last: int) -> None:
        for start in range(first, last, step):
            at = slice(start, min(start + step, last))
            _rows(logits[at], labels[at], scale[at] if column else scale, loss[at], slope[at])

    count = threads.count()
    cuts = [rows * i // count for i in range(count + 1)]
    with np.errstate(all="ignore"):
        threads.spread(part, list(itertools.pairwise(cuts)))


def _rows(logits: np.ndarray, labels: np.ndarray, scale: Any, loss: np.ndarray, slope: np.ndarray) -> None:
    rows, classes = logits.shape
    starts = np.arange(0, rows * classes, classes)
    if classes <= FEW:
        largest = logits.reshape(-1)[logits.argmax(1) + starts][:, None]
    else:
        largest = _largest(logits, 1, None, None, True)  # type: ignore[call-overload]
    np.subtract(logits, largest, slope)
    flat = slope.reshape(-1)
    at = starts + labels
    moved = flat[at]
    np.exp(slope, slope)
    total = _sum(slope, 1, None, None, True)  # type: ignore[call-overload]
    np.log(total[:, 0], loss)
    np.subtract(loss, moved, loss)
    np.divide(slope, total, slope)
    flat[at] -= 1
    if scale is not None:
        np.multiply(scale, slope, slope)
