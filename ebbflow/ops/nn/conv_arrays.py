"""Convolving arrays: unrolled windows times filters, and the way back.

Works on arrays with channels last, of a floating or integer dtype that is computed in as it is. A convolution is a
matrix product of unrolled windows ("im2col"), done a few megabytes at a time so that the unrolled windows stay in the
cache; its gradient for the input is the product the other way, added up tap by tap; its gradient for the filter
multiplies the unrolled windows with the output's gradient. Knows nothing of ops; `conv` declares those.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ebbflow.ops.linalg.matmul import product
from ebbflow.ops.nn.windows import Grid, patches, taps, with_edges, without_edges
from ebbflow.ops.sizes import room_for

ONE_THREAD = 1 << 18
"""As many multiplications OpenBLAS does in the thread that calls it."""

BLOCK_BYTES = 1 << 21
"""Windows are unrolled this many bytes at a time (measured: 10.4 ms; 13.6 all at once, on 32×28×28×32 by 3×3×32×64)."""


# --- arrays: channels last, computing precision -----------------------------------------------------------------------


def _blocks(batch: int, g: Grid, width: int) -> Iterator[tuple[slice, slice]]:
    """Yield slices of the batch and of the first spatial axis whose unrolled windows make a block."""
    row = math.prod(g.out[1:]) * width
    image = g.out[0] * row
    if image <= BLOCK_BYTES:
        many = max(1, BLOCK_BYTES // max(image, 1))
        for i in range(0, batch, many):
            yield slice(i, min(i + many, batch)), slice(0, g.out[0])
        return
    rows = max(1, BLOCK_BYTES // row)
    for i in range(batch):
        for r in range(0, g.out[0], rows):
            yield slice(i, i + 1), slice(r, min(r + rows, g.out[0]))


def _multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    if a.dtype.char in "fd":
        np.matmul(a, b, out=out)
    else:
        out[...] = product(np, a, b)


def _multiply_flat(taps: np.ndarray, dy: np.ndarray, out: np.ndarray) -> None:
    """Multiply all taps of a filter with one channel at once: a product with a vector each takes thirty times as long.

    In pieces below the size at which OpenBLAS wakes its threads, which would then keep a CPU busy for 25 ms.
    """
    width = max(1, ONE_THREAD // taps.size)
    for start in range(0, dy.shape[1], width):
        _multiply(taps, dy[:, start : start + width], out[:, start : start + width])


def convolve(x: np.ndarray, f: np.ndarray, g: Grid) -> np.ndarray:
    """Return x (batch, …, channels) convolved with f (…, channels, outputs), which may have groups."""
    groups, outputs = x.shape[-1] // f.shape[-2], f.shape[-1]
    result = np.empty((x.shape[0], *g.out, outputs), x.dtype)
    if not result.size:
        return result
    x = with_edges(x, g)
    if groups == 1:
        _convolve_into(result, x, f, g)
        return result
    ins, outs = f.shape[-2], outputs // groups
    for i in range(groups):
        part = np.empty((*result.shape[:-1], outs), x.dtype)
        _convolve_into(part, x[..., i * ins : (i + 1) * ins], f[..., i * outs : (i + 1) * outs], g)
        result[..., i * outs : (i + 1) * outs] = part
    return result


def _convolve_into(result: np.ndarray, x: np.ndarray, f: np.ndarray, g: Grid) -> None:
    matrix = np.ascontiguousarray(f).reshape(-1, f.shape[-1])
    if g.is_plain:
        _multiply(np.ascontiguousarray(x).reshape(-1, x.shape[-1]), matrix, result.reshape(-1, f.shape[-1]))
        return
    for images, rows, unrolled in _unrolled(x, g):
        _multiply(unrolled, matrix, result[images, rows].reshape(-1, f.shape[-1]))


def _unrolled(x: np.ndarray, g: Grid) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Yield, block by block, a matrix with the elements of a window in each row; its memory is used again."""
    width = math.prod(g.windows) * x.shape[-1]
    view = patches(x, g)
    room = np.empty(0, x.dtype)
    for images, rows in _blocks(x.shape[0], g, width * x.itemsize):
        part = view[images, rows]
        if part.size > room.size:
            room = np.empty(part.size, x.dtype)
        block = room[: part.size].reshape(part.shape)
        np.copyto(block, part)
        yield images, rows, block.reshape(-1, width)


def convolve_back(dy: np.ndarray, f: np.ndarray, g: Grid, channels: int) -> np.ndarray:
    """Return the gradient of `convolve` for x, which has that many channels."""
    groups, ins, outputs = channels // f.shape[-2], f.shape[-2], dy.shape[-1]
    if g.is_plain and groups == 1:
        return product(np, dy, f.reshape(f.shape[-2:]).T)
    shape = (dy.shape[0], *g.padded, channels)
    room_for(shape, dy.itemsize)
    padded = np.zeros(shape, dy.dtype)
    outs = outputs // groups
    for i in range(groups):
        _add_back(
            padded[..., i * ins : (i + 1) * ins],
            dy[..., i * outs : (i + 1) * outs],
            f[..., i * outs : (i + 1) * outs],
            g,
        )
    return without_edges(padded, g)


