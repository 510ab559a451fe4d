"""The ops between image files and pixels. What the bytes mean is the affair of `codecs`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.op import Known, op
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.image import codecs
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid
from ebbflow.ops.strings.arrays import text_array

_JPEG = (
    "channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; try_recover_truncated: bool = false;"
    ' acceptable_fraction: float = 1.0; dct_method: string = ""'
)
DecodeJpeg = op(f"DecodeJpeg(contents:string) -> (image:uint8) | {_JPEG}", gradient=FLAT)
DecodeAndCropJpeg = op(
    f"DecodeAndCropJpeg(contents:string, crop_window:int32) -> (image:uint8) | {_JPEG}", gradient=FLAT
)
DecodePng = op(
    "DecodePng(contents:string) -> (image:dtype) | channels: int = 0; dtype: type in [uint8,uint16] = uint8",
    gradient=FLAT,
)
DecodeBmp = op("DecodeBmp(contents:string) -> (image:uint8) | channels: int = 0", gradient=FLAT)
DecodeGif = op("DecodeGif(contents:string) -> (image:uint8)", gradient=FLAT)
DecodeWebP = op(
    "DecodeWebP(contents:string) -> (image:dtype) | channels: int = 0; dtype: type in [uint8] = uint8", gradient=FLAT
)
DecodeImage = op(
    "DecodeImage(contents:string) -> (image:dtype) | channels: int = 0; dtype: type in [uint8,uint16,float] = uint8;"
    " expand_animations: bool = true",
    gradient=FLAT,
)


def _picture(contents: Known, *, channels: int) -> tuple[int | None, ...]:
    ranked(contents, 0)
    if channels < 0:
        raise errors.StaticShapeError(f"channels must be non-negative, got {channels}")
    return None, None, channels or None


@DecodeAndCropJpeg.shape
def _(contents, crop_window, *, channels):
    ranked(contents, 0)
    ranked(crop_window, 1)
    window = crop_window.as_dims
    height, width = window[2:] if window is not None and len(window) == 4 else (None, None)
    return height, width, channels or None


@DecodeGif.shape
def _(contents):
    ranked(contents, 0)
    return None, None, None, 3


@DecodeImage.shape
def _(contents, *, channels, expand_animations):
    ranked(contents, 0)
    return None if expand_animations else (None, None, channels or None)


for _op in (DecodeJpeg, DecodePng, DecodeBmp):
    _op.shape(_picture)
DecodeWebP.shape(lambda contents, *, channels: (None, *_picture(contents, channels=channels)))


def _bytes(contents: np.ndarray) -> bytes:
    if contents.ndim:
        raise invalid(f"contents must be scalar but got shape{show(contents.shape)}")
    if not contents.item():
        raise invalid("Input is empty.")
    return contents.item()


def _check(channels: int, allowed: tuple[int, ...], what: str) -> None:
    if channels not in allowed:
        raise invalid(f"channels must be {', '.join(map(str, allowed))} for {what}, got {channels}")


def _check_jpeg(channels: int, ratio: int, dct_method: str) -> None:
    _check(channels, (0, 1, 3), "JPEG")
    if ratio not in (1, 2, 4, 8):
        raise invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}" + f", got {dct_method!r}")


# TensorFlow reads any of the formats with each of these ops, as long as one image comes out.


def _any_picture(data: bytes, channels: int, wide: bool = False, **jpeg_options: Any) -> np.ndarray:
    kind = codecs.kind_of(data)
    if kind == "jpeg":
        _check(channels, (0, 1, 3), "JPEG")
        array = codecs.decode_jpeg(data, channels, **jpeg_options)
    elif kind == "png":
        return codecs.decode_png(data, channels, wide)
    elif kind == "gif":
        frames = codecs.decode_gif(data)
        if len(frames) != 1:
            raise invalid(f"Got {len(frames)} frames, but animated gifs can only be decoded by tf.io.decode_gif or "
                          "tf.io.decode_image")  # fmt: skip
        array = frames[0]
    elif kind == "bmp":
        raise invalid("Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead.")
    else:
        raise invalid("Unknown image file format. One of JPEG, PNG, GIF, BMP required.")
    return array.astype(np.uint16) * np.uint16(257) if wide else array


@DecodeJpeg.kernel
def _(xp, contents, *, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method):
    _check_jpeg(channels, ratio, dct_method)
    options = _options(ratio, fancy_upscaling, try_recover_truncated, dct_method)
    return _any_picture(_bytes(contents), channels, **options)


def _options(ratio: int, smooth: bool, recover: bool, dct_method: str) -> dict[str, Any]:
    return {"ratio": ratio, "smooth": smooth, "recover": recover, "exact": dct_method == "INTEGER_ACCURATE"}


@DecodeAndCropJpeg.kernel
def _(xp, contents, crop_window, *, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method):
    _check_jpeg(channels, ratio, dct_method)
    if crop_window.shape != (4,):
        raise invalid(f"crop_window must have four elements {show(crop_window.shape)}")
    data = _bytes(contents)
    if codecs.kind_of(data) != "jpeg":
        raise invalid("Unknown image file format. JPEG required for a crop while decoding.")
    options = _options(ratio, fancy_upscaling, try_recover_truncated, dct_method)
    image = codecs.decode_jpeg(data, channels, **options)
    top, left, height, width = crop_window.tolist()
    inside = top >= 0 and left >= 0 and top + height <= image.shape[0] and left + width <= image.shape[1]
    if not inside or height <= 0 or width <= 0:
        raise invalid(f"Invalid JPEG data or crop window: {crop_window.tolist()} does not fit {show(image.shape)}")
    return np.ascontiguousarray(image[top : top + height, left : left + width])


@DecodePng.kernel
def _(xp, contents, *, channels, dtype):
    _check(channels, (0, 1, 3, 4), "PNG")
    return _any_picture(_bytes(contents), channels, wide=dtype is dtypes.uint16)


@DecodeGif.kernel
def _(xp, contents):
    data = _bytes(contents)
    if codecs.kind_of(data) == "gif":
        return codecs.decode_gif(data)
    return _any_picture(data, 3)[None]


@DecodeBmp.kernel
def _(xp, contents, *, channels):
    _check(channels, (0, 3, 4), "BMP")
    data = _bytes(contents)
    kind = codecs.kind_of(data)
    if kind not in ("bmp", ""):
        raise invalid(f"Trying to decode {kind.upper()} format using a wrong op. Use `decode_image` instead.")
    return codecs.decode_bmp(data, channels)


@DecodeWebP.kernel
def _(xp, contents, *, channels):
    _check(channels, (0, 3, 4), "WebP")
    return codecs.decode_webp(_bytes(contents), channels)


@DecodeImage.kernel
def _(xp, contents, *, channels, dtype, expand_animations):
    _check(channels, (0, 1, 3, 4), "images")
    data = _bytes(contents)
    kind = codecs.kind_of(data)
    if kind == "gif":
        if channels not in (0, 3):
            raise invalid(f"channels must be 0 or 3 for GIF, got {channels}")
        frames = codecs.decode_gif(data)
        array = frames if expand_animations else frames[0]
    elif kind == "webp":
        if channels == 1 or dtype is not dtypes.uint8:
            raise invalid(f"WebP only supports 3 or 4 channels of uint8, got channels = {channels} of {dtype.name}")
        frames = codecs.decode_webp(data, channels)
        array = frames if expand_animations else frames[0]
    elif kind == "bmp":
        _check(channels, (0, 3, 4), "BMP")
        array = codecs.decode_bmp(data, channels)
    else:
        array = _any_picture(data, channels, wide=kind == "png" and dtype is not dtypes.uint8)
    return _in_dtype(array, dtype)


def _in_dtype(array: np.ndarray, dtype: Any) -> np.ndarray:
    if array.dtype == dtype.np:
        return array
    if dtype is dtypes.uint16:
        return array.astype(np.uint16) * np.uint16(256)
    scale = np.float32(1.0) / np.float32(np.iinfo(array.dtype).max)
    return array.astype(np.float32) * scale


ExtractJpegShape = op(
    "ExtractJpegShape(contents:string) -> (image_shape:output_type) | output_type: type in [int32,int64] = int32",
    gradient=FLAT,
)


@ExtractJpegShape.shape
def _(contents):
    ranked(contents, 0)
    return (3,)


@ExtractJpegShape.kernel
def _(xp, contents, *, output_type):
    data = _bytes(contents)
    if codecs.kind_of(data) != "jpeg":
        raise invalid(f"Invalid JPEG data, data size {len(data)}")
    return np.array(codecs.jpeg_size(data), output_type.np)


# --- encode -----------------------------------------------------------------------------------------------------------

EncodeJpeg = op(
    'EncodeJpeg(image:uint8) -> (contents:string) | format: string in ["","grayscale","rgb"] = ""; quality: int = 95;'
    " progressive: bool = false; optimize_size: bool = false; chroma_downsampling: bool = true;"
    ' density_unit: string in ["in","cm"] = "in"; x_density: int = 300; y_density: int = 300;'
    ' xmp_metadata: string = ""',
    gradient=FLAT,
)
EncodeJpegVariableQuality = op(
    "EncodeJpegVariableQuality(images:uint8, quality:int32) -> (contents:string)", gradient=FLAT
)


@EncodeJpeg.shape
def _(image):
    ranked(image, 3)
    return ()


@EncodeJpegVariableQuality.shape
def _(images, quality):
    ranked(images, 3)
    ranked(quality, 0)
    return ()


def _check_pixels(image: np.ndarray, form: str) -> None:
    if image.ndim != 3:
        raise invalid(f"image must be 3-dimensional{show(image.shape)}")
    if not image.size:
        raise invalid(f"image is empty: its shape is {show(image.shape)}")
    allowed = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}[form]
    if image.shape[2] not in allowed:
        raise invalid(f"image must have {' or '.join(map(str, allowed))} channels, got {show(image.shape)}")


def _encoded(image: np.ndarray, quality: int, **options: Any) -> np.ndarray:
    if not 0 <= quality <= 100:
        raise invalid(f"quality must be in [0,100], got {quality}")
    return text_array([codecs.encode_jpeg(np.ascontiguousarray(image), quality, **options)], ())


@EncodeJpeg.kernel
def _(
    xp, image, *, format, quality, progressive, optimize_size, chroma_downsampling, density_unit, x_density, y_density,
    xmp_metadata,
):  # fmt: skip
    _check_pixels(image, format)
    return _encoded(
        image, quality, progressive=progressive, optimize=optimize_size, subsample=chroma_downsampling,
        unit=density_unit, density=(x_density, y_density), xmp=xmp_metadata.encode(),
    )  # fmt: skip


@EncodeJpegVariableQuality.kernel
def _(xp, images, quality):
    _check_pixels(images, "")
    if quality.ndim:
        raise invalid(f"quality must be scalar: {show(quality.shape)}")
    return _encoded(
        images, int(quality), progressive=False, optimize=False, subsample=True, unit="in", density=(300, 300), xmp=b""
    )
