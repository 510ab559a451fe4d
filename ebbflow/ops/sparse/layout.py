"""Sparse tensors put into other forms: dense, sorted, reshaped, cut, joined, with empty rows filled.

The ops work on the three parts (indices, values, shape); the functions people call are in `sparse`, sums and products
in `sparse_math`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import errors, memory
from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, UNDEFINED, raw, show
from ebbflow.ops.shape_rules import equal_length, ranked
from ebbflow.ops.sizes import invalid, lengths, room_for
from ebbflow.ops.sparse.arrays import (
    checked,
    grouped,
    in_order,
    is_ordered,
    keys_of,
    order_of,
    parts,
    positions,
    sparse_rank,
    whole_size,
    within,
)

# --- dense ------------------------------------------------------------------------------------------------------------

SparseToDense = op(
    "SparseToDense(sparse_indices:Tindices, output_shape:Tindices, sparse_values:T, default_value:T) -> (dense:T)"
    " | validate_indices: bool = true; T: type; Tindices: index",
    facts="beside",
)


@SparseToDense.shape
def _(sparse_indices, output_shape, sparse_values, default_value):
    return lengths(output_shape, "output_shape")


@SparseToDense.kernel
def _(xp, sparse_indices, output_shape, sparse_values, default_value, *, validate_indices):
    if sparse_indices.ndim > 2:
        raise invalid(f"sparse_indices should be a scalar, vector, or matrix, got shape {show(sparse_indices.shape)}")
    places = sparse_indices if sparse_indices.ndim == 2 else sparse_indices.reshape(-1, 1)
    if output_shape.ndim != 1:
        raise invalid(f"output_shape must be rank 1, got shape {show(output_shape.shape)}")
    if len(output_shape) != places.shape[1]:
        raise invalid(
            f"output_shape has incorrect number of elements: {output_shape.size} should be: {places.shape[1]}"
        )
    if sparse_values.ndim and sparse_values.shape != (len(places),):
        raise invalid(f"sparse_values has incorrect shape {show(sparse_values.shape)}, should be [] or [{len(places)}]")
    if default_value.ndim:
        raise invalid("default_value should be a scalar.")
    sizes = whole_size(output_shape)
    room_for(sizes, sparse_values.dtype.itemsize)
    within(places, output_shape)
    if validate_indices:
        in_order(places)
    dense = np.empty(sizes, sparse_values.dtype)
    dense[...] = default_value
    dense.reshape(-1)[positions(places, sizes)] = sparse_values
    return dense


@SparseToDense.gradient
def _(call, grad):
    values = raw.GatherNd(grad, call.sparse_indices)
    if not call.wants(3):
        return None, None, values, None
    left = _total(grad) - _total(values)
    return None, None, values, left


def _total(x: Any) -> Any:
    return raw.Sum(raw.Reshape(x, [-1]), [0])


# --- order and shape --------------------------------------------------------------------------------------------------

SparseReorder = op(
    "SparseReorder(input_indices:int64, input_values:T, input_shape:int64) -> (output_indices:int64, output_values:T)"
    " | T: type"
)


@SparseReorder.shape
def _(input_indices, input_values, input_shape):
    count, rank = ranked(input_indices, 2)
    ranked(input_values, 1)
    ranked(input_shape, 1)
    return [(count, rank), input_values.dims if input_values.dims is not None else (None,)]


@SparseReorder.kernel
def _(xp, input_indices, input_values, input_shape):
    checked(input_indices, input_values, input_shape)
    if is_ordered(input_indices):
        return memory.copied(input_indices), memory.copied(input_values)
    order = order_of(input_indices)
    return input_indices[order], input_values[order]


@SparseReorder.gradient
def _(call, grad_indices, grad_values):
    number = raw.Range(0, raw.Size(call.input_values), 1)
    moved = raw.SparseReorder(call.input_indices, number, call.input_shape).output_values
    return None, raw.GatherV2(grad_values, raw.InvertPermutation(moved), 0), None


SparseReshape = op(
    "SparseReshape(input_indices:int64, input_shape:int64, new_shape:int64) -> (output_indices:int64, "
    "output_shape:int64)",
    gradient=FLAT,
    facts="data_dependent",
)


@SparseReshape.shape
def _(input_indices, input_shape, new_shape):
    count, _ = ranked(input_indices, 2)
    ranked(input_shape, 1)
    (rank,) = ranked(new_shape, 1)
    return [(count, rank), (rank,)]


@SparseReshape.kernel
def _(xp, input_indices, input_shape, new_shape):
    if input_indices.ndim != 2:
        raise invalid("Input must be a matrix.")
    if input_shape.ndim != 1 or len(input_shape) != input_indices.shape[1]:
        raise invalid("Input tensor rank must match input shape length.")
    if new_shape.ndim != 1:
        raise invalid("Target shape must be a vector.")
    sizes = _new_sizes(whole_size(input_shape), new_shape.tolist())
    numbers = positions(input_indices, input_shape.tolist())
    if not len(numbers):
        return np.zeros((0, len(sizes)), np.int64), np.array(sizes, np.int64)
    return np.stack(np.unravel_index(numbers, sizes), axis=1).astype(np.int64), np.array(sizes, np.int64)


def _new_sizes(old: tuple[int, ...], asked: list[int]) -> tuple[int, ...]:
    gaps = [i for i, n in enumerate(asked) if n == -1]
    if len(gaps) > 1:
        raise invalid(f"only one output dimension may be -1, not both {gaps[0]} and {gaps[1]}")
    for i, n in enumerate(asked):
        if n < -1:
            raise invalid(f"size {i} must be non-negative, not {n}")
    count, known = math.prod(old), math.prod(n for n in asked if n != -1)
    shown = f"input_shape={show(old)} output_shape={show(tuple(1 if n == -1 else n for n in asked))}"
    if not gaps:
        if known != count:
            raise invalid(
                f"Input to reshape is a tensor with {count} dense values, but the requested shape has {known}. {shown}"
            )
        return tuple(asked)
    if not known or count % known:
        raise invalid(
            f"Input to reshape is a SparseTensor with {count} dense values, but the requested shape requires a "
            f"multiple of {known}. {shown}"
        )
    return tuple(count // known if n == -1 else n for n in asked)


# --- cut and join -----------------------------------------------------------------------------------------------------

SparseSlice = op(
    "SparseSlice(indices:int64, values:T, shape:int64, start:int64, size:int64) -> (output_indices:int64, "
    "output_values:T, output_shape:int64) | T: type"
)


@SparseSlice.shape
def _(indices, values, shape, start, size):
    _, rank = sparse_rank(indices, values, shape)
    ranked(start, 1)
    ranked(size, 1)
    return parts(None, rank)


@SparseSlice.kernel
def _(xp, indices, values, shape, start, size):
    checked(indices, values, shape)
    rank = len(shape)
    for name, given in (("start", start), ("size", size)):
        if given.ndim != 1 or len(given) != rank:
            raise invalid(f"Expected {name} to be a vector of length {rank} but got length {given.size}")
    if size.size and size.min() < 0:
        raise invalid(f"Expected a non-negative size, got {size.min()}")
    kept = ((indices >= start) & (indices - start < size)).all(axis=1)
    left = np.clip(np.minimum(size, shape - start), 0, None)
    return indices[kept] - start, values[kept], left


@SparseSlice.gradient
def _(call, grad_indices, grad_values, grad_shape):
    found = raw.SparseSliceGrad(grad_values, call.indices, call.start, call.output_indices)
    return None, found, None, None, None


SparseSliceGrad = op(
    "SparseSliceGrad(backprop_val_grad:T, input_indices:int64, input_start:int64, output_indices:int64) -> "
    "(val_grad:T) | T: numbers",
    gradient=UNDEFINED,
)


@SparseSliceGrad.shape
def _(backprop_val_grad, input_indices, input_start, output_indices):
    count, _ = ranked(input_indices, 2)
    return (count,)


@SparseSliceGrad.kernel
def _(xp, backprop_val_grad, input_indices, input_start, output_indices):
    if input_indices.ndim != 2 or output_indices.ndim != 2:
        raise invalid("Input indices should be matrices")
    if len(backprop_val_grad) != len(output_indices):
        raise invalid(
            "# elements of backprop_val_grad and # rows of output_indices should match (#nnz of sum): "
            f"got {len(backprop_val_grad)} and {len(output_indices)}"
        )
    rank = input_indices.shape[1]
    if input_start.ndim != 1 or len(input_start) != rank:
        raise invalid(f"Expected input_start to be a vector of length {rank} but got length {input_start.size}")
    return looked_up(input_indices, output_indices + input_start, backprop_val_grad)


def looked_up(wanted: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the values that belong to the places wanted, 0 where there is none."""
    found = np.zeros(len(wanted), values.dtype)
    keys = keys_of(wanted, places) if len(wanted) and len(places) else None
    if keys is not None:
        asked, there = keys
        order = np.argsort(there, kind="stable")
        last = np.searchsorted(there, asked, "right", sorter=order) - 1  # of several at one place
        nearest = order[np.maximum(last, 0)]
        return np.where(there[nearest] == asked, values[nearest], found)
    by_place = dict(zip(map(tuple, places.tolist()), range(len(places)), strict=True))
    for i, place in enumerate(map(tuple, wanted.tolist())):
        at = by_place.get(place)
        if at is not None:
            found[i] = values[at]
    return found


