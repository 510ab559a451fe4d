"""Image files as pixels and back: JPEG, PNG, GIF, BMP and WebP through Pillow, BMP headers by hand.

Knows Pillow (loaded on first use), NumPy and bytes; knows nothing of tensors. What a file announces is looked at before
pixels are made: a file of a few bytes may claim billions of them. Pillow's JPEG library is the one TensorFlow uses,
with the exact transform (TensorFlow's "INTEGER_ACCURATE"; its quick one differs by a few levels) and smooth chroma:
where simplejpeg is installed, `jpeg` reads those files, with all options.
"""

from __future__ import annotations

import contextlib
import io
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.ops.image import jpeg
from ebbflow.ops.sizes import invalid, room_for

MOST_PIXELS, LONGEST_SIDE = jpeg.MOST, 1_000_000  # TensorFlow's own limits: of a file's pixels, and a PNG's sides
MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def kind_of(data: bytes) -> str:
    """Return what kind of file the first bytes are of, or an empty text."""
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if data.startswith(b"BM"):
        return "bmp"
    return "webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


@contextlib.contextmanager
def opened(data: bytes, kind: str) -> Iterator[Any]:
    """Yield an image as Pillow sees it; whatever is wrong with the file is an InvalidArgumentError."""
    try:
        from PIL import Image, ImageFile  # heavy, and optional
    except ImportError:
        words = f"reading {kind.upper()} files needs Pillow: pip install 'ebbflow[images]'"
        raise errors.UnimplementedError(None, None, words) from None
    limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None  # `room_for` looks at the size
    cut, ImageFile.LOAD_TRUNCATED_IMAGES = ImageFile.LOAD_TRUNCATED_IMAGES, False
    try:
        if kind == "png":
            _check_chunks(data)
        with Image.open(io.BytesIO(data), formats=[kind.upper()]) as image:
            yield image
    except errors.OpError:
        raise
    except Exception as error:  # Pillow's decoders raise whatever comes to their minds
        words = f"Invalid {kind.upper()} data or crop window, data size {len(data)}: {error}"
        raise invalid(words) from None
    finally:
        Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES = limit, cut


def _check_chunks(data: bytes) -> None:
    """Raise unless a PNG file goes on to its last chunk: Pillow is content with what has all rows."""
    at, kind = 8, b""
    while kind != b"IEND":
        kind = data[at + 4 : at + 8]
        at += 12 + int.from_bytes(data[at : at + 4], "big")
        if len(kind) < 4 or at > len(data):
            raise ValueError("image file is truncated")


def _pixels(image: Any) -> np.ndarray:
    array = np.asarray(image)
    return array[:, :, None] if array.ndim == 2 else array


# --- JPEG -------------------------------------------------------------------------------------------------------------


