"""Ops about the order of axes, NHWC and its kin; and the best of many, near enough.

`DataFormatDimMap` says which axis an axis becomes, `DataFormatVecPermute` puts what is listed axis by axis in another
order. The approximate top k is exact here, which every recall allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.sorting import top
from ebbflow.ops.declare import FLAT, raw, same, show
from ebbflow.ops.sizes import invalid

_ATTRS = 'T: type in [int32,int64] = int32; src_format: string = "NHWC"; dst_format: string = "NCHW"'

DataFormatDimMap = op(f"DataFormatDimMap(x:T) -> (y:T) | {_ATTRS}", shape=same, gradient=FLAT, facts="beside")
DataFormatVecPermute = op(f"DataFormatVecPermute(x:T) -> (y:T) | {_ATTRS}", gradient=FLAT, facts="beside")


def _check_formats(src: str, dst: str) -> None:
    for word, name, layout in (("Source", "src_format", src), ("Destination", "dst_format", dst)):
        if len(layout) not in (4, 5):
            raise invalid(f"{word} format must be of length 4 or 5, received {name} = {layout!r}")
    if sorted(src) != sorted(dst) or len(set(src)) != len(src):
        raise invalid(f"Destination and source format must determine a permutation, got {src!r} and {dst!r}")


@DataFormatDimMap.kernel
def _(xp, x, *, src_format, dst_format):
    _check_formats(src_format, dst_format)
    places = xp.asarray([dst_format.index(axis) for axis in src_format], x.dtype)
    return places[x % len(src_format)]


@DataFormatVecPermute.shape
def _(x):
    if x.dims is not None and len(x.dims) not in (1, 2):
        raise errors.StaticShapeError(f"input must be a vector or 2D tensor, but got shape {show(x.dims)}")
    return x.dims


@DataFormatVecPermute.kernel
def _(xp, x, *, src_format, dst_format):
    _check_formats(src_format, dst_format)
    if x.ndim not in (1, 2):
        raise invalid(f"input must be a vector or 2D tensor, but got shape {show(x.shape)}")
    full = len(src_format)
    if x.shape[0] not in (full, full - 2):
        raise invalid(f"1D input must be of size {full - 2} or {full}, but got shape {show(x.shape)}")
    if x.ndim == 2 and x.shape[1] != 2:
        raise invalid(f"Second dimension of 2D input must be of size 2, but got shape {show(x.shape)}")
    if x.shape[0] != full:
        src_format, dst_format = ("".join(a for a in f if a not in "NC") for f in (src_format, dst_format))
        if len(src_format) != full - 2:
            raise invalid(f"Format specifier must contain H and W for {full - 2}D case, got {src_format!r}")
    return x[xp.asarray([src_format.index(axis) for axis in dst_format])]


# --- the best of many -------------------------------------------------------------------------------------------------

ApproxTopK = op(
    "ApproxTopK(input:T) -> (values:T, indices:int32) | k: int >= 0; reduction_dimension: int = -1; "
    "recall_target: float = 0.949999988079071; is_max_k: bool = true; reduction_input_size_override: int = -1; "
    "aggregate_to_topk: bool = true; T: type in [half,bfloat16,float]",
    facts="portable",
)


@ApproxTopK.shape
def _(input, *, k, reduction_dimension):
    if input.dims is None:
        return [None, None]
    axis = _axis(reduction_dimension, len(input.dims))
    length = input.dims[axis]
    if length is not None and length < k:
        raise errors.StaticShapeError(f"input must have last dimension >= k = {k} but is {length}")
    dims = (*input.dims[:axis], k, *input.dims[axis + 1 :])
    return [dims, dims]


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise errors.StaticShapeError(f"reduction_dimension = {axis} is not in [{-rank}, {rank})")
    return axis % rank


@ApproxTopK.kernel
def _(xp, input, *, k, reduction_dimension, is_max_k):
    axis = _axis(reduction_dimension, input.ndim)
    if input.shape[axis] < k:
        raise invalid(f"input must have last dimension >= k = {k} but is {input.shape[axis]}")
    moved = xp.moveaxis(input, axis, -1)
    values, places = top(xp, moved if is_max_k else -moved, k, dtypes.int32)
    return xp.moveaxis(values if is_max_k else -values, -1, axis), xp.moveaxis(places, -1, axis)


@ApproxTopK.gradient
def _(call, grad, grad_indices):
    rank = call.input.shape.rank
    axis = _axis(call.reduction_dimension, rank)
    perm = [*(i for i in range(rank) if i != axis), axis]
    back = np.argsort(perm).tolist()
    moved, places = raw.Transpose(grad, perm), raw.Transpose(call.indices, perm)
    size = raw.Shape(raw.Transpose(call.input, perm))
    hot = raw.OneHot(places, size[-1], raw.Cast(1.0, DstT=grad.dtype), raw.Cast(0.0, DstT=grad.dtype), axis=-1)
    return raw.Transpose(raw.Sum(raw.ExpandDims(moved, -1) * hot, -2), back)


def approx_max_k(
    operand: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the k largest along an axis, and where they are."""
    return _best(operand, k, reduction_dimension, recall_target, True, name)


