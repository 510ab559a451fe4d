"""Crops that are resized (`CropAndResize`) and images seen through a projection (`ImageProjectiveTransformV2`, V3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors, memory
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import UNDEFINED, raw, show
from ebbflow.ops.image.crop_loops import cropped
from ebbflow.ops.parts import in_shares
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid, room_for, shape_of

F = np.float32

# --- crop and resize --------------------------------------------------------------------------------------------------

_PIXELS = "T: type in [uint8,uint16,int8,int16,int32,int64,half,float,double]"
CropAndResize = op(
    "CropAndResize(image:T, boxes:float, box_ind:int32, crop_size:int32) -> (crops:float)"
    f' | {_PIXELS}; method: string in ["bilinear","nearest"] = "bilinear"; extrapolation_value: float = 0.0'
)
CropAndResizeGradImage = op(
    "CropAndResizeGradImage(grads:float, boxes:float, box_ind:int32, image_size:int32) -> (output:T)"
    ' | T: type in [float,half,double]; method: string in ["bilinear","nearest"] = "bilinear"',
    gradient=UNDEFINED,
)
CropAndResizeGradBoxes = op(
    "CropAndResizeGradBoxes(grads:float, image:T, boxes:float, box_ind:int32) -> (output:float)"
    f' | {_PIXELS}; method: string in ["bilinear"] = "bilinear"',
    gradient=UNDEFINED,
)


@CropAndResize.shape
def _(image, boxes, box_ind, crop_size):
    _, _, _, channels = ranked(image, 4)
    count, corners = ranked(boxes, 2)
    (numbers,) = ranked(box_ind, 1)
    if corners not in (None, 4):
        raise errors.StaticShapeError(f"Dimension must be 4 but is {corners}")
    if None not in (count, numbers) and count != numbers:
        raise errors.StaticShapeError(f"Dimensions must be equal, but are {count} and {numbers}")
    ranked(crop_size, 1)
    wanted = crop_size.as_dims
    height, width = wanted if wanted is not None and len(wanted) == 2 else (None, None)
    return count if count is not None else numbers, height, width, channels


@CropAndResizeGradImage.shape
def _(grads, boxes, box_ind, image_size):
    wanted = image_size.as_dims
    return wanted if wanted is not None and len(wanted) == 4 else (None,) * 4


@CropAndResizeGradBoxes.shape
def _(grads, image, boxes, box_ind):
    return boxes.dims


def _check_boxes(boxes: Any, box_ind: Any, batch: int, known: bool) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise invalid(f"boxes must be 2-D with 4 columns, got shape {show(boxes.shape)}")
    if box_ind.ndim != 1:
        raise invalid(f"box_indices must be rank 1, got shape {show(box_ind.shape)}")
    if box_ind.shape[0] != boxes.shape[0]:
        raise invalid(f"box_index has incompatible shape: {show(box_ind.shape)} for boxes {show(boxes.shape)}")
    if known and box_ind.size and not (box_ind.min() >= 0 and box_ind.max() < batch):
        bad = int(box_ind[(box_ind < 0) | (box_ind >= batch)][0])
        error = f"box_index has values outside [0, batch_size): {bad} is not in [0, {batch})"
        raise errors.OutOfRangeError(None, None, error)


def _check_finite(boxes: Any) -> None:
    if not np.isfinite(boxes).all():
        raise invalid("Boxes contains at least one element that is not finite")


def _along(xp: Any, low: Any, high: Any, count: int, size: int) -> Any:
    """Return where each place of the crops lies along one side of the image [boxes, count]."""
    last = F(size - 1)
    if count > 1:
        step = (high - low) * last / F(count - 1)
        return (low * last)[:, None] + np.arange(count, dtype=F) * step[:, None]
    return (F(0.5) * (low + high) * last)[:, None]


class _Sampled:
    """Where the crops of boxes come from: four neighbours, the way between them, and what lies outside."""

    def __init__(self, xp: Any, boxes: Any, size: tuple[int, int], crop: tuple[int, int]) -> None:
        height, width = size
        self.y = _along(xp, boxes[:, 0], boxes[:, 2], crop[0], height)
        self.x = _along(xp, boxes[:, 1], boxes[:, 3], crop[1], width)
        # a corner that is no number lies outside
        self.inside_y = (self.y >= 0) & (self.y <= height - 1)
        self.inside_x = (self.x >= 0) & (self.x <= width - 1)
        y, x = xp.where(self.inside_y, self.y, F(0)), xp.where(self.inside_x, self.x, F(0))
        top, left = xp.floor(y), xp.floor(x)
        self.way_y, self.way_x = y - top, x - left
        self.top, self.left = top.astype(np.int32), left.astype(np.int32)
        self.bottom, self.right = xp.ceil(y).astype(np.int32), xp.ceil(x).astype(np.int32)
        away = lambda v: xp.floor(v + F(0.5)).astype(np.int32)  # halves go up, as positions are not negative
        self.near_y, self.near_x = away(y), away(x)

    @property
    def inside(self) -> Any:
        return self.inside_y[:, :, None] & self.inside_x[:, None, :]


@CropAndResize.kernel
def _(xp, image, boxes, box_ind, crop_size, *, method, extrapolation_value):
    if image.ndim != 4:
        raise invalid(f"input image must be 4-D, got shape {show(image.shape)}")
    if 0 in image.shape[1:3]:
        raise invalid(f"image dimensions must be positive, got shape {show(image.shape)}")
    _check_boxes(boxes, box_ind, image.shape[0], False)
    if crop_size.shape != (2,) or int(crop_size[0]) <= 0 or int(crop_size[1]) <= 0:
        raise invalid(f"crop dimensions must be positive, got crop_size {np.asarray(crop_size).tolist()}")
    crop = int(crop_size[0]), int(crop_size[1])
    room_for((boxes.shape[0], *crop, image.shape[3]), 4)
    if xp is np:
        _check_boxes(boxes, box_ind, image.shape[0], True)
        _check_finite(boxes)
        result = _quick_crops(image, boxes, box_ind, crop, method == "nearest", extrapolation_value)
        if result is not None:
            return result
    at = _Sampled(xp, boxes, image.shape[1:3], crop)
    fill = F(extrapolation_value)
    if xp is np:
        return _crops(image, box_ind, at, crop, method, fill)
    pick = lambda y, x: image[box_ind[:, None, None], y[:, :, None], x[:, None, :]].astype(F)
    if method == "nearest":
        crops = pick(at.near_y, at.near_x)
    else:
        way_x, way_y = at.way_x[:, None, :, None], at.way_y[:, :, None, None]
        upper, lower = pick(at.top, at.left), pick(at.bottom, at.left)
        upper = upper + (pick(at.top, at.right) - upper) * way_x
        lower = lower + (pick(at.bottom, at.right) - lower) * way_x
        crops = upper + (lower - upper) * way_y
    return xp.where(at.inside[..., None], crops, fill)


def _quick_crops(
    image: Any, boxes: Any, box_ind: Any, crop: tuple[int, int], nearest: bool, fill: float
) -> np.ndarray | None:
    """Return small crops by machine code; None where that is not there, or NumPy does as well."""
    (rows, columns), (_, height, width, channels) = crop, image.shape
    size = rows * columns * channels
    if not 0 < size <= SMALL_CROP or not len(boxes) or image.dtype != F or not image.flags.c_contiguous:
        return None
    code = cropped.worth(len(boxes) * size, 1 << 12)
    if code is None:
        return None
    out = memory.empty((len(boxes), rows, columns, channels))
    y = np.ascontiguousarray(_along(np, boxes[:, 0], boxes[:, 2], rows, height), F)
    x = np.ascontiguousarray(_along(np, boxes[:, 1], boxes[:, 3], columns, width), F)
    numbers = np.ascontiguousarray(box_ind, np.int32)
    places = (height, width, channels, rows, columns, nearest, float(F(fill)), out)
    in_shares(lambda a, b: code(image, numbers, y, x, *places, a, b), len(boxes), (1 << 16) // size + 1)
    return out


SMALL_CROP = 1 << 12
"""Elements of a crop up to which many are made at once; larger ones keep NumPy busy one by one."""

AT_ONCE = 1 << 17
"""Elements of the crops that are made at once: what lies between stays in the cache."""


def _crops(image: Any, box_ind: Any, at: _Sampled, crop: tuple[int, int], method: str, fill: Any) -> np.ndarray:
    """Return the crops: small ones many at a time, large ones one after the other."""
    result = np.empty((len(box_ind), *crop, image.shape[3]), F)
    elements = crop[0] * crop[1] * image.shape[3]
    if elements > SMALL_CROP or not elements:
        return _crops_one_by_one(image, box_ind, at, method, fill, result)
    pixels = np.ascontiguousarray(image).reshape(-1, image.shape[3])
    step = max(1, AT_ONCE // elements)
    for start in range(0, len(box_ind), step):
        some = slice(start, start + step)
        _many_crops(pixels, image.shape[1:3], box_ind[some], at, some, method, result[some])
    outside = ~at.inside
    if outside.any():
        result[outside] = fill
    return result


def _many_crops(pixels: Any, size: Any, numbers: Any, at: _Sampled, some: slice, method: str, out: Any) -> None:
    """Write crops of several boxes; a pixel is found by its number in the whole batch."""
    first = numbers.astype(np.intp)[:, None] * size[0]
    width = size[1]

    def pick(y: Any, x: Any) -> np.ndarray:
        place = ((first + y[some]) * width)[:, :, None] + x[some][:, None, :]
        return pixels.take(place.reshape(-1), axis=0).reshape(out.shape)

    if method == "nearest":
        out[...] = pick(at.near_y, at.near_x)
        return
    way_x, way_y = at.way_x[some][:, None, :, None], at.way_y[some][:, :, None, None]
    out[...] = pick(at.top, at.left)
    _go_towards(out, pick(at.top, at.right), way_x)
    lower = pick(at.bottom, at.left).astype(F)
    _go_towards(lower, pick(at.bottom, at.right), way_x)
    _go_towards(out, lower, way_y)


def _go_towards(here: np.ndarray, there: np.ndarray, way: np.ndarray) -> None:
    step = np.subtract(there, here, dtype=F, casting="unsafe")
    step *= way
    here += step


def _crops_one_by_one(image: Any, box_ind: Any, at: _Sampled, method: str, fill: Any, result: np.ndarray) -> np.ndarray:
    """Write each crop: rows first, then columns, which keeps to few pixels at a time."""
    inside_y, inside_x = at.inside_y.all(axis=1).tolist(), at.inside_x.all(axis=1).tolist()
    for i, number in enumerate(box_ind.tolist()):
        one, out = image[number], result[i]
        if method == "nearest":
            out[...] = one[at.near_y[i]][:, at.near_x[i]]
        else:
            _lerp(one, at, i, out)
        if not inside_y[i]:
            out[~at.inside_y[i]] = fill
        if not inside_x[i]:
            out[:, ~at.inside_x[i]] = fill
    return result


def _lerp(one: np.ndarray, at: _Sampled, i: int, out: np.ndarray) -> None:
    first, last = int(at.top[i].min()), int(at.bottom[i].max())
    rows: Any = None
    if last - first + 1 <= 2 * len(out):  # every row between is needed: go across once
        rows = one[first : last + 1]
        top, bottom = at.top[i] - first, at.bottom[i] - first
    else:
        rows = one[np.concatenate([at.top[i], at.bottom[i]])]
        top, bottom = np.arange(len(out)), np.arange(len(out), 2 * len(out))
    left = rows.take(at.left[i], axis=1).astype(F, copy=False)
    right = rows.take(at.right[i], axis=1).astype(F)
    right -= left
    right *= at.way_x[i][:, None]
    right += left
    lower = right[bottom]
    np.take(right, top, axis=0, out=out)
    lower -= out
    lower *= at.way_y[i][:, None, None]
    out += lower


@CropAndResize.gradient
def _(call, grad):
    image, boxes, numbers = call.image, call.boxes, call.box_ind
    kind = image.dtype
    to_image = to_boxes = None
    if call.wants(0) and kind in (dtypes.float16, dtypes.float32, dtypes.float64):
        size = shape_of(image)
        to_image = CropAndResizeGradImage(grad, boxes, numbers, size, T=kind, method=call.method)
    if call.wants(1):  # TensorFlow gives the boxes' gradient by bilinear sampling whatever the method
        to_boxes = CropAndResizeGradBoxes(grad, image, boxes, numbers)
    return to_image, to_boxes, None, None


@CropAndResizeGradImage.kernel
def _(xp, grads, boxes, box_ind, image_size, *, T, method):
    if grads.ndim != 4 or 0 in grads.shape[1:3]:
        raise invalid(f"grads image must be 4-D and not empty, got shape {show(grads.shape)}")
    if image_size.shape != (4,):
        raise invalid(f"image_size must be 1-D with 4 elements, got shape {show(image_size.shape)}")
    batch, height, width, depth = (int(n) for n in image_size)
    if min(height, width) <= 0 or depth != grads.shape[3] or batch < 0:
        raise invalid(f"image_size {[batch, height, width, depth]} does not go with grads {show(grads.shape)}")
    _check_boxes(boxes, box_ind, batch, xp is np)
    if grads.shape[0] != boxes.shape[0]:
        raise invalid(f"boxes and grads have incompatible shape: {show(boxes.shape)} and {show(grads.shape)}")
    room_for((batch, height, width, depth), 4)
    at = _Sampled(xp, boxes, (height, width), grads.shape[1:3])
    kept = xp.where(at.inside[..., None], grads, F(0))
    way_y, way_x = at.way_y[:, :, None, None], at.way_x[:, None, :, None]
    if method == "nearest":
        parts = [(at.near_y, at.near_x, kept)]
    else:
        upper, lower = kept * (1 - way_y), kept * way_y
        parts = [
            (at.top, at.left, upper * (1 - way_x)),
            (at.top, at.right, upper * way_x),
            (at.bottom, at.left, lower * (1 - way_x)),
            (at.bottom, at.right, lower * way_x),
        ]
    total = _scattered(xp, parts, box_ind, (batch, height, width, depth))
    return total.astype(T.np)


def _scattered(xp: Any, parts: list[Any], box_ind: Any, shape: tuple[int, ...]) -> Any:
    """Return the image to which each part adds its values at its places."""
    batch, height, width, depth = shape
    if xp is not np:
        total = xp.zeros(shape, F)
        for y, x, values in parts:
            total = total.at[box_ind[:, None, None], y[:, :, None], x[:, None, :]].add(values)
        return total
    total = np.zeros((batch * height * width, depth), np.float64)
    for y, x, values in parts:
        places = ((box_ind[:, None, None].astype(np.int64) * height + y[:, :, None]) * width + x[:, None, :]).reshape(
            -1
        )
        flat = values.reshape(-1, depth)
        for channel in range(depth):
            total[:, channel] += np.bincount(places, flat[:, channel], len(total))
    return total.reshape(shape)


@CropAndResizeGradBoxes.kernel
def _(xp, grads, image, boxes, box_ind):
    if grads.ndim != 4 or image.ndim != 4 or 0 in grads.shape[1:3] or 0 in image.shape[1:3]:
        raise invalid(f"grads and image must be 4-D and not empty, got {show(grads.shape)} and {show(image.shape)}")
    _check_boxes(boxes, box_ind, image.shape[0], xp is np)
    if grads.shape[0] != boxes.shape[0] or grads.shape[3] != image.shape[3]:
        raise invalid(
            f"grads {show(grads.shape)} do not go with boxes {show(boxes.shape)} and image {show(image.shape)}"
        )
    crop = grads.shape[1:3]
    at = _Sampled(xp, boxes, image.shape[1:3], crop)
    kept = xp.where(at.inside[..., None], grads, F(0))
    pick = lambda y, x: image[box_ind[:, None, None], y[:, :, None], x[:, None, :]].astype(F)
    way_y, way_x = at.way_y[:, :, None, None], at.way_x[:, None, :, None]
    a, b = pick(at.top, at.left), pick(at.top, at.right)
    c, d = pick(at.bottom, at.left), pick(at.bottom, at.right)
    by_y = (kept * ((1 - way_x) * (c - a) + way_x * (d - b))).sum(axis=(2, 3))
    by_x = (kept * ((1 - way_y) * (b - a) + way_y * (d - c))).sum(axis=(1, 3))
    low_y, high_y = _shares(xp, by_y, crop[0], image.shape[1])
    low_x, high_x = _shares(xp, by_x, crop[1], image.shape[2])
    return xp.stack([low_y, low_x, high_y, high_x], 1).astype(F)


def _shares(xp: Any, slopes: Any, count: int, size: int) -> tuple[Any, Any]:
    """Return how the sums of slopes at each place of a side go to its two corners."""
    last = F(size - 1)
    if count > 1:
        part = np.arange(count, dtype=F) / F(count - 1)
        return (slopes * (1 - part) * last).sum(axis=1), (slopes * part * last).sum(axis=1)
    half = (slopes * F(0.5) * last).sum(axis=1)
    return half, half


# --- projections ------------------------------------------------------------------------------------------------------

_WARPED = "dtype: type in [uint8,int32,int64,half,bfloat16,float,double]; interpolation: string"
_FILLED = 'fill_mode: string = "CONSTANT"'
ImageProjectiveTransformV2 = op(
    "ImageProjectiveTransformV2(images:dtype, transforms:float, output_shape:int32) -> (transformed_images:dtype)"
    f" | {_WARPED}; {_FILLED}"
)
ImageProjectiveTransformV3 = op(
    "ImageProjectiveTransformV3(images:dtype, transforms:float, output_shape:int32, fill_value:float)"
    f" -> (transformed_images:dtype) | {_WARPED}; {_FILLED}"
)


def _warped_dims(images: Known, transforms: Known, output_shape: Known, *others: Known) -> Dims:
    batch, _, _, channels = ranked(images, 4)
    ranked(transforms, 2)
    ranked(output_shape, 1)
    wanted = output_shape.as_dims
    height, width = wanted if wanted is not None and len(wanted) == 2 else (None, None)
    return batch, height, width, channels


ImageProjectiveTransformV2.shape(_warped_dims)
ImageProjectiveTransformV3.shape(_warped_dims)


@ImageProjectiveTransformV2.kernel
def _(xp, images, transforms, output_shape, *, interpolation, fill_mode):
    return _warped(xp, images, transforms, output_shape, F(0), interpolation, fill_mode)


@ImageProjectiveTransformV3.kernel
def _(xp, images, transforms, output_shape, fill_value, *, interpolation, fill_mode):
    if fill_value.ndim:
        raise invalid(f"fill_value must be a scalar, got shape {show(fill_value.shape)}")
    return _warped(xp, images, transforms, output_shape, fill_value, interpolation, fill_mode)


def _check_warp(images: Any, transforms: Any, output_shape: Any, interpolation: str, mode: str) -> tuple[int, int]:
    if images.ndim != 4:
        raise invalid(f"Images must have rank 4, got shape {show(images.shape)}")
    if transforms.ndim != 2 or transforms.shape[1] != 8 or transforms.shape[0] not in (1, images.shape[0]):
        raise invalid("Input transform should be num_images x 8 or 1 x 8, got " + show(transforms.shape))
    if output_shape.shape != (2,):
        raise invalid(f"output shape must be 1-dimensional with two elements, got {show(output_shape.shape)}")
    if interpolation.upper() not in ("NEAREST", "BILINEAR"):
        raise invalid(f"Invalid interpolation {interpolation}. Supported types: NEAREST, BILINEAR")
    if mode.upper() not in ("REFLECT", "WRAP", "CONSTANT", "NEAREST"):
        raise invalid(f"Invalid mode {mode}. Supported types: REFLECT, WRAP, CONSTANT, NEAREST")
    height, width = int(output_shape[0]), int(output_shape[1])
    if height <= 0 or width <= 0:
        raise invalid(f"new image dimensions must be positive, got {height} x {width}")
    room_for((images.shape[0], height, width, images.shape[3]), 8)
    return height, width


def _warped(xp: Any, images: Any, transforms: Any, output_shape: Any, fill: Any, interpolation: str, mode: str) -> Any:
    new_height, new_width = _check_warp(images, transforms, output_shape, interpolation, mode)
    batch, height, width, _ = images.shape
    if not images.size:
        return xp.full((batch, new_height, new_width, images.shape[3]), fill).astype(images.dtype)
    t = transforms[:, :, None, None]
    x, y = np.arange(new_width, dtype=F)[None, None, :], np.arange(new_height, dtype=F)[None, :, None]
    below = t[:, 6] * x + t[:, 7] * y + F(1)
    flat = below == 0  # what would lie infinitely far away
    divisor = xp.where(flat, F(1), below)
    at_x = _mapped(xp, (t[:, 0] * x + t[:, 1] * y + t[:, 2]) / divisor, width, mode.upper())
    at_y = _mapped(xp, (t[:, 3] * x + t[:, 4] * y + t[:, 5]) / divisor, height, mode.upper())
    kind = np.float64 if images.dtype == np.float64 else F
    read = _reader(xp, images, kind, xp.asarray(fill).astype(kind))
    if interpolation.upper() == "NEAREST":
        result = read(_rounded(xp, at_y), _rounded(xp, at_x))
    else:
        result = _bilinear(xp, read, at_y, at_x)
    result = xp.where(flat[..., None], xp.asarray(fill).astype(kind), result)
    return result.astype(images.dtype)


def _rounded(xp: Any, x: Any) -> Any:
    return xp.copysign(xp.floor(xp.abs(x) + F(0.5)), x)  # halves go away from zero, as C rounds


def _bilinear(xp: Any, read: Any, y: Any, x: Any) -> Any:
    top, left = xp.floor(y), xp.floor(x)
    bottom, right = top + 1, left + 1
    upper = (right - x)[..., None] * read(top, left) + (x - left)[..., None] * read(top, right)
    lower = (right - x)[..., None] * read(bottom, left) + (x - left)[..., None] * read(bottom, right)
    return (bottom - y)[..., None] * upper + (y - top)[..., None] * lower


def _reader(xp: Any, images: Any, kind: Any, fill: Any) -> Any:
    """Return the function that reads pixels by whole-numbered places, and the fill value outside."""
    batch, height, width, _ = images.shape
    number = np.arange(batch)[:, None, None]

    def read(y: Any, x: Any) -> Any:
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        inside = xp.broadcast_to(inside, (batch, *inside.shape[1:]))
        rows = xp.where(inside, y, 0).astype(np.int64)
        columns = xp.where(inside, x, 0).astype(np.int64)
        return xp.where(inside[..., None], images[number, rows, columns].astype(kind), fill)

    return read


def _mapped(xp: Any, at: Any, size: int, mode: str) -> Any:
    """Return coordinates with those outside brought inside, as the mode says."""
    if mode == "CONSTANT":
        return at
    if mode == "NEAREST":
        return xp.clip(at, 0, size - 1)
    if size <= 1:
        return xp.where((at < 0) | (at > size - 1), F(0), at)
    return xp.clip((_reflected if mode == "REFLECT" else _wrapped)(xp, at, F(size)), 0, size - 1)


def _reflected(xp: Any, at: Any, size: Any) -> Any:
    twice = 2 * size
    low = xp.where(at < twice, twice * xp.trunc(-at / twice) + at, at)
    low = xp.where(low < -size, low + twice, -low - 1)
    high = at - twice * xp.trunc(at / twice)
    high = xp.where(high >= size, twice - high - 1, high)
    return xp.where(at < 0, low, xp.where(at > size - 1, high, at))


def _wrapped(xp: Any, at: Any, size: Any) -> Any:
    low = at + size * (xp.trunc(-at / (size - 1)) + 1)
    high = at - size * xp.trunc(at / (size - 1))
    return xp.where(at < 0, low, xp.where(at > size - 1, high, at))


def _unwarped(call: Any, grad: Any) -> Any:
    """Return the gradient by the images: the same projection, the other way."""
    images, transforms = call.images, call.transforms
    if not images.dtype.is_floating:
        return None
    backwards = inverted(transforms)
    size = shape_of(images)[1:3]
    attrs = {"interpolation": call.interpolation, "fill_mode": call.fill_mode}
    if call.type == "ImageProjectiveTransformV2":
        return ImageProjectiveTransformV2(grad, backwards, size, **attrs)
    return ImageProjectiveTransformV3(grad, backwards, size, np.array(0, F), **attrs)


def inverted(transforms: Any) -> Any:
    """Return projections [count, 8] that undo these."""
    ones = raw.OnesLike(transforms[:, :1])
    whole = raw.Reshape(raw.ConcatV2([transforms, ones], np.array(1, np.int32)), np.array([-1, 3, 3], np.int32))
    flat = raw.Reshape(raw.MatrixInverse(whole), np.array([-1, 9], np.int32))
    return (flat / flat[:, 8:9])[:, :8]


@ImageProjectiveTransformV2.gradient
def _(call, grad):
    return _unwarped(call, grad), None, None


@ImageProjectiveTransformV3.gradient
def _(call, grad):
    return _unwarped(call, grad), None, None, None
