"""Images changed by lot: flips, brightness, contrast, hue, saturation, JPEG quality; with state, or by seeds alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.image import colour
from ebbflow.ops.image.files import adjust_jpeg_quality
from ebbflow.ops.image.layout import of_any_rank, refuse_other_ranks
from ebbflow.ops.lengths import lengths_of, packed
from ebbflow.ops.random.stateful import random_uniform
from ebbflow.ops.random.stateless import stateless_random_uniform


def _flipped(image: Any, axis: int, scope: str, draw: Any) -> Any:
    """Return an image, or some of a batch, turned over along an axis, each with even chance."""
    with name_scope(None, scope, [image]):
        image = convert(image, name="image")
        rank = image.shape.rank
        if rank is None:
            return of_any_rank(image, lambda batch: _flipped(batch, axis, scope, draw))
        refuse_other_ranks(image, rank)
        if rank == 3:
            turned = raw.ReverseV2(image, np.array([axis], np.int32))
            return raw.SelectV2(raw.Less(draw([]), np.float32(0.5)), turned, image)
        chance = draw(packed(lengths_of(image)[:1]))
        turns = raw.Reshape(raw.Round(chance), np.array([-1, 1, 1, 1], np.int32))
        turned = raw.ReverseV2(image, np.array([axis + 1], np.int32))
        return raw.SelectV2(raw.Equal(turns, np.float32(1)), turned, image)


def random_flip_left_right(image: TensorLike, seed: AnyTensor = None) -> Tensor:
    """Return images, half of them with left and right exchanged.

    >>> sorted(random_flip_left_right([[[1.0], [2.0]]]).numpy().ravel().tolist())
    [1.0, 2.0]
    """
    return _flipped(image, 1, "random_flip_left_right", lambda shape: random_uniform(shape, 0, 1.0, seed=seed))


def random_flip_up_down(image: TensorLike, seed: AnyTensor = None) -> Tensor:
    """Return images, half of them with top and bottom exchanged."""
    return _flipped(image, 0, "random_flip_up_down", lambda shape: random_uniform(shape, 0, 1.0, seed=seed))


def stateless_random_flip_left_right(image: TensorLike, seed: TensorLike) -> Tensor:
    """Return images, some of them with left and right exchanged, as the seeds decide."""
    return _flipped(image, 1, "stateless_random_flip_left_right", lambda shape: stateless_random_uniform(shape, seed))


def stateless_random_flip_up_down(image: TensorLike, seed: TensorLike) -> Tensor:
    """Return images, some of them with top and bottom exchanged, as the seeds decide."""
    return _flipped(image, 0, "stateless_random_flip_up_down", lambda shape: stateless_random_uniform(shape, seed))


# --- colours ----------------------------------------------------------------------------------------------------------


def _known(value: Any) -> bool:
    return not isinstance(value, Tensor)


def _check_delta(max_delta: Any) -> None:
    if _known(max_delta) and max_delta < 0:
        raise ValueError("max_delta must be non-negative.")


def _check_hue(max_delta: Any) -> None:
    if _known(max_delta) and max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    _check_delta(max_delta)


def _check_range(lower: Any, upper: Any) -> None:
    if _known(lower) and _known(upper) and upper <= lower:
        raise ValueError(f"upper must be > lower, got {lower} and {upper}.")
    if _known(lower) and lower < 0:
        raise ValueError("lower must be non-negative.")


def random_brightness(image: TensorLike, max_delta: AnyTensor, seed: AnyTensor = None) -> Tensor:
    """Return images brighter or darker by up to `max_delta`.

    >>> bool(abs(random_brightness([[[0.5]]], 0.1) - 0.5) <= 0.1)
    True
    """
    _check_delta(max_delta)
    return colour.adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def stateless_random_brightness(image: TensorLike, max_delta: AnyTensor, seed: TensorLike) -> Tensor:
    """Return images brighter or darker by up to `max_delta`, as the seeds decide."""
    _check_delta(max_delta)
    return colour.adjust_brightness(image, stateless_random_uniform([], seed, -max_delta, max_delta))


def random_contrast(image: TensorLike, lower: AnyTensor, upper: AnyTensor, seed: AnyTensor = None) -> Tensor:
    """Return images with a contrast between `lower` and `upper` times their own.

    >>> random_contrast([[[0.0], [1.0]]], 0.5, 0.6).numpy().mean().round(2)
    np.float32(0.5)
    """
    _check_range(lower, upper)
    return colour.adjust_contrast(image, random_uniform([], lower, upper, seed=seed))


def stateless_random_contrast(image: TensorLike, lower: TensorLike, upper: TensorLike, seed: TensorLike) -> Tensor:
    """Return images with a contrast between `lower` and `upper` times their own, as the seeds decide."""
    _check_range(lower, upper)
    return colour.adjust_contrast(image, stateless_random_uniform([], seed, lower, upper))


def random_hue(image: TensorLike, max_delta: AnyTensor, seed: AnyTensor = None) -> Tensor:
    """Return images with their hue turned by up to `max_delta`."""
    _check_hue(max_delta)
    return colour.adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def stateless_random_hue(image: TensorLike, max_delta: AnyTensor, seed: TensorLike) -> Tensor:
    """Return images with their hue turned by up to `max_delta`, as the seeds decide."""
    _check_hue(max_delta)
    return colour.adjust_hue(image, stateless_random_uniform([], seed, -max_delta, max_delta))


def random_saturation(image: TensorLike, lower: AnyTensor, upper: AnyTensor, seed: AnyTensor = None) -> Tensor:
    """Return images with a saturation between `lower` and `upper` times their own."""
    _check_range(lower, upper)
    return colour.adjust_saturation(image, random_uniform([], lower, upper, seed=seed))


def stateless_random_saturation(
    image: TensorLike, lower: AnyTensor, upper: AnyTensor, seed: AnyTensor = None
) -> Tensor:
    """Return images with a saturation between `lower` and `upper` times their own, as the seeds decide."""
    _check_range(lower, upper)
    return colour.adjust_saturation(image, stateless_random_uniform([], seed, lower, upper))


# --- JPEG -------------------------------------------------------------------------------------------------------------


def _check_quality(low: Any, high: Any) -> None:
    if not 0 <= low <= 100 or not 0 <= high <= 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if low >= high:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")


def random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: int, max_jpeg_quality: int, seed: AnyTensor = None
) -> Tensor:
    """Return an image as it looks after it was a JPEG file of some quality."""
    _check_quality(min_jpeg_quality, max_jpeg_quality)
    quality = random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32)
    return adjust_jpeg_quality(image, quality)


def stateless_random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: int, max_jpeg_quality: int, seed: TensorLike
) -> Tensor:
    """Return an image as it looks after it was a JPEG file of some quality, as the seeds decide."""
    _check_quality(min_jpeg_quality, max_jpeg_quality)
    quality = stateless_random_uniform([], seed, min_jpeg_quality, max_jpeg_quality, dtype=dtypes.int32)
    return adjust_jpeg_quality(image, quality)
