"""Reductions by segment: rows of a tensor folded together where their ids agree.

The sorted ops take ids in ascending order, one per row, and give as many rows as the last id says. The unsorted ones
are told how many, take ids of any order over several leading axes, and pass over negative ids.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import operand
from ebbflow.core.op import Known, Op, op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dims
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.creation import ones
from ebbflow.ops.arrays.shaping import rank, shape
from ebbflow.ops.declare import dense, raw, show
from ebbflow.ops.reduce.reductions import is_narrow
from ebbflow.ops.reduce.segment_loops import folded_segments
from ebbflow.ops.sizes import invalid, is_static, room_for
from ebbflow.ops.state.repeated_indices import fold_into

REALS, NUMBERS = "reals", "numbers"

# --- arrays -----------------------------------------------------------------------------------------------------------


def fold_rows(data: Any, ids: Any, count: int, ufunc: Any, start: Any) -> Any:
    """Return `count` rows: each the rows of `data` with its id, folded by `ufunc` from `start` on."""
    room_for((count, *data.shape[1:]), data.dtype.itemsize)
    if is_narrow(data.dtype):
        return fold_rows(data.astype(np.float32), ids, count, ufunc, np.float32(start)).astype(data.dtype)
    rows = np.full((count, *data.shape[1:]), start, data.dtype)
    if ufunc in _BEYOND and data.dtype.kind not in "iu" and np.isnan(data).any():
        # Not the larger of the two but "the old one if it is larger": a NaN goes when the next row comes.
        for i, at in enumerate(ids.tolist()):
            rows[at] = np.where(_BEYOND[ufunc](rows[at], data[i]), rows[at], data[i])
        return rows
    fold_into(rows, ids, data, ufunc)
    return rows


_BEYOND = {np.maximum: np.greater, np.minimum: np.less}


def checked_ids(ids: Any, rows: int) -> int:
    """Return how many segments sorted ids name; refuse ids that go down, or do not fit the rows."""
    if ids.shape != (rows,):
        raise invalid("segment_ids should be the same size as dimension 0 of input.")
    if not rows:
        return 0
    if ids[0] < 0 or (ids[1:] < ids[:-1]).any():
        raise invalid(_wrong_ids(ids.tolist()))
    return int(ids[-1]) + 1


def _wrong_ids(ids: list[int]) -> str:
    """Return what is wrong with ids that are not sorted, or negative: of the first that meets the eye of a walk."""
    count = ids[-1] + 1
    if count <= 0:
        return "segment ids must be >= 0"
    for i, number in enumerate(ids):
        following = ids[i + 1] if i + 1 < len(ids) else None
        if following == number:
            continue
        if following is not None and following < number:
            return "segment ids are not increasing"
        if not 0 <= number < count:
            return f"Segment id {number} out of range [0, {count}), possibly because 'segment_ids' input is not sorted."
    return "segment ids are not increasing"


def _sorted_fold(ufunc: Any, start: Callable[[Any], Any], empty: float) -> Callable[..., Any]:
    """Return a fold of rows whose ids are sorted: those of one segment stand together, so each is one reduction."""

    def fold(data: Any, ids: Any, count: int) -> Any:
        if is_narrow(data.dtype):
            return fold(data.astype(np.float32), ids, count).astype(data.dtype)
        if data.size:
            room_for((count, *data.shape[1:]), data.dtype.itemsize)
            quick = folded_segments(ufunc, data, ids, count, start(data.dtype))
            if quick is not None:
                rows, full = quick
                return rows if full else _with_empty(rows, ids, count, start(data.dtype), empty)
        if not data.size or (ufunc in _BEYOND and data.dtype.kind not in "iu" and np.isnan(data).any()):
            return _slow_fold(data, ids, count)
        firsts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
        folded = ufunc.reduceat(data, firsts, axis=0, dtype=data.dtype)
        if len(firsts) == count:
            return folded
        rows = np.full((count, *data.shape[1:]), empty, data.dtype)
        rows[ids[firsts]] = folded
        return rows

    def _slow_fold(data: Any, ids: Any, count: int) -> Any:
        return _with_empty(fold_rows(data, ids, count, ufunc, start(data.dtype)), ids, count, start(data.dtype), empty)

    return fold


def _with_empty(rows: Any, ids: Any, count: int, start: Any, empty: float) -> Any:
    """Return rows of which those that no id names are `empty`, not what a fold starts with."""
    if start != empty and count:
        missing = np.ones(count, bool)
        missing[ids] = False
        rows[missing] = empty
    return rows


def finite_lowest(dtype: Any) -> Any:
    """Return the lowest finite number an array's dtype holds."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else dtypes.from_numpy(dtype).min


