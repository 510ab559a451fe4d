"""Arrays put together and taken apart: concat, stack, split, unstack.

Also says how a Python list that holds tensors becomes one tensor (`pack_list`, given to `core.convert`): what looks
like a number among tensors is stacked with them. Imports `shaping` and `creation`; imported by the families behind it
and by the tape.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert, holds_tensors, provide_pack
from ebbflow.core.dtypes import DType
from ebbflow.core.elsewhere import RunElsewhere
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dims, TensorShape, from_dims, merge_dims
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.ops import tf1_gradients
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.arrays.shaping import checked_scalar
from ebbflow.ops.declare import FLAT, dense, raw, show
from ebbflow.ops.quick import all_eager, int32, result_of, results_of
from ebbflow.ops.sizes import int_vector, invalid, scalar_value, vector

__all__ = ["concat", "split", "stack", "unstack", "zeros_like"]

# --- concat -----------------------------------------------------------------------------------------------------------

ConcatV2 = op(
    "ConcatV2(values:N*T, axis:Tidx) -> (output:T) | N: int >= 2; T: type; Tidx: index = int32",
    facts="static portable known=axis",
)
Concat = op(
    "Concat(concat_dim:int32, values:N*T) -> (output:T) | N: int >= 2; T: type", facts="portable known=concat_dim"
)


def _joined_dims(values: Any, axis: Any) -> Dims:
    """Return the dims of `values` set behind each other along `axis`, which may be unknown."""
    rank = next((len(v.dims) for v in values if v.dims is not None), None)
    at = checked_scalar(axis, "axis")
    if rank is None:
        return None
    if rank == 0:
        raise errors.StaticShapeError("Can't concatenate scalars (use tf.stack instead)")
    _same_rank(values, rank)
    if at is None:
        return (None,) * rank
    if not -rank <= at < rank:
        raise errors.StaticShapeError(
            f"Shape must be at least rank {at + 1 if at >= 0 else -at} but is rank {rank}: "
            f"Expected concatenating dimensions in the range [{-rank}, {rank}), but got {at}"
        )
    at = int(at) % rank
    total: int | None = 0
    merged: Dims = (None,) * rank
    for value in values:
        dims = (None,) * rank if value.dims is None else value.dims
        total = None if total is None or dims[at] is None else total + dims[at]  # type: ignore[operator]
        merged = _merged_but(merged, dims, at)
    return (*merged[:at], total, *merged[at + 1 :])  # type: ignore[index]


def _same_rank(values: Any, rank: int) -> None:
    for value in values:
        if value.dims is not None and len(value.dims) != rank:
            raise errors.StaticShapeError(
                f"Shape must be rank {rank} but is rank {len(value.dims)}: Ranks of all input tensors should match"
            )


def _merged_but(a: Any, b: Any, at: int) -> Any:
    """Return the two dims merged, all lengths but the one at `at`, which is left unknown."""
    result = []
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        if i != at and x is not None and y is not None and x != y:
            raise errors.StaticShapeError(
                f"Dimension {i} in both shapes must be equal, but are {x} and {y}. Shapes are {show(a)} and {show(b)}."
            )
        result.append(None if i == at else y if x is None else x)
    return tuple(result)


ConcatV2.shape(lambda values, axis: _joined_dims(values, axis))
Concat.shape(lambda concat_dim, values: _joined_dims(values, concat_dim))


_LARGEST_RANK = 64  # NumPy's; and to NumPy an axis of -(2**31) means all axes


def _concatenate(xp: Any, values: Any, axis: Any) -> Any:
    at = int(axis.reshape(()))
    try:
        if at < -_LARGEST_RANK:
            raise IndexError
        return xp.concatenate(values, axis=at)
    except (ValueError, TypeError, IndexError):
        raise _bad_concat([v.shape for v in values], at) from None


def _bad_concat(shapes: list[tuple[int, ...]], at: int) -> errors.InvalidArgumentError:
    first = shapes[0]
    rank = len(first)
    if () in shapes:
        return invalid("ConcatOp : Can't concatenate scalars (use tf.stack instead)")
    if not -rank <= at < rank:
        return invalid(f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but got {at}")
    for i, dims in enumerate(shapes):
        if len(dims) != rank:
            return invalid(
                "ConcatOp : Ranks of all input tensors should match: "
                f"shape[0] = {show(first)} vs. shape[{i}] = {show(dims)}"
            )
        for j, (x, y) in enumerate(zip(first, dims, strict=True)):
            if j != at % rank and x != y:
                return invalid(
                    f"ConcatOp : Dimension {j} in both shapes must be equal: "
                    f"shape[0] = {show(first)} vs. shape[{i}] = {show(dims)}"
                )
    return invalid(f"ConcatOp : cannot concatenate shapes {', '.join(map(show, shapes))}")


ConcatV2.kernel(lambda xp, values, axis: _concatenate(xp, values, axis))
Concat.kernel(lambda xp, concat_dim, values: _concatenate(xp, values, concat_dim))


def _parted(grad: Any, values: Any, axis: Any) -> list[Any]:
    """Return the pieces of `grad` that belong to the `values` concatenated."""
    grad = dense(grad)
    at = axis.constant_value()
    narrow = axis if axis.dtype is dtypes.int32 else raw.Cast(axis, DstT=dtypes.int32)
    if at is not None and all(v._dims is not None for v in values):
        sizes = [v._dims[int(at.reshape(()))] for v in values]
        if None not in sizes:
            return raw.SplitV(grad, int_vector(sizes, grad), narrow, num_split=len(sizes))
    shapes = raw.ShapeN(values)
    offsets = raw.ConcatOffset(narrow, shapes)
    return [raw.Slice(grad, offset, shape) for offset, shape in zip(offsets, shapes, strict=True)]


@ConcatV2.gradient
def _(call, grad):
    return [*_parted(grad, call.values, call.axis), None]


@ConcatV2.gradient_by_name
def _(call, grad):
    return [*tf1_gradients.parted(dense(grad), call.values, call.axis), None]


@Concat.gradient
def _(call, grad):
    return [None, *_parted(grad, call.values, call.concat_dim)]


@Concat.gradient_by_name
def _(call, grad):
    return [None, *tf1_gradients.parted(dense(grad), call.values, call.concat_dim)]


ConcatOffset = op(
    "ConcatOffset(concat_dim:int32, shape:N*shape_type) -> (offset:N*shape_type)"
    " | N: int >= 2; shape_type: index = int32",
    gradient=FLAT,
    facts="static bounded portable known=concat_dim,shape",
)


@ConcatOffset.shape
def _(concat_dim, shape):
    scalar_value(concat_dim, "concat_dim")
    return [(vector(s, "shape"),) for s in shape]


@ConcatOffset.kernel
def _(xp, concat_dim, shape):
    rank = shape[0].size
    if concat_dim.ndim:
        raise invalid(f"Concat dim tensor should be a scalar integer, but got shape {show(concat_dim.shape)}")
    at = int(concat_dim)
    if not -rank <= at < rank:
        raise invalid(f"Concat dim is out of range: {at} vs. {rank}")
    at %= rank
    offsets, total = [], 0
    for i, dims in enumerate(shape):
        if dims.size != rank:
            raise invalid(f"input {i} should contain {rank} elements, but got {dims.size}")
        if any(dims[j] != shape[0][j] for j in range(rank) if j != at):
            raise invalid(
                f"All dimensions except {at} must match. Input {i} has shape [{' '.join(map(str, dims.tolist()))}] "
                f"and doesn't match input 0 with shape [{' '.join(map(str, shape[0].tolist()))}]."
            )
        offset = np.zeros(rank, dims.dtype)
        offset[at] = total
        offsets.append(offset)
        total += int(dims[at])
    return offsets


# --- split ------------------------------------------------------------------------------------------------------------

Split = op(
    "Split(split_dim:int32, value:T) -> (output:num_split*T) | num_split: int >= 1; T: type",
    facts="view static known=split_dim",
)


def _split_axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise errors.StaticShapeError(f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}")
    return axis % rank


@Split.shape
def _(split_dim, value, *, num_split):
    at = scalar_value(split_dim, "split_dim")
    if value.dims is None:
        return [None] * num_split
    if at is None:
        return [(None,) * len(value.dims)] * num_split
    at = _split_axis(int(at), len(value.dims))
    length = value.dims[at]
    if length is not None and length % num_split:
        raise errors.StaticShapeError(
            "Number of ways to split should evenly divide the split dimension, but got split_dim "
            f"{at} (size = {length}) and num_split {num_split}"
        )
    part = None if length is None else length // num_split
    return [(*value.dims[:at], part, *value.dims[at + 1 :])] * num_split


def _plain(scalar: Any) -> int:
    """Return a scalar's number; older NumPy would take a vector of one for it."""
    if scalar.ndim:
        raise TypeError("not a scalar")
    return int(scalar)


