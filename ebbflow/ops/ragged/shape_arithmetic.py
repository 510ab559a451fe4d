"""Arithmetic on the parts of ragged shapes: lengths as vectors, axes made one or divided, partitions from lengths.

A length that is known is a constant, whatever it was computed from; the others are ops. Knows partitions and tensors of
integers; `dynamic_shape` gives it the parts of its shapes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.partition import RowPartition, partition


def is_length(length: Any) -> bool:
    """Return whether this is the length of an axis: a number, or a tuple of them."""
    if isinstance(length, (list, tuple)):
        return all(isinstance(each, int) for each in length)
    return isinstance(length, int)


def vector(lengths: Any, kind: Any) -> Any:
    """Return lengths as a vector of this integer type."""
    if isinstance(lengths, TensorShape):
        lengths = lengths.as_list()
    if isinstance(lengths, (list, tuple)) and any(isinstance(length, Tensor) for length in lengths):
        return joined(lengths, kind)
    tensor = lengths if isinstance(lengths, Tensor) else convert(np.asarray(lengths, kind.np))
    if tensor.shape.rank not in (1, None):
        raise ValueError(f"Shape {tensor.shape} must have rank 1")
    return tensor if tensor.dtype is kind else raw.Cast(tensor, DstT=kind)


def joined(lengths: Sequence[Any], kind: Any) -> Any:
    """Return scalars as one vector: a constant where all are known."""
    known = [_number(length) for length in lengths]
    if None not in known:
        return convert(np.array(known, kind.np))
    parts = [length if isinstance(length, Tensor) else convert(length, kind) for length in lengths]
    return raw.Pack([part if part.dtype is kind else raw.Cast(part, DstT=kind) for part in parts])


def known_shape(lengths: Any) -> TensorShape:
    """Return the shape that a vector spells, as far as it is known."""
    if isinstance(lengths, EagerTensor):
        return TensorShape(lengths.constant_value().tolist())
    return TensorShape(lengths.constant_dims())


def product(lengths: Any, static: TensorShape) -> Any:
    """Return the product of lengths."""
    if static.is_fully_defined():
        return convert(math.prod(static.as_list()), lengths.dtype)
    return raw.Prod(lengths, [0])


def after(checks: Sequence[Any], tensor: Any) -> Any:
    """Return a tensor that is there once assertions have run."""
    checks = [check for check in checks if check is not None]
    if not checks or isinstance(tensor, EagerTensor) or context.executing_eagerly():
        return tensor
    with context.current_graph().control_dependencies(checks):
        return raw.Identity(tensor)


def merged_axes(lengths: Any, static: TensorShape, outer: int, inner: int) -> tuple[Any, TensorShape]:
    """Return lengths with those from one place to the other multiplied, and what is known of them."""
    part = product(lengths[outer : inner + 1], static[outer : inner + 1])
    dims = [*static.as_list()[:outer], _number(part), *static.as_list()[inner + 1 :]]
    if None not in dims:
        return convert(np.array(dims, lengths.dtype.np)), TensorShape(dims)
    found = raw.ConcatV2([lengths[:outer], raw.ExpandDims(part, 0), lengths[inner + 1 :]], 0)
    return found, TensorShape(dims)


def inner_shape_of_rank(shape: Any, rank: int) -> tuple[Any, TensorShape]:
    """Return the lengths of the last `rank` axes of a ragged shape, those before them made one, and what is known."""
    inner, static, own = shape._inner_shape, shape._static_inner_shape, shape.inner_rank
    if own is None:
        raise ValueError("Rank must be known to change the number of axes inside")
    if rank == 0:
        raise ValueError("new_inner_rank cannot be zero")
    if own == 0:
        raise ValueError("old inner_rank cannot be zero")
    if rank == own:
        return inner, static
    if rank < own:
        return merged_axes(inner, static, 0, own - rank)
    rows = shape._row_partitions[len(shape._row_partitions) - (rank - own) :]
    lengths = [partition.uniform_row_length() for partition in rows]
    if not rows or None in [length if length is None else 1 for length in lengths]:
        raise ValueError("Cannot get an inner shape over a ragged dimension")
    dims = [rows[0].static_nrows, *map(_number, lengths), *static.as_list()[1:]]
    if None not in dims:
        return convert(np.array(dims, inner.dtype.np)), TensorShape(dims)
    return raw.ConcatV2([joined([rows[0].nrows(), *lengths], inner.dtype), inner[1:]], 0), TensorShape(dims)


def uniform_partitions(shape: Any, count: int) -> list[RowPartition]:
    """Return divisions into rows for the first `count` axes behind the outermost of those inside a shape."""
    kind, static, found = shape.dtype, shape._static_inner_shape, []
    rows = shape._inner_shape_dim(0)
    for axis in range(1, count + 1):
        length = shape._inner_shape_dim(axis)
        known = isinstance(rows, int) and isinstance(length, int)
        values = rows * length if known else product(shape._inner_shape[: axis + 1], static[: axis + 1])
        found.append(RowPartition.from_uniform_row_length(length, values, rows, validate=False, dtype=kind))
        rows = values if known or _number(values) is None else _number(values)
    return found


def merged(partitions: Sequence[RowPartition]) -> RowPartition:
    """Return several divisions, one inside the other, as one: whose rows are the outermost ones."""
    splits = partitions[0].row_splits()
    for rows in partitions[1:]:
        splits = raw.GatherV2(rows.row_splits(), splits, 0)
    lengths: list[Any] = [rows.uniform_row_length() for rows in partitions]
    if all(length is not None for length in lengths):
        uniform = lengths[0]
        for length in lengths[1:]:
            uniform = uniform * length
        return partition(splits, uniform_row_length=uniform)
    return partition(splits)


def _number(length: Any) -> int | None:
    """Return a length where it is known."""
    if length is None or isinstance(length, (int, np.integer)):
        return None if length is None else int(length)
    known = length.constant_value()
    return None if known is None else int(known)