def finite_highest(dtype: Any) -> Any:
    """Return the highest finite number an array's dtype holds."""
    return np.iinfo(dtype).max if dtype.kind in "iu" else dtypes.from_numpy(dtype).max


def _mean_rows(data: Any, ids: Any, count: int) -> Any:
    if is_narrow(data.dtype):
        return _mean_rows(data.astype(np.float32), ids, count).astype(data.dtype)
    total = _sum_rows(data, ids, count)
    members = np.maximum(np.bincount(ids, minlength=count), 1).reshape((count,) + (1,) * (data.ndim - 1))
    if data.dtype.kind in "iu":
        members = members.astype(data.dtype)
        return (total - np.fmod(total, members)) // members
    if data.dtype.char == "f":
        return np.divide(total, members.astype(np.float32), out=total)
    return (total / members).astype(data.dtype)


_sum_rows = _sorted_fold(np.add, lambda dtype: 0, 0)
_prod_rows = _sorted_fold(np.multiply, lambda dtype: 1, 1)
_max_rows = _sorted_fold(np.maximum, lambda dtype: np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf, 0)
_min_rows = _sorted_fold(np.minimum, lambda dtype: np.iinfo(dtype).max if dtype.kind in "iu" else np.inf, 0)

# --- sorted segments --------------------------------------------------------------------------------------------------


def _sorted_dims(data: Known, segment_ids: Known) -> Dims:
    if segment_ids.dims is not None and len(segment_ids.dims) != 1:
        raise errors.StaticShapeError(f"segment_ids should be a vector, not of shape {show(segment_ids.dims)}")
    if data.dims is None:
        return None
    if not data.dims:
        raise errors.StaticShapeError("data must be at least rank 1")
    length = segment_ids.dims[0] if segment_ids.dims is not None else None
    if length is not None and data.dims[0] is not None and length != data.dims[0]:
        raise errors.StaticShapeError("segment_ids should be the same size as dimension 0 of input.")
    return (None, *data.dims[1:])


def _segment_op(name: str, types: str, fold: Callable[..., Any], gradient: Callable[..., Any]) -> Op:
    declared = op(
        f"{name}(data:T, segment_ids:Tindices) -> (output:T) | T: {types}; Tindices: index",
        "known=segment_ids", shape=_sorted_dims, gradient=gradient,
    )  # fmt: skip

    @declared.kernel
    def _(xp, data, segment_ids):
        if not data.ndim:
            raise invalid("data must be at least rank 1")
        return fold(data, segment_ids, checked_ids(segment_ids, data.shape[0]))

    return declared


def _rows(params: Any, ids: Any) -> Any:
    return raw.GatherV2(params, ids, 0)


def trailing_axes(column: Any, like: Any) -> Any:
    """Return `column` with axes of length 1 behind its own, as many as `like` has more."""
    if column._dims is not None and like._dims is not None:
        if is_static(column):
            return raw.Reshape(column, [*column._dims, *[1] * (len(like._dims) - len(column._dims))])
        for _ in range(len(like._dims) - len(column._dims)):
            column = raw.ExpandDims(column, -1)
        return column
    more = raw.Fill(raw.Reshape(raw.Rank(like) - raw.Rank(column), [1]), 1)
    return raw.Reshape(column, raw.ConcatV2([raw.Shape(column), more], 0))


def _segment_sum_gradient(call: Any, grad: Any) -> Any:
    return _rows(dense(grad), call.inputs[1]), None


def _segment_mean_gradient(call: Any, grad: Any) -> Any:
    data, ids = call.inputs
    ones = raw.OnesLike(raw.Cast(ids, DstT=data.dtype.base_dtype))
    counts = raw.SegmentSum(ones, ids)
    return _rows(dense(grad) / trailing_axes(counts, data), ids), None


def _segment_extreme_gradient(call: Any, grad: Any) -> Any:
    (data, ids), grad = call.inputs, dense(grad)
    chosen = raw.Equal(data, _rows(call.outputs[0], ids))
    count = raw.SegmentSum(raw.Cast(chosen, DstT=grad.dtype.base_dtype), ids)
    return raw.SelectV2(chosen, _rows(grad / count, ids), raw.ZerosLike(data)), None  # equal extremes share it


def _segment_prod_gradient(call: Any, grad: Any) -> Any:
    data, ids = call.inputs
    return _prod_gradient(
        data, dense(grad), call.outputs[0], lambda x: raw.SegmentSum(x, ids), lambda x: raw.SegmentProd(x, ids),
        lambda x: _rows(x, ids),
    ), None  # fmt: skip


