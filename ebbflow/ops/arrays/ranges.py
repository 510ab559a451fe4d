"""Evenly spaced numbers: `range` and `linspace`.

Knows how TensorFlow counts and rounds: a float range has ceil((limit - start) / delta) elements, computed in its own
dtype, and element i is start + i * delta. Imports `creation`; imported by nobody but `catalogue` and the api.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.op import op, tagged
from ebbflow.core.scopes import name_scope
from ebbflow.core.source import short
from ebbflow.core.tensor import Tensor, wrap
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.ops.arrays.creation import building, zeros_like
from ebbflow.ops.declare import FLAT, raw
from ebbflow.ops.sizes import INT64_MAX, invalid, is_static, room_for, scalar_value

Range = op(
    "Range(start:Tidx, limit:Tidx, delta:Tidx) -> (output:Tidx)"
    " | Tidx: type in [floats,int8,int16,int32,int64,uint16,uint32,uint64] = int32",
    gradient=FLAT,
    facts="static known=start,limit,delta",
)


def steps(start: Any, limit: Any, delta: Any) -> int:
    """Return how many numbers there are from `start` on, `delta` apart, before `limit` (NumPy scalars of one dtype)."""
    first, last, step = start.item(), limit.item(), delta.item()
    if step == 0:
        raise errors.StaticShapeError(f"Requires delta != 0: {step}")
    if step > 0 and not first <= last:
        raise errors.StaticShapeError(f"Requires start <= limit when delta > 0: {first}/{last}")
    if not step > 0 and not (step < 0 and first >= last):
        raise errors.StaticShapeError(f"Requires start >= limit when delta < 0: {first}/{last}")
    if isinstance(first, int):
        return -((first - last) // step)
    with np.errstate(all="ignore"):
        count = abs(float((limit - start) / delta))
    if not count <= INT64_MAX:
        raise errors.StaticShapeError(f"Requires ((limit - start) / delta) <= {INT64_MAX}")
    return math.ceil(count)


@Range.shape
def _(start, limit, delta):
    values = [scalar_value(arg, name) for arg, name in ((start, "start"), (limit, "limit"), (delta, "delta"))]
    return (None,) if any(v is None for v in values) else (steps(*values),)


@Range.kernel
def _(xp, start, limit, delta):
    if start.size != 1 or limit.size != 1 or delta.size != 1:
        raise ValueError("start, limit and delta must be scalars")
    first, last, step = (v.reshape(())[()] for v in (start, limit, delta))
    count = steps(first, last, step)
    dtype = start.dtype
    room_for((count,), dtype.itemsize)
    if dtype.kind in "iu":
        return xp.arange(int(first), int(last), int(step), dtype=dtype)
    return xp.arange(count).astype(dtype) * step + first


LinSpace = op(
    "LinSpace(start:T, stop:T, num:Tidx) -> (output:T) | T: floats; Tidx: index = int32",
    gradient=FLAT,
    facts="portable sizes=num",
)


@LinSpace.shape
def _(start, stop, num):
    scalar_value(start, "start")
    scalar_value(stop, "stop")
    count = scalar_value(num, "num")
    if count is not None and count <= 0:
        raise errors.StaticShapeError(f"Requires num > 0: {count}")
    return (None if count is None else int(count),)


@LinSpace.kernel
def _(xp, start, stop, num):
    if start.ndim or stop.ndim or num.ndim or num <= 0:
        raise ValueError("start, stop and num must be scalars, num above 0")
    room_for((int(num),), start.dtype.itemsize)
    return spaced(xp, start, stop, int(num))


def spaced(xp: Any, start: Any, stop: Any, count: int) -> Any:
    """Return `count` > 0 numbers from `start` to `stop`, both included; 16-bit floats are computed in 32."""
    wide = np.dtype(np.float64 if start.dtype.itemsize == 8 else np.float32)
    first, last = start.astype(wide), stop.astype(wide)
    if count == 1:
        return first.astype(start.dtype).reshape(1)
    inner = first + (last - first) / wide.type(count - 1) * xp.arange(1, count - 1, dtype=wide)
    return xp.concatenate([first.reshape(1), inner, last.reshape(1)]).astype(start.dtype)


# --- public -----------------------------------------------------------------------------------------------------------

_WIDENING = (dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


def range(
    start: TensorLike,
    limit: TensorLike | None = None,
    delta: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str = "range",
) -> Tensor:
    """Return the numbers from `start` (0 when only one number is given) on, `delta` apart, before `limit`.

    >>> range(3).numpy().tolist(), range(1, 6, 2).numpy().tolist()
    ([0, 1, 2], [1, 3, 5])
    """
    if limit is None:
        start, limit = 0, start
    if dtype is not None:
        dtype = as_dtype(dtype)
    elif start.__class__ is limit.__class__ is delta.__class__ is int and not context.graph_scopes:
        dtype = dtypes.int32 if all([-(2**31) <= n < 2**31 for n in (start, limit, delta)]) else dtypes.int64
        return _range_now(start, limit, delta, dtype)
    with name_scope(name or "range", None, [start, limit, delta]) as scope:
        ends = [
            x if isinstance(x, Tensor) else convert(x, dtype, None, label)
            for x, label in ((start, "start"), (limit, "limit"), (delta, "delta"))
        ]
        found = dtype or _widest([x.dtype.base_dtype for x in ends])
        ends = [x if x.dtype.base_dtype is found else raw.Cast(x, DstT=found) for x in ends]
        return Range(*ends, name=scope)


def _range_now(start: int, limit: int, delta: int, dtype: Any) -> Tensor:
    if delta == 0 or (limit - start) * delta < 0:
        return Range(*(wrap(np.array(n, dtype.np), dtype) for n in (start, limit, delta)))  # which says what is wrong
    try:
        room_for((-((start - limit) // delta),), dtype.np.itemsize)
    except errors.OpError as error:
        raise short(tagged(error, Range)) from None
    return wrap(np.arange(start, limit, delta, dtype.np), dtype)  # type: ignore[call-overload]


def _widest(types: list[Any]) -> Any:
    for dtype in types:
        if dtype not in _WIDENING:
            raise ValueError(f"tf.range takes numbers of {', '.join(t.name for t in _WIDENING)}, not {dtype.name}")
    return max(types, key=_WIDENING.index)


def lin_space(start, stop, num, name=None):
    """Return `num` numbers from `start` to `stop` by the op LinSpace, as TensorFlow 1 did."""
    return LinSpace(start, stop, num, name=name)


def linspace(start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None, axis: int = 0) -> Tensor:
    """Return `num` numbers from `start` to `stop`, both included, along a new axis.

    >>> linspace(0.0, 1.0, 3).numpy().tolist()
    [0.0, 0.5, 1.0]
    """
    if context.switches.tf1 and axis == 0:
        return LinSpace(start, stop, num, name=name)
    with name_scope(name, "linspace", [start, stop]):
        start = convert(start, None, None, "start")
        stop = convert(stop, None, start.dtype.base_dtype, "stop")
        if stop.dtype.base_dtype is not start.dtype.base_dtype:
            raise TypeError(f"start is {start.dtype.name} and stop is {stop.dtype.name}: they must have one type")
        num = convert(num, None, None, "num")
        if not num.dtype.is_integer:
            raise TypeError(
                "Argument `tensor` (name: num) must be of type integer. "
                f"Received `tensor` = {num} of dtype: {num.dtype!r}"
            )
        if building() is None and not context.recorders and not start._dims and not stop._dims and not num._dims:
            return _linspace_now(start, stop, num)
        return _linspace(start, stop, num, axis)


def _linspace_now(start: Any, stop: Any, num: Any) -> Tensor:
    dtype = dtypes.float64 if start.dtype.is_integer else start.dtype
    count = int(num._array)
    if count < 0:
        raise invalid(f"Requires num >= 0: {count} [Op:LinSpace]")
    room_for((count,), dtype.np.itemsize)
    ends = (x._array.astype(dtype.np) for x in (start, stop))
    return wrap(spaced(np, *ends, count) if count else np.zeros(0, dtype.np), dtype)  # type: ignore[call-arg]


def _linspace(start: Any, stop: Any, num: Any, axis: int) -> Tensor:
    """The general case, by the very nodes TensorFlow makes: ends that broadcast, any axis, gradients for both ends."""
    count = raw.Cast(num, DstT=dtypes.int32)
    ends_type = dtypes.float64 if start.dtype.is_integer else start.dtype.base_dtype
    if start.dtype.is_integer:
        start, stop = raw.Cast(start, DstT=ends_type), raw.Cast(stop, DstT=ends_type)
    raw.Cast(count, DstT=ends_type)
    shape = raw.BroadcastArgs(_shape_now(start), _shape_now(stop))
    alike = building() is not None and start._dims is not None and start._dims == stop._dims
    dims = start._dims
    start, stop = raw.BroadcastTo(start, shape), raw.BroadcastTo(stop, shape)
    if alike:
        start.set_shape(dims)
    first, last = raw.ExpandDims(start, axis), raw.ExpandDims(stop, axis)
    whole = _shape_now(first)
    rank = _shape_now(whole)[0]
    at = raw.SelectV2(axis >= 0, axis, raw.AddV2(rank, axis, name="add"))
    inner = raw.Maximum(raw.Sub(count, 2, name="sub"), 0)
    gaps = raw.Maximum(raw.Sub(count, 1, name="sub"), 1)
    delta = raw.RealDiv(raw.Sub(last, first, name="sub"), raw.Cast(gaps, DstT=ends_type), name="truediv")
    stop_at = raw.SelectV2(raw.GreaterEqual(count, 0), gaps, -1)
    inside = raw.Cast(range(1, stop_at, dtype=dtypes.int64), DstT=ends_type)
    spread = raw.SelectV2(raw.Equal(at, range(0, rank, dtype=dtypes.int32)), inner, 1)
    middle = raw.AddV2(first, raw.Mul(delta, raw.Reshape(inside, spread), name="mul"), name="add")
    joined = raw.ConcatV2([first, middle, last], at, name="concat")
    begin = zeros_like(whole)
    size = raw.ConcatV2([whole[0:at], raw.Reshape(count, [1]), whole[at + 1 :]], 0, name="concat")
    result = raw.Slice(joined, begin, size)
    known = num.constant_value()
    if building() is not None and known is not None and first._dims is not None:
        whole_dims = list(first._dims)
        whole_dims[axis] = int(known)
        result.set_shape(whole_dims)
    return result


def _shape_now(x: Any) -> Any:
    graph = building()
    if graph is not None and is_static(x):
        return graph.constant(np.array(x._dims, np.int32), dtypes.int32, "Shape")
    return raw.Shape(x)
