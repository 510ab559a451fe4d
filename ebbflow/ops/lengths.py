"""Lengths of axes as compositions need them: Python ints where known, else scalars found when running.

Public functions that are made of ops (frames, crops, pads) read a tensor's shape with `lengths_of`, calculate with what
they get, and hand it on with `packed`. Knows no family; imported by those that compose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.ops.declare import raw


def lengths_of(x: Any) -> list[Any]:
    """Return the length of each axis of a tensor of known rank: an int, or an int32 scalar where it is not known."""
    dims = x._dims
    if dims is None:
        raise ValueError(f"{x!r} must have a known rank")
    if None not in dims:
        return list(dims)
    shape = raw.Shape(x)
    return [shape[i] if n is None else n for i, n in enumerate(dims)]


def length_of(x: Any, axis: int) -> Any:
    """Return the length of one axis, an int where it is known."""
    dims = x._dims
    if dims is not None and dims[axis] is not None:
        return dims[axis]
    return raw.Shape(x)[axis]


def known_number(value: Any) -> Any:
    """Return a number as an int where it is known before running, else as the scalar tensor it is."""
    if isinstance(value, Tensor):
        found = value.constant_value()
        return value if found is None else found.item()
    if isinstance(value, (int, np.integer)):
        return int(value)
    return value if not hasattr(value, "is_tensor_like") else known_number(convert(value))


def packed(lengths: Sequence[Any]) -> Any:
    """Return lengths as an int32 vector: a constant where all are known."""
    if all(isinstance(n, (int, np.integer)) for n in lengths):
        return np.array(lengths, np.int32)
    return raw.Pack([_scalar(n) for n in lengths])


def packed_pairs(pairs: Sequence[tuple[Any, Any]]) -> Any:
    """Return a pair for each axis (paddings) as an int32 matrix [axes, 2]."""
    flat = packed([n for pair in pairs for n in pair])
    return flat.reshape(-1, 2) if isinstance(flat, np.ndarray) else raw.Reshape(flat, np.array([-1, 2], np.int32))


def _scalar(length: Any) -> Any:
    if isinstance(length, (int, np.integer)):
        return np.array(length, np.int32)
    return length if length.dtype is dtypes.int32 else raw.Cast(length, DstT=dtypes.int32)


def larger(a: Any, b: Any) -> Any:
    """Return the larger of two lengths."""
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else raw.Maximum(_scalar(a), _scalar(b))


def smaller(a: Any, b: Any) -> Any:
    """Return the smaller of two lengths."""
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else raw.Minimum(_scalar(a), _scalar(b))
