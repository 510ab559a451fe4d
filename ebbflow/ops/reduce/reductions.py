"""Reductions: a tensor folded along some of its axes, into a sum, a mean, a product, the largest, or whether all hold.

All take the axes as a tensor, wrapped from the back when negative, and may keep them with length 1. 16-bit floats are
added up in float32. The public functions come in two signatures, TF 2's and (`…_v1`) TF 1's. Reductions that keep every
partial result are in `scan`, those by segment ids in `segment`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert, operand
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.op import Known, Op, op, record
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dims
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor, Tensor, _new, ndarray
from ebbflow.core.typing import Axis, DTypeLike, TensorLike
from ebbflow.ops import tf1_gradients
from ebbflow.ops.arrays.shaping import rank
from ebbflow.ops.declare import FLAT, axes_tensor, dense, raw
from ebbflow.ops.reduce.fold_loops import MANY, WIDEST, along_rows, folded, row_any
from ebbflow.ops.sizes import int_vector, is_static, shape_of

# --- shapes and axes --------------------------------------------------------------------------------------------------


def reduced_dims(input: Known, reduction_indices: Known, *, keep_dims: bool) -> Dims:
    """The input's dims without the axes folded, or with 1 in their place."""
    dims, given = input.dims, reduction_indices.value
    if reduction_indices.dims is not None and len(reduction_indices.dims) > 1:
        raise errors.StaticShapeError(f"Shape must be at most rank 1 but is rank {len(reduction_indices.dims)}")
    if dims is None:
        return None
    if given is None:
        none_folded = reduction_indices.dims is not None and 0 in reduction_indices.dims
        return dims if none_folded else (None,) * len(dims) if keep_dims else None
    folded = checked_axes(given, len(dims))
    if keep_dims:
        return tuple(1 if axis in folded else n for axis, n in enumerate(dims))
    return tuple(n for axis, n in enumerate(dims) if axis not in folded)


def checked_axes(given: Any, rank: int) -> set[int]:
    """Return the axes counted from the front; refuse one out of range or named twice."""
    folded: set[int] = set()
    for axis in given.reshape(-1).tolist():
        if not -rank <= axis < rank:
            raise errors.StaticShapeError(f"Invalid reduction dimension {axis} for input with {rank} dimension(s)")
        if axis % rank in folded:
            raise errors.StaticShapeError(
                f"Invalid reduction arguments: Axes contains duplicate dimension: {axis % rank}"
            )
        folded.add(axis % rank)
    return folded


def axis_tuple(indices: Any) -> tuple[int, ...]:
    """Return an array of axes as array functions take them."""
    return tuple(indices.reshape(-1).tolist())


def is_narrow(dtype: Any) -> bool:
    """Return whether an array's dtype is a 16-bit float, which is added up in float32."""
    return dtype.itemsize == 2 and dtype.kind not in "iu"


# --- array functions --------------------------------------------------------------------------------------------------


def _summed(xp: Any, x: Any, axes: Any, keep: bool) -> Any:
    dtype = x.dtype
    if is_narrow(dtype):
        return _summed(xp, x.astype(np.float32), axes, keep).astype(dtype)
    if xp is np:
        if x.size >= MANY and (total := folded(np.add.reduce, x, axes, keep)) is not None:
            return total
        return np.add.reduce(x, axes, dtype, None, keep)  # type: ignore[call-overload]
    return xp.sum(x, axis=axes, dtype=dtype, keepdims=keep)


