"""The discrete cosine transform of types 1 to 4, and its inverse, made of Fourier transforms of real signals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.lengths import lengths_of
from ebbflow.ops.signal.fft import irfft, rfft
from ebbflow.ops.signal.fft_ops import fitted


def dct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the discrete cosine transform along the last axis.

    >>> dct(np.array([1, 1], np.float32)).numpy().tolist()
    [4.0, 0.0]
    """
    _check(type, axis, norm)
    with name_scope(name, "dct"):
        x = convert(input)
        if n is not None:
            if n < 1:
                raise ValueError(f"n should be an integer greater than 1, got {n}")
            x = fitted(x, [int(n)])
        return _TYPES[type](x, lengths_of(x)[-1], norm)


def idct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the inverse of the cosine transform of this type; without `norm="ortho"`, a multiple of it."""
    _check(type, axis, norm)
    inverse = {1: 1, 2: 3, 3: 2, 4: 4}[type]
    return dct(input, inverse, n, axis, norm, name)


def _check(kind: Any, axis: Any, norm: Any) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}; transpose the axis to the end first")
    if kind not in (1, 2, 3, 4):
        raise ValueError(f"Types I, II, III and IV (I)DCT are supported, got type {kind}")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if kind == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")


def _float(n: Any, dtype: Any) -> Any:
    return np.array(n, dtype.np) if isinstance(n, int) else raw.Cast(n, DstT=dtype)


def _half_angles(n: Any, dtype: Any, sign: float = -1.0) -> Any:
    """Return exp(sign iπk / 2n) for k = 0 … n-1."""
    angle = raw.Range(_zero(dtype), _float(n, dtype), np.array(1, dtype.np)) * (math.pi * 0.5) / _float(n, dtype)
    return raw.Exp(raw.Complex(raw.ZerosLike(angle), sign * angle, Tout=_complex(dtype)))


def _zero(dtype: Any) -> Any:
    return np.array(0, dtype.np)


def _complex(dtype: Any) -> Any:
    return dtypes.complex128 if dtype is dtypes.float64 else dtypes.complex64


def _length(n: Any) -> Any:
    return np.array([n], np.int32) if isinstance(n, int) else raw.Reshape(n, np.array([1], np.int32))


def _first(x: Any, n: Any, norm: Any) -> Any:
    if isinstance(n, int) and n < 2:
        raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    mirrored = raw.ConcatV2([x, raw.ReverseV2(x, np.array([-1], np.int32))[..., 1:-1]], np.array(-1, np.int32))
    return raw.Real(rfft(mirrored), Tout=x.dtype)


def _second(x: Any, n: Any, norm: Any) -> Any:
    kind = x.dtype
    spectrum = rfft(x, _length(2 * n))[..., :n]
    result = raw.Real(spectrum * (2 * _half_angles(n, kind)), Tout=kind)
    if norm != "ortho":
        return result
    n1 = 0.5 * raw.Rsqrt(_float(n, kind))
    return result * _ortho(n, n1, n1 * math.sqrt(2.0), kind)


def _ortho(n: Any, first: Any, others: Any, kind: Any) -> Any:
    """Return the vector whose first entry is `first` and whose others are `others`."""
    at_start = raw.Equal(raw.Range(0, n, 1), 0)
    return raw.SelectV2(at_start, convert(first, kind), convert(others, kind))


def _third(x: Any, n: Any, norm: Any) -> Any:
    kind = x.dtype
    size = _float(n, kind)
    if norm == "ortho":
        n1 = raw.Sqrt(size)
        x = x * _ortho(n, n1, n1 * math.sqrt(0.5), kind)
    else:
        x = x * size
    turned = raw.Complex(x, raw.ZerosLike(x), Tout=_complex(kind)) * (2 * _half_angles(n, kind, 1.0))
    return irfft(turned, _length(2 * n))[..., :n]


def _fourth(x: Any, n: Any, norm: Any) -> Any:
    # every odd entry of a second transform of twice the length is what the fourth type is
    filled = fitted(x, [2 * n])
    result = _second(filled, 2 * n, None)[..., 1::2]
    if norm == "ortho":
        result = result * (math.sqrt(0.5) * raw.Rsqrt(_float(n, x.dtype)))
    return result


_TYPES = {1: _first, 2: _second, 3: _third, 4: _fourth}
