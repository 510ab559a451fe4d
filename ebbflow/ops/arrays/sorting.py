"""Order by value: top_k, sort, and search in what is sorted.

Ties go to the lower index, NaN counts as larger than every number (as NumPy sorts). `sort` and `argsort` are
compositions of `TopKV2`, as in TensorFlow's graphs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dims, is_compatible
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, DTypeLike, TensorLike
from ebbflow.ops.arrays.shaping import rank as rank_of
from ebbflow.ops.arrays.shaping import reshape, shape
from ebbflow.ops.declare import FLAT, dense, raw, show
from ebbflow.ops.nn.row_loops import FEW as MANY
from ebbflow.ops.nn.row_loops import top_of_rows
from ebbflow.ops.sizes import invalid, is_static, scalar_value, shape_of

# --- top_k ------------------------------------------------------------------------------------------------------------

TopK = op(
    "TopK(input:T) -> (values:T, indices:int32) | k: int >= 0; sorted: bool = true; T: reals | deprecated@7",
    facts="portable",
)
TopKV2 = op(
    "TopKV2(input:T, k:Tk) -> (values:T, indices:index_type) | sorted: bool = true; T: reals;"
    " Tk: type in [int16,int32,int64] = int32; index_type: type in [int16,int32,int64] = int32",
    facts="one_core=30 portable known=k",
)


def _top_dims(dims: Dims, k: Any) -> list[Dims]:
    if dims is not None and not dims:
        raise errors.StaticShapeError(f"input must be >= 1-D, got shape {show(dims)}")
    if k is not None and k < 0:
        raise errors.StaticShapeError(f"Need k >= 0, got {k}")
    if dims is None:
        return [None, None]
    if k is not None and dims[-1] is not None and dims[-1] < k:
        error = errors.StaticShapeError(f"input must have at least k columns. Had {dims[-1]}, needed {k}")
        error.when_building = f"input must have last dimension >= k = {k} but is {dims[-1]}"
        raise error
    result = (*dims[:-1], None if k is None else int(k))
    return [result, result]


TopK.shape(lambda input, *, k: _top_dims(input.dims, k))


@TopKV2.shape
def _(input, k):
    if k.rank not in (None, 0):
        raise errors.StaticShapeError(f"k must be scalar, got shape {show(k.dims)}")
    return _top_dims(input.dims, scalar_value(k, "k"))


def descending(xp: Any, x: Any) -> Any:
    """Return, along the last axis, the indices that sort x from the largest down, equal elements by their index."""
    back = xp.flip(x, -1)
    order = np.argsort(back, axis=-1, kind="stable") if xp is np else xp.argsort(back, axis=-1)
    return x.shape[-1] - 1 - xp.flip(order, -1)


def _largest(x: np.ndarray, k: int) -> np.ndarray:
    """Return, for each row, the indices of the k largest in index order, without sorting the row."""
    bound = np.partition(x, x.shape[1] - k, axis=1)[:, -k:].min(axis=1, keepdims=True)
    above, equal = x > bound, x == bound
    room = k - above.sum(axis=1, keepdims=True)
    chosen = above | (equal & (np.cumsum(equal, axis=1) <= room))
    return np.nonzero(chosen)[1].reshape(len(x), k)


def top(xp: Any, x: Any, k: int, index_type: Any) -> tuple[Any, Any]:
    """Return the k largest along the last axis, from the largest down, and where they are."""
    if not x.ndim or not 0 <= k <= x.shape[-1]:
        raise ValueError(f"cannot take {k} of shape {show(x.shape)}")
    keys = x.astype(np.float32) if x.dtype.kind == "V" or (x.dtype.itemsize == 2 and x.dtype.kind not in "iu") else x
    length = x.shape[-1]
    if xp is np and 0 < k <= 16 and x.dtype == np.float32 and x.flags.c_contiguous and x.size:
        found = _top_by_code(x, k)
        if found is not None:
            return found[0], found[1].astype(index_type.np, copy=False)
    if xp is np and 0 < k < length // 8 and length > 256 and not (keys.dtype.kind == "f" and np.isnan(keys).any()):
        rows = keys.reshape(-1, length)
        chosen = _largest(rows, k)
        order = descending(np, np.take_along_axis(rows, chosen, axis=1))
        indices = np.take_along_axis(chosen, order, axis=1).reshape(*x.shape[:-1], k)
    else:
        indices = descending(xp, keys)[..., :k]
    return xp.take_along_axis(x, indices, axis=-1), indices.astype(index_type.np)


def _top_by_code(x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray] | None:
    code = top_of_rows.worth(x.size, MANY)
    if code is None:
        return None
    values, places = np.empty((*x.shape[:-1], k), np.float32), np.empty((*x.shape[:-1], k), np.int32)
    return (values, places) if code(x, x.size // x.shape[-1], x.shape[-1], k, values, places) else None


@TopK.kernel
def _(xp, input, *, k):
    return top(xp, input, k, dtypes.int32)


@TopKV2.kernel
def _(xp, input, k, *, index_type):
    if k.ndim:
        raise ValueError("k must be scalar")
    return top(xp, input, int(k), index_type)


def _top_gradient(call: Any, grad: Any) -> Any:
    """Put each gradient back where its element came from, row by row of the flattened input."""
    x, picks, grad = call.input, call.indices, dense(grad)
    if picks.dtype not in (dtypes.int32, dtypes.int64):
        picks = raw.Cast(picks, DstT=dtypes.int32)
    kind = picks.dtype
    whole = shape_of(x, kind)
    length = convert(x._dims[-1], kind) if x._dims is not None and x._dims[-1] is not None else whole[-1]
    if is_static(x):
        total: Any = np.array([math.prod(x._dims)], kind.np)
        count: Any = convert(math.prod(x._dims[:-1]), kind)
    else:
        total = raw.Reshape(raw.Prod(whole, [0]), [1])
        count = raw.Prod(whole[:-1], [0])
    starts = raw.Mul(raw.Range(convert(0, kind), count, convert(1, kind)), length)
    width = raw.Shape(picks, out_type=kind)[-1]
    flat = raw.AddV2(raw.Reshape(picks, raw.Pack([count, width])), raw.ExpandDims(starts, 1))
    spread = raw.ScatterNd(raw.Reshape(flat, [-1, 1]), raw.Reshape(grad, [-1]), total)
    return raw.Reshape(spread, whole)


@TopK.gradient
def _(call, grad, _indices):
    return _top_gradient(call, grad)


@TopKV2.gradient
def _(call, grad, _indices):
    return _top_gradient(call, grad), None


InTopK = op(
    "InTopK(predictions:float, targets:T) -> (precision:bool) | k: int; T: index = int32",
    gradient=FLAT,
    facts="portable in_range=targets",
)
InTopKV2 = op(
    "InTopKV2(predictions:float, targets:T, k:T) -> (precision:bool) | T: index = int32",
    gradient=FLAT,
    facts="portable known=k in_range=targets",
)


def _in_top_dims(predictions: Any, targets: Any) -> Dims:
    if predictions.rank not in (None, 2):
        raise errors.StaticShapeError("predictions must be 2-dimensional")
    if targets.rank not in (None, 1):
        raise errors.StaticShapeError("targets must be 1-dimensional")
    rows = None if predictions.dims is None else predictions.dims[0]
    count = None if targets.dims is None else targets.dims[0]
    if not is_compatible((rows,), (count,)):
        raise errors.StaticShapeError(f"First dimension of predictions {rows} must match length of targets {count}")
    return (rows if count is None else count,)


InTopK.shape(lambda predictions, targets: _in_top_dims(predictions, targets))
InTopKV2.shape(lambda predictions, targets, k: _in_top_dims(predictions, targets))


def _in_top(xp: Any, predictions: Any, targets: Any, k: int) -> Any:
    if predictions.ndim != 2 or targets.shape != predictions.shape[:1]:
        raise ValueError("predictions must be a matrix with one row for each target")
    classes = predictions.shape[1]
    inside = (targets >= 0) & (targets < classes)
    if not classes:
        return xp.zeros(targets.shape, bool)
    if xp is np and classes <= _COUNTED and predictions.dtype is np.dtype("f"):
        return _in_top_of_numbers(predictions, targets, inside, k)
    own = xp.take_along_axis(predictions, xp.where(inside, targets, 0)[:, None], axis=1)
    better = (predictions > own).sum(axis=1)
    return inside & xp.isfinite(predictions).all(axis=1) & (better < k)


_COUNTED = 255
"""Up to so many truths are counted in a byte."""


def _in_top_of_numbers(predictions: np.ndarray, targets: np.ndarray, inside: np.ndarray, k: int) -> np.ndarray:
    """The same in a third of the time: truths are counted in bytes, and one look tells that all is finite."""
    rows, classes = predictions.shape
    at = np.arange(0, rows * classes, classes) + (targets if inside.all() else np.where(inside, targets, 0))
    own = predictions.reshape(-1)[at]
    better = np.einsum("ij->i", (predictions > own[:, None]).view(np.uint8))
    found = better < k
    if not inside.all():
        found &= inside
    if not np.isfinite(predictions).all():
        found &= np.isfinite(predictions).all(axis=1)
    return found


InTopK.kernel(lambda xp, predictions, targets, *, k: _in_top(xp, predictions, targets, k))


@InTopKV2.kernel
def _(xp, predictions, targets, k):
    return _in_top(xp, predictions, targets, int(k))


NthElement = op(
    "NthElement(input:T, n:int32) -> (values:T) | reverse: bool = false; T: reals", facts="portable known=n"
)


@NthElement.shape
def _(input, n):
    if n.rank not in (None, 0):
        raise errors.StaticShapeError(f"N must be scalar but has rank {n.rank}")
    at = scalar_value(n, "n")
    if at is not None and at < 0:
        raise errors.StaticShapeError(f"n must be non-negative but is {at}")
    if input.dims is None:
        return None
    if not input.dims:
        raise errors.StaticShapeError("Input must be at least rank 1 but is rank 0")
    if at is not None and input.dims[-1] is not None and input.dims[-1] <= at:
        raise errors.StaticShapeError(f"Input must have last dimension > n = {at}")
    return input.dims[:-1]


@NthElement.kernel
def _(xp, input, n, *, reverse):
    if n.ndim or not input.ndim or not 0 <= n < input.shape[-1]:
        raise ValueError("n must be a scalar inside the last dimension")
    at = input.shape[-1] - 1 - int(n) if reverse else int(n)
    keys = input.astype(np.float32) if input.dtype.itemsize == 2 and input.dtype.kind not in "iu" else input
    return xp.partition(keys, at, axis=-1)[..., at].astype(input.dtype)


@NthElement.gradient
def _(call, grad):
    chosen = raw.Cast(raw.Equal(raw.ExpandDims(call.values, -1), call.input), DstT=grad.dtype)
    share = raw.ExpandDims(grad, -1) / raw.Sum(chosen, [-1], keep_dims=True)
    return chosen * share, None


# --- searching --------------------------------------------------------------------------------------------------------

_BOUND = "T: type; out_type: index = int32"
LowerBound = op(f"LowerBound(sorted_inputs:T, values:T) -> (output:out_type) | {_BOUND}", gradient=FLAT)
UpperBound = op(f"UpperBound(sorted_inputs:T, values:T) -> (output:out_type) | {_BOUND}", gradient=FLAT)


@UpperBound.shape
@LowerBound.shape
def _(sorted_inputs, values):
    for arg, name in ((sorted_inputs, "sorted_inputs"), (values, "values")):
        if arg.rank not in (None, 2):
            raise errors.StaticShapeError(f"Shape must be rank 2 but is rank {arg.rank} for `{name}` argument")
    if (
        sorted_inputs.dims is not None
        and values.dims is not None
        and not is_compatible(sorted_inputs.dims[:1], values.dims[:1])
    ):
        raise errors.StaticShapeError("Leading dim_size of both tensors must match.")
    return values.dims


def _bound(sorted_inputs: np.ndarray, values: np.ndarray, side: str, out_type: Any) -> np.ndarray:
    if sorted_inputs.ndim != 2 or values.ndim != 2 or len(sorted_inputs) != len(values):
        raise ValueError("sorted_inputs and values must be matrices of as many rows")
    result = np.empty(values.shape, out_type.np)
    for i, (row, wanted) in enumerate(zip(sorted_inputs, values, strict=True)):
        result[i] = np.searchsorted(row, wanted, side)  # type: ignore[call-overload]
    return result


@LowerBound.kernel
def _(xp, sorted_inputs, values, *, out_type):
    return _bound(sorted_inputs, values, "left", out_type)


@UpperBound.kernel
def _(xp, sorted_inputs, values, *, out_type):
    return _bound(sorted_inputs, values, "right", out_type)


Bucketize = op(
    "Bucketize(input:T) -> (output:int32) | T: type in [int32,int64,float,double]; boundaries: list(float)",
    shape=lambda input: input.dims,
    gradient=FLAT,
    facts="portable",
)


@Bucketize.kernel
def _(xp, input, *, boundaries):
    edges = np.array(boundaries, np.float32)
    if (edges[1:] < edges[:-1]).any():
        raise invalid("Expected sorted boundaries")
    return xp.searchsorted(xp.asarray(edges), input, side="right").astype(np.int32)


# --- public -----------------------------------------------------------------------------------------------------------


def top_k(
    input: TensorLike,
    k: TensorLike = 1,
    sorted: bool = True,
    index_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return (values, indices) of the `k` largest elements along the last axis.

    >>> top_k([1, 3, 2], 2).values.numpy().tolist()
    [3, 2]
    """
    return TopKV2(input, k, sorted=sorted, index_type=as_dtype(index_type), name=name)


