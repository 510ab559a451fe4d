"""Rows that are named several times: taken in turns, so that each turn can be one call of NumPy.

`ufunc.at` takes elements one by one; a turn, in which no row is named twice, is an ordinary indexed update. Turns keep
the order of the updates of one row. Knows arrays only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow.core.offers import quicker
from ebbflow.ops.reduce.fold_loops import fold_named

MANY_ROUNDS = 8
"""From this many updates of one row on, element by element is quicker than round by round."""


def rounds(at: np.ndarray) -> Iterator[Any] | None:
    """Return selections of `at`, none with a number twice, in the order of equal numbers; None if that takes many.

    >>> [at.tolist() for at in rounds(np.array([4, 7, 4]))]
    [[0, 1], [2]]
    """
    order = np.argsort(at, kind="stable")
    ordered = at[order]
    if not (ordered[1:] == ordered[:-1]).any():
        return iter([slice(None)])
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.append(starts, at.size))
    if lengths.max() >= MANY_ROUNDS:
        return None
    turn = np.empty(at.size, np.int64)
    turn[order] = np.arange(at.size) - np.repeat(starts, lengths)
    return (np.flatnonzero(turn == i) for i in range(int(lengths.max())))


FOLD = "fold rows"
"""Asked of engines: `fold_into` with the same arguments; True where they did it."""


def fold_into(rows: np.ndarray, at: np.ndarray, updates: np.ndarray, ufunc: np.ufunc) -> None:
    """Set `rows[at[i]]` to `ufunc(rows[at[i]], updates[i])` for each i in turn."""
    if not np.may_share_memory(rows, updates) and quicker(FOLD, rows, at, updates, ufunc):
        return
    if updates.size <= FEW:
        ufunc.at(rows, at, updates)
        return
    if fold_named(rows, at, updates, ufunc):
        return
    turns = rounds(at)
    if turns is not None:
        for chosen in turns:
            places = at[chosen]
            rows[places] = ufunc(rows[places], updates[chosen])
    elif rows[0].size >= WIDE:
        for place, update in zip(at.tolist(), updates, strict=True):
            row = rows[place : place + 1]
            ufunc(row, update, row)
    else:
        ufunc.at(rows, at, updates)


FEW = 128
"""Elements up to which `ufunc.at` is quicker than finding out how to do without it."""

WIDE = 64
"""Elements of a row from which on a call for each row is quicker than `ufunc.at`."""
