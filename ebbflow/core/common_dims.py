"""What two shapes have in common."""

from __future__ import annotations

from ebbflow.core.shape import Dims


def common_dims(a: Dims, b: Dims) -> Dims:
    """Return the dims that hold for values of both shapes: open where they differ.

    >>> common_dims((2, 3), (2, 4))
    (2, None)
    """
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple([m if m == n else None for m, n in zip(a, b, strict=True)])
