"""More of the same elements: tile, repeat, pad with a value or by mirroring.

Knows how large results get and refuses what memory could not hold. Imports `array`, `shaping` and `creation`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dims, from_dims
from ebbflow.core.tensor import EagerTensor, Tensor, wrap
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.ops import tf1_gradients
from ebbflow.ops.arrays.creation import filled
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.declare import dense, raw, show
from ebbflow.ops.sizes import int_vector, invalid, is_static, room_for, shape_of, vector

# --- tile -------------------------------------------------------------------------------------------------------------

Tile = op(
    "Tile(input:T, multiples:Tmultiples) -> (output:T) | T: type; Tmultiples: index = int32",
    facts="fresh cheap arranges repeats=input static portable known=multiples",
)


@Tile.shape
def _(input, multiples):
    count = vector(multiples, "multiples")
    rank = input.rank if input.rank is not None else count
    if rank is None:
        return None
    if count is not None and count != rank:
        raise errors.StaticShapeError(
            f"Shape must be rank {input.rank} but is rank {count}: Expected multiples argument to be a vector of "
            f"length {rank} but got length {count}"
        )
    times = multiples.as_dims or (None,) * rank
    if multiples.value is not None:
        times = multiples.value.tolist()
        for i, n in enumerate(times):
            if n < 0:
                raise errors.StaticShapeError(f"Expected multiples[{i}] >= 0, but got {n}")
    dims = input.dims or (None,) * rank
    return tuple(
        0 if 0 in (n, m) else None if n is None or m is None else n * m for n, m in zip(dims, times, strict=True)
    )


@Tile.kernel
def _(xp, input, multiples):
    times = multiples.tolist()
    if multiples.ndim != 1:
        raise invalid(f"Expected multiples to be 1-D, but got shape {show(multiples.shape)}")
    if len(times) != input.ndim:
        raise invalid(f"Expected multiples argument to be a vector of length {input.ndim} but got length {len(times)}")
    for i, n in enumerate(times):
        if n < 0:
            raise invalid(f"Expected multiples[{i}] >= 0, but got {n}")
    room_for([n * m for n, m in zip(input.shape, times, strict=True)], input.dtype.itemsize)
    return xp.tile(input, times)


@Tile.gradient
def _(call, grad):
    x, grad, times = call.input, dense(grad), call.multiples.constant_value()
    if times is not None and is_static(x):
        dims = [n for pair in zip(times.tolist(), x._dims, strict=True) for n in pair]
        axes = int_vector(range(0, len(dims), 2), grad)
        return raw.Sum(raw.Reshape(grad, int_vector(dims, grad)), axes), None
    pairs = raw.Pack([call.multiples, shape_of(x, call.multiples.dtype)], axis=1)
    dims = raw.Reshape(pairs, [-1])
    axes = raw.Range(0, raw.Size(dims), 2)
    return raw.Reshape(raw.Sum(raw.Reshape(grad, dims), axes), shape_of(x)), None


@Tile.gradient_by_name
def _(call, grad):
    return tf1_gradients.untiled(call, dense(grad)), None


TileGrad = op("TileGrad(input:T, multiples:int32) -> (output:T) | T: type | deprecated@3")


@TileGrad.shape
def _(input, multiples):
    times = multiples.as_dims
    if input.dims is None or times is None:
        return input.dims and (None,) * len(input.dims)
    return tuple(None if n is None or not m else n // m for n, m in zip(input.dims, times, strict=True))


@TileGrad.kernel
def _(xp, input, multiples):
    times = multiples.tolist()
    if len(times) != input.ndim or any(m <= 0 or n % m for n, m in zip(input.shape, times, strict=False)):
        raise invalid(f"multiples {times} must be positive and divide the shape {show(input.shape)}")
    dims = [d for n, m in zip(input.shape, times, strict=True) for d in (m, n // m)]
    return input.reshape(dims).sum(axis=tuple(range(0, len(dims), 2)), dtype=input.dtype)


@TileGrad.gradient
def _(call, grad):
    return Tile(grad, call.multiples), None


# --- pad --------------------------------------------------------------------------------------------------------------

Pad = op(
    "Pad(input:T, paddings:Tpaddings) -> (output:T) | T: type; Tpaddings: index = int32",
    facts="cheap portable known=paddings",
)
PadV2 = op(
    "PadV2(input:T, paddings:Tpaddings, constant_values:T) -> (output:T) | T: type; Tpaddings: index = int32",
    facts="cheap portable known=paddings",
)


def padded_dims(input: Any, paddings: Any, sign: int = 1) -> Dims:
    """Return the input's dims with both paddings of each axis added (or taken away)."""
    if paddings.dims is not None and (len(paddings.dims) != 2 or paddings.dims[1] not in (None, 2)):
        raise errors.StaticShapeError(f"paddings must be a matrix with 2 columns: {show(paddings.dims)}")
    rows = None if paddings.dims is None else paddings.dims[0]
    rank = input.rank if input.rank is not None else rows
    if rank is None:
        return None
    if rows is not None and rows != rank:
        raise errors.StaticShapeError(
            f"Shape must be rank {rows} but is rank {rank}: The first dimension of paddings must be the rank of inputs"
            f"{show(paddings.dims)} {show(input.dims)}"
        )
    value = paddings.value
    dims = input.dims or (None,) * rank
    if value is None:
        sums = _sums(paddings._source, rank)
        return tuple(None if n is None or p is None else n + sign * p for n, p in zip(dims, sums, strict=True))
    for before, after in value.tolist():
        if before < 0 or after < 0:
            raise errors.StaticShapeError(f"Paddings must be non-negative: {before} {after}")
    return tuple(None if n is None else n + sign * sum(pair) for n, pair in zip(dims, value.tolist(), strict=True))


