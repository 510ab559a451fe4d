"""Nested Python lists as rows: how deep their scalars lie, and where the rows of each level begin.

Knows lists and arrays, nothing of ragged tensors: `tf.ragged.constant`, and its value for feeding, are made of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.core.tensor import Tensor

SAME_DEPTH = "all scalar values must have the same nesting depth"


class Rows(NamedTuple):
    """Where the rows of each level begin, what is inside them, and the shape that has (None: its own)."""

    splits: list[np.ndarray]
    values: Any
    shape: tuple[int, ...] | None


def is_nested(value: Any) -> bool:
    """Return whether a value has items: a list, a tuple, or an array that is no scalar."""
    return isinstance(value, (list, tuple)) or (isinstance(value, (np.ndarray, Tensor)) and np.ndim(value) > 0)


def depths(value: Any) -> tuple[int | None, int]:
    """Return how deep the scalars of nested lists lie (None where there are none), and how deep the lists go.

    >>> depths([[1], [2, 3]]), depths([[], [[]]])
    ((2, 2), (None, 3))
    """
    if not is_nested(value):
        return 0, 0
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (value.ndim if value.size else None), value.ndim
    scalars, deepest = None, 1
    for item in value:
        at, depth = depths(item)
        deepest = max(deepest, depth + 1)
        if at is None:
            continue
        if scalars not in (None, at + 1):
            raise ValueError(SAME_DEPTH)
        scalars = at + 1
    return scalars, deepest


def default_inner_shape(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """Return the shape of what lies inside so many ragged levels, which must be the same everywhere.

    >>> default_inner_shape([[[1], [2]], [[3]]], 1)
    (1,)
    """
    items = [pylist]
    for _ in range(ragged_rank + 1):
        items = [inner for item in items if is_nested(item) for inner in item]
    return _common_shape(items)


def _common_shape(items: Sequence[Any]) -> tuple[int, ...]:
    nested = [item for item in items if is_nested(item)]
    if not nested:
        return ()
    sizes = {len(item) for item in nested}
    if len(nested) != len(items) or len(sizes) > 1:
        raise ValueError("inner values have inconsistent shape")
    return (sizes.pop(), *_common_shape([inner for item in nested for inner in item]))


def rows_of_lists(pylist: Any, ragged_rank: int | None, inner_shape: Any) -> Rows:
    """Return the rows of nested lists; without any, the lists are a tensor."""
    inner = None if inner_shape is None else tuple(inner_shape)
    if not is_nested(pylist):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner)}")
        return Rows([], pylist, ())
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    scalars, deepest = depths(pylist)
    _check_depths(pylist, scalars, deepest, ragged_rank, inner)
    levels = max(deepest - 1 - len(inner or ()), 0) if ragged_rank is None else ragged_rank
    if not levels:
        return Rows([], pylist, inner)
    if inner is None:
        inner = () if ragged_rank is None else default_inner_shape(pylist, levels)
    splits, values = _parted(pylist, levels)
    return Rows(splits, values, (len(values), *inner))


def _check_depths(pylist: Any, scalars: Any, deepest: int, ragged_rank: int | None, inner: Any) -> None:
    """Refuse lists that are deeper or shallower than what is asked of them."""
    if scalars is not None and deepest > scalars:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    if ragged_rank is None:
        return
    if scalars is not None and deepest < ragged_rank:
        raise ValueError(f"Invalid pylist={pylist!r}, max depth smaller than ragged_rank={ragged_rank}")
    if inner is not None and ragged_rank:
        expected = ragged_rank + len(inner) + 1
        if scalars not in (None, expected) or deepest > expected:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} "
                f"and dim(inner_shape)={len(inner)}"
            )
    elif scalars is not None and scalars <= ragged_rank:
        raise ValueError(
            f"Invalid pylist={pylist!r}: pylist has scalar values depth {scalars}, but ragged_rank={ragged_rank} "
            f"requires scalar value depth greater than {ragged_rank}"
        )


def _parted(values: Any, levels: int) -> tuple[list[np.ndarray], list[Any]]:
    """Return where the rows of so many levels begin, and what is inside the last."""
    splits, values = [], list(values)
    for _ in range(levels):
        splits.append(np.cumsum([0, *[len(row) for row in values]]))
        values = [item for row in values for item in row]
    return splits, values
