"""Entries of one axis spread over the others, period by period (`tf.contrib.periodic_resample`).

With one axis of size 4 and a shape that asks another to be twice as long, each entry of the long axis is followed by
its neighbour of the other; it is what makes a larger image of many channels ("sub-pixel convolution").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.errors import StaticShapeError
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.declare import raw


def periodic_resample(values: TensorLike, shape: Sequence[int | None], name: str | None = None) -> Tensor:
    """Return `values` in another shape, of which one size is None: that axis gives its entries to the others."""
    with name_scope(name, "PeriodicResample", [values]):
        values = convert(values, name="values")
        wanted = [None if size is None or int(size) < 0 else int(size) for size in shape]
        given: Any = values.shape.as_list() if _has_rank(values, wanted) else [None] * len(wanted)
        axis = _free_axis(wanted)
        for place, (old, new) in enumerate(zip(given, wanted, strict=True)):
            if old is not None and new is not None and new < old:
                raise StaticShapeError(
                    f"periodic_resample expects the size of each axis to grow. Dimension {place} input tensor has size "
                    f"{old}, desired shape has size {new}."
                )
        found = gather(reshape(values, [-1]), _places(values, wanted, axis))
        found.set_shape(_known(given, wanted, axis))
        return found


def _has_rank(values: Any, wanted: list[int | None]) -> bool:
    if values.shape.rank is None:
        return False
    if values.shape.rank != len(wanted):
        raise StaticShapeError(
            f"periodic_resample expects the rank of the input tensor, {values.shape.rank}, to be the same as "
            f"the length of the desired shape, {len(wanted)}."
        )
    return True


def _free_axis(wanted: list[int | None]) -> int:
    if wanted.count(None) != 1:
        raise StaticShapeError(f"periodic_resample expects one None in the desired shape, got {wanted}")
    return wanted.index(None)


def _known(given: list[int | None], wanted: list[int | None], axis: int) -> list[int | None]:
    """Return the result's shape as far as it is known."""
    known: list[int | None] = list(wanted)
    if None not in given:
        times = 1
        for old, new in zip(given, wanted, strict=True):
            times *= 1 if new is None else -(-new // max(old or 0, 1))
        known[axis] = (given[axis] or 0) // times
    return known


def _places(values: Any, wanted: list[int | None], axis: int) -> Any:
    """Return for each entry of the result where in the flat values it is from."""
    old = shape_of(values)
    count = len(wanted)
    period: Any = convert(1, dtypes.int32)
    inside: Any = convert(0, dtypes.int32)
    begins: Any = convert(0, dtypes.int32)
    for at, size in enumerate(wanted):
        if size is None:
            continue
        line = _along(raw.Range(0, size, 1), at, count)
        times = raw.FloorDiv(size + old[at] - 1, old[at])  # how many entries of the result one entry becomes
        begins = begins + raw.FloorDiv(line, times) * _stride(old, at)
        inside = inside + raw.FloorMod(line, times) * period
        period = period * times
    left = raw.FloorDiv(old[axis], period)
    return begins + (inside * left + _along(raw.Range(0, left, 1), axis, count)) * _stride(old, axis)


def _along(line: Any, axis: int, count: int) -> Any:
    return reshape(line, [-1 if at == axis else 1 for at in range(count)])


def _stride(sizes: Any, axis: int) -> Any:
    return raw.Prod(sizes[axis + 1 :], 0)
