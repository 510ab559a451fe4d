"""Casts: the same numbers in another dtype, or the same bits read as another.

What does not fit is cut as C cuts it (a fraction falls, an integer wraps, NaN becomes the smallest int32 or int64);
`saturate_cast` goes to the nearest number that fits instead. Knows dtypes and arrays; other ops only by name.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert, operand
from ebbflow.core.dtypes import DType, as_dtype
from ebbflow.core.elsewhere import RunElsewhere
from ebbflow.core.op import op, record
from ebbflow.core.scopes import name_scope
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor, Tensor, wrap
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.ops.declare import FLAT, dense, raw, same
from ebbflow.ops.elementwise.element_loops import cast_half

Cast = op(
    "Cast(x:SrcT) -> (y:DstT) | SrcT: type; DstT: type; Truncate: bool = false",
    shape=same,
    facts="elementwise shared light static",
)

_TINY = (dtypes.int4, dtypes.uint4, dtypes.int2, dtypes.uint2)
_OPAQUE = (dtypes.string, dtypes.resource, dtypes.variant)
_DIFFERENTIABLE = frozenset(dtypes.FLOATS_COMPLEX)

# Bits of a float's mantissa, for casts that cut the mantissa off where others round.
_MANTISSA = {dtypes.float64: 52, dtypes.float32: 23, dtypes.float16: 10, dtypes.bfloat16: 7}


@Cast.kernel
def _(xp, x, *, SrcT, DstT, Truncate):
    if SrcT is DstT:
        return x
    if SrcT in _OPAQUE or DstT in _OPAQUE:
        source, target = (dtypes.c_name(t) for t in (SrcT, DstT))
        raise errors.UnimplementedError(None, None, f"Cast {source} to {target} is not supported")
    if Truncate and SrcT in _MANTISSA and DstT in _MANTISSA:
        x = _cut_mantissa(x, _MANTISSA[SrcT] - _MANTISSA[DstT])
    return cast_array(x, SrcT, DstT)


def cast_array(x: Any, source: DType, target: DType) -> Any:
    """Return an array of numbers in another dtype."""
    if source.is_complex and not target.is_complex:
        x = x.real
    if source.is_quantized:
        x = x[source.name]
    if target.is_quantized:
        stored = target.np[0]
        return np.ascontiguousarray(x.astype(stored)).view(target.np)
    if source in _TINY and target in _TINY:
        x = x.astype(np.int8)  # ml_dtypes has no way between two of its own small integers
    if source is dtypes.float16 or target is dtypes.float16:
        walked = cast_half(x, target.np)
        if walked is not None:
            return walked
    return x.astype(target.np)


def _cut_mantissa(x: Any, bits: int) -> Any:
    if bits <= 0:
        return x
    words = x.view(f"u{x.dtype.itemsize}")
    return (words & ~words.dtype.type((1 << bits) - 1)).view(x.dtype)


@Cast.gradient
def _(call, grad):
    source, target = call.attrs["SrcT"], call.attrs["DstT"]
    return cast(dense(grad), source) if source in _DIFFERENTIABLE and target in _DIFFERENTIABLE else None


# --- public functions -------------------------------------------------------------------------------------------------


def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Return `x` with its elements turned into `dtype`.

    >>> cast([1.8, -2.2], "int32").numpy().tolist()
    [1, -2]
    """
    target = dtype if dtype.__class__ is DType else as_dtype(dtype)
    target = target.base_dtype
    if isinstance(x, Tensor):
        found = x.dtype
        if found is target:
            return x
        if x.__class__ is EagerTensor and not context.graph_scopes and found not in _OPAQUE and target not in _OPAQUE:
            try:
                result = wrap(cast_array(x._array, found, target), target)
            except RunElsewhere:
                return Cast(x, DstT=target)
            if context.recorders:
                record(Cast, (x,), (result,), {"SrcT": found, "DstT": target, "Truncate": False})
            return result
    elif isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, target, name), x.indices, x.dense_shape)  # type: ignore[return-value]
    elif hasattr(x, "with_values"):
        parts: Any = x  # a sparse or ragged tensor
        return parts.with_values(cast(parts.values, target, name))
    else:
        with name_scope(name, "Cast", [x]) as scope:
            x = convert(x, name="x")
            return x if x.dtype.base_dtype is target else Cast(x, DstT=target, name=scope or None)
    return x if found.base_dtype is target else Cast(x, DstT=target, name=name or "Cast")


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Return `value` in another dtype, with what does not fit set to the nearest number that does.

    >>> saturate_cast([-3.0, 1e9], "uint8").numpy().tolist()
    [0, 255]
    """
    target = as_dtype(dtype).base_dtype
    with name_scope(name, "saturate_cast", [value]) as scope:
        tensor = operand(value, name="value")
        if tensor.dtype.is_complex:
            if target.is_complex:
                parts = [_clamped(part, target.real_dtype) for part in (raw.Real, raw.Imag)]
                tensor = raw.Complex(*[part(tensor) for part in parts], Tout=tensor.dtype)
            else:
                tensor = raw.Real(tensor, Tout=tensor.dtype.real_dtype)
        if not tensor.dtype.is_complex:
            tensor = _clamp(tensor, target.real_dtype)
        return cast(tensor, target, name=scope or None)


def _clamped(part, target):
    return lambda value: _clamp(part(value, Tout=value.dtype.real_dtype), target)


def _clamp(value, target):
    source = value.dtype.base_dtype
    if target.is_bool or source.is_bool:
        return value
    low, high = inner_limit(source, target, "min"), inner_limit(source, target, "max")
    return raw.ClipByValue(value, convert(low, source), convert(high, source), name="clamp")


def inner_limit(source: DType, target: DType, which: str) -> Any:
    """Return the smallest ("min") or largest ("max") number of `source` that `target` can hold.

    >>> int(inner_limit(dtypes.float32, dtypes.int32, "max"))
    2147483520
    """
    own, other = getattr(source, which), getattr(target, which)
    exact = (max if which == "min" else min)(own, other, key=_exactly)
    if source.is_integer:
        return int(exact)
    limit = source.as_numpy_dtype(exact)
    beyond = _exactly(limit) < _exactly(other) if which == "min" else _exactly(limit) > _exactly(other)
    return np.nextafter(limit, source.as_numpy_dtype(0)) if beyond else limit


def _exactly(number: Any) -> int | float:
    """Return a number as Python compares it without loss: integers as they are, floats as doubles."""
    return int(number) if isinstance(number, (int, np.integer)) else float(number)


def saturate_cast_tf1(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """`saturate_cast` as TensorFlow 1 puts it into a graph: a Maximum and a Minimum before the Cast."""
    target = as_dtype(dtype).base_dtype
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = operand(value, name="value")
        source = value.dtype.base_dtype
        if source.min < target.min:
            value = raw.Maximum(value, convert(inner_limit(source, target, "min"), source, name="min"))
        if source.max > target.max:
            value = raw.Minimum(value, convert(inner_limit(source, target, "max"), source, name="max"))
        return cast(value, target, name=scope or None)


def to_float(x: TensorLike, name: str = "ToFloat") -> Tensor:
    """Return `x` as float32.

    >>> to_float([1, 2]).numpy().tolist()
    [1.0, 2.0]
    """
    return cast(x, dtypes.float32, name=name)


def to_double(x: TensorLike, name: str = "ToDouble") -> Tensor:
    """Return `x` as float64."""
    return cast(x, dtypes.float64, name=name)


def to_int32(x: TensorLike, name: str = "ToInt32") -> Tensor:
    """Return `x` as int32.

    >>> to_int32([1.9, -1.9]).numpy().tolist()
    [1, -1]
    """
    return cast(x, dtypes.int32, name=name)


def to_int64(x: TensorLike, name: str = "ToInt64") -> Tensor:
    """Return `x` as int64.

    >>> to_int64([1.9, -1.9]).dtype.name
    'int64'
    """
    return cast(x, dtypes.int64, name=name)


def to_bfloat16(x: TensorLike, name: str = "ToBFloat16") -> Tensor:
    """Return `x` as bfloat16."""
    return cast(x, dtypes.bfloat16, name=name)


def to_complex64(x: TensorLike, name: str = "ToComplex64") -> Tensor:
    """Return `x` as complex64."""
    return cast(x, dtypes.complex64, name=name)


def to_complex128(x: TensorLike, name: str = "ToComplex128") -> Tensor:
    """Return `x` as complex128."""
    return cast(x, dtypes.complex128, name=name)


# --- the same bits ----------------------------------------------------------------------------------------------------

_BITS = "floats,int64,int32,uint8,uint16,uint32,uint64,int8,int16,complex64,complex128,quantized"
Bitcast = op(
    f"Bitcast(input:T) -> (output:type) | T: type in [{_BITS}]; type: type in [{_BITS}]",
    gradient=FLAT,
    facts="view portable",
)


def _bitcast_dims(dims: Any, source: int, target: int) -> tuple[Any, ...]:
    if source >= target:
        return dims if source == target else (*dims, source // target)
    ratio = target // source
    if not dims or dims[-1] not in (None, ratio):
        raise errors.StaticShapeError(
            f"Cannot bitcast due to shape. {dims[-1] if dims else 'A scalar'} does not match {ratio}"
        )
    return dims[:-1]


@Bitcast.shape
def _(input, *, T, type):
    return None if input.dims is None else _bitcast_dims(input.dims, T.size, type.size)


@Bitcast.kernel
def _(xp, input, *, T, type):
    dims = _bitcast_dims(input.shape, T.size, type.size)
    if not math.prod(dims):
        return xp.zeros(dims, type.np)
    flat = np.ascontiguousarray(input) if xp is np else input
    return flat.reshape(-1).view(type.np).reshape(dims)


def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """Return the same bits read as another type."""
    return Bitcast(input, type=type, name=name)
