"""Reductions by segment over chosen rows: `indices` say which rows of a table, `segment_ids` which belong together.

What a lookup of several embeddings per example does. Sum, mean, and sum over the square root of the count; each with
and without the number of segments given, and each with the op that carries its gradient back into the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Known, Op, op
from ebbflow.core.shape import Dims
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import dense, raw, show
from ebbflow.ops.reduce.reductions import is_narrow
from ebbflow.ops.reduce.segment import checked_ids, fold_rows
from ebbflow.ops.sizes import invalid

_INDICES = "Tidx: index = int32; Tsegmentids: index = int32"
_COUNTED = "Tidx: index = int32; Tnumsegments: index = int32; Tsegmentids: index = int32"
_ROOTS = {"Sum": 0.0, "Mean": 1.0, "SqrtN": 0.5}  # the power of the count that the sum is divided by

# --- arrays -----------------------------------------------------------------------------------------------------------


def _checked_rows(indices: Any, segment_ids: Any, rows: int) -> None:
    if indices.ndim != 1 or segment_ids.ndim != 1:
        raise invalid("indices and segment_ids should be vectors.")
    if indices.size != segment_ids.size:
        raise invalid("segment_ids and indices should have same size.")
    wrong = np.flatnonzero((indices < 0) | (indices >= rows))
    if wrong.size:
        raise invalid(f"Bad: indices[{wrong[0]}] == {indices[wrong[0]]} out of range [0, {rows})")


def _scale(segment_ids: Any, count: int, power: float, width: int) -> Any:
    """Return for each segment the number of its rows to a power, as a column to divide by."""
    members = np.maximum(np.bincount(segment_ids, minlength=count), 1)
    return (members**power).reshape((count,) + (1,) * width)


def _folded(data: Any, indices: Any, segment_ids: Any, count: int, power: float) -> Any:
    total = fold_rows(data[indices], segment_ids, count, np.add, 0)
    return (total / _scale(segment_ids, count, power, data.ndim - 1)).astype(data.dtype) if power else total


def _spread(grad: Any, indices: Any, segment_ids: Any, rows: int, power: float) -> Any:
    """Return the gradient of the table, of `rows` rows."""
    if indices.size != segment_ids.size:
        raise invalid("segment_ids and indices should have same size.")
    count = grad.shape[0]
    if segment_ids.size and segment_ids[-1] >= count:
        raise invalid("Invalid number of segments")
    for number in segment_ids[(segment_ids < 0) | (segment_ids >= count)].tolist():
        raise invalid(f"Segment id {number} out of range [0, {count}).")
    for i in indices[(indices < 0) | (indices >= rows)].tolist():
        raise invalid(f"Index {i} out of range [0, {rows}).")
    wide = grad.astype(np.float32) if is_narrow(grad.dtype) else grad
    if power:
        wide = (wide / _scale(segment_ids, grad.shape[0], power, grad.ndim - 1)).astype(wide.dtype)
    return fold_rows(wide[segment_ids], indices, rows, np.add, 0).astype(grad.dtype)


# --- the ops ----------------------------------------------------------------------------------------------------------


def _segments_dims(data: Known, indices: Known, segment_ids: Known) -> Dims:
    _vectors(indices, segment_ids)
    if data.dims is None:
        return None
    if not data.dims:
        raise errors.StaticShapeError("data must be at least rank 1")
    return (None, *data.dims[1:])


def _counted_dims(data: Known, indices: Known, segment_ids: Known, num_segments: Known) -> Dims:
    dims = _segments_dims(data, indices, segment_ids)
    if num_segments.dims not in (None, ()):
        raise errors.StaticShapeError(f"num_segments should be a scalar, not shape {show(num_segments.dims)}")
    if dims is None or num_segments.value is None:
        return dims
    count = int(num_segments.value)
    if count < 0:
        raise errors.StaticShapeError(f"Cannot specify a negative value for num_segments, got {count}")
    return (count, *dims[1:])


def _vectors(indices: Known, segment_ids: Known) -> None:
    for name, arg in (("indices", indices), ("segment_ids", segment_ids)):
        if arg.dims is not None and len(arg.dims) != 1:
            raise errors.StaticShapeError(f"{name} should be a vector, not of shape {show(arg.dims)}")
    a, b = (None if x.dims is None else x.dims[0] for x in (indices, segment_ids))
    if a is not None and b is not None and a != b:
        raise errors.StaticShapeError("segment_ids and indices should have same size.")


def _declare(kind: str) -> tuple[Op, Op, Op, Op]:
    plain, counted = _forward_ops(kind, _ROOTS[kind])
    back, back_sparse = _backward_ops(kind, _ROOTS[kind])
    _gradients(kind, plain, counted, back, back_sparse)
    return plain, counted, back, back_sparse


def _forward_ops(kind: str, power: Any) -> tuple[Op, Op]:
    types = "reals" if kind == "Sum" else "floats"
    plain = op(
        f"SparseSegment{kind}(data:T, indices:Tidx, segment_ids:Tsegmentids) -> (output:T) | "
        f"T: {types}; {_INDICES}; sparse_gradient: bool = false",
        shape=_segments_dims,
    )
    counted = op(
        f"SparseSegment{kind}WithNumSegments(data:T, indices:Tidx, segment_ids:Tsegmentids, num_segments:Tnumsegments)"
        f" -> (output:T) | T: {types}; {_COUNTED}; sparse_gradient: bool = false",
        shape=_counted_dims,
    )

    @plain.kernel
    def _(xp, data, indices, segment_ids):
        _checked_rows(indices, segment_ids, data.shape[0] if data.ndim else 0)
        return _folded(data, indices, segment_ids, checked_ids(segment_ids, segment_ids.size), power)

    @counted.kernel
    def _(xp, data, indices, segment_ids, num_segments):
        _checked_rows(indices, segment_ids, data.shape[0] if data.ndim else 0)
        if num_segments.ndim:
            raise invalid(f"num_segments should be a scalar, not shape {show(num_segments.shape)}")
        count = int(num_segments)
        if checked_ids(segment_ids, segment_ids.size) > count:
            raise invalid("segment ids must be < num_segments")
        return _folded(data, indices, segment_ids, count, power)

    return plain, counted


def _backward_ops(kind: str, power: Any) -> tuple[Op, Op]:
    back = op(
        f"SparseSegment{kind}Grad(grad:T, indices:Tidx, segment_ids:Tsegmentids, output_dim0:int32) -> (output:T) | "
        f"T: floats; {_INDICES}"
    )
    back_sparse = op(
        f"SparseSegment{kind}GradV2(grad:T, indices:Tidx, segment_ids:Tsegmentids, dense_output_dim0:int32) -> "
        f"(output:T, sorted_unique_indices:Tidx) | T: floats; {_INDICES}"
    )

    @back.kernel
    def _(xp, grad, indices, segment_ids, output_dim0):
        return _spread(grad, indices, segment_ids, int(output_dim0), power)

    @back.shape
    def _(grad, indices, segment_ids, output_dim0):
        rows = None if output_dim0.value is None else int(output_dim0.value)
        return None if grad.dims is None else (rows, *grad.dims[1:])

    @back_sparse.kernel
    def _(xp, grad, indices, segment_ids, dense_output_dim0):
        rows = int(dense_output_dim0)
        for i in indices[(indices < 0) | (indices >= rows)].tolist():
            raise invalid(f"Index {i} out of range [0, {rows}).")
        unique, places = np.unique(indices, return_inverse=True)
        return _spread(grad, places.reshape(-1), segment_ids, unique.size, power), unique

    @back_sparse.shape
    def _(grad, indices, segment_ids, dense_output_dim0):
        return [None if grad.dims is None else (None, *grad.dims[1:]), (None,)]

    return back, back_sparse


def _gradients(kind: str, plain: Op, counted: Op, back: Op, back_sparse: Op) -> None:
    def table_gradient(call: Any, grad: Any) -> Any:
        data, indices, segment_ids = call.inputs[:3]
        shape = raw.Shape(data)
        rows = raw.Reshape(raw.Slice(shape, [0], [1]), [])
        if call.attrs["sparse_gradient"]:
            values, unique = back_sparse(dense(grad), indices, segment_ids, rows)
            table = IndexedSlices(values, unique, shape)
        else:
            table = back(dense(grad), indices, segment_ids, rows)
        return [table] + [None] * (len(call.inputs) - 1)

    def back_gradient(call: Any, grad: Any) -> Any:
        folded, indices, segment_ids = call.inputs[:3]
        count = raw.Reshape(raw.Slice(raw.Shape(folded), [0], [1]), [])
        again = counted(dense(grad), indices, segment_ids, count)
        return [again] + [None] * (len(call.inputs) - 1)

    def back_sparse_gradient(call: Any, grad: Any, _: Any) -> Any:
        folded, indices, segment_ids, rows = call.inputs
        grad = dense(grad)
        whole = raw.UnsortedSegmentSum(grad, call.outputs[1], rows)
        count = raw.Reshape(raw.Slice(raw.Shape(folded), [0], [1]), [])
        return [counted(whole, indices, segment_ids, count), None, None, None]

    plain.gradient(table_gradient)
    counted.gradient(table_gradient)
    back.gradient(back_gradient)
    back_sparse.gradient(back_sparse_gradient)


SparseSegmentSum, SparseSegmentSumWithNumSegments, SparseSegmentSumGrad, SparseSegmentSumGradV2 = _declare("Sum")
SparseSegmentMean, SparseSegmentMeanWithNumSegments, SparseSegmentMeanGrad, SparseSegmentMeanGradV2 = _declare("Mean")
SparseSegmentSqrtN, SparseSegmentSqrtNWithNumSegments, SparseSegmentSqrtNGrad, SparseSegmentSqrtNGradV2 = _declare(
    "SqrtN"
)

# --- public functions -------------------------------------------------------------------------------------------------


def _applied(kind, data, indices, segment_ids, num_segments, sparse_gradient, name):
    if num_segments is None:
        op = getattr(raw, f"SparseSegment{kind}")
        return op(data, indices, segment_ids, sparse_gradient=sparse_gradient, name=name or op.name)
    op = getattr(raw, f"SparseSegment{kind}WithNumSegments")
    return op(data, indices, segment_ids, num_segments, sparse_gradient=sparse_gradient, name=name or op.name)


def sparse_segment_sum(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """Return the sum of the chosen rows of each segment.

    >>> sparse_segment_sum([[1.0], [2.0], [4.0]], [0, 2], [0, 0]).numpy().tolist()
    [[5.0]]
    """
    return _applied("Sum", data, indices, segment_ids, num_segments, sparse_gradient, name)


def sparse_segment_mean(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """Return the mean of the chosen rows of each segment.

    >>> sparse_segment_mean([[1.0], [2.0], [4.0]], [0, 2], [0, 0]).numpy().tolist()
    [[2.5]]
    """
    return _applied("Mean", data, indices, segment_ids, num_segments, sparse_gradient, name)


def sparse_segment_sqrt_n(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """Return the sum of the chosen rows of each segment over the square root of their number.

    >>> sparse_segment_sqrt_n([[1.0], [2.0], [7.0]], [0, 2, 1, 1], [0, 0, 0, 0]).numpy().tolist()
    [[6.0]]
    """
    return _applied("SqrtN", data, indices, segment_ids, num_segments, sparse_gradient, name)


def sparse_segment_sum_v1(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """`sparse_segment_sum` with TensorFlow 1's order of arguments."""
    return sparse_segment_sum(data, indices, segment_ids, num_segments, name, sparse_gradient)


def sparse_segment_mean_v1(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """`sparse_segment_mean` with TensorFlow 1's order of arguments."""
    return sparse_segment_mean(data, indices, segment_ids, num_segments, name, sparse_gradient)


def sparse_segment_sqrt_n_v1(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """`sparse_segment_sqrt_n` with TensorFlow 1's order of arguments."""
    return sparse_segment_sqrt_n(data, indices, segment_ids, num_segments, name, sparse_gradient)
