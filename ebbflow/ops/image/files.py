"""The public functions between image files and pixels: `tf.io.decode_jpeg` and its kin."""

from __future__ import annotations

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.image.colour import convert_image_dtype


def decode_jpeg(
    contents: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """Return the pixels of a JPEG file [height, width, channels]; chroma is always upscaled smoothly."""
    return raw.DecodeJpeg(
        contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction, dct_method=dct_method,
        name=name,
    )  # fmt: skip


def decode_and_crop_jpeg(
    contents: TensorLike,
    crop_window: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """Return a part [top, left, height, width] of the pixels of a JPEG file."""
    return raw.DecodeAndCropJpeg(
        contents, crop_window, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction, dct_method=dct_method,
        name=name,
    )  # fmt: skip


def decode_png(
    contents: TensorLike, channels: int = 0, dtype: DTypeLike = dtypes.uint8, name: str | None = None
) -> Tensor:
    """Return the pixels of a PNG file, of 8 or 16 bits."""
    return raw.DecodePng(contents, channels=channels, dtype=dtype, name=name)


def decode_bmp(contents: TensorLike, channels: int = 0, name: str | None = None) -> Tensor:
    """Return the pixels of a BMP file."""
    return raw.DecodeBmp(contents, channels=channels, name=name)


def decode_gif(contents: TensorLike, name: str | None = None) -> Tensor:
    """Return the frames of a GIF file [frames, height, width, 3]."""
    return raw.DecodeGif(contents, name=name)


def decode_webp(
    contents: TensorLike, channels: int = 0, dtype: DTypeLike = dtypes.uint8, name: str | None = None
) -> Tensor:
    """Return the pixels of a WebP file, with an axis for frames in front."""
    return raw.DecodeWebP(contents, channels=channels, dtype=dtype, name=name)


def decode_image(
    contents: TensorLike,
    channels: int | None = None,
    dtype: DTypeLike = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """Return the pixels of a JPEG, PNG, GIF, BMP or WebP file; GIF and WebP have an axis for frames in front."""
    with name_scope(name, "decode_image"):
        channels = 0 if channels is None else channels
        if channels not in (0, 1, 3, 4):
            raise ValueError(f"`channels` must be in (None, 0, 1, 3, 4). Got {channels}")
        return raw.DecodeImage(contents, channels=channels, dtype=dtype, expand_animations=expand_animations)


def extract_jpeg_shape(contents: TensorLike, output_type: DTypeLike = dtypes.int32, name: str | None = None) -> Tensor:
    """Return [height, width, channels] of a JPEG file without decoding it."""
    return raw.ExtractJpegShape(contents, output_type=output_type, name=name)


def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Return whether bytes begin as a JPEG file does."""
    with name_scope(name, "is_jpeg"):
        return raw.Equal(raw.Substr(contents, 0, 3), b"\xff\xd8\xff")


def encode_jpeg(
    image: TensorLike,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """Return the JPEG file of pixels [height, width, 1 or 3] of bytes."""
    return raw.EncodeJpeg(
        image, format=format, quality=quality, progressive=progressive, optimize_size=optimize_size,
        chroma_downsampling=chroma_downsampling, density_unit=density_unit, x_density=x_density, y_density=y_density,
        xmp_metadata=xmp_metadata, name=name,
    )  # fmt: skip


def adjust_jpeg_quality(
    image: TensorLike, jpeg_quality: TensorLike, dct_method: str = "", name: str | None = None
) -> Tensor:
    """Return an image as it looks after it was a JPEG file of this quality."""
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert(image, name="image")
        channels = image.shape.as_list()[-1]
        own = image.dtype
        pixels = convert_image_dtype(image, dtypes.uint8, saturate=True)
        contents = raw.EncodeJpegVariableQuality(pixels, convert(jpeg_quality, dtypes.int32))
        decoded = raw.DecodeJpeg(contents, channels=channels, dct_method=dct_method)
        return convert_image_dtype(decoded, own, saturate=True)
