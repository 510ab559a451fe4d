"""Looking elements up by their indices: gather, gather_nd, one_hot.

Every index is checked on the host (NumPy would take negative ones); an XLA engine clamps them instead. The gradient
of a gather along the first axis is `IndexedSlices`, along other axes a dense sum. Imports `slicing`, `array` and what
is before them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert, operand
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dims
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import Axis, DTypeLike, TensorLike
from ebbflow.ops import tf1_gradients
from ebbflow.ops.arrays.creation import building, ones, zeros
from ebbflow.ops.arrays.joining import concat, stack
from ebbflow.ops.arrays.shaping import reshape, shape, size
from ebbflow.ops.declare import FLAT, dense, raw, show
from ebbflow.ops.quick import numbers
from ebbflow.ops.sizes import int_vector, invalid, is_static, room_for, scalar_value, shape_of

# --- gather -----------------------------------------------------------------------------------------------------------

Gather = op(
    "Gather(params:Tparams, indices:Tindices) -> (output:Tparams)"
    " | validate_indices: bool = true; Tparams: type; Tindices: index",
    facts="static one_core=6 portable in_range=indices",
)
GatherV2 = op(
    "GatherV2(params:Tparams, indices:Tindices, axis:Taxis) -> (output:Tparams)"
    " | batch_dims: int = 0; Tparams: type; Tindices: type in [int16,int32,int64]; Taxis: index",
    facts="static one_core=6 portable known=axis in_range=indices",
)


@Gather.shape
def _(params, indices):
    return _gathered_dims(params.dims, indices.dims, 0, 0)


@GatherV2.shape
def _(params, indices, axis, *, batch_dims):
    if axis.rank not in (None, 0):
        raise errors.StaticShapeError("axis must be scalar")
    at = axis.value
    if at is None and params.dims is not None and indices.dims is not None:
        return (None,) * (len(params.dims) + len(indices.dims) - 1 - max(batch_dims, 0)) if batch_dims >= 0 else None
    return _gathered_dims(params.dims, indices.dims, None if at is None else int(at), batch_dims)


def _gathered_dims(params: Dims, indices: Dims, axis: int | None, batch_dims: int) -> Dims:
    if params is not None and not params:
        raise errors.StaticShapeError("params must be at least 1 dimensional")
    if params is None or indices is None or axis is None:
        return None
    at, batch = _gather_axes(len(params), len(indices), axis, batch_dims)
    for i in range(batch):
        if params[i] is not None and indices[i] is not None and params[i] != indices[i]:
            raise errors.StaticShapeError(
                f"params.shape[{i}]: {params[i]} should be equal to indices.shape[{i}]: {indices[i]}"
            )
    front = tuple(indices[i] if params[i] is None and i < batch else params[i] for i in range(at))
    return (*front, *indices[batch:], *params[at + 1 :])


def _gather_axes(rank: int, index_rank: int, axis: int, batch_dims: int) -> tuple[int, int]:
    """Return the axis and the number of batch axes, both counted from the front."""
    if not -rank <= axis < rank:
        raise errors.StaticShapeError(
            f"Shape must be at least rank {axis + 1 if axis >= 0 else -axis} but is rank {rank}"
        )
    if not -index_rank <= batch_dims <= index_rank:
        raise errors.StaticShapeError(
            f"Expected batch_dims in the range [{-index_rank}, {index_rank}], but got {batch_dims}"
        )
    axis = axis % rank
    batch = batch_dims + index_rank if batch_dims < 0 else batch_dims
    if batch >= rank:
        raise errors.StaticShapeError(f"batch_dims ({batch}) must be less than rank(params) ({rank}).")
    if batch > axis:
        raise errors.StaticShapeError(f"batch_dims ({batch}) must be less than or equal to axis ({axis})")
    return axis, batch


def check_range(indices: np.ndarray, length: int) -> None:
    """Refuse indices outside [0, length), naming the first."""
    if not indices.ndim:
        if not 0 <= indices < length:
            raise invalid(f"indices = {indices} is not in [0, {length})")
        return
    if indices.size <= 16:  # Python looks through a few sooner than NumPy starts
        values = indices.reshape(-1).tolist()
        if not values or (min(values) >= 0 and max(values) < length):
            return
    # As unsigned numbers negative indices are huge: one pass finds both ends.
    if int(indices.view(_UNSIGNED[indices.itemsize]).max()) >= length:
        at = tuple(int(i) for i in np.argwhere((indices < 0) | (indices >= length))[0])
        raise invalid(f"indices[{','.join(map(str, at))}] = {indices[at]} is not in [0, {length})")


_UNSIGNED = {2: np.uint16, 4: np.uint32, 8: np.uint64}  # by item size


@Gather.kernel
def _(xp, params, indices):
    if not params.ndim:
        raise invalid("params must be at least 1 dimensional")
    if xp is np:
        check_range(indices, params.shape[0])
    return xp.take(params, indices, axis=0, mode="clip")


@GatherV2.kernel
def _(xp, params, indices, axis, *, batch_dims):
    if axis.ndim:
        raise invalid("axis must be scalar")
    if not params.ndim:
        raise invalid("params must be at least 1 dimensional")
    at, batch = _gather_axes(params.ndim, indices.ndim, int(axis), batch_dims)
    if xp is np:
        check_range(indices, params.shape[at])
    if not batch:
        return xp.take(params, indices, axis=at, mode="clip")
    result = _gathered_dims(params.shape, indices.shape, at, batch)
    groups, outer = math.prod(params.shape[:batch]), math.prod(params.shape[batch:at])
    whole = params.reshape(groups, outer, params.shape[at], math.prod(params.shape[at + 1 :]))
    picks = indices.reshape(groups, 1, math.prod(indices.shape[batch:]))
    rows = xp.arange(groups).reshape(-1, 1, 1)
    return whole[rows, xp.arange(outer).reshape(1, -1, 1), picks].reshape(result)


@Gather.gradient
def _(call, grad):
    return _rows(call.params, call.indices, dense(grad)), None


@Gather.gradient_by_name
def _(call, grad):
    return tf1_gradients.gathered_rows(call.params, call.indices, dense(grad)), None


def _along(call: Any, grad: Any, rows: Callable[[Any, Any, Any], IndexedSlices]) -> tuple[Any, None, None]:
    """Return the gradient of a gather along an axis; along the first, `rows` gives it."""
    axis, grad = call.axis.constant_value(), dense(grad)
    if axis is not None and not int(axis) and not call.batch_dims:
        return rows(call.params, call.indices, grad), None, None
    return _gather_sum(call, grad, None if axis is None else int(axis)), None, None


@GatherV2.gradient
def _(call, grad):
    return _along(call, grad, _rows)


@GatherV2.gradient_by_name
def _(call, grad):
    return _along(call, grad, tf1_gradients.gathered_rows)


def _rows(params: Any, indices: Any, grad: Any) -> IndexedSlices:
    """Return the gradient of a gather along the first axis: each row of `grad` belongs to one row of `params`."""
    whole = convert(shape_of(params))
    if params._dims is not None and None not in params._dims[1:] and is_static(indices):
        values = raw.Reshape(grad, int_vector((math.prod(indices._dims), *params._dims[1:]), grad))
    else:
        count = raw.Reshape(raw.Size(indices), [1])
        values = raw.Reshape(grad, raw.ConcatV2([count, whole[1:]], 0))
    return IndexedSlices(values, raw.Reshape(indices, [-1]), whole)


def _gather_sum(call: Any, grad: Any, axis: int | None) -> Any:
    """Return the dense gradient: [batch, outer, picks, inner], as gathered, added up to [batch, outer, n, inner]."""
    params, indices = call.params, call.indices
    groups, outer, length, inner, picks = _sizes_around(call, axis)
    moved = raw.Transpose(raw.Reshape(grad, stack([groups, outer, picks, inner])), [0, 2, 1, 3])
    rows = raw.Reshape(moved, stack([groups * picks, outer, inner]))
    wide = indices if indices.dtype is not dtypes.int16 else raw.Cast(indices, DstT=dtypes.int32)
    kind = wide.dtype
    starts = raw.Mul(raw.Range(*(_as(n, kind) for n in (0, groups, 1))), _as(length, kind))
    at = raw.AddV2(raw.Reshape(wide, stack([groups, picks])), raw.Reshape(starts, [-1, 1]))
    total = raw.UnsortedSegmentSum(rows, raw.Reshape(at, [-1]), groups * length)
    whole = raw.Transpose(raw.Reshape(total, stack([groups, length, outer, inner])), [0, 2, 1, 3])
    return raw.Reshape(whole, shape_of(params))


def _as(number: Any, kind: Any) -> Any:
    if isinstance(number, Tensor):
        return number if number.dtype is kind else raw.Cast(number, DstT=kind)
    return convert(number, kind)


def _sizes_around(call: Any, axis: int | None) -> tuple[Any, Any, Any, Any, Any]:
    """Return the numbers of batches, of elements before, at and behind the axis, and of indices: ints where known."""
    params, indices, batch = call.params, call.indices, call.batch_dims
    if batch < 0:
        batch += len(indices._dims) if indices._dims is not None else raw.Rank(indices)
    if axis is not None and is_static(params) and is_static(indices):
        dims = params._dims
        at = axis % len(dims)
        return (
            math.prod(dims[:batch]),
            math.prod(dims[batch:at]),
            dims[at],
            math.prod(dims[at + 1 :]),
            math.prod(indices._dims[batch:]),
        )
    dims, at = raw.Shape(params), _as(call.axis if axis is None else axis, dtypes.int32)
    at = raw.FloorMod(at, raw.Rank(params))
    picks = raw.Prod(raw.Shape(indices)[batch:], [0])
    return raw.Prod(dims[:batch], [0]), raw.Prod(dims[batch:at], [0]), dims[at], raw.Prod(dims[at + 1 :], [0]), picks


# --- gather_nd --------------------------------------------------------------------------------------------------------

GatherNd = op(
    "GatherNd(params:Tparams, indices:Tindices) -> (output:Tparams)"
    ' | Tparams: type; Tindices: type in [int16,int32,int64]; bad_indices_policy: string = ""',
    facts="one_core=6 portable in_range=indices",
)


@GatherNd.shape
def _(params, indices):
    if params.dims == ():
        raise errors.StaticShapeError("params must be at least a vector")
    if indices.dims == ():
        raise errors.StaticShapeError("indices must be at least a vector")
    if params.dims is None or indices.dims is None or indices.dims[-1] is None:
        return None
    depth = indices.dims[-1]
    if depth > len(params.dims):
        raise errors.StaticShapeError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {show(indices.dims)} and params shape: "
            f"{show(params.dims)}"
        )
    return (*indices.dims[:-1], *params.dims[depth:])


@GatherNd.kernel
def _(xp, params, indices, *, bad_indices_policy):
    if not params.ndim or not indices.ndim:
        raise ValueError("params and indices must be at least vectors")
    depth, lead = indices.shape[-1], indices.shape[:-1]
    if depth > params.ndim:
        raise invalid(f"index innermost dimension length must be <= params rank; saw: {depth} vs. {params.ndim}")
    if math.prod(lead) and not math.prod(params.shape):
        raise invalid(f"Requested more than 0 entries, but params is empty.  Params shape: {show(params.shape)}")
    if not depth:
        return xp.broadcast_to(params, (*lead, *params.shape))
    if xp is not np:  # nothing can be refused on an accelerator: what is outside counts as zero
        bad = outside(xp, indices, params.shape[:depth])
        found = params[tuple(indices[..., i] for i in range(depth))]
        return xp.where(bad.reshape(*lead, *[1] * (params.ndim - depth)), xp.zeros((), params.dtype), found)
    bad = outside(np, indices, params.shape[:depth])
    if not bad.any():
        return params[tuple(indices[..., i] for i in range(depth))]
    if ignores(bad_indices_policy):
        kept = params[tuple(np.where(bad, 0, indices[..., i]) for i in range(depth))]
        kept[bad] = b"" if kept.dtype.hasobject else 0
        return kept
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    raise invalid(
        f"indices[{','.join(map(str, at))}] = [{', '.join(map(str, indices[at].tolist()))}] does not index into param "
        f"shape {show(params.shape)}"
    )


def outside(xp: Any, indices: Any, dims: tuple[int, ...]) -> Any:
    """Return which of the index tuples in the last axis point outside `dims`."""
    return ((indices < 0) | (indices >= xp.array(dims, np.int64))).any(axis=-1)


def ignores(policy: str) -> bool:
    """Return whether bad indices are passed over and not refused."""
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise invalid(f"bad_indices_policy must be one of '', 'DEFAULT', 'ERROR' and 'IGNORE', not {policy!r}")
    return policy == "IGNORE"


@GatherNd.gradient
def _(call, grad):
    params, indices, grad = call.params, call.indices, dense(grad)
    if indices._dims is not None and len(indices._dims) == 2 and indices._dims[1] == 1:
        return IndexedSlices(grad, raw.Squeeze(indices, squeeze_dims=[-1]), convert(shape_of(params))), None
    wide = indices if indices.dtype is not dtypes.int16 else raw.Cast(indices, DstT=dtypes.int32)
    if indices._dims is None or len(indices._dims) < 2:  # ScatterNd takes index tuples as rows
        dims, whole = raw.Shape(wide), raw.Shape(params)
        count = raw.Reshape(raw.Prod(dims[:-1], [0]), [1])
        wide = raw.Reshape(wide, raw.ConcatV2([count, dims[-1:]], 0))
        grad = raw.Reshape(grad, raw.ConcatV2([count, whole[dims[-1] :]], 0))
    return raw.ScatterNd(wide, grad, shape_of(params, wide.dtype), bad_indices_policy=call.bad_indices_policy), None


# --- one_hot and where ------------------------------------------------------------------------------------------------

OneHot = op(
    "OneHot(indices:TI, depth:int32, on_value:T, off_value:T) -> (output:T)"
    " | axis: int = -1; T: type; TI: type in [uint8,int8,int32,int64] = int64",
    gradient=FLAT,
    facts="fresh cheap portable sizes=depth",
)


def _hot_axis(rank: int, axis: int) -> int:
    if not -1 <= axis <= rank:
        raise errors.StaticShapeError(f"Expected axis to be -1 or between [0, {rank + 1}).  But received: {axis}")
    return rank if axis == -1 else axis


@OneHot.shape
def _(indices, depth, on_value, off_value, *, axis):
    for arg, name in ((depth, "depth"), (on_value, "on_value"), (off_value, "off_value")):
        if arg.rank not in (None, 0):
            raise errors.StaticShapeError(f"{name} must be a scalar, but got: {show(arg.dims)}")
    count = scalar_value(depth, "depth")
    if count is not None and count < 0:
        raise errors.StaticShapeError(f"depth must be non-negative, got: {count}")
    if indices.dims is None:
        return None
    at = _hot_axis(len(indices.dims), axis)
    return (*indices.dims[:at], None if count is None else int(count), *indices.dims[at:])


@OneHot.kernel
def _(xp, indices, depth, on_value, off_value, *, axis):
    if depth.ndim or on_value.ndim or off_value.ndim or depth < 0:
        raise ValueError("depth, on_value and off_value must be scalars")
    count, at = int(depth), _hot_axis(indices.ndim, axis)
    room_for((*indices.shape, count), on_value.dtype.itemsize)
    if xp is not np:
        return xp.moveaxis(xp.where(indices[..., None] == xp.arange(count), on_value, off_value), -1, at)
    if not indices.ndim:  # a label of a dataset: 3 µs instead of 30
        row = np.empty(count, on_value.dtype)
        row.fill(off_value[()])
        if 0 <= indices < count:
            row[indices] = on_value[()]
        return row
    flat = indices.reshape(-1)
    table = np.full((flat.size, count), off_value[()], on_value.dtype)
    rows = np.flatnonzero((flat >= 0) & (flat < count))
    table[rows, flat[rows]] = on_value[()]
    return np.moveaxis(table.reshape(*indices.shape, count), -1, at)


Where = op(
    "Where(input:T) -> (index:int64) | T: type in [numbers,bool] = bool",
    gradient=FLAT,
    facts="static data_dependent beside one_core=14",
)


@Where.shape
def _(input):
    return (None, input.rank)


@Where.kernel
def _(xp, input):
    if not input.ndim:
        raise invalid("WhereOp : Unhandled input dimensions: 0")
    return np.argwhere(input)


# --- public -----------------------------------------------------------------------------------------------------------


def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    axis: Axis = None,
    batch_dims: TensorLike = 0,
    name: str | None = None,
) -> Tensor:
    """Return the slices of `params` along `axis` that `indices` name.

    >>> gather([10, 20, 30], [2, 0]).numpy().tolist()
    [30, 10]
    """
    if axis is None:
        axis = batch_dims
    if axis.__class__ is int and not axis and not batch_dims:
        if hasattr(params, "sparse_read"):
            return params.sparse_read(indices, name=name)
        if not context.graph_scopes or context.current_graph() is None:
            return _gather_now(params, indices)
    return GatherV2(params, indices, axis, batch_dims=batch_dims, name=name)


def _gather_now(params: Any, indices: Any) -> Any:
    if indices.__class__ is list and (found := numbers(indices, None)) is not None:
        indices = EagerTensor(*found)
    if indices.__class__ is EagerTensor and indices._dtype is dtypes.int16:
        return GatherV2(params, indices, 0)
    return Gather(params, indices)


def gather_v1(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: Axis = None,
    batch_dims: TensorLike = 0,
) -> Tensor:
    """Return the slices of `params` along `axis` that `indices` name."""
    return gather(params, indices, validate_indices, axis, batch_dims, name)


def gather_nd(
    params: TensorLike,
    indices: TensorLike,
    batch_dims: TensorLike = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """Return the elements (or slices) of `params` at the index tuples in the last axis of `indices`.

    >>> gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy().tolist()
    [2, 3]
    """
    count = batch_dims if isinstance(batch_dims, int) else int(convert(batch_dims).constant_value())
    if count:
        return _batch_gather_nd(params, indices, count, name, bad_indices_policy)
    if hasattr(params, "gather_nd"):
        return params.gather_nd(indices, name=name)
    return GatherNd(params, indices, bad_indices_policy=bad_indices_policy, name=name)


def gather_nd_v1(
    params: TensorLike,
    indices: TensorLike,
    name: str | None = None,
    batch_dims: TensorLike = 0,
    bad_indices_policy: str = "",
) -> Tensor:
    """Return the elements (or slices) of `params` at the index tuples in the last axis of `indices`."""
    return gather_nd(params, indices, batch_dims, name, bad_indices_policy)


def _batch_gather_nd(params: Any, indices: Any, batch_dims: int, name: str | None, policy: str) -> Any:
    """Put the batch's own coordinates in front of each index tuple, and gather by those."""
    with name_scope(name, "BatchGatherND", [params, indices]):
        params, indices = convert(params, None, None, "params"), convert(indices, None, None, "indices")
        rank = None if indices._dims is None else len(indices._dims)
        if batch_dims < 0 or (rank is not None and batch_dims >= rank):
            raise ValueError(f"batch_dims = {batch_dims} must be less than rank(indices) = {rank}")
        if params._dims is not None and batch_dims >= len(params._dims):
            raise ValueError(f"batch_dims = {batch_dims} must be less than rank(params) = {len(params._dims)}")
        lead = raw.ConcatV2([shape(indices)[:-1], [1]], 0)
        parts = []
        for d in range(batch_dims):
            steps = raw.Cast(raw.Range(0, shape(indices)[d], 1), DstT=indices.dtype)
            behind: Any = [1] * (rank - 1 - d) if rank is not None else raw.Fill([raw.Rank(indices) - (1 + d)], 1)
            parts.append(raw.BroadcastTo(raw.Reshape(steps, raw.ConcatV2([[-1], behind], 0)), lead))
        return GatherNd(params, raw.ConcatV2([*parts, indices], -1), bad_indices_policy=policy)