def _add_back(padded: np.ndarray, dy: np.ndarray, f: np.ndarray, g: Grid) -> None:
    if not dy.size:  # no window fits: `taps` are ranges that slices do not have
        return
    ins, outs = f.shape[-2:]
    turned = np.ascontiguousarray(f.reshape(-1, ins, outs).swapaxes(1, 2))  # one matrix a tap
    places, room = list(taps(g)), np.empty(0, dy.dtype)
    for images, rows in _blocks(dy.shape[0], g, len(turned) * ins * dy.itemsize):
        part = dy[images, rows]
        shape = (len(turned), *part.shape[:-1], ins)
        if math.prod(shape) > room.size:
            room = np.empty(math.prod(shape), dy.dtype)
        shares = room[: math.prod(shape)].reshape(shape)
        if ins == 1:
            _multiply_flat(turned[:, :, 0], part.reshape(-1, outs).T, shares.reshape(len(turned), -1))
        else:
            _multiply(part.reshape(1, -1, outs), turned, shares.reshape(len(turned), -1, ins))
        shift, step = rows.start * g.strides[0], g.strides[0]
        for share, (_, (_, first, *rest)) in zip(shares, places, strict=True):
            start = first.start + shift
            here = slice(start, start + (rows.stop - rows.start - 1) * step + 1, step)
            padded[(images, here, *rest)] += share


def convolve_across(x: np.ndarray, dy: np.ndarray, g: Grid, ins: int) -> np.ndarray:
    """Return the gradient of `convolve` for f, which has that many input channels."""
    groups, outputs = x.shape[-1] // ins, dy.shape[-1]
    x = with_edges(x, g)
    if groups == 1:
        return _across(x, dy, g)
    outs = outputs // groups
    parts = [_across(x[..., i * ins : (i + 1) * ins], dy[..., i * outs : (i + 1) * outs], g) for i in range(groups)]
    return np.concatenate(parts, axis=-1)


def _across(x: np.ndarray, dy: np.ndarray, g: Grid) -> np.ndarray:
    shape = (*g.windows, x.shape[-1], dy.shape[-1])
    total = np.zeros((math.prod(shape[:-1]), dy.shape[-1]), x.dtype)
    for images, rows, unrolled in _unrolled(x, g):
        total += product(np, unrolled.T, dy[images, rows].reshape(-1, dy.shape[-1]))
    return total.reshape(shape)


# --- each channel by itself -------------------------------------------------------------------------------------------


def convolve_depthwise(x: np.ndarray, f: np.ndarray, g: Grid) -> np.ndarray:
    """Return every channel of x convolved with its own filters f (…, channels, multiplier)."""
    channels, multiplier = f.shape[-2:]
    x = with_edges(x, g)
    result = np.zeros((x.shape[0], *g.out, channels, multiplier), x.dtype)
    for images, _ in _blocks(x.shape[0], g, channels * multiplier * x.itemsize):
        part = result[images] if multiplier > 1 else result[images, ..., 0]
        share = np.empty(part.shape, x.dtype)
        for place, where in taps(g):
            source = x[images][where]
            if multiplier > 1:
                np.multiply(source[..., None], f[place], out=share)
            else:
                np.multiply(source, f[place][:, 0], out=share)
            part += share
    return result.reshape(*result.shape[:-2], channels * multiplier)


def convolve_depthwise_back(dy: np.ndarray, f: np.ndarray, g: Grid) -> np.ndarray:
    """Return the gradient of `convolve_depthwise` for x."""
    channels, multiplier = f.shape[-2:]
    shape = (dy.shape[0], *g.padded, channels)
    room_for(shape, dy.itemsize)
    padded = np.zeros(shape, dy.dtype)
    dy = dy.reshape(*dy.shape[:-1], channels, multiplier)
    for place, where in taps(g):
        padded[where] += dy[..., 0] * f[place][:, 0] if multiplier == 1 else np.einsum("...cm,cm->...c", dy, f[place])
    return without_edges(padded, g)


def convolve_depthwise_across(x: np.ndarray, dy: np.ndarray, g: Grid, multiplier: int) -> np.ndarray:
    """Return the gradient of `convolve_depthwise` for f."""
    x, channels = with_edges(x, g), x.shape[-1]
    dy = dy.reshape(-1, channels, multiplier)
    result = np.empty((*g.windows, channels, multiplier), x.dtype)
    for place, where in taps(g):
        result[place] = np.einsum("nc,ncm->cm", x[where].reshape(-1, channels), dy)
    return result
