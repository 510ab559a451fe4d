"""The ops of the Fourier transform, over one, two, three or any axes, of complex and of real signals.

Arrays come from SciPy's (or jax's) transforms, which keep single precision. The transform of a real signal keeps the
first half of its last axis. Gradients are transforms again: of a linear map, by its conjugate transpose.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import UNDEFINED, raw, show
from ebbflow.ops.lengths import lengths_of, packed, packed_pairs, smaller
from ebbflow.ops.sizes import invalid, room_for
from ebbflow.platform import threads

_COMPLEX = "Tcomplex: type in [complex64,complex128] = complex64"
_REAL = f"Treal: type in [float,double] = float; {_COMPLEX}"


def _at_least(arg: Known, rank: int) -> Dims:
    if arg.dims is not None and len(arg.dims) < rank:
        error = errors.StaticShapeError(f"Input must have rank of at least {rank} but got: {show(arg.dims)}")
        error.when_building = f"Shape must be at least rank {rank} but is rank {len(arg.dims)}"
        raise error
    return arg.dims


LARGE = 1 << 16
"""Numbers from which on all cores share several transforms."""


def _transform(xp: Any, name: str, x: Any, lengths: tuple[int, ...] | None, axes: tuple[int, ...]) -> Any:
    """Return a transform by its name over one axis, along others too where there are several."""
    several = len(axes) > 1
    if xp is not np:
        return getattr(xp.fft, f"{name}n")(x, s=lengths, axes=axes)
    import scipy.fft  # single precision in vectors; two dozen milliseconds

    workers = threads.count() if x.size >= LARGE else None
    if several:
        return getattr(scipy.fft, f"{name}n")(x, s=lengths, axes=axes, workers=workers)
    return getattr(scipy.fft, name)(x, n=None if lengths is None else lengths[0], axis=axes[0], workers=workers)


# --- complex to complex -----------------------------------------------------------------------------------------------


def _complex_transform(name: str, rank: int, inverse: bool, old: bool = False) -> Any:
    text = f"{name}(input:complex64) -> (output:complex64) | deprecated@15" if old else (
        f"{name}(input:Tcomplex) -> (output:Tcomplex) | {_COMPLEX}"
    )  # fmt: skip
    declared = op(text, "portable", shape=lambda input: _at_least(input, rank))
    axes = tuple(range(-rank, 0))

    @declared.kernel
    def _(xp, input):
        if input.ndim < rank:
            raise invalid(f"Input must have rank of at least {rank} but got: {show(input.shape)}")
        if not input.size:
            return input
        return _transform(xp, "ifft" if inverse else "fft", input, None, axes)

    if old:
        declared.gradient(UNDEFINED)
        return declared

    @declared.gradient
    def _(call, grad):
        size = _size(lengths_of_last(grad, rank), grad.dtype)
        other = raw.__getattr__(name.removeprefix("I") if inverse else f"I{name}")(grad)
        return other / size if inverse else other * size

    return declared


def lengths_of_last(x: Any, rank: int) -> list[Any]:
    """Return the lengths of the last axes; the rank of the whole need not be known."""
    if x._dims is not None:
        return lengths_of(x)[-rank:]
    shape = raw.Shape(x)
    return [shape[i - rank] for i in range(rank)]


def _size(lengths: list[Any], dtype: Any) -> Any:
    """Return the product of lengths as a scalar of this dtype."""
    if all(isinstance(n, int) for n in lengths):
        return np.array(math.prod(lengths), dtype.np)
    return raw.Cast(raw.Prod(packed(lengths), np.array([0], np.int32)), DstT=dtype)


for _rank, _suffix in ((1, ""), (2, "2D"), (3, "3D")):
    _complex_transform(f"FFT{_suffix}", _rank, inverse=False)
    _complex_transform(f"IFFT{_suffix}", _rank, inverse=True)
    _complex_transform(f"BatchFFT{_suffix}", _rank, inverse=False, old=True)
    _complex_transform(f"BatchIFFT{_suffix}", _rank, inverse=True, old=True)


# --- real to complex, complex to real ---------------------------------------------------------------------------------


def _real_dims(input: Known, fft_length: Known, rank: int, half: bool) -> Dims:
    """Return the shape that a real transform gives; `half`: the last axis keeps the first half of the frequencies."""
    dims = _at_least(input, rank)
    if fft_length.rank not in (None, 1):
        raise errors.StaticShapeError(f"Shape must be rank 1 but is rank {fft_length.rank}")
    if fft_length.dims is not None and fft_length.dims[0] not in (None, rank):
        raise errors.StaticShapeError(f"Dimension must be {rank} but is {fft_length.dims[0]}")
    if dims is None:
        return None
    wanted = fft_length.as_dims
    inner = list(wanted) if wanted is not None and len(wanted) == rank else [None] * rank
    if half and inner[-1] is not None:
        inner[-1] = inner[-1] // 2 + 1 if inner[-1] else 0
    return (*dims[:-rank], *inner)


def _wanted(input: Any, fft_length: Any, rank: int, half: bool) -> tuple[int, ...]:
    """Return the lengths asked for, checked."""
    if input.ndim < rank:
        raise invalid(f"Input must have rank of at least {rank} but got: {show(input.shape)}")
    if fft_length.shape != (rank,):
        raise invalid(f"fft_length must have shape [{rank}], got {show(fft_length.shape)}")
    lengths = tuple(int(n) for n in fft_length)
    for i, n in enumerate(lengths):
        if n < 0:
            raise invalid(f"fft_length[{i}] must >= 0, but got: {n}")
    for i, n in enumerate(lengths):
        needed = n // 2 + 1 if half and i == rank - 1 and n else n
        length = input.shape[input.ndim - rank + i]
        if input.size and length < needed:
            raise invalid(
                f"Input dimension {input.ndim - rank + i} must have length of at least {needed} but got: {length}"
            )
    room_for((*input.shape[:-rank], *lengths), 16)
    return lengths


def _forward(xp: Any, input: Any, lengths: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    shape = list(input.shape)
    for axis, n in zip(axes, lengths, strict=True):
        shape[axis] = n
    shape[axes[-1]] = lengths[-1] // 2 + 1 if lengths[-1] else 0
    kind = np.complex128 if input.dtype == np.float64 else np.complex64
    if not input.size or 0 in shape:
        return xp.zeros(shape, kind)
    return _transform(xp, "rfft", input, lengths, axes)


def _backward(xp: Any, input: Any, lengths: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    shape = list(input.shape)
    for axis, n in zip(axes, lengths, strict=True):
        shape[axis] = n
    kind = np.float64 if input.dtype == np.complex128 else np.float32
    if not input.size or 0 in shape:
        return xp.zeros(shape, kind)
    return _transform(xp, "irfft", input, lengths, axes)


def _real_transform(rank: int, suffix: str) -> None:
    forward = op(
        f"RFFT{suffix}(input:Treal, fft_length:int32) -> (output:Tcomplex) | {_REAL}", "portable known=fft_length"
    )
    backward = op(
        f"IRFFT{suffix}(input:Tcomplex, fft_length:int32) -> (output:Treal) | {_REAL}", "portable known=fft_length"
    )
    forward.shape(lambda input, fft_length: _real_dims(input, fft_length, rank, half=True))
    backward.shape(lambda input, fft_length: _real_dims(input, fft_length, rank, half=False))
    axes = tuple(range(-rank, 0))

    @forward.kernel
    def _(xp, input, fft_length, *, Tcomplex):
        result = _forward(xp, input, _wanted(input, fft_length, rank, half=False), axes)
        return result if result.dtype == Tcomplex.np else result.astype(Tcomplex.np)

    @backward.kernel
    def _(xp, input, fft_length, *, Treal):
        result = _backward(xp, input, _wanted(input, fft_length, rank, half=True), axes)
        return result if result.dtype == Treal.np else result.astype(Treal.np)

    inverse = f"IFFT{suffix}"

    @forward.gradient
    def _(call, grad):
        wanted = _lengths_asked(call.fft_length, rank)
        filled = fitted(grad, wanted)
        whole = raw.__getattr__(inverse)(filled) * _size(wanted, grad.dtype)
        return fitted(raw.Real(whole, Tout=call.Treal), lengths_of_last(call.input, rank)), None

    @backward.gradient
    def _(call, grad):
        wanted = _lengths_asked(call.fft_length, rank)
        half = forward(grad, call.fft_length, Tcomplex=call.Tcomplex)
        weighted = half * _weights(wanted[-1], call.Treal, call.Tcomplex) / _size(wanted, call.Tcomplex)
        return fitted(weighted, lengths_of_last(call.input, rank)), None


def _lengths_asked(fft_length: Any, rank: int) -> list[Any]:
    known = fft_length.constant_value()
    return known.tolist() if known is not None else [fft_length[i] for i in range(rank)]


def _weights(length: Any, real: Any, kind: Any) -> Any:
    """Return how often each frequency of a half spectrum stands in the whole one: the first and middle once."""
    if isinstance(length, int):
        weights = np.full(length // 2 + 1, 2.0)
        weights[0] = 1.0
        if length % 2 == 0:
            weights[-1] = 1.0
        return weights.astype(kind.np)
    places = raw.Range(0, length // 2 + 1, 1)
    once = raw.LogicalOr(raw.Equal(places, 0), raw.Equal(places * 2, length))
    return raw.Cast(2 - raw.Cast(once, DstT=dtypes.int32), DstT=kind)


def fitted(x: Any, lengths: list[Any]) -> Any:
    """Return `x` with its last axes cut, or filled up with zeros, to these lengths."""
    rank = len(lengths)
    own = lengths_of_last(x, rank)
    if all(isinstance(n, int) for n in (*own, *lengths)) and own == lengths:
        return x
    kept = [smaller(a, b) for a, b in zip(own, lengths, strict=True)]
    sizes = _behind(x, packed(kept), -1, (rank,))
    x = raw.Slice(x, raw.ZerosLike(sizes), sizes)
    return filled(x, [n - k for n, k in zip(lengths, kept, strict=True)])


def filled(x: Any, missing: list[Any]) -> Any:
    """Return `x` with so many zeros behind each of its last axes; the rank of the whole need not be known."""
    return raw.Pad(x, _behind(x, packed_pairs([(0, n) for n in missing]), 0, (len(missing), 2)))


def _behind(x: Any, rows: Any, lead: int, shape: tuple[int, ...]) -> Any:
    """Return rows for all axes of `x`: these, of that shape, for the last ones, `lead` for those before."""
    rank, *width = shape
    if x._dims is None:
        count = raw.Rank(x) - rank
    elif isinstance(rows, np.ndarray):
        return np.concatenate([np.full((len(x._dims) - rank, *width), lead, np.int32), rows])
    else:
        count = len(x._dims) - rank
    return raw.ConcatV2([raw.Fill(packed([count, *width]), np.array(lead, np.int32)), rows], np.array(0, np.int32))


for _rank, _suffix in ((1, ""), (2, "2D"), (3, "3D")):
    _real_transform(_rank, _suffix)


# --- over any axes ----------------------------------------------------------------------------------------------------


def _axes_asked(input: Any, fft_length: Any, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if axes.ndim != 1 or fft_length.ndim != 1 or axes.size != fft_length.size:
        raise invalid(f"axes and fft_length must be vectors of one length, got {show(axes.shape)} and "
                      f"{show(fft_length.shape)}")  # fmt: skip
    places = []
    for axis in axes.tolist():
        if not -input.ndim <= axis < input.ndim:
            raise invalid(f"axes must be in [{-input.ndim}, {input.ndim}), got {axis}")
        places.append(axis % input.ndim)
    if len(set(places)) != len(places):
        raise invalid(f"axes must be unique, got {axes.tolist()}")
    lengths = tuple(fft_length.tolist())
    if any(n < 0 for n in lengths):
        raise invalid(f"fft_length must be >= 0, got {list(lengths)}")
    room_for(lengths, 16)
    return lengths, tuple(places)


def _unknown_lengths(input: Known, fft_length: Known, axes: Known) -> Dims:
    return None if input.dims is None else (None,) * len(input.dims)


FFTND = op(f"FFTND(input:Tcomplex, fft_length:int32, axes:int32) -> (output:Tcomplex) | {_COMPLEX}",
           shape=_unknown_lengths, gradient=UNDEFINED)  # fmt: skip
IFFTND = op(f"IFFTND(input:Tcomplex, fft_length:int32, axes:int32) -> (output:Tcomplex) | {_COMPLEX}",
            shape=_unknown_lengths, gradient=UNDEFINED)  # fmt: skip
RFFTND = op(f"RFFTND(input:Treal, fft_length:int32, axes:int32) -> (output:Tcomplex) | {_REAL}",
            shape=_unknown_lengths, gradient=UNDEFINED)  # fmt: skip
IRFFTND = op(f"IRFFTND(input:Tcomplex, fft_length:int32, axes:int32) -> (output:Treal) | {_REAL}",
             shape=_unknown_lengths, gradient=UNDEFINED)  # fmt: skip


@FFTND.kernel
def _(xp, input, fft_length, axes):
    lengths, places = _axes_asked(input, fft_length, axes)
    return _transform(xp, "fft", input, lengths, places) if input.size and 0 not in lengths else input


@IFFTND.kernel
def _(xp, input, fft_length, axes):
    lengths, places = _axes_asked(input, fft_length, axes)
    return _transform(xp, "ifft", input, lengths, places) if input.size and 0 not in lengths else input


@RFFTND.kernel
def _(xp, input, fft_length, axes):
    return _forward(xp, input, *_axes_asked(input, fft_length, axes))


@IRFFTND.kernel
def _(xp, input, fft_length, axes):
    return _backward(xp, input, *_axes_asked(input, fft_length, axes))
