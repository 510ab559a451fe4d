"""Element-wise functions of ragged tensors: the other arguments are brought to the same rows, and then it is the
function of the flat values.

A tensor and a ragged one are broadcast as shapes are: an axis of length 1 is repeated along the rows. Knows
the class; knows nothing of which functions there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import EagerTensor
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.sizes import invalid


def elementwise(function: Callable[..., Any], values: Sequence[Any]) -> RaggedTensor:
    """Return the function of the elements of all values, of which some are ragged."""
    ragged = [v for v in values if isinstance(v, RaggedTensor)]
    like = max(ragged, key=lambda v: v.ragged_rank)
    return like.with_flat_values(function(*[_flat(v, like) for v in values]))


def _flat(value: Any, like: RaggedTensor) -> Any:
    """Return a value for each flat value of `like`, or what NumPy would broadcast to them."""
    if isinstance(value, RaggedTensor):
        _check_rows(value, like)
        return value.flat_values
    if isinstance(value, (bool, int, float, str, bytes)):
        return value
    tensor = convert(value, None, like.dtype if not like.dtype.is_bool else None)
    inner = len(like.flat_values._dims) - 1
    rank = len(tensor._dims)
    if rank <= inner:
        return tensor
    outer = like.ragged_rank + 1
    if rank < outer + inner:
        tensor = raw.Reshape(tensor, raw.ConcatV2([[1] * (outer + inner - rank), raw.Shape(tensor)], 0))
    return _along_rows(tensor, like, outer)


def _along_rows(tensor: Any, like: RaggedTensor, outer: int) -> Any:
    """Return the parts of a tensor that belong to each flat value; axes of length 1 belong to all."""
    places = raw.Cast(like.coordinates(), DstT=dtypes.int64)
    sizes = raw.Shape(tensor, out_type=dtypes.int64)[:outer]
    if isinstance(sizes, EagerTensor) and isinstance(like.row_splits, EagerTensor):
        _check_sizes(sizes._array, like)
    return raw.GatherNd(tensor, raw.Minimum(places, sizes - np.int64(1)))


def _check_sizes(sizes: np.ndarray, like: RaggedTensor) -> None:
    counts = [np.array([like.nrows().numpy()]), *[np.asarray(lengths.numpy()) for lengths in like.nested_row_lengths()]]
    for axis, (size, lengths) in enumerate(zip(sizes.tolist(), counts, strict=True)):
        if size != 1 and np.any(lengths != size):
            raise invalid(f"Unable to broadcast: dimension size mismatch in dimension {axis}: {size} and {lengths}")


def _check_rows(one: RaggedTensor, other: RaggedTensor) -> None:
    if one.ragged_rank != other.ragged_rank:
        raise ValueError(f"rows of {one.ragged_rank} levels do not broadcast with rows of {other.ragged_rank}")
    for mine, theirs in zip(one.nested_row_splits, other.nested_row_splits, strict=True):
        if mine is theirs or not (isinstance(mine, EagerTensor) and isinstance(theirs, EagerTensor)):
            continue
        if not np.array_equal(mine._array, theirs._array):
            raise invalid(
                f"Unable to broadcast: the rows have different lengths: {np.diff(mine._array)} and "
                f"{np.diff(theirs._array)}"
            )
