"""Counting: how often each integer occurs, and how many numbers fall into each bin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, DTypeLike, TensorLike
from ebbflow.ops.arrays.shaping import reshape, shape, size
from ebbflow.ops.declare import FLAT, raw, show
from ebbflow.ops.elementwise.binary import truediv
from ebbflow.ops.elementwise.clip import clip_by_value
from ebbflow.ops.reduce.fold_loops import MANY, binned
from ebbflow.ops.reduce.reductions import reduce_max, reduce_prod
from ebbflow.ops.sizes import invalid, room_for

_WEIGHTS = "T: type in [int32,int64,float,double]"

Bincount = op(f"Bincount(arr:int32, size:int32, weights:T) -> (bins:T) | {_WEIGHTS}", gradient=FLAT, facts="sizes=size")
DenseBincount = op(
    f"DenseBincount(input:Tidx, size:Tidx, weights:T) -> (output:T) | Tidx: index; {_WEIGHTS}; "
    "binary_output: bool = false",
    gradient=FLAT,
    facts="sizes=size",
)
HistogramFixedWidth = op(
    "HistogramFixedWidth(values:T, value_range:T, nbins:int32) -> (out:dtype) | T: type in [int32,int64,float,double]; "
    "dtype: index = int32",
    gradient=FLAT,
)


def _bins(size: Any) -> int | None:
    if size.dims not in (None, ()):
        raise errors.StaticShapeError(f"Shape must be rank 0 but is rank {len(size.dims)}: size {show(size.dims)}")
    if size.value is None:
        return None
    count = int(size.value)
    if count < 0:
        raise errors.StaticShapeError(f"size ({count}) must be non-negative")
    return count


@Bincount.shape
def _(arr, size, weights):
    return (_bins(size),)


@Bincount.kernel
def _(xp, arr, size, weights):
    if size.shape != ():
        raise invalid(f"Shape must be rank 0 but is rank {size.ndim}")
    if weights.size and weights.shape != arr.shape:
        raise invalid(f"`weights` must be the same shape as `arr` or a length-0 `Tensor`, not {show(weights.shape)}")
    rows = arr.reshape(1, -1)
    return _counted(rows, int(size), weights.reshape(rows.shape) if weights.size else weights, False)[0]


@DenseBincount.shape
def _(input, size, weights, *, binary_output):
    count = _bins(size)
    if input.dims is None:
        return None
    if len(input.dims) > 2:
        raise errors.StaticShapeError(f"Shape must be at most rank 2 but is rank {len(input.dims)}")
    return (*input.dims[:-1], count) if input.dims else (count,)


@DenseBincount.kernel
def _(xp, input, size, weights, *, binary_output):
    if input.ndim > 2:
        raise invalid(f"Shape must be at most rank 2 but is rank {input.ndim}")
    if size.shape != ():
        raise invalid(f"Shape must be rank 0 but is rank {size.ndim}")
    if weights.size and weights.shape != input.shape:
        raise invalid(f"`weights` must be the same shape as `arr` or a length-0 `Tensor`, not {show(weights.shape)}")
    rows = input if input.ndim == 2 else input.reshape(1, -1)
    counts = _counted(rows, int(size), weights.reshape(rows.shape) if weights.size else weights, binary_output)
    return counts if input.ndim == 2 else counts[0]


def _counted(rows: Any, count: int, weights: Any, binary: bool) -> Any:
    """Count each row's integers below `count`; weighted where there are weights, or just whether they occur."""
    if count < 0:
        raise invalid(f"size ({count}) must be non-negative")
    if rows.size and rows.min() < 0:
        raise invalid("Input arr must be non-negative!")
    room_for((rows.shape[0], count), weights.dtype.itemsize)
    if rows.shape[0] == 1 and not weights.size and not binary:
        counted = rows[0] if rows.size and rows.max() < count else rows[0][rows[0] < count]
        return np.bincount(counted, minlength=count).astype(weights.dtype)[None]
    counts = np.zeros((rows.shape[0], count), weights.dtype)
    at, inside = np.indices(rows.shape)[0], rows < count
    if binary:
        counts[at[inside], rows[inside]] = 1
    else:
        np.add.at(counts, (at[inside], rows[inside]), weights[inside] if weights.size else 1)
    return counts


@HistogramFixedWidth.shape
def _(values, value_range, nbins):
    if value_range.dims not in (None, (2,), (None,)):
        raise errors.StaticShapeError(
            f"value_range should be a vector of 2 elements, not of shape {show(value_range.dims)}"
        )
    return (None if nbins.value is None else int(nbins.value),)


@HistogramFixedWidth.kernel
def _(xp, values, value_range, nbins, *, dtype):
    if value_range.shape != (2,):
        raise invalid(f"value_range should be a vector of 2 elements, not of shape {show(value_range.shape)}")
    low, high = value_range.astype(np.float64).tolist()
    if not low < high:
        raise invalid(f"value_range should satisfy value_range[0] < value_range[1], but got '[{low}, {high}]'")
    count = int(nbins)
    if count <= 0:
        raise invalid(f"nbins should be a positive number, but got '{count}'")
    room_for((count,), 8)
    code = binned.code() if values.size >= MANY and values.dtype == np.float32 and values.flags.c_contiguous else None
    if code is not None:
        counts = np.zeros(count, np.int32)
        if code(values, values.size, low, (high - low) / count, count, counts):
            return counts.astype(dtype.np, copy=False)
    if np.isnan(values).any():
        raise invalid("Histogram values must not contain NaN")
    places = np.clip(np.floor((values.astype(np.float64) - low) / ((high - low) / count)), 0, count - 1)
    return np.bincount(places.reshape(-1).astype(np.int64), minlength=count).astype(dtype.np)