def _sums(paddings: Any, rank: int) -> list[int | None]:
    """Return what is added along each axis, None where the graph does not decide both paddings."""
    rows = paddings.constant_parts() if hasattr(paddings, "constant_parts") else None
    if rows is None or len(rows) != rank:
        return [None] * rank
    return [None if row is None or any(n is None for n in row) else int(sum(row)) for row in rows]


@Pad.shape
def _(input, paddings):
    return padded_dims(input, paddings)


@PadV2.shape
def _(input, paddings, constant_values):
    if constant_values.rank not in (None, 0):
        raise errors.StaticShapeError(f"constant_values must be a scalar. Found: {show(constant_values.dims)}")
    return padded_dims(input, paddings)


def checked_paddings(dims: tuple[int, ...], paddings: np.ndarray, negative: str = "Paddings") -> list[list[int]]:
    """Return the paddings as pairs of ints, one for each of `dims`."""
    if paddings.ndim != 2 or paddings.shape[1] != 2:
        raise invalid(f"paddings must be a matrix with 2 columns: {show(paddings.shape)}")
    if paddings.shape[0] != len(dims):
        raise invalid(f"The first dimension of paddings must be the rank of inputs{show(paddings.shape)} {show(dims)}")
    pairs = paddings.tolist()
    for before, after in pairs:
        if before < 0 or after < 0:
            raise invalid(f"{negative} must be non-negative: {before} {after}")
    return pairs


def _pad(xp: Any, input: Any, paddings: Any, value: Any) -> Any:
    pairs = checked_paddings(input.shape, paddings)
    dims = [n + before + after for n, (before, after) in zip(input.shape, pairs, strict=True)]
    room_for(dims, input.dtype.itemsize)
    if xp is not np:
        return xp.pad(input, pairs, constant_values=value)
    if input.dtype.hasobject:
        result = filled(dims, value, dtypes.string)
    else:
        result = np.full(dims, value, input.dtype)
    result[tuple(slice(before, before + n) for n, (before, _) in zip(input.shape, pairs, strict=True))] = input
    return result


@Pad.kernel
def _(xp, input, paddings):
    return _pad(xp, input, paddings, b"" if input.dtype.hasobject else 0)


