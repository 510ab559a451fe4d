"""Sums, products and reductions of sparse tensors, with each other and with dense ones.

The ops work on the three parts (indices, values, shape) as `sparse_layout`'s do; the functions people call are in
`sparse`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.op import Op, op
from ebbflow.ops.declare import FLAT, UNDEFINED, raw, show
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid, room_for
from ebbflow.ops.sparse.arrays import (
    axes_of,
    checked,
    grouped,
    parts,
    positions,
    sparse_rank,
    united,
    whole_size,
    within,
)
from ebbflow.ops.sparse.layout import looked_up, rows_of
from ebbflow.ops.sparse.place_loops import MANY, added_rows
from ebbflow.ops.state.repeated_indices import fold_into

# --- products ---------------------------------------------------------------------------------------------------------

SparseTensorDenseMatMul = op(
    "SparseTensorDenseMatMul(a_indices:Tindices, a_values:T, a_shape:int64, b:T) -> (product:T)"
    " | T: type; Tindices: index = int64; adjoint_a: bool = false; adjoint_b: bool = false"
)


@SparseTensorDenseMatMul.shape
def _(a_indices, a_values, a_shape, b, *, adjoint_a, adjoint_b):
    ranked(a_indices, 2)
    ranked(a_values, 1)
    ranked(a_shape, 1)
    dims, whole = ranked(b, 2), a_shape.as_dims
    if whole is not None and len(whole) != 2:
        raise errors.StaticShapeError(f"Shape must be rank 2 but is rank {len(whole)}")
    left = None if whole is None else whole[1 if adjoint_a else 0]
    return (left, dims[0 if adjoint_b else 1])


@SparseTensorDenseMatMul.kernel
def _(xp, a_indices, a_values, a_shape, b, *, adjoint_a, adjoint_b):
    if b.ndim != 2:
        raise invalid("Tensor 'b' is not a matrix")
    if a_shape.shape != (2,):
        raise invalid("Tensor 'a_shape' must have 2 elements")
    checked(a_indices, a_values, a_shape)
    dense = b.conj().T if adjoint_b else b
    sizes = whole_size(a_shape)
    out, inner = (1, 0) if adjoint_a else (0, 1)
    if sizes[inner] != dense.shape[0]:
        raise invalid(
            f"Cannot multiply A and B because inner dimension does not match: {sizes[inner]} vs. {dense.shape[0]}.  "
            f"Did you forget a transpose?  Dimensions of A: [{sizes[0]}, {sizes[1]}).  Dimensions of B: {show(b.shape)}"
        )
    for name, axis in (("m", out), ("k", inner)):
        wrong = (a_indices[:, axis] < 0) | (a_indices[:, axis] >= sizes[axis])
        if wrong.any():
            i = int(wrong.argmax())
            raise invalid(f"{name} ({a_indices[i, axis]}) from index[{i},{axis}] out of bounds (>={sizes[axis]})")
    room_for((sizes[out], dense.shape[1]), b.dtype.itemsize)
    return _spread_product(a_indices, a_values.conj() if adjoint_a else a_values, dense, out, inner, sizes[out])


def _spread_product(places: Any, values: Any, dense: Any, out: int, inner: int, rows: int) -> np.ndarray:
    narrow = dense.dtype.itemsize == 2 and dense.dtype.kind not in "iu"
    product = np.zeros((rows, dense.shape[1]), np.float32 if narrow else dense.dtype)
    code = None
    if product.dtype == values.dtype == np.float32:
        code = added_rows.worth(len(places) * dense.shape[1], MANY)
    if code is not None and not narrow and places.dtype == np.int64:
        values, dense = np.ascontiguousarray(values), np.ascontiguousarray(dense)
        step = 2
        if not places.flags.c_contiguous and places.T.flags.c_contiguous:  # as `where` makes them: column by column
            places, step, out, inner = places.T, 1, out * len(places), inner * len(places)
        code(np.ascontiguousarray(places), len(values), step, out, inner, values, dense, dense.shape[1], product)
        return product
    terms = values[:, None] * dense[places[:, inner]]
    if len(terms):
        fold_into(product, np.ascontiguousarray(places[:, out]), terms.astype(product.dtype, copy=False), np.add)
    return product.astype(dense.dtype, copy=False)


@SparseTensorDenseMatMul.gradient
def _(call, grad):
    to_values = to_dense = None
    if call.wants(3):
        to_dense = raw.SparseTensorDenseMatMul(
            call.a_indices, call.a_values, call.a_shape, grad, adjoint_a=not call.adjoint_a
        )
        to_dense = _adjoint(to_dense) if call.adjoint_b else to_dense
    if call.wants(1):
        rows, columns = raw.Unpack(call.a_indices, num=2, axis=1)
        if call.adjoint_a:
            rows, columns = columns, rows
        dense = _adjoint(call.b) if call.adjoint_b else call.b
        theirs = raw.GatherV2(dense, columns, 0)
        terms = raw.GatherV2(grad, rows, 0) * _bar(theirs)
        to_values = raw.Sum(terms, [-1])
        to_values = _bar(to_values) if call.adjoint_a else to_values
    return None, to_values, None, to_dense


def _bar(x: Any) -> Any:
    return raw.Conj(x) if x.dtype.is_complex else x


def _adjoint(x: Any) -> Any:
    return raw.ConjugateTranspose(x, [1, 0])


# --- sums -------------------------------------------------------------------------------------------------------------

SparseAdd = op(
    "SparseAdd(a_indices:int64, a_values:T, a_shape:int64, b_indices:int64, b_values:T, b_shape:int64, thresh:Treal)"
    " -> (sum_indices:int64, sum_values:T, sum_shape:int64) | T: numbers; Treal: reals"
)


@SparseAdd.shape
def _(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
    (rank,) = ranked(a_shape, 1)
    return parts(None, rank)


def _check_pair(a: tuple[Any, Any, Any], b: tuple[Any, Any, Any]) -> None:
    """Refuse two sparse tensors that are not of one shape."""
    for places, values, sizes in (a, b):
        if places.ndim != 2 or values.ndim != 1 or sizes.ndim != 1:
            checked(places, values, sizes)
    if a[0].shape[1] != b[0].shape[1]:
        raise invalid(f"Input indices must have the same dimension, got {a[0].shape[1]} and {b[0].shape[1]}")
    for axis, (n, m) in enumerate(zip(a[2].tolist(), b[2].tolist(), strict=True)):
        if n != m:
            raise invalid(f"Operands' shapes do not match: got {n} and {m} for dimension {axis}")


@SparseAdd.kernel
def _(xp, a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
    if len(a_indices) != len(a_values) or len(b_indices) != len(b_values):
        raise invalid(
            f"Expected {len(a_indices)} and {len(b_indices)} non-empty input values, "
            f"got {len(a_values)} and {len(b_values)}"
        )
    if thresh.ndim:
        raise invalid(f"The magnitude threshold must be a scalar: got shape {show(thresh.shape)}")
    _check_pair((a_indices, a_values, a_shape), (b_indices, b_values, b_shape))
    places, at_a, at_b = united(a_indices, b_indices)
    total = np.zeros(len(places), a_values.dtype)
    np.add.at(total, at_a, a_values)
    np.add.at(total, at_b, b_values)
    counts = np.bincount(at_a, minlength=len(places)) + np.bincount(at_b, minlength=len(places))
    kept = (np.abs(total) >= thresh) | (counts < 2)  # what stands alone stays
    return (places, total, a_shape) if kept.all() else (places[kept], total[kept], a_shape)


@SparseAdd.gradient
def _(call, grad_indices, grad_values, grad_shape):
    a, b = raw.SparseAddGrad(grad_values, call.a_indices, call.b_indices, call.sum_indices)
    return None, a, None, None, b, None, None


SparseAddGrad = op(
    "SparseAddGrad(backprop_val_grad:T, a_indices:int64, b_indices:int64, sum_indices:int64) -> (a_val_grad:T, "
    "b_val_grad:T) | T: numbers",
    gradient=UNDEFINED,
)


@SparseAddGrad.shape
def _(backprop_val_grad, a_indices, b_indices, sum_indices):
    return [ranked(a_indices, 2)[:1], ranked(b_indices, 2)[:1]]


@SparseAddGrad.kernel
def _(xp, backprop_val_grad, a_indices, b_indices, sum_indices):
    for given in (a_indices, b_indices, sum_indices):
        if given.ndim != 2:
            raise invalid(f"Input indices should be matrices, got shape {show(given.shape)}")
    if len(backprop_val_grad) != len(sum_indices):
        raise invalid(
            "# elements of backprop_val_grad and # rows of sum_indices should match (#nnz of sum): "
            f"got {len(backprop_val_grad)} and {len(sum_indices)}"
        )
    return tuple(looked_up(given, sum_indices, backprop_val_grad) for given in (a_indices, b_indices))


SparseTensorDenseAdd = op(
    "SparseTensorDenseAdd(a_indices:Tindices, a_values:T, a_shape:Tindices, b:T) -> (output:T)"
    " | T: numbers; Tindices: index"
)


@SparseTensorDenseAdd.shape
def _(a_indices, a_values, a_shape, b):
    return b.dims


@SparseTensorDenseAdd.kernel
def _(xp, a_indices, a_values, a_shape, b):
    if a_indices.ndim == 2 and a_values.ndim == 1 and len(a_indices) != len(a_values):
        raise invalid(f"Dimensions {len(a_indices)} and {len(a_values)} are not compatible")
    if a_indices.ndim == 2 and a_shape.ndim == 1 and a_indices.shape[1] != len(a_shape):
        raise invalid(f"Dimensions {a_indices.shape[1]} and {len(a_shape)} are not compatible")
    checked(a_indices, a_values, a_shape)
    if len(a_shape) != b.ndim:
        raise invalid(f"Two operands have different ranks; received: {len(a_shape)} and {b.ndim}")
    for axis, (n, m) in enumerate(zip(a_shape.tolist(), b.shape, strict=True)):
        if n != m:
            raise invalid(
                f"Dimension {axis} does not equal (no broadcasting is supported): sparse side {n} vs dense side {m}"
            )
    wrong = (a_indices < 0) | (a_indices >= a_shape)
    if wrong.any():
        i, axis = (int(n) for n in np.argwhere(wrong)[0])
        raise invalid(
            f"Sparse tensor has an invalid index on dimension {axis}: a_indices({i},{axis}) = {a_indices[i, axis]}, "
            f"dense tensor shape: {b.shape[axis]}"
        )
    total = b.copy()
    np.add.at(total, tuple(a_indices.T), a_values)
    return total


@SparseTensorDenseAdd.gradient
def _(call, grad):
    return None, raw.GatherNd(grad, call.a_indices) if call.wants(1) else None, None, grad


# --- reductions -------------------------------------------------------------------------------------------------------


def _reduced(fold: Callable[..., Any], places: Any, values: Any, shape: Any, axes: Any) -> tuple[Any, Any, list[int]]:
    """Return the places along the axes kept, the folded values, and the axes folded."""
    checked(places, values, shape)
    folded = axes_of(axes, len(shape))
    kept = [axis for axis in range(len(shape)) if axis not in folded]
    found, group = grouped(places, kept)
    return found, fold(values, group, len(found)), folded


def _sum_of(values: np.ndarray, group: np.ndarray, count: int) -> np.ndarray:
    narrow = values.dtype.itemsize == 2 and values.dtype.kind not in "iu"
    total = np.zeros(count, np.float32 if narrow else values.dtype)
    np.add.at(total, group, values)
    return total.astype(values.dtype, copy=False)


def _added_up(indices: np.ndarray, values: np.ndarray, shape: Any, axes: Any, keep_dims: bool) -> np.ndarray:
    """Return sums along axes as a dense array: each value is added where it belongs, in turn."""
    checked(indices, values, shape)
    folded = axes_of(axes, len(shape))
    kept = [axis for axis in range(len(shape)) if axis not in folded]
    sizes = _reduced_lengths(whole_size(shape), folded, False)
    room_for(sizes, values.dtype.itemsize)
    part = np.ascontiguousarray(indices[:, kept])
    within(part, np.array(sizes, np.int64))
    narrow = values.dtype.itemsize == 2 and values.dtype.kind not in "iu"
    total = np.zeros(math.prod(sizes), np.float32 if narrow else values.dtype)
    np.add.at(total, positions(part, sizes), values)
    return total.astype(values.dtype, copy=False).reshape(_reduced_lengths(shape, folded, keep_dims))


def _largest_of(values: np.ndarray, group: np.ndarray, count: int) -> np.ndarray:
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(count))
    return np.maximum.reduceat(values[order], starts) if count else values[:0]


def _reduced_lengths(shape: Any, folded: list[int], keep_dims: bool) -> list[int]:
    return [1 if a in folded else int(n) for a, n in enumerate(shape) if keep_dims or a not in folded]


def _dense_reduced(input_indices, input_values, input_shape, reduction_axes, *, keep_dims):
    """The shape of a reduction to a dense tensor."""
    whole, axes = input_shape.as_dims, reduction_axes.value
    if whole is None or axes is None:
        return None
    folded = {int(a) % len(whole) for a in axes.reshape(-1) if -len(whole) <= a < len(whole)}
    if folded == set() and axes.size:
        return None
    return tuple(1 if a in folded else n for a, n in enumerate(whole) if keep_dims or a not in folded)


def _reduction(name: str, types: str, fold: Callable[..., Any]) -> tuple[Op, Op]:
    """Declare a reduction in two forms: to a dense tensor and to a sparse one."""
    inputs = "input_indices:int64, input_values:T, input_shape:int64, reduction_axes:int32"
    dense = op(f"{name}({inputs}) -> (output:T) | keep_dims: bool = false; T: {types}", gradient=UNDEFINED)
    sparse = op(
        f"{name}Sparse({inputs}) -> (output_indices:int64, output_values:T, output_shape:int64)"
        f" | keep_dims: bool = false; T: {types}",
        gradient=UNDEFINED,
    )

    dense.shape(_dense_reduced)

    @dense.kernel
    def _(xp, input_indices, input_values, input_shape, reduction_axes, *, keep_dims):
        if fold is _sum_of and input_indices.ndim == 2 and len(input_indices) == len(input_values):
            return _added_up(input_indices, input_values, input_shape, reduction_axes, keep_dims)
        places, values, folded = _reduced(fold, input_indices, input_values, input_shape, reduction_axes)
        sizes = _reduced_lengths(whole_size(input_shape), folded, False)
        room_for(sizes, values.dtype.itemsize)
        result = np.zeros(sizes, values.dtype)
        result[tuple(places.T)] = values if len(sizes) else (values[0] if len(values) else 0)
        return result.reshape(_reduced_lengths(input_shape, folded, keep_dims))

    @sparse.shape
    def _(input_indices, input_values, input_shape, reduction_axes):
        return [(None, None), (None,), (None,)]

    @sparse.kernel
    def _(xp, input_indices, input_values, input_shape, reduction_axes, *, keep_dims):
        places, values, folded = _reduced(fold, input_indices, input_values, input_shape, reduction_axes)
        sizes = np.array(_reduced_lengths(input_shape, folded, keep_dims), np.int64)
        if keep_dims:
            wide = np.zeros((len(places), len(input_shape)), np.int64)
            wide[:, [a for a in range(len(input_shape)) if a not in folded]] = places
            places = wide
        return places, values, sizes

    return dense, sparse


SparseReduceSum, SparseReduceSumSparse = _reduction("SparseReduceSum", "numbers", _sum_of)
SparseReduceMax, SparseReduceMaxSparse = _reduction("SparseReduceMax", "reals", _largest_of)


@SparseReduceSum.gradient
def _(call, grad):
    shape = call.input_shape
    rank = raw.Size(shape)
    axes = raw.FloorMod(raw.Reshape(call.reduction_axes, [-1]) + rank, rank)
    every = raw.Range(0, rank, 1)
    ones = raw.Fill(raw.Shape(axes), raw.Cast(1, DstT=dtypes.int64))
    kept = raw.DynamicStitch([every, axes], [shape, ones])
    scale = raw.FloorDiv(shape, raw.Maximum(kept, raw.Cast(1, DstT=dtypes.int64)))
    return None, raw.GatherNd(raw.Reshape(grad, kept), raw.FloorDiv(call.input_indices, scale)), None, None


# --- with a dense tensor, place by place ------------------------------------------------------------------------------


def _cell_by_cell(name: str, fn: Callable[..., Any]) -> Op:
    """Declare an op of a sparse tensor's values and a dense tensor broadcast to its shape."""
    declared = op(
        f"{name}(sp_indices:int64, sp_values:T, sp_shape:int64, dense:T) -> (output:T) | T: numbers",
        gradient=UNDEFINED,
    )

    @declared.shape
    def _(sp_indices, sp_values, sp_shape, dense):
        return ranked(sp_indices, 2)[:1]

    @declared.kernel
    def _(xp, sp_indices, sp_values, sp_shape, dense):
        checked(
            sp_indices, sp_values, sp_shape, "The first dimension of values and indices should match. ({1} vs. {0})"
        )
        sizes = whole_size(sp_shape)
        tail = sizes[len(sizes) - dense.ndim :] if dense.ndim <= len(sizes) else ()
        if dense.ndim > len(sizes) or any(m not in (1, n) for n, m in zip(tail, dense.shape, strict=True)):
            raise invalid(
                "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
                f"{show(sizes)} vs. {show(dense.shape)}"
            )
        places = sp_indices[:, len(sizes) - dense.ndim :]
        beside = dense[tuple(np.where(m == 1, 0, column) for m, column in zip(dense.shape, places.T, strict=True))]
        return fn(sp_values, beside)

    return declared


