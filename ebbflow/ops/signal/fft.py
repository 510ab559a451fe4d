"""The public functions of the Fourier transform: `tf.signal.fft` and its kin, `fftshift`.

Lengths that are not given come from the shape; an input that is too short for those that are is filled up with zeros.
Knows the ops by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, ShapeLike, TensorLike
from ebbflow.ops.arrays.reversing import roll
from ebbflow.ops.declare import raw
from ebbflow.ops.lengths import larger, length_of, lengths_of, packed
from ebbflow.ops.signal.fft_ops import filled, lengths_of_last


def fft(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the Fourier transform of complex numbers along the last axis.

    >>> fft(np.array([1, 0, 0, 0], np.complex64)).numpy().real.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return raw.FFT(input, name=name)


def ifft(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the inverse Fourier transform along the last axis."""
    return raw.IFFT(input, name=name)


def fft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the Fourier transform over the last two axes."""
    return raw.FFT2D(input, name=name)


def ifft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the inverse Fourier transform over the last two axes."""
    return raw.IFFT2D(input, name=name)


def fft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the Fourier transform over the last three axes."""
    return raw.FFT3D(input, name=name)


def ifft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the inverse Fourier transform over the last three axes."""
    return raw.IFFT3D(input, name=name)


# --- real signals -----------------------------------------------------------------------------------------------------


def _forward(op_name: str, rank: int, default: str) -> Callable[..., Any]:
    def transform(input_tensor: TensorLike, fft_length: ShapeLike = None, name: str | None = None) -> Tensor:
        with name_scope(name, default, [input_tensor, fft_length]) as scope:
            x = convert(input_tensor, hint=dtypes.float32)
            x.shape.with_rank_at_least(rank)
            if x.dtype not in (dtypes.float32, dtypes.float64):
                raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x.dtype!r}")
            kind = dtypes.complex64 if x.dtype is dtypes.float32 else dtypes.complex128
            if fft_length is None:
                fft_length = packed(lengths_of_last(x, rank))
            else:
                fft_length = convert(fft_length, dtypes.int32)
                fft_length.shape.with_rank(1)
                x = _filled(x, fft_length, rank, half=False)
            return raw.__getattr__(op_name)(x, fft_length, Tcomplex=kind, name=scope or None)

    transform.__name__ = transform.__qualname__ = default
    transform.__doc__ = f"Return the Fourier transform of a real signal over its last axes ({rank}), half of it kept."
    return transform


def _backward(op_name: str, rank: int, default: str) -> Callable[..., Any]:
    def transform(input_tensor: TensorLike, fft_length: ShapeLike = None, name: str | None = None) -> Tensor:
        with name_scope(name, default, [input_tensor, fft_length]) as scope:
            x = convert(input_tensor, hint=dtypes.complex64)
            x.shape.with_rank_at_least(rank)
            if x.dtype not in (dtypes.complex64, dtypes.complex128):
                raise ValueError(f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x.dtype!r}")
            real = dtypes.float32 if x.dtype is dtypes.complex64 else dtypes.float64
            if fft_length is None:
                lengths = lengths_of_last(x, rank)
                fft_length = packed([*lengths[:-1], larger(0, 2 * (lengths[-1] - 1))])
            else:
                fft_length = convert(fft_length, dtypes.int32)
                fft_length.shape.with_rank(1)
                x = _filled(x, fft_length, rank, half=True)
            return raw.__getattr__(op_name)(x, fft_length, Treal=real, name=scope or None)

    transform.__name__ = transform.__qualname__ = default
    transform.__doc__ = f"Return the real signal whose half spectrum, over the last axes ({rank}), this is."
    return transform