@PadV2.kernel
def _(xp, input, paddings, constant_values):
    if constant_values.ndim:
        raise ValueError("constant_values must be a scalar")
    return _pad(xp, input, paddings, constant_values[()] if xp is np else constant_values)


def _unpadded(call: Any, grad: Any) -> Any:
    paddings = call.paddings
    if paddings.__class__ is EagerTensor:
        begin: Any = wrap(np.ascontiguousarray(paddings._array[:, 0]), paddings.dtype)
    else:
        begin = raw.Reshape(paddings[:, 0:1], [-1])
    return raw.Slice(grad, begin, shape_of(call.input, paddings.dtype))


@Pad.gradient
def _(call, grad):
    return _unpadded(call, grad), None


@Pad.gradient_by_name
def _(call, grad):
    return tf1_gradients.unpadded(call, grad), None


@PadV2.gradient
def _(call, grad):
    return _unpadded(call, grad), None, None


@PadV2.gradient_by_name
def _(call, grad):
    return tf1_gradients.unpadded(call, grad), None, None


# --- mirror -----------------------------------------------------------------------------------------------------------

_MIRROR = 'T: type; Tpaddings: index = int32; mode: string in ["REFLECT","SYMMETRIC"]'
MirrorPad = op(f"MirrorPad(input:T, paddings:Tpaddings) -> (output:T) | {_MIRROR}", facts="portable known=paddings")
MirrorPadGrad = op(
    f"MirrorPadGrad(input:T, paddings:Tpaddings) -> (output:T) | {_MIRROR}", facts="portable known=paddings"
)


def _mirror_fits(dims: Any, pairs: list[list[int]], mode: str, what: str) -> None:
    for n, (before, after) in zip(dims, pairs, strict=True):
        if n is None:
            continue
        if mode == "REFLECT" and max(before, after) >= n and (before or after):
            raise errors.StaticShapeError(
                f"paddings must be less than the {what}dimension size: {before}, {after} not less than {n}"
            )
        if mode == "SYMMETRIC" and max(before, after) > n:
            raise errors.StaticShapeError(
                f"paddings must be no greater than the {what}dimension size: {before}, {after} greater than {n}"
            )


@MirrorPad.shape
def _(input, paddings, *, mode):
    result = padded_dims(input, paddings)
    if input.dims is not None and paddings.value is not None:
        _mirror_fits(input.dims, paddings.value.tolist(), mode, "")
    return result


@MirrorPad.kernel
def _(xp, input, paddings, *, mode):
    pairs = checked_paddings(input.shape, paddings, "paddings")
    _mirror_fits(input.shape, pairs, mode, "")
    room_for([n + sum(pair) for n, pair in zip(input.shape, pairs, strict=True)], input.dtype.itemsize)
    return xp.pad(input, pairs, mode=mode.lower()) if pairs else input


@MirrorPad.gradient
def _(call, grad):
    return MirrorPadGrad(grad, call.paddings, mode=call.mode), None


@MirrorPadGrad.shape
def _(input, paddings, *, mode):
    return padded_dims(input, paddings, sign=-1)


@MirrorPadGrad.kernel
def _(xp, input, paddings, *, mode):
    pairs = checked_paddings(input.shape, paddings, "paddings")
    inner = [n - sum(pair) for n, pair in zip(input.shape, pairs, strict=True)]
    if min(inner, default=0) < 0:
        raise invalid(f"the paddings {pairs} are more than the shape {show(input.shape)} has")
    _mirror_fits(inner, pairs, mode, "output ")
    result = input
    for axis, (n, (before, after)) in enumerate(zip(inner, pairs, strict=True)):
        if before or after:
            result = _fold(xp, xp.moveaxis(result, axis, 0), n, before, after, mode == "REFLECT")
            result = xp.moveaxis(result, 0, axis)
    return result


