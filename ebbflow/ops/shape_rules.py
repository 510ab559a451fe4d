"""Pieces of shape rules, worded as TensorFlow words them when a graph is built.

What many rules of the matrix and neural-net families need: a rank, at least a rank, two lengths that must agree. Each
takes what is known and gives back what is known then; unknown ranks and lengths pass. Imported by those families.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Known
from ebbflow.core.shape import Dims, is_compatible
from ebbflow.ops.declare import show
from ebbflow.ops.sizes import invalid, room_for


def ranked(arg: Known, rank: int) -> tuple[int | None, ...]:
    """Return the dims of an input that must have this rank."""
    if arg.dims is None:
        return (None,) * rank
    if len(arg.dims) != rank:
        raise errors.StaticShapeError(f"Shape must be rank {rank} but is rank {len(arg.dims)}")
    return arg.dims


def ranked_at_least(arg: Known, rank: int) -> Dims:
    """Return the dims of an input that must have at least this rank."""
    if arg.dims is not None and len(arg.dims) < rank:
        raise errors.StaticShapeError(f"Shape must be at least rank {rank} but is rank {len(arg.dims)}")
    return arg.dims


def equal_length(a: int | None, b: int | None) -> int | None:
    """Return the length that two axes must share."""
    if a is not None and b is not None and a != b:
        raise errors.StaticShapeError(f"Dimensions must be equal, but are {a} and {b}")
    return b if a is None else a


def agreed(a: Dims, b: Dims) -> Dims:
    """Return the shape that two inputs must share."""
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        raise errors.StaticShapeError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    if not is_compatible(a, b):
        at = next(i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y and x is not None and y is not None)
        raise errors.StaticShapeError(
            f"Dimension {at} in both shapes must be equal, but are {a[at]} and {b[at]}. "
            f"Shapes are {show(a)} and {show(b)}."
        )
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))


def broadcast_batches(a: Dims, b: Dims) -> Dims:
    """Return the shape that the leading axes of two batches broadcast to."""
    if a is None or b is None:
        return None
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    lead = len(longer) - len(shorter)
    return longer[:lead] + tuple(map(_broadcast_length, longer[lead:], shorter))


def _broadcast_length(x: int | None, y: int | None) -> int | None:
    if x == y or y == 1:
        return x
    if x == 1:
        return y
    if x is None or y is None:
        return y if x is None else x
    raise errors.StaticShapeError(f"Dimensions must be equal, but are {x} and {y}")


def sizes_from(vector: np.ndarray, rank: int, name: str, itemsize: int = 4) -> tuple[int, ...]:
    """Return a shape that came as a tensor, checked: of this rank, nothing negative, and of a size that can exist."""
    if vector.ndim != 1 or vector.size != rank:
        raise invalid(f"{name} must be a vector of {rank} elements, got shape {show(vector.shape)}")
    sizes = tuple(int(n) for n in vector)
    bad = next((n for n in sizes if n < 0), None)
    if bad is not None:
        raise invalid(f"Expected a non-negative size, got {bad} in {name} = {list(sizes)}")
    room_for(sizes, itemsize)
    return sizes
