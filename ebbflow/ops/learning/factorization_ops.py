"""Weighted alternating least squares: the equations of some rows of a sparse matrix, and single entries of a product.

The model that is made of these ops, of `tf.contrib.factorization`, is in `tf1/factorization.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.ops.declare import UNDEFINED, with_rank
from ebbflow.ops.sizes import invalid, room_for

WALSComputePartialLhsAndRhs = op(
    "WALSComputePartialLhsAndRhs(factors:float, factor_weights:float, unobserved_weights:float, input_weights:float, "
    "input_indices:int64, input_values:float, entry_weights:float, input_block_size:int64, input_is_transpose:bool) -> "
    "(partial_lhs:float, partial_rhs:float)",
    facts="data_dependent",
    checks_first=True,
    gradient=UNDEFINED,
)
RANKS = {
    "factors": 2, "factor_weights": 1, "unobserved_weights": 0, "input_weights": 1, "input_indices": 2,
    "input_values": 1, "entry_weights": 1, "input_block_size": 0, "input_is_transpose": 0,
}  # fmt: skip


@WALSComputePartialLhsAndRhs.shape
def _(*inputs):
    known = dict(zip(RANKS, inputs, strict=True))
    for name, rank in RANKS.items():
        with_rank(known[name], rank, name)
    size = known["input_block_size"].value
    rows = None if size is None or int(size) < 0 else int(size)
    width = None if known["factors"].dims is None else known["factors"].dims[1]
    return [(rows, width, width), (rows, width)]


@WALSComputePartialLhsAndRhs.kernel
def _(xp, factors, factor_weights, unobserved_weights, input_weights, input_indices, input_values, entry_weights,
      input_block_size, input_is_transpose):  # fmt: skip
    if input_indices.shape[1] != 2 or len(input_indices) != len(input_values):
        raise invalid(
            f"input_indices must have two columns and a row for each of the {len(input_values)} input_values, "
            f"got shape {input_indices.shape}"
        )
    rows, columns = input_indices.T[::-1] if bool(input_is_transpose) else input_indices.T
    size, width = int(input_block_size), factors.shape[1]
    if size < 0:
        raise invalid(f"input_block_size = {size} must not be negative")
    _within(rows, size, "input_block_size")
    _within(columns, len(factors), "the number of factors")
    weights = _weights(factors, factor_weights, input_weights, entry_weights, rows, columns)
    room_for((size, width, width), 4)
    lhs, rhs = np.zeros((size, width, width), np.float32), np.zeros((size, width), np.float32)
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    for part in np.split(order, starts[1:]) if len(order) else ():
        row, some = rows[part[0]], factors[columns[part]]
        lhs[row] = (some * weights[part, None]).T @ some
        rhs[row] = (input_values[part] * (unobserved_weights + weights[part])) @ some
    return lhs, rhs


def _within(indices: np.ndarray, count: int, what: str) -> None:
    wrong = np.flatnonzero((indices < 0) | (indices >= count))
    if len(wrong):
        raise invalid(f"input_indices: row {wrong[0]} names {indices[wrong[0]]}, which is not in [0, {count}), {what}")


def _weights(factors: Any, by_factor: Any, by_input: Any, by_entry: Any, rows: Any, columns: Any) -> np.ndarray:
    """Return the weight of each observed entry: given for itself, or the product of its row's and its column's."""
    if not len(by_input) and not len(by_factor) and len(by_entry) == len(rows):
        weights = by_entry
    elif len(by_input) and len(by_factor) == len(factors) and not len(by_entry):
        _within(rows, len(by_input), "the number of input_weights")
        weights = by_input[rows] * by_factor[columns]
    else:
        raise invalid(
            "either entry_weights has a weight for each of the input_values, or input_weights and factor_weights have "
            f"one for each row and each factor, and not both: their lengths are {len(by_entry)}, {len(by_input)} and "
            f"{len(by_factor)}, for {len(rows)} values and {len(factors)} factors"
        )
    if len(weights) and not weights.min() >= 0:
        raise invalid(f"weights of entries must not be negative, got {weights.min()}")
    return weights


MaskedMatmul = op(
    "MaskedMatmul(a:float, b:float, mask_indices:int64, transpose_a:bool, transpose_b:bool) -> (prod_values:float)",
    facts="data_dependent",
    checks_first=True,
    gradient=UNDEFINED,
)


@MaskedMatmul.shape
def _(a, b, mask_indices, transpose_a, transpose_b):
    for arg, rank, name in ((a, 2, "a"), (b, 2, "b"), (transpose_a, 0, "transpose_a"), (transpose_b, 0, "transpose_b")):
        with_rank(arg, rank, name)
    count, _ = with_rank(mask_indices, 2, "mask_indices") or (None, None)
    return (count,)


@MaskedMatmul.kernel
def _(xp, a, b, mask_indices, transpose_a, transpose_b):
    left, right = a.T if bool(transpose_a) else a, b if bool(transpose_b) else b.T
    if left.shape[1] != right.shape[1]:
        raise invalid(f"a of shape {a.shape} and b of shape {b.shape} cannot be multiplied, as they are transposed")
    if mask_indices.shape[1] != 2:
        raise invalid(f"mask_indices must have two columns, got shape {mask_indices.shape}")
    rows, columns = mask_indices.T
    for name, indices, count in (("row", rows, len(left)), ("column", columns, len(right))):
        wrong = np.flatnonzero((indices < 0) | (indices >= count))
        if len(wrong):
            raise invalid(f"mask_indices[{wrong[0]}]: {name} {indices[wrong[0]]} is not in [0, {count})")
    return np.einsum("ij,ij->i", left[rows], right[columns])