def _fold(xp: Any, x: Any, n: int, before: int, after: int, skip: int) -> Any:
    """Return the middle `n` rows of x with the mirrored rows before and after added onto those they mirror."""
    head, middle, tail = x[:before][::-1], x[before : before + n], x[before + n :][::-1]

    def placed(part: Any, start: int) -> Any:
        rest = [(0, 0)] * (x.ndim - 1)
        return xp.pad(part, [(start, n - start - part.shape[0]), *rest])

    return middle + placed(head, int(skip)) + placed(tail, n - after - int(skip))


@MirrorPadGrad.gradient
def _(call, grad):
    return MirrorPad(grad, call.paddings, mode=call.mode), None


# --- public -----------------------------------------------------------------------------------------------------------


def tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """Return `input` repeated `multiples[i]` times along axis i.

    >>> tile([1, 2], [2]).numpy().tolist()
    [1, 2, 1, 2]
    """
    return Tile(input, multiples, name=name)


def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    constant_values: TensorLike = 0,
    name: str | None = None,
) -> Tensor:
    """Return `tensor` with `paddings[i]` elements before and after it along axis i: a value, or its own mirror image.

    >>> pad([1, 2], [[1, 0]], constant_values=9).numpy().tolist()
    [9, 1, 2]
    """
    kind = mode.upper()
    if kind == "CONSTANT":
        if not isinstance(constant_values, Tensor) and np.isscalar(constant_values) and constant_values == 0:
            return Pad(tensor, paddings, name=name)
        return PadV2(tensor, paddings, constant_values, name=name)
    if kind in ("REFLECT", "SYMMETRIC"):
        return MirrorPad(tensor, paddings, mode=kind, name=name)
    raise ValueError(
        'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
        f"Received `mode` = {mode}"
    )


def pad_v1(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: TensorLike = 0,
) -> Tensor:
    """Return `tensor` with `paddings[i]` elements before and after it along axis i."""
    return pad(tensor, paddings, mode, constant_values, name)


def repeat(input: TensorLike, repeats: TensorLike, axis: Axis = None, name: str | None = None) -> Tensor:
    """Return `input` with its elements along `axis` (all of them, flat, without one) repeated `repeats` times each.

    >>> repeat([1, 2], [1, 2]).numpy().tolist()
    [1, 2, 2]
    """
    if axis is None:
        input, axis = reshape(convert(input), [-1]), 0
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert(input, None, None, "data")
        times = convert(repeats, None, dtypes.int32, "repeats")
        if not times.dtype.is_integer:
            raise TypeError(f"repeats must be integers, got {times!r}")
        times = times if times.dtype in (dtypes.int32, dtypes.int64) else raw.Cast(times, DstT=dtypes.int32)
        data = raw.Reshape(data, np.array([-1], np.int32)) if data._dims == () else data
        if data._dims is None or times._dims is None:
            return _repeat_unranked(data, times, axis)
        at = _repeat_axis(axis, data, times)
        if times._dims in ((), (1,)):
            return _repeat_all(data, raw.Reshape(times, np.zeros(0, np.int32)), at)
        return _repeat_each(data, times, at)


def _repeat_axis(axis: Any, data: Any, times: Any) -> int:
    rank = len(data._dims)
    at = int(axis.constant_value()) if isinstance(axis, Tensor) else int(axis)
    if not -rank <= at < rank:
        raise ValueError(f"axis={at} out of bounds: expected {-rank}<=axis<{rank}")
    if len(times._dims) > 1:
        raise ValueError(f"Shape {from_dims(times._dims)} must have rank at most 1")
    at %= rank
    if (
        times._dims not in ((), (1,))
        and None not in (times._dims[0], data._dims[at])
        and times._dims[0] != data._dims[at]
    ):
        raise ValueError(f"Dimensions {data._dims[at]} and {times._dims[0]} are not compatible")
    return at


