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
