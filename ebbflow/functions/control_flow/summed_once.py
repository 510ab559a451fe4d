"""Sums over the turns of a loop that are quicker done once, behind it.

The gradient of what every turn of a loop uses is a sum over the turns. Some have a part each that is larger than what
it is made of: those operands are collected in lists, and joined along their first axis when the loop is over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core.shape import is_static
from ebbflow.ops.arrays.slicing import MASK_NAMES, entries
from ebbflow.ops.declare import raw

Once = tuple[list[Any], Callable[..., Any]]
"""What to collect of each turn, and the function from all of it, joined, to the sum."""


def summed_once(part: Any) -> Once | None:
    """Return how the sum of a gradient over all turns follows from its operands; None where it is added up."""
    node = part.op
    if part._consumers:
        return None
    if node.type == "StridedSliceGrad":
        return _slices(node)
    if node.type not in ("MatMul", "BiasAddGrad") or not all(_is_matrix(t) for t in node._inputs):
        return None
    return (node._inputs, raw.BiasAddGrad) if node.type == "BiasAddGrad" else _products(node)


def _is_matrix(tensor: Any) -> bool:
    return len(tensor._dims or ()) == 2 and is_static(tensor._dims)


def _products(node: Any) -> Once | None:
    """The gradient of a matrix that every turn multiplies by: one product of all rows.

    Added up it is a product of few rows each time, and a matrix that is larger than they are.
    """
    if not node._attrs["transpose_a"] or node._attrs["transpose_b"]:
        return None
    (rows, m), (_, n) = (t._dims for t in node._inputs)
    if rows * (m + n) > m * n:
        return None
    return node._inputs, lambda a, b: raw.MatMul(a, b, transpose_a=True)


def _slices(node: Any) -> Once | None:
    """The gradient of what every turn takes one slice of, `x[:, t]`: each goes to its place.

    Added up, zeros of the size of the whole would be added in every turn.
    """
    dims, dy = node._outputs[0]._dims, node._inputs[4]
    found = _index(node, dims) if is_static(dims) and is_static(dy._dims) else None
    if found is None:
        return None
    axis, index = found
    count, rest = dims[axis], (*dims[:axis], *dims[axis + 1 :])
    places = raw.Reshape(raw.FloorMod(index, np.array(count, index.dtype.np)), np.array([1], np.int32))
    rows = raw.Reshape(dy, np.array((1, *rest), np.int32))
    order = np.array([*range(1, axis + 1), 0, *range(axis + 1, len(dims))], np.int32)

    def total(rows: Any, places: Any) -> Any:
        summed = raw.UnsortedSegmentSum(rows, places, np.array(count, np.int32))
        return raw.Transpose(summed, order) if axis else summed

    return [rows, places], total


def _index(node: Any, dims: Any) -> tuple[int, Any] | None:
    """Return the axis along which a slice takes one index, and the index, where it takes the others whole."""
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask = (node._attrs[m] for m in MASK_NAMES)
    begin, strides = node._inputs[1].op, node._inputs[3].constant_value()
    if begin.type != "Pack" or strides is None or (strides != 1).any():
        return None
    found = None
    for axis, i in entries(len(dims), len(begin._inputs), ellipsis_mask, new_axis_mask):
        if i is None or axis is None:
            continue
        if shrink_mask >> i & 1:
            if found is not None:
                return None
            found = axis, begin._inputs[i]
        elif not (begin_mask >> i & 1 and end_mask >> i & 1):
            return None
    return found
