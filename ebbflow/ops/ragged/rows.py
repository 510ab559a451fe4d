"""Rows of ragged tensors taken, joined and repeated: what gather, concat, stack and their like mean for them.

Everything is made of ops on values and splits, so it works in every mode. Knows the class; knows nothing of how ops
find the way here (`ops.ragged`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dispatch import borrowed
from ebbflow.core.shape import dimension_value
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import AnyTensor, TensorLike
from ebbflow.ops.checks.asserts import assert_equal
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.checks import assert_splits_match, axis_in
from ebbflow.ops.ragged.conversion import ragged_or_tensor
from ebbflow.ops.ragged.span_loops import at_hand, taken_rows
from ebbflow.ops.ragged.tensor import RaggedTensor, rows_of
from ebbflow.ops.ragged.value import RaggedTensorValue
from ebbflow.ops.sizes import invalid

# --- taking -----------------------------------------------------------------------------------------------------------


def pick(values: Any, places: Any) -> Any:
    """Return these of the values, which may be rows."""
    if isinstance(values, RaggedTensor):
        return take(values, places)
    return raw.GatherV2(values, places, 0) if isinstance(values, Tensor) else borrowed("gather", values, places)


def spans(starts: Any, limits: Any, step: Any = 1) -> RaggedTensor:
    """Return, for each start and limit, the numbers from one to the other."""
    kind = starts.dtype
    zero, step = np.array(0, kind.np), step if isinstance(step, Tensor) else np.array(step, kind.np)
    lengths = raw.Maximum(-((starts - limits) // step), zero)
    made = RaggedTensor.from_row_lengths(starts, lengths, validate=False)  # its values come in the next line
    return made.with_values(raw.GatherV2(starts, made.value_rowids(), 0) + made.offsets() * step)


def take(rows: RaggedTensor, numbers: Any) -> Any:
    """Return the rows of these numbers: one for a number, rows for a vector, rows of rows for more."""
    numbers = numbers if isinstance(numbers, Tensor) else convert(numbers)
    rank = numbers.shape.rank
    if rank is None:
        raise ValueError("rank(indices) must be known statically")
    if rank == 0:
        at = raw.Cast(numbers, DstT=rows.row_splits.dtype)
        return _between(rows.values, rows.row_splits[at], rows.row_splits[at + np.array(1, at.dtype.np)])
    if rank > 1:
        outer = RaggedTensor.from_tensor(numbers, ragged_rank=rank - 1, row_splits_dtype=rows.row_splits.dtype)
        return _ragged_again(outer).with_flat_values(take(rows, outer.flat_values))
    if at_hand(rows.row_splits, numbers):
        found = taken_rows(rows.row_splits, numbers)
        if found is not None:
            return rows_of(pick(rows.values, found[1]), found[0], rows._uniform)
    starts, limits = raw.GatherV2(rows.row_starts(), numbers, 0), raw.GatherV2(rows.row_limits(), numbers, 0)
    places = spans(starts, limits)
    return rows_of(pick(rows.values, places.values), places.row_splits, rows._uniform)


def _between(values: Any, start: Any, stop: Any) -> Any:
    if isinstance(values, RaggedTensor):
        splits = values.row_splits[start : stop + np.array(1, stop.dtype.np)]
        first = splits[0]
        return rows_of(_between(values.values, first, splits[-1]), splits - first, values._uniform)
    return values[start:stop]


def gather(params: Any, indices: Any, axis: Any = 0, batch_dims: int = 0) -> Any:
    """Return what `tf.gather` gives where the params or the indices are ragged."""
    axis, params = int(axis), params if isinstance(params, RaggedTensor) else convert(params)
    axis += params.shape.rank if axis < 0 else 0
    if batch_dims:
        indices = indices if isinstance(indices, RaggedTensor) else convert(indices)
        batch_dims += indices.shape.rank if batch_dims < 0 else 0
        _check_batches(params, indices, batch_dims)
        return _gather_in_rows(params, indices, axis, batch_dims)
    if isinstance(indices, RaggedTensor):
        if axis and not isinstance(params, RaggedTensor):
            return _gather_inside(params, indices, axis)
        if not axis:
            return indices.with_flat_values(gather(params, indices.flat_values, axis))
    if not isinstance(params, RaggedTensor):
        return raw.GatherV2(params, indices, axis)
    if axis == 0:
        return take(params, indices)
    if axis == 1:  # the same places in every row
        return _gather_in_rows(params, _for_each(indices, params.nrows()), axis, 1)
    return params.with_values(gather(params.values, indices, axis - 1))


def _check_batches(params: Any, indices: Any, batch_dims: int) -> None:
    """Refuse indices whose first axes, `batch_dims` of them, are not those of the params."""
    if batch_dims < 0 or (indices.shape.rank is not None and batch_dims > indices.shape.rank):
        raise ValueError(f"batch_dims={batch_dims} out of bounds: expected 0<=batch_dims<={indices.shape.rank}")
    if params.shape.rank is not None and batch_dims >= params.shape.rank:
        raise ValueError("batch_dims must be less than rank(params)")
    batch = indices.shape[:batch_dims]
    if not batch.is_compatible_with(params.shape[:batch_dims]):
        raise ValueError(f"batch shape from indices {batch} does not match params shape {params.shape}")


def _for_each(indices: Any, count: Any) -> Any:
    """Return indices as often as there are rows."""
    indices = indices if isinstance(indices, RaggedTensor) else convert(indices)
    once = expand_dims(indices, 0)
    again = raw.Fill(raw.ExpandDims(count, 0), np.array(0, count.dtype.np))
    return take(once, again) if isinstance(once, RaggedTensor) else raw.GatherV2(once, again, 0)


def _gather_inside(params: Any, indices: RaggedTensor, axis: int) -> RaggedTensor:
    """Gather by ragged indices along an inner axis of a tensor: the axes before it become rows of one length each."""
    axis += len(params._dims) if axis < 0 else 0
    kind = indices.row_splits.dtype
    sizes = raw.Shape(params, out_type=kind)
    found = raw.GatherV2(params, indices.flat_values, axis)
    inner = raw.Shape(found, out_type=kind)[axis + 1 :]
    values = raw.Reshape(found, raw.ConcatV2([np.array([-1], kind.np), inner], 0))
    outer = raw.Prod(sizes[:axis], [0], keep_dims=True)
    lengths = [raw.Tile(each, outer) for each in indices.nested_row_lengths()]
    rows = RaggedTensor.from_nested_row_lengths(values, lengths, validate=False)
    uniform = [(indices.nrows(), indices.shape[0]), *((sizes[i], params._dims[i]) for i in range(axis - 1, 0, -1))]
    for length, known in uniform:
        count = raw.FloorDiv(rows.nrows(), raw.Maximum(length, np.array(1, kind.np)))
        splits = raw.Range(np.array(0, kind.np), count + np.array(1, kind.np), np.array(1, kind.np)) * length
        rows = rows_of(rows, splits, dimension_value(known))
    return rows


def _gather_in_rows(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    """Gather from each row of the params by the row of the indices."""
    indices = indices if isinstance(indices, RaggedTensor) else convert(indices)
    if indices.shape.rank == batch_dims:  # one place a row: as rows of one
        return squeeze(_gather_in_rows(params, expand_dims(indices, batch_dims), axis, batch_dims), [axis])
    kind = next((x.row_splits.dtype for x in (params, indices) if isinstance(x, RaggedTensor)), dtypes.int64)
    params, indices = as_ragged(params, kind=kind), as_ragged(indices, kind=kind)
    if batch_dims > 1:
        return indices.with_values(gather(params.values, indices.values, axis - 1, batch_dims - 1))
    if axis > batch_dims:  # what is taken from a row is taken from each of the rows in it
        inner = take(indices, params.value_rowids())
        return params.with_values(_gather_in_rows(params.values, inner, axis - 1, 1))
    starts = raw.GatherV2(params.row_starts(), indices.value_rowids(), 0)
    places = _moved(indices.values, starts)
    if isinstance(params.values, RaggedTensor) or isinstance(places, RaggedTensor):
        return indices.with_values(gather(params.values, places))
    return indices.with_values(raw.GatherV2(params.values, places, 0))


def _moved(places: Any, starts: Any) -> Any:
    """Return the places in each row counted from where the rows start."""
    if isinstance(places, RaggedTensor):
        return places.with_values(_moved(places.values, raw.GatherV2(starts, places.value_rowids(), 0)))
    more = len(places._dims) - 1
    starts = raw.Reshape(starts, raw.ConcatV2([raw.Shape(starts), [1] * more], 0)) if more else starts
    return raw.Cast(places, DstT=starts.dtype) + starts


def batch_gather_with_default(
    params: AnyTensor, indices: AnyTensor, default_value: TensorLike = "", name: str | None = None
) -> AnyTensor:
    """Return what `tf.gather` takes from each row, and a default where a row has no such place.

    >>> batch_gather_with_default([["a", "b"], ["c", "d"]], [[0, -1], [1, 7]], "?").numpy().tolist()
    [[b'a', b'?'], [b'd', b'?']]
    """
    params, indices = ragged_or_tensor(params), ragged_or_tensor(indices)
    default = convert(default_value, params.dtype)
    if indices.shape.rank == 1:  # one row
        return batch_gather_with_default(expand_dims(params, 0), expand_dims(indices, 0), default)[0]
    if not isinstance(params, RaggedTensor) and default.shape.rank == 0:
        default = raw.Fill(raw.Shape(params)[indices.shape.rank :], default)
    kind = next((x.row_splits.dtype for x in (params, indices) if isinstance(x, RaggedTensor)), dtypes.int64)
    found = _or_default(as_ragged(params, kind=kind), as_ragged(indices, kind=kind), default)
    return found if isinstance(indices, RaggedTensor) or isinstance(found.values, RaggedTensor) else found.to_tensor()


def _or_default(params: RaggedTensor, indices: RaggedTensor, default: Any) -> Any:
    if indices.shape.rank > 2:
        kind = params.row_splits.dtype
        inner = as_ragged(params.values, kind=kind), as_ragged(indices.values, kind=kind)
        return indices.with_values(_or_default(*inner, default))
    rank = params.shape.rank - 2
    if default.shape.rank == 0 and isinstance(params.values, RaggedTensor):
        default = raw.Reshape(default, [1] * rank)  # a row of one
    if default.shape.rank != rank:
        raise ValueError(f"default_value must have rank {rank}, as what is taken from params has, got {default.shape}")
    at, kind = raw.Cast(indices.values, DstT=params.row_splits.dtype), params.row_splits.dtype
    lengths = raw.GatherV2(params.row_lengths(), indices.value_rowids(), 0)
    inside = raw.LogicalAnd(raw.GreaterEqual(at, np.array(0, kind.np)), raw.Less(at, lengths))
    places = raw.GatherV2(params.row_starts(), indices.value_rowids(), 0) + at
    values = _joined([params.values, raw.ExpandDims(default, 0)], 0)
    return indices.with_values(pick(values, raw.SelectV2(inside, places, params._row_partition.nvals())))


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, policy: str = "") -> Any:
    """Return the rows, rows of rows or elements that the last axis of `indices` leads to."""
    if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
        return raw.GatherNd(params, indices, bad_indices_policy=policy)
    if policy not in ("", "DEFAULT"):
        raise ValueError(f"non-default bad_indices_policy not supported for ragged gather, got {policy!r}")
    if batch_dims:
        raise ValueError("gather_nd of ragged tensors takes no batch_dims: use tf.gather")
    if isinstance(indices, RaggedTensor):
        if indices.shape.rank == indices.ragged_rank + 1:
            raise ValueError("The innermost dimension of indices may not be ragged")
        return indices.with_flat_values(gather_nd(params, indices.flat_values))
    indices = convert(indices)
    if not indices.shape.rank:
        what = "be statically known" if indices.shape.rank is None else "must be at least 1"
        raise ValueError(f"indices.rank {what}.")
    depth = dimension_value(indices.shape[-1])
    if depth is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    if not depth:  # each leads to all there is
        return gather(with_new_axis(params), raw.Fill(raw.Shape(indices)[:-1], 0))
    first, rest = indices[..., 0], indices[..., 1:]
    if depth == 1:
        return take(params, first)
    at = raw.GatherV2(params.row_starts(), first, 0) + raw.Cast(rest[..., 0], DstT=params.row_splits.dtype)
    if depth == 2:
        return pick(params.values, at) if at.shape.rank == 1 else gather(params.values, at)
    rest = raw.Cast(rest[..., 1:], DstT=at.dtype)
    return gather_nd(params.values, raw.ConcatV2([raw.ExpandDims(at, -1), rest], -1))


def boolean_mask(data: AnyTensor, mask: AnyTensor, name: str | None = None) -> AnyTensor:
    """Return the elements, or rows, of `data` where `mask` is true.

    >>> boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
    <tf.RaggedTensor [[1], [3, 4]]>
    """
    data = ragged_or_tensor(data)
    mask = ragged_or_tensor(mask) if isinstance(mask, RaggedTensorValue) else mask
    if not isinstance(mask, RaggedTensor):
        mask = convert(mask, dtypes.bool)
    elif mask.dtype is not dtypes.bool:
        raise ValueError(
            f"Tensor conversion requested dtype bool for RaggedTensor with dtype {mask.dtype.name}: {mask}"
        )
    rank = mask.shape.rank
    if rank is None:
        raise ValueError("mask.shape.ndims must be known statically.")
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    data.shape[:rank].assert_is_compatible_with(mask.shape)
    return _masked(data, mask)


def _masked(data: Any, mask: Any) -> Any:
    rank = mask.shape.rank
    if rank == 1:
        return pick(data, raw.Where(mask)[:, 0])
    kind = next((x.row_splits.dtype for x in (mask, data) if isinstance(x, RaggedTensor)), dtypes.int64)
    mask, data = as_ragged(mask, rank - 1, kind), as_ragged(data, rank - 1, kind)
    with _after(assert_splits_match([[mask.row_splits], [data.row_splits]])):
        if rank > 2:
            return data.with_values(_masked(data.values, mask.values))
        kept = raw.Where(mask.values)[:, 0]
    rows = raw.GatherV2(mask.value_rowids(), kept, 0)
    return RaggedTensor.from_value_rowids(pick(data.values, kept), rows, mask.nrows(), validate=False)


def partition(data: Any, numbers: Any, count: int) -> list[Any]:
    """Return the rows with each number."""
    if isinstance(numbers, RaggedTensor):
        raise ValueError("partitions of a ragged tensor are given for its rows, by a vector")
    numbers = convert(numbers, dtypes.int32)
    return [take(data, raw.Where(raw.Equal(numbers, i))[:, 0]) for i in range(count)]


# --- joining ----------------------------------------------------------------------------------------------------------


def as_ragged(value: Any, depth: int = 1, kind: Any = dtypes.int64) -> RaggedTensor:
    """Return a value as rows of rows, `depth` levels of them."""
    if not isinstance(value, RaggedTensor):
        return RaggedTensor.from_tensor(value, ragged_rank=depth, row_splits_dtype=kind)
    return value if value.ragged_rank >= depth else value.with_values(as_ragged(value.values, depth - 1, kind))


def _alike(values: Sequence[Any]) -> list[RaggedTensor]:
    depth = max(v.ragged_rank for v in values if isinstance(v, RaggedTensor))
    kind = next(v.row_splits.dtype for v in values if isinstance(v, RaggedTensor))
    return [as_ragged(v, depth, kind) for v in values]


def concat(values: Sequence[Any], axis: Any) -> Any:
    """Return what `tf.concat` gives where any of the values is ragged."""
    ranks = [v.shape.rank for v in values if isinstance(v, RaggedTensor)]
    axis = axis_in(axis, next((rank for rank in ranks if rank is not None), None))
    if len(values) == 1:
        return values[0]
    values = _alike(values)
    if axis == 0:
        return _below(values)
    if axis > 1:
        with _after(assert_splits_match([[v.row_splits] for v in values])):
            return values[0].with_values(_joined([v.values for v in values], axis - 1))
    with _after(_same_count(values)):
        return _beside(values)


def _same_count(values: Sequence[RaggedTensor]) -> list[Any]:
    """Return assertions that all have as many rows."""
    first = values[0].nrows()
    text = "Input tensors at index 0 (=x) and {} (=y) have incompatible shapes."
    return [assert_equal(first, v.nrows(), message=text.format(i)) for i, v in enumerate(values[1:], 1)]


def _after(checks: Sequence[Any]) -> contextlib.AbstractContextManager[Any]:
    """Return a scope in which ops wait for assertions; eagerly these are checked already."""
    waiting = [check for check in checks if check is not None]
    return context.current_graph().control_dependencies(waiting) if waiting else contextlib.nullcontext()


def _joined(values: Sequence[Any], axis: int) -> Any:
    if any(isinstance(v, RaggedTensor) for v in values):
        return concat(values, axis)
    return raw.ConcatV2(list(values), axis)


def _below(values: Sequence[RaggedTensor]) -> RaggedTensor:
    """Return the rows of all, one after the other."""
    splits, end = [values[0].row_splits], values[0].row_splits[-1]
    for more in values[1:]:
        splits.append(more.row_splits[1:] + end)
        end = end + more.row_splits[-1]
    return rows_of(_joined([v.values for v in values], 0), raw.ConcatV2(splits, 0))


def _beside(values: Sequence[RaggedTensor]) -> RaggedTensor:
    """Return the first rows of all as one row, and so on."""
    count, kind = len(values), values[0].row_splits.dtype
    rows = values[0].nrows()
    order = raw.Range(np.array(0, kind.np), rows * np.array(count, kind.np), np.array(1, kind.np))
    order = raw.Reshape(raw.Transpose(raw.Reshape(order, raw.Pack([np.array(count, kind.np), rows])), [1, 0]), [-1])
    mixed = take(_below(values), order)
    return rows_of(mixed.values, mixed.row_splits[::count])


def stack(values: Sequence[Any], axis: Any = 0) -> Any:
    """Return what `tf.stack` gives where any of the values is ragged, or `tf.ragged.stack` for any."""
    values = [ragged_or_tensor(v) for v in values]
    rank = max(1, *[v.shape.rank for v in values])
    axis = axis_in(axis, max(v.shape.rank for v in values) + 1)
    if not any(isinstance(v, RaggedTensor) for v in values):
        if rank == 1 and axis == 1:
            return raw.Pack(list(values), axis=axis)
        if rank == 1 and all(v.shape.rank == 0 for v in values):
            return raw.Pack(list(values))
        if rank == 1:
            lengths = raw.Pack([raw.Shape(v)[0] for v in values])
            joined = raw.ConcatV2(list(values), 0) if len(values) > 1 else values[0]
            return RaggedTensor.from_row_lengths(joined, lengths, validate=False)
        values = [as_ragged(v) for v in values]
    if len(values) == 1:
        return with_new_axis(values[0], axis)
    values = _alike(values)
    if axis > 1:
        inner = [v.values for v in values]
        dense = not any(isinstance(v, RaggedTensor) for v in inner)
        return values[0].with_values(raw.Pack(inner, axis=axis - 1) if dense else stack(inner, axis - 1))
    if axis == 1:
        return _ragged_again(concat([expand_dims(v, 1) for v in values], 1))
    lengths = raw.Pack([v.nrows() for v in values])
    return RaggedTensor.from_row_lengths(_below(values), lengths, validate=False)


def _ragged_again(rows: RaggedTensor) -> RaggedTensor:
    return rows_of(rows.values, rows.row_splits)


# --- other axes -------------------------------------------------------------------------------------------------------


def expand_dims(value: Any, axis: Any) -> Any:
    """Return a value with a further axis of length 1."""
    if not isinstance(value, RaggedTensor):
        return raw.ExpandDims(value, axis)
    rank = value.shape.rank
    axis = int(axis) + (rank + 1 if axis < 0 else 0)
    kind = value.row_splits.dtype
    zero, one = np.array(0, kind.np), np.array(1, kind.np)
    if axis == 0:
        splits = raw.Pack([convert(zero), value.nrows()])
        return rows_of(value, splits, dimension_value(value.shape[0]))
    if axis == 1:
        return rows_of(value, raw.Range(zero, value.nrows() + one, one), 1)
    return value.with_values(expand_dims(value.values, axis - 1))


def with_new_axis(value: Any, axis: Any = 0) -> Any:
    """Return a value with a further axis that is not known to be of one length."""
    found = expand_dims(value, axis)
    return _ragged_again(found) if isinstance(found, RaggedTensor) else found


def squeeze(value: Any, axes: Sequence[int]) -> Any:
    """Return a value without these axes, whose length is 1."""
    if not axes:
        raise ValueError("squeeze of a ragged tensor needs the axes to drop")
    rank = value.shape.rank
    for axis in sorted({a + rank if a < 0 else a for a in axes}, reverse=True):
        value = _without(value, axis)
    return value


def _without(value: Any, axis: int) -> Any:
    if not isinstance(value, RaggedTensor):
        return raw.Squeeze(value, squeeze_dims=[axis])
    if axis == 0:
        return take(value, _once_one(convert(0), value.nrows(), axis))
    if axis > 1:
        return value.with_values(_without(value.values, axis - 1))
    if value._uniform == 1:
        return value.values
    if not isinstance(value.values, RaggedTensor):
        return _once_one(value.values, value.row_lengths(), axis)
    inner = value.values
    splits = _once_one(inner.row_splits, value.row_lengths(), axis)
    return RaggedTensor.from_row_splits(inner.values, splits, validate=False)


def _once_one(tensor: Any, lengths: Any, axis: int) -> Any:
    """Return a tensor once it is known, at once or in the run, that an axis that goes is of length 1 in all rows."""
    what = f"Can not squeeze axis {axis} of a ragged tensor: expected rows of length 1, got lengths"
    if isinstance(lengths, EagerTensor):
        if np.any(lengths._array != 1):
            raise invalid(f"{what} {lengths._array.tolist()}")
        return tensor
    condition = raw.All(raw.Reshape(raw.Equal(lengths, np.array(1, lengths.dtype.np)), [-1]), [0])
    with context.current_graph().control_dependencies([raw.Assert(condition, [what, lengths])]):
        return raw.Identity(tensor)


def tile(value: RaggedTensor, multiples: Any) -> Any:
    """Return a value repeated along each axis."""
    often = convert(multiples)
    times = often.constant_value()
    if times is None:
        for axis in reversed(range(value.shape.rank)):
            value = _repeated(value, axis, often[axis])
        return value
    for axis in reversed(range(len(times))):
        if times[axis] != 1:
            value = concat([value] * int(times[axis]), axis) if times[axis] else value[(slice(None),) * axis + _NONE]
    return value


_NONE = (slice(0, 0),)


def _repeated(value: Any, axis: int, times: Any) -> Any:
    """Return a value repeated along one axis as often as a tensor says when it runs."""
    if not isinstance(value, RaggedTensor):
        ones = np.ones(value.shape.rank, np.int32)
        return raw.Tile(value, raw.TensorScatterUpdate(ones, [[axis]], [raw.Cast(times, DstT=dtypes.int32)]))
    if axis > 1:
        return value.with_values(_repeated(value.values, axis - 1, times))
    splits = value.row_splits
    times = raw.Reshape(raw.Cast(times, DstT=splits.dtype), [1])
    if axis == 0:
        return gather(value, raw.Tile(raw.Range(splits[0], value.nrows(), splits[0] + 1), times))
    rows = raw.Shape(splits, out_type=splits.dtype) - 1
    ends = [
        raw.Reshape(raw.Tile(end[:, None], raw.ConcatV2([[1], times], 0)), [-1]) for end in (splits[:-1], splits[1:])
    ]
    order = raw.RaggedRange(*ends, splits[0] + 1, Tsplits=splits.dtype)[1]
    lengths = (splits[1:] - splits[:-1]) * raw.Tile(times, rows)
    return RaggedTensor.from_row_lengths(gather(value.values, order), lengths, validate=False)


def _axes(given: Any, rank: int) -> list[int]:
    """Return the axes that an argument `axis` names, each of which a value of `rank` has."""
    try:
        known = convert(given).constant_value()
    except (TypeError, ValueError):
        known = None
    if known is None or (known.size and known.dtype.kind not in "iu"):
        raise TypeError(
            f"`axis` must be a list of int or a constant tensor when reversing axes in a ragged tensor, not {given}"
        )
    known = np.atleast_1d(known)
    for place, axis in enumerate(known):
        if not -rank <= axis < rank:
            raise ValueError(f"axis[{place}]={axis} out of bounds: expected {-rank}<=axis[{place}]<{rank}")
    return [int(axis) for axis in known]


def reverse(value: RaggedTensor, axes: Any) -> Any:
    """Return a value with the order along some axes turned round."""
    rank = value.shape.rank
    turned = {a + (rank if a < 0 else 0) for a in _axes(axes, rank)}
    return value[tuple(slice(None, None, -1) if a in turned else slice(None) for a in range(rank))]
