"""Kernels whose spectra are those of circulant operators. Knows arrays of a grid, not operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.signal import fft

FORWARD: dict[int, Any] = {1: fft.fft, 2: fft.fft2d, 3: fft.fft3d}
"""The Fourier transform along the last axes, by their number."""


def as_complex(x: TensorLike) -> Tensor:
    """Return a tensor as complex numbers of its precision."""
    x = convert(x)
    if x.dtype.is_complex:
        return x
    return raw.Cast(x, DstT=dtypes.complex128 if x.dtype == dtypes.float64 else dtypes.complex64)


def _offsets(size: int) -> np.ndarray:
    """Return how far each place of a circle is from the first, as a part of the way around, half of them negative."""
    half = size // 2
    return ((np.arange(size) + half) % size - half) / max(size - 1, 1)


def exponential_power_convolution_kernel(
    grid_shape: Sequence[int],
    length_scale: TensorLike,
    power: TensorLike | None = None,
    divisor: TensorLike | None = None,
    zero_inflation: TensorLike | None = None,
) -> Tensor:
    """Return exp(-Σ |distance / length_scale| ** power / divisor) for every place of a grid that closes on itself.

    `zero_inflation` is how much of a kernel that is 1 at the first place and 0 elsewhere is mixed in.

    >>> kernel = exponential_power_convolution_kernel([3], [1.0], power=1.0, divisor=1.0)
    >>> [round(float(x), 2) for x in kernel]
    [1.0, 0.61, 0.61]
    """
    scale = convert(length_scale)
    exponent = convert(2.0 if power is None else power, scale.dtype)
    divided_by = exponent if divisor is None else convert(divisor, scale.dtype)
    total: Any = raw.Fill(list(grid_shape), raw.Cast(0.0, DstT=scale.dtype))
    for axis, size in enumerate(grid_shape):
        along = [-1 if place == axis else 1 for place in range(len(grid_shape))]
        distance = convert(np.abs(_offsets(int(size))).reshape(along).astype(scale.dtype.as_numpy_dtype))
        total = total + raw.RealDiv(raw.Pow(raw.RealDiv(distance, scale[axis]), exponent), divided_by)
    kernel = raw.Exp(-total)
    if zero_inflation is None:
        return kernel
    share = convert(zero_inflation, scale.dtype)
    first = np.zeros([int(size) for size in grid_shape], scale.dtype.as_numpy_dtype)
    first[(0,) * first.ndim] = 1
    return (1 - share) * kernel + share * convert(first)
