"""Pools that nobody has a library for, as loops that may become machine code (`core.loops`).

Images are [batch, height, width, channels]; loops go over the rows of the result from `begin` to `end`, all images'.
"""

from __future__ import annotations

from ebbflow.core.loops import F32, I64, f32, loop

LOWEST = float("-inf")


@loop
def region_maxima(
    x: F32, height: int, width: int, channels: int, tops: I64, bottoms: I64, lefts: I64, rights: I64, rows: int,
    columns: int, out: F32, begin: int, end: int,
) -> None:  # fmt: skip
    """Find the largest number of each region and channel, a NaN where there is one."""
    for r in range(begin, end):
        image, row = r // rows, r % rows
        for c in range(columns):
            to = (r * columns + c) * channels
            first = ((image * height + tops[row]) * width + lefts[c]) * channels
            for k in range(channels):
                out[to + k] = x[first + k]
            for i in range(tops[row], bottoms[row]):
                for j in range(lefts[c], rights[c]):
                    at = ((image * height + i) * width + j) * channels
                    for k in range(channels):
                        value, other = out[to + k], x[at + k]
                        out[to + k] = other if other > value or other != other else value


@loop
def first_maxima(
    x: F32, height: int, width: int, channels: int, tall: int, wide: int, down: int, right: int, top: int, left: int,
    rows: int, columns: int, batch_step: int, best: F32, index: I64, begin: int, end: int,
) -> None:  # fmt: skip
    """Find the largest number of each window and channel, and its place in the image: the first of several.

    Where none is larger than the lowest there is, that is the answer, at the first place inside.
    """
    for r in range(begin, end):
        image, row = r // rows, r % rows
        first, last = max(row * down - top, 0), min(row * down - top + tall, height)
        for c in range(columns):
            to = (r * columns + c) * channels
            start, stop = max(c * right - left, 0), min(c * right - left + wide, width)
            for k in range(channels):
                value = f32(LOWEST)
                place = (first * width + start) * channels + k
                for i in range(first, last):
                    for j in range(start, stop):
                        at = (i * width + j) * channels + k
                        other = x[image * height * width * channels + at]
                        if other > value:
                            value = other
                            place = at
                best[to + k] = value
                index[to + k] = place + image * batch_step
