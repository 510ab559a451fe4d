"""Sparse tensors as arrays: places [n, rank], values [n] and the lengths of the whole; sorting, checking, matching.

What the kernels of `sparse_layout` and `sparse_math` share. Knows arrays and nothing of tensors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core.loops import Loop
from ebbflow.core.op import Known
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import show
from ebbflow.ops.shape_rules import equal_length, ranked
from ebbflow.ops.sizes import INT64_MAX, invalid
from ebbflow.ops.sparse.place_loops import MANY, first_out_of_order, first_outside, merged

_SMALL = 1 << 62


def checked(indices: np.ndarray, values: np.ndarray, shape: np.ndarray, words: str = "") -> None:
    """Refuse parts that do not match: a matrix of places, a vector of values, a vector of lengths."""
    if indices.ndim != 2:
        raise invalid(f"Sparse indices must be rank 2 but is rank {indices.ndim}")
    if values.ndim != 1:
        raise invalid(f"Sparse values must be rank 1 but is rank {values.ndim}")
    if shape.ndim != 1:
        raise invalid(f"Sparse shape must be rank 1 but is rank {shape.ndim}")
    if len(indices) != len(values):
        raise invalid(
            words.format(len(indices), len(values))
            or f"Number of elements in indices ({len(indices)}) and values ({len(values)}) do not match"
        )
    if indices.shape[1] != len(shape):
        raise invalid(f"Index rank ({indices.shape[1]}) and shape rank ({len(shape)}) do not match")


def within(indices: np.ndarray, shape: np.ndarray) -> None:
    """Refuse places outside of the whole."""
    code = _walk(first_outside, indices)
    if code is not None and shape.dtype == np.int64 and code(indices, *indices.shape, shape) == len(indices):
        return
    columns = zip(indices.T, shape.tolist(), strict=True)  # NumPy is slow at rows of a few
    if not len(indices) or all(column.min() >= 0 and column.max() < length for column, length in columns):
        return
    wrong = ((indices < 0) | (indices >= shape)).any(axis=1)
    if wrong.any():
        i = int(wrong.argmax())
        raise invalid(
            f"indices[{i}] = {show(tuple(indices[i].tolist()))} is out of bounds: "
            f"need 0 <= index < {show(tuple(shape.tolist()))}"
        )


def positions(indices: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Return each place as one number, in row-major order; places outside are not looked for."""
    if math.prod(max(int(n), 1) for n in shape) > _SMALL:
        raise invalid(f"a sparse tensor of shape {show(tuple(shape))} has too many places to be numbered")
    numbers = np.zeros(len(indices), np.int64)
    for axis, length in enumerate(shape):
        numbers = numbers * int(length) + indices[:, axis]
    return numbers


def order_of(indices: np.ndarray) -> np.ndarray:
    """Return the order that sorts places row by row; equal ones keep theirs."""
    if not indices.shape[1]:
        return np.arange(len(indices))
    return np.lexsort(indices.T[::-1])


def _walk(loop: Loop, *indices: np.ndarray) -> Any:
    """Return the code of a loop that walks these places; None where there is none, or few places."""
    if max(map(len, indices)) < MANY or not all(i.dtype == np.int64 and i.flags.c_contiguous for i in indices):
        return None
    return loop.code()


def is_ordered(indices: np.ndarray) -> bool:
    """Return whether places are in row-major order, each once."""
    code = _walk(first_out_of_order, indices)
    if code is not None:
        return code(indices, *indices.shape) == len(indices)
    before, after = indices[:-1].T, indices[1:].T
    later = np.zeros(max(len(indices) - 1, 0), bool)
    for first, second in zip(before[::-1], after[::-1], strict=True):
        later = (second > first) | ((second == first) & later)
    return bool(later.all())


