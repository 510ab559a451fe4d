"""NumPy's functions that make arrays, shape them, join and part them, and pick from them."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Array, Axis, DTypeLike, Nested, TensorLike
from ebbflow.ops.arrays import indexing, joining, padding, reversing, shaping
from ebbflow.ops.arrays import sorting as order_of
from ebbflow.ops.arrays.broadcasting import broadcast_to as spread
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.arrays.creation import identity as copied
from ebbflow.ops.arrays.creation import ones_like as ones_as
from ebbflow.ops.arrays.creation import zeros_like as zeros_as
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.linalg import diag as diagonals
from ebbflow.ops.numpy.promotion import (
    ArrayLike,
    default_float,
    inexact_together,
    result_type,
    tensor,
    together,
)

Dims = Any


def _dims(shape: Any) -> Any:
    if isinstance(shape, (int, np.integer)):
        return [int(shape)]
    scalar = isinstance(shape, (Tensor, np.ndarray)) and len(shape.shape) == 0
    return raw.Reshape(shape, [-1]) if scalar else shape


def _type(dtype: Any, like: Any = None) -> Any:
    """Return the dtype asked for; Python's float is what floats are here."""
    if dtype is float:
        return default_float()
    if dtype is None:
        return None if like is None else like.dtype
    if isinstance(dtype, str) and dtype[1:].isdigit() and dtype[0] in "SU":  # texts of a length, which is not kept
        return dtypes.string
    return dtypes.int64 if dtype is int else dtypes.as_dtype(dtype)


# --- making -----------------------------------------------------------------------------------------------------------


def array(val: ArrayLike, dtype: DTypeLike | None = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Return a tensor of `val`, by NumPy's default types, of at least `ndmin` axes."""
    x = tensor(val, _type(dtype))
    missing = ndmin - (x.shape.rank or 0)
    return shaping.reshape(x, [1] * missing + x.shape.as_list()) if missing > 0 else copied(x) if copy else x


def asarray(a: ArrayLike, dtype: DTypeLike | None = None) -> Tensor:
    """Return a tensor of `a`."""
    return tensor(a, _type(dtype))


asanyarray = asarray


def ascontiguousarray(a: ArrayLike, dtype: DTypeLike | None = None) -> Tensor:
    """Return a tensor of `a`, of at least one axis."""
    return array(a, dtype, ndmin=1)


def copy(a: ArrayLike) -> Tensor:
    """Return a tensor like `a`."""
    return array(a)


def full(shape: Dims, fill_value: ArrayLike, dtype: DTypeLike | None = None) -> Tensor:
    """Return an array of one value."""
    return spread(tensor(fill_value, _type(dtype)), _dims(shape))


def zeros(shape: Dims, dtype: DTypeLike = float) -> Tensor:
    """Return zeros."""
    return full(shape, 0, dtype)


def ones(shape: Dims, dtype: DTypeLike = float) -> Tensor:
    """Return ones."""
    return full(shape, 1, dtype)


empty = zeros


def zeros_like(a: ArrayLike, dtype: DTypeLike | None = None) -> Tensor:
    """Return zeros of `a`'s shape."""
    return zeros_as(tensor(a), _type(dtype))


def ones_like(a: ArrayLike, dtype: DTypeLike | None = None) -> Tensor:
    """Return ones of `a`'s shape."""
    return ones_as(tensor(a), _type(dtype))


empty_like = zeros_like


def full_like(
    a: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike | None = None, order: str = "K", subok: bool = True,
    shape: Dims = None,
) -> Tensor:  # fmt: skip
    """Return one value in `a`'s shape."""
    if order != "K" or not subok or shape is not None:
        raise ValueError("full_like: order must be 'K', subok True and shape None")
    x = tensor(a)
    return spread(cast(tensor(fill_value), _type(dtype, x)), shaping.shape(x))


def arange(start: AnyTensor, stop: AnyTensor = None, step: AnyTensor = 1, dtype: DTypeLike | None = None) -> Tensor:
    """Return the numbers from `start` to before `stop`, `step` apart."""
    if not step:
        raise ValueError("step must be non-zero")
    start, stop = (0, start) if stop is None else (start, stop)
    wanted = _type(dtype) or result_type(start, stop, step)
    if stop < start if step > 0 else stop > start:
        return constant([], wanted)
    return raw.Range(*[tensor(x, wanted) for x in (start, stop, step)])


def linspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: DTypeLike = float, axis: int = 0,
) -> AnyTensor:  # fmt: skip
    """Return `num` numbers evenly from `start` to `stop`."""
    first, last = inexact_together(start, stop)
    if dtype not in (None, float):
        first, last = (cast(x, dtypes.float64 if _type(dtype).is_integer else _type(dtype)) for x in (first, last))
    parts = builtins.max(num - 1 if endpoint else num, 1)
    step = (last - first) / parts
    places = cast(raw.Range(0, num, 1), first.dtype)
    rank = step.shape.rank or 0
    answer = first + step * shaping.reshape(places, [-1] + [1] * rank)
    answer = answer if not axis else moveaxis(answer, 0, axis)
    answer = cast(answer, _type(dtype)) if dtype is not None else answer
    return (answer, step) if retstep else answer


def logspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, base: float = 10.0,
    dtype: DTypeLike | None = None, axis: int = 0,
) -> Tensor:  # fmt: skip
    """Return powers of `base` whose exponents go evenly from `start` to `stop`."""
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    answer = raw.Pow(convert(base, exponents.dtype), exponents)
    return answer if dtype is None else cast(answer, _type(dtype))


def geomspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Tensor:  # fmt: skip
    """Return `num` numbers from `start` to `stop`, each the same multiple of the one before."""
    first, last = inexact_together(start, stop)
    logs = linspace(raw.Log(raw.Abs(first)), raw.Log(raw.Abs(last)), num, endpoint, axis=axis)
    answer = cast(raw.Sign(first), logs.dtype) * raw.Exp(logs)
    return answer if dtype is None else cast(answer, _type(dtype))


def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float) -> Tensor:
    """Return ones on the k-th diagonal."""
    return constant(np.eye(N, M, k), _type(dtype))


def identity(n: int, dtype: DTypeLike = float) -> Tensor:
    """Return ones on the diagonal of a square."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Tensor:
    """Return ones on and below the k-th diagonal."""
    return constant(np.tri(N, M, k), _type(dtype) or default_float())


def _band(m: Any, k: int, lower: bool) -> Any:
    x = tensor(m)
    rows, columns = x.shape.as_list()[-2:]
    kept = np.tri(rows, columns, k if lower else k - 1, np.bool_)
    return raw.SelectV2(kept if lower else ~kept, x, zeros_as(x))


def tril(m: ArrayLike, k: int = 0) -> Tensor:
    """Return what lies on and below the k-th diagonal."""
    return _band(m, k, True)


def triu(m: ArrayLike, k: int = 0) -> Tensor:
    """Return what lies on and above the k-th diagonal."""
    return _band(m, k, False)


def diag(v: ArrayLike, k: int = 0) -> Tensor:
    """Return a matrix with this k-th diagonal, or the k-th diagonal of a matrix."""
    x = tensor(v)
    if x.shape.rank == 1:
        return diagonals.diag(x, k=k)
    if x.shape.rank != 2:
        raise ValueError("Input must be 1- or 2-d.")
    return diagonal(x, k)


def diagflat(v: ArrayLike, k: int = 0) -> Tensor:
    """Return a matrix whose k-th diagonal is all of `v`."""
    return diagonals.diag(shaping.reshape(tensor(v), [-1]), k=k)


def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return a diagonal of the matrices of two axes."""
    x = moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = x.shape.as_list()[-2:]
    length = builtins.max(
        builtins.min(rows, columns - offset) if offset >= 0 else builtins.min(rows + offset, columns), 0
    )
    places = [(i - builtins.min(offset, 0)) * columns + i + builtins.max(offset, 0) for i in range(length)]
    flat = shaping.reshape(x, [*x.shape.as_list()[:-2], rows * columns])
    return indexing.gather(flat, np.asarray(places, np.int32), axis=-1)


def diag_indices(n: int, ndim: int = 2) -> Nested:
    """Return the indices of a diagonal, an array an axis."""
    return (arange(n),) * ndim


def trace(
    a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None
) -> Tensor:  # fmt: skip
    """Return the sum of a diagonal."""
    x = diagonal(a, offset, axis1, axis2)
    return raw.Sum(x if dtype is None else cast(x, _type(dtype)), [-1])


