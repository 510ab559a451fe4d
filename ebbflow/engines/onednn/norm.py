"""Normalisation: over the batch, as TensorFlow's fused ops have it, and over the last axis ("layer norm").

Statistics of a batch are computed in two passes, so that a large mean costs no precision. What the ops hand out beside
the result (averages that move, the variance without bias) is a few numbers a channel, and computed here by NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.engines.onednn.binding import (
    BACKWARD,
    BACKWARD_DATA,
    DIFF_DST,
    DIFF_SCALE,
    DIFF_SHIFT,
    DIFF_SRC,
    DST,
    GLOBAL_STATISTICS,
    INFERENCE,
    MEAN,
    SCALE,
    SHIFT,
    SRC,
    TRAINING,
    USE_SCALE,
    USE_SHIFT,
    VARIANCE,
    Layout,
    describe,
    seen,
)
from ebbflow.engines.onednn.chain import Chain, Plan, moving, need, planner
from ebbflow.engines.onednn.conv import Dims, image_layout
from ebbflow.ops.nn.windows import channel_axis

# --- over the batch ---------------------------------------------------------------------------------------------------


def _channels(x: Dims, data_format: str) -> Dims:
    need(len(x) == len(data_format) and min(x) > 0)
    return (x[channel_axis(data_format, len(x))],)


@planner
def batch_norm(x: Dims, epsilon: float, factor: float, data_format: str, is_training: bool, outputs: int = 5) -> Plan:
    """Plan FusedBatchNorm: call(x, scale, offset, mean, variance, y, mean out, variance out, reserves…).

    `outputs` is 5, or 6 for the third version of the op, whose last output is a zero.
    """
    channels = _channels(x, data_format)
    chain, layout = Chain(moving(x, x)), image_layout(x, data_format)
    flags = USE_SCALE | USE_SHIFT | (0 if is_training else GLOBAL_STATISTICS)
    made = describe("batch_normalization_forward", TRAINING, layout, layout, epsilon, flags)
    statistics = (
        {MEAN: chain.writes(8, channels), VARIANCE: chain.writes(9, channels)}
        if is_training
        else {MEAN: chain.reads(3, channels), VARIANCE: chain.reads(4, channels)}
    )
    vectors = {SCALE: chain.reads(1, channels), SHIFT: chain.reads(2, channels)}
    chain.add(made, {SRC: chain.reads(0, x), **vectors, **statistics, DST: chain.writes(5, x)})
    count = np.prod(x) // channels[0]
    unbiased = np.float32(count) / np.float32(max(count - 1, 1))  # type: ignore[arg-type]
    keep, share = np.float32(1 - factor), np.float32(factor)

    def train(*arrays: np.ndarray) -> None:
        chain(*arrays)
        (old_mean, old_variance), (mean, variance, center, spread) = arrays[3:5], arrays[6:10]
        np.copyto(mean, center)
        np.multiply(spread, unbiased, variance)
        if factor != 1:
            for new, old in ((mean, old_mean), (variance, old_variance)):
                np.multiply(new, share, new)
                np.add(new, keep * old, new)
        arrays[10:] and arrays[10].fill(0)  # type: ignore[func-returns-value]

    def infer(*arrays: np.ndarray) -> None:
        chain(*arrays)
        for given, taken in zip(arrays[3:5] * 2, arrays[6:10], strict=True):
            np.copyto(taken, given)
        arrays[10:] and arrays[10].fill(0)  # type: ignore[func-returns-value]

    return Plan(train if is_training else infer, (x, *(channels,) * 4, ())[:outputs])


@planner
def batch_norm_back(x: Dims, epsilon: float, data_format: str, is_training: bool, out: int = 5) -> Plan:
    """Plan FusedBatchNormGrad: call(dy, x, scale, mean, variance, …, dx, d scale, d offset, …), dx at place `out`."""
    channels = _channels(x, data_format)
    chain, layout = Chain(moving(x, x, x)), image_layout(x, data_format)
    flags = USE_SCALE | USE_SHIFT | (0 if is_training else GLOBAL_STATISTICS)
    hint: Any = describe("batch_normalization_forward", TRAINING, layout, layout, epsilon, flags)
    made = describe("batch_normalization_backward", BACKWARD, layout, layout, layout, epsilon, flags, hint)
    chain.add(
        made,
        {
            DIFF_DST: chain.reads(0, x),
            SRC: chain.reads(1, x),
            SCALE: chain.reads(2, channels),
            MEAN: chain.reads(3, channels),
            VARIANCE: chain.reads(4, channels),
            DIFF_SRC: chain.writes(out, x),
            DIFF_SCALE: chain.writes(out + 1, channels),
            DIFF_SHIFT: chain.writes(out + 2, channels),
        },
    )
    return Plan(chain, (x, channels, channels, (0,), (0,)))


# --- as the ops have them: more inputs, all of which must be in order -------------------------------------------------


@planner
def fused(x: Dims, scale: Dims, offset: Dims, mean: Dims, variance: Dims, *attrs: Any, outputs: int = 5) -> Any:
    """Plan FusedBatchNorm from the shapes of its inputs and its attrs."""
    epsilon, factor, data_format, is_training = attrs
    channels = _channels(x, data_format)
    need(scale == offset == channels and (mean == variance == channels or (is_training and factor == 1)))
    need(not is_training or not data_format.startswith("NC"))  # plain loops: NumPy is quicker
    return batch_norm(x, epsilon, factor, data_format, is_training, outputs)


@planner
def fused_back(dy: Dims, x: Dims, scale: Dims, mean: Dims, variance: Dims, *rest: Any, out: int = 5) -> Any:
    """Plan FusedBatchNormGrad from the shapes of its inputs (the third version has one more) and its attrs."""
    epsilon, data_format, is_training = rest[-3:]
    need(dy == x and scale == mean == variance == _channels(x, data_format))
    return batch_norm_back(x, epsilon, data_format, is_training, out)


# --- over the last axis -----------------------------------------------------------------------------------------------


def _rows(dims: Sequence[int]) -> tuple[Layout, Layout, Dims, Dims]:
    """Return how the array and its statistics lie, and the shapes of the statistics and of scale and shift."""
    need(len(dims) > 1 and min(dims) > 0)
    count = int(np.prod(dims[:-1]))
    return seen((count, dims[-1])), seen((count,)), tuple(dims[:-1]), (dims[-1],)


@planner
def layer_norm(dims: Dims, epsilon: float, scaled: bool = True, statistics: bool = False) -> Plan:
    """Plan the norm over the last axis: call(x, [scale, shift], out, [mean, variance]). The statistics are what the
    gradient needs.
    """
    layout, stats, rows, last = _rows(dims)
    chain, flags = Chain(moving(dims, dims)), USE_SCALE | USE_SHIFT if scaled else 0
    prop = TRAINING if statistics else INFERENCE
    made = describe("layer_normalization_forward", prop, layout, layout, stats, epsilon, flags)
    out = 3 if scaled else 1
    operands = {
        SRC: chain.reads(0, dims),
        SCALE: chain.reads(1, last) if scaled else None,
        SHIFT: chain.reads(2, last) if scaled else None,
        DST: chain.writes(out, dims),
        MEAN: chain.writes(out + 1, rows) if statistics else None,
        VARIANCE: chain.writes(out + 2, rows) if statistics else None,
    }
    chain.add(made, operands)
    return Plan(chain, (dims, rows, rows) if statistics else (dims,))


@planner
def layer_norm_back(dims: Dims, epsilon: float, scaled: bool = True) -> Plan:
    """Plan the gradient of `layer_norm`: call(dy, x, mean, variance, [scale], dx, [d scale, d shift])."""
    layout, stats, rows, last = _rows(dims)
    chain, flags = Chain(moving(dims, dims, dims)), USE_SCALE | USE_SHIFT if scaled else 0
    hint: Any = describe("layer_normalization_forward", TRAINING, layout, layout, stats, epsilon, flags)
    prop = BACKWARD if scaled else BACKWARD_DATA
    made = describe("layer_normalization_backward", prop, layout, layout, layout, stats, epsilon, flags, hint)
    out = 5 if scaled else 4
    operands = {
        DIFF_DST: chain.reads(0, dims),
        SRC: chain.reads(1, dims),
        MEAN: chain.reads(2, rows),
        VARIANCE: chain.reads(3, rows),
        SCALE: chain.reads(4, last) if scaled else None,
        SHIFT: 4 if scaled else None,  # counted among the arguments, though never looked at
        DIFF_SRC: chain.writes(out, dims),
        DIFF_SCALE: chain.writes(6, last) if scaled else None,
        DIFF_SHIFT: chain.writes(7, last) if scaled else None,
    }
    chain.add(made, operands)
    return Plan(chain, (dims, last, last) if scaled else (dims,))
