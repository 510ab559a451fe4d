"""The public functions of crops that are resized, and of `tf.contrib.image`: rotate, translate, transform."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, ShapeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.lengths import lengths_of, packed


def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_indices: TensorLike,
    crop_size: TensorLike,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Return the parts of images that boxes [y1, x1, y2, x2] (as shares of the sides) cut out, in one size.

    >>> crop_and_resize(np.ones((1, 4, 4, 1), np.float32), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2]).shape
    TensorShape([1, 2, 2, 1])
    """
    return raw.CropAndResize(
        image, boxes, box_indices, crop_size, method=method, extrapolation_value=extrapolation_value, name=name
    )


def crop_and_resize_v1(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike | None = None,
    crop_size: TensorLike | None = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: TensorLike | None = None,
) -> Tensor:
    """Return the parts of images that boxes cut out, as TF 1 names the arguments."""
    if (box_ind is None) == (box_indices is None):
        raise ValueError("give either 'box_indices' or 'box_ind', its old name")
    if crop_size is None:
        raise ValueError("crop_and_resize needs 'crop_size': the height and width of what is cut out")
    numbers: Any = box_indices if box_ind is None else box_ind
    return crop_and_resize(image, boxes, numbers, crop_size, method, extrapolation_value, name)


# --- tf.contrib.image -------------------------------------------------------------------------------------------------


def transform(
    images: TensorLike,
    transforms: TensorLike,
    interpolation: str = "NEAREST",
    output_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """Return images seen through projections [a0, a1, a2, b0, b1, b2, c0, c1]: where each new pixel comes from."""
    with name_scope(name, "transform"):
        images = convert(images, name="images")
        rank = images.shape.rank
        if rank is None:
            raise TypeError("image_or_images rank must be statically known")
        if rank not in (2, 3, 4):
            raise TypeError("Images should have rank between 2 and 4.")
        batch = images if rank == 4 else images[None] if rank == 3 else images[None, :, :, None]
        transforms = convert(transforms, dtypes.float32, name="transforms")
        if transforms.shape.rank not in (1, 2):
            raise TypeError("Transforms should have rank 1 or 2.")
        if transforms.shape.rank == 1:
            transforms = transforms[None]
        size = packed(lengths_of(batch)[1:3]) if output_shape is None else convert(output_shape, dtypes.int32)
        warped = raw.ImageProjectiveTransformV2(batch, transforms, size, interpolation=interpolation.upper())
        return warped if rank == 4 else warped[0] if rank == 3 else warped[0, :, :, 0]


def image_projective_transform(
    images: TensorLike, transforms: TensorLike, interpolation: str, name: str | None = None
) -> Tensor:
    """Return a batch of images seen through projections, as large as they were."""
    return transform(images, transforms, interpolation, name=name)


def translations_to_projective_transforms(translations: TensorLike, name: str | None = None) -> Tensor:
    """Return the projections that move images by [dx, dy]."""
    with name_scope(name, "translations_to_projective_transforms"):
        moves = convert(translations, dtypes.float32)
        if moves.shape.rank is None:
            raise TypeError("translation_or_translations rank must be statically known")
        if moves.shape.rank not in (1, 2):
            raise TypeError("Translations should have rank 1 or 2.")
        moves = moves[None] if moves.shape.rank == 1 else moves
        zero, one = raw.ZerosLike(moves[:, :1]), raw.OnesLike(moves[:, :1])
        parts = [one, zero, -moves[:, 0:1], zero, one, -moves[:, 1:2], zero, zero]
        return raw.ConcatV2(parts, np.array(1, np.int32))


def translate(
    images: TensorLike, translations: TensorLike, interpolation: str = "NEAREST", name: str | None = None
) -> Tensor:
    """Return images moved by [dx, dy]; what comes in is zero."""
    with name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def angles_to_projective_transforms(
    angles: TensorLike, image_height: TensorLike, image_width: TensorLike, name: str | None = None
) -> Tensor:
    """Return the projections that turn images of this size around their middle, by angles against the clock."""
    with name_scope(name, "angles_to_projective_transforms"):
        turns = convert(angles, dtypes.float32, name="angles")
        if turns.shape.rank not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        turns = turns[None] if turns.shape.rank == 0 else turns
        height, width = (raw.Cast(n, DstT=dtypes.float32) for n in (image_height, image_width))
        cosine, sine = raw.Cos(turns), raw.Sin(turns)
        x = ((width - 1) - (cosine * (width - 1) - sine * (height - 1))) / 2.0
        y = ((height - 1) - (sine * (width - 1) + cosine * (height - 1))) / 2.0
        zero = raw.ZerosLike(turns)
        return raw.Pack([cosine, -sine, x, sine, cosine, y, zero, zero], axis=1)


def rotate(images: TensorLike, angles: TensorLike, interpolation: str = "NEAREST", name: str | None = None) -> Tensor:
    """Return images turned around their middle by angles (in radians, against the clock)."""
    with name_scope(name, "rotate"):
        images = convert(images, name="images")
        rank = images.shape.rank
        if rank is None:
            raise TypeError("image_or_images rank must be statically known")
        height, width = lengths_of(images)[-3:-1] if rank > 2 else lengths_of(images)
        return transform(images, angles_to_projective_transforms(angles, height, width), interpolation)


def compose_transforms(*transforms: Any) -> Tensor:
    """Return the projection that is all of these, one after the other."""
    if not transforms:
        raise AssertionError("transforms cannot be empty")
    with name_scope(None, "compose_transforms"):
        whole = flat_transforms_to_matrices(transforms[0])
        for one in transforms[1:]:
            whole = raw.BatchMatMulV2(whole, flat_transforms_to_matrices(one))
        return matrices_to_flat_transforms(whole)


def flat_transforms_to_matrices(transforms: AnyTensor) -> Tensor:
    """Return projections [count, 8] as matrices [count, 3, 3]."""
    with name_scope(None, "flat_transforms_to_matrices"):
        flat = convert(transforms, dtypes.float32)
        if flat.shape.rank not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        flat = raw.Reshape(flat, np.array([-1, 8], np.int32))
        whole = raw.ConcatV2([flat, raw.OnesLike(flat[:, :1])], np.array(1, np.int32))
        return raw.Reshape(whole, np.array([-1, 3, 3], np.int32))


def matrices_to_flat_transforms(transform_matrices: AnyTensor) -> Tensor:
    """Return matrices [count, 3, 3] as projections [count, 8]."""
    with name_scope(None, "matrices_to_flat_transforms"):
        whole = convert(transform_matrices, dtypes.float32)
        if whole.shape.rank not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {transform_matrices}")
        flat = raw.Reshape(whole, np.array([-1, 9], np.int32))
        return (flat / flat[:, 8:9])[:, :8]
