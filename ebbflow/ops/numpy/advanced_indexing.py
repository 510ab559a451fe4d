"""NumPy's indices beside TensorFlow's: arrays of places or bools, among slices, integers, dots and new axes.

What is picked by arrays comes where they stand, if they stand together, and first of all if something is between them.
It must tell which axis an array is for: where the rank is unknown, the axes that no part of an index names go as one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.tensor import Tensor
from ebbflow.ops.arrays.indexing import gather_nd
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.numpy.promotion import tensor


def _is_array(item: Any) -> bool:
    """Return whether part of an index picks by an array: a sequence, an array or a tensor with axes, or of bools."""
    if isinstance(item, (list, tuple)):
        return True
    return isinstance(item, (np.ndarray, Tensor)) and (item.ndim != 0 or tensor(item).dtype == dtypes.bool)


def item(x: Any, key: Any, plain: Callable[..., Any]) -> Any:
    """Return what an index picks of a tensor; `plain` picks where there are no arrays in it."""
    parts = tuple(map(_long, key if isinstance(key, tuple) else (key,)))
    if not any(map(_is_array, parts)):
        return plain(x, parts if isinstance(key, tuple) else parts[0])
    places = [part for given in parts for part in _places(given)]
    if len(places) == 1 and isinstance(places[0], Tensor):
        return raw.GatherV2(x, _from_start(places[0], cast(shape_of(x), dtypes.int64)[0]), 0)
    rank = x.shape.rank
    if rank is None:
        return _picked_of_any_rank(x, places, plain)
    return _picked(x, _spread(places, rank), plain)[0]


def _long(part: Any) -> Any:
    """Return part of an index with whole numbers of few bits as int64, which slices take."""
    if isinstance(part, slice):
        return slice(_long(part.start), _long(part.stop), _long(part.step))
    short = isinstance(part, Tensor) and part.dtype.is_integer and part.dtype.size < 4
    return cast(part, dtypes.int64) if short else part


def _picked_of_any_rank(x: Any, parts: list[Any], plain: Callable[..., Any]) -> Any:
    """Return what is picked of a tensor of unknown rank: the axes that the index does not name go as one."""
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    front = sum(part is not None for part in parts[:at])
    back = sum(part is not None for part in parts[at + 1 :])
    sizes = shape_of(x)
    end = raw.Size(sizes) - back
    joined = raw.Reshape(x, raw.ConcatV2([sizes[:front], [-1], sizes[end:]], 0))
    found, place_of = _picked(joined, [*parts[:at], slice(None), *parts[at + 1 :]], plain)
    place = place_of(at)
    new = shape_of(found)
    return raw.Reshape(found, raw.ConcatV2([new[:place], sizes[front:end], new[place + 1 :]], 0))


def _places(part: Any) -> list[Any]:
    """Return an array as places along its axes, int64; bools pick where they are true."""
    if not _is_array(part):
        return [part]
    found = tensor(part if not isinstance(part, (list, tuple)) or part else np.zeros([0], np.int64))
    if found.dtype == dtypes.bool:
        return [_Bools(found, axis) for axis in range(found.shape.rank)]
    return [cast(found, dtypes.int64)]


class _Bools:
    """The places along one axis at which bools are true."""

    def __init__(self, mask: Any, axis: int):
        self.places = raw.Where(mask)[:, axis]


def _spread(parts: list[Any], rank: int) -> list[Any]:
    """Return an index with a part for each axis: dots, and what is left out at the end, written as slices."""
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    if taken > rank:
        raise IndexError(f"too many indices: the tensor has {rank} axes, {taken} were indexed")
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    return [*parts[:at], *[slice(None)] * (rank - taken), *parts[at + 1 :]]


def _picked(x: Any, parts: list[Any], plain: Callable[..., Any]) -> tuple[Any, Callable[[int], int]]:
    """Return what an index with a part for each axis picks, and what says where an axis without array went."""
    simple = tuple(part if part is None or isinstance(part, slice) else slice(None) for part in parts)
    x = plain(x, simple)
    axes = [i for i, part in enumerate(parts) if part is not None and not isinstance(part, slice)]
    sizes = cast(shape_of(x), dtypes.int64)
    wide = [_from_start(parts[i], sizes[i]) for i in axes]
    common = functools.reduce(raw.BroadcastArgs, [raw.Shape(part, out_type=dtypes.int64) for part in wide])
    places = raw.Pack([raw.BroadcastTo(part, common) for part in wide], axis=-1)
    rest = [i for i in range(len(parts)) if i not in axes]
    found = gather_nd(raw.Transpose(x, [*axes, *rest]), places)
    count = places.shape.rank - 1
    before = axes[0] if axes == list(range(axes[0], axes[-1] + 1)) else 0
    order = [*range(count, count + before), *range(count), *range(count + before, count + len(rest))]
    found = found if order == sorted(order) else raw.Transpose(found, order)
    return found, lambda axis: rest.index(axis) + (count if rest.index(axis) >= before else 0)


def _from_start(part: Any, size: Any) -> Any:
    places = part.places if isinstance(part, _Bools) else cast(tensor(part), dtypes.int64)
    return raw.SelectV2(places < 0, places + size, places)
