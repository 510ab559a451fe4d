"""Ops on sound: WAV files, the spectrogram of a signal, and the cepstra that early speech models listen to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.audio.wav import decode_wav as samples_of
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid, room_for

DecodeWav = op(
    "DecodeWav(contents:string) -> (audio:float, sample_rate:int32)"
    " | desired_channels: int = -1; desired_samples: int = -1",
    gradient=FLAT,
)


@DecodeWav.shape
def _(contents, *, desired_channels, desired_samples):
    ranked(contents, 0)
    return [
        (desired_samples if desired_samples >= 0 else None, desired_channels if desired_channels >= 0 else None),
        (),
    ]


@DecodeWav.kernel
def _(xp, contents, *, desired_channels, desired_samples):
    if contents.ndim:
        raise invalid(f"contents must be scalar but got shape{show(contents.shape)}")
    audio, rate = samples_of(contents.item())
    channels = desired_channels if desired_channels >= 0 else audio.shape[1]
    frames = desired_samples if desired_samples >= 0 else audio.shape[0]
    room_for((frames, channels), 4)
    result = np.zeros((frames, channels), np.float32)
    some = audio[:frames]
    result[: len(some)] = some[:, np.minimum(np.arange(channels), audio.shape[1] - 1)]  # the last stands for more
    return result, np.array(rate, np.int32)


AudioSpectrogram = op(
    "AudioSpectrogram(input:float) -> (spectrogram:float)"
    " | window_size: int; stride: int; magnitude_squared: bool = false",
    gradient=FLAT,
)


def _next_power_of_two(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()


@AudioSpectrogram.shape
def _(input, *, window_size, stride):
    frames, channels = ranked(input, 2)
    if window_size < 2 or stride < 1:
        raise errors.StaticShapeError(f"window_size must be at least 2 and stride 1, got {window_size} and {stride}")
    count = None if frames is None else 0 if frames < window_size else 1 + (frames - window_size) // stride
    return channels, count, 1 + _next_power_of_two(window_size) // 2


@AudioSpectrogram.kernel
def _(xp, input, *, window_size, stride, magnitude_squared):
    if input.ndim != 2:
        raise invalid(f"input must be 2-dimensional, got shape {show(input.shape)}")
    if window_size < 2 or stride < 1:
        raise invalid(f"window_size must be at least 2 and stride at least 1, got {window_size} and {stride}")
    frames, channels = input.shape
    count = 0 if frames < window_size else 1 + (frames - window_size) // stride
    size = _next_power_of_two(window_size)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_size) / window_size)
    places = np.arange(count)[:, None] * stride + np.arange(window_size)
    framed = input.T.astype(np.float64)[:, places] * window if count else np.zeros((channels, 0, window_size))
    spectrum = np.fft.rfft(framed, size, axis=-1)
    power = spectrum.real**2 + spectrum.imag**2
    return (power if magnitude_squared else np.sqrt(power)).astype(np.float32)


Mfcc = op(
    "Mfcc(spectrogram:float, sample_rate:int32) -> (output:float) | upper_frequency_limit: float = 4000.0;"
    " lower_frequency_limit: float = 20.0; filterbank_channel_count: int = 40; dct_coefficient_count: int = 13",
    gradient=FLAT,
)


@Mfcc.shape
def _(spectrogram, sample_rate, *, dct_coefficient_count):
    channels, frames, _ = ranked(spectrogram, 3)
    ranked(sample_rate, 0)
    return channels, frames, dct_coefficient_count


@Mfcc.kernel
def _(
    xp, spectrogram, sample_rate, *, upper_frequency_limit, lower_frequency_limit, filterbank_channel_count,
    dct_coefficient_count,
):  # fmt: skip
    if spectrogram.ndim != 3:
        raise invalid(f"spectrogram must be 3-dimensional, got shape {show(spectrogram.shape)}")
    if sample_rate.ndim or int(sample_rate) <= 0:
        raise invalid(f"sample_rate must be a positive scalar, got {sample_rate.tolist()}")
    if not 0 < dct_coefficient_count <= filterbank_channel_count:
        raise invalid(f"dct_coefficient_count {dct_coefficient_count} must be in (0, {filterbank_channel_count}]")
    if not 0 <= lower_frequency_limit < upper_frequency_limit:
        raise invalid(f"the frequency limits must rise, got {lower_frequency_limit} and {upper_frequency_limit}")
    bank = _filterbank(spectrogram.shape[2], int(sample_rate), lower_frequency_limit, upper_frequency_limit,
                       filterbank_channel_count)  # fmt: skip
    energies = np.sqrt(spectrogram.astype(np.float64)) @ bank
    logs = np.log(np.maximum(energies, 1e-12))
    n = filterbank_channel_count
    angles = np.pi / n * np.outer(np.arange(n) + 0.5, np.arange(dct_coefficient_count))
    return (logs @ (np.sqrt(2.0 / n) * np.cos(angles))).astype(np.float32)


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log1p(hertz / 700.0)


def _filterbank(length: int, rate: int, low: float, high: float, channels: int) -> np.ndarray:
    """Return triangles on the mel scale [frequencies, channels]: each frequency goes to the two it lies between."""
    least, most = _mel(low), _mel(high)
    step = (most - least) / (channels + 1)
    centres = least + step * np.arange(1, channels + 2)
    hertz = 0.5 * rate / (length - 1) if length > 1 else 0.0
    first, last = int(1.5 + low / hertz) if hertz else 0, int(high / hertz) if hertz else -1
    bank = np.zeros((length, channels))
    for i in range(max(first, 0), min(last, length - 1) + 1):
        mel = _mel(i * hertz)
        channel = int(np.searchsorted(centres, mel, "left")) - 1
        below = least if channel < 0 else centres[channel]
        weight = (centres[min(channel + 1, channels)] - mel) / (centres[min(channel + 1, channels)] - below)
        if channel >= 0:
            bank[i, channel] += weight
        if channel + 1 < channels:
            bank[i, channel + 1] += 1 - weight
    return bank


# --- public -----------------------------------------------------------------------------------------------------------


def decode_wav(
    contents: TensorLike, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return the samples [frames, channels] of a WAV file, numbers in [-1, 1], and its sample rate."""
    return DecodeWav(contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name)


def audio_spectrogram(
    input: TensorLike, window_size: int, stride: int, magnitude_squared: bool = False, name: str | None = None
) -> Any:
    """Return the spectrogram [channels, windows, frequencies] of sound [frames, channels]."""
    return AudioSpectrogram(
        input, window_size=window_size, stride=stride, magnitude_squared=magnitude_squared, name=name
    )


def mfcc(
    spectrogram: TensorLike,
    sample_rate: Any,
    upper_frequency_limit: float = 4000,
    lower_frequency_limit: float = 20,
    filterbank_channel_count: int = 40,
    dct_coefficient_count: int = 13,
    name: str | None = None,
) -> Any:
    """Return the cepstral coefficients of spectrograms of squared magnitudes."""
    return Mfcc(
        spectrogram, sample_rate, upper_frequency_limit=upper_frequency_limit,
        lower_frequency_limit=lower_frequency_limit, filterbank_channel_count=filterbank_channel_count,
        dct_coefficient_count=dct_coefficient_count, name=name,
    )  # fmt: skip
