"""Windows with holes by way of the batch: what an op does on a dilated grid, it does on each of the grids beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Padding, Sizes, TensorLike
from ebbflow.ops.arrays.padding import required_space_to_batch_paddings
from ebbflow.ops.declare import raw


def with_space_to_batch(
    input: TensorLike,
    dilation_rate: Sizes,
    padding: Padding,
    op: Callable[..., Any],
    filter_shape: Sequence[int] | None = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Return `op(input, number of spatial dims, padding)` as if its windows had holes of `dilation_rate`."""
    input = convert(input, name="input")
    rates = np.asarray(dilation_rate, np.int32)
    if rates.ndim != 1:
        raise ValueError(f"rate must be rank 1. Received: rate={dilation_rate}")
    if (rates < 1).any():
        raise ValueError(f"dilation_rate must be positive. Received: dilation_rate={dilation_rate}")
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    axes = sorted(spatial_dims) if spatial_dims is not None else list(range(first, first + len(rates)))
    if any(axis < 1 for axis in axes) or len(axes) != len(rates):
        raise ValueError(f"spatial_dims must be {len(rates)} positive axes. Received: spatial_dims={spatial_dims}")
    if (rates == 1).all():
        return op(input, len(rates), padding)
    base = _base_paddings(padding, filter_shape, rates)
    block = _per_axis(rates, axes, 1)
    sizes = raw.Shape(input)
    inner = raw.Pack([sizes[axis] for axis in axes])
    pads, crops = required_space_to_batch_paddings(inner, rates.tolist(), base)
    every = list(range(1, max(axes) + 1))
    zeros = np.zeros((1, 2), np.int32)
    spread = lambda rows: raw.ConcatV2(
        [raw.ExpandDims(rows[axes.index(a)], 0) if a in axes else zeros for a in every], 0
    )
    moved = raw.SpaceToBatchND(input, block, spread(pads))
    return raw.BatchToSpaceND(op(moved, len(rates), "VALID"), block, spread(crops))


def _base_paddings(padding: Any, filter_shape: Any, rates: np.ndarray) -> Any:
    if isinstance(padding, str) and padding.upper() == "VALID":
        return np.zeros((len(rates), 2), np.int32)
    if not isinstance(padding, str) or padding.upper() != "SAME":
        raise ValueError(f"Invalid padding method {padding!r}: it is 'SAME' or 'VALID'")
    if filter_shape is None:
        raise ValueError("`filter_shape` must be specified for `SAME` padding")
    window = np.asarray(filter_shape, np.int32)[: len(rates)]
    needed = (window - 1) * rates
    return np.stack([needed // 2, needed - needed // 2], 1)


def _per_axis(rates: np.ndarray, axes: list[int], rest: int) -> np.ndarray:
    """Return a rate for each axis from the second to the last that has one."""
    found = dict(zip(axes, rates.tolist(), strict=True))
    return np.array([found.get(axis, rest) for axis in range(1, max(axes) + 1)], np.int32)