SparseDenseCwiseAdd = _cell_by_cell("SparseDenseCwiseAdd", np.add)
SparseDenseCwiseMul = _cell_by_cell("SparseDenseCwiseMul", np.multiply)
SparseDenseCwiseDiv = _cell_by_cell("SparseDenseCwiseDiv", lambda x, y: _quotient(x, y))


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind not in "iu":
        return np.divide(x, y)
    if x.size and not y.all():
        raise invalid("Integer division by zero")
    return np.trunc(x / y).astype(x.dtype)


def _places_in_dense(call: Any) -> tuple[Any, Any]:
    """Return the places of the sparse values in the dense tensor, and that tensor's shape."""
    wide = dtypes.int64
    shape = raw.Cast(raw.Shape(call.dense), DstT=wide)
    added = raw.Sub(raw.Size(call.sp_shape), raw.Rank(call.dense))
    ones = raw.Fill(raw.Pack([added]), raw.Cast(1, DstT=wide))
    stretched = raw.FloorDiv(call.sp_shape, raw.ConcatV2([ones, shape], 0))
    places = raw.FloorDiv(call.sp_indices, stretched)
    return raw.Slice(places, raw.Pack([0, added]), [-1, -1]), shape


def _cell_gradient(dx: Callable[..., Any], dy: Callable[..., Any]) -> Callable[..., Any]:
    def gradient(call: Any, grad: Any) -> tuple[Any, ...]:
        places, shape = _places_in_dense(call)
        beside = raw.GatherNd(call.dense, places)
        values = dy(grad, call.sp_values, beside)
        to_dense = raw.SparseTensorDenseAdd(places, values, shape, raw.ZerosLike(call.dense))
        return None, dx(grad, beside), None, to_dense

    return gradient