def _repeat_unranked(data: Any, times: Any, axis: Any) -> Any:
    """Repeat what has no known rank: one number of repeats is spread over the axis when that is there."""
    if times._dims is not None and len(times._dims) > 1:
        raise ValueError(f"Shape {from_dims(times._dims)} must have rank at most 1")
    scalar = raw.Cast(raw.Equal(raw.Rank(data), 0), DstT=dtypes.int32)  # which is a row of one
    data = raw.Reshape(data, raw.ConcatV2([raw.Fill(raw.ExpandDims(scalar, 0), 1), raw.Shape(data)], 0))
    at = convert(axis, None, dtypes.int32)
    at = raw.SelectV2(raw.Less(at, 0), at + raw.Rank(data), at)
    length = raw.Reshape(raw.GatherV2(raw.Shape(data), at, 0), [1])
    rows = raw.BroadcastTo(raw.Reshape(times, [-1]), length)
    return _repeat_each(data, rows, at if not isinstance(axis, int) or axis < 0 else axis)


def _repeat_all(data: Any, times: Any, axis: int) -> Any:
    rank, kind = len(data._dims), times.dtype
    whole = raw.Shape(data, out_type=kind)
    ones: list[Any] = [1] * (rank + 1)
    ones[axis + 1] = times
    tiled = Tile(raw.ExpandDims(data, axis + 1), convert(ones, kind))
    length = raw.Reshape(raw.Mul(times, whole[axis]), [1])
    return raw.Reshape(tiled, raw.ConcatV2([whole[:axis], length, whole[axis + 1 :]], 0))


def _repeat_each(data: Any, times: Any, axis: int) -> Any:
    """Gather each row as often as asked: position p holds the row whose repeats end behind p."""
    if times.__class__ is EagerTensor:
        if times._array.size and times._array.min() < 0:
            raise invalid(f"repeats must be >= 0, got {times._array.min()} [Op:Repeat]")
        room_for((int(times._array.sum()),), 8)
        rows: Any = wrap(np.repeat(np.arange(times._array.size), times._array), dtypes.int64)
    else:
        ends = raw.Cumsum(raw.Maximum(times, convert(0, times.dtype)), 0)
        total = raw.Sum(raw.Maximum(times, convert(0, times.dtype)), [0])
        positions = raw.Range(convert(0, times.dtype), total, convert(1, times.dtype))
        rows = raw.Reshape(raw.UpperBound(raw.ExpandDims(ends, 0), raw.ExpandDims(positions, 0)), [-1])
    return raw.GatherV2(data, rows, axis)


def required_space_to_batch_paddings(
    input_shape: TensorLike, block_shape: TensorLike, base_paddings: TensorLike | None = None, name: str | None = None
) -> tuple[Any, Any]:
    """Return (paddings, crops) that make each length of `input_shape` a multiple of its block."""
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        sizes = convert(input_shape, None, dtypes.int32, "input_shape")
        blocks = convert(block_shape, None, dtypes.int32, "block_shape")
        count = 1 if blocks._dims is None else blocks._dims[0]
        if count == 0:
            return convert(np.zeros((0, 2), np.int32)), convert(np.zeros((0, 2), np.int32))
        base = np.zeros((count, 2), np.int32) if base_paddings is None else base_paddings
        known = [x.constant_value() if isinstance(x, Tensor) else x for x in (sizes, blocks, base)]
        if all(isinstance(x, (np.ndarray, list, tuple)) for x in known) and not any(_tensors_in(x) for x in known):
            lengths, steps, given = (np.asarray(x, np.int64) for x in known)
            end = (-(lengths + given.sum(axis=1))) % steps
            pads = np.stack([given[:, 0], given[:, 1] + end], axis=1).astype(np.int32)
            crops = np.stack([np.zeros_like(end), end], axis=1).astype(np.int32)
            return convert(pads, None, None, "paddings"), convert(crops, None, None, "crops")
        base = convert(base, None, dtypes.int32)
        start, stop = base[:, 0], base[:, 1]
        full = sizes + start + stop
        end = (blocks - full % blocks) % blocks
        pads = raw.Pack([start, stop + end], axis=1, name="paddings")
        return pads, raw.Pack([raw.ZerosLike(end), end], axis=1, name="crops")


def _tensors_in(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_tensors_in(item) for item in value)
    return isinstance(value, Tensor)