@Split.kernel
def _(xp, split_dim, value, *, num_split):
    at, rank = _plain(split_dim), value.ndim
    if not -rank <= at < rank or value.shape[at] % num_split:
        raise ValueError(f"cannot split axis {at} of {show(value.shape)} into {num_split}")
    step = value.shape[at] // num_split
    before = (slice(None),) * (at % rank)
    return [value[(*before, slice(i * step, i * step + step))] for i in range(num_split)]


@Split.gradient
def _(call, *grads):
    return None, ConcatV2(list(grads), call.split_dim, name="concat") if len(grads) > 1 else grads[0]


SplitV = op(
    "SplitV(value:T, size_splits:Tlen, split_dim:int32) -> (output:num_split*T)"
    " | num_split: int >= 1; T: type; Tlen: type in [int8,int32,int64] = int64",
    facts="view static known=split_dim sizes=size_splits",
)


def _split_sizes(sizes: list[int], length: int | None) -> list[int | None]:
    """Return the lengths of the parts: one of them may be -1, the rest of the axis."""
    gaps = [i for i, n in enumerate(sizes) if n == -1]
    for i, n in enumerate(sizes):
        if n < -1:
            raise errors.StaticShapeError(f"Split size at index {i} must be >= 0. Got: {n}")
    if len(gaps) > 1:
        raise errors.StaticShapeError("There can only be one -1 in the input.")
    known = sum(n for n in sizes if n != -1)
    if length is not None and (known > length or (not gaps and known != length)):
        raise errors.StaticShapeError(
            "Determined shape must either match input shape along split_dim exactly if fully specified, or be less "
            f"than the size of the input along split_dim if not fully specified.  Got: {known}"
        )
    return [n if n != -1 else None if length is None else length - known for n in sizes]