def _averaged(xp: Any, x: Any, axes: Any, keep: bool) -> Any:
    dtype = x.dtype
    if is_narrow(dtype):
        return _averaged(xp, x.astype(np.float32), axes, keep).astype(dtype)
    whole = dtype.kind in "iu"
    total = _summed(xp, x.astype(dtype.kind + "8") if whole else x, axes, keep)
    count = x.size // total.size if total.size else math.prod(x.shape[a] for a in axes)
    if not whole:
        return total / total.dtype.type(count)
    count = total.dtype.type(max(count, 1))
    return ((total - xp.fmod(total, count)) // count).astype(dtype)  # C's division, which rounds toward 0


def _quick_mean(x: Any, axis: Any, dtype: Any, out: None, keep: bool) -> Any:
    """Average as above, in the form of NumPy's own reductions."""
    if dtype.kind in "iu" or not x.size:
        return _averaged(np, x, _as_tuple(axis, x.ndim), keep)
    total = folded(np.add.reduce, x, axis, keep) if x.size >= MANY else None
    if total is None:
        total = np.add.reduce(x, axis, dtype, None, keep)  # type: ignore[call-overload]
    count = x.size // total.size
    return total / count if total.__class__ is not ndarray else np.divide(total, np.array(count, dtype), total)


def _multiplied(xp: Any, x: Any, axes: Any, keep: bool) -> Any:
    dtype = x.dtype
    if is_narrow(dtype):
        return _multiplied(xp, x.astype(np.float32), axes, keep).astype(dtype)
    if xp is np:
        return np.multiply.reduce(x, axes, dtype, None, keep)  # type: ignore[call-overload]
    return xp.prod(x, axis=axes, dtype=dtype, keepdims=keep)


def lowest(dtype: Any) -> Any:
    """Return the number below all others that an array's dtype holds."""
    return dtype.type(np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf)


def highest(dtype: Any) -> Any:
    """Return the number above all others that an array's dtype holds."""
    return dtype.type(np.iinfo(dtype).max if dtype.kind in "iu" else np.inf)


def _largest(xp: Any, x: Any, axes: Any, keep: bool) -> Any:
    if x.size:
        return np.maximum.reduce(x, axes, None, None, keep) if xp is np else xp.max(x, axis=axes, keepdims=keep)  # type: ignore[call-overload]
    return xp.max(x, axis=axes, keepdims=keep, initial=lowest(x.dtype))


def _smallest(xp: Any, x: Any, axes: Any, keep: bool) -> Any:
    if x.size:
        return np.minimum.reduce(x, axes, None, None, keep) if xp is np else xp.min(x, axis=axes, keepdims=keep)  # type: ignore[call-overload]
    return xp.min(x, axis=axes, keepdims=keep, initial=highest(x.dtype))


def _one_of_them(xp: Any, x: Any, axes: Any, keep: bool) -> Any:
    if xp is np and x.size >= MANY and axes in ((-1,), (x.ndim - 1,)) and 0 < x.shape[-1] <= WIDEST:
        result = along_rows(row_any, x, keep, np.bool_) if x.flags.c_contiguous else None
        if result is not None:
            return result
    return xp.any(x, axis=axes, keepdims=keep)


def _length(xp: Any, x: Any, axes: Any, keep: bool) -> Any:
    dtype = x.dtype
    if is_narrow(dtype):
        return _length(xp, x.astype(np.float32), axes, keep).astype(dtype)
    squares = x * xp.conj(x) if dtype.kind == "c" else xp.square(x)
    return xp.sqrt(_summed(xp, squares, axes, keep)).astype(dtype)


_EVERY = [tuple(range(rank)) for rank in range(65)]


def _as_tuple(axis: Any, rank: int) -> tuple[int, ...]:
    return _EVERY[rank] if axis is None else (axis,) if axis.__class__ is int else axis


# --- the ops ----------------------------------------------------------------------------------------------------------


def reduction(
    name: str, types: str, fold: Callable[..., Any], gradient: Any, quick: Any = None, facts: str = "fresh folds static"
) -> Op:
    """Declare a reduction: `fold(xp, x, axes, keep)` is its array function.

    `quick(x, axes, dtype, None, keep)` is a NumPy reduction that does the same for all but 16-bit floats.
    """
    typed = f"T: {types}; " if types else ""
    kind = "T" if types else "bool"
    declared = op(
        f"{name}(input:{kind}, reduction_indices:Tidx) -> (output:{kind}) | keep_dims: bool = false; {typed}"
        "Tidx: index = int32",
        f"{facts} portable known=reduction_indices",
        shape=reduced_dims,
        gradient=gradient,
    )

    @declared.kernel
    def _(xp, input, reduction_indices, *, keep_dims):
        return fold(xp, input, axis_tuple(reduction_indices), keep_dims)

    declared.quick = quick or (  # type: ignore[attr-defined]
        lambda x, axis, dtype, out, keep: fold(np, x, _as_tuple(axis, x.ndim), keep)
    )
    return declared


def known_axes(x: Any, indices: Any) -> tuple[int, ...] | None:
    """Return the axes folded, in order, where rank and axes are known beforehand."""
    if x._dims is None:
        return None
    value = indices.constant_value()
    rank = len(x._dims)
    return None if value is None else tuple(sorted(axis % rank for axis in axis_tuple(value)))


def put_back(call: Any, tensor: Any) -> Any:
    """Return a tensor of the output's shape with the folded axes back as axes of length 1 (a scalar as it is)."""
    if call.attrs["keep_dims"] or tensor._dims == ():
        return tensor
    x, indices = call.inputs
    axes = known_axes(x, indices)
    if axes is None:
        return raw.Reshape(tensor, _kept_shape(x, indices))
    if is_static(x):
        return raw.Reshape(tensor, int_vector([1 if a in axes else n for a, n in enumerate(x._dims)], tensor))
    for axis in axes:
        tensor = raw.ExpandDims(tensor, axis)
    return tensor


def _kept_shape(x: Any, indices: Any) -> Any:
    """Return, when running, the shape of `x` with 1 in place of the folded axes."""
    shape = raw.Shape(x)
    numbers = raw.ExpandDims(raw.Range(0, raw.Rank(x), 1), 1)
    folded = raw.Any(raw.Equal(numbers, _front_axes(x, indices)), [1])
    return raw.SelectV2(folded, 1, shape)


def _front_axes(x: Any, indices: Any) -> Any:
    rank = raw.Rank(x)
    return raw.FloorMod(raw.Reshape(raw.Cast(indices, DstT=dtypes.int32), [-1]) + rank, rank)


def _sum_gradient(call: Any, grad: Any) -> Any:
    x = call.inputs[0]
    spread = put_back(call, dense(grad))
    return (spread if is_static(x) and spread._dims == x._dims else raw.BroadcastTo(spread, shape_of(x))), None


def _mean_gradient(call: Any, grad: Any) -> Any:
    x, y = call.inputs[0], call.outputs[0]
    if is_static(x) and is_static(y):
        count: Any = float(math.prod(x._dims) // max(math.prod(y._dims), 1))
    else:
        count = raw.Cast(raw.FloorDiv(raw.Size(x), raw.Maximum(raw.Size(y), 1)), DstT=x.dtype.base_dtype)
    return _sum_gradient(call, dense(grad) / count)


def _prod_gradient(call: Any, grad: Any) -> Any:
    x, indices = call.inputs
    others = _product_of_others(x, indices, call.outputs[0])
    return put_back(call, dense(grad)) * (raw.Conj(others) if x.dtype.is_complex else others), None


def _product_of_others(x: Any, indices: Any, product: Any) -> Any:
    """Return for each element the product of all that are folded with it; dividing by it would fail at a zero."""
    axes = known_axes(x, indices)
    if axes is not None:
        others = None
        for axis in reversed(axes):
            beside = _all_but_one(x, axis)
            others = beside if others is None else others * beside
            x = raw.Prod(x, [axis], keep_dims=True)
        return raw.OnesLike(x) if others is None else others
    if product._dims == ():
        return raw.Reshape(_all_but_one(raw.Reshape(x, [-1]), 0), raw.Shape(x))
    folded = _front_axes(x, indices)
    kept = raw.ListDiff(raw.Range(0, raw.Rank(x), 1), folded, out_idx=dtypes.int32)[0]
    order = raw.ConcatV2([folded, kept], 0)
    first = raw.Transpose(x, order)
    counts = [raw.Prod(raw.GatherV2(raw.Shape(x), axes, 0), [0]) for axes in (folded, kept)]
    others = raw.Reshape(_all_but_one(raw.Reshape(first, raw.Pack(counts)), 0), raw.Shape(first))
    return raw.Transpose(others, raw.InvertPermutation(order))


def _all_but_one(x: Any, axis: int) -> Any:
    before = raw.Cumprod(x, axis, exclusive=True)
    return before * raw.Cumprod(x, axis, exclusive=True, reverse=True)


def _extreme_gradient(call: Any, grad: Any) -> Any:
    x, indices = call.inputs
    chosen = raw.Cast(raw.Equal(x, put_back(call, call.outputs[0])), DstT=x.dtype.base_dtype)
    count = raw.Sum(chosen, indices, keep_dims=True)
    return chosen / count * put_back(call, dense(grad)), None  # equal extremes share it


def _length_gradient(call: Any, grad: Any) -> Any:
    return call.inputs[0] / (put_back(call, call.outputs[0]) / put_back(call, dense(grad))), None


ORDERED = "reals,quantized"


def _spread(call: Any, grad: Any) -> Any:
    return tf1_gradients.spread(call, dense(grad)), None


def _spread_mean(call: Any, grad: Any) -> Any:
    divisor = call.inputs[0], call.outputs[0]
    return tf1_gradients.spread(call, dense(grad)) / tf1_gradients.mean_divisor(*divisor), None


def _spread_extreme(call: Any, grad: Any) -> Any:
    return tf1_gradients.share_of_extremes(call, dense(grad)), None


Sum = reduction("Sum", "numbers", _summed, _sum_gradient, np.add.reduce)
Mean = reduction("Mean", "numbers", _averaged, _mean_gradient, _quick_mean)
Prod = reduction("Prod", "numbers", _multiplied, _prod_gradient, np.multiply.reduce)
Max = reduction("Max", f"type in [{ORDERED}]", _largest, _extreme_gradient, np.maximum.reduce)
Min = reduction("Min", f"type in [{ORDERED}]", _smallest, _extreme_gradient, np.minimum.reduce)
All = reduction("All", "", lambda xp, x, axes, keep: xp.all(x, axis=axes, keepdims=keep), FLAT, facts="fresh")
Any_ = reduction("Any", "", _one_of_them, FLAT, facts="fresh")
EuclideanNorm = reduction("EuclideanNorm", "numbers", _length, _length_gradient, facts="")

Sum.gradient_by_name(_spread)
Mean.gradient_by_name(_spread_mean)
Max.gradient_by_name(_spread_extreme)
Min.gradient_by_name(_spread_extreme)

# --- public functions -------------------------------------------------------------------------------------------------


def _reducer(op: Op, name: str, doc: str) -> Callable[..., Any]:
    """Return the public function of a reduction, which over plain axes of an eager tensor is quick."""
    quick, engines, learnt = op.quick, op.engines, set()  # type: ignore[attr-defined]

    def large(x: Any, axis: Any, dtype: Any, out: None, keep: bool) -> Any:
        result = folded(quick, x, axis, keep)
        return quick(x, axis, dtype, out, keep) if result is None else result

    def function(
        input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
    ) -> Tensor:
        if input_tensor.__class__ is EagerTensor and not context.graph_scopes and not engines:
            dtype = input_tensor._dtype
            if dtype in learnt and (axis is None or axis.__class__ is int or axis.__class__ is tuple):
                array = input_tensor._array
                try:
                    value = (quick if array.size < MANY else large)(array, axis, dtype.np, None, keepdims)
                except Exception:  # the long way explains it
                    return _reduce(op, input_tensor, axis, keepdims, name)
                result = _new(EagerTensor)
                result._array = value if value.__class__ is ndarray else np.asarray(value, dtype.np)
                result._dtype = dtype
                if context.recorders:
                    axes = _as_tuple(axis, array.ndim)
                    attrs = {"T": dtype, "Tidx": dtypes.int32, "keep_dims": bool(keepdims)}
                    record(op, (input_tensor, axes_tensor(axes)), (result,), attrs)
                return result
        result = _reduce(op, input_tensor, axis, keepdims, name)
        if result.__class__ is EagerTensor is input_tensor.__class__ and not is_narrow(result._dtype.np):
            learnt.add(result._dtype)
        return result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.op, op.function = op, function  # type: ignore[attr-defined]
    return function


def _reduce(op: Op, x: Any, axis: Any, keepdims: Any, name: Any) -> Any:
    if isinstance(x, IndexedSlices):
        x = dense(x)
    elif hasattr(type(x), "_as_operand"):
        x = operand(x)
    if isinstance(x, CompositeTensor):  # a ragged tensor knows how
        return x._reduce(op, axis, keepdims)  # type: ignore[attr-defined]
    if axis.__class__ is list and not axis and not context.executing_eagerly() and not context.switches.tf1:
        with name_scope(name, op.name, [x]) as scope:
            convert(axis, name="reduction_indices")  # TensorFlow 2 leaves an empty list in the graph as floats, too
            return op(x, np.zeros(0, np.int32), keep_dims=bool(keepdims), name=scope)
    result = op(x, all_axes_or(x, axis), keep_dims=bool(keepdims), name=name or op.name)
    if axis is None and not keepdims and result._dims is None:
        result.set_shape(())
    return result


def all_axes_or(x: Any, axis: Any) -> Any:
    """Return `axis`, or where it is None all axes of `x`: a constant where the rank is known."""
    if axis is not None:
        return axis
    if context.executing_eagerly():
        x = x if isinstance(x, Tensor) else convert(x)
    if isinstance(x, Tensor) and x._dims is not None:
        return convert(np.arange(len(x._dims), dtype=np.int32))
    return raw.Range(0, rank(x), 1, name="range")


def _v1(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reduction with TensorFlow 1's arguments."""

    def function_v1(
        input_tensor: TensorLike,
        axis: Axis = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Axis = None,
        keep_dims: bool | None = None,
    ) -> Tensor:
        axis = one_of("axis", axis, "reduction_indices", reduction_indices)
        keepdims = one_of("keepdims", keepdims, "keep_dims", keep_dims)
        return function(input_tensor, axis, keepdims is not None and keepdims, name)

    function_v1.__name__, function_v1.__qualname__ = function.__name__, f"{function.__name__}_v1"
    summary = (function.__doc__ or "").partition("\n")[0]
    function_v1.__doc__ = f"{summary} (`reduction_indices` and `keep_dims` are older names of the arguments.)"
    return function_v1


def one_of(name: str, value: Any, old_name: str, old_value: Any) -> Any:
    """Return an argument that may come under its older name, but not under both."""
    if old_value is None:
        return value
    if value is not None:
        raise ValueError(f"Cannot specify both '{name}' and '{old_name}'.")
    return old_value


reduce_sum = _reducer(
    Sum,
    "reduce_sum",
    "Return the sum over `axis` (all axes where it is None)."
    "\n\n>>> reduce_sum([[1, 2], [3, 4]], 0).numpy().tolist()\n[4, 6]",
)
reduce_mean = _reducer(
    Mean,
    "reduce_mean",
    "Return the mean over `axis` (all axes where it is None)."
    "\n\n>>> reduce_mean([[1.0, 2.0], [3.0, 4.0]], 1).numpy().tolist()\n[1.5, 3.5]",
)
reduce_prod = _reducer(
    Prod,
    "reduce_prod",
    "Return the product over `axis` (all axes where it is None)."
    "\n\n>>> reduce_prod([[1, 2], [3, 4]], 1).numpy().tolist()\n[2, 12]",
)
reduce_max = _reducer(
    Max,
    "reduce_max",
    "Return the largest over `axis` (all axes where it is None)."
    "\n\n>>> reduce_max([[1, 2], [3, 4]], 1).numpy().tolist()\n[2, 4]",
)
reduce_min = _reducer(
    Min,
    "reduce_min",
    "Return the smallest over `axis` (all axes where it is None)."
    "\n\n>>> reduce_min([[1, 2], [3, 4]], 0).numpy().tolist()\n[1, 2]",
)
reduce_all = _reducer(
    All,
    "reduce_all",
    "Return whether all hold over `axis` (all axes where it is None)."
    "\n\n>>> reduce_all([[True, False], [True, True]], 1).numpy().tolist()\n[False, True]",
)
reduce_any = _reducer(
    Any_,
    "reduce_any",
    "Return whether any holds over `axis` (all axes where it is None)."
    "\n\n>>> reduce_any([[True, False], [False, False]], 1).numpy().tolist()\n[True, False]",
)
reduce_euclidean_norm = _reducer(
    EuclideanNorm, "reduce_euclidean_norm", "Return the length of vectors over `axis` (all axes where it is None)."
)
reduce_sum_v1, reduce_mean_v1, reduce_prod_v1 = _v1(reduce_sum), _v1(reduce_mean), _v1(reduce_prod)
reduce_max_v1, reduce_min_v1 = _v1(reduce_max), _v1(reduce_min)
reduce_all_v1, reduce_any_v1 = _v1(reduce_all), _v1(reduce_any)


def reduce_logsumexp(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return log(sum(exp(x))) over `axis`, without overflow on the way.

    >>> print(reduce_logsumexp([1000.0, 1000.0]).numpy().round(2))
    1000.69
    """
    with name_scope(name, "ReduceLogSumExp", [input_tensor]) as scope:
        largest = reduce_max(input_tensor, axis=axis, keepdims=True)
        largest = raw.StopGradient(raw.SelectV2(raw.IsFinite(largest), largest, 0.0))
        total = reduce_sum(raw.Exp(raw.Sub(input_tensor, largest)), axis=axis, keepdims=keepdims)
        result = raw.Log(total)
        if not keepdims:
            largest = raw.Reshape(largest, raw.Shape(result))
        return raw.AddV2(result, largest, name=scope or None)


def reduce_logsumexp_tf1(
    input_tensor: TensorLike,
    axis: Axis = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Axis = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """`reduce_logsumexp` as TensorFlow 1 puts it into a graph."""
    axis = one_of("axis", axis, "reduction_indices", reduction_indices)
    keepdims = one_of("keepdims", keepdims, "keep_dims", keep_dims) or False
    with name_scope(name, "ReduceLogSumExp", [input_tensor]):
        largest = reduce_max(input_tensor, axis=axis, keepdims=True)
        finite = raw.IsFinite(largest)
        largest = raw.StopGradient(raw.Select(finite, largest, _zeros_like(largest)))
        total = reduce_sum(raw.Exp(raw.Sub(input_tensor, largest)), axis=axis, keepdims=keepdims)
        result = raw.Log(total)
        if not keepdims:
            shape = convert(np.array(result._dims, np.int32), name="Shape") if is_static(result) else raw.Shape(result)
            largest = raw.Reshape(largest, shape)
        return raw.Add(result, largest)


def _zeros_like(x: Any) -> Any:
    if is_static(x):
        return convert(np.zeros(x._dims, x.dtype.np), name="zeros_like")
    return raw.ZerosLike(x, name="zeros_like")


reduce_logsumexp_v1 = _v1(reduce_logsumexp)


def reduce_variance(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the variance over `axis`: the mean squared distance from the mean.

    >>> reduce_variance([1.0, 2.0, 3.0, 4.0]).numpy()
    np.float32(1.25)
    """
    with name_scope(name, "reduce_variance", [input_tensor]):
        input_tensor = operand(input_tensor)
        if isinstance(input_tensor, CompositeTensor):  # rows do not all broadcast with their means
            means = reduce_mean(input_tensor, axis=axis, keepdims=keepdims)
            return reduce_mean(input_tensor * input_tensor, axis=axis, keepdims=keepdims) - means * means
        means = reduce_mean(input_tensor, axis=axis, keepdims=True)
        if means.dtype.is_integer:
            raise TypeError(f"Input must be either real or complex. Received integer type {means.dtype}.")
        apart = input_tensor - means
        if apart.dtype.is_complex:
            squares = raw.Real(raw.Mul(raw.Conj(apart), apart), Tout=apart.dtype.real_dtype)
        else:
            squares = raw.Square(apart)
        return reduce_mean(squares, axis=axis, keepdims=keepdims)


def reduce_std(input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Return the standard deviation over `axis`.

    >>> reduce_std([1.0, 3.0]).numpy()
    np.float32(1.0)
    """
    with name_scope(name, "reduce_std", [input_tensor]):
        input_tensor = operand(input_tensor)
        return raw.Sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


def count_nonzero(
    input: TensorLike,
    axis: Axis = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Return how many elements over `axis` are not zero (of strings: not empty).

    >>> count_nonzero([[0, 1], [2, 0]], axis=1).numpy().tolist()
    [1, 1]
    """
    with name_scope(name, "count_nonzero", [input]):
        input = convert(input, name="input")
        found = input.dtype.base_dtype
        zero = convert(b"" if found is dtypes.string else np.zeros((), found.np), found, name="zeros")
        count = reduce_sum(raw.Cast(raw.NotEqual(input, zero), DstT=dtypes.int64), axis=axis, keepdims=bool(keepdims))
        target = as_dtype(dtype)
        return count if target is dtypes.int64 else raw.Cast(count, DstT=target)


def count_nonzero_v1(
    input_tensor: TensorLike | None = None,
    axis: Axis = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
    reduction_indices: Axis = None,
    keep_dims: bool | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """`count_nonzero` with TensorFlow 1's arguments."""
    keepdims = one_of("keepdims", keepdims, "keep_dims", keep_dims)
    input_tensor = one_of("input", input, "input_tensor", input_tensor)
    axis = one_of("axis", axis, "reduction_indices", reduction_indices)
    return count_nonzero(input_tensor, axis, keepdims, dtype, name)
