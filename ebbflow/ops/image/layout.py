"""Where pixels stand: flips, turns, crops and borders of an image [height, width, channels] or a batch of them.

Compositions of ops on arrays; sizes may be tensors. What a size rules out is a ValueError where it is known when the
call is made, else an InvalidArgumentError when it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, TensorLike
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw
from ebbflow.ops.lengths import known_number, larger, lengths_of, packed, packed_pairs, smaller


def batched(image: Any) -> tuple[Any, int]:
    """Return an image as a batch, and the rank it had."""
    image = convert(image, name="image")
    rank = image.shape.rank
    if rank is None:  # taken for one image, as TensorFlow takes it
        image = raw.ExpandDims(image, np.array(0, np.int32))
        image.set_shape([None] * 4)
        return image, 3
    refuse_other_ranks(image, rank, "must have either 3 or 4 dimensions.")
    return (raw.ExpandDims(image, np.array(0, np.int32)) if rank == 3 else image), rank


def refuse_other_ranks(image: Any, rank: int | None, words: str = "must be at least three-dimensional.") -> None:
    """Raise for what is neither an image nor a batch of them, or holds none."""
    if rank is not None and rank < 3:
        raise ValueError(f"'image' (shape {image.shape}) {words}")
    if rank not in (3, 4):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    if 0 in image._dims[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {image.shape}")


def unbatched(images: Any, rank: int) -> Any:
    """Return a batch as what it was before `batched`."""
    return raw.Squeeze(images, squeeze_dims=[0]) if rank == 3 else images


def _ranked(image: Any) -> tuple[Any, int]:
    image = convert(image, name="image")
    rank = image.shape.rank
    refuse_other_ranks(image, rank)
    return image, rank


def of_any_rank(image: Any, turned: Callable[[Any], Any]) -> Any:
    """Return what a function of a batch gives for images whose rank only the run knows: 3, or 4."""
    lengths = raw.Shape(image)
    rank = raw.Rank(image)
    good = raw.LogicalOr(raw.Equal(rank, np.int32(3)), raw.Equal(rank, np.int32(4)))
    with context.default_graph().control_dependencies(
        [Assert(good, ["'image' must have 3 or 4 dimensions:", lengths])]
    ):
        batch = raw.Reshape(image, raw.ConcatV2([np.array([-1], np.int32), lengths[-3:]], np.array(0, np.int32)))
    batch.set_shape([None] * 4)
    result = turned(batch)
    return raw.Reshape(result, raw.ConcatV2([lengths[:-3], raw.Shape(result)[1:]], np.array(0, np.int32)))


# --- flips and turns --------------------------------------------------------------------------------------------------


def flip_left_right(image: TensorLike) -> Tensor:
    """Return images with left and right exchanged.

    >>> flip_left_right([[[1], [2]]]).numpy().tolist()
    [[[2], [1]]]
    """
    return _flipped(image, 1, "flip_left_right")


def flip_up_down(image: TensorLike) -> Tensor:
    """Return images with top and bottom exchanged."""
    return _flipped(image, 0, "flip_up_down")


def _flipped(image: Any, axis: int, scope: str) -> Any:
    with name_scope(None, scope, [image]):
        image = convert(image, name="image")
        if image.shape.rank is None:
            return of_any_rank(image, lambda batch: _flipped(batch, axis, scope))
        image, rank = _ranked(image)
        return raw.ReverseV2(image, np.array([axis + rank - 3], np.int32))


def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """Return images with height and width exchanged."""
    with name_scope(name, "transpose", [image]):
        image = convert(image, name="image")
        if image.shape.rank is None:
            return of_any_rank(image, transpose)
        image, rank = _ranked(image)
        return raw.Transpose(image, np.array([1, 0, 2] if rank == 3 else [0, 2, 1, 3], np.int32))


def rot90(image: TensorLike, k: TensorLike = 1, name: str | None = None) -> AnyTensor:
    """Return images turned against the clock by 90 degrees, `k` times.

    >>> rot90([[[1], [2]]]).numpy().tolist()
    [[[2]], [[1]]]
    """
    with name_scope(name, "rot90", [image, k]):
        image = convert(image, name="image")
        if image.shape.rank is None:
            return of_any_rank(image, lambda batch: rot90(batch, k))
        image, rank = _ranked(image)
        k = convert(k, dtypes.int32)
        if k.shape.rank not in (None, 0):
            raise ValueError(f"k must be a scalar, got shape {k.shape}")
        across = rank - 2
        swapped = list(range(rank))
        swapped[across - 1], swapped[across] = across, across - 1
        known = k.constant_value()
        if known is not None:
            turns = int(known) % 4
            flips = {0: [], 1: [across], 2: [across - 1, across], 3: [across - 1]}[turns]
            image = raw.ReverseV2(image, np.array(flips, np.int32)) if flips else image
            return raw.Transpose(image, np.array(swapped, np.int32)) if turns % 2 else image
        turns = raw.FloorMod(k, 4)
        sides = [raw.GreaterEqual(turns, 2), raw.LogicalOr(raw.Equal(turns, 1), raw.Equal(turns, 2))]
        no = convert(False)
        image = raw.Reverse(image, raw.Pack([*[no] * (across - 1), *sides, no]))
        order = raw.SelectV2(raw.Equal(turns % 2, 1), np.array(swapped, np.int32), np.arange(rank, dtype=np.int32))
        return raw.Transpose(image, order)


# --- crops and borders ------------------------------------------------------------------------------------------------


def _require(truths: list[tuple[Any, str]], image: Any) -> Any:
    """Return the image if all conditions hold: known ones are looked at now, the others when it runs."""
    later = []
    for truth, words in truths:
        known = truth.constant_value() if isinstance(truth, Tensor) else truth
        if known is None:
            later.append((truth, words))
        elif not known:
            raise ValueError(words)
    for truth, words in later:
        with context.current_graph().control_dependencies([Assert(truth, [words])]):
            image = raw.Identity(image)
    return image


def crop_to_bounding_box(
    image: TensorLike,
    offset_height: TensorLike,
    offset_width: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
) -> Tensor:
    """Return the part of images that starts at the offsets and has the target size.

    >>> crop_to_bounding_box([[[1], [2]], [[3], [4]]], 0, 1, 2, 1).numpy().ravel().tolist()
    [2, 4]
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, rank = batched(image)
        top, left, high, wide = map(known_number, (offset_height, offset_width, target_height, target_width))
        _, height, width, _ = lengths_of(image)
        image = _require(
            [
                (left >= 0, "offset_width must be >= 0."),
                (top >= 0, "offset_height must be >= 0."),
                (wide > 0, "target_width must be > 0."),
                (high > 0, "target_height must be > 0."),
                (width >= wide + left, f"width must be >= target + offset, got {width}, {wide} and {left}."),
                (height >= high + top, f"height must be >= target + offset, got {height}, {high} and {top}."),
            ],
            image,
        )
        cropped = raw.Slice(image, packed([0, top, left, 0]), packed([-1, high, wide, -1]))
        return unbatched(cropped, rank)


