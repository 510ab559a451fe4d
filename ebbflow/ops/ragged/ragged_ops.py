"""TensorFlow's own ops on the parts of ragged tensors: ranges, rows taken, empty rows filled, dense and sparse forms.

The functions of this room are composed of plain ops; graphs that TensorFlow has exported hold these instead. Rows come
as splits (where they begin and end) or as the row of each value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.core.slices import IndexedSlices
from ebbflow.ops.declare import FLAT, raw, show
from ebbflow.ops.ragged.span_loops import spread
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid, room_for
from ebbflow.ops.sparse.counting import rows_of_splits

# --- ranges -----------------------------------------------------------------------------------------------------------

RaggedRange = op(
    "RaggedRange(starts:T, limits:T, deltas:T) -> (rt_nested_splits:Tsplits, rt_dense_values:T) | "
    "T: type in [bfloat16,float,double,int32,int64] = int32; Tsplits: type in [int32,int64] = int64",
    gradient=FLAT,
    facts="data_dependent",
)


@RaggedRange.shape
def _(starts, limits, deltas):
    lengths = set()
    for name, arg in (("starts", starts), ("limits", limits), ("deltas", deltas)):
        if arg.dims is not None and len(arg.dims) > 1:
            raise errors.StaticShapeError(f"{name} must be a scalar or vector, but its shape is {show(arg.dims)}")
        lengths |= {arg.dims[0]} if arg.dims else set()
    known = {n for n in lengths if n is not None}
    if len(known) > 1:
        raise errors.StaticShapeError(f"starts, limits, and deltas must have the same shape, got lengths {known}")
    rows = known.pop() if known else None if None in (starts.dims, limits.dims, deltas.dims) or lengths else 1
    return [(None if rows is None else rows + 1,), (None,)]


@RaggedRange.kernel
def _(xp, starts, limits, deltas, *, Tsplits):
    vectors = [x for x in (starts, limits, deltas) if x.ndim]
    if any(x.ndim > 1 for x in vectors) or len({len(x) for x in vectors}) > 1:
        raise invalid("starts, limits, and deltas must have the same shape: vectors of one length, or scalars")
    begin, end, step = np.broadcast_arrays(*(np.atleast_1d(x) for x in (starts, limits, deltas)))
    if (step == 0).any():
        raise invalid("Requires delta != 0")
    if starts.dtype.kind == "i" and all((abs(x) < 1 << 61).all() for x in (begin, end, step)):
        counts = np.maximum(-((begin.astype(np.int64) - end) // step), 0)  # which does not grow out of 64 bits
        room_for([int(counts.sum())], 8)
        numbers = spread(begin, counts, step.astype(np.int64))
        splits = np.zeros(counts.size + 1, Tsplits.np)
        np.cumsum(counts, out=splits[1:])
        return splits, numbers.astype(starts.dtype)
    exact = np.float64 if starts.dtype.kind == "f" or starts.dtype.name == "bfloat16" else object
    with np.errstate(all="ignore"):
        wide = [x.astype(exact) for x in (begin, end, step)]
        counts = np.array(
            [max(0, -(-(b - a) // c)) if np.isfinite(float(b - a)) else 0 for a, b, c in zip(*wide, strict=True)]
        )
    counts = counts.astype(np.int64) if counts.size else np.zeros(0, np.int64)
    room_for([int(counts.sum())] if counts.size else [0], starts.itemsize)
    splits = np.concatenate([[0], np.cumsum(counts)]).astype(Tsplits.np)
    rows = [a + np.arange(n).astype(starts.dtype) * c for a, c, n in zip(begin, step, counts, strict=True)]
    return splits, np.concatenate(rows).astype(starts.dtype) if rows else np.zeros(0, starts.dtype)


# --- rows taken -------------------------------------------------------------------------------------------------------

RaggedGather = op(
    "RaggedGather(params_nested_splits:PARAMS_RAGGED_RANK*Tsplits, params_dense_values:Tvalues, indices:Tindices) -> "
    "(output_nested_splits:OUTPUT_RAGGED_RANK*Tsplits, output_dense_values:Tvalues) | Tvalues: type; Tindices: index; "
    "Tsplits: type in [int32,int64] = int64; PARAMS_RAGGED_RANK: int >= 1; OUTPUT_RAGGED_RANK: int >= 0",
    facts="data_dependent",
)


@RaggedGather.shape
def _(params_nested_splits, params_dense_values, indices, *, OUTPUT_RAGGED_RANK):
    dims = params_dense_values.dims
    return [*[(None,)] * OUTPUT_RAGGED_RANK, None if dims is None else (None, *dims[1:])]


@RaggedGather.kernel
def _(xp, params_nested_splits, params_dense_values, indices, *, OUTPUT_RAGGED_RANK, Tsplits):
    if indices.ndim - 1 + len(params_nested_splits) != OUTPUT_RAGGED_RANK:
        raise invalid(
            f"OUTPUT_RAGGED_RANK must be {indices.ndim - 1 + len(params_nested_splits)}, got {OUTPUT_RAGGED_RANK}"
        )
    _check_nested(params_nested_splits, params_dense_values)
    rows = len(params_nested_splits[0]) - 1
    wrong = indices[(indices < 0) | (indices >= rows)]
    if wrong.size:
        raise invalid(f"indices = {int(wrong[0])} is not in [0, {rows})")
    splits: list[Any] = []
    for axis in range(1, indices.ndim):
        count, length = int(np.prod(indices.shape[:axis])), indices.shape[axis]
        splits.append((np.arange(count + 1) * length).astype(Tsplits.np))
    taken = indices.reshape(-1).astype(np.int64)
    for level in params_nested_splits:
        lengths = np.diff(level)[taken]
        splits.append(np.concatenate([[0], np.cumsum(lengths)]).astype(Tsplits.np))
        taken = _spans(level[:-1][taken], lengths)
    return splits, params_dense_values[taken]


def _check_nested(splits: Sequence[np.ndarray], values: np.ndarray) -> None:
    """Refuse levels of rows that do not match."""
    if not values.ndim:
        raise invalid("params.shape[0] must be known: values is a scalar")
    for level, below in zip(splits, (*[len(s) - 1 if s.ndim else 0 for s in splits[1:]], len(values)), strict=True):
        rows_of_splits(level, below)


def _spans(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the numbers from each start on, as many as its length says."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1]) if ends.size else 0) + np.repeat(starts - (ends - lengths), lengths)


@RaggedGather.gradient
def _(call, *grads):
    """Each value's gradient is the sum of those of the places it went to."""
    splits, grad = call.params_nested_splits, grads[-1]
    numbers = raw.Range(0, raw.Shape(call.params_dense_values)[0], 1)
    _, taken = raw.RaggedGather(list(splits), numbers, call.indices, OUTPUT_RAGGED_RANK=call.OUTPUT_RAGGED_RANK)
    total = IndexedSlices(grad, taken, raw.Shape(call.params_dense_values))
    return (*[None] * len(splits), total, None)


