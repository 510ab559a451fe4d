"""Mel scale and cepstra: from linear spectrograms to what speech recognition listens to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.lengths import lengths_of
from ebbflow.ops.signal.cosine import dct

BREAK_HERTZ = 700.0
HIGH_Q = 1127.0


def linear_to_mel_weight_matrix(
    num_mel_bins: AnyTensor = 20,
    num_spectrogram_bins: TensorLike = 129,
    sample_rate: AnyTensor = 8000,
    lower_edge_hertz: TensorLike = 125.0,
    upper_edge_hertz: TensorLike = 3800.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Return the matrix [num_spectrogram_bins, num_mel_bins] by which a spectrogram becomes one in mel.

    >>> linear_to_mel_weight_matrix(4, 9).shape
    TensorShape([9, 4])
    """
    dtype = dtypes.as_dtype(dtype)
    with name_scope(name, "linear_to_mel_weight_matrix"):
        _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        sample_rate, lower, upper = (_as_float(x, dtype) for x in (sample_rate, lower_edge_hertz, upper_edge_hertz))
        nyquist = sample_rate / 2.0
        # the lowest bin, which is no frequency, gets no weight
        linear = raw.LinSpace(np.array(0, dtype.np), nyquist, num_spectrogram_bins)[1:]
        mels = raw.ExpandDims(_mel(linear), np.array(1, np.int32))
        edges = raw.LinSpace(_mel(lower), _mel(upper), num_mel_bins + 2)
        lower_edge, centre, upper_edge = edges[:-2], edges[1:-1], edges[2:]
        rising = (mels - lower_edge) / (centre - lower_edge)
        falling = (upper_edge - mels) / (upper_edge - centre)
        weights = raw.Maximum(np.array(0, dtype.np), raw.Minimum(rising, falling))
        return raw.Pad(weights, np.array([[1, 0], [0, 0]], np.int32))


def _as_float(x: Any, dtype: Any) -> Any:
    return raw.Cast(x, DstT=dtype) if isinstance(x, Tensor) else convert(float(x), dtype)


def _mel(hertz: Any) -> Any:
    return HIGH_Q * raw.Log(1.0 + hertz / BREAK_HERTZ)


def _check(bins: Any, sample_rate: Any, lower: Any, upper: Any, dtype: Any) -> None:
    if isinstance(bins, int) and bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bins}")
    if not isinstance(lower, Tensor) and lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if not isinstance(lower, Tensor) and not isinstance(upper, Tensor) and lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    known = sample_rate.constant_value() if isinstance(sample_rate, Tensor) else sample_rate
    if known is not None:
        if known <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {known}")
        if not isinstance(upper, Tensor) and upper > known / 2:
            raise ValueError(f"upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
                             f"Got {upper} for sample_rate: {known}")  # fmt: skip
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype!r}")


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: TensorLike, name: str | None = None) -> Tensor:
    """Return the cepstral coefficients of log-mel spectrograms [..., num_mel_bins]."""
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        spectra = convert(log_mel_spectrograms)
        bins = lengths_of(spectra)[-1]
        if isinstance(bins, int) and bins == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {spectra!r}")
        if isinstance(bins, int):
            return dct(spectra, type=2) * np.array(1.0 / math.sqrt(bins * 2.0), spectra.dtype.np)
        return dct(spectra, type=2) * raw.Rsqrt(raw.Cast(bins, DstT=spectra.dtype) * 2.0)
