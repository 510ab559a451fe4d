"""Sliding windows: how large the result is, what is padded, and how to see an array window by window.

The arithmetic that convolution and pooling share, for any number of spatial axes. An array is handled with its channels
last (`to_channels_last`); a `Grid` says, for each spatial axis, window, stride, dilation and padding. Knows nothing of
what is computed in a window.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ebbflow.core import errors
from ebbflow.ops.sizes import invalid, room_for

Length = int | None


# --- data formats -----------------------------------------------------------------------------------------------------


def channel_axis(data_format: str, rank: int) -> int:
    """Return which axis holds the channels: the last (NHWC, NWC, NDHWC), or the one behind the batch (NC…)."""
    return 1 if data_format.startswith("NC") else rank - 1


def spatial_axes(data_format: str, rank: int) -> list[int]:
    """Return the axes that windows slide along."""
    channel = channel_axis(data_format, rank)
    return [i for i in range(1, rank) if i != channel]


def spatial(values: Sequence[Any], data_format: str) -> tuple[Any, ...]:
    """Return the entries of a per-axis list (strides, sizes) that belong to spatial axes."""
    return tuple(values[2:] if data_format.startswith("NC") else values[1:-1])


def to_channels_last(x: np.ndarray, data_format: str) -> np.ndarray:
    """Return a view with the channel axis last."""
    return np.moveaxis(x, 1, -1) if data_format.startswith("NC") else x


def from_channels_last(x: np.ndarray, data_format: str) -> np.ndarray:
    """Return a channels-last array in the wanted format."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)) if data_format.startswith("NC") else x


def dims_in(data_format: str, batch: Length, space: Sequence[Length], channels: Length) -> tuple[Length, ...]:
    """Return dims arranged as the data format has them."""
    return (batch, channels, *space) if data_format.startswith("NC") else (batch, *space, channels)


# --- attributes -------------------------------------------------------------------------------------------------------


def check_per_axis(name: str, values: Sequence[int], rank: int, what: str, data_format: str) -> None:
    """Refuse a list of strides or dilations that has not one entry per axis."""
    if len(values) != rank:
        raise errors.StaticShapeError(
            f"{what} on data format {data_format} requires the {name} attribute to contain {rank} values, "
            f"but got: {len(values)}"
        )


def explicit_pairs(
    padding: str, explicit: Sequence[int], data_format: str, rank: int
) -> tuple[tuple[int, int], ...] | None:
    """Return the (before, after) padding of each spatial axis for EXPLICIT padding, None for the others."""
    if padding != "EXPLICIT":
        if explicit:
            raise errors.StaticShapeError(
                "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT"
            )
        return None
    if len(explicit) != 2 * rank:
        raise errors.StaticShapeError(
            f"explicit_paddings attribute must contain {2 * rank} values, but got: {len(explicit)}"
        )
    if any(n < 0 for n in explicit):
        raise errors.StaticShapeError("All elements of explicit_paddings must be nonnegative")
    pairs = [(explicit[2 * i], explicit[2 * i + 1]) for i in range(rank)]
    axes = spatial_axes(data_format, rank)
    if any(pair != (0, 0) for i, pair in enumerate(pairs) if i not in axes):
        raise errors.StaticShapeError("Nonzero explicit padding in the batch or depth dimensions is not supported")
    return tuple(pairs[i] for i in axes)


# --- sizes ------------------------------------------------------------------------------------------------------------


