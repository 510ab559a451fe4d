"""Matrix products, single and in batches, with transposes, and with what is often done to the result: bias, addend,
activation.

Batches are broadcast against each other. Where one matrix serves a whole batch, the batch becomes rows of one product.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.engines.onednn import library
from ebbflow.engines.onednn.binding import (
    BIAS,
    BINARY,
    DST,
    F32,
    S8,
    S32,
    SRC,
    U8,
    WEIGHTS,
    attributes,
    binary_operand,
    describe,
    seen,
)
from ebbflow.engines.onednn.chain import Chain, Plan, multiplying, need, planner
from ebbflow.engines.onednn.conv import Dims
from ebbflow.engines.onednn.eltwise import Activation, post_op


def _product_dims(a: Dims, b: Dims, transpose_a: bool, transpose_b: bool) -> Dims:
    need(len(a) > 1 and len(b) > 1 and min(*a, *b) > 0)
    rows, inner = a[-2:][:: -1 if transpose_a else 1]
    same, columns = b[-2:][:: -1 if transpose_b else 1]
    need(inner == same)
    try:
        lead = np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        need(False)
    return (*lead, rows, columns)


def _one_batch(a: Dims, b: Dims, out: Dims, transpose_a: bool) -> tuple[Dims, Dims, Dims]:
    """Return the three shapes with one batch axis, or none, where they can be seen so."""
    if math.prod(b[:-2]) == 1 and not transpose_a:
        return (math.prod(a[:-1]), a[-1]), b[-2:], (math.prod(out[:-1]), out[-1])
    if math.prod(out[:-2]) == 1:
        return a[-2:], b[-2:], out[-2:]
    if a[:-2] == b[:-2]:
        count = math.prod(out[:-2])
        return (count, *a[-2:]), (count, *b[-2:]), (count, *out[-2:])
    rank = len(out)
    return (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, out


def _matrices(dims: Dims, transpose: bool, dtype: int = F32) -> Any:
    rank = len(dims)
    return seen(dims, (*range(rank - 2), rank - 1, rank - 2) if transpose else None, dtype)


@planner
def forward(
    a: Dims,
    b: Dims,
    transpose_a: bool = False,
    transpose_b: bool = False,
    bias: bool = False,
    add: bool = False,
    activation: Activation | None = None,
) -> Plan:
    """Plan `out = activation(a·b + bias + addend)`: call(a, b, [bias], [addend], out)."""
    y = _product_dims(a, b, transpose_a, transpose_b)
    chain = Chain(multiplying(math.prod(y) * a[-2 if transpose_a else -1]))
    flat_a, flat_b, flat_y = _one_batch(a, b, y, transpose_a)
    operands: dict[int, Any] = {SRC: chain.reads(0, a), WEIGHTS: chain.reads(1, b)}
    operands[BIAS] = chain.reads(2, y[-1:]) if bias else None
    post: list[tuple[Any, ...]] = []
    if add:
        operands[binary_operand(0)] = chain.reads(2 + bias, y)
        post.append(("binary", BINARY["add"], seen(flat_y)))
    if activation is not None:
        post.append(post_op(activation))
    made = describe(
        "matmul",
        _matrices(flat_a, transpose_a),
        _matrices(flat_b, transpose_b),
        seen((1,) * (len(flat_y) - 1) + y[-1:]) if bias else None,
        seen(flat_y),
        attrs=attributes(post),
    )
    operands[DST] = chain.writes(2 + bias + add, y)
    chain.add(made, operands)
    return Plan(chain, (y,))


@planner
def product(a: Dims, b: Dims, transpose_a: bool, transpose_b: bool, batches: str) -> Any:
    """Plan what an op multiplies, call(a, b, out), where that is quicker than NumPy: `batches` are "none", "equal" or
    "broadcast".
    """
    need({"none": len(a) == len(b) == 2, "equal": a[:-2] == b[:-2], "broadcast": True}[batches])
    return forward(a, b, transpose_a, transpose_b)


_BYTES = {"u8": (U8, np.dtype(np.uint8)), "s8": (S8, np.dtype(np.int8))}


@planner
def bytes_product(a: Dims, b: Dims, kind: str = "u8", transpose_a: bool = False, transpose_b: bool = False) -> Plan:
    """Plan the exact int32 product of bytes: call(a, b, out) with a uint8 ("u8") or int8 ("s8"), b int8, out int32."""
    need(library.multiplies_bytes())
    y = _product_dims(a, b, transpose_a, transpose_b)
    chain = Chain(multiplying(math.prod(y) * a[-2 if transpose_a else -1]))
    flat_a, flat_b, flat_y = _one_batch(a, b, y, transpose_a)
    code, dtype = _BYTES[kind]
    left, right = _matrices(flat_a, transpose_a, code), _matrices(flat_b, transpose_b, S8)
    made = describe("matmul", left, right, None, seen(flat_y, None, S32))
    operands = {SRC: chain.reads(0, a, dtype), WEIGHTS: chain.reads(1, b, np.dtype(np.int8))}
    chain.add(made, {**operands, DST: chain.writes(2, y, np.dtype(np.int32))})
    return Plan(chain, (y,))