def _filled(x: Any, fft_length: Any, rank: int, half: bool) -> Any:
    """Return `x` with zeros behind its last axes, as many as the transform of these lengths needs."""
    known = fft_length.constant_value()
    wanted = known.tolist() if known is not None else [fft_length[i] for i in range(rank)]
    if len(wanted) != rank or (x._dims is not None and len(x._dims) < rank):
        return x  # the op says what is wrong
    if half:
        last = wanted[-1]
        wanted[-1] = (last // 2 + 1 if last > 0 else 0) if isinstance(last, int) else last // 2 + 1
    own = lengths_of_last(x, rank)
    missing = [larger(0, n - k) for n, k in zip(wanted, own, strict=True)]
    if all(isinstance(n, int) and n == 0 for n in missing):
        return x
    return filled(x, missing)


rfft = _forward("RFFT", 1, "rfft")
rfft2d = _forward("RFFT2D", 2, "rfft2d")
rfft3d = _forward("RFFT3D", 3, "rfft3d")
irfft = _backward("IRFFT", 1, "irfft")
irfft2d = _backward("IRFFT2D", 2, "irfft2d")
irfft3d = _backward("IRFFT3D", 3, "irfft3d")


# --- over any axes ----------------------------------------------------------------------------------------------------


def _over_axes(op_name: str, default: str, real: bool, half: bool, inverse: bool) -> Callable[..., Any]:
    def transform(
        input_tensor: TensorLike,
        fft_length: ShapeLike = None,
        axes: Axis = None,
        norm: str | None = None,
        name: str | None = None,
    ) -> Tensor:
        with name_scope(name, default, [input_tensor, fft_length, axes]):
            x = convert(input_tensor, hint=dtypes.float32 if real else dtypes.complex64)
            rank = len(lengths_of(x))
            if axes is None:
                count = rank if fft_length is None else len(convert(fft_length, dtypes.int32).constant_value())
                axes = list(range(rank - count, rank))
            places = [int(a) for a in np.asarray(axes).reshape(-1)]
            if fft_length is None:
                lengths = [length_of(x, a) for a in places]
                if half:
                    lengths[-1] = larger(0, 2 * (lengths[-1] - 1))
                fft_length = packed(lengths)
            result = raw.__getattr__(op_name)(x, convert(fft_length, dtypes.int32), np.array(places, np.int32),
                                              **_kinds(x, real, half))  # fmt: skip
            return result * _factor(norm, fft_length, result.dtype, inverse)

    transform.__name__ = transform.__qualname__ = default
    transform.__doc__ = "Return the Fourier transform over the axes given (all, where none are)."
    return transform


def _kinds(x: Any, real: bool, half: bool) -> dict[str, Any]:
    if real:
        return {"Tcomplex": dtypes.complex128 if x.dtype is dtypes.float64 else dtypes.complex64}
    if half:
        return {"Treal": dtypes.float64 if x.dtype is dtypes.complex128 else dtypes.float32}
    return {}


def _factor(norm: Any, fft_length: Any, dtype: Any, inverse: bool) -> Any:
    if norm not in (None, "backward", "forward", "ortho"):
        raise ValueError(f"norm must be None, 'forward', 'backward' or 'ortho', got {norm!r}")
    size = raw.Cast(raw.Prod(convert(fft_length), np.array([0], np.int32)), DstT=dtype)
    if norm == "ortho":
        return raw.Sqrt(size) if inverse else 1 / raw.Sqrt(size)
    if norm == "forward":
        return size if inverse else 1 / size
    return np.array(1, dtype.np)


fftnd = _over_axes("FFTND", "fftnd", real=False, half=False, inverse=False)
ifftnd = _over_axes("IFFTND", "ifftnd", real=False, half=False, inverse=True)
rfftnd = _over_axes("RFFTND", "rfftnd", real=True, half=False, inverse=False)
irfftnd = _over_axes("IRFFTND", "irfftnd", real=False, half=True, inverse=True)


# --- shifts -----------------------------------------------------------------------------------------------------------


def fftshift(x: TensorLike, axes: Axis = None, name: str | None = None) -> Tensor:
    """Return `x` with frequency zero brought to the middle of the axes.

    >>> fftshift([0, 1, 2, -2, -1]).numpy().tolist()
    [-2, -1, 0, 1, 2]
    """
    with name_scope(name, "fftshift"):
        return _shifted(x, axes, lambda n: n // 2)


def ifftshift(x: TensorLike, axes: Axis = None, name: str | None = None) -> Tensor:
    """Return `x` with the middle of the axes brought back to their start."""
    with name_scope(name, "ifftshift"):
        return _shifted(x, axes, lambda n: -(n // 2))


def _shifted(x: Any, axes: Any, shift: Callable[[Any], Any]) -> Any:
    x = convert(x)
    if axes is None:
        axes = list(range(len(lengths_of(x))))
    if isinstance(axes, int):
        return roll(x, shift(length_of(x, axes)), axes)
    places = [int(a) for a in np.asarray(axes).reshape(-1)]
    return roll(x, packed([shift(length_of(x, a)) for a in places]), np.array(places, np.int32))