def pad_to_bounding_box(
    image: TensorLike,
    offset_height: TensorLike,
    offset_width: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
) -> Tensor:
    """Return images with zeros around them, so that they start at the offsets and the whole has the target size."""
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, rank = batched(image)
        top, left, high, wide = map(known_number, (offset_height, offset_width, target_height, target_width))
        _, height, width, _ = lengths_of(image)
        below, right = high - top - height, wide - left - width
        image = _require(
            [
                (top >= 0, "offset_height must be >= 0"),
                (left >= 0, "offset_width must be >= 0"),
                (right >= 0, f"width must be <= target - offset, got {width}, {wide} and {left}"),
                (below >= 0, f"height must be <= target - offset, got {height}, {high} and {top}"),
            ],
            image,
        )
        padded = raw.Pad(image, packed_pairs([(0, 0), (top, below), (left, right), (0, 0)]))
        return unbatched(padded, rank)


def central_crop(image: TensorLike, central_fraction: AnyTensor) -> Tensor:
    """Return the middle of images, this fraction of each side."""
    with name_scope(None, "central_crop", [image]):
        fraction = known_number(central_fraction)
        if not isinstance(fraction, Tensor):
            if fraction <= 0.0 or fraction > 1.0:
                raise ValueError(f"`central_fraction` must be within (0, 1], got {central_fraction}")
            if fraction == 1.0:
                return convert(image)
        batch, rank = _ranked(image)
        height, width = lengths_of(batch)[rank - 3 : rank - 1]
        top, left = _margin(height, fraction), _margin(width, fraction)
        lead = [0] * (rank - 3)
        begin, size = [*lead, top, left, 0], [*[-1] * (rank - 3), height - 2 * top, width - 2 * left, -1]
        cut = raw.Slice(batch, packed(begin), packed(size))
        known = [n if isinstance(n, int) and n >= 0 else None for n in size]
        cut.set_shape([*batch.shape[: rank - 3], *known[rank - 3 : rank - 1], batch.shape[-1]])
        return cut


def _margin(length: Any, fraction: Any) -> Any:
    if isinstance(length, int) and not isinstance(fraction, Tensor):
        return int((length - length * fraction) / 2)
    wide = raw.Cast(length, DstT=dtypes.float64)
    part = raw.Cast(fraction, DstT=dtypes.float64)
    return raw.Cast((wide - wide * part) / np.float64(2), DstT=dtypes.int32)


def resize_with_crop_or_pad(image: TensorLike, target_height: TensorLike, target_width: TensorLike) -> Tensor:
    """Return images cut in the middle, or with zeros all around, to the size asked for.

    >>> resize_with_crop_or_pad([[[1], [2], [3]]], 1, 1).numpy().ravel().tolist()
    [2]
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, rank = batched(image)
        high, wide = known_number(target_height), known_number(target_width)
        image = _require([(wide > 0, "target_width must be > 0."), (high > 0, "target_height must be > 0.")], image)
        _, height, width, _ = lengths_of(image)
        crop_left, crop_top = larger(0, (width - wide) // 2), larger(0, (height - high) // 2)
        pad_left, pad_top = larger(0, (wide - width) // 2), larger(0, (high - height) // 2)
        cut = crop_to_bounding_box(image, crop_top, crop_left, smaller(high, height), smaller(wide, width))
        return unbatched(pad_to_bounding_box(cut, pad_top, pad_left, high, wide), rank)
