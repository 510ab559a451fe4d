"""Large arrays rounded to steps, as loops that may become machine code (`core.loops`), to NumPy's last bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import memory
from ebbflow.core.loops import F32, Loop, Single, f32, f64, floor, loop, rint
from ebbflow.ops.parts import SHARE, in_shares

MANY = 1 << 12
"""Numbers from which on code is worth asking for."""


@loop
def faked(
    x: F32, out: F32, begin: int, end: int, least: Single, most: Single, inverse: Single, zero: Single, scale: Single
) -> None:
    """Round to steps between two numbers, zero being one of them."""
    for i in range(begin, end):
        value = x[i]
        inside = least if value < least else most if value > most else value
        out[i] = floor((inside - least) * inverse - zero + f32(0.5)) * scale


@loop
def both_ways(x: F32, out: F32, begin: int, end: int, low: Single, high: Single, scale: Single, step: Single) -> None:
    """Round to the nearest steps, halves to the even one."""
    for i in range(begin, end):
        value = x[i]
        inside = low if value < low else high if value > high else value
        out[i] = rint(inside * scale) * step


@loop
def combined(
    x: F32,
    out: F32,
    begin: int,
    end: int,
    low: float,
    high: float,
    scale: float,
    shift: float,
    least: float,
    most: float,
) -> None:
    """Spread integers over a range."""
    for i in range(begin, end):
        value = f64(x[i])
        inside = low if value < low else high if value > high else value
        moved = (inside - low) * scale - shift
        size = floor(abs(moved) + 0.5)
        whole = -size if moved < 0.0 else size
        out[i] = f32(least if whole < least else most if whole > most else whole)


def walk(loop: Loop, x: np.ndarray, dtype: Any, *numbers: Any) -> np.ndarray | None:
    """Return what a loop makes of a large array, None where NumPy is to do it."""
    code = loop.code() if x.size >= MANY and x.dtype == np.float32 and x.flags.c_contiguous else None
    if code is None:
        return None
    out = memory.empty(x.shape, dtype)
    in_shares(lambda begin, end: code(x, out, begin, end, *numbers), x.size, SHARE)
    return out
