"""Fractional pooling: regions of two sizes in random order, so that an image shrinks by a ratio that is no integer.

Where the regions begin is drawn from TensorFlow's random words, so a seed means the same regions. They come out as the
pooling sequences, from which the gradients are computed.

    Graham: Fractional max-pooling. 2014.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Known, Op, op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import UNDEFINED, raw, show
from ebbflow.ops.nn.candidate_sampling import Words
from ebbflow.ops.nn.pool_loops import region_maxima
from ebbflow.ops.parts import in_shares
from ebbflow.ops.random import unseeded
from ebbflow.ops.random.philox import Stream
from ebbflow.ops.random.seeds import get_seed
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid, room_for
from ebbflow.platform import config

MANY, SHARE = 1 << 12, 1 << 14
"""Numbers from which on code is worth asking for, and which a thread makes at a time."""

_TYPES = "T: type in [float,double,int32,int64]"
_OUT = "(output:T, row_pooling_sequence:int64, col_pooling_sequence:int64)"
_ATTRS = (
    "pooling_ratio: list(float) >= 4; pseudo_random: bool = false; overlapping: bool = false; "
    f"deterministic: bool = false; seed: int = 0; seed2: int = 0; {_TYPES}"
)

FractionalMaxPool = op(f"FractionalMaxPool(value:T) -> {_OUT} | {_ATTRS}")
FractionalAvgPool = op(f"FractionalAvgPool(value:T) -> {_OUT} | {_ATTRS}")
FractionalMaxPoolGrad = op(
    "FractionalMaxPoolGrad(orig_input:T, orig_output:T, out_backprop:T, row_pooling_sequence:int64, "
    f"col_pooling_sequence:int64) -> (output:T) | overlapping: bool = false; {_TYPES}",
    gradient=UNDEFINED,
)
FractionalAvgPoolGrad = op(
    "FractionalAvgPoolGrad(orig_input_tensor_shape:int64, out_backprop:T, row_pooling_sequence:int64, "
    f"col_pooling_sequence:int64) -> (output:T) | overlapping: bool = false; {_TYPES}",
    gradient=UNDEFINED,
)


# --- regions ----------------------------------------------------------------------------------------------------------


def _check_ratio(ratio: Any) -> None:
    if len(ratio) != 4:
        raise invalid("pooling_ratio field must specify 4 dimensions")
    if ratio[0] != 1.0 or ratio[3] != 1.0:
        text = f"Fractional pooling is not yet supported on the batch nor channel dimension, got ratio {list(ratio)}"
        raise errors.UnimplementedError(None, None, text)
    if not all(r >= 1.0 for r in ratio):
        raise invalid(f"pooling_ratio cannot be smaller than 1, got: {list(ratio)}")


def _sequence(length: int, count: int, stream: Stream, pseudo_random: bool) -> np.ndarray:
    """Return where each region begins, and where the last ends."""
    if length % count == 0:
        return np.arange(0, length + 1, length // count, dtype=np.int64)
    if pseudo_random:
        return _spaced(length, count, stream)
    sizes = [length // count + (i < length % count) for i in range(count)]
    words = Words(stream.reserve((count + 3) // 4))
    for i in range(count - 1):
        j = i + words.word() % (count - i)
        sizes[i], sizes[j] = sizes[j], sizes[i]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _spaced(length: int, count: int, stream: Stream) -> np.ndarray:
    """Regions as ceil(alpha (i + u)) begin them, with one random number u for all."""
    alpha, least = length / count, length // count
    most = min((least + 2) / alpha - 1, (length + 1 - least) / alpha - (count - 1))
    u = Words(stream.reserve(1)).unit_double() * most
    begins = [1, *[math.ceil(alpha * (i + u)) for i in range(1, count)], length + 1]
    return np.array(begins, np.int64) - 1


def _bounds(sequence: np.ndarray, length: int, overlapping: bool) -> list[tuple[int, int]]:
    """Return where each region begins and ends; overlapping ones take the next one's first row."""
    ends = np.minimum(sequence[1:] + overlapping, length)
    return list(zip(sequence[:-1].tolist(), ends.tolist(), strict=True))


# --- pooling ----------------------------------------------------------------------------------------------------------


def _pool_dims(value: Known, *, pooling_ratio: Any) -> Any:
    if len(pooling_ratio) != 4:
        raise errors.StaticShapeError("pooling_ratio field must specify 4 dimensions")
    if not all(r >= 1.0 for r in pooling_ratio):
        raise errors.StaticShapeError(f"pooling_ratio cannot be smaller than 1, got: {list(pooling_ratio)}")
    dims = ranked(value, 4)
    out = [None if n is None else int(n / r) for n, r in zip(dims, pooling_ratio, strict=True)]
    if any(n == 0 for n in out[1:3]):
        raise errors.StaticShapeError(f"the pooling ratio {list(pooling_ratio)} leaves nothing of {show(dims)}")
    return [(dims[0], *out[1:3], dims[3]), *[(None if n is None else n + 1,) for n in out[1:3]]]