# --- empty rows -------------------------------------------------------------------------------------------------------

RaggedFillEmptyRows = op(
    "RaggedFillEmptyRows(value_rowids:int64, values:T, nrows:int64, default_value:T) -> (output_value_rowids:int64, "
    "output_values:T, empty_row_indicator:bool, reverse_index_map:int64) | T: type",
    facts="data_dependent",
)
RaggedFillEmptyRowsGrad = op(
    "RaggedFillEmptyRowsGrad(reverse_index_map:int64, grad_values:T) -> (d_values:T, d_default_value:T) | T: type",
    gradient=FLAT,
)


@RaggedFillEmptyRows.shape
def _(value_rowids, values, nrows, default_value):
    (count,) = ranked(value_rowids, 1)
    ranked(default_value, 0)
    rows = None if nrows.value is None else int(nrows.value)
    return [(None,), (None,), (rows,), (count,)]


@RaggedFillEmptyRows.kernel
def _(xp, value_rowids, values, nrows, default_value):
    if default_value.ndim:
        raise invalid(f"Default value must be a scalar, got shape {show(default_value.shape)}")
    if value_rowids.ndim != 1 or values.ndim != 1 or len(value_rowids) != len(values):
        raise invalid(
            f"value_rowids and values must be vectors of one length, got {value_rowids.shape}, {values.shape}"
        )
    rows = int(nrows.reshape(-1)[0]) if nrows.size else -1
    if nrows.ndim or rows < 0:
        raise invalid(f"nrows must be a scalar that is not negative, got {nrows.tolist()}")
    outside = value_rowids[(value_rowids < 0) | (value_rowids >= rows)]
    if outside.size:
        raise invalid(f"value_rowids: {int(outside[0])} is not in [0, {rows})")
    if (np.diff(value_rowids) < 0).any():
        raise invalid(f"value_rowids must not decrease, got {value_rowids.tolist()[:20]}")
    room_for([rows], 8)
    empty = np.ones(rows, bool)
    empty[value_rowids] = False
    numbers = np.concatenate([value_rowids, np.flatnonzero(empty)])
    order = np.argsort(numbers, kind="stable")
    padded = np.concatenate([values, np.full(int(empty.sum()), default_value[()], values.dtype)])
    back = np.empty(len(numbers), np.int64)
    back[order] = np.arange(len(numbers))
    return numbers[order], padded[order], empty, back[: len(values)]