def _split_vector(dims: Dims, count: int) -> None:
    if dims is not None and (len(dims) != 1 or dims[0] not in (None, count)):
        raise errors.StaticShapeError(
            "size of the split_tensor must be 1-D and have the same elements as outputs got "
            f"{len(dims)} -D and {dims[-1] if dims else 1} elements"
        )


@SplitV.shape
def _(value, size_splits, split_dim, *, num_split):
    _split_vector(size_splits.dims, num_split)
    at = scalar_value(split_dim, "split_dim")
    if value.dims is None:
        return [None] * num_split
    if at is None:
        return [(None,) * len(value.dims)] * num_split
    at = _split_axis(int(at), len(value.dims))
    known = size_splits.value
    parts = [None] * num_split if known is None else _split_sizes(known.tolist(), value.dims[at])
    if num_split == 1 and parts[0] is None:
        parts = [value.dims[at]]
    return [(*value.dims[:at], part, *value.dims[at + 1 :]) for part in parts]


@SplitV.kernel
def _(xp, value, size_splits, split_dim, *, num_split):
    at, rank = _plain(split_dim), value.ndim
    _split_vector(size_splits.shape, num_split)
    at = _split_axis(at, rank)
    before, start, parts = (slice(None),) * at, 0, []
    for size in _split_sizes(size_splits.tolist(), value.shape[at]):
        parts.append(value[(*before, slice(start, start + size))])
        start += size
    return parts


@SplitV.gradient
def _(call, *grads):
    return ConcatV2(list(grads), call.split_dim, name="concat") if len(grads) > 1 else grads[0], None, None


# --- pack and unpack --------------------------------------------------------------------------------------------------

Pack = op("Pack(values:N*T) -> (output:T) | N: int >= 1; T: type; axis: int = 0", facts="static portable")


@Pack.shape
def _(values, *, axis):
    dims = values[0].dims
    for i, other in enumerate(values):
        try:
            dims = merge_dims(dims, other.dims)
        except ValueError:
            raise errors.StaticShapeError(
                f"Shapes of all inputs must match: values[0].shape = {show(values[0].dims)} != "
                f"values[{i}].shape = {show(other.dims)}"
            ) from None
    if dims is None:
        return None
    room = len(dims) + 1
    if not -room <= axis < room:
        raise errors.StaticShapeError(f"axis = {axis} not in [{-room}, {room})")
    at = axis % room
    return (*dims[:at], len(values), *dims[at:])


@Pack.kernel
def _(xp, values, *, axis):
    if axis == 0 and xp is np and all([v.shape == values[0].shape for v in values]):
        return np.array(values) if not values[0].dtype.hasobject else np.stack(values)
    return xp.stack(values, axis=axis)


@Pack.gradient
def _(call, grad):
    return Unpack(grad, num=call.N, axis=call.axis, name="unstack")


