"""The ops that resize images [batch, height, width, channels], and their gradients. `taps` has the arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.offers import quicker
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import UNDEFINED, raw, show
from ebbflow.ops.image import taps
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid, room_for, shape_of

_PIXELS = "int8,uint8,int16,uint16,int32,int64,half,float,double,bfloat16"
_BILINEAR_PIXELS = "int8,uint8,int16,uint16,int32,int64,bfloat16,half,float,double,bfloat16"
_CENTRES = "align_corners: bool = false; half_pixel_centers: bool = false"


# --- shapes and checks ------------------------------------------------------------------------------------------------


def resized_dims(images: Known, size: Known, *others: Known) -> Dims:
    """Return the shape of images after a resize to `size`."""
    batch, _, _, channels = ranked(images, 4)
    (count,) = ranked(size, 1)
    if count not in (None, 2):
        raise errors.StaticShapeError(f"Dimension must be 2 but is {count}")
    wanted = size.as_dims
    height, width = wanted if wanted is not None and len(wanted) == 2 else (None, None)
    return batch, height, width, channels


def checked_size(images: np.ndarray, size: np.ndarray) -> tuple[int, int]:
    """Return the height and width asked for, after a look at everything."""
    if images.ndim != 4:
        raise invalid(f"input must be 4-dimensional{show(images.shape)}")
    if size.shape != (2,):
        raise invalid(f"shape_t must have two elements {show(size.shape)}")
    height, width = (int(n) for n in size)
    if height <= 0 or width <= 0:
        raise invalid(f"output dimensions must be positive, got {height} x {width}")
    if images.shape[1] <= 0 or images.shape[2] <= 0 or images.shape[3] <= 0:
        raise invalid(f"input image must be of non-zero size, got {show(images.shape)}")
    room_for((images.shape[0], height, width, images.shape[3]), 4)
    return height, width


def _check_centres(align_corners: bool, half_pixel_centers: bool) -> None:
    if align_corners and half_pixel_centers:
        raise invalid("If half_pixel_centers is True, align_corners must be False.")


def _like_original(grads: Known, original_image: Known, *others: Known) -> Dims:
    ranked(grads, 4)
    return ranked(original_image, 4)


def _check_gradient(grads: np.ndarray, original: np.ndarray) -> None:
    if grads.ndim != 4 or original.ndim != 4:
        raise invalid(
            f"grads and original_image must be 4-dimensional, got {show(grads.shape)} and {show(original.shape)}"
        )
    if 0 in original.shape[1:3] or 0 in grads.shape[1:3]:
        raise invalid(f"images must not be empty, got {show(grads.shape)} and {show(original.shape)}")
    if grads.shape[0] != original.shape[0] or grads.shape[3] != original.shape[3]:
        raise invalid(f"grads {show(grads.shape)} and original_image {show(original.shape)} must agree in batch and "
                      "channels")  # fmt: skip


# --- bilinear and bicubic ---------------------------------------------------------------------------------------------


def _interpolating(
    name: str, pixels: str, grad_pixels: str, make: Callable[..., Any], apply: Callable[..., Any]
) -> None:
    resize = op(f"{name}(images:T, size:int32) -> (resized_images:float) | T: type in [{pixels}]; {_CENTRES}", "beside",
                shape=resized_dims)  # fmt: skip
    back = op(
        f"{name}Grad(grads:float, original_image:T) -> (output:T) | T: type in [{grad_pixels}]; {_CENTRES}",
        "beside",
        shape=_like_original,
    )

    @resize.kernel
    def _(xp, images, size, *, align_corners, half_pixel_centers):
        _check_centres(align_corners, half_pixel_centers)
        height, width = checked_size(images, size)
        down = make(images.shape[1], height, align_corners, half_pixel_centers)
        across = make(images.shape[2], width, align_corners, half_pixel_centers)
        return apply(xp, images, down, across)

    @resize.gradient
    def _(call, grad):
        if not (call.images.dtype.is_floating):
            return None, None
        attrs = {"align_corners": call.align_corners, "half_pixel_centers": call.half_pixel_centers}
        images = call.images
        if name == "ResizeBicubic" and images.dtype not in (dtypes.float32, dtypes.float64):
            return None, None
        return back(grad, images, **attrs), None

    @back.kernel
    def _(xp, grads, original_image, *, align_corners, half_pixel_centers):
        _check_gradient(grads, original_image)
        _check_centres(align_corners, half_pixel_centers)
        down = make(original_image.shape[1], grads.shape[1], align_corners, half_pixel_centers)
        across = make(original_image.shape[2], grads.shape[2], align_corners, half_pixel_centers)
        return taps.scattered(xp, taps.scattered(xp, grads, down, 1), across, 2).astype(original_image.dtype)

    @back.gradient
    def _(call, grad):
        size = shape_of(call.grads)[1:3]
        attrs = {"align_corners": call.align_corners, "half_pixel_centers": call.half_pixel_centers}
        return resize(grad, size, **attrs), None


BILINEAR = "resize bilinear"
"""Asked of engines: NumPy's images between rows and columns, as `taps.both_between` has them."""