@RaggedFillEmptyRows.gradient
def _(call, grad_rowids, grad_values, grad_empty, grad_map):
    values, default = raw.RaggedFillEmptyRowsGrad(call.reverse_index_map, grad_values)
    return None, values, None, default


@RaggedFillEmptyRowsGrad.shape
def _(reverse_index_map, grad_values):
    return [ranked(reverse_index_map, 1), ()]


@RaggedFillEmptyRowsGrad.kernel
def _(xp, reverse_index_map, grad_values):
    if reverse_index_map.ndim != 1 or grad_values.ndim != 1:
        raise invalid("reverse_index_map and grad_values must be vectors")
    outside = (reverse_index_map < 0) | (reverse_index_map >= len(grad_values))
    if outside.any():
        at = int(outside.argmax())
        raise invalid(
            f"Elements in reverse index must be in [0, {len(grad_values)}) but got {int(reverse_index_map[at])}"
        )
    kept = grad_values[reverse_index_map]
    rest = np.ones(len(grad_values), bool)
    rest[reverse_index_map] = False
    return kept, np.asarray(grad_values[rest].sum(dtype=grad_values.dtype), grad_values.dtype)


# --- other forms ------------------------------------------------------------------------------------------------------

RaggedTensorToSparse = op(
    "RaggedTensorToSparse(rt_nested_splits:RAGGED_RANK*Tsplits, rt_dense_values:T) -> (sparse_indices:int64, "
    "sparse_values:T, sparse_dense_shape:int64) | RAGGED_RANK: int >= 1; T: type; "
    "Tsplits: type in [int32,int64] = int64",
    facts="data_dependent",
)


@RaggedTensorToSparse.shape
def _(rt_nested_splits, rt_dense_values, *, RAGGED_RANK):
    rank = None if rt_dense_values.dims is None else RAGGED_RANK + len(rt_dense_values.dims)
    dims = rt_dense_values.dims
    count = None if dims is None or None in dims else math.prod(dims)
    return [(count, rank), (count,), (rank,)]


@RaggedTensorToSparse.kernel
def _(xp, rt_nested_splits, rt_dense_values):
    _check_nested(rt_nested_splits, rt_dense_values)
    inner = rt_dense_values.shape[1:]
    columns: list[np.ndarray] = []
    for level in rt_nested_splits:
        lengths = np.diff(level)
        columns = [np.repeat(column, lengths) for column in columns or [np.arange(len(lengths))]]
        columns.append(np.arange(int(lengths.sum())) - np.repeat(level[:-1], lengths))
    size = int(np.prod(inner))
    columns = [np.repeat(column, size) for column in columns]
    places = np.indices(inner).reshape(len(inner), size)
    columns += [np.tile(places[i], len(rt_dense_values)) for i in range(len(inner))]
    widths = [int(np.diff(level).max(initial=0)) for level in rt_nested_splits]
    shape = np.array([len(rt_nested_splits[0]) - 1, *widths, *inner], np.int64)
    return np.stack(columns, 1).astype(np.int64), rt_dense_values.reshape(-1), shape


