"""Functions of single elements: activations and their slopes, and arithmetic on two arrays.

The same table of activations serves what is fused behind convolutions and products. NumPy computes on one CPU and is as
quick as memory while arrays are small; these are for arrays that are large.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ebbflow.engines.onednn.binding import (
    BINARY,
    DIFF_DST,
    DIFF_SRC,
    DST,
    ELTWISE,
    INFERENCE,
    OF_RESULT,
    REDUCTION,
    SRC,
    SRC_1,
    TRAINING,
    describe,
    seen,
)
from ebbflow.engines.onednn.chain import Chain, Plan, moving, need, planner

ACTIVATIONS: dict[str, tuple[str, float, float]] = {  # oneDNN's function, its alpha and beta
    "relu": ("elu", 0, 0),  # 0 * (exp(x) - 1) where x <= 0: keeps NaN and makes -inf 0, see below
    "tanh": ("tanh", 0, 0),
    "sigmoid": ("sigmoid", 0, 0),
    "gelu": ("gelu", 0, 0),
    "gelu_tanh": ("gelu_tanh", 0, 0),
    "swish": ("swish", 1, 0),
    "sqrt": ("sqrt", 0, 0),
    "square": ("square", 0, 0),
    "abs": ("abs", 0, 0),
}
"""Those that are as exact as NumPy's. Left out: exp makes NaN infinite; log, softplus and elu lose digits near 0.

oneDNN's own relu, clip and maximum make a NaN 0 and hide it; hardswish, x * clip(a * x, 0, 1), makes -inf NaN. Of its
functions and pairs of them only elu of slope 0 does neither. Its exponential takes a tenth of a 3x3 convolution of 64
channels (50 to 55 ms of one CPU for 32x56x56), and less of what has more arithmetic.
"""

Activation = str | tuple[str, float]
"""A name from the table, or ("leaky_relu", slope)."""


def formula(activation: Activation) -> tuple[int, float, float]:
    """Return oneDNN's number of a function, and its two parameters."""
    if isinstance(activation, tuple):
        need(activation[0] == "leaky_relu" and activation[1] != 0)
        return ELTWISE["relu"], activation[1], 0
    need(activation in ACTIVATIONS)
    name, alpha, beta = ACTIVATIONS[activation]
    return ELTWISE[name], alpha, beta


def slope(activation: Activation) -> tuple[int, float, float]:
    """Return the same for the function whose slope is wanted."""
    return (ELTWISE["relu"], 0, 0) if activation == "relu" else formula(activation)


def post_op(activation: Activation) -> tuple[Any, ...]:
    """Return the activation as what a primitive does to its result."""
    return ("eltwise", *formula(activation))


@planner
def forward(dims: Sequence[int], activation: Activation) -> Plan:
    """Plan `out = activation(x)`: call(x, out), which may be one array."""
    size = math.prod(dims)
    need(size)
    chain, flat = Chain(moving(dims, dims)), seen((size,))
    kind, alpha, beta = formula(activation)
    made = describe("eltwise_forward", INFERENCE, kind, flat, flat, alpha, beta)
    chain.add(made, {SRC: chain.reads(0, dims), DST: chain.writes(1, dims)})
    chain.shares = (0,)
    return Plan(chain, (tuple(dims),))


@planner
def backward(dims: Sequence[int], activation: Activation, of_result: bool = False, data_first: bool = False) -> Plan:
    """Plan `dx = dy * activation'`: call(dy, x, dx), or with the result y in place of x where the slope is known from
    it (relu, tanh, sqrt, sigmoid). x (or y) stands before dy if `data_first`. dx may be dy.
    """
    size = math.prod(dims)
    need(size)
    chain, flat = Chain(moving(dims, dims)), seen((size,))
    kind, alpha, beta = slope(activation)
    hint = describe("eltwise_forward", TRAINING, kind, flat, flat, alpha, beta)
    if of_result:
        need(activation in OF_RESULT)
        kind = OF_RESULT[activation]  # type: ignore[index]
    made = describe("eltwise_backward", kind, flat, flat, flat, alpha, beta, hint)
    given = {DST if of_result else SRC: chain.reads(1 - data_first, dims), DIFF_DST: chain.reads(0 + data_first, dims)}
    chain.add(made, {**given, DIFF_SRC: chain.writes(2, dims)})
    chain.shares = (int(data_first),)
    return Plan(chain, (tuple(dims),))


@planner
def slope_op(a: Sequence[int], b: Sequence[int], activation: Activation, of_result: bool = False) -> Any:
    """Plan an op like ReluGrad(gradients, features) or, of the result, like TanhGrad(y, dy)."""
    need(a == b)
    return backward(a, activation, of_result, of_result)


@planner
def binary(name: str, x: Sequence[int], y: Sequence[int]) -> Plan:
    """Plan `out = x <name> y` for arrays of one shape, or y broadcast to x: call(x, y, out)."""
    need(name in BINARY and math.prod(x) and len(y) <= len(x))
    wide = (1,) * (len(x) - len(y)) + tuple(y)
    need(all(m in (1, n) for n, m in zip(x, wide, strict=True)))
    chain, shape = Chain(moving(x, x)), seen(x)
    made = describe("binary", BINARY[name], shape, seen(wide), shape)
    chain.add(made, {SRC: chain.reads(0, x), SRC_1: chain.reads(1, y), DST: chain.writes(2, x)})
    chain.shares = (0,)
    return Plan(chain, (tuple(x),))


@planner
def reduce(name: str, dims: Sequence[int], axes: Sequence[int], keep_dims: bool = False) -> Plan:
    """Plan the sum, mean, max, min or prod over axes: call(x, out)."""
    need(name in REDUCTION and math.prod(dims) and axes)
    folded = {a % len(dims) for a in axes}
    inner = tuple(1 if i in folded else n for i, n in enumerate(dims))
    out = inner if keep_dims else tuple(n for i, n in enumerate(dims) if i not in folded)
    chain = Chain(moving(dims))
    made = describe("reduction", REDUCTION[name], seen(dims), seen(inner), 0, 0)
    chain.add(made, {SRC: chain.reads(0, dims), DST: chain.writes(1, out)})
    return Plan(chain, (out,))