def _bilinear(xp: Any, images: Any, down: taps.Taps, across: taps.Taps) -> Any:
    result = quicker(BILINEAR, images, down, across) if xp is np else None
    if result is not None:
        return result
    fewer = 2 * len(down.places) < images.shape[1]
    if fewer:  # only these rows are needed
        rows = xp.take(images, down.places.reshape(-1), axis=1)
        down = taps.Taps(np.arange(2 * len(down.places)).reshape(-1, 2), down.weights, 2 * len(down.places))
        images = rows
    return taps.both_between(xp, images, down, across)


_interpolating("ResizeBilinear", _BILINEAR_PIXELS, "float,bfloat16,half,double", taps.bilinear, _bilinear)
_interpolating("ResizeBicubic", _PIXELS, "float,double", taps.bicubic, taps.resampled)


# --- nearest ----------------------------------------------------------------------------------------------------------

ResizeNearestNeighbor = op(
    f"ResizeNearestNeighbor(images:T, size:int32) -> (resized_images:T) | T: type in [{_PIXELS}]; {_CENTRES}",
    shape=resized_dims,
    facts="beside",
)
ResizeNearestNeighborGrad = op(
    "ResizeNearestNeighborGrad(grads:T, size:int32) -> (output:T)"
    f" | T: type in [uint8,int8,int32,half,float,double,bfloat16]; {_CENTRES}",
    shape=resized_dims,
)


@ResizeNearestNeighbor.kernel
def _(xp, images, size, *, align_corners, half_pixel_centers):
    _check_centres(align_corners, half_pixel_centers)
    height, width = checked_size(images, size)
    down = taps.nearest(images.shape[1], height, align_corners, half_pixel_centers)
    across = taps.nearest(images.shape[2], width, align_corners, half_pixel_centers)
    if xp is np and images.itemsize * images.shape[3] in (1, 2, 4, 8):  # a pixel is a number: picking it is quicker
        pixels = np.ascontiguousarray(images).view(f"u{images.itemsize * images.shape[3]}")
        return pixels.take(down, axis=1).take(across, axis=2).view(images.dtype)
    return xp.take(xp.take(images, down, axis=1), across, axis=2)


@ResizeNearestNeighbor.gradient
def _(call, grad):
    size = shape_of(call.images)[1:3]
    attrs = {"align_corners": call.align_corners, "half_pixel_centers": call.half_pixel_centers}
    return ResizeNearestNeighborGrad(grad, size, **attrs), None


@ResizeNearestNeighborGrad.kernel
def _(xp, grads, size, *, align_corners, half_pixel_centers):
    _check_centres(align_corners, half_pixel_centers)
    height, width = checked_size(grads, size)
    down = taps.nearest(height, grads.shape[1], align_corners, half_pixel_centers)
    across = taps.nearest(width, grads.shape[2], align_corners, half_pixel_centers)
    return _added_up(xp, _added_up(xp, grads, down, height, 1), across, width, 2)


def _added_up(xp: Any, x: Any, places: np.ndarray, size: int, axis: int) -> Any:
    """Return an axis with all that came from one place added up; `places` never go down."""
    if xp is not np:
        moved = xp.moveaxis(x, axis, 0)
        return xp.moveaxis(xp.zeros((size, *moved.shape[1:]), x.dtype).at[places].add(moved), 0, axis)
    used, starts = np.unique(places, return_index=True)
    sums = np.add.reduceat(x, starts, axis=axis, dtype=x.dtype)
    if len(used) == size:
        return sums
    shape = list(x.shape)
    shape[axis] = size
    result = np.zeros(shape, x.dtype)
    result[(slice(None),) * axis + (used,)] = sums
    return result