def approx_min_k(
    operand: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the k smallest along an axis, and where they are."""
    return _best(operand, k, reduction_dimension, recall_target, False, name)


def _best(operand: Any, k: int, axis: int, recall: float, largest: bool, name: Any) -> Any:
    return ApproxTopK(operand, k=k, reduction_dimension=axis, recall_target=recall, is_max_k=largest, name=name)


# --- the best fit that does not rise ----------------------------------------------------------------------------------

IsotonicRegression = op(
    "IsotonicRegression(input:T) -> (output:output_dtype, segments:int32) | T: reals; "
    "output_dtype: type in [half,bfloat16,float,double] = float"
)


@IsotonicRegression.shape
def _(input):
    return [input.dims, input.dims]


@IsotonicRegression.kernel
def _(xp, input, *, output_dtype):
    if input.ndim < 2:
        raise invalid(f"Shape must be at least rank 2 but is rank {input.ndim}")
    rows = input.reshape(-1, input.shape[-1]).astype(np.float64)
    values, segments = np.empty_like(rows), np.empty(rows.shape, np.int32)
    for row, value, segment in zip(rows, values, segments, strict=True):
        value[:], segment[:] = _pooled(row)
    return values.reshape(input.shape).astype(output_dtype.np), segments.reshape(input.shape)


def _pooled(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Join neighbours that rise into one mean until none does."""
    means: list[float] = []
    sizes: list[int] = []
    for x in row.tolist():
        means.append(x)
        sizes.append(1)
        while len(means) > 1 and means[-1] > means[-2]:
            last, count = means.pop(), sizes.pop()
            total = sizes[-1] + count
            means[-1] += (last - means[-1]) * count / total
            sizes[-1] = total
    return np.repeat(means, sizes), np.repeat(np.arange(len(sizes)), sizes)


@IsotonicRegression.gradient
def _(call, grad, grad_segments):
    """Every element of a segment has the mean of the segment's gradients."""
    size = raw.Shape(call.segments)
    flat = raw.Reshape(call.segments, raw.Pack([-1, size[-1]]))
    rows = raw.ExpandDims(raw.Range(0, raw.Shape(flat)[0], 1), 1) * size[-1]
    ids = raw.Reshape(flat + rows, [-1])
    count = raw.Size(ids)
    sums = raw.UnsortedSegmentSum(raw.Reshape(grad, [-1]), ids, count)
    many = raw.UnsortedSegmentSum(raw.OnesLike(raw.Reshape(grad, [-1])), ids, count)
    mean = raw.GatherV2(raw.DivNoNan(sums, many), ids, 0)
    return raw.Cast(raw.Reshape(mean, size), DstT=call.input.dtype)


def isotonic_regression(inputs: TensorLike, decreasing: bool = True, axis: int = -1) -> tuple[Tensor, Tensor]:
    """Return the closest numbers along an axis that fall (or rise) all the way, and which of them are one segment.

    >>> isotonic_regression([[3., 1., 2.]])[0].numpy().tolist()
    [[3.0, 1.5, 1.5]]
    """
    inputs = convert(inputs)
    rank = inputs.shape.rank
    place = axis % rank if rank is not None else axis
    perm = None if rank is None or place == rank - 1 else [*(i for i in range(rank) if i != place), place]
    x = inputs if perm is None else raw.Transpose(inputs, perm)
    flat = raw.Reshape(x, raw.Pack([-1, raw.Shape(x)[-1]]))
    kind = inputs.dtype if inputs.dtype.is_floating else dtypes.float64 if inputs.dtype.size >= 4 else dtypes.float32
    output, segments = IsotonicRegression(flat if decreasing else raw.Neg(flat), output_dtype=kind)
    output = output if decreasing else raw.Neg(output)
    output, segments = (raw.Reshape(part, raw.Shape(x)) for part in (output, segments))
    if perm is None:
        return output, segments
    back = np.argsort(perm).tolist()
    return raw.Transpose(output, back), raw.Transpose(segments, back)