def _prod_gradient(data: Any, grad: Any, product: Any, add_up: Any, multiply: Any, rows: Any) -> Any:
    """Return the gradient of a product by segments: the product of the other rows, also beside a zero."""
    zero = raw.Equal(data, raw.ZerosLike(data))
    zeros = add_up(raw.Cast(zero, DstT=dtypes.int32))
    grad = raw.SelectV2(raw.Greater(zeros, 1), raw.ZerosLike(grad), grad)
    nonzero = raw.SelectV2(zero, raw.OnesLike(data), data)
    others = raw.SelectV2(zero, rows(multiply(nonzero)), rows(product) / nonzero)
    return rows(grad) * others


SegmentSum = _segment_op("SegmentSum", NUMBERS, _sum_rows, _segment_sum_gradient)
SegmentMean = _segment_op("SegmentMean", NUMBERS, _mean_rows, _segment_mean_gradient)
SegmentProd = _segment_op("SegmentProd", NUMBERS, _prod_rows, _segment_prod_gradient)
SegmentMax = _segment_op("SegmentMax", REALS, _max_rows, _segment_extreme_gradient)
SegmentMin = _segment_op("SegmentMin", REALS, _min_rows, _segment_extreme_gradient)

# --- unsorted segments ------------------------------------------------------------------------------------------------


def _unsorted_dims(data: Known, segment_ids: Known, num_segments: Known) -> Dims:
    if num_segments.dims not in (None, ()):
        raise errors.StaticShapeError(f"num_segments should be a scalar, not shape {show(num_segments.dims)}")
    count = None if num_segments.value is None else int(num_segments.value)
    if count is not None and count < 0:
        raise errors.StaticShapeError(f"Input num_segments == {count} must not be negative.")
    if data.dims is None or segment_ids.dims is None:
        return None
    led = len(segment_ids.dims)
    lead = data.dims[:led]
    if led > len(data.dims) or any(a is not None and b is not None and a != b for a, b in zip(lead, segment_ids.dims)):
        raise errors.StaticShapeError(
            f"data.shape = {show(data.dims)} does not start with segment_ids.shape = {show(segment_ids.dims)}"
        )
    return (count, *data.dims[led:])


def _unsorted_op(
    name: str, types: str, ufunc: Any, start: Callable[[Any], Any], gradient: Callable[..., Any], ids: str = "index",
    facts: str = "",
) -> Op:  # fmt: skip
    declared = op(
        f"{name}(data:T, segment_ids:Tindices, num_segments:Tnumsegments) -> (output:T) | T: {types}; "
        f"Tindices: {ids}; Tnumsegments: index = int32",
        f"sizes=num_segments in_range=segment_ids {facts}", shape=_unsorted_dims, gradient=gradient, checks_first=True,
    )  # fmt: skip

    @declared.kernel
    def _(xp, data, segment_ids, num_segments):
        if num_segments.ndim:
            raise invalid(f"num_segments should be a scalar, not shape {show(num_segments.shape)}")
        count = int(num_segments)
        _check_range(segment_ids, count)
        flat = segment_ids.reshape(-1)
        rows = data.reshape(flat.size, *data.shape[segment_ids.ndim :])
        if flat.size and flat.min() < 0:
            rows, flat = rows[flat >= 0], flat[flat >= 0]
        return fold_rows(rows, flat, count, ufunc, start(data.dtype))

    return declared


def _check_range(ids: Any, count: int) -> None:
    if ids.size and ids.max() >= count:
        at = np.argwhere(ids >= count)[0]
        raise invalid(
            f"segment_ids[{','.join(map(str, at))}] = {ids[tuple(at)]} is out of range [0, {count})"
            if ids.ndim
            else f"segment_ids = {ids} is out of range [0, {count})"
        )


def _rows_or_zero(params: Any, ids: Any) -> Any:
    """Return the rows that ids name, and zeros for negative ids."""
    rows = _rows(params, raw.Maximum(ids, raw.ZerosLike(ids)))
    named = trailing_axes(raw.GreaterEqual(ids, raw.ZerosLike(ids)), rows)
    return raw.SelectV2(named, rows, raw.ZerosLike(rows))


def _unsorted_sum_gradient(call: Any, grad: Any) -> Any:
    return _rows_or_zero(dense(grad), call.inputs[1]), None, None


def _unsorted_extreme_gradient(call: Any, grad: Any) -> Any:
    (data, ids, count), grad = call.inputs, dense(grad)
    named = trailing_axes(raw.GreaterEqual(ids, raw.ZerosLike(ids)), data)
    chosen = raw.LogicalAnd(raw.Equal(data, _rows_or_zero(call.outputs[0], ids)), named)
    shares = raw.UnsortedSegmentSum(raw.Cast(chosen, DstT=grad.dtype.base_dtype), ids, count)
    return raw.SelectV2(chosen, _rows_or_zero(grad / shares, ids), raw.ZerosLike(data)), None, None