@ResizeNearestNeighborGrad.gradient
def _(call, grad):
    size = shape_of(call.grads)[1:3]
    attrs = {"align_corners": call.align_corners, "half_pixel_centers": call.half_pixel_centers}
    return ResizeNearestNeighbor(grad, size, **attrs), None


# --- area -------------------------------------------------------------------------------------------------------------

ResizeArea = op(
    f"ResizeArea(images:T, size:int32) -> (resized_images:float) | T: type in [{_PIXELS}]; align_corners: bool = false",
    shape=resized_dims,
    gradient=UNDEFINED,
)


@ResizeArea.kernel
def _(xp, images, size, *, align_corners):
    height, width = checked_size(images, size)
    down, across = taps.area(images.shape[1], height, align_corners), taps.area(images.shape[2], width, align_corners)
    scales = [taps.scale_of(images.shape[i + 1], n, align_corners) for i, n in enumerate((height, width))]
    whole = taps.resampled(xp, images, down, across)
    return whole * (np.float32(1) / (scales[0] * scales[1]))


# --- any kernel -------------------------------------------------------------------------------------------------------

_KERNEL = 'kernel_type: string = "lanczos3"; antialias: bool = true'
ScaleAndTranslate = op(
    "ScaleAndTranslate(images:T, size:int32, scale:float, translation:float) -> (resized_images:float)"
    f" | T: type in [int8,uint8,int16,uint16,int32,int64,bfloat16,half,float,double]; {_KERNEL}",
    shape=resized_dims,
)
ScaleAndTranslateGrad = op(
    "ScaleAndTranslateGrad(grads:T, original_image:T, scale:float, translation:float) -> (output:T)"
    f" | T: type in [float]; {_KERNEL}",
    shape=_like_original,
)


def _spans(old: Any, new: Any, scale: Any, translation: Any, kind: str, antialias: bool) -> list[taps.Taps]:
    """Return the taps down and across."""
    if kind not in taps.KERNELS:
        raise invalid(f"Unrecognized kernel type: {kind}")
    for name, pair in (("scale", scale), ("translation", translation)):
        if pair.shape != (2,):
            raise invalid(f"{name} must have two elements, got shape {show(pair.shape)}")
    if not (np.asarray(scale) > 0).all():
        raise invalid(f"scale must be greater than zero, got {np.asarray(scale).tolist()}")
    return [
        taps.spans(int(old[i]), int(new[i]), float(scale[i]), float(translation[i]), kind, bool(antialias))
        for i in (0, 1)
    ]


@ScaleAndTranslate.kernel
def _(xp, images, size, scale, translation, *, kernel_type, antialias):
    height, width = checked_size(images, size)
    down, across = _spans(images.shape[1:3], (height, width), scale, translation, kernel_type, antialias)
    return taps.resampled(xp, images, down, across)


@ScaleAndTranslate.gradient
def _(call, grad):
    if not call.images.dtype.is_floating:
        return None, None, None, None
    images = raw.Cast(call.images, DstT=dtypes.float32)
    attrs = {"kernel_type": call.kernel_type, "antialias": call.antialias}
    back = ScaleAndTranslateGrad(grad, images, call.scale, call.translation, **attrs)
    return raw.Cast(back, DstT=call.images.dtype), None, None, None


@ScaleAndTranslateGrad.kernel
def _(xp, grads, original_image, scale, translation, *, kernel_type, antialias):
    _check_gradient(grads, original_image)
    down, across = _spans(original_image.shape[1:3], grads.shape[1:3], scale, translation, kernel_type, antialias)
    return taps.scattered(xp, taps.scattered(xp, grads, across, 2), down, 1)


@ScaleAndTranslateGrad.gradient
def _(call, grad):
    attrs = {"kernel_type": call.kernel_type, "antialias": call.antialias}
    return ScaleAndTranslate(grad, shape_of(call.grads)[1:3], call.scale, call.translation, **attrs), None, None, None
