"""Element-wise functions of ragged tensors: the other arguments are brought to the same rows, and then it is the
function of the flat values.

A tensor and a ragged one are broadcast as shapes are: an axis of length 1 is repeated along the rows. Knows
the class; knows nothing of which functions there are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import AnyTensor
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.dynamic_shape import DynamicRaggedShape
from ebbflow.ops.ragged.shape_broadcast import broadcast_dynamic_shape, get_broadcaster
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.sizes import invalid


def elementwise(function: Callable[..., Any], values: Sequence[Any]) -> AnyTensor:
    """Return the function of the elements of all values, of which some are ragged."""
    ragged = [v for v in values if isinstance(v, RaggedTensor)]
    like = max(ragged, key=lambda v: v.ragged_rank)
    kinds = {v.row_splits.dtype.name for v in ragged}
    if len(kinds) > 1:
        raise ValueError(f"Input RaggedTensors have mismatched row_splits dtypes: {sorted(kinds)}")
    hint = like.dtype if not like.dtype.is_bool else None
    values = [convert(v, None, hint) if isinstance(v, (list, tuple)) else v for v in values]
    if all(v is like or _fits(v, like) for v in values):
        return like.with_flat_values(function(*[_flat(v, like) for v in values]))
    return _broadcast(function, values, like.row_splits.dtype)


def _broadcast(function: Callable[..., Any], values: Sequence[Any], kind: Any) -> AnyTensor:
    """Return the function of values that are first broadcast to one shape."""
    values = [v if isinstance(v, RaggedTensor) else convert(v) for v in values]
    shapes = [DynamicRaggedShape.from_tensor(v, kind) for v in values]
    shape = functools.reduce(broadcast_dynamic_shape, shapes)
    pairs = zip(values, shapes, strict=True)
    flat = [get_broadcaster(own, shape).broadcast_flat_values(v, inner_dimensions=False) for v, own in pairs]
    return shape._add_row_partitions(function(*flat))


def _fits(value: Any, like: RaggedTensor) -> bool:
    """Return whether a value has the rows of another, or is a tensor that can be looked up by its places."""
    if isinstance(value, RaggedTensor):
        return _same_rows(value, like)
    dims = value._dims if isinstance(value, Tensor) else tuple(getattr(value, "shape", ()))
    whole = like.shape
    if dims is None or whole.rank is None or len(dims) > whole.rank:
        return False
    known = whole.as_list()[whole.rank - len(dims) :]
    return all(mine in (1, theirs) or theirs != 1 for mine, theirs in zip(dims, known, strict=True))


def _same_rows(one: RaggedTensor, other: RaggedTensor) -> bool:
    """Return whether two ragged tensors have the same rows; where a run decides, none may be repeated."""
    if one.ragged_rank != other.ragged_rank or _axes(one) != _axes(other):
        return False
    pairs = list(zip(one._nested_row_partitions, other._nested_row_partitions, strict=True))
    for mine, theirs in pairs:
        a, b = mine.row_splits(), theirs.row_splits()
        if a is b:
            continue
        if not (isinstance(a, EagerTensor) and isinstance(b, EagerTensor)):
            return False
        if not np.array_equal(a._array, b._array):
            return False
    return True


def _axes(rows: RaggedTensor) -> int | None:
    return rows.flat_values.shape.rank


def _flat(value: Any, like: RaggedTensor) -> Any:
    """Return a value for each flat value of `like`, or what NumPy would broadcast to them."""
    if isinstance(value, RaggedTensor):
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