def united(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct places of both in order, and where each of either's places is among them."""
    code = _walk(merged, a, b)
    if code is not None and is_ordered(a) and is_ordered(b):
        places = np.empty((len(a) + len(b), a.shape[1]), np.int64)
        at_a, at_b = np.empty(len(a), np.int64), np.empty(len(b), np.int64)
        return places[: code(a, len(a), b, len(b), a.shape[1], places, at_a, at_b)], at_a, at_b
    if a.shape == b.shape and (a == b).all() and is_ordered(a):
        return a.copy(), np.arange(len(a)), np.arange(len(a))
    places, group = grouped(np.concatenate([a, b]), range(a.shape[1]))
    return places, group[: len(a)], group[len(a) :]


def in_order(indices: np.ndarray) -> None:
    """Refuse places that are not in row-major order, each once."""
    if len(indices) < 2 or not indices.shape[1]:
        return
    if is_ordered(indices):
        return
    step = np.diff(indices, axis=0)
    first = (step != 0).argmax(axis=1)
    change = step[np.arange(len(step)), first]
    for i in np.flatnonzero(change <= 0)[:1] + 1:
        place = show(tuple(indices[i].tolist()))
        if change[i - 1] == 0:
            raise invalid(f"indices[{i}] = {place} is repeated")
        raise invalid(f"indices[{i}] = {place} is out of order. Many sparse ops require sorted indices.")


def axes_of(given: np.ndarray, rank: int) -> list[int]:
    """Return reduction axes counted from the front, sorted, each once."""
    axes = set()
    for axis in given.reshape(-1).tolist():
        if not -rank <= axis < rank:
            raise invalid(f"Invalid reduction dimension {axis}, for input with {rank} dimensions.")
        axes.add(axis % rank)
    return sorted(axes)


def whole_size(shape: Sequence[int]) -> tuple[int, ...]:
    """Return lengths as dims; refuse negative ones."""
    sizes = tuple(int(n) for n in shape)
    for n in sizes:
        if n < 0:
            raise invalid(f"Dimension {n} must be >= 0")
    if math.prod(sizes) > INT64_MAX:
        raise invalid(f"Shape {show(sizes)} would have more than 2**63 - 1 elements")
    return sizes


def grouped(indices: np.ndarray, kept: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct places along the axes kept, in order, and to which of them each place belongs."""
    if not len(indices):
        return np.zeros((0, len(kept)), np.int64), np.zeros(0, np.int64)
    if not len(kept):
        return np.zeros((1, 0), np.int64), np.zeros(len(indices), np.int64)
    part = indices[:, list(kept)]
    keys = keys_of(part)
    if keys is None:
        places, group = np.unique(part, axis=0, return_inverse=True)
        return places, group.reshape(-1)
    own = keys[0]
    if (own[1:] >= own[:-1]).all():  # in order
        new = np.ones(len(own), bool)
        np.not_equal(own[1:], own[:-1], out=new[1:])
        return part[new], np.cumsum(new) - 1
    _, firsts, group = np.unique(own, return_index=True, return_inverse=True)
    return part[firsts], group.reshape(-1)


def keys_of(*indices: np.ndarray) -> list[np.ndarray] | None:
    """Return numbers that are ordered as the places are, and equal where these are; None where 64 bits do not do."""
    sizes = []
    for columns in zip(*(i.T for i in indices), strict=True):
        filled = [column for column in columns if len(column)]
        if any(column.min() < 0 for column in filled):
            return None
        sizes.append(1 + max((int(column.max()) for column in filled), default=0))
    return [positions(i, sizes) for i in indices] if math.prod(sizes) <= _SMALL else None


# --- shape rules ------------------------------------------------------------------------------------------------------


def sparse_rank(indices: Known, values: Known, shape: Known) -> tuple[Any, Any]:
    """Return how many values there are and the rank of the whole, as far as they are known."""
    count, rank = ranked(indices, 2)
    (length,) = ranked(values, 1)
    (lengths,) = ranked(shape, 1)
    return equal_length(count, length), equal_length(rank, lengths)


def parts(count: int | None, rank: int | None) -> list[Dims]:
    """Return the dims of indices, values and shape."""
    return [(count, rank), (count,), (rank,)]
