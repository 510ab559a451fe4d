"""`scipy.misc`'s pictures, which SciPy dropped: reading, writing and resizing arrays as images, through Pillow.

Lent to the program being run, by `vanished`. Values are those of the old functions: what is not uint8 is stretched to
0..255, sizes are a percentage, a fraction or (rows, columns).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PIL import Image  # heavy and optional; this module is imported only when a program uses scipy.misc

_RESAMPLE = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "cubic": 3}


def bytescale(data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0) -> np.ndarray:
    """Return an array stretched from [cmin, cmax] to [low, high] as uint8; uint8 stays as it is.

    >>> bytescale(np.array([0.0, 0.5, 1.0])).tolist()
    [0, 128, 255]
    """
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    if high > 255:
        raise ValueError("`high` should be less than or equal to 255.")
    if low < 0:
        raise ValueError("`low` should be greater than or equal to 0.")
    if high < low:
        raise ValueError("`high` should be greater than or equal to `low`.")
    least, most = (data.min() if cmin is None else cmin), (data.max() if cmax is None else cmax)
    if most < least:
        raise ValueError("`cmax` should be larger than `cmin`.")
    spread = float(most - least) or 1.0
    stretched = (data - least) * ((high - low) / spread) + low
    return (stretched.clip(low, high) + 0.5).astype(np.uint8)


def toimage(
    arr: Any,
    high: int = 255,
    low: int = 0,
    cmin: Any = None,
    cmax: Any = None,
    pal: Any = None,
    mode: str | None = None,
    channel_axis: int | None = None,
) -> Image.Image:
    """Return an array as a picture: two dimensions are grey, three have a channel axis of length 3 or 4."""
    data = np.asarray(arr)
    if np.iscomplexobj(data):
        raise ValueError("Cannot convert a complex-valued array.")
    if data.ndim == 2:
        return _grey(data, high, low, cmin, cmax, pal, mode)
    if data.ndim != 3 or not {3, 4} & set(data.shape):
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    if channel_axis is None:
        axes = [axis for length in (3, 4) for axis in range(3) if data.shape[axis] == length]
        channel_axis = axes[0]
    data = np.moveaxis(bytescale(data, cmin, cmax, high, low), channel_axis, 2)
    if data.shape[2] not in (3, 4):
        raise ValueError("Channel axis dimension is not valid.")
    mode = mode or ("RGB" if data.shape[2] == 3 else "RGBA")
    if mode not in ("RGB", "RGBA", "YCbCr", "CMYK"):
        raise ValueError("Unsupported array mode.")
    return Image.frombytes(mode, (data.shape[1], data.shape[0]), np.ascontiguousarray(data).tobytes())


def _grey(data: np.ndarray, high: int, low: int, cmin: Any, cmax: Any, pal: Any, mode: str | None) -> Image.Image:
    size = (data.shape[1], data.shape[0])
    if mode == "F":
        return Image.frombytes("F", size, data.astype(np.float32).tobytes())
    if mode == "I":
        return Image.frombytes("I", size, data.astype(np.uint32).tobytes())
    if mode == "1":
        return Image.fromarray(np.asarray(data) > 0)
    picture = Image.frombytes("L", size, bytescale(data, cmin, cmax, high, low).tobytes())
    if pal is not None:
        picture.putpalette(np.asarray(pal, np.uint8).tobytes())
    elif mode == "P":
        picture.putpalette(np.repeat(np.arange(256, dtype=np.uint8), 3).tobytes())
    return picture


def fromimage(im: Image.Image, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """Return a picture as an array, in shades of grey (float32) for `flatten`."""
    if mode is not None and mode != im.mode:
        im = im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """Return an image file as an array."""
    with Image.open(name) as picture:
        return fromimage(picture, flatten, mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Write an array as an image file."""
    toimage(arr, channel_axis=2).save(name, **({} if format is None else {"format": format}))


def imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> np.ndarray:
    """Return an array resized as a picture: to a percentage (int), a fraction (float) or (rows, columns)."""
    picture = toimage(arr, mode=mode)
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
        wanted: Any = tuple(int(length * (size / 100.0)) for length in picture.size)
    elif isinstance(size, (float, np.floating)):
        wanted = tuple(int(length * float(size)) for length in picture.size)
    else:
        wanted = (int(size[1]), int(size[0]))
    return fromimage(picture.resize(wanted, resample=Image.Resampling(_RESAMPLE[interp])))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> np.ndarray:
    """Return an array turned as a picture, counterclockwise, within its own frame."""
    return fromimage(toimage(arr).rotate(angle, resample=Image.Resampling(_RESAMPLE[interp])))


def imshow(arr: Any) -> None:
    """Show an array as a picture, with whatever shows pictures here."""
    toimage(arr).show()


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """Return log(sum(exp(a))), now `scipy.special.logsumexp`."""
    from scipy import special  # heavy: only for programs that ask

    return special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)


def comb(N: Any, k: Any, exact: bool = False, repetition: bool = False) -> Any:
    """Return how many ways there are to choose k of N, now `scipy.special.comb`."""
    from scipy import special  # heavy: only for programs that ask

    return special.comb(N, k, exact=exact, repetition=repetition)


def factorial(n: Any, exact: bool = False) -> Any:
    """Return 1 * 2 * ... * n, now `scipy.special.factorial`."""
    from scipy import special  # heavy: only for programs that ask

    return special.factorial(n, exact=exact)


def derivative(func: Any, x0: float, dx: float = 1.0, n: int = 1, args: tuple = (), order: int = 3) -> float:
    """Return the n-th derivative of a function at a point, from `order` points around it."""
    if order < n + 1:
        raise ValueError("'order' (the number of points used to compute the derivative), must be at least n + 1.")
    if order % 2 == 0:
        raise ValueError("'order' (the number of points used to compute the derivative) must be odd.")
    places = np.arange(-(order >> 1), (order >> 1) + 1)
    weights = math.factorial(n) * np.linalg.inv(np.vander(places, increasing=True).astype(float))[n]
    return sum(w * func(x0 + p * dx, *args) for w, p in zip(weights, places, strict=True)) / dx**n