def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the powers of x, a column each."""
    x = tensor(x)
    count = x.shape[0] if N is None else N
    powers = list(range(count)) if increasing else list(range(count - 1, -1, -1))
    return raw.Pow(shaping.expand_dims(x, -1), convert(powers, x.dtype))


def meshgrid(*xi: Any, **kwargs: Any) -> Nested:
    """Return the coordinates of a grid."""
    unknown = set(kwargs) - {"sparse", "copy", "indexing"}
    if unknown or not kwargs.get("copy", True) or kwargs.get("sparse", False):
        raise ValueError("meshgrid doesn't support setting copy to False or sparse to True")
    return indexing.meshgrid(*[tensor(x) for x in xi], indexing=kwargs.get("indexing", "xy"))


def ix_(*args: Any) -> list[Any]:
    """Return each vector along an axis of its own, so that together they index a grid."""
    vectors = []
    for i, a in enumerate(args):
        x = tensor(a)
        if x.shape.rank != 1:
            raise ValueError(f"Arguments must be 1-d, got arg {i} of rank {x.shape.rank}")
        x = shaping.reshape(raw.Where(x), [-1]) if x.dtype == dtypes.bool else x
        vectors.append(shaping.reshape(x, [-1 if j == i else 1 for j in range(len(args))]))
    return vectors


# --- shapes -----------------------------------------------------------------------------------------------------------


def shape(a: ArrayLike) -> Nested:
    """Return the lengths of the axes."""
    x = tensor(a)
    return x.shape if x.shape.is_fully_defined() else shaping.shape(x)


def ndim(a: ArrayLike) -> Tensor:
    """Return the number of axes."""
    return tensor(a).shape.rank


def size(x: ArrayLike, axis: int | None = None) -> Tensor:
    """Return how many entries there are."""
    if axis is not None:
        raise NotImplementedError("axis argument is not supported in the current `np.size` implementation")
    return cast(raw.Size(tensor(x)), dtypes.int64)


def reshape(a: ArrayLike, newshape: AnyTensor, order: str = "C") -> Tensor:
    """Return the entries in another shape; order "F" lets the first axis change fastest."""
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order!r}: 'C' or 'F'")
    x = tensor(a)
    wanted = [int(newshape)] if isinstance(newshape, (int, np.integer)) else newshape
    if order == "C":
        return shaping.reshape(x, wanted)
    return transpose(shaping.reshape(transpose(x), list(wanted)[::-1]))


def ravel(a: ArrayLike) -> Tensor:
    """Return the entries in one row."""
    return shaping.reshape(tensor(a), [-1])


def flatten(a: ArrayLike, order: str = "C") -> Tensor:
    """Return the entries in one row; order "F" lets the first axis change fastest."""
    return reshape(a, -1, "C" if order in ("A", "K") else order)


def transpose(a: ArrayLike, axes: Axis = None) -> Tensor:
    """Return the axes in another order, or backwards."""
    return shaping.transpose(tensor(a), axes)


def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Tensor:
    """Return two axes in each other's place."""
    x = tensor(a)
    order = list(range(x.shape.rank))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return shaping.transpose(x, order)


def moveaxis(a: ArrayLike, source: Nested, destination: AnyTensor) -> Tensor:
    """Return axes moved to other places."""
    x = tensor(a)
    rank = x.shape.rank
    old = [int(i) % rank for i in np.atleast_1d(source)]
    new = [int(i) % rank for i in np.atleast_1d(destination)]
    order = [i for i in range(rank) if i not in old]
    for place, axis in sorted(zip(new, old, strict=True)):
        order.insert(place, axis)
    return x if order == list(range(rank)) else shaping.transpose(x, order)


def expand_dims(a: ArrayLike, axis: int) -> Tensor:
    """Return `a` with an axis of length one."""
    return shaping.expand_dims(tensor(a), axis)


def squeeze(a: ArrayLike, axis: Axis = None) -> Tensor:
    """Return `a` without axes of length one."""
    return shaping.squeeze(tensor(a), axis)


def _at_least(arrays: Any, rank: int) -> Any:
    answers = []
    for a in arrays:
        x = tensor(a)
        dims = x.shape.as_list()
        if len(dims) < rank:
            padded = {1: [1], 2: [1, *dims] if dims else [1, 1], 3: [1, *dims, 1] if len(dims) < 2 else [*dims, 1]}[
                rank
            ]
            x = shaping.reshape(x, padded if dims else [1] * rank)
        answers.append(x)
    return answers[0] if len(answers) == 1 else answers


def atleast_1d(*arys: Any) -> Tensor:
    """Return each with one axis at least."""
    return _at_least(arys, 1)


def atleast_2d(*arys: Any) -> Tensor:
    """Return each with two axes at least."""
    return _at_least(arys, 2)


def atleast_3d(*arys: Any) -> Tensor:
    """Return each with three axes at least."""
    return _at_least(arys, 3)