def _pooling(reduce: Any) -> Any:
    def kernel(
        xp: Any, value: Any, *, pooling_ratio: Any, pseudo_random: bool, overlapping: bool, deterministic: bool,
        seed: int, seed2: int,
    ) -> Any:  # fmt: skip
        _check_ratio(pooling_ratio)
        if value.ndim != 4:
            raise invalid(f"value must be 4-dimensional, got shape {show(value.shape)}")
        if not deterministic and (seed or seed2):
            raise invalid(f"Both seed and seed2 should be 0 if deterministic is false, got {seed} and {seed2}")
        counts = [int(value.shape[axis] / pooling_ratio[axis]) for axis in (1, 2)]
        if min(counts) < 1:
            raise invalid(f"the pooling ratio {list(pooling_ratio)} leaves nothing of shape {show(value.shape)}")
        stream = Stream(seed, seed2) if seed or seed2 else unseeded.stream()
        rows, columns = (
            _sequence(value.shape[axis], count, stream, pseudo_random)
            for axis, count in zip((1, 2), counts, strict=True)
        )
        if reduce is _max:
            quick = _by_code(value, rows, columns, overlapping)
            if quick is not None:
                return quick, rows, columns
        across = [reduce(value[:, a:b], 1) for a, b in _bounds(rows, value.shape[1], overlapping)]
        tall = np.stack(across, 1)
        result = np.stack([reduce(tall[:, :, a:b], 2) for a, b in _bounds(columns, value.shape[2], overlapping)], 2)
        return (_mean(value, result, rows, columns, overlapping) if reduce is np.sum else result), rows, columns

    return kernel


