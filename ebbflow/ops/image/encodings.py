"""Pictures and sound as the bytes of a file: `EncodePng`, `EncodeWav`.

What the bytes are is the affair of `png` and `wav`.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.audio.wav import encode_wav
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.image.png import encode_png
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid

EncodePng = op(
    "EncodePng(image:T) -> (contents:string) | compression: int = -1; T: type in [uint8,uint16] = uint8", gradient=FLAT
)


@EncodePng.shape
def _(image):
    if image.dims is not None and len(image.dims) < 3:
        raise errors.StaticShapeError(f"Shape must be at least rank 3 but is rank {len(image.dims)}")
    return None if image.dims is None else image.dims[:-3]


@EncodePng.kernel
def _(xp, image, *, compression):
    if image.ndim < 3:
        raise invalid(f"images must have at least rank 3, got shape {show(image.shape)}")
    if not -1 <= compression <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}")
    if not 1 <= image.shape[-1] <= 4:
        raise invalid(f"image must have 1, 2, 3, or 4 channels, got {image.shape[-1]}")
    if not image.shape[-2] or not image.shape[-3]:
        raise invalid(f"image is empty: its shape is {show(image.shape)}")
    batch = image.shape[:-3]
    contents = np.empty(batch, object)
    for at in np.ndindex(batch):
        contents[at] = encode_png(image[at], compression)
    return contents


EncodeWav = op("EncodeWav(audio:float, sample_rate:int32) -> (contents:string)", gradient=FLAT)


@EncodeWav.shape
def _(audio, sample_rate):
    ranked(audio, 2)
    return ()


@EncodeWav.kernel
def _(xp, audio, sample_rate):
    if audio.ndim != 2:
        raise invalid(f"audio must be 2-dimensional, got shape {show(audio.shape)}")
    if sample_rate.ndim:
        raise invalid(f"sample_rate must be a scalar, got shape {show(sample_rate.shape)}")
    if int(sample_rate) <= 0:
        raise invalid(f"sample_rate must be positive, got {int(sample_rate)}")
    box = np.empty((), object)
    box[()] = encode_wav(audio, int(sample_rate))
    return box


def encode_png_image(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """Return pictures [..., height, width, channels] of bytes as PNG files.

    >>> encode_png_image(np.zeros((1, 1, 1), np.uint8)).numpy()[:4]
    b'\\x89PNG'
    """
    return EncodePng(image, compression=compression, name=name)


def encode_wav_audio(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """Return sound [frames, channels], numbers in [-1, 1], as a WAV file.

    >>> encode_wav_audio(np.zeros((2, 1), np.float32), 8000).numpy()[:4]
    b'RIFF'
    """
    return EncodeWav(audio, sample_rate, name=name)