SparseConcat = op(
    "SparseConcat(indices:N*int64, values:N*T, shapes:N*int64) -> (output_indices:int64, output_values:T, "
    "output_shape:int64) | concat_dim: int; N: int >= 2; T: type",
    gradient=FLAT,
)


@SparseConcat.shape
def _(indices, values, shapes):
    total: int | None = 0
    rank: int | None = None
    for places, held, sizes in zip(indices, values, shapes, strict=True):
        count, one = sparse_rank(places, held, sizes)
        rank = equal_length(rank, one)
        total = None if count is None or total is None else total + count
    return parts(total, rank)


@SparseConcat.kernel
def _(xp, indices, values, shapes, *, concat_dim):
    rank = len(shapes[0])
    for i, (places, held, sizes) in enumerate(zip(indices, values, shapes, strict=True)):
        if len(sizes) != rank:
            raise invalid(
                f"Ranks of all input tensors must match: expected {rank} but got {len(sizes)} at position {i}"
            )
        checked(places, held, sizes)
    if not -rank <= concat_dim < rank:
        raise invalid(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    at = concat_dim % rank
    for i, sizes in enumerate(shapes):
        for axis in range(rank):
            if axis != at and sizes[axis] != shapes[0][axis]:
                raise invalid(
                    f"Input shapes must match: expected {shapes[0][axis]} for dimension {axis} but got {sizes[axis]} "
                    f"at position {i}"
                )
    ends = np.cumsum([int(sizes[at]) for sizes in shapes])
    moved = [places.copy() for places in indices]
    for places, end, sizes in zip(moved, ends, shapes, strict=True):
        places[:, at] += end - sizes[at]
    places, held = np.concatenate(moved), np.concatenate(values)
    order = order_of(places)
    whole = shapes[0].copy()
    whole[at] = ends[-1]
    return places[order], held[order], whole


SparseSplit = op(
    "SparseSplit(split_dim:int64, indices:int64, values:T, shape:int64) -> (output_indices:num_split*int64, "
    "output_values:num_split*T, output_shape:num_split*int64) | num_split: int >= 1; T: type",
    gradient=UNDEFINED,
)


@SparseSplit.shape
def _(split_dim, indices, values, shape, *, num_split):
    _, rank = sparse_rank(indices, values, shape)
    return [(None, rank)] * num_split + [(None,)] * num_split + [(rank,)] * num_split


@SparseSplit.kernel
def _(xp, split_dim, indices, values, shape, *, num_split):
    checked(indices, values, shape)
    rank = len(shape)
    if split_dim.size != 1:
        raise invalid(f"split_dim must be a scalar, but got shape {show(split_dim.shape)}")
    axis = int(split_dim.reshape(()))
    if not -rank <= axis < rank:
        raise invalid(f"Input axis should be in range [{-rank}, {rank}), got {axis}")
    axis %= rank
    length = int(shape[axis])
    if not 1 <= num_split <= length:
        raise invalid(
            f"Input num_split should be between 1 and the splitting dimension size ({length}), got {num_split}"
        )
    each, longer = divmod(length, num_split)  # the first `longer` pieces have one more
    results: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    start = 0
    for piece in range(num_split):
        size = each + (piece < longer)
        inside = (indices[:, axis] >= start) & (indices[:, axis] < start + size)
        places = indices[inside]
        places[:, axis] -= start
        sizes = shape.copy()
        sizes[axis] = size
        for found, part in zip(results, (places, values[inside], sizes), strict=True):
            found.append(part)
        start += size
    return results


# --- empty rows -------------------------------------------------------------------------------------------------------

SparseFillEmptyRows = op(
    "SparseFillEmptyRows(indices:int64, values:T, dense_shape:int64, default_value:T) -> (output_indices:int64, "
    "output_values:T, empty_row_indicator:bool, reverse_index_map:int64) | T: type"
)


@SparseFillEmptyRows.shape
def _(indices, values, dense_shape, default_value):
    count, rank = sparse_rank(indices, values, dense_shape)
    if default_value.rank not in (0, None):
        raise errors.StaticShapeError(f"Shape must be rank 0 but is rank {default_value.rank}")
    whole = dense_shape.as_dims
    rows = whole[0] if whole else None
    return [(None, rank), (None,), (rows,), (count,)]


@SparseFillEmptyRows.kernel
def _(xp, indices, values, dense_shape, default_value):
    checked(
        indices, values, dense_shape, "The length of `values` ({1}) must match the first dimension of `indices` ({0})."
    )
    if default_value.ndim:
        raise invalid(f"default_value must be a scalar, saw: {show(default_value.shape)}")
    if not len(dense_shape):
        raise invalid("Dense shape cannot be empty.")
    count = int(dense_shape[0])
    room_for((count, indices.shape[1] + 3), 8)  # indices, values, and the way there and back
    rows = indices[:, 0]
    wrong = (rows < 0) | (rows >= count)
    if wrong.any():
        i = int(wrong.argmax())
        raise invalid(f"indices({i}, 0) is invalid: {rows[i]} " + ("< 0" if rows[i] < 0 else f">= {count}"))
    empty = np.ones(count, bool)
    empty[rows] = False
    new = np.zeros((int(empty.sum()), indices.shape[1]), np.int64)
    new[:, 0] = np.flatnonzero(empty)
    filler = np.empty(len(new), values.dtype)
    filler[...] = default_value
    places, held = np.concatenate([indices, new]), np.concatenate([values, filler])
    order = np.argsort(places[:, 0], kind="stable")
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return places[order], held[order], empty, back[: len(indices)]


@SparseFillEmptyRows.gradient
def _(call, grad_indices, grad_values, grad_empty, grad_map):
    values, default = raw.SparseFillEmptyRowsGrad(call.reverse_index_map, grad_values)
    return None, values, None, default


SparseFillEmptyRowsGrad = op(
    "SparseFillEmptyRowsGrad(reverse_index_map:int64, grad_values:T) -> (d_values:T, d_default_value:T) | T: type",
    gradient=UNDEFINED,
)


@SparseFillEmptyRowsGrad.shape
def _(reverse_index_map, grad_values):
    ranked(grad_values, 1)
    return [ranked(reverse_index_map, 1), ()]


@SparseFillEmptyRowsGrad.kernel
def _(xp, reverse_index_map, grad_values):
    if reverse_index_map.ndim != 1:
        raise invalid(f"reverse_index_map must be a vector, saw: {show(reverse_index_map.shape)}")
    if grad_values.ndim != 1:
        raise invalid(f"grad_values must be a vector, saw: {show(grad_values.shape)}")
    count = len(grad_values)
    for at in reverse_index_map[(reverse_index_map < 0) | (reverse_index_map >= count)][:1]:
        raise invalid(f"Elements in reverse index must be in [0, {count}) but got {at}")
    others = np.ones(count, bool)
    others[reverse_index_map] = False
    return grad_values[reverse_index_map], grad_values[others].sum(dtype=grad_values.dtype)


def rows_of(indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows (all axes but the last) and to which of them each place belongs."""
    return grouped(indices, range(indices.shape[1] - 1))


def joined_shape(shapes: list[Any], axis: int, expand: bool) -> list[int | None] | None:
    """Return what is known of the shape of sparse tensors put one behind the other."""
    if any(dims is None or len(dims) != len(shapes[0]) for dims in shapes):
        return None
    along = [[dim.value for dim in dims] for dims in zip(*shapes, strict=True)]
    joined = [
        None if None in lengths and expand else max((n for n in lengths if n is not None), default=None)
        for lengths in along
    ]
    joined[axis] = None if None in along[axis] else sum(along[axis])
    return joined