def _by_code(value: Any, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> np.ndarray | None:
    """Return the largest of each region by machine code, None where there is none for it."""
    batch, height, width, channels = value.shape
    code = None
    if value.dtype == np.float32 and value.flags.c_contiguous and value.size:
        code = region_maxima.worth(value.size, MANY)
    if code is None:
        return None
    bounds = (
        rows[:-1],
        np.minimum(rows[1:] + overlapping, height),
        columns[:-1],
        np.minimum(columns[1:] + overlapping, width),
    )
    tall, wide = len(rows) - 1, len(columns) - 1
    out = np.empty((batch, tall, wide, channels), np.float32)

    def work(begin: int, end: int) -> None:
        code(value, height, width, channels, *bounds, tall, wide, out, begin, end)

    in_shares(work, batch * tall, max(1, SHARE // max(wide * channels, 1)))
    return out


def _mean(value: Any, sums: Any, rows: Any, columns: Any, overlapping: bool) -> Any:
    tall = np.array([b - a for a, b in _bounds(rows, value.shape[1], overlapping)])
    wide = np.array([b - a for a, b in _bounds(columns, value.shape[2], overlapping)])
    sizes = (tall[:, None] * wide)[..., None]
    if value.dtype.kind == "i":
        return (np.sign(sums) * (np.abs(sums) // sizes)).astype(value.dtype)
    return (sums / sizes).astype(value.dtype)


def _max(x: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(x.max(axis))


for _declared, _reduce in ((FractionalMaxPool, _max), (FractionalAvgPool, np.sum)):
    _declared.shape(_pool_dims)
    _declared.kernel(_pooling(_reduce))


@FractionalMaxPool.gradient
def _(call, grad, *others):
    return raw.FractionalMaxPoolGrad(
        call.value, call.output, grad, call.row_pooling_sequence, call.col_pooling_sequence,
        overlapping=call.overlapping,
    )  # fmt: skip


@FractionalAvgPool.gradient
def _(call, grad, *others):
    shape = raw.Shape(call.value, out_type=call.row_pooling_sequence.dtype)
    return raw.FractionalAvgPoolGrad(
        shape, grad, call.row_pooling_sequence, call.col_pooling_sequence, overlapping=call.overlapping
    )


# --- gradients --------------------------------------------------------------------------------------------------------


@FractionalMaxPoolGrad.shape
def _(orig_input, orig_output, out_backprop, row_pooling_sequence, col_pooling_sequence):
    return ranked(orig_input, 4)


def _check_regions(sizes: tuple[int, ...], backprop: Any, rows: Any, columns: Any) -> None:
    if backprop.ndim != 4 or len(sizes) != 4:
        raise invalid(f"images and out_backprop must be 4-dimensional, got {show(sizes)} and {show(backprop.shape)}")
    for name, sequence, length, count in (
        ("row_pooling_sequence", rows, sizes[1], backprop.shape[1]),
        ("col_pooling_sequence", columns, sizes[2], backprop.shape[2]),
    ):
        if sequence.ndim != 1 or len(sequence) != count + 1:
            raise invalid(f"{name} must be a vector of {count + 1} elements, got shape {show(sequence.shape)}")
        if (np.diff(sequence) < 1).any() or sequence[0] < 0 or sequence[-1] > length:
            raise invalid(f"{name} must rise from 0 to at most {length}, got {sequence.tolist()}")
    if backprop.shape[0] != sizes[0] or backprop.shape[3] != sizes[3]:
        raise invalid(f"out_backprop has shape {show(backprop.shape)}, which does not go with images {show(sizes)}")


@FractionalMaxPoolGrad.kernel
def _(xp, orig_input, orig_output, out_backprop, row_pooling_sequence, col_pooling_sequence, *, overlapping):
    _check_regions(orig_input.shape, out_backprop, row_pooling_sequence, col_pooling_sequence)
    if orig_output.shape != out_backprop.shape:
        raise invalid(
            f"orig_output and out_backprop must have one shape, got {show(orig_output.shape)} and "
            f"{show(out_backprop.shape)}"
        )
    result = np.zeros_like(orig_input)
    batch, height, width, depth = orig_input.shape
    b, c = np.arange(batch)[:, None], np.arange(depth)
    for i, (top, bottom) in enumerate(_bounds(row_pooling_sequence, height, overlapping)):
        for j, (left, right) in enumerate(_bounds(col_pooling_sequence, width, overlapping)):
            region = orig_input[:, top:bottom, left:right].reshape(batch, -1, depth)
            rows, columns = np.divmod(region.argmax(1), right - left)
            np.add.at(result, (b, top + rows, left + columns, c), out_backprop[:, i, j])
    return result


@FractionalAvgPoolGrad.shape
def _(orig_input_tensor_shape, out_backprop, row_pooling_sequence, col_pooling_sequence):
    return orig_input_tensor_shape.as_dims


@FractionalAvgPoolGrad.kernel
def _(xp, orig_input_tensor_shape, out_backprop, row_pooling_sequence, col_pooling_sequence, *, overlapping):
    if orig_input_tensor_shape.shape != (4,):
        raise invalid(f"orig_input_tensor_shape must be a vector of 4, got shape {show(orig_input_tensor_shape.shape)}")
    sizes = tuple(orig_input_tensor_shape.tolist())
    room_for(sizes, out_backprop.itemsize)
    _check_regions(sizes, out_backprop, row_pooling_sequence, col_pooling_sequence)
    result = np.zeros(sizes, np.float64 if out_backprop.dtype.kind == "f" else out_backprop.dtype)
    for i, (top, bottom) in enumerate(_bounds(row_pooling_sequence, sizes[1], overlapping)):
        for j, (left, right) in enumerate(_bounds(col_pooling_sequence, sizes[2], overlapping)):
            share = out_backprop[:, i, j] / ((bottom - top) * (right - left))
            result[:, top:bottom, left:right] += share[:, None, None].astype(result.dtype)
    return result.astype(out_backprop.dtype)


# --- public functions -------------------------------------------------------------------------------------------------


def _four(ratio: Any) -> list[float]:
    """Return a ratio for each axis from one number, two or three, or all four."""
    values = [float(ratio)] if isinstance(ratio, (int, float)) else [float(r) for r in ratio]
    if len(values) == 4:
        return values
    if len(values) not in (1, 2):
        raise ValueError(f"pooling_ratio should be of length 1, 2 or 4. Received: pooling_ratio={ratio}")
    return [1.0, *(values * (2 // len(values))), 1.0]


def _pool(declared: Op, value: Any, ratio: Any, pseudo_random: bool, overlapping: bool, seed: Any, name: Any) -> Any:
    if not seed and declared is FractionalMaxPool and config.wishes.seeds_needed:
        raise ValueError(
            "tf.nn.fractional_max_pool requires a non-zero seed to be passed in when determinism is enabled, but got "
            f"seed={seed}"
        )
    first, second = get_seed(seed) if seed else (0, 0)
    return declared(
        value, pooling_ratio=_four(ratio), pseudo_random=pseudo_random, overlapping=overlapping,
        deterministic=bool(seed), seed=first or 0, seed2=second or 0, name=name,
    )  # fmt: skip


def fractional_max_pool(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: TensorLike = 0,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return maxima over regions of random sizes, and where the regions begin along rows and columns."""
    return _pool(FractionalMaxPool, value, pooling_ratio, pseudo_random, overlapping, seed, name)


def fractional_avg_pool(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: TensorLike = 0,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return means over regions of random sizes, and where the regions begin along rows and columns."""
    return _pool(FractionalAvgPool, value, pooling_ratio, pseudo_random, overlapping, seed, name)


def fractional_max_pool_v1(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: TensorLike = 0,
    seed2: int = 0,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return maxima over regions of random sizes, and where the regions begin along rows and columns."""
    if config.wishes.seeds_needed and not (seed and seed2 and deterministic):
        raise ValueError(
            'tf.compat.v1.nn.fractional_max_pool requires "seed" and "seed2" to be non-zero and "deterministic" to be '
            f"true when determinism is enabled, but got seed={seed!r}, seed2={seed2}, deterministic={deterministic}"
        )
    return FractionalMaxPool(
        value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random, overlapping=overlapping,
        deterministic=deterministic, seed=seed, seed2=seed2, name=name,
    )  # fmt: skip


def fractional_avg_pool_v1(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: TensorLike = 0,
    seed2: int = 0,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return means over regions of random sizes, and where the regions begin along rows and columns."""
    return FractionalAvgPool(
        value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random, overlapping=overlapping,
        deterministic=deterministic, seed=seed, seed2=seed2, name=name,
    )  # fmt: skip
