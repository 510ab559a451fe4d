"""Colours turned pixel by pixel, as loops that may become machine code (`core.loops`): the bits that NumPy gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import memory
from ebbflow.core.loops import F32, Loop, Single, f32, floor, loop
from ebbflow.ops.parts import in_shares

GREEN, BLUE = 2 / 6, 4 / 6
"""Where the hues of green and blue begin."""
SHARE = 1 << 15
"""Pixels that a thread takes at a time."""


def hue_of(r: Single, g: Single, b: Single, value: Single, span: Single) -> Single:
    unit = f32(1.0) / (f32(6.0) * (span if span > f32(0.0) else f32(1.0)))
    red, green, blue = unit * (g - b), unit * (b - r) + f32(GREEN), unit * (r - g) + f32(BLUE)
    hue = red if r == value else green if g == value else blue
    some = hue if span > f32(0.0) else f32(0.0)
    return some + f32(1.0) if some < f32(0.0) else some


def larger(a: Single, b: Single) -> Single:
    return b if b > a or b != b else a


def smaller(a: Single, b: Single) -> Single:
    return b if b < a or b != b else a


def cut(x: Single) -> Single:
    return f32(0.0) if x < f32(0.0) else f32(1.0) if x > f32(1.0) else x


def saturation_of(value: Single, span: Single) -> Single:
    share = span / (value if value > f32(0.0) else f32(1.0))
    return share if value > f32(0.0) else f32(0.0)


@loop
def hsv_of_rgb(x: F32, out: F32, begin: int, end: int) -> None:
    """Turn red, green and blue into hue, saturation and value."""
    for i in range(begin, end):
        r, g, b = x[3 * i], x[3 * i + 1], x[3 * i + 2]
        value = larger(larger(r, g), b)
        span = value - smaller(smaller(r, g), b)
        out[3 * i] = hue_of(r, g, b, value, span)
        out[3 * i + 1] = saturation_of(value, span)
        out[3 * i + 2] = value


@loop
def rgb_of_hsv(x: F32, out: F32, begin: int, end: int) -> None:
    """Turn hue, saturation and value into red, green and blue."""
    for i in range(begin, end):
        six, s, value = x[3 * i] * f32(6.0), x[3 * i + 1], x[3 * i + 2]
        rest = f32(1.0) - s
        out[3 * i] = (rest + s * cut(abs(six - f32(3.0)) - f32(1.0))) * value
        out[3 * i + 1] = (rest + s * cut(f32(2.0) - abs(six - f32(2.0)))) * value
        out[3 * i + 2] = (rest + s * cut(f32(2.0) - abs(six - f32(4.0)))) * value


@loop
def turned_hues(x: F32, out: F32, begin: int, end: int, delta: Single) -> None:
    """Add to the hue of colours."""
    for i in range(begin, end):
        r, g, b = x[3 * i], x[3 * i + 1], x[3 * i + 2]
        most, least = larger(larger(r, g), b), smaller(smaller(r, g), b)
        turned = hue_of(r, g, b, most, most - least) + delta
        six = (turned - floor(turned)) * f32(6.0)
        span = most - least
        out[3 * i] = least + span * cut(abs(six - f32(3.0)) - f32(1.0))
        out[3 * i + 1] = least + span * cut(f32(2.0) - abs(six - f32(2.0)))
        out[3 * i + 2] = least + span * cut(f32(2.0) - abs(six - f32(4.0)))


@loop
def scaled_saturations(x: F32, out: F32, begin: int, end: int, scale: Single) -> None:
    """Multiply the saturation of colours."""
    for i in range(begin, end):
        r, g, b = x[3 * i], x[3 * i + 1], x[3 * i + 2]
        value = larger(larger(r, g), b)
        span = value - smaller(smaller(r, g), b)
        six = hue_of(r, g, b, value, span) * f32(6.0)
        s = cut(saturation_of(value, span) * scale)
        rest = f32(1.0) - s
        out[3 * i] = (rest + s * cut(abs(six - f32(3.0)) - f32(1.0))) * value
        out[3 * i + 1] = (rest + s * cut(f32(2.0) - abs(six - f32(2.0)))) * value
        out[3 * i + 2] = (rest + s * cut(f32(2.0) - abs(six - f32(4.0)))) * value


def walked(loop: Loop, images: np.ndarray, *numbers: Any) -> np.ndarray | None:
    """Return what a loop makes of all pixels; None where there is no code, or not for these."""
    code = loop.worth(images.size) if images.dtype == np.float32 and images.flags.c_contiguous else None
    if code is None:
        return None
    out = memory.empty(images.shape)
    in_shares(lambda begin, end: code(images, out, begin, end, *numbers), images.size // 3, SHARE)
    return out