SparseDenseCwiseMul.gradient(_cell_gradient(lambda g, y: g * y, lambda g, x, y: g * x))
SparseDenseCwiseDiv.gradient(_cell_gradient(lambda g, y: g / y, lambda g, x, y: g * (-x / (y * y))))

SparseSoftmax = op(
    "SparseSoftmax(sp_indices:int64, sp_values:T, sp_shape:int64) -> (output:T) | T: type in [half,float,double]"
)


@SparseSoftmax.shape
def _(sp_indices, sp_values, sp_shape):
    count, _ = sparse_rank(sp_indices, sp_values, sp_shape)
    return (count,)


@SparseSoftmax.kernel
def _(xp, sp_indices, sp_values, sp_shape):
    checked(
        sp_indices,
        sp_values,
        sp_shape,
        "indices and values rows (indexing dimension) must match. (indices = {0}, values = {1})",
    )
    if len(sp_shape) < 2:
        raise invalid(
            f"Input should have rank >= 2, but received shape: {sp_shape.tolist()[0] if len(sp_shape) else ''}"
        )
    places, row = rows_of(sp_indices)
    wide = sp_values.astype(np.float32) if sp_values.dtype.itemsize == 2 else sp_values
    shifted = np.exp(wide - _largest_of(wide, row, len(places))[row])
    return (shifted / _sum_of(shifted, row, len(places))[row]).astype(sp_values.dtype)


