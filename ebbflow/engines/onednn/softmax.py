"""Softmax along the last axis, and its gradient.

A row with a NaN or an infinity comes out as NaN where that was and 0 elsewhere; such rows are seen by their sums, and
become NaN throughout, as the reference has them. The logarithm is left to NumPy: oneDNN's is off by 3e-6, which is much
for a loss that is near 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.engines.onednn.binding import (
    DIFF_DST,
    DIFF_SRC,
    DST,
    INFERENCE,
    SOFTMAX,
    SRC,
    TRAINING,
    describe,
    seen,
)
from ebbflow.engines.onednn.chain import Chain, Plan, moving, need, planner
from ebbflow.engines.onednn.conv import Dims


def _rows(dims: Dims) -> Any:
    need(dims and min(dims) > 0)
    return seen((math.prod(dims[:-1]), dims[-1]))


@planner
def forward(dims: Dims) -> Plan:
    """Plan softmax: call(x, out), which may be one array."""
    chain, layout = Chain(2 * moving(dims, dims)), _rows(dims)
    made = describe("softmax_forward", INFERENCE, SOFTMAX, layout, layout, 1)
    chain.add(made, {SRC: chain.reads(0, dims), DST: chain.writes(1, dims)})
    ones = np.ones(dims[-1], np.float32)

    def call(x: np.ndarray, out: np.ndarray) -> None:
        chain(x, out)
        sums = np.dot(out, ones)
        if np.isnan(sums.sum()):
            out[np.isnan(sums)] = np.nan

    call.shares = (0,)  # type: ignore[attr-defined]
    return Plan(call, (dims,))


@planner
def backward(dims: Dims) -> Plan:
    """Plan the gradient from the result: call(dy, y, dx)."""
    chain, layout = Chain(2 * moving(dims, dims)), _rows(dims)
    hint: Any = describe("softmax_forward", TRAINING, SOFTMAX, layout, layout, 1)
    made = describe("softmax_backward", SOFTMAX, layout, layout, layout, 1, hint)
    chain.add(made, {DIFF_DST: chain.reads(0, dims), DST: chain.reads(1, dims), DIFF_SRC: chain.writes(2, dims)})
    return Plan(chain, (dims,))
