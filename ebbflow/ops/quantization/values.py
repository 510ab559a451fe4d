"""Quantised numbers as arrays: floats to and from integers of few bits, in TensorFlow's three ways.

A quantised array means floats between a minimum and a maximum. MIN_COMBINED spreads all integers over the range,
MIN_FIRST does with zero on a step, SCALED has one step for both sides of zero. Knows arrays; the ops are beside this.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.dtypes import DType
from ebbflow.ops.sizes import invalid

TYPES = "type in [qint8,quint8,qint32,qint16,quint16]"


def plain(x: np.ndarray) -> np.ndarray:
    """Return the integers of a quantised array."""
    return x.view(x.dtype[0]) if x.dtype.names else x


def boxed(x: np.ndarray, dtype: DType) -> np.ndarray:
    """Return integers (clipped to what it holds) as a quantised array."""
    kind = np.dtype(dtype.np)
    inner = kind[0] if kind.names else kind
    info = np.iinfo(inner)
    return np.ascontiguousarray(np.clip(x, info.min, info.max).astype(inner)).view(kind)


def limits(dtype: DType) -> tuple[int, int]:
    """Return the least and the largest integer of a quantised dtype."""
    kind = np.dtype(dtype.np)
    info = np.iinfo(kind[0] if kind.names else kind)
    return int(info.min), int(info.max)


def scalar(x: np.ndarray, name: str) -> float:
    """Return a bound of a range, which must be one number."""
    if x.size != 1:
        raise invalid(f"{name} must be a scalar, got shape {list(x.shape)}")
    return float(x.reshape(-1)[0])


def away_from_zero(x: Any) -> Any:
    """Round halves away from zero, as C does."""
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


# --- MIN_FIRST: zero is on a step -------------------------------------------------------------------------------------


def step_of(low: float, high: float, dtype: DType) -> float:
    """Return how much one integer is worth."""
    least, most = limits(dtype)
    steps = most - least + 1
    return (high - low) * (steps / (steps - 1.0)) / steps


def from_floats(x: Any, low: float, high: float, dtype: DType) -> Any:
    """Return floats as integers (not clipped)."""
    if low == high:
        return np.zeros_like(np.asarray(x), np.float64)
    step = step_of(low, high, dtype)
    return away_from_zero(np.asarray(x, np.float64) / step) - away_from_zero(low / step) + limits(dtype)[0]


def to_floats(x: np.ndarray, low: float, high: float, dtype: DType) -> np.ndarray:
    """Return what integers mean."""
    if low == high:
        return np.full(x.shape, low, np.float64)
    step = step_of(low, high, dtype)
    base = away_from_zero(low / step) * step
    return base + (x.astype(np.float64) - limits(dtype)[0]) * step


# --- all three ways ---------------------------------------------------------------------------------------------------


def quantized(
    x: np.ndarray, low: Any, high: Any, dtype: DType, mode: str, to_even: bool, narrow: bool
) -> tuple[np.ndarray, Any, Any]:
    """Return floats as integers, and the range they then mean; bounds may be arrays that go with `x`."""
    least, most = limits(dtype)
    if mode == "MIN_FIRST":
        if np.ndim(low):
            raise invalid("mode MIN_FIRST knows no axis")
        return from_floats(x, float(low), float(high), dtype), low, high
    if mode == "MIN_COMBINED":
        scale = (most - least) / (high - low)
        shifted = (np.clip(x, low, high) - low) * scale - ((most - least + 1) / 2.0 if least < 0 else 0.0)
        return away_from_zero(shifted), low, high
    floor = least + narrow
    with np.errstate(all="ignore"):
        from_low = np.where(floor * low > 0, floor / low, np.inf)
        from_high = np.where(most * high > 0, most / high, np.inf)
    scale = np.minimum(from_low, from_high)
    scaled = np.clip(x, floor / scale, most / scale) * scale
    return (np.rint(scaled) if to_even else away_from_zero(scaled)), floor / scale, most / scale


def dequantized(x: np.ndarray, low: Any, high: Any, dtype: DType, mode: str, narrow: bool) -> np.ndarray:
    """Return what integers mean."""
    least, most = limits(dtype)
    if mode == "MIN_FIRST":
        if np.ndim(low):
            raise invalid("mode MIN_FIRST knows no axis")
        return to_floats(x, float(low), float(high), dtype)
    if mode == "MIN_COMBINED":
        half = (most - least + 1) / 2.0 if least < 0 else 0.0
        return (x.astype(np.float64) + half) * ((high - low) / (most - least)) + low
    if least == 0:
        scale = high / most
    else:
        scale = np.maximum(low / (least + narrow), high / most)
    return x.astype(np.float64) * scale
