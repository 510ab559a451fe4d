"""Convolution: forward, and back to the input and to the filter.

Arrays stay as TensorFlow has them. The filter alone (height, width, in, out) is put into the blocks that the primitive
wants, in a few microseconds a call: with it as it is, the gradients take two and three times as long. Images in blocks
gain nothing over plain NHWC (32×56×56×64 by 3×3×64, 2 threads, forward / to input / to filter: plain 34.6/36.0/37.3 ms,
blocked 32.5/44.9/52.2), so there are none. For images in NCHW there are only slow primitives: they are brought into
NHWC and back (8×64×28×28 by 3×3×64: 5.5 ms, 11.2 as they are). A filter for each channel is a convolution in groups of
one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.engines.onednn import library
from ebbflow.engines.onednn.binding import (
    BIAS,
    BINARY,
    DIFF_BIAS,
    DIFF_DST,
    DIFF_SRC,
    DIFF_WEIGHTS,
    DIRECT,
    DST,
    F32,
    INFERENCE,
    S8,
    S32,
    SRC,
    TRAINING,
    U8,
    WEIGHTS,
    Layout,
    attributes,
    binary_operand,
    describe,
    free,
    seen,
)
from ebbflow.engines.onednn.chain import Chain, Plan, moving, multiplying, need, planner
from ebbflow.engines.onednn.eltwise import Activation, post_op
from ebbflow.ops.nn.windows import channel_axis, dims_in, explicit_pairs, grid, spatial

Dims = tuple[int, ...]

ONES = (1, 1, 1, 1)
FLOATS = (F32, F32, F32)


class Case(NamedTuple):
    """One convolution: its result's shape, how its arrays lie, strides and padding for oneDNN, and how much it is."""

    y_dims: Dims
    x: Layout
    f: Layout
    y: Layout
    steps: tuple[Dims, Dims, Dims, Dims]
    microseconds: float

    @property
    def inner(self) -> tuple[Layout, Layout, Layout]:
        """How the primitive sees input, filter and result: images in NHWC, the filter as it likes."""
        return _channels_last(self.x), free(self.f.dims, self.f.dtype), _channels_last(self.y)


def image_layout(shape: Sequence[int], data_format: str, dtype: int = F32) -> Layout:
    """Return how images (or volumes) of this shape lie."""
    rank = len(shape)
    return seen(shape, None if data_format.startswith("NC") else (0, rank - 1, *range(1, rank - 1)), dtype)


def _channels_last(image: Layout) -> Layout:
    """Return the layout of the same images in NHWC."""
    batch, channels, *space = image.dims
    return image_layout((batch, *space, channels), "NHWC", image.dtype)


