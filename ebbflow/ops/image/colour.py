"""The public functions of colour: between dtypes and colour spaces, brightness, contrast, gamma, hue, saturation.

Integers stand for numbers from 0 to 1 by their largest value. An adjustment computes in floats and gives back what it
was given, cut to the range where that was integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert, operand
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast, saturate_cast
from ebbflow.ops.lengths import lengths_of, packed


def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None) -> Tensor:
    """Return images in another dtype, scaled so that the largest integer is 1.

    >>> convert_image_dtype(np.array([[[255, 0]]], np.uint8), dtypes.float32).numpy().tolist()
    [[[1.0, 0.0]]]
    """
    image = operand(image, name="image")
    dtype, own = dtypes.as_dtype(dtype), image.dtype
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if not own.is_floating and not own.is_integer:
        raise AttributeError("image dtype must be either floating point or integer")
    if dtype is own:
        return raw.Identity(image, name=name)
    with name_scope(name, "convert_image", [image]):
        if own.is_integer and dtype.is_integer:
            return _between_integers(image, dtype, saturate)
        if own.is_floating and dtype.is_floating:
            return cast(image, dtype)
        if own.is_integer:
            return cast(image, dtype) * np.array(1.0 / own.max, dtype.np)
        scaled = image * np.array(dtype.max + 0.5, own.np)  # half more, so that 1.0 becomes the largest
        return saturate_cast(scaled, dtype) if saturate else cast(scaled, dtype)


def _between_integers(image: Any, dtype: Any, saturate: bool) -> Any:
    own = image.dtype
    if own.max > dtype.max:
        scaled = raw.FloorDiv(image, np.array((own.max + 1) // (dtype.max + 1), own.np))
        return saturate_cast(scaled, dtype) if saturate else cast(scaled, dtype)
    wide = saturate_cast(image, dtype) if saturate else cast(image, dtype)
    return wide * np.array((dtype.max + 1) // (own.max + 1), dtype.np)


def _in_float(image: Any) -> tuple[Any, Any]:
    """Return an image in floats, and the dtype it had."""
    image = operand(image, name="image")
    own = image.dtype
    return (image if own in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)), own


def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """Return images with `delta` added to every pixel (of those that are numbers from 0 to 1)."""
    with name_scope(None, "adjust_brightness", [image, delta]):
        floats, own = _in_float(image)
        return convert_image_dtype(floats + cast(delta, floats.dtype), own, saturate=True)


def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """Return images with every pixel's distance to its channel's mean multiplied."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]):
        floats, own = _in_float(images)
        adjusted = raw.AdjustContrastv2(floats, convert(contrast_factor, dtypes.float32))
        return convert_image_dtype(adjusted, own, saturate=True)


def adjust_gamma(image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1) -> Any:
    """Return `gain * image ** gamma`."""
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        floats, own = _in_float(image)
        if not isinstance(gamma, Tensor) and np.any(np.asarray(gamma) < 0):
            raise ValueError("Gamma should be a non-negative real number.")
        power = cast(gamma, floats.dtype)
        if isinstance(gamma, Tensor):
            power = _not_negative(power)
        adjusted = cast(gain, floats.dtype) * raw.Pow(floats, power)
        return convert_image_dtype(adjusted, own, saturate=True)


def _not_negative(gamma: Any) -> Any:
    """Return the exponent of `adjust_gamma`, looked at when its value is there."""
    right = raw.All(raw.GreaterEqual(gamma, raw.ZerosLike(gamma)), raw.Range(0, raw.Rank(gamma), 1))
    check = raw.Assert(right, ["Gamma should be a non-negative real number."])
    if context.executing_eagerly():
        return gamma
    with context.default_graph().control_dependencies([check]):
        return raw.Identity(gamma)


def adjust_hue(image: TensorLike, delta: AnyTensor, name: str | None = None) -> Tensor:
    """Return images with `delta` (of a whole turn) added to every hue."""
    with name_scope(name, "adjust_hue", [image]):
        if not isinstance(delta, Tensor) and not -1 <= delta <= 1:
            raise ValueError("delta must be in the interval [-1, 1]")
        floats, own = _in_float(image)
        return convert_image_dtype(raw.AdjustHue(floats, convert(delta, dtypes.float32)), own)


def adjust_saturation(image: TensorLike, saturation_factor: TensorLike, name: str | None = None) -> Tensor:
    """Return images with every saturation multiplied."""
    with name_scope(name, "adjust_saturation", [image]):
        floats, own = _in_float(image)
        return convert_image_dtype(raw.AdjustSaturation(floats, convert(saturation_factor, dtypes.float32)), own)


