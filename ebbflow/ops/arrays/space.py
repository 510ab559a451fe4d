"""Space moved into depth or batch and back, and patches taken out of images.

Kernels reshape and transpose; nothing is computed. `windows` knows convolution's windows; here only the arithmetic of
blocks and patches is needed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import context, errors
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.shape import Dims
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Padding, Sizes, TensorLike
from ebbflow.ops.declare import dense, raw, show
from ebbflow.ops.sizes import invalid, room_for, shape_of, vector

# --- depth ------------------------------------------------------------------------------------------------------------

_BLOCKS = 'T: type; block_size: int >= 2; data_format: string in ["NHWC","NCHW","NCHW_VECT_C"] = "NHWC"'
SpaceToDepth = op(f"SpaceToDepth(input:T) -> (output:T) | {_BLOCKS}", facts="portable")
DepthToSpace = op(f"DepthToSpace(input:T) -> (output:T) | {_BLOCKS}", facts="portable")

_RANK = {"NHWC": 4, "NCHW": 4, "NCHW_VECT_C": 5}


def _images(dims: Dims, data_format: str) -> list[Any] | None:
    """Return (batch, height, width, depth) of images in any layout."""
    if dims is None:
        return [None] * 4
    if len(dims) != _RANK[data_format]:
        raise errors.StaticShapeError(f"Input rank should be {_RANK[data_format]} instead of {len(dims)}")
    if data_format == "NHWC":
        return list(dims)
    batch, depth, height, width, *inner = dims
    return [batch, height, width, depth if not inner or depth is None else depth * 4]


def _laid_out(images: list[Any], data_format: str) -> tuple[Any, ...]:
    batch, height, width, depth = images
    if data_format == "NHWC":
        return batch, height, width, depth
    if data_format == "NCHW":
        return batch, depth, height, width
    return batch, None if depth is None else depth // 4, height, width, 4


def _to_depth(dims: Dims, block: int, data_format: str) -> tuple[Any, ...]:
    batch, height, width, depth = _images(dims, data_format)  # type: ignore[misc]
    if any(n is not None and n % block for n in (height, width)):
        raise errors.StaticShapeError(
            f"Image width {width} and height {height} should be divisible by block_size: {block}"
        )
    sides = [None if n is None else n // block for n in (height, width)]
    return _laid_out([batch, *sides, None if depth is None else depth * block * block], data_format)


def _to_space(dims: Dims, block: int, data_format: str) -> tuple[Any, ...]:
    batch, height, width, depth = _images(dims, data_format)  # type: ignore[misc]
    if depth is not None and depth % (block * block):
        raise errors.StaticShapeError(f"Input depth dimension {depth} should be divisible by: {block * block}")
    sides = [None if n is None else n * block for n in (height, width)]
    return _laid_out([batch, *sides, None if depth is None else depth // (block * block)], data_format)


SpaceToDepth.shape(lambda input, *, block_size, data_format: _to_depth(input.dims, block_size, data_format))
DepthToSpace.shape(lambda input, *, block_size, data_format: _to_space(input.dims, block_size, data_format))


def _last(xp: Any, x: Any, data_format: str) -> Any:
    """Return images with their channels last."""
    if data_format == "NHWC":
        return x
    if data_format == "NCHW":
        return x.transpose(0, 2, 3, 1)
    moved = x.transpose(0, 2, 3, 1, 4)
    return moved.reshape(*moved.shape[:3], -1)


def _back(xp: Any, x: Any, data_format: str) -> Any:
    if data_format == "NHWC":
        return x
    if data_format == "NCHW":
        return x.transpose(0, 3, 1, 2)
    return x.reshape(*x.shape[:3], x.shape[3] // 4, 4).transpose(0, 3, 1, 2, 4)


@SpaceToDepth.kernel
def _(xp, input, *, block_size, data_format):
    _to_depth(input.shape, block_size, data_format)
    x, s = _last(xp, input, data_format), block_size
    batch, height, width, depth = x.shape
    blocks = x.reshape(batch, height // s, s, width // s, s, depth).transpose(0, 1, 3, 2, 4, 5)
    return _back(xp, blocks.reshape(batch, height // s, width // s, s * s * depth), data_format)


@DepthToSpace.kernel
def _(xp, input, *, block_size, data_format):
    _to_space(input.shape, block_size, data_format)
    x, s = _last(xp, input, data_format), block_size
    batch, height, width, depth = x.shape
    blocks = x.reshape(batch, height, width, s, s, depth // (s * s)).transpose(0, 1, 3, 2, 4, 5)
    return _back(xp, blocks.reshape(batch, height * s, width * s, depth // (s * s)), data_format)


@SpaceToDepth.gradient
def _(call, grad):
    return DepthToSpace(grad, block_size=call.block_size, data_format=call.data_format)


@DepthToSpace.gradient
def _(call, grad):
    return SpaceToDepth(grad, block_size=call.block_size, data_format=call.data_format)


# --- batch ------------------------------------------------------------------------------------------------------------

_TYPES = "T: type; Tblock_shape: index = int32"
SpaceToBatchND = op(
    "SpaceToBatchND(input:T, block_shape:Tblock_shape, paddings:Tpaddings) -> (output:T)"
    f" | {_TYPES}; Tpaddings: index = int32",
    facts="portable known=block_shape,paddings",
)
BatchToSpaceND = op(
    f"BatchToSpaceND(input:T, block_shape:Tblock_shape, crops:Tcrops) -> (output:T) | {_TYPES}; Tcrops: index = int32",
    facts="portable known=block_shape,crops",
)
SpaceToBatch = op(
    "SpaceToBatch(input:T, paddings:Tpaddings) -> (output:T) | T: type; Tpaddings: index = int32; block_size: int >= 2",
    facts="portable known=paddings",
)
BatchToSpace = op(
    "BatchToSpace(input:T, crops:Tidx) -> (output:T) | T: type; block_size: int >= 2; Tidx: index = int32",
    facts="portable known=crops",
)


def _check_blocks(blocks: list[int], rank: int | None) -> None:
    for i, block in enumerate(blocks):
        if block <= 0:
            raise errors.StaticShapeError(
                f"All values in block_shape must be positive, got value, {block} at index {i}."
            )
    if rank is not None and rank < len(blocks) + 1:
        raise errors.StaticShapeError(f"input rank should be >= {len(blocks) + 1} instead of {rank}")


def _pairs(value: np.ndarray, count: int, name: str) -> list[list[int]]:
    if value.shape != (count, 2):
        raise errors.StaticShapeError(f"{name} should have shape [{count}, 2] instead of {show(value.shape)}")
    if value.size and value.min() < 0:
        raise errors.StaticShapeError(f"{name.capitalize()} must be non-negative")
    return value.tolist()


def _batched(dims: Any, blocks: list[int], pads: list[Any]) -> tuple[Any, ...]:
    """Return the shape of `dims` with the blocks of its spatial axes moved into the batch."""
    count = len(blocks)
    _check_blocks(blocks, len(dims))
    sides = []
    for i, (n, block, pad) in enumerate(zip(dims[1 : count + 1], blocks, pads, strict=True)):
        padded = None if n is None or pad is None else n + sum(pad)
        if padded is not None and padded % block:
            raise errors.StaticShapeError(f"padded_shape[{i}]={padded} is not divisible by block_shape[{i}]={block}")
        sides.append(None if padded is None else padded // block)
    return (None if dims[0] is None else dims[0] * math.prod(blocks), *sides, *dims[count + 1 :])


def _spaced(dims: Any, blocks: list[int], crops: list[Any]) -> tuple[Any, ...]:
    """Return the shape of `dims` with blocks taken out of the batch into its spatial axes."""
    count, whole = len(blocks), math.prod(blocks)
    _check_blocks(blocks, len(dims))
    if dims[0] is not None and dims[0] % whole:
        raise errors.StaticShapeError(
            f"Input batch dimension ({dims[0]}) is not divisible by product of block sizes ({whole})"
        )
    sides = []
    for i, (n, block, crop) in enumerate(zip(dims[1 : count + 1], blocks, crops, strict=True)):
        side = None if n is None or crop is None else n * block - sum(crop)
        if side is not None and side < 0:
            raise errors.StaticShapeError(f"cropped_shape[{i}]={side} must be non-negative")
        sides.append(side)
    return (None if dims[0] is None else dims[0] // whole, *sides, *dims[count + 1 :])


def _block_dims(input: Any, blocks: Any, pads: Any, moved: Any, name: str) -> Dims:
    count = vector(blocks, "block_shape")
    if input.dims is None:
        return None
    if count is not None and len(input.dims) < count + 1:
        raise errors.StaticShapeError(f"input rank should be >= {count + 1} instead of {len(input.dims)}")
    if blocks.value is None:
        return (None,) * (len(input.dims) if count is None else count + 1) + (
            () if count is None else tuple(input.dims[count + 1 :])
        )
    values = blocks.value.tolist()
    known = [None] * len(values) if pads.value is None else _pairs(pads.value, len(values), name)
    return moved(input.dims, values, known)


SpaceToBatchND.shape(
    lambda input, block_shape, paddings: _block_dims(input, block_shape, paddings, _batched, "paddings")
)
BatchToSpaceND.shape(lambda input, block_shape, crops: _block_dims(input, block_shape, crops, _spaced, "crops"))


def _square_dims(input: Any, pads: Any, block: int, moved: Any, name: str) -> Dims:
    if input.dims is None:
        return (None,) * 4
    if len(input.dims) != 4:
        raise errors.StaticShapeError(f"Input rank should be 4 instead of {len(input.dims)}")
    known = [None] * 2 if pads.value is None else _pairs(pads.value, 2, name)
    return moved(input.dims, [block, block], known)


SpaceToBatch.shape(
    lambda input, paddings, *, block_size: _square_dims(input, paddings, block_size, _batched, "paddings")
)
BatchToSpace.shape(lambda input, crops, *, block_size: _square_dims(input, crops, block_size, _spaced, "crops"))


def _space_to_batch(xp: Any, x: Any, blocks: list[int], paddings: Any) -> Any:
    count = len(blocks)
    pads = _pairs(paddings, count, "paddings")
    result = _batched(x.shape, blocks, pads)
    room_for(result, x.dtype.itemsize)
    if any(a or b for a, b in pads):
        x = xp.pad(x, [(0, 0), *map(tuple, pads), *[(0, 0)] * (x.ndim - count - 1)])
    split = [d for side, block in zip(result[1:], blocks, strict=False) for d in (side, block)]
    parts = x.reshape(x.shape[0], *split, *x.shape[count + 1 :])
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count + 1, 2), *range(2 * count + 1, parts.ndim)]
    return parts.transpose(order).reshape(result)


def _batch_to_space(xp: Any, x: Any, blocks: list[int], crops: Any) -> Any:
    count = len(blocks)
    cuts = _pairs(crops, count, "crops")
    result = _spaced(x.shape, blocks, cuts)
    parts = x.reshape(*blocks, result[0], *x.shape[1:])
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    order += range(2 * count + 1, parts.ndim)
    sides = [side * block for side, block in zip(x.shape[1 : count + 1], blocks, strict=True)]
    whole = parts.transpose(order).reshape(result[0], *sides, *x.shape[count + 1 :])
    index = [slice(first, side - last) for side, (first, last) in zip(sides, cuts, strict=True)]
    return whole[(slice(None), *index)]


def _blocks(block_shape: Any) -> list[int]:
    if block_shape.ndim != 1:
        raise ValueError("block_shape must be a vector")
    return block_shape.tolist()


SpaceToBatchND.kernel(
    lambda xp, input, block_shape, paddings: _space_to_batch(xp, input, _blocks(block_shape), paddings)
)
BatchToSpaceND.kernel(lambda xp, input, block_shape, crops: _batch_to_space(xp, input, _blocks(block_shape), crops))


@SpaceToBatch.kernel
def _(xp, input, paddings, *, block_size):
    if input.ndim != 4:
        raise ValueError("Input rank should be 4")
    return _space_to_batch(xp, input, [block_size, block_size], paddings)


@BatchToSpace.kernel
def _(xp, input, crops, *, block_size):
    if input.ndim != 4:
        raise ValueError("Input rank should be 4")
    return _batch_to_space(xp, input, [block_size, block_size], crops)


@SpaceToBatchND.gradient
def _(call, grad):
    return BatchToSpaceND(grad, call.block_shape, call.paddings), None, None


@BatchToSpaceND.gradient
def _(call, grad):
    return SpaceToBatchND(grad, call.block_shape, call.crops), None, None


@SpaceToBatch.gradient
def _(call, grad):
    return BatchToSpace(grad, call.paddings, block_size=call.block_size), None


@BatchToSpace.gradient
def _(call, grad):
    return SpaceToBatch(grad, call.crops, block_size=call.block_size), None


# --- patches ----------------------------------------------------------------------------------------------------------

ExtractImagePatches = op(
    "ExtractImagePatches(images:T) -> (patches:T) | ksizes: list(int) >= 4; strides: list(int) >= 4;"
    " rates: list(int) >= 4; T: type in [floats,integers,complex64,complex128,bool];"
    ' padding: string in ["SAME","VALID"]',
    facts="portable",
)


def _check_patches(ksizes: Any, strides: Any, rates: Any) -> None:
    for values, name in ((ksizes, "ksizes"), (strides, "strides"), (rates, "rates")):
        if len(values) != 4:
            raise invalid(
                f"ExtractImagePatches requires the {name} attribute to contain 4 values, but got: {len(values)}"
            )
        if values[0] != 1 or values[3] != 1:
            raise errors.UnimplementedError(None, None, f"Only support {name} across space.")
        if min(values[1:3]) <= 0:
            raise errors.OutOfRangeError(None, None, f"{name} is out of range: {list(values)}")


def _patch_sides(length: int | None, k: int, stride: int, rate: int, padding: str) -> tuple[Any, int]:
    """Return how many patches an axis gives and how much is padded before it."""
    reach = k + (k - 1) * (rate - 1)
    if length is None:
        return None, 0
    if padding == "VALID":
        count = int((length - reach + stride) / stride)
        if count < 0:
            raise errors.StaticShapeError(
                f"Computed output size would be negative: {count} "
                f"[input_size: {length}, effective_filter_size: {reach}, stride: {stride}]"
            )
        return count, 0
    count = -(-length // stride)
    return count, max((count - 1) * stride + reach - length, 0) // 2


@ExtractImagePatches.shape
def _(images, *, ksizes, strides, rates, padding):
    if images.dims is not None and min(strides[1:3]) <= 0:
        raise errors.StaticShapeError(f"Stride must be > 0, but got {min(strides[1:3])}")
    _check_patches(ksizes, strides, rates)
    if images.dims is not None and len(images.dims) != 4:
        raise errors.StaticShapeError(f"input must be 4-dimensional{show(images.dims)}")
    batch, height, width, depth = images.dims or (None,) * 4
    rows, _ = _patch_sides(height, ksizes[1], strides[1], rates[1], padding)
    columns, _ = _patch_sides(width, ksizes[2], strides[2], rates[2], padding)
    return batch, rows, columns, None if depth is None else depth * ksizes[1] * ksizes[2]


@ExtractImagePatches.kernel
def _(xp, images, *, ksizes, strides, rates, padding):
    _check_patches(ksizes, strides, rates)
    if images.ndim != 4:
        raise ValueError("images must have four axes")
    batch, depth = images.shape[0], images.shape[3]
    picks, inside = [], []
    sides = [_patch_sides(images.shape[a], ksizes[a], strides[a], rates[a], padding) for a in (1, 2)]
    result = (batch, *(count for count, _ in sides), ksizes[1] * ksizes[2] * depth)
    if result[3] > np.iinfo(np.int32).max:
        raise invalid(f"Output size would overflow: ksizes {list(ksizes)} give patches of {result[3]} values")
    room_for(result, images.dtype.itemsize)
    for axis, (count, before) in zip((1, 2), sides, strict=True):
        length, k = images.shape[axis], ksizes[axis]
        at = np.arange(count)[:, None] * strides[axis] + np.arange(k)[None, :] * rates[axis] - before
        inside.append((at >= 0) & (at < length))
        picks.append(np.clip(at, 0, max(length - 1, 0)))
    if not math.prod(result) or not math.prod(images.shape):
        return xp.zeros(result, images.dtype)
    rows, columns = picks[0][:, None, :, None], picks[1][None, :, None, :]
    patches = images[:, rows, columns]
    held = (inside[0][:, None, :, None] & inside[1][None, :, None, :])[None, ..., None]
    patches = patches if held.all() else xp.where(held, patches, xp.zeros((), images.dtype))
    return patches.reshape(result)


@ExtractImagePatches.gradient
def _(call, grad):
    """Number the pixels, take the same patches of the numbers, and add every gradient up where its number says."""
    attrs = {name: call.attrs[name] for name in ("ksizes", "strides", "rates", "padding")}
    grad = dense(grad)
    whole = convert(shape_of(call.images))
    pixels = raw.Mul(whole[1], whole[2])
    numbers = raw.Reshape(raw.Range(1, raw.AddV2(pixels, 1), 1), raw.Pack([1, whole[1], whole[2], 1]))
    places = raw.Sub(raw.Reshape(ExtractImagePatches(numbers, **attrs), [-1]), 1)  # -1 where there was padding
    count = raw.Size(places)
    parts = raw.Transpose(raw.Reshape(grad, raw.Pack([whole[0], count, whole[3]])), [1, 0, 2])
    total = raw.Transpose(raw.UnsortedSegmentSum(parts, places, pixels), [1, 0, 2])
    return raw.Reshape(total, whole)


# --- public -----------------------------------------------------------------------------------------------------------


def space_to_depth(input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Return images with each block of `block_size` × `block_size` pixels laid into the channels of one."""
    return SpaceToDepth(input, block_size=block_size, data_format=data_format, name=name)