def broadcast_to(array: ArrayLike, shape: Dims) -> Tensor:
    """Return `array` repeated to a larger shape."""
    return full(shape, array)


def broadcast_arrays(*args: Any, **kwargs: Any) -> list[Any]:
    """Return all in the shape they have together."""
    if kwargs.pop("subok", False) or kwargs:
        raise ValueError("broadcast_arrays takes arrays, and subok=False")
    xs = [tensor(a) for a in args]
    dims = np.broadcast_shapes(*[tuple(x.shape.as_list()) for x in xs])
    return [spread(x, list(dims)) for x in xs]


def flip(m: ArrayLike, axis: Axis = None) -> Tensor:
    """Return the entries backwards along one axis or all."""
    x = tensor(m)
    axes = list(range(x.shape.rank)) if axis is None else [int(i) for i in np.atleast_1d(np.asarray(axis))]
    return reversing.reverse(x, axes)


def flipud(m: ArrayLike) -> Tensor:
    """Return the rows backwards."""
    return flip(m, 0)


def fliplr(m: ArrayLike) -> Tensor:
    """Return the columns backwards."""
    return flip(m, 1)


def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Tensor:
    """Return the plane of two axes turned by k quarters."""
    x, (first, second) = tensor(m), axes
    turns = {0: lambda: x, 1: lambda: swapaxes(flip(x, second), first, second),
             2: lambda: flip(x, (first, second)), 3: lambda: flip(swapaxes(x, first, second), second)}  # fmt: skip
    return turns[k % 4]()


def roll(a: ArrayLike, shift: AnyTensor, axis: Axis = None) -> Tensor:
    """Return the entries moved along, what falls off one end coming in at the other."""
    x = tensor(a)
    if axis is None:
        return shaping.reshape(raw.Roll(shaping.reshape(x, [-1]), [shift], [0]), shaping.shape(x))
    return raw.Roll(x, [int(s) for s in np.atleast_1d(shift)], [int(i) for i in np.atleast_1d(np.asarray(axis))])


# --- joining, parting, repeating --------------------------------------------------------------------------------------


def concatenate(arys: Sequence[Any], axis: int | None = 0) -> Tensor:
    """Return arrays one after the other."""
    xs = together(*arys)
    return joining.concat([ravel(x) for x in xs], 0) if axis is None else joining.concat(xs, axis)


def stack(arrays: Sequence[Any], axis: int = 0) -> Tensor:
    """Return arrays along a new axis."""
    return joining.stack(together(*arrays), axis)


def vstack(tup: Sequence[Any]) -> Tensor:
    """Return arrays below each other."""
    return joining.concat([atleast_2d(x) for x in together(*tup)], 0)


def hstack(tup: Sequence[Any]) -> Tensor:
    """Return arrays beside each other."""
    xs = [atleast_1d(x) for x in together(*tup)]
    return joining.concat(xs, 0 if xs[0].shape.rank == 1 else 1)


def dstack(tup: Sequence[Any]) -> Tensor:
    """Return arrays behind each other."""
    return joining.concat([atleast_3d(x) for x in together(*tup)], 2)


def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Tensor:
    """Return `values` behind `arr`."""
    return concatenate([tensor(arr), tensor(values)], axis)


def split(ary: ArrayLike, indices_or_sections: int | Sequence[int], axis: int = 0) -> Nested:
    """Return parts along an axis: so many of equal length, or cut before these indices."""
    x = tensor(ary)
    if isinstance(indices_or_sections, (int, np.integer)):
        return joining.split(x, int(indices_or_sections), axis)
    length = x.shape[axis]
    cuts = [0, *[builtins.min(int(i), length) for i in indices_or_sections], length]
    return joining.split(x, [builtins.max(b - a, 0) for a, b in itertools.pairwise(cuts)], axis)


def vsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int]) -> Nested:
    """Return parts of the first axis."""
    return split(ary, indices_or_sections, 0)


def hsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int]) -> Nested:
    """Return parts of the second axis, or of the only one."""
    return split(ary, indices_or_sections, 0 if tensor(ary).shape.rank == 1 else 1)


def dsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int]) -> Nested:
    """Return parts of the third axis."""
    return split(ary, indices_or_sections, 2)