@SparseSoftmax.gradient
def _(call, grad):
    y = call.output
    total = raw.SparseReduceSum(call.sp_indices, y * grad, call.sp_shape, [-1], keep_dims=True)
    return None, (raw.SparseDenseCwiseAdd(call.sp_indices, grad, call.sp_shape, -total)) * y, None


# --- the larger and the smaller of two --------------------------------------------------------------------------------


def _extreme(name: str, types: str, fn: Callable[..., Any]) -> Op:
    declared = op(
        f"{name}(a_indices:int64, a_values:T, a_shape:int64, b_indices:int64, b_values:T, b_shape:int64) -> "
        f"(output_indices:int64, output_values:T) | T: {types}",
        gradient=FLAT,
    )

    @declared.shape
    def _(a_indices, a_values, a_shape, b_indices, b_values, b_shape):
        return [(None, ranked(a_indices, 2)[1]), (None,)]

    @declared.kernel
    def _(xp, a_indices, a_values, a_shape, b_indices, b_values, b_shape):
        checked(a_indices, a_values, a_shape)
        checked(b_indices, b_values, b_shape)
        _check_pair((a_indices, a_values, a_shape), (b_indices, b_values, b_shape))
        places, at_a, at_b = united(a_indices, b_indices)
        left, right = np.zeros((2, len(places)), a_values.dtype)
        left[at_a], right[at_b] = a_values, b_values
        return places, fn(left, right)

    return declared


SparseSparseMaximum = _extreme("SparseSparseMaximum", "reals", np.maximum)
SparseSparseMinimum = _extreme("SparseSparseMinimum", "numbers", np.minimum)