# --- colour spaces ----------------------------------------------------------------------------------------------------


def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Return images in hue, saturation and value."""
    return raw.RGBToHSV(images, name=name)


def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Return images in red, green and blue."""
    return raw.HSVToRGB(images, name=name)


_GREY = [0.2989, 0.5870, 0.1140]
_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_FROM_YIQ = [[1.0, 1.0, 1.0], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_FROM_YUV = [[1.0, 1.0, 1.0], [0.0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0.0]]


def _mixed(images: Any, weights: list[list[float]], scope: str) -> Any:
    """Return each pixel times a matrix."""
    images = convert(images, name="images")
    with name_scope(None, scope, [images]):
        lengths = lengths_of(images)
        flat = raw.Reshape(images, np.array([-1, 3], np.int32))
        mixed = raw.MatMul(flat, np.array(weights, images.dtype.np))
        return raw.Reshape(mixed, packed([*lengths[:-1], len(weights[0])]))


def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Return images in the colours of American television."""
    return _mixed(images, _YIQ, "rgb_to_yiq")


def yiq_to_rgb(images: TensorLike) -> Tensor:
    """Return images in red, green and blue."""
    return _mixed(images, _FROM_YIQ, "yiq_to_rgb")


def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Return images in the colours of European television."""
    return _mixed(images, _YUV, "rgb_to_yuv")


def yuv_to_rgb(images: TensorLike) -> Tensor:
    """Return images in red, green and blue."""
    return _mixed(images, _FROM_YUV, "yuv_to_rgb")


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """Return images as shades of grey, with one channel.

    >>> rgb_to_grayscale([[[1.0, 1.0, 1.0]]]).numpy().round(3).tolist()
    [[[1.0]]]
    """
    with name_scope(name, "rgb_to_grayscale", [images]):
        images = convert(images, name="images")
        last = images.shape.rank is not None and images._dims[-1]
        if last not in (None, False, 3):
            raise ValueError(f"last dimension of images must be size 3, got shape {images.shape}")
        floats = convert_image_dtype(images, dtypes.float32)
        grey = raw.Sum(floats * np.array(_GREY, np.float32), np.array([-1], np.int32), keep_dims=True)
        return convert_image_dtype(grey, images.dtype)


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Return shades of grey as red, green and blue."""
    with name_scope(name, "grayscale_to_rgb", [images]):
        images = convert(images, name="images")
        if images._dims is None:
            ones = raw.Fill(raw.ExpandDims(raw.Sub(raw.Rank(images), 1), 0), 1)
            return raw.Tile(images, raw.ConcatV2([ones, np.array([3], np.int32)], 0))
        if len(images._dims) < 2:
            raise ValueError(f"A grayscale image (shape {images.shape}) must be at least two-dimensional.")
        if images._dims[-1] not in (None, 1):
            raise ValueError(f"Last dimension of a grayscale image should be size 1, got shape {images.shape}")
        return raw.Tile(images, np.array([1] * (len(images._dims) - 1) + [3], np.int32))


def per_image_standardization(image: TensorLike) -> Tensor:
    """Return each image with mean 0 and deviation 1; a flat image is not blown up."""
    with name_scope(None, "per_image_standardization", [image]):
        image = convert(image, name="image")
        if image.shape.rank is not None and image.shape.rank < 3:
            raise ValueError(f"'image' (shape {image.shape}) must be at least three-dimensional.")
        if image.dtype not in (dtypes.float16, dtypes.float32):
            image = cast(image, dtypes.float32)
        return _standardized(image)


def per_image_standardization_v1(image: TensorLike) -> Tensor:
    """Return each image with mean 0 and deviation 1, as TF 1 does it: integers are not scaled first."""
    with name_scope(None, "per_image_standardization", [image]):
        image = cast(convert(image, name="image"), dtypes.float32)
        if image.shape.rank is not None and image.shape.rank < 3:
            raise ValueError(f"'image' (shape {image.shape}) must be at least three-dimensional.")
        return _standardized(image)


def _standardized(image: Any) -> Any:
    axes = np.array([-3, -2, -1], np.int32)
    lengths = lengths_of(image)[-3:]
    count = raw.Cast(raw.Prod(convert(packed(lengths)), np.array([0], np.int32)), DstT=image.dtype)
    mean = raw.Mean(image, axes, keep_dims=True)
    away = image - mean
    deviation = raw.Sqrt(raw.Mean(away * away, axes, keep_dims=True))
    return away / raw.Maximum(deviation, raw.Rsqrt(count))
