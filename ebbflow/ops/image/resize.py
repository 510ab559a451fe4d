"""The public functions that resize: `tf.image.resize` of both eras, and what keeps proportions or pads.

Images are [height, width, channels] or a batch of those. TF 1's resizes count pixels from their corners, TF 2's from
their centres; the ops know both.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert, operand
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.image.layout import batched, pad_to_bounding_box, unbatched
from ebbflow.ops.lengths import lengths_of


class ResizeMethodV1:
    """How TF 1's `resize_images` fills in pixels."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


class ResizeMethod:
    """How `tf.image.resize` fills in pixels."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_OLD_NUMBERS = {0: "bilinear", 1: "nearest", 2: "bicubic", 3: "area"}


# --- ops under their own names ----------------------------------------------------------------------------------------


def resize_bilinear(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Return a batch of images resized, each pixel between four.

    >>> resize_bilinear([[[[1.0], [3.0]]]], [1, 4]).numpy().ravel().tolist()
    [1.0, 2.0, 3.0, 3.0]
    """
    return raw.ResizeBilinear(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def resize_bicubic(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Return a batch of images resized, each pixel from sixteen by cubic weights."""
    return raw.ResizeBicubic(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def resize_nearest_neighbor(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Return a batch of images resized, each pixel the nearest one.

    >>> resize_nearest_neighbor([[[[1.0], [3.0]]]], [1, 4]).numpy().ravel().tolist()
    [1.0, 1.0, 3.0, 3.0]
    """
    return raw.ResizeNearestNeighbor(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def resize_area(images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None) -> Tensor:
    """Return a batch of images resized, each pixel the mean of what it covers."""
    return raw.ResizeArea(images, size, align_corners=align_corners, name=name)


# --- resize -----------------------------------------------------------------------------------------------------------


def resize(
    images: TensorLike,
    size: TensorLike,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return images resized to `size`, [height, width].

    >>> resize(np.ones((4, 4, 1), np.float32), [2, 3]).shape
    TensorShape([2, 3, 1])
    """
    with name_scope(name, "resize", [images, size]):
        return _resized(images, size, _method_v2(method, antialias), preserve_aspect_ratio, keep_equal=False)


def _method_v2(method: Any, antialias: bool) -> Callable[[Any, Any], Any]:
    method = method.lower() if isinstance(method, str) else method
    kernels = {"bilinear": "triangle", "bicubic": "keyscubic"}
    if method in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic") or (antialias and method in kernels):
        kernel = kernels.get(method, method)
        return lambda images, size: _by_kernel(images, size, kernel, antialias)
    if method == "bilinear":
        return lambda images, size: raw.ResizeBilinear(images, size, half_pixel_centers=True)
    if method == "bicubic":
        return lambda images, size: raw.ResizeBicubic(images, size, half_pixel_centers=True)
    if method == "nearest":
        return lambda images, size: raw.ResizeNearestNeighbor(images, size, half_pixel_centers=True)
    if method == "area":
        return lambda images, size: raw.ResizeArea(images, size)
    raise ValueError(f"Resize method is not implemented: {method}")


def _by_kernel(images: Any, size: Any, kernel: str, antialias: bool) -> Any:
    own = lengths_of(images)[1:3]
    wanted = raw.Cast(size, DstT=dtypes.float32)
    if all(isinstance(n, int) for n in own):
        scale = wanted / np.array(own, np.float32)
    else:
        scale = wanted / raw.Cast(raw.Shape(images)[1:3], DstT=dtypes.float32)
    none = np.zeros(2, np.float32)
    return raw.ScaleAndTranslate(images, size, scale, none, kernel_type=kernel, antialias=antialias)


def resize_images_v1(
    images: TensorLike,
    size: TensorLike,
    method: int | str = ResizeMethodV1.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return images resized as TF 1 does it; images that have the size already are returned as they are.

    >>> resize_images_v1([[[1.0], [3.0]]], [1, 4]).numpy().ravel().tolist()
    [1.0, 2.0, 3.0, 3.0]
    """
    method = _OLD_NUMBERS.get(method, method) if not isinstance(method, str) else method
    ops = {
        "bilinear": resize_bilinear,
        "nearest": resize_nearest_neighbor,
        "bicubic": resize_bicubic,
        "area": resize_area,
    }
    with name_scope(name, "resize", [images, size]):
        if method not in ops:
            raise ValueError("Resize method is not implemented.")
        change = lambda x, new: ops[method](x, new, align_corners=align_corners)
        return _resized(images, size, change, preserve_aspect_ratio, keep_equal=True)


def _resized(images: Any, size: Any, change: Callable[[Any, Any], Any], keep_ratio: bool, keep_equal: bool) -> Any:
    images = operand(images, name="images")
    if not isinstance(images, Tensor):
        return _each_resized(images, _size(size), lambda one, new: _resized(one, new, change, keep_ratio, False))
    was_single = images.shape.rank == 3
    if images.shape.rank is None:
        raise ValueError("'images' contains no shape.")
    if images.shape.rank not in (3, 4):
        raise ValueError(f"'images' must have either 3 or 4 dimensions, got shape {images.shape}")
    if was_single:
        images = raw.ExpandDims(images, np.array(0, np.int32))
    size = _size(size)
    height, width = images._dims[1:3]
    if keep_ratio:
        size = _kept_ratio(size, height, width, images)
    known = size.constant_value()
    if keep_equal and known is not None and (height, width) == tuple(known.tolist()):
        result = images
    else:
        result = change(images, size)
    return raw.Squeeze(result, squeeze_dims=[0]) if was_single else result


_loops: list[Callable[..., Any]] = []


def provide_loop(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Take the function `loop(change, images, dims)` that calls another for each of the images of a ragged tensor."""
    _loops[:] = [loop]
    return loop


def _each_resized(images: Any, size: Any, change: Callable[[Any, Any], Any]) -> Any:
    """Return images of several sizes (a ragged tensor) resized one by one, as a batch."""
    if images.shape.rank != 4:
        raise ValueError(f"tf.image.resize: images.shape.rank must be 4 if images is ragged, got shape {images.shape}")
    if not _loops:
        importlib.import_module("ebbflow.functions.control_flow.ragged_images")  # a higher room, which fills the hook
    known = size.constant_value()
    dims = [*((None, None) if known is None else known.tolist()), images.shape[-1]]
    return _loops[0](lambda one: change(one, size), images, dims)


def _size(size: Any) -> Any:
    try:
        made = convert(size, dtypes.int32, name="size")
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    dims = made._dims
    if dims is not None and len(dims) != 1:
        raise ValueError(f"'size' must be a 1-D int32 Tensor, got shape {made.shape}")
    if dims is not None and dims[0] not in (None, 2):
        raise ValueError(f"'size' must be a 1-D Tensor of 2 elements: new_height, new_width, got {dims[0]}")
    return made


def _kept_ratio(size: Any, height: Any, width: Any, images: Any) -> Any:
    """Return the largest size within `size` that keeps the proportions."""
    known = size.constant_value()
    if known is not None and height is not None and width is not None:
        own = np.array([height, width], np.float32)
        scale = (known.astype(np.float32) / own).min()
        return convert(np.round(scale * own).astype(np.int32))
    own = raw.Cast(raw.Shape(images)[1:3], DstT=dtypes.float32)
    scale = raw.Min(raw.Cast(size, DstT=dtypes.float32) / own, np.array([0], np.int32))
    return raw.Cast(raw.Round(scale * own), DstT=dtypes.int32)


# --- resize and pad ---------------------------------------------------------------------------------------------------


def resize_with_pad(
    image: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
    method: str = "bilinear",
    antialias: bool = False,
) -> Tensor:
    """Return images resized with their proportions kept, and padded with zeros to the size asked for."""
    return _padded(image, target_height, target_width, lambda x, size: resize(x, size, method, antialias=antialias))


def resize_image_with_pad_v1(
    image: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
    method: int | str = 0,
    align_corners: bool = False,
) -> Tensor:
    """Return images resized with their proportions kept, and padded with zeros, as TF 1 does it."""
    change = lambda x, size: resize_images_v1(x, size, method, align_corners)
    return _padded(image, target_height, target_width, change)


def _padded(image: Any, target_height: Any, target_width: Any, change: Callable[[Any, Any], Any]) -> Any:
    with name_scope(None, "resize_image_with_pad", [image]):
        image, rank = batched(image)
        for value, what in ((target_height, "target_height"), (target_width, "target_width")):
            if isinstance(value, int) and value <= 0:
                raise ValueError(f"{what} must be > 0, got {value}")
        _, height, width, _ = lengths_of(image)
        numbers = (height, width, target_height, target_width)
        if all(isinstance(n, (int, np.integer)) for n in numbers):
            high, wide, top, left = _fitted(*[float(n) for n in numbers])
            size: Any = np.array([high, wide], np.int32)
        else:
            size, top, left = _fitted_later(*[raw.Cast(n, DstT=dtypes.float64) for n in numbers])
        result = change(image, size)
        result = pad_to_bounding_box(result, top, left, target_height, target_width)
        return unbatched(result, rank)


def _fitted(height: float, width: float, target_height: float, target_width: float) -> tuple[int, int, int, int]:
    ratio = max(width / target_width, height / target_height)
    high, wide = height / ratio, width / ratio  # the margins are taken before these are rounded
    top = max(0, int(np.floor((target_height - high) / 2)))
    left = max(0, int(np.floor((target_width - wide) / 2)))
    return int(np.floor(high)), int(np.floor(wide)), top, left


def _fitted_later(height: Any, width: Any, target_height: Any, target_width: Any) -> tuple[Any, Any, Any]:
    ratio = raw.Maximum(width / target_width, height / target_height)
    high, wide = height / ratio, width / ratio
    top, left = (
        raw.Maximum(raw.Cast(raw.Floor((target - own) / 2.0), DstT=dtypes.int32), 0)
        for target, own in ((target_height, high), (target_width, wide))
    )
    return raw.Cast(raw.Floor(raw.Pack([high, wide])), DstT=dtypes.int32), top, left