# --- public functions -------------------------------------------------------------------------------------------------


def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    axis: Axis = None,
    binary_output: bool = False,
) -> Tensor:
    """Return how often each integer from 0 on occurs in `arr`, or the sum of its `weights`.

    With `axis=-1` each row is counted for itself; with `binary_output` it is only noted whether an integer occurs.

    >>> bincount([1, 1, 3]).numpy().tolist()
    [0, 2, 0, 1]
    """
    if isinstance(arr, SparseTensor) or hasattr(type(arr), "_op_form"):
        return _bincount_of_parts(arr, weights, minlength, maxlength, dtype, name, axis, binary_output)
    with name_scope("bincount" if name is None else name, None, [arr, weights]):
        arr = _integers(convert(arr, None, dtypes.int32, name="arr"))
        if weights is not None and binary_output:
            raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one.")
        if axis not in (0, -1, None):
            raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
        count = _output_size(arr, size(arr) > 0, minlength, maxlength)
        if weights is not None:
            weights = convert(weights, name="weights")
            weights = weights if axis == -1 else reshape(weights, [-1])
        if axis != -1:
            arr = reshape(arr, [-1])
        if weights is None:
            weights = convert([], as_dtype(dtype))
        return DenseBincount(arr, count, weights, binary_output=binary_output)


def _integers(arr: Any) -> Any:
    """Return what is to be counted: as it is, or without fractions."""
    return arr if arr.dtype.is_integer else raw.Cast(arr, DstT=dtypes.int32)


def _bincount_of_parts(arr, weights, minlength, maxlength, dtype, name, axis, binary_output):
    """Return `bincount` of a sparse or ragged tensor, whose weights lie as it does."""
    sparse = isinstance(arr, SparseTensor)
    if weights is not None and not isinstance(weights, type(arr)):
        raise ValueError(
            f"Argument `weights` must be a {type(arr).__name__} like `values`, but is a {type(weights).__name__}."
        )
    if axis != -1:
        values, weights = (x if x is None else x.values if sparse else x.flat_values for x in (arr, weights))
        return bincount(values, weights, minlength, maxlength, dtype, name, axis, binary_output)
    with name_scope("bincount" if name is None else name, None, [arr, weights]):
        values = _integers(arr.values)
        count = _output_size(values, size(values) > 0, minlength, maxlength)
        weights = convert([], as_dtype(dtype)) if weights is None else weights.values
        if sparse:
            where = (arr.indices, values, arr.dense_shape)
            return raw.SparseBincount(*where, count, weights, binary_output=binary_output)
        return raw.RaggedBincount(arr.row_splits, values, count, weights, binary_output=binary_output)


def bincount_tf1(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
) -> Tensor:
    """`bincount` as TensorFlow 1 puts it into a graph: a Bincount node."""
    with name_scope("bincount", None, [arr, weights]):
        arr = convert(arr, dtypes.int32, name="arr")
        count = _output_size(arr, reduce_prod(shape(arr)) > 0, minlength, maxlength)
        if weights is None:
            return Bincount(arr, count, convert([], as_dtype(dtype)))
        return raw.UnsortedSegmentSum(convert(weights, name="weights"), arr, count)


def bincount_v1(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
) -> Tensor:
    """`bincount` with TensorFlow 1's arguments."""
    return bincount(arr, weights, minlength, maxlength, dtype)


def _output_size(arr, nonempty, minlength, maxlength):
    kind = arr.dtype.base_dtype
    count = raw.Cast(nonempty, DstT=kind) * (reduce_max(arr) + 1)
    if minlength is not None:
        count = raw.Maximum(convert(minlength, kind, name="minlength"), count)
    if maxlength is not None:
        count = raw.Minimum(convert(maxlength, kind, name="maxlength"), count)
    return count


def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Return how many values fall into each of `nbins` equal bins; those outside the range count in the end bins.

    >>> histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5).numpy().tolist()
    [2, 1, 1, 0, 2]
    """
    return HistogramFixedWidth(values, value_range, nbins, dtype=as_dtype(dtype), name=name or "histogram_fixed_width")


def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Return for each value the number of its bin, as `histogram_fixed_width` puts it.

    >>> histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5).numpy().tolist()
    [0, 0, 1, 2, 4, 4]
    """
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert(values, name="values")
        flat = reshape(values, [-1])
        value_range = convert(value_range, name="value_range")
        count = raw.Cast(convert(nbins, dtypes.int32, name="nbins"), DstT=flat.dtype.base_dtype)
        apart = flat - value_range[0]
        scaled = truediv(apart, value_range[1] - value_range[0], name="scaled_values")
        places = raw.Floor(count * scaled, name="indices")
        places = raw.Cast(clip_by_value(places, 0, count - 1), DstT=as_dtype(dtype))
        return reshape(places, shape(values))