def _unsorted_prod_gradient(call: Any, grad: Any) -> Any:
    data, ids, count = call.inputs
    return _prod_gradient(
        data, dense(grad), call.outputs[0],
        lambda x: raw.UnsortedSegmentSum(x, ids, count), lambda x: raw.UnsortedSegmentProd(x, ids, count),
        lambda x: _rows_or_zero(x, ids),
    ), None, None  # fmt: skip


UnsortedSegmentSum = _unsorted_op(
    "UnsortedSegmentSum",
    NUMBERS,
    np.add,
    lambda dtype: 0,
    _unsorted_sum_gradient,
    ids="type in [int16,int32,int64]",
    facts="one_core=5",
)
UnsortedSegmentProd = _unsorted_op(
    "UnsortedSegmentProd", NUMBERS, np.multiply, lambda dtype: 1, _unsorted_prod_gradient
)
UnsortedSegmentMax = _unsorted_op("UnsortedSegmentMax", REALS, np.maximum, finite_lowest, _unsorted_extreme_gradient)
UnsortedSegmentMin = _unsorted_op("UnsortedSegmentMin", REALS, np.minimum, finite_highest, _unsorted_extreme_gradient)

# --- public functions -------------------------------------------------------------------------------------------------


def _sorted_function(op: Op, name: str, doc: str) -> Callable[..., Any]:
    def function(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
        return op(data, segment_ids, name=name or op.name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _unsorted_function(op: Op, name: str, doc: str) -> Callable[..., Any]:
    def function(
        data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
    ) -> Tensor:
        return op(data, segment_ids, num_segments, name=name or op.name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


segment_sum = _sorted_function(SegmentSum, "segment_sum", "Return the sum of the rows of each segment.")
segment_mean = _sorted_function(SegmentMean, "segment_mean", "Return the mean of the rows of each segment.")
segment_prod = _sorted_function(SegmentProd, "segment_prod", "Return the product of the rows of each segment.")
segment_max = _sorted_function(SegmentMax, "segment_max", "Return the largest of the rows of each segment.")
segment_min = _sorted_function(SegmentMin, "segment_min", "Return the smallest of the rows of each segment.")
unsorted_segment_sum = _unsorted_function(
    UnsortedSegmentSum, "unsorted_segment_sum", "Return the sum of the rows of each segment."
)
unsorted_segment_prod = _unsorted_function(
    UnsortedSegmentProd, "unsorted_segment_prod", "Return the product of the rows of each segment."
)
unsorted_segment_max = _unsorted_function(
    UnsortedSegmentMax, "unsorted_segment_max", "Return the largest of the rows of each segment."
)
unsorted_segment_min = _unsorted_function(
    UnsortedSegmentMin, "unsorted_segment_min", "Return the smallest of the rows of each segment."
)


def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Return the mean of the rows of each segment, 0 for a segment without rows.

    >>> unsorted_segment_mean([1.0, 5.0, 2.0], [0, 1, 0], 3).numpy().tolist()
    [1.5, 5.0, 0.0]
    """
    with name_scope(name, "UnsortedSegmentMean", [data, segment_ids]):
        data, segment_ids = operand(data), operand(segment_ids)
        members = _members(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / members


def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Return the sum of the rows of each segment over the square root of their number.

    >>> unsorted_segment_sqrt_n([1.0, 5.0, 2.0, 3.0, 2.0], [0, 1, 0, 0, 0], 2).numpy().tolist()
    [4.0, 5.0]
    """
    with name_scope(name, "UnsortedSegmentSqrtN", [data, segment_ids]):
        data, segment_ids = operand(data), operand(segment_ids)
        members = _members(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / raw.Sqrt(members)


def _members(data, segment_ids, num_segments):
    """Return how many rows each segment has, but at least 1, ready to divide its sum by."""
    if not isinstance(data, Tensor):  # ragged: how many there are at each place of the sums, at least one at each
        return unsorted_segment_sum(raw.OnesLike(data), segment_ids, num_segments)
    count = unsorted_segment_sum(ones(shape(segment_ids), data.dtype.base_dtype), segment_ids, num_segments)
    if data._dims is not None and segment_ids._dims is not None:
        axes: Any = [-1] + [1] * (len(data._dims) - len(segment_ids._dims))
    else:
        axes = raw.ConcatV2([[-1], ones(raw.Reshape(rank(data) - rank(segment_ids), [1]), dtypes.int32)], 0)
    return raw.Maximum(raw.Reshape(count, axes), 1)
