"""WAV from samples: 16-bit PCM behind the 44-byte header. Knows NumPy and the format, nothing else."""

from __future__ import annotations

import struct

import numpy as np

from ebbflow.core import errors


def encode_wav(samples: np.ndarray, sample_rate: int) -> bytes:
    """A WAV file of floats [frames, channels]; beyond [-1, 1] they are cut off."""
    channels = samples.shape[1]
    if channels == 0:
        raise _invalid("audio is null")
    if sample_rate >= 2**32:
        raise _invalid(f"sample_rate must be in (0, 2^32), got: {sample_rate}")
    if channels >= 2**16:
        raise _invalid(f"num_channels must be in (0, 2^16), got: {channels}")
    if 2 * samples.size + 36 >= 2**32:
        raise _invalid("Provided channels and frames cannot be encoded as a WAV.")
    data = _as_int16(samples).tobytes()
    block = 2 * channels
    bytes_per_second = sample_rate * block & 0xFFFFFFFF
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, sample_rate, bytes_per_second, block & 0xFFFF, 16)
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + len(data), b"WAVE") + fmt + struct.pack("<4sI", b"data", len(data)) + data
    )


def _as_int16(samples: np.ndarray) -> np.ndarray:
    scaled = np.nan_to_num(samples.astype(np.float64) * 32768, nan=0.0)
    rounded = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)  # halves go away from zero, as C rounds
    return np.clip(rounded, -32768, 32767).astype("<i2")


def _invalid(text: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, text)


def decode_wav(data: bytes) -> tuple[np.ndarray, int]:
    """Return the samples [frames, channels], numbers in [-1, 1], and the sample rate of a WAV file of 16-bit PCM."""
    if len(data) < 12 or data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise _invalid("Header mismatch: Expected RIFF … WAVE, the bytes are no WAV file")
    layout: tuple[int, int] | None = None
    at = 12
    while at + 8 <= len(data):
        kind, length = struct.unpack("<4sI", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"fmt ":
            layout = _layout(body)
        elif kind == b"data":
            if layout is None:
                raise _invalid("Data chunk found before format chunk")
            return _samples(body, length, layout[0]), layout[1]
        at += 8 + length + length % 2
    raise _invalid("No data chunk found in the WAV file")


def _layout(body: bytes) -> tuple[int, int]:
    """Return the channels and the sample rate that a format chunk states."""
    if len(body) < 16:
        raise _invalid(f"Bad format chunk size for WAV: Expected at least 16, but got {len(body)}")
    form, channels, rate, _, _, bits = struct.unpack("<HHIIHH", body[:16])
    if form not in (1, 0xFFFE):
        raise _invalid(f"Bad audio format for WAV: Expected 1 (PCM), but got {form}")
    if bits != 16:
        raise _invalid(f"Can only read 16-bit WAV files, but received {bits}")
    if not channels or not rate:
        raise _invalid(f"Bad number of channels or sample rate for WAV: {channels} and {rate}")
    return channels, rate


def _samples(body: bytes, length: int, channels: int) -> np.ndarray:
    if len(body) < length:
        raise _invalid(f"Data too short when trying to read: {length} bytes are stated, {len(body)} are there")
    frames = length // (2 * channels)
    values = np.frombuffer(body, "<i2", frames * channels).astype(np.float32) * np.float32(1 / 32768)
    return values.reshape(frames, channels)