def tile(a: ArrayLike, reps: AnyTensor) -> Tensor:
    """Return `a` repeated whole, so often along each axis."""
    x, counts = tensor(a), [int(n) for n in np.atleast_1d(reps)]
    rank = builtins.max(x.shape.rank, len(counts))
    x = shaping.reshape(x, [1] * (rank - x.shape.rank) + x.shape.as_list())
    return padding.tile(x, [1] * (rank - len(counts)) + counts)


def repeat(a: ArrayLike, repeats: TensorLike, axis: int | None = None) -> Tensor:
    """Return each entry repeated."""
    x = tensor(a)
    return padding.repeat(x, repeats, axis)


def pad(array: ArrayLike, pad_width: TensorLike, mode: str, **kwargs: Any) -> Tensor:
    """Return `array` with a border: of a constant, or of its own entries reflected."""
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}")
    x = tensor(array)
    widths = np.broadcast_to(np.asarray(pad_width), (x.shape.rank, 2)).tolist()
    return padding.pad(x, widths, mode, kwargs.get("constant_values", 0))


# --- picking ----------------------------------------------------------------------------------------------------------


def take(
    a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: Array | None = None, mode: str = "clip"
) -> Tensor:
    """Return the entries of these indices along an axis; what is out of range is clipped, or wraps."""
    if out is not None:
        raise ValueError("out argument is not supported in take.")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"Invalid mode '{mode}' for take")
    x = ravel(a) if axis is None else tensor(a)
    axis = 0 if axis is None else axis
    places, length = tensor(indices), cast(shaping.shape(x)[axis], tensor(indices).dtype)
    if mode == "wrap":
        places = raw.FloorMod(places, length)
    elif mode == "clip":
        places = raw.Maximum(raw.Minimum(places, length - 1), zeros_as(places))
    return indexing.gather(x, places, axis=axis)


def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None) -> Tensor:
    """Return, row by row, the entries of the indices of that row."""
    x, places = tensor(arr), tensor(indices)
    if axis is None:
        return indexing.gather(ravel(x), ravel(places))
    rank = x.shape.rank
    x, places = moveaxis(x, axis, -1), moveaxis(places, axis, -1)
    dims = np.broadcast_shapes(tuple(x.shape.as_list()[:-1]), tuple(places.shape.as_list()[:-1]))
    x = spread(x, [*dims, x.shape[-1]])
    places = spread(places, [*dims, places.shape[-1]])
    length = cast(x.shape[-1], places.dtype)
    picked = indexing.batch_gather(x, raw.SelectV2(places < 0, places + length, places))
    return moveaxis(picked, rank - 1, axis)


def compress(condition: ArrayLike, a: ArrayLike, axis: int | None = None) -> Tensor:
    """Return the slices along an axis where the condition holds."""
    x = ravel(a) if axis is None else tensor(a)
    kept = shaping.reshape(raw.Where(tensor(condition, dtypes.bool)), [-1])
    return indexing.gather(x, kept, axis=0 if axis is None else axis)


def nonzero(a: ArrayLike) -> Nested:
    """Return the indices of what is not zero, an array an axis."""
    x = atleast_1d(a)
    found = raw.Where(x if x.dtype == dtypes.bool else raw.NotEqual(x, zeros_as(x)))
    return raw.Unpack(shaping.transpose(found), num=x.shape.rank)


def sort(a: ArrayLike, axis: int | None = -1, kind: str = "quicksort", order: object | None = None) -> Tensor:
    """Return the entries in order along an axis."""
    if order is not None:
        raise ValueError("'order' argument to sort is not supported.")
    x = tensor(a)
    return order_of.sort(ravel(x), 0) if axis is None else order_of.sort(x, axis)


def argsort(a: ArrayLike, axis: int | None = -1, kind: str = "quicksort", order: object | None = None) -> Tensor:
    """Return the indices that put the entries in order."""
    if kind not in ("quicksort", "stable"):
        raise ValueError(f"Invalid value for argument kind: {kind!r}; 'quicksort' or 'stable'")
    if order is not None:
        raise ValueError("'order' argument to sort is not supported.")
    x = tensor(a)
    x = cast(x, dtypes.int32) if x.dtype == dtypes.bool else x
    x = ravel(x) if x.shape.rank == 0 else x
    places = order_of.argsort(ravel(x) if axis is None else x, 0 if axis is None else axis, stable=kind == "stable")
    return cast(places, dtypes.int64)


def isscalar(num: TensorLike) -> bool:
    """Return whether it is a single number."""
    if hasattr(num, "shape") and not isinstance(num, np.generic):
        return num.shape.rank == 0 if hasattr(num.shape, "rank") else False
    return np.isscalar(num)