@RaggedTensorToSparse.gradient
def _(call, grad_indices, grad_values, grad_shape):
    return (*[None] * len(call.rt_nested_splits), raw.Reshape(grad_values, raw.Shape(call.rt_dense_values)))


RaggedTensorToTensor = op(
    "RaggedTensorToTensor(shape:Tshape, values:T, default_value:T, "
    "row_partition_tensors:num_row_partition_tensors*Tindex) -> (result:T) | T: type; Tindex: type in [int64,int32]; "
    "Tshape: type in [int64,int32]; num_row_partition_tensors: int >= 1; row_partition_types: list(string)"
)


@RaggedTensorToTensor.shape
def _(shape, values, default_value, row_partition_tensors, *, row_partition_types):
    _check_default(values.dims, default_value.dims, errors.StaticShapeError)
    dims = shape.as_dims if shape.dims != () else None
    ragged = sum(kind != "FIRST_DIM_SIZE" for kind in _texts(row_partition_types))
    if values.dims is None:
        return dims
    if dims is None:
        return (*[None] * (ragged + 1), *values.dims[1:])
    _check_wanted(ragged, values.dims, dims, errors.StaticShapeError)
    return (
        *dims[: ragged + 1],
        *(b if a is None else a for a, b in zip(dims[ragged + 1 :], values.dims[1:], strict=True)),
    )


def _check_default(values: Any, default: Any, error: Any) -> None:
    """Refuse a default that is no part of a value: of a lower rank, with the same lengths or 1."""
    if values is None or default is None:
        return
    words = f"default_value.shape={show(default)} and rt_input.flat_values.shape={show(values)} are incompatible"
    if len(default) >= max(len(values), 1):
        raise error(
            f"{words}: default_value.rank = {len(default)}  must be less than rt_input.flat_values.rank = {len(values)}"
        )
    for back, (mine, theirs) in enumerate(zip(reversed(default), reversed(values), strict=False), 1):
        if mine is not None and theirs is not None and mine not in (1, theirs):
            raise error(
                f"{words}: default_value.shape[-{back}] = {mine} but rt_input.flat_values.shape[-{back}] = {theirs}"
            )


def _check_wanted(ragged: int, values: Any, wanted: Any, error: Any) -> None:
    """Refuse lengths of a result that are not those of the values inside the rows."""
    words = f"rt_input.shape and shape={show(wanted)} are incompatible"
    rank = ragged + len(values)
    if len(wanted) != rank:
        raise error(f"{words}: rt_input.rank = {rank} but shape.rank = {len(wanted)}")
    for axis in range(ragged + 1, rank):
        mine, theirs = wanted[axis], values[axis - ragged]
        if mine is not None and mine >= 0 and theirs not in (None, mine):
            raise error(f"{words}: rt_input.shape[{axis}] = {theirs} but shape[{axis}] = {mine}")


def _texts(kinds: Sequence[Any]) -> list[str]:
    return [kind.decode() if isinstance(kind, bytes) else kind for kind in kinds]


@RaggedTensorToTensor.kernel
def _(xp, shape, values, default_value, row_partition_tensors, *, row_partition_types):
    rows, levels = _partitions(row_partition_tensors, _texts(row_partition_types), values)
    inner = values.shape[1:]
    _check_default(values.shape, default_value.shape, invalid)
    wanted = [-1] * (len(levels) + 1 + len(inner)) if not shape.ndim else shape.tolist()
    _check_wanted(len(levels), values.shape, wanted, invalid)
    sizes = [rows if wanted[0] < 0 else wanted[0]]
    at = [np.arange(rows)]
    for numbers, want in zip(levels, wanted[1:], strict=False):
        counts = np.bincount(numbers, minlength=len(at[0])) if len(numbers) else np.zeros(len(at[0]), np.int64)
        column = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
        at = [*(a[numbers] for a in at), column]
        sizes.append(int(counts.max(initial=0)) if want < 0 else want)
    room_for([*sizes, *inner], max(values.itemsize, 1))
    filler = np.broadcast_to(default_value, (*sizes, *inner))
    result = filler.astype(values.dtype).copy()
    inside = np.all([a < n for a, n in zip(at, sizes, strict=True)], axis=0)
    result[tuple(a[inside] for a in at)] = values[inside]
    return result


