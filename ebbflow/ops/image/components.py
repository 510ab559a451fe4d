"""Connected parts of images: pixels that touch and have one value get one number."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import FLAT, raw
from ebbflow.ops.sizes import invalid

ImageConnectedComponents = op(
    "ImageConnectedComponents(image:dtype) -> (components:int64) | "
    "dtype: type in [int64,int32,uint16,int16,uint8,int8,half,float,double,bool,string]",
    gradient=FLAT,
)


@ImageConnectedComponents.shape
def _(image):
    return image.dims


@ImageConnectedComponents.kernel
def _(xp, image):
    if image.ndim != 3:
        raise invalid(f"image must be [images, height, width], got {image.ndim} axes")
    there = image != b"" if image.dtype == object else image != 0
    return _first_pixels(image, there)


def _first_pixels(image: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return for each pixel one more than the place of the first pixel of its part, 0 where nothing is.

    Each pixel takes the smaller number of those it touches, and then that of the pixel it has been told of: so long
    parts take few rounds.
    """
    labels = np.where(there, np.arange(1, image.size + 1, dtype=np.int64).reshape(image.shape), 0)
    pairs = []
    for axis in (1, 2):
        here = tuple(slice(None, -1) if i == axis else slice(None) for i in range(3))
        beside = tuple(slice(1, None) if i == axis else slice(None) for i in range(3))
        pairs.append((here, beside, there[here] & (image[here] == image[beside])))
    while True:
        before = labels.copy()
        for here, beside, same in pairs:
            smaller = np.minimum(labels[here], labels[beside])
            np.minimum.at(labels.reshape(-1), labels[here][same] - 1, smaller[same])
            np.minimum.at(labels.reshape(-1), labels[beside][same] - 1, smaller[same])
            labels[here][same] = smaller[same]
            labels[beside][same] = np.minimum(labels[beside][same], smaller[same])
        flat = labels.reshape(-1)
        flat[flat > 0] = flat[flat[flat > 0] - 1]
        if np.array_equal(before, labels):
            return labels


def connected_components(images: TensorLike) -> Tensor:
    """Return the number of the part that each pixel belongs to: 1, 2, … in the order of first pixels, 0 for nothing.

    Pixels touch above, below and beside, and belong together if their values are the same.

    >>> connected_components([[True, True, False], [False, False, True]]).numpy().tolist()
    [[1, 1, 0], [0, 0, 2]]
    """
    with name_scope(None, "connected_components"):
        image: Any = convert(images)
        if image.shape.rank not in (2, 3):
            raise TypeError(f"images should have rank 2 (HW) or 3 (NHW). Static shape is {image.shape}")
        parts = raw.ImageConnectedComponents(raw.ExpandDims(image, 0) if image.shape.rank == 2 else image)
        flat = raw.Reshape(parts, [-1])
        places = raw.Cast(raw.Range(1, raw.Size(flat) + 1, 1), DstT=dtypes.int64)
        order = raw.Cumsum(raw.Cast(raw.Equal(flat, places), DstT=dtypes.int64), 0)
        number = raw.GatherV2(raw.ConcatV2([raw.ZerosLike(order[:1]), order], 0), flat, 0)
        found = raw.Reshape(number, raw.Shape(image))
        found.set_shape(image.shape)
        return found
