"""JPEG files to pixels by simplejpeg, where it is installed: the same library as TensorFlow's, with all of its options.

Pillow knows neither the quick transform, which TensorFlow takes unless told otherwise, nor how to leave chroma in
blocks, and copies pixels once more. What is not read here (inks instead of light, damaged files) is left to Pillow in
`codecs`. Knows NumPy and bytes; knows nothing of tensors.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ebbflow.ops.sizes import invalid

MOST = 1 << 29
"""Numbers that a file may give are fewer: TensorFlow's own limit."""
SPACES = {1: "GRAY", 3: "RGB"}


@functools.cache
def _library() -> Any:
    try:
        import simplejpeg  # optional
    except ImportError:
        return None
    return simplejpeg


def decode_jpeg(data: bytes, channels: int, ratio: int, smooth: bool, exact: bool, recover: bool) -> np.ndarray | None:
    """Return the pixels of a JPEG file; None where the library is missing or does not take the file.

    `smooth` lets chroma change from pixel to pixel where there is less of it, `exact` takes the slower transform,
    `recover` fills up what is missing of a file that is cut short.
    """
    library = _library()
    if library is None:
        return None
    try:
        height, width, space, _ = library.decode_jpeg_header(data)
    except (ValueError, TypeError):
        return None
    if space not in ("Gray", "YCbCr", "RGB"):
        return None
    channels = channels or (1 if space == "Gray" else 3)
    check_size(height, width, channels, ratio)
    least = {} if ratio == 1 else _least(height, width, ratio)
    if least is None:
        return None
    wanted = SPACES[channels]
    options = {"fastdct": not exact, "fastupsample": not smooth, "strict": not recover, **least}
    try:
        return library.decode_jpeg(data, wanted, **options)
    except ValueError:
        return None


def check_size(height: int, width: int, channels: int, ratio: int) -> None:
    """Refuse a file that says it has more pixels than anybody would want: a few bytes may."""
    if -(-height // ratio) * -(-width // ratio) * channels >= MOST:
        words = f"Image too large: {height} x {width} x {channels}, {MOST} numbers are the limit"
        raise invalid(f"jpeg::Uncompress failed. Invalid JPEG data or crop window. {words}")


def _least(height: int, width: int, ratio: int) -> dict[str, int] | None:
    """Return the size to ask for, for the library to take this ratio; None where a small image fits others as well.

    An image smaller than the ratio is asked for all the same: of such Pillow gives too many pixels.
    """
    eighths = 8 // ratio
    small = [-(-n * eighths // 8) for n in (height, width)]
    smaller = [-(-n * (eighths - 1) // 8) for n in (height, width)]
    if min(height, width) >= ratio and eighths > 1 and smaller[0] >= small[0] and smaller[1] >= small[1]:
        return None
    return {"min_height": small[0], "min_width": small[1]}