def _filter_layout(f: Dims, groups: int, depthwise: bool, dtype: int) -> Layout:
    space = range(len(f) - 2)
    if groups == 1:
        return seen(f, (len(f) - 1, len(f) - 2, *space), dtype)
    apart = (*f[:-2], 1, *f[-2:]) if depthwise else (*f[:-1], groups, f[-1] // groups)
    return seen(apart, (len(f) - 1, len(f), len(f) - 2, *space), dtype)


def _case(
    x: Dims,
    f: Dims,
    strides: Dims,
    padding: str,
    explicit: Dims | None,
    data_format: str,
    dilations: Dims,
    depthwise: bool,
    kinds: tuple[int, int, int] = FLOATS,
) -> Case:
    rank, at = len(x), channel_axis(data_format, len(x))
    need(rank in (4, 5) and rank == len(f) == len(strides) == len(dilations) and min(*x, *f) > 0)
    need(strides[0] == strides[at] == dilations[0] == dilations[at] == 1)
    channels, (ins, outs) = x[at], f[-2:]
    groups = channels if depthwise else channels // ins
    need(channels == ins if depthwise else channels == groups * ins and outs % groups == 0)
    pairs = explicit_pairs(padding, explicit or (), data_format, rank)
    sizes, windows = spatial(x, data_format), f[:-2]
    g = grid(sizes, windows, spatial(strides, data_format), padding, spatial(dilations, data_format), pairs)
    y: Any = dims_in(data_format, x[0], g.out, channels * outs if depthwise else outs)
    need(min(y) > 0)
    before, after = zip(*g.pads, strict=True)
    return Case(
        y,
        image_layout(x, data_format, kinds[0]),
        _filter_layout(f, groups, depthwise, kinds[1]),
        image_layout(y, data_format, kinds[2]),
        (g.strides, tuple(d - 1 for d in g.dilations), before, after),
        multiplying(math.prod(y) * math.prod(windows) * channels / groups) + moving(x, f, y),
    )


@planner
def forward(
    x: Dims,
    f: Dims,
    strides: Dims,
    padding: str,
    explicit: Dims | None = (),
    data_format: str = "NHWC",
    dilations: Dims = ONES,
    depthwise: bool = False,
    bias: bool = False,
    add: bool = False,
    activation: Activation | None = None,
) -> Plan:
    """Plan `out = activation(conv(x, f) + bias + addend)`: call(x, f, [bias], [addend], out)."""
    case = _case(x, f, strides, padding, explicit, data_format, dilations, depthwise)
    chain = Chain(case.microseconds)
    (inner_x, inner_f, inner_y), outs = case.inner, (case.y.dims[1],)
    post: list[tuple[Any, ...]] = [("binary", BINARY["add"], inner_y)] if add else []
    post += [post_op(activation)] if activation is not None else []
    made = describe(
        "convolution_forward",
        TRAINING,
        DIRECT,
        inner_x,
        inner_f,
        seen(outs) if bias else None,
        inner_y,
        *case.steps,
        attrs=attributes(post),
    )
    out = chain.writes(2 + bias + add, case.y_dims)
    written = chain.target(out, case.y, inner_y)
    operands = {
        SRC: chain.arranged(chain.reads(0, x), case.x, inner_x),
        WEIGHTS: chain.arranged(chain.reads(1, f), case.f, made.layout(WEIGHTS)),
        BIAS: chain.reads(2, outs) if bias else None,
        binary_operand(0): chain.arranged(chain.reads(2 + bias, case.y_dims), case.y, inner_y) if add else None,
        DST: written,
    }
    chain.add(made, operands)
    chain.deliver(written, out, case.y)
    return Plan(chain, (case.y_dims,))


@planner
def to_input(
    x: Dims,
    f: Dims,
    dy: Dims,
    strides: Dims,
    padding: str,
    explicit: Dims | None = (),
    data_format: str = "NHWC",
    dilations: Dims = ONES,
    depthwise: bool = False,
) -> Plan:
    """Plan the gradient for an input of dims x: call(anything, f, dy, out), as the op's inputs stand."""
    case = _case(x, f, strides, padding, explicit, data_format, dilations, depthwise)
    need(dy == case.y_dims)
    need(case.x.dims[1] > 1)  # for a single channel oneDNN takes half as long again as NumPy
    chain = Chain(case.microseconds)
    inner_x, inner_f, inner_y = case.inner
    made = describe("convolution_backward_data", DIRECT, inner_x, inner_f, inner_y, *case.steps, _hint(case))
    out = chain.writes(3, x)
    written = chain.target(out, case.x, inner_x)
    operands = {
        WEIGHTS: chain.arranged(chain.reads(1, f), case.f, made.layout(WEIGHTS)),
        DIFF_DST: chain.arranged(chain.reads(2, dy), case.y, inner_y),
        DIFF_SRC: written,
    }
    chain.add(made, operands)
    chain.deliver(written, out, case.x)
    return Plan(chain, (x,))


def _hint(case: Case) -> Any:
    """Return the forward convolution, which the library wants to see when a backward one is made."""
    x, f, y = case.inner
    return describe("convolution_forward", TRAINING, DIRECT, x, f, None, y, *case.steps, plain_loops=True)


@planner
def to_filter(
    x: Dims,
    f: Dims,
    dy: Dims,
    strides: Dims,
    padding: str,
    explicit: Dims | None = (),
    data_format: str = "NHWC",
    dilations: Dims = ONES,
    depthwise: bool = False,
    bias: bool = False,
) -> Plan:
    """Plan the gradient for a filter of dims f (and for the bias): call(x, anything, dy, out, [out of bias])."""
    case = _case(x, f, strides, padding, explicit, data_format, dilations, depthwise)
    need(dy == case.y_dims)
    chain = Chain(case.microseconds)
    (inner_x, inner_f, inner_y), outs = case.inner, (case.y.dims[1],)
    sums = seen(outs) if bias else None
    made = describe("convolution_backward_weights", DIRECT, inner_x, inner_f, sums, inner_y, *case.steps, _hint(case))
    out = chain.writes(3, f)
    written = chain.target(out, case.f, made.layout(DIFF_WEIGHTS))
    operands = {
        SRC: chain.arranged(chain.reads(0, x), case.x, inner_x),
        DIFF_DST: chain.arranged(chain.reads(2, dy), case.y, inner_y),
        DIFF_WEIGHTS: written,
        DIFF_BIAS: chain.writes(4, outs) if bias else None,
    }
    chain.add(made, operands)
    chain.deliver(written, out, case.f)
    return Plan(chain, (f, outs) if bias else (f,))


@planner
def of_bytes(
    x: Dims,
    f: Dims,
    strides: Dims,
    padding: str,
    explicit: Dims | None = (),
    data_format: str = "NHWC",
    dilations: Dims = ONES,
    depthwise: bool = False,
) -> Plan:
    """Plan the exact int32 convolution of bytes: call(x, f, out) with x uint8, f int8 and out int32."""
    need(library.multiplies_bytes())
    case = _case(x, f, strides, padding, explicit, data_format, dilations, depthwise, (U8, S8, S32))
    chain = Chain(case.microseconds)
    inner_x, inner_f, inner_y = case.inner
    made = describe("convolution_forward", INFERENCE, DIRECT, inner_x, inner_f, None, inner_y, *case.steps)
    out = chain.writes(2, case.y_dims, np.dtype(np.int32))
    written = chain.target(out, case.y, inner_y)
    operands = {
        SRC: chain.arranged(chain.reads(0, x, np.dtype(np.uint8)), case.x, inner_x),
        WEIGHTS: chain.arranged(chain.reads(1, f, np.dtype(np.int8)), case.f, made.layout(WEIGHTS)),
        DST: written,
    }
    chain.add(made, operands)
    chain.deliver(written, out, case.y)
    return Plan(chain, (case.y_dims,))
