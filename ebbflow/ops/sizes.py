"""Sizes of results: read from shape vectors, checked before memory is asked for, and known as far as they are known.

Kernels call `room_for` before they make an array whose size the input's values decide, so that no request can take
the process down. Shape rules read vectors with `lengths`; gradient rules ask `shape_of` and `all_axes`, which are
constants where the static shape is known and ops where it is not. Imported by the families of this room.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.op import Known
from ebbflow.core.shape import Dims
from ebbflow.core.tensor import EagerTensor, wrap
from ebbflow.ops.declare import names_matter, raw, shape_node, show

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


def invalid(message: str) -> errors.InvalidArgumentError:
    """Return the error for a value that the op cannot take."""
    return errors.InvalidArgumentError(None, None, message)


@functools.cache
def memory() -> int:
    """Return the bytes of memory this machine has (2**63 - 1 where it does not say)."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return INT64_MAX


def room_for(dims: Sequence[int], itemsize: int) -> None:
    """Refuse a shape with negative lengths, and one that this machine could not hold."""
    count = 1
    for n in dims:
        if n < 0:
            raise invalid(f"Dimension {n} must be >= 0")
        count *= n
    if count * itemsize > 1 << 26:
        _refuse_impossible(dims, count, itemsize)


def _refuse_impossible(dims: Sequence[int], count: int, itemsize: int) -> None:
    if count > INT64_MAX:
        raise invalid(
            f"Shape {show(tuple(dims))} would have more than 2**63 - 1 elements: Encountered overflow when multiplying"
        )
    if count * itemsize > memory():
        raise errors.ResourceExhaustedError(
            None, None, f"OOM when allocating tensor with shape{show(tuple(dims))}: it takes {count * itemsize} bytes"
        )


# --- in shape rules ---------------------------------------------------------------------------------------------------


def vector(arg: Known, name: str) -> int | None:
    """Return the length of an input that must be a vector, or None where it is not known."""
    if arg.dims is None:
        return None
    if len(arg.dims) != 1:
        raise errors.StaticShapeError(f"{name} must be a vector, got shape {show(arg.dims)}")
    return arg.dims[0]


def one(value: np.ndarray, name: str) -> Any:
    """Return the element of an array that must be a scalar. (NumPy before 2.4 takes a vector of one for a number.)"""
    if value.ndim:
        raise invalid(f"{name} must be a scalar, got a tensor of shape {show(value.shape)}")
    return value[()]


def scalar_value(arg: Known, name: str) -> Any:
    """Return the value of an input that must be a scalar, or None where it is not known."""
    if arg.dims is not None and arg.dims != ():
        raise errors.StaticShapeError(f"{name} must be a scalar, not shape {show(arg.dims)}")
    value = arg.value
    return None if value is None else value[()]


def lengths(arg: Known, name: str) -> Dims:
    """Return the dims that a shape vector spells out; a length below zero is refused."""
    vector(arg, name)
    value = arg.value
    if value is None:
        return arg.as_dims
    for n in value.tolist():
        if n < 0:
            raise errors.StaticShapeError(f"Dimension {n} must be >= 0")
    return tuple(value.tolist())


def product(dims: Sequence[int | None]) -> int | None:
    """Return how many elements dims have, or None where one length is unknown (a zero decides it all the same)."""
    if 0 in dims:
        return 0
    return None if None in dims else math.prod(dims)  # type: ignore[arg-type]


# --- in gradient rules ------------------------------------------------------------------------------------------------


def is_static(x: Any) -> bool:
    """Return whether a tensor's whole shape is known."""
    dims = x._dims
    return dims is not None and None not in dims


def int_vector(values: Sequence[int], like: Any = None) -> Any:
    """Return integers as what an op takes without further conversion: an eager vector beside eager tensors."""
    big = any(not -INT32_MAX <= n <= INT32_MAX for n in values)
    array = np.array(values, np.int64 if big else np.int32)
    return wrap(array, dtypes.int64 if big else dtypes.int32) if like.__class__ is EagerTensor else array


def shape_of(x: Any, out_type: Any = None) -> Any:
    """Return a tensor's shape as an integer vector: a constant where it is known, else the op that finds it."""
    if context.graph_scopes and names_matter():
        return shape_node(x, dtype=out_type or dtypes.int32)
    if not is_static(x):
        return raw.Shape(x) if out_type is None else raw.Shape(x, out_type=out_type)
    if out_type is None:
        return int_vector(x._dims, x)
    array = np.array(x._dims, out_type.np)
    return wrap(array, out_type) if x.__class__ is EagerTensor else array


def size_of(x: Any) -> Any:
    """Return how many elements a tensor has, as a Python int where that is known."""
    return math.prod(x._dims) if is_static(x) else raw.Size(x)


def rank_of(x: Any) -> Any:
    """Return a tensor's rank, as a Python int where that is known."""
    return raw.Rank(x) if x._dims is None else len(x._dims)


def all_axes(x: Any) -> Any:
    """Return the vector 0, 1, … of a tensor's axes."""
    if x._dims is None:
        return raw.Range(0, raw.Rank(x), 1)
    return int_vector(range(len(x._dims)), x)


def like(grad: Any, x: Any) -> Any:
    """Return `grad` in the shape of `x`."""
    return raw.Reshape(grad, shape_of(x))