def in_top_k(targets: TensorLike, predictions: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """Return, for each row of `predictions`, whether its target is among the `k` largest.

    >>> in_top_k([1], [[0.2, 0.8]], 1).numpy().tolist()
    [True]
    """
    with name_scope(name, "in_top_k"):
        return InTopKV2(predictions, targets, k)


def in_top_k_v1(predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """Return, for each row of `predictions`, whether its target is among the `k` largest."""
    return in_top_k(targets, predictions, k, name)


def nth_element(input, n, reverse=False, name=None):
    """Return the n-th smallest (or, reversed, largest) element along the last axis.

    >>> int(nth_element([3, 1, 2], 1))
    2
    """
    return NthElement(input, n, reverse=reverse, name=name)


def sort(values: TensorLike, axis: Axis = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """Return `values` in order along `axis`.

    >>> sort([3, 1, 2]).numpy().tolist()
    [1, 2, 3]
    """
    with name_scope(name, "sort"):
        return _ordered(values, axis, direction, want_values=True)


def argsort(
    values: TensorLike, axis: Axis = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    """Return the indices that put `values` in order along `axis`; equal elements keep their order.

    >>> argsort([3, 1, 2]).numpy().tolist()
    [1, 2, 0]
    """
    with name_scope(name, "argsort"):
        return _ordered(values, axis, direction, want_values=False)


def _ordered(values: Any, axis: Any, direction: str, want_values: bool) -> Any:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"Argument `direction` should be one of ASCENDING, DESCENDING. Received: direction={direction}"
        )
    at = convert(axis, None, None, "axis").constant_value()
    if at is None:
        raise ValueError("tf.sort and tf.argsort need an axis that is known when they are called")
    values = convert(values, None, None, "values")
    at = int(at)
    turns = direction == "ASCENDING"
    result = _from_largest(_turned(values) if turns else values, at, want_values)
    return _turned(result) if turns and want_values else result


def _turned(values: Any) -> Any:
    """Return values in the opposite order: negated, in a way that no integer overflows."""
    kind = values.dtype.base_dtype
    if kind.is_unsigned:
        return raw.Sub(convert(kind.max, kind), values)
    if kind.is_integer:
        return raw.Sub(raw.Neg(values), convert(1, kind))
    return raw.Neg(values)


def _from_largest(values: Any, at: int, want_values: bool) -> Any:
    k = shape(values)[at]
    rank = rank_of(values).constant_value()
    if at == -1 or (rank is not None and at + 1 == rank):
        return TopKV2(values, k)[0 if want_values else 1]
    if rank is None:
        raise ValueError("tf.sort along an inner axis needs values of known rank")
    order = list(range(int(rank)))
    order[at], order[-1] = order[-1], order[at]
    found = TopKV2(raw.Transpose(values, order), k)[0 if want_values else 1]
    return raw.Transpose(found, order)


def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Return where each of `values` would go into the sorted last axis: before equal elements, or behind them.

    >>> searchsorted([1, 3, 5], [0, 3, 6]).numpy().tolist()
    [0, 1, 3]
    """
    if side not in ("left", "right"):
        raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'.")
    sorted_sequence = convert(sorted_sequence)
    values = convert(values, None, sorted_sequence.dtype)
    rows = _as_rows(sorted_sequence)
    wanted = _as_rows(values) if not _empty(values) else values[None]
    chosen = LowerBound if side == "left" else UpperBound
    longest = max((n or 0 for n in rows._dims or ()), default=0)
    kind = dtypes.int64 if longest > _MAX_INT32 else as_dtype(out_type)
    return reshape(chosen(rows, wanted, out_type=kind, name=name), _lengths(values))


_MAX_INT32 = 2**31 - 1


def _lengths(x: Tensor) -> Tensor:
    """Return a tensor's shape, in numbers that it fits into."""
    longest = max((n or 0 for n in x._dims or ()), default=0)
    return shape(x, out_type=dtypes.int64 if longest > _MAX_INT32 else dtypes.int32)


def _as_rows(x: Tensor) -> Tensor:
    return reshape(x, raw.Pack([-1, _lengths(x)[-1]]))


def _empty(x: Any) -> bool:
    return isinstance(x, Tensor) and x._dims == (0,)


def bucketize(input: TensorLike, boundaries: Sequence[float], name: str | None = None) -> Tensor:
    """Return for each number how many boundaries are at or below it.

    >>> bucketize([-5.0, 10.0, 150.0], boundaries=[0, 10, 100]).numpy().tolist()
    [0, 2, 3]
    """
    return Bucketize(input, boundaries=list(boundaries), name=name)