def decode_jpeg(
    data: bytes, channels: int = 0, ratio: int = 1, recover: bool = False, smooth: bool = True, exact: bool = False
) -> np.ndarray:
    """Return the pixels of a JPEG file, scaled down by 1, 2, 4 or 8 while it is decoded."""
    pixels = jpeg.decode_jpeg(data, channels, ratio, smooth, exact, recover)
    if pixels is not None:
        return pixels
    with opened(data, "jpeg") as image:
        if channels == 0:
            channels = 1 if image.mode == "L" else 3
        wanted = MODES[channels]
        jpeg.check_size(image.height, image.width, channels, ratio)
        if ratio > 1:
            image.draft(wanted, (max(image.width // ratio, 1), max(image.height // ratio, 1)))
        elif image.mode != "CMYK":
            image.draft(wanted, image.size)
        if recover:
            _load_what_is_there(image)
        if image.mode == "CMYK" and channels == 1:
            raise invalid("a JPEG file in CMYK cannot be decoded to one channel")
        if image.mode == "CMYK":
            image = _from_cmyk(image)
        return _pixels(image if image.mode == wanted else image.convert(wanted))


def _load_what_is_there(image: Any) -> None:
    from PIL import ImageFile

    ImageFile.LOAD_TRUNCATED_IMAGES = True
    try:
        image.load()
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = False


def _from_cmyk(image: Any) -> Any:
    """Return red, green and blue of inks: each ink's light times black's, as TensorFlow multiplies them."""
    from PIL import Image

    inks = np.asarray(image).astype(np.int32)
    light = 255 - inks
    rgb = (light[..., :3] * light[..., 3:] // 255).astype(np.uint8)
    return Image.fromarray(rgb)


def jpeg_size(data: bytes) -> tuple[int, int, int]:
    """Return height, width and channels as the header of a JPEG file states them."""
    with opened(data, "jpeg") as image:
        return image.height, image.width, len(image.getbands())


def encode_jpeg(
    pixels: np.ndarray, quality: int, progressive: bool, optimize: bool, subsample: bool,
    unit: str, density: tuple[int, int], xmp: bytes,
) -> bytes:  # fmt: skip
    """Return the JPEG file of pixels [height, width, 1 or 3]."""
    from PIL import Image

    image = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    out = io.BytesIO()
    options: dict[str, Any] = {"quality": quality, "progressive": progressive, "optimize": optimize}
    if pixels.shape[2] == 3:
        options["subsampling"] = 2 if subsample else 0
    dots = density if unit == "in" else tuple(round(n * 2.54) for n in density)
    image.save(out, "JPEG", dpi=dots, **({"xmp": xmp} if xmp else {}), **options)
    return out.getvalue()


# --- PNG --------------------------------------------------------------------------------------------------------------


def decode_png(data: bytes, channels: int = 0, wide: bool = False) -> np.ndarray:
    """Return the pixels of a PNG file as uint8, or uint16 where `wide`."""
    with opened(data, "png") as image:
        if max(image.height, image.width) > LONGEST_SIDE:
            raise invalid(f"Invalid PNG. Failed to initialize decoder: {image.width} by {image.height}")
        if image.height * image.width >= MOST_PIXELS:
            raise invalid(f"PNG size too large for int: {image.width} by {image.height}")
        deep = _depth(data) == 16
        array = _png_array(image, deep, data)
        if not channels:
            channels = array.shape[2]
        array = _with_channels(array, channels)
        if wide and array.dtype == np.uint8:
            return array.astype(np.uint16) * np.uint16(257)
        if not wide and array.dtype == np.uint16:
            return (array >> 8).astype(np.uint8)
        return array


def _depth(data: bytes) -> int:
    return data[24] if len(data) > 24 else 8


def _png_array(image: Any, deep: bool, data: bytes) -> np.ndarray:
    """Return a PNG's own channels: 1 to 4, of 8 or 16 bits."""
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode == "1":
        image = image.convert("L")
    elif image.mode in ("L", "RGB") and "transparency" in image.info and not deep:
        image = image.convert("LA" if image.mode == "L" else "RGBA")
    if image.mode.startswith("I"):  # 16 bits of grey
        return np.asarray(image).astype(np.uint16)[:, :, None]
    if deep:
        return sixteen_bits(data, image.height, image.width)
    return _pixels(image)


def sixteen_bits(data: bytes, height: int, width: int) -> np.ndarray:
    """Return the pixels of a PNG of 16 bits a channel, which Pillow would cut to 8: unpacked row by row."""
    import zlib

    colour, interlaced = data[25], data[28]
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    if interlaced:
        raise invalid("interlaced PNG files of 16 bits a channel are not read")
    packed, at = [], 8
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IDAT":
            packed.append(data[at + 8 : at + 8 + length])
        at += 12 + length
    stride = 2 * channels * width
    raw = zlib.decompressobj().decompress(b"".join(packed), (stride + 1) * height)
    if len(raw) != (stride + 1) * height:
        raise invalid("the PNG data is cut short")
    rows = np.frombuffer(raw, np.uint8).reshape(height, stride + 1)
    lines = _unfiltered(rows[:, 0].tolist(), rows[:, 1:], 2 * channels)
    return np.frombuffer(lines.tobytes(), ">u2").reshape(height, width, channels).astype(np.uint16)


def _unfiltered(filters: list[int], rows: np.ndarray, step: int) -> np.ndarray:
    """Return rows whose bytes were differences to a guess."""
    done = np.zeros((len(rows) + 1, rows.shape[1] + step), np.int32)
    for y, kind in enumerate(filters):
        line, above = done[y + 1], done[y]
        here = rows[y].astype(np.int32)
        if kind == 0:
            line[step:] = here
        elif kind == 2:
            line[step:] = (here + above[step:]) & 0xFF
        else:
            _unfilter_line(kind, here, line, above, step)
    return done[1:, step:].astype(np.uint8)


def _unfilter_line(kind: int, here: np.ndarray, line: np.ndarray, above: np.ndarray, step: int) -> None:
    if kind not in (1, 3, 4):
        raise invalid(f"{kind} is no filter of PNG")
    for x in range(0, len(here), step):
        left, up = line[x : x + step], above[x + step : x + 2 * step]
        if kind == 1:
            guess = left
        elif kind == 3:
            guess = (left + up) // 2
        else:
            corner = above[x : x + step]
            a, b, c = np.abs(up - corner), np.abs(left - corner), np.abs(left + up - 2 * corner)
            guess = np.where((a <= b) & (a <= c), left, np.where(b <= c, up, corner))
        line[x + step : x + 2 * step] = (here[x : x + step] + guess) & 0xFF


def _with_channels(array: np.ndarray, channels: int) -> np.ndarray:
    """Return pixels with 1 to 4 channels: grey and alpha are made or dropped."""
    own = array.shape[2]
    if own == channels:
        return array
    full = np.iinfo(array.dtype).max
    alpha = array[..., -1:] if own in (2, 4) else np.full((*array.shape[:2], 1), full, array.dtype)
    colour = array[..., : own - 1] if own in (2, 4) else array
    if channels >= 3 and colour.shape[2] == 1:
        colour = np.repeat(colour, 3, axis=2)
    elif channels <= 2 and colour.shape[2] == 3:
        colour = _grey(colour)
    return np.concatenate([colour, alpha], axis=2) if channels in (2, 4) else np.ascontiguousarray(colour)


def _grey(colour: np.ndarray) -> np.ndarray:
    """Return the grey of colours as libpng weighs them, in 32768ths; of 8 bits it cuts off, of 16 it rounds."""
    r, g, b = (colour[..., i].astype(np.int64) for i in range(3))
    half = 16384 if colour.dtype == np.uint16 else 0
    return ((9797 * r + 19234 * g + 3737 * b + half) >> 15).astype(colour.dtype)[..., None]


# --- GIF, BMP, WebP ---------------------------------------------------------------------------------------------------


def decode_gif(data: bytes) -> np.ndarray:
    """Return all frames of a GIF file [frames, height, width, 3], each as it is shown."""
    with opened(data, "gif") as image:
        count = getattr(image, "n_frames", 1)
        room_for((count, image.height, image.width, 3), 1)
        frames = np.empty((count, image.height, image.width, 3), np.uint8)
        for i in range(count):
            try:
                image.seek(i)
                frames[i] = np.asarray(image.convert("RGB"))
            except (EOFError, OSError, ValueError):
                if not i:
                    raise
                return frames[:i]  # what is there before the file ends
        return frames


def decode_bmp(data: bytes, channels: int = 0) -> np.ndarray:
    """Return the pixels of a BMP file of 8, 24 or 32 bits, rows from the top."""
    if len(data) < 32:
        raise invalid(f"Incomplete bmp content, requires at least 32 bytes to find the header, got {len(data)} bytes")
    if not data.startswith(b"BM"):
        raise invalid("the bytes are no BMP file: they do not start with 'BM'")
    start, _, width, height = struct.unpack("<IIii", data[10:26])
    bits = struct.unpack("<H", data[28:30])[0]
    own = bits // 8
    if bits not in (8, 24, 32):
        raise invalid(f"Number of channels inferred from header must be 1, 3 or 4, got {bits} bits a pixel")
    flipped, height = height < 0, abs(height)
    if width <= 0 or not height:
        raise invalid(f"the BMP file states a size of {width} x {height}")
    stride = (width * own + 3) // 4 * 4
    if height * width * own >= 2 * MOST_PIXELS:
        raise invalid(f"Total possible pixel bytes must be less than 2^30, got {width} x {height} x {own}")
    if start > len(data) or len(data) - start < stride * (height - 1) + width * own:
        raise invalid(f"Incomplete bmp content, requires {start + stride * height} bytes, got {len(data)} bytes")
    body = data[start : start + stride * height].ljust(stride * height, b"\0")
    rows = np.frombuffer(body, np.uint8).reshape(height, stride)[:, : width * own].reshape(height, width, own)
    rows = rows if flipped else rows[::-1]
    pixels = np.ascontiguousarray(rows[..., [2, 1, 0, 3][:own]] if own > 1 else rows)
    return _with_channels(pixels, channels) if channels else pixels


def decode_webp(data: bytes, channels: int = 0) -> np.ndarray:
    """Return the pixels of a WebP file, frame by frame."""
    with opened(data, "webp") as image:
        count, own = getattr(image, "n_frames", 1), 4 if image.mode == "RGBA" else 3
        if channels not in (0, own):
            raise invalid(f"Number of channels requested does not match input: {channels} for a file of {own}")
        room_for((count, image.height, image.width, own), 1)
        frames = np.empty((count, image.height, image.width, own), np.uint8)
        for i in range(count):
            image.seek(i)
            frames[i] = _pixels(image.convert(MODES[own]))
        return frames