def batch_gather(params: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """Return, for each batch, the entries of `params` that the last axis of `indices` names."""
    with name_scope(name, "BatchGather", [params, indices]):
        indices = operand(indices, None, None, "indices")
        params = operand(params, None, None, "params")
        if not (isinstance(indices, Tensor) and isinstance(params, Tensor)):  # one of them is ragged
            rank = indices.shape.rank
            if rank is None:
                raise ValueError("batch_gather does not allow indices with unknown shape.")
            return GatherV2(params, indices, rank - 1, batch_dims=rank - 1)
        if indices._dims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        rank = len(indices._dims)
        own, whole = shape(indices), shape(params)
        if building() is None:
            return GatherV2(params, indices, rank - 1, batch_dims=rank - 1)
        stride = ones((), indices.dtype)
        lengths = raw.Cast(whole, DstT=indices.dtype)
        for dim in range(rank - 2, -1, -1):
            length = lengths[dim]
            stride = stride * lengths[dim + 1]
            steps = raw.Range(zeros((), indices.dtype), length, ones((), indices.dtype)) * stride
            indices = indices + reshape(steps, stack([1] * dim + [length] + [1] * (rank - dim - 1), axis=0))
        flat = reshape(indices, [-1])
        tail = whole[rank:]
        rows = reshape(params, concat([[raw.Prod(whole[:rank], [0])], tail], 0))
        return reshape(GatherV2(rows, flat, 0), concat([own, tail], 0))


def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Return vectors of length `depth` that are `on_value` at each index and `off_value` elsewhere.

    >>> one_hot([0, 2], 3, dtype=dtypes.int32).numpy().tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    kind = None if dtype is None else as_dtype(dtype)
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        on = None if on_value is None else _hot_value(on_value, kind, "on_value")
        off = None if off_value is None else _hot_value(off_value, kind, "off_value")
        if on is not None and off is not None and on.dtype.base_dtype is not off.dtype.base_dtype:
            raise TypeError(f"dtype {on.dtype!r} of on_value does not match dtype {off.dtype!r} of off_value")
        found = kind or next((t.dtype.base_dtype for t in (on, off) if t is not None), dtypes.float32)
        if context.switches.tf1:  # 1.15 handed the op what it was given, which the op converts once more
            on, off = on_value, off_value
        on = convert(1, found, None, "on_value") if on is None else on
        off = convert(0, found, None, "off_value") if off is None else off
        return OneHot(indices, depth, on, off, axis=-1 if axis is None else axis, name=scope or "one_hot")


def _hot_value(value: Any, kind: Any, label: str) -> Any:
    tensor = convert(value, None, kind)
    given = getattr(value, "dtype", None)  # a NumPy value keeps its own
    if kind is not None and given is not None and as_dtype(given).base_dtype is not kind:
        tensor = convert(value)
    if kind is not None and tensor.dtype.base_dtype is not kind:
        raise TypeError(f"dtype {tensor.dtype!r} of {label} does not match dtype parameter {kind!r}")
    return tensor


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Return the coordinates of a grid over the vectors given, one tensor each (`indexing` "xy" or "ij").

    >>> [g.numpy().tolist() for g in meshgrid([1, 2], [3, 4])]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        if not count:
            return []
        single = [1] * count
        grids = [reshape(stack(x), [*single[:i], -1, *single[i + 1 :]]) for i, x in enumerate(args)]
        sizes = [size(x) for x in args]
        kind = convert(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            grids[0] = reshape(grids[0], [1, -1, *single[2:]])
            grids[1] = reshape(grids[1], [-1, 1, *single[2:]])
            sizes[0], sizes[1] = sizes[1], sizes[0]
        whole = ones(sizes, kind)
        return [grid * whole for grid in grids]
