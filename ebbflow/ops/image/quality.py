"""How alike images are, and how rough: PSNR, SSIM at one and at several scales, total variation, gradients, edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.image.colour import convert_image_dtype
from ebbflow.ops.lengths import lengths_of, packed, packed_pairs

AXES = np.array([-3, -2, -1], np.int32)
POWERS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """Return the sum of differences between neighbours, of an image or of each of a batch."""
    with name_scope(name, "total_variation"):
        images = convert(images)
        rank = images.shape.rank
        if rank not in (3, 4):
            raise ValueError(f"'images' must be either 3 or 4-dimensional, got shape {images.shape}")
        x = images if rank == 4 else images[None]
        axes = np.array([1, 2, 3], np.int32)
        down, across = x[:, 1:] - x[:, :-1], x[:, :, 1:] - x[:, :, :-1]
        total = raw.Sum(raw.Abs(down), axes) + raw.Sum(raw.Abs(across), axes)
        return total if rank == 4 else total[0]


def image_gradients(image: TensorLike) -> tuple[Any, Any]:
    """Return the differences of each pixel to the one below and to the one on the right; zero at the border."""
    image = convert(image)
    if image.shape.rank != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}.")
    down, across = image[:, 1:] - image[:, :-1], image[:, :, 1:] - image[:, :, :-1]
    return (
        raw.Pad(down, np.array([[0, 0], [0, 1], [0, 0], [0, 0]], np.int32)),
        raw.Pad(across, np.array([[0, 0], [0, 0], [0, 1], [0, 0]], np.int32)),
    )


def sobel_edges(image: TensorLike) -> Tensor:
    """Return the slopes down and across of each pixel by Sobel's masks [batch, height, width, channels, 2]."""
    image = convert(image)
    batch, height, width, depth = lengths_of(image)
    mask = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], image.dtype.np)
    if not isinstance(depth, int):
        raise ValueError(f"the number of channels must be known, got shape {image.shape}")
    masks = np.tile(np.stack([mask, mask.T], -1)[:, :, None, :], (1, 1, depth, 1))
    padded = raw.MirrorPad(image, np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32), mode="REFLECT")
    found = raw.DepthwiseConv2dNative(padded, masks, strides=[1, 1, 1, 1], padding="VALID")
    return raw.Reshape(found, packed([batch, height, width, depth, 2]))


def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """Return the ratio of the largest value to the noise between images, in decibels."""
    with name_scope(name, "PSNR", [a, b]):
        first, second, largest = _as_floats(a, b, max_val)
        away = first - second
        error = raw.Mean(away * away, AXES)
        return 20 * raw.Log(largest) / np.float32(math.log(10.0)) - np.float32(10 / math.log(10)) * raw.Log(error)


def _check_alike(a: Any, b: Any) -> None:
    for x in (a, b):
        if x.shape.rank is not None and x.shape.rank < 3:
            raise ValueError(f"images must have at least three axes, got shape {x.shape}")
    if not a.shape[-3:].is_compatible_with(b.shape[-3:]):
        raise errors.StaticShapeError(f"the images are of different sizes: {a.shape} and {b.shape}")


# --- SSIM -------------------------------------------------------------------------------------------------------------


def _blur(size: int, sigma: float) -> np.ndarray:
    """Return a Gaussian mask that adds up to one."""
    away = (np.arange(size, dtype=np.float32) - np.float32((size - 1) / 2.0)) ** 2 * np.float32(-0.5 / sigma**2)
    both = (away[None] + away[:, None]).reshape(-1)
    weights = np.exp(both - both.max())
    return (weights / weights.sum()).reshape(size, size, 1, 1).astype(np.float32)


def _blurred(x: Any, mask: np.ndarray) -> Any:
    *outer, height, width, depth = lengths_of(x)
    flat = raw.Reshape(x, packed([-1, height, width, depth]))
    if not isinstance(depth, int):
        raise ValueError(f"the number of channels must be known, got shape {x.shape}")
    masks = np.tile(mask, (1, 1, depth, 1))
    found = raw.DepthwiseConv2dNative(flat, masks, strides=[1, 1, 1, 1], padding="VALID")
    return raw.Reshape(found, packed([*outer, *lengths_of(found)[1:]]))


def _compared(a: Any, b: Any, largest: Any, size: int, sigma: float, k1: float, k2: float) -> tuple[Any, Any]:
    """Return the maps of likeness in everything, and in contrast and structure."""
    for n in (*lengths_of(a)[-3:-1], *lengths_of(b)[-3:-1]):
        if isinstance(n, int) and n < size:
            raise errors.StaticShapeError(f"images of shape {a.shape} are smaller than the filter of size {size}")
    mask = _blur(size, sigma)
    first, second = (k1 * largest) ** 2, (k2 * largest) ** 2
    mean_a, mean_b = _blurred(a, mask), _blurred(b, mask)
    product, squares = mean_a * mean_b * 2.0, mean_a * mean_a + mean_b * mean_b
    light = (product + first) / (squares + first)
    shared, own = _blurred(a * b, mask) * 2.0, _blurred(a * a + b * b, mask)
    structure = (shared - product + second) / (own - squares + second)
    return light * structure, structure


def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """Return how alike images look, 1 where they are the same; with a map, for each place."""
    with name_scope(None, "SSIM", [img1, img2]):
        a, b, largest = _as_floats(img1, img2, max_val)
        whole, _ = _compared(a, b, largest, filter_size, filter_sigma, k1, k2)
        if return_index_map:
            return raw.Mean(whole, np.array([-1], np.int32))
        return raw.Mean(raw.Mean(whole, np.array([-3, -2], np.int32)), np.array([-1], np.int32))


def _as_floats(a: Any, b: Any, max_val: Any) -> tuple[Any, Any, Any]:
    a, b = convert(a, name="img1"), convert(b, name="img2")
    _check_alike(a, b)
    largest = convert_image_dtype(cast(max_val, a.dtype), dtypes.float32)
    return convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32), largest


def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Sequence[float] = POWERS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """Return how alike images look at several scales, each half of the one before."""
    with name_scope(None, "MS-SSIM".replace("-", "_"), [img1, img2]):
        a, b, largest = _as_floats(img1, img2, max_val)
        parts = []
        for scale, power in enumerate(power_factors):
            if scale:
                a, b = _halved(a), _halved(b)
            whole, structure = _compared(a, b, largest, filter_size, filter_sigma, k1, k2)
            last = scale == len(power_factors) - 1
            part = raw.Mean(whole if last else structure, np.array([-3, -2], np.int32))
            parts.append(raw.Pow(raw.Relu(part), np.float32(power)))
        product = parts[0]
        for part in parts[1:]:
            product = product * part
        return raw.Mean(product, np.array([-1], np.int32))


def _halved(x: Any) -> Any:
    """Return images of half the size, each pixel the mean of four; odd sides are mirrored at the end."""
    *outer, height, width, depth = lengths_of(x)
    flat = raw.Reshape(x, packed([-1, height, width, depth]))
    odd = [n % 2 for n in (height, width)]
    if any(not isinstance(n, int) or n for n in odd):
        flat = raw.MirrorPad(flat, packed_pairs([(0, 0), (0, odd[0]), (0, odd[1]), (0, 0)]), mode="SYMMETRIC")
    small = raw.AvgPool(flat, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    return raw.Reshape(small, packed([*outer, *lengths_of(small)[1:]]))