Unpack = op("Unpack(value:T) -> (output:num*T) | num: int >= 0; T: type; axis: int = 0", facts="view static")


def _unpack_axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise errors.StaticShapeError(f"axis = {axis} not in [{-rank}, {rank})")
    return axis % rank


@Unpack.shape
def _(value, *, num, axis):
    if value.dims is None:
        return [None] * num
    at = _unpack_axis(axis, len(value.dims))
    if value.dims[at] not in (None, num):
        raise errors.StaticShapeError(
            f"Dimension must be {num} but is {value.dims[at]}: Input shape axis {axis} must equal {num}, "
            f"got shape {show(value.dims)}"
        )
    return [(*value.dims[:at], *value.dims[at + 1 :])] * num


@Unpack.kernel
def _(xp, value, *, num, axis):
    at = _unpack_axis(axis, value.ndim)
    if value.shape[at] != num:
        raise invalid(f"Input shape axis {axis} must equal {num}, got shape {show(value.shape)}")
    before = (slice(None),) * at
    return [value[(*before, i, ...)] for i in range(num)]


@Unpack.gradient
def _(call, *grads):
    return Pack(list(grads), axis=call.axis, name="stack") if grads else zeros_like(call.value)


# --- lists that hold tensors ------------------------------------------------------------------------------------------


def pack_list(values: Any, dtype: DType | None = None, name: str | None = None) -> Tensor:
    """Return a list that holds tensors as one tensor.

    The first tensor in it decides the type of the numbers beside it, unless `dtype` does; tensors are cast to a
    `dtype` asked for.
    """
    found = _first_type(values)
    with name_scope(name, "packed", values) as scope:
        return _packed(values, dtype or found, dtype is not None and dtype is not found, scope)  # type: ignore[arg-type]


def _packed(values: Any, dtype: DType, casts: bool, name: Any) -> Tensor:
    parts = []
    for i, item in enumerate(values):
        if isinstance(item, (list, tuple)):
            if holds_tensors(item):
                with name_scope(str(i)) as scope:
                    item = _packed(item, dtype, casts, scope)
            else:
                item = convert(item, dtype, None, str(i))
        elif isinstance(item, (Tensor, TensorShape)) or holds_tensors((item,)):
            item = convert(item)
            if casts and item.dtype.base_dtype is not dtype:
                item = raw.Cast(item, DstT=dtype)
        else:
            item = convert(item, dtype, None, str(i))
        parts.append(item)
    return Pack(parts, name=name or "packed")


def _first_type(values: Any) -> DType | None:
    for item in values:
        if isinstance(item, (list, tuple)):
            found = _first_type(item)
        else:
            found = getattr(item, "dtype", None) if isinstance(item, Tensor) or holds_tensors((item,)) else None
        if found is not None:
            return found.base_dtype
    return None


provide_pack(pack_list)


# --- public -----------------------------------------------------------------------------------------------------------