def _partitions(tensors: Sequence[np.ndarray], kinds: list[str], values: np.ndarray) -> tuple[int, list[np.ndarray]]:
    """Return how many rows there are, and for each level the row of each of its entries."""
    if len(tensors) != len(kinds):
        raise invalid(f"{len(tensors)} row_partition_tensors for {len(kinds)} row_partition_types")
    levels, rows = [], None
    for i, (tensor, kind) in enumerate(zip(tensors, kinds, strict=True)):
        if kind == "FIRST_DIM_SIZE":
            if i or tensor.size != 1:
                raise invalid("FIRST_DIM_SIZE must come first, and be a scalar")
            rows = int(tensor.reshape(-1)[0])
        elif kind == "ROW_SPLITS":
            last = int(tensor[-1]) if tensor.ndim == 1 and tensor.size else 0
            levels.append(rows_of_splits(tensor, last))
            rows = len(tensor) - 1 if rows is None else rows
        elif kind == "VALUE_ROWIDS":
            if tensor.ndim != 1 or (tensor < 0).any() or (np.diff(tensor) < 0).any():
                raise invalid(f"VALUE_ROWIDS must not be negative nor decrease, got {tensor.tolist()[:20]}")
            levels.append(tensor.astype(np.int64))
        else:
            raise invalid(f"Unsupported row partition type {kind}: it is FIRST_DIM_SIZE, VALUE_ROWIDS or ROW_SPLITS")
    if rows is None or not levels:
        raise invalid("the first row partition must be ROW_SPLITS or FIRST_DIM_SIZE, and one must part rows")
    for above, below in zip([rows, *[len(v) for v in levels]], levels, strict=False):
        if len(below) and int(below[-1]) >= above:
            raise invalid(f"a value's row, {int(below[-1])}, is not in [0, {above})")
    if not values.ndim or len(levels[-1]) != len(values):
        raise invalid(f"Row partition size {len(levels[-1])} exceeds the number of values, {values.shape[:1]}")
    return rows, levels


@RaggedTensorToTensor.gradient
def _(call, grad):
    """Values take the gradients of where they went; the default takes the rest."""
    values, parts = call.values, list(call.row_partition_tensors)
    attrs = {"row_partition_types": call.row_partition_types}
    count = raw.Shape(values)[0]
    minus = raw.Cast(-1, DstT=count.dtype)
    ranks = len([k for k in _texts(call.row_partition_types) if k != "FIRST_DIM_SIZE"]) + 1
    head = raw.Shape(call.result, out_type=call.shape.dtype)[:ranks]
    where = raw.RaggedTensorToTensor(head, raw.Range(0, count, 1), minus, parts, **attrs)
    flat = raw.Reshape(where, [-1])
    rows = raw.Reshape(grad, raw.ConcatV2([[-1], raw.Shape(values)[1:]], 0))
    used = raw.Where(raw.GreaterEqual(flat, 0))[:, 0]
    grad_values = IndexedSlices(raw.GatherV2(rows, used, 0), raw.GatherV2(flat, used, 0), raw.Shape(values))
    free = raw.Where(raw.Less(flat, 0))[:, 0]
    rest = raw.Sum(raw.GatherV2(rows, free, 0), [0])
    axes, _ = raw.BroadcastGradientArgs(raw.Shape(call.default_value), raw.Shape(rest))
    default = raw.Reshape(raw.Sum(rest, axes), raw.Shape(call.default_value))
    return None, grad_values, default, *[None] * len(parts)
