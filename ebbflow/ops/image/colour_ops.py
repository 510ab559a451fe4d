"""The ops between colour spaces and on contrast, hue and saturation. Pixels are the last axis: red, green, blue.

Kernels compute 16-bit numbers in float32. The gradient of RGB to HSV is written out; where TensorFlow has none for an
op there is none here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import FLAT, UNDEFINED, in_float32, raw, show
from ebbflow.ops.image.colour_loops import hsv_of_rgb, rgb_of_hsv, scaled_saturations, turned_hues, walked
from ebbflow.ops.sizes import invalid

_FLOATS = "T: type in [half,bfloat16,float,double] = float"


def _coloured(images: Known, *others: Known) -> Dims:
    dims = images.dims
    if dims is None:
        return None
    if not dims:
        raise errors.StaticShapeError("Shape must be at least rank 1 but is rank 0")
    if dims[-1] not in (None, 3):
        raise errors.StaticShapeError(f"Dimension must be 3 but is {dims[-1]}: the last axis of images is colours")
    return (*dims[:-1], 3)


def _check_colours(images: Any, rank: int = 1) -> None:
    if images.ndim < rank:
        raise invalid(f"input must be at least {rank}-D, got shape {show(images.shape)}")
    if images.shape[-1] != 3:
        words = f"input must have 3 channels but instead has {images.shape[-1]} channels."
        raise invalid(words) if rank > 1 else errors.FailedPreconditionError(None, None, words)


RGBToHSV = op(f"RGBToHSV(images:T) -> (output:T) | {_FLOATS}", shape=_coloured, facts="beside")
HSVToRGB = op(f"HSVToRGB(images:T) -> (output:T) | {_FLOATS}", shape=_coloured, gradient=FLAT, facts="beside")


@RGBToHSV.kernel
@in_float32
def _(xp, images):
    _check_colours(images)
    result = walked(hsv_of_rgb, images) if xp is np else None
    return xp.stack(to_hsv(xp, images), -1) if result is None else result


@HSVToRGB.kernel
@in_float32
def _(xp, images):
    _check_colours(images)
    result = walked(rgb_of_hsv, images) if xp is np else None
    return xp.stack(to_rgb(xp, images[..., 0], images[..., 1], images[..., 2]), -1) if result is None else result


def to_hsv(xp: Any, images: Any) -> tuple[Any, Any, Any]:
    """Return hue, saturation and value, each from 0 to 1."""
    r, g, b = images[..., 0], images[..., 1], images[..., 2]
    value = xp.maximum(xp.maximum(r, g), b)
    span = value - xp.minimum(xp.minimum(r, g), b)
    saturation = xp.where(value > 0, span / xp.where(value > 0, value, 1), 0)
    unit = 1 / (6 * xp.where(span > 0, span, 1))
    hue = xp.where(r == value, unit * (g - b), xp.where(g == value, unit * (b - r) + 2 / 6, unit * (r - g) + 4 / 6))
    hue = xp.where(span > 0, hue, 0)
    hue = xp.where(hue < 0, hue + 1, hue)
    kind = images.dtype
    return hue.astype(kind), saturation.astype(kind), value


def ramps(xp: Any, hue: Any) -> tuple[Any, Any, Any]:
    """Return how much of red, green and blue stands in a hue."""
    six = hue * 6
    return (
        xp.clip(xp.abs(six - 3) - 1, 0, 1),
        xp.clip(2 - xp.abs(six - 2), 0, 1),
        xp.clip(2 - xp.abs(six - 4), 0, 1),
    )


def to_rgb(xp: Any, hue: Any, saturation: Any, value: Any) -> list[Any]:
    """Return red, green and blue."""
    return [((1 - saturation) + saturation * part) * value for part in ramps(xp, hue)]


@RGBToHSV.gradient
def _(call, grad):
    last = np.array(-1, np.int32)
    r, g, b = raw.Unpack(call.images, num=3, axis=-1)
    dh, ds, dv = raw.Unpack(grad, num=3, axis=-1)
    value = call.output[..., 2]
    kind = call.images.dtype
    as_number = lambda truth: raw.Cast(truth, DstT=kind)
    most = [
        as_number(raw.LogicalAnd(r >= b, r >= g)),
        as_number(raw.LogicalAnd(g > r, g >= b)),
        as_number(raw.LogicalAnd(b > r, b > g)),
    ]
    least = [
        as_number(raw.LogicalAnd(r < b, r < g)),
        as_number(raw.LogicalAnd(g <= r, g < b)),
        as_number(raw.LogicalAnd(b <= r, b <= g)),
    ]
    smallest = r * least[0] + g * least[1] + b * least[2]
    span = value - smallest
    ends = (g - b) * most[0] + (b - r) * most[1] + (r - g) * most[2]
    zero = raw.ZerosLike(r)
    rising = [[zero, most[0], -most[0]], [-most[1], zero, most[1]], [most[2], -most[2], zero]]
    parts = []
    sixth = np.array(1 / 6, kind.np)
    for i in range(3):
        of_value = most[i]
        of_saturation = raw.DivNoNan(most[i] * smallest, value * value) - raw.DivNoNan(least[i], value)
        of_ends = rising[0][i] + rising[1][i] + rising[2][i]
        of_hue = sixth * (raw.DivNoNan(of_ends, span) - raw.DivNoNan(ends * (most[i] - least[i]), span * span))
        parts.append(raw.ExpandDims(dv * of_value + ds * of_saturation + dh * of_hue, last))
    return raw.ConcatV2(parts, last)


# --- adjustments ------------------------------------------------------------------------------------------------------

_IMAGES = "T: type in [half,float] = float"


def _at_least_three(images: Known, other: Known, *more: Known) -> Dims:
    if images.dims is not None and len(images.dims) < 3:
        raise errors.StaticShapeError(f"Shape must be at least rank 3 but is rank {len(images.dims)}")
    if other.rank not in (None, 0):
        raise errors.StaticShapeError(f"Shape must be rank 0 but is rank {other.rank}")
    return images.dims


AdjustHue = op(
    f"AdjustHue(images:T, delta:float) -> (output:T) | {_IMAGES}",
    shape=_at_least_three,
    gradient=UNDEFINED,
    facts="beside",
)
AdjustSaturation = op(
    f"AdjustSaturation(images:T, scale:float) -> (output:T) | {_IMAGES}",
    shape=_at_least_three,
    gradient=UNDEFINED,
    facts="beside",
)
AdjustContrastv2 = op(
    f"AdjustContrastv2(images:T, contrast_factor:float) -> (output:T) | {_IMAGES}",
    shape=_at_least_three,
    gradient=UNDEFINED,
    facts="beside",
)
AdjustContrast = op(
    "AdjustContrast(images:T, contrast_factor:float, min_value:float, max_value:float) -> (output:float)"
    " | T: type in [uint8,int8,int16,int32,int64,float,double] | deprecated@2",
    shape=_at_least_three,
    gradient=UNDEFINED,
)


def _check_scalar(value: Any, name: str) -> None:
    if value.ndim:
        raise invalid(f"{name} must be scalar: {show(value.shape)}")


@AdjustHue.kernel
def _(xp, images, delta):
    _check_colours(images, 3)
    _check_scalar(delta, "delta")
    result = walked(turned_hues, images, float(delta)) if xp is np else None
    if result is not None:
        return result
    wide = images.astype(np.float32)
    hue, _, most = to_hsv(xp, wide)
    least = wide.min(axis=-1)
    hue = hue + delta
    hue = hue - xp.floor(hue)
    parts = [least + (most - least) * part for part in ramps(xp, hue)]
    return xp.stack(parts, -1).astype(images.dtype)


@AdjustSaturation.kernel
def _(xp, images, scale):
    _check_colours(images, 3)
    _check_scalar(scale, "scale")
    result = walked(scaled_saturations, images, float(scale)) if xp is np else None
    if result is not None:
        return result
    hue, saturation, value = to_hsv(xp, images.astype(np.float32))
    return xp.stack(to_rgb(xp, hue, xp.clip(saturation * scale, 0, 1), value), -1).astype(images.dtype)


def _contrast(images: Any, factor: Any) -> Any:
    if images.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{show(images.shape)}")
    _check_scalar(factor, "contrast_factor")
    wide = images.astype(np.float32, copy=False)
    height, width, channels = images.shape[-3:]
    rows = wide.reshape(-1, height, width * channels)  # NumPy is slow at an axis of three
    total = rows.sum(axis=1, keepdims=True).reshape(-1, 1, width, channels).sum(axis=2)
    mean = np.tile(total / np.float32(max(height * width, 1)), width)
    result = rows - mean
    result *= factor
    result += mean
    return result.reshape(images.shape)


@AdjustContrastv2.kernel
def _(xp, images, contrast_factor):
    return _contrast(images, contrast_factor).astype(images.dtype, copy=False)


@AdjustContrast.kernel
def _(xp, images, contrast_factor, min_value, max_value):
    _check_scalar(min_value, "min_value")
    _check_scalar(max_value, "max_value")
    return xp.clip(_contrast(images, contrast_factor), min_value, max_value)