def concat(values: TensorLike, axis: Axis, name: str = "concat") -> Tensor:
    """Return the tensors set behind each other along `axis`.

    >>> concat([[1, 2], [3]], 0).numpy().tolist()
    [1, 2, 3]
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not context.graph_scopes and axis.__class__ is int and len(values) > 1 and all_eager(values):
        return _concat_now(values, axis)
    if len(values) == 1:
        with name_scope(name or "concat") as scope:
            at = convert(axis, None, dtypes.int32, "concat_dim")
            if at._dims not in ((), None):
                raise ValueError(f"Shape {at.shape} must have rank 0")
            return raw.Identity(values[0], name=name or "concat") if scope else raw.Identity(values[0])
    if not values:
        raise ValueError("tf.concat needs at least one tensor")
    return ConcatV2(list(values), axis, name=name or "concat")


def _concat_now(values: Any, axis: int) -> Tensor:
    try:
        if axis < -_LARGEST_RANK:
            raise IndexError
        array = np.concatenate([v._array for v in values], axis)
    except Exception:  # the full path explains it
        return ConcatV2(list(values), axis)
    dtype = values[0]._dtype
    attrs = {"N": len(values), "T": dtype, "Tidx": dtypes.int32}
    return result_of(ConcatV2, (*values, int32(axis)), array, dtype, attrs)


def stack(values: TensorLike, axis: int = 0, name: str = "stack") -> Tensor:
    """Return the tensors as slices of one, along a new axis.

    >>> stack([[1, 2], [3, 4]], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    name = name or "stack"
    if values.__class__ is list and values and not context.graph_scopes and axis.__class__ is int and all_eager(values):
        return _stack_now(values, axis)
    if axis == 0:
        try:
            return convert(values, None, None, name)
        except (TypeError, ValueError):
            pass  # numbers and tensors that do not agree: the op says how
    values = list(values) if isinstance(values, tuple) else values
    if isinstance(values, list) and values:
        dims = _dims_of(values[0])
        if dims is not None and not -len(dims) - 1 <= axis <= len(dims):
            raise ValueError(f"Argument `axis` = {axis} not in range [{-len(dims) - 1}, {len(dims) + 1})")
    elif isinstance(values, Tensor):
        values = unstack(values)
    return Pack(values, axis=axis, name=name)


def _stack_now(values: list[Any], axis: int) -> Tensor:
    arrays = [v._array for v in values]
    dims = arrays[0].shape
    if not -len(dims) - 1 <= axis <= len(dims):
        raise ValueError(f"Argument `axis` = {axis} not in range [{-len(dims) - 1}, {len(dims) + 1})")
    try:
        array = Pack.kernel_fn(np, arrays, axis=axis)
    except Exception:  # the full path explains it
        return Pack(values, axis=axis)
    dtype = values[0]._dtype
    return result_of(Pack, values, array, dtype, {"N": len(values), "T": dtype, "axis": axis})


def _dims_of(value: Any) -> Dims:
    if isinstance(value, Tensor):
        return value._dims
    if isinstance(value, (list, tuple)):
        inner = _dims_of(value[0]) if value else ()
        return None if inner is None else (len(value), *inner)
    shape = getattr(value, "shape", ())
    return shape._dims if isinstance(shape, TensorShape) else tuple(shape)


def unstack(value: TensorLike, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """Return the slices of `value` along `axis`, as a list.

    >>> [int(x) for x in unstack([1, 2])]
    [1, 2]
    """
    if num is None:
        value = convert(value)
        dims = value._dims
        if dims is not None:
            if not -len(dims) <= axis < len(dims):
                raise ValueError(f"Argument `axis` = {axis} not in range [{-len(dims)}, {len(dims)})")
            num = dims[axis]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {from_dims(dims)}")
        if value.__class__ is EagerTensor and not context.graph_scopes:
            try:
                arrays = Unpack.kernel_fn(np, value._array, num=num, axis=axis)
            except RunElsewhere:
                return Unpack(value, num=num, axis=axis)
            return [*results_of(Unpack, (value,), arrays, value._dtype, {"num": num, "T": value._dtype, "axis": axis})]
    return Unpack(value, num=num, axis=axis, name=name or "unstack")


def split(
    value: TensorLike, num_or_size_splits: TensorLike, axis: Axis = 0, num: int | None = None, name: str = "split"
) -> list[Tensor]:
    """Return `value` in that many equal parts along `axis`, or in parts of the sizes given (one may be -1, the rest).

    >>> [p.numpy().tolist() for p in split([1, 2, 3, 4], [1, 3])]
    [[1], [2, 3, 4]]
    """
    name = name or "split"
    if num_or_size_splits.__class__ is axis.__class__ is int and value.__class__ is EagerTensor:
        at, rank = axis, value._array.ndim
        divides = num_or_size_splits > 0 and -rank <= at < rank and value._array.shape[at] % num_or_size_splits == 0
        if divides and not context.graph_scopes:
            return _split_now(value, num_or_size_splits, at)
    if isinstance(num_or_size_splits, (int, np.integer)) and not isinstance(num_or_size_splits, bool):
        if context.switches.tf1:
            convert(num_or_size_splits)  # 1.15 left a Const in the graph
        return Split(axis, value, num_split=int(num_or_size_splits), name=name)
    sizes = convert(num_or_size_splits, None, dtypes.int32)
    if sizes._dims == ():
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits!s}"
        )
    if num is None:
        num = None if sizes._dims is None else sizes._dims[-1 if len(sizes._dims) > 1 else 0]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {num_or_size_splits!s}: `num` must be specified")
    return SplitV(value, sizes, axis, num_split=num, name=name)


def _split_now(value: Any, count: int, axis: int) -> list[Any]:
    array = value._array
    step = array.shape[axis] // count
    before = (slice(None),) * (axis % array.ndim)
    try:
        parts = [array[(*before, slice(i * step, i * step + step))] for i in range(count)]
    except RunElsewhere:
        return list(Split(axis, value, num_split=count))
    return results_of(Split, (int32(axis), value), parts, value._dtype, {"num_split": count, "T": value._dtype})
