"""Windows: weights for the samples of a frame. Knows arithmetic ops only; the length may be a tensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.ops.declare import raw


def hann_window(
    window_length: TensorLike, periodic: bool = True, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """Return the raised cosine that falls to zero at both ends.

    >>> hann_window(4).numpy().tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(
    window_length: TensorLike, periodic: bool = True, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """Return the raised cosine that falls to 0.08 at both ends."""
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def _checked_length(window_length: Any) -> Any:
    length = convert(window_length, dtypes.int32)
    if length.shape.rank not in (None, 0):
        raise ValueError(f"window_length must be a scalar, got shape {length.shape}")
    return length


def _checked_dtype(dtype: Any, name: str) -> Any:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype!r}: {name}")
    return dtype


def _raised_cosine(name: Any, default: str, length: Any, periodic: bool, dtype: Any, a: float, b: float) -> Any:
    kind = _checked_dtype(dtype, default)
    with name_scope(name, default, [length, periodic]):
        length = _checked_length(length)
        even = 1 - length % 2
        if isinstance(periodic, bool):
            lengthened = even if periodic else 0
        else:
            lengthened = raw.Cast(convert(periodic, dtypes.bool), DstT=dtypes.int32) * even
        # a window of one sample is 1: the divisor below would be zero
        steps = raw.Maximum(raw.Cast(length + lengthened - 1, DstT=kind), np.array(1, kind.np))
        angle = raw.Cast(raw.Range(0, length, 1), DstT=kind) * np.array(2 * math.pi, kind.np) / steps
        window = np.array(a, kind.np) - np.array(b, kind.np) * raw.Cos(angle)
        return raw.SelectV2(raw.Equal(length, 1), raw.OnesLike(window), window)


def kaiser_window(
    window_length: TensorLike, beta: TensorLike = 12.0, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """Return the Kaiser window, whose side lobes `beta` keeps low."""
    kind = _checked_dtype(dtype, "kaiser_window")
    with name_scope(name, "kaiser_window"):
        length = _checked_length(window_length)
        half = (raw.Cast(length, DstT=kind) - 1) / 2
        places = raw.Cast(raw.Range(0, length, 1), DstT=kind) - half
        scaled = places / raw.Maximum(half, np.array(np.finfo(np.float32).tiny, kind.np))
        beta = raw.Abs(raw.Cast(convert(beta), DstT=kind))  # of any type: Keras gives integers
        inside = raw.Maximum(1 - scaled * scaled, np.array(0, kind.np))
        window = raw.Exp(beta * (raw.Sqrt(inside) - 1)) * raw.BesselI0e(beta * raw.Sqrt(inside)) / raw.BesselI0e(beta)
        return raw.SelectV2(raw.Equal(length, 1), raw.OnesLike(window), window)


def kaiser_bessel_derived_window(
    window_length: TensorLike, beta: TensorLike = 12.0, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """Return the window made of the running sums of a Kaiser window; its halves add up to one in squares."""
    with name_scope(name, "kaiser_bessel_derived_window"):
        length = _checked_length(window_length)
        half = length // 2
        window = kaiser_window(half + 1, beta, dtype)
        sums = raw.Cumsum(window, np.array(0, np.int32))
        first = raw.Sqrt(sums[:-1] / sums[-1])
        return raw.ConcatV2([first, raw.ReverseV2(first, np.array([0], np.int32))], np.array(0, np.int32))


def vorbis_window(window_length: TensorLike, dtype: DTypeLike = dtypes.float32, name: str | None = None) -> Tensor:
    """Return the window of the Vorbis codec: sin(pi/2 sin²)."""
    kind = _checked_dtype(dtype, "vorbis_window")
    with name_scope(name, "vorbis_window"):
        length = _checked_length(window_length)
        places = raw.Cast(raw.Range(0, length, 1), DstT=kind) + 0.5
        rise = raw.Sin(np.array(math.pi, kind.np) / raw.Cast(length, DstT=kind) * places)
        return raw.Sin(np.array(math.pi / 2, kind.np) * rise * rise)
