"""Spectra of frames: the short-time Fourier transform, the modified cosine transform, and back.

Compositions of frames, windows and transforms, so gradients and compiled functions come with them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.lengths import known_number, lengths_of, packed, packed_pairs
from ebbflow.ops.signal.cosine import dct
from ebbflow.ops.signal.fft import irfft, rfft
from ebbflow.ops.signal.frames import frame, overlap_and_add
from ebbflow.ops.signal.windows import hann_window, vorbis_window


def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the half spectrum of each frame of the signals: [..., frames, fft_length // 2 + 1].

    >>> stft(np.ones(8, np.float32), 4, 2).shape
    TensorShape([3, 3])
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert(signals)
        if signals.shape.rank == 0:
            raise ValueError("signals must have at least one axis, got a scalar")
        length = known_number(frame_length)
        size = _enclosing_power_of_two(length) if fft_length is None else known_number(fft_length)
        framed = frame(signals, length, known_number(frame_step), pad_end=pad_end)
        if window_fn is not None:
            framed = framed * window_fn(length, dtype=framed.dtype)
        return rfft(framed, packed([size]))


def _enclosing_power_of_two(value: Any) -> Any:
    """Return 2**k for the smallest k such that it is no less than `value`."""
    if isinstance(value, int):
        return int(2 ** math.ceil(math.log2(value))) if value > 0 else 1
    wide = raw.Log(raw.Cast(value, DstT=dtypes.float32)) / np.float32(math.log(2.0))
    return raw.Cast(raw.Pow(np.float32(2.0), raw.Ceil(wide)), DstT=value.dtype)


def inverse_stft_window_fn(
    frame_step: TensorLike, forward_window_fn: Callable[..., Any] = hann_window, name: str | None = None
) -> Callable[..., Any]:
    """Return the function that makes the window which undoes another's, where frames overlap by this step."""

    def inverse_window(frame_length: Any, dtype: Any) -> Any:
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length, step = known_number(frame_length), known_number(frame_step)
            window = forward_window_fn(length, dtype=dtype)
            squares = window * window
            overlaps = -(-length // step)
            filled = raw.Pad(squares, packed_pairs([(0, overlaps * step - length)]))
            sums = raw.Sum(raw.Reshape(filled, packed([overlaps, step])), np.array([0], np.int32), keep_dims=True)
            spread = raw.Reshape(raw.Tile(sums, packed([overlaps, 1])), packed([overlaps * step]))
            return window / raw.Slice(spread, np.zeros(1, np.int32), packed([length]))

    return inverse_window


def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """Return the signal of the spectra of its frames."""
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert(stfts)
        length, step = known_number(frame_length), known_number(frame_step)
        if isinstance(length, int) and length <= 0:
            raise ValueError(f"frame_length must be positive, got {length}")
        size = _enclosing_power_of_two(length) if fft_length is None else known_number(fft_length)
        frames = irfft(stfts, packed([size]))
        *outer, own = lengths_of(frames)
        rank = len(outer) - 1
        if isinstance(own, int) and isinstance(length, int):
            if own > length:
                frames = frames[..., :length]
            elif own < length:
                frames = raw.Pad(frames, packed_pairs([(0, 0)] * (rank + 1) + [(0, length - own)]))
        else:
            frames = frames[..., :length]
            missing = raw.Maximum(length - lengths_of(frames)[-1], 0)
            frames = raw.Pad(frames, packed_pairs([(0, 0)] * (rank + 1) + [(0, missing)]))
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=frames.dtype)
        return overlap_and_add(frames, step)


def mdct(
    signals: TensorLike,
    frame_length: TensorLike,
    window_fn: Callable[..., Any] | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the modified cosine transform of frames that overlap by half: [..., frames, frame_length // 2]."""
    with name_scope(name, "mdct", [signals, frame_length]):
        signals = convert(signals)
        length = _divisible(frame_length)
        half = length // 2
        framed = frame(signals, length, half, pad_end=pad_end)
        window = _window(window_fn, length, framed.dtype)
        framed = framed * window
        a, b, c, d = raw.Split(np.array(-1, np.int32), framed, num_split=4)
        back = functools.partial(raw.ReverseV2, axis=np.array([-1], np.int32))
        folded = raw.ConcatV2([-back(c) - d, a - back(b)], np.array(-1, np.int32))
        return dct(folded, type=4, norm=norm)


def inverse_mdct(
    mdcts: TensorLike,
    window_fn: Callable[..., Any] | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the signal of which these are the modified cosine transforms."""
    with name_scope(name, "inverse_mdct", [mdcts]):
        mdcts = convert(mdcts)
        half = lengths_of(mdcts)[-1]
        if norm is None:
            scale = (
                0.5 / raw.Cast(half, DstT=mdcts.dtype)
                if not isinstance(half, int)
                else np.array(0.5 / half, mdcts.dtype.np)
            )
            unfolded = scale * dct(mdcts, type=4)
        elif norm == "ortho":
            unfolded = dct(mdcts, type=4, norm="ortho")
        else:
            raise ValueError(f"norm must be None or 'ortho', got {norm!r}")
        first, second = raw.Split(np.array(-1, np.int32), unfolded, num_split=2)
        back = functools.partial(raw.ReverseV2, axis=np.array([-1], np.int32))
        real = raw.ConcatV2([second, -back(second), -back(first), -first], np.array(-1, np.int32))
        return overlap_and_add(real * _window(window_fn, 2 * half, real.dtype), half)


def _divisible(frame_length: Any) -> Any:
    length = known_number(frame_length)
    if isinstance(length, int) and length % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    return length


def _window(window_fn: Any, length: Any, dtype: Any) -> Any:
    if window_fn is not None:
        return window_fn(length, dtype=dtype)
    return np.array(1.0 / math.sqrt(2.0), dtype.np)
