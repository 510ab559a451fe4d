"""Pooling: the largest or the mean element of every window, and the way back.

oneDNN starts a maximum at the lowest finite number, so a window of nothing but -inf or NaN would come out as that; such
results are seen (one look at the output, which is the smaller array) and computed again as the reference does. The
gradient of a maximum goes to the first of several equal elements, as TensorFlow's does for images; for volumes it goes
to each, so there NumPy serves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ebbflow.engines.onednn.binding import (
    DIFF_DST,
    DIFF_SRC,
    DST,
    INFERENCE,
    POOL_MAX,
    POOL_MEAN,
    SRC,
    TRAINING,
    WORKSPACE,
    Layout,
    describe,
)
from ebbflow.engines.onednn.chain import Chain, Plan, moving, need, planner
from ebbflow.engines.onednn.conv import Dims, image_layout
from ebbflow.ops.nn.pool_arrays import give_to_largest, largest
from ebbflow.ops.nn.windows import (
    Grid,
    channel_axis,
    dims_in,
    explicit_pairs,
    from_channels_last,
    grid,
    spatial,
    to_channels_last,
)

KINDS = {"max": POOL_MAX, "mean": POOL_MEAN}
LOWEST = np.finfo(np.float32).min


class Case(NamedTuple):
    """One pooling: its windows, the shape of its result, how the arrays lie, and the windows as oneDNN has them."""

    grid: Grid
    y_dims: Dims
    x: Layout
    y: Layout
    steps: tuple[Dims, ...]


def _case(x: Dims, ksize: Dims, strides: Dims, padding: str, explicit: Dims | None, data_format: str) -> Case:
    rank, at = len(x), channel_axis(data_format, len(x))
    need(data_format in ("NHWC", "NCHW", "NDHWC", "NCDHW") and rank == len(ksize) == len(strides) == len(data_format))
    need(min(*x, *ksize, *strides) > 0 and ksize[0] == ksize[at] == strides[0] == strides[at] == 1)
    pairs = explicit_pairs(padding, explicit or (), data_format, rank)
    g = grid(spatial(x, data_format), spatial(ksize, data_format), spatial(strides, data_format), padding, None, pairs)
    need(all(max(pair) < k for pair, k in zip(g.pads, g.windows, strict=True)))
    y = dims_in(data_format, x[0], g.out, x[at])
    before, after = zip(*g.pads, strict=True)
    steps = (g.strides, g.windows, (0,) * (rank - 2), before, after)
    return Case(g, y, image_layout(x, data_format), image_layout(y, data_format), steps)  # type: ignore[arg-type]


@planner
def forward(
    kind: str,
    x: Dims,
    ksize: Dims,
    strides: Dims,
    padding: str,
    explicit: Dims | None = (),
    data_format: str = "NHWC",
    out: int = 1,
) -> Plan:
    """Plan the largest or the mean element of every window: call(x, …, out) with out at the place given."""
    case = _case(x, ksize, strides, padding, explicit, data_format)
    chain = Chain(moving(x, case.y_dims))
    made = describe("pooling_forward", INFERENCE, KINDS[kind], case.x, case.y, *case.steps)
    chain.add(made, {SRC: chain.reads(0, x), DST: chain.writes(out, case.y_dims)})
    call = _max_call(chain, case.grid, data_format, out) if kind == "max" else chain
    return Plan(call, (case.y_dims,))


def _max_call(chain: Chain, g: Grid, data_format: str, out: int) -> Callable[..., None]:
    def call(*arrays: np.ndarray) -> None:
        chain(*arrays)
        result = arrays[out]
        if result.min() <= LOWEST:
            result[...] = from_channels_last(largest(to_channels_last(arrays[0], data_format), g), data_format)

    return call


@planner
def max_back(
    x: Dims,
    y: Dims,
    dy: Dims,
    ksize: Dims,
    strides: Dims,
    padding: str,
    explicit: Dims | None = (),
    data_format: str = "NHWC",
    out: int = 3,
) -> Plan:
    """Plan the gradient of the largest elements: call(x, y, dy, …, out) with out at the place given."""
    case = _case(x, ksize, strides, padding, explicit, data_format)
    need(len(x) == 4 and y == dy == case.y_dims)
    chain = Chain(2 * moving(x, y))
    again = describe("pooling_forward", TRAINING, POOL_MAX, case.x, case.y, *case.steps)
    which = chain.room(again.layout(WORKSPACE))
    chain.add(again, {SRC: chain.reads(0, x), DST: chain.room(case.y), WORKSPACE: which})
    back = describe("pooling_backward", POOL_MAX, case.x, case.y, *case.steps, again)
    chain.add(back, {DIFF_DST: chain.reads(2, dy), WORKSPACE: which, DIFF_SRC: chain.writes(out, x)})

    def call(*arrays: np.ndarray) -> None:
        if arrays[1].min() > LOWEST:
            chain(*arrays)
            return
        x, dy = (to_channels_last(arrays[i], data_format) for i in (0, 2))
        arrays[out][...] = from_channels_last(give_to_largest(x, dy, case.grid), data_format)

    return Plan(call, (x,))


@planner
def mean_back(x: Dims, dy: Dims, ksize: Dims, strides: Dims, padding: str, data_format: str = "NHWC") -> Plan:
    """Plan the gradient of the means for an input of dims x: call(anything, dy, out)."""
    case = _case(x, ksize, strides, padding, (), data_format)
    need(dy == case.y_dims)
    chain = Chain(moving(x, dy))
    hint: Any = describe("pooling_forward", TRAINING, POOL_MEAN, case.x, case.y, *case.steps)
    made = describe("pooling_backward", POOL_MEAN, case.x, case.y, *case.steps, hint)
    chain.add(made, {DIFF_DST: chain.reads(1, dy), DIFF_SRC: chain.writes(2, x)})
    return Plan(chain, (x,))
