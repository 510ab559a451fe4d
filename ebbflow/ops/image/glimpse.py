"""Glimpses: a window of an image around a point, with noise where it reaches over the edge (`ExtractGlimpse`, V2).

The two ops differ in what the point is where offsets are pixels: the first takes it for the window's middle always, the
second only where offsets are shares of the image. Knows NumPy and the program's source of random numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Op, op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.random import unseeded
from ebbflow.ops.sizes import invalid, room_for

_INTERFACE = (
    "(input:float, size:int32, offsets:float) -> (glimpse:float) | centered: bool = true; normalized: bool = true; "
    'uniform_noise: bool = true; noise: string = "uniform"'
)
ExtractGlimpse = op(f"ExtractGlimpse{_INTERFACE}", gradient=FLAT)
ExtractGlimpseV2 = op(f"ExtractGlimpseV2{_INTERFACE}", gradient=FLAT)

NOISES = ("uniform", "gaussian", "zero")


def _dims(images: Any, size: Any, offsets: Any) -> Any:
    """Return the shape of the glimpses; refuse inputs of other ranks and lengths."""
    for arg, rank, what in (
        (images, 4, "input must be 4-dimensional (batch_size, height, width, depth)"),
        (size, 1, "size must be a vector of size 2 (height, width)"),
        (offsets, 2, "offsets must be a matrix (batch_size, [y, x])"),
    ):
        if arg.dims is not None and len(arg.dims) != rank:
            raise errors.StaticShapeError(f"{what}, got shape {show(arg.dims)}")
    batch, _, _, depth = images.dims or (None,) * 4
    rows, pair = offsets.dims or (None, None)
    if pair not in (None, 2):
        raise errors.StaticShapeError(f"second dimension of offsets should be of size 2 (y,x), got {pair}")
    if None not in (batch, rows) and batch != rows:
        raise errors.StaticShapeError(f"first dimension of offsets should be batch, {batch}, got {rows}")
    if size.dims not in (None, (2,), (None,)):
        raise errors.StaticShapeError(f"size must be a vector of size 2 (height, width), got shape {show(size.dims)}")
    wanted = size.as_dims
    height, width = wanted if wanted is not None and len(wanted) == 2 else (None, None)
    return batch if batch is not None else rows, height, width, depth


def _starts(offsets: np.ndarray, image: Any, size: Any, centered: bool, normalized: bool, second: bool) -> np.ndarray:
    """Return the pixel at which each glimpse begins: (row, column)."""
    lengths, window = np.array(image, np.float32), np.array(size, np.float32)
    at: np.ndarray = offsets * lengths if normalized else offsets.astype(np.float32)
    if centered:
        at = (at / 2 if normalized or not second else at) + lengths / 2
    if not second or (centered and normalized):
        at = at - window / 2
    return np.trunc(np.clip(np.nan_to_num(at), -(2.0**40), 2.0**40)).astype(np.int64)


def _noise(image: np.ndarray, dims: tuple[int, ...], kind: str) -> np.ndarray:
    """Return what stands outside of an image: numbers of its range, or distributed as each channel is."""
    if kind == "zero" or not image.size:
        return np.zeros(dims, np.float32)
    count = int(np.prod(dims))
    if kind == "uniform":
        low, high = image.min(), image.max()
        return unseeded.uniform(count, np.float32).reshape(dims) * (high - low) + low
    low, high = image.min((0, 1)), image.max((0, 1))
    numbers = unseeded.normal(count, np.float32).reshape(dims) * image.std((0, 1)) + image.mean((0, 1))
    return np.clip(numbers, low, high)


def _declare(declared: Op, second: bool) -> None:
    declared.shape(_dims)

    @declared.kernel
    def _(
        xp: Any, images: Any, size: Any, offsets: Any, *, centered: Any, normalized: Any, uniform_noise: Any, noise: Any
    ) -> Any:
        kind = noise.decode() if isinstance(noise, bytes) else noise
        if uniform_noise and kind not in ("", "uniform"):
            raise invalid("The uniform_noise and noise could not be specified at the same time")
        if kind not in ("", *NOISES):
            raise invalid(f"The noise could only be uniform, gaussian, or zero, got {kind}")
        _check(images, size, offsets)
        dims = (len(images), int(size[0]), int(size[1]), images.shape[3])
        room_for(dims, 4)
        places = _starts(offsets, images.shape[1:3], size, centered, normalized, second)
        found = np.empty(dims, np.float32)
        for out, image, start in zip(found, images, places, strict=True):
            _look(out, image, start, kind or "uniform")
        return found


def _check(images: np.ndarray, size: np.ndarray, offsets: np.ndarray) -> None:
    if images.ndim != 4:
        raise invalid(f"input must be 4-dimensional (batch_size, height, width, depth), got {show(images.shape)}")
    if size.shape != (2,):
        raise invalid(f"size must be a vector of size 2 (height, width), got shape {show(size.shape)}")
    if offsets.ndim != 2 or offsets.shape[0] != len(images):
        raise invalid(f"first dimension of offsets should be batch, {len(images)}, got shape {show(offsets.shape)}")
    if offsets.shape[1] != 2:
        raise invalid(f"second dimension of offsets should be of size 2 (y,x), got shape {show(offsets.shape)}")


def _look(out: np.ndarray, image: np.ndarray, start: np.ndarray, kind: str) -> None:
    """Fill one glimpse: what lies inside the image from there, noise elsewhere."""
    lows = [max(0, -int(s)) for s in start]
    highs = [min(n, length - int(s)) for n, length, s in zip(out.shape, image.shape, start, strict=False)]
    (top, left), (bottom, right) = lows, highs
    inside = bottom > top and right > left
    if not inside or (top, left, bottom, right) != (0, 0, *out.shape[:2]):
        out[:] = _noise(image, out.shape, kind)
    if inside:
        row, column = (int(s) for s in start)
        out[top:bottom, left:right] = image[row + top : row + bottom, column + left : column + right]


_declare(ExtractGlimpse, False)
_declare(ExtractGlimpseV2, True)


# --- what people call -------------------------------------------------------------------------------------------------


def extract_glimpse(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """Return a window of each image, `size` high and wide, where `offsets` (row, column) say.

    >>> import numpy as np
    >>> image = np.arange(9.0, dtype=np.float32).reshape(1, 3, 3, 1)
    >>> extract_glimpse(image, [2, 2], [[1.0, 1.0]], centered=False, normalized=False).numpy().reshape(-1).tolist()
    [4.0, 5.0, 7.0, 8.0]
    """
    return ExtractGlimpseV2(
        input, size, offsets, centered=centered, normalized=normalized, uniform_noise=False, noise=noise, name=name
    )


def extract_glimpse_v1(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """Return a window of each image whose middle lies where `offsets` (row, column) say."""
    return ExtractGlimpse(
        input, size, offsets, centered=centered, normalized=normalized, uniform_noise=uniform_noise, name=name
    )
