"""Products of matrices where the batches, or the sizes of the matrices, are ragged.

Matrices of different sizes are multiplied filled up with zeros, which change no product, and cut to their sizes again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.dispatch import borrowed
from ebbflow.core.typing import AnyTensor
from ebbflow.ops.checks.asserts import assert_equal
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.conversion import ragged_or_tensor
from ebbflow.ops.ragged.rows import as_ragged
from ebbflow.ops.ragged.shape_arithmetic import after
from ebbflow.ops.ragged.tensor import RaggedTensor

RAGGED_INSIDE = "The matrices in `a` and `b` may not be ragged in their innermost dimension."


def matmul(
    a: AnyTensor,
    b: AnyTensor,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    name: str | None = None,
) -> AnyTensor:
    """Return the products of matrices, one for each of a ragged batch.

    >>> pairs = RaggedTensor.from_row_lengths([[[1, 2]], [[3, 4]], [[5, 6]]], [1, 2])
    >>> matmul(pairs, pairs, transpose_b=True).to_list()
    [[[[5]]], [[[25]], [[61]]]]
    """
    for word, turned, adjoint in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
        if turned and adjoint:
            raise ValueError(f"Only one of transpose_{word} and adjoint_{word} can be True.")
    a, b = ragged_or_tensor(a), ragged_or_tensor(b)
    if a.dtype is not b.dtype:
        raise ValueError(f"`a` and `b` must have the same dtype. Got {a.dtype.name} and {b.dtype.name}.")
    return _product(a, b, (transpose_a, transpose_b, adjoint_a, adjoint_b))


def _product(a: Any, b: Any, turned: tuple[bool, ...]) -> Any:
    if not isinstance(a, RaggedTensor) and not isinstance(b, RaggedTensor):
        return borrowed("matmul", a, b, *turned)
    rank = b.shape.rank if a.shape.rank is None else a.shape.rank
    if rank is None:
        raise ValueError("matmul requires at least one input to have known rank if either input is ragged.")
    if b.shape.rank not in (None, rank):
        raise ValueError(f"`a` and `b` must have the same rank. Got {a.shape.rank} and {b.shape.rank}.")
    if rank < 2:
        raise ValueError(f"matmul of ragged tensors takes matrices, got rank {rank}")
    if rank == 2:
        return RaggedTensor.from_tensor(borrowed("matmul", _rectangle(a), _rectangle(b), *turned))
    kind = next(x.row_splits.dtype for x in (a, b) if isinstance(x, RaggedTensor))
    if rank == 3:
        return _of_batch(a, b, turned, kind)
    a, b = as_ragged(a, kind=kind), as_ragged(b, kind=kind)
    what = "Batch dimensions of `a` and `b` do not have the same size"
    check = assert_equal(a.row_splits, b.row_splits, message=what)
    inner = _product(a.values, b.values, turned)
    if isinstance(inner, RaggedTensor):
        return a.with_values(inner.with_flat_values(after([check], inner.flat_values)))
    return a.with_values(after([check], inner))


def _rectangle(x: Any) -> Any:
    """Return a matrix whose rows must have one length."""
    if not isinstance(x, RaggedTensor):
        return x
    lengths = x.row_lengths()
    longest = raw.Max(raw.ConcatV2([np.zeros(1, lengths.dtype.np), lengths], 0), [0])
    return after([assert_equal(lengths, longest, message=RAGGED_INSIDE)], x.to_tensor())


def _of_batch(a: Any, b: Any, turned: tuple[bool, ...], kind: Any) -> Any:
    """Return the products of a batch of matrices of different sizes."""
    (full_a, *sizes_a), (full_b, *sizes_b) = _matrices(a), _matrices(b)
    rows, across = reversed(sizes_a) if turned[0] or turned[2] else sizes_a
    down, columns = reversed(sizes_b) if turned[1] or turned[3] else sizes_b
    if across is not None and down is not None:
        check = assert_equal(across, down, message="The inner dimensions of `a` and `b` do not have the same size")
        full_a = after([check], full_a)
    made = borrowed("matmul", full_a, full_b, *turned)
    if rows is None and columns is None:
        return made
    found = RaggedTensor.from_tensor(made, rows, row_splits_dtype=kind)
    if columns is None:
        return found
    lengths = raw.GatherV2(columns, found.value_rowids(), 0)
    return found.with_values(RaggedTensor.from_tensor(found.values, lengths, row_splits_dtype=kind))


def _matrices(x: Any) -> tuple[Any, Any, Any]:
    """Return matrices filled up to one size, and for each how many rows and columns it has, where they differ."""
    if not isinstance(x, RaggedTensor):
        return x, None, None
    rows = None if x.uniform_row_length is not None else x.row_lengths()
    inner = x.values
    if not isinstance(inner, RaggedTensor) or inner.uniform_row_length is not None:
        return x.to_tensor(), rows, None
    each, batch = inner.row_lengths(), x.value_rowids()
    longest = raw.UnsortedSegmentMax(each, batch, raw.Cast(x.nrows(), DstT=dtypes.int32))
    columns = raw.Maximum(longest, np.array(0, each.dtype.np))  # of a matrix without rows none
    check = assert_equal(raw.GatherV2(columns, batch, 0), each, message=RAGGED_INSIDE)
    return after([check], x.to_tensor()), rows, columns