def space_to_depth_v1(input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Return images with each block of `block_size` × `block_size` pixels laid into the channels of one."""
    return SpaceToDepth(input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space(input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Return images with the channels of each pixel laid out as a block of `block_size` × `block_size`."""
    return DepthToSpace(input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space_v1(input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Return images with the channels of each pixel laid out as a block of `block_size` × `block_size`."""
    return DepthToSpace(input, block_size=block_size, data_format=data_format, name=name)


def space_to_batch(input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: str | None = None) -> Tensor:
    """Return `input`, padded, with the blocks of its spatial axes moved into the batch axis."""
    return SpaceToBatchND(input, block_shape, paddings, name=name)


def space_to_batch_v1(
    input: TensorLike,
    paddings: TensorLike,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: TensorLike | None = None,
) -> Tensor:
    """Return images with their blocks moved into the batch axis (`block_size` for square ones)."""
    if block_size is not None and block_shape is not None:
        raise ValueError("Cannot specify both 'block_size' and 'block_shape'.")
    block = block_shape if block_size is None else block_size
    square = [block, block] if isinstance(block, int) else block
    return _image(SpaceToBatchND(input, square, paddings, name=name))


def batch_to_space(input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: str | None = None) -> Tensor:
    """Return `input` with blocks of its batch axis laid out in its spatial axes, which are then cropped."""
    square = [block_shape, block_shape] if isinstance(block_shape, int) else block_shape
    return BatchToSpaceND(input, square, crops, name=name)


def batch_to_space_v1(
    input: TensorLike,
    crops: TensorLike,
    block_size: int,
    name: str | None = None,
    block_shape: TensorLike | None = None,
) -> Tensor:
    """Return images with blocks of the batch axis laid out in space (`block_size` for square ones)."""
    if block_size is not None and block_shape is not None:
        raise ValueError("Cannot specify both 'block_size' and 'block_shape'.")
    block = block_shape if block_size is None else block_size
    square = [block, block] if isinstance(block, int) else block
    return _image(BatchToSpaceND(input, square, crops, name=name))


def _image(result: Tensor) -> Tensor:
    """Return a result that is a batch of images: a graph knows its rank, whatever it knew of the input's."""
    if not context.executing_eagerly():
        result.set_shape([None] * 4)
    return result


def space_to_batch_nd(
    input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: str | None = None
) -> Tensor:
    """Return `input`, padded, with the blocks of its spatial axes moved into the batch axis."""
    return SpaceToBatchND(input, block_shape, paddings, name=name)


def batch_to_space_nd(input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: str | None = None) -> Tensor:
    """Return `input` with blocks of its batch axis laid out in its spatial axes, which are then cropped."""
    return BatchToSpaceND(input, block_shape, crops, name=name)


def extract_patches(
    images: TensorLike,
    sizes: Sizes | None,
    strides: Sizes | None,
    rates: Sizes | None,
    padding: Padding | None,
    name: str | None = None,
) -> Tensor:
    """Return the patches of images, each flattened into the channels of one pixel."""
    return ExtractImagePatches(images, ksizes=sizes, strides=strides, rates=rates, padding=padding, name=name)


def extract_image_patches(
    images: TensorLike,
    ksizes: Sizes | None = None,
    strides: Sizes | None = None,
    rates: Sizes | None = None,
    padding: Padding | None = None,
    name: str | None = None,
    sizes: Sizes | None = None,
) -> Tensor:
    """Return the patches of images, each flattened into the channels of one pixel (`sizes` or `ksizes`)."""
    if ksizes is not None and sizes is not None:
        raise ValueError("Cannot specify both 'ksizes' and 'sizes'.")
    return extract_patches(images, sizes if ksizes is None else ksizes, strides, rates, padding, name)