def output_length(
    length: Length, window: Length, stride: int, dilation: int, padding: str, pair: tuple[int, int] | None = None
) -> Length:
    """Return how many windows fit along an axis, as a shape rule says it."""
    if stride <= 0:
        raise errors.StaticShapeError(f"Stride must be > 0, but got {stride}")
    if dilation < 1:
        raise errors.StaticShapeError(f"Dilation rate must be >= 1, but got {dilation}")
    if length is None:
        return None
    if padding == "SAME":
        return -(-length // stride)
    if window is None:
        return None
    reach = (window - 1) * dilation + 1
    if pair is not None:
        length += sum(pair)
    if length < reach and window:
        raise errors.StaticShapeError(f"Negative dimension size caused by subtracting {reach} from {length}")
    return (length - reach) // stride + 1


@dataclass(frozen=True)
class Grid:
    """Windows over the spatial axes of a channels-last array."""

    sizes: tuple[int, ...]  # of the input
    windows: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    out: tuple[int, ...]  # how many windows

    @property
    def is_plain(self) -> bool:
        """Whether the windows are single elements, one for every element."""
        return (
            all(w == 1 for w in self.windows)
            and all(s == 1 for s in self.strides)
            and not any(lo or hi for lo, hi in self.pads)
        )

    @property
    def padded(self) -> tuple[int, ...]:
        """The input's sizes with the padding."""
        return tuple(n + lo + hi for n, (lo, hi) in zip(self.sizes, self.pads, strict=True))


@functools.lru_cache(4096)
def grid(
    sizes: tuple[int, ...],
    windows: tuple[int, ...],
    strides: tuple[int, ...],
    padding: str,
    dilations: tuple[int, ...] | None = None,
    pairs: tuple[tuple[int, int], ...] | None = None,
) -> Grid:
    """Return the windows over axes of these sizes; raise, in a kernel's words, where there are none."""
    ones = (1,) * len(sizes)
    dilations, pairs = dilations or ones, pairs or (None,) * len(sizes)  # type: ignore[assignment]
    found = [_along(*axis, padding) for axis in zip(sizes, windows, strides, dilations, pairs, strict=True)]  # type: ignore[arg-type]
    pads, counts = zip(*found, strict=True)
    return Grid(sizes, windows, strides, dilations, pads, counts)


def _along(
    size: int, window: int, stride: int, dilation: int, pair: tuple[int, int] | None, padding: str
) -> tuple[tuple[int, int], int]:
    if stride <= 0:
        raise invalid(f"Stride must be > 0, but got {stride}")
    if dilation < 1:
        raise invalid(f"Dilated rates should be larger than 0, but got {dilation}")
    if window < 1:
        raise invalid(f"Sliding window ksize must be positive, got {window}")
    reach = (window - 1) * dilation + 1
    if padding == "SAME":
        count = -(-size // stride)
        needed = max((count - 1) * stride + reach - size, 0) if count else 0
        return (needed // 2, needed - needed // 2), count
    pad = pair or (0, 0)
    room = size + sum(pad)
    count = int(
        (room - reach + stride) / stride
    )  # towards zero, as TensorFlow: a window a little too large fits nowhere
    if count < 0:
        raise invalid(
            f"Computed output size would be negative: {count} "
            f"[input_size: {size}, effective_filter_size: {reach}, stride: {stride}]"
        )
    return pad, count


# --- arrays by window -------------------------------------------------------------------------------------------------


def with_edges(x: np.ndarray, g: Grid, value: Any = 0) -> np.ndarray:
    """Return a channels-last array with its padding (itself where there is none)."""
    if not any(lo or hi for lo, hi in g.pads):
        return x
    shape = (x.shape[0], *g.padded, x.shape[-1])
    room_for(shape, x.itemsize)
    padded = np.empty(shape, x.dtype)
    padded[...] = value
    inside = tuple(slice(lo, lo + n) for n, (lo, _) in zip(g.sizes, g.pads, strict=True))
    padded[(slice(None), *inside)] = x
    return padded


def without_edges(x: np.ndarray, g: Grid) -> np.ndarray:
    """Return the inner part of an array of the padded size."""
    inside = tuple(slice(lo, lo + n) for n, (lo, _) in zip(g.sizes, g.pads, strict=True))
    return x[(slice(None), *inside)]


def patches(x: np.ndarray, g: Grid) -> np.ndarray:
    """Return a view of a padded array with axes (batch, windows…, elements of a window…, channels)."""
    batch, *steps, last = x.strides
    shape = (x.shape[0], *g.out, *g.windows, x.shape[-1])
    moves = [n * s for n, s in zip(steps, g.strides, strict=True)]
    inner = [n * d for n, d in zip(steps, g.dilations, strict=True)]
    return as_strided(x, shape, (batch, *moves, *inner, last), writeable=False)


def taps(g: Grid) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Yield, for each element of the window, its place and the slices of a padded array that all windows have there."""
    for place in np.ndindex(*g.windows):
        starts = [i * d for i, d in zip(place, g.dilations, strict=True)]
        yield (
            place,
            (
                slice(None),
                *(
                    slice(a, a + (n - 1) * s + 1, s) if n else slice(0, 0)
                    for a, n, s in zip(starts, g.out, g.strides, strict=True)
                ),
            ),
        )
