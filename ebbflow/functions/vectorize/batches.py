"""How ops that know batches are done for all rows at once: by making the rows a part of the batch.

Images and volumes are folded into one longer batch, matrices keep their leading axes, and indices get the number of
their row in front (or, for segments, an offset). The same kind of rules as in `vectorize_rules`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.functions.vectorize.rules import (
    NoRule,
    Rows,
    Stacked,
    attrs_of,
    constant,
    merged_axes,
    parted_axes,
    plain,
    rank_of,
    rule,
    stacked,
    with_row_numbers,
)
from ebbflow.ops.declare import raw

# --- batches of images ------------------------------------------------------------------------------------------------


@rule(
    "Conv2D",
    "Conv3D",
    "DepthwiseConv2dNative",
    "MaxPool",
    "AvgPool",
    "MaxPool3D",
    "AvgPool3D",
    "MaxPoolV2",
    rounds=True,
)
@rule("LRN", rounds=True)
@rule("ExtractImagePatches", "SpaceToDepth", "DepthToSpace")
def _on_batches(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    data, *rest = inputs
    plain(node, *rest)
    flat = node._op(merged_axes(stacked(node, data), node._inputs[0], rows), *rest, **attrs_of(node))
    return [Stacked(parted_axes(flat, data.value, rows))]


@rule("MaxPoolGrad", "MaxPoolGradGrad", "LRNGrad", "MaxPool3DGrad", "MaxPool3DGradGrad", rounds=True)
def _on_several_batches(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    every = [rows.stack(x).value for x in inputs]
    flat = node._op(*[merged_axes(x, t, rows) for x, t in zip(every, node._inputs, strict=True)], **attrs_of(node))
    return [Stacked(parted_axes(flat, every[0], rows))]


@rule("AvgPoolGrad", "AvgPool3DGrad", rounds=True)
def _average_grad(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    plain(node, inputs[0])
    grad = stacked(node, inputs[1])
    flat = node._op(_more_images(constant(node, 0), rows), merged_axes(grad, node._inputs[1], rows), **attrs_of(node))
    return [Stacked(parted_axes(flat, grad, rows))]


@rule("Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput", "Conv3DBackpropInputV2", rounds=True)
def _input_grad(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    plain(node, *inputs[:2])
    grad = stacked(node, inputs[2])
    sizes = _more_images(constant(node, 0), rows)
    flat = node._op(sizes, inputs[1], merged_axes(grad, node._inputs[2], rows), **attrs_of(node))
    return [Stacked(parted_axes(flat, grad, rows))]


def _more_images(sizes: Any, rows: Rows) -> Any:
    """Return the shape of a batch that holds those of all rows."""
    first = rows.count * int(sizes[0])
    if isinstance(first, int):
        return np.array([first, *sizes[1:]], np.int32)
    return raw.ConcatV2([raw.ExpandDims(first, 0), sizes[1:].astype(np.int32)], 0)


@rule("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", rounds=True)
def _batch_norm(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    if node._attrs["is_training"]:
        raise NoRule(f"{node.type} in training: each row has its own mean")
    plain(node, *inputs[1:])
    data = stacked(node, inputs[0])
    found = node._op(merged_axes(data, node._inputs[0], rows), *inputs[1:], **attrs_of(node))
    return [Stacked(parted_axes(found[0], data, rows)), *found[1:]]


# --- matrices ---------------------------------------------------------------------------------------------------------


@rule(
    "Softmax",
    "LogSoftmax",
    "Cholesky",
    "MatrixInverse",
    "MatrixDeterminant",
    "LogMatrixDeterminant",
    "MatrixDiag",
    rounds=True,
)
@rule("MatrixDiagPart", "MatrixBandPart", "MatrixDiagV2", "MatrixDiagV3", "MatrixDiagPartV2", "MatrixDiagPartV3")
@rule("Qr", "Svd", "SelfAdjointEigV2", "TopKV2", "NthElement", "ResourceGather", "Bucketize", rounds=True)
def _leading_axes(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    at = 1 if node.type == "ResourceGather" else 0
    plain(node, *inputs[:at], *inputs[at + 1 :])
    given = [*inputs[:at], stacked(node, inputs[at]), *inputs[at + 1 :]]
    return _all_stacked(node._op(*given, **attrs_of(node)))


@rule("MatrixSolve", "MatrixTriangularSolve", "CholeskyGrad", "Cross", rounds=True)
@rule("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3", "MatrixSolveLs", rounds=True)
def _two_with_leading_axes(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    plain(node, *inputs[2:])
    both = [rows.stack(x).value for x in inputs[:2]]
    return _all_stacked(node._op(*both, *inputs[2:], **attrs_of(node)))


def _all_stacked(results: Any) -> list[Any]:
    return [Stacked(t) for t in (results if isinstance(results, (list, tuple)) else [results])]


# --- indices ----------------------------------------------------------------------------------------------------------


@rule("Gather", "GatherV2")
def _gather(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    params, indices = inputs[:2]
    rank, axis = rank_of(node._inputs[0]), int(constant(node, 2)) if node.type == "GatherV2" else 0
    axis = axis + rank if axis < 0 else axis
    batch_dims = node._attrs.get("batch_dims", 0)
    batch_dims += rank_of(node._inputs[1]) if batch_dims < 0 else 0
    if not isinstance(params, Stacked) and not batch_dims:
        return [Stacked(_axis_to_front(raw.GatherV2(params, indices.value, axis), axis))]
    if not isinstance(indices, Stacked) and not batch_dims:
        return [Stacked(raw.GatherV2(params.value, indices, axis + 1))]
    both = [rows.stack(x).value for x in (params, indices)]
    return [Stacked(raw.GatherV2(*both, axis + 1, batch_dims=batch_dims + 1))]


def _axis_to_front(x: Any, axis: int) -> Any:
    """Return a tensor with one of its axes moved to the front."""
    if not axis:
        return x
    order = [axis, *[i for i in range(len(x._dims)) if i != axis]]
    return raw.Transpose(x, np.array(order, np.int32))


@rule("GatherNd")
def _gather_nd(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    params, indices = inputs
    if not isinstance(params, Stacked):
        return [Stacked(raw.GatherNd(params, indices.value))]
    return [Stacked(raw.GatherNd(params.value, with_row_numbers(rows.stack(indices).value, rows)))]


@rule("ScatterNd", rounds=True)
def _scatter_nd(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    plain(node, inputs[2])
    indices, updates = (rows.stack(x).value for x in inputs[:2])
    sizes = raw.Cast(rows.shape(inputs[2]), DstT=indices.dtype)
    return [Stacked(raw.ScatterNd(with_row_numbers(indices, rows), updates, sizes))]


@rule(
    "TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMin", "TensorScatterMax", rounds=True
)
def _tensor_scatter(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    tensor, indices, updates = (rows.stack(x).value for x in inputs)
    return [Stacked(node._op(tensor, with_row_numbers(indices, rows), updates))]


@rule("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMin", "UnsortedSegmentMax", rounds=True)
def _segments(node: Any, inputs: list[Any], rows: Rows) -> list[Any]:
    plain(node, inputs[2])
    data, numbers = (rows.stack(x).value for x in inputs[:2])
    count = raw.Cast(inputs[2], DstT=numbers.dtype)
    offset = rows.numbers(numbers.dtype, rank_of(node._inputs[1])) * count
    apart = raw.SelectV2(raw.Less(numbers, raw.ZerosLike(numbers)), numbers, raw.AddV2(numbers, offset))
    every = raw.Cast(count, DstT=np.int32) * rows.count
    flat = node._op(data, apart, every)
    rest = raw.StridedSlice(raw.Shape(flat), [1], [0], [1], end_mask=1)
    each = raw.Cast(raw.ExpandDims(count, 0), DstT=np.int32)
    return [Stacked(raw.Reshape(flat, rows.shape(raw.ConcatV2([each, rest], 0))))]
